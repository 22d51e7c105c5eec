//! Answers drawn from ChaCha streams, one for each (seed, purpose, node).
//!
//! ```text
//! key = SHA-256("fozzy stream 1" ‖ seed ‖ purpose ‖ node)      ChaCha12 (RFC 8439 block, 12 rounds)
//! ```
//!
//! Choices of a program have one key, and each part of its run one of that key's 2^64 streams (ChaCha's nonce): going on
//! to the next part hashes nothing.
//!
//! Which task runs next by a policy of the program (`scheduler`) is drawn here too, and is the one answer that is stored though
//! it follows from the seed: it depends on earlier runs of the same tasks, which shrinking leaves out, and a trace must not
//! depend on how well a policy works.
//!
//! Invariant: the streams are value-stable across versions and machines; a draw of one stream never
//! moves another.

use crate::scheduler::{SchedulePolicy, Scheduler, SchedulingPoint};
use crate::{DecisionPart, DecisionSource, NodeId, Origin, Purpose, Question, Seed};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// Answers everything from a seed.
#[derive(Clone, Debug)]
pub struct SeededSource {
    seed: Seed,
    /// Sorted by node, then purpose: new machines come at the end.
    streams: Vec<(NodeId, Purpose, ChaCha12Rng)>,
    /// Index of the one used last, which is usually the next one used.
    last: usize,
    /// Of programs that want their tasks chosen in a certain way.
    scheduler: Scheduler,
}

impl SeededSource {
    /// A source that draws all answers from `seed`.
    #[must_use]
    pub fn new(seed: Seed) -> SeededSource {
        SeededSource { seed, streams: Vec::new(), last: 0, scheduler: Scheduler::default() }
    }

    #[inline]
    fn stream(&mut self, question: Question<'_>) -> &mut ChaCha12Rng {
        let wanted = (question.node, question.purpose);
        if self.streams.get(self.last).is_none_or(|(node, purpose, _)| (*node, *purpose) != wanted) {
            self.last = self.find(question.node, question.purpose);
        }
        &mut self.streams[self.last].2
    }

    /// The index of a stream, which is made at its first use.
    #[inline(never)]
    fn find(&mut self, node: NodeId, purpose: Purpose) -> usize {
        // Another part of a program's run: one comes with each step.
        if let (Some((its, last @ Purpose::Choice(_), stream)), Purpose::Choice(part)) =
            (self.streams.get_mut(self.last), purpose)
            && *its == node
        {
            *last = purpose;
            begin(stream, part);
            return self.last;
        }
        // Names tell purposes apart, and parts not: of a program's choices there is one stream at a time.
        let found = self.streams.binary_search_by_key(&(node, purpose.name()), |(node, its, _)| (*node, its.name()));
        let is_new = found.is_err();
        let index = found.unwrap_or_else(|place| {
            let key = Sha256::new()
                .chain_update(b"fozzy stream 1")
                .chain_update(self.seed.0.to_le_bytes())
                .chain_update(purpose.name())
                .chain_update(node.0.to_le_bytes())
                .finalize();
            self.streams.insert(place, (node, purpose, ChaCha12Rng::from_seed(key.into())));
            place
        });
        let stream = &mut self.streams[index];
        match purpose {
            Purpose::Choice(part) | Purpose::Nemesis(part) if is_new || stream.1 != purpose => {
                stream.1 = purpose;
                begin(&mut stream.2, part);
            }
            _ => {}
        }
        index
    }
}

/// The stream of a part begins, of the key that it has.
fn begin(stream: &mut ChaCha12Rng, part: DecisionPart) {
    // In this order nothing is made that is then thrown away.
    stream.set_word_pos(0);
    stream.set_stream(part.stream());
}

impl DecisionSource for SeededSource {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        assert!(bound > 0, "a question without an answer at {}", question.site);
        // Multiply-shift: one draw always, so that the stream's position does not depend on the bound.
        // Its bias is below bound / 2^64.
        let draw = self.stream(question).next_u64();
        let answer = (u128::from(draw) * u128::from(bound)) >> 64;
        (answer as u64, Origin::Seed)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        let stream = self.stream(question);
        match <&mut [u8; 8]>::try_from(&mut *out) {
            // The same bytes of the stream (a test holds it to that), without the general way's loops.
            Ok(word) => *word = stream.next_u64().to_le_bytes(),
            Err(_) => fill_any(stream, out),
        }
        Origin::Seed
    }

    fn pick(&mut self, question: Question<'_>, point: &SchedulingPoint<'_>) -> (u64, Origin) {
        if point.policy == SchedulePolicy::Random {
            return self.below(question, point.ready.len() as u64);
        }
        let draw = self.stream(question).next_u64();
        (self.scheduler.pick(question, point, point.policy, draw) as u64, Origin::Explicit)
    }

    fn seed(&self) -> Seed {
        self.seed
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        Box::new(self.clone())
    }

    fn begun_again(&self) -> Option<Box<dyn DecisionSource>> {
        Some(self.fork())
    }
}

