//! `wasi:io/streams`: bytes from standard input and files, bytes to standard output and files.
//!
//! No write is pending, so flushing completes at once; what can make a guest wait is a standard input that stays
//! open, a connection, and a pipe to another process. Reads and writes of files may wait for a slow disk, all of them.
//!
//! A stream that failed, or a file that was read to its end, is closed from then on.
//!
//! Contract kept with a trap: a write beyond what `check-write` permits, and more than 4096 bytes in a
//! blocking write-and-flush.

use crate::bindings::wasi::io::streams::{self, StreamError};
use crate::bindings::{InputStreamResource, IoErrorResource, OutputStreamResource, PollableResource};
use crate::call::{CallProgress, GuestStop, Host, Import, disk_call, misuse, patient_call};
use crate::disk_faults::{part, whole};
use fozzy_trace::IoChannel;
use fozzy_world::files::{DiskOperation, Errno, flip_bit};
use fozzy_world::http::HttpErrorCode;
use fozzy_world::network::{self, Readiness};
use fozzy_world::pipe::PipeRead;
use fozzy_world::process::ProcessNode;
use fozzy_world::table::{Handle, StreamFailure, StreamSink as Output, StreamSource as Input};
use fozzy_world::{OutputKind, PipeEnd, PipeId, TableError, Wait, World};
use wasmtime::Result;
use wasmtime::component::Resource;

const READ: Import = Import::new("wasi:io/streams.input-stream.read");
const BLOCKING_READ: Import = Import::new("wasi:io/streams.input-stream.blocking-read");
const SKIP: Import = Import::new("wasi:io/streams.input-stream.skip");
const BLOCKING_SKIP: Import = Import::new("wasi:io/streams.input-stream.blocking-skip");
const SUBSCRIBE_INPUT: Import = Import::new("wasi:io/streams.input-stream.subscribe");
const DROP_INPUT: Import = Import::new("wasi:io/streams.input-stream.drop");
const CHECK_WRITE: Import = Import::new("wasi:io/streams.output-stream.check-write");
const WRITE: Import = Import::new("wasi:io/streams.output-stream.write");
const WRITE_AND_FLUSH: Import = Import::new("wasi:io/streams.output-stream.blocking-write-and-flush");
const FLUSH: Import = Import::new("wasi:io/streams.output-stream.flush");
const BLOCKING_FLUSH: Import = Import::new("wasi:io/streams.output-stream.blocking-flush");
const SUBSCRIBE_OUTPUT: Import = Import::new("wasi:io/streams.output-stream.subscribe");
const WRITE_ZEROES: Import = Import::new("wasi:io/streams.output-stream.write-zeroes");
const ZEROES_AND_FLUSH: Import = Import::new("wasi:io/streams.output-stream.blocking-write-zeroes-and-flush");
const SPLICE: Import = Import::new("wasi:io/streams.output-stream.splice");
const BLOCKING_SPLICE: Import = Import::new("wasi:io/streams.output-stream.blocking-splice");
const DROP_OUTPUT: Import = Import::new("wasi:io/streams.output-stream.drop");

/// Bytes that one read returns at the most; a reader that wants more reads again.
const READ_BYTES_MAX: u64 = 1 << 20;
/// Bytes that `check-write` permits. Nothing is ever pending, so the answer is constant while the stream is open.
const WRITE_BYTES_MAX: u64 = 1 << 20;
/// Bytes that a blocking write-and-flush may carry, by the text of WASI.
const WRITE_AND_FLUSH_BYTES_MAX: u64 = 4096;

/// The failure of a stream operation, before it has a handle in the guest.
#[derive(Clone)]
pub(crate) enum StreamOpFailure {
    Closed,
    Failed(Errno),
    Network(network::SocketErrorCode),
    Http(HttpErrorCode),
}

/// Whether a read waits for data.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum BlockingMode {
    Now,
    Blocking,
}

type StreamResult<T> = Result<std::result::Result<T, StreamError>>;
/// The result of an operation of a stream: it is done, it failed, or it has to wait.
pub(crate) type Attempt<T> = std::result::Result<CallProgress<std::result::Result<T, StreamOpFailure>>, GuestStop>;

fn done<T>(value: T) -> Attempt<T> {
    Ok(CallProgress::Done(Ok(value)))
}

