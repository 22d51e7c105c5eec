//! Bodies: bytes that one side writes and the other reads, and when they are there.
//!
//! ```text
//! outgoing-body ── write ──▶ Body { bytes, end } ── read ──▶ incoming-body
//!               ── finish / drop ──▶ end at T             readable from T on, whole
//! ```
//!
//! A body is handed over whole: its reader sees the first byte when its writer has ended it. That is simple, and the same in
//! every run; what it does not model is a response that streams for a long time.
//!
//! Invariants: a body lives as long as its writer or its reader; its end never changes; the bytes of all bodies together
//! are at most [`HELD_BYTES_MAX`], those of the plan apart, which are shared.
//! Not here: who reads what (`exchange`).

use super::error::HttpErrorCode;
use super::fields::HeaderFields;
use crate::{SignalId, Signals};
use fozzy_trace::{Duration, Instant, NodeId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Longest body, in bytes. A guest that writes more gets the error that WASI has for the size of a body.
pub const BODY_BYTES_MAX: u64 = 64 << 20;
/// Bytes of all bodies that guests have written and that are still held, so that many bodies cannot fill the real memory
/// either. A guest that writes more gets `internal-error`.
pub const HELD_BYTES_MAX: u64 = 256 << 20;

/// The name of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BodyId(u32);

/// Of which message, for the error that its size can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// A request.
    Request,
    /// A response.
    Response,
}

impl MessageKind {
    /// The error of a body of this size.
    #[must_use]
    pub fn size_error(self, bytes: u64) -> HttpErrorCode {
        match self {
            MessageKind::Request => HttpErrorCode::HttpRequestBodySize(Some(bytes)),
            MessageKind::Response => HttpErrorCode::HttpResponseBodySize(Some(bytes)),
        }
    }
}

/// What became of the one stream that a side may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stream {
    #[default]
    NotTaken,
    Open,
    Dropped,
}

/// Which side of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodySide {
    /// Who writes it.
    Writer,
    /// Who reads it.
    Reader,
}

#[derive(Clone, Debug)]
enum Bytes {
    /// As they are written.
    Written(Arc<Vec<u8>>),
    /// Of the plan or of an observation.
    Given(Arc<[u8]>),
}

impl Bytes {
    fn as_slice(&self) -> &[u8] {
        match self {
            Bytes::Written(bytes) => bytes,
            Bytes::Given(bytes) => bytes,
        }
    }
}

/// How a body ended.
#[derive(Clone, Debug)]
struct End {
    trailers: Result<Option<HeaderFields>, HttpErrorCode>,
    at: Instant,
}

#[derive(Clone, Debug)]
struct Body {
    of: MessageKind,
    /// Who writes it; its end is the body's end.
    writer: NodeId,
    /// What `content-length` promised.
    declared: Option<u64>,
    /// How many bytes were written, also those that were not kept.
    written: u64,
    bytes: Bytes,
    end: Option<End>,
    /// Happens when the reader can continue: at the end, or when it loses patience.
    readable: SignalId,
    /// How much later than its end it arrives.
    lag: Duration,
    /// The connection breaks after this many bytes.
    cut_after: Option<u64>,
    streams: [Stream; 2],
    held_by: [bool; 2],
}

/// Why bytes were not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyWriteError {
    /// There is no reader any more.
    Closed,
    /// They are too many.
    Failed(HttpErrorCode),
}

/// What a reader finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyRead<'a> {
    /// Nothing yet.
    Nothing,
    /// Bytes, as many as were asked for or fewer.
    Bytes(&'a [u8]),
    /// There are no more.
    End,
    /// The connection failed.
    Failed(HttpErrorCode),
}

/// All bodies of a run.
#[derive(Clone, Debug, Default)]
pub struct HttpBodies {
    bodies: BTreeMap<BodyId, Body>,
    next: u32,
    held_bytes: u64,
}

impl HttpBodies {
    /// A body that `writer` is to write, of `declared` bytes when it has promised a number. Both sides hold it.
    pub fn open(&mut self, of: MessageKind, writer: NodeId, declared: Option<u64>, signals: &mut Signals) -> BodyId {
        let bytes = Bytes::Written(Arc::default());
        self.insert(of, writer, declared, bytes, None, signals)
    }

    /// A body that is there, held by its reader only; the connection breaks after `cut_after` bytes of it.
    pub fn whole(
        &mut self,
        of: MessageKind,
        bytes: Arc<[u8]>,
        cut_after: Option<u64>,
        signals: &mut Signals,
    ) -> BodyId {
        self.whole_from(of, bytes, cut_after, Instant::START, signals)
    }

