//! Channels: many senders, many receivers, a bound or none.
//!
//! Invariant: what was sent is received once, in its order.

use super::waiting::{Object, Resource, Waiters};
use crate::site;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::Location;
use std::rc::Rc;
use std::task::Poll;

struct ChannelState<T> {
    site: &'static str,
    queue: RefCell<VecDeque<T>>,
    capacity: usize,
    senders: Cell<usize>,
    receivers: Cell<usize>,
    has_room: Waiters,
    has_some: Waiters,
}

/// What a sender waits for.
struct Room<T>(Rc<ChannelState<T>>);

impl<T> Resource for Room<T> {
    fn name(&self) -> String {
        format!("channel at {}", self.0.site)
    }
    fn describe(&self) -> String {
        format!("room in the channel at {}, which holds {}", self.0.site, self.0.queue.borrow().len())
    }
}

impl<T> Resource for ChannelState<T> {
    fn name(&self) -> String {
        format!("channel at {}", self.site)
    }
    fn describe(&self) -> String {
        format!("something in the channel at {}, which has senders ({})", self.site, self.senders.get())
    }
}

/// A channel that holds at the most `capacity`, at least 1.
///
/// ```
/// use fozzy_sdk::task::{self, channel};
///
/// task::block_on(async {
///     let (sender, receiver) = channel::bounded(1);
///     sender.send("first").await.expect("there is a receiver");
///     assert_eq!(receiver.try_recv(), Some("first"));
///     drop(sender);
///     assert_eq!(receiver.recv().await, None);
/// });
/// ```
#[must_use]
#[track_caller]
pub fn bounded<T: 'static>(capacity: usize) -> (Sender<T>, Receiver<T>) {
    channel(site::of(Location::caller()), capacity.max(1))
}

/// A channel without a bound.
///
/// ```
/// use fozzy_sdk::task::{self, channel};
///
/// task::block_on(async {
///     let (sender, receiver) = channel::unbounded();
///     for number in 0..100 { sender.send(number).await.expect("there is a receiver"); }
///     assert_eq!(receiver.recv().await, Some(0));
/// });
/// ```
#[must_use]
#[track_caller]
pub fn unbounded<T: 'static>() -> (Sender<T>, Receiver<T>) {
    channel(site::of(Location::caller()), usize::MAX)
}

fn channel<T>(site: &'static str, capacity: usize) -> (Sender<T>, Receiver<T>) {
    // One object: who sends and who receives are in a race.
    let object = Object::default();
    let shared = Rc::new(ChannelState {
        site,
        queue: RefCell::default(),
        capacity,
        senders: Cell::new(1),
        receivers: Cell::new(1),
        has_room: Waiters::of(object),
        has_some: Waiters::of(object),
    });
    (Sender(Rc::clone(&shared)), Receiver(shared))
}

/// Sends; a clone is another sender.
///
/// ```
/// use fozzy_sdk::task::channel::{self, Receiver, Sender};
///
/// let (sender, receiver): (Sender<u8>, Receiver<u8>) = channel::bounded(8);
/// let other = sender.clone();
/// # let _ = (other, receiver);
/// ```
pub struct Sender<T>(Rc<ChannelState<T>>);

/// Receives; a clone is another receiver.
///
/// ```
/// use fozzy_sdk::task::channel::{Receiver, unbounded};
///
/// let (_sender, receiver) = unbounded::<u8>();
/// let other: Receiver<u8> = receiver.clone();
/// assert_eq!(other.try_recv(), None);
/// ```
pub struct Receiver<T>(Rc<ChannelState<T>>);

/// All receivers are gone; holds the value that was not sent.
///
/// ```
/// use fozzy_sdk::task::{self, channel, channel::SendError};
///
/// let (sender, receiver) = channel::bounded(1);
/// drop(receiver);
/// assert!(matches!(task::block_on(sender.send(7)), Err(SendError(7))));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendError<T>(pub T);

impl<T: 'static> Sender<T> {
    /// Waits for room, and sends.
    ///
    /// # Errors
    /// When there is no receiver any more.
    pub async fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut value = Some(value);
        std::future::poll_fn(|context| {
            let shared = &self.0;
            if shared.receivers.get() == 0 {
                return Poll::Ready(value.take().map_or(Ok(()), |value| Err(SendError(value))));
            }
            if shared.queue.borrow().len() >= shared.capacity {
                return shared.has_room.pend(context, &(Rc::new(Room(Rc::clone(shared))) as Rc<dyn Resource>));
            }
            shared.queue.borrow_mut().extend(value.take());
            shared.has_some.wake_all();
            Poll::Ready(Ok(()))
        })
        .await
    }
}

impl<T: 'static> Receiver<T> {
    /// Waits for something; `None` when everything was received and there is no sender any more.
    pub async fn recv(&self) -> Option<T> {
        std::future::poll_fn(|context| {
            let shared = &self.0;
            if let Some(value) = self.try_recv() {
                return Poll::Ready(Some(value));
            }
            if shared.senders.get() == 0 {
                return Poll::Ready(None);
            }
            shared.has_some.pend(context, &(Rc::clone(shared) as Rc<dyn Resource>))
        })
        .await
    }

    /// What is there, without waiting.
    #[must_use]
    pub fn try_recv(&self) -> Option<T> {
        let value = self.0.queue.borrow_mut().pop_front();
        if value.is_some() {
            self.0.has_room.wake_all();
        }
        value
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.0.senders.set(self.0.senders.get() + 1);
        Sender(Rc::clone(&self.0))
    }
}

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Receiver<T> {
        self.0.receivers.set(self.0.receivers.get() + 1);
        Receiver(Rc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.senders.set(self.0.senders.get() - 1);
        self.0.has_some.wake_all();
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.receivers.set(self.0.receivers.get() - 1);
        self.0.has_room.wake_all();
    }
}
