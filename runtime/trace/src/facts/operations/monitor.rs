//! Anomalies that are certain while a run continues: whatever its clients do next, its history stays wrong.
//!
//! ```text
//! unique-ids   an id was generated twice                    counter     a read below what was added, or above what may have been
//! set-full     an element twice in a read, or never added   kafka       an offset with two values, a value at two offsets,
//! isolation    a read of what a failed transaction wrote (G1a)           a poll of what failed or was never sent
//! ```
//!
//! Invariants: each event is looked at once, in logarithmic time; what is found here the checker of whole histories finds, too. Values
//! that it cannot read say nothing: that checker refuses them when the run has ended.
//! Not here: what only a whole history tells, such as an element that is lost.

use super::{Operation, OperationEnd};
use crate::facts::{FailureKind, ReportedFailure};
use crate::plan::HistoryCriterion;
use std::collections::{BTreeMap, BTreeSet};

/// Brackets inside of brackets that are looked into.
const DEPTH_MAX: usize = 8;

/// What was seen so far of a run's operations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct HistoryMonitor {
    /// Criteria that have seen all of it.
    criteria: usize,
    ids: BTreeSet<String>,
    counter: CounterBounds,
    added: BTreeSet<String>,
    /// By key and element: what failed transactions wrote, and what was read.
    failed_writes: BTreeSet<(String, String)>,
    reads: BTreeSet<(String, String)>,
    log: LogState,
}

/// What a counter can be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct CounterBounds {
    certain: i64,
    attempted: i64,
    /// By read that is open: what was certain when it began.
    lowest: BTreeMap<usize, i64>,
}

/// What is known of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct LogState {
    values: BTreeMap<(String, String), String>,
    offsets: BTreeMap<(String, String), String>,
    sent: BTreeSet<(String, String)>,
}

