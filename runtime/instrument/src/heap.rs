//! Allocations and frees of the program, logged by the program itself with the path of calls that makes them.
//!
//! ```text
//! side memory   … tree of calls (`profile.rs`) │ header │ last values of the globals │ notes of stores │ events
//! event         node of the call and kind │ address │ bytes │ address before
//! mark          kind │ flow
//! ```
//!
//! Functions of the allocator ([`crate::Allocators`]) log what they return or free when they are the outermost one that is open, so that
//! each block is logged once, whatever layers it goes through. An allocation is logged when it returns, a free when it is entered.
//!
//! What allocators store outside of blocks is their own, and no pointer of the program: `dlmalloc` has the address behind the last block
//! in a static, which often is within that block. Their stores of words are noted, by address ([`HeapLog::is_allocators`]).
//!
//! Invariants: the log is in the order in which things happened; where its memory ends, further events are counted and not kept.
//! A program cannot see any of it. A run that ends inside of an allocator has not allocated.
//!
//! Not here: which blocks are in use (`fozzy-engine`); a tail call from an allocator to what is none.

use crate::Error;
use crate::allocators::AllocatorRole;
use crate::edit::{EditPosition, Edits};
use crate::helpers::Helper;
use crate::map::SegmentKind;
use crate::module::ModuleRewriter;
use crate::profile::PROFILE_BYTES;
use std::ops::Range;
use wasm_encoder::{BlockType, Function, InstructionSink, MemArg};
use wasmparser::Operator;

/// How many allocators are open (u32).
const DEPTH_AT: u32 = PROFILE_BYTES;
/// Bytes of events (u32).
const END_AT: u32 = PROFILE_BYTES + 4;
/// Events that were not kept (u64).
const LOST_AT: u32 = PROFILE_BYTES + 8;
/// The lowest value of the first global, which is the stack pointer where a program has one; all bits turned round (u32).
const LOWEST_AT: u32 = PROFILE_BYTES + 16;
/// Last values of globals of 32 bits, by index (u32).
const GLOBALS_AT: u32 = PROFILE_BYTES + 64;
/// Globals whose values are kept: more than any program of a compiler has.
const GLOBALS_MAX: u32 = 4096;
/// Which words allocators have stored, a bit for each.
const NOTES_AT: u32 = GLOBALS_AT + 4 * GLOBALS_MAX;
/// Up to this address words are noted: further on, no program of a compiler has statics.
const NOTED_BYTES: u32 = 64 << 20;
/// Bytes of memory that a byte of notes stands for.
const NOTED_BITS: u32 = 5;
const LOG_AT: u32 = NOTES_AT + (NOTED_BYTES >> NOTED_BITS);

/// Bytes of the events: fifty million of them. Only pages that are used cost memory.
const LOG_BYTES: u32 = 768 << 20;
const EVENT_BYTES: u32 = 16;

/// Bytes of the side memory of a module.
pub(crate) const HEAP_BYTES: u32 = LOG_AT + LOG_BYTES + ((1 << 16) - LOG_AT % (1 << 16));

/// In an event, beside the node.
const KINDS: u32 = 7;
const ALLOCATED: i32 = 1;
const FREED: i32 = 2;
const REALLOCATED: i32 = 3;
const REALLOCATED_UNLESS_ZERO: i32 = 4;
const COLLECTED: i32 = 5;
/// Of the host, between what the program logs: which flow of a scenario begins.
const FLOW: u32 = 6;
const NO_FLOW: u32 = u32::MAX;

/// Bytes below the lowest stack pointer that functions without calls may have used (the red zone of LLVM).
const RED_ZONE: u32 = 128;

/// What an allocator did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeapEventKind {
    /// A block is there; at 0, it could not be had.
    Allocated {
        /// Where.
        address: u32,
        /// Its size.
        bytes: u32,
    },
    /// A block of a collector is there, whose end will not be seen.
    Collected {
        /// Its size.
        bytes: u32,
    },
    /// A block is gone; 0 is none.
    Freed {
        /// Where it was.
        address: u32,
    },
    /// A block is another one now.
    Reallocated {
        /// Where it was; 0 when there was none.
        before: u32,
        /// Where it is; 0 when it could not be had, and the one before stays.
        address: u32,
        /// Its size.
        bytes: u32,
        /// With a size of 0, there is none.
        is_nothing_at_zero: bool,
    },
    /// From here on, this flow of the scenario runs.
    Flow(Option<u32>),
}

