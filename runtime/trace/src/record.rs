//! What can stand in the history: folded always, rendered for people only when kept.
//!
//! ```text
//! fold   (7, b"hi")  ─▶ words into the running digest         a few nanoseconds
//! show   (7, b"hi")  ─▶ `7, "hi" (2 bytes)`                   only inside the window
//! ```
//!
//! Invariant: what differs folds differently, lengths and cases included; what is shown is cut, what is
//! folded never.

use crate::RunningDigest;
use std::fmt::Write;

/// Longest rendering of one argument or answer, in bytes; longer data is cut and its length said.
pub const SHOWN_BYTES_MAX: usize = 48;

/// Something that can stand in the history: folded always, rendered when kept.
pub trait Record {
    /// Folds the value into the running digest.
    fn fold(&self, fold: &mut RunningDigest);
    /// Renders it for people, in at most about [`SHOWN_BYTES_MAX`] bytes.
    fn show(&self, out: &mut String);
    /// Bytes of data that it carries, which moving it costs time for; zero for what is small anyway.
    #[inline]
    fn payload_bytes(&self) -> u64 {
        0
    }
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Record for $number {
            #[inline]
            fn fold(&self, fold: &mut RunningDigest) {
                fold.word(*self as u64);
            }
            fn show(&self, out: &mut String) {
                let _ = write!(out, "{self}");
            }
        }
    )*};
}
numbers!(u8, u16, u32, u64, i64, bool);

impl Record for () {
    #[inline]
    fn fold(&self, _: &mut RunningDigest) {}
    fn show(&self, _: &mut String) {}
}

impl Record for [u8] {
    #[inline]
    fn fold(&self, fold: &mut RunningDigest) {
        fold.bytes(self);
    }

    /// Text where it is text, hexadecimal digits where it is not.
    fn show(&self, out: &mut String) {
        let printable = |b: &u8| matches!(b, b' '..=b'~' | b'\n' | b'\t' | b'\r');
        let is_text = !self.is_empty() && self[..self.len().min(SHOWN_BYTES_MAX)].iter().all(printable);
        let shown = if is_text { SHOWN_BYTES_MAX } else { SHOWN_BYTES_MAX / 2 }.min(self.len());
        if is_text {
            let _ = write!(out, "{:?}", String::from_utf8_lossy(&self[..shown]));
        } else {
            out.push_str(&crate::digest::hex(&self[..shown]));
        }
        if shown < self.len() {
            show_cut(self, out);
        } else {
            let _ = write!(out, " ({} bytes)", self.len());
        }
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.len() as u64
    }
}

/// Stands for what was cut: its whole length and a digest, so that what differs looks different too.
fn show_cut(bytes: &[u8], out: &mut String) {
    let _ = write!(out, "… ({} bytes #{:08x})", bytes.len(), xxhash_rust::xxh3::xxh3_64(bytes) as u32);
}

impl Record for Vec<u8> {
    #[inline]
    fn fold(&self, fold: &mut RunningDigest) {
        self.as_slice().fold(fold);
    }
    fn show(&self, out: &mut String) {
        self.as_slice().show(out);
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.len() as u64
    }
}

impl Record for str {
    #[inline]
    fn fold(&self, fold: &mut RunningDigest) {
        fold.bytes(self.as_bytes());
    }
    fn show(&self, out: &mut String) {
        let cut = self.char_indices().map(|(at, _)| at).find(|at| *at >= SHOWN_BYTES_MAX);
        let _ = write!(out, "{:?}", &self[..cut.unwrap_or(self.len())]);
        if cut.is_some() {
            show_cut(self.as_bytes(), out);
        }
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.len() as u64
    }
}

impl Record for String {
    #[inline]
    fn fold(&self, fold: &mut RunningDigest) {
        self.as_str().fold(fold);
    }
    fn show(&self, out: &mut String) {
        self.as_str().show(out);
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.len() as u64
    }
}

impl<T: Record + ?Sized> Record for &T {
    #[inline]
    fn fold(&self, fold: &mut RunningDigest) {
        (**self).fold(fold);
    }
    fn show(&self, out: &mut String) {
        (**self).show(out);
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        (**self).payload_bytes()
    }
}

