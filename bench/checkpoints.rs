//! What checkpoints cost, beside copying the pages alone, a copy of the whole memory, and `fork`.
//!
//! ```text
//! restore   (dirty, restore) × many − (dirty) × many          so that no clock stands between the two
//! capture   (dirty, capture) × many − (dirty) × many
//! fork      fork, exit in the child, wait
//! trap      the call that ends and its backtrace by themselves, and then the restore by itself
//! ```
//!
//! Medians of interleaved rounds, in CPU time of this thread; of calls and ends, the best round.

use crate::guests;
use crate::measure::{Pair, thread_seconds};
use crate::table::{Bound, Row, Unit};
use fozzy_engine::{Build, Program, Reactor, ReactorFunction, Switches, TrackerKind};
use fozzy_trace::CheckpointId;
use fozzy_trace::plan::{Inputs, Limits};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Plan, Seed};
use std::sync::Arc;
use wasmtime::component::{Component, Linker};
use wasmtime::{Config, Engine, Store};

/// Rounds that are interleaved.
const ROUNDS: usize = 9;
/// Restores of one round.
const BATCH: u32 = 400;
/// Restores of one round after a trap, each with an instantiation.
const TRAPS: u32 = 100;
const PAGE_BYTES: usize = 4096;

/// The walker, with an area of so many MiB, at a checkpoint.
struct Walker {
    reactor: Reactor,
    dirty: ReactorFunction<(u32, u32), (u32,)>,
    at: CheckpointId,
}

impl Walker {
    fn new(program: &Program, mebibytes: u32, kind: TrackerKind) -> Result<Walker, String> {
        let limits = Limits { memory_bytes: 1 << 30, ..Limits::default() };
        let plan = Arc::new(Plan { limits, ..Plan::default() });
        let source = Box::new(SeededSource::new(Seed(1)));
        let started = Reactor::start(program.clone(), plan, &Inputs::default(), source);
        let mut reactor = started.map_err(|error| error.to_string())?;
        let mut reserve = reactor.function::<(u32,), ()>("reserve").map_err(|error| error.to_string())?;
        reactor.call(&mut reserve, (mebibytes,)).map_err(|error| error.to_string())?;
        reactor.track(kind)?;
        let dirty = reactor.function("dirty").map_err(|error| error.to_string())?;
        let at = reactor.checkpoint().map_err(|error| error.to_string())?;
        Ok(Walker { reactor, dirty, at })
    }

    fn dirty(&mut self, pages: u32) {
        self.reactor.call(&mut self.dirty, (pages, 3)).expect("it writes");
    }

    /// What `work` takes beyond the writing that is part of it, beside `theirs`.
    fn beside(
        &mut self,
        rounds: usize,
        pages: u32,
        work: fn(&mut Walker, u32) -> f64,
        theirs: impl FnMut() -> f64,
    ) -> Pair {
        Pair::of(rounds, || work(self, pages) - self.dirtying(pages), theirs)
    }

    /// CPU seconds of `BATCH` times writing so many pages and restoring.
    fn restores(&mut self, pages: u32) -> f64 {
        thread_seconds(|| {
            for _ in 0..BATCH {
                self.dirty(pages);
                self.reactor.restore(self.at).expect("it comes back");
            }
        })
    }

    /// Pages that one such restore copies.
    fn copied(&mut self, pages: u32) -> u64 {
        let before = self.reactor.holdings().pages_copied;
        self.dirty(pages);
        self.reactor.restore(self.at).expect("it comes back");
        self.reactor.holdings().pages_copied - before
    }

    /// CPU seconds of `BATCH` times writing so many pages and capturing; each checkpoint is discarded by the next.
    fn captures(&mut self, pages: u32) -> f64 {
        let both = thread_seconds(|| {
            for _ in 0..BATCH {
                self.dirty(pages);
                let checkpoint = self.reactor.checkpoint().expect("between calls");
                self.reactor.discard(checkpoint);
            }
        });
        self.reactor.restore(self.at).expect("it comes back");
        both
    }

    fn dirtying(&mut self, pages: u32) -> f64 {
        thread_seconds(|| (0..BATCH).for_each(|_| self.dirty(pages)))
    }
}

