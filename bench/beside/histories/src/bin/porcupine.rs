//! Verdicts of `fozzy-check` beside those of porcupine-rs on the same generated histories, in turn: CPU time of each, verdicts equal.
//!
//! ```text
//! beside-porcupine [ROUNDS]
//!
//! register   100 histories of 5 clients, of the size that tests of etcd give: reads and writes that all return
//! etcd       the same with compare-and-set, half of which fail, and with calls that never return, as logs of such tests have them
//! kv         gets, puts and appends of 50 clients to 10 keys, valid and with one wrong answer
//! ```
//!
//! Each call takes effect at a moment between its invocation and its return, so a history is valid as it is drawn. Both sides have
//! their histories in memory; ours reads its calls from general ones, theirs from ones made for its model.

use beside_histories::{DrawStream, cpu, median};
use fozzy_check::{CheckLimits, OperationHistory, OperationType, Validity, check_linearizability, model};
use porcupine_rs::{CheckResult, Model, Operation, check_operations_timeout};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long either may take for one history.
const TIME_MAX: Duration = Duration::from_secs(10);

/// A call: what it does to a key, and when it was invoked and returned.
#[derive(Clone, Debug)]
struct Call {
    client: u32,
    action: Action,
    key: u64,
    /// What a read returned, or what was written; of a compare-and-set, what it looked for and what it wrote.
    value: String,
    /// Of a compare-and-set, what it wrote if it found the value.
    second: String,
    begin: i64,
    /// `NEVER` for one whose end nobody knows.
    end: i64,
}

/// After all else.
const NEVER: i64 = i64::MAX;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Action {
    Read,
    Write,
    Append,
    Cas,
    FailedCas,
}

/// Calls of some clients to some keys; with a wrong answer if wanted.
fn calls(stream: &mut DrawStream, clients: u32, count: u64, keys: u64, appends: bool, is_wrong: bool) -> Vec<Call> {
    // When each client is free, and the moment of each call in the order in which they take effect.
    let mut free = vec![0i64; clients as usize];
    let mut drawn: Vec<(i64, Call)> = Vec::new();
    for _ in 0..count {
        let client = (0..clients).min_by_key(|client| free[*client as usize]).unwrap_or(0);
        let begin = free[client as usize] + 1 + stream.below(100) as i64;
        let (wait, rest) = (stream.below(1000) as i64, stream.below(1000) as i64);
        free[client as usize] = begin + wait + rest + 2;
        let action = match stream.below(if appends { 4 } else { 2 }) {
            0 => Action::Read,
            1 if appends && stream.below(20) > 0 => Action::Append,
            1 => Action::Write,
            2 => Action::Read,
            _ => Action::Append,
        };
        let call = Call {
            client,
            action,
            key: stream.below(keys),
            value: String::new(),
            second: String::new(),
            begin,
            end: begin + wait + rest + 1,
        };
        drawn.push((begin + wait, call));
    }
    drawn.sort_by_key(|(moment, _)| *moment);
    let mut state: BTreeMap<u64, String> = BTreeMap::new();
    for (at, (_, call)) in drawn.iter_mut().enumerate() {
        let now = state.entry(call.key).or_default();
        match call.action {
            Action::Read => {}
            Action::Write => *now = if appends { format!("w{at} ") } else { (stream.below(5) + 1).to_string() },
            Action::Append => now.push_str(&format!("x{at} ")),
            Action::Cas | Action::FailedCas => {}
        }
        call.value = match call.action {
            Action::Append => format!("x{at} "),
            _ => now.clone(),
        };
    }
    let mut all: Vec<Call> = drawn.into_iter().map(|(_, call)| call).collect();
    if is_wrong {
        // A late read sees the first of many appends, and none of the others.
        let late = all.iter().rposition(|call| call.action == Action::Read && call.value.matches(' ').count() > 40);
        if let Some(late) = late {
            let first = all[late].value.find(' ').map_or(0, |at| at + 1);
            all[late].value.truncate(first);
        }
    }
    all.sort_by_key(|call| call.begin);
    all
}

