//! A persistent array with holes: key to value, cheap to clone, copied on write along one path only.
//!
//! ```text
//! key 0x2A                top ── [ . . 2 . … ]            height 2, sixteen slots a branch
//!                                    └── [ … A … ]
//!                                             └── value
//! ```
//!
//! Two things of the disk are stored in it: nodes by index, and chunks of a file by position. A clone
//! shares every branch; a change copies the shared branches on its path and nothing else, and none at
//! all when they are not shared.
//!
//! Invariants: a branch is never empty; the height is the smallest that ever was needed; iteration is
//! in the order of keys. Not here: iteration by reference that outlives a change (not needed).

use std::sync::Arc;

/// Bits of the key that one branch decides.
const BITS: u32 = 4;
/// Slots of a branch. Sixteen makes a copied branch 256 bytes: small beside the chunk it leads to.
const WIDTH: usize = 1 << BITS;

/// See the module.
#[derive(Clone, Debug)]
pub(super) struct RadixTree<T> {
    top: Slot<T>,
    height: u32,
}

#[derive(Clone, Debug)]
enum Slot<T> {
    Empty,
    Branch(Arc<[Slot<T>; WIDTH]>),
    Value(T),
}

impl<T> Default for RadixTree<T> {
    fn default() -> RadixTree<T> {
        RadixTree { top: Slot::Empty, height: 0 }
    }
}

impl<T: Clone> RadixTree<T> {
    /// Whether `key` can be stored without growing.
    fn covers(&self, key: u64) -> bool {
        self.height * BITS >= u64::BITS || key >> (self.height * BITS) == 0
    }

    /// The value at `key`.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<&T> {
        if !self.covers(key) {
            return None;
        }
        let (mut slot, mut level) = (&self.top, self.height);
        loop {
            match slot {
                Slot::Empty => return None,
                Slot::Value(value) => return Some(value),
                Slot::Branch(branch) => {
                    level -= 1;
                    slot = &branch[digit(key, level)];
                }
            }
        }
    }

    /// The value at `key`, to change in place; shared branches on the way are copied.
    #[inline]
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut T> {
        if !self.covers(key) {
            return None;
        }
        let (mut slot, mut level) = (&mut self.top, self.height);
        loop {
            match slot {
                Slot::Empty => return None,
                Slot::Value(value) => return Some(value),
                Slot::Branch(branch) => {
                    level -= 1;
                    slot = &mut Arc::make_mut(branch)[digit(key, level)];
                }
            }
        }
    }

    /// Stores `value` at `key` and returns what was there.
    pub(super) fn insert(&mut self, key: u64, value: T) -> Option<T> {
        while !self.covers(key) {
            if !matches!(self.top, Slot::Empty) {
                let mut branch = empty_branch();
                branch[0] = std::mem::replace(&mut self.top, Slot::Empty);
                self.top = Slot::Branch(Arc::new(branch));
            }
            self.height += 1;
        }
        let (mut slot, mut level) = (&mut self.top, self.height);
        while level > 0 {
            level -= 1;
            if matches!(slot, Slot::Empty) {
                *slot = Slot::Branch(Arc::new(empty_branch()));
            }
            let Slot::Branch(branch) = slot else { unreachable!("a value stands above level 0") };
            slot = &mut Arc::make_mut(branch)[digit(key, level)];
        }
        match std::mem::replace(slot, Slot::Value(value)) {
            Slot::Empty => None,
            Slot::Value(old) => Some(old),
            Slot::Branch(_) => unreachable!("a branch stands at level 0"),
        }
    }

    /// Removes and returns the value at `key`.
    pub(super) fn remove(&mut self, key: u64) -> Option<T> {
        self.get(key)?;
        let removed = remove_below(&mut self.top, self.height, key);
        assert!(removed.is_some(), "what was found is removed");
        removed
    }

    /// Removes every value at `key` and above, and shows each to `removed` in order.
    pub(super) fn truncate(&mut self, key: u64, removed: &mut dyn FnMut(u64, &T)) {
        if self.covers(key) {
            truncate_below(&mut self.top, self.height, 0, key, removed);
        }
    }

    /// Shows every value in the order of keys.
    pub(super) fn for_each(&self, visit: &mut dyn FnMut(u64, &T)) {
        visit_below(&self.top, self.height, 0, visit);
    }
}

