//! Priority queues: the smallest value is taken.
//!
//! ```text
//! 3 in ├──┤            taken        ├───┤        3 is there from the end of its insertion until it is taken
//! 7 in ├─┤    taken ├──────────────────────┤     7 can only be taken after that, since 3 is smaller
//! ```
//!
//! A value is taken at a moment at which no smaller one is there. Values are placed from the smallest on, each as early as possible:
//! the earlier a value is taken, the less it keeps others in, so that no later choice could have helped. Time is a row of gaps between
//! the events; the gaps that a value fills are not looked at again (union by the next free gap), so that time is n log n.
//! Source of the idea, to decide value by value: Lee, Mathur, "Efficient Decrease-and-Conquer Linearizability Monitoring" (2025).

use super::{Interval, NEVER, Stay};

/// Whether values that stay so, in the order of their size, and takes that found nothing are possible.
pub(super) fn is_possible(stays: &[Stay], empty: &[Interval]) -> bool {
    let events = stays.iter().flat_map(|stay| [stay.inserted, stay.taken]).chain(empty.iter().copied());
    let last = events.flat_map(|(from, to)| [from, to]).filter(|at| *at != NEVER).max().unwrap_or(0);
    let mut gaps = FreeGaps::new(last + 2);
    for Stay { inserted, taken } in stays {
        if taken.0 == NEVER {
            // It is never taken, and there from when it was in for certain.
            gaps.fill(inserted.1, last + 1);
            continue;
        }
        let moment = gaps.first(inserted.0.max(taken.0));
        if moment >= taken.1 {
            return false;
        }
        gaps.fill(inserted.1, moment);
    }
    empty.iter().all(|(from, to)| gaps.first(*from) < *to)
}

/// Gaps between events, each named by the event before it. Some are filled.
struct FreeGaps {
    next: Vec<u32>,
}

impl FreeGaps {
    fn new(count: i64) -> FreeGaps {
        FreeGaps { next: (0..u32::try_from(count).unwrap_or(u32::MAX)).collect() }
    }

    /// The first free gap from one on.
    fn first(&mut self, from: i64) -> i64 {
        let place = |at: u32| at as usize;
        let mut at = from as u32;
        while self.next[place(at)] != at {
            let next = self.next[place(at)];
            self.next[place(at)] = self.next[place(next)];
            at = self.next[place(at)];
        }
        i64::from(at)
    }

    /// Fills gaps from one on, up to another.
    fn fill(&mut self, from: i64, to: i64) {
        if from >= to {
            return;
        }
        let mut at = self.first(from);
        while at < to {
            self.next[at as usize] = at as u32 + 1;
            at = self.first(at + 1);
        }
    }
}
