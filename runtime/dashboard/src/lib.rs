//! The dashboard of a fleet: what its store says, as pages in a browser, while it works and afterwards.
//!
//! ```text
//! store ─▶ FleetView (fozzy-campaign) ─▶ documents ─┬─▶ routes: JSON, events, pages   ◀── guard: token, host, headers ◀── browser
//!                                                   └─▶ export: the same pages as files
//! a trace, a target ─▶ `fozzy report show`, `coverage`, `causality` …, a process of its own ─▶ its page, its document
//! ```
//!
//! Invariants: nothing is written but by `export`; it listens on loopback alone, and answers nobody without its token; pages take nothing from
//! elsewhere, and show every text of programs as text; a browser that does not read costs the fleet nothing; what a page needs of a program is
//! executed in another process.
//! Not here: what a store says (`fozzy-campaign`), and documents (`fozzy-report`).

mod assets;
mod changes;
mod executed;
mod export;
mod guard;
mod routes;
mod server;
mod source;
mod subject;
mod timed_stream;

pub use export::{ExportedSite, export};
pub use server::DashboardServer;
pub use source::DashboardSource;

/// What a dashboard cannot do.
#[derive(Debug, thiserror::Error)]
pub enum DashboardError {
    /// The port, most often.
    #[error("cannot listen on 127.0.0.1:{port}: {error}")]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// What the system says.
        error: std::io::Error,
    },
    /// A thread.
    #[error("cannot start the dashboard: {0}")]
    Start(std::io::Error),
    /// The store.
    #[error(transparent)]
    Store(#[from] fozzy_campaign::fleet::shared_store::SharedStoreError),
    /// A file of an export.
    #[error("cannot write {path}: {error}")]
    Write {
        /// Which.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
}
