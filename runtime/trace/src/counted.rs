//! Numbers with their nouns, for people: `1 call`, `2,000 calls`.
//!
//! Not here: texts that verdicts and histories keep, which are compared word by word and stay as they are.

/// `1 call`, `2,000 calls`. What is counted is the last word, unless `of` or `in` follows it: `file of the run` has `files of the run`.
#[must_use]
pub fn counted(n: u64, noun: &str) -> String {
    let (counted, rest) =
        [" of ", " in "].iter().filter_map(|word| noun.find(word)).min().map_or((noun, ""), |at| noun.split_at(at));
    format!("{} {}{rest}", grouped(n), if n == 1 { counted.to_owned() } else { plural(counted) })
}

/// The plural of a noun, by the rules that English spelling has for those that are counted here.
fn plural(noun: &str) -> String {
    let hisses = ["s", "x", "ch", "sh"].iter().any(|end| noun.ends_with(end));
    let before_y = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match before_y {
        Some(stem) => format!("{stem}ies"),
        None if hisses => format!("{noun}es"),
        None => format!("{noun}s"),
    }
}

/// `1234567` as `1,234,567`.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_nouns_agree() {
        let check = |n, noun, expected: &str| assert_eq!(counted(n, noun), expected);
        check(1, "call", "1 call");
        check(2_000, "call", "2,000 calls");
        check(0, "byte", "0 bytes");
        check(2, "branch", "2 branches");
        check(1, "entry", "1 entry");
        check(3, "entry", "3 entries");
        check(2, "key", "2 keys");
        check(1, "file of the run", "1 file of the run");
        check(2, "file of the run", "2 files of the run");
        check(2, "byte in use", "2 bytes in use");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
