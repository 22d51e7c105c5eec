//! Lines of bounded length, from a process that may write anything.
//!
//! Invariant: memory is bounded by the length asked for, whatever is read; reading continues behind a line that is too long.

use std::io::{self, BufRead};

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// As it was written.
    Line(Vec<u8>),
    /// Longer than allowed: the beginning of it.
    Oversized(Vec<u8>),
}

/// Bytes that are kept of a line that is too long, for a message.
const OVERSIZED_KEPT_BYTES: usize = 256;

/// Reads the next line; `None` at the end. The last line may have no end: its writer was killed, or is no worker.
pub(super) fn read_frame(from: &mut impl BufRead, bytes_max: usize) -> io::Result<Option<Frame>> {
    let (mut line, mut oversized, mut is_empty) = (Vec::new(), false, true);
    loop {
        let chunk = match from.fill_buf() {
            Ok(chunk) => chunk,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if chunk.is_empty() {
            return Ok((!is_empty).then(|| frame(line, oversized)));
        }
        is_empty = false;
        let end = chunk.iter().position(|byte| *byte == b'\n');
        let taken = &chunk[..end.unwrap_or(chunk.len())];
        if !oversized && line.len() + taken.len() > bytes_max {
            oversized = true;
            line.extend(taken.iter().take(OVERSIZED_KEPT_BYTES));
            line.truncate(OVERSIZED_KEPT_BYTES);
            line.shrink_to_fit();
        } else if !oversized {
            line.extend_from_slice(taken);
        }
        let consumed = end.map_or(chunk.len(), |end| end + 1);
        from.consume(consumed);
        if end.is_some() {
            return Ok(Some(frame(line, oversized)));
        }
    }
}

fn frame(line: Vec<u8>, oversized: bool) -> Frame {
    if oversized { Frame::Oversized(line) } else { Frame::Line(line) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn frames(text: &[u8], bytes_max: usize) -> Vec<Frame> {
        // A buffer smaller than the lines, so that they come in pieces.
        let mut from = BufReader::with_capacity(3, text);
        std::iter::from_fn(|| read_frame(&mut from, bytes_max).expect("memory can be read")).collect()
    }

    #[test]
    fn lines_come_whole_and_one_that_is_too_long_hides_no_other() {
        let line = |text: &str| Frame::Line(text.into());
        assert_eq!(frames(b"", 8), []);
        assert_eq!(frames(b"one\n\ntwo\n", 8), [line("one"), line(""), line("two")]);
        assert_eq!(frames(b"cut off", 8), [line("cut off")]);
        assert_eq!(frames(b"12345678\nnext\n", 8), [line("12345678"), line("next")]);
        let long = "x".repeat(1000);
        let kept = Frame::Oversized(long.as_bytes()[..OVERSIZED_KEPT_BYTES].to_vec());
        assert_eq!(frames(format!("{long}\nnext\n").as_bytes(), 300), [kept, line("next")]);
    }
}
