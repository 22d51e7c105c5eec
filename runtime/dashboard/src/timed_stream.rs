//! Connections on which nothing can be written for long are ended: a browser that never reads would hold its place, and what waits for it, for ever.
//!
//! ```text
//! TimedListener ─▶ TimedStream: poll_write ─ pending, for WRITE_MAX ─▶ an error, which ends the connection
//! ```
//!
//! Invariants: whatever is taken of the bytes begins the time anew, so that who reads slowly is served; reading has no bound here.

use axum::serve::Listener;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Sleep;

/// Real time in which a browser takes nothing. It asks again when it goes on, and gets the whole document.
const WRITE_MAX: Duration = Duration::from_secs(30);

/// Listens; its connections are bounded.
pub(crate) struct TimedListener(pub(crate) TcpListener);

/// A connection.
pub(crate) struct TimedStream<S> {
    stream: S,
    write_max: Duration,
    /// Since when nothing can be written.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl Listener for TimedListener {
    type Io = TimedStream<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TimedStream<TcpStream>, SocketAddr) {
        let (stream, from) = Listener::accept(&mut self.0).await;
        (TimedStream::new(stream, WRITE_MAX), from)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }
}

impl<S> TimedStream<S> {
    fn new(stream: S, write_max: Duration) -> TimedStream<S> {
        TimedStream { stream, write_max, waiting: None }
    }

    fn bounded(&mut self, written: Poll<io::Result<usize>>, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        let write_max = self.write_max;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(tokio::time::sleep(write_max)));
        waiting.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TimedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TimedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.bounded(written, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.bounded(written, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[tokio::test]
    async fn who_reads_nothing_is_cut_off_and_who_reads_slowly_is_not() {
        let (near, _far) = duplex(16);
        let mut stream = TimedStream::new(near, Duration::from_millis(50));
        let error = stream.write_all(&[7; 64]).await.expect_err("nobody reads");
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        let (near, mut far) = duplex(16);
        let mut stream = TimedStream::new(near, Duration::from_secs(60));
        let mut got = [0; 64];
        let (written, read) = tokio::join!(stream.write_all(&[7; 64]), far.read_exact(&mut got));
        assert!(written.is_ok() && read.is_ok_and(|bytes| bytes == 64) && got == [7; 64]);
    }
}
