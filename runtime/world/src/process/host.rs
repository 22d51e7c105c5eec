//! Processes of the real computer: run once, as a whole, when their input is complete.
//!
//! ```text
//! start ──▶ pending ──input complete──▶ asked ──▶ answer ──▶ its output and its end, after a virtual latency
//! ```
//!
//! The input is complete when the parent has dropped its stream, waits for the process or for its output without having
//! taken the stream, or ends: then its end of the pipe closes, and the process continues without it.
//!
//! Invariant: a process is asked for once at the most; one that was killed before is never run.

use super::child::{ChildKind, ChildProcess, StandardStreams};
use super::start::cut;
use super::{Pid, ProcessCommand, ProcessEnd, ProcessError, SIGNAL_KILL, StandardStream, StdioMode};
use crate::latency_model::{PROCESSES, arrival};
use crate::pipe::{PipeId, PipeLimitError};
use crate::{OpContext, PipeEnd, Wait, World};
use fozzy_trace::observation::AnswerTime;
use fozzy_trace::plan::ProcessExit;
use fozzy_trace::{Instant, NodeId};
use std::sync::Arc;

/// Who asks for the latency of answers.
const SITE: &str = "fozzy:process/run";

/// How a process of the real computer went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostProcessResult {
    /// How it ended.
    pub exit: ProcessExit,
    /// Whether its deadline ended it.
    pub deadline_passed: bool,
    /// To standard output.
    pub stdout: Arc<[u8]>,
    /// To standard error.
    pub stderr: Arc<[u8]>,
}

impl World {
    /// A process that is to be run later.
    pub(super) fn promise_host(
        &mut self,
        mut command: ProcessCommand,
        mode: StdioMode,
        mut child: ChildProcess,
    ) -> Result<Pid, ProcessError> {
        if mode == StdioMode::Streaming {
            let given = std::mem::take(&mut command.stdin);
            let stdin = self.pipes.collector(given).map_err(|PipeLimitError| too_much())?;
            let pipes = [stdin, self.pipes.promise(), self.pipes.promise()];
            child.streams = StandardStreams::Pipes { pipes, taken: [false; 3] };
        }
        child.kind = ChildKind::Host(Some(Box::new(command)));
        let pid = self.processes.add(child);
        self.processes.pending.insert(pid);
        Ok(pid)
    }

    /// The process of the real computer, not run yet, that `wait` waits for, if its input is complete by that:
    /// the stream was not taken.
    #[must_use]
    #[inline]
    pub fn awaited_host(&self, wait: Wait) -> Option<Pid> {
        // Asked at each wait of each program, and mostly there is no such process.
        if self.processes.pending.is_empty() { None } else { self.pending_host(wait) }
    }

    fn pending_host(&self, wait: Wait) -> Option<Pid> {
        self.processes.pending.iter().copied().find(|pid| match &self.processes.children[pid].streams {
            StandardStreams::Pipes { pipes: [_, stdout, stderr], taken } => {
                let outputs = [*stdout, *stderr].map(|pipe| Wait::Pipe(pipe, PipeEnd::Read));
                !taken[StandardStream::Stdin as usize] && (wait == Wait::Process(*pid) || outputs.contains(&wait))
            }
            StandardStreams::Whole { .. } | StandardStreams::Collectors { .. } => wait == Wait::Process(*pid),
        })
    }

    /// The processes of the real computer that the guest of `node` started and that were not run yet, in their order.
    #[must_use]
    pub fn unrun_hosts(&self, node: NodeId) -> Vec<Pid> {
        let started = |pid: &Pid| self.processes.children[pid].parent == node;
        self.processes.pending.iter().copied().filter(started).collect()
    }

    /// The process of the real computer, not run yet, whose input goes through `pipe`. When that closes, its input
    /// is complete.
    #[must_use]
    pub fn host_reading(&self, pipe: PipeId) -> Option<Pid> {
        let reads = |pid: &Pid| matches!(self.processes.children[pid].streams, StandardStreams::Pipes { pipes, .. } if pipes[0] == pipe);
        self.processes.pending.iter().copied().find(reads)
    }

    /// What the real computer is to run for `pid`, whose input is complete; `None` when it was asked before or will
    /// never be run.
    pub fn host_command(&mut self, pid: Pid) -> Option<ProcessCommand> {
        if !self.processes.pending.remove(&pid) {
            return None;
        }
        let now = self.clock.now();
        self.close_untaken_stdin(pid);
        let child = self.processes.children.get_mut(&pid).expect("what is pending is there");
        let ChildKind::Host(command) = &mut child.kind else { unreachable!("only these are pending") };
        let mut command = command.take().expect("it is asked for once");
        if let StandardStreams::Pipes { pipes: [stdin, ..], .. } = child.streams {
            match self.pipes.collect(stdin) {
                Some(bytes) => command.stdin = bytes,
                None => {
                    child.end = Some((now, Err(too_much())));
                    child.close_streams(&mut self.pipes, now);
                    self.processes.forget(pid);
                    return None;
                }
            }
        }
        Some(*command)
    }

    /// The real computer has answered for `pid`: the guest sees it after a virtual latency, at its deadline at the
    /// latest. A process that ran there in time has not missed its deadline here.
    pub fn host_answered(
        &mut self,
        pid: Pid,
        answer: Result<HostProcessResult, ProcessError>,
        took: Option<AnswerTime>,
        context: &mut OpContext<'_>,
    ) {
        let bytes = answer.as_ref().map_or(0, |captured| (captured.stdout.len() + captured.stderr.len()) as u64);
        let latency = took.map_or_else(|| arrival(context, PROCESSES, SITE, bytes), |took| took.whole);
        let Some(child) = self.processes.children.get_mut(&pid) else { return };
        let arrives = context.now.after(latency);
        let at = arrives.after(child.delay).min(child.deadline).max(context.now);
        let captured = match answer {
            Ok(captured) => captured,
            Err(error) => {
                child.end = Some((at, Err(error)));
                child.close_streams(&mut self.pipes, at);
                self.processes.forget(pid);
                return;
            }
        };
        let missed = captured.deadline_passed || context.now.after(child.delay) > child.deadline;
        let (at, ending) = match missed && child.deadline < Instant::NEVER {
            true => {
                let ending = ProcessEnd { exit: ProcessExit::Signal(SIGNAL_KILL), deadline_passed: true };
                (child.deadline.max(context.now), ending)
            }
            false => (at, ProcessEnd { exit: child.injected.unwrap_or(captured.exit), deadline_passed: false }),
        };
        child.end = Some((at, Ok(ending)));
        let (stdout, stderr) = (cut(captured.stdout, child.stdout_max), captured.stderr);
        match &mut child.streams {
            StandardStreams::Pipes { pipes: [_, to_stdout, to_stderr], .. } => {
                self.pipes.fill(*to_stdout, stdout, at);
                self.pipes.fill(*to_stderr, stderr, at);
            }
            streams => *streams = StandardStreams::Whole { stdout, stderr },
        }
        child.close_streams(&mut self.pipes, at);
        self.processes.forget(pid);
    }
}

fn too_much() -> ProcessError {
    ProcessError::Other("its input is larger than what can be held".to_owned())
}
