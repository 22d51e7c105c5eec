//! A debugged run: where it is, and how it gets elsewhere.
//!
//! ```text
//! positions   0 ──────c──────c──────c───────c───c──c─now ───── end        c: checkpoints, which are processes
//! ```
//!
//! Checkpoints stand at equal distances over what was executed so far, and closer before a place that was gone back to. If there are too many,
//! every second one of the former is dropped and the distance doubles.
//!
//! Invariant: a checkpoint is only ever copied; what runs is a copy.

use super::code::DebuggedCode;
use super::debuggee::{ALIVE, VARIABLE};
use super::fork::connects_within;
use super::protocol::{DebuggeeSpec, DebuggerLink, EndReport, MachineState, Reply, Request};
use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::PreparedProgram;
use crate::selector;
use fozzy_engine::{Build, DebugPlace, DebugValue, Position, Resume, Stop, StopReason};
use fozzy_trace::file::Recording;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{Digest, Instant, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Checkpoints at equal distances.
const EVEN_MAX: usize = 40;
/// Checkpoints before places that were gone back to.
const NEAR_MAX: usize = 20;
/// Smallest distance of the former, in instructions: some milliseconds.
const DISTANCE_MIN: u64 = 1 << 20;
/// How far before a place the latter stand.
const NEAR_DISTANCES: [u64; 4] = [1 << 22, 1 << 17, 1 << 12, 1 << 7];
/// How far from a checkpoint a search backwards begins without others in between, in instructions.
const APPROACHED: u64 = 1 << 10;
/// How long a process that was started, or copied, may take to say so: it has nothing else to do then.
const GREETING_WAIT: Duration = Duration::from_mins(1);
/// How long a run that may have no end has for its first stop.
const FIRST_STOP_WAIT: Duration = Duration::from_mins(1);
/// Stops in one stretch beyond which only its later half is looked at.
pub(super) const STOPS_MAX: usize = 64;

/// A moment at which the run has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// Where and why.
    pub stop: Stop,
    /// How many functions are on the stack of the machine whose turn it is.
    pub depth: usize,
}

/// How a movement ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPoint {
    /// At a moment of the run.
    At(Moment),
    /// The run is over.
    Ended(EndReport),
    /// At the beginning of the run, before which there is nothing.
    Beginning(Moment),
}

impl RunPoint {
    /// How many instructions were executed before it; at the end, all.
    #[must_use]
    pub fn position(&self) -> Position {
        match self {
            RunPoint::At(moment) | RunPoint::Beginning(moment) => moment.stop.position,
            RunPoint::Ended(end) => end.position,
        }
    }

    /// The moment, unless the run is over.
    #[must_use]
    pub fn moment(&self) -> Option<&Moment> {
        match self {
            RunPoint::At(moment) | RunPoint::Beginning(moment) => Some(moment),
            RunPoint::Ended(_) => None,
        }
    }
}

/// A frame of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StackEntry {
    /// The next operator, or the call that it waits for.
    pub place: DebugPlace,
    /// The function's index in its module.
    pub function: u32,
    /// In words of the source; functions that are inlined here stand first. Never empty.
    pub source: Vec<StackFrame>,
}

/// What a moment is looked for by: it never falls in the course of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentKind {
    /// The call of the host with this number, from 0: the instruction that makes it.
    Call(u64),
    /// The decision with this number, from 0: the instruction that asks for it.
    Decision(u64),
    /// The first instruction at this virtual time or later.
    Time(Instant),
}

impl MomentKind {
    fn is_reached(self, calls: u64, decisions: u64, time: Instant) -> bool {
        match self {
            MomentKind::Call(call) => calls > call,
            MomentKind::Decision(decision) => decisions > decision,
            MomentKind::Time(at) => time >= at,
        }
    }
}

/// A debuggee that has stopped.
pub(super) struct DebuggeeProcess {
    connection: DebuggerLink,
    pub(super) at: RunPoint,
    /// How it went on last.
    last: Resume,
}

impl DebuggeeProcess {
    fn ask(&mut self, request: &Request) -> Result<Reply, CampaignError> {
        self.connection.send(request).map_err(|error| lost(&error))?;
        match self.connection.receive().map_err(|error| lost(&error))? {
            Reply::Failed(what) => Err(CampaignError::new(ErrorKind::Replay, what)),
            reply => Ok(reply),
        }
    }

    /// Goes on up to its next stop.
    pub(super) fn resume(&mut self, resume: &Resume) -> Result<(), CampaignError> {
        // There can be thousands of breakpoints, and stops in their midst.
        let is_known = self.last.breakpoints == resume.breakpoints && self.last.watched == resume.watched;
        let request = match is_known {
            true => Request::ResumeUntil(resume.until),
            false => Request::Resume(resume.clone()),
        };
        if !is_known {
            self.last.clone_from(resume);
        }
        self.at = match self.ask(&request)? {
            Reply::Stopped(stop, depth) => RunPoint::At(Moment { stop, depth }),
            Reply::Ended(end) => RunPoint::Ended(end),
            _ => return Err(confused()),
        };
        Ok(())
    }

