//! Branches that no step has gone into, with the line that would say so in each report.
//!
//! Invariant: what was not reached is never called unreachable.

use crate::coverage::component;
use fozzy_engine::Walker;
use fozzy_report::UnreachedBranch;
use std::collections::BTreeSet;

/// Locations that are listed at most.
const LISTED_MAX: usize = 12;

/// The first of them, by file and line.
pub fn unreached(walker: &Walker, taken: &dyn Fn(usize) -> Vec<u8>, name: &str) -> Vec<UnreachedBranch> {
    let covered = walker.covered(taken);
    let found = component(walker.program(), name, &covered);
    let mut places = BTreeSet::new();
    for file in found.files.iter().filter(|file| file.own && file.has_source) {
        // What was tried, and never went this way.
        let missed = file.edges.iter().filter(|edge| edge.reached && edge.hits == 0 && edge.is_branch());
        places.extend(missed.filter_map(|edge| Some((file.path.clone(), edge.line?))));
    }
    let shown = places.into_iter().take(LISTED_MAX).map(|(path, line)| {
        let short = path.rsplit('/').next().unwrap_or(&path).to_owned();
        UnreachedBranch { place: format!("{path}:{line}"), line: format!("reachable!(\"{short}:{line}\");") }
    });
    shown.collect()
}
