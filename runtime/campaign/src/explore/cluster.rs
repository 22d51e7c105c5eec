//! What the flags of `fozzy explore` say of a distributed scenario.
//!
//! ```text
//! --faults partition,crash,crash-first,disk-full ─┬─ of a cluster: partition, crash, and presets ─▶ ClusterOptions
//!                                                 └─ of the simulated computer ─▶ the plan, as for any program
//! ```
//!
//! Invariant: a word that means something of a cluster means nothing else here.

use crate::error::{CampaignError, ErrorKind};
use crate::options::WorldOptions;
use crate::pipeline::LoadedTarget;

/// How a distributed scenario is to be played.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClusterRequest<'a> {
    /// Nodes, instead of those that the file names.
    pub nodes: Option<u32>,
    /// Checkers, instead of those that the file names.
    pub checkers: &'a [String],
}

/// Has the scenario played as the flags say; the answer is the rest of them.
pub fn take(
    loaded: &mut LoadedTarget,
    cluster: &ClusterRequest<'_>,
    world: &WorldOptions,
) -> Result<WorldOptions, CampaignError> {
    let mut world = world.clone();
    let file = match &mut loaded.scenario {
        Some(file) if file.played()?.is_some() => Some(file),
        _ => None,
    };
    let Some(file) = file else {
        let given = [("--nodes", cluster.nodes.is_some()), ("--checker", !cluster.checkers.is_empty())];
        if let Some((flag, _)) = given.iter().find(|(_, given)| *given) {
            let message = format!("{flag} is for distributed scenarios (`*.fozzy.json` with `distributed`)");
            return Err(CampaignError::new(ErrorKind::Usage, message));
        }
        return Ok(world);
    };
    file.cluster.asks = true;
    file.cluster.nodes = cluster.nodes;
    file.cluster.checkers = (!cluster.checkers.is_empty()).then(|| cluster.checkers.to_vec());
    let words: Vec<String> = world.faults.iter().flat_map(|words| words.split(',')).map(str::to_owned).collect();
    world.faults = words.into_iter().filter(|word| !file.cluster.take_fault(word.trim())).collect();
    file.played()?;
    Ok(world)
}
