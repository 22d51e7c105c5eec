//! The places that are kept, and how promising each is.
//!
//! ```text
//! energy   kept: 1 + what was new │ a run from it finds something: + that │ finds nothing: × 0.9
//! place    its path │ live: the checkpoint too            not live: gone to again from the nearest live place before it
//!                   │ unseen: of the exploration that is continued, and not gone to since; never live
//! ```
//!
//! Invariants: there are at most [`PLACES_MAX`] places with [`ANSWER_BYTES_MAX`] bytes of answers, and as many checkpoints as were asked for, the
//! least promising going first; a place is picked in logarithmic time; the last one that was kept stays.

use super::decision_path::{PathNode, PathNodeId};
use super::options::CheckpointStrategy;
use super::sum_tree::SumTree;
use crate::rng::Rng;
use fozzy_trace::CheckpointId;
use fozzy_trace::source::Override;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Places that are kept. Each needs some 300 bytes beside its answers; beyond, the least promising one is forgotten.
pub(crate) const PLACES_MAX: usize = 100_000;
/// Bytes of the answers of all places together, each counted with the place that it leads to: most answers take one. Beyond, the least
/// promising places are forgotten.
const ANSWER_BYTES_MAX: usize = 128 << 20;
/// What is left of a place's energy after a run that found nothing.
const BARREN: f64 = 0.9;
/// Energy never falls below this, so that no place is given up.
const ENERGY_MIN: f64 = 0.01;
/// One in this many picks may be of a place whose checkpoint was taken. One in 16 takes hanoi-6 a fifth more steps, one in 64 a
/// tenth.
const COLD_ONE_IN: u64 = 32;
/// The same as long as there are places of before that were not gone to: those that were are no better than these.
const UNSEEN_ONE_IN: u64 = 4;
/// What a place of before is taken to have shown, until it is gone to.
const UNSEEN_FRESH: u32 = 1;
/// Energy that one run can add.
const REWARD_MAX: u32 = 3;

/// By what a place was new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoveltyKind {
    /// Edges, properties, faults.
    Coarse,
    /// A state that the scenario named.
    Named,
    /// One that its memory tells.
    Learned,
}

impl NoveltyKind {
    pub(crate) const ALL: [NoveltyKind; 3] = [NoveltyKind::Coarse, NoveltyKind::Named, NoveltyKind::Learned];
    /// As reports have them.
    pub(crate) const NAMES: [&str; 3] = ["coarse", "named", "learned"];
}

/// A kept place.
#[derive(Clone, Debug)]
struct FrontierEntry {
    node: Arc<PathNode>,
    kind: NoveltyKind,
    energy: f64,
    /// `None` when its path must be taken again.
    checkpoint: Option<CheckpointId>,
    /// Whether it is of the exploration that is continued, and was not gone to since.
    is_unseen: bool,
}

impl FrontierEntry {
    /// In the order of energy; energies are positive, so that their bits have their order.
    fn rank(&self) -> (u64, PathNodeId) {
        (self.energy.to_bits(), self.node.id)
    }
}

/// All of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frontier {
    slots: Vec<Option<FrontierEntry>>,
    free: Vec<usize>,
    /// The slot of each.
    places: FxHashMap<PathNodeId, usize>,
    /// The least promising first, from the first time on that one is to be forgotten.
    ranks: Option<BTreeSet<(u64, PathNodeId)>>,
    /// Those with a checkpoint, the least promising first.
    live: BTreeSet<(u64, PathNodeId)>,
    /// Energies, by kind and slot.
    energies: [SumTree; 3],
    /// The same, of those with a checkpoint.
    live_energies: [SumTree; 3],
    /// The order in which they were kept, by slot, as weights.
    ages: SumTree,
    answer_bytes: usize,
    /// Places of before that were not gone to.
    unseen: usize,
    /// Whether no steps lead to these.
    is_unseen_near: bool,
    is_flooded: bool,
}

impl Frontier {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many of them have a checkpoint.
    #[cfg(test)]
    pub(crate) fn live(&self) -> usize {
        self.live.len()
    }

