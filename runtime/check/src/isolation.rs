//! Isolation of transactions: which levels a history can have, from what its reads show.
//!
//! ```text
//! history ─ transactions ─ inference ─┬─ anomalies of one transaction or two (G1a, internal, lost update, …)
//!                                     └─ dependencies ─ components ─ shortest cycles (G0, G1c, G-single, …) ─▶ levels
//! ```
//!
//! Transactions are lists of `[:r key value]` with `[:append key value]` (lists) or `[:w key value]` (registers), as Elle has them.
//! Invariants: every anomaly is one, whatever the history does not tell; time is linear in the history but for the search for the
//! shortest cycles, which is bounded by steps.
//! Not here: levels and what they forbid (`level`); linearizability of single operations (`linearizability`).

mod components;
mod cycles;
mod graph;
mod inference;
mod level;
mod list_append;
mod order_search;
mod prefix_cycles;
mod rw_register;
mod saturation;
#[cfg(test)]
mod tests;
mod transaction;
mod update_cycles;

use crate::history::{Datum, HistoryError, HistoryOperation, OperationHistory, OperationType, Process};
use crate::linearizability::{CheckLimits, Validity};
use cycles::{CycleEdge, CycleKind, CycleOrder, CycleReport, CycleWitness};
use graph::{DependencyGraph, GraphBuilder, PROCESS, REALTIME, RW, WR, WW};
use inference::{AnomalyList, EdgeNames, HistoryWords};
pub use level::{ISOLATION_LEVELS, IsolationLevel, LevelVerdict, isolation_level};
use list_append::ListAppend;
use order_search::{OrderedTransaction, find_order, split};
use prefix_cycles::prefix_cycle;
use rw_register::{RwRegister, VersionUses};
use saturation::{OrderEdge, OrderReason, ReadsFrom, SaturationVerdict, WeakLevel};
use transaction::{MicroAction, TransactionSet};
use update_cycles::{UpdateCycle, update_cycle};

/// What a history of transactions shows.
#[derive(Clone, Debug)]
pub struct IsolationVerdict {
    /// What transactions do: `list-append` or `rw-register`.
    pub workload: &'static str,
    /// Transactions that completed, failed, and have an unknown end.
    pub transactions: [u64; 3],
    /// Keys that they used.
    pub keys: u64,
    /// Anomalies, the first of each kind.
    pub anomalies: Vec<IsolationAnomaly>,
    /// How often each kind was found; of cycles, how many are shown.
    pub counts: Vec<(String, u64)>,
    /// What that means.
    pub levels: LevelVerdict,
    /// Kinds of cycles that were neither found nor ruled out.
    pub undecided: Vec<String>,
    /// Levels that the history is known to have, with all that they imply.
    pub proved: Vec<&'static str>,
    /// Bytes of its tables.
    pub bytes: usize,
}

/// An anomaly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IsolationAnomaly {
    /// Its kind, such as `G-single-item`.
    pub kind: String,
    /// What it is, in a sentence.
    pub message: String,
    /// Positions of the invocations of its transactions; of a cycle, in its order.
    pub transactions: Vec<u32>,
    /// The steps of a cycle, each from one of the transactions to the next, the last one to the first.
    pub steps: Vec<DependencyStep>,
    /// Whether a cycle is the shortest of its kind among transactions that depend on each other so.
    pub is_shortest: bool,
}

/// Why one transaction comes before another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DependencyStep {
    /// `ww`, `wr`, `rw`, `process` or `realtime`.
    pub relation: &'static str,
    /// The reason, in a sentence in which the transactions are T1, T2, … in their order.
    pub because: String,
}

impl IsolationVerdict {
    /// Whether the history has a level: `Unknown` where nothing speaks against it, and nothing proves it.
    #[must_use]
    pub fn validity(&self, level: &IsolationLevel) -> Validity {
        if !self.levels.allows(level) {
            return Validity::Invalid;
        }
        if is_proved(&self.proved, level.name) { Validity::Valid } else { Validity::Unknown }
    }

    /// The first anomaly that a level forbids.
    #[must_use]
    pub fn forbidden_by(&self, level: &IsolationLevel) -> Option<&IsolationAnomaly> {
        self.anomalies.iter().find(|anomaly| level::forbids(level, &anomaly.kind))
    }
}

/// Levels that an order of all transactions proves, the strongest first; what the order must respect beside data, and what it is that
/// there is none.
const SERIAL_LEVELS: [(&str, u8, &str); 3] = [
    ("strict-serializable", PROCESS | REALTIME, "unserializable-realtime"),
    ("strong-session-serializable", PROCESS, "unserializable-process"),
    ("serializable", 0, "unserializable"),
];

