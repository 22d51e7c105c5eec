//! Shares of the runs of a campaign.
//!
//! ```text
//! 10 runs, 4 workers   3 3 2 2
//! 1 run, 2 workers     1          the second would have nothing to do, and is not started
//! ```
//!
//! Invariant: shares differ by at most one, none is empty, and together they are all runs.

/// The shares of several workers; of each, `None` when runs are not bounded.
pub(super) fn shares(runs: Option<u64>, workers: u32) -> Vec<Option<u64>> {
    let Some(runs) = runs else { return vec![None; workers as usize] };
    let (each, more) = (runs / u64::from(workers), runs % u64::from(workers));
    let of = |number| each + u64::from(u64::from(number) < more);
    (0..workers).map(of).filter(|share| *share > 0).map(Some).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_even_and_together_all_runs() {
        let of = |runs, workers| shares(Some(runs), workers).into_iter().flatten().collect::<Vec<u64>>();
        assert_eq!(of(10, 4), [3, 3, 2, 2]);
        assert_eq!(of(9, 3), [3, 3, 3]);
        assert_eq!(of(1, 2), [1]);
        assert!(of(0, 2).is_empty());
        assert_eq!(shares(None, 2), [None, None]);
        for (runs, workers) in [(12_001, 2), (7, 256), (u64::MAX, 3), (1_000, 7)] {
            assert_eq!(of(runs, workers).iter().sum::<u64>(), runs);
        }
    }
}
