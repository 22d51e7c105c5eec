//! Inputs that make a function fail.

use crate::program::{Failure, project};
use crate::{Error, Plan, Program, Trace};
use fozzy_campaign::fuzz::choose::EntryPointChoice;
use fozzy_campaign::fuzz::setup::{CampaignSetup, FuzzRequest};
use fozzy_campaign::pipeline::ENTRIES_KEPT;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_report::RunMode;
use fozzy_search::FailureRecord;
use fozzy_search::fuzz::{FuzzObserver, Options, Stats, Testcase};
use fozzy_trace::plan::ScenarioPlan;
use fozzy_trace::{HarnessError, Seed, Verdict};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How a function is fuzzed. Without a bound it is 10,000 executions.
#[derive(Clone, Debug, Default)]
pub struct FuzzOptions {
    seed: u64,
    executions: Option<u64>,
    time: Option<Duration>,
    function: Option<String>,
    stdin: bool,
    corpus: Vec<Vec<u8>>,
    first_only: bool,
}

impl FuzzOptions {
    /// 10,000 executions of the one fuzz target that the program has.
    pub fn new() -> FuzzOptions {
        FuzzOptions::default()
    }

    /// Where its randomness comes from.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> FuzzOptions {
        self.seed = seed;
        self
    }

    /// Executions after which it ends.
    #[must_use]
    pub fn executions(mut self, executions: u64) -> FuzzOptions {
        self.executions = Some(executions);
        self
    }

    /// Real time after which it ends. What is found then depends on the machine.
    #[must_use]
    pub fn time(mut self, time: Duration) -> FuzzOptions {
        self.time = Some(time);
        self
    }

    /// Which fuzz target, property or exported function; `stateful` for the sequences of a scenario.
    #[must_use]
    pub fn function(mut self, name: &str) -> FuzzOptions {
        self.function = Some(name.to_owned());
        self
    }

    /// Inputs are the standard input of the program.
    #[must_use]
    pub fn stdin(mut self) -> FuzzOptions {
        self.stdin = true;
        self
    }

    /// An input to begin with.
    #[must_use]
    pub fn begin_with(mut self, input: &[u8]) -> FuzzOptions {
        self.corpus.push(input.to_vec());
        self
    }

    /// The first failure ends it.
    #[must_use]
    pub fn first_only(mut self) -> FuzzOptions {
        self.first_only = true;
        self
    }
}

/// Executions without any other bound.
const EXECUTIONS_DEFAULT: u64 = 10_000;
/// Executions between two looks at the clock.
const LOOK_EVERY: u64 = 16;

/// An input that fails.
#[derive(Clone, Debug)]
pub struct Finding {
    input: Vec<u8>,
    failure: Failure,
    trace: Trace,
}

impl Finding {
    /// The input.
    pub fn input(&self) -> &[u8] {
        &self.input
    }

    /// What fails.
    pub fn failure(&self) -> &Failure {
        &self.failure
    }

    /// A run of the function on this input.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }
}

/// What a campaign came to.
#[derive(Clone, Debug)]
pub struct FuzzReport {
    executions: u64,
    edges: u64,
    corpus: Vec<Vec<u8>>,
    findings: Vec<Finding>,
}

impl FuzzReport {
    /// Executions that were made.
    pub fn executions(&self) -> u64 {
        self.executions
    }

    /// Edges of the program's code that were taken.
    pub fn edges(&self) -> u64 {
        self.edges
    }

    /// Inputs that reached something new, in the order in which they were found.
    pub fn corpus(&self) -> &[Vec<u8>] {
        &self.corpus
    }

    /// The failures, each once.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }
}

/// Keeps the corpus, and looks at the clock.
struct FindingCollector {
    corpus: Vec<Vec<u8>>,
    watch: Stopwatch,
    time: Option<Duration>,
    calls: u64,
}

impl FuzzObserver for FindingCollector {
    fn on_execution(&mut self, _: &Stats) -> bool {
        self.calls += 1;
        !self.calls.is_multiple_of(LOOK_EVERY) || self.time.is_none_or(|time| self.watch.elapsed() < time)
    }

    fn on_testcase(&mut self, testcase: &Testcase) -> Result<(), HarnessError> {
        self.corpus.push(testcase.input.to_vec());
        Ok(())
    }

    fn on_failure(&mut self, _: &FailureRecord) -> Result<(), HarnessError> {
        Ok(())
    }

    fn on_minimized(&mut self, _: &[u8], _: &Verdict) -> Result<(), HarnessError> {
        Ok(())
    }
}

impl Program {
    /// Searches for inputs that make a function of the program fail. With a bound of executions, equal calls find equal things.
    ///
    /// # Errors
    /// When there is no such function, or several and none was named.
    ///
    /// ```
    /// use fozzy::{FuzzOptions, Plan, Program};
    ///
    /// let program = Program::from_bytes("parse.wat", br#"(module
    ///   (memory (export "memory") 2)
    ///   (func (export "LLVMFuzzerTestOneInput") (param $data i32) (param $size i32) (result i32)
    ///     (if (i32.eq (local.get $size) (i32.const 2)) (then
    ///       (if (i32.eq (i32.load16_u (local.get $data)) (i32.const 0x4241)) (then unreachable))))
    ///     (i32.const 0)))"#)?;
    /// let found = program.fuzz(&Plan::new(), &FuzzOptions::new().executions(5_000).first_only())?;
    /// assert_eq!(found.findings()[0].input(), b"AB");
    /// # Ok::<(), fozzy::Error>(())
    /// ```
    pub fn fuzz(&self, plan: &Plan, options: &FuzzOptions) -> Result<FuzzReport, Error> {
        let executions = options.executions.or(options.time.is_none().then_some(EXECUTIONS_DEFAULT));
        let search = Options {
            seed: Seed(options.seed),
            executions_max: executions.unwrap_or(u64::MAX),
            first_only: options.first_only,
            ..Options::default()
        };
        let request = FuzzRequest {
            target: Path::new(self.name()),
            words: &[],
            choice: EntryPointChoice {
                stdin: options.stdin,
                function: options.function.as_deref(),
                flows: plan.flows.unwrap_or(ScenarioPlan::default().flows),
                ..EntryPointChoice::default()
            },
            seed: search.seed,
            run: plan.request.clone(),
            exits_fail: false,
            time: None,
            stop: Arc::new(|| false),
            only_simulated: true,
        };
        let setup = CampaignSetup::new(&project(), self.loaded(), &request).map_err(Error::of_campaign)?;
        let origin = setup.prepared.origin(search.seed, RunMode::Fuzz);
        let (watch, time) = (Stopwatch::start(), options.time);
        let mut keeper = FindingCollector { corpus: Vec::new(), watch, time, calls: 0 };
        let (campaign, mut confirmer) =
            setup.in_memory(search, &options.corpus, &mut keeper).map_err(Error::of_campaign)?;
        let stats = *campaign.stats();
        let mut findings = Vec::new();
        for found in campaign.findings().all() {
            let Some(failure) = Failure::of(&found.verdict) else { continue };
            let run = confirmer.execute(&found.input, 0..ENTRIES_KEPT).map_err(Error::of_harness)?;
            let recording = origin.record(confirmer.session().program(), run.plan, &run.inputs, &run.execution);
            findings.push(Finding { input: found.input.clone(), failure, trace: Trace::of(recording) });
        }
        Ok(FuzzReport { executions: stats.executions, edges: stats.edges, corpus: keeper.corpus, findings })
    }
}
