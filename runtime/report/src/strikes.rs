//! What became of the planned faults of a run, in the document and in rows for people.
//!
//! ```text
//! fault     write-error on /data/*: struck 1 of 102 chances: /data/log at 12us, call 7
//! fault     no strike: read-error (12 chances)
//! note      io-error on /dta/*: no target matched; there were /data/log, /data/new
//! power     server lost power at 1.2ms, and with it:
//!             the name /data/log: its directory was not synced since; 13 writes with it (416 bytes)
//! ```
//!
//! Not here: what is counted (`fozzy_trace::facts::InjectedFaults`).

use crate::pretty::{Style, counted, grouped};
use crate::summary::RunSummary;
use fozzy_trace::facts::{FaultOverlaps, FaultTally, InjectedFaults, PowerLossRecord, StrikeRecord};
use fozzy_trace::{Duration, Instant};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of one planned fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FaultSummary {
    /// Its kind.
    pub kind: String,
    /// Its target, as planned.
    pub target: String,
    /// Operations that it could have struck: its kind, its target and its time fit.
    pub chances: u64,
    /// How often it struck.
    pub strikes: u64,
    /// The first strikes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<StrikeSummary>,
    /// Virtual time of the last strike, in nanoseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_at_ns: Option<u64>,
    /// Why it had no chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// What became of one planned fault over many runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FaultTotal {
    /// Its kind.
    pub kind: String,
    /// Its target, as planned.
    pub target: String,
    /// Operations that it could have struck, in all runs.
    pub chances: u64,
    /// How often it struck, in all runs.
    pub strikes: u64,
    /// Runs in which it struck.
    pub runs: u64,
    /// Why it had no chance in any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Planned faults over many runs, while these are counted.
#[derive(Clone, Debug, Default)]
pub struct FaultTotals {
    /// With the number of runs in which it struck.
    rules: Vec<(FaultTally, u64)>,
    overlaps: FaultOverlaps,
    /// Runs in which both of two rules struck, by their places.
    pairs: BTreeMap<(usize, usize), u64>,
}

/// Two planned faults that struck, together or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultPair {
    /// A fault, as `kind on target`.
    pub fault: String,
    /// Another one, which stands behind it in the plan.
    pub other: String,
    /// Runs in which both struck.
    pub runs: u64,
}

/// Two things that were at work together, or never were.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FaultOverlap {
    /// A nemesis.
    pub nemesis: String,
    /// Another one, or the first word of an operation.
    pub with: String,
    /// Whether that is an operation.
    pub is_operation: bool,
    /// How often, in all runs: strikes of the one during the other; beginnings and ends of operations during the nemesis.
    pub times: u64,
}

impl FaultTotals {
    /// Adds a run of the same plan.
    pub fn add(&mut self, InjectedFaults { rules, overlaps, .. }: &InjectedFaults) {
        self.overlaps.add(overlaps);
        self.rules.resize_with(rules.len().max(self.rules.len()), Default::default);
        for ((total, runs), rule) in self.rules.iter_mut().zip(rules) {
            total.add(rule);
            *runs += u64::from(rule.strikes > 0);
        }
        let struck: Vec<usize> = (0..rules.len()).filter(|place| rules[*place].strikes > 0).collect();
        for (at, place) in struck.iter().enumerate() {
            for other in &struck[at + 1..] {
                *self.pairs.entry((*place, *other)).or_default() += 1;
            }
        }
    }

    /// What became of them, in the order of the plan.
    #[must_use]
    pub fn totals(&self) -> Vec<FaultTotal> {
        let of = |(tally, runs): &(FaultTally, u64)| FaultTotal {
            kind: tally.kind.clone(),
            target: tally.target.clone(),
            chances: tally.chances,
            strikes: tally.strikes,
            runs: *runs,
            note: note(
                tally,
                match tally.kind.as_str() {
                    MEMBERSHIP => NO_MEMBERS,
                    _ => "no run did anything that this kind strikes",
                },
            ),
        };
        self.rules.iter().map(of).collect()
    }
}

