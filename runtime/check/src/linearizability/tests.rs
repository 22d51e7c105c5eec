//! Verdicts against brute force, on random small histories of every model; bounds; fairness.

use super::partition::partitions;
use super::timeline::TimedCall;
use super::*;
use crate::history::{DatumPool, OperationType};
use crate::model::{MODELS, ModelAction, NextStates, model};

/// A random stream (SplitMix64).
struct Stream(u64);

impl Stream {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// Tries every order: calls that may come next are those whose invocation no other call's return precedes.
fn brute_force(
    history: &OperationHistory,
    model: &dyn SequentialModel,
    calls: &[TimedCall],
    done: u32,
    state: &[u8],
) -> bool {
    let is_left = |at: usize| done >> at & 1 == 0;
    let left = || (0..calls.len()).filter(|at| is_left(*at));
    if left().all(|at| calls[at].completion.is_none()) {
        return true;
    }
    let first_return = left().filter_map(|at| calls[at].completion).min().unwrap_or(u32::MAX);
    left().filter(|at| calls[*at].invocation < first_return || calls[*at].completion == Some(first_return)).any(|at| {
        let mut next = NextStates::default();
        model.step(&history.pool, state, &calls[at].call, &mut next);
        next.iter().any(|state| brute_force(history, model, calls, done | 1 << at, state))
    })
}

/// A random history for a model: concurrent calls, some of which fail, and some never return.
fn random_history(name: &str, stream: &mut Stream) -> OperationHistory {
    let mut history = OperationHistory::default();
    let functions = model(name).expect("a model").functions;
    let processes = 2 + stream.below(3);
    let mut open: Vec<Option<(&str, DatumId)>> = vec![None; processes as usize];
    let mut names: Vec<i64> = (0..processes as i64).collect();
    let (mut left, values) = (3 + stream.below(6), 1 + stream.below(3) as i64);
    let distinct = stream.chance(40);
    let mut last = 0;
    while left > 0 || open.iter().any(Option::is_some) {
        let at = stream.below(processes) as usize;
        match open[at] {
            None if left > 0 => {
                left -= 1;
                let function = functions[stream.below(functions.len() as u64) as usize];
                last += 1;
                let value = if distinct { last } else { stream.below(values as u64 + 1) as i64 };
                let asked = random_argument(&mut history, function, value, stream);
                history.push(names[at], OperationType::Invoke, function, asked);
                open[at] = Some((function, asked));
            }
            None => {}
            Some((function, asked)) => {
                open[at] = None;
                let bound = if distinct { last as u64 + 1 } else { values as u64 + 1 };
                let answered = random_result(&mut history, function, asked, stream, bound);
                let kind = match stream.below(10) {
                    0 => OperationType::Fail,
                    1 => OperationType::Info,
                    _ => OperationType::Ok,
                };
                history.push(names[at], kind, function, answered);
                // Now and then a client goes on, although nobody knows how its call ended.
                if kind == OperationType::Info && stream.chance(60) {
                    names[at] += processes as i64;
                }
            }
        }
    }
    history
}

fn random_argument(history: &mut OperationHistory, function: &str, value: i64, stream: &mut Stream) -> DatumId {
    let pool = &mut history.pool;
    let plain = pool.integer(value);
    match function {
        "cas" => {
            let from = pool.integer(stream.below(3) as i64);
            pool.vector(&[from, plain])
        }
        "append" | "put" => pool.text(["a", "b", "ab"][stream.below(3) as usize]),
        "txn" => {
            let mut all = Vec::new();
            for _ in 0..1 + stream.below(2) {
                let (key, value) = (pool.integer(stream.below(2) as i64), pool.integer(stream.below(2) as i64));
                let name = pool.keyword(if stream.chance(50) { "r" } else { "w" });
                all.push(pool.vector(&[name, key, value]));
            }
            pool.vector(&all)
        }
        "write" | "add" | "remove" | "enqueue" | "push" | "insert" => plain,
        _ => DatumId::NIL,
    }
}

fn random_result(
    history: &mut OperationHistory,
    function: &str,
    asked: DatumId,
    stream: &mut Stream,
    bound: u64,
) -> DatumId {
    let pool = &mut history.pool;
    let any = pool.integer(stream.below(bound) as i64);
    match function {
        "get" => pool.text(["", "a", "b", "ab", "aba"][stream.below(5) as usize]),
        "contains" => pool.vector(&[any, DatumPool::bool(stream.chance(50))]),
        "dequeue" | "pop" | "delete-min" if stream.chance(25) => DatumId::NIL,
        "acquire" if stream.chance(60) => DatumId::NIL,
        "read" | "dequeue" | "pop" | "delete-min" | "acquire" => any,
        _ => asked,
    }
}

/// Reads of a set return collections.
fn with_sets(mut history: OperationHistory, stream: &mut Stream) -> OperationHistory {
    for at in 0..history.operations.len() {
        let operation = history.operations[at];
        if history.function_name(&operation) == "read" && operation.kind == OperationType::Ok {
            let elements: Vec<DatumId> =
                (0..3).filter(|_| stream.chance(40)).map(|n| history.pool.integer(n)).collect();
            history.operations[at].value = history.pool.vector(&elements);
        }
    }
    history
}

/// How many histories of each model are compared: some thousands, or as many as `FOZZY_LONG` says.
fn histories_per_model() -> u64 {
    #[allow(clippy::disallowed_methods, reason = "how long a test runs is no part of any execution")]
    let asked = std::env::var("FOZZY_LONG").ok();
    asked.map_or(1_000, |asked| asked.parse().unwrap_or(1_000_000))
}

#[test]
fn verdicts_are_those_of_brute_force() {
    for row in MODELS {
        let (mut counts, mut by_unique) = ([0u64; 3], 0u64);
        for seed in 0..histories_per_model() {
            let mut stream = Stream(seed << 8 | row.name.len() as u64);
            let mut history = random_history(row.name, &mut stream);
            if row.name == "set" {
                history = with_sets(history, &mut stream);
            }
            let all = partitions(&history, row.model).expect("calls").0;
            let expected = all.iter().all(|one| brute_force(&history, row.model, &one.calls, 0, &row.model.initial()));
            let expected = if expected { Validity::Valid } else { Validity::Invalid };
            let verdict = judge(&history, row, &all, &CheckLimits::default());
            assert_eq!(verdict.validity, expected, "{} seed {seed}\n{}", row.name, history.to_edn());
            // The search agrees where another algorithm has decided.
            for one in &all {
                let is_over = || false;
                let budget = SearchBudget {
                    configurations_max: 1 << 20,
                    bytes_max: 1 << 30,
                    is_over: &is_over,
                    looks_ahead: true,
                };
                let found = search(&history.pool, row.model, &one.calls, &budget);
                assert_order(&history, row.model, &one.calls, &found);
                if let Some(is_valid) = unique::is_linearizable(&history.pool, row.name, &one.calls) {
                    by_unique += 1;
                    assert_eq!(
                        is_valid,
                        found.end == SearchEnd::Valid,
                        "{} seed {seed}\n{}",
                        row.name,
                        history.to_edn()
                    );
                }
            }
            counts[verdict.validity as usize] += 1;
            for (one, part) in verdict.partitions.iter().zip(&all).filter(|(one, _)| one.validity == Validity::Invalid)
            {
                assert_place(&history, row.model, &part.calls, one);
            }
        }
        assert!(counts[0] > 20 && counts[2] > 20, "{}: the histories are all alike: {counts:?}", row.name);
        let has_unique =
            ["register", "cas-register", "etcd-register", "fifo-queue", "stack", "priority-queue"].contains(&row.name);
        assert_eq!(by_unique > 50, has_unique, "{}: {by_unique} by another algorithm", row.name);
    }
}

/// A history of a stack or a priority queue whose values are distinct: some calls in a legal order, each stretched in time, and now and
/// then an answer that is exchanged with another.
fn stretched(model: &str, stream: &mut Stream) -> OperationHistory {
    let (insert, take) = match model {
        "stack" => ("push", "pop"),
        "fifo-queue" => ("enqueue", "dequeue"),
        _ => ("insert", "delete-min"),
    };
    let mut history = OperationHistory::default();
    let (mut inside, mut calls) = (Vec::<i64>::new(), Vec::<(bool, Option<i64>)>::new());
    let values = 2 + stream.below(6) as i64;
    for _ in 0..4 + stream.below(12) {
        if stream.chance(50) {
            let value = (stream.below(values as u64) as i64 * 7 + 3 * calls.len() as i64) * 16 + calls.len() as i64;
            inside.push(value);
            calls.push((true, Some(value)));
        } else {
            if model == "priority-queue" {
                inside.sort_unstable_by_key(|value| std::cmp::Reverse(*value));
            }
            let is_first = model == "fifo-queue" && !inside.is_empty();
            calls.push((false, if is_first { Some(inside.remove(0)) } else { inside.pop() }));
        }
    }
    if stream.chance(50) {
        let takes: Vec<usize> = (0..calls.len()).filter(|at| !calls[*at].0).collect();
        if let [_, _, ..] = takes.as_slice() {
            let mut any = || takes[stream.below(takes.len() as u64) as usize];
            let (one, other) = (any(), any());
            (calls[one].1, calls[other].1) = (calls[other].1, calls[one].1);
        }
    }
    let takes_lost = 12 * stream.below(2);
    let mut events: Vec<(u64, bool, usize)> = Vec::new();
    for (at, (is_insert, _)) in calls.iter().enumerate() {
        let moment = 100 * at as u64 + 1000;
        events.push((moment - stream.below(180), false, at));
        // One that was inserted need not be known to be in; now and then it is not known what was taken.
        if !stream.chance(if *is_insert { 8 } else { takes_lost }) {
            events.push((moment + 1 + stream.below(180), true, at));
        }
    }
    events.sort_unstable();
    for (_, is_end, at) in events {
        let (is_insert, value) = calls[at];
        let value = value.map_or(DatumId::NIL, |value| history.pool.integer(value));
        let name = if is_insert { insert } else { take };
        match is_end {
            true => history.push(at as i64, OperationType::Ok, name, value),
            false => history.push(at as i64, OperationType::Invoke, name, if is_insert { value } else { DatumId::NIL }),
        }
    }
    history
}

#[test]
fn distinct_values_are_decided_as_the_search_does() {
    for name in ["stack", "priority-queue", "fifo-queue"] {
        let row = model(name).expect("a model");
        let mut counts = [0u64; 4];
        for seed in 0..histories_per_model() {
            let history = stretched(name, &mut Stream(seed << 8 | name.len() as u64));
            let all = partitions(&history, row.model).expect("calls").0;
            let is_over = || false;
            let budget =
                SearchBudget { configurations_max: 1 << 22, bytes_max: 1 << 30, is_over: &is_over, looks_ahead: true };
            let found = search(&history.pool, row.model, &all[0].calls, &budget);
            let is_valid = unique::is_linearizable(&history.pool, name, &all[0].calls);
            let is_lost = |one: &TimedCall| one.call.action == ModelAction::Take && one.completion.is_none();
            let has_lost = all[0].calls.iter().any(is_lost);
            let expected = Some(found.end == SearchEnd::Valid);
            assert!(is_valid == expected || is_valid.is_none() && has_lost, "{name} seed {seed}\n{}", history.to_edn());
            counts[is_valid.map_or(2, usize::from)] += 1;
            counts[3] += u64::from(has_lost && is_valid.is_some());
        }
        let [invalid, valid, _, lost] = counts;
        assert!(
            [invalid, valid, lost].iter().all(|count| *count > 100),
            "{name}: the histories are all alike: {counts:?}"
        );
    }
}

/// Tries every order in which each process has its own calls in their order.
fn sequential_brute_force(
    history: &OperationHistory,
    model: &dyn SequentialModel,
    calls: &[(usize, TimedCall)],
    done: u32,
    states: &[Vec<u8>],
) -> bool {
    let is_left = |at: usize| done >> at & 1 == 0;
    let left = || (0..calls.len()).filter(|at| is_left(*at));
    if left().all(|at| calls[at].1.completion.is_none()) {
        return true;
    }
    left().any(|at| {
        let (key, one) = &calls[at];
        // What has an unknown end may never happen, and also after what follows it.
        let is_early = left().any(|other| {
            let before = &calls[other].1;
            before.call.process == one.call.process && before.invocation < one.invocation && before.completion.is_some()
        });
        let mut next = NextStates::default();
        model.step(&history.pool, &states[*key], &one.call, &mut next);
        !is_early
            && next.iter().any(|state| {
                let mut states = states.to_vec();
                states[*key] = state.to_vec();
                sequential_brute_force(history, model, calls, done | 1 << at, &states)
            })
    })
}

#[test]
fn sequential_consistency_is_that_of_brute_force() {
    let mut counts = [[0u64; 3]; 2];
    for row in MODELS.iter().filter(|row| ["register", "kv", "fifo-queue", "set", "mutex"].contains(&row.name)) {
        for seed in 0..histories_per_model() / 2 {
            let mut stream = Stream(seed << 8 | 0x77 | row.name.len() as u64);
            let mut history = random_history(row.name, &mut stream);
            if row.name == "set" {
                history = with_sets(history, &mut stream);
            }
            // Two keys, which each have an order more often than both together.
            let is_keyed = stream.chance(50);
            if is_keyed {
                for at in 0..history.operations.len() {
                    let keys: i64 = i64::from(
                        matches!(history.operations[at].process, crate::history::Process::Client(one) if one % 2 == 0),
                    );
                    let key = if stream.chance(70) { keys } else { 1 - keys };
                    let invocation = (0..at).rev().find(|one| {
                        history.operations[*one].process == history.operations[at].process
                            && history.operations[*one].kind == OperationType::Invoke
                    });
                    let is_completion = history.operations[at].kind != OperationType::Invoke;
                    let extra = match invocation.filter(|_| is_completion) {
                        Some(invoked) => history.operations[invoked].extra,
                        None => {
                            let (name, key) = (history.pool.keyword("key"), history.pool.integer(key));
                            history.pool.sequence(crate::history::datum::ItemKind::Map, &[name, key])
                        }
                    };
                    history.operations[at].extra = extra;
                }
            }
            let parts = partition::program_partitions(&history, row.model).expect("calls");
            let all: Vec<(usize, TimedCall)> = parts
                .iter()
                .enumerate()
                .flat_map(|(key, one)| one.calls.iter().map(move |call| (key, *call)))
                .collect();
            let expected =
                sequential_brute_force(&history, row.model, &all, 0, &vec![row.model.initial(); parts.len()]);
            let verdict = check_sequential_consistency(&history, row, &CheckLimits::default()).expect("a verdict");
            let expected = if expected { Validity::Valid } else { Validity::Invalid };
            assert_eq!(verdict.validity, expected, "{} seed {seed}\n{}", row.name, history.to_edn());
            counts[usize::from(parts.len() > 1)][verdict.validity as usize] += 1;
            // What is linearizable is sequentially consistent.
            let linearizable =
                check_linearizability(&history, row, &CheckLimits::default()).expect("a verdict").validity;
            assert!(linearizable >= verdict.validity, "{} seed {seed}\n{}", row.name, history.to_edn());
        }
    }
    assert!(counts.iter().all(|[valid, unknown, invalid]| *valid > 50 && *invalid > 50 && *unknown == 0), "{counts:?}");
}

#[test]
fn elements_of_a_set_and_of_a_bag_are_judged_alone() {
    for (name, put, take) in [("unordered-queue", "enqueue", "dequeue"), ("set", "add", "remove")] {
        let mut history = OperationHistory::default();
        for element in 0..2_000 {
            let value = history.pool.integer(element);
            history.push(element, OperationType::Invoke, put, value);
            history.push(
                5_000 + element,
                OperationType::Invoke,
                take,
                if name == "set" { value } else { DatumId::NIL },
            );
        }
        for element in 0..2_000 {
            let value = history.pool.integer(element);
            history.push(5_000 + element, OperationType::Ok, take, value);
            history.push(element, OperationType::Ok, put, value);
        }
        let verdict = check_linearizability(&history, model(name).expect("a model"), &CheckLimits::default());
        let verdict = verdict.expect("a verdict");
        assert_eq!((verdict.validity, verdict.partitions.len()), (Validity::Valid, 2_000), "{name}");
    }
}

/// There is no order by the return of the call that is to blame, and there is the one that is shown until then.
fn assert_place(history: &OperationHistory, model: &dyn SequentialModel, calls: &[TimedCall], one: &PartitionVerdict) {
    assert!(one.is_longest, "{}", history.to_edn());
    let stuck = calls.iter().find(|call| Some(call.invocation) == one.stuck).expect("a call to blame");
    let end = stuck.completion.expect("its return");
    let is_legal = |end: u32| {
        let (before, _) = violation::until(model, calls, end);
        brute_force(history, model, &before, 0, &model.initial())
    };
    assert!(!is_legal(end) && is_legal(end - 1), "{}", history.to_edn());
    let place = |position: &u32| calls.iter().position(|call| call.invocation == *position).expect("a call") as u32;
    let order: Vec<u32> = one.order.iter().map(place).collect();
    let before = |call: &TimedCall| call.completion.is_some_and(|at| at < end);
    assert!((0..).zip(calls).filter(|(_, call)| before(call)).all(|(at, _)| order.contains(&at)));
}

/// Where values are distinct, what is shown of a violation is wrong without all else.
fn assert_alone(history: &OperationHistory, row: &ModelRow<'_>, wrong: &PartitionVerdict, minimal: &MinimalViolation) {
    let all = partitions(history, row.model).expect("calls").0;
    let part = all.iter().find(|one| one.key == wrong.key).expect("the part");
    let is_lost = |one: &TimedCall| one.call.action == ModelAction::Take && one.call.result.is_none();
    if unique::is_linearizable(&history.pool, row.name, &part.calls).is_none() || part.calls.iter().any(is_lost) {
        return;
    }
    let kept: Vec<TimedCall> =
        part.calls.iter().filter(|one| minimal.calls.contains(&one.invocation)).copied().collect();
    assert!(!brute_force(history, row.model, &kept, 0, &row.model.initial()), "{}", history.to_edn());
}

/// The order that a search gives is legal, step by step, and respects time.
fn assert_order(history: &OperationHistory, model: &dyn SequentialModel, calls: &[TimedCall], found: &SearchResult) {
    let mut states = vec![model.initial()];
    let mut next = NextStates::default();
    for (at, call) in found.order.iter().enumerate() {
        let one = &calls[*call as usize];
        let mut after = Vec::new();
        for state in &states {
            next.clear();
            model.step(&history.pool, state, &one.call, &mut next);
            after.extend(next.iter().map(<[u8]>::to_vec));
        }
        assert!(!after.is_empty(), "call {call} is not legal\n{}", history.to_edn());
        states = after;
        let is_early = |later: &u32| calls[*later as usize].completion.is_some_and(|end| end < one.invocation);
        assert!(!found.order[at + 1..].iter().any(is_early), "call {call} comes too early");
    }
    assert!(states.contains(&found.state));
    if found.end == SearchEnd::Valid {
        let returns = (0..calls.len() as u32).filter(|at| calls[*at as usize].completion.is_some());
        assert!(returns.into_iter().all(|at| found.order.contains(&at)));
    }
}

/// A history of a register whose clients overlap widely.
fn wide_history(clients: i64, rounds: i64, last_read: i64) -> OperationHistory {
    let mut history = OperationHistory::default();
    for round in 0..rounds {
        for client in 0..clients {
            let value = history.pool.integer(round * clients + client % 7);
            history.push(client, OperationType::Invoke, "write", value);
        }
        for client in 0..clients {
            history.push(client, OperationType::Ok, "write", DatumId::NIL);
        }
    }
    let value = history.pool.integer(last_read);
    history.push(0, OperationType::Invoke, "read", DatumId::NIL);
    history.push(0, OperationType::Ok, "read", value);
    history
}

#[test]
fn bounds_end_a_search_and_are_said() {
    // 0 was written in the first round, and overwritten in the second.
    let history = wide_history(30, 2, 0);
    let row = model("register").expect("a model");
    let all = partitions(&history, row.model).expect("calls").0;
    let verdict = judge(&history, row, &all, &CheckLimits { memory_bytes_max: 1 << 16, is_over: &|| false });
    let one = &verdict.partitions[0];
    assert_eq!((verdict.validity, one.reason), (Validity::Unknown, Some(UndecidedReason::Memory)));
    assert!(one.returns.0 >= 59 && one.returns.1 == 61 && !one.order.is_empty(), "{:?}", one.returns);
    let verdict = judge(&history, row, &all, &CheckLimits { memory_bytes_max: 1 << 30, is_over: &|| true });
    assert_eq!(verdict.partitions[0].reason, Some(UndecidedReason::Time));
}

#[test]
fn a_hard_partition_does_not_hide_an_easy_violation() {
    // Key 0 is hard: many writes at once, and a read of what was overwritten before. Key 1 reads what was overwritten.
    let mut text = String::new();
    for (key, value) in [(0, 9), (1, 5), (1, 6), (1, 6)] {
        text += &format!("{{:type :invoke, :process 0, :f :write, :value [{key} {value}]}}\n");
        text += &format!("{{:type :ok, :process 0, :f :write, :value [{key} {value}]}}\n");
    }
    for kind in ["invoke", "ok"] {
        for client in 0..40 {
            text += &format!("{{:type :{kind}, :process {client}, :f :write, :value [0 {}]}}\n", client % 3);
        }
    }
    text += "{:type :invoke, :process 0, :f :read, :value [0 nil]} {:type :ok, :process 0, :f :read, :value [0 9]}\n";
    text += "{:type :invoke, :process 0, :f :read, :value [1 nil]} {:type :ok, :process 0, :f :read, :value [1 5]}\n";
    let history = OperationHistory::read(text.as_bytes()).expect("a history");
    let row = model("register").expect("a model");
    let verdict = check_linearizability(&history, row, &CheckLimits::default()).expect("a verdict");
    let judged: Vec<_> = verdict.partitions.iter().map(|one| (one.validity, one.configurations < 5_000)).collect();
    assert_eq!(judged, [(Validity::Unknown, true), (Validity::Invalid, true)]);
    assert_eq!(verdict.partitions[1].stuck, Some(90));
}

#[test]
fn calls_that_never_return_do_not_multiply_the_work() {
    // Thirty writes of the same value that never return are one choice, not two to the thirtieth.
    let mut history = OperationHistory::default();
    for process in 0..300 {
        let value = history.pool.integer(process % 2);
        history.push(process, OperationType::Invoke, "write", value);
        history.push(process, OperationType::Info, "write", DatumId::NIL);
    }
    for at in 0..40 {
        let value = history.pool.integer(at % 2);
        history.push(1000, OperationType::Invoke, "read", DatumId::NIL);
        history.push(1000, OperationType::Ok, "read", value);
    }
    let row = model("register").expect("a model");
    let all = partitions(&history, row.model).expect("calls").0;
    let verdict = judge(&history, row, &all, &CheckLimits::default());
    assert_eq!(verdict.validity, Validity::Valid);
    assert!(verdict.partitions[0].configurations < 200, "{}", verdict.partitions[0].configurations);
}

#[test]
fn look_ahead_drops_what_cannot_grow_into_the_next_read() {
    // Twelve appends at once have many orders; the read after them tells the one.
    let mut history = OperationHistory::default();
    let letters: Vec<char> = ('a'..='l').collect();
    for (process, letter) in letters.iter().enumerate() {
        let value = history.pool.text(&letter.to_string());
        history.push(process as i64, OperationType::Invoke, "append", value);
    }
    for process in 0..letters.len() {
        history.push(process as i64, OperationType::Ok, "append", DatumId::NIL);
    }
    let value = history.pool.text("lkjihgfedcba");
    history.push(0, OperationType::Invoke, "get", DatumId::NIL);
    history.push(0, OperationType::Ok, "get", value);
    let row = model("kv").expect("a model");
    let all = partitions(&history, row.model).expect("calls").0;
    let verdict = judge(&history, row, &all, &CheckLimits::default());
    assert_eq!(verdict.validity, Validity::Valid);
    assert!(verdict.partitions[0].configurations < 50, "{}", verdict.partitions[0].configurations);
    assert!(all[0].calls.iter().any(|one| one.call.action == ModelAction::Append));
}

/// Appends of many clients at once, then a put by each of two, then a get of what the second one put, if it is valid.
fn put_over(appends: i64, shown: &str) -> LinearizabilityVerdict {
    let mut history = OperationHistory::default();
    let texts: Vec<DatumId> = (0..appends).map(|at| history.pool.text(&format!("x{at} "))).collect();
    for kind in [OperationType::Invoke, OperationType::Ok] {
        (0..).zip(&texts).for_each(|(client, text)| history.push(client, kind, "append", *text));
        let (first, second, shown) = (history.pool.text("p "), history.pool.text("q "), history.pool.text(shown));
        history.push(100, kind, "put", first);
        history.push(101, kind, "put", second);
        let is_end = kind == OperationType::Ok;
        history.push(102, kind, "get", if is_end { shown } else { DatumId::NIL });
    }
    check_linearizability(&history, model("kv").expect("a model"), &CheckLimits::default()).expect("a verdict")
}

#[test]
fn what_is_put_over_unseen_does_not_multiply_the_work() {
    for (shown, expected) in
        [("q x3 ", Validity::Valid), ("p x1 x2 ", Validity::Valid), ("x4 ", Validity::Valid), ("r ", Validity::Invalid)]
    {
        let verdict = put_over(9, shown);
        let part = &verdict.partitions[0];
        assert_eq!(
            (verdict.validity, part.configurations < 3_000),
            (expected, true),
            "{shown} {}",
            part.configurations
        );
    }
    // The state that is shown is one that there is.
    let part = &put_over(3, "r ").partitions[0];
    assert!(part.state.chars().all(|c| c != char::REPLACEMENT_CHARACTER), "{}", part.state);
}

#[test]
fn the_longest_order_of_a_violation_goes_on_to_the_call_that_breaks_it() {
    let mut text = String::new();
    for (function, value, result) in [("append", "\"x\"", "nil"), ("append", "\"y\"", "nil"), ("get", "nil", "\"yx\"")]
    {
        text += &format!("{{:type :invoke, :process 0, :f :{function}, :key 1, :value {value}}}");
        text += &format!("{{:type :ok, :process 0, :f :{function}, :key 1, :value {result}}}");
    }
    let history = OperationHistory::read(text.as_bytes()).expect("a history");
    let row = model("kv").expect("a model");
    let verdict = check_linearizability(&history, row, &CheckLimits::default()).expect("a verdict");
    let part = &verdict.partitions[0];
    assert_eq!((part.validity, part.order.as_slice(), part.stuck), (Validity::Invalid, &[0, 2][..], Some(4)));
    assert_eq!(part.state, "\"xy\"");
}

#[test]
fn what_was_never_there_is_wrong_from_the_beginning() {
    let text = "{:type :invoke, :process 0, :f :get, :key 1} {:type :ok, :process 0, :f :get, :key 1, :value 5}";
    let history = OperationHistory::read(text.as_bytes()).expect("a history");
    let row = model("kv").expect("a model");
    let verdict = check_linearizability(&history, row, &CheckLimits::default()).expect("a verdict");
    assert_eq!((verdict.validity, verdict.partitions[0].stuck), (Validity::Invalid, Some(0)));
}

/// Crashed writes of different values, and reads of some of them in an order of their own; the last read goes back.
fn crashed_writes(model: &str) -> OperationHistory {
    let mut history = OperationHistory::default();
    for process in 0..60 {
        let value = history.pool.integer(process);
        history.push(process, OperationType::Invoke, "write", value);
        history.push(process, OperationType::Info, "write", value);
    }
    for at in (0..60).map(|at| at * 7 % 60).chain([14]) {
        let value = history.pool.integer(at);
        history.push(100, OperationType::Invoke, "read", DatumId::NIL);
        history.push(100, OperationType::Ok, "read", value);
    }
    if model == "cas-register" {
        // With one of these, no polynomial algorithm decides.
        let (from, to) = (history.pool.integer(14), history.pool.integer(0));
        let pair = history.pool.vector(&[from, to]);
        history.push(101, OperationType::Invoke, "cas", pair);
        history.push(101, OperationType::Ok, "cas", pair);
    }
    history
}

#[test]
fn among_crashed_writes_the_call_to_blame_is_found_with_all_before_it_and_a_smallest_part() {
    for name in ["register", "cas-register"] {
        let (history, row) = (crashed_writes(name), model(name).expect("a model"));
        let verdict = check_linearizability(&history, row, &CheckLimits::default()).expect("a verdict");
        let one = &verdict.partitions[0];
        assert_eq!((one.validity, one.is_longest, one.order.len()), (Validity::Invalid, true, 120), "{name}");
        // The last read.
        assert_eq!(one.stuck, Some(240), "{name}");
        let minimal = minimize_violation(&history, row, one, &CheckLimits::default()).expect("calls").expect("a part");
        // The write of 14, its first read, the write and the read of another value, and the second read.
        assert!(minimal.calls.len() <= 5 && minimal.calls.ends_with(&[240]), "{name}: {:?}", minimal.calls);
    }
}

#[test]
fn a_value_that_nobody_wrote_decides_alone() {
    let mut history = crashed_writes("register");
    for at in 0..200 {
        let (from, to) = (history.pool.integer(at % 60), history.pool.integer(at * 11 % 60));
        let pair = history.pool.vector(&[from, to]);
        history.push(200 + at, OperationType::Invoke, "cas", pair);
        history.push(200 + at, OperationType::Info, "cas", pair);
    }
    let value = history.pool.integer(77);
    let last = history.operations.len() as u32;
    history.push(0, OperationType::Invoke, "read", DatumId::NIL);
    history.push(0, OperationType::Ok, "read", value);
    let row = model("cas-register").expect("a model");
    // However little time there is.
    let limits = CheckLimits { memory_bytes_max: 1 << 20, is_over: &|| true };
    let verdict = check_linearizability(&history, row, &limits).expect("a verdict");
    assert_eq!(verdict.validity, Validity::Invalid);
    let minimal = minimize_violation(&history, row, &verdict.partitions[0], &limits).expect("calls").expect("a part");
    assert_eq!(minimal.calls, [last]);
}

#[test]
fn an_empty_history_is_valid() {
    let history = OperationHistory::default();
    let verdict = check_linearizability(&history, &MODELS[0], &CheckLimits::default()).expect("a verdict");
    assert_eq!((verdict.validity, verdict.partitions.len()), (Validity::Valid, 0));
}

#[test]
fn a_minimal_violation_is_wrong_and_nothing_can_be_taken_from_it() {
    let (mut found, mut shrunk) = (0, 0);
    for row in MODELS {
        for seed in 0..100 {
            let mut stream = Stream(seed << 8 | row.name.len() as u64);
            let mut history = random_history(row.name, &mut stream);
            if row.name == "set" {
                history = with_sets(history, &mut stream);
            }
            let limits = CheckLimits::default();
            // A fenced lock that gave no token has no verdict.
            let Ok(verdict) = check_linearizability(&history, row, &limits) else { continue };
            let Some(wrong) = verdict.partitions.iter().find(|one| one.validity == Validity::Invalid) else { continue };
            let minimal = minimize_violation(&history, row, wrong, &limits).expect("calls");
            let minimal = minimal.unwrap_or_else(|| panic!("{} seed {seed}\n{}", row.name, history.to_edn()));
            assert!(!minimal.calls.is_empty() && minimal.calls.len() + minimal.others <= wrong.calls.len());
            assert_alone(&history, row, wrong, &minimal);
            found += 1;
            shrunk += usize::from(minimal.others > 0);
        }
    }
    assert!(found > 300 && shrunk * 2 > found, "{shrunk} of {found}");
}

#[test]
fn of_a_long_violation_two_calls_remain_that_contradict_each_other() {
    let mut history = OperationHistory::default();
    let write = |history: &mut OperationHistory, value: i64| {
        let value = history.pool.integer(value);
        history.push(0, OperationType::Invoke, "write", value);
        history.push(0, OperationType::Ok, "write", value);
    };
    let read = |history: &mut OperationHistory, value: i64| {
        let value = history.pool.integer(value);
        history.push(1, OperationType::Invoke, "read", DatumId::NIL);
        history.push(1, OperationType::Ok, "read", value);
    };
    for round in 0..50 {
        write(&mut history, round % 5);
        read(&mut history, round % 5);
    }
    write(&mut history, 7);
    read(&mut history, 3);
    let row = model("register").expect("a model");
    let verdict = check_linearizability(&history, row, &CheckLimits::default()).expect("a verdict");
    let minimal = minimize_violation(&history, row, &verdict.partitions[0], &CheckLimits::default()).expect("calls");
    // 3 is read at the end, after 7 was written; every write of 3 had returned before that.
    assert_eq!(minimal, Some(MinimalViolation { calls: vec![200, 202], others: 100 }));
}

#[test]
fn a_process_that_goes_on_leaves_its_open_call_behind() {
    let text = "{:type :invoke :process 0 :f :write :value 1} {:type :info :process 0 :f :write :value 1}
                {:type :invoke :process 1 :f :write :value 2} {:type :ok :process 1 :f :write :value 2}
                {:type :invoke :process 0 :f :read} {:type :ok :process 0 :f :read :value 2}
                {:type :invoke :process 0 :f :read} {:type :ok :process 0 :f :read :value 1}";
    let judge = |text: &str| {
        let history = OperationHistory::read(text.as_bytes()).expect("EDN");
        let (row, limits) = (model("register").expect("a model"), CheckLimits::default());
        let linearizable = check_linearizability(&history, row, &limits).expect("it fits").validity;
        (linearizable, check_sequential_consistency(&history, row, &limits).expect("it fits").validity)
    };
    assert_eq!(judge(text), (Validity::Valid, Validity::Valid));
    // What its process had done before comes before it all the same.
    let before = "{:type :invoke :process 0 :f :write :value 3} {:type :ok :process 0 :f :write :value 3}
                  {:type :invoke :process 0 :f :write :value 4} {:type :info :process 0 :f :write :value 4}
                  {:type :invoke :process 1 :f :read} {:type :ok :process 1 :f :read :value 4}
                  {:type :invoke :process 1 :f :read} {:type :ok :process 1 :f :read :value 3}";
    assert_eq!(judge(before), (Validity::Invalid, Validity::Invalid));
}

#[test]
fn calls_contradict_each_other_whatever_an_open_dequeue_took() {
    let text = "{:type :invoke :process 0 :f :dequeue} {:type :invoke :process 1 :f :enqueue :value 2}
                {:type :ok :process 1 :f :enqueue :value 2} {:type :invoke :process 1 :f :enqueue :value 3}
                {:type :ok :process 1 :f :enqueue :value 3} {:type :invoke :process 2 :f :dequeue}
                {:type :invoke :process 1 :f :enqueue :value 1} {:type :ok :process 1 :f :enqueue :value 1}
                {:type :ok :process 2 :f :dequeue :value 1}";
    let history = OperationHistory::read(text.as_bytes()).expect("EDN");
    let (row, limits) = (model("fifo-queue").expect("a model"), CheckLimits::default());
    let verdict = check_linearizability(&history, row, &limits).expect("it fits");
    assert_eq!(verdict.validity, Validity::Invalid);
    let minimal = minimize_violation(&history, row, &verdict.partitions[0], &limits).expect("it fits");
    assert_eq!(minimal.map(|one| one.calls), Some(vec![1, 3, 5]), "without `enqueue 2` the open one takes 3");
}

#[test]
fn keys_of_writes_alone_are_keys_and_a_wrong_answer_is_named_where_it_stands() {
    let judge = |name: &str, text: &str| {
        let history = OperationHistory::read(text.as_bytes()).expect("EDN");
        let verdict = check_linearizability(&history, model(name).expect("a model"), &CheckLimits::default());
        verdict.map(|one| one.partitions.len()).map_err(|error| error.to_string())
    };
    let put =
        r#"{:type :invoke :process 0 :f :put :value ["x" "1"]} {:type :invoke :process 1 :f :append :value ["y" "2"]}"#;
    assert_eq!(judge("kv", put), Ok(2));
    let read = "{:type :invoke :process 0 :f :read}\n{:type :ok :process 0 :f :read :value 7}";
    let expected = "line 2: found `read` with value `7`, expected a read that returns a collection";
    assert_eq!(judge("set", read), Err(expected.to_owned()));
}

#[test]
fn asking_for_an_element_is_no_key() {
    let judge = |text: &str| {
        let history = OperationHistory::read(text.as_bytes()).expect("EDN");
        let verdict = check_linearizability(&history, model("set").expect("a model"), &CheckLimits::default());
        verdict.expect("it fits").validity
    };
    let add = "{:type :invoke :process 0 :f :add :value 1} {:type :ok :process 0 :f :add :value 1}";
    let contains = |answer: &str| {
        format!(
            "{{:type :invoke :process 1 :f :contains :value [1 nil]}} {{:type :ok :process 1 :f :contains :value {answer}}}"
        )
    };
    assert_eq!(judge(&format!("{add} {}", contains("[1 true]"))), Validity::Valid);
    assert_eq!(judge(&format!("{add} {}", contains("[1 false]"))), Validity::Invalid);
    assert_eq!(judge(&contains("[1 false]")), Validity::Valid);
    // With keys, the element stands below the key.
    let keyed = "{:type :invoke :process 0 :f :add :value [k 1]} {:type :ok :process 0 :f :add :value [k 1]}
                 {:type :invoke :process 0 :f :read :value [k nil]} {:type :ok :process 0 :f :read :value [k [1]]}
                 {:type :invoke :process 1 :f :contains :value [k [1 nil]]} {:type :ok :process 1 :f :contains :value [k [1 true]]}";
    assert_eq!(judge(keyed), Validity::Valid);
    assert_eq!(judge(&keyed.replace("true", "false")), Validity::Invalid);
}
