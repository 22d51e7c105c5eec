//! What an exploration has seen, as one that continues it is told: that is not new, also where its paths were not taken again.
//!
//! ```text
//! edges    classes of counts of each edge, by module        states   the numbers of those that the scenario names
//! signs    lines, messages and places of faults, as numbers, by dimension
//! often    in how many steps each edge was taken: 1, 2 or more, so that what is rare is not taken for what was hardly looked for
//! ```
//!
//! Invariant: it is bounded; what is beyond is found again, and is new then.
//! Not here: properties and companies of faults, of which there are few; states that a memory tells, whose numbers mean nothing to another process.

use serde::{Deserialize, Serialize};

/// Numbers of each kind that are told, one or two megabytes of a file.
const NUMBERS_MAX: usize = 1 << 17;

/// What was seen. Numbers are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownCoverage {
    #[serde(default)]
    pub(crate) edges: Vec<Vec<u8>>,
    #[serde(default)]
    pub(crate) often: Vec<Vec<u8>>,
    #[serde(default)]
    pub(crate) states: Vec<u64>,
    #[serde(default)]
    pub(crate) signs: Vec<Vec<u64>>,
}

impl KnownCoverage {
    /// Whether nothing was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == KnownCoverage::default()
    }

    /// Adds what others have seen.
    pub fn unite(&mut self, other: &KnownCoverage) {
        unite_classes(&mut self.edges, &other.edges);
        unite_often(&mut self.often, &other.often);
        unite_numbers(&mut self.states, &other.states);
        self.signs.resize(self.signs.len().max(other.signs.len()), Vec::new());
        self.signs.iter_mut().zip(&other.signs).for_each(|(own, more)| unite_numbers(own, more));
    }
}

/// Numbers as they are told: sorted, and so many at the most.
pub(crate) fn told(numbers: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut all: Vec<u64> = numbers.collect();
    all.sort_unstable();
    all.dedup();
    all.truncate(NUMBERS_MAX);
    all
}

fn unite_numbers(own: &mut Vec<u64>, more: &[u64]) {
    *own = told(std::mem::take(own).into_iter().chain(more.iter().copied()));
}

/// Adds the classes of counts that others have seen, by module and edge.
pub(crate) fn unite_classes(own: &mut Vec<Vec<u8>>, more: &[Vec<u8>]) {
    unite_edges(own, more, |own, more| own | more);
}

/// The larger of the numbers of steps, by module and edge: some of them are of both.
pub(crate) fn unite_often(own: &mut Vec<Vec<u8>>, more: &[Vec<u8>]) {
    unite_edges(own, more, u8::max);
}

fn unite_edges(own: &mut Vec<Vec<u8>>, more: &[Vec<u8>], unite: fn(u8, u8) -> u8) {
    own.resize(own.len().max(more.len()), Vec::new());
    for (into, from) in own.iter_mut().zip(more) {
        into.resize(into.len().max(from.len()), 0);
        into.iter_mut().zip(from).for_each(|(into, from)| *into = unite(*into, *from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_have_seen_is_seen_once() {
        let known = |edges: &[u8], states: &[u64], signs: &[u64]| KnownCoverage {
            edges: vec![edges.to_vec()],
            // Any numbers.
            often: vec![edges.iter().map(|classes| classes % 4).collect()],
            states: states.to_vec(),
            signs: vec![signs.to_vec()],
        };
        let mut own = known(&[1, 2], &[3, 7], &[]);
        own.unite(&known(&[4, 2, 8], &[5, 7], &[9]));
        let often = vec![vec![1, 2, 0]];
        assert_eq!(own, KnownCoverage { often, ..known(&[5, 2, 8], &[3, 5, 7], &[9]) });
        let mut none = KnownCoverage::default();
        assert!(none.is_empty());
        none.unite(&own);
        assert_eq!(none, own);
    }
}
