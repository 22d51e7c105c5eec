//! `fozzy fuzz`: searches for inputs that make a function of a program fail.
//!
//! ```text
//! target ─▶ which function? ─▶ one run on the empty input ─▶ campaign ─▶ summary, coverage.json
//!                                                             │ └─▶ corpus, at once
//!                                                             └───▶ findings, at once
//! ```
//!
//! Invariant: what is found depends on target, plan, seed, corpus and flags; the clock only ends it.

use super::run::{collision, identity, kept, print, seed};
use super::{Context, exit};
use crate::args::{ExitCodesArg, FuzzArgs, FuzzModeArg, ReporterArg};
use crate::error::{CliError, at_path};
use crate::fuzz::cargo::CargoFuzz;
use crate::fuzz::corpus::CorpusFolder;
use crate::fuzz::keeper::{Keeper, Kept, Place, Told};
use crate::fuzz::target::{CallTarget, Confirmer, caller_error};
use crate::output::EXIT_ERROR;
use crate::plan::plan;
use crate::store::{self, store_error};
use crate::target;
use fozzy_check::judge;
use fozzy_engine::{Caller, Functions};
use fozzy_report::{FuzzCoverage, FuzzFinding, FuzzSummary, Mode, RunSummary};
use fozzy_search::fuzz::{Campaign, Dictionary, Ended, Found, MUTATORS, Mutator, Options};
use fozzy_trace::file::Outcome;
use fozzy_trace::file::store::check_target;
use fozzy_trace::plan::{Call, FUEL_DEFAULT};
use fozzy_trace::{Finding, FindingKind, Status, Verdict};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Instructions that one execution may use unless told otherwise: a tenth of a run's, as there are many.
const FUEL_OF_A_CALL: u64 = FUEL_DEFAULT / 10;
/// Bytes of a dictionary file that are read.
const DICTIONARY_BYTES_MAX: u64 = 16 << 20;

pub(crate) fn fuzz(context: &Context, args: &FuzzArgs) -> Result<ExitCode, CliError> {
    let seed = seed(context, args.seed);
    let collision = collision(args.record_collision);
    if let Some(path) = &args.record {
        check_target(path, collision).map_err(store_error)?;
    }
    let only = mutator(args)?;
    let cargo = args.cargo_fuzz.as_ref().map(|folder| CargoFuzz::new(folder, &args.target)).transpose()?;
    let words = args.dict.clone().or_else(|| cargo.as_ref()?.dictionary());
    let dictionary = dictionary(words.as_deref())?;
    let loaded = match &cargo {
        Some(cargo) => target::load(&cargo.build()?)?,
        None => {
            check_word(&args.target)?;
            target::load(&args.target)?
        }
    };
    let name = loaded.target.name.clone();
    let mut planned = plan(&context.globals, &context.config, &name, &args.args, &args.limits, &args.world)?;
    if planned.plan.limits.fuel == FUEL_DEFAULT {
        planned.plan.limits.fuel = FUEL_OF_A_CALL;
    }
    let (program, cache) = target::compile_any(loaded.component.clone(), &planned.plan, &name)?;
    let functions = fozzy_engine::functions(&program, &planned.plan, &planned.inputs, seed);
    let functions = functions.map_err(|error| caller_error(&name, &error))?;
    let call = choose(&functions, args, &name, || program.exports().collect())?;
    planned.plan.call = Some(call.clone());

    let confirmer = || {
        let session = target::session(program.clone(), &planned.plan, &planned.inputs)?;
        Ok::<Confirmer, CliError>(Confirmer::new(session, call.clone(), seed))
    };
    let mut keeping = confirmer()?;
    // With fuel, so that a program that does not end before its function is called is found out here.
    let probe = keeping.execute(&[], 0..0)?;
    let summary_target = loaded.summary();
    let corpus = CorpusFolder::open(&corpus_path(context, args, cargo.as_ref(), &name, &call))?;
    let mut seeds = corpus.seeds(args.max_input as usize)?;
    if seeds.too_long > 0 {
        let (number, most) = (seeds.too_long, args.max_input);
        context.printer.remark(&format!("left out of the corpus, as longer than --max-input {most}: {number}\n"));
    }
    context.printer.remark(&format!(
        "fuzzing `{}` of {name}: seed {seed}, corpus {} with {} to begin with\n",
        call.function(),
        corpus.path().display(),
        seeds.number,
    ));
    let component = Arc::clone(&loaded.component);
    let caller = Caller::new(component, &planned.plan, &planned.inputs, &call, seed, cache.as_ref());
    let mut target = CallTarget::new(caller.map_err(|error| caller_error(&name, &error))?, confirmer()?);
    for obstacle in target.caller().obstacles() {
        context.printer.remark(&format!("each execution begins with a new instance, because {obstacle}\n"));
    }
    let folder = context.runs.begin()?;
    let artifacts = match cargo {
        Some(cargo) => Some(cargo.artifacts().map(|folder| (cargo, folder))?),
        None => None,
    };
    let (plan, inputs) = (planned.plan.clone(), planned.inputs.clone());
    let told = Told { target: loaded.target, component: loaded.component, plan, inputs, seed };
    let place = Place { folder: folder.path.clone(), record: args.record.clone(), collision, artifacts };
    let mut keeper = Keeper::new(context.printer, corpus, keeping, told, place, args.time);
    let options = Options {
        seed,
        executions_max: args.runs.unwrap_or(u64::MAX),
        input_bytes_max: args.max_input as usize,
        only,
        minimize: args.minimize,
        first_only: args.crash_only,
    };
    let mut campaign = Campaign::new(options, dictionary);
    let ended = campaign.run(&mut target, &mut seeds, &mut keeper)?;
    if let Some(error) = seeds.failed {
        return Err(error);
    }

    let fuzz = summary(&campaign, &keeper, &target, call.function(), ended);
    let findings = campaign.findings().all();
    let trace = keeper.kept.first().map(|kept| kept.trace.clone());
    let outcome = Outcome::of(&probe, judge(&probe));
    let identity = identity(&folder, seed, trace.as_deref());
    let mut summary =
        RunSummary::of(Mode::Fuzz, identity, summary_target, &outcome, kept(&probe), keeper.watch.facts());
    summary.status =
        findings.iter().map(|found| found.verdict.status).max_by_key(|status| gravity(*status)).unwrap_or(Status::Pass);
    // A smaller input says more about a failure.
    let shown = |(found, kept): (&Found, &Kept)| {
        let verdict = kept.smaller.as_ref().map_or(&found.verdict, |smaller| &smaller.verdict);
        verdict.findings.first().cloned()
    };
    summary.findings = findings.iter().zip(&keeper.kept).filter_map(shown).collect();
    summary.signature = findings.first().and_then(|found| found.verdict.signature.clone());
    store::write_json(&folder.path.join("coverage.json"), &fuzz.coverage)?;
    summary.fuzz = Some(fuzz);
    context.runs.finish(&folder, &summary)?;
    let json = context.printer.json || args.reporter == ReporterArg::Json;
    print(context, json, &summary)?;
    Ok(match args.exit_codes {
        ExitCodesArg::Fozzy => exit(summary.status),
        ExitCodesArg::Libfuzzer => exit_as_libfuzzer(findings),
    })
}

