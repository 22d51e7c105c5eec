//! What the handles of `wasi:http` stand for, and what goes when one is dropped.
//!
//! Invariants: a body whose stream is open is neither finished nor dropped; the fields of all handles together are at most
//! [`FIELDS_HELD_BYTES_MAX`].

use super::body::{BodyId, BodySide};
use super::exchange::ExchangeId;
use super::fields::{FieldsError, HeaderFields};
use super::request::{IncomingRequest, OutgoingRequest, RequestOptions};
use super::response::{IncomingResponse, OutgoingResponse};
use crate::{Handle, TableError, World};
use fozzy_trace::NodeId;
use std::fmt;

/// Bytes of the fields of all handles of a run, counted as [`FIELDS_BYTES_MAX`](super::fields::FIELDS_BYTES_MAX) counts
/// them; the next change of fields is a trap. Without it, as many full fields as there may be handles would fill the real
/// memory.
pub const FIELDS_HELD_BYTES_MAX: usize = 64 << 20;

/// What one handle of `wasi:http` stands for; streams of bodies stand among the other streams.
#[derive(Clone, Debug)]
pub enum HttpHandle {
    /// `fields`.
    Fields(HeaderFields),
    /// `outgoing-request`.
    OutgoingRequest(OutgoingRequest),
    /// `request-options`.
    RequestOptions(RequestOptions),
    /// `incoming-request`.
    IncomingRequest(IncomingRequest),
    /// `outgoing-response`.
    OutgoingResponse(OutgoingResponse),
    /// `incoming-response`.
    IncomingResponse(IncomingResponse),
    /// `outgoing-body`.
    OutgoingBody(BodyId),
    /// `incoming-body`.
    IncomingBody(BodyId),
    /// `future-trailers`.
    FutureTrailers {
        /// Of which body.
        body: BodyId,
        /// Whether they were taken.
        taken: bool,
    },
    /// `future-incoming-response`.
    FutureIncomingResponse(ExchangeId),
    /// `response-outparam`.
    ResponseOutparam(ExchangeId),
}

/// Why a handle cannot be used as it was: each is a trap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleError {
    /// It is not open, of another kind, or there are too many.
    Table(TableError),
    /// A stream of the body is open.
    StreamIsOpen,
    /// [`FIELDS_HELD_BYTES_MAX`], or the bound of one set of fields.
    FieldsTooLarge,
}

impl From<TableError> for HandleError {
    fn from(error: TableError) -> HandleError {
        HandleError::Table(error)
    }
}

impl fmt::Display for HandleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HandleError::Table(error) => error.fmt(f),
            HandleError::StreamIsOpen => f.write_str("the stream of a body is open, and must be dropped first"),
            HandleError::FieldsTooLarge => {
                write!(f, "{}, or all of a run more than {FIELDS_HELD_BYTES_MAX} bytes", FieldsError::TooLarge)
            }
        }
    }
}

impl std::error::Error for HandleError {}

impl HttpHandle {
    fn field_bytes(&self) -> usize {
        match self {
            HttpHandle::Fields(fields) => fields.bytes(),
            HttpHandle::OutgoingRequest(request) => request.headers.bytes(),
            HttpHandle::IncomingRequest(incoming) => incoming.request.headers.bytes(),
            HttpHandle::OutgoingResponse(response) => response.headers.bytes(),
            HttpHandle::IncomingResponse(response) => response.headers.bytes(),
            _ => 0,
        }
    }
}

impl World {
    /// Opens a handle of the guest of `node`.
    ///
    /// # Errors
    /// When there are too many, or too many fields; what it stands for is let go then.
    pub fn http_open(&mut self, node: NodeId, handle: HttpHandle) -> Result<u32, HandleError> {
        let bytes = handle.field_bytes();
        if let Err(error) = self.http.charge(0, bytes) {
            self.http.charge(bytes, 0)?;
            self.http_let_go(handle);
            return Err(error);
        }
        Ok(self.node_mut(node).table.insert(Handle::Http(Box::new(handle)))?)
    }

    /// What a handle of the guest of `node` stands for.
    ///
    /// # Errors
    /// When it is not open or none of HTTP.
    pub fn http_get(&mut self, node: NodeId, rep: u32) -> Result<&mut HttpHandle, HandleError> {
        match self.node_mut(node).table.get_mut(rep)? {
            Handle::Http(handle) => Ok(handle),
            _ => Err(HandleError::Table(TableError::WrongHandle)),
        }
    }

    /// Closes a handle and returns what it stood for; the caller releases that.
    ///
    /// # Errors
    /// When it is not open, none of HTTP, or a body with an open stream.
    pub fn http_take(&mut self, node: NodeId, rep: u32) -> Result<HttpHandle, HandleError> {
        let streams = match self.http_get(node, rep)? {
            HttpHandle::OutgoingBody(body) => Some((*body, BodySide::Writer)),
            HttpHandle::IncomingBody(body) => Some((*body, BodySide::Reader)),
            _ => None,
        };
        if streams.is_some_and(|(body, side)| self.http.bodies.has_open_stream(body, side)) {
            return Err(HandleError::StreamIsOpen);
        }
        let Handle::Http(handle) = self.node_mut(node).table.remove(rep)? else {
            unreachable!("it was just looked at")
        };
        self.http.charge(handle.field_bytes(), 0)?;
        Ok(*handle)
    }

    /// Closes a handle and releases what it stood for.
    ///
    /// # Errors
    /// As for [`http_take`](World::http_take).
    pub fn http_drop(&mut self, node: NodeId, rep: u32) -> Result<(), HandleError> {
        let handle = self.http_take(node, rep)?;
        self.http_let_go(handle);
        Ok(())
    }

    /// Changes the fields of a handle.
    ///
    /// # Errors
    /// When it is not open, no fields, or there are too many fields; the inner error is the guest's answer.
    pub fn http_change(
        &mut self,
        node: NodeId,
        rep: u32,
        change: impl FnOnce(&mut HeaderFields) -> Result<(), FieldsError>,
    ) -> Result<Result<(), FieldsError>, HandleError> {
        let HttpHandle::Fields(fields) = self.http_get(node, rep)? else {
            return Err(HandleError::Table(TableError::WrongHandle));
        };
        let before = fields.bytes();
        let changed = change(fields);
        let after = fields.bytes();
        self.http.charge(before, after)?;
        if changed == Err(FieldsError::TooLarge) { Err(HandleError::FieldsTooLarge) } else { Ok(changed) }
    }

    /// Releases what a handle stood for.
    fn http_let_go(&mut self, handle: HttpHandle) {
        let http = &mut self.http;
        let unread = match handle {
            HttpHandle::OutgoingRequest(request) => request.body,
            HttpHandle::IncomingRequest(request) => request.body,
            HttpHandle::OutgoingResponse(response) => response.body,
            HttpHandle::IncomingResponse(response) => response.body,
            HttpHandle::IncomingBody(body) | HttpHandle::FutureTrailers { body, .. } => Some(body),
            HttpHandle::OutgoingBody(body) => return self.http_abort(body),
            HttpHandle::FutureIncomingResponse(exchange) => {
                return http.exchanges.drop_future(exchange, &mut http.bodies);
            }
            HttpHandle::ResponseOutparam(exchange) => return self.http_unanswered(exchange),
            HttpHandle::Fields(_) | HttpHandle::RequestOptions(_) => None,
        };
        if let Some(body) = unread {
            http.bodies.let_go(body, BodySide::Reader);
        }
    }
}

#[cfg(test)]
mod tests;
