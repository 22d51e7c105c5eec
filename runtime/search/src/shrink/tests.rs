//! Shrinking of a scenario in miniature, whose smallest failures are known.

use super::*;
use crate::keyed_source::AnswerDomain;
use fozzy_check::judge;
use fozzy_trace::facts::{FailureKind, ReportedFailure, ScenarioStats};
use fozzy_trace::file::{EngineId, RecordedTarget};
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::plan::fault::{FaultPlan, RATE_ALWAYS_PPM};
use fozzy_trace::plan::{
    ArrivalPlan, ArrivalTime, ChannelPlan, KeptSequence, MachinePlan, NodePlan, ProgramPlan, ScenarioKind,
    ScenarioPlan, StdinPlan,
};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{
    CheckpointId, DecisionPart, Digest, Duration, Execution, ExecutionEnd, Facts, History, Instant, NodeId, Purpose,
    Question, Recorder, StepId, StepOutcome, StepTarget, StreamOutput,
};

/// What fails, of the steps that ran: where, and behind a `|` in what words, if anything does.
type Fails = fn(&[Step]) -> Option<&'static str>;

/// A scenario in miniature: each step draws one of ten flows and a value, and asks for a fault. What fails is a function of the
/// steps that ran.
struct Toy {
    fails: Fails,
    performed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    number: u32,
    flow: u64,
    value: u64,
    struck: bool,
}

const FLOWS: u64 = 10;
const VALUES: u64 = 1000;
/// The argument of a cluster whose steps draw a moment and which message comes next, before their flows: one for each further machine.
const BUSY: &str = "busy";

impl ReplayTarget for Toy {
    fn execute(
        &mut self,
        plan: &Plan,
        _: &Inputs,
        mut source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        self.performed += 1;
        let mut recorder = Recorder::new(keep);
        let scenario = plan.scenario.clone().unwrap_or_default();
        let (kind, node) = (ScenarioKind::Stateful, NodeId(0));
        let mut stats = ScenarioStats::default();
        let mut failure = None;
        'all: for sequence in 0..scenario.sequences {
            let Some(stretches) = scenario.stretches(kind, sequence) else { continue };
            recorder.call(1, "fozzy:scenario/stateful.begin-sequence", node, Instant::START, &sequence, &());
            let mut steps = Vec::new();
            for number in stretches.iter().flat_map(|(from, to)| *from..*to) {
                recorder.call(2, "fozzy:scenario/stateful.step", node, Instant::START, &number, &());
                let purpose = Purpose::Choice(DecisionPart::step(kind.stream(sequence), number));
                let mut below = |purpose, site, bound| {
                    let (answer, origin) = source.below(Question { node, purpose, site }, bound);
                    recorder.decision(origin, || Override::Number(answer));
                    answer
                };
                if plan.main.args.first().is_some_and(|word| word == BUSY) {
                    below(purpose, "moment", 5);
                    (1..plan.nodes.len()).for_each(|_| _ = below(purpose, "message", 2));
                }
                let flow = below(purpose, "flow", FLOWS);
                let value = below(purpose, "value", VALUES);
                let struck = plan.faults.iter().any(|fault| {
                    below(Purpose::Fault, &fault.kind, u64::from(RATE_ALWAYS_PPM)) + u64::from(fault.rate_ppm)
                        >= u64::from(RATE_ALWAYS_PPM)
                });
                recorder.call(3, "fozzy:choices/draws.weighted", node, Instant::START, &("flow", 1u32), &flow);
                steps.push(Step { number, flow, value, struck });
                stats.go(ScenarioPosition { sequence: Some(sequence), step: Some(number), flow: None });
                failure = (self.fails)(&steps);
                if failure.is_some() {
                    break 'all;
                }
            }
        }
        Ok(execution(end_of(failure), recorder.finish(), stats))
    }
}

pub(super) fn end_of(failure: Option<&str>) -> ExecutionEnd {
    let Some(failure) = failure else { return ExecutionEnd::Exited { code: 0 } };
    let (site, message) = failure.split_once('|').unwrap_or((failure, failure));
    ExecutionEnd::Failed { failure: ReportedFailure::new(FailureKind::Assertion, site, message) }
}

pub(super) fn execution(end: ExecutionEnd, history: History, stats: ScenarioStats) -> Execution {
    Execution {
        end,
        ended_at: Instant::START,
        history,
        stdout: StreamOutput::default(),
        stderr: StreamOutput::default(),
        fuel_used: 0,
        memory_bytes: 0,
        memory: Digest::of(b""),
        backtrace: Vec::new(),
        nodes: Vec::new(),
        unmatched: Vec::new(),
        unmatched_more: 0,
        facts: Facts { scenario: Some(stats), ..Facts::default() },
    }
}

/// The first recording of a failure, from the seed on.
fn record(toy: &mut Toy, plan: &Plan, seed: u64) -> Recording {
    let execution =
        toy.execute(plan, &Inputs::default(), Box::new(SeededSource::new(Seed(seed))), 0..0).expect("no machine");
    recording_of(plan, &execution, seed)
}

pub(super) fn recording_of(plan: &Plan, execution: &Execution, seed: u64) -> Recording {
    recording_with(plan, &Inputs::default(), execution, seed)
}

fn recording_with(plan: &Plan, inputs: &Inputs, execution: &Execution, seed: u64) -> Recording {
    let verdict = judge(execution);
    let target = RecordedTarget { name: "toy".into(), source: Digest::of(b""), kind: "component".into() };
    let configuration = Digest::of(b"");
    let engine = EngineId { fozzy: String::new(), wasmtime: String::new(), rewriter: 1, configuration };
    Recording::of(target, Vec::new(), plan.clone(), inputs, engine, execution, verdict, Seed(seed), "run")
}

fn run(fails: Fails, plan: &Plan, seed: u64, options: Options) -> (ShrinkResult, Toy) {
    let mut toy = Toy { fails, performed: 0 };
    let recording = record(&mut toy, plan, seed);
    toy.performed = 0;
    let shrunk = shrink(&recording, &mut [&mut toy], options, &mut |_| true).expect("it can be shrunk");
    (shrunk, toy)
}

/// A toy on a cluster. On five machines large values fail, on two to four small ones, and on fewer nothing does.
struct ClusterToy;

