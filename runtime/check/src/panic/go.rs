//! A panic of Go: what its runtime writes to standard error before it exits with code 2.
//!
//! ```text
//! panic: assignment to entry in nil map          the message, which may have several lines
//!
//! goroutine 1 [running]:                         from here to the end nothing but stacks
//! main.store(...)
//!         /home/me/app/main.go:16 +0x11
//! main.main()
//!         /home/me/app/main.go:9 +0x4
//! ```
//!
//! Go's programs of WASI preview 1 leave by `proc_exit`, so no trap tells of it, and the stack of WebAssembly is the scheduler's: the printed
//! one is the program's own.
//!
//! Invariant: a program that prints such a text and then another line, or exits with another code, has not panicked. Time and memory are
//! linear in the text, which is bounded.

use super::PanicMessage;
use fozzy_trace::ExecutionEnd;
use fozzy_trace::outcome::{SourceLocation, StackFrame};

/// The code with which Go's runtime exits.
const EXIT_CODE: u32 = 2;
/// Bytes at the end of standard error that are searched: a deadlock shows the stacks of all goroutines.
const TAIL_BYTES: usize = 64 << 10;
/// Lines of a message that are kept.
const MESSAGE_LINES_MAX: usize = 32;
/// The beginnings of the line that says what happened.
const HEADLINES: [&str; 2] = ["panic: ", "fatal error: "];
/// Beginnings of the functions of Go's own runtime and library that stand above the code that panicked.
const RUNTIME_FUNCTIONS: [&str; 6] = ["runtime.", "runtime/", "internal/", "sync.", "sync/", "syscall."];

/// A panic, and the stack of the goroutine that it ended, innermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GoPanic {
    pub(crate) panic: PanicMessage,
    pub(crate) stack: Vec<StackFrame>,
}

impl GoPanic {
    /// Where in the program's own code it happened: `main.store (main.go:16)`, whatever folder it was built in.
    pub(crate) fn place(&self) -> Option<String> {
        let frame = self.own_frame()?;
        let file = frame.source.file.as_deref().unwrap_or("?");
        let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
        Some(format!("{} ({name}:{})", frame.function, frame.source.line.unwrap_or(0)))
    }

    fn own_frame(&self) -> Option<&StackFrame> {
        // Above a call of `panic` stand deferred functions: one of them has panicked again, for what happened below.
        let below = self.stack.iter().rposition(|frame| frame.function == "panic").map_or(0, |at| at + 1);
        let own = |from: usize| self.stack[from..].iter().find(|frame| is_own(&frame.function));
        own(below).or_else(|| own(0)).or_else(|| self.stack.first())
    }
}

/// The panic that a program ended with; `None` when it ended otherwise, or has only printed such a text.
pub(crate) fn of_exit(end: &ExecutionEnd, stderr: &[u8]) -> Option<GoPanic> {
    if *end != (ExecutionEnd::Exited { code: EXIT_CODE }) {
        return None;
    }
    let tail = String::from_utf8_lossy(&stderr[stderr.len().saturating_sub(TAIL_BYTES)..]).into_owned();
    let lines: Vec<&str> = tail.lines().collect();
    let stacks = stacks_begin(&lines)?;
    let headline = lines[..stacks].iter().rposition(|line| HEADLINES.iter().any(|start| line.starts_with(start)))?;
    let stack = own_stack(&lines[stacks..]);
    // The stack that a program prints itself begins with the function that makes it.
    if stack.first().is_none_or(|frame| frame.function.starts_with("runtime/debug.")) {
        return None;
    }
    let message: Vec<&str> = lines[headline..stacks].iter().copied().take(MESSAGE_LINES_MAX).collect();
    let panic = PanicMessage { message: message.join("\n").trim_end().to_owned(), location: None };
    let mut found = GoPanic { panic, stack };
    found.panic.location = found.own_frame().map(|frame| frame.source.clone());
    Some(found)
}

