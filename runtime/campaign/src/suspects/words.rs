//! Words in which numbers do not count.
//!
//! ```text
//! took 12.5 ms, 3 left   took #.# ms, # left
//! ```

/// Characters of a line that count.
const CHARS_MAX: usize = 160;

/// A line with `#` for each number, so that lines of one place of the program are one.
pub(super) fn numberless(line: &str) -> String {
    let mut text = String::new();
    let mut in_number = false;
    for character in line.trim().chars().take(CHARS_MAX) {
        let is_digit = character.is_ascii_digit();
        if !is_digit {
            text.push(character);
        } else if !in_number {
            text.push('#');
        }
        in_number = is_digit;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_output_differ_by_their_words_alone() {
        assert_eq!(numberless("  took 12.5 ms, 3 left"), "took #.# ms, # left");
        assert_eq!(numberless(&"é".repeat(1000)).chars().count(), CHARS_MAX);
    }
}
