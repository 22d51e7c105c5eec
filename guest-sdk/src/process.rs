//! Other programs, and what a scenario plays in their place.
//!
//! ```text
//! rule("resize").times(1).code(1).add()     the next `resize` ends with code 1
//! Command::new("resize").arg("a.png").run() ─▶ Output { status: Code(1), … }
//! ```
//!
//! ```
//! use fozzy_sdk::prelude::*;
//! use fozzy_sdk::process::Command;
//!
//! let once = process::rule("resize").args(&["*.png"]).times(1).code(1).add();
//! let output = Command::new("resize").arg("a.png").run();
//! // In the sandbox the rule has answered; natively nothing runs, and the error says so.
//! assert!(once.answered() == u64::from(output.is_ok()));
//! process::clear_rules();
//! ```
//!
//! WASI has no processes, so a program that runs others imports `fozzy:process`; this is the small way to it. What a
//! program reads while its child runs (`spawn`) is in the bindings.
//!
//! A rule of a scenario holds until its sequence ends, and comes before those of the plan. Natively there is none of
//! this: all commands fail.

use crate::host;
use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

/// What to run.
///
/// ```
/// use fozzy_sdk::process::{self, Command, Status};
/// use std::time::Duration;
///
/// let _ = process::rule("resize").args(&["*.png"]).code(1).add();
/// let command = Command::new("resize").arg("a.png").env("LANG", "C").stdin(b"data").deadline(Duration::from_secs(9));
/// match command.run() {
///     Ok(output) => assert_eq!(output.status, Status::Code(1)),
///     Err(why) => assert!(why.contains("natively"), "{why}"),
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Command {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) stdin: Vec<u8>,
    pub(crate) deadline: Option<Duration>,
}

/// How a process ended.
///
/// ```
/// use fozzy_sdk::process::Status;
///
/// assert!(Status::Code(0).success() && !Status::Signal(9).success());
/// assert_eq!((Status::Code(3).code(), Status::Signal(9).code()), (Some(3), None));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl Status {
    /// Whether it exited with code 0.
    #[must_use]
    pub fn success(self) -> bool {
        self == Status::Code(0)
    }

    /// Its code; `None` if a signal ended it.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Status::Code(code) => Some(code),
            Status::Signal(_) => None,
        }
    }
}

/// The end of a process, and what it wrote.
///
/// ```
/// use fozzy_sdk::process::{Command, Output};
///
/// fn version(of: &str) -> Option<String> {
///     let Output { status, stdout, .. } = Command::new(of).arg("--version").run().ok()?;
///     status.success().then(|| String::from_utf8_lossy(&stdout).into_owned())
/// }
/// # let _ = version("resize");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub status: Status,
    /// Whether it was ended because its deadline was over.
    pub deadline_passed: bool,
    /// What it wrote to standard output.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error.
    pub stderr: Vec<u8>,
}

impl Command {
    /// A program, by its name or path, without arguments, environment or input.
    pub fn new(program: &str) -> Command {
        let (args, env, stdin) = (Vec::new(), Vec::new(), Vec::new());
        Command { program: program.to_owned(), args, env, stdin, deadline: None }
    }

    /// One argument more.
    pub fn arg(mut self, arg: &str) -> Command {
        self.args.push(arg.to_owned());
        self
    }