impl FaultTotals {
    /// All pairs of faults that struck in any run; those that never struck in the same one have zero runs.
    #[must_use]
    pub fn together(&self) -> Vec<FaultPair> {
        let struck = |place: &usize| self.rules[*place].0.strikes > 0;
        let struck: Vec<usize> = (0..self.rules.len()).filter(struck).collect();
        let name = |place: usize| fault_name(&self.rules[place].0.kind, &self.rules[place].0.target);
        let pair = |(place, other): (usize, usize)| FaultPair {
            fault: name(place),
            other: name(other),
            runs: self.pairs.get(&(place, other)).copied().unwrap_or(0),
        };
        let behind = |(at, place): (usize, &usize)| {
            struck[at + 1..].iter().map(move |other| (*place, *other)).collect::<Vec<_>>()
        };
        struck.iter().enumerate().flat_map(behind).map(pair).collect()
    }

    /// Which nemeses were at work together, and with which operations; those that never were have zero times, and those that never can be
    /// are left out.
    #[must_use]
    pub fn overlaps(&self) -> Vec<FaultOverlap> {
        let FaultOverlaps { nemeses, pairs, apart, operations, names } = &self.overlaps;
        let name = |place: usize| {
            let rule = self.rules.get(place).map(|(tally, _)| (tally.kind.as_str(), tally.target.as_str()));
            rule.map_or_else(String::new, |(kind, target)| fault_name(kind.trim_start_matches("nemesis-"), target))
        };
        let mut cells = Vec::new();
        for (at, place) in nemeses.iter().enumerate() {
            for other in &nemeses[at + 1..] {
                let times = pairs.get(&(*place, *other)).copied().unwrap_or(0);
                if times > 0 || !apart.contains(&(*place, *other)) {
                    cells.push(FaultOverlap { nemesis: name(*place), with: name(*other), is_operation: false, times });
                }
            }
            for operation in names {
                let times = operations.get(&(operation.clone(), *place)).copied().unwrap_or(0);
                let with = operation.clone();
                cells.push(FaultOverlap { nemesis: name(*place), with, is_operation: true, times });
            }
        }
        cells
    }
}

/// Combinations that are named; the document has all.
const OVERLAPS_SHOWN: usize = 12;

/// A row for people: how many combinations of nemeses, and of nemeses and operations, there were, and which never were.
pub(crate) fn overlap_row(overlaps: &[FaultOverlap]) -> Option<(&'static str, String)> {
    if overlaps.is_empty() {
        return None;
    }
    let never: Vec<String> = overlaps
        .iter()
        .filter(|cell| cell.times == 0)
        .map(|cell| format!("{} with {}", cell.nemesis.escape_debug(), cell.with.escape_debug()))
        .collect();
    let met = overlaps.len() - never.len();
    let met = format!("{} of {} met", grouped(met as u64), counted(overlaps.len() as u64, "combination"));
    let shown = never.iter().take(OVERLAPS_SHOWN).cloned().collect::<Vec<_>>().join(", ");
    let more = match never.len().saturating_sub(OVERLAPS_SHOWN) {
        0 => String::new(),
        more => format!(", and {} more", grouped(more as u64)),
    };
    let never = if never.is_empty() { String::new() } else { format!("; never {shown}{more}") };
    Some(("overlaps", format!("{met}{never}")))
}

/// Rows for people: a key and a line for each fault.
pub(crate) fn total_rows(totals: &[FaultTotal], runs: u64) -> Vec<(&'static str, String)> {
    let row = |total: &FaultTotal| {
        let FaultTotal { kind, target, chances, strikes, runs: struck, note } = total;
        let name = fault_name(kind, target);
        match note {
            Some(note) => ("note", format!("{name}: {}", note.escape_debug())),
            None => {
                let times = format!("struck {} of {}", grouped(*strikes), counted(*chances, "chance"));
                ("fault", format!("{name}: {times}, in {} of {}", grouped(*struck), counted(runs, "seed")))
            }
        }
    };
    totals.iter().map(row).collect()
}

/// `write-error on /data/*`
fn fault_name(kind: &str, target: &str) -> String {
    match target {
        "*" => kind.to_owned(),
        target => format!("{kind} on {}", target.escape_debug()),
    }
}

