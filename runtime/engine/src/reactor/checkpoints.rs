//! The checkpoints of a reactor: a tree of states, and the calls from each to the next.
//!
//! ```text
//! first ──calls──▶ A ──calls──▶ B        A and B share the pages that did not change
//!                  └───calls──▶ C        a state may be evicted; the calls never are
//! ```
//!
//! Invariants: a checkpoint without its state can be reached by calling again from an ancestor that has one, or
//! from the beginning; the bytes of all states stay below the bound, the longest unused going first.
//! Not here: capturing and restoring (`instance`).

use super::image::Image;
use super::instance::{ReactorFunction, ReactorInstance};
use super::{CallError, CheckpointUsage};
use fozzy_host::{MemoryLimiter, Run};
use fozzy_trace::{CheckpointId, DecisionSource, NodeId, StepId};
use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use wasmtime::component::{ComponentNamedList, Lift, Lower};

/// Everything that is brought back.
pub(super) struct SnapshotContents {
    pub(super) images: Vec<Arc<Image>>,
    pub(super) globals: Box<[u8]>,
    /// Locked, because its source and its recorder are not `Sync`; the lock is never contended.
    run: Mutex<Run>,
    pub(super) limiter: MemoryLimiter,
    pub(super) fuel: Option<u64>,
}

impl SnapshotContents {
    /// The run as it was.
    pub(super) fn run(&self) -> MutexGuard<'_, Run> {
        self.run.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The state of a reactor at one moment.
pub(super) struct Snapshot {
    id: u64,
    /// `None` when it could not be reached.
    kept: Option<SnapshotContents>,
}

impl Snapshot {
    pub(super) fn unreached(id: u64) -> Snapshot {
        Snapshot { id, kept: None }
    }

    pub(super) fn reached(
        id: u64,
        images: Vec<Arc<Image>>,
        globals: Box<[u8]>,
        run: Run,
        limiter: MemoryLimiter,
        fuel: Option<u64>,
    ) -> Snapshot {
        Snapshot { id, kept: Some(SnapshotContents { images, globals, run: Mutex::new(run), limiter, fuel }) }
    }

    /// Distinguishes it from all others of this process.
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn kept(&self) -> Option<&SnapshotContents> {
        self.kept.as_ref()
    }

    /// Equal for equal states; zero when the state could not be reached.
    pub(super) fn digest(&self) -> u64 {
        let Some(kept) = &self.kept else { return 0 };
        let mut hasher = xxhash_rust::xxh3::Xxh3::new();
        for image in &kept.images {
            hasher.update(&image.digest().to_le_bytes());
        }
        hasher.update(&kept.globals);
        let run = kept.run();
        let table = &run.world.node(NodeId(0)).table;
        for (place, handle) in table.open() {
            hasher.update(format!("{place} {}\n", fozzy_host::resource_of(handle)).as_bytes());
        }
        hasher.update(format!("free {:?}\n", table.free()).as_bytes());
        let history = run.recorder.so_far();
        for number in [run.world.clock.now().0, history.calls, history.digest, run.work()] {
            hasher.update(&number.to_le_bytes());
        }
        hasher.digest()
    }
}

/// Something that can be done again.
pub(super) trait RepeatableAction: Any + Send + Sync {
    /// Does it again.
    fn repeat(&self, live: &mut ReactorInstance) -> Result<(), CallError>;

    /// How many calls it stands for.
    fn calls(&self) -> u64 {
        0
    }