impl ReplayTarget for ClusterToy {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let fails: Fails = match plan.nodes.len() {
            5 => |steps| steps.iter().any(|step| step.flow == 3 && step.value >= VALUES / 2).then_some("bad"),
            2..=4 => |steps| {
                steps.iter().any(|step| step.flow == 3 && (1..VALUES / 2).contains(&step.value)).then_some("bad")
            },
            _ => |_| None,
        };
        Toy { fails, performed: 0 }.execute(plan, inputs, source, keep)
    }

    fn smaller_clusters(&self, plan: &Plan, _: &Inputs) -> Vec<Plan> {
        (1..plan.nodes.len()).map(|count| Plan { nodes: plan.nodes[..count].to_vec(), ..plan.clone() }).collect()
    }
}

fn machine(number: u32) -> NodePlan {
    NodePlan {
        name: format!("n{number}"),
        program: ProgramPlan { machine: MachinePlan::default(), component: Digest::of(b"") },
        called: false,
        ends: None,
        restart: None,
        counted: None,
    }
}

/// A toy on a cluster of any size.
struct BusyClusterToy(Toy);

impl ReplayTarget for BusyClusterToy {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        self.0.execute(plan, inputs, source, keep)
    }

    fn smaller_clusters(&self, plan: &Plan, inputs: &Inputs) -> Vec<Plan> {
        ClusterToy.smaller_clusters(plan, inputs)
    }
}

#[test]
fn a_cluster_gets_small_where_fewer_answers_come_before_the_flow() {
    let mut plan = Plan { nodes: (0..5).map(machine).collect(), ..scenario(1, 60) };
    plan.main.args = vec![BUSY.to_owned()];
    let fails: Fails = |steps| steps.iter().any(|step| step.flow == 3).then_some("bad");
    let mut toy = BusyClusterToy(Toy { fails, performed: 0 });
    let execution =
        toy.execute(&plan, &Inputs::default(), Box::new(SeededSource::new(Seed(3))), 0..0).expect("no machine");
    let shrunk = shrink(&recording_of(&plan, &execution, 3), &mut [&mut toy], ALL, &mut |_| true);
    let shrunk = shrunk.expect("it can be shrunk");
    assert_eq!((shrunk.before.machines, shrunk.after.machines, shrunk.after.steps), (5, 1, 1));
}

/// A toy on a cluster that has no majority on one machine: all fails there, as it does elsewhere under a fault.
struct MajorityToy;

impl ReplayTarget for MajorityToy {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let fails: Fails = match plan.nodes.len() {
            1 => |_| Some("bad"),
            _ => |steps| steps.iter().any(|step| step.struck).then_some("bad"),
        };
        Toy { fails, performed: 0 }.execute(plan, inputs, source, keep)
    }

    fn smaller_clusters(&self, plan: &Plan, inputs: &Inputs) -> Vec<Plan> {
        ClusterToy.smaller_clusters(plan, inputs)
    }
}

#[test]
fn a_cluster_that_is_too_small_to_work_is_not_what_a_fault_did() {
    let nodes = (0..5).map(machine).collect();
    let plan = Plan { nodes, faults: vec![fault("latency", 300_000)], ..scenario(1, 60) };
    let execution =
        MajorityToy.execute(&plan, &Inputs::default(), Box::new(SeededSource::new(Seed(3))), 0..0).expect("no machine");
    let shrunk = shrink(&recording_of(&plan, &execution, 3), &mut [&mut MajorityToy], ALL, &mut |_| true);
    let shrunk = shrunk.expect("it can be shrunk");
    assert_eq!((shrunk.after.machines, shrunk.after.faults, shrunk.after.steps), (2, 1, 1));
}

#[test]
fn a_cluster_gets_as_small_as_it_fails_with_other_values() {
    let plan = Plan { nodes: (0..5).map(machine).collect(), ..scenario(1, 60) };
    let execution =
        ClusterToy.execute(&plan, &Inputs::default(), Box::new(SeededSource::new(Seed(3))), 0..0).expect("no machine");
    let recording = recording_of(&plan, &execution, 3);
    let shrunk = shrink(&recording, &mut [&mut ClusterToy], ALL, &mut |_| true).expect("it can be shrunk");
    assert_eq!((shrunk.before.machines, shrunk.after.machines, shrunk.after.steps), (5, 2, 1));
    assert!(shrunk.smallest.answers.values().any(|answer| *answer == Override::Number(1)), "its simplest value, too");
    let again = shrink(&recording, &mut [&mut ClusterToy], ALL, &mut |_| true).expect("it can be shrunk");
    assert_eq!(again.smallest, shrunk.smallest);
}

/// A toy whose steps have moments, ten of them a second: flow 8 begins what goes wrong, and ends it. It fails by an operation while that is so.
struct TimedToy(Toy);

fn while_wrong(steps: &[Step]) -> Option<&'static str> {
    let (last, before) = steps.split_last()?;
    let is_wrong = before.iter().filter(|step| step.flow == 8).count() % 2 == 1;
    (is_wrong && last.flow == 3 && last.number.abs_diff(before.last()?.number) == 1 && last.value >= 900)
        .then_some("late")
}

/// The steps that a test has, as its argument says.
fn limit_of(plan: &Plan) -> u32 {
    plan.main.args.first().and_then(|text| text.parse().ok()).unwrap_or(u32::MAX)
}

impl ReplayTarget for TimedToy {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let mut kept = plan.scenario.iter().flat_map(|scenario| &scenario.only).flat_map(|kept| &kept.steps);
        assert!(kept.all(|(_, to)| *to <= limit_of(plan)), "{:?}", plan.scenario);
        self.0.execute(plan, inputs, source, keep)
    }

    fn step_rate(&self, _: &Plan) -> Option<f64> {
        Some(10.0)
    }

    fn shortened(&self, plan: &Plan, steps: u32) -> Option<Plan> {
        let mut shorter = plan.clone();
        shorter.main.args = vec![steps.to_string()];
        (steps < limit_of(plan)).then_some(shorter)
    }

    fn fault_of(&self, _: &Plan, (flow, _): (u64, u64)) -> Option<usize> {
        (flow == 8).then_some(0)
    }
}

