//! TCP sockets as `wasi:sockets/tcp` shows them.
//!
//! ```text
//! unbound ─ start-bind ─ finish-bind ─▶ bound ─ start-listen ─ finish-listen ─▶ listening ─ accept ─▶ connected
//!    └──────────────────┬──────────────────┘
//!                 start-connect ─▶ connecting ─ finish-connect ─▶ connected
//!                                                            └──▶ closed (refused, unreachable, timeout)
//! ```
//!
//! What is answered in which state is wasmtime-wasi's (its `sockets/tcp.rs` and `p2/host/tcp.rs`), and so Linux's with
//! `SO_REUSEADDR`. Sockets that follow Linux ([`Network::tcp_follow_linux`]) differ where WASI asks for something else (`linux_tcp`).
//! Invariant: the kernel connects; the program that listens need not run for that.
//! Not here: bytes (`connection`).

use super::address::{self, AddressFamily, Route};
use super::connection::{CloseMode, Connection, ConnectionEnd};
use super::error::{SocketErrorCode, StreamEnd};
use super::event::{ConnectionSide, NetworkEvent, Syn};
use super::link::{self, CONNECT_RETRIES, LinkPath, later};
use super::options::{SocketOption, SocketOptions};
use super::pipe::TcpPipe;
use super::slab::SlabKey;
use super::{CONNECTIONS_MAX, Network, TcpId};
use crate::OpContext;
use fozzy_trace::{Duration, Instant, NodeId};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

/// Connections that wait to be accepted, unless told otherwise (the value of Rust's and of wasmtime's library).
const BACKLOG_DEFAULT: u64 = 128;
/// At the most; what is set above becomes this (Linux, `somaxconn`). More requests are ignored, and repeated.
const BACKLOG_MAX: u64 = 4_096;
/// So long a machine looks for the owner of an address of its own network (Linux: three questions, a second each).
const NOBODY_ANSWERS: Duration = Duration::from_millis(3_000);

/// What to shut down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Reading.
    Receive,
    /// Writing.
    Send,
    /// Reading and writing.
    Both,
}

/// Where a socket stands between its creation and its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TcpStage {
    /// Neither connected nor listening.
    Idle,
    /// A connection was begun, and what became of it was not asked.
    Connecting,
    /// Connected, also after the other side has closed.
    Connected,
    /// Listening.
    Listening,
    /// A connection could not be made.
    Closed(SocketErrorCode),
}

#[derive(Clone, Debug)]
pub(super) struct TcpSocket {
    pub(super) node: NodeId,
    family: AddressFamily,
    pub(super) state: State,
    operation: Option<Operation>,
    /// What it is bound to.
    pub(super) bound: Option<SocketAddr>,
    /// The port that is to be given back.
    port: Option<u16>,
    backlog: u64,
    options: SocketOptions,
    /// Handles of the guest that need it.
    handles: u32,
    /// Whether it is as sockets of Linux are.
    pub(super) is_linux: bool,
    /// Whether it stands for IPv4, too, as one of IPv6.
    pub(super) is_dual: bool,
    /// `SO_REUSEADDR`.
    pub(super) reuses: bool,
    /// Connections that were to be accepted soon when it was shut down, and are not.
    pub(super) stale: usize,
}

#[derive(Clone, Debug)]
pub(super) enum State {
    Idle,
    Connecting(Option<Result<SlabKey, SocketErrorCode>>),
    Connected(SlabKey, ConnectionSide),
    Listening(ListenQueue),
    Closed(SocketErrorCode),
}

#[derive(Clone, Debug, Default)]
pub(super) struct ListenQueue {
    /// Ready to be accepted.
    pub(super) queue: VecDeque<SlabKey>,
    /// Soon ready to be accepted.
    pub(super) coming: usize,
}

/// What was started and not yet finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Bind,
    Connect,
    Listen,
}

