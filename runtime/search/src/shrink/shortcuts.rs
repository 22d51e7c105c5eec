//! Shorter stories, by their states: loops between equal states are cut, then shortcuts are searched.
//!
//! ```text
//! story      A ─▶ B ─▶ C ─▶ B ─▶ D ─▶ E ─▶ ✗      loop: B again, two steps fewer
//! search     A ─▶ F ─▶ E                          breadth first: E after two steps, where the story takes three
//!            A ─▶ G ─▶ ✗                          or the failure itself
//! ```
//!
//! That no step can be left out says nothing about other steps. A search from the first state that covers all states
//! within the length of the story finds the shortest one. A search that reaches its bound is continued from later
//! states of the story, and finds what is near it.
//!
//! Invariants: a state is only a hint, and each shorter story is executed like any candidate. A story that is called
//! the shortest was searched for with every answer of every question; states that look equal count as one.
//! Not here: how a step is taken (`state_walk`).

use super::incremental_replay::walkable;
use super::state_walk::{StateWalk, StepAnswers, StepEnd, Trajectory, WalkCheckpoint, answers_of, moved};
use super::{Dimension, ShrinkCandidate, ShrinkHalt, ShrinkProgress, Shrinker, steps, values};
use crate::keyed_source::{AnswerDomain, Decision, DecisionKey, is_chance};
use fozzy_trace::source::Override;
use fozzy_trace::{DecisionPart, HarnessError, Purpose, StateBasis, StateSearchEnd};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Steps that a story has left from which on shortcuts are searched without being asked for: preparing a walk takes about as long
/// as compiling the program again.
const SEARCHED_FROM: usize = 8;
/// Steps from which on loops are cut before anything else is left out.
const LOOPS_FROM: usize = 64;
/// Steps of all searches of one shrinking, and states of one of them.
const STEPS_MAX: u64 = 1 << 16;
const STATES_MAX: usize = 1 << 13;
/// The same, if the shortest story is asked for: some minutes and some hundred megabytes.
const SHORTEST_STEPS_MAX: u64 = 1 << 26;
const SHORTEST_STATES_MAX: usize = 1 << 18;
/// The part of the steps that the search from the first state may take.
const FIRST_SHARE: u64 = 2;
/// States of a search from a later state.
const LATER_STATES: usize = 1 << 11;
/// States that are gone back to at once, instead of walking there again.
const PLACES_MAX: usize = 1 << 12;
/// Answers of a question that are all tried.
const ANSWERS_MAX: u64 = 64;
/// Questions of a step that are answered otherwise than in the simplest way, the first ones.
const QUESTIONS_MAX: usize = 16;
/// Ways to answer the questions of one step from one state.
const COMBINATIONS_MAX: u32 = 1 << 12;
/// Loops that are cut one by one, where cutting all of them is another failure, or none.
const LOOPS_MAX: usize = 64;

/// What was done by the states that a story goes through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateSearch {
    /// How they were told apart.
    pub basis: StateBasis,
    /// Steps that loops between equal states had.
    pub loop_steps: usize,
    /// Steps that shortcuts have saved.
    pub shortcut_steps: usize,
    /// States that were searched.
    pub states: u64,
    /// Steps that were taken for it.
    pub steps: u64,
    /// How it ended.
    pub end: StateSearchEnd,
    /// Whether what the scenario says does not tell apart what the story needs, so that its memory is asked too.
    is_coarse: bool,
    /// Steps of the story after whose search another one would come to the same.
    searched: Option<usize>,
}

/// Steps, and the answers of each.
type StepList = Vec<(DecisionPart, StepAnswers)>;

/// A state that was reached.
struct SearchNode {
    /// None at the first.
    before: Option<usize>,
    depth: usize,
    answers: StepAnswers,
    place: Option<WalkCheckpoint>,
}

/// What a search may take.
#[derive(Clone, Copy)]
struct SearchBounds {
    states: usize,
    steps: u64,
    /// Steps within which it looks.
    depth: usize,
}

