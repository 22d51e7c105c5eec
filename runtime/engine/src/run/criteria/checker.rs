//! The program that judges a run: it is given the run as files and as JSON, and its end is the verdict.
//!
//! ```text
//! /run.json, standard input     how each machine ended, and where its files are; operations that clients have told
//! /history.jsonl                the calls of all machines, from the first on
//! /main/stdout, /main/stderr    what the target wrote; of another machine below its own name
//! /main/files/…                 its disk
//!
//! exits with 0 ─▶ fine          anything else ─▶ the run failed, and what it wrote says why
//! ```
//!
//! Invariants: it runs on a simulated computer without faults, with a fixed seed. One that draws is asked twice, with two seeds: what
//! differs is no verdict. Neither is a trap, or a budget that is used up.

use crate::compile::program::Program;
use crate::run::session::{Session, SessionError};
use fozzy_trace::execution::OUTPUT_KEPT_BYTES_MAX;
use fozzy_trace::facts::{Operation, OperationEnd, UnmetCriterion};
use fozzy_trace::plan::{CheckerPlan, Inputs, MachinePlan, Mount, MountEntry, MountKind, RunCriteria, StdinPlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Duration, Execution, ExecutionEnd, Executor, HarnessError, NodeId, Plan, Seed};
use fozzy_world::files::DiskContent;
use fozzy_world::{Disk, MAIN};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Instructions of a checker, some seconds; beyond them it came to no verdict.
const FUEL: u64 = 2_000_000_000;
/// Virtual time of a checker.
const TIME: Duration = Duration(3600 * 1_000_000_000);
/// Names on the disk of a machine that a checker is shown, and bytes of them.
const NAMES_MAX: usize = 10_000;
const BYTES_MAX: u64 = 64 << 20;
/// The files beside the folders of machines.
const RUN_FILE: &str = "run.json";
const HISTORY_FILE: &str = "history.jsonl";
/// The seeds with which a checker that draws is asked.
const SEEDS: [Seed; 2] = [Seed(0), Seed(1)];

/// A checker, ready to judge.
pub(super) struct CheckerSession {
    session: Session,
    plan: Plan,
}

/// What a checker came to.
#[derive(Debug, PartialEq)]
struct CheckerEnd {
    end: ExecutionEnd,
    words: String,
    has_drawn: bool,
}

impl CheckerSession {
    /// Compiles a checker.
    pub(super) fn new(
        checker: &CheckerPlan,
        program: &Program,
        component: Arc<[u8]>,
    ) -> Result<CheckerSession, SessionError> {
        let refused = |why: String| SessionError::Criteria(format!("the checker: {why}"));
        let program = program.beside(component).map_err(|error| refused(error.to_string()))?;
        if program.entries().run.is_none() {
            let found = if program.is_scenario() { "a scenario, which is driven by its steps" } else { "none" };
            return Err(refused(format!(
                "expected a program that is run (an export `wasi:cli/run`, or `_start`), found {found}"
            )));
        }
        let mut plan = Plan { main: checker.machine.clone(), criteria: RunCriteria::default(), ..Plan::default() };
        (plan.limits.fuel, plan.limits.time) = (FUEL, Some(TIME));
        let session = Session::new(program, Arc::new(plan.clone()), &Inputs::default());
        let session = session.map_err(|error| refused(error.to_string()))?;
        Ok(CheckerSession { session, plan })
    }

