//! Net client: reqwest on tokio, on one thread; asks a `net-server` again and again and checks each answer.
//!
//! ```text
//! net-client http://server:8080 --requests 10000 --connections 1
//! 10000 requests over 1 connections: 5000 greetings, 5000 echoes of 123890 bytes, 0 failures
//! ```
//!
//! Request `i` is a GET of `/hello` for even `i`, and a POST to `/echo` for odd `i`; connection `c` of `n` makes the requests whose
//! number leaves the rest `c` when divided by `n`. Without a time in it, the line is the same wherever it runs. A failed request is
//! counted and the next one made; the exit code is 0 if all was well, and 1 otherwise.

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, StatusCode};
use std::net::ToSocketAddrs;
use std::process::ExitCode;
use std::sync::Arc;

const USAGE: &str = "usage: net-client URL [--requests N] [--connections N]";
/// Failures that are shown; the others are counted only.
const FAILURES_SHOWN: u64 = 5;

/// What is to be done.
struct Order {
    url: String,
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
    let url = words.next().ok_or("which URL?")?.trim_end_matches('/').to_owned();
    let mut order = Order { url, requests: 1, connections: 1 };
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
            tokio::spawn(exchange(order.url.clone(), numbers))
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
async fn exchange(url: String, numbers: impl Iterator<Item = u64>) -> Tally {
    let client = Client::builder().dns_resolver(Arc::new(Lookup)).no_proxy().build().expect("a client can be made");
    let (hello, echo) = (format!("{url}/hello"), format!("{url}/echo"));
    let mut tally = Tally::default();
    for number in numbers {
        let asked = if number % 2 == 0 { greet(&client, &hello).await } else { repeat(&client, &echo, number).await };
        match asked {
            Ok(None) => tally.greetings += 1,
            Ok(Some(bytes)) => {
                tally.echoes += 1;
                tally.echoed_bytes += bytes;
            }
            Err(error) => {
                tally.failures += 1;
                if tally.failures <= FAILURES_SHOWN {
                    eprintln!("net-client: request {number}: {error}");
                }
            }
        }
    }
    tally
}

async fn greet(client: &Client, url: &str) -> Result<Option<usize>, String> {
    let response = client.get(url).send().await.map_err(|error| format!("{error:?}"))?;
    let (status, body) = (response.status(), response.bytes().await.map_err(|error| format!("{error:?}"))?);
    if status == StatusCode::OK && &body[..] == b"hello" { Ok(None) } else { Err(format!("{status} {body:?}")) }
}

/// How many bytes came back.
async fn repeat(client: &Client, url: &str, number: u64) -> Result<Option<usize>, String> {
    let message = format!("message {number}: the sea was calm");
    let response = client.post(url).body(message.clone()).send().await.map_err(|error| format!("{error:?}"))?;
    let (status, body) = (response.status(), response.bytes().await.map_err(|error| format!("{error:?}"))?);
    let right = status == StatusCode::OK && &body[..] == message.as_bytes();
    if right { Ok(Some(body.len())) } else { Err(format!("{status} {body:?}")) }
}

/// Names are looked up by the standard library, in place: reqwest's own way wants a thread for it.
struct Lookup;

impl Resolve for Lookup {
    fn resolve(&self, name: Name) -> Resolving {
        let found = (name.as_str(), 0).to_socket_addrs();
        let found = found.map(|addresses| Box::new(addresses) as Addrs).map_err(Into::into);
        Box::pin(std::future::ready(found))
    }
}
