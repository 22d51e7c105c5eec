//! Hostile texts: none may cause a panic, and none may take long.

use super::{parsed, problems};
use crate::{PLAN_BYTES_MAX, PROBLEMS_MAX, RULES_MAX};

/// Knuth's generator: the same texts in every run.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

const SEED: &str = r#"
args = ["a"]
env = { A = "1" }
stdin = { base64 = "Zg==" }
wall-start = 2025-06-01T12:00:00Z
[files]
"/a/b" = { json = { x = [1, 2.5, true] } }
[[http]]
url = "https://é.test/*"
response-headers = { a = ["1"] }
delay = "1.5ms"
[[process]]
command = "git"
component = { path = "x.wasm", dirs = { "/a" = "b" } }
[[node]]
name = "server"
component = "x"
[[fault]]
kind = "io-error"
rate = "1/3"
"#;

#[test]
fn mutated_plans_never_panic() {
    let mut lcg = Lcg(7);
    let pieces = [
        "[",
        "]]",
        "=",
        "\"",
        "'",
        "{",
        "}",
        ",",
        ".",
        "-1",
        "nan",
        "inf",
        "1e999",
        "true",
        "\n",
        "\u{0}",
        "é",
        "[[http]]",
        "url",
        "9223372036854775808",
        "0x",
        "'''",
        "#",
    ];
    for _ in 0..20_000 {
        let mut text: Vec<char> = SEED.chars().collect();
        for _ in 0..1 + lcg.below(6) {
            let (from, to) = (lcg.below(text.len()), lcg.below(text.len()));
            match lcg.below(4) {
                0 => drop(text.remove(from)),
                1 => text.swap(from, to),
                2 => drop(text.splice(from..from, pieces[lcg.below(pieces.len())].chars())),
                _ => drop(text.drain(from.min(to)..from.max(to).min(from.min(to) + 20))),
            }
        }
        problems(&text.into_iter().collect::<String>());
    }
}

#[test]
fn random_bytes_never_panic() {
    let mut lcg = Lcg(11);
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..lcg.below(60)).map(|_| lcg.below(256) as u8).collect();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        problems(&text);
        let _ = crate::parse_fault_words(&text);
    }
}

#[test]
fn every_prefix_of_a_plan_is_judged() {
    for (end, _) in SEED.char_indices() {
        problems(&SEED[..end]);
    }
}

#[test]
fn depth_and_size_are_refused() {
    for deep in [
        "[".repeat(100_000),
        "a.".repeat(100_000),
        "a = [".repeat(50_000),
        format!("a = {}", "{a=".repeat(100_000)),
        format!("[{}a]", "a.".repeat(100_000)),
    ] {
        assert!(problems(&deep).contains("no TOML"), "{}", &deep[..10]);
    }
    let large = " ".repeat(PLAN_BYTES_MAX + 1);
    assert_eq!(
        problems(&large),
        " it has more than the 4194304 bytes that a plan may have; put large bodies into files"
    );
}

#[test]
fn many_things_are_refused_in_one_sentence() {
    let unknown: String = (0..RULES_MAX).map(|i| format!("k{i} = 1\n")).collect();
    let found = problems(&unknown);
    assert_eq!(found.lines().count(), PROBLEMS_MAX + 1);
    assert!(found.ends_with("there are more than 100 problems; the others are not shown"), "{found}");
    let rules = "[[http]]\nurl = '/'\nstatus = 200\n".repeat(RULES_MAX + 1);
    assert_eq!(
        problems(&rules),
        format!("1:3: `http`: expected at most {RULES_MAX} elements, found {}", RULES_MAX + 1)
    );
    let nodes: String = (0..1000).map(|i| format!("[[node]]\nname = 'n{i}'\ncomponent = 'a'\n")).collect();
    assert_eq!(problems(&nodes), "1:3: `node`: expected fewer than 1000 machines, found 1000");
    // A JSON body is the user's own, of any number of elements.
    let body = format!("[[http]]\nurl = '/'\njson = [{}]", "1,".repeat(RULES_MAX * 2));
    assert_eq!(parsed(&body).http.len(), 1);
}

#[test]
fn what_is_shown_of_a_text_is_short_and_on_one_line() {
    let found = problems(&format!(
        "stdin = {{ base64 = \"{}\" }}\nwall-start = \"a\\nb{}\"",
        "é".repeat(50),
        "x".repeat(100_000)
    ));
    assert_eq!(found.lines().count(), 2, "{found}");
    assert!(found.len() < 500, "{found}");
}
