//! UDP sockets as `wasi:sockets/udp` shows them.
//!
//! ```text
//! unbound ─ start-bind ─ finish-bind ─▶ bound ─ stream(none) ─▶ sends to anybody, hears anybody
//!                                          └── stream(peer) ─▶ sends to the peer, hears the peer only
//! ```
//!
//! What is answered in which state is wasmtime-wasi's (its `sockets/udp.rs` and `p2/host/udp.rs`), and so Linux's.
//! Invariant: a datagram arrives whole or not at all. Those for a full buffer are lost.
//! Not here: broadcast and multicast.

use super::address::{self, AddressFamily, Route};
use super::error::SocketErrorCode;
use super::event::{Datagram, NetworkEvent};
use super::link::LinkPath;
use super::options::{SocketOption, SocketOptions};
use super::tcp::Shutdown;
use super::{Network, UdpId};
use crate::OpContext;
use crate::fault::{DUPLICATE, REORDER};
use fozzy_trace::nemesis::{REORDER_MS, SHARE_PERCENT};
use fozzy_trace::{DatagramStep, Duration, Instant, NodeId, Purpose};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

/// Datagrams that one call sends or receives at the most (wasmtime-wasi, `MAX_DATAGRAMS`).
pub const DATAGRAMS_MAX: u64 = 16;
/// One call receives no more datagrams when it has this many bytes (wasmtime-wasi, `MAX_READ_SIZE_ALLOC`).
const RECEIVE_BYTES_MAX: usize = 64 * 1024;
/// Headers of UDP and IPv4; of UDP alone. With the content, IP has 16 bits for the length.
const HEADERS_BYTES: (usize, usize) = (28, 8);
/// What a datagram costs in a buffer beside its content, so that empty ones fill it too (as in Linux, about).
const OVERHEAD_BYTES: usize = 512;

/// A datagram that has arrived.
#[derive(Clone, Debug)]
struct ArrivedDatagram {
    number: u64,
    from: SocketAddr,
    bytes: Vec<u8>,
}

#[derive(Clone, Debug)]
pub(super) struct UdpSocket {
    pub(super) node: NodeId,
    family: AddressFamily,
    is_binding: bool,
    /// What it is bound to.
    bound: Option<SocketAddr>,
    /// The same, or the address towards the peer.
    pub(super) local: Option<SocketAddr>,
    pub(super) peer: Option<SocketAddr>,
    options: SocketOptions,
    inbox: VecDeque<ArrivedDatagram>,
    inbox_bytes: usize,
    /// The error that the next operation returns.
    error: Option<SocketErrorCode>,
    /// Handles of the guest that need it, and those of them that are streams.
    handles: u32,
    streams: u32,
    /// Whether it stands for IPv4, too, as one of IPv6.
    is_dual: bool,
    /// `SO_REUSEADDR`, which is told and changes nothing.
    reuses: bool,
    /// Whether receiving and sending are shut down.
    shut: (bool, bool),
}

impl UdpSocket {
    /// Whether it can be given an address of this kind.
    fn takes(&self, ip: IpAddr) -> bool {
        address::is_taken_by(ip, self.family, self.is_dual, self.bound)
    }
}

impl Network {
    /// A new socket of `node`, with one handle.
    ///
    /// # Errors
    /// `new-socket-limit`.
    pub fn udp_create(&mut self, node: NodeId, family: AddressFamily) -> Result<UdpId, SocketErrorCode> {
        self.count_socket(node)?;
        Ok(UdpId(self.udp.insert(UdpSocket {
            node,
            family,
            is_binding: false,
            bound: None,
            local: None,
            peer: None,
            options: SocketOptions::default(),
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            error: None,
            handles: 1,
            streams: 0,
            is_dual: false,
            reuses: false,
            shut: (false, false),
        })))
    }

    fn udp(&self, id: UdpId) -> &UdpSocket {
        self.udp.get(id.0).expect("a socket lives as long as its handles")
    }

    fn udp_mut(&mut self, id: UdpId) -> &mut UdpSocket {
        self.udp.get_mut(id.0).expect("a socket lives as long as its handles")
    }

    /// The socket's own handle is dropped. Without any handle it closes.
    pub fn udp_release(&mut self, id: UdpId) {
        let Some(socket) = self.udp.get_mut(id.0) else { return };
        socket.handles -= 1;
        if socket.handles == 0 {
            self.udp_close(id);
        }
    }

