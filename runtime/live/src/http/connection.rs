//! A connection to a server, plain or encrypted, that reads while it writes and never waits beyond a deadline.
//!
//! ```text
//! send ─▶ out ─▶ (TLS) ─▶ socket        both directions in one step, so that a server which answers before it
//! more ◀─ input ◀─ (TLS) ◀─ socket      has read everything, or echoes, blocks neither itself nor us
//! ```
//!
//! Invariant: `input` holds what arrived and was not taken, and is bounded. Not here: what the bytes mean.

use super::url::Url;
use crate::deadline::{Deadline, timespec};
use fozzy_trace::plan::HttpFailure;
use rustix::event::{PollFd, PollFlags, poll};
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// Addresses of one name that are tried, in the order in which the resolver gives them.
const ADDRESSES_MAX: usize = 8;
/// Bytes that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// See the module.
pub(super) struct HttpConnection {
    socket: TcpStream,
    tls: Option<ClientConnection>,
    input: Vec<u8>,
    /// Bytes of `input` that were taken.
    taken: usize,
    input_max: usize,
    /// Nothing more arrives.
    ended: bool,
    /// It ended, but not as the other side would have ended it.
    broken: bool,
    /// The peer no longer reads.
    deaf: bool,
}

impl HttpConnection {
    /// Connects to the server that `url` names.
    pub(super) fn connect(
        url: &Url,
        tls: &Arc<ClientConfig>,
        input_max: usize,
        deadline: Deadline,
    ) -> Result<HttpConnection, HttpFailure> {
        let addresses = resolve(&url.host, url.port, deadline)?;
        let tls = match url.tls {
            true => {
                let name = ServerName::try_from(url.host.clone()).map_err(|_| HttpFailure::Dns)?;
                Some(ClientConnection::new(Arc::clone(tls), name).map_err(|_| HttpFailure::Reset)?)
            }
            false => None,
        };
        let socket = dial(&addresses, deadline)?;
        let ready = socket.set_nonblocking(true).and_then(|()| socket.set_nodelay(true));
        ready.map_err(|_| HttpFailure::Reset)?;
        Ok(HttpConnection {
            socket,
            tls,
            input: Vec::new(),
            taken: 0,
            input_max,
            ended: false,
            broken: false,
            deaf: false,
        })
    }

    /// What arrived and was not taken yet.
    pub(super) fn input(&self) -> &[u8] {
        &self.input[self.taken..]
    }

    /// Takes the first `count` bytes of the input.
    pub(super) fn take(&mut self, count: usize) {
        assert!(count <= self.input().len(), "only what arrived can be taken");
        self.taken += count;
    }

    /// Whether the other side hung up in an orderly way, so that what it sent is all that it meant to send.
    pub(super) fn is_whole(&self) -> bool {
        self.ended && !self.broken
    }

    /// Writes all of `bytes`, or as much as the other side wants: a server may answer and hang up before.
    pub(super) fn send(&mut self, mut bytes: &[u8], deadline: Deadline) -> Result<(), HttpFailure> {
        loop {
            let flushed = self.tls.as_ref().is_none_or(|tls| !tls.wants_write());
            if self.ended || self.deaf || (bytes.is_empty() && flushed) {
                return Ok(());
            }
            match self.step(&mut bytes, deadline) {
                // It has said something already: perhaps that it does not want to hear more.
                Err(HttpFailure::Timeout) if !self.input.is_empty() => return Ok(()),
                other => other?,
            }
        }
    }

    /// Waits for more input; `false` if nothing more arrives.
    pub(super) fn more(&mut self, deadline: Deadline) -> Result<bool, HttpFailure> {
        self.input.drain(..self.taken);
        self.taken = 0;
        let before = self.input.len();
        while self.input.len() == before {
            if self.ended {
                return Ok(false);
            }
            self.step(&mut &[][..], deadline)?;
        }
        Ok(true)
    }

