//! Values in explorations of whole runs: what a run compares is looked at in two runs of its answers, the values drawn anew in one.
//!
//! ```text
//! run      random bytes 3f a0 07 91      showed something new            in the ordinary build
//! as it was             3f a0 07 91      compared 9107a03f == 5eed1234 ┐ in the build that logs: twice the operand stands at
//! drawn anew            c2 18 e5 60      compared 60e518c2 == 5eed1234 ┘ the same bytes, so that it is no chance
//! proposal              34 12 ed 5e      in the ordinary build; if it shows something new, it is looked at in its turn
//! ```
//!
//! An operand that is a sum, or a bitwise difference, of bytes and of what stays the same is met too: two runs tell which. The bytes of a
//! proposal that paid are pinned: what is compared behind them would not be compared if they were drawn anew.
//!
//! Invariants: all is bounded; without a payment, what is spent is a small share of all runs.
//! Not here: how runs are made (`explorer`).

use super::{Layout, LoggedAnswer, is_wide};
use crate::fuzz::{ComparisonBudget, Dictionary, InputToStatePair, OperandFixup, PairFinder, comparison_candidates};
use crate::rng::Rng;
use fozzy_trace::digest::{hex, unhex};
use fozzy_trace::source::Override;
use fozzy_trace::{CmpLogEntry, ComparisonKind};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;
use std::sync::Arc;

/// Runs whose comparisons wait to be looked at; the oldest ones go first.
const REQUESTS_MAX: usize = 64;
/// Proposals that wait.
const QUEUE_MAX: usize = 1024;
/// Proposals of one run: those that two runs confirm, and others.
const CONFIRMED_MAX: usize = 64;
const OTHERS_MAX: usize = 6;
/// Bytes of an operand that say something, from which on it is no chance that they stand among the answers.
const TELLING_BYTES: usize = 3;
/// A value of so few bytes may be one of several that are compared one by one.
const NARROW_BYTES: usize = 2;
/// Answers of a run up to which it is looked at.
const ANSWERS_MAX: usize = 1 << 14;
/// Runs that may go to values in any case, for each payment, and as a share of all runs.
const FREE_RUNS: u64 = 48;
const PAYMENT_RUNS: u64 = 48;
const SHARE: u64 = 16;
/// Comparisons of one place, and bytes of answers, among which sums are looked for.
const RELATED_OF_SITE: usize = 4;
const RELATED_BYTES: usize = 512;

/// Bytes of an answer that stay as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::explore) struct PinnedBytes {
    answer: usize,
    bytes: Range<usize>,
}

/// A run whose comparisons are to be looked at.
#[derive(Clone, Debug)]
pub(in crate::explore) struct ComparisonRequest {
    pub(in crate::explore) answers: Arc<[Override]>,
    pinned: Vec<PinnedBytes>,
    /// The place of a comparison, and how often it must compare for the run to be of use.
    beyond: Option<(u64, usize)>,
}

/// A run that puts a value.
#[derive(Clone, Debug)]
pub(in crate::explore) struct RunProposal {
    pub(in crate::explore) script: Arc<[Override]>,
    pub(in crate::explore) fixup: OperandFixup,
    pub(in crate::explore) pinned: Vec<PinnedBytes>,
    /// Of a value of a byte or two that two runs confirm, how often its place has compared.
    compared: Option<usize>,
}

/// What is done next about values.
pub(in crate::explore) enum ValueRun {
    /// These answers, twice, with a look at what is compared.
    Compare(ComparisonRequest),
    /// This one.
    Propose(RunProposal),
}

/// What a run was answered and has compared.
#[derive(Debug, Default)]
pub(in crate::explore) struct ComparedRun {
    pub(in crate::explore) answers: Vec<LoggedAnswer>,
    pub(in crate::explore) log: Vec<CmpLogEntry>,
}

/// Proposals for whole runs.
#[derive(Default)]
pub(in crate::explore) struct WholeRunValues {
    requests: VecDeque<ComparisonRequest>,
    queue: VecDeque<RunProposal>,
    budget: ComparisonBudget,
    dictionary: Dictionary,
    pairs: PairFinder,
    spent: u64,
    paid: u64,
}

