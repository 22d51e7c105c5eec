//! Collections that elements are taken out of: first in first out, last in first out, smallest first, any.
//!
//! ```text
//! [1 2 3]   fifo-queue: 1   stack: 3   priority-queue: 1, the smallest   unordered-queue: any of them
//! ```
//!
//! Taking `nil` says that the collection was empty. A state is the elements in the order of insertion; of their size where the
//! smallest is taken; of their ids where any is.

use super::{CallRecord, ModelAction, ModelCall, ModelRow, NextStates, SequentialModel, functions, id_bytes, ids};
use crate::history::{Datum, DatumId, DatumPool, OperationType};
use std::cmp::Ordering;

pub(super) const UNORDERED_QUEUE: ModelRow<'static> = ModelRow {
    name: "unordered-queue",
    summary: "a bag: enqueue, dequeue any",
    functions: &["enqueue", "dequeue"],
    model: &Collection { order: TakeOrder::Any, functions: &["enqueue", "dequeue"] },
};

pub(super) const FIFO_QUEUE: ModelRow<'static> = ModelRow {
    name: "fifo-queue",
    summary: "a queue: enqueue, dequeue the oldest",
    functions: &["enqueue", "dequeue"],
    model: &Collection { order: TakeOrder::First, functions: &["enqueue", "dequeue"] },
};

pub(super) const STACK: ModelRow<'static> = ModelRow {
    name: "stack",
    summary: "a stack: push, pop the newest",
    functions: &["push", "pop"],
    model: &Collection { order: TakeOrder::Last, functions: &["push", "pop"] },
};

pub(super) const PRIORITY_QUEUE: ModelRow<'static> = ModelRow {
    name: "priority-queue",
    summary: "a priority queue: insert, delete-min",
    functions: &["insert", "delete-min"],
    model: &Collection { order: TakeOrder::Smallest, functions: &["insert", "delete-min", "enqueue", "dequeue"] },
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum TakeOrder {
    First,
    Last,
    Smallest,
    Any,
}

struct Collection {
    order: TakeOrder,
    /// Names of its functions: insertions and takes in turn.
    functions: &'static [&'static str],
}

impl SequentialModel for Collection {
    fn initial(&self) -> Vec<u8> {
        Vec::new()
    }

    fn call(&self, pool: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String> {
        let has_failed = record.outcome == OperationType::Fail;
        let Some(at) = self.functions.iter().position(|name| *name == record.function) else {
            return Err(functions(self.functions));
        };
        if at % 2 == 1 {
            return Ok((!has_failed).then(|| record.call(ModelAction::Take, DatumId::NIL, record.result())));
        }
        let is_number = pool.as_integer(record.asked).is_some();
        if record.asked.is_nil() || self.order == TakeOrder::Smallest && !is_number {
            return Err("an element: an integer for a priority queue, anything but nil for others".to_owned());
        }
        record.check_echo(pool)?;
        Ok((!has_failed).then(|| record.call(ModelAction::Insert, record.asked, None)))
    }

    fn step(&self, pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates) {
        match (call.action, call.result) {
            (ModelAction::Insert, _) => {
                let at = self.insertion(pool, state, call.argument) * 4;
                next.push_pieces(&[&state[..at], &id_bytes(call.argument), &state[at..]]);
            }
            (ModelAction::Take, Some(DatumId::NIL)) if state.is_empty() => next.push(state),
            (ModelAction::Take, result) => self.take(state, result, next),
            _ => {}
        }
    }

    fn is_readonly(&self, call: &ModelCall) -> bool {
        call.action == ModelAction::Take && call.result == Some(DatumId::NIL)
    }

    fn element(&self, call: &ModelCall) -> Option<DatumId> {
        // That a bag is empty is said of all elements, and what is not known to be taken may be any.
        match call.action {
            _ if self.order != TakeOrder::Any => None,
            ModelAction::Insert => Some(call.argument),
            _ => call.result.filter(|result| !result.is_nil()),
        }
    }

    fn shows(&self, call: &ModelCall) -> Option<DatumId> {
        call.result.filter(|result| call.action == ModelAction::Take && !result.is_nil())
    }

    fn brings(&self, call: &ModelCall) -> Option<DatumId> {
        (call.action == ModelAction::Insert).then_some(call.argument)
    }

    fn describe(&self, pool: &DatumPool, state: &[u8]) -> String {
        format!("[{}]", super::describe_ids(pool, ids(state)))
    }
}

impl Collection {
    /// Where an element is inserted.
    fn insertion(&self, pool: &DatumPool, state: &[u8], element: DatumId) -> usize {
        let elements = state.as_chunks::<4>().0;
        let id = |bytes: &[u8; 4]| DatumId(u32::from_le_bytes(*bytes));
        match self.order {
            TakeOrder::First | TakeOrder::Last => elements.len(),
            TakeOrder::Smallest => elements.partition_point(|one| smaller(pool, id(one), element) == Ordering::Less),
            TakeOrder::Any => elements.partition_point(|one| id(one) < element),
        }
    }

    /// Takes the element that is next, or each that may be.
    fn take(&self, state: &[u8], result: Option<DatumId>, next: &mut NextStates) {
        let count = state.len() / 4;
        let range = match self.order {
            _ if count == 0 => 0..0,
            TakeOrder::First | TakeOrder::Smallest => 0..1,
            TakeOrder::Last => count - 1..count,
            TakeOrder::Any => 0..count,
        };
        let mut before = None;
        for (at, element) in ids(state).enumerate().skip(range.start).take(range.len()) {
            // Equal elements give equal states.
            if before == Some(element) || result.is_some_and(|result| result != element) {
                continue;
            }
            before = Some(element);
            next.push_pieces(&[&state[..at * 4], &state[at * 4 + 4..]]);
        }
    }
}

/// The order of elements of a priority queue.
fn smaller(pool: &DatumPool, left: DatumId, right: DatumId) -> Ordering {
    match (pool.get(left), pool.get(right)) {
        (Datum::Integer(left), Datum::Integer(right)) => left.cmp(&right),
        _ => left.cmp(&right),
    }
}
