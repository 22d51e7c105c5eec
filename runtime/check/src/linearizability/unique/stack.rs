//! Stacks: the value that was pushed last is popped.
//!
//! ```text
//! 1 ├push┤ ═══════════════════════════ ├pop┤      1 is there for certain between the two
//! 2     ├push┤ ═══════ ├pop┤
//! 3                      ├push┤ ═ ├pop┤           where one is there, one is the lowest: 1
//! ```
//!
//! A value whose push and pop overlap can come and go at one moment, and constrains no other. The others are there for
//! certain for a while, which splits time into stretches in which the stack is not empty. In a stretch one value is the
//! lowest from its beginning to its end: its push begins before the stretch, and its pop ends after. If there is no
//! such value, there is no order. If there is one, it can be left out, whichever of several it is, since all others can
//! be moved into the stretch. The remaining values are split again.
//!
//! Whether gaps between events are covered is kept in a tree; the pushes that are pending where a stretch begins are found lane by
//! lane, where the pushes of a lane do not overlap. Time is n (log n + lanes). Sources: Abdulla et al., "Efficient Linearizability Monitoring"
//! (2025), for what must be there; Lee, Mathur (2025), for leaving values out.

use super::{Interval, NEVER, Stay};

/// Whether values that stay so, and pops that found nothing, are possible.
pub(super) fn is_possible(stays: &[Stay], empty: &[Interval]) -> bool {
    let mut held: Vec<Stay> = stays.iter().filter(|stay| stay.inserted.1 < stay.taken.0).copied().collect();
    held.sort_unstable_by_key(|stay| stay.inserted.0);
    let times = Times::of(&held, empty);
    let mut coverage = Coverage::new(&held, &times);
    let mut empty = empty.iter().map(|(from, to)| (times.rank(*from), times.rank(*to)));
    // A gap has the name of the event before it.
    if !empty.all(|(from, to)| coverage.first(from, to, false).is_some()) {
        return false;
    }
    let lanes = Lanes::new(&held, &times);
    let mut is_left: Vec<bool> = vec![true; held.len()];
    let mut windows = vec![(0, times.count())];
    while let Some((from, to)) = windows.pop() {
        let Some(begin) = coverage.first(from, to, true) else { continue };
        let end = coverage.first(begin, to, false).unwrap_or(to);
        if end < to {
            windows.push((end, to));
        }
        let lowest = lanes.pending(begin).find(|at| {
            let stay = &held[*at as usize];
            let is_longer = stay.taken.1 == NEVER || times.rank(stay.taken.1) > end;
            is_left[*at as usize] && is_longer && times.rank(stay.inserted.1) < end
        });
        let Some(lowest) = lowest else { return false };
        is_left[lowest as usize] = false;
        let stay = &held[lowest as usize];
        coverage.remove(times.rank(stay.inserted.1), times.rank(stay.taken.0));
        windows.push((begin, end));
    }
    true
}

/// The events that matter, in their order.
struct Times {
    sorted: Vec<i64>,
}

impl Times {
    fn of(held: &[Stay], empty: &[Interval]) -> Times {
        let events = held.iter().flat_map(|stay| [stay.inserted, stay.taken]).chain(empty.iter().copied());
        let mut sorted: Vec<i64> = events.flat_map(|(from, to)| [from, to]).filter(|at| *at != NEVER).collect();
        sorted.sort_unstable();
        sorted.dedup();
        Times { sorted }
    }

    /// How many there are; also the number of a time that never comes.
    fn count(&self) -> u32 {
        self.sorted.len() as u32
    }

    fn rank(&self, at: i64) -> u32 {
        self.sorted.partition_point(|one| *one < at) as u32
    }
}

/// How many values are in the stack for certain in each gap: a tree of their least and most.
struct Coverage {
    size: usize,
    /// Least and most below a node, without what is added above it.
    range: Vec<(i32, i32)>,
    added: Vec<i32>,
}

