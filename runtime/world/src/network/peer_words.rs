//! What a guest waits for at a socket, with the other side's name: `bytes from the connection with server:80`.

use super::address::{self, Route};
use super::event::ConnectionSide;
use super::tcp::State;
use super::{Network, Readiness, TcpId};
use fozzy_trace::NodeId;
use std::net::SocketAddr;

/// The two streams of a connection, as one of its ends sees them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpStreams {
    /// The other side: its machine and port, or its address.
    pub name: String,
    /// The machine on the other side.
    pub peer: Option<NodeId>,
    /// The number of the stream that is read.
    pub incoming: u64,
    /// The number of the stream that is written.
    pub outgoing: u64,
}

impl Network {
    /// The streams of a socket that is connected.
    #[must_use]
    pub fn streams(&self, id: TcpId) -> Option<TcpStreams> {
        let State::Connected(connection, side) = self.tcp.get(id.0)?.state else { return None };
        let ends = self.connections.get(connection)?;
        let (number, is_client) = (connection.number() << 1, side == ConnectionSide::Client);
        let (outgoing, incoming) = (number | u64::from(is_client), number | u64::from(!is_client));
        Some(TcpStreams { name: self.peer_of(id)?, peer: Some(ends.end(side.other()).node), incoming, outgoing })
    }

    /// The streams that this readiness waits for.
    #[must_use]
    pub fn streams_awaited(&self, readiness: Readiness) -> Option<TcpStreams> {
        match readiness {
            Readiness::Readable(id) | Readiness::Writable(id) | Readiness::Socket(id) => self.streams(id),
            Readiness::Datagram(_) => None,
        }
    }

    /// What is waited for, in words for people.
    #[must_use]
    pub fn peer_words(&self, readiness: Readiness) -> String {
        let words = match readiness {
            Readiness::Socket(id) => self.port_of(id).map(|port| format!("a connection to its port {port}")),
            Readiness::Readable(id) => self.peer_of(id).map(|peer| format!("bytes from the connection with {peer}")),
            Readiness::Writable(id) => {
                self.peer_of(id).map(|peer| format!("room to write to the connection with {peer}"))
            }
            Readiness::Datagram(id) => self.udp.get(id.0).and_then(|socket| match (socket.peer, socket.local) {
                (Some(peer), _) => Some(format!("a datagram from {}", self.named(socket.node, peer))),
                (None, Some(local)) => Some(format!("a datagram to its port {}", local.port())),
                (None, None) => None,
            }),
        };
        words.unwrap_or_else(|| readiness.to_string())
    }

    /// The port of a socket that accepts connections.
    fn port_of(&self, id: TcpId) -> Option<u16> {
        let socket = self.tcp.get(id.0)?;
        matches!(socket.state, State::Listening(_)).then_some(socket.bound?.port())
    }

    fn peer_of(&self, id: TcpId) -> Option<String> {
        let socket = self.tcp.get(id.0)?;
        let State::Connected(connection, side) = socket.state else { return None };
        let remote = self.connections.get(connection)?.end(side).remote;
        Some(self.named(socket.node, remote))
    }

    /// An address with the name of its machine, as a guest of `from` sees it.
    fn named(&self, from: NodeId, address: SocketAddr) -> String {
        match address::route(from, address.ip(), self.names.len()) {
            Route::Machine(node) => format!("{}:{}", self.names[node.0 as usize], address.port()),
            Route::Nobody | Route::None => address.to_string(),
        }
    }
}