impl TcpSocket {
    fn new(node: NodeId, family: AddressFamily, state: State, options: SocketOptions) -> TcpSocket {
        TcpSocket {
            node,
            family,
            state,
            operation: None,
            bound: None,
            port: None,
            backlog: BACKLOG_DEFAULT,
            options,
            handles: 1,
            is_linux: false,
            is_dual: false,
            reuses: true,
            stale: 0,
        }
    }

    /// Whether it can be given an address of this kind.
    fn takes(&self, ip: IpAddr) -> bool {
        address::is_taken_by(ip, self.family, self.is_dual, self.bound)
    }

    /// Whether its options can be seen and set.
    fn is_open(&self) -> Result<(), SocketErrorCode> {
        match &self.state {
            State::Idle | State::Connected(..) | State::Listening(_) => Ok(()),
            State::Connecting(_) => Err(SocketErrorCode::InvalidState),
            State::Closed(error) => Err(*error),
        }
    }

    /// Begins an operation that needs a fresh socket.
    fn is_free(&self) -> Result<(), SocketErrorCode> {
        match (self.operation, &self.state) {
            (Some(_), _) => Err(SocketErrorCode::ConcurrencyConflict),
            (None, State::Idle) => Ok(()),
            (None, _) => Err(SocketErrorCode::InvalidState),
        }
    }

    fn finish(&mut self, operation: Operation) -> Result<(), SocketErrorCode> {
        if self.operation != Some(operation) {
            return Err(SocketErrorCode::NotInProgress);
        }
        self.operation = None;
        Ok(())
    }
}

impl Network {
    /// A new socket of `node`, with one handle.
    ///
    /// # Errors
    /// `new-socket-limit`.
    pub fn tcp_create(&mut self, node: NodeId, family: AddressFamily) -> Result<TcpId, SocketErrorCode> {
        self.count_socket(node)?;
        Ok(TcpId(self.tcp.insert(TcpSocket::new(node, family, State::Idle, SocketOptions::default()))))
    }

    pub(super) fn tcp(&self, id: TcpId) -> &TcpSocket {
        self.tcp.get(id.0).expect("a socket lives as long as its handles")
    }

    pub(super) fn tcp_mut(&mut self, id: TcpId) -> &mut TcpSocket {
        self.tcp.get_mut(id.0).expect("a socket lives as long as its handles")
    }

    /// One more handle needs the socket.
    pub fn tcp_retain(&mut self, id: TcpId) {
        self.tcp_mut(id).handles += 1;
    }

    /// One handle fewer needs the socket; without any it closes, as a process closes a descriptor.
    pub fn tcp_release(&mut self, id: TcpId, context: &mut OpContext<'_>) {
        let Some(socket) = self.tcp.get_mut(id.0) else { return };
        socket.handles -= 1;
        if socket.handles == 0 {
            self.tcp_close(id, CloseMode::Close, context);
            self.advance(context.now);
        }
    }

    pub(super) fn tcp_close(&mut self, id: TcpId, leave: CloseMode, context: &mut OpContext<'_>) {
        let Some(socket) = self.tcp.remove(id.0) else { return };
        let host = self.host_mut(socket.node);
        host.sockets -= 1;
        if let Some(port) = socket.port {
            host.tcp_ports.give_back(port);
        }
        match socket.state {
            State::Connected(key, side) => {
                if let Some(bound) = socket.bound.filter(|_| socket.is_linux && leave == CloseMode::Close) {
                    self.tcp_linger((socket.node, bound, socket.reuses), (key, side), context.now);
                }
                self.close_end(key, side, leave, context);
            }
            State::Connecting(Some(Ok(key))) => self.close_end(key, ConnectionSide::Client, leave, context),
            State::Listening(listening) => {
                let bound = socket.bound.expect("only what is bound listens");
                for address in address::heard_at(bound, socket.is_dual) {
                    self.host_mut(socket.node).listeners.remove(&(address.port(), address.ip()));
                }
                for key in listening.queue {
                    self.abandon_end(key, ConnectionSide::Server, context.now, Duration(0));
                }
            }
            State::Idle | State::Connecting(_) | State::Closed(_) => {}
        }
    }

