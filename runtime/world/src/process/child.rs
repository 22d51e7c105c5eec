//! Processes that were started, and how each ends.
//!
//! ```text
//! started ──▶ its end is known, and lies ahead (scripted, captured) ──▶ over
//!    │                         │ kill, deadline: an earlier end
//!    └──────▶ its end is not known yet (component) ──▶ over
//! ```
//!
//! Invariant: the record of a process is kept while a handle of it is open, or while something of ours still
//! has to be done for it; a number that has no record is a process that is over.

use super::rules::ProcessRules;
use super::{ProcessCommand, ProcessEnd, ProcessError, ProcessOutput, SIGNAL_ABORT, SIGNAL_KILL};
use crate::pipe::{PipeEnd, PipeId};
use crate::{GuestExit, Pipes, World};
use fozzy_trace::plan::{ProcessExit, ProcessRule};
use fozzy_trace::{Duration, Instant, NodeId};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

/// The number of a process. The target is process 1, which has no parent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pid(pub u32);

impl fmt::Display for Pid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A standard stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StandardStream {
    /// Its input, which the parent writes.
    Stdin,
    /// Its output, which the parent reads.
    Stdout,
    /// Its error output, which the parent reads.
    Stderr,
}

/// A machine whose guest is a process of another guest: its standard streams are pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessNode {
    /// Which process.
    pub pid: Pid,
    /// Standard input.
    pub stdin: PipeId,
    /// Standard output.
    pub stdout: PipeId,
    /// Standard error.
    pub stderr: PipeId,
}

/// All processes of a run.
#[derive(Clone, Debug)]
pub struct Processes {
    /// Who answers commands.
    pub rules: ProcessRules,
    pub(super) children: BTreeMap<Pid, ChildProcess>,
    /// Those of the real computer that were not run yet.
    pub(super) pending: BTreeSet<Pid>,
    /// When components have to be ended.
    pub(super) deadlines: BTreeSet<(Instant, Pid)>,
    /// The last number that was given.
    pub(super) last: u32,
}

#[derive(Clone, Debug)]
pub(super) struct ChildProcess {
    pub(super) kind: ChildKind,
    pub(super) streams: StandardStreams,
    /// It ends at this moment at the latest.
    pub(super) deadline: Instant,
    /// How much later its own end is seen.
    pub(super) delay: Duration,
    /// A fault says how it ends.
    pub(super) injected: Option<ProcessExit>,
    /// A fault says how much of standard output arrives.
    pub(super) stdout_max: Option<u64>,
    /// When and how it ends, if that is known.
    pub(super) end: Option<(Instant, Result<ProcessEnd, ProcessError>)>,
    /// Whether a guest has a handle of it.
    pub(super) watched: bool,
    /// The machine whose guest started it.
    pub(super) parent: NodeId,
}

#[derive(Clone, Debug)]
pub(super) enum ChildKind {
    Scripted,
    Component(NodeId),
    /// The real computer's; the command until it is run.
    Host(Option<Box<ProcessCommand>>),
}

impl ChildKind {
    fn machine(&self) -> Option<NodeId> {
        match self {
            ChildKind::Component(node) => Some(*node),
            ChildKind::Scripted | ChildKind::Host(_) => None,
        }
    }
}

/// Where the standard streams of a process are.
#[derive(Clone, Debug)]
pub(super) enum StandardStreams {
    /// Pipes, and whether the parent took its end of each.
    Pipes { pipes: [PipeId; 3], taken: [bool; 3] },
    /// The parent does not read along: the outputs are here.
    Whole { stdout: Arc<[u8]>, stderr: Arc<[u8]> },
    /// The parent does not read along: the outputs will be in these.
    Collectors { stdout: PipeId, stderr: PipeId },
}

