//! One file to share: a trace, its verification, its report, and the proof that it replays.
//!
//! ```text
//! bundle.zip   trace.fozzy │ report.json manifest.json │ env.json version.json
//!              trace_verify.report.json replay.report.json ci.report.json │ bundle.json
//! ```
//!
//! Invariants: a bundle is made of a trace that was just verified and replayed; what is read out of one is a trace, which is
//! verified as any other. A bundle in which a name stands twice is refused: readers would differ in which of the two it is.
//! Not here: the checks (`command::ci`).

use fozzy_report::document::{BUNDLE_SCHEMA, BundleDocument};
use fozzy_trace::file::TRACE_BYTES_MAX;
use std::io::{Cursor, Read};

/// The description of a bundle, in it.
pub const DESCRIPTION: &str = "bundle.json";
/// Bytes of that description.
const DESCRIPTION_BYTES_MAX: u64 = 1 << 20;
/// The trace in a bundle.
pub const TRACE: &str = crate::store::TRACE_NAME;

/// The trace in a bundle; `None` when the bytes are no bundle, an error when they are one that cannot be used.
pub fn trace_of(bytes: &[u8]) -> Option<Result<Vec<u8>, String>> {
    let mut zip = zip::ZipArchive::new(Cursor::new(bytes)).ok()?;
    let description = entry(&mut zip, DESCRIPTION, DESCRIPTION_BYTES_MAX)?;
    if let Some(what) = ambiguity(&mut zip) {
        return Some(Err(what));
    }
    Some(description.and_then(|description| {
        let found: BundleDocument = serde_json::from_slice(&description)
            .map_err(|error| format!("{DESCRIPTION} in the bundle is not as a bundle's: {error}"))?;
        if found.schema_version != BUNDLE_SCHEMA {
            return Err(format!(
                "a bundle of format `{}`: expected {BUNDLE_SCHEMA}; a newer fozzy may read it",
                found.schema_version.escape_debug()
            ));
        }
        let missing = || format!("the bundle has no {TRACE}");
        entry(&mut zip, TRACE, TRACE_BYTES_MAX).ok_or_else(missing)?
    }))
}

/// What two readers of the zip could understand differently.
fn ambiguity(zip: &mut Archive<'_>) -> Option<String> {
    if zip.has_duplicate_names() {
        return Some("an entry is in the bundle twice".to_owned());
    }
    match zip.has_overlapping_entries() {
        Ok(false) => None,
        Ok(true) => Some("two entries of the bundle are the same bytes".to_owned()),
        Err(error) => Some(format!("the bundle is damaged: {error}")),
    }
}

type Archive<'a> = zip::ZipArchive<Cursor<&'a [u8]>>;

/// The bytes of an entry; `None` when there is none of that name.
fn entry(zip: &mut Archive<'_>, name: &str, bytes_max: u64) -> Option<Result<Vec<u8>, String>> {
    let entry = zip.by_name(name).ok()?;
    let mut bytes = Vec::new();
    // What the zip says of an entry's length is only a claim.
    Some(match entry.take(bytes_max + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > bytes_max => Err(format!("{name} in the bundle has more than {bytes_max} bytes")),
        Ok(_) => Ok(bytes),
        Err(error) => Err(format!("{name} in the bundle is damaged: {error}")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifacts::pack::zipped;

    fn bundle(schema: &str, with_trace: bool) -> Vec<u8> {
        let description = BundleDocument {
            schema_version: schema.to_owned(),
            source: "run.fozzy".to_owned(),
            trace: TRACE.to_owned(),
            ci_ok: true,
        };
        let mut contents = vec![(DESCRIPTION.to_owned(), serde_json::to_vec(&description).expect("it is written"))];
        if with_trace {
            contents.push((TRACE.to_owned(), b"a trace".to_vec()));
        }
        zipped(&contents).expect("it is made")
    }

    #[test]
    fn only_a_bundle_of_this_format_has_a_trace() {
        assert_eq!(trace_of(&bundle(BUNDLE_SCHEMA, true)), Some(Ok(b"a trace".to_vec())));
        assert_eq!(trace_of(&bundle(BUNDLE_SCHEMA, false)), Some(Err("the bundle has no trace.fozzy".to_owned())));
        let newer =
            trace_of(&bundle("fozzy.bundle_report.v9", true)).expect("a bundle").expect_err("of another format");
        assert!(newer.contains("fozzy.bundle_report.v9") && newer.contains("a newer fozzy"), "{newer}");
        assert_eq!(trace_of(b"PK\x03\x04 not a zip"), None);
        assert_eq!(trace_of(&zipped(&[("a".to_owned(), vec![])]).expect("it is made")), None);
    }

    #[test]
    fn a_damaged_bundle_is_an_error() {
        let mut bytes = bundle(BUNDLE_SCHEMA, true);
        let at = bytes.windows(7).position(|window| window == b"a trace").expect("it is stored");
        bytes[at] = b'b';
        let error = trace_of(&bytes).expect("a bundle").expect_err("damaged");
        assert!(error.contains("damaged"), "{error}");
    }
}
