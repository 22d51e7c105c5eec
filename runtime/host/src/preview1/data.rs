//! Reading and writing: files at positions, standard streams and sockets as they come.
//!
//! ```text
//! fd_write(fd, [(2048, 0), (4096, 64)])  ─▶ 64 bytes: one buffer a call, as in wasmtime; libraries call again
//! ```
//!
//! Datagrams are whole messages: all buffers of a call are one, since a library that called again would make two of it.
//!
//! A full disk, a short write and a fault say how much was written; a closed pipe is `io`, as in wasmtime.
//!
//! Not here: which bytes a list of buffers means (`guest_memory`), bytes of sockets (`socket_data`).

use super::descriptors::move_to;
use super::errno::WasiErrno;
use super::guest_memory::GuestRange;
use super::{Answer, judged, judged_attempt, number};
use crate::call::{CallProgress, Host, Import, disk_call, patient_call};
use crate::disk_faults::{part, whole};
use crate::streams::pipe_of;
use fozzy_world::files::{DiskOperation, flip_bit};
use fozzy_world::network::SocketId;
use fozzy_world::pipe::PipeRead;
use fozzy_world::{OpenFile, OutputKind, PipeEnd, PipeId, Preview1Descriptor, Wait};
use wasmtime::Result;

const FD_PREAD: Import = Import::new("wasi_snapshot_preview1.fd_pread");
const FD_PWRITE: Import = Import::new("wasi_snapshot_preview1.fd_pwrite");
const FD_READ: Import = Import::new("wasi_snapshot_preview1.fd_read");
const FD_WRITE: Import = Import::new("wasi_snapshot_preview1.fd_write");

/// Bytes that are written to a pipe at once; a pipe that has room has room for them.
const PIPE_CHUNK_BYTES: usize = 4096;

/// The bytes of a write, which are recorded with it: what the guest wrote is known even if the descriptor is none.
fn written(host: &mut Host, import: Import, list: u32, count: u32) -> Answer<Vec<u8>> {
    let range = host.first_buffer(import, list, count)?;
    let bytes = host.bytes(import, range)?;
    host.look_for_undefined(import, &bytes);
    Ok(bytes)
}

/// Whether a descriptor is a socket of datagrams.
fn has_datagrams(host: &Host, fd: u32) -> bool {
    let descriptor = host.node().preview1.get(fd);
    matches!(descriptor, Some(Preview1Descriptor::Socket { socket: SocketId::Udp(_), .. }))
}

fn shown(bytes: &Answer<Vec<u8>>) -> &[u8] {
    bytes.as_ref().map_or(&[], Vec::as_slice)
}

pub(super) async fn fd_write(host: &mut Host, fd: u32, buffers: u32, count: u32, size: u32) -> Result<u32> {
    let bytes = match has_datagrams(host, fd) {
        true => host.gathered(FD_WRITE, buffers, count),
        false => written(host, FD_WRITE, buffers, count),
    };
    let mut done = 0;
    patient_call!(
        host,
        FD_WRITE,
        (fd, shown(&bytes)),
        judged_attempt(write_some(host, fd, &bytes, &mut done, size).await)
    )
    .map(number)
}

/// One attempt at a write; `done` bytes of it are written already.
async fn write_some(
    host: &mut Host,
    fd: u32,
    bytes: &Answer<Vec<u8>>,
    done: &mut usize,
    size: u32,
) -> Answer<CallProgress<u64>> {
    let bytes = bytes.as_ref().map_err(Clone::clone)?;
    let progress = match host.descriptor(FD_WRITE, fd)? {
        Preview1Descriptor::File { .. } => CallProgress::Done(write_at_position(host, fd, bytes).await?),
        Preview1Descriptor::Output(kind) => {
            let kind = *kind;
            let progress = write_output(host, kind, bytes, done)?;
            if let CallProgress::Done(written) = &progress {
                let written = *written;
                host.tell_io(true, written, |world, node| Some(world.output_channel(node, kind)));
            }
            progress
        }
        Preview1Descriptor::Socket { .. } => host.send_on_socket(FD_WRITE, fd, bytes, None, done)?,
        _ => return Err(WasiErrno::BADF.into()),
    };
    if let CallProgress::Done(written) = &progress {
        host.put_size(FD_WRITE, size, *written as usize)?;
    }
    Ok(progress)
}

