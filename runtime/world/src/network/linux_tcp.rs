//! What TCP sockets that follow Linux have beside those of `wasi:sockets`.
//!
//! ```text
//! bind     one address is that of two sockets only if both have SO_REUSEADDR and neither listens; who closes first keeps it for a minute,
//!          unless the connection is reset meanwhile
//! [::]     stands for IPv4, too, unless IPV6_V6ONLY is set
//! shutdown of a listener ends its listening; of the reading side, what comes later can be read
//! ```
//!
//! So are they in `inet_csk_get_port`, `inet_shutdown` and `tcp_poll` of Linux.
//! Invariant: sockets that do not follow Linux are as they are without this file.
//! Not here: who asks for it (`fozzy-host`, sockets of WASI preview 1).

use super::address::{self, AddressFamily};
use super::error::SocketErrorCode;
use super::event::ConnectionSide;
use super::slab::SlabKey;
use super::tcp::{Shutdown, State};
use super::{Network, TcpId};
use fozzy_trace::{Duration, Instant, NodeId};
use std::net::SocketAddr;

/// So long a machine keeps the address of a connection that it has closed first (`TCP_TIMEWAIT_LEN` of Linux).
const TIME_WAIT: Duration = Duration::from_millis(60_000);

/// So many of them a machine remembers, the last ones.
const LINGERING_MAX: usize = 4_096;

/// An end of a connection that was closed first: its address is not given to whoever does not ask for it by `SO_REUSEADDR`.
#[derive(Clone, Debug)]
pub(super) struct LingeringEnd {
    address: SocketAddr,
    of: (SlabKey, ConnectionSide),
    until: Instant,
    /// Whether its socket had `SO_REUSEADDR`.
    reuses: bool,
}

impl Network {
    /// The new socket is as those of Linux from now on.
    pub fn tcp_follow_linux(&mut self, id: TcpId) {
        let is_dual = self.tcp_family(id) == AddressFamily::Ipv6;
        let socket = self.tcp_mut(id);
        (socket.is_linux, socket.is_dual, socket.reuses) = (true, is_dual, false);
    }

    /// Binds a socket that follows Linux.
    ///
    /// # Errors
    /// As [`Network::tcp_start_bind`], and `address-in-use` where the address is that of another socket, or was a short time ago.
    pub fn tcp_bind(&mut self, id: TcpId, address: SocketAddr, now: Instant) -> Result<(), SocketErrorCode> {
        self.tcp_take_address(id, address, Some(now))?;
        self.tcp_finish_bind(id)
    }

    /// Sets `SO_REUSEADDR` of a socket that follows Linux.
    pub fn tcp_set_reuse(&mut self, id: TcpId, reuses: bool) {
        self.tcp_mut(id).reuses = reuses;
    }

    /// `SO_REUSEADDR`.
    #[must_use]
    pub fn tcp_reuses(&self, id: TcpId) -> bool {
        self.tcp(id).reuses
    }

    /// Sets `IPV6_V6ONLY` of a socket of IPv6 that follows Linux.
    ///
    /// # Errors
    /// `invalid-state` when it has an address.
    pub fn tcp_set_v6_only(&mut self, id: TcpId, is_only: bool) -> Result<(), SocketErrorCode> {
        let socket = self.tcp_mut(id);
        if socket.bound.is_some() || !matches!(socket.state, State::Idle) {
            return Err(SocketErrorCode::InvalidState);
        }
        socket.is_dual = !is_only;
        Ok(())
    }

    /// Whether it stands for IPv4, too, as one of IPv6.
    #[must_use]
    pub fn tcp_is_dual(&self, id: TcpId) -> bool {
        self.tcp(id).is_dual
    }

    /// Whether `POLLHUP` is said of it: there is no connection, or both its directions are over.
    #[must_use]
    pub fn tcp_is_hung_up(&self, id: TcpId) -> bool {
        match &self.tcp(id).state {
            State::Idle | State::Closed(_) | State::Connecting(Some(Err(_))) => true,
            State::Connecting(None | Some(Ok(_))) | State::Listening(_) => false,
            State::Connected(key, side) => self.connections.get(*key).is_none_or(|one| one.is_hung_up(*side)),
        }
    }

