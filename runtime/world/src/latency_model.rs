//! When the answer of the real computer arrives, in virtual time: one seeded model, never the wall clock.
//!
//! ```text
//! latency = base  +  bytes * byte  +  tail * x^4        x uniform in [0, 1), one question (Purpose::Arrival)
//!
//!             base    a byte    tail        half arrive within base + tail/16, all but one in a hundred within base + 0.96 tail
//! files       10us    -         90us        a solid-state disk
//! processes   200us   8ns       50ms        starting a small process; a gigabit a second through a pipe
//! HTTP        2ms     100ns     64ms        some hundred kilometres there and back; 10 MB/s
//! ```
//!
//! A real latency would make every capture another run; one constant would let all answers arrive in the
//! order of their questions, which hides races. So most answers come soon and a few come late.
//!
//! Invariant: the answer zero is the shortest latency; a larger answer is never a shorter one.

use crate::OpContext;
use fozzy_trace::{Duration, Purpose};

/// How finely the delay is drawn. The fourth power of it fits 128 bits by far.
const STEPS: u64 = 1 << 20;

/// How fast a backend answers: a row of the table above, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyModel {
    base: u64,
    byte: u64,
    tail: u64,
}

/// Operations on files. Their bytes are not counted: an operation moves a bounded number.
pub const FILES: LatencyModel = LatencyModel { base: 10_000, byte: 0, tail: 90_000 };
/// Whole runs of processes.
pub const PROCESSES: LatencyModel = LatencyModel { base: 200_000, byte: 8, tail: 50_000_000 };
/// HTTP exchanges.
pub const HTTP: LatencyModel = LatencyModel { base: 2_000_000, byte: 100, tail: 64_000_000 };

/// How long an answer of `bytes` bytes from the real computer takes in virtual time. `site` names who asks, such
/// as `fozzy:process/run`.
pub fn arrival(context: &mut OpContext<'_>, pace: LatencyModel, site: &str, bytes: u64) -> Duration {
    let step = context.below(Purpose::Arrival, site, STEPS);
    let tail = u128::from(pace.tail) * u128::from(step).pow(4) / u128::from(STEPS).pow(4);
    let tail = u64::try_from(tail).expect("a part of the tail");
    Duration(pace.base.saturating_add(bytes.saturating_mul(pace.byte)).saturating_add(tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decide::tests::SeededDecider;
    use crate::{Decider, Faults};
    use fozzy_trace::source::SeededSource;
    use fozzy_trace::{Instant, NodeId, Question, Seed};

    fn draw(decider: &mut dyn Decider, pace: LatencyModel, bytes: u64) -> u64 {
        let mut faults = Faults::default();
        let mut context = OpContext { now: Instant::START, node: NodeId(0), faults: &mut faults, decider };
        arrival(&mut context, pace, "test", bytes).0
    }

    #[test]
    fn most_come_soon_and_a_few_come_late() {
        for pace in [FILES, PROCESSES, HTTP] {
            let mut decider = SeededDecider(SeededSource::new(Seed(7)));
            let mut drawn: Vec<u64> = (0..10_000).map(|_| draw(&mut decider, pace, 0) - pace.base).collect();
            drawn.sort_unstable();
            assert!((pace.tail / 18..pace.tail / 14).contains(&drawn[5_000]), "half by {}", drawn[5_000]);
            assert!(drawn[9_900] > pace.tail / 100 * 95 && drawn[9_999] < pace.tail);
        }
    }

    #[test]
    fn a_larger_answer_is_never_a_shorter_latency() {
        struct FixedDecider(u64);
        impl Decider for FixedDecider {
            fn below(&mut self, _: Question<'_>, bound: u64) -> u64 {
                self.0.min(bound - 1)
            }
        }
        assert_eq!(draw(&mut FixedDecider(0), PROCESSES, 1_000), PROCESSES.base + 8_000);
        let drawn: Vec<u64> = (0..=64).map(|part| draw(&mut FixedDecider(part * (STEPS / 64)), HTTP, 0)).collect();
        assert!(drawn.is_sorted(), "{drawn:?}");
        assert_eq!(draw(&mut FixedDecider(u64::MAX), HTTP, u64::MAX), u64::MAX);
    }
}
