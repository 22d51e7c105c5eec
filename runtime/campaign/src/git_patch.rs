//! A new file as a patch that git applies.
//!
//! ```text
//! diff --git a/regressions/3f2a.fozzy b/regressions/3f2a.fozzy
//! new file mode 100644
//! index 000…0..<blob id>
//! GIT binary patch
//! literal 1234
//! zcmV…          a sign for the length (A-Z: 1 to 26, a-z: 27 to 52), and 52 bytes of zlib as 65 digits
//! ```
//!
//! Binary patches are described in git's `diffcore` and read by its `apply.c`: digits of base 85 with git's alphabet, most significant first,
//! four bytes each.
//! Invariant: `git apply` makes the file with exactly these bytes.

use sha1::{Digest, Sha1};
use std::fmt::Write;

/// Digits of base 85, as git has them.
const DIGITS: &[u8; 85] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~";
/// Bytes of one line.
const LINE_BYTES: usize = 52;
/// How hard zlib tries.
const LEVEL: u8 = 6;

/// A patch that adds a file with a plain path: letters, digits, `.`, `-`, `_` and `/`.
#[must_use]
pub fn added_file(path: &str, bytes: &[u8]) -> String {
    let none = "0".repeat(40);
    let mut patch = format!("diff --git a/{path} b/{path}\nnew file mode 100644\nindex {none}..{}\n", blob_id(bytes));
    let _ = write!(patch, "GIT binary patch\nliteral {}\n", bytes.len());
    write_lines(&mut patch, bytes);
    patch.push_str("\nliteral 0\n");
    write_lines(&mut patch, &[]);
    patch.push('\n');
    patch
}

/// What git calls these bytes.
fn blob_id(bytes: &[u8]) -> String {
    let mut hash = Sha1::new();
    hash.update(format!("blob {}\0", bytes.len()));
    hash.update(bytes);
    hash.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn write_lines(patch: &mut String, bytes: &[u8]) {
    for line in miniz_oxide::deflate::compress_to_vec_zlib(bytes, LEVEL).chunks(LINE_BYTES) {
        let count = u8::try_from(line.len()).unwrap_or(u8::MAX);
        patch.push(char::from(if count <= 26 { b'A' + count - 1 } else { b'a' + count - 27 }));
        for word in line.chunks(4) {
            let mut four = [0; 4];
            four[..word.len()].copy_from_slice(word);
            let mut number = u32::from_be_bytes(four);
            let mut digits = [0; 5];
            for digit in digits.iter_mut().rev() {
                *digit = DIGITS[(number % 85) as usize];
                number /= 85;
            }
            patch.extend(digits.map(char::from));
        }
        patch.push('\n');
    }
}
