//! What is in a run: lines and branches of the program's own code that ran, faults that struck, flows, properties, lines of output, and what was
//! noted meanwhile.
//!
//! ```text
//! coverage ─own lines─▶ line, branch     facts ─▶ fault, flow, property     history ─▶ call
//! output ─▶ log, numbers as #            notes ─▶ decision, message
//! ```
//!
//! Invariant: equal runs have equal things. A thing is in a run or not: how often does not count.

use super::notes::RunNotes;
use super::words::numberless;
use crate::coverage::{name_of, plain};
use crate::embedded::is_embedded;
use crate::error::CampaignError;
use crate::map::OwnPlaces;
use crate::mutants::shown_path;
use crate::pipeline::PreparedProgram;
use fozzy_engine::{Program, ProgramCoverage, Session};
use fozzy_instrument::EdgeKind;
use fozzy_instrument::source::DebugSymbols;
use fozzy_report::suspects::{SuspectKind, SuspectThing};
use fozzy_trace::{Digest, Execution, StreamOutput};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Different lines of output of one run that count.
pub(super) const LOG_LINES_MAX: usize = 500;

/// What is in one run.
pub(super) struct RunThings {
    covered: Vec<CoveredProgram>,
    others: BTreeSet<SuspectThing>,
    /// Whether something of its output, decisions or messages does not count.
    is_cut: bool,
}

struct CoveredProgram {
    digest: Digest,
    name: String,
    program: Program,
    covered: ProgramCoverage,
}

/// Own code of a program, by what shows that it ran.
pub(super) struct ProgramThings {
    lines: BTreeMap<SuspectThing, Vec<u32>>,
    branches: Vec<(u32, SuspectThing)>,
}

impl RunThings {
    /// What is in the execution that a session has just made.
    pub(super) fn of(
        session: &Session,
        execution: &Execution,
        prepared: &PreparedProgram,
        notes: &RunNotes,
    ) -> RunThings {
        let target = Digest::of(&prepared.loaded.component);
        let plan = &prepared.planned.plan;
        let covered = session.coverage().iter().filter(|(digest, _)| !is_embedded(**digest));
        let covered = covered.filter_map(|(digest, covered)| {
            let name = match *digest == target {
                true => prepared.loaded.target.name.clone(),
                false => name_of(plan, *digest),
            };
            let program = session.program_named(*digest)?.clone();
            Some(CoveredProgram { digest: *digest, name, program, covered: covered.clone() })
        });
        let covered = covered.collect();
        let mut others = BTreeSet::new();
        let facts = &execution.facts;
        for tally in facts.injected.rules.iter().filter(|tally| tally.strikes > 0) {
            others.insert(SuspectThing::new(SuspectKind::Fault, format!("{} of {} struck", tally.kind, tally.target)));
            let struck = tally.first.iter().map(|strike| format!("{} struck {}", tally.kind, strike.target));
            others.extend(struck.map(|what| SuspectThing::new(SuspectKind::Fault, what)));
        }
        for flow in facts.scenario.iter().flat_map(|scenario| &scenario.flows) {
            if flow.run > 0 {
                others.insert(SuspectThing::new(SuspectKind::Flow, format!("{} ran", flow.name)));
            }
            let skipped = flow.skipped.keys().map(|label| format!("{} was skipped: {label}", flow.name));
            others.extend(skipped.map(|what| SuspectThing::new(SuspectKind::Flow, what)));
        }
        for (name, property) in facts.properties.iter() {
            if property.evaluated > 0 {
                others.insert(SuspectThing::new(SuspectKind::Property, format!("{name} was evaluated")));
            }
            // That a property which must hold does not is the failure itself.
            if property.held > 0 && property.held < property.evaluated && property.state().name() == "passed" {
                others.insert(SuspectThing::new(SuspectKind::Property, format!("{name} held, and did not")));
            } else if property.held > 0 {
                others.insert(SuspectThing::new(SuspectKind::Property, format!("{name} held")));
            }
        }
        // What the SDK tells is known as flows and properties; that a run comes to the end of its steps is its verdict.
        for entry in execution.history.entries.iter().filter(|entry| !entry.call.starts_with("fozzy:")) {
            others.insert(SuspectThing::new(SuspectKind::Call, entry.call.to_string()));
        }
        let (noted, is_whole) = notes.things(execution);
        others.extend(noted);
        let nodes = execution
            .nodes
            .iter()
            .flat_map(|node| [(Some(&node.name), &node.stdout), (Some(&node.name), &node.stderr)]);
        let mut is_cut = !is_whole;
        for (machine, stream) in [(None, &execution.stdout), (None, &execution.stderr)].into_iter().chain(nodes) {
            is_cut |= !log(machine.map(String::as_str), stream, &mut others);
        }
        RunThings { covered, others, is_cut }
    }

