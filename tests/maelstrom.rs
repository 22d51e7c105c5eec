//! Clusters of nodes that speak the Maelstrom protocol.
//!
//! ```text
//! scenarios/maelstrom-node ─┬─ as it is         its faults are found, recorded, and shrunk to what they need
//!                           └─ feature `fixed`  passes under the same
//! scenarios/maelstrom-go, scenarios/maelstrom-c   the same, in languages with and without a scheduler of their own
//! guests/odd-node           ─── each way to break the protocol is told by its own words
//! ```

use crate::corpus;
use crate::fozzy::{Fozzy, Ran};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// A test of a workload by a program that is in the folder.
fn test(fozzy: &Fozzy, program: &str, words: &str) -> Ran {
    let line = format!("maelstrom test --bin {program} -w {words}");
    fozzy.run(&line.split(' ').collect::<Vec<_>>())
}

fn with_node(is_fixed: bool) -> Fozzy {
    let fozzy = Fozzy::new();
    fs::copy(corpus::scenario("maelstrom-node", is_fixed), fozzy.path("node.wasm")).expect("it is built");
    fozzy
}

const PARTITIONED: &str = "broadcast --node-count 3 --time-limit 12 --rate 10 --nemesis partition --nemesis-interval 4";

#[test]
fn a_test_is_recorded_and_replayed_without_its_program() {
    let fozzy = with_node(true);
    let words = "echo --node-count 2 --time-limit 5 --latency 10 --seed 7 --json --record";
    let first = test(&fozzy, "node.wasm", &format!("{words} first.fozzy")).exits(0).json();
    test(&fozzy, "node.wasm", &format!("{words} second.fozzy")).exits(0);
    assert!(fozzy.read("first.fozzy") == fozzy.read("second.fozzy"), "two tests with one seed, two traces");
    assert_eq!(first["results"]["valid?"], true);
    assert_eq!(first["results"]["stats"]["by-f"]["echo"]["ok-count"], 25, "{first}");
    assert_eq!(first["results"]["net"]["servers"]["send-count"], 0);
    fs::remove_file(fozzy.path("node.wasm")).expect("it was copied");
    let replayed = fozzy.run(&["replay", "first.fozzy", "--json"]).exits(0).json();
    assert_eq!(replayed["replay"]["equal"], true, "{replayed}");
}

#[test]
fn the_planted_faults_are_found_and_shrunk() {
    let fozzy = with_node(false);
    let ids = test(&fozzy, "node.wasm", "unique-ids --node-count 3 --time-limit 5 --json").exits(1).json();
    assert_eq!(ids["run"]["findings"][0]["title"], "unique-ids: 1 was generated twice", "{ids}");
    let swept = test(&fozzy, "node.wasm", &format!("{PARTITIONED} --seeds 1..20 --until-failure --record lost.fozzy"));
    assert!(swept.exits(1).err().contains("was known to be in the set, and a final read misses it"));
    for (words, said) in [
        ("lin-kv --concurrency 4n --rate 30 --latency 20", "linearizable cas-register: "),
        ("txn-list-append --rate 30 --latency 20", "isolation strict-serializable: "),
        ("kafka --rate 20 --latency 20", "kafka: "),
        ("unique-ids --nemesis kill --node-count 1 --concurrency 8 --rate 20", "unique-ids: 1 was generated twice"),
        (
            "txn-rw-register --rate 30 --latency 20 --consistency-models snapshot-isolation",
            "isolation snapshot-isolation: ",
        ),
    ] {
        let count = if words.contains("--node-count") { "--nemesis-interval 1" } else { "--node-count 2" };
        let words = format!("{words} {count} --time-limit 5 --seeds 1..20 --until-failure");
        let swept = test(&fozzy, "node.wasm", &words).exits(1);
        assert!(swept.err().contains(said), "{words}: {}", swept.err());
    }
    // Transactions that leave what they have written when they are given up.
    let words = "txn-list-append --node-count 2 --concurrency 4n --rate 30 --latency 20 --time-limit 5";
    let words = format!("{words} --consistency-models read-committed --seeds 1..20 --until-failure -- keywise");
    let swept = test(&fozzy, "node.wasm", &words).exits(1);
    assert!(swept.err().contains("isolation read-committed: "), "{}", swept.err());
    let shrunk = fozzy.run(&["shrink", "lost.fozzy", "--out", "small.fozzy", "--json"]).exits(1).json();
    let flows = shrunk["scenario"]["flows"].as_array().cloned().unwrap_or_default();
    let run: u64 = flows.iter().filter_map(|flow| flow["run"].as_u64()).sum();
    assert!((2..=4).contains(&run), "a partition, a broadcast, and little else: {shrunk}");
    let machines = |when: &str| shrunk["shrink"][when]["machines"].as_u64();
    assert_eq!(
        (machines("before"), machines("after")),
        (Some(3), Some(2)),
        "one that tells, one that is not told: {shrunk}"
    );
    let messages = fozzy.run(&["trace", "show", "small.fozzy", "--messages"]).exits(0).out();
    assert!(
        messages.contains("\"node_ids\":[\"n0\",\"n1\"]") && !messages.contains("c4"),
        "two clients beside those of init: {messages}"
    );
}

