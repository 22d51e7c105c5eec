//! Arguments of `fozzy map`.

use clap::{Args, Subcommand, ValueEnum};
use fozzy_campaign::map::{CorpusOptions, EvidenceOptions, MapProfile, ShrinkPolicy, SuitesOptions};
use std::path::PathBuf;

/// Maps of a project.
#[derive(Debug, Subcommand)]
pub(crate) enum MapCommand {
    /// List the functions that ask most for tests, and why.
    Hotspots(MapHotspotsArgs),
    /// Show the programs, what they import and export, and what of it ran.
    Services(MapServicesArgs),
    /// Show which scenario covers what, what none covers, and which scenarios a change needs.
    Suites(MapSuitesArgs),
}

/// What ran.
#[derive(Clone, Debug, Args)]
pub(crate) struct EvidenceArgs {
    /// The folder that paths of sources count from, and whose git history counts.
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) root: PathBuf,
    /// The folder with the scenarios [default: what `fozzy test` takes, and all below `tests`]
    #[arg(long, value_name = "DIR")]
    pub(crate) scenario_root: Option<PathBuf>,
    /// A folder of inputs, such as a corpus of `fozzy fuzz`, and the program that gets each of them: together they count as one scenario. With
    /// `#FUNCTION` that fuzz target, property or exported function of the program gets them [default: all fuzz targets, or standard input]
    #[arg(long = "corpus", value_name = "DIR=TARGET[#FUNCTION]", value_parser = corpus)]
    pub(crate) corpora: Vec<CorpusOptions>,
    /// A recorded run beside those of the run store: a trace, a folder of traces, a run's folder or id, or one of latest, last-pass, last-fail.
    #[arg(long = "run", value_name = "RUN")]
    pub(crate) runs: Vec<String>,
    /// Only code with this in the path of its source or in the name of its function is the project's own, such as 'src/**' or 'main.*'
    /// [default: all but toolchains, dependencies and what generators write]
    #[arg(long, value_name = "GLOB")]
    pub(crate) own: Vec<String>,
}

impl EvidenceArgs {
    pub(crate) fn options(&self) -> EvidenceOptions {
        let EvidenceArgs { scenario_root, corpora, runs, own, .. } = self.clone();
        EvidenceOptions { scenario_root, corpora, runs, own }
    }
}

fn corpus(text: &str) -> Result<CorpusOptions, String> {
    let (folder, target) = text.split_once('=').ok_or("expected DIR=TARGET, as in corpus/parse=app.wasm")?;
    let (target, function) = match target.rsplit_once('#') {
        Some((target, function)) => (target, Some(function.to_owned())),
        None => (target, None),
    };
    Ok(CorpusOptions { folder: folder.into(), target: target.into(), function })
}

/// Executes the scenarios of a project once, and replays what is recorded of their programs. Exit code: 0, or 2 when nothing ran.
#[derive(Debug, Args)]
pub(crate) struct MapHotspotsArgs {
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
    /// The risk that a function has at least to be listed; 60 is the threshold of CRAP.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) min_risk: u8,
    /// Functions that are listed.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) limit: u64,
}

/// Executes the scenarios of a project once, and replays what is recorded of their programs. Exit code: 0, or 2 when nothing ran.
#[derive(Debug, Args)]
pub(crate) struct MapServicesArgs {
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
}

/// Executes the scenarios of a project once, and replays what is recorded of their programs. Exit code: 0, or 2 when nothing ran.
#[derive(Debug, Args)]
pub(crate) struct MapSuitesArgs {
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
    /// Say which scenarios a change needs: what differs from this revision of git.
    #[arg(long, value_name = "REV", num_args = 0..=1, default_missing_value = "HEAD")]
    pub(crate) since: Option<String>,
    /// The risk from which a function is required to run, which the profile moves.
    #[arg(long, value_name = "N", default_value_t = 60, value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) min_risk: u8,
    /// How much is required: `balanced` from 15 above the risk, `pedantic` from 5 below, `overkill` from 15 below, and by all kinds of runs.
    #[arg(long, value_name = "PROFILE", default_value = "pedantic")]
    pub(crate) profile: TopologyProfileArg,
    /// Which functions in which runs failed need a saved failure: all, none if any failure is saved, those in which a scenario fails.
    #[arg(long, value_name = "POLICY", default_value = "no-known-failures")]
    pub(crate) shrink_policy: ShrinkPolicyArg,
    /// Functions that are listed.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub(crate) limit: u64,
    /// The first function that is listed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
    /// List all functions.
    #[arg(long, conflicts_with_all = ["limit", "offset"])]
    pub(crate) all: bool,
    /// Only functions that are required to run.
    #[arg(long)]
    pub(crate) only_required: bool,
    /// Only functions that are not covered.
    #[arg(long)]
    pub(crate) only_uncovered: bool,
    /// Runs of each kind that are named for a function.
    #[arg(long, value_name = "N", default_value_t = 25)]
    pub(crate) max_matched_scenarios: u64,
}

impl MapSuitesArgs {
    pub(crate) fn options(&self) -> SuitesOptions {
        SuitesOptions {
            min_risk: self.min_risk,
            profile: self.profile.into(),
            shrink_policy: self.shrink_policy.into(),
            limit: if self.all { u64::MAX } else { self.limit },
            offset: self.offset,
            only_required: self.only_required,
            only_uncovered: self.only_uncovered,
            max_matched: self.max_matched_scenarios,
            since: self.since.clone(),
        }
    }
}

/// How strict the topology is.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum TopologyProfileArg {
    Balanced,
    Pedantic,
    Overkill,
}

impl From<TopologyProfileArg> for MapProfile {
    fn from(profile: TopologyProfileArg) -> MapProfile {
        match profile {
            TopologyProfileArg::Balanced => MapProfile::Balanced,
            TopologyProfileArg::Pedantic => MapProfile::Pedantic,
            TopologyProfileArg::Overkill => MapProfile::Overkill,
        }
    }
}

/// When shrinking counts as exercised.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ShrinkPolicyArg {
    FailureOnly,
    ExercisedOk,
    NoKnownFailures,
}

impl From<ShrinkPolicyArg> for ShrinkPolicy {
    fn from(policy: ShrinkPolicyArg) -> ShrinkPolicy {
        match policy {
            ShrinkPolicyArg::FailureOnly => ShrinkPolicy::FailureOnly,
            ShrinkPolicyArg::ExercisedOk => ShrinkPolicy::ExercisedOk,
            ShrinkPolicyArg::NoKnownFailures => ShrinkPolicy::NoKnownFailures,
        }
    }
}
