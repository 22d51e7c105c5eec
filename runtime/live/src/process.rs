//! Real processes: each from its start to its end, with everything it wrote.
//!
//! ```text
//! { git, [rev-parse, HEAD], env, cwd, stdin } ──▶ spawn in a group of its own ──▶ exit 0, stdout "9c41…\n"
//!                                                  └─ deadline, or too much output ──▶ the whole group is killed
//! ```
//!
//! A command without a slash is looked for in the directories that the caller gave; one with a slash is a path,
//! relative to the working directory of the child. The child's environment is the ask's, and nothing else.
//!
//! Invariants: no process of the group outlives its answer and none stays a zombie; the group is signalled only
//! while its leader is not yet reaped, so that the number cannot have become another's; a child gets none of the
//! files that we opened, an empty signal mask and a SIGPIPE that kills (the standard library sees to all three).
//! Not here: files that Fozzy itself was started with (its caller passes them on to all below it on purpose, as a
//! build's job server); a process that leaves its group on purpose (`setsid`), which no supervisor can follow
//! without rights of its own.

use crate::deadline::{Deadline, timespec};
use crate::secrets::Secrets;
use fozzy_trace::observation::{ProcessFailure, ProcessRequest, ProcessResponse};
use fozzy_trace::plan::{Inputs, LivePolicy, ProcessExit};
use fozzy_world::live_bounds::allows_command;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

/// Bytes of standard output, and as many of standard error, that are kept. One more kills the group, and the
/// answer is `output-too-large`: half an output would look like a whole one.
pub const PROCESS_OUTPUT_BYTES_MAX: usize = 16 << 20;
/// How long a process without a deadline may run, and the longest deadline. Then its group is killed, as at any
/// deadline.
pub const PROCESS_TIME_MAX: Duration = Duration::from_secs(600);
/// How long the output is waited for after the process itself has ended: another process may hold it, which is
/// then killed.
pub const PROCESS_LINGER_MAX: Duration = Duration::from_secs(1);
/// How long the end of the output is waited for after the group was killed: only a process that left the group can
/// still hold it.
const DRAIN_MAX: Duration = Duration::from_millis(200);
/// Longest pause between two looks at whether the process has ended; the output, which nearly always tells the
/// end, is waited for without a pause.
const LOOK_PAUSE_MAX: Duration = Duration::from_millis(10);
/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// See the module.
pub(crate) struct ProcessBackend {
    /// The root, without links in its path.
    root: PathBuf,
    path: Vec<PathBuf>,
    bounds: Bounds,
    policy: LivePolicy,
    /// Whether commands that may be run are given secrets.
    is_trusted: bool,
}

/// The constants above, except in tests.
#[derive(Clone, Copy)]
struct Bounds {
    output: usize,
    time: Duration,
    linger: Duration,
}

impl ProcessBackend {
    /// Processes that start in `root`, by commands in the directories of `path` that `policy` allows.
    ///
    /// # Errors
    /// What the operating system says of the root.
    pub(crate) fn new(root: &Path, mut path: Vec<PathBuf>, policy: &LivePolicy) -> io::Result<ProcessBackend> {
        let root = root.canonicalize()?;
        if !root.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        // A relative directory would mean another one in each working directory.
        path.retain(|directory| directory.is_absolute());
        let bounds = Bounds { output: PROCESS_OUTPUT_BYTES_MAX, time: PROCESS_TIME_MAX, linger: PROCESS_LINGER_MAX };
        // Any command could tell them to any host.
        let is_trusted = policy.commands.is_some() || policy.hosts.is_none();
        Ok(ProcessBackend { root, path, bounds, policy: policy.clone(), is_trusted })
    }

