//! Lines over connections, none of which keeps the node waiting.
//!
//! A client has a connection for each request. A node keeps one to each other node, and makes another when it fails: what was lost with it, Raft
//! sends again.

use mio::net::TcpStream;
#[cfg(unix)]
use mio::unix::SourceFd;
#[cfg(target_os = "wasi")]
use mio::wasi::SourceFd;
use mio::{Events, Interest, Poll, Registry, Token};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, TcpListener, ToSocketAddrs};
use std::os::fd::AsRawFd;
use std::time::Duration;

const PORT: u16 = 7000;
const LISTENER: Token = Token(0);
/// What waits for a peer at most, in bytes; the connection is given up then.
const QUEUE: usize = 1 << 20;
/// In ticks. TCP repeats after twice as long each time: after an outage a new connection is sooner there.
const SILENCE: u32 = 20;

struct Connection {
    stream: TcpStream,
    input: Vec<u8>,
    output: Vec<u8>,
    /// Whether it is told when the connection takes more.
    waits_to_write: bool,
}

pub(crate) struct Network {
    names: Vec<String>,
    poll: Poll,
    listener: TcpListener,
    connections: BTreeMap<usize, Connection>,
    /// Connections to nodes, by their number from one.
    peers: BTreeMap<u64, usize>,
    /// For how many ticks nothing has come from a node.
    silent: BTreeMap<u64, u32>,
    made: usize,
}

impl Network {
    pub(crate) fn open(names: Vec<String>) -> io::Result<Network> {
        let poll = Poll::new()?;
        // std's: that of mio cannot make what it accepts non-blocking with the C library of wasm32-wasip2.
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT))?;
        listener.set_nonblocking(true)?;
        poll.registry().register(&mut SourceFd(&listener.as_raw_fd()), LISTENER, Interest::READABLE)?;
        let (connections, peers, silent) = Default::default();
        Ok(Network { names, poll, listener, connections, peers, silent, made: 0 })
    }

    /// Lines that have come, with the connections that they are of; none if the time is over before.
    pub(crate) fn wait(&mut self, at_most: Duration) -> io::Result<Vec<(usize, String)>> {
        let mut events = Events::with_capacity(64);
        match self.poll.poll(&mut events, Some(at_most)) {
            Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
            _ => {}
        }
        let mut lines = Vec::new();
        for event in &events {
            if event.token() == LISTENER {
                self.accept()?;
                continue;
            }
            let number = event.token().0;
            let Some(connection) = self.connections.get_mut(&number) else { continue };
            let is_open = connection.goes_on(self.poll.registry(), event.token());
            while let Some(end) = connection.input.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = connection.input.drain(..=end).collect();
                lines.push((number, String::from_utf8_lossy(&line[..end]).into_owned()));
            }
            if !matches!(is_open, Ok(true)) {
                self.close(number);
            }
        }
        Ok(lines)
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(true)?;
                    self.add(TcpStream::from_std(stream), Interest::READABLE)?;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                // A client that is gone already is no reason to stop.
                Err(_) => {}
            }
        }
        let listener = &mut SourceFd(&self.listener.as_raw_fd());
        self.poll.registry().reregister(listener, LISTENER, Interest::READABLE)
    }

    fn add(&mut self, mut stream: TcpStream, interest: Interest) -> io::Result<usize> {
        self.made += 1;
        self.poll.registry().register(&mut stream, Token(self.made), interest)?;
        let waits_to_write = interest.is_writable();
        self.connections
            .insert(self.made, Connection { stream, input: Vec::new(), output: Vec::new(), waits_to_write });
        Ok(self.made)
    }

    fn close(&mut self, number: usize) {
        if let Some(mut connection) = self.connections.remove(&number) {
            let _ = self.poll.registry().deregister(&mut connection.stream);
        }
        self.peers.retain(|_, peer| *peer != number);
    }

    /// Something has come from a node.
    pub(crate) fn heard(&mut self, node: u64) {
        self.silent.insert(node, 0);
    }

    /// Gives up connections to nodes that say nothing.
    pub(crate) fn tick(&mut self) {
        for (node, number) in self.peers.clone() {
            let silent = self.silent.entry(node).or_default();
            *silent += 1;
            if *silent >= SILENCE {
                *silent = 0;
                self.close(number);
            }
        }
    }

    /// Sends a line to a node, if it can be reached.
    pub(crate) fn send(&mut self, node: u64, line: &str) {
        let known = self.peers.get(&node).copied();
        if let Some(number) = known.or_else(|| self.connect(node).ok()) {
            self.answer(number, line);
        }
    }

    fn connect(&mut self, node: u64) -> io::Result<usize> {
        let name = self.names[node as usize - 1].as_str();
        let address = (name, PORT).to_socket_addrs()?.next().ok_or(ErrorKind::NotFound)?;
        let number = self.add(TcpStream::connect(address)?, Interest::READABLE | Interest::WRITABLE)?;
        self.peers.insert(node, number);
        Ok(number)
    }

    /// Sends a line over a connection, if it is there still.
    pub(crate) fn answer(&mut self, number: usize, line: &str) {
        let Some(connection) = self.connections.get_mut(&number) else { return };
        connection.output.extend(line.as_bytes());
        connection.output.push(b'\n');
        if connection.flush(self.poll.registry(), Token(number)).is_err() || connection.output.len() > QUEUE {
            self.close(number);
        }
    }
}

impl Connection {
    /// Writes and reads what it can. Whether more may come.
    fn goes_on(&mut self, registry: &Registry, token: Token) -> io::Result<bool> {
        if let Some(error) = self.stream.take_error()? {
            return Err(error);
        }
        self.flush(registry, token)?;
        self.read()
    }

    /// Writes what the connection takes, and waits until it takes the rest.
    fn flush(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        while !self.output.is_empty() {
            match self.stream.write(&self.output) {
                Ok(written) => drop(self.output.drain(..written)),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => break,
                Err(error) => return Err(error),
            }
        }
        let is_left = !self.output.is_empty();
        if is_left != self.waits_to_write {
            self.waits_to_write = is_left;
            let interest = if is_left { Interest::READABLE | Interest::WRITABLE } else { Interest::READABLE };
            registry.reregister(&mut self.stream, token, interest)?;
        }
        Ok(())
    }

    /// Reads what is there. Whether more may come.
    fn read(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 4096];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => return Ok(false),
                Ok(count) => self.input.extend(&bytes[..count]),
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::NotConnected) => {
                    return Ok(true);
                }
                Err(error) => return Err(error),
            }
        }
    }
}
