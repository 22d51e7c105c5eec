//! The loop of a campaign.
//!
//! ```text
//! seeds, then what was made up ─▶ execute, keep all that return
//! for ever: pick a testcase ─▶ new? log its comparisons, put each side where the other stands
//!                           └▶ a few dozen mutations
//!           new coverage    ─▶ shorten, keep      failure ─▶ confirm, save, make it smaller
//! ```
//!
//! Invariants: every execution is counted before it is made, and none is made past the bound, but for those
//! that shrink a failure; equal campaigns report the same events in the same order to the observer; an input that has
//! shown something new is kept, however the campaign ends.
//! Not here: stopping by a clock (`fozzy-campaign`).

use super::comparison_budget::{ComparisonBudget, TriedPlaces};
use super::corpus::{Corpus, Testcase};
use super::cost_control::CostControl;
use super::dictionary::Dictionary;
use super::input_to_state::{InputToStatePair, OperandFixup, PairFinder, candidates};
use super::length_control::LengthControl;
use super::mutate::{MutationContext, Mutator, Mutators};
use super::operand_stability::OperandStability;
use super::power_schedule::PowerSchedule;
use super::reduce::{erase, simplify};
use super::target::{FuzzTarget, MemoryUse};
use crate::feedback::{Feature, Feedback};
use crate::findings::{FailureRecord, Findings};
use crate::rng::Rng;
use crate::stats::outlook::Discoveries;
use crate::stats::{Estimate, Outlook};
use fozzy_trace::{
    CmpLogEntry, CmpLogSites, ComparisonKind, Digest, FailureSignature, HarnessError, Seed, Status, Verdict,
};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Mutations of a testcase each time that it is picked.
const MUTATIONS_A_PICK: u64 = 32;
/// Executions that are spent on shortening a testcase before it is kept.
const SHORTEN_TRIES: u64 = 24;
/// Testcases of at most this many bytes are kept as they are.
const SHORT_BYTES: usize = 4;
/// Executions that are spent on putting sides of comparisons into a testcase when it is picked first.
const COMPARISON_TRIES: u64 = 256;
/// The same, for an input that alone shows nothing new: its comparisons may be behind those of all testcases.
const STRAY_TRIES: u64 = 48;
/// What a testcase compares that is kept for its mutations: a tenth of a kilobyte each.
const PAIRS_KEPT: usize = 64;
/// The share of all executions that may go to comparisons, and how many may before that is looked at. A target that
/// compares much would never be mutated otherwise.
const COMPARING_SHARE: u64 = 3;
const COMPARING_FREE: u64 = 8192;
/// Executions that are spent on the comparisons of a testcase beyond that share.
const COMPARISON_TRIES_LEAST: u64 = 8;
/// Variants of a testcase whose comparisons are logged too, if executions are slow: each differs from it in one part.
const SIMILAR_INPUTS: usize = 8;
/// One round in this many looks at what such an input compares.
const STRAY_ROUNDS: u64 = 4;
/// Random bytes that are put behind a testcase to see what is compared then: lengths that are asked for before anything else,
/// and fields that were not there. Being random, they stand nowhere else in the input.
const TAIL_BYTES: std::ops::RangeInclusive<usize> = 8..=40;
/// Of the mutations of a testcase that meets comparisons, one in this many is mended so that it meets them again.
const REPAIRED: u64 = 4;
/// What was put so often for one site is a word, if one side of the site stands still: a sum is another one each time.
const WORD_TRIES: u32 = 4;
/// Comparisons of one testcase that are mended.
const REPAIRS_MAX: usize = 8;
/// One execution in this many tells how often its edges are taken.
const COUNTED: u64 = 16;
/// Executions that are spent on making the input of a failure smaller. They are none of the campaign's, so that a failure that is
/// found at its end is made as small as one at its beginning.
const MINIMIZE_TRIES: u64 = 4096;
/// The same of one that uses up its budget each time.
const MINIMIZE_TRIES_SLOW: u64 = 48;

/// Inputs of a failure that no run has confirmed that are run one after the other; then those whose number is a power of two.
const CONFIRM_TRIES: u64 = 16;

/// Inputs of before that are executed between two rounds, when there was no time for all of them at the start: as many as a round makes.
const SEEDS_A_ROUND: usize = MUTATIONS_A_PICK as usize;

/// What a campaign is a function of, beside its corpus and its target.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where its randomness comes from.
    pub seed: Seed,
    /// Which stream of it: each worker of several has another one.
    pub stream: u32,
    /// Executions after which it ends; `u64::MAX` for no bound.
    pub executions_max: u64,
    /// Bytes that an input can have.
    pub input_bytes_max: usize,
    /// The one mutator that is used; `None` for all, and for all else that makes inputs.
    pub only: Option<&'static Mutator>,
    /// Whether the input of a failure is made smaller.
    pub minimize: bool,
    /// Whether the first failure ends it.
    pub first_only: bool,
}

