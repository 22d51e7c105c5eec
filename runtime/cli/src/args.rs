//! The command line, as clap reads it. `CLI.md` is generated from here.

mod artifacts;
mod corpus;
mod gates;
mod memory;
mod options;
mod report;
mod travel;

pub(crate) use artifacts::{ArtifactsCommand, ArtifactsDiffArgs, ArtifactsLsArgs, ArtifactsOutArgs};
pub(crate) use corpus::{
    CorpusAddArgs, CorpusCommand, CorpusExportArgs, CorpusImportArgs, CorpusListArgs, CorpusMinimizeArgs, InputArgs,
};
pub(crate) use gates::{FullArgs, GateArgs, GateProfileArg};
pub(crate) use memory::MemoryArgs;
pub(crate) use options::request;
pub(crate) use report::{ReportCommand, ReportFlakyArgs, ReportFormatArg, ReportQueryArgs, ReportShowArgs};
pub(crate) use travel::{BenchmarkArgs, CausalityArgs, FindabilityArgs, MetricArg, ReplayArgs};

use clap::{Args, Parser, Subcommand, ValueEnum};
use fozzy_trace::Duration;
use fozzy_trace::plan::{FLOWS_MAX, SEQUENCES_MAX};
use std::path::PathBuf;

/// Deterministic execution, recording and replay of WebAssembly programs.
#[derive(Debug, Parser)]
#[command(name = "fozzy", version, long_about = LONG_ABOUT, disable_help_subcommand = true, max_term_width = 110)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) globals: Globals,
    #[command(subcommand)]
    pub(crate) command: Command,
}

const LONG_ABOUT: &str = "\
Fozzy runs programs - any program that compiles to WebAssembly - in a sandbox where nothing is left to \
chance: every import (clock, random, files, standard streams) is answered by a simulated computer. So a \
run is a pure function of program, plan and seed; it can be recorded, replayed bit for bit on another \
machine, and handed on as one file.";

/// Flags of every command, before or after its name.
#[derive(Debug, Args)]
pub(crate) struct Globals {
    /// Configuration file; a missing one means the defaults.
    #[arg(long, global = true, value_name = "PATH", default_value = "fozzy.toml", env = "FOZZY_CONFIG")]
    pub(crate) config: PathBuf,
    /// Change to this directory before anything else.
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) cwd: Option<PathBuf>,
    /// What fozzy says about its own work on stderr: error, warn, info, debug, trace.
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
    /// Warnings about integrity are errors. This is the default.
    #[arg(long, global = true, alias = "strict-verify", conflicts_with = "unsafe_")]
    pub(crate) strict: bool,
    /// Warnings about integrity stay warnings.
    #[arg(long = "unsafe", id = "unsafe_", global = true)]
    pub(crate) unsafe_: bool,
    /// Keep the traces of passing runs too: for the variable only, so that it is on no page.
    #[arg(long, global = true, hide = true, env = "FOZZY_ARTIFACTS_FULL", value_parser = clap::builder::FalseyValueParser::new())]
    pub(crate) artifacts_full: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Begin a scenario: writes files that build and pass.
    Init(InitArgs),
    /// Run a program once in the simulated computer.
    Run(RunArgs),
    /// Run a suite of scenarios, each alone, and report on all of them.
    Test(TestArgs),
    /// Search for inputs that make a program fail.
    Fuzz(FuzzArgs),
    /// Search the ways through a scenario's flows for one that fails.
    Explore(ExploreArgs),
    /// Show the failures that explorations have kept, and how they stand on the programs of today.
    Seeds(SeedsArgs),
    /// Replay a recorded trace from its file alone, and compare.
    Replay(ReplayArgs),
    /// Go on from a moment of a recorded run with other randomness.
    Branch(BranchArgs),
    /// Find the moment at which a recorded failure became likely.
    Causality(CausalityArgs),
    /// Say how often a failure comes in fresh runs, and how many clean ones make a fix believable.
    Findability(FindabilityArgs),
    /// Measure how an exploration scales with its workers.
    Benchmark(BenchmarkArgs),
    /// Make a recorded failure smaller: fewer steps and faults, simpler values, the same failure.
    Shrink(ShrinkArgs),
    /// Find out which of its planned faults a recorded failure needs.
    Ablate(AblateArgs),
    /// Show what a program is, needs and can be used for, without running it.
    Inspect(InspectArgs),
    /// Show which functions, lines and edges recorded runs have reached.
    Coverage(CoverageArgs),
    /// Verify and show traces.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Look after the inputs that campaigns begin with.
    #[command(subcommand)]
    Corpus(CorpusCommand),
    /// List, compare and hand on the files that runs have left.
    #[command(subcommand)]
    Artifacts(ArtifactsCommand),
    /// Check a trace for a build server: that it is whole, and that it replays as it was recorded.
    Ci(CiArgs),
    /// The checks before a change is let in, on the scenarios that it concerns.
    Gate(GateArgs),
    /// Every command once, on the scenarios of a project, and what came of each.
    Full(FullArgs),
    /// Show, ask and compare the reports of runs that were made.
    #[command(subcommand)]
    Report(ReportCommand),
    /// Check a plan file or a scenario file `*.fozzy.json`: its text, and everything that a plan names.
    Validate(ValidateArgs),
    /// Print the JSON Schema of a kind of file, or of a document that a command prints.
    #[command(alias = "steps")]
    Schema(SchemaArgs),
    /// Check this machine, and with --deep that a program is deterministic.
    Doctor(DoctorArgs),
    /// Which command is for what, and an example of each.
    Usage,
    /// Print a script that completes commands and flags in a shell.
    Completions(CompletionsArgs),
    /// Write the manual, a page for each command.
    Man(ManArgs),
    /// What each capability of a guest is backed by.
    Env,
    /// Versions of everything that results depend on.
    Version(VersionArgs),
}

