//! The first run of an exploration: it shows whether there is anything to explore, and is judged like any other.
//!
//! ```text
//! seed ─▶ answers, noted ─▶ Execution ─▶ verdict ─ a failure? ▶ the first finding, with its path and its recording
//! ```
//!
//! For a program it is a whole run, the first one of the exploration. For a scenario it is one step, which does not
//! count as a run: the end of the scenario would be judged too early.
//!
//! Invariant: the path has all answers, whatever their source, so that a continued exploration can replay it.

use super::stateful_target::PathConfirmer;
use fozzy_check::{SearchVerdict, judge_of_search};
use fozzy_search::explore::{DecisionPath, Options};
use fozzy_trace::file::Recording;
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::Override;
use fozzy_trace::{
    BackendRequest, DecisionSource, Execution, HarnessError, ObservationLookup, Origin, Question, SchedulingPoint,
    Seed, digest,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Answers that are noted, by their weight. Of a run with more of them the path has those that were given before it, as the recording
/// tells the others.
const ANSWERS_MAX: usize = 1 << 20;

/// What the first run came to.
pub(crate) struct FirstRun {
    /// The way that it went.
    pub(crate) path: DecisionPath,
    /// How it ended.
    pub(crate) judged: SearchVerdict,
    /// The run, if it failed.
    pub(crate) recording: Option<Recording>,
}

impl FirstRun {
    /// Makes it: `path` is what is answered before the beginning.
    pub(crate) fn make(
        confirmer: &mut PathConfirmer,
        path: &DecisionPath,
    ) -> Result<(Execution, FirstRun), HarnessError> {
        let noted = SharedAnswers::default();
        let execution = confirmer.execute_by(path, &|source| {
            Box::new(NotingSource { source, noted: Some(Arc::clone(&noted)) }) as Box<dyn DecisionSource>
        })?;
        let judged = judge_of_search(&execution);
        let recording = judged.verdict.signature.is_some().then(|| confirmer.recording_of(path, &execution));
        let answers = std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner)).whole();
        let path = DecisionPath { answers: answers.unwrap_or_else(|| path.answers.clone()), steps: path.steps };
        Ok((execution, FirstRun { path, judged, recording }))
    }

    /// Whether it is one of the runs of an exploration with these options.
    pub(crate) fn is_run(&self, options: &Options) -> bool {
        options.runs_max > 0 && options.is_whole_run
    }
}

type SharedAnswers = Arc<Mutex<NotedAnswers>>;

#[derive(Debug, Default)]
struct NotedAnswers {
    answers: Vec<Override>,
    weight: usize,
}

impl NotedAnswers {
    fn note(&mut self, answer: Override) {
        self.weight = self.weight.saturating_add(answer.weight());
        if self.weight <= ANSWERS_MAX {
            self.answers.push(answer);
        } else {
            self.answers = Vec::new();
        }
    }

    /// All of them, if they are not too many.
    fn whole(self) -> Option<Vec<Override>> {
        (self.weight <= ANSWERS_MAX).then_some(self.answers)
    }
}

/// Notes what another source answers; a fork notes nothing.
struct NotingSource {
    source: Box<dyn DecisionSource>,
    noted: Option<SharedAnswers>,
}

impl NotingSource {
    fn note(&self, answer: impl FnOnce() -> Override) {
        if let Some(noted) = &self.noted {
            noted.lock().unwrap_or_else(PoisonError::into_inner).note(answer());
        }
    }
}

impl DecisionSource for NotingSource {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let answered = self.source.below(question, bound);
        self.note(|| Override::Number(answered.0));
        answered
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        let answered = self.source.pick(question, point);
        self.note(|| Override::Number(answered.0));
        answered
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        let origin = self.source.fill(question, out);
        self.note(|| Override::Bytes(digest::hex(out)));
        origin
    }

    fn weigh(&mut self, weights: &[u32]) {
        self.source.weigh(weights);
    }

    fn seed(&self) -> Seed {
        self.source.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        Box::new(NotingSource { source: self.source.fork(), noted: None })
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        self.source.observe(ask, bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::source::SeededSource;
    use fozzy_trace::{NodeId, Purpose};

    #[test]
    fn all_answers_are_noted_in_order_and_too_many_are_none() {
        let noted = SharedAnswers::default();
        let seeded = Box::new(SeededSource::new(Seed(1)));
        let mut source = NotingSource { source: seeded, noted: Some(Arc::clone(&noted)) };
        let question = Question { node: NodeId(0), purpose: Purpose::Fault, site: "disk" };
        let number = source.below(question, 10).0;
        let mut bytes = [0; 2];
        source.fill(question, &mut bytes);
        source.fork().below(question, 10);
        let whole = || std::mem::take(&mut *noted.lock().expect("no panic")).whole();
        assert_eq!(whole(), Some(vec![Override::Number(number), Override::Bytes(digest::hex(&bytes))]));
        (0..=ANSWERS_MAX).for_each(|_| source.note(|| Override::Number(0)));
        assert_eq!(whole(), None);
    }
}
