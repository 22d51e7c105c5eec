//! Where the real time of a campaign went.
//!
//! Not here: how it is measured (`fozzy-campaign`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A campaign of less real time is not told where it went.
const TOLD_NS: u64 = 10_000_000_000;

/// Real time of a campaign by what it was for, in nanoseconds, of all workers together. That of quick executions is a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TimeSpent {
    /// Executions of inputs.
    pub program_ns: u64,
    /// Bringing the state back in which each of them begins.
    pub restore_ns: u64,
    /// Executions that log comparisons, and what is made of their logs.
    pub comparisons_ns: u64,
    /// Files of the corpus.
    pub files_ns: u64,
    /// Runs that confirm and record findings, and their files.
    pub findings_ns: u64,
    /// The search itself: what is changed, how, and whether something new came of it.
    pub search_ns: u64,
}

impl TimeSpent {
    fn parts(&self) -> [(u64, &'static str); 6] {
        [
            (self.program_ns, "the program"),
            (self.restore_ns, "its start states"),
            (self.comparisons_ns, "comparisons"),
            (self.files_ns, "files"),
            (self.findings_ns, "findings"),
            (self.search_ns, "the search"),
        ]
    }

    /// All of it.
    #[must_use]
    pub fn total_ns(&self) -> u64 {
        self.parts().iter().fold(0, |sum, (part, _)| sum.saturating_add(*part))
    }

    /// Adds that of another worker.
    pub fn add(&mut self, other: &TimeSpent) {
        let TimeSpent { program_ns, restore_ns, comparisons_ns, files_ns, findings_ns, search_ns } = self;
        for (into, from) in [
            (program_ns, other.program_ns),
            (restore_ns, other.restore_ns),
            (comparisons_ns, other.comparisons_ns),
            (files_ns, other.files_ns),
            (findings_ns, other.findings_ns),
            (search_ns, other.search_ns),
        ] {
            *into = into.saturating_add(from);
        }
    }

    /// The line for people, of a campaign that took some time.
    pub(crate) fn line(&self) -> Option<String> {
        let total = self.total_ns();
        let percent = |part: u64| (u128::from(part) * 100 + u128::from(total) / 2) / u128::from(total.max(1));
        let told = self.parts().into_iter().filter(|(part, _)| percent(*part) > 0);
        let parts: Vec<String> = told.map(|(part, what)| format!("{} % {what}", percent(part))).collect();
        (total >= TOLD_NS).then(|| format!("time: {}", parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_the_whole_and_a_short_campaign_has_no_line() {
        let mut spent = TimeSpent { program_ns: 3_000_000_000, search_ns: 1_960_000_000, ..TimeSpent::default() };
        spent.files_ns = 20_000_000;
        assert_eq!(spent.line(), None);
        let other = TimeSpent { restore_ns: 5_020_000_000, ..TimeSpent::default() };
        spent.add(&other);
        assert_eq!(spent.total_ns(), 10_000_000_000);
        assert_eq!(spent.line().as_deref(), Some("time: 30 % the program, 50 % its start states, 20 % the search"));
    }
}
