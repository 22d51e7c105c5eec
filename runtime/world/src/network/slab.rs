//! Values by number, where the number of a removed value never finds its successor.
//!
//! ```text
//! insert a ─▶ 0.0     remove 0.0     insert b ─▶ 0.1     get 0.0 ─▶ nothing
//! ```
//!
//! Invariant: numbers depend on the calls only. An event that is on its way when its socket closes finds nothing.

/// The number of a value: its slot, and how many values have stood there before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct SlabKey {
    slot: u32,
    turn: u32,
}

impl SlabKey {
    /// The same as one number, below 2^63.
    pub(super) fn number(self) -> u64 {
        u64::from(self.slot) << 31 | u64::from(self.turn & 0x7fff_ffff)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Slab<T> {
    slots: Vec<(u32, Option<T>)>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Slab<T> {
        Slab { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slab<T> {
    pub(super) fn insert(&mut self, value: T) -> SlabKey {
        if let Some(slot) = self.free.pop() {
            let (turn, place) = &mut self.slots[slot as usize];
            *place = Some(value);
            return SlabKey { slot, turn: *turn };
        }
        self.slots.push((0, Some(value)));
        SlabKey { slot: self.slots.len() as u32 - 1, turn: 0 }
    }

    pub(super) fn get(&self, key: SlabKey) -> Option<&T> {
        self.slots.get(key.slot as usize).filter(|(turn, _)| *turn == key.turn)?.1.as_ref()
    }

    pub(super) fn get_mut(&mut self, key: SlabKey) -> Option<&mut T> {
        self.slots.get_mut(key.slot as usize).filter(|(turn, _)| *turn == key.turn)?.1.as_mut()
    }

    pub(super) fn remove(&mut self, key: SlabKey) -> Option<T> {
        let (turn, place) = self.slots.get_mut(key.slot as usize).filter(|(turn, _)| *turn == key.turn)?;
        let value = place.take()?;
        // After four thousand million values a slot retires, so that its numbers stay unique.
        *turn = turn.wrapping_add(1);
        if *turn != 0 {
            self.free.push(key.slot);
        }
        Some(value)
    }

    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (SlabKey, &T)> {
        self.slots
            .iter()
            .zip(0..)
            .filter_map(|((turn, place), slot)| Some((SlabKey { slot, turn: *turn }, place.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_number_finds_nothing() {
        let mut slab = Slab::default();
        let (a, b) = (slab.insert('a'), slab.insert('b'));
        assert_eq!(slab.remove(a), Some('a'));
        assert_eq!(slab.remove(a), None);
        let c = slab.insert('c');
        assert_eq!((slab.get(a), slab.get(b), slab.get(c)), (None, Some(&'b'), Some(&'c')));
        assert_eq!(slab.len(), 2);
        assert_eq!(slab.iter().map(|(_, value)| *value).collect::<String>(), "cb");
    }
}