impl Default for Options {
    fn default() -> Options {
        let (seed, executions_max, input_bytes_max) = (Seed(0), u64::MAX, 4096);
        Options { seed, stream: 0, executions_max, input_bytes_max, only: None, minimize: false, first_only: false }
    }
}

/// Numbers of a campaign.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Stats {
    /// Executions.
    pub executions: u64,
    /// Of these, how many failed.
    pub failures: u64,
    /// Executions beside these that made inputs of failures smaller.
    pub minimizing: u64,
    /// Executions that failed in a way that no run of their inputs has.
    pub unconfirmed: u64,
    /// Edges that were taken.
    pub edges: u64,
    /// Edges, told apart by how often they were taken in one execution.
    pub features: u64,
    /// Testcases: seeds, and what was found.
    pub corpus: u64,
    /// Bytes of them.
    pub corpus_bytes: u64,
    /// Failures that differ.
    pub findings: u64,
    /// The last execution that found something new: coverage or a failure.
    pub last_new: u64,
    /// Edges taken in one execution only.
    pub edges_once: u64,
    /// Edges taken in two executions only.
    pub edges_twice: u64,
    /// Executions of the second half of all that found something new.
    pub discoveries_last_half: u64,
}

impl Stats {
    /// What is left to be found.
    #[must_use]
    pub fn estimate(&self) -> Estimate {
        Estimate::of(self.executions, self.edges_once, self.edges_twice)
    }

    /// What is to be expected if it goes on.
    #[must_use]
    pub fn outlook(&self) -> Outlook {
        Outlook { discoveries: self.discoveries_last_half }
    }
}

/// Hears what happens in a campaign, and keeps it.
pub trait FuzzObserver {
    /// An execution was made. `false` ends the campaign.
    fn on_execution(&mut self, stats: &Stats) -> bool;

    /// A testcase was found. It is reported at once, so that nothing is lost when the machine fails.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn on_testcase(&mut self, testcase: &Testcase) -> Result<(), HarnessError>;

    /// Whether inputs of before that are still to be executed are executed between rounds from now on, some of them each time. It is asked
    /// before each of them, so that a campaign with little time does not replay its corpus for all of it.
    fn defers_replay(&mut self) -> bool {
        false
    }

    /// The search begins: inputs of before were executed, or are from now on executed between rounds.
    fn on_search(&mut self) {}

    /// Inputs that peers have found since the last call. It is asked between two rounds.
    ///
    /// # Errors
    /// When they cannot be had.
    fn peer_inputs(&mut self) -> Result<Vec<Vec<u8>>, HarnessError> {
        Ok(Vec::new())
    }

    /// A failure was found that was not known.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn on_failure(&mut self, found: &FailureRecord) -> Result<(), HarnessError>;

    /// A failure that is known was seen again.
    fn on_repeat(&mut self, _found: &FailureRecord) {}

    /// An execution failed in a way that a run of its input has not: that is no finding. It is reported once for each signature.
    ///
    /// # Errors
    /// When it cannot be told.
    fn on_unconfirmed(&mut self, _input: &[u8], _verdict: &Verdict) -> Result<(), HarnessError> {
        Ok(())
    }

    /// The input of the failure that was found last was made smaller; `verdict` is that of the smaller one.
    ///
    /// # Errors
    /// When it cannot be kept.
    fn on_minimized(&mut self, smaller: &[u8], verdict: &Verdict) -> Result<(), HarnessError>;

    /// The smallest input of the failure that was found last is as small as it gets: all was tried.
    fn on_minimal(&mut self) {}
}

/// Why a campaign has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CampaignEnd {
    /// All its executions were made.
    Executions,
    /// The observer ended it.
    Stopped,
    /// A failure was found, and the first one was asked for.
    FirstFailure,
}

/// Why the loop is left.
enum CampaignHalt {
    Finished(CampaignEnd),
    Harness(HarnessError),
}

impl From<HarnessError> for CampaignHalt {
    fn from(error: HarnessError) -> CampaignHalt {
        CampaignHalt::Harness(error)
    }
}

