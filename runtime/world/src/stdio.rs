//! Standard input: a tape of bytes, and behind it a channel that brings more in virtual time; and the names of the two outputs.
//!
//! Invariant: reading consumes; an input that does not stay open ends after its last byte.
//! Not here: when bytes come (`channel`), what was written (`fozzy_trace::StreamOutput`).

use crate::channel::{Channel, ChannelError};
use fozzy_trace::Instant;
use fozzy_trace::plan::StdinPlan;
use std::sync::Arc;

/// Standard input.
#[derive(Clone, Debug)]
pub struct Stdin {
    /// What is there from the start.
    tape: Arc<[u8]>,
    /// Where the next read of it begins.
    position: usize,
    /// Whether it stays open behind the tape, without a channel.
    stays_open: bool,
    channel: Option<Box<Channel>>,
}

/// Which of the two outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutputKind {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl Stdin {
    /// A tape of `bytes`; with `stays_open` a reader waits after the last one, for ever.
    #[must_use]
    pub fn new(bytes: Arc<[u8]>, stays_open: bool) -> Stdin {
        Stdin { tape: bytes, position: 0, stays_open, channel: None }
    }

    /// The input of a plan with these `bytes`.
    ///
    /// # Errors
    /// When arrivals bring more bytes than there are, are too many, or expect something that is no regular expression.
    pub fn planned(bytes: Arc<[u8]>, plan: &StdinPlan) -> Result<Stdin, ChannelError> {
        let Some(channel) = &plan.channel else { return Ok(Stdin::new(bytes, plan.stays_open)) };
        let (tape, channel) = Channel::planned(bytes, channel, plan.stays_open)?;
        Ok(Stdin { tape, position: 0, stays_open: plan.stays_open, channel: Some(Box::new(channel)) })
    }

    /// The channel behind the tape, if there is one.
    #[must_use]
    pub fn channel(&self) -> Option<&Channel> {
        self.channel.as_deref()
    }

    /// The channel, to be changed.
    pub fn channel_mut(&mut self) -> Option<&mut Channel> {
        self.channel.as_deref_mut()
    }

    /// For a program that starts: at the first byte of the tape, with reads that wait as planned. What a channel has brought is read once, as
    /// from a real pipe.
    pub fn rewind(&mut self) {
        self.position = 0;
        self.channel.iter_mut().for_each(|channel| channel.begin_again());
    }

    /// Whether a read would return at once: with bytes, or with the end.
    #[must_use]
    pub fn is_ready(&self, now: Instant) -> bool {
        self.position < self.tape.len()
            || self.channel.as_ref().map_or(!self.stays_open, |channel| channel.is_ready(now))
    }

    /// Whether all bytes were read and no more can come.
    #[must_use]
    pub fn is_closed(&self, now: Instant) -> bool {
        self.position == self.tape.len()
            && self.channel.as_ref().map_or(!self.stays_open, |channel| channel.is_closed(now))
    }

    /// When a read that waits now would return, if that is known.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.channel.as_ref().and_then(|channel| channel.deadline())
    }

    /// The next bytes, at most `len`; none when there are none now.
    pub fn read(&mut self, len: u64, now: Instant) -> Vec<u8> {
        let rest = &self.tape[self.position..];
        if let (true, Some(channel)) = (rest.is_empty(), &mut self.channel) {
            return channel.read(len, now);
        }
        let taken = usize::try_from(len).unwrap_or(usize::MAX).min(rest.len());
        self.position += taken;
        rest[..taken].to_vec()
    }

    /// Lets other senders write to it from now on.
    pub(crate) fn open(&mut self) {
        let channel = self.channel.get_or_insert_with(|| Box::new(Channel::empty()));
        channel.open();
    }

    /// Whether the program finds a terminal.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.channel.as_ref().is_some_and(|channel| channel.is_terminal())
    }
}
