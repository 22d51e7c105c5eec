//! Standard input that comes in virtual time: by a script, from another machine, from a person.
//!
//! ```text
//! script    at 2s │ after "sqlite> " │ 50ms later        arm: moments are fixed as soon as what they depend on has happened
//!                 ▼
//! queue     [ 10 bytes at 2s ][ 6 bytes at 2.05s ]  end  ◀── machines that write here, a person
//!                 ▼
//! reads     those that have come; one arrival a read, as from a terminal, or all of them, as from a pipe
//! ```
//!
//! Invariants: arrivals are in the order of their moments; nothing comes after the end; what has been read does not come again.
//! Not here: what is connected to what (`dialogue`), the descriptors of programs (`fozzy-host`).

use crate::OpContext;
use fozzy_trace::plan::{ArrivalPlan, ArrivalTime, ChannelPlan, ExpectedOutput};
use fozzy_trace::{Duration, Instant, Purpose};
use regex_lite::{Regex, RegexBuilder};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// Arrivals that one input may have: as many lines as a long recording of a person or a pipe has. A plan with more is refused.
pub const ARRIVALS_MAX: usize = 1 << 20;
/// Bytes of output in which something expected is looked for: what was written before them is not found any more.
pub const EXPECTED_WINDOW_BYTES: usize = 64 << 10;
/// Bytes that may have been written to an input and not been read. The machine that writes more ends with a failure.
pub const UNREAD_BYTES_MAX: u64 = 64 << 20;
/// Bytes before a write in which a match may begin that ends in it: each write searches so many again.
const REGEX_WINDOW_BYTES: usize = 4 << 10;
/// Size of a compiled regular expression, in bytes.
const REGEX_BYTES_MAX: usize = 1 << 20;
/// Moments that a jitter is divided into: more of them would not be told apart by more than a few runs.
const JITTER_STEPS: u64 = 1 << 10;

/// Standard input that comes in virtual time.
#[derive(Clone)]
pub struct Channel {
    script: Arc<Script>,
    /// The first arrival of the script whose moment is not known.
    next: usize,
    /// Where its bytes begin.
    next_byte: usize,
    /// Whether the script was begun.
    is_armed: bool,
    /// When the last of the known arrivals comes.
    last: Instant,
    queue: VecDeque<Arrival>,
    unread: u64,
    end: Option<Instant>,
    /// What the program wrote since something expected was found.
    written: Vec<u8>,
    nonblocking: bool,
    /// Whether somebody may still add something: a person, or another machine.
    is_open: bool,
}

/// What was planned, as it stays.
struct Script {
    bytes: Arc<[u8]>,
    arrivals: Vec<(ArrivalPlan, Option<Matcher>)>,
    /// Whether a read takes all that has come.
    is_pipe: bool,
    is_terminal: bool,
    stays_open: bool,
}

enum Matcher {
    Text(Vec<u8>),
    Regex(Regex),
}

/// Bytes on their way, or not yet read.
#[derive(Clone)]
struct Arrival {
    at: Instant,
    bytes: Arc<[u8]>,
    from: usize,
    to: usize,
}

/// A channel that cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// More than [`ARRIVALS_MAX`].
    #[error("standard input has more than {ARRIVALS_MAX} arrivals")]
    TooMany,
    /// Arrivals bring more than there is.
    #[error("the arrivals of standard input bring more bytes than it has")]
    Bytes,
    /// No regular expression.
    #[error("{0}")]
    Regex(String),
}

/// What a script waits for in vain: the arrival by its number, from 1, and what it expects of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmetExpectation {
    /// Which arrival.
    pub arrival: usize,
    /// Of how many.
    pub arrivals: usize,
    /// What it waits for.
    pub output: String,
}

impl fmt::Display for UnmetExpectation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnmetExpectation { arrival, arrivals, output } = self;
        write!(f, "entry {arrival} of {arrivals} waits for the output {output}")
    }
}

/// Compiles a regular expression for output.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn output_regex(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).multi_line(true).build();
    built.map_err(|error| format!("no regular expression: {}", error.to_string().replace('\n', " ")))
}

impl Matcher {
    fn new(output: &ExpectedOutput) -> Result<Matcher, ChannelError> {
        Ok(match output {
            ExpectedOutput::Text(text) => Matcher::Text(text.clone().into_bytes()),
            ExpectedOutput::Regex(text) => Matcher::Regex(output_regex(text).map_err(ChannelError::Regex)?),
        })
    }

    /// Where the first match in `written` ends, of which the last `fresh` bytes were not looked at before.
    fn end_in(&self, written: &[u8], fresh: usize) -> Option<usize> {
        match self {
            Matcher::Text(text) if text.is_empty() => Some(0),
            Matcher::Text(text) => {
                let from = written.len().saturating_sub(fresh + text.len() - 1);
                let found = written[from..].windows(text.len()).position(|part| part == text);
                found.map(|at| from + at + text.len())
            }
            Matcher::Regex(regex) => {
                let from = written.len().saturating_sub(fresh + REGEX_WINDOW_BYTES);
                // One character more tells whether a line begins there.
                let before = from.saturating_sub(1);
                let written = &written[before..];
                let text = text_of(written);
                let start = text.chars().next().filter(|_| before < from).map_or(0, char::len_utf8);
                regex.find_at(&text, start).map(|found| before + bytes_of(written, found.end()))
            }
        }
    }
}