/// An anomaly: its kind, the key that it is of, and what it is in words.
type Anomaly = (&'static str, Option<String>, String);

impl HistoryMonitor {
    /// Looks at what has happened last, if anything: the operation of that number has begun, or ended.
    pub(super) fn observe(
        &mut self,
        all: &[Operation],
        criteria: &[HistoryCriterion],
        latest: Option<(usize, bool)>,
    ) -> Option<ReportedFailure> {
        if self.criteria < criteria.len() {
            // A new one counts from the first operation on.
            *self = HistoryMonitor { criteria: criteria.len(), ..HistoryMonitor::default() };
            return self.replay(all, criteria);
        }
        let (at, is_end) = latest?;
        self.event(&all[at], at, is_end, criteria)
    }

    /// Everything anew, in the order in which it happened.
    fn replay(&mut self, all: &[Operation], criteria: &[HistoryCriterion]) -> Option<ReportedFailure> {
        let begun = all.iter().enumerate().map(|(at, one)| (one.invoked.0, at, false));
        let ended = all.iter().enumerate().filter_map(|(at, one)| Some((one.end.as_ref()?.1, at, true)));
        let mut events: Vec<(u64, usize, bool)> = begun.chain(ended).collect();
        events.sort_unstable();
        events.into_iter().find_map(|(_, at, is_end)| self.event(&all[at], at, is_end, criteria))
    }

    fn event(
        &mut self,
        operation: &Operation,
        at: usize,
        is_end: bool,
        criteria: &[HistoryCriterion],
    ) -> Option<ReportedFailure> {
        criteria.iter().find_map(|criterion| {
            let found = match criterion.checker.as_str() {
                "unique-ids" => self.unique_ids(operation, is_end),
                "counter" => self.counter(operation, at, is_end),
                "set-full" => self.set_full(operation, is_end),
                "kafka" => self.kafka(operation, is_end),
                "isolation" if !criterion.model.ends_with("read-uncommitted") => self.g1a(operation, is_end),
                _ => None,
            };
            found.map(|(kind, key, message)| {
                let site = criterion.site(kind, key.as_deref());
                let message = format!("{}: {message}", criterion.name());
                ReportedFailure::new(FailureKind::History, &site, &message)
            })
        })
    }

    fn unique_ids(&mut self, operation: &Operation, is_end: bool) -> Option<Anomaly> {
        let output = output_of(operation, "generate", is_end)?;
        let is_new = self.ids.insert(output.to_owned());
        (!is_new).then(|| ("duplicated", None, format!("{output} was generated twice")))
    }

    fn counter(&mut self, operation: &Operation, at: usize, is_end: bool) -> Option<Anomaly> {
        let bounds = &mut self.counter;
        // Others are refused when the run has ended.
        let added = operation.input.trim().parse::<i64>().unwrap_or(0).max(0);
        match (function(operation), is_end) {
            ("add", false) => bounds.attempted = bounds.attempted.saturating_add(added),
            ("add", true) => match end_of(operation) {
                Some(OperationEnd::Ok(_)) => bounds.certain = bounds.certain.saturating_add(added),
                Some(OperationEnd::Fail(_)) => bounds.attempted = bounds.attempted.saturating_sub(added),
                _ => {}
            },
            ("read", false) => _ = bounds.lowest.insert(at, bounds.certain),
            ("read", true) => {
                let lowest = bounds.lowest.remove(&at)?;
                let read: i64 = output_of(operation, "read", true)?.parse().ok()?;
                if !(lowest..=bounds.attempted.max(lowest)).contains(&read) {
                    let message = format!("{read} was read, expected from {lowest} to {}", bounds.attempted);
                    return Some(("out-of-bounds", None, message));
                }
            }
            _ => {}
        }
        None
    }

    fn set_full(&mut self, operation: &Operation, is_end: bool) -> Option<Anomaly> {
        if ["add", "broadcast"].contains(&function(operation)) && !is_end {
            self.added.insert(operation.input.trim().to_owned());
        }
        let Node::List(elements) = parse(output_of(operation, "read", is_end)?)? else { return None };
        let mut once = BTreeSet::new();
        for element in elements {
            let Node::Atom(element) = element else { return None };
            if !self.added.contains(&element) {
                return Some(("unexpected", None, format!("{element} was read and never added")));
            }
            if !once.insert(element.clone()) {
                return Some(("duplicated", None, format!("{element} is in one read twice")));
            }
        }
        None
    }

    fn g1a(&mut self, operation: &Operation, is_end: bool) -> Option<Anomaly> {
        let what = |(key, element): &(String, String)| {
            let message = format!("{element} of key {key} was read, and the transaction that wrote it failed");
            Some(("G1a", Some(key.clone()), message))
        };
        match end_of(operation).filter(|_| is_end)? {
            OperationEnd::Fail(_) => {
                for (name, key, value) in steps(&operation.input)? {
                    if let ("append" | "w", Node::Atom(value)) = (name.as_str(), value) {
                        let place = (key, value);
                        if self.reads.contains(&place) {
                            return what(&place);
                        }
                        self.failed_writes.insert(place);
                    }
                }
            }
            OperationEnd::Ok(output) => {
                for (name, key, value) in steps(if output.trim().is_empty() { &operation.input } else { output })? {
                    let read = match (name.as_str(), value) {
                        ("r", Node::Atom(value)) if value != "nil" && value != "null" => vec![Node::Atom(value)],
                        ("r", Node::List(values)) => values,
                        _ => continue,
                    };
                    for element in read {
                        let Node::Atom(element) = element else { return None };
                        let place = (key.clone(), element);
                        if self.failed_writes.contains(&place) {
                            return what(&place);
                        }
                        self.reads.insert(place);
                    }
                }
            }
            OperationEnd::Info(_) => {}
        }
        None
    }

    fn kafka(&mut self, operation: &Operation, is_end: bool) -> Option<Anomaly> {
        if !is_end {
            for (name, key, value) in steps(&operation.input)? {
                if let ("send", Node::Atom(value)) = (name.as_str(), value) {
                    self.log.sent.insert((key, value));
                }
            }
            return None;
        }
        let Some(OperationEnd::Ok(output)) = end_of(operation) else { return None };
        let Node::List(all) = parse(output)? else { return None };
        for step in all {
            let Node::List(step) = step else { return None };
            match step.as_slice() {
                [Node::Atom(name), Node::Atom(key), Node::List(pair)] if name == "send" => {
                    if let [Node::Atom(offset), Node::Atom(value)] = pair.as_slice()
                        && let Some(found) = self.log.place(key, offset, value)
                    {
                        return Some(found);
                    }
                }
                [Node::Atom(name), Node::List(by_key)] if name == "poll" => {
                    for (key, pairs) in by_key.chunks_exact(2).map(|pair| (&pair[0], &pair[1])) {
                        let (Node::Atom(key), Node::List(pairs)) = (key, pairs) else { return None };
                        for pair in pairs {
                            let Node::List(pair) = pair else { return None };
                            let [Node::Atom(offset), Node::Atom(value)] = pair.as_slice() else { return None };
                            if !self.log.sent.contains(&(key.clone(), value.clone())) {
                                let message = format!("{value} of key {key} was polled and never sent");
                                return Some(("unsent", Some(key.clone()), message));
                            }
                            if let Some(found) = self.log.place(key, offset, value) {
                                return Some(found);
                            }
                        }
                    }
                }
                _ => {}
            }
        }
        None
    }
}

impl LogState {
    /// Notes that a value stands at an offset.
    fn place(&mut self, key: &str, offset: &str, value: &str) -> Option<Anomaly> {
        let at = |word: &str| (key.to_owned(), word.to_owned());
        let before = self.values.entry(at(offset)).or_insert_with(|| value.to_owned());
        if before != value {
            let message = format!("offset {offset} of key {key} has {before} and {value}");
            return Some(("inconsistent-offsets", Some(key.to_owned()), message));
        }
        let before = self.offsets.entry(at(value)).or_insert_with(|| offset.to_owned());
        (before != offset).then(|| {
            let message = format!("{value} of key {key} stands at offsets {before}, {offset}");
            ("duplicate", Some(key.to_owned()), message)
        })
    }
}

fn function(operation: &Operation) -> &str {
    operation.operation.split(' ').next().unwrap_or_default()
}

fn end_of(operation: &Operation) -> Option<&OperationEnd> {
    operation.end.as_ref().map(|(end, ..)| end)
}

/// What an operation of a function has answered, if that is what happens now.
fn output_of<'a>(operation: &'a Operation, name: &str, is_end: bool) -> Option<&'a str> {
    match end_of(operation).filter(|_| is_end && function(operation) == name)? {
        OperationEnd::Ok(output) => Some(output.trim()).filter(|output| !output.is_empty()),
        OperationEnd::Fail(_) | OperationEnd::Info(_) => None,
    }
}

