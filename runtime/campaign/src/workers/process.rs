//! One worker process, and the thread that reads what it reports.
//!
//! Invariants: a process that is dropped is killed and reaped; what it writes is read in bounded pieces, and through a
//! bounded queue, so that a worker that writes without end waits for the supervisor and not for memory.

use super::channel::STOP_LINE;
use super::frame::{Frame, read_frame};
use super::{EVENT_BYTES_MAX, ROLE_VARIABLE, WorkerEvent, WorkerProtocol, WorkerRole};
use std::io::{self, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::SyncSender;

/// What one of the processes has written.
pub(super) struct ProcessMessage<P: WorkerProtocol> {
    pub(super) stream: u32,
    pub(super) content: ProcessContent<P>,
}

pub(super) enum ProcessContent<P: WorkerProtocol> {
    Event(WorkerEvent<P>),
    /// A line that is no event.
    Stray(String),
    /// Its standard output is closed.
    Closed,
}

/// A running worker.
pub(super) struct WorkerProcess {
    child: Child,
    /// Closed when the supervisor dies, whatever it dies of.
    stdin: Option<ChildStdin>,
    exit: Option<ExitStatus>,
}

/// This program with the arguments that it was started with: a worker is the same command once more.
///
/// # Errors
/// When the program cannot be found.
pub fn own_command() -> io::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1));
    Ok(command)
}

impl WorkerProcess {
    /// Starts `command` as a worker that reports to `queue`.
    pub(super) fn spawn<P: WorkerProtocol>(
        mut command: Command,
        role: &WorkerRole,
        queue: SyncSender<ProcessMessage<P>>,
    ) -> io::Result<WorkerProcess> {
        command.env(ROLE_VARIABLE, serde_json::to_string(role)?);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let process = WorkerProcess { child, stdin, exit: None };
        let stream = role.stream;
        let lines = BufReader::new(stdout.ok_or_else(|| io::Error::other("standard output is no pipe"))?);
        let reader = std::thread::Builder::new().name(format!("worker {stream}"));
        reader.spawn(move || forward(lines, stream, &queue))?;
        Ok(process)
    }

    /// Asks it to come to its end.
    pub(super) fn stop(&mut self) {
        if let Some(stdin) = &mut self.stdin {
            // It may have ended meanwhile.
            let _ = stdin.write_all(STOP_LINE).and_then(|()| stdin.flush());
        }
    }

    /// How it ended, once it has.
    pub(super) fn exit(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.exit.is_none() {
            self.exit = self.child.try_wait()?;
        }
        Ok(self.exit)
    }

    /// Ends it at once.
    pub(super) fn kill(&mut self) {
        // It may have ended meanwhile.
        let _ = self.child.kill();
    }
}

impl Drop for WorkerProcess {
    fn drop(&mut self) {
        if self.exit.is_none() {
            self.kill();
            let _ = self.child.wait();
        }
    }
}

/// Sends on what it writes, until it is closed or its reader is gone.
fn forward<P: WorkerProtocol>(mut lines: impl io::BufRead, stream: u32, queue: &SyncSender<ProcessMessage<P>>) {
    while let Ok(Some(frame)) = read_frame(&mut lines, EVENT_BYTES_MAX) {
        let content = match frame {
            Frame::Line(line) => match serde_json::from_slice(&line) {
                Ok(event) => ProcessContent::Event(event),
                Err(_) => ProcessContent::Stray(String::from_utf8_lossy(&line).into_owned()),
            },
            Frame::Oversized(beginning) => {
                let beginning = String::from_utf8_lossy(&beginning).into_owned();
                ProcessContent::Stray(format!("{beginning}… (more than {EVENT_BYTES_MAX} bytes)"))
            }
        };
        if queue.send(ProcessMessage { stream, content }).is_err() {
            return;
        }
    }
    let _ = queue.send(ProcessMessage { stream, content: ProcessContent::Closed });
}

/// Whether a signal of another process ended it.
#[cfg(unix)]
pub(super) fn was_killed(status: ExitStatus) -> bool {
    std::os::unix::process::ExitStatusExt::signal(&status).is_some()
}

#[cfg(not(unix))]
pub(super) fn was_killed(_: ExitStatus) -> bool {
    false
}
