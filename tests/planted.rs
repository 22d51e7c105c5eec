//! Faults that were planted in ordinary programs: exploring them, with nothing but a plan, finds what was planted.
//!
//! ```text
//! stock      Rust   an update is lost where a packet is late      payments   Rust, axum   an answer is lost, and the order charged twice
//! journal    C      an entry that was not synced                  go-timeout Go           a job is done in the time in which patience ends
//! go-parser  Go     an escape whose bytes come in two reads
//! ```
//!
//! Each is found from the plan alone; its mended twin passes as many runs. With `FOZZY_LONG`, twenty seeds each, and a table of the executions
//! that were needed beside those of `fozzy run --seeds` in order.

use crate::corpus;
use crate::fozzy::Fozzy;
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;

/// Runs of an exploration, and of its twin in the long test.
const RUNS: u64 = 400;
/// Runs of the mended twin in the short one.
const TWIN_RUNS: u64 = 60;
/// Seeds of a sweep that gives up.
const SWEEP: u64 = 400;

struct PlantedFault {
    name: &'static str,
    program: fn() -> PathBuf,
    /// The plan; what makes the twin goes into `MENDED`.
    plan: fn(&str) -> String,
}

const PLANTED: &[PlantedFault] = &[
    PlantedFault { name: "stock", program: || corpus::component("stock"), plan: stock },
    PlantedFault { name: "payments", program: || corpus::component("payments"), plan: payments },
    PlantedFault { name: "journal", program: || corpus::program_in_c("journal"), plan: journal },
    PlantedFault { name: "go-parser", program: || corpus::program_in_go("go-parser"), plan: parser },
    PlantedFault { name: "go-timeout", program: || corpus::program_in_go("go-timeout"), plan: timeout },
];

/// A late packet in 2000.
fn stock(program: &str) -> String {
    let node = |name: &str, ends: &str, args: &str| {
        format!("[[node]]\nname = '{name}'\ncomponent = '{program}'\nends = '{ends}'\nargs = [{args}]\n")
    };
    let (store, other) = (node("store", "never", "'serve'"), node("other", "ok", "'buy', '1', '20'MENDED"));
    let fault = "[[fault]]\nkind = 'latency'\nrate = 0.0005\nstrength = '12ms'\n";
    format!("args = ['buy', '0', '20'MENDED]\n{store}{other}{fault}")
}

/// An answer of the bank is lost, one in a hundred.
fn payments(program: &str) -> String {
    let bank = format!("[[node]]\nname = 'bank'\ncomponent = '{program}'\nends = 'never'\nargs = ['bank'MENDED]\n");
    format!("args = ['shop', '5']\n{bank}[[fault]]\nkind = 'connection-reset'\ntarget = 'bank->main'\nrate = '1%'\n")
}

/// The power fails once, at one file operation in a thousand.
fn journal(_: &str) -> String {
    let fault = "[[fault]]\nkind = 'power-loss'\ntarget = 'main'\nrate = '0.1%'\ntimes = 1\n";
    format!("args = ['/data'MENDED]\nfiles = {{ '/data/.keep' = '' }}\n{fault}")
}

/// A read in two hundred is short; it takes two of them.
fn parser(_: &str) -> String {
    let middle = |record: u32| if record % 5 == 2 { r"..\n.." } else { "......" };
    let records = (0..40).fold(String::new(), |mut text, record| {
        let _ = writeln!(text, "record {record:03} {} 0123456789012", middle(record));
        text
    });
    let fault = "[[fault]]\nkind = 'short-read'\ntarget = '/data/*'\nrate = '0.5%'\nstrength = 23\n";
    format!("args = ['/data/records'MENDED]\n[files]\n'/data/records' = '''\n{records}'''\n{fault}")
}

/// A file operation in a thousand is slow.
fn timeout(_: &str) -> String {
    let fault = "[[fault]]\nkind = 'slow-disk'\ntarget = '/data/*'\nrate = '0.1%'\nstrength = '20ms'\n";
    format!("args = ['/data/jobs'MENDED]\nfiles = {{ '/data/.keep' = '' }}\n{fault}")
}

impl PlantedFault {
    /// A folder with the plans, and the program.
    fn prepare(&self) -> (Fozzy, String) {
        let (fozzy, program) = (Fozzy::new(), (self.program)().display().to_string());
        let plan = (self.plan)(&program);
        fozzy.write("plan.toml", plan.replace("MENDED", ""));
        fozzy.write("mended.toml", plan.replace("MENDED", ", 'mended'"));
        (fozzy, program)
    }
}