    /// Runs one.
    ///
    /// # Errors
    /// One sentence, when the ask names bytes that are not there, or the process cannot be watched.
    pub(crate) fn answer(
        &self,
        ask: &ProcessRequest,
        secrets: &Secrets,
        bytes: &mut Inputs,
    ) -> Result<Result<ProcessResponse, ProcessFailure>, String> {
        let stdin = bytes.get(&ask.stdin).ok_or("the standard input of a live process is not among the inputs")?;
        let mut command = match self.command(ask, secrets) {
            Ok(command) => command,
            Err(failure) => return Ok(Err(failure)),
        };
        let child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Ok(Err(failure(&error))),
        };
        let time = ask.deadline.map_or(self.bounds.time, |time| Duration::from_nanos(time.0).min(self.bounds.time));
        let group = Group(Some(child));
        let run = group.run(&secrets.revealing(self.is_trusted).bytes(&stdin), Deadline::after(time), self.bounds);
        Ok(match run.map_err(|error| format!("a live process could not be watched: {error}"))? {
            Run::TooLarge => Err(ProcessFailure::OutputTooLarge),
            Run::Ended { exit, deadline_passed, stdout, stderr } => {
                let stdout = bytes.add(secrets.hide(&stdout).into_owned());
                let stderr = bytes.add(secrets.hide(&stderr).into_owned());
                Ok(ProcessResponse { exit, deadline_passed, stdout, stderr })
            }
        })
    }

    fn command(&self, ask: &ProcessRequest, secrets: &Secrets) -> Result<Command, ProcessFailure> {
        // The world has asked the same.
        if !allows_command(&self.policy, &ask.command, ask.cwd.as_deref()) {
            return Err(ProcessFailure::NotPermitted);
        }
        let directory = self.directory(ask.cwd.as_deref())?;
        let mut command = Command::new(self.find(&ask.command, &directory)?);
        command.arg0(&ask.command).current_dir(directory).env_clear();
        let secrets = secrets.revealing(self.is_trusted);
        command.args(ask.args.iter().map(|arg| secrets.text(arg)));
        // In the list that the operating system is given, such a name would be another variable's.
        if ask.env.iter().any(|(name, _)| name.is_empty() || name.contains('=')) {
            return Err(ProcessFailure::Other);
        }
        command.envs(ask.env.iter().map(|(name, value)| (name, secrets.text(value))));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        Ok(command)
    }

    /// The working directory, which is in the root.
    fn directory(&self, relative: Option<&str>) -> Result<PathBuf, ProcessFailure> {
        let path = self.root.join(relative.unwrap_or(""));
        let path = path.canonicalize().map_err(|error| failure(&error))?;
        let inside = path.starts_with(&self.root) && !relative.is_some_and(|path| path.starts_with('/'));
        if inside && path.is_dir() { Ok(path) } else { Err(ProcessFailure::NotPermitted) }
    }

    /// The file that `command` means.
    fn find(&self, command: &str, directory: &Path) -> Result<PathBuf, ProcessFailure> {
        if command.is_empty() {
            return Err(ProcessFailure::NotFound);
        }
        if command.contains('/') {
            return Ok(directory.join(command));
        }
        let mut found = Err(ProcessFailure::NotFound);
        for place in &self.path {
            let file = place.join(command);
            if file.is_file() {
                if rustix::fs::access(&file, rustix::fs::Access::EXEC_OK).is_ok() {
                    return Ok(file);
                }
                // Like a shell: a file that may not be run is reported only if no later one may.
                found = Err(ProcessFailure::NotPermitted);
            }
        }
        found
    }
}

fn failure(error: &io::Error) -> ProcessFailure {
    match error.kind() {
        io::ErrorKind::NotFound => ProcessFailure::NotFound,
        io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory => ProcessFailure::NotPermitted,
        _ => ProcessFailure::Other,
    }
}

/// How it went.
enum Run {
    Ended { exit: ProcessExit, deadline_passed: bool, stdout: Vec<u8>, stderr: Vec<u8> },
    TooLarge,
}

/// A child and the group that it leads, killed when this is dropped.
struct Group(Option<Child>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            kill(child);
            // It was just killed; its exit status is not needed.
            drop(child.wait());
        }
    }
}

/// Kills the group of a child that is not reaped yet.
fn kill(child: &Child) {
    // The group may be empty already.
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
}

/// Whether the child has ended, without reaping it.
fn has_ended(child: &Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(Pid::from_child(child)), options)?.is_some())
}

