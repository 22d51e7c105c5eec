//! What one guest of a run compares, from its instantiation to its end.
//!
//! ```text
//! instance ─▶ log switched on │ turn, bytes that are drawn or read ─▶ what is logged is read out, the log has room again │ end ─▶ all
//! ```
//!
//! The log of a module has room for a few comparisons of each place, and of some thousand in all: a start-up fills it. What
//! is compared with what a guest was given comes after that was given, so that the log is emptied at these moments.
//!
//! Invariants: reading out changes nothing that the guest sees; memory is bounded by [`ENTRIES_MAX`].
//! Not here: how comparisons are logged (`fozzy-instrument`).

use crate::compile::program::Program;
use crate::memory;
use crate::run::memory_roles::InstanceMemories;
use fozzy_host::ComparisonLog;
use fozzy_instrument::{LoggedComparison, ModuleOrdinal};
use fozzy_trace::{CmpLogEntry, CmpLogSites, Digest};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Comparisons of one guest that are kept; later ones are left out.
const ENTRIES_MAX: usize = 1 << 17;
/// How often a log is emptied.
const READS_MAX: u32 = 1 << 10;

/// The log of one guest.
pub(crate) struct GuestComparisons {
    program: Program,
    state: Mutex<GuestComparisonsState>,
}

#[derive(Default)]
struct GuestComparisonsState {
    memories: InstanceMemories,
    entries: Vec<(ModuleOrdinal, LoggedComparison)>,
    reads: u32,
}

impl GuestComparisons {
    pub(crate) fn new(program: &Program) -> GuestComparisons {
        GuestComparisons { program: program.clone(), state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, GuestComparisonsState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds everything that was compared to `log`; `component` tells the places of different components apart.
    pub(crate) fn finish(&self, component: Option<Digest>, log: &mut Vec<CmpLogEntry>) {
        let mut state = self.lock();
        state.read_out();
        let component = component.map_or(0, |digest| u64::from(u16::from_le_bytes([digest.0[0], digest.0[1]])));
        let entries = std::mem::take(&mut state.entries);
        let first = log.len();
        self.program.resolve_comparisons(entries.into_iter(), CmpLogSites::All, log);
        log[first..].iter_mut().for_each(|entry| entry.site ^= component << 48);
    }
}

impl GuestComparisonsState {
    fn read_out(&mut self) {
        if self.reads >= READS_MAX || self.memories.sides.is_empty() {
            return;
        }
        self.reads += 1;
        let room = ENTRIES_MAX - self.entries.len();
        self.entries.extend(self.memories.comparisons().take(room));
        self.memories.log_comparisons(self.reads < READS_MAX && room > 0);
    }
}

impl ComparisonLog for GuestComparisons {
    fn begin(&self) {
        let mut state = self.lock();
        state.read_out();
        state.memories = InstanceMemories::apart(memory::created(), self.program.facts());
        state.memories.log_comparisons(true);
    }

    fn read_out(&self) {
        self.lock().read_out();
    }
}
