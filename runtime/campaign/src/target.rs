//! From what the user named to a program, a plan and its inputs.

use crate::build;
use crate::error::{CampaignError, at_path};
use crate::notice::notice;
use crate::options::WorldOptions;
use crate::scenario::{self, ScenarioFile};
use fozzy_engine::{Build, Cache, LazyInput, Program, Session, SessionError, Switches};
use fozzy_report::TargetSummary;
use fozzy_trace::file::RecordedTarget;
use fozzy_trace::plan::Inputs;
use fozzy_trace::{Digest, Plan};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Bytes of standard input that are read; more is refused, since all of it travels in the trace.
const STDIN_BYTES_MAX: u64 = 256 << 20;

/// A program that was read and recognised.
pub struct LoadedTarget {
    pub target: RecordedTarget,
    pub component: Arc<[u8]>,
    /// Size of the file.
    pub source_bytes: u64,
    /// The scenario file, when the program is the player.
    pub scenario: Option<ScenarioFile>,
}

impl LoadedTarget {
    pub fn summary(&self) -> TargetSummary {
        summary_of(&self.target)
    }
}

/// The target as reports show it.
pub fn summary_of(target: &RecordedTarget) -> TargetSummary {
    TargetSummary { name: target.name.clone(), digest: target.source, kind: target.kind.clone() }
}

/// Reads what stands at `path`, by content; a folder is built first.
pub fn load(path: &Path) -> Result<LoadedTarget, CampaignError> {
    if let Some(path) = scenario::named(path) {
        return load_scenario(&path);
    }
    let metadata = std::fs::metadata(path).map_err(|error| at_path("target", "cannot read", path, &error))?;
    let file: PathBuf = match metadata.is_dir() {
        true => build::build(path)?,
        false => path.to_owned(),
    };
    let bytes = read(&file).map_err(|error| at_path("target", "cannot read", &file, &error))?;
    let loaded = fozzy_engine::load(&bytes, cache().as_ref())
        .map_err(|error| CampaignError::new("target", format!("{}: {error}", file.display())))?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let target = RecordedTarget { name, source: Digest::of(&bytes), kind: loaded.kind.name().to_owned() };
    Ok(LoadedTarget { target, component: loaded.component.into(), source_bytes: bytes.len() as u64, scenario: None })
}

/// Reads a scenario file; the program is the player.
fn load_scenario(path: &Path) -> Result<LoadedTarget, CampaignError> {
    let file = scenario::read(path)?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let target = RecordedTarget { name, source: Digest::of(&file.text), kind: scenario::KIND.to_owned() };
    let source_bytes = file.text.len() as u64;
    Ok(LoadedTarget { target, component: file.player(), source_bytes, scenario: Some(file) })
}