/// A campaign.
pub struct Campaign {
    options: Options,
    mutators: Mutators,
    rng: Rng,
    dictionary: Dictionary,
    feedback: Feedback,
    corpus: Corpus,
    schedule: PowerSchedule,
    budget: ComparisonBudget,
    stability: OperandStability,
    /// Executions spent on CmpLog.
    comparison_executions: u64,
    length: LengthControl,
    costs: CostControl,
    /// Whether an execution has used up its budget since this was last unset.
    has_timed_out: bool,
    /// Whether the observer has ended it: no execution is begun any more, and the last one is still looked at.
    is_stopped: bool,
    findings: Findings,
    /// Failures of executions that no run has confirmed so far, and how often each was seen.
    unconfirmed: BTreeMap<Option<FailureSignature>, u64>,
    discoveries: Discoveries,
    stats: Stats,
    features: Vec<Feature>,
    log: Vec<CmpLogEntry>,
    pairs: PairFinder,
    /// The same for the few comparisons that are met again: its tables stay as small as those, and are emptied as quickly.
    met_pairs: PairFinder,
    /// Where one pair is put, in turn.
    places: Vec<usize>,
    /// Inputs to begin with that are nobody's, and still to be executed.
    made_up: std::vec::IntoIter<Vec<u8>>,
    /// Those of them that showed nothing new, and their bytes: others are made of them, and they are no testcases for anybody else.
    unshown: BTreeMap<Digest, u64>,
}

/// The target and the observer of a campaign.
struct CampaignIo<'a> {
    target: &'a mut dyn FuzzTarget,
    observer: &'a mut dyn FuzzObserver,
}

impl Campaign {
    /// A campaign that has not begun.
    #[must_use]
    pub fn new(options: Options, dictionary: Dictionary) -> Campaign {
        Campaign {
            mutators: Mutators::new(options.only),
            rng: Rng::new(options.seed, options.stream),
            options,
            dictionary,
            feedback: Feedback::default(),
            corpus: Corpus::default(),
            schedule: PowerSchedule::default(),
            budget: ComparisonBudget::default(),
            stability: OperandStability::default(),
            comparison_executions: 0,
            length: LengthControl::default(),
            costs: CostControl::default(),
            has_timed_out: false,
            is_stopped: false,
            findings: Findings::default(),
            unconfirmed: BTreeMap::new(),
            discoveries: Discoveries::default(),
            stats: Stats::default(),
            features: Vec::new(),
            log: Vec::new(),
            pairs: PairFinder::default(),
            met_pairs: PairFinder::default(),
            places: Vec::new(),
            made_up: Vec::new().into_iter(),
            unshown: BTreeMap::new(),
        }
    }

    /// Has it begin with these inputs as well, after its seeds. One that shows something new then is a testcase that was found.
    pub fn make_up(&mut self, inputs: Vec<Vec<u8>>) {
        self.made_up = inputs.into_iter();
    }

    /// The names of its testcases: of the seeds, and of what was found.
    pub fn names(&self) -> impl Iterator<Item = Digest> {
        let all = self.corpus.testcases().iter().map(|testcase| testcase.digest);
        all.filter(|digest| !self.unshown.contains_key(digest))
    }

    /// Its numbers.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Its testcases.
    #[must_use]
    pub fn corpus(&self) -> &Corpus {
        &self.corpus
    }

    /// The testcases that cost most instructions, of those that were picked, the costliest first, and what the one in the middle costs.
    #[must_use]
    pub fn slowest(&self, most: usize) -> Option<(Vec<&Testcase>, u64)> {
        let is_known = |testcase: &&Testcase| testcase.instructions().is_some();
        let mut slowest: Vec<&Testcase> = self.corpus.testcases().iter().filter(is_known).collect();
        slowest.sort_by_key(|testcase| Reverse(testcase.instructions()));
        slowest.truncate(most);
        Some((slowest, self.costs.median()?))
    }

    /// Its failures.
    #[must_use]
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Runs it: first the empty input, then `seeds`, then what was made up, then what is made of them.
    ///
    /// # Errors
    /// When the machine, not the target, fails.
    pub fn run(
        &mut self,
        target: &mut dyn FuzzTarget,
        seeds: &mut dyn Iterator<Item = Vec<u8>>,
        observer: &mut dyn FuzzObserver,
    ) -> Result<CampaignEnd, HarnessError> {
        let mut io = CampaignIo { target, observer };
        self.is_stopped = false;
        let halt = match self.execute_seeds(&mut io, seeds) {
            Ok(()) => {
                io.observer.on_search();
                loop {
                    let replayed = self.import(&mut io).and_then(|()| self.execute_deferred(&mut io, seeds));
                    if let Err(halt) = replayed.and_then(|()| self.round(&mut io)) {
                        break halt;
                    }
                }
            }
            Err(halt) => halt,
        };
        match halt {
            CampaignHalt::Finished(ended) => Ok(ended),
            CampaignHalt::Harness(error) if error.is_interruption() => Ok(CampaignEnd::Stopped),
            CampaignHalt::Harness(error) => Err(error),
        }
    }

