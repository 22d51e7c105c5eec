//! Scenario files `*.fozzy.json`: read, checked, and given to the player, which is embedded.
//!
//! ```text
//! kv.fozzy.json ─read─▶ ScenarioFile ─equip─▶ Plan { stdin = the text, one sequence of its steps }
//!                                             component = the player
//! ```
//!
//! A distributed one is played with a target: as many instances of a node as it has, on machines of their own.
//!
//! So a scenario file is a program like any other from here on: it is recorded, replayed, fuzzed, explored and shrunk as such,
//! and its text stands in each trace.
//!
//! Not here: what a file must look like (`runtime/scenario-file`), what a step does (`runtime/player`).

use crate::embedded::{CLUSTER_PLAYER, KV_NODE, PROGRAM_PLAYER, STEPS_PLAYER};
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::selector::unread;
use fozzy_scenario_file::{
    Cluster, ClusterOptions, ClusterStep, FailedPart, ParsedScenario, ProgramStep, ScenarioProblem, Step, StepSlice,
    TEXT_BYTES_MAX,
};
use fozzy_search::shrink::StepDependencies;
use fozzy_trace::Plan;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{Backend, Inputs, MachinePlan, MemoryPlan, NodePlan, ProgramPlan, ScenarioPlan};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a target of this kind is called in traces and reports.
pub const KIND: &str = "scenario";

/// What the argument of the player that has the options of a cluster begins with.
const OPTIONS: &str = "--cluster=";

/// How a scenario file can be named where programs can.
const PREFIX: &str = "scenario:";

/// A scenario file that was read.
#[derive(Clone, Debug)]
pub struct ScenarioFile {
    /// As it stands in the file.
    pub text: Arc<[u8]>,
    /// What it says.
    pub scenario: ParsedScenario,
    /// How it is played, if it is a cluster.
    pub cluster: ClusterOptions,
}

/// The path of a scenario file, if a target is one: by the end of its name, or by `scenario:` before it.
pub fn named(target: &Path) -> Option<PathBuf> {
    let word = target.to_str().unwrap_or_default();
    let path = word.strip_prefix(PREFIX).map_or_else(|| target.to_owned(), PathBuf::from);
    let is_json = path.extension().is_some_and(|ending| ending == "json");
    (word.starts_with(PREFIX) || is_json).then_some(path)
}

/// Reads the text of one; what cannot be one is refused before it is swallowed.
pub fn read_text(path: &Path) -> Result<Vec<u8>, CampaignError> {
    let failed = |error: std::io::Error| unread(at_path(ErrorKind::Scenario, "cannot read", path, &error), path);
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_dir() {
        return Err(CampaignError::new(
            ErrorKind::Scenario,
            format!("{} is a folder, not a scenario file", path.display()),
        ));
    }
    let mut text = Vec::new();
    file.take(TEXT_BYTES_MAX as u64 + 1).read_to_end(&mut text).map_err(failed)?;
    Ok(text)
}

/// Reads one.
pub fn read(path: &Path) -> Result<ScenarioFile, CampaignError> {
    parse(path, read_text(path)?)
}

/// One that is no file; it is called so.
pub fn of_text(name: &str, text: Vec<u8>) -> Result<(String, ScenarioFile), CampaignError> {
    Ok((name.to_owned(), parse(Path::new(name), text)?))
}

fn parse(path: &Path, text: Vec<u8>) -> Result<ScenarioFile, CampaignError> {
    let scenario = ParsedScenario::parse(&text).map_err(|problem| refused(path, &problem))?;
    Ok(ScenarioFile { text: text.into(), scenario, cluster: ClusterOptions::default() })
}

fn refused(path: &Path, problem: &ScenarioProblem) -> CampaignError {
    let between = if problem.place.is_some() { ":" } else { ": " };
    CampaignError::new(ErrorKind::Scenario, format!("{}{between}{problem}", path.display()))
}

