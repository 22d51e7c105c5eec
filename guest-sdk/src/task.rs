//! Tasks: an executor whose every step is a question, so that the order of tasks is drawn, recorded and replayed.
//!
//! ```text
//! block_on(main) ─▶ runnable: main, producer, consumer ─ question ─▶ one of them runs until it waits
//!                   none runnable, a timer:  virtual time moves to it
//!                   none runnable, no timer: a deadlock, which names who waits for what
//! ```
//!
//! ```
//! use fozzy_sdk::task::{self, channel};
//!
//! let sum = task::block_on(async {
//!     let (sender, receiver) = channel::bounded(1);
//!     let producer = task::spawn("producer", async move {
//!         for n in 1..=3 { sender.send(n).await.expect("the receiver is there"); }
//!     });
//!     let mut sum = 0;
//!     while let Some(n) = receiver.recv().await { sum += n; }
//!     producer.join().await;
//!     sum
//! });
//! assert_eq!(sum, 6);
//! ```
//!
//! Invariants: one task runs at a time; which one is asked only when several can; tasks that are left when `block_on`
//! returns are dropped.
//! Which task runs is answered by the run: by the seed, with the [`Schedule`] of the program; by a trace; or by a search, whose
//! `--schedule` then counts. Only [`Schedule::Fifo`] leaves no choice.
//! Not here: threads; the algorithms of the schedules (`fozzy-trace`). Any other wait than these futures blocks all tasks.

pub mod channel;
mod executor;
pub mod mutex;
pub mod net;
pub mod notify;
pub mod semaphore;
mod time;
mod waiting;

use crate::host::ReadyTask;
pub use executor::{JoinHandle, TaskSet, block_on, schedule, spawn, yield_now};
pub use mutex::Mutex;
pub use notify::Notify;
pub use semaphore::Semaphore;
pub use time::{Elapsed, now, sleep, sleep_until, timeout};

/// Who runs next when several tasks can.
///
/// ```
/// use fozzy_sdk::task::{self, Schedule};
/// use std::{cell::RefCell, rc::Rc};
///
/// let order = |schedule| {
///     task::schedule(schedule);
///     let order = Rc::new(RefCell::new(String::new()));
///     task::block_on(async {
///         for name in ["a", "b"] {
///             let order = Rc::clone(&order);
///             let _ = task::spawn(name, async move {
///                 order.borrow_mut().push_str(name);
///                 task::yield_now().await;
///                 order.borrow_mut().push_str(name);
///             });
///         }
///         task::sleep(std::time::Duration::from_secs(1)).await;
///     });
///     order.take()
/// };
/// assert_eq!(order(Schedule::Fifo), "abab");
/// assert_eq!(order(Schedule::Random).len(), 4);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Who became runnable first: no question is asked.
    Fifo,
    /// Any of them, all equally likely.
    #[default]
    Random,
    /// Probabilistic concurrency testing (Burckhardt and others, ASPLOS 2010): tasks get random priorities, the highest runs,
    /// and at `depth` - 1 distinct moments the one that would run is lowered below all others. A fault that needs `depth`
    /// ordered pairs of steps is found in a run of `n` tasks and `k` steps with a probability of at least
    /// `1 / (n k^(depth-1))`. How long runs of this future are is learned from those before: the first one of an execution
    /// guesses, and finds up to 24 times less. `fozzy explore --schedule pct` learns across executions.
    ///
    /// ```
    /// use fozzy_sdk::task::{self, Schedule};
    /// use std::{cell::Cell, rc::Rc};
    ///
    /// task::schedule(Schedule::Pct { depth: 2 });
    /// // Both read before either writes: depth 2, so at least one run in `n k`.
    /// let lost = (0..100).filter(|_| task::block_on(async {
    ///     let balance = Rc::new(Cell::new(0));
    ///     let deposit = |balance: Rc<Cell<u32>>| async move {
    ///         let read = balance.get();
    ///         task::yield_now().await;
    ///         balance.set(read + 1);
    ///     };
    ///     let other = task::spawn("other", deposit(Rc::clone(&balance)));
    ///     deposit(Rc::clone(&balance)).await;
    ///     other.join().await;
    ///     balance.get() == 1
    /// })).count();
    /// assert!(lost > 0);
    /// ```
    Pct {
        /// How many ordered pairs a fault may need: 1 to 64.
        depth: u32,
    },
    /// Partial order sampling (Yuan, Yang, Gu, CAV 2018): each pending step has a random priority, and the highest is taken. A
    /// step is drawn again when another one touches what it waits for: a mutex, a channel, a semaphore, a notification, the end
    /// of a task. Needs no depth and no length. What tasks share beside these is not seen: such steps keep their priority.
    ///
    /// ```
    /// use fozzy_sdk::task::{self, Schedule, channel};
    ///
    /// task::schedule(Schedule::Pos);
    /// // That the one message of `late` comes after all of `many` has a chance of about 1 in 10, not of 1 in 2^9.
    /// let late = (0..200).filter(|_| task::block_on(async {
    ///     let (sender, receiver) = channel::unbounded();
    ///     let other = sender.clone();
    ///     let many = task::spawn("many", async move {
    ///         for n in 0..9 {
    ///             task::yield_now().await;
    ///             other.send(n).await.expect("there is a receiver");
    ///         }
    ///     });
    ///     let late = task::spawn("late", async move { sender.send(99).await.expect("there is a receiver") });
    ///     many.join().await;
    ///     late.join().await;
    ///     std::iter::from_fn(|| receiver.try_recv()).last() == Some(99)
    /// })).count();
    /// assert!(late > 0);
    /// ```
    Pos,
    /// Uniform random walk (Zhao and others, ASPLOS 2025): a task is as likely as its share of the steps that are left, which
    /// makes all interleavings equally likely where no task waits for another. The steps of tasks are learned from the runs of
    /// this future before.
    ///
    /// ```
    /// use fozzy_sdk::task::{self, Schedule};
    ///
    /// task::schedule(Schedule::Urw);
    /// let last = || task::block_on(async {
    ///     let steps = |count| async move { for _ in 0..count { task::yield_now().await; } };
    ///     let short = task::spawn("short", steps(1));
    ///     task::spawn("long", steps(5)).join().await;
    ///     !short.is_finished()
    /// });
    /// // `short` has two steps of eight: that both of them come last is one interleaving of 28, to `Random` one walk of 64.
    /// assert!((0..300).filter(|_| last()).count() > 0);
    /// ```
    Urw,
}

/// A moment at which several tasks can continue, as it is reported to the host.
pub(crate) struct SchedulingMoment<'a> {
    /// Tells executors of a future from those of others.
    pub(crate) kind: u64,
    /// Tells them apart.
    pub(crate) run: u64,
    pub(crate) schedule: Schedule,
    /// Objects of the steps since the last one.
    pub(crate) touched: &'a [u64],
    /// In the order in which they became ready.
    pub(crate) ready: &'a [ReadyTask],
}

#[cfg(test)]
mod tests;
