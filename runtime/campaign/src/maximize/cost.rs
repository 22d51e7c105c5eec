//! Reads the cost of a run from what its guests have counted, and how often each part of their code ran.
//!
//! Invariant: costs are those of the profile of the same run: an instruction that was not begun is not counted.

use super::metric::CostMetric;
use crate::trace_check::{STEP_CALL, p99_of_spans};
use fozzy_engine::{Program, ProgramProfile, Session};
use fozzy_instrument::source::DebugSymbols;
use fozzy_instrument::{ModuleOrdinal, ProfileCounter};
use fozzy_search::maximize::MeasuredRun;
use fozzy_trace::{Digest, Execution, ExecutionEnd, counted};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Budgets of instructions of a run that counts: counting takes instructions, too.
pub(crate) const FUEL_TIMES: u64 = 4;

/// A function of one of the programs.
type FunctionKey = (Digest, ModuleOrdinal, u32);

/// Measures runs by one metric.
pub(crate) struct CostMeter {
    metric: CostMetric,
    /// The number of the first part of each function, and whether it has the name that is counted.
    functions: BTreeMap<FunctionKey, KnownFunction>,
    parts: usize,
    /// Names of functions, of programs whose calls are counted.
    symbols: BTreeMap<Digest, DebugSymbols>,
    /// Calls of the host of that name, in the run that is made.
    host_calls: Arc<AtomicU64>,
    /// When steps began, in that run.
    steps: Arc<Mutex<Vec<u64>>>,
    /// Events of allocators that were not logged, in the run that lost most.
    lost_events: u64,
}

#[derive(Clone, Copy)]
struct KnownFunction {
    first_part: usize,
    is_counted: bool,
}

impl CostMeter {
    pub(crate) fn new(metric: &CostMetric) -> CostMeter {
        CostMeter {
            metric: metric.clone(),
            functions: BTreeMap::new(),
            parts: 0,
            symbols: BTreeMap::new(),
            host_calls: Arc::default(),
            steps: Arc::default(),
            lost_events: 0,
        }
    }

    /// A run is about to be made: its calls of the host are not kept, and those of the name are counted.
    pub(crate) fn begin(&self, session: &mut Session) {
        self.host_calls.store(0, Ordering::Relaxed);
        locked(&self.steps).clear();
        let (calls, steps, metric) = (Arc::clone(&self.host_calls), Arc::clone(&self.steps), self.metric.clone());
        session.follow(Box::new(move |entry| match &metric {
            CostMetric::Calls(name) if is_named(&entry.call, name) => {
                calls.fetch_add(1, Ordering::Relaxed);
            }
            CostMetric::TailLatency if entry.call == STEP_CALL => locked(&steps).push(entry.at.0),
            _ => {}
        }));
    }

    /// The run of an input that was made last.
    pub(crate) fn measured<I>(&mut self, session: &Session, execution: &Execution, input: I) -> MeasuredRun<I> {
        let cost = self.cost(session, execution);
        let parts = self.count_parts(session);
        MeasuredRun { input, cost, parts, is_limit: is_at_limit(execution) }
    }

    /// What the run that was made last costs.
    pub(crate) fn cost(&mut self, session: &Session, execution: &Execution) -> u64 {
        match &self.metric {
            CostMetric::Latency => execution.ended_at.0,
            CostMetric::TailLatency => p99_of_spans(std::mem::take(&mut *locked(&self.steps)), execution.ended_at),
            CostMetric::Cpu => programs(session).map(|(_, program, counts)| instructions(program, counts)).sum(),
            CostMetric::Heap => {
                let heaps = || session.profiles().values().map(ProgramProfile::heap);
                self.lost_events = self.lost_events.max(heaps().map(|heap| heap.lost_events).sum());
                heaps().map(|heap| heap.total().bytes).sum()
            }
            CostMetric::Calls(_) => {
                let mut calls = self.host_calls.load(Ordering::Relaxed);
                for (digest, program, counts) in programs(session) {
                    for path in counts.paths() {
                        let known = self.function((digest, path.step.module, path.step.function), program);
                        calls += u64::from(known.is_counted) * path.counters.first().copied().unwrap_or(0);
                    }
                }
                calls
            }
        }
    }