impl Processes {
    /// The process that a pipe is of, the machine that it runs on if it is a component, and the machine whose guest started it.
    pub(crate) fn behind(&self, pipe: PipeId) -> Option<(Pid, Option<NodeId>, NodeId)> {
        let has = |child: &ChildProcess| match &child.streams {
            StandardStreams::Pipes { pipes, .. } => pipes.contains(&pipe),
            StandardStreams::Collectors { stdout, stderr } => [*stdout, *stderr].contains(&pipe),
            StandardStreams::Whole { .. } => false,
        };
        self.children
            .iter()
            .find(|(_, child)| has(child))
            .map(|(pid, child)| (*pid, child.kind.machine(), child.parent))
    }

    /// The machine of a process, if it is a component.
    pub(crate) fn machine(&self, pid: Pid) -> Option<NodeId> {
        self.children.get(&pid)?.kind.machine()
    }

    /// The machine whose guest started a process.
    pub(crate) fn parent(&self, pid: Pid) -> Option<NodeId> {
        Some(self.children.get(&pid)?.parent)
    }

    /// No processes yet, and these rules.
    #[must_use]
    pub fn new(rules: &[ProcessRule]) -> Processes {
        Processes {
            rules: ProcessRules::new(rules),
            children: BTreeMap::new(),
            pending: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            last: 1,
        }
    }

    /// When a process is over, if that is known. One without a record is over.
    #[must_use]
    pub fn over_at(&self, pid: Pid) -> Option<Instant> {
        match self.children.get(&pid) {
            Some(child) => child.end.as_ref().map(|(at, _)| *at),
            None => Some(Instant::START),
        }
    }

    /// Whether a process is over.
    #[must_use]
    pub fn is_over(&self, pid: Pid, now: Instant) -> bool {
        self.over_at(pid).is_some_and(|at| at <= now)
    }

    /// How a process ended; `None` while it runs.
    ///
    /// # Panics
    /// Without a handle of it.
    #[must_use]
    pub fn ending(&self, pid: Pid, now: Instant) -> Option<Result<ProcessEnd, ProcessError>> {
        let child = self.children.get(&pid).expect("a handle keeps the record");
        child.end.as_ref().filter(|(at, _)| *at <= now).map(|(_, ending)| ending.clone())
    }

    /// When the next process has to be ended.
    #[must_use]
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Forgets a process that has no handle and no work left.
    pub(super) fn forget(&mut self, pid: Pid) {
        if self.children.get(&pid).is_some_and(|child| !child.watched && (child.end.is_some() || child.is_scripted())) {
            self.children.remove(&pid);
        }
    }
}

impl ChildProcess {
    fn is_scripted(&self) -> bool {
        matches!(self.kind, ChildKind::Scripted)
    }

    /// When and how a process ends that would exit at `at`: faults and the deadline may change both.
    pub(super) fn own_end(&self, at: Instant, exit: ProcessExit) -> (Instant, ProcessEnd) {
        let at = at.after(self.delay);
        if at > self.deadline {
            return (self.deadline, ProcessEnd { exit: ProcessExit::Signal(SIGNAL_KILL), deadline_passed: true });
        }
        (at, ProcessEnd { exit: self.injected.unwrap_or(exit), deadline_passed: false })
    }

    /// The process lets go of its streams at `at`.
    pub(super) fn close_streams(&self, pipes: &mut Pipes, at: Instant) {
        if let StandardStreams::Pipes { pipes: [stdin, stdout, stderr], .. } = self.streams {
            pipes.close_at(stdin, PipeEnd::Read, at);
            pipes.close_at(stdout, PipeEnd::Write, at);
            pipes.close_at(stderr, PipeEnd::Write, at);
        }
    }
}

impl World {
    /// The parent's end of a standard stream of a process; `None` when it was taken before.
    pub fn take_stream(&mut self, pid: Pid, stream: StandardStream) -> Option<PipeId> {
        let StandardStreams::Pipes { pipes, taken } = &mut self.processes.children.get_mut(&pid)?.streams else {
            return None;
        };
        let was_taken = std::mem::replace(&mut taken[stream as usize], true);
        (!was_taken).then_some(pipes[stream as usize])
    }

