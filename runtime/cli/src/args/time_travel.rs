//! Arguments of what goes back to a moment of a run, or asks what could have become of it.

use super::{ReplayProfileArgs, ReportFormatArg, SeedArg};
use clap::{ArgGroup, Args, ValueEnum};
use fozzy_campaign::options::seed_number;
use fozzy_trace::plan::AllocatorChoice;
use fozzy_trace::{Duration, Instant, StopPoint};
use std::path::PathBuf;

/// With --until, --step or --call, shows the state of the run there: tasks, timers, files, the last calls, memory; and exits with 0, or with 2 when
/// the run does not reach it. A task is a machine's guest; tasks that the SDK spawns inside a guest are in its memory, and show
/// in the calls that ask for the `next task`. Exit code otherwise: that of the replayed run when it is the same run; 2 when it is not.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("moment").args(["until", "step", "call"]))]
pub(crate) struct ReplayArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    #[arg(required_unless_present = "step")]
    trace: Option<String>,
    /// Replay the recorded decisions against another program, and name the first divergence.
    #[arg(long, value_name = "TARGET")]
    pub(crate) against: Option<PathBuf>,
    /// With --against, the plan whose machines run their programs of today; a saved failure knows its own. Without, they run what was
    /// recorded.
    #[arg(long, value_name = "FILE", requires = "against")]
    pub(crate) plan: Option<PathBuf>,
    /// Execute the recorded decisions with checks of memory: another run than the recorded one, unless that had them too.
    #[arg(long, conflicts_with_all = ["against", "until", "step", "call"])]
    pub(crate) memcheck: bool,
    /// With --memcheck, a function of the allocator, beside those that are recognised and those of the recording: `malloc=NAME`, or
    /// `free=func[13]`. Can be repeated.
    #[arg(long, value_name = "ROLE=FUNCTION", requires = "memcheck")]
    pub(crate) allocator: Vec<AllocatorChoice>,
    /// Stop at this virtual time, and show the state of the run.
    #[arg(long, value_name = "TIME", value_parser = Duration::parse, conflicts_with = "against")]
    pub(crate) until: Option<Duration>,
    /// Stop before this step of a scenario: counted from 0 over the whole run, or in a sequence, as `2:17`. Without a number,
    /// print each step of the run.
    #[arg(long, value_name = "[SEQUENCE:]N", num_args = 0..=1, conflicts_with = "against")]
    step: Option<Option<String>>,
    /// Stop before this call, as `trace show` counts them.
    #[arg(long, value_name = "N", conflicts_with = "against")]
    pub(crate) call: Option<u64>,
    /// At the stop, show a static variable by its name or path, or memory by ADDRESS:LENGTH; of another machine, as MACHINE:SYMBOL.
    #[arg(long, value_name = "SYMBOL", requires = "moment")]
    pub(crate) memory: Vec<String>,
    /// The number of calls before the stop to show.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) events: usize,
    /// Print every call of the program on stderr.
    #[arg(long, conflicts_with = "against")]
    pub(crate) dump_events: bool,
    /// Format of the summary [default: `reporter` of fozzy.toml, or pretty]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) reporter: Option<ReportFormatArg>,
    #[command(flatten)]
    pub(crate) profile: ReplayProfileArgs,
}

impl ReplayArgs {
    /// The trace; behind `--step` alone it stands where the number would.
    pub(crate) fn trace(&self) -> &str {
        let behind = || self.step.as_ref().and_then(Option::as_deref);
        self.trace.as_deref().or_else(behind).unwrap_or_default()
    }

    /// The moment that was asked for.
    ///
    /// # Errors
    /// When the step is no number.
    pub(crate) fn until(&self) -> Result<Option<StopPoint>, String> {
        let time = self.until.map(|time| StopPoint::Time(Instant::START.after(time)));
        let number = self.step.as_ref().and_then(Option::as_deref).filter(|_| self.trace.is_some());
        let step = number.map(step).transpose()?;
        Ok(time.or(step).or(self.call.map(StopPoint::Call)))
    }

    /// Whether each step is to be printed.
    pub(crate) fn prints_steps(&self) -> bool {
        self.step.as_ref().is_some_and(|number| number.is_none() || self.trace.is_none())
    }
}

fn step(text: &str) -> Result<StopPoint, String> {
    let refuse = || format!("--step: expected a number, or a sequence and a step as `2:17`, found `{text}`");
    match text.split_once(':') {
        None => text.parse().map(StopPoint::Step).map_err(|_| refuse()),
        Some((sequence, step)) => match (sequence.parse(), step.parse()) {
            (Ok(sequence), Ok(step)) => Ok(StopPoint::Place { sequence, step }),
            _ => Err(refuse()),
        },
    }
}

/// Continues the failing run from several of its decisions, many times with new randomness, and counts how often the same failure occurs
/// within the length of the recorded run. It repeats this between the two decisions with the steepest rise, down to one decision. Exit
/// code: 0, or 2 when there is no failure, or it is not reproduced.
#[derive(Debug, Args)]
pub(crate) struct CausalityArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// The number of decisions to continue from, spread evenly over the run.
    #[arg(long, value_name = "K", default_value_t = 12, value_parser = clap::value_parser!(u32).range(2..=1_000))]
    pub(crate) moments: u32,
    /// Continuations from each decision.
    #[arg(long, value_name = "M", default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) runs: u32,
    /// The seed of the continuations: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "1", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
    /// Runs in parallel. The results do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: u32,
    /// Write the chart to this file, as SVG.
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
}

/// Runs the plan of the trace with other seeds. Exit code: 0, or 2 when there is no failure.
#[derive(Debug, Args)]
pub(crate) struct FindabilityArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// The number of fresh runs.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) runs: u32,
    /// The seed that their seeds are derived from: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "1", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
    /// Runs in parallel. The results do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: u32,
    /// Guided explorations, each by a fresh seed, that count the steps until the failure [default: 5 if no fresh run fails so, else 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10_000))]
    pub(crate) guided_seeds: Option<u32>,
    /// Steps after which such an exploration gives up [default: 20000; 1000 runs of a program that is no scenario]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) guided_steps: Option<u64>,
}

/// Explores a scenario with 1, 2, 4 and more workers, each for the same time, and fits the universal scaling law to the counts that they
/// reach. It gives no estimate where the law does not fit. Exit code: 0, or 2 error or usage; failures that are found do not
/// change it.
#[derive(Debug, Args)]
pub(crate) struct BenchmarkArgs {
    /// A stateful scenario, any target of `run`.
    pub(crate) target: PathBuf,
    /// The largest number of workers; the smaller ones are 1, 2, 4 and so on [default: twice the processors, at least 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) max_workers: Option<u32>,
    /// The budget of real time for each number of workers.
    #[arg(long, value_name = "DURATION", default_value = "10s", value_parser = Duration::parse)]
    pub(crate) time: Duration,
    /// The metric that is compared.
    #[arg(long, value_name = "WHAT", default_value = "runs")]
    pub(crate) metric: MetricArg,
    /// The seed of each exploration.
    #[arg(long, value_name = "N", default_value_t = 42, value_parser = seed_number, overrides_with = "seed")]
    pub(crate) seed: u64,
    /// Further arguments of `fozzy explore`, such as `-- --schedule random --faults disk`.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) explore: Vec<String>,
}

/// What a benchmark fits to.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum MetricArg {
    /// Runs per second.
    Runs,
    /// Flows per second.
    Steps,
}
