//! A parser that takes the square of its input's length: the rate of a campaign's last tenth, beside that of its first.
//!
//! ```text
//! executions │▆▆▆▆▅▅▅▅▅▅│        the first tenth of 600 s is the first minute
//!            0       CPU s
//! ```
//!
//! Such a campaign sinks if it mutates its slowest inputs as often as the others.

use super::number;
use super::ours::{Ours, campaign};
use super::targets::components;
use crate::measure::{Pair, Times};
use crate::table::{Least, Row};

/// CPU seconds of a campaign, unless FOZZY_BENCH_SECONDS says otherwise, and its parts.
const SECONDS: u64 = 60;
const PARTS: u64 = 10;
/// The rate of the last part over that of the first.
const LEAST: f64 = 0.5;

/// The row of the group.
pub(crate) fn slow() -> Vec<Row> {
    let (seeds, seconds) = (number("FOZZY_BENCH_SEEDS", 1), number("FOZZY_BENCH_SECONDS", SECONDS).max(PARTS));
    let part = (seconds / PARTS) as usize;
    let components = components();
    let rounds = (0..seeds).map(|seed| {
        let mut target = Ours::new(&components, "links");
        let (_, watched, _) = campaign(&mut target, seed, u64::MAX, seconds as f64, false);
        let done = watched.done_by_second;
        let executions = |from: usize, to: usize| {
            let before = from.checked_sub(1).map_or(0, |second| done[second]);
            done[to - 1] - before
        };
        let parts: Vec<u64> = (0..PARTS as usize).map(|tenth| executions(tenth * part, (tenth + 1) * part)).collect();
        println!("links seed {seed}: executions of each tenth of {seconds} CPU s: {parts:?}");
        let seconds_each = |executions: u64| part as f64 / executions as f64;
        (seconds_each(parts[parts.len() - 1]), seconds_each(parts[0]))
    });
    let (last, first) = rounds.unzip();
    let pair = Pair { ours: Times::new(last), theirs: Times::new(first) };
    let name = format!("quadratic parser, last {part} s of {seconds} (the first ones)");
    vec![Row::rates(&name, &pair, 1, "executions/s", Least::Ratio(LEAST))]
}
