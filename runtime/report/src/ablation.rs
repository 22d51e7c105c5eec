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
    /// What came of leaving each of them out; of several at once, only where the failure is gone.
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
    /// Runs that were tried: one that fails is enough, and several that pass are no proof.
    pub tries: u32,
    /// Those of them that passed.
    pub passed: u32,
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
        let (passed, tries) = (row.passed, row.tries);
        let needed = if row.without.len() == 1 { "it is needed" } else { "one of them is needed" };
        let what = match (row.still_fails, passed) {
            (true, 0) => "still fails".to_owned(),
            (true, _) => format!("still fails; it passed in {passed} of {tries} tries"),
            (false, 0) => format!("fails otherwise in {tries} of {tries} tries"),
            (false, _) => format!("passes in {passed} of {tries} tries: {needed}"),
        };
        format!("without {:<width$}  {what}\n", named(&row.without))
    };
    document.rows.iter().map(line).collect()
}
