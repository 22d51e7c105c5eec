//! When the answer of the real computer arrives, in virtual time: a model, because its real time would be another one
//! in each run.
//!
//! ```text
//! 2 ms  +  a tail that halves every 4 ms, from one draw  +  100 ns for each byte (10 MB/s)
//! ```
//!
//! The draw is a question of its own ([`Purpose::Arrival`]), so that it is recorded, and its simplest answer is the
//! shortest tail. The tail is at most 64 ms.

use crate::Moment;
use fozzy_trace::{Duration, Purpose};

/// Shortest latency: some hundred kilometres there and back, in nanoseconds.
const BASE_NS: u64 = 2_000_000;
/// Half of all answers arrive within so long after the shortest latency, three quarters within twice that, in nanoseconds.
const HALVING_NS: u64 = 4_000_000;
/// Halvings that the tail has, and bits of the draw.
const HALVINGS: u32 = 16;
/// What one byte takes, in nanoseconds.
const BYTE_NS: u64 = 100;

/// Virtual time that an exchange of `bytes` with the real computer takes.
pub fn arrival(site: &str, bytes: u64, moment: &mut Moment<'_>) -> Duration {
    let draw = moment.below(Purpose::Arrival, site, 1 << HALVINGS);
    Duration(BASE_NS.saturating_add(tail_ns(draw)).saturating_add(bytes.saturating_mul(BYTE_NS)))
}

/// The tail for a draw below 2^[`HALVINGS`]: a half, a quarter, an eighth of all
/// draws exceed one, two, three halvings. Between two powers of two it is a straight line, in whole numbers.
fn tail_ns(draw: u64) -> u64 {
    let above = (1u64 << HALVINGS) - draw;
    let power = above.ilog2();
    let past_power = above - (1 << power);
    let halvings_ns = u64::from(HALVINGS - power) * HALVING_NS;
    halvings_ns - ((past_power * HALVING_NS) >> power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_an_exponential_distribution() {
        assert_eq!((tail_ns(0), tail_ns(1 << 15), tail_ns((1 << 15) + (1 << 14))), (0, HALVING_NS, 2 * HALVING_NS));
        assert_eq!(tail_ns((1 << 16) - 1), 16 * HALVING_NS);
        let tails: Vec<u64> = (0..1 << HALVINGS).map(tail_ns).collect();
        assert!(tails.is_sorted());
        // The true curve is -log2(1 - p); a straight line between its points is nowhere far from it.
        for (draw, tail) in tails.iter().enumerate() {
            let exact = -(1.0 - draw as f64 / 65_536.0).log2();
            let error = *tail as f64 / HALVING_NS as f64 - exact;
            assert!((-0.001..0.09).contains(&error), "{draw}: {error}");
        }
    }
}
