//! Natively, everything is answered from the seed by the code of the sandbox itself.
//!
//! Invariant: each thread is a run of its own; the first question of one that was not begun is answered from seed 0.
//! Not here: faults, and the simulated computer: files and network are the real ones.

use super::{Comparison, ReportedFailure};
#[cfg(feature = "std")]
use crate::task::{Schedule, SchedulingMoment};
use crate::{http, process};
#[cfg(feature = "std")]
pub(crate) use fozzy_trace::ReadyTask;
use fozzy_trace::choice::{self, ChoiceError};
use fozzy_trace::facts::{self, Properties, PropertyEvaluation, PropertyKind};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionPart, DecisionSource, NodeId, Purpose, Question, Seed};
#[cfg(feature = "std")]
use fozzy_trace::{SchedulePolicy, SchedulingPoint, scheduler::NEXT_TASK};
use std::cell::RefCell;
use std::time::Duration;

/// What a reading of the clock takes, as in the sandbox.
const CLOCK_TICK: Duration = Duration::from_micros(1);

/// A native run.
pub(crate) struct Context {
    source: SeededSource,
    pub(crate) part: DecisionPart,
    pub(crate) properties: Properties,
    now: Duration,
    frozen: bool,
    spans: u64,
    operations: u64,
    rules: u32,
}

impl Context {
    fn new(seed: u64) -> Context {
        Context {
            source: SeededSource::new(Seed(seed)),
            part: DecisionPart::WHOLE,
            properties: Properties::default(),
            now: Duration::ZERO,
            frozen: false,
            spans: 0,
            operations: 0,
            rules: 0,
        }
    }

    fn below(&mut self, site: &str, bound: u64) -> u64 {
        let question = Question { node: NodeId(0), purpose: Purpose::Choice(self.part), site };
        self.source.below(question, bound).0
    }
}

thread_local! {
    static CONTEXT: RefCell<Context> = RefCell::new(Context::new(0));
}

/// A run begins on this thread.
pub(crate) fn begin(seed: u64) {
    CONTEXT.replace(Context::new(seed));
}

pub(crate) fn with<R>(body: impl FnOnce(&mut Context) -> R) -> R {
    CONTEXT.with_borrow_mut(body)
}

/// What is asked has no answer: said where it was asked.
fn answered<R>(site: &str, answer: Result<R, ChoiceError>) -> R {
    answer.unwrap_or_else(|error| panic!("at `{}`: {error}", site.escape_debug()))
}

fn ask<R>(site: &str, body: impl FnOnce(&mut dyn FnMut(u64) -> u64) -> Result<R, ChoiceError>) -> R {
    let answer = with(|context| {
        choice::check_name(site)?;
        body(&mut |bound| context.below(site, bound))
    });
    answered(site, answer)
}

pub(crate) fn choose(site: &str, count: u64) -> u64 {
    ask(site, |below| choice::choose(count, below))
}

pub(crate) fn happens(site: &str, probability: f64) -> bool {
    ask(site, |below| choice::happens(probability, below))
}

pub(crate) fn bytes(site: &str, length: u64) -> Vec<u8> {
    if length > choice::BYTES_MAX {
        answered(site, Err(ChoiceError::Bytes(length)))
    }
    answered(site, choice::check_name(site));
    with(|context| {
        let mut out = vec![0; length as usize];
        let question = Question { node: NodeId(0), purpose: Purpose::Choice(context.part), site };
        context.source.fill(question, &mut out);
        out
    })
}

pub(crate) fn weighted(site: &str, weights: &[u32]) -> u32 {
    ask(site, |below| choice::weighted(weights, below))
}

/// The place of the task that runs next.
#[cfg(feature = "std")]
pub(crate) fn next_task(moment: &SchedulingMoment<'_>) -> usize {
    let policy = match moment.schedule {
        Schedule::Fifo | Schedule::Random => SchedulePolicy::Random,
        Schedule::Pct { depth } => SchedulePolicy::Pct { depth },
        Schedule::Pos => SchedulePolicy::Pos,
        Schedule::Urw => SchedulePolicy::Urw,
    };
    let SchedulingMoment { kind, run, touched, ready, .. } = *moment;
    let point = SchedulingPoint { kind, run, policy, touched, ready };
    let checked = choice::check_tasks(&point);
    let picked = checked.map(|()| {
        with(|context| {
            let question = Question { node: NodeId(0), purpose: Purpose::Choice(context.part), site: NEXT_TASK };
            context.source.pick(question, &point).0
        })
    });
    answered(NEXT_TASK, picked) as usize
}

