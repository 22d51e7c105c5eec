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
    let odd: Vec<DecisionKey> = odd.map(|decision| decision.key).collect();
    let all = odd.clone();
    shrinker.remove_chunks(&odd, |smallest, rest| {
        let mut smallest = smallest.clone();
        for key in all.iter().filter(|key| !rest.contains(key)) {
            smallest.answers.insert(*key, Override::Number(0));
        }
        smallest
    })?;
    Ok(())
}

/// Whether a decision is about who is next.
pub(super) fn is_turn(decision: &Decision) -> bool {
    decision.key.purpose == Purpose::Schedule || decision.site == NEXT_TASK
}
