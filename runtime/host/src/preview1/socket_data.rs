//! Bytes of sockets of preview 1: what `fd_read` and `fd_write` do on one, and the functions that only sockets have.
//!
//! ```text
//! connection   writes: as much as there is room for, or all of it and waits │ reads: what has come; nothing at its end
//! datagrams    one a call, whole; what does not fit into the buffers of a read is lost, which `roflags` says
//! ```
//!
//! Invariant: all buffers of a list are one message.
//! Not here: making and ending connections (`sockets`).

#![allow(clippy::too_many_arguments, reason = "as many as the functions of the extension have")]

use super::errno::WasiErrno;
use super::guest_memory::GuestRange;
use super::socket_address::shown_address;
use super::{Answer, CallFailure, arguments};
use crate::call::{CallProgress, Host, Import};
use crate::record::WordRecord;
use crate::streams::{BlockingMode, StreamOpFailure};
use fozzy_trace::IoChannel;
use fozzy_world::network::{Readiness, SocketId, TcpId, TcpStage, UdpId};
use fozzy_world::table::{Handle, StreamSink, StreamSource};
use std::net::SocketAddr;
use wasmtime::Result;

const SOCK_RECV: Import = Import::new("wasi_snapshot_preview1.sock_recv");
const SOCK_RECV_FROM: Import = Import::new("wasi_snapshot_preview1.sock_recv_from");
const SOCK_SEND: Import = Import::new("wasi_snapshot_preview1.sock_send");
const SOCK_SEND_TO: Import = Import::new("wasi_snapshot_preview1.sock_send_to");

/// All of `riflags`.
const RIFLAGS: u16 = 3;
const RECV_PEEK: u16 = 1;
const RECV_WAITALL: u16 = 2;
/// Of `roflags`.
const RECV_DATA_TRUNCATED: u16 = 1;

/// What a read of a socket gave.
#[derive(Default)]
pub(super) struct ReceivedBytes {
    pub(super) bytes: Vec<u8>,
    /// Who sent the datagram.
    from: Option<SocketAddr>,
    is_truncated: bool,
}

/// The same in the history: the bytes, and the address that the guest was told.
type ReceivedRecord = (Vec<u8>, Option<WordRecord<SocketAddr>>);

/// Where the answer of a receiving call goes.
struct ReceiveTargets {
    size: u32,
    flags: u32,
    /// The buffer for the address of the sender.
    address: Option<u32>,
    /// The place of its port, which the first version of the extension does not have.
    port: Option<u32>,
}

/// Why nothing can be written any more.
fn write_failure(failure: &StreamOpFailure) -> WasiErrno {
    match failure {
        StreamOpFailure::Closed => WasiErrno::PIPE,
        StreamOpFailure::Network(error) => (*error).into(),
        StreamOpFailure::Failed(_) | StreamOpFailure::Http(_) => WasiErrno::IO,
    }
}

impl Host {
    /// Where the bytes of a socket come from or go to, if an observer wants to know. At its end, a connection is forgotten.
    fn socket_channel(&self, handle: &Handle) -> Option<IoChannel> {
        if self.run.is_told() { self.run.world.channel(self.node, handle) } else { None }
    }

    /// Writes to a socket; `done` bytes of it are written already.
    pub(super) fn send_on_socket(
        &mut self,
        import: Import,
        fd: u32,
        bytes: &[u8],
        to: Option<SocketAddr>,
        done: &mut usize,
    ) -> Answer<CallProgress<u64>> {
        match self.socket_of(import, fd)? {
            (SocketId::Tcp(id), nonblocking) => self.send_bytes(import, fd, (id, nonblocking), bytes, done),
            (SocketId::Udp(id), _) => Ok(CallProgress::Done(self.send_datagram(id, bytes, to)?)),
        }
    }

