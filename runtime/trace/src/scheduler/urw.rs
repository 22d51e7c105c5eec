//! Uniform random walk over interleavings.
//!
//! ```text
//! steps left   a: 1   b: 3        a runs with 1/4: of the 4 interleavings, one begins with it
//! ```
//!
//! Of the ways in which tasks with `r1, r2, …` steps left can be interleaved, the share that begins with task `i` is `ri` of
//! their sum (a quotient of two multinomials). So all interleavings are equally likely where no task waits for another and the
//! steps of each task are known; elsewhere it is an estimate.
//!
//! Source: the algorithm URW in Zhao and others (ASPLOS 2025). Not here: their selection of interesting steps.

use super::ReadyTask;
use super::draws::Draws;
use std::collections::BTreeMap;

/// `steps` has what the tasks took in earlier runs. Who is not known, or takes more steps than ever, has one left.
pub(super) fn pick(steps: &BTreeMap<u64, u64>, ready: &[ReadyTask], draws: &mut Draws) -> usize {
    let left = |task: &ReadyTask| steps.get(&task.number).map_or(1, |steps| steps.saturating_sub(task.steps).max(1));
    // Steps are counts of what has happened: their sum does not come near the end of the numbers.
    let mut draw = draws.below(ready.iter().map(left).fold(0, u64::saturating_add));
    let place = ready.iter().position(|task| match draw.checked_sub(left(task)) {
        Some(rest) => {
            draw = rest;
            false
        }
        None => true,
    });
    place.expect("the draw is below the sum")
}
