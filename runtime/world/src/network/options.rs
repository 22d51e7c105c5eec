//! Options of sockets: values that are stored, and clamped as Linux does it.
//!
//! Only the sizes of buffers have an effect. Hop limits matter to no packet, as all machines are neighbours; keep-alive
//! packets are not sent.

use super::error::SocketErrorCode;

/// Least size of a buffer, in bytes; what is set below becomes this. Linux has such a bound too (`SOCK_MIN_SNDBUF`).
pub(super) const BUFFER_BYTES_MIN: u64 = super::connection::ROOM_BYTES_MIN as u64;
/// Greatest size of a buffer, in bytes; what is set above becomes this. Linux has such a bound too (`wmem_max`).
pub(super) const BUFFER_BYTES_MAX: u64 = 1 << 20;
/// Size of a buffer unless told otherwise. Linux begins with less and grows; one size serves programs that write a good
/// deal before they read.
pub(super) const BUFFER_BYTES_DEFAULT: u64 = 256 * 1024;
/// Keep-alive times, in seconds, are at the least and at the most (wasmtime-wasi, Linux).
const KEEP_ALIVE_S: (u64, u64) = (1, i16::MAX as u64);
/// Keep-alive packets at the most (wasmtime-wasi, Linux).
const KEEP_ALIVE_COUNT_MAX: u32 = i8::MAX as u32;
const SECOND_NS: u64 = 1_000_000_000;

/// What can be set at a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SocketOptions {
    /// `SO_KEEPALIVE`.
    pub keep_alive: bool,
    /// `TCP_KEEPIDLE`, in nanoseconds.
    pub keep_alive_idle_ns: u64,
    /// `TCP_KEEPINTVL`, in nanoseconds.
    pub keep_alive_interval_ns: u64,
    /// `TCP_KEEPCNT`.
    pub keep_alive_count: u32,
    /// `IP_TTL`.
    pub hop_limit: u8,
    /// `SO_RCVBUF`, in bytes.
    pub receive_buffer: u64,
    /// `SO_SNDBUF`, in bytes.
    pub send_buffer: u64,
}

/// One of them, with its new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketOption {
    /// `SO_KEEPALIVE`.
    KeepAlive(bool),
    /// `TCP_KEEPIDLE`, in nanoseconds.
    KeepAliveIdle(u64),
    /// `TCP_KEEPINTVL`, in nanoseconds.
    KeepAliveInterval(u64),
    /// `TCP_KEEPCNT`.
    KeepAliveCount(u32),
    /// `IP_TTL`.
    HopLimit(u8),
    /// `SO_RCVBUF`, in bytes.
    ReceiveBuffer(u64),
    /// `SO_SNDBUF`, in bytes.
    SendBuffer(u64),
}

impl Default for SocketOptions {
    fn default() -> SocketOptions {
        SocketOptions {
            keep_alive: false,
            keep_alive_idle_ns: 7_200 * SECOND_NS,
            keep_alive_interval_ns: 75 * SECOND_NS,
            keep_alive_count: 9,
            hop_limit: 64,
            receive_buffer: BUFFER_BYTES_DEFAULT,
            send_buffer: BUFFER_BYTES_DEFAULT,
        }
    }
}

impl SocketOption {
    /// Whether the value is allowed at all: everything but zero is.
    pub(super) fn check(self) -> Result<(), SocketErrorCode> {
        let is_zero = match self {
            SocketOption::KeepAlive(_) => false,
            SocketOption::KeepAliveIdle(value) | SocketOption::KeepAliveInterval(value) => value == 0,
            SocketOption::ReceiveBuffer(value) | SocketOption::SendBuffer(value) => value == 0,
            SocketOption::KeepAliveCount(value) => value == 0,
            SocketOption::HopLimit(value) => value == 0,
        };
        if is_zero { Err(SocketErrorCode::InvalidArgument) } else { Ok(()) }
    }
}

impl SocketOptions {
    pub(super) fn set(&mut self, option: SocketOption) {
        let seconds = |ns: u64| ns.div_ceil(SECOND_NS).clamp(KEEP_ALIVE_S.0, KEEP_ALIVE_S.1) * SECOND_NS;
        let buffer = |bytes: u64| bytes.clamp(BUFFER_BYTES_MIN, BUFFER_BYTES_MAX);
        match option {
            SocketOption::KeepAlive(value) => self.keep_alive = value,
            SocketOption::KeepAliveIdle(ns) => self.keep_alive_idle_ns = seconds(ns),
            SocketOption::KeepAliveInterval(ns) => self.keep_alive_interval_ns = seconds(ns),
            SocketOption::KeepAliveCount(count) => self.keep_alive_count = count.min(KEEP_ALIVE_COUNT_MAX),
            SocketOption::HopLimit(value) => self.hop_limit = value,
            SocketOption::ReceiveBuffer(bytes) => self.receive_buffer = buffer(bytes),
            SocketOption::SendBuffer(bytes) => self.send_buffer = buffer(bytes),
        }
    }
}