    /// The same, but it is there from `at` on.
    pub(super) fn whole_from(
        &mut self,
        of: MessageKind,
        bytes: Arc<[u8]>,
        cut_after: Option<u64>,
        at: Instant,
        signals: &mut Signals,
    ) -> BodyId {
        let end = End { trailers: Ok(None), at };
        let id = self.insert(of, NodeId::default(), None, Bytes::Given(bytes), Some(end), signals);
        signals.fire(self.body(id).readable, at);
        self.body_mut(id).cut_after = cut_after;
        self.let_go(id, BodySide::Writer);
        id
    }

    fn insert(
        &mut self,
        of: MessageKind,
        writer: NodeId,
        declared: Option<u64>,
        bytes: Bytes,
        end: Option<End>,
        signals: &mut Signals,
    ) -> BodyId {
        let id = BodyId(self.next);
        self.next += 1;
        let body = Body {
            of,
            writer,
            declared,
            written: 0,
            bytes,
            end,
            readable: signals.create(),
            lag: Duration::default(),
            cut_after: None,
            streams: [Stream::NotTaken; 2],
            held_by: [true; 2],
        };
        self.bodies.insert(id, body);
        id
    }

    fn body(&self, id: BodyId) -> &Body {
        self.bodies.get(&id).expect("whoever names a body holds it")
    }

    fn body_mut(&mut self, id: BodyId) -> &mut Body {
        self.bodies.get_mut(&id).expect("whoever names a body holds it")
    }

    /// Takes the stream of one side, unless it was taken before; whether it was taken now.
    pub fn take_stream(&mut self, id: BodyId, side: BodySide) -> bool {
        let stream = &mut self.body_mut(id).streams[side as usize];
        let is_first = *stream == Stream::NotTaken;
        if is_first {
            *stream = Stream::Open;
        }
        is_first
    }

    /// The stream of one side is gone.
    pub fn drop_stream(&mut self, id: BodyId, side: BodySide) {
        if let Some(body) = self.bodies.get_mut(&id) {
            body.streams[side as usize] = Stream::Dropped;
        }
    }

    /// Whether the stream of one side is open: what it was taken from may not be dropped before it.
    #[must_use]
    pub fn has_open_stream(&self, id: BodyId, side: BodySide) -> bool {
        self.body(id).streams[side as usize] == Stream::Open
    }

    /// Adds bytes.
    ///
    /// # Errors
    /// When there is no reader, more is written than was promised, or a bound is reached; the body fails then.
    pub fn write(&mut self, id: BodyId, bytes: &[u8]) -> Result<(), BodyWriteError> {
        let held = self.held_bytes.saturating_add(bytes.len() as u64);
        let body = self.body_mut(id);
        if !body.held_by[BodySide::Reader as usize] || body.end.is_some() {
            return Err(BodyWriteError::Closed);
        }
        body.written = body.written.saturating_add(bytes.len() as u64);
        let size = body.written;
        if size > body.declared.unwrap_or(BODY_BYTES_MAX).min(BODY_BYTES_MAX) {
            return Err(BodyWriteError::Failed(body.of.size_error(size)));
        }
        if held > HELD_BYTES_MAX {
            // What was not kept is missing, so the body can no longer be finished.
            body.declared = Some(u64::MAX);
            let what = format!("guests hold more than {HELD_BYTES_MAX} bytes of HTTP bodies");
            return Err(BodyWriteError::Failed(HttpErrorCode::InternalError(Some(what))));
        }
        let Bytes::Written(kept) = &mut body.bytes else { unreachable!("a given body has no writer") };
        Arc::make_mut(kept).extend_from_slice(bytes);
        self.held_bytes = held;
        Ok(())
    }

    /// Whether anybody will read what is written.
    #[must_use]
    pub fn is_read(&self, id: BodyId) -> bool {
        let body = self.body(id);
        body.held_by[BodySide::Reader as usize] && body.end.is_none()
    }

    /// The writer is done.
    ///
    /// # Errors
    /// When it wrote another number of bytes than it promised, or too many; the body is cut then.
    pub fn finish(
        &mut self,
        id: BodyId,
        trailers: Option<HeaderFields>,
        now: Instant,
        signals: &mut Signals,
    ) -> Result<(), HttpErrorCode> {
        let body = self.body(id);
        let (written, wanted) = (body.written, body.declared.unwrap_or(body.written));
        let finished =
            if written == wanted && written <= BODY_BYTES_MAX { Ok(()) } else { Err(body.of.size_error(written)) };
        let trailers = if finished.is_ok() {
            Ok(trailers.map(HeaderFields::frozen))
        } else {
            Err(HttpErrorCode::HttpProtocolError)
        };
        self.end(id, trailers, now, signals);
        finished
    }

    /// The writer went away without being done.
    pub fn abort(&mut self, id: BodyId, now: Instant, signals: &mut Signals) {
        self.end(id, Err(HttpErrorCode::HttpProtocolError), now, signals);
    }

