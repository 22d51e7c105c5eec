//! A program with functions that are inlined, and with one that is called, for steps.

#![no_std]
use core::hint::black_box;

#[inline(always)]
fn square(n: u32) -> u32 {
    let twice = black_box(n) * n;
    black_box(twice)
}

#[inline(always)]
fn both(n: u32) -> u32 {
    let one = square(n);
    one + square(n + 1)
}

#[inline(never)]
fn total(most: u32) -> u32 {
    let mut sum = 0;
    for n in 0..most {
        sum += both(n);
        sum += fixed(n);
    }
    black_box(sum)
}

#[inline(never)]
fn fixed(n: u32) -> u32 {
    let one = black_box(n);
    one + 1
}

#[unsafe(no_mangle)]
pub extern "C" fn _start() {
    let first = total(3);
    let second = fixed(first);
    black_box(plain(plain(second)));
}

#[inline(never)]
fn plain(n: u32) -> u32 {
    black_box(n) * 2
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    core::arch::wasm32::unreachable()
}
