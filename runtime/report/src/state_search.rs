//! What shrinking says of a shorter story: loops that were cut, shortcuts that were searched, and whether there can be another.
//!
//! ```text
//! shorter   40 steps of loops between equal states and 3 steps of detours are left out; no story has fewer steps: all 729 states …
//! ```
//!
//! Invariant: nothing is called the shortest but what was searched to the end.

use fozzy_trace::{StateBasis, StateSearchEnd, counted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a shorter story was looked for, by the states that the failing one goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StateSearchSummary {
    /// By what states were told apart.
    pub basis: StateBasis,
    /// Steps that were left out because they led from a state to the same state.
    pub loop_steps: usize,
    /// Steps that were saved by shorter ways between states.
    pub shortcut_steps: usize,
    /// States that were searched.
    pub searched_states: u64,
    /// Steps that were taken for it.
    pub searched_steps: u64,
    /// How the search ended.
    pub end: StateSearchEnd,
    /// Whether no story of fewer steps is there, as far as the scenario names what tells its states apart.
    pub shortest: bool,
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
        StateBasis::Named => "as the scenario names them",
        StateBasis::Memory => "as its memory tells them apart",
        StateBasis::None => "of which none is told from another",
    };
    let states = counted(searched_states, "state");
    let searched = format!("{states} searched, {told}, in {}", counted(searched_steps, "step"));
    let end = match end {
        StateSearchEnd::NotAsked => "a story of other steps was not looked for (--shortest)".to_owned(),
        StateSearchEnd::NoSteps => "there is no story of several steps".to_owned(),
        StateSearchEnd::FixedSteps => "a story of other steps would be one of another file".to_owned(),
        StateSearchEnd::NoWalk => {
            "a story of other steps was not looked for: the program cannot be walked from checkpoints".to_owned()
        }
        StateSearchEnd::NoStates => {
            "a story of other steps was not looked for: no state is told from another (`state!` names them)".to_owned()
        }
        StateSearchEnd::Exhausted if search.shortest => format!("no story has fewer steps: all {searched}"),
        StateSearchEnd::Exhausted => format!("no shorter story found: all {searched}"),
        StateSearchEnd::Sampled => {
            format!("no shorter story found: {searched}; of questions with many answers some were tried")
        }
        StateSearchEnd::Coarse => {
            format!("no shorter story found: {searched}, which does not tell all that matters")
        }
        StateSearchEnd::Bound => format!("a shorter story may be there: {searched}, which is the bound"),
        StateSearchEnd::Budget => {
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
            basis: StateBasis::Named,
            loop_steps: 40,
            shortcut_steps: 1,
            searched_states: 729,
            searched_steps: 4374,
            end,
            shortest: end == StateSearchEnd::Exhausted,
        };
        assert_eq!(
            state_search_line(&search(StateSearchEnd::Exhausted)),
            "40 steps of loops between equal states and 1 step of detours left out; no story has fewer steps: all 729 states \
             searched, as the scenario names them, in 4,374 steps"
        );
        let others = [
            StateSearchEnd::NotAsked,
            StateSearchEnd::NoSteps,
            StateSearchEnd::FixedSteps,
            StateSearchEnd::NoWalk,
            StateSearchEnd::NoStates,
            StateSearchEnd::Sampled,
            StateSearchEnd::Coarse,
            StateSearchEnd::Bound,
            StateSearchEnd::Budget,
        ];
        let learned = StateSearchSummary { shortest: false, ..search(StateSearchEnd::Exhausted) };
        assert!(!state_search_line(&learned).contains("no story has fewer"));
        assert!(others.iter().all(|end| !state_search_line(&search(*end)).contains("no story has fewer")));
    }
}
