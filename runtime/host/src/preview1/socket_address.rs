//! Addresses of sockets, as the sockets extension of WasmEdge lays them out.
//!
//! ```text
//! address, length ─▶   4 bytes │ IPv4
//!                     16 bytes │ IPv6, or IPv4 and 12 bytes of nothing where the host writes
//!                    128 bytes │ family (2 bytes, little end first) │ IPv4 or IPv6
//! ```
//!
//! The port stands beside it, as a number. Invariant: a buffer of another length is `inval`.
//! Not here: results of a lookup (`name_lookup`), which lie otherwise.

use super::Answer;
use super::errno::WasiErrno;
use crate::call::{Host, Import};
use crate::record::WordRecord;
use fozzy_world::network::{AddressFamily, SocketId};
use std::net::{IpAddr, SocketAddr};

/// `address_family`.
pub(super) const INET4: u8 = 1;
pub(super) const INET6: u8 = 2;

/// Bytes of a buffer that begins with the family.
const TAGGED_BYTES: u32 = 128;
/// Bytes of the family there.
const TAG_BYTES: u32 = 2;

/// The number of an address's family.
pub(super) fn family_of(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { INET4 } else { INET6 }
}

/// The bytes of an address.
pub(super) fn octets(ip: IpAddr) -> Vec<u8> {
    match ip {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    }
}

/// An address as it stands in the history; nothing where the guest's memory has none.
pub(super) fn shown_address(address: &Answer<SocketAddr>) -> Option<WordRecord<SocketAddr>> {
    address.as_ref().ok().map(|address| WordRecord(*address))
}

impl Host {
    /// The address that the guest names, with the port beside it.
    pub(super) fn named_address(&self, import: Import, at: u32, port: u32) -> Answer<SocketAddr> {
        let buffer = self.range(import, at)?;
        let (bytes, family) = match buffer.length {
            4 => (buffer.at, INET4),
            16 => (buffer.at, INET6),
            TAGGED_BYTES => {
                let family = u16::from_le_bytes(self.value::<2>(import, buffer.at, 1)?);
                (buffer.at.saturating_add(TAG_BYTES), u8::try_from(family).unwrap_or(u8::MAX))
            }
            _ => return Err(WasiErrno::INVAL.into()),
        };
        let ip = match family {
            INET4 => IpAddr::from(self.value::<4>(import, bytes, 1)?),
            INET6 => IpAddr::from(self.value::<16>(import, bytes, 1)?),
            _ => return Err(WasiErrno::AFNOSUPPORT.into()),
        };
        let port = u16::try_from(port).map_err(|_| WasiErrno::INVAL)?;
        Ok(SocketAddr::new(ip, port))
    }

    /// Refuses a buffer for an address that has no room for those of a socket.
    pub(super) fn check_address_room(&mut self, import: Import, at: u32, socket: SocketId) -> Answer<()> {
        let length = self.range(import, at)?.length;
        let network = &self.world().network;
        let family = match socket {
            SocketId::Tcp(id) => network.tcp_family(id),
            SocketId::Udp(id) => network.udp_family(id),
        };
        match (family, length) {
            (AddressFamily::Ipv4, 4) | (_, 16 | TAGGED_BYTES) => Ok(()),
            _ => Err(WasiErrno::INVAL.into()),
        }
    }

    /// Writes an address into the buffer that the guest has for it.
    pub(super) fn put_address(&self, import: Import, at: u32, ip: IpAddr) -> Answer<()> {
        let buffer = self.range(import, at)?;
        let mut bytes = match buffer.length {
            4 | 16 => Vec::new(),
            TAGGED_BYTES => u16::from(family_of(ip)).to_le_bytes().to_vec(),
            _ => return Err(WasiErrno::INVAL.into()),
        };
        bytes.extend(octets(ip));
        if bytes.len() > buffer.length as usize {
            return Err(WasiErrno::INVAL.into());
        }
        Ok(self.put(import, buffer.at, &bytes)?)
    }
}