impl<T: Record> Record for Option<T> {
    fn fold(&self, fold: &mut RunningDigest) {
        fold.word(u64::from(self.is_some()));
        if let Some(value) = self {
            value.fold(fold);
        }
    }
    fn show(&self, out: &mut String) {
        match self {
            Some(value) => value.show(out),
            None => out.push_str("none"),
        }
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.as_ref().map_or(0, Record::payload_bytes)
    }
}

impl<T: Record, E: Record> Record for Result<T, E> {
    #[inline]
    fn fold(&self, fold: &mut RunningDigest) {
        fold.word(u64::from(self.is_ok()));
        match self {
            Ok(value) => value.fold(fold),
            Err(error) => error.fold(fold),
        }
    }
    fn show(&self, out: &mut String) {
        match self {
            Ok(value) => {
                let before = out.len();
                value.show(out);
                if out.len() == before {
                    out.push_str("ok");
                }
            }
            Err(error) => {
                out.push_str("err(");
                error.show(out);
                out.push(')');
            }
        }
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.as_ref().map_or(0, Record::payload_bytes)
    }
}

impl<A: Record, B: Record> Record for (A, B) {
    #[inline]
    fn fold(&self, fold: &mut RunningDigest) {
        self.0.fold(fold);
        self.1.fold(fold);
    }
    fn show(&self, out: &mut String) {
        self.0.show(out);
        out.push_str(", ");
        self.1.show(out);
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.0.payload_bytes() + self.1.payload_bytes()
    }
}

impl<A: Record, B: Record, C: Record> Record for (A, B, C) {
    #[inline]
    fn fold(&self, fold: &mut RunningDigest) {
        self.0.fold(fold);
        self.1.fold(fold);
        self.2.fold(fold);
    }
    fn show(&self, out: &mut String) {
        self.0.show(out);
        out.push_str(", ");
        self.1.show(out);
        out.push_str(", ");
        self.2.show(out);
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.0.payload_bytes() + self.1.payload_bytes() + self.2.payload_bytes()
    }
}

/// A list of strings or pairs: how many, and the first few.
impl<T: Record> Record for [T]
where
    T: ListItem,
{
    fn fold(&self, fold: &mut RunningDigest) {
        fold.word(self.len() as u64);
        self.iter().for_each(|item| item.fold(fold));
    }
    fn show(&self, out: &mut String) {
        out.push('[');
        for (i, item) in self.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            if i == 8 {
                let mut rest = RunningDigest::default();
                self.fold(&mut rest);
                let _ = write!(out, "… {} in all #{:08x}", self.len(), rest.value() as u32);
                break;
            }
            item.show(out);
        }
        out.push(']');
    }
    fn payload_bytes(&self) -> u64 {
        self.iter().map(Record::payload_bytes).sum()
    }
}

impl<T: Record + ListItem> Record for Vec<T> {
    fn fold(&self, fold: &mut RunningDigest) {
        self.as_slice().fold(fold);
    }
    fn show(&self, out: &mut String) {
        self.as_slice().show(out);
    }
    #[inline]
    fn payload_bytes(&self) -> u64 {
        self.as_slice().payload_bytes()
    }
}

/// Marks what may stand in a recorded list; bytes are not among it, as they are shown as one value.
pub trait ListItem {}
impl ListItem for String {}
impl ListItem for u32 {}
impl ListItem for u64 {}
impl<A, B> ListItem for (A, B) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_for_people() {
        let show = |value: &dyn Record| {
            let mut out = String::new();
            value.show(&mut out);
            out
        };
        assert_eq!(show(&b"hi\n".to_vec()), r#""hi\n" (3 bytes)"#);
        assert_eq!(show(&vec![0u8, 255]), "00ff (2 bytes)");
        assert_eq!(show(&(1u32, "x", None::<u64>)), r#"1, "x", none"#);
        assert_eq!(show(&Ok::<(), u8>(())), "ok");
        assert_eq!(show(&Err::<(), u8>(3)), "err(3)");
        // What is cut looks different when it is different.
        let mut long = vec![b'a'; 1000];
        assert!(show(&long).contains("… (1000 bytes #"));
        let before = show(&long);
        long[999] = b'b';
        assert_ne!(show(&long), before);
        let list = |last: u32| show(&(0..20).chain([last]).collect::<Vec<u32>>());
        assert_ne!(list(1), list(2));
        assert_eq!(show(&vec!["a".to_owned()]), r#"["a"]"#);
    }
}
