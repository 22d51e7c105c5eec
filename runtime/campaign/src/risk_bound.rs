//! The risk at which a search may end: what one more minute would still find.
//!
//! Not here: how that chance is estimated (`fozzy_search::stats::Outlook`).

use fozzy_plan::FaultRate;
use fozzy_search::stats::Outlook;

/// Nanoseconds of the search that is weighed.
const MINUTE_NS: f64 = 60e9;

/// The chance that one more minute finds something new, at which a search ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RiskBound(f64);

impl RiskBound {
    /// Reads `5%`, `0.05` and the like: more than nothing, less than certain.
    ///
    /// # Errors
    /// When it is no such share.
    ///
    /// ```
    /// use fozzy_campaign::RiskBound;
    /// assert!(RiskBound::parse("5%").is_ok());
    /// assert!(RiskBound::parse("0%").is_err()); // no search ever gets there
    /// ```
    pub fn parse(text: &str) -> Result<RiskBound, String> {
        let refusal = || format!("a risk is more than 0 % and less than 100 %, such as 5%; found {text}");
        let share = FaultRate::parse(text).map(FaultRate::share).map_err(|_| refusal())?;
        if share <= 0.0 || share >= 1.0 {
            return Err(refusal());
        }
        Ok(RiskBound(share))
    }

    /// Whether a search of `elapsed_ns` has come to it.
    #[must_use]
    pub fn is_met(self, outlook: Outlook, elapsed_ns: u64) -> bool {
        elapsed_ns > 0 && self.allows(outlook.chance(MINUTE_NS / elapsed_ns as f64))
    }

    /// Whether this chance is low enough.
    #[must_use]
    pub fn allows(self, chance: f64) -> bool {
        chance <= self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quiet_search_comes_to_it_and_a_busy_one_does_not() {
        let minutes = |minutes: u64| minutes * 60_000_000_000;
        let (five, quiet) = (RiskBound::parse("5%").expect("a share"), Outlook { discoveries: 0 });
        assert!(!five.is_met(quiet, 0) && !five.is_met(quiet, minutes(10)) && five.is_met(quiet, minutes(14)));
        assert!(
            !five.is_met(Outlook { discoveries: 3 }, minutes(14))
                && five.is_met(Outlook { discoveries: 3 }, minutes(120))
        );
        let one = RiskBound::parse("1%").expect("a share");
        assert!(!one.is_met(quiet, minutes(60)) && one.is_met(quiet, minutes(75)));
    }

    #[test]
    fn what_is_no_risk_is_refused() {
        for text in ["0", "0%", "100%", "2", "5", "-1%", "", "5 percent"] {
            let refused = RiskBound::parse(text).expect_err("it is none");
            assert!(refused.starts_with("a risk is more than 0 % and less than 100 %"), "{text}: {refused}");
        }
    }
}