    /// The handle of one of its streams is dropped.
    pub fn udp_release_stream(&mut self, id: UdpId) {
        let Some(socket) = self.udp.get_mut(id.0) else { return };
        socket.streams -= 1;
        self.udp_release(id);
    }

    pub(super) fn udp_close(&mut self, id: UdpId) {
        let Some(socket) = self.udp.remove(id.0) else { return };
        self.held -= socket.inbox.iter().map(|one| one.bytes.len()).sum::<usize>();
        let host = self.host_mut(socket.node);
        host.sockets -= 1;
        if let Some(bound) = socket.bound {
            host.udp_ports.give_back(bound.port());
            for address in address::heard_at(bound, socket.is_dual) {
                host.receivers.remove(&(address.port(), address.ip()));
            }
        }
    }

    /// `start-bind`.
    ///
    /// # Errors
    /// As `wasi:sockets/udp` says.
    pub fn udp_start_bind(&mut self, id: UdpId, address: SocketAddr) -> Result<(), SocketErrorCode> {
        let socket = self.udp(id);
        if socket.is_binding {
            return Err(SocketErrorCode::ConcurrencyConflict);
        }
        if socket.bound.is_some() {
            return Err(SocketErrorCode::InvalidState);
        }
        if !socket.takes(address.ip()) {
            return Err(SocketErrorCode::InvalidArgument);
        }
        let (node, is_dual) = (socket.node, socket.is_dual);
        if !address::is_bindable(node, address.ip()) {
            return Err(SocketErrorCode::AddressNotBindable);
        }
        let host = self.host_mut(node);
        let port = match address.port() {
            0 => host.udp_ports.take_any()?,
            _ if address::heard_at(address, is_dual).any(|address| host.is_received_at(address)) => {
                return Err(SocketErrorCode::AddressInUse);
            }
            port => {
                host.udp_ports.take(port);
                port
            }
        };
        let bound = SocketAddr::new(address.ip(), port);
        for address in address::heard_at(bound, is_dual) {
            host.receivers.insert((address.port(), address.ip()), id);
        }
        let socket = self.udp_mut(id);
        (socket.bound, socket.local, socket.is_binding) = (Some(bound), Some(bound), true);
        Ok(())
    }

    /// `finish-bind`.
    ///
    /// # Errors
    /// `not-in-progress`.
    pub fn udp_finish_bind(&mut self, id: UdpId) -> Result<(), SocketErrorCode> {
        let is_binding = &mut self.udp_mut(id).is_binding;
        if std::mem::take(is_binding) { Ok(()) } else { Err(SocketErrorCode::NotInProgress) }
    }

    /// Whether streams of an earlier call of `stream` are still held; then `stream` is against its contract.
    #[must_use]
    pub fn udp_has_streams(&self, id: UdpId) -> bool {
        self.udp(id).streams > 0
    }

    /// `stream`: afterwards the socket has two more handles, a stream in each direction.
    ///
    /// # Errors
    /// As `wasi:sockets/udp` says.
    pub fn udp_stream(&mut self, id: UdpId, remote: Option<SocketAddr>) -> Result<(), SocketErrorCode> {
        let socket = self.udp(id);
        let bound = socket.bound.ok_or(SocketErrorCode::InvalidState)?;
        let node = socket.node;
        let remote = remote.map(address::plain);
        let local = match remote {
            None => bound,
            Some(remote) => {
                if !socket.takes(remote.ip()) || !address::is_remote(remote) {
                    return Err(SocketErrorCode::InvalidArgument);
                }
                if address::route(node, remote.ip(), self.hosts.len()) == Route::None {
                    return Err(SocketErrorCode::RemoteUnreachable);
                }
                SocketAddr::new(address::source(node, Some(bound.ip()), remote.ip())?, bound.port())
            }
        };
        let socket = self.udp_mut(id);
        (socket.local, socket.peer) = (Some(local), remote);
        socket.handles += 2;
        socket.streams += 2;
        // Only the peer is heard, also of those that were there before.
        if let Some(remote) = remote {
            let inbox = std::mem::take(&mut socket.inbox).into_iter();
            let (kept, dropped): (VecDeque<_>, VecDeque<_>) = inbox.partition(|one| one.from == remote);
            socket.inbox = kept;
            let bytes: usize = dropped.iter().map(|one| one.bytes.len()).sum();
            socket.inbox_bytes -= bytes + dropped.len() * OVERHEAD_BYTES;
            self.held -= bytes;
        }
        Ok(())
    }

