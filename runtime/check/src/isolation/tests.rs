//! Verdicts against brute force; the smallest history of each anomaly; bounds.

use super::components::NONE;
use super::graph::PASS;
use super::saturation::ReadsFrom;
use super::*;
use crate::history::DatumId;
use std::collections::BTreeMap;

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

/// How many histories are compared: some thousands, or as many as `FOZZY_LONG` says.
fn histories() -> u64 {
    #[allow(clippy::disallowed_methods, reason = "how long a test runs is no part of any execution")]
    let asked = std::env::var("FOZZY_LONG").ok();
    asked.map_or(2_500, |asked| asked.parse().unwrap_or(1_000_000))
}

/// A step as the generator has it: the key, and what is appended, or what was read.
#[derive(Clone, Debug)]
enum Step {
    Append(u64, i64),
    Read(u64, Vec<i64>),
}

/// A transaction of the generator.
#[derive(Clone, Debug)]
struct TransactionPlan {
    steps: Vec<Step>,
    process: usize,
    outcome: OperationType,
    begin: usize,
    end: Option<usize>,
}

/// A few overlapping transactions. Each reads what some order of the others may have left, or nearly so.
fn random_plan(stream: &mut Stream) -> Vec<TransactionPlan> {
    let count = 2 + stream.below(3) as usize;
    let keys = 1 + stream.below(2);
    let mut next_value = 0;
    let mut plans: Vec<TransactionPlan> = Vec::new();
    for _ in 0..count {
        let mut steps = Vec::new();
        for _ in 0..1 + stream.below(3) {
            let key = stream.below(keys);
            if stream.chance(55) {
                next_value += 1;
                steps.push(Step::Append(key, next_value));
            } else {
                steps.push(Step::Read(key, Vec::new()));
            }
        }
        let outcome = match stream.below(12) {
            0 => OperationType::Info,
            1 => OperationType::Fail,
            _ => OperationType::Ok,
        };
        plans.push(TransactionPlan { steps, process: 0, outcome, begin: 0, end: None });
    }
    give_times(&mut plans, stream);
    // Steps take effect one at a time in a random order, which is what no isolation gives; or one transaction after the other.
    let mut order: Vec<(usize, usize)> = Vec::new();
    let is_serial = stream.chance(40);
    let mut left: Vec<usize> = vec![0; count];
    while order.len() < plans.iter().map(|plan| plan.steps.len()).sum() {
        let at = stream.below(count as u64) as usize;
        while left[at] < plans[at].steps.len() {
            order.push((at, left[at]));
            left[at] += 1;
            if !is_serial {
                break;
            }
        }
    }
    let snapshots = stream.chance(40);
    let mut lists: BTreeMap<u64, Vec<i64>> = BTreeMap::new();
    let mut views: Vec<Option<BTreeMap<u64, Vec<i64>>>> = vec![None; count];
    for (at, step) in order {
        let plan = &mut plans[at];
        if plan.outcome == OperationType::Fail && !stream.chance(20) {
            continue;
        }
        if plan.outcome == OperationType::Info && stream.chance(40) {
            continue;
        }
        let view = views[at].get_or_insert_with(|| lists.clone());
        match &mut plan.steps[step] {
            Step::Append(key, value) => {
                lists.entry(*key).or_default().push(*value);
                view.entry(*key).or_default().push(*value);
            }
            Step::Read(key, seen) => {
                let source = if snapshots { &*view } else { &lists };
                *seen = source.get(key).cloned().unwrap_or_default();
                if stream.chance(4) {
                    seen.pop();
                }
            }
        }
    }
    plans
}

/// Gives each transaction a process, a beginning and an end.
fn give_times(plans: &mut [TransactionPlan], stream: &mut Stream) {
    let processes = 1 + stream.below(5) as usize;
    let mut busy: Vec<Option<usize>> = vec![None; processes];
    let mut retired: Vec<usize> = (0..processes).collect();
    let (mut next, mut clock) = (0, 0);
    while next < plans.len() || busy.iter().any(Option::is_some) {
        let at = stream.below(processes as u64) as usize;
        match busy[at] {
            None if next < plans.len() => {
                plans[next].process = retired[at];
                plans[next].begin = clock;
                busy[at] = Some(next);
                next += 1;
                clock += 1;
            }
            None => {}
            Some(plan) => {
                plans[plan].end = Some(clock);
                busy[at] = None;
                clock += 1;
                if plans[plan].outcome == OperationType::Info {
                    retired[at] += processes;
                }
            }
        }
    }
}

/// The history of a plan; as registers, a read has the last element only.
fn history_of(plans: &[TransactionPlan], is_register: bool) -> OperationHistory {
    let mut history = OperationHistory::default();
    let mut events: Vec<(usize, bool, usize)> = Vec::new();
    for (at, plan) in plans.iter().enumerate() {
        events.push((plan.begin, false, at));
        events.extend(plan.end.map(|end| (end, true, at)));
    }
    events.sort_unstable();
    for (_, is_end, at) in events {
        let plan = &plans[at];
        let is_told = is_end && plan.outcome == OperationType::Ok;
        let pool = &mut history.pool;
        let mut steps = Vec::new();
        for step in &plan.steps {
            let (name, key, value) = match step {
                Step::Append(key, value) => (if is_register { "w" } else { "append" }, *key, pool.integer(*value)),
                Step::Read(key, _) if !is_told => ("r", *key, DatumId::NIL),
                Step::Read(key, seen) if is_register => {
                    ("r", *key, seen.last().map_or(DatumId::NIL, |last| pool.integer(*last)))
                }
                Step::Read(key, seen) => {
                    let seen: Vec<DatumId> = seen.iter().map(|one| pool.integer(*one)).collect();
                    ("r", *key, pool.vector(&seen))
                }
            };
            let (name, key) = (pool.keyword(name), pool.integer(key as i64));
            steps.push(pool.vector(&[name, key, value]));
        }
        let value = pool.vector(&steps);
        let kind = if is_end { plan.outcome } else { OperationType::Invoke };
        history.push(plan.process as i64, kind, "txn", value);
    }
    history
}

/// What an oracle holds a history to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Any,
    Sessions,
    Time,
}

/// State of all keys.
type Lists = BTreeMap<u64, Vec<i64>>;

/// Runs the steps of a transaction on a state; whether what it read is what stood there.
fn run(plan: &TransactionPlan, state: &mut Lists, is_register: bool) -> bool {
    plan.steps.iter().all(|step| match step {
        Step::Append(key, value) => {
            state.entry(*key).or_default().push(*value);
            true
        }
        Step::Read(..) if plan.outcome != OperationType::Ok => true,
        Step::Read(key, seen) => {
            let found = state.get(key).cloned().unwrap_or_default();
            if is_register { found.last() == seen.last() } else { found == *seen }
        }
    })
}

fn must_precede(first: &TransactionPlan, second: &TransactionPlan, order: Order) -> bool {
    match order {
        Order::Any => false,
        Order::Sessions => first.process == second.process && first.begin < second.begin,
        Order::Time => first.outcome == OperationType::Ok && first.end.is_some_and(|end| end < second.begin),
    }
}