    /// What a reader has to know of the costs.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let lost = (self.lost_events > 0).then(|| {
            let events = counted(self.lost_events, "event");
            format!("memory for the log of allocations was used up: in one run {events} are not in it, so that it costs more than is said")
        });
        lost.into_iter().collect()
    }

    /// How often each segment of code ran, by number.
    fn count_parts(&mut self, session: &Session) -> Vec<u64> {
        let mut parts = vec![0; self.parts];
        for (digest, program, counts) in programs(session) {
            for path in counts.paths() {
                let known = self.function((digest, path.step.module, path.step.function), program);
                parts.resize(self.parts, 0);
                for (part, count) in parts[known.first_part..].iter_mut().zip(&path.counters) {
                    *part = u64::saturating_add(*part, *count);
                }
            }
        }
        parts
    }

    fn function(&mut self, key: FunctionKey, program: &Program) -> KnownFunction {
        if let Some(known) = self.functions.get(&key) {
            return *known;
        }
        let (digest, module, function) = key;
        let sites = program.profile_sites().function(module, function).expect("it was counted");
        let is_counted = match &self.metric {
            CostMetric::Calls(name) => {
                let symbols = self.symbols.entry(digest).or_insert_with(|| DebugSymbols::new(program.component()));
                symbols.frames(module, sites.start).last().is_some_and(|frame| is_named(&frame.function, name))
            }
            _ => false,
        };
        let known = KnownFunction { first_part: self.parts, is_counted };
        self.parts += sites.counters.len();
        self.functions.insert(key, known);
        known
    }
}

fn locked(steps: &Mutex<Vec<u64>>) -> MutexGuard<'_, Vec<u64>> {
    steps.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether that is a name, whole or without what it stands in: `insert` is one of `list::insert`, `fd_write` one of
/// `wasi_snapshot_preview1.fd_write`.
fn is_named(full: &str, name: &str) -> bool {
    let before = full.strip_suffix(name);
    before.is_some_and(|before| before.is_empty() || before.ends_with("::") || before.ends_with(['.', '#']))
}

/// The guests of the last run.
fn programs(session: &Session) -> impl Iterator<Item = (Digest, &Program, &ProgramProfile)> {
    let programs = session.profiles().iter();
    programs.filter_map(|((_, digest), counts)| Some((*digest, session.program_named(*digest)?, counts)))
}

/// Instructions of a guest that were begun.
fn instructions(program: &Program, counts: &ProgramProfile) -> u64 {
    let of_path = |path: &fozzy_engine::PathCounts| -> u64 {
        let sites = program.profile_sites().function(path.step.module, path.step.function).expect("it was counted");
        let counted = path.counters.iter().zip(&sites.counters).map(|(value, counter)| match counter {
            ProfileCounter::Segment(operators) => value * operators.len() as u64,
            ProfileCounter::Bytes(_) => 0,
        });
        let cut: u64 = path.cuts.iter().map(|((_, operators), times)| *operators as u64 * times).sum();
        counted.sum::<u64>().saturating_sub(cut)
    };
    counts.paths().iter().map(of_path).sum()
}

/// Whether a run was ended by its budget of instructions.
fn is_at_limit(execution: &Execution) -> bool {
    let is_limit = |end: &ExecutionEnd| matches!(end, ExecutionEnd::FuelExhausted { .. });
    is_limit(&execution.end) || execution.nodes.iter().filter_map(|node| node.end.as_ref()).any(is_limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_leave_out_what_it_stands_in() {
        for (full, name, expected) in [
            ("insert", "insert", true),
            ("list::insert", "insert", true),
            ("list::reinsert", "insert", false),
            ("wasi_snapshot_preview1.fd_write", "fd_write", true),
            ("wasi:io/streams#[method]output-stream.write", "write", true),
            ("a", "insert", false),
        ] {
            assert_eq!(is_named(full, name), expected, "{full} {name}");
        }
    }
}
