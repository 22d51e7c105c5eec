//! A kernel that offers nothing to find written pages by: a filter answers for it, to one thread.
//!
//! ```text
//! userfaultfd            ENOSYS, as before Linux 4.3, or EPERM, as where unprivileged users may not
//! ioctl PAGEMAP_SCAN     ENOTTY, as before Linux 6.7
//! ```
//!
//! Invariant: whatever is missing, walks come out as straight execution; what was asked for by name is refused by name.

use super::guests::{LEDGER, WALKER};
use super::walk::{AFTER_TRAPS, CHOSEN, program, start, walk, walks};
use fozzy_engine::{Build, RestoreMethod, TrackerKind};
use std::io;

/// `PAGEMAP_SCAN` of `linux/fs.h`.
const PAGEMAP_SCAN: u32 = 0xC060_6610;

/// From here on the kernel answers this thread `userfaultfd` with that error, and knows no PAGEMAP_SCAN.
fn forget_trackers(userfaultfd: i32) {
    // Offsets in `struct seccomp_data`: the number, and the lower half of the second argument.
    const NUMBER: u32 = 0;
    const REQUEST: u32 = 24;
    let step = |code: u32, jt: u8, jf: u8, k: u32| libc::sock_filter { code: code as u16, jt, jf, k };
    let load = |offset| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset);
    let unless = |k: u32, otherwise: u8| step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, otherwise, k);
    let answer = |k: u32| step(libc::BPF_RET | libc::BPF_K, 0, 0, k);
    let error = |errno: i32| answer(libc::SECCOMP_RET_ERRNO | errno as u32);
    let mut program = [
        load(NUMBER),
        unless(libc::SYS_userfaultfd as u32, 1),
        error(userfaultfd),
        unless(libc::SYS_ioctl as u32, 3),
        load(REQUEST),
        unless(PAGEMAP_SCAN, 1),
        error(libc::ENOTTY),
        answer(libc::SECCOMP_RET_ALLOW),
    ];
    let description = libc::sock_fprog { len: program.len() as u16, filter: program.as_mut_ptr() };
    // SAFETY: the filter is copied by the kernel during the call; it binds this thread, and threads that it starts.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0, "{}", io::Error::last_os_error());
        let mode = libc::SECCOMP_MODE_FILTER;
        let filtered = libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const description);
        assert_eq!(filtered, 0, "{}", io::Error::last_os_error());
    }
}

fn walks_without(userfaultfd: i32) {
    // What is built is built by other processes, which keep their kernel.
    let (marked, unmarked) = (program(&WALKER, &Build::fast()), program(&LEDGER, &(CHOSEN.build)()));
    let thread = std::thread::spawn(move || {
        forget_trackers(userfaultfd);
        let mut reactor = start(marked, 1);
        assert_eq!(reactor.tracker(), Some(TrackerKind::Marks));
        for (kind, name) in [(TrackerKind::Protected, "userfaultfd"), (TrackerKind::Scanned, "PAGEMAP_SCAN")] {
            let why = reactor.track(kind).expect_err("this kernel has nothing of that kind");
            assert!(why.contains(name), "{why}");
            assert_eq!(reactor.tracker(), Some(TrackerKind::Marks), "it goes on as before");
        }
        let reactor = start(unmarked, 1);
        assert_eq!(reactor.tracker(), Some(TrackerKind::Compared), "what works everywhere");
        let restored = walk(&LEDGER, &CHOSEN, walks(20));
        assert!(restored.contains(&RestoreMethod::Fresh) && restored.contains(&RestoreMethod::InPlace), "{restored:?}");
        walk(&WALKER, &AFTER_TRAPS, walks(10));
    });
    thread.join().expect("the walks come out as straight execution");
}

#[test]
fn walks_come_out_on_a_kernel_without_trackers() {
    walks_without(libc::ENOSYS);
}

#[test]
fn walks_come_out_where_trackers_are_forbidden() {
    walks_without(libc::EPERM);
}
