//! Flags of version 1 about profiles, which are accepted; none are made yet.

use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// What is captured of a run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Profiles")]
pub(crate) struct ProfileArgs {
    /// How much is kept beside the report: with `full`, the traces of passing runs too. Profiles are not made yet.
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
    /// Accepted for compatibility: profiles are not made yet.
    #[arg(long)]
    pub(crate) profile_regen: bool,
    /// Accepted for compatibility: profiles are not made yet.
    #[arg(long, value_name = "FORMAT", requires = "profile_export_out")]
    pub(crate) profile_export_format: Option<ProfileFormatArg>,
    /// Accepted for compatibility: profiles are not made yet.
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
