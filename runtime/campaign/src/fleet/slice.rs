//! One slice of a fleet's time: one command of ours on one target, as a process.
//!
//! ```text
//! fozzy fuzz app.wasm parse --json --time 10s --seed 81…      corpus and findings: where that command always keeps them
//! fozzy explore bank.wasm --json --time 10s --resume=… --save-state …
//!   └─ its document, its CPU time, or why there is none
//! ```
//!
//! A process, so that a target that crashes or hangs its worker takes its slice with it, and nothing else.
//!
//! Invariants: a slice ends: by itself, or asked to by a signal, or killed; it does not outlive the fleet by more than its time.
//! Not here: whose turn it is, and what becomes of what was found.

use super::LEASE_RENEWAL;
use super::discovery::FleetTarget;
use super::slice_log::{LoggedWords, SliceLog};
use crate::error::{CampaignError, ErrorKind};
use crate::options::StopFlag;
use crate::wall_clock::{Stopwatch, pause};
use fozzy_report::RunSummary;
use fozzy_report::document::ErrorDocument;
use fozzy_report::fleet::FOUND_WITHOUT_REPORT;
use fozzy_trace::Seed;
use std::ffi::OsString;
use std::io::{ErrorKind as IoErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Between two looks at a slice.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Real time that a slice may take beyond its own: compiling a large program on a busy machine, and making findings smaller.
const START_MAX: Duration = Duration::from_secs(180);
/// Real time from being asked to end to being killed.
const STOP_MAX: Duration = Duration::from_secs(15);
/// Bytes of a document that are read.
const DOCUMENT_BYTES_MAX: usize = 256 << 20;
/// Real time for which the next part of it, and all of it, is waited for once its process has ended: one that was started by that may hold
/// the pipe open.
const PART_WAIT: Duration = Duration::from_secs(2);
const PARTS_WAIT: Duration = Duration::from_secs(10);
/// The exit code of a command that has found a failure.
const EXIT_FAILURE: i32 = 1;
/// Ticks of `/proc/PID/stat` in a second, on every system that has it.
const TICKS_PER_S: f64 = 100.0;
/// The environment variable that has a command end with the process that started it.
const PARENT_VARIABLE: &str = "FOZZY_FLEET";

/// One slice to be run.
pub(super) struct SliceRequest<'a> {
    pub(super) program: &'a Path,
    pub(super) globals: &'a [OsString],
    pub(super) target: &'a FleetTarget,
    pub(super) time: Duration,
    pub(super) seed: Seed,
    /// Worker processes of the slice.
    pub(super) workers: u32,
    /// The state of an exploration, from one slice to the next.
    pub(super) state: PathBuf,
    /// Where its standard error is kept.
    pub(super) log: PathBuf,
    pub(super) stop: StopFlag,
    /// Says that the target is still worked on; whether it may be.
    pub(super) renew: &'a dyn Fn() -> bool,
}

/// What it came to.
pub(super) struct SliceResult {
    pub(super) outcome: SliceOutcome,
    /// The traces of failures that it has found, of one without a report; they may be gone.
    pub(super) traces: Vec<PathBuf>,
    pub(super) cpu: Duration,
    /// Real time that was not the slice's own: building, compiling, replaying.
    pub(super) overhead: Duration,
}

pub(super) enum SliceOutcome {
    Ran(Box<RunSummary>),
    /// It has no document, and why, for people.
    Trouble(String),
    /// It was asked to end before it had begun.
    Stopped,
}

/// Ends this process when the fleet that started it is gone; nothing where none has.
#[allow(clippy::disallowed_methods, reason = "written by our own fleet; no execution sees it")]
pub fn end_with_fleet() {
    if std::env::var_os(PARENT_VARIABLE).is_some() {
        #[cfg(target_os = "linux")]
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::INT));
    }
}

