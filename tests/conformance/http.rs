//! The partner of the HTTP cases: a real server on loopback on one side, rules that say the same on the other.
//!
//! ```text
//! guest ─┬─▶ wasmtime-wasi-http ─▶ hooks ─┬─ server.test   a server on loopback, which speaks from ROUTES
//!        │                                ├─ refused.test  a port where nobody listens
//!        │                                └─ /handled/…    the guest itself, in a store of its own
//!        └─▶ fozzy ─▶ rules made of ROUTES and the same two exceptions
//! ```
//!
//! Not here: redirects, TLS, versions of HTTP: none of it is the guest's business.

use super::sides::State;
use fozzy_trace::Duration;
use fozzy_trace::plan::{HttpFailure, HttpReply, HttpRule, Inputs, MachinePlan, ProgramPlan};
use http_body_util::BodyExt;
use std::future::Future;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use wasmtime::Store;
use wasmtime_wasi_http::p2::bindings::http::types::Scheme;
use wasmtime_wasi_http::p2::bindings::sync::ProxyPre;
use wasmtime_wasi_http::{Error, RequestOptions, WasiBody, WasiHttpHooks, WasiHttpView, default_send_request};

/// What the server does with a path.
enum Route {
    /// Answers: status, headers beside the length, body.
    Answer(u16, &'static [(&'static str, &'static str)], Body),
    /// Answers with a part of this body, and closes.
    Cut(&'static str, usize),
    /// Reads the request, and closes.
    Reset,
    /// Reads the request, and says nothing.
    Silent,
}

enum Body {
    Text(&'static str),
    Long(usize),
}

impl Body {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Body::Text(text) => text.as_bytes().to_vec(),
            Body::Long(bytes) => (0..*bytes).map(|index| b'a' + (index % 23) as u8).collect(),
        }
    }
}

/// Every path that the cases ask for.
const ROUTES: &[(&str, Route)] = &[
    ("/plain", Route::Answer(200, &[("x-one", "1"), ("x-two", "2"), ("x-one", "3")], Body::Text("hello"))),
    ("/query?a=b", Route::Answer(200, &[], Body::Text("queried"))),
    ("/method", Route::Answer(200, &[], Body::Text("brewed"))),
    ("/header", Route::Answer(200, &[], Body::Text("unlocked"))),
    ("/gone", Route::Answer(410, &[], Body::Text("it was here"))),
    ("/empty", Route::Answer(204, &[], Body::Text(""))),
    ("/large", Route::Answer(200, &[], Body::Long(300_000))),
    ("/upload", Route::Answer(201, &[], Body::Text("thanks"))),
    ("/cut", Route::Cut("hello", 3)),
    ("/reset", Route::Reset),
    ("/silent", Route::Silent),
];

/// The headers of an answer: a 204 has no length (RFC 9110, section 8.6).
fn headers(status: u16, rest: &[(&str, &str)], length: usize) -> Vec<(String, String)> {
    let length = (status != 204).then(|| ("content-length".to_owned(), length.to_string()));
    length.into_iter().chain(rest.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))).collect()
}

/// Rules by which fozzy answers as the server does.
pub(super) fn rules(guest: &[u8], inputs: &mut Inputs) -> Vec<HttpRule> {
    let rule = |url: &str, method: Option<&str>, answer| HttpRule {
        method: method.map(str::to_owned),
        url: url.to_owned(),
        headers: Vec::new(),
        times: None,
        delay: Duration::default(),
        answer,
        others: None,
    };
    let component = inputs.add(guest.to_vec());
    let handler = HttpReply::Component(ProgramPlan { component, machine: MachinePlan::default() });
    let mut rules = vec![
        rule("http://refused.test/*", None, HttpReply::Failure(HttpFailure::Refused)),
        rule("/handled/*", None, handler),
    ];
    for (path, route) in ROUTES {
        let mut answer = |status, rest: &[(&str, &str)], bytes: Vec<u8>, reset_after| {
            let headers = headers(status, rest, bytes.len());
            HttpReply::Response { status, headers, body: inputs.add(bytes), reset_after }
        };
        let answer = match route {
            Route::Answer(status, headers, body) => answer(*status, headers, body.bytes(), None),
            Route::Cut(body, bytes) => answer(200, &[], body.as_bytes().to_vec(), Some(*bytes as u64)),
            Route::Reset => HttpReply::Failure(HttpFailure::Reset),
            Route::Silent => HttpReply::Failure(HttpFailure::Timeout),
        };
        rules.push(rule(path, None, answer));
    }
    rules
}