fn failed<T>(failure: StreamOpFailure) -> Attempt<T> {
    Ok(CallProgress::Done(Err(failure)))
}

impl<R> CallProgress<R> {
    fn map<S>(self, with: impl FnOnce(R) -> S) -> CallProgress<S> {
        match self {
            CallProgress::Done(value) => CallProgress::Done(with(value)),
            CallProgress::Wait(waits) => CallProgress::Wait(waits),
        }
    }

    /// The answer of an attempt that was not to wait.
    fn at_once(self) -> R {
        match self {
            CallProgress::Done(value) => value,
            CallProgress::Wait(_) => unreachable!("only a patient attempt waits"),
        }
    }
}

impl Host {
    /// Reads, and tells an observer where from.
    async fn read_some(&mut self, import: Import, rep: u32, len: u64, patience: BlockingMode) -> Attempt<Vec<u8>> {
        // At its end, a stream is closed.
        let channel = self.stream_channel(rep);
        let read = self.read_from(import, rep, len, patience).await?;
        if let CallProgress::Done(answer) = &read {
            let bytes = answer.as_ref().map_or(0, |bytes| bytes.len() as u64);
            self.tell_io(false, bytes, |_, _| channel);
        }
        Ok(read)
    }

    /// Writes, and tells an observer where to.
    async fn write_all(&mut self, import: Import, rep: u32, bytes: &[u8]) -> Attempt<()> {
        let channel = self.stream_channel(rep);
        let written = self.write_to(import, rep, bytes).await?;
        if let CallProgress::Done(answer) = &written {
            let bytes = if answer.is_ok() { bytes.len() as u64 } else { 0 };
            self.tell_io(true, bytes, |_, _| channel);
        }
        Ok(written)
    }

    /// Where a stream leads, if an observer wants to know.
    fn stream_channel(&self, rep: u32) -> Option<IoChannel> {
        let handle = self.run.is_told().then(|| self.node().table.get(rep).ok()).flatten()?;
        self.run.world.channel(self.node, handle)
    }

    /// Reads from whatever `rep` stands for and moves its position.
    async fn read_from(&mut self, import: Import, rep: u32, len: u64, patience: BlockingMode) -> Attempt<Vec<u8>> {
        let len = len.min(READ_BYTES_MAX);
        let fault = self.inject_stream(rep, DiskOperation::Read).await?;
        let node = self.node_mut();
        match node.table.get_mut(rep) {
            Ok(Handle::InputStream(Input::File { file, offset })) => {
                let read = |()| node.disk.read(file, *offset, part(&fault, len));
                let failure = match whole(&fault).and_then(read) {
                    Ok((bytes, end)) if bytes.is_empty() && end && len > 0 => StreamOpFailure::Closed,
                    Ok((mut bytes, _)) => {
                        *offset += bytes.len() as u64;
                        if fault.flips {
                            self.with_context(|_, context| flip_bit(&mut bytes, context));
                        }
                        return done(bytes);
                    }
                    Err(errno) => StreamOpFailure::Failed(errno),
                };
                self.shut(rep)?;
                failed(failure)
            }
            Ok(Handle::InputStream(Input::LiveFile { file, offset })) => {
                let (file, at) = (*file, *offset);
                let failure = match self.live_read(file, at, len)? {
                    Ok((bytes, end)) if bytes.is_empty() && end && len > 0 => StreamOpFailure::Closed,
                    Ok((bytes, _)) => {
                        self.move_on(rep, bytes.len() as u64);
                        return done(bytes);
                    }
                    Err(errno) => StreamOpFailure::Failed(errno),
                };
                self.shut(rep)?;
                failed(failure)
            }
            Ok(Handle::InputStream(Input::Tcp(socket))) => {
                let socket = *socket;
                self.read_tcp(socket, len, patience)
            }
            Ok(Handle::InputStream(Input::Closed | Input::Http { closed: true, .. })) => {
                failed(StreamOpFailure::Closed)
            }
            Ok(Handle::InputStream(Input::Http { body, offset, .. })) => {
                let from = (*body, *offset);
                self.read_body(rep, from, len, patience)
            }
            Ok(Handle::InputStream(Input::Pipe(pipe))) => {
                let pipe = *pipe;
                self.read_pipe(rep, pipe, Wait::Pipe(pipe, PipeEnd::Read), len, patience)
            }
            Ok(Handle::InputStream(Input::Stdin)) if let Some(process) = node.process => {
                self.read_pipe(rep, process.stdin, Wait::Stdin(self.node), len, patience)
            }
            Ok(Handle::InputStream(Input::Stdin)) => {
                self.look_at_stdin()?;
                let wait = self.stdin_wait();
                if patience == BlockingMode::Blocking && len > 0 && !self.is_ready(wait)? {
                    return Ok(CallProgress::Wait(vec![wait]));
                }
                self.before_input();
                let now = self.world().clock.now();
                let stdin = &mut self.node_mut().stdin;
                if stdin.is_closed(now) { failed(StreamOpFailure::Closed) } else { done(stdin.read(len, now)) }
            }
            _ => Err(misuse(import)(TableError::WrongHandle)),
        }
    }

