//! One function body: validated, shown to the passes, and written with what they ask for.
//!
//! Adding a pass: give it a field in [`BodyRewriter`], show it each operator in [`BodyRewriter::rewrite`], and let
//! it ask for edits there; nothing else needs to know.
//!
//! Invariants: a body that no pass wants to change is copied byte for byte. A body is never looked
//! at twice: validation, facts and passes share one reading of its operators.

use crate::Error;
use crate::allocators::role::SpecialFunction;
use crate::compare::{ComparePass, ComparisonSites};
use crate::compile_cost::CompileCost;
use crate::depth::{DeepestCall, DepthPass};
use crate::edges::EdgePass;
use crate::edit::{BodySpans, EditPosition, Edits, RewrittenBody, offset_u32};
use crate::heap::HeapPass;
use crate::helpers::Helper;
use crate::map::SegmentKind;
use crate::marks::MarksPass;
use crate::memcheck::access::{AccessHelpers, AccessPass, access_of};
use crate::memcheck::helpers::Shadow;
use crate::memcheck::wrappers;
use crate::memory_faults;
use crate::module::ModuleRewriter;
use crate::options::CoverageMode;
use crate::positions::{PositionSites, StopCode, StorePass};
use crate::profile::{ProfilePass, ProfileSites};
use crate::side::{HEADER_DEEPEST_AT, HEADER_PENDING_AT};
use crate::sites::Sites;
use wasm_encoder::{BlockType, Encode, MemArg};
use wasmparser::{
    FuncToValidate, FuncValidatorAllocations, FunctionBody, Operator, OperatorsReader, ValType, ValidatorResources,
};

/// Locals that a function may have, parameters included (wasmparser's `MAX_WASM_FUNCTION_LOCALS`).
/// A function with no room for one more is refused.
const LOCALS_MAX: u32 = 50_000;

/// Bytes that a function body may have (wasmparser's `MAX_WASM_FUNCTION_SIZE`). A function that
/// grows beyond is refused.
const BODY_BYTES_MAX: usize = 7_654_321;

/// What validation has found out about a body.
#[derive(Clone, Debug)]
pub(crate) struct BodyFacts {
    pub(crate) spans: BodySpans,
    /// Parameters and locals, in slots.
    pub(crate) locals_slots: u32,
    /// Upper bound of the operand stack's height, in slots.
    pub(crate) operands_slots: u32,
}

/// Slots that a value takes: a vector has the size of two others.
pub(crate) fn slots(ty: ValType) -> u32 {
    if ty == ValType::V128 { 2 } else { 1 }
}

/// Whether an operator names a data segment by its index.
fn names_segment(operator: &Operator<'_>) -> bool {
    matches!(
        operator,
        Operator::MemoryInit { .. }
            | Operator::DataDrop { .. }
            | Operator::ArrayNewData { .. }
            | Operator::ArrayInitData { .. }
    )
}

/// Everything that is reused from one body to the next.
#[derive(Default)]
pub(crate) struct BodyRewriter {
    allocations: FuncValidatorAllocations,
    depth: DepthPass,
    edges: EdgePass,
    marks: MarksPass,
    compare: ComparePass,
    counts: ProfilePass,
    heap: HeapPass,
    accesses: AccessPass,
    /// Where memory 0 grows, if the program asks whether it may have memory.
    grows: Vec<u32>,
    /// What the bodies of the component cost a compiler so far.
    cost: CompileCost,
    /// The comparisons of the component so far.
    pub(crate) comparisons: ComparisonSites,
    /// The edges of the component so far.
    pub(crate) sites: Sites,
    /// What is counted of the component so far.
    pub(crate) profile: ProfileSites,
    /// Where a debugger stops the component.
    pub(crate) positions: PositionSites,
    stores: StorePass,
    edits: Edits,
    written: RewrittenBody,
}