/// The same for orders of begins and commits.
const SNAPSHOT_LEVELS: [(&str, u8, &str); 3] = [
    ("strong-snapshot-isolation", PROCESS | REALTIME, "no-snapshots-realtime"),
    ("strong-session-snapshot-isolation", PROCESS, "no-snapshots-process"),
    ("snapshot-isolation", 0, "no-snapshots"),
];

/// Whether one level is another, or implies it.
fn is_implied(strong: &IsolationLevel, weak: &IsolationLevel) -> bool {
    strong.name == weak.name
        || strong.implies.iter().filter_map(|name| isolation_level(name)).any(|next| is_implied(next, weak))
}

/// Transactions that read from each other in a circle, if there are such: each reads from the one before, and the first from the last.
pub(crate) fn find_cycle_of_reads(transactions: u32, reads: &[(u32, u32)]) -> Option<Vec<u32>> {
    let edges = reads.iter().map(|(from, to)| OrderEdge { from: *from, to: *to, reason: OrderReason::Read(0) });
    match saturation::find_cycle(transactions, edges.collect()) {
        SaturationVerdict::Cycle(edges, _) => Some(edges.iter().map(|edge| edge.from).collect()),
        _ => None,
    }
}

/// Whether a history has transactions: its first operation of a client with a value is a list of reads, writes or appends, or a `txn`.
#[must_use]
pub fn has_transactions(history: &OperationHistory) -> bool {
    let pool = &history.pool;
    let values = || history.client_operations().filter(|one| !one.value.is_nil());
    let is_named = |one: &HistoryOperation| history.function_name(one) == "txn" && pool.elements(one.value).is_some();
    if values().next().is_some_and(is_named) {
        return true;
    }
    let is_step = |step: &crate::history::DatumId| match pool.get(*step) {
        Datum::Vector(&[name, ..]) | Datum::List(&[name, ..]) => {
            pool.name(name).is_some_and(|name| ["r", "w", "append"].contains(&name))
        }
        _ => false,
    };
    let steps = values().map(|one| pool.elements(one.value)).find(|steps| steps.is_none_or(|steps| !steps.is_empty()));
    steps.flatten().is_some_and(|steps| steps.iter().all(is_step))
}

/// Judges which isolation levels a history can have.
///
/// # Errors
/// When its calls do not pair, or are no transactions, or write a value twice.
///
/// ```
/// use fozzy_check::{CheckLimits, OperationHistory, check_isolation};
/// let text = "{:type :invoke, :process 0, :f :txn, :value [[:r 1 nil] [:append 2 1]]}
///             {:type :invoke, :process 1, :f :txn, :value [[:r 2 nil] [:append 1 1]]}
///             {:type :ok, :process 0, :f :txn, :value [[:r 1 []] [:append 2 1]]}
///             {:type :ok, :process 1, :f :txn, :value [[:r 2 []] [:append 1 1]]}";
/// let history = OperationHistory::read(text.as_bytes()).unwrap();
/// let verdict = check_isolation(&history, &CheckLimits::default()).unwrap();
/// assert_eq!(verdict.anomalies[0].kind, "G2-item"); // write skew
/// assert_eq!(verdict.levels.impossible, ["update-serializable", "repeatable-read"]);
/// ```
pub fn check_isolation(history: &OperationHistory, limits: &CheckLimits<'_>) -> Result<IsolationVerdict, HistoryError> {
    judge(history, None, limits)
}

/// The same for one level: what it takes no search for an order of all transactions to know is judged without one, and a level of registers
/// that saturation decides is judged alone, so that stronger levels may stay unknown.
///
/// # Errors
/// As [`check_isolation`].
///
/// ```
/// use fozzy_check::{CheckLimits, OperationHistory, Validity, check_isolation_level, isolation_level};
/// let history = OperationHistory::read(b"w(1,1,0,0)\nr(1,1,1,1)\n").unwrap(); // key, value, session, transaction
/// let level = isolation_level("session-causal").unwrap();
/// let verdict = check_isolation_level(&history, level, &CheckLimits::default()).unwrap();
/// assert_eq!(verdict.validity(level), Validity::Valid);
/// ```
pub fn check_isolation_level(
    history: &OperationHistory,
    level: &IsolationLevel,
    limits: &CheckLimits<'_>,
) -> Result<IsolationVerdict, HistoryError> {
    judge(history, Some(level), limits)
}

/// Whether the absence of anomalies proves a level of registers, or saturation does.
fn is_weak(level: &IsolationLevel) -> bool {
    let saturated = WEAK_LEVELS.iter().flat_map(|(_, _, names)| names);
    saturated.filter_map(|name| isolation_level(name)).any(|strong| is_implied(strong, level))
}

