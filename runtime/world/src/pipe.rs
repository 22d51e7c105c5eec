//! Pipes: bytes from one machine to another, in order, with an end.
//!
//! ```text
//! parent ─write─▶ [ buffer, 64 KiB ] ─read─▶ child       full: the writer waits · empty: the reader waits
//!                 [ tape           ] ─read─▶ parent      scripted output: all there from a moment on
//! parent ─write─▶ [ sink           ]                     scripted input: counted and gone
//! ```
//!
//! An end closes at a moment, which may lie ahead: that is how a scripted process closes its output when it ends.
//! After the writer's end has closed, the reader gets what is left and then the end; after the reader's end has
//! closed, the writer gets a broken pipe.
//!
//! Invariants: bytes come out as they went in; a pipe is gone when neither end is held; a name is never
//! used twice, so a stale one is harmless: it reads as ended and writes as broken.
//! Not here: handles (the table), who holds which end (`process`).

use fozzy_trace::Instant;
use std::collections::VecDeque;
use std::sync::Arc;

/// What a pipe holds before its writer waits, in bytes: as on Linux (`pipe(7)`).
pub const PIPE_BYTES_MAX: u64 = 65_536;
/// Bytes that are written at once or not at all, as on Linux (`PIPE_BUF`). A pipe with less room than that has
/// none, so that a wait for room ends with enough for one blocking write of WASI.
pub const PIPE_ATOMIC_BYTES: u64 = 4_096;
/// What all collecting and given pipes of a run together hold, in bytes. More is refused: such bytes are whole
/// inputs and outputs, which would otherwise grow as long as guests write.
pub const HELD_BYTES_MAX: u64 = 1 << 28;

/// The name of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PipeId {
    slot: u32,
    generation: u32,
}

impl PipeId {
    /// The same as one number.
    #[must_use]
    pub fn number(self) -> u64 {
        u64::from(self.slot) << 32 | u64::from(self.generation)
    }
}

/// An end of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipeEnd {
    /// Where bytes come out.
    Read,
    /// Where bytes go in.
    Write,
}

/// What a read gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PipeRead {
    /// Bytes; none when there are none now, or when none were asked for.
    Bytes(Vec<u8>),
    /// The end.
    End,
}

/// [`HELD_BYTES_MAX`] are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeLimitError;

/// All pipes of a run.
#[derive(Clone, Debug, Default)]
pub struct Pipes {
    slots: Vec<Slot>,
    /// Free slots, the one freed last at the end.
    free: Vec<u32>,
    held: u64,
}

#[derive(Clone, Debug)]
struct Slot {
    generation: u32,
    pipe: Option<Pipe>,
}

#[derive(Clone, Debug)]
struct Pipe {
    content: Content,
    /// When each end closes; `NEVER` while it is open.
    reader_closes: Instant,
    writer_closes: Instant,
    /// Whether a guest or a process holds the end, and will close it.
    reader_held: bool,
    writer_held: bool,
    /// What may still arrive; what is written beyond that is lost unseen.
    arriving: u64,
    /// Bytes that the writer wrote.
    written: u64,
}

#[derive(Clone, Debug)]
enum Content {
    /// What was written and not yet read, after what was given before (which counts as held).
    Buffer { given: VecDeque<u8>, bytes: VecDeque<u8> },
    /// Bytes that are all there from a moment on. `counted` of them are held.
    Tape { bytes: Arc<[u8]>, position: usize, from: Instant, counted: u64 },
    /// Nothing: what is written is gone.
    Sink,
    /// Everything that was written, for us to take as a whole.
    Collector { bytes: Vec<u8>, overflow: bool },
}

impl Pipes {
    /// A pipe between two guests; `given` comes out first, and does not count for the writer's bound.
    ///
    /// # Errors
    /// When `given` does not fit what may be held.
    pub fn buffer(&mut self, given: Vec<u8>) -> Result<PipeId, PipeLimitError> {
        self.hold(given.len() as u64)?;
        Ok(self.add(Content::Buffer { given: given.into(), bytes: VecDeque::new() }, true, true))
    }

    /// A pipe without a writer that yields `bytes`, and ends at `ends`. The bytes belong to the plan.
    pub fn tape(&mut self, bytes: Arc<[u8]>, ends: Instant) -> PipeId {
        let id = self.add(Content::Tape { bytes, position: 0, from: Instant::START, counted: 0 }, true, false);
        self.get_mut(id).expect("just made").writer_closes = ends;
        id
    }

    /// A pipe without a writer that yields `bytes` and then ends. The bytes are held.
    ///
    /// # Errors
    /// When they do not fit what may be held.
    pub fn given(&mut self, bytes: Vec<u8>) -> Result<PipeId, PipeLimitError> {
        let counted = bytes.len() as u64;
        self.hold(counted)?;
        let tape = Content::Tape { bytes: bytes.into(), position: 0, from: Instant::START, counted };
        let id = self.add(tape, true, false);
        self.get_mut(id).expect("just made").writer_closes = Instant::START;
        Ok(id)
    }

