//! Disks that do not take what is written: the run is an error, and the disk is as it was.

use super::TINY;
use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, Ran, repository};
use crate::wait;
use fozzy_trace::file::verify;
use std::process::Child;
use std::process::Stdio;

/// Nothing but these lies in the folder, and no run is half there.
#[track_caller]
fn only(fozzy: &Fozzy, names: &[&str]) {
    assert_eq!(fozzy.names(), names, "nothing is left behind");
    for entry in std::fs::read_dir(fozzy.path(".fozzy/runs")).into_iter().flatten() {
        let run = entry.expect("readable").path();
        assert!(!run.is_dir() || run.join("manifest.json").is_file(), "{} is half a run", run.display());
    }
}

#[test]
fn a_file_that_may_not_grow_is_an_error_and_leaves_nothing() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", TINY);
    // One block of 512 bytes: less than any trace.
    let ran = fozzy.shell("ulimit -f 1; exec fozzy run tiny.wat --record a.fozzy");
    ran.refuses(&["cannot write `a.fozzy`", "ulimit -f", "nothing was left behind"]);
    only(&fozzy, &["tiny.wat"]);
}

#[test]
fn how_a_run_failed_is_told_where_nothing_can_be_kept() {
    let fozzy = Fozzy::new();
    fozzy.write("traps.wat", r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#);
    let ran = fozzy.shell("ulimit -f 1; exec fozzy run traps.wat --record a.fozzy").exits(2);
    assert!(ran.err().contains("CRASH") && ran.err().contains("cannot write `a.fozzy`"), "{ran}");
    only(&fozzy, &["traps.wat"]);
}

/// Each ends with its summary, names what makes the failure again, and then says which file was not written.
#[test]
fn what_a_campaign_found_is_told_where_nothing_can_be_kept() {
    let fozzy = Fozzy::new();
    fozzy.write("traps.wat", r#"(module (memory (export "memory") 1) (func (export "_start") unreachable))"#);
    let letters = repository().join("tests/programs/letters.wat");
    fozzy.write("letters.wat", std::fs::read(letters).expect("it is committed"));
    fozzy.write(
        "two.fozzy.json",
        r#"{"version": 1, "name": "two", "distributed": {"node_count": 2,
            "steps": [{"type": "client_put", "node": "n0", "key": "k", "value": "v"}],
            "invariants": [{"type": "kv_node_equals", "node": "n1", "key": "k", "equals": "other"}]}}"#,
    );
    for (command, told) in [
        (
            "run traps.wat --seeds 5..7",
            &["CRASH", "3 of 3 seeds end so", "fozzy run --record run.fozzy --seed 5 traps.wat"][..],
        ),
        (
            "explore two.fozzy.json --runs 3",
            &["found assertion", "FAIL", "1 failure:", "fozzy explore --record run.fozzy --seed"],
        ),
        (
            "fuzz letters.wat --seed 3 --runs 2000",
            &["found trap", "CRASH", "bytes: not kept", "fozzy fuzz --record run.fozzy letters.wat"],
        ),
        (
            "fuzz letters.wat --seed 3 --runs 2000 --jobs 2",
            &["found trap", "its trace is not kept", "CRASH", "bytes: not kept", "2,000 executions"],
        ),
    ] {
        // One block of 512 bytes: less than any trace or report.
        let ran = fozzy.shell(&format!("ulimit -f 1; exec fozzy {command}")).exits(2);
        let said = ran.err();
        assert!(told.iter().all(|words| said.contains(words)), "{command}: {ran}");
        assert!(said.lines().filter(|line| line.starts_with("error: cannot write")).count() == 1, "{ran}");
    }
}

