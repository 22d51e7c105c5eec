//! Messages between named nodes: sent, under way, delivered.
//!
//! ```text
//! net_send ─▶ under way ─net_deliver_one─▶ inbox ─net_recv_assert─▶ gone
//!                            └─ lost, with the drop rate
//! ```

use crate::failure::StepFailure;
use fozzy_scenario_file::{DeliveryStrategy, Payload};
use fozzy_sdk::bindings::tools::fozzy::choices::draws;
use fozzy_sdk::tools;
use std::collections::BTreeSet;
use std::collections::VecDeque;

#[derive(Clone)]
pub struct NetworkMessage {
    pub from: String,
    pub to: String,
    pub payload: Payload,
}

/// As the history shows it.
impl std::fmt::Display for NetworkMessage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} to {}: ", self.from, self.to)?;
        match &self.payload {
            Payload::Text(text) => f.write_str(text),
            bytes => write!(f, "{bytes:?}"),
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct NetworkState {
    under_way: VecDeque<NetworkMessage>,
    delivered: VecDeque<NetworkMessage>,
    /// Pairs that do not reach each other, the smaller name first.
    partitions: BTreeSet<(String, String)>,
    pub(super) drop_rate: f64,
    pub(super) reorders: bool,
}

fn pair(a: &str, b: &str) -> (String, String) {
    let (a, b) = if a <= b { (a, b) } else { (b, a) };
    (a.to_owned(), b.to_owned())
}

impl NetworkState {
    pub(super) fn partition(&mut self, a: &str, b: &str) {
        self.partitions.insert(pair(a, b));
    }

    pub(super) fn heal(&mut self, a: &str, b: &str) {
        self.partitions.remove(&pair(a, b));
    }

    pub(super) fn send(&mut self, from: &str, to: &str, payload: &Payload) {
        let [from, to] = [from, to].map(str::to_owned);
        self.under_way.push_back(NetworkMessage { from, to, payload: payload.clone() });
    }

    /// The message that arrived, unless it was lost.
    pub fn deliver(&mut self, strategy: Option<DeliveryStrategy>) -> Result<Option<NetworkMessage>, StepFailure> {
        let reaches = |message: &NetworkMessage| {
            self.partitions.is_empty() || !self.partitions.contains(&pair(&message.from, &message.to))
        };
        let is_first = !self.reorders || strategy == Some(DeliveryStrategy::Fifo);
        let place = if is_first {
            self.under_way.iter().position(reaches)
        } else {
            let all: Vec<usize> = (0..self.under_way.len()).filter(|place| reaches(&self.under_way[*place])).collect();
            match all.len() {
                0 | 1 => all.first().copied(),
                count => all.get(draws::choose("net_deliver_one", count as u64) as usize).copied(),
            }
        };
        let Some(message) = place.and_then(|place| self.under_way.remove(place)) else {
            let what = match self.under_way.len() {
                0 => "no message is under way".to_owned(),
                count => {
                    format!("of the messages under way ({count}), none can be delivered: their nodes are partitioned")
                }
            };
            return Err(StepFailure::new(what));
        };
        let is_lost = self.drop_rate > 0.0 && draws::bool("net_drop", self.drop_rate);
        let word = if is_lost { "net_drop" } else { "net_deliver" };
        tools::event(word, &message.to_string());
        if is_lost {
            return Ok(None);
        }
        self.delivered.push_back(message.clone());
        Ok(Some(message))
    }

    pub(super) fn receive(&mut self, node: &str, from: Option<&str>, payload: &Payload) -> Result<(), StepFailure> {
        let fits = |message: &NetworkMessage| {
            message.to == node
                && message.payload.bytes() == payload.bytes()
                && from.is_none_or(|from| message.from == from)
        };
        if let Some(place) = self.delivered.iter().position(fits) {
            self.delivered.remove(place);
            return Ok(());
        }
        let from = from.map(|from| format!(" from {from}")).unwrap_or_default();
        let there: Vec<String> = self
            .delivered
            .iter()
            .filter(|message| message.to == node)
            .map(|message| format!("{:?} from {}", message.payload, message.from))
            .collect();
        let found = if there.is_empty() { "no message".to_owned() } else { there.join(", ") };
        let class = if there.is_empty() { "no message" } else { "other messages" };
        Err(StepFailure::new(format!("{node}: expected {payload:?}{from}, found {found}")).of(class))
    }
}
