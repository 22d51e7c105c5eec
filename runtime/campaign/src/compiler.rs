//! The process that compiles: this command once more, with bounds of CPU time and memory.
//!
//! ```text
//! FOZZY_COMPILER={"fuel":true,…}   standard input: the instrumented component   ─▶ code in the cache, exit code 0
//!                                  standard output: why it was refused              exit code 1
//!                                  standard output: why it could not be tried       exit code 2
//! bound of CPU time   SIGXCPU      bound of memory   abort      no memory left in the machine   SIGKILL
//! ```
//!
//! Invariants: the bounds follow from the size of the component, and from lower ones that the caller is under already; they are set
//! by the process itself before it reads a byte of the component, and are so wide that programs of toolchains stay far below on a
//! slow machine. Memory that the compiler's threads need does not grow with the machine. A program that is refused here was not
//! executed, and has no verdict.

use crate::remarks::Remarks;
use fozzy_engine::{Cache, CompileFailure, CompileJob, IsolatedCompiler};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::io::{self, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The environment variable that makes a process one that compiles: a [`Request`] as JSON.
const VARIABLE: &str = "FOZZY_COMPILER";
/// With `off`, the command compiles in its own process, without bounds.
const LIMITS_VARIABLE: &str = "FOZZY_COMPILE_LIMITS";
/// CPU time for any program, in seconds: a hundred times that of a small one.
const CPU_SECONDS_MIN: u64 = 3;
/// CPU time for each MiB, in seconds: ten times what code without optimisation needs. A command that is itself built for development
/// compiles several times slower: on a slow machine it needed 19.
const CPU_SECONDS_PER_MIB: u64 = if cfg!(debug_assertions) { 48 } else { 16 };
/// Memory for any program.
const MEMORY_BYTES_MIN: u64 = 320 << 20;
/// Memory for each byte: several times that of code without optimisation.
const MEMORY_BYTES_PER_BYTE: u64 = 1024;
/// Threads of the process: each has memory of its own, and machines have hundreds of cores.
const THREADS_MAX: usize = 8;
/// The environment variable by which the compiler's pool takes its number of threads.
const THREADS_VARIABLE: &str = "RAYON_NUM_THREADS";
/// Exit code of a process that has compiled.
const COMPILED: u8 = 0;
/// Exit code of a process whose compiler refused the program.
const REFUSED: u8 = 1;
/// Exit code of a process that could not try.
const UNAVAILABLE: u8 = 2;
/// Bytes of the words of a refusal.
const WORDS_BYTES_MAX: u64 = 64 << 10;
/// Ended by its bound of CPU time; the kernel's number on every Linux that wasmtime compiles for.
const SIGXCPU: i32 = 24;
/// Ended because memory could not be had: what the standard library does then.
const SIGABRT: i32 = 6;
/// Killed by a kernel without memory, or by a user: the bounds send other signals.
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

    /// Those that also hold under the limits which this process is under, and its children with it.
    fn within(self, cpu: &Rlimit, data: &Rlimit, space: &Rlimit) -> Bounds {
        // At the hard limit of CPU time the signal is another one, which says nothing of the reason.
        let hard_seconds = cpu.maximum.map(|seconds| seconds.saturating_sub(1));
        let seconds = [cpu.current, hard_seconds].into_iter().flatten().fold(self.cpu_seconds, u64::min);
        let limits = [data.current, data.maximum, space.current];
        Bounds {
            cpu_seconds: seconds.max(1),
            memory_bytes: limits.into_iter().flatten().fold(self.memory_bytes, u64::min),
        }
    }

    fn within_present(self) -> Bounds {
        self.within(&getrlimit(Resource::Cpu), &getrlimit(Resource::Data), &getrlimit(Resource::As))
    }

    fn set(self) -> io::Result<()> {
        let limit = |resource, current: u64, maximum: u64| {
            let hard = getrlimit(resource).maximum.map_or(maximum, |hard| hard.min(maximum));
            setrlimit(resource, Rlimit { current: Some(current.min(hard)), maximum: Some(hard) })
        };
        limit(Resource::Cpu, self.cpu_seconds, self.cpu_seconds + 1)?;
        limit(Resource::Data, self.memory_bytes, self.memory_bytes)?;
        // Reaching a bound is no bug.
        limit(Resource::Core, 0, 0)?;
        Ok(())
    }
}

