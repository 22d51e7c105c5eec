//! `fozzy.toml`: strict, found upwards from the working directory.

mod memory;

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::explore::settings::ExploreSettings;
use crate::options::BackendOptions;
use crate::store::Retention;
use fozzy_plan::{
    ByteSize, FilesBackend, HostPattern, LimitsFile, LiveDurations, MemoryFile, PLAN_BYTES_MAX, PlanFile,
    ScriptBackend, check_command,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Settings of a project.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Where runs are kept.
    pub base_dir: PathBuf,
    /// How much of runs is kept.
    pub store: StoreSettings,
    /// As `--reporter`.
    pub reporter: Option<ReporterWord>,
    /// What answers operations on files, when neither a flag nor a plan says it.
    pub fs_backend: Option<FilesBackend>,
    /// The same for outgoing HTTP.
    pub http_backend: Option<ScriptBackend>,
    /// The same for processes.
    pub proc_backend: Option<ScriptBackend>,
    /// As `--allow-host`; the hosts of flags and plans take their place.
    pub allow_host: Option<Vec<String>>,
    /// As `--allow-command`.
    pub allow_command: Option<Vec<String>>,
    /// As `--live-durations`.
    pub live_durations: Option<LiveDurations>,
    /// As `--mem-limit-mb`.
    pub mem_limit_mb: Option<memory::LinearMemory>,
    /// As `--mem-fail-after`.
    pub mem_fail_after: Option<u64>,
    /// As `--mem-fragmentation-seed`.
    pub mem_fragmentation_seed: Option<u64>,
    /// As `--mem-pressure-wave`.
    pub mem_pressure_wave: Option<memory::Wave>,
    /// As `--fail-on-leak`.
    pub fail_on_leak: bool,
    /// As `--leak-budget`.
    pub leak_budget: Option<ByteSize>,
    /// Accepted for habit, as `--mem-track`.
    #[serde(rename = "mem_track")]
    _mem_track: bool,
    /// Accepted for habit, as `--mem-artifacts`.
    #[serde(rename = "mem_artifacts")]
    _mem_artifacts: bool,
    /// Bytes that a program's own heap may allocate in all.
    pub profile_heap_alloc_budget: Option<ByteSize>,
    /// Bytes that it may have in use at once.
    pub profile_heap_in_use_budget: Option<ByteSize>,
    /// Defaults of `fozzy explore`.
    pub explore: ExploreSettings,
    /// Plans of targets, by their names: read again by those who know plans.
    target: IgnoredAny,
    /// Those plans.
    #[serde(skip)]
    pub targets: BTreeMap<String, PlanFile>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            base_dir: PathBuf::from(".fozzy"),
            store: StoreSettings::default(),
            reporter: None,
            fs_backend: None,
            http_backend: None,
            proc_backend: None,
            allow_host: None,
            allow_command: None,
            live_durations: None,
            mem_limit_mb: None,
            mem_fail_after: None,
            mem_fragmentation_seed: None,
            mem_pressure_wave: None,
            fail_on_leak: false,
            leak_budget: None,
            _mem_track: false,
            _mem_artifacts: false,
            profile_heap_alloc_budget: None,
            profile_heap_in_use_budget: None,
            explore: ExploreSettings::default(),
            target: IgnoredAny,
            targets: BTreeMap::new(),
        }
    }
}

/// Formats of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReporterWord {
    /// Text for people.
    Pretty,
    /// The document itself.
    Json,
    /// JUnit XML.
    Junit,
    /// One self-contained page.
    Html,
}

/// `[store]`: bounds of the run store.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table")]
pub struct StoreSettings {
    /// Runs that are kept, the newest.
    pub runs: Option<u64>,
    /// Bytes of all of them.
    pub bytes: Option<ByteSize>,
}

