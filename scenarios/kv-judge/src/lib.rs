//! A scenario that judges a key-value store which is another component: whatever exports `example:kv/store`.
//!
//! ```text
//! this component ── put, get, delete, entries ──▶ the target, in a store, on a machine and with a disk of its own
//!      └─ model: what must be there ◀─ compared ─┘            └─ restart: its memory is gone, its disk stays
//! ```

use example::kv::store::{self, Error};
use fozzy_sdk::prelude::*;
use fozzy_sdk::target;
use std::collections::BTreeMap;

wit_bindgen::generate!({ path: "../kv-store/wit", world: "kv-judge" });

/// Few keys, so that flows meet each other's.
struct Key(String);

impl Draw for Key {
    fn draw(site: &str) -> Key {
        Key(format!("key {}", draw::range_at(site, 0..=4)))
    }
}

#[derive(Default)]
struct Judge {
    model: BTreeMap<String, Vec<u8>>,
}

#[scenario]
impl Judge {
    #[flow(weight = 50)]
    fn put(&mut self, key: Key, value: Vec<u8>) {
        let put = store::put(&key.0, &value);
        always!(put.is_ok(), "a short key is taken", "{put:?}");
        self.model.insert(key.0, value);
    }

    #[flow(weight = 30)]
    fn get(&mut self, key: Key) {
        let (found, expected) = (store::get(&key.0), self.model.get(&key.0));
        always!(found.as_ref() == expected, "a key has its last value", "{}: {found:?}, not {expected:?}", key.0);
    }

    #[flow(weight = 20)]
    fn delete(&mut self, key: Key) {
        let (deleted, expected) = (store::delete(&key.0), self.model.remove(&key.0).is_some());
        always!(matches!(deleted, Ok(deleted) if deleted == expected), "a deletion says what there was", "{deleted:?}");
    }

    #[flow(weight = 5)]
    fn put_under_a_long_key(&mut self) {
        let refused = store::put(&"k".repeat(300), b"");
        always!(matches!(refused, Err(Error::KeyTooLong(300))), "a long key is refused", "{refused:?}");
    }

    /// The target is ended, and a new one reads what it left on its disk.
    #[flow(weight = 10, precondition = |judge| !judge.model.is_empty())]
    fn restart(&mut self) {
        target::restart();
    }

    #[invariant(period = 5)]
    fn everything_is_there_and_nothing_else(&self) {
        let entries: BTreeMap<String, Vec<u8>> =
            store::entries().into_iter().map(|entry| (entry.key, entry.value)).collect();
        always!(entries == self.model, "the store has what was put", "{entries:?}, not {:?}", self.model);
    }
}
