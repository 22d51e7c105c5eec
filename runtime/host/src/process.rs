//! `fozzy:process/run`: commands of a guest, and the processes that they become.
//!
//! ```text
//! run, spawn ─▶ World::start_process ─┬─ scripted, component     pipes, and an end in virtual time
//!                                     └─ real computer           observed once its input is complete
//! ```
//!
//! Invariant: the real computer is asked through [`Run::observe`](crate::Run) only, so each answer is recorded
//! before the guest sees it.
//! Not here: rules, ends and pipes (`fozzy-world`), streams of a child (`streams`).

use crate::bindings::fozzy::process::run;
use crate::bindings::{ChildResource, InputStreamResource, OutputStreamResource, PollableResource};
use crate::call::{CallProgress, GuestStop, Host, Import, misuse};
use crate::record::WordRecord;
use fozzy_trace::observation::{BackendRequest, BackendResponse, ProcessRequest};
use fozzy_trace::plan::{ProcessExit, REDACTED};
use fozzy_trace::{Duration, Record, RunningDigest};
use fozzy_world::process::{self, HostProcessResult, Pid, ProcessError, SIGNAL_MAX, StandardStream, StdioMode};
use fozzy_world::table::{Handle, StreamSink as Output, StreamSource as Input};
use fozzy_world::{PipeId, TableError, Wait};
use wasmtime::Result;
use wasmtime::component::Resource;

const RUN: Import = Import::new("fozzy:process/run.run");
const SPAWN: Import = Import::new("fozzy:process/run.spawn");
const ID: Import = Import::new("fozzy:process/run.child.id");
const STDIN: Import = Import::new("fozzy:process/run.child.stdin");
const STDOUT: Import = Import::new("fozzy:process/run.child.stdout");
const STDERR: Import = Import::new("fozzy:process/run.child.stderr");
const SUBSCRIBE: Import = Import::new("fozzy:process/run.child.subscribe");
const WAIT: Import = Import::new("fozzy:process/run.child.wait");
const POLL: Import = Import::new("fozzy:process/run.child.poll");
const KILL: Import = Import::new("fozzy:process/run.child.kill");
const DROP_CHILD: Import = Import::new("fozzy:process/run.child.drop");

type RunResult = std::result::Result<run::Ending, run::Error>;
type OutputResult = std::result::Result<run::Output, run::Error>;

impl Host {
    fn child(&self, import: Import, rep: u32) -> std::result::Result<Pid, GuestStop> {
        match self.node().table.get(rep) {
            Ok(Handle::Child(pid)) => Ok(*pid),
            _ => Err(misuse(import)(TableError::WrongHandle)),
        }
    }

    fn start(&mut self, command: run::Command, mode: StdioMode) -> std::result::Result<Pid, run::Error> {
        let run::Command { command, args, env, cwd, stdin, deadline } = command;
        let command = process::ProcessCommand { command, args, env, cwd, stdin, deadline: deadline.map(Duration) };
        self.with_context(|world, context| world.start_process(command, mode, context)).map_err(error)
    }

    /// How the process ended, if it has.
    fn ending(&mut self, pid: Pid) -> std::result::Result<Option<RunResult>, GuestStop> {
        if !self.is_ready(Wait::Process(pid))? {
            return Ok(None);
        }
        let world = self.world();
        let ended = world.processes.ending(pid, world.clock.now()).expect("what is ready has ended");
        Ok(Some(ended.map(ending).map_err(error)))
    }

    /// Runs the process of the real computer that `wait` waits for, if it is time to.
    pub(crate) fn run_if_awaited(&mut self, wait: Wait) -> std::result::Result<(), GuestStop> {
        match self.world().awaited_host(wait) {
            Some(pid) => self.run_on_host(pid),
            None => Ok(()),
        }
    }

    /// The writer of `pipe` closes it: the process of the real computer that reads it can be run.
    pub(crate) fn close_pipe(&mut self, handle: &Handle, pipe: PipeId) -> std::result::Result<(), GuestStop> {
        let reader = self.world().host_reading(pipe);
        self.world().close_handle(handle);
        match reader {
            Some(pid) => self.run_on_host(pid),
            None => Ok(()),
        }
    }

    /// The guest has ended as `outcome` says. If it was not stopped, its processes of the real computer that still wait
    /// for input get the end of their input, and run; a guest that was stopped asks nothing more of the real computer. What it has said by
    /// the SDK of Antithesis and not ended is taken then.
    pub fn ended<T>(&mut self, outcome: Result<T>) -> Result<T> {
        let stopped = match &outcome {
            Ok(_) => false,
            Err(error) => {
                error.downcast_ref() == Some(&wasmtime::Trap::OutOfFuel)
                    || error.downcast_ref::<GuestStop>().is_some_and(|stop| !stop.is_own())
            }
        };
        if !stopped {
            let node = self.node;
            for pid in self.world().unrun_hosts(node) {
                self.run_on_host(pid).map_err(wasmtime::Error::new)?;
            }
        }
        let (exits, was_killed) = match &outcome {
            Ok(_) => (true, false),
            Err(error) => match error.downcast_ref::<GuestStop>() {
                Some(GuestStop::Exit { .. }) => (true, false),
                Some(GuestStop::Killed { up_after: None }) => (false, true),
                _ => (false, false),
            },
        };
        if exits || was_killed {
            self.end_sdk_output(was_killed).map_err(wasmtime::Error::new)?;
        }
        outcome
    }

