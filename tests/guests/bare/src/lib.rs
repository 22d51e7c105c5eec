//! A scenario without std: what the SDK needs of a program is an allocator and an answer to a panic.
#![cfg(target_arch = "wasm32")]
#![no_std]

extern crate alloc;

use alloc::vec::Vec;
use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicUsize, Ordering};
use fozzy_sdk::prelude::*;

/// Gives memory and takes none back, as firmware may do.
struct Bump;

/// Where what is free begins; 0 before the first time.
static FREE: AtomicUsize = AtomicUsize::new(0);

const PAGE: usize = 65_536;

// SAFETY: each stretch is given once, lies in memory that was grown for it, and is aligned as it is asked for.
unsafe impl GlobalAlloc for Bump {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let first = FREE.load(Ordering::Relaxed);
        let first = if first == 0 { core::arch::wasm32::memory_size(0) * PAGE } else { first };
        let at = first.next_multiple_of(layout.align());
        let end = at + layout.size();
        let missing = end.saturating_sub(core::arch::wasm32::memory_size(0) * PAGE).div_ceil(PAGE);
        if core::arch::wasm32::memory_grow(0, missing) == usize::MAX {
            return core::ptr::null_mut();
        }
        FREE.store(end, Ordering::Relaxed);
        at as *mut u8
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: Bump = Bump;

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}

/// What firmware would have: a ring of readings.
#[derive(Default)]
struct Readings {
    kept: Vec<i16>,
    model: u32,
}

#[derive(Draw)]
enum Reading {
    Plain(i8),
    Broken,
}

#[scenario]
impl Readings {
    #[flow(weight = 10, max_times = 30)]
    fn keep(&mut self, reading: Reading) -> Result<(), Skip> {
        match reading {
            Reading::Plain(value) => self.kept.push(value.into()),
            Reading::Broken => skip!("broken"),
        }
        self.model += 1;
        Ok(())
    }

    #[flow(weight = 1, precondition = |r| r.model > 0)]
    fn forget(&mut self) {
        self.kept.remove(random_int(0, self.kept.len() - 1).edge_values_prob(0.25).draw());
        self.model -= 1;
    }

    #[invariant]
    fn agree(&self) {
        always!(self.kept.len() as u32 == self.model, "as many as the model has", "{} are kept", self.kept.len());
        sometimes!(self.kept.len() > 3, "several are kept");
    }
}
