//! `[explore]` of `fozzy.toml`: the defaults of `fozzy explore` in a project.
//!
//! Invariant: unknown keys are refused; what a flag says goes before it.

use fozzy_plan::FaultRate;
use fozzy_search::explore::{
    CheckpointStrategy, DEFAULT_STRATEGY, NoveltyDimension, Options, STRATEGIES, StrategyRow, strategy,
};
use fozzy_trace::{Duration, Seed};
use serde::Deserialize;
use serde::de::Error;

/// The keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct ExploreSettings {
    /// Real time after which it ends.
    #[serde(deserialize_with = "time")]
    pub max_time: Duration,
    /// Runs after which it ends.
    pub max_runs: Option<u64>,
    /// Where all its randomness comes from.
    pub seed: u64,
    /// Places that are kept.
    pub max_checkpoints: usize,
    /// How likely a run begins at a kept place, as long as fresh runs find something.
    #[serde(deserialize_with = "share")]
    pub checkpoint_prob: f64,
    /// Which place that is.
    pub checkpoint_strategy: CheckpointWord,
    /// Steps of a run, at most.
    pub steps_per_run: u32,
    /// How likely faults begin or end at a step.
    #[serde(deserialize_with = "share")]
    pub fault_toggle_prob: f64,
    /// How paths are chosen.
    #[serde(deserialize_with = "schedule")]
    pub schedule: &'static StrategyRow,
    /// Processes that explore.
    pub workers: u32,
    /// Whether workers tell each other of edges, so that each looks for others.
    pub share_edges: bool,
    /// Whether workers tell each other of places, so that each can continue from them.
    pub share_checkpoints: bool,
    /// Whether some answers are left out of some runs.
    pub swarm: bool,
    /// Whether a new state is something new.
    pub states: bool,
    /// What else of a whole run of a program can be something new.
    pub novelty: Vec<NoveltyWord>,
    /// Whether stored failures are tried first.
    pub seeds: bool,
    /// What is said.
    pub report: ReportSettings,
}

/// `[explore.report]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct ReportSettings {
    /// Whether a line is printed every two seconds.
    pub verbose: bool,
}

/// Which kept place a run begins at.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckpointWord {
    #[default]
    /// One that has led to new things more often.
    Energy,
    /// Any of them, all equally likely.
    Uniform,
    /// One of those that were kept last.
    Recent,
}

/// What of a whole run can be something new, beside edges and states.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NoveltyWord {
    /// Lines that were never printed, numbers masked.
    Log,
    /// Kinds of messages, after others of their receiver.
    Messages,
    /// Places where faults strike, and pairs of them.
    Faults,
}

impl NoveltyWord {
    const ALL: [NoveltyWord; 3] = [NoveltyWord::Log, NoveltyWord::Messages, NoveltyWord::Faults];

    const fn dimension(self) -> NoveltyDimension {
        match self {
            NoveltyWord::Log => NoveltyDimension::Log,
            NoveltyWord::Messages => NoveltyDimension::Messages,
            NoveltyWord::Faults => NoveltyDimension::Faults,
        }
    }
}

/// What ends an exploration, and how its ways are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExploreBounds {
    /// How paths are chosen.
    pub schedule: &'static StrategyRow,
    /// Runs.
    pub runs: Option<u64>,
    /// Real time.
    pub time: Option<Duration>,
}

/// The strategy of a file of version 1 for which none is named.
const VERSION_1_STRATEGY: &str = "fifo";
/// Runs of a file of version 1 for which another schedule than `fifo` was named, and no bound: some seconds.
const RUNS_OF_VERSION_1: u64 = 100;

impl ExploreSettings {
    /// The bounds that apply, from flags and settings. A file of version 1 for which neither sets a bound ends as it
    /// did in version 1, after a fixed number of runs: one with `fifo`, which is the default there.
    pub fn bounds(
        &self,
        schedule: Option<&'static StrategyRow>,
        runs: Option<u64>,
        time: Option<Duration>,
        is_version_1: bool,
    ) -> ExploreBounds {
        let default = ExploreSettings::default();
        let runs = runs.or(self.max_runs);
        let of_settings = (self.schedule != default.schedule).then_some(self.schedule);
        let time = time.or_else(|| (self.max_time != default.max_time && runs.is_none()).then_some(self.max_time));
        if is_version_1 && runs.is_none() && time.is_none() {
            let schedule = schedule.or(of_settings).unwrap_or(known_strategy(VERSION_1_STRATEGY));
            let runs = if schedule.name == VERSION_1_STRATEGY { 1 } else { RUNS_OF_VERSION_1 };
            return ExploreBounds { schedule, runs: Some(runs), time: None };
        }
        let time = time.or_else(|| runs.is_none().then_some(self.max_time));
        ExploreBounds { schedule: schedule.unwrap_or(self.schedule), runs, time }
    }
}

