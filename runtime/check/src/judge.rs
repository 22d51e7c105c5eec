//! The verdict on one execution.

use crate::criteria;
use crate::frame_filter::{is_project_path, is_refused_allocation, names_failure};
use crate::history_criteria;
use crate::identity::{masked, own_words};
use crate::leak;
use crate::panic::{GoPanic, PanicMessage, advice, go_panic, last_panic, says_out_of_memory};
use crate::signature::{allocation_site, library_panic_site, recursion_site, site};
use crate::unmatched::one_line;
use fozzy_trace::facts::{Facts, FailureKind, FlowStats, ReportedFailure, ScenarioStats};
use fozzy_trace::outcome::{SourceLocation, StackFrame};
use fozzy_trace::plan::AllowedEnd;
use fozzy_trace::{
    Execution, ExecutionEnd, FailureSignature, Finding, FindingKind, NodeExecution, PeerStack, Status, Verdict,
};

/// Frames shown in a finding; the whole stack would bury what matters.
const SHOWN_FRAMES: usize = 32;

/// Labels of skips that a finding names.
const SHOWN_SKIPS: usize = 8;

/// What an execution means: the worst that was found decides about the status, and stands first.
#[must_use]
pub fn judge(execution: &Execution) -> Verdict {
    verdict(judged(execution))
}

/// The verdict on one of the many executions of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchVerdict {
    /// The verdict. That operations are too few for one says nothing of the program, since other executions have more: it is no finding.
    /// Nor is it one that none of a kind has succeeded, since a search goes where all are hit by faults, or asks what has no answer.
    pub verdict: Verdict,
    /// Whether it is so, and nothing else was found.
    pub is_undecided: bool,
}

impl SearchVerdict {
    fn of(judged: JudgedRun) -> SearchVerdict {
        let JudgedRun { found, is_undecided } = judged;
        SearchVerdict { is_undecided: is_undecided && found.is_empty(), verdict: verdict(found) }
    }

    /// The verdict, if something is wrong.
    #[must_use]
    #[inline]
    pub fn failure(self) -> Option<Verdict> {
        self.verdict.signature.is_some().then_some(self.verdict)
    }
}

/// The verdict on one of the many executions of a search: too few operations are no finding.
#[must_use]
pub fn judge_of_search(execution: &Execution) -> SearchVerdict {
    SearchVerdict::of(judged_by(execution, ExitRule::Panics, false))
}

/// The same by the rule of recordings that were made when a panic of Go was an exit code like any other.
#[must_use]
pub fn judge_by_exit_code(execution: &Execution) -> Verdict {
    verdict(judged_by(execution, ExitRule::Code, true).found)
}

/// The same by the rule of recordings that were made when the operations of a client did not fit which went on after one that never ends.
#[must_use]
pub fn judge_by_open_operations(execution: &Execution) -> Verdict {
    verdict(judged_with(execution, ExitRule::Panics, true, false).found)
}

/// What was found in an execution, the worst first.
pub(crate) fn judged(execution: &Execution) -> Vec<JudgedFinding> {
    judged_by(execution, ExitRule::Panics, true).found
}

/// What an exit code is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExitRule {
    /// The panic that the program has printed before, where its runtime exits so.
    Panics,
    /// Its number alone.
    Code,
}

fn judged_by(execution: &Execution, rule: ExitRule, is_alone: bool) -> JudgedRun {
    judged_with(execution, rule, is_alone, true)
}

fn judged_with(execution: &Execution, rule: ExitRule, is_alone: bool, gives_up: bool) -> JudgedRun {
    let target = ProgramOutput { stderr: execution.stderr.last(), backtrace: &execution.backtrace, rule };
    let place = execution.facts.scenario.as_ref().and_then(|scenario| scenario.place());
    let mut found: Vec<JudgedFinding> = match criteria::of_exit(&execution.end, &execution.facts.criteria) {
        // No code that a program is allowed to exit with allows it to panic.
        _ if target.go_panic(&execution.end).is_some() => of_end(&execution.end, target).into_iter().collect(),
        _ if execution.facts.excuses_exit(&execution.end) => Vec::new(),
        _ if execution.facts.is_interruption(&execution.end) => Vec::new(),
        Some(allowed) => allowed.err().into_iter().collect(),
        None => of_end(&execution.end, target).into_iter().collect(),
    };
    let at_place =
        |found: &mut JudgedFinding| found.finding.message.extend(place.iter().map(|place| format!("\nin {place}")));
    found.iter_mut().for_each(at_place);
    if let (ExecutionEnd::Hang { .. }, Some(hang)) = (&execution.end, found.first_mut()) {
        hang.finding.peers = waiting_peers(&execution.nodes);
    }
    for node in &execution.nodes {
        let part = ProgramOutput { stderr: node.stderr.last(), backtrace: &node.backtrace, rule };
        found.extend(of_node(node, part).map(|found| found.on(&node.name, &execution.end)));
    }
    if execution.end == ExecutionEnd::CalledEnded {
        match found.last_mut() {
            Some(found) => at_place(found),
            None => found.push(crash("the component that it called ended", target)),
        }
    }
    // What else was found says more.
    if found.is_empty() && execution.end == (ExecutionEnd::Exited { code: 0 }) {
        found.extend(execution.facts.scenario.as_ref().and_then(nothing_ran));
    }
    if execution.end == (ExecutionEnd::Exited { code: 0 }) {
        found.extend(leak::found(&execution.facts.allocations));
        found.extend(execution.facts.own_heap.iter().flat_map(|heap| leak::found_in_heap(heap)));
    }
    found.extend(criteria::found(&execution.facts.criteria));
    // What has ended the run is found again in the whole of it.
    let ended_by = found.first().map(JudgedFinding::signature);
    let extent = match (is_alone, found.is_empty()) {
        (true, true) => history_criteria::JudgedExtent::Run,
        (true, false) => history_criteria::JudgedExtent::FailedRun,
        (false, _) => history_criteria::JudgedExtent::SearchedRun,
    };
    let of_history = history_criteria::found_by(&execution.facts.operations, extent, gives_up);
    found.extend(of_history.found.into_iter().filter(|one| Some(one.signature()) != ended_by));
    found.extend(crate::unmatched::found(&execution.unmatched, execution.unmatched_more));
    found.sort_by_key(|found| severity(found.status));
    JudgedRun { found, is_undecided: of_history.is_undecided }
}

