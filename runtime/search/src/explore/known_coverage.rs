//! What an exploration has seen, as one that continues it is told: that is not new, also where its paths were not taken again.
//!
//! ```text
//! edges    by the name of their module: classes of counts of each, and in how many steps it was taken, so that what is rare is not taken
//!          for what was hardly looked for
//! states   the numbers of those that the scenario names
//! signs    lines, messages and places of faults, as numbers, by dimension
//! ```
//!
//! Invariant: it is bounded; what is beyond is found again, and is new then.
//! Not here: properties and companies of faults, of which there are few; states that a memory tells, whose numbers mean nothing to another process.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Numbers of each kind that are told, one or two megabytes of a file.
const NUMBERS_MAX: usize = 1 << 17;

/// What was seen of one module, one byte an edge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KnownEdges {
    /// Classes of counts.
    pub(crate) classes: Vec<u8>,
    /// Steps: 0, 1, 2, or 3 for more.
    pub(crate) often: Vec<u8>,
}

impl KnownEdges {
    /// Adds what others have seen of the same module. What has another number of edges is of another one, and is left out.
    fn unite(&mut self, other: &KnownEdges) {
        if (self.classes.len(), self.often.len()) != (other.classes.len(), other.often.len()) {
            return;
        }
        self.classes.iter_mut().zip(&other.classes).for_each(|(into, from)| *into |= from);
        // Some of the steps are of both.
        self.often.iter_mut().zip(&other.often).for_each(|(into, from)| *into = (*into).max(*from));
    }
}

/// What was seen. Numbers are sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownCoverage {
    #[serde(default)]
    pub(crate) edges: BTreeMap<u64, KnownEdges>,
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
        unite_edges(&mut self.edges, &other.edges);
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

/// Adds what others have seen of modules.
pub(crate) fn unite_edges(own: &mut BTreeMap<u64, KnownEdges>, more: &BTreeMap<u64, KnownEdges>) {
    for (module, edges) in more {
        match own.entry(*module) {
            Entry::Vacant(place) => {
                place.insert(edges.clone());
            }
            Entry::Occupied(mut known) => known.get_mut().unite(edges),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(classes: &[u8], often: &[u8]) -> KnownEdges {
        KnownEdges { classes: classes.to_vec(), often: often.to_vec() }
    }

    #[test]
    fn what_two_have_seen_is_seen_once() {
        let known = |edges: KnownEdges, states: &[u64], signs: &[u64]| KnownCoverage {
            edges: BTreeMap::from([(7, edges)]),
            states: states.to_vec(),
            signs: vec![signs.to_vec()],
        };
        let mut own = known(edges(&[1, 2, 0], &[1, 3, 0]), &[3, 7], &[]);
        own.unite(&known(edges(&[4, 2, 8], &[2, 1, 1]), &[5, 7], &[9]));
        assert_eq!(own, known(edges(&[5, 2, 8], &[2, 3, 1]), &[3, 5, 7], &[9]));
        let mut none = KnownCoverage::default();
        assert!(none.is_empty());
        none.unite(&own);
        assert_eq!(none, own);
    }

    #[test]
    fn modules_are_told_apart_by_their_names_and_what_does_not_fit_is_left_out() {
        let mut own = BTreeMap::from([(1, edges(&[1], &[1])), (2, edges(&[2, 2], &[1, 1]))]);
        unite_edges(&mut own, &BTreeMap::from([(2, edges(&[4], &[1])), (3, edges(&[8], &[3]))]));
        let expected = [(1, edges(&[1], &[1])), (2, edges(&[2, 2], &[1, 1])), (3, edges(&[8], &[3]))];
        assert_eq!(own, BTreeMap::from(expected));
    }
}
