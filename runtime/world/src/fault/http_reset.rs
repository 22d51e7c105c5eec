//! `http-reset`: the connection breaks after a number of bytes of the response's body.

use super::{FaultKind, FaultTarget};

/// The kind; asked when a request is sent, with its URL.
pub const HTTP_RESET: FaultKind = FaultKind {
    name: "http-reset",
    summary: "The connection breaks after a number of bytes of the response's body.",
    target: FaultTarget::Url,
    unit: "bytes",
    strength: 0,
    rate_ppm: 100_000,
};
