//! What all guests of one run share, and whose turn it is.
//!
//! ```text
//! Run { world, source, recorder }        there is one, and only the guest whose turn it is holds it
//!
//!   server's turn ──waits──▶ parked ──the engine chooses──▶ client's turn ──waits──▶ parked ──▶ …
//! ```
//!
//! The run is handed from guest to guest as a whole, so nothing of it is shared at any moment, nothing is
//! locked on the way of a call, and the order of everything that happens is the order of turns.
//!
//! Invariant: exactly one of the guests and the engine holds the run.
//! Not here: who is next (`fozzy-engine`).

use crate::call::GuestStop;
use crate::input::{FeedEvent, LazyInput};
use crate::interrupt::{INTERRUPT_FUEL, INTERRUPT_WORK, Interrupt};
use fozzy_trace::facts::{FailureKind, ReportedFailure};
use fozzy_trace::observation::{AnswerTime, BackendRequest, BackendResponse, LiveBackend, Observation, ProcessRequest};
use fozzy_trace::plan::Edition;
use fozzy_trace::source::Override;
use fozzy_trace::{
    Activity, ActivitySink, Aside, DecisionSource, Digest, Duration, Instant, NodeId, ObservationLookup, Origin,
    Purpose, Question, Recorder, SchedulingPoint, StopPoint,
};
use fozzy_world::http::redact::recorded_ask;
use fozzy_world::{Deadlock, Decider, FaultStrike, OpContext, OutputKind, Wait, World};
use std::future::Future;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

/// Bytes of observations that one execution may collect: they all travel in the trace.
pub const OBSERVED_BYTES_MAX: u64 = 1 << 30;

/// Cost of a restart in the instruction budget: a guest that always loses power at its first call ends after a hundred thousand
/// restarts of the default budget.
const RESTART_FUEL: u64 = 100_000;
/// The same before [`Edition::FOURTH`].
const RESTART_FUEL_BEFORE: u64 = 10_000_000;

/// Virtual time that the others have after a machine came to an end that the plan does not allow: enough to see the end of a connection
/// and to say something about it.
const AFTERMATH: Duration = Duration::from_millis(1_000);
/// What their host calls may use of the instruction budget meanwhile, some ten thousand of them: one that tries again and again for
/// the whole budget would say no more.
const AFTERMATH_WORK: u64 = 1_000_000;

/// A machine came to an end that the plan does not allow, and the run ends soon.
#[derive(Clone, Debug)]
struct Aftermath {
    node: Arc<str>,
    until: Instant,
    work_max: u64,
}

/// Receives what guests write, as they write it; it cannot answer, so it cannot influence a guest.
pub type OutputTee = Box<dyn FnMut(NodeId, OutputKind, &[u8]) + Send>;

/// Receives what is written beyond the part of a stream that is kept, after that part. As a tee, it cannot influence a guest.
pub type LongOutputObserver = Box<dyn FnMut(NodeId, OutputKind, &[u8], &[u8]) + Send>;

/// Hears which flow of a scenario runs from now on; none outside of steps. No guest runs then.
pub type FlowObserver = fn(Option<u32>);

/// The state that all guests of one run share.
pub struct Run {
    /// The simulated computer.
    pub world: World,
    /// The history so far.
    pub recorder: Recorder,
    /// Guests that have started and not ended.
    pub guests: usize,
    /// The deadlock, for the guest that reports it.
    pub blocked: Option<Deadlock>,
    aftermath: Option<Box<Aftermath>>,
    /// Whether the run has ended, and guests are only asked where they wait.
    pub unwinds: bool,
    /// The computer at the moment that was asked for, once the run is there. No guest runs then.
    pub looked: Option<Box<World>>,
    until: Option<StopPoint>,
    /// Steps of scenarios that were begun.
    pub(crate) steps: u64,
    pub(crate) source: Box<dyn DecisionSource>,
    pub(crate) tee: Option<OutputTee>,
    activity: Option<ActivitySink>,
    /// Hears which flow of a scenario runs.
    pub(crate) flow_observer: Option<FlowObserver>,
    pub(crate) long_output: Option<LongOutputObserver>,
    pub(crate) stdin: Option<Arc<LazyInput>>,
    /// Standard input of the target that comes during the run.
    feed: Option<Arc<LazyInput>>,
    reality: Option<Box<dyn LiveBackend>>,
    observed_bytes: u64,
    /// Fuel that host calls have used, and how much they may.
    pub(crate) work: u64,
    work_max: u64,
    /// Whether an operation has succeeded since faults have ended.
    has_progressed: bool,
    /// Whether restarts have used up the instruction budget.
    is_spent: bool,
    /// Planned faults of memory until that at which the run is to stop; `None` when it is not.
    refusals_left: Option<u64>,
    /// The fuel of host calls at which the interrupt is polled next; at most `work_max`.
    pub(crate) work_until_look: u64,
    interrupt: Option<Interrupt>,
    /// Fuel that its guest does not have yet, as it is looked at between its calls; `None` for a run that looks anywhere, or never.
    kept_back: Option<u64>,
    /// Whether a call took too long for that.
    has_given_up: bool,
    /// Whether the steps of a scenario are taken together, in as few calls as possible.
    takes_together: bool,
    /// Whether that has met what only steps in calls of their own tell.
    has_parted: bool,
}

