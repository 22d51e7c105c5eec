//! Four errors of memory in `unsafe` code, one a run: the first argument names it. With `mended` as the second, the same without the
//! error.

use std::alloc::{Layout, alloc, dealloc};

/// What is written to through a pointer whose block is gone.
#[inline(never)]
fn use_after_free(mended: bool) {
    let mut values = vec![1_u32, 2, 3];
    let first = values.as_mut_ptr();
    let kept = mended.then_some(values);
    // SAFETY: there is none unless it is mended: that is the error.
    unsafe { first.write_volatile(7) };
    drop(kept);
}

/// A length beyond what was allocated.
#[inline(never)]
fn set_len(mended: bool) {
    let mut values: Vec<u64> = Vec::with_capacity(4);
    values.extend([1, 2, 3]);
    let length = if mended { 3 } else { std::hint::black_box(6) };
    // SAFETY: there is none unless it is mended: that is the error.
    unsafe { values.set_len(length) };
    let sum = values.iter().fold(0_u64, |sum, value| sum.wrapping_add(*value));
    println!("{}", std::hint::black_box(sum) > 0);
}

/// A block that is freed with the alignment and size of another one.
#[inline(never)]
fn layout(mended: bool) {
    let own = Layout::new::<[u8; 10]>();
    let other = if mended { own } else { Layout::new::<[u32; 3]>() };
    // SAFETY: there is none unless it is mended: that is the error.
    unsafe { dealloc(std::hint::black_box(alloc(own)), other) };
}

/// What is taken twice.
#[inline(never)]
fn double_free(mended: bool) {
    let value = Box::into_raw(Box::new([1_u8; 24]));
    // SAFETY: there is none unless it is mended: that is the error.
    unsafe {
        drop(Box::from_raw(std::hint::black_box(value)));
        if !mended {
            drop(Box::from_raw(std::hint::black_box(value)));
        }
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let what = arguments.next().unwrap_or_default();
    let mended = arguments.next().as_deref() == Some("mended");
    match what.as_str() {
        "use-after-free" => use_after_free(mended),
        "set-len" => set_len(mended),
        "layout" => layout(mended),
        "double-free" => double_free(mended),
        other => panic!("no case `{other}`"),
    }
}