/// Reads at most one byte more than a program can have: a device without end is refused, not swallowed.
fn read(file: &Path) -> io::Result<Vec<u8>> {
    let limit = fozzy_engine::PROGRAM_BYTES_MAX as u64 + 1;
    let file = std::fs::File::open(file)?;
    let mut bytes = Vec::with_capacity(file.metadata()?.len().min(limit) as usize);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Compiles a component, with the user's cache where that can be had.
pub fn compile(component: Arc<[u8]>, plan: &Plan, name: &str) -> Result<Program, CampaignError> {
    compile_as(component, plan, name, &Build::default())
}

/// Compiles a component to be called, whatever it exports; with the cache that is used.
pub fn compile_any(component: Arc<[u8]>, plan: &Plan, name: &str) -> Result<(Program, Option<Cache>), CampaignError> {
    Ok((compile_called(component, plan, name, &Build::default())?, cache()))
}

/// Compiles a component to be called, whatever it exports, in another way than for a plain run.
pub fn compile_called(component: Arc<[u8]>, plan: &Plan, name: &str, build: &Build) -> Result<Program, CampaignError> {
    Program::build(component, Switches::of(plan), build, cache().as_ref())
        .map_err(|error| CampaignError::new("target", format!("{name}: {error}")))
}

/// Compiles a component in another way than for a plain run.
pub fn compile_as(component: Arc<[u8]>, plan: &Plan, name: &str, build: &Build) -> Result<Program, CampaignError> {
    let compiled = match plan.target() {
        Some(_) => Program::judge_as(component, Switches::of(plan), build, cache().as_ref()),
        // What is called need not be a command.
        None if plan.call.is_some() => Program::build(component, Switches::of(plan), build, cache().as_ref()),
        None => Program::new_as(component, Switches::of(plan), build, cache().as_ref()),
    };
    compiled.map_err(|error| CampaignError::new("target", format!("{name}: {error}")))
}

/// A session of `program` under `plan`.
pub fn session(program: Program, plan: &Plan, inputs: &Inputs) -> Result<Session, CampaignError> {
    Session::new(program, Arc::new(plan.clone()), inputs).map_err(|error| {
        let nearest = match &error {
            SessionError::Link(error) => error.looked_for().and_then(|(word, known)| {
                let nearest = fozzy_plan::nearest(word, known.iter().map(String::as_str))?;
                Some(format!("did you mean `{nearest}`? `fozzy inspect` shows what a component imports and exports"))
            }),
            _ => None,
        };
        let refused = CampaignError::new("plan", error.to_string());
        match nearest {
            Some(hint) => refused.hint(hint),
            None => refused,
        }
    })
}

/// The user's cache; without one everything works, only slower.
pub fn cache() -> Option<Cache> {
    match Cache::open(&cache_directory()?) {
        Ok(cache) => Some(cache),
        Err(error) => {
            tracing::warn!(%error, "running without the compile cache");
            None
        }
    }
}

/// Where compiled programs are kept: FOZZY_CACHE_DIR, or `fozzy` in the user's cache folder.
#[allow(clippy::disallowed_methods, reason = "a setting of the tool; a cache cannot change what a program does")]
fn cache_directory() -> Option<PathBuf> {
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    named("FOZZY_CACHE_DIR")
        .or_else(|| named("XDG_CACHE_HOME").map(|base| base.join("fozzy")))
        .or_else(|| named("HOME").map(|home| home.join(".cache").join("fozzy")))
}

/// Standard input from the file that was named; `None` when none was.
pub fn named_stdin(world: &WorldOptions) -> Result<Option<Vec<u8>>, CampaignError> {
    let Some(path) = &world.stdin else { return Ok(None) };
    let file = std::fs::File::open(path).map_err(|error| at_path("stdin", "cannot read", path, &error))?;
    let bytes = read_input(file).map_err(|what| CampaignError::new("stdin", format!("{}: {what}", path.display())))?;
    Ok(Some(bytes))
}

/// Our own standard input, which is read when the program looks at it.
pub fn own_stdin() -> Arc<LazyInput> {
    let own = || {
        let done = remark_when_slow();
        let read = read_input(io::stdin().lock());
        drop(done);
        read
    };
    Arc::new(LazyInput::new(own))
}

fn read_input(from: impl Read) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    match from.take(STDIN_BYTES_MAX + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > STDIN_BYTES_MAX => {
            Err(format!("standard input has more than the {STDIN_BYTES_MAX} bytes that are read"))
        }
        Ok(_) => Ok(bytes),
        // A closed descriptor (`<&-`) is an empty input, as for any program.
        Err(error) if error.raw_os_error() == Some(9) => Ok(Vec::new()),
        Err(error) => Err(format!("cannot read standard input: {error}")),
    }
}

/// All of standard input is read at the program's first look at it, so a pipe that stays open would look
/// like a hang: after two seconds it is said what is waited for. Dropping the answer ends the watch.
#[allow(clippy::disallowed_methods, reason = "a remark for a person, while no guest code runs")]
fn remark_when_slow() -> mpsc::Sender<()> {
    let (done, waiting) = mpsc::channel();
    std::thread::spawn(move || {
        if waiting.recv_timeout(Duration::from_secs(2)) == Err(mpsc::RecvTimeoutError::Timeout) {
            notice(b"reading standard input to its end; `< /dev/null` gives the program an empty one\n");
        }
    });
    done
}
