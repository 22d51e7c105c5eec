//! Exact search for a linearization of one partition.
//!
//! ```text
//! configuration = (next return, mask of pending calls that have taken effect, state)
//!
//! (r2, {b}, 3) ─c─▶ (r2, {b,c}, 5) ─a─▶ (r4, {c}, 5)     a returns at r2, b at r3: both have taken effect
//! ```
//!
//! A configuration is visited once. Calls that change no state take effect as soon as they are legal: moving them
//! earlier changes nothing for others. Of equal calls that never return the first is tried first, and only where it changes
//! the state. A call that need not have taken effect is tried only if one that is pending can tell: otherwise the order is legal
//! without it. First of all those are tried that bring what the next return shows. Where nothing but growth can come, a state that
//! cannot grow into what is read next is dropped; one that must be overwritten before anything is read of it is any such state.
//!
//! Invariant: the answer is exact, or says that the budget was exhausted.
//! Not here: partitions and budgets (`judge`); what a model is (`model`).

use super::timeline::{Candidate, TimedCall, Timeline};
use crate::hash_index::{HashIndex, fold, fold_bytes};
use crate::history::DatumPool;
use crate::model::{NextStates, SequentialModel};

/// Words of the widest mask: pending calls and open ones together.
const MASK_WORDS_MAX: u32 = 64;

/// Calls that may come before the next landmark, and are looked at one by one: with more of them, nothing is said ahead.
const WINDOW_MAX: usize = 256;

/// How often a search looks whether it should stop.
const STEPS_PER_LOOK: usize = 1024;

/// What a search may use.
pub(super) struct SearchBudget<'a> {
    pub(super) configurations_max: usize,
    pub(super) bytes_max: usize,
    pub(super) is_over: &'a dyn Fn() -> bool,
    /// Whether a state is dropped that cannot grow into what is read next. It ends sooner so, and with a shorter sequence.
    pub(super) looks_ahead: bool,
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SearchEnd {
    /// There is a linearization.
    Valid,
    /// There is none.
    Invalid,
    /// Its configurations are used up.
    Configurations,
    /// Its memory is used up.
    Memory,
    /// It was stopped.
    Time,
    /// More calls are pending at once than a mask has bits.
    Width,
}

/// What a search found.
#[derive(Clone, Debug)]
pub(super) struct SearchResult {
    pub(super) end: SearchEnd,
    /// The longest sequence of calls that was legal; all of them if the history is valid.
    pub(super) order: Vec<u32>,
    /// The state after it.
    pub(super) state: Vec<u8>,
    /// The call that returns next, and has no place.
    pub(super) stuck: Option<u32>,
    /// Returns that the sequence has behind it, and how many there are.
    pub(super) returns: (usize, usize),
    pub(super) configurations: usize,
}

/// Searches for a linearization.
pub(super) fn search(
    pool: &DatumPool,
    model: &dyn SequentialModel,
    calls: &[TimedCall],
    budget: &SearchBudget<'_>,
) -> SearchResult {
    let timeline = Timeline::new(model, calls);
    match timeline.bits.div_ceil(64) {
        0 | 1 => Search::<1>::new(pool, model, &timeline).run(budget),
        2 => Search::<2>::new(pool, model, &timeline).run(budget),
        3..=4 => Search::<4>::new(pool, model, &timeline).run(budget),
        5..=16 => Search::<16>::new(pool, model, &timeline).run(budget),
        17..=MASK_WORDS_MAX => Search::<64>::new(pool, model, &timeline).run(budget),
        _ => SearchResult {
            end: SearchEnd::Width,
            order: Vec::new(),
            state: model.initial(),
            stuck: None,
            returns: (0, timeline.returns.len()),
            configurations: 0,
        },
    }
}

/// Which pending calls have taken effect.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mask<const W: usize>([u64; W]);

impl<const W: usize> Mask<W> {
    fn has(&self, bit: u32) -> bool {
        self.0[bit as usize / 64] >> (bit % 64) & 1 == 1
    }

    fn with(mut self, bit: u32) -> Mask<W> {
        self.0[bit as usize / 64] |= 1 << (bit % 64);
        self
    }

    fn without(mut self, bit: u32) -> Mask<W> {
        self.0[bit as usize / 64] &= !(1 << (bit % 64));
        self
    }
}

#[derive(Clone, Copy)]
struct Configuration<const W: usize> {
    next: u32,
    state: u32,
    mask: Mask<W>,
    /// The configuration before, and the call that led here; none where an optional call was passed.
    parent: u32,
    via: u32,
}

/// States, each once.
#[derive(Default)]
struct StateTable {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    index: HashIndex,
}

impl StateTable {
    fn get(&self, id: u32) -> &[u8] {
        let start = if id == 0 { 0 } else { self.ends[id as usize - 1] };
        &self.bytes[start as usize..self.ends[id as usize] as usize]
    }

