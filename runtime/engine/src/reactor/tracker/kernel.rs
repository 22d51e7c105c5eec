//! What Linux offers to find written pages: PAGEMAP_SCAN and userfaultfd, both since 6.7 as used here.
//!
//! ```text
//! PAGEMAP_SCAN   ioctl on our own /proc/self/pagemap     Documentation/admin-guide/mm/pagemap.rst
//! userfaultfd    write-protection that the kernel lifts at a write (WP_ASYNC)   …/mm/userfaultfd.rst
//! ```
//!
//! Invariants: only pages of the given region are looked at or changed, and never their contents.
//! Not here: what the answers mean (`write_protect`, `pagemap_scan`).

#![allow(unsafe_code, reason = "system calls without a safe wrapper; each block carries its argument")]

use crate::memory::Region;
use crate::reactor::image::PAGE_BYTES;
use std::fs::File;
use std::io::Error;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// `struct pm_scan_arg` of `linux/fs.h`.
#[repr(C)]
#[derive(Default)]
struct ScanArg {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region` of `linux/fs.h`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct PageRegion {
    start: u64,
    end: u64,
    categories: u64,
}

/// `PAGEMAP_SCAN`, `_IOWR('f', 16, struct pm_scan_arg)`.
const PAGEMAP_SCAN: libc::c_ulong = 0xC060_6610;
/// Categories of pages.
const WRITTEN: u64 = 1 << 1;
const FILE: u64 = 1 << 2;
const PRESENT: u64 = 1 << 3;
const SWAPPED: u64 = 1 << 4;
const ZERO_PAGE: u64 = 1 << 5;
/// Flags of a scan: protect what matches again, and fail where write-protection is not set up.
const PROTECT_MATCHING: u64 = 1;
const CHECK_PROTECTED: u64 = 1 << 1;

/// Stretches that one call answers.
const STRETCHES: usize = 1024;

/// Asks the kernel which pages of this process have which properties.
pub(crate) struct Pagemap {
    file: File,
    stretches: Vec<PageRegion>,
}

impl Pagemap {
    pub(crate) fn open() -> Result<Pagemap, String> {
        let file = File::open("/proc/self/pagemap").map_err(|error| format!("/proc/self/pagemap: {error}"))?;
        Ok(Pagemap { file, stretches: vec![PageRegion::default(); STRETCHES] })
    }

    /// Adds the pages of `bytes` that were written since they were protected. They stay unprotected: a copy back to them
    /// does not fault.
    pub(crate) fn written(&mut self, region: &Region, bytes: Range<usize>, pages: &mut Vec<u32>) -> Result<(), String> {
        // Asking for nothing but this category has the kernel look at page tables only.
        let arg =
            ScanArg { flags: CHECK_PROTECTED, category_mask: WRITTEN, return_mask: WRITTEN, ..ScanArg::default() };
        self.scan(region, bytes, arg, pages)
    }

    /// Protects the pages of `bytes` that were written since they were protected.
    pub(crate) fn protect_again(&mut self, region: &Region, bytes: Range<usize>) -> Result<(), String> {
        if bytes.is_empty() {
            return Ok(());
        }
        assert!(bytes.end <= region.len(), "{bytes:?} of {}", region.len());
        let base = region.base() as u64;
        let mut arg = ScanArg {
            size: size_of::<ScanArg>() as u64,
            flags: PROTECT_MATCHING | CHECK_PROTECTED,
            start: base + bytes.start as u64,
            end: base + bytes.end as u64,
            category_mask: WRITTEN,
            return_mask: WRITTEN,
            ..ScanArg::default()
        };
        // SAFETY: `arg` is a `pm_scan_arg` that says its size; without a `vec` nothing is written but itself. The range is
        // part of a mapping of ours; the call protects page tables and changes no bytes.
        if unsafe { libc::ioctl(self.file.as_raw_fd(), PAGEMAP_SCAN, &raw mut arg) } < 0 {
            return Err(format!("PAGEMAP_SCAN: {}", Error::last_os_error()));
        }
        Ok(())
    }

    /// Adds the pages of `bytes`, a private mapping of a file, that are no longer the file's.
    pub(crate) fn private(&mut self, region: &Region, bytes: Range<usize>, pages: &mut Vec<u32>) -> Result<(), String> {
        let arg = ScanArg {
            category_inverted: FILE | ZERO_PAGE,
            category_mask: FILE | ZERO_PAGE,
            category_anyof_mask: PRESENT | SWAPPED,
            ..ScanArg::default()
        };
        self.scan(region, bytes, arg, pages)
    }

    fn scan(
        &mut self,
        region: &Region,
        bytes: Range<usize>,
        mut arg: ScanArg,
        pages: &mut Vec<u32>,
    ) -> Result<(), String> {
        assert!(bytes.end <= region.len(), "{bytes:?} of {}", region.len());
        let base = region.base() as u64;
        arg.size = size_of::<ScanArg>() as u64;
        (arg.start, arg.end) = (base + bytes.start as u64, base + bytes.end as u64);
        (arg.vec, arg.vec_len) = (self.stretches.as_mut_ptr() as u64, self.stretches.len() as u64);
        while arg.start < arg.end {
            // SAFETY: `arg` is a `pm_scan_arg` that says its size; `vec` points to `vec_len` entries that we own
            // and that has no other reference. The range is part of a mapping of ours; the call reads and protects page
            // tables and changes no bytes.
            let found = unsafe { libc::ioctl(self.file.as_raw_fd(), PAGEMAP_SCAN, &raw mut arg) };
            let Ok(found) = usize::try_from(found) else {
                return Err(format!("PAGEMAP_SCAN: {}", Error::last_os_error()));
            };
            for stretch in &self.stretches[..found.min(STRETCHES)] {
                let page = |address: u64| (address - base) / PAGE_BYTES as u64;
                pages.extend((page(stretch.start)..page(stretch.end)).map(|page| page as u32));
            }
            if arg.walk_end <= arg.start {
                return Err("PAGEMAP_SCAN does not come forward".to_owned());
            }
            arg.start = arg.walk_end;
        }
        Ok(())
    }
}

/// `struct uffdio_api` of `linux/userfaultfd.h`.
#[repr(C)]
struct UffdApi {
    api: u64,
    features: u64,
    ioctls: u64,
}

/// `struct uffdio_register`.
#[repr(C)]
struct UffdRegister {
    start: u64,
    len: u64,
    mode: u64,
    ioctls: u64,
}

/// `struct uffdio_writeprotect`.
#[repr(C)]
struct UffdProtect {
    start: u64,
    len: u64,
    mode: u64,
}

/// Ioctls of userfaultfd: `_IOWR(0xAA, 0x3F / 0x00 / 0x06, …)`.
const UFFDIO_API: libc::c_ulong = 0xC018_AA3F;
const UFFDIO_REGISTER: libc::c_ulong = 0xC020_AA00;
const UFFDIO_WRITEPROTECT: libc::c_ulong = 0xC018_AA06;
/// The version of the interface.
const UFFD_API: u64 = 0xAA;
/// Untouched pages are protected too; the kernel lifts the protection at a write.
const FEATURE_WP_UNPOPULATED: u64 = 1 << 13;
const FEATURE_WP_ASYNC: u64 = 1 << 15;
/// Faults of user mode only, which needs no privilege.
const USER_MODE_ONLY: libc::c_int = 1;
const REGISTER_MODE_WP: u64 = 1 << 1;
const PROTECT_MODE_WP: u64 = 1;

/// A userfaultfd that protects pages of regions against writes, and lets the first write to each pass.
pub(crate) struct Userfaultfd(OwnedFd);

impl Userfaultfd {
    pub(crate) fn open() -> Result<Userfaultfd, String> {
        let failed = |what: &str| format!("{what}: {}", Error::last_os_error());
        let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | USER_MODE_ONLY;
        // SAFETY: makes a new file descriptor; it has no preconditions.
        let fd = unsafe { libc::syscall(libc::SYS_userfaultfd, flags) };
        let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0).ok_or_else(|| failed("userfaultfd"))?;
        // SAFETY: the descriptor is new, and has no other owner.
        let fd = unsafe { OwnedFd::from_raw_fd(fd) };
        let mut api = UffdApi { api: UFFD_API, features: FEATURE_WP_ASYNC | FEATURE_WP_UNPOPULATED, ioctls: 0 };
        // SAFETY: `api` is the structure that this ioctl reads and writes.
        if unsafe { libc::ioctl(fd.as_raw_fd(), UFFDIO_API, &raw mut api) } != 0 {
            return Err(failed("UFFDIO_API"));
        }
        Ok(Userfaultfd(fd))
    }

    /// Protects `bytes` of a region from now on.
    pub(crate) fn protect(&self, region: &Region, bytes: Range<usize>) -> Result<(), String> {
        assert!(bytes.end <= region.len(), "{bytes:?} of {}", region.len());
        if bytes.is_empty() {
            return Ok(());
        }
        let (start, len) = (region.base() as u64 + bytes.start as u64, bytes.len() as u64);
        let mut register = UffdRegister { start, len, mode: REGISTER_MODE_WP, ioctls: 0 };
        let mut protect = UffdProtect { start, len, mode: PROTECT_MODE_WP };
        // SAFETY: `register` is the structure that this ioctl reads and writes; the range is part of a mapping
        // of ours. In asynchronous mode a write is never held up, so that the descriptor need not be read.
        if unsafe { libc::ioctl(self.0.as_raw_fd(), UFFDIO_REGISTER, &raw mut register) } != 0 {
            return Err(format!("UFFDIO_REGISTER: {}", Error::last_os_error()));
        }
        // SAFETY: as above; no bytes change.
        if unsafe { libc::ioctl(self.0.as_raw_fd(), UFFDIO_WRITEPROTECT, &raw mut protect) } != 0 {
            return Err(format!("UFFDIO_WRITEPROTECT: {}", Error::last_os_error()));
        }
        Ok(())
    }
}

/// CPU time of this thread. It decides how written pages are found, which no guest can see.
pub(crate) fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes a time to a place of ours; the clock exists on every Linux.
    let result = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    assert_eq!(result, 0, "a thread has a clock of its CPU time");
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Replaces the first `bytes` of a region by a private mapping of a file that holds the same, so that the kernel can
/// tell pages that were written since.
pub(crate) fn map_from_file(region: &Region, bytes: usize) -> Result<(), String> {
    assert!(bytes <= region.len(), "{bytes} of {}", region.len());
    if bytes == 0 {
        return Ok(());
    }
    let failed = |what: &str| format!("{what}: {}", Error::last_os_error());
    // SAFETY: makes a new file in memory; the name is a C string.
    let fd = unsafe { libc::memfd_create(c"fozzy memory".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(failed("memfd_create"));
    }
    // SAFETY: the descriptor is new, and has no other owner.
    let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    let length = bytes as u64;
    file.set_len(length).map_err(|error| format!("a file of {bytes} bytes in memory: {error}"))?;
    let mut written = Ok(());
    region.touched(|run| {
        let run = run.start..run.end.min(bytes);
        if written.is_ok() && !run.is_empty() {
            let contents = &region.bytes()[run.clone()];
            written = std::os::unix::fs::FileExt::write_all_at(&file, contents, run.start as u64);
        }
    });
    written.map_err(|error| format!("a file of {bytes} bytes in memory: {error}"))?;
    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_NORESERVE;
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the range is the beginning of a mapping of ours, readable and writable before and after, and the file
    // has the same bytes, so that no reader sees a difference; no guest runs, and no slice of it is alive.
    let mapped = unsafe { libc::mmap(region.base().cast(), bytes, protection, flags, file.as_raw_fd(), 0) };
    if mapped == libc::MAP_FAILED {
        return Err(failed("mmap"));
    }
    region.is_of_file(bytes);
    Ok(())
}