    /// Waits until the socket can do something, and lets it.
    fn step(&mut self, out: &mut &[u8], deadline: Deadline) -> Result<(), HttpFailure> {
        if let Some(tls) = &mut self.tls {
            // It takes as much as its buffer holds.
            let count = tls.writer().write(out).map_err(|_| HttpFailure::Reset)?;
            *out = &out[count..];
        }
        let writes = !self.deaf && self.tls.as_ref().map_or(!out.is_empty(), |tls| tls.wants_write());
        let mut flags = PollFlags::IN;
        if writes {
            flags |= PollFlags::OUT;
        }
        let left = deadline.left().ok_or(HttpFailure::Timeout)?;
        let mut sockets = [PollFd::new(&self.socket, flags)];
        match poll(&mut sockets, Some(&timespec(left))) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok(()),
            Ok(_) => {}
            Err(_) => return Err(HttpFailure::Reset),
        }
        let can = sockets[0].revents();
        // Reading first: what it said stands even if it does not listen any more.
        if can.intersects(PollFlags::IN | PollFlags::HUP | PollFlags::ERR) {
            self.read()?;
        }
        if writes && !self.ended && can.contains(PollFlags::OUT) {
            let written = match &mut self.tls {
                Some(tls) => tls.write_tls(&mut self.socket),
                None => self.socket.write(out).inspect(|count| *out = &out[*count..]),
            };
            match written {
                Ok(_) => {}
                Err(error) if is_later(&error) => {}
                // It does not listen any more. What it said before is still read.
                Err(_) => self.deaf = true,
            }
        }
        Ok(())
    }

    /// Reads what is there.
    fn read(&mut self) -> Result<(), HttpFailure> {
        let mut buffer = vec![0; READ_BYTES];
        let Some(tls) = &mut self.tls else {
            let count = self.socket.read(&mut buffer);
            return self.arrived(&buffer, count);
        };
        let hung_up = match tls.read_tls(&mut self.socket) {
            Ok(count) => count == 0,
            Err(error) if is_later(&error) => return Ok(()),
            Err(_) => true,
        };
        if tls.process_new_packets().is_err() {
            // The peer gets the TLS alert if it still listens; the result is the same either way.
            drop(tls.write_tls(&mut self.socket));
            return Err(HttpFailure::Reset);
        }
        while let Some(tls) = self.tls.as_mut().filter(|_| !self.ended) {
            let count = tls.reader().read(&mut buffer);
            if count.as_ref().is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
                break;
            }
            self.arrived(&buffer, count)?;
        }
        if hung_up && !self.ended {
            (self.ended, self.broken) = (true, true);
        }
        Ok(())
    }

    fn arrived(&mut self, buffer: &[u8], count: io::Result<usize>) -> Result<(), HttpFailure> {
        match count {
            Ok(0) => self.ended = true,
            Ok(count) => self.input.extend_from_slice(&buffer[..count]),
            Err(error) if is_later(&error) => {}
            Err(_) => (self.ended, self.broken) = (true, true),
        }
        if self.input().len() > self.input_max { Err(HttpFailure::Reset) } else { Ok(()) }
    }
}

fn is_later(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

/// The addresses of a host. The system's resolver has no deadline, so that it runs beside us; when it is late,
/// the peer no longer reads it.
fn resolve(host: &str, port: u16, deadline: Deadline) -> Result<Vec<SocketAddr>, HttpFailure> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let (sender, receiver) = mpsc::channel();
    let host = host.to_owned();
    let resolver = move || {
        let found = (host.as_str(), port).to_socket_addrs();
        // The receiver may be gone.
        let _ = sender.send(found.map(|found| found.take(ADDRESSES_MAX).collect::<Vec<_>>()));
    };
    std::thread::Builder::new().name("resolver".to_owned()).spawn(resolver).map_err(|_| HttpFailure::Dns)?;
    match receiver.recv_timeout(deadline.left().ok_or(HttpFailure::Timeout)?) {
        Ok(Ok(addresses)) if !addresses.is_empty() => Ok(addresses),
        Ok(_) | Err(mpsc::RecvTimeoutError::Disconnected) => Err(HttpFailure::Dns),
        Err(mpsc::RecvTimeoutError::Timeout) => Err(HttpFailure::Timeout),
    }
}

/// The first address that can be connected to; each has an equal share of the time that is left.
fn dial(addresses: &[SocketAddr], deadline: Deadline) -> Result<TcpStream, HttpFailure> {
    let mut failure = HttpFailure::Refused;
    for (index, address) in addresses.iter().enumerate() {
        let left = deadline.left().ok_or(HttpFailure::Timeout)?;
        let share = (left / (addresses.len() - index) as u32).max(Duration::from_millis(1));
        match TcpStream::connect_timeout(address, share) {
            Ok(socket) => return Ok(socket),
            Err(error) => {
                failure = match error.kind() {
                    ErrorKind::TimedOut => HttpFailure::Timeout,
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => HttpFailure::Reset,
                    // No server listens there, or there is no route.
                    _ => HttpFailure::Refused,
                };
            }
        }
    }
    Err(failure)
}
