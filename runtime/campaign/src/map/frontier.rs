//! What code leads to and no run has reached, and the branch that stands before it.
//!
//! ```text
//! caller (ran) ── if x ──▶ call callee      the way to the call was never taken: `if` at line 12 was always false
//! ```
//!
//! Invariant: the branch is one that was reached, on the way to the call: the last one before it in the caller's code of which a way was
//! never taken.

use super::program::{CallSites, ProgramMap};
use super::{CodeMap, MappedFunction, ReachedCode, ran};
use fozzy_report::map::{MapBlock, MapFrontier};
use std::collections::BTreeSet;

impl CodeMap {
    /// All such functions, those that most is behind first.
    pub(super) fn frontier(&self) -> Vec<MapFrontier> {
        let reached: Vec<Vec<bool>> = (0..self.evidence.programs.len()).map(|at| self.executed(at)).collect();
        let unreached = self.functions.iter().filter(|mapped| mapped.executed_by.is_empty());
        let mut rows: Vec<MapFrontier> = unreached
            .filter_map(|mapped| self.places(mapped).find_map(|at| self.behind_a_branch(mapped, at, &reached[at.0])))
            .collect();
        rows.sort_by(|a, b| {
            (b.behind, b.risk_score, &a.path, a.line, &a.function).cmp(&(
                a.behind,
                a.risk_score,
                &b.path,
                b.line,
                &b.function,
            ))
        });
        rows
    }

    /// Which functions of a program ran.
    fn executed(&self, at: usize) -> Vec<bool> {
        let (program, reached) = (&self.evidence.programs[at], &self.reached[at]);
        let functions = program.functions.iter();
        functions.map(|function| function.blocks.iter().any(|block| reached.block(*block))).collect()
    }

    fn behind_a_branch(
        &self,
        mapped: &MappedFunction,
        (position, at): (usize, usize),
        executed: &[bool],
    ) -> Option<MapFrontier> {
        let program = &self.evidence.programs[position];
        let reached = &self.reached[position];
        let callers = program.functions.iter().enumerate().filter(|(caller, _)| executed[*caller]);
        let callers = callers.filter_map(|(caller, function)| Some((caller, function, function.calls.get(&at)?)));
        // A call by name says more than one by type, and own code more than a library's.
        let (caller, calling, sites) =
            callers.min_by_key(|(caller, function, sites)| (!sites.direct, !function.own, *caller))?;
        let (blocked_by, edges) = self.block_before(program, reached, sites);
        let function = &program.functions[at];
        let near = |run: &&super::RunEvidence| {
            let of = run.reached.get(&program.digest);
            match edges.is_empty() {
                true => ran(run, program.digest, calling),
                false => of.is_some_and(|of| edges.iter().any(|edge| of.edge(*edge))),
            }
        };
        Some(MapFrontier {
            id: mapped.id.clone(),
            component: program.name.clone(),
            function: function.name.clone(),
            path: mapped.path.clone(),
            line: function.line(),
            risk_score: mapped.risk.score,
            caller: program.functions[caller].name.clone(),
            call: if sites.direct { "direct" } else { "candidate" }.to_owned(),
            blocked_by,
            nearest: self.evidence.runs.iter().find(near).map(|run| run.name.clone()).unwrap_or_default(),
            behind: behind(program, at, executed),
        })
    }

    /// What stands before a call, and the ways of it that were taken.
    fn block_before(&self, program: &ProgramMap, reached: &ReachedCode, sites: &CallSites) -> (MapBlock, Vec<u32>) {
        let plain = |what: &str| (MapBlock { what: what.to_owned(), path: None, line: None }, Vec::new());
        if sites.blocks.iter().any(|block| reached.block(*block)) {
            return plain(match sites.direct {
                true => "the call ran, or what stands before it in the same stretch ended the run",
                false => "an indirect call of its type ran and went elsewhere",
            });
        }
        let Some((module, core, offset)) = sites.first else { return plain("no place of the call is known") };
        let on_the_way =
            program.branches.iter().filter(|branch| branch.place == (module, core) && branch.offset < offset);
        let half_taken = |ways: &&super::program::BranchSite| {
            let taken = ways.edges.iter().filter(|(edge, _)| reached.edge(*edge)).count();
            taken > 0 && taken < ways.edges.len()
        };
        let Some(branch) = on_the_way.filter(half_taken).max_by_key(|branch| branch.offset) else {
            return plain("what stands before the call ended each run, or returned");
        };
        let (function, line) = branch.written.map_or((branch.function, branch.line), |(at, line)| (at, Some(line)));
        let function = &program.functions[function];
        let (taken, missed): (Vec<_>, Vec<_>) = branch.edges.iter().partition(|(edge, _)| reached.edge(*edge));
        let words =
            missed.iter().map(|(_, way)| *way).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ");
        let file = if function.has_source { self.shown_path(&function.file) } else { function.file.clone() };
        let place = line.map_or_else(|| format!("in {}", function.name), |line| format!("at {file}:{line}"));
        let what = format!("the branch {place} was never {words}");
        (MapBlock { what, path: Some(file), line }, taken.iter().map(|(edge, _)| *edge).collect())
    }
}

/// How many own functions that no run reached can be reached from there.
fn behind(program: &ProgramMap, at: usize, executed: &[bool]) -> u64 {
    let (mut seen, mut open) = (BTreeSet::from([at]), vec![at]);
    while let Some(next) = open.pop() {
        let calls = program.functions[next].calls.iter().filter(|(_, sites)| sites.direct);
        for (callee, _) in calls.filter(|(callee, _)| !executed[**callee]) {
            if seen.insert(*callee) {
                open.push(*callee);
            }
        }
    }
    seen.iter().filter(|function| **function != at && program.functions[**function].own).count() as u64
}
