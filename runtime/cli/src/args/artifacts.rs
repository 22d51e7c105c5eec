//! Arguments of `fozzy artifacts`.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Files of runs.
#[derive(Debug, Subcommand)]
pub(crate) enum ArtifactsCommand {
    /// List the files of a run.
    Ls(ArtifactsLsArgs),
    /// Compare two runs: files, reports, and the first decision and call in which their traces differ.
    Diff(ArtifactsDiffArgs),
    /// Copy the files of a run to a folder or a zip.
    Export(ArtifactsOutArgs),
    /// Export the files with a description of the tool and machine that made them.
    Pack(ArtifactsOutArgs),
    /// Write one file to share: the trace with its verification, a replay of it and its report. `fozzy replay` accepts it.
    Bundle(ArtifactsOutArgs),
}

/// Exit code: 0; 2 when there is no such run, or its files are of different runs.
#[derive(Debug, Args)]
pub(crate) struct ArtifactsLsArgs {
    /// A folder of a run, `latest`, `last-pass`, `last-fail`, a run id, or a trace.
    #[arg(value_name = "RUN_OR_TRACE")]
    pub(crate) run: String,
}

/// Exit code: 0, whether the runs differ or not; 2 when one of them cannot be read.
#[derive(Debug, Args)]
pub(crate) struct ArtifactsDiffArgs {
    /// A folder of a run, `latest`, `last-pass`, `last-fail`, a run id, or a trace.
    #[arg(value_name = "RUN_OR_TRACE")]
    pub(crate) left: String,
    /// The other run.
    #[arg(value_name = "RUN_OR_TRACE")]
    pub(crate) right: String,
}

/// Exit code: 0; 2 when the output cannot be written, or the run's files are damaged.
#[derive(Debug, Args)]
pub(crate) struct ArtifactsOutArgs {
    /// A folder of a run, `latest`, `last-pass`, `last-fail`, a run id, or a trace.
    #[arg(value_name = "RUN_OR_TRACE")]
    pub(crate) run: String,
    /// A folder, or a file that ends with `.zip`. Other files of an existing folder are kept.
    #[arg(long, value_name = "FOLDER_OR_ZIP")]
    pub(crate) out: PathBuf,
}
