//! The command line, as clap reads it. `CLI.md` is generated from here.

mod artifacts;
mod check;
mod cluster_plan;
mod corpus;
mod criteria;
mod dashboard;
mod debug;
mod diff;
mod fleet;
mod gates;
mod heap;
mod maelstrom;
mod map;
mod memory;
mod mine;
mod mutants;
mod options;
mod profile;
mod report;
mod suspects;
mod time_travel;

pub(crate) use artifacts::{ArtifactsCommand, ArtifactsDiffArgs, ArtifactsLsArgs, ArtifactsOutArgs};
pub(crate) use check::CheckArgs;
pub(crate) use corpus::{
    CorpusAddArgs, CorpusCommand, CorpusExportArgs, CorpusImportArgs, CorpusListArgs, CorpusMinimizeArgs, InputArgs,
};
pub(crate) use criteria::CriteriaArgs;
pub(crate) use dashboard::DashboardArgs;
pub(crate) use debug::DebugArgs;
pub(crate) use diff::DiffArgs;
pub(crate) use fleet::{FleetArgs, StoreCommand, StoreCopyArgs, StoreDismissArgs};
pub(crate) use gates::{FullArgs, GateArgs, GateProfileArg};
pub(crate) use heap::{HeapArgs, MemoryCommand};
pub(crate) use maelstrom::{MaelstromCommand, MaelstromTestArgs};
pub(crate) use map::{EvidenceArgs, MapCommand, ShrinkPolicyArg, TopologyProfileArg};
pub(crate) use memory::{MemoryArgs, memory_size, percentage};
pub(crate) use mine::MineArgs;
pub(crate) use mutants::MutantsArgs;
pub(crate) use options::request;
pub(crate) use profile::{ProfileArgs, ProfileCommand, ProfileShrinkArgs, ReplayProfileArgs};
pub(crate) use report::{ReportCommand, ReportFlakyArgs, ReportFormatArg, ReportQueryArgs, ReportShowArgs};
pub(crate) use suspects::SuspectsArgs;
pub(crate) use time_travel::{BenchmarkArgs, CausalityArgs, FindabilityArgs, MetricArg, ReplayArgs};

use crate::help::commands_by_purpose;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use fozzy_campaign::RiskBound;
use fozzy_campaign::explore::state::is_state;
use fozzy_campaign::maximize::CostMetric;
use fozzy_campaign::options::seed_number;
use fozzy_search::explore::{STRATEGIES, StrategyRow, strategy};
use fozzy_trace::Duration;
use fozzy_trace::plan::{FLOWS_MAX, SEQUENCES_MAX};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Deterministic execution, recording and replay of WebAssembly programs.
#[derive(Debug, Parser)]
#[command(name = "fozzy", version, long_about = LONG_ABOUT, max_term_width = 110)]
#[command(help_template = HELP_TEMPLATE, after_help = commands_by_purpose(&Command::augment_subcommands(clap::Command::new("fozzy"))))]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Commands stand in groups, before the flags that all of them have.
const HELP_TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}{after-help}\n\nFlags of every command:\n{options}";

const LONG_ABOUT: &str = "\
Fozzy runs programs - any program that compiles to WebAssembly - in a sandbox where nothing is left to \
chance: every import (clock, random, files, standard streams) is answered by a simulated computer. A \
run is a pure function of program, plan and seed; it can be recorded, replayed bit for bit on another \
machine, and handed on as one file.";

