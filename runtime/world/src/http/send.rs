//! What becomes of a request: who answers it, what, and when.
//!
//! ```text
//! handle ─▶ body finished? ─▶ a fault? ─▶ a rule? ─┬─▶ response or failure, after its delay
//!              │ not yet                           └─▶ component: a machine of its own handles it
//!              └─ waits                no rule: the real computer is asked, or the request is remembered as unmatched
//! ```
//!
//! A request is sent when its body is finished: rules, handlers and the real computer get it whole. Rules are tried before
//! the real computer, so that a plan can script single answers beside a live backend.
//!
//! Invariants: everything here is decided at a moment of virtual time, with chance from [`OpContext`]; the real computer's
//! answer arrives after the time that it took, or when the latency model says, and within the guest's patience, since it did
//! so in reality.

use super::BodySide;
use super::body::{BodyId, MessageKind};
use super::error::HttpErrorCode;
use super::exchange::{ExchangeDeadlines, ExchangeId};
use super::fields::HeaderFields;
use super::handle::HttpHandle;
use super::request::{IncomingRequest, OutgoingRequest, RequestOptions, SentRequest};
use super::response::{IncomingResponse, OutgoingResponse};
use crate::fault::{HTTP_DNS, HTTP_LATENCY, HTTP_REFUSED, HTTP_RESET, HTTP_STATUS, HTTP_TIMEOUT};
use crate::latency_model;
use crate::table::{StreamSink, StreamSource};
use crate::{GuestEntry, Handle, OpContext, World, WorldError, live_bounds, unmatched};
use fozzy_trace::observation::{AnswerTime, HttpBackendRequest, HttpBackendResponse};
use fozzy_trace::plan::{Backend, HttpFailure, HttpReply, ProgramPlan};
use fozzy_trace::{Digest, Duration, Instant, NodeId};
use std::sync::Arc;

/// The site of the questions that are asked here.
const SITE: &str = "wasi:http/outgoing-handler.handle";

/// A request that the real computer is to answer, whole.
#[derive(Clone, Debug)]
pub struct LiveRequest {
    /// Which exchange waits for the answer: [`World::http_observed`].
    pub exchange: ExchangeId,
    /// The question, secrets included.
    pub ask: HttpBackendRequest,
    /// The bytes of its body.
    pub body: Arc<[u8]>,
}

impl World {
    /// `outgoing-handler.handle` of the guest whose moment it is. When the real computer is to answer, the caller asks it.
    ///
    /// # Errors
    /// When the request cannot be sent at all.
    pub fn http_handle(
        &mut self,
        request: OutgoingRequest,
        options: RequestOptions,
        context: &mut OpContext<'_>,
    ) -> Result<(ExchangeId, Option<LiveRequest>), HttpErrorCode> {
        let body = request.body;
        let own = self.own_options(options, context);
        let patience = ExchangeDeadlines::from(own, self.clock.now());
        let opened = request
            .into_request()
            .and_then(|request| self.http.exchanges.open(request, options, patience, &mut self.signals));
        let exchange = opened.inspect_err(|_| {
            if let Some(body) = body {
                self.http.bodies.let_go(body, BodySide::Reader);
            }
        })?;
        let finished = body.is_none_or(|body| self.http.bodies.ended(body).is_some());
        let live = if finished { self.http_send(exchange, context) } else { None };
        Ok((exchange, live))
    }

    /// How long the guest waits, in virtual time: it names spans of its own clock.
    fn own_options(&mut self, options: RequestOptions, context: &mut OpContext<'_>) -> RequestOptions {
        let mut own = |span: Option<Duration>| span.map(|span| self.own_span(span, context));
        RequestOptions {
            connect_timeout: own(options.connect_timeout),
            first_byte_timeout: own(options.first_byte_timeout),
            between_bytes_timeout: own(options.between_bytes_timeout),
        }
    }

    /// `outgoing-body.finish`. When that completes a request which the real computer is to answer, the caller asks it.
    ///
    /// # Errors
    /// When the body has another length than was promised.
    pub fn http_finish(
        &mut self,
        body: BodyId,
        trailers: Option<HeaderFields>,
        context: &mut OpContext<'_>,
    ) -> (Result<(), HttpErrorCode>, Option<LiveRequest>) {
        // Looked up first: a body without a reader is gone when it is finished.
        let exchange = self.http.exchanges.sent_with(body);
        let finished = self.http.bodies.finish(body, trailers, self.clock.now(), &mut self.signals);
        (finished, exchange.and_then(|exchange| self.http_send(exchange, context)))
    }

