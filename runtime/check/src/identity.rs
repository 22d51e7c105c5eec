//! The identity of a failure, finer than its signature: what it says, with the values masked.
//!
//! ```text
//! key 2: got Some(17), expected None      key #: got Some(#), expected None
//! key 5: got Some(3), expected None       key #: got Some(#), expected None     the same failure
//! key 1: got None, expected Some(5)       key #: got None, expected Some(#)     another: the sides have changed places
//! ```
//!
//! A signature names a property or a place, and one property can fail in several ways. A search that changes the run of a
//! failure must not leave it for another one of the same signature, so it compares identities.
//!
//! Masked are numbers, texts in quotes, and the elements of lists, sets and maps: what differs between two runs of one fault.
//! Kept are words, names of variants and fields, and whether a side is there: `None`, `nothing`, `""`, `[]`, and a list with a `None`; also the
//! order of two numbers that are compared, and which parts of a list's elements are alike (`relations`). Neighbours
//! that are alike count once, so that a list of nodes or of lines may become shorter.
//!
//! Invariant: masking ends on any text, in time linear in its length.
//! Not here: which candidates a search tries (`fozzy-search`).

mod relations;

use crate::panic::last_panic;
use fozzy_trace::facts::FailureKind;
use fozzy_trace::{Execution, ExecutionEnd, FailureSignature, FindingKind};
use std::collections::BTreeMap;

/// What makes two failures the same one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailureIdentity {
    /// Its signature.
    pub signature: FailureSignature,
    /// What it says, with the values masked; empty when the signature says it all.
    pub wording: String,
}

impl FailureIdentity {
    /// Whether it is `other` at another place: the same on the same machine, in another file, line or function.
    #[must_use]
    pub fn is_moved(&self, other: &FailureIdentity) -> bool {
        let (own, others) = (&self.signature, &other.signature);
        let is_alike = own.kind == others.kind && self.wording == other.wording;
        match own.kind {
            // Their sites are places.
            FindingKind::Panic | FindingKind::Assertion | FindingKind::Invariant => {
                is_alike && !self.wording.is_empty() && machine(&own.site) == machine(&others.site)
            }
            // Their sites begin with what happened.
            FindingKind::Trap | FindingKind::MemoryError | FindingKind::Timeout | FindingKind::Hang => {
                is_alike && own.site.split(" in ").next() == others.site.split(" in ").next()
            }
            _ => false,
        }
    }
}

/// The machine of a site, if it is another one than the target's.
fn machine(site: &str) -> Option<&str> {
    site.strip_prefix("node ")?.split(": ").next()
}

/// Bytes of a message that are masked: more than are kept of any, so that none is cut within a list, whose end would be missing.
const TEXT_BYTES_MAX: usize = 32 << 10;
/// Lines of a masked message that count: the property, and both sides of a comparison under it. What follows is an account of
/// how it came to that, which is shorter in a shorter run.
const LINES_MAX: usize = 3;
/// Brackets inside of brackets whose names are kept; what is deeper is a value as a whole.
const DEPTH_MAX: u32 = 32;

/// The own words of a failure: what its message says of the failure itself, without its place and the log before it.
pub(crate) fn own_words(end: &ExecutionEnd, stderr: &[u8]) -> String {
    match end {
        ExecutionEnd::Failed { failure } => match failure.kind {
            FailureKind::Assertion | FailureKind::Invariant | FailureKind::Panic => failure.message.clone(),
            // Which tasks wait is an account of the run; the file is wrong as a whole.
            FailureKind::Deadlock | FailureKind::Invalid | FailureKind::History => String::new(),
        },
        ExecutionEnd::Trapped { trap } if trap.contains("unreachable") => {
            last_panic(stderr).map(|panic| panic.message).unwrap_or_default()
        }
        // An exit code alone does not tell errors apart: the last line of standard error does.
        ExecutionEnd::Exited { code } if *code != 0 => {
            let text = String::from_utf8_lossy(stderr);
            text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
        }
        _ => String::new(),
    }
}

