//! A store whose entries expire, and which evicts the oldest when it is full; both are wrong, and one property sees both.
//!
//! ```text
//! never expired     key 2: got Some(17), expected None
//! wrong eviction    key 1: got None, expected Some(5)
//! ```

use fozzy_sdk::prelude::*;
use std::collections::BTreeMap;

/// Entries that there is room for.
const ROOM: usize = 3;
/// Steps after which an entry is gone.
const LIFE: u64 = 4;

#[derive(Default)]
struct Expiry {
    now: u64,
    /// Key, value, and when it expires, the oldest first.
    entries: Vec<(u8, u8, Option<u64>)>,
    model: BTreeMap<u8, (u8, Option<u64>, u64)>,
}

#[scenario]
impl Expiry {
    #[flow(weight = 3)]
    fn put(&mut self) {
        let (key, value, expires) = (draw::range(0..=5u8), draw::range(0..=99u8), draw::any::<bool>());
        let until = expires.then_some(self.now + LIFE);
        // Planted: an entry that is replaced keeps its old time.
        match self.entries.iter_mut().find(|(known, ..)| *known == key) {
            Some(entry) => entry.1 = value,
            None => self.entries.push((key, value, until)),
        }
        if self.entries.len() > ROOM {
            // Planted: of two entries, the younger one goes.
            self.entries.remove(1);
        }
        let known = self.model.get(&key).map(|(_, _, at)| *at);
        self.model.insert(key, (value, until, known.unwrap_or(self.now)));
        if self.model.len() > ROOM {
            let oldest = self.model.iter().min_by_key(|(_, (_, _, at))| *at).map(|(key, _)| *key);
            oldest.and_then(|key| self.model.remove(&key));
        }
    }

    #[flow(weight = 2)]
    fn wait(&mut self) {
        self.now += 1;
    }

    #[flow]
    fn get(&mut self) {
        let key = draw::range(0..=5u8);
        let alive = |until: Option<u64>| until.is_none_or(|until| self.now < until);
        let got = self.entries.iter().find(|(known, _, until)| *known == key && alive(*until)).map(|(_, value, _)| *value);
        let expected = self.model.get(&key).filter(|(_, until, _)| alive(*until)).map(|(value, ..)| *value);
        always!(got == expected, "what was put is got", "key {key}: got {got:?}, expected {expected:?}");
    }
}