impl Run {
    /// A run of `world` whose questions `source` answers.
    #[must_use]
    pub fn new(world: World, source: Box<dyn DecisionSource>, recorder: Recorder, tee: Option<OutputTee>) -> Run {
        let work_max = world.plan.limits.fuel;
        Run {
            world,
            recorder,
            guests: 0,
            blocked: None,
            aftermath: None,
            unwinds: false,
            looked: None,
            until: None,
            steps: 0,
            source,
            tee,
            activity: None,
            flow_observer: None,
            long_output: None,
            stdin: None,
            feed: None,
            reality: None,
            observed_bytes: 0,
            work: 0,
            work_max,
            has_progressed: false,
            is_spent: false,
            refusals_left: None,
            work_until_look: work_max,
            interrupt: None,
            kept_back: None,
            has_given_up: false,
            takes_together: false,
            has_parted: false,
        }
    }

    /// Standard input comes from `input` instead of the plan, when the target first looks at it.
    #[must_use]
    pub fn reading(self, input: Option<Arc<LazyInput>>) -> Run {
        let (feed, stdin) = input.into_iter().partition::<Vec<_>, _>(|input| input.feed().is_some());
        let mut run = Run { stdin: stdin.into_iter().next(), feed: feed.into_iter().next(), ..self };
        run.look_later();
        run
    }

    /// Shows `observer` what is not kept of outputs.
    #[must_use]
    pub fn observing_long_output(self, observer: Option<LongOutputObserver>) -> Run {
        Run { long_output: observer, ..self }
    }

    /// Tells `activity` of turns, waits and bytes that move.
    #[must_use]
    pub fn telling(self, activity: Option<ActivitySink>) -> Run {
        Run { activity, ..self }
    }

    /// Tells `observer` which flow of a scenario runs.
    #[must_use]
    pub fn telling_flows(self, observer: Option<FlowObserver>) -> Run {
        Run { flow_observer: observer, ..self }
    }

    /// Whether an observer receives turns, waits and bytes.
    #[inline]
    pub fn is_told(&self) -> bool {
        self.activity.is_some()
    }

    /// Reports it to the observer, if there is one.
    #[inline]
    pub fn tell(&mut self, activity: impl FnOnce(&World) -> Activity) {
        if let Some(sink) = &mut self.activity {
            sink(activity(&self.world));
        }
    }

    /// What the source has not observed before, `reality` is asked for.
    #[must_use]
    pub fn observing(self, reality: Option<Box<dyn LiveBackend>>) -> Run {
        Run { reality, ..self }
    }

    /// Stops at a planned fault of memory, by its number from one.
    #[must_use]
    pub fn stopping_at_refusal(self, number: Option<u64>) -> Run {
        Run { refusals_left: number, ..self }
    }

    /// A planned fault of memory strikes: whether the run is to stop at it.
    pub(crate) fn stops_at_refusal(&mut self) -> bool {
        let Some(left) = &mut self.refusals_left else { return false };
        *left = left.saturating_sub(1);
        *left == 0
    }

    /// Can be ended from outside by `interrupt`.
    #[must_use]
    pub fn interruptible(mut self, interrupt: Option<Interrupt>) -> Run {
        self.interrupt = interrupt;
        self.look_later();
        self
    }

    /// Who can end it from outside; the instructions of guests stop now and then for a look then.
    #[must_use]
    pub fn interrupt(&self) -> Option<&Interrupt> {
        self.interrupt.as_ref()
    }

    /// Looks for an interruption between the calls of its guest, which is alone, and not in the middle of them. A guest that goes
    /// on for long in a call makes it give up.
    #[must_use]
    pub fn looking_between_calls(self, yes: bool) -> Run {
        Run { kept_back: yes.then_some(0), ..self }
    }

    /// The fuel that is kept back from its guest; `None` for a run that looks anywhere, or never.
    #[inline]
    #[must_use]
    pub fn kept_back(&self) -> Option<u64> {
        self.kept_back
    }

