//! `http-status`: a proxy in between answers with this status and an empty body; the server sees nothing.

use super::{FaultKind, FaultTarget};

/// The kind; asked when a request is sent, with its URL.
pub const HTTP_STATUS: FaultKind = FaultKind {
    name: "http-status",
    summary: "A proxy in between answers with this status and an empty body; the server sees nothing.",
    target: FaultTarget::Url,
    unit: "status",
    strength: 503,
    rate_ppm: 100_000,
};
