//! Which decisions a run has: the place that asks, and the answer in classes.
//!
//! ```text
//! below(choice "retry", 3) ─▶ 0              choice retry = 0           few answers: each is a class
//! below(choice "amount", 1000) ─▶ 430        choice amount = 375 to 499 many: an eighth of them, and the two ends
//! fill(random, 16 bytes) ─▶ 7f 02 …          random … begins with 60 to 7f
//! pick(n2 of n1, n2) ─▶ n2                   schedule: n2 before n1, and once more as `at first`
//! ```
//!
//! Invariants: answers stay those of the source beneath; equal runs have equal decisions; bounded by places, by classes of each and in all.
//! Not here: whether a planned fault strikes, which is a thing of its own, and what goes with failures.

use fozzy_report::MachineNames;
use fozzy_report::suspects::{SuspectKind, SuspectThing};
use fozzy_trace::plan::Inputs;
use fozzy_trace::scheduler::MACHINES;
use fozzy_trace::{
    BackendRequest, DecisionSource, NodeId, ObservationLookup, Origin, Purpose, Question, SchedulingPoint, Seed, cut,
};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Places of a run that ask and are told apart.
const SITES_MAX: usize = 300;
/// Classes of one place, of one machine: all orders of a dozen machines.
const CLASSES_MAX: usize = 264;
/// Decisions of a run that count.
const DECISIONS_MAX: usize = 2_000;
/// Answers that are a class each; more are put together.
const EXACT_MAX: u64 = 16;
/// Classes of many answers, beside the first and the last one.
const PARTS: u64 = 8;
/// Bytes of the name of a place, which a program may choose.
const SITE_BYTES_MAX: usize = 80;

/// Answers that are not told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum AnswerClass {
    /// A number, from the first to the last of these.
    Number(u64, u64),
    /// Bytes, of which the first is from this on.
    Bytes(u8),
    /// One that is ready goes before another one that is ready, too.
    Before(u64, u64),
    /// The same the first time that both are.
    BeforeFirst(u64, u64),
}

