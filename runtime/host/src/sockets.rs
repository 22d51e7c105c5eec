//! `wasi:sockets`: translation only; the network is in `fozzy-world`. Sockets of preview 1 are in `preview1`.
//!
//! ```text
//! tcp-socket handle ─▶ TcpId ─▶ Network::tcp_operation ─▶ ErrorCode ─▶ error-code
//! ```
//!
//! Invariants: every handle of a socket and of its streams holds the socket until it is dropped; an answer `would-block`
//! costs virtual time, so that a polling loop ends.

mod lookup;
mod stream;
mod tcp;
mod udp;

use crate::bindings::wasi::sockets::network::{
    ErrorCode, IpAddress, IpAddressFamily, IpSocketAddress, Ipv4SocketAddress, Ipv6SocketAddress,
};
use crate::bindings::wasi::sockets::{instance_network, network};
use crate::bindings::{IoErrorResource, NetworkResource as NetworkHandle, PollableResource};
use crate::call::{GuestStop, Host, Import, misuse};
use fozzy_trace::{Activity, Record};
use fozzy_world::network::{self as world, AddressFamily};
use fozzy_world::table::{Handle, StreamFailure};
use fozzy_world::{Network, OpContext, TableError, Wait};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use wasmtime::Result;
use wasmtime::component::Resource;

const INSTANCE_NETWORK: Import = Import::new("wasi:sockets/instance-network.instance-network");
const NETWORK_ERROR_CODE: Import = Import::new("wasi:sockets/network.network-error-code");
const DROP_NETWORK: Import = Import::new("wasi:sockets/network.network.drop");

/// What a function of WASI answers.
type SocketResult<T> = Result<std::result::Result<T, ErrorCode>>;
/// What the network answers.
type NetworkResult<T> = std::result::Result<T, world::SocketErrorCode>;