    fn position(&self) -> u64 {
        self.at.position().0
    }
}

fn lost(error: &io::Error) -> CampaignError {
    CampaignError::new(ErrorKind::Internal, format!("the process that executes the run is gone: {error}"))
}

fn confused() -> CampaignError {
    CampaignError::new(ErrorKind::Internal, "the process that executes the run answers something else".to_owned())
}

fn io_error(what: &str, error: &io::Error) -> CampaignError {
    CampaignError::new(ErrorKind::Internal, format!("{what}: {error}"))
}

/// A machine whose turn it is not.
struct WaitingMachine {
    machine: u32,
    /// Where the run is.
    seen_from: Position,
    /// The run at the call that it waits in.
    process: DebuggeeProcess,
}

/// A recorded run in a debugger.
pub struct DebugSession {
    trace: PathBuf,
    recording: Recording,
    code: DebuggedCode,
    listener: UnixListener,
    folder: tempfile::TempDir,
    /// Locked, so that its processes know whether it lives.
    _alive: File,
    /// The first process of the run.
    child: Child,
    even: BTreeMap<u64, DebuggeeProcess>,
    near: BTreeMap<u64, DebuggeeProcess>,
    distance: u64,
    pub(super) current: DebuggeeProcess,
    /// Where the run ends, once that is known.
    end: Option<EndReport>,
    /// Where it stops when it goes on.
    breakpoints: BTreeSet<DebugPlace>,
    pub(super) watched: Option<(u32, u32)>,
    branch: Option<(u64, u64)>,
    /// The run at the call that a machine waits in where the run is.
    waiting: Option<WaitingMachine>,
    /// Where it ends at the latest, if nothing else ends it.
    bound: Option<u64>,
    /// How many of the functions that are inlined here a step has not entered yet, the innermost ones.
    pub(super) not_entered: usize,
}

impl Drop for DebugSession {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl DebugSession {
    /// Opens the recording of a trace or bundle, at its beginning.
    ///
    /// # Errors
    /// When it cannot be read or executed.
    pub fn open(trace: &Path) -> Result<DebugSession, CampaignError> {
        DebugSession::open_as(trace, false, None)
    }

    /// With `stores`, memory can be watched; with `branch`, a seed answers from a decision on.
    fn open_as(trace: &Path, stores: bool, branch: Option<(u64, u64)>) -> Result<DebugSession, CampaignError> {
        let recording = selector::read(trace)?;
        let is_starved = !crate::profile::starved(&recording).is_empty();
        if is_starved && !recording.outcome.nodes.is_empty() {
            let what = "a machine has used up its instruction budget beside others, which no debugger counts";
            let next = format!("fozzy profile top {}", fozzy_report::shell_path(trace));
            return Err(CampaignError::new(ErrorKind::Usage, format!("{}: {what}", trace.display())).hint(next));
        }
        // The build for debuggers has no budget, so that such a run has no end in it; nor has another one that goes on for ever.
        let bound = (is_starved || branch.is_some()).then_some(recording.plan.limits.fuel);
        let code = code_of(&recording, stores)?;
        let folder = tempfile::tempdir().map_err(|error| io_error("a folder for the debugger", &error))?;
        let failed = |error| io_error("a folder for the debugger", &error);
        let alive = File::create(folder.path().join(ALIVE)).map_err(failed)?;
        alive.lock().map_err(failed)?;
        let socket = folder.path().join("session");
        let listener = UnixListener::bind(&socket).map_err(|error| io_error("a socket for the debugger", &error))?;
        let spec = DebuggeeSpec { socket, trace: trace.to_owned(), stores, branch };
        let (child, first) = start(&spec, &listener, bound.map(|_| FIRST_STOP_WAIT))?;
        let distance = (recording.outcome.fuel_used / EVEN_MAX as u64).max(DISTANCE_MIN);
        let mut session = DebugSession {
            trace: trace.to_owned(),
            recording,
            code,
            listener,
            folder,
            _alive: alive,
            child,
            even: BTreeMap::new(),
            near: BTreeMap::new(),
            distance,
            current: first,
            end: None,
            breakpoints: BTreeSet::new(),
            watched: None,
            branch,
            waiting: None,
            bound,
            not_entered: 0,
        };
        session.note_end();
        let copy = session.copy_current()?;
        session.even.insert(0, std::mem::replace(&mut session.current, copy));
        session.settle();
        Ok(session)
    }