/// Words of the contract that are not targets yet say so, instead of "no such file".
fn check_word(target: &Path) -> Result<(), CliError> {
    let word = target.to_string_lossy();
    if word.starts_with("scenario:") || word.ends_with(".fozzy.json") {
        let message =
            format!("`{word}`: step scenarios cannot be fuzzed yet; a program with a fuzz target or a property can");
        return Err(CliError::new("target", message));
    }
    Ok(())
}

fn mutator(args: &FuzzArgs) -> Result<Option<&'static Mutator>, CliError> {
    let Some(name) = &args.mutator else { return Ok(None) };
    let names: Vec<&str> = MUTATORS.iter().map(|row| row.name).collect();
    let found = MUTATORS.iter().find(|row| row.name == name);
    found.map(Some).ok_or_else(|| {
        CliError::new("usage", format!("--mutator: there is no `{name}`; there are {}", names.join(", ")))
    })
}

fn dictionary(path: Option<&Path>) -> Result<Dictionary, CliError> {
    let Some(path) = path else { return Ok(Dictionary::default()) };
    let failed = |error: std::io::Error| at_path("dictionary", "cannot read", path, &error);
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > DICTIONARY_BYTES_MAX {
        let message = format!("{} has {bytes} bytes, at most {DICTIONARY_BYTES_MAX} are read", path.display());
        return Err(CliError::new("dictionary", message));
    }
    let text = std::fs::read(path).map_err(failed)?;
    Dictionary::parse(&text).map_err(|error| CliError::new("dictionary", format!("{}: {error}", path.display())))
}

