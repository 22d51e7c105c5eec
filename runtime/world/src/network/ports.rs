//! The ports of one machine and one protocol: which are in use, and which one a socket gets that wants any.
//!
//! Invariant: ephemeral ports are given in a row, so they depend on the guest's calls only; a port is not given again
//! before all others were, as on a machine that waits out old packets.

use super::error::SocketErrorCode;
use std::collections::BTreeMap;

/// The ephemeral ports of Linux (`net.ipv4.ip_local_port_range`). When all are in use, `address-in-use`.
const EPHEMERAL: std::ops::RangeInclusive<u16> = 32_768..=60_999;

#[derive(Clone, Debug, Default)]
pub(super) struct PortTable {
    /// How many sockets have each port.
    used: BTreeMap<u16, u32>,
    /// How many ephemeral ports were given.
    given: u16,
}

impl PortTable {
    /// Takes the port; the same one can be taken several times.
    pub(super) fn take(&mut self, port: u16) {
        *self.used.entry(port).or_default() += 1;
    }

    /// Takes a free port.
    pub(super) fn take_any(&mut self) -> Result<u16, SocketErrorCode> {
        let (first, count) = (*EPHEMERAL.start(), EPHEMERAL.len() as u16);
        for _ in 0..count {
            let port = first + self.given;
            self.given = (self.given + 1) % count;
            if !self.used.contains_key(&port) {
                self.take(port);
                return Ok(port);
            }
        }
        Err(SocketErrorCode::AddressInUse)
    }

    pub(super) fn give_back(&mut self, port: u16) {
        let Some(count) = self.used.get_mut(&port) else { panic!("port {port} is given back and was not taken") };
        *count -= 1;
        if *count == 0 {
            self.used.remove(&port);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_come_in_a_row_until_none_is_left() {
        let mut ports = PortTable::default();
        ports.take(32_769);
        assert_eq!([ports.take_any(), ports.take_any()], [Ok(32_768), Ok(32_770)]);
        ports.give_back(32_768);
        let rest: Vec<_> = std::iter::from_fn(|| ports.take_any().ok()).collect();
        assert_eq!((rest.len(), rest.last()), (EPHEMERAL.len() - 2, Some(&32_768)));
        assert_eq!(ports.take_any(), Err(SocketErrorCode::AddressInUse));
    }
}