/// CPU seconds of `BATCH` copies of so many pages, each to its own place.
fn copies(pages: usize) -> impl FnMut() -> f64 {
    // Not at the same place in their pages, where the C library's copy is many times slower.
    let (from, mut to) = (vec![1_u8; pages * PAGE_BYTES], vec![2_u8; (pages + 1) * PAGE_BYTES]);
    let shift = (from.as_ptr() as usize).wrapping_sub(to.as_ptr() as usize).wrapping_add(PAGE_BYTES / 2) % PAGE_BYTES;
    move || {
        thread_seconds(|| {
            for _ in 0..BATCH {
                for (to, from) in to[shift..].chunks_exact_mut(PAGE_BYTES).zip(from.chunks_exact(PAGE_BYTES)) {
                    to.copy_from_slice(std::hint::black_box(from));
                }
                std::hint::black_box(&mut to);
            }
        })
    }
}

/// Wall seconds of `BATCH` forks, from a few of them.
#[allow(unsafe_code, clippy::disallowed_methods, reason = "fork is what is measured, and its child is waited for")]
fn forks() -> f64 {
    const FORKS: u32 = 20;
    let begin = std::time::Instant::now();
    for _ in 0..FORKS {
        // SAFETY: the child calls nothing but `_exit`, which is safe after a fork of a process with threads.
        match unsafe { libc::fork() } {
            // SAFETY: ends the child at once.
            0 => unsafe { libc::_exit(0) },
            child => {
                let mut status = 0;
                // SAFETY: waits for the child that was just made, into a place of ours.
                let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
                assert_eq!(waited, child, "fork");
            }
        }
    }
    begin.elapsed().as_secs_f64() / f64::from(FORKS) * f64::from(BATCH)
}

fn component() -> Arc<[u8]> {
    std::fs::read(guests::walker()).expect("the walker was built").into()
}

fn fast() -> Program {
    Program::build(component(), Switches { canonical_nans: false, ..Switches::default() }, &Build::fast(), None)
        .expect("it compiles")
}

/// Restores by marks.
pub(crate) fn marks() -> Vec<Row> {
    let (fast, per) = (fast(), Unit::NanosecondsPerCall(BATCH));
    let mut rows = Vec::new();
    let seconds = |seconds: f64| Bound::Seconds(seconds * f64::from(BATCH));
    for (pages, bound) in [(4, Bound::Ratio(2.5)), (16, seconds(4e-6)), (64, seconds(15e-6))] {
        for mebibytes in [1, 10, 100] {
            let name = format!("restore {pages} pages of {mebibytes} MiB, marks (copying them)");
            match Walker::new(&fast, mebibytes, TrackerKind::Marks) {
                Ok(mut walker) => {
                    let pair = walker.beside(ROUNDS, pages, Walker::restores, copies(pages as usize));
                    let copied = walker.copied(pages);
                    rows.push(Row::times(&format!("{name}, {copied} are copied"), &pair, per, bound));
                    // The guest's stack and what it has beside the area are written, too, and brought back.
                    let all = copies(usize::try_from(copied).expect("few pages"));
                    let pair = walker.beside(ROUNDS, pages, Walker::restores, all);
                    rows.push(Row::times(&format!("  the same (copying {copied})"), &pair, per, Bound::None));
                }
                Err(why) => rows.push(Row::missing(&name, &why)),
            }
        }
    }
    rows
}

/// Restores by what every guest can be given.
pub(crate) fn kernel() -> Vec<Row> {
    let (fast, per) = (fast(), Unit::NanosecondsPerCall(BATCH));
    let mut rows = Vec::new();
    for kind in [TrackerKind::Protected, TrackerKind::Scanned, TrackerKind::Compared] {
        for (mebibytes, pages, max, least) in [(1, 4, 5e-6, 30.0), (10, 64, 30e-6, 20.0), (100, 64, 100e-6, 100.0)] {
            if kind == TrackerKind::Compared && mebibytes == 100 {
                // It would take minutes to say that it takes twenty milliseconds.
                continue;
            }
            let name = format!("restore {pages} pages of {mebibytes} MiB, {} (whole copy)", kind.name());
            match Walker::new(&fast, mebibytes, kind) {
                Ok(mut walker) => {
                    let whole = whole_copies(mebibytes);
                    let pair = walker.beside(ROUNDS, pages, Walker::restores, whole);
                    let bound = match kind {
                        TrackerKind::Compared => Bound::None,
                        _ => Bound::Seconds(max * f64::from(BATCH)),
                    };
                    rows.push(Row::times(&name, &pair, per, bound));
                    let least = if kind == TrackerKind::Compared { Bound::None } else { Bound::Ratio(1.0 / least) };
                    rows.push(Row::times("  the same, as a ratio", &pair, per, least));
                }
                Err(why) => rows.push(Row::missing(&name, &why)),
            }
        }
    }
    rows
}