    /// Writes to whatever `rep` stands for and moves its position. A full disk takes what fits, and fails.
    async fn write_to(&mut self, import: Import, rep: u32, bytes: &[u8]) -> Attempt<()> {
        if let Ok(Handle::OutputStream(Output::File { file, .. })) = self.node().table.get(rep) {
            let file = *file;
            if self.takes_sdk_output(&file, bytes)? {
                return done(());
            }
        }
        let fault = self.inject_stream(rep, self.stream_write()).await?;
        // A file alone shows when it was written.
        let wall = match self.node().table.get(rep) {
            Ok(Handle::OutputStream(Output::File { .. })) => self.wall_ns(),
            _ => 0,
        };
        let node = self.node_mut();
        match node.table.get_mut(rep) {
            Ok(Handle::OutputStream(Output::Pipe(pipe))) => {
                let pipe = *pipe;
                self.write_pipe(rep, pipe, bytes)
            }
            Ok(Handle::OutputStream(Output::Standard(kind))) => {
                let kind = *kind;
                if let Some(process) = node.process {
                    return self.write_pipe(rep, pipe_of(&process, kind), bytes);
                }
                self.output(kind, bytes)?;
                done(())
            }
            Ok(Handle::OutputStream(Output::File { file, offset })) => {
                let taken = &bytes[..part(&fault, bytes.len() as u64) as usize];
                let written = whole(&fault).and_then(|()| match offset {
                    Some(at) => node.disk.write(file, *at, taken, wall),
                    None => node.disk.append(file, taken, wall),
                });
                let errno = match written {
                    Ok(written) if written == bytes.len() as u64 => {
                        *offset = offset.map(|at| at + written);
                        return done(());
                    }
                    // In the first edition; a stream has no word for a short write.
                    Ok(written) if written == taken.len() as u64 => Errno::Io,
                    Ok(_) => Errno::InsufficientSpace,
                    Err(errno) => errno,
                };
                self.shut(rep)?;
                failed(StreamOpFailure::Failed(errno))
            }
            Ok(Handle::OutputStream(Output::LiveFile { file, offset })) => {
                let (file, at) = (*file, *offset);
                match self.live_write_all(file, at, bytes)? {
                    Ok(()) => {
                        self.move_on(rep, bytes.len() as u64);
                        done(())
                    }
                    Err(errno) => {
                        self.shut(rep)?;
                        failed(StreamOpFailure::Failed(errno))
                    }
                }
            }
            Ok(Handle::OutputStream(Output::Tcp(socket))) => {
                let socket = *socket;
                self.write_tcp(socket, bytes)
            }
            Ok(Handle::OutputStream(Output::Closed | Output::Http { closed: true, .. })) => {
                failed(StreamOpFailure::Closed)
            }
            Ok(Handle::OutputStream(Output::Http { body, .. })) => {
                let body = *body;
                self.write_body(rep, body, bytes)
            }
            _ => Err(misuse(import)(TableError::WrongHandle)),
        }
    }

