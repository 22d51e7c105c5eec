//! Arguments about profiles: of the command that makes them, and flags of version 1 that are accepted.

use super::{HeapArgs, MinimizeArg};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use fozzy_campaign::maximize::CostMetric;
use fozzy_campaign::profile::{ProfileDomains, export_formats};
use fozzy_report::profile::{CostDirection, PROFILE_FORMATS, TIMELINE_FORMATS};
use fozzy_trace::Duration;
use std::path::{Path, PathBuf};

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
    /// Write the profile of the recorded run in this format, as `fozzy profile export` does.
    #[arg(long, value_name = "FORMAT", requires = "profile_export_out", conflicts_with = "against",
        value_parser = PossibleValuesParser::new(export_formats()))]
    pub(crate) profile_export_format: Option<String>,
    /// The file for --profile-export-format.
    #[arg(long, value_name = "PATH", requires = "profile_export_format")]
    pub(crate) profile_export_out: Option<PathBuf>,
}

impl ReplayProfileArgs {
    /// The format and the file of a profile, if one is asked for.
    pub(crate) fn export(&self) -> Option<(&str, &Path)> {
        Some((self.profile_export_format.as_deref()?, self.profile_export_out.as_deref()?))
    }
}

/// Profiles of recorded runs.
#[derive(Debug, Subcommand)]
pub(crate) enum ProfileCommand {
    /// List what costs most: instructions, virtual time, bytes, turns.
    Top(ProfileTopArgs),
    /// Show all call paths of a run, with the cost of each.
    Flame(ProfileFlameArgs),
    /// Show calls, waits and messages of all machines over virtual time.
    Timeline(ProfileTimelineArgs),
    /// Compare two runs, or two sets of runs.
    Diff(ProfileDiffArgs),
    /// Say what grew from one run to another, by which path of calls, and since which decision.
    Explain(ProfileExplainArgs),
    /// Write the profile of a run in the format of another tool.
    Export(ProfileExportArgs),
    /// Find the smallest run that costs as much: fewer steps and faults, simpler values.
    Shrink(ProfileShrinkArgs),
    /// Say what is measured, and how.
    Env,
    /// Check that the profiles of a run can be had, and balance.
    Doctor(ProfileDoctorArgs),
}

/// Executes the recorded run once more and counts, exactly. Without a flag, all domains that have something. Exit code: 0, or 2 when
/// what was executed is not the recorded run.
#[derive(Debug, Args)]
pub(crate) struct ProfileTopArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) domains: DomainArgs,
    /// Rows of each list.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) heap: HeapArgs,
}

/// What is measured.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DomainArgs {
    /// Instructions by function and line.
    #[arg(long)]
    cpu: bool,
    /// Blocks of the program's own heap by function and line.
    #[arg(long)]
    heap: bool,
    /// Virtual time by call of the host, waits by who was waited for, and the critical path across machines.
    #[arg(long)]
    latency: bool,
    /// Bytes and calls by file, connection and process.
    #[arg(long)]
    io: bool,
    /// Turns, switches and waits by machine and task.
    #[arg(long)]
    sched: bool,
}

impl From<DomainArgs> for ProfileDomains {
    fn from(DomainArgs { cpu, heap, latency, io, sched }: DomainArgs) -> ProfileDomains {
        ProfileDomains { cpu, heap, latency, io, sched }
    }
}

/// Without a flag, all domains. One run a side is compared exactly; of sets, what may be chance is told from what is none. Exit code: 0,
/// or 2 when one of them is not the recorded run any more.
#[derive(Debug, Args)]
pub(crate) struct ProfileDiffArgs {
    /// The run before, or several with commas between them: of the same seeds as on the other side, if that can be.
    pub(crate) left: String,
    /// The run after, or several.
    pub(crate) right: String,
    #[command(flatten)]
    pub(crate) domains: DomainArgs,
    /// Rows.
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: u64,
}

