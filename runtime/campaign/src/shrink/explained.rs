//! What `shrink --explain` has tried, as a document: with the call that asked each question, and where the program made it.
//!
//! ```text
//! decision 5 ─look─▶ the last call that decided: 12 ─look─▶ the stack before it ─▶ its first own frame
//! ```
//!
//! Invariant: a decision whose call is not found is shown without one.

use crate::error::CampaignError;
use crate::pipeline::session_of;
use fozzy_check::is_own;
use fozzy_engine::Session;
use fozzy_report::ExplainedDecision;
use fozzy_search::shrink::{Explanation, VariedPart};
use fozzy_search::source_of;
use fozzy_trace::digest::unhex;
use fozzy_trace::facts::VariedInput;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::ARRIVAL_SITE;
use fozzy_trace::source::Override;
use fozzy_trace::{Executor, HistoryEntry, Plan, StopPoint};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Those of the smallest failure.
pub fn explained_decisions(
    smallest: &Recording,
    explained: &[Explanation],
) -> Result<Vec<ExplainedDecision>, CampaignError> {
    if explained.is_empty() {
        return Ok(Vec::new());
    }
    let mut calls = DecidingCalls::of(smallest)?;
    let mut moments = input_moments(smallest, explained)?.into_iter();
    let documents = explained.iter().map(|explanation| {
        let words = if is_moment(&explanation.subject) { moments.next() } else { text(&explanation.subject) };
        document(explanation, words, &mut calls)
    });
    let documents: Result<Vec<_>, _> = documents.collect();
    let numbered = |explained: ExplainedDecision| {
        let step = explained.step.map(|step| number_of_step(&smallest.plan, step));
        ExplainedDecision { step, ..explained }
    };
    Ok(documents?.into_iter().map(numbered).collect())
}

/// The number of a step among those that are left, from 1, as the steps of a failure are shown.
fn number_of_step(plan: &Plan, step: u32) -> u32 {
    let kept = plan.scenario.iter().flat_map(|scenario| &scenario.only).flat_map(|kept| &kept.steps);
    let before = kept.map(|(from, to)| step.min(*to).saturating_sub(*from)).sum::<u32>();
    let is_named = plan.scenario.as_ref().is_some_and(|scenario| scenario.only.len() == 1);
    if is_named { before + 1 } else { step + 1 }
}

/// Whether it is when something of standard input comes.
fn is_moment(subject: &VariedPart) -> bool {
    matches!(subject, VariedPart::Decision(decision) if decision.site == ARRIVAL_SITE)
}

/// When what came of standard input was decided to come, in the order of the decisions; nothing where these are of several machines.
fn input_moments(smallest: &Recording, explained: &[Explanation]) -> Result<Vec<String>, CampaignError> {
    let asked = explained.iter().filter(|explanation| is_moment(&explanation.subject)).count();
    if asked == 0 {
        return Ok(Vec::new());
    }
    let varied = session_of(smallest)?.execute(source_of(smallest), 0..0)?.facts.varied_input;
    let is_known = varied.len() == asked && varied.windows(2).all(|pair| pair[0].node == pair[1].node);
    let words = |input: &VariedInput| match input.at == input.planned {
        true => format!("{}, as planned", input.at),
        false => format!("{}, planned for {}", input.at, input.planned),
    };
    Ok(varied.iter().filter(|_| is_known).map(words).collect())
}

/// Bytes as the text that they are.
fn text(subject: &VariedPart) -> Option<String> {
    let is_text = |bytes: &[u8]| bytes.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    match subject {
        VariedPart::Byte { byte, .. } | VariedPart::Stdin { byte, .. } => {
            is_text(&[*byte]).then(|| format!("{:?}", char::from(*byte)))
        }
        VariedPart::Decision(decision) => {
            let Override::Bytes(digits) = &decision.answer else { return None };
            let bytes = unhex(digits).filter(|bytes| !bytes.is_empty() && is_text(bytes))?;
            Some(format!("{:?}", String::from_utf8(bytes).ok()?))
        }
    }
}

