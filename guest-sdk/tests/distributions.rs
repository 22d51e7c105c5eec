//! Every draw has the distribution that its documentation says: chi-squared tests at fixed seeds, natively.
//!
//! The bound is the 99.99 % quantile for the degrees of freedom, by Wilson and Hilferty's formula. The seeds are fixed, so
//! each test either always passes or never.

use fozzy_sdk::prelude::*;
use std::collections::BTreeMap;

/// Draws of each test.
const DRAWS: u32 = 20_000;

/// The 99.99 % quantile of the chi-squared distribution.
fn quantile(freedom: f64) -> f64 {
    const NORMAL: f64 = 3.719;
    let spread = 2.0 / (9.0 * freedom);
    freedom * (1.0 - spread + NORMAL * spread.sqrt()).powi(3)
}

/// Holds what `draw` gives against what it should give, as value and probability.
#[track_caller]
fn check<T: Ord + std::fmt::Debug>(expected: &[(T, f64)], mut draw: impl FnMut() -> T) {
    let sum: f64 = expected.iter().map(|(_, probability)| probability).sum();
    assert!((sum - 1.0).abs() < 1e-9, "the probabilities sum to {sum}");
    for seed in 0..3 {
        fozzy_sdk::native::begin(seed);
        let mut seen: BTreeMap<T, u32> = BTreeMap::new();
        (0..DRAWS).for_each(|_| *seen.entry(draw()).or_default() += 1);
        let strange = seen.keys().find(|value| !expected.iter().any(|(known, p)| known == *value && *p > 0.0));
        assert!(strange.is_none(), "seed {seed}: {strange:?} can never come");
        let possible = expected.iter().filter(|(_, probability)| *probability > 0.0);
        let (mut distance, mut kinds) = (0.0, 0.0);
        for (value, probability) in possible {
            let mean = probability * f64::from(DRAWS);
            let count = f64::from(seen.get(value).copied().unwrap_or(0));
            distance += (count - mean).powi(2) / mean;
            kinds += 1.0;
        }
        assert!(kinds < 2.0 || distance < quantile(kinds - 1.0), "seed {seed}: {distance} of {kinds} kinds: {seen:?}");
    }
}

fn even<T: Copy>(values: &[T]) -> Vec<(T, f64)> {
    values.iter().map(|value| (*value, 1.0 / values.len() as f64)).collect()
}

#[test]
fn choices_are_even() {
    check(&even(&[0usize, 1, 2, 3, 4, 5, 6]), || draw::index(7));
    check(&even(&[-2i64, -1, 0, 1, 2]), || draw::range(-2..=2i64));
    check(&even(&['a', 'b', 'c']), || draw::one_of(&['a', 'b', 'c']));
    check(&even(&[false, true]), draw::any::<bool>);
    check(&even(&[0u8, 1, 2, 3, 4, 5, 6, 7]), || draw::bytes(1)[0] >> 5);
    // The whole range of 64 bits, by its highest bits.
    check(&even(&[0u64, 1, 2, 3]), || draw::range(0..=u64::MAX) >> 62);
    check(&even(&[-2i64, -1, 0, 1]), || draw::range(i64::MIN..=i64::MAX) >> 62);
}

#[test]
fn weights_and_probabilities_are_kept() {
    let weights = [(1, 'a'), (0, 'b'), (5, 'c'), (94, 'd')];
    check(&[('a', 0.01), ('b', 0.0), ('c', 0.05), ('d', 0.94)], || draw::weighted(&weights));
    for probability in [0.0, 0.001, 0.25, 0.5, 0.9, 1.0] {
        check(&[(true, probability), (false, 1.0 - probability)], || draw::chance(probability));
        check(&[(true, probability), (false, 1.0 - probability)], || random_bool(probability));
    }
}

