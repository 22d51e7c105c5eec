//! Values that are compared: where a drawn answer stands on one side of a comparison, the other side is proposed for a next try.
//!
//! ```text
//! step      drew 0 of 3, 7712 of 2^32      compared 7712 == 3735879746
//! input     00 │ 00 00 1e 20               input-to-state, as in `fuzz`: put de ad 00 42
//! proposal  from the same place, the same answers but for that one; what comes after it, as it was or drawn anew
//! ```
//!
//! The answers of a step are laid out as the input of a fuzz target is, and as texts of elements that were drawn one by one;
//! `fuzz::input_to_state` finds what to put where, and `fuzz::comparison_budget` says what is worth another try. A step that
//! showed something new is also tried again with a part of it drawn anew, and gone on from: the next value that is compared may
//! have been drawn from a few small ones only.
//!
//! Invariants: a proposal is answers that the questions of the step allow; proposals and what they are made of are bounded.
//! Not here: when a proposal is tried (`explorer`).

mod whole_runs;

use super::bandit::Reward;
use super::decision_path::PathNode;
use super::guided_source::LoggedAnswer;
use crate::fuzz::{ComparisonBudget, Dictionary, InputToStatePair, OperandFixup, PairFinder, comparison_candidates};
use crate::rng::Rng;
use fozzy_trace::CmpLogEntry;
use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::source::Override;
use std::collections::VecDeque;
use std::sync::Arc;
pub(super) use whole_runs::{ComparedRun, ComparisonRequest, PinnedBytes, RunProposal, ValueRun, WholeRunValues};

/// A question with fewer answers is solved by chance.
const WIDE_MIN: u64 = 90;
/// Proposals of one step.
const STEP_PROPOSALS_MAX: usize = 48;
/// Proposals that wait; the oldest ones go first, as what was compared later lies deeper.
const QUEUE_MAX: usize = 256;
/// The same for proposals that put no value, and for steps that continue from something new.
const OTHERS_MAX: usize = 64;
const FURTHER_MAX: usize = 64;
/// Answers of a run up to which it is repeated by a proposal.
const ANSWERS_MAX: usize = 1 << 14;
/// Bytes of a step's answers that are looked at.
const INPUT_BYTES_MAX: usize = 1 << 14;
/// Runs that each payment is worth.
const PAYMENT_RUNS: u64 = 32;
/// How often a search continues at once from a step that showed something new, to what is compared next.
const CONTINUATIONS: usize = 4;
/// Steps that showed something new and are tried again with a part of them drawn anew, the latest ones.
const STEPS_MAX: usize = 32;
/// Printable characters: an alphabet of as many is theirs, from the space on.
const PRINTABLE: u64 = 95;

/// A try that is worth making.
#[derive(Clone, Debug)]
pub(super) struct Proposal {
    /// Where it begins.
    pub(super) origin: Arc<PathNode>,
    pub(super) script: Arc<[Override]>,
    pub(super) steps: u32,
    /// The comparison that it is to meet.
    pub(super) fixup: Option<OperandFixup>,
}

/// A step, and what it drew.
pub(super) struct TypedStep<'a> {
    /// Where its run began, or the last place that it kept.
    pub(super) origin: &'a Arc<PathNode>,
    /// The place that was kept behind it.
    pub(super) place: Option<&'a Arc<PathNode>>,
    /// Answers since then, those of the step at the end.
    pub(super) answers: &'a [LoggedAnswer],
    /// Where those of the step begin.
    pub(super) begin: usize,
    /// Steps since then, with this one.
    pub(super) steps: u32,
    /// Whether it showed something new.
    pub(super) is_new: bool,
}

/// A step that showed something new, with the answers of its run.
struct KeptStep {
    origin: Arc<PathNode>,
    answers: Vec<LoggedAnswer>,
    begin: usize,
    steps: u32,
}

/// Whether a question has too many answers for a comparison to be met by chance.
pub(super) fn is_wide(answer: &LoggedAnswer) -> bool {
    match answer.answer {
        Override::Bytes(_) => answer.is_drawn,
        Override::Number(_) => answer.is_drawn && !answer.is_weighted && answer.bound >= WIDE_MIN,
    }
}

/// Proposals, and what is known of comparisons.
pub(super) struct ValueProposals {
    /// Steps from where something new was seen: what is compared there is seen by them first.
    further: VecDeque<Proposal>,
    /// Those that put the other side of a comparison, and all others.
    queue: VecDeque<Proposal>,
    others: VecDeque<Proposal>,
    budget: ComparisonBudget,
    dictionary: Dictionary,
    pairs: PairFinder,
    log: Vec<CmpLogEntry>,
    /// Steps that showed something new.
    steps: VecDeque<KeptStep>,
    /// Whether any step drew a value that is worth it.
    pub(super) has_wide: bool,
    /// Values that were put and showed something new.
    paid: u64,
}