/// Flags of every command, before or after its name.
#[derive(Debug, Args)]
#[command(next_help_heading = "Flags of every command")]
pub(crate) struct Globals {
    /// Configuration file; a missing one means the defaults.
    #[arg(long, global = true, value_name = "PATH", default_value = "fozzy.toml", env = "FOZZY_CONFIG")]
    pub(crate) config: PathBuf,
    /// Change to this directory before anything else.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) cwd: Option<PathBuf>,
    /// Log level of messages on stderr: error, warn, info, debug, trace.
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn", env = "FOZZY_LOG")]
    pub(crate) log: String,
    /// Print exactly one JSON document on stdout, also for errors.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Never print colours. NO_COLOR and non-terminals are respected anyway.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// What answers operations on files: the virtual disk, or the real working directory, recorded.
    #[arg(long, global = true, value_name = "BACKEND")]
    pub(crate) fs_backend: Option<FilesArg>,
    /// What answers outgoing HTTP: the rules of the plan, or real servers, recorded.
    #[arg(long, global = true, value_name = "BACKEND")]
    pub(crate) http_backend: Option<ScriptArg>,
    /// What answers processes: the rules of the plan, or real programs, recorded.
    #[arg(long, global = true, value_name = "BACKEND")]
    pub(crate) proc_backend: Option<ScriptArg>,
    /// Live HTTP may ask this host only: HOST, HOST:PORT, *.HOST or `[ADDRESS]:PORT`; repeatable. Secrets go to no other.
    #[arg(long, global = true, value_name = "HOST", value_parser = host_pattern)]
    pub(crate) allow_host: Vec<String>,
    /// Live processes may run this command only, as the program names it; repeatable. Secrets go to no other.
    #[arg(long, global = true, value_name = "NAME", value_parser = live_command)]
    pub(crate) allow_command: Vec<String>,
    /// How long live answers take in virtual time: as long as they took, recorded, or as drawn from the seed [default: real]
    #[arg(long, global = true, value_name = "HOW")]
    pub(crate) live_durations: Option<DurationsArg>,
    /// Treat warnings about integrity as errors (the default).
    #[arg(long, global = true, alias = "strict-verify", conflicts_with = "unsafe_")]
    pub(crate) strict: bool,
    /// Keep warnings about integrity as warnings.
    #[arg(long = "unsafe", id = "unsafe_", global = true)]
    pub(crate) unsafe_: bool,
    /// Keep nothing of runs in the run store: no report, and no trace but of --record.
    #[arg(long, global = true)]
    pub(crate) no_store: bool,
    /// Keep the traces of passing runs too: for the variable only, so that it is on no page.
    #[arg(long, global = true, hide = true, env = "FOZZY_ARTIFACTS_FULL", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) artifacts_full: bool,
    /// The store of fleets: for the variable only, as an address may have a password.
    #[arg(long, global = true, hide = true, env = "FOZZY_STORE", hide_env_values = true)]
    pub(crate) fleet_store: Option<String>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Create a scenario project that builds and passes.
    Init(InitArgs),
    /// Run a program once in the simulated computer.
    Run(RunArgs),
    /// Run a suite of scenarios, each in isolation, and report on all of them.
    Test(TestArgs),
    /// Search for inputs that make a program fail.
    Fuzz(FuzzArgs),
    /// Explore the decisions of any program - flows, schedules, messages, faults, random bytes - to find failures.
    Explore(ExploreArgs),
    /// Search every test of a project for as long as there is time, dividing it by what each finds.
    Fleet(FleetArgs),
    /// Serve what a fleet has found as pages for a browser, or write them as files.
    Dashboard(DashboardArgs),
    /// Copy the store of a project's fleets, or take failures out of it.
    #[command(subcommand, disable_help_subcommand = true)]
    Store(StoreCommand),
    /// List the failures that explorations have saved, and replay them on the current programs.
    Seeds(SeedsArgs),
    /// Replay a recorded trace from its file alone, and compare.
    Replay(ReplayArgs),
    /// Re-run a recorded run up to one decision, then continue with another seed.
    Branch(BranchArgs),
    /// Debug a recorded run, forwards and backwards.
    Debug(DebugArgs),
    /// Find the decision that made a recorded failure likely.
    Causality(CausalityArgs),
    /// Estimate how often a failure occurs in fresh runs, and how many clean runs support a fix.
    Findability(FindabilityArgs),
    /// Measure how an exploration scales with the number of workers.
    Benchmark(BenchmarkArgs),
    /// Shrink a recorded failure: fewer steps and faults, simpler values, the same failure signature.
    Shrink(ShrinkArgs),
    /// Determine which planned faults a recorded failure needs.
    Ablate(AblateArgs),
    /// Run two programs under equal decisions, and show the first difference of what they do.
    Diff(DiffArgs),
    /// Change a program in many small things, and show which changes none of its runs notices.
    Mutants(MutantsArgs),
    /// Run a program with many seeds, and propose properties that held in all runs that pass.
    Mine(MineArgs),
    /// Run a program with many seeds, and rank what goes with its failure.
    Suspects(SuspectsArgs),
    /// Show the kind, imports and exports of a program, without running it.
    Inspect(InspectArgs),
    /// Show which functions, lines and edges recorded runs have reached.
    Coverage(CoverageArgs),
    /// Show where recorded runs spend their instructions, time and memory.
    #[command(subcommand, disable_help_subcommand = true)]
    Profile(ProfileCommand),
    /// Show what recorded runs allocate and leak.
    #[command(subcommand, disable_help_subcommand = true)]
    Memory(MemoryCommand),
    /// Show which code of a project is risky, what of its programs ran, and which scenario covers what.
    #[command(subcommand, disable_help_subcommand = true)]
    Map(MapCommand),
    /// Verify and show traces.
    #[command(subcommand, disable_help_subcommand = true)]
    Trace(TraceCommand),
    /// Manage the input corpora of fuzz campaigns.
    #[command(subcommand, disable_help_subcommand = true)]
    Corpus(CorpusCommand),
    /// List, compare, export and bundle the files of runs.
    #[command(subcommand, disable_help_subcommand = true)]
    Artifacts(ArtifactsCommand),
    /// Check a trace in CI: its integrity, and that it replays as recorded, on the program that it has in it.
    Ci(CiArgs),
    /// Run the checks that gate a change, on the scenarios in its scope.
    Gate(GateArgs),
    /// Run every command once on the scenarios of a project, and report each result.
    Full(FullArgs),
    /// Show, query and compare the reports of finished runs.
    #[command(subcommand, disable_help_subcommand = true)]
    Report(ReportCommand),
    /// Check a plan file or a scenario file `*.fozzy.json`: its syntax, and every file that a plan names.
    Validate(ValidateArgs),
    /// Print the JSON Schema of a kind of file, or of a document that a command prints.
    #[command(alias = "steps")]
    Schema(SchemaArgs),
    /// Judge histories that clients of a distributed system have recorded.
    Check(CheckArgs),
    /// Test clusters of nodes that speak the Maelstrom protocol.
    #[command(subcommand, disable_help_subcommand = true)]
    Maelstrom(MaelstromCommand),
    /// Check this machine, and with --deep that a program is deterministic.
    Doctor(DoctorArgs),
    /// Remove old runs from the run store, and what killed processes have left there.
    Clean(CleanArgs),
    /// List the commands by purpose, with an example of each.
    Usage,
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command.
    Man(ManArgs),
    /// Show the backend of each guest capability.
    Env,
    /// Show the versions of everything that results depend on.
    Version(VersionArgs),
}

