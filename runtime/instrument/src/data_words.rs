//! Words in the data of a program: what its parser may know, for inputs to be made of.
//!
//! ```text
//! \0[section]\0      run without spaces     [section]                     whole
//! \0keyValue=\0      side by side           keyValue=   key  Value  …     whole, its parts, its beginnings and ends
//! \0src/lib.rs\0     path                   left out
//! \0no `x` in the list of keys[end]\0       message: of its ends what stands beside it, [end]
//! ```
//!
//! Rust puts texts next to each other with nothing in between, so that where one ends can only be guessed: at a change of the case, and
//! between letters, digits and punctuation. Most words are noise, then; whole ones come first, and those of the program's own files,
//! which linkers put before its libraries.
//!
//! Invariants: a function of the component alone; no word twice; work and memory are bounded by [`DATA_BYTES_MAX`] and [`WORDS_MAX`].
//! Not here: what becomes of the words (`fozzy-search`), texts that a program makes when it runs.

use crate::{COMPONENT_BYTES_MAX, Error, features, nesting};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use wasmparser::{DataKind, Parser, Payload};

/// Words at the most: as many as a dictionary takes of those that are only suggested.
const WORDS_MAX: usize = 256;

/// Bytes of a word. Shorter ones are found by changing bytes.
const WORD_BYTES: RangeInclusive<usize> = 3..=32;
/// Bytes of data that are read. What stands behind them is a library's, or tables.
const DATA_BYTES_MAX: usize = 4 << 20;
/// A text with more spaces is a message.
const SPACES_MAX: usize = 3;
/// Slashes of a path. A text with fewer may be `HTTP/1.1` or `</p>`.
const PATH_SLASHES: usize = 2;
/// Words of one rank: half of all, so that each rank has some.
const RANK_WORDS_MAX: usize = WORDS_MAX / 2;

/// How sure it is that a text is a word of its own.
#[derive(Clone, Copy)]
enum WordRank {
    /// Nothing printable stands beside it.
    Whole,
    /// Spaces or punctuation stand beside it.
    Part,
    /// A guess.
    Guess,
}

/// How many ranks there are.
const RANKS: usize = 3;

/// The words in the active data segments of all core modules of a component, or of a core module: by their length, then by their bytes.
///
/// # Errors
/// What cannot be read, and the bounds named in [`Error`].
pub fn data_words(component: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    if component.len() > COMPONENT_BYTES_MAX {
        return Err(Error::TooLarge { bytes: component.len() });
    }
    nesting::check(component)?;
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let mut collector = WordCollector::default();
    let mut left = DATA_BYTES_MAX;
    for payload in parser.parse_all(component) {
        let Payload::DataSection(reader) = payload? else { continue };
        for segment in reader {
            let segment = segment?;
            if let DataKind::Active { .. } = segment.kind {
                let data = &segment.data[..segment.data.len().min(left)];
                left -= data.len();
                data.split(|byte| !matches!(byte, b' '..=b'~')).for_each(|run| collector.run(run));
            }
        }
    }
    Ok(collector.best())
}

