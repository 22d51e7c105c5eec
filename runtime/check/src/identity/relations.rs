//! Relations between the values of a failure's message: what masking loses, and tells two failures of one property apart.
//!
//! ```text
//! left: 3, right: 4                    <        something was lost
//! left: 5, right: 4                    >        something came twice
//! [Some((3, "a")), Some((3, "b"))]     (=, ≠)   machines have different values of one version
//! [Some((3, "a")), Some((2, "b"))]     (≠, ≠)   one of them has missed a write
//! ```
//!
//! Only two relations are looked at: the order of two numbers that the message compares, and, where one list is all that it shows,
//! which parts of the elements are alike in all of them. Whether any two numbers of a message are equal is mostly chance.
//!
//! Not here: what is masked (`identity`).

use super::Token;
use std::cmp::Ordering;

/// Words before the sides of a comparison.
const SIDES: [&str; 9] = ["left", "right", "expected", "wanted", "want", "got", "found", "actual", "was"];
/// Tokens between such a word and its number: a colon, blanks, a quote, an operator, brackets of `Some(…)`.
const SIDE_TOKENS_MAX: usize = 8;

/// The relations of a message, each as a line.
pub(super) fn of(tokens: &[Token]) -> Vec<String> {
    let order = sides(tokens).map(|order| match order {
        Ordering::Less => "first < second".to_owned(),
        Ordering::Equal => "first = second".to_owned(),
        Ordering::Greater => "first > second".to_owned(),
    });
    let alike = only_list(tokens).and_then(elements).map(|alike| format!("elements {alike}"));
    order.into_iter().chain(alike).collect()
}

/// How the first side of a comparison stands to the second; `None` unless there are two, both of them numbers.
fn sides(tokens: &[Token]) -> Option<Ordering> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < tokens.len() {
        let is_side = matches!(&tokens[at], Token::Word { raw, .. } if SIDES.contains(&&**raw));
        at += 1;
        let Some((end, number)) = is_side.then(|| number_after(tokens, at)).flatten() else { continue };
        found.push(number);
        at = end;
        // `expected 5 == 15` has its other side behind the operator.
        if let Some((end, number)) = operator_at(tokens, at).and_then(|operator| number_after(tokens, operator)) {
            found.push(number);
            at = end;
        }
    }
    let [one, other] = found[..] else { return None };
    one.partial_cmp(&other)
}

/// What is in the list of a message that shows one list.
fn only_list(tokens: &[Token]) -> Option<&[Token]> {
    let (mut found, mut at) = (None, 0);
    while let Some(token) = tokens.get(at) {
        if let Token::Open('[', length) = token {
            if found.is_some() {
                return None;
            }
            found = Some(&tokens[at + 1..at + length]);
            at += length;
        }
        at += 1;
    }
    found
}

/// The number that stands alone behind a word, and where it ends. Other values have no order that says anything.
fn number_after(tokens: &[Token], from: usize) -> Option<(usize, f64)> {
    let window = tokens.iter().enumerate().skip(from).take(SIDE_TOKENS_MAX);
    for (at, token) in window {
        match token {
            Token::Word { raw, .. } | Token::Quoted(_, raw) if number(raw).is_some() => {
                return number(raw).map(|number| (at + 1, number));
            }
            Token::Word { raw, .. } if raw == "Some" || raw == "Ok" => {}
            // One value is in the brackets, or there is no side.
            Token::Open('(', length) if *length <= 2 => {}
            Token::Blank | Token::Line | Token::Other(':' | '=' | '`') => {}
            _ => return None,
        }
    }
    None
}

/// Where an operator between two sides ends.
fn operator_at(tokens: &[Token], from: usize) -> Option<usize> {
    let is_sign = |token: &Token| matches!(token, Token::Other('=' | '<' | '>' | '!'));
    let begin = from + tokens[from..].iter().take_while(|token| matches!(token, Token::Blank)).count();
    let signs = tokens[begin..].iter().take_while(|token| is_sign(token)).count();
    (1..=2).contains(&signs).then_some(begin + signs)
}

/// A number as it is written. What two large ones differ in beyond the precision is no order.
fn number(text: &str) -> Option<f64> {
    let begins = text.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit());
    begins.then(|| text.parse().ok()).flatten()
}