    /// Keeps back this much fuel from here on.
    pub fn keep_back(&mut self, fuel: u64) {
        assert!(self.kept_back.is_some(), "a guest that stops for looks has all of its fuel");
        self.kept_back = Some(fuel);
    }

    /// Between two calls: the execution ends if it is to end now.
    ///
    /// # Errors
    /// [`GuestStop::Interrupted`].
    pub fn look_between_calls(&self) -> Result<(), GuestStop> {
        match self.interrupt.as_ref().is_some_and(Interrupt::strikes) {
            true => Err(GuestStop::Interrupted),
            false => Ok(()),
        }
    }

    /// A call took so long that it must be possible to interrupt it: the execution is thrown away, and is to be begun again.
    pub fn give_up(&mut self) -> GuestStop {
        self.has_given_up = true;
        GuestStop::Interrupted
    }

    /// Whether it is to be begun again.
    #[must_use]
    pub fn has_given_up(&self) -> bool {
        self.has_given_up
    }

    /// Between two calls of a guest that has `left`: looks for an interruption now and then, and gives it more of the fuel that
    /// is kept back from it. The answer is what it has then.
    ///
    /// # Errors
    /// [`GuestStop::Interrupted`]; also when the guest may have used more than it had, which would be forgiven.
    #[inline]
    pub fn hand_out(&mut self, left: u64) -> Result<u64, GuestStop> {
        match self.kept_back {
            // With all of it, the guest comes to its end soon.
            Some(kept) if kept > 0 && left < INTERRUPT_FUEL / 2 => self.hand_out_of(kept, left),
            _ => Ok(left),
        }
    }

    fn hand_out_of(&mut self, kept: u64, left: u64) -> Result<u64, GuestStop> {
        if left == 0 {
            return Err(self.give_up());
        }
        self.look_between_calls()?;
        let more = kept.min(INTERRUPT_FUEL - left);
        self.keep_back(kept - more);
        Ok(left + more)
    }

    /// Has the steps of a scenario be taken together, in as few calls as possible. What is not known for certain then makes the run part
    /// them.
    #[must_use]
    pub fn taking_steps_together(self, yes: bool) -> Run {
        Run { takes_together: yes, ..self }
    }

    /// Whether the steps of a scenario are taken together.
    #[must_use]
    pub fn takes_together(&self) -> bool {
        self.takes_together
    }

    /// Steps that are taken together do not tell what each of them would in a call of its own: the execution is thrown away, and is to be
    /// begun again.
    pub fn part_steps(&mut self) -> GuestStop {
        self.has_parted = true;
        GuestStop::Interrupted
    }

    /// Whether it is to be begun again, with each step in a call of its own.
    #[must_use]
    pub fn has_parted(&self) -> bool {
        self.has_parted
    }

    fn look_later(&mut self) {
        let is_watched = self.interrupt.is_some() || self.feed.is_some();
        let next = if is_watched { self.work.saturating_add(INTERRUPT_WORK) } else { u64::MAX };
        self.work_until_look = self.work_max.min(next);
    }

    /// Host calls have come to the end of what they may use, or to the next look.
    #[cold]
    pub(crate) fn look_for_interruption(&mut self) -> Result<(), GuestStop> {
        if self.work > self.work_max {
            return Err(GuestStop::FuelExhausted);
        }
        if self.interrupt.as_ref().is_some_and(Interrupt::strikes) {
            return Err(GuestStop::Interrupted);
        }
        if self.feed.as_ref().is_some_and(|input| input.feed().is_some_and(|feed| feed.is_stopped())) {
            // Its program may never wait: the call that begins is the last.
            let calls = self.recorder.calls();
            self.stop(Some(calls));
        }
        self.look_later();
        Ok(())
    }

    /// Stops at a moment, for inspection.
    #[must_use]
    pub fn until(mut self, until: Option<StopPoint>) -> Run {
        self.until = until;
        if let Some(StopPoint::Time(at)) = until {
            self.world.until = Some(at);
        }
        self
    }

    /// Keeps the computer as it is now, for inspection.
    pub fn look(&mut self) {
        if self.looked.is_none() {
            self.looked = Some(Box::new(self.world.clone()));
        }
    }

    /// Whether the run has reached the moment to inspect, when a guest makes its next call.
    #[inline]
    pub(crate) fn is_looked_at(&mut self) -> bool {
        let Some(until) = self.until else { return false };
        if self.is_at(until) {
            self.look();
        }
        self.looked.is_some()
    }