    /// `start-bind`.
    ///
    /// # Errors
    /// As `wasi:sockets/tcp` says.
    pub fn tcp_start_bind(&mut self, id: TcpId, address: SocketAddr) -> Result<(), SocketErrorCode> {
        self.tcp_take_address(id, address, None)
    }

    /// Binds a socket that follows WASI; or Linux, where the moment says which addresses are kept.
    pub(super) fn tcp_take_address(
        &mut self,
        id: TcpId,
        address: SocketAddr,
        now: Option<Instant>,
    ) -> Result<(), SocketErrorCode> {
        let socket = self.tcp(id);
        if socket.operation.is_some() {
            return Err(SocketErrorCode::ConcurrencyConflict);
        }
        if socket.bound.is_some() || !matches!(socket.state, State::Idle) {
            return Err(SocketErrorCode::InvalidState);
        }
        if !address::is_unicast(address.ip()) || !socket.takes(address.ip()) {
            return Err(SocketErrorCode::InvalidArgument);
        }
        let node = socket.node;
        if !address::is_bindable(node, address.ip()) {
            return Err(SocketErrorCode::AddressNotBindable);
        }
        if now.is_some_and(|now| address.port() != 0 && self.tcp_is_taken(id, address, now)) {
            return Err(SocketErrorCode::AddressInUse);
        }
        let host = self.host_mut(node);
        let port = match address.port() {
            0 => host.tcp_ports.take_any()?,
            // Only those that listen exclude each other: WASI wants `SO_REUSEADDR`.
            _ if host.is_listened_at(address) => return Err(SocketErrorCode::AddressInUse),
            port => {
                host.tcp_ports.take(port);
                port
            }
        };
        let socket = self.tcp_mut(id);
        socket.bound = Some(SocketAddr::new(address.ip(), port));
        socket.port = Some(port);
        socket.operation = Some(Operation::Bind);
        Ok(())
    }

    /// `finish-bind`.
    ///
    /// # Errors
    /// `not-in-progress`.
    pub fn tcp_finish_bind(&mut self, id: TcpId) -> Result<(), SocketErrorCode> {
        self.tcp_mut(id).finish(Operation::Bind)
    }

    /// `start-connect`.
    ///
    /// # Errors
    /// As `wasi:sockets/tcp` says. A refused connection is reported by [`Network::tcp_finish_connect`].
    pub fn tcp_start_connect(
        &mut self,
        id: TcpId,
        remote: SocketAddr,
        context: &mut OpContext<'_>,
    ) -> Result<(), SocketErrorCode> {
        let socket = self.tcp(id);
        socket.is_free()?;
        let is_address = address::is_unicast(remote.ip()) && socket.takes(remote.ip());
        // Of Linux, a port that nobody can have is one at which nobody listens.
        let is_remote = address::is_remote(remote) || (socket.is_linux && !remote.ip().is_unspecified());
        if !is_address || !is_remote {
            return Err(SocketErrorCode::InvalidArgument);
        }
        let attempt = self.tcp_attempt(id, address::plain(remote), context);
        let socket = self.tcp_mut(id);
        if let (true, Err(error)) = (socket.is_linux, &attempt) {
            return Err(*error);
        }
        socket.operation = Some(Operation::Connect);
        socket.state = State::Connecting(attempt.err().map(Err));
        self.advance(context.now);
        Ok(())
    }

