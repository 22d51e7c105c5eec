//! Header fields and trailers, by the rules of `wasi:http/types.fields`.
//!
//! ```text
//! append("Accept", "a")  append("X", "1")  append("accept", "b")
//! get("ACCEPT")  = [a, b]                        names are equal whatever their case
//! entries()      = [Accept a, accept b, X 1]     written as given, all of one name together
//! ```
//!
//! Invariants: every name is a token and no forbidden one; every value has no control characters; the size is at most
//! [`FIELDS_BYTES_MAX`]; fields that were sent or received never change.
//! Not here: what single fields mean, but for `content-length`, which decides where a body ends.

use std::sync::Arc;

/// Size that one set of fields may have, in bytes, each counted with what a header map needs beside the text
/// ([`NAME_BYTES`], [`VALUE_BYTES`]). The same bound as wasmtime-wasi-http's; what exceeds it ends the guest with a trap, as there.
pub const FIELDS_BYTES_MAX: usize = 128 << 10;
/// What a name counts beside its text, in bytes: the size of the reference's own type for it.
pub const NAME_BYTES: usize = 32;
/// What a value counts beside its text, in bytes: the size of the reference's own type for it.
pub const VALUE_BYTES: usize = 40;
/// Longest name of a field, in bytes, as in the `http` crate; a longer one is no valid syntax.
const NAME_LENGTH_MAX: usize = (1 << 16) - 1;

/// Names that a guest may neither set nor see: they belong to one connection, and the host writes them. The list of
/// wasmtime-wasi-http.
pub const FORBIDDEN: [&str; 9] = [
    "connection",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "transfer-encoding",
    "upgrade",
];

/// Why fields were not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldsError {
    /// A name or value has characters that it may not have.
    #[error("a field's name or value is not valid")]
    InvalidSyntax,
    /// The name is one of [`FORBIDDEN`].
    #[error("the field belongs to the connection")]
    Forbidden,
    /// They were sent or received.
    #[error("the fields cannot be changed")]
    Immutable,
    /// They would exceed [`FIELDS_BYTES_MAX`]. WASI has no word for it, so it is a trap.
    #[error("the fields are larger than {FIELDS_BYTES_MAX} bytes")]
    TooLarge,
}

/// A multi-map from names to values, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderFields {
    entries: Arc<Vec<(String, Vec<u8>)>>,
    bytes: usize,
    immutable: bool,
}

impl HeaderFields {
    /// Fields of a list, which can be changed.
    ///
    /// # Errors
    /// As for [`append`](HeaderFields::append).
    pub fn from_list(entries: impl IntoIterator<Item = (String, Vec<u8>)>) -> Result<HeaderFields, FieldsError> {
        let mut fields = HeaderFields::default();
        for (name, value) in entries {
            fields.append(&name, value)?;
        }
        Ok(fields)
    }

    /// Fields that came from outside, which cannot be changed: what is forbidden or not valid is left out, and what
    /// exceeds [`FIELDS_BYTES_MAX`].
    #[must_use]
    pub fn received(entries: impl IntoIterator<Item = (String, Vec<u8>)>) -> HeaderFields {
        let mut fields = HeaderFields::default();
        for (name, value) in entries {
            let _ = fields.append(&name, value);
        }
        fields.frozen()
    }

    /// The same fields, which cannot be changed any more.
    #[must_use]
    pub fn frozen(self) -> HeaderFields {
        HeaderFields { immutable: true, ..self }
    }

    /// A copy that can be changed.
    #[must_use]
    pub fn thawed(&self) -> HeaderFields {
        HeaderFields { immutable: false, ..self.clone() }
    }