/// The verdict on what was found, which stands in its order.
fn verdict(found: Vec<JudgedFinding>) -> Verdict {
    let status = found.first().map_or(Status::Pass, |found| found.status);
    let signature = found.first().map(JudgedFinding::signature);
    Verdict { status, findings: found.into_iter().map(|found| found.finding).collect(), signature }
}

/// A scenario none of whose flows ever did anything has tested nothing, which is no pass.
fn nothing_ran(scenario: &ScenarioStats) -> Option<JudgedFinding> {
    if scenario.sequences == 0 || scenario.flows.iter().any(|flow| flow.run > 0) {
        return None;
    }
    let skips = |flow: &FlowStats| -> Vec<String> {
        let (name, labels) = (one_line(&flow.name), flow.skipped.iter());
        labels.map(|(label, times)| format!("`{name}`: {} {times}", one_line(label))).collect()
    };
    let drawn: u64 = scenario.flows.iter().flat_map(|flow| flow.skipped.values()).sum();
    let title = "no flow ran".to_owned();
    let message = match drawn {
        0 => format!("{title}: none of {} sequences came to the end of a step", scenario.sequences),
        drawn => {
            let labels: Vec<String> = scenario.flows.iter().flat_map(skips).take(SHOWN_SKIPS).collect();
            format!("{title}: the {drawn} that were drawn found nothing to do ({})", labels.join(", "))
        }
    };
    Some(found(Status::Error, located(FindingKind::InputInvalid, title.clone(), message, &[]), title))
}

/// The verdict on one guest that ended so, was alone, and has no history to be looked at.
#[must_use]
pub fn judge_end(end: &ExecutionEnd, stderr: &[u8], backtrace: &[StackFrame]) -> Verdict {
    let program = ProgramOutput { stderr, backtrace, rule: ExitRule::Panics };
    verdict(of_end(end, program).into_iter().collect())
}

/// The verdict on a guest that came to its end as it should, by what it told, in a search. It is asked after each execution of a campaign,
/// and most have nothing by which they could fail.
#[must_use]
#[inline]
pub fn judge_facts(facts: &Facts) -> SearchVerdict {
    if facts.allocations.is_over_budget() || !facts.operations.criteria.is_empty() {
        return judge_told(facts);
    }
    let verdict = Verdict { status: Status::Pass, findings: Vec::new(), signature: None };
    SearchVerdict { verdict, is_undecided: false }
}

/// The same, whatever it told.
fn judge_told(facts: &Facts) -> SearchVerdict {
    let mut found: Vec<JudgedFinding> = leak::found(&facts.allocations).into_iter().collect();
    let of_history = history_criteria::found(&facts.operations, history_criteria::JudgedExtent::SearchedRun);
    found.extend(of_history.found);
    found.sort_by_key(|found| severity(found.status));
    SearchVerdict::of(JudgedRun { found, is_undecided: of_history.is_undecided })
}

/// What was found in a run.
pub(crate) struct JudgedRun {
    pub(crate) found: Vec<JudgedFinding>,
    /// Whether a checker of its operations came to no verdict, where that is no finding.
    pub(crate) is_undecided: bool,
}

/// One finding, and what it makes of the run.
pub(crate) struct JudgedFinding {
    pub(crate) status: Status,
    pub(crate) finding: Finding,
    pub(crate) site: String,
    /// What the program itself said of it; empty where that says nothing more than the site.
    pub(crate) words: String,
}

impl JudgedFinding {
    /// The identity of its site.
    pub(crate) fn signature(&self) -> FailureSignature {
        FailureSignature { kind: self.finding.kind, site: self.site.clone() }
    }

    /// The same, found on another machine of a run that ended so.
    fn on(mut self, node: &str, end: &ExecutionEnd) -> JudgedFinding {
        if matches!(end, ExecutionEnd::PeerEnded { node: ended } if ended == node) {
            self.finding.message.push_str("\nthe run ended soon after");
        }
        let node = one_line(node);
        self.finding.title = format!("node `{node}`: {}", self.finding.title);
        self.finding.message = format!("node `{node}`: {}", self.finding.message);
        self.site = format!("node {node}: {}", self.site);
        self
    }
}