/// One strike of a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StrikeSummary {
    /// Virtual time, in nanoseconds.
    pub virtual_time_ns: u64,
    /// The number of the call that it struck.
    pub call: u64,
    /// The machine whose operation it struck.
    pub machine: String,
    /// What it struck.
    pub target: String,
    /// How hard, such as `1s` or `512 bytes`; absent when the kind has no strength.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<String>,
}

/// One loss of power.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PowerLossSummary {
    /// Virtual time, in nanoseconds.
    pub virtual_time_ns: u64,
    /// The machine.
    pub machine: String,
    /// What its disk lost, a sentence each; empty when it kept everything.
    pub lost: Vec<String>,
}

/// Strikes of one fault that are shown to people.
const STRIKES_SHOWN: usize = 3;
/// Losses of power that are shown to people.
const LOSSES_SHOWN: usize = 4;

impl FaultSummary {
    pub(crate) fn all(injected: &InjectedFaults) -> Vec<FaultSummary> {
        injected.rules.iter().map(FaultSummary::of).collect()
    }

    fn of(tally: &FaultTally) -> FaultSummary {
        FaultSummary {
            kind: tally.kind.clone(),
            target: tally.target.clone(),
            chances: tally.chances,
            strikes: tally.strikes,
            first: tally.first.iter().map(StrikeSummary::of).collect(),
            last_at_ns: (tally.strikes > 0).then_some(tally.last.0),
            note: note(tally, nothing_of(&tally.kind)),
        }
    }

    fn name(&self) -> String {
        fault_name(&self.kind, &self.target)
    }

    /// `write-error: struck 1 of 102 chances: /data/log at 12us, call 7`
    fn line(&self) -> String {
        let mut shown: Vec<String> = self.first.iter().take(STRIKES_SHOWN).map(StrikeSummary::words).collect();
        if let Some(last) = self.last_at_ns.filter(|_| self.strikes > STRIKES_SHOWN as u64) {
            shown.push(format!("the last at {}", Duration(last)));
        }
        let (name, strikes) = (self.name(), grouped(self.strikes));
        format!("{name}: struck {strikes} of {}: {}", counted(self.chances, "chance"), shown.join("; "))
    }
}

impl StrikeSummary {
    fn of(strike: &StrikeRecord) -> StrikeSummary {
        let StrikeRecord { at: Instant(at), call, machine, target, strength } = strike.clone();
        let strength = Some(strength).filter(|strength| !strength.is_empty());
        StrikeSummary { virtual_time_ns: at, call, machine, target, strength }
    }

    fn words(&self) -> String {
        let strength = self.strength.as_ref().map(|strength| format!(" ({})", percent(strength))).unwrap_or_default();
        let at = Duration(self.virtual_time_ns);
        format!("{} at {at}, call {}{strength}", self.target.escape_debug(), self.call)
    }
}

/// A strength in millionths as plans have it in percent: `30%` of `300000 ppm`. What is nothing of that kind stays as it is.
fn percent(strength: &str) -> String {
    let Some(millionths) = strength.strip_suffix(" ppm").and_then(|number| number.parse::<u64>().ok()) else {
        return strength.to_owned();
    };
    let (whole, rest) = (millionths / 10_000, millionths % 10_000);
    let digits = format!("{rest:04}");
    let digits = digits.trim_end_matches('0');
    if digits.is_empty() { format!("{whole}%") } else { format!("{whole}.{digits}%") }
}

impl PowerLossSummary {
    pub(crate) fn all(injected: &InjectedFaults) -> Vec<PowerLossSummary> {
        let of = |loss: &PowerLossRecord| PowerLossSummary {
            virtual_time_ns: loss.at.0,
            machine: loss.machine.clone(),
            lost: loss.lost.clone(),
        };
        injected.losses.iter().map(of).collect()
    }
}

/// The nemesis that needs a program which has machines leave and join.
const MEMBERSHIP: &str = "nemesis-membership";
const NO_MEMBERS: &str =
    "no program has machines leave and join: `.members(LEAST, …)` of the SDK does, of more machines than LEAST";