/// Whether some order of the transactions, one after the other, gives what was read: all orders are tried.
fn is_serializable(plans: &[TransactionPlan], order: Order, is_register: bool, done: u32, state: &Lists) -> bool {
    let is_left = |at: usize| done >> at & 1 == 0;
    let needed = |at: &usize| is_left(*at) && plans[*at].outcome == OperationType::Ok;
    if !(0..plans.len()).any(|at| needed(&at)) {
        return true;
    }
    (0..plans.len()).filter(|at| is_left(*at) && plans[*at].outcome != OperationType::Fail).any(|at| {
        // Those with an unknown end may be left out, but not come after what follows them.
        let is_late = (0..plans.len()).any(|other| !is_left(other) && must_precede(&plans[at], &plans[other], order));
        let is_early =
            (0..plans.len()).filter(needed).any(|other| other != at && must_precede(&plans[other], &plans[at], order));
        let mut state = state.clone();
        !is_late
            && !is_early
            && run(&plans[at], &mut state, is_register)
            && is_serializable(plans, order, is_register, done | 1 << at, &state)
    })
}

/// Whether some snapshots and commits give what was read: all orders of begins and commits are tried.
fn is_snapshot(
    plans: &[TransactionPlan],
    is_register: bool,
    order: Order,
    begun: u32,
    committed: u32,
    committed_state: &Lists,
    snapshots: &mut Vec<(Lists, u32)>,
) -> bool {
    let needed = |at: usize| plans[at].outcome == OperationType::Ok;
    if (0..plans.len()).all(|at| !needed(at) || committed >> at & 1 == 1) {
        return true;
    }
    for at in (0..plans.len()).filter(|at| plans[*at].outcome != OperationType::Fail) {
        let bit = 1 << at;
        if begun & bit == 0 {
            // All that must come before have committed, and none that must come after has begun.
            let is_early = (0..plans.len()).any(|other| {
                other != at
                    && (needed(other) && committed >> other & 1 == 0 && must_precede(&plans[other], &plans[at], order)
                        || begun >> other & 1 == 1 && must_precede(&plans[at], &plans[other], order))
            });
            if is_early {
                continue;
            }
            let before = std::mem::replace(&mut snapshots[at], (committed_state.clone(), committed));
            if is_snapshot(plans, is_register, order, begun | bit, committed, committed_state, snapshots) {
                return true;
            }
            snapshots[at] = before;
        } else if committed & bit == 0 {
            let (snapshot, known) = snapshots[at].clone();
            let keys = |plan: &TransactionPlan| -> Vec<u64> {
                plan.steps
                    .iter()
                    .filter_map(|step| if let Step::Append(key, _) = step { Some(*key) } else { None })
                    .collect()
            };
            let own = keys(&plans[at]);
            // Who committed since has written no key of its.
            let conflicts = (0..plans.len()).any(|other| {
                committed >> other & 1 == 1
                    && known >> other & 1 == 0
                    && keys(&plans[other]).iter().any(|key| own.contains(key))
            });
            let mut state = snapshot;
            if conflicts || !run(&plans[at], &mut state, is_register) {
                continue;
            }
            let mut after = committed_state.clone();
            own.iter().for_each(|key| _ = after.insert(*key, state[key].clone()));
            if is_snapshot(plans, is_register, order, begun, committed | bit, &after, snapshots) {
                return true;
            }
        }
    }
    false
}

fn allows(verdict: &IsolationVerdict, name: &str) -> bool {
    verdict.levels.allows(isolation_level(name).expect("a level"))
}

#[test]
fn levels_of_lists_are_those_of_brute_force() {
    let mut counts = [[0u64; 2]; 4];
    for seed in 0..histories() {
        let plans = random_plan(&mut Stream(seed));
        let history = history_of(&plans, false);
        let verdict = check_isolation(&history, &CheckLimits::default()).expect("a verdict");
        let levels = [
            ("serializable", Order::Any),
            ("strong-session-serializable", Order::Sessions),
            ("strict-serializable", Order::Time),
        ];
        for ((name, order), count) in levels.into_iter().zip(&mut counts) {
            // The order of time has that of sessions.
            let expected = is_serializable(&plans, order, false, 0, &Lists::new());
            assert_eq!(
                allows(&verdict, name),
                expected,
                "{name} seed {seed}\n{}\n{:#?}",
                history.to_edn(),
                verdict.anomalies
            );
            let level = isolation_level(name).expect("a level");
            let validity = if expected { Validity::Valid } else { Validity::Invalid };
            assert_eq!(verdict.validity(level), validity, "{name} seed {seed}");
            count[usize::from(expected)] += 1;
        }
        for (name, order) in [
            ("strong-snapshot-isolation", Order::Time),
            ("strong-session-snapshot-isolation", Order::Sessions),
            ("snapshot-isolation", Order::Any),
        ] {
            let mut snapshots = vec![(Lists::new(), 0); plans.len()];
            let is_possible = is_snapshot(&plans, false, order, 0, 0, &Lists::new(), &mut snapshots);
            let words = || format!("{name} seed {seed}\n{}\n{:#?}", history.to_edn(), verdict.anomalies);
            // Orders of what nobody read are tried, so that small histories are always decided.
            let validity = if is_possible { Validity::Valid } else { Validity::Invalid };
            assert_eq!(verdict.validity(isolation_level(name).expect("a level")), validity, "{}", words());
            if order == Order::Any {
                counts[3][usize::from(is_possible)] += 1;
            }
        }
    }
    assert!(counts.iter().flatten().all(|count| *count > 40), "the histories are all alike: {counts:?}");
}

#[test]
fn levels_of_registers_are_those_of_brute_force() {
    let mut found = 0;
    for seed in 0..histories() {
        let plans = random_plan(&mut Stream(seed ^ 0x5555_0000));
        let history = history_of(&plans, true);
        let verdict = check_isolation(&history, &CheckLimits::default()).expect("a verdict");
        for (name, order) in [
            ("serializable", Order::Any),
            ("strong-session-serializable", Order::Sessions),
            ("strict-serializable", Order::Time),
        ] {
            let is_possible = is_serializable(&plans, order, true, 0, &Lists::new());
            let validity = if is_possible { Validity::Valid } else { Validity::Invalid };
            let level = isolation_level(name).expect("a level");
            assert_eq!(
                verdict.validity(level),
                validity,
                "{name} seed {seed}\n{}\n{:#?}",
                history.to_edn(),
                verdict.anomalies
            );
            found += u64::from(!allows(&verdict, name));
        }
        for (name, order) in [
            ("snapshot-isolation", Order::Any),
            ("strong-session-snapshot-isolation", Order::Sessions),
            ("strong-snapshot-isolation", Order::Time),
        ] {
            let mut snapshots = vec![(Lists::new(), 0); plans.len()];
            let is_possible = is_snapshot(&plans, true, order, 0, 0, &Lists::new(), &mut snapshots);
            let level = isolation_level(name).expect("a level");
            let validity = if is_possible { Validity::Valid } else { Validity::Invalid };
            assert_eq!(
                verdict.validity(level),
                validity,
                "{name} seed {seed}\n{}\n{:#?}",
                history.to_edn(),
                verdict.anomalies
            );
        }
    }
    assert!(found > 500, "{found}");
}

/// A transaction that committed, for the definitions of the weak levels.
struct CommittedTransaction {
    process: usize,
    begin: usize,
    /// Reads of others in order: the key, and the writer, none for what was there before.
    reads: Vec<(u64, Option<usize>)>,
    writes: Vec<u64>,
}

