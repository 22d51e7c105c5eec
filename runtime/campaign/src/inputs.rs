//! Inputs of a corpus: raw files, each of them one execution of a program.
//!
//! ```text
//! bytes ─┬─▶ standard input           a program, unless it is said otherwise
//!        ├─▶ a file, an argument      --input-file, --input-arg
//!        └─▶ decisions of a call      fuzz targets, properties, functions, handlers, sequences: as `fozzy fuzz` calls them
//! ```
//!
//! Invariant: an execution depends on program, plan and bytes; the seed is that of `fozzy run`.
//! Not here: which inputs are worth having (`fozzy fuzz`), what is made of coverage (`command/coverage.rs`).

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::fuzz::choose::EntryPointChoice;
use crate::fuzz::confirmer::{FindingConfirmer, caller_error};
use crate::pipeline::PreparedProgram;
use fozzy_check::judge;
use fozzy_engine::{EntryPoint, Program, ProgramCoverage};
use fozzy_trace::plan::ScenarioPlan;
use fozzy_trace::{Digest, Seed, Status, Verdict};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes that an input can have. What is larger is no input that anybody searched for.
pub const INPUT_BYTES_MAX: u64 = 16 << 20;
/// Folders inside of each other in which inputs are looked for.
const FOLDERS_MAX: usize = 8;
/// The answers of `fozzy run` without `--seed`.
pub(crate) const SEED: Seed = Seed(0);

/// The files of a corpus, by name: all but those whose names begin with a dot.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, CampaignError> {
    let mut found = Vec::new();
    collect(folder, FOLDERS_MAX, &mut found)?;
    found.sort();
    match found.is_empty() {
        true => Err(CampaignError::new(ErrorKind::Selector, format!("{} holds no input", folder.display()))),
        false => Ok(found),
    }
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::Selector, "cannot list", folder, &error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (kind, path) = (entry.file_type().map_err(failed)?, entry.path());
        // Links are not followed, since they may lead in circles.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        } else if kind.is_dir() && depth > 1 {
            collect(&path, depth - 1, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

/// Where an input goes.
#[derive(Clone, Debug, Default)]
pub struct InputOptions {
    /// A file of this absolute path on the virtual disk.
    pub input_file: Option<String>,
    /// The program's last argument, as text.
    pub input_arg: bool,
    /// Requests for its handler.
    pub http: bool,
    /// Which fuzz target, property or exported function.
    pub function: Option<String>,
}

/// Whether a file of a corpus is a trace, which says itself what was executed.
pub fn is_trace(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "fozzy")
}

/// What an input has covered, by component, and how it ended.
pub struct InputRunResult {
    /// The edges that were taken, by the digest of the component.
    pub covered: BTreeMap<Digest, (Program, ProgramCoverage)>,
    /// How it ended: that of the first function that failed.
    pub verdict: Verdict,
    /// Linear memory at the end, in bytes: the most of all functions.
    pub memory_bytes: u64,
}

/// A program that is given inputs.
pub struct InputRunner {
    confirmers: Vec<FindingConfirmer>,
}

impl InputRunner {
    /// As the flags say, and what the program has; fuel in budgets of the plan.
    pub fn of(args: &InputOptions, prepared: &PreparedProgram, fuel_times: u64) -> Result<InputRunner, CampaignError> {
        let PreparedProgram { loaded, planned, program, .. } = prepared;
        let name = &loaded.target.name;
        let functions = fozzy_engine::functions(program, &planned.plan, &planned.inputs, SEED);
        let functions = functions.map_err(|error| caller_error(name, &error))?;
        let wanted = EntryPointChoice {
            file: args.input_file.as_deref(),
            argument: args.input_arg,
            http: args.http,
            function: args.function.as_deref(),
            flows: ScenarioPlan::default().flows,
            // What has nothing else to be called is a program that reads its input.
            stdin: functions.runs && functions.fuzz.is_empty() && args.function.is_none() && !args.http,
            ..EntryPointChoice::default()
        };
        let searched: Vec<EntryPoint> = wanted.of(&functions, name)?;
        let confirmer = |one: &EntryPoint| {
            let mut confirmer = FindingConfirmer::new(prepared, one, SEED)?;
            confirmer.session_mut().fuel_times(fuel_times);
            Ok(confirmer)
        };
        Ok(InputRunner { confirmers: searched.iter().map(confirmer).collect::<Result<_, CampaignError>>()? })
    }

    /// What executes an input as a run that can be recorded, one for each function.
    pub(crate) fn into_confirmers(self) -> Vec<FindingConfirmer> {
        self.confirmers
    }

    /// Executes the input that stands in a file.
    pub fn execute(&mut self, path: &Path) -> Result<InputRunResult, CampaignError> {
        self.execute_bytes(&read(path)?)
    }

    /// Executes an input: with several functions, each separately.
    pub fn execute_bytes(&mut self, bytes: &[u8]) -> Result<InputRunResult, CampaignError> {
        let mut reached = InputRunResult {
            covered: BTreeMap::new(),
            verdict: Verdict { status: Status::Pass, findings: Vec::new(), signature: None },
            memory_bytes: 0,
        };
        for confirmer in &mut self.confirmers {
            let execution = confirmer.execute(bytes, 0..0)?.execution;
            reached.memory_bytes = reached.memory_bytes.max(execution.memory_bytes);
            let verdict = judge(&execution);
            if reached.verdict.status == Status::Pass {
                reached.verdict = verdict;
            }
            let session = confirmer.session();
            for (digest, covered) in session.coverage() {
                let Some(program) = session.program_named(*digest) else { continue };
                let (_, sum) =
                    reached.covered.entry(*digest).or_insert_with(|| (program.clone(), ProgramCoverage::default()));
                sum.merge(covered, program.how().coverage);
            }
        }
        Ok(reached)
    }
}

/// The bytes of an input.
pub fn read(path: &Path) -> Result<Vec<u8>, CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::Input, "cannot read", path, &error);
    let mut bytes = Vec::new();
    fs::File::open(path).map_err(failed)?.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        let message = format!("{} has more than the {INPUT_BYTES_MAX} bytes that an input can have", path.display());
        return Err(CampaignError::new(ErrorKind::Input, message));
    }
    Ok(bytes)
}