    fn run_on_host(&mut self, pid: Pid) -> std::result::Result<(), GuestStop> {
        let Some(command) = self.world().host_command(pid) else { return Ok(()) };
        let process::ProcessCommand { command, args, env, cwd, stdin, deadline } = command;
        let stdin = self.run.keep(&stdin);
        let ask = BackendRequest::Process(ProcessRequest { command, args, env, cwd, stdin, deadline });
        let (answer, took) = self.run.observe(&ask)?;
        let answer = match answer {
            BackendResponse::Process(Ok(answer)) => Ok(HostProcessResult {
                exit: answer.exit,
                deadline_passed: answer.deadline_passed,
                stdout: self.run.kept(answer.stdout)?,
                stderr: self.run.kept(answer.stderr)?,
            }),
            BackendResponse::Process(Err(failure)) => Err(failure.into()),
            BackendResponse::File(_) | BackendResponse::Http(_) => unreachable!("`observe` checks the kind"),
        };
        self.with_context(|world, context| world.host_answered(pid, answer, took, context));
        Ok(())
    }

    /// Hands a standard stream of a process to its parent, once.
    fn take_stream<T>(
        &mut self,
        import: Import,
        handle: &Resource<ChildResource>,
        stream: StandardStream,
        opened: impl FnOnce(PipeId) -> Handle,
    ) -> Result<Option<Resource<T>>> {
        let rep = handle.rep();
        let taken = self.call(import, rep, |host| {
            let pid = host.child(import, rep)?;
            let Some(pipe) = host.world().take_stream(pid, stream) else { return Ok(None) };
            host.node_mut().table.insert(opened(pipe)).map(Some).map_err(misuse(import))
        })?;
        Ok(taken.map(Resource::new_own))
    }
}

impl run::Host for Host {
    async fn run(&mut self, command: run::Command) -> Result<OutputResult> {
        let asked = RecordedCommand::new(&command, &self.run.world.plan.redact.env);
        let mut command = Some(command);
        let mut started = None;
        self.call_waiting(RUN, asked, |host| {
            if let Some(command) = command.take() {
                match host.start(command, StdioMode::Whole) {
                    Ok(pid) => started = Some(pid),
                    Err(error) => return Ok(CallProgress::Done(Err(error))),
                }
            }
            let pid = started.expect("it was started at the first attempt");
            if !host.is_ready(Wait::Process(pid))? {
                return Ok(CallProgress::Wait(vec![Wait::Process(pid)]));
            }
            let output = host.world().take_output(pid).map_err(error);
            Ok(CallProgress::Done(output.map(|process::ProcessOutput { ending, stdout, stderr }| {
                let run::Ending { status, deadline_passed } = self::ending(ending);
                run::Output { status, deadline_passed, stdout, stderr }
            })))
        })
        .await
    }

    fn spawn(&mut self, command: run::Command) -> Result<std::result::Result<Resource<ChildResource>, run::Error>> {
        let asked = RecordedCommand::new(&command, &self.run.world.plan.redact.env);
        let started = self.call(SPAWN, asked, |host| match host.start(command, StdioMode::Streaming) {
            Ok(pid) => host.node_mut().table.insert(Handle::Child(pid)).map(Ok).map_err(misuse(SPAWN)),
            Err(error) => Ok(Err(error)),
        })?;
        Ok(started.map(Resource::new_own))
    }
}

impl run::HostChild for Host {
    fn id(&mut self, this: Resource<ChildResource>) -> Result<u32> {
        self.call(ID, this.rep(), |host| Ok(host.child(ID, this.rep())?.0))
    }

    fn stdin(&mut self, this: Resource<ChildResource>) -> Result<Option<Resource<OutputStreamResource>>> {
        self.take_stream(STDIN, &this, StandardStream::Stdin, |pipe| Handle::OutputStream(Output::Pipe(pipe)))
    }

    fn stdout(&mut self, this: Resource<ChildResource>) -> Result<Option<Resource<InputStreamResource>>> {
        self.take_stream(STDOUT, &this, StandardStream::Stdout, |pipe| Handle::InputStream(Input::Pipe(pipe)))
    }

    fn stderr(&mut self, this: Resource<ChildResource>) -> Result<Option<Resource<InputStreamResource>>> {
        self.take_stream(STDERR, &this, StandardStream::Stderr, |pipe| Handle::InputStream(Input::Pipe(pipe)))
    }

    fn subscribe(&mut self, this: Resource<ChildResource>) -> Result<Resource<PollableResource>> {
        let rep = self.call(SUBSCRIBE, this.rep(), |host| {
            let pid = host.child(SUBSCRIBE, this.rep())?;
            host.node_mut().table.insert(Handle::Pollable(Wait::Process(pid))).map_err(misuse(SUBSCRIBE))
        })?;
        Ok(Resource::new_own(rep))
    }