    /// Whether some kind of place is new too often to say anything.
    pub(crate) fn is_flooded(&self) -> bool {
        self.is_flooded
    }

    pub(crate) fn set_flooded(&mut self, is_flooded: bool) {
        self.is_flooded = is_flooded;
    }

    /// Whether there are places of that kind.
    pub(crate) fn has(&self, kind: NoveltyKind) -> bool {
        self.energies[kind as usize].sum() > 0.0
    }

    /// The way to a place, if it is kept.
    pub(crate) fn node(&self, place: PathNodeId) -> Option<&Arc<PathNode>> {
        self.entry(place).map(|entry| &entry.node)
    }

    /// The paths to the most promising checkpoints, within bounds of their number and of their answers, in the order in which they were kept.
    pub(crate) fn hottest(&self, most: usize, mut answers: usize) -> Vec<&Arc<PathNode>> {
        let mut ranks: Vec<_> = self.slots.iter().flatten().map(FrontierEntry::rank).collect();
        ranks.sort_unstable();
        let ranked = ranks.into_iter().rev().filter_map(|(_, place)| self.node(place)).take(most);
        let has_room = |node: &&Arc<PathNode>| {
            let left = answers.checked_sub(node.weight());
            answers = left.unwrap_or(answers);
            left.is_some()
        };
        let mut hottest: Vec<_> = ranked.filter(has_room).collect();
        hottest.sort_unstable_by_key(|node| node.id);
        hottest
    }

    fn entry(&self, place: PathNodeId) -> Option<&FrontierEntry> {
        self.slots[*self.places.get(&place)?].as_ref()
    }

    /// The checkpoint of a place, if it has one.
    pub(crate) fn checkpoint(&self, place: PathNodeId) -> Option<CheckpointId> {
        self.entry(place)?.checkpoint
    }

    /// The nearest place on this way that has a checkpoint; `None` is the start.
    pub(crate) fn nearest_live(&self, node: &Arc<PathNode>) -> Option<(CheckpointId, Arc<PathNode>)> {
        let mut at = Some(node);
        while let Some(node) = at {
            if let Some(checkpoint) = self.checkpoint(node.id) {
                return Some((checkpoint, Arc::clone(node)));
            }
            at = node.before();
        }
        None
    }

    /// The answers from `from`, which is on the way to `to`, to there.
    pub(crate) fn answers_between(from: &PathNode, to: &Arc<PathNode>) -> Vec<Override> {
        to.answers_behind(from.id)
    }

    /// Adds a checkpoint that showed `fresh` new things; returns the checkpoints that were evicted for it.
    pub(crate) fn add(
        &mut self,
        checkpoint: CheckpointId,
        node: Arc<PathNode>,
        fresh: (NoveltyKind, u32),
        live_max: usize,
    ) -> Vec<CheckpointId> {
        let place = node.id;
        let mut gone = self.insert(node, fresh, Some(checkpoint));
        gone.extend(self.cool(place, live_max));
        gone
    }

    /// Adds a place of the exploration that is continued, which is still to be gone to; returns the checkpoints that were evicted for it.
    pub(crate) fn add_unseen(&mut self, node: Arc<PathNode>) -> Vec<CheckpointId> {
        self.insert(node, (NoveltyKind::Coarse, UNSEEN_FRESH), None)
    }

    /// To go to a place of before takes no steps: a run of a whole program answers as it did up to there.
    pub(crate) fn set_unseen_near(&mut self) {
        self.is_unseen_near = true;
    }