    /// All values of a name, in their order; none for a name that is not valid.
    pub fn get<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.entries
            .iter()
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_slice())
    }

    /// Whether the name has a value.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).next().is_some()
    }

    /// All names and values, in the order in which they are sent.
    #[must_use]
    pub fn entries(&self) -> &[(String, Vec<u8>)] {
        &self.entries
    }

    /// Replaces all values of a name; no values remove it.
    ///
    /// # Errors
    /// When name or values are not valid, the name is forbidden, the fields cannot be changed or would be too large. Nothing
    /// has changed then.
    pub fn set(&mut self, name: &str, values: Vec<Vec<u8>>) -> Result<(), FieldsError> {
        check_name(name)?;
        self.check_mutable()?;
        if is_content_length(name) && values.len() > 1 {
            return Err(FieldsError::InvalidSyntax);
        }
        let values = values.into_iter().map(|value| checked_value(name, value)).collect::<Result<Vec<_>, _>>()?;
        let added = if values.is_empty() { 0 } else { name.len() + NAME_BYTES };
        let added = added + values.iter().map(|value| value.len() + VALUE_BYTES).sum::<usize>();
        let bytes = self.bytes - self.bytes_of(name) + added;
        if bytes > FIELDS_BYTES_MAX {
            return Err(FieldsError::TooLarge);
        }
        let at = self.entries.iter().position(|(other, _)| other.eq_ignore_ascii_case(name));
        let entries = Arc::make_mut(&mut self.entries);
        entries.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        let at = at.unwrap_or(entries.len());
        entries.splice(at..at, values.into_iter().map(|value| (name.to_owned(), value)));
        self.bytes = bytes;
        Ok(())
    }

    /// Removes all values of a name.
    ///
    /// # Errors
    /// When the name is not valid or forbidden, or the fields cannot be changed.
    pub fn delete(&mut self, name: &str) -> Result<(), FieldsError> {
        check_name(name)?;
        self.check_mutable()?;
        self.bytes -= self.bytes_of(name);
        Arc::make_mut(&mut self.entries).retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        Ok(())
    }

    /// Adds a value after those that the name has.
    ///
    /// # Errors
    /// When name or value are not valid, the name is forbidden, the fields cannot be changed or would be too large. Nothing
    /// has changed then.
    pub fn append(&mut self, name: &str, value: Vec<u8>) -> Result<(), FieldsError> {
        check_name(name)?;
        let value = checked_value(name, value)?;
        let last = self.entries.iter().rposition(|(other, _)| other.eq_ignore_ascii_case(name));
        // Two lengths would leave open where the body ends.
        if is_content_length(name) && last.is_some() {
            return Err(FieldsError::InvalidSyntax);
        }
        self.check_mutable()?;
        let name_bytes = if last.is_some() { 0 } else { name.len() + NAME_BYTES };
        let bytes = self.bytes + name_bytes + value.len() + VALUE_BYTES;
        if bytes > FIELDS_BYTES_MAX {
            return Err(FieldsError::TooLarge);
        }
        let entries = Arc::make_mut(&mut self.entries);
        entries.insert(last.map_or(entries.len(), |last| last + 1), (name.to_owned(), value));
        self.bytes = bytes;
        Ok(())
    }

    /// What `content-length` says, in bytes. There is at most one, and it is a number.
    #[must_use]
    pub fn content_length(&self) -> Option<u64> {
        let digits = self.get("content-length").next()?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }

    /// Their size, counted as [`FIELDS_BYTES_MAX`] counts it.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn check_mutable(&self) -> Result<(), FieldsError> {
        if self.immutable { Err(FieldsError::Immutable) } else { Ok(()) }
    }

    /// What a name and its values count.
    fn bytes_of(&self, name: &str) -> usize {
        let values: usize = self.get(name).map(|value| value.len() + VALUE_BYTES).sum();
        if values == 0 { 0 } else { values + name.len() + NAME_BYTES }
    }
}

fn is_content_length(name: &str) -> bool {
    name.eq_ignore_ascii_case("content-length")
}

/// A name is a token (RFC 9110, section 5.6.2), and not forbidden.
fn check_name(name: &str) -> Result<(), FieldsError> {
    if name.is_empty() || name.len() > NAME_LENGTH_MAX || !name.bytes().all(is_token) {
        return Err(FieldsError::InvalidSyntax);
    }
    let is_forbidden = FORBIDDEN.iter().any(|forbidden| forbidden.eq_ignore_ascii_case(name));
    if is_forbidden { Err(FieldsError::Forbidden) } else { Ok(()) }
}

/// `tchar` of RFC 9110, section 5.6.2.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A value has no control characters but the tabulator (RFC 9110, section 5.5). A length is a number, and stands in its
/// shortest form.
fn checked_value(name: &str, value: Vec<u8>) -> Result<Vec<u8>, FieldsError> {
    if is_content_length(name) {
        let digits = std::str::from_utf8(&value).map_err(|_| FieldsError::InvalidSyntax)?;
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(FieldsError::InvalidSyntax);
        }
        let length: u64 = digits.parse().map_err(|_| FieldsError::InvalidSyntax)?;
        return Ok(length.to_string().into_bytes());
    }
    let is_valid = value.iter().all(|byte| *byte == b'\t' || *byte >= b' ' && *byte != 0x7F);
    if is_valid { Ok(value) } else { Err(FieldsError::InvalidSyntax) }
}

#[cfg(test)]
mod tests;
