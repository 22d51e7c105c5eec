//! A long campaign: resident memory at each quarter of its executions. What grows with executions is a leak, as the corpus
//! grows less and less.

use super::number;
use super::ours::{Ours, campaign};
use super::targets::components;
use crate::table::Row;

/// Executions of each quarter, unless FOZZY_BENCH_EXECUTIONS says otherwise.
const QUARTER: u64 = 250_000;
/// What the last quarter may add.
const GROWTH_BYTES_MAX: u64 = 16 << 20;

/// The rows of the group.
pub(crate) fn memory() -> Vec<Row> {
    let components = components();
    let quarter = number("FOZZY_BENCH_EXECUTIONS", QUARTER);
    // One that returns, and one that fails often: each trap costs an instance.
    ["json", "hjson"]
        .map(|name| {
            let mut target = Ours::new(&components, name);
            let resident: Vec<u64> = (0..4)
                .map(|seed| {
                    campaign(&mut target, seed, quarter, f64::MAX, false);
                    resident_bytes()
                })
                .collect();
            println!("{name}: {quarter} executions each: {resident:?} bytes resident");
            let growth = resident[3].saturating_sub(resident[2]);
            Row::bytes(
                &format!("{name}, resident memory added by the last of four campaigns"),
                growth,
                GROWTH_BYTES_MAX,
            )
        })
        .into()
}

fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this is Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has the line");
    line.trim().trim_end_matches("kB").trim().parse::<u64>().expect("a number") << 10
}
