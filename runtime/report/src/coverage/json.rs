//! Coverage as JSON: the document as it is, for tools.
//!
//! Invariant: reading it back gives the same document.

use super::{CoverageDocument, CoverageFormat, CoverageView};

pub(super) const JSON: CoverageFormat = CoverageFormat { name: "json", shows_sources: false, write };

fn write(document: &CoverageDocument, _: &CoverageView) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("plain data");
    text.push('\n');
    text
}
