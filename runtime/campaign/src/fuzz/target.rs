//! What a campaign executes: a target of the search, with what is reported of it.

use fozzy_search::fuzz::FuzzTarget;
use fozzy_trace::HarnessError;
use fozzy_trace::facts::PropertyTable;

/// A target with what a campaign reports of it.
pub trait CampaignTarget: FuzzTarget {
    /// Makes what a campaign needs before its first input.
    ///
    /// # Errors
    /// When the machine, not the target, fails, or its time is over.
    fn begin(&mut self) -> Result<(), HarnessError> {
        Ok(())
    }

    /// Why each execution begins with a new instance, one sentence each.
    fn obstacles(&self) -> &[String] {
        &[]
    }

    /// Brings the state back in which an execution begins, which otherwise the next one does.
    ///
    /// # Errors
    /// When the machine, not the target, fails.
    fn restore(&mut self) -> Result<(), HarnessError> {
        Ok(())
    }

    /// Edges that are told apart.
    fn edges_total(&self) -> u64;

    /// Calls that were repeated with fuel.
    fn repeated(&self) -> u64 {
        0
    }

    /// Executions in which a property skipped its values.
    fn skipped(&self) -> u64 {
        0
    }

    /// How the properties of the program stand over all executions.
    fn properties(&self) -> PropertyTable;
}
