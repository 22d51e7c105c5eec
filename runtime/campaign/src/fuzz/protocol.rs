//! What the workers of one campaign tell their supervisor.
//!
//! Not here: how it is transmitted (`crate::workers`).

use super::summary::{CampaignReport, FindingReport};
use crate::workers::WorkerProtocol;
use fozzy_report::FuzzSummary;

/// What workers of a campaign report: its summary without findings, findings, and all of it at the end.
pub enum FuzzProtocol {}

impl WorkerProtocol for FuzzProtocol {
    type Progress = FuzzSummary;
    type Finding = FindingReport;
    type Report = CampaignReport;

    fn runs(progress: &FuzzSummary) -> u64 {
        progress.executions
    }
}
