//! Simulated targets: how long each planted failure takes, by turns and by yield.

use super::*;

/// Numbers for the simulation; those of the division itself are drawn from another seed.
struct CurveDraws(TimeDivision);

impl CurveDraws {
    fn below(&mut self, bound: f64) -> f64 {
        self.0.share() * bound
    }

    fn log_uniform(&mut self, from: f64, to: f64) -> f64 {
        (from.ln() + self.below((to / from).ln())).exp()
    }

    /// A waiting time at that rate.
    fn wait(&mut self, rate: f64) -> f64 {
        -self.0.share().ln() / rate
    }
}

/// The CPU seconds of its own after which each of its behaviours is seen, one of which is a failure. Two in five are small and soon exhausted, two
/// follow a power law, one has a second half behind a rare behaviour. How many behaviours there are, and how fast the target is, differs by
/// two orders of magnitude.
#[derive(Clone)]
struct DiscoveryCurve {
    seen_at: Vec<f64>,
    failure_at: f64,
    spent: f64,
}

impl DiscoveryCurve {
    fn new(number: usize, draws: &mut CurveDraws) -> DiscoveryCurve {
        let (kind, fast) = (number % 5, draws.log_uniform(0.2, 50.0));
        let size = draws.log_uniform(20.0, 1500.0) as usize;
        let exponent = if kind == 4 { 1.2 } else { 0.9 + draws.below(0.7) };
        let mut rates: Vec<f64> = match kind {
            0 | 1 => (0..size.min(80)).map(|_| fast * (-draws.below(2.0)).exp()).collect(),
            _ => (1..=size).map(|rank| fast / (rank as f64).powf(exponent)).collect(),
        };
        rates.sort_by(|left, right| right.total_cmp(left));
        let half = rates.len() / 2;
        let mut seen_at: Vec<f64> = rates.into_iter().map(|rate| draws.wait(rate)).collect();
        if kind == 4 {
            let gate = seen_at[half - 1];
            seen_at[half..].iter_mut().for_each(|at| *at += gate);
        }
        let failure = half + draws.below((seen_at.len() - half) as f64) as usize;
        let failure_at = seen_at[failure.min(seen_at.len() - 1)];
        seen_at.sort_by(|left, right| right.total_cmp(left));
        DiscoveryCurve { seen_at, failure_at, spent: 0.0 }
    }

    /// One slice: what was found, and when in it the failure was.
    fn work(&mut self, time: f64) -> (u64, Option<f64>) {
        let (before, mut found) = (self.spent, 0);
        self.spent += time;
        while self.seen_at.last().is_some_and(|at| *at < self.spent) {
            self.seen_at.pop();
            found += 1;
        }
        let is_now = (before..self.spent).contains(&self.failure_at);
        (found, is_now.then_some(self.failure_at - before))
    }
}

const TARGETS: usize = 10;
const SLICE_S: f64 = 5.0;
/// What of a slice is spent on starting.
const START_S: f64 = 0.5;
/// CPU seconds after which a failure counts as found at the end.
const HORIZON_S: f64 = 40_000.0;

/// CPU seconds of the fleet until each failure is found.
fn times(mut targets: Vec<DiscoveryCurve>, mut choose: impl FnMut(&[DiscoveryEstimate], f64) -> usize) -> Vec<f64> {
    let mut estimates = [DiscoveryEstimate::default(); TARGETS];
    let (mut found, mut now) = ([None; TARGETS], 0.0);
    while now < HORIZON_S && found.iter().any(Option::is_none) {
        let place = choose(&estimates, now);
        let (discoveries, failed) = targets[place].work(SLICE_S - START_S);
        estimates[place].observe(discoveries, Duration::from_secs_f64(SLICE_S));
        // As the records of a fleet say it from then on.
        estimates[place].failures += u64::from(failed.is_some());
        found[place] = found[place].or(failed.map(|at| now + START_S + at));
        now += SLICE_S;
    }
    found.into_iter().map(|found| found.unwrap_or(HORIZON_S)).collect()
}

