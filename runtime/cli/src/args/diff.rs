//! Flags of `fozzy diff`.

use super::{LimitArgs, WorldArgs};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use fozzy_campaign::inputs::InputOptions;
use fozzy_report::diff::RunAspect;
use fozzy_trace::plan::{FLOWS_MAX, SEQUENCES_MAX};
use std::path::PathBuf;

/// Runs two programs under the same plan and the same decisions, and shows the first difference of what they do. Exit code: 0 equal, 1 different,
/// 2 error.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// The program before: any target of `run` but a plan file.
    pub(crate) old: PathBuf,
    /// The program after.
    pub(crate) new: PathBuf,
    /// The seeds of the runs: FROM..TO, both included, or how many from 0 on.
    #[arg(long, value_name = "N|FROM..TO", default_value = "1", conflicts_with_all = ["corpus", "runs", "exploration"])]
    pub(crate) seeds: String,
    /// Give both programs each input of this folder, such as a corpus of `fozzy fuzz`, instead: to their fuzz targets, or as standard input.
    #[arg(long, value_name = "DIR", conflicts_with = "runs")]
    pub(crate) corpus: Option<PathBuf>,
    /// The fuzz target, property or exported function that gets the inputs [default: all fuzz targets]
    #[arg(long, value_name = "NAME", requires = "corpus")]
    pub(crate) function: Option<String>,
    /// Inputs are a file of this absolute path on the virtual disk instead.
    #[arg(long, value_name = "PATH", requires = "corpus", conflicts_with = "function")]
    pub(crate) input_file: Option<String>,
    /// Inputs are the program's last argument instead, as text.
    #[arg(long, requires = "corpus", conflicts_with_all = ["function", "input_file"])]
    pub(crate) input_arg: bool,
    /// Run both programs under the plan and the decisions of a recorded run instead; repeatable: a trace, a run's folder or id, or one of latest,
    /// last-pass, last-fail.
    #[arg(long = "run", value_name = "RUN", conflicts_with_all = ["WorldArgs", "HeapArgs", "LimitArgs", "timeout", "fuel", "mem_limit_mb", "output_limit", "sequences", "flows", "args"])]
    pub(crate) runs: Vec<String>,
    /// Run both programs under the decisions of each run that an exploration of OLD has kept instead: what `fozzy explore OLD --save-state FILE`
    /// has written, under the same plan.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["corpus", "runs", "sequences", "flows"])]
    pub(crate) exploration: Option<PathBuf>,
    /// What may differ. A write to an output is a call too.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = aspects())]
    pub(crate) ignore: Vec<RunAspect>,
    /// A regular expression of texts that may differ: in each line of output, in messages, in names of properties, in arguments and answers of
    /// calls; repeatable.
    #[arg(long, value_name = "PATTERN")]
    pub(crate) mask: Vec<String>,
    /// End at the first case that differs.
    #[arg(long)]
    pub(crate) until_difference: bool,
    /// Write both recordings of the first case that differs to this folder, as old.fozzy and new.fozzy, instead of the run store.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Sequences of a scenario [default: 10; 1 beside other machines]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(SEQUENCES_MAX)), conflicts_with = "corpus")]
    pub(crate) sequences: Option<u32>,
    /// Flows in each sequence of a scenario [default: 100]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=i64::from(FLOWS_MAX)), conflicts_with = "corpus")]
    pub(crate) flows: Option<u32>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Arguments of both programs.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

impl DiffArgs {
    pub(crate) fn given(&self) -> InputOptions {
        InputOptions {
            input_file: self.input_file.clone(),
            input_arg: self.input_arg,
            http: false,
            function: self.function.clone(),
        }
    }
}

fn aspects() -> impl TypedValueParser<Value = RunAspect> {
    PossibleValuesParser::new(RunAspect::ALL.map(RunAspect::name)).map(|name| {
        let found = RunAspect::ALL.into_iter().find(|aspect| aspect.name() == name);
        found.expect("the parser has the names of the list")
    })
}