    /// Stands for nothing from now on; `false` when it cannot be taken up again.
    fn forget(&mut self) -> bool {
        false
    }
}

/// A call, and what the host was told right before it.
struct AnnouncedCall<P> {
    told: Option<(u32, StepId)>,
    arguments: P,
}

/// Calls of one function, one after the other: together, and the first of them apart, so that noting one costs few
/// allocations.
struct RepeatedCall<P, R> {
    function: ReactorFunction<P, R>,
    first: Option<AnnouncedCall<P>>,
    others: Vec<AnnouncedCall<P>>,
}

impl<P, R> RepeatedCall<P, R> {
    fn add(&mut self, call: AnnouncedCall<P>) {
        match self.first {
            None => self.first = Some(call),
            Some(_) => self.others.push(call),
        }
    }
}

impl dyn RepeatableAction {
    /// It as calls of `function`, if it is that.
    #[inline]
    fn calls_of<P: 'static, R: 'static>(
        &mut self,
        function: &ReactorFunction<P, R>,
    ) -> Option<&mut RepeatedCall<P, R>> {
        let calls = (self as &mut dyn Any).downcast_mut::<RepeatedCall<P, R>>()?;
        calls.function.is(function).then_some(calls)
    }
}

impl<P, R> RepeatableAction for RepeatedCall<P, R>
where
    P: ComponentNamedList + Lower + Clone + Send + Sync + 'static,
    R: ComponentNamedList + Lift + 'static,
{
    fn repeat(&self, live: &mut ReactorInstance) -> Result<(), CallError> {
        let mut function = self.function.clone();
        self.first.iter().chain(&self.others).try_for_each(|call| {
            if let Some((sequence, next)) = call.told {
                live.announce(sequence, next)?;
            }
            live.call(&mut function, call.arguments.clone()).map(drop)
        })
    }

    fn calls(&self) -> u64 {
        u64::from(self.first.is_some()) + self.others.len() as u64
    }

    fn forget(&mut self) -> bool {
        self.first = None;
        self.others.clear();
        true
    }
}

/// Steps of a sequence that were taken in one call, of which the first one was announced before. They are repeated one by one.
struct RepeatedSteps<R> {
    function: ReactorFunction<(u32,), R>,
    sequence: u32,
    numbers: RangeInclusive<u32>,
    /// Whether the last one was called, and not announced only.
    is_last_called: bool,
}

impl<R: ComponentNamedList + Lift + 'static> RepeatableAction for RepeatedSteps<R> {
    fn repeat(&self, live: &mut ReactorInstance) -> Result<(), CallError> {
        let mut function = self.function.clone();
        for number in self.numbers.clone() {
            if number > *self.numbers.start() {
                live.announce(self.sequence, StepId::Step(number))?;
            }
            if number < *self.numbers.end() || self.is_last_called {
                live.call(&mut function, (number,))?;
            }
        }
        Ok(())
    }

    fn calls(&self) -> u64 {
        u64::from(self.numbers.end() - self.numbers.start()) + u64::from(self.is_last_called)
    }
}

struct SourceChange(Mutex<Box<dyn DecisionSource>>);

impl RepeatableAction for SourceChange {
    fn repeat(&self, live: &mut ReactorInstance) -> Result<(), CallError> {
        let source = self.0.lock().unwrap_or_else(PoisonError::into_inner).fork();
        live.answer_from(source);
        Ok(())
    }
}

/// What was done between two checkpoints.
pub(super) enum LoggedAction {
    /// The host was given the next call of a sequence, and another action than that call came.
    Announced(u32, StepId),
    /// Anything else.
    Step(Box<dyn RepeatableAction>),
}

impl LoggedAction {
    /// Does it again.
    pub(super) fn repeat(&self, live: &mut ReactorInstance) -> Result<(), CallError> {
        match self {
            LoggedAction::Announced(sequence, next) => live.announce(*sequence, *next),
            LoggedAction::Step(step) => step.repeat(live),
        }
    }

    /// How many calls it stands for.
    pub(super) fn calls(&self) -> u64 {
        match self {
            LoggedAction::Announced(..) => 0,
            LoggedAction::Step(step) => step.calls(),
        }
    }
}

type ActionLog = Arc<[LoggedAction]>;

