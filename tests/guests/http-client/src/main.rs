//! HTTP client: sends requests through `wasi:http/outgoing-handler` by way of wstd, one after the other, and prints each answer.
//!
//! ```text
//! http-client [OPTIONS] URL...
//!
//! --method M             GET unless a body is given, and POST then
//! --header 'NAME: VALUE' as often as wanted
//! --body TEXT            the body of each request
//! --timeout MS           to connect, to the first byte, and between bytes
//!
//! GET http://api.test/orders
//! 200 OK
//! content-type: text/plain
//!
//! 5 bytes
//! hello
//! ```
//!
//! Headers are sorted by name. A request without an answer prints `failed: ` and the error code; the exit code is then 1.

use std::process::ExitCode;
use wstd::http::{Body, Client, Error, ErrorCode, Request};
use wstd::time::Duration;

const USAGE: &str = "usage: http-client [--method M] [--header 'NAME: VALUE']... [--body TEXT] [--timeout MS] URL...";

/// What is to be sent, and where.
#[derive(Default)]
struct Order {
    urls: Vec<String>,
    method: Option<String>,
    headers: Vec<(String, String)>,
    body: Option<String>,
    timeout_ms: Option<u64>,
}

fn main() -> ExitCode {
    let order = match order(std::env::args().skip(1)) {
        Ok(order) => order,
        Err(error) => {
            eprintln!("http-client: {error}\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let mut failed = false;
    for url in &order.urls {
        if let Err(error) = wstd::runtime::block_on(ask(&order, url)) {
            failed = true;
            match error.downcast_ref::<ErrorCode>() {
                Some(code) => println!("failed: {code:?}"),
                None => println!("failed: {error:#}"),
            }
        }
    }
    ExitCode::from(u8::from(failed))
}

fn order(mut words: impl Iterator<Item = String>) -> Result<Order, String> {
    let mut order = Order::default();
    while let Some(word) = words.next() {
        if !word.starts_with("--") {
            order.urls.push(word);
            continue;
        }
        let value = words.next().ok_or_else(|| format!("{word} wants a value"))?;
        match word.as_str() {
            "--method" => order.method = Some(value),
            "--body" => order.body = Some(value),
            "--timeout" => order.timeout_ms = Some(value.parse().map_err(|error| format!("{value}: {error}"))?),
            "--header" => {
                let (name, value) = value.split_once(':').ok_or_else(|| format!("{value}: no colon"))?;
                order.headers.push((name.trim().to_owned(), value.trim().to_owned()));
            }
            _ => return Err(format!("{word}: unknown")),
        }
    }
    if order.urls.is_empty() { Err("which URL?".to_owned()) } else { Ok(order) }
}

async fn ask(order: &Order, url: &str) -> Result<(), Error> {
    let method = order.method.as_deref().unwrap_or(if order.body.is_some() { "POST" } else { "GET" });
    println!("{method} {url}");
    let mut request = Request::builder().method(method).uri(url);
    for (name, value) in &order.headers {
        request = request.header(name, value);
    }
    let body = order.body.as_deref().map_or_else(Body::empty, Body::from);
    let mut client = Client::new();
    if let Some(timeout) = order.timeout_ms.map(Duration::from_millis) {
        client.set_connect_timeout(timeout);
        client.set_first_byte_timeout(timeout);
        client.set_between_bytes_timeout(timeout);
    }
    let response = client.send(request.body(body)?).await?;
    println!("{}", response.status());
    let mut headers: Vec<String> = response
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    headers.sort();
    headers.iter().for_each(|header| println!("{header}"));
    let mut body = response.into_body();
    let bytes = body.contents().await?;
    println!("\n{} bytes\n{}", bytes.len(), String::from_utf8_lossy(bytes));
    Ok(())
}