impl Group {
    fn run(mut self, stdin: &[u8], deadline: Deadline, bounds: Bounds) -> io::Result<Run> {
        let child = self.0.as_mut().expect("a group begins with its leader");
        let mut input = Input { pipe: child.stdin.take(), rest: stdin };
        let mut stdout = Output { pipe: child.stdout.take(), bytes: Vec::new(), max: bounds.output };
        let mut stderr = Output { pipe: child.stderr.take(), bytes: Vec::new(), max: bounds.output };
        input.unblock()?;
        stdout.unblock()?;
        stderr.unblock()?;
        // How long is waited: until the deadline, then until the output ends.
        let (mut until, mut ended, mut killed, mut deadline_passed) = (deadline, false, false, false);
        let mut pause = Duration::from_millis(1);
        loop {
            if !ended && has_ended(child)? {
                ended = true;
                until = until.or_earlier(Deadline::after(bounds.linger));
                input.pipe = None;
            }
            let open = stdout.pipe.is_some() || stderr.pipe.is_some();
            if ended && !open {
                break;
            }
            let Some(left) = until.left() else {
                if killed {
                    break;
                }
                deadline_passed = !ended;
                kill(child);
                (killed, until) = (true, Deadline::after(DRAIN_MAX));
                continue;
            };
            let wait = if ended { left } else { left.min(pause) };
            if !exchange(&mut input, &mut stdout, &mut stderr, wait)? {
                pause = (pause * 2).min(LOOK_PAUSE_MAX);
            }
            if stdout.bytes.len() > bounds.output || stderr.bytes.len() > bounds.output {
                return Ok(Run::TooLarge);
            }
        }
        kill(child);
        let status = child.wait()?;
        self.0 = None;
        let exit = match (status.code(), status.signal()) {
            (Some(code), _) => ProcessExit::Code(code),
            (None, signal) => ProcessExit::Signal(signal.unwrap_or(0)),
        };
        Ok(Run::Ended { exit, deadline_passed, stdout: stdout.bytes, stderr: stderr.bytes })
    }
}

/// Waits until one of the pipes can do something, and lets all that can. Whether any could.
fn exchange(
    input: &mut Input<'_>,
    stdout: &mut Output<std::process::ChildStdout>,
    stderr: &mut Output<std::process::ChildStderr>,
    wait: Duration,
) -> io::Result<bool> {
    let mut pipes = Vec::new();
    pipes.extend(input.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
    pipes.extend(stdout.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    pipes.extend(stderr.pipe.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
    match poll(&mut pipes, Some(&timespec(wait))) {
        Ok(0) => return Ok(false),
        Ok(_) | Err(rustix::io::Errno::INTR) => {}
        Err(error) => return Err(error.into()),
    }
    input.write()?;
    stdout.read()?;
    stderr.read()?;
    Ok(true)
}

/// The pipe to the child's standard input, until all is written or the child closes it.
struct Input<'a> {
    pipe: Option<ChildStdin>,
    rest: &'a [u8],
}

impl Input<'_> {
    fn unblock(&mut self) -> io::Result<()> {
        match &self.pipe {
            Some(_) if self.rest.is_empty() => self.pipe = None,
            Some(pipe) => rustix::io::ioctl_fionbio(pipe, true)?,
            None => {}
        }
        Ok(())
    }

    fn write(&mut self) -> io::Result<()> {
        let Some(pipe) = &mut self.pipe else { return Ok(()) };
        match pipe.write(self.rest) {
            Ok(count) => self.rest = &self.rest[count..],
            Err(error) if is_later(&error) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.rest = &[],
            Err(error) => return Err(error),
        }
        if self.rest.is_empty() {
            self.pipe = None;
        }
        Ok(())
    }
}

/// The pipe from one of the child's outputs, until its end.
struct Output<P> {
    pipe: Option<P>,
    bytes: Vec<u8>,
    max: usize,
}

impl<P: Read + AsFd> Output<P> {
    fn unblock(&mut self) -> io::Result<()> {
        self.pipe.as_ref().map_or(Ok(()), |pipe| Ok(rustix::io::ioctl_fionbio(pipe, true)?))
    }

    /// Reads what is there, and at the most one piece more than is kept.
    fn read(&mut self) -> io::Result<()> {
        let mut buffer = vec![0; READ_BYTES];
        while let Some(pipe) = &mut self.pipe {
            match pipe.read(&mut buffer) {
                Ok(0) => self.pipe = None,
                Ok(count) => self.bytes.extend_from_slice(&buffer[..count]),
                Err(error) if is_later(&error) => break,
                Err(error) => return Err(error),
            }
            if self.bytes.len() > self.max {
                break;
            }
        }
        Ok(())
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests;