    /// Whether something of its output, decisions or messages does not count.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// All of them.
    pub(super) fn all(
        &self,
        programs: &mut BTreeMap<Digest, ProgramThings>,
        own: &[String],
    ) -> Result<BTreeSet<SuspectThing>, CampaignError> {
        let mut all = self.others.clone();
        for covered in &self.covered {
            let known = match programs.entry(covered.digest) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(free) => free.insert(ProgramThings::of(&covered.name, &covered.program, own)?),
            };
            let hit = |counts: &[u64], at: u32| counts.get(at as usize).is_some_and(|count| *count > 0);
            let ProgramThings { lines, branches } = &*known;
            let ran =
                lines.iter().filter(|(_, blocks)| blocks.iter().any(|block| hit(&covered.covered.blocks, *block)));
            all.extend(ran.map(|(thing, _)| thing.clone()));
            let taken = branches.iter().filter(|(edge, _)| hit(&covered.covered.edges, *edge));
            all.extend(taken.map(|(_, thing)| thing.clone()));
        }
        Ok(all)
    }
}

/// Lines of output, each once, with numbers left out; whether these are all.
fn log(machine: Option<&str>, stream: &StreamOutput, things: &mut BTreeSet<SuspectThing>) -> bool {
    let text = String::from_utf8_lossy(stream.kept());
    let whose = machine.map(|name| format!("{name}: ")).unwrap_or_default();
    let mut lines: BTreeSet<String> = BTreeSet::new();
    let mut is_whole = stream.kept().len() as u64 == stream.total();
    for line in text.lines().filter(|line| !line.trim().is_empty()).map(numberless) {
        match lines.len() < LOG_LINES_MAX || lines.contains(&line) {
            true => _ = lines.insert(line),
            false => is_whole = false,
        }
    }
    things.extend(lines.into_iter().map(|line| SuspectThing::new(SuspectKind::Log, format!("{whose}{line}"))));
    is_whole
}

impl ProgramThings {
    fn of(name: &str, program: &Program, own: &[String]) -> Result<ProgramThings, CampaignError> {
        let places = OwnPlaces::of(name, program, own)?;
        let symbols = DebugSymbols::new(program.component());
        let mut lines: BTreeMap<SuspectThing, Vec<u32>> = BTreeMap::new();
        for stretch in program.sites().stretches() {
            let Some(block) = stretch.block else { continue };
            for row in symbols.lines(stretch.module, stretch.range.clone()) {
                let file = plain(&row.file);
                if places.lines.contains(&(file.clone(), row.line)) {
                    let file = Some(shown_path(&file));
                    let line =
                        SuspectThing { kind: SuspectKind::Line, file, line: Some(row.line), what: String::new() };
                    lines.entry(line).or_default().push(block);
                }
            }
            if places.blocks.contains(&block) {
                let start = stretch.range.start;
                let frames = symbols.frames(stretch.module, start);
                let function = frames.first().map_or_else(String::new, |frame| frame.function.clone());
                let at = format!("{function} at {:#x}", start.0);
                lines.entry(SuspectThing::new(SuspectKind::Line, at)).or_default().push(block);
            }
        }
        let mut branches = Vec::new();
        for edge in program.sites().iter() {
            let way = match edge.kind {
                EdgeKind::Then => "goes in",
                EdgeKind::Else => "goes past",
                EdgeKind::Taken => "is taken",
                EdgeKind::FallThrough => "is not taken",
                EdgeKind::Arm(_) => "takes an arm",
                EdgeKind::Entry | EdgeKind::Back | EdgeKind::Landing => continue,
            };
            let frames = symbols.frames(edge.module, edge.offset);
            let Some(frame) = frames.first() else { continue };
            let (Some(file), Some(line)) = (&frame.file, frame.line) else { continue };
            let file = plain(file);
            if places.lines.contains(&(file.clone(), line)) {
                let way = match (edge.kind, frame.column.filter(|column| *column > 0)) {
                    (EdgeKind::Arm(arm), _) => format!("arm {arm}"),
                    (_, Some(column)) => format!("column {column} {way}"),
                    (_, None) => way.to_owned(),
                };
                let file = Some(shown_path(&file));
                let branch = SuspectThing { kind: SuspectKind::Branch, file, line: Some(line), what: way };
                branches.push((edge.id.0, branch));
            }
        }
        Ok(ProgramThings { lines, branches })
    }
}
