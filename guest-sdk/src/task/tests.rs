//! Tasks of all kinds, natively.

use super::*;
use crate::native;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

/// The order in which three tasks of two steps each come by.
fn order(seed: u64, how: Schedule) -> String {
    native::begin(seed);
    schedule(how);
    let order = Rc::new(RefCell::new(String::new()));
    block_on(async {
        let tasks: Vec<_> = ["a", "b", "c"]
            .into_iter()
            .map(|name| {
                let order = Rc::clone(&order);
                spawn(name, async move {
                    order.borrow_mut().push_str(name);
                    yield_now().await;
                    order.borrow_mut().push_str(name);
                })
            })
            .collect();
        for task in tasks {
            task.join().await;
        }
    });
    schedule(Schedule::default());
    order.take()
}

#[test]
fn schedules_give_the_orders_that_they_promise() {
    assert_eq!(order(1, Schedule::Fifo), "abcabc");
    assert_eq!(order(7, Schedule::Random), order(7, Schedule::Random));
    let orders = |how| (0..3000).map(|seed| order(seed, how)).collect::<BTreeSet<_>>();
    // Three pairs: 6! / 2^3 orders.
    assert_eq!(orders(Schedule::Random).len(), 90);
    // Without change points a priority never changes: each task runs through, in any of 3! orders.
    assert_eq!(orders(Schedule::Pct { depth: 1 }).len(), 6);
}

#[test]
fn time_passes_only_when_everybody_waits() {
    native::begin(7);
    let (slept, waited) = block_on(async {
        let before = now();
        let long = spawn("long", async { sleep(Duration::from_secs(3600)).await });
        let waited = timeout(Duration::from_secs(5), std::future::pending::<()>()).await;
        long.join().await;
        (now() - before, waited)
    });
    assert_eq!(waited, Err(Elapsed));
    assert!((3600..3601).contains(&slept.as_secs()), "{slept:?}");
    assert_eq!(block_on(timeout(Duration::from_secs(1), async { 3 })), Ok(3));
}

#[test]
fn what_was_sent_is_received_once_in_its_order() {
    for seed in 0..50 {
        native::begin(seed);
        let received = block_on(async {
            let (sender, receiver) = channel::bounded(2);
            for name in ["one", "two"] {
                let sender = sender.clone();
                let _ = spawn(name, async move {
                    for n in 0..5 {
                        sender.send((name, n)).await.expect("somebody receives");
                    }
                });
            }
            drop(sender);
            let mut received = Vec::new();
            while let Some(value) = receiver.recv().await {
                received.push(value);
            }
            received
        });
        for name in ["one", "two"] {
            let of: Vec<i32> = received.iter().filter(|(sender, _)| *sender == name).map(|(_, n)| *n).collect();
            assert_eq!(of, [0, 1, 2, 3, 4]);
        }
    }
    block_on(async {
        let (sender, receiver) = channel::unbounded();
        drop(receiver);
        assert_eq!(sender.send(1).await, Err(channel::SendError(1)));
    });
}

#[test]
fn a_mutex_and_a_semaphore_let_no_more_in_than_they_should() {
    for seed in 0..50 {
        native::begin(seed);
        block_on(async {
            let (mutex, semaphore) = (Mutex::new(0), Semaphore::new(2));
            let inside = Rc::new(RefCell::new((0, 0)));
            let tasks: Vec<_> = (0..5)
                .map(|n| {
                    let (mutex, semaphore, inside) = (mutex.clone(), semaphore.clone(), Rc::clone(&inside));
                    spawn(&format!("task {n}"), async move {
                        let permit = semaphore.acquire().await;
                        inside.borrow_mut().0 += 1;
                        let now = inside.borrow().0;
                        let most = inside.borrow().1.max(now);
                        inside.borrow_mut().1 = most;
                        yield_now().await;
                        inside.borrow_mut().0 -= 1;
                        drop(permit);
                        let mut value = mutex.lock().await;
                        let read = *value;
                        yield_now().await;
                        *value = read + 1;
                    })
                })
                .collect();
            for task in tasks {
                task.join().await;
            }
            assert_eq!((*mutex.lock().await, inside.borrow().1, semaphore.available()), (5, 2, 2));
        });
    }
}

#[test]
fn a_notification_reaches_whom_it_should() {
    native::begin(7);
    block_on(async {
        let notify = Notify::new();
        notify.notify_one();
        notify.notified().await;
        notify.notify_waiters();
        let missed = timeout(Duration::from_secs(1), notify.notified()).await;
        assert_eq!(missed, Err(Elapsed), "nobody waited when all were notified");
        let waiting = notify.notified();
        notify.notify_waiters();
        waiting.await;
    });
}

/// What is said when the future panics.
fn panic_of(future: impl Future<Output = ()> + 'static) -> String {
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| block_on(future)));
    let panic = caught.expect_err("it panics");
    panic
        .downcast_ref::<String>()
        .cloned()
        .or(panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .expect("words")
}

#[test]
fn a_deadlock_names_who_waits_for_what() {
    native::begin(7);
    let said = panic_of(async {
        let (left, right) = (Mutex::new(()), Mutex::new(()));
        let (left_too, right_too) = (left.clone(), right.clone());
        let _held = left.lock().await;
        let other = spawn("other", async move {
            let _held = right_too.lock().await;
            let _never = left_too.lock().await;
        });
        yield_now().await;
        other.join().await;
        drop(right);
    });
    assert!(said.contains("`main` waits for the end of `other`"), "{said}");
    assert!(said.contains("`other` waits for the mutex at ") && said.contains("held by `main`"), "{said}");
    // The executor is gone, and another one can run.
    assert_eq!(block_on(async { 3 }), 3);
    assert!(panic_of(async { block_on(async {}) }).contains("use `.await`"));
}