    /// What it says of a run.
    pub(super) fn judge(
        &mut self,
        run: &Execution,
        machines: &[(NodeId, Disk)],
    ) -> Result<Option<UnmetCriterion>, HarnessError> {
        if let Some(why) = cut_stream(run) {
            return Ok(Some(UnmetCriterion::Unjudged { why, words: String::new() }));
        }
        let mut inputs = Inputs::default();
        let Some(machine) = machine(&self.plan.main, run, machines, &mut inputs) else {
            let why =
                format!("a disk has more than the {NAMES_MAX} names or {BYTES_MAX} bytes that a checker is shown");
            return Ok(Some(UnmetCriterion::Unjudged { why, words: String::new() }));
        };
        let plan = Arc::new(Plan { main: machine, ..self.plan.clone() });
        if let Err(error) = self.session.replan(plan, &inputs) {
            let why = format!("the run cannot be shown to it: {error}");
            return Ok(Some(UnmetCriterion::Unjudged { why, words: String::new() }));
        }
        let first = self.ask(SEEDS[0])?;
        if first.has_drawn {
            let second = self.ask(SEEDS[1])?;
            if (&first.end, &first.words) != (&second.end, &second.words) {
                let why =
                    "it disagrees with itself: it draws random bytes, and with others of them it says something else";
                let words = format!("{}: {}\n{}: {}", first.end.words(), first.words, second.end.words(), second.words);
                return Ok(Some(UnmetCriterion::Unjudged { why: why.to_owned(), words }));
            }
        }
        let CheckerEnd { end, words, .. } = first;
        Ok(match end {
            ExecutionEnd::Exited { code: 0 } => None,
            ExecutionEnd::Exited { code } => Some(UnmetCriterion::Rejected { code, words }),
            end => Some(UnmetCriterion::Unjudged { why: format!("it {}", unjudged(&end)), words }),
        })
    }

    fn ask(&mut self, seed: Seed) -> Result<CheckerEnd, HarnessError> {
        let execution = self.session.execute(Box::new(SeededSource::new(seed)), 0..0)?;
        let wrote = [execution.stdout.kept(), execution.stderr.kept()].concat();
        let words = UnmetCriterion::text(&wrote).trim_end().to_owned();
        Ok(CheckerEnd { end: execution.end, words, has_drawn: execution.history.decisions > 0 })
    }
}

/// How an end that is no verdict reads after `it`.
fn unjudged(end: &ExecutionEnd) -> String {
    match end {
        ExecutionEnd::FuelExhausted { .. } => format!("did not come to an end within {FUEL} instructions"),
        ExecutionEnd::TimeExhausted { .. } => "did not come to an end within an hour of virtual time".to_owned(),
        other => other.words(),
    }
}

/// Why a run cannot be shown, if a stream of it is not kept whole: a part of it would be judged as if it were all.
fn cut_stream(run: &Execution) -> Option<String> {
    let others = run.nodes.iter().map(|node| (node.name.as_str(), &node.stdout, &node.stderr));
    let machines = std::iter::once((MAIN, &run.stdout, &run.stderr)).chain(others);
    let mut streams = machines.flat_map(|(name, stdout, stderr)| [(name, "stdout", stdout), (name, "stderr", stderr)]);
    let (name, stream, output) = streams.find(|(.., output)| output.total() > output.kept().len() as u64)?;
    let total = output.total();
    Some(format!(
        "{stream} of `{name}` has {total} bytes, and a checker is shown streams of {OUTPUT_KEPT_BYTES_MAX} at the most: \
         --fail-on and --expect-output judge longer ones, and --output-limit 4MiB makes them a failure"
    ))
}

/// The machine of a checker, with a run on its disk; `None` when that is too large.
fn machine(own: &MachinePlan, run: &Execution, disks: &[(NodeId, Disk)], inputs: &mut Inputs) -> Option<MachinePlan> {
    let mut entries: Vec<MountEntry> = Vec::new();
    let mut add = |path: String, kind: MountKind| entries.push(MountEntry { path, kind });
    let others = run.nodes.iter().map(|node| (node.name.as_str(), &node.stdout, &node.stderr));
    let machines = std::iter::once((MAIN, &run.stdout, &run.stderr)).chain(others);
    for (((_, stdout, stderr), name), (_, disk)) in machines.zip(folders(run)).zip(disks) {
        add(name.clone(), MountKind::Directory);
        add(format!("{name}/files"), MountKind::Directory);
        add(format!("{name}/stdout"), MountKind::File(inputs.add(stdout.kept().to_vec())));
        add(format!("{name}/stderr"), MountKind::File(inputs.add(stderr.kept().to_vec())));
        for (path, content) in disk.contents(NAMES_MAX, BYTES_MAX)? {
            let kind = match content {
                DiskContent::Directory => MountKind::Directory,
                DiskContent::File(bytes) => MountKind::File(inputs.add(bytes)),
                DiskContent::Link(to) => MountKind::Link(to.to_string()),
            };
            add(format!("{name}/files/{path}"), kind);
        }
    }
    let lines: String =
        run.history.entries.iter().map(|entry| serde_json::to_string(entry).unwrap_or_default() + "\n").collect();
    add(HISTORY_FILE.to_owned(), MountKind::File(inputs.add(lines.into_bytes())));
    let document = inputs.add(document(run).to_string().into_bytes());
    add(RUN_FILE.to_owned(), MountKind::File(document));
    // As a mount wants them: parents before children, names sorted.
    entries.sort_by(|a, b| a.path.split('/').cmp(b.path.split('/')));
    let dirs = vec![Mount { guest: "/".to_owned(), entries }];
    let stdin = StdinPlan { bytes: document, stays_open: false, channel: None };
    Some(MachinePlan { dirs, stdin, bare: true, ..own.clone() })
}

