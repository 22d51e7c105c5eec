//! Names of files that are matched with a pattern by backtracking: each `-` in a name is a place to go back to.

use fozzy_sdk::prelude::*;

/// Bytes of a name that are looked at.
const NAME_BYTES_MAX: usize = 100;

/// Whether a name fits a pattern in which `*` stands for anything.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skipped| fits(rest, &name[skipped..])),
        Some((first, rest)) => name.first() == Some(first) && fits(rest, &name[1..]),
    }
}

#[fuzz]
fn name_of_a_log(data: &[u8]) {
    sometimes!(fits(b"*-*-*-*.log", &data[..data.len().min(NAME_BYTES_MAX)]), "it is the name of a log");
}
