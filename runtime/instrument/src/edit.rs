//! Changes to one function body, asked for by passes, applied in one go to the original bytes.
//!
//! ```text
//! original   locals   op0   op1   return   end
//! edits             ^Entry           ^Replace ^After
//! written    locals │check│ op0 op1 │br 0│ end │epilogue│
//! ```
//!
//! Invariants: the original bytes between two edits are copied as they stand; each edit belongs to
//! one operator of the original (`anchor`), which is where a map sends its bytes. Edits at one place
//! are ordered by [`EditPosition`] and then by the order in which they were asked for, so that a pass does not
//! need to know which others run.
//!
//! Not checked here: that the result is valid; tests validate it.

use crate::map::{SegmentKind, Segments};
use std::ops::Range;
use wasm_encoder::{Encode, InstructionSink, ValType};

/// Where, relative to the original operator that starts at the edit's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EditPosition {
    /// At the entry of the function, before all else: what stands here may return.
    First,
    /// At the entry of the function, outside of everything else.
    Entry,
    /// Belongs to the operator before: reached by branches to a label that stands here.
    After,
    /// Before the operator, whichever way it is reached.
    Before,
    /// Instead of the operator.
    Replace,
}

#[derive(Clone, Debug)]
struct Edit {
    at: u32,
    place: EditPosition,
    /// Original bytes that are left out, counted from `at`.
    removed: u32,
    anchor: u32,
    kind: SegmentKind,
    code: Range<usize>,
}

/// The changes that passes want in one function body.
#[derive(Debug, Default)]
pub(crate) struct Edits {
    list: Vec<Edit>,
    /// Encoded operators of all edits, one after the other.
    code: Vec<u8>,
    /// Locals that are appended to the function's own: how many of each type.
    appended: Vec<(u32, ValType)>,
    /// First index that an appended local gets.
    locals_start: u32,
}

/// The stretches of a function body in the original component, as offsets from its start.
#[derive(Clone, Debug)]
pub(crate) struct BodySpans {
    /// Where the body starts, after its size.
    pub(crate) start: u32,
    /// Declarations of locals, without their count.
    pub(crate) locals: Range<u32>,
    /// How many declarations those are.
    pub(crate) locals_count: u32,
    /// All operators, the final `end` included.
    pub(crate) operators: Range<u32>,
}

impl Edits {
    /// Forgets everything, for a function that has `locals` locals of its own, parameters included.
    pub(crate) fn reset(&mut self, locals: u32) {
        self.list.clear();
        self.code.clear();
        self.appended.clear();
        self.locals_start = locals;
    }

    /// Appends a local of type i32 and returns its index.
    pub(crate) fn local_i32(&mut self) -> u32 {
        self.local(ValType::I32)
    }

    /// Appends a local and returns its index.
    pub(crate) fn local(&mut self, ty: ValType) -> u32 {
        let index = self.locals();
        match self.appended.last_mut() {
            Some((count, last)) if *last == ty => *count += 1,
            _ => self.appended.push((1, ty)),
        }
        index
    }

    /// Number of locals of the original function, parameters included.
    pub(crate) fn own_locals(&self) -> u32 {
        self.locals_start
    }

    /// Number of locals of the function, parameters and appended ones included.
    pub(crate) fn locals(&self) -> u32 {
        self.locals_start + self.appended.iter().map(|(count, _)| count).sum::<u32>()
    }

    /// Puts operators in at `at`, for the sake of the original operator at `anchor`.
    pub(crate) fn insert(
        &mut self,
        at: u32,
        place: EditPosition,
        anchor: u32,
        kind: SegmentKind,
        emit: impl FnOnce(&mut InstructionSink<'_>),
    ) {
        assert!(place != EditPosition::Replace, "a replacement says what it replaces");
        self.edit(at..at, place, anchor, kind, emit);
    }

    /// Puts operators in the place of the original ones in `span`, with the same effect.
    pub(crate) fn replace(&mut self, span: Range<u32>, emit: impl FnOnce(&mut InstructionSink<'_>)) {
        let anchor = span.start;
        self.edit(span, EditPosition::Replace, anchor, SegmentKind::Replaced, emit);
    }

    fn edit(
        &mut self,
        span: Range<u32>,
        place: EditPosition,
        anchor: u32,
        kind: SegmentKind,
        emit: impl FnOnce(&mut InstructionSink<'_>),
    ) {
        let start = self.code.len();
        emit(&mut InstructionSink::new(&mut self.code));
        self.list.push(Edit {
            at: span.start,
            place,
            removed: span.end - span.start,
            anchor,
            kind,
            code: start..self.code.len(),
        });
    }

    /// Writes the changed body to `written`, replacing what was there.
    pub(crate) fn apply(&mut self, component: &[u8], spans: &BodySpans, written: &mut RewrittenBody) {
        self.list.sort_by_key(|edit| (edit.at, edit.place));
        written.bytes.clear();
        written.marks.clear();

        written.mark(spans.start, SegmentKind::Copied);
        (spans.locals_count + offset_u32(self.appended.len())).encode(&mut written.bytes);
        written.bytes.extend_from_slice(slice(component, &spans.locals));
        for (count, ty) in &self.appended {
            count.encode(&mut written.bytes);
            ty.encode(&mut written.bytes);
        }

        let mut copied = spans.operators.start;
        for edit in &self.list {
            assert!(copied <= edit.at, "two edits overlap");
            written.copy(component, copied..edit.at);
            written.mark(edit.anchor, edit.kind);
            written.bytes.extend_from_slice(&self.code[edit.code.clone()]);
            copied = edit.at + edit.removed;
        }
        assert!(copied <= spans.operators.end, "an edit reaches past the body");
        written.copy(component, copied..spans.operators.end);
    }
}

/// One body as it will stand in the output, without its size.
#[derive(Debug, Default)]
pub(crate) struct RewrittenBody {
    pub(crate) bytes: Vec<u8>,
    /// Where a stretch starts in `bytes`, where it comes from, and how.
    marks: Vec<(u32, u32, SegmentKind)>,
}

impl RewrittenBody {
    fn mark(&mut self, original: u32, kind: SegmentKind) {
        self.marks.push((offset_u32(self.bytes.len()), original, kind));
    }

    fn copy(&mut self, component: &[u8], span: Range<u32>) {
        if !span.is_empty() {
            self.mark(span.start, SegmentKind::Copied);
            self.bytes.extend_from_slice(slice(component, &span));
        }
    }

    /// Adds the stretches to a module's segments, the body standing at `position` there.
    pub(crate) fn add_to(&self, segments: &mut Segments, position: usize) {
        for &(inside, original, kind) in &self.marks {
            segments.push(offset_u32(position) + inside, original, kind);
        }
    }
}

/// The bytes of the original in `span`, which comes from the parser and so lies inside.
fn slice<'a>(component: &'a [u8], span: &Range<u32>) -> &'a [u8] {
    &component[span.start as usize..span.end as usize]
}

/// An offset as it is stored. Components are at most [`crate::COMPONENT_BYTES_MAX`] long, and what
/// is put in is bounded too, so that one which does not fit is our own mistake.
pub(crate) fn offset_u32(offset: usize) -> u32 {
    u32::try_from(offset).expect("offsets of accepted components fit into 32 bits")
}
