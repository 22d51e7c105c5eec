//! Exchanges: one request each, and the response or error that comes of it.
//!
//! ```text
//! handle ──▶ Exchange { request until it is sent, reply when it is known }
//!                │ arrived: a signal, at the latest when the guest's patience ends
//! future-incoming-response.get ──▶ the reply, once
//! ```
//!
//! Invariants: a reply never changes; an exchange lives as long as the guest's future or the handler that answers it.
//! Not here: who replies what (`send`).

use super::body::{BodyId, BodySide, HttpBodies};
use super::error::HttpErrorCode;
use super::request::{RequestOptions, SentRequest, TIMEOUT_DEFAULT};
use super::response::IncomingResponse;
use crate::{SignalId, Signals};
use fozzy_trace::{Duration, Instant, NodeId};
use std::collections::BTreeMap;

/// Exchanges that a run may have open at once, that is: whose futures are not dropped. One more is refused with
/// `connection-limit-reached`. Each may hold a set of headers in both directions.
pub const EXCHANGES_MAX: usize = 1_000;

/// The name of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExchangeId(pub(super) u32);

/// Whether the guest can still ask for the reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Future {
    Open,
    Taken,
    Dropped,
}

/// Until when the guest waits for what.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExchangeDeadlines {
    pub(super) connection: Instant,
    pub(super) head: Instant,
    pub(super) body: Duration,
}

impl ExchangeDeadlines {
    pub(super) fn from(options: RequestOptions, now: Instant) -> ExchangeDeadlines {
        ExchangeDeadlines {
            connection: now.after(options.connect_timeout.unwrap_or(TIMEOUT_DEFAULT)),
            head: now.after(options.first_byte_timeout.unwrap_or(TIMEOUT_DEFAULT)),
            body: options.between_bytes_timeout.unwrap_or(TIMEOUT_DEFAULT),
        }
    }

    /// When the guest gives up if nothing at all answers, and with which error.
    pub(super) fn silence(&self) -> (Instant, HttpErrorCode) {
        match self.connection <= self.head {
            true => (self.connection, HttpErrorCode::ConnectionTimeout),
            false => (self.head, HttpErrorCode::ConnectionReadTimeout),
        }
    }
}

/// One exchange.
#[derive(Clone, Debug)]
pub(super) struct Exchange {
    /// Until it is sent.
    pub(super) request: Option<SentRequest>,
    pub(super) options: RequestOptions,
    pub(super) patience: ExchangeDeadlines,
    arrived: SignalId,
    reply: Option<(Instant, Result<IncomingResponse, HttpErrorCode>)>,
    /// The machine whose guest is to answer, until it has.
    pub(super) handler: Option<NodeId>,
    /// How long the reply is on its way.
    pub(super) lag: Duration,
    /// The connection breaks after this many bytes of the response's body.
    pub(super) cut_after: Option<u64>,
    future: Future,
}

impl Exchange {
    /// The reply, when it is known.
    pub(super) fn reply(&self) -> Option<&Result<IncomingResponse, HttpErrorCode>> {
        self.reply.as_ref().map(|(_, reply)| reply)
    }
}

/// All exchanges of a run.
#[derive(Clone, Debug, Default)]
pub struct Exchanges {
    open: BTreeMap<ExchangeId, Exchange>,
    /// The exchange whose request waits for the end of that body.
    by_body: BTreeMap<BodyId, ExchangeId>,
    next: u32,
}

impl Exchanges {
    /// A request that is to be sent.
    ///
    /// # Errors
    /// When [`EXCHANGES_MAX`] are open.
    pub(super) fn open(
        &mut self,
        request: SentRequest,
        options: RequestOptions,
        patience: ExchangeDeadlines,
        signals: &mut Signals,
    ) -> Result<ExchangeId, HttpErrorCode> {
        if self.open.len() == EXCHANGES_MAX {
            return Err(HttpErrorCode::ConnectionLimitReached);
        }
        let id = ExchangeId(self.next);
        self.next += 1;
        if let Some(body) = request.body {
            self.by_body.insert(body, id);
        }
        let arrived = signals.create();
        signals.fire(arrived, patience.head);
        let exchange = Exchange {
            request: Some(request),
            options,
            patience,
            arrived,
            reply: None,
            handler: None,
            lag: Duration::default(),
            cut_after: None,
            future: Future::Open,
        };
        self.open.insert(id, exchange);
        Ok(id)
    }

