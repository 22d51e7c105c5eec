//! Packet loss: a packet between two machines is lost.
//!
//! ```text
//! UDP   gone
//! TCP   again after 1 s, 2 s, 4 s … (RFC 6298); what was sent behind it waits
//! ```
//!
//! A connection request that is lost seven times is a `timeout`, and so are bytes after some twenty minutes. Not inside a
//! machine.

use super::{FaultKind, FaultTarget};
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;

/// The row of this kind.
pub(crate) const PACKET_LOSS: FaultKind = FaultKind {
    name: "packet-loss",
    summary: "a packet is lost; TCP sends it again a second later, and then ever later",
    target: FaultTarget::Link,
    unit: "",
    strength: 0,
    rate_ppm: RATE_ALWAYS_PPM / 10,
};