/// Threads of the compiler on a machine with `cores` cores, where the environment asks for `asked`.
fn threads(cores: usize, asked: Option<&str>) -> usize {
    let asked = asked.and_then(|asked| asked.parse().ok()).filter(|asked| *asked > 0);
    asked.unwrap_or(cores).clamp(1, THREADS_MAX)
}

#[allow(clippy::disallowed_methods, reason = "how fast a program is compiled; it cannot change what the program does")]
fn threads_here() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    threads(cores, std::env::var(THREADS_VARIABLE).ok().as_deref())
}

/// Whether programs are compiled in processes of their own.
static ISOLATES: AtomicBool = AtomicBool::new(false);

/// Who shows on a terminal that a program is being compiled.
static LINE: OnceLock<fn(&str)> = OnceLock::new();

/// From here on, programs are compiled in processes of their own: this program must be the `fozzy` command. What takes long is shown
/// by `line`; a worker leaves that to its supervisor.
#[allow(clippy::disallowed_methods, reason = "what a person sees; no execution does")]
pub fn isolate(line: Option<fn(&str)>) {
    ISOLATES.store(true, Ordering::SeqCst);
    if std::env::var_os(crate::workers::ROLE_VARIABLE).is_none() {
        // Once in the life of a process.
        let _ = line.map(|line| LINE.set(line));
    }
}

