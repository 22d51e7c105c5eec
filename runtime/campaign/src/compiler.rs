//! The process that compiles: this command once more, with bounds of CPU time and memory.
//!
//! ```text
//! FOZZY_COMPILER={"fuel":true,…}   standard input: the instrumented component   ─▶ code in the cache, exit code 0
//!                                  standard output: why it was refused              exit code 1
//! bound of CPU time                SIGXCPU            bound of memory   abort
//! ```
//!
//! Invariants: the bounds follow from the size of the component alone, and are set by the process itself before it reads a
//! byte of it; they are so wide that programs of toolchains stay far below on a slow machine. A program that is refused here was
//! not executed, and has no verdict.

use fozzy_engine::{Cache, CompileFailure, CompileJob, IsolatedCompiler};
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The environment variable that makes a process one that compiles: a [`Request`] as JSON.
const VARIABLE: &str = "FOZZY_COMPILER";
/// With `off`, the command compiles by itself and without bounds.
const LIMITS_VARIABLE: &str = "FOZZY_COMPILE_LIMITS";
/// CPU time for any program, in seconds: a hundred times that of a small one.
const CPU_SECONDS_MIN: u64 = 3;
/// CPU time for each MiB, in seconds: ten times that of code without optimisation.
const CPU_SECONDS_PER_MIB: u64 = 16;
/// Memory for any program.
const MEMORY_BYTES_MIN: u64 = 320 << 20;
/// Memory for each byte: several times that of code without optimisation.
const MEMORY_BYTES_PER_BYTE: u64 = 1024;
/// Bytes of the words of a refusal.
const WORDS_BYTES_MAX: u64 = 64 << 10;
/// Ended by its bound of CPU time; the kernel's number on every Linux that wasmtime compiles for.
const SIGXCPU: i32 = 24;
/// Ended because memory could not be had: what the standard library does then.
const SIGABRT: i32 = 6;
/// Ended because CPU time went past the hard bound, or by a kernel without memory.
const SIGKILL: i32 = 9;

/// What the process is to do.
#[derive(Serialize, Deserialize)]
struct Request {
    job: CompileJob,
    bounds: Bounds,
}

/// Bounds of one process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Bounds {
    cpu_seconds: u64,
    memory_bytes: u64,
}

impl Bounds {
    /// For a component of that size.
    fn of(bytes: u64) -> Bounds {
        Bounds {
            cpu_seconds: CPU_SECONDS_MIN + (CPU_SECONDS_PER_MIB * bytes).div_ceil(1 << 20),
            memory_bytes: MEMORY_BYTES_MIN + MEMORY_BYTES_PER_BYTE * bytes,
        }
    }

    fn set(self) -> io::Result<()> {
        let limit = |resource, current, more| {
            setrlimit(resource, Rlimit { current: Some(current), maximum: Some(current + more) })
        };
        limit(Resource::Cpu, self.cpu_seconds, 1)?;
        limit(Resource::Data, self.memory_bytes, 0)?;
        // What ends at a bound is nobody's bug.
        limit(Resource::Core, 0, 0)?;
        Ok(())
    }
}

/// Whether programs are compiled in processes of their own.
static ISOLATES: AtomicBool = AtomicBool::new(false);

/// From here on, programs are compiled in processes of their own: this program must be the `fozzy` command.
pub fn isolate() {
    ISOLATES.store(true, Ordering::SeqCst);
}

/// The cache for a command: what is missing in it is compiled apart.
pub(crate) fn isolated(cache: Cache) -> Option<Cache> {
    Some(match ISOLATES.load(Ordering::SeqCst) && !is_off() {
        true => cache.compiled_by(Arc::new(OwnProcess)),
        false => cache,
    })
}

#[allow(clippy::disallowed_methods, reason = "a setting of the tool; it cannot change what a program does")]
fn is_off() -> bool {
    std::env::var_os(LIMITS_VARIABLE).is_some_and(|value| value == "off")
}

