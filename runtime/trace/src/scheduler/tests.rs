//! What each policy promises, on models of programs: tasks that only take steps.

use super::*;
use std::collections::BTreeSet;

const ASK: Question<'static> = Question { node: NodeId(0), purpose: Purpose::Schedule, site: NEXT_TASK };
/// Runs of each measurement: seeds 0, 1, 2 and so on.
const RUNS: u64 = 20_000;
/// Runs from which lengths are learned before anything is counted.
const LEARNING: u64 = 50;

/// A program: how many steps each task takes, and what they touch.
struct Model<'a> {
    steps: &'a [u64],
    /// What a step of a task touches; 0 is nothing that is known.
    object: fn(usize, u64) -> u64,
}

impl<'a> Model<'a> {
    fn of(steps: &'a [u64]) -> Model<'a> {
        Model { steps, object: |_, _| 0 }
    }

    fn all(&self) -> u64 {
        self.steps.iter().sum()
    }

    /// One run: the tasks in the order of their steps.
    fn run(&self, scheduler: &mut Scheduler, policy: SchedulePolicy, run: u64) -> Vec<usize> {
        let mut seeds = Draws::new(run);
        let mut taken = vec![0; self.steps.len()];
        let (mut order, mut touched) = (Vec::new(), Vec::new());
        loop {
            let can = (0..taken.len()).filter(|task| taken[*task] < self.steps[*task]);
            let object = |task: usize, steps| (self.object)(task, steps);
            let ready: Vec<ReadyTask> = can
                .map(|task| ReadyTask { number: task as u64, steps: taken[task], object: object(task, taken[task]) })
                .collect();
            let place = match ready.len() {
                0 => return order,
                1 => 0,
                _ => {
                    let point = SchedulingPoint { kind: 1, run, policy, touched: &touched, ready: &ready };
                    let place = scheduler.pick(ASK, &point, policy, seeds.next());
                    touched.clear();
                    place
                }
            };
            let task = ready[place].number as usize;
            touched.extend([ready[place].object].iter().filter(|object| **object != 0));
            taken[task] += 1;
            order.push(task);
        }
    }

    /// How often a fault is hit, by a scheduler that has learned how long runs are.
    fn hits(&self, policy: SchedulePolicy, fault: impl Fn(&[usize]) -> bool) -> u64 {
        let mut scheduler = Scheduler::default();
        (0..LEARNING).for_each(|run| drop(self.run(&mut scheduler, policy, u64::MAX - run)));
        (0..RUNS).filter(|run| fault(&self.run(&mut scheduler, policy, *run))).count() as u64
    }
}

/// What `RUNS` of a probability give at least: three standard deviations below the mean.
fn at_least(probability: f64) -> f64 {
    let mean = RUNS as f64 * probability;
    mean - 3.0 * (mean * (1.0 - probability)).sqrt()
}

/// When in `order` the `nth` step (from 0) of a task is.
fn moment(order: &[usize], task: usize, nth: u64) -> usize {
    let mut its = order.iter().enumerate().filter(|(_, its)| **its == task);
    its.nth(nth as usize).expect("it takes that step").0
}

/// Whether each of some steps comes before the next one.
fn in_order(order: &[usize], steps: &[(usize, u64)]) -> bool {
    steps.is_sorted_by_key(|(task, nth)| moment(order, *task, *nth))
}

/// A fault that needs its steps in this order, one more than it is deep.
type Fault = &'static [(usize, u64)];

#[test]
fn pct_hits_faults_of_each_depth_at_least_as_often_as_its_bound() {
    let cases: [(u32, &[u64], Fault); 9] = [
        (1, &[6, 6], &[(1, 0), (0, 0)]),
        (1, &[3, 3, 3, 3], &[(3, 0), (0, 0)]),
        (1, &[8, 1, 8], &[(2, 7), (1, 0)]),
        // What one task looks at and then relies on is changed in between.
        (2, &[8, 3], &[(0, 3), (1, 2), (0, 4)]),
        (2, &[6, 6, 12], &[(0, 2), (1, 5), (0, 3)]),
        (2, &[4, 4, 4, 4, 4, 4], &[(5, 1), (0, 3), (5, 2)]),
        // And the one in between is interrupted as well.
        (3, &[5, 5], &[(0, 1), (1, 2), (0, 3), (1, 4)]),
        (3, &[4, 4, 4], &[(0, 1), (1, 1), (0, 2), (1, 2)]),
        (3, &[3, 3, 3], &[(0, 0), (1, 0), (2, 0), (0, 1)]),
    ];
    for (depth, steps, fault) in cases {
        assert_eq!(fault.len() as u32, depth + 1);
        let model = Model::of(steps);
        let bound = 1.0 / (steps.len() as f64 * (model.all() as f64).powi(depth as i32 - 1));
        let hits = model.hits(SchedulePolicy::Pct { depth }, |order| in_order(order, fault));
        assert!(hits as f64 >= at_least(bound), "depth {depth} in {steps:?}: {hits}, bound {}", bound * RUNS as f64);
    }
}

#[test]
fn pct_without_change_points_lets_each_task_run_through() {
    let mut scheduler = Scheduler::default();
    let model = Model::of(&[2, 2, 2]);
    let orders: BTreeSet<Vec<usize>> =
        (0..1000).map(|run| model.run(&mut scheduler, SchedulePolicy::Pct { depth: 1 }, run)).collect();
    assert_eq!(orders.len(), 6, "the orders of three tasks");
    assert!(orders.iter().all(|order| order.chunks(2).all(|pair| pair[0] == pair[1])));
}

#[test]
fn pct_changes_as_often_as_its_depth_says_at_distinct_points() {
    for depth in 1..=6 {
        for draw in 0..500 {
            let mut points = Pct::new(depth, Some(8), &mut Draws::new(draw)).changes().to_vec();
            points.sort_unstable();
            points.dedup();
            assert_eq!(points.len() as u32, depth - 1);
            assert!(points.iter().all(|point| *point < 8));
        }
    }
    assert_eq!(Pct::new(9, Some(3), &mut Draws::new(7)).changes().len(), 3, "there are no more points than that");
}

#[test]
fn the_first_run_of_a_kind_guesses_its_length_within_a_known_factor() {
    let (steps, fault): (&[u64], Fault) = (&[8, 3, 13], &[(0, 3), (1, 2), (0, 4)]);
    let model = Model::of(steps);
    let policy = SchedulePolicy::Pct { depth: 2 };
    let first = |run| model.run(&mut Scheduler::default(), policy, run);
    let hits = (0..RUNS).filter(|run| in_order(&first(*run), fault)).count();
    let bound = 1.0 / (steps.len() * model.all() as usize) as f64;
    assert!(hits as f64 >= at_least(bound / 24.0), "{hits}, bound {}", bound * RUNS as f64);
}

#[test]
fn pct_does_not_let_a_task_go_round_for_ever() {
    // The first task goes round until the second one has taken its step.
    let mut scheduler = Scheduler::default();
    let policy = SchedulePolicy::Pct { depth: 1 };
    for run in 0..20 {
        let mut seeds = Draws::new(run);
        let goes_round = |steps: &u64| {
            let ready =
                [ReadyTask { number: 0, steps: *steps, object: 0 }, ReadyTask { number: 1, steps: 0, object: 0 }];
            let point = SchedulingPoint { kind: 1, run, policy, touched: &[], ready: &ready };
            scheduler.pick(ASK, &point, policy, seeds.next()) == 0
        };
        let rounds = (0..1 << 20).take_while(goes_round).count();
        assert!(rounds < 5 * 8192, "{rounds}");
    }
}

#[test]
fn every_interleaving_is_equally_likely_to_a_uniform_random_walk() {
    // Thresholds of chi square at 1 in 1,000, for one degree of freedom less than there are interleavings.
    for (steps, interleavings, threshold) in
        [(&[2, 3][..], 10, 27.88), (&[1, 1, 3], 20, 43.82), (&[2, 2, 2], 90, 135.98)]
    {
        let chi_square = |policy| {
            let mut scheduler = Scheduler::default();
            let model = Model::of(steps);
            (0..LEARNING).for_each(|run| drop(model.run(&mut scheduler, policy, u64::MAX - run)));
            let mut counts: BTreeMap<Vec<usize>, u64> = BTreeMap::new();
            (0..RUNS).for_each(|run| *counts.entry(model.run(&mut scheduler, policy, run)).or_default() += 1);
            let expected = RUNS as f64 / f64::from(interleavings);
            let missing = f64::from(interleavings) - counts.len() as f64;
            counts.values().map(|count| (*count as f64 - expected).powi(2) / expected).sum::<f64>() + missing * expected
        };
        let found = chi_square(SchedulePolicy::Urw);
        assert!(found < threshold, "{steps:?}: {found}");
        assert!(chi_square(SchedulePolicy::Random) > 10.0 * threshold, "choosing tasks evenly is something else");
    }
}

#[test]
fn pos_finds_what_a_random_walk_finds_exponentially_seldom() {
    // The other task's one step comes after all of 15: of 16 priorities, its must be the lowest.
    let model = Model::of(&[15, 1]);
    let last = |order: &[usize]| order.last() == Some(&1);
    let hits = model.hits(SchedulePolicy::Pos, last);
    assert!((hits as f64 - RUNS as f64 / 16.0).abs() < 3.0 * (RUNS as f64 / 16.0).sqrt(), "{hits}");
    assert!(model.hits(SchedulePolicy::Random, last) < 5, "1 in 2^15");
}

#[test]
fn pos_draws_again_what_is_in_a_race_and_nothing_else() {
    // All touch one object: each step is a new race, which everybody wins as often.
    let racing = Model { steps: &[15, 1], object: |_, _| 7 };
    let last = |order: &[usize]| order.last() == Some(&1);
    assert!(racing.hits(SchedulePolicy::Pos, last) < 5, "1 in 2^15");
    // Two tasks on two objects race with none.
    let apart = Model { steps: &[15, 1], object: |task, _| 1 + task as u64 };
    let plain = Model::of(&[15, 1]);
    assert_eq!(apart.hits(SchedulePolicy::Pos, last), plain.hits(SchedulePolicy::Pos, last));
}

#[test]
fn picks_follow_from_points_and_draws_alone() {
    let policies = [SchedulePolicy::Random, SchedulePolicy::Pct { depth: 3 }, SchedulePolicy::Pos, SchedulePolicy::Urw];
    let model = Model { steps: &[4, 5, 6], object: |task, steps| (task as u64 + steps) % 3 };
    for policy in policies {
        let all = |scheduler: &mut Scheduler| (0..50).map(|run| model.run(scheduler, policy, run)).collect::<Vec<_>>();
        let (mut one, mut other) = (Scheduler::default(), Scheduler::default());
        assert_eq!(all(&mut one), all(&mut other));
        assert_eq!(one.lengths(), other.lengths());
        let mut merged = RunLengths::default();
        merged.merge(one.lengths());
        merged.merge(other.lengths());
        assert_eq!(&merged, one.lengths());
    }
}