/// A value that may be put: the answers with it, the last that is another one, and what it meets.
struct PlacedValue {
    changed: Vec<Override>,
    last: usize,
    fixup: OperandFixup,
    pinned: Vec<PinnedBytes>,
    compared: Option<usize>,
}

/// The first values whose comparisons may be tried once more.
struct BoundedValues {
    values: Vec<PlacedValue>,
    most: usize,
}

impl BoundedValues {
    fn new(most: usize) -> BoundedValues {
        BoundedValues { values: Vec::new(), most }
    }

    fn is_full(&self) -> bool {
        self.values.len() == self.most
    }

    fn push(&mut self, value: PlacedValue, budget: &ComparisonBudget) {
        if !self.is_full() && budget.is_left(value.fixup) {
            self.values.push(value);
        }
    }
}

impl WholeRunValues {
    /// A run of these answers showed something new.
    pub(in crate::explore) fn request(&mut self, answers: Vec<Override>, pinned: Vec<PinnedBytes>) {
        self.push(ComparisonRequest { answers: answers.into(), pinned, beyond: None });
    }

    /// A proposal of these answers showed nothing new. Edges do not tell the fifth round of a loop over bytes from the fourth, but
    /// the loop compares once more.
    pub(in crate::explore) fn look_beyond(&mut self, answers: Vec<Override>, proposal: RunProposal) {
        let RunProposal { fixup, pinned, compared, .. } = proposal;
        if let Some(compared) = compared {
            self.push(ComparisonRequest { answers: answers.into(), pinned, beyond: Some((fixup.site, compared)) });
        }
    }

    fn push(&mut self, request: ComparisonRequest) {
        if request.answers.len() > ANSWERS_MAX {
            return;
        }
        if self.requests.len() == REQUESTS_MAX {
            self.requests.pop_front();
        }
        self.requests.push_back(request);
    }

    /// Whether the first run of a request shows that a second one is of use. One that came further than the proposal before it has paid.
    pub(in crate::explore) fn is_of_use(&mut self, run: &ComparedRun, request: &ComparisonRequest) -> bool {
        let Some((site, compared)) = request.beyond else { return true };
        let is_further = times(&run.log, site) > compared;
        self.paid += u64::from(is_further);
        is_further
    }

    /// What is tried next, of `runs` so far: the latest first, as it lies deepest.
    pub(in crate::explore) fn next(&mut self, runs: u64) -> Option<ValueRun> {
        if self.spent > FREE_RUNS + PAYMENT_RUNS * self.paid + runs / SHARE {
            return None;
        }
        let budget = &mut self.budget;
        let mut latest = std::iter::from_fn(|| self.queue.pop_back());
        let proposal = latest.find(|proposal| budget.allows(proposal.fixup)).map(ValueRun::Propose);
        proposal.or_else(|| self.requests.pop_back().map(ValueRun::Compare))
    }

    /// A run was made for values.
    pub(in crate::explore) fn spend(&mut self) {
        self.spent += 1;
    }

    /// A proposal showed something new.
    pub(in crate::explore) fn record_success(&mut self, fixup: OperandFixup) {
        self.paid += 1;
        self.budget.record_success(fixup);
    }

    /// The answers of a run, its values drawn anew where they are not pinned.
    pub(in crate::explore) fn redraw(run: &ComparedRun, request: &ComparisonRequest, rng: &mut Rng) -> Arc<[Override]> {
        let redrawn = |(number, logged): (usize, &LoggedAnswer)| match &logged.answer {
            Override::Bytes(digits) if is_wide(logged) => {
                let old = unhex(digits).unwrap_or_default();
                let mut bytes = vec![0; old.len()];
                rng.fill(&mut bytes);
                for pinned in request.pinned.iter().filter(|pinned| pinned.answer == number) {
                    let range = pinned.bytes.start.min(old.len())..pinned.bytes.end.min(old.len());
                    bytes[range.clone()].copy_from_slice(&old[range]);
                }
                Override::Bytes(hex(&bytes))
            }
            Override::Number(_) if is_wide(logged) && !request.pinned.iter().any(|pinned| pinned.answer == number) => {
                Override::Number(rng.below(logged.bound.max(1)))
            }
            answer => answer.clone(),
        };
        run.answers.iter().enumerate().map(redrawn).collect()
    }

