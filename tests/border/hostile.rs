//! Guests that ask for too much, written by hand against the canonical ABI.
//!
//! ```text
//! a million      handles of each kind, pollables in one poll, directories in each other
//! without end    reading, writing, sending, starting
//! wrong          lengths, offsets, handles that are gone, of another kind, or never were
//! ```
//!
//! Each is answered as WASI prescribes, or ends in a trap with words of its own; a budget ends what would never end; all of
//! them together stay below one bound of memory, in a process of their own.

use super::vocabulary::Vocabulary;
use super::{guest, memory_peak};
use crate::alone;
use fozzy_engine::{Program, Session, Switches};
use fozzy_trace::plan::{Inputs, Limits};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Execution, ExecutionEnd, Executor, Plan, Seed};
use std::sync::Arc;

/// What the process may reach at its height, in bytes: the disk of 256 MiB, what the network and HTTP may hold, and twice
/// some of it while a disk is copied.
const MEMORY_BYTES_MAX: u64 = 1 << 30;
/// Bytes on the disk.
const DISK_BYTES: u64 = 256 << 20;
/// Files and directories on the disk: one in the other, they are deeper than any native stack.
const DISK_NODES: u64 = 200_000;
/// Instructions and work of the host.
const FUEL: u64 = 400_000_000;

/// Times that something is repeated by which a bound is to be met.
const MILLION: u32 = 1_000_000;

/// How a guest is to end.
enum Ends {
    /// By a trap, in whose words this stands.
    Trapped(&'static str),
    /// By itself with code 0.
    Well,
    /// At the end of its budget of instructions.
    OutOfFuel,
    /// Waiting for what never comes.
    Hanging,
}

use Ends::{Hanging, OutOfFuel, Trapped, Well};

/// The body again and again; `$n` counts down.
fn times(count: u32, body: &str) -> String {
    format!(
        "(local.set $n (i32.const {count})) (loop $again {body}
          (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))"
    )
}

fn forever(body: &str) -> String {
    format!("(loop $ever {body} (br $ever))")
}

/// Fails with code 1 unless the result at 1024 is an error, or is none.
fn expect(error: bool) -> String {
    format!(
        "(if (i32.ne (i32.load8_u (i32.const 1024)) (i32.const {})) (then (return (i32.const 1))))",
        i32::from(error)
    )
}

const NOW: &str = "(call $wasi:clocks/monotonic-clock.subscribe-instant (i64.const 1))";
const STDOUT: &str = "(call $wasi:cli/stdout.get-stdout)";
/// Opens the file `f` for reading and writing, made if need be, as `$f`.
const FILE: &str = "(local.set $f (call $open (call $root) (i32.const 32) (i32.const 1) (i32.const 1) (i32.const 3)))";