/// The cache for a command: what is missing in it is compiled apart, under the name of the program if that is known.
pub(crate) fn isolated(cache: Cache, program: Option<&str>) -> Option<Cache> {
    Some(match ISOLATES.load(Ordering::SeqCst) && !is_off() {
        true => cache.compiled_by(Arc::new(OwnProcess { program: program.map(str::to_owned) })),
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
struct OwnProcess {
    /// What is compiled, for a person.
    program: Option<String>,
}

impl OwnProcess {
    /// What is being done with a program of `bytes` bytes, in words.
    fn doing(&self, bytes: usize) -> String {
        let program = self.program.as_deref().unwrap_or("another program");
        format!("compiling {program}, {:.1} MB, for the first time; the code is kept", bytes as f64 / 1e6)
    }
}

impl IsolatedCompiler for OwnProcess {
    fn compile(&self, job: &CompileJob, component: &[u8]) -> Result<(), CompileFailure> {
        let bounds = Bounds::of(component.len() as u64).within_present();
        let line = Remarks::none().with_line(LINE.get().copied());
        let ended = line.while_busy(&self.doing(component.len()), || run(job, bounds, component));
        let (status, words) = ended.map_err(|error| CompileFailure::Unavailable(error.to_string()))?;
        outcome(status, words, bounds)
    }
}

/// What the end of the process says.
fn outcome(status: ExitStatus, words: String, bounds: Bounds) -> Result<(), CompileFailure> {
    match (status.code().map(u8::try_from), status.signal()) {
        (Some(Ok(COMPILED)), _) => Ok(()),
        (Some(Ok(REFUSED)), _) => Err(CompileFailure::Refused(words)),
        (Some(Ok(UNAVAILABLE)), _) => Err(CompileFailure::Unavailable(words)),
        (_, Some(SIGXCPU)) => Err(bound(format!("{} s of CPU time", bounds.cpu_seconds))),
        (_, Some(SIGABRT)) => Err(bound(format!("{} MiB of memory", bounds.memory_bytes >> 20))),
        (_, Some(SIGKILL)) => Err(CompileFailure::Killed),
        _ => Err(CompileFailure::Crashed(status.to_string())),
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
    command.env(THREADS_VARIABLE, threads_here().to_string());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    // Ctrl-C in a terminal asks this process to stop, and not a part of its work to fail.
    command.process_group(0);
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
        Ok(()) => COMPILED,
        Err(CompileFailure::Refused(words)) => answer(&words, REFUSED),
        Err(CompileFailure::Unavailable(words)) => answer(&words, UNAVAILABLE),
        Err(error) => answer(&error.to_string(), UNAVAILABLE),
    }
}

fn answer(words: &str, code: u8) -> u8 {
    let _ = io::stdout().write_all(words.as_bytes());
    code
}

/// A process that compiles for another one ends with it: its code is no longer needed.
fn end_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}

#[allow(clippy::disallowed_methods, reason = "written by this command itself; no execution sees it")]
fn compile() -> Result<(), CompileFailure> {
    let failed = |error: &dyn std::fmt::Display| CompileFailure::Unavailable(error.to_string());
    let request = std::env::var(VARIABLE).map_err(|error| failed(&error))?;
    let Request { job, bounds } = serde_json::from_str(&request).map_err(|error| failed(&error))?;
    bounds.set().map_err(|error| failed(&error))?;
    end_with_parent();
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
        // What nine kilobytes become with their adapter stays within five seconds (eight where this is built for development) and
        // five hundred megabytes.
        let (few, many) = if cfg!(debug_assertions) { (8, 483) } else { (5, 163) };
        let small = Bounds::of(100 << 10);
        assert!(small.cpu_seconds <= few && small.memory_bytes <= 500_000_000, "{small:?}");
        assert_eq!(Bounds::of(10 << 20), Bounds { cpu_seconds: many, memory_bytes: (320 + 10_240) << 20 });
    }

    #[test]
    fn a_person_is_told_what_is_compiled() {
        let doing = |program: Option<&str>| OwnProcess { program: program.map(str::to_owned) }.doing(12_340_000);
        assert_eq!(doing(Some("app.wasm")), "compiling app.wasm, 12.3 MB, for the first time; the code is kept");
        assert!(doing(None).starts_with("compiling another program, 12.3 MB"));
    }

    #[test]
    fn lower_limits_of_the_caller_hold() {
        let limit = |current, maximum| Rlimit { current, maximum };
        let (bounds, none) = (Bounds { cpu_seconds: 9, memory_bytes: 900 << 20 }, limit(None, None));
        assert_eq!(bounds.within(&none, &none, &none), bounds);
        let wide = limit(Some(1 << 40), Some(1 << 40));
        assert_eq!(bounds.within(&wide, &wide, &wide), bounds);
        let memory = |data: &Rlimit, space: &Rlimit| bounds.within(&none, data, space).memory_bytes;
        assert_eq!(memory(&limit(None, Some(7)), &none), 7, "more than the hard limit can only be had by root");
        assert_eq!(memory(&limit(Some(5), Some(7)), &none), 5);
        assert_eq!(memory(&none, &limit(Some(3), None)), 3, "of `ulimit -v`");
        let seconds = |cpu: &Rlimit| bounds.within(cpu, &none, &none).cpu_seconds;
        assert_eq!(seconds(&limit(Some(4), Some(4))), 3, "before the signal that says nothing");
        assert_eq!((seconds(&limit(Some(2), None)), seconds(&limit(Some(1), Some(1)))), (2, 1));
    }

    #[test]
    fn threads_do_not_grow_with_the_machine() {
        assert_eq!([1, 2, 8, 64].map(|cores| threads(cores, None)), [1, 2, 8, 8]);
        assert_eq!(["1", "0", "64", "x"].map(|asked| threads(4, Some(asked))), [1, 4, 8, 4]);
    }

    #[test]
    fn each_end_of_the_process_is_told_apart() {
        let bounds = Bounds { cpu_seconds: 9, memory_bytes: 900 << 20 };
        let said = |raw: i32| match outcome(ExitStatus::from_raw(raw), "words".to_owned(), bounds) {
            Ok(()) => String::new(),
            Err(failure) => failure.to_string(),
        };
        assert_eq!(said(0), "");
        assert_eq!(said(1 << 8), "compiling the program: words");
        assert_eq!(said(2 << 8), "cannot compile in a process of its own: words");
        assert!(said(SIGXCPU).contains("more than 9 s of CPU time"), "{}", said(SIGXCPU));
        assert!(said(SIGABRT).contains("more than 900 MiB of memory"), "{}", said(SIGABRT));
        assert!(said(SIGKILL).contains("memory of the machine or container"), "{}", said(SIGKILL));
        assert!([3 << 8, 11].iter().all(|raw| said(*raw).contains("ended early")));
    }
}
