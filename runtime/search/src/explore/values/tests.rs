//! Tests of the answers that comparisons propose.

use super::super::decision_path::PathNodeId;
use super::*;
use crate::rng::Rng;
use fozzy_trace::{ComparisonKind, Seed};

fn drawn(number: u64, bound: u64) -> LoggedAnswer {
    LoggedAnswer { answer: Override::Number(number), bound, is_drawn: true, is_weighted: false }
}

fn equal(bits: u8, left: u64, right: u64) -> CmpLogEntry {
    CmpLogEntry { site: 1, kind: ComparisonKind::Equal { bits }, left, right, at: 0, bytes: 8 }
}

/// The answers of the step in each proposal, in full: what comes after the one that was changed is as it was.
fn proposed(answers: &[LoggedAnswer], log: &[CmpLogEntry]) -> Vec<Vec<Override>> {
    let origin = PathNode::from(None, &[], 0, PathNodeId(0));
    let mut values = ValueProposals::default();
    values.log().extend_from_slice(log);
    let step = TypedStep { origin: &origin, place: None, answers, begin: 0, steps: 1, is_new: false };
    values.learn(&step, &mut Rng::new(Seed(1), 0));
    let whole = |proposal: Proposal| {
        let kept = proposal.script.len().min(answers.len());
        let rest = answers[kept..].iter().map(|answer| answer.answer.clone());
        proposal.script.iter().cloned().chain(rest).collect()
    };
    let mut rng = Rng::new(Seed(2), 0);
    std::iter::from_fn(|| values.next(&mut rng)).map(whole).collect()
}

fn numbers(numbers: &[u64]) -> Vec<Override> {
    numbers.iter().map(|number| Override::Number(*number)).collect()
}

#[test]
fn a_number_that_is_compared_is_answered_with_the_other_side() {
    let answers = [drawn(5, 8), drawn(7712, 1 << 32), drawn(3, 4)];
    let found = proposed(&answers, &[equal(32, 7712, 0xdead_0042)]);
    assert!(found.contains(&numbers(&[5, 0xdead_0042, 3])), "{found:?}");
    assert!(proposed(&answers, &[equal(32, 7713, 7713)]).is_empty(), "it is met");
    // What the question does not allow is not proposed.
    let found = proposed(&[drawn(7712, 10_000)], &[equal(32, 7712, 0xdead_0042)]);
    assert!(found.is_empty(), "{found:?}");
    assert!(proposed(&[drawn(3, 6)], &[equal(32, 3, 4)]).is_empty(), "chance meets that");
}

#[test]
fn a_wide_number_is_two_answers() {
    let answers = [drawn(0x1122_3344, 1 << 32), drawn(0x5566_7788, 1 << 32)];
    let found = proposed(&answers, &[equal(64, 0x1122_3344_5566_7788, 0x0123_4567_89ab_cdef)]);
    assert!(found.contains(&numbers(&[0x0123_4567, 0x89ab_cdef])), "{found:?}");
    // And one that something was added to, as signed ones are.
    let value = 0x1122_3344_5566_7788_u64.wrapping_add(1 << 63);
    let wanted = (-7_000_000_000_001_i64) as u64;
    let found = proposed(&answers, &[equal(64, value, wanted)]);
    let moved = wanted.wrapping_add(1 << 63);
    assert!(found.contains(&numbers(&[moved >> 32, moved & 0xffff_ffff])), "{found:?}");
}

#[test]
fn a_number_of_a_range_is_moved_by_the_difference() {
    // 1000 to 9999, drawn as 0 to 8999: neither side is the answer.
    let found = proposed(&[drawn(17, 9000)], &[equal(32, 1017, 7321)]);
    assert!(found.contains(&numbers(&[6321])), "{found:?}");
    let found = proposed(&[drawn(8000, 9000)], &[equal(32, 9000, 1001)]);
    assert!(found.contains(&numbers(&[1])), "{found:?}");
}

#[test]
fn of_an_order_both_sides_of_the_border_are_proposed() {
    let order = CmpLogEntry { kind: ComparisonKind::Order { bits: 32, signed: false }, ..equal(32, 12, 1_000_000) };
    let found = proposed(&[drawn(12, 1 << 32)], &[order]);
    for number in [999_999, 1_000_000, 1_000_001] {
        assert!(found.contains(&numbers(&[number])), "{number} in {found:?}");
    }
}