impl Default for ValueProposals {
    fn default() -> ValueProposals {
        ValueProposals {
            further: VecDeque::new(),
            queue: VecDeque::new(),
            others: VecDeque::new(),
            budget: ComparisonBudget::of_steps(),
            dictionary: Dictionary::default(),
            pairs: PairFinder::default(),
            log: Vec::new(),
            steps: VecDeque::new(),
            has_wide: false,
            paid: 0,
        }
    }
}

impl ValueProposals {
    /// Those that put a value.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Whether there is anything to try within the shares of the strategy and of values: proposals that put a value, or
    /// continue from something new, get half of the steps, the others a quarter; and half of the runs, as long as they
    /// do not pay.
    pub(super) fn can_propose(&self, strategy: Reward, values: Reward) -> bool {
        if values.runs > strategy.runs + PAYMENT_RUNS * self.paid {
            return false;
        }
        let (values, steps) = (values.steps, strategy.steps + values.steps);
        let has_first = self.further.len() + self.queue.len() > 0;
        let has_others = self.others.len() + self.steps.len() > 0;
        (has_first && 2 * values <= steps) || (has_others && 4 * values <= steps)
    }

    /// The one that was made last: it may be the deepest. Without one, a step that showed something new, partly drawn anew.
    pub(super) fn next(&mut self, rng: &mut Rng) -> Option<Proposal> {
        let budget = &mut self.budget;
        // What was tried often enough since it was proposed is left out.
        let mut allowed = |queue: &mut VecDeque<Proposal>| {
            std::iter::from_fn(|| queue.pop_back()).find(|next| next.fixup.is_none_or(|fixup| budget.allows(fixup)))
        };
        let first = self.further.pop_back().or_else(|| allowed(&mut self.queue));
        first.or_else(|| allowed(&mut self.others)).or_else(|| self.redraw(rng))
    }

    /// The later a step was kept, the likelier it is.
    fn redraw(&mut self, rng: &mut Rng) -> Option<Proposal> {
        let latest = rng.length(self.steps.len().max(1)).min(self.steps.len());
        let KeptStep { origin, answers, begin, steps } = self.steps.get(self.steps.len().checked_sub(latest)?)?;
        let at = rng.between(*begin, answers.len() - 1);
        let mut script: Vec<Override> = answers.iter().map(|answer| answer.answer.clone()).collect();
        match (&mut script[at], rng.one_in(2)) {
            (Override::Number(number), true) if answers[at].is_drawn => *number = rng.below(answers[at].bound.max(1)),
            _ => script.truncate(at),
        }
        Some(Proposal { origin: Arc::clone(origin), script: script.into(), steps: *steps, fixup: None })
    }

    /// A proposal showed something new.
    pub(super) fn record_success(&mut self, fixup: OperandFixup) {
        self.paid += u64::from(fixup.is_placed());
        self.budget.record_success(fixup);
    }

    /// The log of the next step; it is empty.
    pub(super) fn log(&mut self) -> &mut Vec<CmpLogEntry> {
        self.log.clear();
        &mut self.log
    }

    /// Looks at what a step compared, which is in the log, and proposes what may meet it.
    pub(super) fn learn(&mut self, step: &TypedStep<'_>, rng: &mut Rng) {
        let TypedStep { answers, begin, .. } = *step;
        if answers.len() > ANSWERS_MAX || !answers[begin..].iter().any(is_wide) {
            return;
        }
        let own = &answers[begin..];
        let mut found: Vec<(Vec<Override>, usize, OperandFixup)> = Vec::new();
        for layout in [Layout::whole(own), Layout::elements(own)] {
            if layout.is_text && layout.bytes.len() < 2 {
                continue;
            }
            let pairs = self.pairs.pairs(&self.log, &layout.bytes, &mut self.dictionary);
            let direct = comparison_candidates(&pairs, &layout.bytes).filter(|(pair, _)| !pair.is_shift());
            let direct = direct.filter(|(pair, _)| !layout.is_text || pair.width() > 1);
            let direct = direct.map(|(pair, place)| layout.put(own, pair, place));
            let shifted = pairs.iter().flat_map(|pair| layout.shift(own, pair));
            for (changed, last, fixup) in direct.chain(shifted.map(Some)).flatten() {
                if found.len() < STEP_PROPOSALS_MAX && self.budget.is_left(fixup) {
                    found.push((changed, last, fixup));
                }
            }
        }
        if step.is_new {
            self.go_further(step);
            let origin = Arc::clone(step.origin);
            self.steps.push_back(KeptStep { origin, answers: answers.to_vec(), begin, steps: step.steps });
            self.steps.drain(..self.steps.len().saturating_sub(STEPS_MAX));
        }
        // The first are the likeliest, and are to be tried first.
        for (mut changed, last, fixup) in found.into_iter().rev() {
            if rng.one_in(2) {
                changed.truncate(last + 1);
            }
            // What showed nothing new may be left out, or be what the step needs.
            let (begin, steps) = if rng.one_in(2) { (0, 1) } else { (step.begin, step.steps) };
            let before = step.answers[..begin].iter().map(|answer| answer.answer.clone());
            let script = before.chain(changed).collect();
            let (queue, most) = match fixup.is_placed() {
                true => (&mut self.queue, QUEUE_MAX),
                false => (&mut self.others, OTHERS_MAX),
            };
            let proposal = Proposal { origin: Arc::clone(step.origin), script, steps, fixup: Some(fixup) };
            push(queue, proposal, most);
        }
    }

