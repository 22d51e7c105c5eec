//! What tasks wait for, and who is woken.
//!
//! What tasks wait for is an object, and each operation on it touches it: so the scheduler knows which steps are in a race.
//!
//! Invariant: a waiter is woken at each change of what it waits for, and checks again; so a waiter that gave up loses
//! no wake-up of another one.

use super::executor;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Something that tasks wait for.
pub(super) trait Resource {
    /// What it is, without what varies: part of a deadlock's identity.
    fn name(&self) -> String;
    /// What it is, and who has it.
    fn describe(&self) -> String;
}

thread_local! {
    static OBJECTS: Cell<u64> = const { Cell::new(0) };
}

/// Which object it is that tasks wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object(pub(super) u64);

impl Default for Object {
    /// One that there was not before.
    fn default() -> Object {
        OBJECTS.set(OBJECTS.get() + 1);
        Object(OBJECTS.get())
    }
}

impl Object {
    /// The step that is taken has to do with it.
    pub(super) fn touch(self) {
        executor::touch(self);
    }
}

/// The wakers of those who wait.
#[derive(Default)]
pub(super) struct Waiters {
    wakers: RefCell<Vec<Waker>>,
    object: Object,
}

impl Waiters {
    /// Those who wait for an object beside others.
    pub(super) fn of(object: Object) -> Waiters {
        Waiters { wakers: RefCell::default(), object }
    }

    /// A task passes without having to wait.
    pub(super) fn touch(&self) {
        self.object.touch();
    }

    /// The task that is polled waits for `resource`.
    pub(super) fn pend<T>(&self, context: &Context<'_>, resource: &Rc<dyn Resource>) -> Poll<T> {
        let mut wakers = self.wakers.borrow_mut();
        if !wakers.iter().any(|waker| waker.will_wake(context.waker())) {
            wakers.push(context.waker().clone());
        }
        self.touch();
        executor::with(|executor| executor.waits_for(Rc::clone(resource), Some(self.object)));
        Poll::Pending
    }

    pub(super) fn wake_all(&self) {
        self.touch();
        self.wakers.take().into_iter().for_each(Waker::wake);
    }
}
