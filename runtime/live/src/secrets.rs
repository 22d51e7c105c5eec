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
//! A secret is found in whatever notation it stands: as JSON, HTML, URLs, forms, Base64 and hexadecimal write it, one in the
//! other (`scanner.rs`); so is a placeholder that the guest has put into a JSON text, a form or a password of HTTP.
//!
//! Invariants: one value has one placeholder, in the order in which values were seen; `hide` leaves no secret of
//! [`SECRET_BYTES_MIN`] bytes or more in what it gives; `reveal` replaces known placeholders only, and does not
//! look into what it put there.
//! Not here: which hosts and commands a secret is given to (the backends), secrets that are compressed, encrypted or split by
//! foreign text, names of files, and literal secrets that the guest itself was compiled with: those go to the trace in the
//! guest's own requests unless the host redacts their headers.

mod dense;
mod notation;
mod scanner;

use fozzy_trace::plan::{REDACTED, RedactionPolicy};
use scanner::{Cover, Scanner};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// Shortest value that is looked for in answers, in bytes. Shorter ones (`1`, `yes`) stand in every text, and
/// replacing them would say more than it hides; they are still put in where their placeholder stands.
pub const SECRET_BYTES_MIN: usize = 4;
/// Values of response headers that are remembered. A further one is replaced by a placeholder without a number,
/// which stands for nothing: the guest cannot send it back, and it is not in the trace.
pub const SECRETS_LEARNED_MAX: usize = 1024;
/// Bytes of all values of response headers that are remembered; beyond it, as beyond [`SECRETS_LEARNED_MAX`].
const LEARNED_BYTES_MAX: usize = 1 << 20;
/// What lengthens a placeholder in Base64, before its `>`.
const FILLER: u8 = b'~';

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
    learned_bytes: usize,
    hides: TextExchange,
    reveals: TextExchange,
}

/// Texts that are looked for, and what takes the place of each.
#[derive(Default)]
pub(crate) struct TextExchange {
    scanner: Scanner,
    texts: Vec<Vec<u8>>,
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
            learned_bytes: 0,
            hides: TextExchange::default(),
            reveals: TextExchange::default(),
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

    /// A revealer that replaces placeholders by their secrets if the receiver `is_trusted`, and otherwise leaves them.
    pub(crate) fn revealing(&self, is_trusted: bool) -> SecretRevealer<'_> {
        SecretRevealer(is_trusted.then_some(&self.reveals))
    }

    /// Replaces all secrets by their placeholders, each in the notation in which the secret stands.
    pub(crate) fn hide<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.hides.scanner.cover(bytes, Cover::Texts(&self.hides.texts))
    }

    /// Puts asterisks in the place of all secrets, as many as they have characters.
    pub(crate) fn mask<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.hides.scanner.cover(bytes, Cover::SameLength)
    }

    /// How many bytes before and after a stretch tell which of it belongs to a secret; 0 if there is nothing to hide.
    pub(crate) fn margin(&self) -> usize {
        self.hides.scanner.margin()
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
        let bytes = self.learned_bytes + value.len();
        if self.learned.values().sum::<usize>() >= SECRETS_LEARNED_MAX || bytes > LEARNED_BYTES_MAX {
            return format!("{REDACTED}{name}>");
        }
        self.learned_bytes = bytes;
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
        let hidden = || self.placeholders.iter().filter(|(value, _)| value.len() >= SECRET_BYTES_MIN);
        let values: Vec<&[u8]> = hidden().map(|(value, _)| value.as_slice()).collect();
        let texts = hidden().map(|(_, placeholder)| placeholder.clone().into_bytes()).collect();
        self.hides = TextExchange { scanner: Scanner::new(&values, SECRET_BYTES_MIN)?, texts };
        let mut spellings = self.values.iter().map(|(name, value)| (name.clone(), value)).collect::<BTreeMap<_, _>>();
        for (name, value) in &self.values {
            let mut longer = name.clone();
            for _ in 0..2 {
                longer.insert(longer.len() - 1, char::from(FILLER));
                spellings.entry(longer.clone()).or_insert(value);
            }
        }
        let names: Vec<&[u8]> = spellings.keys().map(String::as_bytes).collect();
        let texts = spellings.values().map(|value| (*value).clone()).collect();
        self.reveals = TextExchange { scanner: Scanner::new(&names, usize::MAX)?.of_escapes(), texts };
        Ok(())
    }
}