/// What transactions read from each other; `None` if one is wrong already on its own.
fn committed(plans: &[TransactionPlan]) -> Option<Vec<CommittedTransaction>> {
    let last_writes = |plan: &TransactionPlan| -> BTreeMap<u64, i64> {
        plan.steps
            .iter()
            .filter_map(|step| if let Step::Append(key, value) = step { Some((*key, *value)) } else { None })
            .collect()
    };
    let mut ids: Vec<usize> = (0..plans.len()).filter(|at| plans[*at].outcome == OperationType::Ok).collect();
    let writer = |key: u64, value: i64| (0..plans.len()).find(|at| last_writes(&plans[*at]).get(&key) == Some(&value));
    let mut at = 0;
    let mut sources: Vec<(u64, i64, usize)> = Vec::new();
    while let Some(id) = ids.get(at).copied() {
        at += 1;
        if plans[id].outcome != OperationType::Ok {
            continue;
        }
        let mut own: BTreeMap<u64, i64> = BTreeMap::new();
        for step in &plans[id].steps {
            match step {
                Step::Append(key, value) => _ = own.insert(*key, *value),
                Step::Read(key, seen) => {
                    let value = seen.last().copied();
                    if let Some(own) = own.get(key) {
                        if value != Some(*own) {
                            return None;
                        }
                        continue;
                    }
                    let Some(value) = value else { continue };
                    let source =
                        writer(*key, value).filter(|one| *one != id && plans[*one].outcome != OperationType::Fail)?;
                    sources.push((*key, value, source));
                    if !ids.contains(&source) {
                        ids.push(source);
                    }
                }
            }
        }
    }
    ids.sort_unstable();
    let describe = |id: &usize| {
        let plan = &plans[*id];
        let (mut own, mut reads): (Vec<u64>, Vec<(u64, Option<usize>)>) = (Vec::new(), Vec::new());
        for step in &plan.steps {
            match step {
                Step::Append(key, _) => own.push(*key),
                Step::Read(key, seen) if plan.outcome == OperationType::Ok && !own.contains(key) => {
                    let source = sources.iter().find(|one| one.0 == *key && Some(one.1) == seen.last().copied());
                    reads.push((*key, source.and_then(|one| ids.iter().position(|id| *id == one.2))));
                }
                Step::Read(..) => {}
            }
        }
        CommittedTransaction { process: plan.process, begin: plan.begin, reads, writes: own }
    };
    Some(ids.iter().map(describe).collect())
}

/// Whether some order of commits has a weak level, by its definition: all orders are tried.
fn has_commit_order(
    all: &[CommittedTransaction],
    level: WeakLevel,
    with_sessions: bool,
    order: &mut Vec<usize>,
) -> bool {
    if order.len() < all.len() {
        return (0..all.len()).any(|next| {
            if order.contains(&next) {
                return false;
            }
            order.push(next);
            let found = has_commit_order(all, level, with_sessions, order);
            order.pop();
            found
        });
    }
    let place = |id: usize| order.iter().position(|one| *one == id);
    let is_session =
        |a: usize, b: usize| with_sessions && all[a].process == all[b].process && all[a].begin < all[b].begin;
    let is_read = |a: usize, b: usize| all[b].reads.iter().any(|read| read.1 == Some(a));
    let is_known = |a: usize, b: usize| a != b && (is_session(a, b) || is_read(a, b));
    let ids = 0..all.len();
    let mut reaches: Vec<Vec<bool>> = ids.clone().map(|a| ids.clone().map(|b| is_known(a, b)).collect()).collect();
    for middle in ids.clone() {
        for a in ids.clone() {
            for b in ids.clone() {
                reaches[a][b] |= reaches[a][middle] && reaches[middle][b];
            }
        }
    }
    let respects = ids.clone().all(|a| ids.clone().all(|b| !is_known(a, b) || place(a) < place(b)));
    respects
        && ids.clone().all(|reader| {
            all[reader].reads.iter().enumerate().all(|(at, (key, source))| {
                ids.clone()
                    .filter(|seen| Some(*seen) != *source && *seen != reader && all[*seen].writes.contains(key))
                    .all(|seen| {
                        let is_seen = match level {
                            WeakLevel::Committed => false,
                            WeakLevel::Monotonic => all[reader].reads[..at].iter().any(|read| read.1 == Some(seen)),
                            WeakLevel::Atomic => is_known(seen, reader),
                            WeakLevel::Causal => reaches[seen][reader],
                        };
                        // Nothing commits before what was there before all writes.
                        !is_seen || source.is_some_and(|source| place(seen) < place(source))
                    })
            })
        })
}

#[test]
fn a_source_is_seen_however_often_a_value_of_it_is_read() {
    // Session 0 writes x 1, y 2 and then x 3, y 4; the reader has seen the latter, and reads the y of before.
    let writes = "w(0,1,0,0)\nw(1,2,0,0)\nw(0,3,0,1)\nw(1,4,0,1)\n";
    let level = isolation_level("session-read-committed").expect("a level");
    let judged = |reads: &str| {
        let history = OperationHistory::read(format!("{writes}{reads}").as_bytes()).expect("a history");
        check_isolation_level(&history, level, &CheckLimits::default()).expect("a verdict").validity(level)
    };
    assert_eq!(judged("r(0,3,1,2)\nr(1,4,1,2)\nr(1,4,1,2)\nr(1,2,1,2)\n"), Validity::Invalid);
    assert_eq!(judged("r(0,3,1,2)\nr(1,4,1,2)\nr(1,4,1,2)\n"), Validity::Valid);
}

#[test]
fn saturation_ends_when_time_or_memory_is_over() {
    let mut all = ReadsFrom { sessions: (0..3001).collect(), session_count: 3001, ..ReadsFrom::default() };
    for writer in 0..3000 {
        all.reads.push([]);
        all.writes.push([writer]);
    }
    all.reads.push((0..3000).map(|key| (key, key)));
    all.writes.push([]);
    let whole = CheckLimits::default();
    let late = CheckLimits { is_over: &|| true, ..CheckLimits::default() };
    let small = CheckLimits { memory_bytes_max: 1 << 10, ..CheckLimits::default() };
    for level in [WeakLevel::Monotonic, WeakLevel::Atomic, WeakLevel::Causal] {
        assert_eq!(all.saturate(level, &whole), SaturationVerdict::Holds, "{level:?}");
        assert_eq!(all.saturate(level, &small), SaturationVerdict::Unknown, "{level:?}");
    }
    for level in [WeakLevel::Monotonic, WeakLevel::Atomic] {
        assert_eq!(all.saturate(level, &late), SaturationVerdict::Unknown, "{level:?}");
    }
}

#[test]
fn weak_levels_of_registers_are_those_of_brute_force() {
    let mut counts = [[0u64; 2]; 8];
    for seed in 0..histories() * 2 {
        let plans = random_plan(&mut Stream(seed ^ 0x3333_0000));
        let Some(all) = committed(&plans) else { continue };
        let history = history_of(&plans, true);
        let verdict = check_isolation(&history, &CheckLimits::default()).expect("a verdict");
        let set = TransactionSet::new(&history).expect("transactions");
        let register = RwRegister::new(&history, &set, super::rw_register::VersionUses::Kept).expect("registers");
        let with_sessions = register.reads_from();
        for (at, (level, _, names)) in WEAK_LEVELS.into_iter().enumerate() {
            for (sessions, name) in [false, true].into_iter().zip(names) {
                let expected = has_commit_order(&all, level, sessions, &mut Vec::new());
                let reads = if sessions { with_sessions.clone() } else { with_sessions.without_sessions() };
                let found = reads.saturate(level, &CheckLimits::default());
                assert_eq!(found == SaturationVerdict::Holds, expected, "{name} seed {seed}\n{}", history.to_edn());
                counts[2 * at + usize::from(sessions)][usize::from(expected)] += 1;
                // Reads that are not repeatable are no cycle, and rule out the atomic levels.
                let row = isolation_level(name).expect("a level");
                let is_repeatable = !verdict.counts.iter().any(|one| one.0 == "internal");
                if is_repeatable {
                    let expected = if expected { Validity::Valid } else { Validity::Invalid };
                    let shown = format!("{name} seed {seed}\n{}\n{verdict:#?}", history.to_edn());
                    assert_eq!(verdict.validity(row), expected, "{shown}");
                }
                // One level alone is judged as among all others.
                let alone = check_isolation_level(&history, row, &CheckLimits::default()).expect("a verdict");
                assert_eq!(alone.validity(row), verdict.validity(row), "{name} seed {seed}\n{}", history.to_edn());
            }
        }
        for anomaly in verdict.anomalies.iter().filter(|one| one.message.starts_with("each commits")) {
            assert!(
                !anomaly.steps.is_empty() && anomaly.steps.iter().all(|step| !step.because.is_empty()),
                "{anomaly:?}"
            );
        }
    }
    assert!(counts.iter().flatten().all(|count| *count > 1), "the histories are all alike: {counts:?}");
}