    /// A pipe that takes everything and gives nothing, until its reader closes at `ends`.
    pub fn sink(&mut self, ends: Instant) -> PipeId {
        let id = self.add(Content::Sink, false, true);
        self.get_mut(id).expect("just made").reader_closes = ends;
        id
    }

    /// A tape whose bytes are not known yet: [`Pipes::fill`] says them.
    pub fn promise(&mut self) -> PipeId {
        self.tape(Arc::from([]), Instant::NEVER)
    }

    /// The bytes of a [`Pipes::promise`] come at `moment`, all at once, and the end with them.
    pub fn fill(&mut self, id: PipeId, content: Arc<[u8]>, moment: Instant) {
        let Some(pipe) = self.get_mut(id) else { return };
        if let Content::Tape { bytes, from, .. } = &mut pipe.content {
            *bytes = content;
            *from = moment;
        }
        self.close_at(id, PipeEnd::Write, moment);
    }

    /// A pipe whose content is taken as a whole, by [`Pipes::collect`]. It begins with `given`.
    ///
    /// # Errors
    /// When `given` does not fit what may be held.
    pub fn collector(&mut self, given: Vec<u8>) -> Result<PipeId, PipeLimitError> {
        self.hold(given.len() as u64)?;
        Ok(self.add(Content::Collector { bytes: given, overflow: false }, true, true))
    }

    /// Limits the bytes of `pipe` that arrive, those in it included.
    pub fn cut(&mut self, id: PipeId, bytes: u64) {
        let Some(pipe) = self.get_mut(id) else { return };
        pipe.arriving = bytes;
        if let Content::Tape { bytes: tape, .. } = &mut pipe.content
            && (tape.len() as u64) > bytes
        {
            *tape = Arc::from(&tape[..bytes as usize]);
        }
    }

    /// Takes up to `len` bytes out.
    pub fn read(&mut self, id: PipeId, len: u64, now: Instant) -> PipeRead {
        let Some(pipe) = self.get_mut(id).filter(|pipe| pipe.reader_closes > now) else { return PipeRead::End };
        let over = pipe.writer_closes <= now;
        let mut released = 0;
        let (bytes, left) = match &mut pipe.content {
            Content::Buffer { given, bytes } => {
                let mut taken = drain(given, len);
                released = taken.len() as u64;
                taken.append(&mut drain(bytes, len - released));
                (taken, !given.is_empty() || !bytes.is_empty())
            }
            Content::Tape { from, .. } if *from > now => (Vec::new(), false),
            Content::Tape { bytes, position, .. } => {
                let rest = &bytes[*position..];
                let taken = rest[..clamped(len, rest.len())].to_vec();
                *position += taken.len();
                (taken, *position < bytes.len())
            }
            Content::Sink | Content::Collector { .. } => (Vec::new(), false),
        };
        self.held -= released;
        if bytes.is_empty() && !left && over { PipeRead::End } else { PipeRead::Bytes(bytes) }
    }

    /// How many bytes can be written now; `None` when the pipe is broken.
    #[must_use]
    pub fn room(&self, id: PipeId, now: Instant) -> Option<u64> {
        let pipe = self.get(id).filter(|pipe| pipe.reader_closes > now && pipe.writer_closes > now)?;
        Some(match &pipe.content {
            Content::Buffer { bytes, .. } => match PIPE_BYTES_MAX - bytes.len() as u64 {
                ..PIPE_ATOMIC_BYTES => 0,
                room => room,
            },
            Content::Sink | Content::Collector { .. } => PIPE_BYTES_MAX,
            Content::Tape { .. } => 0,
        })
    }

    /// Puts as many of `bytes` in as there is room for, and says how many; `None` when the pipe is broken.
    pub fn write(&mut self, id: PipeId, bytes: &[u8], now: Instant) -> Option<u64> {
        let taken = &bytes[..clamped(self.room(id, now)?, bytes.len())];
        let may_hold = HELD_BYTES_MAX - self.held;
        let pipe = self.get_mut(id).expect("it has room");
        pipe.written += taken.len() as u64;
        let arriving = &taken[..clamped(pipe.arriving, taken.len())];
        pipe.arriving -= arriving.len() as u64;
        let mut collected = 0;
        match &mut pipe.content {
            Content::Buffer { bytes, .. } => bytes.extend(arriving),
            Content::Collector { bytes, overflow } => {
                if arriving.len() as u64 <= may_hold && !*overflow {
                    bytes.extend_from_slice(arriving);
                    collected = arriving.len() as u64;
                } else {
                    *overflow = true;
                }
            }
            Content::Sink | Content::Tape { .. } => {}
        }
        self.held += collected;
        Some(taken.len() as u64)
    }

