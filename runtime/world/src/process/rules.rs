//! Which rule answers a command: those that the target added, then those of the plan.

use super::ProcessCommand;
use crate::glob::matches;
use fozzy_trace::plan::ProcessRule;
use std::sync::Arc;

/// Rules, and how often each has answered.
#[derive(Clone, Debug, Default)]
pub struct ProcessRules {
    planned: Vec<State>,
    added: Vec<State>,
}

#[derive(Clone, Debug)]
struct State {
    rule: Arc<ProcessRule>,
    answered: u64,
}

impl ProcessRules {
    pub(super) fn new(rules: &[ProcessRule]) -> ProcessRules {
        ProcessRules { planned: rules.iter().cloned().map(State::new).collect(), added: Vec::new() }
    }

    /// One rule more, which comes before those of the plan. The answer is its number; `None` when there are
    /// [`RULES_MAX`](crate::RULES_MAX).
    pub fn add(&mut self, rule: ProcessRule) -> Option<u32> {
        let number = self.added.len();
        if number == crate::RULES_MAX {
            return None;
        }
        self.added.push(State::new(rule));
        Some(number as u32)
    }

    /// How many commands an added rule has answered.
    #[must_use]
    pub fn answered(&self, number: u32) -> Option<u64> {
        self.added.get(number as usize).map(|state| state.answered)
    }

    /// Takes back what was added.
    pub fn clear(&mut self) {
        self.added.clear();
    }

    /// The first rule that matches and is not used up; it has answered once more.
    pub(super) fn answer(&mut self, command: &ProcessCommand) -> Option<Arc<ProcessRule>> {
        let mut all = self.added.iter_mut().chain(&mut self.planned);
        let state = all.find(|state| state.answers(command))?;
        state.answered += 1;
        Some(Arc::clone(&state.rule))
    }
}

impl State {
    fn new(rule: ProcessRule) -> State {
        State { rule: Arc::new(rule), answered: 0 }
    }

    fn answers(&self, command: &ProcessCommand) -> bool {
        let is_left = self.rule.times.is_none_or(|times| self.answered < times);
        let args_match = self.rule.args.as_ref().is_none_or(|patterns| {
            let pairs = patterns.iter().zip(&command.args);
            patterns.len() == command.args.len() && pairs.into_iter().all(|(pattern, arg)| matches(pattern, arg))
        });
        is_left && args_match && matches(&self.rule.command, &command.command)
    }
}