fn judge(
    history: &OperationHistory,
    wanted: Option<&IsolationLevel>,
    limits: &CheckLimits<'_>,
) -> Result<IsolationVerdict, HistoryError> {
    let set = TransactionSet::new(history)?;
    let saturated = wanted.and_then(saturated_level).filter(|_| set.writes_by != MicroAction::Append);
    if let Some(saturated) = saturated {
        return judge_by_saturation(history, &set, saturated, limits);
    }
    let inference = if set.writes_by == MicroAction::Append {
        Inference::ListAppend(ListAppend::new(history, &set)?)
    } else {
        let mut register = RwRegister::new(history, &set, VersionUses::Kept)?;
        register.find_lost_updates();
        Inference::RwRegister(register)
    };
    let graph = DependencyGraph::new(&set, &|id| inference.takes_part(id), &|builder| inference.add_edges(builder));
    let CycleReport { cycles, undecided, is_acyclic } = cycles::cycles(&graph, limits.is_over);
    let found = inference.anomalies();
    let mut kinds: Vec<&'static str> = found.counts.keys().copied().collect();
    let mut counts: Vec<(String, u64)> =
        found.counts.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
    let mut anomalies: Vec<IsolationAnomaly> = Vec::new();
    for cycle in &cycles {
        let name = cycle_name(cycle.kind, cycle.order);
        kinds.push(name);
        match counts.iter_mut().find(|(kind, _)| kind == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name.to_owned(), 1)),
        }
        anomalies.push(explain(history, &set, &inference, cycle));
    }
    let mut open_updates = false;
    if !is_acyclic && allows(&level::verdict(&kinds), UPDATE_LEVEL) {
        match update_cycle(&graph, &|id| set.is_update(id), limits.is_over) {
            UpdateCycle::None => {}
            UpdateCycle::Unknown => open_updates = true,
            UpdateCycle::Found(edges) => {
                kinds.push(UPDATE_CYCLE);
                counts.push((UPDATE_CYCLE.to_owned(), 1));
                let shown =
                    cycles.iter().find(|one| is_same_cycle(one, &edges)).map(|one| cycle_name(one.kind, one.order));
                let (kind, order) = (CycleKind::G2Item, CycleOrder::Data);
                let found = CycleWitness { kind, order, edges, is_shortest: false };
                let mut anomaly =
                    IsolationAnomaly { kind: UPDATE_CYCLE.to_owned(), ..explain(history, &set, &inference, &found) };
                if let Some(name) = shown {
                    anomaly.message = format!("one transaction at most of that {name} only reads");
                    anomaly.steps.clear();
                }
                anomalies.push(anomaly);
            }
        }
    }
    let is_open = !is_acyclic && allows(&level::verdict(&kinds), PREFIX_LEVEL);
    if let Some(edges) = is_open.then(|| prefix_cycle(&graph)).flatten() {
        kinds.push(PREFIX_CYCLE);
        counts.push((PREFIX_CYCLE.to_owned(), 1));
        let shown = cycles.iter().find(|one| is_same_cycle(one, &edges)).map(|one| cycle_name(one.kind, one.order));
        let (kind, order) = (CycleKind::GNonadjacent, CycleOrder::Data);
        let found = CycleWitness { kind, order, edges, is_shortest: false };
        let message = "no order of commits has a beginning for each of them that is what it saw".to_owned();
        let kind = PREFIX_CYCLE.to_owned();
        let mut anomaly = IsolationAnomaly { kind, message, ..explain(history, &set, &inference, &found) };
        if let Some(name) = shown {
            anomaly.message = format!("each rw of that {name} comes after a wr");
            anomaly.steps.clear();
        }
        anomalies.push(anomaly);
    }
    anomalies.extend(found.described.iter().map(|one| describe(&set, one)));
    let mut weak = WeakReport::default();
    if let Inference::RwRegister(_) = &inference {
        weak = judge_weak_levels(history, &set, &inference, &level::verdict(&kinds), limits);
    }
    for one in weak.anomalies.drain(..) {
        kinds.push(one.0);
        counts.push((one.0.to_owned(), 1));
        anomalies.push(one.1);
    }
    let levels = level::verdict(&kinds);
    let needs_search = wanted.is_none_or(|wanted| levels.allows(wanted) && !is_weak(wanted));
    let OrderReport { mut proved, refuted, undecided: unordered } = match &inference {
        Inference::RwRegister(_) if !needs_search => OrderReport::default(),
        _ => prove(&set, &inference, &graph, &levels, undecided.is_empty() && !open_updates, limits),
    };
    if let Inference::ListAppend(_) = &inference {
        let is_open = |name: &&str| allows(&levels, name) && !is_proved(&proved, name);
        // What is stronger proves most of them; what is weaker rules most of them out.
        if WEAK_LEVELS.iter().flat_map(|(_, _, names)| names).any(is_open) {
            weak = judge_weak_levels(history, &set, &inference, &levels, limits);
            for one in weak.anomalies.drain(..) {
                kinds.push(one.0);
                counts.push((one.0.to_owned(), 1));
                anomalies.push(one.1);
            }
        }
    }
    for kind in refuted {
        kinds.push(kind);
        counts.push((kind.to_owned(), 1));
        let message = match &inference {
            Inference::ListAppend(_) => {
                "all orders of the appends that nobody read were tried, and none is without".to_owned()
            }
            Inference::RwRegister(_) if kind.starts_with("no-snapshots") => refuted_words("begins and commits"),
            Inference::RwRegister(_) => refuted_words("the transactions"),
        };
        let (transactions, steps) = (Vec::new(), Vec::new());
        anomalies.push(IsolationAnomaly { kind: kind.to_owned(), message, transactions, steps, is_shortest: true });
    }
    proved.extend(weak.proved);
    let mut undecided: Vec<String> =
        undecided.into_iter().map(|(kind, order)| cycle_name(kind, order).to_owned()).collect();
    undecided.extend(unordered.into_iter().map(str::to_owned));
    undecided.extend(weak.undecided);
    undecided.extend(open_updates.then(|| UPDATE_CYCLE.to_owned()));
    Ok(IsolationVerdict {
        workload: if set.writes_by == MicroAction::Append { "list-append" } else { "rw-register" },
        transactions: outcomes(&set),
        keys: set.keys.len() as u64,
        anomalies,
        counts,
        levels: level::verdict(&kinds),
        proved,
        undecided,
        bytes: set.bytes() + graph.bytes() + inference.bytes(),
    })
}

