//! Which command is for what, as `fozzy usage` tells it.
//!
//! Not here: the commands' own sentences and flags (`fozzy-cli`, which holds this table against them).

use crate::Style;
use crate::document::{UsageDocument, UsageItem};
use crate::layout::Layout;

/// Commands that belong together: what they are for, and of each its name, when it is of use, and an example.
pub type UsageGroup = (&'static str, &'static [(&'static str, &'static str, &'static str)]);

/// All commands.
pub const USAGE: &[UsageGroup] = &[
    (
        "Find failures",
        &[
            (
                "run",
                "you want to see what a program does under one seed",
                "fozzy run app.wasm --seed 7 --record run.fozzy",
            ),
            (
                "test",
                "you want all scenarios of a project run and reported",
                "fozzy test --det --jobs 2 --reporter junit --out junit.xml",
            ),
            ("fuzz", "you look for inputs that make a program fail", "fozzy fuzz app.wasm --time 60s"),
            (
                "explore",
                "you look for steps, turns, faults and arrivals that make a program fail",
                "fozzy explore app.wasm --plan cluster.toml --time 60s",
            ),
            (
                "fleet",
                "you want all of a project's tests searched over night, or for ever",
                "fozzy fleet --time 8h --jobs 4",
            ),
            (
                "dashboard",
                "you want to see in a browser what a fleet has found, or to put that on a server",
                "fozzy dashboard --export site",
            ),
            (
                "store",
                "a project's fleets are to go on from a Redis server, or from a folder again",
                "fozzy store copy .fozzy/fleet redis://127.0.0.1/0?prefix=shop",
            ),
            (
                "maelstrom",
                "you have nodes that speak the Maelstrom protocol, and want them tested as a cluster",
                "fozzy maelstrom test -w broadcast --bin node.wasm --nemesis partition",
            ),
            (
                "benchmark",
                "you want to know how many workers an exploration is worth",
                "fozzy benchmark app.wasm --time 10s",
            ),
        ],
    ),
    (
        "Understand a failure",
        &[
            ("replay", "you have a trace and want the very run again", "fozzy replay run.fozzy --dump-events"),
            ("shrink", "a failure takes more steps than you want to read", "fozzy shrink run.fozzy --out small.fozzy"),
            ("ablate", "you want to know which faults a failure needs", "fozzy ablate run.fozzy"),
            (
                "branch",
                "you want to know what else could have happened after a decision",
                "fozzy branch run.fozzy --at 12 --seed 3",
            ),
            ("debug", "you want to stop a recorded run anywhere, and to go back from there", "fozzy debug run.fozzy"),
            (
                "causality",
                "you want to know which decision made a failure likely",
                "fozzy causality run.fozzy --moments 20",
            ),
            (
                "suspects",
                "some seeds fail, and you want to know what their runs have in common",
                "fozzy suspects app.wasm --seeds 200",
            ),
            (
                "findability",
                "you want to know how many clean runs make a fix believable",
                "fozzy findability run.fozzy",
            ),
        ],
    ),
    (
        "Look into programs, traces and reports",
        &[
            (
                "check",
                "you have a history of a distributed system and want a verdict",
                "fozzy check history.edn --model cas-register",
            ),
            (
                "diff",
                "you have changed a program, and want to know what it does otherwise",
                "fozzy diff old.wasm new.wasm --seeds 100",
            ),
            (
                "mutants",
                "you want to know what your tests would not notice",
                "fozzy mutants app.wasm --seeds 10 --min-score 80",
            ),
            ("mine", "you want properties that held in all runs, as code", "fozzy mine app.wasm --seeds 200"),
            ("inspect", "you want to know what a program is and needs", "fozzy inspect app.wasm"),
            (
                "coverage",
                "you want to know what runs have not reached",
                "fozzy coverage run.fozzy --format html --out coverage.html",
            ),
            ("profile", "you want to know where a run spends its instructions", "fozzy profile top latest"),
            (
                "memory",
                "you want to know what a run leaks, and who allocates",
                "fozzy memory top latest --fail-on-leak",
            ),
            ("map", "you want to know what needs tests, and which scenarios a change needs", "fozzy map hotspots"),
            ("trace", "you want to check or read a trace", "fozzy trace verify run.fozzy"),
            (
                "report",
                "you want to see, ask or compare reports",
                "fozzy report show latest --format html --out report.html",
            ),
            (
                "artifacts",
                "you want the files of a run, or to hand them on",
                "fozzy artifacts bundle last-fail --out bundle.zip",
            ),
        ],
    ),
    (
        "Keep and check",
        &[
            ("seeds", "you want to know which saved failures are still reproduced", "fozzy seeds app.wasm"),
            ("corpus", "you look after the inputs of campaigns", "fozzy corpus minimize corpus --target app.wasm"),
            ("clean", "the run store has grown, or processes were killed", "fozzy clean --runs 50 --dry-run"),
            ("ci", "a build server has a trace to check", "fozzy ci run.fozzy"),
            ("gate", "you want the checks that gate a change", "fozzy gate --scope bank,cache"),
            ("full", "you want every command done once on a project", "fozzy full --fuzz-time 10s"),
        ],
    ),
    (
        "Begin, and ask for help",
        &[
            ("init", "you begin a project", "fozzy init app --template rust"),
            ("validate", "you have written a file and want to know what is wrong with it", "fozzy validate plan.toml"),
            ("schema", "you want an editor or a script to know a file or a document", "fozzy schema plan"),
            ("doctor", "results differ, or a machine is new", "fozzy doctor --deep --scenario app.wasm"),
            ("env", "you want to know what backs the clock, files and network of a guest", "fozzy env"),
            ("usage", "you want this list", "fozzy usage"),
            ("completions", "you want your shell to complete commands and flags", "fozzy completions bash"),
            ("man", "you want pages for `man`", "fozzy man share/man/man1"),
            ("version", "you report a fault", "fozzy version"),
        ],
    ),
];

impl UsageDocument {
    /// All commands, each with when it is of use and an example.
    #[must_use]
    pub fn of_all() -> UsageDocument {
        let item = |(command, when, how): &(&str, &str, &str)| UsageItem {
            command: (*command).to_owned(),
            when: (*when).to_owned(),
            how: (*how).to_owned(),
        };
        let title = "Fozzy runs programs in a sandbox where nothing is left to chance".to_owned();
        UsageDocument { title, items: USAGE.iter().flat_map(|(_, rows)| rows.iter().map(item)).collect() }
    }
}

impl Layout for UsageDocument {
    /// In groups.
    fn lay_out(&self, _: Style) -> String {
        let mut text = self.title.clone() + "\n";
        for (purpose, rows) in USAGE {
            text.push_str(&format!("\n{purpose}\n"));
            let line =
                |(command, when, how): &(&str, &str, &str)| format!("  {command:<12}  when {when}\n{:16}{how}\n", "");
            text.extend(rows.iter().map(line));
        }
        text
    }
}