/// Of ten targets: the time to all failures by yield beside an even split, all summed, and the geometric mean of each failure's.
fn beside_even(seed: u64) -> (f64, f64, f64) {
    let mut draws = CurveDraws(TimeDivision::new(Seed(seed)));
    let targets: Vec<_> = (0..TARGETS).map(|number| DiscoveryCurve::new(number, &mut draws)).collect();
    let mut division = TimeDivision::new(Seed(seed + 1_000_000));
    let ours = times(targets.clone(), |estimates, now| division.next(estimates, (now, TARGETS)).expect("some"));
    let mut turn = 0;
    let even = times(targets, |_, _| {
        turn += 1;
        (turn - 1) % TARGETS
    });
    let logs: f64 = ours.iter().zip(&even).map(|(ours, even)| (ours / even).ln()).sum();
    (ours.iter().sum(), even.iter().sum(), logs / TARGETS as f64)
}

/// One fleet of ten other targets for each seed. That failures stand is told, as in a fleet; most of the difference to an even split is by that.
#[test]
fn failures_in_uneven_targets_take_about_three_fifths_of_the_time_of_an_even_split() {
    const SEEDS: u64 = 100;
    let all: Vec<(f64, f64, f64)> = (0..SEEDS).map(beside_even).collect();
    let sum = |of: fn(&(f64, f64, f64)) -> f64| all.iter().map(of).sum::<f64>();
    let total = sum(|it| it.0) / sum(|it| it.1);
    let fleet = (sum(|it| (it.0 / it.1).ln()) / SEEDS as f64).exp();
    let failure = (sum(|it| it.2) / SEEDS as f64).exp();
    let said =
        format!("{total:.2} of all time, {fleet:.2} of that of a fleet in the mean, {failure:.2} of that of a failure");
    assert!(total <= 0.75 && fleet <= 0.65 && failure <= 0.9, "{said}");
}

#[test]
fn targets_that_are_alike_get_alike_shares_and_dead_ones_their_floor() {
    let mut division = TimeDivision::new(Seed(7));
    let mut estimates = [DiscoveryEstimate::default(); 4];
    let mut all = 0.0;
    for _ in 0..2_000 {
        let place = division.next(&estimates, (all, 4)).expect("some");
        estimates[place].observe(if place == 3 { 0 } else { 2 }, Duration::from_secs(1));
        all += 1.0;
    }
    let shares = estimates.map(|estimate| estimate.total_cpu_s / all);
    assert!(shares[..3].iter().all(|share| (0.25..0.40).contains(share)), "{shares:?}");
    assert!((FLOOR / 4.0 - 0.001..0.10).contains(&shares[3]), "{shares:?}");
}

#[test]
fn what_was_never_tried_goes_first_and_nothing_is_chosen_of_nothing() {
    let mut division = TimeDivision::new(Seed(0));
    let mut known = DiscoveryEstimate::default();
    known.observe(1_000, Duration::from_secs(1));
    assert_eq!(division.next(&[known, DiscoveryEstimate::default()], (1.0, 2)), Some(1));
    assert_eq!(division.next(&[], (0.0, 0)), None);
}

#[test]
fn in_a_short_time_each_target_has_a_first_slice_one_after_the_other_or_some_at_a_time() {
    let ms = Duration::from_millis;
    for (time, jobs, targets, overhead) in [(1000, 1, 4, 60), (1000, 1, 4, 120), (1000, 2, 8, 60), (300, 1, 2, 60)] {
        let (mut now, mut first) = (Duration::ZERO, Vec::new());
        for begun in (0..targets).step_by(jobs) {
            assert!(now < ms(time), "{begun} of {targets} in {now:?}");
            // What a slice takes beside its own time is known from the first one on.
            let known = if begun == 0 { Duration::ZERO } else { ms(overhead) };
            first.push(first_slice_max(ms(time) - now, u32::try_from(jobs).expect("few"), targets - begun, known));
            now += first[first.len() - 1] + ms(overhead);
        }
        assert!(now <= ms(time + overhead) + FIRST_SLICE_MIN, "{first:?}");
        assert!(first.iter().all(|slice| *slice >= FIRST_SLICE_MIN), "{first:?}");
    }
    assert_eq!(first_slice_max(ms(1000), 4, 1, Duration::ZERO), ms(950), "one target has all of the time, and no more");
    assert_eq!(first_slice_max(ms(10), 1, 0, ms(100)), FIRST_SLICE_MIN);
}

