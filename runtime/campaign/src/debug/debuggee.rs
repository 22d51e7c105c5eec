//! The process that executes a recording for a debugger.
//!
//! Invariants: it has one thread; it ends when its session is gone, also in the midst of a loop.

use super::fork::{end_with, fork, look_into_signals, outlast, reap_children};
use super::protocol::{DebuggeeSpec, DebuggerLink, EndReport, MachineState, Reply, Request};
use crate::error::CampaignError;
use crate::other_build::other_build_difference;
use crate::pipeline::PreparedProgram;
use crate::selector;
use fozzy_check::judge;
use fozzy_engine::{Build, DebugMoment, DebuggedRun, Debugger, Position, Resume};
use fozzy_search::{Branch, source_of};
use fozzy_trace::file::Recording;
use fozzy_trace::{DecisionSource, Seed};
use std::cell::RefCell;
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The environment variable that makes a process a debuggee: a [`DebuggeeSpec`] as JSON.
pub(super) const VARIABLE: &str = "FOZZY_DEBUGGEE";

/// The file beside the socket of a session that is locked for as long as that lives.
pub(super) const ALIVE: &str = "alive";

/// Whether this process is a debuggee.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "written by our own session; no execution sees it")]
pub fn is_debuggee() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Does what a debuggee is for, on this thread: what `main` calls before it starts another. Returns the exit code.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "written by our own session; no execution sees it")]
pub fn serve() -> u8 {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    let Ok(spec) = serde_json::from_str::<DebuggeeSpec>(&text) else { return 2 };
    let Ok(stream) = UnixStream::connect(&spec.socket) else { return 2 };
    reap_children();
    if look_into_signals().is_err() {
        return 2;
    }
    let mut server = Server { connection: DebuggerLink::new(stream), socket: spec.socket.clone() };
    server.send(&Reply::Hello(std::process::id()));
    let server = Rc::new(RefCell::new(server));
    match execute(&spec, &server) {
        Ok(end) => server.borrow_mut().after(&end),
        Err(error) => {
            server.borrow().stop_executing();
            server.borrow_mut().send(&Reply::Failed(error.message));
        }
    }
    0
}

fn execute(spec: &DebuggeeSpec, server: &Rc<RefCell<Server>>) -> Result<EndReport, CampaignError> {
    let recording = selector::read(&spec.trace)?;
    let prepared = PreparedProgram::built_of_recording(&recording, &Build::debug(spec.stores))?;
    let mut session = prepared.session()?;
    let source: Box<dyn DecisionSource> = match spec.branch {
        None => source_of(&recording),
        Some((at, seed)) => Box::new(Branch::new(&recording, at, Seed(seed))),
    };
    let first = Resume { until: Some(Position(0)), ..Resume::default() };
    let debuggee = Debuggee { server: Rc::clone(server), last: Resume::default() };
    server.borrow().begin_executing();
    let run = session.debug(source, 0..0, first, Box::new(debuggee))?;
    Ok(report(&recording, run, spec.branch.is_some()))
}

/// The end of a run; what is to be the recorded one is compared with it.
fn report(recording: &Recording, run: DebuggedRun, is_branch: bool) -> EndReport {
    let DebuggedRun { execution, end } = run;
    let verdict = judge(&execution);
    let (words, status) = (execution.end.words(), verdict.status);
    let (calls, decisions, time) = (execution.history.calls, execution.history.decisions, execution.ended_at);
    let difference = other_build_difference(recording, execution, verdict);
    let difference = difference.filter(|_| !is_branch);
    let difference = difference.map(|found| format!("{}: recorded {}, found {}", found.what, found.left, found.right));
    EndReport { position: end, words, status, difference, calls, decisions, time }
}

/// Its end of the connection.
struct Server {
    connection: DebuggerLink,
    socket: PathBuf,
}

impl Server {
    /// Copies this process. The copy goes on with a connection of its own.
    fn fork(&mut self) -> Result<(), String> {
        match fork() {
            Err(error) => Err(error.to_string()),
            Ok(false) => Ok(()),
            Ok(true) => {
                let Ok(stream) = UnixStream::connect(&self.socket) else { end(&self.socket) };
                self.connection = DebuggerLink::new(stream);
                if self.connection.send(&Reply::Hello(std::process::id())).is_err() {
                    end(&self.socket);
                }
                Err(String::new())
            }
        }
    }

