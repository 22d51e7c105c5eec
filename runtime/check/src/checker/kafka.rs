//! A log with offsets, as Kafka's: what is sent is polled, once, in order, and nothing else is.
//!
//! ```text
//! send  [[:send k 1]] ─▶ [[:send k [0 1]]]        1 stands at offset 0 of k
//! poll  [[:poll]]     ─▶ [[:poll {k [[0 1] [1 2]]}]]
//! ```
//!
//! Offsets may leave gaps, so positions are counted among the offsets that are known to hold a value. Between polls of a process,
//! keys that `assign` and `subscribe` do not name begin anew, and all of them with `:seek-to-beginning? true`. Each value is sent to a key once. Not faults, and noted only: gaps between sends of a transaction,
//! and, where clients subscribe, polls that skip or go back: another client may have had the key in between. Not here: cycles of
//! transactions beside those of reads from each other (`G1c`), for orders of writes say nothing in a log.

use super::{CallHistory, CheckerRow, CheckerVerdict};
use crate::history::{ClientCall, Datum, DatumId, HistoryError, HistoryOperation, OperationType, Process};
use crate::isolation::find_cycle_of_reads;
use std::collections::{BTreeMap, BTreeSet};

pub(super) const KAFKA: CheckerRow = CheckerRow {
    name: "kafka",
    summary: "a log: what is sent is polled once, in order",
    functions: &["send", "poll", "txn", "assign", "subscribe", "crash", "debug-topic-partitions"],
    by_key: false,
    check,
};

/// A key and an offset, or a key and a value.
type Place = (DatumId, i64);
type Message = (DatumId, DatumId);

/// One step of a call.
enum LogStep {
    /// A value, and its offset if that is known.
    Send(Message, Option<i64>),
    /// Values with their offsets, by key.
    Poll(Vec<(Place, DatumId)>),
}

/// A call that sends or polls.
struct LogCall<'a> {
    call: &'a ClientCall,
    steps: Vec<LogStep>,
}

fn check(calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) -> Result<(), HistoryError> {
    let log = Log::read(calls)?;
    let names = |(key, value): Message| format!("{} of key {}", calls.edn(value), calls.edn(key));
    verdict.count("sent-count", log.acknowledged.len());
    verdict.count("polled-count", log.polled.len());
    for ((key, offset), values) in log.values.iter().filter(|(_, values)| values.len() > 1) {
        let shown: Vec<String> = values.keys().map(|value| calls.edn(*value)).collect();
        let message = format!("offset {offset} of key {} has {}", calls.edn(*key), shown.join(" and "));
        verdict.wrong("inconsistent-offsets", message, &values.values().copied().collect::<Vec<_>>());
    }
    let mut offsets: BTreeMap<Message, BTreeSet<i64>> = BTreeMap::new();
    for ((key, offset), values) in &log.values {
        values.keys().for_each(|value| _ = offsets.entry((*key, *value)).or_default().insert(*offset));
    }
    for (message, places) in offsets.iter().filter(|(_, places)| places.len() > 1) {
        let shown: Vec<String> = places.iter().map(i64::to_string).collect();
        verdict.wrong("duplicate", format!("{} stands at offsets {}", names(*message), shown.join(", ")), &[]);
    }
    for (message, poll) in &log.polled {
        match log.senders.get(message) {
            Some((sender, OperationType::Fail)) => {
                verdict.wrong("G1a", format!("{} was polled, and its send failed", names(*message)), &[*sender, *poll]);
            }
            Some(_) => {}
            None => verdict.wrong("unsent", format!("{} was polled and never sent", names(*message)), &[*poll]),
        }
    }
    let mut unseen = 0;
    for (message, offset) in log.acknowledged.iter().filter(|(message, _)| !log.polled.contains_key(*message)) {
        let sender = log.senders.get(message).map_or(0, |one| one.0);
        let is_passed = log.highest_polled.get(&message.0).zip(*offset).is_some_and(|(highest, own)| own <= *highest);
        if is_passed {
            let what = format!("{} was acknowledged and never polled, and later offsets were", names(*message));
            verdict.wrong("lost-write", what, &[sender]);
        } else {
            unseen += 1;
            verdict.wrong(
                "unseen",
                format!("{} was acknowledged and not polled by the end", names(*message)),
                &[sender],
            );
        }
    }
    verdict.count("unseen-count", unseen);
    log.check_order(calls, verdict);
    log.check_transactions(verdict);
    Ok(())
}