impl StoreSettings {
    /// With the defaults for what is not said.
    pub fn retention(&self) -> Retention {
        let Retention { runs, bytes } = Retention::default();
        Retention { runs: self.runs.unwrap_or(runs), bytes: self.bytes.map_or(bytes, |size| size.0) }
    }
}

impl Config {
    /// The plan of these keys, for a scenario file or for a program.
    pub fn memory(&self, has_steps: bool) -> PlanFile {
        // Of a program it would be a limit of linear memory, which a runtime alone may exceed: that has a flag and a plan's key.
        let limit = self.mem_limit_mb.filter(|_| has_steps).map(|memory::LinearMemory(size)| size);
        let limits = LimitsFile { memory: limit, ..LimitsFile::default() };
        let budget = self.leak_budget.or_else(|| self.fail_on_leak.then_some(ByteSize(0)));
        let memory = MemoryFile { leak_budget: budget, ..MemoryFile::default() };
        let memory = match has_steps {
            false => MemoryFile {
                heap_alloc_budget: self.profile_heap_alloc_budget,
                heap_in_use_budget: self.profile_heap_in_use_budget,
                ..memory
            },
            true => MemoryFile {
                fail_after: self.mem_fail_after,
                fragmentation_seed: self.mem_fragmentation_seed,
                pressure_wave: self.mem_pressure_wave.clone().map(|factors| factors.0),
                ..memory
            },
        };
        PlanFile { limits, memory, ..PlanFile::default() }
    }

    /// What answers, when neither a flag nor a plan says it.
    pub fn backends(&self) -> BackendOptions {
        BackendOptions {
            files: self.fs_backend,
            http: self.http_backend,
            processes: self.proc_backend,
            allow_hosts: self.allow_host.clone(),
            allow_commands: self.allow_command.clone(),
            durations: self.live_durations,
        }
    }
}

/// Reads the configuration: the path given, or the nearest `fozzy.toml` above the working directory.
pub fn load(named: &Path) -> Result<Config, CampaignError> {
    let Some(path) = find(named) else { return Ok(Config::default()) };
    let failed = |error: std::io::Error| at_path(ErrorKind::Config, "cannot read", &path, &error);
    if std::fs::metadata(&path).map_err(failed)?.len() > PLAN_BYTES_MAX as u64 {
        let message =
            format!("{} has more than the {PLAN_BYTES_MAX} bytes that a configuration may have", path.display());
        return Err(CampaignError::new(ErrorKind::Config, message));
    }
    let text = std::fs::read_to_string(&path).map_err(failed)?;
    let parsed = toml::Deserializer::parse(&text)
        .map_err(|error| error.to_string())
        .and_then(|document| serde_path_to_error::deserialize(document).map_err(|error| error.to_string()));
    let mut config: Config = parsed
        .map_err(|error| CampaignError::new(ErrorKind::Config, format!("{}: {}", path.display(), error.trim_end())))?;
    for (key, checked) in [
        ("allow_host", config.allow_host.iter().flatten().try_for_each(|host| HostPattern::parse(host).map(drop))),
        ("allow_command", config.allow_command.iter().flatten().try_for_each(|command| check_command(command))),
    ] {
        checked.map_err(|problem| {
            CampaignError::new(ErrorKind::Config, format!("{}: {key}: {problem}", path.display()))
        })?;
    }
    config.targets = PlanFile::parse_targets(&text, &path)
        .map_err(|error| CampaignError::new(ErrorKind::Config, error.to_string()))?;
    if let (true, Some(folder)) = (config.base_dir.is_relative(), path.parent()) {
        config.base_dir = folder.join(&config.base_dir);
    }
    Ok(config)
}

fn find(named: &Path) -> Option<PathBuf> {
    // A link that leads nowhere is no missing file.
    if named.symlink_metadata().is_ok() {
        return Some(named.to_owned());
    }
    if named.components().count() != 1 {
        return None;
    }
    let here = std::env::current_dir().ok()?;
    here.ancestors().skip(1).map(|folder| folder.join(named)).find(|path| path.is_file())
}