/// What a search has come to.
struct SearchResult {
    /// The steps that lead to the failure, or on to a later state of the story.
    shorter: Option<StepList>,
    /// Whether they lead to the failure by themselves.
    is_reached: bool,
    end: StateSearchEnd,
    states: u64,
    /// How many steps from its beginning it has been everywhere.
    radius: usize,
}

/// Cuts loops of a long story, before anything else is left out.
pub(super) fn cut_early(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let is_long = walkable(&shrinker.smallest).is_some_and(|(_, steps)| steps.len() >= LOOPS_FROM);
    if is_long && may_walk(shrinker).is_ok() {
        cut_loops(shrinker)?;
    }
    Ok(())
}

/// Makes a story shorter in which no single step can be left out. Whether there was a shorter one.
pub(super) fn shorten(shrinker: &mut Shrinker<'_>) -> Result<bool, ShrinkHalt> {
    let count = steps::count(&shrinker.smallest.plan, shrinker.position);
    if shrinker.states.searched == Some(count) {
        return Ok(false);
    }
    if let Err(why) = may_walk(shrinker) {
        shrinker.states.end = why;
        return Ok(false);
    }
    if count < SEARCHED_FROM && !shrinker.options.shortest {
        return Ok(false);
    }
    let is_shorter = cut_loops(shrinker)?;
    if let Err(why) = may_walk(shrinker) {
        shrinker.states.end = why;
        return Ok(is_shorter);
    }
    Ok(is_shorter | take_shortcuts(shrinker)?)
}

/// The time is over before anything was searched.
pub(super) fn give_up(shrinker: &mut Shrinker<'_>) {
    let count = steps::count(&shrinker.smallest.plan, shrinker.position);
    if shrinker.states.end == StateSearchEnd::NotAsked && count >= SEARCHED_FROM && may_walk(shrinker).is_ok() {
        shrinker.states.end = StateSearchEnd::Budget;
    }
}

/// Why the smallest candidate cannot be walked through.
fn may_walk(shrinker: &mut Shrinker<'_>) -> Result<(), StateSearchEnd> {
    if shrinker.smallest.plan.scenario.is_none() {
        return Err(StateSearchEnd::NoSteps);
    }
    if !shrinker.wants(Dimension::Input) {
        return Err(StateSearchEnd::NotAsked);
    }
    if shrinker.options.keeps_stdin {
        return Err(StateSearchEnd::FixedSteps);
    }
    if steps::count(&shrinker.smallest.plan, shrinker.position) < 2 {
        return Err(StateSearchEnd::NoSteps);
    }
    let can = walkable(&shrinker.smallest).is_some() && shrinker.observations.is_empty();
    let has_walker = can && shrinker.workers[0].target().sequences().is_some();
    match shrinker.states {
        _ if !has_walker => Err(StateSearchEnd::NoWalk),
        // It was walked, and will tell no more when it is walked again.
        StateSearch { basis: StateBasis::None, steps: 1.., .. } => Err(StateSearchEnd::NoStates),
        _ => Ok(()),
    }
}

impl Shrinker<'_> {
    /// Walks the smallest candidate, and does something with its story; `None` when it cannot be walked.
    fn with_story<T>(
        &mut self,
        work: impl FnOnce(&mut StateWalk<'_>, &Trajectory, &mut dyn FnMut() -> bool) -> Result<T, HarnessError>,
    ) -> Result<Option<T>, ShrinkHalt> {
        let progress = ShrinkProgress { tries: self.tries, size: self.size() };
        let Shrinker { workers, may_continue, smallest, identity, seed, states, .. } = self;
        let Some(target) = workers[0].lend_sequences() else { return Ok(None) };
        let Some(mut walk) = StateWalk::open(target, smallest, identity, *seed)? else { return Ok(None) };
        walk.asks_memory = states.is_coarse;
        let story = walk.story(smallest)?;
        let done = match &story {
            Some(story) => Some(work(&mut walk, story, &mut || may_continue(&progress))?),
            None => None,
        };
        states.steps += walk.steps;
        let is_told = story.is_some_and(|story| story.states.iter().any(Option::is_some));
        states.basis = match (walk.is_named, is_told) {
            (true, _) if !states.is_coarse => StateBasis::Named,
            (_, true) => StateBasis::Memory,
            (true, false) => StateBasis::Named,
            (false, false) => states.basis,
        };
        Ok(done)
    }

    /// The smallest candidate with these steps instead of its own.
    fn with_step_list(&self, list: &[(DecisionPart, StepAnswers)]) -> ShrinkCandidate {
        let mut candidate = self.smallest.clone();
        let Some(scenario) = &mut candidate.plan.scenario else { return candidate };
        let [kept] = &mut *scenario.only else { return candidate };
        kept.steps = vec![(0, list.len() as u32)];
        let stream = kept.kind.stream(kept.sequence);
        candidate.answers.retain(|key, _| key.part.step_number().is_none());
        for (number, (from, answers)) in (0..).zip(list) {
            candidate.answers.extend(moved(answers, *from, DecisionPart::step(stream, number)));
        }
        candidate
    }
}