/// -3 to 4, with these probabilities for -3, 0 and 4 and the rest even.
fn edges(min: f64, zero: f64, max: f64) -> Vec<(i32, f64)> {
    let rest = (1.0 - min - zero - max) / 5.0;
    (-3..=4)
        .map(|value| {
            (
                value,
                match value {
                    -3 => min,
                    0 => zero,
                    4 => max,
                    _ => rest,
                },
            )
        })
        .collect()
}

#[test]
fn each_setting_of_random_int_is_exact() {
    let of = || random_int(-3, 4);
    let even = 1.0 / 8.0;
    check(&edges(even, even, even), || of().draw());
    // What is not set shares the rest with the others.
    check(&edges(0.5, 0.5 / 7.0, 0.5 / 7.0), || of().min_prob(0.5).draw());
    check(&edges(0.9 / 7.0, 0.1, 0.9 / 7.0), || of().zero_prob(0.1).draw());
    check(&edges(0.7 / 7.0, 0.7 / 7.0, 0.3), || of().max_prob(0.3).draw());
    check(&edges(0.2, 0.2, 0.2), || of().edge_values_prob(0.2).draw());
    check(&edges(0.0, 0.1, 0.25), || of().edge_values_prob(0.1).max_prob(0.25).min_prob(0.0).draw());
    check(&edges(0.25, 0.25, 0.5), || of().min_prob(0.25).zero_prob(0.25).max_prob(0.5).draw());
    // Zero is no edge value where it is an end, or outside.
    check(&[(0, 0.4), (1, 0.2), (2, 0.4)], || random_int(0, 2).edge_values_prob(0.4).zero_prob(0.9).draw());
    check(&[(5, 0.5), (6, 0.25), (7, 0.25)], || random_int(5, 7).min_prob(0.5).zero_prob(0.9).draw());
    // Where there are no others, what is set are weights.
    check(&[(7, 1.0)], || random_int(7, 7).min_prob(0.1).max_prob(0.3).draw());
    check(&[(7, 1.0)], || random_int(7, 7).max_prob(0.0).draw());
    check(&[(0, 0.25), (1, 0.75)], || random_int(0, 1).min_prob(0.1).max_prob(0.3).draw());
    check(&[(i64::MIN, 0.5), (i64::MAX, 0.5)], || random_int(i64::MIN, i64::MAX).min_prob(0.5).max_prob(0.5).draw());
}

#[test]
fn strings_and_bytes_have_even_lengths_and_characters() {
    check(&even(&[2usize, 3, 4, 5]), || random_string(2, 5).draw().len());
    check(&even(&['x', 'y', 'z']), || random_string(1, 1).alphabet("xyz").draw().chars().next().expect("one"));
    check(&even(&[0usize, 1, 2]), || random_bytes(0, 2).draw().len());
    let not_b = || random_string(1, 1).alphabet("abc").predicate(|text| text != "b").draw();
    check(&even(&['a', 'c']), || not_b().chars().next().expect("one"));
    check(&even(&[0u8, 1, 2, 3]), || random_bytes(1, 1).predicate(|bytes| bytes[0] < 32).draw()[0] / 8);
}

#[test]
fn biased_draws_have_the_bias_that_is_documented() {
    // 4 of 8 small; of the whole type, one in 2^24 is small too; edges 0 and 1 of six are small.
    let small = 0.5 + 0.125 * 2.0 / 6.0;
    check(&[(true, small), (false, 1.0 - small)], || draw::any::<u32>() < 256);
    let most = 0.125 / 6.0;
    check(&[(true, most), (false, 1.0 - most)], || draw::any::<u64>() == u64::MAX);
    let least = 0.125 / 7.0;
    check(&[(true, least), (false, 1.0 - least)], || draw::any::<i64>() == i64::MIN);
    // 7 of 8 up to 8; 1 of 8 up to 64, of which 9 of 65 are up to 8.
    let short = 0.875 + 0.125 * 9.0 / 65.0;
    check(&[(true, short), (false, 1.0 - short)], || draw::any::<Vec<()>>().len() <= 8);
    check(&[(true, 0.75), (false, 0.25)], || draw::any::<Option<()>>().is_some());
}
