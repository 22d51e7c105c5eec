//! Starts workers, follows what they report, replaces those that are lost, and stops them.
//!
//! ```text
//! loop   messages ─▶ records of the slots, findings to the observer
//!        ended process ─▶ complete: slot over │ lost: replaced after a pause, at most RESTARTS_MAX times
//!        stop requested, time over, observer has enough, too many losses ─▶ "stop" to all, kill after STOP_GRACE
//! ```
//!
//! Invariants: it returns when no worker runs any more; after a stop nothing is started.
//! Real time decides only when a campaign with several workers ends and who is replaced when; such a campaign is no function
//! of its seed anyway, since its workers exchange what they find.

use super::budget::shares;
use super::process::{ProcessContent, ProcessMessage, WorkerProcess, was_killed};
use super::slot::{SlotState, WorkerSlot};
use super::{WorkerEvent, WorkerProtocol, WorkerRole};
use crate::wall_clock::Stopwatch;
use fozzy_trace::{HarnessError, Seed};
use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

/// Workers that are started in the place of others, in one campaign. Beyond, something is wrong with the machine or with us.
pub const RESTARTS_MAX: u32 = 16;
/// Before a replacement is started: a signal that reached the worker first has then reached the supervisor too, and a
/// machine without memory is not pressed further.
const RESTART_PAUSE: Duration = Duration::from_millis(250);
/// Real time that a worker has to finish its execution and its report once it was asked to stop; then it is killed.
pub const STOP_GRACE: Duration = Duration::from_secs(10);
/// Real time for which the output of a process that has ended is waited for: a program that it started may hold it open.
const OUTPUT_GRACE: Duration = Duration::from_secs(1);
/// Longest wait for a message before processes and requests are looked at again.
const TICK: Duration = Duration::from_millis(20);
/// Between two calls of [`SupervisorObserver::on_status`].
const STATUS_EVERY: Duration = Duration::from_secs(2);
/// Messages of all workers that wait to be read; a worker beyond that waits.
const QUEUE_MESSAGES_MAX: usize = 256;
/// Lines that are no events, of one campaign, that the observer hears of. More say nothing new.
const STRAY_LINES_MAX: u32 = 32;

/// A campaign with several workers.
pub struct Supervisor<'a> {
    /// Workers at a time; fewer when there are fewer runs.
    pub workers: u32,
    /// Runs of all together; `None` for no bound.
    pub runs: Option<u64>,
    /// Real time from the moment at which the first worker is ready; `None` for no bound.
    pub time: Option<Duration>,
    /// Real time that workers have to end once they are asked to, usually [`STOP_GRACE`].
    pub grace: Duration,
    /// The campaign's seed.
    pub seed: Seed,
    /// The folder that belongs to the workers.
    pub folder: PathBuf,
    /// Makes the command of a worker, see [`super::own_command`].
    pub command: &'a dyn Fn() -> io::Result<Command>,
}

/// What happens next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The workers continue.
    Continue,
    /// All that was looked for is found.
    Stop,
}

/// Watches a supervisor.
pub trait SupervisorObserver<P: WorkerProtocol> {
    /// Whether the campaign has to end; asked many times a second.
    fn is_stop_requested(&self) -> bool;

    /// Real time at the end of the campaign's time in which nothing is searched any more.
    fn reserved_time(&self) -> Duration {
        Duration::ZERO
    }

    /// A worker has found something.
    ///
    /// # Errors
    /// When it cannot be kept where it belongs; the campaign ends.
    fn on_found(&mut self, worker: u32, finding: P::Finding) -> Result<Direction, HarnessError>;

    /// How all of them are doing; called every two seconds.
    fn on_status(&mut self, slots: &[WorkerSlot<P>]);

    /// A worker was lost.
    fn on_loss(&mut self, loss: &WorkerLoss);

    /// A worker has written something that is no event.
    fn on_stray_line(&mut self, worker: u32, line: &str);
}

/// A worker that ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerLoss {
    /// Its slot.
    pub worker: u32,
    /// What happened to it, for people.
    pub cause: String,
    /// Whether another one continues with its share.
    pub is_replaced: bool,
}

