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

mod output;
mod variation;

pub use output::{EXPECTED_WINDOW_BYTES, output_regex};
pub use variation::{VARIATION_ANSWERS, VariedArrival};

use crate::OpContext;
use fozzy_trace::facts::VariedInput;
use fozzy_trace::plan::{ARRIVAL_SITE, ArrivalPlan, ArrivalTime, ChannelPlan};
use fozzy_trace::{Duration, Instant, Purpose};
use output::{Matcher, WrittenOutput, stretches};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use variation::Variation;

/// Arrivals that one input may have: as many lines as a long recording of a person or a pipe has. A plan with more is refused.
pub const ARRIVALS_MAX: usize = 1 << 20;
/// Bytes that may have been written to an input and not been read, each write as [`WRITE_BYTES`] more. The machine that writes more ends with a
/// failure.
pub const UNREAD_BYTES_MAX: u64 = 64 << 20;
/// Bytes that a write takes until it is read, beside its own.
pub const WRITE_BYTES: u64 = 64;
/// Moments that a jitter is divided into: more of them would not be told apart by more than a few runs.
const JITTER_STEPS: u64 = 1 << 10;
/// Arrivals of varied moments that are remembered.
const VARIED_MAX: usize = 256;

/// Bytes of an arrival that a report shows.
const SHOWN_BYTES: usize = 40;

/// Looks in vain, one after the other while time stands still, after which a little of it passes: who asks again and again, and never
/// waits, would not see what comes a moment later. No program is known that does so and looks at a clock in between.
const LOOKS_IN_VAIN: u32 = 1_000;

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
    /// What the program wrote, in which something expected is looked for.
    written: WrittenOutput,
    nonblocking: bool,
    /// Whether a person or another machine may still add something.
    is_open: bool,
    /// When the program looked in vain last, and how often at this moment.
    looked: (Instant, u32),
    /// Arrivals whose moments were varied, in the order of their questions; the first ones.
    varied: Vec<VariedArrival>,
}

/// What was planned, as it stays.
struct Script {
    bytes: Arc<[u8]>,
    arrivals: Vec<(ArrivalPlan, Option<Matcher>)>,
    /// Whether a read takes all that has come.
    is_pipe: bool,
    is_terminal: bool,
    stays_open: bool,
    nonblocking: bool,
    varies: bool,
    to_the_nanosecond: bool,
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
            is_pipe: plan.from.is_some() || plan.routed,
            is_terminal: plan.terminal,
            stays_open,
            nonblocking: plan.nonblocking,
            varies: plan.varies,
            to_the_nanosecond: plan.to_the_nanosecond,
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
            written: WrittenOutput::default(),
            nonblocking: plan.nonblocking,
            is_open: plan.from.is_some() || plan.routed,
            looked: (Instant::START, 0),
            varied: Vec::new(),
        };
        Ok((bytes[..next_byte].into(), channel))
    }

    /// One that has nothing of its own.
    pub(crate) fn empty() -> Channel {
        let planned = Channel::planned(Arc::from([]), &ChannelPlan::default(), true);
        planned.expect("nothing was planned").1
    }

    /// Other senders may write to it from now on.
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
        let vary = arrival.vary.filter(|most| self.script.varies && most.0 > 0);
        let variation = vary.map(|most| Variation::new(most, self.script.to_the_nanosecond));
        let later = variation.map(|variation| variation.ask(context)).unwrap_or_default();
        let planned = at.after(jitter(arrival.jitter, ARRIVAL_SITE, context));
        let at = planned.after(later).max(self.last);
        let to = self.next_byte + arrival.bytes as usize;
        let bytes = (self.next_byte, to);
        self.varied.extend(variation.map(|variation| VariedArrival { planned, variation, at, bytes }));
        self.varied.truncate(VARIED_MAX);
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

    /// Adds bytes from another sender, not before those that are on their way; returns when they come.
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

    /// Bytes that have been sent and not been read, and what each write takes beside them.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.unread + self.queue.len() as u64 * WRITE_BYTES
    }

    /// Whether the script waits for output.
    #[must_use]
    pub fn expects(&self) -> bool {
        self.next < self.script.arrivals.len() && self.end.is_none()
    }

    /// The program wrote something. Says how many bytes were searched.
    pub fn told(&mut self, bytes: &[u8], context: &mut OpContext<'_>) -> u64 {
        self.arm(context);
        let mut searched = 0;
        for stretch in stretches(bytes) {
            if self.expects() {
                self.written.add(stretch);
                self.find_expected(&mut searched, context);
            }
        }
        if !self.expects() {
            self.written = WrittenOutput::default();
        }
        searched
    }

    /// Lets come what the output now calls for.
    fn find_expected(&mut self, searched: &mut u64, context: &mut OpContext<'_>) {
        let script = Arc::clone(&self.script);
        let mut text = None;
        while let Some((arrival, Some(matcher))) = script.arrivals.get(self.next).filter(|_| self.end.is_none()) {
            if !self.written.find(matcher, &mut text, searched) {
                return;
            }
            let ArrivalTime::After { delay, .. } = arrival.when else { unreachable!("only these have a matcher") };
            let at = self.come(arrival, context.now.after(delay), context);
            self.advance(context, at);
        }
    }

    /// Arrivals whose moments were varied, in the order of their questions; the first ones.
    #[must_use]
    pub fn varied(&self) -> &[VariedArrival] {
        &self.varied
    }

    /// The same for reports, of the machine of this name.
    pub fn varied_input<'a>(&'a self, node: &'a str) -> impl Iterator<Item = VariedInput> + 'a {
        self.varied.iter().map(move |arrival| {
            let (from, to) = arrival.bytes;
            let bytes = self.script.bytes[from..to.min(from + SHOWN_BYTES)].to_vec();
            VariedInput { node: node.to_owned(), bytes, planned: arrival.planned, at: arrival.at }
        })
    }

    /// What the script waits for, if it waits for output.
    #[must_use]
    pub fn unmet(&self) -> Option<UnmetExpectation> {
        let (arrival, _) = self.script.arrivals.get(self.next).filter(|_| self.end.is_none())?;
        let ArrivalTime::After { output, .. } = &arrival.when else { return None };
        let arrivals = self.script.arrivals.len();
        Some(UnmetExpectation { arrival: self.next + 1, arrivals, output: output.to_string() })
    }

    /// What has been sent and not been read is lost, with the program that would have read it.
    pub(crate) fn lose_unread(&mut self) {
        self.queue.clear();
        self.unread = 0;
    }

    pub(crate) fn is_ready(&self, now: Instant) -> bool {
        self.deadline().is_some_and(|at| at <= now)
    }

    /// The program looks. Says whether time is to pass because it has looked so often at this moment, and nothing is there.
    pub(crate) fn is_looked_at_in_vain(&mut self, now: Instant) -> bool {
        if self.is_ready(now) {
            return false;
        }
        let (at, times) = self.looked;
        self.looked = (now, if at == now { times + 1 } else { 1 });
        self.looked.1 >= LOOKS_IN_VAIN
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

    /// The program is another one: what the one before wanted of its reads, it does not.
    pub(crate) fn begin_again(&mut self) {
        self.nonblocking = self.script.nonblocking;
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

/// A time up to `most`, in steps; zero for zero, without a question.
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