/// Leaves out what leads from a state to the same state. Whether there was anything.
fn cut_loops(shrinker: &mut Shrinker<'_>) -> Result<bool, ShrinkHalt> {
    let before = steps::count(&shrinker.smallest.plan, shrinker.position);
    let found = shrinker.with_story(|walk, story, _| {
        let parts: StepList =
            story.steps.iter().map(|(number, answers)| (walk.part(*number), answers.clone())).collect();
        Ok((shortest_among(&story.states, parts.len()), loops(&story.states), parts))
    })?;
    let Some((all, loops, parts)) = found else { return Ok(false) };
    let list: StepList = all.iter().map(|step| parts[*step].clone()).collect();
    if list.len() == parts.len() {
        return Ok(false);
    }
    let candidate = shrinker.with_step_list(&list);
    if !shrinker.attempt(candidate)? {
        let mut left: BTreeSet<usize> = (0..parts.len()).collect();
        for (from, to) in loops {
            let rest: BTreeSet<usize> = left.iter().copied().filter(|step| !(from..to).contains(step)).collect();
            if rest.len() + to - from > left.len() {
                continue;
            }
            let list: StepList = rest.iter().map(|step| parts[*step].clone()).collect();
            let candidate = shrinker.with_step_list(&list);
            if shrinker.attempt(candidate)? {
                left = rest;
            }
        }
    }
    let after = steps::count(&shrinker.smallest.plan, shrinker.position);
    shrinker.states.loop_steps += before.saturating_sub(after);
    Ok(after < before)
}

/// The steps of a story by which its last one is reached soonest, each from the state that it was taken in.
fn shortest_among(states: &[Option<u64>], steps: usize) -> Vec<usize> {
    // A state that is not told from others is one of its own.
    let mut numbers: BTreeMap<u64, usize> = BTreeMap::new();
    let number = |(at, state): (usize, &Option<u64>)| match state {
        Some(state) => *numbers.entry(*state).or_insert(at),
        None => at,
    };
    let numbers: Vec<usize> = states.iter().enumerate().map(number).collect();
    let last = numbers.len() - 1;
    let mut steps_of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    (0..last).for_each(|step| steps_of.entry(numbers[step]).or_default().push(step));
    let mut by: BTreeMap<usize, Option<usize>> = BTreeMap::from([(numbers[0], None)]);
    let mut open = VecDeque::from([numbers[0]]);
    while let Some(state) = open.pop_front() {
        for step in steps_of.get(&state).into_iter().flatten() {
            if let std::collections::btree_map::Entry::Vacant(entry) = by.entry(numbers[step + 1]) {
                entry.insert(Some(*step));
                open.push_back(numbers[step + 1]);
            }
        }
    }
    let mut way: Vec<usize> = std::iter::successors(by[&numbers[last]], |step| by[&numbers[*step]]).collect();
    way.reverse();
    // The step that fails leads to no state.
    way.extend(last..steps);
    way
}