/// The first line of the stacks that everything up to the end consists of.
fn stacks_begin(lines: &[&str]) -> Option<usize> {
    // Whether a line and all behind it are stacks; those of the next two lines are enough to tell.
    let (mut next, mut after_next) = (true, true);
    let mut begin = None;
    for at in (0..lines.len()).rev() {
        let line = lines[at];
        let follows = lines.get(at + 1).copied();
        let is_stack = match line {
            _ if line.trim().is_empty() || is_header(line) || is_remark(line) => next,
            _ if is_call(line) => follows.is_some_and(|place| source(place).is_some()) && after_next,
            // A place belongs to the call above it.
            _ => false,
        };
        if is_stack && is_header(line) {
            begin = Some(at);
        }
        // Two lines that are none, one after the other: nothing further up reaches the end.
        if !is_stack && !next {
            break;
        }
        (next, after_next) = (is_stack, next);
    }
    begin
}

/// `goroutine 1 [running]:`, `goroutine 7 gp=0x1408000 m=0 mp=0x2c5e60 [chan receive, 2 minutes]:`, `runtime stack:`
fn is_header(line: &str) -> bool {
    let number = line.strip_prefix("goroutine ").and_then(|rest| rest.split(' ').next());
    number.is_some_and(|number| number.parse::<u64>().is_ok() && line.ends_with("]:")) || line == "runtime stack:"
}

/// What Go says in the place of frames.
fn is_remark(line: &str) -> bool {
    (line.starts_with("...") && line.contains(" frames elided..."))
        || line.starts_with("\tgoroutine running on other thread")
        || line.starts_with("goroutine running on other thread")
}

/// `main.(*Store).put(0x1408000, {0x1, 0x2})`, `created by main.main in goroutine 1`
fn is_call(line: &str) -> bool {
    line.starts_with("created by ")
        || (!line.starts_with(char::is_whitespace) && line.contains('(') && line.ends_with(')'))
}

/// `→/home/me/app/main.go:16 +0x11`
fn source(line: &str) -> Option<SourceLocation> {
    let place = line.strip_prefix('\t')?;
    let (path, offset) = place.rsplit_once(" +0x").unwrap_or((place, "0"));
    // Of `… +0x11 fp=0x1427f30 sp=0x1427ef8 pc=0x12470011`, the place is what stands first.
    let path = path.split(" +0x").next().unwrap_or(path);
    let (file, number) = path.rsplit_once(':')?;
    let is_offset = offset.chars().all(|c| c.is_ascii_hexdigit() || " =xfpsc".contains(c));
    let number = number.parse().ok().filter(|_| is_offset)?;
    Some(SourceLocation { file: Some(file.to_owned()), line: Some(number), col: None })
}

/// The first stack that is a goroutine's.
fn own_stack(lines: &[&str]) -> Vec<StackFrame> {
    let goroutine = lines.iter().position(|line| line.starts_with("goroutine ")).unwrap_or(0);
    let frames = lines[goroutine..].windows(2).skip(1).take_while(|pair| !pair[0].trim().is_empty());
    let calls = frames.filter(|pair| is_call(pair[0]) && !pair[0].starts_with("created by "));
    let frame = |pair: &[&str]| {
        let source = source(pair[1])?;
        Some(StackFrame { module: "go".to_owned(), function: function(pair[0]).to_owned(), offset: 0, source })
    };
    calls.filter_map(frame).collect()
}

/// `main.(*Store).put` of `main.(*Store).put(0x1408000, {0x1, 0x2})`: the arguments are values.
fn function(call: &str) -> &str {
    let mut depth = 0u32;
    for (at, c) in call.char_indices().rev() {
        match c {
            ')' => depth += 1,
            '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return &call[..at];
        }
    }
    call
}