/// Exit code: 0, or 2 when a file exists already or cannot be written.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// The folder of the new files; it is created if missing.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The language of the scenario; `minimal` needs no toolchain. Or a node of the Maelstrom protocol, without examples.
    #[arg(long, value_name = "TEMPLATE", default_value = "minimal")]
    pub(crate) template: TemplateArg,
    /// Examples to include: plans for run, explore, memory and host, an input for fuzz.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "all")]
    pub(crate) with: Vec<ExampleArg>,
    /// Include all examples; overrides --with.
    #[arg(long)]
    pub(crate) all_tests: bool,
    /// Overwrite existing files.
    #[arg(long)]
    pub(crate) force: bool,
    /// The folder of a Rust SDK, guest-sdk of a clone [default: the SDK of this version, written to vendor/fozzy]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) sdk: Option<PathBuf>,
    /// Write only the Rust SDK of this version, over that of another one.
    #[arg(long, conflicts_with_all = ["template", "with", "all_tests", "sdk"])]
    pub(crate) sdk_only: bool,
}

/// Languages to begin with.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum TemplateArg {
    Rust,
    C,
    Go,
    Js,
    // Nodes for `fozzy maelstrom`.
    MaelstromRust,
    MaelstromGo,
    // What version 1 called `ts` wrote nothing of TypeScript.
    #[value(alias = "ts")]
    Minimal,
}

impl TemplateArg {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            TemplateArg::Rust => "rust",
            TemplateArg::C => "c",
            TemplateArg::Go => "go",
            TemplateArg::Js => "js",
            TemplateArg::MaelstromRust => "maelstrom-rust",
            TemplateArg::MaelstromGo => "maelstrom-go",
            TemplateArg::Minimal => "minimal",
        }
    }
}

/// Examples that come with a template.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ExampleArg {
    Run,
    Fuzz,
    Explore,
    Memory,
    Host,
    All,
}

/// Exit code: 0 pass, 1 the program reports a failure, 2 error or usage, 3 timeout or hang, 4 crash.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A component, a wasip1 core module, the text format of either, or a folder: with a Cargo.toml (built for
    /// wasm32-wasip2), or with an expect.toml that defines how to build its program. A component that exports `fozzy:scenario` is
    /// driven step by step, and so is a scenario file `*.fozzy.json`. A plan file that names its clients runs them under this plan.
    pub(crate) target: PathBuf,
    /// Accepted for compatibility: every run is deterministic.
    #[arg(long)]
    pub(crate) det: bool,
    /// The seed of all random answers: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
    /// Give the program each line of standard input as it comes, and show what it prints at once: for programs that are talked to, by a
    /// person or through a pipe. What comes is kept with its moment in virtual time, which passes as real time does while the program
    /// waits for it, and a replay needs no terminal. Ctrl-D ends the input, Ctrl-C the run. Without it, input is read to its end before
    /// the program gets the first byte.
    #[arg(short, long, conflicts_with_all = ["stdin", "seeds"])]
    pub(crate) interactive: bool,
    /// Run it with many seeds: FROM..TO, both included, A,B,C, or how many from --seed on; at most 100,000. A trace is kept of
    /// the first seed that fails in each way.
    #[arg(long, alias = "runs", value_name = "N|FROM..TO|A,B", help_heading = "Many seeds")]
    pub(crate) seeds: Option<String>,
    /// Write what the programs of each seed print to files in this folder, `seed-N.stdout` and `seed-N.stderr`.
    #[arg(long, value_name = "DIR", requires = "seeds", help_heading = "Many seeds")]
    pub(crate) logs: Option<PathBuf>,
    /// Show what the program of the first seed prints, as it does.
    #[arg(long, requires = "seeds", help_heading = "Many seeds")]
    pub(crate) passive: bool,
    /// Ask at each new failure whether to debug it, to go on or to stop; the other seeds run meanwhile.
    #[arg(long, requires = "seeds", help_heading = "Many seeds")]
    pub(crate) ask: bool,
    /// End at the first seed that fails.
    #[arg(long, requires = "seeds", help_heading = "Many seeds")]
    pub(crate) until_failure: bool,
    /// Seeds that run in parallel. The results do not depend on it.
    #[arg(long, value_name = "N", requires = "seeds", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024), help_heading = "Many seeds")]
    pub(crate) jobs: u32,
    /// Sequences of a scenario, each from the initial state; rounds of fuzz targets and properties [default: 10; 1 beside other machines of the plan, which go on through all of them]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(SEQUENCES_MAX)))]
    pub(crate) sequences: Option<u32>,
    /// Flows in each sequence of a scenario; calls in each round of fuzz targets and properties [default: 100]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=i64::from(FLOWS_MAX)))]
    pub(crate) flows: Option<u32>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Write the run as a self-contained trace.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when the trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "append")]
    pub(crate) record_collision: CollisionArg,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    #[command(flatten)]
    pub(crate) criteria: CriteriaArgs,
    /// Format of the summary [default: `reporter` of fozzy.toml, or pretty]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) reporter: Option<ReportFormatArg>,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// Failures saved as `regressions/*.fozzy`, or by `fozzy explore`, are replayed first, on the current programs. Exit code: that of the worst
