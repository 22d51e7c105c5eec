//! Marks of written pages: a byte for each page of memory 0 that a store has gone to.
//!
//! ```text
//! local.get p                 local.get p   i32.const 12   i32.shr_u   i32.const 1   i32.store8 marks
//! local.get v            ─►   local.get p
//! i32.store                   local.get v
//!                             i32.store
//! ```
//!
//! What has to hold is that no page is written without a mark of it, or of the page before: a store marks the page of its
//! first byte only, and reaches at most [`STRADDLE_BYTES`] into the next. Marking a page too many, or too early, costs the host a
//! comparison and nothing else. That is used:
//! - Stores through a local that does not change, in a stretch of code that is entered at its start only, are marked together before the
//!   first one: one mark when all lie within [`STRADDLE_BYTES`], two when within a page.
//! - Stores into the function's own frame (`L = global 0 - N`, where L is set once) are marked where L is set.
//! - A bulk operation marks its range in a helper function.
//!
//! An address that is no unchanged local is kept in a new local when it is pushed. To know which operator has pushed
//! it, the operand stack is followed in simple code; elsewhere, address and value are saved before the store.
//!
//! The host writes too. What a call of an import writes through a return pointer is marked before the call: its page, and the
//! next. What goes through a `realloc` is marked by a wrapper around that function (`helpers.rs`). Which components
//! this is sound for says `marks_soundness.rs`.
//!
//! Invariant: nothing put in here traps: a page is the upper bits of 32, and there is a mark for each.

use crate::Error;
use crate::edit::{EditPosition, Edits};
use crate::helpers::Helper;
use crate::map::SegmentKind;
use crate::module::ModuleRewriter;
use crate::side::{MARKED_PAGE_BITS, MARKED_PAGE_BYTES};
use std::collections::BTreeMap;
use std::ops::Range;
use wasm_encoder::{InstructionSink, MemArg, ValType as Encoded};
use wasmparser::{BlockType, Operator};

/// How far a store may reach from a marked page into the next one, which is not marked for it. The host
/// compares that many bytes at the start of the page behind each marked one.
pub const STRADDLE_BYTES: u32 = 64;

/// Largest frame that is marked as a whole, in bytes. Beyond, most of it may never be written.
const FRAME_BYTES_MAX: u32 = 1 << 16;

/// What is known of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandValue {
    Unknown,
    /// The local as it was set for the nth time, plus a number.
    Local {
        index: u32,
        version: u32,
        plus: i64,
    },
    Constant(i32),
    /// The stack pointer, minus a number.
    StackPointer {
        minus: i32,
    },
}

#[derive(Clone, Copy, Debug)]
struct StackOperand {
    value: OperandValue,
    /// Where it lies on top of the stack: behind this operator, which ends there.
    on_top_at: Option<(u32, u32)>,
}

/// The operand stack. Only known operands take an entry, so that a high stack alone costs nothing.
#[derive(Debug, Default)]
struct OperandStack {
    /// By their height, which goes up.
    known: Vec<(u32, StackOperand)>,
    height: u32,
}

impl OperandStack {
    fn clear(&mut self) {
        self.known.clear();
        self.height = 0;
    }

    /// Keeps the first `kept` operands; others, up to `height`, are not known.
    fn resize(&mut self, kept: u32, height: u32) {
        while self.known.last().is_some_and(|(at, _)| *at >= kept.min(height)) {
            self.known.pop();
        }
        self.height = height;
    }

    /// Sets what is known of the topmost operand, which was unknown before.
    fn set_top(&mut self, operand: StackOperand) {
        if let Some(at) = self.height.checked_sub(1) {
            self.known.push((at, operand));
        }
    }

