//! Names of machines, as a resolver answers for them.
//!
//! ```text
//! server ─▶ 10.0.0.2, fd00::2     localhost ─▶ 127.0.0.1, ::1     ::1, [::1], 127.1 ─▶ themselves
//! ```
//!
//! Which texts are no host names is decided by the rules of URLs (WHATWG, section "Host parsing"), because wasmtime-wasi
//! does. Not here: the internet; no other name resolves. IDNA: a name is looked for as it is written.

use super::address::{self, AddressFamily};
use super::error::SocketErrorCode;
use fozzy_trace::NodeId;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

/// Bytes of a name that is looked for; longer ones are no names (RFC 1035, 2.3.4, with room for brackets and a dot).
const NAME_BYTES_MAX: usize = 256;

/// The addresses of `name`. IPv4 comes first, so that a server on `127.0.0.1` is found at the first attempt.
///
/// # Errors
/// `invalid-argument` for what cannot be a name, `name-unresolvable` for an unknown one.
pub(super) fn resolve(name: &str, machines: &[Arc<str>]) -> Result<Vec<IpAddr>, SocketErrorCode> {
    let bare = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(name);
    if let Ok(ip) = bare.parse::<Ipv6Addr>() {
        return Ok(vec![ip.into()]);
    }
    if name.is_empty() || name.chars().any(is_forbidden) {
        return Err(SocketErrorCode::InvalidArgument);
    }
    let name = name.strip_suffix('.').unwrap_or(name);
    if let Some(last) = name.rsplit('.').next()
        && (part_of_v4(last).is_some() || (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())))
    {
        return Ok(vec![v4(name).ok_or(SocketErrorCode::InvalidArgument)?.into()]);
    }
    if name.len() > NAME_BYTES_MAX {
        return Err(SocketErrorCode::NameUnresolvable);
    }
    if name.eq_ignore_ascii_case("localhost") {
        return Ok(vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]);
    }
    let found = machines.iter().position(|machine| machine.eq_ignore_ascii_case(name));
    let node = NodeId(found.ok_or(SocketErrorCode::NameUnresolvable)? as u32);
    Ok([AddressFamily::Ipv4, AddressFamily::Ipv6].map(|family| address::address_of(node, family)).to_vec())
}

/// The forbidden domain code points.
fn is_forbidden(c: char) -> bool {
    c.is_ascii_control() || " #/:<>?@[\\]^|%".contains(c)
}

/// One number of an IPv4 address: decimal, octal or hexadecimal.
fn part_of_v4(part: &str) -> Option<u64> {
    let (digits, radix) = match part.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&part[2..], 16),
        [b'0', _, ..] => (&part[1..], 8),
        _ => (part, 10),
    };
    match digits {
        // `0x` alone is zero.
        "" if radix == 16 => Some(0),
        digits if digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) => u64::from_str_radix(digits, radix).ok(),
        _ => None,
    }
}

/// An IPv4 address of one to four numbers; the last one fills the rest.
fn v4(text: &str) -> Option<Ipv4Addr> {
    let numbers = text.split('.').map(part_of_v4).collect::<Option<Vec<u64>>>()?;
    let (last, bytes) = numbers.split_last()?;
    let rest = 4_u32.checked_sub(bytes.len() as u32).filter(|rest| *rest > 0)?;
    if bytes.iter().any(|byte| *byte > 255) || *last >> (8 * rest) != 0 {
        return None;
    }
    let head = bytes.iter().zip(0_u32..).fold(0, |sum, (byte, index)| sum + (*byte << (24 - 8 * index)));
    Some(Ipv4Addr::from((head + last) as u32))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: &str) {
        let machines = ["main", "Server"].map(Arc::from);
        let found = match resolve(name, &machines) {
            Ok(ips) => ips.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn machines_are_found_by_name() {
        check("main", "10.0.0.1 fd00::1");
        check("server", "10.0.0.2 fd00::2");
        check("SERVER.", "10.0.0.2 fd00::2");
        check("localhost", "127.0.0.1 ::1");
        check("client", "name unresolvable");
        check("example.com", "name unresolvable");
        check(&"a".repeat(10_000), "name unresolvable");
    }

    #[test]
    fn addresses_are_their_own_answer() {
        check("127.0.0.1", "127.0.0.1");
        check("127.1", "127.0.0.1");
        check("0x7f.0.0.01", "127.0.0.1");
        check("2130706433", "127.0.0.1");
        check("::1", "::1");
        check("[fd00::2]", "fd00::2");
    }

    #[test]
    fn what_is_no_name_is_refused() {
        for name in ["", " ", "a b", "a:80", "http://a", "[::1", "256.0.0.1", "1.2.3.4.5", "a.1", "1.2.3.", "a\0", "%"]
        {
            let expected = if name == "1.2.3." { "1.2.0.3" } else { "invalid argument" };
            check(name, expected);
        }
    }
}
