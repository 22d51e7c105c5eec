//! Polynomial algorithms for objects whose values are distinct, so that each result names the call it comes from.
//!
//! ```text
//! register   zone of a value: from the first return of its calls to the last invocation of them
//!            forward  ├────┤   it held the value all that time        backward  it can have held it at any one point
//! queue      a before b in, b before a out: not first in first out
//! stack, priority queue   values are decided one by one, and left out (files of their own)
//! ```
//!
//! Sources: Gibbons, Korach, "Testing Shared Memories" (1997), for registers; Henzinger, Sezgin, Vafeiadis, "Aspect-Oriented
//! Linearizability Proofs" (2013), for queues. Invariant: time is n log n; the answer is that of the search.
//! Not here: histories that write a value twice; those of stacks and priority queues in which a take with an unknown end must have taken
//! something: the search decides these.

mod priority_queue;
mod stack;

use super::timeline::TimedCall;
use crate::history::{DatumId, DatumPool};
use crate::model::ModelAction;

/// From one time to another.
type Interval = (i64, i64);

/// A time that never comes.
const NEVER: i64 = i64::MAX;

/// Whether calls are linearizable; `None` if there is no such algorithm for the model, or they are not as it needs them.
pub(super) fn is_linearizable(pool: &DatumPool, model: &str, calls: &[TimedCall]) -> Option<bool> {
    match model {
        "stack" => collection(calls, |stays, empty| stack::is_possible(&values(&stays), empty)),
        "priority-queue" => collection(calls, |mut stays, empty| {
            stays.sort_unstable_by_key(|(value, _)| pool.as_integer(*value));
            priority_queue::is_possible(&values(&stays), empty)
        }),
        "register" | "cas-register" | "etcd-register" => register(calls),
        "fifo-queue" => queue(calls),
        _ => None,
    }
}

/// Whether the calls of a collection are linearizable. Takes whose end is unknown need not have taken effect: without them it may be
/// plain already.
fn collection(calls: &[TimedCall], is_possible: impl FnOnce(ValueStays, &[Interval]) -> bool) -> Option<bool> {
    let (known, open) = without_open_takes(calls)?;
    let Ok((stays, empty)) = stays(&known)? else { return Some(false) };
    let is_plain = is_possible(stays, &empty);
    (is_plain || open.is_empty()).then_some(is_plain)
}

/// Calls without the takes of which nothing is known but when they began, and these times; `None` if others that have not returned yet
/// may take the same.
fn without_open_takes(calls: &[TimedCall]) -> Option<(Vec<TimedCall>, Vec<i64>)> {
    let is_take = |one: &TimedCall| one.call.action == ModelAction::Take;
    let is_open = |one: &&TimedCall| is_take(one) && one.call.result.is_none();
    let open: Vec<i64> = calls.iter().filter(is_open).map(begin).collect();
    let is_pending = |one: &TimedCall| is_take(one) && one.call.result.is_some() && one.completion.is_none();
    if !open.is_empty() && calls.iter().any(is_pending) {
        return None;
    }
    Some((calls.iter().filter(|one| !is_open(one)).copied().collect(), open))
}

fn begin(call: &TimedCall) -> i64 {
    i64::from(call.invocation)
}

fn end(call: &TimedCall) -> i64 {
    call.completion.map_or(NEVER, i64::from)
}

/// A row with a value: sorted, all rows of a value stand together, its source first.
type ValueRow = (DatumId, bool, i64, i64);

/// Rows of both kinds of calls by value, or `None` if a call is neither.
fn rows(calls: &[TimedCall], source: ModelAction, sink: ModelAction) -> Option<Vec<ValueRow>> {
    let mut rows = Vec::with_capacity(calls.len());
    for call in calls {
        match call.call.action {
            action if action == source => rows.push((call.call.argument, false, begin(call), end(call))),
            action if action == sink => rows.push((call.call.result?, true, begin(call), end(call))),
            _ => return None,
        }
    }
    rows.sort_unstable();
    Some(rows)
}

fn register(calls: &[TimedCall]) -> Option<bool> {
    let mut rows = rows(calls, ModelAction::Write, ModelAction::Read)?;
    if rows.iter().any(|(value, is_read, ..)| !is_read && value.is_nil()) {
        return None;
    }
    // The initial value was written before everything else.
    rows.push((DatumId::NIL, false, -2, -1));
    rows.sort_unstable();
    let (mut forward, mut backward) = (Vec::<Interval>::new(), Vec::<Interval>::new());
    for rows in rows.chunk_by(|one, other| one.0 == other.0) {
        let (_, is_read, written, acknowledged) = rows[0];
        let reads = &rows[1..];
        if reads.iter().any(|(_, is_read, ..)| !is_read) {
            return None;
        }
        if is_read {
            return Some(false);
        }
        if reads.is_empty() && (acknowledged == NEVER || written < 0) {
            continue;
        }
        if reads.iter().any(|(_, _, _, end)| *end < written) {
            return Some(false);
        }
        let first_return = rows.iter().map(|row| row.3).min().unwrap_or(acknowledged);
        let last_invocation = rows.iter().map(|row| row.2).max().unwrap_or(written);
        match first_return < last_invocation {
            true => forward.push((first_return, last_invocation)),
            false => backward.push((last_invocation, first_return)),
        }
    }
    forward.sort_unstable();
    if forward.windows(2).any(|pair| pair[1].0 < pair[0].1) {
        return Some(false);
    }
    let is_inside = |(from, to): &Interval| {
        let after = forward.partition_point(|zone| zone.0 < *from);
        after > 0 && *to < forward[after - 1].1
    };
    Some(!backward.iter().any(is_inside))
}