fn empty_branch<T>() -> [Slot<T>; WIDTH] {
    std::array::from_fn(|_| Slot::Empty)
}

#[inline]
fn digit(key: u64, level: u32) -> usize {
    (key >> (level * BITS)) as usize & (WIDTH - 1)
}

/// Keys are at most 64 bits, so recursion is at most sixteen deep.
fn remove_below<T: Clone>(slot: &mut Slot<T>, level: u32, key: u64) -> Option<T> {
    let Slot::Branch(branch) = slot else {
        return match std::mem::replace(slot, Slot::Empty) {
            Slot::Value(value) => Some(value),
            _ => None,
        };
    };
    let branch = Arc::make_mut(branch);
    let removed = remove_below(&mut branch[digit(key, level - 1)], level - 1, key);
    if branch.iter().all(|s| matches!(s, Slot::Empty)) {
        *slot = Slot::Empty;
    }
    removed
}

fn truncate_below<T: Clone>(slot: &mut Slot<T>, level: u32, first: u64, key: u64, removed: &mut dyn FnMut(u64, &T)) {
    if first >= key {
        visit_below(slot, level, first, removed);
        *slot = Slot::Empty;
        return;
    }
    let Slot::Branch(branch) = slot else { return };
    let branch = Arc::make_mut(branch);
    // The first slot that can hold `key` or more.
    let span = ((key - first) >> ((level - 1) * BITS)) as usize;
    for (index, below) in branch.iter_mut().enumerate().skip(span) {
        let start = first + ((index as u64) << ((level - 1) * BITS));
        truncate_below(below, level - 1, start, key, removed);
    }
    if branch.iter().all(|s| matches!(s, Slot::Empty)) {
        *slot = Slot::Empty;
    }
}

fn visit_below<T>(slot: &Slot<T>, level: u32, first: u64, visit: &mut dyn FnMut(u64, &T)) {
    match slot {
        Slot::Empty => {}
        Slot::Value(value) => visit(first, value),
        Slot::Branch(branch) => {
            for (index, below) in branch.iter().enumerate() {
                let start = first + ((index as u64) << ((level - 1) * BITS));
                visit_below(below, level - 1, start, visit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Lcg;
    use super::*;
    use std::collections::BTreeMap;

    fn content(radix: &RadixTree<u64>) -> Vec<(u64, u64)> {
        let mut all = Vec::new();
        radix.for_each(&mut |key, value| all.push((key, *value)));
        all
    }

    #[test]
    fn it_is_an_ordered_map() {
        let mut random = Lcg(7);
        let (mut radix, mut model) = (RadixTree::default(), BTreeMap::new());
        for step in 0..20_000_u64 {
            let bits = 1 + random.below(34);
            let key = random.below(1 << bits);
            match random.below(100) {
                0..60 => assert_eq!(radix.insert(key, step), model.insert(key, step)),
                60..97 => assert_eq!(radix.remove(key), model.remove(&key)),
                97..99 => {
                    let old = (radix.clone(), model.clone());
                    if let Some(value) = radix.get_mut(key) {
                        *value += 1;
                        *model.get_mut(&key).expect("both have it") += 1;
                    }
                    assert_eq!(content(&old.0), old.1.into_iter().collect::<Vec<_>>());
                }
                _ => {
                    let mut removed = Vec::new();
                    radix.truncate(key, &mut |key, value| removed.push((key, *value)));
                    assert_eq!(removed, model.split_off(&key).into_iter().collect::<Vec<_>>());
                }
            }
            assert_eq!(radix.get(key), model.get(&key));
        }
        assert_eq!(content(&radix), model.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn an_emptied_array_holds_no_branch() {
        let mut radix = RadixTree::default();
        radix.insert(u64::MAX, 1);
        radix.insert(0, 2);
        assert_eq!((radix.remove(u64::MAX), radix.remove(0)), (Some(1), Some(2)));
        assert!(matches!(radix.top, Slot::Empty));
    }
}