/// Exit code: 0, or 2 when a file is there already or cannot be written.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Where the files go; it need not exist.
    #[arg(default_value = ".")]
    pub(crate) folder: PathBuf,
    /// The language of the scenario; `minimal` is text that needs no toolchain.
    #[arg(long, value_name = "TEMPLATE", default_value = "minimal")]
    pub(crate) template: TemplateArg,
    /// Which examples come with it: plans for run, explore, memory and host, an input for fuzz.
    #[arg(long, value_name = "KINDS", value_delimiter = ',', default_value = "all")]
    pub(crate) with: Vec<ExampleArg>,
    /// All examples, whatever --with says.
    #[arg(long)]
    pub(crate) all_tests: bool,
    /// Write over files that are there.
    #[arg(long)]
    pub(crate) force: bool,
    /// The folder of the Rust SDK, which is not published [default: that of the clone that fozzy was built from]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) sdk: Option<PathBuf>,
}

/// Languages to begin with.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum TemplateArg {
    Rust,
    C,
    Go,
    Js,
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

/// Exit code: 0 pass, 1 the program says failure, 2 error or usage, 3 timeout or hang, 4 crash.
#[derive(Debug, Args)]
pub(crate) struct RunArgs {
    /// A component, a wasip1 core module, the text format of either, or a folder: with a Cargo.toml (built for
    /// wasm32-wasip2), or with an expect.toml that says how its program is made. A component that exports `fozzy:scenario` is
    /// driven step by step, and so is a scenario file `*.fozzy.json`.
    pub(crate) target: PathBuf,
    /// Accepted for habit: every run is deterministic.
    #[arg(long)]
    pub(crate) det: bool,
    /// Where all random answers come from: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse)]
    pub(crate) seed: SeedArg,
    /// Sequences of a scenario, each from the start state; of fuzz targets and properties, rounds [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(SEQUENCES_MAX)))]
    pub(crate) sequences: Option<u32>,
    /// Flows of each sequence of a scenario; of fuzz targets and properties, calls of each round [default: 100]
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
    /// Format of the summary.
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    pub(crate) reporter: ReporterArg,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// Failures that were kept as `regressions/*.fozzy`, or by `fozzy explore`, are tried first, on the programs of today. Exit code: that of the worst
/// case, where 2 (could not be run) is worse than 4 (crash), 3 (timeout or hang), 1 (fail) and 0; 2 for a suite without a
/// scenario.
#[derive(Debug, Args)]
pub(crate) struct TestArgs {
    /// Components, core modules, `.wat` of either, folders with a Cargo.toml or an expect.toml that names a program, other
    /// folders (everything below), or patterns of these with `*`, `?`, `[ab]`, `**` [default: tests/**/*.fozzy.json, everything
    /// below scenarios/, and this folder, if it is one of a scenario; when that is nothing, the programs in this folder]
    #[arg(value_name = "GLOBS")]
    pub(crate) globs: Vec<String>,
    /// Accepted for habit: every run is deterministic.
    #[arg(long)]
    pub(crate) det: bool,
    /// The seed of the suite: a number, or `random` for a fresh one. That of a scenario follows from it and from the scenario's
    /// own name.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse)]
    pub(crate) seed: SeedArg,
    /// How many scenarios run at a time. The results are the same.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) jobs: u32,
    /// Only scenarios with this in their name or path.
    #[arg(long, value_name = "PART")]
    pub(crate) filter: Option<String>,
    /// Run nothing more after the first failure; implies one job.
    #[arg(long)]
    pub(crate) fail_fast: bool,
    /// Hold each scenario to the `status` and `signatures` of its `expect.toml`: a failure that is planted, and found, passes.
    #[arg(long)]
    pub(crate) expect: bool,
    /// Sequences of each scenario [default: as its expect.toml says, else 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(SEQUENCES_MAX)))]
    pub(crate) sequences: Option<u32>,
    /// Flows of each sequence [default: as its expect.toml says, else 100]
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u32).range(1..=i64::from(FLOWS_MAX)))]
    pub(crate) flows: Option<u32>,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Write every run as a self-contained trace; of several, as `stem.1.ext`, `stem.2.ext`, by path. Without it, those that did
    /// not pass are in the run's folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when a trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "append")]
    pub(crate) record_collision: CollisionArg,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Format of the report.
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    pub(crate) reporter: SuiteReporterArg,
    /// Write the report to this file, and the pretty one to standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Arguments of each program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// Exit code: 0 nothing was found, else that of the worst finding: 1 failure, 3 timeout or hang, 4 crash; 2 error or usage.