    /// The operand below `depth` others; `None` when there are not as many.
    fn top(&self, depth: u32) -> Option<StackOperand> {
        let at = self.height.checked_sub(depth + 1)?;
        let mut from_top = self.known.iter().rev();
        let found = from_top.find(|(height, _)| *height <= at).filter(|(height, _)| *height == at);
        Some(found.map_or(StackOperand { value: OperandValue::Unknown, on_top_at: None }, |(_, operand)| *operand))
    }
}

/// How the address of a store is found again.
#[derive(Clone, Copy, Debug)]
enum StoreAddress {
    Local {
        index: u32,
        version: u32,
    },
    Constant,
    /// It was the topmost operand at this height, behind an operator.
    Pushed {
        height: u32,
        end: u32,
        anchor: u32,
    },
    /// Only right before the store, below the value.
    Below(Encoded),
}

#[derive(Clone, Debug)]
struct StoreSite {
    at: u32,
    address: StoreAddress,
    /// From the address to the first byte, which may wrap around as addresses do.
    delta: i64,
    bytes: u32,
    /// Which straight stretch of code it is in.
    stretch: u32,
}

/// The function's own frame.
#[derive(Clone, Copy, Debug)]
struct StackFrame {
    local: u32,
    version: u32,
    bytes: u32,
    /// Behind the operator that sets the local.
    at: u32,
    anchor: u32,
}

/// A call that lets the host write.
#[derive(Clone, Copy, Debug)]
struct HostCall {
    at: u32,
}

/// The pass, over one function body after the other.
#[derive(Debug, Default)]
pub(crate) struct MarksPass {
    operands: OperandStack,
    /// How many of them belong to the blocks around.
    base: u32,
    /// Whether each open label has a function type, so that it may take or give several operands.
    labels: Vec<bool>,
    /// How often each local was set so far.
    sets: BTreeMap<u32, u32>,
    stretch: u32,
    stores: Vec<StoreSite>,
    bulk: Vec<u32>,
    calls: Vec<HostCall>,
    frame: Option<StackFrame>,
    /// No label was opened yet.
    at_start: bool,
}

/// A store's reach: value type, bytes, offset, memory.
fn store(operator: &Operator<'_>) -> Option<(Encoded, u32, wasmparser::MemArg)> {
    Some(match *operator {
        Operator::I32Store { memarg } => (Encoded::I32, 4, memarg),
        Operator::I32Store8 { memarg } => (Encoded::I32, 1, memarg),
        Operator::I32Store16 { memarg } => (Encoded::I32, 2, memarg),
        Operator::I64Store { memarg } => (Encoded::I64, 8, memarg),
        Operator::I64Store8 { memarg } => (Encoded::I64, 1, memarg),
        Operator::I64Store16 { memarg } => (Encoded::I64, 2, memarg),
        Operator::I64Store32 { memarg } => (Encoded::I64, 4, memarg),
        Operator::F32Store { memarg } => (Encoded::F32, 4, memarg),
        Operator::F64Store { memarg } => (Encoded::F64, 8, memarg),
        Operator::V128Store { memarg } => (Encoded::V128, 16, memarg),
        Operator::V128Store8Lane { memarg, .. } => (Encoded::V128, 1, memarg),
        Operator::V128Store16Lane { memarg, .. } => (Encoded::V128, 2, memarg),
        Operator::V128Store32Lane { memarg, .. } => (Encoded::V128, 4, memarg),
        Operator::V128Store64Lane { memarg, .. } => (Encoded::V128, 8, memarg),
        _ => return None,
    })
}

impl MarksPass {
    /// Starts a function body.
    pub(crate) fn begin(&mut self) {
        self.operands.clear();
        self.labels.clear();
        self.labels.push(true);
        self.sets.clear();
        self.stretch = 0;
        self.stores.clear();
        self.bulk.clear();
        self.calls.clear();
        self.frame = None;
        self.at_start = true;
    }

