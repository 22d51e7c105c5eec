//! Stateful exploration: runs of a scenario that fail.

use crate::program::{Failure, project};
use crate::{Error, Plan, Program, Trace};
use fozzy_campaign::explore::cluster::ClusterRequest;
use fozzy_campaign::explore::setup::{ExplorationSetup, ExploreRequest};
use fozzy_search::explore::{Options, StopCondition, strategy};
use fozzy_trace::Seed;
use std::sync::Arc;

/// How a scenario is explored. Without a bound it is 1,000 runs.
#[derive(Clone, Debug)]
pub struct ExploreOptions {
    seed: u64,
    runs: u64,
    steps: Option<u32>,
    schedule: String,
    first_only: bool,
}

impl Default for ExploreOptions {
    fn default() -> ExploreOptions {
        ExploreOptions { seed: 0, runs: 1_000, steps: None, schedule: "coverage_guided".to_owned(), first_only: false }
    }
}

impl ExploreOptions {
    /// 1,000 runs, guided by coverage.
    pub fn new() -> ExploreOptions {
        ExploreOptions::default()
    }

    /// Where its randomness comes from.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> ExploreOptions {
        self.seed = seed;
        self
    }

    /// Runs after which it ends.
    #[must_use]
    pub fn runs(mut self, runs: u64) -> ExploreOptions {
        self.runs = runs;
        self
    }

    /// Steps of a run, at most.
    #[must_use]
    pub fn steps(mut self, steps: u32) -> ExploreOptions {
        self.steps = Some(steps);
        self
    }

    /// How ways are chosen, in the words of `fozzy explore --schedule`.
    #[must_use]
    pub fn schedule(mut self, name: &str) -> ExploreOptions {
        self.schedule = name.to_owned();
        self
    }

    /// The first failure ends it.
    #[must_use]
    pub fn first_only(mut self) -> ExploreOptions {
        self.first_only = true;
        self
    }
}

/// What an exploration came to.
#[derive(Clone, Debug)]
pub struct ExploreReport {
    runs: u64,
    steps: u64,
    edges: u64,
    failures: Vec<(Failure, Trace)>,
}

impl ExploreReport {
    /// Runs that were made.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Steps of all of them.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Edges of the program's code that were taken.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// The failures, each once, with a trace that shows it.
    pub fn failures(&self) -> impl Iterator<Item = (&Failure, &Trace)> {
        self.failures.iter().map(|(failure, trace)| (failure, trace))
    }
}

impl Program {
    /// Searches the ways through the steps of a scenario for one that fails. Equal calls find equal things.
    ///
    /// # Errors
    /// When the program is no scenario with steps, or there is no such schedule.
    ///
    /// ```
    /// use fozzy::{ExploreOptions, Plan, Program, Status};
    ///
    /// // A scenario that fails at its sixth step.
    /// let program = Program::from_bytes("steps.wat", br#"(module
    ///   (memory (export "memory") 1)
    ///   (data (i32.const 0) "\40\00\00\00\01\00\00\00\20\00\00\00\01\00\00\00")
    ///   (data (i32.const 32) "\40\00\00\00\01\00\00\00\01")
    ///   (data (i32.const 64) "f")
    ///   (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) i32.const 0)
    ///   (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32))
    ///   (func (export "fozzy:scenario/stateful@0.1.0#step") (param $step i32) (result i32)
    ///     (if (i32.eq (local.get $step) (i32.const 5)) (then unreachable))
    ///     i32.const 128)
    ///   (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)))"#)?;
    /// let found = program.explore(&Plan::new(), &ExploreOptions::new().runs(50).first_only())?;
    /// let (failure, trace) = found.failures().next().expect("it is found");
    /// assert_eq!(trace.status(), Status::Crash);
    /// assert_eq!(trace.replay()?.failure().as_ref(), Some(failure));
    /// # Ok::<(), fozzy::Error>(())
    /// ```
    pub fn explore(&self, plan: &Plan, options: &ExploreOptions) -> Result<ExploreReport, Error> {
        let row = strategy(&options.schedule)
            .ok_or_else(|| Error::Plan(format!("there is no schedule `{}`", options.schedule)))?;
        let bounds = Options {
            seed: Seed(options.seed),
            runs_max: options.runs,
            steps_per_run: options.steps.or(plan.flows).unwrap_or(Options::default().steps_per_run),
            stop: if options.first_only { StopCondition::FirstFinding } else { StopCondition::Bounds },
            ..Options::default()
        };
        let request = ExploreRequest {
            planned: None,
            strategy: row,
            options: bounds,
            steps: options.steps.or(plan.flows),
            run: plan.request.clone(),
            cluster: ClusterRequest::default(),
            resume: None,
            seed_of_state: false,
            time: None,
            stop: Arc::new(|| false),
            only_simulated: true,
        };
        let setup = ExplorationSetup::new(&project(), self.loaded(), &request).map_err(Error::of_campaign)?;
        let (exploration, mut recorder) = setup.in_memory().map_err(Error::of_campaign)?;
        let stats = *exploration.stats();
        let mut failures = Vec::new();
        for found in exploration.findings().all() {
            let Some(failure) = Failure::of(&found.verdict) else { continue };
            failures.push((failure, Trace::of(recorder.record(&found.input).map_err(Error::of_campaign)?)));
        }
        Ok(ExploreReport { runs: stats.runs, steps: stats.steps, edges: stats.edges, failures })
    }
}
