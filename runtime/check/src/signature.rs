//! Where a failure is, in words that stay the same whatever values led to it.
//!
//! ```text
//! trap            divide by zero in parse < read < main      own functions, innermost first
//! panic of std    library/alloc/src/raw_vec.rs in grow < …   the same, as the line is one for a whole program
//! deep recursion  call stack exhausted in value < list       the functions of its cycle, from the first of the alphabet
//! out of memory   out of memory in read_name < read < main   who asked for more than there is
//! ```
//!
//! Invariants: neither the depth of a recursion nor the function in which it came to its end is part of it; which stack was used
//! up first is not either.
//! Not here: which functions are the target's own (`frame_filter`).

use crate::frame_filter::{is_named, names_failure};
use fozzy_trace::outcome::{SourceLocation, StackFrame};
use std::collections::BTreeMap;

/// Own frames that identify a trap: enough to tell call paths apart, few enough that a change further
/// out does not make it another failure.
const SIGNATURE_FRAMES: usize = 3;
/// Functions of a recursion that are named.
const CYCLE_FUNCTIONS: usize = 8;
/// How often a sequence of functions stands on a stack at least to be a cycle.
const CYCLE_TIMES_MIN: usize = 3;

/// What happened, and the functions that led to it; without names, their numbers in the module.
pub(crate) fn site(what: &str, backtrace: &[StackFrame]) -> String {
    let mut functions = functions(backtrace);
    // A recursion shows one function many times: how often is a count, not an identity.
    functions.dedup();
    functions.truncate(SIGNATURE_FRAMES);
    in_functions(what, &functions)
}

/// A stack that is used up: the functions that call each other again and again, and neither the one that stood there last nor
/// those that began.
pub(crate) fn recursion_site(what: &str, backtrace: &[StackFrame]) -> String {
    let functions = functions(backtrace);
    match cycle(&functions).or_else(|| recurring(&functions)) {
        Some(mut cycle) => {
            cycle.dedup();
            cycle.truncate(CYCLE_FUNCTIONS);
            in_functions(what, &cycle)
        }
        // What began the calls is not told where they are many, so it is not where they are few.
        None => in_functions(what, functions.get(..1).unwrap_or_default()),
    }
}

/// Memory that is used up: in a recursion as a stack that is used up; else the functions that led to it.
pub(crate) fn allocation_site(what: &str, backtrace: &[StackFrame]) -> String {
    match cycle(&functions(backtrace)) {
        Some(_) => recursion_site(what, backtrace),
        None => site(what, backtrace),
    }
}

/// A panic in the standard library, which is one place for all that use it: own frames tell them apart. `None` for one
/// elsewhere, and where there are no frames.
pub(crate) fn library_panic_site(at: &SourceLocation, backtrace: &[StackFrame]) -> Option<String> {
    let file = library_file(at.file.as_deref()?)?;
    let site = site(file, backtrace);
    (site != file).then_some(site)
}

/// The part of a path that names a file of the standard library on every machine.
fn library_file(path: &str) -> Option<&str> {
    let at = path.find("library/")?;
    let is_root = at == 0 || path.contains("/rustc/") || path.contains("/lib/rustlib/src/");
    let of_std = ["core/", "alloc/", "std/"].iter().any(|name| path[at + "library/".len()..].starts_with(name));
    (is_root && of_std).then(|| &path[at..])
}

fn functions(backtrace: &[StackFrame]) -> Vec<&str> {
    let own: Vec<&str> = backtrace.iter().filter(|frame| names_failure(frame)).map(|frame| &*frame.function).collect();
    match own.is_empty() {
        false => own,
        true => backtrace.iter().filter(|frame| !is_named(frame)).map(|frame| &*frame.function).collect(),
    }
}

fn in_functions(what: &str, functions: &[&str]) -> String {
    if functions.is_empty() { what.to_owned() } else { format!("{what} in {}", functions.join(" < ")) }
}