/// Calls of five clients to a register of etcd: reads, writes, compare-and-set; now and then one never returns, and another client goes on.
fn etcd_calls(stream: &mut DrawStream) -> Vec<Call> {
    let mut free = [0i64; 5];
    let mut names = [0u32, 1, 2, 3, 4];
    let mut drawn: Vec<(i64, Call)> = Vec::new();
    for _ in 0..85 {
        let at = (0..5).min_by_key(|at| free[*at]).unwrap_or(0);
        let begin = free[at] + 1 + stream.below(100) as i64;
        let (wait, rest) = (stream.below(1000) as i64, stream.below(1000) as i64);
        free[at] = begin + wait + rest + 2;
        let action = [Action::Read, Action::Write, Action::Cas][stream.below(3) as usize];
        let is_lost = action != Action::Read && stream.chance(15);
        let end = if is_lost { NEVER } else { begin + wait + rest + 1 };
        let call = Call { client: names[at], action, key: 0, value: String::new(), second: String::new(), begin, end };
        names[at] += if is_lost { 5 } else { 0 };
        drawn.push((begin + wait, call));
    }
    drawn.sort_by_key(|(moment, _)| *moment);
    let mut state = String::new();
    for (_, call) in &mut drawn {
        let any = (stream.below(5) + 1).to_string();
        match call.action {
            // Of a call that never returned nobody knows whether it took effect.
            _ if call.end == NEVER && stream.chance(50) => {
                (call.value, call.second) = ("1".to_owned(), any);
                continue;
            }
            Action::Write => state.clone_from(&any),
            Action::Cas => {
                let looks_for = if stream.chance(50) { state.clone() } else { (stream.below(5) + 1).to_string() };
                if looks_for == state && !state.is_empty() {
                    state.clone_from(&any);
                } else if call.end != NEVER {
                    call.action = Action::FailedCas;
                }
                (call.value, call.second) = (if looks_for.is_empty() { "9".to_owned() } else { looks_for }, any);
                continue;
            }
            _ => {}
        }
        call.value.clone_from(&state);
    }
    let mut all: Vec<Call> = drawn.into_iter().map(|(_, call)| call).collect();
    all.sort_by_key(|call| call.begin);
    all
}

/// The history of calls, as ours reads it.
fn ours(calls: &[Call], appends: bool) -> OperationHistory {
    let mut history = OperationHistory::default();
    let mut events: Vec<(i64, bool, usize)> = Vec::new();
    for (at, call) in calls.iter().enumerate() {
        events.push((call.begin, false, at));
        if call.end != NEVER {
            events.push((call.end, true, at));
        }
    }
    events.sort_unstable();
    for (_, is_end, at) in events {
        let call = &calls[at];
        let function = match call.action {
            Action::Read if appends => "get",
            Action::Read => "read",
            Action::Write if appends => "put",
            Action::Write => "write",
            Action::Append => "append",
            Action::Cas | Action::FailedCas => "cas",
        };
        let pool = &mut history.pool;
        let is_known = is_end || call.action != Action::Read;
        let value = if is_known { pool.text(&call.value) } else { fozzy_check::DatumId::NIL };
        let value = match call.value.is_empty() && is_end && !appends {
            true => fozzy_check::DatumId::NIL,
            false => value,
        };
        let value = match call.action {
            Action::Cas | Action::FailedCas => {
                let second = pool.text(&call.second);
                pool.vector(&[value, second])
            }
            _ => value,
        };
        let key = pool.integer(call.key as i64);
        let value = if appends { pool.vector(&[key, value]) } else { value };
        let kind = match (is_end, call.action) {
            (false, _) => OperationType::Invoke,
            (true, Action::FailedCas) => OperationType::Fail,
            (true, _) => OperationType::Ok,
        };
        history.push(i64::from(call.client), kind, function, value);
    }
    history
}

/// Their model: one key, whose value is a text.
#[derive(Clone, Debug)]
struct Text;

#[derive(Clone, Debug)]
struct TextCall {
    key: u64,
    action: Action,
    value: String,
    second: String,
    /// Whether it has returned: one that has not need not take effect.
    is_known: bool,
}

impl Model for Text {
    type State = String;
    type Op = TextCall;
    type Metadata = ();

