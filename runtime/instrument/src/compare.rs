//! Comparison log: what a program compares, so that a search can put one side into the input where it finds the other.
//!
//! ```text
//! a  b                    a  b                                 log: site, a, b
//! i32.eq           ─►     i32.const site   call log  (gives a b back)
//!                         i32.eq
//! ```
//!
//! Logged are the integer comparisons with two operands (a comparison with zero tells no value), the index of a
//! `br_table` beside the number of its entries, and the arguments of functions that the name or export section calls `memcmp`,
//! `bcmp`, `strcmp`, `strncmp`, `strcasecmp`, `strncasecmp`, `memchr` or `strchr`.
//!
//! Where the sides of a comparison were moved together, as compilers do (`stored ^ sum != -1`), what was put together is logged
//! before it; where that is compared with zero, it is the comparison.
//!
//! The log keeps the order of execution, and the first [`COMPARISONS_PER_SITE`] of each site, so that a loop does not fill it:
//! replacing one operand by another needs a few pairs of each comparison, and the earliest are the ones that guard the rest.
//! Where it is full, the header says how many are lost.
//!
//! Invariants: nothing is written unless the host has set the switch in the header. Logging reads the guest's memory only inside of
//! its bounds, and never traps.

use crate::edit::{EditPosition, Edits, offset_u32};
use crate::helpers::Helper;
use crate::map::SegmentKind;
use crate::module::ModuleRewriter;
use crate::{Error, ModuleOrdinal, OriginalOffset, SideMemory};
use fozzy_trace::ComparisonKind;
use std::ops::Range;
use wasmparser::{Operator, ValType};

/// Entries that the log of one module holds. What comes later is counted, and lost.
pub const COMPARISONS_MAX: u32 = 1 << 13;

/// Bytes of an entry: site (u32), kind (u32), left (u64), right (u64), little-endian.
pub const COMPARISON_BYTES: u32 = 24;

/// How often one comparison is logged.
pub const COMPARISONS_PER_SITE: u32 = 8;

/// How many bytes of two strings are logged, in entries of eight.
pub const COMPARED_BYTES_MAX: u32 = 32;

/// Most comparisons of a component, as for edges.
const SITES_MAX: usize = crate::EDGES_MAX;

/// Kind of an entry that stands for eight bytes (or fewer) of two strings: 1, which eight in bits 8 and up, how many in bits 16 and up.
pub(crate) const KIND_BYTES: u32 = 1;
/// Kind of an entry that stands for a byte that is searched: the text's first bytes, and the byte.
pub(crate) const KIND_SEARCH: u32 = 2;

/// One place where a program compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComparisonSite {
    /// The core module.
    pub module: ModuleOrdinal,
    /// Index of the function in its module, imported ones included.
    pub function: u32,
    /// The operator; for a function that compares memory its first one.
    pub offset: OriginalOffset,
    /// What is compared.
    pub kind: ComparisonKind,
}

/// One entry of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoggedComparison {
    /// Position among the comparisons of the module.
    pub site: u32,
    /// Left operand; 32 bits are extended with zeros, bytes stand in the order of memory.
    pub left: u64,
    /// Right operand.
    pub right: u64,
    /// Of two strings: which bytes these are. Zero to eight otherwise.
    pub at: u32,
    /// Of strings: how many bytes count; otherwise 8.
    pub bytes: u32,
}

/// All comparisons of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComparisonSites {
    sites: Vec<ComparisonSite>,
}

impl ComparisonSites {
    /// Those of one module; an entry's site is a position in here.
    #[must_use]
    pub fn of(&self, module: ModuleOrdinal) -> &[ComparisonSite] {
        let start = self.sites.partition_point(|site| site.module < module);
        let end = self.sites.partition_point(|site| site.module <= module);
        &self.sites[start..end]
    }

    /// The entries that are in `memory`, a side memory with that layout.
    pub fn read<'m>(side: &SideMemory, memory: &'m [u8]) -> impl Iterator<Item = LoggedComparison> + use<'m> {
        let header = memory.get(crate::HEADER_ENTRIES_AT as usize..).unwrap_or_default();
        let count = header.first_chunk().map_or(0, |count| u32::from_le_bytes(*count)).min(COMPARISONS_MAX);
        let log = memory.get(side.comparisons.start as usize..side.comparisons.end as usize).unwrap_or_default();
        let entries = log.as_chunks::<{ COMPARISON_BYTES as usize }>().0;
        entries.iter().take(count as usize).map(|entry| {
            let word = |at: usize| u32::from_le_bytes([entry[at], entry[at + 1], entry[at + 2], entry[at + 3]]);
            let long = |at: usize| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
            let kind = word(4);
            let (at, bytes) = if kind & 0xff == KIND_BYTES { ((kind >> 8 & 0xff) * 8, kind >> 16) } else { (0, 8) };
            LoggedComparison { site: word(0), left: long(8), right: long(16), at, bytes }
        })
    }

    fn add(&mut self, site: ComparisonSite) -> Result<(), Error> {
        self.sites.push(site);
        if self.sites.len() > SITES_MAX {
            let (offset, found, limit) = (site.offset.0 as usize, self.sites.len() as u64, SITES_MAX as u64);
            return Err(Error::NoRoom { offset, what: "comparisons", found, limit });
        }
        Ok(())
    }
}

/// A function that compares memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryComparison {
    /// Two addresses and a length.
    Counted,
    /// Two addresses of strings with an end.
    Ended,
    /// An address and a byte.
    Search,
}

