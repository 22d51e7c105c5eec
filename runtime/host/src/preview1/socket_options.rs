//! Options of sockets of preview 1: those of the network have an effect, and some are taken that change nothing here.
//!
//! ```text
//! SOL_SOCKET   SO_ERROR, SO_TYPE, SO_ACCEPTCONN │ SO_SNDBUF, SO_RCVBUF, SO_KEEPALIVE │ SO_REUSEADDR, SO_DONTROUTE, SO_BROADCAST
//! IPPROTO_TCP  TCP_NODELAY
//! IPPROTO_IPV6 IPV6_V6ONLY
//! ```
//!
//! Numbers of `SOL_SOCKET` are those of WasmEdge, those of `IPPROTO_TCP` and `IPPROTO_IPV6`, which it has not, are Linux's. Other options
//! are `noprotoopt`. Values are of four bytes.

use super::Answer;
use super::errno::WasiErrno;
use super::sockets::{DATAGRAM, STREAM};
use crate::call::{Host, Import};
use fozzy_world::network::{AddressFamily, SocketId, SocketOption};
use wasmtime::Result;

const SOCK_GETSOCKOPT: Import = Import::new("wasi_snapshot_preview1.sock_getsockopt");
const SOCK_SETSOCKOPT: Import = Import::new("wasi_snapshot_preview1.sock_setsockopt");

const SOL_SOCKET: u32 = 0;
const SO_REUSEADDR: u32 = 0;
const SO_TYPE: u32 = 1;
const SO_ERROR: u32 = 2;
const SO_DONTROUTE: u32 = 3;
const SO_BROADCAST: u32 = 4;
const SO_SNDBUF: u32 = 5;
const SO_RCVBUF: u32 = 6;
const SO_KEEPALIVE: u32 = 7;
const SO_ACCEPTCONN: u32 = 13;
const IPPROTO_TCP: u32 = 6;
const TCP_NODELAY: u32 = 1;
const IPPROTO_IPV6: u32 = 41;
const IPV6_V6ONLY: u32 = 26;

/// Bytes of a value.
const VALUE_BYTES: u32 = 4;
/// Below it, what stands for the length of a value is the length, as in libraries for Go; above, it is the address of one, as in WasmEdge
/// itself. No compiler puts variables below it.
const LENGTHS: u32 = 1024;

impl Host {
    pub(super) fn socket_option(&mut self, fd: u32, level: u32, name: u32, value: u32, length: u32) -> Result<u32> {
        self.preview1(SOCK_GETSOCKOPT, (fd, level, name), |host| {
            let (socket, _) = host.socket_of(SOCK_GETSOCKOPT, fd)?;
            host.check_value_room(length)?;
            let found = host.option_of(fd, socket, (level, name))?;
            host.put_value(SOCK_GETSOCKOPT, value, 4, &found.to_le_bytes())?;
            Ok(found)
        })
    }

    /// Whether there is room for a value; says how much of it the value takes, where that is asked.
    fn check_value_room(&self, length: u32) -> Answer<()> {
        let is_address = length >= LENGTHS;
        let room = if is_address { u32::from_le_bytes(self.value::<4>(SOCK_GETSOCKOPT, length, 4)?) } else { length };
        if room < VALUE_BYTES {
            return Err(WasiErrno::INVAL.into());
        }
        if is_address {
            self.put_value(SOCK_GETSOCKOPT, length, 4, &VALUE_BYTES.to_le_bytes())?;
        }
        Ok(())
    }

