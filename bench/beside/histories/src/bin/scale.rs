//! Large histories: CPU time of reading and of judging each, beside what was asked for; one figure a run, so that the memory is its own.
//!
//! ```text
//! beside-scale FIGURE      read-edn, read-json, register, set, fifo-queue, stack, priority-queue, list-100k, list-1m, component, bank
//! ```

use beside_histories::{DrawStream, cpu, peak_megabytes};
use fozzy_check::{
    CallRecord, CheckLimits, Datum, DatumId, DatumPool, ModelAction, ModelCall, ModelRow, NextStates, OperationHistory,
    OperationType, SequentialModel, Validity, check_isolation, check_linearizability, isolation_level, model,
};
use std::collections::{BTreeSet, VecDeque};

/// Calls that overlap: each takes effect at its moment, and is invoked and returns some moments around it.
fn spread(calls: u64, width: u64, stream: &mut DrawStream) -> Vec<(u64, bool, u64)> {
    let mut events: Vec<(u64, bool, u64)> = Vec::with_capacity(2 * calls as usize);
    for call in 0..calls {
        let moment = 1_000_000 + call * 100;
        events.push((moment - stream.below(width * 50), false, call));
        events.push((moment + 1 + stream.below(width * 50), true, call));
    }
    events.sort_unstable();
    events
}

/// A million calls of an object, in whose order of effects all is legal; values are distinct.
fn object(name: &str, calls: u64) -> OperationHistory {
    let mut stream = DrawStream(3);
    let (put, take) = match name {
        "register" => ("write", "read"),
        "set" => ("add", "contains"),
        "fifo-queue" => ("enqueue", "dequeue"),
        "stack" => ("push", "pop"),
        _ => ("insert", "delete-min"),
    };
    let (mut line, mut heap): (VecDeque<u64>, BTreeSet<u64>) = Default::default();
    let mut answers: Vec<(bool, Option<u64>)> = Vec::with_capacity(calls as usize);
    let mut register = None;
    for call in 0..calls {
        let is_put = stream.chance(55);
        // Distinct, and in no order.
        let value = call.wrapping_mul(2_654_435_761) % (1 << 40);
        answers.push(match (name, is_put) {
            ("register", true) => {
                register = Some(value);
                (true, Some(value))
            }
            ("register", false) => (false, register),
            ("set", true) => {
                line.push_back(value);
                (true, Some(value))
            }
            ("set", false) if line.is_empty() => (true, Some(value)),
            ("set", false) => (false, Some(line[stream.below(line.len() as u64) as usize])),
            ("priority-queue", true) => {
                heap.insert(value);
                (true, Some(value))
            }
            ("priority-queue", false) => (false, heap.pop_first()),
            (_, true) => {
                line.push_back(value);
                (true, Some(value))
            }
            ("stack", false) => (false, line.pop_back()),
            (_, false) => (false, line.pop_front()),
        });
    }
    let mut history = OperationHistory::default();
    for (_, is_end, call) in spread(calls, 20, &mut stream) {
        let (is_put, value) = answers[call as usize];
        let pool = &mut history.pool;
        let value = value.map_or(DatumId::NIL, |value| pool.integer(value as i64));
        let shown = match (name, is_put, is_end) {
            ("set", false, true) => pool.vector(&[value, DatumId::TRUE]),
            ("set", false, false) => pool.vector(&[value, DatumId::NIL]),
            (_, false, false) => DatumId::NIL,
            _ => value,
        };
        let kind = if is_end { OperationType::Ok } else { OperationType::Invoke };
        history.push(call as i64, kind, if is_put { put } else { take }, shown);
    }
    history
}

