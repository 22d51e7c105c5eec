//! A run under virtual backends touches nothing of the real computer: shown by taking the real computer away.
//!
//! ```text
//! child process
//!   main thread            waits
//!   thread under test      warms up ─▶ no system calls but memory and locks   (seccomp: anything else ends the process)
//!                                      no time-stamp counter                   (prctl: reading it is a fault)
//!                                      no vDSO data                            (unmapped: clock_gettime, time and getrandom
//!                                                                               without a system call are faults)
//!                                   ─▶ runs guests that use everything ─▶ digest of all that happened
//! parent                   the digest is the same under another environment and in another folder
//! ```
//!
//! That the proof can fail is shown first: the same thread opens a file, asks the time in three ways, draws random bytes, maps
//! a file, makes a socket, writes, and each time the process ends by it.
//!
//! What is permitted, and why it tells a guest nothing: anonymous memory is zero, and where it lies is not shown to guests; the
//! one file is `/proc/self/pagemap`, opened before, by which the digest of memory skips pages that nobody touched
//! (`runtime/engine/src/memory/touched.rs`, whose digest does not depend on it).
//!
//! Not shown: that no `rdrand` is executed, which nothing short of a virtual machine can forbid. Not here: live backends.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]
#![allow(unsafe_code, reason = "prctl, munmap and a signal handler; each block carries its argument")]

mod cage;

use crate::alone;
use crate::border::Border;
use crate::corpus;
use cage::{Cage, TSC_REFUSED};
use fozzy_engine::{Program, Session, Switches};
use fozzy_trace::plan::{Inputs, MachinePlan};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Execution, ExecutionEnd, Executor, Plan, Seed};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;
use std::sync::Arc;

/// Programs of random calls that run in the cage.
const PROGRAMS: u64 = 60;

/// Where the child finds the conformance guest.
const CONFORMANCE: &str = "FOZZY_CONFORMANCE";

/// A guest, ready to run any number of times.
struct Guest {
    session: Session,
    /// Calls that it must have made, if the proof is to be about anything.
    calls: &'static [&'static str],
}

/// What is shown of an execution.
fn digest(execution: &Execution) -> String {
    let Execution { end, ended_at, history, stdout, stderr, fuel_used, memory, .. } = execution;
    let history = (history.calls, history.decisions, history.digest);
    format!("{end:?} {ended_at} {history:?} {} {} {fuel_used} {memory}\n", stdout.digest(), stderr.digest())
}

/// The conformance guest, which calls every function of WASI in many ways, and programs of random calls.
fn guests() -> Vec<Guest> {
    let built = std::env::var_os(CONFORMANCE).expect("the parent built it, whose environment is that of the user");
    let loaded = fozzy_engine::load(&fs::read(built).expect("it is a file"), None).expect("a program");
    let program = Program::new(loaded.component.into(), Switches::of(&Plan::default()), None).expect("it compiles");
    let env = vec![("A".to_owned(), "1".to_owned())];
    let main = MachinePlan { args: vec!["conformance".to_owned()], env, ..MachinePlan::default() };
    let plan = Arc::new(Plan { main, ..Plan::default() });
    let session = Session::new(program, plan, &Inputs::default()).expect("a plain plan");
    const CALLS: &[&str] = &[
        "wasi:cli/environment.get-environment",
        "wasi:clocks/monotonic-clock.now",
        "wasi:clocks/wall-clock.now",
        "wasi:filesystem/types.descriptor.open-at",
        "wasi:filesystem/types.descriptor.write",
        "wasi:io/poll.poll",
        "wasi:random/random.get-random-bytes",
        "wasi:random/insecure-seed.insecure-seed",
    ];
    let mut guests = vec![Guest { session, calls: CALLS }];
    let border = Border::new();
    for number in 0..PROGRAMS {
        let (session, ..) = border.session(&border.bytes(number), number % 2 == 1);
        guests.push(Guest { session, calls: &[] });
    }
    guests
}

fn execute(guest: &mut Guest) -> Execution {
    let source = Box::new(SeededSource::new(Seed(7)));
    guest.session.execute(source, 0..u64::MAX).unwrap_or_else(|error| panic!("harness: {error}"))
}

/// Runs all guests inside; what they did.
fn clean() -> String {
    let mut guests = guests();
    let mut shown = String::new();
    // Once outside: what is made at the first use, and nothing else, is made now.
    let outside: Vec<String> = guests.iter_mut().map(|guest| digest(&execute(guest))).collect();
    let mut made = BTreeSet::new();
    let cage = Cage::enter();
    for (guest, outside) in guests.iter_mut().zip(&outside) {
        let execution = execute(guest);
        let ended = execution.end == ExecutionEnd::Exited { code: 0 };
        assert!(ended || guest.calls.is_empty(), "the conformance guest ended with {:?}", execution.end);
        made.extend(execution.history.entries.iter().map(|entry| entry.call.clone()));
        let inside = digest(&execution);
        assert_eq!(inside, *outside, "inside the cage it is another run");
        shown.push_str(&inside);
    }
    let missing: Vec<&&str> =
        guests.iter().flat_map(|guest| guest.calls).filter(|call| !made.contains(**call)).collect();
    assert!(missing.is_empty(), "never called: {missing:?}");
    format!("{} {}", Digest::of(shown.as_bytes()), if cage.refuses_tsc { "" } else { TSC_REFUSED })
}

