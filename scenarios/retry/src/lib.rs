//! A client that submits an order again when no answer comes in time, over `wasi:http`, and a scenario that plays the server.
//!
//! The planted fault: each try is an order of its own, so a slow answer ships twice.
//!
//! ```text
//! client   POST /orders/7 ──▶ timeout, POST again ──▶ 201
//! server           └─▶ ships    (its answer is slow)   └─▶ ships again
//! ```
//!
//! With the feature `fixed`, tries of one order carry its number as idempotency key, and the server answers the second one
//! from memory.
#![cfg(target_arch = "wasm32")]

use fozzy_sdk::http::{self, RuleHandle};
use fozzy_sdk::prelude::*;
use std::time::Duration;
use wstd::http::{Body, Client, Request};

/// What a client waits for an answer, and how often it tries.
const PATIENCE: Duration = Duration::from_millis(100);
const TRIES: usize = 3;

const KEY: &str = "idempotency-key";

fn url(order: u32) -> String {
    format!("http://shop.test/orders/{order}")
}

/// The program under test. Whether the order was acknowledged.
async fn submit(order: u32) -> bool {
    let mut client = Client::new();
    client.set_first_byte_timeout(wstd::time::Duration::from(PATIENCE));
    for _ in 0..TRIES {
        let mut request = Request::post(url(order));
        if cfg!(feature = "fixed") {
            request = request.header(KEY, format!("order {order}"));
        }
        let Ok(request) = request.body(Body::empty()) else { return false };
        match client.send(request).await {
            Ok(response) if response.status().is_success() => return true,
            Ok(_) | Err(_) => reachable!("a client tries again"),
        }
    }
    false
}

/// How long an answer is on its way: mostly short, sometimes longer than anybody waits.
fn travel() -> Duration {
    let slow = draw::chance(0.1);
    Duration::from_millis(draw::range(if slow { 60..=300 } else { 1..=20 }))
}

/// What the server does with one order, as rules.
struct Server {
    /// Each of these answers one request, and ships.
    shipping: Vec<RuleHandle>,
}

impl Server {
    fn open(order: u32) -> Server {
        let post = || http::rule(&url(order)).method("POST");
        // With a key: the first request ships, the others are answered from memory.
        let first = post().header(KEY, "*").times(1).delay(travel()).responds(201, b"shipped").add();
        post().header(KEY, "*").delay(travel().min(PATIENCE / 2)).responds(200, b"it was shipped before").add();
        // Without: each one ships.
        let each = (0..TRIES).map(|_| post().times(1).delay(travel()).responds(201, b"shipped").add());
        Server { shipping: std::iter::once(first).chain(each).collect() }
    }

    fn shipped(&self) -> u64 {
        self.shipping.iter().map(|rule| rule.answered()).sum()
    }
}

/// Orders are numbered.
#[derive(Default)]
pub struct Shop {
    orders: u32,
}

#[scenario]
impl Shop {
    #[flow]
    fn order(&mut self) {
        let (order, server) = (self.orders, Server::open(self.orders));
        self.orders += 1;
        let acknowledged = wstd::runtime::block_on(submit(order));
        let shipped = server.shipped();
        always!(shipped >= u64::from(acknowledged), "what was acknowledged was shipped");
        always_at_most!(shipped, 1, "nothing is shipped twice");
        http::clear_rules();
    }

    /// The server is gone: nothing is shipped, and the client says so.
    #[flow(weight = 10)]
    fn order_of_nobody(&mut self) {
        let gone = http::rule(&url(self.orders)).fails(http::Failure::Refused).add();
        let acknowledged = wstd::runtime::block_on(submit(self.orders));
        always!(!acknowledged, "without a server nothing is acknowledged");
        always!(gone.answered() == TRIES as u64, "the client tries as often as it may");
        self.orders += 1;
        http::clear_rules();
    }
}
