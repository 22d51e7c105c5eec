//! One share of the work, and the processes that have had it, one after the other.
//!
//! Invariant: at most one of them runs; the runs of all of them together are at most the share.

use super::WorkerProtocol;
use super::process::WorkerProcess;
use std::time::Duration;

/// One share of the work.
pub struct WorkerSlot<P: WorkerProtocol> {
    number: u32,
    /// Runs of all processes of the slot together.
    share: Option<u64>,
    records: Vec<WorkerRecord<P>>,
    pub(super) state: SlotState,
}

/// What one process has reported.
pub struct WorkerRecord<P: WorkerProtocol> {
    /// Its stream of the seed.
    pub stream: u32,
    /// Its last numbers.
    pub progress: Option<P::Progress>,
    /// What it came to; `None` while it runs, and when it was lost before its end.
    pub report: Option<P::Report>,
    /// Whether it ended before its time.
    pub is_lost: bool,
    pub(super) is_ready: bool,
    pub(super) is_complete: bool,
    pub(super) failure: Option<(String, bool)>,
}

/// Whether a slot is worked on.
pub(super) enum SlotState {
    Running {
        process: WorkerProcess,
        /// Whether all that it wrote has been read.
        is_read: bool,
        /// When it was seen to have ended.
        ended_at: Option<Duration>,
        /// When it is killed, unless it has ended.
        deadline: Option<Duration>,
    },
    /// Until the next process is started.
    Waiting {
        until: Duration,
    },
    Over,
}

impl<P: WorkerProtocol> WorkerSlot<P> {
    pub(super) fn new(number: u32, share: Option<u64>) -> WorkerSlot<P> {
        WorkerSlot { number, share, records: Vec::new(), state: SlotState::Waiting { until: Duration::ZERO } }
    }

    /// Which one, from 0.
    #[must_use]
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Of each process that has had this share, what it reported; the last one may still run.
    #[must_use]
    pub fn records(&self) -> &[WorkerRecord<P>] {
        &self.records
    }

    /// The runs that were reported.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.records.iter().filter_map(|record| record.progress.as_ref()).map(P::runs).sum()
    }

    /// The runs that are left; `None` when they are not bounded.
    pub(super) fn runs_left(&self) -> Option<u64> {
        self.share.map(|share| share.saturating_sub(self.runs()))
    }

    /// A process begins with what is left.
    pub(super) fn begin(&mut self, stream: u32, process: WorkerProcess) {
        self.records.push(WorkerRecord {
            stream,
            progress: None,
            report: None,
            is_lost: false,
            is_ready: false,
            is_complete: false,
            failure: None,
        });
        self.state = SlotState::Running { process, is_read: false, ended_at: None, deadline: None };
    }

    pub(super) fn record_mut(&mut self, stream: u32) -> Option<&mut WorkerRecord<P>> {
        self.records.iter_mut().find(|record| record.stream == stream)
    }

    pub(super) fn last_mut(&mut self) -> Option<&mut WorkerRecord<P>> {
        self.records.last_mut()
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.state, SlotState::Over)
    }
}
