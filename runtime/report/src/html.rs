//! Words of programs in pages of HTML.
//!
//! ```text
//! a < b  ─▶  a &lt; b
//! ```
//!
//! Invariant: whatever a program calls its things, the page stays the page that we wrote.

/// A word for HTML, in text and in attributes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' => out.push(c),
            c => out.push(visible_character(c)),
        }
    }
    out
}

/// A word for a script that sets it as text.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(visible_character).collect()
}

/// Characters that would turn the text around, break its lines or vanish are shown.
fn visible_character(c: char) -> char {
    let turns = ('\u{2028}'..='\u{202e}').contains(&c) || ('\u{2066}'..='\u{2069}').contains(&c);
    let vanishes = c == '\u{200b}' || ('\u{2060}'..='\u{2064}').contains(&c);
    if c.is_control() || turns || vanishes { '\u{fffd}' } else { c }
}
