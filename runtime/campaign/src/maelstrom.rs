//! Tests of nodes that speak the Maelstrom protocol: the plan of one, and its results.
//!
//! ```text
//! --bin node.wasm × n ─▶ machines n0, n1, …  ┐
//! MaelstromOptions ────▶ the driver on main  ┴─▶ PreparedProgram ─ the pipeline ─▶ Execution ─▶ MaelstromResults
//! ```
//!
//! Nothing here runs a test: it is a scenario whose steps are operations and faults, so that it is executed, recorded, replayed, swept over
//! seeds and shrunk as any other.
//!
//! Not here: the network, clients and workloads (`runtime/player/maelstrom`), how lines reach the driver (`fozzy_world`).

mod page;
mod results;

pub use page::page;
pub use results::{DriverOutput, MaelstromOutput, check_command};

use crate::embedded::MAELSTROM_DRIVER;
use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::{LoadedTarget, PreparedProgram, RunPlan, is_go, load};
use crate::project::Project;
use fozzy_report::maelstrom::GoalResult;
use fozzy_scenario_file::{
    MAELSTROM_CLIENTS_MAX, MAELSTROM_NODES_MAX, MAELSTROM_SERVICES, MaelstromGoal, MaelstromOptions, MaelstromWorkload,
    NemesisKind,
};
use fozzy_trace::file::RecordedTarget;
use fozzy_trace::plan::{
    AllowedEnd, ChannelPlan, Edition, FUEL_DEFAULT, HistoryCriterion, Inputs, Limits, MachinePlan, NameDurability,
    NodePlan, ProgramPlan, ScenarioPlan, StdinPlan,
};
use fozzy_trace::{Digest, Execution, Plan, Status};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What such a test is called in traces and reports.
const KIND: &str = "maelstrom";
/// What the driver's argument begins with that has the options.
const OPTIONS: &str = "--maelstrom=";
/// Instructions that each step adds to the budget of a machine: some thousand messages of a node.
const FUEL_OF_A_STEP: u64 = 2_000_000;

/// A test that is asked for.
#[derive(Clone, Debug)]
pub struct MaelstromRequest {
    /// What is tested.
    pub options: MaelstromOptions,
    /// The program of each node: a file, or a folder that is built.
    pub bin: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Instructions of each machine, if the default is not right.
    pub fuel: Option<u64>,
    /// Bytes that each machine may write to its standard streams, if the default is not right.
    pub output_bytes: Option<u64>,
}

/// Plans and compiles a test.
///
/// # Errors
/// When the options do not fit each other, or there is no such program.
pub fn prepare(project: &Project, request: &MaelstromRequest) -> Result<PreparedProgram, CampaignError> {
    let options = &request.options;
    check(options).map_err(|why| CampaignError::new(ErrorKind::Usage, why))?;
    let steps = options.steps().map_err(|why| CampaignError::new(ErrorKind::Usage, why))?;
    let node = load(&request.bin, &project.remarks)?;
    if node.scenario.is_some() {
        let message = format!("{} is a scenario file, and no program of a node", request.bin.display());
        return Err(CampaignError::new(ErrorKind::Target, message));
    }
    let mut inputs = Inputs::default();
    let main =
        MachinePlan { args: vec![KIND.to_owned(), argument(options)?], stdin: routed(false), ..MachinePlan::default() };
    let program = ProgramPlan {
        machine: MachinePlan {
            args: std::iter::once(node.target.name.clone()).chain(request.args.iter().cloned()).collect(),
            // All goroutines stop while one waits for its input.
            stdin: routed(is_go(&node.component)),
            ..MachinePlan::default()
        },
        component: inputs.add(node.component),
    };
    let machine = |name: &String| NodePlan {
        name: name.clone(),
        program: program.clone(),
        called: false,
        ends: Some(AllowedEnd::Never),
        restart: None,
        counted: None,
    };
    let fuel = request.fuel.unwrap_or(FUEL_DEFAULT + u64::from(steps) * FUEL_OF_A_STEP);
    let mut limits = Limits { fuel, ..Limits::default() };
    if let (Some(host), Some(bytes)) = (&mut limits.host, request.output_bytes) {
        host.output_bytes = bytes;
    }
    let plan = Plan {
        main,
        nodes: options.nodes.iter().map(machine).collect(),
        limits,
        scenario: Some(ScenarioPlan::all(1, steps)),
        edition: Edition::LATEST,
        names: NameDurability::Ext4,
        ..Plan::default()
    };
    let driver = MAELSTROM_DRIVER.shared();
    let name = format!("{} {}", node.target.name, options.workload.word());
    let target = RecordedTarget { name, source: Digest::of(&driver), kind: KIND.to_owned() };
    let source_bytes = driver.len() as u64;
    let loaded = LoadedTarget { target, component: driver, source_bytes, scenario: None, file: None };
    PreparedProgram::compile(loaded, RunPlan::of(plan, inputs))
}

