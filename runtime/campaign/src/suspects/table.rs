//! In which runs a thing is, by how they end.
//!
//! ```text
//! run 0 passes     {line 7, line 9}         line 7:  passes 0, 2 │ panic 1      each failure on its own: runs that fail otherwise
//! run 1 panics     {line 7, log "full"}     line 9:  passes 0    │              say nothing about it
//! ```
//!
//! Invariants: the order of the runs decides, and nothing else; a thing that is counted is counted in all runs that it is in; what is beyond [`OTHERS_MAX`] is in none, and
//! said.

use super::things::{LOG_LINES_MAX, ProgramThings, RunThings};
use crate::error::CampaignError;
use fozzy_report::suspects::{SuspectKind, SuspectThing};
use fozzy_trace::{Digest, RunningDigest, counted};
use std::collections::{BTreeMap, BTreeSet};

/// Different things that are counted beside code, such as lines of output: a program that prints what no other run has would use up memory with each.
const OTHERS_MAX: usize = 100_000;
/// Digests by which things that were left out are counted, so that each counts once.
const LEFT_OUT_MAX: usize = 1_000_000;

/// How a run ended: the place of its failure among those that were seen, or none if it passed.
type EndNumber = Option<u32>;

/// In which runs of one end a thing is.
#[derive(Clone, Copy, Default)]
struct ThingTally {
    runs: u64,
    digest: RunningDigest,
}

/// The runs of a question in which a thing is.
pub(super) struct ThingRuns {
    pub(super) failing: u64,
    pub(super) passing: u64,
    /// Equal for things that are in the same of these runs.
    pub(super) digests: [u64; 2],
}

/// All things so far.
#[derive(Default)]
pub(super) struct SpectrumTable {
    count: u64,
    passing: u64,
    /// By signature: its number, and how many runs.
    failures: BTreeMap<String, (u32, u64)>,
    programs: BTreeMap<Digest, ProgramThings>,
    things: BTreeMap<SuspectThing, BTreeMap<EndNumber, ThingTally>>,
    /// How many of them are no code.
    others: usize,
    /// Things beyond the bound, by a part of their digest.
    left_out: BTreeSet<u64>,
    /// Runs that printed more lines than count.
    cut: u64,
}

impl SpectrumTable {
    /// An empty table of what is in this one, for runs that are cut off. Each is the beginning of a run that is counted here, so that
    /// bounds which it reaches are said here; a bound of its own would leave out things that are compared.
    pub(super) fn of_controls(&self) -> SpectrumTable {
        let things = self.things.keys().map(|thing| (thing.clone(), BTreeMap::new())).collect();
        SpectrumTable { others: OTHERS_MAX, things, ..SpectrumTable::default() }
    }

    /// One more run: its failure, and what is in it.
    pub(super) fn add(
        &mut self,
        failure: Option<&str>,
        things: &RunThings,
        own: &[String],
    ) -> Result<(), CampaignError> {
        self.cut += u64::from(things.is_cut());
        let all = things.all(&mut self.programs, own)?;
        self.count_things(failure, all);
        Ok(())
    }

    fn count_things(&mut self, failure: Option<&str>, things: BTreeSet<SuspectThing>) {
        let number = self.count;
        self.count += 1;
        let end = match failure {
            None => {
                self.passing += 1;
                None
            }
            Some(failure) => {
                let next = self.failures.len() as u32;
                let known = self.failures.entry(failure.to_owned()).or_insert((next, 0));
                known.1 += 1;
                Some(known.0)
            }
        };
        for thing in things {
            let is_code = matches!(thing.kind, SuspectKind::Line | SuspectKind::Branch);
            if !is_code && !self.things.contains_key(&thing) {
                if self.others >= OTHERS_MAX {
                    if self.left_out.len() < LEFT_OUT_MAX {
                        let digest = Digest::of(thing.shown().as_bytes()).0;
                        self.left_out.insert(u64::from_le_bytes(digest[..8].try_into().expect("eight of them")));
                    }
                    continue;
                }
                self.others += 1;
            }
            let tally = self.things.entry(thing).or_default().entry(end).or_default();
            tally.runs += 1;
            tally.digest.word(number);
        }
    }