#[test]
fn steps_that_have_moments_come_closer_with_what_they_have_drawn() {
    let mut plan = scenario(1, 400);
    plan.main.args = vec!["400".to_owned()];
    let mut toy = TimedToy(Toy { fails: while_wrong, performed: 0 });
    let late = (1..).find_map(|seed| {
        let source = Box::new(SeededSource::new(Seed(seed)));
        let execution = toy.execute(&plan, &Inputs::default(), source, 0..0).expect("no machine");
        let position = execution.facts.scenario.as_ref().map(|scenario| scenario.position)?;
        (100..399).contains(&position.step?).then(|| recording_of(&plan, &execution, seed))
    });
    let recording = late.expect("one of them fails late");
    toy.0.performed = 0;
    let shrunk = shrink(&recording, &mut [&mut toy], ALL, &mut |_| true).expect("it can be shrunk");
    let steps = shrunk.smallest.plan.scenario.map(|scenario| scenario.only[0].steps.clone()).unwrap_or_default();
    // What goes wrong, and the operation right after another step, from the first moment on.
    assert_eq!((steps, shrunk.smallest.plan.main.args), (vec![(0, 3)], vec!["3".to_owned()]));
    assert!(toy.0.performed < 80, "{}", toy.0.performed);
}

pub(super) const ALL: Options = Options { only: None, aggressive: false, keeps_stdin: false, shortest: false };

pub(super) fn scenario(sequences: u32, flows: u32) -> Plan {
    Plan { scenario: Some(ScenarioPlan::all(sequences, flows)), ..Plan::default() }
}

fn fault(kind: &str, rate_ppm: u32) -> FaultPlan {
    let start = Duration(0);
    FaultPlan {
        kind: kind.into(),
        target: "*".into(),
        rate_ppm,
        start,
        length: None,
        strength: None,
        times: None,
        nemesis: None,
    }
}

/// Eight steps of one flow, among nine others.
fn eight(steps: &[Step]) -> Option<&'static str> {
    (steps.iter().filter(|step| step.flow == 3).count() >= 8).then_some("eight")
}

/// The same, but only late draws count, so that the failing run is long.
fn late(steps: &[Step]) -> Option<&'static str> {
    let late: Vec<Step> = steps.iter().copied().filter(|step| step.number >= 300).collect();
    eight(&late)
}

#[test]
fn a_failure_of_400_steps_whose_minimum_is_8_takes_few_executions() {
    for seed in 0..20 {
        let (shrunk, toy) = run(late, &scenario(3, 400), seed, ALL);
        assert!(shrunk.is_minimal && shrunk.before.steps >= 300, "{:?}", shrunk.before);
        assert_eq!((shrunk.after.steps, shrunk.after.decisions), (8, 8), "seed {seed}: {:?}", shrunk.smallest);
        assert_eq!(toy.performed, shrunk.tries);
        assert!(shrunk.tries <= 100, "seed {seed}: {} executions", shrunk.tries);
    }
}

/// Three steps in an order, with values above bounds.
fn ordered(steps: &[Step]) -> Option<&'static str> {
    let mut wanted = [(1, 100), (5, 17), (2, 0)].iter().peekable();
    for step in steps {
        if wanted.peek().is_some_and(|(flow, least)| step.flow == *flow && step.value >= *least) {
            wanted.next();
        }
    }
    wanted.peek().is_none().then_some("ordered")
}

#[test]
fn steps_values_and_nothing_else_are_what_is_left() {
    for seed in 0..20 {
        let (shrunk, _) = run(ordered, &scenario(5, 200), seed, ALL);
        let only = &shrunk.smallest.plan.scenario.as_ref().expect("a scenario").only;
        let [KeptSequence { steps, .. }] = only.as_slice() else { panic!("one sequence, not {only:?}") };
        assert_eq!(steps.iter().map(|(from, to)| to - from).sum::<u32>(), 3, "seed {seed}");
        let values: Vec<u64> = shrunk
            .smallest
            .answers
            .values()
            .map(|answer| match answer {
                Override::Number(number) => *number,
                Override::Bytes(_) => unreachable!("nobody asks for bytes"),
            })
            .collect();
        assert_eq!(values.iter().max(), Some(&100), "seed {seed}: {values:?}");
        assert!(values.iter().all(|value| [0, 17, 100].contains(value)), "seed {seed}: {values:?}");
    }
}

/// A second failure lies on the way: every step left out makes it likelier.
fn slippery(steps: &[Step]) -> Option<&'static str> {
    let odd = steps.iter().filter(|step| step.flow % 2 == 1).count();
    match (odd, steps.len()) {
        (20.., 40..) => Some("long"),
        (1.., _) if steps.last().is_some_and(|step| step.number > 70) => Some("short"),
        _ => None,
    }
}

#[test]
fn another_failure_is_kept_apart_and_taken_only_when_asked_for() {
    let (shrunk, mut toy) = run(slippery, &scenario(1, 60), 1, ALL);
    assert_eq!(shrunk.after.steps, 40);
    for smallest in shrunk.other_failures.values() {
        let (source, _) = source(smallest, Seed(1), &Arc::from([]));
        let execution = toy.execute(&smallest.plan, &smallest.inputs, source, 0..0).expect("no machine");
        assert!(shrunk.other_failures.contains_key(&identify(&execution).expect("it fails")));
    }
    let any = |steps: &[Step]| match steps.len() {
        0 => None,
        1..30 => (steps[0].number > 0).then_some("few"),
        _ => Some("many"),
    };
    let (kept, _) = run(any, &scenario(1, 60), 1, ALL);
    assert_eq!((kept.after.steps, kept.other_failures.len()), (30, 1));
    let (aggressive, _) = run(any, &scenario(1, 60), 1, Options { aggressive: true, ..ALL });
    assert_eq!(aggressive.after.steps, 1);
}

/// A read that finds what should be gone; without the write before it, the same read finds nothing, where another write should
/// be: one property, and two faults of the program.
fn expiry(steps: &[Step]) -> Option<&'static str> {
    let (last, before) = steps.split_last()?;
    let is_written = before.iter().any(|step| step.flow == 3 && step.value >= 100);
    match (last.flow, is_written) {
        (5, true) => Some("expiry|got Some(17), expected None"),
        (5, false) if steps.len() < 20 => Some("expiry|got None, expected Some(5)"),
        _ => None,
    }
}

