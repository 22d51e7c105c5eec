//! Packets of the remote protocol as bytes: `$text#checksum`, acknowledged until the client has that switched off.

use std::io::{self, BufRead, Write};

/// Longest packet of a client, in bytes. It is told of it.
pub(super) const PACKET_BYTES_MAX: usize = 1 << 16;

/// What came from a client.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ClientPacket {
    /// A packet whose checksum is right.
    Packet(String),
    /// One whose checksum is wrong.
    Damaged,
    /// The client wants the run to stop.
    Interrupt,
    /// The client has left, or sends what is no packet.
    Closed,
}

/// The next packet; acknowledgements are passed over.
pub(super) fn receive(input: &mut impl BufRead) -> ClientPacket {
    loop {
        match byte(input) {
            Some(b'$') => break,
            Some(3) => return ClientPacket::Interrupt,
            Some(b'+' | b'-') => {}
            _ => return ClientPacket::Closed,
        }
    }
    let mut text = Vec::new();
    loop {
        match byte(input) {
            Some(b'#') => break,
            Some(byte) if text.len() < PACKET_BYTES_MAX => text.push(byte),
            _ => return ClientPacket::Closed,
        }
    }
    let (Some(high), Some(low)) = (byte(input), byte(input)) else { return ClientPacket::Closed };
    let digits = [high, low];
    let said = std::str::from_utf8(&digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
    if said != Some(checksum(&text)) {
        return ClientPacket::Damaged;
    }
    ClientPacket::Packet(String::from_utf8_lossy(&text).into_owned())
}

fn byte(input: &mut impl BufRead) -> Option<u8> {
    let mut byte = [0];
    input.read_exact(&mut byte).ok()?;
    Some(byte[0])
}

fn checksum(text: &[u8]) -> u8 {
    text.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

/// Writes a packet.
pub(super) fn send(output: &mut dyn Write, text: &str) -> io::Result<()> {
    let mut escaped = Vec::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'#' | b'$' | b'}' | b'*' => escaped.extend([b'}', byte ^ 0x20]),
            byte => escaped.push(byte),
        }
    }
    output.write_all(b"$")?;
    output.write_all(&escaped)?;
    write!(output, "#{:02x}", checksum(&escaped))?;
    output.flush()
}

/// Bytes as digits.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_read_and_damaged_ones_are_known() {
        let mut sent = Vec::new();
        send(&mut sent, "a#b").expect("to memory");
        assert_eq!(sent, b"$a}\x03b#43");
        let mut input: &[u8] = b"++$qC#b4-\x03$qC#b5$qC";
        let received: Vec<ClientPacket> = (0..4).map(|_| receive(&mut input)).collect();
        let expected = [
            ClientPacket::Packet("qC".to_owned()),
            ClientPacket::Interrupt,
            ClientPacket::Damaged,
            ClientPacket::Closed,
        ];
        assert_eq!(received, expected);
        assert_eq!(receive(&mut &b"GET / HTTP/1.1"[..]), ClientPacket::Closed);
        assert_eq!(receive(&mut [b'$'; PACKET_BYTES_MAX + 9].as_slice()), ClientPacket::Closed);
    }
}
