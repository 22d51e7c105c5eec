//! Where a run is: a count of the instructions that it has executed, kept by the program itself, for a debugger.
//!
//! ```text
//! memory   left (i64) │ start of what is watched (i64) │ its bytes (i64)           one for all instances of a run
//!
//! before        after
//!   a b c         left -= 3   if left < 0  call stop(this segment)   a b c
//!   store v       if what is watched is written there  call watched  store v       (with Options::stores)
//! ```
//!
//! Segments and what counts are those of profiles (`profile.rs`): a segment is left only at its end, and counted where it begins. So the host
//! that has set `left` knows how many instructions were executed before any operator of a segment, and has the program stop in front
//! of any one: `stop` does nothing, and is where a breakpoint is.
//!
//! The memory has pages of one byte, which no program has, as the rewriter accepts none: by that the engine knows it, and gives all
//! modules of all guests the same bytes. So the count is one for the whole run, in the order in which its instructions were executed.
//!
//! Invariants: what is put in is never counted and never traps, and the program cannot see any of it. Equal runs have equal counts.
//! Not here: breakpoints and stacks (`fozzy-engine`). Stores of the host are not looked at.

use crate::edit::{EditPosition, Edits};
use crate::map::{ModuleOrdinal, OriginalOffset, SegmentKind};
use std::collections::BTreeMap;
use std::ops::Range;
use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, MemoryType, ValType};
use wasmparser::{MemArg as MemArgument, Operator};

/// Bytes of the memory.
pub const POSITION_BYTES: usize = 4096;

/// What stands in that memory, little-endian.
#[derive(Clone, Copy, Debug)]
pub struct PositionMemory;

impl PositionMemory {
    /// How many instructions may be executed before the program stops (i64).
    pub const LEFT_AT: usize = 0;
    /// The first address that is watched (i64).
    pub const WATCHED_AT: usize = 8;
    /// How many bytes are (i64); the address of nothing is [`PositionMemory::NOTHING`].
    pub const WATCHED_BYTES_AT: usize = 16;
    /// An address that nothing has.
    pub const NOTHING: u64 = 1 << 40;
}

/// Where the programs of a component can be stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionSites {
    modules: BTreeMap<ModuleOrdinal, ModulePositions>,
}

/// The same of one module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModulePositions {
    /// Operators of each segment, by the number that the program names it by. They ascend over all segments.
    segments: Vec<Vec<OriginalOffset>>,
    /// Where the operators of functions are, by index.
    functions: BTreeMap<u32, FunctionPositions>,
}

/// The same of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FunctionPositions {
    /// Where its operators are.
    span: Range<OriginalOffset>,
    /// Its parameters and locals.
    locals: u32,
}

impl PositionSites {
    /// Those of a module.
    #[must_use]
    pub fn module(&self, module: ModuleOrdinal) -> Option<&ModulePositions> {
        self.modules.get(&module)
    }

    /// All modules.
    pub fn modules(&self) -> impl Iterator<Item = (ModuleOrdinal, &ModulePositions)> {
        self.modules.iter().map(|(module, positions)| (*module, positions))
    }

    /// Takes note of a function whose operators stand in `span`, and asks for its edits.
    pub(crate) fn add<'s>(
        &mut self,
        (module, index): (ModuleOrdinal, u32),
        span: Range<u32>,
        segments: impl Iterator<Item = (u32, u32, &'s [u32])>,
        code: StopCode,
        edits: &mut Edits,
    ) {
        let positions = self.modules.entry(module).or_default();
        let (from, to) = (OriginalOffset(span.start), OriginalOffset(span.end));
        positions.functions.insert(index, FunctionPositions { span: from..to, locals: edits.own_locals() });
        let left = MemArg { offset: PositionMemory::LEFT_AT as u64, align: 3, memory_index: code.memory };
        let mut local = None;
        for (at, anchor, operators) in segments {
            let rest = *local.get_or_insert_with(|| edits.local(ValType::I64));
            let (number, count) = (positions.segments.len(), operators.len() as i64);
            let number = i32::try_from(number).expect("a component has fewer operators than bytes");
            let place = if at == span.start { EditPosition::Entry } else { EditPosition::After };
            edits.insert(at, place, anchor, SegmentKind::Injected, |sink| {
                sink.i32_const(0)
                    .i32_const(0)
                    .i64_load(left)
                    .i64_const(count)
                    .i64_sub()
                    .local_tee(rest)
                    .i64_store(left);
                sink.local_get(rest).i64_const(0).i64_lt_s().if_(BlockType::Empty);
                sink.i32_const(number).call(code.helper).end();
            });
            positions.segments.push(operators.iter().copied().map(OriginalOffset).collect());
        }
    }
}

