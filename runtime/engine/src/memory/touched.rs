//! Which pages of an anonymous mapping were ever touched, by the kernel's account of them.
//!
//! ```text
//! /proc/self/pagemap   one word a page: bit 63 present, bit 62 swapped out; neither: never touched
//! ```
//!
//! Invariant: every page that is not zero is named. Where the file cannot be read, all pages are.
//! Not here: which pages changed since a moment (checkpoints).

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set for pages in memory and on their way out of it or back.
const PRESENT_OR_SWAPPED: u64 = 1 << 63 | 1 << 62;
/// Words read at once.
const WORDS: usize = 512;
/// Bytes of one word.
const WORD_BYTES: usize = 8;

/// Calls `run` for stretches of `mapping`, in order, that hold all touched pages. The mapping is private; one
/// that does not begin at a page of the machine is named whole. The ranges are in bytes, relative to its beginning.
pub(super) fn runs(mapping: &[u8], mut run: impl FnMut(Range<usize>)) {
    static PAGEMAP: OnceLock<Option<File>> = OnceLock::new();
    let open = || File::open("/proc/self/pagemap").ok();
    let opened = PAGEMAP.get_or_init(|| {
        notice_copies();
        open()
    });
    // An open file is of the process that has opened it, also in a copy of it.
    let reopened = IS_COPY.load(Ordering::Relaxed).then(open);
    let pagemap = reopened.as_ref().unwrap_or(opened).as_ref();
    let (start, page) = (mapping.as_ptr() as usize, page_bytes());
    if !start.is_multiple_of(page) {
        return run(0..mapping.len());
    }
    let mut at = 0;
    while at < mapping.len() {
        let pages = (mapping.len() - at).div_ceil(page).min(WORDS);
        let end = mapping.len().min(at + pages * page);
        let mut words = [0; WORDS * WORD_BYTES];
        let words = &mut words[..pages * WORD_BYTES];
        let offset = ((start + at) / page * WORD_BYTES) as u64;
        let read = pagemap.is_some_and(|file| file.read_exact_at(words, offset).is_ok());
        if read {
            let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("eight bytes"));
            let touched = words.chunks_exact(WORD_BYTES).map(|bytes| word(bytes) & PRESENT_OR_SWAPPED != 0);
            for (index, _) in touched.enumerate().filter(|(_, touched)| *touched) {
                run(at + index * page..end.min(at + (index + 1) * page));
            }
        } else {
            run(at..end);
        }
        at = end;
    }
}

/// Whether this process is a copy of the one that has opened its account. Asking the kernel who it is would be a question of an
/// execution to the real computer.
static IS_COPY: AtomicBool = AtomicBool::new(false);

/// From now on copies of this process know that they are.
#[allow(unsafe_code, reason = "has the C library call a function; the block carries its argument")]
fn notice_copies() {
    extern "C" fn is_copy() {
        IS_COPY.store(true, Ordering::Relaxed);
    }
    // SAFETY: the function is there as long as the process, has the signature that is asked for, and only writes a number, which is
    // allowed in a copy whatever its other threads did.
    let refused = unsafe { libc::pthread_atfork(None, None, Some(is_copy)) };
    if refused != 0 {
        // Who may be a copy opens its account each time.
        is_copy();
    }
}

#[allow(unsafe_code, reason = "asks for a constant of the machine")]
fn page_bytes() -> usize {
    // SAFETY: reads a constant; it has no preconditions.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).ok().filter(|bytes| bytes.is_power_of_two()).expect("every Unix has a page size")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_pages_are_named_and_the_others_need_not_be() {
        let region = super::super::Region::map(64 << 20, 64 << 20, 4096).expect("address space");
        let bytes = region.bytes();
        let mut named = 0;
        runs(bytes, |run| named += run.len());
        assert!(named == 0 || named == bytes.len(), "nothing was touched, or nothing is known: {named}");
        assert!(bytes[5 << 20] == 0, "read, so touched");
        let mut found = false;
        runs(bytes, |run| found |= run.contains(&(5 << 20)));
        assert!(found);
    }

    #[test]
    #[allow(unsafe_code, reason = "a copy of this process; each block carries its argument")]
    fn a_copy_of_the_process_has_an_account_of_its_own() {
        let region = super::super::Region::map(64 << 20, 64 << 20, 4096).expect("address space");
        // That of this process is open from here on.
        runs(region.bytes(), |_| {});
        // SAFETY: the copy allocates nothing, and calls nothing but the system.
        let child = unsafe { libc::fork() };
        if child == 0 {
            region.write(5 << 20, &[1]);
            let mut found = false;
            runs(region.bytes(), |run| found |= run.contains(&(5 << 20)));
            // SAFETY: ends the copy at once.
            unsafe { libc::_exit(i32::from(!found)) };
        }
        let mut status = 0;
        // SAFETY: waits for the child that was just made, into a place of ours.
        let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
        assert!(child > 0 && waited == child && status == 0, "{child}: {status}");
    }
}