    /// Adds a place; one without a checkpoint is of before.
    fn insert(
        &mut self,
        node: Arc<PathNode>,
        (kind, fresh): (NoveltyKind, u32),
        checkpoint: Option<CheckpointId>,
    ) -> Vec<CheckpointId> {
        let (place, energy) = (node.id, energy_of(fresh));
        self.answer_bytes += node.own_answers().bytes();
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let (is_live, is_unseen) = (checkpoint.is_some(), checkpoint.is_none());
        let entry = FrontierEntry { node, kind, energy, checkpoint, is_unseen };
        if let Some(ranks) = &mut self.ranks {
            ranks.insert(entry.rank());
        }
        if is_live {
            self.live.insert(entry.rank());
            self.live_energies[kind as usize].set(slot, energy);
        }
        self.unseen += usize::from(is_unseen);
        self.slots[slot] = Some(entry);
        self.places.insert(place, slot);
        self.energies[kind as usize].set(slot, energy);
        self.ages.set(slot, place.0 as f64);
        let mut gone = Vec::new();
        while self.len() > 1 && (self.len() > PLACES_MAX || self.answer_bytes > ANSWER_BYTES_MAX) {
            gone.extend(self.forget_least(place));
        }
        gone
    }

    /// A place of before was gone to, and showed `fresh` new things.
    pub(crate) fn tell(&mut self, place: PathNodeId, (kind, fresh): (NoveltyKind, u32)) {
        let Some(slot) = self.places.get(&place).copied() else { return };
        let Some(entry) = self.slots[slot].as_mut().filter(|entry| entry.is_unseen) else { return };
        let (before, was) = (entry.rank(), entry.kind);
        (entry.kind, entry.energy, entry.is_unseen) = (kind, energy_of(fresh), false);
        let (rank, energy) = (entry.rank(), entry.energy);
        if let Some(ranks) = &mut self.ranks {
            ranks.remove(&before);
            ranks.insert(rank);
        }
        self.unseen -= 1;
        self.energies[was as usize].set(slot, 0.0);
        self.energies[kind as usize].set(slot, energy);
    }

    /// A place has a checkpoint again; the answers are those that had to go for it. One that is not kept any more has not.
    pub(crate) fn revive(&mut self, place: PathNodeId, checkpoint: CheckpointId, live_max: usize) -> Vec<CheckpointId> {
        let Some(slot) = self.places.get(&place).copied() else { return vec![checkpoint] };
        let Some(entry) = &mut self.slots[slot] else { return vec![checkpoint] };
        let before = entry.checkpoint.replace(checkpoint);
        self.unseen -= usize::from(std::mem::take(&mut entry.is_unseen));
        self.live.insert(entry.rank());
        self.live_energies[entry.kind as usize].set(slot, entry.energy);
        before.into_iter().chain(self.cool(place, live_max)).collect()
    }

    /// Takes the checkpoints of the least promising places, but for `newest`.
    fn cool(&mut self, newest: PathNodeId, live_max: usize) -> Vec<CheckpointId> {
        let mut gone = Vec::new();
        while self.live.len() > live_max.max(1) {
            let Some(rank) = self.live.iter().find(|(_, place)| *place != newest).copied() else { break };
            self.live.remove(&rank);
            let slot = self.places[&rank.1];
            if let Some(entry) = &mut self.slots[slot] {
                self.live_energies[entry.kind as usize].set(slot, 0.0);
                gone.extend(entry.checkpoint.take());
            }
        }
        gone
    }

    /// Forgets the least promising place, but for `newest`.
    fn forget_least(&mut self, newest: PathNodeId) -> Option<CheckpointId> {
        let ranks = self.ranks.get_or_insert_with(|| self.slots.iter().flatten().map(FrontierEntry::rank).collect());
        let (_, least) = ranks.iter().find(|(_, place)| *place != newest).copied()?;
        self.forget(least)
    }

    /// Forgets a place; the answer is its checkpoint, if it has one.
    pub(crate) fn forget(&mut self, place: PathNodeId) -> Option<CheckpointId> {
        let slot = self.places.remove(&place)?;
        let entry = self.slots[slot].take()?;
        let rank = entry.rank();
        if let Some(ranks) = &mut self.ranks {
            ranks.remove(&rank);
        }
        self.live.remove(&rank);
        self.unseen -= usize::from(entry.is_unseen);
        self.energies[entry.kind as usize].set(slot, 0.0);
        self.live_energies[entry.kind as usize].set(slot, 0.0);
        self.ages.set(slot, 0.0);
        self.free.push(slot);
        self.answer_bytes -= entry.node.own_answers().bytes();
        entry.checkpoint
    }

