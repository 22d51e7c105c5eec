//! Standard input as a channel: when its bytes come, and from whom.
//!
//! ```text
//! bytes = "select 1;\n.quit\n"      arrivals = [ 10 bytes after the output "sqlite> ",  6 bytes after the output "sqlite> " ]
//!          ─────┬────  ──┬──
//!               └────────┴─ each arrival brings its part of the bytes, in their order
//! ```
//!
//! Invariant: what no arrival brings are the first bytes, and they are there from the start; arrivals come in their order, an
//! earlier moment of a later one counts for nothing.
//! Not here: what a program sees of it (`fozzy-world`), the notation of plans (`fozzy-plan`).

use super::{Digest, Duration};
use crate::{Instant, NodeId};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Where it is asked how much later an arrival comes.
pub const ARRIVAL_SITE: &str = "standard input";

/// Standard input of a guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StdinPlan {
    /// The bytes, by digest.
    pub bytes: Digest,
    /// Whether it stays open after its last byte, like a terminal without input.
    pub stays_open: bool,
    /// How the bytes come; `None` is a tape: each read gets the next bytes at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<Box<ChannelPlan>>,
}

/// How standard input comes, in virtual time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ChannelPlan {
    /// What comes, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrivals: Vec<ArrivalPlan>,
    /// The machine whose standard output comes here, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<StdinPipe>,
    /// Whether lines come here by way of the main machine: its program reads what each machine with such an input prints, and says which
    /// line goes to whom. Its own input is one of these.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub routed: bool,
    /// Whether the program finds a terminal on its standard streams.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub terminal: bool,
    /// Whether a read of preview 1 that finds nothing answers `again` from the start. Otherwise it waits, until the program asks for the
    /// other by `fd_fdstat_set_flags`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nonblocking: bool,
    /// Whether arrivals come later than planned, by [`ArrivalPlan::vary`]: a plan of an exploration. How much is a decision for each.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// Whether a decision can also name each nanosecond of what an arrival varies by.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub to_the_nanosecond: bool,
}

/// Bytes that come together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ArrivalPlan {
    /// How many of them.
    pub bytes: u64,
    /// When.
    pub when: ArrivalTime,
    /// The most that it comes later than planned; how much is a decision.
    #[serde(default, skip_serializing_if = "is_none")]
    pub jitter: Duration,
    /// Whether the input ends with it. If no arrival ends it, the last one does, unless it stays open.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub end: bool,
    /// The most that it comes later where the channel [varies](ChannelPlan::varies); `None` says nothing about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vary: Option<Duration>,
}

impl ArrivalPlan {
    /// How many questions it asks: how much later it comes, by its jitter and by an exploration.
    #[must_use]
    pub fn questions(&self, varies: bool) -> u64 {
        u64::from(self.jitter.0 > 0) + u64::from(varies && self.vary.is_some_and(|most| most.0 > 0))
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_none(jitter: &Duration) -> bool {
    jitter.0 == 0
}

/// When bytes come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub enum ArrivalTime {
    /// At this moment.
    At(Instant),
    /// So long after what comes before, or after the start.
    Delay(Duration),
    /// So long after the program wrote something that it had not written before the last arrival of this kind.
    After {
        /// What it wrote, on either of its outputs.
        output: ExpectedOutput,
        /// How long after that.
        delay: Duration,
    },
}

/// What is expected of a program's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub enum ExpectedOutput {
    /// This text.
    Text(String),
    /// What this regular expression matches.
    Regex(String),
}

impl fmt::Display for ExpectedOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExpectedOutput::Text(text) => write!(f, "{text:?}"),
            ExpectedOutput::Regex(regex) => write!(f, "a match of `{}`", regex.replace(char::is_control, " ")),
        }
    }
}

/// The output of another machine, on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct StdinPipe {
    /// Whose standard output.
    pub node: NodeId,
    /// How long it is on its way.
    pub latency: Duration,
    /// The most that a write takes beyond `latency`; how much is a decision for each write.
    pub jitter: Duration,
}

impl StdinPlan {
    /// The same with other bytes, which are there from the start.
    #[must_use]
    pub fn given(&self, bytes: Digest) -> StdinPlan {
        let channel = self.channel.as_deref().map(|channel| {
            let ChannelPlan { terminal, nonblocking, .. } = *channel;
            Box::new(ChannelPlan { terminal, nonblocking, ..ChannelPlan::default() })
        });
        StdinPlan { bytes, stays_open: self.stays_open, channel }
    }

    /// Lets arrivals at planned moments come up to `most` later by a decision, unless one has a bound of its own or a jitter.
    pub fn vary(&mut self, most: Duration) {
        let Some(channel) = self.channel.as_deref_mut() else { return };
        for arrival in &mut channel.arrivals {
            if arrival.vary.is_none() && arrival.jitter.0 == 0 {
                arrival.vary = Some(most);
            }
        }
        channel.varies = channel.arrivals.iter().any(|arrival| arrival.vary.is_some_and(|most| most.0 > 0));
        channel.to_the_nanosecond = channel.varies;
    }

    /// A tape of these bytes, with an end behind it.
    #[must_use]
    pub fn tape(bytes: Digest) -> StdinPlan {
        StdinPlan { bytes, stays_open: false, channel: None }
    }
}
