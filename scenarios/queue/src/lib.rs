//! A bounded queue between tasks, and a scenario that passes items through it.
//!
//! The planted fault is a lost wake-up: whoever finds the queue empty (or full) looks first and begins to wait later. What
//! happens in between, it never hears of.
//!
//! ```text
//! consumer: is it empty? yes ──┬─ (others run) ─┬─▶ waits, for ever
//! producer:                    └ push, notify ──┘
//! ```
//!
//! With the feature `fixed` it begins to wait before it looks.

use fozzy_sdk::prelude::*;
use fozzy_sdk::task::Notify;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

#[derive(Clone)]
struct Queue {
    items: Rc<RefCell<VecDeque<u32>>>,
    capacity: usize,
    changed: Notify,
}

impl Queue {
    fn new(capacity: usize) -> Queue {
        Queue { items: Rc::default(), capacity, changed: Notify::new() }
    }

    /// Waits until `done` answers something.
    async fn wait_until<T>(&self, mut done: impl FnMut(&mut VecDeque<u32>) -> Option<T>) -> T {
        loop {
            let early = cfg!(feature = "fixed").then(|| self.changed.notified());
            if let Some(answer) = done(&mut self.items.borrow_mut()) {
                self.changed.notify_waiters();
                return answer;
            }
            // Somewhere to be interrupted: a line in a log, say.
            task::yield_now().await;
            match early {
                Some(changed) => changed.await,
                None => self.changed.notified().await,
            }
        }
    }

    async fn push(&self, item: u32) {
        self.wait_until(|items| (items.len() < self.capacity).then(|| items.push_back(item))).await;
    }

    async fn pop(&self) -> u32 {
        self.wait_until(VecDeque::pop_front).await
    }
}

#[derive(Default)]
struct Passing {
    passed: u64,
}

#[scenario]
impl Passing {
    #[flow]
    async fn pass(&mut self) {
        let queue = Queue::new(draw::range(1..=3));
        let (producers, items) = (draw::range(1..=3u32), draw::range(1..=4u32));
        let tasks: Vec<_> = (0..producers)
            .map(|producer| {
                let queue = queue.clone();
                task::spawn(&format!("producer {producer}"), async move {
                    for item in 0..items {
                        queue.push(producer * 100 + item).await;
                    }
                })
            })
            .collect();
        let mut last = vec![None; producers as usize];
        for _ in 0..producers * items {
            let item = queue.pop().await;
            let before = last[(item / 100) as usize].replace(item);
            always!(before < Some(item), "the items of a producer stay in order");
            self.passed += 1;
        }
        for task in tasks {
            task.join().await;
        }
        sometimes!(producers * items > queue.capacity as u32, "the queue was too short");
        always!(queue.items.borrow().is_empty(), "nothing is left");
    }
}
