//! Which comparisons are worth more executions: those that were not tried often, and those that paid.
//!
//! ```text
//! site 17 puts "GET "     tried 3 times               ─▶ again
//! site 17 puts "GET "     tried 12 times, never paid  ─▶ rarely
//! site 4 puts a sum       another one each time: bounded by its site
//! ```
//!
//! A testcase compares much of what the one compared that it was made from, so that without this most of a campaign would put
//! the same words into the same places again.
//!
//! Invariants: a pure function of what it was asked and told; what is not worth it is still let through now and then.

use super::input_to_state::OperandFixup;
use rustc_hash::FxHashMap;

/// Tries of one value of one site, and of one site, that need not have paid.
const VALUE_TRIES: u32 = 12;
const SITE_TRIES: u32 = 256;
/// The latter in explorations.
const STEP_SITE_TRIES: u32 = 24;
const STEP_TRICKLE: u32 = 32;
/// How many more tries each payment is worth.
const PAYMENT: u32 = 12;
/// One in this many comparisons below the budget is let through.
const TRICKLE: u32 = 512;
/// The same of operands, each of which has some places.
const OPERAND_TRICKLE: u32 = 128;
/// Values that are remembered; beyond them only sites are.
const VALUES_MAX: usize = 1 << 16;

#[derive(Clone, Copy, Debug, Default)]
struct TryAccount {
    tries: u32,
    paid: u32,
}

impl TryAccount {
    fn allows(self, free: u32) -> bool {
        self.tries < free.saturating_add(self.paid.saturating_mul(PAYMENT))
    }
}

/// At which of its places in an input an operand is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TriedPlaces {
    /// At none.
    None,
    /// At one, by a number for which one: it is not worth it, and let through all the same.
    One(u32),
    /// At all that its budget is left for.
    All,
}

/// What was tried, and what came of it.
#[derive(Clone, Debug)]
pub(crate) struct ComparisonBudget {
    site_tries: u32,
    trickle: u32,
    /// Whether a site is charged for each of its values once: what was met is tried again on each way to what lies behind it.
    by_value: bool,
    sites: FxHashMap<u64, TryAccount>,
    values: FxHashMap<(u64, u64), TryAccount>,
    refused: u32,
}

impl Default for ComparisonBudget {
    fn default() -> ComparisonBudget {
        ComparisonBudget {
            site_tries: SITE_TRIES,
            trickle: TRICKLE,
            by_value: false,
            sites: FxHashMap::default(),
            values: FxHashMap::default(),
            refused: 0,
        }
    }
}

impl ComparisonBudget {
    /// For tries that are steps of an exploration: a few sites that put something else each time must not take most of them.
    pub(crate) fn of_steps() -> ComparisonBudget {
        ComparisonBudget {
            site_tries: STEP_SITE_TRIES,
            trickle: STEP_TRICKLE,
            by_value: true,
            ..ComparisonBudget::default()
        }
    }

    /// Whether what a site compares may be put once more, which is not counted.
    pub(crate) fn is_left(&self, OperandFixup { site, value, .. }: OperandFixup) -> bool {
        let of_site = self.sites.get(&site).copied().unwrap_or_default();
        let of_value = self.values.get(&(site, value)).copied().unwrap_or_default();
        // What is refused may be let through, which is counted when it is tried.
        self.by_value || of_site.allows(self.site_tries) && of_value.allows(VALUE_TRIES)
    }

    /// At how many places of an input a site's operand is put, before it is known where these are: most of a log is of sites that
    /// were tried enough, which is seen here at once. `value` is a number for the bytes, if they are the same at all places.
    pub(crate) fn places(&mut self, site: u64, value: Option<u64>) -> TriedPlaces {
        let of_site = self.sites.get(&site).copied().unwrap_or_default();
        let is_worth = of_site.allows(self.site_tries)
            && value
                .is_none_or(|value| self.values.get(&(site, value)).copied().unwrap_or_default().allows(VALUE_TRIES));
        if is_worth {
            return TriedPlaces::All;
        }
        self.refused = self.refused.wrapping_add(1);
        match self.refused % OPERAND_TRICKLE {
            0 => TriedPlaces::One(self.refused / OPERAND_TRICKLE),
            _ => TriedPlaces::None,
        }
    }

