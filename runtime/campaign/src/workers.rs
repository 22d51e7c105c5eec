//! Worker processes of one campaign: started, followed, replaced and stopped by one supervisor.
//!
//! ```text
//! Supervisor ── FOZZY_WORKER={"slot":0,"stream":0,"runs":500,…} ──▶ worker: the same command line once more
//!            ── standard input: "stop\n"; end of file = the supervisor is gone ──▶
//!            ◀─ standard output: one WorkerEvent a line, as JSON ──
//!
//! slot 0   stream 0 ── killed ─▶ pause ─▶ stream 2 for the runs that are left ─▶ ended
//! slot 1   stream 1 ───────────────────────────────────────────────────────────▶ ended
//! ```
//!
//! A worker is a process, so that one that is killed takes nothing with it: what it found is on the disk before it is
//! reported. A *slot* is one share of the work; the processes that stand in it one after the other have *streams* of the
//! seed of their own.
//!
//! Invariants: the shares of the slots sum to the runs of the campaign, and so do the reported runs, also when workers
//! were replaced; no worker outlives its supervisor by more than [`ORPHAN_GRACE`]; replacements are bounded by
//! [`RESTARTS_MAX`], and each loss is an event.
//! Not here: what a worker does, how its reports are summed, and what is printed of them.

mod budget;
mod channel;
mod frame;
mod process;
mod slot;
mod supervisor;

pub use channel::{ORPHAN_GRACE, WorkerChannel, WorkerRoleError};
pub use process::own_command;
pub use slot::{SearchBegin, WorkerRecord, WorkerSlot};
pub use supervisor::{
    Direction, RESTARTS_MAX, STOP_GRACE, Supervisor, SupervisorEnd, SupervisorObserver, SupervisorReport, WorkerLoss,
};

use crate::error::{CampaignError, ErrorKind};
use fozzy_trace::Seed;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The environment variable that makes a process a worker: a [`WorkerRole`] as JSON.
pub const ROLE_VARIABLE: &str = "FOZZY_WORKER";

/// Whether this process is a worker: its standard input is its supervisor's life line, and no program's.
#[allow(clippy::disallowed_methods, reason = "written by this command itself; no execution sees it")]
#[must_use]
pub fn is_this_process() -> bool {
    std::env::var_os(ROLE_VARIABLE).is_some()
}

/// Bytes of one event, its end of line included. Ten thousand findings have fewer; a longer line is refused on both sides.
pub const EVENT_BYTES_MAX: usize = 16 << 20;

/// Which worker a process is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerRole {
    /// Which share of the work it has.
    pub slot: u32,
    /// Which stream of the seed it draws from; no two processes of a campaign have the same.
    pub stream: u32,
    /// Runs after which it ends; `None` when only the supervisor ends it.
    pub runs: Option<u64>,
    /// The campaign's seed: one that is drawn is drawn once, by the supervisor.
    pub seed: Seed,
    /// The folder that belongs to the workers of the campaign.
    pub folder: PathBuf,
}

/// What the workers of one kind of campaign report.
pub trait WorkerProtocol: 'static {
    /// Numbers, several times a second.
    type Progress: Serialize + DeserializeOwned + Clone + Send + 'static;
    /// A finding, once it is on the disk.
    type Finding: Serialize + DeserializeOwned + Send + 'static;
    /// What a worker came to.
    type Report: Serialize + DeserializeOwned + Send + 'static;

    /// The runs of the worker's share that were made.
    fn runs(progress: &Self::Progress) -> u64;
}

/// What a worker tells its supervisor.
#[derive(Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case", bound = "")]
pub enum WorkerEvent<P: WorkerProtocol> {
    /// It has prepared everything and begins to search. From the first of these on, the time of the campaign counts.
    Ready,
    /// It has executed what was there before, such as a corpus; what follows is its own search.
    Searching,
    /// How it goes.
    Progress {
        /// Since its start.
        progress: P::Progress,
    },
    /// It has found something.
    Found {
        /// What.
        finding: P::Finding,
    },
    /// It has come to its end; nothing follows.
    Ended {
        /// Its last numbers.
        progress: P::Progress,
        /// All that it came to.
        report: P::Report,
        /// `false` when a signal, and not the supervisor, asked it to stop before its time.
        complete: bool,
    },
    /// It cannot continue; nothing follows.
    Failed {
        /// Why, for people.
        message: String,
        /// Whether another one would fail alike: the disk takes nothing more.
        #[serde(default)]
        lasting: bool,
    },
}

/// Workers were lost that could not be replaced.
#[must_use]
pub fn failed_workers(why: &str) -> CampaignError {
    CampaignError::new(ErrorKind::Workers, why)
        .hint("what they found is kept; the log of the system names processes that it has killed for want of memory")
}
