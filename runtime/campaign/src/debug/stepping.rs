//! Steps: to the next instruction or line, over or out of calls, forwards and back.
//!
//! A line is left where the first operator of another one is reached in the same function, or where its function returns. What has no lines is
//! stepped by instructions.
//!
//! Not here: breakpoints of a person, which end a step early.

use super::code::LineStart;
use super::session::{DebugSession, Inspector, Moment, RunPoint, StackEntry};
use crate::error::CampaignError;
use fozzy_engine::{DebugPlace, Position, StopReason};
use std::collections::BTreeSet;

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

impl DebugSession {
    /// Steps forwards. A breakpoint on the way ends it.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn step(&mut self, kind: StepKind) -> Result<&RunPoint, CampaignError> {
        let Some(moment) = self.here().moment().cloned() else { return Ok(self.here()) };
        let here = moment.stop.position.0;
        if kind == StepKind::Instruction {
            return self.go_to(Position(here + 1));
        }
        let frames = self.inspect().frames()?;
        let Some(lines) = self.lines_of(&frames).filter(|_| kind != StepKind::Out) else {
            return match kind {
                StepKind::Out => self.out(&moment, &frames),
                _ => self.go_to(Position(here + 1)),
            };
        };
        let mut places = lines.starts.clone();
        places.extend(self.returns(&frames));
        if kind == StepKind::Into {
            places.extend(self.code().entries());
        }
        let (depth, from) = (moment.depth, lines.line.clone());
        let start = moment.stop.place;
        let mut accept = |inspector: &mut Inspector<'_>, at: &Moment| {
            if at.depth > depth {
                return Ok(kind == StepKind::Into);
            }
            if at.depth < depth {
                return Ok(true);
            }
            let line = inspector.line_of(at);
            let is_back = at.stop.place <= start;
            Ok(line.is_some() && (line != from || is_back))
        };
        self.with_places(places, &mut accept)
    }

    /// Forwards to where the function of the innermost frame has returned.
    fn out(&mut self, moment: &Moment, frames: &[StackEntry]) -> Result<&RunPoint, CampaignError> {
        let places = self.returns(frames);
        let depth = moment.depth;
        self.with_places(places, &mut |_, at| Ok(at.depth < depth))
    }

    /// Goes on to an accepted one of these places, or to a breakpoint.
    fn with_places(
        &mut self,
        places: BTreeSet<DebugPlace>,
        accept: &mut dyn FnMut(&mut Inspector<'_>, &Moment) -> Result<bool, CampaignError>,
    ) -> Result<&RunPoint, CampaignError> {
        let own = self.breakpoints().clone();
        self.set_breakpoints(places.union(&own).copied().collect());
        let mut accept = |inspector: &mut Inspector<'_>, at: &Moment| {
            let is_own = at.stop.place.is_some_and(|place| own.contains(&place)) || at.stop.reason == StopReason::Watch;
            Ok(is_own || accept(inspector, at)?)
        };
        let found = self.go_on(&mut accept).map(|_| ());
        self.set_breakpoints(own.clone());
        found?;
        Ok(self.here())
    }

    /// Steps back: to where the run was before such a step, more or less: for lines, the first operator of the line before.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn step_back(&mut self, kind: StepKind) -> Result<&RunPoint, CampaignError> {
        let here = match self.here() {
            RunPoint::Ended(end) => end.position.0,
            at => at.position().0,
        };
        let Some(before) = here.checked_sub(1) else { return self.beginning() };
        let (moment, frames) = match (kind, self.here().moment().cloned()) {
            (StepKind::Over | StepKind::Out, Some(moment)) => {
                let frames = self.inspect().frames()?;
                (moment, frames)
            }
            // In what is called, if that was the last thing.
            _ => {
                self.go_to(Position(before))?;
                let Some(moment) = self.here().moment().cloned() else { return Ok(self.here()) };
                if kind == StepKind::Instruction {
                    return Ok(self.here());
                }
                let frames = self.inspect().frames()?;
                (moment, frames)
            }
        };
        // What was gone to is a candidate itself.
        let until = if moment.stop.position.0 < here { here } else { moment.stop.position.0 };
        let mut places: BTreeSet<DebugPlace> = frames.iter().skip(1).map(|frame| frame.place).collect();
        let mut depth = moment.depth;
        if kind == StepKind::Out {
            depth = depth.saturating_sub(1);
        } else {
            let Some(lines) = self.lines_of(&frames) else { return self.go_to(Position(before)) };
            places.extend(&lines.starts);
            for frame in frames.iter().skip(1) {
                places.extend(self.lines_of(std::slice::from_ref(frame)).into_iter().flat_map(|lines| lines.starts));
            }
        }
        let own = self.breakpoints().clone();
        self.set_breakpoints(places);
        let found = self.go_back_from(until, &mut |_, at| Ok(at.depth <= depth)).map(|_| ());
        self.set_breakpoints(own);
        found?;
        Ok(self.here())
    }

    /// Where the lines of the innermost frame's function begin.
    fn lines_of(&self, frames: &[StackEntry]) -> Option<FunctionLines> {
        let frame = frames.first()?;
        let function = self.code().function(frame.place, frame.function)?;
        let before = function.lines.iter().rev().find(|start| start.place <= frame.place);
        let line = before.map(|start: &LineStart| (start.file.clone(), start.line));
        let starts: BTreeSet<DebugPlace> = function.lines.iter().map(|start| start.place).collect();
        (!starts.is_empty()).then_some(FunctionLines { starts, line })
    }

    /// Where the callers go on.
    fn returns(&self, frames: &[StackEntry]) -> BTreeSet<DebugPlace> {
        frames.iter().skip(1).filter_map(|frame| self.code().behind(frame.place)).collect()
    }
}

struct FunctionLines {
    starts: BTreeSet<DebugPlace>,
    /// The line of the frame.
    line: Option<(String, u32)>,
}
