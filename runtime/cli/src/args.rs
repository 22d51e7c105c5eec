//! The command line, as clap reads it. `CLI.md` is generated from here.

use clap::{Args, Parser, Subcommand, ValueEnum};
use fozzy_trace::Duration;
use fozzy_trace::plan::{FLOWS_MAX, SEQUENCES_MAX};
use serde::Deserialize;
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
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Begin a scenario: writes files that build and pass.
    Init(InitArgs),
    /// Run a program once in the simulated computer.
    Run(RunArgs),
    /// Replay a recorded trace from its file alone, and compare.
    Replay(ReplayArgs),
    /// Show what a program is, needs and can be used for, without running it.
    Inspect(InspectArgs),
    /// Show which functions, lines and edges recorded runs have reached.
    Coverage(CoverageArgs),
    /// Verify and show traces.
    #[command(subcommand)]
    Trace(TraceCommand),
    /// Check a plan file: its text, and everything that it names.
    Validate(ValidateArgs),
    /// Print the JSON Schema of a kind of file.
    Schema(SchemaArgs),
    /// Check this machine, and with --deep that a program is deterministic.
    Doctor(DoctorArgs),
    /// What each capability of a guest is backed by.
    Env,
    /// Versions of everything that results depend on.
    Version,
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
    /// A component, a wasip1 core module, the text format of either, or a folder with a Cargo.toml (built for
    /// wasm32-wasip2). A component that exports `fozzy:scenario` is driven step by step.
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

/// Bounds of an execution.
#[derive(Clone, Debug, Args)]
pub(crate) struct LimitArgs {
    /// Virtual time that the program may take, such as 250ms, 10s, 5m, 2h. Sleeping costs no real time.
    #[arg(long, value_name = "DURATION", value_parser = Duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// Instructions that the program may use [default: 10000000000]
    #[arg(long, value_name = "N")]
    pub(crate) fuel: Option<u64>,
    /// Linear memory that the program may use, in MiB [default: 1024]
    #[arg(long, value_name = "MIB")]
    pub(crate) mem_limit_mb: Option<u64>,
}

/// What the simulated computer has.
#[derive(Clone, Debug, Args)]
pub(crate) struct WorldArgs {
    /// A plan file: environment, directories, scripted HTTP and processes, further machines, faults. What flags say
    /// goes before it; `fozzy schema plan` describes it.
    #[arg(long, value_name = "PATH")]
    pub(crate) plan: Option<PathBuf>,
    /// The component that a scenario judges: it exports an interface that the scenario imports, and has a store and a
    /// machine of its own, called `target`. Any program that `run` takes.
    #[arg(long = "target", value_name = "TARGET")]
    pub(crate) judged: Option<PathBuf>,
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

/// Exit code: that of the replayed run when it is the same run; 2 when it is not.
#[derive(Debug, Args)]
pub(crate) struct ReplayArgs {
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail.
    pub(crate) trace: String,
    /// Replay the recorded decisions against another program, and name the first divergence.
    #[arg(long, value_name = "TARGET")]
    pub(crate) against: Option<PathBuf>,
    /// Print every call of the program on stderr, as it happens.
    #[arg(long, conflicts_with = "against")]
    pub(crate) dump_events: bool,
    /// Format of the summary.
    #[arg(long, value_name = "FORMAT", default_value = "pretty")]
    pub(crate) reporter: ReporterArg,
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
    /// A trace, a run's folder or id, or one of latest, last-pass, last-fail; or a folder with traces, all of them together.
    pub(crate) run: String,
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
}

/// Formats of coverage.
#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum CoverageFormatArg {
    Summary,
    Lcov,
    Html,
    Json,
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

/// Exit code: 0.
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Which kind of file.
    pub(crate) kind: SchemaKind,
}

/// Kinds of files with a schema.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum SchemaKind {
    /// The plan of a run (TOML).
    Plan,
}

/// Backends of files.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum FilesArg {
    Virtual,
    Host,
}

/// Backends of what can be scripted.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
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