/// The program of one machine.
#[derive(Clone, Copy)]
struct ProgramOutput<'a> {
    stderr: &'a [u8],
    backtrace: &'a [StackFrame],
    rule: ExitRule,
}

impl ProgramOutput<'_> {
    /// The panic that it exited with.
    fn go_panic(&self, end: &ExecutionEnd) -> Option<GoPanic> {
        (self.rule == ExitRule::Panics).then(|| go_panic(end, self.stderr)).flatten()
    }
}

/// Least for the worst. That a run cannot be judged comes before what was seen in it; a crash before the
/// waiting of those that it left alone.
const fn severity(status: Status) -> u8 {
    match status {
        Status::Error => 0,
        Status::Crash => 1,
        Status::Timeout => 2,
        Status::Fail => 3,
        Status::Pass => 4,
    }
}

/// Where the programs of other machines wait.
fn waiting_peers(nodes: &[NodeExecution]) -> Vec<PeerStack> {
    let waiting = nodes.iter().filter(|node| node.end.is_none() && !node.backtrace.is_empty());
    waiting.map(|node| PeerStack { node: one_line(&node.name), backtrace: shown(&node.backtrace) }).collect()
}

/// What the end of another machine's program means, by what the plan allows.
fn of_node(node: &NodeExecution, part: ProgramOutput<'_>) -> Option<JudgedFinding> {
    let end = node.end.as_ref()?;
    match node.ends {
        // Plans of before: how it exits is its own affair.
        None if matches!(end, ExecutionEnd::Exited { .. }) => None,
        Some(ends) if ends.allows(end) => None,
        Some(AllowedEnd::Never) if *end == (ExecutionEnd::Exited { code: 0 }) => {
            let title = "the program ended".to_owned();
            let message = format!("{title}, and the plan says that it never does (`ends = \"never\"`)");
            let message = with_last_words(&message, part.stderr);
            let finding = located(FindingKind::TargetBehavior, title.clone(), message, &[]);
            Some(found(Status::Fail, finding, title))
        }
        _ => of_end(end, part),
    }
}

/// What the end of one machine's program means; `None` when it is as it should be.
fn of_end(end: &ExecutionEnd, part: ProgramOutput<'_>) -> Option<JudgedFinding> {
    if let Some(panic) = part.go_panic(end) {
        return Some(panicked(panic, part.stderr));
    }
    let found = found_in_end(end, part)?;
    Some(JudgedFinding { words: own_words(end, part.stderr), ..found })
}

fn found_in_end(end: &ExecutionEnd, part: ProgramOutput<'_>) -> Option<JudgedFinding> {
    let backtrace = part.backtrace;
    Some(match end {
        // That one is a finding of its machine; a planned fault is none.
        ExecutionEnd::Exited { code: 0 }
        | ExecutionEnd::CalledEnded
        | ExecutionEnd::Killed
        | ExecutionEnd::PeerEnded { .. } => return None,
        ExecutionEnd::Exited { code } => {
            let title = format!("the program exited with code {code}");
            let finding = Finding {
                kind: FindingKind::TargetBehavior,
                message: with_last_words(&title, part.stderr),
                title,
                location: None,
                backtrace: Vec::new(),
                peers: Vec::new(),
                related: Vec::new(),
            };
            found(Status::Fail, finding, format!("exit code {code}"))
        }
        ExecutionEnd::Trapped { trap } => crash(trap, part),
        ExecutionEnd::MemoryError { error } => {
            let title = error.class.name().to_owned();
            let site = site(&title, backtrace);
            found(Status::Crash, located(FindingKind::MemoryError, title, error.to_string(), backtrace), site)
        }
        ExecutionEnd::FuelExhausted { fuel } => {
            let title = "the instruction budget ran out".to_owned();
            let message = format!(
                "{title}: {fuel} were used, by the program and by the host's work for it, without coming to an end; raise \
                 the budget with --fuel if the program needs more"
            );
            let site = site("instructions", backtrace);
            found(Status::Timeout, located(FindingKind::Timeout, title, message, backtrace), site)
        }
        ExecutionEnd::TimeExhausted { limit } => {
            let title = "virtual time ran out".to_owned();
            let message = format!("{title}: the program was not done after {limit} of virtual time (--timeout)");
            let site = site("virtual time", backtrace);
            found(Status::Timeout, located(FindingKind::Timeout, title, message, backtrace), site)
        }
        ExecutionEnd::Hang { waiting } => {
            let title = "the program hangs".to_owned();
            let message = format!(
                "{title}: every task is blocked and no deadline is left; it waits for {}",
                waiting.join(", and for ")
            );
            let site = site("hang", backtrace);
            found(Status::Timeout, located(FindingKind::Hang, title, message, backtrace), site)
        }
        ExecutionEnd::Failed { failure } => failed(failure, backtrace),
        ExecutionEnd::Diverged { recorded, asked } => {
            let title = "the replay left the recording".to_owned();
            let message = format!(
                "{title}: it asked the real computer for something that was not recorded, and a replay asks nobody\n\
                 recorded {recorded}\nasked    {asked}"
            );
            let site = site("real computer", backtrace);
            found(Status::Error, located(FindingKind::Divergence, title, message, backtrace), site)
        }
    })
}