#[test]
fn growth_counts_and_not_how_many_and_stored_nonsense_is_nothing() {
    let (mut small, mut large, mut none) = <(DiscoveryEstimate, DiscoveryEstimate, DiscoveryEstimate)>::default();
    for (first, later) in [(100, 10), (100_000, 10_000)] {
        let estimate = if first == 100 { &mut small } else { &mut large };
        estimate.observe(first, Duration::from_secs(10));
        estimate.observe(later, Duration::from_secs(10));
    }
    none.observe(0, Duration::from_secs(10));
    none.observe(0, Duration::from_secs(10));
    assert!((large.rate() / small.rate() - 1.0).abs() < 0.01 && small.rate() > 3.0 * none.rate());
    for news in [f64::NAN, f64::INFINITY, -1.0] {
        assert_eq!(DiscoveryEstimate { news, ..small }.sound(), DiscoveryEstimate::default());
    }
    assert_eq!(small.sound(), small);
    let mut timeless = DiscoveryEstimate::default();
    timeless.observe(0, Duration::ZERO);
    assert_eq!(timeless.sound(), timeless);
}

#[test]
fn what_is_known_of_a_target_whose_slices_an_older_version_has_counted_is_not_new_again() {
    let old = DiscoveryEstimate { news: 2.0, cpu_s: 100.0, total_cpu_s: 1000.0, slices: 90, ..Default::default() };
    let (mut told, mut untold, mut first) = (old, old, DiscoveryEstimate::default());
    told.remember(500);
    told.observe(5, Duration::from_secs(10));
    untold.observe(5, Duration::from_secs(10));
    assert!(told.rate() < untold.rate() / 3.0, "{told:?} {untold:?}");
    // Nothing was known of it, and what is summed up stays.
    first.remember(500);
    assert_eq!(first, DiscoveryEstimate::default());
    let known = told.known;
    told.remember(9_000);
    assert_eq!((known, told.known), (505, 505));
}

/// The CPU seconds of each of these targets in a fleet of slices of a second, of which each shows so many new behaviours.
fn shares<const COUNT: usize>(mut estimates: [DiscoveryEstimate; COUNT], news: [u64; COUNT]) -> [f64; COUNT] {
    const SLICES: u32 = 2_000;
    let mut division = TimeDivision::new(Seed(11));
    for slice in 0..SLICES {
        let place = division.next(&estimates, (f64::from(slice), COUNT)).expect("some");
        estimates[place].observe(news[place], Duration::from_secs(1));
    }
    estimates.map(|estimate| estimate.total_cpu_s / f64::from(SLICES))
}

#[test]
fn a_target_whose_failure_stands_gets_less_until_it_is_fixed() {
    let failed = DiscoveryEstimate { failures: 1, ..DiscoveryEstimate::default() };
    for news in [0, 5] {
        let shares = shares([DiscoveryEstimate::default(), failed], [news; 2]);
        assert!((0.15..0.40).contains(&shares[1]), "{news}: {shares:?}");
    }
    let fixed = DiscoveryEstimate { failures: 0, ..failed };
    let shares = shares([DiscoveryEstimate::default(), fixed], [5; 2]);
    assert!((0.40..0.60).contains(&shares[1]), "{shares:?}");
}

/// Explorations report new states for ever: many a slice, or few.
#[test]
fn endless_news_starve_nobody() {
    let shares = shares([DiscoveryEstimate::default(); 3], [1, 1_000, 0]);
    assert!((0.8..1.25).contains(&(shares[0] / shares[1])) && shares[2] > 1.5 * FLOOR / 3.0, "{shares:?}");
}