    /// Everything that was there before is executed, and kept if it returns; or as much of it as the observer has time for.
    fn execute_seeds(
        &mut self,
        io: &mut CampaignIo<'_>,
        seeds: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> Result<(), CampaignHalt> {
        self.try_input(io, &[], None, None)?;
        while !io.observer.defers_replay() && self.execute_next(io, seeds)? {}
        Ok(())
    }

    /// What is left of that is executed bit by bit.
    fn execute_deferred(
        &mut self,
        io: &mut CampaignIo<'_>,
        seeds: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> Result<(), CampaignHalt> {
        for _ in 0..SEEDS_A_ROUND {
            if !self.execute_next(io, seeds)? {
                break;
            }
        }
        Ok(())
    }

    /// Executes the next seed, or else the next input that was made up: beside seeds, few of these show anything new. Whether there was one.
    fn execute_next(
        &mut self,
        io: &mut CampaignIo<'_>,
        seeds: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> Result<bool, CampaignHalt> {
        // What is taken is executed.
        self.check_stopped()?;
        let (input, is_made_up) = match seeds.next() {
            Some(seed) => (seed, false),
            None => match self.made_up.next() {
                Some(input) => (input, true),
                None => return Ok(false),
            },
        };
        self.execute_seed(io, input, is_made_up)?;
        Ok(true)
    }

    fn execute_seed(&mut self, io: &mut CampaignIo<'_>, seed: Vec<u8>, is_made_up: bool) -> Result<(), CampaignHalt> {
        let digest = Digest::of(&seed);
        if seed.len() > self.options.input_bytes_max || self.corpus.contains(&digest) {
            return Ok(());
        }
        let Some(memory) = self.execute(io, &seed)? else { return Ok(()) };
        let fresh = self.observe(io, memory);
        self.features.clear();
        if fresh > 0 {
            self.feedback.features_of(io.target, memory, &mut self.features);
        }
        if is_made_up && fresh == 0 {
            self.unshown.insert(digest, seed.len() as u64);
        }
        self.add_testcase(seed.into(), None, None);
        // Seeds are somewhere; this is found.
        if is_made_up && fresh > 0 {
            io.observer.on_testcase(self.corpus.testcases().last().expect("just kept"))?;
        }
        Ok(())
    }

    /// What others have found is executed, and kept if it shows something new here.
    fn import(&mut self, io: &mut CampaignIo<'_>) -> Result<(), CampaignHalt> {
        self.check_stopped()?;
        for input in io.observer.peer_inputs()? {
            if input.len() > self.options.input_bytes_max || self.corpus.contains(&Digest::of(&input)) {
                continue;
            }
            let Some(memory) = self.execute(io, &input)? else { continue };
            if self.observe(io, memory) > 0 {
                self.features.clear();
                self.feedback.features_of(io.target, memory, &mut self.features);
                self.add_testcase(input.into(), None, None);
            }
        }
        Ok(())
    }

    /// A testcase is picked, and changed some times.
    fn round(&mut self, io: &mut CampaignIo<'_>) -> Result<(), CampaignHalt> {
        let (parent, base) = match self.corpus.testcases().is_empty() {
            // The target fails whatever it is given: other failures may still be found.
            true => (None, Arc::from([])),
            false => {
                let place = self.schedule.pick(&mut self.corpus, &self.feedback, &mut self.rng);
                (Some(place as u32), Arc::clone(&self.corpus.testcases()[place].input))
            }
        };
        if let Some(parent) = parent {
            self.compare(io, parent, &base)?;
        }
        let cost = self.expected_instructions(parent);
        if self.costs.skips(cost, &mut self.rng) {
            return Ok(());
        }
        let pairs = parent.and_then(|parent| self.corpus.testcases()[parent as usize].pairs.clone());
        let fixups = if self.uses_comparisons() { self.fixups_of(parent) } else { Arc::from([]) };
        let (most, stats) = (self.options.input_bytes_max, self.stats);
        // A mutator that is used alone gets all the room there is.
        let bytes_max = match self.options.only {
            Some(_) => most,
            None => self.length.of_round(&mut self.rng, base.len(), most, stats.executions, stats.last_new),
        };
        let mut input = Vec::with_capacity(most);
        for _ in 0..self.costs.share(cost, MUTATIONS_A_PICK) {
            input.clear();
            input.extend_from_slice(&base);
            let inputs = self.corpus.inputs();
            let other = match inputs.len() {
                0 => &[][..],
                some => &inputs[self.rng.index(some)],
            };
            let mut material = MutationContext {
                rng: &mut self.rng,
                dictionary: &self.dictionary,
                pairs: pairs.as_deref().unwrap_or_default(),
                other,
                bytes_max,
            };
            self.mutators.mutate(&mut input, &mut material);
            self.has_timed_out = false;
            self.try_input(io, &input, parent, None)?;
            if self.has_timed_out {
                // What is made from it does that again: it is worth less each time.
                parent.into_iter().for_each(|parent| self.corpus.entry(parent as usize).timeouts += 1);
                return Ok(());
            }
            if !fixups.is_empty() && self.rng.one_in(REPAIRED) {
                self.fix_up(io, &mut input, parent, &fixups)?;
            }
        }
        if self.uses_comparisons() && self.rng.one_in(STRAY_ROUNDS) {
            if self.rng.one_in(2) {
                input = self.lengthened(&base);
            }
            if !fixups.is_empty() {
                // What is behind a sum is compared only when the sum is right.
                self.fix_up(io, &mut input, parent, &fixups)?;
            }
            self.try_comparisons(io, &input, parent, STRAY_TRIES)?;
        }
        Ok(())
    }

    /// What an execution of a testcase is expected to cost; `None` when that is not known.
    fn expected_instructions(&self, testcase: Option<u32>) -> Option<u64> {
        self.corpus.testcases()[testcase? as usize].expected_instructions()
    }

    /// `base` with random bytes appended, up to the room there is.
    fn lengthened(&mut self, base: &[u8]) -> Vec<u8> {
        let tail = self.rng.between(*TAIL_BYTES.start(), *TAIL_BYTES.end());
        let mut input = base.to_vec();
        input.extend(std::iter::repeat_with(|| self.rng.byte()).take(tail));
        input.truncate(self.options.input_bytes_max);
        input
    }

    /// Whether comparisons are looked at.
    fn uses_comparisons(&self) -> bool {
        self.options.only.is_none_or(|only| only.name == "comparison")
    }

    /// The first time that a testcase is picked: what it compares, and what comes of each side in the other's place.
    fn compare(&mut self, io: &mut CampaignIo<'_>, place: u32, base: &[u8]) -> Result<(), CampaignHalt> {
        if !self.uses_comparisons() || self.corpus.testcases()[place as usize].pairs.is_some() {
            return Ok(());
        }
        let (found, cost) = self.try_comparisons(io, base, Some(place), COMPARISON_TRIES)?;
        self.costs.observe(cost);
        self.corpus.entry(place as usize).instructions = Some(cost);
        // Those that say most stand first.
        let kept = found.iter().copied().take(PAIRS_KEPT).collect();
        self.corpus.entry(place as usize).pairs = Some(kept);
        let longer = self.lengthened(base);
        self.try_comparisons(io, &longer, Some(place), STRAY_TRIES)?;
        Ok(())
    }

    /// Puts sides of what `base` compares where the others stand. The answer is what it compares, and what its execution costs.
    fn try_comparisons(
        &mut self,
        io: &mut CampaignIo<'_>,
        base: &[u8],
        parent: Option<u32>,
        tries: u64,
    ) -> Result<(Vec<InputToStatePair>, u64), CampaignHalt> {
        self.begin_execution()?;
        self.log.clear();
        let cost = io.target.compare(base, CmpLogSites::All, &mut self.log)?;
        self.stability.observe(&self.log);
        let mut found = self.pairs.pairs(&self.log, base, &mut self.dictionary);
        if io.target.is_slow() {
            self.confirm_pairs(io, base, &mut found)?;
        }
        let fixups = self.fixups_of(parent);
        let mut input = Vec::new();
        let begin = self.stats.executions;
        let is_much = self.comparison_executions > COMPARING_FREE + begin / COMPARING_SHARE;
        let mut tries = self.costs.share(Some(cost), if is_much { COMPARISON_TRIES_LEAST } else { tries });
        let mut places = std::mem::take(&mut self.places);
        for pair in &found {
            if tries == 0 {
                break;
            }
            let most = if pair.len_of(base) > self.options.input_bytes_max {
                TriedPlaces::None
            } else {
                self.budget.places(pair.site, pair.value())
            };
            if most == TriedPlaces::None {
                continue;
            }
            places.clear();
            pair.tried_places(base, &mut places);
            if let TriedPlaces::One(number) = most {
                let first = number as usize % places.len().max(1);
                places.rotate_left(first);
                places.truncate(1);
            }
            for at in places.iter().copied() {
                let put = OperandFixup::of(pair, at, base);
                if most == TriedPlaces::All && !self.budget.is_left(put) {
                    continue;
                }
                if tries == 0 {
                    break;
                }
                tries -= 1;
                self.budget.record_try(put);
                input.clear();
                input.extend_from_slice(base);
                pair.put(&mut input, at);
                if self.try_input(io, &input, parent, Some(put))? {
                    self.budget.record_success(put);
                }
                if fixups.iter().any(|fixup| fixup.site != pair.site) {
                    self.fix_up(io, &mut input, parent, &fixups)?;
                }
            }
        }
        self.places = places;
        self.comparison_executions += self.stats.executions - begin;
        Ok((found, cost))
    }

    /// Of what several machines compare, most stands in the input by chance. Where a similar input has the operand at the same place
    /// again, it does not: that is tried first.
    fn confirm_pairs(
        &mut self,
        io: &mut CampaignIo<'_>,
        base: &[u8],
        found: &mut [InputToStatePair],
    ) -> Result<(), CampaignHalt> {
        let mut known = BTreeSet::new();
        // In parts: what is compared behind a byte that is right is not compared where that one is another.
        for part in base.chunks(base.len().div_ceil(SIMILAR_INPUTS).max(1)).scan(0, |at, part| {
            *at += part.len();
            Some(*at - part.len()..*at)
        }) {
            let mut similar = base.to_vec();
            similar[part.clone()].iter_mut().for_each(|byte| *byte = self.similar(*byte));
            if similar == base {
                continue;
            }
            self.begin_execution()?;
            self.log.clear();
            io.target.compare(&similar, CmpLogSites::All, &mut self.log)?;
            let again = self.pairs.pairs(&self.log, &similar, &mut self.dictionary);
            let changed = |(pair, place): &(&InputToStatePair, usize)| {
                let bytes = *place..*place + pair.width();
                !pair.is_shift() && base[bytes.clone()] != similar[bytes]
            };
            let places = candidates(&again, &similar).filter(changed);
            known.extend(places.map(|(pair, place)| (pair.site, pair.width(), place)));
        }
        let is_known = |pair: &InputToStatePair| {
            !pair.is_shift() && pair.places(base).any(|place| known.contains(&(pair.site, pair.width(), place)))
        };
        found.sort_by_cached_key(|pair| !is_known(pair));
        Ok(())
    }

    /// Another byte of the same kind, so that what is read as text still is.
    fn similar(&mut self, byte: u8) -> u8 {
        let mut among = |first: u8, last: u8| first + self.rng.below(u64::from(last - first) + 1) as u8;
        match byte {
            b'0'..=b'9' => among(b'0', b'9'),
            b'a'..=b'z' => among(b'a', b'z'),
            b'A'..=b'Z' => among(b'A', b'Z'),
            b'!'..=b'~' => among(b'!', b'~'),
            1..=8 => among(1, 8),
            0x80..=0xbf => among(0x80, 0xbf),
            other => other,
        }
    }

    /// The comparisons that were met in a testcase, of sums and lengths. Words were found once, and stay.
    fn fixups_of(&self, parent: Option<u32>) -> Arc<[OperandFixup]> {
        let all = parent.map_or(&[][..], |parent| &self.corpus.testcases()[parent as usize].fixups);
        let is_word = |put: OperandFixup| self.budget.tries(put) > WORD_TRIES && self.stability.is_constant(put.site);
        all.iter().copied().filter(|fixup| !is_word(*fixup)).collect()
    }

    /// Meets the comparisons again that were met in the testcase that `input` was made from, one after the other: first the
    /// length, then the sum over everything.
    fn fix_up(
        &mut self,
        io: &mut CampaignIo<'_>,
        input: &mut Vec<u8>,
        parent: Option<u32>,
        fixups: &[OperandFixup],
    ) -> Result<(), CampaignHalt> {
        // What a difference is made of is logged right before it, at a place of its own.
        let sites: Vec<u64> = fixups.iter().flat_map(|fixup| [fixup.site.wrapping_sub(1), fixup.site]).collect();
        for _ in 0..=fixups.len() {
            self.begin_execution()?;
            self.log.clear();
            io.target.compare(input, CmpLogSites::Only(&sites), &mut self.log)?;
            // The last one that is not met: what stands before it is.
            let mut unmet = self.log.iter().rev().filter(|compared| compared.left != compared.right);
            let of = |compared: &CmpLogEntry| fixups.iter().find(|fixup| fixup.site == compared.site).copied();
            let Some(fixup) = unmet.find_map(of) else { break };
            self.log.retain(|compared| match compared.kind {
                ComparisonKind::Mixed { .. } => compared.site + 1 == fixup.site,
                _ => compared.site == fixup.site,
            });
            let found = self.met_pairs.pairs(&self.log, input, &mut self.dictionary);
            let Some((pair, place)) = fixup.reapply(&found, input) else { break };
            let put = OperandFixup::of(pair, place, input);
            pair.put(input, place);
            if input.len() > self.options.input_bytes_max {
                break;
            }
            self.try_input(io, input, parent, Some(put))?;
        }
        Ok(())
    }

    /// Executes an input, and keeps it if it shows something new, which is the answer.
    fn try_input(
        &mut self,
        io: &mut CampaignIo<'_>,
        input: &[u8],
        parent: Option<u32>,
        put: Option<OperandFixup>,
    ) -> Result<bool, CampaignHalt> {
        let Some(memory) = self.execute(io, input)? else { return Ok(false) };
        if self.observe(io, memory) == 0 {
            return Ok(false);
        }
        self.note_discovery();
        self.feedback.features_of(io.target, memory, &mut self.features);
        let (shorter, shortened) = self.shorten(io, input, parent);
        if !self.corpus.contains(&Digest::of(&shorter)) {
            let put = put.and_then(|put| put.relocate(input, &shorter));
            self.add_testcase(shorter.into(), parent, put);
            io.observer.on_testcase(self.corpus.testcases().last().expect("just kept"))?;
        }
        shortened.map(|()| true)
    }

    /// The input, or a shorter one that shows all that is new in it, and why the campaign ends if it does meanwhile: what was found until
    /// then is to be kept.
    fn shorten(
        &mut self,
        io: &mut CampaignIo<'_>,
        input: &[u8],
        parent: Option<u32>,
    ) -> (Vec<u8>, Result<(), CampaignHalt>) {
        let mut best = input.to_vec();
        if input.len() <= SHORT_BYTES {
            return (best, Ok(()));
        }
        let needed: Vec<Feature> = self.corpus.unknown(&self.features).collect();
        let mut kept = std::mem::take(&mut self.features);
        // It costs about what the one that it was made from does.
        let cost = self.expected_instructions(parent);
        let mut tries = self.costs.share(cost, SHORTEN_TRIES);
        let erased = erase(input, &mut tries, &mut |candidate| {
            let Some(memory) = self.execute(io, candidate)? else { return Ok(false) };
            self.feedback.features_of(io.target, memory, &mut self.features);
            let keeps = needed.iter().all(|feature| self.features.binary_search(feature).is_ok());
            if keeps {
                std::mem::swap(&mut kept, &mut self.features);
                best.clear();
                best.extend_from_slice(candidate);
            }
            Ok::<bool, CampaignHalt>(keeps)
        });
        self.features = kept;
        (best, erased.map(|_| ()))
    }

    /// Adds a testcase whose features were just looked at.
    fn add_testcase(&mut self, input: Arc<[u8]>, parent: Option<u32>, put: Option<OperandFixup>) {
        let mut fixups = self.fixups_of(parent);
        if let Some(put) = put {
            let others = fixups.iter().copied().filter(|fixup| fixup.site != put.site);
            fixups = others.take(REPAIRS_MAX - 1).chain([put]).collect();
        }
        let testcase = Testcase {
            digest: Digest::of(&input),
            input,
            found_at: self.stats.executions,
            parent,
            features: self.features.as_slice().into(),
            best_for: 0,
            picks: 0,
            instructions: None,
            timeouts: 0,
            fixups,
            pairs: None,
        };
        self.corpus.add(testcase, self.feedback.features_max());
        self.stats.corpus = (self.corpus.testcases().len() - self.unshown.len()) as u64;
        self.stats.corpus_bytes = self.corpus.bytes() - self.unshown.values().sum::<u64>();
    }

    /// What is new in the last execution.
    fn observe(&mut self, io: &CampaignIo<'_>, memory: MemoryUse) -> u32 {
        let fresh = self.feedback.observe(io.target, memory);
        if self.stats.executions.is_multiple_of(COUNTED) {
            self.feedback.count(io.target);
        }
        (self.stats.edges, self.stats.features) = self.feedback.totals();
        (self.stats.edges_once, self.stats.edges_twice) = (self.feedback.once, self.feedback.twice);
        fresh
    }

    /// Nothing more is begun once the observer has ended the campaign.
    fn check_stopped(&self) -> Result<(), CampaignHalt> {
        if self.is_stopped { Err(CampaignHalt::Finished(CampaignEnd::Stopped)) } else { Ok(()) }
    }

    fn begin_execution(&mut self) -> Result<(), CampaignHalt> {
        self.check_stopped()?;
        if self.stats.executions >= self.options.executions_max {
            return Err(CampaignHalt::Finished(CampaignEnd::Executions));
        }
        self.stats.executions += 1;
        self.stats.discoveries_last_half = self.discoveries.in_last_half(self.stats.executions);
        Ok(())
    }

    /// The last execution has found something new.
    fn note_discovery(&mut self) {
        self.stats.last_new = self.stats.executions;
        self.discoveries.record(self.stats.executions);
    }

    /// Executes an input. The answer is its memory, or `None` when it failed, which is seen to. If the observer ends the campaign then, no
    /// other execution begins: what this one shows is still to be looked at.
    fn execute(&mut self, io: &mut CampaignIo<'_>, input: &[u8]) -> Result<Option<MemoryUse>, CampaignHalt> {
        self.begin_execution()?;
        // One that is interrupted was none.
        let outcome = io.target.execute(input).inspect_err(|_| self.stats.executions -= 1)?;
        if let Some(verdict) = &outcome.failed {
            self.has_timed_out |= verdict.status == Status::Timeout;
            self.judge_failure(io, input, verdict)?;
        }
        self.is_stopped |= !io.observer.on_execution(&self.stats);
        Ok(outcome.failed.is_none().then_some(outcome.memory))
    }

    /// A failure is what a run of its input has too; anything else is counted and is none.
    fn judge_failure(&mut self, io: &mut CampaignIo<'_>, input: &[u8], verdict: &Verdict) -> Result<(), CampaignHalt> {
        let signature = verdict.signature.clone();
        if let Some(found) = self.findings.seen(signature.as_ref()) {
            self.stats.failures += 1;
            io.observer.on_repeat(found);
            return Ok(());
        }
        let times = self.unconfirmed.get(&signature).copied().unwrap_or(0);
        let is_asked = times < CONFIRM_TRIES || times.is_power_of_two();
        let (exact, is_confirmed) = match is_asked.then(|| io.target.confirm(input)).transpose() {
            Ok(exact) => (exact, true),
            // It is a finding all the same, and the search is over.
            Err(error) if error.is_interruption() => (Some(verdict.clone()), false),
            Err(error) => return Err(error.into()),
        };
        let Some(verdict) = exact.filter(|exact| exact.signature.is_some()) else {
            self.stats.unconfirmed += 1;
            self.unconfirmed.insert(signature, times + 1);
            return if times == 0 { Ok(io.observer.on_unconfirmed(input, verdict)?) } else { Ok(()) };
        };
        self.stats.failures += 1;
        let found =
            FailureRecord { input: input.to_vec(), found_at: self.stats.executions, times: 1, verdict, is_confirmed };
        let Some(found) = self.findings.add(signature.clone(), found).cloned() else { return Ok(()) };
        self.note_discovery();
        self.stats.findings = self.findings.all().len() as u64;
        io.observer.on_failure(&found)?;
        if !is_confirmed {
            return Err(CampaignHalt::Finished(CampaignEnd::Stopped));
        }
        if self.options.minimize {
            self.minimize(io, &found, signature)?;
        }
        if self.options.first_only { Err(CampaignHalt::Finished(CampaignEnd::FirstFailure)) } else { Ok(()) }
    }

    /// Makes the input of a failure smaller, as long as it fails in the same way. If the campaign ends meanwhile, what was found until then is
    /// told.
    fn minimize(
        &mut self,
        io: &mut CampaignIo<'_>,
        found: &FailureRecord,
        signature: Option<FailureSignature>,
    ) -> Result<(), CampaignHalt> {
        let mut tries = if found.verdict.status == Status::Timeout { MINIMIZE_TRIES_SLOW } else { MINIMIZE_TRIES };
        let mut best = found.input.clone();
        let mut fails = |input: &[u8]| {
            self.stats.minimizing += 1;
            let outcome = io.target.execute(input)?;
            let is_same = outcome.failed.is_some_and(|verdict| verdict.signature == signature);
            if is_same {
                best.clear();
                best.extend_from_slice(input);
            }
            if !io.observer.on_execution(&self.stats) {
                return Err(CampaignHalt::Finished(CampaignEnd::Stopped));
            }
            Ok(is_same)
        };
        let shorter = erase(&found.input, &mut tries, &mut fails);
        let ended = shorter.and_then(|shorter| simplify(&shorter, &mut tries, &mut fails));
        let mut is_smallest = ended.is_ok() && tries > 0;
        if best != found.input {
            let exact = io.target.confirm(&best)?;
            is_smallest &= exact.signature == found.verdict.signature;
            if exact.signature == found.verdict.signature {
                io.observer.on_minimized(&best, &exact)?;
            }
        }
        if is_smallest {
            io.observer.on_minimal();
        }
        ended.map(|_| ())
    }
}
