//! The state of an execution at one moment: the execution runs up to there, and stops.
//!
//! ```text
//! source ─▶ calls 0 1 2 3 │ not answered any more ─▶ Look { the computer, history, each guest's stack and memory }
//! ```
//!
//! Invariants: up to the moment, the run is that of the whole execution; no guest runs after it.
//! Not here: what is shown of it (`fozzy-report`).

use crate::memory::Region;
use crate::run::schedule::{self, GuestEnd, ScheduleOutcome};
use crate::run::session::{Session, memory_digest};
use fozzy_host::Run;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{
    DecisionSource, Digest, ExecutionEnd, HarnessError, History, HistoryWindow, NodeId, Recorder, StopPoint,
};
use fozzy_world::World;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An execution at a moment.
pub struct ExecutionView {
    /// How the target ended, when it did so before.
    pub end: Option<ExecutionEnd>,
    /// The computer.
    pub world: World,
    /// What has happened.
    pub history: History,
    /// The machines whose guests are there, or have left something behind.
    pub guests: BTreeMap<NodeId, GuestView>,
}

/// What a guest is at that moment.
pub struct GuestView {
    /// Its stack, innermost first, if its call reached the moment.
    pub stack: Vec<StackFrame>,
    memories: Vec<Arc<Region>>,
}

impl GuestView {
    /// Bytes of its memories.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        self.memories.iter().map(|region| region.bytes().len() as u64).sum()
    }

    /// What stands in them, as an execution tells it at its end.
    #[must_use]
    pub fn memory(&self) -> Digest {
        memory_digest(&self.memories)
    }

    /// So many bytes of its first memory, which is that of the program itself; `None` beyond its end.
    #[must_use]
    pub fn read(&self, address: u64, length: u64) -> Option<Vec<u8>> {
        let (from, to) = (usize::try_from(address).ok()?, usize::try_from(address.checked_add(length)?).ok()?);
        self.memories.first()?.bytes().get(from..to).map(<[u8]>::to_vec)
    }
}

impl From<GuestEnd> for GuestView {
    fn from(ended: GuestEnd) -> GuestView {
        GuestView { stack: ended.backtrace, memories: ended.memories }
    }
}

impl Session {
    /// Executes up to `until`, or to the end if that comes first.
    ///
    /// # Errors
    /// When the execution fails for reasons of the machine.
    pub fn look(
        &mut self,
        source: Box<dyn DecisionSource>,
        until: StopPoint,
        keep: HistoryWindow,
    ) -> Result<ExecutionView, HarnessError> {
        let recorder = Recorder::new(keep).streaming(self.take_sink());
        let run = Run::new(self.start().clone(), source, recorder, self.take_tee()).until(Some(until));
        let (run, ended) = schedule::run(self, Box::new(run));
        let ScheduleOutcome { main, others, .. } = ended?;
        let mut run = run.expect("only an interruption leaves it with a guest");
        let end = main.end.clone();
        let mut guests: BTreeMap<NodeId, GuestView> =
            others.into_iter().map(|(node, ended)| (node, ended.into())).collect();
        guests.insert(NodeId(0), main.into());
        let world = run.looked.take().map_or(run.world, |world| *world);
        Ok(ExecutionView { end, world, history: run.recorder.finish(), guests })
    }
}
