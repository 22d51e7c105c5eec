//! One direction of a connection: bytes from where they are written to where they are read.
//!
//! ```text
//!   read ◀── readable ── travelling ── waiting ◀── written        one queue; only the borders move
//!           └── receive buffer ──┘                (window)
//!                       └──── send buffer ────┘   (room)
//! ```
//!
//! Invariant: bytes come out once and in the order in which they went in, whatever the packets do, because packets
//! move borders and carry no bytes.

use fozzy_trace::Instant;
use std::collections::VecDeque;

/// Bytes that travel as one packet at the most: what one offloaded packet of Linux holds.
const SEGMENT_BYTES_MAX: usize = 64 * 1024;
/// Packets on their way in one direction of one connection. With more, the sender has no room; a real socket
/// counts the overhead of small packets against its buffer too.
const SEGMENTS_MAX: usize = 256;

/// How far the end of the stream has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fin {
    /// More may be written.
    Open,
    /// It follows what is waiting.
    Wanted,
    /// It is on its way.
    Sent,
    /// The reader has it.
    Arrived,
}

#[derive(Clone, Debug)]
pub(super) struct TcpPipe {
    bytes: VecDeque<u8>,
    readable: usize,
    travelling: usize,
    /// Packets that carry the travelling bytes.
    segments: usize,
    /// Bytes that arrived for a reader who wants no more. They fill its buffer, as on Linux.
    unwanted: usize,
    /// Nothing more arrives.
    is_cut: bool,
    /// The sender's packets are lost for good.
    pub(super) is_stalled: bool,
    pub(super) fin: Fin,
    /// When the last packet arrives; no later one may be earlier.
    pub(super) last_arrival: Instant,
    pub(super) send_buffer: usize,
    pub(super) receive_buffer: usize,
}

impl TcpPipe {
    pub(super) fn new(send_buffer: usize, receive_buffer: usize) -> TcpPipe {
        TcpPipe {
            bytes: VecDeque::new(),
            readable: 0,
            travelling: 0,
            segments: 0,
            unwanted: 0,
            is_cut: false,
            is_stalled: false,
            fin: Fin::Open,
            last_arrival: Instant::START,
            send_buffer,
            receive_buffer,
        }
    }

    /// Bytes held.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(super) fn readable(&self) -> usize {
        self.readable
    }

    /// Whether the reader leaves bytes behind when it goes.
    pub(super) fn has_unread(&self) -> bool {
        self.readable + self.unwanted > 0
    }

    fn waiting(&self) -> usize {
        self.bytes.len() - self.readable - self.travelling
    }

    /// Bytes that can be written.
    pub(super) fn room(&self) -> usize {
        if self.fin != Fin::Open || self.segments >= SEGMENTS_MAX {
            return 0;
        }
        self.send_buffer.saturating_sub(self.bytes.len() - self.readable)
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        assert!(self.fin == Fin::Open, "nothing is written behind the end");
        self.bytes.extend(bytes);
    }

    /// Bytes that can be sent now, as one packet.
    pub(super) fn segment(&self) -> Option<usize> {
        if self.is_cut || self.is_stalled || self.segments >= SEGMENTS_MAX {
            return None;
        }
        let window = self.receive_buffer.saturating_sub(self.readable + self.travelling + self.unwanted);
        Some(self.waiting().min(window).min(SEGMENT_BYTES_MAX)).filter(|bytes| *bytes > 0)
    }

    /// Whether the end of the stream can be sent now.
    pub(super) fn is_fin_due(&self) -> bool {
        self.fin == Fin::Wanted && self.waiting() == 0 && !self.is_cut && !self.is_stalled
    }

    pub(super) fn sent(&mut self, bytes: usize, arrival: Instant) {
        self.travelling += bytes;
        self.segments += 1;
        self.last_arrival = arrival;
    }

    /// A packet arrives. Whether anything did.
    pub(super) fn arrive(&mut self, bytes: usize) -> bool {
        if self.is_cut {
            return false;
        }
        assert!(bytes <= self.travelling, "more arrives than was sent");
        self.segments -= 1;
        self.travelling -= bytes;
        self.readable += bytes;
        true
    }

    pub(super) fn read(&mut self, bytes: usize) -> Vec<u8> {
        let bytes = bytes.min(self.readable);
        self.readable -= bytes;
        let (front, back) = self.bytes.as_slices();
        let of_front = bytes.min(front.len());
        let read = [&front[..of_front], &back[..bytes - of_front]].concat();
        self.bytes.drain(..bytes);
        read
    }

    /// The reader wants none of what is here. How many bytes that were.
    pub(super) fn discard(&mut self) -> usize {
        let count = self.readable;
        self.bytes.drain(..count);
        self.unwanted += count;
        self.readable = 0;
        count
    }

    /// Nothing more arrives: what is not readable now never will be. How many bytes that were.
    pub(super) fn cut(&mut self) -> usize {
        let count = self.bytes.len() - self.readable;
        self.bytes.truncate(self.readable);
        (self.travelling, self.segments, self.is_cut) = (0, 0, true);
        count
    }

    /// What is not on its way never will be. How many bytes that were.
    pub(super) fn forget_waiting(&mut self) -> usize {
        let count = self.waiting();
        self.bytes.truncate(self.readable + self.travelling);
        self.is_stalled = true;
        count
    }
}
