//! Our side: a target of `bench/fuzz` under the engine, without the command around it.

use crate::measure::{process_clock, thread_clock};
use fozzy_check::judge_end;
use fozzy_engine::{Cache, CallOutcome, EntryPoint, FuzzExecutor};
use fozzy_search::FailureRecord;
use fozzy_search::fuzz::{
    Campaign, CampaignEnd, Dictionary, FuzzObserver, FuzzOutcome, FuzzTarget, MemoryUse, Options, Stats, Testcase,
};
use fozzy_trace::plan::{FUEL_DEFAULT, Inputs, PlannedCall};
use fozzy_trace::{CmpLogEntry, ExecutionEnd, HarnessError, Plan, Seed, Status, Verdict};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A function of a core module that is called with bytes.
pub(super) struct Ours {
    pub(super) caller: FuzzExecutor,
    /// Seconds that were spent in the target, when they are taken.
    pub(super) spent: Option<f64>,
}

impl Ours {
    /// Compiles the module of that name in `folder`; in another process it comes from the cache.
    pub(super) fn new(folder: &Path, name: &str, cache: &Cache) -> Ours {
        Ours::of(&std::fs::read(folder.join(format!("{name}.wasm"))).expect("it was just built"), cache)
    }

    pub(super) fn of(module: &[u8], cache: &Cache) -> Ours {
        let loaded = fozzy_engine::load(module, Some(cache)).expect("a core module with libFuzzer's entry point");
        let call = PlannedCall::Fuzz("LLVMFuzzerTestOneInput".to_owned());
        let mut plan = Plan { call: Some(call.clone()), warm_up: true, ..Plan::default() };
        plan.limits.fuel = FUEL_DEFAULT / 10;
        let component: Arc<[u8]> = loaded.component.into();
        let searched = EntryPoint::Call(call);
        let started = |plan: &Plan| {
            FuzzExecutor::new(Arc::clone(&component), plan, &Inputs::default(), &searched, Seed(0), Some(cache))
        };
        let caller = started(&plan).or_else(|_| {
            plan.warm_up = false;
            started(&plan)
        });
        Ours { caller: caller.expect("it starts"), spent: None }
    }

    /// The edges that `inputs` take: one ruler for the corpora of all engines.
    pub(super) fn edges(&mut self, inputs: &[Vec<u8>]) -> usize {
        let mut taken = BTreeSet::new();
        for input in inputs {
            self.caller.call(input, None).expect("the machine is well");
            let all = self.caller.coverage().flat_map(|(_, bytes)| bytes);
            taken.extend(all.enumerate().filter(|(_, byte)| **byte > 0).map(|(edge, _)| edge));
        }
        taken.len()
    }

    fn timed<T>(&mut self, work: impl FnOnce(&mut FuzzExecutor) -> T) -> T {
        if self.spent.is_none() {
            return work(&mut self.caller);
        }
        let begin = thread_clock();
        let result = work(&mut self.caller);
        self.spent = self.spent.map(|spent| spent + thread_clock() - begin);
        result
    }
}

impl FuzzTarget for Ours {
    fn execute(&mut self, input: &[u8]) -> Result<FuzzOutcome, HarnessError> {
        let failed = match self.timed(|caller| caller.call(input, None))? {
            CallOutcome::Returned | CallOutcome::Ended { end: ExecutionEnd::Exited { code: 0 }, .. } => None,
            CallOutcome::Ended { end, backtrace, stderr } => Some(Box::new(judge_end(&end, &stderr, &backtrace))),
        };
        let memory = MemoryUse::of(self.caller.memory_bytes(), self.caller.written_pages(), input.len());
        Ok(FuzzOutcome { failed, memory })
    }

    fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
        self.caller.coverage().for_each(|(_, bytes)| see(bytes));
    }

    fn compare(&mut self, input: &[u8], log: &mut Vec<CmpLogEntry>) -> Result<(), HarnessError> {
        self.timed(|caller| caller.compare(input, None, log))
    }

    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        let none = Verdict { status: Status::Pass, findings: Vec::new(), signature: None };
        Ok(self.execute(input)?.failed.map_or(none, |failed| *failed))
    }
}

/// Ends a campaign after so many CPU seconds of this process, and keeps what it is told.
pub(super) struct Watched {
    begin: f64,
    seconds: f64,
    looked: u64,
    /// The execution of the fault that was found last, and what it is.
    pub(super) found: Option<(u64, String)>,
}

impl Watched {
    pub(super) fn new(seconds: f64) -> Watched {
        Watched { begin: process_clock(), seconds, looked: 0, found: None }
    }

    pub(super) fn elapsed(&self) -> f64 {
        process_clock() - self.begin
    }
}

impl FuzzObserver for Watched {
    fn on_execution(&mut self, _: &Stats) -> bool {
        self.looked += 1;
        !self.looked.is_multiple_of(64) || self.elapsed() < self.seconds
    }

    fn on_testcase(&mut self, _: &Testcase) -> Result<(), HarnessError> {
        Ok(())
    }

    fn on_failure(&mut self, found: &FailureRecord) -> Result<(), HarnessError> {
        let title = found.verdict.signature.as_ref().map(ToString::to_string).unwrap_or_default();
        self.found = Some((found.found_at, title));
        Ok(())
    }

    fn on_minimized(&mut self, _: &[u8], _: &Verdict) -> Result<(), HarnessError> {
        Ok(())
    }
}

/// A campaign from an empty corpus, until it has made its executions, used up its CPU seconds, or found a fault.
pub(super) fn campaign(
    target: &mut dyn FuzzTarget,
    seed: u64,
    executions_max: u64,
    seconds: f64,
    first_only: bool,
) -> (Campaign, Watched, CampaignEnd) {
    let options = Options { seed: Seed(seed), executions_max, first_only, ..Options::default() };
    let mut campaign = Campaign::new(options, Dictionary::default());
    let mut watched = Watched::new(seconds);
    let ended = campaign.run(target, &mut std::iter::empty(), &mut watched).expect("the machine is well");
    (campaign, watched, ended)
}
