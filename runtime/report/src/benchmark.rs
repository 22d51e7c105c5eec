//! `fozzy benchmark`: how an exploration scales with its workers, as a document and as lines.

use fozzy_trace::counted;
use schemars::JsonSchema;
use serde::Serialize;

/// The document.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchmarkDocument {
    /// `fozzy.benchmark.v1`.
    pub schema_version: String,
    /// The program.
    pub target: String,
    /// What is compared: `runs` or `steps`.
    pub metric: String,
    /// One for each number of workers.
    pub trials: Vec<BenchmarkTrial>,
    /// The law that they follow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub law: Option<ScalingLawDocument>,
    /// Why there is no law.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
}

/// An exploration with a number of workers.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BenchmarkTrial {
    /// How many workers.
    pub workers: u32,
    /// Runs of all together.
    pub runs: u64,
    /// Steps of all together.
    pub steps: u64,
    /// Real time.
    pub seconds: f64,
    /// Runs in a second of it.
    pub runs_per_second: f64,
    /// Steps in a second of it.
    pub steps_per_second: f64,
}

/// The universal scaling law, as it was fitted.
#[derive(Clone, Debug, JsonSchema, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScalingLawDocument {
    /// What bounds the throughput.
    pub regime: String,
    /// Throughput of one worker.
    pub lambda: f64,
    /// Contention: the share that is done one after the other.
    pub sigma: f64,
    /// Coherence: the price of each pair of workers.
    pub kappa: f64,
    /// Mean relative distance to the measurements.
    pub miss: f64,
    /// The number of workers with the highest throughput.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimal_workers: Option<f64>,
    /// That throughput, in times that of one worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_speedup: Option<f64>,
}

/// A trial in one line.
pub fn benchmark_line(trial: &BenchmarkTrial) -> String {
    format!(
        "{:>12}  {:>12.0} runs/s  {:>12.0} flows/s\n",
        counted(trial.workers.into(), "worker"),
        trial.runs_per_second,
        trial.steps_per_second
    )
}

/// What the trials come to, on a machine with this many processors.
pub fn benchmark_lines(document: &BenchmarkDocument, processors: u32) -> String {
    let Some(law) = &document.law else {
        let why = document.refused.as_deref().unwrap_or_default();
        return format!("no verdict: {why}; this machine has {processors} processors\n");
    };
    let mut text = format!("universal scaling law, which misses by {:.1} % on average\n", 100.0 * law.miss);
    let mut row = |key: &str, value: String| text.push_str(&format!("  {key:<22} {value}\n"));
    row("sigma (contention)", format!("{:.6}   {:.1} % is done one after the other", law.sigma, 100.0 * law.sigma));
    row("kappa (coherence)", format!("{:.6}   the price of each pair of workers", law.kappa));
    row("regime", law.regime.clone());
    row(
        "optimal workers",
        law.optimal_workers.map_or("each one more adds something".to_owned(), |n| format!("{n:.1}")),
    );
    row(
        "peak throughput",
        law.peak_speedup.map_or("without bound".to_owned(), |peak| format!("{peak:.2} times one worker")),
    );
    text
}