impl ExploreSettings {
    /// The same of an exploration that ends at a risk: a number of runs or a time ends it before only where one is set.
    pub fn bounds_until_risk(
        &self,
        schedule: Option<&'static StrategyRow>,
        runs: Option<u64>,
        time: Option<Duration>,
    ) -> ExploreBounds {
        let runs = runs.or(self.max_runs);
        let is_set = self.max_time != ExploreSettings::default().max_time && runs.is_none();
        let time = time.or_else(|| is_set.then_some(self.max_time));
        ExploreBounds { schedule: schedule.unwrap_or(self.schedule), runs, time }
    }
}

impl Default for ExploreSettings {
    fn default() -> ExploreSettings {
        let options = Options::default();
        ExploreSettings {
            max_time: Duration(60_000_000_000),
            max_runs: None,
            seed: options.seed.0,
            max_checkpoints: options.checkpoints_max,
            checkpoint_prob: options.checkpoint_prob,
            checkpoint_strategy: CheckpointWord::Energy,
            steps_per_run: options.steps_per_run,
            fault_toggle_prob: options.fault_toggle_prob,
            schedule: known_strategy(DEFAULT_STRATEGY),
            workers: 1,
            share_edges: true,
            share_checkpoints: true,
            swarm: options.swarm,
            states: options.states,
            novelty: NoveltyWord::ALL.to_vec(),
            seeds: true,
            report: ReportSettings::default(),
        }
    }
}

impl ExploreSettings {
    /// As options of the search.
    pub fn options(&self) -> Options {
        let checkpoint_strategy = match self.checkpoint_strategy {
            CheckpointWord::Energy => CheckpointStrategy::Energy,
            CheckpointWord::Uniform => CheckpointStrategy::Uniform,
            CheckpointWord::Recent => CheckpointStrategy::Recent,
        };
        Options {
            seed: Seed(self.seed),
            runs_max: self.max_runs.unwrap_or(u64::MAX),
            steps_per_run: self.steps_per_run,
            checkpoints_max: self.max_checkpoints,
            checkpoint_prob: self.checkpoint_prob,
            checkpoint_strategy,
            fault_toggle_prob: self.fault_toggle_prob,
            swarm: self.swarm,
            states: self.states,
            novelty: self.novelty.iter().map(|word| word.dimension()).collect(),
            ..Options::default()
        }
    }
}

/// A strategy that the table has.
fn known_strategy(name: &str) -> &'static StrategyRow {
    strategy(name).expect("its name is that of a row")
}

fn schedule<'de, D: serde::Deserializer<'de>>(from: D) -> Result<&'static StrategyRow, D::Error> {
    let name = String::deserialize(from)?;
    strategy(&name).ok_or_else(|| {
        let names: Vec<String> = STRATEGIES.iter().map(|row| format!("`{}`", row.name)).collect();
        D::Error::custom(format!("unknown schedule `{name}`, expected one of {}", names.join(", ")))
    })
}

fn time<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(from)?;
    Duration::parse(&text).map_err(D::Error::custom)
}

/// A probability, as rates of faults are written: `0.3`, `"30%"`, `"3/10"`.
fn share<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Share {
        Number(f64),
        Text(String),
    }
    match Share::deserialize(from)? {
        Share::Number(number) if (0.0..=1.0).contains(&number) => Ok(number),
        Share::Number(number) => Err(D::Error::custom(format!("expected a number from 0 to 1, found {number}"))),
        Share::Text(text) => FaultRate::parse(&text).map(FaultRate::share).map_err(D::Error::custom),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_version_1_ends_by_itself() {
        let check = |schedule, runs, time, is_version_1, expected: (&'static StrategyRow, Option<u64>, Option<u64>)| {
            let found =
                ExploreSettings::default().bounds(schedule, runs, Some(Duration(5)).filter(|_| time), is_version_1);
            assert_eq!((found.schedule, found.runs, found.time.map(|time| time.0)), expected);
        };
        let [guided, fifo, pct] = ["coverage_guided", "fifo", "pct"].map(known_strategy);
        let minute = 60_000_000_000;
        check(None, None, false, true, (fifo, Some(1), None));
        check(Some(pct), None, false, true, (pct, Some(RUNS_OF_VERSION_1), None));
        check(None, Some(7), false, true, (guided, Some(7), None));
        check(None, None, true, true, (guided, None, Some(5)));
        check(None, None, false, false, (guided, None, Some(minute)));
        check(None, Some(7), true, false, (guided, Some(7), Some(5)));
        let settings = ExploreSettings { max_time: Duration(9), ..ExploreSettings::default() };
        assert_eq!(settings.bounds(None, None, None, true).time, Some(Duration(9)));
        // At a risk it ends before only where that is set.
        let until_risk = |settings: &ExploreSettings, runs, time| {
            let found = settings.bounds_until_risk(None, runs, time);
            (found.schedule, found.runs, found.time.map(|time| time.0))
        };
        assert_eq!(until_risk(&ExploreSettings::default(), None, None), (guided, None, None));
        assert_eq!(until_risk(&ExploreSettings::default(), Some(7), Some(Duration(5))), (guided, Some(7), Some(5)));
        assert_eq!(until_risk(&settings, None, None), (guided, None, Some(9)));
    }
}
