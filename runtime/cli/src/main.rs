//! The `fozzy` command: arguments, settings, the run store, exit codes.
//!
//! ```text
//! args ─▶ command::<name> ─▶ engine, search, check ─▶ report ─▶ stdout (data), stderr (progress)
//! ```
//!
//! The only crate, with `fozzy-live`, that touches the real machine: files, environment, processes, wall
//! time. None of it reaches an execution but through the plan.
//!
//! Invariants: with `--json` exactly one document is printed on stdout; a closed pipe is no error;
//! every failure ends with the command that repeats it.

mod args;
#[cfg(test)]
mod cli_md;
mod command;
mod context;
mod documents;
mod error;
mod fleet_place;
mod gates;
mod help;
mod interrupt;
mod output;
mod progress;
mod spelling;

use clap::{CommandFactory, Parser};
use fozzy_campaign::workers::WorkerRole;
use std::process::ExitCode;

/// Stack of the command's own frames, as a main thread has.
const OWN_STACK_BYTES: usize = 8 << 20;

fn main() -> ExitCode {
    if fozzy_campaign::compiler::is_this_process() {
        return ExitCode::from(fozzy_campaign::compiler::serve());
    }
    fozzy_campaign::compiler::isolate(progress::line());
    // It has one thread.
    if fozzy_campaign::debug::is_debuggee() {
        return ExitCode::from(fozzy_campaign::debug::serve());
    }
    fozzy_campaign::fleet::end_with_fleet();
    interrupt::install();
    // A stack on which guests can be called as they are; where no thread can be had, each call gets its own.
    let thread = std::thread::Builder::new().name("fozzy".to_owned());
    let code = match thread.stack_size(fozzy_engine::STACK_BYTES + OWN_STACK_BYTES).spawn(command) {
        Ok(command) => command.join().unwrap_or(ExitCode::from(output::EXIT_ERROR)),
        Err(_) => command(),
    };
    fozzy_campaign::compiler::clean();
    code
}

fn command() -> ExitCode {
    let words = args::with_values(std::env::args_os().collect());
    let json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    output::settle(match args::Cli::try_parse_from(&words) {
        Ok(cli) => {
            // A worker's words are its supervisor's.
            if matches!(WorkerRole::of_process(), Ok(None)) {
                progress::break_silence();
            }
            command::dispatch(cli)
        }
        Err(mut error) => {
            spelling::as_given(&mut error, &args::Cli::command(), &words);
            spelling::usage_error(error, json)
        }
    })
}
