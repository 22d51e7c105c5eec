//! CPU time of a simulation.

/// Messages, and how many are sent at once: the arguments.
pub(crate) fn order() -> (usize, usize) {
    let numbers: Vec<usize> = std::env::args().skip(1).filter_map(|word| word.parse().ok()).collect();
    match numbers[..] {
        [messages, batch] if messages > 0 && (1..=64).contains(&batch) => (messages, batch),
        _ => panic!("expected MESSAGES BATCH, of which the latter is at most 64"),
    }
}

/// Prints how many messages a CPU second has.
pub(crate) fn print(tool: &str, messages: usize, simulate: impl FnOnce()) {
    let begin = cpu_seconds();
    simulate();
    let seconds = cpu_seconds() - begin;
    println!("{tool}: {messages} messages there and back in {seconds:.3} CPU s, {:.0} a CPU s", messages as f64 / seconds);
}

fn cpu_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes to the structure, which is there.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
