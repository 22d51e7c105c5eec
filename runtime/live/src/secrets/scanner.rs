//! Finds values in a text, in whatever notation they stand there.
//!
//! ```text
//! text ─┬─▶ as it is ──────────────┐
//!       ├─▶ backslash, HTML, percent, form ─┤   one automaton for all values
//!       ├─▶ all escapes at once, again, again ─┤   (a JSON text in a JSON text, a URL in HTML, …)
//!       └─▶ runs of Base64 and hexadecimal ────┘   ─▶ hits: where, which, in what notation
//! ```
//!
//! Looking for one value in each of its notations would need a pattern for each choice of characters that are escaped, so
//! that the text is decoded instead: a fixed number of passes, each linear. A long text is searched in blocks that overlap by
//! the longest a value can be written, so that a hit at a border is found whole.
//!
//! Invariants: hits are sorted and do not overlap; time is linear in the text, memory bounded by the block.
//! Not here: values that are compressed, encrypted, in another character set, or split by foreign text.

use super::dense::{Dense, DenseText};
use super::notation::{DecodedText, Notation};
use aho_corasick::{AhoCorasick, MatchKind};
use std::borrow::Cow;
use std::ops::Range;

/// How often a text is decoded: JSON in JSON in JSON.
const LEVELS_MAX: usize = 3;
/// Bytes of a text for each byte of a value, at the most: what is written more lavishly is found where it stands in one
/// block.
const EXPANSION_MAX: usize = 24;
/// Bytes of a text that are searched at once.
const BLOCK_BYTES: usize = 64 << 10;

/// See the module.
#[derive(Default)]
pub(super) struct Scanner {
    automaton: Option<AhoCorasick>,
    /// The value of each pattern, by its number in the order in which they were given.
    values: Vec<usize>,
    shortest: usize,
    longest: usize,
    /// Whether values are looked for in Base64 and hexadecimal, too.
    is_dense: bool,
}

/// A value that was found.
#[derive(Debug)]
struct Hit {
    range: Range<usize>,
    text: Vec<u8>,
}

/// What takes the place of values.
#[derive(Clone, Copy)]
pub(super) enum Cover<'a> {
    /// These texts, by the number of the value; in the notation in which the value stood.
    Texts(&'a [Vec<u8>]),
    /// As many characters as the value was written with.
    SameLength,
}

/// A text on the way from what was given to what it means.
struct Layer<'a> {
    bytes: &'a [u8],
    /// The way back; nothing for the text as it was given.
    decoded: Option<(Notation, &'a DecodedText, &'a Layer<'a>)>,
}

impl Layer<'_> {
    fn source(&self, range: Range<usize>) -> Range<usize> {
        match self.decoded {
            Some((_, text, below)) => below.source(text.source(range)),
            None => range,
        }
    }

    /// `text` in the notation in which `source` is written.
    fn written(&self, source: &[u8], text: &[u8]) -> Vec<u8> {
        self.decoded.map_or_else(|| text.to_vec(), |(notation, ..)| notation.encode(source, text))
    }
}

impl Scanner {
    /// Looks for `values`, none of them empty.
    ///
    /// # Errors
    /// One sentence, when they are beyond what can be searched for.
    pub(super) fn new(values: &[&[u8]], least: usize) -> Result<Scanner, String> {
        let mut patterns: Vec<Cow<'_, [u8]>> = Vec::new();
        let mut of = Vec::new();
        for (number, value) in values.iter().enumerate() {
            patterns.push(Cow::Borrowed(*value));
            of.push(number);
            // A value that has escapes in it loses them wherever a text is decoded.
            let mut meant = Notation::ALL.decode(value);
            for _ in 1..LEVELS_MAX {
                let Some(text) = meant.take().filter(|text| text.bytes.len() >= least) else { break };
                meant = Notation::ALL.decode(&text.bytes);
                patterns.push(Cow::Owned(text.bytes));
                of.push(number);
            }
        }
        if patterns.is_empty() {
            return Ok(Scanner::default());
        }
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns);
        let automaton = built.map_err(|error| format!("the secrets cannot be searched for: {error}"))?;
        let lengths = patterns.iter().map(|pattern| pattern.len());
        let (shortest, longest) = (lengths.clone().min().unwrap_or(1), lengths.max().unwrap_or(1));
        Ok(Scanner { automaton: Some(automaton), values: of, shortest, longest, is_dense: true })
    }

    /// The same, but not in Base64 and hexadecimal.
    pub(super) fn of_escapes(self) -> Scanner {
        Scanner { is_dense: false, ..self }
    }

    /// Bytes on both sides of a stretch that tell whether a value reaches into it.
    pub(super) fn margin(&self) -> usize {
        self.automaton.as_ref().map_or(0, |_| self.longest * EXPANSION_MAX + 64)
    }

    /// `text` with all values covered.
    pub(super) fn cover<'a>(&self, text: &'a [u8], cover: Cover<'_>) -> Cow<'a, [u8]> {
        let (mut out, mut copied) = (Vec::new(), 0);
        for hit in self.hits(text, cover) {
            out.extend_from_slice(&text[copied..hit.range.start]);
            out.extend_from_slice(&hit.text);
            copied = hit.range.end;
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.extend_from_slice(&text[copied..]);
        Cow::Owned(out)
    }

    fn hits(&self, text: &[u8], cover: Cover<'_>) -> Vec<Hit> {
        let Some(automaton) = &self.automaton else { return Vec::new() };
        let (margin, mut hits) = (self.margin(), Vec::new());
        let block = BLOCK_BYTES.max(4 * margin);
        let mut start = 0;
        while start < text.len() {
            let end = (start + block).min(text.len());
            let window = start.saturating_sub(margin)..(end + margin).min(text.len());
            let mut search = Search { scanner: self, automaton, cover, text: &text[window.clone()], hits: Vec::new() };
            search.text_layers(&Layer { bytes: search.text, decoded: None }, LEVELS_MAX);
            // What begins in another block is found there.
            hits.extend(search.hits.into_iter().filter_map(|Hit { range, text }| {
                let range = range.start + window.start..range.end + window.start;
                (start..end).contains(&range.start).then_some(Hit { range, text })
            }));
            start = end;
        }
        separate(hits, cover)
    }
}

