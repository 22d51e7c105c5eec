//! In the sandbox, everything is asked of the run.

use super::{Comparison, ReportedFailure};
#[cfg(feature = "std")]
use crate::bindings::membership::fozzy::faults::membership;
use crate::bindings::target::fozzy::target::control as target;
use crate::bindings::tools::fozzy::choices::draws;
#[cfg(feature = "std")]
pub(crate) use crate::bindings::tools::fozzy::choices::draws::ReadyTask;
use crate::bindings::tools::fozzy::events::journal;
use crate::bindings::tools::fozzy::faults::points;
use crate::bindings::tools::fozzy::files::{power, snapshots};
use crate::bindings::tools::fozzy::history::operations;
use crate::bindings::tools::fozzy::http::rules as http_rules;
use crate::bindings::tools::fozzy::process::{rules as process_rules, run};
use crate::bindings::tools::fozzy::properties::assertions;
use crate::bindings::tools::fozzy::time::control;
#[cfg(feature = "std")]
use crate::task::{Schedule, SchedulingMoment};
use crate::{http, process};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

pub(crate) fn choose(site: &str, count: u64) -> u64 {
    draws::choose(site, count)
}

pub(crate) fn happens(site: &str, probability: f64) -> bool {
    draws::bool(site, probability)
}

pub(crate) fn bytes(site: &str, length: u64) -> Vec<u8> {
    draws::bytes(site, length)
}

pub(crate) fn weighted(site: &str, weights: &[u32]) -> u32 {
    draws::weighted(site, weights)
}

/// The place of the task that runs next.
#[cfg(feature = "std")]
pub(crate) fn next_task(moment: &SchedulingMoment<'_>) -> usize {
    let policy = match moment.schedule {
        Schedule::Fifo | Schedule::Random => draws::Schedule::Random,
        Schedule::Pct { depth } => draws::Schedule::Pct(depth),
        Schedule::Pos => draws::Schedule::Pos,
        Schedule::Urw => draws::Schedule::Urw,
    };
    let SchedulingMoment { kind, run, touched, ready, .. } = *moment;
    let point = draws::SchedulingPoint { kind, run, policy, touched: touched.to_vec(), ready: ready.to_vec() };
    draws::next_task(&point) as usize
}

pub(crate) fn reseed() -> u64 {
    draws::reseed()
}

pub(crate) fn always(name: &str, holds: bool, details: Option<&str>) {
    assertions::always(name, holds, details);
}

pub(crate) fn always_or_unreachable(name: &str, holds: bool, details: Option<&str>) {
    assertions::always_or_unreachable(name, holds, details);
}

pub(crate) fn again(name: &str, held: u64, missed: u64) {
    assertions::again(name, held, missed);
}

pub(crate) fn state(name: &str, value: u64) {
    assertions::state(name, value);
}

pub(crate) fn sometimes(name: &str, holds: bool, details: Option<&str>) {
    assertions::sometimes(name, holds, details);
}

pub(crate) fn reachable(name: &str) {
    assertions::reachable(name);
}

pub(crate) fn unreachable(name: &str, details: Option<&str>) {
    assertions::unreachable(name, details);
}

fn comparison(of: Comparison) -> assertions::Comparison {
    match of {
        Comparison::Less => assertions::Comparison::Less,
        Comparison::AtMost => assertions::Comparison::AtMost,
        Comparison::Greater => assertions::Comparison::Greater,
        Comparison::AtLeast => assertions::Comparison::AtLeast,
    }
}

pub(crate) fn always_number(name: &str, left: f64, compared: Comparison, right: f64) {
    assertions::always_number(name, left, comparison(compared), right, None);
}

pub(crate) fn sometimes_number(name: &str, left: f64, compared: Comparison, right: f64) {
    assertions::sometimes_number(name, left, comparison(compared), right, None);
}

pub(crate) fn fail(failure: ReportedFailure, site: &str, message: &str) -> ! {
    let failure = match failure {
        ReportedFailure::Deadlock => assertions::Failure::Deadlock,
        ReportedFailure::Invalid => assertions::Failure::Invalid,
        ReportedFailure::Invariant => assertions::Failure::Invariant,
    };
    assertions::fail(failure, site, message);
    panic!("{message}")
}

pub(crate) fn event(name: &str, details: &str) {
    journal::event(name, details);
}

pub(crate) fn enter(name: &str) -> u64 {
    journal::enter(name)
}

pub(crate) fn leave(span: u64) {
    journal::leave(span);
}

pub(crate) fn is_narrated() -> bool {
    journal::is_narrated()
}

pub(crate) fn drew(name: &str, value: &str) {
    journal::drew(name, value);
}

pub(crate) fn returned(value: &str) {
    journal::returned(value);
}

pub(crate) fn buggify(point: &str) -> Option<u64> {
    points::buggify_with(point)
}

/// Says which machines are no members of the cluster, or perhaps not, and learns which are not to be, if the plan asks for that.
#[cfg(feature = "std")]
pub(crate) fn wanted_out(out: &[String]) -> Option<Vec<String>> {
    membership::wanted_out(out)
}

pub(crate) fn advance(time: Duration) {
    control::advance(nanoseconds(time));
}

pub(crate) fn freeze(frozen: bool) {
    if frozen { control::freeze() } else { control::unfreeze() }
}

pub(crate) fn invoke(client: u32, operation: &str, input: &str) -> u64 {
    operations::invoke(client, operation, input)
}

pub(crate) fn end_ok(operation: u64, output: &str) {
    operations::ok(operation, output);
}

pub(crate) fn end_fail(operation: u64, error: &str) {
    operations::fail(operation, error);
}