/// The sequence of functions that repeats over most of the stack, from the place that comes first in the alphabet.
fn cycle<'a>(functions: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut best = (0, 0, 0);
    for period in 1..=functions.len() / CYCLE_TIMES_MIN {
        let mut begin = 0;
        while begin + period < functions.len() {
            let same = (begin..functions.len() - period).take_while(|at| functions[*at] == functions[at + period]);
            let length = same.count() + period;
            // With equal lengths the shorter period is the cycle, and the longer one several of it.
            if length >= period * CYCLE_TIMES_MIN && length > best.0 {
                best = (length, begin, period);
            }
            begin += length - period + 1;
        }
    }
    let (length, begin, period) = best;
    if length * 2 <= functions.len() {
        return None;
    }
    let cycle = &functions[begin..begin + period];
    let turned = |from: usize| -> Vec<&'a str> { cycle[from..].iter().chain(&cycle[..from]).copied().collect() };
    (0..period).map(turned).min()
}

/// The functions that stand on the stack more than once, where there is no order in which they do.
fn recurring<'a>(functions: &[&'a str]) -> Option<Vec<&'a str>> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    functions.iter().for_each(|function| *times.entry(function).or_default() += 1);
    let found: Vec<&str> =
        times.into_iter().filter(|(_, times)| *times >= CYCLE_TIMES_MIN).map(|(name, _)| name).collect();
    (!found.is_empty()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(functions: &[&str]) -> Vec<StackFrame> {
        let frame = |function: &&str| StackFrame {
            module: "m".into(),
            function: (*function).to_owned(),
            offset: 1,
            source: SourceLocation::default(),
        };
        functions.iter().map(frame).collect()
    }

    fn of_recursion(functions: &[&str]) -> String {
        recursion_site("deep", &stack(functions))
    }

    #[test]
    fn a_recursion_is_its_cycle_wherever_it_ends_and_whatever_it_called_last() {
        let cycle = ["value", "list", "item"].repeat(20);
        let expected = "deep in item < value < list";
        assert_eq!(of_recursion(&cycle), expected);
        for begin in 0..3 {
            for leaf in [&[][..], &["peek"], &["peek", "core::num::parse", "skip"], &["x", "x", "x"]] {
                let deep: Vec<&str> = leaf.iter().chain(&cycle[begin..]).copied().collect();
                assert_eq!(of_recursion(&deep), expected, "{begin} {leaf:?}");
            }
        }
        assert_eq!(of_recursion(&["f"; 60]), "deep in f");
        let began: Vec<&str> = std::iter::repeat_n("f", 60).chain(["main"]).collect();
        assert_eq!(of_recursion(&began), "deep in f");
        assert_eq!(of_recursion(&["a", "a", "b"].repeat(9)), "deep in a < b");
    }

    #[test]
    fn a_recursion_without_an_order_is_its_functions() {
        // As the input has it, which of the two stands between the values.
        let input = 0b10_1100_1110_0010_1101_0001_1110_0101_u32;
        let mixed: Vec<&str> =
            (0..30).flat_map(|n| ["value", if input >> n & 1 == 0 { "list" } else { "map" }]).collect();
        assert_eq!(of_recursion(&mixed), "deep in list < map < value");
        assert_eq!(of_recursion(&mixed[1..]), of_recursion(&mixed));
        assert_eq!(of_recursion(&["a", "b", "c"]), "deep in a");
        assert_eq!(of_recursion(&[]), "deep");
    }

    #[test]
    fn a_panic_of_the_standard_library_is_told_apart_by_own_frames() {
        let at = |file: &str| SourceLocation { file: Some(file.to_owned()), line: Some(28), col: Some(5) };
        let grow = stack(&["core::panicking::panic", "alloc::raw_vec::capacity_overflow", "grow", "main"]);
        let expected = Some("library/alloc/src/raw_vec/mod.rs in grow < main".to_owned());
        assert_eq!(library_panic_site(&at("/rustc/59807616e1fa/library/alloc/src/raw_vec/mod.rs"), &grow), expected);
        assert_eq!(library_panic_site(&at("library/alloc/src/raw_vec/mod.rs"), &grow), expected);
        let local = "/home/me/.rustup/toolchains/x/lib/rustlib/src/rust/library/alloc/src/raw_vec/mod.rs";
        assert_eq!(library_panic_site(&at(local), &grow), expected);
        assert_eq!(library_panic_site(&at("src/library/mod.rs"), &grow), None);
        assert_eq!(library_panic_site(&at("my/library/core/lib.rs"), &grow), None);
        assert_eq!(library_panic_site(&at("library/core/src/num.rs"), &[]), None);
    }
}
