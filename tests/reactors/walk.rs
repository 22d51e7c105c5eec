//! Random walks through a guest that is called from outside, and the straight way to where each of them ends.
//!
//! ```text
//! walk       call · checkpoint · call · restore · call …      one way of keeping and bringing back
//! straight   the calls that the walk's end goes back to       on a fresh instance
//!            equal: each answer, output, memories, globals, handles, time, history, and how the next call ends
//! ```
//!
//! A guest that ends in a call is brought back as after a trap; its calls up to the checkpoint are what counts.
//!
//! Not here: which guests there are (`guests`).

use super::guests::Guest;
use crate::fozzy::cache_folder;
use fozzy_engine::{Build, Cache, CallError, Program, Reactor, RestoreMethod, Switches, TrackerKind};
use fozzy_trace::CheckpointId;
use fozzy_trace::plan::{self, Inputs};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{NodeId, Plan, Seed};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Walks of each way that the long form makes.
const WALKS: u64 = 10_000;
/// Calls, checkpoints and restores of one walk.
const CALLS: u64 = 14;
/// Walks that one instance makes, one after the other from its start.
const WALKS_OF_AN_INSTANCE: u64 = 10;

/// So many walks in the long form (`FOZZY_LONG=1`), otherwise `short`.
pub(super) fn walks(short: u64) -> u64 {
    if std::env::var_os("FOZZY_LONG").is_some() { WALKS } else { short }
}

/// One call: a kind, and a value for it.
pub(super) type Step = (u32, u32);
/// Makes a call.
pub(super) type Steps = Box<dyn FnMut(&mut Reactor, Step) -> Result<String, CallError>>;

/// A way of keeping state and bringing it back.
#[derive(Clone, Copy)]
pub(super) struct Way {
    pub(super) name: &'static str,
    pub(super) build: fn() -> Build,
    pub(super) tracker: Option<TrackerKind>,
    /// Whether guests are ended on purpose.
    pub(super) traps: bool,
    /// Whether checkpoints lose their state at once.
    pub(super) evicted: bool,
}

const MARKS: Way = tracked(TrackerKind::Marks);
pub(super) const AFTER_TRAPS: Way = Way { name: "after traps", traps: true, tracker: None, ..MARKS };
pub(super) const EVICTED: Way = Way { name: "evicted", evicted: true, ..AFTER_TRAPS };
pub(super) const EXACT: Way = Way { name: "exact", build: Build::exact, ..AFTER_TRAPS };
/// Without marks the tracker is chosen by its cost, which is measured when the memory has grown.
pub(super) const CHOSEN: Way = Way { name: "chosen", build: || Build { marks: false, ..Build::fast() }, ..AFTER_TRAPS };
/// As little as can be put in.
pub(super) const PLAIN: Way =
    Way { name: "plain", build: || Build { fuel: false, access: true, ..Build::default() }, ..AFTER_TRAPS };

pub(super) const fn tracked(kind: TrackerKind) -> Way {
    Way { name: kind.name(), build: Build::fast, tracker: Some(kind), traps: false, evicted: false }
}

/// The program of a guest, compiled once.
pub(super) fn program(guest: &Guest, build: &Build) -> Program {
    static PROGRAMS: Mutex<BTreeMap<String, Program>> = Mutex::new(BTreeMap::new());
    let mut programs = PROGRAMS.lock().unwrap_or_else(PoisonError::into_inner);
    let compile = || {
        let cache = Cache::open(&cache_folder()).expect("the target folder can be written");
        let component = guest.component();
        Program::build(component, Switches::default(), build, Some(&cache)).expect("it compiles")
    };
    programs.entry(format!("{} {build:?}", guest.name)).or_insert_with(compile).clone()
}

pub(super) fn start(program: Program, seed: u64) -> Reactor {
    let source = Box::new(SeededSource::new(Seed(seed)));
    let plan = Arc::new(Plan { main: plan::MachinePlan::default(), ..Plan::default() });
    Reactor::start(program, plan, &Inputs::default(), source).expect("it starts")
}

/// A stream of small numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        // Knuth's generator, its upper bits.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What a walk leads to: the calls from the start, and their answers.
#[derive(Clone, Default)]
struct Path(Vec<(Step, String)>);

