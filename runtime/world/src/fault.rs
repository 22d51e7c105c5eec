//! Planned misbehaviour: which kinds there are, and whether one strikes.
//!
//! ```text
//! plan    io-error on /data/* from 2s for 500ms, in one of 50 operations
//! asked   read of /data/log at 2.1s ─▶ in the window? ─▶ a question below 1,000,000 ─▶ strikes / does not
//! ```
//!
//! A kind is one file with one row in [`FAULTS`]; what it does stands where the operation is (disk, network,
//! HTTP, processes, clock), which asks [`OpContext::injects`](crate::OpContext::injects).
//!
//! Invariants: without planned faults nothing is asked; the answer zero is always "does not strike", unless
//! the rate is the whole.

mod allocation_failure;
mod bandwidth;
mod bit_flip;
mod buggify;
mod clock_drift;
mod clock_freeze;
mod clock_step;
mod connection_reset;
mod disk_full;
mod duplicate;
mod http_dns;
mod http_latency;
mod http_refused;
mod http_reset;
mod http_status;
mod http_timeout;
mod io_error;
mod kill;
mod latency;
mod lost_write;
mod memory_full;
mod nemesis;
mod packet_loss;
mod partition;
mod pause;
mod power_loss;
mod process;
mod process_delay;
mod process_exit;
mod process_not_found;
mod process_signal;
mod process_truncate;
mod read_error;
mod reorder;
mod restart;
mod rules;
mod short_read;
mod short_write;
mod slow_disk;
mod sync_error;
mod torn_write;
mod write_error;

pub use allocation_failure::ALLOCATION_FAILURE;
pub(crate) use bandwidth::BANDWIDTH;
pub use bit_flip::BIT_FLIP;
pub use buggify::BUGGIFY;
pub use clock_drift::CLOCK_DRIFT;
pub use clock_freeze::CLOCK_FREEZE;
pub use clock_step::CLOCK_STEP;
pub(crate) use connection_reset::CONNECTION_RESET;
pub use disk_full::DISK_FULL;
pub(crate) use duplicate::DUPLICATE;
pub use http_dns::HTTP_DNS;
pub use http_latency::HTTP_LATENCY;
pub use http_refused::HTTP_REFUSED;
pub use http_reset::HTTP_RESET;
pub use http_status::HTTP_STATUS;
pub use http_timeout::HTTP_TIMEOUT;
pub use io_error::IO_ERROR;
pub use kill::KILL;
pub(crate) use latency::LATENCY;
pub use lost_write::LOST_WRITE;
pub use memory_full::MEMORY_FULL;
pub(crate) use nemesis::{
    ActiveNemesis, CHANCES_MAX, CallOrder, LinkEffect, LinkSet, LinkWindow, Nemeses, NemesisEvent, NemesisRule,
    PartitionCut,
};
pub use nemesis::{NEMESES, NEMESIS_PREFIX, NemesisAction};
pub(crate) use packet_loss::PACKET_LOSS;
pub use partition::{CUT_MAX, PARTITION};
pub use pause::PAUSE;
pub use power_loss::POWER_LOSS;
pub use process_delay::PROCESS_DELAY;
pub use process_exit::PROCESS_EXIT;
pub use process_not_found::PROCESS_NOT_FOUND;
pub use process_signal::PROCESS_SIGNAL;
pub use process_truncate::PROCESS_TRUNCATE;
pub use read_error::READ_ERROR;
pub(crate) use reorder::REORDER;
pub use restart::RESTART;
pub use rules::{FaultSlot, Faults, UnknownFault, machine_of};
pub use short_read::SHORT_READ;
pub use short_write::SHORT_WRITE;
pub use slow_disk::SLOW_DISK;
pub use sync_error::SYNC_ERROR;
pub use torn_write::TORN_WRITE;
pub use write_error::WRITE_ERROR;

use fozzy_trace::Duration;

