//! Whether the program of today is a repair of the one that failed, or another program in its place.
//!
//! ```text
//! failed in   bank::transfer, bank::main      today's functions   bank::transfer …   the same program
//!                                                                 shop::sell …       another one
//! ```
//!
//! A repair keeps at least one of the functions in which the program failed. Programs without names of functions say nothing.
//!
//! Not here: how the failure stands when it is the same program (`retrial`).

use fozzy_check::is_own;
use fozzy_trace::file::Recording;
use fozzy_trace::outcome::StackFrame;

/// Names of functions that every program may have.
const COMMON: &[&str] =
    &["_start", "main", "run", "__main_void", "__original_main", "closure", "call_once", "call", "call_mut"];
/// What a function without a name is called.
const UNNAMED: &str = "wasm-function[";
/// The beginning of a custom section with the names of functions.
const NAME_SECTION: &[u8] = b"\x04name";
/// Names that are shown.
const SHOWN: usize = 3;

/// Why `today` is taken for another program than the one that was recorded, if it is.
pub(super) fn other_program(recording: &Recording, today: &[u8]) -> Option<String> {
    if *recording.component == *today || !contains(today, NAME_SECTION) {
        return None;
    }
    let failed = recording.outcome.verdict.findings.first()?;
    let own: Vec<&str> = failed.backtrace.iter().filter(|frame| is_own(frame)).filter_map(name).collect();
    let is_other = !own.is_empty() && own.iter().all(|name| !contains(today, name.as_bytes()));
    is_other.then(|| {
        let names: Vec<String> = own.iter().take(SHOWN).map(|name| format!("`{}`", name.escape_debug())).collect();
        format!(
            "another program stands here today: it has none of the functions in which the recorded one failed ({})",
            names.join(", ")
        )
    })
}

/// The last part of a function's name, without its generic arguments, if it is not one that all programs have.
fn name(frame: &StackFrame) -> Option<&str> {
    let name = frame.function.as_str();
    let plain = name.split(['<', '(', '{']).next().unwrap_or(name).trim_end_matches("::");
    let last = plain.rsplit([':', '.', '/']).next().unwrap_or(plain);
    (!name.starts_with(UNNAMED) && !last.is_empty() && !COMMON.contains(&last)).then_some(last)
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::outcome::SourceLocation;

    #[test]
    fn names_are_those_that_other_programs_have_not() {
        let of = |function: &str| {
            let (module, function) = ("app".to_owned(), function.to_owned());
            name(&StackFrame { module, function, offset: 0, source: SourceLocation::default() }).map(str::to_owned)
        };
        assert_eq!(of("bank::transfer").as_deref(), Some("transfer"));
        assert_eq!(of("bank::sum<u64>").as_deref(), Some("sum"));
        assert_eq!(of("main.(*Bank).pay").as_deref(), None, "methods of Go are not told apart");
        assert_eq!(of("bank::transfer::{{closure}}").as_deref(), Some("transfer"));
        assert_eq!(of("bank::main"), None);
        assert_eq!(of("wasm-function[7]"), None);
    }
}