/// The goals of a test, and whether an execution of it has met them; none of a plan of something else.
#[must_use]
pub fn goals(plan: &Plan, execution: &Execution) -> Vec<GoalResult> {
    let Some(options) = options_of(plan).filter(|options| !options.goals.is_empty()) else { return Vec::new() };
    let mut driver = DriverOutput::default();
    // Its report is the last that it prints of a test that came to its end.
    driver.write(execution.stderr.last());
    MaelstromOutput::of(&options, execution, &driver, (Status::Pass, &[])).results.goals
}

/// The plan of a test with fewer nodes, or with fewer clients, the smallest first; none for a plan of something else.
#[must_use]
pub(crate) fn smaller_clusters(plan: &Plan) -> Vec<Plan> {
    let Some(options) = options_of(plan) else { return Vec::new() };
    let MaelstromOptions { nodes, concurrency, .. } = &options;
    let all = nodes.len() as u32;
    // As many clients for each node as there were; nodes that are named stay.
    let has_targets =
        |smaller: &MaelstromOptions| smaller.nemesis_targets.iter().all(|node| smaller.nodes.contains(node));
    let with_nodes = sizes_below(all).map(|count| MaelstromOptions {
        nodes: nodes[..count as usize].to_vec(),
        concurrency: (u64::from(*concurrency) * u64::from(count)).div_ceil(u64::from(all)) as u32,
        ..options.clone()
    });
    let with_clients = sizes_below(*concurrency).map(|concurrency| MaelstromOptions { concurrency, ..options.clone() });
    let plan_of = |options: MaelstromOptions| {
        let mut plan = plan.clone();
        plan.nodes.retain(|node| options.nodes.contains(&node.name));
        plan.main.args[1] = argument(&options).ok()?;
        Some(plan)
    };
    with_nodes.filter(has_targets).chain(with_clients).filter_map(plan_of).collect()
}

/// Steps a second of a test; none of a plan of something else.
#[must_use]
pub(crate) fn step_rate(plan: &Plan) -> Option<f64> {
    options_of(plan).filter(|options| !options.is_idle()).map(|options| options.step_rate())
}

/// The plan of a test that is over after this many steps, in whole seconds: so the argument of a shorter test is no longer than that of a
/// longer one. None if it is no shorter.
#[must_use]
pub(crate) fn shortened(plan: &Plan, steps: u32) -> Option<Plan> {
    let options = options_of(plan)?;
    let time_limit = (f64::from(steps) / options.step_rate()).ceil().max(1.0);
    if time_limit >= options.time_limit {
        return None;
    }
    let mut plan = plan.clone();
    plan.main.args[1] = argument(&MaelstromOptions { time_limit, ..options }).ok()?;
    Some(plan)
}

/// The kind of fault, by its place among those of the test, that a step begins or ends which has drawn this number below this bound: all kinds
/// weigh the same, and stand behind the operations.
#[must_use]
pub(crate) fn fault_of(plan: &Plan, (drawn, bound): (u64, u64)) -> Option<usize> {
    let options = options_of(plan)?;
    let from_behind = bound.checked_sub(drawn + 1)? / u64::from(options.fault_weight());
    options.nemesis.len().checked_sub(usize::try_from(from_behind).ok()? + 1)
}