impl fmt::Display for WorkerLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WorkerLoss { worker, cause, is_replaced } = self;
        let next = if *is_replaced { "another one continues with its share" } else { "no other takes its place" };
        write!(f, "worker {worker}: {cause}; {next}; what was found is kept")
    }
}

/// Why a campaign with several workers has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SupervisorEnd {
    /// Every share is done.
    Complete,
    /// Its time is over.
    Time,
    /// The observer has what it looked for.
    Directed,
    /// Its end was requested.
    Requested,
    /// Workers were lost that cannot be replaced; why, for people.
    Failed(String),
    /// No worker can continue, and neither could a replacement: the disk is full. The message for people.
    Blocked(String),
}

/// What became of the workers.
pub struct SupervisorReport<P: WorkerProtocol> {
    /// One for each share of the runs.
    pub slots: Vec<WorkerSlot<P>>,
    /// Why all have ended.
    pub end: SupervisorEnd,
    /// Real time from when the first worker was ready until they were asked to end, or had ended by themselves.
    pub worked: Duration,
    /// Workers that ended before their time.
    pub lost: u32,
    /// Workers that were started in the place of lost ones.
    pub restarted: u32,
}

/// A campaign in progress.
struct Fleet<'a, P: WorkerProtocol> {
    plan: &'a Supervisor<'a>,
    slots: Vec<WorkerSlot<P>>,
    queue: SyncSender<ProcessMessage<P>>,
    clock: Stopwatch,
    /// When the first worker was ready.
    ready_at: Option<Duration>,
    /// Why it ends, and since when everyone has known.
    end: Option<(SupervisorEnd, Duration)>,
    streams: u32,
    lost: u32,
    restarted: u32,
    stray_lines: u32,
}

impl Supervisor<'_> {
    /// Runs the workers to their end.
    ///
    /// # Errors
    /// When the first workers cannot be started, or the observer cannot keep a finding.
    pub fn run<P: WorkerProtocol>(
        &self,
        observer: &mut dyn SupervisorObserver<P>,
    ) -> Result<SupervisorReport<P>, HarnessError> {
        let (queue, messages) = sync_channel(QUEUE_MESSAGES_MAX);
        let slots = (0..).zip(shares(self.runs, self.workers)).map(|(number, share)| WorkerSlot::new(number, share));
        let mut fleet = Fleet {
            plan: self,
            slots: slots.collect(),
            queue,
            clock: Stopwatch::start(),
            ready_at: None,
            end: None,
            streams: 0,
            lost: 0,
            restarted: 0,
            stray_lines: 0,
        };
        for at in 0..fleet.slots.len() {
            fleet.start(at).map_err(|error| HarnessError::new(format!("cannot start a worker: {error}")))?;
        }
        let followed = fleet.follow(&messages, observer);
        let now = fleet.now();
        let Fleet { slots, end, ready_at, lost, restarted, .. } = fleet;
        let (end, ended_at) = end.unwrap_or((SupervisorEnd::Complete, now));
        let worked = ready_at.map_or(Duration::ZERO, |ready| ended_at.saturating_sub(ready));
        followed.map(|()| SupervisorReport { slots, end, worked, lost, restarted })
    }
}