    /// Follows the operator in `span`; `reachable` says whether control gets here. After it the stack has `stack.end`
    /// operands; those below `stack.start` belong to the enclosing blocks. `module` knows the functions that are
    /// called.
    pub(crate) fn operator(
        &mut self,
        operator: &Operator<'_>,
        span: Range<u32>,
        stack: Range<u32>,
        reachable: bool,
        module: &ModuleRewriter<'_>,
    ) {
        let behind = Some((span.end, span.start));
        let height = stack.end;
        self.base = stack.start;
        if let Some((ty, bytes, memarg)) = store(operator) {
            if reachable && memarg.memory == 0 {
                self.store(span.start, ty, bytes, memarg.offset);
            }
            return self.resize(height, height);
        }
        match operator {
            Operator::LocalGet { local_index } => {
                let version = self.version(*local_index);
                self.push(OperandValue::Local { index: *local_index, version, plus: 0 }, behind, height);
            }
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                let value = self.top(0);
                let version = self.version(*local_index) + 1;
                self.sets.insert(*local_index, version);
                if let OperandValue::StackPointer { minus } = value
                    && self.at_start
                    && self.frame.is_none()
                    && let Ok(bytes @ 1..=FRAME_BYTES_MAX) = u32::try_from(minus)
                {
                    let frame = StackFrame { local: *local_index, version, bytes, at: span.end, anchor: span.start };
                    self.frame = Some(frame);
                }
                if matches!(operator, Operator::LocalTee { .. }) {
                    self.push(OperandValue::Local { index: *local_index, version, plus: 0 }, behind, height);
                } else {
                    self.resize(height, height);
                }
            }
            Operator::I32Const { value } => self.push(OperandValue::Constant(*value), behind, height),
            Operator::GlobalGet { global_index: 0 } => {
                self.push(OperandValue::StackPointer { minus: 0 }, behind, height)
            }
            Operator::I32Add => {
                let value = match (self.top(1), self.top(0)) {
                    (OperandValue::Local { index, version, plus }, OperandValue::Constant(more))
                    | (OperandValue::Constant(more), OperandValue::Local { index, version, plus }) => {
                        OperandValue::Local { index, version, plus: plus + i64::from(more) }
                    }
                    (OperandValue::StackPointer { minus }, OperandValue::Constant(more)) => {
                        OperandValue::StackPointer { minus: minus.wrapping_sub(more) }
                    }
                    _ => OperandValue::Unknown,
                };
                self.push(value, behind, height);
            }
            Operator::I32Sub => {
                let value = match (self.top(1), self.top(0)) {
                    (OperandValue::Local { index, version, plus }, OperandValue::Constant(less)) => {
                        OperandValue::Local { index, version, plus: plus - i64::from(less) }
                    }
                    (OperandValue::StackPointer { minus }, OperandValue::Constant(less)) => {
                        OperandValue::StackPointer { minus: minus.wrapping_add(less) }
                    }
                    _ => OperandValue::Unknown,
                };
                self.push(value, behind, height);
            }
            Operator::Drop | Operator::GlobalSet { .. } | Operator::Nop => self.resize(height, height),
            Operator::MemoryFill { mem: 0 }
            | Operator::MemoryInit { mem: 0, .. }
            | Operator::MemoryCopy { dst_mem: 0, .. } => {
                if reachable {
                    self.bulk.push(span.start);
                }
                self.resize(height, height);
            }
            Operator::Block { blockty } | Operator::If { blockty } | Operator::Loop { blockty } => {
                self.open(*blockty, height);
                if matches!(operator, Operator::Loop { .. }) {
                    self.stretch += 1;
                }
            }
            Operator::TryTable { try_table } => self.open(try_table.ty, height),
            Operator::Else | Operator::End => {
                self.stretch += 1;
                if matches!(operator, Operator::Else) {
                    let several = self.labels.last().copied().unwrap_or(true);
                    return self.resize(if several { 0 } else { height }, height);
                }
                if self.labels.pop().unwrap_or(true) {
                    self.resize(0, height);
                }
                self.result(behind, height);
            }
            Operator::Br { .. } | Operator::BrIf { .. } | Operator::BrTable { .. } => {
                self.at_start = false;
                self.result(behind, height);
            }
            Operator::Call { .. }
            | Operator::CallIndirect { .. }
            | Operator::CallRef { .. }
            | Operator::ReturnCall { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::ReturnCallRef { .. } => {
                let results = self.call(operator, span.start, reachable, module);
                self.resize(height.saturating_sub(results), height);
                self.result(behind, height);
            }
            Operator::BrOnNull { .. }
            | Operator::BrOnNonNull { .. }
            | Operator::BrOnCast { .. }
            | Operator::BrOnCastFail { .. } => {
                self.at_start = false;
                self.resize(0, height);
                self.result(behind, height);
            }
            // At most one result, on top; what is below was there before.
            _ => self.result(behind, height),
        }
    }

