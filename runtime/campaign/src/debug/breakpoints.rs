//! Breakpoints and log points of a person in a terminal, and whether one of them stops the run.

use super::log_text::log_text;
use super::names::{self, SeenFrame};
use super::session::{Inspector, Moment};
use super::values::Programs;
use fozzy_engine::{DebugPlace, StopReason};
use std::collections::BTreeSet;

/// Texts of log points of one command. Further ones are counted.
const LOGGED_MAX: usize = 10_000;

pub(super) struct ConsoleBreakpoint {
    pub(super) number: u32,
    /// As it was asked for.
    pub(super) what: String,
    pub(super) places: BTreeSet<DebugPlace>,
    pub(super) condition: Option<String>,
    pub(super) is_temporary: bool,
    /// What it prints instead of stopping the run.
    pub(super) log: Option<String>,
    /// How often it was passed on the way forwards.
    pub(super) hits: u64,
}

/// What is watched: of one machine, if there was a moment when it was named.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchedBytes {
    /// First address and length.
    pub(super) range: (u32, u32),
    /// Whose memory it is.
    pub(super) machine: Option<u32>,
}

/// Asks the breakpoints at each place that is passed by a movement.
pub(super) struct BreakpointCheck<'a> {
    pub(super) points: &'a mut [ConsoleBreakpoint],
    pub(super) programs: &'a Programs,
    /// The machine whose memory is watched.
    watched_machine: Option<u32>,
    /// Hits are counted, and texts printed, on the way forwards only.
    pub(super) is_forward: bool,
    pub(super) logged: String,
    logged_count: usize,
}

impl BreakpointCheck<'_> {
    pub(super) fn new<'a>(
        points: &'a mut [ConsoleBreakpoint],
        programs: &'a Programs,
        watched: Option<WatchedBytes>,
        is_forward: bool,
    ) -> BreakpointCheck<'a> {
        let watched_machine = watched.and_then(|watched| watched.machine);
        BreakpointCheck { points, programs, watched_machine, is_forward, logged: String::new(), logged_count: 0 }
    }

    /// Whether the run stops here.
    pub(super) fn stops(&mut self, inspector: &mut Inspector<'_>, moment: &Moment) -> bool {
        if moment.stop.reason == StopReason::Watch {
            // Another machine has the same addresses in a memory of its own.
            return self.watched_machine.is_none_or(|machine| machine == moment.stop.machine.0);
        }
        let mut is_stop = false;
        let Some(place) = moment.stop.place else { return false };
        for point in self.points.iter_mut().filter(|point| point.places.contains(&place)) {
            // A condition that says nothing stops, so that nothing is missed.
            if !holds(point, self.programs, inspector, place).unwrap_or(true) {
                continue;
            }
            point.hits += u64::from(self.is_forward);
            match &point.log {
                None => is_stop = true,
                Some(text) if self.is_forward => {
                    self.logged_count += 1;
                    if self.logged_count <= LOGGED_MAX {
                        let seen = SeenFrame { frame: 0, inlined: 0, place };
                        let programs = self.programs;
                        let mut value = |expression: &str| {
                            let value = names::evaluate(programs, inspector, seen, expression);
                            value.map(|value| value.short).map_err(|error| error.message)
                        };
                        self.logged.push_str(&log_text(text, &mut value));
                    }
                }
                Some(_) => {}
            }
        }
        is_stop
    }

    /// What log points have said.
    pub(super) fn said(self) -> String {
        let more = self.logged_count.saturating_sub(LOGGED_MAX);
        let rest = if more > 0 { format!("{more} more texts of log points were left out\n") } else { String::new() };
        self.logged + &rest
    }
}

/// Whether the condition of a breakpoint holds at a place, or why it has no value.
pub(super) fn holds(
    point: &ConsoleBreakpoint,
    programs: &Programs,
    inspector: &mut Inspector<'_>,
    place: DebugPlace,
) -> Result<bool, String> {
    let Some(text) = &point.condition else { return Ok(true) };
    names::holds(programs, inspector, place, text).map_err(|error| error.message)
}
