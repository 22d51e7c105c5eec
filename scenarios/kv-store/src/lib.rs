//! A key-value store: a map in memory, and on the disk a log of everything that changed it.
//!
//! ```text
//! put k v      + 1 1 k v        the log, one record after the other
//! delete k     - 1   k
//! a new start  reads the log, and has the map again
//! ```
//!
//! The planted fault: when the log is read again, records of deletions are passed over. As long as the program runs,
//! nobody sees it; after a restart, what was deleted is there again. With the feature `fixed` they are read.
//!
//! Nothing here knows that it is tested: it exports an interface and uses `std::fs`.

use exports::example::kv::store::{Entry, Error, Guest};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;

wit_bindgen::generate!({ world: "kv-store" });

/// Longest key, in bytes: its length has one byte in the log.
const KEY_BYTES_MAX: usize = 255;

const LOG: &str = "/log";
const PUT: u8 = b'+';
const DELETE: u8 = b'-';

#[derive(Default)]
struct Store {
    /// `None` until it is used for the first time.
    log: Option<File>,
    map: BTreeMap<String, Vec<u8>>,
}

impl Store {
    /// Reads the log, if that was not done yet.
    fn open(&mut self) -> std::io::Result<&mut File> {
        if self.log.is_none() {
            if fs::exists(LOG)? {
                self.recover(&fs::read(LOG)?);
            }
            self.log = Some(OpenOptions::new().append(true).create(true).open(LOG)?);
        }
        Ok(self.log.as_mut().expect("it was just opened"))
    }

    fn recover(&mut self, mut log: &[u8]) {
        while let [kind, length, rest @ ..] = log {
            let (key, rest) = rest.split_at(usize::from(*length));
            let key = String::from_utf8_lossy(key).into_owned();
            log = match *kind {
                PUT => {
                    let (length, rest) = rest.split_first_chunk().expect("a value has a length");
                    let (value, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
                    self.map.insert(key, value.to_vec());
                    rest
                }
                _ => {
                    if cfg!(feature = "fixed") {
                        self.map.remove(&key);
                    }
                    rest
                }
            };
        }
    }

    fn write(&mut self, kind: u8, key: &str, value: Option<&[u8]>) -> Result<(), Error> {
        if key.len() > KEY_BYTES_MAX {
            return Err(Error::KeyTooLong(key.len() as u32));
        }
        let mut record = vec![kind, key.len() as u8];
        record.extend(key.as_bytes());
        if let Some(value) = value {
            record.extend((value.len() as u32).to_le_bytes());
            record.extend(value);
        }
        let written = self.open().and_then(|log| log.write_all(&record));
        written.map_err(|error| Error::Disk(error.to_string()))
    }
}

thread_local! {
    static STORE: RefCell<Store> = RefCell::default();
}

fn with<R>(body: impl FnOnce(&mut Store) -> R) -> R {
    STORE.with_borrow_mut(|store| {
        store.open().expect("the log can be opened");
        body(store)
    })
}

struct Kv;
export!(Kv);

impl Guest for Kv {
    fn get(key: String) -> Option<Vec<u8>> {
        with(|store| store.map.get(&key).cloned())
    }

    fn put(key: String, value: Vec<u8>) -> Result<(), Error> {
        with(|store| {
            store.write(PUT, &key, Some(&value))?;
            store.map.insert(key, value);
            Ok(())
        })
    }

    fn delete(key: String) -> Result<bool, Error> {
        with(|store| {
            store.write(DELETE, &key, None)?;
            Ok(store.map.remove(&key).is_some())
        })
    }

    fn entries() -> Vec<Entry> {
        with(|store| store.map.iter().map(|(key, value)| Entry { key: key.clone(), value: value.clone() }).collect())
    }
}