impl ModulePositions {
    /// The operators of a segment.
    #[must_use]
    pub fn segment(&self, number: u32) -> Option<&[OriginalOffset]> {
        self.segments.get(number as usize).map(Vec::as_slice)
    }

    /// The segment of the first counted operator at `offset` or behind it in the same segment, and its position there. Behind the last one of a
    /// segment, that is how many there are.
    #[must_use]
    pub fn locate(&self, offset: OriginalOffset) -> Option<(u32, usize)> {
        let after = self.segments.partition_point(|segment| segment.first().is_some_and(|first| *first <= offset));
        let number = after.checked_sub(1)?;
        let inside = self.segments[number].partition_point(|operator| *operator < offset);
        Some((u32::try_from(number).ok()?, inside))
    }

    /// The first counted operator at `offset` or behind it, in the same function.
    #[must_use]
    pub fn next_counted(&self, offset: OriginalOffset) -> Option<OriginalOffset> {
        let (number, inside) = match self.locate(offset) {
            Some((number, inside)) => (number as usize, inside),
            None => (0, 0),
        };
        let here = self.segments.get(number).and_then(|segment| segment.get(inside));
        let found = here.or_else(|| self.segments.get(number + 1).and_then(|segment| segment.first())).copied()?;
        let same = self.function_at(offset).is_none_or(|(_, span)| span.contains(&found));
        same.then_some(found)
    }

    /// Whether a counted operator stands at `offset`.
    #[must_use]
    pub fn is_counted(&self, offset: OriginalOffset) -> bool {
        self.next_counted(offset) == Some(offset)
    }

    /// Where the operators of a function are.
    #[must_use]
    pub fn function(&self, index: u32) -> Option<Range<OriginalOffset>> {
        self.functions.get(&index).map(|function| function.span.clone())
    }

    /// The function around `offset`.
    #[must_use]
    pub fn function_at(&self, offset: OriginalOffset) -> Option<(u32, Range<OriginalOffset>)> {
        let mut functions = self.functions.iter();
        let (index, function) = functions.find(|(_, function)| function.span.contains(&offset))?;
        Some((*index, function.span.clone()))
    }

    /// How many parameters and locals the function around `offset` has.
    #[must_use]
    pub fn locals_at(&self, offset: OriginalOffset) -> Option<u32> {
        let mut functions = self.functions.values();
        functions.find(|function| function.span.contains(&offset)).map(|function| function.locals)
    }

    /// The functions that have a body, by index.
    pub fn functions(&self) -> impl Iterator<Item = (u32, Range<OriginalOffset>)> {
        self.functions.iter().map(|(index, function)| (*index, function.span.clone()))
    }
}

/// Where the operator ends that stands at an offset of a component.
#[must_use]
pub fn operator_end(component: &[u8], at: OriginalOffset) -> Option<OriginalOffset> {
    let start = usize::try_from(at.0).ok()?;
    let mut reader = wasmparser::BinaryReader::new(component.get(start..)?, start);
    reader.set_features(crate::features());
    let mut operators = wasmparser::OperatorsReader::new(reader);
    operators.read().ok()?;
    Some(OriginalOffset(u32::try_from(operators.original_position()).ok()?))
}

/// The type of the memory.
pub(crate) fn memory() -> MemoryType {
    let size = POSITION_BYTES as u64;
    MemoryType { minimum: size, maximum: Some(size), memory64: false, shared: false, page_size_log2: Some(0) }
}

/// What is called where a program may stop.
pub(crate) fn stop() -> Function {
    let mut function = Function::new([]);
    function.instructions().nop().end();
    function
}

/// A place where memory 0 is written.
#[derive(Debug)]
enum StoreSite {
    /// The type of the value, how many bytes, how far from the address.
    Store(ValType, u32, u64),
    /// `(address, anything, bytes)`
    Bulk,
}

