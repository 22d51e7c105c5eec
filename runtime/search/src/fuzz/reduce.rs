//! Makes an input shorter, and then simpler, as long as it keeps what matters.
//!
//! ```text
//! erase    halves, quarters, … single bytes       8 bytes of  "GET /aaaaaaaaaaaaaaaaaa HTTP/9.9"
//! simplify each byte towards 0 … '0' 'a' ' '      what is left says why it fails
//! ```
//!
//! Invariants: the answer keeps what matters, and is never longer than the input; the number of tries is bounded.
//! Source: delta debugging (Zeller, Hildebrandt 2002), without complements: erasing from the end finds them.

/// Bytes that a byte is replaced by, the simplest first.
const SIMPLE: [u8; 4] = [b'0', b'a', b' ', 0];

/// The shortest that is found within `tries`. `keeps` tries an input.
///
/// # Errors
/// Those of `keeps`.
pub(crate) fn erase<E>(
    input: &[u8],
    tries: &mut u64,
    keeps: &mut impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Vec<u8>, E> {
    let mut best = input.to_vec();
    let mut block = best.len().div_ceil(2).max(1);
    let mut scratch = Vec::with_capacity(best.len());
    loop {
        let before = best.len();
        // From the end: what stands there depends on what stands before it more often than the other way round.
        let mut end = best.len();
        while end > 0 {
            let start = end.saturating_sub(block);
            if *tries == 0 {
                return Ok(best);
            }
            *tries -= 1;
            scratch.clear();
            scratch.extend_from_slice(&best[..start]);
            scratch.extend_from_slice(&best[end..]);
            if keeps(&scratch)? {
                std::mem::swap(&mut best, &mut scratch);
            }
            end = start.min(best.len());
        }
        if block == 1 && best.len() == before {
            return Ok(best);
        }
        block = block.div_ceil(2).min(best.len().max(1));
    }
}

/// The same length with simpler bytes.
///
/// # Errors
/// Those of `keeps`.
pub(crate) fn simplify<E>(
    input: &[u8],
    tries: &mut u64,
    keeps: &mut impl FnMut(&[u8]) -> Result<bool, E>,
) -> Result<Vec<u8>, E> {
    let mut best = input.to_vec();
    for place in 0..best.len() {
        for simple in SIMPLE {
            let was = best[place];
            if was == simple {
                break;
            }
            if *tries == 0 {
                return Ok(best);
            }
            *tries -= 1;
            best[place] = simple;
            if keeps(&best)? {
                break;
            }
            best[place] = was;
        }
    }
    Ok(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;

    fn reduced(input: &[u8], tries: u64, keeps: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let mut tries = tries;
        let mut keeps = |input: &[u8]| Ok::<bool, Infallible>(keeps(input));
        let shorter = erase(input, &mut tries, &mut keeps).unwrap_or_else(|never| match never {});
        simplify(&shorter, &mut tries, &mut keeps).unwrap_or_else(|never| match never {})
    }

    #[test]
    fn what_matters_is_left() {
        let both = |input: &[u8]| {
            let at = input.iter().position(|byte| *byte == b'<');
            at.is_some_and(|at| input[at..].contains(&b'>'))
        };
        let long: Vec<u8> = (0..1000).map(|n| b"xyzw"[n % 4]).collect();
        let input = [&long[..], b"<", &long[..], b">", &long[..]].concat();
        assert_eq!(reduced(&input, 100_000, both), b"<>");
        assert_eq!(reduced(b"zzzz", 1000, |input| input.len() >= 3), b"000");
        assert_eq!(reduced(b"", 1000, |_| true), b"");
    }

    #[test]
    fn the_tries_are_bounded_and_nothing_is_lost_then() {
        let input = [7; 100];
        for tries in [0, 1, 5, 40] {
            let left = reduced(&input, tries, |input| input.len() >= 10);
            assert!((10..=100).contains(&left.len()), "{tries}: {}", left.len());
        }
    }
}
