//! Campaigns with several worker processes: who is killed, stopped or out of reach, and what the summary says of it.
//!
//! ```text
//! fozzy fuzz --jobs 2 ─┐            SIGKILL of a worker ─▶ another one, exact runs, words about it
//! fozzy explore -w 2  ─┴─ workers   SIGKILL of the parent ─▶ no process is left
//!                                   SIGINT, SIGTERM, SIGHUP ─▶ summary, report, exit code
//! ```
//!
//! Not here: the supervisor with workers that misbehave in every way (`fozzy-campaign`).
#![cfg(target_os = "linux")]

use crate::corpus;
use crate::fozzy::{Fozzy, Ran, binary};
use crate::fuzz::{MAGIC, jobs::children_of, module};
use crate::wait;
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

/// A command with several workers, and the part of its document that is about it.
struct Kind {
    name: &'static str,
    words: Vec<String>,
    workers: [&'static str; 2],
    runs: &'static str,
}

/// What is fuzzed and what is explored; neither fails.
fn kinds(fozzy: &Fozzy) -> [Kind; 2] {
    let program = fozzy.write("calm.wat", module("")).display().to_string();
    let fuzz = ["fuzz", &program, "--corpus", "corpus"].map(str::to_owned).to_vec();
    let puzzles = corpus::scenario("puzzles", true).display().to_string();
    let explore = ["explore", &puzzles, "--env", "PUZZLE=maze-8", "--no-seeds"].map(str::to_owned).to_vec();
    [
        Kind { name: "fuzz", words: fuzz, workers: ["--jobs", "2"], runs: "executions" },
        Kind { name: "explore", words: explore, workers: ["--workers", "2"], runs: "runs" },
    ]
}

/// Starts it in a process group of its own, with standard output and error in files, which never are full.
fn start(fozzy: &Fozzy, kind: &Kind, more: &[&str]) -> Child {
    let mut command = fozzy.command(binary());
    let file = |name: &str| Stdio::from(fs::File::create(fozzy.path(name)).expect("a file"));
    command.args(&kind.words).args(more).stdin(Stdio::null()).stdout(file("out")).stderr(file("err"));
    command.process_group(0).spawn().expect("it starts")
}

fn end(fozzy: &Fozzy, mut child: Child) -> Ran {
    let status = wait::exit(&mut child);
    Ran::of(&["campaign"], std::process::Output { status, stdout: fozzy.read("out"), stderr: fozzy.read("err") })
}

fn signal(fozzy: &Fozzy, signal: &str, process: &str) {
    fozzy.shell(&format!("kill -{signal} {process}")).exits(0);
}

/// Waits until two workers search: they have told so.
#[track_caller]
fn workers_of(child: &mut Child) -> Vec<String> {
    let id = child.id();
    wait::while_running(child, "two workers", || children_of(id).len() == 2);
    children_of(id)
}

fn is_running(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Whether anything of the exchange between the workers is on the disk: each has begun.
fn has_begun(fozzy: &Fozzy, kind: &Kind) -> bool {
    match kind.name {
        "fuzz" => fs::read_dir(fozzy.path("corpus")).is_ok_and(|mut files| files.next().is_some()),
        _ => {
            let runs = fs::read_dir(fozzy.path(".fozzy/runs")).into_iter().flatten().flatten();
            runs.map(|run| run.path().join("workers/stories")).any(|stories| {
                let names = fs::read_dir(stories).into_iter().flatten().flatten().map(|entry| entry.file_name());
                let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
                ["0-", "1-"].iter().all(|worker| names.iter().any(|name| name.starts_with(worker)))
            })
        }
    }
}

#[test]
fn workers_end_when_their_parent_is_killed() {
    let fozzy = Fozzy::new();
    for kind in kinds(&fozzy) {
        for late in [false, true] {
            let mut parent = start(&fozzy, &kind, &[&kind.workers[..], &["--time", "10m"]].concat());
            let workers = workers_of(&mut parent);
            if late {
                wait::until("the workers' first finds", || has_begun(&fozzy, &kind));
            }
            parent.kill().expect("it runs");
            wait::exit(&mut parent);
            wait::until("the end of the workers", || !workers.iter().any(|worker| is_running(worker)));
        }
    }
}

#[test]
fn a_signal_ends_a_campaign_with_its_summary() {
    for signal_name in ["INT", "TERM", "HUP"] {
        let fozzy = Fozzy::new();
        for kind in kinds(&fozzy) {
            let mut parent = start(&fozzy, &kind, &[&kind.workers[..], &["--time", "10m", "--json"]].concat());
            let workers = workers_of(&mut parent);
            wait::until("the workers' first finds", || has_begun(&fozzy, &kind));
            // Ctrl-C in a terminal reaches the workers too; `kill` reaches the parent alone.
            let to = if signal_name == "INT" { format!("-{}", parent.id()) } else { parent.id().to_string() };
            signal(&fozzy, signal_name, &to);
            let summary = end(&fozzy, parent).exits(130).json();
            let told = &summary[kind.name];
            assert_eq!(told["ended"], "interrupted", "{signal_name}: {told:#}");
            assert!(told[kind.runs].as_u64() > Some(0), "{signal_name}: {told:#}");
            assert_eq!((&told["workersLost"], &told["workersRestarted"]), (&Value::Null, &Value::Null), "{told:#}");
            let report = fozzy.read(summary["identity"]["reportPath"].as_str().expect("a path"));
            assert_eq!(serde_json::from_slice::<Value>(&report).expect("it is JSON")[kind.name], *told);
            assert!(!workers.iter().any(|worker| is_running(worker)));
        }
    }
}

#[test]
fn a_campaign_of_one_is_ended_by_a_signal_with_its_summary() {
    let fozzy = Fozzy::new();
    for kind in kinds(&fozzy) {
        let is_fuzz = kind.name == "fuzz";
        let parent = start(&fozzy, &kind, &["--time", "10m", "--json", if is_fuzz { "--minimize" } else { "-v" }]);
        wait::until("a sign of life", || match is_fuzz {
            true => has_begun(&fozzy, &kind),
            false => String::from_utf8_lossy(&fozzy.read("err")).contains("runs="),
        });
        signal(&fozzy, "TERM", &parent.id().to_string());
        let summary = end(&fozzy, parent).exits(130).json();
        assert_eq!(summary[kind.name]["ended"], "interrupted", "{:#}", summary[kind.name]);
    }
}

#[test]
fn the_second_signal_ends_it_at_once_and_its_workers() {
    let fozzy = Fozzy::new();
    for kind in kinds(&fozzy) {
        let mut parent = start(&fozzy, &kind, &[&kind.workers[..], &["--time", "10m"]].concat());
        let workers = workers_of(&mut parent);
        wait::until("the workers' first finds", || has_begun(&fozzy, &kind));
        // They cannot answer the first one.
        workers.iter().for_each(|worker| signal(&fozzy, "STOP", worker));
        let id = parent.id().to_string();
        signal(&fozzy, "TERM", &id);
        wait::until("its answer", || String::from_utf8_lossy(&fozzy.read("err")).contains("once more"));
        // One that comes as soon as this is the echo of the first, as `timeout` sends it; a later one ends it.
        wait::until("its end", || {
            let runs = wait::runs(&mut parent);
            if runs {
                signal(&fozzy, "TERM", &id);
            }
            !runs
        });
        end(&fozzy, parent).exits(130);
        // The parent may have killed them already, stopped as they were.
        for worker in &workers {
            fozzy.shell(&format!("kill -CONT {worker} || ! kill -0 {worker}")).exits(0);
        }
        wait::until("the end of the workers", || !workers.iter().any(|worker| is_running(worker)));
    }
}

#[test]
fn a_killed_worker_is_replaced_and_no_run_is_made_twice_or_not_at_all() {
    let fozzy = Fozzy::new();
    for (kind, runs) in kinds(&fozzy).into_iter().zip([200_001, 20_001]) {
        let (number, corpus) = (runs.to_string(), format!("{}-corpus", kind.name));
        let mut words = [&kind.workers[..], &["--runs", &number, "--json"]].concat();
        if kind.name == "fuzz" {
            words.extend(["--corpus", &corpus]);
        }
        let kind = Kind { words: kind.words.iter().filter(|word| !word.contains("corpus")).cloned().collect(), ..kind };
        let mut parent = start(&fozzy, &kind, &words);
        let first = workers_of(&mut parent).remove(0);
        signal(&fozzy, "KILL", &first);
        let ran = end(&fozzy, parent).exits(0);
        let told = &ran.json()[kind.name];
        assert_eq!((&told[kind.runs], &told["ended"]), (&runs.into(), &"runs".into()), "{told:#}");
        assert_eq!((&told["workersLost"], &told["workersRestarted"]), (&1.into(), &1.into()), "{told:#}");
        assert!(ran.err().contains("worker ") && ran.err().contains("was killed (signal: 9 (SIGKILL))"), "{ran}");
        assert!(ran.err().contains("another one continues"), "{ran}");
    }
}

#[test]
fn workers_share_the_runs_exactly_and_the_lines_count_them_all() {
    let fozzy = Fozzy::new();
    for kind in kinds(&fozzy) {
        for (workers, runs) in [("3", 100), ("2", 1)] {
            let (number, flag) = (runs.to_string(), kind.workers[0]);
            let verbose = if kind.name == "explore" { &["-v"][..] } else { &[] };
            let parent = start(&fozzy, &kind, &[&[flag, workers, "--runs", &number, "--json"], verbose].concat());
            let ran = end(&fozzy, parent).exits(0);
            let told = &ran.json()[kind.name];
            assert_eq!((&told[kind.runs], &told["ended"]), (&runs.into(), &"runs".into()), "{told:#}");
            let last = if kind.name == "explore" { format!(" runs={runs} ") } else { format!("#{runs} ") };
            assert!(ran.err().contains(&last), "{ran}");
        }
    }
}

#[test]
fn workers_that_are_killed_again_and_again_are_an_error_that_says_so() {
    let fozzy = Fozzy::new();
    for kind in kinds(&fozzy) {
        let verbose = if kind.name == "explore" { &["-v"][..] } else { &[] };
        let words = [&kind.workers[..], &["--time", "10m", "--json"], verbose].concat();
        let mut parent = start(&fozzy, &kind, &words);
        // Numbers that were reported stay, whoever is killed.
        let counts = |line: &str| match kind.name {
            "fuzz" => line.starts_with('#') && !line.starts_with("#0 "),
            _ => line.contains(" runs=") && !line.contains(" runs=0 "),
        };
        wait::while_running(&mut parent, "its first numbers", || {
            String::from_utf8_lossy(&fozzy.read("err")).lines().any(counts)
        });
        wait::until("the end", || {
            children_of(parent.id()).iter().for_each(|worker| drop(fozzy.shell(&format!("kill -9 {worker}"))));
            !wait::runs(&mut parent)
        });
        let ran = end(&fozzy, parent).exits(2);
        let summary = ran.json();
        assert_eq!((&summary["status"], &summary[kind.name]["ended"]), (&"error".into(), &"workers".into()), "{ran}");
        let told = &summary[kind.name];
        assert!(told["workersLost"].as_u64() > Some(16) && told[kind.runs].as_u64() > Some(0), "{ran}");
        ran.has_one_error(&["after 16 replacements there are no more"]);
    }
}

#[test]
fn nobody_reads_the_summary_and_no_worker_is_left() {
    let fozzy = Fozzy::new();
    for kind in kinds(&fozzy) {
        let mut command = fozzy.command(binary());
        command.args(&kind.words).args(kind.workers).args(["--time", "10m", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut parent = command.spawn().expect("it starts");
        let workers = workers_of(&mut parent);
        wait::until("the workers' first finds", || has_begun(&fozzy, &kind));
        drop((parent.stdout.take(), parent.stderr.take()));
        signal(&fozzy, "TERM", &parent.id().to_string());
        assert_eq!(wait::exit(&mut parent).code(), Some(130));
        assert!(!workers.iter().any(|worker| is_running(worker)));
    }
}

#[test]
fn a_seed_that_is_drawn_is_drawn_once_for_all_workers() {
    let fozzy = Fozzy::new();
    let program = fozzy.write("magic.wat", module(MAGIC)).display().to_string();
    let words = ["fuzz", &program, "--jobs", "2", "--seed", "random", "--runs", "200000", "--crash-only", "--json"];
    let summary = fozzy.run(&words).exits(4).json();
    let trace = summary["fuzz"]["findings"][0]["tracePath"].as_str().expect("a path");
    let shown = fozzy.run(&["replay", trace, "--json"]).exits(4).json();
    assert_eq!(shown["identity"]["seed"], summary["identity"]["seed"]);
}

#[test]
fn what_cannot_be_started_is_said_once_and_not_tried_again() {
    let fozzy = Fozzy::new();
    let program = fozzy.write("calm.wat", module("")).display().to_string();
    // The parent reads it, and its workers find another one.
    let mut command = fozzy.command(binary());
    command.args(["fuzz", &program, "--jobs", "2", "--runs", "50"]).env("FOZZY_WORKER", "{}");
    let output = wait::run(command.stdin(Stdio::null()));
    Ran::of(&["fuzz"], output).refuses(&["FOZZY_WORKER"]);
}