    /// A run from a place found `fresh` new things.
    pub(crate) fn reward(&mut self, place: PathNodeId, fresh: u32) {
        let Some(slot) = self.places.get(&place).copied() else { return };
        let Some(entry) = &mut self.slots[slot] else { return };
        let before = entry.rank();
        entry.energy = match fresh {
            0 => (entry.energy * BARREN).max(ENERGY_MIN),
            _ => entry.energy + f64::from(fresh.min(REWARD_MAX)),
        };
        if entry.rank() == before {
            return;
        }
        if let Some(ranks) = &mut self.ranks {
            ranks.remove(&before);
            ranks.insert(entry.rank());
        }
        if self.live.remove(&before) {
            self.live.insert(entry.rank());
            self.live_energies[entry.kind as usize].set(slot, entry.energy);
        }
        self.energies[entry.kind as usize].set(slot, entry.energy);
    }

    /// A place to begin at, of that kind if there is one; `None` when there is none.
    pub(crate) fn pick(
        &self,
        how: CheckpointStrategy,
        kind: Option<NoveltyKind>,
        rng: &mut Rng,
    ) -> Option<&Arc<PathNode>> {
        // Going to a place again takes steps, and the hottest places are live: mostly one of those.
        let any_one_in = match (self.unseen > 0, self.is_unseen_near) {
            (true, true) => 1,
            (true, false) => UNSEEN_ONE_IN,
            (false, _) => COLD_ONE_IN,
        };
        let takes_any = self.live.len() == self.len() || self.live.is_empty() || rng.one_in(any_one_in);
        let energies = if takes_any { &self.energies } else { &self.live_energies };
        let slot = match (how, kind) {
            (CheckpointStrategy::Energy, Some(kind)) if energies[kind as usize].sum() > 0.0 => {
                energies[kind as usize].draw(rng)?
            }
            (CheckpointStrategy::Energy, Some(kind)) => self.energies[kind as usize].draw(rng)?,
            (CheckpointStrategy::Energy, None) => {
                let mut left = rng.share() * energies.iter().map(SumTree::sum).sum::<f64>();
                let fits = |tree: &&SumTree| {
                    left -= tree.sum();
                    left < 0.0 && tree.sum() > 0.0
                };
                let tree = energies.iter().find(fits).or(energies.iter().find(|tree| tree.sum() > 0.0))?;
                tree.draw(rng)?
            }
            (CheckpointStrategy::Uniform, _) if self.slots.is_empty() => return None,
            // Slots are empty only where places were forgotten, and soon used again.
            (CheckpointStrategy::Uniform, _) => loop {
                let slot = rng.index(self.slots.len());
                if self.slots[slot].is_some() {
                    break slot;
                }
            },
            (CheckpointStrategy::Recent, _) => self.ages.draw(rng)?,
        };
        self.slots[slot].as_ref().map(|entry| &entry.node)
    }
}

