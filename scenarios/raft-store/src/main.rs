//! A key-value store whose nodes agree by the raft crate, as it is published, on sockets of mio and files of std; nothing in it knows of Fozzy.
//!
//! ```text
//! client ── put x 7 ─▶ n2 ── propose ───▶ the log of a majority ── applied ─────────▶ n2 ── ok ───▶ client
//!        ── get x ───▶ n2 ── read index ─▶ the leader is one still ── applied so far ─▶ n2 ── ok 7 ─▶
//! ```
//!
//! What the crate wants to be durable is written to the disk and synchronised before a message goes out that relies on it.
//!
//! `raft-store NAME ALL-NAMES [FAULT]`, where FAULT is one that is planted: `lost-vote` forgets at a restart in which term it is, and whom it has voted
//! for; `stale-read` has a leader answer reads without asking whether it is one still; `no-fsync` does not synchronise.

mod consensus;
mod disk_log;
mod network;

use consensus::{Consensus, Effect};
use network::Network;
use protobuf::Message as _;
use raft::eraftpb::Message;
use std::time::{Duration, Instant};

/// The unit of Raft's time.
const TICK: Duration = Duration::from_millis(50);

/// Which fault is planted.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum PlantedFault {
    None,
    LostVote,
    StaleRead,
    NoFsync,
}

fn main() -> std::io::Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let planted = match args.get(3).map(String::as_str) {
        None => PlantedFault::None,
        Some("lost-vote") => PlantedFault::LostVote,
        Some("stale-read") => PlantedFault::StaleRead,
        Some("no-fsync") => PlantedFault::NoFsync,
        Some(other) => panic!("`{other}` is no fault: lost-vote, stale-read, no-fsync"),
    };
    let names: Vec<String> = args[2].split(',').map(str::to_owned).collect();
    let place = names.iter().position(|name| *name == args[1]).expect("the node is one of all");
    let mut consensus = Consensus::begin(place as u64 + 1, names.len() as u64, planted)?;
    let mut network = Network::open(names)?;
    let mut next_tick = Instant::now() + TICK;
    loop {
        for (connection, line) in network.wait(next_tick.saturating_duration_since(Instant::now()))? {
            let words: Vec<&str> = line.splitn(3, ' ').collect();
            match words[..] {
                ["raft", message] => {
                    if let Some(message) = message_of(message) {
                        network.heard(message.from);
                        consensus.step(message);
                    }
                }
                ["get", key] => consensus.get(connection, key),
                ["put", key, value] => consensus.put(connection, key, value),
                _ => network.answer(connection, "fail what?"),
            }
        }
        if Instant::now() >= next_tick {
            consensus.tick();
            network.tick();
            next_tick = Instant::now() + TICK;
        }
        for effect in consensus.advance()? {
            match effect {
                Effect::Send(message) => {
                    let bytes = message.write_to_bytes().map_err(std::io::Error::other)?;
                    network.send(message.to, &format!("raft {}", hex(&bytes)));
                }
                Effect::Answer(connection, answer) => network.answer(connection, &answer),
            }
        }
    }
}

fn message_of(text: &str) -> Option<Message> {
    let digit = |letter: &u8| (*letter as char).to_digit(16).map(|digit| digit as u8);
    let byte = |pair: &[u8]| Some(digit(&pair[0])? << 4 | digit(&pair[1])?);
    let bytes: Vec<u8> = text.as_bytes().chunks_exact(2).map(byte).collect::<Option<_>>()?;
    Message::parse_from_bytes(&bytes).ok()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