    /// The writer of a body went away without finishing it. A request with it fails.
    pub(super) fn http_abort(&mut self, body: BodyId) {
        let exchange = self.http.exchanges.sent_with(body);
        self.http.bodies.abort(body, self.clock.now(), &mut self.signals);
        if let Some(exchange) = exchange {
            self.http_cut(exchange);
        }
    }

    /// The request's body will never be whole.
    fn http_cut(&mut self, exchange: ExchangeId) {
        if let Some(body) = self.http.exchanges.get(exchange).request.take().and_then(|request| request.body) {
            self.http.bodies.let_go(body, BodySide::Reader);
        }
        self.http_reply(exchange, self.clock.now(), Err(HttpErrorCode::HttpProtocolError));
    }

    /// The request is whole: it is answered, or the real computer is to be asked.
    fn http_send(&mut self, id: ExchangeId, context: &mut OpContext<'_>) -> Option<LiveRequest> {
        let body = self.http.exchanges.get(id).request.as_ref().and_then(|request| request.body);
        if body.is_some_and(|body| self.http.bodies.ended(body).is_some_and(|ended| ended.is_err())) {
            self.http_cut(id);
            return None;
        }
        if let Some(body) = body {
            self.http.exchanges.sent_with(body);
        }
        let exchange = self.http.exchanges.get(id);
        let request = exchange.request.take().expect("a request is sent once");
        let silence = exchange.patience.silence();
        let (now, url) = (self.clock.now(), request.url());
        let fault = if context.injects(&HTTP_DNS, &url).is_some() {
            Some((now, Err(HttpErrorCode::unknown_host())))
        } else if context.injects(&HTTP_REFUSED, &url).is_some() {
            Some((now, Err(HttpErrorCode::ConnectionRefused)))
        } else if context.injects(&HTTP_TIMEOUT, &url).is_some() {
            Some((silence.0, Err(silence.1)))
        } else {
            context.injects(&HTTP_STATUS, &url).map(|status| (now, Ok(status)))
        };
        exchange.lag = Duration(context.injects(&HTTP_LATENCY, &url).unwrap_or(0));
        exchange.cut_after = context.injects(&HTTP_RESET, &url);
        if let Some((at, reply)) = fault {
            self.http_let_go_request(&request);
            let reply =
                reply.map(|status| self.http_response(status as u16, HeaderFields::default(), Arc::from([]), None));
            self.http_reply(id, at, reply);
            return None;
        }
        let plan = Arc::clone(&self.plan);
        let added = self.http.rules.choose_added(&request);
        match added.as_deref().or_else(|| self.http.rules.choose(&plan.http, &request)) {
            Some(rule) => {
                let (answer, delay) =
                    context.reply((&rule.answer, rule.delay), rule.others.as_deref(), "scripted response");
                let lag = &mut self.http.exchanges.get(id).lag;
                lag.0 = lag.0.saturating_add(delay.0);
                self.http_scripted(id, request, answer);
                None
            }
            None if plan.backends.http == Backend::Host => {
                if live_bounds::allows_host(&plan.live, &request.authority, request.default_port()) {
                    return Some(self.http_live(id, &request));
                }
                self.unmatched.add(unmatched::forbidden_request(&request));
                self.http_let_go_request(&request);
                self.http_reply(id, now, Err(HttpErrorCode::HttpRequestDenied));
                None
            }
            None => {
                self.unmatched.add(unmatched::request(&request));
                self.http_let_go_request(&request);
                self.http_reply(id, now, Err(HttpErrorCode::DestinationNotFound));
                None
            }
        }
    }