    /// Sends the request for a connection; the answer is an event.
    fn tcp_attempt(
        &mut self,
        id: TcpId,
        remote: SocketAddr,
        context: &mut OpContext<'_>,
    ) -> Result<(), SocketErrorCode> {
        let (node, bound) = (self.tcp(id).node, self.tcp(id).bound);
        let ip = address::source(node, bound.map(|bound| bound.ip()), remote.ip())?;
        let route = address::route(node, remote.ip(), self.hosts.len());
        if route == Route::None {
            return Err(SocketErrorCode::RemoteUnreachable);
        }
        let port = match bound {
            Some(bound) => bound.port(),
            None => {
                let port = self.host_mut(node).tcp_ports.take_any()?;
                self.tcp_mut(id).port = Some(port);
                port
            }
        };
        let Route::Machine(machine) = route else {
            let result = Err(SocketErrorCode::RemoteUnreachable);
            self.events.push(context.now.after(NOBODY_ANSWERS), NetworkEvent::ConnectEnds { socket: id, result });
            return Ok(());
        };
        let path = LinkPath { from: node, to: machine };
        match self.links.insist(path, &self.names, 0, CONNECT_RETRIES, context) {
            Err(end) => {
                self.events.push(end, NetworkEvent::ConnectEnds { socket: id, result: Err(SocketErrorCode::Timeout) });
            }
            Ok(arrival) => {
                let answer = &mut later(context, arrival);
                let back = self.links.insist(path.back(), &self.names, 0, CONNECT_RETRIES, answer);
                let back = back.map(|at| at.since(arrival)).map_err(|at| at.since(arrival));
                let (from, there) = (SocketAddr::new(ip, port), arrival.since(context.now));
                let syn = Syn { socket: id, machine, from, to: remote, there, back, ignored: 0 };
                self.events.push(arrival, NetworkEvent::Syn(Box::new(syn)));
            }
        }
        Ok(())
    }

    /// A request for a connection arrives.
    pub(super) fn syn_arrives(&mut self, syn: Syn, now: Instant) {
        let Some(client) = self.tcp.get(syn.socket.0) else { return };
        let client_options = client.options.clone();
        let mut ends = |at, result| self.events.push(at, NetworkEvent::ConnectEnds { socket: syn.socket, result });
        let back = match syn.back {
            Ok(back) => back,
            Err(gave_up) => return ends(now.after(gave_up), Err(SocketErrorCode::Timeout)),
        };
        let Some(listener) = self.hosts[syn.machine.0 as usize].listener(syn.to) else {
            return ends(now.after(back), Err(SocketErrorCode::ConnectionRefused));
        };
        let socket = self.tcp.get_mut(listener.0).expect("who listens is removed from the listeners when it closes");
        let State::Listening(listening) = &mut socket.state else { panic!("only listening sockets are listeners") };
        let waiting = (listening.queue.len() + listening.coming) as u64;
        if waiting >= socket.backlog || self.connections.len() >= CONNECTIONS_MAX {
            let pause = link::retransmission(syn.ignored);
            if syn.ignored == CONNECT_RETRIES {
                return ends(now.after(pause), Err(SocketErrorCode::Timeout));
            }
            let again = Syn { ignored: syn.ignored + 1, ..syn };
            return self.events.push(now.after(pause), NetworkEvent::Syn(Box::new(again)));
        }
        listening.coming += 1;
        let (client, server) = (&client_options, &socket.options);
        let mut up = TcpPipe::new(client.send_buffer as usize, server.receive_buffer as usize);
        let mut down = TcpPipe::new(server.send_buffer as usize, client.receive_buffer as usize);
        // What the client sends arrives behind its acknowledgement, what the server sends behind its own.
        let answered = now.after(back);
        let acceptable = answered.after(syn.there);
        (up.last_arrival, down.last_arrival) = (acceptable, answered);
        let node = self.tcp.get(syn.socket.0).expect("found above").node;
        let client = ConnectionEnd::new(node, syn.from, syn.to);
        let server = ConnectionEnd::new(syn.machine, syn.to, syn.from);
        let connection = self.connections.insert(Connection::new(client, server, up, down));
        self.events.push(answered, NetworkEvent::ConnectEnds { socket: syn.socket, result: Ok(connection) });
        self.events.push(acceptable, NetworkEvent::Acceptable { listener, connection, back: syn.there });
    }

    pub(super) fn connect_ends(&mut self, id: TcpId, result: Result<SlabKey, SocketErrorCode>, now: Instant) {
        match (self.tcp.get_mut(id.0), result) {
            (Some(socket), result) => socket.state = State::Connecting(Some(result)),
            // It was closed meanwhile.
            (None, Ok(key)) => self.abandon_end(key, ConnectionSide::Client, now, Duration(0)),
            (None, Err(_)) => {}
        }
    }

