//! How much a function asks for tests, as a number from 0 to 100 that one line explains.
//!
//! ```text
//! CRAP = c² × (1 − covered)³ + c        c: decisions + 1, covered: share of its branches that ran
//! risk = 2 × CRAP × churn × failures    at most 100
//! ```
//!
//! CRAP is the Change Risk Anti-Patterns score (Savoia, Evans): functions of 30 and more are held to be risky, which is a risk of 60 here.
//! A function that never changes counts as it is; one that changes often counts up to twice; one in which runs have failed counts twice.
//!
//! Invariant: integers only, so that the number is the same everywhere.

use super::git::FileChurn;
use fozzy_instrument::EDGES_MAX;
use fozzy_trace::counted;

/// Commits in a year from which churn counts most: about two a month.
const COMMITS_MOST: u64 = 24;

/// What a risk is made of. More ways than a component can have count as that many.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RiskFactors {
    /// McCabe's number.
    pub complexity: u32,
    /// Whether it has branches.
    pub has_branches: bool,
    /// Ways out of its branches, or its lines where there is no branch, that ran.
    pub ran: u64,
    /// And that there are.
    pub ways: u64,
    /// How often its file changed; absent without a history.
    pub churn: Option<FileChurn>,
    /// Runs that failed in it.
    pub failures: u64,
}

/// A risk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Risk {
    /// From 0 to 100.
    pub score: u8,
    /// CRAP, in tenths.
    pub crap_tenths: u64,
    /// How it came about.
    pub why: String,
}

impl RiskFactors {
    /// The number, and its explanation.
    #[must_use]
    pub(super) fn risk(&self) -> Risk {
        let complexity = u64::from(self.complexity.min(10_000));
        let ways = self.ways.clamp(1, EDGES_MAX as u64);
        let missed = (ways - self.ran.min(ways)) as u128;
        let cube = missed.pow(3) * 10 * u128::from(complexity * complexity) / (ways as u128).pow(3);
        let crap_tenths = u64::try_from(cube).unwrap_or(u64::MAX).saturating_add(complexity * 10);
        // In percent: each commit adds a part, the last one that counts makes it double.
        let commits = u64::from(self.churn.map_or(0, |churn| churn.commits));
        let churn = 100 + commits.min(COMMITS_MOST) * 100 / COMMITS_MOST;
        let failures = if self.failures > 0 { 200 } else { 100 };
        let score = crap_tenths.saturating_mul(2).saturating_mul(churn).saturating_mul(failures) / (10 * 100 * 100);
        let share = self.ran.min(ways) * 100 / ways;
        let mut why = format!(
            "complexity {complexity}, {share} % of its {} ran: CRAP {}",
            if self.has_branches { "branches" } else { "lines" },
            tenths(crap_tenths)
        );
        if commits > 0 {
            why.push_str(&format!("; {} in 12 months: x{}", counted(commits, "commit"), hundredths(churn)));
        }
        if self.failures > 0 {
            why.push_str(&format!("; {} failed in it: x2", counted(self.failures, "run")));
        }
        Risk { score: u8::try_from(score.min(100)).unwrap_or(100), crap_tenths, why }
    }
}

fn tenths(number: u64) -> String {
    match number % 10 {
        0 => (number / 10).to_string(),
        tenth => format!("{}.{tenth}", number / 10),
    }
}

fn hundredths(number: u64) -> String {
    format!("{}.{:02}", number / 100, number % 100)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn risk(complexity: u32, ran: u64, ways: u64, commits: u32, failures: u64) -> Risk {
        let churn = (commits > 0).then_some(FileChurn { commits, lines: 0 });
        RiskFactors { complexity, has_branches: true, ran, ways, churn, failures }.risk()
    }

    #[test]
    fn the_threshold_of_crap_is_sixty() {
        // The published table: a function of five decisions without a test is at the threshold.
        assert_eq!((risk(5, 0, 10, 0, 0).crap_tenths, risk(5, 0, 10, 0, 0).score), (300, 60));
        assert_eq!((risk(30, 10, 10, 0, 0).crap_tenths, risk(30, 10, 10, 0, 0).score), (300, 60));
        assert_eq!(risk(1, 0, 0, 0, 0).score, 4);
    }

    #[test]
    fn it_is_never_beyond_a_hundred_and_grows_with_each_part() {
        assert_eq!(risk(u32::MAX, 0, u64::MAX, 500, 9).score, 100);
        let plain = risk(5, 5, 10, 0, 0).score;
        assert!(plain < risk(5, 4, 10, 0, 0).score && plain < risk(6, 5, 10, 0, 0).score);
        assert!(plain < risk(5, 5, 10, 3, 0).score && plain < risk(5, 5, 10, 0, 1).score);
    }

    #[test]
    fn one_line_explains_it() {
        let why =
            "complexity 5, 50 % of its branches ran: CRAP 8.1; 12 commits in 12 months: x1.50; 1 run failed in it: x2";
        assert_eq!(risk(5, 5, 10, 12, 1).why, why);
    }
}
