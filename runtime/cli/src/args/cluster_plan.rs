//! A plan file as the target of a command: the one place where it becomes the clients that it names, and the plan under which they run.
//!
//! ```text
//! fozzy explore plan.toml --runs 100   ─▶   explore { target: clients, world.plan: plan.toml, … }
//! ```
//!
//! Not here: `test` and `fleet`, whose suites find plan files (`campaign/src/suite/find.rs`).

use super::{Command, CorpusCommand};
use fozzy_campaign::CampaignError;
use fozzy_campaign::cluster_plan::clients_of_target;
use std::path::PathBuf;

impl Command {
    /// Puts clients in the place of a plan file that names them, and that file in the place of the plan.
    ///
    /// # Errors
    /// When the plan file names no clients that are there, or another plan is named.
    pub(crate) fn open_plan_target(&mut self) -> Result<(), CampaignError> {
        match self {
            Command::Run(args) => open(Some(&mut args.target), &mut args.world.plan),
            Command::Fuzz(args) => open(Some(&mut args.target), &mut args.world.plan),
            Command::Explore(args) => open(Some(&mut args.target), &mut args.world.plan),
            Command::Mutants(args) => open(Some(&mut args.target), &mut args.world.plan),
            Command::Mine(args) => open(Some(&mut args.target), &mut args.world.plan),
            Command::Suspects(args) => open(Some(&mut args.target), &mut args.world.plan),
            Command::Doctor(args) => open(args.scenario.as_mut(), &mut args.world.plan),
            Command::Coverage(args) => open(args.target.as_mut(), &mut args.given.plan),
            Command::Corpus(CorpusCommand::Minimize(args)) => open(args.target.as_mut(), &mut args.given.plan),
            Command::Replay(args) => open(args.against.as_mut(), &mut args.plan),
            // These have a program and no plan.
            Command::Inspect(args) => open(Some(&mut args.target), &mut None),
            Command::Seeds(args) => open(args.target.as_mut(), &mut None),
            _ => Ok(()),
        }
    }
}

fn open(target: Option<&mut PathBuf>, plan: &mut Option<PathBuf>) -> Result<(), CampaignError> {
    let Some(target) = target else { return Ok(()) };
    if let Some(clients) = clients_of_target(target, plan.as_deref())? {
        *plan = Some(std::mem::replace(target, clients));
    }
    Ok(())
}