/// Writes at the position of a file, or at its end.
async fn write_at_position(host: &mut Host, fd: u32, bytes: &[u8]) -> Answer<u64> {
    let Preview1Descriptor::File { file, position, append, .. } = *host.descriptor(FD_WRITE, fd)? else {
        unreachable!("it was just seen");
    };
    let written = write_file(host, file, (!append).then_some(position), bytes).await?;
    let to = match (append, file) {
        (false, _) => position.checked_add(written).ok_or(WasiErrno::OVERFLOW)?,
        (true, OpenFile::Disk(file)) => host.node().disk.stat(&file).size,
        (true, OpenFile::Live(file)) => host.live_stat(file, fozzy_trace::observation::FileOperation::Stat)??.size,
    };
    move_to(host, FD_WRITE, fd, to)?;
    Ok(written)
}

/// Writes to a file; without an offset at its end.
async fn write_file(host: &mut Host, file: OpenFile, offset: Option<u64>, bytes: &[u8]) -> Answer<u64> {
    let written = write_bytes(host, file, offset, bytes).await;
    let moved = written.as_ref().map_or(0, |written| *written);
    host.tell_io(true, moved, |world, node| Some(world.file_channel(node, file)));
    written
}

async fn write_bytes(host: &mut Host, file: OpenFile, offset: Option<u64>, bytes: &[u8]) -> Answer<u64> {
    match file {
        OpenFile::Disk(file) if host.takes_sdk_output(&file, bytes)? => Ok(bytes.len() as u64),
        OpenFile::Disk(file) => {
            let fault = host.inject_file(&file, DiskOperation::Write, None).await?;
            whole(&fault)?;
            let now = host.wall_ns();
            let taken = &bytes[..part(&fault, bytes.len() as u64) as usize];
            let disk = &mut host.node_mut().disk;
            Ok(match offset {
                Some(offset) => disk.write(&file, offset, taken, now),
                None => disk.append(&file, taken, now),
            }?)
        }
        OpenFile::Live(file) => Ok(host.live_write(file, offset, bytes)??),
    }
}

/// Writes to a standard output, all of it; `done` bytes of it are written already.
fn write_output(host: &mut Host, kind: OutputKind, bytes: &[u8], done: &mut usize) -> Answer<CallProgress<u64>> {
    let Some(process) = host.node().process else {
        host.output(kind, bytes)?;
        return Ok(CallProgress::Done(bytes.len() as u64));
    };
    let pipe = pipe_of(&process, kind);
    while *done < bytes.len() {
        let chunk = &bytes[*done..bytes.len().min(*done + PIPE_CHUNK_BYTES)];
        let world = host.world();
        let now = world.clock.now();
        match world.pipes.room(pipe, now) {
            None => return Err(WasiErrno::IO.into()),
            Some(room) if room < chunk.len() as u64 => {
                return Ok(CallProgress::Wait(vec![Wait::Pipe(pipe, PipeEnd::Write)]));
            }
            Some(_) => drop(world.pipes.write(pipe, chunk, now)),
        }
        *done += chunk.len();
    }
    Ok(CallProgress::Done(bytes.len() as u64))
}

pub(super) async fn fd_pwrite(
    host: &mut Host,
    fd: u32,
    buffers: u32,
    count: u32,
    offset: u64,
    size: u32,
) -> Result<u32> {
    let bytes = written(host, FD_PWRITE, buffers, count);
    let asked = (fd, shown(&bytes), offset);
    disk_call!(host, FD_PWRITE, asked, judged(write_at(host, fd, &bytes, offset, size).await)).map(number)
}

async fn write_at(host: &mut Host, fd: u32, bytes: &Answer<Vec<u8>>, offset: u64, size: u32) -> Answer<u64> {
    let bytes = bytes.as_ref().map_err(Clone::clone)?;
    let (file, append) = match host.descriptor(FD_PWRITE, fd)? {
        Preview1Descriptor::File { file, append, .. } => (*file, *append),
        Preview1Descriptor::Output(_) | Preview1Descriptor::Socket { .. } => return Err(WasiErrno::SPIPE.into()),
        _ => return Err(WasiErrno::BADF.into()),
    };
    // An appending file ignores the offset, as on Linux.
    let written = write_file(host, file, (!append).then_some(offset), bytes).await?;
    host.put_size(FD_PWRITE, size, written as usize)?;
    Ok(written)
}

pub(super) async fn fd_read(host: &mut Host, fd: u32, buffers: u32, count: u32, size: u32) -> Result<u32> {
    if has_datagrams(host, fd) {
        return host.read_datagram(FD_READ, fd, (buffers, count), size).await;
    }
    let range = host.first_buffer(FD_READ, buffers, count);
    let length = range.as_ref().map_or(0, |range| range.length);
    patient_call!(host, FD_READ, (fd, length), judged_attempt(read_some(host, fd, &range, size).await)).map(number)
}