    /// Proposes what may meet the comparisons of a run; `again` is the run with its values drawn anew.
    pub(in crate::explore) fn learn(
        &mut self,
        run: &ComparedRun,
        again: &ComparedRun,
        request: &ComparisonRequest,
        rng: &mut Rng,
    ) {
        if run.answers.len() > ANSWERS_MAX || !run.answers.iter().any(is_wide) {
            return;
        }
        // Each holds all answers of the run, so that no more are made than are kept.
        let (mut confirmed, mut others) = (BoundedValues::new(CONFIRMED_MAX), BoundedValues::new(OTHERS_MAX));
        let layouts = [Layout::whole as fn(&[LoggedAnswer]) -> Layout, Layout::elements];
        for layout_of in layouts {
            let (layout, other) = (layout_of(&run.answers), layout_of(&again.answers));
            if layout.is_text && layout.bytes.len() < 2 {
                continue;
            }
            let pairs = self.pairs.pairs(&run.log, &layout.bytes, &mut self.dictionary);
            let pairs_again = self.pairs.pairs(&again.log, &other.bytes, &mut self.dictionary);
            let places = comparison_candidates(&pairs_again, &other.bytes).filter(|(pair, _)| !pair.is_shift());
            let known: BTreeSet<_> = places.map(|(pair, place)| (pair.site, pair.width(), place)).collect();
            for (pair, place) in comparison_candidates(&pairs, &layout.bytes).filter(|(pair, _)| !pair.is_shift()) {
                let Some((changed, last, fixup)) = layout.put(&run.answers, pair, place) else { continue };
                let pinned = layout.pinned(place, pair.width());
                let is_narrow = pair.width() <= NARROW_BYTES;
                let compared = is_narrow.then(|| times(&run.log, pair.site));
                let value = PlacedValue { changed, last, fixup, pinned, compared };
                let changes = other.bytes.get(place..place + pair.width()) != Some(pair.find.bytes());
                match changes && known.contains(&(pair.site, pair.width(), place)) {
                    true => confirmed.push(value, &self.budget),
                    false if pair.telling() >= TELLING_BYTES => others.push(value, &self.budget),
                    false => {}
                }
            }
            push_related(run, again, (&layout, &other), &mut confirmed, &self.budget);
        }
        let (mut confirmed, others) = (confirmed.values, others.values);
        forget_twins(&mut confirmed);
        // The first are the likeliest, and are to be tried first.
        for PlacedValue { mut changed, last, fixup, pinned, compared } in confirmed.into_iter().chain(others).rev() {
            if rng.one_in(2) {
                changed.truncate(last + 1);
            }
            if self.queue.len() == QUEUE_MAX {
                self.queue.pop_front();
            }
            let pinned = request.pinned.iter().cloned().chain(pinned).collect();
            self.queue.push_back(RunProposal { script: changed.into(), fixup, pinned, compared });
        }
    }
}

/// A word and its bytes may come to the same answers.
fn forget_twins(values: &mut Vec<PlacedValue>) {
    let twins: Vec<bool> =
        (0..values.len()).map(|at| values[..at].iter().any(|earlier| earlier.changed == values[at].changed)).collect();
    let mut twins = twins.into_iter();
    values.retain(|_| !twins.next().unwrap_or_default());
}

/// How often a place has compared.
fn times(log: &[CmpLogEntry], site: u64) -> usize {
    log.iter().filter(|entry| entry.site == site).count()
}

impl Layout {
    /// The answers that these bytes come from, and their bytes in each.
    fn pinned(&self, place: usize, width: usize) -> Vec<PinnedBytes> {
        let of = |part: &super::LayoutPart| {
            let (from, to) = (place.max(part.at), (place + width).min(part.at + part.width));
            (from < to).then(|| PinnedBytes { answer: part.answer, bytes: from - part.at..to - part.at })
        };
        self.parts.iter().filter_map(of).collect()
    }
}