    pub(super) fn becomes_acceptable(&mut self, listener: TcpId, connection: SlabKey, back: Duration, now: Instant) {
        let is_stale = self.tcp_is_stale(listener);
        match self.tcp.get_mut(listener.0).map(|socket| &mut socket.state) {
            Some(State::Listening(listening)) if !is_stale => {
                listening.coming -= 1;
                listening.queue.push_back(connection);
            }
            _ => self.abandon_end(connection, ConnectionSide::Server, now, back),
        }
    }

    /// `finish-connect`: afterwards the socket has streams to read and to write.
    ///
    /// # Errors
    /// As `wasi:sockets/tcp` says.
    pub fn tcp_finish_connect(&mut self, id: TcpId) -> Result<(), SocketErrorCode> {
        let socket = self.tcp_mut(id);
        let result = match &socket.state {
            State::Connecting(None) => return Err(SocketErrorCode::WouldBlock),
            State::Connecting(Some(result)) => *result,
            _ => return Err(SocketErrorCode::NotInProgress),
        };
        socket.finish(Operation::Connect)?;
        match result {
            Ok(key) => socket.state = State::Connected(key, ConnectionSide::Client),
            Err(error) => socket.state = State::Closed(error),
        }
        result.map(|_| ())
    }

    /// Forgets that a connection could not be made: the socket is as it was before, and can connect again. That is how sockets of Linux
    /// are; those of WASI stay closed.
    pub fn tcp_forget_failure(&mut self, id: TcpId) {
        let socket = self.tcp_mut(id);
        if !matches!(socket.state, State::Closed(_)) {
            return;
        }
        socket.state = State::Idle;
        // The port of a socket that was not bound was taken for the connection alone.
        if socket.bound.is_none()
            && let Some(port) = socket.port.take()
        {
            let node = socket.node;
            self.host_mut(node).tcp_ports.give_back(port);
        }
    }

    /// `start-listen`.
    ///
    /// # Errors
    /// As `wasi:sockets/tcp` says.
    pub fn tcp_start_listen(&mut self, id: TcpId) -> Result<(), SocketErrorCode> {
        let socket = self.tcp(id);
        socket.is_free()?;
        let (node, is_dual) = (socket.node, socket.is_dual);
        let bound = socket.bound.ok_or(SocketErrorCode::InvalidState)?;
        let host = self.host_mut(node);
        if address::heard_at(bound, is_dual).any(|address| host.is_listened_at(address)) {
            return Err(SocketErrorCode::AddressInUse);
        }
        for address in address::heard_at(bound, is_dual) {
            host.listeners.insert((address.port(), address.ip()), id);
        }
        let socket = self.tcp_mut(id);
        socket.state = State::Listening(ListenQueue::default());
        socket.operation = Some(Operation::Listen);
        Ok(())
    }

    /// `finish-listen`.
    ///
    /// # Errors
    /// `not-in-progress`.
    pub fn tcp_finish_listen(&mut self, id: TcpId) -> Result<(), SocketErrorCode> {
        self.tcp_mut(id).finish(Operation::Listen)
    }

    /// `accept`: a socket with one handle, which is connected.
    ///
    /// # Errors
    /// As `wasi:sockets/tcp` says.
    pub fn tcp_accept(&mut self, id: TcpId) -> Result<TcpId, SocketErrorCode> {
        let socket = self.tcp(id);
        let State::Listening(listening) = &socket.state else { return Err(SocketErrorCode::InvalidState) };
        let key = *listening.queue.front().ok_or(SocketErrorCode::WouldBlock)?;
        let mut accepted = TcpSocket::new(
            socket.node,
            socket.family,
            State::Connected(key, ConnectionSide::Server),
            socket.options.clone(),
        );
        let connection = self.connections.get(key).expect("what waits to be accepted is not closed at this end");
        accepted.bound = Some(connection.end(ConnectionSide::Server).local);
        (accepted.is_linux, accepted.is_dual, accepted.reuses) = (socket.is_linux, socket.is_dual, socket.reuses);
        self.count_socket(accepted.node)?;
        if let State::Listening(listening) = &mut self.tcp_mut(id).state {
            listening.queue.pop_front();
        }
        Ok(TcpId(self.tcp.insert(accepted)))
    }

