//! Text in the notations in which other programs write it, turned into the text that they mean.
//!
//! ```text
//! backslash   \u0041 \x41 \u{41} \101 \"      A A A A "         JSON, JavaScript, Rust, C
//! HTML        &#65; &#x41; &amp; &eacute;     A A & é
//! percent     %41 %c3%a9                      A é               URLs; in forms `+` is a space, too
//! ```
//!
//! Each decoded byte knows where in the source it was written ([`DecodedText::source`]), so that what is found in the
//! meaning can be replaced in the text.
//!
//! Invariants: one pass, linear time; what is no escape stays as it is; the decoded text is never longer than the source.
//! Not here: Base64 and hexadecimal, which write all of a text and not single characters (`dense.rs`).

use std::ops::Range;

/// Digits of one numeric character reference; a longer one is none. HTML allows any number of zeros.
const REFERENCE_DIGITS_MAX: usize = 8;
/// Bytes of a named character reference.
const NAME_BYTES_MAX: usize = 8;

/// Characters of ASCII that HTML names.
const ASCII_NAMES: &[(&str, char)] = &[
    ("amp", '&'),
    ("AMP", '&'),
    ("lt", '<'),
    ("LT", '<'),
    ("gt", '>'),
    ("GT", '>'),
    ("quot", '"'),
    ("QUOT", '"'),
    ("apos", '\''),
    ("Tab", '\t'),
    ("NewLine", '\n'),
    ("excl", '!'),
    ("num", '#'),
    ("dollar", '$'),
    ("percnt", '%'),
    ("lpar", '('),
    ("rpar", ')'),
    ("ast", '*'),
    ("midast", '*'),
    ("plus", '+'),
    ("comma", ','),
    ("period", '.'),
    ("sol", '/'),
    ("colon", ':'),
    ("semi", ';'),
    ("equals", '='),
    ("quest", '?'),
    ("commat", '@'),
    ("lsqb", '['),
    ("lbrack", '['),
    ("bsol", '\\'),
    ("rsqb", ']'),
    ("rbrack", ']'),
    ("Hat", '^'),
    ("lowbar", '_'),
    ("UnderBar", '_'),
    ("grave", '`'),
    ("lcub", '{'),
    ("lbrace", '{'),
    ("verbar", '|'),
    ("vert", '|'),
    ("rcub", '}'),
    ("rbrace", '}'),
];

/// The names of U+00A0 to U+00FF, in this order.
const LATIN_NAMES: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn \
    sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml \
    Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times \
    Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute \
    ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml \
    yacute thorn yuml";

/// Which escapes are understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notation {
    backslash: bool,
    html: bool,
    percent: bool,
    plus: bool,
}

impl Notation {
    const NONE: Notation = Notation { backslash: false, html: false, percent: false, plus: false };
    /// Backslash escapes.
    pub(super) const BACKSLASH: Notation = Notation { backslash: true, ..Notation::NONE };
    /// Character references.
    pub(super) const HTML: Notation = Notation { html: true, ..Notation::NONE };
    /// Percent-encoding.
    pub(super) const PERCENT: Notation = Notation { percent: true, ..Notation::NONE };
    /// Percent-encoding, and `+` for a space.
    pub(super) const FORM: Notation = Notation { percent: true, plus: true, ..Notation::NONE };
    /// All but `+`, side by side.
    pub(super) const ALL: Notation = Notation { backslash: true, html: true, percent: true, plus: false };

    /// The text that `bytes` means; `None` if nothing in it is an escape.
    pub(super) fn decode(self, bytes: &[u8]) -> Option<DecodedText> {
        let mut text = DecodedText { bytes: Vec::new(), segments: Vec::new(), source_len: bytes.len() };
        let (mut at, mut copied) = (0, 0);
        while at < bytes.len() {
            let escape = match bytes[at] {
                b'\\' if self.backslash => backslash(&bytes[at..]),
                b'&' if self.html => reference(&bytes[at..]),
                b'%' if self.percent => percent(&bytes[at..]),
                b'+' if self.plus => Some(Escape::byte(b' ', 1)),
                _ => None,
            };
            let Some(escape) = escape else {
                at += 1;
                continue;
            };
            text.verbatim(bytes, copied..at);
            text.segments.push(Segment { decoded: text.bytes.len(), source: at, verbatim: false });
            text.bytes.extend_from_slice(&escape.bytes[..escape.count]);
            at += escape.length;
            copied = at;
        }
        if text.segments.is_empty() {
            return None;
        }
        text.verbatim(bytes, copied..bytes.len());
        Some(text)
    }
}