/// The loops of a story, from a step to one that is taken in the same state, the longest ones first.
fn loops(states: &[Option<u64>]) -> Vec<(usize, usize)> {
    let mut first: BTreeMap<u64, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (at, state) in states.iter().enumerate() {
        let Some(state) = state else { continue };
        match first.get(state) {
            Some(from) => found.push((*from, at)),
            None => {
                first.insert(*state, at);
            }
        }
    }
    found.sort_by_key(|(from, to)| std::cmp::Reverse(to - from));
    found.truncate(LOOPS_MAX);
    found
}

/// Looks for fewer steps from the states of the story, from the first one on. Whether there were any.
fn take_shortcuts(shrinker: &mut Shrinker<'_>) -> Result<bool, ShrinkHalt> {
    let is_asked = shrinker.options.shortest;
    let (states, most) = if is_asked { (SHORTEST_STATES_MAX, SHORTEST_STEPS_MAX) } else { (STATES_MAX, STEPS_MAX) };
    let begin = shrinker.states.steps;
    let (mut origin, mut is_shorter, mut first_end) = (0, false, None);
    loop {
        let count = steps::count(&shrinker.smallest.plan, shrinker.position);
        let left = (begin + most).saturating_sub(shrinker.states.steps);
        if origin + 2 > count || left == 0 {
            break;
        }
        let bounds = match origin {
            0 => SearchBounds { states, steps: most / FIRST_SHARE, depth: count - 1 },
            _ => SearchBounds { states: LATER_STATES, steps: left, depth: count - 1 - origin },
        };
        let found =
            shrinker.with_story(|walk, story, may_continue| search(walk, story, origin, bounds, may_continue))?;
        let Some(SearchResult { shorter, is_reached, mut end, states, radius }) = found else {
            shrinker.states.end = StateSearchEnd::NoWalk;
            return Ok(is_shorter);
        };
        shrinker.states.states += states;
        let is_taken = match shorter {
            Some(list) => {
                let candidate = shrinker.with_step_list(&list);
                shrinker.attempt(candidate)?
            }
            None => false,
        };
        let after = steps::count(&shrinker.smallest.plan, shrinker.position);
        if is_taken {
            shrinker.states.shortcut_steps += count.saturating_sub(after);
            is_shorter = true;
        }
        if is_reached && !is_taken {
            // A whole run comes to something else: what was searched is not what there is.
            end = StateSearchEnd::Bound;
        }
        if origin == 0 {
            first_end = Some(end);
        }
        match end {
            StateSearchEnd::Budget => break,
            // What the memory tells may be more.
            StateSearchEnd::Coarse if !shrinker.states.is_coarse => shrinker.states.is_coarse = true,
            // From the first state on, nothing shorter is left to be found.
            StateSearchEnd::Exhausted | StateSearchEnd::Sampled | StateSearchEnd::Coarse
                if origin == 0 && is_reached == is_taken =>
            {
                break;
            }
            // What is near the first state was found, and a search from there comes to the same.
            StateSearchEnd::Bound if origin == 0 => origin = radius.max(1),
            _ if is_taken => {}
            _ => origin += radius.max(1),
        }
    }
    shrinker.states.end = first_end.unwrap_or(StateSearchEnd::Bound);
    let count = steps::count(&shrinker.smallest.plan, shrinker.position);
    shrinker.states.searched = Some(count);
    Ok(is_shorter)
}

/// Breadth first from a state of the story, until the failure is reached, or nothing is left within the bounds.
fn search(
    walk: &mut StateWalk<'_>,
    story: &Trajectory,
    origin: usize,
    bounds: SearchBounds,
    may_continue: &mut dyn FnMut() -> bool,
) -> Result<SearchResult, HarnessError> {
    let mut search = ShortcutSearch::new(walk, story, origin, bounds)?;
    let end = match search.run(may_continue)? {
        StateSearchEnd::Exhausted | StateSearchEnd::Sampled if !search.is_reached && comes_twice(&story.states) => {
            StateSearchEnd::Coarse
        }
        end => end,
    };
    let SearchBounds { depth, .. } = bounds;
    let radius = search.nodes.get(search.at).map_or(depth, |node| node.depth);
    let states = search.nodes.len() as u64;
    let is_reached = search.is_reached;
    let shorter = search.best.take().map(|(_, list)| list);
    search.release();
    Ok(SearchResult { shorter, is_reached, end, states, radius })
}