fn explore(fozzy: &Fozzy, program: &str, plan: &str, (seed, runs): (u64, u64), more: &[&str]) -> Value {
    let (seed, runs) = (seed.to_string(), runs.to_string());
    let bounds = ["--seed", &seed, "--runs", &runs, "--stop", "failure", "--no-seeds", "--json"];
    fozzy.run(&[&["explore", program, "--plan", plan], &bounds[..], more].concat()).json()
}

/// The run in which an exploration has found something, if it has.
fn found_at(found: &Value) -> Option<u64> {
    found["explore"]["failures"][0]["foundAt"].as_u64()
}

/// What one case shows with one seed: it is found, replays alone, and the twin passes.
#[track_caller]
fn check(case: &PlantedFault, seed: u64) {
    let (fozzy, program) = case.prepare();
    let found = explore(&fozzy, &program, "plan.toml", (seed, RUNS), &["--no-shrink"]);
    assert!(found_at(&found).is_some(), "{} with seed {seed}: {found:#}", case.name);
    let trace = found["explore"]["failures"][0]["tracePath"].as_str().expect("a path");
    let elsewhere = Fozzy::new();
    elsewhere.write("found.fozzy", std::fs::read(fozzy.path(trace)).expect("it was written"));
    let replayed = elsewhere.run(&["replay", "found.fozzy", "--json"]).json();
    assert_eq!(replayed["replay"]["equal"], true, "{}", case.name);
    assert_eq!(replayed["signature"], found["signature"], "{}", case.name);
    let twin = explore(&fozzy, &program, "mended.toml", (seed, TWIN_RUNS), &["--no-shrink"]);
    assert_eq!(twin["status"], "pass", "the twin of {}: {twin:#}", case.name);
}

#[test]
fn a_lost_update_between_machines_is_found() {
    check(&PLANTED[0], 1);
}

#[test]
fn a_double_charge_is_found_and_shrunk_to_the_one_loss() {
    check(&PLANTED[1], 1);
    let (fozzy, program) = PLANTED[1].prepare();
    let strikes = |more: &[&str]| {
        let mut found = explore(&fozzy, &program, "plan.toml", (1, RUNS), more);
        let failure = found["explore"]["failures"][0].take();
        failure["faults"][0]["strikes"].as_u64().unwrap_or_else(|| panic!("{failure:#}"))
    };
    assert!(strikes(&["--no-shrink"]) > 1, "this seed meets it with others");
    assert_eq!(strikes(&[]), 1);
}

#[test]
fn a_missing_fsync_in_c_is_found() {
    check(&PLANTED[2], 1);
}

#[test]
fn a_parser_in_go_that_loses_its_place_is_found() {
    check(&PLANTED[3], 1);
}

#[test]
fn a_race_with_a_timeout_in_go_is_found() {
    check(&PLANTED[4], 1);
}

/// A line comes while a program saves: nothing is planned but the line, and only when it comes varies.
#[test]
fn a_line_at_a_bad_moment_is_found_by_every_seed() {
    let fozzy = Fozzy::new();
    fozzy.write("autosave.wat", include_str!("programs/autosave.wat"));
    let entry = |at: &str, vary: &str| format!("[[stdin]]\nat = '{at}'\nline = 'text'\n{vary}");
    fozzy.write("plan.toml", entry("250ms", ""));
    assert_eq!(fozzy.run(&["run", "autosave.wat", "--plan", "plan.toml"]).exits(0).out(), "stored\n");
    for seed in 1..=20 {
        let found = explore(&fozzy, "autosave.wat", "plan.toml", (seed, RUNS), &["--no-shrink"]);
        assert!(found_at(&found).is_some(), "seed {seed}: {found:#}");
    }
    // However short the moment is: input comes where something happens.
    fozzy.write("quick.wat", include_str!("programs/autosave.wat").replace("4000000", "4000"));
    for seed in 1..=20 {
        let found = explore(&fozzy, "quick.wat", "plan.toml", (seed, RUNS / 4), &["--no-shrink"]);
        assert!(found_at(&found).is_some(), "seed {seed}: {found:#}");
    }
    let found = explore(&fozzy, "autosave.wat", "plan.toml", (1, RUNS), &[]);
    let trace = found["explore"]["failures"][0]["minimizedTracePath"].as_str().expect("a path");
    let replayed = fozzy.run(&["replay", trace, "--json"]).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed:#}");
    // A moment that is to stay does, and nothing is left to vary.
    fozzy.write("plan.toml", entry("250ms", "vary = '0s'\n"));
    let refused = explore(&fozzy, "autosave.wat", "plan.toml", (1, 1), &[]);
    assert!(refused["message"].as_str().is_some_and(|why| why.contains("all its runs are one")), "{refused:#}");
}

