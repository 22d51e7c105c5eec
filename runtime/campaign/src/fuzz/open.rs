//! Opens the target of a campaign: which of its kinds, by which functions, from which inputs.
//!
//! ```text
//! plan ─┬─ other machines ─▶ whole runs (`machines_target`)
//!       └─ none            ─▶ calls from a checkpoint (`component_target`)
//! ```

use super::component_target::ComponentTarget;
use super::confirmer::caller_error;
use super::machines_target::MachinesTarget;
use super::target::CampaignTarget;
use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::PreparedProgram;
use fozzy_engine::{EntryPoint, ExecutorError, ExportedFunctions, FirstInputs, Program};
use fozzy_trace::plan::{FUEL_DEFAULT, Inputs};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{DecisionSource, NodeId, Plan, Purpose, Question, Seed};

/// Instructions that one execution of a campaign may use unless a flag or a file says otherwise: a tenth of a run's, as there are
/// many, and those that do not end cost them all.
pub const FUEL_OF_A_CALL: u64 = FUEL_DEFAULT / 10;

/// The target of a campaign: with other machines in its plan, whole runs; else calls from a checkpoint.
///
/// # Errors
/// When it cannot be compiled or started.
pub fn campaign_target(
    prepared: &PreparedProgram,
    entry: &EntryPoint,
    seed: Seed,
    exits_fail: bool,
) -> Result<Box<dyn CampaignTarget>, CampaignError> {
    Ok(match MachinesTarget::is_for(&prepared.planned.plan) {
        true => Box::new(MachinesTarget::open(prepared, entry, seed, exits_fail)?),
        false => Box::new(ComponentTarget::open(prepared, entry, seed, exits_fail)?),
    })
}

/// The functions by which a program can be searched under its plan. With other machines, it is run as a whole.
///
/// # Errors
/// When it cannot be started.
pub fn functions_of(prepared: &PreparedProgram, seed: Seed) -> Result<ExportedFunctions, CampaignError> {
    functions_by(prepared, seed, fozzy_engine::functions)
}

/// The same, and the program is started only where it has to be asked: it may never come to an end.
///
/// # Errors
/// When it cannot be asked.
pub(crate) fn functions_at_rest(prepared: &PreparedProgram, seed: Seed) -> Result<ExportedFunctions, CampaignError> {
    functions_by(prepared, seed, fozzy_engine::functions_at_rest)
}

/// How a program that is called tells its functions.
type FunctionLister = fn(&Program, &Plan, &Inputs, Seed) -> Result<ExportedFunctions, ExecutorError>;

fn functions_by(
    prepared: &PreparedProgram,
    seed: Seed,
    list: FunctionLister,
) -> Result<ExportedFunctions, CampaignError> {
    let PreparedProgram { loaded, planned, program, .. } = prepared;
    if MachinesTarget::is_for(&planned.plan) {
        return match program.is_command() {
            true => Ok(ExportedFunctions { runs: true, ..ExportedFunctions::default() }),
            false => {
                let message = format!(
                    "{} is no program that is run as a whole, and with other machines or [expect] in its plan an execution is a whole run",
                    loaded.target.name
                );
                Err(CampaignError::new(ErrorKind::Target, message))
            }
        };
    }
    let functions = list(program, &planned.plan, &planned.inputs, seed);
    functions.map_err(|error| caller_error(&loaded.target.name, &error))
}

/// Inputs to begin with that nobody has given: where there is no corpus, they are the first ones.
pub fn made_up(searched: &EntryPoint, seed: Seed, bytes_max: usize) -> Vec<Vec<u8>> {
    let lengths = match searched.first_inputs() {
        FirstInputs::None => return Vec::new(),
        FirstInputs::Texts(texts) => return texts.iter().map(|text| text.as_bytes().to_vec()).collect(),
        FirstInputs::Random(lengths) => lengths,
    };
    let mut source = SeededSource::new(seed);
    let question = Question { node: NodeId(0), purpose: Purpose::Random, site: "made up" };
    let mut random = |length: &usize| {
        let mut input = vec![0; (*length).min(bytes_max)];
        source.fill(question, &mut input);
        input
    };
    lengths.iter().map(&mut random).collect()
}