/// Name, code, end.
fn cases() -> Vec<(&'static str, String, Ends)> {
    let lent = "handle limit exceeded";
    let full = "handles are open";
    let mut cases = vec![
        ("a million pollables", times(MILLION, &format!("(drop {NOW})")), Trapped(full)),
        ("a million descriptors", times(MILLION, "(drop (call $root))"), Trapped(full)),
        ("a million streams", times(MILLION, "(drop (call $wasi:cli/stdin.get-stdin))"), Trapped(full)),
        (
            "a million open files",
            times(MILLION, "(drop (call $open (call $root) (i32.const 32) (i32.const 1) (i32.const 1) (i32.const 1)))"),
            Trapped(full),
        ),
        (
            "every pollable there can be, polled until the budget is gone",
            times(90_000, &format!("(i32.store (i32.add (i32.const 65536) (i32.mul (local.get $n) (i32.const 4))) {NOW})"))
                + &forever("(call $wasi:io/poll.poll (i32.const 65540) (i32.const 90000) (i32.const 1024))"),
            // Lent handles count as held ones meanwhile.
            Trapped(lent),
        ),
        (
            "one pollable a million times in one poll",
            format!("(local.set $h {NOW})")
                + &times(MILLION, "(i32.store (i32.add (i32.const 65536) (i32.mul (local.get $n) (i32.const 4))) (local.get $h))")
                + "(call $wasi:io/poll.poll (i32.const 65540) (i32.const 1000000) (i32.const 1024))",
            Trapped(lent),
        ),
        (
            "waiting for everything and nothing",
            "(call $wasi:io/poll.pollable.block (call $wasi:clocks/monotonic-clock.subscribe-instant (i64.const -1)))".to_owned(),
            Hanging,
        ),
        (
            "directories in each other until the disk is full",
            "(local.set $h (call $root))".to_owned()
                + &forever(
                    "(call $wasi:filesystem/types.descriptor.create-directory-at
                       (local.get $h) (i32.const 16) (i32.const 1) (i32.const 1024))
                     (local.set $f (call $open (local.get $h) (i32.const 16) (i32.const 1) (i32.const 2) (i32.const 33)))
                     (if (i32.eq (local.get $f) (i32.const -1)) (then (return (i32.const 0))))
                     (call $wasi:filesystem/types.descriptor.drop (local.get $h))
                     (local.set $h (local.get $f))",
                ),
            Well,
        ),
        (
            "a path of a million parts",
            times(500_000, "(i32.store16 (i32.add (i32.const 65536) (i32.mul (local.get $n) (i32.const 2))) (i32.const 0x2f64))")
                + "(call $wasi:filesystem/types.descriptor.create-directory-at
                     (call $root) (i32.const 65538) (i32.const 1000000) (i32.const 1024))"
                + &expect(true),
            Well,
        ),
        (
            "reads of every length there is",
            FILE.to_owned()
                + "(call $wasi:filesystem/types.descriptor.set-size (local.get $f) (i64.const 1000000000000) (i32.const 1024))"
                + &expect(false)
                + "(call $wasi:filesystem/types.descriptor.read (local.get $f) (i64.const -1) (i64.const 0) (i32.const 1024))"
                + &expect(false)
                + "(call $wasi:filesystem/types.descriptor.read (local.get $f) (i64.const 1) (i64.const -1) (i32.const 1024))"
                + &expect(true)
                + "(call $wasi:filesystem/types.descriptor.set-size (local.get $f) (i64.const -1) (i32.const 1024))"
                + &expect(true)
                + "(call $wasi:filesystem/types.descriptor.read-via-stream (local.get $f) (i64.const 0) (i32.const 1024))"
                + &expect(false)
                + "(local.set $h (i32.load (i32.const 1028)))
                   (call $wasi:io/streams.input-stream.blocking-read (local.get $h) (i64.const -1) (i32.const 1024))"
                + &expect(false)
                + "(call $wasi:io/streams.input-stream.skip (local.get $h) (i64.const -1) (i32.const 1024))",
            Well,
        ),
        (
            "splicing a terabyte of nothing",
            FILE.to_owned()
                + "(call $wasi:filesystem/types.descriptor.set-size (local.get $f) (i64.const 1000000000000) (i32.const 1024))
                   (call $wasi:filesystem/types.descriptor.read-via-stream (local.get $f) (i64.const 0) (i32.const 1024))
                   (local.set $h (i32.load (i32.const 1028)))"
                + &format!("(local.set $f {STDOUT})")
                + &forever(
                    "(call $wasi:io/streams.output-stream.blocking-splice
                       (local.get $f) (local.get $h) (i64.const -1) (i32.const 1024))",
                ),
            OutOfFuel,
        ),
        (
            "ten gigabytes of a megabyte each, written to a disk that is smaller",
            FILE.to_owned()
                + "(memory.fill (i32.const 65536) (i32.const 7) (i32.const 1048576))
                   (call $wasi:filesystem/types.descriptor.append-via-stream (local.get $f) (i32.const 1024))
                   (local.set $h (i32.load (i32.const 1028)))"
                + &times(
                    10_000,
                    "(call $wasi:io/streams.output-stream.write
                       (local.get $h) (i32.const 65536) (i32.const 1000000) (i32.const 1024))
                     (if (i32.load8_u (i32.const 1024)) (then (return (i32.const 0))))
                     (call $wasi:io/streams.output-stream.blocking-flush (local.get $h) (i32.const 1024))
                     (if (i32.load8_u (i32.const 1024)) (then (return (i32.const 0))))",
                )
                + "(return (i32.const 1))",
            Well,
        ),
        (
            "ten gigabytes by one byte in each megabyte",
            FILE.to_owned()
                + &times(
                    10_000,
                    "(call $wasi:filesystem/types.descriptor.write (local.get $f) (i32.const 16) (i32.const 1)
                       (i64.mul (i64.extend_i32_u (local.get $n)) (i64.const 1000000)) (i32.const 1024))"
                ),
            Well,
        ),
        (
            "output without end",
            format!("(local.set $h {STDOUT})")
                + &forever(
                    "(call $wasi:io/streams.output-stream.write-zeroes (local.get $h) (i64.const 65536) (i32.const 1024))",
                ),
            OutOfFuel,
        ),
        (
            "files without end",
            forever(
                "(i32.store (i32.const 48) (i32.add (i32.load (i32.const 48)) (i32.const 1)))
                 (i32.store (i32.const 56) (i32.or (i32.const 0x41414141) (i32.and (i32.const 0x0f0f0f0f) (i32.load (i32.const 48)))))
                 (i32.store (i32.const 60) (i32.or (i32.const 0x41414141)
                   (i32.and (i32.const 0x0f0f0f0f) (i32.shr_u (i32.load (i32.const 48)) (i32.const 4)))))
                 (local.set $f (call $open (call $root) (i32.const 56) (i32.const 8) (i32.const 1) (i32.const 3)))
                 (call $wasi:filesystem/types.descriptor.drop (local.get $f))",
            ),
            // `$root` leaves a handle behind each time, until not even one more can be lent.
            Trapped(lent),
        ),
    ];
    cases.extend(wrong_handles());
    cases
}

