//! What happened, in order: one entry for each call of the guest to the computer.
//!
//! ```text
//! calls    0 1 2 … 1023 │ 1024 …          every call is folded into a running digest
//! marks                 ▲ (1024, 3.2ms, 9c41…)      kept at intervals, to locate a difference
//! entries  [0 .. 1000)                    kept in full only inside the window that was asked for
//! ```
//!
//! A million-call guest costs a few nanoseconds a call and a few kilobytes of marks; any stretch of it
//! can be had in full by executing again with another window, because an execution is a pure function.
//!
//! Invariants: two histories are equal exactly when their call counts and digests are equal (up to
//! collisions of 64 bits); memory is bounded by the window and by [`MARKS_MAX`].
//! Not here: what a call means (`fozzy-host`).

use crate::facts::cut;
use crate::observation::Observation;
use crate::plan::Inputs;
use crate::record::Record;
use crate::source::Override;
use crate::{Instant, NodeId, Origin, RunningDigest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

/// Calls between two marks, at first. Small enough that re-executing to look into one stretch is cheap.
pub const MARK_INTERVAL_FIRST: u64 = 1024;
/// Marks kept at the most; at the bound every second one is dropped and the interval doubles.
pub const MARKS_MAX: usize = 1024;

/// Bytes of each text of an aside that are shown: a guest says what it likes, and says it again in the next step.
pub const ASIDE_BYTES_MAX: usize = 4 << 10;

/// Which entries are kept in full, by index; an empty range keeps none.
pub type HistoryWindow = Range<u64>;

/// One call of a guest to the simulated computer.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HistoryEntry {
    /// Position in the history, from zero.
    pub index: u64,
    /// Virtual time when the call was answered.
    pub at: Instant,
    /// The node that called.
    pub node: NodeId,
    /// What was called, by its name in WIT without the version.
    pub call: String,
    /// The arguments, rendered.
    pub asked: String,
    /// The answer, rendered.
    pub answer: String,
    /// Whether a decision was taken (else the answer followed from the state of the computer).
    pub decision: bool,
}

/// The running digest after a number of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DigestMark {
    /// Calls so far.
    pub calls: u64,
    /// Virtual time then.
    pub at: Instant,
    /// The running digest then.
    #[serde(with = "digest_hex")]
    pub digest: u64,
}

/// Everything that happened in one execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// Number of calls.
    pub calls: u64,
    /// Number of questions that were answered by the source.
    pub decisions: u64,
    /// Digest of all calls, arguments and answers.
    pub digest: u64,
    /// The digest at intervals.
    pub marks: Vec<DigestMark>,
    /// The entries of the window that was asked for.
    pub entries: Vec<HistoryEntry>,
    /// Answers that the seed does not determine, by number of the question.
    pub explicit: BTreeMap<u64, Override>,
    /// What the real computer answered, in order.
    pub observations: Vec<Observation>,
    /// The bytes that the observations name.
    pub observed: Inputs,
}

/// What a run that is narrated to people shows beside its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// A planned fault strikes: what, and how hard.
    Fault,
    /// A round of fuzz targets or properties begins.
    Sequence,
    /// A step does this flow, fuzz target or property.
    Flow,
    /// A value was drawn: its name and the value.
    Drew,
    /// What a step came to.
    Returned,
    /// A step found nothing to do, and why.
    Skipped,
}

impl Aside {
    const ALL: [Aside; 6] = [Aside::Fault, Aside::Sequence, Aside::Flow, Aside::Drew, Aside::Returned, Aside::Skipped];

    /// What it is called among the calls.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Aside::Fault => "fozzy:aside/fault",
            Aside::Sequence => "fozzy:aside/sequence",
            Aside::Flow => "fozzy:aside/flow",
            Aside::Drew => "fozzy:aside/drew",
            Aside::Returned => "fozzy:aside/returned",
            Aside::Skipped => "fozzy:aside/skipped",
        }
    }

    /// Which one an entry is; `None` for a call.
    #[must_use]
    pub fn of(entry: &HistoryEntry) -> Option<Aside> {
        Aside::ALL.into_iter().find(|kind| kind.name() == entry.call)
    }
}

/// Receives the entries of the window as they happen, instead of the history keeping them: a stretch of
/// any length can be shown in bounded memory. It cannot answer, so it cannot influence the execution.
pub type HistorySink = Box<dyn FnMut(HistoryEntry) + Send>;

/// Builds a [`History`] while an execution runs.
pub struct Recorder {
    history: History,
    fold: RunningDigest,
    keep: HistoryWindow,
    sink: Option<HistorySink>,
    interval: u64,
    /// Calls at which the next mark is due: a multiple of the interval.
    next_mark: u64,
    decided: bool,
    /// Whether the run is narrated to people, who are shown more than its calls.
    is_narrated: bool,
}

