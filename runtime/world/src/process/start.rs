//! What happens when a guest starts a command.

use super::child::{ChildKind, ChildProcess, StandardStreams};
use super::{ARGUMENT_BYTES_MAX, Pid, ProcessCommand, ProcessError, ProcessNode, SIGNAL_MAX};
use crate::fault::{PROCESS_DELAY, PROCESS_EXIT, PROCESS_NOT_FOUND, PROCESS_SIGNAL, PROCESS_TRUNCATE};
use crate::pipe::{PipeEnd, PipeLimitError};
use crate::{GuestEntry, OpContext, World, WorldError, live_bounds, unmatched};
use fozzy_trace::plan::{Backend, ProcessExit, ProcessReply, ProgramPlan};
use fozzy_trace::{Digest, Duration, Instant, NodeId};
use std::sync::Arc;

/// Processes that are there at once; one more is refused. Machines have a tighter bound of their own.
pub const PROCESSES_MAX: usize = 10_000;

/// How the parent deals with the standard streams of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StdioMode {
    /// It writes and reads them while the process runs.
    Streaming,
    /// It gives the input at the start and gets the output at the end.
    Whole,
}

/// What faults do to a process.
#[derive(Default)]
struct ProcessFaults {
    delay: Duration,
    exit: Option<ProcessExit>,
    stdout_max: Option<u64>,
}

impl ProcessFaults {
    /// Each kind is asked in a fixed order; a signal comes before a code.
    fn ask(context: &mut OpContext<'_>, targets: &[&str]) -> ProcessFaults {
        let delay = Duration(context.strikes_any(&PROCESS_DELAY, targets).unwrap_or(0));
        let code = context.strikes_any(&PROCESS_EXIT, targets);
        let signal = context.strikes_any(&PROCESS_SIGNAL, targets);
        let number = |strength: u64| i32::try_from(strength).unwrap_or(i32::MAX);
        let signal = signal.map(|signal| ProcessExit::Signal(number(signal).clamp(1, SIGNAL_MAX)));
        let exit = signal.or(code.map(|code| ProcessExit::Code(number(code))));
        ProcessFaults { delay, exit, stdout_max: context.strikes_any(&PROCESS_TRUNCATE, targets) }
    }
}

impl World {
    /// Starts `command` for the guest of the moment's machine. Without a rule, on the plan's backend `host`, it
    /// waits to be run there: see [`World::host_command`].
    ///
    /// # Errors
    /// When there is no such command, it is refused, or a bound is reached.
    pub fn start_process(
        &mut self,
        command: ProcessCommand,
        mode: StdioMode,
        context: &mut OpContext<'_>,
    ) -> Result<Pid, ProcessError> {
        let argument_bytes = command.argument_bytes();
        if argument_bytes > ARGUMENT_BYTES_MAX {
            let why = format!("{argument_bytes} bytes of arguments and environment, {ARGUMENT_BYTES_MAX} are possible");
            return Err(ProcessError::Other(why));
        }
        if self.processes.children.len() >= PROCESSES_MAX || self.processes.last == u32::MAX {
            return Err(ProcessError::TooMany);
        }
        let line = command.line();
        let targets: &[&str] = if command.args.is_empty() { &[&line] } else { &[&command.command, &line] };
        if context.strikes_any(&PROCESS_NOT_FOUND, targets).is_some() {
            return Err(ProcessError::NotFound);
        }
        let rule = self.processes.rules.answer(&command);
        let span = command.deadline.map(|span| self.own_span(span, context));
        let deadline = span.map_or(Instant::NEVER, |span| context.now.after(span));
        let Some(rule) = rule else {
            if self.plan.backends.processes == Backend::Host {
                if !live_bounds::allows_command(&self.plan.live, &command.command, command.cwd.as_deref()) {
                    self.unmatched.add(unmatched::forbidden_command(&command));
                    return Err(ProcessError::NotPermitted);
                }
                let injected = ProcessFaults::ask(context, targets);
                return self.promise_host(
                    command,
                    mode,
                    ChildProcess::new(context.node, Duration::default(), deadline, injected),
                );
            }
            self.unmatched.add(unmatched::command(&command));
            return Err(ProcessError::NotFound);
        };
        let (answer, delay) = context.reply((&rule.answer, rule.delay), rule.others.as_deref(), "scripted process");
        match answer {
            ProcessReply::NotFound => Err(ProcessError::NotFound),
            ProcessReply::NotPermitted => Err(ProcessError::NotPermitted),
            ProcessReply::Output { exit, stdout, stderr } => {
                let child = ChildProcess::new(context.node, delay, deadline, ProcessFaults::ask(context, targets));
                let (stdout, stderr) = (self.input(stdout)?, self.input(stderr)?);
                Ok(self.start_scripted(mode, child, *exit, stdout, stderr, context.now))
            }
            ProcessReply::Component(program) => {
                let child = ChildProcess::new(context.node, delay, deadline, ProcessFaults::ask(context, targets));
                self.start_component(command, mode, child, program)
            }
        }
    }

