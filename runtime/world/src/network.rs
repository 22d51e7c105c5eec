//! The simulated network between the machines of a run, and inside each.
//!
//! ```text
//! machine 0: socket ─▶ connection ─▶ pipe ─▶ link 0->1 ─▶ event at 2.1 ms ─▶ socket :machine 1
//!            answers of wasi:sockets  bytes    time, loss    arrives            the guest's poll is ready
//! ```
//!
//! Invariants: plain values, so a clone is a checkpoint; what happens at the same moment happens in the order in which it
//! was caused; time, loss and faults are decided when something is sent, so [`Network::advance`] asks no questions. Bounds are
//! below; each is met as a real machine meets its own (no room, no socket, a lost datagram).
//! Not here: who waits (`World`), WIT (`fozzy-host`), wasi:http (`crate::http`).

mod address;
mod connection;
mod error;
mod event;
mod link;
mod linux_tcp;
mod lookup;
mod message_log;
mod options;
mod peer_words;
mod pipe;
mod ports;
mod slab;
mod tcp;
#[cfg(test)]
mod tests;
mod udp;

pub use address::{AddressFamily, address_of};
pub use error::{SocketErrorCode, StreamEnd};
pub use options::{SocketOption, SocketOptions};
pub use peer_words::TcpStreams;
pub use tcp::{Shutdown, TcpStage};
pub use udp::DATAGRAMS_MAX;

use crate::OpContext;
use connection::{CloseMode, Connection};
use event::{NetworkEvent, NetworkEvents};
use fozzy_trace::plan::NetworkPlan;
use fozzy_trace::{DatagramStep, Instant, NodeId};
use link::Links;
use linux_tcp::LingeringEnd;
use message_log::MessageLog;
use ports::PortTable;
use slab::{Slab, SlabKey};
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use tcp::TcpSocket;
use udp::UdpSocket;

/// Sockets that one machine may have; one more is `new-socket-limit`. Enough for a busy server, and each is small.
pub const SOCKETS_MAX: u32 = 10_000;
/// Connections of all machines, also those not yet accepted or not fully closed. With more, requests for
/// connections are ignored.
pub const CONNECTIONS_MAX: usize = 1 << 16;
/// Packets on their way at once. With more, datagrams are lost and streams take nothing.
pub const PACKETS_MAX: usize = 1 << 18;
/// Bytes that all sockets hold together. With more, datagrams are lost and streams take nothing.
pub const HELD_BYTES_MAX: usize = 256 << 20;

/// A TCP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TcpId(SlabKey);

/// A UDP socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UdpId(SlabKey);

/// A socket, of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketId {
    /// Of TCP.
    Tcp(TcpId),
    /// Of UDP.
    Udp(UdpId),
}

/// What a guest waits for at a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readiness {
    /// The end of what was started, or a connection to accept.
    Socket(TcpId),
    /// Bytes, or the end of them.
    Readable(TcpId),
    /// Room for bytes.
    Writable(TcpId),
    /// A datagram.
    Datagram(UdpId),
}

impl Readiness {
    /// Whether room to write is waited for.
    pub(crate) fn is_room(self) -> bool {
        matches!(self, Readiness::Writable(_))
    }
}

impl fmt::Display for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Readiness::Socket(_) => "a connection",
            Readiness::Readable(_) => "bytes from a connection",
            Readiness::Writable(_) => "room to write to a connection",
            Readiness::Datagram(_) => "a datagram",
        })
    }
}

/// Sockets and packets of all machines.
#[derive(Clone, Debug)]
pub struct Network {
    /// By machine.
    names: Vec<Arc<str>>,
    /// By machine.
    hosts: Vec<Host>,
    links: Links,
    events: NetworkEvents,
    tcp: Slab<TcpSocket>,
    udp: Slab<UdpSocket>,
    connections: Slab<Connection>,
    /// Bytes in pipes, inboxes and datagrams on their way.
    held: usize,
    /// Kinds of messages that were read; `None` unless requested.
    messages: Option<MessageLog>,
    /// Datagrams that were sent so far.
    datagrams: u64,
    /// What became of datagrams in the call of a guest that is answered now.
    datagram_steps: Vec<DatagramStep>,
}

