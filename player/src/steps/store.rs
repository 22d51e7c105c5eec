//! Keys and values, which steps share.

use super::time::Time;
use crate::failure::Failure;
use player_model::{KvPoll, KvRead};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub(super) struct Store(BTreeMap<String, String>);

impl Store {
    pub(super) fn set(&mut self, key: &str, value: &str) {
        self.0.insert(key.to_owned(), value.to_owned());
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(super) fn check(&self, read: &KvRead) -> Result<(), Failure> {
        let found = self.get(&read.key);
        let (holds, expected) = match (&read.equals, read.is_null) {
            (Some(equals), _) => (found == Some(equals), format!("{equals:?}")),
            (None, Some(true)) => (found.is_none(), "nothing".to_owned()),
            (None, Some(false) | None) => (found.is_some(), "a value".to_owned()),
        };
        if holds { Ok(()) } else { Err(Failure::new(expected_found(&read.key, &expected, found))) }
    }

    /// Nothing else runs meanwhile, so between the first look and the last there is nothing to see.
    pub(super) fn eventually(&self, poll: &KvPoll, time: &mut Time) -> Result<(), Failure> {
        if self.get(&poll.key) == Some(&poll.equals) {
            return Ok(());
        }
        time.sleep(poll.within)?;
        let what = expected_found(&poll.key, &format!("{:?} within {:?}", poll.equals, poll.within.0), self.get(&poll.key));
        Err(Failure::said(poll.msg.as_deref(), what))
    }

    pub(super) fn never(&self, poll: &KvPoll, time: &mut Time) -> Result<(), Failure> {
        if self.get(&poll.key) == Some(&poll.equals) {
            let what = format!("`{}` is {:?}, which it was never to be", poll.key, poll.equals);
            return Err(Failure::said(poll.msg.as_deref(), what));
        }
        time.sleep(poll.within)
    }
}

fn expected_found(key: &str, expected: &str, found: Option<&str>) -> String {
    match found {
        Some(found) => format!("`{key}`: expected {expected}, found {found:?}"),
        None => format!("`{key}`: expected {expected}, found nothing"),
    }
}
