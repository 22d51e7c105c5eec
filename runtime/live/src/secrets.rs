//! Secrets: known here, and by a placeholder everywhere else.
//!
//! ```text
//! guest    authorization: Bearer <redacted:TOKEN>   ──reveal──▶   Bearer s3cr3t             network
//! guest    set-cookie: sid=<redacted:set-cookie:1>  ◀──hide────   set-cookie: sid=9c41…     network
//! guest    cookie: sid=<redacted:set-cookie:1>      ──reveal──▶   cookie: sid=9c41…         network
//! ```
//!
//! The guest never holds a secret, only its placeholder, which stands for it in every ask that leaves the sandbox;
//! so the ask that is recorded and the ask of a replay are equal to the bit, and neither holds the secret. Secrets
//! are the values that the plan's `redact.env` names (the caller gives them), and the values of response headers
//! that `redact.headers` names (learned as they come). Of a cookie only the value is hidden: its name and its
//! attributes are what the guest must see to send it back.
//!
//! Invariants: one value has one placeholder, in the order in which values were seen; `hide` leaves no secret of
//! [`SECRET_BYTES_MIN`] bytes or more in what it gives; `reveal` replaces known placeholders only, and does not
//! look into what it put there.
//! Not here: secrets in another notation (Base64, compressed, split over lines; percent-encoding is known), secrets
//! in files, and literal secrets that the guest itself was compiled with: those go to the trace in the guest's own
//! requests unless the host redacts their headers.

use aho_corasick::{AhoCorasick, MatchKind};
use fozzy_trace::plan::{REDACTED, RedactionPolicy};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Shortest value that is looked for in answers, in bytes. Shorter ones (`1`, `yes`) stand in every text, and
/// replacing them would say more than it hides; they are still put in where their placeholder stands.
pub const SECRET_BYTES_MIN: usize = 4;
/// Values of response headers that are remembered. A further one is replaced by a placeholder without a number,
/// which stands for nothing: the guest cannot send it back, and it is not in the trace.
pub const SECRETS_LEARNED_MAX: usize = 1024;
/// The beginning of a placeholder in a URL that was percent-encoded.
const REDACTED_ENCODED: &str = "%3Credacted";

/// See the module.
pub(crate) struct Secrets {
    /// What each placeholder stands for.
    values: BTreeMap<String, Vec<u8>>,
    /// The placeholder of each value.
    placeholders: BTreeMap<Vec<u8>, String>,
    /// Names of headers whose values are secret, in small letters.
    headers: BTreeSet<String>,
    /// How many values of each header were learned.
    learned: BTreeMap<String, usize>,
    search: Search,
}

/// All values at once, and what each becomes.
struct Search {
    automaton: Option<AhoCorasick>,
    replacements: Vec<String>,
}

impl Secrets {
    /// Those that are known from the start, as (placeholder, value), and the headers that hold more.
    ///
    /// # Errors
    /// One sentence, for a placeholder that is none, and for values beyond what can be searched for.
    pub(crate) fn new(known: &[(String, String)], redact: &RedactionPolicy) -> Result<Secrets, String> {
        let mut secrets = Secrets {
            values: BTreeMap::new(),
            placeholders: BTreeMap::new(),
            headers: redact.headers.iter().map(|name| name.to_ascii_lowercase()).collect(),
            learned: BTreeMap::new(),
            search: Search { automaton: None, replacements: Vec::new() },
        };
        for (placeholder, value) in known {
            let inner = placeholder.strip_prefix(REDACTED).and_then(|rest| rest.strip_suffix('>'));
            if inner.is_none_or(|inner| inner.is_empty() || inner.contains('>')) {
                return Err(format!("`{placeholder}` is no placeholder: expected `{REDACTED}NAME>`"));
            }
            secrets.values.insert(placeholder.clone(), value.clone().into_bytes());
            secrets.placeholders.entry(value.clone().into_bytes()).or_insert_with(|| placeholder.clone());
        }
        secrets.rebuild()?;
        Ok(secrets)
    }

