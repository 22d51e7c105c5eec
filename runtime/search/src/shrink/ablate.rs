//! Ablation: which of the planned faults a failure needs, left out one by one, and two by two.
//!
//! ```text
//! without io-error            still fails
//! without packet-loss         passes              needed
//! without io-error, latency   passes              either is enough
//! ```

use super::{First, ShrinkError, Stage, first, source};
use fozzy_check::judge;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::fault::FaultPlan;
use fozzy_trace::{Plan, Signature};

/// What came of leaving out some faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ablation {
    /// Those that were left out, by their place in the plan.
    pub without: Vec<usize>,
    /// How it ended then; `None` when it passed.
    pub signature: Option<Signature>,
    /// Whether that is the recorded failure.
    pub still_fails: bool,
}

/// Most faults of a plan that are left out two by two: some two thousand executions.
const PAIRS_OF_MAX: usize = 64;

/// Each planned fault left out; then each pair of which neither alone made a difference.
///
/// # Errors
/// When the recording passed, or the machine fails.
pub fn ablate(recording: &Recording, stage: &mut dyn Stage) -> Result<Vec<Ablation>, ShrinkError> {
    let First { story, signature, .. } = first(recording, stage)?;
    let faults = &story.plan.faults;
    let mut run = |without: Vec<usize>| -> Result<Ablation, ShrinkError> {
        let is_left = |(place, fault): (usize, &FaultPlan)| (!without.contains(&place)).then(|| fault.clone());
        let plan = Plan { faults: faults.iter().enumerate().filter_map(is_left).collect(), ..story.plan.clone() };
        let (source, _) = source(&story, recording.seed, &recording.observations);
        let execution = stage.perform(&plan, &story.inputs, source, 0..0)?;
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
    Ok(all)
}