    /// Takes what was collected; the pipe is gone. `None` when it was more than could be held.
    pub fn collect(&mut self, id: PipeId) -> Option<Vec<u8>> {
        let content = match &mut self.get_mut(id)?.content {
            Content::Collector { bytes, overflow } => (!*overflow).then(|| std::mem::take(bytes)),
            _ => None,
        };
        self.held -= content.as_ref().map_or(0, Vec::len) as u64;
        self.remove(id);
        content
    }

    /// The guest or process at an end lets go of it at `now`.
    pub fn close(&mut self, id: PipeId, end: PipeEnd, now: Instant) {
        self.close_at(id, end, now);
        let Some(pipe) = self.get_mut(id) else { return };
        match end {
            PipeEnd::Read => pipe.reader_held = false,
            PipeEnd::Write => pipe.writer_held = false,
        }
        // A collector waits for us, even if both ends are gone.
        let ours = matches!(pipe.content, Content::Collector { .. });
        if !pipe.reader_held && !pipe.writer_held && !ours {
            self.remove(id);
        }
    }

    /// An end closes at `moment`, or when it would have closed anyway, if that is earlier. Its holder continues to
    /// hold it.
    pub fn close_at(&mut self, id: PipeId, end: PipeEnd, moment: Instant) {
        let Some(pipe) = self.get_mut(id) else { return };
        let closes = match end {
            PipeEnd::Read => &mut pipe.reader_closes,
            PipeEnd::Write => &mut pipe.writer_closes,
        };
        *closes = moment.min(*closes);
    }

    /// Whether a reader would get bytes or the end, or a writer could write or would get a broken pipe.
    #[must_use]
    pub fn is_ready(&self, id: PipeId, end: PipeEnd, now: Instant) -> bool {
        match end {
            PipeEnd::Write => self.room(id, now).is_none_or(|room| room > 0),
            PipeEnd::Read => self.get(id).is_none_or(|pipe| {
                let has_bytes = match &pipe.content {
                    Content::Buffer { given, bytes } => !given.is_empty() || !bytes.is_empty(),
                    Content::Tape { bytes, position, from, .. } => *position < bytes.len() && *from <= now,
                    Content::Sink | Content::Collector { .. } => false,
                };
                has_bytes || pipe.writer_closes <= now || pipe.reader_closes <= now
            }),
        }
    }

    /// When the other end closes, if that is known: until then, only the other side can make it ready.
    #[must_use]
    pub fn deadline(&self, id: PipeId, end: PipeEnd) -> Option<Instant> {
        let pipe = self.get(id)?;
        let closes = match end {
            PipeEnd::Read => pipe.writer_closes,
            PipeEnd::Write => pipe.reader_closes,
        };
        Some(closes).filter(|moment| *moment < Instant::NEVER)
    }

    /// How many bytes were written to the pipe, also those that did not arrive.
    #[must_use]
    pub fn written(&self, id: PipeId) -> u64 {
        self.get(id).map_or(0, |pipe| pipe.written)
    }

    /// How many pipes there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    fn hold(&mut self, bytes: u64) -> Result<(), PipeLimitError> {
        if bytes > HELD_BYTES_MAX - self.held {
            return Err(PipeLimitError);
        }
        self.held += bytes;
        Ok(())
    }

    fn add(&mut self, content: Content, reader_held: bool, writer_held: bool) -> PipeId {
        let pipe = Pipe {
            content,
            reader_closes: Instant::NEVER,
            writer_closes: Instant::NEVER,
            reader_held,
            writer_held,
            arriving: u64::MAX,
            written: 0,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(Slot { generation: 0, pipe: None });
            u32::try_from(self.slots.len() - 1).expect("pipes are bounded by handles and machines")
        });
        let place = &mut self.slots[slot as usize];
        place.pipe = Some(pipe);
        PipeId { slot, generation: place.generation }
    }

    fn remove(&mut self, id: PipeId) {
        let slot = &mut self.slots[id.slot as usize];
        assert_eq!(slot.generation, id.generation, "only what is there is removed");
        let pipe = slot.pipe.take().expect("only what is there is removed");
        self.held -= match &pipe.content {
            Content::Buffer { given, .. } => given.len() as u64,
            Content::Tape { counted, .. } => *counted,
            Content::Collector { bytes, .. } => bytes.len() as u64,
            Content::Sink => 0,
        };
        // A slot whose generations have run out is never used again.
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            self.free.push(id.slot);
        }
    }

    fn get(&self, id: PipeId) -> Option<&Pipe> {
        let slot = &self.slots[id.slot as usize];
        slot.pipe.as_ref().filter(|_| slot.generation == id.generation)
    }

    fn get_mut(&mut self, id: PipeId) -> Option<&mut Pipe> {
        let slot = &mut self.slots[id.slot as usize];
        slot.pipe.as_mut().filter(|_| slot.generation == id.generation)
    }
}

fn clamped(len: u64, bound: usize) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX).min(bound)
}

fn drain(bytes: &mut VecDeque<u8>, len: u64) -> Vec<u8> {
    let len = clamped(len, bytes.len());
    bytes.drain(..len).collect()
}

#[cfg(test)]
mod tests;