    fn open(&mut self, ty: BlockType, height: u32) {
        self.at_start = false;
        let several = matches!(ty, BlockType::FuncType(_));
        self.labels.push(several);
        self.resize(if several { 0 } else { height }, height);
    }

    /// A call: how many results it has.
    fn call(&mut self, operator: &Operator<'_>, at: u32, reachable: bool, module: &ModuleRewriter<'_>) -> u32 {
        let (ty, function, operands) = match *operator {
            Operator::Call { function_index } | Operator::ReturnCall { function_index } => {
                (module.type_of(function_index), Some(function_index), 0)
            }
            Operator::CallIndirect { type_index, .. } | Operator::ReturnCallIndirect { type_index, .. } => {
                (type_index, None, 1)
            }
            Operator::CallRef { type_index } | Operator::ReturnCallRef { type_index } => (type_index, None, 1),
            _ => unreachable!("only calls come here"),
        };
        let signature = module.signature(ty);
        // With the callee on top of the arguments, the last one is not at hand; `marks_soundness.rs` refuses where it matters.
        let writes = signature.may_return_through_memory() && operands == 0;
        if reachable && writes && function.is_some_and(|function| module.imports_function(function)) {
            self.calls.push(HostCall { at });
        }
        signature.results_count()
    }

    fn version(&self, local: u32) -> u32 {
        self.sets.get(&local).copied().unwrap_or(0)
    }

    fn top(&self, depth: u32) -> OperandValue {
        self.operands.top(depth).map_or(OperandValue::Unknown, |operand| operand.value)
    }

    /// Keeps the first `kept` operands; others, up to `height`, are not known.
    fn resize(&mut self, kept: u32, height: u32) {
        self.operands.resize(kept, height);
    }

    /// An operator with one result of this value.
    fn push(&mut self, value: OperandValue, behind: Option<(u32, u32)>, height: u32) {
        self.resize(height.saturating_sub(1), height);
        self.operands.set_top(StackOperand { value, on_top_at: behind });
    }

    /// An operator that may have a result, which is then on top. Operands of the blocks around were there before; behind
    /// an operator in here, they could not be had on every way.
    fn result(&mut self, behind: Option<(u32, u32)>, height: u32) {
        if height > self.base {
            self.push(OperandValue::Unknown, behind, height);
        } else {
            self.resize(height, height);
        }
    }

    fn store(&mut self, at: u32, ty: Encoded, bytes: u32, offset: u64) {
        // With one operand alone, that is the address: code that cannot be reached has as few.
        let depth = self.operands.height.saturating_sub(1).min(1);
        let height = self.operands.height.saturating_sub(2);
        let Some(StackOperand { value, on_top_at }) = self.operands.top(depth) else { return };
        let offset = i64::try_from(offset).unwrap_or(i64::MAX / 2);
        let (address, delta) = match (value, on_top_at) {
            (OperandValue::Local { index, version, plus }, _) if self.version(index) == version => {
                (StoreAddress::Local { index, version }, plus + offset)
            }
            (OperandValue::Constant(constant), _) => {
                (StoreAddress::Constant, i64::from(constant.cast_unsigned()) + offset)
            }
            (_, Some((end, anchor))) => (StoreAddress::Pushed { height, end, anchor }, offset),
            (_, None) => (StoreAddress::Below(ty), offset),
        };
        self.stores.push(StoreSite { at, address, delta, bytes, stretch: self.stretch });
    }

