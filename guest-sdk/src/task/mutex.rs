//! A mutex between tasks.
//!
//! Invariant: one task has it at a time; who gets it next is decided by who runs next.

use super::executor;
use super::waiting::{Resource, Waiters};
use crate::site;
use std::cell::{RefCell, RefMut};
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::rc::Rc;
use std::task::Poll;

/// A value that one task locks at a time. Clones share it.
///
/// ```
/// use fozzy_sdk::task::{self, Mutex};
///
/// task::block_on(async {
///     let balance = Mutex::new(10);
///     let shared = balance.clone();
///     task::spawn("deposit", async move { *shared.lock().await += 5 }).join().await;
///     assert_eq!(*balance.lock().await, 15);
/// });
/// ```
pub struct Mutex<T> {
    lock: Rc<Lock>,
    value: Rc<RefCell<T>>,
}

struct Lock {
    site: &'static str,
    holder: RefCell<Option<Rc<str>>>,
    waiters: Waiters,
}

impl Resource for Lock {
    fn name(&self) -> String {
        format!("mutex at {}", self.site)
    }
    fn describe(&self) -> String {
        let holder = self.holder.borrow();
        format!("the mutex at {}, held by `{}`", self.site, holder.as_deref().unwrap_or("nobody"))
    }
}

impl<T> Mutex<T> {
    /// An unlocked mutex.
    #[track_caller]
    pub fn new(value: T) -> Mutex<T> {
        let lock = Lock { site: site::of(Location::caller()), holder: RefCell::new(None), waiters: Waiters::default() };
        Mutex { lock: Rc::new(lock), value: Rc::new(RefCell::new(value)) }
    }

    /// Locks it; waits while another task holds it.
    pub async fn lock(&self) -> MutexGuard<'_, T> {
        std::future::poll_fn(|context| {
            if self.lock.holder.borrow().is_some() {
                return self.lock.waiters.pend(context, &(Rc::clone(&self.lock) as Rc<dyn Resource>));
            }
            self.lock.waiters.touch();
            self.lock.holder.replace(Some(executor::with(|executor| executor.current_name())));
            Poll::Ready(())
        })
        .await;
        MutexGuard { value: self.value.borrow_mut(), lock: &self.lock }
    }
}

impl<T> Clone for Mutex<T> {
    fn clone(&self) -> Mutex<T> {
        Mutex { lock: Rc::clone(&self.lock), value: Rc::clone(&self.value) }
    }
}

/// Holds the lock until dropped.
///
/// ```
/// use fozzy_sdk::task::{self, Mutex};
///
/// task::block_on(async {
///     let list = Mutex::new(vec![1]);
///     let mut guard = list.lock().await;
///     guard.push(2);
///     drop(guard);
///     assert_eq!(list.lock().await.len(), 2);
/// });
/// ```
pub struct MutexGuard<'a, T> {
    value: RefMut<'a, T>,
    lock: &'a Lock,
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T> Drop for MutexGuard<'_, T> {
    fn drop(&mut self) {
        self.lock.holder.replace(None);
        self.lock.waiters.wake_all();
    }
}
