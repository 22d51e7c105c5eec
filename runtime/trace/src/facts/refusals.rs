//! What the bounds of the plan refused the programs of a run, once for each part: a program that is refused memory often ends as
//! one that has a fault, in words of its own.
//!
//! Invariant: one refusal for each part, the first; the same execution is refused the same.

use crate::counted;
use std::collections::BTreeMap;
use std::fmt;

/// What a program makes the host hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HeldPart {
    /// Linear memories; the heap of a garbage collector is one.
    Memories,
    /// All tables.
    Tables,
    /// Elements of one table.
    TableElements,
    /// The disk.
    Disk,
    /// All of these and the kept output together.
    Total,
    /// What the program of a machine beside the target prints, in all of its lives: the one that is refused more ends.
    Output,
}

/// What was asked for, and what may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What would have grown.
    pub part: HeldPart,
    /// Its size then: bytes, or elements of a table.
    pub asked: u64,
    /// The largest size.
    pub bound: u64,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Refusal { part, asked, bound } = self;
        let bytes = |number: u64| counted(number, "byte");
        let (what, asked, bound, key) = match part {
            HeldPart::Memories => ("memories", bytes(*asked), bytes(*bound), "--mem-limit-mb"),
            HeldPart::Tables => {
                ("tables", bytes(*asked), bytes(*bound), "tables have 64 MiB, or --mem-limit-mb if it is less")
            }
            HeldPart::TableElements => {
                ("a table", counted(*asked, "element"), counted(*bound, "element"), "the bound of one table")
            }
            HeldPart::Disk => ("the disk", bytes(*asked), bytes(*bound), "`disk` of [limits]"),
            HeldPart::Total => {
                let what = "memories, tables, disk and kept output together";
                (what, bytes(*asked), bytes(*bound), "`total` of [limits]")
            }
            HeldPart::Output => {
                ("output of a machine", bytes(*asked), bytes(*bound), "--output-limit; its program ended there")
            }
        };
        write!(f, "{what} of {asked}, and {bound} may be ({key})")
    }
}

/// The first refusal of each part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refusals(BTreeMap<HeldPart, Refusal>);

impl Refusals {
    /// Takes note of one.
    pub fn note(&mut self, refusal: Refusal) {
        self.0.entry(refusal.part).or_insert(refusal);
    }

    /// In the order of the parts.
    pub fn iter(&self) -> impl Iterator<Item = &Refusal> {
        self.0.values()
    }
}
