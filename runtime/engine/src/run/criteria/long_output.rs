//! Judges what is written beyond the part of a stream that is kept, as it is written.
//!
//! ```text
//! kept                 ┊ beyond
//! ……………… [ overlap ┊ chunk ]                 a window: patterns are looked for in it
//!                   [ overlap | chunk ]      the next one
//! ```
//!
//! Invariants: memory is bounded by the windows, one a stream; a match that is no longer than [`MATCH_BYTES_MAX`] is found wherever it
//! stands, and what `^`, `$` and `\b` see at a window's sides is what stands there. A pattern whose matches may be longer has no verdict
//! on a stream with a line that is longer; a longer match over several lines is not looked for.
//! Not here: the part that is kept, which is judged when the run has ended.

use fozzy_trace::NodeId;
use fozzy_world::OutputKind;
use regex_lite::Regex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a match beyond the kept part of a stream: windows overlap by as many.
pub(super) const MATCH_BYTES_MAX: usize = 256 << 10;
/// Bytes that are looked at together, beside the overlap.
const CHUNK_BYTES: usize = 1 << 20;
/// Bytes of another output that are kept from its first difference on: more than are shown of a line.
const DIFFERENCE_BYTES_MAX: usize = 16 << 10;
/// Bytes of a long line that are shown before a match.
const BEFORE_MATCH_BYTES: usize = 80;

/// The long streams of one run.
#[derive(Default)]
pub(super) struct LongOutputs {
    patterns: Vec<Regex>,
    expected: Option<Arc<[u8]>>,
    streams: BTreeMap<(NodeId, OutputKind), LongStream>,
    comparison: Option<LongComparison>,
}

/// What is known of a pattern in the part of a stream that is not kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatternMatch {
    /// The line that it matches.
    Found(String),
    /// It matches nothing.
    Absent,
    /// It cannot be said.
    Unjudged,
}

impl LongOutputs {
    /// Nothing yet of a run.
    pub(super) fn new(patterns: &[Regex], expected: Option<Arc<[u8]>>) -> LongOutputs {
        LongOutputs { patterns: patterns.to_vec(), expected, ..LongOutputs::default() }
    }

    /// What a machine wrote beyond what is kept of a stream.
    pub(super) fn observe(&mut self, (node, kind): (NodeId, OutputKind), kept: &[u8], beyond: &[u8]) {
        if !self.patterns.is_empty() {
            let stream = self.streams.entry((node, kind)).or_insert_with(|| LongStream::after(kept, &self.patterns));
            stream.feed(beyond, &self.patterns);
        }
        if let (Some(expected), (NodeId(0), OutputKind::Stdout)) = (&self.expected, (node, kind)) {
            let comparison = self.comparison.get_or_insert_with(|| {
                let mut begun = LongComparison::default();
                begun.feed(kept, expected);
                begun
            });
            comparison.feed(beyond, expected);
        }
    }

    /// What is known of the pattern of this number in a stream that has ended; `None` when all of that is kept.
    pub(super) fn of_pattern(&mut self, number: usize, stream: (NodeId, OutputKind)) -> Option<PatternMatch> {
        let stream = self.streams.get_mut(&stream)?;
        stream.finish(&self.patterns);
        let found = stream.matches[number].clone().map(PatternMatch::Found);
        Some(found.unwrap_or_else(|| stream.unmatched(&self.patterns[number])))
    }

    /// The output up to its first difference from the expected one, and something of it from there on; `None` when all of it is kept.
    pub(super) fn compared(&self) -> Option<Vec<u8>> {
        let (comparison, expected) = (self.comparison.as_ref()?, self.expected.as_ref()?);
        Some([&expected[..comparison.equal], &comparison.rest].concat())
    }
}

