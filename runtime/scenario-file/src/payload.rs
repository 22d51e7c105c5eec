//! Payloads: text, or bytes that are no text, which version 2 writes as Base64 or in hexadecimal digits.
//!
//! ```text
//! "abc"                      61 62 63
//! {"base64": "//4="}         ff fe          RFC 4648, section 4
//! {"hex": "ff fe"}           ff fe          digits of either case; spaces between them are for people
//! ```
//!
//! Invariant: what is read has exactly one of these forms, and its bytes are known when it has been read.

use crate::read::quoted;
use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use std::fmt;

/// Bytes, and whether they were written as text.
#[derive(Clone, PartialEq, Eq)]
pub enum Payload {
    /// As a string.
    Text(String),
    /// As `base64` or `hex`.
    Bytes(Vec<u8>),
}

impl Payload {
    /// The bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Payload::Text(text) => text.as_bytes(),
            Payload::Bytes(bytes) => bytes,
        }
    }

    /// Of any bytes: text where they are.
    #[must_use]
    pub fn of(bytes: Vec<u8>) -> Payload {
        String::from_utf8(bytes).map_or_else(|error| Payload::Bytes(error.into_bytes()), Payload::Text)
    }

    /// As a JSON value that is read as the same bytes.
    #[must_use]
    pub fn into_json(self) -> serde_json::Value {
        match self {
            Payload::Text(text) => text.into(),
            Payload::Bytes(bytes) => serde_json::json!({ "base64": BASE64.encode(&bytes) }),
        }
    }
}

/// As messages show it: text in quotes, other bytes in hexadecimal digits.
impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Payload::Text(text) => write!(f, "{text:?}"),
            Payload::Bytes(bytes) => shown(bytes, f),
        }
    }
}

/// Bytes that a message shows.
const SHOWN_BYTES_MAX: usize = 64;

fn shown(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let digits: Vec<String> = bytes.iter().take(SHOWN_BYTES_MAX).map(|byte| format!("{byte:02x}")).collect();
    let more = if bytes.len() > SHOWN_BYTES_MAX { " …" } else { "" };
    write!(f, "{} bytes [{}{more}]", bytes.len(), digits.join(" "))
}

/// By this name the reader knows a payload: objects are refused in files of version 1.
pub(crate) const PAYLOAD: &str = "Payload";

impl<'de> Deserialize<'de> for Payload {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Payload, D::Error> {
        from.deserialize_newtype_struct(PAYLOAD, Form)
    }
}

struct Form;

impl<'de> Visitor<'de> for Form {
    type Value = Payload;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, or { \"base64\": … } or { \"hex\": … }")
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Payload, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Payload, E> {
        Ok(Payload::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Payload, A::Error> {
        use de::Error;
        const FORMS: &[&str] = &["base64", "hex"];
        let Some(form) = members.next_key::<String>()? else {
            return Err(A::Error::custom("expected `base64` or `hex`, found nothing"));
        };
        if !FORMS.contains(&form.as_str()) {
            return Err(A::Error::unknown_field(&form, FORMS));
        }
        let text: String = members.next_value()?;
        let decoded = match form.as_str() {
            "base64" => BASE64.decode(text.as_bytes()),
            _ => HEXLOWER_PERMISSIVE.decode(text.replace(' ', "").as_bytes()),
        };
        // A string that is filled in later is checked then.
        let bytes = match decoded {
            Ok(bytes) => bytes,
            Err(_) if crate::template::is_template(&text) => Vec::new(),
            Err(error) => {
                let what = format!("{form}: {error} in {}", quoted(&text));
                return Err(A::Error::custom(what));
            }
        };
        match members.next_key::<String>()? {
            None => Ok(Payload::Bytes(bytes)),
            Some(other) => Err(A::Error::custom(format!("`{other}` beside `{form}`: a payload has one form"))),
        }
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Payload {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        PAYLOAD.into()
    }

    /// The form of version 1, marked, so that the schema of version 2 can put its own in.
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": PAYLOAD })
    }
}