struct CheckpointNode {
    parent: Option<u64>,
    /// What was done since the parent.
    steps: ActionLog,
    state: Option<Arc<Snapshot>>,
    /// Of the state, once it was evicted.
    digest: Option<u64>,
    /// Bytes that its state holds beside its parent's.
    bytes: u64,
    /// When it was made or restored last, in ticks of our own.
    used: u64,
    /// The tick by which it is listed among those that hold a state: it may have been used since.
    listed: u64,
    /// It was discarded, and stays only as the ancestor of others.
    discarded: bool,
    children: Vec<u64>,
}

/// All checkpoints of one reactor.
pub(super) struct Checkpoints {
    entries: BTreeMap<u64, CheckpointNode>,
    /// The checkpoints that hold a state, by when they were used when that was last asked.
    held: BTreeSet<(u64, u64)>,
    next: u64,
    /// The checkpoint that the instance went on from; it stays, discarded or not.
    here: u64,
    tick: u64,
    bytes: u64,
    bytes_max: u64,
    /// What was done since the last checkpoint or restore.
    since: Vec<LoggedAction>,
    /// What the host was told last, as long as no call has followed.
    told: Option<LoggedAction>,
    /// Calls that were forgotten, to be used again: what is called next is often what was called before.
    spare: Option<Box<dyn RepeatableAction>>,
    first: Option<Run>,
}

impl Checkpoints {
    pub(super) fn new(bytes_max: u64) -> Checkpoints {
        Checkpoints {
            entries: BTreeMap::new(),
            held: BTreeSet::new(),
            next: 0,
            here: 0,
            tick: 0,
            bytes: 0,
            bytes_max,
            since: Vec::new(),
            told: None,
            spare: None,
            first: None,
        }
    }

    /// Adds the first one, at which the computer was as in `run` (without what the instantiation did).
    pub(super) fn add_root(&mut self, state: Snapshot, first: Run) -> CheckpointId {
        self.first = Some(first);
        self.insert(None, state)
    }

    /// Adds one that was reached from `parent` by what was done since.
    pub(super) fn add(&mut self, parent: CheckpointId, state: Snapshot) -> CheckpointId {
        self.insert(Some(parent.0), state)
    }

    fn insert(&mut self, parent: Option<u64>, state: Snapshot) -> CheckpointId {
        let id = self.next;
        self.next += 1;
        self.tick += 1;
        self.since.extend(self.told.take());
        let steps = std::mem::take(&mut self.since).into();
        let bytes = self.bytes_of(parent, &state);
        if let Some(parent) = parent.and_then(|parent| self.entries.get_mut(&parent)) {
            parent.children.push(id);
        }
        let state = state.kept.is_some().then(|| Arc::new(state));
        if state.is_some() {
            self.held.insert((self.tick, id));
        }
        let entry = CheckpointNode {
            parent,
            steps,
            state,
            digest: None,
            bytes,
            used: self.tick,
            listed: self.tick,
            discarded: false,
            children: Vec::new(),
        };
        self.entries.insert(id, entry);
        self.bytes += bytes;
        self.here = id;
        self.evict(id);
        CheckpointId(id)
    }

    /// What a state holds beside that of its parent, if that is held.
    fn bytes_of(&self, parent: Option<u64>, state: &Snapshot) -> u64 {
        let Some(kept) = &state.kept else { return 0 };
        let parent = parent.and_then(|parent| self.entries[&parent].state.as_ref()?.kept.as_ref());
        let empty = Arc::new(Image::default());
        let pages = kept
            .images
            .iter()
            .enumerate()
            .map(|(n, image)| image.bytes_beside(parent.and_then(|parent| parent.images.get(n)).unwrap_or(&empty)));
        pages.sum::<u64>() + kept.globals.len() as u64 + size_of::<Snapshot>() as u64
    }