/// Why a kind had nothing to strike in a run.
fn nothing_of(kind: &str) -> &'static str {
    match kind {
        "allocation-failure" => {
            "the program has allocated nothing, or its allocator is not known: it is recognised by names, which a stripped program has not"
        }
        MEMBERSHIP => NO_MEMBERS,
        _ => "the run did nothing that this kind strikes",
    }
}

/// Why a fault had no chance to strike; `nothing` where there was nothing of its kind.
fn note(tally: &FaultTally, nothing: &str) -> Option<String> {
    match (tally.chances, tally.matched, tally.asked) {
        (0, 0, 0) => Some(nothing.to_owned()),
        (0, 0, _) => Some(format!("no target matched; there were {}", tally.missed.join(", "))),
        (0, _, _) => Some("its time never came while there was something to strike".to_owned()),
        _ => None,
    }
}

/// Rows for people: a key and a line each.
pub(crate) fn fault_rows(
    faults: &[FaultSummary],
    losses: &[PowerLossSummary],
    losses_more: u64,
) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    rows.extend(faults.iter().filter(|fault| fault.strikes > 0).map(|fault| ("fault", fault.line())));
    let missed = |fault: &&FaultSummary| fault.strikes == 0 && fault.chances > 0;
    let names = faults.iter().filter(missed).map(|fault| {
        let chances = counted(fault.chances, "chance");
        format!("{} ({chances})", fault.name())
    });
    let names = names.collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        rows.push(("fault", format!("no strike: {names}")));
    }
    // One row for all that nothing was done for, which are many where a whole group is planned.
    let idle = |fault: &FaultSummary| fault.target == "*" && fault.note.is_some();
    let names = faults.iter().filter(|fault| idle(fault)).map(FaultSummary::name).collect::<Vec<_>>().join(", ");
    if !names.is_empty() {
        rows.push(("note", format!("no chance to strike: {names}")));
    }
    for fault in faults.iter().filter(|fault| !idle(fault)) {
        rows.extend(fault.note.iter().map(|note| ("note", format!("{}: {}", fault.name(), note.escape_debug()))));
    }
    for loss in losses.iter().take(LOSSES_SHOWN) {
        let lost = if loss.lost.is_empty() { "; nothing was lost" } else { ", and with it:" };
        let (machine, at) = (loss.machine.escape_debug(), Duration(loss.virtual_time_ns));
        rows.push(("power", format!("{machine} lost power at {at}{lost}")));
        rows.extend(loss.lost.iter().map(|lost| ("", format!("  {}", lost.escape_debug()))));
    }
    let more = losses_more + losses.len().saturating_sub(LOSSES_SHOWN) as u64;
    if more > 0 {
        rows.push(("power", format!("and {} more", grouped(more))));
    }
    rows
}

