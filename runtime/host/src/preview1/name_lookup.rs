//! `sock_getaddrinfo`: names of machines as the sockets extension of WasmEdge resolves them.
//!
//! ```text
//! results ─▶ address ─▶ addrinfo ┬ ai_addr ─▶ sockaddr ─ sa_data ─▶ port, address
//!                                └ ai_next ─▶ addrinfo ┬ …               all of it is the guest's memory, and of its making
//! ```
//!
//! Invariant: each node of the list is written once, also where the list leads back to itself (as that of a library for Go does).
//! Not here: which names there are (`fozzy-world`).

#![allow(clippy::too_many_arguments, reason = "as many as the function has")]

use super::Answer;
use super::errno::WasiErrno;
use super::socket_address::{INET4, INET6, family_of, octets};
use super::sockets::{DATAGRAM, STREAM};
use crate::call::{Host, Import};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use wasmtime::Result;

const SOCK_GETADDRINFO: Import = Import::new("wasi_snapshot_preview1.sock_getaddrinfo");

/// `aiflags`: addresses are to be bound to.
const AI_PASSIVE: u16 = 1;
/// `aiflags`: the name is an address.
const AI_NUMERICHOST: u16 = 4;
/// Either family.
const UNSPECIFIED: u8 = 0;
/// `protocol`.
const TCP: u32 = 1;
const UDP: u32 = 2;

/// Bytes of `addrinfo`, and of what a result changes at its beginning.
const NODE_BYTES: usize = 28;
const CHANGED_BYTES: usize = 12;
/// Where an `addrinfo` has `ai_addr`, the length of `ai_canonname`, and `ai_next`.
const ADDRESS_AT: usize = 12;
const NAME_LENGTH_AT: u32 = 20;
const NEXT_AT: usize = 24;
/// Bytes of `sockaddr`, as `ai_addrlen` says them.
const SOCKADDR_BYTES: u32 = 16;
/// Where a `sockaddr` has the length of its data, and the address of the data.
const DATA_LENGTH_AT: usize = 4;
const DATA_AT: usize = 8;
/// Bytes of the data: those behind the family in `sockaddr_in` and `sockaddr_in6`.
const DATA4_BYTES: usize = 14;
const DATA6_BYTES: usize = 26;
/// Bytes of the flow, which stands between port and address of IPv6.
const FLOW_BYTES: usize = 4;

/// What is looked for.
struct NameQuery {
    name: String,
    service: String,
    flags: u16,
    family: u8,
    kind: u8,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

/// Port and address as a `sockaddr` holds them.
fn data(ip: IpAddr, port: u16) -> Vec<u8> {
    let mut data = port.to_be_bytes().to_vec();
    if ip.is_ipv6() {
        data.extend([0; FLOW_BYTES]);
    }
    data.extend(octets(ip));
    data.resize(if ip.is_ipv6() { DATA6_BYTES } else { DATA4_BYTES }, 0);
    data
}

impl Host {
    pub(super) fn look_up_name(
        &mut self,
        node: u32,
        node_length: u32,
        service: u32,
        service_length: u32,
        hints: u32,
        results: u32,
        max: u32,
        count: u32,
    ) -> Result<u32> {
        let query = self.name_query((node, node_length), (service, service_length), hints);
        let shown = |query: &NameQuery| (query.name.clone(), query.service.clone(), u32::from(query.family));
        let asked = query.as_ref().map(shown).unwrap_or_default();
        self.preview1(SOCK_GETADDRINFO, asked, |host| {
            let query = query?;
            let (addresses, port) = host.resolved(&query)?;
            if max == 0 {
                return Err(WasiErrno::AIMEMORY.into());
            }
            let written = host.put_results(&query, &addresses, port, results, max)?;
            host.put_size(SOCK_GETADDRINFO, count, written.len())?;
            Ok(written)
        })
    }

