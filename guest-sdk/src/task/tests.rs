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

/// A fault that one task finds only when it is interrupted once by another: between its `at`th step and the next one.
async fn interrupted(steps: u32, at: u32, others: u32) -> bool {
    let (last, hit) = (Rc::new(RefCell::new((0, 0))), Rc::new(RefCell::new(false)));
    let mut tasks = Vec::new();
    for task in 0..=others {
        let (last, hit) = (Rc::clone(&last), Rc::clone(&hit));
        tasks.push(spawn(&format!("task {task}"), async move {
            for step in 0..steps {
                if task == 0 && step == at + 1 && last.borrow().0 == 1 {
                    *hit.borrow_mut() = true;
                }
                *last.borrow_mut() = (task, step);
                yield_now().await;
            }
        }));
    }
    for task in tasks {
        task.join().await;
    }
    hit.take()
}

#[test]
fn pct_finds_what_its_bound_promises_once_it_knows_how_long_runs_are() {
    const RUNS: u64 = 20_000;
    for (steps, at, others) in [(5, 2, 1), (3, 1, 2), (12, 7, 1)] {
        native::begin(7);
        schedule(Schedule::Pct { depth: 2 });
        let hits = (0..RUNS).filter(|_| block_on(interrupted(steps, at, others))).count() as f64;
        schedule(Schedule::default());
        // Tasks: these and the first one. Steps: each task's, its last one to the end, and those of the first one.
        let (tasks, steps) = (others + 2, (others + 1) * (steps + 1) + others + 2);
        let mean = RUNS as f64 / f64::from(tasks * steps);
        assert!(hits >= mean - 3.0 * mean.sqrt(), "{hits} of {RUNS}, the bound is {mean:.0}");
    }
}

/// Two tasks of four steps each; the order in which they are taken.
async fn two_of_four() -> Vec<usize> {
    let order = Rc::new(RefCell::new(Vec::new()));
    let task = |number: usize| {
        let order = Rc::clone(&order);
        spawn(&format!("task {number}"), async move {
            for _ in 0..4 {
                order.borrow_mut().push(number);
                yield_now().await;
            }
        })
    };
    for task in [task(0), task(1)] {
        task.join().await;
    }
    order.take()
}

#[test]
fn pct_finds_faults_of_each_depth_at_least_as_often_as_its_bound() {
    const RUNS: u64 = 20_000;
    // What is to come one after the other: each a task and the number of its step.
    let faults: [&[(usize, usize)]; 3] =
        [&[(1, 0), (0, 0)], &[(0, 1), (1, 0), (0, 2)], &[(0, 1), (1, 1), (0, 2), (1, 2)]];
    for (depth, fault) in (1..).zip(faults) {
        native::begin(7);
        schedule(Schedule::Pct { depth });
        let is_met = |order: Vec<usize>| {
            let moment = |(task, nth): &(usize, usize)| {
                let mut its = order.iter().enumerate().filter(|(_, its)| *its == task);
                its.nth(*nth).map(|(at, _)| at)
            };
            fault.is_sorted_by_key(moment)
        };
        let hits = (0..RUNS).filter(|_| is_met(block_on(two_of_four()))).count() as f64;
        schedule(Schedule::default());
        // The two and the first task; five steps of each of the two, and three of the first one.
        let mean = RUNS as f64 / (3.0 * 13f64.powi(depth as i32 - 1));
        assert!(hits >= mean - 3.0 * mean.sqrt(), "depth {depth}: {hits} of {RUNS}, the bound is {mean:.0}");
    }
}

#[test]
fn every_order_is_equally_likely_to_a_uniform_random_walk() {
    native::begin(7);
    schedule(Schedule::Urw);
    let run = || {
        let order = Rc::new(RefCell::new(String::new()));
        block_on(async {
            let tasks = [("a", 2), ("b", 3)].map(|(name, steps)| {
                let order = Rc::clone(&order);
                spawn(name, async move {
                    for step in 0..steps {
                        if step > 0 {
                            yield_now().await;
                        }
                        order.borrow_mut().push_str(name);
                    }
                })
            });
            for task in tasks {
                task.join().await;
            }
        });
        order.take()
    };
    let mut counts = std::collections::BTreeMap::<String, u32>::new();
    (0..100).for_each(|_| drop(run()));
    (0..10_000).for_each(|_| *counts.entry(run()).or_default() += 1);
    schedule(Schedule::default());
    assert_eq!(counts.len(), 10, "{counts:?}");
    let chi_square: f64 = counts.values().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi_square < 27.88, "1 in 1,000 are above that: {chi_square}, {counts:?}");
}

#[test]
fn pos_draws_again_who_waits_for_what_was_touched() {
    // `late` is woken by the first message. Then come 15 more, on its channel or on another one, before it takes a step.
    const RUNS: u32 = 2000;
    let last = |same_channel: bool| {
        let run = |seed| {
            native::begin(seed);
            block_on(async move {
                let (sender, receiver) = channel::unbounded();
                let (other, _others) = channel::unbounded();
                let sent = Rc::new(RefCell::new(0));
                let late = spawn("late", {
                    let (sent, receiver) = (Rc::clone(&sent), receiver.clone());
                    async move {
                        receiver.recv().await;
                        *sent.borrow()
                    }
                });
                sleep(Duration::from_secs(1)).await;
                sender.send(()).await.expect("somebody receives");
                for _ in 0..15 {
                    yield_now().await;
                    *sent.borrow_mut() += 1;
                    let on = if same_channel { &sender } else { &other };
                    on.send(()).await.expect("somebody receives");
                }
                let seen = late.join().await;
                drop(receiver);
                seen == 15
            })
        };
        schedule(Schedule::Pos);
        let hits = (0..RUNS).filter(|seed| run(u64::from(*seed))).count();
        schedule(Schedule::default());
        hits
    };
    let (racing, apart) = (last(true), last(false));
    assert!(racing <= 2, "1 in 2^15 if it is drawn again after each: {racing}");
    assert!((90..160).contains(&apart), "1 in 16 if it is not: {apart} of {RUNS}");
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
