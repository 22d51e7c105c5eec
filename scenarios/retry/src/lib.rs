//! A client that submits an order again when no answer comes in time, and a scenario that counts what was shipped.
//!
//! Client and server are tasks with a network between them that takes its time, all of it virtual. The planted fault: each try
//! is an order of its own, so a slow answer ships twice.
//!
//! ```text
//! client   submit ──────▶ timeout, submit again ──────▶ ok
//! server        └─▶ ships    (the answer is slow)   └─▶ ships again
//! ```
//!
//! With the feature `fixed`, tries of one order carry its number, and the server answers the second one from memory.

use fozzy_sdk::prelude::*;
use fozzy_sdk::task::channel::{self, Receiver, Sender};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

/// What a client waits for an answer, and how often it tries.
const PATIENCE: Duration = Duration::from_millis(100);
const TRIES: u32 = 3;

struct Request {
    /// Identifies the order, in the client's words.
    key: String,
    item: u32,
    answer: Sender<u32>,
}

/// What was shipped, by item; and what was answered, by key.
#[derive(Default)]
struct Server {
    shipped: BTreeMap<u32, u32>,
    answered: BTreeMap<String, u32>,
}

impl Server {
    fn handle(&mut self, key: &str, item: u32) -> u32 {
        let shipped = &mut self.shipped;
        *self.answered.entry(key.to_owned()).or_insert_with(|| {
            *shipped.entry(item).or_default() += 1;
            item
        })
    }
}

/// A way through the network.
async fn travel() {
    let slow = draw::chance(0.05);
    task::sleep(Duration::from_millis(draw::range(if slow { 60..=150 } else { 1..=20 }))).await;
}

async fn serve(server: Rc<RefCell<Server>>, requests: Receiver<Request>) {
    while let Some(Request { key, item, answer }) = requests.recv().await {
        let receipt = server.borrow_mut().handle(&key, item);
        let _ = task::spawn("answer", async move {
            travel().await;
            // The client may have given up.
            let _ = answer.send(receipt).await;
        });
    }
}

/// Submits an order, again if need be; whether an answer came.
async fn submit(network: &Sender<Request>, client: u32, item: u32) -> bool {
    for attempt in 0..TRIES {
        let key =
            if cfg!(feature = "fixed") { format!("{client} {item}") } else { format!("{client} {item} {attempt}") };
        let (answer, answers) = channel::bounded(1);
        let network = network.clone();
        let request = Request { key, item, answer };
        let _ = task::spawn("request", async move {
            travel().await;
            let _ = network.send(request).await;
        });
        if let Ok(Some(receipt)) = task::timeout(PATIENCE, answers.recv()).await {
            always!(receipt == item, "a receipt is for what was ordered");
            return true;
        }
        reachable!("a client tries again");
    }
    false
}

#[derive(Default)]
struct Shop {
    ordered: u32,
}

#[scenario]
impl Shop {
    /// Some clients order at once, each an item of its own.
    #[flow]
    async fn order(&mut self) {
        let server = Rc::new(RefCell::new(Server::default()));
        let (network, requests) = channel::unbounded();
        let _ = task::spawn("server", serve(Rc::clone(&server), requests));
        let clients: Vec<_> = (0..draw::range(1..=3u32))
            .map(|client| {
                let network = network.clone();
                task::spawn(&format!("client {client}"), async move { submit(&network, client, client).await })
            })
            .collect();
        for (item, client) in (0..).zip(clients) {
            let answered = client.join().await;
            let shipped = server.borrow().shipped.get(&item).copied().unwrap_or(0);
            always!(shipped >= u32::from(answered), "what was answered was shipped");
            always_at_most!(shipped, 1, "nothing is shipped twice");
            self.ordered += 1;
        }
    }
}
