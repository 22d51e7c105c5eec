//! Saves the state of a running exploration, so that one that is killed can be continued.
//!
//! Invariant: saving takes a bounded part of the time.
//! Not here: what a state is (`state`).

use super::state::StateFile;
use crate::error::CampaignError;
use fozzy_search::explore::SavedProgress;

/// Between two states that are kept, and between one and the first after a finding.
const SAVE_EVERY_NS: u64 = 5_000_000_000;
const SAVE_FOUND_NS: u64 = 1_000_000_000;
/// Keeping the state takes one part in this many of the time, at the most.
const SAVE_SHARE: u64 = 20;

/// Saves the state of a running exploration.
#[derive(Debug, Default)]
pub struct StateSaver {
    /// `None` when the state is not saved.
    pub file: Option<StateFile>,
    saved_ns: u64,
    took_ns: u64,
    /// Findings in what was saved.
    findings: u64,
}

impl StateSaver {
    /// Keeps it in that file.
    pub fn new(file: Option<StateFile>) -> StateSaver {
        StateSaver { file, ..StateSaver::default() }
    }

    /// Whether it is to be saved: every few seconds, and soon after a finding; seldom where that takes long.
    fn is_due(&self, now_ns: u64, findings: u64) -> bool {
        let wait = if findings > self.findings { SAVE_FOUND_NS } else { SAVE_EVERY_NS };
        self.file.is_some() && now_ns - self.saved_ns >= wait.max(SAVE_SHARE * self.took_ns)
    }

    /// Saves it if that is due: the numbers of runs, steps and findings, and what it is continued from.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save(
        &mut self,
        elapsed_ns: &dyn Fn() -> u64,
        done: (u64, u64),
        findings: u64,
        progress: &dyn Fn() -> SavedProgress,
    ) -> Result<(), CampaignError> {
        if self.file.is_none() {
            return Ok(());
        }
        let now = elapsed_ns();
        if !self.is_due(now, findings) {
            return Ok(());
        }
        let progress = progress();
        if let Some(file) = &self.file {
            file.write(done, progress)?;
        }
        self.findings = findings;
        self.saved_ns = elapsed_ns();
        self.took_ns = self.saved_ns - now;
        Ok(())
    }
}
