//! The dashboard as files: a page that a browser opens without any server.
//!
//! ```text
//! DIR/index.html                  the pages, with all documents in them
//! DIR/api/fleet.json, targets/ID.json, runs.json   these documents
//! DIR/failures/DIGEST.fozzy       traces; .patch beside them, and .seed.patch
//!                                 and of what is executed:
//! DIR/failures/DIGEST.html, targets/ID.html, runs/ID.html   stories, coverage by line, the latest runs
//! DIR/api/failures/DIGEST/causality.json …         what the pages show of it
//! ```
//!
//! Invariants: what programs call their things stays a text inside the data; a file is whole or absent.
//! Not here: older runs (`fozzy report show --format html`), and whole corpora (`fozzy corpus export`).

use crate::DashboardError;
use crate::assets::{ASSETS, INDEX};
use crate::executed::execute;
use crate::source::DashboardSource;
use crate::subject::ExecutedSubject;
use fozzy_campaign::fleet::page_command::{FailureMeasure, TargetMeasure};
use fozzy_campaign::fleet::patches::regression_patch;
use fozzy_campaign::fleet::shared_store::SharedStoreError;
use fozzy_campaign::fleet::testcases::TestcaseBytes;
use fozzy_report::fleet::{FleetFailureRow, FleetTargetDocument};
use fozzy_trace::digest::hex;
use fozzy_trace::file::store::{Durability, write_atomic};
use serde_json::{Map, Value, json};
use std::path::Path;

/// Runs whose pages are written: the latest.
const RUN_PAGES_MAX: usize = 20;
/// Testcases of all targets whose bytes are in the pages.
const TESTCASES_MAX: usize = 1_000;
/// Bytes of each, as many as the pages show.
const TESTCASE_BYTES_SHOWN: usize = 4096;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportedSite {
    /// Files.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether all is among them that the store has: no trace is missing or damaged there, and no record of a failure that may stand is unreadable.
    pub is_whole: bool,
    /// What the fleet's document has to say, and what is not among them, and why.
    pub warnings: Vec<String>,
}

