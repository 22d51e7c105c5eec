//! The calls of one partition on a line of time.
//!
//! ```text
//! position   0   1   2   3   4   5
//! call a     ├───────┤                 slot 0
//! call b         ├───────────┤         slot 1
//! call c                 ├──────────…  open: it never returns
//! ```
//!
//! A call takes a slot at its invocation and frees it at its return, so a mask has as many bits as calls are pending at once. Open
//! calls keep theirs, after all others. Invariant: what is pending at a return is its own calls and the first `open` open ones.

use crate::history::DatumId;
use crate::model::{ModelCall, SequentialModel};

/// A call with its place in time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedCall {
    pub(crate) call: ModelCall,
    /// Where it was invoked: positions of a history.
    pub(crate) invocation: u32,
    /// Where it returned; none if it may happen at any time after.
    pub(crate) completion: Option<u32>,
    /// Whether it may also not have taken effect (`minimize`).
    pub(crate) is_optional: bool,
}

/// A call that is pending at a return.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) call: u32,
    /// Its bit in a mask.
    pub(super) bit: u32,
}

/// A return, and what is pending before it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Return {
    pub(super) own: Candidate,
    /// Calls that return, in the order of their invocations: a range of `Timeline::pending`.
    first: u32,
    count: u32,
    /// How many open calls have been invoked.
    open: u32,
    /// How many overwriting calls have been invoked, and how many calls at all.
    overwrites: u32,
    invoked: u32,
}

/// What the search knows of a call without asking the model again.
#[derive(Clone, Copy, Debug)]
pub(super) struct CallTraits {
    pub(super) is_readonly: bool,
    pub(super) overwrites: bool,
    pub(super) is_blind: bool,
    pub(super) is_landmark: bool,
    pub(super) shows: Option<DatumId>,
    pub(super) brings: Option<DatumId>,
}

/// The calls of a partition, prepared for the search.
pub(super) struct Timeline<'a> {
    pub(super) calls: &'a [TimedCall],
    pub(super) traits: Vec<CallTraits>,
    pub(super) returns: Vec<Return>,
    pending: Vec<Candidate>,
    open: Vec<Candidate>,
    /// For each open call, the bit of an equal one before it: that one is tried first.
    pub(super) twin: Vec<Option<u32>>,
    /// For each return, the next one whose call is a landmark.
    pub(super) landmark: Vec<u32>,
    /// Bits of a mask.
    pub(super) bits: u32,
}

impl<'a> Timeline<'a> {
    /// Prepares calls, which stand in the order of their invocations.
    pub(super) fn new(model: &dyn SequentialModel, calls: &'a [TimedCall]) -> Timeline<'a> {
        let traits: Vec<CallTraits> = calls
            .iter()
            .map(|one| CallTraits {
                is_readonly: model.is_readonly(&one.call),
                overwrites: model.overwrites(&one.call),
                is_blind: model.is_blind(&one.call),
                is_landmark: model.is_landmark(&one.call),
                shows: model.shows(&one.call),
                brings: model.brings(&one.call),
            })
            .collect();
        let mut timeline = Timeline {
            calls,
            traits,
            returns: Vec::new(),
            pending: Vec::new(),
            open: Vec::new(),
            twin: Vec::new(),
            landmark: Vec::new(),
            bits: 0,
        };
        timeline.lay_out();
        timeline.find_twins(model);
        timeline.find_landmarks();
        timeline
    }

    /// Calls that are pending before a return.
    pub(super) fn candidates(&self, at: usize) -> impl Iterator<Item = Candidate> + '_ {
        let Return { first, count, open, .. } = self.returns[at];
        let own = &self.pending[first as usize..(first + count) as usize];
        own.iter().chain(&self.open[..open as usize]).copied()
    }

