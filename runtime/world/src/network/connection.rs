//! A TCP connection: two pipes, and how they end.
//!
//! ```text
//! shut down to send   client ── FIN behind the last byte ──▶ server reads to the end, may still write
//! closed              the same, when the closed end had read everything; otherwise RST
//! written to a closed end      bytes ──▶ gone     ◀── RST
//! power lost          RST, whatever was read
//! RST arrives         readable bytes stay, then one `connection-reset`, then closed; writers are told at once
//! ```
//!
//! The answers are those of Linux as wasmtime-wasi shows them (its `p2/tcp.rs`).
//! Invariant: a connection is removed when both ends are closed; what is still on its way then finds nothing.

use super::error::{SocketErrorCode, StreamEnd};
use super::event::{ConnectionSide, NetworkEvent};
use super::link::{LinkPath, SEND_RETRIES};
use super::pipe::{Fin, TcpPipe};
use super::slab::SlabKey;
use super::{HELD_BYTES_MAX, Network, PACKETS_MAX};
use crate::OpContext;
use crate::fault::CONNECTION_RESET;
use fozzy_trace::{Duration, Instant, NodeId};
use std::net::SocketAddr;

/// A writer waits until there is room for this many bytes, as long as a blocking write of WASI may be: so it is not
/// woken for a few, and a wait for the whole of such a write ends with room for it.
pub(super) const ROOM_BYTES_MIN: usize = 4096;
/// Bytes that one read gives and one permission to write allows, at the most (wasmtime-wasi, `MAX_READ_SIZE_ALLOC`).
const TRANSFER_BYTES_MAX: usize = 64 * 1024;

/// How an end goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CloseMode {
    /// What it wrote still arrives, and then its end; unless it has not read everything, see above.
    Close,
    /// What it has not sent is gone, and the other end is reset.
    Abort,
}

/// One end of a connection.
#[derive(Clone, Debug)]
pub(super) struct ConnectionEnd {
    pub(super) node: NodeId,
    pub(super) local: SocketAddr,
    pub(super) remote: SocketAddr,
    /// Its socket is no more.
    is_closed: bool,
    /// The connection is no more.
    is_broken: bool,
    /// The reason, until it is reported to the guest.
    error: Option<SocketErrorCode>,
    /// The reader has got the end, or wanted it.
    is_read_over: bool,
    /// The reader is shut down, as Linux has it: what comes is read, and where nothing has, that is the end.
    is_receive_shut: bool,
    /// What every writer gets.
    write_end: Option<StreamEnd>,
    /// It has ended its side when the other end had not, as far as its machine knew.
    has_ended_first: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Connection {
    client: ConnectionEnd,
    server: ConnectionEnd,
    /// From client to server.
    up: TcpPipe,
    /// From server to client.
    down: TcpPipe,
}

impl ConnectionEnd {
    pub(super) fn new(node: NodeId, local: SocketAddr, remote: SocketAddr) -> ConnectionEnd {
        ConnectionEnd {
            node,
            local,
            remote,
            is_closed: false,
            is_broken: false,
            error: None,
            is_read_over: false,
            is_receive_shut: false,
            write_end: None,
            has_ended_first: false,
        }
    }
}

impl Connection {
    pub(super) fn new(client: ConnectionEnd, server: ConnectionEnd, up: TcpPipe, down: TcpPipe) -> Connection {
        Connection { client, server, up, down }
    }

    pub(super) fn end(&self, side: ConnectionSide) -> &ConnectionEnd {
        match side {
            ConnectionSide::Client => &self.client,
            ConnectionSide::Server => &self.server,
        }
    }

    fn end_mut(&mut self, side: ConnectionSide) -> &mut ConnectionEnd {
        match side {
            ConnectionSide::Client => &mut self.client,
            ConnectionSide::Server => &mut self.server,
        }
    }

    /// What `side` sends.
    fn out(&self, side: ConnectionSide) -> &TcpPipe {
        match side {
            ConnectionSide::Client => &self.up,
            ConnectionSide::Server => &self.down,
        }
    }

