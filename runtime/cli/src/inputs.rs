//! Inputs of a corpus: raw files, each of them one execution of a program.
//!
//! ```text
//! bytes ─┬─▶ standard input           a program, unless it is said otherwise
//!        ├─▶ a file, an argument      --input-file, --input-arg
//!        └─▶ the bytes of a call      a fuzz target: it exports `fozzy:scenario/fuzz`
//! ```
//!
//! Invariant: an execution depends on program, plan and bytes; the seed is that of `fozzy run`.
//! Not here: which inputs are worth having (`fozzy fuzz`), what is made of coverage (`command/coverage.rs`).

use crate::args::CoverageArgs;
use crate::error::{CliError, at_path};
use crate::plan::Planned;
use crate::target;
use fozzy_check::judge;
use fozzy_engine::{CallError, Covered, Program, Reactor};
use fozzy_trace::plan::{Mount, MountEntry, MountKind};
use fozzy_trace::source::Seeded;
use fozzy_trace::{Digest, Executor, Plan, Seed, Status};
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Bytes that an input can have. What is larger is no input that anybody searched for.
const INPUT_BYTES_MAX: u64 = 16 << 20;
/// Folders inside of each other in which inputs are looked for.
const FOLDERS_MAX: usize = 8;
/// How the interface of fuzz targets begins.
const FUZZ: &str = "fozzy:scenario/fuzz@0.1.";

/// How the bytes of an input get to the program.
pub(crate) enum Delivery {
    /// They are its standard input.
    Stdin,
    /// They are in a file of this absolute path.
    File(String),
    /// They are its last argument.
    Argument,
    /// Functions of this interface are called with them.
    Call {
        /// With its version.
        interface: String,
        /// Only the one of this name.
        only: Option<String>,
    },
}

impl Delivery {
    /// As the flags say, and what the program exports.
    pub(crate) fn of(args: &CoverageArgs, program: &Program) -> Result<Delivery, CliError> {
        let interface = program.exports().find(|name| name.starts_with(FUZZ));
        match (&args.input_file, args.input_arg, interface) {
            (Some(path), _, _) if path.len() > 1 && path.starts_with('/') && !path.ends_with('/') => {
                Ok(Delivery::File(path.clone()))
            }
            (Some(path), _, _) => Err(CliError::new(
                "usage",
                format!("--input-file: expected an absolute path of a file, found `{path}`"),
            )),
            (None, true, _) => Ok(Delivery::Argument),
            (None, false, Some(interface)) => Ok(Delivery::Call { interface, only: args.function.clone() }),
            (None, false, None) if args.function.is_some() => {
                Err(CliError::new("target", format!("--function: the program does not export `{FUZZ}…`")))
            }
            (None, false, None) => Ok(Delivery::Stdin),
        }
    }
}

/// The files of a corpus, by name: all but those whose names begin with a dot.
pub(crate) fn files(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let mut found = Vec::new();
    collect(folder, FOLDERS_MAX, &mut found)?;
    found.sort();
    match found.is_empty() {
        true => Err(CliError::new("selector", format!("{} holds no input", folder.display()))),
        false => Ok(found),
    }
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), CliError> {
    let failed = |error: std::io::Error| at_path("selector", "cannot list", folder, &error);
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (kind, path) = (entry.file_type().map_err(failed)?, entry.path());
        // Links are not followed, since they may lead in circles.
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        } else if kind.is_dir() && depth > 1 {
            collect(&path, depth - 1, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}

/// Whether a file of a corpus is a trace, which says itself what was executed.
pub(crate) fn is_trace(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "fozzy")
}

/// What an input has covered, by component, and how it ended.
pub(crate) struct Reached {
    pub(crate) covered: BTreeMap<Digest, (Program, Covered)>,
    pub(crate) status: Status,
}

/// A program that is given inputs.
pub(crate) struct Inputs<'a> {
    pub(crate) program: &'a Program,
    pub(crate) planned: &'a Planned,
    pub(crate) delivery: &'a Delivery,
    /// Fuel in budgets of the plan.
    pub(crate) fuel_times: u64,
}

