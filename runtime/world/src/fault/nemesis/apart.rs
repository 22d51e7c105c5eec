//! Pairs of nemeses that can never be at work together, by the bounds of their plan: that they never met says nothing.
//!
//! ```text
//! kill on n1, power-loss on n1                           the program is gone already
//! hit-at-most = 1: kill, power-loss                      the second one would have to hit another machine
//! hit-at-most = 1: pause on n1, clock-bump on n2         the same
//! file-flip, file-torn                                   neither lasts
//! ```
//!
//! Invariant: a pair is in doubt one that can be. Where partitions or members that leave count for `hit-at-most`, more machines can be hit
//! than nemeses have chosen, so that the bound says nothing here.
//! Not here: who counts as hit (`hits.rs`).

use super::{Nemeses, NemesisAction, NemesisRule};
use fozzy_trace::NodeId;
use std::collections::BTreeSet;

/// Whether programs are gone meanwhile, so that no other nemesis ends them.
fn ends_programs(rule: &NemesisRule) -> bool {
    matches!(rule.action, NemesisAction::Kill | NemesisAction::PowerLoss)
}

impl Nemeses {
    /// Pairs of their places in the plan, the lower one first.
    pub(super) fn apart(&self) -> BTreeSet<(usize, usize)> {
        let mut apart = BTreeSet::new();
        for (at, one) in self.rules.iter().enumerate() {
            let others = self.rules[at + 1..].iter().filter(|other| self.never_meet(one, other));
            apart.extend(others.map(|other| (one.place, other.place)));
        }
        apart
    }

    fn never_meet(&self, one: &NemesisRule, other: &NemesisRule) -> bool {
        let both = |holds: fn(&NemesisRule) -> bool| holds(one) && holds(other);
        if both(|rule| rule.action.is_of_files()) {
            return true;
        }
        let end_programs = both(ends_programs);
        let machines: BTreeSet<NodeId> = one.nodes.iter().chain(&other.nodes).copied().collect();
        if end_programs && machines.len() < 2 {
            return true;
        }
        // What is about all messages hits nobody.
        let hit_others = both(|rule| !rule.action.is_everywhere())
            && (end_programs || machines.len() == one.nodes.len() + other.nodes.len());
        hit_others && self.cluster.hit_max.is_some_and(|most| most < 2) && self.hits_only_chosen()
    }

    /// Whether all machines that are hit are those that nemeses have chosen.
    fn hits_only_chosen(&self) -> bool {
        self.rules.iter().all(|rule| !rule.action.has_shapes() && rule.action != NemesisAction::Membership)
    }
}