    /// What `side` sends.
    pub(super) fn out_mut(&mut self, side: ConnectionSide) -> &mut TcpPipe {
        match side {
            ConnectionSide::Client => &mut self.up,
            ConnectionSide::Server => &mut self.down,
        }
    }

    fn path(&self, from: ConnectionSide) -> LinkPath {
        LinkPath { from: self.end(from).node, to: self.end(from.other()).node }
    }

    /// Whether a read answers at once.
    pub(super) fn is_readable(&self, side: ConnectionSide) -> bool {
        let (end, pipe) = (self.end(side), self.out(side.other()));
        end.is_read_over || end.is_receive_shut || end.is_broken || pipe.readable() > 0 || pipe.fin == Fin::Arrived
    }

    /// Whether both directions are over for an end, as `POLLHUP` of Linux says.
    pub(super) fn is_hung_up(&self, side: ConnectionSide) -> bool {
        let (end, incoming) = (self.end(side), self.out(side.other()));
        let is_read_over = end.is_read_over || end.is_receive_shut || incoming.fin == Fin::Arrived;
        end.is_broken || (is_read_over && self.out(side).fin != Fin::Open)
    }

    /// Whether an end that closes now is the first that does, or was when it shut down its side, so that its machine keeps its address for
    /// a while.
    pub(super) fn closes_first(&self, side: ConnectionSide) -> bool {
        let (end, incoming) = (self.end(side), self.out(side.other()));
        !end.is_broken && !incoming.has_unread() && (incoming.fin != Fin::Arrived || end.has_ended_first)
    }

    /// Why the connection is no more, if an end was not told that yet.
    pub(super) fn take_error(&mut self, side: ConnectionSide) -> Option<SocketErrorCode> {
        self.end_mut(side).error.take()
    }

    /// Whether a writer gets an error at once because it cannot write.
    pub(super) fn is_write_over(&self, side: ConnectionSide) -> bool {
        let end = self.end(side);
        end.write_end.is_some() || end.is_broken || self.out(side).fin != Fin::Open
    }
}

impl Network {
    /// Sends what can be sent.
    fn pump(&mut self, key: SlabKey, from: ConnectionSide, context: &mut OpContext<'_>) {
        let Network { connections, links, events, names, .. } = self;
        let Some(connection) = connections.get_mut(key) else { return };
        let path = connection.path(from);
        let pipe = connection.out_mut(from);
        while let Some(bytes) = pipe.segment() {
            match links.insist(path, names, bytes, SEND_RETRIES, context) {
                Ok(arrival) => {
                    let arrival = arrival.max(pipe.last_arrival);
                    pipe.sent(bytes, arrival);
                    let back = arrival.since(context.now);
                    events.push(arrival, NetworkEvent::Bytes { connection: key, from, count: bytes, back });
                }
                Err(end) => {
                    pipe.is_stalled = true;
                    events.push(end.max(pipe.last_arrival), NetworkEvent::GiveUp { connection: key, to: from });
                }
            }
        }
        if pipe.is_fin_due() {
            match links.insist(path, names, 0, SEND_RETRIES, context) {
                Ok(arrival) => {
                    pipe.fin = Fin::Sent;
                    pipe.last_arrival = arrival.max(pipe.last_arrival);
                    events.push(pipe.last_arrival, NetworkEvent::Fin { connection: key, from });
                }
                Err(end) => {
                    pipe.is_stalled = true;
                    events.push(end.max(pipe.last_arrival), NetworkEvent::GiveUp { connection: key, to: from });
                }
            }
        }
    }

