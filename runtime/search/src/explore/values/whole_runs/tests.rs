//! Tests of what two runs of the same answers propose.

use super::*;
use fozzy_trace::Seed;

fn bytes(bytes: &[u8]) -> LoggedAnswer {
    LoggedAnswer { answer: Override::Bytes(hex(bytes)), bound: 0, is_drawn: true, is_weighted: false }
}

fn equal(site: u64, bits: u8, left: u64, right: u64) -> CmpLogEntry {
    CmpLogEntry { site, kind: ComparisonKind::Equal { bits }, left, right, at: 0, bytes: 8 }
}

/// The proposals of a run that drew eight bytes, which `log` says something about; `pinned` are those that stay.
fn proposed(pinned: &[PinnedBytes], log: impl Fn(&[u8]) -> Vec<CmpLogEntry>) -> Vec<Vec<u8>> {
    let drawn = [0x3f, 0xa0, 0x07, 0x91, 0x5a, 0x21, 0xc4, 0x77];
    let run = ComparedRun { answers: vec![bytes(&drawn)], log: log(&drawn) };
    let answers = run.answers.iter().map(|logged| logged.answer.clone()).collect();
    let request = ComparisonRequest { answers, pinned: pinned.to_vec(), beyond: None };
    let (mut values, mut rng) = (WholeRunValues::default(), Rng::new(Seed(7), 0));
    let redrawn = WholeRunValues::redraw(&run, &request, &mut rng);
    let Override::Bytes(digits) = &redrawn[0] else { panic!("bytes stay bytes") };
    let other = unhex(digits).expect("digits");
    for pinned in pinned {
        assert_eq!(other[pinned.bytes.clone()], drawn[pinned.bytes.clone()]);
    }
    let again = ComparedRun { answers: vec![bytes(&other)], log: log(&other) };
    values.learn(&run, &again, &request, &mut rng);
    let mut all = Vec::new();
    while let Some(ValueRun::Propose(proposal)) = values.next(0) {
        let Override::Bytes(digits) = &proposal.script[0] else { panic!("bytes stay bytes") };
        all.push(unhex(digits).expect("digits"));
    }
    all
}

fn word(bytes: &[u8]) -> u64 {
    u32::from_le_bytes(bytes[..4].try_into().expect("four")).into()
}

#[test]
fn an_operand_that_goes_with_the_bytes_is_put_and_one_by_chance_is_not() {
    // The second is the drawn byte in one run only.
    let log = |drawn: &[u8]| vec![equal(1, 32, word(drawn), 0x5eed_1234), equal(2, 32, 0x77, 0x2f)];
    assert_eq!(proposed(&[], log), [[0x34, 0x12, 0xed, 0x5e, 0x5a, 0x21, 0xc4, 0x77]]);
}

#[test]
fn bytes_one_by_one_are_met_behind_those_that_are_pinned() {
    let log = |drawn: &[u8]| match drawn[0] {
        0x3f => vec![equal(1, 32, 0x3f, 0x3f), equal(2, 32, drawn[1].into(), 0x42)],
        other => vec![equal(1, 32, other.into(), 0x3f)],
    };
    let pinned = [PinnedBytes { answer: 0, bytes: 0..1 }];
    assert_eq!(proposed(&pinned, log), [[0x3f, 0x42, 0x07, 0x91, 0x5a, 0x21, 0xc4, 0x77]]);
}

#[test]
fn sums_and_bitwise_differences_with_what_stays_are_met() {
    let sum = |drawn: &[u8]| vec![equal(1, 32, (word(drawn) + 1000) & 0xffff_ffff, 5000)];
    assert!(proposed(&[], sum).iter().any(|bytes| word(bytes) == 4000));
    let mixed = |drawn: &[u8]| vec![equal(1, 32, word(drawn) ^ 0x0f0f_0f0f, 5000)];
    assert!(proposed(&[], mixed).iter().any(|bytes| word(bytes) == 5000 ^ 0x0f0f_0f0f));
}

#[test]
fn what_never_pays_is_tried_in_a_small_share_of_runs() {
    let mut values = WholeRunValues::default();
    let mut made = 0;
    for run in 0..16_000 {
        values.request(vec![Override::Number(run)], Vec::new());
        made += u64::from(values.next(run).is_some());
        values.spend();
        values.spent = values.spent.min(made);
    }
    assert!((FREE_RUNS..=FREE_RUNS + 1001).contains(&made), "{made}");
}

#[test]
fn a_program_that_compares_ever_again_has_no_more_proposals_than_are_kept() {
    let log = |drawn: &[u8]| (0..100_000).map(|site| equal(site, 32, word(drawn) + site, 5000 + 3 * site)).collect();
    assert!((1..=CONFIRMED_MAX + OTHERS_MAX).contains(&proposed(&[], log).len()));
}
