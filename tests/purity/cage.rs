//! Takes the real computer away from one thread.
//!
//! Invariant: after [`Cage::enter`] the thread can use memory and locks, and nothing else; the first thing else that it does
//! ends the process, and what it was can be read from the outside. (The data of the vDSO goes for the whole process.)

use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::process::Output;

/// Said when the processor or the kernel does not let the time-stamp counter be forbidden.
pub(super) const TSC_REFUSED: &str = "this machine cannot forbid the time-stamp counter (PR_SET_TSC)";

/// Where the number of a refused call is written, a copy of standard error: the filter permits writing there and nowhere else.
const REPORT: i32 = 700;
/// Before the number of the call on standard error.
const REFUSED: &str = "refused system call ";
/// Exit code of a process that the filter ended.
const REFUSED_EXIT: i32 = 77;

/// Whatever memory and locks need, and the way out.
const PERMITTED: &[libc::c_long] = &[
    libc::SYS_munmap,
    libc::SYS_mprotect,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_membarrier,
    libc::SYS_sched_yield,
    libc::SYS_sigaltstack,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigreturn,
    libc::SYS_exit,
    libc::SYS_exit_group,
];

/// That the thread is inside, and how tight it is.
pub(super) struct Cage {
    /// Whether reading the time-stamp counter is a fault.
    pub(super) refuses_tsc: bool,
}

impl Cage {
    /// From here on this thread has memory and locks only.
    pub(super) fn enter() -> Cage {
        let pagemap = open_pagemap();
        // SAFETY: duplicates a descriptor of this process to a number that nobody here uses.
        assert_eq!(unsafe { libc::dup2(2, REPORT) }, REPORT, "{}", io::Error::last_os_error());
        let handler = report as extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void);
        // SAFETY: the structure is plain data, for which zero is a value, and the handler has the signature that
        // SA_SIGINFO asks for; it only makes two system calls.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO;
            assert_eq!(libc::sigaction(libc::SIGSYS, &action, std::ptr::null_mut()), 0);
        }
        unmap_vdso_data();
        // SAFETY: makes a fault of an instruction that this thread does not execute any more, by what is to be shown.
        let refuses_tsc = unsafe { libc::prctl(libc::PR_SET_TSC, libc::PR_TSC_SIGSEGV) } == 0;
        filter(pagemap);
        Cage { refuses_tsc }
    }
}

/// Makes glibc's allocator serve all threads from the arena of the main thread. Those of other threads look into
/// `/proc/sys/vm/overcommit_memory` before they give memory back, once a process, whenever that comes to be (`arena.c`,
/// `shrink_heap`): the allocator's own affair, of which no guest can see anything.
pub(super) fn use_one_arena() {
    // SAFETY: sets a number of the allocator, before there is a second thread of ours.
    assert_eq!(unsafe { libc::mallopt(libc::M_ARENA_MAX, 1) }, 1, "glibc knows the setting");
}

/// The descriptor of `/proc/self/pagemap` that the engine opened at its first execution; none when it did not.
fn open_pagemap() -> Option<u32> {
    let folder = fs::read_dir("/proc/self/fd").expect("Linux has it");
    folder.filter_map(Result::ok).find_map(|entry| {
        let target = fs::read_link(entry.path()).ok()?;
        let name = entry.file_name().into_string().ok()?;
        target.ends_with("pagemap").then(|| name.parse().ok()).flatten()
    })
}

/// Removes the pages from which the vDSO reads time and randomness without a system call. Its code stays, and faults.
fn unmap_vdso_data() {
    let maps = fs::read_to_string("/proc/self/maps").expect("Linux has it");
    let mut removed = 0;
    for line in maps.lines().filter(|line| line.contains("[vvar")) {
        let (start, end) =
            line.split_whitespace().next().and_then(|range| range.split_once('-')).expect("two addresses");
        let number = |text: &str| usize::from_str_radix(text, 16).expect("hexadecimal");
        let (start, end) = (number(start), number(end));
        // SAFETY: nothing of Rust lives in these pages; code of the vDSO that reads them faults, which is the purpose.
        let result = unsafe { libc::munmap(start as *mut libc::c_void, end - start) };
        assert_eq!(result, 0, "the data of the vDSO stays: {}", io::Error::last_os_error());
        removed += 1;
    }
    assert!(removed > 0, "the vDSO has data somewhere else than in [vvar]");
}

/// One instruction of a filter.
const fn step(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter { code: code as u16, jt, jf, k }
}

/// Loads 32 bits of the call's description (`struct seccomp_data`).
const fn load(offset: u32) -> libc::sock_filter {
    step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset)
}

