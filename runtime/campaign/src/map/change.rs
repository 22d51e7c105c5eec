//! Which scenarios a change needs: from lines that differ to functions, and from these to the runs that reach them.
//!
//! ```text
//! git diff ─▶ lines ─▶ functions ─▶ scenarios that reach them ─▶ few of them that reach all (greedy set cover)
//! plan.toml, steps, Cargo.toml of a scenario ─────────────────▶ that scenario
//! ```
//!
//! Invariant: what a scenario of the whole suite reaches of the change, one of the chosen reaches too.

use super::evidence::RunEvidence;
use super::git::ChangedLines;
use super::{CodeMap, MappedFunction};
use crate::error::{CampaignError, ErrorKind};
use fozzy_report::map::{MapChange, MapChangedFunction, MapNeededScenario};
use fozzy_trace::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// Lines below a changed one without code in which that of its function is looked for: attributes and parameters take fewer.
const NEAR_LINES: u32 = 10;

/// A line of a program: position of the function, and the line.
type Item = (usize, u32);

impl CodeMap {
    /// What the change since a revision needs.
    pub(super) fn change(&self, since: &str) -> Result<MapChange, CampaignError> {
        let repository = self.repository.as_ref().map_err(|why| {
            CampaignError::new(ErrorKind::Usage, format!("what changed is not known: {why}"))
                .hint("fozzy map suites, without --since, says what covers what")
        })?;
        let changed = repository.changed(since)?;
        let items = self.changed_items(&changed);
        let touched: BTreeSet<usize> = items.iter().map(|(function, _)| *function).collect();
        let of = |item: &Item, run: &RunEvidence| self.reaches(item, run);
        let reached_lines = |item: &&Item| self.evidence.runs.iter().any(|run| of(item, run));
        let lines: BTreeSet<(&str, u32)> =
            items.iter().map(|(at, line)| (self.functions[*at].path.as_str(), *line)).collect();
        let hit: BTreeSet<(&str, u32)> =
            items.iter().filter(reached_lines).map(|(at, line)| (self.functions[*at].path.as_str(), *line)).collect();
        Ok(MapChange {
            since: since.to_owned(),
            changed_lines: lines.len() as u64,
            functions: touched.iter().map(|at| self.changed_function(&self.functions[*at])).collect(),
            scenarios: self.needed(&changed, &items),
            unexecuted: lines.difference(&hit).map(|(path, line)| format!("{path}:{line}")).collect(),
            files: changed.into_keys().collect(),
        })
    }

