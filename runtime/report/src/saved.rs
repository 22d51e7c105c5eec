//! `fozzy seeds`: the failures that explorations have kept, as a document and as lines.

use crate::SeedState;
use schemars::JsonSchema;
use serde::Serialize;

/// The document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SeedsDocument {
    /// `fozzy.seeds.v1`.
    pub schema_version: String,
    /// The failures, and how they stand on the programs of today.
    pub seeds: Vec<SeedState>,
    /// Files that were removed, because they are fixed.
    pub pruned: Vec<String>,
}

/// One line a failure.
pub fn seeds_lines(document: &SeedsDocument) -> String {
    let line = |seed: &SeedState| {
        let SeedState { path, signature, state, shrunk, note } = seed;
        let signature = signature.as_ref().map(ToString::to_string).unwrap_or_default();
        let size = if *shrunk { "shrunk" } else { "unshrunk" };
        let note = note.as_ref().map(|note| format!("             {note}\n")).unwrap_or_default();
        format!("{state:<11}  {size:<8}  {signature}  {path}\n{note}")
    };
    document.seeds.iter().map(line).collect()
}