    /// Closes the standard input of a process, unless the parent took the stream.
    pub fn close_untaken_stdin(&mut self, pid: Pid) {
        if let Some(pipe) = self.take_stream(pid, StandardStream::Stdin) {
            self.pipes.close(pipe, PipeEnd::Write, self.clock.now());
        }
    }

    /// Ends a process by `signal` now, unless it is over. Signal 0 does nothing.
    pub fn kill(&mut self, pid: Pid, signal: i32) {
        if signal != 0 {
            let ending = ProcessEnd { exit: ProcessExit::Signal(signal), deadline_passed: false };
            self.end_by_force(pid, self.clock.now(), ending);
        }
    }

    /// Ends those processes whose deadline is over.
    pub fn end_overdue(&mut self) {
        let now = self.clock.now();
        while let Some(&(at, pid)) = self.processes.deadlines.first().filter(|(at, _)| *at <= now) {
            self.processes.deadlines.remove(&(at, pid));
            let ending = ProcessEnd { exit: ProcessExit::Signal(SIGNAL_KILL), deadline_passed: true };
            self.end_by_force(pid, at, ending);
        }
    }

    fn end_by_force(&mut self, pid: Pid, at: Instant, ending: ProcessEnd) {
        let Some(child) = self.processes.children.get_mut(&pid) else { return };
        if child.end.as_ref().is_some_and(|(end, _)| *end <= at) {
            return;
        }
        let goes_on = child.end.is_none();
        child.end = Some((at, Ok(ending)));
        child.close_streams(&mut self.pipes, at);
        if self.processes.pending.remove(&pid)
            && let StandardStreams::Pipes { pipes: [stdin, ..], .. } = child.streams
        {
            // What was collected for it goes nowhere.
            let _ = self.pipes.collect(stdin);
        }
        self.processes.deadlines.remove(&(child.deadline, pid));
        if let ChildKind::Component(node) = child.kind
            && goes_on
        {
            self.node_mut(node).killed = true;
            self.let_go(node);
        }
        self.processes.forget(pid);
    }

    /// The guest of `node` has ended. If it is a process of another guest, that one learns it.
    pub(crate) fn process_ended(&mut self, node: NodeId, exit: GuestExit) {
        let now = self.clock.now();
        self.let_go(node);
        let exit = match exit {
            GuestExit::Code(code) => ProcessExit::Code(code.cast_signed()),
            GuestExit::Crashed => ProcessExit::Signal(SIGNAL_ABORT),
            GuestExit::Killed => ProcessExit::Signal(SIGNAL_KILL),
        };
        let Some(ProcessNode { pid, .. }) = self.node(node).process else { return };
        let Some(child) = self.processes.children.get_mut(&pid).filter(|child| child.end.is_none()) else { return };
        let (at, ending) = child.own_end(now, exit);
        child.end = Some((at, Ok(ending)));
        child.close_streams(&mut self.pipes, at);
        self.processes.deadlines.remove(&(child.deadline, pid));
        self.processes.forget(pid);
    }

    /// The machine of `node` lost power, and with it go the processes of its guest, and theirs. The machines of them.
    pub(crate) fn processes_lost(&mut self, node: NodeId) -> Vec<NodeId> {
        let mut lost = vec![node];
        let mut next = 0;
        while let Some(parent) = lost.get(next).copied() {
            next += 1;
            let children = self.processes.children.iter().filter(|(_, child)| child.parent == parent);
            let children: Vec<(Pid, ChildKind)> = children.map(|(pid, child)| (*pid, child.kind.clone())).collect();
            for (pid, kind) in children {
                if let (ChildKind::Component(node), None) = (kind, self.processes.over_at(pid)) {
                    lost.push(node);
                }
                self.kill(pid, SIGNAL_KILL);
            }
        }
        lost.split_off(1)
    }

