//! Stateful scenarios: what the attribute `scenario` makes of an `impl`, and how it is stepped.
//!
//! ```text
//! begin_sequence   S::default()  pre_sequence
//! step             weighted over the flows that are valid now ─▶ pre_flow  flow  post_flow
//!                  invariants that are due: pre_invariants  (pre_invariant  invariant  post_invariant)…  post_invariants
//! end_sequence     post_sequence
//! ```
//!
//! What ends a run: the first failure, a property that does not hold or a trap, ends the whole execution, with the sequences
//! that would have come. It is what is made simpler and replayed; other seeds find other failures. A planned loss of power
//! ends its sequence only: the model of a scenario is in its memory, which is gone. A scenario that wants to look at what
//! is left keeps its model and calls [`tools::lose_power`](crate::tools::lose_power) instead.
//!
//! Invariants: one step draws its flow first, and by one question; arguments of a flow are drawn in their order.
//! Not here: who calls (the run, or `native`).

use crate::{host, narration, properties};
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::Cell;

/// A flow, as the attribute describes it.
///
/// ```
/// use fozzy_sdk::prelude::*;
/// use fozzy_sdk::scenario::Scenario;
///
/// #[derive(Default)]
/// struct Log(Vec<&'static str>);
///
/// #[scenario]
/// impl Log {
///     #[flow(weight = 7, max_times = 2)]
///     fn write(&mut self) {}
///
///     fn pre_flow(&mut self, flow: &Flow) { self.0.push(flow.name); }
/// }
/// assert_eq!(Log::FLOWS, [Flow { name: "write", weight: 7, max_times: Some(2) }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The name of its function.
    pub name: &'static str,
    /// How likely it is beside the other flows that are valid.
    pub weight: u32,
    /// How often it may run in one sequence.
    pub max_times: Option<u32>,
}

/// An invariant, as the attribute describes it.
///
/// ```
/// use fozzy_sdk::prelude::*;
/// use fozzy_sdk::scenario::Scenario;
///
/// #[derive(Default)]
/// struct Empty;
///
/// #[scenario]
/// impl Empty {
///     #[flow]
///     fn nothing(&mut self) {}
///
///     #[invariant(period = 10)]
///     fn is_empty(&self) {}
/// }
/// assert_eq!(Empty::INVARIANTS, [Invariant { name: "is_empty", period: 10 }]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// The name of its function.
    pub name: &'static str,
    /// The period in steps: it is checked after each period.
    pub period: u32,
}

/// Why a flow did nothing.
///
/// ```
/// use fozzy_sdk::prelude::*;
///
/// assert_eq!(Skip::new("no account").label(), "no account");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    label: String,
}

impl Skip {
    /// A skip that is counted under this label.
    #[must_use]
    pub fn new(label: impl Into<String>) -> Skip {
        Skip { label: label.into() }
    }

    /// Its label.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.label
    }
}

/// What became of a flow.
///
/// ```
/// use fozzy_sdk::prelude::*;
/// use fozzy_sdk::scenario::Outcome;
///
/// fn withdraw(balance: &mut u32) -> Outcome {
///     if *balance == 0 {
///         skip!("nothing is left");
///     }
///     *balance -= 1;
///     Ok(())
/// }
/// assert!(withdraw(&mut 0).is_err());
/// ```
pub type Outcome = Result<(), Skip>;

/// What a flow may return: nothing, or `Result<(), Skip>`. The attribute `scenario` accepts any value that has `Debug`, too: it
/// is shown as what the step came to, and an error is a failure.
///
/// ```
/// use fozzy_sdk::scenario::{IntoOutcome, Skip};
///
/// assert_eq!(().into_outcome(), Ok(()));
/// assert_eq!(Err::<(), _>(Skip::new("later")).into_outcome(), Err(Skip::new("later")));
/// ```
pub trait IntoOutcome {
    /// As an outcome.
    fn into_outcome(self) -> Outcome;
}

impl IntoOutcome for () {
    fn into_outcome(self) -> Outcome {
        Ok(())
    }
}

impl IntoOutcome for Outcome {
    fn into_outcome(self) -> Outcome {
        self
    }
}

/// What the attribute `scenario` implements.
///
/// ```
/// use fozzy_sdk::scenario::{Flow, Invariant, Outcome, Scenario};
///
/// // By hand, where flows are not known when the program is compiled.
/// #[derive(Default)]
/// struct Steps(u32);
///
/// impl Scenario for Steps {
///     const NAME: &'static str = "Steps";
///     const FLOWS: &'static [Flow] = &[Flow { name: "step", weight: 1, max_times: None }];
///     const INVARIANTS: &'static [Invariant] = &[];
///
///     fn is_valid(&self, _flow: usize) -> bool { true }
///     fn run(&mut self, _flow: usize) -> Outcome { self.0 += 1; Ok(()) }
///     fn check(&mut self, _invariant: usize) {}
/// }
/// ```
pub trait Scenario: Default {
    /// The name of the type.
    const NAME: &'static str;
    /// Its flows, in the order of the source.
    const FLOWS: &'static [Flow];
    /// Its invariants, in the order of the source.
    const INVARIANTS: &'static [Invariant];

