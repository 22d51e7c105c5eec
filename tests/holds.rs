//! Memory holds: allocators of five languages own all of a module's memory, and no call of the host changes a byte of it.
//!
//! ```text
//! blocks grow, are freed, fill the memory ─▶ each kind of call of preview 1 ─▶ every byte of every block is as it was
//! ```
//!
//! With what stands between a module and WASI elsewhere, an adapter with a page of its own in the module's memory, the program in C
//! ended with 3, and those of Go and AssemblyScript crashed. Not here: what the calls answer (`conformance`).

use crate::corpus::{self, GuestLanguage};
use crate::fozzy::Fozzy;

/// Seeds of each program, without faults and with.
const SEEDS: u64 = 20;

#[track_caller]
fn check(language: GuestLanguage) {
    let (fozzy, module) = (Fozzy::new(), corpus::holds(language).display().to_string());
    for faults in [&[][..], &["--faults", "all"]] {
        let seeds = format!("0..{}", SEEDS - 1);
        let mut words = vec!["run", &module, "--env", "NAME=value", "--seeds", &seeds, "--json"];
        words.extend(faults);
        words.extend(["--", "/"]);
        let ran = fozzy.run(&words).exits(0);
        let summary = ran.json();
        assert_eq!(summary["tests"]["passed"], SEEDS, "{language:?} with {faults:?}: {ran}");
    }
}

#[test]
fn memory_of_c_holds_across_calls() {
    check(GuestLanguage::C);
}

#[test]
fn memory_of_go_holds_across_calls() {
    check(GuestLanguage::Go);
}

#[test]
fn memory_of_assembly_script_holds_across_calls() {
    check(GuestLanguage::AssemblyScript);
}

#[test]
fn memory_of_zig_holds_across_calls() {
    check(GuestLanguage::Zig);
}

#[test]
fn memory_of_rust_holds_across_calls() {
    check(GuestLanguage::Rust);
}