/// Transactions of lists that took part, with what each appended, and all lists that were read; `None` if a read is wrong already on its own.
#[derive(Default)]
struct CommittedLists {
    all: Vec<CommittedTransaction>,
    appends: Vec<Vec<(u64, i64)>>,
    reads: Vec<(u64, Vec<i64>)>,
}

fn committed_lists(plans: &[TransactionPlan]) -> Option<CommittedLists> {
    let appends = |at: usize| -> Vec<(u64, i64)> {
        let pair = |step: &Step| if let Step::Append(key, value) = step { Some((*key, *value)) } else { None };
        plans[at].steps.iter().filter_map(pair).collect()
    };
    let writer = |key: u64, value: i64| (0..plans.len()).find(|at| appends(*at).contains(&(key, value)));
    let mut ids: Vec<usize> = (0..plans.len()).filter(|at| plans[*at].outcome == OperationType::Ok).collect();
    for id in ids.clone() {
        for step in &plans[id].steps {
            let Step::Read(key, seen) = step else { continue };
            for value in seen {
                let source = writer(*key, *value).filter(|one| plans[*one].outcome != OperationType::Fail)?;
                if !ids.contains(&source) {
                    ids.push(source);
                }
            }
        }
    }
    ids.sort_unstable();
    let mut found = CommittedLists::default();
    for id in &ids {
        let plan = &plans[*id];
        let mut reads: Vec<(u64, Option<usize>)> = Vec::new();
        let mut own: Vec<(u64, i64)> = Vec::new();
        for step in &plan.steps {
            match step {
                Step::Append(key, value) => own.push((*key, *value)),
                Step::Read(..) if plan.outcome != OperationType::Ok => {}
                Step::Read(key, seen) => {
                    let mine: Vec<i64> = own.iter().filter(|one| one.0 == *key).map(|one| one.1).collect();
                    let later =
                        appends(*id).iter().any(|one| one.0 == *key && seen.contains(&one.1) && !own.contains(one));
                    if !seen.ends_with(&mine) || later {
                        return None;
                    }
                    found.reads.push((*key, seen.clone()));
                    if !mine.is_empty() {
                        continue;
                    }
                    let source = seen.last().map(|last| writer(*key, *last).expect("it was found"));
                    let last = |source: usize| appends(source).iter().rfind(|one| one.0 == *key).map(|one| one.1);
                    // What the writer appended to later is no version that was committed.
                    if source.is_some_and(|source| last(source) != seen.last().copied()) {
                        return None;
                    }
                    reads.push((*key, source.and_then(|source| ids.iter().position(|one| *one == source))));
                }
            }
        }
        let mut writes: Vec<u64> = own.iter().map(|one| one.0).collect();
        writes.dedup();
        found.all.push(CommittedTransaction { process: plan.process, begin: plan.begin, reads, writes });
        found.appends.push(own);
    }
    Some(found)
}

/// Whether some order of commits is good, and gives the lists that were read: all orders are tried.
fn has_order_of_lists(
    lists: &CommittedLists,
    is_good: &dyn Fn(&mut Vec<usize>) -> bool,
    order: &mut Vec<usize>,
) -> bool {
    if order.len() == lists.all.len() {
        let versions = |key: u64| -> Vec<i64> {
            let appends = order.iter().flat_map(|id| &lists.appends[*id]);
            appends.filter(|one| one.0 == key).map(|one| one.1).collect()
        };
        return lists.reads.iter().all(|(key, seen)| versions(*key).starts_with(seen)) && is_good(order);
    }
    (0..lists.all.len()).any(|next| {
        let is_new = !order.contains(&next);
        order.push(next);
        let found = is_new && has_order_of_lists(lists, is_good, order);
        order.pop();
        found
    })
}

/// Whether each transaction saw a beginning of an order of commits that ends before it.
fn has_prefixes(all: &[CommittedTransaction], order: &[usize]) -> bool {
    order.iter().enumerate().all(|(place, id)| {
        (0..=place).any(|end| {
            all[*id].reads.iter().all(|(key, source)| {
                order[..end].iter().rev().find(|one| all[**one].writes.contains(key)).copied() == *source
            })
        })
    })
}

#[test]
fn prefix_consistency_of_lists_is_that_of_brute_force() {
    let mut counts = [0u64; 3];
    let row = isolation_level("prefix").expect("a level");
    for seed in 0..histories() / 2 {
        let plans = random_plan(&mut Stream(seed ^ 0x2929_0000));
        let Some(lists) = committed_lists(&plans) else { continue };
        let history = history_of(&plans, false);
        let verdict = check_isolation(&history, &CheckLimits::default()).expect("a verdict");
        if verdict.counts.iter().any(|one| one.0 == "internal") {
            assert_eq!(verdict.validity(row), Validity::Invalid);
            continue;
        }
        let is_good = |order: &mut Vec<usize>| has_prefixes(&lists.all, order);
        let expected = has_order_of_lists(&lists, &is_good, &mut Vec::new());
        let found = verdict.validity(row);
        counts[found as usize] += 1;
        let expected = if expected { Validity::Valid } else { Validity::Invalid };
        assert_eq!(found, expected, "seed {seed}\n{}\n{verdict:#?}", history.to_edn());
    }
    let [valid, unknown, invalid] = counts;
    assert!(valid > 10 && invalid > 10 && unknown == 0, "{counts:?}");
}

#[test]
fn weak_levels_of_lists_are_those_of_brute_force() {
    let mut counts = [[0u64; 2]; 8];
    for seed in 0..histories() / 2 {
        let plans = random_plan(&mut Stream(seed ^ 0x1717_0000));
        let Some(lists) = committed_lists(&plans) else { continue };
        let history = history_of(&plans, false);
        let verdict = check_isolation(&history, &CheckLimits::default()).expect("a verdict");
        let is_repeatable = !verdict.counts.iter().any(|one| one.0 == "internal");
        for (at, (level, _, names)) in WEAK_LEVELS.into_iter().enumerate() {
            for (sessions, name) in [false, true].into_iter().zip(names) {
                let is_good = |order: &mut Vec<usize>| has_commit_order(&lists.all, level, sessions, order);
                let expected = has_order_of_lists(&lists, &is_good, &mut Vec::new());
                counts[2 * at + usize::from(sessions)][usize::from(expected)] += 1;
                // Reads that are not repeatable rule out the atomic levels, whatever else there is.
                let expected = match level {
                    WeakLevel::Atomic | WeakLevel::Causal if !is_repeatable => Validity::Invalid,
                    _ if expected => Validity::Valid,
                    _ => Validity::Invalid,
                };
                let row = isolation_level(name).expect("a level");
                let shown = format!("{name} seed {seed}\n{}\n{verdict:#?}", history.to_edn());
                assert_eq!(verdict.validity(row), expected, "{shown}");
            }
        }
        for anomaly in verdict.anomalies.iter().filter(|one| one.message.starts_with("each commits")) {
            assert!(anomaly.steps.iter().all(|step| !step.because.is_empty()), "{anomaly:?}");
        }
    }
    assert!(counts.iter().flatten().all(|count| *count > 1), "the histories are all alike: {counts:?}");
}