/// What the kernel of one machine knows of its sockets.
#[derive(Clone, Debug, Default)]
struct Host {
    sockets: u32,
    tcp_ports: PortTable,
    udp_ports: PortTable,
    listeners: BTreeMap<(u16, IpAddr), TcpId>,
    receivers: BTreeMap<(u16, IpAddr), UdpId>,
    /// Of sockets that follow Linux.
    lingering: VecDeque<LingeringEnd>,
}

/// Who is bound to the address, or to all addresses.
fn bound_to<T: Copy>(sockets: &BTreeMap<(u16, IpAddr), T>, to: SocketAddr) -> Option<T> {
    let everywhere = address::unspecified(AddressFamily::of(to.ip()));
    sockets.get(&(to.port(), to.ip())).or_else(|| sockets.get(&(to.port(), everywhere))).copied()
}

/// Whether a socket is bound exclusively to the address.
fn excludes<T>(sockets: &BTreeMap<(u16, IpAddr), T>, address: SocketAddr) -> bool {
    let lowest = (address.port(), IpAddr::from([0; 4]));
    let highest = (address.port(), IpAddr::from([u8::MAX; 16]));
    sockets.range(lowest..=highest).any(|((_, ip), _)| address::overlap(*ip, address.ip()))
}

impl Host {
    fn listener(&self, to: SocketAddr) -> Option<TcpId> {
        bound_to(&self.listeners, to)
    }

    fn receiver(&self, to: SocketAddr) -> Option<UdpId> {
        bound_to(&self.receivers, to)
    }

    fn is_listened_at(&self, address: SocketAddr) -> bool {
        excludes(&self.listeners, address)
    }

    fn is_received_at(&self, address: SocketAddr) -> bool {
        excludes(&self.receivers, address)
    }
}

impl Network {
    /// A network of machines with these names, in the order of their ids. The first runs the target.
    #[must_use]
    pub fn new(plan: &NetworkPlan, names: Vec<String>) -> Network {
        let mut network = Network {
            names: Vec::new(),
            hosts: Vec::new(),
            links: Links::new(plan),
            events: NetworkEvents::default(),
            tcp: Slab::default(),
            udp: Slab::default(),
            connections: Slab::default(),
            held: 0,
            messages: None,
            datagrams: 0,
            datagram_steps: Vec::new(),
        };
        for (number, name) in (0..).zip(names) {
            network.join(NodeId(number), name);
        }
        network
    }

    /// Notes from now on which kinds of messages are read.
    pub fn observe_messages(&mut self) {
        self.messages = Some(MessageLog::default());
    }

    /// A line came to the standard input of a machine.
    pub(crate) fn note_line(&mut self, node: NodeId, line: &[u8]) {
        if let Some(messages) = &mut self.messages {
            messages.note_line(node, line);
        }
    }

