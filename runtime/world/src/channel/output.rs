//! Finds in a program's output what a script waits for.
//!
//! ```text
//! … sqlite> select 1;⏎1⏎sqlite> ▏
//!   ├ matched ┤├ not matched yet ┤    a match begins behind the one before it, where `^` holds: what is typed there ends a line
//! ```
//!
//! Invariant: the work for a write is linear in its bytes, however many entries of a script they match.
//! Not here: what comes when something was found (`channel`).

use super::ChannelError;
use fozzy_trace::plan::ExpectedOutput;
use regex_lite::{Regex, RegexBuilder};

/// Bytes of output in which something expected is looked for: what was written before them is not found any more.
pub const EXPECTED_WINDOW_BYTES: usize = 64 << 10;
/// Bytes before a write in which a match may begin that ends in it: each write searches this many again.
const REGEX_WINDOW_BYTES: usize = 4 << 10;
/// Size of a compiled regular expression, in bytes.
const REGEX_BYTES_MAX: usize = 1 << 20;

/// What is waited for.
pub(super) enum Matcher {
    Text(Vec<u8>),
    Regex(Regex),
}

/// The part of a program's output in which something can still be found.
#[derive(Clone, Default)]
pub(super) struct WrittenOutput {
    bytes: Vec<u8>,
    /// Where the first match may begin: the end of the one before it.
    from: usize,
    /// Where the part begins that was not searched yet.
    fresh: usize,
}

/// A stretch of the output as text, and a place in it: where it is in the text, and where in the output.
pub(super) struct OutputText {
    text: String,
    at: usize,
    byte: usize,
}

/// Compiles a regular expression for output.
///
/// # Errors
/// What is wrong with it, in one line.
pub fn output_regex(text: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(text).size_limit(REGEX_BYTES_MAX).multi_line(true).build();
    built.map_err(|error| format!("no regular expression: {}", error.to_string().replace('\n', " ")))
}

/// A write in stretches that are searched one after another: as many whole lines as fit, or the part of a line that
/// fits.
pub(super) fn stretches(mut bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let most = bytes.len().min(EXPECTED_WINDOW_BYTES);
        let lines = bytes[..most].iter().rposition(|byte| *byte == b'\n').map_or(most, |last| last + 1);
        let (stretch, rest) = bytes.split_at(if most == bytes.len() { most } else { lines });
        bytes = rest;
        (!stretch.is_empty()).then_some(stretch)
    })
}

impl Matcher {
    pub(super) fn new(output: &ExpectedOutput) -> Result<Matcher, ChannelError> {
        Ok(match output {
            ExpectedOutput::Text(text) => Matcher::Text(text.clone().into_bytes()),
            ExpectedOutput::Regex(text) => Matcher::Regex(output_regex(text).map_err(ChannelError::Regex)?),
        })
    }
}

impl WrittenOutput {
    /// Adds a stretch of a write, and forgets what is too old.
    pub(super) fn add(&mut self, stretch: &[u8]) {
        if self.bytes.len() > 3 * EXPECTED_WINDOW_BYTES {
            let old = self.bytes.len() - EXPECTED_WINDOW_BYTES;
            drop(self.bytes.drain(..old));
            self.from = self.from.saturating_sub(old);
        }
        self.fresh = self.bytes.len();
        self.bytes.extend_from_slice(stretch);
    }

    /// Looks for the first match, behind which the next one begins. `text` is `None` for a stretch that was not looked at as text; counts
    /// the bytes that were looked at.
    pub(super) fn find(&mut self, matcher: &Matcher, text: &mut Option<OutputText>, searched: &mut u64) -> bool {
        let oldest = self.bytes.len().saturating_sub(EXPECTED_WINDOW_BYTES).min(self.fresh);
        let again = |bytes: usize| self.fresh.saturating_sub(bytes).max(self.from).max(oldest);
        let (start, end) = match matcher {
            Matcher::Text(text) if text.is_empty() => (self.from, Some(self.from)),
            Matcher::Text(text) => {
                let start = again(text.len() - 1);
                let found = self.bytes[start..].windows(text.len()).position(|part| part == text);
                (start, found.map(|at| start + at + text.len()))
            }
            Matcher::Regex(regex) => {
                let start = again(REGEX_WINDOW_BYTES);
                // Not within a character.
                let inside = self.bytes[start..].iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
                let start = start + inside;
                let text = text.get_or_insert_with(|| OutputText::new(&self.bytes, start));
                (start, text.find(regex, &self.bytes, start, start == self.from))
            }
        };
        *searched += (end.unwrap_or(self.bytes.len()) - start) as u64;
        if let Some(end) = end {
            // What stands behind a match was not looked at for the next one.
            (self.from, self.fresh) = (end, end);
        }
        end.is_some()
    }
}

impl OutputText {
    /// The output from the character before `start` on, which tells whether a line begins there.
    fn new(written: &[u8], start: usize) -> OutputText {
        let before = start.saturating_sub(1);
        OutputText { text: text_of(&written[before..]), at: 0, byte: before }
    }