/// The folders of all machines, the target's first.
fn folders(run: &Execution) -> Vec<String> {
    let names = std::iter::once(MAIN).chain(run.nodes.iter().map(|node| node.name.as_str()));
    let mut taken = BTreeSet::from([RUN_FILE.to_owned(), HISTORY_FILE.to_owned()]);
    names.map(|name| folder(name, &mut taken)).collect()
}

/// The folder of a machine: its name, as long as nothing else is called so. Names of plans are host names; those of a hostile file are
/// not.
fn folder(name: &str, taken: &mut BTreeSet<String>) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let mut name: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    if name.trim_matches('.').is_empty() {
        name = format!("machine-{name}");
    }
    while !taken.insert(name.clone()) {
        name = format!("machine-{name}");
    }
    name
}

/// The run as JSON.
fn document(run: &Execution) -> Value {
    let mut folders = folders(run).into_iter();
    let mut machine = |name: &str, end: Option<&ExecutionEnd>, restarts: u64| {
        let folder = folders.next().unwrap_or_default();
        json!({
            "name": name,
            "end": end,
            "restarts": restarts,
            "stdout": format!("/{folder}/stdout"),
            "stderr": format!("/{folder}/stderr"),
            "files": format!("/{folder}/files"),
        })
    };
    let main = machine(MAIN, Some(&run.end), 0);
    let others = run.nodes.iter().map(|node| machine(&node.name, node.end.as_ref(), node.restarts));
    json!({
        "version": 1,
        "virtualNs": run.ended_at.0,
        "machines": std::iter::once(main).chain(others).collect::<Vec<_>>(),
        "history": { "path": format!("/{HISTORY_FILE}"), "calls": run.history.calls, "shown": run.history.entries.len() },
        "operations": operations(run),
    })
}

/// What clients have told of their operations, in the order of their beginnings.
fn operations(run: &Execution) -> Vec<Value> {
    let told = |operation: &Operation| {
        let end = operation.end.as_ref().map(|(end, moment, at)| {
            let (kind, output) = match end {
                OperationEnd::Ok(output) => ("ok", output),
                OperationEnd::Fail(output) => ("fail", output),
                OperationEnd::Info(output) => ("info", output),
            };
            json!({ "kind": kind, "output": output, "order": moment, "at": at.0 })
        });
        let (order, at) = operation.invoked;
        json!({
            "client": operation.client,
            "operation": operation.operation,
            "input": operation.input,
            "order": order,
            "at": at.0,
            "end": end,
        })
    };
    run.facts.operations.all().iter().map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_has_a_folder_of_its_own_whatever_it_is_called() {
        let mut taken = BTreeSet::from([RUN_FILE.to_owned(), HISTORY_FILE.to_owned()]);
        let names = ["main", "run.json", "a b", "a_b", "main", "..", "machine-run.json"];
        let folders = names.map(|name| folder(name, &mut taken));
        let expected = [
            "main",
            "machine-run.json",
            "a_b",
            "machine-a_b",
            "machine-main",
            "machine-..",
            "machine-machine-run.json",
        ];
        assert_eq!(folders, expected);
    }
}