impl ScenarioFile {
    /// The file that a recording plays; `None` when it plays none.
    pub fn of_recording(recording: &Recording) -> Option<ScenarioFile> {
        if recording.target.kind != KIND {
            return None;
        }
        let text = recording.inputs.get(&recording.plan.main.stdin.bytes)?;
        let scenario = ParsedScenario::parse(&text).ok()?;
        Some(ScenarioFile { text, scenario, cluster: cluster_options(&recording.plan) })
    }

    /// The steps that a failure of it depends on.
    pub fn dependencies(&self, failed: FailedPart) -> StepDependencies {
        let slice = match self.played() {
            Ok(Some(cluster)) => cluster.slice(failed),
            _ => self.scenario.slice(failed),
        };
        let StepSlice { required, companions } = slice;
        StepDependencies { required, companions }
    }

    /// Whether it is a file of version 1.
    pub fn is_version_1(&self) -> bool {
        !matches!(self.scenario, ParsedScenario::Program(_))
    }

    /// Whether a step takes memory of the scenario's own.
    pub fn allocates(&self) -> bool {
        const ALLOC: &str = "memory_alloc";
        fn of_step(step: &Step) -> bool {
            step.kind() == ALLOC || step.inner().iter().any(of_step)
        }
        fn of_act(act: &ProgramStep) -> bool {
            act.kind == ALLOC || act.inner().any(of_act)
        }
        match &self.scenario {
            ParsedScenario::Steps(file) => file.steps.iter().any(of_step),
            ParsedScenario::Program(file) => {
                let functions = file.functions.values().flat_map(|function| &function.acts);
                file.steps.iter().chain(functions).any(of_act)
            }
            ParsedScenario::Cluster(_) | ParsedScenario::Suites(_) => false,
        }
    }

    /// The component that plays it.
    pub fn player(&self) -> Arc<[u8]> {
        match self.scenario {
            ParsedScenario::Cluster(_) => CLUSTER_PLAYER.shared(),
            ParsedScenario::Program(_) => PROGRAM_PLAYER.shared(),
            ParsedScenario::Steps(_) | ParsedScenario::Suites(_) => STEPS_PLAYER.shared(),
        }
    }

    /// The cluster as it is played; `None` when it is none.
    pub fn played(&self) -> Result<Option<Cluster>, CampaignError> {
        let ParsedScenario::Cluster(file) = &self.scenario else { return Ok(None) };
        let applied = self.cluster.apply(file.distributed.clone());
        applied.map(Some).map_err(|why| CampaignError::new(ErrorKind::Usage, format!("{}: {why}", file.name)))
    }

    /// Makes a plan one of this scenario, whose file was named as `path`.
    pub fn equip(&self, name: &str, path: &Path, plan: &mut Plan, inputs: &mut Inputs) -> Result<(), CampaignError> {
        let Some(steps) = self.steps()? else {
            let message = format!("{name} is a file of suites, whose scenarios are run by `fozzy test`");
            return Err(CampaignError::new(ErrorKind::Scenario, message)
                .hint(format!("fozzy test {}", fozzy_report::shell_path(path))));
        };
        if plan.main.args.len() > 1 {
            return Err(CampaignError::new(
                ErrorKind::Usage,
                format!("{name} is a scenario file, which takes no arguments"),
            ));
        }
        let answerer = |backend, has_rules| match (backend, has_rules) {
            (Backend::Host, _) => "host",
            (Backend::Virtual, true) => "plan",
            (Backend::Virtual, false) => "nobody",
        };
        plan.main.args = vec![
            "player".to_owned(),
            format!("--name={}", self.scenario.name()),
            format!("--kinds={}", self.kinds()?.join(",")),
            format!("--http={}", answerer(plan.backends.http, !plan.http.is_empty())),
            format!("--proc={}", answerer(plan.backends.processes, !plan.processes.is_empty())),
        ];
        if let Some(cluster) = self.played()? {
            if self.cluster != ClusterOptions::default() {
                let options = serde_json::to_string(&self.cluster)
                    .map_err(|why| CampaignError::new(ErrorKind::Scenario, why.to_string()))?;
                plan.main.args.push(format!("{OPTIONS}{options}"));
            }
            populate(plan, inputs, cluster.names().len())?;
        }
        plan.main.args.extend(plan.memory.as_ref().and_then(memory));
        plan.main.stdin.bytes = inputs.add(Arc::clone(&self.text));
        plan.main.stdin.stays_open = false;
        plan.scenario = Some(ScenarioPlan::all(1, steps));
        Ok(())
    }

