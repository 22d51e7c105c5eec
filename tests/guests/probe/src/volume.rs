//! Volume: many calls of one kind, or much memory or output, for limits and for measuring.

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use crate::{Arguments, argument, entropy, or_exit};

const MIB: usize = 1 << 20;
/// The unit in which memory grows; touching one byte of each makes it real.
const PAGE_BYTES: usize = 65_536;

/// Allocates the number of MiB given and touches every page, or says that so much is refused.
pub fn alloc(arguments: &Arguments) {
    let mib: usize = argument(arguments, 0, "a number of MiB");
    let mut memory = Vec::new();
    let bytes = mib.saturating_mul(MIB);
    if memory.try_reserve_exact(bytes).is_err() {
        println!("refused {mib} MiB");
        return;
    }
    memory.resize(bytes, 0_u8);
    for page in memory.chunks_mut(PAGE_BYTES) {
        page[0] = 1;
    }
    println!(
        "touched {mib} MiB, {} pages",
        black_box(&memory)
            .iter()
            .step_by(PAGE_BYTES)
            .filter(|byte| **byte == 1)
            .count()
    );
}

/// Reads the clock as many times as said.
pub fn calls(arguments: &Arguments) {
    let count: u64 = argument(arguments, 0, "a number of calls");
    for _ in 0..count {
        black_box(Instant::now());
    }
    println!("{count} clock reads");
}

/// Draws as many random numbers of eight bytes as said, and prints their exclusive or.
pub fn draws(arguments: &Arguments) {
    let count: u64 = argument(arguments, 0, "a number of draws");
    let mut sum = 0;
    for _ in 0..count {
        let mut bytes = [0; 8];
        entropy(&mut bytes);
        sum ^= u64::from_le_bytes(bytes);
    }
    println!("{count} draws, {sum:016x}");
}

/// Writes as many lines of 64 bytes to stdout as said. A whole line passes through the standard buffer at once, so each is one call.
pub fn writes(arguments: &Arguments) {
    let count: u64 = argument(arguments, 0, "a number of writes");
    const LINE: &[u8; 64] = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    let mut stdout = std::io::stdout().lock();
    for _ in 0..count {
        or_exit(stdout.write_all(LINE), "stdout");
    }
}

/// Writes the number of MiB given to stdout, in writes of 64 KiB.
pub fn stdout_flood(arguments: &Arguments) {
    let mib: usize = argument(arguments, 0, "a number of MiB");
    let mut block = vec![b'.'; PAGE_BYTES];
    block[PAGE_BYTES - 1] = b'\n';
    let mut stdout = std::io::stdout().lock();
    for _ in 0..mib * (MIB / PAGE_BYTES) {
        or_exit(stdout.write_all(&block), "stdout");
    }
}