    fn send_bytes(
        &mut self,
        import: Import,
        fd: u32,
        (id, nonblocking): (TcpId, bool),
        bytes: &[u8],
        done: &mut usize,
    ) -> Answer<CallProgress<u64>> {
        if self.is_connecting(import, fd, id)? {
            return self.wait_or_again(nonblocking, Readiness::Socket(id));
        }
        let channel = self.socket_channel(&Handle::OutputStream(StreamSink::Tcp(id)));
        let begun = *done;
        let failure = loop {
            if *done >= bytes.len() {
                break None;
            }
            let room = match self.permit_tcp(id) {
                Ok(0) => break None,
                Ok(room) => room as usize,
                Err(failure) => break Some(failure),
            };
            let part = &bytes[*done..bytes.len().min(done.saturating_add(room))];
            match self.write_tcp(id, part)? {
                CallProgress::Done(Ok(())) => *done += part.len(),
                CallProgress::Done(Err(failure)) => break Some(failure),
                CallProgress::Wait(waits) => return Ok(CallProgress::Wait(waits)),
            }
        };
        if *done > begun {
            self.tell_io(true, (*done - begun) as u64, |_, _| channel);
        }
        match failure {
            // What was written is told first; the next write fails as this one.
            Some(failure) if *done == 0 => Err(write_failure(&failure).into()),
            None if *done < bytes.len() && (!nonblocking || *done == 0) => {
                self.wait_or_again(nonblocking, Readiness::Writable(id))
            }
            _ => Ok(CallProgress::Done(*done as u64)),
        }
    }

    fn send_datagram(&mut self, id: UdpId, bytes: &[u8], to: Option<SocketAddr>) -> Answer<u64> {
        if to.is_none() && self.world().network.udp_remote_address(id).is_err() {
            return Err(WasiErrno::DESTADDRREQ.into());
        }
        let to = to.map(|to| self.inward_peer(SocketId::Udp(id), to)).transpose()?;
        self.bind_datagrams(id)?;
        let (_, is_shut) = self.world().network.udp_is_shut(id);
        if is_shut {
            return Err(WasiErrno::PIPE.into());
        }
        self.on_network(|network, context| network.udp_send_to(id, bytes.to_vec(), to, context))?;
        let handle = Handle::OutgoingDatagrams { socket: id, permit: 0 };
        self.tell_io(true, bytes.len() as u64, |world, node| world.channel(node, &handle));
        self.tell_datagrams();
        Ok(bytes.len() as u64)
    }

    /// Whether a connection is still being made; what it failed for is told here.
    fn is_connecting(&mut self, import: Import, fd: u32, id: TcpId) -> Answer<bool> {
        self.settle_socket(import, fd, id)?;
        match self.take_socket_error(import, fd)? {
            Some(error) => Err(error.into()),
            None => Ok(self.world().network.tcp_stage(id) == TcpStage::Connecting),
        }
    }

    /// Reads from a socket, at most `length` bytes. With `is_more`, bytes of the same call have come already: what breaks the connection
    /// behind them is left to the next call.
    pub(super) fn receive_on_socket(
        &mut self,
        import: Import,
        fd: u32,
        length: u32,
        is_more: bool,
    ) -> Answer<CallProgress<ReceivedBytes>> {
        match self.socket_of(import, fd)? {
            (SocketId::Tcp(id), nonblocking) => self.receive_bytes(import, fd, (id, nonblocking), length, is_more),
            (SocketId::Udp(id), nonblocking) => self.receive_datagram((id, nonblocking), length),
        }
    }

    fn receive_bytes(
        &mut self,
        import: Import,
        fd: u32,
        (id, nonblocking): (TcpId, bool),
        length: u32,
        is_more: bool,
    ) -> Answer<CallProgress<ReceivedBytes>> {
        if self.is_connecting(import, fd, id)? {
            return self.wait_or_again(nonblocking, Readiness::Socket(id));
        }
        if self.world().network.tcp_stage(id) != TcpStage::Connected {
            return Err(WasiErrno::NOTCONN.into());
        }
        let channel = self.socket_channel(&Handle::InputStream(StreamSource::Tcp(id)));
        let bytes = match self.read_tcp(id, length.into(), BlockingMode::Blocking)? {
            CallProgress::Wait(_) => return self.wait_or_again(nonblocking, Readiness::Readable(id)),
            CallProgress::Done(Ok(bytes)) => bytes,
            CallProgress::Done(Err(StreamOpFailure::Closed)) => Vec::new(),
            CallProgress::Done(Err(StreamOpFailure::Network(error))) if is_more => {
                // The connection tells it once.
                self.keep_socket_error(import, fd, error)?;
                Vec::new()
            }
            CallProgress::Done(Err(StreamOpFailure::Network(error))) => return Err(error.into()),
            CallProgress::Done(Err(_)) => return Err(WasiErrno::IO.into()),
        };
        self.tell_io(false, bytes.len() as u64, |_, _| channel);
        Ok(CallProgress::Done(ReceivedBytes { bytes, ..ReceivedBytes::default() }))
    }