/// The level that forbids cycles of updates, and what these are.
const UPDATE_LEVEL: &str = "update-serializable";
const UPDATE_CYCLE: &str = "G-update";

/// The level that forbids cycles of what was seen and not seen, and what these are.
const PREFIX_LEVEL: &str = "prefix";
const PREFIX_CYCLE: &str = "G-prefix";

/// Whether a cycle has these steps, wherever it begins.
fn is_same_cycle(one: &CycleWitness, edges: &[CycleEdge]) -> bool {
    one.edges.len() == edges.len() && one.edges.iter().all(|edge| edges.contains(edge))
}

/// Whether nothing rules a level out.
fn allows(levels: &LevelVerdict, name: &str) -> bool {
    isolation_level(name).is_some_and(|level| levels.allows(level))
}

/// How many transactions completed, failed, and have an unknown end.
fn outcomes(set: &TransactionSet) -> [u64; 3] {
    let count = |outcome: OperationType| set.ids().filter(|id| set.outcome(*id) == outcome).count() as u64;
    [OperationType::Ok, OperationType::Fail, OperationType::Info].map(count)
}

/// An anomaly that is no cycle.
fn describe(set: &TransactionSet, one: &inference::TransactionAnomaly) -> IsolationAnomaly {
    let position = |id: &u32| set.transactions[*id as usize].call.invocation;
    IsolationAnomaly {
        kind: one.kind.to_owned(),
        message: one.message.clone(),
        transactions: one.transactions.iter().map(position).collect(),
        steps: Vec::new(),
        is_shortest: true,
    }
}

/// A level that saturation decides alone: its name, what it is that it does not hold, and whether sessions count.
#[derive(Clone, Copy)]
struct SaturatedLevel {
    weak: WeakLevel,
    name: &'static str,
    anomaly: &'static str,
    has_sessions: bool,
}

/// The level that saturation decides, if it is one.
fn saturated_level(wanted: &IsolationLevel) -> Option<SaturatedLevel> {
    let rows = WEAK_LEVELS.into_iter().flat_map(|(weak, anomalies, names)| {
        [false, true].map(|has_sessions| {
            let at = usize::from(has_sessions);
            SaturatedLevel { weak, name: names[at], anomaly: anomalies[at], has_sessions }
        })
    });
    rows.into_iter().find(|row| row.name == wanted.name)
}

