//! Messages of Protocol Buffers, as they are written. <https://protobuf.dev/programming-guides/encoding/>

/// One message, as it is written.
#[derive(Default)]
pub(super) struct Message(pub(super) Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    /// A number; 0 is what is absent.
    pub(super) fn number(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3);
            self.varint(value);
        }
    }

    /// A number that one of several fields has, of which it is told that it is there.
    pub(super) fn chosen(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    /// A number of eight bytes; 0 is what is absent.
    pub(super) fn fixed(&mut self, field: u64, value: u64) {
        if value != 0 {
            self.varint(field << 3 | 1);
            self.0.extend(value.to_le_bytes());
        }
    }

    /// Bytes, text, or another message.
    pub(super) fn bytes(&mut self, field: u64, value: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(value.len() as u64);
        self.0.extend_from_slice(value);
    }

    /// Numbers, packed.
    pub(super) fn numbers(&mut self, field: u64, values: impl Iterator<Item = u64>) {
        let mut packed = Message::default();
        values.for_each(|value| packed.varint(value));
        self.bytes(field, &packed.0);
    }
}
