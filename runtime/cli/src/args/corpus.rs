//! Arguments of `fozzy corpus`.

use clap::{Args, Subcommand};
use fozzy_trace::Duration;
use std::path::PathBuf;

/// Corpora: folders of input files.
#[derive(Debug, Subcommand)]
pub(crate) enum CorpusCommand {
    /// List the inputs of a corpus.
    List(CorpusListArgs),
    /// Add an input; its name is derived from its content.
    Add(CorpusAddArgs),
    /// Remove duplicate inputs and, with --target, inputs that add no coverage.
    Minimize(CorpusMinimizeArgs),
    /// Write all inputs as one zip.
    Export(CorpusExportArgs),
    /// Add the inputs of a zip.
    Import(CorpusImportArgs),
}

/// Exit code: 0; 2 when the path is not a folder.
#[derive(Debug, Args)]
pub(crate) struct CorpusListArgs {
    /// The folder.
    pub(crate) dir: PathBuf,
}

/// Exit code: 0; 2 when the file cannot be read or written.
#[derive(Debug, Args)]
pub(crate) struct CorpusAddArgs {
    /// The folder; it is created if missing.
    pub(crate) dir: PathBuf,
    /// The input.
    pub(crate) file: PathBuf,
}

/// Without --target only duplicates are removed. Exit code: 0; 2 when an input cannot be read or executed; then nothing is removed.
#[derive(Debug, Args)]
pub(crate) struct CorpusMinimizeArgs {
    /// The folder. Files whose names begin with a dot, and traces, are ignored.
    pub(crate) dir: PathBuf,
    /// The program that gets each input, any target of `run`: as standard input, or by the entry point that `fozzy fuzz` selects.
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) given: InputArgs,
    /// The budget of real time; inputs that were not executed within it are kept. Without --target none are executed.
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
    pub(crate) budget: Option<Duration>,
    /// Copy the remaining inputs to this new or empty folder, and remove nothing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS", requires = "target")]
    pub(crate) args: Vec<String>,
}

/// Where an input goes, and under which plan.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct InputArgs {
    /// Inputs are a file of this absolute path on the virtual disk instead.
    #[arg(long, value_name = "PATH", requires = "target")]
    pub(crate) input_file: Option<String>,
    /// Inputs are the program's last argument instead, as text.
    #[arg(long, requires = "target", conflicts_with = "input_file")]
    pub(crate) input_arg: bool,
    /// Inputs are requests for its `wasi:http/incoming-handler`, as `fozzy fuzz --http` keeps them.
    #[arg(long, requires = "target", conflicts_with_all = ["input_file", "input_arg", "function"])]
    pub(crate) http: bool,
    /// The fuzz target, property or exported function that gets the inputs [default: all fuzz targets]; `stateful` for the
    /// sequences of a scenario.
    #[arg(long, value_name = "NAME", requires = "target", conflicts_with_all = ["input_file", "input_arg"])]
    pub(crate) function: Option<String>,
    /// The plan under which inputs are executed, as for `run`.
    #[arg(long, value_name = "PATH", requires = "target")]
    pub(crate) plan: Option<PathBuf>,
}

/// Exit code: 0; 2 when the zip cannot be written, or a name is not portable.
#[derive(Debug, Args)]
pub(crate) struct CorpusExportArgs {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// The zip: equal inputs give equal bytes.
    #[arg(long, value_name = "ZIP")]
    pub(crate) out: PathBuf,
}

/// Exit code: 0; 2 when the zip is not as `corpus export` writes it, or a file exists already with other bytes; then nothing
/// is written.
#[derive(Debug, Args)]
pub(crate) struct CorpusImportArgs {
    /// The zip.
    pub(crate) zip: PathBuf,
    /// The folder; it is created if missing.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}