    /// What a site compares was put.
    pub(crate) fn record_try(&mut self, OperandFixup { site, value, .. }: OperandFixup) {
        let key = (site, value);
        let of_site = self.sites.entry(site).or_default();
        of_site.tries = of_site.tries.saturating_add(1);
        if self.values.len() < VALUES_MAX || self.values.contains_key(&key) {
            let of_value = self.values.entry(key).or_default();
            of_value.tries = of_value.tries.saturating_add(1);
        }
    }

    /// Whether what a site compares is put once more, which is counted.
    pub(crate) fn allows(&mut self, OperandFixup { site, value, .. }: OperandFixup) -> bool {
        let key = (site, value);
        let of_site = self.sites.entry(site).or_default();
        let of_value = self.values.get(&key).copied().unwrap_or_default();
        let is_known = self.by_value && of_value.tries > 0;
        if !((is_known || of_site.allows(self.site_tries)) && of_value.allows(VALUE_TRIES)) {
            self.refused += 1;
            if !self.refused.is_multiple_of(self.trickle) {
                return false;
            }
        }
        if !self.by_value || of_value.tries == 0 {
            of_site.tries = of_site.tries.saturating_add(1);
        }
        if self.values.len() < VALUES_MAX || self.values.contains_key(&key) {
            let of_value = self.values.entry(key).or_default();
            of_value.tries = of_value.tries.saturating_add(1);
        }
        true
    }

    /// A try showed something new.
    pub(crate) fn record_success(&mut self, OperandFixup { site, value, .. }: OperandFixup) {
        let accounts = [self.sites.get_mut(&site), self.values.get_mut(&(site, value))];
        for account in accounts.into_iter().flatten() {
            account.paid = account.paid.saturating_add(1);
        }
    }

    /// How often the same bytes were put for the same site.
    pub(crate) fn tries(&self, OperandFixup { site, value, .. }: OperandFixup) -> u32 {
        self.values.get(&(site, value)).map_or(0, |account| account.tries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fuzz::input_to_state::InputToStatePair;

    fn put(site: u64, bytes: &[u8]) -> OperandFixup {
        let pair = InputToStatePair::replacing(b"find", bytes, site);
        OperandFixup::of(&pair, 0, bytes)
    }

    #[test]
    fn what_never_pays_is_let_through_rarely_and_what_pays_often() {
        let word = put(7, b"word");
        let mut budget = ComparisonBudget::default();
        let tried =
            |budget: &mut ComparisonBudget, put: OperandFixup| (0..1024).filter(|_| budget.allows(put)).count() as u32;
        let first = tried(&mut budget, word);
        assert_eq!(first, VALUE_TRIES + (1024 - VALUE_TRIES) / TRICKLE);
        assert_eq!(budget.tries(word), first);
        budget.record_success(word);
        assert!(tried(&mut budget, word) > PAYMENT / 2);
        assert!(tried(&mut budget, put(7, b"another")) >= VALUE_TRIES, "a value of its own");
    }

    #[test]
    fn an_operand_that_never_pays_is_put_at_one_place_now_and_then() {
        let (mut budget, word) = (ComparisonBudget::default(), put(7, b"word"));
        let places = |budget: &mut ComparisonBudget, put: OperandFixup| budget.places(put.site, Some(put.value));
        assert_eq!(places(&mut budget, word), TriedPlaces::All);
        (0..VALUE_TRIES).for_each(|_| budget.record_try(word));
        assert!(!budget.is_left(word));
        let asked = 4 * OPERAND_TRICKLE;
        let tried: Vec<TriedPlaces> =
            (0..asked).map(|_| places(&mut budget, word)).filter(|places| *places != TriedPlaces::None).collect();
        assert_eq!(tried, [1, 2, 3, 4].map(TriedPlaces::One), "each time at another of its places");
        assert_eq!(budget.places(7, None), TriedPlaces::All, "the site has others");
        budget.record_success(word);
        assert_eq!(places(&mut budget, word), TriedPlaces::All);
    }

    #[test]
    fn a_site_that_puts_something_else_each_time_is_bounded() {
        let mut budget = ComparisonBudget::default();
        let tries = (0..10_000u32).filter(|n| budget.allows(put(1, &n.to_le_bytes()))).count() as u32;
        assert!((SITE_TRIES..SITE_TRIES + 10_000 / TRICKLE + 1).contains(&tries), "{tries}");
    }
}