/// Who reads from a node that nobody writes to sees nothing of what that node does with its own writes.
#[test]
fn clients_of_registers_ask_each_node_for_reads_and_for_writes() {
    let fozzy = with_node(true);
    for (count, readers, writers) in [("1n", 0..0, 0..0), ("2n", 0..3, 3..6), ("3n", 0..3, 3..6)] {
        let words = "lin-kv --node-count 3 --time-limit 5 --rate 40 --concurrency";
        test(&fozzy, "node.wasm", &format!("{words} {count} --out {count}")).exits(0);
        let history = String::from_utf8(fozzy.read(&format!("{count}/history.txt"))).expect("text");
        let mut seen = [BTreeSet::new(), BTreeSet::new()];
        for line in history.lines() {
            let mut columns = line.split('\t');
            let (process, function) = (columns.next().expect("a process"), columns.nth(1).expect("a function"));
            seen[usize::from(function != ":read")].insert(process.parse::<u32>().expect("a number"));
        }
        let clients = 3 * count[..1].parse::<u32>().expect("a digit");
        let but = |others: Range<u32>| -> BTreeSet<u32> {
            (0..clients).filter(|process| !others.contains(process)).collect()
        };
        assert_eq!(seen, [but(writers), but(readers)], "{count}: {history}");
    }
}

#[test]
fn files_of_nodes_are_damaged() {
    let fozzy = Fozzy::new();
    fs::copy(corpus::odd_node(), fozzy.path("odd.wasm")).expect("it is built");
    let words =
        "echo --node-count 1 --time-limit 20 --rate 2 --nemesis disk --nemesis-interval 8 --record torn.fozzy --json";
    let document = test(&fozzy, "odd.wasm", &format!("{words} -- stored")).exits(1).json();
    let found = document["run"]["findings"][0]["title"].as_str().unwrap_or_default().to_owned();
    assert!(found.contains("and \"damaged\" came back"), "{document}");
    let flows = document["run"]["scenario"]["flows"].as_array().cloned().unwrap_or_default();
    let run =
        |name: &str| flows.iter().find(|flow| flow["name"] == name).map_or(0, |flow| flow["run"].as_u64().unwrap_or(0));
    assert!(run("file-flip") + run("file-lost") + run("file-torn") + run("file-misdirect") + run("file-truncate") > 0);
    let messages = fozzy.run(&["trace", "show", "torn.fozzy", "--messages"]).exits(0).out();
    assert!(messages.contains("! file-") && messages.contains("n0:/"), "{messages}");
    assert_eq!(fozzy.run(&["replay", "torn.fozzy", "--json"]).exits(1).json()["replay"]["equal"], true);
    let named = test(&fozzy, "odd.wasm", "echo --node-count 1 --time-limit 5 --nemesis file-lost --nemesis-interval 1");
    assert!(named.exits(0).err().contains("file-lost"));
}

