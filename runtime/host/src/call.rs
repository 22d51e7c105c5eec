//! The one path that every call of a guest takes.
//!
//! ```text
//! budget left?  ──▶  body(world, source)  ──▶  fold + keep in the history  ──▶  answer
//!      │ no                  │ Stop
//!      └──────────┬──────────┘
//!                 ▼
//!        the execution ends here (exit, hang, budget, misuse)
//! ```
//!
//! Invariant: a call is recorded exactly once, also when it ends the execution.

use crate::LazyInput;
use fozzy_trace::{DecisionSource, Purpose, Question, Record, Recorder};
use fozzy_world::{Blocked, OutputKind, Stdin, TableError, Wait, World};
use std::fmt;
use std::sync::Arc;

/// What one call of the host counts in the instruction budget, and each byte that it moves counts one: a
/// guest that only calls would otherwise use real time without using fuel. Host work is bounded by the
/// whole budget, beside the guest's own instructions.
pub const HOST_CALL_FUEL: u64 = 100;

/// One imported function, by its name in WIT without version.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Import {
    pub(crate) name: &'static str,
    id: u32,
}

impl Import {
    /// The number of an import is derived from its name (FNV-1a), so that adding one changes no other.
    pub(crate) const fn new(name: &'static str) -> Import {
        let bytes = name.as_bytes();
        let mut id = 0x811C_9DC5_u32;
        let mut i = 0;
        while i < bytes.len() {
            id = (id ^ bytes[i] as u32).wrapping_mul(0x0100_0193);
            i += 1;
        }
        Import { name, id }
    }
}

/// Why a host call ended the execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The guest asked to end with this code.
    Exit {
        /// 0 to 255.
        code: u8,
    },
    /// Every task waits in vain.
    Hang(Blocked),
    /// Virtual time went past its bound.
    TimeExhausted,
    /// The guest called the host more often than its instruction budget allows.
    FuelExhausted,
    /// The real machine could not give what the plan promised: no outcome of the guest.
    Machine {
        /// One sentence.
        what: String,
    },
    /// The sandbox does not offer this import.
    Unsupported {
        /// Its full name.
        import: String,
    },
    /// The guest used an import against its contract, which WASI answers with a trap.
    Misuse {
        /// The import.
        import: &'static str,
        /// What was wrong.
        what: String,
    },
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Stop::Exit { code } => write!(f, "exit with code {code}"),
            Stop::Hang(blocked) => write!(f, "hang: waits for {}", blocked.waiting.join(", ")),
            Stop::TimeExhausted => f.write_str("virtual time exhausted"),
            Stop::FuelExhausted => f.write_str("instruction budget exhausted"),
            Stop::Machine { what } => f.write_str(what),
            Stop::Unsupported { import } => write!(f, "`{import}` is not supported"),
            Stop::Misuse { import, what } => write!(f, "{import}: {what}"),
        }
    }
}

impl std::error::Error for Stop {}

impl From<Blocked> for Stop {
    fn from(blocked: Blocked) -> Stop {
        Stop::Hang(blocked)
    }
}

/// Receives what a guest writes, as it writes it; it cannot answer, so it cannot influence the guest.
pub type Tee = Box<dyn FnMut(OutputKind, &[u8]) + Send>;

/// The host of one guest instance: its computer, who answers its questions, and the history.
pub struct Host {
    /// The simulated computer.
    pub world: World,
    /// What happened so far.
    pub recorder: Recorder,
    /// Bounds the guest's memories.
    pub limiter: crate::MemoryLimiter,
    source: Box<dyn DecisionSource>,
    tee: Option<Tee>,
    stdin: Option<Arc<LazyInput>>,
    /// Fuel that host calls have used, and how much they may.
    work: u64,
    work_max: u64,
}

impl Host {
    /// A host over `world` whose questions `source` answers.
    #[must_use]
    pub fn new(world: World, source: Box<dyn DecisionSource>, recorder: Recorder, tee: Option<Tee>) -> Host {
        let limits = &world.plan.limits;
        let limiter = crate::MemoryLimiter::new(limits.memory_bytes);
        let work_max = limits.fuel;
        Host { world, recorder, limiter, source, tee, stdin: None, work: 0, work_max }
    }

