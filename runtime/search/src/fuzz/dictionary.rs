//! Words of the target's language: given in a file, collected from what it compares, and suggested by what stands in its data.
//!
//! ```text
//! # a comment
//! method="GET"            AFL, libFuzzer
//! "\x89PNG"               without a name
//! deep@2="rarely used"    a level, which is read and not used
//! ```
//!
//! Invariants: no word twice, none empty; words of one kind never push out those of another; what is given or collected is no longer
//! only suggested.
//! Source: <https://llvm.org/docs/LibFuzzer.html#dictionaries>.

use std::collections::BTreeSet;
use std::sync::Arc;

/// A word.
pub type Token = Arc<[u8]>;

/// Bytes of a word, as libFuzzer bounds them. A longer one is an error of the file.
const TOKEN_BYTES_MAX: usize = 64;
/// Words that are collected; the first ones stay, as they are those of the checks that everything else stands behind.
const COLLECTED_MAX: usize = 512;
/// Words that are suggested; most are noise, so that more would only make the others rarer.
const SUGGESTED_MAX: usize = 256;

/// A dictionary file with an error.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct DictionaryError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, what was expected.
    pub why: String,
}

/// Words to put into inputs.
#[derive(Clone, Debug, Default)]
pub struct Dictionary {
    tokens: Vec<Token>,
    /// Ordered, as a guest chooses what is collected: in a table with a known hash its words could all fall together.
    known: BTreeSet<Token>,
    given: usize,
    suggested: Vec<Token>,
}

impl Dictionary {
    /// Reads a dictionary file.
    ///
    /// # Errors
    /// The first line that is wrong.
    pub fn parse(text: &[u8]) -> Result<Dictionary, DictionaryError> {
        let mut dictionary = Dictionary::default();
        for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() || line[0] == b'#' {
                continue;
            }
            let token = token(line).map_err(|why| DictionaryError { line: number + 1, why })?;
            dictionary.give(&token);
        }
        Ok(dictionary)
    }

    /// The words that are given and collected.
    #[must_use]
    pub fn tokens(&self) -> &[Token] {
        &self.tokens
    }

    /// The words that are only suggested.
    pub(crate) fn suggested(&self) -> &[Token] {
        &self.suggested
    }

    /// Adds a word of the caller.
    pub fn give(&mut self, token: &[u8]) {
        self.given += usize::from(self.add(token));
    }

    /// Adds a word that was seen in the target.
    pub(crate) fn collect(&mut self, token: &[u8]) {
        if self.tokens.len() - self.given < COLLECTED_MAX {
            self.add(token);
        }
    }

    /// Adds a word that stands in the target, whether it means anything there or not.
    pub fn suggest(&mut self, token: &[u8]) {
        let is_new = self.is_new(token) && self.suggested.iter().all(|known| **known != *token);
        if is_new && self.suggested.len() < SUGGESTED_MAX {
            self.suggested.push(token.into());
        }
    }

    /// Whether it is a word, and neither given nor collected.
    fn is_new(&self, token: &[u8]) -> bool {
        !token.is_empty() && token.len() <= TOKEN_BYTES_MAX && !self.known.contains(token)
    }

    fn add(&mut self, token: &[u8]) -> bool {
        let fits = self.is_new(token);
        if fits {
            self.suggested.retain(|suggested| **suggested != *token);
            let token: Token = token.into();
            self.known.insert(Arc::clone(&token));
            self.tokens.push(token);
        }
        fits
    }
}

/// The word of a line that is no comment.
fn token(line: &[u8]) -> Result<Vec<u8>, String> {
    let shown = || String::from_utf8_lossy(line).chars().take(60).collect::<String>();
    let start = line.iter().position(|byte| *byte == b'"');
    let start = start.ok_or_else(|| format!("expected name=\"word\" or \"word\", found `{}`", shown()))?;
    let name = line[..start].trim_ascii();
    if !name.is_empty() && name.last() != Some(&b'=') {
        return Err(format!("expected `=` between the name and the word, found `{}`", shown()));
    }
    let mut word = Vec::new();
    let mut rest = &line[start + 1..];
    loop {
        match rest {
            [] => return Err(format!("the word has no closing quote: `{}`", shown())),
            [b'"'] => break,
            [b'"', ..] => return Err(format!("something stands after the closing quote: `{}`", shown())),
            [b'\\', escaped @ (b'\\' | b'"'), tail @ ..] => {
                word.push(*escaped);
                rest = tail;
            }
            [b'\\', b'x', high, low, tail @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digit = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
                word.push(digit(*high) << 4 | digit(*low));
                rest = tail;
            }
            [b'\\', ..] => return Err(format!("expected \\\\, \\\" or \\x and two digits in `{}`", shown())),
            [byte, tail @ ..] => {
                word.push(*byte);
                rest = tail;
            }
        }
    }
    match word.len() {
        0 => Err("the word is empty".to_owned()),
        len if len > TOKEN_BYTES_MAX => Err(format!("the word has {len} bytes, at most {TOKEN_BYTES_MAX} are used")),
        _ => Ok(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Result<Vec<Vec<u8>>, String> {
        let read = Dictionary::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        Ok(read.tokens().iter().map(|token| token.to_vec()).collect())
    }

    #[test]
    fn the_syntax_of_afl_and_libfuzzer_is_read() {
        let text = "# words\n\nkw1=\"GET\"\n\"\\x89PNG\"\r\nkw@3=\"a\\\\b\\\"c\"\n  sp = \" \"\n\"GET\"\n";
        assert_eq!(tokens(text), Ok(vec![b"GET".to_vec(), b"\x89PNG".to_vec(), b"a\\b\"c".to_vec(), b" ".to_vec()]));
    }

    #[test]
    fn an_error_names_its_line_and_what_was_expected() {
        let said = |text: &str| tokens(text).expect_err("wrong");
        assert!(said("\"a\"\nb\n").starts_with("line 2: expected name=\"word\""));
        assert!(said("\"a\n").contains("no closing quote"));
        assert!(said("\"a\" b\n").contains("after the closing quote"));
        assert!(said("\"\\q\"").contains("two digits"));
        assert!(said("\"\\x1\"").contains("two digits"));
        assert!(said("name \"a\"").contains("`=`"));
        assert!(said("\"\"").contains("empty"));
        assert!(said(&format!("\"{}\"", "a".repeat(65))).contains("65 bytes"));
    }

    #[test]
    fn collected_words_are_bounded_and_given_ones_are_not() {
        let mut dictionary = Dictionary::default();
        (0..2000u32).for_each(|n| dictionary.collect(&n.to_le_bytes()));
        assert_eq!(dictionary.tokens().len(), COLLECTED_MAX);
        dictionary.give(b"more");
        assert_eq!(dictionary.tokens().len(), COLLECTED_MAX + 1);
    }

    #[test]
    fn suggested_words_have_a_bound_of_their_own_and_stay_apart_until_they_are_met() {
        let mut dictionary = Dictionary::default();
        dictionary.give(b"given");
        dictionary.suggest(b"given");
        dictionary.suggest(b"");
        assert!(dictionary.suggested().is_empty());
        (0..1000u32).chain(0..9).for_each(|n| dictionary.suggest(&n.to_le_bytes()));
        assert_eq!((dictionary.suggested().len(), dictionary.tokens().len()), (SUGGESTED_MAX, 1));
        (0..2000u32).for_each(|n| dictionary.collect(&n.to_le_bytes()));
        assert_eq!((dictionary.suggested().len(), dictionary.tokens().len()), (0, COLLECTED_MAX + 1));
    }
}