#[test]
fn another_failure_of_the_same_signature_is_a_finding_of_its_own() {
    let mut checked = 0;
    for seed in 0..40 {
        let mut toy = Toy { fails: expiry, performed: 0 };
        let recording = record(&mut toy, &scenario(1, 60), seed);
        let says =
            |message: &str| recording.outcome.verdict.findings.iter().any(|found| found.message.contains(message));
        if !says("got Some(17)") {
            continue;
        }
        checked += 1;
        let shrunk = shrink(&recording, &mut [&mut toy], ALL, &mut |_| true).expect("it can be shrunk");
        assert_eq!(shrunk.after.steps, 2, "seed {seed}: a write and a read");
        let (source, _) = source(&shrunk.smallest, Seed(seed), &Arc::from([]));
        let execution = toy.execute(&shrunk.smallest.plan, &shrunk.smallest.inputs, source, 0..0).expect("no machine");
        let identity = identify(&execution).expect("it fails");
        assert_eq!(identity.wording, "got Some(#), expected None", "seed {seed}");
        let others: Vec<&str> = shrunk.other_failures.keys().map(|other| other.wording.as_str()).collect();
        assert_eq!(others, ["got None, expected Some(#)"], "seed {seed}");
        assert!(shrunk.other_failures.keys().all(|other| other.signature == identity.signature), "seed {seed}");
    }
    assert!(checked >= 10, "{checked}");
}

/// A toy that knows on which steps its failure depends.
struct Dependent(Toy, StepDependencies);

impl ReplayTarget for Dependent {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        self.0.execute(plan, inputs, source, keep)
    }

    fn dependencies(&self, _: &FailureIdentity, _: ScenarioPosition) -> StepDependencies {
        self.1.clone()
    }
}

#[test]
fn steps_that_a_failure_depends_on_stay() {
    let fails: Fails = |steps| steps.iter().any(|step| step.number == 9).then_some("nine");
    let dependencies =
        StepDependencies { required: BTreeSet::from([2, 9]), companions: BTreeMap::from([(2, 4), (5, 6)]) };
    let mut toy = Dependent(Toy { fails, performed: 0 }, dependencies);
    let recording = record(&mut toy.0, &scenario(2, 30), 1);
    let mut steps = |options| {
        let shrunk = shrink(&recording, &mut [&mut toy], options, &mut |_| true).expect("it can be shrunk");
        shrunk.smallest.plan.scenario.expect("a scenario").only[0].steps.clone()
    };
    assert_eq!(steps(ALL), [(2, 3), (4, 5), (9, 10)]);
    assert_eq!(steps(Options { aggressive: true, ..ALL }), [(9, 10)], "any failure will do");
}

#[test]
fn steps_that_cannot_go_without_each_other_go_together() {
    // An allocation that is freed twice or not at all is another failure.
    let fails: Fails = |steps| {
        let has = |number: u32| steps.iter().any(|step| step.number == number);
        match (has(3), has(7), has(20)) {
            (true, false, _) if has(8) => Some("another"),
            (false, true, _) => Some("another"),
            (_, _, true) => Some("twenty"),
            _ => None,
        }
    };
    let dependencies = StepDependencies { required: BTreeSet::new(), companions: BTreeMap::from([(3, 7)]) };
    let mut toy = Dependent(Toy { fails, performed: 0 }, dependencies);
    let recording = record(&mut toy.0, &scenario(1, 30), 1);
    let shrunk = shrink(&recording, &mut [&mut toy], ALL, &mut |_| true).expect("it can be shrunk");
    assert_eq!(shrunk.smallest.plan.scenario.expect("a scenario").only[0].steps, [(20, 21)]);
}

#[test]
fn faults_go_one_by_one_and_where_they_strike() {
    let plan = Plan { faults: vec![fault("latency", 300_000), fault("io-error", 400_000)], ..scenario(2, 50) };
    let fails = |steps: &[Step]| (steps.iter().filter(|step| step.struck).count() >= 3).then_some("three");
    let faults = Options { only: Some(Dimension::Faults), ..ALL };
    let (shrunk, _) = run(fails, &plan, 5, faults);
    assert_eq!(shrunk.after.faults, 1, "either is enough");
    assert_eq!(shrunk.smallest.plan.scenario, plan.scenario, "steps are another dimension");
    let log = DecisionLog::default();
    let source = KeyedSource::new(Seed(5), Arc::new(shrunk.smallest.answers.clone()), Arc::clone(&log)).calm(true);
    let mut toy = Toy { fails, performed: 0 };
    toy.execute(&shrunk.smallest.plan, &shrunk.smallest.inputs, Box::new(source), 0..0).expect("no machine");
    let striking = take(&log).iter().filter(|decision| faults::strikes_at(&shrunk.smallest.plan, decision)).count();
    assert_eq!(striking, 3);
    let (all, _) = run(fails, &plan, 5, ALL);
    assert_eq!((all.after.steps, all.after.faults), (3, 1));
}

#[test]
fn ablation_says_which_faults_are_needed() {
    let plan = Plan { faults: vec![fault("latency", 300_000), fault("io-error", 400_000)], ..scenario(2, 50) };
    let mut toy = Toy { fails: |steps| steps.iter().any(|step| step.struck).then_some("struck"), performed: 0 };
    let recording = record(&mut toy, &plan, 5);
    let found = ablate(&recording, &mut toy).expect("it repeats");
    let shown: Vec<(&[usize], bool)> = found.iter().map(|row| (row.without.as_slice(), row.still_fails)).collect();
    assert_eq!(shown, [(&[0][..], true), (&[1], true), (&[0, 1], false)]);
}

#[test]
fn of_three_faults_that_are_each_enough_only_leaving_out_all_makes_a_difference() {
    let kinds = ["latency", "io-error", "disk-full"];
    let plan = Plan { faults: kinds.map(|kind| fault(kind, 400_000)).to_vec(), ..scenario(2, 50) };
    let mut toy = Toy { fails: |steps| steps.iter().any(|step| step.struck).then_some("struck"), performed: 0 };
    let recording = record(&mut toy, &plan, 5);
    let found = ablate(&recording, &mut toy).expect("it repeats");
    let shown: Vec<(&[usize], bool)> = found.iter().map(|row| (row.without.as_slice(), row.still_fails)).collect();
    assert_eq!(shown, [(&[0][..], true), (&[1], true), (&[2], true), (&[0, 1, 2], false)], "pairs say nothing");
    assert_eq!((found[3].passed, found[3].tries), (10, 10));
}

