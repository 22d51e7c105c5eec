//! `http-latency`: the response arrives later.

use super::{FaultKind, FaultTarget};

/// The kind; asked when a request is sent, with its URL.
pub const HTTP_LATENCY: FaultKind = FaultKind {
    name: "http-latency",
    summary: "The response arrives later.",
    target: FaultTarget::Url,
    unit: "ns",
    strength: 100_000_000,
    rate_ppm: 100_000,
};
