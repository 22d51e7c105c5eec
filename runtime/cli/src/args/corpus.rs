//! Arguments of `fozzy corpus`.

use clap::{Args, Subcommand};
use fozzy_trace::Duration;
use std::path::PathBuf;

/// Corpora: folders of which each file is an input.
#[derive(Debug, Subcommand)]
pub(crate) enum CorpusCommand {
    /// List the inputs of a corpus.
    List(CorpusListArgs),
    /// Add an input, named by its content.
    Add(CorpusAddArgs),
    /// Remove inputs of which there is another copy and, with a program, those without which the others reach all the same edges.
    Minimize(CorpusMinimizeArgs),
    /// Write all inputs as one zip.
    Export(CorpusExportArgs),
    /// Add the inputs of a zip.
    Import(CorpusImportArgs),
}

/// Exit code: 0; 2 when it is no folder.
#[derive(Debug, Args)]
pub(crate) struct CorpusListArgs {
    /// The folder.
    pub(crate) dir: PathBuf,
}

/// Exit code: 0; 2 when the file cannot be read or kept.
#[derive(Debug, Args)]
pub(crate) struct CorpusAddArgs {
    /// The folder; it need not exist.
    pub(crate) dir: PathBuf,
    /// The input.
    pub(crate) file: PathBuf,
}

/// Without a target only copies are removed. Exit code: 0; 2 when an input cannot be read or executed, and then nothing was removed.
#[derive(Debug, Args)]
pub(crate) struct CorpusMinimizeArgs {
    /// The folder. Files whose names begin with a dot, and traces, are left as they are.
    pub(crate) dir: PathBuf,
    /// The program that is given each input, any target of `run`: standard input, or what `fozzy fuzz` calls by itself.
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) given: InputArgs,
    /// Real time that executing may take; inputs that it was not enough for stay.
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse, requires = "target")]
    pub(crate) budget: Option<Duration>,
    /// Copy what would stay to this folder, which is new or empty, and remove nothing.
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
    /// Which fuzz target, property or exported function inputs are for, if not for all fuzz targets; `stateful` for the
    /// sequences of a scenario.
    #[arg(long, value_name = "NAME", requires = "target", conflicts_with_all = ["input_file", "input_arg"])]
    pub(crate) function: Option<String>,
    /// The plan under which inputs are executed, a file as of `run`.
    #[arg(long, value_name = "PATH", requires = "target")]
    pub(crate) plan: Option<PathBuf>,
}

/// Exit code: 0; 2 when it cannot be written, or a name cannot be had on another machine.
#[derive(Debug, Args)]
pub(crate) struct CorpusExportArgs {
    /// The folder.
    pub(crate) dir: PathBuf,
    /// The zip: equal inputs give equal bytes.
    #[arg(long, value_name = "ZIP")]
    pub(crate) out: PathBuf,
}

/// Exit code: 0; 2 when the zip is not as `corpus export` writes it, or a file is there already with other bytes; nothing was
/// written then.
#[derive(Debug, Args)]
pub(crate) struct CorpusImportArgs {
    /// The zip.
    pub(crate) zip: PathBuf,
    /// The folder; it need not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
}
