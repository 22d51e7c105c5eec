//! Addresses of machines, and where a packet to an address goes.
//!
//! ```text
//! machine 0   127.0.0.0/8 and ::1, its own   10.0.0.1   fd00::1
//! machine 1   127.0.0.0/8 and ::1, its own   10.0.0.2   fd00::2
//! from 0 to 10.0.0.2 ─▶ machine 1    to 10.0.0.9 ─▶ unused    to 192.0.2.1 ─▶ no route
//! ```
//!
//! Which addresses an operation may be given is what wasmtime-wasi demands (`is_valid_…` in its `sockets`), so that
//! the same call is refused here and there.

use super::error::SocketErrorCode;
use fozzy_trace::NodeId;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Which of the two kinds of addresses a socket has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressFamily {
    /// Four bytes.
    Ipv4,
    /// Sixteen bytes; such a socket of `wasi:sockets` never stands for IPv4 too (`IPV6_V6ONLY`), as WASI demands. One that follows
    /// Linux does, unless it is told otherwise.
    Ipv6,
}

/// The network in which all machines are, RFC 1918: machine n has this address, and n + 1 more.
const NETWORK_V4: u32 = 0x0A00_0000;
/// Bits of [`NETWORK_V4`] that name the machine.
const MACHINE_BITS_V4: u32 = 24;
/// The same, RFC 4193.
const NETWORK_V6: u128 = 0xFD00 << 112;
/// Bits of [`NETWORK_V6`] that name the machine.
const MACHINE_BITS_V6: u32 = 64;

/// Where packets to an address go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// To this machine; which may be the sender itself.
    Machine(NodeId),
    /// Into the network, where no machine has that address.
    Nobody,
    /// Nowhere: there is only this one network.
    None,
}

impl AddressFamily {
    /// Of an address.
    #[must_use]
    pub fn of(ip: IpAddr) -> AddressFamily {
        if ip.is_ipv4() { AddressFamily::Ipv4 } else { AddressFamily::Ipv6 }
    }
}

/// The address of a machine in the common network.
#[must_use]
pub fn address_of(node: NodeId, family: AddressFamily) -> IpAddr {
    match family {
        AddressFamily::Ipv4 => Ipv4Addr::from(NETWORK_V4 + node.0 + 1).into(),
        AddressFamily::Ipv6 => Ipv6Addr::from(NETWORK_V6 + u128::from(node.0) + 1).into(),
    }
}

fn loopback(family: AddressFamily) -> IpAddr {
    match family {
        AddressFamily::Ipv4 => Ipv4Addr::LOCALHOST.into(),
        AddressFamily::Ipv6 => Ipv6Addr::LOCALHOST.into(),
    }
}

/// Whether the address is one of the machine itself.
fn is_of_machine(node: NodeId, ip: IpAddr) -> bool {
    ip.is_loopback() || ip == address_of(node, AddressFamily::of(ip))
}

/// Whether a socket of the machine can be bound to the address.
pub(super) fn is_bindable(node: NodeId, ip: IpAddr) -> bool {
    ip.is_unspecified() || is_of_machine(node, ip)
}

/// Where packets of machine `from` to `ip` go, among `machines`.
pub(super) fn route(from: NodeId, ip: IpAddr, machines: usize) -> Route {
    if is_of_machine(from, ip) {
        return Route::Machine(from);
    }
    let number = match ip {
        IpAddr::V4(ip) if u32::from(ip) >> MACHINE_BITS_V4 == NETWORK_V4 >> MACHINE_BITS_V4 => {
            u128::from(u32::from(ip) - NETWORK_V4)
        }
        IpAddr::V6(ip) if u128::from(ip) >> MACHINE_BITS_V6 == NETWORK_V6 >> MACHINE_BITS_V6 => {
            u128::from(ip) - NETWORK_V6
        }
        _ => return Route::None,
    };
    match number.checked_sub(1) {
        Some(node) if node < machines as u128 => Route::Machine(NodeId(node as u32)),
        _ => Route::Nobody,
    }
}

/// The address that packets of machine `from` to `ip` come from, for a socket that is bound to `bound`.
///
/// # Errors
/// `invalid-argument` for a socket that is bound to loopback and wants to leave its machine, as Linux answers.
pub(super) fn source(from: NodeId, bound: Option<IpAddr>, ip: IpAddr) -> Result<IpAddr, SocketErrorCode> {
    let inside = is_of_machine(from, ip);
    match bound.filter(|bound| !bound.is_unspecified()) {
        Some(bound) if bound.is_loopback() && !inside => Err(SocketErrorCode::InvalidArgument),
        Some(bound) => Ok(bound),
        None if ip.is_loopback() => Ok(loopback(AddressFamily::of(ip))),
        None => Ok(address_of(from, AddressFamily::of(ip))),
    }
}

/// Whether two local addresses of the same port exclude each other.
pub(super) fn overlap(a: IpAddr, b: IpAddr) -> bool {
    AddressFamily::of(a) == AddressFamily::of(b) && (a == b || a.is_unspecified() || b.is_unspecified())
}

/// The addresses at which a socket is heard that is bound to this one: where it stands for both families (`is_dual`), the wildcard of
/// IPv6 is that of IPv4, too.
pub(super) fn heard_at(bound: SocketAddr, is_dual: bool) -> impl Iterator<Item = SocketAddr> {
    let is_both = is_dual && bound.ip() == unspecified(AddressFamily::Ipv6);
    let other = is_both.then(|| SocketAddr::new(unspecified(AddressFamily::Ipv4), bound.port()));
    std::iter::once(bound).chain(other)
}

