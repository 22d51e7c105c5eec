//! What an exploration is a function of, beside its scenario. The names and defaults of most are those of ordeal's Explorer.

use super::run_signs::NoveltyDimension;
use fozzy_trace::Seed;

/// What is chosen for an exploration.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// Where all its randomness comes from.
    pub seed: Seed,
    /// Which of several workers it is.
    pub worker: u32,
    /// Runs after which it ends; `u64::MAX` for no bound.
    pub runs_max: u64,
    /// Steps of a run, at most.
    pub steps_per_run: u32,
    /// Steps that there are at all, from the beginning on: a scenario file ends after its last one.
    pub steps_max: u32,
    /// Whether a step is a whole run of a program, which has no steps of its own.
    pub is_whole_run: bool,
    /// Places whose checkpoints are kept; of further ones only their paths are. None keeps no place at all.
    pub checkpoints_max: usize,
    /// How likely a run begins at a kept place, as long as fresh runs find something.
    pub checkpoint_prob: f64,
    /// Which place that is.
    pub checkpoint_strategy: CheckpointStrategy,
    /// How likely faults begin or end at a step, if the plan has some.
    pub fault_toggle_prob: f64,
    /// Whether some answers are left out of some runs.
    pub swarm: bool,
    /// Whether a new state of the scenario is something new.
    pub states: bool,
    /// Whether several steps may be taken in one call of a target that can do so. What is found is the same.
    pub several_steps: bool,
    /// What else of a whole run can be something new.
    pub novelty: Vec<NoveltyDimension>,
    /// What ends it, beside its bounds.
    pub stop: StopCondition,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: Seed(42),
            worker: 0,
            runs_max: u64::MAX,
            steps_per_run: 50,
            steps_max: u32::MAX,
            is_whole_run: false,
            checkpoints_max: 256,
            checkpoint_prob: 0.4,
            checkpoint_strategy: CheckpointStrategy::Energy,
            fault_toggle_prob: 0.3,
            swarm: true,
            states: true,
            several_steps: true,
            novelty: NoveltyDimension::ALL.to_vec(),
            stop: StopCondition::Bounds,
        }
    }
}

/// Which kept place a run begins at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CheckpointStrategy {
    /// Those from which something new was found are more likely.
    #[default]
    Energy,
    /// All are equally likely.
    Uniform,
    /// Later ones are more likely.
    Recent,
}

/// What ends an exploration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopCondition {
    /// Nothing but its bounds.
    #[default]
    Bounds,
    /// Also that nothing new was seen for a long time.
    Saturated,
    /// Also the first finding.
    FirstFinding,
}
