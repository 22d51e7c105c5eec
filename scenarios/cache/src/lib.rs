//! A cache of the most recently used values over files, and a scenario that pulls the plug.
//!
//! A value is written to a temporary file, which is then renamed to its place, so that a reader sees the old value or the
//! new one. The planted fault: nothing is synced in between. A loss of power keeps the name and loses the bytes.
//!
//! ```text
//! write  tmp = "new"      rename tmp → key      power fails      key = ""   (the name was kept, its bytes were not)
//! ```
//!
//! With the feature `fixed`, the file is synced before it is renamed, and its folder afterwards.

use fozzy_sdk::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, Write};

/// Values that are kept in memory.
const RECENT_MAX: usize = 3;
const FOLDER: &str = "/cache";

/// The cache.
#[derive(Default)]
struct Cache {
    /// The most recently used last.
    recent: VecDeque<(u8, String)>,
}

impl Cache {
    fn put(&mut self, key: u8, value: &str) -> io::Result<()> {
        let temporary = format!("{FOLDER}/tmp");
        let mut file = File::create(&temporary)?;
        file.write_all(value.as_bytes())?;
        if cfg!(feature = "fixed") {
            file.sync_all()?;
        }
        drop(file);
        fs::rename(temporary, path(key))?;
        if cfg!(feature = "fixed") {
            File::open(FOLDER)?.sync_all()?;
        }
        self.remember(key, value.to_owned());
        Ok(())
    }

    fn get(&mut self, key: u8) -> Option<String> {
        let known = self.recent.iter().position(|(known, _)| *known == key);
        let value = match known.and_then(|at| self.recent.remove(at)) {
            Some((_, value)) => value,
            None => fs::read_to_string(path(key)).ok()?,
        };
        self.remember(key, value.clone());
        Some(value)
    }

    fn remember(&mut self, key: u8, value: String) {
        self.recent.retain(|(known, _)| *known != key);
        self.recent.push_back((key, value));
        if self.recent.len() > RECENT_MAX {
            self.recent.pop_front();
        }
    }
}

fn path(key: u8) -> String {
    format!("{FOLDER}/{key}")
}

#[derive(Default)]
struct Caching {
    cache: Cache,
    model: BTreeMap<u8, String>,
}

#[scenario]
impl Caching {
    fn pre_sequence(&mut self) {
        fs::create_dir(FOLDER).expect("an empty disk");
        tools::watch_power().expect("a virtual disk");
    }

    #[flow]
    fn put(&mut self) {
        let (key, value) = (draw::range(0..=7u8), draw::string_of("xyz", 1..=5));
        self.cache.put(key, &value).expect("room on the disk");
        self.model.insert(key, value);
    }

    #[flow]
    fn get(&mut self) {
        let key = draw::range(0..=7u8);
        let (found, expected) = (self.cache.get(key), self.model.get(&key).cloned());
        always!(found == expected, "what was put is got", "{found:?} instead of {expected:?} under {key}");
    }

    /// The program starts again on what the disk has kept.
    #[flow(weight = 10)]
    fn power_fails(&mut self) {
        tools::lose_power().expect("all files are closed");
        self.cache = Cache::default();
        reachable!("the program starts again");
        for (key, expected) in &self.model {
            let found = self.cache.get(*key);
            always!(
                found.as_ref() == Some(expected),
                "what was acknowledged survives",
                "{found:?} instead of {expected:?} under {key}"
            );
        }
    }
}
