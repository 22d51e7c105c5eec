//! `fcntl` for sockets, which the C library of this toolchain lacks.
//!
//! mio makes an accepted connection non-blocking with `fcntl(fd, F_SETFL, O_NONBLOCK)`. In the wasi-libc that Rust 1.95 ships, `fcntl`
//! knows no sockets on wasm32-wasip2 and answers `EINVAL`, while `ioctl(FIONBIO)`, the call of `std`, works; wasi-libc's pull request
//! 742 adds it. Until a Rust has that, this definition takes the place of the
//! library's, since what a crate defines is linked before the C library; everything above it stays as published.

use std::ffi::c_int;
use std::mem::ManuallyDrop;
use std::net::TcpStream;
use std::os::fd::FromRawFd;

// As `fcntl.h` of wasi-libc has them.
const F_GETFL: c_int = 3;
const F_SETFL: c_int = 4;
const O_NONBLOCK: c_int = 4;

/// In C the last parameter is `...`, which WebAssembly passes as the address of the arguments.
///
/// # Safety
///
/// `fd` is an open socket, and `arguments` holds an `int` if the command has one.
#[unsafe(no_mangle)]
unsafe extern "C" fn fcntl(fd: c_int, command: c_int, arguments: *const c_int) -> c_int {
    match command {
        F_SETFL => {
            // SAFETY: the caller's; as it is not dropped, the socket stays open.
            let (socket, flags) = unsafe { (ManuallyDrop::new(TcpStream::from_raw_fd(fd)), *arguments) };
            if socket.set_nonblocking(flags & O_NONBLOCK != 0).is_ok() { 0 } else { -1 }
        }
        F_GETFL => 0,
        // Nothing here asks for more.
        _ => -1,
    }
}
