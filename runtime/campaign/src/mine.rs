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

use crate::error::{CampaignError, ErrorKind};
use crate::seed_runs::{SeedRuns, reading_session};
use fozzy_check::judge;
use fozzy_engine::Build;
use fozzy_report::mine::MineDocument;
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Executor, HarnessError, Status};
use values::ValueTable;

/// Runs at the most.
pub const RUNS_MAX: u64 = 10_000;
/// Fewer passing runs than this, and a reader is told that they say little.
const RUNS_FEW: u64 = 20;

/// What to look for properties in.
pub struct PropertyMining<'a> {
    /// The program and its runs.
    pub runs: SeedRuns<'a>,
}

impl PropertyMining<'_> {
    /// Executes the runs and says what held in all of them.
    ///
    /// # Errors
    /// When the program cannot be run so, passes no run, or the machine fails.
    pub fn run(&self, mut tell: impl FnMut(&str)) -> Result<MineDocument, CampaignError> {
        let SeedRuns { loaded, seeds, stop, .. } = &self.runs;
        let prepared = self.runs.prepare(&Build::default(), RUNS_MAX)?;
        let mut session = reading_session(&prepared)?;
        let (mut table, mut failing, mut interrupted, mut first_seed) = (ValueTable::default(), 0, false, None);
        for (done, seed) in seeds.seeds().iter().copied().enumerate() {
            tell(&format!("{done} of {} runs", seeds.count()));
            if stop() {
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
            let name = self.runs.name();
            let message = format!("{name} passes with none of the seeds {seeds}");
            return Err(CampaignError::new(ErrorKind::Target, message).hint(self.runs.first_run()));
        }
        let properties = table.properties();
        let mut warnings = Vec::new();
        if table.runs < RUNS_FEW {
            let [runs, most] = [table.runs, RUNS_MAX].map(|runs| fozzy_trace::counted(runs, "run"));
            warnings.push(format!("{runs} of the seeds {seeds} say little; --seeds takes up to {most}"));
        }
        if !table.has_values() {
            warnings.push(
                "the program reports no values: numbers as `name=3` in its output, operations and properties of the SDK are looked at".to_owned(),
            );
        }
        Ok(MineDocument {
            schema_version: "fozzy.mine.v1".to_owned(),
            target: loaded.summary(),
            runs: table.runs,
            first_seed,
            failing,
            interrupted,
            properties,
            warnings,
        })
    }
}