    /// Asks for the edits of the function.
    pub(crate) fn finish(&mut self, module: &mut ModuleRewriter<'_>, edits: &mut Edits) -> Result<(), Error> {
        let marker = PageMarker { memory: module.side_memory, start: module.layout.marks.start };
        if self.stores.is_empty() && self.bulk.is_empty() && self.calls.is_empty() {
            return Ok(());
        }
        module.marks_used = true;
        self.mark_frame(&marker, module, edits)?;
        self.mark_groups(&marker, edits);
        self.mark_others(&marker, edits);
        for at in &self.bulk {
            let bulk = module.helper(Helper::Bulk)?;
            edits.insert(*at, EditPosition::Before, *at, SegmentKind::Injected, |code| {
                code.call(bulk);
            });
        }
        if !self.calls.is_empty() {
            let pointer = edits.local_i32();
            for &HostCall { at } in &self.calls {
                edits.insert(at, EditPosition::Before, at, SegmentKind::Injected, |code| {
                    code.local_tee(pointer);
                    marker.mark(code, |code| code.local_get(pointer), 0);
                    marker.mark(code, |code| code.local_get(pointer), i64::from(MARKED_PAGE_BYTES));
                });
            }
        }
        Ok(())
    }

    /// Marks the frame where its address is set, and forgets the stores into it.
    fn mark_frame(
        &mut self,
        marker: &PageMarker,
        module: &mut ModuleRewriter<'_>,
        edits: &mut Edits,
    ) -> Result<(), Error> {
        /// Stores from which on marking the whole frame is cheaper.
        const STORES_MIN: usize = 2;
        let Some(frame) = self.frame else { return Ok(()) };
        if self.version(frame.local) != frame.version {
            return Ok(());
        }
        let inside = |store: &StoreSite| {
            let end = store.delta.saturating_add(i64::from(store.bytes));
            matches!(store.address, StoreAddress::Local { index, version } if index == frame.local && version == frame.version)
                && store.delta >= 0
                && end <= i64::from(frame.bytes)
        };
        if self.stores.iter().filter(|store| inside(store)).count() < STORES_MIN {
            return Ok(());
        }
        self.stores.retain(|store| !inside(store));
        let range = if frame.bytes > MARKED_PAGE_BYTES { Some(module.helper(Helper::Range)?) } else { None };
        edits.insert(frame.at, EditPosition::After, frame.anchor, SegmentKind::Injected, |code| {
            if let Some(range) = range {
                code.local_get(frame.local).i32_const(frame.bytes.cast_signed()).call(range);
                return;
            }
            marker.mark(code, |code| code.local_get(frame.local), 0);
            if frame.bytes > STRADDLE_BYTES {
                marker.mark(code, |code| code.local_get(frame.local), i64::from(frame.bytes) - 1);
            }
        });
        Ok(())
    }