#[test]
fn mended_nodes_pass_under_partitions_losses_and_latencies() {
    let fozzy = with_node(true);
    for words in [PARTITIONED, "g-set --p-loss 0.2 --rate 10 --time-limit 5", "unique-ids --rate 50 --time-limit 2"] {
        let words = format!("{words} --latency 20 --latency-dist exponential --seeds 1..4");
        test(&fozzy, "node.wasm", &words).exits(0);
    }
    for workload in ["lin-kv --concurrency 4n", "txn-list-append", "txn-rw-register --latency 3"] {
        let words = format!("{workload} --node-count 2 --rate 20 --time-limit 4 --seeds 1..3");
        test(&fozzy, "node.wasm", &words).exits(0);
    }
    let words = "pn-counter --node-count 3 --rate 10 --time-limit 8 --nemesis partition --availability total --out out";
    test(&fozzy, "node.wasm", &format!("{words} -- counter")).exits(0);
    let results = String::from_utf8(fozzy.read("out/results.edn")).expect("text");
    assert!(results.contains(":workload {:valid? true"), "{results}");
    let history = String::from_utf8(fozzy.read("out/history.edn")).expect("text");
    assert!(history.contains(":f :read") && history.contains(":final? true"), "{history}");
    let checked = fozzy.run(&["check", "out/history.edn", "--checker", "pn-counter", "--json"]).exits(0).json();
    assert_eq!(checked["validity"], "valid", "{checked}");
}

#[test]
fn mended_nodes_pass_whatever_goes_wrong() {
    let fozzy = with_node(true);
    for (workload, faults) in [
        ("lin-kv", "power-loss,one-way,slow,jam,partition"),
        ("kafka", "power-loss,one-way,slow,jam,partition"),
        ("unique-ids --partition-at send", "kill,loss,clock,drift"),
        ("unique-ids", "pause,duplicate,reorder,delay"),
        ("broadcast", "swizzle,slow-node"),
    ] {
        let words = format!("{workload} --concurrency 4n --node-count 3 --rate 20 --time-limit 12 --latency 5");
        let words = format!("{words} --nemesis {faults} --nemesis-interval 3");
        test(&fozzy, "node.wasm", &format!("{words} --seeds 1..2")).exits(0);
        let ran = test(&fozzy, "node.wasm", &format!("{words} --seed 1 --json --record a.fozzy")).exits(0).json();
        let flows = ran["run"]["scenario"]["flows"].as_array().cloned().unwrap_or_default();
        let has_run = |name: &&str| flows.iter().any(|flow| flow["name"] == *name && flow["run"].as_u64() > Some(0));
        assert!(faults.split(',').filter(has_run).count() > 1, "{flows:?}");
        let replayed = fozzy.run(&["replay", "a.fozzy", "--json"]).exits(0).json();
        assert_eq!(replayed["replay"]["equal"], true, "{workload}");
        fs::remove_file(fozzy.path("a.fozzy")).expect("it was written");
    }
}

#[test]
fn only_named_nodes_are_hit() {
    let fozzy = with_node(true);
    let words = "echo --node-count 3 --time-limit 20 --nemesis pause,kill --nemesis-interval 2 --nemesis-targets n1,n2";
    test(&fozzy, "node.wasm", &format!("{words} --record named.fozzy")).exits(0);
    let calls = fozzy.run(&["trace", "show", "named.fozzy"]).exits(0).out();
    let orders: Vec<&str> = calls.lines().filter(|line| line.contains("!pause") || line.contains("!kill")).collect();
    assert!(orders.len() > 2 && !orders.iter().any(|line| line.contains("n0")), "{orders:#?}");
    // Messages that neither come from such a node nor go to one are not struck.
    let words =
        "broadcast --node-count 3 --topology total --time-limit 10 --rate 10 --nemesis loss --nemesis-interval 1";
    let lost_of_others = |targets: &str| {
        test(&fozzy, "node.wasm", &format!("{words}{targets} --record lost.fozzy --record-collision overwrite"))
            .exits(0);
        let shown = fozzy.run(&["trace", "show", "lost.fozzy", "--messages"]).exits(0).out();
        let lost: Vec<&str> =
            shown.lines().filter(|line| line.contains("-> ") && line.contains("not received")).collect();
        assert!(!lost.is_empty(), "{shown}");
        let of_others = lost.iter().filter(|line| !line.contains("n2 ")).count();
        (of_others, shown)
    };
    let (of_all, shown) = lost_of_others("");
    assert!(of_all > 0 && !shown.contains("from and to"), "{shown}");
    let (of_others, shown) = lost_of_others(" --nemesis-targets n2");
    assert!(of_others == 0 && shown.contains(" of 100, from and to n2"), "{shown}");
}

