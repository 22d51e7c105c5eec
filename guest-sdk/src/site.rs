//! Sites by position: the place in the source where a draw is written, as `src/lib.rs:31`.
//!
//! Invariant: each place is spelled once for the life of the program, so that a draw costs no allocation.

use alloc::collections::BTreeMap;
use core::cell::RefCell;
use core::panic::Location;

/// Longest file name that is kept, from its end: a site has at most 255 bytes.
const FILE_BYTES_MAX: usize = 200;

crate::__local! {
    static SITES: RefCell<BTreeMap<(usize, u32, u32), &'static str>> = const { RefCell::new(BTreeMap::new()) };
}

/// The site of a caller. What it keeps is bounded by the places in the program.
pub(crate) fn of(caller: &'static Location<'static>) -> &'static str {
    let key = (caller.file().as_ptr() as usize, caller.line(), caller.column());
    let known = SITES.with_borrow(|sites| sites.get(&key).copied());
    known.unwrap_or_else(|| {
        let file = caller.file();
        let from = (0..file.len()).find(|from| file.len() - from <= FILE_BYTES_MAX && file.is_char_boundary(*from));
        let site: &'static str = format!("{}:{}", &file[from.unwrap_or(0)..], caller.line()).leak();
        SITES.with_borrow_mut(|sites| sites.insert(key, site));
        site
    })
}