/// A server answers otherwise once in thousands of times, and only the plan's list of answers says so.
#[test]
fn a_rare_answer_of_a_rule_is_found_and_is_all_that_is_left() {
    let fozzy = Fozzy::new();
    let program = corpus::component("http-client").display().to_string();
    let answers = "[{ weight = 5000, body = 'ok' }, { weight = 5000, body = 'fine' }, { status = 503, delay = '2s' }]";
    let rule = format!("[[http]]\nurl = '*'\nanswers = {answers}\n");
    fozzy.write("plan.toml", format!("args = [{}]\n{rule}", "'http://api.test/a', ".repeat(4)));
    let held = ["--plan", "plan.toml", "--fail-on", "503"];
    let swept = fozzy.run(&[&["run", &program, "--seeds", "1..20", "--json"], &held[..]].concat()).exits(0).json();
    assert_eq!(swept["tests"]["passed"], 20, "{swept:#}");
    for seed in 1..=5 {
        let found = explore(&fozzy, &program, "plan.toml", (seed, RUNS), &["--no-shrink", "--fail-on", "503"]);
        assert!(found_at(&found).is_some_and(|run| run < 30), "seed {seed}: {found:#}");
    }
    let found = explore(&fozzy, &program, "plan.toml", (1, RUNS), &["--fail-on", "503"]);
    let trace = found["explore"]["failures"][0]["minimizedTracePath"].as_str().unwrap_or_else(|| panic!("{found:#}"));
    let replayed = fozzy.run(&["replay", trace, "--json"]).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed:#}");
    let shown = fozzy.run(&["replay", trace]).out();
    assert_eq!((shown.matches("503").count(), shown.matches("fine").count()), (1, 0), "{shown}");
}

#[test]
fn explorations_of_programs_have_no_systematic_search() {
    let (fozzy, program) = PLANTED[0].prepare();
    for schedule in ["dfs", "bfs"] {
        let refused = explore(&fozzy, &program, "plan.toml", (1, 1), &["--schedule", schedule]);
        assert!(
            refused["message"].as_str().is_some_and(|why| why.contains("has no steps that can be called")),
            "{refused:#}"
        );
    }
}

/// The table of `FOZZY_LONG`: twenty seeds of each, and twenty sweeps.
#[test]
#[expect(clippy::print_stderr, reason = "a table for people")]
fn planted_faults_are_found_by_every_seed() {
    if std::env::var_os("FOZZY_LONG").is_none() {
        return;
    }
    let mean = |all: &[Option<u64>], missed: u64| {
        all.iter().map(|found| found.unwrap_or(missed)).sum::<u64>() as f64 / all.len() as f64
    };
    let count = |all: &[Option<u64>]| all.iter().flatten().count();
    let mut table = String::from("program      found  runs (mean, most)  sweeps found  seeds (mean)  twin\n");
    for case in PLANTED {
        let (fozzy, program) = case.prepare();
        let at = |seed| found_at(&explore(&fozzy, &program, "plan.toml", (seed, RUNS), &["--no-shrink"]));
        let found: Vec<Option<u64>> = (1..=20).map(at).collect();
        let sweep = |number: u64| {
            let seeds = format!("{}..{}", number * SWEEP, (number + 1) * SWEEP - 1);
            let sweep = ["run", &program, "--plan", "plan.toml", "--seeds", &seeds, "--until-failure", "--json"];
            let swept = fozzy.run(&sweep).json();
            (swept["tests"]["failed"].as_u64() > Some(0))
                .then(|| swept["scenarios"].as_array().map_or(0, Vec::len) as u64)
        };
        let sweeps: Vec<Option<u64>> = (1..=20).map(sweep).collect();
        let twin = explore(&fozzy, &program, "mended.toml", (1, RUNS), &["--no-shrink"]);
        let (runs, most) = (mean(&found, RUNS), found.iter().flatten().max().unwrap_or(&0));
        let (swept, seeds) = (count(&sweeps), mean(&sweeps, SWEEP));
        let name = case.name;
        let _ = writeln!(
            table,
            "{name:12} {:2}/20  {runs:10.1} {most:6}  {swept:9}/20  {seeds:12.1}  {}",
            count(&found),
            twin["status"]
        );
        eprintln!("{table}");
        assert_eq!((count(&found), twin["status"].as_str()), (20, Some("pass")), "{name}");
        assert!(runs * 3.0 <= seeds, "{name}: {runs} runs beside {seeds} seeds");
    }
}
