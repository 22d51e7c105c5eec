//! Preview 1: the same calls with the same arguments on wasmtime's own and on ours, the same numbers and bytes back.
//!
//! ```text
//! cases ─▶ one core module whose `_start` makes every call in order ─▶ standard output: errno and bytes of each ─▶ case: answer
//! ```
//!
//! The module's memory is its own to the last byte: what no call was asked to write holds a pattern, and is looked at in the end.
//!
//! Invariants: every function has a case; times and identities of files are not shown.
//! Not here: what may differ (`DIFFERENCES` below), programs of languages (`corpus`).

mod cases;

use super::sides::{Ours, Side, TheirModule};
use super::{Answers, Difference, STDIN, surprises};
use cases::{endings, script, stdin_script};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Where paths and data of calls lie.
const TEXTS: u32 = 0x100;
/// Where calls write their answers: zeroed before each.
const OUT: u32 = 0x8000;
/// Bytes there that are shown at most.
const OUT_BYTES: u32 = 0x400;
/// Where answers are kept until the end.
const KEPT: u32 = 0x1_0000;
/// From here to the end of memory nothing is written.
const PATTERN: u32 = 0x8_0000;
const MEMORY_PAGES: u32 = 16;

/// Preview 1, and what it was before.
const VERSIONS: [&str; 2] = ["wasi_snapshot_preview1", "wasi_unstable"];