    /// Reads from a pipe; `wait` is how its reader waits. The pipe may be the output of a process that the real
    /// computer is to run only now.
    fn read_pipe(&mut self, rep: u32, pipe: PipeId, wait: Wait, len: u64, patience: BlockingMode) -> Attempt<Vec<u8>> {
        if !self.is_ready(wait)? && len > 0 {
            if patience == BlockingMode::Blocking {
                return Ok(CallProgress::Wait(vec![wait]));
            }
            // A loop that reads again and again must come to an end.
            self.world().clock.tick();
        }
        let world = self.world();
        match world.pipes.read(pipe, len, world.clock.now()) {
            PipeRead::Bytes(bytes) => done(bytes),
            PipeRead::End => {
                self.shut(rep)?;
                failed(StreamOpFailure::Closed)
            }
        }
    }

    /// Writes to a pipe, all at once; who has to wait for room gets enough for the longest blocking write.
    fn write_pipe(&mut self, rep: u32, pipe: PipeId, bytes: &[u8]) -> Attempt<()> {
        let world = self.world();
        let now = world.clock.now();
        match world.pipes.room(pipe, now) {
            None => {
                self.shut(rep)?;
                failed(StreamOpFailure::Closed)
            }
            Some(room) if room < bytes.len() as u64 => Ok(CallProgress::Wait(vec![Wait::Pipe(pipe, PipeEnd::Write)])),
            Some(_) => {
                let written = world.pipes.write(pipe, bytes, now);
                assert_eq!(written, Some(bytes.len() as u64), "there was room");
                done(())
            }
        }
    }

    /// The pipe that an output stream leads to, if it does.
    fn pipe_behind(&self, rep: u32) -> Option<PipeId> {
        match self.node().table.get(rep) {
            Ok(Handle::OutputStream(Output::Pipe(pipe))) => Some(*pipe),
            Ok(Handle::OutputStream(Output::Standard(kind))) => {
                self.node().process.map(|process| pipe_of(&process, *kind))
            }
            _ => None,
        }
    }

    async fn write_within(&mut self, import: Import, rep: u32, bytes: &[u8], bound: u64) -> Attempt<()> {
        if bytes.len() as u64 > bound {
            let what = format!("{} bytes written at once, {bound} are permitted", bytes.len());
            return Err(GuestStop::Misuse { import: import.name, what });
        }
        self.write_all(import, rep, bytes).await
    }

    /// Zeroes come as a number, so their count is bounded before they are made.
    async fn zeroes_within(&mut self, import: Import, rep: u32, len: u64, bound: u64) -> Attempt<()> {
        if len > bound {
            let what = format!("{len} zeroes written at once, {bound} are permitted");
            return Err(GuestStop::Misuse { import: import.name, what });
        }
        self.moved(len);
        self.write_all(import, rep, &vec![0; len as usize]).await
    }

    /// What may be written now: nothing to a closed stream, which the answer says, to a connection or a pipe what
    /// there is room for, else always the same.
    fn permit(&self, rep: u32) -> std::result::Result<u64, StreamOpFailure> {
        if let Some(pipe) = self.pipe_behind(rep) {
            let world = &self.run.world;
            return world.pipes.room(pipe, world.clock.now()).ok_or(StreamOpFailure::Closed);
        }
        match self.node().table.get(rep) {
            Ok(Handle::OutputStream(Output::Tcp(socket))) => self.permit_tcp(*socket),
            Ok(Handle::OutputStream(Output::Closed | Output::Http { closed: true, .. })) => {
                Err(StreamOpFailure::Closed)
            }
            Ok(Handle::OutputStream(Output::Http { body, .. })) if !self.run.world.http.bodies.is_read(*body) => {
                Err(StreamOpFailure::Closed)
            }
            _ => Ok(WRITE_BYTES_MAX),
        }
    }

    /// What the writer to a stream waits for.
    fn wait_to_write(&self, rep: u32) -> Wait {
        if let Some(pipe) = self.pipe_behind(rep) {
            return Wait::Pipe(pipe, PipeEnd::Write);
        }
        match self.node().table.get(rep) {
            Ok(Handle::OutputStream(Output::Tcp(socket))) => Wait::Socket(Readiness::Writable(*socket)),
            _ => Wait::Nothing,
        }
    }

    /// How much a plain write may carry: what is permitted, and anything where the answer is that it is closed.
    fn write_bound(&self, rep: u32) -> u64 {
        self.permit(rep).unwrap_or(WRITE_BYTES_MAX)
    }