/// Transactions `process kind steps`, one after the other, judged at some levels.
fn at_levels(transactions: &[&str], levels: &str) -> String {
    let mut text = String::new();
    for (process, steps) in transactions.iter().enumerate() {
        text += &format!("{{:type :invoke, :process {process}, :f :txn, :value {steps}}}\n");
    }
    for (process, steps) in transactions.iter().enumerate() {
        text += &format!("{{:type :ok, :process {process}, :f :txn, :value {steps}}}\n");
    }
    let history = OperationHistory::read(text.as_bytes()).expect("EDN");
    let verdict = check_isolation(&history, &CheckLimits::default()).expect("a verdict");
    let judge = |name: &str| verdict.validity(isolation_level(name).expect("a level"));
    levels.split(' ').map(|name| format!("{name} {:?}", judge(name))).collect::<Vec<_>>().join(", ")
}

#[test]
fn no_level_lets_a_transaction_miss_its_own_writes_or_lists_have_them_in_another_order() {
    let none = "read-uncommitted Invalid, read-committed Invalid, repeatable-read Invalid";
    let levels = "read-uncommitted read-committed repeatable-read";
    assert_eq!(at_levels(&["[[:append 0 2] [:r 0 []]]"], levels), none);
    assert_eq!(at_levels(&["[[:w 0 2] [:r 0 nil]]"], levels), none);
    assert_eq!(at_levels(&["[[:append 0 2] [:append 0 3]]", "[[:r 0 [3]]]"], levels), none);
    assert_eq!(at_levels(&["[[:append 0 2] [:append 0 3]]", "[[:r 0 [3 2]]]"], levels), none);
    let valid = none.replace("Invalid", "Valid");
    assert_eq!(at_levels(&["[[:append 0 2] [:append 0 3]]", "[[:r 0 [2 3]]]"], levels), valid);
}

#[test]
fn a_process_that_goes_on_leaves_its_open_transaction_behind() {
    for (write, read) in [("append", ["[2]", "[2 1]"]), ("w", ["2", "1"])] {
        let text = format!(
            "{{:type :invoke :process 0 :f :txn :value [[:{write} 1 1]]}} {{:type :info :process 0 :f :txn :value [[:{write} 1 1]]}}
             {{:type :invoke :process 1 :f :txn :value [[:{write} 1 2]]}} {{:type :ok :process 1 :f :txn :value [[:{write} 1 2]]}}
             {{:type :invoke :process 0 :f :txn :value [[:r 1 nil]]}} {{:type :ok :process 0 :f :txn :value [[:r 1 {}]]}}
             {{:type :invoke :process 0 :f :txn :value [[:r 1 nil]]}} {{:type :ok :process 0 :f :txn :value [[:r 1 {}]]}}",
            read[0], read[1]
        );
        let history = OperationHistory::read(text.as_bytes()).expect("EDN");
        let verdict = check_isolation(&history, &CheckLimits::default()).expect("a verdict");
        for name in ["strict-serializable", "strong-session-serializable", "session-causal"] {
            let level = isolation_level(name).expect("a level");
            assert_eq!(verdict.validity(level), Validity::Valid, "{name} {write}");
            let alone = check_isolation_level(&history, level, &CheckLimits::default()).expect("a verdict");
            assert_eq!(alone.validity(level), Validity::Valid, "{name} {write}");
        }
    }
}

#[test]
fn update_serializability_forbids_cycles_of_updates_and_one_reader() {
    let levels = "update-serializable snapshot-isolation";
    // Write skew, of lists and of registers.
    let skew = ["[[:r 1 []] [:append 2 1]]", "[[:r 2 []] [:append 1 1]]"];
    assert_eq!(at_levels(&skew, levels), "update-serializable Invalid, snapshot-isolation Valid");
    let skew = ["[[:r 1 nil] [:w 2 1]]", "[[:r 2 nil] [:w 1 1]]"];
    assert_eq!(at_levels(&skew, levels), "update-serializable Invalid, snapshot-isolation Valid");
    // The anomaly of Fekete, O'Neil and O'Neil (2004): a reader tells that two updates cannot stand in their order.
    let reader = ["[[:r 1 []] [:r 2 []] [:append 1 1]]", "[[:append 2 1]]", "[[:r 1 []] [:r 2 [1]]]", "[[:r 1 [1]]]"];
    assert_eq!(at_levels(&reader, levels), "update-serializable Invalid, snapshot-isolation Valid");
    // A long fork: two readers that see two updates in different orders.
    let fork = ["[[:append 1 1]]", "[[:append 2 1]]", "[[:r 1 [1]] [:r 2 []]]", "[[:r 1 []] [:r 2 [1]]]"];
    assert_eq!(at_levels(&fork, levels), "update-serializable Valid, snapshot-isolation Invalid");
}

/// All simple cycles of a small graph, each as its edges, from its smallest transaction on.
fn simple_cycles(edges: &[CycleEdge], path: &mut Vec<CycleEdge>, all: &mut Vec<Vec<CycleEdge>>) {
    let (home, last) = (path[0].from, path[path.len() - 1].to);
    if last == home {
        all.push(path.clone());
        return;
    }
    for edge in edges.iter().filter(|edge| edge.from == last && edge.to >= home) {
        if edge.to == home || path.iter().all(|one| one.from != edge.to) && edge.to != last {
            path.push(*edge);
            simple_cycles(edges, path, all);
            path.pop();
        }
    }
}

/// The kind of a cycle, by the definitions.
fn kind_of(cycle: &[CycleEdge]) -> (CycleKind, CycleOrder) {
    let kinds: Vec<u8> = cycle.iter().map(|edge| edge.kind).collect();
    let order = match () {
        () if kinds.contains(&REALTIME) => CycleOrder::Realtime,
        () if kinds.contains(&PROCESS) => CycleOrder::Process,
        () => CycleOrder::Data,
    };
    let rws = kinds.iter().filter(|kind| **kind == RW).count();
    let adjacent = (0..kinds.len()).any(|at| kinds[at] == RW && kinds[(at + 1) % kinds.len()] == RW);
    let kind = match rws {
        0 if kinds.contains(&WR) => CycleKind::G1c,
        0 => CycleKind::G0,
        1 => CycleKind::GSingle,
        _ if adjacent => CycleKind::G2Item,
        _ => CycleKind::GNonadjacent,
    };
    (kind, order)
}

