//! "Did you mean": the known word that is nearest to an unknown one.
//!
//! Distance is that of Damerau and Levenshtein (F. J. Damerau, "A technique for computer detection and correction
//! of spelling errors", CACM 7(3), 1964), without regard to case and to `_` for `-`.

/// Longest word that is compared, in bytes: the distance takes the product of both lengths.
const WORD_BYTES_MAX: usize = 64;

/// The word among `known` that is nearest to an unknown one, unless all are so far away that they would only mislead: more than a third of the
/// word is wrong.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > WORD_BYTES_MAX {
        return None;
    }
    let plain = |word: &str| word.to_ascii_lowercase().replace('_', "-");
    let word = plain(word);
    let distances = known.into_iter().map(|known| (strsim::damerau_levenshtein(&word, &plain(known)), known));
    let (distance, known) = distances.min_by_key(|(distance, _)| *distance)?;
    (distance <= (word.chars().count() / 3).max(1) && !known.is_empty()).then_some(known)
}

/// `; did you mean …?`, or else `; known are …`.
pub(crate) fn hint<'a>(word: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(word, known.clone()) {
        Some(known) => format!("; did you mean `{known}`?"),
        None => {
            let known: Vec<String> = known.into_iter().map(|word| format!("`{word}`")).collect();
            match known.is_empty() {
                true => String::new(),
                false => format!("; known are {}", known.join(", ")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_found_and_a_far_one_is_not_proposed() {
        let known = ["latency", "jitter", "bandwidth", "stdin-stays-open", "node"];
        for (word, expected) in [
            ("latensy", Some("latency")),
            ("altency", Some("latency")),
            ("Bandwith", Some("bandwidth")),
            ("stdin_stays_open", Some("stdin-stays-open")),
            ("nodes", Some("node")),
            ("x", None),
            ("loss", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, known), expected, "{word}");
        }
        assert_eq!(nearest(&"n".repeat(WORD_BYTES_MAX + 1), known), None);
        assert_eq!(hint("colour", ["jitter", "node"]), "; known are `jitter`, `node`");
    }
}