    fn http_scripted(&mut self, id: ExchangeId, request: SentRequest, answer: &HttpReply) {
        let exchange = self.http.exchanges.get(id);
        let (at, silence) = (self.clock.now().after(exchange.lag), exchange.patience.silence());
        match answer {
            HttpReply::Response { status, headers, body, reset_after } => {
                let cut_after = exchange.cut_after.into_iter().chain(*reset_after).min();
                self.http_let_go_request(&request);
                let headers = headers.iter().map(|(name, value)| (name.clone(), value.clone().into_bytes()));
                let reply = match self.inputs.get(body) {
                    Some(bytes) => Ok(self.http_response(*status, HeaderFields::received(headers), bytes, cut_after)),
                    None => Err(HttpErrorCode::InternalError(Some(WorldError::MissingInput(*body).to_string()))),
                };
                self.http_reply(id, at, reply);
            }
            HttpReply::Failure(failure) => {
                self.http_let_go_request(&request);
                let (at, error) = failed(*failure, at, silence);
                self.http_reply(id, at, Err(error));
            }
            HttpReply::Component(program) => self.http_launch(id, request, program),
        }
    }

    /// A machine of its own handles the request.
    fn http_launch(&mut self, id: ExchangeId, request: SentRequest, program: &ProgramPlan) {
        let name = format!("http-handler-{}", id.0);
        let launched = self.launch(name, program, GuestEntry::Handle { request: 0, outparam: 0 });
        let node = match launched {
            Ok(node) => node,
            Err(error) => {
                let error = match error {
                    WorldError::TooManyNodes => HttpErrorCode::ConnectionLimitReached,
                    other => HttpErrorCode::InternalError(Some(other.to_string())),
                };
                self.http_let_go_request(&request);
                return self.http_reply(id, self.clock.now(), Err(error));
            }
        };
        let signals = &mut self.signals;
        let body =
            request.body.unwrap_or_else(|| self.http.bodies.whole(MessageKind::Request, Arc::from([]), None, signals));
        self.http.exchanges.get(id).handler = Some(node);
        let incoming = IncomingRequest { request, body: Some(body) };
        let request = self.http_open(node, HttpHandle::IncomingRequest(incoming));
        let outparam = self.http_open(node, HttpHandle::ResponseOutparam(id));
        match (request, outparam, self.launches.last_mut()) {
            (Ok(request), Ok(outparam), Some(launch)) => launch.entry = GuestEntry::Handle { request, outparam },
            // There is no room for the fields of one more request: no handler is started.
            _ => {
                self.launches.pop();
                self.http_guest_ended(node);
                self.leave(node);
            }
        }
    }

    /// The question to the real computer.
    fn http_live(&mut self, id: ExchangeId, request: &SentRequest) -> LiveRequest {
        let body: Arc<[u8]> =
            request.body.map_or_else(|| Arc::from([]), |body| Arc::from(self.http.bodies.bytes(body)));
        self.http_let_go_request(request);
        let headers = request.headers.entries().iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
        let ask = HttpBackendRequest {
            method: request.method.as_str().to_owned(),
            url: request.url(),
            headers: headers.collect(),
            body: Digest::of(&body),
            timeout: self.http.exchanges.get(id).options.first_byte_timeout,
        };
        LiveRequest { exchange: id, ask, body }
    }

    /// The real computer has answered; `body` holds the bytes that its answer names.
    pub fn http_observed(
        &mut self,
        id: ExchangeId,
        answer: Result<(&HttpBackendResponse, Arc<[u8]>), HttpFailure>,
        took: Option<AnswerTime>,
        context: &mut OpContext<'_>,
    ) {
        let now = self.clock.now();
        let exchange = self.http.exchanges.get(id);
        let (patience, lag, fault_cut) = (exchange.patience, exchange.lag, exchange.cut_after);
        let bytes = answer.as_ref().map_or(0, |(_, body)| body.len() as u64);
        let travel = match took {
            Some(took) => took.first,
            None => latency_model::arrival(context, latency_model::HTTP, SITE, bytes),
        };
        let at = now.after(travel).after(lag);
        match answer {
            Ok((answer, body)) => {
                let cut = answer.cut.then_some(bytes);
                let cut_after = fault_cut.into_iter().chain(cut).min();
                // It arrived in time in reality; only a planned delay makes it late.
                let at = if lag.0 == 0 { at.min(patience.head) } else { at };
                // However the body came: the guest would have waited for each piece anew.
                let rest = took.map_or(Duration(0), |took| Duration(took.whole.0.saturating_sub(took.first.0)));
                let body_at = took.map_or(Instant::START, |_| at.after(rest.min(patience.body)));
                let (of, signals) = (MessageKind::Response, &mut self.signals);
                let body = Some(self.http.bodies.whole_from(of, body, cut_after, body_at, signals));
                let headers = HeaderFields::received(answer.headers.iter().cloned()).frozen();
                let response = IncomingResponse { status: answer.status, headers, body };
                self.http_reply(id, at, Ok(response));
            }
            Err(failure) => {
                let (at, error) = failed(failure, at, patience.silence());
                self.http_reply(id, at, Err(error));
            }
        }
    }