    /// Standard input comes from `input` instead of the plan, when the guest first looks at it.
    #[must_use]
    pub fn reading(self, input: Option<Arc<LazyInput>>) -> Host {
        Host { stdin: input, ..self }
    }

    /// Performs one call: bounds it, lets `body` answer, records it.
    #[inline]
    pub(crate) fn call<A: Record, R: Record>(
        &mut self,
        import: Import,
        asked: A,
        body: impl FnOnce(&mut Host) -> Result<R, Stop>,
    ) -> wasmtime::Result<R> {
        self.work += HOST_CALL_FUEL + asked.payload_bytes();
        let outcome = if self.work <= self.work_max { body(self) } else { Err(Stop::FuelExhausted) };
        let outcome = match outcome {
            Ok(answer) if !self.is_overtime() => Ok(answer),
            Ok(_) => Err(self.end_of_time()),
            Err(stop) => Err(stop),
        };
        let (node, at) = (self.world.node, self.world.clock.now());
        match outcome {
            Ok(answer) => {
                self.work += answer.payload_bytes();
                self.recorder.call(import.id, import.name, node, at, &asked, &answer);
                Ok(answer)
            }
            Err(stop) => {
                self.recorder.call(import.id, import.name, node, at, &asked, &stop.to_string());
                Err(wasmtime::Error::new(stop))
            }
        }
    }

    /// Counts bytes that a call moves although neither its arguments nor its answer carry them.
    pub(crate) fn moved(&mut self, bytes: u64) {
        self.work = self.work.saturating_add(bytes);
    }

    /// Asks the source for bytes; the answer belongs to the call in progress.
    #[inline]
    pub(crate) fn draw(&mut self, purpose: Purpose, site: &'static str, out: &mut [u8]) {
        let question = Question { node: self.world.node, purpose, site };
        let origin = self.source.fill(question, out);
        self.recorder.decision(origin, || fozzy_trace::source::Explicit::Bytes(fozzy_trace::digest::hex(out)));
    }

    /// Waits until one of `waits` is over, within the bound of virtual time.
    pub(crate) fn wait(&mut self, waits: &[Wait]) -> Result<(), Stop> {
        if waits.contains(&Wait::Stdin) {
            self.look_at_stdin()?;
        }
        Ok(self.world.block(waits)?)
    }

    /// Whether what `wait` waits for is there.
    pub(crate) fn is_ready(&mut self, wait: Wait) -> Result<bool, Stop> {
        if wait == Wait::Stdin {
            self.look_at_stdin()?;
        }
        Ok(self.world.is_ready(wait))
    }

    /// The guest looks at its input: now it must be there.
    pub(crate) fn look_at_stdin(&mut self) -> Result<(), Stop> {
        if let Some(input) = self.stdin.take() {
            let bytes = input.get().map_err(|what| Stop::Machine { what })?;
            self.world.stdin = Stdin::new(bytes, self.world.plan.stdin.stays_open);
        }
        Ok(())
    }

    /// Adds to an output, and shows it to whoever watches.
    pub(crate) fn output(&mut self, kind: OutputKind, bytes: &[u8]) {
        match kind {
            OutputKind::Stdout => self.world.stdout.write(bytes),
            OutputKind::Stderr => self.world.stderr.write(bytes),
        }
        if let Some(tee) = &mut self.tee {
            tee(kind, bytes);
        }
    }

    fn is_overtime(&self) -> bool {
        self.world.plan.limits.time.is_some_and(|limit| self.world.clock.now().0 > limit.0)
    }

    /// The execution ends at the bound, not at the far deadline it jumped to.
    fn end_of_time(&mut self) -> Stop {
        let limit = self.world.plan.limits.time.expect("overtime needs a bound");
        self.world.clock.cut_at(fozzy_trace::Instant::START.after(limit));
        Stop::TimeExhausted
    }
}

/// A full table or a handle of another kind is the guest's doing, and a trap.
pub(crate) fn misuse(import: Import) -> impl Fn(TableError) -> Stop {
    move |error| Stop::Misuse { import: import.name, what: error.to_string() }
}