    fn partition_operations(history: &[Operation<Self>]) -> Vec<Vec<Operation<Self>>> {
        let mut parts: BTreeMap<u64, Vec<Operation<Self>>> = BTreeMap::new();
        history.iter().for_each(|one| parts.entry(one.op.key).or_default().push(one.clone()));
        parts.into_values().collect()
    }

    fn init() -> String {
        String::new()
    }

    fn step(state: &String, call: &TextCall) -> (bool, String) {
        match call.action {
            Action::Read => (*state == call.value, state.clone()),
            Action::Write => (true, call.value.clone()),
            Action::Append => (true, format!("{state}{}", call.value)),
            Action::Cas if *state == call.value => (true, call.second.clone()),
            Action::Cas => (!call.is_known, state.clone()),
            Action::FailedCas => (*state != call.value, state.clone()),
        }
    }
}

fn theirs(calls: &[Call]) -> Vec<Operation<Text>> {
    let operation = |call: &Call| Operation {
        client_id: Some(call.client),
        call_time: call.begin,
        return_time: call.end,
        op: TextCall {
            key: call.key,
            action: call.action,
            value: call.value.clone(),
            second: call.second.clone(),
            is_known: call.end != NEVER,
        },
        metadata: None,
    };
    calls.iter().map(operation).collect()
}

fn row(name: &str, rounds: usize, histories: &[Vec<Call>], appends: bool) {
    let row = model(if appends { "kv" } else { "etcd-register" }).expect("a model");
    let mine: Vec<OperationHistory> = histories.iter().map(|calls| ours(calls, appends)).collect();
    let other: Vec<Vec<Operation<Text>>> = histories.iter().map(|calls| theirs(calls)).collect();
    let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
    let (mut differ, mut late, mut our_late, mut invalid) = (0, 0, 0, 0);
    for _ in 0..rounds {
        (differ, late, our_late, invalid) = (0, 0, 0, 0);
        let start = cpu();
        let found: Vec<Validity> = mine
            .iter()
            .map(|one| {
                let begin = Instant::now();
                let is_over = || begin.elapsed() > TIME_MAX;
                let limits = CheckLimits { is_over: &is_over, ..CheckLimits::default() };
                check_linearizability(one, row, &limits).expect("it fits").validity
            })
            .collect();
        let middle = cpu();
        let expected: Vec<CheckResult> = other.iter().map(|one| check_operations_timeout(one, TIME_MAX)).collect();
        our_times.push(middle - start);
        their_times.push(cpu() - middle);
        for (found, expected) in found.iter().zip(expected) {
            invalid += usize::from(*found == Validity::Invalid);
            our_late += usize::from(*found == Validity::Unknown);
            match expected {
                CheckResult::Unknown => late += 1,
                _ if *found == Validity::Unknown => {}
                expected => differ += usize::from((expected == CheckResult::Ok) != (*found == Validity::Valid)),
            }
        }
    }
    let (mine, other) = (median(our_times), median(their_times));
    println!(
        "{name:<38} ours {:>9.3} ms  porcupine-rs {:>10.3} ms  {:>7.1} times  {invalid} of {} invalid, {differ} differ, \
         not decided in time: {our_late} by ours, {late} by porcupine-rs",
        mine * 1e3,
        other * 1e3,
        other / mine,
        histories.len(),
    );
}

fn main() {
    let rounds = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(5);
    let mut stream = DrawStream(7);
    let registers: Vec<Vec<Call>> = (0..100).map(|_| calls(&mut stream, 5, 85, 1, false, false)).collect();
    row("register, 100 of 170 events", rounds, &registers, false);
    let etcd: Vec<Vec<Call>> = (0..100).map(|_| etcd_calls(&mut stream)).collect();
    row("etcd, 100 of 170 events", rounds, &etcd, false);
    for (count, is_wrong) in [(1_700, false), (1_700, true), (7_000, false), (7_000, true)] {
        let name = format!("kv, 50 clients, {count} calls{}", if is_wrong { ", one wrong" } else { "" });
        row(&name, rounds, &[calls(&mut stream, 50, count, 10, true, is_wrong)], true);
    }
}