/// Walks, and compares each end with the straight way there. The answer is how checkpoints were restored.
pub(super) fn walk(guest: &Guest, way: &Way, count: u64) -> Vec<RestoreMethod> {
    let program = program(guest, &(way.build)());
    let mut restored = Vec::new();
    for group in 0..count.div_ceil(WALKS_OF_AN_INSTANCE) {
        let mut reactor = start(program.clone(), group);
        if let Some(kind) = way.tracker {
            reactor.track(kind).expect("it was there before");
        }
        if way.evicted {
            reactor.hold_at_most(0);
        }
        let steps = (guest.open)(&mut reactor);
        let first = reactor.checkpoint().expect("between calls");
        let mut walker = Walker { guest, way, reactor, steps, restored: Vec::new(), kept: Vec::new() };
        for seed in group * WALKS_OF_AN_INSTANCE..count.min((group + 1) * WALKS_OF_AN_INSTANCE) {
            let path = walker.walk(first, &mut Numbers(seed));
            walker.compare(&path, group, seed);
            walker.restored.push(walker.reactor.restore(first).expect("it can be brought back"));
        }
        restored.append(&mut walker.restored);
    }
    restored
}

struct Walker<'g> {
    guest: &'g Guest,
    way: &'g Way,
    reactor: Reactor,
    steps: Steps,
    restored: Vec<RestoreMethod>,
    kept: Vec<(CheckpointId, Path)>,
}

impl Walker<'_> {
    fn walk(&mut self, first: CheckpointId, numbers: &mut Numbers) -> Path {
        // Looking at everything reads every page, which could hide what nobody has read: every second walk goes without.
        let looks = numbers.0.is_multiple_of(2);
        let mut path = Path::default();
        self.kept = vec![(first, path.clone())];
        for _ in 0..CALLS {
            match numbers.below(10) {
                0..=1 => self.kept.push((self.reactor.checkpoint().expect("between calls"), path.clone())),
                2..=3 => path = self.back(numbers, looks),
                4 if self.way.traps && self.guest.endings > 0 => {
                    let kind = self.guest.kinds + numbers.below(u64::from(self.guest.endings)) as u32;
                    let error = (self.steps)(&mut self.reactor, (kind, 3)).expect_err("it ends");
                    assert!(matches!(error, CallError::Ended { .. }), "{}: {error}", self.guest.name);
                    assert!(matches!((self.steps)(&mut self.reactor, (0, 0)), Err(CallError::Over)));
                    path = self.back(numbers, looks);
                }
                _ => {
                    let step = (numbers.below(self.guest.kinds.into()) as u32, numbers.below(1 << 20) as u32);
                    match (self.steps)(&mut self.reactor, step) {
                        Ok(answer) => path.0.push((step, answer)),
                        Err(CallError::Ended { end, backtrace }) => {
                            let name = self.guest.name;
                            assert!(self.guest.ends_by_itself, "{name}, {step:?}: {end:?} {backtrace:#?}");
                            path = self.back(numbers, looks);
                        }
                        Err(error) => panic!("{}, {step:?}: {error}", self.guest.name),
                    }
                }
            }
        }
        path
    }

    fn back(&mut self, numbers: &mut Numbers, looks: bool) -> Path {
        let (checkpoint, path) = &self.kept[numbers.below(self.kept.len() as u64) as usize];
        self.restored.push(self.reactor.restore(*checkpoint).expect("it can be brought back"));
        if looks {
            self.reactor.verify().expect("every write was seen");
        }
        path.clone()
    }

    /// Goes the same way straight, on an instance that knows no checkpoints.
    fn compare(&mut self, path: &Path, group: u64, seed: u64) {
        let place = || format!("{} {}, walk {seed}", self.guest.name, self.way.name);
        let mut straight = start(self.reactor.program().clone(), group);
        let mut steps = (self.guest.open)(&mut straight);
        for (step, answer) in &path.0 {
            let again = steps(&mut straight, *step).unwrap_or_else(|error| panic!("{}, {step:?}: {error}", place()));
            assert_eq!(again, *answer, "{}, {step:?}", place());
        }
        self.reactor.verify().expect("every write was seen");
        let ours = &mut self.reactor;
        let said = |reactor: &Reactor| {
            let node = reactor.world().node(NodeId(0));
            let history = reactor.history();
            let handles: Vec<u32> = node.table.open().map(|(place, _)| place).collect();
            (
                (node.stdout.clone(), node.stderr.clone()),
                (history.calls, history.digest, reactor.now()),
                (handles, node.table.free().to_vec()),
            )
        };
        assert!(said(ours) == said(&straight), "{}: another output, history or handle", place());
        let digests = [ours.digest(), straight.digest()].map(|digest| digest.expect("between calls"));
        assert_eq!(digests[0], digests[1], "{}: another memory, global or handle", place());
        if self.way.traps && self.guest.endings > 0 {
            let step = (self.guest.kinds + seed as u32 % self.guest.endings, 9);
            let ends = [(self.steps)(ours, step), steps(&mut straight, step)].map(|end| format!("{end:?}"));
            assert_eq!(ends[0], ends[1], "{}: another end", place());
        }
        for (checkpoint, _) in self.kept.drain(..).skip(1) {
            self.reactor.discard(checkpoint);
        }
    }
}
