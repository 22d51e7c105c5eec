//! Strings that match a regular expression.
//!
//! ```text
//! [a-f]{2}(-|_)\d+   ─▶  "ce_40"
//! ```
//!
//! A repetition without an upper end adds up to eight. What looks around (`^ $ \b`) matches the empty string here, so a
//! pattern that needs it is not always matched.
//!
//! Classes (`.`, `\w`, `[^a]`) are of ASCII, and what is drawn for them too.
//!
//! Invariant: what is drawn for a part is a string of that part.

use crate::{host, site};
use alloc::string::String;
use alloc::vec::Vec;
use core::panic::Location;
use regex_syntax::hir::{Class, Hir, HirKind};

/// What a repetition without an upper end may add.
const MORE_MAX: u32 = 8;
/// Bytes that a drawn string can have; a pattern that wants more ends the scenario.
const BYTES_MAX: usize = 1 << 16;

/// A string that matches `pattern`.
///
/// ```
/// let plate = fozzy_sdk::draw::matching("[A-Z]{2}-[0-9]{3}");
/// assert_eq!(plate.len(), 6);
/// ```
#[must_use]
#[track_caller]
pub fn matching(pattern: &str) -> String {
    matching_at(site::of(Location::caller()), pattern)
}

/// The same, with a site.
///
/// ```
/// assert_eq!(fozzy_sdk::draw::matching_at("code", "[0-9]{4}").len(), 4);
/// ```
#[must_use]
pub fn matching_at(site: &str, pattern: &str) -> String {
    let hir = regex_syntax::ParserBuilder::new().unicode(false).utf8(false).build().parse(pattern);
    let hir =
        hir.unwrap_or_else(|error| host::invalid(site, &format!("at `{site}`: not a regular expression: {error}")));
    let mut out = Vec::new();
    write(site, &hir, &mut out);
    String::from_utf8(out).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn write(site: &str, hir: &Hir, out: &mut Vec<u8>) {
    if out.len() > BYTES_MAX {
        host::invalid(site, &format!("at `{site}`: the pattern wants strings of more than {BYTES_MAX} bytes"));
    }
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => out.extend_from_slice(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            let ranges = class.iter().map(|range| (u32::from(range.start()), u32::from(range.end())));
            let number = of_ranges(site, ranges.collect());
            let character = char::from_u32(number).unwrap_or(' ');
            out.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        HirKind::Class(Class::Bytes(class)) => {
            // Of a class of bytes, those that are characters by themselves.
            let ascii = class.iter().filter(|range| range.start() < 0x80);
            let ranges = ascii.map(|range| (u32::from(range.start()), u32::from(range.end().min(0x7F))));
            out.push(of_ranges(site, ranges.collect()) as u8);
        }
        HirKind::Repetition(repetition) => {
            let most = repetition.max.unwrap_or(repetition.min.saturating_add(MORE_MAX));
            let times = host::choose(site, u64::from(most - repetition.min) + 1) as u32 + repetition.min;
            (0..times).for_each(|_| write(site, &repetition.sub, out));
        }
        HirKind::Capture(capture) => write(site, &capture.sub, out),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(site, part, out)),
        HirKind::Alternation(parts) => write(site, &parts[host::choose(site, parts.len() as u64) as usize], out),
    }
}

fn of_ranges(site: &str, ranges: Vec<(u32, u32)>) -> u32 {
    let count: u64 = ranges.iter().map(|(first, last)| u64::from(last - first) + 1).sum();
    let mut left = host::choose(site, count);
    for (first, last) in ranges {
        let here = u64::from(last - first) + 1;
        if left < here {
            return first + left as u32;
        }
        left -= here;
    }
    u32::from(b' ')
}
