//! A test as one page: its run is executed again for the messages.

use super::MaelstromOutput;
use crate::error::CampaignError;
use crate::history_check::{HistoryCheckRequest, check_read_history};
use crate::profile::run_activity;
use crate::remarks::Remarks;
use fozzy_report::RunPlayback;
use fozzy_report::maelstrom::maelstrom_page;
use fozzy_trace::Execution;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::HistoryCriterion;
use std::path::Path;

/// Bytes that the search of one part of the history may use for the page.
const MEMORY_BYTES_MAX: usize = 256 << 20;

/// The page of a test.
///
/// # Errors
/// When the run that is executed again is another one, or what was recorded is no history.
pub fn page(
    output: MaelstromOutput,
    execution: &Execution,
    recording: &Recording,
    is_over: &dyn Fn() -> bool,
    remarks: &Remarks,
) -> Result<String, CampaignError> {
    let name = format!("history of {}", output.results.name);
    let activity = run_activity(Path::new(&recording.target.name), recording)?;
    let own = execution.facts.operations.criteria.iter().find(|criterion| criterion.checker != "stats");
    let (checker, model) = match own {
        None => (Some("stats"), None),
        Some(HistoryCriterion { checker, model, .. }) if ["linearizable", "isolation"].contains(&checker.as_str()) => {
            (None, Some(model.as_str()))
        }
        Some(criterion) => (Some(criterion.checker.as_str()), None),
    };
    let request = HistoryCheckRequest {
        checker,
        options: fozzy_check::CheckerOptions::default(),
        model,
        is_sequential: false,
        memory_bytes_max: MEMORY_BYTES_MAX,
        is_over,
        has_page: true,
        write_to: None,
        remarks,
    };
    let judged = check_read_history(Path::new(&name), output.history, &request)?;
    Ok(maelstrom_page(&output.results, judged.page, &RunPlayback::of(&activity)))
}
