//! Each mutator alone: what it does, that it keeps its bound, and a case that is made for it.

use super::*;
use crate::fuzz::tests::{MESSAGE, SimulatedGuest, campaign, texts};
use crate::fuzz::{Dictionary, Options, Stats};
use fozzy_trace::Seed;

fn named(name: &str) -> &'static Mutator {
    MUTATORS.iter().find(|row| row.name == name).expect("a row of the table")
}

/// What a mutator does.
type Apply = fn(&mut Vec<u8>, &mut MutationContext<'_>) -> bool;

/// Has a mutator and a plain version of it change many inputs: what they answer, make and draw is the same.
pub(super) fn check_plain(mutator: &Mutator, plain: Apply) {
    let mut dictionary = Dictionary::default();
    dictionary.give(b"word");
    let (mut rng, mut changes) = (Rng::new(Seed(5), 0), 0);
    for number in 0..TRIES {
        let (input, other) = (sample(&mut rng), sample(&mut rng));
        // As often there is no room at all.
        let bytes_max = rng.between(0, 2 * input.len() + 40);
        let [made, wanted] = [mutator.apply, plain].map(|apply| {
            let (mut input, mut rng) = (input.clone(), rng.stream(number));
            let mut material =
                MutationContext { rng: &mut rng, dictionary: &dictionary, pairs: &[], other: &other, bytes_max };
            let changed = apply(&mut input, &mut material);
            (changed, input, rng.number())
        });
        assert_eq!(made, wanted, "{} of {} beside {}", mutator.name, input.escape_ascii(), other.escape_ascii());
        changes += usize::from(made.0);
    }
    assert!(changes > 400, "{} has changed {changes} inputs only", mutator.name);
}

/// Inputs that are tried.
const TRIES: u64 = 4000;

/// An input: bytes of text, any bytes, small ones as lengths are, or few of them again and again. A few are longer than what a mutator
/// looks at.
fn sample(rng: &mut Rng) -> Vec<u8> {
    let most = if rng.one_in(16) { 5000 } else { 60 };
    let mut bytes = vec![0; rng.between(0, most)];
    rng.fill(&mut bytes);
    let among = match rng.below(4) {
        0 => return bytes,
        1 => &b"ab1_ \t\n\r=:,()[]{}<>\"'\xc3"[..],
        2 => b"\x00\x01\x02\x03\x04\x08\x0a\x12\x1a\x80\xff",
        _ => b"aa (",
    };
    bytes.iter_mut().for_each(|byte| *byte = among[usize::from(*byte) % among.len()]);
    bytes
}

/// Puts `changed` in the place of `input`, unless it is too long or the same.
pub(super) fn replace_all(input: &mut Vec<u8>, changed: Vec<u8>, material: &MutationContext<'_>) -> bool {
    let fits = changed.len() <= material.bytes_max && changed != *input;
    if fits {
        *input = changed;
    }
    fits
}

#[test]
fn mutators_are_drawn_by_their_weights() {
    let weight: u64 = MUTATORS.iter().map(|row| u64::from(row.weight)).sum();
    let (mutators, mut rng) = (Mutators::new(None), Rng::new(Seed(7), 0));
    for _ in 0..1000 {
        let mut left = rng.clone().below(weight);
        let wanted = MUTATORS.iter().find(|row| match left.checked_sub(u64::from(row.weight)) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
        assert_eq!(Some(mutators.draw(&mut rng).name), wanted.map(|row| row.name));
    }
}

#[test]
fn names_differ_and_everything_is_said() {
    let mut names: Vec<&str> = MUTATORS.iter().map(|row| row.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), MUTATORS.len());
    assert!(MUTATORS.iter().all(|row| row.weight > 0 && row.about.len() > 10));
}

#[test]
fn no_mutator_grows_an_input_past_its_bound_nor_says_it_did_what_it_did_not() {
    let mut dictionary = Dictionary::default();
    dictionary.give(b"word");
    let mut rng = Rng::new(Seed(1), 0);
    for row in MUTATORS {
        let sizes = (0..40).flat_map(|bytes_max| (0..=bytes_max).map(move |len| (bytes_max, len)));
        for ((bytes_max, len), bytes) in
            sizes.flat_map(|size| [b"a1(b)2", b"\x0a\x03\x12\x01z\x08"].map(|bytes| (size, bytes)))
        {
            let before: Vec<u8> = bytes.iter().copied().cycle().take(len).collect();
            let mut input = before.clone();
            let mut material =
                MutationContext { rng: &mut rng, dictionary: &dictionary, pairs: &[], other: b"0123456789", bytes_max };
            let changed = (row.apply)(&mut input, &mut material);
            assert!(input.len() <= bytes_max, "{}: {len} became {} of {bytes_max}", row.name, input.len());
            assert!(changed || input == before, "{} of {len}", row.name);
        }
    }
}

type Code = fn(&[u8], &mut SimulatedGuest) -> Result<(), &'static str>;

/// A case that one mutator solves alone, from these seeds, within a number of executions.
struct Case {
    mutator: &'static str,
    seeds: &'static [&'static [u8]],
    executions: u64,
    code: Code,
}

