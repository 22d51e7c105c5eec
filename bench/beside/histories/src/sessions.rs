//! Histories of transactions of registers: a store with replicas that lag, drawn at random.
//!
//! ```text
//! session 0   T0 [w x 1]      T1 [r y 2, w x 3]            each read names its writer: values are written once
//! session 1   T2 [w y 2]      T3 [r x 3, r y 2]
//! ```
//!
//! How far reads lag says how weak the history is: not at all (serial), by a snapshot of another moment (atomic or causal, or neither).

use crate::DrawStream;
use fozzy_check::{OperationHistory, OperationType};

/// A read or a write: whether it writes, the key, the value; 0 is what was there before all writes.
pub type DrawnStep = (bool, u32, u32);

/// Transactions by session, in their order.
pub type DrawnSessions = Vec<Vec<Vec<DrawnStep>>>;

/// How reads are drawn.
#[derive(Clone, Copy, Debug)]
pub struct SessionShape {
    pub sessions: u32,
    pub transactions: u32,
    pub steps: u32,
    pub keys: u32,
    /// Of a hundred transactions, how many read from an old state of the store.
    pub lag_percent: u64,
    /// Whether an old state is that of one moment for all reads of a transaction.
    pub is_whole: bool,
    /// How many transactions old a state can be.
    pub lag: u64,
}

/// A history, one transaction after the other; some of them see an old state.
pub fn sessions(shape: SessionShape, stream: &mut DrawStream) -> DrawnSessions {
    let mut all: DrawnSessions = vec![Vec::new(); shape.sessions as usize];
    // Versions of each key: when they were written, and what.
    let mut versions: Vec<Vec<(u64, u32)>> = vec![Vec::new(); shape.keys as usize];
    let mut value = 0;
    for moment in 0..u64::from(shape.transactions) {
        let session = stream.below(u64::from(shape.sessions)) as usize;
        let is_late = stream.chance(shape.lag_percent);
        let mut seen = moment.saturating_sub(if is_late { stream.below(shape.lag) } else { 0 });
        let mut steps: Vec<DrawnStep> = Vec::new();
        for _ in 0..shape.steps {
            let key = stream.below(u64::from(shape.keys)) as u32;
            if stream.chance(50) {
                value += 1;
                steps.push((true, key, value));
                continue;
            }
            let own = steps.iter().rev().find(|(is_write, of, _)| *is_write && *of == key).map(|step| step.2);
            if is_late && !shape.is_whole {
                seen = moment.saturating_sub(stream.below(shape.lag));
            }
            let stored = &versions[key as usize];
            let at = stored.partition_point(|(when, _)| *when < seen);
            steps.push((false, key, own.unwrap_or(if at == 0 { 0 } else { stored[at - 1].1 })));
        }
        // Only the last write to a key is a version.
        for (place, (is_write, key, value)) in steps.iter().enumerate() {
            if *is_write && !steps[place + 1..].iter().any(|later| later.0 && later.1 == *key) {
                versions[*key as usize].push((moment, *value));
            }
        }
        all[session].push(steps);
    }
    all
}

/// The history as ours reads it.
pub fn history(sessions: &DrawnSessions) -> OperationHistory {
    let mut text = String::new();
    let mut number = 0;
    for (session, transactions) in sessions.iter().enumerate() {
        for steps in transactions {
            for (is_write, key, value) in steps {
                text += &format!("{}({key},{value},{session},{number})\n", if *is_write { 'w' } else { 'r' });
            }
            number += 1;
        }
    }
    let history = OperationHistory::read(text.as_bytes()).expect("Plume's text");
    assert!(history.operations.iter().all(|one| one.kind != OperationType::Fail), "all are committed");
    history
}