    /// One variable more: nothing is inherited.
    pub fn env(mut self, name: &str, value: &str) -> Command {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    /// What stands on its standard input.
    pub fn stdin(self, bytes: &[u8]) -> Command {
        Command { stdin: bytes.to_owned(), ..self }
    }

    /// The virtual time after which it is ended by signal 9.
    pub fn deadline(self, deadline: Duration) -> Command {
        Command { deadline: Some(deadline), ..self }
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// In words: there is no such command, it may not be run, it wrote too much.
    pub fn run(self) -> Result<Output, String> {
        host::run(self)
    }
}

/// How commands are answered from now on. Without further settings: all of that name, at once, with code 0 and no output.
///
/// ```
/// use fozzy_sdk::process::{self, Status};
/// use std::time::Duration;
///
/// let slow = process::rule("git").args(&["clone", "*"]).times(2).delay(Duration::from_secs(30)).code(0).add();
/// let killed = process::rule("make").ends(Status::Signal(9), b"cc a.c\n").add();
/// let fails = process::rule("cc").writes(Status::Code(1), b"", b"a.c:1: error\n").add();
/// let (gone, locked) = (process::rule("ld").not_found().add(), process::rule("sudo").not_permitted().add());
/// assert_eq!(slow.answered() + killed.answered() + fails.answered() + gone.answered() + locked.answered(), 0);
/// process::clear_rules();
/// ```
pub fn rule(command: &str) -> Rule {
    Rule {
        command: command.to_owned(),
        args: None,
        times: None,
        delay: Duration::ZERO,
        answer: Answer::of(Status::Code(0)),
    }
}

/// See [`rule`]: `*` stands for any characters in the command and its arguments.
///
/// ```
/// use fozzy_sdk::process::{Rule, RuleHandle, rule};
///
/// fn missing(program: &str) -> Rule { rule(program).not_found() }
///
/// let handle: RuleHandle = missing("resize").add();
/// assert_eq!(handle.answered(), 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct Rule {
    pub(crate) command: String,
    pub(crate) args: Option<Vec<String>>,
    pub(crate) times: Option<u64>,
    pub(crate) delay: Duration,
    pub(crate) answer: Answer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    Output { status: Status, stdout: Vec<u8>, stderr: Vec<u8> },
    NotFound,
    NotPermitted,
}

impl Answer {
    fn of(status: Status) -> Answer {
        Answer::Output { status, stdout: Vec::new(), stderr: Vec::new() }
    }
}

impl Rule {
    /// Only with these arguments.
    pub fn args(self, args: &[&str]) -> Rule {
        Rule { args: Some(args.iter().map(|arg| (*arg).to_owned()).collect()), ..self }
    }

    /// The number of commands that it answers at most.
    pub fn times(self, times: u64) -> Rule {
        Rule { times: Some(times), ..self }
    }

    /// The process takes so long.
    pub fn delay(self, delay: Duration) -> Rule {
        Rule { delay, ..self }
    }

    /// It ends so, after it wrote this to standard output.
    pub fn ends(self, status: Status, stdout: &[u8]) -> Rule {
        Rule { answer: Answer::Output { status, stdout: stdout.to_owned(), stderr: Vec::new() }, ..self }
    }

    /// It ends so, after it wrote this to standard output and to standard error.
    pub fn writes(self, status: Status, stdout: &[u8], stderr: &[u8]) -> Rule {
        let (stdout, stderr) = (stdout.to_owned(), stderr.to_owned());
        Rule { answer: Answer::Output { status, stdout, stderr }, ..self }
    }

    /// It ends with this code, and writes nothing.
    pub fn code(self, code: i32) -> Rule {
        Rule { answer: Answer::of(Status::Code(code)), ..self }
    }

    /// There is no such command.
    pub fn not_found(self) -> Rule {
        Rule { answer: Answer::NotFound, ..self }
    }

    /// There is one, and it may not be run.
    pub fn not_permitted(self) -> Rule {
        Rule { answer: Answer::NotPermitted, ..self }
    }

    /// From now on. Rules are tried in the order in which they were added.
    pub fn add(self) -> RuleHandle {
        RuleHandle(host::add_process_rule(self))
    }
}

/// A rule that was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleHandle(u32);

impl RuleHandle {
    /// How many commands it has answered.
    #[must_use]
    pub fn answered(self) -> u64 {
        host::process_rule_answered(self.0)
    }
}

/// Takes back all rules that were added.
///
/// ```
/// use fozzy_sdk::process;
///
/// let _ = process::rule("resize").code(1).add();
/// process::clear_rules();
/// ```
pub fn clear_rules() {
    host::clear_process_rules();
}