/// The energy of a place that showed so many new things.
fn energy_of(fresh: u32) -> f64 {
    1.0 + f64::from(fresh.min(REWARD_MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Seed;

    fn place(number: u64, before: Option<&Arc<PathNode>>) -> Arc<PathNode> {
        PathNode::from(before, &[Override::Number(number)], number as u32, PathNodeId(number))
    }

    #[test]
    fn paths_are_kept_beyond_the_checkpoints_and_are_gone_to_from_the_nearest_one() {
        let (mut frontier, start) = (Frontier::default(), PathNode::from(None, &[], 0, PathNodeId(0)));
        let mut before = start;
        let mut gone = Vec::new();
        for number in 1..=1000 {
            before = place(number, Some(&before));
            gone.extend(frontier.add(CheckpointId(number), Arc::clone(&before), (NoveltyKind::Named, 1), 16));
        }
        assert_eq!((frontier.len(), frontier.live(), gone.len()), (1000, 16, 984));
        let (checkpoint, from) = frontier.nearest_live(&before).expect("the newest stays");
        assert_eq!((checkpoint, from.id), (CheckpointId(1000), PathNodeId(1000)));
        let early = Arc::clone(frontier.node(PathNodeId(500)).expect("it is kept"));
        assert!(frontier.nearest_live(&early).is_none(), "only the start is before it");
        assert_eq!(frontier.revive(PathNodeId(500), CheckpointId(2000), 16).len(), 1);
        let late = Arc::clone(frontier.node(PathNodeId(503)).expect("it is kept"));
        let (_, from) = frontier.nearest_live(&late).expect("that one");
        assert_eq!(Frontier::answers_between(&from, &late), [501, 502, 503].map(Override::Number));
    }

    #[test]
    fn places_of_before_are_picked_before_any_has_a_checkpoint_and_told_when_they_are_gone_to() {
        let (mut frontier, mut rng) = (Frontier::default(), Rng::new(Seed(1), 0));
        for number in 1..=4 {
            assert!(frontier.add_unseen(place(number, None)).is_empty());
        }
        for kind in [None, Some(NoveltyKind::Coarse)] {
            assert!(frontier.pick(CheckpointStrategy::Energy, kind, &mut rng).is_some());
        }
        assert_eq!((frontier.len(), frontier.live(), frontier.unseen), (4, 0, 4));
        frontier.tell(PathNodeId(1), (NoveltyKind::Named, 3));
        assert_eq!((frontier.unseen, frontier.has(NoveltyKind::Named)), (3, true));
        assert!(frontier.revive(PathNodeId(1), CheckpointId(9), 16).is_empty());
        assert_eq!((frontier.forget(PathNodeId(2)), frontier.forget(PathNodeId(1))), (None, Some(CheckpointId(9))));
        assert_eq!((frontier.len(), frontier.live(), frontier.unseen), (2, 0, 2));
        assert!(!frontier.has(NoveltyKind::Named) && frontier.has(NoveltyKind::Coarse));
        assert_eq!(frontier.hottest(9, 99).len(), 2);
    }

    #[test]
    fn places_of_before_to_which_no_steps_lead_are_picked_as_often_as_others() {
        let (mut frontier, mut rng) = (Frontier::default(), Rng::new(Seed(1), 0));
        for number in 1..=9 {
            frontier.add_unseen(place(number, None));
        }
        frontier.add(CheckpointId(1), place(10, None), (NoveltyKind::Coarse, 1), 16);
        let mut picks_of_live = |frontier: &Frontier| {
            let mut is_live = || {
                let picked = frontier.pick(CheckpointStrategy::Energy, None, &mut rng);
                picked.is_some_and(|node| node.id == PathNodeId(10))
            };
            (0..1_000).filter(|_| is_live()).count()
        };
        let far = picks_of_live(&frontier);
        frontier.set_unseen_near();
        let near = picks_of_live(&frontier);
        assert!(far > 700 && (50..200).contains(&near), "{far} and {near}");
    }

    #[test]
    fn the_least_promising_places_are_forgotten_at_the_bound() {
        let mut frontier = Frontier::default();
        for number in 1..=PLACES_MAX as u64 {
            frontier.add(CheckpointId(number), place(number, None), (NoveltyKind::Coarse, 1), 4);
        }
        (1..=10).for_each(|number| frontier.reward(PathNodeId(number), 0));
        for number in 1..=10 {
            let number = PLACES_MAX as u64 + number;
            frontier.add(CheckpointId(number), place(number, None), (NoveltyKind::Coarse, 1), 4);
        }
        assert_eq!(frontier.len(), PLACES_MAX);
        assert!((1..=10).all(|number| frontier.node(PathNodeId(number)).is_none()), "they were barren");
        assert!(frontier.node(PathNodeId(11)).is_some());
        let mut rng = Rng::new(Seed(1), 0);
        for how in [CheckpointStrategy::Energy, CheckpointStrategy::Uniform, CheckpointStrategy::Recent] {
            assert!(frontier.pick(how, None, &mut rng).is_some_and(|node| node.id.0 > 10));
        }
    }
}