/// Transactions of lists, one after the other and overlapping in time; with write skews all along if they are to be one component.
fn lists(transactions: u64, is_component: bool) -> OperationHistory {
    let mut stream = DrawStream(5);
    let mut history = OperationHistory::default();
    let mut lists: Vec<Vec<DatumId>> = vec![Vec::new(); 20];
    let mut keys: Vec<u64> = (0..20).collect();
    let (mut next_key, mut next_value) = (20, 0);
    let mut answers: Vec<[DatumId; 2]> = Vec::with_capacity(transactions as usize);
    let mut before = lists.clone();
    for at in 0..transactions {
        let (mut asked, mut answered): (Vec<DatumId>, Vec<DatumId>) = (Vec::new(), Vec::new());
        for _ in 0..4 {
            let place = stream.below(20) as usize;
            let is_append = stream.chance(50);
            let pool = &mut history.pool;
            let key = pool.integer(keys[place] as i64);
            if is_append {
                next_value += 1;
                let value = pool.integer(next_value);
                lists[place].push(value);
                let name = pool.keyword("append");
                let step = pool.vector(&[name, key, value]);
                (asked.push(step), answered.push(step));
                continue;
            }
            // Every other one does not see what the last one wrote: a cycle with it, where it wrote something that the last one read.
            let stored = if is_component && at % 2 == 1 { &before[place] } else { &lists[place] };
            let list = pool.vector(stored);
            let name = pool.keyword("r");
            let steps = [pool.vector(&[name, key, DatumId::NIL]), pool.vector(&[name, key, list])];
            (asked.push(steps[0]), answered.push(steps[1]));
        }
        answers.push([history.pool.vector(&asked), history.pool.vector(&answered)]);
        if at % 2 == 1 {
            before.clone_from(&lists);
            for place in 0..20 {
                if lists[place].len() >= 32 {
                    lists[place].clear();
                    before[place].clear();
                    keys[place] = next_key;
                    next_key += 1;
                }
            }
        }
    }
    for (_, is_end, at) in spread(transactions, 20, &mut stream) {
        let kind = if is_end { OperationType::Ok } else { OperationType::Invoke };
        history.push(at as i64 % 40 + 1000 * (at as i64 / 40), kind, "txn", answers[at as usize][usize::from(is_end)]);
    }
    history
}

fn judge_lists(name: &str, transactions: u64, is_component: bool, asked: f64) {
    let history = lists(transactions, is_component);
    let start = cpu();
    let verdict = check_isolation(&history, &CheckLimits::default()).expect("transactions");
    let time = cpu() - start;
    let strict = verdict.validity(isolation_level("strict-serializable").expect("a level"));
    let kinds: Vec<&str> = verdict.anomalies.iter().map(|one| one.kind.as_str()).collect();
    println!(
        "{name:<16} {transactions} transactions: {time:.3} s (asked: {asked} s), {} bytes each, {strict:?} {kinds:?}",
        verdict.bytes as u64 / transactions
    );
}

/// Accounts between which money is moved, as an object: transfers that cannot be covered do nothing.
struct BankModel;

const ACCOUNTS: usize = 8;

impl BankModel {
    fn balances(state: &[u8]) -> Vec<i64> {
        state.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()
    }

    fn bytes(balances: &[i64]) -> Vec<u8> {
        balances.iter().flat_map(|balance| balance.to_le_bytes()).collect()
    }
}

impl SequentialModel for BankModel {
    fn initial(&self) -> Vec<u8> {
        BankModel::bytes(&[10; ACCOUNTS])
    }