#[test]
fn a_fault_that_others_are_drawn_beside_is_not_needed() {
    // Only `io-error` counts, and only where it strikes with a value: to leave another one out moves nothing.
    let kinds = ["clock-step", "disk-full", "io-error", "latency", "lost-write"];
    let plan = Plan { faults: kinds.map(|kind| fault(kind, 200_000)).to_vec(), ..scenario(1, 40) };
    let mut checked = 0;
    for seed in 0..20 {
        let mut toy = Several;
        let execution =
            toy.execute(&plan, &Inputs::default(), Box::new(SeededSource::new(Seed(seed))), 0..0).expect("no machine");
        if identify(&execution).is_none() {
            continue;
        }
        checked += 1;
        let recording = recording_of(&plan, &execution, seed);
        let found = ablate(&recording, &mut toy).expect("it repeats");
        let needed: Vec<&[usize]> =
            found.iter().filter(|row| !row.still_fails).map(|row| row.without.as_slice()).collect();
        assert_eq!(needed, [&[2][..]], "seed {seed}: {found:?}");
        assert!(found.iter().filter(|row| row.still_fails).all(|row| row.tries == 1), "seed {seed}: {found:?}");
    }
    assert!(checked >= 5, "{checked}");
}

#[test]
fn shrinking_keeps_no_fault_that_an_ablation_shows_to_be_unneeded() {
    // Nothing of an answer's number in the run tells which fault it is of: only its site does.
    let kinds = ["clock-step", "disk-full", "io-error", "latency", "lost-write"];
    let plan = Plan { faults: kinds.map(|kind| fault(kind, 200_000)).to_vec(), ..scenario(1, 40) };
    let mut checked = 0;
    for seed in 0..20 {
        let execution =
            Several.execute(&plan, &Inputs::default(), Box::new(SeededSource::new(Seed(seed))), 0..0).expect("none");
        if identify(&execution).is_none() {
            continue;
        }
        checked += 1;
        let recording = recording_of(&plan, &execution, seed);
        let shrunk = shrink(&recording, &mut [&mut Several], ALL, &mut |_| true).expect("it repeats");
        let left: Vec<&str> = shrunk.smallest.plan.faults.iter().map(|fault| fault.kind.as_str()).collect();
        assert_eq!((left, shrunk.after.strikes), (vec!["io-error"], 2), "seed {seed}: {:?}", shrunk.after);
    }
    assert!(checked >= 5, "{checked}");
}

/// A program that asks for each planned fault in each of its steps, and fails when `io-error` has struck twice
/// with a small value.
struct Several;

impl ReplayTarget for Several {
    fn execute(
        &mut self,
        plan: &Plan,
        _: &Inputs,
        mut source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let mut recorder = Recorder::new(keep);
        let mut below = |purpose, site: &str, bound| {
            let (answer, origin) = source.below(Question { node: NodeId(0), purpose, site }, bound);
            recorder.decision(origin, || Override::Number(answer));
            answer
        };
        let mut hits = 0;
        for _ in 0..6 {
            for fault in &plan.faults {
                let answer = below(Purpose::Fault, &fault.kind, u64::from(RATE_ALWAYS_PPM));
                let strikes = answer + u64::from(fault.rate_ppm) >= u64::from(RATE_ALWAYS_PPM);
                if strikes && fault.kind == "io-error" && below(Purpose::Fault, "io-error.bit", 10) < 8 {
                    hits += 1;
                }
            }
        }
        let failure = ReportedFailure::new(FailureKind::Assertion, "hits", "hits");
        let end = if hits >= 2 { ExecutionEnd::Failed { failure } } else { ExecutionEnd::Exited { code: 0 } };
        Ok(execution(end, recorder.finish(), ScenarioStats::default()))
    }
}

#[test]
fn an_explanation_tells_what_may_be_any_from_what_matters() {
    for seed in 0..5 {
        let mut toy = Toy { fails: ordered, performed: 0 };
        let recording = record(&mut toy, &scenario(5, 200), seed);
        let shrunk = shrink(&recording, &mut [&mut toy], ALL, &mut |_| true).expect("it can be shrunk");
        let explained = explain(&recording, &mut toy, &shrunk.smallest, false, &mut || true).expect("no machine");
        // Flow and value of each of the three steps; any value will do for the last one.
        let free: Vec<bool> = explained.iter().map(|explained| explained.is_free).collect();
        assert_eq!(free, [false, false, false, false, false, true], "seed {seed}: {explained:?}");
        let halted = explain(&recording, &mut toy, &shrunk.smallest, false, &mut || false).expect("no machine");
        assert_eq!(halted, []);
    }
}

/// The toy, which can be walked through as well.
struct WalkerToy {
    toy: Toy,
    plan: Plan,
    sequence: u32,
    source: Box<dyn DecisionSource>,
    steps: Vec<Step>,
    captured: BTreeMap<CheckpointId, Vec<Step>>,
    next: u64,
    taken: u64,
    /// Whether it says that everything fails.
    lies: bool,
    /// Whether its steps take longer than they may.
    is_cut: bool,
}

impl WalkerToy {
    fn new(fails: Fails) -> WalkerToy {
        WalkerToy {
            toy: Toy { fails, performed: 0 },
            plan: Plan::default(),
            sequence: 0,
            source: Box::new(SeededSource::new(Seed(0))),
            steps: Vec::new(),
            captured: BTreeMap::new(),
            next: 0,
            taken: 0,
            lies: false,
            is_cut: false,
        }
    }

    fn end(&self, site: Option<&'static str>) -> ExecutionEnd {
        end_of(if self.lies { Some("eight") } else { site })
    }

    fn ended(&self, site: &'static str) -> StepOutcome {
        StepOutcome::Ended { end: self.end(Some(site)), backtrace: Vec::new(), stderr: Vec::new() }
    }
}

impl ReplayTarget for WalkerToy {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        self.toy.execute(plan, inputs, source, keep)
    }

    fn sequences(&mut self) -> Option<&mut dyn SequenceTarget> {
        Some(self)
    }
}

