//! Several workers on one corpus, and two campaigns on one: nothing is lost, whoever is killed.

use super::{MAGIC, campaign, module, replays_alone, signatures};
use crate::fozzy::Fozzy;
use crate::wait;
use std::fs;

#[test]
fn two_workers_share_the_executions_and_what_they_find() {
    let fozzy = Fozzy::new();
    fozzy.write("magic.wat", module(MAGIC));
    let args = [
        "fuzz",
        "magic.wat",
        "--jobs",
        "2",
        "--runs",
        "12001",
        "--corpus",
        "corpus",
        "--record",
        "find.fozzy",
        "--json",
    ];
    let summary = fozzy.run(&args).exits(4).json();
    let fuzz = &summary["fuzz"];
    assert_eq!((&fuzz["jobs"], &fuzz["executions"], &fuzz["ended"]), (&2.into(), &12_001.into(), &"runs".into()));
    assert_eq!(signatures(&summary).len(), 1, "one failure is one finding: {summary}");
    assert_eq!(fuzz["findings"][0]["tracePath"], "find.fozzy");
    replays_alone(&fozzy, &"find.fozzy".into(), 4);
    assert!(fozzy.path("find.input").is_file(), "the input stands beside it");
    let coverage: serde_json::Value = serde_json::from_slice(
        &fozzy.read(&format!("{}/coverage.json", summary["identity"]["artifactsDir"].as_str().expect("a path"))),
    )
    .expect("it is JSON");
    assert_eq!(coverage, fuzz["coverage"]);
    let said = fozzy.run(&["fuzz", "magic.wat", "--jobs", "2", "--runs", "9", "--det"]).exits(2).err();
    assert!(said.contains("--det"), "{said}");
}

#[test]
fn a_campaign_ends_at_its_risk() {
    let fozzy = Fozzy::new();
    fozzy.write("few.wat", module("(if (local.get $len) (then nop))"));
    for jobs in ["1", "2"] {
        let fuzz = ["fuzz", "few.wat", "--until-risk", "80%", "--time", "60s", "--jobs", jobs, "--no-store", "--json"];
        let found = fozzy.run(&fuzz).exits(0).json();
        assert_eq!(found["fuzz"]["ended"], "risk", "{found}");
        let coverage = &found["fuzz"]["coverage"];
        let chance = coverage["chance_if_doubled"].as_f64().expect("a number");
        let range = &coverage["chance_if_doubled_range"];
        assert!(range[0].as_f64() < Some(chance) && Some(chance) < range[1].as_f64(), "{coverage}");
    }
}

/// The workers that `parent` has started and that have not ended; a process in which it compiles is none.
#[cfg(target_os = "linux")]
pub(crate) fn children_of(parent: u32) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").expect("it is Linux").flatten() {
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        // `pid (name) state ppid …`
        let after = stat.rsplit_once(") ").map_or("", |(_, after)| after);
        let mut words = after.split(' ');
        let (state, of) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let environment = || fs::read_to_string(entry.path().join("environ")).unwrap_or_default();
        if state != "Z" && of == parent.to_string() && environment().contains("FOZZY_WORKER=") {
            found.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    found
}

#[cfg(target_os = "linux")]
#[test]
fn a_worker_that_is_killed_is_followed_by_another_that_goes_on() {
    let fozzy = Fozzy::new();
    fozzy.write("magic.wat", module(MAGIC));
    let mut child = fozzy.start(&["fuzz", "magic.wat", "--corpus", "corpus", "--jobs", "2"]);
    let child_id = child.id();
    let workers = || children_of(child_id);
    let files = || fs::read_dir(fozzy.path("corpus")).map_or(0, |entries| entries.flatten().count());
    wait::while_running(&mut child, "two workers and their finds", || workers().len() == 2 && files() >= 3);
    let first = workers().remove(0);
    fozzy.shell(&format!("kill -9 {first}")).exits(0);
    wait::while_running(&mut child, "another worker", || workers().len() == 2 && !workers().contains(&first));
    // Without the main process, workers end by themselves.
    let left = workers();
    child.kill().expect("it runs");
    wait::exit(&mut child);
    let runs = |pid: &String| {
        let status = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        !status.is_empty() && !status.contains(") Z ")
    };
    wait::until("the end of the workers", || !left.iter().any(runs));
    let whole = fs::read_dir(fozzy.path("corpus")).expect("it was made").flatten();
    for file in whole {
        let name = file.file_name().to_string_lossy().into_owned();
        // What a killed worker was about to write has no name yet.
        if name.starts_with(".fozzy-") {
            continue;
        }
        let digest = fozzy_trace::Digest::of(&fozzy.read(&format!("corpus/{name}"))).to_string();
        assert_eq!(name, digest, "a file is whole or absent");
    }
}

#[test]
fn two_campaigns_on_one_corpus_do_not_disturb_each_other() {
    let fozzy = Fozzy::new();
    let target = fozzy.write("magic.wat", module(MAGIC));
    let alone = campaign(&fozzy, &target, 1, 1_500, &["--corpus", "alone"]).json();
    let other = fozzy.start(&["fuzz", "magic.wat", "--corpus", "shared", "--seed", "7", "--runs", "1500"]);
    let beside = campaign(&fozzy, &target, 2, 1_500, &["--corpus", "shared"]).json();
    wait::output(other);
    assert!(beside["fuzz"]["corpus"].as_u64() >= Some(3) && alone["fuzz"]["corpus"].as_u64() >= Some(3));
    assert!(fs::read_dir(fozzy.path("shared")).expect("it was made").count() >= 3);
}