impl Notation {
    /// `text` as it is written where `source` stands, by the escapes that are in `source`.
    pub(super) fn encode(self, source: &[u8], text: &[u8]) -> Vec<u8> {
        let has = |understood: bool, byte: u8| understood && source.contains(&byte);
        if has(self.percent, b'%') || has(self.plus, b'+') {
            return super::percent_encoded(text).into_bytes();
        }
        let each: fn(u8) -> Vec<u8> = if has(self.backslash, b'\\') {
            json
        } else if has(self.html, b'&') {
            html
        } else {
            |byte| vec![byte]
        };
        text.iter().flat_map(|byte| each(*byte)).collect()
    }
}

/// A byte in a JSON text.
fn json(byte: u8) -> Vec<u8> {
    match byte {
        b'"' | b'\\' => vec![b'\\', byte],
        0..=0x1f => format!("\\u{byte:04x}").into_bytes(),
        other => vec![other],
    }
}

/// A byte in an HTML text.
fn html(byte: u8) -> Vec<u8> {
    match byte {
        b'<' => b"&lt;".to_vec(),
        b'>' => b"&gt;".to_vec(),
        b'&' => b"&amp;".to_vec(),
        b'"' | b'\'' => format!("&#{byte};").into_bytes(),
        other => vec![other],
    }
}

/// A decoded text, and where each of its bytes was written.
#[derive(Debug)]
pub(super) struct DecodedText {
    /// What the source means.
    pub(super) bytes: Vec<u8>,
    segments: Vec<Segment>,
    source_len: usize,
}

/// A stretch that was copied, or one escape.
#[derive(Debug)]
struct Segment {
    decoded: usize,
    source: usize,
    verbatim: bool,
}

impl DecodedText {
    fn verbatim(&mut self, source: &[u8], range: Range<usize>) {
        if !range.is_empty() {
            self.segments.push(Segment { decoded: self.bytes.len(), source: range.start, verbatim: true });
            self.bytes.extend_from_slice(&source[range]);
        }
    }

    /// Where in the source the decoded bytes `range` were written: all of each escape that gave one of them.
    pub(super) fn source(&self, range: Range<usize>) -> Range<usize> {
        let of = |decoded: usize| self.segments.partition_point(|segment| segment.decoded <= decoded) - 1;
        let (first, last) = (of(range.start), of(range.end - 1));
        let start = match &self.segments[first] {
            segment if segment.verbatim => segment.source + (range.start - segment.decoded),
            segment => segment.source,
        };
        let end = match &self.segments[last] {
            segment if segment.verbatim => segment.source + (range.end - segment.decoded),
            _ => self.segments.get(last + 1).map_or(self.source_len, |next| next.source),
        };
        start..end
    }
}

/// One escape: the bytes that it means, and its length in the source.
struct Escape {
    bytes: [u8; 4],
    count: usize,
    length: usize,
}

impl Escape {
    fn byte(byte: u8, length: usize) -> Escape {
        Escape { bytes: [byte, 0, 0, 0], count: 1, length }
    }

    fn character(number: u32, length: usize) -> Option<Escape> {
        let mut bytes = [0; 4];
        let count = char::from_u32(number)?.encode_utf8(&mut bytes).len();
        Some(Escape { bytes, count, length })
    }
}

/// The number that `digits` are, all of them.
fn number(digits: Option<&[u8]>, radix: u32) -> Option<u32> {
    let digits = digits.filter(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_alphanumeric))?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, radix).ok()
}

fn percent(text: &[u8]) -> Option<Escape> {
    Some(Escape::byte(number(text.get(1..3), 16)? as u8, 3))
}

