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
//! Not here: threads. What waits without one of these futures blocks everybody.

pub mod channel;
mod executor;
pub mod mutex;
pub mod notify;
pub mod semaphore;
mod time;
mod waiting;

pub use executor::{JoinHandle, block_on, schedule, spawn, yield_now};
pub use mutex::Mutex;
pub use notify::Notify;
pub use semaphore::Semaphore;
pub use time::{Elapsed, now, sleep, timeout};

/// Who runs next when several tasks can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// Who became runnable first: no question is asked.
    Fifo,
    /// Any of them, all equally likely.
    #[default]
    Random,
    /// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): tasks get random priorities, the highest runs, and
    /// at `depth` - 1 random moments the one that runs gets the lowest. Finds faults that need that many orders of two
    /// events with a probability that has a known lower bound.
    Pct {
        /// How many ordered pairs a fault may need.
        depth: u32,
    },
}

#[cfg(test)]
mod tests;
