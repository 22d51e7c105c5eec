//! One file a command, one row in `dispatch`.

mod artifacts;
pub(crate) mod benchmark;
mod branch;
mod causality;
mod check;
mod ci;
mod clean;
mod corpus;
mod coverage;
mod dashboard;
mod debug;
mod diff;
mod doctor;
mod env;
mod explore;
mod fleet;
mod full;
mod fuzz;
mod gate;
mod init;
mod inspect;
mod inspect_at;
mod maelstrom;
mod map;
mod maximize;
mod memory;
mod migrate;
mod mine;
mod mutants;
mod profile;
pub(crate) mod replay;
mod report;
pub(crate) mod run;
mod run_seeds;
pub(crate) mod seeds;
mod shell;
mod shown_output;
pub(crate) mod shrink;
mod suspects;
mod test;
mod trace;
pub(crate) mod usage;
mod validate;
mod worker;

use crate::args::{
    ArtifactsCommand, Cli, Command, CorpusCommand, Globals, MaelstromCommand, ReportCommand, StoreCommand, TraceCommand,
};
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use crate::output::{self, Printer};
use crate::{interrupt, progress};
use fozzy_campaign::Remarks;
use fozzy_campaign::config::{self, Config};
use fozzy_campaign::project::Project;
use fozzy_campaign::store::RunStore;
use std::process::ExitCode;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Runs the command and returns its exit code.
pub(crate) fn dispatch(cli: Cli) -> ExitCode {
    let printer = Printer::new(cli.globals.json, cli.globals.no_color);
    let result = prepare(&cli.globals).and_then(|()| settings(&cli.globals, &cli.command)).and_then(|config| {
        let Cli { globals, mut command } = cli;
        command.open_plan_target()?;
        let strict = !globals.unsafe_;
        let runs = RunStore::new(&config.base_dir);
        let runs =
            runs.bounded((!globals.no_store).then(|| config.store.retention())).sharing(globals.fleet_store.clone());
        let remarks = Remarks::to(output::notice).with_line(progress::line());
        let runs = runs.telling(remarks.clone());
        let project = Project { config, backends: globals.backends(), keep_passing: globals.artifacts_full, remarks };
        let context = Context { printer, runs, globals, project, strict };
        match &command {
            Command::Init(args) => init::init(&context, args),
            Command::Run(args) => run::run(&context, args),
            Command::Test(args) => test::test(&context, args),
            Command::Fuzz(args) => fuzz::fuzz(&context, args),
            Command::Explore(args) => explore::explore(&context, args),
            Command::Fleet(args) => fleet::fleet(&context, args),
            Command::Store(StoreCommand::Copy(args)) => fleet::copy(&context, args),
            Command::Store(StoreCommand::Dismiss(args)) => fleet::dismiss(&context, args),
            Command::Dashboard(args) => dashboard::dashboard(&context, args),
            Command::Seeds(args) => seeds::seeds(&context, args),
            Command::Replay(args) => replay::replay(&context, args),
            Command::Branch(args) => branch::branch(&context, args),
            Command::Debug(args) => debug::debug(&context, args),
            Command::Causality(args) => causality::causality(&context, args),
            Command::Findability(args) => causality::findability(&context, args),
            Command::Benchmark(args) => benchmark::benchmark(&context, args),
            Command::Shrink(args) => shrink::shrink(&context, args),
            Command::Ablate(args) => shrink::ablate(&context, args),
            Command::Diff(args) => diff::diff(&context, args),
            Command::Mutants(args) => mutants::mutants(&context, args),
            Command::Mine(args) => mine::mine(&context, args),
            Command::Suspects(args) => suspects::suspects(&context, args),
            Command::Inspect(args) => inspect::inspect(&context, args),
            Command::Coverage(args) => coverage::coverage(&context, args),
            Command::Profile(args) => profile::profile(&context, args),
            Command::Memory(args) => memory::memory(&context, args),
            Command::Map(args) => map::map(&context, args),
            Command::Trace(TraceCommand::Verify(args)) => trace::verify(&context, args),
            Command::Trace(TraceCommand::Show(args)) => trace::show(&context, args),
            Command::Trace(TraceCommand::Migrate(args)) => migrate::migrate(&context, args),
            Command::Corpus(CorpusCommand::List(args)) => corpus::list(&context, args),
            Command::Corpus(CorpusCommand::Add(args)) => corpus::add(&context, args),
            Command::Corpus(CorpusCommand::Minimize(args)) => corpus::minimize(&context, args),
            Command::Corpus(CorpusCommand::Export(args)) => corpus::export(&context, args),
            Command::Corpus(CorpusCommand::Import(args)) => corpus::import(&context, args),
            Command::Artifacts(ArtifactsCommand::Ls(args)) => artifacts::ls(&context, args),
            Command::Artifacts(ArtifactsCommand::Diff(args)) => artifacts::diff(&context, args),
            Command::Artifacts(ArtifactsCommand::Export(args)) => artifacts::export(&context, args),
            Command::Artifacts(ArtifactsCommand::Pack(args)) => artifacts::pack(&context, args),
            Command::Artifacts(ArtifactsCommand::Bundle(args)) => artifacts::bundle(&context, args),
            Command::Ci(args) => ci::ci(&context, args),
            Command::Gate(args) => gate::gate(&context, args),
            Command::Full(args) => full::full(&context, args),
            Command::Report(ReportCommand::Show(args)) => report::show(&context, args),
            Command::Report(ReportCommand::Query(args)) => report::ask(&context, args),
            Command::Report(ReportCommand::Flaky(args)) => report::flaky(&context, args),
            Command::Validate(args) => validate::validate(&context, args),
            Command::Schema(args) => validate::schema(&context, args),
            Command::Check(args) => check::check(&context, args),
            Command::Maelstrom(MaelstromCommand::Test(args)) => maelstrom::test(&context, args),
            Command::Doctor(args) => doctor::doctor(&context, args),
            Command::Clean(args) => clean::clean(&context, args),
            Command::Usage => usage::usage(&context),
            Command::Completions(args) => shell::completions(&context, args),
            Command::Man(args) => shell::man(&context, args),
            Command::Env => env::env(&context),
            Command::Version(args) => env::version(&context, args),
        }
    });
    result.unwrap_or_else(|error| {
        let code = printer.error(&error);
        // What a signal has ended before its first result.
        let is_interruption = error.kind == ErrorKind::Interrupted && interrupt::is_asked_to_stop();
        if is_interruption { ExitCode::from(interrupt::EXIT_INTERRUPTED) } else { code }
    })
}