/// What a script prints in the folder, with a real disk of one megabyte at `disk`. That needs a namespace of our own; where
/// none is to be had the test says so, and the limit on file sizes above is the same way through the code.
#[allow(clippy::print_stderr, reason = "a test that shows nothing says so")]
fn on_a_small_disk(fozzy: &Fozzy, script: &str) -> Option<Ran> {
    let script = format!("mount -t tmpfs -o size=1m tmpfs disk || exit 77\n{script}");
    std::fs::create_dir(fozzy.path("disk")).expect("a folder");
    // As root, and as who becomes root in a namespace of users.
    for flags in ["-m", "-rm"] {
        let mut command = fozzy.command(std::path::Path::new("unshare"));
        command.args([flags, "sh", "-c", &script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let output = wait::output(command.spawn().ok()?);
        let ran = Ran::of(&[&script], output);
        if ran.code != Some(77) && !ran.err().starts_with("unshare:") {
            return Some(ran);
        }
    }
    eprintln!("skipped: this machine lets nobody mount a disk of their own (unshare -m, unshare -rm)");
    None
}

#[test]
fn a_full_disk_is_an_error_and_leaves_nothing() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", TINY);
    for name in ["letters.wat", "fails.wat"] {
        let from = repository().join("tests/programs").join(name);
        fozzy.write(name, std::fs::read(from).expect("it is committed"));
    }
    fozzy.run(&["run", "fails.wat", "--record", "f.fozzy"]).exits(4);
    let bank = corpus::scenario("bank", true).display().to_string();
    // A command, and what there may be of it when there is no room, and when there is room for a little.
    let commands = [
        "run tiny.wat --record disk/a.fozzy".to_owned(),
        "artifacts pack f.fozzy --out disk/a.zip".to_owned(),
        "artifacts pack f.fozzy --out disk/there".to_owned(),
        "artifacts bundle f.fozzy --out disk/a.zip".to_owned(),
        "shrink f.fozzy --out disk/min.fozzy".to_owned(),
        "init disk/there/app".to_owned(),
        format!("explore {bank} --runs 40 --no-seeds --save-state disk/s.json"),
        "fuzz letters.wat --det --runs 300 --corpus disk/corpus".to_owned(),
        "fuzz letters.wat --jobs 2 --runs 3000 --corpus disk/corpus".to_owned(),
    ];
    let mut script = "rm -rf .fozzy\n".to_owned();
    for command in &commands {
        script += &format!(
            "rm -rf disk/*; mkdir disk/there; echo mine > disk/there/mine.txt
             dd if=/dev/zero of=disk/filler bs=4k 2>/dev/null
             fozzy {command} >out 2>error; echo \"$? $(grep -c '^error: .*No space left' error) $(cd disk; echo $(find . -type f))\"\n"
        );
    }
    let Some(ran) = on_a_small_disk(&fozzy, &script) else { return };
    let out = ran.out();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines.len(), commands.len(), "{ran}");
    for (command, line) in commands.iter().zip(lines) {
        let (code, left) = line.split_at(4);
        assert_eq!(code, "2 1 ", "{command}: {line}");
        // The first input of a campaign is empty, and has room everywhere.
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let mut left: Vec<&str> = left.split(' ').filter(|name| !name.ends_with(empty)).collect();
        left.sort_unstable();
        assert_eq!(left, ["./filler", "./there/mine.txt"], "{command}");
    }
}

#[test]
fn a_lost_standard_output_is_an_error() {
    let fozzy = Fozzy::new();
    fozzy.shell("fozzy version > /dev/full").refuses(&["standard output", "No space left"]);
    fozzy.shell("fozzy --help > /dev/full").refuses(&["standard output"]);
    fozzy.write("tiny.wat", TINY);
    fozzy.shell("fozzy run tiny.wat --json > /dev/full").refuses(&["standard output"]);
    // Closed from the beginning: nobody wanted it.
    fozzy.shell("fozzy version >&-").exits(0);
}

#[test]
fn names_that_cannot_be_written_are_refused_before_the_run() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", TINY);
    let probe = corpus::probe(Target::Wasip2).display().to_string();
    let check = |record: &str, words: &[&str]| {
        // The program would print: that it did not shows that it was not run.
        fozzy.run(&["run", &probe, "--record", record, "--", "hello"]).refuses(words);
        only(&fozzy, &["tiny.wat"]);
    };
    check("nowhere/a.fozzy", &["no folder `nowhere`", "mkdir -p nowhere"]);
    check("tiny.wat/a.fozzy", &["`tiny.wat` is not a folder"]);
    check(".", &["expected the name of a trace file"]);
    check("a/", &["folder"]);
    check("/dev/full", &["expected the name of a trace file"]);
    check("/dev/null", &["expected the name of a trace file"]);
}