    /// Sends RST, behind what is on its way; nothing else follows. It is not repeated: a later packet of the other end gets
    /// another.
    fn send_reset(&mut self, key: SlabKey, from: ConnectionSide, context: &mut OpContext<'_>) {
        let Network { connections, links, events, names, held, .. } = self;
        let Some(connection) = connections.get_mut(key) else { return };
        let path = connection.path(from);
        let pipe = connection.out_mut(from);
        *held -= pipe.forget_waiting();
        if let Some(arrival) = links.attempt(path, names, 0, context) {
            events.push(arrival.max(pipe.last_arrival), NetworkEvent::Reset { connection: key, to: from.other() });
        }
    }

    pub(super) fn bytes_arrive(
        &mut self,
        key: SlabKey,
        from: ConnectionSide,
        count: usize,
        back: Duration,
        now: Instant,
    ) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let reader = connection.end(from.other());
        let (is_closed, is_unwanted) = (reader.is_closed, reader.is_closed || reader.is_read_over);
        let pipe = connection.out_mut(from);
        if pipe.arrive(count) && is_unwanted {
            self.held -= pipe.discard();
            if is_closed {
                self.events.push(now.after(back), NetworkEvent::Reset { connection: key, to: from });
                self.tcp_stops_lingering((key, from.other()));
            }
        }
    }