/// A server on loopback, until the end of the test process.
pub(super) struct Server(SocketAddr);

impl Server {
    pub(super) fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                std::thread::spawn(move || serve(connection));
            }
        });
        Server(address)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.0
    }
}

/// Reads one request whole, and answers. A client that goes away is no failure of the server.
fn serve(mut connection: TcpStream) -> Option<()> {
    let mut request = Vec::new();
    let head = loop {
        receive(&mut connection, &mut request)?;
        if let Some(end) = request.windows(4).position(|window| window == b"\r\n\r\n") {
            break String::from_utf8_lossy(&request[..end]).to_lowercase();
        }
    };
    let body_from = head.len() + 4;
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")).map(|length| length.parse::<usize>());
    let chunked = head.contains("transfer-encoding: chunked");
    loop {
        let body = request.get(body_from..).unwrap_or_default();
        match &length {
            Some(length) if body.len() >= *length.as_ref().ok()? => break,
            None if !chunked || body.ends_with(b"0\r\n\r\n") => break,
            _ => receive(&mut connection, &mut request)?,
        }
    }
    let path = head.split(' ').nth(1)?;
    let (_, route) = ROUTES.iter().find(|(known, _)| *known == path)?;
    let (status, rest, body, sent) = match route {
        Route::Answer(status, rest, body) => (*status, *rest, body.bytes(), usize::MAX),
        Route::Cut(body, sent) => (200, [].as_slice(), body.as_bytes().to_vec(), *sent),
        Route::Reset => return None,
        // The client goes first.
        Route::Silent => return receive(&mut connection, &mut request),
    };
    let mut response = format!("HTTP/1.1 {status} Status\r\nconnection: close\r\n").into_bytes();
    for (name, value) in headers(status, rest, body.len()) {
        response.extend(format!("{name}: {value}\r\n").into_bytes());
    }
    response.extend(b"\r\n");
    response.extend(&body[..sent.min(body.len())]);
    connection.write_all(&response).ok()
}

/// More of the request; `None` when there is no more.
fn receive(connection: &mut TcpStream, request: &mut Vec<u8>) -> Option<()> {
    let mut buffer = [0; 8_192];
    let bytes = connection.read(&mut buffer).ok().filter(|bytes| *bytes > 0)?;
    request.extend(&buffer[..bytes]);
    Some(())
}

/// Sends the requests of wasmtime-wasi-http to where they belong.
#[derive(Clone)]
pub(super) struct Hooks {
    pub(super) server: SocketAddr,
    pub(super) handler: Option<ProxyPre<State>>,
}

type Io = Box<dyn Future<Output = Result<(), Error>> + Send>;
type Sent = Result<(http::Response<WasiBody>, Io), Error>;

impl WasiHttpHooks for Hooks {
    fn send_request(
        &mut self,
        request: http::Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Io,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        let handled = request.uri().path().starts_with("/handled/");
        match &self.handler {
            Some(handler) if handled => Box::new(handle(handler.clone(), self.clone(), request)),
            _ => Box::new(send(self.server, request, options)),
        }
    }
}

/// To the server, or to a port where nobody listens.
async fn send(server: SocketAddr, mut request: http::Request<WasiBody>, options: Option<RequestOptions>) -> Sent {
    let refused = || TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let to = match request.uri().host() {
        Some("refused.test") => refused().expect("loopback has a free port"),
        _ => server,
    };
    let mut parts = request.uri().clone().into_parts();
    parts.authority = Some(to.to_string().parse().expect("an address is an authority"));
    *request.uri_mut() = http::Uri::from_parts(parts).expect("it had all parts");
    let (response, io) = default_send_request(request, options).await?;
    Ok((response.map(BodyExt::boxed_unsync), Box::new(io)))
}

/// To the guest itself, which runs in a thread of its own until it is done.
async fn handle(handler: ProxyPre<State>, hooks: Hooks, request: http::Request<WasiBody>) -> Sent {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let mut store = Store::new(handler.engine(), State::bare(hooks));
        let request = store.data_mut().http().new_incoming_request(Scheme::Http, request).expect("it has an authority");
        let outparam = store.data_mut().http().new_response_outparam(sender).expect("the table has room");
        let guest = handler.instantiate(&mut store).expect("the guest instantiates");
        guest.wasi_http_incoming_handler().call_handle(&mut store, request, outparam).expect("the handler ends well");
    });
    let response = receiver.await.map_err(|_| Error::ConnectionTerminated)?.map_err(Error::from)?;
    Ok((response, Box::new(std::future::ready(Ok(())))))
}