    /// Why its connection is no more, if no call has told it yet; it is told once.
    pub fn tcp_take_error(&mut self, id: TcpId) -> Option<SocketErrorCode> {
        let State::Connected(key, side) = self.tcp(id).state else { return None };
        self.connections.get_mut(key)?.take_error(side)
    }

    /// Whether the address cannot be that of the socket, since another one has it, or had it a short time ago.
    pub(super) fn tcp_is_taken(&self, id: TcpId, address: SocketAddr, now: Instant) -> bool {
        let socket = self.tcp(id);
        let (own, node, reuses) = ((address, socket.is_dual), socket.node, socket.reuses);
        let is_kept = self.hosts[node.0 as usize].lingering.iter().any(|kept| {
            let is_shared = reuses && kept.reuses;
            kept.until > now && !is_shared && address::exclude(own, (kept.address, false))
        });
        is_kept
            || self.tcp.iter().filter(|(key, other)| *key != id.0 && other.node == node).any(|(_, other)| {
                let is_shared = reuses && other.reuses && !matches!(other.state, State::Listening(_));
                let local = other.bound.or_else(|| match &other.state {
                    State::Connected(key, side) => self.connections.get(*key).map(|one| one.end(*side).local),
                    _ => None,
                });
                !is_shared && local.is_some_and(|local| address::exclude(own, (local, other.is_dual)))
            })
    }

    /// A socket with this address is closed: its machine keeps the address if the other side has not closed before.
    pub(super) fn tcp_linger(
        &mut self,
        (node, bound, reuses): (NodeId, SocketAddr, bool),
        of: (SlabKey, ConnectionSide),
        now: Instant,
    ) {
        if !self.connections.get(of.0).is_some_and(|connection| connection.closes_first(of.1)) {
            return;
        }
        let lingering = &mut self.host_mut(node).lingering;
        // All are kept for the same time, so that those whose time is over are the first ones.
        while lingering.front().is_some_and(|kept| kept.until <= now) || lingering.len() >= LINGERING_MAX {
            lingering.pop_front();
        }
        lingering.push_back(LingeringEnd { address: bound, of, until: now.after(TIME_WAIT), reuses });
    }

    /// A connection is reset at this end: where that is closed, its machine keeps the address no longer.
    pub(super) fn tcp_stops_lingering(&mut self, of: (SlabKey, ConnectionSide)) {
        for host in self.hosts.iter_mut().filter(|host| !host.lingering.is_empty()) {
            host.lingering.retain(|kept| kept.of != of);
        }
    }

    /// Shuts down a socket that listens: whoever is not accepted yet is reset, and it keeps its address.
    pub(super) fn tcp_shut_listener(&mut self, id: TcpId, what: Shutdown, now: Instant) {
        let socket = self.tcp_mut(id);
        if what == Shutdown::Send || !matches!(socket.state, State::Listening(_)) {
            return;
        }
        let (node, is_dual, bound) = (socket.node, socket.is_dual, socket.bound.expect("only what is bound listens"));
        let State::Listening(listening) = std::mem::replace(&mut socket.state, State::Idle) else { return };
        socket.stale += listening.coming;
        for address in address::heard_at(bound, is_dual) {
            self.host_mut(node).listeners.remove(&(address.port(), address.ip()));
        }
        for key in listening.queue {
            self.abandon_end(key, ConnectionSide::Server, now, Duration(0));
        }
        self.advance(now);
    }

    /// Whether a connection that arrives at a socket is one of before its shutdown, which is forgotten then.
    pub(super) fn tcp_is_stale(&mut self, id: TcpId) -> bool {
        let Some(socket) = self.tcp.get_mut(id.0) else { return false };
        let is_stale = socket.stale > 0;
        socket.stale -= usize::from(is_stale);
        is_stale
    }
}