/// An event with the node of the call that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeapEvent {
    /// The function of the allocator, as a position in [`crate::ModuleProfile::nodes`].
    pub node: Option<usize>,
    /// What it did.
    pub kind: HeapEventKind,
}

/// The log of an instance of a module.
#[derive(Clone, Copy, Debug)]
pub struct HeapLog<'m> {
    memory: &'m [u8],
}

impl<'m> HeapLog<'m> {
    /// The log in the side memory of an instance; `None` in a build that has none.
    #[must_use]
    pub fn of(memory: &'m [u8]) -> Option<HeapLog<'m>> {
        (memory.len() >= HEAP_BYTES as usize).then_some(HeapLog { memory })
    }

    fn word(self, at: u32) -> u32 {
        let at = at as usize;
        self.memory.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
    }

    /// How many bytes memories of logs have.
    pub const BYTES: usize = HEAP_BYTES as usize;

    /// What the host writes into a log that a program has now, and where, so that what follows belongs to a flow: one mark, that of a flow
    /// in which nothing was logged is replaced. `None` when there is no room.
    #[must_use]
    pub fn mark(self, flow: Option<u32>) -> Option<[(usize, Vec<u8>); 2]> {
        let end = self.word(END_AT);
        let last = end.checked_sub(EVENT_BYTES).filter(|last| self.word(LOG_AT + last) & KINDS == FLOW);
        let at = last.unwrap_or(end);
        let words = [FLOW, flow.unwrap_or(NO_FLOW), 0, 0];
        let event = words.into_iter().flat_map(u32::to_le_bytes).collect();
        let room = at <= LOG_BYTES - EVENT_BYTES;
        room.then(|| [((LOG_AT + at) as usize, event), (END_AT as usize, (at + EVENT_BYTES).to_le_bytes().to_vec())])
    }

    /// Events that were not kept.
    #[must_use]
    pub fn lost(self) -> u64 {
        u64::from(self.word(LOST_AT)) | u64::from(self.word(LOST_AT + 4)) << 32
    }

    /// All events. `position` finds nodes.
    pub fn events<'f>(self, position: impl Fn(u32) -> Option<usize> + 'f) -> impl Iterator<Item = HeapEvent> + 'f
    where
        'm: 'f,
    {
        let count = self.word(END_AT).min(LOG_BYTES) / EVENT_BYTES;
        (0..count).filter_map(move |event| {
            let at = LOG_AT + event * EVENT_BYTES;
            let [tagged, address, bytes, before] = [0, 4, 8, 12].map(|field| self.word(at + field));
            if tagged == FLOW {
                let flow = (address != NO_FLOW).then_some(address);
                return Some(HeapEvent { node: None, kind: HeapEventKind::Flow(flow) });
            }
            let kind = match (tagged & KINDS).cast_signed() {
                ALLOCATED => HeapEventKind::Allocated { address, bytes },
                COLLECTED => HeapEventKind::Collected { bytes },
                FREED => HeapEventKind::Freed { address },
                kind @ (REALLOCATED | REALLOCATED_UNLESS_ZERO) => {
                    let is_nothing_at_zero = kind == REALLOCATED_UNLESS_ZERO;
                    HeapEventKind::Reallocated { before, address, bytes, is_nothing_at_zero }
                }
                _ => return None,
            };
            Some(HeapEvent { node: position(tagged & !KINDS), kind })
        })
    }