    /// Lets go of a state. What its children shared with it is theirs alone now.
    fn let_go(&mut self, id: u64) -> Option<Arc<Snapshot>> {
        let entry = self.entries.get_mut(&id)?;
        let state = entry.state.take()?;
        self.held.remove(&(entry.listed, id));
        self.bytes -= std::mem::take(&mut entry.bytes);
        for child in entry.children.clone() {
            let Some(state) = self.entries[&child].state.clone() else { continue };
            let bytes = self.bytes_of(Some(id), &state);
            let entry = self.entries.get_mut(&child).expect("just seen");
            self.bytes = self.bytes - entry.bytes + bytes;
            entry.bytes = bytes;
        }
        Some(state)
    }

    /// Notes a call that is about to be made.
    #[inline]
    pub(super) fn called<P, R>(&mut self, function: &ReactorFunction<P, R>, arguments: &P)
    where
        P: ComponentNamedList + Lower + Clone + Send + Sync + 'static,
        R: ComponentNamedList + Lift + 'static,
    {
        let told = match self.told.take() {
            Some(LoggedAction::Announced(sequence, next)) => Some((sequence, next)),
            Some(LoggedAction::Step(_)) | None => None,
        };
        let call = AnnouncedCall { told, arguments: arguments.clone() };
        let last = match self.since.last_mut() {
            Some(LoggedAction::Step(last)) => last.calls_of(function),
            Some(LoggedAction::Announced(..)) | None => None,
        };
        if let Some(last) = last {
            return last.add(call);
        }
        let mut step: Box<dyn RepeatableAction> = match self.spare.take_if(|spare| spare.calls_of(function).is_some()) {
            Some(spare) => spare,
            None => Box::new(RepeatedCall { function: function.clone(), first: None, others: Vec::new() }),
        };
        step.calls_of(function).expect("calls of this function").add(call);
        self.since.push(LoggedAction::Step(step));
    }

