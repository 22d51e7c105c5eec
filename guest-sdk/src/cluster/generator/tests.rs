//! Generators on three threads whose operations take three seconds.

use super::*;

/// What a generator gives on three threads when each operation takes three seconds and ends well, or as `ends` says: moment, thread and
/// operation.
fn run(mut generator: Operations<String>, is_ok: impl Fn(&str) -> bool) -> String {
    const THREADS: usize = 3;
    let mut open: Vec<(Duration, usize, String)> = Vec::new();
    let (mut now, mut shown, mut processes) = (Duration::ZERO, Vec::new(), vec![1; THREADS]);
    while shown.len() < 12 {
        open.sort();
        while open.first().is_some_and(|(end, ..)| *end <= now) {
            let (_, thread, operation) = open.remove(0);
            let is_ok = is_ok(&operation);
            processes[thread] += u32::from(!is_ok);
            generator.ended(thread, is_ok);
        }
        let free: Vec<usize> = (0..THREADS).filter(|thread| open.iter().all(|(_, busy, _)| busy != thread)).collect();
        let context = GeneratorContext { now, free: &free, threads: THREADS, processes: &processes };
        match generator.next(&context) {
            NextOperation::Begin(thread, operation) => {
                assert!(free.contains(&thread), "thread {thread} of {free:?}");
                shown.push(format!("{}s {thread} {operation}", now.as_secs()));
                open.push((now + Duration::from_secs(3), thread, operation));
            }
            // An operation that ends before that changes what comes next.
            NextOperation::Until(at) => {
                let at = open.first().map_or(at, |(end, ..)| at.min(*end));
                now = at.max(now + Duration::from_millis(1));
            }
            NextOperation::Pending => match open.first() {
                Some((end, ..)) => now = *end,
                None => break,
            },
            NextOperation::Done => break,
        }
    }
    shown.join(", ")
}

fn word(word: &'static str) -> Operations<String> {
    of(move || word.to_owned())
}

/// The words only, which do not depend on which thread is drawn.
fn words(generator: Operations<String>) -> String {
    let shown = run(generator, |_| true);
    shown.split(", ").filter_map(|one| one.rsplit(' ').next()).collect::<Vec<_>>().join(" ")
}

fn moments(generator: Operations<String>) -> Vec<u64> {
    let shown = run(generator, |_| true);
    shown.split(", ").filter_map(|one| one.split('s').next()?.parse().ok()).collect()
}

#[test]
fn limits_phases_and_turns() {
    assert_eq!(words(limit(2, word("a"))), "a a");
    assert_eq!(words(phases(vec![limit(2, word("a")), once(|| "b".to_owned())])), "a a b");
    assert_eq!(moments(phases(vec![limit(2, word("a")), limit(1, word("b"))])), [0, 0, 3], "b waits for both");
    assert_eq!(words(limit(5, flip_flop(word("a"), word("b")))), "a b a b a");
    assert_eq!(words(flip_flop(word("a"), limit(1, word("b")))), "a b a", "until one of them has none");
    assert_eq!(words(mix(vec![(1, limit(1, word("a"))), (0, word("never"))])), "a");
}

#[test]
fn time_limits_and_gaps() {
    assert_eq!(moments(time_limit(Duration::from_secs(4), word("a"))), [0, 0, 0, 3, 3, 3]);
    let staggered = moments(limit(6, stagger(Duration::from_secs(60), word("a"))));
    assert!(staggered.is_sorted() && staggered.iter().filter(|at| **at > 0).count() >= 4, "{staggered:?}");
}

#[test]
fn threads_have_what_is_theirs() {
    let own = each_thread(|thread| limit(1, of(move || format!("own{thread}"))));
    assert_eq!(run(own, |_| true), "0s 0 own0, 0s 1 own1, 0s 2 own2");
    let some = reserve(vec![(1, word("write"))], word("read"));
    for one in run(some, |_| true).split(", ") {
        assert_eq!(one.contains(" 0 "), one.ends_with("write"), "{one}");
    }
}

#[test]
fn ends_of_operations_count() {
    let tries = std::cell::Cell::new(0);
    let third = |_: &str| {
        tries.set(tries.get() + 1);
        tries.get() == 3
    };
    let one_at_a_time = each_thread(|thread| if thread == 0 { word("create") } else { limit(0, word("no")) });
    assert_eq!(run(until_ok(one_at_a_time), third), "0s 0 create, 3s 0 create, 6s 0 create");
    let limited = run(process_limit(5, word("a")), |_| false);
    assert_eq!(
        limited.split(", ").count(),
        3,
        "three processes, and after the first three ends there are six, which are too many: {limited}"
    );
}
