//! Whether an output is what a page shows of it.
//!
//! ```text
//! shown     fozzy run PASS          found     fozzy run PASS
//!             …                                 target    a.wasm
//!             used      … calls                 used      1 s, 3 calls
//! ```

/// Whether nothing is shown: a blank line only stands between two commands.
pub(super) fn is_blank(shown: &[String]) -> bool {
    shown.iter().all(|line| line.trim().is_empty())
}

/// Compares line by line: `…` alone on a line is any number of lines, within one any text.
pub(super) fn compare(shown: &[String], found: &str) -> Result<(), String> {
    let shown: Vec<&str> = shown.iter().map(|line| line.trim_end()).collect();
    // A session is easier to read with a blank line before the next command.
    let shown = &shown[..shown.len() - shown.iter().rev().take_while(|line| line.is_empty()).count()];
    if shown.is_empty() {
        return Ok(());
    }
    let found: Vec<&str> = found.lines().map(str::trim_end).collect();
    let mut best = 0;
    if fits(shown, &found, &mut best) {
        return Ok(());
    }
    Err(match shown.get(best) {
        Some(line) => format!("the page shows `{line}`, which was not printed, or not there"),
        None => "more was printed than the page shows".to_owned(),
    })
}

/// Whether all of one is all of the other; `best` becomes the most lines that were found one after another.
fn fits(shown: &[&str], found: &[&str], best: &mut usize) -> bool {
    // Reached[i]: the first `i` lines shown are the lines found so far.
    let mut reached = vec![false; shown.len() + 1];
    reached[0] = true;
    skip(shown, &mut reached);
    for line in found {
        let mut next = vec![false; shown.len() + 1];
        for (index, pattern) in shown.iter().enumerate().filter(|(index, _)| reached[*index]) {
            if pattern.trim() == "…" {
                next[index] = true;
            } else if is_like(pattern, line) {
                next[index + 1] = true;
            }
        }
        skip(shown, &mut next);
        *best = (*best).max(next.iter().rposition(|is| *is).unwrap_or(0));
        reached = next;
    }
    *best = (*best).min(shown.len());
    reached[shown.len()]
}

/// Lines of `…` may stand for nothing.
fn skip(shown: &[&str], reached: &mut [bool]) {
    for (index, pattern) in shown.iter().enumerate() {
        if reached[index] && pattern.trim() == "…" {
            reached[index + 1] = true;
        }
    }
}

/// Whether a line is one in which `…` stands for any text.
fn is_like(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split('…');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else { return rest.is_empty() };
    for part in between {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn ellipses_stand_for_text_and_for_lines() {
    let fits = |shown: &str, found: &str| compare(&shown.lines().map(str::to_owned).collect::<Vec<_>>(), found).is_ok();
    assert!(fits("a\n…\nd", "a\nb\nc\nd") && fits("a\n  …\nd", "a\nd") && fits("…", "") && fits("", "whatever"));
    assert!(fits("…\nx\n…", "a\nx\nx\nb") && fits("used … s, … calls", "used 12 s, 3 calls") && fits("a\n\n", "a"));
    assert!(!fits("a\n…\nd", "a\nd\ne") && !fits("a", "a\nb") && !fits("used … s", "used 1 m") && !fits("a\nb", "a"));
    assert!(!fits("a…a", "a"));
}

#[test]
fn a_blank_line_is_no_output() {
    let of = |shown: &str| is_blank(&shown.lines().map(str::to_owned).collect::<Vec<_>>());
    assert!(of("") && of("\n") && of("  \n\n") && !of("\na") && !of("…"));
}
