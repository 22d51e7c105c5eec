//! What tasks wait for, and who is woken.
//!
//! Invariant: whoever waits is woken at each change of what it waits for, and looks again; so a waiter that gave up takes
//! no wake-up with it.

use super::executor;
use std::cell::RefCell;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Something that tasks wait for.
pub(super) trait Resource {
    /// What it is, without what varies: part of a deadlock's identity.
    fn name(&self) -> String;
    /// What it is, and who has it.
    fn describe(&self) -> String;
}

/// The wakers of those who wait.
#[derive(Default)]
pub(super) struct Waiters(RefCell<Vec<Waker>>);

impl Waiters {
    /// The task that is polled waits for `resource`.
    pub(super) fn pend<T>(&self, context: &Context<'_>, resource: &Rc<dyn Resource>) -> Poll<T> {
        let mut wakers = self.0.borrow_mut();
        if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            wakers.push(context.waker().clone());
        }
        executor::with(|executor| executor.waits_for(Rc::clone(resource)));
        Poll::Pending
    }

    pub(super) fn wake_all(&self) {
        self.0.take().into_iter().for_each(Waker::wake);
    }
}