    /// Lines with code that changed. A line without code, such as that of a name and its parameters, belongs to the next line with code;
    /// where lines are gone, the nearest line before counts too.
    fn changed_items(&self, changed: &ChangedLines) -> BTreeSet<Item> {
        let mut items = BTreeSet::new();
        let mut by_file: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, mapped) in self.functions.iter().enumerate() {
            if let Some(path) = &mapped.tracked {
                by_file.entry(path).or_default().push(at);
            }
        }
        for (path, changes) in changed {
            let Some(functions) = by_file.get(path.as_str()) else { continue };
            for change in changes.iter().filter(|change| !change.is_comment) {
                let inside = functions.iter().flat_map(|at| {
                    let copies = self.places(&self.functions[*at]);
                    copies.flat_map(|copy| {
                        let lines = self.source_at(copy).lines.range(change.lines.clone());
                        lines.map(|(line, _)| (*at, *line))
                    })
                });
                let inside: Vec<Item> = inside.collect();
                let (first, last) = (*change.lines.start(), *change.lines.end());
                if inside.is_empty() || change.removes {
                    items.extend(self.nearest(functions, last..=last.saturating_add(NEAR_LINES), false));
                }
                // What is gone may have been the end of a function, of which today's lines tell nothing.
                if change.removes {
                    items.extend(self.nearest(functions, first.saturating_sub(NEAR_LINES)..=first, true));
                }
                items.extend(inside);
            }
        }
        items
    }

    /// The first or the last line with code there.
    fn nearest(&self, functions: &[usize], near: RangeInclusive<u32>, is_last: bool) -> Option<Item> {
        let places = functions.iter().flat_map(|at| self.places(&self.functions[*at]).map(|copy| (*at, copy)));
        let lines = places.filter_map(|(at, copy)| {
            let mut lines = self.source_at(copy).lines.range(near.clone());
            let (line, _) = if is_last { lines.next_back() } else { lines.next() }?;
            Some((*line, at))
        });
        let found = if is_last { lines.max() } else { lines.min() };
        found.map(|(line, at)| (at, line))
    }

    fn reaches(&self, (at, line): &Item, run: &RunEvidence) -> bool {
        self.places(&self.functions[*at]).any(|copy| {
            let Some(reached) = run.reached.get(&self.evidence.programs[copy.0].digest) else { return false };
            let blocks = self.source_at(copy).lines.get(line);
            blocks.is_some_and(|blocks| blocks.iter().any(|block| reached.block(*block)))
        })
    }

    fn changed_function(&self, mapped: &MappedFunction) -> MapChangedFunction {
        let (program, function) = (self.program(mapped), self.source(mapped));
        MapChangedFunction {
            component: program.name.clone(),
            also_in: self.also_in(mapped),
            function: function.name.clone(),
            path: mapped.path.clone(),
            line: function.line(),
            executed_by: self.names(&mapped.executed_by),
        }
    }

    /// Few scenarios and corpora that reach all of the change that can be reached, and those that changed themselves.
    fn needed(&self, changed: &ChangedLines, items: &BTreeSet<Item>) -> Vec<MapNeededScenario> {
        let all = self.evidence.runs.iter().enumerate().filter(|(_, run)| run.kind.is_repeatable());
        let (numbers, scenarios): (Vec<usize>, Vec<&RunEvidence>) = all.unzip();
        // Functions count too: a scenario that only enters one tells something of it.
        let touched: BTreeSet<usize> = items.iter().map(|(at, _)| *at).collect();
        let mut sets: Vec<BTreeSet<(usize, Option<u32>)>> = Vec::new();
        for (number, run) in numbers.iter().zip(&scenarios) {
            let lines = items.iter().filter(|item| self.reaches(item, run)).map(|(at, line)| (*at, Some(*line)));
            let enters = |at: &&usize| self.functions[**at].executed_by.contains(number);
            sets.push(lines.chain(touched.iter().filter(enters).map(|at| (*at, None))).collect());
        }
        let mut open: BTreeSet<(usize, Option<u32>)> = sets.iter().flatten().copied().collect();
        let mut needed: Vec<MapNeededScenario> = Vec::new();
        let row = |run: &RunEvidence, why: String| MapNeededScenario {
            name: run.name.clone(),
            path: run.path.display().to_string(),
            why,
        };
        for (at, run) in scenarios.iter().enumerate() {
            if let Some(file) = self.changed_itself(run, changed) {
                open.retain(|item| !sets[at].contains(item));
                needed.push(row(run, format!("{file} changed")));
            }
        }
        while !open.is_empty() {
            let gain = |at: &usize| (sets[*at].intersection(&open).count(), std::cmp::Reverse(*at));
            let Some(best) = (0..sets.len()).max_by_key(gain) else { break };
            let functions: BTreeSet<usize> = sets[best].intersection(&open).map(|(at, _)| *at).collect();
            open.retain(|item| !sets[best].contains(item));
            let first = functions.first().map(|at| self.source(&self.functions[*at]).name.clone()).unwrap_or_default();
            let more = match functions.len() {
                0 | 1 => String::new(),
                all => format!(" and {} more", counted(all as u64 - 1, "changed function")),
            };
            needed.push(row(scenarios[best], format!("reaches {first}{more}")));
        }
        needed
    }

    /// A file of the scenario that changed and is no source of a program: its plan, its steps, its manifest.
    fn changed_itself(&self, run: &RunEvidence, changed: &ChangedLines) -> Option<String> {
        let own = self.repository.as_ref().ok()?.path_of(&run.path.display().to_string())?;
        let sources: BTreeSet<&str> = self.functions.iter().filter_map(|mapped| mapped.tracked.as_deref()).collect();
        let is_inside = |path: &str| path == own || path.strip_prefix(&own).is_some_and(|rest| rest.starts_with('/'));
        let is_source = |path: &str| sources.contains(path) || path.ends_with(".rs");
        changed.keys().find(|path| is_inside(path) && !is_source(path)).cloned()
    }
}
