//! HTTP as the guest sees it: messages, and who answers them.
//!
//! ```text
//! outgoing-request ─▶ handle ─▶ exchange ─┬─ rules of the plan ─▶ a response, a failure, or a component that handles it
//!        │ outgoing-body ─▶ body          ├─ the real computer  ─▶ an observation
//!        ▼                                └─ no rule            ─▶ destination-not-found, and a finding
//! future-incoming-response ◀── reply, when it has arrived in virtual time
//! ```
//!
//! Invariants: all of it is values, and bounded; nothing happens but in a call of a guest; a reply's moment is a function
//! of the plan and of decisions.
//! Not here: WIT (`fozzy-host`), the real client (`fozzy-live`), versions of the protocol and TLS: requests and responses
//! are whole messages.

pub mod body;
pub mod error;
pub mod exchange;
pub mod fields;
pub mod handle;
pub mod message;
pub mod received_request;
pub mod redact;
pub mod request;
pub mod response;
pub mod rules;
pub mod send;

pub use body::{BodyId, BodySide, HttpBodies};
pub use error::HttpErrorCode;
pub use exchange::{ExchangeId, Exchanges};
pub use fields::{FieldsError, HeaderFields};
pub use handle::{HandleError, HttpHandle};
pub use message::{Method, Scheme};
pub use received_request::ReceivedRequest;
pub use send::LiveRequest;

/// All of HTTP that a run has going.
#[derive(Clone, Debug, Default)]
pub struct Http {
    /// Bodies that a guest writes or reads.
    pub bodies: HttpBodies,
    /// Requests with their replies.
    pub exchanges: Exchanges,
    /// Who answers requests.
    pub rules: rules::HttpRules,
    /// Of the fields of all handles.
    field_bytes: usize,
}

impl Http {
    /// A handle's fields had `before` bytes and have `after`.
    fn charge(&mut self, before: usize, after: usize) -> Result<(), HandleError> {
        self.field_bytes = self.field_bytes - before + after;
        let too_large = after > before && self.field_bytes > handle::FIELDS_HELD_BYTES_MAX;
        if too_large { Err(HandleError::FieldsTooLarge) } else { Ok(()) }
    }
}