/// A value in EDN or JSON, without what does not matter here: names have no colon, texts no quotes.
#[derive(Debug, PartialEq)]
enum Node {
    Atom(String),
    /// A sequence, a set, or a map with its keys and values in turn.
    List(Vec<Node>),
}

/// Steps of a transaction: name, key, value.
fn steps(text: &str) -> Option<Vec<(String, String, Node)>> {
    let Node::List(all) = parse(text)? else { return None };
    let step = |step: Node| {
        let Node::List(step) = step else { return None };
        let mut parts = step.into_iter();
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(Node::Atom(name)), Some(Node::Atom(key)), Some(value), None) => Some((name, key, value)),
            _ => None,
        }
    };
    // Steps of other forms, such as polls, have no value.
    Some(all.into_iter().filter_map(step).collect())
}

fn parse(text: &str) -> Option<Node> {
    let mut open: Vec<Vec<Node>> = vec![Vec::new()];
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '[' | '(' | '{' if open.len() > DEPTH_MAX => return None,
            '[' | '(' | '{' => open.push(Vec::new()),
            ']' | ')' | '}' => {
                let list = Node::List(open.pop()?);
                open.last_mut()?.push(list);
            }
            '"' => {
                let mut word = String::new();
                loop {
                    match rest.next()? {
                        '"' => break,
                        '\\' => word.push(rest.next()?),
                        other => word.push(other),
                    }
                }
                // Of a key in JSON.
                rest.next_if_eq(&':');
                open.last_mut()?.push(Node::Atom(word));
            }
            c if c == ',' || c == '#' || c.is_whitespace() => {}
            c => {
                let mut word = if c == ':' { String::new() } else { String::from(c) };
                let is_word = |c: &char| !c.is_whitespace() && !"[](){},\"".contains(*c);
                while let Some(c) = rest.next_if(is_word) {
                    word.push(c);
                }
                open.last_mut()?.push(Node::Atom(word));
            }
        }
    }
    let mut whole = open.pop().filter(|_| open.is_empty())?;
    whole.pop().filter(|_| whole.is_empty())
}