    /// The same run with another answer from decision `at` on: those that `seed` gives. Breakpoints stay.
    ///
    /// # Errors
    /// When there is no such decision, or it cannot be executed.
    pub fn what_if(&self, at: u64, seed: u64) -> Result<DebugSession, CampaignError> {
        let decisions = self.recording.outcome.decisions;
        if at >= decisions {
            let message = format!("the run has {}", fozzy_trace::counted(decisions, "decision"));
            return Err(CampaignError::new(ErrorKind::Usage, format!("there is no decision {at}: {message}")));
        }
        let mut other = DebugSession::open_as(&self.trace, self.watched.is_some(), Some((at, seed)))?;
        other.breakpoints.clone_from(&self.breakpoints);
        Ok(other)
    }

    /// The recording.
    #[must_use]
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// The trace or bundle.
    #[must_use]
    pub fn trace(&self) -> &Path {
        &self.trace
    }

    /// Whether a seed answers from some decision on, so that this is another run than the recorded one.
    #[must_use]
    pub fn is_branch(&self) -> bool {
        self.branch.is_some()
    }

    /// The code of its programs.
    #[must_use]
    pub fn code(&self) -> &DebuggedCode {
        &self.code
    }

    /// Where it is.
    #[must_use]
    pub fn here(&self) -> &RunPoint {
        &self.current.at
    }

    /// How many of the functions that are inlined here are not shown, the innermost ones: a step has not entered them yet.
    #[must_use]
    pub fn functions_not_entered(&self) -> usize {
        self.not_entered
    }

    /// Where it stops when it goes on.
    #[must_use]
    pub fn breakpoints(&self) -> &BTreeSet<DebugPlace> {
        &self.breakpoints
    }

    /// Has it stop at these operators when it goes on.
    pub fn set_breakpoints(&mut self, places: BTreeSet<DebugPlace>) {
        self.breakpoints = places;
    }

    /// Has it stop before bytes of memory 0 are written by the program, when it goes on: first address and length. The first time, the run
    /// is executed once more.
    ///
    /// # Errors
    /// When it cannot be executed in this way.
    pub fn watch(&mut self, range: Option<(u32, u32)>) -> Result<(), CampaignError> {
        if range.is_some() && self.watched.is_none() {
            let (here, is_ended) = (self.here().position(), matches!(self.here(), RunPoint::Ended(_)));
            let mut other = DebugSession::open_as(&self.trace, true, self.branch)?;
            other.breakpoints.clone_from(&self.breakpoints);
            if is_ended {
                other.end()?;
            } else {
                other.go_to(here)?;
            }
            *self = other;
        }
        // A build that looks at stores stays.
        self.watched = range.or(self.watched.map(|_| (0, 0)));
        Ok(())
    }

    fn resume_with(&self, until: u64, stops: bool) -> Resume {
        let breakpoints = if stops { self.breakpoints.clone() } else { BTreeSet::new() };
        let watched = self.watched.filter(|(_, bytes)| stops && *bytes > 0);
        Resume { until: Some(Position(until)), breakpoints, watched }
    }

    /// Ends the run where its budget of instructions is used up.
    fn end_at_bound(&mut self) {
        let Some(bound) = self.bound.filter(|bound| self.current.position() >= *bound) else { return };
        let RunPoint::At(Moment { stop, .. }) = &self.current.at else { return };
        let words = format!("had used its budget of {} up by here", fozzy_trace::counted(bound, "instruction"));
        let Stop { calls, decisions, time, position, .. } = *stop;
        let status = Status::Timeout;
        self.current.at =
            RunPoint::Ended(EndReport { position, words, status, difference: None, calls, decisions, time });
    }

    fn note_end(&mut self) {
        self.end_at_bound();
        if let RunPoint::Ended(end) = &self.current.at {
            self.end.get_or_insert_with(|| end.clone());
        }
    }

    /// A copy of a process that has stopped.
    fn copy(listener: &UnixListener, of: &mut DebuggeeProcess) -> Result<DebuggeeProcess, CampaignError> {
        of.connection.send(&Request::Fork).map_err(|error| lost(&error))?;
        match of.connection.receive().map_err(|error| lost(&error))? {
            Reply::Forked(Ok(())) => {}
            Reply::Forked(Err(what)) => {
                return Err(CampaignError::new(ErrorKind::Internal, format!("a copy of the run: {what}")));
            }
            _ => return Err(confused()),
        }
        let connection = greeted(listener)?;
        Ok(DebuggeeProcess { connection, at: of.at.clone(), last: of.last.clone() })
    }

    fn copy_current(&mut self) -> Result<DebuggeeProcess, CampaignError> {
        DebugSession::copy(&self.listener, &mut self.current)
    }

    /// The checkpoint at or before a position, and where it is.
    fn checkpoint_at(&self, position: u64) -> u64 {
        let last = |of: &BTreeMap<u64, DebuggeeProcess>| of.range(..=position).next_back().map(|(at, _)| *at);
        last(&self.even).max(last(&self.near)).unwrap_or(0)
    }

    /// A copy of the checkpoint that stands there.
    fn copy_of(&mut self, at: u64) -> Result<DebuggeeProcess, CampaignError> {
        let checkpoint = self.near.get_mut(&at).or_else(|| self.even.get_mut(&at)).expect("it stands there");
        DebugSession::copy(&self.listener, checkpoint)
    }

