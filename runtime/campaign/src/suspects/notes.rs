//! What is noted while a run is executed: its decisions, and what moves between its machines.
//!
//! ```text
//! RunNotes::of(session, plan) ─ source(beneath) ─▶ the run ─▶ things(execution): decision, message
//! ```
//!
//! Invariant: the run is what it would be without.

use super::decisions::{DecisionTap, NotedDecisions};
use super::messages::NotedMessages;
use fozzy_engine::Session;
use fozzy_report::MachineNames;
use fozzy_report::suspects::SuspectThing;
use fozzy_trace::{DecisionSource, Execution, Plan};
use std::sync::{Arc, Mutex, PoisonError};

/// The notes of one run.
pub(super) struct RunNotes {
    names: MachineNames,
    decisions: Arc<Mutex<NotedDecisions>>,
    messages: Arc<Mutex<NotedMessages>>,
}

impl RunNotes {
    /// Has the next run of a session noted. Its calls stay in its history: criteria are judged by them.
    pub(super) fn of(session: &mut Session, plan: &Plan) -> RunNotes {
        let messages = Arc::<Mutex<NotedMessages>>::default();
        let moved = Arc::clone(&messages);
        session.tell_activity(Box::new(move |it| moved.lock().unwrap_or_else(PoisonError::into_inner).activity(it)));
        RunNotes { names: MachineNames::of(plan), decisions: Arc::default(), messages }
    }

    /// The same source, of which is noted what it decides.
    pub(super) fn source(&self, beneath: Box<dyn DecisionSource>) -> Box<dyn DecisionSource> {
        Box::new(DecisionTap::new(beneath, Arc::clone(&self.decisions)))
    }

    /// What was noted of the run, and whether that is all.
    pub(super) fn things(&self, execution: &Execution) -> (Vec<SuspectThing>, bool) {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut things, is_whole) = messages.things(&self.names, &execution.history.entries, execution.ended_at);
        let decisions = self.decisions.lock().unwrap_or_else(PoisonError::into_inner);
        things.extend(decisions.things(&self.names));
        (things, is_whole && !decisions.is_cut())
    }
}