    /// Which kinds of messages were read after which others, by each machine: a number for each pair.
    pub fn messages(&self) -> impl Iterator<Item = u64> + '_ {
        self.messages.iter().flat_map(MessageLog::pairs)
    }

    /// The machine `node` joins, under this name. Machines join in the order of their numbers, each once.
    pub fn join(&mut self, node: NodeId, name: String) {
        assert_eq!(self.hosts.len(), node.0 as usize, "names, addresses and machines have the same numbers");
        self.names.push(name.into());
        self.hosts.push(Host::default());
    }

    /// The program of a machine has ended: its sockets close as a kernel closes them. The machine stays, and refuses
    /// connections.
    pub fn close_node(&mut self, node: NodeId, context: &mut OpContext<'_>) {
        self.end_node(node, |_| CloseMode::Close, context);
    }

    /// The program of a machine is killed. Sockets that follow Linux are closed as its kernel closes them; the others reset their
    /// peers, and what they had not sent is gone.
    pub fn kill_node(&mut self, node: NodeId, context: &mut OpContext<'_>) {
        let leave = |socket: &TcpSocket| if socket.is_linux { CloseMode::Close } else { CloseMode::Abort };
        self.end_node(node, leave, context);
    }

    /// Removes a machine. Its name and addresses are never reused, and connections to it are refused.
    pub fn leave(&mut self, node: NodeId) {
        self.links.forget(node);
    }

    /// A machine loses power: what it had not sent is gone, and its peers are reset, as the machine that is up again
    /// answers packets of connections that it does not know.
    pub fn lose_node(&mut self, node: NodeId, context: &mut OpContext<'_>) {
        self.end_node(node, |_| CloseMode::Abort, context);
        self.forget_lingering(node);
    }

    /// The machine keeps no address of a connection that is over.
    pub(crate) fn forget_lingering(&mut self, node: NodeId) {
        self.host_mut(node).lingering.clear();
    }

    /// All sockets of a machine go, each as `leave` says.
    fn end_node(&mut self, node: NodeId, leave: impl Fn(&TcpSocket) -> CloseMode, context: &mut OpContext<'_>) {
        let own = self.tcp.iter().filter(|(_, socket)| socket.node == node);
        let tcp: Vec<(SlabKey, CloseMode)> = own.map(|(key, socket)| (key, leave(socket))).collect();
        let udp: Vec<SlabKey> = self.udp.iter().filter(|(_, socket)| socket.node == node).map(|(key, _)| key).collect();
        for (key, leave) in tcp {
            self.tcp_close(TcpId(key), leave, context);
        }
        for key in udp {
            self.udp_close(UdpId(key));
        }
        self.advance(context.now);
    }

    /// The addresses of a name: of a machine, of `localhost`, or the address that it is.
    ///
    /// # Errors
    /// `invalid-argument` for what cannot be a name, `name-unresolvable` for an unknown one.
    pub fn resolve(&self, name: &str) -> Result<Vec<IpAddr>, SocketErrorCode> {
        lookup::resolve(name, &self.names)
    }

    /// When the next packet arrives or timer expires; `None` when nothing is on its way.
    #[must_use]
    pub fn next_event(&self) -> Option<Instant> {
        self.events.next()
    }

    /// Performs every arrival and timer that is due at `now`.
    #[inline]
    pub fn advance(&mut self, now: Instant) {
        // Asked before and after each call of a socket, and mostly nothing is.
        if self.events.next().is_some_and(|at| at <= now) {
            self.happen_until(now);
        }
    }

    fn happen_until(&mut self, now: Instant) {
        while let Some((at, event)) = self.events.pop(now) {
            self.happen(event, at);
        }
    }

    fn happen(&mut self, event: NetworkEvent, at: Instant) {
        match event {
            NetworkEvent::Syn(syn) => self.syn_arrives(*syn, at),
            NetworkEvent::ConnectEnds { socket, result } => self.connect_ends(socket, result, at),
            NetworkEvent::Acceptable { listener, connection, back } => {
                self.becomes_acceptable(listener, connection, back, at)
            }
            NetworkEvent::Bytes { connection, from, count, back } => {
                self.bytes_arrive(connection, from, count, back, at)
            }
            NetworkEvent::Fin { connection, from } => self.fin_arrives(connection, from),
            NetworkEvent::Reset { connection, to } => {
                self.tcp_stops_lingering((connection, to));
                self.breaks(connection, to, SocketErrorCode::ConnectionReset);
            }
            NetworkEvent::GiveUp { connection, to } => self.breaks(connection, to, SocketErrorCode::Timeout),
            NetworkEvent::Datagram(datagram) => self.datagram_arrives(*datagram, at),
            NetworkEvent::Unheard { socket, to } => self.datagram_unheard(socket, to),
        }
    }

    /// Whether what is waited for is there. What a closed socket was waited for is.
    #[must_use]
    pub fn is_ready(&self, readiness: Readiness) -> bool {
        match readiness {
            Readiness::Socket(id) => self.tcp_is_ready(id),
            Readiness::Readable(id) => self.tcp_is_readable(id),
            Readiness::Writable(id) => self.tcp_is_writable(id),
            Readiness::Datagram(id) => self.udp_is_readable(id),
        }
    }

    fn host_mut(&mut self, node: NodeId) -> &mut Host {
        &mut self.hosts[node.0 as usize]
    }

    /// One more socket of the machine.
    fn count_socket(&mut self, node: NodeId) -> Result<(), SocketErrorCode> {
        let host = self.host_mut(node);
        if host.sockets >= SOCKETS_MAX {
            return Err(SocketErrorCode::NewSocketLimit);
        }
        host.sockets += 1;
        Ok(())
    }
}