    /// `local-address`.
    ///
    /// # Errors
    /// As `wasi:sockets/tcp` says.
    pub fn tcp_local_address(&self, id: TcpId) -> Result<SocketAddr, SocketErrorCode> {
        let socket = self.tcp(id);
        match &socket.state {
            State::Idle | State::Listening(_) => socket.bound.ok_or(SocketErrorCode::InvalidState),
            State::Connecting(_) => Err(SocketErrorCode::InvalidState),
            State::Connected(key, side) => self.tcp_end(*key, *side).map(|end| end.local),
            State::Closed(error) => Err(*error),
        }
    }

    /// `remote-address`.
    ///
    /// # Errors
    /// As `wasi:sockets/tcp` says.
    pub fn tcp_remote_address(&self, id: TcpId) -> Result<SocketAddr, SocketErrorCode> {
        match &self.tcp(id).state {
            State::Connected(key, side) => self.tcp_end(*key, *side).map(|end| end.remote),
            State::Closed(error) => Err(*error),
            State::Idle | State::Listening(_) | State::Connecting(_) => Err(SocketErrorCode::InvalidState),
        }
    }

    fn tcp_end(&self, key: SlabKey, side: ConnectionSide) -> Result<&ConnectionEnd, SocketErrorCode> {
        self.connections.get(key).map(|connection| connection.end(side)).ok_or(SocketErrorCode::InvalidState)
    }

    /// What the socket is used for by now.
    #[must_use]
    pub fn tcp_stage(&self, id: TcpId) -> TcpStage {
        match &self.tcp(id).state {
            State::Idle => TcpStage::Idle,
            State::Connecting(_) => TcpStage::Connecting,
            State::Connected(..) => TcpStage::Connected,
            State::Listening(_) => TcpStage::Listening,
            State::Closed(error) => TcpStage::Closed(*error),
        }
    }

    /// `is-listening`.
    #[must_use]
    pub fn tcp_is_listening(&self, id: TcpId) -> bool {
        matches!(self.tcp(id).state, State::Listening(_))
    }

    /// `address-family`.
    #[must_use]
    pub fn tcp_family(&self, id: TcpId) -> AddressFamily {
        self.tcp(id).family
    }

    /// `set-listen-backlog-size`.
    ///
    /// # Errors
    /// As `wasi:sockets/tcp` says.
    pub fn tcp_set_backlog(&mut self, id: TcpId, value: u64) -> Result<(), SocketErrorCode> {
        if value == 0 {
            return Err(SocketErrorCode::InvalidArgument);
        }
        let socket = self.tcp_mut(id);
        match &socket.state {
            State::Idle | State::Listening(_) => socket.backlog = value.min(BACKLOG_MAX),
            State::Closed(error) => return Err(*error),
            State::Connecting(_) | State::Connected(..) => return Err(SocketErrorCode::InvalidState),
        }
        Ok(())
    }

    /// The options of the socket.
    ///
    /// # Errors
    /// `invalid-state` while it connects; why it is closed, when it is.
    pub fn tcp_options(&self, id: TcpId) -> Result<&SocketOptions, SocketErrorCode> {
        let socket = self.tcp(id);
        socket.is_open()?;
        Ok(&socket.options)
    }

    /// Sets an option of the socket.
    ///
    /// # Errors
    /// `invalid-argument` for zero; otherwise as [`Network::tcp_options`].
    pub fn tcp_set_option(&mut self, id: TcpId, option: SocketOption) -> Result<(), SocketErrorCode> {
        let socket = self.tcp_mut(id);
        let value = option.check();
        match option {
            // In the order in which wasmtime-wasi looks.
            SocketOption::HopLimit(_) | SocketOption::ReceiveBuffer(_) | SocketOption::SendBuffer(_) => {
                socket.is_open().and(value)?;
            }
            _ => value.and(socket.is_open())?,
        }
        socket.options.set(option);
        let (receive, send) = (socket.options.receive_buffer as usize, socket.options.send_buffer as usize);
        if let State::Connected(key, side) = socket.state
            && let Some(connection) = self.connections.get_mut(key)
        {
            connection.out_mut(side).send_buffer = send;
            connection.out_mut(side.other()).receive_buffer = receive;
        }
        Ok(())
    }

