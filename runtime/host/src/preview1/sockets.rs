//! Sockets of preview 1, by the sockets extension of WasmEdge: on the same network as those of components.
//!
//! ```text
//! sock_open ─▶ descriptor ┬ sock_bind ─ sock_listen ─ sock_accept ─▶ descriptor of a connection
//!                         └ sock_connect ─▶ a wait, or `inprogress` ─ poll for writing ─ SO_ERROR ─▶ connected
//! ```
//!
//! What components do with two calls (`start-…`, `finish-…`) is one here. Errors are those of Linux; and from [`Edition::TENTH`] on, so
//! are sockets in all that `fozzy_world::network` has of it (`tcp_follow_linux`).
//!
//! Invariants: a descriptor holds its socket until it is closed; what a socket failed for is told once, and a connection that was refused
//! can be tried again on the same descriptor; an answer `again` costs virtual time, so that a loop that asks again and
//! again ends.
//! Not here: bytes (`socket_data`), options (`socket_options`), names (`name_lookup`), the network (`fozzy-world`).

#![allow(clippy::too_many_arguments, reason = "as many as the functions of the extension have")]

use super::arguments::{self, FDFLAGS, FDFLAGS_NONBLOCK};
use super::errno::WasiErrno;
use super::socket_address::{INET4, INET6, shown_address};
use super::{Answer, CallFailure};
use crate::call::{CallProgress, Host, Import};
use crate::record::WordRecord;
use fozzy_trace::Instant;
use fozzy_trace::plan::Edition;
use fozzy_world::network::{AddressFamily, Readiness, Shutdown, SocketErrorCode, SocketId, TcpId, TcpStage, UdpId};
use fozzy_world::{Preview1Descriptor, Wait};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use wasmtime::Result;

const SOCK_OPEN: Import = Import::new("wasi_snapshot_preview1.sock_open");
const SOCK_BIND: Import = Import::new("wasi_snapshot_preview1.sock_bind");
const SOCK_LISTEN: Import = Import::new("wasi_snapshot_preview1.sock_listen");
const SOCK_ACCEPT: Import = Import::new("wasi_snapshot_preview1.sock_accept");
const SOCK_CONNECT: Import = Import::new("wasi_snapshot_preview1.sock_connect");
const SOCK_SHUTDOWN: Import = Import::new("wasi_snapshot_preview1.sock_shutdown");
const SOCK_GETLOCALADDR: Import = Import::new("wasi_snapshot_preview1.sock_getlocaladdr");
const SOCK_GETPEERADDR: Import = Import::new("wasi_snapshot_preview1.sock_getpeeraddr");

/// `sock_type`.
pub(super) const DATAGRAM: u32 = 1;
pub(super) const STREAM: u32 = 2;

/// What the network answers.
type NetworkResult<T> = std::result::Result<T, SocketErrorCode>;

impl From<SocketErrorCode> for CallFailure {
    fn from(error: SocketErrorCode) -> CallFailure {
        CallFailure::Errno(error.into())
    }
}