/// What a function of that name compares.
pub(crate) fn compares(name: &str) -> Option<MemoryComparison> {
    match name {
        "memcmp" | "bcmp" | "strncmp" | "strncasecmp" => Some(MemoryComparison::Counted),
        "strcmp" | "strcasecmp" => Some(MemoryComparison::Ended),
        "memchr" | "strchr" => Some(MemoryComparison::Search),
        _ => None,
    }
}

/// The pass, over one function body after the other.
#[derive(Debug, Default)]
pub(crate) struct ComparePass {
    found: Vec<(u32, ComparisonKind, u32)>,
    /// A difference: where it is made, its bits, and how many constants follow.
    mixed: Option<(u32, u8, u8)>,
}

impl ComparePass {
    pub(crate) fn begin(&mut self) {
        self.found.clear();
        self.mixed = None;
    }

    /// Takes note of a difference that is compared by this operator.
    fn mixed(&mut self, operator: &Operator<'_>, span: &Range<u32>) {
        let before = self.mixed.take();
        match (operator, before) {
            (Operator::I32Xor | Operator::I32Sub, _) => self.mixed = Some((span.start, 32, 0)),
            (Operator::I64Xor | Operator::I64Sub, _) => self.mixed = Some((span.start, 64, 0)),
            (Operator::I32Const { .. } | Operator::I64Const { .. }, Some((at, bits, 0))) => {
                self.mixed = Some((at, bits, 1));
            }
            (Operator::I32Eqz | Operator::I64Eqz, Some((at, bits, 0))) => {
                self.found.push((at, ComparisonKind::Equal { bits }, 0));
            }
            (Operator::I32Eq | Operator::I32Ne | Operator::I64Eq | Operator::I64Ne, Some((at, bits, 1))) => {
                self.found.push((at, ComparisonKind::Mixed { bits }, 0))
            }
            _ => {}
        }
    }

    /// Takes note of an operator that control can get to.
    pub(crate) fn operator(&mut self, operator: &Operator<'_>, span: &Range<u32>) {
        self.mixed(operator, span);
        let (equal, order) =
            (|bits| ComparisonKind::Equal { bits }, |bits, signed| ComparisonKind::Order { bits, signed });
        let (kind, entries) = match operator {
            Operator::I32Eq | Operator::I32Ne => (equal(32), 0),
            Operator::I64Eq | Operator::I64Ne => (equal(64), 0),
            Operator::I32LtS | Operator::I32GtS | Operator::I32LeS | Operator::I32GeS => (order(32, true), 0),
            Operator::I32LtU | Operator::I32GtU | Operator::I32LeU | Operator::I32GeU => (order(32, false), 0),
            Operator::I64LtS | Operator::I64GtS | Operator::I64LeS | Operator::I64GeS => (order(64, true), 0),
            Operator::I64LtU | Operator::I64GtU | Operator::I64LeU | Operator::I64GeU => (order(64, false), 0),
            Operator::BrTable { targets } => (ComparisonKind::Switch, targets.len()),
            _ => return,
        };
        self.found.push((span.start, kind, entries));
    }

    /// Asks for the edits of the function with that index, whose operators start at `start`.
    pub(crate) fn finish(
        &mut self,
        index: u32,
        start: u32,
        module: &mut ModuleRewriter<'_>,
        comparisons: &mut ComparisonSites,
        edits: &mut Edits,
    ) -> Result<(), Error> {
        let mut site = |module: &mut ModuleRewriter<'_>, at: u32, kind: ComparisonKind| {
            comparisons.add(ComparisonSite {
                module: module.ordinal,
                function: index,
                offset: OriginalOffset(at),
                kind,
            })?;
            module.compared += 1;
            Ok::<i32, Error>((module.compared - 1).cast_signed())
        };
        if let Some(compares) = module.compares(index) {
            let (helper, kind) = match compares {
                MemoryComparison::Counted | MemoryComparison::Ended => (Helper::LogBytes, ComparisonKind::Bytes),
                MemoryComparison::Search => (Helper::LogSearch, ComparisonKind::Search),
            };
            let (site, helper) = (site(module, start, kind)?, module.helper(helper)?);
            edits.insert(start, EditPosition::Before, start, SegmentKind::Injected, |code| {
                code.local_get(0).local_get(1);
                match compares {
                    MemoryComparison::Counted => {
                        code.local_get(2);
                    }
                    MemoryComparison::Ended => {
                        code.i32_const(COMPARED_BYTES_MAX.cast_signed());
                    }
                    MemoryComparison::Search => {}
                }
                code.i32_const(site).call(helper);
            });
        }
        for &(at, kind, entries) in &self.found {
            let long = matches!(
                kind,
                ComparisonKind::Equal { bits: 64 }
                    | ComparisonKind::Order { bits: 64, .. }
                    | ComparisonKind::Mixed { bits: 64 }
            );
            let helper = module.helper(if long { Helper::Log64 } else { Helper::Log32 })?;
            let site = site(module, at, kind)?;
            edits.insert(at, EditPosition::Before, at, SegmentKind::Injected, |code| {
                if kind == ComparisonKind::Switch {
                    code.i32_const(entries.cast_signed()).i32_const(site).call(helper).drop();
                } else {
                    code.i32_const(site).call(helper);
                }
            });
        }
        Ok(())
    }
}

/// Bytes of the log in a side memory.
pub(crate) const LOG_BYTES: u32 = COMPARISONS_MAX * COMPARISON_BYTES;

/// Whether a function with these parameters can be one that compares like that.
pub(crate) fn fits(compares: MemoryComparison, params: &[ValType]) -> bool {
    let wanted = match compares {
        MemoryComparison::Counted => 3..=3,
        MemoryComparison::Ended => 2..=2,
        MemoryComparison::Search => 2..=3,
    };
    wanted.contains(&offset_u32(params.len())) && params.iter().all(|ty| *ty == ValType::I32)
}