/// The rows of a run, as they stand in a block of a suite.
pub(crate) fn fault_block(run: &RunSummary, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let rows = fault_rows(&run.faults, &run.power_losses, run.power_losses_more);
    rows.iter().map(|(key, line)| format!("  {faint}{key:<9}{end} {line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(kind: &str, target: &str, counts: (u64, u64, u64, u64)) -> FaultTally {
        let (asked, matched, chances, strikes) = counts;
        let mut tally = FaultTally { kind: kind.to_owned(), target: target.to_owned(), ..FaultTally::default() };
        let strength = if kind == "partition" { "2s" } else { "" };
        for call in 0..strikes {
            let at = Instant(1_000_000 * (call + 1));
            let (machine, target) = ("main".to_owned(), "/data/a".to_owned());
            tally.strike(at, || StrikeRecord { at, call, machine, target, strength: strength.to_owned() });
        }
        FaultTally { asked, matched, chances, ..tally }
    }

    #[test]
    fn a_drift_is_told_in_percent() {
        let shown = ["300000 ppm", "500 ppm", "1 ppm", "1s", "x ppm"].map(percent);
        assert_eq!(shown, ["30%", "0.05%", "0.0001%", "1s", "x ppm"]);
    }

    #[test]
    fn a_nemesis_that_no_program_serves_says_what_is_missing() {
        let rules = vec![tally("nemesis-membership", "*", (0, 0, 0, 0))];
        let run = InjectedFaults { rules, ..InjectedFaults::default() };
        let mut totals = FaultTotals::default();
        totals.add(&run);
        let notes = [FaultSummary::all(&run)[0].note.clone(), totals.totals()[0].note.clone()];
        assert_eq!(notes, [Some(NO_MEMBERS.to_owned()), Some(NO_MEMBERS.to_owned())]);
    }

    #[test]
    fn pairs_of_nemeses_that_cannot_meet_are_left_out() {
        let kinds = ["nemesis-kill", "nemesis-pause", "nemesis-power-loss"];
        let rules = kinds.into_iter().map(|kind| tally(kind, "*", (9, 9, 9, 1))).collect();
        let overlaps = FaultOverlaps { nemeses: vec![0, 1, 2], apart: [(0, 2)].into(), ..FaultOverlaps::default() };
        let mut totals = FaultTotals::default();
        totals.add(&InjectedFaults { rules, overlaps, ..InjectedFaults::default() });
        let row = overlap_row(&totals.overlaps()).expect("there are nemeses").1;
        assert_eq!(row, "0 of 2 combinations met; never kill with pause, pause with power-loss");
    }

    #[test]
    fn pairs_of_faults_are_counted_by_runs_and_those_that_never_struck_are_none() {
        let run = |strikes: [u64; 4]| {
            let kinds = ["a", "b", "c", "never"].into_iter().zip(strikes);
            let rules = kinds.map(|(kind, strikes)| tally(kind, "*", (9, 9, 9, strikes))).collect();
            InjectedFaults { rules, ..InjectedFaults::default() }
        };
        let mut totals = FaultTotals::default();
        [[2, 1, 0, 0], [1, 5, 0, 0], [0, 0, 1, 0]].map(run).iter().for_each(|run| totals.add(run));
        let pairs: Vec<String> = totals
            .together()
            .into_iter()
            .map(|FaultPair { fault, other, runs }| format!("{fault} {other} {runs}"))
            .collect();
        assert_eq!(pairs, ["a b 2", "a c 0", "b c 0"]);
    }

    #[test]
    fn strikes_chances_and_what_never_matched_are_told() {
        let mut slip = tally("io-error", "/dta/*", (7, 0, 0, 0));
        slip.miss("/data/a");
        slip.miss("/data/a");
        slip.miss("/data/b");
        let rules = vec![
            tally("write-error", "/data/*", (130, 102, 102, 1)),
            tally("partition", "*", (40, 40, 36, 5)),
            tally("read-error", "*", (12, 12, 12, 0)),
            tally("http-dns", "*", (0, 0, 0, 0)),
            tally("http-reset", "*", (0, 0, 0, 0)),
            tally("sync-error", "/data/*", (3, 3, 0, 0)),
            slip,
        ];
        let mut injected = InjectedFaults { rules, ..InjectedFaults::default() };
        let lost = vec!["the name /a: its directory was not synced since; 13 writes with it (416 bytes)".to_owned()];
        injected.lose(PowerLossRecord { at: Instant(1_500), machine: "db".to_owned(), lost });
        injected.lose(PowerLossRecord { at: Instant(2_000), machine: "db".to_owned(), lost: Vec::new() });
        let rows = fault_rows(&FaultSummary::all(&injected), &PowerLossSummary::all(&injected), 0);
        let text: String = rows.iter().map(|(key, line)| format!("{key:<6}{line}\n")).collect();
        let expected = "\
fault write-error on /data/*: struck 1 of 102 chances: /data/a at 1ms, call 0
fault partition: struck 5 of 36 chances: /data/a at 1ms, call 0 (2s); /data/a at 2ms, call 1 (2s); /data/a at 3ms, call 2 (2s); the last at 5ms
fault no strike: read-error (12 chances)
note  no chance to strike: http-dns, http-reset
note  sync-error on /data/*: its time never came while there was something to strike
note  io-error on /dta/*: no target matched; there were /data/a, /data/b
power db lost power at 1.5us, and with it:
        the name /a: its directory was not synced since; 13 writes with it (416 bytes)
power db lost power at 2us; nothing was lost
";
        assert_eq!(text, expected);
    }
}
