//! Text as it may be shown on a terminal: control characters of names, messages and outputs are written as escapes.
//!
//! ```text
//! panicked at "ESC ] 0 ; title BEL"   ─▶   panicked at "\u{1b}]0;title\u{7}"
//! ```
//!
//! The author of a program, a trace or a corpus chooses its names and messages. They must not move the reader's cursor,
//! set titles, overwrite lines, or show text in another order than it has.
//!
//! A person who talks to a program by hand (`run -i`) has asked for its screen: there colours, erasing and moves of the cursor are
//! passed on, and nothing else: no titles, no clipboard, no question that the terminal would answer into the program's input.
//!
//! Invariants: line ends and tabs stay; JSON stays the same JSON; text without control characters stays byte for byte. Of escape
//! sequences only the four of [`Style`] stay, where they were asked for.

use crate::Style;
use std::borrow::Cow;

/// `text` without characters that a terminal obeys. With `coloured`, the marks of [`Style::COLOUR`] stay.
#[must_use]
pub fn printable(text: &str, coloured: bool) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    // Raw in JSON they are parts of strings, in which only this form means the same.
    let is_json = text.trim_start().starts_with(['{', '[']);
    let Style { good, bad, faint, end, .. } = Style::COLOUR;
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(character) = rest.chars().next() {
        let mark = [good, bad, faint, end].into_iter().find(|mark| coloured && rest.starts_with(mark));
        let taken = match mark {
            Some(mark) => mark,
            None => &rest[..character.len_utf8()],
        };
        match mark.is_some() || !is_obeyed(character) || rest.starts_with("\r\n") {
            true => shown.push_str(taken),
            false if is_json => shown.push_str(&format!("\\u{:04x}", u32::from(character))),
            false => shown.extend(character.escape_unicode()),
        }
        rest = &rest[taken.len()..];
    }
    Cow::Owned(shown)
}

/// The bytes that a program has written, as they may be shown on a terminal. `held` carries the beginning of a character
/// from one piece to the next.
#[must_use]
pub fn printable_bytes(bytes: &[u8], held: &mut Vec<u8>) -> Vec<u8> {
    shown_bytes(bytes, held, false)
}

/// The same for a person who talks to the program: its colours, and what draws on the lines of its screen, are passed on.
#[must_use]
pub fn dialogue_bytes(bytes: &[u8], held: &mut Vec<u8>) -> Vec<u8> {
    shown_bytes(bytes, held, true)
}

fn shown_bytes(bytes: &[u8], held: &mut Vec<u8>, is_dialogue: bool) -> Vec<u8> {
    held.extend_from_slice(bytes);
    let mut shown = Vec::with_capacity(held.len());
    let mut rest = held.as_slice();
    while let Some((&byte, behind)) = rest.split_first() {
        match if is_dialogue { drawing(rest) } else { DrawingSequence::None } {
            DrawingSequence::None => {}
            DrawingSequence::Cut => break,
            DrawingSequence::Whole(length) => {
                shown.extend_from_slice(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
        }
        let (taken, obeyed) = match (byte, behind) {
            // Cut before it is known what it is: a control character of two bytes, or a line end.
            (0xC2 | b'\r', []) => break,
            (b'\r', [b'\n', ..]) | (b'\n' | b'\t', _) => (1, None),
            (0xC2, &[next @ 0x80..=0x9F, ..]) => (2, Some(u32::from(next))),
            (0..0x20 | 0x7F, _) => (1, Some(u32::from(byte))),
            _ => (1, None),
        };
        match obeyed {
            Some(code) => shown.extend_from_slice(format!("\\u{{{code:x}}}").as_bytes()),
            None => shown.extend_from_slice(&rest[..taken]),
        }
        rest = &rest[taken..];
    }
    *held = rest.to_vec();
    shown
}

/// What bytes begin with, of what draws on the lines of a screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DrawingSequence {
    None,
    /// An incomplete one, perhaps.
    Cut,
    /// One of this many bytes.
    Whole(usize),
}

/// Bytes of such a sequence, at the most: colours of 24 bits for text and ground are shorter.
const SEQUENCE_BYTES_MAX: usize = 48;
/// Last bytes of control sequences (ECMA-48, CSI) that draw: moves, erasing, insertion and deletion in lines, colours.
const DRAWING: &[u8] = b"ABCDEFGHJKLMPSTX@dfm`";

fn drawing(bytes: &[u8]) -> DrawingSequence {
    match bytes {
        [b'\r' | 0x08 | 0x07, ..] => DrawingSequence::Whole(1),
        [0x1b] => DrawingSequence::Cut,
        [0x1b, b'[', rest @ ..] => {
            let parameters = rest.iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b';' | b':')).count();
            match rest.get(parameters) {
                _ if parameters > SEQUENCE_BYTES_MAX => DrawingSequence::None,
                None => DrawingSequence::Cut,
                Some(last) if DRAWING.contains(last) => DrawingSequence::Whole(2 + parameters + 1),
                Some(_) => DrawingSequence::None,
            }
        }
        _ => DrawingSequence::None,
    }
}