/// Sorts hits, and joins those that overlap under the text of the longest.
fn separate(mut hits: Vec<Hit>, cover: Cover<'_>) -> Vec<Hit> {
    hits.sort_by_key(|hit| hit.range.start);
    let mut apart: Vec<Hit> = Vec::new();
    for hit in hits {
        let Some(last) = apart.last_mut().filter(|last| hit.range.start < last.range.end) else {
            apart.push(hit);
            continue;
        };
        let end = last.range.end.max(hit.range.end);
        if hit.range.len() > last.range.len() {
            last.text = hit.text;
        }
        if last.range.end != end && matches!(cover, Cover::SameLength) {
            last.text = vec![b'*'; end - last.range.start];
        }
        last.range.end = end;
    }
    apart
}

/// The search of one block.
struct Search<'a> {
    scanner: &'a Scanner,
    automaton: &'a AhoCorasick,
    cover: Cover<'a>,
    text: &'a [u8],
    hits: Vec<Hit>,
}

impl Search<'_> {
    /// The text as it is, what its escapes mean, and its runs of Base64 and hexadecimal.
    fn text_layers(&mut self, layer: &Layer<'_>, levels: usize) {
        self.verbatim(layer);
        self.dense(Dense::Base64, layer);
        self.dense(Dense::Hexadecimal, layer);
        if levels == 0 {
            return;
        }
        for notation in [Notation::BACKSLASH, Notation::HTML, Notation::PERCENT, Notation::FORM] {
            if let Some(text) = notation.decode(layer.bytes) {
                self.verbatim(&Layer { bytes: &text.bytes, decoded: Some((notation, &text, layer)) });
            }
        }
        let notation = Notation::ALL;
        if let Some(text) = notation.decode(layer.bytes) {
            self.text_layers(&Layer { bytes: &text.bytes, decoded: Some((notation, &text, layer)) }, levels - 1);
        }
    }

    fn verbatim(&mut self, layer: &Layer<'_>) {
        for found in self.automaton.find_iter(layer.bytes) {
            let range = layer.source(found.range());
            let text = match self.cover {
                Cover::Texts(texts) => {
                    let text = &texts[self.scanner.values[found.pattern().as_usize()]];
                    layer.written(&self.text[range.clone()], text)
                }
                Cover::SameLength => vec![b'*'; range.len()],
            };
            self.hits.push(Hit { range, text });
        }
    }

    /// Runs of Base64 or hexadecimal, and what the escapes in them mean.
    fn dense(&mut self, kind: Dense, layer: &Layer<'_>) {
        if !self.scanner.is_dense {
            return;
        }
        let (least, automaton) = (self.scanner.shortest, self.automaton);
        kind.each(layer.bytes, least, |run| {
            for found in automaton.find_iter(&run.bytes) {
                self.dense_hit(layer, &run, found.range(), found.pattern().as_usize());
            }
            if let Some(text) = Notation::ALL.decode(&run.bytes) {
                for found in automaton.find_iter(&text.bytes) {
                    self.dense_hit(layer, &run, text.source(found.range()), found.pattern().as_usize());
                }
            }
        });
    }

    fn dense_hit(&mut self, layer: &Layer<'_>, run: &DenseText<'_>, range: Range<usize>, pattern: usize) {
        let cover = match self.cover {
            Cover::Texts(texts) => aligned(&texts[self.scanner.values[pattern]], range.len(), run.alignment()),
            Cover::SameLength => vec![b'*'; range.len()],
        };
        let (at, text) = run.covered(layer.bytes, range, &cover);
        let range = layer.source(at);
        let text = match self.cover {
            Cover::Texts(_) => layer.written(&self.text[range.clone()], &text),
            Cover::SameLength if text.len() == range.len() => text,
            Cover::SameLength => vec![b'*'; range.len()],
        };
        self.hits.push(Hit { range, text });
    }
}

/// A placeholder whose length differs from `length` by a multiple of `alignment`: `<redacted:A>`, `<redacted:A~>`,
/// `<redacted:A~~>` mean the same.
fn aligned(placeholder: &[u8], length: usize, alignment: usize) -> Vec<u8> {
    let mut text = placeholder.to_vec();
    while text.len() % alignment != length % alignment {
        text.insert(text.len() - 1, super::FILLER);
    }
    text
}
