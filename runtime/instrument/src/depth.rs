//! Call depth limit: stack exhaustion at the same call on every machine.
//!
//! ```text
//! before            after
//! func (locals)     func (locals, saved)
//!   body              global.get depth   local.tee saved      ┐
//! end                 i32.const cost     i32.lt_u             │ depth check
//!                     if unreachable end                      │
//!                     local.get saved  i32.const cost         │
//!                     i32.sub  global.set depth               ┘
//!                     block (results)
//!                       body                  return     ─► br to this block
//!                     end                     return_*   ─► restored before it
//!                     local.get saved  global.set depth         epilogue
//!                   end
//! ```
//!
//! `depth` is a global of the module: the slots that are left. `saved` is what it was when the
//! function was entered, so that each exit restores it exactly, whatever happened in between:
//! - Falling off the end, `return`, and every branch to the function's label arrive at the epilogue:
//!   the block has the same results as the function, so that relative labels stay as they are.
//! - A tail call restores first: its frame is gone when the callee is entered.
//! - An exception leaves callees without an epilogue. Where it is caught, that is behind the `end`
//!   of a label that a `try_table` names (or at the head, for a loop), depth is set to what it is
//!   inside this function. A catch by the function's label arrives at the epilogue anyway.
//! - A trap ends the store; its globals are not read as a count again.
//!
//! The cost of a call is meant as an upper bound of its frame, in slots of one value: a constant, the
//! locals, the highest operand stack (vectors counting twice), and half a slot for each operator that
//! computes something, since a compiler may compute it early and keep it. It is taken from the
//! WebAssembly alone and never from compiled code, which is why it is the same everywhere.
//!
//! A small function that calls nothing is exempt, which saves most of the time that the limit costs.
//! This is sound because such a frame is always the innermost one: at most one of them is on the
//! stack at any time, never more than [`LEAF_SLOTS_MAX`] on top of what is counted, and the
//! native stack's reserve covers that once.
//!
//! Invariants: `depth` is never above its start value and never negative; the comparison is made before
//! the subtraction, so that nothing wraps.
//!
//! Not done: the counter is one per instance of a core module. Where instances of several modules
//! call each other, each has the whole stack for itself, and the native stack must be large enough
//! for their sum. Native frames of the host, such as a canonical lift, are not counted.

use crate::body::BodyFacts;
use crate::edit::{EditPosition, Edits};
use crate::map::SegmentKind;
use std::ops::Range;
use wasm_encoder::{BlockType, InstructionSink, MemArg};
use wasmparser::{Catch, Operator};

/// What each frame costs besides its values, in slots: return address, frame pointer, the
/// instance's context, `saved`, and the registers that a callee has to save (all eighteen of them
/// on aarch64, in a function that catches exceptions).
const FRAME_SLOTS: u32 = 8;

/// Operators that compute something, for each slot that they cost. Compilers move a computation
/// out of a loop, or keep its result for the next time, across calls: thirty loads in a loop that
/// calls itself had a frame of 600 bytes around ten values. One in a scalar register takes 8 bytes, in a
/// vector register 16, so that two fit into [`NATIVE_STACK_BYTES_PER_SLOT`].
const COMPUTED_PER_SLOT: u32 = 2;

/// Largest cost, in slots, of a function that calls nothing and goes uncounted. Beyond it, a leaf
/// is counted like any other function.
const LEAF_SLOTS_MAX: u32 = 256;

/// Native stack that the engine should have for each slot, in bytes, so that the counter always
/// fires first. Wasmtime on x86-64 needed at most half of this in frames built to need much (values
/// returned in memory, vectors, calls in a `try_table`), most often a quarter; it is an allowance,
/// not a proof, so that a native stack overflow remains a loud error of ours and never a verdict.
pub const NATIVE_STACK_BYTES_PER_SLOT: u32 = 32;

/// A label that is open while the body is walked.
#[derive(Debug)]
struct DepthLabel {
    /// For a loop: where its head is, that is, the offset of its first operator.
    loop_head: Option<u32>,
    /// The operator that opened it.
    anchor: u32,
    /// Whether a `try_table` names it.
    caught: bool,
}

/// Something in the body that needs the depth to be right.
#[derive(Debug)]
enum DepthSite {
    /// A `return`, with this many labels open, the function's included.
    Return {
        span: Range<u32>,
        labels: u32,
    },
    TailCall {
        at: u32,
    },
    /// A caught exception arrives at `at`, behind or at the head of the operator at `anchor`.
    Landing {
        at: u32,
        anchor: u32,
    },
}

/// Where a function leaves how deep it was called, if it was called deeper than any before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeepestCall {
    /// Where the slots stand that were in use.
    pub(crate) at: MemArg,
    /// What `depth` starts with.
    pub(crate) stack_slots: u32,
}

impl DeepestCall {
    /// `saved` is the local with the slots that are left.
    fn note(self, saved: u32, code: &mut InstructionSink<'_>) {
        let DeepestCall { at, stack_slots } = self;
        let start = stack_slots.cast_signed();
        code.i32_const(start).local_get(saved).i32_sub();
        code.i32_const(0).i32_load(at).i32_gt_u().if_(BlockType::Empty);
        code.i32_const(0).i32_const(start).local_get(saved).i32_sub().i32_store(at).end();
    }
}

/// The pass, over one function body after the other.
#[derive(Debug, Default)]
pub(crate) struct DepthPass {
    labels: Vec<DepthLabel>,
    sites: Vec<DepthSite>,
    calls: bool,
    /// Operators that compute something.
    computed: u32,
}

