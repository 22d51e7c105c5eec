//! Scenarios under `cargo test`: the same flows and the same values as in the sandbox, for the same seed.
//!
//! ```text
//! FOZZY_SEED=7 FOZZY_SEQUENCES=10 FOZZY_FLOWS=100 cargo test
//! ```
//!
//! The attributes make a test of each scenario, fuzz target and property; it takes its settings from the environment. What
//! fails there says its seed, and where it was.
//!
//! Time is virtual, as in the sandbox, so that a scenario that sleeps for minutes is tested in no time:
//!
//! | what | natively |
//! |---|---|
//! | [`task::sleep`](crate::task::sleep), [`task::timeout`](crate::task::timeout), [`task::now`](crate::task::now), [`tools::advance`](crate::tools::advance) | virtual, on every system |
//! | `std::thread::sleep`, `Instant::now`, `SystemTime::now` on the thread of the run | virtual on Linux with glibc; real elsewhere |
//! | the same on threads that the program starts itself | real |
//! | waits with a limit for other threads or sockets: `recv_timeout`, `wait_timeout`, `set_read_timeout` | real |
//!
//! ```
//! use fozzy_sdk::native;
//! use std::time::{Duration, Instant};
//!
//! let hour = Duration::from_secs(3600);
//! native::simulate(7, || {
//!     fozzy_sdk::task::block_on(fozzy_sdk::task::sleep(hour)); // takes no time, anywhere
//! # #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))] {
//!     let start = Instant::now();
//!     std::thread::sleep(hour); // takes none either, on Linux
//!     assert!(start.elapsed() >= hour && start.elapsed() < hour + Duration::from_secs(1));
//! # }
//! });
//! ```
//!
//! Not here: the rest of the simulated computer. Files, network and processes are the real ones, so what depends on them is for
//! the sandbox.

#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#[allow(unsafe_code, reason = "functions of C, which std calls")]
mod std_clock;

use crate::host;
use crate::scenario::{Runner, Scenario, StepResult};
use fozzy_trace::DecisionPart;
use fozzy_trace::facts::PropertyState;
use fozzy_trace::plan::ScenarioKind;

/// How far to go.
///
/// ```
/// use fozzy_sdk::native::Settings;
///
/// assert_eq!(Settings::default(), Settings { seed: 0, sequences: 10, flows: 100 });
/// let of_the_environment = Settings::from_env();
/// # let _ = of_the_environment;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Where all values come from.
    pub seed: u64,
    /// Sequences; of fuzz targets and properties, rounds.
    pub sequences: u32,
    /// Steps of each.
    pub flows: u32,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { seed: 0, sequences: 10, flows: 100 }
    }
}

impl Settings {
    /// From the environment: `FOZZY_SEED`, `FOZZY_SEQUENCES`, `FOZZY_FLOWS`.
    ///
    /// # Panics
    /// When one of them is set and is no number.
    #[must_use]
    #[allow(clippy::disallowed_methods, reason = "settings of a native test run; the sandbox has none of this")]
    pub fn from_env() -> Settings {
        let number = |name: &str, default: u64| match std::env::var(name) {
            Ok(text) => text.parse().unwrap_or_else(|_| panic!("{name}: expected a number, found `{text}`")),
            Err(_) => default,
        };
        let default = Settings::default();
        let small = |name, default: u32| u32::try_from(number(name, default.into())).unwrap_or(u32::MAX);
        Settings {
            seed: number("FOZZY_SEED", default.seed),
            sequences: small("FOZZY_SEQUENCES", default.sequences),
            flows: small("FOZZY_FLOWS", default.flows),
        }
    }
}

/// What a scenario did.
///
/// ```
/// use fozzy_sdk::native::{Settings, run};
/// use fozzy_sdk::prelude::*;
///
/// #[derive(Default)]
/// struct Coin;
///
/// #[scenario]
/// impl Coin {
///     #[flow]
///     fn toss(&mut self) { sometimes!(draw::any::<bool>(), "heads"); }
/// }
///
/// let report = run::<Coin>(Settings { seed: 7, sequences: 1, flows: 20 });
/// assert_eq!(report.steps[0], ("toss", None));
/// assert_eq!(report.properties, [("heads".to_owned(), "passed")]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The flow of each step, sequence after sequence, with the label if it was skipped.
    pub steps: Vec<(&'static str, Option<String>)>,
    /// Each property and how it stands, sorted by name.
    pub properties: Vec<(String, &'static str)>,
}

/// Says where a test was when it fails.
struct Where {
    what: &'static str,
    settings: Settings,
    sequence: u32,
    step: Option<u32>,
}

impl Drop for Where {
    #[allow(clippy::print_stderr, reason = "the place of a failure, in a native test")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            let step = self.step.map_or_else(String::new, |step| format!(", step {step}"));
            let Settings { seed, sequences, flows } = self.settings;
            eprintln!(
                "{} failed in sequence {}{step}; again: FOZZY_SEED={seed} FOZZY_SEQUENCES={sequences} FOZZY_FLOWS={flows}",
                self.what, self.sequence
            );
        }
    }
}