#[test]
fn a_read_only_folder_is_an_error() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", TINY);
    // Not even root creates files there.
    let ran = fozzy.run(&["run", "tiny.wat", "--record", "/proc/a.fozzy"]).exits(2);
    ran.has_one_error(&["cannot write `/proc/a.fozzy`"]);
    let wat = fozzy.path("tiny.wat").display().to_string();
    fozzy.run(&["run", &wat, "--cwd", "/proc"]).exits(2).has_one_error(&["cannot create `.fozzy/runs"]);
    // Root may write everywhere, unless these capabilities are taken from it; anybody else needs no help.
    let script = "mkdir locked && chmod 555 locked
        without=''
        if [ \"$(id -u)\" = 0 ]; then without='setpriv --bounding-set=-dac_override,-dac_read_search'; fi
        exec $without fozzy run tiny.wat --record locked/a.fozzy";
    fozzy.shell(script).refuses(&["cannot write `locked/a.fozzy`", "you may not create files in `locked`"]);
    assert_eq!(std::fs::read_dir(fozzy.path("locked")).expect("it was made").count(), 0);
    only(&fozzy, &["locked", "tiny.wat"]);
}

#[test]
fn a_cache_that_cannot_be_used_is_no_obstacle() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", TINY);
    fozzy.write("file", "in the way");
    fozzy.shell("FOZZY_CACHE_DIR=file/cache fozzy run tiny.wat").exits(0);
    fozzy.shell("FOZZY_CACHE_DIR=/proc/cache fozzy run tiny.wat").exits(0);
    // Every file of a cache damaged: compiled anew, not run as it is.
    fozzy.shell("FOZZY_CACHE_DIR=$PWD/cache fozzy run tiny.wat").exits(0);
    let damaged = fozzy.shell(
        "find cache -type f -exec sh -c 'printf x | dd of=\"$1\" bs=1 seek=2000 conv=notrunc 2>/dev/null' _ {} \\;
         FOZZY_CACHE_DIR=$PWD/cache fozzy run tiny.wat",
    );
    damaged.exits(0);
}

#[test]
fn two_processes_that_record_to_one_name_both_keep_their_run() {
    const PROCESSES: usize = 6;
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", TINY);
    fozzy.run(&["run", "tiny.wat"]).exits(0);
    let seeds: Vec<String> = (0..PROCESSES).map(|seed| seed.to_string()).collect();
    let start = |policy: &str, seed: &String| -> Child {
        fozzy.start(&["run", "tiny.wat", "--record", "a.fozzy", "--record-collision", policy, "--seed", seed])
    };
    let children: Vec<Child> = seeds.iter().map(|seed| start("append", seed)).collect();
    for child in children {
        Ran::of(&["run"], wait::output(child)).exits(0);
    }
    let mut names: Vec<String> = (1..PROCESSES).map(|number| format!("a.{number}.fozzy")).collect();
    names.extend(["a.fozzy".to_owned(), "tiny.wat".to_owned()]);
    assert_eq!(fozzy.names(), names);
    for name in names.iter().filter(|name| name.ends_with(".fozzy")) {
        assert!(verify(&fozzy.read(name)).ok, "{name}");
    }
    // Overwriting, one whole trace stays; refusing, one process wins.
    for (policy, losers) in [("overwrite", 0), ("error", PROCESSES - 1)] {
        if policy == "error" {
            std::fs::remove_file(fozzy.path("a.fozzy")).expect("it is there");
        }
        let children: Vec<Child> = seeds.iter().map(|seed| start(policy, seed)).collect();
        let codes: Vec<Option<i32>> =
            children.into_iter().map(|child| Ran::of(&["run"], wait::output(child)).code).collect();
        assert_eq!(codes.iter().filter(|code| **code == Some(2)).count(), losers, "{policy}: {codes:?}");
        assert!(verify(&fozzy.read("a.fozzy")).ok, "{policy}");
        assert_eq!(fozzy.names(), names, "{policy}");
    }
}

