//! The kinds of nemeses, each a row.

use super::super::{FaultKind, FaultTarget};

/// What the names of nemeses begin with, beside those of faults that strike at operations.
pub const NEMESIS_PREFIX: &str = "nemesis-";

/// How likely it is that a nemesis begins in its interval, in millionths, when the plan says nothing: one in two.
const RATE_PPM: u32 = 500_000;

/// A kind of nemesis, in the words of a plan, with the name of its fault.
macro_rules! nemeses {
    ($($(#[$doc:meta])* $kind:ident = $word:literal, $unit:literal, $summary:literal;)*) => {
        /// What a nemesis does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum NemesisAction {
            $($(#[$doc])* $kind,)*
        }

        impl NemesisAction {
            /// All of them, in the order of [`NEMESES`].
            pub const ALL: &'static [NemesisAction] = &[$(NemesisAction::$kind,)*];

            /// Its word in plans.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(NemesisAction::$kind => $word,)*
                }
            }
        }

        /// Every kind of nemesis, sorted by name.
        pub const NEMESES: &[&FaultKind] = &[$(&FaultKind {
            name: concat!("nemesis-", $word),
            summary: $summary,
            target: FaultTarget::Node,
            unit: $unit,
            strength: 0,
            rate_ppm: RATE_PPM,
        },)*];
    };
}

nemeses! {
    /// Wall clocks jump, and jump back at the end.
    ClockBump = "clock-bump", "ns", "Wall clocks jump forward or back, until they are reset.";
    /// Clocks run fast or slow.
    ClockDrift = "clock-drift", "ppm", "Clocks run fast or slow.";
    /// Wall clocks jump to and fro.
    ClockStrobe = "clock-strobe", "ns", "Wall clocks jump to and fro.";
    /// Messages from some nodes to some others take seconds.
    Clog = "clog", "ns", "Messages between some pairs of machines take long, each direction for itself.";
    /// Messages take longer.
    Delay = "delay", "ns", "Each message takes up to the strength longer.";
    /// Datagrams come twice.
    Duplicate = "duplicate", "", "One datagram in five comes twice.";
    /// One bit of a file is another one.
    FileFlip = "file-flip", "", "One bit of a file is another one.";
    /// A sector of a file is as it was before it was ever written.
    FileLost = "file-lost", "", "A sector of a file is zeros, as before it was written.";
    /// A sector of a file is where another one should be.
    FileMisdirect = "file-misdirect", "", "A sector of a file stands where another one should be.";
    /// The end of a sector is as it was before it was written.
    FileTorn = "file-torn", "", "The second half of a sector of a file is zeros, as if its write were torn.";
    /// A file ends before its end.
    FileTruncate = "file-truncate", "", "A file is cut.";
    /// Some nodes hear nothing, and everything afterwards.
    Jam = "jam", "", "Machines hear nothing for a while, and everything afterwards.";
    /// Programs are killed, and started again.
    Kill = "kill", "", "Programs are killed, and start again at the end on their disk as it was.";
    /// Packets are lost.
    Loss = "loss", "ppm", "A share of the packets is lost.";
    /// Machines leave the cluster, and join it again.
    Membership = "membership", "", "Machines leave the cluster, and join it again at the end, as the program of the run has them do.";
    /// Machines hear some messages only.
    OneWay = "one-way", "", "Machines do not hear others, who hear them.";
    /// Machines do not reach each other.
    Partition = "partition", "", "Machines do not reach each other.";
    /// Machines stand still.
    Pause = "pause", "", "Machines stand still.";
    /// Machines lose power, and start again.
    PowerLoss = "power-loss", "", "Machines lose power, and start again at the end on what their disk has kept.";
    /// Datagrams overtake each other.
    Reorder = "reorder", "", "One datagram in five is overtaken by later ones.";
    /// Messages of some nodes take longer.
    Slow = "slow", "ns", "Messages from and to some machines take longer.";
    /// Machines stand still again and again, for a short while.
    SlowNode = "slow-node", "ppm", "Machines are slow: they stand still for a share of each tenth of a second.";
    /// Machines are cut off one after another, and come back in another order.
    Swizzle = "swizzle", "", "Machines are cut off one after another, and come back in another order.";
}

impl NemesisAction {
    /// What the nemesis of this name does, as plans that are executed have it.
    #[must_use]
    pub fn of(name: &str) -> Option<NemesisAction> {
        let word = name.strip_prefix(NEMESIS_PREFIX)?;
        NemesisAction::ALL.iter().copied().find(|action| action.word() == word)
    }

    /// Whether it cuts machines off by shapes.
    #[must_use]
    pub const fn has_shapes(self) -> bool {
        matches!(self, NemesisAction::Partition | NemesisAction::OneWay)
    }

    /// Whether it is about all messages, whoever sends them.
    #[must_use]
    pub const fn is_everywhere(self) -> bool {
        matches!(self, NemesisAction::Delay | NemesisAction::Loss | NemesisAction::Duplicate | NemesisAction::Reorder)
    }

    /// Whether it is about messages between the machines of a plan only, so that there must be two of them.
    #[must_use]
    pub const fn is_between_machines(self) -> bool {
        self.has_shapes()
            || self.is_everywhere()
            || matches!(self, NemesisAction::Clog | NemesisAction::Jam | NemesisAction::Swizzle)
    }

    /// Whether it damages files, which then stay damaged.
    #[must_use]
    pub const fn is_of_files(self) -> bool {
        matches!(
            self,
            NemesisAction::FileFlip
                | NemesisAction::FileLost
                | NemesisAction::FileMisdirect
                | NemesisAction::FileTorn
                | NemesisAction::FileTruncate
        )
    }
}