/// Judges one level of registers that saturation decides, and no other: stronger ones stay open, and only the first cycle is shown.
fn judge_by_saturation(
    history: &OperationHistory,
    set: &TransactionSet,
    wanted: SaturatedLevel,
    limits: &CheckLimits<'_>,
) -> Result<IsolationVerdict, HistoryError> {
    let inference = Inference::RwRegister(RwRegister::new(history, set, VersionUses::Unneeded)?);
    let found = inference.anomalies();
    let mut kinds: Vec<&'static str> = found.counts.keys().copied().collect();
    let mut counts: Vec<(String, u64)> =
        found.counts.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
    let mut anomalies: Vec<IsolationAnomaly> = found.described.iter().map(|one| describe(set, one)).collect();
    let (mut proved, mut undecided) = (Vec::new(), Vec::new());
    let is_allowed = isolation_level(wanted.name).is_some_and(|level| level::verdict(&kinds).allows(level));
    if is_allowed {
        let reads = inference.reads_from();
        let reads = if wanted.has_sessions { reads } else { reads.without_sessions() };
        match reads.saturate(wanted.weak, limits) {
            SaturationVerdict::Holds => proved.push(wanted.name),
            SaturationVerdict::Unknown => undecided.push(wanted.anomaly.to_owned()),
            verdict => {
                let kind = cycle_of_reads(&verdict).unwrap_or(wanted.anomaly);
                kinds.push(kind);
                counts.push((kind.to_owned(), 1));
                anomalies.insert(0, explain_order(history, set, &inference, kind, verdict));
            }
        }
    }
    Ok(IsolationVerdict {
        workload: "rw-register",
        transactions: outcomes(set),
        keys: set.keys.len() as u64,
        anomalies,
        counts,
        levels: level::verdict(&kinds),
        proved,
        undecided,
        bytes: set.bytes() + inference.bytes(),
    })
}

/// The name of a cycle of sessions and of what was read from whom: weaker levels forbid it too.
fn cycle_of_reads(verdict: &SaturationVerdict) -> Option<&'static str> {
    let SaturationVerdict::Cycle(edges, _) = verdict else { return None };
    if edges.iter().any(|edge| matches!(edge.reason, OrderReason::Seen { .. } | OrderReason::Version)) {
        return None;
    }
    let has_session = edges.iter().any(|edge| edge.reason == OrderReason::Session);
    Some(if has_session { "G1c-process" } else { "G1c" })
}

/// That no order gives what was read.
fn refuted_words(what: &str) -> String {
    format!("all orders of {what} were tried, and none gives what they read")
}

/// Levels that are the absence of anomalies, where the order of all writes is known: snapshot isolation, also parallel, by Cerone and
/// Gotsman (2018), prefix consistency by Cerone, Gotsman and Yang (2017), the others by definition (Adya, 1999). With each, what it is that no order of the writes gives it.
const ORDERED_LEVELS: [(&str, &str); 8] = [
    (UPDATE_LEVEL, UPDATE_CYCLE),
    ("strong-snapshot-isolation", "no-snapshots-realtime"),
    ("strong-session-snapshot-isolation", "no-snapshots-process"),
    ("snapshot-isolation", "no-snapshots"),
    ("parallel-snapshot-isolation", "G-single-item"),
    (PREFIX_LEVEL, PREFIX_CYCLE),
    ("repeatable-read", "G2-item"),
    ("consistent-view", "G-single-item"),
];

/// Levels that are the absence of cycles of what was written and read. Writes that no transaction read may have any order that these
/// dependencies leave, which makes no new cycle.
const COMMITTED_LEVELS: [&str; 6] = [
    "strong-read-committed",
    "strong-session-read-committed",
    "read-committed",
    "strong-read-uncommitted",
    "strong-session-read-uncommitted",
    "read-uncommitted",
];

/// Levels that mean nothing without an order in time.
const TIMED_LEVELS: [&str; 4] =
    ["strict-serializable", "strong-snapshot-isolation", "strong-read-committed", "strong-read-uncommitted"];

/// What the search for orders says: levels that one proves, anomalies that there is none, and those that the bounds left open.
#[derive(Default)]
struct OrderReport {
    proved: Vec<&'static str>,
    refuted: Vec<&'static str>,
    undecided: Vec<&'static str>,
}

impl OrderReport {
    /// Notes that there is no order, which is news of those that keep more only if nothing is said of those that keep less.
    fn refute(&mut self, anomaly: &'static str) {
        let base = |name: &str| name.trim_end_matches("-realtime").trim_end_matches("-process").to_owned();
        self.refuted.retain(|one| base(one) != base(anomaly));
        self.refuted.push(anomaly);
    }
}