/// Puts secrets in the place of their placeholders, or leaves those.
#[derive(Clone, Copy)]
pub(crate) struct SecretRevealer<'s>(Option<&'s TextExchange>);

impl SecretRevealer<'_> {
    /// Each in the notation in which the placeholder stands.
    pub(crate) fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        match self.0 {
            Some(TextExchange { scanner, texts }) => scanner.cover(bytes, Cover::Texts(texts)),
            None => Cow::Borrowed(bytes),
        }
    }

    /// The same in text; a secret is text too, or it was learned from a header and is none.
    pub(crate) fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes())).into_owned()
    }

    /// The same in the value of a header, where `Basic` has name and password in Base64 (RFC 7617).
    pub(crate) fn header<'a>(&self, value: &'a [u8]) -> Cow<'a, [u8]> {
        const BASIC: &[u8] = b"basic ";
        let credentials = value.get(BASIC.len()..).filter(|_| value[..BASIC.len()].eq_ignore_ascii_case(BASIC));
        let plain = credentials.and_then(|text| dense::decode_base64(text.trim_ascii()));
        match plain.as_deref().map(|plain| self.bytes(plain)) {
            Some(Cow::Owned(revealed)) => {
                Cow::Owned([&value[..BASIC.len()], &dense::encode_base64(&revealed)].concat())
            }
            _ => self.bytes(value),
        }
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

/// Puts placeholders in the place of values that are known from the start, in whatever notation they stand.
pub struct SecretHider(Secrets);

impl std::fmt::Debug for SecretHider {
    /// Without the secrets.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretHider")
    }
}

impl SecretHider {
    /// For pairs of placeholder and value.
    ///
    /// # Errors
    /// One sentence, for a placeholder that is none, and for values beyond what can be searched for.
    pub fn new(known: &[(String, String)]) -> Result<SecretHider, String> {
        Secrets::new(known, &RedactionPolicy::default()).map(SecretHider)
    }

    /// Whether there is nothing that could be found.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.0.margin() == 0
    }

    /// Hides in a text.
    pub fn text(&self, text: &mut String) {
        if let Cow::Owned(hidden) = self.0.hide(text.as_bytes()) {
            *text = String::from_utf8_lossy(&hidden).into_owned();
        }
    }

    /// How many bytes at the end of an unfinished text may belong to an incomplete value: a prefix of a value, and the
    /// last line without its end, since a value in it may be in another notation.
    #[must_use]
    pub fn undecided(&self, text: &[u8]) -> usize {
        if self.is_idle() {
            return 0;
        }
        let line = text.iter().rev().take(self.0.margin()).position(|byte| *byte == b'\n');
        let line = line.unwrap_or_else(|| text.len().min(self.0.margin()));
        let values = || self.0.values.values();
        let begun = |value: &Vec<u8>| {
            let longest = text.len().min(value.len().saturating_sub(1));
            (1..=longest).rev().find(|length| text.ends_with(&value[..*length]))
        };
        // A value that is whole is not cut.
        let whole = values().filter(|value| text.ends_with(value)).map(Vec::len).max().unwrap_or(0);
        values().filter_map(begun).filter(|begun| *begun >= whole).fold(line, usize::max)
    }

    /// Hides in bytes.
    #[must_use]
    pub fn bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        self.0.hide(bytes)
    }
}

/// Everything but letters, digits and `-._~` as `%XX` (RFC 3986, section 2.3).
fn percent_encoded(bytes: &[u8]) -> String {
    let one = |byte: &u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(*byte).to_string(),
        other => format!("%{other:02X}"),
    };
    bytes.iter().map(one).collect()
}

#[cfg(test)]
mod tests;
