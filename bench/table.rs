//! One row for each measure, and the table of them.

use crate::measure::Pair;
use std::fmt::Write;

/// In which unit seconds are shown.
#[derive(Clone, Copy)]
pub(crate) enum Unit {
    Milliseconds,
    Microseconds,
    /// Nanoseconds of one of so many calls.
    NanosecondsPerCall(u32),
}

impl Unit {
    fn show(self, seconds: f64) -> String {
        match self {
            Unit::Milliseconds => format!("{:.2} ms", seconds * 1e3),
            Unit::Microseconds => format!("{:.1} us", seconds * 1e6),
            Unit::NanosecondsPerCall(calls) => format!("{:.1} ns", seconds * 1e9 / f64::from(calls)),
        }
    }
}

/// What a measure must be.
#[derive(Clone, Copy)]
pub(crate) enum Bound {
    /// Our time over the other one, at the most.
    Ratio(f64),
    /// Our own time, in seconds, at the most.
    Seconds(f64),
    /// Shown for information.
    None,
}

/// What a rate must be.
#[derive(Clone, Copy)]
pub(crate) enum Least {
    /// Ours over the other one, at the least.
    Ratio(f64),
    /// Ours in a second, at the least.
    Rate(f64),
    /// Shown for information.
    None,
}

/// A finished measure.
pub(crate) struct Row([String; 6]);

impl Row {
    /// A row of two times.
    pub(crate) fn times(name: &str, pair: &Pair, unit: Unit, bound: Bound) -> Row {
        let (ours, ratio) = (pair.ours.median(), pair.ratio());
        let (must, met) = match bound {
            Bound::Ratio(max) => (format!("ratio <= {max:.2}"), Some(ratio <= max)),
            Bound::Seconds(max) => (format!("<= {}", unit.show(max)), Some(ours <= max)),
            Bound::None => (String::new(), None),
        };
        let ratio = format!("{ratio:.2} (best {:.2})", pair.ratio_of_best());
        Row([name.to_owned(), unit.show(ours), unit.show(pair.theirs.median()), ratio, must, word(met).to_owned()])
    }

    /// A row of the best times of several rounds, in milliseconds; `bound` is a ratio or nothing.
    pub(crate) fn best(name: &str, ours: f64, theirs: f64, bound: Bound) -> Row {
        let (ratio, unit) = (ours / theirs, Unit::Milliseconds);
        let (must, met) = match bound {
            Bound::Ratio(max) => (format!("ratio <= {max:.2}"), Some(ratio <= max)),
            Bound::Seconds(max) => (format!("<= {}", unit.show(max)), Some(ours <= max)),
            Bound::None => (String::new(), None),
        };
        Row([name.to_owned(), unit.show(ours), unit.show(theirs), format!("{ratio:.2}"), must, word(met).to_owned()])
    }

    /// A row of two rates: so many of something in each of two times. The ratio is ours over theirs.
    pub(crate) fn rates(name: &str, pair: &Pair, number: u32, unit: &str, least: Least) -> Row {
        let rate = |seconds: f64| f64::from(number) / seconds;
        let shown = |seconds: f64| format!("{:.0} {unit}", rate(seconds));
        let (ours, ratio) = (pair.ours.median(), pair.ratio().recip());
        let (must, met) = match least {
            Least::Ratio(least) => (format!("ratio >= {least:.2}"), Some(ratio >= least)),
            Least::Rate(least) => (format!(">= {least:.0} {unit}"), Some(rate(ours) >= least)),
            Least::None => (String::new(), None),
        };
        let ratio = format!("{ratio:.2} (best {:.2})", pair.ratio_of_best().recip());
        Row([name.to_owned(), shown(ours), shown(pair.theirs.median()), ratio, must, word(met).to_owned()])
    }

    /// A row of two counts. The ratio is ours over theirs.
    pub(crate) fn counts(name: &str, ours: usize, theirs: usize, least: Option<f64>) -> Row {
        let ratio = ours as f64 / theirs as f64;
        let must = least.map_or_else(String::new, |least| format!("ratio >= {least:.2}"));
        let met = word(least.map(|least| ratio >= least)).to_owned();
        Row([name.to_owned(), ours.to_string(), theirs.to_string(), format!("{ratio:.3}"), must, met])
    }

    /// A row of something that this machine or this build does not have.
    pub(crate) fn missing(name: &str, why: &str) -> Row {
        Row([name.to_owned(), "-".to_owned(), String::new(), why.to_owned(), String::new(), String::new()])
    }

    /// A row of three values that are not judged.
    pub(crate) fn words(name: &str, [ours, theirs, ratio]: [String; 3]) -> Row {
        Row([name.to_owned(), ours, theirs, ratio, String::new(), String::new()])
    }

    /// A row of a speed, in megabytes a second.
    pub(crate) fn speed(name: &str, ours: f64, least: f64) -> Row {
        let (shown, must) = (format!("{ours:.1} MB/s"), format!(">= {least:.0} MB/s"));
        Row([name.to_owned(), shown, String::new(), String::new(), must, word(Some(ours >= least)).to_owned()])
    }

    /// A row of a size, in bytes.
    pub(crate) fn bytes(name: &str, bytes: u64, below: u64) -> Row {
        let (ours, must) = (format!("{bytes} bytes"), format!("< {below} bytes"));
        Row([name.to_owned(), ours, String::new(), String::new(), must, word(Some(bytes < below)).to_owned()])
    }
}

fn word(met: Option<bool>) -> &'static str {
    match met {
        Some(true) => "met",
        Some(false) => "NOT MET",
        None => "",
    }
}

/// The rows under their headings, in columns.
pub(crate) fn table(rows: &[Row]) -> String {
    let headings = ["measure", "ours", "beside it", "ratio", "must be", "met"].map(str::to_owned);
    let lines: Vec<&[String; 6]> = std::iter::once(&headings).chain(rows.iter().map(|row| &row.0)).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or(0);
    let mut text = String::new();
    for line in &lines {
        let cells: Vec<String> =
            line.iter().enumerate().map(|(column, cell)| format!("{cell:<width$}", width = width(column))).collect();
        let _ = writeln!(text, "{}", cells.join(" | ").trim_end());
    }
    text
}