    fn option_of(&mut self, fd: u32, socket: SocketId, option: (u32, u32)) -> Answer<u32> {
        if let (SocketId::Tcp(id), (SOL_SOCKET, SO_ERROR)) = (socket, option) {
            self.settle_socket(SOCK_GETSOCKOPT, fd, id)?;
            let error = match self.take_socket_error(SOCK_GETSOCKOPT, fd)? {
                None if self.follows_linux() => self.on_network(|network, _| network.tcp_take_error(id)),
                error => error,
            };
            return Ok(error.map_or(0, |error| WasiErrno::from(error).number()));
        }
        if let (SocketId::Udp(id), (SOL_SOCKET, SO_ERROR)) = (socket, option) {
            // The machine of the peer has said that nobody listens there.
            let error = self.on_network(|network, _| network.udp_take_error(id));
            return Ok(error.map_or(0, |error| WasiErrno::from(error).number()));
        }
        let is_linux = self.follows_linux();
        let network = &self.world().network;
        let is_listening = matches!(socket, SocketId::Tcp(id) if network.tcp_is_listening(id));
        let options = || match socket {
            SocketId::Tcp(id) => network.tcp_options(id),
            SocketId::Udp(id) => Ok(network.udp_options(id)),
        };
        Ok(match option {
            (SOL_SOCKET, SO_TYPE) => {
                if matches!(socket, SocketId::Tcp(_)) {
                    STREAM
                } else {
                    DATAGRAM
                }
            }
            (SOL_SOCKET, SO_ACCEPTCONN) => u32::from(is_listening),
            (SOL_SOCKET, SO_REUSEADDR) if is_linux => u32::from(match socket {
                SocketId::Tcp(id) => network.tcp_reuses(id),
                SocketId::Udp(id) => network.udp_reuses(id),
            }),
            (IPPROTO_IPV6, IPV6_V6ONLY) if is_linux => u32::from(!match socket {
                SocketId::Tcp(id) if network.tcp_family(id) == AddressFamily::Ipv6 => network.tcp_is_dual(id),
                SocketId::Udp(id) if network.udp_family(id) == AddressFamily::Ipv6 => network.udp_is_dual(id),
                SocketId::Tcp(_) | SocketId::Udp(_) => return Err(WasiErrno::NOPROTOOPT.into()),
            }),
            // An address is free again at once, and nothing waits to be sent with more.
            (SOL_SOCKET, SO_REUSEADDR) | (IPPROTO_TCP, TCP_NODELAY) => 1,
            (SOL_SOCKET, SO_ERROR | SO_DONTROUTE | SO_BROADCAST) => 0,
            (SOL_SOCKET, SO_SNDBUF) => options()?.send_buffer as u32,
            (SOL_SOCKET, SO_RCVBUF) => options()?.receive_buffer as u32,
            (SOL_SOCKET, SO_KEEPALIVE) => u32::from(options()?.keep_alive),
            _ => return Err(WasiErrno::NOPROTOOPT.into()),
        })
    }

    pub(super) fn set_socket_option(&mut self, fd: u32, level: u32, name: u32, value: u32, length: u32) -> Result<u32> {
        self.preview1(SOCK_SETSOCKOPT, (fd, (level, name)), |host| {
            let (socket, _) = host.socket_of(SOCK_SETSOCKOPT, fd)?;
            let is_linux = host.follows_linux();
            let option = match (level, name) {
                (SOL_SOCKET, SO_REUSEADDR) | (IPPROTO_IPV6, IPV6_V6ONLY) if is_linux => {
                    return host.set_address_use(socket, (level, name), (value, length));
                }
                (SOL_SOCKET, SO_REUSEADDR | SO_DONTROUTE | SO_BROADCAST) | (IPPROTO_TCP, TCP_NODELAY) => None,
                (SOL_SOCKET, SO_SNDBUF | SO_RCVBUF | SO_KEEPALIVE) => Some(name),
                _ => return Err(WasiErrno::NOPROTOOPT.into()),
            };
            if length != VALUE_BYTES {
                return Err(WasiErrno::INVAL.into());
            }
            let value = u32::from_le_bytes(host.value::<4>(SOCK_SETSOCKOPT, value, 4)?);
            let option = match option {
                None => return Ok(value),
                // As on Linux, a buffer of nothing is the smallest one.
                Some(SO_SNDBUF) => SocketOption::SendBuffer(u64::from(value).max(1)),
                Some(SO_RCVBUF) => SocketOption::ReceiveBuffer(u64::from(value).max(1)),
                Some(_) => SocketOption::KeepAlive(value != 0),
            };
            match socket {
                SocketId::Tcp(id) => {
                    host.settle_socket(SOCK_SETSOCKOPT, fd, id)?;
                    host.world().network.tcp_set_option(id, option)?;
                }
                SocketId::Udp(id) => host.world().network.udp_set_option(id, option)?,
            }
            Ok(value)
        })
    }

    /// Sets which addresses a socket can have: `SO_REUSEADDR` or `IPV6_V6ONLY`.
    fn set_address_use(&mut self, socket: SocketId, option: (u32, u32), (value, length): (u32, u32)) -> Answer<u32> {
        if length != VALUE_BYTES {
            return Err(WasiErrno::INVAL.into());
        }
        let value = u32::from_le_bytes(self.value::<4>(SOCK_SETSOCKOPT, value, 4)?);
        let network = &mut self.world().network;
        match (socket, option) {
            (SocketId::Tcp(id), (SOL_SOCKET, _)) => network.tcp_set_reuse(id, value != 0),
            (SocketId::Udp(id), (SOL_SOCKET, _)) => network.udp_set_reuse(id, value != 0),
            (SocketId::Tcp(id), _) if network.tcp_family(id) == AddressFamily::Ipv6 => {
                network.tcp_set_v6_only(id, value != 0)?;
            }
            (SocketId::Udp(id), _) if network.udp_family(id) == AddressFamily::Ipv6 => {
                network.udp_set_v6_only(id, value != 0)?;
            }
            _ => return Err(WasiErrno::NOPROTOOPT.into()),
        }
        Ok(value)
    }
}
