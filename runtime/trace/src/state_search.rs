//! How a search over states for a shorter failing run went: what the search reports, and what documents say.
//!
//! Not here: the search (`fozzy-search`), its words for people (`fozzy-report`).

use serde::{Deserialize, Serialize};

/// By what states are told apart.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateBasis {
    /// They are not.
    #[default]
    None,
    /// By what the scenario says (`state!`).
    Named,
    /// By its memory.
    Memory,
}

/// How a search for a shorter story ended, or why there was none.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StateSearchEnd {
    /// It was not made: the story is short, and `--shortest` was not given.
    #[default]
    NotAsked,
    /// There are no steps, or one.
    NoSteps,
    /// The steps are those of a scenario file.
    FixedSteps,
    /// The program cannot be walked step by step.
    NoWalk,
    /// No state is told from another: the scenario names none, and its memory is different after each step.
    NoStates,
    /// Every state within as many steps was searched, with every answer: there is no shorter story.
    Exhausted,
    /// The same, but for questions with many answers, of which some were tried.
    Sampled,
    /// Every state within as many steps was searched, but the states do not tell apart all that matters: the story comes to one of
    /// them twice, and needs what is between.
    Coarse,
    /// The bound was reached.
    Bound,
    /// The time budget was exhausted.
    Budget,
}
