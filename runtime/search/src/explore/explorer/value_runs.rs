//! Runs for values, in an exploration of whole runs: a proposal, or a look at what a run compares.
//!
//! ```text
//! request ─▶ the same answers, logged ─▶ values drawn anew, logged ─▶ proposals ─▶ a run each ─▶ something new? requested in its turn
//! ```
//!
//! Not here: what is proposed (`values::whole_runs`).

use super::{Exploration, ExplorationEnd, ExplorationIo, RunProgress};
use crate::explore::guided_source::{AnswerPolicy, FaultChoice, TaskOrder};
use crate::explore::stateful_target::InputMoment;
use crate::explore::strategy::{CapturePolicy, RunOrigin, RunSpec};
use crate::explore::swarm::AnswerMask;
use crate::explore::values::{ComparedRun, ComparisonRequest, PinnedBytes, RunProposal, ValueRun, WholeRunValues};
use fozzy_trace::HarnessError;
use fozzy_trace::source::Override;
use std::sync::Arc;

/// Runs without anything new after which comparisons are looked at before all plain runs are made.
const BARREN_RUNS: u64 = 16;

/// How a run for values answers where its script ends.
pub(super) fn policy() -> AnswerPolicy {
    AnswerPolicy {
        mask: AnswerMask::All,
        order: TaskOrder::Any,
        simplest: false,
        toggle: 0.0,
        faults: FaultChoice::Chance,
    }
}

impl Exploration {
    /// A run that showed something new is worth a look at what it compares.
    pub(super) fn request_comparisons(&mut self, run: &RunProgress, pinned: Vec<PinnedBytes>) {
        let is_wanted = self.options.is_whole_run && self.values.has_wide && run.fresh.sum() > 0;
        if is_wanted && !run.answers.is_truncated() {
            self.whole_runs.request(self.answers_of(run), pinned);
        }
    }

    /// Takes note of the moments of a run at which something may come from outside.
    pub(super) fn learn_moments(&mut self, io: &ExplorationIo<'_>, run: &RunProgress) {
        let is_wanted = run.fresh.sum() > 0 || self.moments.is_barren();
        if !self.options.is_whole_run || run.answers.is_truncated() || !is_wanted {
            return;
        }
        let (mut found, first) = (Vec::new(), self.start.len());
        io.target.input_moments(&mut |moment| {
            let answer = moment.answer.checked_sub(first);
            found.extend(answer.map(|answer| InputMoment { answer, ..moment }));
        });
        if !found.is_empty() {
            self.moments.learn(self.answers_of(run), found);
        }
    }

    /// A run in which something comes from outside at a moment of another one, if it is time for one.
    pub(super) fn next_moment(&mut self) -> Option<RunSpec> {
        let script = self.moments.next(self.stats.runs, &mut self.comparing)?;
        let (origin, capture) = (RunOrigin::Start, CapturePolicy::New);
        Some(RunSpec { origin, steps: 1, script, policy: policy(), capture, compares: false })
    }

    pub(super) fn try_moment(
        &mut self,
        io: &mut ExplorationIo<'_>,
        spec: &RunSpec,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let (ended, run) = self.execute(io, spec)?;
        self.learn_moments(io, &run);
        self.request_comparisons(&run, Vec::new());
        Ok(ended)
    }

    /// All answers of a run, but for those before the beginning, which were asked before.
    fn answers_of(&self, run: &RunProgress) -> Vec<Override> {
        let path = run.before.path(&run.answers.snapshot(), run.steps);
        path.answers.get(self.start.len()..).unwrap_or_default().to_vec()
    }

    /// A run for values, if it is time for one.
    pub(super) fn next_value_run(&mut self, io: &ExplorationIo<'_>) -> Option<ValueRun> {
        if !self.options.is_whole_run || !self.values.has_wide {
            return None;
        }
        let (plain, stats) = (io.target.plain_runs(), &self.stats);
        let is_barren = stats.runs >= BARREN_RUNS && stats.steps - stats.last_new >= BARREN_RUNS;
        if stats.runs < plain / 4 || stats.runs < plain && !is_barren {
            return None;
        }
        self.whole_runs.next(stats.runs)
    }

    pub(super) fn try_value_run(
        &mut self,
        io: &mut ExplorationIo<'_>,
        next: ValueRun,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        match next {
            ValueRun::Propose(proposal) => self.try_run_proposal(io, proposal),
            ValueRun::Compare(request) => self.look_at_comparisons(io, &request),
        }
    }

    fn try_run_proposal(
        &mut self,
        io: &mut ExplorationIo<'_>,
        proposal: RunProposal,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let (ended, run) = self.execute_for_values(io, Arc::clone(&proposal.script), false)?;
        if run.fresh.sum() > 0 {
            self.whole_runs.record_success(proposal.fixup);
            self.request_comparisons(&run, proposal.pinned);
        } else if !run.answers.is_truncated() {
            self.whole_runs.look_beyond(self.answers_of(&run), proposal);
        }
        Ok(ended)
    }

    fn look_at_comparisons(
        &mut self,
        io: &mut ExplorationIo<'_>,
        request: &ComparisonRequest,
    ) -> Result<Option<ExplorationEnd>, HarnessError> {
        let (ended, run) = self.compared_run(io, Arc::clone(&request.answers))?;
        if ended.is_some() || self.has_made_all_runs() || !self.whole_runs.is_of_use(&run, request) {
            return Ok(ended);
        }
        let redrawn = WholeRunValues::redraw(&run, request, &mut self.comparing);
        let (ended, again) = self.compared_run(io, redrawn)?;
        self.whole_runs.learn(&run, &again, request, &mut self.comparing);
        Ok(ended)
    }

    fn compared_run(
        &mut self,
        io: &mut ExplorationIo<'_>,
        script: Arc<[Override]>,
    ) -> Result<(Option<ExplorationEnd>, ComparedRun), HarnessError> {
        let (ended, run) = self.execute_for_values(io, script, true)?;
        let mut log = Vec::new();
        io.target.comparisons(&mut log);
        Ok((ended, ComparedRun { answers: run.answers.since(0), log }))
    }

    fn execute_for_values(
        &mut self,
        io: &mut ExplorationIo<'_>,
        script: Arc<[Override]>,
        compares: bool,
    ) -> Result<(Option<ExplorationEnd>, RunProgress), HarnessError> {
        let capture = if compares { CapturePolicy::Nothing } else { CapturePolicy::New };
        let spec = RunSpec { origin: RunOrigin::Start, steps: 1, script, policy: policy(), capture, compares };
        self.origins.choose(1);
        let (ended, run) = self.execute(io, &spec)?;
        self.origins.learn(run.fresh.sum(), u64::from(run.steps));
        self.whole_runs.spend();
        Ok((ended, run))
    }
}