/// Apart, so that the short way stays short.
#[inline(never)]
fn fill_any(stream: &mut ChaCha12Rng, out: &mut [u8]) {
    stream.fill_bytes(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(purpose: Purpose, node: u32) -> Question<'static> {
        Question { node: NodeId(node), purpose, site: "test" }
    }

    fn bytes(source: &mut SeededSource, purpose: Purpose, node: u32) -> [u8; 8] {
        let mut out = [0; 8];
        assert_eq!(source.fill(ask(purpose, node), &mut out), Origin::Seed);
        out
    }

    #[test]
    fn streams_do_not_shift_each_other() {
        let mut plain = SeededSource::new(Seed(7));
        let first = bytes(&mut plain, Purpose::Random, 0);
        let second = bytes(&mut plain, Purpose::Random, 0);
        let mut mixed = SeededSource::new(Seed(7));
        let other = bytes(&mut mixed, Purpose::Insecure, 0);
        assert_eq!(bytes(&mut mixed, Purpose::Random, 0), first);
        let elsewhere = bytes(&mut mixed, Purpose::Random, 1);
        assert_eq!(bytes(&mut mixed, Purpose::Random, 0), second);
        let all = [first, second, other, elsewhere];
        assert!((0..4).all(|i| (0..i).all(|j| all[i] != all[j])));
    }

    #[test]
    fn each_part_of_a_program_has_a_stream_of_its_own() {
        use crate::decision::DecisionPart;
        let parts = [
            DecisionPart::WHOLE,
            DecisionPart::beginning(0),
            DecisionPart::step(0, 0),
            DecisionPart::step(0, 1),
            DecisionPart::step(1, 0),
            DecisionPart::ending(0),
        ];
        let alone: Vec<[u8; 8]> =
            parts.iter().map(|part| bytes(&mut SeededSource::new(Seed(7)), Purpose::Choice(*part), 0)).collect();
        assert!((0..parts.len()).all(|i| (0..i).all(|j| alone[i] != alone[j])));
        // Longer or shorter before, another purpose in between: the next part is the same.
        let mut source = SeededSource::new(Seed(7));
        for (draws, (part, expected)) in parts.iter().zip(&alone).enumerate() {
            assert_eq!(bytes(&mut source, Purpose::Choice(*part), 0), *expected);
            (0..draws).for_each(|_| {
                bytes(&mut source, Purpose::Choice(*part), 0);
            });
            bytes(&mut source, Purpose::Random, 0);
        }
        assert_eq!(bytes(&mut source, Purpose::Choice(parts[2]), 0), alone[2], "a part that comes again begins again");
        assert_eq!(crate::digest::hex(&alone[2]), "a2baf8cbbc48d61e");
    }

    #[test]
    fn parts_of_several_machines_are_told_apart() {
        let part = |step| Purpose::Choice(DecisionPart::step(0, step));
        let alone = |step, node| bytes(&mut SeededSource::new(Seed(7)), part(step), node);
        let mut source = SeededSource::new(Seed(7));
        for (step, node) in [(0, 0), (1, 0), (1, 1), (0, 1), (2, 0), (2, 1), (1, 0)] {
            assert_eq!(bytes(&mut source, part(step), node), alone(step, node), "step {step} of {node}");
        }
    }

    #[test]
    fn eight_bytes_are_the_next_eight_of_the_stream() {
        let fill = |source: &mut SeededSource, len: usize| {
            let mut out = vec![0; len];
            source.fill(ask(Purpose::Random, 0), &mut out);
            out
        };
        // Lengths that are no multiple of a word, and sums that meet the end of a block at every position.
        for first in (0..70).chain([250, 252, 253, 256, 1020, 1024]) {
            let (mut words, mut whole) = (SeededSource::new(Seed(7)), SeededSource::new(Seed(7)));
            assert_eq!(fill(&mut words, first), fill(&mut whole, first));
            let together: Vec<u8> = (0..400).flat_map(|_| fill(&mut words, 8)).collect();
            assert_eq!(together, fill(&mut whole, 8 * 400), "after {first} bytes");
        }
    }

    #[test]
    fn the_first_answers_of_seed_7_never_change() {
        let mut source = SeededSource::new(Seed(7));
        let drawn = crate::digest::hex(&bytes(&mut source, Purpose::Random, 0));
        assert_eq!(drawn, "a09ff50a9740c283");
        assert_ne!(
            bytes(&mut SeededSource::new(Seed(8)), Purpose::Random, 0),
            bytes(&mut SeededSource::new(Seed(7)), Purpose::Random, 0)
        );
    }

    #[test]
    fn below_stays_below_and_reaches_every_answer() {
        let mut source = SeededSource::new(Seed(1));
        let mut seen = [0u32; 6];
        for _ in 0..6_000 {
            seen[source.below(ask(Purpose::Random, 0), 6).0 as usize] += 1;
        }
        assert!(seen.iter().all(|n| (850..1150).contains(n)), "{seen:?}");
        assert_eq!(source.below(ask(Purpose::Random, 0), 1).0, 0);
    }
}