    /// Reads what is looked for. Texts may end with a zero.
    fn name_query(&self, node: (u32, u32), service: (u32, u32), hints: u32) -> Answer<NameQuery> {
        let text = |(at, length): (u32, u32)| -> Answer<String> {
            let text = if length == 0 { String::new() } else { self.text(SOCK_GETADDRINFO, at, length)? };
            Ok(text.trim_end_matches('\0').to_owned())
        };
        let (name, service) = (text(node)?, text(service)?);
        let [low, high, family, kind] = match hints {
            0 => [0; 4],
            at => self.value::<4>(SOCK_GETADDRINFO, at, 4)?,
        };
        Ok(NameQuery { name, service, flags: u16::from_le_bytes([low, high]), family, kind })
    }

    /// The addresses and the port that are meant.
    fn resolved(&mut self, query: &NameQuery) -> Answer<(Vec<IpAddr>, u16)> {
        let NameQuery { name, service, flags, family, .. } = query;
        if name.is_empty() && service.is_empty() {
            return Err(WasiErrno::AINONAME.into());
        }
        if ![UNSPECIFIED, INET4, INET6].contains(family) {
            return Err(WasiErrno::AIFAMILY.into());
        }
        let port = match service.as_str() {
            "" => 0,
            service => service.parse::<u16>().map_err(|_| WasiErrno::AISERVICE)?,
        };
        let mut addresses: Vec<IpAddr> = match name.as_str() {
            "" if flags & AI_PASSIVE != 0 => vec![Ipv4Addr::UNSPECIFIED.into(), Ipv6Addr::UNSPECIFIED.into()],
            "" => vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
            name if flags & AI_NUMERICHOST != 0 && name.parse::<IpAddr>().is_err() => Vec::new(),
            name => self.world().network.resolve(name).map_err(|_| WasiErrno::AINONAME)?,
        };
        addresses.retain(|ip| *family == UNSPECIFIED || *family == family_of(*ip));
        if addresses.is_empty() {
            return Err(WasiErrno::AINONAME.into());
        }
        Ok((addresses, port))
    }

    /// Fills the nodes of the guest's list, and says in words with what.
    fn put_results(
        &self,
        query: &NameQuery,
        addresses: &[IpAddr],
        port: u16,
        results: u32,
        max: u32,
    ) -> Answer<Vec<String>> {
        let import = SOCK_GETADDRINFO;
        let mut at = u32::from_le_bytes(self.value::<4>(import, results, 4)?);
        let (mut filled, mut written) = (Vec::new(), Vec::new());
        let (kind, protocol) = match u32::from(query.kind) {
            DATAGRAM => (DATAGRAM, UDP),
            _ => (STREAM, TCP),
        };
        for ip in addresses {
            if at == 0 || filled.contains(&at) || filled.len() >= max as usize {
                break;
            }
            let node: [u8; NODE_BYTES] = self.value(import, at, 4)?;
            let place = word(&node, ADDRESS_AT);
            let sockaddr: [u8; 12] = self.value(import, place, 4)?;
            let data = data(*ip, port);
            if (word(&sockaddr, DATA_LENGTH_AT) as usize) < data.len() {
                // There is no room for an address of this kind.
                continue;
            }
            self.put(import, word(&sockaddr, DATA_AT), &data)?;
            let mut head = u32::from(family_of(*ip)).to_le_bytes().to_vec();
            head.extend((data.len() as u32).to_le_bytes());
            self.put_value(import, place, 4, &head)?;
            let mut changed = [0; CHANGED_BYTES];
            (changed[2], changed[3]) = (family_of(*ip), kind as u8);
            changed[4..8].copy_from_slice(&protocol.to_le_bytes());
            changed[8..].copy_from_slice(&SOCKADDR_BYTES.to_le_bytes());
            self.put_value(import, at, 4, &changed)?;
            self.put_value(import, at.saturating_add(NAME_LENGTH_AT), 4, &[0; 4])?;
            written.push(ip.to_string());
            filled.push(at);
            at = word(&node, NEXT_AT);
        }
        if written.is_empty() {
            return Err(WasiErrno::AIMEMORY.into());
        }
        Ok(written)
    }
}