/// Handles that are gone, of another kind, or never were.
fn wrong_handles() -> Vec<(&'static str, String, Ends)> {
    let block = |handle: &str| format!("(call $wasi:io/poll.pollable.block {handle})");
    let drop = "(call $wasi:io/poll.pollable.drop (local.get $h))";
    let take = format!("(local.set $h {NOW})");
    vec![
        ("use after drop", take.clone() + drop + &block("(local.get $h)"), Trapped("unknown handle")),
        ("dropped twice", take.clone() + drop + drop, Trapped("unknown handle")),
        ("a handle that never was", block("(i32.const 4000)"), Trapped("unknown handle")),
        ("no handle", block("(i32.const 0)"), Trapped("unknown handle")),
        ("the last number", block("(i32.const -1)"), Trapped("unknown handle")),
        ("a handle of another kind", block(STDOUT), Trapped("wrong type")),
        (
            "a list that ends outside of memory",
            "(call $wasi:io/poll.poll (i32.const 65536) (i32.const 0x3fffffff) (i32.const 1024))".to_owned(),
            Trapped("out of bounds"),
        ),
        (
            "an answer that is to stand outside of memory",
            "(call $wasi:filesystem/preopens.get-directories (i32.const -4))".to_owned(),
            Trapped("out of bounds"),
        ),
        (
            "a pollable in the list that is gone",
            take.clone() + drop + "(i32.store (i32.const 1024) (local.get $h))
               (call $wasi:io/poll.poll (i32.const 1024) (i32.const 1) (i32.const 2048))",
            Trapped("unknown handle"),
        ),
        (
            // The stream is told, as any other user of the file: what is open stays open.
            "a stream of a file that is closed and removed",
            FILE.to_owned()
                + "(call $wasi:filesystem/types.descriptor.append-via-stream (local.get $f) (i32.const 1024))
                   (local.set $h (i32.load (i32.const 1028)))
                   (call $wasi:filesystem/types.descriptor.drop (local.get $f))
                   (call $wasi:filesystem/types.descriptor.unlink-file-at (call $root) (i32.const 32) (i32.const 1) (i32.const 1024))"
                + &expect(false)
                + "(call $wasi:io/streams.output-stream.blocking-write-and-flush
                     (local.get $h) (i32.const 16) (i32.const 8) (i32.const 1024))"
                + &expect(false),
            Well,
        ),
        (
            "more written than was permitted",
            format!("(local.set $h {STDOUT})")
                + "(call $wasi:io/streams.output-stream.write (local.get $h) (i32.const 65536) (i32.const 5000000) (i32.const 1024))",
            Trapped("output-stream.write"),
        ),
    ]
}