/// Runs a scenario on this thread.
///
/// # Panics
/// When a property that must hold does not, a flow panics, or no flow is valid.
///
/// ```
/// use fozzy_sdk::native::{Settings, run};
/// use fozzy_sdk::prelude::*;
///
/// #[derive(Default)]
/// struct Counter(u64);
///
/// #[scenario]
/// impl Counter {
///     #[flow]
///     fn add(&mut self, by: u8) { self.0 += u64::from(by); }
/// }
///
/// // As in a test of one's own, instead of that which the attribute makes.
/// assert_eq!(run::<Counter>(Settings { seed: 7, sequences: 2, flows: 10 }).steps.len(), 20);
/// ```
pub fn run<S: Scenario>(settings: Settings) -> Report {
    let _virtual = begin_run(settings.seed);
    let mut report = Report::default();
    for sequence in 0..settings.sequences {
        let stream = ScenarioKind::Stateful.stream(sequence);
        let mut place = Where { what: S::NAME, settings, sequence, step: None };
        host::with(|context| context.part = DecisionPart::beginning(stream));
        let mut runner = Runner::<S>::begin(sequence);
        for step in 0..settings.flows {
            place.step = Some(step);
            host::with(|context| context.part = DecisionPart::step(stream, step));
            match runner.step(step) {
                StepResult::Ran(flow) => report.steps.push((S::FLOWS[flow].name, None)),
                StepResult::Skipped(flow, skip) => {
                    report.steps.push((S::FLOWS[flow].name, Some(skip.label().to_owned())));
                }
                StepResult::Stuck(why) => panic!("no flow is valid: {why}"),
            }
        }
        place.step = None;
        host::with(|context| context.part = DecisionPart::ending(stream));
        runner.end();
    }
    report.properties = properties();
    report
}