fn document(
    explanation: &Explanation,
    words: Option<String>,
    calls: &mut DecidingCalls<'_>,
) -> Result<ExplainedDecision, CampaignError> {
    let Explanation { subject, number, tried, is_free } = explanation;
    let (step, site, answer) = match subject {
        VariedPart::Decision(decision) => {
            let answer = match &decision.answer {
                Override::Number(number) => number.to_string(),
                Override::Bytes(digits) => digits.clone(),
            };
            (decision.key.part.step_number(), decision.site.clone(), answer)
        }
        VariedPart::Byte { decision, at, byte } => {
            (decision.key.part.step_number(), format!("{}, byte {at}", decision.site), format!("{byte:02x}"))
        }
        VariedPart::Stdin { at, byte } => (None, format!("standard input, byte {at}"), format!("{byte:02x}")),
    };
    let (call, place) = match number {
        Some(number) => calls.of_decision(*number)?,
        None => (None, None),
    };
    Ok(ExplainedDecision { step, site, answer, words, tried: *tried as u64, free: *is_free, call, place })
}

/// The calls of a recording that decided something.
struct DecidingCalls<'a> {
    recording: &'a Recording,
    session: Session,
    known: BTreeMap<u64, (Option<u64>, Option<String>)>,
}

impl DecidingCalls<'_> {
    fn of(recording: &Recording) -> Result<DecidingCalls<'_>, CampaignError> {
        Ok(DecidingCalls { recording, session: session_of(recording)?, known: BTreeMap::new() })
    }

    /// The last call that decided something before a moment.
    fn last_before(&mut self, until: StopPoint) -> Result<Option<HistoryEntry>, CampaignError> {
        let last: Arc<Mutex<Option<HistoryEntry>>> = Arc::default();
        let kept = Arc::clone(&last);
        // It is followed for one execution.
        self.session.follow(Box::new(move |entry| {
            if entry.decision {
                *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(entry);
            }
        }));
        self.session.look(source_of(self.recording), until, 0..u64::MAX)?;
        Ok(last.lock().unwrap_or_else(PoisonError::into_inner).take())
    }

    /// The call that took a decision, and where the program made it.
    fn of_decision(&mut self, number: u64) -> Result<(Option<u64>, Option<String>), CampaignError> {
        if let Some(known) = self.known.get(&number) {
            return Ok(known.clone());
        }
        let found = match self.last_before(StopPoint::Decision(number))? {
            None => (None, None),
            Some(call) => {
                let look = self.session.look(source_of(self.recording), StopPoint::Call(call.index), 0..u64::MAX)?;
                let stack = look.guests.get(&call.node).map(|guest| guest.stack.as_slice()).unwrap_or_default();
                let own = stack.iter().filter(|frame| is_own(frame)).map(|frame| &frame.source);
                let place = own.filter_map(|at| Some((at.file.as_ref()?, at.line?, at.col?))).next();
                (Some(call.index), place.map(|(file, line, col)| format!("{file}:{line}:{col}")))
            }
        };
        self.known.insert(number, found.clone());
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::plan::{KeptSequence, ScenarioKind, ScenarioPlan};

    #[test]
    fn steps_have_the_numbers_that_they_are_shown_with() {
        let only = vec![KeptSequence { kind: ScenarioKind::Stateful, sequence: 2, steps: vec![(3, 5), (8, 9)] }];
        let shrunk = Plan { scenario: Some(ScenarioPlan { only, ..ScenarioPlan::all(4, 20) }), ..Plan::default() };
        assert_eq!([3, 4, 8].map(|step| number_of_step(&shrunk, step)), [1, 2, 3]);
        let whole = Plan { scenario: Some(ScenarioPlan::all(1, 20)), ..Plan::default() };
        assert_eq!(number_of_step(&whole, 8), 9);
    }
}