/// Restores and captures beside forks. They come last: forks leave each page of this process to be copied at its next write.
pub(crate) fn forked() -> Vec<Row> {
    let (fast, per) = (fast(), Unit::NanosecondsPerCall(BATCH));
    let mut rows = Vec::new();
    for mebibytes in [1, 10, 100] {
        let name = format!("restore 64 pages of {mebibytes} MiB, marks (fork, exit, wait)");
        match Walker::new(&fast, mebibytes, TrackerKind::Marks) {
            Ok(mut walker) => {
                let pair = walker.beside(3, 64, Walker::restores, forks);
                rows.push(Row::times(&name, &pair, per, Bound::Ratio(1.0 / 70.0)));
            }
            Err(why) => rows.push(Row::missing(&name, &why)),
        }
    }
    for kind in TrackerKind::ALL {
        let name = format!("capture 64 pages of 10 MiB, {} (fork)", kind.name());
        match Walker::new(&fast, 10, kind) {
            Ok(mut walker) => {
                let pair = walker.beside(ROUNDS, 64, Walker::captures, forks);
                rows.push(Row::times(&name, &pair, per, Bound::Seconds(100e-6 * f64::from(BATCH))));
            }
            Err(why) => rows.push(Row::missing(&name, &why)),
        }
    }
    rows
}

/// CPU seconds of `BATCH` copies of a whole memory, from a few of them.
fn whole_copies(mebibytes: u32) -> impl FnMut() -> f64 {
    let bytes = (mebibytes as usize) << 20;
    let (from, mut to) = (vec![1_u8; bytes], vec![2_u8; bytes]);
    move || {
        let count = (64 / mebibytes).max(2);
        let seconds = thread_seconds(|| {
            for _ in 0..count {
                to.copy_from_slice(std::hint::black_box(&from));
                std::hint::black_box(&mut to);
            }
        });
        seconds / f64::from(count) * f64::from(BATCH)
    }
}

/// Restores into fresh instances, beside an instantiation alone.
pub(crate) fn traps() -> Vec<Row> {
    let program = fast();
    [("a trap", 1), ("an exit", 2)].into_iter().flat_map(|(name, beyond)| after(&program, name, beyond)).collect()
}

/// `beyond` the walker's kinds of steps stand the ways in which it ends.
fn after(program: &Program, name: &str, beyond: u32) -> [Row; 2] {
    let source = || Box::new(SeededSource::new(Seed(1)));
    let start = || Reactor::start(program.clone(), Arc::new(Plan::default()), &Inputs::default(), source());
    let mut reactor = start().expect("it starts");
    let mut step = reactor.function::<(u32, u32), (String,)>("step").expect("it exports that");
    let mut kinds = reactor.function::<(), (u32,)>("kinds").expect("it exports that");
    let (count,) = reactor.call(&mut kinds, ()).expect("it answers");
    reactor.call(&mut step, (0, 5)).expect("it answers");
    let at = reactor.checkpoint().expect("between calls");
    let mut least_of_ends = f64::INFINITY;
    let restores = || {
        let (mut ends, mut restores) = (0.0, 0.0);
        for _ in 0..TRAPS {
            ends += thread_seconds(|| drop(reactor.call(&mut step, (count + beyond, 1)).expect_err("it ends")));
            restores += thread_seconds(|| {
                reactor.restore(at).expect("it comes back");
            });
        }
        least_of_ends = least_of_ends.min(ends);
        restores
    };
    let instantiate = || thread_seconds(|| (0..TRAPS).for_each(|_| drop(start().expect("it starts"))));
    let pair = Pair::best_of(ROUNDS, restores, instantiate);
    let unit = Unit::NanosecondsPerCall(TRAPS);
    let restored = format!("restore after {name}, into a fresh instance (a start)");
    let ended = format!("  the call that ends by {name}, with its backtrace");
    [
        Row::times(&restored, &pair, unit, Bound::Seconds(40e-6 * f64::from(TRAPS))),
        Row::times(&ended, &Pair::once(least_of_ends, pair.theirs.best()), unit, Bound::None),
    ]
}