    /// Keeps a copy of the current process, if none is there.
    fn keep(&mut self, near: bool) -> Result<(), CampaignError> {
        let at = self.current.position();
        let is_kept = self.near.contains_key(&at) || self.even.contains_key(&at);
        if is_kept || matches!(self.current.at, RunPoint::Ended(_)) {
            return Ok(());
        }
        let copy = self.copy_current()?;
        if near {
            self.keep_near(at, copy);
            return Ok(());
        }
        self.even.insert(at, copy);
        if self.even.len() > EVEN_MAX {
            self.distance *= 2;
            let distance = self.distance;
            self.even.retain(|at, _| at % distance == 0);
        }
        Ok(())
    }

    /// Has a process be a checkpoint before a place that is gone back to.
    fn keep_near(&mut self, at: u64, process: DebuggeeProcess) {
        self.near.insert(at, process);
        if self.near.len() > NEAR_MAX {
            // The furthest from here is the least use.
            let furthest = self.near.keys().copied().max_by_key(|kept| kept.abs_diff(at));
            furthest.map(|furthest| self.near.remove(&furthest));
        }
    }

    /// Runs the current process up to `target`, whatever it passes, and keeps checkpoints on the way: those at equal distances, and these.
    fn run_to(&mut self, target: u64, marks: &BTreeSet<u64>) -> Result<(), CampaignError> {
        let target = target.min(self.bound.unwrap_or(u64::MAX));
        loop {
            let here = self.current.position();
            if here >= target || matches!(self.current.at, RunPoint::Ended(_)) {
                self.note_end();
                return Ok(());
            }
            let even = (here / self.distance + 1).saturating_mul(self.distance);
            let mark = marks.range(here + 1..).next().copied().unwrap_or(u64::MAX);
            let next = target.min(even).min(mark);
            let resume = self.resume_with(next, false);
            self.current.resume(&resume)?;
            if self.current.position() == next && next < target {
                self.keep(next != even)?;
            }
        }
    }

    /// Goes to a position; to the end of the run, if that is beyond it.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn go_to(&mut self, position: Position) -> Result<&RunPoint, CampaignError> {
        self.not_entered = 0;
        let (target, here) = (position.0, self.current.position());
        let is_ended = matches!(self.current.at, RunPoint::Ended(_));
        if here == target && !is_ended {
            // What was a breakpoint or the like is a mere position now.
            if let RunPoint::At(moment) = &mut self.current.at {
                moment.stop.reason = StopReason::Position;
            }
            return Ok(self.settle());
        }
        let from = self.checkpoint_at(target);
        let goes_back = is_ended || here > target;
        if goes_back || from > here {
            self.current = self.copy_of(from)?;
        }
        let marks = match goes_back {
            true => NEAR_DISTANCES.iter().filter_map(|distance| target.checked_sub(*distance)).collect(),
            false => BTreeSet::new(),
        };
        self.run_to(target, &marks)?;
        Ok(self.settle())
    }

    /// At the beginning, a stop says so.
    fn settle(&mut self) -> &RunPoint {
        if let RunPoint::At(moment) = &self.current.at
            && moment.stop.position.0 == 0
            && moment.stop.reason == StopReason::Position
        {
            self.current.at = RunPoint::Beginning(moment.clone());
        }
        &self.current.at
    }