#[test]
fn cycles_are_those_of_brute_force_and_the_shortest() {
    let mut seen: BTreeMap<(CycleKind, CycleOrder), u64> = BTreeMap::new();
    for seed in 0..histories() {
        let mut stream = Stream(seed ^ 0x7777_0000);
        let mut plans: Vec<TransactionPlan> = (0..3 + stream.below(4))
            .map(|_| TransactionPlan { steps: Vec::new(), process: 0, outcome: OperationType::Ok, begin: 0, end: None })
            .collect();
        give_times(&mut plans, &mut stream);
        // Two that overlap all others, and two that do not overlap each other: one ends before the other begins.
        let is_parted = stream.chance(15);
        if is_parted {
            plans.truncate(4);
            plans.resize(4, plans[0].clone());
            let second = 2 + stream.below(2) as usize;
            for (plan, (process, begin, end)) in plans.iter_mut().zip([(0, 0, 6), (1, 1, 7), (2, 2, 3), (second, 4, 5)])
            {
                (plan.process, plan.begin, plan.end) = (process, begin, Some(end));
            }
        }
        let count = plans.len() as u32;
        let history = history_of(&plans, false);
        let set = TransactionSet::new(&history).expect("transactions");
        let mut edges: Vec<CycleEdge> = Vec::new();
        for _ in 0..stream.below(9) {
            let kind = [WW, WR, RW, RW][stream.below(4) as usize];
            let (from, to) = (stream.below(u64::from(count)) as u32, stream.below(u64::from(count)) as u32);
            if from != to {
                edges.push(CycleEdge { from, to, kind });
            }
        }
        // A long fork, or part of one.
        if is_parted {
            edges.clear();
            let last = [WR, RW][stream.below(2) as usize];
            for (from, to, kind) in [(0, 2, RW), (3, 1, RW), (1, 0, last)] {
                edges.push(CycleEdge { from, to, kind });
            }
        } else if count >= 4 && stream.chance(40) {
            edges.clear();
            let shift = stream.below(u64::from(count)) as u32;
            for (at, kind) in (0..4).zip([RW, WR, RW, WR]).filter(|_| stream.chance(80)) {
                let (from, to) = ((at + shift) % count, ((at + 1) % 4 + shift) % count);
                edges.push(CycleEdge { from, to, kind });
            }
        }
        // Junctions, as for many readers of a version.
        let (plain, mut many) = (edges.clone(), (Vec::new(), Vec::new()));
        if !is_parted && stream.chance(30) {
            let all: Vec<u32> = (0..count).collect();
            let (readers, writers) = (&all[stream.below(2) as usize..], &all[..count as usize - 1]);
            let readers: Vec<u32> = readers.repeat(4);
            for (from, to) in readers.iter().flat_map(|from| writers.iter().map(move |to| (*from, *to))) {
                edges.extend((from != to).then_some(CycleEdge { from, to, kind: RW }));
            }
            many = (readers, writers.to_vec());
        }
        edges.sort_unstable_by_key(|edge| (edge.from, edge.to, edge.kind));
        edges.dedup();
        let graph = DependencyGraph::new(&set, &|_| true, &|builder| {
            plain.iter().for_each(|edge| builder.edge(edge.from, edge.to, edge.kind));
            builder.all_before_all(&many.0, &many.1, RW);
        });
        let place = |id: u32| &set.transactions[id as usize];
        for (from, to) in
            (0..count).flat_map(|from| (0..count).map(move |to| (from, to))).filter(|(from, to)| from != to)
        {
            let (first, second) = (place(from), place(to));
            if first.process() == second.process() && first.call.invocation < second.call.invocation {
                let between = (0..count).any(|one| {
                    place(one).process() == first.process()
                        && (first.call.invocation + 1..second.call.invocation).contains(&place(one).call.invocation)
                });
                edges.extend((!between).then_some(CycleEdge { from, to, kind: PROCESS }));
            }
            if first.call.completion.is_some_and(|end| end < second.call.invocation) {
                edges.push(CycleEdge { from, to, kind: REALTIME });
            }
        }
        let mut all = Vec::new();
        for edge in &edges {
            let is_first = |one: &&CycleEdge| one.to >= one.from;
            if is_first(&edge) {
                simple_cycles(&edges, &mut vec![*edge], &mut all);
            }
        }
        let mut expected: BTreeMap<(CycleKind, CycleOrder), usize> = BTreeMap::new();
        for cycle in &all {
            let length = expected.entry(kind_of(cycle)).or_insert(usize::MAX);
            *length = (*length).min(cycle.len());
        }
        // Those that a stronger one makes no news are left out.
        let mut kept: Vec<(CycleKind, CycleOrder)> = Vec::new();
        for order in [CycleOrder::Data, CycleOrder::Process, CycleOrder::Realtime] {
            for kind in [CycleKind::G0, CycleKind::G1c, CycleKind::GSingle, CycleKind::GNonadjacent, CycleKind::G2Item]
            {
                let is_weaker = |strong: CycleKind| match strong {
                    CycleKind::G0 => kind <= CycleKind::G1c,
                    CycleKind::G1c => kind == CycleKind::G1c,
                    strong => kind >= strong,
                };
                if expected.contains_key(&(kind, order)) && !kept.iter().any(|one| is_weaker(one.0) && one.1 <= order) {
                    kept.push((kind, order));
                }
            }
        }
        let report = super::cycles::cycles(&graph, &|| false);
        assert!(report.undecided.is_empty());
        let mut found: Vec<(CycleKind, CycleOrder)> = report.cycles.iter().map(|one| (one.kind, one.order)).collect();
        found.dedup();
        // Beside G0 and G1c, the weakest two kinds are not told apart exactly.
        let is_vague = |one: &(CycleKind, CycleOrder)| {
            let is_stronger = |strong: &&(CycleKind, CycleOrder)| strong.0 <= CycleKind::G1c && strong.1 <= one.1;
            one.0 >= CycleKind::GNonadjacent && kept.iter().any(|strong| is_stronger(&strong))
        };
        let plain = |all: &[(CycleKind, CycleOrder)]| -> Vec<_> {
            all.iter().map(|one| if is_vague(one) { (CycleKind::G2Item, one.1) } else { *one }).collect()
        };
        let (mut plain_found, mut plain_kept) = (plain(&found), plain(&kept));
        plain_found.dedup();
        plain_kept.dedup();
        assert_eq!(plain_found, plain_kept, "seed {seed}: {edges:?}");
        for cycle in &report.cycles {
            assert_eq!(kind_of(&cycle.edges), (cycle.kind, cycle.order), "seed {seed}");
            assert!(cycle.edges.iter().all(|edge| edges.contains(edge)), "seed {seed}: {:?} of {edges:?}", cycle.edges);
            let is_closed =
                (0..cycle.edges.len()).all(|at| cycle.edges[at].to == cycle.edges[(at + 1) % cycle.edges.len()].from);
            let mut visited: Vec<u32> = cycle.edges.iter().map(|edge| edge.from).collect();
            visited.sort_unstable();
            visited.dedup();
            assert!(
                is_closed && visited.len() == cycle.edges.len() && cycle.is_shortest,
                "seed {seed}: {:?}",
                cycle.edges
            );
        }
        for kind in kept.iter().filter(|kind| !is_vague(kind)).copied() {
            let shortest =
                report.cycles.iter().filter(|one| (one.kind, one.order) == kind).map(|one| one.edges.len()).min();
            assert_eq!(shortest, Some(expected[&kind]), "seed {seed} {kind:?}: {edges:?}");
            *seen.entry(kind).or_insert(0) += 1;
        }
        assert_eq!((NONE, PASS), (u32::MAX, 32));
    }
    assert_eq!(seen.len(), 15, "{seen:?}");
}

