//! Explorations of tasks that only take steps: how often a strategy meets an order of steps, against what is known of it.

use super::*;
use fozzy_trace::scheduler::NEXT_TASK;
use fozzy_trace::{ReadyTask, SchedulePolicy, SchedulingPoint};

/// Runs of each exploration.
const RUNS: u64 = 6000;

/// Tasks with a number of steps, and the orders in which they took them.
struct Race {
    steps: Vec<u64>,
    source: Box<dyn DecisionSource>,
    runs: u64,
    orders: Vec<Vec<usize>>,
}

impl Race {
    /// All tasks to their end.
    fn run(&mut self) -> Vec<usize> {
        let purpose = Purpose::Choice(DecisionPart::step(0, 0));
        let question = Question { node: NodeId(0), purpose, site: NEXT_TASK };
        let (mut taken, mut order) = (vec![0; self.steps.len()], Vec::new());
        self.runs += 1;
        loop {
            let can = (0..taken.len()).filter(|task| taken[*task] < self.steps[*task]);
            let task = |task: usize| ReadyTask { number: task as u64, steps: taken[task], object: 0 };
            let ready: Vec<ReadyTask> = can.map(task).collect();
            let (run, policy) = (self.runs, SchedulePolicy::Random);
            let place = match ready.len() {
                0 => return order,
                1 => 0,
                _ => {
                    let point = SchedulingPoint { kind: 1, run, policy, touched: &[], ready: &ready };
                    self.source.pick(question, &point).0 as usize
                }
            };
            let task = ready[place].number as usize;
            taken[task] += 1;
            order.push(task);
        }
    }
}

impl StepTarget for Race {
    fn start(&self) -> CheckpointId {
        CheckpointId(0)
    }
    fn restore(&mut self, _: CheckpointId, source: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
        self.source = source;
        Ok(())
    }
    fn step(&mut self, step: StepId) -> Result<StepOutcome, HarnessError> {
        if let StepId::Step(_) = step {
            let order = self.run();
            self.orders.push(order);
        }
        Ok(StepOutcome::Returned { flow: None })
    }
    fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
        Ok(CheckpointId(1))
    }
    fn release(&mut self, _: CheckpointId) {}
}

impl StatefulTarget for Race {
    fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
        see(CoverageStretch::whole(0, &[1]));
    }
    fn properties(&self, _: &mut dyn FnMut(&str, &Property)) {}
    fn state(&self) -> Option<u64> {
        None
    }
    fn confirm(&mut self, _: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
        unreachable!("no run fails")
    }
}

/// The orders that an exploration goes through.
fn orders(name: &str, steps: &[u64]) -> Vec<Vec<usize>> {
    let options =
        Options { seed: Seed(7), runs_max: RUNS, steps_per_run: 1, fault_toggle_prob: 0.0, ..Options::default() };
    let source = Box::new(SeededSource::new(Seed(0)));
    let mut race = Race { steps: steps.to_vec(), source, runs: 0, orders: Vec::new() };
    let mut exploration = Exploration::new(options, strategy(name).expect("there is one"), &AnswerLog::default());
    exploration
        .run(&mut race, FirstPaths::Found(&mut std::iter::empty()), &mut Patience(u64::MAX))
        .expect("no machine");
    assert_eq!(race.orders.len() as u64, RUNS);
    race.orders
}

/// Whether each of some steps comes before the next one: a task, and the number of its step.
fn in_order(order: &[usize], steps: &[(usize, usize)]) -> bool {
    let moment = |(task, nth): (usize, usize)| {
        let mut its = order.iter().enumerate().filter(|(_, its)| **its == task);
        its.nth(nth).expect("it takes that step").0
    };
    steps.is_sorted_by_key(|step| moment(*step))
}

/// The steps of a fault, in the order that it needs: each a task and the number of its step.
type Fault = &'static [(usize, usize)];

#[test]
fn pct_meets_faults_of_each_depth_at_least_as_often_as_its_bound() {
    let cases: [(i32, &[u64], Fault); 4] = [
        (1, &[6, 6], &[(1, 0), (0, 0)]),
        (2, &[8, 3], &[(0, 3), (1, 2), (0, 4)]),
        (2, &[4, 4, 4], &[(2, 1), (0, 1), (2, 2)]),
        (3, &[4, 4], &[(0, 1), (1, 1), (0, 2), (1, 2)]),
    ];
    for (depth, steps, fault) in cases {
        let hits = orders("pct", steps).iter().filter(|order| in_order(order, fault)).count() as f64;
        // A third of the runs looks for faults of this depth.
        let points = steps.iter().sum::<u64>() as f64;
        let mean = RUNS as f64 / 3.0 / (steps.len() as f64 * points.powi(depth - 1));
        assert!(hits >= mean - 3.0 * mean.sqrt(), "depth {depth} in {steps:?}: {hits}, bound {mean}");
    }
}

#[test]
fn urw_goes_each_way_as_often() {
    let mut counts = BTreeMap::<Vec<usize>, u32>::new();
    // The first few runs show how many steps each task takes.
    orders("urw", &[2, 3]).into_iter().skip(20).for_each(|order| *counts.entry(order).or_default() += 1);
    let expected = (RUNS - 20) as f64 / 10.0;
    let chi_square: f64 = counts.values().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    assert!(counts.len() == 10 && chi_square < 27.88, "1 in 1,000 are above that: {chi_square}, {counts:?}");
}

#[test]
fn pos_lets_a_step_wait_for_all_others_as_often_as_its_priority_is_the_lowest() {
    let last = |name: &str| orders(name, &[15, 1]).iter().filter(|order| order.last() == Some(&1)).count();
    assert!((300..450).contains(&last("pos")), "1 in 16: {}", last("pos"));
    assert!(last("random") < 3, "1 in 2^15");
}
