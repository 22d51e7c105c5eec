//! Which comparisons are worth more executions: those that were not tried often, and those that paid.
//!
//! ```text
//! site 17 puts "GET "     tried 3 times               ─▶ again
//! site 17 puts "GET "     tried 40 times, never paid  ─▶ rarely
//! site 4 puts a sum       another one each time: bounded by its site
//! ```
//!
//! A testcase compares much of what the one compared that it was made from, so that without this most of a campaign would put
//! the same words into the same places again.
//!
//! Invariants: a pure function of what it was asked and told; what is not worth it is still let through now and then.

use super::compared::Pair;
use std::collections::BTreeMap;

/// Tries of one value of one site, and of one site, that need not have paid.
const VALUE_TRIES: u32 = 24;
const SITE_TRIES: u32 = 768;
/// How many more tries each payment is worth.
const PAYMENT: u32 = 48;
/// Of what is not worth it, one in so many is let through.
const TRICKLE: u32 = 64;
/// Values that are remembered; beyond them only sites are.
const VALUES_MAX: usize = 1 << 16;

#[derive(Clone, Copy, Debug, Default)]
struct Account {
    tries: u32,
    paid: u32,
}

impl Account {
    fn allows(self, free: u32) -> bool {
        self.tries < free.saturating_add(self.paid.saturating_mul(PAYMENT))
    }
}

/// What was tried, and what came of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worth {
    sites: BTreeMap<u64, Account>,
    values: BTreeMap<(u64, u64), Account>,
    refused: u32,
}

impl Worth {
    /// Whether `pair` is tried once more, which is counted.
    pub(crate) fn allows(&mut self, pair: &Pair) -> bool {
        let key = (pair.site, pair.value());
        let site = self.sites.entry(pair.site).or_default();
        let value = self.values.get(&key).copied().unwrap_or_default();
        if !(site.allows(SITE_TRIES) && value.allows(VALUE_TRIES)) {
            self.refused += 1;
            if !self.refused.is_multiple_of(TRICKLE) {
                return false;
            }
        }
        site.tries = site.tries.saturating_add(1);
        if self.values.len() < VALUES_MAX || self.values.contains_key(&key) {
            let value = self.values.entry(key).or_default();
            value.tries = value.tries.saturating_add(1);
        }
        true
    }

    /// A try of `pair` showed something new.
    pub(crate) fn paid(&mut self, pair: &Pair) {
        let accounts = [self.sites.get_mut(&pair.site), self.values.get_mut(&(pair.site, pair.value()))];
        for account in accounts.into_iter().flatten() {
            account.paid = account.paid.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_never_pays_is_let_through_rarely_and_what_pays_often() {
        let pair = Pair::of_bytes(b"find", b"put", 7);
        let mut worth = Worth::default();
        let tried = |worth: &mut Worth, pair: &Pair| (0..640).filter(|_| worth.allows(pair)).count() as u32;
        let first = tried(&mut worth, &pair);
        assert_eq!(first, VALUE_TRIES + (640 - VALUE_TRIES) / TRICKLE);
        worth.paid(&pair);
        assert!(tried(&mut worth, &pair) > PAYMENT / 2);
        let other = Pair::of_bytes(b"find", b"another", 7);
        assert!(tried(&mut worth, &other) >= VALUE_TRIES, "a value of its own");
    }

    #[test]
    fn a_site_that_puts_something_else_each_time_is_bounded() {
        let mut worth = Worth::default();
        let tries =
            (0..10_000u32).filter(|n| worth.allows(&Pair::of_bytes(b"sum", &n.to_le_bytes(), 1))).count() as u32;
        assert!((SITE_TRIES..SITE_TRIES + 10_000 / TRICKLE + 1).contains(&tries), "{tries}");
    }
}