#[derive(Debug, Args)]
#[command(mut_arg("stdin", |arg| arg
    .num_args(0..=1)
    .require_equals(true)
    .default_missing_value("-")
    .value_name("FILE")
    .help("The input is the program's standard input; with `=FILE`, that is this file in every execution")
    .long_help(None)))]
pub(crate) struct FuzzArgs {
    /// What is searched, in any form that `run` takes: fuzz targets and properties of the SDK, a scenario, a core module that
    /// exports `LLVMFuzzerTestOneInput`; a program (--stdin, --input-file, --arg), exported functions (--function), a
    /// handler of requests (--http).
    pub(crate) target: PathBuf,
    /// Which of its fuzz targets and properties, when it has several; `stateful` for the sequences of a scenario.
    pub(crate) function: Option<String>,
    /// Call this exported function with arguments of its types, such as `ns:package/interface#parse`, or `parse`.
    #[arg(long = "function", value_name = "NAME", conflicts_with_all = ["function", "mode", "http"])]
    pub(crate) exported: Option<String>,
    /// Have its `wasi:http/incoming-handler` handle requests.
    #[arg(long, conflicts_with_all = ["function", "mode"])]
    pub(crate) http: bool,
    /// Run the program; the input is a file of this absolute path on its virtual disk.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["function", "mode", "http", "exported"])]
    pub(crate) input_file: Option<String>,
    /// Run the program; the input is its last argument, as text.
    #[arg(long, conflicts_with_all = ["function", "mode", "http", "exported", "input_file"])]
    pub(crate) arg: bool,
    /// Count it as a failure when the program exits with another code than 0.
    #[arg(long)]
    pub(crate) fail_on_exit: bool,
    /// Flows of each sequence, when a scenario is searched.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) flows: u32,
    /// A cargo-fuzz folder, of which TARGET names a target: it is built for wasm32-wasip1 as it is, and its corpus and
    /// artifacts are used.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["function", "mode", "record", "http", "exported", "input_file", "arg"])]
    pub(crate) cargo_fuzz: Option<PathBuf>,
    /// The same campaign each time, byte for byte: needs --runs, and has no --time.
    #[arg(long, requires = "runs", conflicts_with = "time")]
    pub(crate) det: bool,
    /// Functions that are given bytes, or those that draw what they need; without it, whichever there is.
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<FuzzModeArg>,
    /// Where all that is random comes from: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse)]
    pub(crate) seed: SeedArg,
    /// Worker processes, which share what they find through the corpus folder. With more than one, no campaign is as another.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Executions after which it ends, those of all workers together.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,
    /// Real time after which it ends, such as 30s, 5m, 2h.
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
    pub(crate) time: Option<Duration>,
    /// Bytes that an input can have.
    #[arg(long, value_name = "BYTES", default_value_t = 4096, value_parser = clap::value_parser!(u32).range(1..=INPUT_BYTES_MAX))]
    pub(crate) max_input: u32,
    /// The folder with the inputs to begin with, to which those that are found are added
    /// [default: .fozzy/corpora/PROGRAM.FUNCTION]
    #[arg(long, value_name = "DIR")]
    pub(crate) corpus: Option<PathBuf>,
    /// Use this mutator only: bit, byte, arithmetic, interesting, erase, insert, copy, move, splice, word, comparison,
    /// digits, repeat, nest.
    #[arg(long, value_name = "NAME")]
    pub(crate) mutator: Option<String>,
    /// Words to put into inputs: a dictionary in the syntax of AFL and libFuzzer.
    #[arg(long, value_name = "FILE")]
    pub(crate) dict: Option<PathBuf>,
    /// Make the input of each finding smaller.
    #[arg(long, alias = "shrink")]
    pub(crate) minimize: bool,
    /// End at the first finding.
    #[arg(long)]
    pub(crate) crash_only: bool,
    /// Write the first finding to this trace, further ones beside it, instead of into the run's folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when the trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "append")]
    pub(crate) record_collision: CollisionArg,
    /// Write the findings to this file too, as SARIF 2.1.0, for tools that show them beside the source.
    #[arg(long, value_name = "FILE")]
    pub(crate) sarif: Option<PathBuf>,
    /// Exit codes: ours, or libFuzzer's: 77 failure or crash, 71 out of memory, 70 timeout.
    #[arg(long, value_name = "KIND", default_value = "fozzy")]
    pub(crate) exit_codes: ExitCodesArg,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Format of the summary.
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    pub(crate) reporter: ReporterArg,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// Exit code: 0 nothing was found, else that of the worst finding: 1 failure, 3 timeout or hang, 4 crash; 2 error or usage.
#[derive(Debug, Args)]
pub(crate) struct ExploreArgs {
    /// A scenario with flows, in any form that `run` takes.
    pub(crate) target: PathBuf,
    /// Real time after which it ends, such as 30s, 5m, 2h [default: 60s, if --runs is not given]
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
    pub(crate) time: Option<Duration>,
    /// Runs after which it ends.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) runs: Option<u64>,
    /// Where all that is random comes from: a number, or `random` for a fresh one, which is printed first [default: 42]
    #[arg(long, value_name = "N|random", value_parser = SeedArg::parse)]
    pub(crate) seed: Option<SeedArg>,
    /// Steps of a run at most, counted from where it begins [default: 50]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(FLOWS_MAX)))]
    pub(crate) steps: Option<u32>,
    /// How ways are chosen [default: coverage_guided]
    #[arg(long, value_name = "STRATEGY")]
    pub(crate) schedule: Option<ScheduleArg>,
    /// What must hold of a distributed scenario, instead of its invariants: `kv_all_equal:KEY`, `kv_present_on_all:KEY`,
    /// `kv_node_equals:NODE:KEY:VALUE`.
    #[arg(long, value_name = "CHECKER", value_delimiter = ',')]
    pub(crate) checker: Vec<String>,
    /// How many nodes a distributed scenario has, instead of those that it names.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) nodes: Option<u32>,
    /// What ends it before its time: that nothing new was seen for long, or the first failure.
    #[arg(long, value_name = "WHEN")]
    pub(crate) stop: Option<StopArg>,
    /// Go on from where the last exploration of the program has come to, or from this state.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    pub(crate) resume: Option<Option<PathBuf>>,
    /// Where the state goes at the end, to go on from another time [default: .fozzy/explore/PROGRAM.json]
    #[arg(long, value_name = "FILE")]
    pub(crate) save_state: Option<PathBuf>,
    /// Processes that explore and tell each other what is new. Only with one, the default, is it the same each time.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) workers: Option<u32>,
    /// Neither try the failures of before, nor keep new ones.
    #[arg(long)]
    pub(crate) no_seeds: bool,
    /// Leave findings as they are, instead of making them smaller at the end.
    #[arg(long)]
    pub(crate) no_shrink: bool,
    /// Accepted for habit: findings are made smaller.
    #[arg(long, alias = "minimize", conflicts_with = "no_shrink")]
    pub(crate) shrink: bool,
    /// Write a file of Rust tests that replay what was found, and the ways that cover most, under `cargo test`.
    #[arg(long, value_name = "FILE")]
    pub(crate) generate_tests: Option<PathBuf>,
    /// Say how it goes, every two seconds.
    #[arg(short, long)]
    pub(crate) verbose: bool,
    /// Write the first finding to this trace, further ones beside it, instead of into the run's folder.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when the trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "error")]
    pub(crate) record_collision: CollisionArg,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Format of the summary.
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    pub(crate) reporter: ReporterArg,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// Exit code: 0 when none of them is still there, 1 when one is, 2 error or usage.
#[derive(Debug, Args)]
pub(crate) struct SeedsArgs {
    /// Only those of this scenario, on this program [default: all, each on the program that was explored]
    pub(crate) target: Option<PathBuf>,
    /// Remove those that are fixed.
    #[arg(long)]
    pub(crate) prune_fixed: bool,
}

/// Exit code: that of the run that came of it.
#[derive(Debug, Args)]
pub(crate) struct BranchArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// Decisions that are those of the trace; the first one after them is drawn anew. `trace show` marks decisions by `?`.
    #[arg(long, value_name = "N")]
    pub(crate) at: u64,
    /// Where what comes then is drawn from: a number, or `random` for a fresh one, which is printed first.
    #[arg(long, value_name = "N|random", default_value = "0", value_parser = SeedArg::parse)]
    pub(crate) seed: SeedArg,
    /// Write the run as a self-contained trace.
    #[arg(long, value_name = "PATH")]
    pub(crate) record: Option<PathBuf>,
    /// What to do when the trace exists: refuse, replace it, or write `stem.N.ext`.
    #[arg(long, value_name = "POLICY", default_value = "append")]
    pub(crate) record_collision: CollisionArg,
    /// Format of the summary.
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    pub(crate) reporter: ReporterArg,
}

/// How ways are chosen.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub(crate) enum ScheduleArg {
    /// Always from the start; tasks take turns in the order in which they could go on.
    Fifo,
    /// Every answer of every step, the earliest places first.
    Bfs,
    /// Every answer of every step, the latest places first.
    Dfs,
    /// Always from the start; everything is drawn.
    Random,
    /// Always from the start; tasks by random priorities, which change up to twice in a run: probabilistic concurrency
    /// testing, depth 1 to 3.
    Pct,
    /// Always from the start; a random priority for each pending step of a task: partial order sampling.
    Pos,
    /// Always from the start; every interleaving of tasks is as likely as the next: uniform random walk.
    Urw,
    /// From the start, or from places where something new was seen.
    CoverageGuided,
}

