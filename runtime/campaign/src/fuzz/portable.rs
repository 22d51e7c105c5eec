//! A corpus as one zip, and back: only what is plain on every machine.
//!
//! ```text
//! folder ─▶ names that any machine can have ─▶ zip (byte for byte the same for equal inputs)
//! zip    ─▶ every name, mode and length looked at ─▶ inputs; nothing is written before all of it was read
//! ```
//!
//! Invariants: a name is one file's in the folder itself: no path, no device, no other file's in another case; what a zip
//! unpacks to is bounded, whatever it claims.
//! Not here: who writes the files (`command/corpus.rs`).

use crate::artifacts::pack::Content;
use crate::inputs::INPUT_BYTES_MAX;
use std::collections::BTreeMap;
use std::io::{Cursor, Read};

/// Bytes of a zip that is read, and of all that it unpacks to.
pub const ZIP_BYTES_MAX: u64 = 1 << 30;
/// Inputs in a zip.
const INPUTS_MAX: usize = 1 << 20;
/// Bytes of a name: no file system in use has more.
const NAME_BYTES_MAX: usize = 255;
/// Characters that some system gives a meaning to.
const MARKS: [char; 9] = ['/', '\\', ':', '*', '?', '"', '<', '>', '|'];
/// Names that are devices on Windows, with any ending.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];
/// The same, with a digit from 1 to 9 after them.
const NUMBERED_DEVICES: [&str; 2] = ["com", "lpt"];
/// What of a Unix mode is the kind of a file; and a symbolic link.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

/// Why a file of that name cannot be had everywhere; `None` when it can.
pub fn fault_of(name: &str) -> Option<&'static str> {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
    let numbered =
        |device: &&str| stem.strip_prefix(*device).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']));
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        Some("is empty or longer than a file's name can be")
    } else if name == ".." || name.split(['/', '\\']).any(|part| part == "..") || name.starts_with(['/', '\\']) {
        Some("leads out of the corpus")
    } else if name.as_bytes().get(1) == Some(&b':') {
        Some("names a drive")
    } else if name.chars().any(char::is_control) {
        Some("has a control character")
    } else if name.contains(['/', '\\']) {
        Some("is in a folder, and a corpus has none: zip the files alone, as `zip -j`")
    } else if name.contains(MARKS) {
        Some("has a character that is no part of a name on some systems")
    } else if name.starts_with('.') {
        Some("begins with a dot, as no input does")
    } else if name.ends_with(['.', ' ']) {
        Some("ends with a dot or a space, which is lost on Windows")
    } else if DEVICES.contains(&stem.as_str()) || NUMBERED_DEVICES.iter().any(numbered) {
        Some("is a device on Windows")
    } else {
        None
    }
}

/// Refuses names that are not plain, or that differ only in case.
pub fn check<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), String> {
    let mut taken: BTreeMap<String, &str> = BTreeMap::new();
    for name in names {
        if let Some(fault) = fault_of(name) {
            return Err(format!("the name `{}` {fault}", name.escape_debug()));
        }
        match taken.insert(name.to_lowercase(), name) {
            Some(other) if other == name => return Err(format!("the name `{name}` is there twice")),
            Some(other) => return Err(format!("the names `{other}` and `{name}` are one file on some systems")),
            None => {}
        }
    }
    Ok(())
}

/// The inputs in a zip.
pub fn unzip(bytes: &[u8]) -> Result<Vec<Content>, String> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| format!("it is no zip: {error}"))?;
    if zip.is_empty() {
        return Err("it holds no input".to_owned());
    }
    if zip.len() > INPUTS_MAX {
        return Err(format!("it holds more than {INPUTS_MAX} inputs"));
    }
    if zip.has_duplicate_names() {
        return Err("a name is there twice".to_owned());
    }
    if zip.has_overlapping_entries().map_err(|error| error.to_string())? {
        return Err(
            "two of its entries are the same bytes of the zip, as in one that is made to fill a disk".to_owned()
        );
    }
    let (mut inputs, mut all) = (Vec::new(), 0);
    for place in 0..zip.len() {
        let entry = zip.by_index(place).map_err(|error| format!("entry {place} cannot be read: {error}"))?;
        let name = entry.name().map_err(|error| format!("entry {place}: {error}"))?.into_owned();
        let shown = name.escape_debug().to_string();
        if entry.unix_mode().is_some_and(|mode| mode & KIND == LINK) {
            return Err(format!("`{shown}` is a symbolic link"));
        }
        check(std::iter::once(name.as_str()))?;
        if entry.compression() != zip::CompressionMethod::Stored {
            return Err(format!("`{shown}` is packed; inputs are stored as they are: `zip -0`"));
        }
        let mut input = Vec::new();
        let read = entry.take(INPUT_BYTES_MAX + 1).read_to_end(&mut input);
        read.map_err(|error| format!("`{shown}` is damaged: {error}"))?;
        all += input.len() as u64;
        if input.len() as u64 > INPUT_BYTES_MAX || all > ZIP_BYTES_MAX {
            return Err(format!(
                "`{shown}`: an input has {INPUT_BYTES_MAX} bytes at most, and a corpus {ZIP_BYTES_MAX}"
            ));
        }
        inputs.push((name, input));
    }
    check(inputs.iter().map(|(name, _)| name.as_str()))?;
    Ok(inputs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifacts::pack::zipped;

    #[test]
    fn only_plain_names_are_taken() {
        for name in ["seed.txt", "0a1b", "with space.bin", "ünïcode", "console", "com", "com10", "nullable.txt"] {
            assert_eq!(fault_of(name), None, "{name}");
        }
        let hostile = [
            "",
            "..",
            "../a",
            "a/../b",
            "/etc/passwd",
            "\\\\server\\share",
            "C:\\a",
            "c:a",
            "a\0b",
            "a\nb",
            "a/b",
            "a\\b",
            "a:b",
            "a*",
            ".hidden",
            "a.",
            "a ",
            "CON",
            "nul.txt",
            "Lpt1.bin",
            "com9",
        ];
        for name in hostile {
            assert!(fault_of(name).is_some(), "{name:?}");
            assert!(unzip(&zipped(&[(name.to_owned(), vec![1])]).expect("it is made")).is_err(), "{name:?}");
        }
        assert!(fault_of(&"a".repeat(256)).is_some());
    }

    #[test]
    fn what_is_put_in_comes_out_and_names_that_collide_do_not() {
        let inputs = vec![("a".to_owned(), b"1".to_vec()), ("b".to_owned(), vec![])];
        assert_eq!(unzip(&zipped(&inputs).expect("it is made")), Ok(inputs));
        let collide = zipped(&[("a".to_owned(), vec![1]), ("A".to_owned(), vec![2])]).expect("it is made");
        assert!(unzip(&collide).expect_err("one file").contains("one file on some systems"));
        assert!(unzip(&zipped(&[]).expect("it is made")).expect_err("empty").contains("holds no input"));
        assert!(unzip(b"PK").expect_err("no zip").contains("no zip"));
        let mut damaged = zipped(&[("a".to_owned(), b"some bytes".to_vec())]).expect("it is made");
        let at = damaged.windows(4).position(|window| window == b"some").expect("it is stored");
        damaged[at] = b'S';
        assert!(unzip(&damaged).expect_err("damaged").contains("`a` is damaged"));
    }
}
