//! The player of scenarios of version 1: a list of steps.

use fozzy_scenario_file::{ParsedScenario, ScenarioProblem};
use player::ScenarioPlayer;
use player::failure;
use player::steps::StepsPlayer;

fn play(text: &[u8]) -> Result<Box<dyn ScenarioPlayer>, ScenarioProblem> {
    match ParsedScenario::parse(text)? {
        ParsedScenario::Steps(file) => Ok(Box::new(StepsPlayer::new(file))),
        _ => failure::invalid("the scenario is not played", "this player is for lists of steps of version 1"),
    }
}

player::export_player!(play);
