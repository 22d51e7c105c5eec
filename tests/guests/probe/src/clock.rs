//! Time: reading it, sleeping, and waiting for it in a loop.

use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Arguments;

const HOUR_S: u64 = 3600;

/// Prints the time of day, the difference of two neighbouring reads of each clock, and what a 5 ms sleep does to both.
pub fn time(_: &Arguments) {
    let wall = SystemTime::now();
    let steady = Instant::now();
    println!(
        "since 1970 {} ns",
        wall.duration_since(UNIX_EPOCH)
            .expect("the clock stands before 1970")
            .as_nanos()
    );
    println!(
        "next wall read +{} ns",
        wall.elapsed().expect("the wall clock went back").as_nanos()
    );
    println!("next steady read +{} ns", steady.elapsed().as_nanos());
    sleep(Duration::from_millis(5));
    println!(
        "after 5 ms, wall +{} ns",
        wall.elapsed().expect("the wall clock went back").as_nanos()
    );
    println!("after 5 ms, steady +{} ns", steady.elapsed().as_nanos());
}

/// Sleeps for an hour and prints how many whole seconds passed.
pub fn sleep_hour(_: &Arguments) {
    let start = Instant::now();
    sleep(Duration::from_secs(HOUR_S));
    println!("slept {} s", start.elapsed().as_secs());
}

/// Reads the clock until an hour has passed, or as many seconds as the first argument says. A simulated clock that stood still
/// between reads would never end it.
pub fn poll_loop(arguments: &Arguments) {
    let wait = Duration::from_secs(
        arguments
            .first()
            .and_then(|text| text.parse().ok())
            .unwrap_or(HOUR_S),
    );
    let start = Instant::now();
    let mut reads = 1_u64;
    while start.elapsed() < wait {
        reads += 1;
    }
    println!("passed after {reads} reads");
}
