//! Traces of version 1: the scenario inside of one is run again, and the run is a trace of ours.
//!
//! ```text
//! {"format":"fozzy-trace","version":1..4, scenario | explore | fuzz, decisions, events, summary}
//!      │ scenario, seed, memory options; answers of the real computer as rules before its steps
//!      ▼
//! a run by the player ─▶ Recording; ended as the trace says?
//! ```
//!
//! Invariant: nothing of the old run is claimed of the new one: how both ended is compared, and said.
//! Not here: replaying its decisions, which are of another engine; its random numbers are other ones.

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::options::{LimitOptions, RunRequest};
use crate::pipeline::{LoadedTarget, PreparedProgram};
use crate::project::Project;
use crate::scenario;
use fozzy_plan::{ByteSize, MemoryFile};
use fozzy_report::RunMode;
use fozzy_trace::file::Recording;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, Seed, counted};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Bytes of an old trace that are read: version 1 wrote some 400 a step.
const BYTES_MAX: u64 = 256 << 20;

/// The fields of a trace of version 1 that say what was run.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OldTrace {
    format: String,
    version: u64,
    #[serde(default)]
    scenario_path: Option<String>,
    #[serde(default)]
    scenario: Option<Value>,
    #[serde(default)]
    explore: Option<OldExploration>,
    #[serde(default)]
    fuzz: Option<OldCampaign>,
    #[serde(default)]
    memory: Option<OldMemory>,
    #[serde(default)]
    decisions: Vec<Value>,
    #[serde(default)]
    events: Vec<OldEvent>,
    summary: OldSummary,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OldExploration {
    #[serde(default)]
    scenario: Option<Value>,
    #[serde(default)]
    scenario_path: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OldCampaign {
    target: String,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OldMemory {
    #[serde(default)]
    options: OldMemoryOptions,
}

#[derive(Default, Deserialize)]
#[serde(default, expecting = "an object")]
struct OldMemoryOptions {
    limit_mb: Option<u64>,
    fail_after_allocs: Option<u64>,
    fail_on_leak: bool,
    leak_budget_bytes: Option<u64>,
    fragmentation_seed: Option<u64>,
    pressure_wave: Option<String>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OldEvent {
    name: String,
    #[serde(default)]
    fields: Map<String, Value>,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OldSummary {
    status: String,
    identity: OldIdentity,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct OldIdentity {
    seed: u64,
}

/// A trace of version 1, run again.
pub struct MigratedRun {
    /// The version of its format.
    pub version: u64,
    /// How version 1 says that it ended.
    pub recorded_status: String,
    /// The run.
    pub recording: Recording,
    /// What a reader of the new trace has to know.
    pub notes: Vec<String>,
}

impl MigratedRun {
    /// Whether it ended as the old trace says. Version 1 had no crashes: a panic was a failure there.
    pub fn is_same(&self) -> bool {
        let now = self.recording.outcome.verdict.status.name();
        now == self.recorded_status || (now == "crash" && self.recorded_status == "fail")
    }
}

/// Runs the scenario in the trace of version 1 at `path`.
///
/// # Errors
/// When it is no such trace, holds no scenario, or the scenario cannot be run.
pub fn migrate(project: &Project, path: &Path) -> Result<MigratedRun, CampaignError> {
    let refused = |why: String| CampaignError::new(ErrorKind::Trace, format!("{}: {why}", path.display()));
    let failed = |error: std::io::Error| at_path(ErrorKind::Trace, "cannot read", path, &error);
    if std::fs::metadata(path).map_err(failed)?.len() > BYTES_MAX {
        return Err(refused(format!("more than {BYTES_MAX} bytes, which no trace of version 1 has")));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    if Recording::read(&bytes).is_ok() {
        return Err(refused("it is a trace of this version already".to_owned())
            .hint(format!("fozzy replay {}", fozzy_report::shell_path(path))));
    }
    let old: OldTrace =
        serde_json::from_slice(&bytes).map_err(|error| refused(format!("it is no trace of version 1: {error}")))?;
    if old.format != "fozzy-trace" || !(1..=4).contains(&old.version) {
        return Err(refused(format!(
            "expected `fozzy-trace` of version 1 to 4, found `{}` of {}",
            old.format, old.version
        )));
    }
    let mut notes = Vec::new();
    let mut text = old.scenario_text(&mut notes).map_err(refused)?;
    old.put_answers_before(&mut text, &mut notes);
    // The name in the trace is a stranger's, and may be a path.
    let name = path.file_stem().map_or_else(|| "scenario".to_owned(), |stem| stem.to_string_lossy().into_owned());
    let file = scenario::of_text(&format!("{name}.fozzy.json"), text.to_string().into_bytes())
        .map_err(|error| refused(format!("the scenario in it: {error}")))?;
    let loaded = LoadedTarget::of_scenario(file);
    let request = RunRequest { limits: old.limits(), ..RunRequest::default() };
    let mut prepared = PreparedProgram::new(project, loaded, &request)?;
    prepared.drive(None, None);
    let seed = Seed(old.summary.identity.seed);
    let execution = prepared.session()?.execute(Box::new(SeededSource::new(seed)), 0..0)?;
    let recording = prepared.record(&execution, seed, RunMode::Run);
    Ok(MigratedRun { version: old.version, recorded_status: old.summary.status, recording, notes })
}

impl OldTrace {
    /// The scenario as a file has it.
    fn scenario_text(&self, notes: &mut Vec<String>) -> Result<Value, String> {
        if let Some(campaign) = &self.fuzz {
            let path = campaign.target.strip_prefix("scenario:").unwrap_or(&campaign.target);
            notes.push("the input is left out, which never reached the scenario in version 1".to_owned());
            return of_path(path);
        }
        let mut text = match (&self.explore, &self.scenario) {
            (Some(OldExploration { scenario: Some(scenario), .. }), _) => {
                let part = |name: &str| scenario.get(name).cloned().unwrap_or(Value::Null);
                let cluster = json!({"nodes": part("nodes"), "steps": part("steps"), "invariants": part("invariants")});
                json!({"version": 1, "name": part("name"), "distributed": cluster})
            }
            (_, Some(scenario)) if scenario.is_object() => scenario.clone(),
            _ if !path_of(self).is_empty() => of_path(path_of(self))?,
            _ => return Err("it holds no scenario, and names none".to_owned()),
        };
        without_nulls(&mut text);
        Ok(text)
    }

    /// What the real computer answered, as rules and files before the steps: the same answers, in their order.
    fn put_answers_before(&self, text: &mut Value, notes: &mut Vec<String>) {
        let is_host = |names: &[&str]| {
            let of_host = |event: &OldEvent| event.fields.get("backend").and_then(Value::as_str) == Some("host");
            self.events.iter().any(|event| names.contains(&event.name.as_str()) && of_host(event))
        };
        let (processes, requests) =
            (is_host(&["proc_spawn", "capability_proc"]), is_host(&["http_request", "capability_http"]));
        let files = is_host(&["capability_fs"]);
        let answer = |decision: &Value| match decision["kind"].as_str() {
            Some("proc_spawn") if processes => Some(json!({
                "type": "proc_when", "cmd": decision["cmd"], "args": decision["args"], "exit_code": decision["exit_code"],
                "stdout": decision["stdout"], "stderr": decision["stderr"], "times": 1,
            })),
            Some("http_request") if requests => Some(json!({
                "type": "http_when", "method": decision["method"], "path": decision["path"], "status": decision["status_code"],
                "headers": decision["headers"], "body": decision["body"], "times": 1,
            })),
            Some("fs_read_assert") if files => Some(json!({
                "type": "fs_write", "path": decision["path"], "data": text_of(decision["data_hex"].as_str()?)?,
            })),
            _ => None,
        };
        let mut answers: Vec<Value> = self.decisions.iter().filter_map(answer).collect();
        let Some(steps) = text.get_mut("steps").and_then(Value::as_array_mut).filter(|_| !answers.is_empty()) else {
            return;
        };
        let number = counted(answers.len() as u64, "answer");
        notes.push(format!("{number} of the real computer stand before the scenario's own steps, as rules and files"));
        answers.iter_mut().for_each(without_nulls);
        answers.append(steps);
        *steps = answers;
    }

    /// What allocations were held to.
    fn limits(&self) -> LimitOptions {
        let Some(OldMemory { options }) = &self.memory else { return LimitOptions::default() };
        let wave = options.pressure_wave.as_ref();
        let wave: Option<Vec<u64>> =
            wave.and_then(|wave| wave.split(',').map(|word| word.trim().parse().ok()).collect());
        let none_may_leak = || options.fail_on_leak.then_some(ByteSize(0));
        let memory = MemoryFile {
            heap_alloc_budget: None,
            heap_in_use_budget: None,
            leak_budget: options.leak_budget_bytes.map(ByteSize).or_else(none_may_leak),
            fail_after: options.fail_after_allocs,
            fragmentation_seed: options.fragmentation_seed,
            pressure_wave: wave,
        };
        LimitOptions {
            linear_memory: options.limit_mb.map(|mib| ByteSize(mib.saturating_mul(1 << 20))),
            memory,
            ..LimitOptions::default()
        }
    }
}

/// The path of the scenario that is not inside.
fn path_of(old: &OldTrace) -> &str {
    let explored = || old.explore.as_ref()?.scenario_path.as_deref();
    old.scenario_path.as_deref().or_else(explored).unwrap_or_default()
}

/// A scenario that the trace only names.
fn of_path(path: &str) -> Result<Value, String> {
    let text =
        scenario::read_text(Path::new(path)).map_err(|error| format!("it holds no scenario, only a path: {error}"))?;
    serde_json::from_slice(&text).map_err(|error| format!("it holds no scenario, and {path} is none: {error}"))
}

/// Version 1 wrote what a step leaves open as null; a file leaves it out.
fn without_nulls(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_nulls),
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            // The bodies that are compared as JSON are the user's.
            members
                .iter_mut()
                .filter(|(key, _)| !matches!(key.as_str(), "json" | "expect_json" | "fields"))
                .for_each(|(_, member)| without_nulls(member));
        }
        _ => {}
    }
}

/// The text that hexadecimal digits spell.
fn text_of(digits: &str) -> Option<String> {
    let byte = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    let bytes: Option<Vec<u8>> = (0..digits.len()).step_by(2).map(byte).collect();
    String::from_utf8(bytes?).ok()
}
