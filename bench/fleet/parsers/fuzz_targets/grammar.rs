//! A grammar of `pest`, read and checked.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(pairs) = pest_meta::parser::parse(pest_meta::parser::Rule::grammar_rules, text) else { return };
    let _ = pest_meta::validator::validate_pairs(pairs.clone());
    let _ = pest_meta::parser::consume_rules(pairs);
});
