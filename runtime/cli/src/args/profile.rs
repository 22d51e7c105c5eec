//! Arguments about profiles: of the command that makes them, and flags of version 1 that are accepted.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use fozzy_report::profile::PROFILE_FORMATS;
use std::path::PathBuf;

/// What is captured of a run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Profiles")]
pub(crate) struct ProfileArgs {
    /// How much is kept beside the report: with `full`, the traces of passing runs too. `fozzy profile` makes the profile of any trace.
    #[arg(long, value_name = "LEVEL")]
    pub(crate) profile_capture: Option<CaptureArg>,
}

/// How much is captured.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum CaptureArg {
    Baseline,
    Full,
}

impl ProfileArgs {
    /// Whether all is kept that a run leaves.
    pub(crate) fn is_full(&self) -> bool {
        self.profile_capture == Some(CaptureArg::Full)
    }
}

/// What is made of a replay.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Profiles")]
pub(crate) struct ReplayProfileArgs {
    #[command(flatten)]
    pub(crate) capture: ProfileArgs,
    /// Accepted for compatibility, without an effect: `fozzy profile` makes the profile of any trace.
    #[arg(long)]
    pub(crate) profile_regen: bool,
    /// Accepted for compatibility, without an effect: `fozzy profile` makes the profile of any trace.
    #[arg(long, value_name = "FORMAT", requires = "profile_export_out")]
    pub(crate) profile_export_format: Option<ProfileFormatArg>,
    /// Accepted for compatibility, without an effect: `fozzy profile` makes the profile of any trace.
    #[arg(long, value_name = "PATH")]
    pub(crate) profile_export_out: Option<PathBuf>,
}

/// Formats of profiles.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ProfileFormatArg {
    Speedscope,
    Pprof,
    Otlp,
}

impl ReplayProfileArgs {
    /// The flag that asks for a profile, if one does.
    pub(crate) fn asks(&self) -> Option<&'static str> {
        let given = [
            ("--profile-export-format", self.profile_export_format.is_some()),
            ("--profile-export-out", self.profile_export_out.is_some()),
            ("--profile-regen", self.profile_regen),
        ];
        given.iter().find(|(_, given)| *given).map(|(flag, _)| *flag)
    }
}

/// Profiles of recorded runs.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List the functions and lines that cost most.
    Top(ProfileTopArgs),
    /// Show all call paths of a run, with the cost of each.
    Flame(ProfileFlameArgs),
    /// Write the profile of a run in the format of another tool.
    Export(ProfileExportArgs),
}

/// Executes the recorded run once more and counts its instructions, exactly. Exit code: 0, or 2 when that is not the recorded run.
#[derive(Debug, Args)]
pub(crate) struct ProfileTopArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// Instructions by function and line (the default, and the only profile so far).
    #[arg(long)]
    pub(crate) cpu: bool,
    /// Rows of each list.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: u64,
}

/// Exit code: 0, or 2 when what was counted is not the recorded run.
#[derive(Debug, Args)]
pub(crate) struct ProfileFlameArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// Instructions (the default, and the only profile so far).
    #[arg(long)]
    pub(crate) cpu: bool,
    /// The format of the graph.
    #[arg(long, value_name = "FORMAT", default_value = "folded", value_parser = PossibleValuesParser::new(graphs()))]
    pub(crate) format: String,
    /// Write it to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// Exit code: 0, or 2 when what was counted is not the recorded run.
#[derive(Debug, Args)]
pub(crate) struct ProfileExportArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// The format.
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(PROFILE_FORMATS.iter().map(|row| row.name)))]
    pub(crate) format: String,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

/// Formats that people look at.
fn graphs() -> impl Iterator<Item = &'static str> {
    PROFILE_FORMATS.iter().filter(|row| row.is_graph).map(|row| row.name)
}