    /// Where the first match ends that begins at `start` or later; whether nothing stands before `start`.
    fn find(&mut self, regex: &Regex, written: &[u8], start: usize, begins: bool) -> Option<usize> {
        if self.byte < start {
            let passed = text_of(&written[self.byte..start]);
            // Bytes without their character's beginning are one character that is none.
            self.at = (self.at + passed.len().max(1)).min(self.text.len());
            while !self.text.is_char_boundary(self.at) {
                self.at += 1;
            }
            self.byte = start;
        }
        let end = match begins {
            true => self.at + regex.find(&self.text[self.at..])?.end(),
            false => regex.find_at(&self.text, self.at)?.end(),
        };
        self.byte += bytes_of(&written[self.byte..], end - self.at);
        self.at = end;
        Some(self.byte)
    }
}

/// Output as text: one U+FFFD for each invalid sequence, and nothing for an incomplete last character.
fn text_of(written: &[u8]) -> String {
    let mut text = String::with_capacity(written.len());
    let mut left = written.len();
    for chunk in written.utf8_chunks() {
        text.push_str(chunk.valid());
        left -= chunk.valid().len() + chunk.invalid().len();
        let missing = left == 0 && std::str::from_utf8(chunk.invalid()).is_err_and(|error| error.error_len().is_none());
        if !chunk.invalid().is_empty() && !missing {
            text.push(char::REPLACEMENT_CHARACTER);
        }
    }
    text
}

/// How many bytes of `written` make the first `text_bytes` of its text, which are no fewer.
fn bytes_of(written: &[u8], text_bytes: usize) -> usize {
    let (mut seen, mut bytes) = (0, 0);
    for chunk in written[..written.len().min(text_bytes)].utf8_chunks() {
        let valid = chunk.valid().len();
        if text_bytes <= seen + valid {
            return bytes + text_bytes - seen;
        }
        seen += valid + char::REPLACEMENT_CHARACTER.len_utf8();
        bytes += valid + chunk.invalid().len();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matcher(regex: &str) -> Matcher {
        Matcher::Regex(output_regex(regex).expect("a regular expression"))
    }

    /// Where matches end in `before` and what is written then, one after another.
    fn ends(matchers: &[Matcher], before: &[u8], written: &[u8]) -> Vec<usize> {
        let mut output = WrittenOutput::default();
        output.add(before);
        output.add(written);
        let (mut text, mut searched) = (None, 0);
        let found = matchers.iter().take_while(|matcher| output.find(matcher, &mut text, &mut searched));
        let count = found.count();
        let mut output = WrittenOutput { bytes: output.bytes, from: 0, fresh: before.len() };
        let mut text = None;
        matchers[..count].iter().map(|matcher| (output.find(matcher, &mut text, &mut 0), output.from).1).collect()
    }

    #[test]
    fn a_regular_expression_reads_bytes_as_text_and_looks_back_a_bounded_way() {
        let end = |regex: &str, before: &[u8], written: &[u8]| ends(&[matcher(regex)], before, written).pop();
        assert_eq!(end("^é.b$", b"", b"x\n\xc3\xa9\xffb\n\xff"), Some(6));
        assert_eq!(end("a.", b"a\xe2", b"\x82"), None, "a character of which a byte is missing");
        assert_eq!(end("a.", b"a\xe2\x82", b"\xac"), Some(4));
        assert_eq!(end("a.", b"a\xe2\x82", b"b"), Some(3));
        let mut long = vec![b'x'; REGEX_WINDOW_BYTES + 1];
        assert_eq!(end("^x+y", &long, b"y"), None, "no line begins in the middle");
        long[0] = b'\n';
        assert_eq!(end("^x+y", &long, b"y"), Some(long.len() + 1));
        assert_eq!(end("z", &[b"z", &long[..]].concat(), b"."), None);
        let accents = [&[b'.'][..], "é".repeat(REGEX_WINDOW_BYTES).as_bytes()].concat();
        assert_eq!(end("y", &accents, b"y"), Some(accents.len() + 1));
    }

    #[test]
    fn a_match_begins_behind_the_one_before_it() {
        let text = |text: &str| Matcher::Text(text.as_bytes().to_vec());
        assert_eq!(ends(&[text("> "), matcher("^> $")], b"", b"> > "), [2, 4], "a line was typed between them");
        assert_eq!(ends(&[text("a"), matcher("^c$")], b"", b"abc\nc\n"), [1, 5]);
        assert_eq!(ends(&[matcher("é"), text("é"), matcher("\\bx")], b"", "éé\u{fffd} x".as_bytes()), [2, 4, 9]);
        assert_eq!(ends(&[text("aa"), text("aa")], b"", b"aaa"), [2]);
    }

    #[test]
    fn a_write_is_looked_at_once_however_much_of_it_is_expected() {
        let written = vec![b'a'; EXPECTED_WINDOW_BYTES];
        for matcher in [Matcher::Text(b"a".to_vec()), matcher("a")] {
            let (mut output, mut text, mut searched) = (WrittenOutput::default(), None, 0);
            output.add(&written);
            while output.find(&matcher, &mut text, &mut searched) {}
            assert_eq!((searched, output.from), (written.len() as u64, written.len()));
            // A further byte is not looked for in all that stands there.
            output.add(b".");
            assert!(!output.find(&matcher, &mut None, &mut searched));
            assert_eq!(searched, written.len() as u64 + 1);
        }
        let lines = [&written[..], b"\n", &written[..9], b"\n", &written[..7]].concat();
        let lengths: Vec<usize> = stretches(&lines).map(<[u8]>::len).collect();
        assert_eq!(lengths, [written.len(), 18]);
        let lengths: Vec<usize> = stretches(&lines[9..]).map(<[u8]>::len).collect();
        assert_eq!(lengths, [written.len() - 8, 17]);
    }
}
