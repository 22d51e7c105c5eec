//! Our side: a target of `bench/fuzz` as campaigns of the product call it, without the command around it.

use crate::measure::{process_clock, thread_clock};
use fozzy_campaign::fuzz::component_target::ComponentTarget;
use fozzy_campaign::pipeline::{LoadedTarget, PreparedProgram, RunPlan};
use fozzy_engine::{Build, EntryPoint};
use fozzy_search::FailureRecord;
use fozzy_search::fuzz::{
    Campaign, CampaignEnd, Dictionary, FuzzObserver, FuzzOutcome, FuzzTarget, Options, Stats, Testcase,
};
use fozzy_trace::plan::{FUEL_DEFAULT, Inputs, PlannedCall};
use fozzy_trace::{CmpLogEntry, CmpLogSites, HarnessError, Plan, Seed, Verdict};
use std::collections::BTreeSet;
use std::path::Path;

/// A function of a core module that is called with bytes, as the command calls it.
pub(super) struct Ours {
    pub(super) target: ComponentTarget,
    /// Seconds that were spent in the target, when they are taken.
    pub(super) spent: Option<f64>,
}

impl Ours {
    /// Compiles the module of that name in `folder`; in another process it comes from the cache.
    pub(super) fn new(folder: &Path, name: &str) -> Ours {
        Ours::of(&std::fs::read(folder.join(format!("{name}.wasm"))).expect("it was just built"))
    }

    pub(super) fn of(module: &[u8]) -> Ours {
        let loaded = LoadedTarget::of_bytes("target", module).expect("a core module with libFuzzer's entry point");
        let mut plan = Plan::default();
        plan.limits.fuel = FUEL_DEFAULT / 10;
        let planned = RunPlan::of(plan, Inputs::default());
        let prepared = PreparedProgram::to_call(loaded, planned, &Build::default()).expect("it compiles");
        let entry = EntryPoint::Call(PlannedCall::Fuzz("LLVMFuzzerTestOneInput".to_owned()));
        let target = ComponentTarget::open(&prepared, &entry, Seed(0), false).expect("it starts");
        Ours { target, spent: None }
    }

    /// The edges that `inputs` take: one ruler for the corpora of all engines.
    pub(super) fn edges(&mut self, inputs: &[Vec<u8>]) -> usize {
        let mut taken = BTreeSet::new();
        for input in inputs {
            self.target.execute(input).expect("the machine is well");
            let all = self.target.caller().coverage().flat_map(|(_, bytes)| bytes);
            taken.extend(all.enumerate().filter(|(_, byte)| **byte > 0).map(|(edge, _)| edge));
        }
        taken.len()
    }

    fn timed<T>(&mut self, work: impl FnOnce(&mut ComponentTarget) -> T) -> T {
        if self.spent.is_none() {
            return work(&mut self.target);
        }
        let begin = thread_clock();
        let result = work(&mut self.target);
        self.spent = self.spent.map(|spent| spent + thread_clock() - begin);
        result
    }
}

impl FuzzTarget for Ours {
    fn execute(&mut self, input: &[u8]) -> Result<FuzzOutcome, HarnessError> {
        self.timed(|target| target.execute(input))
    }

    fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
        self.target.coverage(see);
    }

    fn compare(
        &mut self,
        input: &[u8],
        sites: CmpLogSites<'_>,
        log: &mut Vec<CmpLogEntry>,
    ) -> Result<u64, HarnessError> {
        self.timed(|target| target.compare(input, sites, log))
    }

    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        self.target.confirm(input)
    }
}

/// Ends a campaign after so many CPU seconds of this process, and keeps what it is told.
pub(super) struct WatchedCampaign {
    begin: f64,
    seconds: f64,
    looked: u64,
    /// Executions that it had made by the end of each of its CPU seconds.
    pub(super) done_by_second: Vec<u64>,
    /// The execution of the fault that was found last, and what it is.
    pub(super) found: Option<(u64, String)>,
}

impl WatchedCampaign {
    pub(super) fn new(seconds: f64) -> WatchedCampaign {
        WatchedCampaign { begin: process_clock(), seconds, looked: 0, done_by_second: Vec::new(), found: None }
    }

    pub(super) fn elapsed(&self) -> f64 {
        process_clock() - self.begin
    }
}

impl FuzzObserver for WatchedCampaign {
    fn on_execution(&mut self, stats: &Stats) -> bool {
        self.looked += 1;
        if !self.looked.is_multiple_of(64) {
            return true;
        }
        let elapsed = self.elapsed();
        let second = elapsed as usize;
        self.done_by_second.resize(second + 1, stats.executions);
        self.done_by_second[second] = stats.executions;
        elapsed < self.seconds
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
) -> (Campaign, WatchedCampaign, CampaignEnd) {
    let options = Options { seed: Seed(seed), executions_max, first_only, ..Options::default() };
    let mut campaign = Campaign::new(options, Dictionary::default());
    let mut watched = WatchedCampaign::new(seconds);
    let ended = campaign.run(target, &mut std::iter::empty(), &mut watched).expect("the machine is well");
    (campaign, watched, ended)
}
