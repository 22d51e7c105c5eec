//! Responses, those that a guest makes and those that it gets.
//!
//! Invariant: a status is from 100 to 999.

use super::body::BodyId;
use super::fields::HeaderFields;

/// `wasi:http/types.outgoing-response`: a response that is put together.
#[derive(Clone, Debug)]
pub struct OutgoingResponse {
    status: u16,
    /// They cannot be changed.
    pub headers: HeaderFields,
    /// Once it was taken.
    pub body: Option<BodyId>,
}

/// `wasi:http/types.incoming-response`: a response that was received.
#[derive(Clone, Debug)]
pub struct IncomingResponse {
    /// 100 to 999.
    pub status: u16,
    /// They cannot be changed.
    pub headers: HeaderFields,
    /// Its body, until it is consumed.
    pub body: Option<BodyId>,
}

impl OutgoingResponse {
    /// A response with these headers and the status 200.
    #[must_use]
    pub fn new(headers: HeaderFields) -> OutgoingResponse {
        OutgoingResponse { status: 200, headers: headers.frozen(), body: None }
    }

    /// Its status.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Changes the status, if it is one: whether it was changed.
    pub fn set_status(&mut self, status: u16) -> bool {
        let is_status = (100..=999).contains(&status);
        if is_status {
            self.status = status;
        }
        is_status
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_what_the_http_crate_takes() {
        let mut response = OutgoingResponse::new(HeaderFields::default());
        assert_eq!(response.status(), 200);
        for status in 0..=u16::MAX {
            assert_eq!(response.set_status(status), ::http::StatusCode::from_u16(status).is_ok(), "{status}");
        }
        assert_eq!(response.status(), 999);
    }
}
