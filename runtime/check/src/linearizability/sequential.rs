//! Sequential consistency: linearizability without time. One order of all calls, in which each process has its own in its order.
//!
//! ```text
//! process 0   write 1 ─────────────▶           an order: read nil, write 1, read 1
//! process 1            read nil ─▶ read 1      linearizable it is not: 1 had been written
//! ```
//!
//! Not local: each key may have an order without there being one for all. So the keys are searched first, one by one, which finds most
//! violations, and then all together. A configuration is how far each process came, with the states of all keys; it is visited once. A
//! call that changes no state is taken as soon as it is legal. A call with an unknown end may be passed.
//!
//! Invariant: the answer is exact, or says which bound was reached. Deciding is NP-complete (Gibbons, Korach, 1997).

use super::partition::CallPartition;
use super::search::{SearchBudget, SearchEnd};
use super::timeline::TimedCall;
use crate::history::DatumPool;
use crate::model::{NextStates, SequentialModel};
use std::collections::{BTreeMap, BTreeSet};

/// How often a search looks whether it should stop.
const STEPS_PER_LOOK: usize = 256;
/// Bytes of a visited configuration beside its numbers.
const ENTRY_BYTES: usize = 64;

/// Bytes of what else can be tried.
const CHOICE_BYTES: usize = size_of::<(usize, Option<u32>)>();

/// What a search found.
pub(super) struct SequentialResult {
    pub(super) end: SearchEnd,
    /// The longest legal order, as positions of invocations.
    pub(super) order: Vec<u32>,
    /// The states of all keys after it.
    pub(super) states: Vec<Vec<u8>>,
    /// Of the calls that cannot follow, the one that was invoked first.
    pub(super) stuck: Option<u32>,
    pub(super) configurations: usize,
}

/// Searches for one order of the calls of some keys.
pub(super) fn search_sequential(
    pool: &DatumPool,
    model: &dyn SequentialModel,
    partitions: &[&CallPartition],
    budget: &SearchBudget<'_>,
) -> SequentialResult {
    Search::new(pool, model, partitions).run(budget)
}

/// A call with the number of its key.
#[derive(Clone, Copy)]
struct KeyCall {
    key: usize,
    call: TimedCall,
}

/// A call that was taken or passed, and what undoes it.
struct Frame {
    process: usize,
    /// The key's state before, if the call was taken.
    before: Option<u32>,
    /// What else can be tried in its place: processes, each with the state after its call, or none if it is passed.
    left: Vec<(usize, Option<u32>)>,
}

