//! `fozzy.h` natively: a scenario in C is a program that drives itself, as the sandbox would.
//!
//! ```text
//! guests/c/draws.c ─┬─ clang, wasm32 ─▶ fozzy run --seed 7 ─▶ lines ─┐
//!                   └─ cc ────────────▶ FOZZY_SEED=7 ./draws ─▶ lines ─┴─ equal
//! ```
//!
//! Not here: each function in the sandbox (`guests/c/tools.c`, by `tests/samples`), the template (`init`).

use crate::corpus;
use crate::fozzy::{Fozzy, repository};

/// A folder with the guest as a program of this machine, which every C compiler takes without a warning.
fn natively() -> Fozzy {
    let fozzy = Fozzy::new();
    for standard in ["c11", "gnu17"] {
        let flags = format!("-std={standard} -O1 -g -Wall -Wextra -pedantic -Werror");
        let root = repository();
        let line = format!("cc {flags} -I'{0}/guest-sdk/c' -o draws '{0}/tests/guests/c/draws.c'", root.display());
        fozzy.shell(&line).exits(0);
    }
    fozzy
}

#[test]
fn a_scenario_in_c_runs_natively_and_its_properties_are_checked() {
    let fozzy = natively();
    let passed = fozzy.shell("FOZZY_SEED=7 FOZZY_SEQUENCES=3 FOZZY_FLOWS=40 ./draws").exits(0).out();
    assert!(passed.contains("draws passed: 3 sequences of 40 flows, seed 7\n"), "{passed}");
    for row in ["passed         small  always, 60 times", "never reached  never come by  reachable, 0 times"] {
        assert!(passed.contains(row), "{row}:\n{passed}");
    }
    assert_eq!(passed.matches("\nbegin ").count() + 1, 3, "each sequence begins with fresh memory:\n{passed}");

    let failed = fozzy.shell("FOZZY_SEED=7 FOZZY_FLOWS=400 ./draws >/dev/null").exits(1).err();
    assert!(failed.contains("`small` does not hold\nit is not\n"), "{failed}");
    let again = failed.lines().find_map(|line| line.split_once("again: ")).expect("how to see it again").1;
    assert!(again.starts_with("FOZZY_SEED=7 FOZZY_FLOWS=400 FOZZY_ONLY="), "{again}");
    assert_eq!(fozzy.shell(&format!("{again} ./draws >/dev/null")).exits(1).err(), failed, "the same failure alone");
    let misread = fozzy.shell("FOZZY_SEED=x ./draws").exits(2).err();
    assert!(misread.contains("FOZZY_SEED: expected a number, found `x`"), "{misread}");
}

#[test]
fn the_same_seed_draws_the_same_in_c_natively_and_in_the_sandbox() {
    corpus::c_toolchain();
    let fozzy = natively();
    let source = repository().join("tests/guests/c/draws.c");
    let header = repository().join("guest-sdk/c");
    let clang = "clang-19 --target=wasm32-wasi";
    let compile =
        format!("{clang} -O2 -g -Wall -Wextra -Werror -I'{}' -c -o draws.o '{}'", header.display(), source.display());
    fozzy.shell(&format!("{compile} && {clang} -mexec-model=reactor -o draws.wasm draws.o")).exits(0);
    for seed in [0, 7, u64::MAX] {
        let bounds = "--sequences 3 --flows 40";
        let sandbox = fozzy.shell(&format!("fozzy run draws.wasm --seed {seed} {bounds} 2>/dev/null")).exits(0).out();
        let native = format!("FOZZY_SEED={seed} FOZZY_SEQUENCES=3 FOZZY_FLOWS=40 ./draws");
        let native = fozzy.shell(&native).exits(0).out();
        let native = native.split("draws passed").next().expect("there is always a first part");
        assert!(native.lines().count() > 80, "{native}");
        assert_eq!(sandbox, native, "seed {seed}");
    }
}

#[test]
fn properties_that_nothing_reaches_are_known_in_c_and_go() {
    corpus::c_toolchain();
    let (go, cache) = corpus::go();
    let fozzy = Fozzy::new();
    let bin = go.parent().expect("it is in a folder").display();
    let environment = format!("GOTOOLCHAIN=local GOCACHE='{}' PATH='{bin}':$PATH", cache.display());
    for (scenario, property, place) in
        [("c-ring", "numbers come out in order", "ring.c:61"), ("go-timers", "every timer knows its place", "main.go:")]
    {
        let folder = repository().join("scenarios").join(scenario);
        // After one step the ring is not read, and the invariant is not due.
        let line = format!("{environment} fozzy run '{}' --seed 1 --sequences 1 --flows 1 --json", folder.display());
        let ran = fozzy.shell(&line).exits(0).json();
        let rows = ran["properties"].as_array().expect("a list");
        let row = rows.iter().find(|row| row["name"] == property).unwrap_or_else(|| panic!("{property}: {ran:#}"));
        assert_eq!(row["state"], "never-reached", "{ran:#}");
        assert!(row["place"].as_str().is_some_and(|found| found.contains(place)), "{row}");
        assert!(ran["catalogue"].is_null(), "{ran:#}");
    }
}
