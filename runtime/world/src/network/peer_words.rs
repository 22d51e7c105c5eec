//! What a guest waits for at a socket, with the other side's name: `bytes from the connection with server:80`.

use super::address::{self, Route};
use super::tcp::State;
use super::{Network, Readiness, TcpId};
use fozzy_trace::NodeId;
use std::net::SocketAddr;

impl Network {
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