/// Whether a story comes to a state twice. Loops have been cut where they could be.
fn comes_twice(states: &[Option<u64>]) -> bool {
    let mut seen = BTreeSet::new();
    !states.iter().flatten().all(|state| seen.insert(*state))
}

/// A search under way.
struct ShortcutSearch<'s, 'w> {
    walk: &'s mut StateWalk<'w>,
    story: &'s Trajectory,
    origin: usize,
    bounds: SearchBounds,
    nodes: Vec<SearchNode>,
    /// The node that is gone on from.
    at: usize,
    seen: BTreeSet<u64>,
    places: usize,
    /// Where the story is last in a state.
    later: BTreeMap<u64, usize>,
    /// Answers of the story, by who asked, for questions that have many.
    told: BTreeMap<(String, u64), BTreeSet<u64>>,
    told_bytes: BTreeMap<String, BTreeSet<String>>,
    /// Steps that had been taken when it began.
    begin_steps: u64,
    is_sampled: bool,
    is_reached: bool,
    /// The steps that are saved at best, and the story of it.
    best: Option<(usize, StepList)>,
}

impl<'s, 'w> ShortcutSearch<'s, 'w> {
    fn new(
        walk: &'s mut StateWalk<'w>,
        story: &'s Trajectory,
        origin: usize,
        bounds: SearchBounds,
    ) -> Result<ShortcutSearch<'s, 'w>, HarnessError> {
        let (mut told, mut told_bytes) = (BTreeMap::<_, BTreeSet<u64>>::new(), BTreeMap::<_, BTreeSet<String>>::new());
        for Decision { site, domain, answer, .. } in story.logs.iter().flat_map(|step| &step.log) {
            match (answer, domain) {
                (Override::Number(number), AnswerDomain::Below(bound)) => {
                    told.entry((site.clone(), *bound)).or_default().insert(*number);
                }
                (Override::Bytes(digits), _) => {
                    told_bytes.entry(site.clone()).or_default().insert(digits.clone());
                }
                (Override::Number(_), AnswerDomain::Bytes(_)) => {}
            }
        }
        let later = story.states.iter().enumerate().skip(origin + 1);
        let later = later.filter_map(|(at, state)| Some(((*state)?, at))).collect();
        let begin_steps = walk.steps;
        let place = go_to(walk, story, origin)?;
        let first = SearchNode { before: None, depth: 0, answers: Box::default(), place: Some(place) };
        let seen = story.states[origin].into_iter().collect();
        Ok(ShortcutSearch {
            walk,
            story,
            origin,
            bounds,
            nodes: vec![first],
            at: 0,
            seen,
            places: 1,
            later,
            told,
            told_bytes,
            begin_steps,
            is_sampled: false,
            is_reached: false,
            best: None,
        })
    }

    fn run(&mut self, may_continue: &mut dyn FnMut() -> bool) -> Result<StateSearchEnd, HarnessError> {
        let complete = |search: &ShortcutSearch<'_, '_>| match search.is_sampled {
            true => StateSearchEnd::Sampled,
            false => StateSearchEnd::Exhausted,
        };
        while self.at < self.nodes.len() {
            // A story through here is one step longer at least, and is to be shorter than what there is.
            if self.nodes[self.at].depth + 1 > self.bounds.depth {
                break;
            }
            let mut script: Option<Vec<(DecisionKey, Override)>> = Some(Vec::new());
            let mut combinations = 0;
            while let Some(given) = script {
                if !may_continue() {
                    return Ok(StateSearchEnd::Budget);
                }
                let is_full = self.nodes.len() >= self.bounds.states;
                if is_full || self.walk.steps - self.begin_steps >= self.bounds.steps {
                    return Ok(StateSearchEnd::Bound);
                }
                let step = self.step(given)?;
                if step.is_wanted {
                    self.is_reached = true;
                    return Ok(complete(self));
                }
                combinations += 1;
                script = self.following(&step.log, &step.weights);
                if combinations == COMBINATIONS_MAX && script.is_some() {
                    self.is_sampled = true;
                    script = None;
                }
            }
            self.give_up(self.at);
            self.at += 1;
        }
        Ok(complete(self))
    }