/// case, where 2 (could not be run) is worse than 4 (crash), 3 (timeout or hang), 1 (fail) and 0; 2 for a suite without a
/// scenario.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Components, core modules, `.wat` of either, plan files that name their clients, folders with a Cargo.toml or an expect.toml that
    /// names a program, other folders (everything below), or patterns of these with `*`, `?`, `[ab]`, `**` [default: tests/**/*.fozzy.json, everything
    /// below scenarios/, and this folder, if it is one of a scenario; when that is nothing, the programs in this folder]
    #[arg(value_name = "GLOBS")]
    pub(crate) globs: Vec<String>,
    /// Accepted for compatibility: every run is deterministic.
    #[arg(long)]
    pub(crate) det: bool,
    /// The seed of the suite: a number, or `random` for a fresh one. The seed of a scenario is derived from it and from the scenario's
    /// own name.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
    /// Scenarios that run in parallel. The results do not depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: u32,
    /// Only scenarios whose name or path contains this text.
    #[arg(long, value_name = "PART")]
    pub(crate) filter: Option<String>,
    /// Stop after the first failure; implies one job.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Compare each scenario with the `status` and `signatures` of its `expect.toml`: an expected failure passes.
    #[arg(long)]
    pub(crate) expect: bool,
    /// Sequences of each scenario [default: from its expect.toml, else 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(SEQUENCES_MAX)))]
    pub(crate) sequences: Option<u32>,
    /// Flows in each sequence [default: from its expect.toml, else 100]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=i64::from(FLOWS_MAX)))]
    pub(crate) flows: Option<u32>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Write every run as a self-contained trace; several as `stem.1.ext`, `stem.2.ext`, in the order of paths. Without it, the traces of runs that did
    /// not pass are written to the run's folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when a trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "append")]
    pub(crate) record_collision: CollisionArg,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Format of the report [default: `reporter` of fozzy.toml, or pretty]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) reporter: Option<ReportFormatArg>,
    /// Write the report to this file, and the pretty one to standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Arguments of each program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// Exit code: 0 no finding, else that of the worst finding: 1 failure, 3 timeout or hang, 4 crash; 2 error or usage.
#[derive(Debug, Args)]
#[command(mut_arg("stdin", |arg| arg
    .num_args(0..=1)
    .require_equals(true)
    .default_missing_value("-")
    .value_name("FILE")
    .help("The input is the program's standard input; with `=FILE`, standard input is this file in every execution")
    .long_help(None)))]
#[command(mut_arg("fuel", |arg| arg
    .help("The budget of instructions of each execution [default: 1000000000, a tenth of a run's]")
    .long_help(None)))]
