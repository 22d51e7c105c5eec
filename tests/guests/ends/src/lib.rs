//! A fuzz target that ends as its first byte says: in std, too deep, or without memory.
#![cfg(target_arch = "wasm32")]

use fozzy_sdk::prelude::*;
use std::hint::black_box;

#[inline(never)]
fn names(count: usize) -> Vec<u64> {
    Vec::with_capacity(black_box(count))
}

#[inline(never)]
fn values(count: usize) -> Vec<u64> {
    // Other code than that of `names`, so that no linker makes one function of both.
    Vec::with_capacity(black_box(black_box(count) | 1))
}

#[inline(never)]
fn value(depth: usize) -> usize {
    peek(depth) + black_box(list(depth + 1)) + 1
}

#[inline(never)]
fn list(depth: usize) -> usize {
    peek(depth) + black_box(value(depth + 1)) + 1
}

#[inline(never)]
fn peek(depth: usize) -> usize {
    black_box(depth) & 1
}

/// The same recursion with frames in memory, which are used up first.
#[inline(never)]
fn wide_value(depth: usize) -> usize {
    let frame = black_box([depth as u8; 5000]);
    black_box(wide_list(depth + 1)) + usize::from(frame[depth % 5000])
}

#[inline(never)]
fn wide_list(depth: usize) -> usize {
    let frame = black_box([depth as u8; 3000]);
    black_box(wide_value(depth + 1)) + usize::from(frame[depth % 3000])
}

#[inline(never)]
fn hoard(step: usize) {
    let mut all: Vec<Vec<u8>> = Vec::new();
    loop {
        all.push(black_box(Vec::with_capacity(step)));
    }
}

#[fuzz]
fn ends(data: &[u8]) {
    let Some(how) = data.first() else { return };
    let count = usize::MAX / 2 + data.len();
    match how {
        b'n' => drop(black_box(names(count))),
        b'v' => drop(black_box(values(count))),
        // Enters the same cycle in two places.
        b'r' => drop(black_box(value(data.len()))),
        b'l' => drop(black_box(list(data.len()))),
        b'w' => drop(black_box(wide_value(data.len()))),
        b'm' => hoard(data.len() << 20),
        _ => {}
    }
}