/// A comparison whose one side stayed as it was, while the other one went with the answers.
struct RelatedComparison {
    site: u64,
    /// Bytes of both sides.
    bytes: usize,
    wanted: u64,
    seen: [u64; 2],
}

/// Adds values that meet a comparison with a sum or a bitwise difference of what was drawn and of something that stays.
fn push_related(
    run: &ComparedRun,
    again: &ComparedRun,
    (layout, other): (&Layout, &Layout),
    found: &mut BoundedValues,
    budget: &ComparisonBudget,
) {
    if layout.is_text || layout.bytes.len() != other.bytes.len() {
        return;
    }
    for compared in related_comparisons(run, again) {
        for width in [8, 4, 2].into_iter().filter(|width| *width <= compared.bytes) {
            let windows = layout.bytes.windows(width).zip(other.bytes.windows(width)).take(RELATED_BYTES);
            for (place, (one, two)) in windows.enumerate().filter(|(_, (one, two))| one != two) {
                if found.is_full() {
                    return;
                }
                for big in [false, true] {
                    let fields = [field(one, big), field(two, big)];
                    let Some(put) = compared.solve(fields, width) else { continue };
                    let mut bytes = put.to_le_bytes()[..width].to_vec();
                    if big {
                        bytes.reverse();
                    }
                    let pair = InputToStatePair::replacing(one, &bytes, compared.site);
                    let Some((changed, last, fixup)) = layout.put(&run.answers, &pair, place) else { continue };
                    let pinned = layout.pinned(place, width);
                    found.push(PlacedValue { changed, last, fixup, pinned, compared: None }, budget);
                }
            }
        }
    }
}

/// The comparisons of two runs that a value may have changed, the nth of a place beside the nth.
fn related_comparisons(run: &ComparedRun, again: &ComparedRun) -> Vec<RelatedComparison> {
    let mut of_site: BTreeMap<u64, Vec<&CmpLogEntry>> = BTreeMap::new();
    for entry in &again.log {
        of_site.entry(entry.site).or_default().push(entry);
    }
    let mut seen: BTreeMap<u64, usize> = BTreeMap::new();
    let mut found = Vec::new();
    for entry in &run.log {
        let (ComparisonKind::Equal { bits } | ComparisonKind::Order { bits, .. }) = entry.kind else { continue };
        let number = seen.entry(entry.site).or_default();
        *number += 1;
        let Some(twin) = of_site.get(&entry.site).and_then(|all| all.get(*number - 1)) else { continue };
        if *number > RELATED_OF_SITE || entry.left == entry.right {
            continue;
        }
        let sides =
            [(entry.left, twin.left, entry.right, twin.right), (entry.right, twin.right, entry.left, twin.left)];
        for (one, two, wanted, stays) in sides {
            if one != two && wanted == stays {
                found.push(RelatedComparison {
                    site: entry.site,
                    bytes: usize::from(bits / 8),
                    wanted,
                    seen: [one, two],
                });
            }
        }
    }
    found
}

fn field(bytes: &[u8], big: bool) -> u64 {
    let byte = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
    if big { bytes.iter().fold(0, byte) } else { bytes.iter().rev().fold(0, byte) }
}

impl RelatedComparison {
    /// What a field becomes that was these in both runs; `None` when the operand does not go with it, or is the field itself.
    fn solve(&self, fields: [u64; 2], width: usize) -> Option<u64> {
        let mask = if width == 8 { u64::MAX } else { (1 << (8 * width)) - 1 };
        let own = if self.bytes == 8 { u64::MAX } else { (1 << (8 * self.bytes)) - 1 };
        let fits = |value: u64| (value <= mask).then_some(value);
        let sum = |n: usize| self.seen[n].wrapping_sub(fields[n]) & own;
        let bits = |n: usize| self.seen[n] ^ fields[n];
        if sum(0) == 0 {
            return None;
        }
        if sum(0) == sum(1) {
            return fits(self.wanted.wrapping_sub(sum(0)) & own);
        }
        (bits(0) == bits(1)).then(|| self.wanted ^ bits(0)).and_then(fits)
    }
}

#[cfg(test)]
mod tests;