#[test]
fn output_has_a_limit_that_a_flag_moves() {
    let fozzy = with_node(true);
    let words = "echo --node-count 1 --time-limit 2 --output-limit";
    let beyond = test(&fozzy, "node.wasm", &format!("{words} 1B")).exits(1).err();
    assert!(beyond.contains("more than 1 bytes: --output-limit allows more"), "{beyond}");
    test(&fozzy, "node.wasm", &format!("{words} 1MiB")).exits(0);
}

#[test]
fn goals_are_judged_and_messages_are_drawn() {
    let fozzy = with_node(true);
    let words = "broadcast --node-count 3 --time-limit 4 --rate 5 --latency 10 --json --out out --goal";
    let met = test(&fozzy, "node.wasm", &format!("{words} msgs-per-op<100,max<2s")).exits(0).json();
    assert_eq!(met["results"]["goals"][1]["is-met"], true, "{met}");
    let missed = test(&fozzy, "node.wasm", &format!("{words} msgs-per-op<0.5,median<400ms --record missed.fozzy"));
    let missed = missed.exits(1).json();
    assert_eq!((&missed["results"]["valid?"], &missed["run"]["status"]), (&false.into(), &"fail".into()), "{missed}");
    let title = missed["run"]["findings"][0]["title"].as_str().expect("a title");
    assert!(title.contains("msgs-per-op<0.5 is missed"), "{title}");
    let replayed = fozzy.run(&["replay", "missed.fozzy", "--json"]).exits(1).json();
    assert_eq!(replayed["goals"], missed["results"]["goals"], "{replayed}");
    assert_eq!(replayed["goals"][0]["is-met"], false, "{replayed}");
    let told = fozzy.run(&["replay", "missed.fozzy"]).exits(1).err();
    assert!(told.contains("  goal      msgs-per-op<0.5: missed, "), "{told}");
    assert!(told.contains("  goal      median<400ms: "), "{told}");
    let slow = test(
        &fozzy,
        "node.wasm",
        "broadcast --node-count 3 --time-limit 4 --rate 5 --latency 10 --goal max>5s --seeds 1..2",
    )
    .exits(1)
    .err();
    assert!(slow.contains("set-full max>5000ms: max>5000ms is missed: the stable latency is "), "{slow}");
    let none = test(&fozzy, "node.wasm", "echo --goal max<1ms").exits(2).err();
    assert!(none.contains("--goal: max<1ms is of broadcast and g-set; echo has no stable latencies"), "{none}");
    let text = |name: &str| String::from_utf8(fozzy.read(name)).expect("text");
    assert!(text("out/messages.svg").contains("from n0 to n1: gossip"));
    assert!(text("out/history.txt").contains("\t:invoke\t:broadcast\t0\n"), "{}", text("out/history.txt"));
    let shown = test(&fozzy, "node.wasm", "echo --node-count 1 --time-limit 2 --log-net-send --log-net-recv").exits(0);
    assert!(shown.err().contains("recv  message 1: n0 -> c0  init_ok"), "{}", shown.err());
}

/// Faults of a node that is built in another language are found, and it passes without them.
fn planted_and_mended(planted: &Path, mended: &Path, cases: &[(&str, &str)]) {
    let fozzy = Fozzy::new();
    fs::copy(planted, fozzy.path("planted.wasm")).expect("it is built");
    fs::copy(mended, fozzy.path("mended.wasm")).expect("it is built");
    for (words, said) in cases {
        let words = format!("{words} --node-count 3 --time-limit 5 --rate 20");
        let swept = test(&fozzy, "planted.wasm", &format!("{words} --seeds 1..20 --until-failure")).exits(1);
        assert!(swept.err().contains(said), "{words}: {}", swept.err());
        test(&fozzy, "mended.wasm", &format!("{words} --seed 1")).exits(0);
    }
}

#[test]
fn nodes_in_go_have_their_goroutines_and_timers() {
    let cases = [
        ("broadcast --nemesis partition --nemesis-interval 2", "a final read misses it"),
        ("g-counter --latency 10", "g-counter: "),
    ];
    planted_and_mended(&corpus::node_in_go(false), &corpus::node_in_go(true), &cases);
}

