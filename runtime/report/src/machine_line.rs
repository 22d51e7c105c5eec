//! What another machine writes, line by line after its name, so that lines of several machines do not mix.
//!
//! ```text
//! "rea" "dy\nlisten" "ing\n"    ▶    db | ready
//!                                    db | listening
//! ```
//!
//! Invariant: what is held of a line is bounded; a longer one is shown in pieces, each after the name.

/// Bytes of a line that are held until it ends. A machine that writes for ever without a line end must not fill the memory.
const LINE_BYTES_MAX: usize = 64 << 10;

/// What a machine has written of a line; it is shown when the line ends, or the run.
#[derive(Debug)]
pub struct MachineLine {
    name: String,
    held: Vec<u8>,
    show: fn(&[u8]),
}

impl MachineLine {
    /// A machine of this name, whose lines are shown by `show`.
    #[must_use]
    pub fn new(name: &str, show: fn(&[u8])) -> MachineLine {
        MachineLine { name: name.to_owned(), held: Vec::new(), show }
    }

    /// It has written this.
    pub fn write(&mut self, bytes: &[u8]) {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let mut part = part;
            while self.held.len() + part.len() > LINE_BYTES_MAX {
                let (piece, rest) = part.split_at(LINE_BYTES_MAX - self.held.len());
                self.held.extend_from_slice(piece);
                self.held.push(b'\n');
                self.flush();
                part = rest;
            }
            self.held.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.flush();
            }
        }
    }

    fn flush(&mut self) {
        (self.show)(&[self.name.as_bytes(), b" | ", &self.held].concat());
        self.held.clear();
    }
}

impl Drop for MachineLine {
    fn drop(&mut self) {
        if !self.held.is_empty() {
            self.write(b"\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    thread_local! {
        static SHOWN: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
    }

    #[test]
    fn lines_are_whole_and_one_without_an_end_is_held_within_a_bound() {
        let show = |line: &[u8]| SHOWN.with_borrow_mut(|shown| shown.push(line.to_vec()));
        let taken = || SHOWN.take();
        let mut line = MachineLine::new("db", show);
        ["rea", "dy\nlisten", "ing\n", "more"].iter().for_each(|part| line.write(part.as_bytes()));
        assert_eq!(taken(), [b"db | ready\n".to_vec(), b"db | listening\n".to_vec()]);
        for _ in 0..40 {
            line.write(&[b'x'; 10_000]);
            assert!(line.held.capacity() <= 2 * LINE_BYTES_MAX, "{}", line.held.capacity());
        }
        drop(line);
        let shown = taken();
        assert!(shown.iter().all(|line| line.starts_with(b"db | ") && line.ends_with(b"\n")));
        let bytes: usize = shown.iter().map(|line| line.len() - b"db | \n".len()).sum();
        assert_eq!((bytes, shown.len()), (400_004, 400_004_usize.div_ceil(LINE_BYTES_MAX)));
    }
}