    /// Puts secrets in the place of their placeholders.
    pub(crate) fn reveal<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.replace(bytes, REDACTED.as_bytes(), |placeholder| self.values.get(placeholder).cloned())
    }

    /// The same in text; a secret is text too, or it was learned from a header and is none.
    pub(crate) fn reveal_text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.reveal(text.as_bytes())).into_owned()
    }

    /// The same in a URL, where a placeholder can be percent-encoded; then the secret is, too.
    pub(crate) fn reveal_url(&self, url: &str) -> String {
        let plain = self.reveal(url.as_bytes()).into_owned();
        let revealed = self.replace(&plain, REDACTED_ENCODED.as_bytes(), |encoded| {
            let placeholder = String::from_utf8(percent_decoded(encoded)).ok()?;
            self.values.get(&placeholder).map(|value| percent_encoded(value).into_bytes())
        });
        String::from_utf8_lossy(&revealed).into_owned()
    }

    /// Replaces every placeholder that begins with `start` and that `value` knows.
    fn replace<'a>(&self, bytes: &'a [u8], start: &[u8], value: impl Fn(&str) -> Option<Vec<u8>>) -> Cow<'a, [u8]> {
        let end: &[u8] = if start == REDACTED.as_bytes() { b">" } else { b"%3e" };
        let longest = self.values.keys().map(|name| 3 * name.len()).max().unwrap_or(0);
        let (mut out, mut copied, mut at) = (Vec::new(), 0, 0);
        while longest > 0 && at + start.len() <= bytes.len() {
            if !bytes[at..at + start.len()].eq_ignore_ascii_case(start) {
                at += 1;
                continue;
            }
            let window = &bytes[at..bytes.len().min(at + longest)];
            let length =
                window.windows(end.len()).position(|part| part.eq_ignore_ascii_case(end)).map(|p| p + end.len());
            let found = length.and_then(|length| Some((length, value(std::str::from_utf8(&window[..length]).ok()?)?)));
            match found {
                Some((length, value)) => {
                    out.extend_from_slice(&bytes[copied..at]);
                    out.extend_from_slice(&value);
                    at += length;
                    copied = at;
                }
                None => at += 1,
            }
        }
        if copied == 0 {
            return Cow::Borrowed(bytes);
        }
        out.extend_from_slice(&bytes[copied..]);
        Cow::Owned(out)
    }

    /// Puts placeholders in the place of all secrets that stand in `bytes` as they are, the longest first.
    pub(crate) fn hide<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match &self.search.automaton {
            Some(automaton) if automaton.is_match(bytes) => {
                Cow::Owned(automaton.replace_all_bytes(bytes, &self.search.replacements))
            }
            _ => Cow::Borrowed(bytes),
        }
    }

    /// Hides the secrets of a response's headers, and learns those that come in headers which are secret by name.
    ///
    /// # Errors
    /// One sentence, when the values are beyond what can be searched for.
    pub(crate) fn hide_headers(&mut self, headers: &mut [(String, Vec<u8>)]) -> Result<(), String> {
        let known = self.learned.values().sum::<usize>();
        for (name, value) in headers.iter_mut() {
            if self.headers.contains(name.as_str()) {
                let secret = secret_part(name, value);
                if !secret.is_empty() {
                    let placeholder = self.learn(name, value[secret.clone()].to_vec());
                    value.splice(secret, placeholder.into_bytes());
                }
            }
        }
        if self.learned.values().sum::<usize>() > known {
            self.rebuild()?;
        }
        for (_, value) in headers {
            if let Cow::Owned(hidden) = self.hide(value) {
                *value = hidden;
            }
        }
        Ok(())
    }

    /// The placeholder of a value that came in the header `name`.
    fn learn(&mut self, name: &str, value: Vec<u8>) -> String {
        // A server that echoes a placeholder, or the guest's own secret, tells nothing new.
        let echoed = std::str::from_utf8(&value).ok().filter(|text| self.values.contains_key(*text));
        if let Some(known) = echoed.or_else(|| self.placeholders.get(&value).map(String::as_str)) {
            return known.to_owned();
        }
        if self.learned.values().sum::<usize>() >= SECRETS_LEARNED_MAX {
            return format!("{REDACTED}{name}>");
        }
        let count = self.learned.entry(name.to_owned()).or_default();
        // A variable of the environment may have taken the name.
        let placeholder = loop {
            *count += 1;
            let placeholder = format!("{REDACTED}{name}:{count}>");
            if !self.values.contains_key(&placeholder) {
                break placeholder;
            }
        };
        self.values.insert(placeholder.clone(), value.clone());
        self.placeholders.insert(value, placeholder.clone());
        placeholder
    }

    fn rebuild(&mut self) -> Result<(), String> {
        let (mut patterns, mut replacements) = (Vec::new(), Vec::new());
        for (value, placeholder) in self.placeholders.iter().filter(|(value, _)| value.len() >= SECRET_BYTES_MIN) {
            patterns.push(value.clone());
            replacements.push(placeholder.clone());
            let encoded = percent_encoded(value).into_bytes();
            if encoded != *value {
                patterns.push(encoded);
                replacements.push(percent_encoded(placeholder.as_bytes()));
            }
        }
        let built = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&patterns);
        let automaton = built.map_err(|error| format!("the secrets cannot be searched for: {error}"))?;
        self.search = Search { automaton: (!patterns.is_empty()).then_some(automaton), replacements };
        Ok(())
    }
}

