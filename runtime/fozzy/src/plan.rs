//! What the simulated computer has, and what a run may use.

use fozzy_campaign::options::RunRequest;
use fozzy_trace::Duration;
use std::path::Path;

/// The world of a run: arguments, environment, files, faults, bounds. The default is an empty computer.
///
/// ```
/// use fozzy::{Plan, Program, Status};
///
/// // Exits with the number of its arguments, its own name among them.
/// let program = Program::from_bytes("count.wat", br#"(module
///   (import "wasi_snapshot_preview1" "args_sizes_get" (func $sizes (param i32 i32) (result i32)))
///   (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
///   (memory (export "memory") 1)
///   (func (export "_start")
///     (drop (call $sizes (i32.const 0) (i32.const 4)))
///     (call $exit (i32.sub (i32.load (i32.const 0)) (i32.const 1)))))"#)?;
/// let plan = Plan::new().fuel(100_000).env("LANG", "C");
/// assert_eq!(program.run(&plan, 7)?.status(), Status::Pass);
/// assert_eq!(program.run(&plan.arg("--verbose"), 7)?.status(), Status::Fail);
/// # Ok::<(), fozzy::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub(crate) request: RunRequest,
    pub(crate) sequences: Option<u32>,
    pub(crate) flows: Option<u32>,
    pub(crate) asks_real_computer: bool,
}

impl Plan {
    /// An empty computer.
    pub fn new() -> Plan {
        Plan::default()
    }

    /// A plan file, in the notation of `fozzy run --plan`; it is read when a program is run. What is set here goes before what it
    /// says.
    #[must_use]
    pub fn file(mut self, path: &Path) -> Plan {
        self.request.world.plan = Some(path.to_owned());
        self
    }

    /// Adds an argument of the program.
    #[must_use]
    pub fn arg(mut self, argument: &str) -> Plan {
        self.request.args.push(argument.to_owned());
        self
    }

    /// Sets an environment variable; none of the real ones is visible.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Plan {
        self.request.world.env.push(format!("{name}={value}"));
        self
    }

    /// Copies a real directory to a path of the virtual disk. Writes of the program never reach the real one.
    #[must_use]
    pub fn directory(mut self, host: &Path, guest: &str) -> Plan {
        self.request.world.dirs.push(format!("{}::{guest}", host.display()));
        self
    }

    /// Lets a run ask the real computer, below the current directory, for those `[backends]` that the plan file sets to
    /// `host`. The answers are in the trace, so that a replay needs no real computer. Campaigns stay on the simulated
    /// one.
    #[cfg(feature = "live")]
    #[must_use]
    pub fn ask_real_computer(mut self) -> Plan {
        self.asks_real_computer = true;
        self
    }

    /// What goes wrong, in the words of `--faults`: `disk,http-reset:2%`.
    #[must_use]
    pub fn faults(mut self, words: &str) -> Plan {
        self.request.world.faults.push(words.to_owned());
        self
    }

    /// Instructions that a run may use.
    #[must_use]
    pub fn fuel(mut self, instructions: u64) -> Plan {
        self.request.limits.fuel = Some(instructions);
        self
    }

    /// Virtual time that a run may take. Sleeping costs no real time.
    #[must_use]
    pub fn timeout(mut self, time: std::time::Duration) -> Plan {
        self.request.limits.timeout = Some(Duration(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)));
        self
    }

    /// How many sequences of a scenario are run, and how many steps each has. Without effect on a program that is no
    /// scenario.
    #[must_use]
    pub fn sequences(mut self, sequences: u32, steps: u32) -> Plan {
        (self.sequences, self.flows) = (Some(sequences), Some(steps));
        self
    }
}