/// A cache that lasts as long as this process, for a command that has no other to take code from: its compiler hands it
/// over there.
pub(crate) fn temporary_cache() -> Option<Cache> {
    if !ISOLATES.load(Ordering::SeqCst) || is_off() {
        return None;
    }
    let mut folder = TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner);
    if folder.is_none() {
        *folder = tempfile::Builder::new().prefix("fozzy-code").tempdir().ok();
    }
    Cache::open(folder.as_ref()?.path()).ok()
}

/// The folder of [`temporary_cache`].
static TEMPORARY: Mutex<Option<tempfile::TempDir>> = Mutex::new(None);

/// Removes what was kept for this process alone, at its end.
pub fn clean() {
    drop(TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// This program as a process that compiles.
#[derive(Debug)]
struct OwnProcess;

impl IsolatedCompiler for OwnProcess {
    fn compile(&self, job: &CompileJob, component: &[u8]) -> Result<(), CompileFailure> {
        let bounds = Bounds::of(component.len() as u64);
        let ended = run(job, bounds, component);
        let (status, words) = ended.map_err(|error| CompileFailure::Unavailable(error.to_string()))?;
        match (status.code(), status.signal()) {
            (Some(0), _) => Ok(()),
            (Some(1), _) => Err(CompileFailure::Refused(words)),
            (_, Some(SIGXCPU | SIGKILL)) => Err(bound(format!("{} s of CPU time", bounds.cpu_seconds))),
            (_, Some(SIGABRT)) => Err(bound(format!("{} MiB of memory", bounds.memory_bytes >> 20))),
            _ => Err(CompileFailure::Crashed(status.to_string())),
        }
    }
}

fn bound(what: String) -> CompileFailure {
    CompileFailure::Bound(format!("{what} ({LIMITS_VARIABLE}=off compiles it without bounds)"))
}

/// Starts the process, passes the component on, and returns how it ended and what it wrote.
fn run(job: &CompileJob, bounds: Bounds, component: &[u8]) -> io::Result<(ExitStatus, String)> {
    let request = serde_json::to_string(&Request { job: job.clone(), bounds })?;
    let mut command = Command::new(std::env::current_exe()?);
    command.env(VARIABLE, request).env_remove(crate::workers::ROLE_VARIABLE);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A process that has ended says itself of what.
        let _ = stdin.write_all(component);
    }
    let mut words = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(WORDS_BYTES_MAX).read_to_end(&mut words)?;
    }
    Ok((child.wait()?, String::from_utf8_lossy(&words).into_owned()))
}

/// Whether this process was started to compile.
#[allow(clippy::disallowed_methods, reason = "written by this command itself; no execution sees it")]
#[must_use]
pub fn is_this_process() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// Compiles what standard input holds; the exit code.
#[must_use]
pub fn serve() -> u8 {
    match compile() {
        Ok(()) => 0,
        Err(CompileFailure::Refused(words)) => answer(&words),
        Err(error) => answer(&error.to_string()),
    }
}

fn answer(words: &str) -> u8 {
    let _ = io::stdout().write_all(words.as_bytes());
    1
}

#[allow(clippy::disallowed_methods, reason = "written by this command itself; no execution sees it")]
fn compile() -> Result<(), CompileFailure> {
    let failed = |error: &dyn std::fmt::Display| CompileFailure::Unavailable(error.to_string());
    let request = std::env::var(VARIABLE).map_err(|error| failed(&error))?;
    let Request { job, bounds } = serde_json::from_str(&request).map_err(|error| failed(&error))?;
    bounds.set().map_err(|error| failed(&error))?;
    let mut component = Vec::new();
    io::stdin().lock().read_to_end(&mut component).map_err(|error| failed(&error))?;
    fozzy_engine::run_job(&job, &component)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_grow_with_the_program_alone() {
        assert_eq!(Bounds::of(0), Bounds { cpu_seconds: 3, memory_bytes: 320 << 20 });
        // What nine kilobytes become with their adapter stays within five seconds and five hundred megabytes.
        let small = Bounds::of(100 << 10);
        assert!(small.cpu_seconds <= 5 && small.memory_bytes <= 500_000_000, "{small:?}");
        assert_eq!(Bounds::of(10 << 20), Bounds { cpu_seconds: 163, memory_bytes: (320 + 10_240) << 20 });
    }
}
