//! `http-timeout`: nothing answers, until the guest's patience ends.

use super::{FaultKind, FaultTarget};

/// The kind; asked when a request is sent, with its URL.
pub const HTTP_TIMEOUT: FaultKind = FaultKind {
    name: "http-timeout",
    summary: "Nothing answers, until the guest's patience ends.",
    target: FaultTarget::Url,
    unit: "",
    strength: 0,
    rate_ppm: 100_000,
};
