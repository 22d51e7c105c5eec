//! Looks at accesses: in front of each load, store and bulk operation of a function.
//!
//! ```text
//! local.get p        local.get p   local.tee a
//! i32.load 4    ─►   local.get a   i32.const 4   i32.add   i32.const 3   i32.shr_u   i32.load8_u shadow
//!                    if  local.get a  …  call access  end
//!                    i32.load 4
//! ```
//!
//! Left out is what cannot go wrong: accesses to the function's own frame at constant places, to constant addresses, and what was
//! looked at before in the same straight stretch of code.
//!
//! A function with a frame gets a red zone above it, so that what runs out of the frame of a callee is found.
//!
//! Not here: the closer look (`helpers`).

use super::allocators::CheckedModule;
use super::helpers::{Shadow, WRITES};
use super::{LOW_BYTES, SHADOW_AT, STACK_ZONE_BYTES, shade};
use crate::allocators::role::SpecialFunction;
use crate::edit::{EditPosition, Edits};
use crate::map::SegmentKind;
use std::collections::BTreeMap;
use std::ops::Range;
use wasm_encoder::{BlockType, InstructionSink, ValType};
use wasmparser::{MemArg, Operator};

/// A load or store: the type of its value below which the address is, if there is one; its bytes; whether it writes.
pub(crate) fn access_of(operator: &Operator<'_>) -> Option<(Option<ValType>, u32, MemArg, bool)> {
    use ValType::{F32, F64, I32, I64, V128};
    Some(match *operator {
        Operator::I32Load8S { memarg } | Operator::I32Load8U { memarg } => (None, 1, memarg, false),
        Operator::I64Load8S { memarg } | Operator::I64Load8U { memarg } => (None, 1, memarg, false),
        Operator::I32Load16S { memarg } | Operator::I32Load16U { memarg } => (None, 2, memarg, false),
        Operator::I64Load16S { memarg } | Operator::I64Load16U { memarg } => (None, 2, memarg, false),
        Operator::I32Load { memarg } | Operator::F32Load { memarg } => (None, 4, memarg, false),
        Operator::I64Load32S { memarg } | Operator::I64Load32U { memarg } => (None, 4, memarg, false),
        Operator::I64Load { memarg } | Operator::F64Load { memarg } => (None, 8, memarg, false),
        Operator::V128Load { memarg } => (None, 16, memarg, false),
        Operator::V128Load8x8S { memarg }
        | Operator::V128Load8x8U { memarg }
        | Operator::V128Load16x4S { memarg }
        | Operator::V128Load16x4U { memarg }
        | Operator::V128Load32x2S { memarg }
        | Operator::V128Load32x2U { memarg }
        | Operator::V128Load64Splat { memarg }
        | Operator::V128Load64Zero { memarg } => (None, 8, memarg, false),
        Operator::V128Load8Splat { memarg } => (None, 1, memarg, false),
        Operator::V128Load16Splat { memarg } => (None, 2, memarg, false),
        Operator::V128Load32Splat { memarg } | Operator::V128Load32Zero { memarg } => (None, 4, memarg, false),
        Operator::V128Load8Lane { memarg, .. } => (Some(V128), 1, memarg, false),
        Operator::V128Load16Lane { memarg, .. } => (Some(V128), 2, memarg, false),
        Operator::V128Load32Lane { memarg, .. } => (Some(V128), 4, memarg, false),
        Operator::V128Load64Lane { memarg, .. } => (Some(V128), 8, memarg, false),
        Operator::I32Store8 { memarg } => (Some(I32), 1, memarg, true),
        Operator::I32Store16 { memarg } => (Some(I32), 2, memarg, true),
        Operator::I32Store { memarg } => (Some(I32), 4, memarg, true),
        Operator::I64Store8 { memarg } => (Some(I64), 1, memarg, true),
        Operator::I64Store16 { memarg } => (Some(I64), 2, memarg, true),
        Operator::I64Store32 { memarg } => (Some(I64), 4, memarg, true),
        Operator::I64Store { memarg } => (Some(I64), 8, memarg, true),
        Operator::F32Store { memarg } => (Some(F32), 4, memarg, true),
        Operator::F64Store { memarg } => (Some(F64), 8, memarg, true),
        Operator::V128Store { memarg } => (Some(V128), 16, memarg, true),
        Operator::V128Store8Lane { memarg, .. } => (Some(V128), 1, memarg, true),
        Operator::V128Store16Lane { memarg, .. } => (Some(V128), 2, memarg, true),
        Operator::V128Store32Lane { memarg, .. } => (Some(V128), 4, memarg, true),
        Operator::V128Store64Lane { memarg, .. } => (Some(V128), 8, memarg, true),
        _ => return None,
    })
}

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OperandOrigin {
    Constant(i32),
    /// A local, as it was set for the nth time.
    Local(u32, u32),
    /// The stack pointer as the function found it, less a number.
    Stack(i32),
}