pub(crate) fn reseed() -> u64 {
    let bytes = bytes("reseed", 8);
    u64::from_le_bytes(bytes.try_into().expect("eight bytes"))
}

/// A made-up input of a fuzz target.
pub(crate) fn input() -> Vec<u8> {
    let length = with(|context| choice::input_length(|bound| context.below("input length", bound)));
    bytes("input", length as u64)
}

fn see(seen: PropertyEvaluation<'_>) {
    match with(|context| context.properties.see(seen)) {
        Ok(None) => {}
        Ok(Some(failure)) => panic!("{}", failure.message),
        Err(error) => panic!("{error}"),
    }
}

pub(crate) fn always(name: &str, holds: bool, details: Option<&str>) {
    see(PropertyEvaluation { kind: PropertyKind::Always, name, holds, distance: None, details });
}

pub(crate) fn always_or_unreachable(name: &str, holds: bool, details: Option<&str>) {
    see(PropertyEvaluation { kind: PropertyKind::AlwaysOrUnreachable, name, holds, distance: None, details });
}

/// A native run counts nothing between reports.
pub(crate) fn again(_name: &str, _held: u64, _missed: u64) {}

/// A native run has no search to guide.
pub(crate) fn state(_name: &str, _value: u64) {}

pub(crate) fn sometimes(name: &str, holds: bool, details: Option<&str>) {
    see(PropertyEvaluation { kind: PropertyKind::Sometimes, name, holds, distance: None, details });
}

pub(crate) fn reachable(name: &str) {
    see(PropertyEvaluation { kind: PropertyKind::Reachable, name, holds: true, distance: None, details: None });
}

pub(crate) fn unreachable(name: &str, details: Option<&str>) {
    see(PropertyEvaluation { kind: PropertyKind::Unreachable, name, holds: false, distance: None, details });
}

fn see_number(kind: PropertyKind, name: &str, (left, compared, right): (f64, Comparison, f64)) {
    let comparison = match compared {
        Comparison::Less => facts::ComparisonOperator::Less,
        Comparison::AtMost => facts::ComparisonOperator::AtMost,
        Comparison::Greater => facts::ComparisonOperator::Greater,
        Comparison::AtLeast => facts::ComparisonOperator::AtLeast,
    };
    let (holds, distance) = comparison.of(left, right);
    let details = (!holds).then(|| format!("expected {left} {} {right}", comparison.sign()));
    see(PropertyEvaluation { kind, name, holds, distance: Some(distance), details: details.as_deref() });
}

pub(crate) fn always_number(name: &str, left: f64, compared: Comparison, right: f64) {
    see_number(PropertyKind::Always, name, (left, compared, right));
}

pub(crate) fn sometimes_number(name: &str, left: f64, compared: Comparison, right: f64) {
    see_number(PropertyKind::Sometimes, name, (left, compared, right));
}

pub(crate) fn fail(failure: ReportedFailure, site: &str, message: &str) -> ! {
    match failure {
        ReportedFailure::Deadlock | ReportedFailure::Invariant => panic!("{message}"),
        ReportedFailure::Invalid => panic!("{site}: {message}"),
    }
}

pub(crate) fn event(_name: &str, _details: &str) {}

pub(crate) fn enter(_name: &str) -> u64 {
    with(|context| {
        context.spans += 1;
        context.spans - 1
    })
}

pub(crate) fn leave(_span: u64) {}

/// Natively a debugger tells more.
pub(crate) fn is_narrated() -> bool {
    false
}

pub(crate) fn drew(_name: &str, _value: &str) {}

pub(crate) fn returned(_value: &str) {}

pub(crate) fn buggify(_point: &str) -> Option<u64> {
    None
}

#[cfg(feature = "std")]
pub(crate) fn wanted_out(_out: &[String]) -> Option<Vec<String>> {
    None
}

pub(crate) fn advance(time: Duration) {
    with(|context| context.now = context.now.saturating_add(time));
}