/// Goes on when the value is `k`, and skips `otherwise` instructions when it is not.
const fn unless(k: u32, otherwise: u8) -> libc::sock_filter {
    step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, otherwise, k)
}

const fn answer(k: u32) -> libc::sock_filter {
    step(libc::BPF_RET | libc::BPF_K, 0, 0, k)
}

/// Permits [`PERMITTED`]; anonymous `mmap` and `mremap`; `pread64` and `ioctl` of the page map; writing to [`REPORT`].
fn filter(pagemap: Option<u32>) {
    /// Offsets in `struct seccomp_data`: number, architecture, then six arguments of eight bytes.
    const NUMBER: u32 = 0;
    const ARCHITECTURE: u32 = 4;
    const fn argument(n: u32) -> u32 {
        16 + 8 * n
    }
    /// AUDIT_ARCH_X86_64 of linux/audit.h: the numbers of calls mean what they mean there.
    const X86_64: u32 = 0xC000_003E;
    let (allow, trap) = (answer(libc::SECCOMP_RET_ALLOW), answer(libc::SECCOMP_RET_TRAP));
    // Another architecture goes on with its own name in the place of the number, which no rule permits.
    let mut program = vec![load(ARCHITECTURE), unless(X86_64, 1), load(NUMBER)];
    for call in PERMITTED {
        program.extend([unless(*call as u32, 1), allow]);
    }
    let anonymous = step(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, 0, 1, libc::MAP_ANONYMOUS as u32);
    program.extend([unless(libc::SYS_mmap as u32, 4), load(argument(3)), anonymous, allow, trap]);
    program.extend([unless(libc::SYS_mremap as u32, 1), allow]);
    let of_file =
        |call: libc::c_long, file: u32| [unless(call as u32, 4), load(argument(0)), unless(file, 1), allow, trap];
    program.extend(of_file(libc::SYS_write, REPORT as u32));
    if let Some(pagemap) = pagemap {
        program.extend(of_file(libc::SYS_pread64, pagemap));
        program.extend(of_file(libc::SYS_ioctl, pagemap));
    }
    program.push(trap);
    let length = u16::try_from(program.len()).expect("a short filter");
    let description = libc::sock_fprog { len: length, filter: program.as_mut_ptr() };
    // SAFETY: the filter is copied by the kernel during the call; it binds this thread only.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0, "{}", io::Error::last_os_error());
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(
            libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const description),
            0,
            "{}",
            io::Error::last_os_error()
        );
    }
}

/// Writes the number of the refused call and ends the process. Nothing in it allocates or locks.
extern "C" fn report(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    /// Where `si_syscall` stands in `siginfo_t` on 64-bit Linux: after three numbers, padding and an address.
    const CALL_AT: usize = 24;
    // SAFETY: the kernel gives a whole siginfo_t with SIGSYS, and the offset is inside of it and aligned.
    let call = unsafe { info.cast::<u8>().add(CALL_AT).cast::<i32>().read() };
    let mut line = *b"refused system call 0000\n";
    let digits = line.len() - 5;
    for (n, place) in [1000, 100, 10, 1].into_iter().enumerate() {
        line[digits + n] = b'0' + (call / place % 10) as u8;
    }
    // SAFETY: writes bytes of our own to a descriptor of our own, and ends.
    unsafe {
        libc::write(REPORT, line.as_ptr().cast(), line.len());
        libc::_exit(REFUSED_EXIT);
    }
}

/// The system call by which a child was ended.
pub(super) fn refused_call(output: &Output) -> Option<libc::c_long> {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let number = said.split_once(REFUSED)?.1.get(..4)?.parse().ok()?;
    (output.status.code() == Some(REFUSED_EXIT)).then_some(number)
}

/// The time as the vDSO knows it without the counter.
pub(super) fn coarse_clock() {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to a structure of ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC_COARSE, &mut time) };
}

pub(super) fn time_stamp_counter() {
    // SAFETY: every x86-64 has the instruction; that it faults is what is to be seen.
    let _ = std::hint::black_box(unsafe { core::arch::x86_64::_rdtsc() });
}

pub(super) fn random_bytes() {
    let mut bytes = [0u8; 8];
    // SAFETY: writes to an array of ours.
    unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), bytes.len(), 0) };
}

pub(super) fn map_file(file: &fs::File) {
    // SAFETY: a fresh private mapping at an address of the kernel's choice touches no existing memory.
    unsafe { libc::mmap(std::ptr::null_mut(), 4096, libc::PROT_READ, libc::MAP_PRIVATE, file.as_raw_fd(), 0) };
}
