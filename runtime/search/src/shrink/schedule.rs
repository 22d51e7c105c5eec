//! Who is next, where several could be: the first one, wherever that is enough.

use super::{ShrinkHalt, Shrinker};
use crate::keyed_source::{Decision, DecisionKey};
use crate::shrink::values::is_simplest;
use fozzy_trace::Purpose;
use fozzy_trace::scheduler::NEXT_TASK;
use fozzy_trace::source::Override;

/// Turns that need not go to anybody but the first.
pub(super) fn turns(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    let odd = shrinker.log.iter().filter(|decision| is_turn(decision) && !is_simplest(decision));
    let odd: Vec<DecisionKey> = odd.map(|decision| decision.spot).collect();
    let all = odd.clone();
    shrinker.leave_out(&odd, |story, rest| {
        let mut story = story.clone();
        for spot in all.iter().filter(|spot| !rest.contains(spot)) {
            story.answers.insert(*spot, Override::Number(0));
        }
        story
    })?;
    Ok(())
}

/// Whether a decision is about who is next.
pub(super) fn is_turn(decision: &Decision) -> bool {
    decision.spot.purpose == Purpose::Schedule || decision.site == NEXT_TASK
}