    /// `local-address`.
    ///
    /// # Errors
    /// `invalid-state` when it is not bound.
    pub fn udp_local_address(&self, id: UdpId) -> Result<SocketAddr, SocketErrorCode> {
        self.udp(id).local.ok_or(SocketErrorCode::InvalidState)
    }

    /// `remote-address`.
    ///
    /// # Errors
    /// `invalid-state` when it has no peer.
    pub fn udp_remote_address(&self, id: UdpId) -> Result<SocketAddr, SocketErrorCode> {
        self.udp(id).peer.ok_or(SocketErrorCode::InvalidState)
    }

    /// `address-family`.
    #[must_use]
    pub fn udp_family(&self, id: UdpId) -> AddressFamily {
        self.udp(id).family
    }

    /// The options of the socket.
    #[must_use]
    pub fn udp_options(&self, id: UdpId) -> &SocketOptions {
        &self.udp(id).options
    }

    /// Sets an option of the socket.
    ///
    /// # Errors
    /// `invalid-argument` for zero.
    pub fn udp_set_option(&mut self, id: UdpId, option: SocketOption) -> Result<(), SocketErrorCode> {
        option.check()?;
        self.udp_mut(id).options.set(option);
        Ok(())
    }

    /// `check-send`: how many datagrams the next [`Network::udp_send`] calls may send together. Never zero: what finds no
    /// room is lost on its way.
    #[must_use]
    pub fn udp_check_send(&self) -> u64 {
        DATAGRAMS_MAX
    }

    /// Sends one datagram; a socket with a peer, to that one only.
    ///
    /// # Errors
    /// As `wasi:sockets/udp` says.
    pub fn udp_send(
        &mut self,
        id: UdpId,
        bytes: Vec<u8>,
        remote: Option<SocketAddr>,
        context: &mut OpContext<'_>,
    ) -> Result<(), SocketErrorCode> {
        let peer = self.udp(id).peer;
        let is_elsewhere = |to: SocketAddr| peer.is_some_and(|peer| address::plain(to) != peer);
        if bytes.len() <= usize::from(u16::MAX) && remote.is_some_and(is_elsewhere) {
            return Err(SocketErrorCode::InvalidArgument);
        }
        self.udp_send_to(id, bytes, remote, context)
    }

    /// Sends one datagram to `remote`, also where the socket has another peer, as sockets of Linux do; or else to its peer.
    ///
    /// # Errors
    /// As `wasi:sockets/udp` says.
    pub fn udp_send_to(
        &mut self,
        id: UdpId,
        bytes: Vec<u8>,
        remote: Option<SocketAddr>,
        context: &mut OpContext<'_>,
    ) -> Result<(), SocketErrorCode> {
        if bytes.len() > usize::from(u16::MAX) {
            return Err(SocketErrorCode::DatagramTooLarge);
        }
        let socket = self.udp_mut(id);
        let to = match (remote.map(address::plain), socket.peer) {
            (Some(to), _) if !socket.takes(to.ip()) || !address::is_remote(to) => {
                return Err(SocketErrorCode::InvalidArgument);
            }
            (None, None) => return Err(SocketErrorCode::InvalidArgument),
            (Some(to), _) | (None, Some(to)) => to,
        };
        if let Some(error) = socket.error.take() {
            return Err(error);
        }
        let headers = if to.is_ipv4() { HEADERS_BYTES.0 } else { HEADERS_BYTES.1 };
        if bytes.len() + headers > usize::from(u16::MAX) {
            return Err(SocketErrorCode::DatagramTooLarge);
        }
        if matches!(to.ip(), IpAddr::V4(ip) if ip.is_broadcast()) {
            return Err(SocketErrorCode::AccessDenied);
        }
        let (node, local) = (socket.node, socket.local.ok_or(SocketErrorCode::InvalidState)?);
        // One that has a peer of one family sends to the other family from its own address there.
        let own = socket.bound.filter(|_| local.is_ipv4() != to.is_ipv4()).unwrap_or(local);
        let from = SocketAddr::new(address::source(node, Some(own.ip()), to.ip())?, local.port());
        match address::route(node, to.ip(), self.hosts.len()) {
            Route::None => return Err(SocketErrorCode::RemoteUnreachable),
            Route::Nobody => {}
            Route::Machine(machine) => {
                let (number, there) = (self.datagrams, Duration(0));
                self.datagrams += 1;
                self.udp_transmit(Datagram { number, socket: id, machine, from, to, bytes, there }, node, context);
                self.advance(context.now);
            }
        }
        Ok(())
    }