    /// Marks the stores through locals, those of one stretch together.
    fn mark_groups(&mut self, marker: &PageMarker, edits: &mut Edits) {
        /// Stores that are marked before the first of them.
        struct StoreGroup {
            at: u32,
            lowest: i64,
            highest: i64,
            end: i64,
        }
        let mut groups: BTreeMap<(u32, u32, u32), StoreGroup> = BTreeMap::new();
        let mut emit = |local: u32, group: &StoreGroup| {
            edits.insert(group.at, EditPosition::Before, group.at, SegmentKind::Injected, |code| {
                marker.mark(code, |code| code.local_get(local), group.lowest);
                if group.end - group.lowest > i64::from(STRADDLE_BYTES) {
                    marker.mark(code, |code| code.local_get(local), group.highest);
                }
            });
        };
        for store in &self.stores {
            let StoreAddress::Local { index, version } = store.address else { continue };
            let end = store.delta.saturating_add(i64::from(store.bytes));
            let new = StoreGroup { at: store.at, lowest: store.delta, highest: store.delta, end };
            match groups.entry((index, version, store.stretch)) {
                std::collections::btree_map::Entry::Vacant(entry) => {
                    entry.insert(new);
                }
                std::collections::btree_map::Entry::Occupied(mut entry) => {
                    let group = entry.get_mut();
                    let (lowest, highest) = (group.lowest.min(store.delta), group.highest.max(store.delta));
                    if highest - lowest < i64::from(MARKED_PAGE_BYTES) {
                        (group.lowest, group.highest, group.end) = (lowest, highest, group.end.max(end));
                    } else {
                        emit(index, &std::mem::replace(group, new));
                    }
                }
            }
        }
        for ((local, _, _), group) in &groups {
            emit(*local, group);
        }
    }

    /// Marks each of the remaining stores separately.
    fn mark_others(&mut self, marker: &PageMarker, edits: &mut Edits) {
        let mut kept: BTreeMap<u32, u32> = BTreeMap::new();
        let mut below: Option<u32> = None;
        let mut values: BTreeMap<Encoded, u32> = BTreeMap::new();
        for store in &self.stores {
            let (at, delta) = (store.at, store.delta);
            match store.address {
                StoreAddress::Local { .. } => {}
                StoreAddress::Constant => {
                    // Beyond 32 bits the store traps.
                    if let Ok(address) = u32::try_from(delta) {
                        edits.insert(at, EditPosition::Before, at, SegmentKind::Injected, |code| {
                            marker.mark_page(code, address >> MARKED_PAGE_BITS);
                        });
                    }
                }
                StoreAddress::Pushed { height, end, anchor } => {
                    let local = *kept.entry(height).or_insert_with(|| edits.local_i32());
                    edits.insert(end, EditPosition::After, anchor, SegmentKind::Injected, |code| {
                        code.local_tee(local);
                    });
                    edits.insert(at, EditPosition::Before, at, SegmentKind::Injected, |code| {
                        marker.mark(code, |code| code.local_get(local), delta);
                    });
                }
                StoreAddress::Below(ty) => {
                    let address = *below.get_or_insert_with(|| edits.local_i32());
                    let value = *values.entry(ty).or_insert_with(|| edits.local(ty));
                    edits.insert(at, EditPosition::Before, at, SegmentKind::Injected, |code| {
                        code.local_set(value).local_tee(address);
                        marker.mark(code, |code| code.local_get(address), delta);
                        code.local_get(value);
                    });
                }
            }
        }
    }
}

/// Writes marks.
struct PageMarker {
    memory: u32,
    start: u32,
}

impl PageMarker {
    /// Marks the page of an address plus a number.
    fn mark<'c, 's>(
        &self,
        code: &'c mut InstructionSink<'s>,
        address: impl FnOnce(&'c mut InstructionSink<'s>) -> &'c mut InstructionSink<'s>,
        delta: i64,
    ) {
        let code = address(code);
        // Addresses wrap around at 32 bits; what lies further on traps.
        let delta = delta as i32;
        if delta != 0 {
            code.i32_const(delta).i32_add();
        }
        code.i32_const(MARKED_PAGE_BITS.cast_signed()).i32_shr_u().i32_const(1);
        code.i32_store8(MemArg { offset: u64::from(self.start), align: 0, memory_index: self.memory });
    }

    fn mark_page(&self, code: &mut InstructionSink<'_>, page: u32) {
        let offset = u64::from(self.start) + u64::from(page);
        code.i32_const(0).i32_const(1).i32_store8(MemArg { offset, align: 0, memory_index: self.memory });
    }
}
