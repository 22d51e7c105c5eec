//! `http-dns`: the host's name is unknown.

use super::{FaultKind, FaultTarget};

/// The kind; asked when a request is sent, with its URL.
pub const HTTP_DNS: FaultKind = FaultKind {
    name: "http-dns",
    summary: "The host's name is unknown.",
    target: FaultTarget::Url,
    unit: "",
    strength: 0,
    rate_ppm: 100_000,
};
