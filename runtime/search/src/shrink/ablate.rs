//! Ablation: which of the planned faults a failure needs, left out one by one, two by two, and three by three.
//!
//! ```text
//! without io-error            still fails
//! without packet-loss         passes              needed
//! without io-error, latency   passes              either is enough
//! ```

use super::{InitialReplay, ReplayTarget, ShrinkError, first, source};
use fozzy_check::judge;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::fault::FaultPlan;
use fozzy_trace::{FailureSignature, Plan};
use std::collections::BTreeSet;

/// What came of leaving out some faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ablation {
    /// Those that were left out, by their place in the plan.
    pub without: Vec<usize>,
    /// How it ended then; `None` when it passed.
    pub signature: Option<FailureSignature>,
    /// Whether that is the recorded failure.
    pub still_fails: bool,
}

/// Most faults of a plan that are left out two by two: some two thousand executions.
const PAIRS_OF_MAX: usize = 64;
/// Most faults that are left out three by three: some five hundred executions.
const TRIPLES_OF_MAX: usize = 16;

/// Each planned fault left out; then each pair of which neither alone made a difference, and each triple of which no pair did.
///
/// # Errors
/// When the recording passed, or the machine fails.
pub fn ablate(recording: &Recording, target: &mut dyn ReplayTarget) -> Result<Vec<Ablation>, ShrinkError> {
    let InitialReplay { smallest: candidate, signature, .. } = first(recording, target)?;
    let faults = &candidate.plan.faults;
    let mut run = |without: Vec<usize>| -> Result<Ablation, ShrinkError> {
        let is_left = |(place, fault): (usize, &FaultPlan)| (!without.contains(&place)).then(|| fault.clone());
        let plan = Plan { faults: faults.iter().enumerate().filter_map(is_left).collect(), ..candidate.plan.clone() };
        let (source, _) = source(&candidate, recording.seed, &recording.observations);
        let execution = target.execute(&plan, &candidate.inputs, source, 0..0)?;
        let found = judge(&execution).signature;
        Ok(Ablation { still_fails: found.as_ref() == Some(&signature), without, signature: found })
    };
    let mut all = Vec::new();
    for place in 0..faults.len() {
        all.push(run(vec![place])?);
    }
    let spare: Vec<usize> = (0..faults.len()).filter(|place| all[*place].still_fails).take(PAIRS_OF_MAX).collect();
    for (at, first) in spare.iter().enumerate() {
        for second in &spare[at + 1..] {
            all.push(run(vec![*first, *second])?);
        }
    }
    let idle: BTreeSet<Vec<usize>> =
        all.iter().filter(|row| row.without.len() == 2 && row.still_fails).map(|row| row.without.clone()).collect();
    let spare = &spare[..spare.len().min(TRIPLES_OF_MAX)];
    for (at, first) in spare.iter().enumerate() {
        for (further, second) in spare.iter().enumerate().skip(at + 1) {
            for third in &spare[further + 1..] {
                let pairs = [vec![*first, *second], vec![*first, *third], vec![*second, *third]];
                if pairs.iter().all(|pair| idle.contains(pair)) {
                    all.push(run(vec![*first, *second, *third])?);
                }
            }
        }
    }
    Ok(all)
}
