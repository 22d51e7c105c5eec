//! Several cases at a time, their results in order.
//!
//! ```text
//! items   0 1 2 3 4        each job takes the next one
//! done    1 0 3 …          shown as soon as all before it are: 0 1, …
//! ```
//!
//! Invariants: a result depends on its item only; with one job, items run one after the other; after a failure under `stop`
//! no further item is begun, and one job then makes the answer the same each time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Stack of a job: programs are compiled and judged on it, and guests called.
const STACK_BYTES: usize = fozzy_engine::STACK_BYTES + (8 << 20);

/// What is reported while jobs run.
pub enum Event<'a, R> {
    /// How many are done, and which are in progress.
    Working {
        /// Cases that have ended.
        done: usize,
        /// Places of those that are being run.
        running: &'a [usize],
    },
    /// The next one in the order has its result.
    Next(&'a R),
}

/// Works on all items with a bounded number of threads. A result is missing when its item was not begun.
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    stop: impl Fn(&R) -> bool + Sync,
    work: impl Fn(&T) -> R + Sync,
    mut tell: impl FnMut(Event<'_, R>),
) -> std::io::Result<Vec<Option<R>>> {
    enum Message<R> {
        Begun(usize),
        Done(usize, R),
    }
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (next, stopped, work, stop) = (&next, &stopped, &work, &stop);
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        for number in 0..jobs.min(items.len()) {
            let send = send.clone();
            let job = move || {
                while !stopped.load(Ordering::SeqCst) {
                    let index = next.fetch_add(1, Ordering::SeqCst);
                    let Some(item) = items.get(index) else { break };
                    // The receiver is gone only when the command is ending.
                    let _ = send.send(Message::Begun(index));
                    let result = work(item);
                    if stop(&result) {
                        stopped.store(true, Ordering::SeqCst);
                    }
                    let _ = send.send(Message::Done(index, result));
                }
            };
            let name = format!("job {number}");
            std::thread::Builder::new().name(name).stack_size(STACK_BYTES).spawn_scoped(scope, job)?;
        }
        drop(send);
        let (mut waiting, mut shown, mut done) = (BTreeMap::new(), 0, 0);
        let mut running = Vec::new();
        for message in receive {
            match message {
                Message::Begun(index) => running.push(index),
                Message::Done(index, result) => {
                    running.retain(|other| *other != index);
                    waiting.insert(index, result);
                    done += 1;
                }
            }
            while let Some(result) = waiting.remove(&shown) {
                tell(Event::Next(&result));
                results[shown] = Some(result);
                shown += 1;
            }
            tell(Event::Working { done, running: &running });
        }
        for (index, result) in waiting {
            results[index] = Some(result);
        }
        Ok(results)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(jobs: usize, stop_at: Option<u32>) -> (Vec<Option<u32>>, Vec<u32>) {
        let items: Vec<u32> = (0..20).collect();
        let mut told = Vec::new();
        let tell = |event: Event<'_, u32>| match event {
            Event::Next(result) => told.push(*result),
            Event::Working { done, running } => assert!(done <= 20 && running.len() <= jobs),
        };
        let results = in_order(&items, jobs, |result| stop_at == Some(*result), |item| item * 2, tell);
        (results.expect("threads"), told)
    }

    #[test]
    fn results_are_in_the_order_of_the_items_however_many_jobs() {
        let all: Vec<u32> = (0..20).map(|item| item * 2).collect();
        for jobs in [1, 3, 64] {
            let (results, told) = run(jobs, None);
            assert_eq!(results.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>(), all);
            assert_eq!(told, all, "each is told in its turn");
        }
    }

    #[test]
    fn after_a_failure_nothing_more_is_begun() {
        let (results, told) = run(1, Some(8));
        assert_eq!(results.iter().flatten().count(), 5);
        assert_eq!(told, [0, 2, 4, 6, 8]);
    }
}