    /// Goes to the beginning.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn beginning(&mut self) -> Result<&RunPoint, CampaignError> {
        self.go_to(Position(0))
    }

    /// Goes to the end.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn end(&mut self) -> Result<&RunPoint, CampaignError> {
        self.not_entered = 0;
        let from = self.checkpoint_at(u64::MAX);
        if from > self.current.position() && !matches!(self.current.at, RunPoint::Ended(_)) {
            self.current = self.copy_of(from)?;
        }
        self.run_to(u64::MAX >> 2, &BTreeSet::new())?;
        Ok(&self.current.at)
    }

    /// Goes on to the next stop that `accept` accepts: a breakpoint, what is watched, a trap, the end.
    ///
    /// # Errors
    /// When the run cannot be executed, or `accept` fails.
    pub fn go_on(&mut self, accept: &mut StopFilter<'_>) -> Result<&RunPoint, CampaignError> {
        self.run_while(u64::MAX >> 2, accept)?;
        Ok(&self.current.at)
    }

    /// The same up to a position; whether it was stopped before.
    pub(super) fn run_while(&mut self, target: u64, accept: &mut StopFilter<'_>) -> Result<bool, CampaignError> {
        self.not_entered = 0;
        loop {
            let here = self.current.position();
            if matches!(self.current.at, RunPoint::Ended(_)) {
                self.note_end();
                return Ok(false);
            }
            let even = (here / self.distance + 1).saturating_mul(self.distance);
            let next = target.min(even).min(self.bound.unwrap_or(u64::MAX));
            let resume = self.resume_with(next, true);
            self.current.resume(&resume)?;
            self.end_at_bound();
            // Where it was to stop anyway, a breakpoint is not told.
            let RunPoint::At(moment) = &self.current.at else { continue };
            let is_place = moment.stop.place.is_some_and(|place| self.breakpoints.contains(&place));
            let is_position = moment.stop.reason == StopReason::Position;
            if is_position && next < target {
                self.keep(false)?;
            }
            let RunPoint::At(moment) = &mut self.current.at else { continue };
            if is_position && is_place {
                moment.stop.reason = StopReason::Breakpoint;
            }
            match moment.stop.reason {
                StopReason::Position if next >= target => return Ok(false),
                StopReason::Position => {}
                StopReason::Trap(_) | StopReason::HostEnd(_) => return Ok(true),
                StopReason::Breakpoint | StopReason::Watch => {
                    let moment = moment.clone();
                    if accept(&mut Inspector { process: &mut self.current, code: &self.code }, &moment)? {
                        return Ok(true);
                    }
                }
            }
        }
    }

    /// Goes back to the last stop before here that `accept` accepts, or to the beginning.
    ///
    /// # Errors
    /// When the run cannot be executed, or `accept` fails.
    pub fn go_back(&mut self, accept: &mut StopFilter<'_>) -> Result<&RunPoint, CampaignError> {
        self.go_back_to(Position(0), accept)
    }

    /// The same, but not beyond a position.
    pub(super) fn go_back_to(
        &mut self,
        first: Position,
        accept: &mut StopFilter<'_>,
    ) -> Result<&RunPoint, CampaignError> {
        let before = match &self.current.at {
            RunPoint::Ended(end) => end.position.0 + 1,
            at => at.position().0,
        };
        match self.stops_between(first.0, before, STOPS_MAX, accept)?.last() {
            Some(found) => self.arrive(found),
            None => self.go_to(first),
        }
    }

    /// The last stops before a position, and not before the other one, that `accept` accepts, in their order and without a gap: none only if
    /// there is none at all. Beyond `most` stops in one stretch, its later half is looked at first.
    pub(super) fn stops_between(
        &mut self,
        first: u64,
        before: u64,
        most: usize,
        accept: &mut StopFilter<'_>,
    ) -> Result<Vec<Moment>, CampaignError> {
        let mut before = before;
        self.approach(first, before)?;
        while before > first {
            let from = self.checkpoint_at(before - 1);
            let mut process = self.copy_of(from)?;
            self.run_blindly(&mut process, first)?;
            let found = self.scan_from(process, before, most, accept)?;
            if !found.is_empty() {
                return Ok(found);
            }
            before = from;
        }
        Ok(Vec::new())
    }

    /// Has checkpoints stand closer and closer before a position from which it is looked back: one pass over what is in front of it, without a stop,
    /// and what is looked for stands most often just before it.
    fn approach(&mut self, first: u64, before: u64) -> Result<(), CampaignError> {
        let Some(last) = before.checked_sub(1) else { return Ok(()) };
        let from = self.checkpoint_at(last);
        if before - from <= APPROACHED {
            return Ok(());
        }
        let mut process = None;
        for mark in NEAR_DISTANCES.iter().filter_map(|distance| before.checked_sub(*distance)) {
            if mark <= from.max(first) {
                continue;
            }
            let mut ahead = match process.take() {
                Some(process) => process,
                None => self.copy_of(from)?,
            };
            self.run_blindly(&mut ahead, mark)?;
            if ahead.position() != mark || ahead.at.moment().is_none() {
                return Ok(());
            }
            let copy = DebugSession::copy(&self.listener, &mut ahead)?;
            self.keep_near(mark, ahead);
            process = Some(copy);
        }
        Ok(())
    }

    /// Goes to a stop that was found.
    fn arrive(&mut self, found: &Moment) -> Result<&RunPoint, CampaignError> {
        self.go_to(found.stop.position)?;
        if let RunPoint::At(moment) | RunPoint::Beginning(moment) = &self.current.at {
            let stop = Stop { reason: found.stop.reason.clone(), ..moment.stop.clone() };
            self.current.at = RunPoint::At(Moment { stop, ..moment.clone() });
        }
        Ok(&self.current.at)
    }

    /// The last accepted stops of a process from where it stands: a breakpoint there is not passed when it goes on.
    fn scan_from(
        &self,
        mut process: DebuggeeProcess,
        before: u64,
        most: usize,
        accept: &mut StopFilter<'_>,
    ) -> Result<Vec<Moment>, CampaignError> {
        let standing = process.at.moment().cloned().filter(|moment| {
            let is_breakpoint = moment.stop.place.is_some_and(|place| self.breakpoints.contains(&place));
            is_breakpoint && moment.stop.position.0 < before
        });
        let mut found = Vec::new();
        if let Some(moment) = standing {
            let moment = Moment { stop: Stop { reason: StopReason::Breakpoint, ..moment.stop }, ..moment };
            if accept(&mut Inspector { process: &mut process, code: &self.code }, &moment)? {
                found.push(moment);
            }
        }
        self.scan(process, before, most, found, accept)
    }

    /// The same from behind there; `found` were accepted just before.
    fn scan(
        &self,
        mut process: DebuggeeProcess,
        before: u64,
        most: usize,
        mut found: Vec<Moment>,
        accept: &mut StopFilter<'_>,
    ) -> Result<Vec<Moment>, CampaignError> {
        let mut stops = 0;
        loop {
            process.resume(&self.resume_with(before, true))?;
            let RunPoint::At(moment) = process.at.clone() else { return Ok(found) };
            let here = moment.stop.position.0;
            if here >= before {
                return Ok(found);
            }
            if !matches!(moment.stop.reason, StopReason::Breakpoint | StopReason::Watch) {
                continue;
            }
            if accept(&mut Inspector { process: &mut process, code: &self.code }, &moment)? {
                found.push(moment);
            }
            stops += 1;
            let middle = here + (before - here) / 2;
            if stops < most || middle == here {
                continue;
            }
            // There may be millions: the later half decides, if it has one.
            let mut later = DebugSession::copy(&self.listener, &mut process)?;
            self.run_blindly(&mut later, middle)?;
            if matches!(later.at, RunPoint::At(_)) {
                let last = self.scan_from(later, before, most, accept)?;
                if !last.is_empty() {
                    return Ok(last);
                }
            }
            return self.scan(process, middle, most, found, accept);
        }
    }

    /// Runs a process up to a position, whatever it passes.
    fn run_blindly(&self, process: &mut DebuggeeProcess, target: u64) -> Result<(), CampaignError> {
        while process.position() < target && !matches!(process.at, RunPoint::Ended(_)) {
            process.resume(&self.resume_with(target, false))?;
        }
        Ok(())
    }

    /// Goes to the first moment of a kind. `false` when the run has none; then it is where it was.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn go_to_moment(&mut self, kind: MomentKind) -> Result<bool, CampaignError> {
        let is_at = |at: &RunPoint| match at {
            RunPoint::At(Moment { stop, .. }) | RunPoint::Beginning(Moment { stop, .. }) => {
                kind.is_reached(stop.calls, stop.decisions, stop.time)
            }
            RunPoint::Ended(end) => kind.is_reached(end.calls, end.decisions, end.time),
        };
        if self.end.as_ref().is_some_and(|end| !kind.is_reached(end.calls, end.decisions, end.time)) {
            return Ok(false);
        }
        // The last checkpoint before it, and the first one behind it.
        let kept = || self.even.iter().chain(&self.near).map(|(at, process)| (*at, is_at(&process.at)));
        let from = kept().filter(|(_, is_reached)| !is_reached).map(|(at, _)| at).max();
        let Some(mut low) = from else {
            self.beginning()?;
            return Ok(true);
        };
        let behind = kept().filter(|(_, is_reached)| *is_reached).map(|(at, _)| at).min();
        let mut high = match behind.or(self.end.as_ref().map(|end| end.position.0)) {
            Some(high) => high.max(low + 1),
            // The end is not known: a run that is another than the recorded one may have none.
            None => {
                let (here, is_ended) = (self.here().position(), matches!(self.here(), RunPoint::Ended(_)));
                self.go_to(Position(low))?;
                while !is_at(&self.current.at) && !matches!(self.current.at, RunPoint::Ended(_)) {
                    low = self.current.position();
                    self.run_to(low.saturating_add(self.distance), &BTreeSet::new())?;
                }
                if !is_at(&self.current.at) {
                    if !is_ended {
                        self.go_to(here)?;
                    }
                    return Ok(false);
                }
                self.current.position().max(low + 1)
            }
        };
        let mut process = self.copy_of(self.checkpoint_at(low))?;
        self.run_blindly(&mut process, low)?;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            let mut ahead = DebugSession::copy(&self.listener, &mut process)?;
            self.run_blindly(&mut ahead, middle)?;
            if is_at(&ahead.at) || matches!(ahead.at, RunPoint::Ended(_)) {
                high = middle;
            } else {
                (process, low) = (ahead, middle);
            }
        }
        // What it was done by is the instruction before.
        let target = if matches!(kind, MomentKind::Time(_)) { high } else { low };
        self.go_to(Position(target))?;
        Ok(true)
    }

    /// Whether the run has a moment.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn has_moment(&mut self, kind: MomentKind) -> Result<bool, CampaignError> {
        let end = self.run_end()?;
        Ok(kind.is_reached(end.calls, end.decisions, end.time))
    }

    /// Whether the run has a position: it is executed to its end if that is not known.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn has_position(&mut self, position: Position) -> Result<bool, CampaignError> {
        let reached = self.even.last_key_value().map_or(0, |(at, _)| *at).max(self.here().position().0);
        Ok(position.0 <= reached || position <= self.run_end()?.position)
    }

    /// Shows the stops at these places to `accept`, from a position on and before another one. It stays where it is.
    pub(super) fn pass_through(
        &mut self,
        places: BTreeSet<DebugPlace>,
        from: Position,
        to: Position,
        accept: &mut StopFilter<'_>,
    ) -> Result<(), CampaignError> {
        let mut process = self.copy_of(self.checkpoint_at(from.0))?;
        self.run_blindly(&mut process, from.0)?;
        let stops = Resume { until: Some(to), breakpoints: places, watched: None };
        let mut standing = true;
        while process.position() < to.0 {
            if let Some(moment) = process.at.moment().cloned() {
                let is_place = moment.stop.place.is_some_and(|place| stops.breakpoints.contains(&place));
                if moment.stop.reason == StopReason::Breakpoint || (standing && is_place) {
                    accept(&mut Inspector { process: &mut process, code: &self.code }, &moment)?;
                }
            } else {
                break;
            }
            standing = false;
            process.resume(&stops)?;
        }
        Ok(())
    }

    /// Where the run ends.
    fn run_end(&mut self) -> Result<EndReport, CampaignError> {
        if let Some(end) = &self.end {
            return Ok(end.clone());
        }
        let here = self.here().position();
        self.end()?;
        let end = self.end.clone().ok_or_else(confused)?;
        self.go_to(here)?;
        Ok(end)
    }

    /// Looks at the moment.
    pub fn inspect(&mut self) -> Inspector<'_> {
        Inspector { process: &mut self.current, code: &self.code }
    }

    /// Looks at a machine: at the moment, if its turn it is, else as it stood when it began to wait; `None` when it has no stack, since
    /// it has ended, or has not begun.
    ///
    /// # Errors
    /// When the run cannot be executed.
    pub fn inspect_machine(&mut self, machine: u32) -> Result<Option<Inspector<'_>>, CampaignError> {
        let Some(moment) = self.here().moment() else { return Ok(None) };
        let seen_from = moment.stop.position;
        if moment.stop.machine.0 == machine {
            return Ok(Some(self.inspect()));
        }
        let is_kept = |kept: &WaitingMachine| kept.machine == machine && kept.seen_from == seen_from;
        if !self.waiting.as_ref().is_some_and(is_kept) {
            let states = self.inspect().machines()?;
            let waits_in = states.iter().find(|state| state.number == machine).and_then(|state| state.waits_in);
            let Some(waits_in) = waits_in else { return Ok(None) };
            let mut process = self.copy_of(self.checkpoint_at(waits_in.0))?;
            self.run_blindly(&mut process, waits_in.0)?;
            let is_there = process.at.moment().is_some_and(|at| at.stop.machine.0 == machine);
            if !is_there {
                return Ok(None);
            }
            self.waiting = Some(WaitingMachine { machine, seen_from, process });
        }
        let code = &self.code;
        Ok(self.waiting.as_mut().map(|waiting| Inspector { process: &mut waiting.process, code }))
    }

    /// What the programs of the run are executed in, for tests: where checkpoints stand.
    #[must_use]
    pub fn checkpoints(&self) -> usize {
        debug_assert!(self.folder.path().exists());
        self.even.len() + self.near.len()
    }
}