fn backslash(text: &[u8]) -> Option<Escape> {
    let unit = |at: usize| number(text.get(at..at + 4), 16);
    match *text.get(1)? {
        b'u' if text.get(2) == Some(&b'{') => {
            let end = text.iter().take(4 + REFERENCE_DIGITS_MAX).position(|byte| *byte == b'}')?;
            Escape::character(number(text.get(3..end), 16)?, end + 1)
        }
        b'u' => {
            let high = unit(2)?;
            let low = (0xd800..0xdc00).contains(&high) && text.get(6..8) == Some(b"\\u");
            match unit(8).filter(|unit| low && (0xdc00..0xe000).contains(unit)) {
                Some(low) => Escape::character(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00), 12),
                None => Escape::character(high, 6),
            }
        }
        b'U' => Escape::character(number(text.get(2..10), 16)?, 10),
        b'x' => Some(Escape::byte(number(text.get(2..4), 16)? as u8, 4)),
        b'0'..=b'7' => {
            let digits = text[1..].iter().take(3).take_while(|byte| (b'0'..=b'7').contains(*byte)).count();
            Some(Escape::byte(u8::try_from(number(text.get(1..1 + digits), 8)?).ok()?, 1 + digits))
        }
        byte => {
            let meant = match byte {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'b' => 8,
                b'f' => 12,
                b'v' => 11,
                b'a' => 7,
                other => other,
            };
            Some(Escape::byte(meant, 2))
        }
    }
}

fn reference(text: &[u8]) -> Option<Escape> {
    let counted = |from: usize, of: fn(&u8) -> bool, max: usize| {
        from + text.get(from..).unwrap_or(&[]).iter().take(max).take_while(|byte| of(byte)).count()
    };
    // Browsers read a reference without its semicolon, too.
    let length = |end: usize| end + usize::from(text.get(end) == Some(&b';'));
    if text.get(1) == Some(&b'#') {
        let hexadecimal = matches!(text.get(2), Some(b'x' | b'X'));
        let (from, of, radix): (_, fn(&u8) -> bool, _) =
            if hexadecimal { (3, u8::is_ascii_hexdigit, 16) } else { (2, u8::is_ascii_digit, 10) };
        let end = counted(from, of, REFERENCE_DIGITS_MAX);
        return Escape::character(number(text.get(from..end), radix)?, length(end));
    }
    let end = counted(1, u8::is_ascii_alphanumeric, NAME_BYTES_MAX);
    let name = std::str::from_utf8(&text[1..end]).ok()?;
    let ascii = ASCII_NAMES.iter().find(|(known, _)| *known == name).map(|(_, character)| u32::from(*character));
    let latin = || LATIN_NAMES.split_ascii_whitespace().zip(0xa0..).find(|(known, _)| *known == name).map(|(_, at)| at);
    (text.get(end) == Some(&b';')).then(|| ascii.or_else(latin)).flatten().and_then(|at| Escape::character(at, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(notation: Notation, text: &str) -> String {
        let decoded = notation.decode(text.as_bytes());
        decoded.map_or_else(|| text.to_owned(), |text| String::from_utf8_lossy(&text.bytes).into_owned())
    }

    #[test]
    fn every_escape_means_its_character() {
        for (notation, text, expected) in [
            (Notation::BACKSLASH, r#"\u0041\x42\u{43}\U00000044\105\"\/\\\n\0."#, "ABCDE\"/\\\n\0."),
            (Notation::BACKSLASH, r"\u00e9 \ud83d\ude00 \ud83d \u12", "é 😀 \\ud83d \\u12"),
            (Notation::HTML, "&#65;&#x42;&#X43;&#0068;&amp;&eacute;&yuml;&nbsp;&sol;", "ABCD&éÿ\u{a0}/"),
            (Notation::HTML, "&#65 &#x; &# &none; & &amp &#x110000;", "A &#x; &# &none; & &amp &#x110000;"),
            (Notation::PERCENT, "%41%2f%2F%zz%4 +%c3%a9", "A//%zz%4 +é"),
            (Notation::FORM, "a+b%2Bc", "a b+c"),
            (Notation::ALL, r"%41\x42&#67;+", "ABC+"),
        ] {
            assert_eq!(decoded(notation, text), expected, "{text}");
        }
        for end in ["\\", "%", "%4", "&", "&#", "&#x", "\\u", "\\u{", "\\x4", "\\U0000"] {
            assert!(decoded(Notation::ALL, end).len() <= end.len(), "{end}");
        }
    }

    #[test]
    fn each_byte_knows_its_source() {
        let text = Notation::ALL.decode(br"ab%41\u00e9z").expect("escapes");
        assert_eq!(text.bytes, "abAéz".as_bytes());
        assert_eq!(text.source(0..2), 0..2);
        assert_eq!(text.source(1..3), 1..5);
        assert_eq!((text.source(3..4), text.source(4..5)), (5..11, 5..11), "both bytes of a character");
        assert_eq!(text.source(4..6), 5..12);
        assert_eq!(LATIN_NAMES.split_ascii_whitespace().count(), 96);
    }
}