/// The part of a header's value that is secret: of a cookie the value, of anything else all.
fn secret_part(name: &str, value: &[u8]) -> std::ops::Range<usize> {
    let end = value.iter().position(|byte| *byte == b';').unwrap_or(value.len());
    match value[..end].iter().position(|byte| *byte == b'=') {
        Some(equals) if name == "set-cookie" => equals + 1..end,
        _ => 0..value.len(),
    }
}

/// Puts placeholders in the place of all values of `known`, pairs of placeholder and value, that stand in `texts`.
///
/// # Errors
/// One sentence, for a placeholder that is none, and for values beyond what can be searched for.
pub fn hide_known<'a>(
    known: &[(String, String)],
    texts: impl IntoIterator<Item = &'a mut String>,
) -> Result<(), String> {
    let secrets = Secrets::new(known, &RedactionPolicy::default())?;
    for text in texts {
        let hidden = String::from_utf8_lossy(&secrets.hide(text.as_bytes())).into_owned();
        if hidden != *text {
            *text = hidden;
        }
    }
    Ok(())
}

/// Everything but letters, digits and `-._~` as `%XX` (RFC 3986, section 2.3).
fn percent_encoded(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(*byte).to_string(),
        other => format!("%{other:02X}"),
    };
    bytes.iter().map(one).collect()
}