/// Whether a function is the program's, and not of Go's runtime.
fn is_own(function: &str) -> bool {
    function != "panic" && !RUNTIME_FUNCTIONS.iter().any(|start| function.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXIT: ExecutionEnd = ExecutionEnd::Exited { code: EXIT_CODE };

    fn found(stderr: &str) -> Option<(String, Option<String>)> {
        of_exit(&EXIT, stderr.as_bytes()).map(|found| (found.panic.message.clone(), found.place()))
    }

    #[test]
    fn what_go_writes_before_it_exits_is_a_panic_with_its_message_and_place() {
        for (stderr, message, place) in [
            (
                "log\npanic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()\n\t/a/g3.go:16 +0x11\n",
                "panic: assignment to entry in nil map",
                "main.main (g3.go:16)",
            ),
            (
                "panic: first [recovered]\n\tpanic: second\n\ngoroutine 7 [running]:\npanic({0x1, 0x2})\n\t/go/src/runtime/panic.go:792 \
                 +0x11\nmain.(*Store).put(0x1408000, {0x1, 0x2})\n\t/a/store.go:9 +0x4\nmain.main.func1(...)\n\t/a/main.go:3\ncreated \
                 by main.main in goroutine 1\n\t/a/main.go:2 +0x9\n",
                "panic: first [recovered]\n\tpanic: second",
                "main.(*Store).put (store.go:9)",
            ),
            (
                "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation \
                 violation code=0x0 addr=0x0 pc=0x0]\n\ngoroutine 1 [running]:\nmain.read(...)\n\t/a/b.go:4 +0x1f\n",
                "panic: runtime error: invalid memory address or nil pointer dereference\n[signal SIGSEGV: segmentation \
                 violation code=0x0 addr=0x0 pc=0x0]",
                "main.read (b.go:4)",
            ),
            (
                "fatal error: all goroutines are asleep - deadlock!\n\ngoroutine 1 [chan receive]:\nmain.main()\n\t/a/b.go:4 \
                 +0x1\n\ngoroutine 6 [select, 2 minutes]:\nmain.f()\n\t/a/b.go:9 +0x2\n",
                "fatal error: all goroutines are asleep - deadlock!",
                "main.main (b.go:4)",
            ),
            (
                "runtime: goroutine stack exceeds 250000000-byte limit\nfatal error: stack overflow\n\nruntime \
                 stack:\nruntime.throw({0x1, 0xe})\n\t/go/src/runtime/panic.go:1101 +0x3 fp=0x2 sp=0x3 pc=0x4\n\ngoroutine 1 \
                 gp=0x1 m=0 mp=0x2 [running]:\nmain.deep(0x1)\n\t/a/b.go:4 +0x1 fp=0xc0 sp=0xc1 \
                 pc=0x1b\n...1000 frames elided...\nmain.main()\n\t/a/b.go:9 +0x2\n",
                "fatal error: stack overflow",
                "main.deep (b.go:4)",
            ),
        ] {
            assert_eq!(found(stderr), Some((message.to_owned(), Some(place.to_owned()))), "{stderr}");
        }
    }

    #[test]
    fn a_program_that_prints_such_text_has_not_panicked() {
        let text = "panic: x\n\ngoroutine 1 [running]:\nmain.main()\n\t/a/g3.go:16 +0x11\n";
        assert!(found(text).is_some());
        for code in [0, 1, 3] {
            assert_eq!(of_exit(&ExecutionEnd::Exited { code }, text.as_bytes()), None);
        }
        assert_eq!(of_exit(&ExecutionEnd::Trapped { trap: "x".to_owned() }, text.as_bytes()), None);
        for stderr in [
            "",
            "panic: x\n",
            "panic: x\n\ngoroutine 1 [running]:\n",
            "error: bad flag\n",
            "2026/11/23 panic: x\n\ngoroutine 1 [running]:\nmain.main()\n\t/a/g3.go:16 +0x11\n",
            "panic: x\n\ngoroutine 1 [running]:\nmain.main()\n\t/a/g3.go:16 +0x11\nbye\n",
            "panic: x\n\ngoroutine 1 [running]:\nmain.main()\n",
            "panic: x\n\ngoroutine 1 [running]:\nruntime/debug.Stack()\n\t/go/s.go:26 +0x5e\nmain.main()\n\t/a/g3.go:16 +0x11\n",
        ] {
            assert_eq!(found(stderr), None, "{stderr}");
        }
    }

    #[test]
    fn any_text_is_searched() {
        for text in ["goroutine 1 [x]:\n", "a(\n\t:\n", "a)\n\tb:1\n", "\n", "\t\u{e4}:1 +0x\n"] {
            found(&text.repeat(TAIL_BYTES));
            found(&format!("panic: {}", text.repeat(3)));
        }
    }
}
