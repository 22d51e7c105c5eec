//! How the types of WIT stand in the history.
//!
//! The rare ones are folded by their words (`words`), which stay whatever types are called. What a guest calls a million times
//! a second has a direct fold.

mod error_words;
mod words;

use crate::bindings::fozzy::files::{power, snapshots};
use crate::bindings::fozzy::process::run;
use crate::bindings::wasi::clocks::wall_clock::Datetime;
use crate::bindings::wasi::filesystem::types as fs;
use crate::bindings::wasi::http::types as http;
use crate::bindings::wasi::sockets::network;
use crate::streams::StreamOpFailure;
use fozzy_trace::{Record, RunningDigest};
use std::fmt::Write;
use words::{ValueNotation, Words};

impl Record for Datetime {
    fn fold(&self, fold: &mut RunningDigest) {
        fold.word(self.seconds);
        fold.word(u64::from(self.nanoseconds));
    }
    fn show(&self, out: &mut String) {
        let _ = write!(out, "{}.{:09}s", self.seconds, self.nanoseconds);
    }
}

impl Record for StreamOpFailure {
    fn fold(&self, fold: &mut RunningDigest) {
        match self {
            StreamOpFailure::Closed => fold.word(0),
            StreamOpFailure::Failed(errno) => fold.word(*errno as u64 + 1),
            StreamOpFailure::Network(error) => fold.bytes(error.to_string().as_bytes()),
            StreamOpFailure::Http(error) => fold.bytes(error.to_string().as_bytes()),
        }
    }
    fn show(&self, out: &mut String) {
        match self {
            StreamOpFailure::Closed => out.push_str("closed"),
            StreamOpFailure::Failed(errno) => drop(write!(out, "{errno:?}")),
            StreamOpFailure::Network(error) => drop(write!(out, "{error}")),
            StreamOpFailure::Http(error) => drop(write!(out, "{error}")),
        }
    }
}

/// A value that is folded by its words, and shown in the notation of WAVE.
pub(crate) struct WordRecord<T>(pub(crate) T);

impl<T: Words> Record for WordRecord<T> {
    fn fold(&self, fold: &mut RunningDigest) {
        let mut words = String::new();
        self.0.words(ValueNotation::Folded, &mut words);
        fold.bytes(words.as_bytes());
    }
    fn show(&self, out: &mut String) {
        self.0.words(ValueNotation::Shown, out);
    }
}

macro_rules! by_words {
    ($($kind:ty),* $(,)?) => {$(
        impl Record for $kind {
            fn fold(&self, fold: &mut RunningDigest) {
                WordRecord(self).fold(fold);
            }
            fn show(&self, out: &mut String) {
                WordRecord(self).show(out);
            }
        }
    )*};
}
by_words!(
    fs::ErrorCode,
    fs::DescriptorStat,
    fs::DescriptorType,
    fs::DescriptorFlags,
    fs::MetadataHashValue,
    fs::DirectoryEntry,
    network::ErrorCode,
    http::ErrorCode,
    http::HeaderError,
    http::Method,
    http::Scheme,
    run::Ending,
    run::Error,
    snapshots::Error,
    power::Error,
);
