//! Orders: what becomes of a machine, as the program that routes its lines says, or a nemesis.
//!
//! ```text
//! !kill n1          its program is gone; the disk has everything        !pause n1          it stands still
//! !power-loss n1    the same, and what was not durable is gone          !resume n1         it goes on
//! !start n1         its program starts again                            !step-clock n1 -5  its wall clock jumps by so many ns
//! !file-flip n1 7   a file of its disk is damaged, and so on           !drift-clock n1 5  its clocks run fast by so many millionths
//! ```
//!
//! Orders take no time. A program that is killed ends at the call in which it waits. What was damaged is told to who has ordered it, as a line
//! behind `! `.
//! Not here: which machines may be ordered (`dialogue/line_router.rs`), what an order does (`machine_control`), starting a program again
//! (`fozzy-engine`).

/// A way to damage a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileDamage {
    /// A bit is another one.
    Flip,
    /// A sector is zeros.
    Lost,
    /// The second half of a sector is zeros.
    Torn,
    /// A sector stands where another one should be.
    Misdirect,
    /// The file is cut.
    Truncate,
}

impl FileDamage {
    /// That of a word of nemeses.
    #[must_use]
    pub fn of(word: &str) -> Option<FileDamage> {
        Some(match word {
            "file-flip" => FileDamage::Flip,
            "file-lost" => FileDamage::Lost,
            "file-torn" => FileDamage::Torn,
            "file-misdirect" => FileDamage::Misdirect,
            "file-truncate" => FileDamage::Truncate,
            _ => return None,
        })
    }
}

/// How a program is gone until it is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doom {
    /// It was killed; the disk has everything.
    Killed,
    /// Its machine lost power; what was not durable is gone.
    PowerLoss,
}

/// What becomes of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MachineOrder {
    /// Its program is gone, until it is started.
    End(Doom),
    /// Its program starts again, if it is gone.
    Start,
    /// It stands still.
    Pause,
    /// It goes on.
    Resume,
    /// It stands still for a short while, as a slow machine does, unless its program is about to be gone.
    Halt,
    /// That is over; one that is paused stays so.
    EndHalt,
    /// Its wall clock jumps by so many nanoseconds.
    StepClock(i64),
    /// Both its clocks run fast by so many millionths, or slow.
    DriftClock(i64),
    /// A file of its disk is damaged; the number says which one, and where.
    DamageFile(FileDamage, u64),
}

impl MachineOrder {
    /// An order by its words, without the machine's name; `None` for words that are no order.
    pub(crate) fn parse(name: &str, amount: Option<&str>) -> Option<MachineOrder> {
        match (name, amount) {
            ("kill", None) => Some(MachineOrder::End(Doom::Killed)),
            ("power-loss", None) => Some(MachineOrder::End(Doom::PowerLoss)),
            ("start", None) => Some(MachineOrder::Start),
            ("pause", None) => Some(MachineOrder::Pause),
            ("resume", None) => Some(MachineOrder::Resume),
            ("step-clock", Some(ns)) => ns.parse().ok().map(MachineOrder::StepClock),
            ("drift-clock", Some(ppm)) => ppm.parse().ok().map(MachineOrder::DriftClock),
            (name, Some(place)) => {
                let damage = FileDamage::of(name)?;
                place.parse().ok().map(|place| MachineOrder::DamageFile(damage, place))
            }
            _ => None,
        }
    }
}