    fn is_at(&self, until: StopPoint) -> bool {
        match until {
            StopPoint::Call(call) => self.recorder.calls() >= call,
            StopPoint::Decision(decision) => self.recorder.decisions() > decision,
            StopPoint::Step(step) => self.steps > step,
            StopPoint::Place { sequence, step } => {
                let position = self.world.facts.scenario.as_ref().map(|scenario| scenario.position);
                let place = position.and_then(|position| Some((position.sequence?, position.step?)));
                place.is_some_and(|place| place >= (sequence, step))
            }
            StopPoint::Time(at) => self.world.clock.now() >= at,
        }
    }

    /// The real computer again, for the next run.
    pub fn take_reality(&mut self) -> Option<Box<dyn LiveBackend>> {
        self.reality.take()
    }

    /// An independent run from here on: its questions are answered as they would be here. It has no observer,
    /// and no real computer answers it.
    #[must_use]
    pub fn fork(&self) -> Run {
        Run {
            world: self.world.clone(),
            recorder: self.recorder.fork(),
            guests: self.guests,
            blocked: self.blocked.clone(),
            aftermath: self.aftermath.clone(),
            unwinds: self.unwinds,
            looked: None,
            until: None,
            steps: self.steps,
            source: self.source.fork(),
            tee: None,
            activity: None,
            flow_observer: None,
            long_output: None,
            stdin: None,
            feed: None,
            reality: None,
            observed_bytes: self.observed_bytes,
            work: self.work,
            work_max: self.work_max,
            is_spent: self.is_spent,
            refusals_left: self.refusals_left,
            has_progressed: self.has_progressed,
            work_until_look: self.work_max,
            interrupt: None,
            kept_back: None,
            has_given_up: false,
            takes_together: false,
            has_parted: false,
        }
    }

    /// Goes on from where `kept` is, as a fork of that does, in the allocations that are there. `source` answers its questions, if there
    /// is one.
    pub fn go_back(&mut self, kept: &Run, source: Option<Box<dyn DecisionSource>>) {
        let Run {
            world,
            recorder,
            guests,
            blocked,
            aftermath,
            unwinds,
            looked: _,
            until: _,
            steps,
            source: own,
            tee: _,
            activity: _,
            flow_observer: _,
            long_output: _,
            stdin: _,
            feed: _,
            reality: _,
            observed_bytes,
            work,
            work_max,
            has_progressed,
            is_spent,
            refusals_left,
            work_until_look: _,
            interrupt: _,
            kept_back: _,
            has_given_up: _,
            takes_together: _,
            has_parted: _,
        } = kept;
        self.world.clone_from(world);
        self.recorder.go_back(recorder);
        self.blocked.clone_from(blocked);
        self.aftermath.clone_from(aftermath);
        self.source = source.unwrap_or_else(|| own.fork());
        (self.guests, self.unwinds, self.steps) = (*guests, *unwinds, *steps);
        (self.observed_bytes, self.work, self.work_max) = (*observed_bytes, *work, *work_max);
        (self.has_progressed, self.is_spent, self.refusals_left) = (*has_progressed, *is_spent, *refusals_left);
        self.work_until_look = *work_max;
        // A fork has no observers, and nobody ends it from outside.
        (self.looked, self.until, self.interrupt) = (None, None, None);
        (self.kept_back, self.has_given_up) = (None, false);
        (self.takes_together, self.has_parted) = (false, false);
        (self.tee, self.activity, self.flow_observer, self.long_output) = (None, None, None, None);
        (self.stdin, self.feed, self.reality) = (None, None, None);
    }

    /// Has `source` answer from here on.
    pub fn answer_from(&mut self, source: Box<dyn DecisionSource>) {
        self.source = source;
    }

    /// What host calls have used of the budget.
    #[must_use]
    pub fn work(&self) -> u64 {
        self.work
    }

    /// Whether no other guest could continue, or begin, while this one waits.
    pub(crate) fn is_alone(&self) -> bool {
        self.guests == 1
            && self.world.launches.is_empty()
            && self.aftermath.is_none()
            && !self.world.faults.has_nemeses()
    }

