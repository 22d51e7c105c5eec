//! `fozzy benchmark`: how an exploration scales with its workers.
//!
//! ```text
//! fozzy explore TARGET --workers 1, 2, 4, … ─▶ runs and flows in a second ─▶ universal scaling law ─▶ optimum, peak
//! ```
//!
//! Each number of workers explores in a process and a folder of its own, so that none begins with what another has found.
//!
//! Invariant: a law that does not fit is not told.

use super::Context;
use crate::args::{BenchmarkArgs, MetricArg};
use crate::error::{CliError, at_path};
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_search::stats::scaling::{FitError, Measurement, ScalingLaw};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// Numbers of workers below which there is no law.
const WORKERS_MIN: u32 = 8;

/// `fozzy.benchmark.v1`.
#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BenchmarkDocument {
    schema_version: &'static str,
    target: String,
    metric: &'static str,
    trials: Vec<Trial>,
    #[serde(skip_serializing_if = "Option::is_none")]
    law: Option<LawDocument>,
    /// Why there is no law.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct Trial {
    workers: u32,
    runs: u64,
    steps: u64,
    seconds: f64,
    runs_per_second: f64,
    steps_per_second: f64,
}

#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
struct LawDocument {
    regime: &'static str,
    lambda: f64,
    sigma: f64,
    kappa: f64,
    /// Mean relative distance to the measurements.
    miss: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    optimal_workers: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    peak_speedup: Option<f64>,
}

pub(crate) fn benchmark(context: &Context, args: &BenchmarkArgs) -> Result<ExitCode, CliError> {
    let processors = std::thread::available_parallelism().map_or(1, |number| number.get() as u32);
    let most = args.max_workers.unwrap_or((processors * 2).max(WORKERS_MIN));
    let mut trials = Vec::new();
    let numbers =
        std::iter::successors(Some(1u32), |number| number.checked_mul(2)).take_while(|number| *number <= most);
    for workers in numbers {
        let trial = trial(context, args, workers)?;
        if !context.printer.json {
            context.printer.data(&format!(
                "{:>4} workers  {:>12.0} runs/s  {:>12.0} flows/s\n",
                trial.workers, trial.runs_per_second, trial.steps_per_second
            ));
        }
        trials.push(trial);
    }
    let throughput = |trial: &Trial| match args.metric {
        MetricArg::Runs => trial.runs_per_second,
        MetricArg::Steps => trial.steps_per_second,
    };
    let measured: Vec<Measurement> =
        trials.iter().map(|trial| Measurement { workers: trial.workers, throughput: throughput(trial) }).collect();
    let fitted = ScalingLaw::fit(&measured);
    if !context.printer.json {
        context.printer.data(&lines(&fitted, processors));
        return Ok(ExitCode::SUCCESS);
    }
    context.printer.document(&BenchmarkDocument {
        schema_version: "fozzy.benchmark.v1",
        target: args.target.display().to_string(),
        metric: match args.metric {
            MetricArg::Runs => "runs",
            MetricArg::Steps => "steps",
        },
        trials,
        law: fitted.ok().map(|law| LawDocument {
            regime: law.regime().name(),
            lambda: law.lambda,
            sigma: law.sigma,
            kappa: law.kappa,
            miss: law.miss,
            optimal_workers: law.optimum(),
            peak_speedup: law.peak(),
        }),
        refused: fitted.err().map(|why| why.to_string()),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn lines(fitted: &Result<ScalingLaw, FitError>, processors: u32) -> String {
    let law = match fitted {
        Ok(law) => law,
        Err(why) => return format!("no verdict: {why}; this machine has {processors} processors\n"),
    };
    let mut text = format!("universal scaling law, which misses by {:.1} % on average\n", 100.0 * law.miss);
    let mut row = |key: &str, value: String| text.push_str(&format!("  {key:<22} {value}\n"));
    row("sigma (contention)", format!("{:.6}   {:.1} % is done one after the other", law.sigma, 100.0 * law.sigma));
    row("kappa (coherence)", format!("{:.6}   the price of each pair of workers", law.kappa));
    row("regime", law.regime().name().to_owned());
    row("optimal workers", law.optimum().map_or("each one more adds something".to_owned(), |n| format!("{n:.1}")));
    row("peak throughput", law.peak().map_or("without bound".to_owned(), |peak| format!("{peak:.2} times one worker")));
    text
}

/// Explores with a number of workers.
#[allow(clippy::disallowed_methods, reason = "the tool starts itself; no guest sees it")]
fn trial(context: &Context, args: &BenchmarkArgs, workers: u32) -> Result<Trial, CliError> {
    let failed =
        |what: String| CliError::new("benchmark", format!("{}, {workers} workers: {what}", args.target.display()));
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
    Ok(Trial { workers, runs, steps, seconds, runs_per_second, steps_per_second })
}

/// The project's settings, but for the folder in which runs are kept.
fn settings(context: &Context, folder: &Path) -> Result<std::path::PathBuf, CliError> {
    let from = &context.globals.config;
    let text = match std::fs::read_to_string(from) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(at_path("config", "cannot read", from, &error)),
    };
    // Keys of the file itself stand before its tables.
    let tables = text.find("\n[").map_or(text.len(), |at| at + 1);
    let (keys, tables) = if text.starts_with('[') { ("", text.as_str()) } else { text.split_at(tables) };
    let keys: Vec<&str> = keys.lines().filter(|line| !line.trim_start().starts_with("base_dir")).collect();
    let base = format!("base_dir = {}", Value::String(folder.display().to_string()));
    let to = folder.join("fozzy.toml");
    std::fs::write(&to, format!("{base}\n{}\n{tables}", keys.join("\n")))
        .map_err(|error| at_path("benchmark", "cannot write", &to, &error))?;
    Ok(to)
}
