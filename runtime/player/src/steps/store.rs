//! Keys and values, which steps share.

use super::time::StepClock;
use crate::failure::StepFailure;
use fozzy_scenario_file::{KvPoll, KvRead};
use std::collections::BTreeMap;

#[derive(Clone, Default)]
pub struct KeyValueStore(BTreeMap<String, String>);

impl KeyValueStore {
    pub fn set(&mut self, key: &str, value: &str) {
        self.0.insert(key.to_owned(), value.to_owned());
    }

    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    pub(super) fn check(&self, read: &KvRead) -> Result<(), StepFailure> {
        let found = self.get(&read.key);
        let (holds, expected) = match (&read.equals, read.is_null) {
            (Some(equals), _) => (found == Some(equals), format!("{equals:?}")),
            (None, Some(true)) => (found.is_none(), "nothing".to_owned()),
            (None, Some(false) | None) => (found.is_some(), "a value".to_owned()),
        };
        let class = if found.is_some() { "another value" } else { "nothing there" };
        if holds { Ok(()) } else { Err(StepFailure::new(expected_found(&read.key, &expected, found)).of(class)) }
    }

    /// Outside of branches nothing else runs meanwhile, so between the first look and the last there is nothing to see.
    pub(super) fn eventually(&self, poll: &KvPoll, time: &mut StepClock) -> Result<(), StepFailure> {
        if self.is(poll) {
            return Ok(());
        }
        time.sleep(poll.within)?;
        Err(self.not_in_time(poll))
    }

    /// Whether it is there now.
    pub fn is(&self, poll: &KvPoll) -> bool {
        self.get(&poll.key) == Some(&poll.equals)
    }

    /// It was not there in time.
    pub fn not_in_time(&self, poll: &KvPoll) -> StepFailure {
        let what =
            expected_found(&poll.key, &format!("{:?} within {:?}", poll.equals, poll.within.0), self.get(&poll.key));
        StepFailure::said(poll.msg.as_deref(), what)
    }

    /// It is there, and was never to be.
    pub fn is_there(poll: &KvPoll) -> StepFailure {
        let what = format!("`{}` is {:?}, which it was never to be", poll.key, poll.equals);
        StepFailure::said(poll.msg.as_deref(), what)
    }

    pub(super) fn never(&self, poll: &KvPoll, time: &mut StepClock) -> Result<(), StepFailure> {
        if self.is(poll) {
            return Err(KeyValueStore::is_there(poll));
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
