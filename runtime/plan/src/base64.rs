//! Bytes in base64, as RFC 4648, section 4 has it: with padding, and without anything that the alphabet has not.
//! White space is allowed, since people fold long values.

/// The bytes that `text` stands for.
///
/// # Errors
/// A sentence.
pub(crate) fn decode(text: &str) -> Result<Vec<u8>, String> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    if !digits.len().is_multiple_of(4) {
        return Err(format!("expected base64 in groups of four characters, found {} characters", digits.len()));
    }
    let padding = digits.iter().rev().take_while(|digit| **digit == b'=').count();
    if padding > 2 {
        return Err("expected at most two `=` at the end of base64".to_owned());
    }
    let mut bytes = Vec::with_capacity(digits.len() / 4 * 3);
    let whole = &digits[..digits.len() - padding];
    for group in whole.chunks(4) {
        let mut bits = 0_u32;
        for digit in group {
            let value = match digit {
                b'A'..=b'Z' => digit - b'A',
                b'a'..=b'z' => digit - b'a' + 26,
                b'0'..=b'9' => digit - b'0' + 52,
                b'+' => 62,
                b'/' => 63,
                other => return Err(format!("expected base64, found the byte {:?}", char::from(*other))),
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        let kept = group.len() * 6 / 8;
        if bits.to_be_bytes()[1 + kept..].iter().any(|byte| *byte != 0) {
            return Err("expected base64 whose last unused bits are zero (RFC 4648, section 3.5)".to_owned());
        }
        bytes.extend(&bits.to_be_bytes()[1..=kept]);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_the_rfc() {
        for (text, bytes) in [
            ("", ""),
            ("Zg==", "f"),
            ("Zm8=", "fo"),
            ("Zm9v", "foo"),
            ("Zm9v\n  YmE=", "fooba"),
            ("Zm9vYmFy", "foobar"),
        ] {
            assert_eq!(decode(text).as_deref(), Ok(bytes.as_bytes()), "{text}");
        }
        assert_eq!(decode("+/8="), Ok(vec![0xfb, 0xff]));
    }

    #[test]
    fn what_is_not_base64_is_refused() {
        for text in ["Z", "Zg", "Zg=", "====", "Z===", "Z=g=", "Zm-v", "Zh==", "Zm9=", "Zgé="] {
            assert!(decode(text).is_err(), "{text}");
        }
    }
}