impl StepTarget for WalkerToy {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }

    fn restore(&mut self, checkpoint: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        (self.steps, self.source) = (self.captured[&checkpoint].clone(), source);
        Ok(())
    }

    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        self.taken += 1;
        if self.is_cut {
            return Ok(StepOutcome::Cut);
        }
        let number = match step {
            StepId::Begin => return Ok(StepOutcome::Returned { flow: None }),
            StepId::End => return Ok(StepOutcome::Finished),
            StepId::Step(number) => number,
        };
        let purpose = Purpose::Choice(DecisionPart::step(ScenarioKind::Stateful.stream(self.sequence), number));
        let source = &mut self.source;
        let mut below = |purpose, site, bound| source.below(Question { node: NodeId(0), purpose, site }, bound).0;
        let (flow, value) = (below(purpose, "flow", FLOWS), below(purpose, "value", VALUES));
        let struck = self.plan.faults.iter().any(|fault| {
            below(Purpose::Fault, &fault.kind, u64::from(RATE_ALWAYS_PPM)) + u64::from(fault.rate_ppm)
                >= u64::from(RATE_ALWAYS_PPM)
        });
        self.steps.push(Step { number, flow, value, struck });
        Ok((self.toy.fails)(&self.steps).map_or(StepOutcome::Returned { flow: None }, |site| self.ended(site)))
    }

    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        self.next += 1;
        self.captured.insert(CheckpointId(self.next), self.steps.clone());
        Ok(CheckpointId(self.next))
    }

    fn release(&mut self, checkpoint: CheckpointId) {
        assert!(self.captured.remove(&checkpoint).is_some(), "a checkpoint is released once");
    }
}

impl SequenceTarget for WalkerToy {
    fn open(
        &mut self,
        plan: &Plan,
        _: &Inputs,
        sequence: u32,
        source: Box<dyn DecisionSource>,
    ) -> Result<bool, HarnessError> {
        (self.plan, self.sequence, self.source) = (plan.clone(), sequence, source);
        self.steps.clear();
        self.captured = BTreeMap::from([(CheckpointId(0), Vec::new())]);
        Ok(true)
    }

    fn execution(&self, end: ExecutionEnd, _: Vec<StackFrame>) -> Execution {
        let end = if self.lies { self.end(None) } else { end };
        let step = self.steps.last().map(|step| step.number);
        let position = ScenarioPosition { sequence: Some(self.sequence), step, flow: None };
        execution(end, History::default(), ScenarioStats { position, ..ScenarioStats::default() })
    }
}

#[test]
fn walking_comes_to_the_same_story_as_whole_runs_with_any_number_of_players() {
    let struck = |steps: &[Step]| (steps.iter().filter(|step| step.struck).count() >= 30).then_some("struck");
    let faults = vec![fault("latency", 300_000), fault("io-error", 200_000)];
    let cases: [(Fails, Plan); 3] =
        [(late, scenario(3, 400)), (ordered, scenario(5, 400)), (struck, Plan { faults, ..scenario(2, 300) })];
    for (number, (fails, plan)) in cases.iter().enumerate() {
        for seed in 0..8 {
            let (whole, toy) = run(*fails, plan, seed, ALL);
            let recording = record(&mut Toy { fails: *fails, performed: 0 }, plan, seed);
            let mut all = [(); 3].map(|()| WalkerToy::new(*fails));
            let [first, others @ ..] = &mut all;
            let walked = shrink(&recording, &mut [first], ALL, &mut |_| true).expect("it can be shrunk");
            assert_eq!(walked.smallest, whole.smallest, "case {number}, seed {seed}");
            assert_eq!(walked.tries, whole.tries + u64::from(first.taken > 0), "one more to confirm it");
            if first.taken > 0 {
                assert!(first.toy.performed * 3 <= toy.performed, "{} of {}", first.toy.performed, toy.performed);
                // As many steps as a dozen of whole runs, or two.
                assert!(first.taken <= 24 * 400, "case {number}, seed {seed}: {} steps", first.taken);
            }
            let [second, third] = others;
            let ahead = shrink(&recording, &mut [second, third], ALL, &mut |_| true).expect("it can be shrunk");
            assert_eq!(
                (ahead.smallest, ahead.tries, ahead.other_failures),
                (walked.smallest, walked.tries, walked.other_failures)
            );
            assert!(third.taken + third.toy.performed > 0, "it has helped");
        }
    }
}

/// The recording shrunk by that many targets: what came of it, and how often each executed something.
fn shrunk_by(
    jobs: usize,
    recording: &Recording,
    fails: Fails,
    dependencies: &StepDependencies,
) -> (ShrinkResult, Vec<u64>) {
    let new = || Dependent(Toy { fails, performed: 0 }, dependencies.clone());
    let mut toys: Vec<Dependent> = (0..jobs).map(|_| new()).collect();
    let mut targets: Vec<&mut (dyn ReplayTarget + Send)> = Vec::new();
    targets.extend(toys.iter_mut().map(|toy| toy as &mut (dyn ReplayTarget + Send)));
    let shrunk = shrink(recording, &mut targets, ALL, &mut |_| true).expect("it can be shrunk");
    (shrunk, toys.iter().map(|toy| toy.0.performed).collect())
}

#[test]
fn the_number_of_jobs_changes_nothing_but_who_executes() {
    let dependencies =
        StepDependencies { required: BTreeSet::from([2, 9, 40]), companions: BTreeMap::from([(2, 4), (50, 60)]) };
    for (number, fails) in [late as Fails, ordered, expiry].into_iter().enumerate() {
        for seed in 0..6 {
            let recording = record(&mut Toy { fails, performed: 0 }, &scenario(3, 400), seed);
            let (one, performed) = shrunk_by(1, &recording, fails, &dependencies);
            assert_eq!(performed, [one.tries], "case {number}, seed {seed}");
            for jobs in [2, 4] {
                let (more, performed) = shrunk_by(jobs, &recording, fails, &dependencies);
                assert_eq!(format!("{more:?}"), format!("{one:?}"), "case {number}, seed {seed}, {jobs} jobs");
                let first = performed[0];
                assert!(first < one.tries, "{jobs} jobs: what the others executed was used: {performed:?}, {one:?}");
            }
        }
    }
}

#[test]
fn a_walk_that_is_cut_by_the_clock_changes_no_count() {
    let recording = record(&mut Toy { fails: late, performed: 0 }, &scenario(3, 400), 1);
    let mut tries = Vec::new();
    for cut in [[false, false], [true, false], [false, true], [true, true]] {
        let [mut first, mut second] = cut.map(|is_cut| WalkerToy { is_cut, ..WalkerToy::new(late) });
        let shrunk = shrink(&recording, &mut [&mut first, &mut second], ALL, &mut |_| true).expect("it can be shrunk");
        tries.push(shrunk.tries);
    }
    assert_eq!(tries, [tries[0]; 4]);
}