    /// Runs so far.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn passing(&self) -> u64 {
        self.passing
    }

    /// Signatures and how many runs have them, the most frequent first.
    pub(super) fn failures(&self) -> Vec<(String, u64)> {
        let mut failures: Vec<(String, u64)> =
            self.failures.iter().map(|(it, (_, runs))| (it.clone(), *runs)).collect();
        failures.sort_by_key(|(_, runs)| std::cmp::Reverse(*runs));
        failures
    }

    /// Everything, with the runs in which it is of those that pass and of those that fail so.
    pub(super) fn things_with(self, failure: &str) -> impl Iterator<Item = (SuspectThing, ThingRuns)> {
        let end = self.failures.get(failure).map(|(number, _)| *number);
        self.things.into_iter().map(move |(thing, tallies)| {
            let of = |end: EndNumber| tallies.get(&end).copied().unwrap_or_default();
            let (failing, passing) = (of(end), of(None));
            let digests = [failing.digest.value(), passing.digest.value()];
            (thing, ThingRuns { failing: failing.runs, passing: passing.runs, digests })
        })
    }

    /// In how many passing runs it is, and a number that things in the same ones have in common.
    pub(super) fn passing_with(&self, thing: &SuspectThing) -> (u64, u64) {
        let tally = self.things.get(thing).and_then(|tallies| tallies.get(&None)).copied().unwrap_or_default();
        (tally.runs, tally.digest.value())
    }

    /// What was left out.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if !self.left_out.is_empty() {
            let more = if self.left_out.len() < LEFT_OUT_MAX { "" } else { "more than " };
            let things = counted(self.left_out.len() as u64, "further one");
            let most = counted(OTHERS_MAX as u64, "different thing");
            warnings.push(format!(
                "only {most} beside code are compared, lines of output most of all; {more}{things} are left out"
            ));
        }
        if self.cut > 0 {
            let runs = counted(self.cut, "run");
            warnings.push(format!(
                "of {runs} not everything is compared: there are more than {LOG_LINES_MAX} different lines of output, or it was not kept, or \
                 there are too many different decisions or messages"
            ));
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(what: &str) -> SuspectThing {
        SuspectThing { kind: SuspectKind::Log, file: None, line: None, what: what.to_owned() }
    }

    fn table(runs: &[(Option<&str>, &[&str])]) -> SpectrumTable {
        filled(SpectrumTable::default(), runs)
    }

    fn filled(mut table: SpectrumTable, runs: &[(Option<&str>, &[&str])]) -> SpectrumTable {
        for (failure, lines) in runs {
            table.count_things(*failure, lines.iter().map(|line| log(line)).collect());
        }
        table
    }

    fn groups(table: SpectrumTable, failure: &str) -> Vec<(String, u64, u64, [u64; 2])> {
        let row = |(thing, runs): (SuspectThing, ThingRuns)| (thing.what, runs.failing, runs.passing, runs.digests);
        table.things_with(failure).map(row).collect()
    }

    #[test]
    fn runs_that_fail_otherwise_say_nothing_about_a_failure() {
        let own: &[(Option<&str>, &[&str])] =
            &[(Some("full"), &["a", "b"]), (None, &["c"]), (Some("full"), &["a", "b"])];
        // One of them has `a` without `b`: the question about `full` has the same answer.
        let others = [own, &[(Some("hang"), &["a"]), (Some("hang"), &["a", "c"])]].concat();
        assert_eq!(groups(table(&others), "full"), groups(table(own), "full"));
        let found = groups(table(&others), "full");
        assert_eq!((&found[0].3, found[0].1, found[0].2), (&found[1].3, 2, 0), "one suspect");
        let found = groups(table(&others), "hang");
        assert_eq!((found[0].1, found[1].1), (2, 0), "its own question");
        assert_ne!(found[0].3, found[1].3);
        assert_eq!(table(&others).failures(), [("full".to_owned(), 2), ("hang".to_owned(), 2)]);
    }

    #[test]
    fn things_beyond_the_bound_are_left_out_of_all_runs_and_said() {
        // All but two were in earlier runs.
        let mut table = SpectrumTable { others: OTHERS_MAX - 2, ..SpectrumTable::default() };
        for lines in [["a", "b"], ["b", "c"], ["c", "d"]] {
            table.count_things(Some("full"), lines.iter().map(|line| log(line)).collect());
        }
        let most = format!("only {} beside code", counted(OTHERS_MAX as u64, "different thing"));
        assert!(table.warnings()[0].contains(&most) && table.warnings()[0].contains("2 further ones"));
        let found: Vec<(String, u64)> = groups(table, "full").into_iter().map(|it| (it.0, it.1)).collect();
        assert_eq!(found, [("a".to_owned(), 1), ("b".to_owned(), 2)]);
    }

    #[test]
    fn runs_that_are_cut_off_count_what_the_whole_ones_count() {
        let whole = SpectrumTable { others: OTHERS_MAX - 1, ..SpectrumTable::default() };
        let whole = filled(whole, &[(None, &["a", "b"]), (None, &["a", "c"])]);
        // The first one does not come as far as `a`, and the bound is no other one for that.
        let cut_off = filled(whole.of_controls(), &[(None, &["b"]), (None, &["a"])]);
        let with = |what: &str| (whole.passing_with(&log(what)).0, cut_off.passing_with(&log(what)).0);
        assert_eq!((with("a"), with("b")), ((2, 1), (0, 0)));
    }
}
