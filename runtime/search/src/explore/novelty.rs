//! What was seen before, and so what is new: edges and how often, states, properties, and flows in company of others.
//!
//! Invariant: what was seen stays seen.

use super::ground::Ground;
use crate::fuzz::feedback::Feedback;
use fozzy_trace::facts::PropertyKind;
use std::collections::{BTreeMap, BTreeSet};

/// States that are remembered. Beyond, new ones are not told from old ones, and none counts as new.
const STATES_MAX: usize = 1 << 22;
/// A number nearer its bound is something new when it has come nearer by this part of the distance.
const NEARER: f64 = 0.9;

/// How a property stood at best.
#[derive(Clone, Copy, Debug, Default)]
struct Best {
    held: bool,
    closest: Option<f64>,
}

/// Everything that was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Novelty {
    feedback: Feedback,
    states: BTreeSet<u64>,
    properties: BTreeMap<String, Best>,
    /// A flow right after another one.
    pairs: BTreeSet<(Option<u32>, Option<u32>)>,
}

/// What a step showed that was not seen before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fresh {
    /// Edges and classes of counts.
    pub(crate) features: u32,
    /// States.
    pub(crate) states: u32,
    /// Properties that held first, or came nearer; pairs of flows.
    pub(crate) cells: u32,
}

impl Fresh {
    pub(crate) fn sum(self) -> u32 {
        self.features + self.states + self.cells
    }
}

impl Novelty {
    /// Looks at the last step of `ground`, which ran `flow` after `before`.
    pub(crate) fn note(
        &mut self,
        ground: &mut dyn Ground,
        (before, flow): (Option<u32>, Option<u32>),
        states: bool,
    ) -> Fresh {
        let mut fresh = Fresh::default();
        let (feedback, mut number) = (&mut self.feedback, 1);
        ground.coverage(&mut |bytes| {
            fresh.features += feedback.note_module(number, bytes);
            number += 1;
        });
        if let Some(state) = ground.state().filter(|_| states && self.states.len() < STATES_MAX) {
            fresh.states = u32::from(self.states.insert(state));
        }
        fresh.cells = u32::from(self.pairs.insert((before, flow)));
        let properties = &mut self.properties;
        ground.properties(&mut |name, property| {
            if property.evaluated == 0 {
                return;
            }
            let best = match properties.get_mut(name) {
                Some(best) => best,
                None => properties.entry(name.to_owned()).or_default(),
            };
            let holds = property.kind == PropertyKind::Sometimes && property.held > 0;
            if holds && !best.held {
                best.held = true;
                fresh.cells += 1;
            }
            let Some(distance) = property.closest.map(f64::abs) else { return };
            if best.closest.is_none_or(|closest| distance < closest * NEARER) {
                best.closest = Some(distance);
                fresh.cells += 1;
            }
        });
        fresh
    }

    /// For each edge of a module, in the order in which they are shown, whether it was taken.
    pub(crate) fn taken(&self, module: usize) -> Vec<u8> {
        self.feedback.taken(module + 1)
    }

    /// The classes of counts of each module, as others are told.
    pub(crate) fn classes(&self) -> Vec<Vec<u8>> {
        (1..self.feedback.modules()).map(|number| self.feedback.classes(number)).collect()
    }

    /// Takes what others have seen as seen.
    pub(crate) fn know(&mut self, classes: &[Vec<u8>]) {
        classes.iter().enumerate().for_each(|(at, classes)| self.feedback.know(at + 1, classes));
    }

    /// Edges taken, features, states, and edges that were taken in one step only and in two.
    pub(crate) fn totals(&self) -> (u64, u64, u64, (u64, u64)) {
        let (edges, features) = self.feedback.totals();
        (edges, features, self.states.len() as u64, (self.feedback.once, self.feedback.twice))
    }
}
