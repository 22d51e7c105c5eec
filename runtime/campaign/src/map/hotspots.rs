//! `map hotspots`: the functions that ask most for tests, and why.

use super::evidence::EvidenceKind;
use super::host_calls::HostCallKind;
use super::program::SourceFunction;
use super::{CodeMap, MappedFunction};
use fozzy_report::RunMode;
use fozzy_report::coverage::CoverageRatio;
use fozzy_report::map::{MAP_HOTSPOTS_SCHEMA, MapChurn, MapHotspot, MapHotspots, MapSignals};
use fozzy_trace::counted;

/// Decisions from which inputs are worth searching for.
const FUZZ_DECISIONS: u32 = 5;

/// The kinds of runs that documents name.
pub(super) const TEST_DET: &str = "test_det";
pub(super) const RECORD_REPLAY: &str = "run_record_replay_ci";
pub(super) const FUZZ: &str = "fuzz_inputs";
pub(super) const EXPLORE: &str = "explore_schedule_faults";
pub(super) const HOST: &str = "host_backends_run";
pub(super) const MEMORY: &str = "memory_graph_diff_top";
pub(super) const SHRINK_FAILURE: &str = "shrink_failure_trace";

/// The kinds of runs that a run counts as. A corpus that was named is a test like a scenario: the same inputs each time.
pub(super) fn suites_of(kind: EvidenceKind) -> &'static [&'static str] {
    match kind {
        EvidenceKind::Scenario => &[TEST_DET],
        EvidenceKind::Corpus => &[TEST_DET, FUZZ],
        EvidenceKind::Run(RunMode::Fuzz) => &[FUZZ],
        EvidenceKind::Run(RunMode::Explore) => &[EXPLORE],
        EvidenceKind::Run(_) => &[RECORD_REPLAY],
        EvidenceKind::LiveRun => &[HOST],
        EvidenceKind::SavedFailure => &[SHRINK_FAILURE],
    }
}

impl CodeMap {
    /// The document.
    #[must_use]
    pub fn hotspots(&self, min_risk: u8, limit: u64) -> MapHotspots {
        let risky: Vec<&MappedFunction> =
            self.by_risk().into_iter().filter(|mapped| mapped.risk.score >= min_risk).collect();
        let mut warnings = self.remarks.clone();
        if let Some(highest) = self.by_risk().first().filter(|_| risky.is_empty()) {
            let (name, score) = (&self.source(highest).name, highest.risk.score);
            warnings.push(format!("the highest risk is {score}, of {name}: --min-risk {score} lists it"));
        }
        MapHotspots {
            schema_version: MAP_HOTSPOTS_SCHEMA.to_owned(),
            root: self.shown_root.clone(),
            scanned_files: self.scanned_files(),
            min_risk,
            function_count: self.functions.len() as u64,
            hotspot_count: risky.len() as u64,
            run_count: self.evidence.runs.len() as u64,
            hotspots: risky
                .iter()
                .take(usize::try_from(limit).unwrap_or(usize::MAX))
                .map(|mapped| self.hotspot(mapped))
                .collect(),
            warnings,
        }
    }

    fn hotspot(&self, mapped: &MappedFunction) -> MapHotspot {
        let (program, function) = (self.program(mapped), self.source(mapped));
        let direct = function.calls.values().filter(|sites| sites.direct).count();
        let callers =
            program.functions.iter().filter(|caller| caller.calls.get(&mapped.at.1).is_some_and(|sites| sites.direct));
        MapHotspot {
            id: mapped.id.clone(),
            component: program.name.clone(),
            also_in: self.also_in(mapped),
            path: mapped.path.clone(),
            line: function.line(),
            function: function.name.clone(),
            risk_score: mapped.risk.score,
            why: mapped.risk.why.clone(),
            reasons: self.reasons(mapped),
            signals: signals(function),
            complexity: function.complexity(),
            covered: CoverageRatio { hit: mapped.ran, total: mapped.ways },
            callers: callers.count() as u64,
            calls: direct as u64,
            indirect_candidates: (function.calls.len() - direct) as u64,
            host_calls: function
                .host_sites
                .iter()
                .map(|(kind, places)| (kind.name().to_owned(), places.len() as u64))
                .collect(),
            churn: mapped.churn.map(|churn| MapChurn { commits: churn.commits, lines: churn.lines }),
            failures: self.names(&mapped.failures),
            executed_by: self.names(&mapped.executed_by),
            recommended_suites: self.recommended(mapped),
        }
    }

    /// What else is worth knowing, one phrase each.
    pub(super) fn reasons(&self, mapped: &MappedFunction) -> Vec<String> {
        let function = self.source(mapped);
        let mut reasons = vec![match mapped.executed_by.len() {
            0 => "no run reached it".to_owned(),
            runs => format!("{} of {} reached it", counted(runs as u64, "run"), self.evidence.runs.len()),
        }];
        let asks: Vec<&str> = function.host_sites.keys().map(|kind| kind.name()).collect();
        if !asks.is_empty() {
            reasons.push(format!("asks the computer: {}", asks.join(", ")));
        }
        for (places, what) in
            [(&function.failure_sites, "traps or panics"), (&function.atomic_sites, "has atomic accesses")]
        {
            if !places.is_empty() {
                reasons.push(format!("{what} at {}", counted(places.len() as u64, "place")));
            }
        }
        let candidates = function.calls.values().filter(|sites| !sites.direct).count();
        if candidates > 0 {
            let functions = counted(candidates as u64, "function");
            reasons.push(format!("indirect calls in it may mean {functions}, by their types"));
        }
        reasons
    }

    /// Kinds of runs that would tell more of a function.
    pub(super) fn recommended(&self, mapped: &MappedFunction) -> Vec<String> {
        let function = self.source(mapped);
        let asks = |kinds: &[HostCallKind]| kinds.iter().any(|kind| function.host_sites.contains_key(kind));
        let rows = [
            (TEST_DET, mapped.executed_by.is_empty()),
            (RECORD_REPLAY, true),
            (FUZZ, function.complexity() > FUZZ_DECISIONS),
            (EXPLORE, !function.atomic_sites.is_empty() || asks(&[HostCallKind::Network, HostCallKind::Clock])),
            (HOST, asks(&[HostCallKind::Files, HostCallKind::Network, HostCallKind::Processes])),
            (MEMORY, !function.memory_sites.is_empty()),
            (SHRINK_FAILURE, !mapped.failures.is_empty()),
        ];
        rows.into_iter().filter(|(_, fits)| *fits).map(|(suite, _)| suite.to_owned()).collect()
    }
}

/// Counts of one function.
pub(super) fn signals(function: &SourceFunction) -> MapSignals {
    let outside = [HostCallKind::Files, HostCallKind::Network, HostCallKind::Processes];
    let external = outside.iter().filter_map(|kind| function.host_sites.get(kind)).map(|places| places.len() as u64);
    MapSignals {
        line_count: function.lines.len() as u64,
        branch_signals: u64::from(function.complexity() - 1),
        concurrency_signals: function.atomic_sites.len() as u64,
        external_signals: external.sum(),
        failure_signals: function.failure_sites.len() as u64,
        memory_signals: function.memory_sites.len() as u64,
        entrypoint_signals: function.exports.len() as u64,
    }
}