pub(crate) struct FuzzArgs {
    /// The program to fuzz, any target of `run`: fuzz targets and properties of the SDK, a scenario, a core module that
    /// exports `LLVMFuzzerTestOneInput`; a program (--stdin, --input-file, --arg), exported functions (--function), a
    /// HTTP handler (--http).
    pub(crate) target: PathBuf,
    /// The fuzz target or property, when the program has several; `stateful` for the sequences of a scenario. Then files, each
    /// of which is run once, without a campaign; or a folder, which is the corpus.
    #[arg(value_name = "FUNCTION|FILE")]
    pub(crate) words: Vec<String>,
    /// Call this exported function with arguments of its types, such as `ns:package/interface#parse`, or `parse`.
    #[arg(long = "function", value_name = "NAME", conflicts_with_all = ["mode", "http"])]
    pub(crate) exported: Option<String>,
    /// Send requests to its `wasi:http/incoming-handler`.
    #[arg(long, conflicts_with = "mode")]
    pub(crate) http: bool,
    /// Run the program; the input is a file of this absolute path on its virtual disk.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["mode", "http", "exported"])]
    pub(crate) input_file: Option<String>,
    /// Run the program; the input is its last argument, as text.
    #[arg(long, conflicts_with_all = ["mode", "http", "exported", "input_file"])]
    pub(crate) arg: bool,
    /// Treat an exit code other than 0 as a failure.
    #[arg(long)]
    pub(crate) fail_on_exit: bool,
    /// Flows in each sequence, when a scenario is fuzzed.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) flows: u32,
    /// A cargo-fuzz folder; TARGET is one of its targets. It is built unchanged for wasm32-wasip1, and its corpus and
    /// artifacts are used.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["mode", "record", "http", "exported", "input_file", "arg"])]
    pub(crate) cargo_fuzz: Option<PathBuf>,
    /// Make the campaign reproducible, byte for byte: requires --runs, excludes --time.
    #[arg(long, requires = "runs", conflicts_with = "time")]
    pub(crate) det: bool,
    /// Fuzz targets that take bytes, or properties that draw values [default: whichever the program has]
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<FuzzModeArg>,
    /// The seed of the campaign: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
    /// Worker processes; they share the corpus folder. A campaign with several workers is not reproducible.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// The budget of executions, shared by all workers.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,
    /// The budget of real time, such as 30s, 5m, 2h.
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
    pub(crate) time: Option<Duration>,
    /// End when the chance that one more minute finds something new has fallen to this, such as 5%. It never falls below 1 % within the
    /// first hour, or below 5 % within the first ten minutes.
    #[arg(long, value_name = "SHARE", value_parser = RiskBound::parse, conflicts_with_all = ["det", "maximize"])]
    pub(crate) until_risk: Option<RiskBound>,
    /// Maximum length of an input, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=INPUT_BYTES_MAX))]
    pub(crate) max_input: u32,
    /// The corpus folder: initial inputs are read from it, new ones are added to it
    /// [default: .fozzy/corpora/PROGRAM.FUNCTION]
    #[arg(long, value_name = "DIR")]
    pub(crate) corpus: Option<PathBuf>,
    /// Use this mutator only: bit, byte, arithmetic, interesting, erase, insert, copy, move, splice, word, comparison,
    /// digits, repeat, nest, sized, token, bracket, indent.
    #[arg(long, value_name = "NAME")]
    pub(crate) mutator: Option<String>,
    /// A dictionary of tokens, in the syntax of AFL and libFuzzer.
    #[arg(long, value_name = "FILE")]
    pub(crate) dict: Option<PathBuf>,
    /// Keep the input of each finding as it was found. It is made smaller otherwise.
    #[arg(long, alias = "no-shrink")]
    pub(crate) no_minimize: bool,
    /// The default, of old.
    #[arg(long, alias = "shrink", hide = true, conflicts_with = "no_minimize")]
    pub(crate) minimize: bool,
    /// Stop at the first finding.
    #[arg(long)]
    pub(crate) crash_only: bool,
    /// Search for the input that costs most, and record its run: instructions, bytes allocated, virtual time, or calls of a function
    /// of the program or the host (cpu, heap, latency, p99_latency, calls:NAME).
    #[arg(long, value_name = "METRIC", conflicts_with_all = ["jobs", "crash_only", "no_minimize", "sarif", "fail_on_exit"])]
    pub(crate) maximize: Option<CostMetric>,
    /// Write the first finding to this trace, and further ones beside it, instead of to the run's folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when the trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "append")]
    pub(crate) record_collision: CollisionArg,
    /// Also write the findings to this file, as SARIF 2.1.0.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Which exit codes to use: fozzy's, or libFuzzer's (77 failure or crash, 71 out of memory, 70 timeout).
    #[arg(long, value_name = "KIND", default_value = "fozzy")]
    pub(crate) exit_codes: ExitCodesArg,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    #[command(flatten)]
    pub(crate) criteria: CriteriaArgs,
    /// Format of the summary [default: `reporter` of fozzy.toml, or pretty]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) reporter: Option<ReportFormatArg>,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// Exit code: 0 no finding, else that of the worst finding: 1 failure, 3 timeout or hang, 4 crash; 2 error or usage.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// Any target of `run`, or a trace: the program and the plan of its run. A stateful scenario is explored step by step, from
    /// checkpoints; any other program in whole runs, with all machines of its plan.
    pub(crate) target: PathBuf,
    /// The budget of real time, such as 30s, 5m, 2h [default: 60s, if neither --runs nor --until-risk is given; of a scenario file of version 1, one run]
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
    pub(crate) time: Option<Duration>,
    /// The budget of runs.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,
    /// The seed of the exploration: a number, or `random` for a fresh one, which is printed first [default: 42]
    #[arg(long, value_name = "N|random", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: Option<SeedArg>,
    /// Maximum number of steps in a run, counted from its start state [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(FLOWS_MAX)))]
    pub(crate) steps: Option<u32>,
    /// The exploration strategy [default: coverage_guided; fifo for a scenario file of version 1 without --runs and --time]
    #[arg(long, value_name = "STRATEGY", value_parser = schedules())]
    pub(crate) schedule: Option<&'static StrategyRow>,
    /// Checkers of a distributed scenario, instead of its invariants: `kv_all_equal:KEY`, `kv_present_on_all:KEY`,
    /// `kv_node_equals:NODE:KEY:VALUE`.
    #[arg(long, value_name = "CHECKER", value_delimiter = ',')]
    pub(crate) checker: Vec<String>,
    /// The number of nodes of a distributed scenario, instead of the nodes that it names.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) nodes: Option<u32>,
    /// Stop early: when coverage is saturated, or at the first failure.
    #[arg(long, value_name = "WHEN")]
    pub(crate) stop: Option<StopArg>,
    /// End when the chance that one more minute finds something new has fallen to this, such as 5%. It never falls below 1 % within the
    /// first hour, or below 5 % within the first ten minutes. Without --time and --runs, nothing else ends it.
    #[arg(long, value_name = "SHARE", value_parser = RiskBound::parse, conflicts_with = "maximize")]
    pub(crate) until_risk: Option<RiskBound>,
    /// Search for the run that costs most, and record it: instructions, bytes allocated, virtual time, or calls of a function of the
    /// program or the host (cpu, heap, latency, p99_latency, calls:NAME).
    #[arg(long, value_name = "METRIC", conflicts_with_all = ["schedule", "stop", "until_failure", "resume", "save_state", "workers", "shortest", "generate_tests"])]
    pub(crate) maximize: Option<CostMetric>,
    /// `--stop failure`, as `run --seeds` calls it.
    #[arg(long, hide = true, conflicts_with = "stop")]
    pub(crate) until_failure: bool,
    /// Resume the last exploration of the program, or the one saved in this file.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) resume: Option<Option<PathBuf>>,
    /// The file of the final state, for --resume [default: .fozzy/explore/PROGRAM.json]
    #[arg(long, value_name = "FILE")]
    pub(crate) save_state: Option<PathBuf>,
    /// Worker processes; they exchange new coverage. Only an exploration with one worker, the default, is reproducible.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) workers: Option<u32>,
    /// Neither replay saved failures, nor save new ones.
    #[arg(long)]
    pub(crate) no_seeds: bool,
    /// Do not shrink findings at the end.
    #[arg(long)]
    pub(crate) no_shrink: bool,
    /// Accepted for compatibility: findings are shrunk by default.
    #[arg(long, alias = "minimize", conflicts_with = "no_shrink")]
    pub(crate) shrink: bool,
    /// Search for the shortest story of each finding, as `shrink --shortest` does.
    #[arg(long, conflicts_with = "no_shrink")]
    pub(crate) shortest: bool,
    /// Write a file of Rust tests that replay the findings, and the paths with the most coverage, under `cargo test`.
    #[arg(long, value_name = "FILE")]
    pub(crate) generate_tests: Option<PathBuf>,
    /// Print progress every two seconds.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Write the first finding to this trace, and further ones beside it, instead of to the run's folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when the trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "error")]
    pub(crate) record_collision: CollisionArg,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    #[command(flatten)]
    pub(crate) criteria: CriteriaArgs,
    /// Format of the summary [default: `reporter` of fozzy.toml, or pretty]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) reporter: Option<ReportFormatArg>,
    #[command(flatten)]
    pub(crate) profile: ProfileArgs,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// A failure is `still there`, be it at another place; or `fixed`, by the recorded decisions or by runs of both programs where the repair
/// shifts them; or the program `fails otherwise` by these decisions; or it is `stale`: it can not be compared any more, and is no verdict.
/// Exit code: 0 when none is still there or fails otherwise, 1 when one does, 2 error or usage.
#[derive(Debug, Args)]
pub(crate) struct SeedsArgs {
    /// Only the failures of this program, on it as it is now [default: all, each on the program that was explored]
    pub(crate) target: Option<PathBuf>,
    /// Remove failures that are fixed.
    #[arg(long)]
    pub(crate) prune_fixed: bool,
}

/// Exit code: that of the resulting run.
#[derive(Debug, Args)]
pub(crate) struct BranchArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// The number of decisions to take from the trace; later ones are drawn anew. `trace show` marks decisions by `?`.
    #[arg(long, value_name = "N")]
    pub(crate) at: u64,
    /// The seed of the new decisions: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse, overrides_with = "seed")]
    pub(crate) seed: SeedArg,
    /// Write the run as a self-contained trace.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when the trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "append")]
    pub(crate) record_collision: CollisionArg,
    /// Format of the summary [default: `reporter` of fozzy.toml, or pretty]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) reporter: Option<ReportFormatArg>,
}