/// Whether a stop is one that was looked for.
pub type StopFilter<'a> = dyn FnMut(&mut Inspector<'_>, &Moment) -> Result<bool, CampaignError> + 'a;

/// Looks at a run that has stopped.
pub struct Inspector<'a> {
    process: &'a mut DebuggeeProcess,
    code: &'a DebuggedCode,
}

impl Inspector<'_> {
    /// The stack of the machine whose turn it is, innermost first; empty when the run is over.
    ///
    /// # Errors
    /// When the process of the run is gone.
    pub fn frames(&mut self) -> Result<Vec<StackEntry>, CampaignError> {
        let Reply::Frames(frames) = self.process.ask(&Request::Frames)? else { return Err(confused()) };
        let entry = |(place, function)| {
            let source = self.code.source(place);
            StackEntry { place, function, source }
        };
        Ok(frames.into_iter().map(entry).collect())
    }

    /// The code of the programs of the run.
    pub(super) fn code(&self) -> &DebuggedCode {
        self.code
    }

    fn values(&mut self, request: &Request) -> Result<Option<Vec<DebugValue>>, CampaignError> {
        match self.process.ask(request)? {
            Reply::Values(values) => Ok(values),
            _ => Err(confused()),
        }
    }

    /// Parameters and locals of a frame, as the original function has them; `None` when there is no such frame.
    ///
    /// # Errors
    /// When the process of the run is gone.
    pub fn locals(&mut self, frame: usize) -> Result<Option<Vec<DebugValue>>, CampaignError> {
        self.values(&Request::Locals(frame))
    }

    /// The operand stack of a frame, the bottom first.
    ///
    /// # Errors
    /// When the process of the run is gone.
    pub fn operands(&mut self, frame: usize) -> Result<Option<Vec<DebugValue>>, CampaignError> {
        self.values(&Request::Operands(frame))
    }

    /// A global of the module of a frame.
    ///
    /// # Errors
    /// When the process of the run is gone.
    pub fn global(&mut self, frame: usize, index: u32) -> Result<Option<DebugValue>, CampaignError> {
        Ok(self.values(&Request::Global(frame, index))?.and_then(|values| values.first().copied()))
    }

    /// Bytes of memory 0 of the module of a frame: as many as there are, up to `length`; `None` where there are none.
    ///
    /// # Errors
    /// When the process of the run is gone.
    pub fn memory(&mut self, frame: usize, address: u64, length: u64) -> Result<Option<Vec<u8>>, CampaignError> {
        match self.process.ask(&Request::Memory(frame, 0, address, length))? {
            Reply::Bytes(bytes) => Ok(bytes),
            _ => Err(confused()),
        }
    }

    /// How many bytes memory 0 of the module of a frame has, and their digest; `None` where there is none.
    ///
    /// # Errors
    /// When the process of the run is gone.
    pub fn memory_digest(&mut self, frame: usize) -> Result<Option<(u64, Digest)>, CampaignError> {
        match self.process.ask(&Request::MemoryDigest(frame, 0))? {
            Reply::Digest(digest) => Ok(digest),
            _ => Err(confused()),
        }
    }

    /// The machines of the run.
    ///
    /// # Errors
    /// When the process of the run is gone.
    pub fn machines(&mut self) -> Result<Vec<MachineState>, CampaignError> {
        match self.process.ask(&Request::Machines)? {
            Reply::Machines(machines) => Ok(machines),
            _ => Err(confused()),
        }
    }
}