    /// Whether the precondition of the flow at this place holds.
    fn is_valid(&self, flow: usize) -> bool;
    /// Runs the flow at this place, with arguments that it draws.
    fn run(&mut self, flow: usize) -> Outcome;
    /// Checks the invariant at this place.
    fn check(&mut self, invariant: usize);

    /// Before each sequence.
    fn pre_sequence(&mut self) {}
    /// After each sequence.
    fn post_sequence(&mut self) {}
    /// Before each flow.
    fn pre_flow(&mut self, _flow: &Flow) {}
    /// After each flow, also one that was skipped.
    fn post_flow(&mut self, _flow: &Flow) {}
    /// Before the invariants of a step, if one is due.
    fn pre_invariants(&mut self) {}
    /// After the invariants of a step, if one was due.
    fn post_invariants(&mut self) {}
    /// Before each invariant.
    fn pre_invariant(&mut self, _invariant: &Invariant) {}
    /// After each invariant.
    fn post_invariant(&mut self, _invariant: &Invariant) {}
}

crate::__local! {
    static POSITION: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

/// The number of the sequence, from 0.
///
/// ```
/// assert_eq!(fozzy_sdk::sequence_num(), 0, "outside of a scenario");
/// ```
#[must_use]
pub fn sequence_num() -> u32 {
    POSITION.get().0
}

/// The number of the step in its sequence, from 0.
///
/// ```
/// if fozzy_sdk::flow_num() % 10 == 0 {
///     // Every tenth step.
/// }
/// ```
#[must_use]
pub fn flow_num() -> u32 {
    POSITION.get().1
}

/// What a step did.
///
/// ```
/// use fozzy_sdk::scenario::{Skip, StepResult};
///
/// let label = |result: StepResult| match result {
///     StepResult::Ran(flow) => format!("flow {flow}"),
///     StepResult::Skipped(flow, skip) => format!("flow {flow}: {}", skip.label()),
///     StepResult::Stuck(why) => why,
/// };
/// assert_eq!(label(StepResult::Skipped(1, Skip::new("no account"))), "flow 1: no account");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StepResult {
    /// This flow ran.
    Ran(usize),
    /// This flow found nothing to do.
    Skipped(usize, Skip),
    /// No flow is valid; why, for each.
    Stuck(String),
}

/// One sequence of a scenario.
///
/// ```
/// use fozzy_sdk::prelude::*;
/// use fozzy_sdk::scenario::{Runner, StepResult};
///
/// #[derive(Default)]
/// struct Counter(u32);
///
/// #[scenario]
/// impl Counter {
///     #[flow(max_times = 1)]
///     fn once(&mut self) { self.0 += 1; }
/// }
///
/// let mut runner = Runner::<Counter>::begin(0);
/// assert_eq!(runner.step(0), StepResult::Ran(0));
/// assert!(matches!(runner.step(1), StepResult::Stuck(why) if why == "`once` ran its 1 times"));
/// runner.end();
/// ```
#[derive(Debug)]
pub struct Runner<S> {
    scenario: S,
    /// How often each flow ran.
    times: Vec<u32>,
    weights: Vec<u32>,
}

impl<S: Scenario> Runner<S> {
    /// A sequence begins.
    #[must_use]
    pub fn begin(sequence: u32) -> Runner<S> {
        POSITION.set((sequence, 0));
        narration::begin();
        properties::count();
        let mut scenario = S::default();
        scenario.pre_sequence();
        Runner { scenario, times: vec![0; S::FLOWS.len()], weights: vec![0; S::FLOWS.len()] }
    }

    /// The next step.
    pub fn step(&mut self, step: u32) -> StepResult {
        POSITION.set((sequence_num(), step));
        for (place, flow) in S::FLOWS.iter().enumerate() {
            let left = flow.max_times.is_none_or(|most| self.times[place] < most);
            let valid = left && flow.weight > 0 && self.scenario.is_valid(place);
            self.weights[place] = if valid { flow.weight } else { 0 };
        }
        if self.weights.iter().all(|weight| *weight == 0) {
            return StepResult::Stuck(self.why_none());
        }
        let place = host::weighted("flow", &self.weights) as usize;
        let flow = &S::FLOWS[place];
        self.scenario.pre_flow(flow);
        let outcome = self.scenario.run(place);
        self.scenario.post_flow(flow);
        self.check(step);
        match outcome {
            Ok(()) => {
                self.times[place] += 1;
                StepResult::Ran(place)
            }
            Err(skip) => StepResult::Skipped(place, skip),
        }
    }

    /// The sequence ends.
    pub fn end(mut self) {
        self.scenario.post_sequence();
        properties::tell();
    }