impl SliceRequest<'_> {
    /// Runs it to its end.
    ///
    /// # Errors
    /// When no process can be started.
    pub(super) fn run(&self) -> Result<SliceResult, CampaignError> {
        let resumes = self.is_exploration() && self.state.is_file();
        let result = self.attempt(resumes)?;
        let is_refused = matches!(&result.outcome, SliceOutcome::Trouble(why) if why.starts_with(STATE_WORD));
        if !(resumes && is_refused) {
            return Ok(result);
        }
        // It is the state of another program, or is damaged: the exploration begins anew.
        let _ = std::fs::remove_file(&self.state);
        self.attempt(false)
    }

    fn is_exploration(&self) -> bool {
        self.target.words().first().is_some_and(|word| word == "explore")
    }

    fn attempt(&self, resumes: bool) -> Result<SliceResult, CampaignError> {
        let failed = |error: std::io::Error| {
            CampaignError::new(ErrorKind::Harness, format!("cannot run a slice of {}: {error}", self.target.name))
        };
        let mut command = Command::new(self.program);
        command.args(self.target.words()).arg("--json").args(self.globals);
        command.args(["--time", &format!("{}ms", self.time.as_millis().max(1))]);
        command.args(["--seed", &self.seed.0.to_string()]);
        let flag = if self.is_exploration() { "--workers" } else { "--jobs" };
        command.args([flag, &self.workers.to_string()]);
        if self.is_exploration() {
            command.arg("--save-state").arg(&self.state);
            command.args(resumes.then(|| format!("--resume={}", self.state.display())));
        }
        // Not to a file: what it has found would be lost with a disk that is full.
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        // On a disk that is full, say, there is none.
        let mut log = SliceLog::create(&self.log).ok();
        command.stderr(log.as_ref().map_or_else(Stdio::null, SliceLog::output));
        // Marks for people that stand in no document.
        command.env_remove("GITHUB_ACTIONS").env(PARENT_VARIABLE, "1");
        let watch = Stopwatch::start();
        let mut child = command.spawn().map_err(failed)?;
        let parts = child.stdout.take().map_or_else(|| Err(std::io::Error::from(IoErrorKind::BrokenPipe)), parts_of);
        if parts.is_err() {
            let _ = child.kill();
            let _ = child.wait();
        }
        let parts = parts.map_err(failed)?;
        let (status, cpu) = self.follow(&mut child, &watch, log.as_mut()).map_err(failed)?;
        let LoggedWords { has_found, mut traces, last } = log.map(SliceLog::close).unwrap_or_default();
        let overhead = watch.elapsed().saturating_sub(self.time);
        let outcome = self.outcome(&joined(&parts), status, watch.elapsed(), (has_found, &last));
        if !matches!(outcome, SliceOutcome::Trouble(_)) {
            traces.clear();
        }
        Ok(SliceResult { outcome, traces, cpu: cpu.unwrap_or_else(|| watch.elapsed()), overhead })
    }

    /// Waits for its end, and asks for it when that is due. The CPU time is that of the last look, and unknown where there is no `/proc`.
    fn follow(
        &self,
        child: &mut Child,
        watch: &Stopwatch,
        mut log: Option<&mut SliceLog>,
    ) -> std::io::Result<(Option<ExitStatus>, Option<Duration>)> {
        let limit = self.time * 2 + START_MAX;
        let (mut asked, mut cpu, mut renewed) = (None::<Duration>, None, Duration::ZERO);
        loop {
            cpu = cpu_time(child.id()).or(cpu);
            log.iter_mut().for_each(|log| log.look());
            if let Some(status) = child.try_wait()? {
                return Ok((Some(status), cpu));
            }
            let now = watch.elapsed();
            let is_due = now.saturating_sub(renewed) >= LEASE_RENEWAL;
            renewed = if is_due { now } else { renewed };
            if asked.is_none() && ((self.stop)() || now > limit || is_due && !(self.renew)()) {
                asked = Some(now);
                interrupt(child);
            }
            if asked.is_some_and(|asked| now - asked > STOP_MAX) {
                let _ = child.kill();
                child.wait()?;
                return Ok((None, cpu));
            }
            pause(LOOK_EVERY);
        }
    }

    /// What it came to, by its document, how it ended, and what it has said: whether it has found a failure, and its last lines.
    fn outcome(
        &self,
        text: &str,
        status: Option<ExitStatus>,
        took: Duration,
        (has_found, said): (bool, &str),
    ) -> SliceOutcome {
        if let Ok(summary) = serde_json::from_str::<RunSummary>(text) {
            return SliceOutcome::Ran(Box::new(summary));
        }
        let has_found = has_found || status.is_some_and(|status| status.code() == Some(EXIT_FAILURE));
        if (self.stop)() && !has_found {
            return SliceOutcome::Stopped;
        }
        let found = if has_found { format!("{FOUND_WITHOUT_REPORT}: ") } else { String::new() };
        if let Ok(error) = serde_json::from_str::<ErrorDocument>(text) {
            let is_state = matches!(error.code.as_str(), "state" | "identity");
            let word = if is_state { STATE_WORD } else { found.as_str() };
            // What a compiler says is no part of the error.
            let said = if error.code == ErrorKind::Build.word() { said } else { "" };
            return SliceOutcome::Trouble(self.with_said(format!("{word}{}", error.message), said));
        }
        let why = match status {
            None => format!("it did not end within {} seconds, and was killed", took.as_secs()),
            Some(status) => format!("its process ended without a report ({status})"),
        };
        SliceOutcome::Trouble(self.with_said(format!("{found}{why}"), said))
    }

    /// A reason with the last lines of its standard error, if there are any.
    fn with_said(&self, why: String, said: &str) -> String {
        match said {
            "" => why,
            said => format!("{why}\n{said}\nmore of this: {}", self.log.display()),
        }
    }
}