/// An argument of a call.
#[derive(Clone)]
enum Argument {
    I32(u32),
    I64(u64),
    /// The address of a text, and its length.
    Text(&'static [u8]),
    /// The address of a text alone.
    Place(&'static [u8]),
    /// A list of one buffer per length, in the place of answers from 256 on: address and count.
    Buffers(&'static [u32]),
    /// A list of buffers that hold texts: address and count.
    Data(&'static [&'static [u8]]),
}

use Argument::{Buffers, Data, I32, I64, Place, Text};

/// One call.
struct Case {
    name: &'static str,
    function: &'static str,
    arguments: Vec<Argument>,
    /// Stretches of the place of answers that are shown.
    shown: Vec<(u32, u32)>,
}

/// The cases, in the order of their calls.
#[derive(Default)]
struct Script(Vec<Case>);

impl Script {
    fn call(&mut self, function: &'static str, name: &'static str, arguments: &[Argument], shown: &[(u32, u32)]) {
        let (arguments, shown) = (arguments.to_vec(), shown.to_vec());
        self.0.push(Case { name, function, arguments, shown });
    }

    /// The module, as text; it exports its memory and `_start`.
    fn module(&self, version: &str) -> String {
        let mut imports = BTreeSet::new();
        let (mut code, mut data, mut end) = (String::new(), String::new(), TEXTS);
        let mut place = |bytes: &[u8]| {
            let at = end;
            let escaped: String = bytes.iter().map(|byte| format!("\\{byte:02x}")).collect();
            let _ = writeln!(data, "(data (i32.const {at}) \"{escaped}\")");
            end = (end + bytes.len() as u32).next_multiple_of(8);
            at
        };
        let mut kept = KEPT;
        for case in &self.0 {
            imports.insert((case.function, types(&case.arguments)));
            let _ = writeln!(code, "(memory.fill (i32.const {OUT}) (i32.const 0) (i32.const {OUT_BYTES}))");
            let mut arguments = String::new();
            for argument in &case.arguments {
                let pair = |at: u32, length: usize| format!("(i32.const {at}) (i32.const {length}) ");
                let next = match argument {
                    I32(value) => format!("(i32.const {}) ", value.cast_signed()),
                    I64(value) => format!("(i64.const {}) ", value.cast_signed()),
                    Text(text) => pair(place(text), text.len()),
                    Place(bytes) => format!("(i32.const {}) ", place(bytes)),
                    Buffers(lengths) => {
                        let mut list = Vec::new();
                        for (length, number) in lengths.iter().zip(0..) {
                            list.extend((OUT + 256 + number * 64).to_le_bytes());
                            list.extend(length.to_le_bytes());
                        }
                        pair(place(&list), lengths.len())
                    }
                    Data(texts) => {
                        let mut list = Vec::new();
                        for text in *texts {
                            list.extend(place(text).to_le_bytes());
                            list.extend((text.len() as u32).to_le_bytes());
                        }
                        pair(place(&list), texts.len())
                    }
                };
                arguments.push_str(&next);
            }
            let _ = writeln!(code, "(i32.store (i32.const {kept}) (call ${} {arguments}))", case.function);
            kept += 4;
            for (at, length) in &case.shown {
                let _ =
                    writeln!(code, "(memory.copy (i32.const {kept}) (i32.const {}) (i32.const {length}))", OUT + at);
                kept += length;
            }
        }
        assert!(end < OUT && kept < PATTERN, "{end} {kept}");
        let imports: String = imports
            .into_iter()
            .map(|(name, types)| {
                format!("(import \"{version}\" \"{name}\" (func ${name} (param {types}) (result i32)))\n")
            })
            .collect();
        let total = MEMORY_PAGES * 65_536;
        format!(
            "(module {imports}
              (import \"{version}\" \"fd_write\" (func $tell (param i32 i32 i32 i32) (result i32)))
              (memory (export \"memory\") {MEMORY_PAGES})
              {data}
              (func (export \"_start\") (local $at i32)
                (memory.fill (i32.const {PATTERN}) (i32.const 165) (i32.const {}))
                {code}
                (local.set $at (i32.const {PATTERN}))
                (loop $next
                  (if (i32.ne (i32.load8_u (local.get $at)) (i32.const 165)) (then (unreachable)))
                  (local.set $at (i32.add (local.get $at) (i32.const 1)))
                  (br_if $next (i32.lt_u (local.get $at) (i32.const {total}))))
                (i32.store (i32.const 0) (i32.const {KEPT}))
                (i32.store (i32.const 4) (i32.const {}))
                (drop (call $tell (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))",
            total - PATTERN,
            kept - KEPT
        )
    }

    /// What each case answered, from what the module told.
    fn answers(&self, told: &[u8]) -> Answers {
        let mut rest = told;
        let mut take = |length: usize| {
            let (taken, behind) = rest.split_at(length);
            rest = behind;
            taken
        };
        let mut answers = Answers::new();
        for case in &self.0 {
            let errno = u32::from_le_bytes(take(4).try_into().expect("four bytes"));
            let mut answer = errno.to_string();
            for (_, length) in &case.shown {
                let bytes = take(*length as usize);
                let text: String = bytes.iter().map(|byte| byte.escape_ascii().to_string()).collect();
                answer.push_str(&format!(" \"{}\"", text.replace("\\x00", "_")));
            }
            let name = format!("{} {}", case.function, case.name);
            assert!(answers.insert(name.clone(), answer).is_none(), "two cases are called `{name}`");
        }
        assert!(rest.is_empty(), "{} bytes more than the cases have", rest.len());
        answers
    }
}

fn types(arguments: &[Argument]) -> String {
    let of = |argument: &Argument| match argument {
        I32(_) | Place(_) => "i32",
        I64(_) => "i64",
        Text(_) | Buffers(_) | Data(_) => "i32 i32",
    };
    arguments.iter().map(of).collect::<Vec<_>>().join(" ")
}

const fn out(at: u32) -> Argument {
    I32(OUT + at)
}

const READ: u64 = 1 << 1;
const WRITE: u64 = 1 << 6;
const BOTH: u64 = READ | WRITE;
/// The root directory.
const ROOT: u32 = 3;
/// No descriptor.
const NONE: u32 = 99;

/// `path_open` below a directory.
fn open(fd: u32, follow: u32, path: &'static [u8], oflags: u32, rights: u64, fdflags: u32) -> Vec<Argument> {
    vec![I32(fd), I32(follow), Text(path), I32(oflags), I64(rights), I64(rights), I32(fdflags), out(0)]
}

/// A subscription, as `wasi_snapshot_preview1` lays it out.
fn subscription(userdata: u8, tag: u8, rest: &[(usize, &[u8])]) -> &'static [u8] {
    let mut bytes = vec![0; 48];
    (bytes[0], bytes[8]) = (userdata, tag);
    for (at, part) in rest {
        bytes[*at..*at + part.len()].copy_from_slice(part);
    }
    bytes.leak()
}

/// `poll_oneoff` of subscriptions that lie one behind the other.
fn poll(subscriptions: &[&'static [u8]]) -> Vec<Argument> {
    let all: &'static [u8] = subscriptions.concat().leak();
    let count = subscriptions.len() as u32;
    vec![Place(all), out(64), I32(count), out(0)]
}

#[test]
#[allow(clippy::print_stdout, reason = "the number of cases, for a reader of the log")]
fn preview_1_answers_as_wasmtimes_own() {
    let mut total = 0;
    for version in VERSIONS {
        let script = script(version);
        let module = wat::parse_str(script.module(version)).expect("text of a module");
        let folder = tempfile::tempdir().expect("a temporary directory can be made");
        let file = folder.path().join("cases.wasm");
        std::fs::write(&file, &module).expect("room");
        let [theirs, ours] = [&TheirModule::of(&file) as &dyn Side, &Ours::of(&file)].map(|side| {
            let seen = side.run(&["two words", ""], STDIN);
            assert_eq!(seen.end, "exit 0", "{version}: {}", String::from_utf8_lossy(&seen.stderr));
            // What cases write to standard output comes before the answers.
            let told = seen.stdout.strip_prefix(SAID).expect("what the cases say");
            script.answers(told)
        });
        let surprises = surprises(&theirs, &ours, &[DIFFERENCES]);
        assert!(surprises.is_empty(), "{version}, {} of {}:\n{}", surprises.len(), theirs.len(), surprises.join("\n"));
        total += theirs.len();
    }
    println!("preview 1: {total} cases, {} known differences", DIFFERENCES.len());
    assert!(total >= 2 * super::CASES_MIN, "{total} cases");
}

#[test]
fn standard_input_is_read_as_wasmtimes_own_reads_it() {
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    for version in VERSIONS {
        let (script, file) = (stdin_script(), folder.path().join("stdin.wasm"));
        std::fs::write(&file, wat::parse_str(script.module(version)).expect("text of a module")).expect("room");
        for stdin in [STDIN, b"", b"x", b"\n", &[7; 71]] {
            let [theirs, ours] = [&TheirModule::of(&file) as &dyn Side, &Ours::of(&file)].map(|side| {
                let seen = side.run(&[], stdin);
                assert_eq!(seen.end, "exit 0", "{version}: {}", String::from_utf8_lossy(&seen.stderr));
                script.answers(&seen.stdout)
            });
            let known = if stdin.is_empty() { &[] } else { STDIN_DIFFERENCES };
            let surprises = surprises(&theirs, &ours, &[known]);
            assert!(surprises.is_empty(), "{version}, {} bytes:\n{}", stdin.len(), surprises.join("\n"));
        }
    }
}

#[test]
fn what_ends_a_program_of_preview_1_ends_it_on_both() {
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    for (number, script) in endings().iter().enumerate() {
        let file = folder.path().join(format!("{number}.wasm"));
        std::fs::write(&file, wat::parse_str(script.module(VERSIONS[0])).expect("text of a module")).expect("room");
        let name = format!("{} {}", script.0[0].function, script.0[0].name);
        for side in [&TheirModule::of(&file) as &dyn Side, &Ours::of(&file)] {
            assert_eq!(side.run(&[], STDIN).end, "trap", "{name}");
        }
    }
}

/// Why a read of nothing is answered otherwise while there is something to read.
const NOTHING_READ: &str = "theirs takes no bytes for a read that was interrupted; by POSIX a read of nothing succeeds";

/// Where ours reads standard input that is not empty otherwise.
const STDIN_DIFFERENCES: &[Difference] = &[
    Difference {
        case: "fd_read of an empty buffer",
        theirs: "27 \"____\" \"________________________________________________________________\"",
        ours: "0 \"____\" \"________________________________________________________________\"",
        reason: NOTHING_READ,
    },
    Difference {
        case: "fd_read of no buffer",
        theirs: "27 \"____\" \"________________________________________________________________\"",
        ours: "0 \"____\" \"________________________________________________________________\"",
        reason: NOTHING_READ,
    },
];

/// What the cases write to standard output.
const SAID: &[u8] = b"said";

/// Where ours answers otherwise.
const DIFFERENCES: &[Difference] = &[Difference {
    case: "fd_filestat_set_times of the root",
    theirs: "8",
    ours: "0",
    reason: "theirs holds a preopened directory in a way by which Linux changes nothing; ours can change it",
}];
