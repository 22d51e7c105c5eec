//! What an operation of the network answers when it does not succeed: the words of `wasi:sockets/network`.

/// Why an operation failed. Each case is the one of the same name in `wasi:sockets/network.error-code`, where its
/// POSIX equivalent stands; those that nothing here gives are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SocketErrorCode {
    /// Nothing more exact is known.
    #[error("unknown error")]
    Unknown,
    /// `EACCES`.
    #[error("access denied")]
    AccessDenied,
    /// `EINVAL`.
    #[error("invalid argument")]
    InvalidArgument,
    /// `ETIMEDOUT`.
    #[error("timed out")]
    Timeout,
    /// Another operation of this socket is in progress.
    #[error("another operation is in progress")]
    ConcurrencyConflict,
    /// What is to be finished was never started, or is finished.
    #[error("no such operation is in progress")]
    NotInProgress,
    /// `EAGAIN`.
    #[error("would block")]
    WouldBlock,
    /// The socket is in another state.
    #[error("invalid state")]
    InvalidState,
    /// `EMFILE`.
    #[error("no more sockets")]
    NewSocketLimit,
    /// `EADDRNOTAVAIL` of a bind.
    #[error("address not bindable")]
    AddressNotBindable,
    /// `EADDRINUSE`.
    #[error("address in use")]
    AddressInUse,
    /// `EHOSTUNREACH`, `ENETUNREACH`.
    #[error("remote unreachable")]
    RemoteUnreachable,
    /// `ECONNREFUSED`.
    #[error("connection refused")]
    ConnectionRefused,
    /// `ECONNRESET`.
    #[error("connection reset")]
    ConnectionReset,
    /// `EMSGSIZE`.
    #[error("datagram too large")]
    DatagramTooLarge,
    /// `EAI_NONAME`.
    #[error("name unresolvable")]
    NameUnresolvable,
}

/// Why a stream of a connection gives or takes no more bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamEnd {
    /// It is at its end, or shut down.
    #[error("closed")]
    Closed,
    /// The connection broke. A reader is told once and finds the stream closed from then on; a writer each time.
    #[error("failed: {0}")]
    Failed(SocketErrorCode),
}
