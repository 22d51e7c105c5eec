//! `wasi:clocks` and `wasi:io/poll`: time only as what came before what.

use crate::cases;
use wasip2::clocks::{monotonic_clock, wall_clock};
use wasip2::io::poll::{Pollable, poll};

const MILLISECOND: u64 = 1_000_000;
const HOUR: u64 = 3_600_000 * MILLISECOND;
/// 2020-01-01, in seconds since 1970: every wall clock of a guest stands later.
const LONG_AGO_S: u64 = 1_577_836_800;

/// A deadline that has certainly passed: it was waited for.
fn passed() -> Pollable {
    let pollable = monotonic_clock::subscribe_duration(1);
    pollable.block();
    pollable
}

fn far() -> Pollable {
    monotonic_clock::subscribe_duration(HOUR)
}

/// The wall clock in nanoseconds.
fn wall() -> u128 {
    let now = wall_clock::now();
    u128::from(now.seconds) * 1_000_000_000 + u128::from(now.nanoseconds)
}

cases! {
    Together "clocks/monotonic-clock.now" "never goes back" |_d| {
        let readings: Vec<u64> = (0..100).map(|_| monotonic_clock::now()).collect();
        readings.is_sorted()
    };
    Together "clocks/monotonic-clock.now" "passes while it is polled" |_d| {
        let start = monotonic_clock::now();
        while monotonic_clock::now() < start + MILLISECOND {}
        true
    };
    Together "clocks/monotonic-clock.resolution" "is between a nanosecond and a second" |_d| {
        (1..1000 * MILLISECOND).contains(&monotonic_clock::resolution())
    };
    Together "clocks/monotonic-clock.resolution" "twice the same" |_d| {
        monotonic_clock::resolution() == monotonic_clock::resolution()
    };
    Together "clocks/monotonic-clock.subscribe-instant" "waits until then" |_d| {
        let when = monotonic_clock::now() + MILLISECOND;
        let pollable = monotonic_clock::subscribe_instant(when);
        pollable.block();
        (monotonic_clock::now() >= when, pollable.ready())
    };
    Together "clocks/monotonic-clock.subscribe-instant" "of the past does not wait" |_d| {
        let pollable = monotonic_clock::subscribe_instant(0);
        pollable.block();
        pollable.ready()
    };
    Together "clocks/monotonic-clock.subscribe-instant" "of the past is ready unasked" |_d| {
        monotonic_clock::subscribe_instant(0).ready()
    };
    Together "clocks/monotonic-clock.subscribe-instant" "of the end of time is not ready" |_d| {
        monotonic_clock::subscribe_instant(u64::MAX).ready()
    };
    Together "clocks/monotonic-clock.subscribe-duration" "waits so long" |_d| {
        let start = monotonic_clock::now();
        monotonic_clock::subscribe_duration(5 * MILLISECOND).block();
        monotonic_clock::now() - start >= 5 * MILLISECOND
    };
    Together "clocks/monotonic-clock.subscribe-duration" "of an hour is not ready" |_d| far().ready();
    Together "clocks/monotonic-clock.subscribe-duration" "of ever is not ready" |_d| {
        monotonic_clock::subscribe_duration(u64::MAX).ready()
    };
    Together "clocks/monotonic-clock.subscribe-duration" "of nothing does not wait" |_d| {
        let pollable = monotonic_clock::subscribe_duration(0);
        pollable.block();
        pollable.ready()
    };
    Together "clocks/wall-clock.now" "is not long ago, and in range" |_d| {
        let now = wall_clock::now();
        (now.seconds > LONG_AGO_S, now.nanoseconds < 1_000_000_000)
    };
    Together "clocks/wall-clock.now" "passes with the other clock" |_d| {
        let start = wall();
        monotonic_clock::subscribe_duration(5 * MILLISECOND).block();
        wall() - start >= u128::from(4 * MILLISECOND)
    };
    Together "clocks/wall-clock.resolution" "is between a nanosecond and a second" |_d| {
        let resolution = wall_clock::resolution();
        (resolution.seconds, (1..1_000_000_000).contains(&resolution.nanoseconds))
    };

    Together "io/poll.poll" "one that is ready" |_d| poll(&[&passed()]);
    Together "io/poll.poll" "two that are ready" |_d| {
        let (one, other) = (passed(), passed());
        poll(&[&one, &other])
    };
    Together "io/poll.poll" "the later one in front" |_d| {
        let (one, other) = (passed(), passed());
        poll(&[&other, &one])
    };
    Together "io/poll.poll" "one of two, the first" |_d| poll(&[&passed(), &far()]);
    Together "io/poll.poll" "one of two, the last" |_d| poll(&[&far(), &passed()]);
    Together "io/poll.poll" "the same one twice" |_d| {
        let pollable = passed();
        poll(&[&pollable, &pollable])
    };
    Together "io/poll.poll" "the earlier deadline ends it" |_d| {
        let (late, soon) = (far(), monotonic_clock::subscribe_duration(MILLISECOND));
        (poll(&[&late, &soon]), late.ready(), soon.ready())
    };
    Together "io/poll.poll" "again with what is over" |_d| {
        let soon = monotonic_clock::subscribe_duration(MILLISECOND);
        (poll(&[&soon]), poll(&[&soon]))
    };
    Alone "io/poll.poll" "nothing" |_d| poll(&[]);
    Together "io/poll.pollable.ready" "after it was waited for" |_d| passed().ready();
    Together "io/poll.pollable.ready" "changes by waiting alone" |_d| {
        let pollable = monotonic_clock::subscribe_duration(MILLISECOND);
        let before = pollable.ready();
        pollable.block();
        (before, pollable.ready())
    };
    Together "io/poll.pollable.block" "twice" |_d| {
        let pollable = passed();
        pollable.block();
        pollable.block();
        pollable.ready()
    };
}