    /// The kinds of its steps, each once, in the order of their first steps.
    fn kinds(&self) -> Result<Vec<&'static str>, CampaignError> {
        let all: Vec<&'static str> = match (&self.scenario, self.played()?) {
            (ParsedScenario::Steps(file), _) => file.steps.iter().map(Step::kind).collect(),
            (ParsedScenario::Program(file), _) => file.steps.iter().map(|act| act.kind).collect(),
            (_, Some(cluster)) => cluster.steps.iter().map(ClusterStep::kind).collect(),
            (_, None) => Vec::new(),
        };
        let mut kinds: Vec<&'static str> = Vec::new();
        for kind in all {
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        Ok(kinds)
    }

    /// Its steps; `None` for suites, which have none.
    fn steps(&self) -> Result<Option<u32>, CampaignError> {
        let steps = match (&self.scenario, self.played()?) {
            (ParsedScenario::Steps(file), _) => file.steps.len(),
            (ParsedScenario::Program(file), _) => file.steps.len(),
            (_, Some(cluster)) => cluster.steps.len(),
            (_, None) => return Ok(None),
        };
        Ok(Some(u32::try_from(steps).unwrap_or(u32::MAX)))
    }
}

/// How a plan has its cluster played.
pub fn cluster_options(plan: &Plan) -> ClusterOptions {
    let options = plan.main.args.iter().find_map(|word| word.strip_prefix(OPTIONS));
    options.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// What the player is told of memory: `--memory=limit=1048576 fail-after=3 fragmentation=7 wave=1,2`.
fn memory(plan: &MemoryPlan) -> Option<String> {
    let number = |name: &str, number: Option<u64>| number.map(|number| format!("{name}={number}"));
    let factors: Vec<String> = plan.pressure_wave.iter().map(u64::to_string).collect();
    let words = [
        number("limit", plan.limit_bytes),
        number("fail-after", plan.fail_after),
        number("fragmentation", plan.fragmentation_seed),
        (!factors.is_empty()).then(|| format!("wave={}", factors.join(","))),
    ];
    let words: Vec<String> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| format!("--memory={}", words.join(" ")))
}

/// Adds the machines of the nodes to a plan. Each runs the named target, or else the built-in node of version 1.
fn populate(plan: &mut Plan, inputs: &mut Inputs, nodes: usize) -> Result<(), CampaignError> {
    let named = plan.nodes.iter().find(|node| node.called).map(|node| node.program.clone());
    let program = named.unwrap_or_else(|| {
        let machine = MachinePlan { args: vec!["kv-node".to_owned()], ..MachinePlan::default() };
        ProgramPlan { component: inputs.add(KV_NODE.shared()), machine }
    });
    plan.nodes.retain(|node| !node.called);
    for number in 0..nodes {
        let name = format!("n{number}");
        if plan.nodes.iter().any(|node| node.name == name) {
            let message =
                format!("a machine of the plan is called `{name}`, as the nodes of a distributed scenario are");
            return Err(CampaignError::new(ErrorKind::Plan, message));
        }
        plan.nodes.push(NodePlan::called(name, program.clone()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scenario_file_is_told_by_its_name() {
        for (target, path) in [
            ("a.fozzy.json", Some("a.fozzy.json")),
            ("scenario:b/a.json", Some("b/a.json")),
            ("scenario:a", Some("a")),
            ("a.wasm", None),
            ("a.fozzy", None),
        ] {
            assert_eq!(named(Path::new(target)).as_deref(), path.map(Path::new), "{target}");
        }
    }
}