/// A process that was started, or copied, says that it is there. One that ended before it could is not waited for forever.
fn greeted(listener: &UnixListener) -> Result<DebuggerLink, CampaignError> {
    let failed = |error| io_error("a process of the debugger", &error);
    if !connects_within(listener, GREETING_WAIT).map_err(failed)? {
        return Err(lost(&io::ErrorKind::TimedOut.into()));
    }
    let (stream, _) = listener.accept().map_err(failed)?;
    let mut connection = DebuggerLink::new(stream);
    connection.wait_at_most(Some(GREETING_WAIT)).map_err(|error| lost(&error))?;
    let greeting = connection.receive().map_err(|error| lost(&error))?;
    connection.wait_at_most(None).map_err(|error| lost(&error))?;
    match greeting {
        Reply::Hello(_) => Ok(connection),
        _ => Err(confused()),
    }
}

/// Starts the first process of a run, which stops at its beginning.
fn start(
    spec: &DebuggeeSpec,
    listener: &UnixListener,
    limit: Option<Duration>,
) -> Result<(Child, DebuggeeProcess), CampaignError> {
    let text =
        serde_json::to_string(spec).map_err(|error| CampaignError::new(ErrorKind::Internal, error.to_string()))?;
    let program = std::env::current_exe().map_err(|error| io_error("this program", &error))?;
    let mut command = Command::new(program);
    command.env(VARIABLE, text).env_remove(crate::workers::ROLE_VARIABLE);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Ctrl-C in a terminal is for the session.
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn().map_err(|error| io_error("a process for the run", &error))?;
    match first_stop(listener, limit) {
        Ok(process) => Ok((child, process)),
        Err(error) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(error)
        }
    }
}