    /// Lets a part of the computer do something that may ask for chance or meet a fault, for `node`.
    pub fn with_context<R>(&mut self, node: NodeId, body: impl FnOnce(&mut World, &mut OpContext<'_>) -> R) -> R {
        let mut faults = std::mem::take(&mut self.world.faults);
        let mut asking = RunDecider { source: &mut *self.source, recorder: &mut self.recorder };
        let mut context = OpContext { now: self.world.clock.now(), node, faults: &mut faults, decider: &mut asking };
        let result = body(&mut self.world, &mut context);
        self.world.faults = faults;
        result
    }

    /// Lets nemeses begin and end whose moment has come, before the next turn.
    #[inline]
    pub fn step_nemeses(&mut self) {
        if self.world.faults.next_nemesis_at().is_some_and(|at| at <= self.world.clock.now()) {
            self.with_context(NodeId(0), |world, context| world.step_nemeses(context));
        }
    }

    /// When it is next looked at whether there is progress; `None` when that is not asked, or was seen.
    #[must_use]
    pub fn progress_due_at(&self) -> Option<Instant> {
        let (_, due) = self.world.progress_due().filter(|_| !self.has_progressed)?;
        Some(due)
    }

    /// Whether the time is over in which an operation must have succeeded since faults have ended, and none has.
    pub fn is_stalled(&mut self) -> bool {
        let Some((quiet, due)) = self.world.progress_due().filter(|_| !self.has_progressed) else { return false };
        if self.world.clock.now() < due {
            return false;
        }
        self.has_progressed = self.world.has_progressed(quiet);
        !self.has_progressed
    }

    /// The failure of a run without progress: who waits for whom.
    pub(crate) fn stall(&self) -> Option<ReportedFailure> {
        let (quiet, due) = self.world.progress_due()?;
        let what = match self.world.facts.operations.all().is_empty() {
            true => "clients have recorded no operation, and the program has not ended,",
            false => "no operation has succeeded",
        };
        let (length, waits) = (due.since(quiet), self.world.who_waits().join("\n  "));
        let message = format!("no progress: {what} in the {length} since faults ended at {quiet}\n  {waits}");
        Some(ReportedFailure::new(FailureKind::Invariant, "no progress", &message))
    }

    /// The machine `node` came to an end that the plan does not allow: the run ends soon.
    pub fn end_soon(&mut self, node: NodeId) {
        if self.aftermath.is_none() {
            let name = self.world.node(node).name.as_str().into();
            let until = self.world.clock.now().after(AFTERMATH);
            let work_max = self.work.saturating_add(AFTERMATH_WORK);
            self.aftermath = Some(Box::new(Aftermath { node: name, until, work_max }));
        }
    }

    /// The machine after whose end the run is over by now.
    #[inline]
    pub fn over(&self) -> Option<Arc<str>> {
        let Aftermath { node, until, work_max } = self.aftermath.as_deref()?;
        (self.world.clock.now() >= *until || self.work > *work_max).then(|| Arc::clone(node))
    }

    /// When the run is over at the latest, if a machine has ended it.
    #[must_use]
    pub fn over_at(&self) -> Option<Instant> {
        self.aftermath.as_ref().map(|aftermath| aftermath.until)
    }

    /// The program of `node` exited or crashed, and starts again after `after`, unless the instruction budget is used up: then the run
    /// ends, even where no program makes a call. Before [`Edition::FIFTH`] it continued.
    pub fn restart(&mut self, node: NodeId, after: Duration) -> bool {
        self.is_spent = self.work > self.work_max && self.world.plan.edition >= Edition::FIFTH;
        if !self.is_spent {
            self.with_context(node, |world, context| world.program_ended(context));
            let up = self.world.clock.now().after(after);
            self.world.node_mut(node).waiting = vec![Wait::Until(up)];
            self.charge_restart();
        }
        !self.is_spent
    }

    /// Whether restarts have used up the instruction budget: the run ends with the target's next turn.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.is_spent
    }

    fn charge_restart(&mut self) {
        let fuel = if self.world.plan.edition < Edition::FOURTH { RESTART_FUEL_BEFORE } else { RESTART_FUEL };
        self.work = self.work.saturating_add(fuel);
    }

    /// The machine `node` loses power, and its guest can begin again after `up_after`.
    pub fn power_loss(&mut self, node: NodeId, up_after: Duration) {
        self.with_context(node, |world, context| world.power_loss(context));
        let up = self.world.clock.now().after(up_after);
        self.world.node_mut(node).waiting = vec![Wait::Until(up)];
        self.charge_restart();
    }

    /// The program of `node` is killed, and can begin again after `up_after` on its disk as it is.
    pub fn kill(&mut self, node: NodeId, up_after: Duration) {
        self.with_context(node, |world, context| world.program_lost(context));
        let up = self.world.clock.now().after(up_after);
        self.world.node_mut(node).waiting = vec![Wait::Until(up)];
        self.charge_restart();
    }

    /// What has come of the target's standard input in the meantime comes in a moment.
    pub(crate) fn look_at_feed(&mut self) {
        // What was not read yet comes first, and bounds what is held.
        if self.feed.is_some() && self.world.node(NodeId(0)).stdin.deadline().is_none() {
            self.feed_within(Some(Duration(0)));
        }
    }