impl BodyRewriter {
    /// Validates `body` and appends what becomes of it to the code of `module`.
    pub(crate) fn rewrite(
        &mut self,
        component: &[u8],
        module: &mut ModuleRewriter<'_>,
        function: FuncToValidate<ValidatorResources>,
        body: &FunctionBody<'_>,
    ) -> Result<(), Error> {
        let (ty, index) = (function.ty, function.index);
        let covers = module.coverage != CoverageMode::None;
        let mut validator = function.into_validator(std::mem::take(&mut self.allocations));
        let mut locals_slots = module.signature(ty).params_slots;
        let mut vectors = module.vectors_in_results() || module.signature(ty).vectors_in_params;

        // The declarations of locals are read twice, once for their sizes and once by the validator.
        let range = body.range();
        let mut locals = body.get_locals_reader()?;
        let locals_count = locals.get_count();
        let locals_start = locals.original_position();
        for _ in 0..locals_count {
            let (count, ty) = locals.read()?;
            locals_slots = locals_slots.saturating_add(count.saturating_mul(slots(ty)));
            vectors |= ty == ValType::V128;
        }
        let mut reader = body.get_binary_reader();
        validator.read_locals(&mut reader)?;
        let operators_start = reader.original_position();

        self.depth.begin();
        if covers {
            self.edges.begin(offset_u32(operators_start));
        }
        if module.marks {
            self.marks.begin();
        }
        self.compare.begin();
        self.stores.begin();
        if module.profile || module.positions {
            self.counts.begin(offset_u32(operators_start));
        }
        let logs_heap = module.allocators.is_some();
        self.heap.begin();
        let (checks, has_stack) = (module.checked.is_some(), module.checked.as_ref().is_some_and(|it| it.has_stack));
        self.accesses.begin();
        self.grows.clear();
        let mut height_max = 0;
        let mut operators = OperatorsReader::new(reader);
        while !operators.eof() {
            let at = operators.original_position();
            let operator = operators.read()?;
            if covers {
                self.edges.before(&operator, &validator);
            }
            if module.profile || module.positions {
                self.counts.before(&operator, &validator);
            }
            let reachable = validator.get_control_frame(0).is_some_and(|frame| !frame.unreachable);
            validator.op(at, &operator)?;
            height_max = height_max.max(validator.operand_stack_height());
            // A vector that was pushed alone is on top now. Those that come in a group are found
            // through the module's types.
            vectors |= validator.get_operand_type(0) == Some(Some(ValType::V128));
            let span = offset_u32(at)..offset_u32(operators.original_position());
            self.depth.operator(&operator, span.clone());
            module.merges &= !names_segment(&operator);
            self.cost.operator(&operator, &validator, module);
            // At each operator, so that the validator's own stack stays as small.
            self.cost.check(range.start, component.len())?;
            if covers {
                self.edges.operator(&operator, span.clone(), &validator);
            }
            if module.profile || module.positions {
                self.counts.operator(&operator, span.clone(), module);
            }
            if module.stores && reachable {
                let store = access_of(&operator).filter(|(.., writes)| *writes);
                let store = store.and_then(|(below, bytes, argument, _)| Some((below?, bytes, argument)));
                self.stores.operator(&operator, span.start, store);
            }
            if module.fallible.is_some() && matches!(operator, Operator::MemoryGrow { mem: 0 }) {
                self.grows.push(span.start);
            }
            if checks {
                self.accesses.operator(&operator, span.clone(), reachable, has_stack);
            }
            if logs_heap {
                self.heap.operator(&operator, span.clone(), module);
            }
            if module.comparisons && reachable {
                self.compare.operator(&operator, &span);
            }
            if module.marks {
                if let Operator::RefFunc { function_index } = operator {
                    module.note_reference(function_index);
                }
                let base = validator.get_control_frame(0).map_or(0, |frame| offset_u32(frame.height));
                self.marks.operator(&operator, span, base..validator.operand_stack_height(), reachable, module);
            }
        }
        operators.finish()?;
        let facts = BodyFacts {
            spans: BodySpans {
                start: offset_u32(range.start),
                locals: offset_u32(locals_start)..offset_u32(operators_start),
                locals_count,
                operators: offset_u32(operators_start)..offset_u32(range.end),
            },
            locals_slots,
            operands_slots: height_max.saturating_mul(if vectors { 2 } else { 1 }),
        };

        self.edits.reset(validator.len_locals());
        self.allocations = validator.into_allocations();
        if let Some((role, params)) = module.fallible_function(index) {
            let (start, places) = (facts.spans.operators.start, module.request_places()?);
            let wrapper = module.helper(Helper::Fallible { function: index, params, role })?;
            // It asks before anything else is done.
            self.edits.insert(start, EditPosition::First, start, SegmentKind::Injected, |code| {
                memory_faults::divert(places, params, wrapper, code);
            });
        }
        if !self.grows.is_empty() {
            // The places are there, whether or not an allocator is.
            module.request_places()?;
            let helper = module.helper(Helper::AskGrowth)?;
            for at in &self.grows {
                self.edits.insert(*at, EditPosition::Before, *at, SegmentKind::Injected, |code| {
                    code.call(helper);
                });
            }
        }
        if let Some(helper) = module.taking_globals(index)? {
            let (start, memory_index) = (facts.spans.operators.start, module.side_memory);
            self.edits.insert(start, EditPosition::Entry, start, SegmentKind::Injected, |code| {
                let pending = MemArg { offset: u64::from(HEADER_PENDING_AT), align: 2, memory_index };
                code.i32_const(0).i32_load(pending).if_(BlockType::Empty).call(helper).end();
            });
        }
        let allocator = match module.allocator_role(index) {
            Some(role) => Some((role, self.heap.leave(role, facts.spans.operators.end, module, &mut self.edits)?)),
            None => None,
        };
        let has_zone = module.checked.as_ref().is_some_and(|checked| self.accesses.has_frame(index, checked));
        if has_zone {
            let shadow = Shadow { memory: module.shadow_memory };
            self.accesses.frame(&facts.spans.operators, shadow, &mut self.edits);
        }
        // A frame around the body makes all its ways out one.
        if module.depth && self.depth.counts(&facts) || allocator.is_some() || has_zone {
            let depth = module.depth_global()?;
            let results = module.block_type(ty)?;
            let deepest = (covers && module.recursive.contains(&index)).then(|| {
                let at = MemArg { offset: HEADER_DEEPEST_AT.into(), align: 2, memory_index: module.side_memory };
                DeepestCall { at, stack_slots: module.stack_slots }
            });
            self.depth.finish(&facts, depth, results, deepest, &mut self.edits);
        }
        if checks {
            self.check_accesses(index, facts.spans.operators.start, module)?;
        }
        if covers {
            self.edges.finish(&facts.spans, index, module, &mut self.sites, &mut self.edits)?;
        }
        let node = match module.profile {
            true => {
                let start = facts.spans.operators.start;
                Some(self.counts.finish(index, start, module, &mut self.profile, &mut self.edits)?)
            }
            false => None,
        };
        if let Some(wrapped) = module.checked_function(index) {
            let (start, shadow) = (facts.spans.operators.start, Shadow { memory: module.shadow_memory });
            let (params, results) = (wrapped.params, wrapped.results);
            let wrapper = module.helper(Helper::Wrapper { function: index, params, results })?;
            // A log has the blocks that the program asks for, and not those of the wrapper, which are longer and are freed later.
            let logged = node.as_ref().zip(allocator);
            self.edits.insert(start, EditPosition::First, start, SegmentKind::Injected, |code| {
                wrappers::divert(shadow, code, |code| {
                    if let Some((node, (role, locals))) = logged {
                        node.enter(code);
                        locals.enter(role, code);
                    }
                    for param in 0..params {
                        code.local_get(param);
                    }
                    code.call(wrapper);
                    if let Some((node, (role, locals))) = logged {
                        // The wrapper has called functions, too.
                        node.name(code);
                        locals.log_result(role, code);
                    }
                });
            });
        }
        if module.positions {
            let (start, end) = (facts.spans.operators.start, facts.spans.operators.end);
            let code = StopCode { memory: module.side_memory, helper: module.helper(Helper::Stop)? };
            let function = (module.ordinal(), index);
            self.positions.add(function, start..end, self.counts.counted_segments(), code, &mut self.edits);
            // Addresses of 64 bits are not watched.
            if !self.stores.is_empty() && module.has_memory32() {
                self.stores.finish(StopCode { helper: module.helper(Helper::Watched)?, ..code }, &mut self.edits);
            }
        }
        if logs_heap {
            let (start, memory) = (facts.spans.operators.start, module.side_memory);
            self.heap.finish(allocator, start, self.counts.landings(), memory, &mut self.edits);
            if let Some(stack) = module.noted_stores(index) {
                self.heap.note_stores(stack, module, &mut self.edits)?;
            }
        }
        if module.comparisons {
            let start = facts.spans.operators.start;
            self.compare.finish(index, start, module, &mut self.comparisons, &mut self.edits)?;
        }
        if module.marks {
            self.marks.finish(module, &mut self.edits)?;
        }
        self.edits.apply(component, &facts.spans, &mut self.written);
        for (what, found, limit) in [
            ("locals", self.edits.locals() as usize, LOCALS_MAX as usize),
            ("bytes in a function", self.written.bytes.len(), BODY_BYTES_MAX),
        ] {
            if found > limit {
                let (found, limit) = (found as u64, limit as u64);
                return Err(Error::NoRoom { offset: range.start, what, found, limit });
            }
        }
        offset_u32(self.written.bytes.len()).encode(&mut module.code);
        self.written.add_to(&mut module.segments, module.code.len());
        module.code.extend_from_slice(&self.written.bytes);
        module.check_segments(range.start)
    }

    /// Asks for the looks at accesses.
    fn check_accesses(&mut self, index: u32, start: u32, module: &mut ModuleRewriter<'_>) -> Result<(), Error> {
        let needs = self.accesses.needs();
        if needs.grow {
            self.accesses.grow(module.helper(Helper::CheckedGrow)?, &mut self.edits);
        }
        if module.checked_function(index).is_some() {
            return Ok(());
        }
        let special = module.special(index);
        let copies = special == Some(SpecialFunction::CopiesMemory) && module.has_words(index, 3);
        let mut helpers = AccessHelpers::default();
        if copies {
            helpers.overlap = Some(module.helper(Helper::CheckOverlap)?);
        }
        for (is_needed, place, helper) in [
            (needs.access, &mut helpers.access, Helper::CheckAccess),
            (needs.copy, &mut helpers.copy, Helper::CheckCopy),
            (needs.fill, &mut helpers.fill, Helper::CheckFill),
        ] {
            if is_needed {
                *place = module.helper(helper)?;
            }
        }
        let shadow = Shadow { memory: module.shadow_memory };
        self.accesses.finish(start, special, shadow, &helpers, &mut self.edits);
        Ok(())
    }
}
