//! Loses 4 blocks, unless its first argument is `mended`; ends as its second argument says.
//!
//! ```text
//! cycle       two counts that keep each other: 1 block of 116 bytes
//! forgotten   3 blocks of 1000 bytes
//! ```

use std::cell::RefCell;
use std::hint::black_box;
use std::rc::Rc;

struct Link {
    next: RefCell<Option<Rc<Link>>>,
    _bytes: [u8; 100],
}

#[inline(never)]
fn cycle(is_mended: bool) {
    let link = Rc::new(Link { next: RefCell::new(None), _bytes: [1; 100] });
    *link.next.borrow_mut() = Some(Rc::clone(&link));
    if is_mended {
        link.next.borrow_mut().take();
    }
    black_box(&link);
}

#[inline(never)]
fn forgotten(is_mended: bool) {
    for _ in 0..3 {
        let block = black_box(Box::new([7_u8; 1000]));
        if is_mended { drop(block) } else { std::mem::forget(block) }
    }
}

/// What is in use at the end and reachable is no leak.
static KEPT: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());

fn main() {
    let mut args = std::env::args().skip(1);
    let is_mended = args.next().as_deref() == Some("mended");
    KEPT.lock().expect("nobody else").push("x".repeat(500));
    cycle(is_mended);
    forgotten(is_mended);
    let held = black_box(vec![1_u8; 777]);
    match args.next().as_deref() {
        Some("exit") => std::process::exit(i32::from(held[0])),
        Some("panic") => panic!("as asked"),
        Some("trap") => std::process::abort(),
        _ => {}
    }
    black_box(held);
}
