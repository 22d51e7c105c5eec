//! `http-refused`: no server listens: the connection is refused.

use super::{FaultKind, FaultTarget};

/// The kind; asked when a request is sent, with its URL.
pub const HTTP_REFUSED: FaultKind = FaultKind {
    name: "http-refused",
    summary: "No server listens: the connection is refused.",
    target: FaultTarget::Url,
    unit: "",
    strength: 0,
    rate_ppm: 100_000,
};