#[derive(Clone, Debug)]
struct AccessSite {
    at: u32,
    below: Option<ValType>,
    bytes: u32,
    offset: u32,
    is_aligned: bool,
    writes: bool,
}

#[derive(Clone, Copy, Debug)]
enum BulkKind {
    Copy,
    Fill,
}

/// Which helpers a function needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AccessNeeds {
    pub(crate) access: bool,
    pub(crate) copy: bool,
    pub(crate) fill: bool,
    pub(crate) grow: bool,
}

/// Indices of those helpers; of the others, anything.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AccessHelpers {
    pub(crate) access: u32,
    pub(crate) copy: u32,
    pub(crate) fill: u32,
    /// In a function that is `memcpy`.
    pub(crate) overlap: Option<u32>,
}

/// The pass, over one function body after the other.
#[derive(Debug, Default)]
pub(crate) struct AccessPass {
    sites: Vec<AccessSite>,
    bulks: Vec<(u32, BulkKind)>,
    grows: Vec<Range<u32>>,
    tail_calls: Vec<u32>,
    has_landings: bool,
    /// The last operands that were pushed, as long as nothing else was done.
    window: Vec<Option<OperandOrigin>>,
    sets: BTreeMap<u32, u32>,
    /// What was looked at in this stretch of code: a local, and bytes behind it.
    seen: Vec<(OperandOrigin, Range<u32>)>,
    /// Values of locals, while the function has neither branched nor called.
    values: Option<BTreeMap<u32, OperandOrigin>>,
    /// The frame, by the local that points to it.
    frame: Option<(u32, u32)>,
    uses_stack: bool,
    /// How often the stack pointer is set: a function with a frame moves it, and gives it back.
    stack_sets: u32,
}

impl AccessPass {
    /// Starts a function body.
    pub(crate) fn begin(&mut self) {
        *self = AccessPass { values: Some(BTreeMap::new()), ..AccessPass::default() };
    }

    fn value(&self, local: u32) -> OperandOrigin {
        let straight = self.values.as_ref().and_then(|values| values.get(&local));
        straight.copied().unwrap_or(OperandOrigin::Local(local, self.sets.get(&local).copied().unwrap_or_default()))
    }

