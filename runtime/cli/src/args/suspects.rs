//! Flags of `fozzy suspects`.

use super::{LimitArgs, SizeArgs, WorldArgs};
use clap::Args;
use fozzy_campaign::inputs::InputOptions;
use fozzy_campaign::suspects::SuspectCorpus;
use std::path::PathBuf;

/// Executes a program with many seeds, or the inputs of a corpus, and ranks what goes with its failure: lines and branches of its own code, faults, flows, properties, calls,
/// lines of output, decisions and messages, by how many failing and passing runs have them. Exit code: 0, 2 error - also when no run fails, or none passes -, 130 interrupted.
#[derive(Debug, Args)]
pub(crate) struct SuspectsArgs {
    /// The program: any target of `run`. Lines need debug information.
    pub(crate) target: PathBuf,
    /// The seeds of the runs: FROM..TO, both included, or A,B,C, or how many from 0 on; at most 10,000.
    #[arg(long, value_name = "N|FROM..TO|A,B", default_value = "100")]
    pub(crate) seeds: String,
    /// Execute the program with each input of this folder instead, such as a corpus of `fozzy fuzz`, and each trace of it there; repeatable, so
    /// that inputs that pass may stand in one folder and failures in another.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["seeds", "SizeArgs"])]
    pub(crate) corpus: Vec<PathBuf>,
    /// Execute this recorded run, too, such as the failure that is looked into; that of one of the seeds counts once; repeatable: a trace, a run's folder or
    /// id, or one of latest, last-pass, last-fail.
    #[arg(long = "run", value_name = "RUN")]
    pub(crate) recorded: Vec<String>,
    /// The fuzz target, property or exported function that gets the inputs [default: the only one]
    #[arg(long, value_name = "NAME", requires = "corpus")]
    pub(crate) function: Option<String>,
    /// Inputs are a file of this absolute path on the virtual disk instead.
    #[arg(long, value_name = "PATH", requires = "corpus", conflicts_with = "function")]
    pub(crate) input_file: Option<String>,
    /// Inputs are the program's last argument instead, as text.
    #[arg(long, requires = "corpus", conflicts_with_all = ["function", "input_file"])]
    pub(crate) input_arg: bool,
    /// Inputs are requests for its `wasi:http/incoming-handler`, as `fozzy fuzz --http` keeps them.
    #[arg(long, requires = "corpus", conflicts_with_all = ["function", "input_file", "input_arg"])]
    pub(crate) http: bool,
    /// The failure that is looked into, by a part of its signature [default: the most frequent one]
    #[arg(long, value_name = "TEXT")]
    pub(crate) failure: Option<String>,
    /// Code that is the project's own, by paths of sources or names of functions; repeatable [default: what is neither a toolchain's nor a
    /// dependency's]
    #[arg(long, value_name = "PATTERN")]
    pub(crate) own: Vec<String>,
    /// Suspects that are shown, up to 100.
    #[arg(long, value_name = "N", default_value_t = 15)]
    pub(crate) limit: usize,
    /// Runs that are executed in parallel. The results do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    #[command(flatten)]
    pub(crate) size: SizeArgs,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

impl SuspectsArgs {
    /// What is executed instead of seeds.
    pub(crate) fn corpus(&self) -> Option<SuspectCorpus> {
        let options = InputOptions {
            input_file: self.input_file.clone(),
            input_arg: self.input_arg,
            http: self.http,
            function: self.function.clone(),
        };
        (!self.corpus.is_empty()).then(|| SuspectCorpus { folders: self.corpus.clone(), options })
    }
}
