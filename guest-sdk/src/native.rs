//! Scenarios under `cargo test`: the same flows and the same values as in the sandbox, for the same seed.
//!
//! ```text
//! FOZZY_SEED=7 FOZZY_SEQUENCES=10 FOZZY_FLOWS=100 cargo test
//! ```
//!
//! The attributes make a test of each scenario, fuzz target and property; it takes its settings from the environment. What
//! fails there says its seed, and where it was.
//!
//! Not here: the simulated computer. Files, network and processes are the real ones, so what depends on them is for the
//! sandbox.

use crate::host;
use crate::scenario::{Runner, Scenario, StepResult};
use fozzy_trace::DecisionPart;
use fozzy_trace::facts::PropertyState;
use fozzy_trace::plan::ScenarioKind;

/// How far to go.
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
pub fn run<S: Scenario>(settings: Settings) -> Report {
    host::begin(settings.seed);
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
pub type Target = (&'static str, fn(&[u8]));

/// Calls functions that take bytes, in turn.
///
/// # Panics
/// When one does.
pub fn fuzz(targets: &[Target], settings: Settings) {
    host::begin(settings.seed);
    each(targets, ScenarioKind::Fuzz, settings, |target| target(&host::input()));
}

/// Calls functions that draw what they need, in turn.
///
/// # Panics
/// When one does.
pub fn property(properties: &[(&'static str, fn())], settings: Settings) {
    host::begin(settings.seed);
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

/// Begins a run on this thread, for draws outside a scenario: `begin(7)`.
pub fn begin(seed: u64) {
    host::begin(seed);
}