impl Host {
    /// Lets the network do something, after everything that is due by now.
    pub(crate) fn on_network<R>(&mut self, body: impl FnOnce(&mut Network, &mut OpContext<'_>) -> R) -> R {
        self.with_context(|world, context| {
            world.network.advance(context.now);
            body(&mut world.network, context)
        })
    }

    /// Tells an observer what the call has done with datagrams.
    pub(crate) fn tell_datagrams(&mut self) {
        let node = self.node;
        for step in self.world().network.take_datagram_steps() {
            self.run.tell(|world| Activity::Datagram { node, at: world.clock.now(), step });
        }
    }

    /// One operation on the network: `body` does it, and gives its handles if it makes any.
    fn socket_call<T: Record>(
        &mut self,
        import: Import,
        asked: impl Record,
        body: impl FnOnce(&mut Host) -> std::result::Result<NetworkResult<T>, GuestStop>,
    ) -> SocketResult<T> {
        self.call(import, asked, |host| body(host).map(|answer| host.told(answer)))
    }

    /// The answer for the guest. `WouldBlock` moves the clock, so that a loop that asks again and again comes to an
    /// end.
    fn told<T>(&mut self, answer: NetworkResult<T>) -> std::result::Result<T, ErrorCode> {
        if matches!(answer, Err(world::SocketErrorCode::WouldBlock)) {
            self.world().clock.tick();
        }
        answer.map_err(code)
    }

    /// The guest needs the right to use the network.
    fn check_network(&self, import: Import, handle: &Resource<NetworkHandle>) -> std::result::Result<(), GuestStop> {
        match self.node().table.get(handle.rep()) {
            Ok(Handle::Network) => Ok(()),
            _ => Err(wrong(import)),
        }
    }

    /// Gives a handle of its own to something new.
    fn handle(&mut self, import: Import, handle: Handle) -> std::result::Result<u32, GuestStop> {
        self.node_mut().table.insert(handle).map_err(misuse(import))
    }

    /// A pollable for what a handle stands for.
    fn subscribe_to(
        &mut self,
        import: Import,
        rep: u32,
        wait: impl FnOnce(&Handle) -> Option<Wait>,
    ) -> Result<Resource<PollableResource>> {
        let pollable = self.call(import, rep, |host| {
            let wait = host.node().table.get(rep).ok().and_then(wait).ok_or_else(|| wrong(import))?;
            host.handle(import, Handle::Pollable(wait))
        })?;
        Ok(Resource::new_own(pollable))
    }
}

fn wrong(import: Import) -> GuestStop {
    misuse(import)(TableError::WrongHandle)
}

impl instance_network::Host for Host {
    fn instance_network(&mut self) -> Result<Resource<NetworkHandle>> {
        let rep = self.call(INSTANCE_NETWORK, (), |host| host.handle(INSTANCE_NETWORK, Handle::Network))?;
        Ok(Resource::new_own(rep))
    }
}

impl network::Host for Host {
    fn network_error_code(&mut self, error: Resource<IoErrorResource>) -> Result<Option<ErrorCode>> {
        self.call(NETWORK_ERROR_CODE, error.rep(), |host| match host.node().table.get(error.rep()) {
            Ok(Handle::Error(StreamFailure::Network(error))) => Ok(Some(code(*error))),
            Ok(Handle::Error(_)) => Ok(None),
            _ => Err(wrong(NETWORK_ERROR_CODE)),
        })
    }
}

impl network::HostNetwork for Host {
    fn drop(&mut self, handle: Resource<NetworkHandle>) -> Result<()> {
        self.close(DROP_NETWORK, handle.rep())
    }
}

fn code(error: world::SocketErrorCode) -> ErrorCode {
    match error {
        world::SocketErrorCode::Unknown => ErrorCode::Unknown,
        world::SocketErrorCode::AccessDenied => ErrorCode::AccessDenied,
        world::SocketErrorCode::InvalidArgument => ErrorCode::InvalidArgument,
        world::SocketErrorCode::Timeout => ErrorCode::Timeout,
        world::SocketErrorCode::ConcurrencyConflict => ErrorCode::ConcurrencyConflict,
        world::SocketErrorCode::NotInProgress => ErrorCode::NotInProgress,
        world::SocketErrorCode::WouldBlock => ErrorCode::WouldBlock,
        world::SocketErrorCode::InvalidState => ErrorCode::InvalidState,
        world::SocketErrorCode::NewSocketLimit => ErrorCode::NewSocketLimit,
        world::SocketErrorCode::AddressNotBindable => ErrorCode::AddressNotBindable,
        world::SocketErrorCode::AddressInUse => ErrorCode::AddressInUse,
        world::SocketErrorCode::RemoteUnreachable => ErrorCode::RemoteUnreachable,
        world::SocketErrorCode::ConnectionRefused => ErrorCode::ConnectionRefused,
        world::SocketErrorCode::ConnectionReset => ErrorCode::ConnectionReset,
        world::SocketErrorCode::DatagramTooLarge => ErrorCode::DatagramTooLarge,
        world::SocketErrorCode::NameUnresolvable => ErrorCode::NameUnresolvable,
    }
}

fn family(family: IpAddressFamily) -> AddressFamily {
    match family {
        IpAddressFamily::Ipv4 => AddressFamily::Ipv4,
        IpAddressFamily::Ipv6 => AddressFamily::Ipv6,
    }
}

fn wit_family(family: AddressFamily) -> IpAddressFamily {
    match family {
        AddressFamily::Ipv4 => IpAddressFamily::Ipv4,
        AddressFamily::Ipv6 => IpAddressFamily::Ipv6,
    }
}

fn socket_address(address: IpSocketAddress) -> SocketAddr {
    match address {
        IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address: (a, b, c, d) }) => {
            SocketAddr::new(Ipv4Addr::new(a, b, c, d).into(), port)
        }
        // Flow and scope mean nothing in this network.
        IpSocketAddress::Ipv6(Ipv6SocketAddress { port, address: (a, b, c, d, e, f, g, h), .. }) => {
            SocketAddr::new(Ipv6Addr::new(a, b, c, d, e, f, g, h).into(), port)
        }
    }
}

fn wit_socket_address(address: SocketAddr) -> IpSocketAddress {
    let port = address.port();
    match wit_address(address.ip()) {
        IpAddress::Ipv4(address) => IpSocketAddress::Ipv4(Ipv4SocketAddress { port, address }),
        IpAddress::Ipv6(address) => {
            IpSocketAddress::Ipv6(Ipv6SocketAddress { port, flow_info: 0, address, scope_id: 0 })
        }
    }
}

fn wit_address(ip: IpAddr) -> IpAddress {
    match ip {
        IpAddr::V4(ip) => {
            let [a, b, c, d] = ip.octets();
            IpAddress::Ipv4((a, b, c, d))
        }
        IpAddr::V6(ip) => {
            let [a, b, c, d, e, f, g, h] = ip.segments();
            IpAddress::Ipv6((a, b, c, d, e, f, g, h))
        }
    }
}
