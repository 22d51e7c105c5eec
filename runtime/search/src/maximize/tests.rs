//! Searches over functions whose worst input is known.

use super::*;
use crate::explore::AnswerLog;
use crate::fuzz::Dictionary;
use fozzy_trace::{DecisionSource, NodeId, Purpose, Question};

/// A list that is kept sorted by insertion from its end: the cost is how many elements are moved.
fn insertion(numbers: &[u64]) -> u64 {
    let inversions = |at: usize| numbers[..at].iter().filter(|before| **before > numbers[at]).count() as u64;
    (0..numbers.len()).map(inversions).sum()
}

/// Draws up to 64 numbers below 256 and inserts them.
struct SortedList(Seed);

impl MeasuredTarget<AnswerSequence> for SortedList {
    fn measure(
        &mut self,
        input: &AnswerSequence,
        run: u64,
    ) -> Result<Option<MeasuredRun<AnswerSequence>>, HarnessError> {
        let log = AnswerLog::default();
        let mut source = input.source(self.0, run, 0.0, &log);
        let question =
            Question { node: NodeId(0), purpose: Purpose::Choice(fozzy_trace::DecisionPart::WHOLE), site: "n" };
        let (length, _) = source.below(question, 64);
        let numbers: Vec<u64> = (0..length).map(|_| source.below(question, 256).0).collect();
        let cost = insertion(&numbers);
        let input = AnswerSequence::of(&log).expect("it is short");
        Ok(Some(MeasuredRun { input, cost, parts: vec![cost, numbers.len() as u64], is_limit: false }))
    }
}

/// A backtracking match of `(a*)*b` without its exponential part: the cost is the square of the longest run of `a`.
struct Backtracking;

impl MeasuredTarget<Vec<u8>> for Backtracking {
    fn measure(&mut self, input: &Vec<u8>, _: u64) -> Result<Option<MeasuredRun<Vec<u8>>>, HarnessError> {
        let longest = input.split(|byte| *byte != b'a').map(<[u8]>::len).max().unwrap_or(0) as u64;
        let cost = input.len() as u64 + longest * longest;
        Ok(Some(MeasuredRun { input: input.clone(), cost, parts: vec![longest], is_limit: false }))
    }
}

fn options(seed: u64, runs_max: u64) -> MaximizeOptions {
    MaximizeOptions { seed: Seed(seed), runs_max }
}

#[test]
fn a_falling_sequence_is_found_to_be_the_worst_for_insertion() {
    for seed in 0..4 {
        let mut search = Maximizer::new(AnswerSpace, options(seed, 3000));
        let ended = search.run(&mut SortedList(Seed(seed)), &mut std::iter::empty(), &mut |_| true).expect("it runs");
        assert_eq!(ended, MaximizeEnd::Runs);
        // 63 numbers that all fall have 1953 inversions; those that chance draws have a fourth of n squared.
        assert!(search.stats().best >= 1500, "seed {seed}: {:?}", search.stats());
        assert!(search.usual().is_some_and(|usual| usual < 700), "{:?}", search.usual());
        assert!(search.growth().exponent.is_none_or(|exponent| (1.5..2.5).contains(&exponent)), "seed {seed}");
    }
}

#[test]
fn a_long_run_of_one_byte_is_found() {
    let mut search = Maximizer::new(ByteSpace::new(256, Dictionary::default(), None), options(1, 3000));
    search.run(&mut Backtracking, &mut std::iter::empty(), &mut |_| true).expect("it runs");
    let usual = search.usual().expect("some were drawn");
    assert!(search.stats().best > 50 * usual, "{:?}, usual {usual}", search.stats());
    let (input, size) = search.best().expect("there is one");
    assert_eq!(size, input.len() as u64);
}

#[test]
fn equal_searches_find_equal_inputs_and_keep_only_what_holds_a_maximum() {
    let found = || {
        let mut search = Maximizer::new(AnswerSpace, options(7, 500));
        search.run(&mut SortedList(Seed(7)), &mut std::iter::empty(), &mut |_| true).expect("it runs");
        assert!(search.kept.values().all(|kept| kept.holds > 0));
        assert!(search.kept.len() <= 1 + search.by_size.len() + search.by_part.len());
        (*search.stats(), search.best().map(|(input, _)| input.path(1)))
    };
    assert_eq!(found(), found());
}

#[test]
fn growth_is_told_only_from_enough_points() {
    let square = |size: u64| GrowthPoint { size, cost: 100 + 3 * size * size };
    let exponent = Growth::of([4, 8, 16, 32, 64, 128].map(square).to_vec()).exponent.expect("it is told");
    assert!((1.9..2.1).contains(&exponent), "{exponent}");
    assert_eq!(Growth::of([4, 8, 16].map(square).to_vec()).exponent, None);
    let uneven =
        [(4, 10), (8, 20), (16, 4000), (32, 5000), (64, 600_000)].map(|(size, cost)| GrowthPoint { size, cost });
    assert_eq!(Growth::of(uneven.to_vec()).exponent, None, "no power law");
    assert_eq!(Growth::of([40, 41, 42, 43, 44].map(square).to_vec()).exponent, None);
    assert_eq!(Growth::of(Vec::new()), Growth::default());
}
