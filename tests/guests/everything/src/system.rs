//! The rest: surroundings, clocks, chance, what WASI lacks, and computing.

use crate::report::Report;
use std::collections::{HashMap, HashSet};
use std::hint::black_box;
use std::io::{self, Read};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) fn surroundings(report: &mut Report) {
    report.see("args", std::env::args().collect::<Vec<_>>());
    report.see("env", std::env::vars().collect::<Vec<_>>());
    report.refused("env.missing", std::env::var("EVERYTHING_MISSING").map_err(io::Error::other));
    let mut bytes = Vec::new();
    report.look("stdin", io::stdin().lock().read_to_end(&mut bytes));
    report.see("stdin.bytes", String::from_utf8_lossy(&bytes));
    report.look("cwd", std::env::current_dir());
}

pub(crate) fn clocks(report: &mut Report) {
    report.see("clock.wall", SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    let start = Instant::now();
    for pause in [1, 20, 300] {
        let pause = Duration::from_millis(pause);
        let before = Instant::now();
        std::thread::sleep(pause);
        let slept = before.elapsed();
        report.see("clock.slept_enough", slept >= pause);
        report.see("clock.slept", slept);
    }
    report.see("clock.all", start.elapsed());
    report.see("clock.wall_again", SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
}

pub(crate) fn chance(report: &mut Report) {
    let mut bytes = [0; 32];
    report.attempt("chance.fill", getrandom::fill(&mut bytes).map_err(io::Error::other));
    report.see("chance.bytes", bytes);
    report.look("chance.u64", getrandom::u64().map_err(io::Error::other));
    let map: HashMap<u32, u32> = (0..20).map(|number| (number, number * number)).collect();
    report.see("chance.map", map.keys().collect::<Vec<_>>());
    let set: HashSet<&str> = ["bow", "stern", "port", "starboard", "keel", "mast"].into();
    report.see("chance.set", set.iter().collect::<Vec<_>>());
}

/// What a program on WASI is refused, today.
pub(crate) fn absent(report: &mut Report) {
    report.refused("absent.thread", std::thread::Builder::new().spawn(|| ()));
    report.refused("absent.process", std::process::Command::new("true").spawn());
    report.see("absent.parallelism", std::thread::available_parallelism().map_err(|error| error.kind()));
}

pub(crate) fn computing(report: &mut Report) {
    // Which bits a NaN has is the machine's choice, unless somebody makes it the same everywhere.
    let nan = black_box(0.0_f64) / black_box(0.0);
    report.see("computing.nan", nan.to_bits());
    report.see("computing.sqrt", black_box(2.0_f64).sqrt().to_bits());
    let mut grown: Vec<u64> = Vec::new();
    for number in 0..black_box(1_000_000_u64) {
        grown.push(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    report.see("computing.memory", grown.iter().fold(0_u64, |sum, number| sum.rotate_left(5) ^ number));
}