/// The pass that looks at stores, over one function body after the other.
#[derive(Debug, Default)]
pub(crate) struct StorePass {
    sites: Vec<(u32, StoreSite)>,
}

impl StorePass {
    /// Starts a function body.
    pub(crate) fn begin(&mut self) {
        self.sites.clear();
    }

    /// Takes note of the operator at `at`, which can be reached: a store of a value of this type, of so many bytes, if it is one.
    pub(crate) fn operator(&mut self, operator: &Operator<'_>, at: u32, store: Option<(ValType, u32, MemArgument)>) {
        let site = match operator {
            Operator::MemoryCopy { dst_mem: 0, src_mem: 0 }
            | Operator::MemoryFill { mem: 0 }
            | Operator::MemoryInit { mem: 0, .. } => Some(StoreSite::Bulk),
            _ => store
                .filter(|(_, _, argument)| argument.memory == 0)
                .map(|(ty, bytes, argument)| StoreSite::Store(ty, bytes, argument.offset)),
        };
        self.sites.extend(site.map(|site| (at, site)));
    }

    /// Whether the function has no store.
    pub(crate) fn is_empty(&self) -> bool {
        self.sites.is_empty()
    }

    /// Asks for the edits of a function.
    pub(crate) fn finish(&self, code: StopCode, edits: &mut Edits) {
        let mut values: Vec<(ValType, u32)> = Vec::new();
        let mut local = |ty: ValType, number: usize, edits: &mut Edits| {
            let mut known = values.iter().filter(|(of, _)| *of == ty).map(|(_, local)| *local);
            if let Some(local) = known.nth(number) {
                return local;
            }
            let local = edits.local(ty);
            values.push((ty, local));
            local
        };
        for (at, site) in &self.sites {
            match *site {
                StoreSite::Store(ty, bytes, offset) => {
                    let address = local(ValType::I32, 0, edits);
                    let value = local(ty, usize::from(ty == ValType::I32), edits);
                    edits.insert(*at, EditPosition::Before, *at, SegmentKind::Injected, |sink| {
                        sink.local_set(value).local_tee(address);
                        code.look(sink, address, offset, |sink| {
                            sink.i64_const(i64::from(bytes));
                        });
                        sink.local_get(value);
                    });
                }
                StoreSite::Bulk => {
                    let address = local(ValType::I32, 0, edits);
                    let source = local(ValType::I32, 1, edits);
                    let length = local(ValType::I32, 2, edits);
                    edits.insert(*at, EditPosition::Before, *at, SegmentKind::Injected, |sink| {
                        sink.local_set(length).local_set(source).local_tee(address);
                        code.look(sink, address, 0, |sink| {
                            sink.local_get(length).i64_extend_i32_u();
                        });
                        sink.local_get(source).local_get(length);
                    });
                }
            }
        }
    }
}

/// What put-in code works with.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopCode {
    /// The memory that it counts in.
    pub(crate) memory: u32,
    /// The function that it calls.
    pub(crate) helper: u32,
}

impl StopCode {
    fn at(&self, offset: usize) -> MemArg {
        MemArg { offset: offset as u64, align: 3, memory_index: self.memory }
    }

    /// Whether `bytes` from an address on overlap with what is watched: the one ends behind the beginning of the other, and begins before its end.
    fn look(
        &self,
        sink: &mut InstructionSink<'_>,
        address: u32,
        offset: u64,
        bytes: impl FnOnce(&mut InstructionSink<'_>),
    ) {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        let start = |sink: &mut InstructionSink<'_>| {
            sink.local_get(address).i64_extend_i32_u().i64_const(offset).i64_add();
        };
        start(sink);
        bytes(sink);
        sink.i64_add().i32_const(0).i64_load(self.at(PositionMemory::WATCHED_AT)).i64_gt_u();
        start(sink);
        sink.i32_const(0).i64_load(self.at(PositionMemory::WATCHED_AT));
        sink.i32_const(0).i64_load(self.at(PositionMemory::WATCHED_BYTES_AT)).i64_add().i64_lt_u();
        sink.i32_and().if_(BlockType::Empty).call(self.helper).end();
    }
}
