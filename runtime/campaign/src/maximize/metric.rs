//! What a run costs: the metrics, by their words.

use crate::error::{CampaignError, ErrorKind};
use fozzy_engine::Build;
use fozzy_trace::{Duration, counted, grouped};
use std::fmt;
use std::str::FromStr;

/// A cost of a run that is a function of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CostMetric {
    /// Instructions of all machines.
    Cpu,
    /// Bytes that the program's own allocators handed out.
    Heap,
    /// Virtual time until the end.
    Latency,
    /// The virtual time that 99 of 100 steps do not exceed; of a run without steps, that of the run.
    TailLatency,
    /// Calls of functions of this name, in the program or of the host.
    Calls(String),
}

impl CostMetric {
    /// The words, for messages.
    pub const WORDS: &str = "cpu, heap, latency, p99_latency or calls:NAME";

    /// The build that counts it, with fuel, since nothing is known of a run before it is made.
    pub(crate) fn build(&self) -> Build {
        Build { heap: (*self == CostMetric::Heap).then(Vec::new), ..Build::profile_with_fuel() }
    }

    /// Its word in documents of version 1, if it has one there.
    pub(crate) fn profile_word(&self) -> String {
        match self {
            CostMetric::Cpu => "cpu_time".to_owned(),
            CostMetric::Heap => "alloc_bytes".to_owned(),
            other => other.to_string(),
        }
    }

    /// What it is counted in.
    #[must_use]
    pub fn unit(&self) -> &'static str {
        match self {
            CostMetric::Cpu => "instructions",
            CostMetric::Heap => "bytes",
            CostMetric::Latency | CostMetric::TailLatency => "ns",
            CostMetric::Calls(_) => "calls",
        }
    }

    /// A cost, for people.
    pub(crate) fn written(&self, cost: u64) -> String {
        match self {
            CostMetric::Cpu => format!("{} instructions", grouped(cost)),
            CostMetric::Heap => counted(cost, "byte"),
            CostMetric::Latency | CostMetric::TailLatency => Duration(cost).to_string(),
            CostMetric::Calls(_) => counted(cost, "call"),
        }
    }

    /// No run cost anything.
    pub(crate) fn nothing_measured(&self, runs: u64) -> CampaignError {
        let runs = counted(runs, "run");
        let (what, hint) = match self {
            CostMetric::Cpu => ("no instruction was executed".to_owned(), "fozzy run shows how it ends"),
            CostMetric::Heap => (
                "no allocation was seen".to_owned(),
                "a program that was stripped of the names of its functions, or has an allocator of its own, is not measured by it",
            ),
            CostMetric::Latency | CostMetric::TailLatency => (
                "no virtual time passed: the program neither waits nor reads a clock".to_owned(),
                "cpu counts instructions",
            ),
            CostMetric::Calls(name) => (
                format!("nothing called `{name}` was called"),
                "fozzy profile top RUN --cpu lists the functions of a run",
            ),
        };
        CampaignError::new(ErrorKind::Target, format!("{self}: in {runs} {what}")).hint(hint)
    }
}

impl fmt::Display for CostMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CostMetric::Cpu => f.write_str("cpu"),
            CostMetric::Heap => f.write_str("heap"),
            CostMetric::Latency => f.write_str("latency"),
            CostMetric::TailLatency => f.write_str("p99_latency"),
            CostMetric::Calls(name) => write!(f, "calls:{name}"),
        }
    }
}

impl FromStr for CostMetric {
    type Err = String;

    fn from_str(text: &str) -> Result<CostMetric, String> {
        match text.split_once(':') {
            None if ["cpu", "cpu_time"].contains(&text) => Ok(CostMetric::Cpu),
            None if ["heap", "alloc_bytes"].contains(&text) => Ok(CostMetric::Heap),
            None if text == "latency" => Ok(CostMetric::Latency),
            None if text == "p99_latency" => Ok(CostMetric::TailLatency),
            Some(("calls", name)) if !name.is_empty() => Ok(CostMetric::Calls(name.to_owned())),
            _ => Err(format!("expected {}, found `{text}`", CostMetric::WORDS)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metrics_are_read_as_they_are_written() {
        for text in ["cpu", "heap", "latency", "p99_latency", "calls:memcpy", "calls:core::str::find"] {
            assert_eq!(text.parse::<CostMetric>().map(|metric| metric.to_string()), Ok(text.to_owned()));
        }
        for text in ["", "calls", "calls:", "cpu:x", "time"] {
            assert!(text.parse::<CostMetric>().is_err(), "{text}");
        }
    }
}