#[test]
fn the_raft_of_etcd_holds_under_losses_of_power_and_what_is_planted_into_its_use_is_found() {
    let fozzy = Fozzy::new();
    fs::copy(corpus::raft_in_go(), fozzy.path("raft.wasm")).expect("it is built");
    let words = "lin-kv --node-count 3 --time-limit 30 --rate 20 --concurrency 2n --nemesis kill,power-loss,partition";
    let words = format!("{words} --nemesis-interval 3");
    test(&fozzy, "raft.wasm", &format!("{words} --seeds 1..5")).exits(0);
    for planted in ["stale-read --seeds 36..56", "no-fsync --seeds 1..20"] {
        let (planted, seeds) = planted.split_once(' ').expect("two words");
        let swept = test(&fozzy, "raft.wasm", &format!("{words} {seeds} --until-failure -- {planted}"));
        let said = ["linearizable cas-register: ", "is out of range [lastIndex("];
        assert!(said.iter().any(|said| swept.err().contains(said)), "{planted}: {}", swept.err());
    }
}

#[test]
fn nodes_in_c_have_a_header() {
    let cases = [
        ("unique-ids --nemesis kill --nemesis-interval 1", "was generated twice"),
        ("g-set --nemesis partition --nemesis-interval 2", "a final read misses it"),
        ("lin-kv --concurrency 4n --latency 30", "linearizable cas-register: "),
    ];
    planted_and_mended(&corpus::node_in_c(false), &corpus::node_in_c(true), &cases);
}

#[test]
fn folders_of_go_and_of_make_are_built() {
    let fozzy = Fozzy::new();
    for folder in ["made", "go", "bin"] {
        fs::create_dir(fozzy.path(folder)).expect("writable");
    }
    fozzy.write("made/Makefile", "node.wasm:\n\tcp ../node.wasm $@\n");
    fs::copy(corpus::scenario("maelstrom-node", true), fozzy.path("node.wasm")).expect("it is built");
    test(&fozzy, "made", "echo --node-count 1 --time-limit 2").exits(0);
    fs::copy(fozzy.path("node.wasm"), fozzy.path("made/other.wasm")).expect("writable");
    let several = test(&fozzy, "made", "echo --node-count 1").exits(2);
    assert!(several.err().contains("has several .wasm files"), "{}", several.err());
    fozzy.write("go/go.mod", "module go\n");
    fozzy.write("go/main.go", "package main\n");
    let line = "PATH=bin:$PATH fozzy maelstrom test -w echo --bin go --node-count 1 --time-limit 2";
    fozzy.write("bin/go", "#!/bin/sh\necho $GOOS $GOARCH $* > said && cp ../node.wasm go.wasm\n");
    fozzy.shell(&format!("chmod +x bin/go && PATH=$PWD/bin:$PATH && {}", &line["PATH=bin:$PATH ".len()..])).exits(0);
    let said = String::from_utf8(fozzy.read("go/said")).expect("text");
    assert_eq!(said, "wasip1 wasm build -buildvcs=false -o go.wasm .\n");
}

#[test]
fn an_exploration_of_a_recorded_test_finds_what_its_seed_does_not() {
    let fozzy = with_node(false);
    let words = "broadcast --node-count 3 --time-limit 4 --rate 5 --nemesis partition --nemesis-interval 2 --seed 1";
    test(&fozzy, "node.wasm", &format!("{words} --record passing.fozzy")).exits(0);
    let explored =
        fozzy.run(&["explore", "passing.fozzy", "--runs", "40", "--stop", "failure", "--no-shrink", "--json"]).exits(1);
    let document = explored.json();
    let title = document["findings"][0]["title"].as_str().unwrap_or_default();
    assert!(title.contains("a final read misses it"), "{document}");
}

#[test]
fn a_test_is_one_page_and_its_messages_are_lines() {
    let fozzy = with_node(true);
    let words = "g-set --node-count 3 --time-limit 3 --rate 4 --latency 10 --nemesis kill --nemesis-interval 1";
    let words = format!("{words} --html page.html --record run.fozzy");
    test(&fozzy, "node.wasm", &words).exits(0);
    let page = String::from_utf8(fozzy.read("page.html")).expect("text");
    for part in ["data-playback", "default-src 'none'", "\"label\":\"gossip\"", "Latencies and rates", "VALID"] {
        assert!(page.contains(part), "{part}");
    }
    let lines = fozzy.run(&["trace", "show", "run.fozzy", "--messages"]).exits(0).out();
    for part in ["n0 -> n1", "gossip, received after 10.", "process 0 begins", "! kill", "! end of kill"] {
        assert!(lines.contains(part), "{part}\n{lines}");
    }
}