/// What many checkpoints hold.
pub(crate) fn memory() -> Vec<Row> {
    const CHECKPOINTS: u32 = 10_000;
    let before = resident_bytes();
    let mut walker = Walker::new(&fast(), 10, TrackerKind::Marks).expect("it has marks");
    for n in 0..CHECKPOINTS {
        walker.reactor.call(&mut walker.dirty, (16, n * 37)).expect("it writes");
        walker.reactor.checkpoint().expect("between calls");
    }
    let resident = resident_bytes().saturating_sub(before);
    let holdings = walker.reactor.holdings();
    assert_eq!(holdings.with_state, holdings.checkpoints, "none was evicted");
    vec![
        Row::bytes("10,000 checkpoints of 10 MiB, 16 pages each: resident", resident, 1 << 30),
        Row::bytes("  what the reactor says it holds", holdings.bytes, 1 << 30),
    ]
}

/// Bytes of this process in memory.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("every Linux has it");
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has this line");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") << 10
}

/// Calls of exports, and of the host by the guest, beside bare wasmtime.
pub(crate) fn calls() -> Vec<Row> {
    const CALLS: u32 = 20_000;
    let (component, program) = (component(), fast());
    let mut config = Config::new();
    config.concurrency_support(false);
    let engine = Engine::new(&config).expect("wasmtime starts");
    let plain = Component::from_binary(&engine, &component).expect("it compiles");
    let mut linker = Linker::<crate::theirs::State>::new(&engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker).expect("WASI is defined");
    let mut store = Store::new(&engine, crate::theirs::State::quiet());
    let instance = linker.instantiate(&mut store, &plain).expect("it starts");
    let nop = instance.get_typed_func::<(u32,), (u32,)>(&mut store, "nop").expect("it exports that");
    let clock = instance.get_typed_func::<(u32,), (u64,)>(&mut store, "host-calls").expect("it exports that");

    let source = Box::new(SeededSource::new(Seed(1)));
    let mut reactor =
        Reactor::start(program.clone(), Arc::new(Plan::default()), &Inputs::default(), source).expect("it starts");
    let mut own_nop = reactor.function::<(u32,), (u32,)>("nop").expect("it exports that");
    let mut own_clock = reactor.function::<(u32,), (u64,)>("host-calls").expect("it exports that");
    let at = reactor.checkpoint().expect("between calls");
    let exports = Pair::best_of(
        ROUNDS,
        || {
            let seconds = thread_seconds(|| {
                (0..CALLS).for_each(|n| {
                    reactor.call(&mut own_nop, (n,)).expect("it answers");
                });
            });
            reactor.restore(at).expect("it comes back");
            seconds
        },
        || {
            thread_seconds(|| {
                (0..CALLS).for_each(|n| {
                    nop.call(&mut store, (n,)).expect("it answers");
                })
            })
        },
    );
    let imports = Pair::best_of(
        ROUNDS,
        || {
            thread_seconds(|| {
                reactor.call(&mut own_clock, (CALLS,)).expect("it answers");
            })
        },
        || {
            thread_seconds(|| {
                clock.call(&mut store, (CALLS,)).expect("it answers");
            })
        },
    );
    let unit = Unit::NanosecondsPerCall(CALLS);
    vec![
        Row::times("call of an export (bare wasmtime)", &exports, unit, Bound::Ratio(1.2)),
        Row::times("call of the host, clock (wasmtime-wasi)", &imports, unit, Bound::Ratio(1.2)),
    ]
}