/// The options of a test; none of a plan of something else.
fn options_of(plan: &Plan) -> Option<MaelstromOptions> {
    let words = plan.main.args.get(1)?.strip_prefix(OPTIONS)?;
    serde_json::from_str(words).ok()
}

/// 1, 2, 3, 4, 8, 16, … as far as they are below a number.
pub(crate) fn sizes_below(all: u32) -> impl Iterator<Item = u32> {
    let next = |size: &u32| Some(if *size < 4 { size + 1 } else { size.checked_mul(2)? });
    std::iter::successors(Some(1), next).take_while(move |size| *size < all)
}

/// The options as the driver's argument.
fn argument(options: &MaelstromOptions) -> Result<String, CampaignError> {
    let words = serde_json::to_string(options).map_err(|why| CampaignError::new(ErrorKind::Usage, why.to_string()))?;
    Ok(format!("{OPTIONS}{words}"))
}

/// Standard input by way of the driver.
fn routed(nonblocking: bool) -> StdinPlan {
    let channel = ChannelPlan { routed: true, nonblocking, ..ChannelPlan::default() };
    StdinPlan { bytes: Digest::of(b""), stays_open: true, channel: Some(Box::new(channel)) }
}

/// What is wrong with options, in a sentence.
fn check(options: &MaelstromOptions) -> Result<(), String> {
    let MaelstromOptions { nodes, concurrency, rate, time_limit, p_loss, nemesis_interval, .. } = options;
    let MaelstromOptions { workload, availability, consistency_models, nemesis, .. } = options;
    let mut known = BTreeSet::new();
    for name in nodes {
        let is_name = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '.');
        if name.is_empty() || !is_name || name.starts_with('c') {
            return Err(format!(
                "`{}` is no name for a node: letters, digits, `-` and `.`, and not a `c` before, as clients have it",
                name.escape_debug()
            ));
        }
        if MAELSTROM_SERVICES.contains(&name.as_str()) {
            return Err(format!("`{name}` is no name for a node: a service has it"));
        }
        if !known.insert(name) {
            return Err(format!("two of the nodes are called `{name}`"));
        }
    }
    let share = |name: &str, value: f64| match (0.0..=1.0).contains(&value) {
        true => Ok(()),
        false => Err(format!("{name}: expected a share from 0 to 1, found {value}")),
    };
    let positive = |name: &str, value: f64| match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(format!("{name}: expected a number above 0, found {value}")),
    };
    if !(1..=MAELSTROM_NODES_MAX).contains(&nodes.len()) {
        return Err(format!("expected 1 to {MAELSTROM_NODES_MAX} nodes, found {}", nodes.len()));
    }
    let parting = [NemesisKind::Partition, NemesisKind::OneWay, NemesisKind::Swizzle];
    if let (1, Some(kind)) = (nodes.len(), nemesis.iter().find(|kind| parting.contains(kind))) {
        return Err(format!(
            "--nemesis {} parts nodes from each other; expected two nodes at least, found 1",
            kind.word()
        ));
    }
    if !(1..=MAELSTROM_CLIENTS_MAX).contains(concurrency) {
        return Err(format!("expected 1 to {MAELSTROM_CLIENTS_MAX} clients at once, found {concurrency}"));
    }
    if !rate.is_finite() || *rate < 0.0 {
        return Err(format!("--rate: expected a number, 0 or above, found {rate}"));
    }
    let targets: BTreeSet<&String> = options.nemesis_targets.iter().collect();
    if let Some(stranger) = targets.iter().find(|target| !known.contains(*target)) {
        let nearest = fozzy_plan::nearest(stranger, nodes.iter().map(String::as_str));
        let hint = nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default();
        return Err(format!("--nemesis-targets: no node is called `{}`{hint}", stranger.escape_debug()));
    }
    let parts = |kind: &&NemesisKind| [NemesisKind::Partition, NemesisKind::OneWay].contains(*kind);
    if let (1, Some(kind)) = (targets.len(), options.nemesis.iter().find(parts)) {
        return Err(format!("--nemesis-targets: `{}` needs two nodes at least, and one is named", kind.word()));
    }
    positive("--time-limit", *time_limit)?;
    positive("--nemesis-interval", *nemesis_interval)?;
    share("--p-loss", *p_loss)?;
    for model in consistency_models {
        if model.is_empty() {
            return Err("--consistency-models: expected names of levels, such as serializable, found none".to_owned());
        }
        let criterion = HistoryCriterion::named("isolation", model);
        fozzy_check::check_criterion(&criterion).map_err(|why| format!("--consistency-models: {why}"))?;
    }
    let goals: Vec<MaelstromGoal> =
        options.goals.iter().map(|words| MaelstromGoal::parse(words)).collect::<Result<_, _>>()?;
    let bounds: Vec<String> = goals.iter().filter_map(MaelstromGoal::latency_bound).collect();
    if !bounds.is_empty() {
        if ![MaelstromWorkload::Broadcast, MaelstromWorkload::GSet].contains(workload) {
            return Err(format!(
                "--goal: {} is of broadcast and g-set; {} has no stable latencies",
                bounds[0],
                workload.word()
            ));
        }
        let criterion = HistoryCriterion::named("set-full", &bounds.join(","));
        fozzy_check::check_criterion(&criterion).map_err(|why| format!("--goal: {why}"))?;
    }
    availability.map_or(Ok(()), |least| share("--availability", least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_to_which_something_goes_wrong_stay_in_a_smaller_cluster() {
        let sizes = |targets: &str| {
            let options = format!(
                r#"{{"workload":"echo","nodes":["n0","n1","n2","n3"],"concurrency":1,"rate":1.0,"time-limit":9.0,"latency":0,
                "latency-dist":"constant","p-loss":0.0,"nemesis":["kill"],"nemesis-interval":2.0,"nemesis-targets":{targets},
                "partition-at":"receive","journal":false,"topology":"grid","availability":null,"consistency-models":[],
                "key-count":10,"max-txn-length":4,"max-writes-per-key":16}}"#
            );
            let args = vec![KIND.to_owned(), format!("{OPTIONS}{options}")];
            let main = MachinePlan { args, ..MachinePlan::default() };
            let smaller = smaller_clusters(&Plan { main, ..Plan::default() });
            smaller.iter().filter_map(options_of).map(|options| options.nodes.len()).collect::<Vec<_>>()
        };
        assert_eq!(sizes("[]"), [1, 2, 3]);
        assert_eq!(sizes(r#"["n1"]"#), [2, 3]);
    }

    #[test]
    fn a_test_gets_shorter_in_whole_seconds_and_the_draw_of_a_step_says_which_fault_it_is() {
        let options = r#"{"workload":"lin-kv","nodes":["n0"],"concurrency":2,"rate":20.0,"time-limit":30.0,"latency":0,
            "latency-dist":"constant","p-loss":0.0,"nemesis":["kill","partition"],"nemesis-interval":2.0,"partition-at":"receive",
            "journal":false,"topology":"grid","availability":null,"consistency-models":[],"key-count":10,"max-txn-length":4,
            "max-writes-per-key":16}"#;
        let main = MachinePlan { args: vec![KIND.to_owned(), format!("{OPTIONS}{options}")], ..MachinePlan::default() };
        let plan = Plan { main, ..Plan::default() };
        assert_eq!((step_rate(&plan), step_rate(&Plan::default())), (Some(21.0), None));
        let limit = |steps: u32| options_of(&shortened(&plan, steps)?).map(|options| options.time_limit);
        assert_eq!((limit(630), limit(600), limit(64), limit(1)), (None, Some(29.0), Some(4.0), Some(1.0)));
        // Twenty million are operations, and each kind of fault has half a million.
        let fault = |drawn: u64| fault_of(&plan, (drawn, 21_000_000));
        let kinds =
            [fault(0), fault(19_999_999), fault(20_000_000), fault(20_499_999), fault(20_500_000), fault(20_999_999)];
        assert_eq!(kinds, [None, None, Some(0), Some(0), Some(1), Some(1)]);
        assert_eq!((fault_of(&plan, (5, 5)), fault_of(&Plan::default(), (0, 1))), (None, None));
    }
}