    /// Last values of the globals; 0 where a global was never set.
    pub fn globals(self) -> impl Iterator<Item = u32> + 'm {
        (0..GLOBALS_MAX).map(move |index| self.word(GLOBALS_AT + 4 * index))
    }

    /// Whether an allocator has stored the word at this address, which is outside of the stack.
    #[must_use]
    pub fn is_allocators(self, address: u32) -> bool {
        let note = self.memory.get((NOTES_AT + (address >> NOTED_BITS)) as usize);
        address < NOTED_BYTES && note.is_some_and(|note| note >> (address >> 2 & 7) & 1 == 1)
    }

    /// What the stack does not hold any more, where the first global is its pointer.
    #[must_use]
    pub fn unused_stack(self) -> Range<u32> {
        let (last, lowest) = (self.word(GLOBALS_AT), !self.word(LOWEST_AT));
        if lowest >= last { last..last } else { lowest.saturating_sub(RED_ZONE)..last }
    }
}

/// The pass, over one function body after the other.
#[derive(Debug, Default)]
pub(crate) struct HeapPass {
    /// Where globals are set.
    sets: Vec<(Range<u32>, u32)>,
    tail_calls: Vec<u32>,
    /// Stores of words: where, of 64 bits, and their offset.
    stores: Vec<(u32, bool, u32)>,
}

impl HeapPass {
    /// Starts a function body.
    pub(crate) fn begin(&mut self) {
        self.sets.clear();
        self.tail_calls.clear();
        self.stores.clear();
    }

    /// Takes note of the operator that stands in `span`.
    pub(crate) fn operator(&mut self, operator: &Operator<'_>, span: Range<u32>, module: &ModuleRewriter<'_>) {
        match operator {
            Operator::GlobalSet { global_index } if module.is_word(*global_index) && *global_index < GLOBALS_MAX => {
                self.sets.push((span, *global_index));
            }
            Operator::ReturnCall { .. } | Operator::ReturnCallIndirect { .. } | Operator::ReturnCallRef { .. } => {
                self.tail_calls.push(span.start);
            }
            Operator::I32Store { memarg } | Operator::I64Store { memarg } if memarg.memory == 0 => {
                let is_long = matches!(operator, Operator::I64Store { .. });
                self.stores.extend(u32::try_from(memarg.offset).map(|offset| (span.start, is_long, offset)));
            }
            _ => {}
        }
    }

    /// Asks for the edits at the exits of a function: before all others, since they find its results. To be called for functions of
    /// the allocator alone.
    pub(crate) fn leave(
        &self,
        role: AllocatorRole,
        end: u32,
        module: &mut ModuleRewriter<'_>,
        edits: &mut Edits,
    ) -> Result<AllocatorLocals, Error> {
        let event = module.helper(Helper::HeapEvent)?;
        let locals = AllocatorLocals {
            memory: module.side_memory,
            event,
            outer: edits.local_i32(),
            result: edits.local_i32(),
            arguments: [0; ARGUMENTS].map(|_| edits.local_i32()),
        };
        edits.insert(end, EditPosition::After, end - 1, SegmentKind::Injected, |sink| locals.log_result(role, sink));
        for at in &self.tail_calls {
            edits.insert(*at, EditPosition::Before, *at, SegmentKind::Injected, |sink| locals.restore(sink));
        }
        Ok(locals)
    }

    /// Asks for notes of all stores of words; `stack` is where the stack begins.
    pub(crate) fn note_stores(
        &self,
        stack: i32,
        module: &mut ModuleRewriter<'_>,
        edits: &mut Edits,
    ) -> Result<(), Error> {
        for &(at, is_long, offset) in &self.stores {
            let helper = module.helper(Helper::NoteStore { is_long, stack })?;
            edits.insert(at, EditPosition::Before, at, SegmentKind::Injected, |sink| {
                sink.i32_const(offset.cast_signed()).call(helper);
            });
        }
        Ok(())
    }