/// What a history says of its logs.
#[derive(Default)]
struct Log<'a> {
    calls: Vec<LogCall<'a>>,
    /// Who assigns keys to itself, and when.
    restarts: Vec<&'a ClientCall>,
    /// Values at an offset, each with a call that shows it.
    values: BTreeMap<Place, BTreeMap<DatumId, u32>>,
    senders: BTreeMap<Message, (u32, OperationType)>,
    acknowledged: BTreeMap<Message, Option<i64>>,
    /// What was polled, with one poll of it.
    polled: BTreeMap<Message, u32>,
    highest_polled: BTreeMap<DatumId, i64>,
    /// Offsets of each key that hold a value, sorted.
    known: BTreeMap<DatumId, Vec<i64>>,
    has_subscriptions: bool,
}

impl<'a> Log<'a> {
    fn read(calls: &'a CallHistory<'_>) -> Result<Log<'a>, HistoryError> {
        let mut log = Log::default();
        for call in calls.all() {
            let invoked = calls.invoked(call);
            match calls.history.function_name(invoked) {
                "assign" | "subscribe" => {
                    log.has_subscriptions |= calls.history.function_name(invoked) == "subscribe";
                    log.restarts.push(call);
                    continue;
                }
                "crash" | "debug-topic-partitions" => continue,
                "send" | "poll" | "txn" => {}
                _ => {
                    return Err(
                        calls.unfit(invoked, "a function of the checker: send, poll, txn, assign, subscribe, crash")
                    );
                }
            }
            let is_ok = call.outcome == OperationType::Ok;
            let steps = steps(calls, if is_ok { calls.completed(call) } else { invoked })?;
            for step in &steps {
                log.note(call, step, is_ok);
            }
            log.calls.push(LogCall { call, steps });
        }
        for (key, offset) in log.values.keys() {
            log.known.entry(*key).or_default().push(*offset);
        }
        Ok(log)
    }

    fn note(&mut self, call: &ClientCall, step: &LogStep, is_ok: bool) {
        match step {
            LogStep::Send(message, offset) => {
                self.senders.entry(*message).or_insert((call.invocation, call.outcome));
                if is_ok {
                    self.acknowledged.insert(*message, *offset);
                    if let Some(offset) = offset {
                        self.values
                            .entry((message.0, *offset))
                            .or_default()
                            .entry(message.1)
                            .or_insert(call.invocation);
                    }
                }
            }
            LogStep::Poll(values) if is_ok => {
                for ((key, offset), value) in values {
                    self.values.entry((*key, *offset)).or_default().entry(*value).or_insert(call.invocation);
                    self.polled.entry((*key, *value)).or_insert(call.invocation);
                    let highest = self.highest_polled.entry(*key).or_insert(*offset);
                    *highest = (*highest).max(*offset);
                }
            }
            LogStep::Poll(_) => {}
        }
    }

    /// How far an offset is behind another, counted in offsets that hold values.
    fn distance(&self, key: DatumId, from: i64, to: i64) -> i64 {
        let known = self.known.get(&key).map_or(&[][..], Vec::as_slice);
        let place = |offset: i64| known.partition_point(|one| *one < offset) as i64;
        place(to) - place(from)
    }

    /// Sends and polls of each process, and of each call, go forward by one.
    fn check_order(&self, calls: &CallHistory<'_>, verdict: &mut CheckerVerdict) {
        let mut polls: BTreeMap<(Process, DatumId), (i64, u32)> = BTreeMap::new();
        let mut sends: BTreeMap<(Process, DatumId), (i64, u32)> = BTreeMap::new();
        let mut restarts = self.restarts.iter().peekable();
        let ok = self.calls.iter().filter(|one| one.call.outcome == OperationType::Ok && calls.has_time());
        for LogCall { call, steps } in ok {
            while let Some(restart) = restarts.next_if(|one| one.invocation < call.invocation) {
                forget(calls, restart, &mut polls);
            }
            let rebalanced = rebalanced_keys(calls, call);
            let process = calls.invoked(call).process;
            let (mut polled_here, mut sent_here): (BTreeSet<DatumId>, BTreeSet<DatumId>) = Default::default();
            for step in steps {
                match step {
                    LogStep::Poll(values) => {
                        for ((key, offset), _) in values {
                            let is_inner = !polled_here.insert(*key);
                            let before = polls.insert((process, *key), (*offset, call.invocation));
                            let Some((last, other)) = before else { continue };
                            // The key went to another client and came back, in the middle of the call.
                            if is_inner && rebalanced.contains(key) {
                                continue;
                            }
                            let (kind, what) = match self.distance(*key, last, *offset) {
                                1 => continue,
                                distance if distance > 1 => {
                                    (if is_inner { "int-poll-skip" } else { "poll-skip" }, "skips what is between")
                                }
                                _ => (
                                    if is_inner { "int-nonmonotonic-poll" } else { "nonmonotonic-poll" },
                                    "does not go forward",
                                ),
                            };
                            let message = format!("key {}: offset {offset} after {last} {what}", calls.edn(*key));
                            let operations = [other, call.invocation];
                            // Another client may have had the key in between.
                            match self.has_subscriptions && !is_inner {
                                true => verdict.note(kind, message, &operations),
                                false => verdict.wrong(kind, message, &operations),
                            }
                        }
                    }
                    LogStep::Send((key, _), Some(offset)) => {
                        let is_inner = !sent_here.insert(*key);
                        let before = sends.insert((process, *key), (*offset, call.invocation));
                        let Some((last, other)) = before else { continue };
                        let distance = self.distance(*key, last, *offset);
                        let operations = [other, call.invocation];
                        if distance < 1 {
                            let kind = if is_inner { "int-nonmonotonic-send" } else { "nonmonotonic-send" };
                            let message =
                                format!("key {}: offset {offset} after {last} does not go forward", calls.edn(*key));
                            verdict.wrong(kind, message, &operations);
                        } else if distance > 1 && is_inner {
                            let message =
                                format!("key {}: offset {offset} after {last}, with others between", calls.edn(*key));
                            verdict.note("int-send-skip", message, &operations);
                        }
                    }
                    LogStep::Send(_, None) => {}
                }
            }
        }
    }

    /// A transaction does not poll what it sends, and none reads from itself by way of others.
    fn check_transactions(&self, verdict: &mut CheckerVerdict) {
        let numbers: BTreeMap<u32, u32> =
            self.calls.iter().zip(0..).map(|(one, number)| (one.call.invocation, number)).collect();
        let mut edges: Vec<(u32, u32)> = Vec::new();
        for (LogCall { call, steps }, to) in
            self.calls.iter().zip(0..).filter(|(one, _)| one.call.outcome == OperationType::Ok)
        {
            let mut own = false;
            for ((key, _), value) in
                steps.iter().flat_map(|step| if let LogStep::Poll(values) = step { values.as_slice() } else { &[] })
            {
                let sender = self.senders.get(&(*key, *value)).and_then(|(sender, _)| numbers.get(sender));
                match sender {
                    Some(from) if *from == to => own = true,
                    Some(from) => edges.push((*from, to)),
                    None => {}
                }
            }
            if own {
                let message = "a transaction polled what it had sent itself, before it was committed".to_owned();
                verdict.wrong("precommitted-read", message, &[call.invocation]);
            }
        }
        if let Some(cycle) = find_cycle_of_reads(self.calls.len() as u32, &edges) {
            let operations: Vec<u32> =
                cycle.iter().map(|number| self.calls[*number as usize].call.invocation).collect();
            verdict.wrong(
                "G1c",
                format!("{} transactions polled what the next one sent, in a circle", cycle.len()),
                &operations,
            );
        }
    }
}