/// Exit code: 0, or 2 when one of them is not the recorded run any more.
#[derive(Debug, Args)]
pub(crate) struct ProfileExplainArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// The run before.
    #[arg(long, value_name = "RUN")]
    pub(crate) diff_with: Option<String>,
}

/// Exit code: 0, also when nothing is smaller; 2 when the recorded run is not repeated, or costs nothing.
#[derive(Debug, Args)]
pub(crate) struct ProfileShrinkArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// What a smaller run has to keep: `cpu_time` (instructions), `alloc_bytes`, `p99_latency` (of the steps), `latency` (virtual time
    /// of the run), or `calls:NAME`.
    #[arg(long, value_name = "METRIC")]
    pub(crate) metric: CostMetric,
    /// `increase`: it costs at least as much as --keep says. `decrease`: at most.
    #[arg(long, value_name = "DIRECTION", default_value = "increase")]
    pub(crate) direction: DirectionArg,
    /// How much of the cost stays, in percent; with `decrease`, it may be as many percent more as this is less than 100.
    #[arg(long, value_name = "PERCENT", default_value_t = 90, value_parser = clap::value_parser!(u64).range(1..=100))]
    pub(crate) keep: u64,
    /// The budget of real time; the smallest run found until then is kept.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = Duration::parse)]
    pub(crate) budget: Duration,
    /// What to shrink: `input` is steps, values and standard input; `schedule` the order of turns; `faults` the planned faults.
    #[arg(long, value_name = "WHAT", default_value = "all")]
    pub(crate) minimize: MinimizeArg,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the help shows this text as it is")]
    /// The trace of the smallest run [default: `<stem>.min.fozzy`, beside the trace]
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
}

/// From which side a cost is held.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum DirectionArg {
    Increase,
    Decrease,
}

impl From<DirectionArg> for CostDirection {
    fn from(direction: DirectionArg) -> CostDirection {
        match direction {
            DirectionArg::Increase => CostDirection::Increase,
            DirectionArg::Decrease => CostDirection::Decrease,
        }
    }
}

/// Exit code: 0, or 1 when a check failed.
#[derive(Debug, Args)]
pub(crate) struct ProfileDoctorArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// Make each profile twice, and compare them.
    #[arg(long)]
    pub(crate) deep: bool,
}

/// Exit code: 0, or 2 when what was counted is not the recorded run.
#[derive(Debug, Args)]
pub(crate) struct ProfileFlameArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// Instructions (the default).
    #[arg(long, conflicts_with = "heap")]
    pub(crate) cpu: bool,
    /// Bytes that were allocated.
    #[arg(long)]
    pub(crate) heap: bool,
    /// The format of the graph.
    #[arg(long, value_name = "FORMAT", default_value = "folded", value_parser = PossibleValuesParser::new(graphs()))]
    pub(crate) format: String,
    /// Write it to this file.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) allocators: HeapArgs,
}

/// Exit code: 0, or 2 when what was executed is not the recorded run.
#[derive(Debug, Args)]
pub(crate) struct ProfileTimelineArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) run: String,
    /// `html` is a page that stands alone; `chrome` is read by Perfetto and other trace viewers.
    #[arg(long, value_name = "FORMAT", default_value = "json", value_parser = PossibleValuesParser::new(TIMELINE_FORMATS))]
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
    /// The format. `massif` and `dhat` are of the heap, `callgrind` is of instructions; `chrome` (for Perfetto), `firefox`, `otlp` (JSON) and
    /// `otlp-protobuf` show the run over its virtual time.
    #[arg(long, value_name = "FORMAT", value_parser = PossibleValuesParser::new(export_formats()))]
    pub(crate) format: String,
    /// The heap, and not instructions.
    #[arg(long)]
    pub(crate) heap: bool,
    /// The file to write.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) allocators: HeapArgs,
}

/// Formats that people look at.
fn graphs() -> impl Iterator<Item = &'static str> {
    PROFILE_FORMATS.iter().filter(|row| row.is_graph).map(|row| row.name)
}