#[test]
fn what_walking_says_is_not_believed_unless_a_whole_run_says_so_too() {
    let (whole, _) = run(late, &scenario(3, 400), 1, ALL);
    let mut walking = WalkerToy { lies: true, ..WalkerToy::new(late) };
    let recording = record(&mut walking.toy, &scenario(3, 400), 1);
    let shrunk = shrink(&recording, &mut [&mut walking], ALL, &mut |_| true).expect("it can be shrunk");
    assert!(walking.taken > 0 && shrunk.tries > whole.tries);
    assert_eq!(shrunk.smallest, whole.smallest);
}

#[test]
fn what_passed_or_does_not_repeat_is_said_and_a_budget_keeps_what_it_has() {
    let mut toy = Toy { fails: |_| None, performed: 0 };
    let passed = record(&mut toy, &scenario(1, 5), 1);
    assert!(matches!(shrink(&passed, &mut [&mut toy], ALL, &mut |_| true), Err(ShrinkError::Passed)));
    let mut toy = Toy { fails: eight, performed: 0 };
    let recording = record(&mut toy, &scenario(3, 400), 1);
    let mut changed = Toy { fails: |_| None, performed: 0 };
    let error = shrink(&recording, &mut [&mut changed], ALL, &mut |_| true).expect_err("it does not repeat");
    assert!(error.to_string().contains("assertion at eight, found no failure"), "{error}");
    let shrunk = shrink(&recording, &mut [&mut toy], ALL, &mut |progress| progress.tries < 10).expect("it repeats");
    assert!(!shrunk.is_minimal && shrunk.tries == 10 && shrunk.after.steps < shrunk.before.steps);
}

#[test]
fn the_longest_run_is_found_in_few_tries() {
    for (most, needed) in [(1, 0), (1, 1), (7, 7), (100, 63), (100, 64), (100, 100), (1000, 0)] {
        let items: Vec<usize> = (0..most).collect();
        let mut removal = chunk_removal::ChunkRemoval::new(&items);
        let mut tries = 0;
        while removal.end == most {
            tries += 1;
            let run = removal.run().expect("it is not at its end");
            assert!((1..=most).contains(&run));
            removal.record(run <= needed);
        }
        assert_eq!(removal.left.len(), most - needed);
        assert!(tries <= 2 * (needed + 1).ilog2() + 2, "{most} {needed}: {tries}");
    }
}

#[test]
fn decisions_are_named_simplest_by_their_kind() {
    let decision = |answer, domain| Decision {
        key: DecisionKey { part: DecisionPart::WHOLE, node: NodeId(0), purpose: Purpose::Random, nth: 0 },
        site: "s".into(),
        domain,
        answer,
        origin: Origin::Seed,
    };
    assert!(values::is_simplest(&decision(Override::Number(0), AnswerDomain::Below(9))));
    assert!(!values::is_simplest(&decision(Override::Number(1), AnswerDomain::Below(9))));
    assert!(values::is_simplest(&decision(Override::Bytes("0000".into()), AnswerDomain::Bytes(2))));
    assert!(!values::is_simplest(&decision(Override::Bytes("0010".into()), AnswerDomain::Bytes(2))));
}

/// A program that asks for one value below ten, and for five more where that is zero. It fails with zero, and from five on.
struct GrowingToy;

impl ReplayTarget for GrowingToy {
    fn execute(
        &mut self,
        _: &Plan,
        _: &Inputs,
        mut source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let mut recorder = Recorder::new(keep);
        let purpose = Purpose::Choice(DecisionPart::WHOLE);
        let mut draw = || {
            let (answer, origin) = source.below(Question { node: NodeId(0), purpose, site: "value" }, 10);
            recorder.decision(origin, || Override::Number(answer));
            answer
        };
        let first = draw();
        for _ in (0..5).filter(|_| first == 0) {
            draw();
        }
        let fails = first == 0 || first >= 5;
        let failure = ReportedFailure::new(FailureKind::Assertion, "value", "value");
        let end = if fails { ExecutionEnd::Failed { failure } } else { ExecutionEnd::Exited { code: 0 } };
        Ok(execution(end, recorder.finish(), ScenarioStats::default()))
    }
}

#[test]
fn a_candidate_that_fails_so_too_with_more_decisions_is_not_taken() {
    let mut checked = 0;
    for seed in 0..40 {
        let seeded = Box::new(SeededSource::new(Seed(seed)));
        let execution = GrowingToy.execute(&Plan::default(), &Inputs::default(), seeded, 0..0).expect("no machine");
        let recording = recording_of(&Plan::default(), &execution, seed);
        if recording.outcome.decisions != 1 || recording.outcome.verdict.signature.is_none() {
            continue;
        }
        checked += 1;
        let shrunk = shrink(&recording, &mut [&mut GrowingToy], ALL, &mut |_| true).expect("it can be shrunk");
        assert_eq!((shrunk.after.decisions, shrunk.is_minimal), (1, true), "seed {seed}");
        let (source, log) = source(&shrunk.smallest, Seed(seed), &Arc::from([]));
        GrowingToy.execute(&shrunk.smallest.plan, &shrunk.smallest.inputs, source, 0..0).expect("no machine");
        let answers: Vec<Override> = take(&log).into_iter().map(|decision| decision.answer).collect();
        assert_eq!(answers, [Override::Number(5)], "seed {seed}");
    }
    assert!(checked >= 10, "{checked}");
}

