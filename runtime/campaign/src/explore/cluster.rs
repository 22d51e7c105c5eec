//! What the flags of `fozzy explore` say of a distributed scenario.
//!
//! ```text
//! --faults partition,crash,crash-first,disk-full ─┬─ of a cluster: partition, crash, and presets ─▶ ClusterOptions
//!                                                 └─ of the simulated computer ─▶ the plan, as for any program
//! ```
//!
//! Invariant: a word that means something of a cluster means nothing else here.

use crate::args::{ExploreArgs, WorldArgs};
use crate::error::CliError;
use crate::target::Loaded;

/// Has the scenario played as the flags say; the answer is the rest of them.
pub(crate) fn take(loaded: &mut Loaded, args: &ExploreArgs) -> Result<WorldArgs, CliError> {
    let mut world = args.world.clone();
    let cluster = match &mut loaded.scenario {
        Some(file) if file.played()?.is_some() => Some(file),
        _ => None,
    };
    let Some(file) = cluster else {
        if args.nodes.is_some() || !args.checker.is_empty() {
            let message = "--nodes and --checker are for distributed scenarios (`*.fozzy.json` with `distributed`)";
            return Err(CliError::new("usage", message));
        }
        return Ok(world);
    };
    file.cluster.asks = true;
    file.cluster.nodes = args.nodes;
    file.cluster.checkers = (!args.checker.is_empty()).then(|| args.checker.clone());
    let words: Vec<String> = world.faults.iter().flat_map(|words| words.split(',')).map(str::to_owned).collect();
    world.faults = words.into_iter().filter(|word| !file.cluster.take_fault(word.trim())).collect();
    file.played()?;
    Ok(world)
}