pub(crate) fn end_info(operation: u64, note: &str) {
    operations::info(operation, note);
}

pub(crate) fn check_history(checker: &str, model: &str) {
    operations::check(checker, model);
}

pub(crate) fn snapshot_files(name: &str) -> Result<(), String> {
    snapshots::snapshot(name).map_err(|error| format!("{error:?}"))
}

pub(crate) fn restore_files(name: &str) -> Result<(), String> {
    snapshots::restore(name).map_err(|error| format!("{error:?}"))
}

pub(crate) fn watch_power() -> Result<(), String> {
    power::watch().map_err(|error| format!("{error:?}"))
}

pub(crate) fn lose_power() -> Result<(), String> {
    power::lose().map_err(|error| format!("{error:?}"))
}

/// Virtual time since some moment.
#[cfg(feature = "std")]
pub(crate) fn now() -> Duration {
    std::thread_local!(static START: std::time::Instant = std::time::Instant::now());
    START.with(std::time::Instant::elapsed)
}

/// What a task waits for outside of the program.
#[cfg(feature = "std")]
pub(crate) use crate::bindings::net::wasi::io::poll::Pollable as Event;

/// Waits until one of these events is ready, or until `moment` of [`now`]; the answer is which of them are.
#[cfg(feature = "std")]
pub(crate) fn wait(events: &[&Event], moment: Option<Duration>) -> Vec<usize> {
    use crate::bindings::net::wasi::{clocks::monotonic_clock, io::poll};
    let timer = moment.map(|moment| {
        let rest = moment.saturating_sub(now());
        monotonic_clock::subscribe_duration(u64::try_from(rest.as_nanos()).unwrap_or(u64::MAX))
    });
    let all: Vec<&Event> = events.iter().copied().chain(&timer).collect();
    poll::poll(&all).into_iter().map(|ready| ready as usize).filter(|ready| *ready < events.len()).collect()
}

/// Lets virtual time pass until `moment` of [`now`].
#[cfg(feature = "std")]
pub(crate) fn sleep_until(moment: Duration) {
    let rest = moment.saturating_sub(now());
    if !rest.is_zero() {
        std::thread::sleep(rest);
    }
}

pub(crate) fn target_instances() -> u32 {
    target::instances()
}

pub(crate) fn select_target(instance: u32) {
    target::select(instance);
}

pub(crate) fn restart_target() {
    target::restart();
}

pub(crate) fn lose_power_of_target() {
    target::lose_power();
}

pub(crate) fn target_down() -> Option<String> {
    target::down()
}

pub(crate) fn outlive_target(yes: bool) {
    target::outlive(yes);
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

fn status(of: run::ExitStatus) -> process::Status {
    match of {
        run::ExitStatus::Code(code) => process::Status::Code(code),
        run::ExitStatus::Signal(signal) => process::Status::Signal(signal),
    }
}

pub(crate) fn run(command: process::Command) -> Result<process::Output, String> {
    let process::Command { program, args, env, stdin, deadline } = command;
    let deadline = deadline.map(nanoseconds);
    let output = run::run(&run::Command { command: program.clone(), args, env, cwd: None, stdin, deadline });
    let run::Output { status: ended, deadline_passed, stdout, stderr } = output.map_err(|error| match error {
        run::Error::NotFound => format!("{program}: there is no such command"),
        run::Error::NotPermitted => format!("{program}: it may not be run"),
        run::Error::OutputTooLarge => format!("{program}: it wrote more than can be kept"),
        run::Error::TooManyProcesses => format!("{program}: too many processes"),
        run::Error::Other(why) => format!("{program}: {why}"),
    })?;
    Ok(process::Output { status: status(ended), deadline_passed, stdout, stderr })
}

pub(crate) fn add_process_rule(rule: process::Rule) -> u32 {
    let process::Rule { command, args, times, delay, answer } = rule;
    let answer = match answer {
        process::Answer::Output { status, stdout, stderr } => {
            let status = match status {
                process::Status::Code(code) => run::ExitStatus::Code(code),
                process::Status::Signal(signal) => run::ExitStatus::Signal(signal),
            };
            process_rules::Reply::Output(process_rules::Scripted { status, stdout, stderr })
        }
        process::Answer::NotFound => process_rules::Reply::NotFound,
        process::Answer::NotPermitted => process_rules::Reply::NotPermitted,
    };
    process_rules::add(&process_rules::Rule { command, args, times, delay: nanoseconds(delay), answer })
}

pub(crate) fn process_rule_answered(rule: u32) -> u64 {
    process_rules::answered(rule)
}

pub(crate) fn clear_process_rules() {
    process_rules::clear();
}

pub(crate) fn add_http_rule(rule: http::Rule) -> u32 {
    let http::Rule { method, url, headers, times, delay, answer } = rule;
    let answer = match answer {
        http::Answer::Response { status, headers, body, reset_after } => {
            http_rules::Reply::Response(http_rules::Response { status, headers, body, reset_after })
        }
        http::Answer::Failure(failure) => http_rules::Reply::Failure(match failure {
            http::Failure::Dns => http_rules::Failure::Dns,
            http::Failure::Refused => http_rules::Failure::Refused,
            http::Failure::Reset => http_rules::Failure::Reset,
            http::Failure::Timeout => http_rules::Failure::Timeout,
        }),
    };
    http_rules::add(&http_rules::Rule { method, url, headers, times, delay: nanoseconds(delay), answer })
}

pub(crate) fn http_rule_answered(rule: u32) -> u64 {
    http_rules::answered(rule)
}

pub(crate) fn clear_http_rules() {
    http_rules::clear();
}