    /// Sends a datagram on its way, maybe twice, maybe never.
    fn udp_transmit(&mut self, datagram: Datagram, node: NodeId, context: &mut OpContext<'_>) {
        let path = LinkPath { from: node, to: datagram.machine };
        let (mut copies, mut held_back) = (1, Duration(0));
        if !path.is_inside() && !context.faults.is_empty() {
            let link = self.links.name(path, &self.names);
            copies += u8::from(context.injects(&DUPLICATE, &link).is_some());
            held_back = Duration(context.injects(&REORDER, &link).unwrap_or(0));
            let harm = context.faults.harm(path.from, path.to, context.now);
            let one_in_five = |site: &str, context: &mut OpContext<'_>| {
                context.below(Purpose::Network, site, 100) + SHARE_PERCENT >= 100
            };
            copies += u8::from(harm.may_double && one_in_five("nemesis-duplicate of a packet", context));
            if harm.may_be_late && one_in_five("nemesis-reorder of a packet", context) {
                let ms = 1 + context.below(Purpose::Network, "nemesis-reorder by", REORDER_MS);
                held_back = Duration(held_back.0.saturating_add(ms * 1_000_000));
            }
        }
        let mut on_their_way = 0;
        for _ in 0..copies {
            let arrival = self.links.attempt(path, &self.names, datagram.bytes.len(), context);
            if let Some(arrival) = arrival.filter(|_| !self.is_full()) {
                let arrival = arrival.after(held_back);
                let there = arrival.since(context.now);
                self.held += datagram.bytes.len();
                on_their_way += 1;
                self.events.push(arrival, NetworkEvent::Datagram(Box::new(Datagram { there, ..datagram.clone() })));
            }
        }
        if !path.is_inside() {
            self.datagram_steps.push(DatagramStep::Sent {
                number: datagram.number,
                to: datagram.machine,
                bytes: datagram.bytes.len() as u64,
                copies: on_their_way,
                is_late: held_back > Duration(0),
            });
        }
    }

    /// What became of datagrams since this was asked last. Whoever lets a guest send or receive asks, so that it stays short.
    pub fn take_datagram_steps(&mut self) -> Vec<DatagramStep> {
        std::mem::take(&mut self.datagram_steps)
    }

    pub(super) fn datagram_arrives(&mut self, datagram: Datagram, now: Instant) {
        let Datagram { number, socket: sender, machine, from, to, bytes, there } = datagram;
        let receiver = self.hosts[machine.0 as usize].receiver(to);
        let hears = |socket: &UdpSocket| {
            let is_local = |local: SocketAddr| {
                address::heard_at(local, socket.is_dual).any(|local| address::overlap(local.ip(), to.ip()))
            };
            let is_address = socket.local.is_some_and(is_local);
            is_address && socket.peer.is_none_or(|peer| peer == from)
        };
        match receiver.and_then(|id| self.udp.get_mut(id.0)).filter(|socket| hears(socket)) {
            Some(socket) => {
                let cost = bytes.len() + OVERHEAD_BYTES;
                // One always fits, however small the buffer.
                let has_room = socket.inbox_bytes + cost <= socket.options.receive_buffer as usize;
                if has_room || socket.inbox.is_empty() {
                    socket.inbox_bytes += cost;
                    socket.inbox.push_back(ArrivedDatagram { number, from, bytes });
                } else {
                    self.held -= bytes.len();
                }
            }
            None => {
                self.held -= bytes.len();
                self.events.push(now.after(there), NetworkEvent::Unheard { socket: sender, to });
            }
        }
    }

    /// A machine reports that no socket listens there. Only a socket with that peer gets the error.
    pub(super) fn datagram_unheard(&mut self, id: UdpId, to: SocketAddr) {
        if let Some(socket) = self.udp.get_mut(id.0)
            && socket.peer == Some(to)
        {
            socket.error = Some(SocketErrorCode::ConnectionRefused);
        }
    }

    /// `receive`: datagrams that have arrived, at most `max`, each with its sender.
    ///
    /// # Errors
    /// `connection-refused` when the peer's machine said so.
    pub fn udp_receive(&mut self, id: UdpId, max: u64) -> Result<Vec<(SocketAddr, Vec<u8>)>, SocketErrorCode> {
        let socket = self.udp_mut(id);
        let (max, mut bytes) = (max.min(DATAGRAMS_MAX) as usize, 0);
        let mut received: Vec<ArrivedDatagram> = Vec::new();
        if max > 0
            && let Some(error) = socket.error.take()
        {
            return Err(error);
        }
        while received.len() < max && bytes < RECEIVE_BYTES_MAX {
            let Some(datagram) = socket.inbox.pop_front() else { break };
            bytes += datagram.bytes.len();
            socket.inbox_bytes -= datagram.bytes.len() + OVERHEAD_BYTES;
            received.push(datagram);
        }
        let node = socket.node;
        self.held -= bytes;
        if let Some(messages) = &mut self.messages {
            received.iter().for_each(|one| messages.note(node, &one.bytes));
        }
        let steps = received.iter().map(|one| DatagramStep::Received { number: one.number });
        self.datagram_steps.extend(steps);
        Ok(received.into_iter().map(|one| (one.from, one.bytes)).collect())
    }

    /// The new socket is as those of Linux from now on.
    pub fn udp_follow_linux(&mut self, id: UdpId) {
        let socket = self.udp_mut(id);
        socket.is_dual = socket.family == AddressFamily::Ipv6;
    }

    /// Sets `SO_REUSEADDR` of a socket that follows Linux. Two sockets of datagrams with one address are refused nevertheless.
    pub fn udp_set_reuse(&mut self, id: UdpId, reuses: bool) {
        self.udp_mut(id).reuses = reuses;
    }

    /// `SO_REUSEADDR`.
    #[must_use]
    pub fn udp_reuses(&self, id: UdpId) -> bool {
        self.udp(id).reuses
    }

    /// Sets `IPV6_V6ONLY` of a socket of IPv6 that follows Linux.
    ///
    /// # Errors
    /// `invalid-state` when it has an address.
    pub fn udp_set_v6_only(&mut self, id: UdpId, is_only: bool) -> Result<(), SocketErrorCode> {
        let socket = self.udp_mut(id);
        if socket.bound.is_some() {
            return Err(SocketErrorCode::InvalidState);
        }
        socket.is_dual = !is_only;
        Ok(())
    }

    /// Whether it stands for IPv4, too, as one of IPv6.
    #[must_use]
    pub fn udp_is_dual(&self, id: UdpId) -> bool {
        self.udp(id).is_dual
    }

    /// Shuts a socket with a peer down, as Linux does: a receive finds nothing where nothing has come, and nothing is sent.
    ///
    /// # Errors
    /// `invalid-state` when it has no peer.
    pub fn udp_shutdown(&mut self, id: UdpId, what: Shutdown) -> Result<(), SocketErrorCode> {
        let socket = self.udp_mut(id);
        if socket.peer.is_none() {
            return Err(SocketErrorCode::InvalidState);
        }
        socket.shut.0 |= what != Shutdown::Send;
        socket.shut.1 |= what != Shutdown::Receive;
        Ok(())
    }

    /// Whether receiving, and whether sending, are shut down.
    #[must_use]
    pub fn udp_is_shut(&self, id: UdpId) -> (bool, bool) {
        self.udp(id).shut
    }

    /// The error that the next operation would return; it is told once.
    pub fn udp_take_error(&mut self, id: UdpId) -> Option<SocketErrorCode> {
        self.udp_mut(id).error.take()
    }

    pub(super) fn udp_is_readable(&self, id: UdpId) -> bool {
        self.udp.get(id.0).is_none_or(|socket| !socket.inbox.is_empty() || socket.error.is_some() || socket.shut.0)
    }
}