    /// The same, before the next turn: while other guests run, the target may be waiting for its standard input.
    pub fn look_for_input(&mut self) {
        let target = NodeId(0);
        if self.feed.is_some() && self.world.node(target).waiting.contains(&Wait::Stdin(target)) {
            self.look_at_feed();
        }
    }

    /// Whether standard input of the target comes from outside during the run.
    #[must_use]
    pub fn is_fed(&self) -> bool {
        self.feed.is_some()
    }

    /// Before time passes for guests that wait for all of `waits`: while the target waits for its standard input and that comes from a
    /// person, virtual time passes as real time does.
    pub fn await_feed(&mut self, waits: impl Iterator<Item = Wait> + Clone) {
        let main = Wait::Stdin(NodeId(0));
        if self.feed.is_some()
            && waits.clone().any(|wait| wait == main)
            && self.world.node(NodeId(0)).stdin.deadline().is_none()
        {
            let now = self.world.clock.now();
            self.feed_within(self.world.next_moment(waits).map(|next| next.since(now)));
        }
    }

    /// Whether the run is to come to its end, when its guest waits for anything at all: it ends when time passes.
    pub(crate) fn heed_stop(&mut self) {
        let stops = self.feed.as_ref().is_some_and(|input| input.feed().is_some_and(|feed| feed.is_stopped()));
        if stops {
            self.stop(None);
        }
    }

    /// A replay comes to its end at this moment by its plan, and so does this run.
    fn stop(&mut self, before: Option<u64>) {
        let now = self.world.clock.now();
        let limits = &mut Arc::make_mut(&mut self.world.plan).limits;
        (limits.time, limits.calls, limits.interrupted) = (Some(now.since(Instant::START)), before, true);
        self.world.facts.interrupted = true;
        if let Some(input) = self.feed.take() {
            input.record(|dialogue| (dialogue.stopped_at, dialogue.stopped_before) = (Some(now), before));
        }
    }

    fn feed_within(&mut self, at_most: Option<Duration>) {
        let Some(input) = self.feed.clone() else { return };
        let event = input.feed().map_or(FeedEvent::Nothing, |mut feed| feed.next(at_most));
        let now = self.world.clock.now();
        let later = |waited: Duration| now.after(Duration(waited.0.max(1)));
        let Some(channel) = self.world.node_mut(NodeId(0)).stdin.channel_mut() else { return };
        match event {
            FeedEvent::Nothing => {}
            FeedEvent::Bytes(bytes, waited) => {
                let bytes: Arc<[u8]> = bytes.into();
                let at = channel.send(Arc::clone(&bytes), later(waited));
                input.record(|dialogue| dialogue.note(&bytes, at, false));
            }
            FeedEvent::End(waited) => {
                let at = channel.close(later(waited));
                // It says nothing more, but whether the run is to stop.
                input.record(|dialogue| dialogue.note(&[], at, true));
            }
            FeedEvent::Stopped => self.stop(None),
        }
    }

    /// Lets virtual time pass until one of `waits` of the only guest is over.
    ///
    /// # Errors
    /// [`Deadlock`] when that will never happen: the guest hangs.
    pub(crate) fn block(&mut self, waits: &[Wait]) -> Result<(), Deadlock> {
        if self.feed.is_none() {
            return self.world.block(waits);
        }
        self.world.network.advance(self.world.clock.now());
        self.world.end_overdue();
        while !waits.iter().any(|wait| self.world.is_ready(*wait)) {
            self.await_feed(waits.iter().copied());
            if !self.world.pass_time(waits.iter().copied()) {
                return Err(Deadlock { waiting: waits.iter().map(|wait| self.world.wait_words(*wait)).collect() });
            }
        }
        Ok(())
    }