    /// The guest of `node` is gone: the exits of the processes that it started are not needed any more.
    pub(crate) fn disown(&mut self, node: NodeId) {
        let children = &mut self.processes.children;
        let orphans = children.iter().filter(|(_, child)| child.parent == node && child.watched);
        for pid in orphans.map(|(pid, _)| *pid).collect::<Vec<_>>() {
            let orphan = self.processes.children.get_mut(&pid).expect("just seen");
            orphan.watched = false;
            if let StandardStreams::Collectors { stdout, stderr } = orphan.streams {
                orphan.streams = StandardStreams::Whole { stdout: Arc::from([]), stderr: Arc::from([]) };
                for pipe in [stdout, stderr] {
                    let _ = self.pipes.collect(pipe);
                }
            }
            self.processes.forget(pid);
        }
    }

    /// A guest that is gone holds nothing: neither its own standard streams nor those of processes that it started.
    fn let_go(&mut self, node: NodeId) {
        let now = self.clock.now();
        for handle in self.node_mut(node).table.clear() {
            self.close_handle(&handle);
        }
        self.node_mut(node).preview1.clear();
        self.disown(node);
        if let Some(ProcessNode { pid, stdin, stdout, stderr }) = self.node(node).process {
            self.pipes.close(stdin, PipeEnd::Read, now);
            // Its output ends when its end is seen, which may be later.
            let delay = self.processes.children.get(&pid).map_or(Duration::default(), |child| child.delay);
            for output in [stdout, stderr] {
                self.pipes.close(output, PipeEnd::Write, now.after(delay));
            }
        }
    }

    /// A handle that led to another process was dropped, with its guest or by it; other handles are left alone.
    pub fn close_handle(&mut self, handle: &crate::Handle) {
        use crate::table::{StreamSink, StreamSource};
        let now = self.clock.now();
        match handle {
            crate::Handle::Child(pid) => self.drop_child(*pid),
            crate::Handle::InputStream(StreamSource::Pipe(pipe)) => self.pipes.close(*pipe, PipeEnd::Read, now),
            crate::Handle::OutputStream(StreamSink::Pipe(pipe)) => self.pipes.close(*pipe, PipeEnd::Write, now),
            _ => {}
        }
    }

    /// The handle of a process was dropped: streams that were not taken close, and it continues.
    fn drop_child(&mut self, pid: Pid) {
        let now = self.clock.now();
        let ends = [
            (StandardStream::Stdin, PipeEnd::Write),
            (StandardStream::Stdout, PipeEnd::Read),
            (StandardStream::Stderr, PipeEnd::Read),
        ];
        for (stream, end) in ends {
            if let Some(pipe) = self.take_stream(pid, stream) {
                self.pipes.close(pipe, end, now);
            }
        }
        if let Some(child) = self.processes.children.get_mut(&pid) {
            child.watched = false;
            self.processes.forget(pid);
        }
    }

    /// The result of a process that was started as a whole and is over; it is forgotten.
    ///
    /// # Errors
    /// When it did not run, or wrote more than can be held.
    ///
    /// # Panics
    /// When it was started otherwise, or still runs.
    pub fn take_output(&mut self, pid: Pid) -> Result<ProcessOutput, ProcessError> {
        let now = self.clock.now();
        let child = self.processes.children.remove(&pid).expect("it was started as a whole");
        let (at, ending) = child.end.expect("it is over");
        assert!(at <= now, "it is over");
        let (stdout, stderr) = match child.streams {
            StandardStreams::Whole { stdout, stderr } => (Some(stdout.to_vec()), Some(stderr.to_vec())),
            StandardStreams::Collectors { stdout, stderr } => (self.pipes.collect(stdout), self.pipes.collect(stderr)),
            StandardStreams::Pipes { .. } => unreachable!("it was started as a whole"),
        };
        let ending = ending?;
        let (Some(stdout), Some(stderr)) = (stdout, stderr) else { return Err(ProcessError::OutputTooLarge) };
        Ok(ProcessOutput { ending, stdout, stderr })
    }
}