    fn check(&mut self, step: u32) {
        let is_due = |invariant: &Invariant| (step + 1) % invariant.period.max(1) == 0;
        if !S::INVARIANTS.iter().any(is_due) {
            return;
        }
        self.scenario.pre_invariants();
        for (place, invariant) in S::INVARIANTS.iter().enumerate().filter(|(_, invariant)| is_due(invariant)) {
            self.scenario.pre_invariant(invariant);
            self.scenario.check(place);
            self.scenario.post_invariant(invariant);
        }
        self.scenario.post_invariants();
    }

    fn why_none(&self) -> String {
        let why = S::FLOWS.iter().enumerate().map(|(place, flow)| {
            let reason = match flow.max_times {
                Some(most) if self.times[place] >= most => format!("ran its {most} times"),
                _ if flow.weight == 0 => "has the weight 0".to_owned(),
                _ => "its precondition does not hold".to_owned(),
            };
            format!("`{}` {reason}", flow.name)
        });
        why.collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes down everything that happens to it.
    #[derive(Default)]
    struct Diary(Vec<String>);

    impl Scenario for Diary {
        const NAME: &'static str = "Diary";
        const FLOWS: &'static [Flow] = &[
            Flow { name: "once", weight: 100, max_times: Some(1) },
            Flow { name: "never", weight: 100, max_times: None },
            Flow { name: "skips", weight: 1, max_times: Some(2) },
        ];
        const INVARIANTS: &'static [Invariant] =
            &[Invariant { name: "each", period: 1 }, Invariant { name: "second", period: 2 }];

        fn is_valid(&self, flow: usize) -> bool {
            flow != 1 && self.0.len() < 1000
        }
        fn run(&mut self, flow: usize) -> Outcome {
            self.0.push(format!("flow {flow}"));
            if flow == 2 { Err(Skip::new("nothing")) } else { Ok(()) }
        }
        fn check(&mut self, invariant: usize) {
            self.0.push(format!("check {invariant}"));
        }
        fn pre_sequence(&mut self) {
            self.0.push("pre_sequence".into());
        }
        fn pre_flow(&mut self, flow: &Flow) {
            self.0.push(format!("pre {}", flow.name));
        }
        fn post_flow(&mut self, flow: &Flow) {
            self.0.push(format!("post {}", flow.name));
        }
        fn pre_invariants(&mut self) {
            self.0.push("pre all".into());
        }
        fn post_invariants(&mut self) {
            self.0.push("post all".into());
        }
        fn pre_invariant(&mut self, invariant: &Invariant) {
            self.0.push(format!("pre {}", invariant.name));
        }
        fn post_invariant(&mut self, invariant: &Invariant) {
            self.0.push(format!("post {}", invariant.name));
        }
    }

    #[test]
    fn the_order_of_hooks_is_that_of_the_picture() {
        // Until `once` has run, whatever comes first.
        let mut runner = Runner::<Diary>::begin(3);
        assert_eq!((sequence_num(), flow_num()), (3, 0));
        let mut results = Vec::new();
        for step in 0..2 {
            runner.scenario.0.retain(|line| line == "pre_sequence");
            results.push(runner.step(step));
        }
        assert_eq!(flow_num(), 1);
        let name = |result: &StepResult| match result {
            StepResult::Ran(place) | StepResult::Skipped(place, _) => (*place, S::FLOWS[*place].name),
            StepResult::Stuck(why) => panic!("{why}"),
        };
        use Diary as S;
        let (place, flow) = name(&results[1]);
        let expected = [
            "pre_sequence".to_owned(),
            format!("pre {flow}"),
            format!("flow {place}"),
            format!("post {flow}"),
            "pre all".into(),
            "pre each".into(),
            "check 0".into(),
            "post each".into(),
            "pre second".into(),
            "check 1".into(),
            "post second".into(),
            "post all".into(),
        ];
        assert_eq!(runner.scenario.0, expected);
    }

    #[test]
    fn a_flow_that_ran_its_times_is_drawn_no_more_and_a_skip_does_not_count() {
        let mut runner = Runner::<Diary>::begin(0);
        let results: Vec<StepResult> = (0..50).map(|step| runner.step(step)).collect();
        assert_eq!(results.iter().filter(|result| **result == StepResult::Ran(0)).count(), 1);
        assert_eq!(
            results.iter().filter(|result| **result == StepResult::Skipped(2, Skip::new("nothing"))).count(),
            49
        );
    }

    #[test]
    fn why_no_flow_is_valid_is_said_for_each() {
        let mut runner = Runner::<Diary>::begin(0);
        runner.times[0] = 1;
        runner.scenario.0 = vec![String::new(); 1000];
        let StepResult::Stuck(why) = runner.step(0) else { panic!("no flow is valid") };
        assert_eq!(
            why,
            "`once` ran its 1 times, `never` its precondition does not hold, `skips` its precondition does not hold"
        );
    }
}