    /// It executes from here on, for as long as its session is there.
    fn begin_executing(&self) {
        if !end_with(self.connection.stream()).unwrap_or(false) {
            end(&self.socket);
        }
    }

    /// It has stopped, and reads what its session says.
    fn stop_executing(&self) {
        if outlast(self.connection.stream()).is_err() {
            end(&self.socket);
        }
    }

    /// Sends a message, or ends with its session.
    fn send(&mut self, reply: &Reply) {
        if self.connection.send(reply).is_err() {
            end(&self.socket);
        }
    }

    fn receive(&mut self) -> Request {
        self.connection.receive().unwrap_or_else(|_| end(&self.socket))
    }

    /// What can be asked for when the run is over.
    fn after(&mut self, report: &EndReport) {
        self.stop_executing();
        self.send(&Reply::Ended(report.clone()));
        loop {
            let reply = match self.receive() {
                // A run without an instruction is over where its session begins, and keeps a copy of that.
                Request::Fork => match self.fork() {
                    Err(error) if error.is_empty() => continue,
                    forked => Reply::Forked(forked),
                },
                Request::Frames => Reply::Frames(Vec::new()),
                Request::Machines => Reply::Machines(Vec::new()),
                Request::Resume(_) | Request::ResumeUntil(_) => Reply::Ended(report.clone()),
                _ => Reply::Failed("the run is over".to_owned()),
            };
            self.send(&reply);
        }
    }
}

/// The connection is gone: nothing of this process is worth an orderly end. Where the session itself is, its folder goes too.
fn end(socket: &Path) -> ! {
    let alive = File::open(socket.with_file_name(ALIVE));
    if alive.is_ok_and(|alive| alive.try_lock().is_ok()) {
        let _ = std::fs::remove_file(socket);
        let _ = std::fs::remove_file(socket.with_file_name(ALIVE));
        let _ = socket.parent().map(std::fs::remove_dir);
    }
    std::process::exit(0)
}

/// A copy of the process has its own: whoever holds it has the present one.
struct Debuggee {
    server: Rc<RefCell<Server>>,
    /// How it went on last.
    last: Resume,
}

impl Debugger for Debuggee {
    fn stopped(&mut self, moment: &mut DebugMoment<'_>) -> Resume {
        let depth = moment.depth();
        let mut server = self.server.borrow_mut();
        server.stop_executing();
        server.send(&Reply::Stopped(moment.stop().clone(), depth));
        loop {
            let reply = match server.receive() {
                Request::Resume(resume) => {
                    server.begin_executing();
                    self.last.clone_from(&resume);
                    return resume;
                }
                Request::ResumeUntil(until) => {
                    server.begin_executing();
                    return Resume { until, ..self.last.clone() };
                }
                Request::Fork => match server.fork() {
                    // The copy has said that it is there.
                    Err(error) if error.is_empty() => continue,
                    forked => Reply::Forked(forked),
                },
                Request::Frames => Reply::Frames(moment.code()),
                Request::Locals(frame) => Reply::Values(moment.locals(frame)),
                Request::Operands(frame) => Reply::Values(moment.operands(frame)),
                Request::Global(frame, index) => Reply::Values(moment.global(frame, index).map(|value| vec![value])),
                Request::Memory(frame, memory, address, length) => {
                    Reply::Bytes(moment.memory(frame, memory, address, length))
                }
                Request::MemoryDigest(frame, memory) => Reply::Digest(moment.memory_digest(frame, memory)),
                Request::Machines => Reply::Machines(machines(moment)),
            };
            server.send(&reply);
        }
    }
}

fn machines(moment: &DebugMoment<'_>) -> Vec<MachineState> {
    let world = moment.world();
    let current = moment.stop().machine;
    let state = |node: &fozzy_world::Node| MachineState {
        number: node.id.0,
        name: node.name.clone(),
        waits_for: node.waiting.iter().map(|wait| world.present_wait_words(*wait)).collect(),
        has_ended: node.exit.is_some(),
        waits_in: moment.waits_in(node.id).filter(|_| node.id != current && node.exit.is_none()),
        began: moment.began(node.id),
    };
    world.nodes.iter().flatten().map(|node| state(node)).collect()
}