    /// Takes note of the operator that stands in `span`.
    pub(crate) fn operator(&mut self, operator: &Operator<'_>, span: Range<u32>, is_reachable: bool, has_stack: bool) {
        if let Some((below, bytes, memarg, writes)) = access_of(operator) {
            if is_reachable && memarg.memory == 0 {
                self.access(span.start, below, bytes, memarg, writes);
            }
            let loads = !writes && below.is_none();
            let left = self.window.len().saturating_sub(if below.is_some() { 2 } else { 1 });
            self.window.truncate(left);
            if loads || !writes {
                self.window.push(None);
            }
            return;
        }
        match operator {
            Operator::LocalGet { local_index } => self.window.push(Some(self.value(*local_index))),
            Operator::I32Const { value } => self.window.push(Some(OperandOrigin::Constant(*value))),
            Operator::I64Const { .. } | Operator::F32Const { .. } | Operator::F64Const { .. } => self.window.push(None),
            Operator::GlobalGet { global_index } => {
                let is_stack = has_stack && *global_index == 0;
                let at_start = self.values.is_some();
                self.uses_stack |= is_stack && at_start;
                self.window.push((is_stack && at_start).then_some(OperandOrigin::Stack(0)));
            }
            Operator::LocalSet { local_index } | Operator::LocalTee { local_index } => {
                let value = self.window.pop().flatten();
                *self.sets.entry(*local_index).or_default() += 1;
                self.set(*local_index, value);
                if matches!(operator, Operator::LocalTee { .. }) {
                    self.window.push(Some(self.value(*local_index)));
                }
            }
            Operator::I32Sub | Operator::I32Add => {
                let (right, left) = (self.window.pop().flatten(), self.window.pop().flatten());
                let minus = matches!(operator, Operator::I32Sub);
                self.window.push(match (left, right) {
                    (Some(OperandOrigin::Stack(less)), Some(OperandOrigin::Constant(more))) => {
                        let more = if minus { more } else { more.wrapping_neg() };
                        Some(OperandOrigin::Stack(less.wrapping_add(more)))
                    }
                    _ => None,
                });
            }
            Operator::GlobalSet { global_index } => {
                self.stack_sets += u32::from(has_stack && *global_index == 0);
                self.window.pop();
            }
            Operator::Drop => drop(self.window.pop()),
            Operator::MemoryCopy { dst_mem: 0, src_mem: 0 } => self.bulk(span.start, BulkKind::Copy, is_reachable),
            Operator::MemoryFill { mem: 0 } | Operator::MemoryInit { mem: 0, .. } => {
                self.bulk(span.start, BulkKind::Fill, is_reachable);
            }
            Operator::MemoryGrow { mem: 0 } => {
                self.grows.push(span);
                self.window.clear();
                self.seen.clear();
            }
            Operator::Block { .. } => self.window.clear(),
            operator => {
                match operator {
                    Operator::ReturnCall { .. }
                    | Operator::ReturnCallIndirect { .. }
                    | Operator::ReturnCallRef { .. } => {
                        self.tail_calls.push(span.start);
                    }
                    Operator::TryTable { .. } => self.has_landings = true,
                    _ => {}
                }
                self.window.clear();
                if is_straight(operator) {
                    return;
                }
                self.seen.clear();
                self.values = None;
            }
        }
    }

    fn set(&mut self, local: u32, value: Option<OperandOrigin>) {
        let Some(values) = &mut self.values else { return };
        match value {
            Some(OperandOrigin::Stack(less)) => {
                values.insert(local, OperandOrigin::Stack(less));
                if less > 0 && self.frame.is_none() {
                    self.frame = Some((local, less.cast_unsigned()));
                }
            }
            Some(OperandOrigin::Constant(value)) => drop(values.insert(local, OperandOrigin::Constant(value))),
            _ => drop(values.remove(&local)),
        }
    }

    fn bulk(&mut self, at: u32, kind: BulkKind, is_reachable: bool) {
        if is_reachable {
            self.bulks.push((at, kind));
        }
        self.window.clear();
    }

