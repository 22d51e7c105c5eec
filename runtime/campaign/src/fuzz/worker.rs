//! A worker of a campaign with several: a process that is told what it is by its environment, and tells how it goes on
//! its standard output.
//!
//! ```text
//! main ─ FOZZY_FUZZ_WORKER={"number":1,…} ─▶ worker        same command line
//!      ◀─ {"report":{…},"done":false} ────── worker        a line twice a second, at each finding, and at the end
//! ```
//!
//! Invariants: whatever a worker found is on the disk before it is told; one whose main process has gone ends.
//! Not here: who starts workers (`jobs`).

use super::summary::CampaignReport;
use crate::error::CampaignError;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::path::PathBuf;

/// The variable that makes a process a worker.
pub const VARIABLE: &str = "FOZZY_FUZZ_WORKER";

/// Which worker this is.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Worker {
    /// Where its randomness comes from: each has another stream of the seed.
    pub stream: u32,
    /// Executions after which it ends.
    pub runs: Option<u64>,
    /// The run's folder.
    pub folder: PathBuf,
}

/// What a worker tells.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Message {
    pub report: CampaignReport,
    /// Nothing comes after it.
    pub done: bool,
}

impl Worker {
    /// What this process is, if it is a worker.
    #[allow(clippy::disallowed_methods, reason = "told by our own main process; an execution never sees it")]
    pub fn here() -> Result<Option<Worker>, CampaignError> {
        let Some(text) = std::env::var_os(VARIABLE) else { return Ok(None) };
        let worker = serde_json::from_str(&text.to_string_lossy());
        worker.map(Some).map_err(|error| CampaignError::new("usage", format!("{VARIABLE}: {error}")))
    }

    /// Tells how it goes. `false` when nobody listens any more.
    pub fn tell(report: CampaignReport, done: bool) -> bool {
        let text = serde_json::to_string(&Message { report, done }).unwrap_or_default();
        let mut out = std::io::stdout().lock();
        out.write_all(format!("{text}\n").as_bytes()).and_then(|()| out.flush()).is_ok()
    }
}