    fn intern(&mut self, state: &[u8]) -> u32 {
        let new = self.ends.len() as u32;
        let StateTable { bytes, ends, index } = self;
        let is_equal = |at: u32| {
            let start = if at == 0 { 0 } else { ends[at as usize - 1] };
            bytes[start as usize..ends[at as usize] as usize] == *state
        };
        index.find_or_insert(fold_bytes(0, state), new, is_equal).unwrap_or_else(|| {
            self.bytes.extend_from_slice(state);
            self.ends.push(self.bytes.len() as u32);
            new
        })
    }

    fn bytes(&self) -> usize {
        self.bytes.capacity() + self.ends.capacity() * 4 + self.index.bytes()
    }
}

struct Search<'a, const W: usize> {
    pool: &'a DatumPool,
    model: &'a dyn SequentialModel,
    timeline: &'a Timeline<'a>,
    states: StateTable,
    configurations: Vec<Configuration<W>>,
    index: HashIndex,
    /// The configuration that is furthest.
    furthest: u32,
    looks_ahead: bool,
    /// The last return that looking ahead found to be out of reach.
    unreachable: u32,
    prefers_call_order: bool,
    scratch: NextStates,
    scratch_of_reads: NextStates,
    /// Steps so far.
    steps: usize,
}

impl<'a, const W: usize> Search<'a, W> {
    fn new(pool: &'a DatumPool, model: &'a dyn SequentialModel, timeline: &'a Timeline<'a>) -> Search<'a, W> {
        Search {
            pool,
            model,
            timeline,
            states: StateTable::default(),
            configurations: Vec::new(),
            index: HashIndex::default(),
            furthest: 0,
            looks_ahead: true,
            unreachable: 0,
            prefers_call_order: model.prefers_call_order(),
            scratch: NextStates::default(),
            scratch_of_reads: NextStates::default(),
            steps: 0,
        }
    }

    fn run(mut self, budget: &SearchBudget<'_>) -> SearchResult {
        self.looks_ahead = budget.looks_ahead;
        let end = self.explore(budget);
        let (order, state) = self.sequence();
        let furthest = self.configurations[self.furthest as usize].next as usize;
        let stuck = self.timeline.returns.get(furthest.max(self.unreachable as usize)).map(|one| one.own.call);
        SearchResult {
            stuck: stuck.filter(|_| end != SearchEnd::Valid),
            end,
            order,
            state,
            returns: (furthest, self.timeline.returns.len()),
            configurations: self.configurations.len(),
        }
    }

    /// Depth first, one candidate after the other.
    fn explore(&mut self, budget: &SearchBudget<'_>) -> SearchEnd {
        let initial = self.states.intern(&self.model.initial());
        let all = self.timeline.returns.len() as u32;
        let first = Configuration { next: 0, state: initial, mask: Mask([0; W]), parent: u32::MAX, via: u32::MAX };
        if let Some(end) = self.arrive(first).and_then(|next| (next == all).then_some(SearchEnd::Valid)) {
            return end;
        }
        // Configurations with the number of the candidate that is tried next.
        let mut path: Vec<(u32, u32)> = vec![(0, 0)];
        while let Some((at, cursor)) = path.last_mut() {
            let configuration = self.configurations[*at as usize];
            let own = self.timeline.returns[configuration.next as usize].own.call;
            if *cursor == 0 && self.timeline.calls[own as usize].is_optional {
                *cursor = 1;
                let parent = *at;
                let skip = Configuration { next: configuration.next + 1, parent, via: u32::MAX, ..configuration };
                match self.arrive(skip) {
                    Some(next) if next == all => return SearchEnd::Valid,
                    Some(_) => path.push((self.configurations.len() as u32 - 1, 0)),
                    None => {}
                }
                continue;
            }
            let Some(candidate) = self.next_candidate(&configuration, cursor) else {
                path.pop();
                continue;
            };
            let parent = *at;
            let mut next = std::mem::take(&mut self.scratch);
            next.clear();
            let call = &self.timeline.calls[candidate.call as usize].call;
            self.model.step(self.pool, self.states.get(configuration.state), call, &mut next);
            for state in next.iter() {
                let state = self.states.intern(state);
                let is_open = self.timeline.open_number(candidate.bit).is_some();
                if is_open && state == configuration.state {
                    continue;
                }
                let mask = configuration.mask.with(candidate.bit);
                let new = Configuration { next: configuration.next, state, mask, parent, via: candidate.call };
                match self.arrive(new) {
                    Some(next) if next == all => return SearchEnd::Valid,
                    Some(_) => path.push((self.configurations.len() as u32 - 1, 0)),
                    None => {}
                }
            }
            self.scratch = next;
            if let Some(end) = self.exhausted(budget) {
                return end;
            }
        }
        SearchEnd::Invalid
    }

    fn exhausted(&mut self, budget: &SearchBudget<'_>) -> Option<SearchEnd> {
        let count = self.configurations.len();
        if count >= budget.configurations_max {
            return Some(SearchEnd::Configurations);
        }
        // States may be large, configurations are not.
        let bytes = self.states.bytes() + self.index.bytes() + self.timeline.bytes();
        let bytes = bytes + self.configurations.capacity() * size_of::<Configuration<W>>();
        if bytes > budget.bytes_max || self.states.bytes.len() > u32::MAX as usize / 2 {
            return Some(SearchEnd::Memory);
        }
        self.steps += 1;
        (self.steps.is_multiple_of(STEPS_PER_LOOK) && (budget.is_over)()).then_some(SearchEnd::Time)
    }

    /// The next call to try: one that has not taken effect, and that changes states.
    fn next_candidate(&self, configuration: &Configuration<W>, cursor: &mut u32) -> Option<Candidate> {
        let at = configuration.next as usize;
        let own = self.timeline.returns[at].own;
        let traits = |one: Candidate| &self.timeline.traits[one.call as usize];
        let wanted = traits(own).shows;
        // The first pass is over those that bring what is wanted, the second over all others.
        let first_pass = if wanted.is_some() { self.timeline.candidate_count(at) } else { 0 };
        loop {
            let number = *cursor;
            *cursor += 1;
            let candidate = match number {
                0 => continue,
                1 if self.prefers_call_order => continue,
                1 => own,
                _ => {
                    let number = number - 2;
                    let is_first = number < first_pass;
                    let number = if is_first { number } else { number - first_pass };
                    let candidate = self.timeline.candidate(at, number)?;
                    if wanted.is_some() && (traits(candidate).brings == wanted) != is_first {
                        continue;
                    }
                    candidate
                }
            };
            let is_again = number > 1 && !self.prefers_call_order && candidate.call == own.call;
            let waits = self.timeline.open_number(candidate.bit).and_then(|open| self.timeline.twin[open]);
            let waits = waits.is_some_and(|before| !configuration.mask.has(before));
            if !is_again
                && !traits(candidate).is_readonly
                && !waits
                && !configuration.mask.has(candidate.bit)
                && self.can_be_told(configuration, candidate)
            {
                return Some(candidate);
            }
        }
    }

    /// Whether a call has to take effect, or another one that is pending can tell that it did.
    fn can_be_told(&self, configuration: &Configuration<W>, candidate: Candidate) -> bool {
        let one = &self.timeline.calls[candidate.call as usize];
        let at = configuration.next as usize;
        // Behind the call that returns next may come what is not pending yet.
        let is_own = candidate.call == self.timeline.returns[at].own.call;
        if one.completion.is_some() && !one.is_optional || is_own {
            return true;
        }
        self.timeline.candidates(at).any(|other| {
            let next = &self.timeline.calls[other.call as usize].call;
            other.call != candidate.call && !configuration.mask.has(other.bit) && self.model.tells(&one.call, next)
        })
    }

    /// Normalizes a configuration and notes it; the return that it waits for, or `None` if it is known, or cannot succeed.
    fn arrive(&mut self, new: Configuration<W>) -> Option<u32> {
        let Configuration { mut next, mut state, mut mask, .. } = new;
        self.advance(&mut next, state, &mut mask, &mut |_| {});
        let new = Configuration { next, mask, ..new };
        // The first one is noted in any case: a sequence begins with it.
        if self.looks_ahead && new.parent != u32::MAX {
            state = self.look_ahead(&new)?;
        }
        let new = Configuration { state, ..new };
        let position = self.configurations.len() as u32;
        let hash =
            mask.0.iter().fold(fold(u64::from(next) << 32 | u64::from(state), 0), |hash, word| fold(hash, *word));
        let configurations = &self.configurations;
        let is_equal = |at: u32| {
            let one = &configurations[at as usize];
            one.next == next && one.state == state && one.mask == mask
        };
        if self.index.find_or_insert(hash, position, is_equal).is_some() {
            return None;
        }
        self.configurations.push(new);
        if next > self.configurations[self.furthest as usize].next {
            self.furthest = position;
        }
        Some(next)
    }

    /// Lets calls that change nothing take effect, and passes the next returns as long as their calls have.
    fn advance(&mut self, next: &mut u32, state: u32, mask: &mut Mask<W>, on_read: &mut dyn FnMut(u32)) {
        let timeline = self.timeline;
        let Some(mut at) = timeline.returns.get(*next as usize).map(|_| *next as usize) else { return };
        timeline.candidates(at).for_each(|one| self.take_read(one, state, mask, on_read));
        while mask.has(timeline.returns[at].own.bit) {
            *mask = mask.without(timeline.returns[at].own.bit);
            *next += 1;
            at += 1;
            if at == timeline.returns.len() {
                return;
            }
            // What was not legal before is not legal now: the state is the same.
            timeline.new_candidates(at).for_each(|one| self.take_read(one, state, mask, on_read));
        }
    }

    /// Lets a call take effect that is legal and changes nothing.
    #[inline]
    fn take_read(&mut self, one: Candidate, state: u32, mask: &mut Mask<W>, on_read: &mut dyn FnMut(u32)) {
        if !self.timeline.traits[one.call as usize].is_readonly || mask.has(one.bit) {
            return;
        }
        self.scratch_of_reads.clear();
        let call = &self.timeline.calls[one.call as usize].call;
        self.model.step(self.pool, self.states.get(state), call, &mut self.scratch_of_reads);
        if !self.scratch_of_reads.is_empty() {
            *mask = mask.with(one.bit);
            on_read(one.call);
        }
    }

    /// Looks ahead to the next landmark: the state that is as good as that of a configuration, or `None` if it cannot succeed.
    fn look_ahead(&mut self, configuration: &Configuration<W>) -> Option<u32> {
        let timeline = self.timeline;
        let from = configuration.next as usize;
        let mut to = timeline.landmark[from] as usize;
        // A landmark that is pending may have taken effect already.
        while to < timeline.returns.len() {
            let own = timeline.returns[to].own;
            let is_pending = timeline.candidates(from).any(|one| one.call == own.call);
            if !is_pending || !configuration.mask.has(own.bit) {
                break;
            }
            to = timeline.landmark[to + 1] as usize;
        }
        if to == timeline.returns.len() {
            return Some(configuration.state);
        }
        let (model, pool) = (self.model, self.pool);
        let landmark = &timeline.calls[timeline.returns[to].own.call as usize].call;
        let state = self.states.get(configuration.state);
        if model.can_become(pool, state, landmark) {
            return Some(configuration.state);
        }
        let overwrites = |call: u32| timeline.traits[call as usize].overwrites;
        let pending = || timeline.candidates(from).filter(|one| !configuration.mask.has(one.bit)).map(|one| one.call);
        let later = timeline.invoked_between(from, to);
        if timeline.overwrites_between(from, to) > 0 && later.len() > WINDOW_MAX {
            return Some(configuration.state);
        }
        let later = || if timeline.overwrites_between(from, to) > 0 { later.clone() } else { 0..0 };
        let call = |at: u32| &timeline.calls[at as usize].call;
        if !pending().chain(later()).any(|at| overwrites(at) && model.can_bring(pool, call(at), landmark)) {
            self.unreachable = self.unreachable.max(to as u32);
            return None;
        }
        // It is overwritten before the landmark. If nothing reads it until then, it does not matter what it is.
        let later = timeline.invoked_between(from, to);
        let Some(unseen) = model.unseen(state).filter(|_| later.len() <= WINDOW_MAX) else {
            return Some(configuration.state);
        };
        let sees = |at: u32| {
            let traits = &timeline.traits[at as usize];
            !traits.is_blind && (!traits.is_landmark || model.can_become(pool, state, call(at)))
        };
        if pending().chain(later).any(sees) {
            return Some(configuration.state);
        }
        Some(self.states.intern(unseen))
    }

    /// The calls that lead to the furthest configuration, in order, and the state there.
    fn sequence(&mut self) -> (Vec<u32>, Vec<u8>) {
        let mut path = Vec::new();
        let mut at = self.furthest;
        while at != u32::MAX {
            path.push(at);
            at = self.configurations[at as usize].parent;
        }
        let (mut order, mut next, mut mask) = (Vec::new(), 0, Mask([0; W]));
        // A configuration may have another state that is as good.
        let mut shown: Vec<u8> = self.states.get(self.configurations[0].state).to_vec();
        let mut following = NextStates::default();
        for at in path.into_iter().rev() {
            let Configuration { state, via, parent, .. } = self.configurations[at as usize];
            if via == u32::MAX && parent != u32::MAX {
                next += 1;
            }
            if via != u32::MAX {
                order.push(via);
                following.clear();
                self.model.step(self.pool, &shown, &self.timeline.calls[via as usize].call, &mut following);
                let own = self.states.get(state);
                let reached = following.iter().find(|next| *next == own).or_else(|| following.iter().next());
                shown = reached.unwrap_or(own).to_vec();
                let bit = self.timeline.candidates(next as usize).find(|one| one.call == via).map(|one| one.bit);
                mask = bit.map_or(mask, |bit| mask.with(bit));
            }
            let state = self.states.intern(&shown);
            self.advance(&mut next, state, &mut mask, &mut |read| order.push(read));
        }
        (order, shown)
    }
}
