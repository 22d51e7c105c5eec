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
    let line = |row: &AblationRow| format!("without {:<width$}  {}\n", named(&row.without), meaning(row));
    document.rows.iter().map(line).collect()
}

/// What a row says. Needed is only what no try fails without.
fn meaning(row: &AblationRow) -> String {
    let AblationRow { passed, tries, .. } = row;
    let (needed, them) = if row.without.len() == 1 { ("needed", "it") } else { ("one of them is needed", "them") };
    let counts = format!("passed without {them} in {passed} of {tries} tries");
    match (row.still_fails, *passed, tries - passed) {
        (true, 0, _) => "still fails".to_owned(),
        (true, ..) => format!("still fails; {counts}"),
        (false, 0, _) => format!("fails otherwise in {tries} of {tries} tries"),
        (false, _, 0) => format!("{needed}: {counts}"),
        (false, _, otherwise) => format!("this failure is gone: {counts}, failed otherwise in {otherwise}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_needed_when_every_try_passes_without_it() {
        let row = |without: &[usize], still_fails, passed, tries| AblationRow {
            without: without.to_vec(),
            still_fails,
            tries,
            passed,
            signature: None,
        };
        let document = AblationDocument {
            schema_version: "fozzy.ablation.v1".to_owned(),
            trace: "a.fozzy".to_owned(),
            signature: None,
            faults: ["a@*", "bc@/x"].map(str::to_owned).to_vec(),
            rows: vec![
                row(&[0], false, 10, 10),
                row(&[1], true, 0, 1),
                row(&[0], true, 3, 4),
                row(&[0], false, 7, 10),
                row(&[1], false, 0, 10),
                row(&[0, 1], false, 10, 10),
            ],
        };
        let expected = "\
without a@*         needed: passed without it in 10 of 10 tries
without bc@/x       still fails
without a@*         still fails; passed without it in 3 of 4 tries
without a@*         this failure is gone: passed without it in 7 of 10 tries, failed otherwise in 3
without bc@/x       fails otherwise in 10 of 10 tries
without a@*, bc@/x  one of them is needed: passed without them in 10 of 10 tries
";
        assert_eq!(ablation_lines(&document), expected);
    }
}