    /// Keeps bytes that a [`BackendRequest`] is about to name.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Digest {
        self.recorder.observed().add(bytes)
    }

    /// Bytes that a [`BackendResponse`] named.
    pub(crate) fn kept(&mut self, digest: Digest) -> Result<Arc<[u8]>, GuestStop> {
        let found = self.recorder.observed().get(&digest);
        found.ok_or_else(|| GuestStop::Machine { what: format!("the bytes {digest} of an observation are missing") })
    }

    /// Asks the real computer, or the recording of what it answered; recorded before it is judged.
    pub(crate) fn observe(&mut self, ask: &BackendRequest) -> Result<(BackendResponse, Option<AnswerTime>), GuestStop> {
        let shown = self.redacted(ask);
        let (answer, took) = match self.source.observe(&shown, self.recorder.observed()) {
            ObservationLookup::Answer(answer, took) => (answer, took),
            ObservationLookup::Diverged(recorded) => {
                return Err(GuestStop::Diverged { recorded, asked: Box::new(shown) });
            }
            ObservationLookup::Unknown => {
                let machine = |what: String| GuestStop::Machine { what };
                let reality = self.reality.as_mut();
                let reality =
                    reality.ok_or_else(|| machine("the plan asks for a host backend, and none is there".to_owned()))?;
                let answer = reality.answer(ask, self.recorder.observed()).map_err(machine)?;
                (answer, reality.took())
            }
        };
        if !ask.fits(&answer) {
            return Err(GuestStop::Machine { what: format!("an answer of another kind came for {shown:?}") });
        }
        for digest in shown.digests().into_iter().chain(answer.digests()) {
            self.observed_bytes += self.kept(digest)?.len() as u64;
        }
        if self.observed_bytes > OBSERVED_BYTES_MAX {
            let what =
                format!("the host backends moved more than the {OBSERVED_BYTES_MAX} bytes that a trace can carry");
            return Err(GuestStop::Machine { what });
        }
        self.recorder.observation(Observation { ask: shown, answer: answer.clone(), took });
        Ok((answer, took))
    }

    /// The question as it may stand in a trace.
    fn redacted(&self, ask: &BackendRequest) -> BackendRequest {
        let redact = &self.world.plan.redact;
        match ask {
            BackendRequest::Http(http) => BackendRequest::Http(recorded_ask(redact, http)),
            BackendRequest::Process(process) => {
                let env = crate::process::redacted(&process.env, &redact.env);
                BackendRequest::Process(ProcessRequest { env, ..process.clone() })
            }
            BackendRequest::File(_) => ask.clone(),
        }
    }
}

impl Run {
    /// Asks the source which of several tasks or guests runs next, and records it; the answer is a place in `point.ready`.
    pub fn pick(&mut self, node: NodeId, purpose: Purpose, site: &str, point: &SchedulingPoint<'_>) -> usize {
        let (answer, origin) = self.source.pick(Question { node, purpose, site }, point);
        self.recorder.decision(origin, || Override::Number(answer));
        answer as usize
    }
}

/// Asks the source on behalf of a part of the computer, and records that it did.
struct RunDecider<'a> {
    source: &'a mut dyn DecisionSource,
    recorder: &'a mut Recorder,
}

impl Decider for RunDecider<'_> {
    fn below(&mut self, question: Question<'_>, bound: u64) -> u64 {
        let (answer, origin): (u64, Origin) = self.source.below(question, bound);
        self.recorder.decision(origin, || Override::Number(answer));
        answer
    }

    fn weigh(&mut self, weights: &[u32]) {
        self.source.weigh(weights);
    }

    fn calls(&self) -> u64 {
        self.recorder.calls()
    }

    fn strike(&mut self, strike: FaultStrike<'_>) {
        let FaultStrike { at, node, kind, target, strength } = strike;
        let what = || if target.is_empty() { kind.name.to_owned() } else { format!("{} on {target}", kind.name) };
        self.recorder.aside(Aside::Fault, node, at, || (what(), kind.strength_words(strength).unwrap_or_default()));
    }
}

/// Holds the run between two turns.
#[derive(Default)]
pub struct RunSlot(Mutex<Option<Box<Run>>>);

impl RunSlot {
    /// Leaves the run for the next guest.
    pub fn put(&self, run: Box<Run>) {
        let old = self.0.lock().unwrap_or_else(PoisonError::into_inner).replace(run);
        assert!(old.is_none(), "there is one run");
    }

    /// Takes the run if it is there; a guest that has come to a look in the middle of its turn holds it.
    #[must_use]
    pub fn take_if_free(&self) -> Option<Box<Run>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Takes the run.
    ///
    /// # Panics
    /// When it is not there: another guest holds it.
    #[must_use]
    pub fn take(&self) -> Box<Run> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().expect("the run is in its slot between turns")
    }
}

/// Access of one guest to the run: it holds the run during its turn, and nothing between two turns.
pub struct RunGuard {
    run: Option<Box<Run>>,
    slot: Arc<RunSlot>,
}

impl RunGuard {
    /// A guard that takes the run from `slot` when a turn begins.
    #[must_use]
    pub fn new(slot: Arc<RunSlot>) -> RunGuard {
        RunGuard { run: None, slot }
    }

    /// Begins a turn.
    pub fn begin(&mut self) {
        self.run = Some(self.slot.take());
    }

    /// Ends the last turn.
    pub fn end(&mut self) {
        self.slot.put(self.run.take().expect("only who has the turn ends it"));
    }