fn is(wanted: bool) -> Result<(), &'static str> {
    if wanted { Err("found") } else { Ok(()) }
}

const CASES: &[Case] = &[
    Case { mutator: "bit", seeds: &[b"\x00\x00"], executions: 2_000, code: |input, _| is(input == b"\x00\x40") },
    Case { mutator: "byte", seeds: &[b"aaa"], executions: 20_000, code: |input, _| is(input == b"aza") },
    Case {
        mutator: "arithmetic",
        seeds: &[&[0x12, 0x34, 0xff, 0xff]],
        executions: 20_000,
        code: |input, _| is(input == [0x12, 0x35, 0x00, 0x05]),
    },
    Case {
        mutator: "interesting",
        seeds: &[b"12345678"],
        executions: 20_000,
        code: |input, _| is(input.len() == 8 && input[2..6] == [0, 0, 0, 0x80]),
    },
    Case {
        mutator: "erase",
        seeds: &[b"keep.this.out"],
        executions: 10_000,
        code: |input, _| is(input == b"keep.out"),
    },
    Case { mutator: "insert", seeds: &[b"ab"], executions: 40_000, code: |input, _| is(input == b"a!b") },
    Case { mutator: "copy", seeds: &[b"<tag>"], executions: 20_000, code: |input, _| is(input == b"<tag><tag") },
    Case {
        mutator: "move",
        seeds: &[b"world hello "],
        executions: 5_000,
        code: |input, _| is(input == b"hello world "),
    },
    Case {
        mutator: "splice",
        seeds: &[b"GET / ", b"HTTP/1.1 something"],
        executions: 20_000,
        code: |input, _| is(input.windows(14).any(|part| part == b"GET / HTTP/1.1")),
    },
    Case {
        mutator: "digits",
        seeds: &[b"len=17;"],
        executions: 20_000,
        code: |input, _| is(input == b"len=4294967296;"),
    },
    Case {
        mutator: "repeat",
        seeds: &[b"[x"],
        executions: 2_000,
        code: |input, _| is(input.iter().filter(|byte| **byte == b'[').count() > 1500),
    },
    Case {
        mutator: "nest",
        seeds: &[b"[1]"],
        executions: 5_000,
        code: |input, _| {
            let depth = input.iter().take_while(|byte| **byte == b'[').count();
            is(depth > 200 && input.len() == 2 * depth + 1 && input[depth + 1..].iter().all(|byte| *byte == b']'))
        },
    },
    Case {
        mutator: "sized",
        seeds: &[&MESSAGE],
        executions: 5_000,
        code: |input, _| is(texts(input).is_some_and(|lengths| lengths.iter().any(|length| *length > 127))),
    },
    Case {
        mutator: "token",
        seeds: &[b"[first]\nk=second"],
        executions: 20_000,
        code: |input, _| is(input == b"[second]\nk=first"),
    },
    Case {
        mutator: "bracket",
        seeds: &[br#"{"a":[1]}"#],
        executions: 20_000,
        code: |input, _| {
            let (mut rest, mut depth) = (input, 0);
            while let Some(inside) = rest.strip_prefix(br#"{"a":"#) {
                (rest, depth) = (inside, depth + 1);
            }
            let closing = rest.strip_prefix(b"[1]").unwrap_or_default();
            is(depth >= 50 && closing.len() == depth && closing.iter().all(|byte| *byte == b'}'))
        },
    },
    Case {
        mutator: "indent",
        seeds: &[b"a:\n b"],
        executions: 5_000,
        code: |input, _| {
            let lines = input.split(|byte| *byte == b'\n');
            let depths: Vec<usize> = lines.map(|line| line.iter().take_while(|byte| **byte == b' ').count()).collect();
            is(depths.len() > 10 && depths.windows(2).all(|pair| pair[0] < pair[1]))
        },
    },
];

fn solve(case: &Case, with: &'static Mutator, seed: u64) -> Stats {
    let (seed, executions_max) = (Seed(seed), case.executions);
    let options = Options { seed, executions_max, only: Some(with), first_only: true, ..Options::default() };
    let (campaign, ..) = campaign(options, case.seeds, case.code);
    *campaign.stats()
}

#[test]
fn each_mutator_solves_its_case_and_most_others_do_not() {
    for case in CASES {
        for seed in 0..3 {
            let stats = solve(case, named(case.mutator), seed);
            assert_eq!(stats.findings, 1, "{} with seed {seed}: {stats:?}", case.mutator);
        }
        let others: Vec<&str> = MUTATORS
            .iter()
            .filter(|row| row.name != case.mutator && solve(case, row, 0).findings > 0)
            .map(|row| row.name)
            .collect();
        assert!(others.len() <= 2, "{} is solved by {others:?}, too", case.mutator);
    }
}

#[test]
fn words_of_the_dictionary_are_put_over_and_between() {
    let mut dictionary = Dictionary::default();
    dictionary.give(b"WORD");
    let mut rng = Rng::new(Seed(2), 0);
    let (mut over, mut between) = (false, false);
    for _ in 0..200 {
        let mut input = b"abcdefgh".to_vec();
        let mut material =
            MutationContext { rng: &mut rng, dictionary: &dictionary, pairs: &[], other: &[], bytes_max: 64 };
        assert!((named("word").apply)(&mut input, &mut material));
        over |= input == b"abWORDgh";
        between |= input == b"abWORDcdefgh";
    }
    assert!(over && between);
}

#[test]
fn a_quarter_of_the_words_are_suggested_ones_and_all_where_there_are_no_others() {
    let words = |dictionary: &Dictionary| {
        let mut rng = Rng::new(Seed(3), 0);
        let suggested = (0..400).filter(|_| {
            let mut input = b"abcdefgh".to_vec();
            let mut material = MutationContext { rng: &mut rng, dictionary, pairs: &[], other: &[], bytes_max: 64 };
            (named("word").apply)(&mut input, &mut material) && input.windows(5).any(|part| part == b"MAYBE")
        });
        suggested.count()
    };
    let mut dictionary = Dictionary::default();
    assert_eq!(words(&dictionary), 0);
    dictionary.suggest(b"MAYBE");
    assert_eq!(words(&dictionary), 400);
    dictionary.give(b"WORD");
    assert!((60..140).contains(&words(&dictionary)), "{}", words(&dictionary));
}

#[test]
fn comparisons_alone_solve_what_only_they_can() {
    let only = Some(named("comparison"));
    let options = Options { seed: Seed(1), executions_max: 1_000, only, first_only: true, ..Options::default() };
    let code = |input: &[u8], guest: &mut SimulatedGuest| {
        let value = u64::from_le_bytes(input[..8.min(input.len())].try_into().unwrap_or_default());
        is(guest.equal(1, 8, value, 0x1122_3344_5566_7788))
    };
    let (campaign, ..) = campaign(options, &[b"abcdefgh"], code);
    assert_eq!(campaign.stats().findings, 1, "{:?}", campaign.stats());
}

/// What a mutator makes of an input beside another testcase, some times.
fn made(name: &str, input: &[u8], other: &[u8], times: usize) -> Vec<Vec<u8>> {
    let (dictionary, mut rng) = (Dictionary::default(), Rng::new(Seed(4), 0));
    let mut changed = Vec::new();
    for _ in 0..times {
        let mut one = input.to_vec();
        let mut material =
            MutationContext { rng: &mut rng, dictionary: &dictionary, pairs: &[], other, bytes_max: 4096 };
        if (named(name).apply)(&mut one, &mut material) {
            changed.push(one);
        }
    }
    changed
}

#[test]
fn blocks_change_with_all_lengths_around_them_and_lengths_that_are_too_large_are_made_to_fit() {
    let changed = made("sized", &MESSAGE, b"0123", 2000);
    let lengths: Vec<Vec<usize>> = changed.iter().filter_map(|input| texts(input)).collect();
    assert!(lengths.len() > 400, "{} of {} are well-formed", lengths.len(), changed.len());
    let has_one_text_of = |bytes: std::ops::Range<usize>| {
        lengths.iter().any(|lengths| matches!(lengths[..], [length] if bytes.contains(&length)))
    };
    assert!(has_one_text_of(1..120), "a part is erased");
    assert!(has_one_text_of(121..128), "something is inserted");
    assert!(has_one_text_of(128..4096), "both lengths become longer themselves");
    assert!(lengths.contains(&vec![120, 120]), "the text is there twice");
    assert!(lengths.contains(&Vec::new()), "the text is gone");
    // In either order of bytes; the rest is left alone.
    for (input, wanted) in [(b"\xff\xff\xff\x01abc", b"\x03\0\0\0abc"), (b"\x01\xff\xff\xffabc", b"\0\0\0\x03abc")] {
        assert!(made("sized", input, &[], 2000).iter().any(|input| input == wanted));
    }
    // A text does not look as if it had lengths, and is changed all the same now and then.
    assert!((1..500).contains(&made("sized", b"0123456789", &[], 1000).len()));
}

#[test]
fn tokens_and_regions_are_taken_from_another_testcase_and_from_text_only() {
    let made = |name, input: &[u8], other: &[u8]| made(name, input, other, 40_000);
    let sections = made("token", b"[a]\nk=v\n", b"[b]\nn=1\n");
    assert!(sections.iter().any(|text| text == b"[a]\nk=v\n[b]\nn=1\n"));
    assert!(sections.iter().any(|text| text == b"[b]\nk=v\n"));
    let calls = made("bracket", b"f(1), g[2]", b"{x}");
    for wanted in [&b"f{x}, g[2]"[..], b"f[2], g[2]", b"f((((1)))), g[2]", b"f(1), g<[2]>"] {
        assert!(calls.iter().any(|text| text == wanted), "{}", wanted.escape_ascii());
    }
    let lines = made("indent", b"a:\n  b", b"\tc");
    for wanted in [&b"a:\nb"[..], b"a:\n\tb", b"a:\n    b", b"  a:\n  b", b"a:\n  b\n  \tb\n  \t\tb"] {
        assert!(lines.iter().any(|text| text == wanted), "{}", wanted.escape_ascii());
    }
    for name in ["token", "bracket", "indent"] {
        assert!(made(name, b"\x00\x01(\x02)\x03", b"(x)").is_empty());
    }
}