/// Whether two sockets with these local addresses exclude each other; each may stand for both families.
pub(super) fn exclude(one: (SocketAddr, bool), other: (SocketAddr, bool)) -> bool {
    heard_at(one.0, one.1).any(|a| heard_at(other.0, other.1).any(|b| a.port() == b.port() && overlap(a.ip(), b.ip())))
}

/// The wildcard address.
pub(super) fn unspecified(family: AddressFamily) -> IpAddr {
    match family {
        AddressFamily::Ipv4 => Ipv4Addr::UNSPECIFIED.into(),
        AddressFamily::Ipv6 => Ipv6Addr::UNSPECIFIED.into(),
    }
}

/// Without flow and scope, which nothing here uses.
pub(super) fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip(), address.port())
}

/// Whether an address is one that a socket of `family` may be given. IPv4 in the clothes of IPv6 is refused.
pub(super) fn is_of_family(ip: IpAddr, family: AddressFamily) -> bool {
    match (family, ip) {
        (AddressFamily::Ipv4, IpAddr::V4(_)) => true,
        (AddressFamily::Ipv6, IpAddr::V6(ip)) => {
            let is_compatible = ip.segments()[..6] == [0; 6] && !ip.is_unspecified() && !ip.is_loopback();
            !is_compatible && ip.to_ipv4_mapped().is_none()
        }
        _ => false,
    }
}

/// Whether an address is one that a socket of `family` may be given which is bound to `bound`, and stands for both families or does not.
pub(super) fn is_taken_by(ip: IpAddr, family: AddressFamily, is_dual: bool, bound: Option<SocketAddr>) -> bool {
    let is_like_own = |bound: SocketAddr| bound.ip().is_unspecified() || bound.is_ipv4() == ip.is_ipv4();
    match is_dual {
        true => (ip.is_ipv4() || is_of_family(ip, family)) && bound.is_none_or(is_like_own),
        false => is_of_family(ip, family),
    }
}

/// Whether a machine can be reached by it.
pub(super) fn is_remote(address: SocketAddr) -> bool {
    !address.ip().to_canonical().is_unspecified() && address.port() != 0
}

/// Whether it is the address of one machine.
pub(super) fn is_unicast(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => !ip.is_multicast() && !ip.is_broadcast(),
        IpAddr::V6(ip) => !ip.is_multicast(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn machines_have_their_addresses_in_a_row() {
        let rows = [(0, "10.0.0.1", "fd00::1"), (254, "10.0.0.255", "fd00::ff"), (999, "10.0.3.232", "fd00::3e8")];
        for (node, v4, v6) in rows {
            assert_eq!(address_of(NodeId(node), AddressFamily::Ipv4), ip(v4));
            assert_eq!(address_of(NodeId(node), AddressFamily::Ipv6), ip(v6));
            for address in [v4, v6] {
                assert_eq!(route(NodeId(7), ip(address), 1000), Route::Machine(NodeId(node)));
                assert_eq!(route(NodeId(7), ip(address), node as usize), Route::Nobody);
            }
        }
    }

    #[test]
    fn what_is_no_machine_of_the_network_is_not_reached() {
        for nobody in ["10.0.0.0", "10.255.255.255", "10.0.0.3", "fd00::", "fd00::3"] {
            assert_eq!(route(NodeId(0), ip(nobody), 2), Route::Nobody, "{nobody}");
        }
        for nowhere in ["0.0.0.0", "11.0.0.1", "192.0.2.1", "255.255.255.255", "::", "2001:db8::1", "fd00:0:0:1::1"] {
            assert_eq!(route(NodeId(0), ip(nowhere), 2), Route::None, "{nowhere}");
        }
        assert_eq!(route(NodeId(1), ip("127.9.9.9"), 2), Route::Machine(NodeId(1)));
        assert_eq!(route(NodeId(1), ip("::1"), 2), Route::Machine(NodeId(1)));
    }

    #[test]
    fn a_socket_of_both_families_excludes_those_of_either() {
        let at = |text: &str| text.parse::<SocketAddr>().expect("an address");
        let rows = [
            ("[::]:80", "0.0.0.0:80", true, true),
            ("[::]:80", "127.0.0.1:80", true, true),
            ("[::]:80", "127.0.0.1:80", false, false),
            ("[::]:80", "127.0.0.1:81", true, false),
            ("[::1]:80", "127.0.0.1:80", true, false),
        ];
        for (one, other, is_dual, expected) in rows {
            assert_eq!(exclude((at(one), is_dual), (at(other), false)), expected, "{one} {other}");
            assert_eq!(exclude((at(other), false), (at(one), is_dual)), expected, "{other} {one}");
        }
    }

    #[test]
    fn packets_come_from_the_nearest_address() {
        let rows = [
            (None, "127.0.0.2", Ok("127.0.0.1")),
            (None, "10.0.0.1", Ok("10.0.0.1")),
            (Some("0.0.0.0"), "10.0.0.2", Ok("10.0.0.1")),
            (Some("127.0.0.1"), "10.0.0.1", Ok("127.0.0.1")),
            (Some("127.0.0.1"), "10.0.0.2", Err(SocketErrorCode::InvalidArgument)),
            (Some("::"), "::1", Ok("::1")),
            (None, "fd00::2", Ok("fd00::1")),
        ];
        for (bound, to, from) in rows {
            assert_eq!(source(NodeId(0), bound.map(ip), ip(to)), from.map(ip), "{bound:?} {to}");
        }
    }
}
