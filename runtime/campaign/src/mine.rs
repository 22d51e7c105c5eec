//! Properties that held in all runs, proposed as code: over the values that a program reports anyway.
//!
//! ```text
//! output `stock=3 taken=4` ──┐
//! operations and their ends ─┼─▶ values by name, of each passing run ─▶ constant · bounds · never falls · a <= b · not empty
//! properties ────────────────┘
//! ```
//!
//! Invariants: what is proposed held for each value of each passing run, and there were values enough of it; nothing is concluded beyond
//! those runs.
//! Not here: the document and its text (`fozzy_report::mine`).

mod values;

use crate::diff::ScenarioSize;
use crate::error::{CampaignError, ErrorKind};
use crate::options::{RunRequest, StopFlag};
use crate::pipeline::{LoadedTarget, PreparedProgram};
use crate::project::Project;
use crate::suite::seeds::SeedList;
use fozzy_check::judge;
use fozzy_report::mine::MineDocument;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, HarnessError, Status};
use std::sync::Arc;
use values::ValueTable;

/// Runs at the most.
pub const RUNS_MAX: u64 = 10_000;
/// Fewer passing runs than this, and a reader is told that they say little.
const RUNS_FEW: u64 = 20;

/// What to look for properties in.
pub struct PropertyMining<'a> {
    /// The project.
    pub project: &'a Project,
    /// The program.
    pub loaded: LoadedTarget,
    /// Its plan and arguments.
    pub request: &'a RunRequest,
    /// How often a scenario is run.
    pub size: ScenarioSize,
    /// The seeds of its runs.
    pub seeds: SeedList,
    /// Whether it is to end before its time.
    pub stop: StopFlag,
}

impl PropertyMining<'_> {
    /// Executes the runs and says what held in all of them.
    ///
    /// # Errors
    /// When the program cannot be run so, passes no run, or the machine fails.
    pub fn run(&self, mut tell: impl FnMut(&str)) -> Result<MineDocument, CampaignError> {
        let mut prepared = PreparedProgram::new(self.project, self.loaded.clone(), self.request)?;
        prepared.drive(self.size.sequences, self.size.flows);
        if prepared.planned.is_live() {
            let message = "properties are mined from runs on the simulated computer, and the plan asks the real one";
            return Err(CampaignError::new(ErrorKind::Usage, message)
                .hint("leave out the backend `host` of files, HTTP or processes"));
        }
        if self.seeds.count() > RUNS_MAX {
            let message = format!("--seeds: expected {RUNS_MAX} seeds at the most, found {}", self.seeds.count());
            return Err(CampaignError::new(ErrorKind::Usage, message));
        }
        prepared.interrupt.arm(StopFlag::clone(&self.stop));
        let mut session = prepared.session()?;
        if let Some(stdin) = &prepared.planned.stdin {
            session.read_from(Arc::clone(stdin));
        }
        let (mut table, mut failing, mut interrupted, mut first_seed) = (ValueTable::default(), 0, false, None);
        for (done, seed) in self.seeds.seeds().iter().copied().enumerate() {
            tell(&format!("{done} of {} runs", self.seeds.count()));
            if (self.stop)() {
                interrupted = true;
                break;
            }
            let execution = match session.execute(Box::new(SeededSource::new(seed)), 0..0) {
                Ok(execution) => execution,
                Err(error) if HarnessError::is_interruption(&error) => {
                    interrupted = true;
                    break;
                }
                Err(error) => return Err(CampaignError::new(ErrorKind::Harness, error.what)),
            };
            if judge(&execution).status != Status::Pass {
                failing += 1;
                continue;
            }
            first_seed.get_or_insert(seed);
            table.add(&execution);
        }
        if table.runs == 0 && !interrupted {
            let message = format!("{} passes with none of the seeds {}", self.loaded.target.name, self.seeds);
            let hint = format!("fozzy suspects {} says what goes with the failure", self.loaded.target.name);
            return Err(CampaignError::new(ErrorKind::Target, message).hint(hint));
        }
        let properties = table.properties();
        let mut warnings = Vec::new();
        if table.runs < RUNS_FEW {
            warnings.push(format!("{} say little; --seeds takes more", fozzy_trace::counted(table.runs, "run")));
        }
        if !table.has_values() {
            warnings.push(
                "the program reports no values: numbers as `name=3` in its output, operations and properties of the SDK are looked at".to_owned(),
            );
        }
        Ok(MineDocument {
            schema_version: "fozzy.mine.v1".to_owned(),
            target: self.loaded.summary(),
            runs: table.runs,
            first_seed,
            failing,
            interrupted,
            properties,
            warnings,
        })
    }
}