/// How paths are chosen, by the names of the table.
fn schedules() -> impl TypedValueParser<Value = &'static StrategyRow> {
    let names = STRATEGIES.iter().map(|row| PossibleValue::new(row.name).help(row.says));
    PossibleValuesParser::new(names).map(|name| strategy(&name).expect("the parser has the names of the table"))
}

impl ExploreArgs {
    /// When it stops early.
    pub(crate) fn stop(&self) -> Option<StopArg> {
        self.stop.or(self.until_failure.then_some(StopArg::Failure))
    }
}

/// What ends an exploration early.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum StopArg {
    Saturated,
    Failure,
}

/// Longest input that can be asked for: longer ones are data, not decisions.
const INPUT_BYTES_MAX: i64 = 1 << 20;

/// Which functions are searched.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum FuzzModeArg {
    /// Fuzz targets.
    Coverage,
    /// Properties.
    Property,
}

/// Whose exit codes.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ExitCodesArg {
    Fozzy,
    Libfuzzer,
}

/// How often a scenario is run.
#[derive(Debug, Args)]
pub(crate) struct SizeArgs {
    /// Sequences of a scenario [default: 10; 1 beside other machines]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(SEQUENCES_MAX)))]
    pub(crate) sequences: Option<u32>,
    /// Flows in each sequence of a scenario [default: 100]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=i64::from(FLOWS_MAX)))]
    pub(crate) flows: Option<u32>,
}

/// Bounds of an execution.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Limits")]
pub(crate) struct LimitArgs {
    /// The budget of virtual time, such as 250ms, 10s, 5m, 2h. Sleeping costs no real time [default: a year for a program
    /// that is no scenario]
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// The budget of instructions of each machine [default: 10000000000]
    #[arg(long, value_name = "N")]
    pub(crate) fuel: Option<u64>,
    /// The limit of linear memory, in MiB or as a size such as 64MiB [default: 1024]; for a scenario file, the limit of memory that its steps allocate at
    /// once [default: no bound]
    #[arg(long, value_name = "MIB", value_parser = memory_size)]
    pub(crate) mem_limit_mb: Option<fozzy_plan::ByteSize>,
    /// The limit of what a program writes to its standard streams, such as 10MiB; more is a failure [default: 1GiB]
    #[arg(long, value_name = "SIZE", value_parser = fozzy_plan::ByteSize::parse)]
    pub(crate) output_limit: Option<fozzy_plan::ByteSize>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
}

/// What the simulated computer has.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "The simulated computer")]
pub(crate) struct WorldArgs {
    /// A plan file: environment, directories, scripted HTTP and processes, further machines, faults. Flags
    /// override it; `fozzy schema plan` describes it.
    #[arg(long, value_name = "PATH")]
    pub(crate) plan: Option<PathBuf>,
    /// The component under test: it exports an interface that the scenario imports, and has a store and a
    /// machine of its own, called `target`. Any program that `run` takes.
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) judged: Option<PathBuf>,
    /// The number of instances of that component, each with its own memory and machine: `n0`, `n1` and
    /// so on [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) target_instances: Option<u32>,
    /// Faults to inject: kinds and groups (all, clock, disk, http, memory, net, node, point, process), each with optional @TARGET, :RATE
    /// and =STRENGTH, such as 'disk,io-error@server:/data/*:2%,partition@main->server=10s'; `fozzy env` lists the kinds.
    #[arg(long, value_name = "KINDS")]
    pub(crate) faults: Vec<String>,
    /// Copy a real directory into the virtual disk; the program's writes never reach the real one. Without `::GUEST` the
    /// guest path is the same relative path below `/`; at `/` it is all of the disk. With `::ro` behind GUEST it cannot be changed.
    #[arg(long, value_name = "HOST[::GUEST[::ro]]")]
    pub(crate) dir: Vec<String>,
    /// Give the program this directory of the virtual disk, by its path or as NAME, and no other that is not named so;
    /// repeatable [default: /]
    #[arg(long, value_name = "PATH[::NAME][::ro]", value_parser = preopen)]
    pub(crate) preopen: Vec<String>,
    /// The directory in which the program begins, for programs that ask for it [default: /]
    #[arg(long, value_name = "PATH")]
    pub(crate) workdir: Option<String>,
    /// Set an environment variable. None of the real ones is visible.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Read standard input from this file instead of fozzy's own, which is read to its end when the program first reads from it.
    #[arg(long, value_name = "PATH")]
    pub(crate) stdin: Option<PathBuf>,
    /// Keep standard input open after its last byte, like a terminal without input.
    #[arg(long)]
    pub(crate) stdin_stays_open: bool,
    /// The wall clock at the start, in seconds since 1970 [default: 1735689600]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(..=fozzy_plan::WallStart::SECONDS_MAX))]
    pub(crate) wall_start: Option<u64>,
    /// An exit with an error is no failure once a planned fault has struck: what is then found is worse.
    #[arg(long)]
    pub(crate) allow_error_exit: bool,
    /// Leave NaN bit patterns to the processor: faster for float-heavy programs, but the trace replays only on one
    /// family of processors.
    #[arg(long)]
    pub(crate) no_canonical_nans: bool,
    /// Check each access to memory: heap overflows, use after free, wrong frees and more end the run, with stacks. Slower, and another
    /// program, whose blocks have other addresses.
    #[arg(long)]
    pub(crate) memcheck: bool,
    #[command(flatten)]
    pub(crate) heap: HeapArgs,
}