    /// Asks for all other edits of a function whose operators start at `start`. `landings` are where exceptions arrive.
    pub(crate) fn finish(
        &self,
        allocator: Option<(AllocatorRole, AllocatorLocals)>,
        start: u32,
        landings: &[(u32, u32)],
        memory: u32,
        edits: &mut Edits,
    ) {
        if let Some((role, locals)) = allocator {
            edits.insert(start, EditPosition::Entry, start, SegmentKind::Injected, |sink| locals.enter(role, sink));
        }
        let depth = MemArg { offset: u64::from(DEPTH_AT), align: 2, memory_index: memory };
        if !landings.is_empty() {
            let open = edits.local_i32();
            edits.insert(start, EditPosition::Entry, start, SegmentKind::Injected, |sink| {
                sink.i32_const(0).i32_load(depth).local_set(open);
            });
            for &(at, anchor) in landings {
                edits.insert(at, EditPosition::After, anchor, SegmentKind::Injected, |sink| {
                    sink.i32_const(0).local_get(open).i32_store(depth);
                });
            }
        }
        let turned = self.sets.iter().any(|(_, global)| *global == 0).then(|| edits.local_i32());
        for (span, global) in &self.sets {
            edits.insert(span.end, EditPosition::After, span.start, SegmentKind::Injected, |sink| {
                let at = |offset: u32| MemArg { offset: u64::from(offset), align: 2, memory_index: memory };
                sink.i32_const(0).global_get(*global).i32_store(at(GLOBALS_AT + 4 * global));
                if let Some(turned) = turned.filter(|_| *global == 0) {
                    sink.global_get(0).i32_const(-1).i32_xor().local_tee(turned);
                    sink.i32_const(0).i32_load(at(LOWEST_AT)).i32_gt_u().if_(BlockType::Empty);
                    sink.i32_const(0).local_get(turned).i32_store(at(LOWEST_AT)).end();
                }
            });
        }
    }
}

/// Parameters that are kept.
const ARGUMENTS: usize = 4;

/// What put-in code of a function of the allocator works with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AllocatorLocals {
    memory: u32,
    event: u32,
    /// How many allocators were open when it was entered.
    outer: u32,
    result: u32,
    /// Its first parameters, which it may change.
    arguments: [u32; ARGUMENTS],
}

impl AllocatorLocals {
    fn depth(&self) -> MemArg {
        MemArg { offset: u64::from(DEPTH_AT), align: 2, memory_index: self.memory }
    }

    fn restore(&self, sink: &mut InstructionSink<'_>) {
        sink.i32_const(0).local_get(self.outer).i32_store(self.depth());
    }

    fn argument(&self, index: u32) -> u32 {
        self.arguments[index as usize]
    }

    /// `[] -> []`: what is done when it is entered.
    pub(crate) fn enter(&self, role: AllocatorRole, sink: &mut InstructionSink<'_>) {
        sink.i32_const(0).i32_load(self.depth()).local_set(self.outer);
        sink.i32_const(0).local_get(self.outer).i32_const(1).i32_add().i32_store(self.depth());
        let kept: &[u32] = match &role {
            AllocatorRole::Allocate { size, count: Some(count) } => &[*size, *count],
            AllocatorRole::Allocate { size, count: None } | AllocatorRole::AllocateCollected { size } => &[*size],
            AllocatorRole::AllocateInto { size } => &[0, *size],
            AllocatorRole::Reallocate { address, size, .. } => &[*address, *size],
            AllocatorRole::Free { .. } | AllocatorRole::GoAllocate => &[],
        };
        for index in kept {
            sink.local_get(*index).local_set(self.argument(*index));
        }
        match role {
            AllocatorRole::Free { address } => {
                sink.local_get(self.outer).i32_eqz().if_(BlockType::Empty);
                sink.i32_const(FREED).local_get(address).i32_const(0).i32_const(0).call(self.event).end();
            }
            // Go enters a function again, at another place of it, when it was suspended there; its parameter is the place.
            AllocatorRole::GoAllocate => {
                let size = MemArg { offset: GO_ARGUMENTS, align: 2, memory_index: 0 };
                sink.local_get(self.outer).local_get(0).i32_or().i32_eqz().if_(BlockType::Empty);
                sink.i32_const(COLLECTED).i32_const(0).global_get(0).i32_load(size).i32_const(0).call(self.event);
                sink.end();
            }
            _ => {}
        }
    }