impl DepthPass {
    /// Starts a function body.
    pub(crate) fn begin(&mut self) {
        self.labels.clear();
        self.labels.push(DepthLabel { loop_head: None, anchor: 0, caught: false });
        self.sites.clear();
        self.calls = false;
        self.computed = 0;
    }

    /// Takes note of the operator that stands in `span`.
    pub(crate) fn operator(&mut self, operator: &Operator<'_>, span: Range<u32>) {
        match operator {
            Operator::Block { .. } | Operator::If { .. } => self.open(None, span.start),
            Operator::Loop { .. } => self.open(Some(span.end), span.start),
            Operator::TryTable { try_table } => {
                for catch in &try_table.catches {
                    let (Catch::One { label, .. }
                    | Catch::OneRef { label, .. }
                    | Catch::All { label }
                    | Catch::AllRef { label }) = *catch;
                    self.catch(label);
                }
                self.open(None, span.start);
            }
            Operator::End => {
                let label = self.labels.pop().expect("the validator has matched each end");
                // The function's own label needs nothing: the epilogue stands there.
                if label.caught && label.loop_head.is_none() && !self.labels.is_empty() {
                    self.sites.push(DepthSite::Landing { at: span.end, anchor: span.start });
                }
            }
            Operator::Return => {
                let labels = u32::try_from(self.labels.len()).expect("labels fit a function body");
                self.sites.push(DepthSite::Return { span, labels });
            }
            Operator::ReturnCall { .. } | Operator::ReturnCallIndirect { .. } | Operator::ReturnCallRef { .. } => {
                self.calls = true;
                self.sites.push(DepthSite::TailCall { at: span.start });
            }
            Operator::Call { .. } | Operator::CallIndirect { .. } | Operator::CallRef { .. } => {
                self.calls = true;
            }
            // These move values that are counted as locals or operands, or go elsewhere.
            Operator::LocalGet { .. }
            | Operator::LocalSet { .. }
            | Operator::LocalTee { .. }
            | Operator::I32Const { .. }
            | Operator::I64Const { .. }
            | Operator::F32Const { .. }
            | Operator::F64Const { .. }
            | Operator::Drop
            | Operator::Nop
            | Operator::Unreachable
            | Operator::Else
            | Operator::Br { .. }
            | Operator::BrIf { .. }
            | Operator::BrTable { .. } => {}
            _ => self.computed += 1,
        }
    }

    fn open(&mut self, loop_head: Option<u32>, anchor: u32) {
        self.labels.push(DepthLabel { loop_head, anchor, caught: false });
    }

    /// A `try_table` names `label`, counted from the labels around it.
    fn catch(&mut self, label: u32) {
        let index = self.labels.len() - 1 - label as usize;
        let label = &mut self.labels[index];
        if label.caught {
            return;
        }
        label.caught = true;
        if let Some(at) = label.loop_head {
            self.sites.push(DepthSite::Landing { at, anchor: label.anchor });
        }
    }

    /// Whether the function has to be counted at all.
    pub(crate) fn counts(&self, facts: &BodyFacts) -> bool {
        self.calls || self.cost(facts) > LEAF_SLOTS_MAX
    }

    /// Asks for the edits of a function that [`DepthPass::counts`], or that is to be left at its end alone. `depth` is the index of the global,
    /// `results` the type of a block with the function's results, and `deepest` where it notes how deep it is called.
    pub(crate) fn finish(
        &self,
        facts: &BodyFacts,
        depth: u32,
        results: BlockType,
        deepest: Option<DeepestCall>,
        edits: &mut Edits,
    ) {
        let saved = edits.local_i32();
        // What need not be counted is only framed.
        let cost = if self.counts(facts) { self.cost(facts) } else { 0 };
        let cost = i32::try_from(cost).expect("costs are cut to fit");
        let Range { start, end } = facts.spans.operators;
        let last = end - 1;

        edits.insert(start, EditPosition::Entry, start, SegmentKind::DepthCheck, |code| {
            code.global_get(depth).local_tee(saved).i32_const(cost).i32_lt_u();
            code.if_(BlockType::Empty).unreachable().end();
            code.local_get(saved).i32_const(cost).i32_sub().global_set(depth);
        });
        edits.insert(start, EditPosition::Entry, start, SegmentKind::Injected, |code| {
            if let Some(deepest) = deepest {
                deepest.note(saved, code);
            }
            code.block(results);
        });
        for site in &self.sites {
            match site {
                DepthSite::Return { span, labels } => edits.replace(span.clone(), |code| {
                    code.br(labels - 1);
                }),
                &DepthSite::TailCall { at } => {
                    edits.insert(at, EditPosition::Before, at, SegmentKind::Injected, |code| {
                        code.local_get(saved).global_set(depth);
                    });
                }
                &DepthSite::Landing { at, anchor } => {
                    edits.insert(at, EditPosition::After, anchor, SegmentKind::Injected, |code| {
                        code.local_get(saved).i32_const(cost).i32_sub().global_set(depth);
                    });
                }
            }
        }
        edits.insert(end, EditPosition::After, last, SegmentKind::Injected, |code| {
            code.local_get(saved).global_set(depth).end();
        });
    }

    /// What one call of the function costs, in slots. A cost that does not fit could not be met by
    /// any stack either, and neither can the largest one that does.
    fn cost(&self, facts: &BodyFacts) -> u32 {
        let slots = [facts.locals_slots, facts.operands_slots, self.computed / COMPUTED_PER_SLOT];
        let slots = slots.into_iter().fold(FRAME_SLOTS, u32::saturating_add);
        slots.min(i32::MAX.unsigned_abs())
    }
}