    async fn skip_some(&mut self, import: Import, rep: u32, len: u64, patience: BlockingMode) -> Attempt<u64> {
        let skipped = self.read_some(import, rep, len, patience).await?;
        let skipped = skipped.map(|read| read.map(|bytes| bytes.len() as u64));
        if let CallProgress::Done(Ok(bytes)) = &skipped {
            self.moved(*bytes);
        }
        Ok(skipped)
    }

    async fn splice_some(
        &mut self,
        import: Import,
        to: u32,
        from: u32,
        len: u64,
        patience: BlockingMode,
    ) -> Attempt<u64> {
        // What cannot be written is not read.
        let len = match self.permit(to) {
            Ok(_) if len == 0 => return done(0),
            Ok(0) if patience == BlockingMode::Now => return done(0),
            Ok(0) => return Ok(CallProgress::Wait(vec![self.wait_to_write(to)])),
            Ok(permitted) => len.min(permitted),
            Err(failure) => return failed(failure),
        };
        let read = self.read_some(import, from, len, patience).await?;
        match read {
            CallProgress::Done(Ok(bytes)) => {
                self.moved(bytes.len() as u64);
                loop {
                    match self.write_all(import, to, &bytes).await? {
                        CallProgress::Done(written) => {
                            return Ok(CallProgress::Done(written.map(|()| bytes.len() as u64)));
                        }
                        // Others went on while a slow disk was read, and there is no room any more: what was read is not lost.
                        CallProgress::Wait(waits) => self.await_one(&waits).await?,
                    }
                }
            }
            CallProgress::Done(Err(failure)) => failed(failure),
            CallProgress::Wait(waits) => Ok(CallProgress::Wait(waits)),
        }
    }

    /// Gives a failure its handle in the guest.
    fn stream_result<T>(&mut self, import: Import, result: std::result::Result<T, StreamOpFailure>) -> StreamResult<T> {
        Ok(match result {
            Ok(value) => Ok(value),
            Err(StreamOpFailure::Closed) => Err(StreamError::Closed),
            Err(StreamOpFailure::Failed(errno)) => Err(self.last_failure(import, StreamFailure::File(errno))?),
            Err(StreamOpFailure::Network(error)) => Err(self.last_failure(import, StreamFailure::Network(error))?),
            Err(StreamOpFailure::Http(error)) => Err(self.last_failure(import, StreamFailure::Http(error))?),
        })
    }

    fn last_failure(&mut self, import: Import, failure: StreamFailure) -> Result<StreamError> {
        let rep = self.node_mut().table.insert(Handle::Error(failure)).map_err(misuse(import))?;
        Ok(StreamError::LastOperationFailed(Resource::<IoErrorResource>::new_own(rep)))
    }

    fn pollable(
        &mut self,
        import: Import,
        rep: u32,
        wait: impl FnOnce(&Handle, &World) -> Wait,
    ) -> Result<Resource<PollableResource>> {
        let rep = self.call(import, rep, |host| {
            let wait = wait(host.node().table.get(rep).map_err(misuse(import))?, &host.run.world);
            host.node_mut().table.insert(Handle::Pollable(wait)).map_err(misuse(import))
        })?;
        Ok(Resource::new_own(rep))
    }

    /// Drops a stream.
    fn close_stream(&mut self, import: Import, rep: u32) -> Result<()> {
        self.call(import, rep, |host| {
            let stream = host.node_mut().table.remove(rep).map_err(misuse(import))?;
            host.release(&stream)
        })
    }

    /// The last answer of a stream at its end, or that failed: from now on it is closed.
    fn shut(&mut self, rep: u32) -> std::result::Result<(), GuestStop> {
        let stream = self.node_mut().table.get_mut(rep).expect("it was just used");
        let closed = match stream {
            Handle::InputStream(_) => Handle::InputStream(Input::Closed),
            _ => Handle::OutputStream(Output::Closed),
        };
        let stream = std::mem::replace(stream, closed);
        self.release(&stream)
    }

    /// The position of a stream of a real file after `bytes` more.
    fn move_on(&mut self, rep: u32, bytes: u64) {
        match self.node_mut().table.get_mut(rep).expect("it was just used") {
            Handle::InputStream(Input::LiveFile { offset, .. }) => *offset += bytes,
            Handle::OutputStream(Output::LiveFile { offset: Some(offset), .. }) => *offset += bytes,
            _ => {}
        }
    }

