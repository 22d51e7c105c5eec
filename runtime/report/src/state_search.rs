//! What shrinking says of a shorter story: loops that were cut, shortcuts that were searched, and whether there can be another.
//!
//! ```text
//! shorter   40 steps of loops between equal states and 3 steps of detours are left out; no story has fewer steps: all 729 states …
//! ```
//!
//! Invariant: nothing is called the shortest but what was searched to the end.

use fozzy_trace::counted;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a shorter story was looked for, by the states that the failing one goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateSearchSummary {
    /// By what states were told apart.
    pub basis: StateBasisName,
    /// Steps that were left out because they led from a state to the same state.
    pub loop_steps: usize,
    /// Steps that were saved by shorter ways between states.
    pub shortcut_steps: usize,
    /// States that were searched.
    pub searched_states: u64,
    /// Steps that were taken for it.
    pub searched_steps: u64,
    /// How the search ended.
    pub end: StateSearchEndName,
    /// Whether no story of fewer steps is there, as far as the scenario names what tells its states apart.
    pub shortest: bool,
}

/// By what states are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StateBasisName {
    /// They were not.
    None,
    /// By what the scenario says (`state!`).
    Named,
    /// By its memory.
    Memory,
}

/// How a search for a shorter story ended, or why there was none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StateSearchEndName {
    /// It was not made: the story is short, and `--shortest` was not given.
    NotAsked,
    /// There are no steps, or one.
    NoSteps,
    /// The steps are those of a scenario file.
    FixedSteps,
    /// The program cannot be walked step by step.
    NoWalk,
    /// No state is told from another.
    NoStates,
    /// Every state within as many steps was searched, with every answer.
    Exhausted,
    /// The same, but for questions with many answers, of which some were tried.
    Sampled,
    /// Every state within as many steps was searched, but the states do not tell apart all that matters.
    Coarse,
    /// The bound was reached.
    Bound,
    /// The time budget was exhausted.
    Budget,
}

/// What is said of it to people.
pub(crate) fn state_search_line(search: &StateSearchSummary) -> String {
    let StateSearchSummary { basis, loop_steps, shortcut_steps, searched_states, searched_steps, end, .. } = *search;
    let cut = [(loop_steps, "of loops between equal states"), (shortcut_steps, "of detours")];
    let cut: Vec<String> = cut
        .iter()
        .filter(|(steps, _)| *steps > 0)
        .map(|(steps, what)| format!("{} {what}", counted(*steps as u64, "step")))
        .collect();
    let cut = if cut.is_empty() { String::new() } else { format!("{} left out; ", cut.join(" and ")) };
    let told = match basis {
        StateBasisName::Named => "as the scenario names them",
        StateBasisName::Memory => "as its memory tells them apart",
        StateBasisName::None => "of which none is told from another",
    };
    let states = counted(searched_states, "state");
    let searched = format!("{states} searched, {told}, in {}", counted(searched_steps, "step"));
    let end = match end {
        StateSearchEndName::NotAsked => "a story of other steps was not looked for (--shortest)".to_owned(),
        StateSearchEndName::NoSteps => "there is no story of several steps".to_owned(),
        StateSearchEndName::FixedSteps => "a story of other steps would be one of another file".to_owned(),
        StateSearchEndName::NoWalk => {
            "a story of other steps was not looked for: the program cannot be walked from checkpoints".to_owned()
        }
        StateSearchEndName::NoStates => {
            "a story of other steps was not looked for: no state is told from another (`state!` names them)".to_owned()
        }
        StateSearchEndName::Exhausted if search.shortest => format!("no story has fewer steps: all {searched}"),
        StateSearchEndName::Exhausted => format!("no shorter story found: all {searched}"),
        StateSearchEndName::Sampled => {
            format!("no shorter story found: {searched}; of questions with many answers some were tried")
        }
        StateSearchEndName::Coarse => {
            format!("no shorter story found: {searched}, which does not tell all that matters")
        }
        StateSearchEndName::Bound => format!("a shorter story may be there: {searched}, which is the bound"),
        StateSearchEndName::Budget => {
            format!("a shorter story may be there: {searched} until the budget ran out (--budget)")
        }
    };
    format!("{cut}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_exhausted_search_says_that_nothing_is_shorter() {
        let search = |end| StateSearchSummary {
            basis: StateBasisName::Named,
            loop_steps: 40,
            shortcut_steps: 1,
            searched_states: 729,
            searched_steps: 4374,
            end,
            shortest: end == StateSearchEndName::Exhausted,
        };
        assert_eq!(
            state_search_line(&search(StateSearchEndName::Exhausted)),
            "40 steps of loops between equal states and 1 step of detours left out; no story has fewer steps: all 729 states \
             searched, as the scenario names them, in 4,374 steps"
        );
        let others = [
            StateSearchEndName::NotAsked,
            StateSearchEndName::NoSteps,
            StateSearchEndName::FixedSteps,
            StateSearchEndName::NoWalk,
            StateSearchEndName::NoStates,
            StateSearchEndName::Sampled,
            StateSearchEndName::Coarse,
            StateSearchEndName::Bound,
            StateSearchEndName::Budget,
        ];
        let learned = StateSearchSummary { shortest: false, ..search(StateSearchEndName::Exhausted) };
        assert!(!state_search_line(&learned).contains("no story has fewer"));
        assert!(others.iter().all(|end| !state_search_line(&search(*end)).contains("no story has fewer")));
    }
}