/// Levels that an order of the transactions, or of all writes, proves; and that there is none, for those where that is known.
fn prove(
    set: &TransactionSet,
    inference: &Inference<'_>,
    graph: &DependencyGraph,
    levels: &LevelVerdict,
    is_decided: bool,
    limits: &CheckLimits<'_>,
) -> OrderReport {
    let is_judged = |name: &str| set.is_timed || !TIMED_LEVELS.contains(&name);
    let is_allowed = |name: &str| isolation_level(name).is_some_and(|level| levels.allows(level));
    let mut open = SERIAL_LEVELS.iter().filter(|(name, ..)| is_judged(name) && is_allowed(name));
    let register = match inference {
        // Lists tell all orders that matter: without a cycle, there is one.
        Inference::ListAppend(one) => {
            let serial = open.next().map(|(name, ..)| *name);
            let ordered = ORDERED_LEVELS.map(|(name, _)| name).into_iter().filter(|_| one.has_whole_orders());
            let data = ordered.chain(COMMITTED_LEVELS).filter(|name| is_judged(name) && is_allowed(name));
            let proved: Vec<&'static str> = serial.into_iter().chain(data).filter(|_| is_decided).collect();
            let mut report = OrderReport { proved, ..OrderReport::default() };
            if is_decided {
                let is_open = |name: &&str| is_judged(name) && is_allowed(name) && !is_proved(&report.proved, name);
                let open: Vec<&'static str> =
                    ORDERED_LEVELS.map(|(name, _)| name).into_iter().filter(is_open).collect();
                try_whole_orders(set, one, &open, limits, &mut report);
            }
            return report;
        }
        Inference::RwRegister(one) => one,
    };
    let transactions = register.ordered();
    let keys = set.keys.len() as u32;
    let mut report = OrderReport::default();
    for (name, kinds, anomaly) in open {
        match find_order(&transactions, graph, WW | WR | RW | kinds, keys, limits) {
            Validity::Valid => {
                report.proved.push(*name);
                break;
            }
            Validity::Unknown => report.undecided.push(*anomaly),
            Validity::Invalid => report.refute(anomaly),
        }
    }
    let mut open = SNAPSHOT_LEVELS.iter().filter(|(name, ..)| is_judged(name) && is_allowed(name)).peekable();
    // With a level come all weaker ones.
    if open.peek().is_none_or(|(name, ..)| is_proved(&report.proved, name)) {
        return report;
    }
    let (halves, graph): (Vec<OrderedTransaction>, DependencyGraph) = (split(&transactions), graph.split());
    for (name, kinds, anomaly) in open {
        if is_proved(&report.proved, name) {
            break;
        }
        match find_order(&halves, &graph, WW | WR | RW | kinds, keys, limits) {
            Validity::Valid => report.proved.push(*name),
            Validity::Unknown => report.undecided.push(*anomaly),
            Validity::Invalid => report.refute(anomaly),
        }
    }
    report
}

