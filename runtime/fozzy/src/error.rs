//! What can go wrong, by whose fault it is.

use fozzy_campaign::{CampaignError, ErrorKind};
use fozzy_trace::HarnessError;

/// An error of this library. A program that fails is none: it is a [`Run`](crate::Run) with a failure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was given as a program cannot be run, or not in this way.
    #[error("{0}")]
    Program(String),
    /// A plan contradicts itself, or names what is not there.
    #[error("{0}")]
    Plan(String),
    /// A trace is damaged, of another version, or has no failure.
    #[error("{0}")]
    Trace(String),
    /// A file cannot be read or written.
    #[error("{0}")]
    File(String),
    /// This machine or fozzy itself failed; no verdict on the program follows from it.
    #[error("{0}")]
    Harness(String),
}

impl Error {
    /// An error of the crate below.
    pub(crate) fn of_campaign(error: CampaignError) -> Error {
        let text = error.to_string();
        match error.kind {
            ErrorKind::Target | ErrorKind::Build | ErrorKind::Scenario => Error::Program(text),
            ErrorKind::Plan | ErrorKind::Usage | ErrorKind::Config | ErrorKind::Dir | ErrorKind::Dictionary => {
                Error::Plan(text)
            }
            ErrorKind::Trace
            | ErrorKind::Bundle
            | ErrorKind::Replay
            | ErrorKind::Divergence
            | ErrorKind::Identity
            | ErrorKind::State
            | ErrorKind::Selector => Error::Trace(text),
            ErrorKind::Stdin
            | ErrorKind::Input
            | ErrorKind::Corpus
            | ErrorKind::Seeds
            | ErrorKind::Expect
            | ErrorKind::Suite
            | ErrorKind::Sources
            | ErrorKind::Store
            | ErrorKind::Artifacts
            | ErrorKind::Report
            | ErrorKind::Query
            | ErrorKind::Sarif
            | ErrorKind::Jobs
            | ErrorKind::Benchmark
            | ErrorKind::Gate
            | ErrorKind::History
            | ErrorKind::Init
            | ErrorKind::Man => Error::File(text),
            ErrorKind::Flaky
            | ErrorKind::Workers
            | ErrorKind::Engine
            | ErrorKind::Harness
            | ErrorKind::Interrupted
            | ErrorKind::Internal => Error::Harness(text),
        }
    }

    /// A failure of the machine.
    pub(crate) fn of_harness(error: HarnessError) -> Error {
        Error::Harness(error.what)
    }
}