    /// A step showed something new: what is compared next is seen by going on from there.
    fn go_further(&mut self, step: &TypedStep<'_>) {
        let whole = || step.answers.iter().map(|answer| answer.answer.clone()).collect();
        let (origin, script, steps) = match step.place {
            Some(place) => (place, Arc::from([]), 1),
            None => (step.origin, whole(), step.steps + 1),
        };
        for _ in 0..CONTINUATIONS {
            let (origin, script) = (Arc::clone(origin), Arc::clone(&script));
            push(&mut self.further, Proposal { origin, script, steps, fixup: None }, FURTHER_MAX);
        }
    }
}

/// The oldest one makes room.
fn push(queue: &mut VecDeque<Proposal>, proposal: Proposal, most: usize) {
    if queue.len() == most {
        queue.pop_front();
    }
    queue.push_back(proposal);
}

/// The answers of a step as bytes.
struct Layout {
    bytes: Vec<u8>,
    parts: Vec<LayoutPart>,
    /// Whether these are elements of a text: one byte each, and other answers between them.
    is_text: bool,
}

/// Where an answer stands.
#[derive(Clone, Copy, Debug)]
struct LayoutPart {
    answer: usize,
    at: usize,
    width: usize,
    /// What is added to a number.
    base: u64,
}

impl Layout {
    /// Numbers in the order in which two halves of a wide one are drawn, the higher one first; bytes as they are.
    fn whole(own: &[LoggedAnswer]) -> Layout {
        let mut layout = Layout { bytes: Vec::new(), parts: Vec::new(), is_text: false };
        for (answer, logged) in own.iter().enumerate() {
            let bytes = match &logged.answer {
                Override::Bytes(digits) if is_wide(logged) => unhex(digits).unwrap_or_default(),
                // One element of a text is met by chance, and stands on a side of too many comparisons.
                Override::Number(number) if is_wide(logged) && !matches!(logged.bound, PRINTABLE | 256) => {
                    number.to_be_bytes()[8 - width_of(logged.bound)..].to_vec()
                }
                Override::Bytes(_) | Override::Number(_) => continue,
            };
            if layout.bytes.len() + bytes.len() > INPUT_BYTES_MAX {
                break;
            }
            layout.parts.push(LayoutPart { answer, at: layout.bytes.len(), width: bytes.len(), base: 0 });
            layout.bytes.extend(bytes);
        }
        layout
    }

    /// Characters and bytes that were drawn one by one.
    fn elements(own: &[LoggedAnswer]) -> Layout {
        let mut layout = Layout { bytes: Vec::new(), parts: Vec::new(), is_text: true };
        for (answer, logged) in own.iter().enumerate().take(INPUT_BYTES_MAX) {
            let base = match logged.bound {
                PRINTABLE => u64::from(b' '),
                256 => 0,
                _ => continue,
            };
            let (Override::Number(number), true) = (&logged.answer, logged.is_drawn) else { continue };
            layout.parts.push(LayoutPart { answer, at: layout.bytes.len(), width: 1, base });
            layout.bytes.push((number + base) as u8);
        }
        layout
    }

    /// The answers with `pair` put at a place, and the last one that it changed; `None` when the questions do not allow it.
    fn put(
        &self,
        own: &[LoggedAnswer],
        pair: &InputToStatePair,
        place: usize,
    ) -> Option<(Vec<Override>, usize, OperandFixup)> {
        let fixup = OperandFixup::of(pair, place, &self.bytes);
        let mut bytes = self.bytes.clone();
        pair.put(&mut bytes, place);
        if bytes.len() != self.bytes.len() {
            let (changed, last) = self.resized(own, place, pair.width(), &bytes)?;
            return Some((changed, last, fixup));
        }
        let mut changed: Vec<Override> = own.iter().map(|logged| logged.answer.clone()).collect();
        let mut last = None;
        for part in &self.parts {
            let (old, new) = (&self.bytes[part.at..part.at + part.width], &bytes[part.at..part.at + part.width]);
            if old != new {
                let is_number = part.width > 1 && matches!(own[part.answer].answer, Override::Number(_));
                let is_part = is_number && pair.width() < part.width;
                let nonzero = old.iter().filter(|byte| **byte != 0).count();
                if is_part && (pair.telling() == 0 || pair.telling() == 1 && nonzero > 1) {
                    // One byte of a number that has more, or zeros, are mostly the same by chance.
                    return None;
                }
                changed[part.answer] = part.decode(new, &own[part.answer])?;
                last = Some(part.answer);
            }
        }
        Some((changed, last?, fixup))
    }

