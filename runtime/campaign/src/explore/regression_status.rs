//! How a failure of before stands with the program of today.
//!
//! Not here: how that is found out (`retrial`), and what it means for a suite.

/// How a kept failure stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegressionStatus {
    /// The program of today fails so.
    StillThere,
    /// It passes by the same decisions, or where the recorded program fails by other ones (`retrial`).
    Fixed,
    /// It fails by the same decisions, with other words: a failure of its own.
    FailsOtherwise,
    /// It decides otherwise, and cannot be compared: the trace says nothing any more.
    Stale,
}

impl RegressionStatus {
    /// The word in documents.
    pub const fn word(self) -> &'static str {
        match self {
            RegressionStatus::StillThere => "still there",
            RegressionStatus::Fixed => "fixed",
            RegressionStatus::FailsOtherwise => "fails otherwise",
            RegressionStatus::Stale => "stale",
        }
    }

    /// Whether the program of today fails.
    pub const fn is_failure(self) -> bool {
        matches!(self, RegressionStatus::StillThere | RegressionStatus::FailsOtherwise)
    }
}