    /// `shutdown`.
    ///
    /// # Errors
    /// `invalid-state` when it is not connected.
    pub fn tcp_shutdown(
        &mut self,
        id: TcpId,
        what: Shutdown,
        context: &mut OpContext<'_>,
    ) -> Result<(), SocketErrorCode> {
        let socket = self.tcp(id);
        let is_linux = socket.is_linux;
        if is_linux && matches!(socket.state, State::Listening(_)) {
            self.tcp_shut_listener(id, what, context.now);
            return Ok(());
        }
        let State::Connected(key, side) = socket.state else { return Err(SocketErrorCode::InvalidState) };
        match what {
            Shutdown::Receive | Shutdown::Both if is_linux => self.shut_reading(key, side),
            Shutdown::Receive | Shutdown::Both => self.end_reading(key, side),
            Shutdown::Send => {}
        }
        if matches!(what, Shutdown::Send | Shutdown::Both) {
            self.end_writing(key, side, context);
        }
        self.advance(context.now);
        Ok(())
    }

    /// Bytes that have arrived, at most `max`; none when there are none yet.
    ///
    /// # Errors
    /// When there will be no more.
    pub fn tcp_read(&mut self, id: TcpId, max: usize, context: &mut OpContext<'_>) -> Result<Vec<u8>, StreamEnd> {
        let (key, side) = self.tcp_connection(id)?;
        let bytes = self.read(key, side, max, context);
        if let (Some(messages), Ok(bytes)) = (&mut self.messages, &bytes) {
            messages.note(context.node, bytes);
        }
        self.advance(context.now);
        bytes
    }

    /// How many bytes may be written; none when there is no room yet.
    ///
    /// # Errors
    /// When nothing can be written any more.
    pub fn tcp_check_write(&self, id: TcpId) -> Result<usize, StreamEnd> {
        let (key, side) = self.tcp_connection(id)?;
        self.permit(key, side)
    }

    /// Writes all of `bytes`, which must be no more than was permitted.
    ///
    /// # Errors
    /// When nothing can be written any more.
    pub fn tcp_write(&mut self, id: TcpId, bytes: &[u8], context: &mut OpContext<'_>) -> Result<(), StreamEnd> {
        let (key, side) = self.tcp_connection(id)?;
        let written = self.write(key, side, bytes, context);
        self.advance(context.now);
        written
    }

    fn tcp_connection(&self, id: TcpId) -> Result<(SlabKey, ConnectionSide), StreamEnd> {
        match self.tcp.get(id.0).map(|socket| &socket.state) {
            Some(State::Connected(key, side)) => Ok((*key, *side)),
            _ => Err(StreamEnd::Closed),
        }
    }

    /// Whether an operation of the socket can be finished, or a connection accepted.
    pub(super) fn tcp_is_ready(&self, id: TcpId) -> bool {
        let Some(socket) = self.tcp.get(id.0) else { return true };
        match (&socket.state, socket.operation) {
            (State::Connecting(result), _) => result.is_some(),
            (State::Listening(listening), None) => !listening.queue.is_empty(),
            _ => true,
        }
    }

    pub(super) fn tcp_is_readable(&self, id: TcpId) -> bool {
        let Ok((key, side)) = self.tcp_connection(id) else { return true };
        self.connections.get(key).is_none_or(|connection| connection.is_readable(side))
    }

    pub(super) fn tcp_is_writable(&self, id: TcpId) -> bool {
        let Ok((key, side)) = self.tcp_connection(id) else { return true };
        let is_over = |connection: &Connection| connection.is_write_over(side);
        self.connections.get(key).is_none_or(is_over) || self.permit(key, side) != Ok(0)
    }
}