/// A stream from the end of its kept part on.
struct LongStream {
    /// One character of what was before, and what is not judged yet or may be the beginning of a match.
    window: String,
    /// The beginning of a character that was cut.
    cut: Vec<u8>,
    /// The lines that patterns match.
    matches: Vec<Option<String>>,
    /// Bytes of the line so far, and of the longest one.
    line: usize,
    longest: usize,
    has_ended: bool,
}

impl LongStream {
    fn after(kept: &[u8], patterns: &[Regex]) -> LongStream {
        let from = kept.len().saturating_sub(MATCH_BYTES_MAX);
        let line = kept.iter().rev().take_while(|byte| **byte != b'\n').count();
        let matches = vec![None; patterns.len()];
        let (window, cut) = (String::new(), Vec::new());
        let mut stream = LongStream { window, cut, matches, line: 0, longest: 0, has_ended: false };
        stream.decode(&kept[from..]);
        (stream.line, stream.longest) = (line, line);
        stream
    }

    fn feed(&mut self, bytes: &[u8], patterns: &[Regex]) {
        for chunk in bytes.chunks(CHUNK_BYTES) {
            for (number, line) in chunk.split(|byte| *byte == b'\n').enumerate() {
                self.line = if number == 0 { self.line + line.len() } else { line.len() };
                self.longest = self.longest.max(self.line);
            }
            self.decode(chunk);
            if self.window.len() >= MATCH_BYTES_MAX + CHUNK_BYTES {
                self.scan(patterns);
            }
        }
    }

    fn finish(&mut self, patterns: &[Regex]) {
        if !std::mem::replace(&mut self.has_ended, true) {
            if !std::mem::take(&mut self.cut).is_empty() {
                self.window.push(char::REPLACEMENT_CHARACTER);
            }
            self.scan(patterns);
        }
    }

    /// Adds bytes to the window, as text.
    fn decode(&mut self, bytes: &[u8]) {
        let whole = [&std::mem::take(&mut self.cut), bytes].concat();
        let cut = cut_character(&whole);
        let (text, rest) = whole.split_at(whole.len() - cut);
        self.window.push_str(&String::from_utf8_lossy(text));
        self.cut = rest.to_vec();
    }

    fn scan(&mut self, patterns: &[Regex]) {
        let from = self.window.chars().next().map_or(0, char::len_utf8);
        for (pattern, known) in patterns.iter().zip(&mut self.matches) {
            if known.is_some() {
                continue;
            }
            // What reaches up to the end of a window may be another match, or none, with what follows.
            let found = pattern.find_at(&self.window, from);
            let found = found.filter(|found| self.has_ended || found.end() < self.window.len());
            let found = found.filter(|found| super::is_written(&self.window, found.start()));
            *known = found.map(|found| line_of(&self.window, found.start()));
        }
        let mut stays = self.window.len().saturating_sub(MATCH_BYTES_MAX + 4);
        while !self.window.is_char_boundary(stays) {
            stays -= 1;
        }
        self.window.drain(..stays);
    }

    /// What is to be said of a pattern that was not found.
    fn unmatched(&self, pattern: &Regex) -> PatternMatch {
        let may_be_longer = match_bytes_max(pattern.as_str()).is_none_or(|most| most > MATCH_BYTES_MAX);
        if self.longest > MATCH_BYTES_MAX && may_be_longer { PatternMatch::Unjudged } else { PatternMatch::Absent }
    }
}

/// How many bytes at the end are the beginning of a character.
fn cut_character(bytes: &[u8]) -> usize {
    let last = (1..=bytes.len().min(3)).find(|back| bytes[bytes.len() - back] & 0xC0 != 0x80);
    last.filter(|back| {
        std::str::from_utf8(&bytes[bytes.len() - back..]).is_err_and(|error| error.error_len().is_none())
    })
    .unwrap_or(0)
}

