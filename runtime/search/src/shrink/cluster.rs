//! A smaller cluster: fewer machines, and fewer clients.
//!
//! ```text
//! n0 n1 n2 · 6 clients    kill n1 n2, generate, generate     n0 · 2 clients: fails so with other values     n0 · 1 client: so, too
//! ```
//!
//! Which clusters there are says the target. Who asks and who is hit are values that fit the larger cluster: where they do not show the failure,
//! the steps that are left draw others.
//!
//! Invariant: what is tried follows from the candidate and its decisions, so that shrinking again gives the same.

use super::resample::resampled;
use super::steps::steps_of;
use super::{ShrinkCandidate, ShrinkHalt, Shrinker};
use std::sync::Arc;

/// Steps up to which other values are drawn for all of them: with more, hardly any fits.
const STEPS_MAX: usize = 12;
/// Other values for each cluster.
const RESAMPLED: u64 = 16;

/// The smallest cluster in which it fails, machines first.
pub(super) fn fewer(shrinker: &mut Shrinker<'_>) -> Result<(), ShrinkHalt> {
    loop {
        let plans = shrinker.workers[0].target().smaller_clusters(&shrinker.smallest.plan);
        let mut is_smaller = false;
        for plan in plans {
            let candidate = ShrinkCandidate { plan, ..shrinker.smallest.clone() };
            if shrinker.attempt(candidate.clone())? || with_other_values(shrinker, &candidate)? {
                is_smaller = true;
                break;
            }
        }
        if !is_smaller {
            return Ok(());
        }
    }
}

fn with_other_values(shrinker: &mut Shrinker<'_>, candidate: &ShrinkCandidate) -> Result<bool, ShrinkHalt> {
    let (steps, log) = (steps_of(shrinker), Arc::clone(&shrinker.log));
    if steps.len() > STEPS_MAX {
        return Ok(false);
    }
    for number in 1..=RESAMPLED {
        if shrinker.attempt(resampled(candidate, &log, &steps, number))? {
            return Ok(true);
        }
    }
    Ok(false)
}
