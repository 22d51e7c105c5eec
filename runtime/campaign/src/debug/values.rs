//! What a stopped frame has, for the debug information: locals, globals and memory, as far as they are asked for.

use super::code::DebuggedCode;
use super::session::Inspector;
use fozzy_engine::{DebugPlace, DebugValue};
use fozzy_instrument::OriginalOffset;
use fozzy_instrument::debug_info::{CodePlace, DebugInfo, FrameValues};
use fozzy_trace::Digest;
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Bytes of memory that are fetched at a time.
const PAGE_BYTES: u64 = 4096;
/// Pages that are kept of a frame.
const PAGES_MAX: usize = 1024;

/// Debug information of the programs of a run.
pub(super) type Programs = BTreeMap<Digest, DebugInfo>;

/// That of the programs that a session executes.
pub(super) fn programs_of(code: &DebuggedCode) -> Programs {
    let programs = code.programs().iter();
    programs.map(|(digest, program)| (*digest, DebugInfo::new(program.component()))).collect()
}

/// The place in the words of the debug information.
pub(super) fn code_place(place: DebugPlace) -> CodePlace {
    CodePlace { module: place.module, offset: OriginalOffset(place.offset) }
}

/// A frame of a run that has stopped. It lives no longer than the stop.
pub(super) struct StoppedFrame<'a, 's> {
    inspector: RefCell<&'a mut Inspector<'s>>,
    frame: usize,
    locals: Vec<DebugValue>,
    operands: Vec<DebugValue>,
    pages: RefCell<BTreeMap<u64, Vec<u8>>>,
}

impl<'a, 's> StoppedFrame<'a, 's> {
    pub(super) fn new(inspector: &'a mut Inspector<'s>, frame: usize) -> StoppedFrame<'a, 's> {
        let locals = inspector.locals(frame).ok().flatten().unwrap_or_default();
        let operands = inspector.operands(frame).ok().flatten().unwrap_or_default();
        let pages = RefCell::new(BTreeMap::new());
        StoppedFrame { inspector: RefCell::new(inspector), frame, locals, operands, pages }
    }

    /// Parameters and locals as WebAssembly has them.
    pub(super) fn locals(&self) -> &[DebugValue] {
        &self.locals
    }

    /// The operand stack as WebAssembly has it.
    pub(super) fn operands(&self) -> &[DebugValue] {
        &self.operands
    }

    /// Copies what there is of a page from an address on; how many bytes.
    fn copy_page(&self, address: u64, bytes: &mut [u8]) -> Option<usize> {
        let start = address / PAGE_BYTES * PAGE_BYTES;
        let mut pages = self.pages.borrow_mut();
        if pages.len() >= PAGES_MAX {
            pages.clear();
        }
        let page = pages.entry(start).or_insert_with(|| {
            let mut inspector = self.inspector.borrow_mut();
            inspector.memory(self.frame, start, PAGE_BYTES).ok().flatten().unwrap_or_default()
        });
        let offset = usize::try_from(address - start).ok()?;
        let own = page.get(offset..).filter(|own| !own.is_empty())?;
        let count = own.len().min(bytes.len());
        bytes[..count].copy_from_slice(&own[..count]);
        Some(count)
    }
}

/// The bits of a number; none of a reference.
fn bits(value: DebugValue) -> Option<u64> {
    match value {
        DebugValue::I32(value) => Some(value.cast_unsigned().into()),
        DebugValue::I64(value) => Some(value.cast_unsigned()),
        DebugValue::F32(bits) => Some(bits.into()),
        DebugValue::F64(bits) => Some(bits),
        DebugValue::V128(_) | DebugValue::Reference { .. } => None,
    }
}

impl FrameValues for StoppedFrame<'_, '_> {
    fn local(&self, index: u32) -> Option<u64> {
        self.locals.get(usize::try_from(index).ok()?).copied().and_then(bits)
    }

    fn global(&self, index: u32) -> Option<u64> {
        self.inspector.borrow_mut().global(self.frame, index).ok().flatten().and_then(bits)
    }

    fn operand(&self, index: u32) -> Option<u64> {
        self.operands.get(usize::try_from(index).ok()?).copied().and_then(bits)
    }

    fn read_memory(&self, address: u64, bytes: &mut [u8]) -> bool {
        let mut done = 0;
        while done < bytes.len() {
            let Some(at) = address.checked_add(done as u64) else { return false };
            let Some(count) = self.copy_page(at, &mut bytes[done..]) else { return false };
            done += count;
        }
        true
    }
}
