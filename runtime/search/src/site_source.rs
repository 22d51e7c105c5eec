//! Recorded answers by the site of their question: for runs in which other questions are missing.
//!
//! ```text
//! recorded   step 3: io-error ─▶ 7, latency ─▶ 2, io-error ─▶ 9
//! asked      step 3:                latency ─▶ 2, io-error ─▶ 7         each site has its own answers, in their order
//! ```
//!
//! In `keyed_source` a question is the n-th of its purpose, so that one fault's questions move when another's are not asked. Here
//! it is the n-th of its site.
//!
//! Invariant: which answer a question gets depends on its place and site only; what was not recorded is answered by a seed.

use crate::keyed_source::{Decision, DecisionKey, is_chance};
use fozzy_trace::digest::unhex;
use fozzy_trace::plan::Inputs;
use fozzy_trace::source::{Override, RecordedSource};
use fozzy_trace::{
    BackendRequest, DecisionPart, DecisionSource, NodeId, Observation, ObservationLookup, Origin, Purpose, Question,
    RunningDigest, SchedulingPoint, Seed,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Where a question stands among all of its site.
type SitePlace = (DecisionPart, NodeId, Purpose, String);

/// The answers of a run, in the order of their questions at each site.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedAnswers(Arc<BTreeMap<SitePlace, Vec<Override>>>);

impl RecordedAnswers {
    /// Those of a log.
    pub(crate) fn of(log: &[Decision]) -> RecordedAnswers {
        let mut answers: BTreeMap<SitePlace, Vec<Override>> = BTreeMap::new();
        for Decision { key, site, answer, .. } in log {
            answers.entry((key.part, key.node, key.purpose, site.clone())).or_default().push(answer.clone());
        }
        RecordedAnswers(Arc::new(answers))
    }

    /// Those of a log, but for one question of chance, which gets the simplest answer.
    pub(crate) fn without(log: &[Decision], left_out: DecisionKey) -> RecordedAnswers {
        let calmed = |decision: &Decision| match decision.key == left_out {
            true => Decision { answer: Override::Number(0), ..decision.clone() },
            false => decision.clone(),
        };
        RecordedAnswers::of(&log.iter().map(calmed).collect::<Vec<_>>())
    }
}

/// Answers as recorded where that is known, and by a seed elsewhere.
#[derive(Clone)]
pub(crate) struct SiteSource {
    recorded: RecordedAnswers,
    beneath: RecordedSource,
    /// Whether faults, turns and the network's chance are drawn anew.
    redraws: bool,
    /// Whether they get the simplest answer where none was recorded.
    is_calm: bool,
    part: DecisionPart,
    /// Questions of this part so far.
    asked: BTreeMap<SitePlace, usize>,
    seed: Seed,
}

impl SiteSource {
    /// A source that answers as recorded, where it is asked the same. What was not recorded is drawn anew in each `round` but 0,
    /// which takes the seed of the recording; so are, in each odd round, faults, turns and the network's chance.
    pub(crate) fn new(
        recorded_seed: Seed,
        (observations, observed): (Arc<[Observation]>, Inputs),
        recorded: RecordedAnswers,
        round: u32,
    ) -> SiteSource {
        let seed = match round {
            0 => recorded_seed,
            round => {
                let mut fold = RunningDigest::default();
                fold.pair(recorded_seed.0, u64::from(round));
                Seed(fold.value())
            }
        };
        let beneath = RecordedSource::new(seed, BTreeMap::new()).observing(observations, observed);
        let (redraws, part) = (round % 2 == 1, DecisionPart::WHOLE);
        SiteSource { recorded, beneath, redraws, is_calm: false, part, asked: BTreeMap::new(), seed: recorded_seed }
    }

    /// The same; faults, turns and the network's chance are as recorded, and get the simplest answer where none was.
    pub(crate) fn calm(self) -> SiteSource {
        SiteSource { redraws: false, is_calm: true, ..self }
    }

    /// The recorded answer to a question.
    fn recorded(&mut self, Question { node, purpose, site }: Question<'_>) -> Option<Override> {
        if let Purpose::Choice(part) = purpose
            && node == NodeId(0)
            && part != self.part
        {
            self.part = part;
            self.asked.clear();
        }
        let part = if let Purpose::Nemesis(_) = purpose { DecisionPart::WHOLE } else { self.part };
        let place = (part, node, purpose, site.to_owned());
        let count = self.asked.entry(place.clone()).or_default();
        *count += 1;
        let answer = self.recorded.0.get(&place)?.get(*count - 1)?;
        (!self.redraws || !is_chance(purpose)).then(|| answer.clone())
    }

    fn number(&mut self, question: Question<'_>, bound: u64, drawn: (u64, Origin)) -> (u64, Origin) {
        match self.recorded(question) {
            Some(Override::Number(number)) if number.min(bound - 1) != drawn.0 => {
                (number.min(bound - 1), Origin::Explicit)
            }
            None if self.is_calm && is_chance(question.purpose) && drawn.0 != 0 => (0, Origin::Explicit),
            Some(Override::Number(_) | Override::Bytes(_)) | None => drawn,
        }
    }
}

impl DecisionSource for SiteSource {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let drawn = self.beneath.below(question, bound);
        self.number(question, bound, drawn)
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        let drawn = self.beneath.pick(question, point);
        self.number(question, point.ready.len() as u64, drawn)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        self.beneath.fill(question, out);
        let Some(Override::Bytes(text)) = self.recorded(question) else { return Origin::Seed };
        let bytes = unhex(&text).unwrap_or_default();
        let common = bytes.len().min(out.len());
        out[..common].copy_from_slice(&bytes[..common]);
        Origin::Explicit
    }

    fn seed(&self) -> Seed {
        self.seed
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        Box::new(self.clone())
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        self.beneath.observe(ask, bytes)
    }
}