/// Whether a terminal obeys a character instead of showing it: controls, marks of the direction of text, and what takes no place, by which two
/// names look like one.
fn is_obeyed(character: char) -> bool {
    let vanishes = matches!(character, '\u{200b}' | '\u{2060}'..='\u{2064}');
    let turns = matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || vanishes || character.is_control() && !matches!(character, '\n' | '\t')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_written_as_an_escape() {
        for plain in ["", "plain\n\ttext", "ünï — 日本 ✓", "{\"a\": \"b\"}"] {
            assert!(matches!(printable(plain, false), Cow::Borrowed(text) if text == plain));
        }
        assert_eq!(
            printable("a\x1b]0;t\x07\u{9b}2J\rb\u{202e}c\x7f", false),
            "a\\u{1b}]0;t\\u{7}\\u{9b}2J\\u{d}b\\u{202e}c\\u{7f}"
        );
        assert_eq!(
            printable("a\u{200b}b\u{2060}.wat", false),
            "a\\u{200b}b\\u{2060}.wat",
            "no other name looks like it"
        );
        assert_eq!(printable("windows\r\nlines\x1b", false), "windows\r\nlines\\u{1b}");
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({"name": "a\u{9b}2J\u{7f}\u{202e}b"});
        let text = format!("{value:#}\n");
        let shown = printable(&text, false);
        assert!(!shown.contains(is_obeyed), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("it is JSON"), value);
    }

    #[test]
    fn only_our_own_marks_stay_and_only_in_colour() {
        let Style { bad, end, .. } = Style::COLOUR;
        let text = format!("{bad}error:{end} \x1b[5mblinks");
        assert_eq!(printable(&text, true), format!("{bad}error:{end} \\u{{1b}}[5mblinks"));
        assert!(!printable(&text, false).contains('\x1b'));
    }

    #[test]
    fn output_of_a_program_is_shown_alike_however_it_is_cut() {
        let written = "a\x1b[2Jb\u{9b}c\r\nd\re\tf\u{e9}\n".as_bytes();
        let expected = "a\\u{1b}[2Jb\\u{9b}c\r\nd\\u{d}e\tf\u{e9}\n".as_bytes();
        for size in 1..=written.len() {
            let mut held = Vec::new();
            let shown: Vec<u8> = written.chunks(size).flat_map(|piece| printable_bytes(piece, &mut held)).collect();
            assert_eq!(shown, expected, "in pieces of {size}");
            assert!(held.is_empty());
        }
    }

    #[test]
    fn a_dialogue_has_its_colours_and_nothing_that_leaves_its_lines() {
        let written =
            "\x1b[1;31mred\x1b[0m\r\x1b[K\x1b]0;title\x07\x1b[6n\x1b[?1049h\x1bc\u{9b}2J\x1bP1\x08\n".as_bytes();
        let expected =
            "\x1b[1;31mred\x1b[0m\r\x1b[K\\u{1b}]0;title\x07\\u{1b}[6n\\u{1b}[?1049h\\u{1b}c\\u{9b}2J\\u{1b}P1\x08\n";
        for size in 1..=written.len() {
            let mut held = Vec::new();
            let shown: Vec<u8> = written.chunks(size).flat_map(|piece| dialogue_bytes(piece, &mut held)).collect();
            assert_eq!(String::from_utf8_lossy(&shown), expected, "in pieces of {size}");
            assert!(held.is_empty());
        }
        let endless = [b"\x1b[".as_slice(), &[b'1'; 100]].concat();
        assert!(dialogue_bytes(&endless, &mut Vec::new()).starts_with(b"\\u{1b}["), "what never ends is no sequence");
    }
}