/// The program's own judgement. A scenario that cannot be run is no verdict on what it tests.
fn failed(failure: &ReportedFailure, backtrace: &[StackFrame]) -> JudgedFinding {
    let ReportedFailure { kind, site, message } = failure;
    let (status, kind) = match kind {
        FailureKind::Assertion => (Status::Fail, FindingKind::Assertion),
        FailureKind::Invariant => (Status::Fail, FindingKind::Invariant),
        FailureKind::Deadlock => (Status::Fail, FindingKind::Hang),
        FailureKind::Invalid => (Status::Error, FindingKind::InputInvalid),
        FailureKind::Panic => (Status::Fail, FindingKind::Panic),
        FailureKind::History => (Status::Fail, FindingKind::Checker),
    };
    let message = printable(message);
    let title = message.lines().next().unwrap_or_default().to_owned();
    found(status, located(kind, title, message, backtrace), one_line(site))
}

/// A program's own words, safe for a terminal; lines stay lines.
fn printable(text: &str) -> String {
    text.chars()
        .flat_map(|c| if c.is_control() && c != '\n' { c.escape_default().collect() } else { vec![c] })
        .collect()
}

fn found(status: Status, finding: Finding, site: String) -> JudgedFinding {
    JudgedFinding { status, finding, site, words: String::new() }
}

/// A panic that was an exit: what it says, and where, by the stack that the program has printed.
fn panicked(found_panic: GoPanic, stderr: &[u8]) -> JudgedFinding {
    let place_in_code = found_panic.place();
    let GoPanic { panic: PanicMessage { message, location }, stack } = found_panic;
    if says_out_of_memory(stderr) {
        let title = "out of memory".to_owned();
        let site = allocation_site(&title, &stack);
        return found(Status::Crash, located(FindingKind::Trap, title, message, &stack), site);
    }
    let title =
        location.as_ref().map_or_else(|| "the program panicked".to_owned(), |at| format!("panic at {}", place(at)));
    let words = message.lines().next().unwrap_or_default();
    let what = masked(words.strip_prefix("panic: ").unwrap_or(words));
    let site = place_in_code.map_or_else(|| what.clone(), |place| format!("{what} in {place}"));
    let finding = Finding {
        kind: FindingKind::Panic,
        title,
        message: printable(&message),
        location,
        backtrace: shown(&stack),
        peers: Vec::new(),
        related: Vec::new(),
    };
    JudgedFinding { words: message, ..found(Status::Crash, finding, one_line(&site)) }
}

fn crash(trap: &str, part: ProgramOutput<'_>) -> JudgedFinding {
    let ProgramOutput { stderr, backtrace, .. } = part;
    // Only `unreachable` is what aborting compiles to; another trap after a panic's text is a trap.
    let aborted = trap.contains("unreachable");
    if aborted && (says_out_of_memory(stderr) || is_refused_allocation(backtrace)) {
        let title = "out of memory".to_owned();
        let (message, site) = (with_last_words(&title, stderr), allocation_site(&title, backtrace));
        return found(Status::Crash, located(FindingKind::Trap, title, message, backtrace), site);
    }
    if aborted && let Some(PanicMessage { message, location }) = last_panic(stderr) {
        let panicked_at = location.as_ref().map(place);
        let title =
            panicked_at.as_ref().map_or_else(|| "the program panicked".to_owned(), |at| format!("panic at {at}"));
        let of_library = location.as_ref().and_then(|at| library_panic_site(at, backtrace));
        let site = of_library.or(panicked_at).unwrap_or_else(|| site("panic", backtrace));
        let message = advice(&message).map_or_else(|| message.clone(), |advice| format!("{message}\n{advice}"));
        let finding = Finding {
            kind: FindingKind::Panic,
            title,
            message,
            location: project_location(location, backtrace),
            backtrace: shown(backtrace),
            peers: Vec::new(),
            related: Vec::new(),
        };
        return found(Status::Crash, finding, site);
    }
    let title = trap.to_owned();
    let message = with_last_words(&title, stderr);
    let site =
        if trap == fozzy_trace::STACK_EXHAUSTED { recursion_site(trap, backtrace) } else { site(trap, backtrace) };
    found(Status::Crash, located(FindingKind::Trap, title, message, backtrace), site)
}

fn located(kind: FindingKind, title: String, message: String, backtrace: &[StackFrame]) -> Finding {
    Finding {
        kind,
        title,
        message,
        location: own_location(backtrace),
        backtrace: shown(backtrace),
        peers: Vec::new(),
        related: Vec::new(),
    }
}

fn shown(backtrace: &[StackFrame]) -> Vec<StackFrame> {
    backtrace.iter().take(SHOWN_FRAMES).cloned().collect()
}

/// Where a panic happened, or who of the project led to it, if it happened in a dependency.
fn project_location(panic: Option<SourceLocation>, backtrace: &[StackFrame]) -> Option<SourceLocation> {
    let in_project = |at: &SourceLocation| at.file.as_deref().is_some_and(is_project_path);
    let frames = || backtrace.iter().filter(|frame| names_failure(frame)).map(|frame| &frame.source);
    match panic {
        Some(at) if in_project(&at) => Some(at),
        panic => frames().find(|at| in_project(at)).cloned().or(panic).or_else(|| own_location(backtrace)),
    }
}

