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
    /// Whether it has executed what was there before.
    pub(super) is_searching: bool,
    pub(super) is_complete: bool,
    pub(super) failure: Option<(String, bool)>,
}

/// When all shares were searched, and no longer executed what was there before.
#[derive(Debug, Default)]
pub struct SearchBegin(Option<u64>);

impl SearchBegin {
    /// Real time of the search at `now_ns`, by the same clock at each look; `None` before all of them have begun. Those that are given up
    /// are not waited for.
    pub fn searched_ns<P: WorkerProtocol>(&mut self, slots: &[WorkerSlot<P>], now_ns: u64) -> Option<u64> {
        let has_begun = |slot: &WorkerSlot<P>| slot.is_over() || slot.records.iter().any(|record| record.is_searching);
        if self.0.is_none() && slots.iter().all(has_begun) {
            self.0 = Some(now_ns);
        }
        self.0.map(|begun_ns| now_ns.saturating_sub(begun_ns))
    }
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
            is_searching: false,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::result::ExploreProtocol;

    #[test]
    fn the_search_begins_when_all_that_are_not_given_up_search() {
        let slot = |state: SlotState, is_searching: &[bool]| {
            let mut slot = WorkerSlot::<ExploreProtocol>::new(0, None);
            slot.state = state;
            slot.records.extend(is_searching.iter().map(|is_searching| WorkerRecord {
                stream: 0,
                progress: None,
                report: None,
                is_lost: false,
                is_ready: true,
                is_searching: *is_searching,
                is_complete: false,
                failure: None,
            }));
            slot
        };
        let waiting = || SlotState::Waiting { until: Duration::ZERO };
        let mut begin = SearchBegin::default();
        let replaying = [slot(waiting(), &[true]), slot(waiting(), &[false])];
        assert_eq!(begin.searched_ns(&replaying, 5), None);
        assert_eq!(begin.searched_ns(&[slot(waiting(), &[])], 6), None, "no process of it was started yet");
        // One process of a share has searched, and the one in its place replays again.
        let searching = [slot(waiting(), &[true, false]), slot(SlotState::Over, &[false])];
        assert_eq!([7, 9].map(|now_ns| begin.searched_ns(&searching, now_ns)), [Some(0), Some(2)]);
        assert_eq!(begin.searched_ns(&replaying, 10), Some(3), "it has begun once");
    }
}
