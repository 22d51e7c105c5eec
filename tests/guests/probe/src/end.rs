//! Endings: every way in which a guest stops other than by returning from `main`, or does not stop.

use std::hint::black_box;
use std::num::NonZeroU32;

use crate::{Arguments, argument};

/// Panics three calls deep with the message "boom 7".
pub fn panic(_: &Arguments) {
    #[inline(never)]
    fn outer(number: u32) -> u32 {
        inner(black_box(number)) + 1
    }
    #[inline(never)]
    fn inner(number: u32) -> u32 {
        assert!(number != 7, "boom {number}");
        number
    }
    println!("survived {}", outer(7));
}

/// Ends with the exit code given.
pub fn exit(arguments: &Arguments) {
    std::process::exit(argument(arguments, 0, "an exit code"));
}

/// Aborts without a message.
pub fn abort(_: &Arguments) {
    std::process::abort();
}

/// Executes the `unreachable` instruction.
pub fn unreachable(_: &Arguments) {
    core::arch::wasm32::unreachable();
}

/// Reads eight bytes at the far end of the address space, where no memory is.
pub fn out_of_bounds(_: &Arguments) {
    let address = black_box(0xffff_ff00_usize) as *const u64;
    // SAFETY: there is none; the trap is the purpose.
    let value = unsafe { address.read_volatile() };
    println!("read {value}");
}

/// Divides by zero. A checked division would panic; one by a `NonZeroU32` is the bare instruction (in a release build, where the
/// claim that it is not zero is believed).
pub fn divide_by_zero(_: &Arguments) {
    // SAFETY: there is none; the zero is hidden from the compiler, and the trap is the purpose.
    let divisor: NonZeroU32 = unsafe { NonZeroU32::new_unchecked(black_box(0)) };
    println!("quotient {}", black_box(7_u32) / divisor);
}

/// Recurses without end. The frame lives in wasm locals alone, so it is the engine's stack that ends.
pub fn recurse(_: &Arguments) {
    // The result of the deeper call is changed by neither addition nor multiplication, or the compiler would make a loop of it.
    #[inline(never)]
    #[expect(unconditional_recursion, reason = "endless on purpose")]
    fn descend(depth: u64) -> u64 {
        descend(depth.wrapping_add(1)).rotate_left(7) ^ depth
    }
    println!("returned {}", descend(black_box(0)));
}

/// Recurses without end with frames of 16 KiB in linear memory, so that the guest's own shadow stack ends first: an out-of-bounds
/// trap, since the stack lies at the start of memory.
pub fn recurse_big(_: &Arguments) {
    #[inline(never)]
    #[expect(unconditional_recursion, reason = "endless on purpose")]
    fn descend(depth: u64) -> u64 {
        let mut frame = [depth; 2048];
        black_box(&mut frame);
        descend(depth + 1).rotate_left(7) ^ frame[7]
    }
    println!("returned {}", descend(0));
}

/// Computes without end and asks the system nothing.
pub fn endless_loop(_: &Arguments) {
    let mut state = 1_u64;
    loop {
        state = black_box(
            state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1),
        );
    }
}