    fn receive_datagram(
        &mut self,
        (id, nonblocking): (UdpId, bool),
        length: u32,
    ) -> Answer<CallProgress<ReceivedBytes>> {
        let mut received = self.on_network(|network, _| network.udp_receive(id, 1))?;
        let Some((from, mut bytes)) = received.pop() else {
            return match self.world().network.udp_is_shut(id) {
                (true, _) if !nonblocking => Ok(CallProgress::Done(ReceivedBytes::default())),
                _ => self.wait_or_again(nonblocking, Readiness::Datagram(id)),
            };
        };
        let from = self.outward(SocketId::Udp(id), from);
        let handle = Handle::IncomingDatagrams(id);
        self.tell_io(false, bytes.len() as u64, |world, node| world.channel(node, &handle));
        self.tell_datagrams();
        let is_truncated = bytes.len() > length as usize;
        bytes.truncate(length as usize);
        Ok(CallProgress::Done(ReceivedBytes { bytes, from: Some(from), is_truncated }))
    }

    pub(super) async fn socket_receive(
        &mut self,
        fd: u32,
        buffers: u32,
        count: u32,
        flags: u32,
        size: u32,
        out_flags: u32,
    ) -> Result<u32> {
        let targets = ReceiveTargets { size, flags: out_flags, address: None, port: None };
        self.receive_message(SOCK_RECV, fd, (buffers, count), flags, targets).await
    }

    pub(super) async fn socket_receive_from(
        &mut self,
        fd: u32,
        buffers: u32,
        count: u32,
        address: u32,
        flags: u32,
        port: Option<u32>,
        size: u32,
        out_flags: u32,
    ) -> Result<u32> {
        let targets = ReceiveTargets { size, flags: out_flags, address: Some(address), port };
        self.receive_message(SOCK_RECV_FROM, fd, (buffers, count), flags, targets).await
    }

    async fn receive_message(
        &mut self,
        import: Import,
        fd: u32,
        (buffers, count): (u32, u32),
        flags: u32,
        targets: ReceiveTargets,
    ) -> Result<u32> {
        let ranges = self.buffers(import, buffers, count);
        let mut got = Vec::new();
        let attempt = |host: &mut Host| -> Answer<CallProgress<ReceivedRecord>> {
            let flags = arguments::flags(import, flags, RIFLAGS, "riflags")?;
            let (socket, _) = host.socket_of(import, fd)?;
            let ranges = ranges.as_ref().map_err(Clone::clone)?;
            if flags & RECV_PEEK != 0 {
                return Err(WasiErrno::NOTSUP.into());
            }
            // Before anything is read, which would be lost.
            if let Some(address) = targets.address {
                host.check_address_room(import, address, socket)?;
            }
            let wants_all = flags & RECV_WAITALL != 0 && matches!(socket, SocketId::Tcp(_));
            let Some(received) = host.receive_into(import, fd, ranges, wants_all, &mut got)? else {
                return Ok(CallProgress::Wait(vec![host.socket_wait(socket, false)]));
            };
            let from = host.put_received(import, socket, &received, ranges, &targets)?;
            Ok(CallProgress::Done((received.bytes, from.map(WordRecord))))
        };
        self.preview1_waiting(import, (fd, count, flags), attempt).await
    }