    /// Notes that steps of a sequence were taken in one call; the last one may have been announced only.
    pub(super) fn stepped<R: ComponentNamedList + Lift + 'static>(
        &mut self,
        function: &ReactorFunction<(u32,), R>,
        sequence: u32,
        numbers: RangeInclusive<u32>,
        is_last_called: bool,
    ) {
        self.since.extend(self.told.take());
        let steps = RepeatedSteps { function: function.clone(), sequence, numbers, is_last_called };
        self.since.push(LoggedAction::Step(Box::new(steps)));
    }

    /// Notes what the host was told.
    pub(super) fn announced(&mut self, sequence: u32, next: StepId) {
        let before = self.told.replace(LoggedAction::Announced(sequence, next));
        self.since.extend(before);
    }

    /// Notes that another source answers; `again` answers as it does.
    pub(super) fn answered_from(&mut self, again: Box<dyn DecisionSource>) {
        self.since.extend(self.told.take());
        self.since.push(LoggedAction::Step(Box::new(SourceChange(Mutex::new(again)))));
    }

    /// What was done since the last checkpoint does not matter any more.
    #[inline]
    pub(super) fn forget_calls(&mut self) {
        self.told = None;
        if let Some(LoggedAction::Step(mut last)) = self.since.pop()
            && last.forget()
        {
            self.spare = Some(last);
        }
        self.since.clear();
    }

    /// The state of a checkpoint, if it is held.
    pub(super) fn state(&mut self, id: CheckpointId) -> Option<&Arc<Snapshot>> {
        let entry = self.entries.get_mut(&id.0).expect("a checkpoint of this reactor that was not discarded");
        if entry.used == self.tick {
            // It was the last one used as well.
            return entry.state.as_ref();
        }
        self.tick += 1;
        entry.used = self.tick;
        entry.state.as_ref()
    }

    /// The nearest state on the way to a checkpoint, and what was done since then.
    pub(super) fn way_to(&self, id: CheckpointId) -> (Option<Arc<Snapshot>>, Vec<&LoggedAction>) {
        let mut ways = Vec::new();
        let mut at = Some(id.0);
        let mut from = None;
        while let Some(entry) = at.and_then(|at| self.entries.get(&at)) {
            if let Some(state) = &entry.state {
                from = Some(Arc::clone(state));
                break;
            }
            ways.push(&entry.steps);
            at = entry.parent;
        }
        (from, ways.into_iter().rev().flat_map(|steps| steps.iter()).collect())
    }

    /// Everything that was done since the start, through `base`, up to now.
    pub(super) fn since_start(&self, base: CheckpointId) -> Vec<&LoggedAction> {
        let mut ways = vec![];
        let mut at = Some(base.0);
        while let Some(entry) = at.and_then(|at| self.entries.get(&at)) {
            ways.push(&entry.steps[..]);
            at = entry.parent;
        }
        ways.into_iter().rev().flatten().chain(&self.since).chain(&self.told).collect()
    }

    /// The run with which the first instance began.
    pub(super) fn first_run(&self) -> &Run {
        self.first.as_ref().expect("the first checkpoint is made with the reactor")
    }

    /// Whether a checkpoint that was evicted had another state than `state`.
    pub(super) fn is_another(&self, id: CheckpointId, state: &Snapshot) -> bool {
        self.entries[&id.0].digest.is_some_and(|digest| digest != state.digest())
    }

    /// Holds the state of a checkpoint again.
    pub(super) fn keep(&mut self, id: CheckpointId, state: Snapshot) {
        let parent = self.entries[&id.0].parent;
        let bytes = self.bytes_of(parent, &state);
        let entry = self.entries.get_mut(&id.0).expect("looked up before");
        if state.kept.is_some() {
            entry.state = Some(Arc::new(state));
            entry.bytes = bytes;
            entry.listed = entry.used;
            self.held.insert((entry.listed, id.0));
            self.bytes += bytes;
            self.evict(id.0);
        }
    }

    /// Forgets a checkpoint, and everything that was only a way to it.
    pub(super) fn discard(&mut self, id: CheckpointId) {
        self.let_go(id.0);
        if let Some(entry) = self.entries.get_mut(&id.0) {
            entry.discarded = true;
        }
        self.prune(id.0);
    }

    /// The instance continues from this checkpoint.
    pub(super) fn arrive(&mut self, id: CheckpointId) {
        let left = std::mem::replace(&mut self.here, id.0);
        self.prune(left);
    }

    /// Removes a checkpoint that was discarded and leads nowhere, and then its ancestors that are so too.
    fn prune(&mut self, id: u64) {
        let mut at = Some(id);
        while let Some(leaf) = at.filter(|at| *at != self.here)
            && self.entries.get(&leaf).is_some_and(|entry| entry.discarded && entry.children.is_empty())
        {
            at = self.entries.remove(&leaf).expect("just seen").parent;
            if let Some(parent) = at.and_then(|parent| self.entries.get_mut(&parent)) {
                parent.children.retain(|child| *child != leaf);
            }
        }
    }

    pub(super) fn hold_at_most(&mut self, bytes: u64) {
        self.bytes_max = bytes;
        self.evict(u64::MAX);
    }

    /// Evicts the longest unused states until the bound is kept; not that of `spared`, which is in use.
    fn evict(&mut self, spared: u64) {
        while self.bytes > self.bytes_max {
            let Some(&(listed, oldest)) = self.held.iter().find(|(_, id)| *id != spared) else { return };
            let entry = self.entries.get_mut(&oldest).expect("it is held");
            if entry.used > listed {
                // It was used since: the others may be older.
                entry.listed = entry.used;
                self.held.remove(&(listed, oldest));
                self.held.insert((entry.listed, oldest));
                continue;
            }
            let digest = self.let_go(oldest).map(|state| state.digest());
            self.entries.get_mut(&oldest).expect("it was held").digest = digest;
        }
    }

    pub(super) fn holdings(&self) -> CheckpointUsage {
        let exist = self.entries.values().filter(|entry| !entry.discarded);
        CheckpointUsage {
            checkpoints: exist.count() as u64,
            with_state: self.held.len() as u64,
            bytes: self.bytes,
            pages_copied: 0,
        }
    }
}
