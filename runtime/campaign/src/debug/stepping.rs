//! Steps: to the next instruction or line, over or out of calls, forwards and back.
//!
//! ```text
//! code of a function    g:10    g:11 ▸ h:3    g:11 ▸ h:4    g:12        a line, and what is inlined in it
//! stops of a step       g:10    g:11  h:3      h:4          g:12        `step` forwards, `reverse-step` backwards
//! of `next` from g      g:10    g:11                        g:12        the functions that are inlined at g:11 are not shown
//! ```
//!
//! A step ends where a line begins: at the first operator of a stretch of code that belongs to another line than the stretch before in the same
//! call of the function, or where a stretch is executed again. At one operator several functions can begin lines, if they are inlined there:
//! a step enters them one after the other, at the same position, and those that it has not entered are not shown.
//!
//! Invariants: forwards and backwards, the same stops are met; whoever steps over nothing that returns comes back by the opposite step.
//! Not here: breakpoints of a person, which end a step early.

use super::code::{SourceChain, StepPlace};
use super::session::{DebugSession, Inspector, Moment, RunPoint, STOPS_MAX, StackEntry, StopFilter};
use crate::error::CampaignError;
use fozzy_engine::{DebugPlace, Position, StopReason};
use std::collections::BTreeSet;

/// Stops in one stretch of code that a search for the start of a line looks at, once it has come far.
const SEARCHED_STOPS_MAX: usize = 1 << 14;

/// How far a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepKind {
    /// One instruction.
    Instruction,
    /// To another line, in a function that is called, too.
    Into,
    /// To another line of this function, or of its callers.
    Over,
    /// Out of this function.
    Out,
}

/// The lines that the functions of a stack are in, as far as they are known.
#[derive(Default)]
struct LineTracker {
    /// Depth, the stretch that was begun last, and its lines; the outermost first.
    calls: Vec<(usize, DebugPlace, SourceChain)>,
}

/// Which functions begin a line where a stretch of code begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineStart {
    /// This one of those that are inlined there, counted from the outermost, and all further ones.
    From(usize),
    /// None: it is the line of before.
    Same,
    /// What was executed before is not known.
    Unknown,
}

impl LineTracker {
    /// A stretch begins at this depth.
    fn begin(&mut self, depth: usize, at: &StepPlace) -> LineStart {
        while self.calls.last().is_some_and(|(of, ..)| *of > depth) {
            self.calls.pop();
        }
        let start = match self.calls.last() {
            _ if at.is_entry => LineStart::From(0),
            None => LineStart::Unknown,
            Some((of, ..)) if *of < depth => LineStart::From(0),
            Some((_, place, chain)) => {
                let same = chain.iter().zip(at.chain.iter()).take_while(|(one, other)| one == other).count();
                let is_again = at.place <= *place;
                match same < at.chain.len() {
                    true => LineStart::From(same),
                    // Out of what was inlined, in the midst of its caller's line.
                    false if !is_again => LineStart::Same,
                    false => LineStart::From(at.chain.len().saturating_sub(1)),
                }
            }
        };
        if self.calls.last().is_some_and(|(of, ..)| *of == depth) {
            self.calls.pop();
        }
        self.calls.push((depth, at.place, at.chain.clone()));
        start
    }
}

/// Where a step begins.
struct StepOrigin {
    moment: Moment,
    frames: Vec<StackEntry>,
    /// How many functions are inlined there around each other.
    functions: usize,
    /// The one of them that is shown, counted from the outermost.
    shown: usize,
}

/// A stop that a step back considers.
type Candidate = (Moment, StepPlace);