#[cfg(test)]
mod tests {
    use crate::Instant;
    use crate::facts::{OperationEnd, Operations};
    use crate::plan::HistoryCriterion;

    /// Operations one after the other: function, input, and how it ended; what is found, and after how many.
    fn first(checker: &str, calls: &[(&str, &str, &str)]) -> Option<(usize, String, String)> {
        let mut operations = Operations::default();
        let criterion = HistoryCriterion::named(checker, "");
        operations.hold_to(criterion).expect("room");
        for (at, (name, input, end)) in calls.iter().enumerate() {
            let number = operations.invoke(0, name, input, Instant(0)).expect("room");
            let end = match end.split_once('!') {
                Some(("fail", why)) => OperationEnd::Fail(why.to_owned()),
                Some((_, why)) => OperationEnd::Info(why.to_owned()),
                None => OperationEnd::Ok((*end).to_owned()),
            };
            let begun = operations.anomaly();
            operations.end(number, end, Instant(0)).expect("it runs");
            if let Some(found) = begun.or_else(|| operations.anomaly()) {
                return Some((at, found.site, found.message));
            }
        }
        None
    }

    #[test]
    fn the_first_anomaly_is_found_when_it_happens() {
        let check = |checker: &str, calls: &[(&str, &str, &str)], expected: Option<(usize, &str)>| {
            let found = first(checker, calls);
            let found = found.as_ref().map(|(at, site, _)| (*at, site.as_str()));
            assert_eq!(found, expected, "{checker}: {calls:?}");
        };
        let ids = [("generate", "", "1"), ("generate", "", "2"), ("generate", "", "1"), ("generate", "", "1")];
        check("unique-ids", &ids, Some((2, "unique-ids: duplicated")));
        check("unique-ids", &ids[..2], None);
        let counter = [("add", "1", ""), ("add", "2", "info!"), ("read", "", "3"), ("read", "", "0")];
        check("counter", &counter, Some((3, "counter: out-of-bounds")));
        check("counter", &[("add", "2", "fail!"), ("read", "", "2")], Some((1, "counter: out-of-bounds")));
        check("set-full", &[("add", "1", ""), ("read", "", "[1]"), ("read", "", "#{}")], None);
        check("set-full", &[("add", "1", ""), ("read", "", "[1 1]")], Some((1, "set-full: duplicated")));
        let dirty = [("txn", "[[:append x 1]]", "fail!"), ("txn", "[[:r x nil]]", "[[:r x [1]]]")];
        check("isolation", &dirty, Some((1, "isolation: G1a of key x")));
        let dirty = [("txn", "[[\"r\", 7, null]]", "[[\"r\", 7, 3]]"), ("txn", "[[\"w\", 7, 3]]", "fail!")];
        check("isolation", &dirty, Some((1, "isolation: G1a of key #")));
        let log = [("send", "[[:send k 1]]", "[[:send k [0 1]]]"), ("send", "[[:send k 2]]", "[[:send k [0 2]]]")];
        check("kafka", &log, Some((1, "kafka: inconsistent-offsets of key k")));
        let log = [("send", "[[:send 1 1]]", "[[:send 1 [0 1]]]"), ("poll", "[[:poll]]", "[[:poll {1 [[1 1]]}]]")];
        check("kafka", &log, Some((1, "kafka: duplicate of key #")));
        check("linearizable", &ids, None);
        // What cannot be read says nothing here.
        check("counter", &[("add", "x", ""), ("read", "", "[")], None);
        check("kafka", &[("poll", "[[[[[[[[[[[[", "[[:poll {1 [[")], None);
    }

    #[test]
    fn a_checker_that_comes_late_counts_from_the_beginning() {
        let mut operations = Operations::default();
        for _ in 0..2 {
            let number = operations.invoke(0, "generate", "", Instant(0)).expect("room");
            operations.end(number, OperationEnd::Ok("5".to_owned()), Instant(0)).expect("it runs");
            assert_eq!(operations.anomaly(), None);
        }
        let criterion = HistoryCriterion::named("unique-ids", "");
        operations.hold_to(criterion).expect("room");
        assert_eq!(operations.anomaly().expect("an anomaly").message, "unique-ids: 5 was generated twice");
    }
}