    /// Reads what fits into the buffers; `None` while there is too little. What has come of it is in `got`.
    fn receive_into(
        &mut self,
        import: Import,
        fd: u32,
        ranges: &[GuestRange],
        wants_all: bool,
        got: &mut Vec<u8>,
    ) -> Answer<Option<ReceivedBytes>> {
        let length: u32 = ranges.iter().map(|range| range.length).sum();
        loop {
            match self.receive_on_socket(import, fd, length - got.len() as u32, !got.is_empty()) {
                Ok(CallProgress::Done(mut part)) => {
                    let is_last = !wants_all || part.bytes.is_empty();
                    got.append(&mut part.bytes);
                    if is_last || got.len() >= length as usize {
                        part.bytes = std::mem::take(got);
                        return Ok(Some(part));
                    }
                }
                Ok(CallProgress::Wait(_)) => return Ok(None),
                // What has come is not lost.
                Err(CallFailure::Errno(_)) if !got.is_empty() => {
                    return Ok(Some(ReceivedBytes { bytes: std::mem::take(got), ..ReceivedBytes::default() }));
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Writes what came to where the guest wants it; says who sent it, if the guest asks that.
    fn put_received(
        &mut self,
        import: Import,
        socket: SocketId,
        received: &ReceivedBytes,
        ranges: &[GuestRange],
        targets: &ReceiveTargets,
    ) -> Answer<Option<SocketAddr>> {
        self.scatter(import, ranges, &received.bytes)?;
        let mut told = None;
        if let Some(address) = targets.address {
            let from = received.from.map_or_else(|| self.peer_address(socket), Ok)?;
            self.put_address(import, address, from.ip())?;
            if let Some(port) = targets.port {
                self.put_value(import, port, 4, &u32::from(from.port()).to_le_bytes())?;
            }
            told = Some(from);
        }
        self.put_size(import, targets.size, received.bytes.len())?;
        let flags = if received.is_truncated { RECV_DATA_TRUNCATED } else { 0 };
        self.put_value(import, targets.flags, 2, &flags.to_le_bytes())?;
        Ok(told)
    }

    /// Writes bytes into buffers, one after the other.
    fn scatter(&self, import: Import, ranges: &[GuestRange], bytes: &[u8]) -> Answer<()> {
        let mut rest = bytes;
        for range in ranges {
            if rest.is_empty() {
                break;
            }
            let (here, behind) = rest.split_at(rest.len().min(range.length as usize));
            self.put(import, range.at, here)?;
            rest = behind;
        }
        Ok(())
    }

    /// Reads a datagram as bytes of a file.
    pub(super) async fn read_datagram(
        &mut self,
        import: Import,
        fd: u32,
        (buffers, count): (u32, u32),
        size: u32,
    ) -> Result<u32> {
        let ranges = self.buffers(import, buffers, count);
        let length: u32 = ranges.iter().flatten().map(|range| range.length).sum();
        let attempt = |host: &mut Host| -> Answer<CallProgress<Vec<u8>>> {
            let ranges = ranges.as_ref().map_err(Clone::clone)?;
            Ok(match host.receive_on_socket(import, fd, length, false)? {
                CallProgress::Done(received) => {
                    host.scatter(import, ranges, &received.bytes)?;
                    host.put_size(import, size, received.bytes.len())?;
                    CallProgress::Done(received.bytes)
                }
                CallProgress::Wait(waits) => CallProgress::Wait(waits),
            })
        };
        self.preview1_waiting(import, (fd, length), attempt).await
    }

    pub(super) async fn socket_send(
        &mut self,
        fd: u32,
        buffers: u32,
        count: u32,
        flags: u32,
        size: u32,
    ) -> Result<u32> {
        self.send_message(SOCK_SEND, fd, (buffers, count), None, flags, size).await
    }

    pub(super) async fn socket_send_to(
        &mut self,
        fd: u32,
        buffers: u32,
        count: u32,
        address: u32,
        port: u32,
        flags: u32,
        size: u32,
    ) -> Result<u32> {
        let to = self.named_address(SOCK_SEND_TO, address, port);
        self.send_message(SOCK_SEND_TO, fd, (buffers, count), Some(to), flags, size).await
    }

    async fn send_message(
        &mut self,
        import: Import,
        fd: u32,
        (buffers, count): (u32, u32),
        to: Option<Answer<SocketAddr>>,
        flags: u32,
        size: u32,
    ) -> Result<u32> {
        let bytes = self.gathered(import, buffers, count);
        let shown = bytes.as_ref().map_or(&[][..], Vec::as_slice);
        let asked = (fd, shown, to.as_ref().and_then(shown_address));
        let mut done = 0;
        let attempt = |host: &mut Host| -> Answer<CallProgress<u64>> {
            arguments::flags(import, flags, u16::MAX, "siflags")?;
            host.socket_of(import, fd)?;
            let bytes = bytes.as_ref().map_err(Clone::clone)?;
            let to = to.clone().transpose()?;
            let progress = host.send_on_socket(import, fd, bytes, to, &mut done)?;
            if let CallProgress::Done(sent) = &progress {
                host.put_size(import, size, *sent as usize)?;
            }
            Ok(progress)
        };
        self.preview1_waiting(import, asked, attempt).await
    }

    /// The bytes of all buffers, which are recorded with the call.
    pub(super) fn gathered(&mut self, import: Import, buffers: u32, count: u32) -> Answer<Vec<u8>> {
        let mut bytes = Vec::new();
        for range in self.buffers(import, buffers, count)? {
            bytes.extend(self.bytes(import, range)?);
        }
        self.look_for_undefined(import, &bytes);
        Ok(bytes)
    }
}