impl DebugSession {
    /// Steps forwards. A breakpoint on the way ends it, if `own` accepts it.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn step(&mut self, kind: StepKind, own: &mut StopFilter<'_>) -> Result<&RunPoint, CampaignError> {
        let Some(origin) = self.origin()? else { return Ok(self.here()) };
        if kind == StepKind::Instruction {
            return self.go_to(Position(origin.moment.stop.position.0 + 1));
        }
        if kind == StepKind::Out && origin.shown == 0 {
            return self.out(&origin, own);
        }
        if self.own_places(&origin).is_empty() {
            return self.step_without_lines(&origin, kind, own);
        }
        match kind {
            StepKind::Into if origin.shown + 1 < origin.functions => {
                self.show_function(origin.functions, origin.shown + 1);
                Ok(self.here())
            }
            StepKind::Into => self.go_to_line(&origin, None, own),
            StepKind::Over => self.go_to_line(&origin, Some(origin.shown), own),
            _ => self.go_to_line(&origin, Some(origin.shown - 1), own),
        }
    }

    fn origin(&mut self) -> Result<Option<StepOrigin>, CampaignError> {
        let Some(moment) = self.here().moment().cloned() else { return Ok(None) };
        let frames = self.inspect().frames()?;
        let functions = frames.first().map_or(1, |frame| frame.source.len().max(1));
        let shown = functions.saturating_sub(1 + self.functions_not_entered());
        Ok(Some(StepOrigin { moment, frames, functions, shown }))
    }

    /// Has the function with this number be the one that is shown, of so many.
    fn show_function(&mut self, functions: usize, shown: usize) {
        self.not_entered = functions.saturating_sub(1 + shown);
    }

    /// Where stretches of code begin in the function of the innermost frame.
    fn own_places(&self, origin: &StepOrigin) -> Vec<DebugPlace> {
        origin.frames.first().map_or_else(Vec::new, |frame| self.places_of(frame))
    }

    fn places_of(&self, frame: &StackEntry) -> Vec<DebugPlace> {
        self.code().step_places(frame.place, frame.function).iter().map(|step| step.place).collect()
    }

    /// The same of all functions of a stack.
    fn stack_places(&self, frames: &[StackEntry]) -> BTreeSet<DebugPlace> {
        frames.iter().flat_map(|frame| self.places_of(frame)).collect()
    }

    /// Forwards to where a line begins: in any function, or in those up to `shown` of the innermost frame and in its callers.
    fn go_to_line(
        &mut self,
        origin: &StepOrigin,
        shown: Option<usize>,
        own: &mut StopFilter<'_>,
    ) -> Result<&RunPoint, CampaignError> {
        let mut places = self.stack_places(&origin.frames);
        if shown.is_none() {
            places.extend(self.code().entries());
        }
        let mut tracker = LineTracker::default();
        let depth = origin.moment.depth;
        for (above, frame) in origin.frames.iter().enumerate().rev() {
            let start = self.code().step_place_before(frame.place, frame.function);
            tracker.calls.extend(start.map(|start| (depth - above, start.place, start.chain)));
        }
        let machine = origin.moment.stop.machine;
        let mut arrived = None;
        let mut accept = |inspector: &mut Inspector<'_>, at: &Moment| {
            if at.stop.machine != machine || (at.depth > depth && shown.is_some()) {
                return Ok(false);
            }
            let Some(step) = at.stop.place.and_then(|place| inspector.code().step_place(place)) else {
                return Ok(false);
            };
            let LineStart::From(begins) = tracker.begin(at.depth, &step) else { return Ok(false) };
            let is_stop = at.depth != depth || shown.is_none_or(|shown| begins <= shown);
            if is_stop {
                arrived = Some((at.stop.position, step.chain.len(), begins));
            }
            Ok(is_stop)
        };
        self.with_places(places, &mut accept, own)?;
        if let Some((position, functions, begins)) = arrived
            && self.here().position() == position
        {
            self.show_function(functions, begins);
        }
        Ok(self.here())
    }

    /// Forwards to where the function of the innermost frame has returned.
    fn out(&mut self, origin: &StepOrigin, own: &mut StopFilter<'_>) -> Result<&RunPoint, CampaignError> {
        let places = origin.frames.iter().skip(1).filter_map(|frame| self.code().behind(frame.place)).collect();
        let (depth, machine) = (origin.moment.depth, origin.moment.stop.machine);
        self.with_places(places, &mut |_, at| Ok(at.depth < depth && at.stop.machine == machine), own)
    }

    /// To the next instruction; over what it calls, if that is asked for.
    fn step_without_lines(
        &mut self,
        origin: &StepOrigin,
        kind: StepKind,
        own: &mut StopFilter<'_>,
    ) -> Result<&RunPoint, CampaignError> {
        let (depth, machine) = (origin.moment.depth, origin.moment.stop.machine);
        self.go_to(Position(origin.moment.stop.position.0 + 1))?;
        let Some(at) = self.here().moment().cloned() else { return Ok(self.here()) };
        let is_called = at.depth > depth && at.stop.machine == machine;
        if kind == StepKind::Into || !is_called {
            return Ok(self.here());
        }
        if at.stop.place.is_some_and(|place| self.breakpoints().contains(&place)) && own(&mut self.inspect(), &at)? {
            return Ok(self.here());
        }
        let behind = origin.moment.stop.place.and_then(|place| self.code().behind(place));
        let mut places: BTreeSet<DebugPlace> = behind.into_iter().collect();
        places.extend(origin.frames.iter().skip(1).filter_map(|frame| self.code().behind(frame.place)));
        self.with_places(places, &mut |_, at| Ok(at.depth <= depth && at.stop.machine == machine), own)
    }

    /// Goes on to an accepted one of these places, or to a breakpoint.
    fn with_places(
        &mut self,
        places: BTreeSet<DebugPlace>,
        accept: &mut StopFilter<'_>,
        own: &mut StopFilter<'_>,
    ) -> Result<&RunPoint, CampaignError> {
        let breakpoints = self.breakpoints().clone();
        self.set_breakpoints(places.union(&breakpoints).copied().collect());
        let found = self.go_on(&mut |inspector, at| {
            let is_own =
                at.stop.reason == StopReason::Watch || at.stop.place.is_some_and(|place| breakpoints.contains(&place));
            // Both are asked: each keeps account of what passes.
            let is_stop = at.stop.reason == StopReason::Breakpoint && accept(inspector, at)?;
            Ok((is_own && own(inspector, at)?) || is_stop)
        });
        let found = found.map(|_| ());
        self.set_breakpoints(breakpoints);
        found?;
        Ok(self.here())
    }

    /// Steps back, to the last stop of such a step before. Breakpoints do not end it.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn step_back(&mut self, kind: StepKind) -> Result<&RunPoint, CampaignError> {
        let here = self.here().position().0;
        let Some(before) = here.checked_sub(1) else { return self.beginning() };
        if kind == StepKind::Instruction {
            return self.go_to(Position(before));
        }
        // Nothing is active at the end: what was last.
        let is_ended = self.here().moment().is_none();
        if is_ended {
            self.go_to(Position(before))?;
        }
        let Some(origin) = self.origin()? else { return Ok(self.here()) };
        let (breakpoints, watched) = (self.breakpoints().clone(), self.watched.take());
        let found = self.find_back(kind, &origin, is_ended);
        self.set_breakpoints(breakpoints);
        self.watched = watched;
        match found? {
            Some((position, functions, shown)) => {
                self.go_to(position)?;
                self.show_function(functions, shown);
            }
            None => {
                self.beginning()?;
            }
        }
        Ok(self.here())
    }

    /// Where a step back goes to: how many functions are inlined there, and which of them is shown.
    fn find_back(
        &mut self,
        kind: StepKind,
        origin: &StepOrigin,
        is_ended: bool,
    ) -> Result<Option<(Position, usize, usize)>, CampaignError> {
        let here = origin.moment.stop.position;
        let lines = self.own_places(origin);
        if lines.is_empty() && kind != StepKind::Out {
            return self.back_without_lines(kind, origin, is_ended).map(|position| Some((position, 1, 0)));
        }
        let depth = origin.moment.depth;
        let shown = match kind {
            _ if is_ended => usize::MAX,
            StepKind::Out => origin.shown.wrapping_sub(1),
            _ => origin.shown,
        };
        let is_out = kind == StepKind::Out && origin.shown == 0;
        // What was executed in this function since its call is of no use to who leaves it, however much it is.
        let (left, below) = if is_out { (1, 0) } else { (0, 1) };
        let mut places = self.stack_places(&origin.frames[left.min(origin.frames.len())..]);
        if is_out {
            // A caller without lines has its call.
            places.extend(origin.frames.iter().skip(1).map(|frame| frame.place));
        }
        let (mut found, mut base) = (None, depth);
        self.search_back(places, here.0 + 1, origin, below, &mut |(at, step), begins| {
            let last = step.chain.len().saturating_sub(1);
            let is_here = at.stop.position == here && !is_ended;
            let level = match at.depth == depth {
                // What is inlined here was not entered before.
                true if is_here => (begins < origin.shown && !is_out).then(|| shown.min(origin.shown - 1)),
                true => (!is_out && (begins <= shown || kind == StepKind::Into)).then(|| match kind {
                    StepKind::Into => last,
                    _ => shown.min(last),
                }),
                false => Some(last),
            };
            found = level.map(|level| (at.stop.position, step.chain.len(), level));
            base = at.depth.min(depth);
            level.is_some()
        })?;
        if kind == StepKind::Into && found.is_none_or(|(position, ..)| position != here) {
            let after = found.map_or(0, |(position, ..)| position.0);
            return Ok(self.last_line_called(origin, base, after)?.or(found));
        }
        Ok(found)
    }

    /// The last line that was begun in what was called since `after`, from the call of this depth: the origin's own, or one of its callers', whose
    /// arguments were computed by other calls.
    fn last_line_called(
        &mut self,
        origin: &StepOrigin,
        depth: usize,
        after: u64,
    ) -> Result<Option<(Position, usize, usize)>, CampaignError> {
        let (here, machine) = (origin.moment.stop.position, origin.moment.stop.machine);
        let entries = self.code().entries().collect();
        self.set_breakpoints(entries);
        let entered = self.stops_between(after, here.0, STOPS_MAX, &mut |_, at| {
            let is_called = at.depth > depth && at.stop.machine == machine;
            Ok(is_called && at.stop.position.0 > after && at.stop.reason == StopReason::Breakpoint)
        })?;
        let Some(entered) = entered.last() else { return Ok(None) };
        self.go_to(entered.stop.position)?;
        let frames = self.inspect().frames()?;
        let places = self.stack_places(&frames[..frames.len().min(entered.depth - depth)]);
        let mut found = None;
        self.search_back(places, here.0, origin, usize::MAX, &mut |(at, step), _| {
            let last = step.chain.len().saturating_sub(1);
            found = (at.depth > depth).then_some((at.stop.position, step.chain.len(), last));
            found.is_some() || at.stop.position < entered.stop.position
        })?;
        Ok(found)
    }

    /// Shows the starts of lines before a position to `is_found`, the last one first, until it says so. Those of calls that are `below` or more
    /// deeper than the origin are left out.
    fn search_back(
        &mut self,
        places: BTreeSet<DebugPlace>,
        before: u64,
        origin: &StepOrigin,
        below: usize,
        is_found: &mut dyn FnMut(&Candidate, usize) -> bool,
    ) -> Result<(), CampaignError> {
        let (machine, deepest) = (origin.moment.stop.machine, origin.moment.depth.saturating_add(below));
        let mut known: Vec<Candidate> = Vec::new();
        // Those from here on were shown.
        let mut shown = u64::MAX;
        let mut until = before;
        let mut most = STOPS_MAX;
        self.set_breakpoints(places);
        loop {
            let more = self.stops_between(0, until, most, &mut |_, at| {
                let is_step = at.stop.reason == StopReason::Breakpoint && at.stop.machine == machine;
                Ok(is_step && at.depth < deepest)
            })?;
            let is_all = more.is_empty();
            // What is far away is come to in few passes.
            most = most.saturating_mul(4).min(SEARCHED_STOPS_MAX);
            let code = self.code();
            let step = |at: Moment| {
                let step = at.stop.place.and_then(|place| code.step_place(place).or_else(|| code.call_place(place)));
                step.map(|step| (at, step))
            };
            let mut more: Vec<Candidate> = more.into_iter().filter_map(step).collect();
            until = more.first().map_or(0, |(at, _)| at.stop.position.0);
            more.append(&mut known);
            known = more;
            let mut tracker = LineTracker::default();
            let starts: Vec<LineStart> = known.iter().map(|(at, step)| tracker.begin(at.depth, step)).collect();
            for (candidate, start) in known.iter().zip(starts).rev() {
                let begins = match start {
                    _ if candidate.0.stop.position.0 >= shown => continue,
                    LineStart::Same => None,
                    LineStart::From(begins) => Some(begins),
                    // Nothing was before.
                    LineStart::Unknown if is_all => Some(0),
                    LineStart::Unknown => break,
                };
                shown = candidate.0.stop.position.0;
                if begins.is_some_and(|begins| is_found(candidate, begins)) {
                    return Ok(());
                }
            }
            if is_all {
                return Ok(());
            }
        }
    }

    /// To the instruction before; over what was called, if that is asked for.
    fn back_without_lines(
        &mut self,
        kind: StepKind,
        origin: &StepOrigin,
        is_ended: bool,
    ) -> Result<Position, CampaignError> {
        let (here, depth, machine) = (origin.moment.stop.position, origin.moment.depth, origin.moment.stop.machine);
        if is_ended {
            return Ok(here);
        }
        let before = Position(here.0 - 1);
        self.go_to(before)?;
        let Some(at) = self.here().moment().cloned() else { return Ok(before) };
        if kind == StepKind::Into || at.depth <= depth || at.stop.machine != machine {
            return Ok(before);
        }
        let frames = self.inspect().frames()?;
        let call = frames.get(at.depth - depth).map(|frame| frame.place);
        self.set_breakpoints(call.into_iter().collect());
        let calls = self.stops_between(0, here.0, STOPS_MAX, &mut |_, at| {
            let is_call = at.depth == depth && at.stop.machine == machine;
            Ok(is_call && at.stop.reason == StopReason::Breakpoint)
        })?;
        Ok(calls.last().map_or(before, |call| call.stop.position))
    }
}
