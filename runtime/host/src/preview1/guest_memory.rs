//! Accesses of preview 1 functions to the guest's memory: each is checked against the size of the memory.
//!
//! ```text
//! buffers 1024, count 2      ─▶ [(2048, 0), (4096, 64)] ─▶ the first that is not empty, as in wasmtime
//! ```
//!
//! Invariants: an access is inside the memory, and aligned where WASI says so, or the guest traps; one call moves
//! at most [`CALL_BYTES_MAX`].
//! Not here: where the bytes are (`fozzy-engine`).

use super::errno::WasiErrno;
use super::{Answer, CallFailure};
use crate::call::{GuestStop, Host, Import};

/// Bytes of lists, buffers and texts that one call may name; more is `nomem`. The same as wasmtime's bound for one call.
const CALL_BYTES_MAX: u64 = 128 << 20;
/// Bytes of `iovec` and `ciovec`: an address and a length.
const BUFFER_BYTES: u32 = 8;

/// A guest's memory, while the guest waits in a call.
pub trait GuestMemory: Send + Sync {
    /// Bytes that it has now; `None` when the guest has no memory yet.
    fn size(&self) -> Option<u64>;
    /// Copies bytes out of it; they lie inside.
    fn read(&self, at: u32, out: &mut [u8]);
    /// Copies bytes into it; they lie inside.
    fn write(&self, at: u32, bytes: &[u8]);
    /// Whether the program may have these bytes read or written, where its accesses are checked; if not, that is its end.
    fn allows(&self, at: u32, length: u32, writes: bool) -> bool;
    /// Finds the memory now, if it is there: later it may not be told any more.
    fn settle(&self);
}

/// A place in the guest's memory with its length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GuestRange {
    pub(super) at: u32,
    pub(super) length: u32,
}

impl Host {
    /// Refuses what is not inside the memory.
    #[inline]
    fn inside(&self, import: Import, at: u32, length: u64, writes: bool) -> Result<&dyn GuestMemory, GuestStop> {
        let misuse = |what: String| GuestStop::Misuse { import: import.name, what };
        let found = self.memory.as_deref().and_then(|memory| Some((memory, memory.size()?)));
        let (memory, size) = found.ok_or_else(|| misuse("the program exports no `memory` of its own".to_owned()))?;
        if u64::from(at) + length > size {
            return Err(misuse(format!("{length} bytes at {at:#x} are not inside the memory of {size:#x} bytes")));
        }
        if !memory.allows(at, length as u32, writes) {
            return Err(misuse(format!("{length} bytes at {at:#x} are no memory of the program")));
        }
        Ok(memory)
    }

    fn aligned(import: Import, at: u32, to: u32) -> Result<(), GuestStop> {
        if at.is_multiple_of(to) {
            return Ok(());
        }
        let what = format!("the address {at:#x} is not a multiple of {to}, as its value needs");
        Err(GuestStop::Misuse { import: import.name, what })
    }

    /// A value of `N` bytes, with its alignment.
    pub(super) fn value<const N: usize>(&self, import: Import, at: u32, to: u32) -> Result<[u8; N], GuestStop> {
        Self::aligned(import, at, to)?;
        let mut bytes = [0; N];
        self.inside(import, at, N as u64, false)?.read(at, &mut bytes);
        Ok(bytes)
    }

    /// Bytes as they are.
    pub(super) fn bytes(&self, import: Import, range: GuestRange) -> Answer<Vec<u8>> {
        if u64::from(range.length) > CALL_BYTES_MAX {
            return Err(WasiErrno::NOMEM.into());
        }
        let memory = self.inside(import, range.at, range.length.into(), false)?;
        let mut bytes = vec![0; range.length as usize];
        memory.read(range.at, &mut bytes);
        Ok(bytes)
    }

    /// A text, which is to be UTF-8.
    pub(super) fn text(&self, import: Import, at: u32, length: u32) -> Answer<String> {
        let bytes = self.bytes(import, GuestRange { at, length })?;
        String::from_utf8(bytes).map_err(|_| WasiErrno::ILSEQ.into())
    }

    /// The first buffer of a list that is not empty, as in wasmtime: more than one is never read or written by a call.
    pub(super) fn first_buffer(&mut self, import: Import, list: u32, count: u32) -> Answer<GuestRange> {
        let of_list = u64::from(count) * u64::from(BUFFER_BYTES);
        if of_list > CALL_BYTES_MAX {
            return Err(WasiErrno::NOMEM.into());
        }
        for place in 0..count {
            let at = list.checked_add(place * BUFFER_BYTES).unwrap_or(u32::MAX - 3);
            let range = self.range(import, at)?;
            if range.length > 0 {
                self.moved(u64::from(place) * u64::from(BUFFER_BYTES));
                let fits = of_list + u64::from(range.length) <= CALL_BYTES_MAX;
                return if fits { Ok(range) } else { Err(WasiErrno::NOMEM.into()) };
            }
        }
        self.moved(of_list);
        Ok(GuestRange { at: 0, length: 0 })
    }

    /// All buffers of a list that are not empty: a message is one, however many there are.
    pub(super) fn buffers(&mut self, import: Import, list: u32, count: u32) -> Answer<Vec<GuestRange>> {
        Self::bounded(count, BUFFER_BYTES)?;
        let mut total = u64::from(count) * u64::from(BUFFER_BYTES);
        self.moved(total);
        let mut ranges = Vec::new();
        for place in 0..count {
            let at = list.checked_add(place * BUFFER_BYTES).unwrap_or(u32::MAX - 3);
            let range = self.range(import, at)?;
            total += u64::from(range.length);
            if total > CALL_BYTES_MAX {
                return Err(WasiErrno::NOMEM.into());
            }
            if range.length > 0 {
                ranges.push(range);
            }
        }
        Ok(ranges)
    }

    /// An address and a length, as they lie in memory.
    pub(super) fn range(&self, import: Import, at: u32) -> Result<GuestRange, GuestStop> {
        let [a, b, c, d, e, f, g, h] = self.value(import, at, 4)?;
        Ok(GuestRange { at: u32::from_le_bytes([a, b, c, d]), length: u32::from_le_bytes([e, f, g, h]) })
    }

    /// Writes bytes as they are.
    pub(super) fn put(&self, import: Import, at: u32, bytes: &[u8]) -> Result<(), GuestStop> {
        let memory = self.inside(import, at, bytes.len() as u64, true)?;
        if !bytes.is_empty() {
            memory.write(at, bytes);
        }
        Ok(())
    }

    /// Writes a value, with its alignment.
    pub(super) fn put_value(&self, import: Import, at: u32, to: u32, bytes: &[u8]) -> Result<(), GuestStop> {
        Self::aligned(import, at, to)?;
        self.put(import, at, bytes)
    }

    /// Writes a `size`.
    pub(super) fn put_size(&self, import: Import, at: u32, size: usize) -> Answer<()> {
        let size = u32::try_from(size).map_err(|_| WasiErrno::OVERFLOW)?;
        Ok(self.put_value(import, at, 4, &size.to_le_bytes())?)
    }

    /// Refuses a list of `count` items of `bytes` that is too long for one call.
    pub(super) fn bounded(count: u32, bytes: u32) -> Result<(), CallFailure> {
        let fits = u64::from(count) * u64::from(bytes) <= CALL_BYTES_MAX;
        if fits { Ok(()) } else { Err(WasiErrno::NOMEM.into()) }
    }
}