/// What ends an exploration before its time.
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

/// Bounds of an execution.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct LimitArgs {
    /// Virtual time that the program may take, such as 250ms, 10s, 5m, 2h. Sleeping costs no real time.
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// Instructions that the program may use [default: 10000000000]
    #[arg(long, value_name = "N")]
    pub(crate) fuel: Option<u64>,
    /// Linear memory that the program may use, in MiB [default: 1024]; of a scenario file, what its steps may have allocated at
    /// once [default: no bound]
    #[arg(long, value_name = "MIB")]
    pub(crate) mem_limit_mb: Option<u64>,
    #[command(flatten)]
    pub(crate) memory: MemoryArgs,
}

/// What the simulated computer has.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct WorldArgs {
    /// A plan file: environment, directories, scripted HTTP and processes, further machines, faults. What flags say
    /// goes before it; `fozzy schema plan` describes it.
    #[arg(long, value_name = "PATH")]
    pub(crate) plan: Option<PathBuf>,
    /// The component that a scenario judges: it exports an interface that the scenario imports, and has a store and a
    /// machine of its own, called `target`. Any program that `run` takes.
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) judged: Option<PathBuf>,
    /// How many instances of that component the scenario calls, each with a memory and a machine of its own: `n0`, `n1` and
    /// so on [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) target_instances: Option<u32>,
    /// What goes wrong: kinds and groups of faults, each with @TARGET, :RATE and =STRENGTH if need be, as
    /// `disk,http-reset@https://a/*:2%=4KiB`; `fozzy schema plan` lists them.
    #[arg(long, value_name = "KINDS")]
    pub(crate) faults: Vec<String>,
    /// Copy a real directory into the virtual disk; the program's writes never reach the real one. Without
    /// `::GUEST` it gets the same relative path below `/`.
    #[arg(long, value_name = "HOST[::GUEST]")]
    pub(crate) dir: Vec<String>,
    /// Set an environment variable. None of the real ones is visible.
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) env: Vec<String>,
    /// Read standard input from this file instead of our own, which is read when the program first looks at it.
    #[arg(long, value_name = "PATH")]
    pub(crate) stdin: Option<PathBuf>,
    /// Standard input stays open after its last byte, like a terminal at which nobody types.
    #[arg(long)]
    pub(crate) stdin_stays_open: bool,
    /// The wall clock at the start, in seconds since 1970 [default: 1735689600]
    #[arg(long, value_name = "SECONDS")]
    pub(crate) wall_start: Option<u64>,
    /// Leave NaN bit patterns to the processor: faster for float-heavy programs, and the trace then holds on one
    /// family of processors only.
    #[arg(long)]
    pub(crate) no_canonical_nans: bool,
}