    /// A file that a stream kept alive may go; a connection or a pipe closes.
    fn release(&mut self, stream: &Handle) -> std::result::Result<(), GuestStop> {
        match stream {
            Handle::InputStream(Input::File { file, .. }) | Handle::OutputStream(Output::File { file, .. }) => {
                self.node_mut().disk.closed(file.node);
                Ok(())
            }
            Handle::InputStream(Input::LiveFile { file, .. }) | Handle::OutputStream(Output::LiveFile { file, .. }) => {
                self.live_close(*file)
            }
            Handle::InputStream(Input::Pipe(pipe)) | Handle::OutputStream(Output::Pipe(pipe)) => {
                self.close_pipe(stream, *pipe)
            }
            stream => {
                self.release_tcp(stream);
                self.release_body(stream);
                Ok(())
            }
        }
    }
}

/// The pipe that an output of a process leads to.
pub(crate) fn pipe_of(process: &ProcessNode, kind: OutputKind) -> PipeId {
    match kind {
        OutputKind::Stdout => process.stdout,
        OutputKind::Stderr => process.stderr,
    }
}

impl streams::Host for Host {}

impl streams::HostInputStream for Host {
    async fn read(&mut self, handle: Resource<InputStreamResource>, len: u64) -> StreamResult<Vec<u8>> {
        let rep = handle.rep();
        let read = disk_call!(
            self,
            READ,
            (rep, len),
            self.read_some(READ, rep, len, BlockingMode::Now).await.map(CallProgress::at_once)
        )?;
        self.stream_result(READ, read)
    }

    async fn blocking_read(&mut self, handle: Resource<InputStreamResource>, len: u64) -> StreamResult<Vec<u8>> {
        let rep = handle.rep();
        let read = patient_call!(
            self,
            BLOCKING_READ,
            (rep, len),
            self.read_some(BLOCKING_READ, rep, len, BlockingMode::Blocking).await
        )?;
        self.stream_result(BLOCKING_READ, read)
    }

    async fn skip(&mut self, handle: Resource<InputStreamResource>, len: u64) -> StreamResult<u64> {
        let rep = handle.rep();
        let skipped = disk_call!(
            self,
            SKIP,
            (rep, len),
            self.skip_some(SKIP, rep, len, BlockingMode::Now).await.map(CallProgress::at_once)
        )?;
        self.stream_result(SKIP, skipped)
    }

    async fn blocking_skip(&mut self, handle: Resource<InputStreamResource>, len: u64) -> StreamResult<u64> {
        let rep = handle.rep();
        let skipped = patient_call!(
            self,
            BLOCKING_SKIP,
            (rep, len),
            self.skip_some(BLOCKING_SKIP, rep, len, BlockingMode::Blocking).await
        )?;
        self.stream_result(BLOCKING_SKIP, skipped)
    }

    fn subscribe(&mut self, handle: Resource<InputStreamResource>) -> Result<Resource<PollableResource>> {
        let stdin = self.stdin_wait();
        self.pollable(SUBSCRIBE_INPUT, handle.rep(), |handle, world| match handle {
            Handle::InputStream(Input::Stdin) => stdin,
            Handle::InputStream(Input::Tcp(socket)) => Wait::Socket(Readiness::Readable(*socket)),
            Handle::InputStream(Input::Http { body, closed: false, .. }) => {
                Wait::Signal(world.http.bodies.readable(*body))
            }
            Handle::InputStream(Input::Pipe(pipe)) => Wait::Pipe(*pipe, PipeEnd::Read),
            _ => Wait::Nothing,
        })
    }

    fn drop(&mut self, handle: Resource<InputStreamResource>) -> Result<()> {
        self.close_stream(DROP_INPUT, handle.rep())
    }
}

impl streams::HostOutputStream for Host {
    fn check_write(&mut self, handle: Resource<OutputStreamResource>) -> StreamResult<u64> {
        let rep = handle.rep();
        let permitted = self.call(CHECK_WRITE, rep, |host| {
            let room = host.inject_room(rep).unwrap_or(u64::MAX);
            Ok(host.permit(rep).map(|permitted| permitted.min(room)))
        })?;
        self.stream_result(CHECK_WRITE, permitted)
    }