#[test]
fn a_test_without_operations_lets_time_pass() {
    let fozzy = with_node(true);
    let document = test(&fozzy, "node.wasm", "echo --node-count 1 --rate 0 --time-limit 3 --json").exits(0).json();
    let results = &document["results"];
    assert_eq!((&results["stats"]["count"], &results["perf"]["valid?"]), (&0.into(), &true.into()), "{document}");
    assert!(results["virtual-seconds"].as_f64().is_some_and(|seconds| (2.9..4.0).contains(&seconds)), "{document}");
}

#[test]
fn what_breaks_the_protocol_is_told() {
    let fozzy = Fozzy::new();
    fs::copy(corpus::odd_node(), fozzy.path("odd.wasm")).expect("it is built");
    let malformed = "malformed echo_ok: `echo` is missing\nrequest message 2: {\"type\":\"echo\",\"echo\":\"Please echo 62\",\"msg_id\":1}\n\
                     reply message 3: {\"type\":\"echo_ok\",\"text\":\"a\",\"in_reply_to\":1}\nexpected {\"type\":\"echo_ok\",\"echo\":any value";
    for (how, code, said) in [
        ("plain", 0, ""),
        ("nobody", 0, ""),
        ("early", 0, ""),
        ("huge -w unique-ids", 0, ""),
        (
            "empty -w txn-list-append",
            1,
            "n0 answers c1 with a malformed txn_ok: `txn` has another number of operations: 0 instead of 2",
        ),
        ("stray", 1, "malformed echo_ok: `in_reply_to` is missing"),
        ("named", 1, "malformed echo_ok: `in_reply_to` is not the integer of a request"),
        ("flood", 1, "n0 has printed 50001 messages within a second"),
        ("malformed", 1, malformed),
        ("surplus", 1, "`more` is no key of echo_ok"),
        ("other", 1, "\"Please echo 62\" was sent, and \"other\" came back"),
        ("rubbish", 1, "n0 printed a line that is no message"),
        ("nothing", 1, "n0 printed a line that is no message: invalid type: null, expected an object"),
        ("latin", 1, "n0 printed a line that is no message: it is not UTF-8"),
        ("long", 1, "n0 answers c1 with 1100002 bytes; at most 1048576 can be kept of a value"),
        ("forged", 1, "`src` is not n0, the node that has printed it"),
        ("loud", 1, "n0 printed a line that is no message"),
        ("silent", 1, "stats: none of 1 completions of echo is ok"),
        ("refuse", 1, "stats: none of 10 completions of echo is ok"),
        ("uninitialized", 1, "n0 does not answer {\"type\":\"init\""),
        ("exit", 1, "node `n0`: the program exited with code 3"),
        ("panic", 4, "node `n0`: panic at"),
    ] {
        let (how, workload) = how.split_once(" -w ").unwrap_or((how, "echo"));
        let words = format!("{workload} --node-count 1 --time-limit 5 --rate 2 --json -- {how}");
        let document = test(&fozzy, "odd.wasm", &words).exits(code).json();
        assert_eq!(document["results"]["findings"][0], document["run"]["findings"][0]["title"], "{how}");
        let message = |finding: &Value| format!("{} {}", finding["title"], finding["message"]);
        let findings: Vec<String> = document["run"]["findings"].as_array().into_iter().flatten().map(message).collect();
        let words =
            |text: &str| text.replace("\\n", " ").replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&findings.join("\n")).contains(&words(said)), "{how}: {findings:?}");
    }
}

