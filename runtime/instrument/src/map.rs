//! From offsets in the rewritten component back to offsets in the original.
//!
//! ```text
//! rewritten   │ locals │ depth check │ body ...  │ br │ body ... │ epilogue │
//! segments    │ Copied │ DepthCheck  │ Copied    │Repl│ Copied   │ Injected │
//! original    │ linear │ ─► 1st op   │ linear    │ ─► │ linear   │ ─► end   │
//! ```
//!
//! All offsets, on both sides, count **bytes from the start of the whole component**, because that
//! is what `FrameInfo::module_offset()` of wasmtime returns for a module that is part of a component
//! (its documentation says "module"; its parser keeps the component's positions), and what
//! `wasm-tools` prints.
//!
//! Invariants: segments are ascending, start at the first function body and leave no gap up to the
//! end of the code section. Inside a copied segment offsets run in step; every byte of another
//! segment belongs to one operator of the original.
//!
//! Not mapped: sections other than code, since no frame ever points there.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// Which core module of a component: its position among all core modules, nested components
/// included, in the order of the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModuleOrdinal(pub u32);

/// Prefix of the name that each rewritten module carries in its name section.
const NAME_PREFIX: &str = "fozzy:";

impl ModuleOrdinal {
    /// The ordinal behind a module name that the rewriter has set, such as `fozzy:3`; `None` for
    /// any other name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<ModuleOrdinal> {
        let digits = name.strip_prefix(NAME_PREFIX)?;
        let ordinal = ModuleOrdinal(digits.parse().ok()?);
        (ordinal.to_string() == name).then_some(ordinal)
    }
}

impl fmt::Display for ModuleOrdinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{NAME_PREFIX}{}", self.0)
    }
}

/// A position in the original component, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OriginalOffset(pub u32);

/// A position in the rewritten component, in bytes from its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RewrittenOffset(pub u32);

/// Whose code stands at an offset of the rewritten component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CodeOrigin {
    /// The program's own. A trap here is the program's.
    Original,
    /// The prologue that counts depth. A trap here is stack exhaustion, never the program's own
    /// `unreachable`.
    DepthCheck,
    /// Any other code that the rewriter has put in. It cannot trap.
    Injected,
}

/// What an offset of the rewritten component stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeLocation {
    /// The operator in the original. For code that was put in: the operator it was put in for,
    /// which for the depth check is the first one of the function.
    pub original: OriginalOffset,
    /// Whose code it is.
    pub kind: CodeOrigin,
}

/// How a stretch of rewritten bytes relates to the original.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    /// Byte for byte the original.
    Copied,
    /// Does what one operator of the original did, in other words.
    Replaced,
    /// The prologue of the depth limit.
    DepthCheck,
    /// Put in.
    Injected,
    /// A function that the original does not have.
    Helper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    /// First byte, from the start of the first function body.
    rewritten: u32,
    /// The same in the original, from the start of the component.
    original: u32,
    kind: SegmentKind,
}

/// What [`Segment::original`] says of a helper at which a debugger stops the program.
pub(crate) const STOP_MARK: u32 = 1;
/// And at which something is about to be written that it watches.
pub(crate) const WATCHED_MARK: u32 = 2;
/// What stands in front of the first operator of such a helper: the length of its body, and that it has no locals.
const STOP_HEAD_BYTES: u32 = 2;

/// Segments of one code section while it is written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Segments(Vec<Segment>);

impl Segments {
    /// Says that the bytes from `rewritten` on, up to the next call, come from `original`.
    pub(crate) fn push(&mut self, rewritten: u32, original: u32, kind: SegmentKind) {
        if let Some(last) = self.0.last_mut() {
            assert!(last.rewritten <= rewritten, "segments are written in ascending order");
            let continues = match kind {
                SegmentKind::Copied => {
                    // Compared as sums, since either side may be the larger one.
                    u64::from(last.original) + u64::from(rewritten) == u64::from(original) + u64::from(last.rewritten)
                }
                _ => last.original == original,
            };
            if last.kind == kind && continues {
                return;
            }
            if last.rewritten == rewritten {
                *last = Segment { rewritten, original, kind };
                return;
            }
        }
        self.0.push(Segment { rewritten, original, kind });
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

/// One core module: where it was, where it is, and the way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleMap {
    pub(crate) ordinal: ModuleOrdinal,
    pub(crate) name: Option<String>,
    pub(crate) alias: Option<String>,
    pub(crate) original: Range<u32>,
    pub(crate) rewritten: Range<u32>,
    /// The function bodies in the rewritten component; empty when there is none.
    pub(crate) code: Range<u32>,
    pub(crate) segments: Segments,
}

impl ModuleMap {
    /// Which core module this is; its `to_string` is the module's name in the rewritten component.
    #[must_use]
    pub fn ordinal(&self) -> ModuleOrdinal {
        self.ordinal
    }

    /// The name that the original name section gives the module.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// All names that select it: its own, and its name in the component around it. The latter is known only for modules
    /// with a side memory.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.name.as_deref().into_iter().chain(self.alias.as_deref())
    }

