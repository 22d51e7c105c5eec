//! Linear memories that belong to us.
//!
//! ```text
//! ┌──── byte_size ────┬──────── reserved, inaccessible ────────┬── guard ──┐
//! base
//! ```
//!
//! wasmtime asks [`HostMemories`] for each memory, synchronously and in order of instantiation, on the
//! thread that instantiates. [`collect`] hands those memories to the instantiating code, which can then
//! hash them after the guest has returned. [`offer`] has the next instance get memories that there are already, as they
//! are: mapping new ones, and touching their pages for the first time, is most of what an instance costs. For the same reason the mappings
//! of small memories are kept when these are gone (`recycled`).
//!
//! Invariants: the digest of a memory depends on its size and bytes only; bytes from `byte_size` on are inaccessible; a region lives as long as the last of its
//! owners (wasmtime's store, our list); fresh memory is zero, also in a mapping that another one had, and memory that was offered is
//! what its owner made it.
//! Not here: dirty tracking and restoring (`reactor`).

#![allow(unsafe_code, reason = "maps memory; each block carries its argument")]

use fozzy_host::MachineOutOfMemory;
use fozzy_trace::MemoryRequest;
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, VecDeque};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use wasmtime::{LinearMemory, MemoryCreator, MemoryType};
use xxhash_rust::xxh3::Xxh3;

mod clear;
mod copy;
mod differences;
mod recycled;
mod touched;

pub(crate) use clear::{BLOCKS_BYTES, each_set, set_blocks};
pub(crate) use differences::{GROUP_NUMBERS, PAGE_GROUPS, differing_numbers};

use recycled::{MAPPING_BYTES_MAX, MappingSizes};

/// Bytes of a page of the smallest machines; larger pages are several of these.
pub(crate) const PAGE_BYTES: usize = 4096;

/// Bytes of one block of the digest; the same on machines with larger pages.
const BLOCK_BYTES: usize = 4096;

/// One mapping of address space for one linear memory.
pub(crate) struct Region {
    base: NonNull<u8>,
    accessible: AtomicUsize,
    /// Bytes that were accessible at first.
    minimum: usize,
    reserved: usize,
    mapped: usize,
    /// Pages that the host wrote for the guest since they were forgotten last; `None` unless a tracker asks for them.
    written: Mutex<Option<BTreeSet<u32>>>,
    /// Whether a tracker asks for them: looked at by each write, which takes no lock.
    notes: AtomicBool,
    /// Whether any are noted now: looked at by each restore, which takes no lock where the host writes nothing.
    has_noted: AtomicBool,
    /// Bytes from the beginning whose pages may be those of a file: the kernel then has no account of who touched them.
    filed: AtomicUsize,
    /// Whether it was ever taken away from its guest: its mapping is no other memory's then.
    was_forbidden: AtomicBool,
}

// SAFETY: the pointer is to a private mapping that this value owns; moving it between threads moves
// ownership of plain bytes. Writes come from wasm code only while its store runs, which is never on two
// threads at once; we read only after it has returned.
unsafe impl Send for Region {}
// SAFETY: as above; `accessible` is atomic.
unsafe impl Sync for Region {}

impl Region {
    fn map(accessible: usize, reserved: usize, guard: usize) -> Result<Region, String> {
        let mapped = reserved.checked_add(guard).ok_or("a memory larger than the address space")?;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a fresh anonymous mapping at an address of the kernel's choice touches no existing memory.
        let map = || unsafe { libc::mmap(std::ptr::null_mut(), mapped.max(1), libc::PROT_NONE, flags, -1, 0) };
        let mut base = map();
        // Address space can be bounded, and what is kept for others is some.
        if base == libc::MAP_FAILED && recycled::give_back() {
            base = map();
        }
        if base == libc::MAP_FAILED {
            return Err(format!("mmap of {mapped} bytes: {}", std::io::Error::last_os_error()));
        }
        let base = NonNull::new(base.cast()).ok_or("mmap returned a null pointer")?;
        let sizes = MappingSizes { minimum: accessible, reserved, mapped: mapped.max(1) };
        let region = Region::of(base, 0, sizes);
        region.grow(accessible)?;
        Ok(region)
    }

