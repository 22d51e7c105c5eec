//! `fozzy benchmark`: how an exploration scales with its workers.
//!
//! ```text
//! fozzy explore TARGET --workers 1, 2, 4, … ─▶ runs and flows in a second ─▶ universal scaling law ─▶ optimum, peak
//! ```
//!
//! Each number of workers explores in a process and a folder of its own, so that none begins with what another has found.
//!
//! Invariant: a law that does not fit is not told.

use crate::args::{BenchmarkArgs, MetricArg};
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_report::{BenchmarkDocument, BenchmarkTrial, ScalingLawDocument, benchmark_line, benchmark_lines};
use fozzy_search::stats::scaling::{Measurement, ScalingLaw};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Numbers of workers below which there is no law.
const WORKERS_MIN: u32 = 8;

pub(crate) fn benchmark(context: &Context, args: &BenchmarkArgs) -> Result<ExitCode, CliError> {
    let processors = std::thread::available_parallelism().map_or(1, |number| number.get() as u32);
    let most = args.max_workers.unwrap_or((processors * 2).max(WORKERS_MIN));
    let mut trials = Vec::new();
    let numbers =
        std::iter::successors(Some(1u32), |number| number.checked_mul(2)).take_while(|number| *number <= most);
    for workers in numbers {
        let trial = trial(context, args, workers)?;
        if !context.printer.json {
            context.printer.data(&benchmark_line(&trial));
        }
        trials.push(trial);
    }
    let throughput = |trial: &BenchmarkTrial| match args.metric {
        MetricArg::Runs => trial.runs_per_second,
        MetricArg::Steps => trial.steps_per_second,
    };
    let measured: Vec<Measurement> =
        trials.iter().map(|trial| Measurement { workers: trial.workers, throughput: throughput(trial) }).collect();
    let fitted = ScalingLaw::fit(&measured);
    let document = BenchmarkDocument {
        schema_version: "fozzy.benchmark.v1".to_owned(),
        target: args.target.display().to_string(),
        metric: match args.metric {
            MetricArg::Runs => "runs".to_owned(),
            MetricArg::Steps => "steps".to_owned(),
        },
        trials,
        refused: fitted.as_ref().err().map(ToString::to_string),
        law: fitted.ok().map(|law| ScalingLawDocument {
            regime: law.regime().name().to_owned(),
            lambda: law.lambda,
            sigma: law.sigma,
            kappa: law.kappa,
            miss: law.miss,
            optimal_workers: law.optimum(),
            peak_speedup: law.peak(),
        }),
    };
    match context.printer.json {
        true => context.printer.document(&document)?,
        false => context.printer.data(&benchmark_lines(&document, processors)),
    }
    Ok(ExitCode::SUCCESS)
}

/// Explores with a number of workers.
#[allow(clippy::disallowed_methods, reason = "the tool starts itself; no guest sees it")]
fn trial(context: &Context, args: &BenchmarkArgs, workers: u32) -> Result<BenchmarkTrial, CliError> {
    let failed = |what: String| {
        CliError::new(ErrorKind::Benchmark, format!("{}, {workers} workers: {what}", args.target.display()))
    };
    let io = |error: std::io::Error| failed(error.to_string());
    let folder = tempfile::tempdir().map_err(io)?;
    let here = std::env::current_dir().map_err(io)?;
    let settings = settings(context, folder.path())?;
    let time = format!("{}ns", args.time.0);
    let mut command = Command::new(std::env::current_exe().map_err(io)?);
    command.arg("--cwd").arg(&here).arg("--config").arg(settings).arg("--json").arg("explore").arg(&args.target);
    command.args(["--time", &time, "--seed", &args.seed.to_string(), "--workers", &workers.to_string()]);
    command.args(["--no-seeds", "--no-shrink"]).args(&args.explore).stdin(Stdio::null());
    let watch = Stopwatch::start();
    let output = command.output().map_err(io)?;
    let elapsed = watch.elapsed().as_secs_f64();
    let document: Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| failed(format!("it printed no report: {}", String::from_utf8_lossy(&output.stderr).trim_end())))?;
    let explored = &document["explore"];
    let (Some(runs), Some(steps)) = (explored["runs"].as_u64(), explored["steps"].as_u64()) else {
        return Err(failed(document["message"].as_str().unwrap_or("it has not explored").to_owned()));
    };
    // It may end before its time, and takes some to begin, which is none of the exploration.
    let seconds = elapsed.min(args.time.0 as f64 / 1e9).max(1e-3);
    let (runs_per_second, steps_per_second) = (runs as f64 / seconds, steps as f64 / seconds);
    Ok(BenchmarkTrial { workers, runs, steps, seconds, runs_per_second, steps_per_second })
}

/// The project's settings, but for the folder in which runs are kept.
fn settings(context: &Context, folder: &Path) -> Result<std::path::PathBuf, CliError> {
    let from = &context.globals.config;
    let text = match std::fs::read_to_string(from) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(at_path(ErrorKind::Config, "cannot read", from, &error)),
    };
    // Keys of the file itself stand before its tables.
    let tables = text.find("\n[").map_or(text.len(), |at| at + 1);
    let (keys, tables) = if text.starts_with('[') { ("", text.as_str()) } else { text.split_at(tables) };
    let keys: Vec<&str> = keys.lines().filter(|line| !line.trim_start().starts_with("base_dir")).collect();
    let base = format!("base_dir = {}", Value::String(folder.display().to_string()));
    let to = folder.join("fozzy.toml");
    std::fs::write(&to, format!("{base}\n{}\n{tables}", keys.join("\n")))
        .map_err(|error| at_path(ErrorKind::Benchmark, "cannot write", &to, &error))?;
    Ok(to)
}