/// The body as the `run` of a component that may call everything.
fn component(vocabulary: &Vocabulary, body: &str) -> Vec<u8> {
    let declarations = format!(
        r#"(memory (export "memory") 160 160)
(data (i32.const 16) "dddddddd") (data (i32.const 32) "f")
(global $bump (mut i32) (i32.const 0x600000))
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
  (local $at i32)
  (local.set $at (i32.and (i32.add (global.get $bump) (i32.const 15)) (i32.const -16)))
  (if (i64.gt_u (i64.add (i64.extend_i32_u (local.get $at)) (i64.extend_i32_u (local.get 3))) (i64.const 0xa00000))
    (then (local.set $at (i32.const 0x600000))))
  (global.set $bump (i32.add (local.get $at) (local.get 3)))
  (local.get $at))
(func $root (result i32)
  (call $wasi:filesystem/preopens.get-directories (i32.const 2048))
  (i32.load (i32.load (i32.const 2048))))
(func $open (param $in i32) (param $at i32) (param $length i32) (param $how i32) (param $flags i32) (result i32)
  (call $wasi:filesystem/types.descriptor.open-at (local.get $in) (i32.const 0) (local.get $at) (local.get $length)
    (local.get $how) (local.get $flags) (i32.const 2048))
  (if (i32.load8_u (i32.const 2048)) (then (return (i32.const -1))))
  (i32.load (i32.const 2052)))
(func (export "wasi:cli/run@0.2.12#run") (result i32)
  (local $n i32) (local $h i32) (local $f i32)
  {body}
  (i32.const 0))"#
    );
    let module = format!("(module {} {declarations})", guest::imports(vocabulary));
    guest::encoded(vocabulary, &module)
}

fn run(vocabulary: &Vocabulary, name: &str, body: &str) -> Execution {
    let limits = Limits { fuel: FUEL, disk_bytes: DISK_BYTES, disk_nodes: DISK_NODES, ..Limits::default() };
    let plan = Plan { limits, ..Plan::default() };
    let program = Program::new(component(vocabulary, body).into(), Switches::of(&plan), None)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut session = Session::new(program, Arc::new(plan), &Inputs::default()).expect("a plain plan");
    let execution = session.execute(Box::new(SeededSource::new(Seed(7))), 0..0);
    execution.unwrap_or_else(|error| panic!("{name}: the harness failed: {error}"))
}

#[test]
#[allow(clippy::print_stdout, reason = "what each case came to, for a reader of the log")]
fn child() {
    if alone::role().is_none() {
        return;
    }
    let vocabulary = Vocabulary::new();
    let mut failures = Vec::new();
    for (name, body, ends) in cases() {
        let execution = run(&vocabulary, name, &body);
        let as_expected = match (&ends, &execution.end) {
            (Trapped(words), ExecutionEnd::Trapped { trap }) => trap.contains(words),
            (Well, ExecutionEnd::Exited { code: 0 }) | (OutOfFuel, ExecutionEnd::FuelExhausted { .. }) => true,
            (Hanging, ExecutionEnd::Hang { .. }) => true,
            _ => false,
        };
        println!("{name}: {:?}, {} calls, {} MiB so far", execution.end, execution.history.calls, memory_peak() >> 20);
        if !as_expected {
            failures.push(format!("{name}: {:?}", execution.end));
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
    let peak = memory_peak();
    assert!(peak < MEMORY_BYTES_MAX, "memory went up to {peak} bytes");
}

#[test]
#[allow(clippy::print_stdout, reason = "the child's account, for a reader of the log")]
fn whoever_asks_for_too_much_is_answered_or_ended_within_bounds() {
    let output = alone::run("border::hostile::child", "hostile", |_| ());
    assert!(output.status.success(), "{}", alone::said(&output));
    println!("{}", alone::said(&output));
}