/// Writes the smallest run with the same failure signature that was found as a trace. Of a long sequence of a scenario, candidates
/// go on from checkpoints of what they have in common; what comes out of it, a run from the start has confirmed. Exit code: that of this run; 2 when
/// there is no failure, or it does not repeat.
#[derive(Debug, Args)]
pub(crate) struct ShrinkArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// Where the smallest run is written [default: `<stem>.min.fozzy`, beside the trace]
    #[arg(long, value_name = "PATH")]
    pub(crate) out: Option<PathBuf>,
    /// Real time that it may take; what was found until then is kept.
    #[arg(long, value_name = "DURATION", default_value = "15s", value_parser = Duration::parse)]
    pub(crate) budget: Duration,
    /// What is made smaller: steps, values and standard input; who is next, where several could be; planned faults.
    #[arg(long, value_name = "WHAT", default_value = "all")]
    pub(crate) minimize: MinimizeArg,
    /// Take any other failure that is smaller for the one that is looked for.
    #[arg(long)]
    pub(crate) aggressive: bool,
    /// How many candidates are executed at a time. The result is the same.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: u32,
    /// Mark which decisions and bytes of the smallest run may be any other without losing the failure; it takes as long again
    /// at most.
    #[arg(long, conflicts_with = "aggressive")]
    pub(crate) explain: bool,
    /// Format of the summary.
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    pub(crate) reporter: ReporterArg,
}