impl Recorder {
    /// A recorder that keeps the entries of `keep` in full.
    #[must_use]
    pub fn new(keep: HistoryWindow) -> Recorder {
        Recorder {
            history: History::default(),
            fold: RunningDigest::default(),
            keep,
            sink: None,
            interval: MARK_INTERVAL_FIRST,
            next_mark: MARK_INTERVAL_FIRST,
            decided: false,
            is_narrated: false,
        }
    }

    /// A recorder of a run that is narrated to people: guests report the values of their steps, and [`Recorder::aside`]
    /// shows what is no call. Such a run is shown and never recorded.
    #[must_use]
    pub fn narrated(self, is_narrated: bool) -> Recorder {
        Recorder { is_narrated, ..self }
    }

    /// Whether the run is narrated to people.
    #[inline]
    #[must_use]
    pub fn is_narrated(&self) -> bool {
        self.is_narrated
    }

    /// Shows something that is no call to the reader of a narrated run; a strike of a fault also to those who follow
    /// the calls. Texts are cut to [`ASIDE_BYTES_MAX`]. It is no part of the history.
    #[inline]
    pub fn aside(&mut self, kind: Aside, node: NodeId, at: Instant, what: impl FnOnce() -> (String, String)) {
        let index = self.history.calls;
        let is_shown = self.is_narrated || (kind == Aside::Fault && self.keep.contains(&index));
        if let (true, Some(sink)) = (is_shown, &mut self.sink) {
            let (asked, answer) = what();
            let (asked, answer) = (cut(&asked, ASIDE_BYTES_MAX), cut(&answer, ASIDE_BYTES_MAX));
            sink(HistoryEntry { index, at, node, call: kind.name().to_owned(), asked, answer, decision: false });
        }
    }

    /// Hands the entries of the window to `sink` instead of keeping them.
    #[must_use]
    pub fn streaming(self, sink: Option<HistorySink>) -> Recorder {
        Recorder { sink, ..self }
    }

    /// An independent recorder that continues from here; it passes nothing to the sink.
    #[must_use]
    pub fn fork(&self) -> Recorder {
        Recorder {
            history: self.history.clone(),
            fold: self.fold,
            keep: self.keep.clone(),
            sink: None,
            interval: self.interval,
            next_mark: self.next_mark,
            decided: self.decided,
            is_narrated: self.is_narrated,
        }
    }

    /// Goes on from where `kept` is, as a fork of that does, in the allocations that are there.
    pub fn go_back(&mut self, kept: &Recorder) {
        let Recorder { history, fold, keep, sink: _, interval, next_mark, decided, is_narrated } = kept;
        let History { calls, decisions, digest, marks, entries, explicit, observations, observed } = history;
        let own = &mut self.history;
        (own.calls, own.decisions, own.digest) = (*calls, *decisions, *digest);
        own.marks.clone_from(marks);
        own.entries.clone_from(entries);
        own.explicit.clone_from(explicit);
        own.observations.clone_from(observations);
        own.observed.clone_from(observed);
        self.keep.clone_from(keep);
        (self.fold, self.sink) = (*fold, None);
        (self.interval, self.next_mark) = (*interval, *next_mark);
        (self.decided, self.is_narrated) = (*decided, *is_narrated);
    }

    /// Questions that the source has answered so far.
    #[must_use]
    pub fn decisions(&self) -> u64 {
        self.history.decisions
    }

    /// What has happened so far.
    #[must_use]
    pub fn so_far(&self) -> History {
        self.fork().finish()
    }