    /// A text that becomes longer or shorter: its length, which is drawn before it, is changed by as much.
    fn resized(
        &self,
        own: &[LoggedAnswer],
        place: usize,
        width: usize,
        bytes: &[u8],
    ) -> Option<(Vec<Override>, usize)> {
        if !self.is_text || width == 0 {
            return None;
        }
        let (first, put) = (self.parts[place].answer, bytes.len() + width - self.bytes.len());
        let last = self.parts[place + width - 1].answer;
        // What is drawn beside each element: of a character, which kind it is.
        let gap = match width {
            1 => usize::from(first > 0 && own[first - 1].bound == CHARACTER_KINDS),
            _ => self.parts[place + 1].answer - first - 1,
        };
        let begin = first.checked_sub(gap)?;
        let length = begin.checked_sub(1)?;
        let Override::Number(old) = &own[length].answer else { return None };
        let new = (old + put as u64).checked_sub(width as u64).filter(|new| *new < own[length].bound)?;
        let answer = |at: usize| own[at].answer.clone();
        let mut changed: Vec<Override> = (0..length).map(answer).chain([Override::Number(new)]).collect();
        for byte in &bytes[place..place + put] {
            changed.extend((begin..first).map(answer));
            changed.push(self.parts[place].decode(&[*byte], &own[first])?);
        }
        let end = changed.len() - 1;
        changed.extend((last + 1..own.len()).map(answer));
        Some((changed, end))
    }

    /// If neither side of a comparison is seen in the answers, one is a number plus a constant: the number is moved by
    /// the difference of the sides.
    fn shift(&self, own: &[LoggedAnswer], pair: &InputToStatePair) -> Vec<(Vec<Override>, usize, OperandFixup)> {
        let (Some((by, bits)), false) = (pair.difference(), self.is_text) else { return Vec::new() };
        let mut shifted = Vec::new();
        for (answer, logged) in own.iter().enumerate().filter(|(_, logged)| is_wide(logged)) {
            let Override::Number(number) = &logged.answer else { continue };
            // A number of 64 bits is two answers.
            let is_wide = |at: usize| own.get(at).is_some_and(|half| half.is_drawn && half.bound == 1 << 32);
            let mut changed: Vec<Override> = own.iter().map(|logged| logged.answer.clone()).collect();
            let last = match own.get(answer + 1).map(|low| &low.answer) {
                Some(Override::Number(low)) if bits == 64 && is_wide(answer) && is_wide(answer + 1) => {
                    let whole = (number << 32 | low).wrapping_add(by);
                    changed[answer] = Override::Number(whole >> 32);
                    changed[answer + 1] = Override::Number(whole & 0xffff_ffff);
                    answer + 1
                }
                _ => {
                    let extended = if bits == 32 { i64::from(by as u32 as i32) as u64 } else { by };
                    let moved = [number.wrapping_add(extended), number.wrapping_add(by)];
                    let Some(moved) = moved.into_iter().find(|moved| *moved < logged.bound) else { continue };
                    changed[answer] = Override::Number(moved);
                    answer
                }
            };
            // Another difference each time, and most of them for nothing: they count as one.
            shifted.push((changed, last, OperandFixup::of_value(pair.site, answer as u64)));
        }
        shifted
    }
}

/// Kinds of characters that the SDK draws one of, before each character, by the sum of their weights.
const CHARACTER_KINDS: u64 = 8;

/// Bytes of an answer below `bound`.
const fn width_of(bound: u64) -> usize {
    match bound {
        0..=0x100 => 1,
        0x101..=0x1_0000_0000 => 4,
        _ => 8,
    }
}

impl LayoutPart {
    fn decode(&self, bytes: &[u8], logged: &LoggedAnswer) -> Option<Override> {
        if let Override::Bytes(_) = logged.answer {
            return Some(Override::Bytes(hex(bytes)));
        }
        let number = bytes.iter().fold(0, |sum: u64, byte| sum << 8 | u64::from(*byte));
        let number = number.checked_sub(self.base)?;
        (number < logged.bound).then_some(Override::Number(number))
    }
}

#[cfg(test)]
mod tests;
