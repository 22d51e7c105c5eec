//! A request from outside, that no guest has sent: it is all of a run.
//!
//! ```text
//! outside ─ http_receive ─▶ incoming-request, response-outparam ─▶ handler ─▶ http_answered: a status, an error, or nothing
//! ```
//!
//! Invariant: a handler cannot tell it from a request that a guest has sent.

use super::body::MessageKind;
use super::error::HttpErrorCode;
use super::exchange::{ExchangeDeadlines, ExchangeId};
use super::handle::{HandleError, HttpHandle};
use super::request::{IncomingRequest, RequestOptions, SentRequest};
use crate::{TableError, World};
use fozzy_trace::NodeId;
use std::sync::Arc;

/// A request that the guest of a machine was given, by its handles.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedRequest {
    /// The exchange that is to be answered.
    pub exchange: ExchangeId,
    /// `incoming-request`.
    pub request: u32,
    /// `response-outparam`.
    pub outparam: u32,
}

impl World {
    /// Gives the guest of `node` a request.
    ///
    /// # Errors
    /// When there is no room for one more.
    pub fn http_receive(
        &mut self,
        node: NodeId,
        request: SentRequest,
        body: Arc<[u8]>,
    ) -> Result<ReceivedRequest, HandleError> {
        let options = RequestOptions::default();
        let patience = ExchangeDeadlines::from(options, self.clock.now());
        let opened = self.http.exchanges.open(request.clone(), options, patience, &mut self.signals);
        let exchange = opened.map_err(|_| HandleError::Table(TableError::Full))?;
        let open = self.http.exchanges.get(exchange);
        open.request = None;
        open.handler = Some(node);
        let body = self.http.bodies.whole(MessageKind::Request, body, None, &mut self.signals);
        let incoming = IncomingRequest { request, body: Some(body) };
        let request = self.http_open(node, HttpHandle::IncomingRequest(incoming))?;
        let outparam = self.http_open(node, HttpHandle::ResponseOutparam(exchange))?;
        Ok(ReceivedRequest { exchange, request, outparam })
    }

    /// What the guest has answered; `None` when it has not.
    #[must_use]
    pub fn http_answered(&mut self, exchange: ExchangeId) -> Option<Result<u16, HttpErrorCode>> {
        let open = self.http.exchanges.get(exchange);
        open.reply().map(|reply| reply.as_ref().map(|response| response.status).map_err(Clone::clone))
    }
}