/// What is made smaller.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum MinimizeArg {
    All,
    Input,
    Schedule,
    Faults,
}

/// Leaves out each planned fault, each pair of those that are not needed alone, and each triple of which no pair is. Exit code: 0, or 2 when there is no
/// failure, it does not repeat, or no fault was planned.
#[derive(Debug, Args)]
pub(crate) struct AblateArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
}

/// Exit code: 0, or 2 when it is no program.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// Any target of `run`.
    pub(crate) target: PathBuf,
}

/// Executes recorded runs again in a build that notes which edges are taken. Exit code: 0, or 2 when a run cannot be
/// executed again as it was recorded.
#[derive(Debug, Args)]
pub(crate) struct CoverageArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail; or a folder with traces, all of them together;
    /// with --target a folder with inputs, as `fozzy fuzz` keeps them.
    pub(crate) run: String,
    /// The program that is given each file of the folder, any target of `run`. A file is standard input, or the bytes of a
    /// fuzz target if the program exports `fozzy:scenario/fuzz`; those that end with `.fozzy` are traces still.
    #[arg(long, value_name = "TARGET")]
    pub(crate) target: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) given: InputArgs,
    /// What to write: a table for people, an lcov tracefile, one page of HTML, or the document with everything.
    #[arg(long, value_name = "FORMAT", default_value = "summary")]
    pub(crate) format: CoverageFormatArg,
    /// Write it to this file instead of standard output.
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// How many functions that were never called, and branches that went one way only, the summary lists.
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub(crate) uncovered: usize,
    /// Show the files of dependencies and of the toolchain one by one, not only their sum.
    #[arg(long)]
    pub(crate) all: bool,
    /// Look only at core modules with this name; `*` stands for all, generated ones too.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    pub(crate) instrument: Vec<String>,
    /// Count how often, up to 255 for each guest, instead of whether.
    #[arg(long)]
    pub(crate) counters: bool,
    /// Sources are shown from below this folder only.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub(crate) sources: Vec<PathBuf>,
    /// Arguments of the program that is given inputs.
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
    /// Runs that should have come out alike; at least two.
    #[arg(long = "flake-run", value_name = "RUN_OR_TRACE")]
    pub(crate) flake_runs: Vec<String>,
    /// Percent of those that may differ from the most frequent outcome [default: 0]
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), requires = "flake_runs")]
    pub(crate) flake_budget: Option<u8>,
}