/// Which parts of a list's elements are alike in all of them, such as `(=, ≠)`: of two elements at least, with the same parts.
/// `None` when all of them are, or none is, as in any list of values.
fn elements(inside: &[Token]) -> Option<String> {
    let elements: Vec<&[Token]> = elements_of(inside);
    let (first, others) = elements.split_first()?;
    let shape = |element: &[Token]| super::mask(element, 1);
    let (own, parts) = (shape(first), values(first));
    let is_like_first = |element: &&[Token]| values(element).len() == parts.len() && shape(element) == own;
    if others.is_empty() || parts.len() < 2 || !others.iter().all(is_like_first) {
        return None;
    }
    let mut is_alike = vec![true; parts.len()];
    for element in others {
        for (at, value) in values(element).into_iter().enumerate() {
            is_alike[at] &= value == parts[at];
        }
    }
    let is_telling = is_alike.contains(&true) && is_alike.contains(&false);
    let signs: Vec<&str> = is_alike.iter().map(|alike| if *alike { "=" } else { "≠" }).collect();
    is_telling.then(|| format!("({})", signs.join(", ")))
}

/// The elements of a list, without what is around them.
fn elements_of(inside: &[Token]) -> Vec<&[Token]> {
    let (mut elements, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(token) = inside.get(at) {
        match token {
            Token::Other(',') => {
                elements.push(&inside[from..at]);
                from = at + 1;
            }
            Token::Open(_, length) => at += length,
            _ => {}
        }
        at += 1;
    }
    elements.push(&inside[from..]);
    elements.retain(|element| element.iter().any(|token| !matches!(token, Token::Blank | Token::Line)));
    elements
}

/// The values of an element, one by one: numbers and texts.
fn values(element: &[Token]) -> Vec<&str> {
    element.iter().filter_map(value).collect()
}

fn value(token: &Token) -> Option<&str> {
    match token {
        Token::Word { mask, raw } if mask.contains('#') => Some(raw),
        Token::Quoted(_, text) => Some(text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::identity::worded;

    #[test]
    fn sides_keep_their_order() {
        let relation = |text: &str| worded(text).lines().last().map(str::to_owned).expect("a line");
        for (text, expected) in [
            ("assertion `left == right` failed\n  left: 3\n right: 4", "first < second"),
            ("assertion `left == right` failed: 7 of 9\n  left: -3\n right: -4.5", "first > second"),
            ("assertion `left != right` failed\n  left: 4\n right: 4", "first = second"),
            ("got Some(3), expected Some(5)", "first < second"),
            (r#"expected "5" == 15"#, "first < second"),
            (r#"expected "5" == 0"#, "first > second"),
            ("`k`: expected \"1\", found \"12\"", "first < second"),
            ("bytes in use: expected 7, found 7", "first = second"),
        ] {
            assert_eq!(relation(text), expected, "{text}");
        }
        for text in [
            "got Some(17), expected None",
            "left: [1, 2]\n right: [1]",
            "left: 0x1f\n right: 3ms",
            "left: Point { x: 1 }\n right: Point { x: 2 }",
            "expected 1, got 2, expected 3",
            "left",
            "expected status 200, found 404",
            "balance is -3",
        ] {
            assert!(!worded(text).contains("second"), "{text}: {}", worded(text));
        }
    }

    #[test]
    fn a_list_alone_keeps_which_parts_of_its_elements_are_alike() {
        let same = |one: &str, other: &str| worded(one) == worded(other);
        let conflict = r#"b: [Some((1, "1 by n2")), Some((1, "2 by n0")), Some((1, "1 by n2"))]"#;
        let missed = r#"b: [Some((2, "2 by n0")), Some((2, "2 by n0")), Some((1, "1 by n2"))]"#;
        assert!(!same(conflict, missed), "two faults of one property");
        assert!(same(conflict, r#"b: [Some((7, "x")), Some((7, "x")), Some((7, "y")), Some((7, "z"))]"#));
        assert!(same(missed, r#"b: [Some((7, "x")), Some((9, "y"))]"#));
        assert!(same("left: [(1, 2), (1, 3)]\n right: []", "left: [(1, 2), (5, 3)]\n right: []"), "sides are compared");
        assert!(same("[1, 1, 2]", "[1, 2, 2]"), "plain values");
        assert!(same("[(1, 2)]", "[(3, 4)]") && same("[(1, 2), (3, 4)]", "[(1, 2)]"));
        assert!(same("[(1, 2), 3]", "[(1, 5), 3]"), "elements of several shapes");
        assert_eq!(worded("[P { id: 1, n: 2 }, P { id: 1, n: 3 }]"), "[…]\nelements (=, ≠)");
    }
}