    /// A memory of these bytes, which is zero: in the mapping of one that is gone where there is one.
    fn fresh(accessible: usize, reserved: usize, guard: usize) -> Result<Region, String> {
        let sizes = MappingSizes { minimum: accessible, reserved, mapped: reserved.saturating_add(guard).max(1) };
        let recycled = if UNTOUCHED.get() { None } else { Region::recycled(sizes) };
        recycled.map_or_else(|| Region::map(accessible, reserved, guard), Ok)
    }

    /// A memory in the mapping of one that is gone, if one of these sizes was kept.
    fn recycled(sizes: MappingSizes) -> Option<Region> {
        recycled::take(sizes).map(|base| Region::of(base, sizes.minimum, sizes))
    }

    /// The memory at `base`, of which so many bytes are accessible.
    fn of(base: NonNull<u8>, accessible: usize, sizes: MappingSizes) -> Region {
        let MappingSizes { minimum, reserved, mapped } = sizes;
        Region {
            base,
            accessible: AtomicUsize::new(accessible),
            minimum,
            reserved,
            mapped,
            filed: AtomicUsize::new(0),
            written: Mutex::new(None),
            notes: AtomicBool::new(false),
            has_noted: AtomicBool::new(false),
            was_forbidden: AtomicBool::new(false),
        }
    }

    /// Makes it as a fresh one, for another memory in its mapping; `false` when that is not worth the effort, or not possible.
    fn make_fresh(&self) -> bool {
        let is_plain = self.filed.load(Ordering::Relaxed) == 0 && !self.was_forbidden.load(Ordering::Relaxed);
        // One that could not be made has less than its minimum.
        if !is_plain || !(self.minimum..=MAPPING_BYTES_MAX).contains(&self.len()) {
            return false;
        }
        // No slice of the memory is alive when it is written.
        let mut touched = Vec::new();
        self.touched(|run| touched.push(run));
        touched.into_iter().for_each(|run| self.clear(run));
        self.len() == self.minimum || self.hide(self.minimum).is_ok()
    }

