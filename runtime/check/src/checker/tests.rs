//! The smallest passing and failing history of each checker, and its edges.

use super::*;

/// Calls as `function asked kind answered`, each process for itself, one after the other.
fn history(calls: &[&str]) -> OperationHistory {
    let mut text = String::new();
    for (process, call) in calls.iter().enumerate() {
        let mut parts = call.splitn(4, ' ');
        let mut part = || parts.next().unwrap_or("nil");
        let (function, asked, kind, answered) = (part(), part(), part(), part());
        // `read!` is a final one.
        let (function, mark) = function.strip_suffix('!').map_or((function, ""), |name| (name, ", :final? true"));
        text += &format!("{{:type :invoke, :process {process}, :f :{function}, :value {asked}{mark}}}\n");
        text += &format!("{{:type :{kind}, :process {process}, :f :{function}, :value {answered}{mark}}}\n");
    }
    OperationHistory::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn verdict(name: &str, calls: &[&str]) -> CheckerVerdict {
    check_property(&history(calls), checker(name).expect("a checker")).expect("a verdict")
}

fn kinds(verdict: &CheckerVerdict) -> Vec<&str> {
    verdict.anomalies.iter().map(|one| one.kind).collect()
}

#[test]
fn each_checker_has_a_smallest_passing_and_failing_history() {
    type Case<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [&'a str]);
    let cases: &[Case<'_>] = &[
        (
            "causal-reverse",
            &["write 1 ok 1", "write 2 ok 2", "read nil ok [1]", "read nil ok [2,1]"],
            &["write 1 ok 1", "write 2 ok 2", "read nil ok [2]"],
            &["missing"],
        ),
        (
            "causal",
            &["read-init nil ok 0", "write 1 ok 1", "read nil ok 1"],
            &["write 1 ok 1", "read nil ok 0", "write 3 ok 3"],
            &["stale-read", "out-of-order-write"],
        ),
        (
            "kafka",
            &[
                "send [[:send,k,1]] ok [[:send,k,[0,1]]]",
                "send [[:send,k,2]] info [[:send,k,2]]",
                "send [[:send,k,3]] ok [[:send,k,[5,3]]]",
                "poll [[:poll]] ok [[:poll,{k,[[0,1],[4,2],[5,3]]}]]",
            ],
            &[
                "send [[:send,k,1]] ok [[:send,k,[0,1]]]",
                "send [[:send,k,2]] ok [[:send,k,[1,2]]]",
                "send [[:send,k,3]] fail [[:send,k,3]]",
                "send [[:send,k,6]] ok [[:send,k,[7,6]]]",
                "poll [[:poll]] ok [[:poll,{k,[[0,1],[4,3]]}]]",
                "poll [[:poll]] ok [[:poll,{k,[[4,9],[0,1]]}]]",
                "poll [[:poll]] ok [[:poll,{k,[[6,1]]}]]",
            ],
            &[
                "inconsistent-offsets",
                "duplicate",
                "G1a",
                "unsent",
                "lost-write",
                "unseen",
                "int-poll-skip",
                "int-nonmonotonic-poll",
            ],
        ),
        (
            "kafka",
            &["txn [[:send,k,1],[:poll]] ok [[:send,k,[0,1]],[:poll,{}]]", "poll [[:poll]] ok [[:poll,{k,[[0,1]]}]]"],
            &[
                "txn [[:send,a,1],[:poll]] ok [[:send,a,[0,1]],[:poll,{b,[[0,2]]}]]",
                "txn [[:send,b,2],[:poll]] ok [[:send,b,[0,2]],[:poll,{a,[[0,1]],b,[[0,2]]}]]",
            ],
            &["precommitted-read", "G1c"],
        ),
        ("stats", &["read nil ok 1", "read nil fail nil"], &["read nil ok 1", "write,1 fail nil"], &["no-success"]),
        (
            "set",
            &["add 1 ok 1", "add 2 info nil", "add 3 fail 3", "read nil ok #{1,2}"],
            &["add 1 ok 1", "read nil ok [4]"],
            &["lost", "unexpected"],
        ),
        (
            "set-full",
            &["read nil ok []", "add 1 ok 1", "read nil ok [1]"],
            &["add 1 ok 1", "read nil ok [1]", "read nil ok []"],
            &["lost", "none-stable"],
        ),
        (
            "set-full",
            &["add 1 info nil", "read nil ok [1]", "read nil ok [1]"],
            &["add 1 ok 1", "read nil ok [1,1,2]"],
            &["duplicated", "unexpected"],
        ),
        (
            "queue",
            &["enqueue 1 info nil", "dequeue nil ok 1"],
            &["enqueue 1 fail nil", "dequeue nil ok 1"],
            &["unexpected"],
        ),
        (
            "total-queue",
            &["enqueue 1 ok 1", "enqueue 2 info nil", "drain nil ok [1,2]"],
            &["enqueue 1 ok 1", "dequeue nil ok 3"],
            &["lost", "unexpected"],
        ),
        (
            "unique-ids",
            &["generate nil ok 1", "generate nil ok \"1\"", "generate nil fail 1"],
            &["generate nil ok [1]", "generate nil ok [1]"],
            &["duplicated"],
        ),
        (
            "counter",
            &["add 1 ok 1", "add 2 info nil", "add 9 fail 9", "read nil ok 3"],
            &["add 1 ok 1", "read nil ok 0"],
            &["out-of-bounds"],
        ),
        (
            "g-counter",
            &["add 5 ok 5", "add 2 info nil", "read nil ok 9", "read! nil ok 7", "read! nil ok 5"],
            &["add 5 ok 5", "add 2 info nil", "read! nil ok 6"],
            &["impossible"],
        ),
        (
            "pn-counter",
            &["add 5 ok 5", "add -2 info nil", "read nil ok 9", "read! nil ok 3", "read! nil ok 5"],
            &["add 5 ok 5", "add -2 info nil", "read! nil ok 4"],
            &["impossible"],
        ),
        (
            "bank",
            &["read nil ok {0,60,1,40}", "read nil ok {0,55,1,45}"],
            &["read nil ok {0,60,1,40}", "read nil ok {0,-5,1,nil,2,45}"],
            &["negative-value", "nil-balance", "unexpected-key", "wrong-total"],
        ),
        (
            "long-fork",
            &["write [[:w,1,1]] ok [[:w,1,1]]", "read [[:r,1,nil],[:r,2,nil]] ok [[:r,1,1],[:r,2,nil]]"],
            &[
                "read [[:r,1,nil],[:r,2,nil]] ok [[:r,1,1],[:r,2,nil]]",
                "read [[:r,1,nil],[:r,2,nil]] ok [[:r,1,nil],[:r,2,1]]",
            ],
            &["fork"],
        ),
        (
            "adya-g2",
            &["insert [1,[10,nil]] ok nil", "insert [1,[nil,11]] fail nil"],
            &["insert [1,[10,nil]] ok nil", "insert [1,[nil,11]] ok nil"],
            &["g2"],
        ),
    ];
    for (name, passing, failing, expected) in cases {
        let failing: Vec<String> = failing.iter().map(|call| call.replace("write,1", "write 1")).collect();
        let failing: Vec<&str> = failing.iter().map(String::as_str).collect();
        let passed = verdict(name, passing);
        assert_eq!(passed.validity, Validity::Valid, "{name}: {passed:?}");
        let failed = verdict(name, &failing);
        assert_eq!((failed.validity, kinds(&failed).as_slice()), (Validity::Invalid, *expected), "{name}: {failed:?}");
    }
    let elsewhere = ["availability", "unhandled-exceptions", "monotonic"];
    for row in CHECKERS {
        assert!(elsewhere.contains(&row.name) || cases.iter().any(|(name, ..)| *name == row.name), "{}", row.name);
    }
}

#[test]
fn a_bank_is_held_to_the_accounts_and_the_total_that_are_given() {
    let check = |total: Option<i64>, accounts: Option<&[&str]>, reads: &[&str], expected: &[&str]| {
        let accounts = accounts.map(|all| all.iter().map(|name| (*name).to_owned()).collect());
        let options = CheckerOptions { accounts, total };
        let bank = checker("bank").expect("a checker");
        let verdict = check_property_with(&history(reads), bank, &options, &CheckLimits::default());
        let messages: Vec<String> = verdict.expect("a verdict").anomalies.into_iter().map(|one| one.message).collect();
        assert_eq!(messages, expected, "{reads:?}");
    };
    let reads = ["read nil ok {0,4,1,5}", "read nil ok {0,5,1,5}"];
    check(None, None, &reads, &["the accounts have 10 together, and had 9 when they were read first"]);
    check(Some(10), None, &reads, &["the accounts have 9 together, and 10 is their total"]);
    check(Some(9), Some(&["0"]), &reads[..1], &["there is no account 1"]);
    check(Some(9), Some(&["0", "1", "2"]), &reads[..1], &[]);
}

#[test]
fn what_a_history_does_not_tell_is_unknown() {
    for (name, calls) in [
        ("set", ["add 1 ok 1"]),
        ("set-full", ["add 1 ok 1"]),
        ("pn-counter", ["add 1 ok 1"]),
        ("bank", ["transfer nil ok nil"]),
        ("long-fork", ["write [[:w,1,1],[:w,1,2]] ok nil"]),
    ] {
        let calls: Vec<&str> = calls.to_vec();
        let text = if name == "long-fork" { vec!["write [[:w,1,1],[:w,1,2]] info nil"] } else { calls };
        assert_eq!(verdict(name, &text).validity, Validity::Unknown, "{name}");
    }
    for row in CHECKERS {
        let empty = check_property(&OperationHistory::default(), row).expect("a verdict");
        assert_ne!(empty.validity, Validity::Invalid, "{} of an empty history", row.name);
        assert!(!kinds(&empty).contains(&MISFIT), "{} of an empty history", row.name);
    }
    let others = history(&["launch nil ok 7", "launch nil fail nil"]);
    for row in CHECKERS.iter().filter(|row| !row.functions.is_empty()) {
        match check_property(&others, row) {
            Ok(other) => {
                let kinds = kinds(&other);
                assert_eq!((other.validity, kinds.as_slice()), (Validity::Unknown, &[MISFIT][..]), "{}", row.name);
            }
            // These refuse each operation that they do not know.
            Err(error) => assert!(["causal", "kafka"].contains(&row.name), "{}: {error}", row.name),
        }
    }
    let other = verdict("counter", &["inc 1 ok 1"]);
    assert_eq!(other.anomalies[0].message, "the operations do not fit: found `inc`, expected add, read");
    // One that it reads is enough, though it did not happen.
    assert_eq!(verdict("unique-ids", &["launch nil ok 7", "generate nil fail nil"]).validity, Validity::Valid);
}

#[test]
fn values_that_a_checker_cannot_read_are_refused() {
    let cases = [
        ("set", "read nil ok 3", "line 2: found `3` of `read`, expected a collection as its value"),
        (
            "counter",
            "add -1 ok -1",
            "line 1: found `-1` of `add`, expected a number from 0 (pn-counter has others) as its value",
        ),
        ("bank", "read nil ok 3", "line 2: found `3` of `read`, expected a map of accounts as its value"),
        ("adya-g2", "insert 1 ok 1", "line 1: found `1` of `insert`, expected [key [a b]] as its value"),
        (
            "long-fork",
            "read [1] ok [1]",
            "line 2: found `[1]` of `read`, expected [[:w key value]] or [[:r key value] …] as its value",
        ),
    ];
    for (name, call, expected) in cases {
        let result = check_property(&history(&[call]), checker(name).expect("a checker"));
        assert_eq!(result.map(|_| ()).map_err(|error| error.to_string()), Err(expected.to_owned()));
    }
}

#[test]
fn keys_of_a_checker_are_judged_by_themselves() {
    let good = ["add [1,5] ok [1,5]", "add [2,6] info :timeout", "read [1,nil] ok [1,[5]]", "read [2,nil] ok [2,[6]]"];
    let judged = verdict("set", &good);
    assert_eq!((judged.validity, judged.counts[0].clone()), (Validity::Valid, ("attempt-count".to_owned(), 2)));
    let bad = ["add [1,5] ok [1,5]", "add [2,6] ok [2,6]", "read [1,nil] ok [1,[6]]", "read [2,nil] ok [2,[6]]"];
    let messages: Vec<String> = verdict("set", &bad).anomalies.into_iter().map(|one| one.message).collect();
    assert_eq!(messages, ["key 1: 5 was added and is not in the last read", "key 1: 6 was read and never added"]);
    // Without a key that is answered, pairs are values.
    assert_eq!(verdict("set", &["add [1,5] ok [1,5]", "read nil ok [[1,5]]"]).validity, Validity::Valid);
    let other = history(&["add [1,5] ok [1,5]", "read [1,nil] ok [1,[5]]", "read [1,nil] ok [2,[5]]"]);
    let result = check_property(&other, checker("set").expect("a checker")).map_err(|error| error.to_string());
    let expected = "line 6: found `[2 [5]]` of `read`, expected the key that was asked, with what it has, as its value";
    assert_eq!(result.map(|_| ()), Err(expected.to_owned()));
}

#[test]
fn an_element_is_known_by_the_first_who_saw_it() {
    // Read, missed, and only then acknowledged.
    let text = "{:type :invoke :process 0 :f :add :value 1}
                {:type :invoke :process 1 :f :read} {:type :ok :process 1 :f :read :value [1]}
                {:type :invoke :process 1 :f :read} {:type :ok :process 1 :f :read :value []}
                {:type :ok :process 0 :f :add :value 1}";
    let history = OperationHistory::read(text.as_bytes()).expect("a history");
    let lost = check_property(&history, checker("set-full").expect("a checker")).expect("a verdict");
    assert_eq!((lost.validity, kinds(&lost)), (Validity::Invalid, vec!["lost", "none-stable"]));
    let early = verdict("set-full", &["read nil ok [1]", "add 1 ok 1", "read nil ok [1]"]);
    assert_eq!((early.validity, kinds(&early)), (Validity::Invalid, vec!["unexpected"]));
}

#[test]
fn each_final_read_has_what_was_acknowledged() {
    let judge = |reads: [&str; 2]| {
        let mark =
            "{:type :invoke, :process 1, :f :read, :final? true} {:type :invoke, :process 2, :f :read, :final? true}";
        let [first, second] = reads.map(|read| format!(":f :read, :value {read}, :final? true"));
        let text = format!(
            "{{:type :invoke, :process 0, :f :add, :value 1}} {{:type :ok, :process 0, :f :add, :value 1}} {mark}
             {{:type :ok, :process 1, {first}}} {{:type :ok, :process 2, {second}}}"
        );
        let history = OperationHistory::read(text.as_bytes()).expect("a history");
        check_property(&history, checker("set-full").expect("a checker")).expect("a verdict")
    };
    assert_eq!(judge(["[1]", "[1]"]).validity, Validity::Valid);
    for reads in [["[]", "[1]"], ["[1]", "[]"]] {
        let verdict = judge(reads);
        assert_eq!((verdict.validity, kinds(&verdict)[0]), (Validity::Invalid, "lost"), "{reads:?}");
        assert!(verdict.counts.contains(&("lost-count".to_owned(), 1)), "{verdict:?}");
    }
}

#[test]
fn stable_latencies_run_from_known_to_the_last_miss() {
    let mut history = history(&["add 1 ok 1", "read nil ok []", "read nil ok [1]"]);
    for (at, operation) in history.operations.iter_mut().enumerate() {
        operation.time = Some(at as i64 * 10_000_000);
    }
    let verdict = check_property(&history, checker("set-full").expect("a checker")).expect("a verdict");
    assert_eq!(verdict.validity, Validity::Valid);
    // Known at 10 ms, missed by a read that was invoked at 20 ms.
    let latencies: Vec<i64> =
        verdict.counts.iter().filter(|(name, _)| name.starts_with("stable-l")).map(|(_, ms)| *ms).collect();
    assert_eq!(latencies, [10; 5]);
}

#[test]
fn sums_of_many_unknown_additions_stay_few_ranges() {
    let calls: Vec<String> = (0..400).map(|at| format!("add {} info nil", at % 9 - 4)).collect();
    let mut calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    calls.push("read! nil ok 440");
    assert_eq!(verdict("pn-counter", &calls).validity, Validity::Valid);
    calls.push("read! nil ok 441");
    assert_eq!(verdict("pn-counter", &calls).validity, Validity::Invalid);
}

/// Operations of one process, as `function asked answered extra`.
fn process_history(calls: &[&str]) -> OperationHistory {
    let mut text = String::new();
    for call in calls {
        let mut parts = call.splitn(4, ' ');
        let mut part = || parts.next().unwrap_or_default();
        let (function, asked, answered, extra) = (part(), part(), part(), part());
        text += &format!("{{:type :invoke, :process 0, :f :{function}, :value {asked}}}\n");
        text += &format!("{{:type :ok, :process 0, :f :{function}, :value {answered} {extra}}}\n");
    }
    OperationHistory::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

#[test]
fn what_a_process_sees_goes_forward() {
    let judged = |name: &str, calls: &[&str]| {
        let row = checker(name).expect("a checker");
        let verdict = check_property(&process_history(calls), row).expect("a verdict");
        (verdict.validity, verdict.anomalies.iter().map(|one| one.kind).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(judged("monotonic", &["inc nil 1", "read nil 1", "inc nil 2"]), (Validity::Valid, String::new()));
    assert_eq!(judged("monotonic", &["inc nil 2", "read nil 1"]), (Validity::Invalid, "went-back stale".to_owned()));
    let linked =
        ["read-init nil 0 :position,1,:link,:init", "write 1 1 :position,2,:link,1", "read nil 1 :position,3,:link,2"];
    assert_eq!(judged("causal", &linked), (Validity::Valid, String::new()));
    let broken = ["read-init nil 0 :position,1,:link,:init", "write 1 1 :position,2,:link,7"];
    assert_eq!(judged("causal", &broken), (Validity::Invalid, "broken-link".to_owned()));
    let sent = ["send [[:send,k,1]] [[:send,k,[0,1]]]", "send [[:send,k,2]] [[:send,k,[1,2]]]"];
    let poll = |first: &str, second: &str, between: Option<&str>| {
        let polls = [first, second].map(|one| format!("poll [[:poll]] [[:poll,{{k,[{one}]}}]]"));
        let all = [Some(polls[0].as_str()), between, Some(polls[1].as_str())];
        judged("kafka", &sent.into_iter().chain(all.into_iter().flatten()).collect::<Vec<_>>())
    };
    assert_eq!(poll("[0,1]", "[1,2]", None), (Validity::Valid, String::new()));
    assert_eq!(poll("[1,2]", "[0,1]", None), (Validity::Invalid, "nonmonotonic-poll".to_owned()));
    // A key that stays assigned is read on; others, and those that are read from their beginning, begin anew.
    assert_eq!(poll("[1,2]", "[0,1]", Some("assign [k] [k]")), (Validity::Invalid, "nonmonotonic-poll".to_owned()));
    assert_eq!(poll("[1,2]", "[0,1]", Some("assign [j] [j]")), (Validity::Valid, String::new()));
    let from_start = "assign [k] [k] ,:seek-to-beginning?,true";
    assert_eq!(poll("[1,2]", "[0,1]", Some(from_start)), (Validity::Valid, String::new()));
    // The key was with another client in the middle of a call.
    let rebalanced = |log: &str| {
        let poll = format!("poll [[:poll]] [[:poll,{{k,[[0,1],[2,3]]}}]] ,:rebalance-log,{log}");
        let between = "send [[:send,k,2]] [[:send,k,[1,2]]]";
        judged(
            "kafka",
            &[
                sent[0],
                between,
                "send [[:send,k,3]] [[:send,k,[2,3]]]",
                "poll [[:poll]] [[:poll,{k,[[1,2]]}]]",
                "assign [j] [j]",
                &poll,
            ],
        )
    };
    assert_eq!(rebalanced("[{:keys,[k]}]"), (Validity::Valid, String::new()));
    assert_eq!(rebalanced("[{:keys,[j]}]"), (Validity::Invalid, "int-poll-skip".to_owned()));
    let back = [
        "send [[:send,k,1]] [[:send,k,[1,1]]]",
        "send [[:send,k,2]] [[:send,k,[0,2]]]",
        "poll [[:poll]] [[:poll,{k,[[0,2],[1,1]]}]]",
    ];
    assert_eq!(judged("kafka", &back), (Validity::Invalid, "nonmonotonic-send".to_owned()));
}

#[test]
fn stable_latencies_have_bounds() {
    let bound = |words: &str| super::LatencyBound::all(words).map(|bounds| bounds.len());
    assert_eq!((bound("median<400ms"), bound("p95<1ms,max>0.5ms")), (Ok(1), Ok(2)));
    for wrong in ["", "mean<3ms", "max<3", "max<NaNms", "max<1ms,"] {
        let why = bound(wrong).expect_err(wrong);
        assert!(why.starts_with("expected bounds of the stable latencies median, p95, p99, max"), "{why}");
    }
    let verdict = CheckerVerdict { counts: vec![("stable-latency-ms 1".to_owned(), 7)], ..CheckerVerdict::default() };
    let missed = |words: &str| super::LatencyBound::all(words).map(|bounds| bounds[0].missed(&verdict));
    assert_eq!(missed("max<8ms"), Ok(None));
    assert_eq!(missed("max<7ms"), Ok(Some("max<7ms is missed: the stable latency is 7 ms".to_owned())));
    assert_eq!(missed("p99>1ms"), Ok(Some("p99>1ms is missed: no element has a stable latency".to_owned())));
}

#[test]
fn a_checker_whose_time_is_over_comes_to_no_verdict() {
    let no_time = CheckLimits { is_over: &|| true, ..CheckLimits::default() };
    // A violation for some, a misfit for others.
    let history = history(&["add 1 ok 1", "read nil ok []"]);
    for row in CHECKERS {
        let verdict = check_property_with(&history, row, &CheckerOptions::default(), &no_time).expect("a verdict");
        assert_eq!(
            (verdict.validity, kinds(&verdict).as_slice()),
            (Validity::Unknown, &["undecided"][..]),
            "{}",
            row.name
        );
    }
}

#[test]
fn time_is_looked_at_before_each_step_of_possible_sums() {
    let looks = Cell::new(0);
    let is_over = || {
        looks.set(looks.get() + 1);
        false
    };
    let limits = CheckLimits { is_over: &is_over, ..CheckLimits::default() };
    let row = checker("pn-counter").expect("a checker");
    let history = history(&["add 1 info nil", "add 2 info nil", "add 4 info nil"]);
    check_property_with(&history, row, &CheckerOptions::default(), &limits).expect("a verdict");
    assert_eq!(looks.get(), 9, "at each call for the additions, at each that may have happened, at each for the reads");
}

/// How many elements of a set are stable, lost, and neither, for calls one after the other.
fn elements_by_reading_all(calls: &[(bool, Vec<u64>)]) -> [i64; 3] {
    let mut counts = [0; 3];
    for element in 0..4 {
        let has =
            |(is_add, elements): &(bool, Vec<u64>), wanted: bool| *is_add == wanted && elements.contains(&element);
        let Some(added) = calls.iter().position(|call| has(call, true)) else { continue };
        let after = |is_in: bool| {
            let reads =
                calls.iter().enumerate().skip(added).filter(move |&(_, call)| !call.0 && has(call, false) == is_in);
            reads.map(|(at, _)| at)
        };
        // Acknowledged at once.
        let (present, absent) = (after(true).max(), after(false).max());
        let kind = match (present, absent) {
            (Some(_), absent) if absent < present => 0,
            (_, Some(_)) => 1,
            _ => 2,
        };
        counts[kind] += 1;
    }
    counts
}

#[test]
fn elements_of_a_set_are_those_that_looking_through_all_reads_finds() {
    let mut state = 1u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    for _ in 0..200 {
        let calls: Vec<(bool, Vec<u64>)> = (0..12)
            .map(|_| match below(3) {
                0 => (true, vec![below(4)]),
                _ => (false, (0..4).filter(|_| below(3) > 0).collect()),
            })
            .collect();
        let words = |(is_add, elements): &(bool, Vec<u64>)| match is_add {
            true => format!("add {0} ok {0}", elements[0]),
            false => format!("read nil ok {}", format!("{elements:?}").replace(' ', "")),
        };
        let words: Vec<String> = calls.iter().map(words).collect();
        let found = verdict("set-full", &words.iter().map(String::as_str).collect::<Vec<_>>());
        let count = |name: &str| found.counts.iter().find(|(known, _)| known == name).map_or(0, |(_, number)| *number);
        let counted = ["stable-count", "lost-count", "never-read-count"].map(count);
        assert_eq!(counted, elements_by_reading_all(&calls), "{words:?}");
    }
}