/// The line around a place of a text; of a long one, the part from shortly before that place on.
fn line_of(text: &str, place: usize) -> String {
    let begin = text[..place].rfind('\n').map(|at| at + 1);
    let mut from = begin.unwrap_or(0).max(place.saturating_sub(BEFORE_MATCH_BYTES));
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let line = text[from..].lines().next().unwrap_or_default();
    let before = if begin == Some(from) { "" } else { "…" };
    fozzy_trace::facts::UnmetCriterion::text(format!("{before}{line}").as_bytes())
}

/// An upper bound of the bytes of a pattern's matches; `None` when they may be of any length.
fn match_bytes_max(pattern: &str) -> Option<usize> {
    let mut bytes = pattern.chars().count().saturating_mul(4);
    let (mut rest, mut in_class) = (pattern.chars(), false);
    while let Some(c) = rest.next() {
        match c {
            '\\' => drop(rest.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            '*' | '+' if !in_class => return None,
            '{' if !in_class => {
                let inside = rest.as_str().split('}').next().unwrap_or_default();
                let most = inside.rsplit(',').next().unwrap_or_default().trim();
                if inside.contains(',') && most.is_empty() {
                    return None;
                }
                // Text that is no number is no bound of a repetition.
                bytes = bytes.saturating_mul(most.parse::<usize>().unwrap_or(1).max(1));
            }
            _ => {}
        }
    }
    Some(bytes)
}

/// An output beside the one that was expected.
#[derive(Default)]
struct LongComparison {
    /// Bytes that are equal, from the first one on.
    equal: usize,
    /// What was written from there on, up to a bound; it may be equal again.
    rest: Vec<u8>,
}

impl LongComparison {
    fn feed(&mut self, bytes: &[u8], expected: &[u8]) {
        let mut bytes = bytes;
        if self.rest.is_empty() {
            let wanted = &expected[self.equal..];
            let part = bytes.len().min(wanted.len());
            let equal = match bytes[..part] == wanted[..part] {
                true => part,
                false => bytes.iter().zip(wanted).take_while(|(found, wanted)| found == wanted).count(),
            };
            self.equal += equal;
            bytes = &bytes[equal..];
        }
        let room = DIFFERENCE_BYTES_MAX - self.rest.len();
        self.rest.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::StreamOutput;
    use fozzy_trace::execution::OUTPUT_KEPT_BYTES_MAX;

    const STREAM: (NodeId, OutputKind) = (NodeId(0), OutputKind::Stdout);

    fn observed(text: &[u8], piece: usize, patterns: &[Regex], expected: Option<&[u8]>) -> LongOutputs {
        let mut outputs = LongOutputs::new(patterns, expected.map(Arc::from));
        let mut stream = StreamOutput::default();
        for bytes in text.chunks(piece) {
            let beyond = stream.write(bytes);
            if !beyond.is_empty() {
                outputs.observe(STREAM, stream.kept(), beyond);
            }
        }
        outputs
    }

    fn regex(pattern: &str) -> Regex {
        crate::run::criteria::compiled(pattern).expect("a pattern")
    }

    /// Filler in lines, with `word` at a place.
    fn lines(bytes: usize, place: usize, word: &str) -> Vec<u8> {
        let mut text: Vec<u8> =
            b"some text of a log, \xc3\xa9t\xc3\xa9\n".iter().copied().cycle().take(bytes).collect();
        text[place..place + word.len()].copy_from_slice(word.as_bytes());
        text
    }

    #[test]
    fn a_match_is_found_wherever_it_stands() {
        let patterns = ["Z", "^needle$", r"nee\w+"].map(regex);
        let (kept, end) = (OUTPUT_KEPT_BYTES_MAX, OUTPUT_KEPT_BYTES_MAX + CHUNK_BYTES + 60_000);
        for place in [kept - 9, kept - 8, kept - 3, kept + 1, kept + CHUNK_BYTES - 5, end - 8] {
            let text = lines(end, place, "\nneedle\n");
            let mut outputs = observed(&text, 60_001, &patterns, None);
            let found = (0..patterns.len()).map(|number| outputs.of_pattern(number, STREAM).expect("it is long"));
            let found: Vec<bool> =
                found.map(|found| matches!(found, PatternMatch::Found(line) if line == "needle")).collect();
            assert_eq!(found, [false, true, true], "at {place}");
        }
    }

    #[test]
    fn sides_of_windows_are_no_sides_of_lines() {
        let patterns = ["^a", "a$", r"\ba", r"a\b", r"\Aa", r"a\z"].map(regex);
        let mut text = vec![b'a'; OUTPUT_KEPT_BYTES_MAX + CHUNK_BYTES];
        text[0] = b'b';
        text.push(b'b');
        let mut outputs = observed(&text, 4096, &patterns, None);
        for (number, pattern) in patterns.iter().enumerate() {
            assert_eq!(outputs.of_pattern(number, STREAM), Some(PatternMatch::Absent), "{}", pattern.as_str());
        }
        text.pop();
        let mut outputs = observed(&text, text.len(), &patterns, None);
        let found = outputs.of_pattern(1, STREAM);
        assert!(matches!(&found, Some(PatternMatch::Found(line)) if line.starts_with("…aaa")), "{found:?}");
    }

    #[test]
    fn a_line_that_may_hold_a_longer_match_has_no_verdict() {
        let patterns = ["Z", "^a+Z", "Za{0,1000}", "a+Y"].map(regex);
        let mut text = vec![b'a'; OUTPUT_KEPT_BYTES_MAX + CHUNK_BYTES];
        text.extend_from_slice(b"Z\n");
        let mut outputs = observed(&text, 1 << 16, &patterns, None);
        let of = |outputs: &mut LongOutputs, number| outputs.of_pattern(number, STREAM).expect("it is long");
        assert!(matches!(of(&mut outputs, 0), PatternMatch::Found(line) if line.ends_with("aaaZ")));
        assert_eq!(of(&mut outputs, 1), PatternMatch::Unjudged);
        assert!(matches!(of(&mut outputs, 2), PatternMatch::Found(_)));
        assert_eq!(of(&mut outputs, 3), PatternMatch::Unjudged);
        assert_eq!(match_bytes_max("a{9999}{9999}Y"), Some(14 * 4 * 9999 * 9999));
        assert_eq!(match_bytes_max(r"\*[*+]\{3\}"), Some(11 * 4));
        assert_eq!((match_bytes_max("a{3,}"), match_bytes_max("a{3,5}")), (None, Some(6 * 4 * 5)));
    }

    #[test]
    fn text_is_the_same_in_any_pieces() {
        let bytes = [&b"a\xe2\x82\xacb\xff\xf0\x9f\x98\x80\xe2\x82"[..], b"\xed\xa0\x80z\xf0\x9f", &[0x80; 9]].concat();
        for piece in 1..bytes.len() {
            let mut stream = LongStream::after(&[], &[]);
            bytes.chunks(piece).for_each(|bytes| stream.decode(bytes));
            stream.finish(&[]);
            assert_eq!(stream.window, String::from_utf8_lossy(&bytes), "in pieces of {piece}");
        }
    }

    #[test]
    fn an_output_is_compared_to_its_end() {
        let expected = lines(OUTPUT_KEPT_BYTES_MAX + CHUNK_BYTES, 0, "");
        let of = |text: &[u8]| observed(text, 60_001, &[], Some(&expected)).compared().expect("it is long");
        assert_eq!(of(&expected), expected);
        let cut = &expected[..expected.len() - 5];
        assert_eq!(of(cut), cut);
        let longer = [&expected, &b"more\n"[..]].concat();
        assert_eq!(of(&longer), longer);
        for place in [5, OUTPUT_KEPT_BYTES_MAX - 1, OUTPUT_KEPT_BYTES_MAX + 9, expected.len() - 1] {
            let mut other = expected.clone();
            other[place] = b'#';
            let found = of(&other);
            assert!(found.len() > place && other.starts_with(&found), "at {place}");
        }
    }
}
