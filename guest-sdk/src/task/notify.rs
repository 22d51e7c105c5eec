//! Notifications between tasks, as tokio's `Notify`.
//!
//! ```text
//! notify_one       one of the tasks that wait, or the next one that waits
//! notify_waiters   all tasks that wait now, no later one: a task that checks first and waits then may miss it
//! ```

use super::waiting::{Resource, Waiters};
use crate::site;
use std::cell::Cell;
use std::future::Future;
use std::panic::Location;
use std::rc::Rc;
use std::task::Poll;

/// Wakes tasks. Clones are the same.
///
/// ```
/// use fozzy_sdk::task::{self, Notify};
///
/// task::block_on(async {
///     let ready = Notify::new();
///     let (first, all) = (ready.clone(), ready.notified());
///     let waiting = task::spawn("waiting", async move { first.notified().await });
///     ready.notify_waiters();
///     all.await;
///     ready.notify_one();
///     waiting.join().await;
/// });
/// ```
#[derive(Clone)]
pub struct Notify(Rc<NotifyState>);

struct NotifyState {
    site: &'static str,
    /// One task may pass.
    permit: Cell<bool>,
    /// How often all were woken.
    rounds: Cell<u64>,
    waiters: Waiters,
}

impl Resource for NotifyState {
    fn name(&self) -> String {
        format!("notify at {}", self.site)
    }
    fn describe(&self) -> String {
        format!("a notification of the notify at {}", self.site)
    }
}

impl Default for Notify {
    #[track_caller]
    fn default() -> Notify {
        Notify::new()
    }
}

impl Notify {
    /// Without a permit.
    #[track_caller]
    #[must_use]
    pub fn new() -> Notify {
        let site = site::of(Location::caller());
        let shared = NotifyState { site, permit: Cell::new(false), rounds: Cell::new(0), waiters: Waiters::default() };
        Notify(Rc::new(shared))
    }

    /// Wakes one task that waits, or the next one that will.
    pub fn notify_one(&self) {
        self.0.permit.set(true);
        self.0.waiters.wake_all();
    }

    /// Wakes all tasks that wait now.
    pub fn notify_waiters(&self) {
        self.0.rounds.set(self.0.rounds.get() + 1);
        self.0.waiters.wake_all();
    }

    /// Waits from now on, also before it is polled: what is notified after this call is not missed.
    pub fn notified(&self) -> impl Future<Output = ()> + 'static {
        let shared = Rc::clone(&self.0);
        let round = shared.rounds.get();
        std::future::poll_fn(move |context| {
            if shared.rounds.get() != round || shared.permit.take() {
                shared.waiters.touch();
                return Poll::Ready(());
            }
            shared.waiters.pend(context, &(Rc::clone(&shared) as Rc<dyn Resource>))
        })
    }
}
