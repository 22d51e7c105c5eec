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
mod build;
#[cfg(test)]
mod cli_md;
mod command;
mod config;
mod coverage;
mod error;
mod fuzz;
mod inputs;
mod interrupt;
mod output;
mod plan;
mod selector;
mod sources;
mod store;
mod suite;
mod target;
mod wall;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::install();
    let words: Vec<std::ffi::OsString> = std::env::args_os().collect();
    let json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    output::settle(match args::Cli::try_parse_from(&words) {
        Ok(cli) => command::dispatch(cli),
        Err(error) => output::usage_error(&error, json),
    })
}