    /// Calls so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.history.calls
    }

    /// Notes that the call in progress took a decision; explicit answers are stored by the caller's word.
    #[inline]
    pub fn decision(&mut self, origin: Origin, explicit: impl FnOnce() -> Override) {
        self.decided = true;
        if origin == Origin::Explicit {
            self.keep_explicit(explicit());
        }
        self.history.decisions += 1;
    }

    /// Where the bytes of observations are kept.
    pub fn observed(&mut self) -> &mut Inputs {
        &mut self.history.observed
    }

    /// Records what the real computer answered; the call in progress took a decision by it.
    pub fn observation(&mut self, observation: Observation) {
        self.decided = true;
        self.history.observations.push(observation);
    }

    #[cold]
    fn keep_explicit(&mut self, answer: Override) {
        self.history.explicit.insert(self.history.decisions, answer);
    }

    /// Records one call that was answered at `at`. `id` is the call's stable number.
    #[inline]
    pub fn call(&mut self, id: u32, name: &str, node: NodeId, at: Instant, asked: &dyn Record, answer: &dyn Record) {
        self.fold.pair(u64::from(id) << 32 | u64::from(node.0), at.0);
        asked.fold(&mut self.fold);
        answer.fold(&mut self.fold);
        let index = self.history.calls;
        if self.keep.contains(&index) {
            self.keep_entry(name, node, at, asked, answer);
        }
        self.decided = false;
        self.history.calls += 1;
        if self.history.calls == self.next_mark {
            self.mark(at);
        }
    }

    /// The finished history.
    #[must_use]
    pub fn finish(self) -> History {
        History { digest: self.fold.value(), ..self.history }
    }

    #[cold]
    fn keep_entry(&mut self, name: &str, node: NodeId, at: Instant, asked: &dyn Record, answer: &dyn Record) {
        let render = |value: &dyn Record| {
            let mut text = String::new();
            value.show(&mut text);
            text
        };
        let (asked, answer) = (render(asked), render(answer));
        let entry = HistoryEntry {
            index: self.history.calls,
            at,
            node,
            call: name.to_owned(),
            asked,
            answer,
            decision: self.decided,
        };
        match &mut self.sink {
            Some(sink) => sink(entry),
            None => self.history.entries.push(entry),
        }
    }

    #[cold]
    fn mark(&mut self, at: Instant) {
        let mark = DigestMark { calls: self.history.calls, at, digest: self.fold.value() };
        self.history.marks.push(mark);
        if self.history.marks.len() == MARKS_MAX {
            self.interval *= 2;
            let interval = self.interval;
            self.history.marks.retain(|mark| mark.calls % interval == 0);
        }
        self.next_mark = (self.history.calls / self.interval + 1) * self.interval;
    }
}

/// The first stretch of calls in which two histories differ, by their marks; `None` when they are equal.
/// The end is exclusive and may lie beyond the shorter history.
#[must_use]
pub fn first_difference(left: &History, right: &History) -> Option<Range<u64>> {
    if left.calls == right.calls && left.digest == right.digest {
        return None;
    }
    let mut equal = 0;
    let other: BTreeMap<u64, u64> = right.marks.iter().map(|mark| (mark.calls, mark.digest)).collect();
    for mark in &left.marks {
        match other.get(&mark.calls) {
            Some(digest) if *digest == mark.digest => equal = mark.calls,
            Some(_) => return Some(equal..mark.calls),
            None => {}
        }
    }
    Some(equal..left.calls.max(right.calls))
}

pub(crate) mod digest_hex {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(digest: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{digest:016x}"))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        let plain = text.len() == 16 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        let parsed = u64::from_str_radix(&text, 16).ok().filter(|_| plain);
        parsed.ok_or_else(|| serde::de::Error::custom(format!("expected 16 hexadecimal digits, found `{text}`")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(calls: u64, keep: HistoryWindow, odd_one_out: Option<u64>) -> History {
        let mut recorder = Recorder::new(keep);
        for n in 0..calls {
            let answer = if odd_one_out == Some(n) { u64::MAX } else { n * n };
            recorder.call(3, "wasi:clocks/monotonic-clock.now", NodeId(0), Instant(n * 10), &(), &answer);
        }
        recorder.finish()
    }

    #[test]
    fn equal_calls_give_equal_histories_and_a_difference_is_located() {
        let plain = record(5_000, 0..0, None);
        assert_eq!(first_difference(&plain, &record(5_000, 0..0, None)), None);
        assert_eq!(first_difference(&plain, &record(5_000, 0..0, Some(2_500))), Some(2048..3072));
        assert_eq!(first_difference(&plain, &record(4_999, 0..0, None)), Some(4096..5_000));
        let window = record(5_000, 2048..3072, Some(2_500));
        let other = record(5_000, 2048..3072, None);
        let differing: Vec<u64> =
            window.entries.iter().zip(&other.entries).filter(|(a, b)| a != b).map(|(a, _)| a.index).collect();
        assert_eq!(differing, [2_500]);
    }

    #[test]
    fn texts_beside_the_calls_are_cut() {
        let (sender, told) = std::sync::mpsc::channel();
        let sink: HistorySink = Box::new(move |entry| drop(sender.send(entry)));
        let mut recorder = Recorder::new(0..u64::MAX).narrated(true).streaming(Some(sink));
        let long = "ä".repeat(1 << 20);
        recorder.aside(Aside::Drew, NodeId(0), Instant(0), || (long.clone(), long.clone()));
        let entry = told.recv().expect("it is told");
        let bound = ASIDE_BYTES_MAX + "…".len();
        assert!(entry.asked.len() <= bound && entry.answer.len() <= bound && entry.asked.ends_with('…'));
    }

    #[test]
    fn marks_stay_bounded_and_comparable() {
        let long = record(3_000_000, 0..0, None);
        assert!(long.marks.len() < MARKS_MAX);
        let difference = first_difference(&long, &record(3_000_000, 0..0, Some(2_000_000))).expect("differs");
        assert!(difference.contains(&2_000_000) && difference.end - difference.start <= 8192, "{difference:?}");
    }
}