/// What the child does in the cage, by its role.
fn act(role: &str) -> String {
    match role {
        "clean" => return clean(),
        "memory" => {
            let _cage = Cage::enter();
            // What is permitted: memory of any size, and locks.
            let vector = vec![1u8; 64 << 20];
            return format!("{}", vector.iter().map(|byte| u64::from(*byte)).sum::<u64>());
        }
        _ => {}
    }
    let path = std::env::temp_dir();
    let file = fs::File::open("/proc/self/exe").expect("this binary is a file");
    let cage = Cage::enter();
    if role == "tsc" && !cage.refuses_tsc {
        return TSC_REFUSED.to_owned();
    }
    match role {
        "open" => drop(fs::File::open(path.join("x"))),
        "stat" => drop(path.metadata()),
        "read" => drop(std::io::Read::read(&mut &file, &mut [0; 8])),
        "now" => drop(std::time::Instant::now()),
        "date" => drop(std::time::SystemTime::now()),
        "coarse" => cage::coarse_clock(),
        "tsc" => cage::time_stamp_counter(),
        "random" => cage::random_bytes(),
        #[allow(clippy::disallowed_types, reason = "that it is caught is to be shown")]
        "hash" => drop(std::hash::RandomState::new()),
        "map" => cage::map_file(&file),
        "socket" => drop(std::net::UdpSocket::bind("127.0.0.1:0")),
        "spawn" => drop(std::thread::Builder::new().spawn(|| ())),
        "sleep" => std::thread::sleep(std::time::Duration::from_nanos(1)),
        "process" => drop(std::process::Command::new("/bin/true").status()),
        "print" => drop(std::io::Write::write_all(&mut std::io::stderr(), b"x")),
        _ => unreachable!("the parent names what is here"),
    }
    format!("{role} went unseen")
}

#[test]
#[allow(clippy::print_stdout, reason = "the parent reads it")]
fn child() {
    let Some(role) = alone::role() else { return };
    cage::use_one_arena();
    let done = std::thread::spawn(move || act(&role)).join().expect("it does not panic");
    println!("done: {done}");
}

/// What the child said that it did; `None` when it did not come to its end.
fn done(output: &Output) -> Option<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.split_once("done: ")).map(|(_, done)| done.to_owned())
}

/// Whether the child ended by what it did: at a refused call (also with its signal blocked, as while a thread is made), or at
/// a fault.
fn is_caught(output: &Output) -> bool {
    let by_signal = matches!(output.status.signal(), Some(libc::SIGSEGV | libc::SIGSYS));
    (by_signal || cage::refused_call(output).is_some()) && done(output).is_none()
}

fn run(role: &str) -> Output {
    alone::run("purity::child", role, |_| ())
}

#[test]
#[allow(clippy::print_stderr, reason = "what this machine cannot show must be seen")]
fn whoever_touches_the_real_computer_is_caught() {
    let memory = run("memory");
    assert_eq!(done(&memory).as_deref(), Some("67108864"), "{}", alone::said(&memory));
    // A system call: the process ends by the filter, which names the call.
    for (role, call) in [
        ("open", libc::SYS_openat),
        ("stat", libc::SYS_statx),
        ("read", libc::SYS_read),
        ("random", libc::SYS_getrandom),
        ("map", libc::SYS_mmap),
        ("socket", libc::SYS_socket),
        ("print", libc::SYS_write),
        ("sleep", libc::SYS_clock_nanosleep),
    ] {
        let output = run(role);
        assert_eq!(cage::refused_call(&output), Some(call), "{role}: {}", alone::said(&output));
    }
    // Calls of which the first one depends on the C library.
    for role in ["spawn", "process", "hash"] {
        let output = run(role);
        assert!(is_caught(&output), "{role}: {}", alone::said(&output));
    }
    // No system call: the data of the vDSO is not there, the counter may not be read.
    for role in ["now", "date", "coarse", "tsc"] {
        let output = run(role);
        if role == "tsc" && done(&output).as_deref() == Some(TSC_REFUSED) {
            eprintln!("PURITY IS SHOWN ONLY IN PART: {TSC_REFUSED}");
            continue;
        }
        assert!(is_caught(&output), "{role}: {}", alone::said(&output));
    }
}

#[test]
#[allow(clippy::print_stderr, reason = "what this machine cannot show must be seen")]
fn guests_run_without_the_real_computer() {
    let conformance = corpus::conformance();
    let plain = alone::run("purity::child", "clean", |child| {
        child.env(CONFORMANCE, &conformance);
    });
    let first = done(&plain).unwrap_or_else(|| panic!("it was caught: {}", alone::said(&plain)));
    // The cage leaves one way to write, for its own report.
    assert!(plain.stderr.is_empty(), "something was written: {}", alone::said(&plain));
    if first.contains(TSC_REFUSED) {
        eprintln!("PURITY IS SHOWN ONLY IN PART: {TSC_REFUSED}");
    }
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    let other = alone::run("purity::child", "clean", |child| {
        child
            .current_dir(folder.path())
            .env("TZ", "Asia/Tokyo")
            .env("LANG", "xx")
            .env("HOME", "/nowhere")
            .env("A", "2");
        child.env("PADDING", "x".repeat(10_000)).env(CONFORMANCE, &conformance);
    });
    assert_eq!(done(&other), Some(first), "another environment is another run: {}", alone::said(&other));
}
