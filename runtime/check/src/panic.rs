//! What a program says on standard error before it aborts.
//!
//! ```text
//! thread 'main' (1) panicked at src/main.rs:41:9:        Rust
//! index out of bounds: the len is 3 but the index is 7
//! note: run with `RUST_BACKTRACE=1` …
//!
//! Assertion failed: n > 0 (queue.c: pop: 12)             wasi-libc
//! panic: runtime error: index out of range               Go
//! ```
//!
//! Rust and C abort, which is a trap; Go exits with a code (`go`).

mod go;

pub(crate) use go::{GoPanic, of_exit as go_panic};

use fozzy_trace::outcome::SourceLocation;

/// Bytes at the end of standard error that are searched.
const TAIL_BYTES: usize = 16 << 10;

/// A program's own account of its failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PanicMessage {
    pub(crate) message: String,
    pub(crate) location: Option<SourceLocation>,
}

/// The last panic on standard error, if there is one.
pub(crate) fn last_panic(stderr: &[u8]) -> Option<PanicMessage> {
    let tail = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(TAIL_BYTES)..]).into_owned();
    rust(&tail).or_else(|| c_assertion(&tail)).or_else(|| aborted_go(&tail))
}

/// What helps with panics whose words do not say what is meant: a part of them, and the advice.
const ADVICE: [(&str, &str); 2] = [
    (
        "can't spawn worker thread",
        "WASI has no threads, and tokio resolves names and runs `tokio::fs` and `spawn_blocking` on one: connect to an address, or \
         resolve the name with `std::net::ToSocketAddrs`; use `std::fs`",
    ),
    (
        "failed to spawn thread",
        "WASI has no threads: call the function, or spawn it as a task of an executor that has one thread",
    ),
];

/// Advice for a panic that says this.
pub(crate) fn advice(message: &str) -> Option<&'static str> {
    ADVICE.iter().find(|(part, _)| message.contains(part)).map(|(_, advice)| *advice)
}

/// Whether the program said that an allocation failed.
pub(crate) fn says_out_of_memory(stderr: &[u8]) -> bool {
    let tail = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(TAIL_BYTES)..]).into_owned();
    // Rust may add how to get a backtrace.
    let said = |line: &&str| !line.trim().is_empty() && !line.starts_with("note: run with `RUST_BACKTRACE");
    let last = tail.lines().rev().find(said).unwrap_or("");
    // Go shows its stacks behind that.
    if tail.lines().any(|line| line.starts_with("fatal error: ") && line.ends_with("out of memory")) {
        return true;
    }
    (last.starts_with("memory allocation of ") && last.ends_with(" bytes failed")) || last.contains("out of memory")
}

fn rust(tail: &str) -> Option<PanicMessage> {
    let start = tail.rfind("panicked at ")?;
    let line_start = tail[..start].rfind('\n').map_or(0, |at| at + 1);
    if !tail[line_start..].starts_with("thread '") {
        return None;
    }
    let mut lines = tail[start + "panicked at ".len()..].lines();
    let location = place(lines.next()?.trim_end_matches(':'));
    let message: Vec<&str> =
        lines.take_while(|line| !line.starts_with("note: ") && !line.starts_with("stack backtrace:")).collect();
    Some(PanicMessage { message: message.join("\n").trim_end().to_owned(), location })
}

/// `src/main.rs:41:9`
fn place(text: &str) -> Option<SourceLocation> {
    let mut parts = text.rsplitn(3, ':');
    let col = parts.next()?.trim().parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(SourceLocation { file: Some(parts.next()?.to_owned()), line: Some(line), col: Some(col) })
}

fn c_assertion(tail: &str) -> Option<PanicMessage> {
    let line = tail.lines().rev().find(|line| line.starts_with("Assertion failed: "))?;
    let message = line.trim_end().to_owned();
    let inside = line.rsplit_once('(')?.1.trim_end().strip_suffix(')')?;
    let mut parts = inside.splitn(3, ": ");
    let (file, number) = (parts.next()?, parts.nth(1)?);
    let location =
        number.parse().ok().map(|line| SourceLocation { file: Some(file.to_owned()), line: Some(line), col: None });
    Some(PanicMessage { message, location })
}

fn aborted_go(tail: &str) -> Option<PanicMessage> {
    let line = tail.lines().find(|line| line.starts_with("panic: ") || line.starts_with("fatal error: "))?;
    tail.contains("goroutine ").then(|| PanicMessage { message: line.to_owned(), location: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rust_panic_has_place_and_message() {
        let stderr = b"working\n\nthread 'main' (1) panicked at src/main.rs:41:9:\nboom 7\nmore\nnote: run with `RUST_BACKTRACE=1`\n";
        let panic = last_panic(stderr).expect("a panic");
        assert_eq!(panic.message, "boom 7\nmore");
        let location = panic.location.expect("a place");
        assert_eq!((location.file.as_deref(), location.line, location.col), (Some("src/main.rs"), Some(41), Some(9)));
    }

    #[test]
    fn a_c_assertion_and_a_go_panic_are_recognised() {
        let panic = last_panic(b"Assertion failed: n > 0 (queue.c: pop: 12)\n").expect("an assertion");
        assert_eq!(panic.location.expect("a place").line, Some(12));
        let panic = last_panic(b"panic: boom\n\ngoroutine 1 [running]:\n").expect("a panic");
        assert_eq!(panic.message, "panic: boom");
    }

    #[test]
    fn a_thread_that_cannot_be_had_comes_with_advice() {
        let said = advice("OS can't spawn worker thread: Not supported (os error 58)").expect("tokio says so");
        assert!(said.contains("std::net::ToSocketAddrs"), "{said}");
        assert!(advice("failed to spawn thread: Os { code: 58, kind: Unsupported }").is_some());
        assert_eq!(advice("boom"), None);
    }

    #[test]
    fn text_about_panics_is_no_panic() {
        assert_eq!(last_panic(b"the log says: it panicked at noon\n"), None);
        assert_eq!(last_panic(b""), None);
        assert_eq!(last_panic(b"Assertion failed: (\n"), None);
        assert!(says_out_of_memory(b"memory allocation of 4194304 bytes failed\n"));
        let noted = b"memory allocation of 9 bytes failed\nnote: run with `RUST_BACKTRACE=1` environment variable\n";
        assert!(says_out_of_memory(noted));
        assert!(!says_out_of_memory(b"ok\n"));
    }
}
