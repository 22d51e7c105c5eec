//! Patterns of plans: `*` stands for any characters, also none; everything else for itself.
//!
//! Example: `matches("GET /orders/*", "GET /orders/7/items")`.

/// Whether the whole of `text` is described by `pattern`. Takes time proportional to the product of both lengths
/// at the most.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where the last star stands, and how far its characters reach.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            star = Some((p, t));
            p += 1;
        } else if pattern.get(p) == Some(&text[t]) {
            p += 1;
            t += 1;
        } else if let Some((at, reach)) = star {
            star = Some((at, reach + 1));
            p = at + 1;
            t = reach + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

/// Whether one of the patterns describes all of `text` that stand in a list with commas between them, such as `n1, backup*`.
#[must_use]
pub fn matches_any(patterns: &str, text: &str) -> bool {
    patterns.split(',').any(|pattern| matches(pattern.trim(), text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pattern_of_a_list_is_enough() {
        for (patterns, expected) in [
            ("n1", [true, false, false]),
            ("n1,n3", [true, false, true]),
            (" n1 , m* ", [true, true, false]),
            ("", [false; 3]),
        ] {
            assert_eq!(["n1", "m2", "n3"].map(|name| matches_any(patterns, name)), expected, "{patterns}");
        }
    }

    /// The definition, by trying everything.
    fn by_definition(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|n| by_definition(rest, &text[n..])),
            Some((byte, rest)) => text.first() == Some(byte) && by_definition(rest, &text[1..]),
        }
    }

    #[test]
    fn it_is_the_definition_on_all_short_words() {
        let words = |letters: &'static [u8], len: u32| {
            (0..=len).flat_map(move |n| {
                (0..(letters.len() as u64).pow(n)).map(move |mut code| {
                    let letter = |_| {
                        let letter = letters[(code % letters.len() as u64) as usize];
                        code /= letters.len() as u64;
                        char::from(letter)
                    };
                    (0..n).map(letter).collect::<String>()
                })
            })
        };
        for pattern in words(b"ab*", 5) {
            for text in words(b"ab", 5) {
                assert_eq!(
                    matches(&pattern, &text),
                    by_definition(pattern.as_bytes(), text.as_bytes()),
                    "{pattern} {text}"
                );
            }
        }
    }
}