    /// Takes the run for a call of the target, whose turn is part of this one.
    ///
    /// # Panics
    /// Outside a turn.
    #[must_use]
    pub fn take(&mut self) -> Box<Run> {
        self.run.take().expect("only who has the turn takes the run")
    }

    /// Puts back the run that was taken.
    pub fn put(&mut self, run: Box<Run>) {
        let old = self.run.replace(run);
        assert!(old.is_none(), "there is one run");
    }

    /// Ends this turn, and begins another when the engine gives it.
    pub(crate) async fn pass_on(&mut self) {
        self.end();
        YieldOnce(false).await;
        self.begin();
    }
}

impl Deref for RunGuard {
    type Target = Run;

    #[inline]
    fn deref(&self) -> &Run {
        self.run.as_deref().expect("a guest acts in its own turn only")
    }
}

impl DerefMut for RunGuard {
    #[inline]
    fn deref_mut(&mut self) -> &mut Run {
        self.run.as_deref_mut().expect("a guest acts in its own turn only")
    }
}

/// A future that is pending once.
struct YieldOnce(bool);

impl Future for YieldOnce {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        if self.0 {
            return Poll::Ready(());
        }
        self.0 = true;
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::plan::Inputs;
    use fozzy_trace::source::SeededSource;
    use fozzy_trace::{Plan, Seed};

    /// Questions, calls and states.
    fn act(run: &mut Run, times: u64) {
        let main = NodeId(0);
        for time in 0..times {
            let question = Question { node: main, purpose: Purpose::Random, site: "a test" };
            let (answer, origin) = run.source.below(question, 1000);
            run.recorder.decision(origin, || Override::Number(answer));
            run.recorder.call(7, "a call", main, Instant(time), &(answer as u32), &());
            run.world.facts.states.note("answer", answer).expect("a fit name");
            run.work += 3;
            run.steps += 1;
        }
    }

    fn check(other: &mut Run, fork: &mut Run) {
        for times in [0, 5] {
            act(other, times);
            act(fork, times);
            assert_eq!(format!("{:?}", other.world), format!("{:?}", fork.world));
            assert_eq!(other.recorder.so_far(), fork.recorder.so_far());
            assert_eq!((other.work, other.steps, other.guests), (fork.work, fork.steps, fork.guests));
            assert_eq!((other.work_max, other.work_until_look), (fork.work_max, fork.work_until_look));
            assert_eq!((other.kept_back, other.has_given_up), (fork.kept_back, fork.has_given_up));
            assert_eq!((other.takes_together, other.has_parted), (fork.takes_together, fork.has_parted));
        }
    }

    #[test]
    fn to_go_back_to_a_run_is_to_fork_it() {
        let world = World::new(Arc::new(Plan::default()), &Inputs::default()).expect("a plain plan");
        let source = |seed| Box::new(SeededSource::new(Seed(seed)));
        let new = || Run::new(world.clone(), source(1), Recorder::new(0..0), None);
        let (mut kept, mut other) = (new(), new().looking_between_calls(true).taking_steps_together(true));
        assert!(matches!(other.give_up(), GuestStop::Interrupted) && other.kept_back() == Some(0));
        assert!(matches!(other.part_steps(), GuestStop::Interrupted) && other.takes_together() && other.has_parted());
        act(&mut kept, 1500);
        act(&mut other, 20);
        other.go_back(&kept, None);
        check(&mut other, &mut kept.fork());
        let mut fork = kept.fork();
        fork.answer_from(source(9));
        other.go_back(&kept, Some(source(9)));
        check(&mut other, &mut fork);
    }

    #[test]
    fn fuel_is_handed_out_to_a_guest_that_is_known_to_have_some() {
        let world = World::new(Arc::new(Plan::default()), &Inputs::default()).expect("a plain plan");
        let mut run = Run::new(world, Box::new(SeededSource::new(Seed(1))), Recorder::new(0..0), None);
        assert_eq!(run.hand_out(1).expect("it has all"), 1);
        run = run.looking_between_calls(true);
        run.keep_back(INTERRUPT_FUEL);
        assert_eq!(run.hand_out(INTERRUPT_FUEL / 2).expect("it has enough"), INTERRUPT_FUEL / 2);
        assert_eq!(run.hand_out(1).expect("it gets more"), INTERRUPT_FUEL);
        assert_eq!(run.kept_back(), Some(1));
        assert!(run.hand_out(0).is_err() && run.has_given_up());
        run.keep_back(0);
        assert_eq!(run.hand_out(0).expect("it has all"), 0);
    }
}