/// A history that runs one transaction after the other, some at a time: `count` transactions over ten keys that are replaced.
fn long_history(count: usize, is_register: bool) -> OperationHistory {
    let mut stream = Stream(count as u64);
    let mut history = OperationHistory::default();
    let mut lists: Vec<Vec<DatumId>> = vec![Vec::new(); 10];
    let mut names: Vec<u64> = (0..10).collect();
    let mut next_key = 10;
    let mut open: Vec<(i64, DatumId)> = Vec::new();
    let mut next_value = 0;
    for number in 0..count {
        let (mut asked, mut answered) = (Vec::new(), Vec::new());
        for _ in 0..1 + stream.below(4) {
            let at = stream.below(10) as usize;
            let pool = &mut history.pool;
            let key = pool.integer(names[at] as i64);
            if stream.chance(50) {
                next_value += 1;
                let (name, value) = (pool.keyword(if is_register { "w" } else { "append" }), pool.integer(next_value));
                lists[at].push(value);
                let step = pool.vector(&[name, key, value]);
                asked.push(step);
                answered.push(step);
                if lists[at].len() >= 64 {
                    (names[at], lists[at]) = (next_key, Vec::new());
                    next_key += 1;
                }
            } else {
                let name = pool.keyword("r");
                let value = match lists[at].last() {
                    Some(last) if is_register => *last,
                    None if is_register => DatumId::NIL,
                    _ => pool.vector(&lists[at]),
                };
                asked.push(pool.vector(&[name, key, DatumId::NIL]));
                answered.push(pool.vector(&[name, key, value]));
            }
        }
        let (asked, answered) = (history.pool.vector(&asked), history.pool.vector(&answered));
        // Ten processes. Each completes a transaction before it begins the next one.
        if open.len() == 10 {
            let (process, value) = open.remove(stream.below(10) as usize);
            history.push(process, OperationType::Ok, "txn", value);
        }
        let process = (0..10).find(|process| !open.iter().any(|(busy, _)| busy == process)).unwrap_or(number as i64);
        history.push(process, OperationType::Invoke, "txn", asked);
        open.push((process, answered));
    }
    for (process, value) in open {
        history.push(process, OperationType::Ok, "txn", value);
    }
    history
}

#[test]
fn a_long_history_takes_a_bounded_number_of_bytes_for_each_transaction() {
    let count = if histories() > 100_000 { 1_000_000 } else { 5_000 };
    let history = long_history(count, false);
    let verdict = check_isolation(&history, &CheckLimits::default()).expect("a verdict");
    assert!(verdict.anomalies.is_empty() && verdict.levels.possible == ["strict-serializable"], "{verdict:?}");
    assert!(verdict.bytes <= count * 200, "{} bytes for each", verdict.bytes / count);
}

/// Keys, and what is written to each; nothing where it is read.
type RegisterSteps = Vec<(usize, Option<DatumId>)>;

/// A history of register transactions of ten clients, each of which takes effect when it completes: mostly in another order than they
/// were invoked in, and with writes of keys that were not read.
fn blind_history(count: usize) -> OperationHistory {
    let mut stream = Stream(count as u64);
    let mut history = OperationHistory::default();
    let mut registers = [DatumId::NIL; 10];
    let mut open: Vec<(i64, RegisterSteps)> = Vec::new();
    for number in 0..count + 10 {
        if open.len() == 10 || number >= count {
            let (process, steps) = open.remove(stream.below(open.len() as u64) as usize);
            let mut answered = Vec::new();
            for (key, written) in steps {
                registers[key] = written.unwrap_or(registers[key]);
                let pool = &mut history.pool;
                let (name, key_id) =
                    (pool.keyword(if written.is_some() { "w" } else { "r" }), pool.integer(key as i64));
                answered.push(pool.vector(&[name, key_id, registers[key]]));
            }
            let answered = history.pool.vector(&answered);
            history.push(process, OperationType::Ok, "txn", answered);
        }
        if number >= count {
            continue;
        }
        let process = (0..10).find(|process| !open.iter().any(|(busy, _)| busy == process)).unwrap_or_default();
        let (mut asked, mut steps) = (Vec::new(), Vec::new());
        for step in 0..1 + stream.below(3) {
            let (key, pool) = (stream.below(10) as usize, &mut history.pool);
            let written = stream.chance(50).then(|| pool.integer((number * 4) as i64 + step as i64));
            let (name, key_id) = (pool.keyword(if written.is_some() { "w" } else { "r" }), pool.integer(key as i64));
            asked.push(pool.vector(&[name, key_id, written.unwrap_or(DatumId::NIL)]));
            steps.push((key, written));
        }
        let asked = history.pool.vector(&asked);
        history.push(process, OperationType::Invoke, "txn", asked);
        open.push((process, steps));
    }
    history
}

#[test]
fn an_order_of_writes_that_overlap_is_found_within_little_memory() {
    let limits = CheckLimits { memory_bytes_max: 4 << 20, ..CheckLimits::default() };
    let history = blind_history(3_000);
    let verdict = check_isolation(&history, &limits).expect("a verdict");
    let level = isolation_level("strict-serializable").expect("a level");
    assert_eq!(verdict.validity(level), Validity::Valid);
    // What the bounds leave open is said.
    let over = CheckLimits { memory_bytes_max: 4 << 20, is_over: &|| true };
    let verdict = check_isolation(&history, &over).expect("a verdict");
    assert_eq!(verdict.validity(level), Validity::Unknown);
    assert!(verdict.undecided.contains(&"unserializable-realtime".to_owned()), "{:?}", verdict.undecided);
    // A level that saturation decides needs no order.
    let weak = isolation_level("session-causal").expect("a level");
    let verdict = check_isolation_level(&history, weak, &CheckLimits::default()).expect("a verdict");
    assert_eq!((verdict.validity(weak), verdict.validity(level)), (Validity::Valid, Validity::Unknown));
}

#[test]
fn a_cycle_of_reads_has_its_name_where_one_level_is_judged_alone() {
    let judged = |reads: &str, level: &str| {
        let history = OperationHistory::read(reads.as_bytes()).expect("a history");
        let level = isolation_level(level).expect("a level");
        let verdict = check_isolation_level(&history, level, &CheckLimits::default()).expect("a verdict");
        (verdict.validity(level), verdict.anomalies[0].kind.clone(), verdict.anomalies[0].steps.len())
    };
    let circle = "w(0,1,0,0)\nr(1,2,0,0)\nw(1,2,1,1)\nr(0,1,1,1)\n";
    assert_eq!(judged(circle, "read-atomic"), (Validity::Invalid, "G1c".to_owned(), 2));
    assert_eq!(judged("r(0,1,0,0)\nw(0,1,0,1)\n", "session-causal"), (Validity::Invalid, "G1c-process".to_owned(), 2));
}

