//! The streams of connections, among all other streams.
//!
//! A reader waits for bytes or for the end; a writer waits for room. What is written is on its way, so there is nothing to
//! flush.

use crate::call::{CallProgress, Host};
use crate::streams::{Attempt, BlockingMode, StreamOpFailure};
use fozzy_world::Wait;
use fozzy_world::network::{Readiness, StreamEnd, TcpId};
use fozzy_world::table::{Handle, StreamSink as Output, StreamSource as Input};

fn failure(end: StreamEnd) -> StreamOpFailure {
    match end {
        StreamEnd::Closed => StreamOpFailure::Closed,
        StreamEnd::Failed(error) => StreamOpFailure::Network(error),
    }
}

impl Host {
    /// Reads what a connection has brought.
    pub(crate) fn read_tcp(&mut self, socket: TcpId, len: u64, patience: BlockingMode) -> Attempt<Vec<u8>> {
        let max = usize::try_from(len).unwrap_or(usize::MAX);
        let read = self.on_network(|network, context| network.tcp_read(socket, max, context));
        match read {
            Ok(bytes) if bytes.is_empty() && len > 0 => {
                if patience == BlockingMode::Blocking {
                    return Ok(CallProgress::Wait(vec![Wait::Socket(Readiness::Readable(socket))]));
                }
                // A loop that reads again and again must come to an end.
                self.world().clock.tick();
                Ok(CallProgress::Done(Ok(bytes)))
            }
            read => Ok(CallProgress::Done(read.map_err(failure))),
        }
    }

    /// Writes to a connection, all at once; a guest that asked for permission has room, others wait for it.
    pub(crate) fn write_tcp(&mut self, socket: TcpId, bytes: &[u8]) -> Attempt<()> {
        match self.permit_tcp(socket) {
            Err(failure) => Ok(CallProgress::Done(Err(failure))),
            Ok(permit) if permit < bytes.len() as u64 => {
                Ok(CallProgress::Wait(vec![Wait::Socket(Readiness::Writable(socket))]))
            }
            Ok(_) => {
                let written = self.on_network(|network, context| network.tcp_write(socket, bytes, context));
                Ok(CallProgress::Done(written.map_err(failure)))
            }
        }
    }

    /// What a connection has room for.
    pub(crate) fn permit_tcp(&self, socket: TcpId) -> std::result::Result<u64, StreamOpFailure> {
        let permit = self.run.world.network.tcp_check_write(socket);
        permit.map(|bytes| bytes as u64).map_err(failure)
    }

    /// The stream of a connection is dropped.
    pub(crate) fn release_tcp(&mut self, stream: &Handle) {
        if let Handle::InputStream(Input::Tcp(socket)) | Handle::OutputStream(Output::Tcp(socket)) = stream {
            self.on_network(|network, context| network.tcp_release(*socket, context));
        }
    }
}
