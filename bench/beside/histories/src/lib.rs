//! What the comparisons share: random streams, CPU time, histories that are valid by construction.

/// Transactions of registers: drawn histories.
pub mod sessions;

/// A random stream (SplitMix64).
pub struct DrawStream(pub u64);

impl DrawStream {
    /// A number below a bound.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % bound
    }

    /// Whether something happens that happens so often of a hundred times.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

fn usage() -> libc::rusage {
    // SAFETY: `getrusage` fills in the structure that it gets.
    unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    }
}

/// CPU seconds of this process, of all its threads.
pub fn cpu() -> f64 {
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let usage = usage();
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

/// The most memory that this process has had, in MB.
pub fn peak_megabytes() -> f64 {
    usage().ru_maxrss as f64 / 1e3
}

/// The middle one of some times.
pub fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}