impl<P: WorkerProtocol> Fleet<'_, P> {
    fn now(&self) -> Duration {
        self.clock.elapsed()
    }

    /// Starts a process for what is left of a slot.
    fn start(&mut self, at: usize) -> io::Result<()> {
        let stream = self.streams;
        self.streams += 1;
        let slot = &mut self.slots[at];
        let (runs, seed, folder) = (slot.runs_left(), self.plan.seed, self.plan.folder.clone());
        let role = WorkerRole { slot: slot.number(), stream, runs, seed, folder };
        let process = WorkerProcess::spawn((self.plan.command)()?, &role, self.queue.clone())?;
        slot.begin(stream, process);
        Ok(())
    }

    fn follow(
        &mut self,
        messages: &Receiver<ProcessMessage<P>>,
        observer: &mut dyn SupervisorObserver<P>,
    ) -> Result<(), HarnessError> {
        let (mut tended, mut reported, mut failure) = (Duration::ZERO, Duration::ZERO, None);
        while !self.slots.iter().all(WorkerSlot::is_over) {
            if let Ok(message) = messages.recv_timeout(TICK)
                && let Err(error) = self.receive(message, observer)
            {
                failure.get_or_insert(error);
                self.stop(SupervisorEnd::Directed);
            }
            let now = self.now();
            if now - tended >= TICK {
                tended = now;
                self.tend(observer);
            }
            if now - reported >= STATUS_EVERY {
                reported = now;
                observer.on_status(&self.slots);
            }
        }
        failure.map_or(Ok(()), Err)
    }

    fn receive(
        &mut self,
        message: ProcessMessage<P>,
        observer: &mut dyn SupervisorObserver<P>,
    ) -> Result<(), HarnessError> {
        let (now, stream) = (self.now(), message.stream);
        let has_it = |slot: &&mut WorkerSlot<P>| slot.records().iter().any(|record| record.stream == stream);
        let Some(slot) = self.slots.iter_mut().find(has_it) else { return Ok(()) };
        let worker = slot.number();
        let event = match message.content {
            ProcessContent::Event(event) => event,
            ProcessContent::Closed => {
                slot.read_to_end(stream);
                return Ok(());
            }
            ProcessContent::Stray(line) => {
                self.stray_lines += 1;
                if self.stray_lines <= STRAY_LINES_MAX {
                    observer.on_stray_line(worker, &line);
                }
                return Ok(());
            }
        };
        let record = slot.record_mut(stream).expect("it was found by this");
        record.is_ready |= !matches!(event, WorkerEvent::Failed { .. });
        match event {
            WorkerEvent::Ready => {}
            WorkerEvent::Searching => record.is_searching = true,
            WorkerEvent::Progress { progress } => record.progress = Some(progress),
            WorkerEvent::Found { finding } => {
                if observer.on_found(worker, finding)? == Direction::Stop {
                    self.stop(SupervisorEnd::Directed);
                }
            }
            WorkerEvent::Ended { progress, report, complete } => {
                (record.progress, record.report) = (Some(progress), Some(report));
                record.is_complete = complete;
                slot.must_end_by(now + self.plan.grace);
            }
            WorkerEvent::Failed { message, lasting } => record.failure = Some((message, lasting)),
        }
        self.ready_at.get_or_insert(now);
        Ok(())
    }

    /// Looks at processes, requests and clocks.
    fn tend(&mut self, observer: &mut dyn SupervisorObserver<P>) {
        let now = self.now();
        if self.end.is_none() && observer.is_stop_requested() {
            self.stop(SupervisorEnd::Requested);
        }
        let reserved = observer.reserved_time();
        let is_late = |time: Duration| self.ready_at.is_some_and(|ready| now - ready + reserved >= time);
        if self.end.is_none() && self.plan.time.is_some_and(is_late) {
            self.stop(SupervisorEnd::Time);
        }
        for at in 0..self.slots.len() {
            if let Some(exit) = self.slots[at].exit(now) {
                self.settle(at, exit, observer);
            } else if self.slots[at].is_due(now)
                && let Err(error) = self.restart(at)
            {
                self.slots[at].state = SlotState::Over;
                self.lose(at, format!("another one cannot be started: {error}"), true, observer);
            }
        }
    }

    fn restart(&mut self, at: usize) -> io::Result<()> {
        self.restarted += 1;
        self.start(at)
    }

    /// A process has ended, and all that it wrote is read.
    fn settle(&mut self, at: usize, exit: io::Result<ExitStatus>, observer: &mut dyn SupervisorObserver<P>) {
        let slot = &mut self.slots[at];
        slot.state = SlotState::Over;
        let record = slot.last_mut().expect("a process has a record");
        // A signal may reach a worker before it reaches the supervisor.
        if record.is_complete || record.report.is_some() && self.end.is_some() {
            return;
        }
        record.is_lost = true;
        if let Some((failure, true)) = &record.failure {
            self.lost += 1;
            let failure = failure.clone();
            self.stop(SupervisorEnd::Blocked(failure));
            return;
        }
        let killed = exit.as_ref().is_ok_and(|status| was_killed(*status));
        let cause = match (record.failure.take(), exit) {
            (Some((failure, _)), _) => failure,
            (None, Err(error)) => format!("the system does not say how it ended: {error}"),
            (None, Ok(_)) if record.report.is_some() => "a signal asked it to stop".to_owned(),
            (None, Ok(status)) if killed => format!("it was killed ({status})"),
            (None, Ok(status)) => format!("it ended without a report ({status})"),
        };
        // What fails before it begins would fail again.
        let may_restart = record.is_ready || killed;
        self.lose(at, cause, may_restart, observer);
    }

    /// A slot has no process any more, and is not done.
    fn lose(&mut self, at: usize, cause: String, may_restart: bool, observer: &mut dyn SupervisorObserver<P>) {
        self.lost += 1;
        let (now, slot) = (self.now(), &mut self.slots[at]);
        let is_needed = self.end.is_none() && slot.runs_left() != Some(0);
        let waiting = self.restarted + self.waiting();
        let is_replaced = is_needed && may_restart && waiting < RESTARTS_MAX;
        let slot = &mut self.slots[at];
        slot.state = if is_replaced { SlotState::Waiting { until: now + RESTART_PAUSE } } else { SlotState::Over };
        let worker = slot.number();
        observer.on_loss(&WorkerLoss { worker, cause: cause.clone(), is_replaced });
        if is_needed && !is_replaced {
            let why = match may_restart {
                true => format!("worker {worker}: {cause}; after {waiting} replacements there are no more"),
                false => format!("worker {worker} cannot begin: {cause}"),
            };
            self.stop(SupervisorEnd::Failed(why));
        }
    }

    /// Slots whose next process is not started yet.
    fn waiting(&self) -> u32 {
        self.slots.iter().map(|slot| u32::from(matches!(slot.state, SlotState::Waiting { .. }))).sum()
    }

    /// Asks all to come to their end; the first reason counts.
    fn stop(&mut self, end: SupervisorEnd) {
        if self.end.is_some() {
            return;
        }
        let now = self.now();
        self.end = Some((end, now));
        let until = now + self.plan.grace;
        self.slots.iter_mut().for_each(|slot| slot.stop(until));
    }
}