    /// Those of them that were not pending before the return before.
    pub(super) fn new_candidates(&self, at: usize) -> impl Iterator<Item = Candidate> + '_ {
        let Return { first, count, open, .. } = self.returns[at];
        let (known, known_open) =
            at.checked_sub(1).map_or((0, 0), |at| (self.returns[at].invoked, self.returns[at].open));
        let own = &self.pending[first as usize..(first + count) as usize];
        let start = own.iter().rposition(|one| one.call < known).map_or(0, |at| at + 1);
        own[start..].iter().chain(&self.open[known_open as usize..open as usize]).copied()
    }

    /// How many candidates there are before a return.
    pub(super) fn candidate_count(&self, at: usize) -> u32 {
        self.returns[at].count + self.returns[at].open
    }

    /// A candidate before a return, by its number.
    pub(super) fn candidate(&self, at: usize, number: u32) -> Option<Candidate> {
        let Return { first, count, open, .. } = self.returns[at];
        match number {
            _ if number < count => Some(self.pending[(first + number) as usize]),
            _ if number < count + open => Some(self.open[(number - count) as usize]),
            _ => None,
        }
    }

    /// How many overwriting calls are invoked after one return and before another.
    pub(super) fn overwrites_between(&self, from: usize, to: usize) -> u32 {
        self.returns[to].overwrites - self.returns[from].overwrites
    }

    /// Calls that are invoked after one return and before another.
    pub(super) fn invoked_between(&self, from: usize, to: usize) -> std::ops::Range<u32> {
        self.returns[from].invoked..self.returns[to].invoked
    }

    /// Events in the order of positions; a completion stands after the invocation at the same position.
    fn lay_out(&mut self) {
        let calls = self.calls;
        let mut completions: Vec<(u32, u32)> =
            calls.iter().zip(0..).filter_map(|(one, call)| Some((one.completion?, call))).collect();
        completions.sort_unstable();
        let mut invocations = calls.iter().zip(0..).map(|(one, call)| (one.invocation, call)).peekable();
        let mut completions = completions.into_iter().peekable();
        // What was invoked by then comes first.
        let events = std::iter::from_fn(|| {
            let end = completions.peek().map_or(u32::MAX, |one| one.0);
            match invocations.next_if(|(begin, _)| *begin <= end) {
                Some((_, call)) => Some((false, call)),
                None => completions.next().map(|(_, call)| (true, call)),
            }
        });
        let mut free: Vec<u32> = Vec::new();
        let mut slots = 0;
        let mut current: Vec<Candidate> = Vec::new();
        let (mut overwrites, mut invoked) = (0, 0);
        self.returns.reserve(calls.len());
        for (is_return, call) in events {
            let is_open = self.calls[call as usize].completion.is_none();
            if is_return {
                let at = current.iter().position(|one| one.call == call).unwrap_or_default();
                let own = current[at];
                let (first, count) = (self.pending.len() as u32, current.len() as u32);
                self.pending.extend_from_slice(&current);
                let open = self.open.len() as u32;
                self.returns.push(Return { own, first, count, open, overwrites, invoked });
                current.remove(at);
                free.push(own.bit);
                continue;
            }
            overwrites += u32::from(self.traits[call as usize].overwrites);
            invoked = call + 1;
            if is_open {
                self.open.push(Candidate { call, bit: 0 });
                continue;
            }
            let bit = free.pop().unwrap_or_else(|| {
                slots += 1;
                slots - 1
            });
            current.push(Candidate { call, bit });
        }
        for (at, open) in self.open.iter_mut().enumerate() {
            open.bit = slots + at as u32;
        }
        self.bits = slots + self.open.len() as u32;
    }

    fn find_twins(&mut self, model: &dyn SequentialModel) {
        let class = |call: u32| {
            let call = self.calls[call as usize].call;
            ModelCall { process: if model.knows_processes() { call.process } else { 0 }, ..call }
        };
        let mut order: Vec<u32> = (0..self.open.len() as u32).collect();
        order.sort_by_key(|at| (class(self.open[*at as usize].call), *at));
        let mut twin = vec![None; self.open.len()];
        for pair in order.windows(2) {
            let (before, after) = (self.open[pair[0] as usize], self.open[pair[1] as usize]);
            if class(before.call) == class(after.call) {
                twin[pair[1] as usize] = Some(before.bit);
            }
        }
        self.twin = twin;
    }

    fn find_landmarks(&mut self) {
        let mut next = self.returns.len() as u32;
        self.landmark = vec![next; self.returns.len() + 1];
        for at in (0..self.returns.len()).rev() {
            let own = self.returns[at].own.call as usize;
            if self.traits[own].is_landmark && !self.calls[own].is_optional {
                next = at as u32;
            }
            self.landmark[at] = next;
        }
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> usize {
        self.returns.capacity() * size_of::<Return>() + self.pending.capacity() * size_of::<Candidate>()
    }

    /// The number of an open call among open calls, by its bit; none for a call that returns.
    pub(super) fn open_number(&self, bit: u32) -> Option<usize> {
        (bit as usize + self.open.len()).checked_sub(self.bits as usize)
    }
}
