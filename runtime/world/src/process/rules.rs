//! Which rule answers a command.

use super::Command;
use crate::glob::matches;
use fozzy_trace::plan::ProcessRule;
use std::sync::Arc;

/// The rules of a plan, and how often each has answered.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules(Vec<State>);

#[derive(Clone, Debug)]
struct State {
    rule: Arc<ProcessRule>,
    answered: u64,
}

impl Rules {
    pub(super) fn new(rules: &[ProcessRule]) -> Rules {
        Rules(rules.iter().map(|rule| State { rule: Arc::new(rule.clone()), answered: 0 }).collect())
    }

    /// The first rule that matches and is not used up; it has answered once more.
    pub(super) fn answer(&mut self, command: &Command) -> Option<Arc<ProcessRule>> {
        let state = self.0.iter_mut().find(|state| state.answers(command))?;
        state.answered += 1;
        Some(Arc::clone(&state.rule))
    }
}

impl State {
    fn answers(&self, command: &Command) -> bool {
        let is_left = self.rule.times.is_none_or(|times| self.answered < times);
        let args_match = self.rule.args.as_ref().is_none_or(|patterns| {
            let pairs = patterns.iter().zip(&command.args);
            patterns.len() == command.args.len() && pairs.into_iter().all(|(pattern, arg)| matches(pattern, arg))
        });
        is_left && args_match && matches(&self.rule.command, &command.command)
    }
}
