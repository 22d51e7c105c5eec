//! A semaphore between tasks.
//!
//! Invariant: permits that are taken and those that are left are together as many as there were.

use super::executor;
use super::waiting::{Resource, Waiters};
use crate::site;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::rc::Rc;
use std::task::Poll;

/// A number of permits. Clones share them.
///
/// ```
/// use fozzy_sdk::task::{self, Semaphore};
///
/// task::block_on(async {
///     let connections = Semaphore::new(2);
///     let permit = connections.acquire().await;
///     assert_eq!(connections.available(), 1);
///     drop(permit);
///     assert_eq!(connections.available(), 2);
/// });
/// ```
#[derive(Clone)]
pub struct Semaphore(Rc<SemaphoreState>);

struct SemaphoreState {
    site: &'static str,
    left: Cell<usize>,
    holders: RefCell<Vec<Rc<str>>>,
    waiters: Waiters,
}

impl Resource for SemaphoreState {
    fn name(&self) -> String {
        format!("semaphore at {}", self.site)
    }
    fn describe(&self) -> String {
        let holders = self.holders.borrow().iter().map(|holder| format!("`{holder}`")).collect::<Vec<_>>().join(", ");
        let holders = if holders.is_empty() { "nobody".to_owned() } else { holders };
        format!("a permit of the semaphore at {}, held by {holders}", self.site)
    }
}

impl Semaphore {
    /// A semaphore with all its permits free.
    #[track_caller]
    #[must_use]
    pub fn new(permits: usize) -> Semaphore {
        let site = site::of(Location::caller());
        let holders = RefCell::default();
        Semaphore(Rc::new(SemaphoreState { site, left: Cell::new(permits), holders, waiters: Waiters::default() }))
    }

    /// Permits that are left.
    #[must_use]
    pub fn available(&self) -> usize {
        self.0.left.get()
    }

    /// Waits for a permit, which is given back when it is dropped.
    pub async fn acquire(&self) -> Permit {
        let holder = std::future::poll_fn(|context| {
            if self.0.left.get() == 0 {
                return self.0.waiters.pend(context, &(Rc::clone(&self.0) as Rc<dyn Resource>));
            }
            self.0.waiters.touch();
            self.0.left.set(self.0.left.get() - 1);
            Poll::Ready(executor::with(|executor| executor.current_name()))
        })
        .await;
        self.0.holders.borrow_mut().push(Rc::clone(&holder));
        Permit { shared: Rc::clone(&self.0), holder }
    }
}

/// A permit of a [`Semaphore`].
///
/// ```
/// use fozzy_sdk::task::{self, semaphore::Permit, Semaphore};
///
/// let pool = Semaphore::new(1);
/// let permit: Permit = task::block_on(pool.acquire());
/// assert_eq!(pool.available(), 0);
/// # drop(permit);
/// ```
pub struct Permit {
    shared: Rc<SemaphoreState>,
    holder: Rc<str>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut holders = self.shared.holders.borrow_mut();
        if let Some(at) = holders.iter().position(|holder| *holder == self.holder) {
            holders.remove(at);
        }
        drop(holders);
        self.shared.left.set(self.shared.left.get() + 1);
        self.shared.waiters.wake_all();
    }
}