#[test]
fn the_order_of_candidates_is_that_of_its_picture() {
    let candidate = |faults: usize| ShrinkCandidate {
        plan: Plan { faults: vec![fault("latency", 1); faults], ..Plan::default() },
        inputs: Inputs::default(),
        answers: BTreeMap::new(),
        calm: true,
    };
    let log = |answers: &[(u32, Override)]| -> Vec<Decision> {
        let decision = |(step, answer): &(u32, Override)| {
            let part = DecisionPart::step(0, *step);
            let key = DecisionKey { part, node: NodeId(0), purpose: Purpose::Choice(part), nth: 0 };
            let (domain, origin) = (AnswerDomain::Below(100), Origin::Seed);
            Decision { key, site: "s".into(), domain, answer: answer.clone(), origin }
        };
        answers.iter().map(decision).collect()
    };
    let (number, bytes) = (Override::Number, |digits: &str| Override::Bytes(digits.into()));
    // From the smallest to the largest.
    let rising = [
        (0, log(&[(1, number(9)), (1, number(9)), (2, number(9))])),
        (1, log(&[(1, number(9))])),
        (1, log(&[(1, number(0)), (1, number(3))])),
        (1, log(&[(1, number(2)), (1, number(0))])),
        (1, log(&[(1, number(2)), (1, bytes("ff"))])),
        (1, log(&[(1, number(2)), (1, bytes("0000"))])),
        (1, log(&[(1, number(0)), (1, number(0)), (1, number(0))])),
        (1, log(&[(1, number(0)), (2, number(0))])),
    ];
    for (at, (faults, log)) in rising.iter().enumerate() {
        for (other_at, (other_faults, other)) in rising.iter().enumerate() {
            let found = order::compare((&candidate(*faults), log), (&candidate(*other_faults), other));
            assert_eq!(found, at.cmp(&other_at), "{at} and {other_at}");
        }
    }
}

/// A program that asks for more than is logged, and always fails.
struct TalkativeToy;

impl ReplayTarget for TalkativeToy {
    fn execute(
        &mut self,
        _: &Plan,
        _: &Inputs,
        mut source: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let mut recorder = Recorder::new(keep);
        let purpose = Purpose::Choice(DecisionPart::WHOLE);
        for _ in 0..=LOGGED_MAX {
            let (answer, origin) = source.below(Question { node: NodeId(0), purpose, site: "value" }, 10);
            recorder.decision(origin, || Override::Number(answer));
        }
        let failure = ReportedFailure::new(FailureKind::Assertion, "value", "value");
        Ok(execution(ExecutionEnd::Failed { failure }, recorder.finish(), ScenarioStats::default()))
    }
}

#[test]
fn decisions_that_are_not_looked_at_are_said_and_nothing_is_called_minimal() {
    let seeded = Box::new(SeededSource::new(Seed(1)));
    let execution = TalkativeToy.execute(&Plan::default(), &Inputs::default(), seeded, 0..0).expect("no machine");
    let recording = recording_of(&Plan::default(), &execution, 1);
    let mut tries = 0;
    let mut may_continue = |_: &ShrinkProgress| {
        tries += 1;
        tries < 3
    };
    let shrunk = shrink(&recording, &mut [&mut TalkativeToy], ALL, &mut may_continue).expect("it can be shrunk");
    assert!(shrunk.exceeds_log && !shrunk.is_minimal);
}

/// Fails at a step of flow 3 with an even number of steps before it: none of those can go alone, two can.
fn paired(steps: &[Step]) -> Option<&'static str> {
    (steps.last()?.flow == 3 && steps.len() % 2 == 1).then_some("paired")
}

#[test]
fn steps_that_go_only_together_are_left_out_together() {
    let mut longest = 0;
    for seed in 0..20 {
        let mut toy = Toy { fails: paired, performed: 0 };
        let recording = record(&mut toy, &scenario(1, 21), seed);
        if recording.outcome.verdict.signature.is_none() {
            continue;
        }
        let shrunk = shrink(&recording, &mut [&mut toy], ALL, &mut |_| true).expect("it can be shrunk");
        assert!(shrunk.is_minimal && shrunk.after.steps == 1, "seed {seed}: {:?}", shrunk.after);
        longest = longest.max(shrunk.before.steps);
    }
    assert!(longest > 6, "none began with several pairs");
}

/// A program that fails if its input has `bug` and `now` in two arrivals, in this order.
struct Listener;

impl ReplayTarget for Listener {
    fn execute(
        &mut self,
        plan: &Plan,
        inputs: &Inputs,
        _: Box<dyn DecisionSource>,
        keep: HistoryWindow,
    ) -> Result<Execution, HarnessError> {
        let bytes = inputs.get(&plan.main.stdin.bytes).expect("it travels with the plan");
        let arrivals = plan.main.stdin.channel.as_ref().map(|channel| channel.arrivals.clone()).unwrap_or_default();
        let mut rest = &bytes[..];
        let mut wanted = [&b"bug"[..], b"now"].into_iter().peekable();
        for arrival in arrivals {
            let (said, behind) = rest.split_at(arrival.bytes as usize);
            rest = behind;
            wanted.next_if(|word| said.windows(3).any(|part| part == *word));
        }
        assert!(rest.is_empty(), "the arrivals bring all bytes");
        let failure = wanted.peek().is_none().then_some("heard");
        Ok(execution(end_of(failure), Recorder::new(keep).finish(), ScenarioStats::default()))
    }
}

#[test]
fn of_a_dialogue_lines_are_left_out_and_then_bytes() {
    let said = ["hello\n", "a bug\nhere\n", "is\n", "now\n", ""];
    let arrival = |(number, text): (usize, &&str)| ArrivalPlan {
        bytes: text.len() as u64,
        when: ArrivalTime::At(Instant(number as u64)),
        jitter: Duration(0),
        vary: None,
        end: text.is_empty(),
    };
    let arrivals = said.iter().enumerate().map(arrival).collect();
    let channel = Some(Box::new(ChannelPlan { arrivals, ..ChannelPlan::default() }));
    let mut inputs = Inputs::default();
    let stdin = StdinPlan { bytes: inputs.add(said.concat().into_bytes()), stays_open: false, channel };
    let main = MachinePlan { stdin, ..MachinePlan::default() };
    let plan = Plan { main, ..Plan::default() };
    let source = Box::new(SeededSource::new(Seed(1)));
    let failing = Listener.execute(&plan, &inputs, source, 0..0).expect("no machine");
    let recording = recording_with(&plan, &inputs, &failing, 1);
    let shrunk = shrink(&recording, &mut [&mut Listener], ALL, &mut |_| true).expect("it can be shrunk");
    let smallest = &shrunk.smallest;
    let bytes = smallest.inputs.get(&smallest.plan.main.stdin.bytes).expect("it travels with the plan");
    let arrivals = &smallest.plan.main.stdin.channel.as_ref().expect("a channel").arrivals;
    let left: Vec<(u64, ArrivalTime)> = arrivals.iter().map(|arrival| (arrival.bytes, arrival.when.clone())).collect();
    assert_eq!(&bytes[..], b"bugnow");
    assert_eq!(left, [(3, ArrivalTime::At(Instant(1))), (3, ArrivalTime::At(Instant(3)))]);
}
