//! From an execution to what is recorded of it.

use crate::error::CampaignError;
use crate::plan::RunPlan;
use crate::target::{self, LoadedTarget};
use fozzy_check::judge;
use fozzy_engine::{Program, Session};
use fozzy_report::RunMode;
use fozzy_trace::file::{EngineId, Recording};
use fozzy_trace::plan::ScenarioPlan;
use fozzy_trace::{Execution, Seed};

/// Calls at the beginning of an execution that stand in its trace in full, for readers without an
/// engine. `trace show` has all of them, because it executes again.
pub const ENTRIES_KEPT: u64 = 1_000;

/// A session of a recording's own component and plan.
pub fn session_of(recording: &Recording) -> Result<Session, CampaignError> {
    let program = target::compile(recording.component.clone(), &recording.plan, &recording.target.name)?;
    target::session(program, &recording.plan, &recording.inputs)
}

/// A scenario file has a fixed number of steps; flags may run fewer of them, or repeat all of them.
pub fn driven(own: ScenarioPlan, sequences: Option<u32>, flows: Option<u32>) -> ScenarioPlan {
    ScenarioPlan::all(sequences.unwrap_or(own.sequences), flows.map_or(own.flows, |flows| flows.min(own.flows)))
}

/// An execution as it is recorded, judged.
pub fn recorded(
    loaded: LoadedTarget,
    planned: RunPlan,
    program: &Program,
    execution: &Execution,
    seed: Seed,
    mode: RunMode,
) -> Recording {
    let (engine, verdict) = (engine_id(program), judge(execution));
    let LoadedTarget { target, component, .. } = loaded;
    let RunPlan { plan, inputs, .. } = planned;
    Recording::of(target, component, plan, &inputs, engine, execution, verdict, seed, mode.name())
}

/// Everything of the engine that results depend on.
pub fn engine_id(program: &Program) -> EngineId {
    EngineId {
        fozzy: env!("CARGO_PKG_VERSION").to_owned(),
        wasmtime: fozzy_engine::WASMTIME_VERSION.to_owned(),
        rewriter: fozzy_instrument::REWRITER_VERSION,
        configuration: program.configuration(),
    }
}

/// What was written, as far as it was kept.
pub fn kept(execution: &Execution) -> (&[u8], &[u8]) {
    (execution.stdout.kept(), execution.stderr.kept())
}
