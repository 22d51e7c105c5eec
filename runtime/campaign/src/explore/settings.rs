//! `[explore]` of `fozzy.toml`: the defaults of `fozzy explore` in a project.
//!
//! Invariant: unknown keys are refused; what a flag says goes before it.

use fozzy_search::explore::{CheckpointStrategy, Options};
use fozzy_trace::{Duration, Seed};
use serde::Deserialize;
use serde::de::Error;

/// The keys.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
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
    /// How ways are chosen.
    pub schedule: ScheduleWord,
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
    /// Whether stored failures are tried first.
    pub seeds: bool,
    /// What is said.
    pub report: ReportSettings,
}

/// `[explore.report]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
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

/// The strategies, by their names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScheduleWord {
    /// Always from the start; tasks take turns in the order in which they became ready.
    Fifo,
    /// Every answer of every step, the earliest places first.
    Bfs,
    /// Every answer of every step, the latest places first.
    Dfs,
    /// Always from the start; everything is drawn.
    Random,
    /// Always from the start; the task of the highest random priority runs on, but for up to 2 changes (probabilistic
    /// concurrency testing, depth 1 to 3).
    Pct,
    /// Always from the start; each pending step of a task has a random priority (partial order sampling).
    Pos,
    /// Always from the start; every interleaving of tasks is as likely as the next (uniform random walk).
    Urw,
    /// From the start, or from places where something new was seen.
    #[default]
    CoverageGuided,
}

impl ScheduleWord {
    /// The word on the command line and in `fozzy.toml`.
    pub const fn name(self) -> &'static str {
        match self {
            ScheduleWord::Fifo => "fifo",
            ScheduleWord::Bfs => "bfs",
            ScheduleWord::Dfs => "dfs",
            ScheduleWord::Random => "random",
            ScheduleWord::Pct => "pct",
            ScheduleWord::Pos => "pos",
            ScheduleWord::Urw => "urw",
            ScheduleWord::CoverageGuided => "coverage_guided",
        }
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
            schedule: ScheduleWord::CoverageGuided,
            workers: 1,
            share_edges: true,
            share_checkpoints: true,
            swarm: options.swarm,
            states: options.states,
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
            ..Options::default()
        }
    }
}

fn time<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(from)?;
    Duration::parse(&text).map_err(D::Error::custom)
}

/// A probability.
fn share<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    let number = f64::deserialize(from)?;
    let is_share = (0.0..=1.0).contains(&number);
    is_share.then_some(number).ok_or_else(|| D::Error::custom(format!("expected a number from 0 to 1, found {number}")))
}