struct Search<'a> {
    pool: &'a DatumPool,
    model: &'a dyn SequentialModel,
    /// Calls of each process in its order. One with an unknown end whose process goes on stands alone: it may happen at any later time.
    processes: Vec<Vec<KeyCall>>,
    /// For such a call, the process, and how many of its calls come before.
    after: Vec<Option<(usize, usize)>>,
    /// How many of each process are behind.
    done: Vec<usize>,
    /// Numbers of states, of each key its own.
    states: Vec<u32>,
    known: BTreeMap<Vec<u8>, u32>,
    texts: Vec<Vec<u8>>,
    /// Bytes of known states and visited configurations.
    bytes: usize,
    visited: BTreeSet<Vec<u32>>,
    /// Calls that must still be taken.
    left: usize,
    order: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(pool: &'a DatumPool, model: &'a dyn SequentialModel, partitions: &[&CallPartition]) -> Search<'a> {
        let mut by_process: BTreeMap<i64, Vec<KeyCall>> = BTreeMap::new();
        for (key, partition) in partitions.iter().enumerate() {
            for call in &partition.calls {
                by_process.entry(call.call.process).or_default().push(KeyCall { key, call: *call });
            }
        }
        let mut processes: Vec<Vec<KeyCall>> = by_process.into_values().collect();
        processes.iter_mut().for_each(|calls| calls.sort_by_key(|one| one.call.invocation));
        let mut loose: Vec<(KeyCall, usize, usize)> = Vec::new();
        for (process, calls) in processes.iter_mut().enumerate() {
            let (mut place, mut kept, count) = (0, 0, calls.len());
            calls.retain(|one| {
                place += 1;
                let is_loose = one.call.completion.is_none() && !one.call.is_optional && place < count;
                match is_loose {
                    true => loose.push((*one, process, kept)),
                    false => kept += 1,
                }
                !is_loose
            });
        }
        let mut after: Vec<Option<(usize, usize)>> = vec![None; processes.len()];
        for (call, process, before) in loose {
            processes.push(vec![call]);
            after.push(Some((process, before)));
        }
        let mut search = Search {
            pool,
            model,
            done: vec![0; processes.len()],
            left: processes.iter().flatten().filter(|one| one.call.completion.is_some()).count(),
            processes,
            after,
            states: Vec::new(),
            known: BTreeMap::new(),
            texts: Vec::new(),
            bytes: 0,
            visited: BTreeSet::new(),
            order: Vec::new(),
        };
        let initial = search.number(&model.initial());
        search.states = vec![initial; partitions.len()];
        search
    }

    fn number(&mut self, state: &[u8]) -> u32 {
        if let Some(number) = self.known.get(state) {
            return *number;
        }
        let number = self.texts.len() as u32;
        self.bytes += 2 * state.len() + ENTRY_BYTES;
        self.known.insert(state.to_vec(), number);
        self.texts.push(state.to_vec());
        number
    }

    fn run(mut self, budget: &SearchBudget<'_>) -> SequentialResult {
        let mut frames: Vec<Frame> = Vec::new();
        let mut steps = 0;
        let mut best = (Vec::new(), self.states.clone());
        let mut stuck = self.first_waiting();
        // Whether no order was longer than this one; it is copied when it is left.
        let mut is_best = false;
        let end = loop {
            if self.order.len() > best.0.len() {
                is_best = true;
                stuck = self.first_waiting();
            }
            if self.left == 0 {
                break SearchEnd::Valid;
            }
            steps += 1;
            if steps % STEPS_PER_LOOK == 0 && (budget.is_over)() {
                break SearchEnd::Time;
            }
            if self.bytes > budget.bytes_max {
                break SearchEnd::Memory;
            }
            if self.visited.len() >= budget.configurations_max {
                break SearchEnd::Configurations;
            }
            let mut choices = if self.visit() { self.choices() } else { Vec::new() };
            // Back to where something is left to be tried.
            while choices.is_empty() {
                let Some(frame) = frames.pop() else { break };
                if std::mem::take(&mut is_best) {
                    best = (self.order.clone(), self.states.clone());
                }
                self.bytes -= frame.left.len() * CHOICE_BYTES;
                self.undo(&frame);
                choices = frame.left;
            }
            let Some((process, state)) = choices.pop() else { break SearchEnd::Invalid };
            let before = self.take(process, state);
            self.bytes += choices.len() * CHOICE_BYTES;
            frames.push(Frame { process, before, left: choices });
        };
        if is_best {
            best = (self.order.clone(), self.states.clone());
        }
        let states = best.1.iter().map(|state| self.texts[*state as usize].clone()).collect();
        SequentialResult { end, order: best.0, states, stuck, configurations: self.visited.len() }
    }

    /// Whether the configuration is new.
    fn visit(&mut self) -> bool {
        let entry: Vec<u32> = self.done.iter().map(|done| *done as u32).chain(self.states.iter().copied()).collect();
        self.bytes += entry.len() * 4 + ENTRY_BYTES;
        self.visited.insert(entry)
    }

    /// What can come next; the best choice stands last.
    fn choices(&mut self) -> Vec<(usize, Option<u32>)> {
        let mut choices: Vec<(u32, usize, Option<u32>)> = Vec::new();
        let mut next = NextStates::default();
        for process in 0..self.processes.len() {
            let Some(KeyCall { key, call }) = self.processes[process].get(self.done[process]).copied() else {
                continue;
            };
            if self.after[process].is_some_and(|(before, count)| self.done[before] < count) {
                continue;
            }
            next.clear();
            let state = self.states[key];
            self.model.step(self.pool, &self.texts[state as usize], &call.call, &mut next);
            let after: Vec<Vec<u8>> = next.iter().map(<[u8]>::to_vec).collect();
            let is_required = call.completion.is_some();
            if self.model.is_readonly(&call.call) && (!after.is_empty() || !is_required) {
                return vec![(process, Some(state).filter(|_| !after.is_empty()))];
            }
            // In the order of time, as most systems answer; what may be passed is taken last.
            let rank = u32::MAX - call.completion.unwrap_or(u32::MAX);
            for state in after {
                let number = self.number(&state);
                choices.push((rank, process, Some(number)));
            }
            if !is_required && self.processes[process].len() > self.done[process] + 1 {
                choices.push((0, process, None));
            }
        }
        choices.sort_unstable();
        choices.into_iter().map(|(_, process, state)| (process, state)).collect()
    }

    /// Takes the next call of a process, or passes it; the key's state before, if it was taken.
    fn take(&mut self, process: usize, state: Option<u32>) -> Option<u32> {
        let KeyCall { key, call } = self.processes[process][self.done[process]];
        self.done[process] += 1;
        self.left -= usize::from(call.completion.is_some());
        let state = state?;
        self.order.push(call.invocation);
        Some(std::mem::replace(&mut self.states[key], state))
    }

    fn undo(&mut self, frame: &Frame) {
        self.done[frame.process] -= 1;
        let KeyCall { key, call } = self.processes[frame.process][self.done[frame.process]];
        self.left += usize::from(call.completion.is_some());
        if let Some(before) = frame.before {
            self.states[key] = before;
            self.order.pop();
        }
    }

    /// The call that was invoked first of those that come next and must be taken.
    fn first_waiting(&self) -> Option<u32> {
        let next = self.processes.iter().zip(&self.done).filter_map(|(calls, done)| calls.get(*done));
        next.filter(|one| one.call.completion.is_some()).map(|one| one.call.invocation).min()
    }
}