    pub(super) fn fin_arrives(&mut self, key: SlabKey, from: ConnectionSide) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.out_mut(from).fin = Fin::Arrived;
    }

    /// The end `to` learns that the connection is no more, because of `error`.
    pub(super) fn breaks(&mut self, key: SlabKey, to: ConnectionSide, error: SocketErrorCode) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        // Behind the end of what is received, Linux says EPIPE, which is `closed` here.
        let was_over = connection.out(to.other()).fin == Fin::Arrived;
        let end = connection.end_mut(to);
        if end.is_closed || end.is_broken {
            return;
        }
        end.is_broken = true;
        end.error = (!was_over).then_some(error);
        self.held -= connection.out_mut(to).forget_waiting();
        self.held -= connection.out_mut(to.other()).cut();
    }

    /// The socket of an end is no more.
    pub(super) fn close_end(
        &mut self,
        key: SlabKey,
        side: ConnectionSide,
        leave: CloseMode,
        context: &mut OpContext<'_>,
    ) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        let was_broken = connection.end(side).is_broken;
        connection.end_mut(side).is_closed = true;
        let incoming = connection.out_mut(side.other());
        let has_unread = incoming.has_unread();
        self.held -= incoming.discard();
        match (was_broken, leave) {
            (true, _) => {}
            (false, CloseMode::Close) if !has_unread => self.end_writing(key, side, context),
            (false, CloseMode::Close | CloseMode::Abort) => self.send_reset(key, side, context),
        }
        self.remove_if_over(key);
    }

    /// The socket of an end is no more, and will say nothing of it: the other end learns it `back` from now.
    pub(super) fn abandon_end(&mut self, key: SlabKey, side: ConnectionSide, now: Instant, back: Duration) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.end_mut(side).is_closed = true;
        self.held -= connection.out_mut(side.other()).discard();
        self.events.push(now.after(back), NetworkEvent::Reset { connection: key, to: side.other() });
        self.remove_if_over(key);
    }

    fn remove_if_over(&mut self, key: SlabKey) {
        let is_over = |connection: &Connection| connection.client.is_closed && connection.server.is_closed;
        if self.connections.get(key).is_some_and(is_over)
            && let Some(connection) = self.connections.remove(key)
        {
            self.held -= connection.up.len() + connection.down.len();
        }
    }

    /// Nothing more is written.
    pub(super) fn end_writing(&mut self, key: SlabKey, side: ConnectionSide, context: &mut OpContext<'_>) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        if connection.out(side).fin == Fin::Open {
            connection.end_mut(side).has_ended_first = connection.out(side.other()).fin != Fin::Arrived;
            connection.out_mut(side).fin = Fin::Wanted;
            self.pump(key, side, context);
        }
    }

    /// Nothing more is read.
    pub(super) fn end_reading(&mut self, key: SlabKey, side: ConnectionSide) {
        let Some(connection) = self.connections.get_mut(key) else { return };
        connection.end_mut(side).is_read_over = true;
        self.held -= connection.out_mut(side.other()).discard();
    }

    /// Where nothing has come, that is the end; what comes later can be read. So are sockets of Linux.
    pub(super) fn shut_reading(&mut self, key: SlabKey, side: ConnectionSide) {
        if let Some(connection) = self.connections.get_mut(key) {
            connection.end_mut(side).is_receive_shut = true;
        }
    }

    /// Bytes that have arrived, at most `max`; none when there are none yet.
    pub(super) fn read(
        &mut self,
        key: SlabKey,
        side: ConnectionSide,
        max: usize,
        context: &mut OpContext<'_>,
    ) -> Result<Vec<u8>, StreamEnd> {
        let Some(connection) = self.connections.get_mut(key) else { return Err(StreamEnd::Closed) };
        let end = connection.end(side);
        if end.is_read_over {
            return Err(StreamEnd::Closed);
        }
        if max == 0 {
            return Ok(Vec::new());
        }
        let is_broken = end.is_broken;
        let pipe = connection.out_mut(side.other());
        if pipe.readable() > 0 {
            let bytes = pipe.read(max.min(TRANSFER_BYTES_MAX));
            self.held -= bytes.len();
            self.pump(key, side.other(), context);
            return Ok(bytes);
        }
        let is_over = pipe.fin == Fin::Arrived;
        if !is_over && !is_broken {
            return if connection.end(side).is_receive_shut { Err(StreamEnd::Closed) } else { Ok(Vec::new()) };
        }
        let end = connection.end_mut(side);
        end.is_read_over = true;
        let error = if is_over { None } else { end.error.take() };
        Err(error.map_or(StreamEnd::Closed, StreamEnd::Failed))
    }

    /// Bytes that may be written.
    pub(super) fn permit(&self, key: SlabKey, side: ConnectionSide) -> Result<usize, StreamEnd> {
        let Some(connection) = self.connections.get(key) else { return Err(StreamEnd::Closed) };
        let end = connection.end(side);
        if let Some(told) = end.write_end {
            return Err(told);
        }
        if connection.out(side).fin != Fin::Open {
            return Err(StreamEnd::Closed);
        }
        // The write itself tells what is wrong, as with a real socket.
        if end.is_broken {
            return Ok(TRANSFER_BYTES_MAX);
        }
        let room = connection.out(side).room();
        Ok(if self.is_full() || room < ROOM_BYTES_MIN { 0 } else { room.min(TRANSFER_BYTES_MAX) })
    }

    /// Whether all buffers together are full.
    pub(super) fn is_full(&self) -> bool {
        self.held >= HELD_BYTES_MAX || self.events.len() >= PACKETS_MAX
    }

    /// Writes bytes, no more than were permitted.
    pub(super) fn write(
        &mut self,
        key: SlabKey,
        side: ConnectionSide,
        bytes: &[u8],
        context: &mut OpContext<'_>,
    ) -> Result<(), StreamEnd> {
        self.permit(key, side)?;
        let Some(connection) = self.connections.get_mut(key) else { return Err(StreamEnd::Closed) };
        if bytes.is_empty() {
            return Ok(());
        }
        let path = connection.path(side);
        if !context.faults.is_empty()
            && !path.is_inside()
            && !connection.end(side).is_broken
            && context.injects(&CONNECTION_RESET, &self.links.name(path, &self.names)).is_some()
        {
            self.send_reset(key, side, context);
            self.breaks(key, side, SocketErrorCode::ConnectionReset);
        }
        let Some(connection) = self.connections.get_mut(key) else { return Err(StreamEnd::Closed) };
        let end = connection.end_mut(side);
        if end.is_broken {
            let told = end.error.take().map_or(StreamEnd::Closed, StreamEnd::Failed);
            end.write_end = Some(told);
            return Err(told);
        }
        connection.out_mut(side).write(bytes);
        self.held += bytes.len();
        self.pump(key, side, context);
        Ok(())
    }
}