/// Writes all pages below a folder; with `executes` also those for which programs are executed, one after the other. A trace that is
/// missing or damaged in the store is left out, with all that would be made of it, and said; no page has a link to it.
///
/// # Errors
/// When the store does not answer or a file cannot be written.
pub fn export(source: &DashboardSource, folder: &Path, executes: bool) -> Result<ExportedSite, DashboardError> {
    let mut fleet = source.fleet()?;
    let (is_whole, warnings) = (fleet.unreadable_failures == 0, fleet.warnings.clone());
    let mut site = ExportedSite { files: 0, bytes: 0, is_whole, warnings };
    let (mut targets, mut testcases, mut subjects) = (Map::new(), Map::new(), Vec::new());
    for target in &fleet.targets {
        let document = source.target(&target.id, 0)?;
        document.iter().try_for_each(|document| add_testcases(source, document, &mut testcases))?;
        let document = value(&document);
        site.write(&folder.join("api/targets").join(format!("{}.json", target.id)), text(&document).as_bytes())?;
        subjects.push(ExecutedSubject::TargetPage(target.id.clone()));
        subjects.extend(TargetMeasure::ALL.map(|measure| ExecutedSubject::Target(target.id.clone(), measure)));
        targets.insert(target.id.clone(), document);
    }
    let mut absent = Vec::new();
    for failure in &fleet.failures {
        let address = |ending: &str| format!("failures/{}.{ending}", failure.trace);
        let found = match source.trace(&failure.trace) {
            Ok(found) => found.ok_or_else(|| "it is not in the store".to_owned()),
            Err(error @ (SharedStoreError::Damaged { .. } | SharedStoreError::NoFile { .. })) => Err(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let trace = match found {
            Ok(trace) => trace,
            Err(why) => {
                let FleetFailureRow { signature, target, .. } = failure;
                site.is_whole = false;
                site.warnings.push(format!("{signature} in {target} is written without its trace: {why}"));
                absent.extend(["fozzy", "patch", "seed.patch"].map(address));
                continue;
            }
        };
        site.write(&folder.join(address("fozzy")), &trace)?;
        let seed = source.seed_patch_of(&failure.target, &trace);
        let patches = [("patch", Some(regression_patch(&trace))), ("seed.patch", seed)];
        for (ending, patch) in patches {
            match patch {
                Some(patch) => site.write(&folder.join(address(ending)), patch.as_bytes())?,
                None => absent.push(address(ending)),
            }
        }
        subjects.push(ExecutedSubject::Failure(failure.trace.clone()));
        subjects.extend(FailureMeasure::ALL.map(|measure| ExecutedSubject::Measured(failure.trace.clone(), measure)));
    }
    fleet.warnings.clone_from(&site.warnings);
    let runs = source.runs();
    let latest = runs.iter().map(|run| &run.run_id).filter(|id| is_plain(id)).take(RUN_PAGES_MAX);
    subjects.extend(latest.map(|id| ExecutedSubject::Run(id.clone())));
    let measured = if executes { site.execute(source, folder, &subjects)? } else { Map::new() };
    let data = json!({
        "fleet": value(&fleet), "targets": targets, "testcases": testcases, "runs": value(&runs), "measured": measured,
        "absent": absent
    });
    for name in ["fleet", "runs"] {
        site.write(&folder.join("api").join(format!("{name}.json")), text(&data[name]).as_bytes())?;
    }
    site.write(&folder.join("index.html"), page(&data).as_bytes())?;
    Ok(site)
}

/// The beginnings of a target's testcases as digits, by its id and their names, as long as there is room.
fn add_testcases(
    source: &DashboardSource,
    document: &FleetTargetDocument,
    testcases: &mut Map<String, Value>,
) -> Result<(), DashboardError> {
    let id = &document.target.id;
    for row in document.testcases.iter().take(TESTCASES_MAX.saturating_sub(testcases.len())) {
        if let Some(TestcaseBytes::Whole(bytes)) = source.testcase(id, &row.name)? {
            let shown = &bytes[..bytes.len().min(TESTCASE_BYTES_SHOWN)];
            testcases.insert(format!("{id}/{}", row.name), Value::String(hex(shown)));
        }
    }
    Ok(())
}

/// Whether the id of a run can be the name of a file: its manifest may be anybody's.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn value(document: &impl serde::Serialize) -> Value {
    serde_json::to_value(document).unwrap_or(Value::Null)
}

fn text(document: &Value) -> String {
    format!("{document:#}\n")
}

/// The page, with what it takes in it.
fn page(data: &Value) -> String {
    // In a script only `<` can end it; in JSON it may be written so.
    let data = data.to_string().replace('<', "\\u003c");
    let mut page = INDEX.to_owned();
    for asset in &ASSETS {
        let name = asset.path.trim_start_matches('/');
        let (link, whole) = match name.ends_with(".css") {
            true => (format!("<link rel=\"stylesheet\" href=\"{name}\">"), format!("<style>{}</style>", asset.content)),
            false => (format!("<script src=\"{name}\"></script>"), format!("<script>{}</script>", asset.content)),
        };
        page = page.replacen(&link, &whole, 1);
    }
    page.replacen("</head>", &format!("<script type=\"application/json\" id=\"data\">{data}</script>\n</head>"), 1)
}

impl ExportedSite {
    /// Executes what there is of these, and writes it. The pages have all of it by its address: a document, the name of a file, or why it is neither.
    fn execute(
        &mut self,
        source: &DashboardSource,
        folder: &Path,
        subjects: &[ExecutedSubject],
    ) -> Result<Map<String, Value>, DashboardError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(DashboardError::Start)?;
        let mut measured = Map::new();
        for subject in subjects {
            let Some(words) = source.command(subject)? else { continue };
            let made = runtime.block_on(execute(subject, source, &words));
            let address = subject.address();
            let shown = match made {
                Err(why) => json!({ "why": why }),
                Ok(page) if subject.is_page() => {
                    self.write(&folder.join(&address), &page)?;
                    json!({})
                }
                Ok(document) => {
                    self.write(&folder.join(format!("{address}.json")), &document)?;
                    json!({ "document": serde_json::from_slice::<Value>(&document).unwrap_or(Value::Null) })
                }
            };
            measured.insert(address, shown);
        }
        Ok(measured)
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), DashboardError> {
        let failed = |error| DashboardError::Write { path: path.display().to_string(), error };
        path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
        write_atomic(path, bytes, Durability::Cached).map_err(failed)?;
        self.files += 1;
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_everything_in_itself_and_no_name_ends_its_data() {
        let page = page(&json!({ "name": "</script><script>alert(1)</script>" }));
        assert!(!page.contains("<script src=") && !page.contains("stylesheet"), "something is loaded from elsewhere");
        assert!(page.contains(r"\u003c/script>\u003cscript>alert(1)"), "the data is not there");
        assert_eq!(page.matches("alert(1)</script>").count(), 0);
        for asset in &ASSETS {
            assert!(page.contains(asset.content), "{} is not in the page", asset.path);
        }
    }
}