/// The words that were met so far.
#[derive(Default)]
struct WordCollector<'a> {
    /// Of each rank the first ones, in the order of the data.
    ranks: [Vec<&'a [u8]>; RANKS],
    known: [BTreeSet<&'a [u8]>; RANKS],
}

impl<'a> WordCollector<'a> {
    /// Printable bytes that stand side by side.
    fn run(&mut self, run: &'a [u8]) {
        if run.len() < *WORD_BYTES.start() {
            return;
        }
        let spaces = run.iter().filter(|byte| is_space(byte)).count();
        if spaces > SPACES_MAX {
            self.message(run);
            return;
        }
        if spaces > 0 && !is_path(run) {
            self.offer(WordRank::Guess, run);
        }
        let rank = if spaces == 0 { WordRank::Whole } else { WordRank::Part };
        run.split(is_space).for_each(|text| self.text(rank, text));
    }

    /// Texts before and behind a message, up to the word of it that touches them.
    fn message(&mut self, run: &'a [u8]) {
        let first = run.split(is_space).next().unwrap_or_default();
        if let Some(end) = changes(first).next_back() {
            self.text(WordRank::Part, &first[..end]);
        }
        let last = run.rsplit(is_space).next().unwrap_or_default();
        if let Some(start) = changes(last).next() {
            self.text(WordRank::Part, &last[start..]);
        }
    }

    /// A text without spaces, and what it may be made of.
    fn text(&mut self, rank: WordRank, text: &'a [u8]) {
        if is_path(text) {
            return;
        }
        self.offer(rank, text);
        text.split(|byte| !byte.is_ascii_alphanumeric()).for_each(|part| self.offer(WordRank::Part, part));
        for (start, byte) in text.iter().enumerate() {
            let Some(closing) = closing(*byte) else { continue };
            let reach = &text[start..text.len().min(start + WORD_BYTES.end())];
            if let Some(end) = reach.iter().position(|byte| *byte == closing) {
                self.offer(WordRank::Part, &reach[..=end]);
            }
        }
        let mut start = 0;
        for change in changes(text).chain([text.len()]) {
            for guess in [&text[start..change], &text[..change], &text[change..]] {
                self.offer(WordRank::Guess, guess);
            }
            start = change;
        }
    }

    fn offer(&mut self, rank: WordRank, word: &'a [u8]) {
        let rank = rank as usize;
        let has_room = WORD_BYTES.contains(&word.len()) && self.ranks[rank].len() < RANK_WORDS_MAX;
        if has_room && !self.known[..=rank].iter().any(|known| known.contains(word)) {
            self.known[rank].insert(word);
            self.ranks[rank].push(word);
        }
    }

    /// The surest words, in order.
    fn best(&self) -> Vec<Vec<u8>> {
        let mut best: BTreeSet<(usize, &[u8])> = BTreeSet::new();
        for word in self.ranks.iter().flatten().copied() {
            if best.len() < WORDS_MAX {
                best.insert((word.len(), word));
            }
        }
        best.into_iter().map(|(_, word)| word.to_vec()).collect()
    }
}

fn is_space(byte: &u8) -> bool {
    *byte == b' '
}

/// Whether a text has the path of a file in it.
fn is_path(text: &[u8]) -> bool {
    text.iter().filter(|byte| **byte == b'/').count() >= PATH_SLASHES || text.windows(3).any(|part| part == b".rs")
}

/// The bracket that closes what this byte opens.
fn closing(byte: u8) -> Option<u8> {
    match byte {
        b'[' => Some(b']'),
        b'(' => Some(b')'),
        b'{' => Some(b'}'),
        b'<' => Some(b'>'),
        _ => None,
    }
}

/// Where a text may be two that stand side by side.
fn changes(text: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
    (1..text.len()).filter(move |at| {
        let (left, right) = (text[at - 1], text[*at]);
        // `Word` is one, `WORDtext` is two.
        let follows_capitals = || *at > 1 && text[at - 2].is_ascii_uppercase();
        left.is_ascii_alphabetic() != right.is_ascii_alphabetic()
            || left.is_ascii_digit() != right.is_ascii_digit()
            || (left.is_ascii_lowercase() && right.is_ascii_uppercase())
            || (left.is_ascii_uppercase() && right.is_ascii_lowercase() && follows_capitals())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(wat: &str) -> Vec<String> {
        let found = data_words(&wat::parse_str(wat).expect("the test's text parses")).expect("it can be read");
        found.into_iter().map(|word| String::from_utf8(word).expect("printable bytes")).collect()
    }

    #[test]
    fn words_stand_in_the_data_of_every_module_and_paths_and_messages_are_left_out() {
        let found = words(
            r#"(component
                (core module (memory 1)
                    (data (i32.const 0) "\00[section]\00no\00HTTP/1.1\00src/lib.rs\00/etc/passwd\00")
                    (data (i32.const 64) "\07there is no such key in the list[end]\00")
                    (data "passive"))
                (component (core module (memory 1) (data (i32.const 9) "keyValue\ff"))))"#,
        );
        for word in ["[section]", "section", "HTTP/1.1", "HTTP", "[end]", "keyValue", "key", "Value"] {
            assert!(found.iter().any(|found| found == word), "{word} is not among {found:?}");
        }
        for part in ["no", "lib", "src", "passwd", "etc", "there", "such", "list", "passive", "tion"] {
            assert!(!found.iter().any(|found| found == part), "{part} is among {found:?}");
        }
        let mut sorted = found.clone();
        sorted.sort_by_key(|word| (word.len(), word.clone()));
        sorted.dedup();
        assert_eq!(found, sorted);
    }

    #[test]
    fn texts_side_by_side_are_parted_where_case_or_class_changes() {
        let found = words(r#"(module (memory 1) (data (i32.const 0) "GETpostPutX12<tag>off"))"#);
        for word in ["GET", "post", "Put", "GETpost", "<tag>", "tag", "off", "<tag>off", "GETpostPutX12<tag>off"] {
            assert!(found.iter().any(|found| found == word), "{word} is not among {found:?}");
        }
        assert!(!found.iter().any(|found| found == "ETpost" || found == "ost"), "{found:?}");
    }

    #[test]
    fn words_are_bounded_and_damage_is_an_error() {
        let many: String = (0..5_000).map(|number| format!("word{number:04}\\00the {number}\\00")).collect();
        let long = "x".repeat(10_000);
        let wat = format!(r#"(module (memory 9) (data (i32.const 0) "{long}\00{many}"))"#);
        let found = words(&wat);
        assert_eq!(found.len(), WORDS_MAX);
        assert!(found.iter().all(|word| WORD_BYTES.contains(&word.len())), "{found:?}");
        assert!(found.contains(&"word0000".to_owned()), "the first ones stay: {found:?}");
        let bytes = wat::parse_str(&wat).expect("text");
        assert!(data_words(&bytes[..bytes.len() - 3]).is_err() && data_words(b"").is_err());
    }
}
