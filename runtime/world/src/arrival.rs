//! When the answer of the real computer arrives, in virtual time: a seeded model, never the wall clock.
//!
//! ```text
//! latency = 200us  +  8ns for each byte  +  50ms * x^4      x uniform in [0, 1), one question
//!                                           half below 3ms, one in a hundred above 48ms
//! ```
//!
//! A real latency would make every capture another run; one constant would let all answers arrive in the
//! order of their questions, which hides races. So most answers come soon and a few come late.
//!
//! Invariant: the answer zero is the shortest latency; a larger answer is never a shorter one.

use crate::Moment;
use fozzy_trace::{Duration, Purpose};

/// What every answer takes, in nanoseconds: about the round trip in one data centre, or starting a small process.
const BASE_NS: u64 = 200_000;
/// What each byte takes, in nanoseconds: a gigabit a second.
const BYTE_NS: u64 = 8;
/// The longest further delay, in nanoseconds: a round trip between continents, halved.
const TAIL_NS: u64 = 50_000_000;
/// How finely the delay is drawn. The fourth power of it fits 128 bits by far.
const STEPS: u64 = 1 << 20;

/// How long an answer of `bytes` bytes from the real computer takes in virtual time. `site` names who asks, such
/// as `fozzy:process/run.run`.
pub fn arrival(moment: &mut Moment<'_>, site: &str, bytes: u64) -> Duration {
    let step = moment.below(Purpose::Arrival, site, STEPS);
    let tail = u128::from(TAIL_NS) * u128::from(step).pow(4) / u128::from(STEPS).pow(4);
    let tail = u64::try_from(tail).expect("a part of the tail");
    Duration(BASE_NS.saturating_add(bytes.saturating_mul(BYTE_NS)).saturating_add(tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::tests::SeededChance;
    use crate::{Chance, Faults};
    use fozzy_trace::source::Seeded;
    use fozzy_trace::{Instant, NodeId, Question, Seed};

    fn draw(chance: &mut dyn Chance, bytes: u64) -> u64 {
        let mut faults = Faults::default();
        let mut moment = Moment { now: Instant::START, node: NodeId(0), faults: &mut faults, chance };
        arrival(&mut moment, "test", bytes).0
    }

    #[test]
    fn most_come_soon_and_a_few_come_late() {
        let mut chance = SeededChance(Seeded::new(Seed(7)));
        let mut drawn: Vec<u64> = (0..10_000).map(|_| draw(&mut chance, 0)).collect();
        drawn.sort_unstable();
        assert!((3_000_000..3_700_000).contains(&drawn[5_000]), "half by {}", drawn[5_000]);
        assert!(drawn[9_900] > 47_000_000 && drawn[9_999] < BASE_NS + TAIL_NS);
    }

    #[test]
    fn a_larger_answer_is_never_a_shorter_latency() {
        struct Given(u64);
        impl Chance for Given {
            fn below(&mut self, _: Question<'_>, bound: u64) -> u64 {
                self.0.min(bound - 1)
            }
        }
        assert_eq!(draw(&mut Given(0), 1_000), BASE_NS + 8_000);
        let drawn: Vec<u64> = (0..=64).map(|part| draw(&mut Given(part * (STEPS / 64)), 0)).collect();
        assert!(drawn.is_sorted(), "{drawn:?}");
        assert_eq!(draw(&mut Given(u64::MAX), u64::MAX), u64::MAX);
    }
}
