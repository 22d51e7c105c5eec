//! A program with other machines in its plan as a target of a campaign: the input goes to it, and all others are simulated.
//!
//! ```text
//! input ─▶ plan with the input ─▶ Session, all machines with coverage ─▶ verdict, edges of all machines
//!                              └▶ ComparisonSession, where it is asked for ─▶ what all machines compare
//! ```
//!
//! Each execution is a whole run with the seed of the campaign. So is one of a program that a plan holds to criteria, since they are of
//! whole runs.
//!
//! Invariant: what fails here fails in the run that is recorded: it is the same run, without edges.
//! Not here: programs that are alone (`component_target`), which are called from a checkpoint; searches over schedules (`explore`).

use super::confirmer::FindingConfirmer;
use super::target::CampaignTarget;
use crate::comparisons::ComparisonSession;
use crate::coverage::FUEL_TIMES;
use crate::error::CampaignError;
use crate::pipeline::PreparedProgram;
use fozzy_check::judge_of_search;
use fozzy_engine::{Build, EntryPoint, Session};
use fozzy_instrument::{CoverageMode, ModuleOrdinal};
use fozzy_search::fuzz::{FuzzOutcome, FuzzTarget, MemoryUse};
use fozzy_trace::facts::{PropertyStatuses, PropertyTable};
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{
    CmpLogEntry, CmpLogSites, Digest, Execution, ExecutionEnd, Executor, HarnessError, Plan, Seed, Status, Verdict,
};
use std::sync::Arc;

/// See the module.
pub struct MachinesTarget {
    session: Session,
    entry: EntryPoint,
    plan: Plan,
    inputs: Inputs,
    seed: Seed,
    /// Whether a program fails that exits with another code than 0.
    exits_fail: bool,
    confirmer: FindingConfirmer,
    compared: ComparisonSession,
    /// Modules of all components, in the order in which they were seen first, with the bytes of the last execution.
    modules: Vec<(Digest, ModuleOrdinal, Vec<u8>)>,
    /// How properties stand over all executions.
    properties: PropertyStatuses,
}

impl MachinesTarget {
    /// Whether an execution of a plan needs a whole run.
    #[must_use]
    pub fn is_for(plan: &Plan) -> bool {
        plan.programs().next().is_some() || !plan.criteria.is_empty()
    }

    /// The program, with the edges of all machines.
    pub fn open(
        prepared: &PreparedProgram,
        entry: &EntryPoint,
        seed: Seed,
        exits_fail: bool,
    ) -> Result<MachinesTarget, CampaignError> {
        let planned = &prepared.planned;
        let confirmer = FindingConfirmer::new(prepared, entry, seed)?;
        let build = Build { coverage: CoverageMode::Counters, ..Build::default() };
        let counted = prepared.rebuilt(&build)?;
        let mut session = counted.session()?;
        session.fuel_times(FUEL_TIMES);
        session.collect_bytes();
        let (plan, inputs) = (planned.plan.clone(), planned.inputs.clone());
        Ok(MachinesTarget {
            session,
            entry: entry.clone(),
            plan,
            inputs,
            seed,
            exits_fail,
            confirmer,
            compared: ComparisonSession::new(prepared, None),
            modules: Vec::new(),
            properties: PropertyStatuses::default(),
        })
    }

    fn run(&mut self, input: &[u8]) -> Result<Execution, HarnessError> {
        let (plan, inputs) = self.entry.planned(&self.plan, &self.inputs, input);
        let replanned = self.session.replan(Arc::new(plan), &inputs);
        replanned.map_err(|error| HarnessError::new(error.to_string()))?;
        let execution = self.session.execute(Box::new(SeededSource::new(self.seed)), 0..0)?;
        self.modules.iter_mut().for_each(|(_, _, bytes)| bytes.fill(0));
        for (component, modules) in self.session.coverage_bytes().into_iter().flatten() {
            for (module, bytes) in modules {
                match self.modules.iter_mut().find(|(of, known, _)| (of, known) == (component, module)) {
                    Some((_, _, last)) => last.clone_from(bytes),
                    None => self.modules.push((*component, *module, bytes.clone())),
                }
            }
        }
        Ok(execution)
    }

    /// Leaving is no failure of a program, which tells an error so, unless that was asked for, the plan says which codes are right, or
    /// it left by a panic.
    fn is_failure(&self, execution: &Execution, verdict: &Verdict) -> bool {
        let is_exit = matches!(execution.end, ExecutionEnd::Exited { code } if code != 0);
        let only_exit = is_exit
            && verdict.status != Status::Crash
            && verdict.findings.len() == 1
            && self.plan.criteria.exit_codes.is_empty();
        verdict.status != Status::Pass && (self.exits_fail || !only_exit)
    }
}

impl FuzzTarget for MachinesTarget {
    fn execute(&mut self, input: &[u8]) -> Result<FuzzOutcome, HarnessError> {
        let execution = self.run(input)?;
        self.properties.observe_all(&execution.facts.properties);
        let mut verdict = judge_of_search(&execution).verdict;
        // Edges take instructions, too: whether the rest is within the plan's bound, only the run without them says.
        if verdict.status == Status::Pass && execution.fuel_used > self.plan.limits.fuel {
            verdict = judge_of_search(&self.confirmer.execute(input, 0..0)?.execution).verdict;
        }
        let failed = self.is_failure(&execution, &verdict).then(|| Box::new(verdict));
        Ok(FuzzOutcome { failed, memory: MemoryUse::of(execution.memory_bytes, 0, input.len()) })
    }

    fn coverage(&self, see: &mut dyn FnMut(&[u8])) {
        self.modules.iter().for_each(|(_, _, bytes)| see(bytes));
    }

    fn is_slow(&self) -> bool {
        true
    }

    fn compare(
        &mut self,
        input: &[u8],
        sites: CmpLogSites<'_>,
        log: &mut Vec<CmpLogEntry>,
    ) -> Result<u64, HarnessError> {
        let (plan, inputs) = self.entry.planned(&self.plan, &self.inputs, input);
        let source = Box::new(SeededSource::new(self.seed));
        let execution = self.compared.execute(Some((plan, &inputs)), source)?;
        log.extend(self.compared.log().iter().filter(|entry| sites.includes(entry.site)));
        Ok(execution.fuel_used)
    }

    fn confirm(&mut self, input: &[u8]) -> Result<Verdict, HarnessError> {
        Ok(judge_of_search(&self.confirmer.confirm(input, 0..0)?.execution).verdict)
    }
}

impl CampaignTarget for MachinesTarget {
    /// Its edges are counted before the first input.
    fn begin(&mut self) -> Result<(), HarnessError> {
        self.run(&[]).map(drop)
    }

    fn edges_total(&self) -> u64 {
        self.modules.iter().map(|(_, _, bytes)| bytes.len() as u64).sum()
    }

    fn properties(&self) -> PropertyTable {
        self.properties.table()
    }
}
