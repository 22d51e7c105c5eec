//! A replicated key-value store on the sockets and files of std, as it would run anywhere; nothing in it knows of Fozzy.
//!
//! ```text
//! client ── put x 7 ──▶ n1 ─ log, sync ─ append 3 put x 7 ─▶ n2, n3 ─ log, sync ─ ok ─▶ a majority has it ─▶ ok
//!        ── get x ────▶ n1 ─ a majority still hears it? ─▶ ok 7           n2, n3 ─▶ moved n1
//! ```
//!
//! The first node leads, always. Each request is a line over a connection of its own. A log has one line for each change; the log of
//! a follower is a beginning of the leader's, which sends what is missing. `leave n2` and `join n2` change whose majority it is; who the
//! members are is an entry of the log, too.
//!
//! `replicated-store NAME ALL-NAMES [FAULT]`, where FAULT is one that is planted: `stale-reads` answers reads on followers, `no-sync`
//! acknowledges what is not durable, `answers-first` acknowledges what it writes and syncs at once afterwards, `gives-up` never asks a
//! follower again that has not answered once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, read_to_string};
use std::io::{BufRead, BufReader, ErrorKind, Result, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

const LOG: &str = "/log";
const PORT: u16 = 7000;
/// The key of the members, where they are not all nodes.
const MEMBERS: &str = "@members";
/// How long a node waits for another one, or for a client.
const PATIENCE: Duration = Duration::from_millis(300);

/// Which fault is planted.
#[derive(Clone, Copy, Default, PartialEq)]
enum Planted {
    #[default]
    None,
    StaleReads,
    NoSync,
    AnswersFirst,
    GivesUp,
}

struct Node {
    name: String,
    nodes: Vec<String>,
    planted: Planted,
    log: File,
    entries: Vec<String>,
    values: BTreeMap<String, String>,
    /// Followers that have not answered, if the leader gives up.
    given_up: BTreeSet<String>,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let (name, nodes) = (args[1].clone(), args[2].split(',').map(str::to_owned).collect());
    let planted = match args.get(3).map(String::as_str) {
        Some("stale-reads") => Planted::StaleReads,
        Some("no-sync") => Planted::NoSync,
        Some("answers-first") => Planted::AnswersFirst,
        Some("gives-up") => Planted::GivesUp,
        _ => Planted::None,
    };
    let mut node = Node::open(name, nodes, planted)?;
    let listener = TcpListener::bind(("0.0.0.0", PORT))?;
    for stream in listener.incoming() {
        // A client that is gone is no reason to stop.
        let _ = stream.and_then(|stream| node.serve(stream));
    }
    Ok(())
}

impl Node {
    /// Reads the log; a last line without its end was never acknowledged.
    fn open(name: String, nodes: Vec<String>, planted: Planted) -> Result<Node> {
        let text = read_to_string(LOG).unwrap_or_default();
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let log = OpenOptions::new().create(true).append(true).open(LOG)?;
        log.set_len(whole as u64)?;
        log.sync_all()?;
        let mut node =
            Node { name, nodes, planted, log, entries: vec![], values: BTreeMap::new(), given_up: BTreeSet::new() };
        text[..whole].lines().for_each(|entry| node.apply(entry));
        Ok(node)
    }

    fn leads(&self) -> bool {
        self.name == self.nodes[0]
    }

    fn apply(&mut self, entry: &str) {
        if let Some((key, value)) = entry.split_once(' ') {
            self.values.insert(key.to_owned(), value.to_owned());
        }
        self.entries.push(entry.to_owned());
    }

    fn append(&mut self, entry: &str) -> Result<()> {
        // At once: of two writes, a loss of power may keep the end of the line alone.
        self.log.write_all(format!("{entry}\n").as_bytes())?;
        if self.planted != Planted::NoSync {
            self.log.sync_data()?;
        }
        self.apply(entry);
        Ok(())
    }

    /// Answers the request of a connection.
    fn serve(&mut self, stream: TcpStream) -> Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut line = String::new();
        if BufReader::new(&stream).read_line(&mut line)? > 0 {
            let request = line.trim_end();
            if self.planted == Planted::AnswersFirst && self.leads() && request.starts_with("put ") {
                writeln!(&stream, "ok")?;
                self.answer(request)?;
                return Ok(());
            }
            let answer = self.answer(request)?;
            writeln!(&stream, "{answer}")?;
        }
        Ok(())
    }

    fn answer(&mut self, request: &str) -> Result<String> {
        let words: Vec<&str> = request.splitn(3, ' ').collect();
        match words[..] {
            ["get", key] if self.leads() || self.planted == Planted::StaleReads => {
                if self.leads() && !self.hears_majority() {
                    return Ok("fail no majority".to_owned());
                }
                Ok(format!("ok {}", self.values.get(key).map_or("nil", String::as_str)))
            }
            ["put", key, value] if self.leads() => {
                self.append(&format!("{key} {value}"))?;
                Ok(if self.hears_majority() { "ok" } else { "info no majority" }.to_owned())
            }
            ["leave" | "join", node] if self.leads() && node != self.name => {
                self.change_members(words[0] == "join", node)
            }
            ["get" | "put", ..] => Ok(format!("moved {}", self.nodes[0])),
            // From the leader: how many entries come before, and one more, or none.
            ["append", before, entry] => self.follow(before, entry),
            _ => Ok("fail what?".to_owned()),
        }
    }

    fn members(&self) -> Vec<String> {
        let members = self.values.get(MEMBERS);
        members.map_or_else(|| self.nodes.clone(), |names| names.split(',').map(str::to_owned).collect())
    }

    /// A node joins, once it has all entries, or leaves. The answer is who the members are.
    fn change_members(&mut self, joins: bool, node: &str) -> Result<String> {
        if joins && !self.brings_up(node) {
            return Ok(format!("fail {node} does not answer"));
        }
        let before = self.members();
        let is_member = |name: &&String| if *name == node { joins } else { before.contains(name) };
        let members: Vec<String> = self.nodes.iter().filter(is_member).cloned().collect();
        if members != before {
            self.append(&format!("{MEMBERS} {}", members.join(",")))?;
        }
        Ok(if self.hears_majority() { format!("ok {}", members.join(",")) } else { "info no majority".to_owned() })
    }

    /// Takes an entry of the leader, if it is the next one. The answer is how many there are.
    fn follow(&mut self, before: &str, entry: &str) -> Result<String> {
        if before.parse() == Ok(self.entries.len()) && entry != "-" {
            self.append(entry)?;
        }
        Ok(self.entries.len().to_string())
    }

    /// Sends followers what they miss. Whether a majority of the members has all entries now.
    fn hears_majority(&mut self) -> bool {
        let members = self.members();
        let mut up = 1;
        for follower in members[1..].iter().cloned() {
            if self.given_up.contains(&follower) {
                continue;
            }
            if self.brings_up(&follower) {
                up += 1;
            } else if self.planted == Planted::GivesUp {
                self.given_up.insert(follower);
            }
        }
        up > members.len() / 2
    }

    /// Whether a follower has all entries now.
    fn brings_up(&self, follower: &str) -> bool {
        let mut there = self.entries.len();
        loop {
            let entry = self.entries.get(there).map_or("-", String::as_str);
            match ask(follower, &format!("append {there} {entry}")) {
                Ok(count) if count >= self.entries.len() => return true,
                Ok(count) => there = count,
                Err(_) => return false,
            }
        }
    }
}

fn ask(node: &str, request: &str) -> Result<usize> {
    let address = (node, PORT).to_socket_addrs()?.next().ok_or(ErrorKind::NotFound)?;
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    writeln!(&stream, "{request}")?;
    let mut answer = String::new();
    BufReader::new(&stream).read_line(&mut answer)?;
    answer.trim_end().parse().map_err(|_| ErrorKind::InvalidData.into())
}