    fn grow(&self, size: usize) -> Result<(), String> {
        let old = self.len();
        if size > self.reserved {
            return Err(format!("a memory of {size} bytes in a reservation of {}", self.reserved));
        }
        if size > old {
            // SAFETY: `old..size` lies inside our own mapping, because `size` is at most `reserved`.
            let result = unsafe {
                libc::mprotect(self.base.as_ptr().add(old).cast(), size - old, libc::PROT_READ | libc::PROT_WRITE)
            };
            if result != 0 {
                return Err(format!("mprotect: {}", std::io::Error::last_os_error()));
            }
            self.accessible.store(size, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The bytes of the memory. Call it only while no guest of the owning store runs.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the first `accessible` bytes are mapped readable and initialised (zero or written). No
        // guest runs while the caller holds the slice: `Session` calls this after the last call returned.
        unsafe { std::slice::from_raw_parts(self.base.as_ptr(), self.accessible.load(Ordering::Relaxed)) }
    }

    /// Where the memory begins.
    pub(crate) fn base(&self) -> *mut u8 {
        self.base.as_ptr()
    }

    /// Bytes that the guest can reach.
    pub(crate) fn len(&self) -> usize {
        self.accessible.load(Ordering::Relaxed)
    }

    /// The size that it was made with: it is never smaller.
    pub(crate) fn minimum(&self) -> usize {
        self.minimum
    }

    /// Sets the size. What is cut off is zero when it comes back. Call it as [`Region::bytes`].
    pub(crate) fn resize(&self, size: usize) -> Result<(), String> {
        let old = self.len();
        if size >= old {
            return self.grow(size);
        }
        let (tail, length) = (self.base.as_ptr().wrapping_add(size), old - size);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED;
        // SAFETY: `size..old` lies inside our own mapping, which a fresh one replaces; no guest runs, and no
        // slice of ours is alive: `bytes` borrows for as long as its caller looks.
        let mapped = unsafe { libc::mmap(tail.cast(), length, libc::PROT_NONE, flags, -1, 0) };
        if mapped == libc::MAP_FAILED {
            return Err(format!("mmap of {length} bytes: {}", std::io::Error::last_os_error()));
        }
        self.accessible.store(size, Ordering::Relaxed);
        Ok(())
    }

    /// Cuts off a tail that is zero. Its pages stay, so that the memory grows again without a fault for each of them.
    /// Call it as [`Region::bytes`].
    pub(crate) fn hide(&self, size: usize) -> Result<(), String> {
        let old = self.len();
        assert!(size <= old, "a tail from {size} on of {old} bytes");
        // SAFETY: `size..old` lies inside our own mapping; its bytes do not change, and no guest runs.
        let result = unsafe { libc::mprotect(self.base.as_ptr().add(size).cast(), old - size, libc::PROT_NONE) };
        if result != 0 {
            return Err(format!("mprotect: {}", std::io::Error::last_os_error()));
        }
        self.accessible.store(size, Ordering::Relaxed);
        Ok(())
    }

    /// Writes `bytes` at `offset`, inside the memory. Call it as [`Region::bytes`].
    pub(crate) fn write(&self, offset: usize, bytes: &[u8]) {
        let end = offset.checked_add(bytes.len()).expect("an offset inside a memory");
        assert!(end <= self.len(), "a write of {} bytes at {offset} into {}", bytes.len(), self.len());
        // SAFETY: the destination lies in the accessible part of our own mapping, as was just checked; no guest
        // runs while we are here, and `bytes` cannot lie in it: slices of a region end before it is written.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.base.as_ptr().add(offset), bytes.len()) }
    }

    /// Writes for a guest that waits in a call of the host, and notes the pages. Call it as [`Region::bytes`]: code of the guest
    /// is on the stack, but does not run before the call returns.
    #[inline]
    pub(crate) fn write_for_guest(&self, offset: usize, bytes: &[u8]) {
        self.write(offset, bytes);
        if self.notes.load(Ordering::Relaxed) {
            self.note(offset, bytes.len());
        }
    }

    #[cold]
    fn note(&self, offset: usize, length: usize) {
        if let (Some(pages), true) = (&mut *self.noted(), length > 0) {
            pages.extend((offset / PAGE_BYTES) as u32..=((offset + length - 1) / PAGE_BYTES) as u32);
            self.has_noted.store(true, Ordering::Relaxed);
        }
    }

    /// From now on the pages of [`Region::write_for_guest`] are noted.
    pub(crate) fn note_written(&self) {
        self.noted().get_or_insert_default();
        self.notes.store(true, Ordering::Relaxed);
    }

    /// Calls `each` for the pages that were noted. Call it as [`Region::bytes`]: nobody notes any meanwhile.
    #[inline]
    pub(crate) fn each_noted(&self, each: impl FnMut(u32)) {
        if self.has_noted.load(Ordering::Relaxed) {
            self.noted().iter().flatten().copied().for_each(each);
        }
    }

    /// Forgets the pages that were noted. Call it as [`Region::bytes`].
    #[inline]
    pub(crate) fn forget_noted(&self) {
        if self.has_noted.load(Ordering::Relaxed) {
            self.noted().iter_mut().for_each(BTreeSet::clear);
            self.has_noted.store(false, Ordering::Relaxed);
        }
    }

    fn noted(&self) -> MutexGuard<'_, Option<BTreeSet<u32>>> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a page at `offset`, inside the memory. Call it as [`Region::bytes`].
    #[inline]
    pub(crate) fn write_page(&self, offset: usize, page: &[u8; PAGE_BYTES]) {
        let end = offset.checked_add(PAGE_BYTES).expect("an offset inside a memory");
        assert!(end <= self.len(), "a write of a page at {offset} into {}", self.len());
        // SAFETY: as of `write`.
        unsafe { copy::page(page, self.base.as_ptr().add(offset)) }
    }

    /// Sets `range` to zero. Call it as [`Region::bytes`].
    pub(crate) fn clear(&self, range: std::ops::Range<usize>) {
        assert!(range.start <= range.end && range.end <= self.len(), "{range:?} of {}", self.len());
        // SAFETY: as of `write`.
        unsafe { std::ptr::write_bytes(self.base.as_ptr().add(range.start), 0, range.len()) }
    }

    /// Makes the memory inaccessible, or accessible again. A guest that touches it meanwhile traps; no other code may touch it.
    pub(crate) fn forbid(&self, forbidden: bool) {
        let protection = if forbidden { libc::PROT_NONE } else { libc::PROT_READ | libc::PROT_WRITE };
        self.was_forbidden.fetch_or(forbidden, Ordering::Relaxed);
        // SAFETY: the range is the accessible part of our own mapping; its bytes do not change. Wasm code that touches it
        // while it is inaccessible faults inside the reservation of its memory, which wasmtime answers with a trap.
        let result = unsafe { libc::mprotect(self.base.as_ptr().cast(), self.len(), protection) };
        assert_eq!(result, 0, "mprotect of a mapping of ours: {}", std::io::Error::last_os_error());
    }

    /// Calls `each` for stretches, in order, that hold all bytes that are not zero. Call it as [`Region::bytes`].
    pub(crate) fn touched(&self, each: impl FnMut(std::ops::Range<usize>)) {
        self.touched_of(0..self.len(), each);
    }

    /// The same of a part, which begins and ends at pages. Call it as [`Region::bytes`].
    pub(crate) fn touched_of(&self, part: std::ops::Range<usize>, mut each: impl FnMut(std::ops::Range<usize>)) {
        let filed = self.filed.load(Ordering::Relaxed).clamp(part.start, part.end);
        if filed > part.start {
            each(part.start..filed);
        }
        touched::runs(&self.bytes()[filed..part.end], |run| each(filed + run.start..filed + run.end));
    }

    /// The first `bytes` have pages of a file from now on, which hold what the memory held.
    pub(crate) fn is_of_file(&self, bytes: usize) {
        self.filed.fetch_max(bytes, Ordering::Relaxed);
    }

    /// A digest of the contents: of every block that is not zero, with its number. Blocks that were never touched are
    /// zero, and are not even read: most of a memory is never touched. Call it as [`Region::bytes`].
    pub(crate) fn digest(&self) -> u128 {
        let (bytes, mut hasher) = (self.bytes(), Xxh3::new());
        self.touched(|run| {
            for (index, block) in run.clone().step_by(BLOCK_BYTES).zip(bytes[run].chunks(BLOCK_BYTES)) {
                if !is_zero(block) {
                    hasher.update(&(index as u64 / BLOCK_BYTES as u64).to_le_bytes());
                    hasher.update(block);
                }
            }
        });
        hasher.digest128()
    }
}

fn is_zero(block: &[u8]) -> bool {
    block.chunks(128).all(|bytes| bytes.iter().fold(0, |seen, byte| seen | byte) == 0)
}

impl Drop for Region {
    fn drop(&mut self) {
        let sizes = MappingSizes { minimum: self.minimum, reserved: self.reserved, mapped: self.mapped };
        if !(self.make_fresh() && recycled::keep(self.base, sizes)) {
            recycled::unmap(self.base, self.mapped);
        }
    }
}

struct RegionHandle(Arc<Region>);

// SAFETY: `as_ptr` never changes, `byte_size..` is inaccessible, and `grow_to` keeps both; the guard
// bytes that wasmtime asked for are mapped inaccessible behind the reservation.
unsafe impl LinearMemory for RegionHandle {
    fn byte_size(&self) -> usize {
        self.0.accessible.load(Ordering::Relaxed)
    }

    fn byte_capacity(&self) -> usize {
        self.0.reserved
    }

    fn grow_to(&mut self, size: usize) -> wasmtime::Result<()> {
        self.0.grow(size).map_err(|why| wasmtime::Error::new(MachineOutOfMemory::new(why)))
    }

    fn as_ptr(&self) -> *mut u8 {
        self.0.base.as_ptr()
    }
}

/// The memory by which a program asks whether it may have memory: nothing is in it, and it grows by nothing.
struct RequestMemory(Region);

// SAFETY: `as_ptr` never changes, all bytes from `byte_size` on are inaccessible, as the size stays 0, and the guard bytes that wasmtime
// asked for are mapped inaccessible behind the reservation.
unsafe impl LinearMemory for RequestMemory {
    fn byte_size(&self) -> usize {
        0
    }

    fn byte_capacity(&self) -> usize {
        self.0.reserved
    }

    fn grow_to(&mut self, _size: usize) -> wasmtime::Result<()> {
        Ok(())
    }

    fn as_ptr(&self) -> *mut u8 {
        self.0.base.as_ptr()
    }
}

thread_local! {
    static CREATED: RefCell<Vec<Arc<Region>>> = const { RefCell::new(Vec::new()) };
    static OFFERED: RefCell<VecDeque<Arc<Region>>> = const { RefCell::new(VecDeque::new()) };
    static SHARED: RefCell<Option<SharedMemory>> = const { RefCell::new(None) };
    static ANEW: Cell<bool> = const { Cell::new(false) };
    static UNTOUCHED: Cell<bool> = const { Cell::new(false) };
    static FOLLOWED: RefCell<Option<FollowedMemories>> = const { RefCell::new(None) };
}

/// The memories of one size that were created on this thread, of guests that may run.
struct FollowedMemories {
    bytes: usize,
    regions: Vec<Weak<Region>>,
}

/// From now on, memories of this thread that begin with so many bytes are to be had by [`followed`]. With `None`, that ends.
pub(crate) fn follow(bytes: Option<usize>) {
    FOLLOWED.set(bytes.map(|bytes| FollowedMemories { bytes, regions: Vec::new() }));
}

/// Those that are still there.
pub(crate) fn followed() -> Vec<Arc<Region>> {
    FOLLOWED.with_borrow_mut(|followed| {
        let Some(followed) = followed else { return Vec::new() };
        followed.regions.retain(|region| region.strong_count() > 0);
        followed.regions.iter().filter_map(Weak::upgrade).collect()
    })
}

/// The memory of pages of one byte that all instances of this thread have in common.
struct SharedMemory {
    /// What it begins with.
    contents: Vec<u8>,
    region: Option<Arc<Region>>,
}

/// From now on, instances of this thread that have a memory of pages of one byte have it in common; it begins with `contents`. With `None`, that ends.
pub(crate) fn share(contents: Option<Vec<u8>>) {
    SHARED.set(contents.map(|contents| SharedMemory { contents, region: None }));
}

/// That memory, once there is an instance that has it.
pub(crate) fn shared_region() -> Option<Arc<Region>> {
    SHARED.with_borrow(|shared| shared.as_ref()?.region.clone())
}

fn shared(map: impl FnOnce() -> Result<Region, String>) -> Result<Arc<Region>, String> {
    SHARED.with_borrow_mut(|shared| {
        let Some(shared) = shared else { return Ok(Arc::new(map()?)) };
        if let Some(region) = &shared.region {
            return Ok(Arc::clone(region));
        }
        let region = Arc::new(map()?);
        region.write(0, &shared.contents);
        shared.region = Some(Arc::clone(&region));
        Ok(region)
    })
}

/// Gives wasmtime its memories.
pub(crate) struct HostMemories;

// SAFETY: each memory is a mapping of its own with the reservation and guard that were asked for. That in which guests are counted that are
// debugged is one for all instances of a thread: only code of the rewriter reads and writes it, one instance after the other, and it never grows. One that was offered has
// them too, is at least as large as was asked for, and belonged to a store that runs no more (`offer`).
unsafe impl MemoryCreator for HostMemories {
    fn new_memory(
        &self,
        of: MemoryType,
        minimum: usize,
        maximum: Option<usize>,
        reserved: Option<usize>,
        guard: usize,
    ) -> Result<Box<dyn LinearMemory>, String> {
        let reserved = reserved.unwrap_or_else(|| maximum.unwrap_or(minimum)).max(minimum);
        let mapped = reserved.saturating_add(guard).max(1);
        // No program has pages of one byte.
        if of.page_size() == 1 && maximum == Some(MemoryRequest::MEMORY_BYTES_MAX as usize) {
            return Ok(Box::new(RequestMemory(Region::fresh(0, reserved, guard)?)));
        }
        if of.page_size() == 1 {
            let region = shared(|| Region::fresh(minimum, reserved, guard))?;
            return Ok(Box::new(RegionHandle(region)));
        }
        let fits =
            |region: &Arc<Region>| (region.minimum, region.reserved, region.mapped) == (minimum, reserved, mapped);
        let region = match OFFERED.with_borrow_mut(VecDeque::pop_front).filter(fits) {
            Some(region) => region,
            None => Arc::new(Region::fresh(minimum, reserved, guard)?),
        };
        FOLLOWED.with_borrow_mut(|followed| {
            let followed = followed.as_mut().filter(|followed| followed.bytes == minimum);
            followed.into_iter().for_each(|followed| followed.regions.push(Arc::downgrade(&region)));
        });
        CREATED.with_borrow_mut(|created| created.push(Arc::clone(&region)));
        Ok(Box::new(RegionHandle(region)))
    }
}

/// Has the next instance of this thread get `regions`, in order of instantiation, up to the next [`collect`]. They are of an
/// instance of the same component that never runs again.
pub(crate) fn offer(regions: &[Arc<Region>]) {
    OFFERED.with_borrow_mut(|offered| {
        offered.clear();
        offered.extend(regions.iter().cloned());
    });
}

/// Instantiates with memories whose pages nobody has ever touched, but for those that were offered: what the instantiation writes is
/// found by the kernel's account of touched pages.
pub(crate) fn untouched<T>(instantiate: impl FnOnce() -> T) -> T {
    UNTOUCHED.set(true);
    let instantiated = instantiate();
    UNTOUCHED.set(false);
    instantiated
}

/// The memories that were created until now belong to an instance that is over, and so do those that [`gather`] has gathered.
pub(crate) fn begin_anew() {
    drop(collect());
    ANEW.set(true);
}

/// Adds what was created on this thread since the last call to the memories of the guest that had its turn.
pub(crate) fn gather(memories: &mut Vec<Arc<Region>>) {
    if ANEW.take() {
        memories.clear();
    }
    memories.extend(collect());
}

/// Instantiates while others may do so: the memories that come with it are its own.
pub(crate) async fn apart<T>(instantiating: impl Future<Output = T>) -> (T, Vec<Arc<Region>>) {
    let mut own = Vec::new();
    let mut instantiating = pin!(instantiating);
    let instance = poll_fn(|context| {
        let others = collect();
        let polled = instantiating.as_mut().poll(context);
        own.extend(collect());
        CREATED.with_borrow_mut(|created| *created = others);
        polled
    });
    (instance.await, own)
}

/// Those that were told [`apart`] are the guest's that has its turn.
pub(crate) fn put_back(regions: &[Arc<Region>]) {
    CREATED.with_borrow_mut(|created| created.extend(regions.iter().cloned()));
}

/// The memories that were created on this thread since they were collected last: while an instance begins, they are its own.
pub(crate) fn created() -> Vec<Arc<Region>> {
    CREATED.with_borrow(Clone::clone)
}

/// The memories that were created on this thread since the last call, in order of instantiation.
pub(crate) fn collect() -> Vec<Arc<Region>> {
    OFFERED.with_borrow_mut(VecDeque::clear);
    CREATED.with_borrow_mut(std::mem::take)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_zero_grows_and_ends_at_its_reservation() {
        let region = Region::map(65_536, 1 << 20, 65_536).expect("address space");
        assert!(region.bytes().iter().all(|byte| *byte == 0) && region.bytes().len() == 65_536);
        region.grow(131_072).expect("inside the reservation");
        assert_eq!(region.bytes().len(), 131_072);
        assert!(region.grow(2 << 20).is_err());
    }

    #[test]
    fn the_digest_depends_on_bytes_and_not_on_touching() {
        let region = || Region::map(16 << 20, 32 << 20, 65_536).expect("address space");
        let write = |region: &Region, at: usize, byte: u8| {
            assert!(at < region.bytes().len());
            // SAFETY: inside the accessible part of a mapping that has no other user.
            unsafe { region.base.as_ptr().add(at).write_volatile(byte) };
        };
        let (plain, other) = (region(), region());
        for at in [5, 4096 * 7, (16 << 20) - 1] {
            write(&plain, at, 1);
            assert_ne!(plain.digest(), other.digest(), "at {at}");
            write(&other, at, 1);
            assert_eq!(plain.digest(), other.digest(), "at {at}");
        }
        // Touched, and zero again; read, and never written.
        write(&other, 9 << 20, 7);
        write(&other, 9 << 20, 0);
        assert_eq!(other.bytes()[3 << 20], 0);
        assert_eq!(plain.digest(), other.digest());
        let moved = region();
        for at in [5, 4096 * 8, (16 << 20) - 1] {
            write(&moved, at, 1);
        }
        assert_ne!(plain.digest(), moved.digest());
    }

    #[test]
    fn pages_that_the_host_writes_are_noted_once_somebody_asks_until_they_are_forgotten() {
        let region = Region::map(65_536, 65_536, 4096).expect("address space");
        let noted = || {
            let mut pages = Vec::new();
            region.each_noted(|page| pages.push(page));
            pages
        };
        region.write_for_guest(0, &[1]);
        assert!(noted().is_empty(), "nobody has asked");
        region.note_written();
        region.write_for_guest(4095, &[1, 2]);
        region.write_for_guest(3 * 4096, &[]);
        assert_eq!(noted(), [0, 1]);
        region.forget_noted();
        assert!(noted().is_empty());
        region.write_for_guest(2 * 4096, &[1]);
        assert_eq!(noted(), [2]);
    }

    #[test]
    fn a_memory_that_is_gone_leaves_its_mapping_to_the_next_one_of_its_sizes() {
        let sizes = MappingSizes { minimum: 65_536, reserved: 5 << 20, mapped: (5 << 20) + 65_536 };
        let gone = Region::map(65_536, 5 << 20, 65_536).expect("address space");
        let base = gone.base();
        gone.write(5, &[1]);
        gone.grow(131_072).expect("inside the reservation");
        gone.write(100_000, &[2]);
        drop(gone);
        assert!(Region::recycled(MappingSizes { minimum: 131_072, ..sizes }).is_none(), "of other sizes");
        let next = Region::recycled(sizes).expect("it was kept");
        assert_eq!((next.base(), next.len()), (base, 65_536));
        next.grow(131_072).expect("inside the reservation");
        assert!(next.bytes().iter().all(|byte| *byte == 0));
        assert!(Region::recycled(sizes).is_none(), "one memory has it");
    }

    #[test]
    fn what_is_not_plain_memory_or_too_large_is_not_kept() {
        let sizes = MappingSizes { minimum: 65_536, reserved: 6 << 20, mapped: (6 << 20) + 4096 };
        let spoil: [fn(&Region); 3] = [
            |region| region.is_of_file(4096),
            |region| [true, false].into_iter().for_each(|forbidden| region.forbid(forbidden)),
            |region| region.grow(MAPPING_BYTES_MAX + 65_536).expect("inside the reservation"),
        ];
        for (number, spoil) in spoil.into_iter().enumerate() {
            let region = Region::map(65_536, 6 << 20, 4096).expect("address space");
            spoil(&region);
            drop(region);
            assert!(Region::recycled(sizes).is_none(), "{number}");
        }
        drop(Region::map(65_536, 6 << 20, 4096).expect("address space"));
        assert!(Region::recycled(sizes).is_some(), "nothing was wrong with that");
    }

    #[test]
    fn a_thread_keeps_a_few_mappings() {
        let sizes = MappingSizes { minimum: 4096, reserved: 7 << 20, mapped: (7 << 20) + 4096 };
        let regions: Vec<Region> = (0..20).map(|_| Region::map(4096, 7 << 20, 4096).expect("address space")).collect();
        drop(regions);
        let mut kept = Vec::new();
        while let Some(region) = Region::recycled(sizes) {
            kept.push(region);
        }
        assert_eq!(kept.len(), recycled::MAPPINGS_MAX);
    }

    #[test]
    fn what_is_kept_is_given_back_when_there_is_no_room() {
        let sizes = MappingSizes { minimum: 65_536, reserved: 8 << 20, mapped: (8 << 20) + 4096 };
        drop(Region::map(65_536, 8 << 20, 4096).expect("address space"));
        assert!(Region::map(0, usize::MAX / 2, 0).is_err());
        assert!(Region::recycled(sizes).is_none());
        assert!(!recycled::give_back(), "nothing is left");
    }

    #[test]
    fn an_impossible_mapping_is_an_error() {
        assert!(Region::map(0, usize::MAX, 1).is_err());
        assert!(Region::map(0, usize::MAX / 2, 0).is_err());
    }
}