/// Who asks for what.
type DecisionAsker = (NodeId, &'static str);

/// The decisions of a run so far, by place.
#[derive(Clone, Default)]
pub(super) struct NotedDecisions {
    sites: BTreeMap<String, BTreeMap<DecisionAsker, BTreeSet<AnswerClass>>>,
    count: usize,
    is_cut: bool,
}

/// Notes what a source decides.
pub(super) struct DecisionTap {
    beneath: Box<dyn DecisionSource>,
    noted: Arc<Mutex<NotedDecisions>>,
}

impl DecisionTap {
    pub(super) fn new(beneath: Box<dyn DecisionSource>, noted: Arc<Mutex<NotedDecisions>>) -> DecisionTap {
        DecisionTap { beneath, noted }
    }

    fn note(&self, work: impl FnOnce(&mut NotedDecisions)) {
        work(&mut self.noted.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl DecisionSource for DecisionTap {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let (answer, origin) = self.beneath.below(question, bound);
        self.note(|noted| noted.number(question, answer, bound));
        (answer, origin)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        let origin = self.beneath.fill(question, out);
        if let Some(first) = out.first() {
            let class = AnswerClass::Bytes(first & 0xe0);
            self.note(|noted| noted.add((question.node, question.purpose.name()), question.site, class));
        }
        origin
    }

    fn weigh(&mut self, weights: &[u32]) {
        self.beneath.weigh(weights);
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        let (answer, origin) = self.beneath.pick(question, point);
        self.note(|noted| noted.order(question, point, answer));
        (answer, origin)
    }

    fn seed(&self) -> Seed {
        self.beneath.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        // What goes on apart is another run from here on.
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Box::new(DecisionTap::new(self.beneath.fork(), Arc::new(Mutex::new(noted))))
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        self.beneath.observe(ask, bytes)
    }
}

impl NotedDecisions {
    fn number(&mut self, Question { node, purpose, site }: Question<'_>, answer: u64, bound: u64) {
        // Whether a planned fault strikes, by its rate: the strike counts.
        if matches!(purpose, Purpose::Fault | Purpose::Nemesis(_)) && bound > EXACT_MAX {
            return;
        }
        self.add((node, purpose.name()), site, number_class(answer, bound));
    }

    fn order(&mut self, Question { node, purpose, site }: Question<'_>, point: &SchedulingPoint<'_>, answer: u64) {
        let Some(first) = usize::try_from(answer).ok().and_then(|place| point.ready.get(place)) else { return };
        // Who asks for machines is one of those that are ready.
        let asker = (if point.kind == MACHINES { NodeId(0) } else { node }, purpose.name());
        for other in point.ready.iter().filter(|other| other.number != first.number) {
            let (before, after) = (first.number, other.number);
            let orders = [AnswerClass::Before(before, after), AnswerClass::Before(after, before)];
            if !orders.iter().any(|order| self.has(asker, site, *order)) {
                self.add(asker, site, AnswerClass::BeforeFirst(before, after));
            }
            self.add(asker, site, orders[0]);
        }
    }

    fn has(&self, asker: DecisionAsker, site: &str, class: AnswerClass) -> bool {
        self.sites.get(site).and_then(|askers| askers.get(&asker)).is_some_and(|classes| classes.contains(&class))
    }

    fn add(&mut self, asker: DecisionAsker, site: &str, class: AnswerClass) {
        if self.has(asker, site, class) {
            return;
        }
        let is_full = self.count >= DECISIONS_MAX || self.sites.len() >= SITES_MAX && !self.sites.contains_key(site);
        if is_full {
            self.is_cut = true;
            return;
        }
        let classes = self.sites.entry(site.to_owned()).or_default().entry(asker).or_default();
        match classes.len() < CLASSES_MAX {
            true => {
                classes.insert(class);
                self.count += 1;
            }
            false => self.is_cut = true,
        }
    }

    /// Whether some do not count.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// All of them, in words.
    pub(super) fn things(&self, names: &MachineNames) -> Vec<SuspectThing> {
        let mut things = Vec::new();
        for (site, askers) in &self.sites {
            let site = cut(site, SITE_BYTES_MAX);
            for ((node, purpose), classes) in askers {
                let is_schedule = *purpose == Purpose::Schedule.name();
                let place = if is_schedule { (*purpose).to_owned() } else { format!("{purpose} {site}") };
                let place = if *node == NodeId(0) { place } else { format!("{}: {place}", names.name(*node)) };
                let words = classes.iter().map(|class| format!("{place}{}", class.words(is_schedule, names)));
                things.extend(words.map(|what| SuspectThing::new(SuspectKind::Decision, what)));
            }
        }
        things
    }
}

impl AnswerClass {
    fn words(self, are_machines: bool, names: &MachineNames) -> String {
        let name = |number: u64| match u32::try_from(number) {
            Ok(number) if are_machines => names.name(NodeId(number)),
            _ => number.to_string(),
        };
        match self {
            AnswerClass::Number(first, last) if first == last => format!(" = {first}"),
            AnswerClass::Number(first, last) => format!(" = {first} to {last}"),
            AnswerClass::Bytes(first) => format!(" begins with {first:02x} to {:02x}", first | 0x1f),
            AnswerClass::Before(first, other) => format!(": {} before {}", name(first), name(other)),
            AnswerClass::BeforeFirst(first, other) => format!(": {} before {} at first", name(first), name(other)),
        }
    }
}

fn number_class(answer: u64, bound: u64) -> AnswerClass {
    if bound <= EXACT_MAX || answer == 0 || answer >= bound - 1 {
        return AnswerClass::Number(answer, answer);
    }
    let (wide, parts) = (u128::from(bound), u128::from(PARTS));
    let part = u128::from(answer) * parts / wide;
    // It is below the bound, which has 64 bits.
    let begin = |part: u128| (part * wide).div_ceil(parts) as u64;
    AnswerClass::Number(begin(part), begin(part + 1) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::plan::Plan;
    use fozzy_trace::source::SeededSource;
    use fozzy_trace::{DecisionPart, ReadyTask, SchedulePolicy};

    fn words(noted: &NotedDecisions) -> Vec<String> {
        noted.things(&MachineNames::of(&Plan::default())).into_iter().map(|thing| thing.what).collect()
    }

    #[test]
    fn each_answer_is_in_one_class_and_classes_are_few() {
        for bound in [1, 16, 17, 100, 1 << 20, u64::MAX] {
            let mut answers: Vec<u64> = (0..bound.min(200)).collect();
            answers.extend((1..=50).map(|part| bound / 50 * part).filter(|answer| *answer < bound));
            let mut classes = BTreeSet::new();
            for answer in answers {
                let AnswerClass::Number(first, last) = number_class(answer, bound) else { unreachable!("a number") };
                assert!(first <= answer && answer <= last && last < bound, "{answer} of {bound}: {first} to {last}");
                classes.insert((first, last));
            }
            assert!(classes.len() as u64 <= EXACT_MAX, "{bound}: {classes:?}");
        }
    }

    #[test]
    fn answers_are_those_of_the_source_and_places_are_bounded() {
        let choice =
            |site: &'static str| Question { node: NodeId(0), purpose: Purpose::Choice(DecisionPart::WHOLE), site };
        let noted = Arc::<Mutex<NotedDecisions>>::default();
        let mut source = DecisionTap::new(Box::new(SeededSource::new(Seed(7))), Arc::clone(&noted));
        let mut beneath = SeededSource::new(Seed(7));
        let (answer, _) = source.below(choice("retry"), 2);
        assert_eq!(answer, beneath.below(choice("retry"), 2).0);
        let (mut bytes, mut plain) = ([0; 4], [0; 4]);
        source.fill(choice("bytes"), &mut bytes);
        beneath.fill(choice("bytes"), &mut plain);
        assert_eq!(bytes, plain);
        let task = |number| ReadyTask { number, steps: 0, object: 0 };
        let ready = [task(1), task(2)];
        let policy = SchedulePolicy::Random;
        let point = SchedulingPoint { kind: MACHINES, run: 0, policy, touched: &[], ready: &ready };
        let turn = Question { node: NodeId(1), purpose: Purpose::Schedule, site: "next guest" };
        let (place, _) = source.pick(turn, &point);
        let found = words(&noted.lock().expect("nobody panicked"));
        assert!(found.contains(&format!("choice retry = {answer}")), "{found:?}");
        let order = if place == 0 { "schedule: n1 before n2" } else { "schedule: n2 before n1" };
        assert!(found.contains(&order.to_owned()) && found.contains(&format!("{order} at first")), "{found:?}");
        assert_eq!(found.len(), 4, "{found:?}");
        let mut many = NotedDecisions::default();
        for number in 0..2 * SITES_MAX as u64 {
            many.add((NodeId(0), "choice"), &format!("place {number}"), AnswerClass::Number(0, 0));
        }
        assert!(many.is_cut() && words(&many).len() == SITES_MAX, "bounded, and said");
    }
}