    fn access(&mut self, at: u32, below: Option<ValType>, bytes: u32, memarg: MemArg, writes: bool) {
        let Ok(offset) = u32::try_from(memarg.offset) else { return };
        let from_top = if below.is_some() { 2 } else { 1 };
        let address = self.window.len().checked_sub(from_top).and_then(|at| self.window[at]);
        let range = offset..offset.saturating_add(bytes);
        match address {
            Some(OperandOrigin::Constant(address))
                if address.cast_unsigned().checked_add(offset).is_some_and(|at| at >= LOW_BYTES) =>
            {
                return;
            }
            // In the frame, as long as the function is at its beginning.
            Some(OperandOrigin::Stack(less)) if less > 0 && range.end <= less.cast_unsigned() => return,
            Some(OperandOrigin::Local(local, set)) => {
                if self.frame.is_some_and(|(frame, bytes)| frame == local && set == 1 && range.end <= bytes) {
                    return;
                }
                let known = OperandOrigin::Local(local, set);
                if self.seen.iter().any(|(seen, of)| *seen == known && of.start <= range.start && range.end <= of.end) {
                    return;
                }
                self.seen.push((known, range));
            }
            _ => {}
        }
        let is_aligned = 1_u32.checked_shl(memarg.align.into()).is_some_and(|align| align >= bytes);
        self.sites.push(AccessSite { at, below, bytes, offset, is_aligned, writes });
    }

    /// Whether the function has a frame of its own.
    pub(crate) fn has_frame(&self, function: u32, checked: &CheckedModule) -> bool {
        let moves = checked.special(function) == Some(SpecialFunction::MovesStack);
        let is_own = !checked.functions.contains_key(&function);
        // The size of a frame may be computed, as with `alloca`.
        let has_frame = self.frame.is_some() || self.stack_sets > 1;
        checked.has_stack && self.uses_stack && has_frame && !moves && is_own && !self.has_landings
    }

    /// Asks for a red zone above the frame of a function whose operators are in `operators`: before all other edits at its exits. It is to
    /// have one way out, but for tail calls.
    pub(crate) fn frame(&self, operators: &Range<u32>, shadow: Shadow, edits: &mut Edits) {
        let (start, end, zone) = (operators.start, operators.end, edits.local_i32());
        edits.insert(start, EditPosition::Entry, start, SegmentKind::Injected, |code| enter_frame(shadow, zone, code));
        edits.insert(end, EditPosition::After, end - 1, SegmentKind::Injected, |code| leave_frame(shadow, zone, code));
        for at in &self.tail_calls {
            edits.insert(*at, EditPosition::Before, *at, SegmentKind::Injected, |code| {
                leave_frame(shadow, zone, code);
            });
        }
    }

    /// Which helpers [`AccessPass::finish`] calls.
    pub(crate) fn needs(&self) -> AccessNeeds {
        let has = |copies: bool| self.bulks.iter().any(|(_, kind)| matches!(kind, BulkKind::Copy) == copies);
        let (access, grow) = (!self.sites.is_empty(), !self.grows.is_empty());
        AccessNeeds { access, copy: has(true), fill: has(false), grow }
    }

    /// Replaces what grows memory: also in functions of an allocator.
    pub(crate) fn grow(&self, grow: u32, edits: &mut Edits) {
        for span in &self.grows {
            edits.replace(span.clone(), |code| {
                code.call(grow);
            });
        }
    }

    /// Asks for the edits of a function whose operators start at `start`, which is none of an allocator.
    pub(crate) fn finish(
        &self,
        start: u32,
        special: Option<SpecialFunction>,
        shadow: Shadow,
        helpers: &AccessHelpers,
        edits: &mut Edits,
    ) {
        if let Some(overlap) = helpers.overlap {
            edits.insert(start, EditPosition::Entry, start, SegmentKind::Injected, |code| {
                code.local_get(0).local_get(1).local_get(2).call(overlap);
            });
        }
        for (at, kind) in &self.bulks {
            let helper = match kind {
                BulkKind::Copy => helpers.copy,
                BulkKind::Fill => helpers.fill,
            };
            edits.insert(*at, EditPosition::Before, *at, SegmentKind::Injected, |code| {
                code.call(helper);
            });
        }
        if self.sites.is_empty() {
            return;
        }
        let address = edits.local_i32();
        let mut values: BTreeMap<ValType, u32> = BTreeMap::new();
        let is_lenient = special == Some(SpecialFunction::ReadsWords);
        for site in &self.sites {
            let value = site.below.map(|ty| *values.entry(ty).or_insert_with(|| edits.local(ty)));
            edits.insert(site.at, EditPosition::Before, site.at, SegmentKind::Injected, |code| {
                if let Some(value) = value {
                    code.local_set(value);
                }
                code.local_tee(address);
                look(shadow, site, address, helpers.access, is_lenient && !site.writes, code);
                if let Some(value) = value {
                    code.local_get(value);
                }
            });
        }
    }
}