    /// `response-outparam.set` of a handler.
    pub fn http_respond(&mut self, id: ExchangeId, response: Result<OutgoingResponse, HttpErrorCode>) {
        let exchange = self.http.exchanges.get(id);
        let (at, lag, cut_after) = (self.clock.now().after(exchange.lag), exchange.lag, exchange.cut_after);
        let reply = response.map(|response| match response.body {
            Some(body) => {
                self.http.bodies.travels(body, lag, cut_after);
                IncomingResponse { status: response.status(), headers: response.headers, body: Some(body) }
            }
            None => self.http_response(response.status(), response.headers, Arc::from([]), cut_after),
        });
        self.http_reply(id, at, reply);
    }

    /// A handler goes without having answered.
    pub(super) fn http_unanswered(&mut self, id: ExchangeId) {
        self.http_reply(id, self.clock.now(), Err(HttpErrorCode::ConnectionTerminated));
    }

    /// The guest of `node` has ended, in whatever way: its handles go, what it has not answered will not be answered, and the
    /// bodies that it has not finished are cut.
    pub fn http_guest_ended(&mut self, node: NodeId) {
        let reps = self.node(node).table.reps();
        for rep in &reps {
            match self.node(node).table.get(*rep) {
                Ok(Handle::InputStream(StreamSource::Http { body, .. })) => {
                    self.http.bodies.drop_stream(*body, BodySide::Reader);
                }
                Ok(Handle::OutputStream(StreamSink::Http { body, .. })) => {
                    self.http.bodies.drop_stream(*body, BodySide::Writer)
                }
                _ => continue,
            }
            let _ = self.node_mut(node).table.remove(*rep);
        }
        // A handle that is not one of HTTP is refused, and left to its owner.
        for rep in reps {
            let _ = self.http_drop(node, rep);
        }
        for exchange in self.http.exchanges.unanswered_by(node) {
            self.http_unanswered(exchange);
        }
        for body in self.http.bodies.abort_all_of(node, self.clock.now(), &mut self.signals) {
            if let Some(exchange) = self.http.exchanges.sent_with(body) {
                self.http_cut(exchange);
            }
        }
    }

    fn http_reply(&mut self, id: ExchangeId, at: Instant, reply: Result<IncomingResponse, HttpErrorCode>) {
        self.http.exchanges.reply(id, at, reply, &mut self.http.bodies, &mut self.signals);
    }

    fn http_response(
        &mut self,
        status: u16,
        headers: HeaderFields,
        bytes: Arc<[u8]>,
        cut_after: Option<u64>,
    ) -> IncomingResponse {
        let body = self.http.bodies.whole(MessageKind::Response, bytes, cut_after, &mut self.signals);
        IncomingResponse { status, headers: headers.frozen(), body: Some(body) }
    }

    /// The request was answered without its body.
    fn http_let_go_request(&mut self, request: &SentRequest) {
        if let Some(body) = request.body {
            self.http.bodies.let_go(body, BodySide::Reader);
        }
    }
}

/// When the guest learns of a failure, and what.
fn failed(failure: HttpFailure, at: Instant, silence: (Instant, HttpErrorCode)) -> (Instant, HttpErrorCode) {
    match failure {
        HttpFailure::Dns => (at, HttpErrorCode::unknown_host()),
        HttpFailure::Refused => (at, HttpErrorCode::ConnectionRefused),
        HttpFailure::Reset => (at, HttpErrorCode::ConnectionTerminated),
        HttpFailure::Timeout => silence,
    }
}

#[cfg(test)]
mod tests;