    fn input(&self, digest: &Digest) -> Result<Arc<[u8]>, ProcessError> {
        let found = self.inputs.get(digest);
        found.ok_or_else(|| ProcessError::Other(WorldError::MissingInput(*digest).to_string()))
    }

    /// Its output is there at once, its end after the delay.
    fn start_scripted(
        &mut self,
        mode: StdioMode,
        mut child: ChildProcess,
        exit: ProcessExit,
        stdout: Arc<[u8]>,
        stderr: Arc<[u8]>,
        now: Instant,
    ) -> Pid {
        let (at, ending) = child.own_end(now, exit);
        child.end = Some((at, Ok(ending)));
        let stdout = cut(stdout, child.stdout_max);
        child.streams = match mode {
            StdioMode::Whole => StandardStreams::Whole { stdout, stderr },
            StdioMode::Streaming => {
                let pipes = [self.pipes.sink(at), self.pipes.tape(stdout, at), self.pipes.tape(stderr, at)];
                StandardStreams::Pipes { pipes, taken: [false; 3] }
            }
        };
        self.processes.add(child)
    }

    /// A machine of its own, whose standard streams are pipes to the parent.
    fn start_component(
        &mut self,
        command: ProcessCommand,
        mode: StdioMode,
        mut child: ChildProcess,
        program: &ProgramPlan,
    ) -> Result<Pid, ProcessError> {
        let pid = Pid(self.processes.last + 1);
        let mut program = program.clone();
        let name = format!("{}-{pid}", host_name(&command.command));
        program.machine.args = std::iter::once(command.command).chain(command.args).collect();
        // What the guest says comes over what the plan says.
        program.machine.env.retain(|(name, _)| command.env.iter().all(|(given, _)| given != name));
        program.machine.env.extend(command.env);
        let too_much =
            |PipeLimitError| ProcessError::Other("too many bytes wait for processes to read them".to_owned());
        let stdin = match mode {
            StdioMode::Whole => self.pipes.given(command.stdin),
            StdioMode::Streaming => self.pipes.buffer(command.stdin),
        };
        let stdin = stdin.map_err(too_much)?;
        let node = match self.launch(name, &program, GuestEntry::Run) {
            Ok(node) => node,
            Err(error) => {
                self.pipes.close(stdin, PipeEnd::Read, Instant::START);
                self.pipes.close(stdin, PipeEnd::Write, Instant::START);
                return Err(match error {
                    WorldError::TooManyNodes => ProcessError::TooMany,
                    error => ProcessError::Other(error.to_string()),
                });
            }
        };
        let mut output = || match mode {
            StdioMode::Whole => self.pipes.collector(Vec::new()).expect("nothing fits always"),
            StdioMode::Streaming => self.pipes.buffer(Vec::new()).expect("nothing fits always"),
        };
        let (stdout, stderr) = (output(), output());
        child.streams = match mode {
            StdioMode::Whole => StandardStreams::Collectors { stdout, stderr },
            StdioMode::Streaming => StandardStreams::Pipes { pipes: [stdin, stdout, stderr], taken: [false; 3] },
        };
        if let Some(bytes) = child.stdout_max {
            self.pipes.cut(stdout, bytes);
        }
        child.kind = ChildKind::Component(node);
        let deadline = child.deadline;
        let started = self.processes.add(child);
        assert_eq!(started, pid, "numbers are given one by one");
        if deadline < Instant::NEVER {
            self.processes.deadlines.insert((deadline, pid));
        }
        self.node_mut(node).process = Some(ProcessNode { pid, stdin, stdout, stderr });
        Ok(pid)
    }
}

impl super::Processes {
    pub(super) fn add(&mut self, child: ChildProcess) -> Pid {
        self.last += 1;
        let pid = Pid(self.last);
        self.children.insert(pid, child);
        pid
    }
}

impl ChildProcess {
    fn new(parent: NodeId, delay: Duration, deadline: Instant, injected: ProcessFaults) -> ChildProcess {
        ChildProcess {
            kind: ChildKind::Scripted,
            streams: StandardStreams::Whole { stdout: Arc::from([]), stderr: Arc::from([]) },
            deadline,
            delay: Duration(delay.0.saturating_add(injected.delay.0)),
            injected: injected.exit,
            stdout_max: injected.stdout_max,
            end: None,
            watched: true,
            parent,
        }
    }
}

/// The first bytes, at most `max`: those that arrive.
pub(super) fn cut(bytes: Arc<[u8]>, max: Option<u64>) -> Arc<[u8]> {
    match max {
        Some(max) if max < bytes.len() as u64 => Arc::from(&bytes[..max as usize]),
        _ => bytes,
    }
}

/// A host name after a command, `/usr/bin/my_tool` being `my-tool`: letters, digits and hyphens, at most 40.
fn host_name(command: &str) -> String {
    let stem = command.rsplit('/').next().unwrap_or("");
    let name: String =
        stem.chars().take(40).map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' }).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "process".to_owned() } else { name.to_owned() }
}