/// Forgets what a process polled last of keys that an assignment takes from it, or that it reads again from their beginning.
fn forget(calls: &CallHistory<'_>, restart: &ClientCall, polls: &mut BTreeMap<(Process, DatumId), (i64, u32)>) {
    let (pool, completed) = (&calls.history.pool, calls.completed(restart));
    let kept = match restart.outcome {
        OperationType::Ok => pool.elements(completed.value).unwrap_or_default(),
        // It kept what it had.
        OperationType::Fail => return,
        OperationType::Info | OperationType::Invoke => &[],
    };
    let entry = |operation: &HistoryOperation| pool.entry(operation.extra, "seek-to-beginning?");
    let from_start = [calls.invoked(restart), completed].iter().any(|one| entry(one) == Some(DatumId::TRUE));
    let process = calls.invoked(restart).process;
    let kept: BTreeSet<DatumId> = kept.iter().copied().filter(|_| !from_start).collect();
    let own = polls.range((process, DatumId::NIL)..).map(|(key, _)| *key).take_while(|(of, _)| *of == process);
    let gone: Vec<(Process, DatumId)> = own.filter(|(_, key)| !kept.contains(key)).collect();
    gone.iter().for_each(|key| _ = polls.remove(key));
}

/// Keys that a call lost and got while it polled, as its `:rebalance-log` says: `[{:keys [k …]} …]`.
fn rebalanced_keys(calls: &CallHistory<'_>, call: &ClientCall) -> BTreeSet<DatumId> {
    let pool = &calls.history.pool;
    let log = pool.entry(calls.completed(call).extra, "rebalance-log");
    let entries = log.and_then(|log| pool.elements(log)).unwrap_or_default();
    let keys = entries.iter().filter_map(|entry| pool.elements(pool.entry(*entry, "keys")?));
    keys.flatten().copied().collect()
}

