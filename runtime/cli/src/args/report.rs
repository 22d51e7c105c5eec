//! Arguments of `fozzy report`.

use clap::{Args, Subcommand, ValueEnum};

/// Reports of finished runs.
#[derive(Debug, Subcommand)]
pub(crate) enum ReportCommand {
    /// Show the report of a run or suite, in any format.
    Show(ReportShowArgs),
    /// Print one part of a report.
    Query(ReportQueryArgs),
    /// Compare runs that are expected to agree.
    Flaky(ReportFlakyArgs),
}

/// Exit code: 0, independent of the run's own; 2 when there is no such run, or its files are of different runs.
#[derive(Debug, Args)]
pub(crate) struct ReportShowArgs {
    /// A folder of a run, `latest`, `last-pass`, `last-fail`, a run id, or a trace.
    #[arg(value_name = "RUN_OR_TRACE")]
    pub(crate) run: String,
    /// Output format.
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    pub(crate) format: ReportFormatArg,
    /// Write it to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<std::path::PathBuf>,
    /// Have the page of a failed run say which decision made the failure likely, as `fozzy causality` does: the run is continued from many of its
    /// moments. With `--format html`.
    #[arg(long)]
    pub(crate) causality: bool,
    /// Have the page of a failed run say what goes with the failure, as `fozzy suspects` does, over this run and 100 seeds of its plan. With
    /// `--format html`.
    #[arg(long)]
    pub(crate) suspects: bool,
}

impl ReportShowArgs {
    /// What of a failure the page is to have, by the names of its flags.
    pub(crate) fn measured(&self) -> Vec<&'static str> {
        let flags = [("causality", self.causality), ("suspects", self.suspects)];
        flags.into_iter().filter(|(_, is_set)| *is_set).map(|(name, _)| name).collect()
    }
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ReportFormatArg {
    /// Text for people.
    Pretty,
    /// The document itself.
    Json,
    /// JUnit XML, one testcase for each scenario.
    Junit,
    /// One self-contained page.
    Html,
    /// Properties as the lines that the SDK of Antithesis writes.
    Antithesis,
}

impl ReportFormatArg {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            ReportFormatArg::Pretty => "pretty",
            ReportFormatArg::Json => "json",
            ReportFormatArg::Junit => "junit",
            ReportFormatArg::Html => "html",
            ReportFormatArg::Antithesis => "antithesis",
        }
    }
}

/// Exit code: 0; 2 when the path does not exist in the report.
#[derive(Debug, Args)]
pub(crate) struct ReportQueryArgs {
    /// A folder of a run, `latest`, `last-pass`, `last-fail`, a run id, or a trace.
    #[arg(value_name = "RUN_OR_TRACE")]
    pub(crate) run: String,
    /// The part: `.identity.seed`, `findings[0].title`, `.scenarios[].name`; or `runId`, `seed`, `tracePath`, `reportPath`,
    /// `artifactsDir`.
    #[arg(long, value_name = "PATH", required_unless_present = "list_paths")]
    pub(crate) path: Option<String>,
    /// Print all paths of the report.
    #[arg(long, conflicts_with = "path")]
    pub(crate) list_paths: bool,
}

/// Exit code: 0; 2 when more runs differ than the budget allows, or a run is named twice.
#[derive(Debug, Args)]
pub(crate) struct ReportFlakyArgs {
    /// At least two runs or traces.
    #[arg(value_name = "RUN_OR_TRACE", num_args = 2.., required = true)]
    pub(crate) runs: Vec<String>,
    /// Percentage of the runs that may differ from the most frequent outcome, such as 5 or 5%.
    #[arg(long, value_name = "PERCENT", value_parser = super::percentage)]
    pub(crate) flake_budget: Option<u8>,
}
