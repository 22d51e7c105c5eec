//! Ablation: which of the planned faults a failure needs, left out one by one, two by two, and three by three.
//!
//! ```text
//! without io-error            still fails
//! without packet-loss         passed in 10 of 10 tries          needed
//! without io-error, latency   passed in 10 of 10 tries          one of them is needed
//! ```
//!
//! A fault that is left out does not strike, and everything else is answered as it was recorded, wherever it is still
//! asked. A program that continues without the fault asks questions that were never recorded. So one run that passes is
//! no proof: their answers are drawn several times before a fault counts as needed.
//!
//! Invariants: draws depend only on the recording and on the number of the try; of several faults, only those are
//! listed without which the failure is gone, since a failure that stays says nothing new.

use super::{InitialReplay, ReplayTarget, ShrinkCandidate, ShrinkError, first, source};
use crate::site_source::{RecordedAnswers, SiteSource};
use fozzy_check::identify;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::fault::FaultPlan;
use fozzy_trace::{DecisionSource, FailureSignature, Plan};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What came of leaving out some faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ablation {
    /// Those that were left out, by their place in the plan.
    pub without: Vec<usize>,
    /// How the first try that failed otherwise ended; `None` when none did.
    pub signature: Option<FailureSignature>,
    /// Whether a try came to the recorded failure, which was the last one then.
    pub still_fails: bool,
    /// Runs that were tried.
    pub tries: u32,
    /// Those of them that passed.
    pub passed: u32,
}

/// Tries before a failure counts as gone. Two of three faults of a run that passed once were not needed after all.
pub(super) const TRIES_MAX: u32 = 10;
/// Most faults of a plan that are left out two by two: some twenty thousand executions, if none makes a difference.
const PAIRS_OF_MAX: usize = 64;
/// Most faults that are left out three by three.
const TRIPLES_OF_MAX: usize = 16;

/// Leaves out each planned fault; then pairs, if neither fault alone made a difference, and triples, if no pair in them
/// did. Pairs and triples are listed if the failure is gone without them.
///
/// # Errors
/// When the recording passed, or the machine fails.
pub fn ablate(recording: &Recording, target: &mut dyn ReplayTarget) -> Result<Vec<Ablation>, ShrinkError> {
    let InitialReplay { smallest: candidate, identity, result } = first(recording, target)?;
    let recorded = RecordedAnswers::of(&result.log());
    let count = candidate.plan.faults.len();
    let mut run = |without: &[usize]| -> Result<Ablation, ShrinkError> {
        let mut row = Ablation { without: without.to_vec(), signature: None, still_fails: false, tries: 0, passed: 0 };
        while row.tries < TRIES_MAX && !row.still_fails {
            let (plan, source) = attempt(recording, &candidate, &recorded, without, row.tries);
            row.tries += 1;
            let found = identify(&target.execute(&plan, &candidate.inputs, source, 0..0)?);
            row.still_fails = found.as_ref() == Some(&identity);
            row.passed += u32::from(found.is_none());
            if let (Some(found), None, false) = (found, &row.signature, row.still_fails) {
                row.signature = Some(found.signature);
            }
        }
        if row.still_fails {
            row.signature = Some(identity.signature.clone());
        }
        Ok(row)
    };
    let mut all = (0..count).map(|place| run(&[place])).collect::<Result<Vec<_>, _>>()?;
    let spare: Vec<usize> = (0..count).filter(|place| all[*place].still_fails).take(PAIRS_OF_MAX).collect();
    let mut idle = BTreeSet::new();
    for (at, first) in spare.iter().enumerate() {
        for second in &spare[at + 1..] {
            let row = run(&[*first, *second])?;
            if row.still_fails {
                idle.insert([*first, *second]);
            } else {
                all.push(row);
            }
        }
    }
    let spare = &spare[..spare.len().min(TRIPLES_OF_MAX)];
    for (at, first) in spare.iter().enumerate() {
        for (further, second) in spare.iter().enumerate().skip(at + 1) {
            for third in &spare[further + 1..] {
                let pairs = [[*first, *second], [*first, *third], [*second, *third]];
                if pairs.iter().all(|pair| idle.contains(pair)) {
                    let row = run(&[*first, *second, *third])?;
                    all.extend((!row.still_fails).then_some(row));
                }
            }
        }
    }
    Ok(all)
}

/// The plan without some faults, and who answers in the try of this number.
fn attempt(
    recording: &Recording,
    candidate: &ShrinkCandidate,
    recorded: &RecordedAnswers,
    without: &[usize],
    number: u32,
) -> (Plan, Box<dyn DecisionSource>) {
    let faults = &candidate.plan.faults;
    // As shrinking leaves them out, so that what it finds superfluous is not said to be needed.
    if number == 1 {
        let is_left = |(place, fault): (usize, &FaultPlan)| (!without.contains(&place)).then(|| fault.clone());
        let plan = Plan { faults: faults.iter().enumerate().filter_map(is_left).collect(), ..candidate.plan.clone() };
        return (plan, source(candidate, recording.seed, &recording.observations).0);
    }
    // A fault that never strikes is asked for all the same, so that the questions of the others keep their places.
    let quiet = |(place, fault): (usize, &FaultPlan)| match without.contains(&place) {
        true => FaultPlan { rate_ppm: 0, ..fault.clone() },
        false => fault.clone(),
    };
    let plan = Plan { faults: faults.iter().enumerate().map(quiet).collect(), ..candidate.plan.clone() };
    let observed = (Arc::clone(&recording.observations), recording.inputs.clone());
    (plan, Box::new(SiteSource::new(recording.seed, observed, recorded.clone(), number)))
}