    pub(super) fn get(&mut self, id: ExchangeId) -> &mut Exchange {
        self.open.get_mut(&id).expect("whoever names an exchange keeps it open")
    }

    /// The exchange whose request waits for the end of `body`; it waits no longer.
    pub(super) fn sent_with(&mut self, body: BodyId) -> Option<ExchangeId> {
        self.by_body.remove(&body)
    }

    /// Those that the guest of `node` has not answered.
    pub(super) fn unanswered_by(&self, node: NodeId) -> Vec<ExchangeId> {
        self.open.iter().filter(|(_, exchange)| exchange.handler == Some(node)).map(|(id, _)| *id).collect()
    }

    /// The reply is known, and arrives at `at`. The first counts; the reply of a dropped exchange is discarded.
    pub(super) fn reply(
        &mut self,
        id: ExchangeId,
        at: Instant,
        reply: Result<IncomingResponse, HttpErrorCode>,
        bodies: &mut HttpBodies,
        signals: &mut Signals,
    ) {
        let exchange = self.get(id);
        exchange.handler = None;
        if exchange.future == Future::Open && exchange.reply.is_none() {
            exchange.reply = Some((at, reply));
            signals.hasten(exchange.arrived, at);
        } else if let Ok(IncomingResponse { body: Some(body), .. }) = reply {
            bodies.let_go(body, BodySide::Reader);
        }
        self.close_if_done(id);
    }

    /// What the guest's future waits for.
    #[must_use]
    pub fn arrived(&self, id: ExchangeId) -> SignalId {
        self.open.get(&id).expect("whoever names an exchange keeps it open").arrived
    }

    /// `future-incoming-response.get`: nothing while nothing has arrived, then the reply, then an error.
    #[allow(clippy::type_complexity, reason = "the type that WASI gives the function")]
    pub fn take(
        &mut self,
        id: ExchangeId,
        now: Instant,
        bodies: &mut HttpBodies,
        signals: &mut Signals,
    ) -> Option<Result<Result<IncomingResponse, HttpErrorCode>, ()>> {
        let exchange = self.get(id);
        if exchange.future == Future::Taken {
            return Some(Err(()));
        }
        let arrived_at = signals.at(exchange.arrived).filter(|at| *at <= now)?;
        exchange.future = Future::Taken;
        let patience = exchange.patience;
        match exchange.reply.take() {
            Some((at, reply)) if at <= arrived_at => {
                if let Ok(IncomingResponse { body: Some(body), .. }) = reply {
                    bodies.read_until(body, at.after(patience.body), signals);
                }
                Some(Ok(reply))
            }
            late => {
                if let Some((_, Ok(IncomingResponse { body: Some(body), .. }))) = late {
                    bodies.let_go(body, BodySide::Reader);
                }
                Some(Ok(Err(HttpErrorCode::ConnectionReadTimeout)))
            }
        }
    }

    /// The guest drops its future. A request that was not sent yet is not sent any more.
    pub(super) fn drop_future(&mut self, id: ExchangeId, bodies: &mut HttpBodies) {
        let exchange = self.get(id);
        exchange.future = Future::Dropped;
        let unsent = exchange.request.take().and_then(|request| request.body);
        let unread = exchange.reply.take().and_then(|(_, reply)| reply.ok()).and_then(|response| response.body);
        if let Some(body) = unsent {
            self.by_body.remove(&body);
        }
        unsent.into_iter().chain(unread).for_each(|body| bodies.let_go(body, BodySide::Reader));
        self.close_if_done(id);
    }

    fn close_if_done(&mut self, id: ExchangeId) {
        let exchange = self.get(id);
        if exchange.future == Future::Dropped && exchange.handler.is_none() {
            self.open.remove(&id);
        }
    }

    /// How many are open.
    #[must_use]
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether none is open.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}