#[test]
fn the_run_store_is_bounded_and_can_be_cleaned() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", super::TINY);
    fozzy.write("fozzy.toml", "[store]\nruns = 2\nbytes = \"1 MiB\"\n");
    let runs = || fozzy.run(&["clean", "--dry-run", "--json"]).exits(0).json()["kept"].clone();
    for seed in ["1", "2", "3", "4"] {
        fozzy.run(&["run", "tiny.wat", "--seed", seed]).exits(0);
    }
    assert_eq!(runs(), 2);
    // As a process that was killed has left it.
    let left = ".fozzy/runs/1f3c0c5e-0000-4000-8000-000000000000";
    std::fs::create_dir(fozzy.path(left)).expect("a folder");
    let removed = fozzy.run(&["clean", "--runs", "1", "--json"]).exits(0).json();
    assert_eq!(removed["leftovers"], serde_json::json!([left]));
    assert_eq!((removed["runs"].as_array().map(Vec::len), &removed["kept"]), (Some(1), &1.into()));
    assert!(!fozzy.path(left).exists());
    fozzy.run(&["clean", "--all"]).exits(0);
    assert_eq!(runs(), 0);
}

#[test]
fn a_run_that_is_not_kept_leaves_nothing_behind() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", super::TINY);
    let run = |args: &[&str]| {
        let summary = fozzy.run(&[&["run", "tiny.wat", "--json"], args].concat()).exits(0).json();
        assert_eq!(summary["identity"].get("reportPath"), None, "{summary}");
    };
    run(&["--no-store"]);
    assert!(!fozzy.path(".fozzy").exists());
    run(&["--no-store", "--record", "run.fozzy"]);
    fozzy.run(&["replay", "run.fozzy", "--no-store"]).exits(0);
    assert_eq!(fozzy.names(), ["run.fozzy", "tiny.wat"]);
    assert!(!fozzy.path(".fozzy").exists());
    // Nothing can be made there by anybody.
    let tiny = fozzy.path("tiny.wat");
    let summary = fozzy.run(&["--cwd", "/sys", "run", &tiny.display().to_string(), "--json"]).exits(0).json();
    assert_eq!(summary["identity"].get("reportPath"), None, "{summary}");
}

#[test]
fn a_campaign_that_is_not_kept_has_its_verdict_and_leaves_nothing_behind() {
    let fozzy = Fozzy::new();
    let file = fozzy.write(
        "two.fozzy.json",
        r#"{"version": 1, "name": "two", "distributed": {"node_count": 2,
            "steps": [{"type": "client_put", "node": "n0", "key": "k", "value": "v"}],
            "invariants": [{"type": "kv_node_equals", "node": "n1", "key": "k", "equals": "other"}]}}"#,
    );
    std::fs::create_dir(fozzy.path("tmp")).expect("a folder");
    let left = || std::fs::read_dir(fozzy.path("tmp")).expect("it is there").count();
    let said = fozzy.shell("TMPDIR=$PWD/tmp fozzy explore two.fozzy.json --no-store").exits(1).err();
    assert!(said.contains("not kept (--no-store)") && !said.contains("replay it"), "{said}");
    assert!(!fozzy.path(".fozzy").exists());
    assert_eq!(left(), 0, "the folder of its traces went with it");
    // A folder that cannot be written to costs no verdict.
    let file = file.display().to_string();
    let summary = fozzy.run(&["--cwd", "/sys", "explore", &file, "--json"]).exits(1).json();
    assert_eq!(summary["status"], "fail", "{summary}");
}

#[test]
fn a_failure_of_a_campaign_before_is_said_to_be_known() {
    let fozzy = Fozzy::new();
    let letters = crate::fozzy::repository().join("tests/programs/letters.wat").display().to_string();
    let campaign = |more: &[&str]| {
        let args = ["fuzz", &letters, "--runs", "2000", "--seed", "3", "--json"];
        fozzy.run(&[&args[..], more].concat()).exits(4).json()["fuzz"]["findings"][0].clone()
    };
    let first = campaign(&["--no-store"]);
    assert_eq!((&first["known"], &first["tracePath"]), (&serde_json::Value::Null, &"".into()), "{first:#}");
    let second = campaign(&[]);
    assert_eq!(second["known"], serde_json::Value::Null, "what was not kept is not remembered: {second:#}");
    assert_eq!(campaign(&[])["known"], second["tracePath"]);
    // A list that is damaged is no list.
    fozzy.write(".fozzy/findings/letters.wat.LLVMFuzzerTestOneInput.json", "[");
    assert_eq!(campaign(&[])["known"], serde_json::Value::Null);
}