const EXPECTED: &str = "a list of [:send key value], [:send key [offset value]], [:poll {key [[offset value] …]}]";

fn steps(calls: &CallHistory<'_>, operation: &HistoryOperation) -> Result<Vec<LogStep>, HistoryError> {
    let pool = &calls.history.pool;
    let wrong = || calls.unfit(operation, EXPECTED);
    let mut steps = Vec::new();
    for step in pool.elements(operation.value).ok_or_else(wrong)? {
        let parts = pool.elements(*step).ok_or_else(wrong)?;
        match (parts.first().and_then(|name| pool.name(*name)), parts) {
            (Some("send"), &[_, key, value]) => {
                let placed =
                    pool.pair(value).filter(|(offset, _)| offset.is_nil() || pool.as_integer(*offset).is_some());
                steps.push(match placed {
                    Some((offset, value)) => LogStep::Send((key, value), pool.as_integer(offset)),
                    None => LogStep::Send((key, value), None),
                });
            }
            (Some("poll"), &[_]) => {}
            (Some("poll"), &[_, polled]) => {
                let Datum::Map(entries) = pool.get(polled) else { return Err(wrong()) };
                let mut values = Vec::new();
                for [key, list] in entries.as_chunks::<2>().0 {
                    for pair in pool.elements(*list).ok_or_else(wrong)? {
                        let (offset, value) = pool.pair(*pair).ok_or_else(wrong)?;
                        values.push(((*key, pool.as_integer(offset).ok_or_else(wrong)?), value));
                    }
                }
                steps.push(LogStep::Poll(values));
            }
            _ => return Err(wrong()),
        }
    }
    Ok(steps)
}