/// When a value came in and went out.
#[derive(Clone, Copy)]
struct Stay {
    inserted: Interval,
    taken: Interval,
}

/// The stays of a collection's values, and the times of takes that found it empty; `Err` if a value was taken that was never in.
type Stays = Result<(ValueStays, Vec<Interval>), ()>;

/// Values with their stays.
type ValueStays = Vec<(DatumId, Stay)>;

fn values(stays: &[(DatumId, Stay)]) -> Vec<Stay> {
    stays.iter().map(|(_, stay)| *stay).collect()
}

fn stays(calls: &[TimedCall]) -> Option<Stays> {
    let rows = rows(calls, ModelAction::Insert, ModelAction::Take)?;
    let (mut stays, mut empty) = (Vec::new(), Vec::new());
    let mut is_wrong = false;
    for rows in rows.chunk_by(|one, other| one.0 == other.0) {
        if rows[0].0.is_nil() {
            empty.extend(rows.iter().map(|row| (row.2, row.3)));
            continue;
        }
        if rows.iter().filter(|row| !row.1).count() > 1 {
            return None;
        }
        match *rows {
            [(value, false, from, to)] if to != NEVER => {
                stays.push((value, Stay { inserted: (from, to), taken: (NEVER, NEVER) }));
            }
            // It need not have taken effect.
            [(_, false, ..)] => {}
            [(value, false, from, to), (_, _, begin, end)] if from < end => {
                stays.push((value, Stay { inserted: (from, to), taken: (begin, end) }));
            }
            // A take that has not returned yet need not have taken effect.
            _ if rows.iter().any(|row| row.1 && row.3 == NEVER) => return None,
            _ => is_wrong = true,
        }
    }
    Some(if is_wrong { Err(()) } else { Ok((stays, empty)) })
}

fn queue(calls: &[TimedCall]) -> Option<bool> {
    let (known, open) = without_open_takes(calls)?;
    let Ok((stays, empty)) = stays(&known)? else { return Some(false) };
    let mut stays = values(&stays);
    if !take_lost(&mut stays, &open) {
        return Some(false);
    }
    stays.sort_unstable_by_key(|stay| stay.inserted.1);
    let mut by_begin: Vec<Stay> = stays.clone();
    by_begin.sort_unstable_by_key(|stay| stay.inserted.0);
    // Of all that were in before, the one that begins to go out last.
    let (mut at, mut last_taken) = (0, i64::MIN);
    for stay in &by_begin {
        while at < stays.len() && stays[at].inserted.1 < stay.inserted.0 {
            last_taken = last_taken.max(stays[at].taken.0);
            at += 1;
        }
        if stay.taken.1 < last_taken {
            return Some(false);
        }
    }
    let held = held_intervals(&stays);
    let is_held = |(from, to): &Interval| {
        let after = held.partition_point(|interval| interval.0 < *from);
        after > 0 && *to < held[after - 1].1
    };
    let is_possible = !empty.iter().any(is_held);
    // Other takes with an unknown end may have emptied it.
    (is_possible || open.is_empty()).then_some(is_possible)
}

/// Lets takes with an unknown end, which began at some times, take the values that nobody else has: first those that have to be out
/// before a value that came in after them goes. Whether there are enough.
fn take_lost(stays: &mut [Stay], open: &[i64]) -> bool {
    stays.sort_unstable_by_key(|stay| stay.inserted.0);
    // The first end of a take of each stay and those that begin after it.
    let mut first_end: Vec<i64> = stays.iter().map(|stay| stay.taken.1).collect();
    for at in (1..first_end.len()).rev() {
        first_end[at - 1] = first_end[at - 1].min(first_end[at]);
    }
    let deadline = |stay: &Stay| {
        let after = stays.partition_point(|other| other.inserted.0 <= stay.inserted.1);
        first_end.get(after).copied().unwrap_or(NEVER)
    };
    let is_lost = |stay: &Stay| stay.taken == (NEVER, NEVER);
    let mut lost: Vec<(i64, usize)> =
        stays.iter().enumerate().filter(|(_, stay)| is_lost(stay)).map(|(at, stay)| (deadline(stay), at)).collect();
    lost.sort_unstable();
    let mut open: Vec<i64> = open.to_vec();
    open.sort_unstable();
    let mut open = open.into_iter().peekable();
    for (deadline, at) in lost {
        match open.next_if(|begin| *begin <= deadline) {
            Some(begin) => stays[at].taken.0 = begin,
            None if deadline == NEVER => {}
            None => return false,
        }
    }
    true
}

/// When the collection had an element for certain; stays are in the order of the ends of their insertions.
fn held_intervals(stays: &[Stay]) -> Vec<Interval> {
    let mut held: Vec<Interval> = Vec::new();
    for stay in stays.iter().filter(|stay| stay.inserted.1 < stay.taken.0) {
        match held.last_mut() {
            Some(last) if stay.inserted.1 < last.1 => last.1 = last.1.max(stay.taken.0),
            _ => held.push((stay.inserted.1, stay.taken.0)),
        }
    }
    held
}