/// A history of transactions, each as `process outcome steps`; each is invoked after the one before has completed, unless its steps
/// begin with `&`: then it is invoked before.
fn history(transactions: &[&str]) -> OperationHistory {
    let mut text = String::new();
    let mut open: Vec<String> = Vec::new();
    for line in transactions {
        let mut parts = line.splitn(3, ' ');
        let mut part = || parts.next().unwrap_or_default();
        let (process, outcome, steps) = (part(), part(), part());
        let event = |kind: &str, steps: &str| {
            format!("{{:type :{kind}, :process {process}, :f :txn, :value [{}]}}\n", steps.trim_start_matches('&'))
        };
        if !steps.starts_with('&') {
            text.extend(open.drain(..));
        }
        text.push_str(&event("invoke", steps));
        open.push(event(outcome, steps));
    }
    text.extend(open);
    OperationHistory::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

#[test]
fn each_anomaly_has_a_smallest_history() {
    let cases: &[(&str, &[&str], &str)] = &[
        (
            "G0",
            &[
                "0 ok [:append 1 1] [:append 2 1]",
                "1 ok &[:append 1 2] [:append 2 2]",
                "2 ok [:r 1 [1 2]] [:r 2 [2 1]]",
            ],
            "read-uncommitted",
        ),
        ("G1a", &["0 fail [:append 1 1]", "1 ok [:r 1 [1]]"], "read-committed"),
        ("G1b", &["0 ok [:append 1 1] [:append 1 2]", "1 ok &[:r 1 [1]]"], "read-committed"),
        ("G1c", &["0 ok [:append 1 1] [:r 2 [1]]", "1 ok &[:append 2 1] [:r 1 [1]]"], "read-committed"),
        (
            "G-single-item",
            &["0 ok [:append 1 1] [:append 2 1]", "1 ok &[:r 1 [1]] [:r 2 []]", "2 ok [:r 1 [1]] [:r 2 [1]]"],
            "consistent-view monotonic-atomic-view",
        ),
        (
            "G-nonadjacent-item",
            &["0 ok [:append 1 1]", "1 ok &[:append 2 1]", "2 ok &[:r 1 [1]] [:r 2 []]", "3 ok &[:r 1 []] [:r 2 [1]]"],
            "prefix repeatable-read",
        ),
        (
            "G-prefix",
            &["0 ok [:append 1 1]", "1 ok &[:append 2 1]", "2 ok &[:r 1 [1]] [:r 2 []]", "3 ok &[:r 1 []] [:r 2 [1]]"],
            "prefix repeatable-read",
        ),
        (
            "G2-item",
            &["0 ok [:r 1 []] [:append 2 1]", "1 ok &[:r 2 []] [:append 1 1]"],
            "update-serializable repeatable-read",
        ),
        ("G-single-item-process", &["0 ok [:append 1 1]", "0 ok [:r 1 []]"], "session-read-atomic"),
        ("G-single-item-realtime", &["0 ok [:append 1 1]", "1 ok [:r 1 []]"], "strong-snapshot-isolation"),
        (
            "lost-update",
            &["0 ok [:r 1 []] [:append 1 1]", "1 ok &[:r 1 []] [:append 1 2]"],
            "update-atomic cursor-stability",
        ),
        ("lost-update", &["0 ok [:r 1 nil] [:w 1 1]", "1 ok &[:r 1 nil] [:w 1 2]"], "update-atomic cursor-stability"),
        (
            "internal",
            &["0 ok [:r 1 []] [:r 1 [1]]", "1 ok &[:append 1 1]"],
            "consistent-view read-atomic repeatable-read",
        ),
        ("internal", &["0 ok [:append 1 1] [:r 1 []]"], "read-uncommitted"),
        ("own-write-unseen", &["0 ok [:append 1 1] [:r 1 []]"], "read-uncommitted"),
        ("own-write-unseen", &["0 ok [:w 1 1] [:r 1 2]", "1 ok &[:w 1 2]"], "read-uncommitted"),
        ("cyclic-versions", &["0 ok [:append 1 1] [:append 1 2]", "1 ok &[:r 1 [2]]"], "read-uncommitted"),
        (
            "G-update",
            &["0 ok [:r 1 []] [:append 2 1]", "1 ok &[:append 1 1]", "2 ok &[:r 1 [1]] [:r 2 []]"],
            "update-serializable repeatable-read",
        ),
        (
            "non-monotonic-read",
            &["0 ok [:w 1 1] [:w 2 1]", "1 ok &[:r 1 1] [:r 2 nil]"],
            "consistent-view monotonic-atomic-view",
        ),
        (
            "fractured-read",
            &["0 ok [:w 1 1] [:w 2 1]", "1 ok &[:r 2 nil] [:r 1 1]"],
            "consistent-view read-atomic repeatable-read",
        ),
        (
            "causal-violation",
            &["0 ok [:w 1 1]", "1 ok &[:r 1 1] [:w 2 1]", "2 ok &[:r 2 1] [:r 1 nil]"],
            "causal-transactional consistent-view repeatable-read",
        ),
        (
            "non-monotonic-read-process",
            &["0 ok [:w 1 1]", "0 ok [:w 1 2]", "1 ok &[:r 1 2] [:r 1 1]"],
            "session-read-committed read-atomic",
        ),
        ("fractured-read-process", &["0 ok [:w 1 1]", "0 ok [:r 1 nil]"], "session-read-atomic"),
        (
            "causal-violation-process",
            &["0 ok [:w 1 1]", "0 ok [:w 2 1]", "1 ok &[:r 2 1]", "1 ok [:r 1 nil]"],
            "session-causal",
        ),
    ];
    let mut wrong: Vec<String> = Vec::new();
    for (kind, transactions, impossible) in cases {
        let history = history(transactions);
        let verdict = check_isolation(&history, &CheckLimits::default()).expect("a verdict");
        let kinds: Vec<&str> = verdict.anomalies.iter().map(|one| one.kind.as_str()).collect();
        assert!(kinds.contains(kind), "{kind}: {kinds:?}\n{transactions:?}");
        let found = verdict.levels.impossible.join(" ");
        if found != *impossible {
            wrong.push(format!("{kind} {transactions:?}: {found}, expected {impossible}"));
        }
        for anomaly in &verdict.anomalies {
            assert!(anomaly.steps.iter().all(|step| !step.because.is_empty()), "{anomaly:?}");
        }
        // Without any one of its transactions the anomaly is not there.
        for left_out in 0..transactions.len() {
            let rest: Vec<&str> =
                transactions.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, one)| *one).collect();
            let verdict = check_isolation(&super::tests::history(&rest), &CheckLimits::default()).expect("a verdict");
            assert!(
                !verdict.anomalies.iter().any(|one| one.kind == *kind && one.transactions.len() == rest.len() + 1),
                "{kind}"
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_history_of_transactions_is_refused_with_its_place() {
    let cases = [
        (
            &["0 ok [:append 1 1]", "1 ok [:append 1 1]"][..],
            "line 3: found a second write of 1 to key 1, expected each value written to a key once (line 1 has the first)",
        ),
        (
            &["0 ok [:append 1 1] [:w 1 2]"],
            "line 2: found `[:w 1 2]` beside writes of another kind, expected appends only, or writes only",
        ),
        (
            &["0 ok [:add 1 1]"],
            "line 2: found `[:add 1 1]` of `txn`, expected a list of [:r key value], and of [:append key value] or [:w key value]",
        ),
        (
            &["0 ok [:read 1 nil] [:foo 1 3]"],
            "line 2: found `[:foo 1 3]` of `txn`, expected a list of [:r key value], and of [:append key value] or [:w key value]",
        ),
        (
            &["0 ok [:append 1 1] [:r 1 7]"],
            "line 2: found a read of 7 from key 1, expected a list, because elements are appended to keys",
        ),
    ];
    for (transactions, expected) in cases {
        let error = check_isolation(&history(transactions), &CheckLimits::default()).expect_err("an error");
        assert_eq!(error.to_string(), expected);
    }
    // An answer to something else than was asked.
    let answered = |asked: &str, answered: &str| {
        let text = format!(
            "{{:type :invoke :process 0 :f :txn :value {asked}}}\n{{:type :ok :process 0 :f :txn :value {answered}}}"
        );
        let history = OperationHistory::read(text.as_bytes()).expect("EDN");
        check_isolation(&history, &CheckLimits::default()).map(|_| ()).map_err(|error| error.to_string())
    };
    let asked = "[[:r 1 nil] [:append 1 3]]";
    assert_eq!(answered(asked, "[[:r 1 []] [:append 1 3]]"), Ok(()));
    let key = "line 2: found `[:r 2 []]` of `txn`, expected `[:r 1 nil]`, as it was asked";
    assert_eq!(answered(asked, "[[:r 2 []] [:append 1 3]]"), Err(key.to_owned()));
    let short = "line 2: found a transaction of 1 steps, expected 2, as was asked";
    assert_eq!(answered(asked, "[[:append 1 3]]"), Err(short.to_owned()));
    let empty = check_isolation(&OperationHistory::default(), &CheckLimits::default()).expect("a verdict");
    assert_eq!(empty.levels.possible, ["strict-serializable"]);
}
