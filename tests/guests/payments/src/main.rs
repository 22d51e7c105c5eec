//! Payments: a bank on axum on one machine, and a shop on another that pays for its orders. Ordinary programs: nothing here knows
//! that it is searched.
//!
//! ```text
//! payments bank                  POST /charge  "ORDER"   charges, and answers how many charges there are
//!                                GET /charges            how many
//! payments shop ORDERS           pays for each order, again where no answer came
//! ```
//!
//! The planted fault: where the answer is lost, the charge was made, and is made again. `bank mended` charges an order once.

use axum::Router;
use axum::extract::State;
use axum::routing::{get, post};
use fozzy_wasi_net as _;
use std::collections::BTreeMap;
use std::net::ToSocketAddrs;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// How long the shop waits for an answer.
const PATIENCE: Duration = Duration::from_millis(400);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match &words[..] {
        ["bank", rest @ ..] => {
            runtime().block_on(bank(rest == ["mended"])).expect("the port is free");
            ExitCode::SUCCESS
        }
        ["shop", orders] => runtime().block_on(shop(orders.parse().expect("a number"))),
        _ => ExitCode::from(2),
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made")
}

/// Charges of each order.
type Ledger = Arc<Mutex<BTreeMap<String, u64>>>;

async fn bank(is_mended: bool) -> std::io::Result<()> {
    let addresses: Vec<_> = "0.0.0.0:8080".to_socket_addrs()?.collect();
    let listener = TcpListener::bind(&addresses[..]).await?;
    let count = |ledger: &BTreeMap<String, u64>| ledger.values().sum::<u64>().to_string();
    let charge = async move |State(ledger): State<Ledger>, order: String| {
        let mut ledger = ledger.lock().expect("one thread");
        let charges = ledger.entry(order).or_default();
        if !is_mended || *charges == 0 {
            *charges += 1;
        }
        count(&ledger)
    };
    let all = async move |State(ledger): State<Ledger>| count(&ledger.lock().expect("one thread"));
    let app = Router::new().route("/charge", post(charge)).route("/charges", get(all)).with_state(Ledger::default());
    axum::serve(listener, app).await
}

/// A request; the body of its answer.
async fn ask(method: &str, path: &str, body: &str) -> std::io::Result<u64> {
    let addresses: Vec<_> = "bank:8080".to_socket_addrs()?.collect();
    let mut stream = TcpStream::connect(&addresses[..]).await?;
    let length = body.len();
    let head = format!("{method} {path} HTTP/1.1\r\nhost: bank\r\nconnection: close\r\ncontent-length: {length}\r\n");
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let number = answer.split("\r\n\r\n").nth(1).and_then(|body| body.trim().parse().ok());
    number.ok_or_else(|| std::io::Error::other("no whole answer"))
}

async fn patiently(method: &str, path: &str, body: &str) -> u64 {
    loop {
        match tokio::time::timeout(PATIENCE, ask(method, path, body)).await {
            Ok(Ok(number)) => return number,
            Ok(Err(error)) => eprintln!("{method} {path} {body}: {error}"),
            Err(_) => eprintln!("{method} {path} {body}: no answer"),
        }
        tokio::time::sleep(PATIENCE / 10).await;
    }
}

async fn shop(orders: u64) -> ExitCode {
    for order in 1..=orders {
        patiently("POST", "/charge", &order.to_string()).await;
    }
    let charges = patiently("GET", "/charges", "").await;
    println!("{charges} charges for {orders} orders");
    ExitCode::from(u8::from(charges != orders))
}