    async fn write(&mut self, handle: Resource<OutputStreamResource>, bytes: Vec<u8>) -> StreamResult<()> {
        let rep = handle.rep();
        self.look_for_undefined(WRITE, &bytes);
        let written = patient_call!(
            self,
            WRITE,
            (rep, &bytes),
            self.write_within(WRITE, rep, &bytes, self.write_bound(rep)).await
        )?;
        self.stream_result(WRITE, written)
    }

    async fn blocking_write_and_flush(
        &mut self,
        handle: Resource<OutputStreamResource>,
        bytes: Vec<u8>,
    ) -> StreamResult<()> {
        let rep = handle.rep();
        self.look_for_undefined(WRITE_AND_FLUSH, &bytes);
        let written = patient_call!(
            self,
            WRITE_AND_FLUSH,
            (rep, &bytes),
            self.write_within(WRITE_AND_FLUSH, rep, &bytes, WRITE_AND_FLUSH_BYTES_MAX).await
        )?;
        self.stream_result(WRITE_AND_FLUSH, written)
    }

    fn flush(&mut self, handle: Resource<OutputStreamResource>) -> StreamResult<()> {
        let rep = handle.rep();
        let flushed = self.call(FLUSH, rep, |host| Ok(host.permit(rep).map(drop)))?;
        self.stream_result(FLUSH, flushed)
    }

    async fn blocking_flush(&mut self, handle: Resource<OutputStreamResource>) -> StreamResult<()> {
        let rep = handle.rep();
        let attempt = |host: &mut Host| Ok(CallProgress::Done(host.permit(rep).map(drop)));
        let flushed = self.call_waiting(BLOCKING_FLUSH, rep, attempt).await?;
        self.stream_result(BLOCKING_FLUSH, flushed)
    }

    fn subscribe(&mut self, handle: Resource<OutputStreamResource>) -> Result<Resource<PollableResource>> {
        let wait = self.wait_to_write(handle.rep());
        self.pollable(SUBSCRIBE_OUTPUT, handle.rep(), |_, _| wait)
    }

    async fn write_zeroes(&mut self, handle: Resource<OutputStreamResource>, len: u64) -> StreamResult<()> {
        let rep = handle.rep();
        let written = disk_call!(
            self,
            WRITE_ZEROES,
            (rep, len),
            self.zeroes_within(WRITE_ZEROES, rep, len, self.write_bound(rep)).await.map(CallProgress::at_once)
        )?;
        self.stream_result(WRITE_ZEROES, written)
    }

    async fn blocking_write_zeroes_and_flush(
        &mut self,
        handle: Resource<OutputStreamResource>,
        len: u64,
    ) -> StreamResult<()> {
        let rep = handle.rep();
        let written = patient_call!(
            self,
            ZEROES_AND_FLUSH,
            (rep, len),
            self.zeroes_within(ZEROES_AND_FLUSH, rep, len, WRITE_AND_FLUSH_BYTES_MAX).await
        )?;
        self.stream_result(ZEROES_AND_FLUSH, written)
    }

    async fn splice(
        &mut self,
        to: Resource<OutputStreamResource>,
        from: Resource<InputStreamResource>,
        len: u64,
    ) -> StreamResult<u64> {
        let (to, from) = (to.rep(), from.rep());
        let moved = disk_call!(
            self,
            SPLICE,
            (to, from, len),
            self.splice_some(SPLICE, to, from, len, BlockingMode::Now).await.map(CallProgress::at_once)
        )?;
        self.stream_result(SPLICE, moved)
    }

    async fn blocking_splice(
        &mut self,
        to: Resource<OutputStreamResource>,
        from: Resource<InputStreamResource>,
        len: u64,
    ) -> StreamResult<u64> {
        let (to, from) = (to.rep(), from.rep());
        let moved = patient_call!(
            self,
            BLOCKING_SPLICE,
            (to, from, len),
            self.splice_some(BLOCKING_SPLICE, to, from, len, BlockingMode::Blocking).await
        )?;
        self.stream_result(BLOCKING_SPLICE, moved)
    }

    fn drop(&mut self, handle: Resource<OutputStreamResource>) -> Result<()> {
        self.close_stream(DROP_OUTPUT, handle.rep())
    }
}