/// What the target of a fault names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultTarget {
    /// An absolute path on the virtual disk, `/data/*`; of one machine, `server:/data/*`.
    Path,
    /// A URL.
    Url,
    /// A command.
    Command,
    /// Two machines: `client->server`.
    Link,
    /// A machine.
    Node,
    /// A point that the guest named.
    Point,
}

/// One kind of misbehaviour.
#[derive(Debug)]
pub struct FaultKind {
    /// Its name in plans and on the command line.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub summary: &'static str,
    /// What its target names.
    pub target: FaultTarget,
    /// The unit of its strength, such as `bytes`; empty when it has none.
    pub unit: &'static str,
    /// Strength when the plan says none.
    pub strength: u64,
    /// Rate when the plan says none, in millionths.
    pub rate_ppm: u32,
}

impl FaultKind {
    /// How hard a fault strikes, in words: `1s`, `512 bytes`; `None` for a kind without strength.
    #[must_use]
    pub fn strength_words(&self, strength: u64) -> Option<String> {
        match self.unit {
            "" => None,
            "ns" => Some(Duration(strength).to_string()),
            "as the program defines" => Some(strength.to_string()),
            "bytes" if strength == 1 => Some("1 byte".to_owned()),
            unit => Some(format!("{strength} {unit}")),
        }
    }
}

/// Every kind, sorted by name.
pub const FAULTS: &[&FaultKind] = &[
    &ALLOCATION_FAILURE,
    &BANDWIDTH,
    &BIT_FLIP,
    &BUGGIFY,
    &CLOCK_DRIFT,
    &CLOCK_FREEZE,
    &CLOCK_STEP,
    &CONNECTION_RESET,
    &DISK_FULL,
    &DUPLICATE,
    &HTTP_DNS,
    &HTTP_LATENCY,
    &HTTP_REFUSED,
    &HTTP_RESET,
    &HTTP_STATUS,
    &HTTP_TIMEOUT,
    &IO_ERROR,
    &KILL,
    &LATENCY,
    &LOST_WRITE,
    &MEMORY_FULL,
    &PACKET_LOSS,
    &PARTITION,
    &PAUSE,
    &POWER_LOSS,
    &PROCESS_DELAY,
    &PROCESS_EXIT,
    &PROCESS_NOT_FOUND,
    &PROCESS_SIGNAL,
    &PROCESS_TRUNCATE,
    &READ_ERROR,
    &REORDER,
    &RESTART,
    &SHORT_READ,
    &SHORT_WRITE,
    &SLOW_DISK,
    &SYNC_ERROR,
    &TORN_WRITE,
    &WRITE_ERROR,
];

/// The kinds that strike memory of programs. They need code in the program that asks whether they do.
pub const MEMORY_FAULTS: [&FaultKind; 2] = [&ALLOCATION_FAILURE, &MEMORY_FULL];

/// Whether a fault of that kind strikes memory of programs.
#[must_use]
pub fn strikes_memory(kind: &str) -> bool {
    MEMORY_FAULTS.iter().any(|memory| memory.name == kind)
}

/// The kind of that name, also of nemeses.
#[must_use]
pub fn kind_of(name: &str) -> Option<&'static FaultKind> {
    FAULTS.iter().chain(NEMESES).copied().find(|kind| kind.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;

    #[test]
    fn the_kinds_are_sorted_and_each_is_found_by_its_name() {
        assert!(FAULTS.is_sorted_by(|one, next| one.name < next.name));
        assert!(FAULTS.iter().all(|kind| kind_of(kind.name).is_some_and(|found| found.name == kind.name)));
        assert!(NEMESES.is_sorted_by(|one, next| one.name < next.name));
        for (action, kind) in NemesisAction::ALL.iter().zip(NEMESES) {
            assert_eq!(
                (kind.name.strip_prefix(NEMESIS_PREFIX), NemesisAction::of(kind.name)),
                (Some(action.word()), Some(*action))
            );
            assert_eq!(kind_of(kind.name).map(|kind| kind.name), Some(kind.name));
        }
        assert!(FAULTS.iter().all(|kind| kind.rate_ppm <= RATE_ALWAYS_PPM && !kind.summary.is_empty()));
    }
}