/// Turns each `%XX` into its byte; what is none stays.
fn percent_decoded(text: &str) -> Vec<u8> {
    let digit = |byte: Option<&u8>| byte.and_then(|byte| char::from(*byte).to_digit(16));
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        match (bytes[at], digit(bytes.get(at + 1)), digit(bytes.get(at + 2))) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets(known: &[(&str, &str)]) -> Secrets {
        let known: Vec<_> = known.iter().map(|(name, value)| (format!("<redacted:{name}>"), (*value).into())).collect();
        Secrets::new(&known, &RedactionPolicy::default()).expect("placeholders")
    }

    fn revealed(secrets: &Secrets, text: &str) -> String {
        String::from_utf8(secrets.reveal(text.as_bytes()).into_owned()).expect("text")
    }

    fn hidden(secrets: &Secrets, text: &str) -> String {
        String::from_utf8(secrets.hide(text.as_bytes()).into_owned()).expect("text")
    }

    #[test]
    fn placeholders_become_values_and_values_placeholders() {
        let secrets = secrets(&[("A", "alpha"), ("B", "alphabet"), ("C", "<redacted:A>"), ("D", "no")]);
        assert_eq!(
            revealed(&secrets, "x <redacted:A><redacted:B> <redacted:X> <redacted:"),
            "x alphaalphabet <redacted:X> <redacted:"
        );
        assert_eq!(
            revealed(&secrets, "<redacted:<redacted:C>"),
            "<redacted:<redacted:A>",
            "what is put in is not read"
        );
        assert_eq!(
            hidden(&secrets, "alphabet alpha alph no"),
            "<redacted:B> <redacted:A> alph no",
            "the longest first"
        );
        assert_eq!(revealed(&secrets, "<redacted:D>"), "no", "short ones are put in all the same");
        assert!(matches!(secrets.hide(b"nothing"), Cow::Borrowed(_)));
    }

    #[test]
    fn urls_hold_placeholders_in_two_notations() {
        let secrets = secrets(&[("KEY", "a/b c")]);
        assert_eq!(secrets.reveal_url("http://h/<redacted:KEY>"), "http://h/a/b c");
        for encoded in ["%3Credacted:KEY%3E", "%3credacted%3AKEY%3e"] {
            assert_eq!(
                secrets.reveal_url(&format!("http://h/?k={encoded}&x=%3Credacted")),
                "http://h/?k=a%2Fb%20c&x=%3Credacted"
            );
        }
        assert_eq!(hidden(&secrets, "/?k=a%2Fb%20c"), "/?k=%3Credacted%3AKEY%3E");
    }

    #[test]
    fn response_headers_are_learned_once_and_understood_when_they_come_back() {
        let mut secrets = secrets(&[]);
        let header = |name: &str, value: &str| (name.to_owned(), value.as_bytes().to_vec());
        let mut headers = [
            header("set-cookie", "sid=abcdef; Path=/; HttpOnly"),
            header("set-cookie", "other=abcdef"),
            header("set-cookie", "gone=; Max-Age=0"),
            header("set-cookie", "opaque"),
            header("cookie", "a=b"),
            header("x-copy", "it is abcdef"),
        ];
        secrets.hide_headers(&mut headers).expect("few");
        let values: Vec<_> = headers.iter().map(|(_, value)| String::from_utf8_lossy(value).into_owned()).collect();
        let expected = [
            "sid=<redacted:set-cookie:1>; Path=/; HttpOnly",
            "other=<redacted:set-cookie:1>",
            "gone=; Max-Age=0",
            "<redacted:set-cookie:2>",
            "<redacted:cookie:1>",
            "it is <redacted:set-cookie:1>",
        ];
        assert_eq!(values, expected);
        assert_eq!(revealed(&secrets, "sid=<redacted:set-cookie:1>; <redacted:cookie:1>"), "sid=abcdef; a=b");
        assert_eq!(hidden(&secrets, "abcdef"), "<redacted:set-cookie:1>");
        let mut echo = [header("set-cookie", "again=<redacted:set-cookie:1>")];
        secrets.hide_headers(&mut echo).expect("few");
        assert_eq!(echo[0].1, b"again=<redacted:set-cookie:1>");
    }

    #[test]
    fn a_flood_of_secrets_is_hidden_without_being_remembered() {
        let mut secrets = secrets(&[]);
        let cookie = |n: usize| ("set-cookie".to_owned(), format!("c=value-{n}").into_bytes());
        let mut headers: Vec<_> = (0..SECRETS_LEARNED_MAX + 2).map(cookie).collect();
        secrets.hide_headers(&mut headers).expect("bounded");
        assert_eq!(headers[SECRETS_LEARNED_MAX - 1].1, b"c=<redacted:set-cookie:1024>");
        assert_eq!(headers[SECRETS_LEARNED_MAX + 1].1, b"c=<redacted:set-cookie>");
        assert_eq!(secrets.values.len(), SECRETS_LEARNED_MAX);
    }

    #[test]
    fn what_is_no_placeholder_is_refused() {
        for name in ["TOKEN", "<redacted:>", "<redacted:a>b>", "<redacted:a"] {
            let error = Secrets::new(&[(name.to_owned(), "v".to_owned())], &RedactionPolicy::default());
            assert!(error.is_err_and(|error| error.contains(name)), "{name}");
        }
        assert_eq!(percent_decoded("%4a%zz%"), b"J%zz%");
    }
}