#[test]
fn a_node_that_starts_again_answers_init_again() {
    let fozzy = Fozzy::new();
    fs::copy(corpus::odd_node(), fozzy.path("odd.wasm")).expect("it is built");
    for (faults, how, said) in [
        ("kill", "plain", None),
        ("kill,pause", "plain", None),
        (
            "kill",
            "once",
            Some(
                "n0 does not answer {\"type\":\"init\",\"node_id\":\"n0\",\"node_ids\":[\"n0\"],\"msg_id\":1} after a restart with init_ok: timeout",
            ),
        ),
        ("power-loss", "otherwise", Some("after a restart with a malformed init_ok: `type` is \"hello\"")),
    ] {
        let words = format!(
            "echo --node-count 1 --time-limit 40 --rate 2 --nemesis {faults} --nemesis-interval 4 --json -- {how}"
        );
        let document = test(&fozzy, "odd.wasm", &words).exits(i32::from(said.is_some())).json();
        let flows = document["run"]["scenario"]["flows"].as_array().cloned().unwrap_or_default();
        let ends = ["start", "power is back"];
        let is_end = |flow: &&Value| ends.iter().any(|end| flow["name"] == *end) && flow["run"].as_u64() > Some(0);
        assert!(flows.iter().any(|flow| is_end(&flow)), "{flows:?}");
        let found = document["run"]["findings"][0]["message"].as_str().unwrap_or_default();
        assert!(said.is_none_or(|said| found.contains(said)), "{faults} {how}: {found}");
    }
}

/// A node that was started while it stands still answers `init` when it goes on, which is after the time of the test here.
#[test]
fn a_test_ends_whose_node_was_started_while_it_stands_still() {
    let fozzy = with_node(true);
    let words = "echo --node-count 1 --time-limit 20 --rate 4 --nemesis kill,pause --nemesis-interval 2 --seed 8";
    let document = test(&fozzy, "node.wasm", &format!("{words} --fuel 1000000000 --json")).exits(0).json();
    let flows = document["run"]["scenario"]["flows"].as_array().cloned().unwrap_or_default();
    let run =
        |name: &str| flows.iter().find(|flow| flow["name"] == name).map_or(0, |flow| flow["run"].as_u64().unwrap_or(0));
    let stands_still = run("pause") > run("resume") && run("kill") == run("start") && run("start") > 0;
    assert!(stands_still, "another seed is needed, which ends with a start during a pause: {flows:?}");
    let seconds = document["results"]["virtual-seconds"].as_f64();
    assert!(seconds.is_some_and(|seconds| (19.9..40.0).contains(&seconds)), "{seconds:?}");
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let fozzy = Fozzy::new();
    for (words, said) in [
        ("echo --nodes n1,c1", "is no name for a node"),
        ("echo --nodes n1,n1", "two of the nodes are called `n1`"),
        ("echo --nodes n1,lin-kv", "`lin-kv` is no name for a node: a service has it"),
        ("echo --rate=-1", "--rate: expected a number, 0 or above"),
        ("txn-rw-register --consistency-models=", "--consistency-models: expected names of levels"),
        (
            "echo --node-count 1 --nemesis kill,one-way",
            "--nemesis one-way parts nodes from each other; expected two nodes at least",
        ),
        ("echo --node-count 0", "expected 1 to 500 nodes"),
        ("echo --concurrency 2x", "--concurrency: expected a number"),
        ("echo --concurrency 0", "expected 1 to 10000 clients"),
        ("echo --rate 1000000", "at most 1000000 are possible"),
        ("echo --p-loss 2", "--p-loss: expected a share from 0 to 1"),
        ("echo --availability most", "--availability: expected `total`"),
        ("txn-list-append --consistency-models strict", "--consistency-models: there is no isolation level `strict`"),
        (
            "echo --nemesis membership",
            "--nemesis membership: `init` names all nodes of a test, and none joins or leaves",
        ),
        ("echo --nemesis earthquake", "there is no `earthquake`, only partition, one-way"),
        ("echo --nemesis kill --nemesis-targets n1,n9", "--nemesis-targets: no node is called `n9`; did you mean `n"),
        ("echo --nemesis kill,one-way --nemesis-targets n1", "`one-way` needs two nodes at least, and one is named"),
        ("echo --goal speed<3", "expected a goal such as msgs-per-op<30"),
        ("echo --time-limit 0", "--time-limit: expected a number above 0"),
        ("mutex", "invalid value 'mutex'"),
        ("echo", "cannot read node.wasm"),
    ] {
        let ran = test(&fozzy, "node.wasm", words).exits(2);
        assert!(ran.err().contains(said), "{words}: {}", ran.err());
    }
}