/// Reads what a process writes while it runs, up to [`DOCUMENT_BYTES_MAX`]; of what is beyond that, it is rid.
fn parts_of(mut out: impl Read + Send + 'static) -> std::io::Result<Receiver<Vec<u8>>> {
    let (parts, read) = channel();
    let reader = std::thread::Builder::new().name("slice".to_owned());
    reader.spawn(move || {
        let (mut part, mut left) = (vec![0; 64 << 10], DOCUMENT_BYTES_MAX);
        loop {
            match out.read(&mut part) {
                Ok(0) => return,
                Ok(length) => {
                    let taken = length.min(left);
                    left -= taken;
                    // Nobody waits for what comes after its end.
                    let _ = parts.send(part[..taken].to_vec());
                }
                Err(error) if error.kind() == IoErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
    })?;
    Ok(read)
}

/// The text of all parts, once the process has ended; empty when it is none.
fn joined(parts: &Receiver<Vec<u8>>) -> String {
    let (watch, mut bytes) = (Stopwatch::start(), Vec::new());
    while let Ok(part) = parts.recv_timeout(PART_WAIT) {
        bytes.extend(part);
        if watch.elapsed() > PARTS_WAIT {
            break;
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// Before an error that is about the saved state of an exploration.
const STATE_WORD: &str = "the saved exploration: ";

/// Asks a process to come to its end.
fn interrupt(child: &mut Child) {
    #[cfg(unix)]
    {
        // It may have ended meanwhile.
        let _ = rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::INT);
    }
    #[cfg(not(unix))]
    {
        let _ = child.kill();
    }
}

/// CPU time of a process and of those of its children that have ended.
fn cpu_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program is in brackets, and may have any signs.
    let rest = stat.rsplit_once(')')?.1;
    let ticks: u64 = rest.split_whitespace().skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    Some(Duration::from_secs_f64(ticks as f64 / TICKS_PER_S))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fleet::discovery::FleetTargetKind;
    use std::sync::Arc;

    const RENEWED: &dyn Fn() -> bool = &|| true;

    fn request<'a>(target: &'a FleetTarget, folder: &Path, is_stopped: bool) -> SliceRequest<'a> {
        SliceRequest {
            // A shell, which takes `explore` for the name of a script that is not there.
            program: Path::new("sh"),
            globals: &[],
            target,
            time: Duration::from_secs(1),
            seed: Seed(1),
            workers: 1,
            state: folder.join("state.json"),
            log: folder.join("fleet-logs/app-1.log"),
            stop: Arc::new(move || is_stopped),
            renew: RENEWED,
        }
    }

    #[test]
    fn a_document_is_read_whole_and_not_waited_for_where_another_process_holds_its_pipe() {
        let text = "a part, ".repeat(20_000);
        let parts = parts_of(std::io::Cursor::new(text.clone().into_bytes())).expect("a thread");
        assert!(joined(&parts) == text);
        let (held, parts) = channel();
        held.send(b"a document".to_vec()).expect("it is read");
        assert_eq!(joined(&parts), "a document");
        drop(held);
    }

    #[cfg(unix)]
    #[test]
    fn a_slice_that_has_found_a_failure_says_so_without_a_report_also_when_it_was_stopped() {
        use std::os::unix::process::ExitStatusExt;
        let folder = tempfile::tempdir().expect("a folder");
        let target = FleetTarget::app(FleetTargetKind::Explore);
        let ended = |text: &str, code: i32, has_found, is_stopped| {
            let (request, status) = (request(&target, folder.path(), is_stopped), ExitStatus::from_raw(code << 8));
            match request.outcome(text, Some(status), Duration::from_secs(1), (has_found, "found trap")) {
                SliceOutcome::Trouble(why) => Some(why.starts_with(FOUND_WITHOUT_REPORT)),
                SliceOutcome::Ran(_) | SliceOutcome::Stopped => None,
            }
        };
        assert_eq!(ended("", 2, true, false), Some(true));
        assert_eq!(ended("", EXIT_FAILURE, false, false), Some(true));
        assert_eq!(ended("", 2, false, false), Some(false));
        assert_eq!([ended("", 2, true, true), ended("", 2, false, true)], [Some(true), None]);
        let error = CampaignError::new(ErrorKind::Store, "cannot write a").document();
        let error = serde_json::to_string(&error).expect("our own types are JSON");
        assert_eq!([ended(&error, 2, true, false), ended(&error, 2, false, false)], [Some(true), Some(false)]);
    }

    #[test]
    fn a_slice_that_ends_without_a_report_says_what_its_process_has_said_last() {
        let folder = tempfile::tempdir().expect("a folder");
        let target = FleetTarget::app(FleetTargetKind::Explore);
        let request = request(&target, folder.path(), false);
        let log = request.log.clone();
        let SliceOutcome::Trouble(why) = request.run().expect("a process").outcome else {
            panic!("no report is there")
        };
        let lines: Vec<&str> = why.lines().collect();
        assert!(lines.len() >= 3 && lines[0].starts_with("its process ended without a report (exit status"), "{why}");
        assert!(lines[1].contains("explore") && why.ends_with(&format!("more of this: {}", log.display())), "{why}");
        assert!(std::fs::read_to_string(&log).expect("a log").contains("explore"));
    }
}