impl FailureIdentity {
    /// The identity of what is no failure of a program, and has no words of its own.
    #[must_use]
    pub fn of(signature: FailureSignature) -> FailureIdentity {
        FailureIdentity { signature, wording: String::new() }
    }
}

/// The identity of an execution's failure; `None` when it has none.
#[must_use]
pub fn identify(execution: &Execution) -> Option<FailureIdentity> {
    let first = crate::judge::judged(execution).into_iter().next()?;
    let signature = first.signature();
    Some(FailureIdentity { signature, wording: worded(&first.words) })
}

/// A text with its values masked.
pub(crate) fn masked(text: &str) -> String {
    lines_of(&bounded_tokens(text)).join("\n")
}

/// The same, and what relates the values to each other.
fn worded(text: &str) -> String {
    let tokens = bounded_tokens(text);
    let mut lines = lines_of(&tokens);
    lines.extend(relations::of(own_lines(&tokens)));
    lines.join("\n")
}

fn bounded_tokens(text: &str) -> Vec<Token> {
    let mut end = text.len().min(TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    tokens(&text[..end])
}

fn lines_of(tokens: &[Token]) -> Vec<String> {
    mask(tokens, 0).lines().take(LINES_MAX).map(str::to_owned).collect()
}

/// The tokens of the lines that count.
fn own_lines(tokens: &[Token]) -> &[Token] {
    let (mut lines, mut at) = (1, 0);
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Line if lines == LINES_MAX => return &tokens[..at],
            Token::Line => lines += 1,
            // Inside of brackets, a new line is layout.
            Token::Open(_, length) => at += length,
            _ => {}
        }
        at += 1;
    }
    tokens
}

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A word, or a number as `#`, and as it is written.
    Word {
        mask: String,
        raw: String,
    },
    /// A text in quotes.
    Quoted(char, String),
    /// An opening bracket, and how many tokens further the closing one stands.
    Open(char, usize),
    Close(char),
    Line,
    Blank,
    Other(char),
}

/// Takes a text apart.
fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let (mut found, mut at) = (Vec::new(), 0);
    let mut quotes = QuoteEnds::default();
    while let Some(c) = chars.get(at).copied() {
        let next = chars.get(at + 1).copied();
        let after_word = at > 0 && is_word(chars[at - 1]);
        let begins_quote = c == '"' || c == '\'' && !after_word;
        let quoted = begins_quote.then(|| quotes.end(&chars, at)).flatten();
        let (token, length) = match (c, quoted) {
            (quote, Some(end)) => (Token::Quoted(quote, chars[at + 1..end].iter().collect()), end + 1 - at),
            (c, None) if is_word(c) => {
                let length = word_length(&chars[at..]);
                (word(&chars[at..at + length], 0), length)
            }
            // A sign belongs to its number.
            ('-' | '+', None) if !after_word && next.is_some_and(|next| next.is_ascii_digit()) => {
                let length = 1 + word_length(&chars[at + 1..]);
                (word(&chars[at..at + length], 1), length)
            }
            ('[' | '(' | '{', None) => (Token::Open(c, 0), 1),
            (']' | ')' | '}', None) => (Token::Close(c), 1),
            ('\n', None) => (Token::Line, 1),
            (c, None) if c.is_whitespace() => (Token::Blank, 1),
            (c, None) => (Token::Other(c), 1),
        };
        found.push(token);
        at += length;
    }
    match_brackets(&mut found);
    found
}

/// A word or a number, whose sign is `sign` characters long.
fn word(chars: &[char], sign: usize) -> Token {
    Token::Word { mask: masked_word(&chars[sign..]), raw: chars.iter().collect() }
}