pub(crate) fn freeze(frozen: bool) {
    with(|context| context.frozen = frozen);
}

pub(crate) fn invoke(_client: u32, _operation: &str, _input: &str) -> u64 {
    with(|context| {
        context.operations += 1;
        context.operations - 1
    })
}

pub(crate) fn end_ok(_operation: u64, _output: &str) {}

pub(crate) fn end_fail(_operation: u64, _error: &str) {}

pub(crate) fn end_info(_operation: u64, _note: &str) {}

pub(crate) fn check_history(_checker: &str, _model: &str) {}

pub(crate) fn snapshot_files(_name: &str) -> Result<(), String> {
    Err("natively, files are those of the real computer".to_owned())
}

pub(crate) fn restore_files(_name: &str) -> Result<(), String> {
    Err("natively, files are those of the real computer".to_owned())
}

pub(crate) fn watch_power() -> Result<(), String> {
    Err("natively, files are those of the real computer".to_owned())
}

pub(crate) fn lose_power() -> Result<(), String> {
    Err("natively, files are those of the real computer".to_owned())
}

/// Natively a scenario has no target: see `crate::target`.
pub(crate) fn target_instances() -> u32 {
    0
}

pub(crate) fn select_target(_instance: u32) {}

pub(crate) fn restart_target() {}

pub(crate) fn lose_power_of_target() {}

pub(crate) fn target_down() -> Option<String> {
    None
}

pub(crate) fn outlive_target(_yes: bool) {}

/// Virtual time since the run began.
pub(crate) fn now() -> Duration {
    with(|context| {
        if !context.frozen {
            context.now += CLOCK_TICK;
        }
        context.now
    })
}

/// As [`now`], unless the thread is just answered something, or ends.
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), allow(dead_code, reason = "see native/std_clock.rs"))]
pub(crate) fn try_now() -> Option<Duration> {
    try_with(|context| {
        context.now += if context.frozen { Duration::ZERO } else { CLOCK_TICK };
        context.now
    })
}

/// The time of the run, which this leaves as it is.
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), allow(dead_code, reason = "see native/std_clock.rs"))]
pub(crate) fn try_peek() -> Option<Duration> {
    try_with(|context| context.now)
}

/// As [`advance`]; false when that is not possible now.
#[cfg_attr(not(all(target_os = "linux", target_env = "gnu")), allow(dead_code, reason = "see native/std_clock.rs"))]
pub(crate) fn try_advance(time: Duration) -> bool {
    try_with(|context| context.now = context.now.saturating_add(time)).is_some()
}

/// For functions that C calls, which must not panic.
fn try_with<R>(body: impl FnOnce(&mut Context) -> R) -> Option<R> {
    CONTEXT.try_with(|context| context.try_borrow_mut().ok().map(|mut context| body(&mut context))).ok().flatten()
}

/// Lets virtual time pass until `moment` of [`now`].
/// What a task waits for outside of the program: natively there is nothing, since sockets wait themselves.
pub(crate) enum Event {}

/// See [`Event`].
pub(crate) fn wait(_: &[&Event], moment: Option<Duration>) -> Vec<usize> {
    moment.into_iter().for_each(sleep_until);
    Vec::new()
}

pub(crate) fn sleep_until(moment: Duration) {
    with(|context| context.now = context.now.max(moment));
}

/// The error that a command gets natively.
const NO_PROCESSES: &str = "natively there are no simulated processes";

pub(crate) fn run(command: process::Command) -> Result<process::Output, String> {
    Err(format!("{}: {NO_PROCESSES}", command.program))
}

/// A native run has no simulated servers: rules are numbered, and answer nothing.
pub(crate) fn add_process_rule(_rule: process::Rule) -> u32 {
    with(|context| {
        context.rules += 1;
        context.rules - 1
    })
}

pub(crate) fn process_rule_answered(_rule: u32) -> u64 {
    0
}

pub(crate) fn clear_process_rules() {}

pub(crate) fn add_http_rule(_rule: http::Rule) -> u32 {
    with(|context| {
        context.rules += 1;
        context.rules - 1
    })
}

pub(crate) fn http_rule_answered(_rule: u32) -> u64 {
    0
}

pub(crate) fn clear_http_rules() {}