/// Where the target's own code was, innermost.
fn own_location(backtrace: &[StackFrame]) -> Option<SourceLocation> {
    let sources = || backtrace.iter().filter(|frame| names_failure(frame)).map(|frame| &frame.source);
    let in_project = |at: &&SourceLocation| at.file.as_deref().is_some_and(is_project_path);
    sources().find(in_project).or_else(|| sources().find(|at| at.file.is_some())).cloned()
}

fn place(at: &SourceLocation) -> String {
    let file = at.file.as_deref().unwrap_or("?");
    match (at.line, at.col) {
        (Some(line), Some(col)) => format!("{file}:{line}:{col}"),
        (Some(line), None) => format!("{file}:{line}"),
        _ => file.to_owned(),
    }
}

/// The title, and what the program last said on standard error.
fn with_last_words(title: &str, stderr: &[u8]) -> String {
    let said = String::from_utf8_lossy(stderr).into_owned();
    let last: Vec<&str> = said.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
    if last.is_empty() {
        return title.to_owned();
    }
    let lines: Vec<&str> = last.into_iter().rev().collect();
    format!("{title}; it last said:\n{}", lines.join("\n"))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fozzy_trace::facts::OperationEnd;
    use fozzy_trace::plan::HistoryCriterion;
    use fozzy_trace::{Digest, Duration, History, Instant, NodeExecution, StreamOutput};

    pub(crate) fn execution(end: ExecutionEnd, stderr: &str, functions: &[&str]) -> Execution {
        let frame = |function: &&str| StackFrame {
            module: "m".into(),
            function: (*function).to_owned(),
            offset: 1,
            source: SourceLocation { file: Some("src/a.rs".into()), line: Some(3), col: None },
        };
        let mut output = StreamOutput::default();
        output.write(stderr.as_bytes());
        Execution {
            end,
            ended_at: Instant::START,
            history: History::default(),
            stdout: StreamOutput::default(),
            stderr: output,
            fuel_used: 0,
            memory_bytes: 0,
            memory: Digest::of(b""),
            backtrace: functions.iter().map(frame).collect(),
            nodes: Vec::new(),
            unmatched: Vec::new(),
            unmatched_more: 0,
            facts: fozzy_trace::Facts::default(),
        }
    }

    fn node(name: &str, end: Option<ExecutionEnd>, stderr: &str) -> NodeExecution {
        let Execution { stdout, stderr, memory, backtrace, .. } =
            execution(ExecutionEnd::Exited { code: 0 }, stderr, &["serve"]);
        NodeExecution {
            name: name.to_owned(),
            end,
            stdout,
            stderr,
            memory,
            backtrace,
            ends: None,
            restarts: 0,
            is_down: false,
        }
    }

    fn signature(end: ExecutionEnd, stderr: &str, functions: &[&str]) -> (Status, String) {
        let verdict = judge(&execution(end, stderr, functions));
        (verdict.status, verdict.signature.map(|signature| signature.to_string()).unwrap_or_default())
    }

    #[test]
    fn an_error_exit_after_a_strike_is_no_failure_where_the_plan_says_so() {
        let of = |end: ExecutionEnd, allows_error_exit: bool, strikes: u64| {
            let mut execution = execution(end, "", &[]);
            let rule = fozzy_trace::facts::FaultTally { strikes, ..Default::default() };
            execution.facts.injected.rules.push(rule);
            execution.facts.allows_error_exit = allows_error_exit;
            judge(&execution).status
        };
        let exit = || ExecutionEnd::Exited { code: 1 };
        let trap = || ExecutionEnd::Trapped { trap: "unreachable".to_owned() };
        assert_eq!((of(exit(), true, 1), of(exit(), true, 0)), (Status::Pass, Status::Fail));
        assert_eq!((of(exit(), false, 1), of(trap(), true, 1)), (Status::Fail, Status::Crash));
    }

    #[test]
    fn a_panic_of_go_is_a_crash_and_no_exit_code_excuses_it() {
        let panics =
            |what: &str| format!("panic: {what}\n\ngoroutine 1 [running]:\nmain.main()\n\t/a/g3.go:16 +0x11\n");
        let of = |code: u32, stderr: &str, excused: bool| {
            let mut execution = execution(ExecutionEnd::Exited { code }, stderr, &[]);
            let rule = fozzy_trace::facts::FaultTally { strikes: 1, ..Default::default() };
            execution.facts.injected.rules.push(rule);
            execution.facts.allows_error_exit = excused;
            execution.facts.criteria.exit_codes = if excused { vec![0, 2] } else { Vec::new() };
            let verdict = judge(&execution);
            let before = judge_by_exit_code(&execution).status;
            (verdict.status, verdict.signature.map(|signature| signature.to_string()).unwrap_or_default(), before)
        };
        let nil = "panic at assignment to entry in nil map in main.main (g3.go:16)".to_owned();
        let range = "panic at runtime error: index out of range […] with length # in main.main (g3.go:16)".to_owned();
        let (map, index) =
            (panics("assignment to entry in nil map"), panics("runtime error: index out of range [4] with length 1"));
        assert_eq!(of(2, &map, false), (Status::Crash, nil.clone(), Status::Fail));
        assert_eq!(of(2, &map, true), (Status::Crash, nil, Status::Pass));
        assert_eq!(of(2, &index, false), (Status::Crash, range, Status::Fail));
        let exit = "target_behavior at exit code 2".to_owned();
        assert_eq!(of(2, &(map.clone() + "bye\n"), false), (Status::Fail, exit, Status::Fail));
        assert_eq!(of(2, &(map + "bye\n"), true).0, Status::Pass);
        let memory = "fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\nmain.f()\n\t/a/b.go:1 +0x1\n";
        assert_eq!(of(2, memory, false).1, "trap at out of memory in main.f");
        let verdict = judge(&execution(ExecutionEnd::Exited { code: 2 }, &panics("no room for 3"), &[]));
        let found = &verdict.findings[0];
        assert_eq!((&*found.title, &*found.message), ("panic at /a/g3.go:16", "panic: no room for 3"));
        assert_eq!(found.location.as_ref().and_then(|at| at.line), Some(16));
    }

    #[test]
    fn each_end_has_its_status_and_signature() {
        let trap = |text: &str| ExecutionEnd::Trapped { trap: text.into() };
        let cases = [
            (ExecutionEnd::Exited { code: 0 }, "", Status::Pass, ""),
            (ExecutionEnd::Exited { code: 3 }, "", Status::Fail, "target_behavior at exit code 3"),
            (trap("integer divide by zero"), "", Status::Crash, "trap at integer divide by zero in a < b"),
            (
                trap("wasm `unreachable` instruction executed"),
                "thread 'main' panicked at src/a.rs:1:2:\nboom\n",
                Status::Crash,
                "panic at src/a.rs:1:2",
            ),
            (
                trap("wasm `unreachable` instruction executed"),
                "memory allocation of 9 bytes failed\n",
                Status::Crash,
                "trap at out of memory in a < b",
            ),
            (ExecutionEnd::FuelExhausted { fuel: 9 }, "", Status::Timeout, "timeout at instructions in a < b"),
            (
                ExecutionEnd::TimeExhausted { limit: Duration(9) },
                "",
                Status::Timeout,
                "timeout at virtual time in a < b",
            ),
            (ExecutionEnd::Hang { waiting: vec!["x".into()] }, "", Status::Timeout, "hang at hang in a < b"),
            (
                ExecutionEnd::Failed {
                    failure: ReportedFailure::new(FailureKind::Assertion, "total", "`total` does not hold\n3 of 4"),
                },
                "",
                Status::Fail,
                "assertion at total",
            ),
            (
                ExecutionEnd::Failed { failure: ReportedFailure::new(FailureKind::Invalid, "flows", "no flow") },
                "",
                Status::Error,
                "input_invalid at flows",
            ),
            (
                ExecutionEnd::Diverged { recorded: "r".into(), asked: "a".into() },
                "",
                Status::Error,
                "divergence at real computer in a < b",
            ),
        ];
        for (end, stderr, status, expected) in cases {
            let found = signature(end.clone(), stderr, &["core::panicking::panic", "a", "b", "std::rt::main"]);
            assert_eq!(found, (status, expected.to_owned()), "{end:?}");
        }
    }

    #[test]
    fn a_scenario_none_of_whose_flows_ran_is_no_pass() {
        let mut flow = FlowStats::new("settle");
        let verdict = |flow: &FlowStats, sequences| {
            let mut execution = execution(ExecutionEnd::Exited { code: 0 }, "", &[]);
            let stats = ScenarioStats { flows: vec![flow.clone()], sequences, ..ScenarioStats::default() };
            execution.facts.scenario = Some(stats);
            let verdict = judge(&execution);
            (verdict.status, verdict.findings.first().map(|finding| finding.message.clone()).unwrap_or_default())
        };
        assert_eq!(verdict(&flow, 0), (Status::Pass, String::new()));
        let never = "no flow ran: none of 3 sequences came to the end of a step".to_owned();
        assert_eq!(verdict(&flow, 3), (Status::Error, never));
        flow.skip("no account");
        flow.skip("closed");
        flow.skip("closed");
        let skipped =
            "no flow ran: the 3 that were drawn found nothing to do (`settle`: closed 2, `settle`: no account 1)";
        assert_eq!(verdict(&flow, 3), (Status::Error, skipped.to_owned()));
        flow.ran(fozzy_trace::facts::Cost::default());
        assert_eq!(verdict(&flow, 3), (Status::Pass, String::new()));
    }

    #[test]
    fn a_stripped_program_is_identified_by_its_functions_numbers() {
        let trap = || ExecutionEnd::Trapped { trap: "integer overflow".into() };
        assert_eq!(signature(trap(), "", &["wasm-function[3]", "a"]).1, "trap at integer overflow in a");
        let stripped = signature(trap(), "", &["wasm-function[3]", "wasm-function[9]"]).1;
        assert_eq!(stripped, "trap at integer overflow in wasm-function[3] < wasm-function[9]");
    }

    #[test]
    fn the_depth_of_a_recursion_is_not_part_of_its_identity() {
        let end = || ExecutionEnd::Trapped { trap: "call stack exhausted".into() };
        let deep: Vec<&str> = std::iter::repeat_n("f", 60).chain(["main"]).collect();
        assert_eq!(signature(end(), "", &deep), signature(end(), "", &["f", "main"]));
        // Nor is where it ended.
        assert_eq!(signature(end(), "", &[&["leaf"], &deep[..]].concat()), signature(end(), "", &deep));
    }

    #[test]
    fn memory_that_is_used_up_is_one_failure_however_the_program_says_so() {
        let trap = || ExecutionEnd::Trapped { trap: "wasm `unreachable` instruction executed".into() };
        let stack = ["alloc::alloc::handle_alloc_error", "read_name", "parse", "main"];
        let expected = (Status::Crash, "trap at out of memory in read_name < parse < main".to_owned());
        assert_eq!(signature(trap(), "memory allocation of 99 bytes failed\n", &stack), expected);
        assert_eq!(signature(trap(), "", &stack), expected);
        assert_eq!(signature(trap(), "", &["cabi_realloc", "read_name", "parse", "main"]), expected);
        let panicked =
            "thread 'main' panicked at library/alloc/src/alloc.rs:1:2:\nmemory allocation of 9 bytes failed\n";
        assert_eq!(signature(trap(), panicked, &stack), expected);
        let go = "fatal error: runtime: out of memory\n\ngoroutine 1 [running]:\nmain.f()\n";
        assert_eq!(signature(trap(), go, &["runtime.throw", "read_name", "parse", "main"]), expected);
        // What comes to its end elsewhere is another failure, although an allocator is on the stack.
        let callback = signature(trap(), "", &["compare", "alloc::alloc::handle_alloc_error", "read_name"]).1;
        assert!(callback.starts_with("trap at wasm `unreachable`"), "{callback}");
    }

    #[test]
    fn an_exit_code_comes_with_the_last_words() {
        let verdict = judge(&execution(ExecutionEnd::Exited { code: 1 }, "one\ntwo\n\nthree\nfour\n", &[]));
        assert!(verdict.findings[0].message.ends_with("two\nthree\nfour"), "{}", verdict.findings[0].message);
    }

    #[test]
    fn a_divergence_shows_both_sides_under_each_other() {
        let end = ExecutionEnd::Diverged { recorded: "{\"a\":1}".into(), asked: "{\"a\":2}".into() };
        let verdict = judge(&execution(end, "", &[]));
        assert!(verdict.findings[0].message.ends_with("\nrecorded {\"a\":1}\nasked    {\"a\":2}"), "{verdict:?}");
    }

    #[test]
    fn another_machine_may_end_as_its_plan_allows() {
        let exited = |code| ExecutionEnd::Exited { code };
        let trap = || ExecutionEnd::Trapped { trap: "wasm `unreachable` instruction executed".into() };
        let with = |ends: AllowedEnd, end: ExecutionEnd| {
            let peer = NodeExecution { ends: Some(ends), ..node("db", Some(end), "") };
            let whole = ExecutionEnd::PeerEnded { node: "db".to_owned() };
            let verdict = judge(&Execution { nodes: vec![peer], ..execution(whole, "", &["main"]) });
            let soon = verdict.findings.iter().all(|found| found.message.ends_with("the run ended soon after"));
            assert!(soon && verdict.findings.len() <= 1, "{verdict:?}");
            (verdict.status, verdict.signature.map(|signature| signature.to_string()).unwrap_or_default())
        };
        let unreachable = "trap at node db: wasm `unreachable` instruction executed in serve";
        let ended = "target_behavior at node db: the program ended";
        let failed = "target_behavior at node db: exit code 3";
        let rows = [
            (AllowedEnd::Any, ["", "", ""]),
            (AllowedEnd::Ok, ["", failed, unreachable]),
            (AllowedEnd::Never, [ended, failed, unreachable]),
        ];
        for (ends, expected) in rows {
            for (end, expected) in [exited(0), exited(3), trap()].into_iter().zip(expected) {
                assert_eq!(with(ends, end).1, expected, "{ends:?}");
            }
        }
        assert_eq!(with(AllowedEnd::Ok, exited(3)).0, Status::Fail);
    }

    #[test]
    fn too_few_operations_for_a_verdict_are_a_finding_of_a_run_and_none_of_a_search() {
        let mut run = execution(ExecutionEnd::Exited { code: 0 }, "", &[]);
        run.facts.operations.invoke(0, "add", "1", Instant(1)).expect("room");
        run.facts.operations.criteria = vec![HistoryCriterion::named("set-full", "")];
        let searched = judge_of_search(&run);
        assert_eq!((judge(&run).status, searched.verdict.status), (Status::Error, Status::Pass));
        assert!(searched.is_undecided && judge_facts(&run.facts).is_undecided);
        let failed = judge_of_search(&Execution { end: ExecutionEnd::Exited { code: 1 }, ..run.clone() });
        assert_eq!((failed.verdict.status, failed.is_undecided), (Status::Fail, false), "that is a verdict");
        run.facts.operations.criteria.clear();
        assert!(!judge_of_search(&run).is_undecided);
    }

    #[test]
    fn what_a_guest_told_is_judged_as_a_whole_where_it_could_fail_by_it() {
        for budget in [None, Some(0), Some(8)] {
            for bytes in [0, 8, 9] {
                for checker in [None, Some("set-full"), Some("no such checker")] {
                    let mut facts = Facts::default();
                    facts.allocations.leak_budget_bytes = budget;
                    facts.allocations.allocate(64, bytes).expect("room");
                    facts.operations.invoke(0, "add", "1", Instant(1)).expect("room");
                    facts.operations.criteria =
                        checker.map(|name| HistoryCriterion::named(name, "")).into_iter().collect();
                    let judged = judge_facts(&facts);
                    assert_eq!(judged, judge_told(&facts), "{budget:?}, {bytes}, {checker:?}");
                    let is_wrong = budget.is_some_and(|budget| bytes > budget) || checker == Some("no such checker");
                    assert_eq!(judged.failure().is_some(), is_wrong, "{budget:?}, {bytes}, {checker:?}");
                }
            }
        }
    }

    #[test]
    fn a_run_without_a_success_is_a_finding_and_none_of_a_search() {
        let mut run = execution(ExecutionEnd::Exited { code: 0 }, "", &[]);
        let number = run.facts.operations.invoke(0, "echo", "1", Instant(1)).expect("room");
        run.facts.operations.end(number, OperationEnd::Info("timeout".to_owned()), Instant(2)).expect("it runs");
        run.facts.operations.criteria = vec![HistoryCriterion::named("stats", "")];
        assert_eq!(judge(&run).findings[0].title, "stats: none of 1 completions of echo is ok; the first: timeout");
        let searched = judge_of_search(&run);
        assert_eq!((searched.verdict.status, searched.is_undecided), (Status::Pass, true));
        assert!(judge_facts(&run.facts).is_undecided);
        // Beside something else it stays a finding of a run.
        let failed = Execution { end: ExecutionEnd::Exited { code: 1 }, ..run.clone() };
        assert_eq!((judge(&failed).findings.len(), judge_of_search(&failed).verdict.findings.len()), (2, 1));
        let number = run.facts.operations.invoke(1, "echo", "2", Instant(3)).expect("room");
        run.facts.operations.end(number, OperationEnd::Ok("2".to_owned()), Instant(4)).expect("it runs");
        assert_eq!((judge(&run).status, judge_of_search(&run).is_undecided), (Status::Pass, false));
    }

    #[test]
    fn a_client_that_goes_on_after_an_operation_without_an_end_was_a_misfit() {
        let mut run = execution(ExecutionEnd::Exited { code: 0 }, "", &[]);
        run.facts.operations.criteria = vec![HistoryCriterion::named("linearizable", "kv")];
        for (input, at) in [("7", 1), ("8", 2)] {
            run.facts.operations.invoke(0, "put x", input, Instant(at)).expect("room");
        }
        assert_eq!((judge(&run).status, judge_by_open_operations(&run).status), (Status::Pass, Status::Error));
        assert_eq!(judge_by_exit_code(&run), judge(&run));
    }

    #[test]
    fn another_machine_counts_when_it_crashes_and_only_then() {
        let trap = || ExecutionEnd::Trapped { trap: "wasm `unreachable` instruction executed".into() };
        let check = |end: ExecutionEnd, nodes: Vec<NodeExecution>, expected: (Status, usize, &str)| {
            let verdict = judge(&Execution { nodes, ..execution(end, "", &["main"]) });
            let signature = verdict.signature.map(|signature| signature.to_string()).unwrap_or_default();
            assert_eq!((verdict.status, verdict.findings.len(), &*signature), expected);
        };
        let quiet = || vec![node("a", None, ""), node("b", Some(ExecutionEnd::Exited { code: 9 }), "said\n")];
        let panicked = || vec![node("db", Some(trap()), "thread 'main' panicked at src/db.rs:1:2:\nboom\n")];
        let exited = |code| ExecutionEnd::Exited { code };
        check(exited(0), quiet(), (Status::Pass, 0, ""));
        check(
            exited(0),
            vec![node("db", Some(trap()), "")],
            (Status::Crash, 1, "trap at node db: wasm `unreachable` instruction executed in serve"),
        );
        check(exited(0), panicked(), (Status::Crash, 1, "panic at node db: src/db.rs:1:2"));
        // The crash is the cause of what the target then did, so it stands first.
        check(exited(1), panicked(), (Status::Crash, 2, "panic at node db: src/db.rs:1:2"));
        check(ExecutionEnd::CalledEnded, panicked(), (Status::Crash, 1, "panic at node db: src/db.rs:1:2"));
        check(
            ExecutionEnd::CalledEnded,
            quiet(),
            (Status::Crash, 1, "trap at the component that it called ended in main"),
        );
        check(
            ExecutionEnd::Hang { waiting: Vec::new() },
            panicked(),
            (Status::Crash, 2, "panic at node db: src/db.rs:1:2"),
        );
        check(trap(), panicked(), (Status::Crash, 2, "trap at wasm `unreachable` instruction executed in main"));
        let hostile = vec![node("a\n\u{1b}[31m", Some(trap()), "")];
        let verdict = judge(&Execution { nodes: hostile, ..execution(exited(0), "", &[]) });
        assert!(verdict.findings[0].title.starts_with("node `a\\n\\u{1b}[31m`: "), "{verdict:?}");
    }
}