/// A function that takes bytes, with its name.
///
/// ```
/// use fozzy_sdk::native::{Settings, Target, fuzz};
///
/// fn parse(data: &[u8]) { let _ = std::str::from_utf8(data); }
/// const TARGET: Target = ("parse", parse);
/// fuzz(&[TARGET], Settings { seed: 7, sequences: 1, flows: 50 });
/// ```
pub type Target = (&'static str, fn(&[u8]));

/// Calls functions that take bytes, in turn.
///
/// # Panics
/// When one does.
///
/// ```
/// use fozzy_sdk::native::{Settings, fuzz};
///
/// fn no_panic(data: &[u8]) { let _ = String::from_utf8_lossy(data); }
/// fuzz(&[("no_panic", no_panic)], Settings { seed: 7, sequences: 2, flows: 50 });
/// ```
pub fn fuzz(targets: &[Target], settings: Settings) {
    let _virtual = begin_run(settings.seed);
    each(targets, ScenarioKind::Fuzz, settings, |target| target(&host::input()));
}

/// Calls functions that draw what they need, in turn.
///
/// # Panics
/// When one does.
///
/// ```
/// use fozzy_sdk::native::{Settings, property};
/// use fozzy_sdk::prelude::*;
///
/// fn halves() {
///     let number: u32 = draw::any();
///     always!(number / 2 <= number, "a half is not more");
/// }
/// property(&[("halves", halves)], Settings { seed: 7, sequences: 1, flows: 50 });
/// ```
pub fn property(properties: &[(&'static str, fn())], settings: Settings) {
    let _virtual = begin_run(settings.seed);
    each(properties, ScenarioKind::Property, settings, |property| property());
    host::with(|context| context.properties.iter().for_each(|(name, told)| warn_of_skips(name, told)));
}

/// A property that skips nearly everything checks nearly nothing.
#[allow(clippy::print_stderr, reason = "a warning, in a native test")]
fn warn_of_skips(name: &str, told: &fozzy_trace::facts::Property) {
    let Some(property) = name.strip_suffix(HEALTH_SUFFIX) else { return };
    if told.evaluated >= 20 && told.held * 10 < told.evaluated {
        let skipped = told.evaluated - told.held;
        eprintln!("warning: {property} skipped {skipped} of {} cases", told.evaluated);
    }
}

/// How the attribute calls the property of a property that may skip.
const HEALTH_SUFFIX: &str = " finds something to check";

fn each<F: Copy>(functions: &[(&'static str, F)], kind: ScenarioKind, settings: Settings, call: impl Fn(F)) {
    for round in 0..settings.sequences {
        let stream = kind.stream(round);
        for step in 0..settings.flows {
            let (what, function) = functions[step as usize % functions.len()];
            let place = Where { what, settings, sequence: round, step: Some(step) };
            host::with(|context| context.part = DecisionPart::step(stream, step));
            call(function);
            drop(place);
        }
    }
}

fn properties() -> Vec<(String, &'static str)> {
    host::with(|context| {
        let row = |(name, property): (&str, &fozzy_trace::facts::Property)| {
            let state: PropertyState = property.state();
            (name.to_owned(), state.name())
        };
        context.properties.iter().map(row).collect()
    })
}

/// Runs `body` as a run of its own: its draws come from `seed`, and its time is virtual.
///
/// ```
/// use fozzy_sdk::native::simulate;
/// use fozzy_sdk::prelude::*;
///
/// assert_eq!(simulate(7, || draw::any::<u64>()), simulate(7, || draw::any::<u64>()));
/// ```
pub fn simulate<R>(seed: u64, body: impl FnOnce() -> R) -> R {
    let _virtual = begin_run(seed);
    body()
}

/// Begins a run on this thread, for draws outside a scenario: `begin(7)`. As it has no end, the time of `std` stays real; see
/// [`simulate`].
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// fozzy_sdk::native::begin(7);
/// let first: u64 = draw::range(0..=u64::MAX);
/// fozzy_sdk::native::begin(7);
/// assert_eq!(draw::range(0..=u64::MAX), first);
/// ```
pub fn begin(seed: u64) {
    host::begin(seed);
}

/// A run begins; while what is returned lives, the time of `std` is that of the run, where that is possible.
fn begin_run(seed: u64) -> impl Sized {
    host::begin(seed);
    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    std_clock::StdClockGuard::new()
}

#[cfg(test)]
#[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
#[allow(clippy::disallowed_methods, reason = "the time of std is what is tested")]
mod tests {
    use super::*;
    use std::time::{Duration, Instant, SystemTime};

    const YEAR: Duration = Duration::from_secs(365 * 86400);

    /// A test that slept for years would not end.
    #[test]
    fn std_sleeps_in_the_time_of_the_run_and_its_clocks_show_it() {
        let first = || {
            let (moment, wall, own) = (Instant::now(), SystemTime::now(), crate::task::now());
            std::thread::sleep(YEAR);
            let slept = (moment.elapsed(), wall.elapsed().expect("it goes on"), crate::task::now() - own);
            crate::tools::freeze();
            let frozen = Instant::now();
            assert_eq!(frozen.elapsed(), Duration::ZERO);
            crate::tools::advance(YEAR);
            assert_eq!(frozen.elapsed(), YEAR);
            (slept, wall.duration_since(SystemTime::UNIX_EPOCH).expect("later").as_secs())
        };
        let (slept, wall) = simulate(7, first);
        assert!(
            [slept.0, slept.1, slept.2].iter().all(|time| (YEAR..YEAR + Duration::from_micros(9)).contains(time)),
            "{slept:?}"
        );
        assert_eq!(wall, fozzy_trace::plan::WALL_START_DEFAULT);
        assert_eq!(simulate(7, first), (slept, wall), "the same in every run");
    }

    #[test]
    fn outside_of_a_run_and_on_other_threads_time_is_real() {
        let before = (Instant::now(), SystemTime::now());
        simulate(7, || {
            std::thread::sleep(YEAR);
            assert!(before.0.elapsed() >= YEAR, "moments of before the run are earlier");
            let of_thread = std::thread::scope(|scope| scope.spawn(|| before.0.elapsed()).join().expect("it ends"));
            assert!(of_thread < YEAR);
            simulate(8, || std::thread::sleep(YEAR));
        });
        assert!(before.0.elapsed() < YEAR && before.1.elapsed().is_ok_and(|time| time < YEAR));
        let caught = std::panic::catch_unwind(|| simulate(7, || panic!("a run that fails")));
        assert!(caught.is_err() && before.0.elapsed() < YEAR, "it is real again after a failure");
        std::thread::sleep(Duration::from_nanos(1));
    }
}