    async fn wait(&mut self, this: Resource<ChildResource>) -> Result<RunResult> {
        let rep = this.rep();
        self.call_waiting(WAIT, rep, |host| {
            let pid = host.child(WAIT, rep)?;
            // The real computer's is run at the first look, with its input complete.
            let ended = host.ending(pid)?;
            host.world().close_untaken_stdin(pid);
            Ok(match ended {
                Some(ended) => CallProgress::Done(ended),
                None => CallProgress::Wait(vec![Wait::Process(pid)]),
            })
        })
        .await
    }

    fn poll(&mut self, this: Resource<ChildResource>) -> Result<Option<RunResult>> {
        self.call(POLL, this.rep(), |host| {
            // A loop that asks again and again whether it has ended must come to an end.
            host.world().clock.tick();
            let pid = host.child(POLL, this.rep())?;
            host.ending(pid)
        })
    }

    fn kill(&mut self, this: Resource<ChildResource>, signal: i32) -> Result<std::result::Result<(), run::Error>> {
        self.call(KILL, (this.rep(), i64::from(signal)), |host| {
            let pid = host.child(KILL, this.rep())?;
            if !(0..=SIGNAL_MAX).contains(&signal) {
                return Ok(Err(run::Error::Other(format!("there is no signal {signal}"))));
            }
            host.world().kill(pid, signal);
            Ok(Ok(()))
        })
    }

    fn drop(&mut self, this: Resource<ChildResource>) -> Result<()> {
        self.call(DROP_CHILD, this.rep(), |host| {
            let pid = host.child(DROP_CHILD, this.rep())?;
            // Nothing more is written to it: the process of the real computer is run now.
            host.run_if_awaited(Wait::Process(pid))?;
            let handle = host.node_mut().table.remove(this.rep()).map_err(misuse(DROP_CHILD))?;
            host.world().close_handle(&handle);
            Ok(())
        })
    }
}

fn ending(ending: process::ProcessEnd) -> run::Ending {
    let status = match ending.exit {
        ProcessExit::Code(code) => run::ExitStatus::Code(code),
        ProcessExit::Signal(signal) => run::ExitStatus::Signal(signal),
    };
    run::Ending { status, deadline_passed: ending.deadline_passed }
}

fn error(error: ProcessError) -> run::Error {
    match error {
        ProcessError::NotFound => run::Error::NotFound,
        ProcessError::NotPermitted => run::Error::NotPermitted,
        ProcessError::OutputTooLarge => run::Error::OutputTooLarge,
        ProcessError::TooMany => run::Error::TooManyProcesses,
        ProcessError::Other(why) => run::Error::Other(why),
    }
}

/// An environment as it may stand in a trace.
pub(crate) fn redacted(env: &[(String, String)], secret: &[String]) -> Vec<(String, String)> {
    let shown = env.iter().map(|(name, value)| match secret.contains(name) {
        true => (name.clone(), format!("{REDACTED}{name}>")),
        false => (name.clone(), value.clone()),
    });
    shown.collect()
}

/// A command as it stands in the history: secret values of its environment do not.
struct RecordedCommand {
    words: Vec<String>,
    env: Vec<(String, String)>,
    rest: (Option<String>, Option<u64>),
    stdin: Vec<u8>,
}

impl RecordedCommand {
    fn new(command: &run::Command, secret: &[String]) -> RecordedCommand {
        RecordedCommand {
            words: std::iter::once(&command.command).chain(&command.args).cloned().collect(),
            env: redacted(&command.env, secret),
            rest: (command.cwd.clone(), command.deadline),
            stdin: command.stdin.clone(),
        }
    }
}

impl Record for RecordedCommand {
    fn fold(&self, fold: &mut RunningDigest) {
        self.words.fold(fold);
        self.env.fold(fold);
        self.rest.fold(fold);
        self.stdin.fold(fold);
    }
    fn show(&self, out: &mut String) {
        self.words.show(out);
        if !self.env.is_empty() {
            out.push_str(", env ");
            self.env.show(out);
        }
        if let (_, Some(deadline)) = self.rest {
            out.push_str(&format!(", deadline {}", Duration(deadline)));
        }
        if !self.stdin.is_empty() {
            out.push_str(", stdin ");
            self.stdin.show(out);
        }
    }
    fn payload_bytes(&self) -> u64 {
        self.words.payload_bytes() + self.env.payload_bytes() + self.stdin.payload_bytes()
    }
}

impl Record for run::Output {
    fn fold(&self, fold: &mut RunningDigest) {
        WordRecord((self.status, self.deadline_passed)).fold(fold);
        self.stdout.fold(fold);
        self.stderr.fold(fold);
    }
    fn show(&self, out: &mut String) {
        WordRecord(self.status).show(out);
        for bytes in [&self.stdout, &self.stderr] {
            out.push_str(", ");
            bytes.show(out);
        }
    }
    fn payload_bytes(&self) -> u64 {
        self.stdout.payload_bytes() + self.stderr.payload_bytes()
    }
}
