//! Commands of ours that execute a target, or a failure of it, for what a page shows.
//!
//! ```text
//! coverage    fozzy coverage CORPUS --target app.wasm --function parse      the latest corpus, or what an exploration has kept
//! faults      fozzy run bank.wasm --plan bank.plan.toml --seeds 50
//! causality   fozzy causality TRACE
//! suspects    fozzy suspects bank.wasm --failure=SIGNATURE --run TRACE --seeds 200
//!             fozzy suspects app.wasm --failure=SIGNATURE --run TRACE --corpus CORPUS --function parse
//! ```
//!
//! Invariant: none of them writes anything but to its output.
//! Not here: who runs them (`fozzy-dashboard`), and what they come to.

use super::discovery::{FleetTarget, FleetTargetKind};
use crate::suite::entry::shown;
use std::path::Path;

/// Runs of a target for its faults: enough that what each tenth run has is there.
const FAULT_SEEDS: &str = "50";
/// Runs for suspects of a failure.
const SUSPECT_SEEDS: &str = "200";

/// Something that is known of a target after its program was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetMeasure {
    /// What its corpus, or its exploration, has reached, by line of source: `fozzy.coverage.v1`.
    Coverage,
    /// Which faults struck in the same runs, and during which operations: `fozzy.fault_map.v1`.
    Faults,
}

/// Something that is known of a failure after its program was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureMeasure {
    /// Which decision made it likely: `fozzy.causality.v1`.
    Causality,
    /// What goes with it: `fozzy.suspects.v1`.
    Suspects,
}

impl TargetMeasure {
    /// All of them.
    pub const ALL: [TargetMeasure; 2] = [TargetMeasure::Coverage, TargetMeasure::Faults];

    /// The word in addresses and documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            TargetMeasure::Coverage => "coverage",
            TargetMeasure::Faults => "faults",
        }
    }

    /// The command, without its format; `None` of a target that has no such thing.
    #[must_use]
    pub fn words(self, target: &FleetTarget, base_dir: &Path) -> Option<Vec<String>> {
        match self {
            TargetMeasure::Coverage => coverage(target, base_dir),
            TargetMeasure::Faults if target.kind == FleetTargetKind::Explore && has_plan(target) => Some(
                [
                    vec!["run".into(), shown(&target.file)],
                    target.flags.clone(),
                    words(&["--seeds", FAULT_SEEDS, "--no-store"]),
                ]
                .concat(),
            ),
            TargetMeasure::Faults => None,
        }
    }
}

impl FailureMeasure {
    /// All of them.
    pub const ALL: [FailureMeasure; 2] = [FailureMeasure::Causality, FailureMeasure::Suspects];

    /// The word in addresses and documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FailureMeasure::Causality => "causality",
            FailureMeasure::Suspects => "suspects",
        }
    }

    /// Whether failures of a target have it: what a function does is decided by its input, and not by one decision among others.
    #[must_use]
    pub fn is_of(self, target: &FleetTarget) -> bool {
        self == FailureMeasure::Suspects || target.kind == FleetTargetKind::Explore
    }

    /// The command; `None` of a failure that has no such thing.
    #[must_use]
    pub fn words(self, target: &FleetTarget, base_dir: &Path, trace: &str, signature: &str) -> Option<Vec<String>> {
        if !self.is_of(target) {
            return None;
        }
        Some(match (self, target.corpus_path(base_dir)) {
            (FailureMeasure::Causality, _) => words(&["causality", trace]),
            (FailureMeasure::Suspects, corpus) => {
                let begin = vec!["suspects".into(), shown(&target.file), format!("--failure={signature}")];
                let runs = match corpus {
                    Some(corpus) => [words(&["--corpus", &shown(&corpus)]), entry(target)].concat(),
                    None => words(&["--seeds", SUSPECT_SEEDS]),
                };
                // Inputs that fail are seldom in a corpus, and what a search has found is seldom met by seeds.
                [begin, target.flags.clone(), words(&["--run", trace]), runs].concat()
            }
        })
    }
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn has_plan(target: &FleetTarget) -> bool {
    target.flags.iter().any(|flag| flag == "--plan") || target.file.extension().is_some_and(|ending| ending == "json")
}

/// What of the program gets the inputs of a corpus, as flags.
fn entry(target: &FleetTarget) -> Vec<String> {
    match &target.kind {
        FleetTargetKind::Fuzz(function) | FleetTargetKind::Property(function) => words(&["--function", function]),
        FleetTargetKind::Http => words(&["--http"]),
        // It has one function alone.
        FleetTargetKind::CargoFuzz(_) | FleetTargetKind::Explore => Vec::new(),
    }
}

fn coverage(target: &FleetTarget, base_dir: &Path) -> Option<Vec<String>> {
    let place = match &target.kind {
        FleetTargetKind::Explore => Some(target.state_path(base_dir)).filter(|state| state.is_file()),
        _ => target.corpus_path(base_dir).filter(|corpus| corpus.is_dir()),
    };
    let mut all = vec!["coverage".to_owned(), shown(&place?), "--target".to_owned(), shown(&target.file)];
    all.extend(entry(target));
    for flag in target.flags.chunks(2) {
        let name = if flag[0] == "--target" { "--judged" } else { &flag[0] };
        all.extend([name.to_owned()].into_iter().chain(flag.get(1).cloned()));
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suspects_of_a_failure_have_its_own_run_among_them() {
        let target = |kind| FleetTarget { flags: words(&["--plan", "p.toml"]), ..FleetTarget::app(kind) };
        for kind in [FleetTargetKind::Explore, FleetTargetKind::Fuzz("parse".into())] {
            let command = FailureMeasure::Suspects.words(&target(kind), Path::new(".fozzy"), "t.fozzy", "exit code 1");
            let command = command.expect("each failure has suspects").join(" ");
            let begin = "suspects app.wasm --failure=exit code 1 --plan p.toml --run t.fozzy --";
            assert!(command.starts_with(begin), "{command}");
        }
    }
}