/// The process of a run, which has stopped at its beginning, or is over.
fn first_stop(listener: &UnixListener, limit: Option<Duration>) -> Result<DebuggeeProcess, CampaignError> {
    let mut connection = greeted(listener)?;
    connection.wait_at_most(limit).map_err(|error| lost(&error))?;
    let at = match connection.receive().map_err(|error| lost(&error))? {
        Reply::Stopped(stop, depth) => RunPoint::At(Moment { stop, depth }),
        Reply::Ended(end) => RunPoint::Ended(end),
        Reply::Failed(what) => return Err(CampaignError::new(ErrorKind::Replay, what)),
        _ => return Err(confused()),
    };
    connection.wait_at_most(None).map_err(|error| lost(&error))?;
    Ok(DebuggeeProcess { connection, at, last: Resume::default() })
}

/// The code of the programs of a recording; they are compiled, so that its process need not.
fn code_of(recording: &Recording, stores: bool) -> Result<DebuggedCode, CampaignError> {
    let prepared = PreparedProgram::built_of_recording(recording, &Build::debug(stores))?;
    let session = prepared.session()?;
    let mut programs = BTreeMap::new();
    let own = Digest::of(&recording.component);
    for component in std::iter::once(own).chain(recording.plan.programs().map(|other| other.component)) {
        programs.extend(session.program_named(component).map(|program| (component, program.clone())));
    }
    Ok(DebuggedCode::new(programs))
}