/// Whether an operator neither branches nor calls.
fn is_straight(operator: &Operator<'_>) -> bool {
    !matches!(
        operator,
        Operator::Loop { .. }
            | Operator::If { .. }
            | Operator::Else
            | Operator::End
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. }
            | Operator::Return
            | Operator::Unreachable
            | Operator::Call { .. }
            | Operator::CallIndirect { .. }
            | Operator::CallRef { .. }
            | Operator::ReturnCall { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::ReturnCallRef { .. }
            | Operator::TryTable { .. }
            | Operator::Throw { .. }
            | Operator::ThrowRef
            | Operator::BrOnNull { .. }
            | Operator::BrOnNonNull { .. }
            | Operator::BrOnCast { .. }
            | Operator::BrOnCastFail { .. }
    )
}

/// `[] -> []`: the quick look at the access whose address is in a local.
fn look(
    shadow: Shadow,
    site: &AccessSite,
    address: u32,
    access: u32,
    is_lenient: bool,
    code: &mut InstructionSink<'_>,
) {
    let bytes = if is_lenient { 1 } else { site.bytes };
    let plus = |code: &mut InstructionSink<'_>, more: u32| {
        code.local_get(address);
        if more > 0 {
            code.i32_const(more.cast_signed()).i32_add();
        }
    };
    let shade_of = |code: &mut InstructionSink<'_>, more: u32| {
        plus(code, site.offset.wrapping_add(more));
        code.i32_const(3).i32_shr_u().i32_load8_u(shadow.at(SHADOW_AT, 0));
    };
    shade_of(code, 0);
    // What may lie across two or three times eight bytes.
    if !is_lenient && (bytes > 8 || bytes > 1 && !site.is_aligned) {
        if bytes > 8 {
            shade_of(code, 8);
            code.i32_or();
        }
        if !site.is_aligned {
            shade_of(code, bytes - 1);
            code.i32_or();
        }
    }
    // The alignment of an instruction is a hint: what is less aligned may lie across, and is looked at closer.
    if !is_lenient && bytes > 1 && site.is_aligned {
        let unit = bytes.min(8);
        plus(code, site.offset % unit);
        code.i32_const((unit - 1).cast_signed()).i32_and().i32_or();
    }
    code.if_(BlockType::Empty);
    plus(code, site.offset);
    let what = if site.writes { bytes | WRITES } else { bytes };
    code.i32_const(what.cast_signed()).call(access).end();
}

/// Makes room for a red zone above the frame of the function that is entered.
fn enter_frame(shadow: Shadow, zone: u32, code: &mut InstructionSink<'_>) {
    code.global_get(0).i32_const(STACK_ZONE_BYTES.cast_signed()).i32_sub().local_tee(zone).global_set(0);
    shade_zone(shadow, zone, shade::STACK, code);
}

/// Gives it back.
fn leave_frame(shadow: Shadow, zone: u32, code: &mut InstructionSink<'_>) {
    shade_zone(shadow, zone, 0, code);
    code.local_get(zone).i32_const(STACK_ZONE_BYTES.cast_signed()).i32_add().global_set(0);
}

fn shade_zone(shadow: Shadow, zone: u32, value: u8, code: &mut InstructionSink<'_>) {
    code.local_get(zone).i32_const(3).i32_shr_u();
    code.i32_const(i32::from_le_bytes([value; 4])).i32_store(shadow.at(SHADOW_AT, 0));
}