impl<P: WorkerProtocol> WorkerSlot<P> {
    /// How its process ended, once it has and all that it wrote is read.
    fn exit(&mut self, now: Duration) -> Option<io::Result<ExitStatus>> {
        let SlotState::Running { process, is_read, ended_at, deadline } = &mut self.state else { return None };
        if deadline.is_some_and(|deadline| now >= deadline) {
            process.kill();
        }
        let exit = process.exit().transpose()?;
        let ended_at = *ended_at.get_or_insert(now);
        (*is_read || now - ended_at >= OUTPUT_GRACE).then_some(exit)
    }

    fn is_due(&self, now: Duration) -> bool {
        matches!(self.state, SlotState::Waiting { until } if now >= until)
    }

    fn read_to_end(&mut self, stream: u32) {
        let is_last = self.records().last().is_some_and(|last| last.stream == stream);
        if let SlotState::Running { is_read, .. } = &mut self.state {
            *is_read |= is_last;
        }
    }

    fn must_end_by(&mut self, at: Duration) {
        if let SlotState::Running { deadline, .. } = &mut self.state {
            deadline.get_or_insert(at);
        }
    }

    fn stop(&mut self, until: Duration) {
        match &mut self.state {
            SlotState::Running { process, .. } => process.stop(),
            SlotState::Waiting { .. } => self.state = SlotState::Over,
            SlotState::Over => {}
        }
        self.must_end_by(until);
    }
}

#[cfg(all(test, unix))]
mod tests;
