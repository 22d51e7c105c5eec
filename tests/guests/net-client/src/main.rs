//! Net client: hyper on tokio, on one thread; asks a `net-server` again and again and checks each answer.
//!
//! ```text
//! net-client http://server:8080 --requests 10000 --connections 1
//! 10000 requests over 1 connections: 5000 greetings, 5000 echoes of 123890 bytes, 0 failures
//! ```
//!
//! Request `i` is a GET of `/hello` for even `i`, and a POST to `/echo` for odd `i`; connection `c` of `n` makes the requests whose
//! number leaves the rest `c` when divided by `n`. Without a time in it, the line is the same wherever it runs. A failed request is
//! counted and the next one made, over a new connection if need be; the exit code is 0 if all was well, and 1 otherwise.

use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response, StatusCode, body::Incoming, header::HOST};
use hyper_util::rt::TokioIo;
use std::error::Error;
use std::net::ToSocketAddrs;
use std::process::ExitCode;
use tokio::net::TcpStream;

const USAGE: &str = "usage: net-client URL [--requests N] [--connections N]";
/// Failures that are shown; the others are counted only.
const FAILURES_SHOWN: u64 = 5;

type Failure = Box<dyn Error + Send + Sync>;

/// What is to be done.
struct Order {
    /// Host and port.
    authority: String,
    requests: u64,
    connections: u64,
}

/// What came of it.
#[derive(Default)]
struct Tally {
    greetings: u64,
    echoes: u64,
    echoed_bytes: usize,
    failures: u64,
}

fn main() -> ExitCode {
    let order = match order(std::env::args().skip(1)) {
        Ok(order) => order,
        Err(error) => {
            eprintln!("net-client: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    let tally = runtime.block_on(fulfil(&order));
    let Order { requests, connections, .. } = order;
    let Tally { greetings, echoes, echoed_bytes, failures } = tally;
    println!(
        "{requests} requests over {connections} connections: {greetings} greetings, {echoes} echoes of {echoed_bytes} bytes, \
         {failures} failures"
    );
    ExitCode::from(u8::from(failures > 0))
}

fn order(mut words: impl Iterator<Item = String>) -> Result<Order, String> {
    let url = words.next().ok_or("which URL?")?;
    let authority = url.strip_prefix("http://").ok_or("only http:// is spoken here")?.trim_end_matches('/').to_owned();
    let mut order = Order { authority, requests: 1, connections: 1 };
    while let Some(flag) = words.next() {
        let number = words.next().ok_or_else(|| format!("{flag} wants a number"))?;
        let number = number.parse().map_err(|error| format!("{flag} {number}: {error}"))?;
        match flag.as_str() {
            "--requests" => order.requests = number,
            "--connections" if number > 0 => order.connections = number,
            _ => return Err(format!("{flag} {number}: unknown")),
        }
    }
    Ok(order)
}

async fn fulfil(order: &Order) -> Tally {
    let tasks: Vec<_> = (0..order.connections)
        .map(|first| {
            let numbers = (first..order.requests).step_by(usize::try_from(order.connections).expect("it fits"));
            tokio::spawn(exchange(order.authority.clone(), numbers))
        })
        .collect();
    let mut all = Tally::default();
    for task in tasks {
        let tally = task.await.expect("no task panics");
        all.greetings += tally.greetings;
        all.echoes += tally.echoes;
        all.echoed_bytes += tally.echoed_bytes;
        all.failures += tally.failures;
    }
    all
}

/// The requests of one connection, one after the other.
async fn exchange(authority: String, numbers: impl Iterator<Item = u64>) -> Tally {
    let mut server = Server { authority, connection: None };
    let mut tally = Tally::default();
    for number in numbers {
        let asked = if number % 2 == 0 { server.greet().await } else { server.repeat(number).await };
        match asked {
            Ok(None) => tally.greetings += 1,
            Ok(Some(bytes)) => {
                tally.echoes += 1;
                tally.echoed_bytes += bytes;
            }
            Err(error) => {
                server.connection = None;
                tally.failures += 1;
                if tally.failures <= FAILURES_SHOWN {
                    eprintln!("net-client: request {number}: {error}");
                }
            }
        }
    }
    tally
}

/// The server, as one connection sees it.
struct Server {
    authority: String,
    connection: Option<SendRequest<Full<Bytes>>>,
}

impl Server {
    async fn greet(&mut self) -> Result<Option<usize>, Failure> {
        let request = Request::get("/hello").header(HOST, &self.authority).body(Full::default())?;
        let body = expect_ok(self.send(request).await?).await?;
        if &body[..] == b"hello" { Ok(None) } else { Err(format!("answered {body:?}").into()) }
    }

    /// How many bytes came back.
    async fn repeat(&mut self, number: u64) -> Result<Option<usize>, Failure> {
        let message = Bytes::from(format!("message {number}: the sea was calm"));
        let request = Request::post("/echo").header(HOST, &self.authority).body(Full::new(message.clone()))?;
        let body = expect_ok(self.send(request).await?).await?;
        if body == message { Ok(Some(body.len())) } else { Err(format!("answered {body:?}").into()) }
    }

    async fn send(&mut self, request: Request<Full<Bytes>>) -> Result<Response<Incoming>, Failure> {
        let mut connection = match self.connection.take() {
            Some(connection) if !connection.is_closed() => connection,
            _ => connect(&self.authority).await?,
        };
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        self.connection = Some(connection);
        Ok(response)
    }
}

async fn connect(authority: &str) -> Result<SendRequest<Full<Bytes>>, Failure> {
    // Resolved by the standard library: tokio's own lookup wants a thread.
    let addresses: Vec<_> = authority.to_socket_addrs()?.collect();
    let stream = TcpStream::connect(&addresses[..]).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the connection; its errors reach the request that they hit as well.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

async fn expect_ok(response: Response<Incoming>) -> Result<Bytes, Failure> {
    let status = response.status();
    let body = response.into_body().collect().await?.to_bytes();
    if status == StatusCode::OK { Ok(body) } else { Err(format!("{status} {body:?}").into()) }
}
