//! Guests that can be called again and again, and how a step of each is made.
//!
//! ```text
//! walker       Rust with std: maps, files and sockets kept open, memory that grows, time, randomness
//! ledger       C with wasi-libc, a core module: malloc, stdio's buffers, qsort, frames of many pages
//! scenarios    `fozzy:scenario/stateful`: a sequence, its steps, the next sequence; fuzz: bytes; property: a check
//! words        JavaScript in SpiderMonkey
//! ```
//!
//! Not here: commands, whose only export is `run`. Their `main` is run once, whatever else is done; so `probe`,
//! `commands`, `everything`, `faults`, `conformance`, the network's guests and the programs of the registry
//! cannot be walked. The handler of HTTP takes resources that only the engine can make.

use super::walk::Steps;
use crate::corpus;
use fozzy_engine::{Reactor, ReactorFunction};
use std::borrow::Cow;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use wasmtime::component::{ComponentType, Lift};

/// Where a component comes from.
pub(super) enum Source {
    /// A file that is built first.
    File(fn() -> PathBuf),
    /// Its text.
    Text(Cow<'static, str>),
}

/// A guest to walk through.
pub(super) struct Guest {
    pub(super) name: &'static str,
    pub(super) component: Source,
    /// Finds its functions, and calls what comes before the first step.
    pub(super) open: fn(&mut Reactor) -> Steps,
    /// Kinds of steps that go on; beyond them come those that end.
    pub(super) kinds: u32,
    pub(super) endings: u32,
    /// Whether a step of the first kinds may end too: by a planted fault, for example.
    pub(super) ends_by_itself: bool,
}

pub(super) const WALKER: Guest = Guest {
    name: "walker",
    component: Source::File(|| corpus::component("walker")),
    open: string_steps,
    kinds: 15,
    endings: 3,
    ends_by_itself: false,
};

pub(super) const LEDGER: Guest = Guest {
    name: "ledger",
    component: Source::File(corpus::c_reactor),
    open: number_steps,
    kinds: 12,
    endings: 3,
    ends_by_itself: false,
};

/// A scenario with steps, of that name.
macro_rules! stateful {
    ($name:literal $file:expr) => {
        Guest {
            name: $name,
            component: Source::File(|| $file),
            open: sequences,
            kinds: 8,
            endings: 0,
            ends_by_itself: true,
        }
    };
}

/// With SpiderMonkey inside.
pub(super) const SCORES: Guest = stateful!("js-scores" corpus::scenario("js-scores", false));

pub(super) const SCENARIOS: &[Guest] = &[
    stateful!("bank" corpus::scenario("bank", false)),
    stateful!("cache" corpus::scenario("cache", false)),
    stateful!("counter" corpus::scenario("counter", false)),
    stateful!("queue" corpus::scenario("queue", false)),
    stateful!("retry" corpus::scenario("retry", false)),
    stateful!("draws" corpus::component("draws")),
    Guest {
        name: "parser",
        component: Source::File(|| corpus::scenario("parser", false)),
        open: |reactor| {
            let mut run: ReactorFunction<(u32, Vec<u8>), ()> =
                reactor.function("fozzy:scenario/fuzz@0.1.0#run").expect("it is a fuzz target");
            let mut check: ReactorFunction<(u32,), ()> =
                reactor.function("fozzy:scenario/property@0.1.0#check").expect("it has a property");
            Box::new(move |reactor, (kind, value)| {
                let text = b"a\\=b=c\\\nd=e\n\\";
                match kind {
                    0 => reactor.call(&mut check, (0,)).map(|()| "checked".to_owned()),
                    _ => {
                        let data = text.iter().cycle().skip(value as usize % 20).take(value as usize % 300);
                        let data: Vec<u8> = data.copied().collect();
                        reactor.call(&mut run, (0, data)).map(|()| "parsed".to_owned())
                    }
                }
            })
        },
        kinds: 3,
        endings: 0,
        ends_by_itself: true,
    },
];

impl Guest {
    /// Its component.
    pub(super) fn component(&self) -> Arc<[u8]> {
        let loaded = match &self.component {
            Source::File(file) => fozzy_engine::load(&fs::read(file()).expect("it was built"), None),
            Source::Text(text) => fozzy_engine::load(text.as_bytes(), None),
        };
        loaded.unwrap_or_else(|error| panic!("{}: {error}", self.name)).component.into()
    }
}

/// `step: func(kind: u32, value: u32) -> u64`.
pub(super) fn number_steps(reactor: &mut Reactor) -> Steps {
    let mut step: ReactorFunction<(u32, u32), (u64,)> = reactor.function("step").expect("it exports that");
    Box::new(move |reactor, step_of| reactor.call(&mut step, step_of).map(|(digest,)| format!("{digest:016x}")))
}

/// `step: func(kind: u32, value: u32) -> string`.
fn string_steps(reactor: &mut Reactor) -> Steps {
    let mut step: ReactorFunction<(u32, u32), (String,)> = reactor.function("step").expect("it exports that");
    Box::new(move |reactor, step_of| reactor.call(&mut step, step_of).map(|(answer,)| answer))
}

/// `fozzy:scenario/stateful.skip`.
#[derive(Debug, ComponentType, Lift)]
#[component(record)]
#[allow(dead_code, reason = "its values are shown")]
struct Skip {
    flow: u32,
    label: String,
}

/// `fozzy:scenario/stateful.step-result`.
#[derive(Debug, ComponentType, Lift)]
#[component(variant)]
#[allow(dead_code, reason = "its values are shown")]
enum StepResult {
    #[component(name = "ran")]
    Ran(u32),
    #[component(name = "skipped")]
    Skipped(Skip),
    #[component(name = "stuck")]
    Stuck(String),
}

/// The first sequence has begun; a step of kind 0 goes on to another one.
fn sequences(reactor: &mut Reactor) -> Steps {
    let name = |function: &str| format!("fozzy:scenario/stateful@0.1.0#{function}");
    let missing = "it is a scenario";
    let mut begin: ReactorFunction<(u32,), ()> = reactor.function(&name("begin-sequence")).expect(missing);
    let mut step: ReactorFunction<(u32,), (StepResult,)> = reactor.function(&name("step")).expect(missing);
    let mut end: ReactorFunction<(u32,), ()> = reactor.function(&name("end-sequence")).expect(missing);
    reactor.call(&mut begin, (0,)).expect("it begins");
    Box::new(move |reactor, (kind, value)| match kind {
        0 => {
            reactor.call(&mut end, (value,))?;
            reactor.call(&mut begin, (value,)).map(|()| "another sequence".to_owned())
        }
        _ => reactor.call(&mut step, (value % 1000,)).map(|(result,)| format!("{result:?}")),
    })
}