    /// Takes the step after the node that is gone on from.
    fn step(&mut self, script: Vec<(DecisionKey, Override)>) -> Result<SearchStep, HarnessError> {
        let depth = self.nodes[self.at].depth;
        let number = (self.origin + depth) as u32;
        self.go(script)?;
        let step = self.walk.step(number)?;
        let taken = |is_wanted| SearchStep { log: step.log.clone(), weights: step.weights.clone(), is_wanted };
        let answers = answers_of(&step.log);
        match step.end {
            StepEnd::Nowhere => return Ok(taken(false)),
            StepEnd::Wanted => {
                let list = self.list(self.at, Some(answers));
                self.best = Some((usize::MAX, list));
                return Ok(taken(true));
            }
            StepEnd::State(Some(state)) if !self.seen.insert(state) => return Ok(taken(false)),
            StepEnd::State(state) => {
                let place = if self.places < PLACES_MAX { Some(self.walk.capture()?) } else { None };
                let is_wanted = self.walk.fails_if_it_ends()?;
                self.places += usize::from(place.is_some());
                let before = Some(self.at);
                self.nodes.push(SearchNode { before, depth: depth + 1, answers, place });
                let node = self.nodes.len() - 1;
                if is_wanted {
                    self.best = Some((usize::MAX, self.list(node, None)));
                    return Ok(taken(true));
                }
                if let Some(at) = state.and_then(|state| self.later.get(&state)) {
                    let saved = (at - self.origin).saturating_sub(depth + 1);
                    if saved > self.best.as_ref().map_or(0, |(saved, _)| *saved) {
                        let mut list = self.list(node, None);
                        list.extend(self.story_from(*at));
                        self.best = Some((saved, list));
                    }
                }
            }
        }
        Ok(taken(false))
    }

    /// Goes back to the node that is gone on from.
    fn go(&mut self, script: Vec<(DecisionKey, Override)>) -> Result<(), HarnessError> {
        let mut way = Vec::new();
        let mut node = self.at;
        while self.nodes[node].place.is_none() {
            way.push(node);
            let Some(before) = self.nodes[node].before else { break };
            node = before;
        }
        let again = way.iter().flat_map(|node| self.nodes[*node].answers.iter().cloned());
        let answers: BTreeMap<DecisionKey, Override> = again.chain(script).collect();
        let Some(place) = &self.nodes[node].place else {
            return Err(HarnessError::new("the first state of a search is kept"));
        };
        self.walk.restore(place, answers, true)?;
        for node in way.into_iter().rev() {
            self.walk.step((self.origin + self.nodes[node].depth - 1) as u32)?;
        }
        Ok(())
    }

    /// The steps to a node, and one more.
    fn list(&self, node: usize, last: Option<StepAnswers>) -> StepList {
        let mut list: StepList = Vec::new();
        let part = |depth: usize| self.walk.part((self.origin + depth) as u32);
        list.extend(last.map(|answers| (part(self.nodes[node].depth), answers)));
        let mut at = Some(node);
        while let Some(SearchNode { before, depth, answers, .. }) = at.map(|at| &self.nodes[at]) {
            if before.is_some() {
                list.push((part(depth - 1), answers.clone()));
            }
            at = *before;
        }
        let first = self.story.steps[..self.origin].iter().rev();
        list.extend(first.map(|(number, answers)| (self.walk.part(*number), answers.clone())));
        list.reverse();
        list
    }