/// Output as text: one U+FFFD for what is none, and nothing for a last character of which bytes are missing.
fn text_of(written: &[u8]) -> String {
    let mut text = String::with_capacity(written.len());
    let mut left = written.len();
    for chunk in written.utf8_chunks() {
        text.push_str(chunk.valid());
        left -= chunk.valid().len() + chunk.invalid().len();
        let missing = left == 0 && std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        if !chunk.invalid().is_empty() && !missing {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

/// How many bytes of `written` make the first `text_bytes` of its text.
fn bytes_of(written: &[u8], text_bytes: usize) -> usize {
    let (mut seen, mut bytes) = (0, 0);
    for chunk in written.utf8_chunks() {
        let valid = chunk.valid().len();
        if text_bytes <= seen + valid {
            return bytes + text_bytes - seen;
        }
        seen += valid + char::REPLACEMENT_CHARACTER.len_utf8();
        bytes += valid + chunk.invalid().len();
    }
    bytes
}

impl Channel {
    /// The channel of a plan, and the bytes before it, which are there from the start.
    pub(crate) fn planned(
        bytes: Arc<[u8]>,
        plan: &ChannelPlan,
        stays_open: bool,
    ) -> Result<(Arc<[u8]>, Channel), ChannelError> {
        if plan.arrivals.len() > ARRIVALS_MAX {
            return Err(ChannelError::TooMany);
        }
        let brought = plan.arrivals.iter().try_fold(0_u64, |sum, arrival| sum.checked_add(arrival.bytes));
        let brought = brought.and_then(|brought| usize::try_from(brought).ok()).ok_or(ChannelError::Bytes)?;
        let next_byte = bytes.len().checked_sub(brought).ok_or(ChannelError::Bytes)?;
        let arrivals = plan.arrivals.iter().map(|arrival| {
            let matcher = match &arrival.when {
                ArrivalTime::After { output, .. } => Some(Matcher::new(output)?),
                ArrivalTime::At(_) | ArrivalTime::Delay(_) => None,
            };
            Ok((arrival.clone(), matcher))
        });
        let script = Script {
            arrivals: arrivals.collect::<Result<_, ChannelError>>()?,
            is_pipe: plan.from.is_some(),
            is_terminal: plan.terminal,
            stays_open,
            bytes: Arc::clone(&bytes),
        };
        let channel = Channel {
            script: Arc::new(script),
            next: 0,
            next_byte,
            is_armed: false,
            last: Instant::START,
            queue: VecDeque::new(),
            unread: 0,
            end: None,
            written: Vec::new(),
            nonblocking: plan.nonblocking,
            is_open: plan.from.is_some(),
        };
        Ok((bytes[..next_byte].into(), channel))
    }

    /// One that has nothing of its own.
    pub(crate) fn empty() -> Channel {
        let planned = Channel::planned(Arc::from([]), &ChannelPlan::default(), true);
        planned.expect("nothing was planned").1
    }

    /// Somebody else may write to it from now on.
    pub(crate) fn open(&mut self) {
        self.is_open = true;
    }

    /// Whether the script has not been begun: that is done at the first look, or before the first output.
    #[must_use]
    pub fn needs_arming(&self) -> bool {
        !self.is_armed
    }

    /// Begins the script: fixes the moments of all arrivals before the first one that waits for output.
    pub fn arm(&mut self, context: &mut OpContext<'_>) {
        if !self.is_armed {
            self.is_armed = true;
            self.advance(context, Instant::START);
        }
    }

    /// Fixes moments up to the next arrival that waits for output. `from` is what the first of them is later than.
    fn advance(&mut self, context: &mut OpContext<'_>, from: Instant) {
        let script = Arc::clone(&self.script);
        let mut from = from;
        while let Some((arrival, _)) = script.arrivals.get(self.next) {
            let at = match arrival.when {
                ArrivalTime::At(at) => at,
                ArrivalTime::Delay(delay) => from.after(delay),
                ArrivalTime::After { .. } => return,
            };
            from = self.come(arrival, at, context);
        }
        if !script.stays_open && !self.is_open {
            self.end.get_or_insert(self.last);
        }
    }

    /// Puts the next arrival of the script into the queue.
    fn come(&mut self, arrival: &ArrivalPlan, at: Instant, context: &mut OpContext<'_>) -> Instant {
        let at = at.after(jitter(arrival.jitter, "standard input", context)).max(self.last);
        let to = self.next_byte + arrival.bytes as usize;
        let bytes = Arc::clone(&self.script.bytes);
        self.put(Arrival { at, bytes, from: self.next_byte, to });
        if arrival.end {
            self.end.get_or_insert(at);
        }
        self.next += 1;
        self.next_byte = to;
        at
    }

    /// Nothing comes behind the end.
    fn put(&mut self, arrival: Arrival) {
        self.last = arrival.at;
        if self.end.is_none() && arrival.from < arrival.to {
            self.unread += (arrival.to - arrival.from) as u64;
            self.queue.push_back(arrival);
        }
    }

    /// Adds bytes that somebody else sends, not before those that are on their way; says when they come.
    pub fn send(&mut self, bytes: Arc<[u8]>, at: Instant) -> Instant {
        let at = at.max(self.last);
        let to = bytes.len();
        self.put(Arrival { at, bytes, from: 0, to });
        at
    }

    /// Ends it at a moment, not before what is on its way; says when.
    pub fn close(&mut self, at: Instant) -> Instant {
        let at = at.max(self.last);
        self.is_open = false;
        *self.end.get_or_insert(at)
    }

    /// Bytes that have been sent, and not been read.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.unread
    }

    /// Whether the script waits for output.
    #[must_use]
    pub fn expects(&self) -> bool {
        self.next < self.script.arrivals.len() && self.end.is_none()
    }

    /// The program wrote something. Says how many bytes were searched.
    pub fn told(&mut self, bytes: &[u8], context: &mut OpContext<'_>) -> u64 {
        self.arm(context);
        let script = Arc::clone(&self.script);
        self.written.extend_from_slice(bytes);
        let too_many = self.written.len().saturating_sub(EXPECTED_WINDOW_BYTES.max(bytes.len()));
        drop(self.written.drain(..too_many));
        let (mut fresh, mut searched) = (bytes.len(), 0);
        while let Some((arrival, Some(matcher))) = script.arrivals.get(self.next).filter(|_| self.end.is_none()) {
            searched += self.written.len() as u64;
            let Some(end) = matcher.end_in(&self.written, fresh) else { break };
            drop(self.written.drain(..end));
            // What stands behind a match was not looked at for the next one.
            fresh = self.written.len();
            let ArrivalTime::After { delay, .. } = arrival.when else { unreachable!("only these have a matcher") };
            let at = self.come(arrival, context.now.after(delay), context);
            self.advance(context, at);
        }
        if !self.expects() {
            self.written = Vec::new();
        }
        searched
    }

    /// What the script waits for, if it waits for output.
    #[must_use]
    pub fn unmet(&self) -> Option<UnmetExpectation> {
        let (arrival, _) = self.script.arrivals.get(self.next).filter(|_| self.end.is_none())?;
        let ArrivalTime::After { output, .. } = &arrival.when else { return None };
        let arrivals = self.script.arrivals.len();
        Some(UnmetExpectation { arrival: self.next + 1, arrivals, output: output.to_string() })
    }

    pub(crate) fn is_ready(&self, now: Instant) -> bool {
        self.deadline().is_some_and(|at| at <= now)
    }

    pub(crate) fn is_closed(&self, now: Instant) -> bool {
        self.queue.is_empty() && self.end.is_some_and(|end| end <= now)
    }

    /// When the next bytes come, or the end.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.queue.front().map(|arrival| arrival.at).or(self.end)
    }

    pub(crate) fn read(&mut self, len: u64, now: Instant) -> Vec<u8> {
        let mut read = Vec::new();
        let mut left = usize::try_from(len).unwrap_or(usize::MAX);
        while let Some(arrival) = self.queue.front_mut().filter(|arrival| arrival.at <= now && left > 0) {
            let taken = left.min(arrival.to - arrival.from);
            read.extend_from_slice(&arrival.bytes[arrival.from..arrival.from + taken]);
            arrival.from += taken;
            left -= taken;
            if arrival.from == arrival.to {
                self.queue.pop_front();
            }
            if !self.script.is_pipe {
                break;
            }
        }
        self.unread -= read.len() as u64;
        read
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.script.is_terminal
    }

    /// Whether a read of preview 1 that finds nothing answers `again`.
    #[must_use]
    pub fn is_nonblocking(&self) -> bool {
        self.nonblocking
    }

    /// The program wants reads that find nothing to wait, or not to.
    pub fn set_nonblocking(&mut self, nonblocking: bool) {
        self.nonblocking = nonblocking;
    }
}

/// Up to so much, in steps: nothing for nothing, without a question.
pub(crate) fn jitter(most: Duration, site: &str, context: &mut OpContext<'_>) -> Duration {
    if most.0 == 0 {
        return Duration(0);
    }
    let steps = JITTER_STEPS.min(most.0);
    let step = context.below(Purpose::Arrival, site, steps + 1);
    Duration((u128::from(most.0) * u128::from(step) / u128::from(steps)) as u64)
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel")
            .field("next", &self.next)
            .field("unread", &self.unread)
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