/// Writes the smallest run found with the same failure signature as a trace. For a long sequence of a scenario, candidates
/// start from checkpoints of their common prefix; a run from the start confirms the result. Exit code: that of this run; 2 when
/// there is no failure, or it is not reproduced.
#[derive(Debug, Args)]
pub(crate) struct ShrinkArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the help shows this text as it is")]
    /// The trace of the smallest run [default: `<stem>.min.fozzy`, beside the trace]
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// The budget of real time; the smallest run found until then is kept.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = Duration::parse)]
    pub(crate) budget: Duration,
    /// What to shrink: `input` is steps, values and standard input; `schedule` the order of turns; `faults` the planned faults.
    #[arg(long, value_name = "WHAT", default_value = "all")]
    pub(crate) minimize: MinimizeArg,
    /// Accept smaller failures with another signature too.
    #[arg(long)]
    pub(crate) aggressive: bool,
    /// Search for the shortest story, among all states of the scenario, as long as the budget lasts.
    #[arg(long, conflicts_with = "aggressive")]
    pub(crate) shortest: bool,
    /// Candidates that are executed in parallel. The result does not depend on it.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Mark the decisions and bytes of the smallest run that do not matter for the failure; takes as long again
    /// at most.
    #[arg(long, conflicts_with = "aggressive")]
    pub(crate) explain: bool,
    /// Format of the summary [default: `reporter` of fozzy.toml, or pretty]
    #[arg(long, value_name = "FORMAT")]
    pub(crate) reporter: Option<ReportFormatArg>,
}

/// What to shrink.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum MinimizeArg {
    All,
    Input,
    Schedule,
    Faults,
}

/// Runs without each planned fault, without pairs, and without triples, and reports which are needed. Exit code: 0, or 2 when there is no
/// failure, it is not reproduced, or no fault was planned.
#[derive(Debug, Args)]
pub(crate) struct AblateArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
}

/// Exit code: 0, or 2 when the target is not a program.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Any target of `run`.
    pub(crate) target: PathBuf,
}

/// Executes recorded runs again with coverage instrumentation. Exit code: 0, or 2 when a run cannot be
/// reproduced as it was recorded.
#[derive(Debug, Args)]
pub(crate) struct CoverageArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail; or a folder of traces, taken together;
    /// with --target a folder of inputs, such as a corpus of `fozzy fuzz`, or what `fozzy explore --save-state` has written.
    pub(crate) run: String,
    /// The program that gets each file of the folder as its input, any target of `run`. A file is standard input, or the bytes of a
    /// fuzz target if the program exports `fozzy:scenario/fuzz`; files that end with `.fozzy` are traces.
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<PathBuf>,
    /// The component that this program judges: what `run` takes as --target.
    #[arg(long, value_name = "TARGET", requires = "target")]
    pub(crate) judged: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) given: InputArgs,
    /// Output format: a table, an lcov tracefile, one page of HTML, or the whole document as JSON.
    #[arg(long, value_name = "FORMAT", default_value = "summary")]
    pub(crate) format: CoverageFormatArg,
    /// Write it to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// The number of uncovered functions and branches that the summary lists.
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub(crate) uncovered: usize,
    /// List the files of dependencies and of the toolchain one by one, instead of only their total.
    #[arg(long)]
    pub(crate) all: bool,
    /// Only core modules with this name; `*` stands for all, generated ones too.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) instrument: Vec<String>,
    /// Count how often an edge was taken, up to 255 for each guest, instead of whether.
    #[arg(long)]
    pub(crate) counters: bool,
    /// Show only sources below this folder.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) sources: Vec<PathBuf>,
    /// Arguments of the target.
    #[arg(last = true, value_name = "ARGS", requires = "target")]
    pub(crate) args: Vec<String>,
}

/// Formats of coverage.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum CoverageFormatArg {
    Summary,
    Lcov,
    Html,
    Json,
}

/// Exit code: 0 when every check passed, 1 when one failed, 2 when there is no such trace.
#[derive(Debug, Args)]
pub(crate) struct CiArgs {
    /// A trace, a bundle, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// Runs that are expected to agree; at least two.
    #[arg(long = "flake-run", value_name = "RUN_OR_TRACE")]
    pub(crate) flake_runs: Vec<String>,
    /// Percentage of them that may differ from the most frequent outcome, such as 5 or 5% [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = percentage, requires = "flake_runs")]
    pub(crate) flake_budget: Option<u8>,
    /// A run or trace whose steps set the measure of latency, in virtual time.
    #[arg(long, value_name = "RUN_OR_TRACE")]
    pub(crate) perf_baseline: Option<String>,
    /// The most that the latency of one step in a hundred may exceed that of the baseline by, in percent [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = percent, requires = "perf_baseline")]
    pub(crate) max_p99_delta_pct: Option<f64>,
}

fn percent(text: &str) -> Result<f64, String> {
    let number: Option<f64> = text.parse().ok();
    number
        .filter(|number| number.is_finite() && *number >= 0.0)
        .ok_or_else(|| format!("expected a percentage, found `{text}`"))
}