/// Judges levels of lists by every order of the appends that no transaction read, if these are few: one that some order gives is proved,
/// and one that no order gives is refuted.
fn try_whole_orders(
    set: &TransactionSet,
    lists: &ListAppend<'_>,
    open: &[&'static str],
    limits: &CheckLimits<'_>,
    report: &mut OrderReport,
) {
    if open.is_empty() {
        return;
    }
    let Some(orders) = lists.whole_orders() else { return };
    let mut is_decided = true;
    for lists in orders {
        let graph = DependencyGraph::new(set, &|id| lists.takes_part(id), &|builder| lists.add_edges(builder));
        let CycleReport { cycles, undecided, is_acyclic } = cycles::cycles(&graph, limits.is_over);
        let mut kinds: Vec<&'static str> = cycles.iter().map(|one| cycle_name(one.kind, one.order)).collect();
        let mut is_whole = undecided.is_empty();
        let update =
            if is_acyclic { UpdateCycle::None } else { update_cycle(&graph, &|id| set.is_update(id), limits.is_over) };
        match update {
            UpdateCycle::Found(_) => kinds.push(UPDATE_CYCLE),
            UpdateCycle::Unknown => is_whole = false,
            UpdateCycle::None => {}
        }
        if !is_acyclic && prefix_cycle(&graph).is_some() {
            kinds.push(PREFIX_CYCLE);
        }
        is_decided &= is_whole;
        let levels = level::verdict(&kinds);
        let is_given = |name: &&&'static str| isolation_level(name).is_some_and(|level| levels.allows(level));
        if is_whole {
            report.proved.extend(open.iter().filter(is_given));
        }
    }
    let is_refuted = |name: &str| is_decided && open.contains(&name) && !is_proved(&report.proved, name);
    let refuted = ORDERED_LEVELS.into_iter().filter(|(name, _)| is_refuted(name));
    report.refuted.extend(refuted.map(|(_, anomaly)| anomaly));
    report.refuted.dedup();
}

/// Whether a level is implied by one that was proved.
fn is_proved(proved: &[&'static str], name: &str) -> bool {
    let Some(level) = isolation_level(name) else { return false };
    proved.iter().filter_map(|name| isolation_level(name)).any(|proved| is_implied(proved, level))
}

/// What saturation says of a history.
#[derive(Default)]
struct WeakReport {
    anomalies: Vec<(&'static str, IsolationAnomaly)>,
    proved: Vec<&'static str>,
    undecided: Vec<String>,
}

/// Weak levels, the strongest first: what it is that one does not hold without sessions, and with them; and its names.
const WEAK_LEVELS: [(WeakLevel, [&str; 2], [&str; 2]); 4] = [
    (WeakLevel::Causal, ["causal-violation", "causal-violation-process"], ["causal-transactional", "session-causal"]),
    (WeakLevel::Atomic, ["fractured-read", "fractured-read-process"], ["read-atomic", "session-read-atomic"]),
    (
        WeakLevel::Monotonic,
        ["non-monotonic-read", "non-monotonic-read-process"],
        ["monotonic-atomic-view", "session-read-committed"],
    ),
    (WeakLevel::Committed, ["G1c", "G1c-process"], ["read-committed", "strong-session-read-committed"]),
];

/// Judges the weak levels, with sessions and without.
fn judge_weak_levels(
    history: &OperationHistory,
    set: &TransactionSet,
    inference: &Inference<'_>,
    levels: &LevelVerdict,
    limits: &CheckLimits<'_>,
) -> WeakReport {
    let mut report = WeakReport::default();
    let with_sessions = inference.reads_from();
    let without_sessions = with_sessions.without_sessions();
    // With sessions first: what holds with them holds without.
    let mut found: Vec<(WeakLevel, &'static str, SaturationVerdict)> = Vec::new();
    for (at, reads) in [(1, &with_sessions), (0, &without_sessions)] {
        let mut worst: Option<(WeakLevel, &'static str, SaturationVerdict)> = None;
        for (level, anomalies, names) in WEAK_LEVELS {
            let is_allowed = isolation_level(names[at]).is_some_and(|level| levels.allows(level));
            if is_proved(&report.proved, names[at]) {
                break;
            }
            if level == WeakLevel::Committed && !is_allowed {
                continue; // Its cycles are known.
            }
            match reads.saturate(level, limits) {
                SaturationVerdict::Holds => {
                    report.proved.extend(Some(names[at]).filter(|_| is_allowed));
                    if is_allowed {
                        break;
                    }
                }
                SaturationVerdict::Unknown => report.undecided.push(anomalies[at].to_owned()),
                verdict => worst = Some((level, anomalies[at], verdict)),
            }
        }
        // Without sessions it says more.
        if let Some(worst) = worst {
            found.retain(|with_sessions| with_sessions.0 < worst.0);
            found.push(worst);
        }
    }
    let explained =
        found.into_iter().map(|(_, kind, verdict)| (kind, explain_order(history, set, inference, kind, verdict)));
    report.anomalies = explained.collect();
    report
}

/// Explains a cycle of transactions in which each must commit before the next.
fn explain_order(
    history: &OperationHistory,
    set: &TransactionSet,
    inference: &Inference<'_>,
    kind: &str,
    verdict: SaturationVerdict,
) -> IsolationAnomaly {
    let position = |id: u32| set.transactions[id as usize].call.invocation;
    let words = HistoryWords { history, set };
    let mut anomaly = IsolationAnomaly {
        kind: kind.to_owned(),
        message: "each commits before the next, and the last before the first".to_owned(),
        transactions: Vec::new(),
        steps: Vec::new(),
        is_shortest: true,
    };
    match verdict {
        SaturationVerdict::Initial { writer, reader, key } => {
            anomaly.message = words.initial_words(key);
            anomaly.transactions = vec![position(writer), position(reader)];
        }
        SaturationVerdict::Cycle(edges, is_shortest) => {
            let count = edges.len();
            anomaly.is_shortest = is_shortest;
            anomaly.transactions = edges.iter().map(|edge| position(edge.from)).collect();
            for (at, edge) in edges.iter().enumerate() {
                let (from, to) = (format!("T{}", at + 1), format!("T{}", (at + 1) % count + 1));
                let names = EdgeNames { from: &from, to: &to };
                let reader = match edge.reason {
                    OrderReason::Seen { reader, .. } => {
                        let own = edges.iter().position(|edge| edge.from == reader);
                        own.map_or_else(
                            || format!("that in {}", place(history, position(reader))),
                            |at| format!("T{}", at + 1),
                        )
                    }
                    _ => String::new(),
                };
                let relation = match edge.reason {
                    OrderReason::Session => "process",
                    OrderReason::Read(_) => "wr",
                    OrderReason::Seen { .. } | OrderReason::Version => "ww",
                };
                let step = |kind: u8| CycleEdge { from: edge.from, to: edge.to, kind };
                let because = match edge.reason {
                    OrderReason::Version => inference.because(step(WW), names),
                    _ => words.order_because(edge, names, &reader),
                };
                let because = because.unwrap_or_else(|| process_words(history, set, step(PROCESS), names));
                anomaly.steps.push(DependencyStep { relation, because });
            }
        }
        SaturationVerdict::Holds | SaturationVerdict::Unknown => {}
    }
    anomaly
}

/// What is inferred from one workload or the other.
enum Inference<'a> {
    ListAppend(ListAppend<'a>),
    RwRegister(RwRegister<'a>),
}

impl Inference<'_> {
    fn takes_part(&self, transaction: u32) -> bool {
        match self {
            Inference::ListAppend(one) => one.takes_part(transaction),
            Inference::RwRegister(one) => one.takes_part(transaction),
        }
    }

    fn add_edges(&self, builder: &mut GraphBuilder) {
        match self {
            Inference::ListAppend(one) => one.add_edges(builder),
            Inference::RwRegister(one) => one.add_edges(builder),
        }
    }

    fn anomalies(&self) -> &AnomalyList {
        match self {
            Inference::ListAppend(one) => &one.anomalies,
            Inference::RwRegister(one) => &one.anomalies,
        }
    }

    fn because(&self, edge: CycleEdge, names: EdgeNames<'_>) -> Option<String> {
        match self {
            Inference::ListAppend(one) => one.because(edge.from, edge.to, edge.kind, names),
            Inference::RwRegister(one) => one.because(edge.from, edge.to, edge.kind, names),
        }
    }

    fn reads_from(&self) -> ReadsFrom {
        match self {
            Inference::ListAppend(one) => one.reads_from(),
            Inference::RwRegister(one) => one.reads_from(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Inference::ListAppend(one) => one.bytes(),
            Inference::RwRegister(one) => one.bytes(),
        }
    }
}

/// The name of a kind of cycle.
fn cycle_name(kind: CycleKind, order: CycleOrder) -> &'static str {
    use CycleKind::{G0, G1c, G2Item, GNonadjacent, GSingle};
    let [data, process, realtime] = match kind {
        G0 => ["G0", "G0-process", "G0-realtime"],
        G1c => ["G1c", "G1c-process", "G1c-realtime"],
        GSingle => ["G-single-item", "G-single-item-process", "G-single-item-realtime"],
        GNonadjacent => ["G-nonadjacent-item", "G-nonadjacent-item-process", "G-nonadjacent-item-realtime"],
        G2Item => ["G2-item", "G2-item-process", "G2-item-realtime"],
    };
    match order {
        CycleOrder::Data => data,
        CycleOrder::Process => process,
        CycleOrder::Realtime => realtime,
    }
}

/// A cycle in words.
fn explain(
    history: &OperationHistory,
    set: &TransactionSet,
    inference: &Inference<'_>,
    cycle: &CycleWitness,
) -> IsolationAnomaly {
    let count = cycle.edges.len();
    let steps = cycle.edges.iter().enumerate().map(|(at, edge)| {
        let (from, to) = (format!("T{}", at + 1), format!("T{}", (at + 1) % count + 1));
        let names = EdgeNames { from: &from, to: &to };
        let because = match edge.kind {
            PROCESS => process_words(history, set, *edge, names),
            REALTIME => realtime_words(history, set, *edge, names),
            _ => inference.because(*edge, names).unwrap_or_default(),
        };
        DependencyStep { relation: relation(edge.kind), because }
    });
    IsolationAnomaly {
        kind: cycle_name(cycle.kind, cycle.order).to_owned(),
        message: format!("{count} transactions, each of which comes before the next, and the last before the first"),
        transactions: cycle.edges.iter().map(|edge| set.transactions[edge.from as usize].call.invocation).collect(),
        steps: steps.collect(),
        is_shortest: cycle.is_shortest,
    }
}

const fn relation(kind: u8) -> &'static str {
    match kind {
        WW => "ww",
        WR => "wr",
        RW => "rw",
        PROCESS => "process",
        _ => "realtime",
    }
}

fn process_words(history: &OperationHistory, set: &TransactionSet, edge: CycleEdge, names: EdgeNames<'_>) -> String {
    let position = set.transactions[edge.from as usize].call.invocation;
    let process = match history.operations[position as usize].process {
        Process::Client(process) => process.to_string(),
        _ => "one".to_owned(),
    };
    format!("process {process} did {} before {}", names.from, names.to)
}

fn realtime_words(history: &OperationHistory, set: &TransactionSet, edge: CycleEdge, names: EdgeNames<'_>) -> String {
    let (first, second) = (&set.transactions[edge.from as usize].call, &set.transactions[edge.to as usize].call);
    let completed = place(history, first.completion.unwrap_or(first.invocation));
    format!(
        "{} completed ({completed}) before {} was invoked ({})",
        names.from,
        names.to,
        place(history, second.invocation)
    )
}

/// Where an operation stands.
fn place(history: &OperationHistory, position: u32) -> String {
    let operation = &history.operations[position as usize];
    if operation.line > 0 { format!("line {}", operation.line) } else { format!("operation {}", operation.index) }
}