impl Coverage {
    fn new(held: &[Stay], times: &Times) -> Coverage {
        let size = (times.count() as usize).next_power_of_two().max(1);
        let mut range = vec![(0, 0); 2 * size];
        for stay in held {
            range[size + times.rank(stay.inserted.1) as usize].0 += 1;
            if let Some(after) = range.get_mut(size + times.rank(stay.taken.0) as usize) {
                after.0 -= 1;
            }
        }
        let mut count = 0;
        for leaf in &mut range[size..] {
            count += leaf.0;
            *leaf = (count, count);
        }
        for node in (1..size).rev() {
            let (left, right) = (range[2 * node], range[2 * node + 1]);
            range[node] = (left.0.min(right.0), left.1.max(right.1));
        }
        Coverage { size, range, added: vec![0; 2 * size] }
    }

    /// The first gap of some that is covered, or is not.
    fn first(&self, from: u32, to: u32, is_covered: bool) -> Option<u32> {
        self.find(1, (0, self.size), (from as usize, to as usize), 0, is_covered)
    }

    fn find(&self, node: usize, own: GapRange, wanted: GapRange, above: i32, is_covered: bool) -> Option<u32> {
        let (least, most) = (self.range[node].0 + above, self.range[node].1 + above);
        let is_possible = if is_covered { most > 0 } else { least == 0 };
        if own.1 <= wanted.0 || wanted.1 <= own.0 || !is_possible {
            return None;
        }
        if own.1 - own.0 == 1 {
            return Some(own.0 as u32);
        }
        let (middle, above) = (own.0.midpoint(own.1), above + self.added[node]);
        let left = self.find(2 * node, (own.0, middle), wanted, above, is_covered);
        left.or_else(|| self.find(2 * node + 1, (middle, own.1), wanted, above, is_covered))
    }

    /// A value is left out.
    fn remove(&mut self, from: u32, to: u32) {
        self.subtract(1, (0, self.size), (from as usize, to as usize));
    }

    fn subtract(&mut self, node: usize, own: GapRange, wanted: GapRange) {
        if own.1 <= wanted.0 || wanted.1 <= own.0 {
            return;
        }
        if wanted.0 <= own.0 && own.1 <= wanted.1 {
            self.range[node] = (self.range[node].0 - 1, self.range[node].1 - 1);
            self.added[node] -= 1;
            return;
        }
        let middle = own.0.midpoint(own.1);
        self.subtract(2 * node, (own.0, middle), wanted);
        self.subtract(2 * node + 1, (middle, own.1), wanted);
        let (left, right, added) = (self.range[2 * node], self.range[2 * node + 1], self.added[node]);
        self.range[node] = (left.0.min(right.0) + added, left.1.max(right.1) + added);
    }
}

/// From one gap up to another.
type GapRange = (usize, usize);

/// Pushes in lanes; those of one lane do not overlap.
struct Lanes {
    /// Begin, end and number of each push.
    lanes: Vec<Vec<(u32, u32, u32)>>,
}

impl Lanes {
    /// Pushes in the order of their beginnings.
    fn new(held: &[Stay], times: &Times) -> Lanes {
        let mut lanes: Vec<Vec<(u32, u32, u32)>> = Vec::new();
        // Lanes that are free, by when they became so: the one that is free longest is not better than another.
        let mut free = std::collections::BTreeSet::new();
        for (number, stay) in held.iter().enumerate() {
            let (begin, end) = (times.rank(stay.inserted.0), times.rank(stay.inserted.1));
            let first: Option<(u32, usize)> = free.first().copied();
            let lane = match first {
                Some((until, lane)) if until <= begin => {
                    free.remove(&(until, lane));
                    lane
                }
                _ => {
                    lanes.push(Vec::new());
                    lanes.len() - 1
                }
            };
            lanes[lane].push((begin, end, number as u32));
            free.insert((end, lane));
        }
        Lanes { lanes }
    }

    /// Pushes that are pending when the event of a gap happens, or end with it.
    fn pending(&self, event: u32) -> impl Iterator<Item = u32> + '_ {
        self.lanes.iter().filter_map(move |lane| {
            let after = lane.partition_point(|push| push.0 < event);
            let (_, end, number) = *lane.get(after.checked_sub(1)?)?;
            (end >= event).then_some(number)
        })
    }
}