/// Traces.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Verify every checksum of a trace.
    Verify(TraceVerifyArgs),
    /// Print the calls and decisions of a trace, one per line.
    Show(TraceShowArgs),
    /// Run the scenario in a trace of version 1, and write the run as a trace of this version.
    Migrate(TraceMigrateArgs),
}

/// Exit code: 0 when the run ends as the trace says, 1 when it ends otherwise, 2 when the trace cannot be migrated.
#[derive(Debug, Args)]
pub(crate) struct TraceMigrateArgs {
    /// A trace that version 1 wrote.
    pub(crate) trace: PathBuf,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the help shows this text as it is")]
    /// The new trace [default: `<stem>.migrated.fozzy`, beside the old one]
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// What to do when the new trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "error")]
    pub(crate) record_collision: CollisionArg,
}

/// Exit code: 0 when the trace is intact, else 2.
#[derive(Debug, Args)]
pub(crate) struct TraceVerifyArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
}

/// Replays the trace, verifies that the run is the same, and prints its calls.
#[derive(Debug, Args)]
pub(crate) struct TraceShowArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// Only these calls, by index (`100..200`, `..50`, `900..`) or by virtual time (`1s..2.5s`).
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) at: Option<String>,
    /// Instead of calls: the messages between machines, operations of clients, faults and lines of logs, one line each.
    #[arg(long, conflicts_with = "at")]
    pub(crate) messages: bool,
}

/// The newest runs stay, and the last one that passed and the last that failed. Saved failures and corpora are not touched.
/// Exit code: 0, or 2 when the store cannot be changed.
#[derive(Debug, Args)]
pub(crate) struct CleanArgs {
    /// The number of runs to keep [default: `store.runs` of fozzy.toml, or 500].
    #[arg(long, value_name = "N")]
    pub(crate) runs: Option<u64>,
    /// The bytes to keep, such as 200MiB [default: `store.bytes` of fozzy.toml, or 2 GiB].
    #[arg(long, value_name = "SIZE", value_parser = fozzy_plan::ByteSize::parse)]
    pub(crate) bytes: Option<fozzy_plan::ByteSize>,
    /// Remove all runs.
    #[arg(long, conflicts_with_all = ["runs", "bytes"])]
    pub(crate) all: bool,
    /// Remove nothing; list what would be removed.
    #[arg(long)]
    pub(crate) dry_run: bool,
}

/// Exit code: 0 when no problem was found, else 2.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Also audit a program; requires --scenario, which implies it.
    #[arg(long, requires = "scenario")]
    pub(crate) deep: bool,
    /// The program to execute several times; all executions must be identical. Any target of `run`.
    #[arg(long, value_name = "TARGET")]
    pub(crate) scenario: Option<PathBuf>,
    /// The number of executions; at least two.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) runs: u32,
    /// The seed of all executions.
    #[arg(long, value_name = "N", default_value_t = 0xC0DE_C0DE, value_parser = seed_number, overrides_with = "seed")]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// Exit code: 0 when no problem was found, else 2.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// A plan file.
    pub(crate) file: PathBuf,
}

/// Exit code: 0; 2 when there is no schema of that name.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// `plan`, `scenario`, `scenario-v2`, or the name of a document of `CLI.md` [default: one document with all of them]
    pub(crate) kind: Option<String>,
}

/// Exit code: 0.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    pub(crate) shell: clap_complete::Shell,
}

/// Exit code: 0; 2 when it cannot be written.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder of the pages; it is created if missing.
    #[arg(value_name = "DIR")]
    pub(crate) folder: PathBuf,
}

/// Exit code: 0.
#[derive(Debug, Args)]
pub(crate) struct VersionArgs {
    /// Print the licences of everything that this binary contains
    #[arg(long)]
    pub(crate) licenses: bool,
}

/// Backends of files.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum FilesArg {
    Virtual,
    Host,
}

/// Backends of what can be scripted.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ScriptArg {
    Scripted,
    Host,
}

/// How long live answers take.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum DurationsArg {
    Real,
    Drawn,
}

fn host_pattern(text: &str) -> Result<String, String> {
    fozzy_plan::HostPattern::parse(text).map(|_| text.to_owned())
}

fn preopen(text: &str) -> Result<String, String> {
    fozzy_plan::parse_preopen(text).map(|_| text.to_owned())
}

fn live_command(text: &str) -> Result<String, String> {
    fozzy_plan::check_command(text).map(|()| text.to_owned())
}

/// Where a seed comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SeedArg {
    Number(u64),
    Random,
}

impl SeedArg {
    fn parse(text: &str) -> Result<SeedArg, String> {
        if text == "random" {
            return Ok(SeedArg::Random);
        }
        let number = seed_number(text);
        number.map(SeedArg::Number).map_err(|_| format!("expected a number below 2^64 or `random`, found `{text}`"))
    }
}

/// What to do when a trace exists.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CollisionArg {
    Error,
    Overwrite,
    Append,
}

/// The words of a command with `--resume FILE` as `--resume=FILE`: it may stand without a value, before the target, so that
/// only what is the state of an exploration, or has a name as one, is its value.
pub(crate) fn with_values(words: Vec<OsString>) -> Vec<OsString> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let names_state = |word: &OsString| {
        let name = word.to_string_lossy();
        !name.starts_with('-')
            && !name.ends_with(".fozzy.json")
            && (name.ends_with(".json") || is_state(Path::new(word)))
    };
    let mut joined: Vec<OsString> = Vec::new();
    for (number, word) in words.into_iter().enumerate() {
        match joined.last_mut() {
            Some(last) if number < end && last == "--resume" && names_state(&word) => {
                last.push("=");
                last.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}