/// Tells opening brackets where they are closed; those without a counterpart are characters like others.
fn match_brackets(tokens: &mut [Token]) {
    let mut open: Vec<(usize, char)> = Vec::new();
    // How many of each kind are open: what is looked for below is there, and all that is passed over on the way to it goes.
    let mut counts = BTreeMap::from([(']', 0u32), (')', 0), ('}', 0)]);
    for at in 0..tokens.len() {
        match tokens[at] {
            Token::Open(bracket, _) => {
                open.push((at, bracket));
                *counts.entry(closing(bracket)).or_default() += 1;
                tokens[at] = Token::Other(bracket);
            }
            Token::Close(bracket) if counts.get(&bracket).is_none_or(|open| *open == 0) => {
                tokens[at] = Token::Other(bracket);
            }
            Token::Close(bracket) => {
                while let Some((from, opened)) = open.pop() {
                    *counts.entry(closing(opened)).or_default() -= 1;
                    if closing(opened) == bracket {
                        tokens[from] = Token::Open(opened, at - from);
                        break;
                    }
                }
            }
            _ => {}
        }
    }
}

const fn closing(open: char) -> char {
    match open {
        '[' => ']',
        '(' => ')',
        _ => '}',
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Where texts in quotes end.
#[derive(Default)]
struct QuoteEnds {
    /// Up to where there is no end for each kind of quote, as one that was looked for from further left was not found.
    none_before: BTreeMap<char, usize>,
}

impl QuoteEnds {
    /// Where the text in quotes that begins at `from` ends, if it ends in this line. Behind one that does not, quotes of its kind
    /// are characters for the rest of the line.
    fn end(&mut self, chars: &[char], from: usize) -> Option<usize> {
        let quote = chars[from];
        if self.none_before.get(&quote).is_some_and(|end| from < *end) {
            return None;
        }
        let mut at = from + 1;
        loop {
            match chars.get(at) {
                Some('\\') => at += 2,
                None | Some('\n') => {
                    self.none_before.insert(quote, at);
                    return None;
                }
                Some(c) if *c == quote => return Some(at),
                Some(_) => at += 1,
            }
        }
    }
}

/// The length of the word or number that these begin with.
fn word_length(chars: &[char]) -> usize {
    let is_number = chars[0].is_ascii_digit();
    let digit_follows = |at: usize| chars.get(at + 1).is_some_and(char::is_ascii_digit);
    let mut at = 0;
    while let Some(c) = chars.get(at) {
        let is_inside = match c {
            '.' => is_number && digit_follows(at),
            '-' | '+' => is_number && at > 0 && matches!(chars[at - 1], 'e' | 'E') && digit_follows(at),
            c => is_word(*c),
        };
        if !is_inside {
            break;
        }
        at += 1;
    }
    at
}

/// A word as it is; of `n0` and `key_12` the name; `#` for what has letters after digits, such as `4f1a` and `3ms`.
fn masked_word(word: &[char]) -> String {
    let name: String = word.iter().take_while(|c| !c.is_ascii_digit()).collect();
    let rest = &word[name.chars().count()..];
    match rest.iter().all(char::is_ascii_digit) {
        _ if matches!(word, ['N', 'a', 'N'] | ['i', 'n', 'f']) => "#".to_owned(),
        true if rest.is_empty() => name,
        true => format!("{name}#"),
        false => "#".to_owned(),
    }
}

/// A masked text, part by part.
#[derive(Default)]
struct MaskedParts {
    done: String,
    previous: String,
    part: String,
}

impl MaskedParts {
    /// A part ends. One that is like the one before it says nothing new.
    fn separate(&mut self, separator: &str) {
        let part = std::mem::take(&mut self.part).trim().to_owned();
        if part != self.previous && !part.is_empty() {
            self.done.push_str(&part);
            self.done.push_str(separator);
        }
        self.previous = part;
    }
}

fn mask(tokens: &[Token], depth: u32) -> String {
    let (mut parts, mut at) = (MaskedParts::default(), 0);
    while let Some(token) = tokens.get(at) {
        at += 1;
        match token {
            Token::Word { mask, .. } => parts.part.push_str(mask),
            Token::Quoted(quote, text) if text.is_empty() => parts.part.extend([*quote, *quote]),
            Token::Quoted(quote, _) => parts.part.extend([*quote, '…', *quote]),
            Token::Open(open, length) => {
                let inside = &tokens[at..at + length - 1];
                let has_fields = *open == '(' || *open == '{' && is_after_type(&tokens[..at - 1]);
                let is_empty = inside.iter().all(|token| matches!(token, Token::Blank | Token::Line));
                let inside = match is_empty {
                    true => String::new(),
                    false if has_fields && depth < DEPTH_MAX => mask(inside, depth + 1),
                    false if *open == '[' && lacks_element(inside) => "… None".to_owned(),
                    false => "…".to_owned(),
                };
                parts.part.push(*open);
                parts.part.push_str(&inside);
                parts.part.push(closing(*open));
                at += length;
            }
            // Inside of brackets, a new line is layout.
            Token::Line if depth == 0 => parts.separate("\n"),
            Token::Line | Token::Blank => {
                if !parts.part.is_empty() && !parts.part.ends_with(' ') {
                    parts.part.push(' ');
                }
            }
            Token::Other(',') => parts.separate(", "),
            Token::Other(';') => parts.separate("; "),
            // A label is a part, so that `under "k": n0 "a", n1 "b"` has two parts that are alike.
            Token::Other(':') if matches!(tokens.get(at), None | Some(Token::Blank | Token::Line)) => {
                parts.part.push(':');
                parts.separate(" ");
            }
            Token::Close(c) | Token::Other(c) => parts.part.push(*c),
        }
    }
    parts.separate("");
    parts.done
}

/// Whether a list has an element that is not there: of what several machines answer, one has nothing.
fn lacks_element(inside: &[Token]) -> bool {
    let (mut at, mut element) = (0, Vec::new());
    let is_absent = |element: &[&Token]| matches!(element, [Token::Word { mask, .. }] if ["None", "nothing", "null", "nil"].contains(&&**mask));
    while let Some(token) = inside.get(at) {
        at += 1;
        match token {
            Token::Other(',') if is_absent(&element) => return true,
            Token::Other(',') => element.clear(),
            Token::Blank | Token::Line => {}
            Token::Open(_, length) => {
                element.push(token);
                at += length;
            }
            _ => element.push(token),
        }
    }
    is_absent(&element)
}

/// Whether `Point {` stands here, and not `{` alone or after a word of a sentence.
fn is_after_type(before: &[Token]) -> bool {
    let word = match before {
        [.., Token::Word { mask, .. }, Token::Blank] | [.., Token::Word { mask, .. }] => mask,
        _ => return false,
    };
    word.starts_with(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::tests::execution;
    use fozzy_trace::facts::ReportedFailure;

    #[test]
    fn values_are_masked_and_sides_are_not() {
        for (text, expected) in [
            ("key 2: got Some(17), expected None", "key #: got Some(#), expected None"),
            ("key 1: got None, expected Some(5)", "key #: got None, expected Some(#)"),
            (r#"expected "5" == 15"#, "expected \"…\" == #"),
            (r#"`a`: expected "1", found """#, r#"`a`: expected "…", found """#),
            (r#"`a`: expected "1", found nothing"#, r#"`a`: expected "…", found nothing"#),
            (
                r#"different values under "k": n0 "a", n1 "b", n2 nothing"#,
                r#"different values under "…": n# "…", n# nothing"#,
            ),
            ("balance is -3 after 1.5e-7 s and 300ms", "balance is # after # s and #"),
            ("left: Point { x: 1, tags: [\"a\", \"b\"] }", "left: Point {x: #, tags: […]}"),
            ("left: Empty {  }, right: []", "left: Empty {}, right: []"),
            ("the set {1, 2} and the map {\"a\": 1}", "the set {…} and the map {…}"),
            ("Err(Os { code: 44, kind: NotFound })", "Err(Os {code: #, kind: NotFound})"),
            ("it isn't 'x', and 0x1f is not 4f1a", "it isn't '…', and # is not #"),
            ("left: 3\n right: 4\nlog\nmore", "left: #\nright: #\nlog"),
            ("op 1\nop 2\nop 3\nend", "op #\nend"),
            ("[\n  1,\n  2\n]", "[…]"),
            (r#"b: [Some((3, "4 by n1")), Some((3, "3 by n2"))]"#, "b: […]"),
            (r#"b: [Some((1, "1 by n0")), None, Some((1, "1 by n0"))]"#, "b: [… None]"),
            ("[Some(None), Nonesuch], [\n  1,\n  None,\n]", "[…], [… None]"),
            ("{None, 1}", "{…}"),
            (") ( \" ' { [", ") ( \" ' { ["),
            ("", ""),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
    }

    #[test]
    fn any_text_is_masked() {
        let deep = "(".repeat(TEXT_BYTES_MAX) + &")".repeat(TEXT_BYTES_MAX);
        assert!(masked(&deep).len() <= deep.len());
        let nested = "(".repeat(1000) + &")".repeat(1000);
        assert!(masked(&nested).contains('…'));
        masked(&"ä\\\"".repeat(TEXT_BYTES_MAX));
    }

    #[test]
    fn a_long_list_is_masked_as_a_short_one_is() {
        let sides = |elements: usize| {
            let list = |element: &str| vec![element; elements].join(", ");
            format!("assertion `left == right` failed\n  left: [{}]\n right: [{}]", list("1"), list("\"b\""))
        };
        assert_eq!(masked(&sides(1_500)), masked(&sides(3)));
        assert!(masked(&sides(1_500)).ends_with("right: […]"));
        assert_eq!(masked("\"a\\\" b\n\"c\""), "\"a\\\" b\n\"…\"", "a new line begins anew");
    }

    #[test]
    fn a_failure_moves_with_the_same_words_only() {
        let of = |kind, site: &str, wording: &str| FailureIdentity {
            signature: FailureSignature { kind, site: site.to_owned() },
            wording: wording.to_owned(),
        };
        let panic = |site, wording| of(FindingKind::Panic, site, wording);
        let there = panic("src/a.rs:1:2", "lost # of #");
        assert!(panic("src/b.rs:7:9", "lost # of #").is_moved(&there));
        assert!(!panic("src/b.rs:7:9", "twice").is_moved(&there));
        assert!(!panic("node b: src/a.rs:1:2", "lost # of #").is_moved(&there), "another machine");
        assert!(!panic("src/b.rs:7:9", "").is_moved(&panic("src/a.rs:1:2", "")), "no words tell nothing");
        assert!(!of(FindingKind::Assertion, "src/a.rs:1:2", "lost # of #").is_moved(&there));
        let trap = |site| of(FindingKind::Trap, site, "");
        assert!(trap("divide by zero in f < g").is_moved(&trap("divide by zero in h")));
        assert!(!trap("out of bounds in f < g").is_moved(&trap("divide by zero in f < g")));
        let exit = |site| of(FindingKind::TargetBehavior, site, "bad");
        assert!(!exit("exit code 3").is_moved(&exit("exit code 4")));
    }

    #[test]
    fn an_identity_is_finer_than_a_signature_and_knows_no_place() {
        let failed = |message: &str| {
            let failure = ReportedFailure::new(FailureKind::Assertion, "p", message);
            identify(&execution(ExecutionEnd::Failed { failure }, "", &[])).expect("it failed")
        };
        assert_eq!(failed("got Some(1), expected None"), failed("got Some(2), expected None"));
        let (one, other) = (failed("got Some(1), expected None"), failed("got None, expected Some(1)"));
        assert_eq!(one.signature, other.signature);
        assert_ne!(one, other);
        let exited = |stderr: &str| identify(&execution(ExecutionEnd::Exited { code: 1 }, stderr, &[]));
        assert_eq!(exited("started\nerror: no file 7\n"), exited("error: no file 9\n\n"));
        assert_ne!(exited("error: no file 7\n"), exited("error: no room\n"));
        assert_eq!(identify(&execution(ExecutionEnd::Exited { code: 0 }, "x", &[])), None);
        let trap = "wasm `unreachable` instruction executed";
        let panicked = |message: &str| {
            let stderr = format!("thread 'main' panicked at src/a.rs:1:2:\n{message}\n");
            identify(&execution(ExecutionEnd::Trapped { trap: trap.into() }, &stderr, &[]))
        };
        assert_eq!(panicked("left: Some(1)"), panicked("left: Some(2)"));
        assert_ne!(panicked("left: Some(1)"), panicked("left: None"));
    }
}