#[test]
fn bytes_are_answered_with_bytes() {
    let answers =
        [LoggedAnswer { answer: Override::Bytes(hex(b"..abcd")), bound: 0, is_drawn: true, is_weighted: false }];
    let found = proposed(&answers, &[equal(32, u32::from_le_bytes(*b"abcd").into(), 0x0a1a_0a0d)]);
    let mut wanted = b"..".to_vec();
    wanted.extend(0x0a1a_0a0d_u32.to_le_bytes());
    assert!(found.contains(&vec![Override::Bytes(hex(&wanted))]), "{found:?}");
}

/// A string as the SDK draws it: its length, and for each character which kind it is and which one.
fn text(length_bound: u64, text: &[u8]) -> Vec<LoggedAnswer> {
    let mut answers = vec![drawn(0, 8), drawn(text.len() as u64, length_bound)];
    answers.extend(text.iter().flat_map(|byte| [drawn(2, 8), drawn(u64::from(byte - b' '), PRINTABLE)]));
    answers
}

fn strings(left: &[u8; 8], right: &[u8; 8], bytes: u32) -> CmpLogEntry {
    let word = |text: &[u8; 8]| u64::from_le_bytes(*text);
    CmpLogEntry { site: 3, kind: ComparisonKind::Bytes, left: word(left), right: word(right), at: 0, bytes }
}

#[test]
fn characters_that_are_drawn_one_by_one_are_a_text() {
    let own = |answers: Vec<LoggedAnswer>| answers.into_iter().map(|answer| answer.answer).collect::<Vec<_>>();
    let found = proposed(&text(9, b"abcdefg"), &[strings(b"abcdefg\0", b"hunter2\0", 7)]);
    assert!(found.contains(&own(text(9, b"hunter2"))), "{found:?}");
    // Its length is compared before: a number as any.
    let answers = text(97, b"abc");
    let found = proposed(&answers, &[equal(32, 3, 7)]);
    assert!(found.iter().any(|answers| answers[1] == Override::Number(7)), "{found:?}");
}

#[test]
fn a_text_becomes_as_long_as_the_other_one() {
    let own = text(9, b"ab");
    let layout = Layout::elements(&own);
    let pair = InputToStatePair::replacing(b"ab", b"xyz", 1);
    let (changed, last, _) = layout.put(&own, &pair, 0).expect("there is room");
    let wanted: Vec<Override> = text(9, b"xyz").into_iter().map(|answer| answer.answer).collect();
    assert_eq!((changed, last), (wanted, 7));
    let pair = InputToStatePair::replacing(b"ab", b"much too long", 1);
    assert!(layout.put(&own, &pair, 0).is_none(), "the length is below 9");
}

#[test]
fn a_step_that_showed_something_new_is_gone_on_from_and_tried_again_with_a_part_of_it_drawn_anew() {
    let origin = PathNode::from(None, &[], 0, PathNodeId(0));
    let answers = [drawn(1, 4), drawn(77, 1 << 32), drawn(2, 8), drawn(99, 1 << 32)];
    let (mut values, mut rng) = (ValueProposals::default(), Rng::new(Seed(1), 0));
    assert!(!values.can_propose(Reward::default(), Reward::default()) && values.next(&mut rng).is_none());
    let step = TypedStep { origin: &origin, place: None, answers: &answers, begin: 1, steps: 3, is_new: true };
    values.learn(&step, &mut rng);
    for _ in 0..CONTINUATIONS {
        let Proposal { script, steps, .. } = values.next(&mut rng).expect("it is gone on from");
        assert_eq!((script.len(), steps), (4, 4));
    }
    for _ in 0..100 {
        let Proposal { script, steps, .. } = values.next(&mut rng).expect("it is tried again");
        assert!((1..=4).contains(&script.len()) && script[0] == Override::Number(1) && steps == 3, "{script:?}");
        let changed = script.iter().zip(&answers).filter(|(new, old)| **new != old.answer).count();
        assert!(changed <= 1);
    }
}