    /// `[results] -> [results]`
    pub(crate) fn log_result(&self, role: AllocatorRole, sink: &mut InstructionSink<'_>) {
        let returns = !matches!(role, AllocatorRole::Free { .. });
        if returns {
            sink.local_set(self.result);
        }
        if !matches!(role, AllocatorRole::Free { .. } | AllocatorRole::GoAllocate) {
            sink.local_get(self.outer).i32_eqz().if_(BlockType::Empty);
            self.log(role, sink);
            sink.end();
        }
        self.restore(sink);
        if returns {
            sink.local_get(self.result);
        }
    }

    fn log(&self, role: AllocatorRole, sink: &mut InstructionSink<'_>) {
        match role {
            AllocatorRole::Allocate { size, count } => {
                sink.i32_const(ALLOCATED).local_get(self.result).local_get(self.argument(size));
                if let Some(count) = count {
                    sink.local_get(self.argument(count)).i32_mul();
                }
                sink.i32_const(0).call(self.event);
            }
            AllocatorRole::AllocateCollected { size } => {
                sink.i32_const(COLLECTED).i32_const(0).local_get(self.argument(size)).i32_const(0).call(self.event);
            }
            AllocatorRole::AllocateInto { size } => {
                let written = MemArg { offset: 0, align: 0, memory_index: 0 };
                sink.i32_const(ALLOCATED);
                sink.local_get(self.result).if_(BlockType::Result(wasm_encoder::ValType::I32)).i32_const(0).else_();
                sink.local_get(self.argument(0)).i32_load(written).end();
                sink.local_get(self.argument(size)).i32_const(0).call(self.event);
            }
            AllocatorRole::Reallocate { address, size, is_nothing_at_zero } => {
                let kind = if is_nothing_at_zero { REALLOCATED_UNLESS_ZERO } else { REALLOCATED };
                sink.i32_const(kind).local_get(self.result).local_get(self.argument(size));
                sink.local_get(self.argument(address)).call(self.event);
            }
            AllocatorRole::Free { .. } | AllocatorRole::GoAllocate => {}
        }
    }
}

/// Where the first parameter is, from what Go's stack pointer points to: behind the return address.
/// <https://github.com/golang/go/blob/master/src/cmd/internal/obj/wasm/wasmobj.go>
const GO_ARGUMENTS: u64 = 8;

/// `(kind, address, bytes, address before)`: appends an event, with the node that runs.
pub(crate) fn heap_event(memory: u32, current: u32) -> Function {
    const KIND: u32 = 0;
    const END: u32 = 4;
    let at = |offset: u32, align| MemArg { offset: u64::from(offset), align, memory_index: memory };
    let mut function = Function::new([(1, wasm_encoder::ValType::I32)]);
    let mut code = function.instructions();
    code.i32_const(0).i32_load(at(END_AT, 2)).local_tee(END);
    code.i32_const((LOG_BYTES - EVENT_BYTES).cast_signed()).i32_gt_u().if_(BlockType::Empty);
    code.i32_const(0).i32_const(0).i64_load(at(LOST_AT, 3)).i64_const(1).i64_add().i64_store(at(LOST_AT, 3));
    code.return_().end();
    code.local_get(END).i32_const(0).i32_load(at(current, 2)).local_get(KIND).i32_or().i32_store(at(LOG_AT, 2));
    for (argument, field) in [(1, 4), (2, 8), (3, 12)] {
        code.local_get(END).local_get(argument).i32_store(at(LOG_AT + field, 2));
    }
    code.i32_const(0).local_get(END).i32_const(EVENT_BYTES.cast_signed()).i32_add().i32_store(at(END_AT, 2));
    code.end();
    function
}

