//! Generated modules: whatever is valid is rewritten into something valid, with a right map.

use super::offsets::{check_map, check_map_of_all_ways};
use super::wrap;
use crate::{features, mutated, mutations};
use arbitrary::Unstructured;
use wasm_smith::{Config, Module};
use wasmparser::Validator;

/// Modules generated, also with `FOZZY_LONG`, and bytes of randomness for each.
const MODULES: u64 = 400;
const MODULES_LONG: u64 = 50_000;
const BYTES: usize = 4096;

/// SplitMix64, which needs no crate and is the same everywhere.
/// <https://prng.di.unimi.it/splitmix64.c>
fn random_bytes(seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = state;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    };
    std::iter::repeat_with(|| next().to_le_bytes()).flatten().take(BYTES).collect()
}

/// Mutations of a module that are looked at.
const MUTATIONS: usize = 40;

/// Each mutant is as valid as the original, and as long.
fn check_mutations(component: &[u8]) {
    let all = mutations(component, &|_, _| true).expect("the component is accepted").all;
    for mutation in all.iter().step_by(all.len() / MUTATIONS + 1) {
        let mutant = mutated(component, [&mutation.edit]);
        assert_eq!(mutant.len(), component.len());
        assert_ne!(mutant, component, "{mutation:?}");
        let valid = Validator::new_with_features(features()).validate_all(&mutant);
        assert!(valid.is_ok(), "{mutation:?}: {:?}", valid.err());
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "reads a setting of the test run")]
fn generated_modules_stay_valid() {
    let modules = if std::env::var_os("FOZZY_LONG").is_some() { MODULES_LONG } else { MODULES };
    let config = Config {
        max_memories: 3,
        max_tables: 3,
        max_instructions: 300,
        min_funcs: 1,
        threads_enabled: false,
        gc_enabled: true,
        exceptions_enabled: true,
        tail_call_enabled: true,
        ..Config::default()
    };
    let mut accepted = 0;
    for seed in 0..modules {
        let bytes = random_bytes(seed);
        let module = Module::new(config.clone(), &mut Unstructured::new(&bytes));
        let component = wrap(&[module.expect("there are enough bytes").to_bytes()]);
        // The generator knows a little more than we accept.
        if Validator::new_with_features(features()).validate_all(&component).is_ok() {
            check_map(&component);
            check_map_of_all_ways(&component);
            check_mutations(&component);
            accepted += 1;
        }
    }
    assert!(accepted > modules / 2, "the generator makes modules that we accept: {accepted}");
}