    fn end(
        &mut self,
        id: BodyId,
        trailers: Result<Option<HeaderFields>, HttpErrorCode>,
        now: Instant,
        signals: &mut Signals,
    ) {
        let body = self.body_mut(id);
        if body.end.is_none() {
            let at = now.after(body.lag);
            body.end = Some(End { trailers, at });
            signals.hasten(body.readable, at);
        }
        self.let_go(id, BodySide::Writer);
    }

    /// Every body that the guest of `node` has not finished is cut: the guest is gone.
    pub fn abort_all_of(&mut self, node: NodeId, now: Instant, signals: &mut Signals) -> Vec<BodyId> {
        let open = self.bodies.iter().filter(|(_, body)| body.writer == node && body.end.is_none());
        let open: Vec<BodyId> = open.map(|(id, _)| *id).collect();
        open.iter().for_each(|id| self.abort(*id, now, signals));
        open
    }

    /// The body travels to its reader: it arrives `lag` after its end, and the connection breaks after `cut_after` bytes.
    pub(super) fn travels(&mut self, id: BodyId, lag: Duration, cut_after: Option<u64>) {
        let body = self.body_mut(id);
        (body.lag, body.cut_after) = (lag, cut_after);
    }

    /// The reader loses patience at `deadline`.
    pub(super) fn read_until(&mut self, id: BodyId, deadline: Instant, signals: &mut Signals) {
        signals.hasten(self.body(id).readable, deadline);
    }

    /// How it ended, whenever its end arrives; `None` while it is written.
    #[must_use]
    pub fn ended(&self, id: BodyId) -> Option<Result<(), &HttpErrorCode>> {
        self.body(id).end.as_ref().map(|end| end.trailers.as_ref().map(drop))
    }

    /// All its bytes so far.
    #[must_use]
    pub fn bytes(&self, id: BodyId) -> &[u8] {
        self.body(id).bytes.as_slice()
    }

    /// What the reader waits for.
    #[must_use]
    pub fn readable(&self, id: BodyId) -> SignalId {
        self.body(id).readable
    }

    /// What the reader finds from `offset` on, at most `len` bytes.
    #[must_use]
    pub fn read(&self, id: BodyId, offset: u64, len: u64, now: Instant, signals: &Signals) -> BodyRead<'_> {
        let body = self.body(id);
        let Some(end) = body.arrived(now, signals) else { return BodyRead::Nothing };
        let end = match end {
            Ok(end) => end,
            Err(error) => return BodyRead::Failed(error),
        };
        let bytes = body.bytes.as_slice();
        let reach = body.cut_after.map_or(bytes.len() as u64, |cut| cut.min(bytes.len() as u64));
        let rest = &bytes[offset.min(reach) as usize..reach as usize];
        if !rest.is_empty() {
            return BodyRead::Bytes(&rest[..usize::try_from(len).unwrap_or(usize::MAX).min(rest.len())]);
        }
        match &end.trailers {
            Ok(_) if body.cut_after.is_none() => BodyRead::End,
            _ => BodyRead::Failed(HttpErrorCode::HttpResponseIncomplete),
        }
    }

    /// What stands after the body; `None` while it is not there.
    #[must_use]
    pub fn trailers(
        &self,
        id: BodyId,
        now: Instant,
        signals: &Signals,
    ) -> Option<Result<Option<HeaderFields>, HttpErrorCode>> {
        let body = self.body(id);
        Some(body.arrived(now, signals)?.and_then(|end| match (&end.trailers, body.cut_after) {
            (Ok(trailers), None) => Ok(trailers.clone()),
            _ => Err(HttpErrorCode::HttpResponseIncomplete),
        }))
    }

    /// One side does not need the body any more.
    pub fn let_go(&mut self, id: BodyId, side: BodySide) {
        let body = self.body_mut(id);
        body.held_by[side as usize] = false;
        if body.held_by == [false; 2] {
            if let Bytes::Written(bytes) = &body.bytes {
                self.held_bytes -= bytes.len() as u64;
            }
            self.bodies.remove(&id);
        }
    }

    /// Bytes that are held for guests.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        self.held_bytes
    }

    /// Whether no body is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }
}

impl Body {
    /// How it ended, if that is there by now: its end, or that the reader lost patience before.
    fn arrived(&self, now: Instant, signals: &Signals) -> Option<Result<&End, HttpErrorCode>> {
        let readable_at = signals.at(self.readable).filter(|at| *at <= now)?;
        let end = self.end.as_ref().filter(|end| end.at <= readable_at);
        Some(end.ok_or(HttpErrorCode::ConnectionReadTimeout))
    }
}

#[cfg(test)]
mod tests;