impl Inputs<'_> {
    /// Executes the input that stands in a file.
    pub(crate) fn execute(&self, path: &Path) -> Result<Reached, CliError> {
        let failed = |error: std::io::Error| at_path("input", "cannot read", path, &error);
        let mut bytes = Vec::new();
        fs::File::open(path).map_err(failed)?.take(INPUT_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() as u64 > INPUT_BYTES_MAX {
            let message =
                format!("{} has more than the {INPUT_BYTES_MAX} bytes that an input can have", path.display());
            return Err(CliError::new("input", message));
        }
        match self.delivery {
            Delivery::Call { interface, only } => self.call(interface, only.as_deref(), &bytes),
            _ => self.run(bytes),
        }
    }

    /// Runs a program from beginning to end.
    fn run(&self, bytes: Vec<u8>) -> Result<Reached, CliError> {
        let (mut plan, mut inputs) = (self.planned.plan.clone(), self.planned.inputs.clone());
        match self.delivery {
            Delivery::File(path) => plan.main.dirs.push(mount(path, inputs.add(bytes))),
            Delivery::Argument => plan.main.args.push(String::from_utf8_lossy(&bytes).into_owned()),
            _ => plan.main.stdin.bytes = inputs.add(bytes),
        }
        let mut session = target::session(self.program.clone(), &plan, &inputs)?;
        session.fuel_times(self.fuel_times);
        let execution = session.execute(source(), 0..0)?;
        let covered = session.coverage().iter().filter_map(|(digest, covered)| {
            Some((*digest, (session.program_named(*digest)?.clone(), covered.clone())))
        });
        Ok(Reached { status: judge(&execution).status, covered: covered.collect() })
    }

    /// Calls the fuzz targets, each in an instance of its own.
    fn call(&self, interface: &str, only: Option<&str>, bytes: &[u8]) -> Result<Reached, CliError> {
        let refused = |what: &dyn std::fmt::Display| CliError::new("target", format!("{interface}: {what}"));
        let mut plan = Plan::clone(&self.planned.plan);
        plan.limits.fuel = plan.limits.fuel.saturating_mul(self.fuel_times);
        let plan = Arc::new(plan);
        let start = || Reactor::start(self.program.clone(), Arc::clone(&plan), &self.planned.inputs, source());
        let mut asked = start().map_err(|error| refused(&error))?;
        let mut targets =
            asked.function::<(), (Vec<String>,)>(&format!("{interface}#targets")).map_err(|error| refused(&error))?;
        let (names,) = asked.call(&mut targets, ()).map_err(|error| refused(&error))?;
        if let Some(only) = only.filter(|only| !names.iter().any(|name| name == only)) {
            let listed: Vec<String> = names.iter().map(|name| format!("`{}`", name.escape_debug())).collect();
            let message = format!("--function: there is no fuzz target `{only}`; there are {}", listed.join(", "));
            return Err(CliError::new("target", message));
        }
        let mut sum = Covered::default();
        let mut status = Status::Pass;
        for (place, _) in names.iter().enumerate().filter(|(_, name)| only.is_none_or(|only| only == *name)) {
            let mut reactor = start().map_err(|error| refused(&error))?;
            let mut run =
                reactor.function::<(u32, Vec<u8>), ()>(&format!("{interface}#run")).map_err(|error| refused(&error))?;
            let ended = match reactor.call(&mut run, (place as u32, bytes.to_vec())) {
                Ok(()) => None,
                Err(CallError::Harness(error)) => return Err(error.into()),
                Err(error @ CallError::Function { .. }) => return Err(refused(&error)),
                Err(error) => {
                    status = Status::Fail;
                    Some(error)
                }
            };
            sum.merge(&reactor.covered(ended.as_ref()), self.program.how().coverage);
        }
        let digest = Digest::of(self.program.component());
        Ok(Reached { status, covered: BTreeMap::from([(digest, (self.program.clone(), sum))]) })
    }
}

/// The answers of `fozzy run` without `--seed`.
fn source() -> Box<Seeded> {
    Box::new(Seeded::new(Seed(0)))
}

/// A file of that absolute path, and the folders above it.
fn mount(path: &str, content: Digest) -> Mount {
    let entries = vec![MountEntry { path: name_of(path).to_owned(), kind: MountKind::File(content) }];
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    Mount { guest: if folder.is_empty() { "/".to_owned() } else { folder.to_owned() }, entries }
}

fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