/// One attempt at a read.
async fn read_some(host: &mut Host, fd: u32, range: &Answer<GuestRange>, size: u32) -> Answer<CallProgress<Vec<u8>>> {
    let into = range.clone()?;
    let progress = match host.descriptor(FD_READ, fd)? {
        Preview1Descriptor::File { file, position, .. } => {
            let (file, position) = (*file, *position);
            let bytes = read_file(host, file, position, into.length).await?;
            let to = position.checked_add(bytes.len() as u64).ok_or(WasiErrno::OVERFLOW)?;
            move_to(host, FD_READ, fd, to)?;
            CallProgress::Done(bytes)
        }
        Preview1Descriptor::Stdin => {
            let progress = read_stdin(host, into.length)?;
            if let CallProgress::Done(bytes) = &progress {
                host.tell_io(false, bytes.len() as u64, |world, node| Some(world.input_channel(node)));
            }
            progress
        }
        Preview1Descriptor::Socket { .. } => match host.receive_on_socket(FD_READ, fd, into.length, false)? {
            CallProgress::Done(received) => CallProgress::Done(received.bytes),
            CallProgress::Wait(waits) => CallProgress::Wait(waits),
        },
        _ => return Err(WasiErrno::BADF.into()),
    };
    if let CallProgress::Done(bytes) = &progress {
        host.put(FD_READ, into.at, bytes)?;
        host.put_size(FD_READ, size, bytes.len())?;
    }
    Ok(progress)
}

async fn read_file(host: &mut Host, file: OpenFile, offset: u64, length: u32) -> Answer<Vec<u8>> {
    let read = read_bytes(host, file, offset, length).await;
    let moved = read.as_ref().map_or(0, |bytes| bytes.len() as u64);
    host.tell_io(false, moved, |world, node| Some(world.file_channel(node, file)));
    read
}

async fn read_bytes(host: &mut Host, file: OpenFile, offset: u64, length: u32) -> Answer<Vec<u8>> {
    match file {
        OpenFile::Disk(file) => {
            let fault = host.inject_file(&file, DiskOperation::Read, None).await?;
            whole(&fault)?;
            let (mut bytes, _) = host.node().disk.read(&file, offset, part(&fault, length.into()))?;
            if fault.flips {
                host.with_context(|_, context| flip_bit(&mut bytes, context));
            }
            Ok(bytes)
        }
        OpenFile::Live(file) => Ok(host.live_read(file, offset, length.into())??.0),
    }
}

/// Reads standard input, and waits for it; nothing at its end.
fn read_stdin(host: &mut Host, length: u32) -> Answer<CallProgress<Vec<u8>>> {
    if length == 0 {
        return Ok(CallProgress::Done(Vec::new()));
    }
    let wait = host.stdin_wait();
    if !host.is_ready(wait)? {
        let channel = host.node().stdin.channel();
        return match channel.is_some_and(fozzy_world::Channel::is_nonblocking) {
            true => Err(WasiErrno::AGAIN.into()),
            false => Ok(CallProgress::Wait(vec![wait])),
        };
    }
    if let Some(process) = host.node().process {
        return Ok(CallProgress::Done(read_pipe(host, process.stdin, length)));
    }
    host.before_input();
    let now = host.world().clock.now();
    Ok(CallProgress::Done(host.node_mut().stdin.read(length.into(), now)))
}

fn read_pipe(host: &mut Host, pipe: PipeId, length: u32) -> Vec<u8> {
    let world = host.world();
    match world.pipes.read(pipe, length.into(), world.clock.now()) {
        PipeRead::Bytes(bytes) => bytes,
        PipeRead::End => Vec::new(),
    }
}

pub(super) async fn fd_pread(
    host: &mut Host,
    fd: u32,
    buffers: u32,
    count: u32,
    offset: u64,
    size: u32,
) -> Result<u32> {
    let range = host.first_buffer(FD_PREAD, buffers, count);
    let length = range.as_ref().map_or(0, |range| range.length);
    let asked = (fd, length, offset);
    disk_call!(host, FD_PREAD, asked, judged(read_at(host, fd, range, offset, size).await)).map(number)
}

async fn read_at(host: &mut Host, fd: u32, range: Answer<GuestRange>, offset: u64, size: u32) -> Answer<Vec<u8>> {
    let range = range?;
    let file = match host.descriptor(FD_PREAD, fd)? {
        Preview1Descriptor::File { file, .. } => *file,
        Preview1Descriptor::Stdin | Preview1Descriptor::Socket { .. } => return Err(WasiErrno::SPIPE.into()),
        _ => return Err(WasiErrno::BADF.into()),
    };
    let bytes = read_file(host, file, offset, range.length).await?;
    host.put(FD_PREAD, range.at, &bytes)?;
    host.put_size(FD_PREAD, size, bytes.len())?;
    Ok(bytes)
}