    fn story_from(&self, at: usize) -> impl Iterator<Item = (DecisionPart, StepAnswers)> + '_ {
        self.story.steps[at..].iter().map(|(number, answers)| (self.walk.part(*number), answers.clone()))
    }

    /// The answers after those of a step: the last question is answered otherwise, or the one before it.
    fn following(&mut self, log: &[Decision], weights: &[Vec<u32>]) -> Option<Vec<(DecisionKey, Override)>> {
        if log.len() > QUESTIONS_MAX {
            let rest = log.iter().zip(weights).skip(QUESTIONS_MAX);
            let has_more = rest.map(|(decision, weights)| self.alternatives(decision, weights).len() > 1);
            self.is_sampled |= has_more.fold(false, |has, more| has | more);
        }
        for at in (0..log.len().min(QUESTIONS_MAX)).rev() {
            let alternatives = self.alternatives(&log[at], &weights[at]);
            let mine = alternatives.iter().position(|answer| *answer == log[at].answer);
            let Some(next) = mine.and_then(|mine| alternatives.get(mine + 1)) else { continue };
            let before = log[..at].iter().map(|decision| (decision.key, decision.answer.clone()));
            return Some(before.chain([(log[at].key, next.clone())]).collect());
        }
        None
    }

    /// The answers of a question that are tried, the simplest first.
    fn alternatives(&mut self, decision: &Decision, weights: &[u32]) -> Vec<Override> {
        let Decision { key, site, domain, .. } = decision;
        let bound = match domain {
            AnswerDomain::Below(bound) => *bound,
            AnswerDomain::Bytes(length) => {
                self.is_sampled = true;
                let told = self.told_bytes.get(site).into_iter().flatten();
                let zeros = "00".repeat(*length);
                let told = told.filter(|digits| **digits != zeros && digits.len() == zeros.len());
                let told = told.take(ANSWERS_MAX as usize).cloned();
                return [zeros.clone()].into_iter().chain(told.collect::<Vec<_>>()).map(Override::Bytes).collect();
            }
        };
        let is_few = bound <= ANSWERS_MAX && values::is_drawn(*domain);
        let told = |told: &BTreeMap<(String, u64), BTreeSet<u64>>| {
            let told = told.get(&(site.clone(), bound)).into_iter().flatten().copied().filter(|answer| *answer > 0);
            let told: Vec<u64> = told.take(ANSWERS_MAX as usize).collect();
            [0].into_iter().chain(told).collect::<Vec<u64>>()
        };
        let numbers = if !weights.is_empty() {
            first_of_each(weights)
        } else if is_few && (key.purpose == Purpose::Schedule || !is_chance(key.purpose)) {
            (0..bound).collect()
        } else {
            // Faults too strike where the story has them strike, and nowhere else.
            self.is_sampled |= bound > 1;
            told(&self.told)
        };
        numbers.into_iter().map(Override::Number).collect()
    }

    fn give_up(&mut self, node: usize) {
        if node > 0
            && let Some(place) = self.nodes[node].place.take()
        {
            self.walk.release(&place);
            self.places -= 1;
        }
    }

    fn release(&mut self) {
        for node in &mut self.nodes {
            node.place.take().iter().for_each(|place| self.walk.release(place));
        }
    }
}

/// An executed step of a search.
struct SearchStep {
    log: Vec<Decision>,
    weights: Vec<Vec<u32>>,
    /// Whether the failure was reached.
    is_wanted: bool,
}

/// The first answer of each alternative that is possible.
fn first_of_each(weights: &[u32]) -> Vec<u64> {
    let mut sum = 0;
    let mut firsts = Vec::new();
    for weight in weights {
        if *weight > 0 {
            firsts.push(sum);
        }
        sum += u64::from(*weight);
    }
    firsts
}

/// Walks to the state before a step of the story.
fn go_to(walk: &mut StateWalk<'_>, story: &Trajectory, origin: usize) -> Result<WalkCheckpoint, HarnessError> {
    let root = walk.root();
    if origin == 0 {
        return Ok(root);
    }
    let mut answers = BTreeMap::new();
    for (number, (from, of_step)) in (0..).zip(&story.steps[..origin]) {
        let (from, to) = (walk.part(*from), walk.part(number));
        answers.extend(moved(of_step, from, to));
    }
    walk.restore(&root, answers, false)?;
    for number in 0..origin as u32 {
        walk.step(number)?;
    }
    walk.capture()
}

#[cfg(test)]
mod tests;
