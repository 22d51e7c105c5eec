//! `fozzy ablate`: which of its planned faults a failure needs, as a document and as lines.

use fozzy_trace::FailureSignature;
use schemars::JsonSchema;
use serde::Serialize;

/// `fozzy ablate`, as a document.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AblationDocument {
    /// `fozzy.ablation.v1`.
    pub schema_version: String,
    /// The file of the recorded failure.
    pub trace: String,
    /// What it fails with.
    pub signature: Option<FailureSignature>,
    /// The planned faults.
    pub faults: Vec<String>,
    /// What came of leaving some of them out.
    pub rows: Vec<AblationRow>,
}

/// What came of leaving out some faults.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AblationRow {
    /// Places among the planned faults.
    pub without: Vec<usize>,
    /// Whether it fails all the same.
    pub still_fails: bool,
    /// What it fails with instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<FailureSignature>,
}

/// One line a row.
pub fn ablation_lines(document: &AblationDocument) -> String {
    let named =
        |without: &[usize]| without.iter().map(|place| document.faults[*place].as_str()).collect::<Vec<_>>().join(", ");
    let width = document.rows.iter().map(|row| named(&row.without).chars().count()).max().unwrap_or_default();
    let line = |row: &AblationRow| {
        let what = match (&row.signature, row.still_fails, row.without.len()) {
            (_, true, _) => "still fails",
            (None, _, 1) => "passes: it is needed",
            (None, _, _) => "passes: one of them is needed",
            (Some(_), _, _) => "fails otherwise",
        };
        format!("without {:<width$}  {what}\n", named(&row.without))
    };
    document.rows.iter().map(line).collect()
}
