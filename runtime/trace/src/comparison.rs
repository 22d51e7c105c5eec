//! The comparison log of an execution (CmpLog): what a program compares, for searches that put one operand where the other
//! stands in the input.
//!
//! Not here: how comparisons are logged (`fozzy-instrument`), how the log is used (`fozzy-search`).

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonKind {
    /// Two integers, for equality.
    Equal {
        /// 32 or 64.
        bits: u8,
    },
    /// Two integers, for their order.
    Order {
        /// 32 or 64.
        bits: u8,
        /// Whether they have a sign.
        signed: bool,
    },
    /// Two integers whose difference, or bitwise difference, is compared next.
    Mixed {
        /// 32 or 64.
        bits: u8,
    },
    /// The index of a `br_table` on the left, how many entries it has besides the default on the right.
    Switch,
    /// Two strings.
    Bytes,
    /// A string on the left, a byte that is searched in it on the right.
    Search,
}

/// Two values that a program compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CmpLogEntry {
    /// The comparison in the program: equal for the same place in the code.
    pub site: u64,
    /// What is compared.
    pub kind: ComparisonKind,
    /// Left operand; 32 bits are extended with zeros, bytes stand in the order of memory.
    pub left: u64,
    /// Right operand.
    pub right: u64,
    /// Of strings: the offset of these bytes; otherwise 0.
    pub at: u32,
    /// Of strings: how many bytes count; otherwise 8.
    pub bytes: u32,
}

/// Which places in the program are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmpLogSites<'a> {
    /// Every one.
    All,
    /// These.
    Only(&'a [u64]),
}

impl CmpLogSites<'_> {
    /// Whether a place is asked for.
    #[inline]
    #[must_use]
    pub fn includes(self, site: u64) -> bool {
        match self {
            CmpLogSites::All => true,
            CmpLogSites::Only(sites) => sites.contains(&site),
        }
    }
}