    fn call(&self, _: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String> {
        match record.function {
            "transfer" => Ok(Some(record.call(ModelAction::Transaction, record.asked, None))),
            "read" => Ok(record.result().map(|read| record.call(ModelAction::Read, DatumId::NIL, Some(read)))),
            _ => Err("transfer or read".to_owned()),
        }
    }

    fn step(&self, pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates) {
        let mut balances = BankModel::balances(state);
        let integers = |id: DatumId| match pool.get(id) {
            Datum::Vector(items) => items.iter().filter_map(|item| pool.as_integer(*item)).collect(),
            _ => Vec::new(),
        };
        match (call.action, integers(call.argument).as_slice()) {
            (ModelAction::Read, _) if call.result.map(integers) == Some(balances.clone()) => next.push(state),
            (ModelAction::Transaction, [from, to, amount]) if balances[*from as usize] >= *amount => {
                balances[*from as usize] -= amount;
                balances[*to as usize] += amount;
                next.push(&BankModel::bytes(&balances));
            }
            (ModelAction::Transaction, _) => next.push(state),
            _ => {}
        }
    }

    fn describe(&self, _: &DatumPool, state: &[u8]) -> String {
        format!("{:?}", BankModel::balances(state))
    }
}

/// Transfers and reads that overlap, some with an unknown end; and one read that is wrong, if wanted.
fn bank(calls: u64, width: u64, is_wrong: bool) -> OperationHistory {
    let mut stream = DrawStream(9);
    let mut balances = [10i64; ACCOUNTS];
    let mut history = OperationHistory::default();
    let mut answers: Vec<(bool, DatumId, DatumId, bool)> = Vec::new();
    for call in 0..calls {
        let pool = &mut history.pool;
        if stream.chance(90) {
            let [from, to, amount] = [stream.below(8), stream.below(8), 1 + stream.below(5)].map(|one| one as i64);
            if balances[from as usize] >= amount {
                balances[from as usize] -= amount;
                balances[to as usize] += amount;
            }
            let ids = [from, to, amount].map(|one| pool.integer(one));
            let asked = pool.vector(&ids);
            answers.push((false, asked, asked, stream.chance(2)));
            continue;
        }
        let shown = if is_wrong && call > calls * 3 / 4 { [7; ACCOUNTS] } else { balances };
        let ids = shown.map(|one| pool.integer(one));
        answers.push((true, DatumId::NIL, pool.vector(&ids), false));
    }
    for (_, is_end, call) in spread(calls, width, &mut stream) {
        let (is_read, asked, answered, is_lost) = answers[call as usize];
        let (kind, value) = match (is_end, is_lost) {
            (false, _) => (OperationType::Invoke, asked),
            (true, false) => (OperationType::Ok, answered),
            (true, true) => (OperationType::Info, asked),
        };
        history.push(call as i64, kind, if is_read { "read" } else { "transfer" }, value);
    }
    history
}

fn main() {
    let figure = std::env::args().nth(1).unwrap_or_default();
    match figure.as_str() {
        "read-edn" | "read-json" => {
            let history = object("register", 500_000);
            let text = if figure == "read-edn" { history.to_edn() } else { history.to_json_lines() };
            std::fs::write("history.tmp", &text).expect("a file");
            println!("wrote history.tmp: {} operations, {} MB", history.operations.len(), text.len() / 1_000_000);
        }
        "read" => {
            let bytes = std::fs::read("history.tmp").expect("written by read-edn or read-json");
            let start = cpu();
            let history = OperationHistory::read(&bytes).expect("a history");
            let (time, peak) = (cpu() - start, peak_megabytes());
            let count = history.operations.len();
            println!(
                "{} {count} operations: {time:.3} s (asked: 2 s), {peak:.0} MB (asked: 400 MB)",
                history.format.name()
            );
        }
        "register" | "set" | "fifo-queue" | "stack" | "priority-queue" => {
            let history = object(&figure, 1_000_000);
            let start = cpu();
            let row = model(&figure).expect("a model");
            let verdict = check_linearizability(&history, row, &CheckLimits::default()).expect("it fits");
            let time = cpu() - start;
            assert_eq!(verdict.validity, Validity::Valid, "it is valid by construction");
            println!(
                "{figure:<16} 1000000 calls: {time:.3} s (asked: 2 s), {:.0} MB with the history",
                peak_megabytes()
            );
        }
        "bank" => {
            for (width, is_wrong) in [(10, false), (40, false), (100, false), (100, true)] {
                let history = bank(2_500, width, is_wrong);
                let row = ModelRow { name: "bank", summary: "", functions: &["transfer", "read"], model: &BankModel };
                let start = cpu();
                let verdict = check_linearizability(&history, &row, &CheckLimits::default()).expect("it fits");
                let one = &verdict.partitions[0];
                println!(
                    "bank, 5000 events, {width} wide{}: {:?} {:?}, {:.1} s, {} configurations, past {:?} returns, {:.0} MB at most",
                    if is_wrong { ", wrong" } else { "" },
                    verdict.validity,
                    one.reason,
                    cpu() - start,
                    one.configurations,
                    one.returns,
                    peak_megabytes()
                );
            }
        }
        "list-100k" => judge_lists(&figure, 100_000, false, 0.15),
        "list-1m" => judge_lists(&figure, 1_000_000, false, 2.0),
        "component" => judge_lists(&figure, 100_000, true, 1.0),
        _ => {
            eprintln!(
                "a figure: read-edn or read-json and then read, register, set, fifo-queue, stack, priority-queue, list-100k, list-1m, component"
            );
            std::process::exit(2);
        }
    }
}