/// The function that is meant.
fn choose(
    functions: &Functions,
    args: &FuzzArgs,
    name: &str,
    exports: impl FnOnce() -> Vec<String>,
) -> Result<Call, CliError> {
    let fuzz = functions.fuzz.iter().map(|function| Call::Fuzz(function.clone()));
    let properties = functions.properties.iter().map(|function| Call::Property(function.clone()));
    let mut calls: Vec<Call> = fuzz.chain(properties).collect();
    let listed = |calls: &[Call]| {
        let words: Vec<String> = calls.iter().map(|call| format!("{} `{}`", kind(call), call.function())).collect();
        words.join(", ")
    };
    if calls.is_empty() {
        let exports = exports();
        let found = if exports.is_empty() { "no exports".to_owned() } else { exports.join(", ") };
        let message = format!("{name} has no function to fuzz: found {found}");
        let hint = "needed is a fuzz target (`#[fuzz]` of the SDK, fozzy:scenario/fuzz@0.1) or a property (`#[property]`, fozzy:scenario/property@0.1)";
        return Err(CliError::new("target", message).hint(hint));
    }
    let all = listed(&calls);
    match args.mode {
        Some(FuzzModeArg::Coverage) => calls.retain(|call| matches!(call, Call::Fuzz(_))),
        Some(FuzzModeArg::Property) => calls.retain(|call| matches!(call, Call::Property(_))),
        // What is given bytes is what `fuzz` means, where there is both and nothing was said.
        None if args.function.is_none() && !functions.fuzz.is_empty() => {
            calls.retain(|call| matches!(call, Call::Fuzz(_)));
        }
        None => {}
    }
    if let Some(function) = &args.function {
        calls.retain(|call| call.function() == function);
    }
    match calls.as_slice() {
        [call] => Ok(call.clone()),
        [] => Err(CliError::new("target", format!("{name} has no such function; it has {all}"))),
        [first, ..] => {
            let message = format!("{name} has several functions: {}", listed(&calls));
            let command = format!("name one: fozzy fuzz {} {}", args.target.display(), first.function());
            Err(CliError::new("target", message).hint(command))
        }
    }
}

fn kind(call: &Call) -> &'static str {
    match call {
        Call::Fuzz(_) => "the fuzz target",
        Call::Property(_) => "the property",
    }
}

/// Where the corpus is, unless it is said: one folder for each function.
fn corpus_path(context: &Context, args: &FuzzArgs, cargo: Option<&CargoFuzz>, name: &str, call: &Call) -> PathBuf {
    if let Some(path) = args.corpus.clone().or_else(|| Some(cargo?.corpus())) {
        return path;
    }
    let stem = Path::new(name).file_stem().map_or_else(|| name.to_owned(), |stem| stem.to_string_lossy().into_owned());
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_') { c } else { '_' };
    let words = [stem.as_str(), call.function()].map(|word| word.chars().map(plain).take(100).collect::<String>());
    context.config.base_dir.join("corpora").join(words.join("."))
}

fn summary(campaign: &Campaign, keeper: &Keeper, target: &CallTarget, function: &str, ended: Ended) -> FuzzSummary {
    let (stats, estimate) = (campaign.stats(), campaign.stats().estimate());
    let finding = |(found, kept): (&Found, &Kept)| FuzzFinding {
        signature: found.verdict.signature.clone(),
        found_at: found.found_at,
        times: found.times,
        input_bytes: found.input.len() as u64,
        confirmed: found.confirmed,
        trace_path: kept.trace.display().to_string(),
        input_path: kept.input.display().to_string(),
        minimized_trace_path: kept.smaller.as_ref().map(|smaller| smaller.trace.display().to_string()),
        minimized_input_path: kept.smaller.as_ref().map(|smaller| smaller.input.display().to_string()),
        minimized_input_bytes: kept.smaller.as_ref().map(|smaller| smaller.bytes),
    };
    FuzzSummary {
        function: function.to_owned(),
        executions: stats.executions,
        failures: stats.failures,
        repeated: target.caller().repeated(),
        coverage: FuzzCoverage {
            unique_edges: stats.edges,
            total_edges: target.caller().coverage().map(|(_, bytes)| bytes.len() as u64).sum(),
            features: stats.features,
            estimated_undiscovered_edges: estimate.undiscovered,
            chance_of_new_edge: estimate.next_is_new,
        },
        last_new: stats.last_new,
        corpus: stats.corpus,
        corpus_bytes: stats.corpus_bytes,
        corpus_dir: keeper.corpus.path().display().to_string(),
        findings: campaign.findings().all().iter().zip(&keeper.kept).map(finding).collect(),
        ended: match ended {
            Ended::Executions => "runs",
            Ended::Stopped => "time",
            Ended::Found => "finding",
        }
        .to_owned(),
    }
}

/// The worst is the largest.
pub(super) const fn gravity(status: Status) -> u8 {
    match status {
        Status::Pass => 0,
        Status::Fail => 1,
        Status::Timeout => 2,
        Status::Crash => 3,
        Status::Error => 4,
    }
}

/// The codes of libFuzzer, of the first finding.
fn exit_as_libfuzzer(findings: &[Found]) -> ExitCode {
    let code = |Found { verdict: Verdict { status, findings, .. }, .. }: &Found| {
        let memory = |finding: &Finding| finding.kind == FindingKind::Trap && finding.title == "out of memory";
        match status {
            Status::Pass => 0,
            Status::Timeout => 70,
            Status::Crash if findings.first().is_some_and(memory) => 71,
            Status::Crash | Status::Fail => 77,
            Status::Error => EXIT_ERROR,
        }
    };
    ExitCode::from(findings.first().map_or(0, code))
}