fn prepare(globals: &Globals) -> Result<(), CliError> {
    #[allow(clippy::disallowed_methods, reason = "the variable that all Rust programs know comes first")]
    let variable = std::env::var("RUST_LOG").ok().and_then(|directives| directives.parse::<Targets>().ok());
    let refuse = |error| CliError::new(ErrorKind::Usage, format!("--log {}: {error}", globals.log));
    let filter = variable.map_or_else(|| globals.log.parse::<Targets>().map_err(refuse), Ok)?;
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).without_time();
    let _ = tracing_subscriber::registry().with(lines.with_filter(filter)).try_init();
    if let Some(folder) = &globals.cwd {
        std::env::set_current_dir(folder)
            .map_err(|error| at_path(ErrorKind::Usage, "--cwd: cannot enter", folder, &error))?;
    }
    Ok(())
}

/// The settings of the project; the defaults for a command that has no use for them, whatever the file says.
fn settings(globals: &Globals, command: &Command) -> Result<Config, CliError> {
    if !command.has_settings() {
        return Ok(Config::default());
    }
    config::load(&globals.config)
}

impl Command {
    /// Whether it depends on the settings of the project.
    fn has_settings(&self) -> bool {
        let stands_alone = matches!(
            self,
            Command::Init(_)
                | Command::Inspect(_)
                | Command::Check(_)
                | Command::Validate(_)
                | Command::Schema(_)
                | Command::Usage
                | Command::Completions(_)
                | Command::Man(_)
                | Command::Version(_)
                | Command::Corpus(
                    CorpusCommand::List(_)
                        | CorpusCommand::Add(_)
                        | CorpusCommand::Export(_)
                        | CorpusCommand::Import(_)
                )
        );
        !stands_alone
    }
}