/// `(address, value, offset) -> (address, value)`: notes a store of the allocator, unless it goes to the stack, which is between the first
/// global and where that began. An address that is too high is left out: it has no note, or the store traps.
pub(crate) fn note_store(memory: u32, is_long: bool, stack: i32) -> Function {
    const ADDRESS: u32 = 0;
    const VALUE: u32 = 1;
    const AT: u32 = 2;
    let mut function = Function::new([]);
    let mut code = function.instructions();
    let note = MemArg { offset: u64::from(NOTES_AT), align: 0, memory_index: memory };
    code.block(BlockType::Empty);
    code.local_get(ADDRESS).local_get(AT).i32_add().local_set(AT);
    code.local_get(AT).global_get(0).i32_ge_u().local_get(AT).i32_const(stack).i32_lt_u().i32_and().br_if(0);
    for word in 0..=i32::from(is_long) {
        code.local_get(AT).i32_const(4 * word).i32_add().local_tee(AT);
        code.i32_const(NOTED_BYTES.cast_signed()).i32_ge_u().br_if(0);
        let byte = |code: &mut InstructionSink<'_>| {
            code.local_get(AT).i32_const(NOTED_BITS.cast_signed()).i32_shr_u();
        };
        byte(&mut code);
        byte(&mut code);
        code.i32_load8_u(note).i32_const(1);
        code.local_get(AT).i32_const(2).i32_shr_u().i32_const(7).i32_and().i32_shl().i32_or().i32_store8(note);
    }
    code.end().local_get(ADDRESS).local_get(VALUE).end();
    function
}

/// Pages of wasm, and addresses that are positive numbers.
const _: () = assert!(HEAP_BYTES.is_multiple_of(1 << 16) && HEAP_BYTES < 1 << 31);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Options, instrument};

    #[test]
    fn what_is_written_is_valid_for_every_role_and_way_out() {
        let text = r#"(component (core module (memory 1) (global $sp (mut i32) (i32.const 9)) (tag $t)
            (func $malloc (param i32) (result i32) local.get 0 if i32.const 1 return end i32.const 8 local.set 0 local.get 0)
            (func $dlmalloc (param i32) (result i32) local.get 0 return_call $malloc)
            (func $calloc (param i32 i32) (result i32) i32.const 64 global.set $sp unreachable)
            (func $realloc (param i32 i32) (result i32) i32.const 1 call $malloc)
            (func $posix_memalign (param i32 i32 i32) (result i32) i32.const 0)
            (func $free (param i32) block try_table (catch $t 0) local.get 0 call $dlfree end end)
            (func $dlfree (param i32) (local i64) throw $t)
            (func $runtime.mallocgc (param i32) (result i32) i32.const 0)
            (func $runtime.alloc (param i32 i32) (result i32) i32.const 0)
            (func $cabi_realloc (param i32 i32 i32 i32) (result i32) i32.const 0)))"#;
        let component = wat::parse_str(text).expect("text");
        let options = Options { profile: true, heap: Some(Vec::new()), ..Options::default() };
        let found = instrument(&component, &options).expect("it is a component");
        let mut validator = wasmparser::Validator::new_with_features(crate::features());
        validator.validate_all(&found.component).expect("what is put in is valid");
        assert_eq!(found.side_memories[0].bytes, HEAP_BYTES);
        let without = instrument(&component, &Options { profile: true, ..Options::default() }).expect("it is one");
        assert!(without.component.len() < found.component.len());
    }

    #[test]
    fn what_is_no_log_has_no_events() {
        assert!(HeapLog::of(&[0; 64]).is_none());
        let memory = vec![0; HEAP_BYTES as usize];
        let log = HeapLog::of(&memory).expect("as long as a log is");
        assert!(log.events(|_| None).next().is_none() && log.unused_stack().is_empty());
    }

    #[test]
    fn a_flow_in_which_nothing_is_logged_leaves_no_mark() {
        let mut memory = vec![0; HEAP_BYTES as usize];
        let mut mark = |flow| {
            let log = HeapLog { memory: &memory };
            for (at, bytes) in log.mark(flow).expect("there is room") {
                memory[at..at + bytes.len()].copy_from_slice(&bytes);
            }
            let events = HeapLog { memory: &memory }.events(|_| None).map(|event| event.kind);
            events.collect::<Vec<_>>()
        };
        assert_eq!(mark(Some(0)), [HeapEventKind::Flow(Some(0))]);
        assert_eq!(mark(Some(7)), [HeapEventKind::Flow(Some(7))]);
        assert_eq!(mark(None), [HeapEventKind::Flow(None)]);
        memory[END_AT as usize..][..4].copy_from_slice(&LOG_BYTES.to_le_bytes());
        assert!(HeapLog { memory: &memory }.mark(Some(1)).is_none());
    }
}