/// Traces.
#[derive(Debug, Subcommand)]
pub(crate) enum TraceCommand {
    /// Check every byte of a trace.
    Verify(TraceVerifyArgs),
    /// Print the calls and decisions of a trace, one a line.
    Show(TraceShowArgs),
}

/// Exit code: 0 when the trace is whole and sound, else 2.
#[derive(Debug, Args)]
pub(crate) struct TraceVerifyArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
}

/// Executes the trace again, proves that it is the same run, and prints what was asked for.
#[derive(Debug, Args)]
pub(crate) struct TraceShowArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// Only these calls: by index (`100..200`, `..50`, `900..`) or by virtual time (`1s..2.5s`).
    #[arg(long, value_name = "FROM..TO")]
    pub(crate) at: Option<String>,
}

/// Exit code: 0 when nothing is wrong, else 2.
#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// Audit a program too; goes with --scenario, which implies it.
    #[arg(long, requires = "scenario")]
    pub(crate) deep: bool,
    /// The program to execute several times and to compare in everything; any target of `run`.
    #[arg(long, value_name = "TARGET")]
    pub(crate) scenario: Option<PathBuf>,
    /// How many times it is executed, at least twice.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=10_000))]
    pub(crate) runs: u32,
    /// The seed of all executions.
    #[arg(long, value_name = "N", default_value_t = 0xC0DE_C0DE)]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    #[command(flatten)]
    pub(crate) world: WorldArgs,
    /// Arguments of the program.
    #[arg(last = true, value_name = "ARGS")]
    pub(crate) args: Vec<String>,
}

/// Exit code: 0 when nothing is wrong, else 2.
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
    /// The folder for the pages; it need not exist.
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
        let hexadecimal = text.strip_prefix("0x").map(|digits| u64::from_str_radix(digits, 16));
        let number = hexadecimal.unwrap_or_else(|| text.parse());
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

/// Formats of a summary.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ReporterArg {
    Pretty,
    Json,
}

/// Formats of the report on a suite.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum SuiteReporterArg {
    Pretty,
    Junit,
    Html,
    Json,
}