/// Every address of a machine.
fn anywhere(family: AddressFamily) -> SocketAddr {
    let ip: IpAddr = match family {
        AddressFamily::Ipv4 => Ipv4Addr::UNSPECIFIED.into(),
        AddressFamily::Ipv6 => Ipv6Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(ip, 0)
}

/// The machine itself.
fn loopback(ip: IpAddr) -> IpAddr {
    if ip.is_ipv4() { Ipv4Addr::LOCALHOST.into() } else { Ipv6Addr::LOCALHOST.into() }
}

impl Host {
    /// Whether sockets are as those of Linux in more than their errors.
    pub(super) fn follows_linux(&self) -> bool {
        self.run.world.plan.edition >= Edition::TENTH
    }

    /// The address that a guest names for a socket, as the network has it: one of IPv4 in the clothes of IPv6 is one of IPv4.
    pub(super) fn inward(&mut self, socket: SocketId, address: SocketAddr) -> NetworkResult<SocketAddr> {
        if !self.follows_linux() || self.socket_family(socket) == AddressFamily::Ipv4 {
            return Ok(address);
        }
        match address.ip() {
            IpAddr::V4(_) => Err(SocketErrorCode::InvalidArgument),
            ip => Ok(SocketAddr::new(ip.to_canonical(), address.port())),
        }
    }

    /// The same of whom it sends to: no address is the machine itself.
    pub(super) fn inward_peer(&mut self, socket: SocketId, address: SocketAddr) -> NetworkResult<SocketAddr> {
        let address = self.inward(socket, address)?;
        match self.follows_linux() && address.ip().is_unspecified() {
            true => Ok(SocketAddr::new(loopback(address.ip()), address.port())),
            false => Ok(address),
        }
    }

    /// The address that a guest is told of a socket: a socket of IPv6 has no others.
    pub(super) fn outward(&mut self, socket: SocketId, address: SocketAddr) -> SocketAddr {
        match (self.socket_family(socket), address.ip()) {
            (AddressFamily::Ipv6, IpAddr::V4(ip)) => SocketAddr::new(ip.to_ipv6_mapped().into(), address.port()),
            _ => address,
        }
    }

    fn socket_family(&mut self, socket: SocketId) -> AddressFamily {
        let network = &self.world().network;
        match socket {
            SocketId::Tcp(id) => network.tcp_family(id),
            SocketId::Udp(id) => network.udp_family(id),
        }
    }

    /// The socket of a descriptor of one, and whether its calls answer at once.
    pub(super) fn socket_of(&mut self, import: Import, fd: u32) -> Answer<(SocketId, bool)> {
        match self.descriptor(import, fd)? {
            Preview1Descriptor::Socket { socket, nonblocking, .. } => Ok((*socket, *nonblocking)),
            _ => Err(WasiErrno::NOTSOCK.into()),
        }
    }

    /// The answer of a call that finds nothing yet.
    pub(super) fn wait_or_again<R>(&mut self, nonblocking: bool, readiness: Readiness) -> Answer<CallProgress<R>> {
        if !nonblocking {
            return Ok(CallProgress::Wait(vec![Wait::Socket(readiness)]));
        }
        self.world().clock.tick();
        Err(WasiErrno::AGAIN.into())
    }

    /// Takes over what became of a connection that was begun, if that is known by now. What it failed for is kept for who asks.
    pub(super) fn settle_socket(&mut self, import: Import, fd: u32, id: TcpId) -> Answer<()> {
        match self.finish_connecting(id) {
            Ok(()) | Err(SocketErrorCode::WouldBlock | SocketErrorCode::NotInProgress) => Ok(()),
            Err(failed) => self.keep_socket_error(import, fd, failed),
        }
    }

    /// Ends a connection that was begun. A socket whose connection has failed can begin another one.
    fn finish_connecting(&mut self, id: TcpId) -> NetworkResult<()> {
        self.on_network(|network, _| {
            let finished = network.tcp_finish_connect(id);
            network.tcp_forget_failure(id);
            finished
        })
    }

    /// Keeps what a socket failed for until it is asked, or the next call is made that fails for it.
    pub(super) fn keep_socket_error(&mut self, import: Import, fd: u32, failed: SocketErrorCode) -> Answer<()> {
        if let Preview1Descriptor::Socket { error, .. } = self.descriptor(import, fd)? {
            *error = Some(failed);
        }
        Ok(())
    }

    /// What a socket failed for; it is told once.
    pub(super) fn take_socket_error(&mut self, import: Import, fd: u32) -> Answer<Option<SocketErrorCode>> {
        Ok(match self.descriptor(import, fd)? {
            Preview1Descriptor::Socket { error, .. } => error.take(),
            _ => None,
        })
    }

    /// What a program waits for that polls a socket.
    pub(super) fn socket_wait(&mut self, socket: SocketId, writes: bool) -> Wait {
        let id = match socket {
            SocketId::Tcp(id) => id,
            SocketId::Udp(_) if writes => return Wait::Nothing,
            SocketId::Udp(id) => return Wait::Socket(Readiness::Datagram(id)),
        };
        match self.world().network.tcp_stage(id) {
            TcpStage::Idle | TcpStage::Closed(_) => Wait::Nothing,
            // Nobody ever writes to it.
            TcpStage::Listening if writes => Wait::Until(Instant::NEVER),
            TcpStage::Connecting | TcpStage::Listening => Wait::Socket(Readiness::Socket(id)),
            TcpStage::Connected if writes => Wait::Socket(Readiness::Writable(id)),
            TcpStage::Connected => Wait::Socket(Readiness::Readable(id)),
        }
    }

    /// Whether a poll says that a socket hangs up.
    pub(super) fn is_hung_up(&mut self, socket: SocketId) -> bool {
        let is_linux = self.follows_linux();
        let network = &self.world().network;
        is_linux
            && match socket {
                SocketId::Tcp(id) => network.tcp_is_hung_up(id),
                SocketId::Udp(id) => network.udp_is_shut(id) == (true, true),
            }
    }

    /// A descriptor of a socket is closed.
    pub(super) fn release_socket(&mut self, socket: SocketId) {
        self.on_network(|network, context| match socket {
            SocketId::Tcp(id) => network.tcp_release(id, context),
            SocketId::Udp(id) => network.udp_release(id),
        });
    }

    pub(super) fn open_socket(&mut self, family: u32, kind: u32, opened: u32) -> Result<u32> {
        self.preview1(SOCK_OPEN, (family, kind), |host| {
            let family = match u8::try_from(family) {
                Ok(INET4) => AddressFamily::Ipv4,
                Ok(INET6) => AddressFamily::Ipv6,
                _ => return Err(WasiErrno::AFNOSUPPORT.into()),
            };
            let (node, is_linux) = (host.node, host.follows_linux());
            let network = &mut host.world().network;
            let socket = match kind {
                DATAGRAM => SocketId::Udp(network.udp_create(node, family)?),
                STREAM => SocketId::Tcp(network.tcp_create(node, family)?),
                _ => return Err(WasiErrno::PROTONOSUPPORT.into()),
            };
            match socket {
                SocketId::Tcp(id) if is_linux => network.tcp_follow_linux(id),
                SocketId::Udp(id) if is_linux => network.udp_follow_linux(id),
                SocketId::Tcp(_) | SocketId::Udp(_) => {}
            }
            host.give_socket(SOCK_OPEN, socket, false, opened)
        })
    }

    /// Gives a new socket its number, and tells it to the guest.
    fn give_socket(&mut self, import: Import, socket: SocketId, nonblocking: bool, at: u32) -> Answer<u32> {
        let number = self.insert(import, Preview1Descriptor::Socket { socket, nonblocking, error: None })?;
        self.put_value(import, at, 4, &number.to_le_bytes())?;
        Ok(number)
    }

    pub(super) fn bind_socket(&mut self, fd: u32, address: u32, port: u32) -> Result<u32> {
        let address = self.named_address(SOCK_BIND, address, port);
        self.preview1(SOCK_BIND, (fd, shown_address(&address)), |host| {
            let (socket, _) = host.socket_of(SOCK_BIND, fd)?;
            Ok(host.bind_to(socket, address?)?)
        })
    }

    fn bind_to(&mut self, socket: SocketId, address: SocketAddr) -> NetworkResult<()> {
        let (address, is_linux) = (self.inward(socket, address)?, self.follows_linux());
        self.on_network(|network, context| match socket {
            SocketId::Tcp(id) if is_linux => network.tcp_bind(id, address, context.now),
            SocketId::Tcp(id) => {
                network.tcp_start_bind(id, address)?;
                network.tcp_finish_bind(id)
            }
            SocketId::Udp(id) => {
                network.udp_start_bind(id, address)?;
                network.udp_finish_bind(id)
            }
        })
    }

    /// Binds a socket of UDP to a port of the kernel's choice, as sending and connecting do, unless it has one.
    pub(super) fn bind_datagrams(&mut self, id: UdpId) -> NetworkResult<()> {
        let network = &self.world().network;
        if network.udp_local_address(id).is_ok() {
            return Ok(());
        }
        let address = anywhere(network.udp_family(id));
        self.bind_to(SocketId::Udp(id), address)
    }

    pub(super) fn listen_on_socket(&mut self, fd: u32, backlog: u32) -> Result<u32> {
        self.preview1(SOCK_LISTEN, (fd, backlog), |host| {
            let (SocketId::Tcp(id), _) = host.socket_of(SOCK_LISTEN, fd)? else {
                return Err(WasiErrno::NOTSUP.into());
            };
            let network = &host.world().network;
            let (stage, address) = (network.tcp_stage(id), anywhere(network.tcp_family(id)));
            if stage == TcpStage::Idle && network.tcp_local_address(id).is_err() {
                host.bind_to(SocketId::Tcp(id), address)?;
            }
            let listened = host.on_network(|network, _| -> NetworkResult<()> {
                network.tcp_set_backlog(id, u64::from(backlog).max(1))?;
                if stage == TcpStage::Listening {
                    return Ok(());
                }
                network.tcp_start_listen(id)?;
                network.tcp_finish_listen(id)
            });
            Ok(listened?)
        })
    }

    pub(super) async fn accept_connection(&mut self, fd: u32, flags: u32, accepted: u32) -> Result<u32> {
        let attempt = |host: &mut Host| -> Answer<CallProgress<u32>> {
            let flags = arguments::flags(SOCK_ACCEPT, flags, FDFLAGS, "fdflags")?;
            let (SocketId::Tcp(listener), nonblocking) = host.socket_of(SOCK_ACCEPT, fd)? else {
                return Err(WasiErrno::NOTSUP.into());
            };
            match host.on_network(|network, _| network.tcp_accept(listener)) {
                Ok(id) => {
                    let is_nonblocking = flags & FDFLAGS_NONBLOCK != 0;
                    let number = host.give_socket(SOCK_ACCEPT, SocketId::Tcp(id), is_nonblocking, accepted)?;
                    Ok(CallProgress::Done(number))
                }
                Err(SocketErrorCode::WouldBlock) => host.wait_or_again(nonblocking, Readiness::Socket(listener)),
                Err(error) => Err(error.into()),
            }
        };
        self.preview1_waiting(SOCK_ACCEPT, (fd, flags), attempt).await
    }

    pub(super) async fn connect_socket(&mut self, fd: u32, address: u32, port: u32) -> Result<u32> {
        let to = self.named_address(SOCK_CONNECT, address, port);
        let mut begun = false;
        let attempt = |host: &mut Host| -> Answer<CallProgress<()>> {
            let (socket, nonblocking) = host.socket_of(SOCK_CONNECT, fd)?;
            let to = *to.as_ref().map_err(Clone::clone)?;
            let to = host.inward_peer(socket, to)?;
            let id = match socket {
                SocketId::Tcp(id) => id,
                SocketId::Udp(id) => return Ok(CallProgress::Done(host.connect_datagrams(id, to)?)),
            };
            if !begun {
                host.check_connectable(fd, id)?;
                host.on_network(|network, context| network.tcp_start_connect(id, to, context))?;
                begun = true;
                // Also on the own machine, the answer comes to who waits for it.
                if nonblocking && host.follows_linux() {
                    return Err(WasiErrno::INPROGRESS.into());
                }
            }
            match host.finish_connecting(id) {
                Ok(()) => Ok(CallProgress::Done(())),
                Err(SocketErrorCode::WouldBlock) if nonblocking => Err(WasiErrno::INPROGRESS.into()),
                Err(SocketErrorCode::WouldBlock) => Ok(CallProgress::Wait(vec![Wait::Socket(Readiness::Socket(id))])),
                Err(error) => Err(error.into()),
            }
        };
        self.preview1_waiting(SOCK_CONNECT, (fd, shown_address(&to)), attempt).await
    }

    /// Refuses to connect a socket that is connected, or will be.
    fn check_connectable(&mut self, fd: u32, id: TcpId) -> Answer<()> {
        self.settle_socket(SOCK_CONNECT, fd, id)?;
        if let Some(error) = self.take_socket_error(SOCK_CONNECT, fd)? {
            return Err(error.into());
        }
        match self.world().network.tcp_stage(id) {
            TcpStage::Idle => Ok(()),
            TcpStage::Connecting => {
                // Who asks again and again whether it is connected comes to an end.
                self.world().clock.tick();
                Err(WasiErrno::ALREADY.into())
            }
            TcpStage::Connected | TcpStage::Listening => Err(WasiErrno::ISCONN.into()),
            TcpStage::Closed(error) => Err(error.into()),
        }
    }

    fn connect_datagrams(&mut self, id: UdpId, to: SocketAddr) -> NetworkResult<()> {
        self.bind_datagrams(id)?;
        self.on_network(|network, _| {
            network.udp_stream(id, Some(to))?;
            // The descriptor is all that holds it: there are no streams beside it, as components have them.
            network.udp_release_stream(id);
            network.udp_release_stream(id);
            Ok(())
        })
    }

    pub(super) fn shut_down_socket(&mut self, fd: u32, how: u32) -> Result<u32> {
        self.preview1(SOCK_SHUTDOWN, (fd, how), |host| {
            let how = arguments::case(SOCK_SHUTDOWN, how, 4, "sdflags")?;
            let (socket, _) = host.socket_of(SOCK_SHUTDOWN, fd)?;
            let what = match how {
                1 => Shutdown::Receive,
                2 => Shutdown::Send,
                3 => Shutdown::Both,
                _ => return Err(WasiErrno::INVAL.into()),
            };
            let id = match socket {
                SocketId::Tcp(id) => id,
                SocketId::Udp(id) if host.follows_linux() => {
                    let ended = host.on_network(|network, _| network.udp_shutdown(id, what));
                    return ended.map_err(|_| WasiErrno::NOTCONN.into());
                }
                SocketId::Udp(_) => return Err(WasiErrno::NOTSUP.into()),
            };
            host.settle_socket(SOCK_SHUTDOWN, fd, id)?;
            let ended = host.on_network(|network, context| network.tcp_shutdown(id, what, context));
            ended.map_err(|_| WasiErrno::NOTCONN.into())
        })
    }

    /// The address of the socket itself; of one that has none, that of all machines' sockets.
    fn own_address(&mut self, socket: SocketId) -> SocketAddr {
        let network = &self.world().network;
        let (address, family) = match socket {
            SocketId::Tcp(id) => (network.tcp_local_address(id), network.tcp_family(id)),
            SocketId::Udp(id) => (network.udp_local_address(id), network.udp_family(id)),
        };
        let address = address.unwrap_or_else(|_| anywhere(family));
        self.outward(socket, address)
    }

    /// The address of the other side.
    pub(super) fn peer_address(&mut self, socket: SocketId) -> Answer<SocketAddr> {
        let network = &self.world().network;
        let address = match socket {
            SocketId::Tcp(id) => network.tcp_remote_address(id),
            SocketId::Udp(id) => network.udp_remote_address(id),
        };
        let address = address.map_err(|_| WasiErrno::NOTCONN)?;
        Ok(self.outward(socket, address))
    }

    /// Writes the address of one side of a socket. The first version of the extension has its family in a place of its own.
    pub(super) fn tell_address(
        &mut self,
        is_peer: bool,
        fd: u32,
        address: u32,
        family: Option<u32>,
        port: u32,
    ) -> Result<u32> {
        let import = if is_peer { SOCK_GETPEERADDR } else { SOCK_GETLOCALADDR };
        self.preview1(import, fd, |host| {
            let (socket, _) = host.socket_of(import, fd)?;
            if let SocketId::Tcp(id) = socket {
                host.settle_socket(import, fd, id)?;
            }
            let told = if is_peer { host.peer_address(socket)? } else { host.own_address(socket) };
            host.put_address(import, address, told.ip())?;
            if let Some(family) = family {
                let version: u32 = if told.is_ipv4() { 4 } else { 6 };
                host.put_value(import, family, 4, &version.to_le_bytes())?;
            }
            host.put_value(import, port, 4, &u32::from(told.port()).to_le_bytes())?;
            Ok(WordRecord(told))
        })
    }
}