    /// The bytes of the module, header included, in the original component.
    #[must_use]
    pub fn original(&self) -> Range<OriginalOffset> {
        OriginalOffset(self.original.start)..OriginalOffset(self.original.end)
    }

    /// The bytes of the module, header included, in the rewritten component.
    #[must_use]
    pub fn rewritten(&self) -> Range<RewrittenOffset> {
        RewrittenOffset(self.rewritten.start)..RewrittenOffset(self.rewritten.end)
    }

    /// What stands at `offset`; `None` when it is not in a function body of the original module, as in a function
    /// that the rewriter has appended.
    #[must_use]
    pub fn locate(&self, offset: RewrittenOffset) -> Option<CodeLocation> {
        if !self.code.contains(&offset.0) {
            return None;
        }
        let inside = offset.0 - self.code.start;
        let after = self.segments.0.partition_point(|segment| segment.rewritten <= inside);
        let segment = self.segments.0[after.checked_sub(1)?];
        let (original, kind) = match segment.kind {
            SegmentKind::Copied => (segment.original + (inside - segment.rewritten), CodeOrigin::Original),
            SegmentKind::Replaced => (segment.original, CodeOrigin::Original),
            SegmentKind::DepthCheck => (segment.original, CodeOrigin::DepthCheck),
            SegmentKind::Injected => (segment.original, CodeOrigin::Injected),
            SegmentKind::Helper => return None,
        };
        Some(CodeLocation { original: OriginalOffset(original), kind })
    }

    /// Where the operator stands that is at `offset` in the original; `None` when there is none.
    #[must_use]
    pub fn rewritten_of(&self, offset: OriginalOffset) -> Option<RewrittenOffset> {
        // Originals ascend; what is put in stands in front of the operator that it belongs to.
        let after = self
            .segments
            .0
            .partition_point(|segment| segment.kind != SegmentKind::Helper && segment.original <= offset.0);
        let found = self.segments.0[..after].iter().rev().find_map(|segment| match segment.kind {
            SegmentKind::Copied => Some(segment.rewritten + (offset.0 - segment.original)),
            SegmentKind::Replaced => (segment.original == offset.0).then_some(segment.rewritten),
            SegmentKind::DepthCheck | SegmentKind::Injected | SegmentKind::Helper => None,
        })?;
        Some(RewrittenOffset(self.code.start + found))
    }

    /// The functions at which a debugger stops the program: their first operator, and whether something watched is about to be written.
    pub fn stops(&self) -> impl Iterator<Item = (RewrittenOffset, bool)> {
        let helpers = self.segments.0.iter().filter(|segment| segment.kind == SegmentKind::Helper);
        let stops = helpers.filter(|segment| segment.original == STOP_MARK || segment.original == WATCHED_MARK);
        stops.map(|segment| {
            let operator = RewrittenOffset(self.code.start + segment.rewritten + STOP_HEAD_BYTES);
            (operator, segment.original == WATCHED_MARK)
        })
    }

    /// Whether the function around `offset` is one of [`ModuleMap::stops`], and then which kind.
    #[must_use]
    pub fn stop_at(&self, offset: RewrittenOffset) -> Option<bool> {
        let inside = offset.0.checked_sub(self.code.start).filter(|_| self.code.contains(&offset.0))?;
        let after = self.segments.0.partition_point(|segment| segment.rewritten <= inside);
        let segment = self.segments.0[after.checked_sub(1)?];
        match (segment.kind, segment.original) {
            (SegmentKind::Helper, STOP_MARK) => Some(false),
            (SegmentKind::Helper, WATCHED_MARK) => Some(true),
            _ => None,
        }
    }

    /// The module stands `bytes` further on, since something was written before it.
    pub(crate) fn shift(&mut self, bytes: u32) {
        for range in [&mut self.rewritten, &mut self.code] {
            *range = range.start + bytes..range.end + bytes;
        }
    }
}

/// The maps of all core modules of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OffsetMaps {
    pub(crate) modules: Vec<ModuleMap>,
}

impl OffsetMaps {
    /// All core modules; the position of each is its ordinal.
    #[must_use]
    pub fn modules(&self) -> &[ModuleMap] {
        &self.modules
    }

    /// What stands at `offset` (of wasmtime: `FrameInfo::module_offset()`, which counts from the
    /// start of the whole component) in the given module; `None` when the module has no function
    /// body there, or does not exist.
    #[must_use]
    pub fn locate(&self, module: ModuleOrdinal, offset: RewrittenOffset) -> Option<CodeLocation> {
        self.modules.get(usize::try_from(module.0).ok()?)?.locate(offset)
    }

    /// Like [`OffsetMaps::locate`], finding the module by the offset alone.
    #[must_use]
    pub fn find(&self, offset: RewrittenOffset) -> Option<(ModuleOrdinal, CodeLocation)> {
        let after = self.modules.partition_point(|module| module.rewritten.start <= offset.0);
        let module = &self.modules[after.checked_sub(1)?];
        Some((module.ordinal, module.locate(offset)?))
    }
}
