//! Counts of instructions by call path, kept by the program itself.
//!
//! ```text
//! side memory   header │ root list │ one spare node a function │ nodes, in the order of first calls
//! node          marker │ function │ parent │ via │ next │ target │ counters (u64) │ lists of callees, two a call site
//!
//! before        after
//! func          node = the callee of this name in the list that the caller named, or a new one    (prologue)
//!   a b c         node.counter0 += 1   a b c
//!   call g        the list of this call site is named, and after the call this node again
//!   d             node.counter1 += 1   d
//! ```
//!
//! A body is cut into segments that are left only at their ends: by a branch, a call, a return. Each is counted where it begins,
//! so that its operators are counted whichever way the run ends: a call that never returns has counted what stands before
//! it, and nothing behind it. Only a trap ends a segment in its middle; who reads the counts takes away what stands behind the
//! operator that trapped ([`ProfileSites::cut`]).
//!
//! Recursion is folded: a call site that is on the path already, with the same callee, continues in the node that it
//! made. So the number of nodes is bounded by the shape of the program. If the memory is full nevertheless, calls go to
//! the spare node of their function, whose path is not known.
//!
//! What is entered from outside, by the host or by another module, finds no list of a caller: it hangs below the call of an import that is
//! open, or is a root.
//!
//! Invariants: an operator counts one, but for those that generate no code ([`counts`]), as in the fuel of wasmtime. What is put in is never
//! counted and never traps. The program cannot see any of it.
//!
//! Not here: names, lines and totals (`fozzy-campaign`), other side memories: a build for profiles has nothing else beside the program.

use crate::Error;
use crate::edges::BodyValidator;
use crate::edit::{EditPosition, Edits, offset_u32};
use crate::helpers::Helper;
use crate::map::{ModuleOrdinal, OriginalOffset, SegmentKind};
use crate::module::ModuleRewriter;
use std::collections::BTreeMap;
use std::ops::Range;
use wasm_encoder::{BlockType, Function, InstructionSink, MemArg, ValType as Encoded};
use wasmparser::{Catch, Operator, ValType};

/// Bytes of the side memory of a module. Only pages that are used cost memory.
pub(crate) const PROFILE_BYTES: u32 = 256 << 20;

/// Nodes are named by their address less this, so that the null node is the header, which reads as no function.
const BIAS: u32 = 40;
/// In the header: what the list of the null node reads as, the end of the nodes, the list of roots.
const NULL_AT: u32 = BIAS;
const FREE_AT: u32 = 48;
const ROOTS_AT: u32 = 52;
/// The node that runs (u32) and the list that its next callee is in (u32), less [`BIAS`]. Between calls the list is the node itself.
pub(crate) const CURRENT_AT: u32 = 56;
/// The same for what is entered from outside.
const OUTER_AT: u32 = 64;
/// How many calls went to spare nodes (u64).
const MERGED_AT: u32 = 72;
/// The first spare node.
const NODES_AT: u32 = 80;

/// Fields of a node.
const MARKER: u32 = 0;
const FUNCTION: u32 = 4;
const PARENT: u32 = 8;
const VIA: u32 = 12;
const NEXT: u32 = 16;
const TARGET: u32 = 20;
const COUNTERS: u32 = 24;

/// What stands at [`MARKER`]: read as a list, it says that no caller named one.
const FROM_OUTSIDE: i32 = 4;
/// In [`FUNCTION`], beside the index: a node, and a reference to another node of that function.
const IS_NODE: u32 = 1 << 31;
const IS_ALIAS: u32 = 1 << 30;
/// Bytes of a call site: a list for a callee that never varies, and a list for those that do.
const SITE_BYTES: u32 = 8;
const VARIES: u32 = 4;

/// Whether an operator is counted: those are not that generate no code, as in the fuel of wasmtime.
/// <https://docs.rs/wasmtime/48/wasmtime/struct.Config.html#method.consume_fuel>
fn counts(operator: &Operator<'_>) -> bool {
    !matches!(
        operator,
        Operator::Nop
            | Operator::Drop
            | Operator::Block { .. }
            | Operator::Loop { .. }
            | Operator::Unreachable
            | Operator::Return
            | Operator::Else
            | Operator::End
    )
}

/// What one counter of a function counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProfileCounter {
    /// How often these operators, one after the other, were begun.
    Segment(Vec<OriginalOffset>),
    /// Bytes that a bulk operation has moved.
    Bytes(OriginalOffset),
}

/// Whom a call site calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileCallee {
    /// A function of the module.
    Function(u32),
    /// An import.
    Import(u32),
    /// By a table or a reference.
    Varies,
}

/// A call in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProfileCall {
    /// The operator.
    pub offset: OriginalOffset,
    /// Whom it calls.
    pub callee: ProfileCallee,
}

/// What is counted of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfiledFunction {
    /// Its first operator.
    pub start: OriginalOffset,
    /// Its counters; the first counts calls, too.
    pub counters: Vec<ProfileCounter>,
    /// Its calls.
    pub calls: Vec<ProfileCall>,
    spare: u32,
}

impl ProfiledFunction {
    /// Where the lists of callees start in a node.
    fn lists(&self) -> u32 {
        offset_u32(COUNTERS as usize + 8 * self.counters.len())
    }

    /// Bytes of a node.
    fn bytes(&self) -> u32 {
        self.lists() + offset_u32(SITE_BYTES as usize * self.calls.len())
    }
}

/// What is counted, by module and index of function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileSites {
    functions: BTreeMap<(ModuleOrdinal, u32), ProfiledFunction>,
}

/// Calls of a function by one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileNode {
    /// Position of the node of the caller, which stands before this one; `None` for what was called from outside.
    pub parent: Option<usize>,
    /// The call in the caller, by position in [`ProfiledFunction::calls`].
    pub call: Option<usize>,
    /// The function's index in its module.
    pub function: u32,
    /// The path is not known, as memory for paths was used up.
    pub is_merged: bool,
    /// Values of [`ProfiledFunction::counters`].
    pub counters: Vec<u64>,
}

/// The counts of one instance of a module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleProfile {
    /// Callers stand before those that they call.
    pub nodes: Vec<ProfileNode>,
    /// Where code runs, as a position in `nodes`.
    pub current: Option<usize>,
    /// How many calls are in nodes whose path is not known.
    pub merged: u64,
    /// By which the program itself knows its nodes, in their order.
    numbers: Vec<u32>,
}

impl ModuleProfile {
    /// The node that the program knows by this number.
    #[must_use]
    pub fn position(&self, number: u32) -> Option<usize> {
        self.numbers.binary_search(&number).ok()
    }
}

impl ProfileSites {
    /// Whether nothing is counted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// What is counted of a function.
    #[must_use]
    pub fn function(&self, module: ModuleOrdinal, function: u32) -> Option<&ProfiledFunction> {
        self.functions.get(&(module, function))
    }

    /// Whether a bulk operation stands at `offset`.
    #[must_use]
    pub fn has_bulk_at(&self, module: ModuleOrdinal, offset: OriginalOffset) -> bool {
        let functions = self.functions.range((module, 0)..=(module, u32::MAX));
        functions.into_iter().any(|(_, function)| function.counters.contains(&ProfileCounter::Bytes(offset)))
    }

    /// The counter and the number of operators that were counted there and not begun, if the operator at `trapped` was the last one of
    /// this function.
    #[must_use]
    pub fn cut(&self, module: ModuleOrdinal, function: u32, trapped: OriginalOffset) -> Option<(usize, usize)> {
        let function = self.function(module, function)?;
        let of = |(position, counter): (usize, &ProfileCounter)| {
            let ProfileCounter::Segment(operators) = counter else { return None };
            let begun = operators.partition_point(|at| *at <= trapped);
            let inside = operators.first()? <= &trapped && operators.last()? >= &trapped;
            inside.then_some((position, operators.len() - begun))
        };
        function.counters.iter().enumerate().find_map(of)
    }

    /// The counts in the side memory of an instance of `module`. Bytes that no program of this build leaves read as no counts.
    #[must_use]
    pub fn read(&self, module: ModuleOrdinal, memory: &[u8]) -> ModuleProfile {
        let word = |at: u32| {
            let at = at as usize;
            memory.get(at..at + 4).map_or(0, |bytes| u32::from_le_bytes(bytes.try_into().expect("four bytes")))
        };
        let long = |at: u32| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let known = |at: u32| {
            let tagged = word(at + FUNCTION);
            let function = (tagged & IS_NODE != 0).then_some(tagged & !IS_NODE)?;
            Some((function, self.function(module, function)?))
        };
        // The spare nodes stand first, one for each function that has ever needed its own.
        let spares = self.functions.range((module, 0)..=(module, u32::MAX)).map(|(_, function)| function.spare);
        let mut places: Vec<(u32, bool)> = spares.filter(|at| known(*at).is_some()).map(|at| (at, true)).collect();
        let mut at = self.first_node(module);
        let end = word(FREE_AT).min(offset_u32(memory.len()));
        while at < end {
            if word(at + FUNCTION) & IS_ALIAS != 0 {
                at += COUNTERS;
                continue;
            }
            let Some((_, function)) = known(at) else { break };
            places.push((at, false));
            at += function.bytes();
        }
        let position = |node: u32| places.binary_search_by_key(&node, |(at, _)| at - BIAS).ok();
        let nodes = places.iter().filter_map(|&(at, is_merged)| {
            let (function, counted) = known(at)?;
            let parent = position(word(at + PARENT));
            let caller = parent.and_then(|parent| known(places[parent].0));
            let call = caller.and_then(|(_, caller)| {
                let call = word(at + VIA).checked_sub(caller.lists())? / SITE_BYTES;
                ((call as usize) < caller.calls.len()).then_some(call as usize)
            });
            let counters = (0..offset_u32(counted.counters.len())).map(|counter| long(at + COUNTERS + 8 * counter));
            Some(ProfileNode { parent, call, function, is_merged, counters: counters.collect() })
        });
        let (nodes, current) = (nodes.collect(), position(word(CURRENT_AT)));
        let numbers = places.iter().map(|(at, _)| at - BIAS).collect();
        ModuleProfile { nodes, current, merged: long(MERGED_AT), numbers }
    }

    fn first_node(&self, module: ModuleOrdinal) -> u32 {
        let last = self.functions.range((module, 0)..=(module, u32::MAX)).next_back();
        last.map_or(NODES_AT, |(_, function)| function.spare + function.bytes())
    }
}

/// What the side memory of a module begins with, behind the tag: where nodes begin and end.
pub(crate) fn header(spares: u32) -> Vec<u8> {
    let mut header = vec![0; (MERGED_AT - NULL_AT) as usize];
    let mut put = |at: u32, value: u32| {
        let at = (at - NULL_AT) as usize;
        header[at..at + 4].copy_from_slice(&value.to_le_bytes());
    };
    put(NULL_AT, FROM_OUTSIDE.cast_unsigned());
    put(FREE_AT, NODES_AT + spares);
    put(OUTER_AT + 4, ROOTS_AT - BIAS);
    header
}

/// Where [`header`] goes.
pub(crate) const HEADER_AT: u32 = NULL_AT;

/// A label that is open while the body is walked.
#[derive(Debug)]
struct CountLabel {
    /// For a loop: its first operator and itself.
    head: Option<(u32, u32)>,
    is_if: bool,
    /// Whether it can be reached.
    was_reached: bool,
    is_target: bool,
    is_caught: bool,
}

/// Where a segment begins.
#[derive(Debug)]
struct DraftSegment {
    at: u32,
    anchor: u32,
    operators: Range<usize>,
}

#[derive(Debug)]
struct DraftCall {
    span: Range<u32>,
    callee: ProfileCallee,
    is_tail: bool,
}

/// The pass, over one function body after the other.
#[derive(Debug, Default)]
pub(crate) struct ProfilePass {
    labels: Vec<CountLabel>,
    segments: Vec<DraftSegment>,
    operators: Vec<u32>,
    calls: Vec<DraftCall>,
    /// Bulk operations, and whether their length has 64 bits.
    bulks: Vec<(Range<u32>, bool)>,
    /// Where a caught exception arrives, behind or at the head of an operator.
    landings: Vec<(u32, u32)>,
    is_reached: bool,
    /// Whether the length of the bulk operation about to be validated has 64 bits.
    is_long: bool,
}

impl ProfilePass {
    /// Starts a function body whose first operator is at `start`.
    pub(crate) fn begin(&mut self, start: u32) {
        self.labels.clear();
        self.segments.clear();
        self.operators.clear();
        self.calls.clear();
        self.bulks.clear();
        self.landings.clear();
        self.is_reached = true;
        self.open(None, false);
        self.enter(start, start);
    }

    /// Takes note of what an operator finds on the stack, before it is validated.
    pub(crate) fn before(&mut self, operator: &Operator<'_>, validator: &BodyValidator) {
        if is_bulk(operator) {
            self.is_long = validator.get_operand_type(0) == Some(Some(ValType::I64));
        }
    }

    /// Takes note of the operator that stands in `span` and was just validated.
    pub(crate) fn operator(&mut self, operator: &Operator<'_>, span: Range<u32>, module: &ModuleRewriter<'_>) {
        if self.is_reached && counts(operator) {
            self.operators.push(span.start);
            self.segments.last_mut().expect("a body begins with one").operators.end = self.operators.len();
        }
        match operator {
            Operator::Block { .. } => self.open(None, false),
            Operator::Loop { .. } => {
                self.open(Some((span.end, span.start)), false);
                self.resume(span.end, span.start);
            }
            Operator::TryTable { try_table } => {
                // Labels are counted from around the `try_table`.
                for catch in &try_table.catches {
                    let (Catch::One { label, .. }
                    | Catch::OneRef { label, .. }
                    | Catch::All { label }
                    | Catch::AllRef { label }) = *catch;
                    self.catch(label);
                }
                self.open(None, false);
            }
            Operator::If { .. } => {
                self.open(None, true);
                self.resume(span.end, span.start);
            }
            Operator::Else => {
                self.is_reached = self.label(0).was_reached;
                self.resume(span.end, span.start);
            }
            Operator::End => self.close(&span),
            Operator::Br { relative_depth } => {
                self.target(*relative_depth);
                self.is_reached = false;
            }
            Operator::BrTable { targets } => {
                for target in targets.targets() {
                    self.target(target.expect("the validator has read them"));
                }
                self.target(targets.default());
                self.is_reached = false;
            }
            Operator::BrIf { relative_depth }
            | Operator::BrOnNull { relative_depth }
            | Operator::BrOnNonNull { relative_depth }
            | Operator::BrOnCast { relative_depth, .. }
            | Operator::BrOnCastFail { relative_depth, .. } => {
                self.target(*relative_depth);
                self.resume(span.end, span.start);
            }
            Operator::Return | Operator::Unreachable | Operator::Throw { .. } | Operator::ThrowRef => {
                self.is_reached = false;
            }
            Operator::Call { function_index } => self.call(span, callee(*function_index, module), false),
            Operator::CallIndirect { .. } | Operator::CallRef { .. } => self.call(span, ProfileCallee::Varies, false),
            Operator::ReturnCall { function_index } => self.call(span, callee(*function_index, module), true),
            Operator::ReturnCallIndirect { .. } | Operator::ReturnCallRef { .. } => {
                self.call(span, ProfileCallee::Varies, true);
            }
            bulk if self.is_reached && is_bulk(bulk) => self.bulks.push((span, self.is_long)),
            _ => {}
        }
    }

    /// The segments that have an operator: where code for each goes, to which operator it belongs, and its operators.
    pub(crate) fn counted_segments(&self) -> impl Iterator<Item = (u32, u32, &[u32])> {
        let all = self.segments.iter().map(|it| (it.at, it.anchor, &self.operators[it.operators.clone()]));
        all.filter(|(_, _, operators)| !operators.is_empty())
    }

    /// Where exceptions arrive.
    pub(crate) fn landings(&self) -> &[(u32, u32)] {
        &self.landings
    }

    fn open(&mut self, head: Option<(u32, u32)>, is_if: bool) {
        let was_reached = self.is_reached;
        self.labels.push(CountLabel { head, is_if, was_reached, is_target: false, is_caught: false });
    }

    fn label(&mut self, depth: u32) -> &mut CountLabel {
        let index = self.labels.len() - 1 - depth as usize;
        &mut self.labels[index]
    }

    /// A branch leads to a label.
    fn target(&mut self, depth: u32) {
        if self.is_reached {
            self.label(depth).is_target = true;
        }
    }

    /// A caught exception goes to a label.
    fn catch(&mut self, depth: u32) {
        if !self.is_reached {
            return;
        }
        let label = self.label(depth);
        label.is_target = true;
        if !std::mem::replace(&mut label.is_caught, true)
            && let Some(head) = label.head
        {
            self.landings.push(head);
        }
    }

    fn close(&mut self, span: &Range<u32>) {
        let label = self.labels.pop().expect("the validator has matched each end");
        if self.labels.is_empty() || label.head.is_some() {
            return;
        }
        if label.is_caught {
            self.landings.push((span.end, span.start));
        }
        if label.was_reached && (label.is_if || label.is_target) {
            self.is_reached = true;
            self.enter(span.end, span.start);
        }
    }

    fn call(&mut self, span: Range<u32>, callee: ProfileCallee, is_tail: bool) {
        if !self.is_reached {
            return;
        }
        let (start, end) = (span.start, span.end);
        self.calls.push(DraftCall { span, callee, is_tail });
        if is_tail {
            self.is_reached = false;
        } else {
            self.enter(end, start);
        }
    }

    /// A segment begins at `at`, if that is reached.
    fn resume(&mut self, at: u32, anchor: u32) {
        if self.is_reached {
            self.enter(at, anchor);
        }
    }

    fn enter(&mut self, at: u32, anchor: u32) {
        let start = self.operators.len();
        self.segments.push(DraftSegment { at, anchor, operators: start..start });
    }

    /// Asks for the edits of a function whose operators start at `start`.
    pub(crate) fn finish(
        &self,
        index: u32,
        start: u32,
        module: &mut ModuleRewriter<'_>,
        sites: &mut ProfileSites,
        edits: &mut Edits,
    ) -> Result<EnteredNode, Error> {
        let offsets =
            |range: &Range<usize>| self.operators[range.clone()].iter().copied().map(OriginalOffset).collect();
        let counted = self.segments.iter().enumerate().filter(|(place, it)| *place == 0 || !it.operators.is_empty());
        let segments = counted.map(|(_, segment)| ProfileCounter::Segment(offsets(&segment.operators)));
        let bulks = self.bulks.iter().map(|(span, _)| ProfileCounter::Bytes(OriginalOffset(span.start)));
        let counters: Vec<ProfileCounter> = segments.chain(bulks).collect();
        let of = |call: &DraftCall| ProfileCall { offset: OriginalOffset(call.span.start), callee: call.callee };
        let calls: Vec<ProfileCall> = self.calls.iter().map(of).collect();
        let spare = NODES_AT + module.spares;
        let function = ProfiledFunction { start: OriginalOffset(start), counters, calls, spare };
        module.add_spare(function.bytes())?;
        let enter = module.helper(Helper::EnterNode)?;
        let is_entered_from_here =
            |call: &DraftCall| !matches!(call.callee, ProfileCallee::Function(_)) && !call.is_tail;
        let keeps_outer = self.calls.iter().any(is_entered_from_here);
        let code = Locals {
            memory: module.side_memory,
            node: edits.local(Encoded::I32),
            current: edits.local(Encoded::I64),
            outer: if keeps_outer { edits.local(Encoded::I64) } else { 0 },
            lists: function.lists(),
        };
        edits.insert(start, EditPosition::Entry, start, SegmentKind::Injected, |sink| {
            code.enter(index, function.bytes(), function.spare, enter, sink);
            if keeps_outer {
                sink.i32_const(0).i64_load(code.at(OUTER_AT, 3)).local_set(code.outer);
            }
            code.count(0, sink);
        });
        for &(at, anchor) in &self.landings {
            edits.insert(at, EditPosition::After, anchor, SegmentKind::Injected, |sink| {
                code.name_current(sink);
                if keeps_outer {
                    code.name_outer(sink);
                }
            });
        }
        for (call, list) in self.calls.iter().zip(0..) {
            self.edit_call(call, list, &code, edits);
        }
        let counted = self.segments.iter().skip(1).filter(|segment| !segment.operators.is_empty());
        for (segment, counter) in counted.zip(1..) {
            edits.insert(segment.at, EditPosition::After, segment.anchor, SegmentKind::Injected, |sink| {
                code.count(counter, sink);
            });
        }
        let first_bulk = function.counters.len() - self.bulks.len();
        for ((span, is_long), counter) in self.bulks.iter().zip(offset_u32(first_bulk)..) {
            let length = edits.local(if *is_long { Encoded::I64 } else { Encoded::I32 });
            edits.insert(span.start, EditPosition::Before, span.start, SegmentKind::Injected, |sink| {
                sink.local_tee(length);
            });
            edits.insert(span.end, EditPosition::After, span.start, SegmentKind::Injected, |sink| {
                code.add(counter, sink, |sink| {
                    sink.local_get(length);
                    if !is_long {
                        sink.i64_extend_i32_u();
                    }
                });
            });
        }
        let found = EnteredNode { index, bytes: function.bytes(), spare: function.spare, enter, code };
        sites.functions.insert((module.ordinal, index), function);
        Ok(found)
    }

    fn edit_call(&self, call: &DraftCall, list: u32, code: &Locals, edits: &mut Edits) {
        let at = code.lists + SITE_BYTES * list;
        let start = call.span.start;
        let is_import = matches!(call.callee, ProfileCallee::Import(_));
        let is_own = matches!(call.callee, ProfileCallee::Function(_));
        edits.insert(start, EditPosition::Before, start, SegmentKind::Injected, |sink| {
            let at = if is_own { at } else { at + VARIES };
            if !is_import {
                code.name_list(at, CURRENT_AT, sink);
            }
            if !is_own && !call.is_tail {
                code.name_list(at, OUTER_AT, sink);
            }
        });
        if !call.is_tail {
            edits.insert(call.span.end, EditPosition::After, start, SegmentKind::Injected, |sink| {
                code.name_current(sink);
                if !is_own {
                    code.name_outer(sink);
                }
            });
        }
    }
}

fn callee(function: u32, module: &ModuleRewriter<'_>) -> ProfileCallee {
    if module.imports_function(function) { ProfileCallee::Import(function) } else { ProfileCallee::Function(function) }
}

fn is_bulk(operator: &Operator<'_>) -> bool {
    matches!(operator, Operator::MemoryCopy { .. } | Operator::MemoryFill { .. } | Operator::MemoryInit { .. })
}

/// What put-in code of a function works with.
struct Locals {
    memory: u32,
    /// The node, as an i32.
    node: u32,
    /// The node twice, as it goes to [`CURRENT_AT`].
    current: u32,
    /// What stood at [`OUTER_AT`] when the function was entered.
    outer: u32,
    /// Where the lists of callees start in a node.
    lists: u32,
}

impl Locals {
    fn at(&self, offset: u32, align: u32) -> MemArg {
        MemArg { offset: u64::from(offset), align, memory_index: self.memory }
    }

    /// Finds the node of this call. The most frequent callee of a list stands first in it.
    fn enter(&self, index: u32, bytes: u32, spare: u32, enter: u32, sink: &mut InstructionSink<'_>) {
        let tagged = (index | IS_NODE).cast_signed();
        sink.i32_const(0).i32_load(self.at(CURRENT_AT + 4, 2)).i32_load(self.at(BIAS, 2)).local_tee(self.node);
        sink.i32_load(self.at(BIAS + FUNCTION, 2)).i32_const(tagged).i32_ne().if_(BlockType::Empty);
        sink.i32_const(tagged).i32_const(bytes.cast_signed()).i32_const((spare - BIAS).cast_signed());
        sink.call(enter).local_set(self.node).end();
        sink.local_get(self.node).i64_extend_i32_u().i64_const((1 << 32) + 1).i64_mul().local_set(self.current);
        self.name_current(sink);
    }

    fn name_current(&self, sink: &mut InstructionSink<'_>) {
        sink.i32_const(0).local_get(self.current).i64_store(self.at(CURRENT_AT, 3));
    }

    fn name_outer(&self, sink: &mut InstructionSink<'_>) {
        sink.i32_const(0).local_get(self.outer).i64_store(self.at(OUTER_AT, 3));
    }

    fn name_list(&self, list: u32, place: u32, sink: &mut InstructionSink<'_>) {
        sink.i32_const(0).local_get(self.current).i64_const(i64::from(list) << 32).i64_add();
        sink.i64_store(self.at(place, 3));
    }

    fn count(&self, counter: u32, sink: &mut InstructionSink<'_>) {
        self.add(counter, sink, |sink| {
            sink.i64_const(1);
        });
    }

    fn add(&self, counter: u32, sink: &mut InstructionSink<'_>, value: impl FnOnce(&mut InstructionSink<'_>)) {
        let at = self.at(BIAS + COUNTERS + 8 * counter, 3);
        sink.local_get(self.node).local_get(self.node).i64_load(at);
        value(sink);
        sink.i64_add().i64_store(at);
    }
}

/// The node of a call, for what stands in front of a function.
pub(crate) struct EnteredNode {
    index: u32,
    bytes: u32,
    spare: u32,
    enter: u32,
    code: Locals,
}

impl EnteredNode {
    /// Finds the node; nothing is counted.
    pub(crate) fn enter(&self, sink: &mut InstructionSink<'_>) {
        self.code.enter(self.index, self.bytes, self.spare, self.enter, sink);
    }

    /// Once more, after calls.
    pub(crate) fn name(&self, sink: &mut InstructionSink<'_>) {
        self.code.name_current(sink);
    }
}

/// `(function, bytes, spare) -> node`: finds or makes the node of a call that does not stand first in its list.
pub(crate) fn enter_node(memory: u32) -> Function {
    const FUNCTION_TAG: u32 = 0;
    const BYTES: u32 = 1;
    const SPARE: u32 = 2;
    const CALLER: u32 = 3;
    const LIST: u32 = 4;
    const NODE: u32 = 5;
    const BEFORE: u32 = 6;
    const FIRST: u32 = 7;
    let at = |offset: u32| MemArg { offset: u64::from(offset), align: 2, memory_index: memory };
    let field = |field: u32| at(BIAS + field);
    let mut function = Function::new([(5, Encoded::I32)]);
    let mut code = function.instructions();
    // The list of the caller; or that of what is entered from outside.
    code.i32_const(0).i32_load(at(CURRENT_AT)).local_set(CALLER);
    code.i32_const(0).i32_load(at(CURRENT_AT + 4)).local_tee(LIST).i32_load(at(BIAS)).local_tee(FIRST);
    code.i32_const(FROM_OUTSIDE).i32_eq().if_(BlockType::Empty);
    code.i32_const(0).i32_load(at(OUTER_AT)).local_set(CALLER);
    code.i32_const(0).i32_load(at(OUTER_AT + 4)).local_tee(LIST).i32_load(at(BIAS)).local_set(FIRST);
    code.end();
    // Whether the callee is in it.
    code.local_get(FIRST).local_set(NODE);
    code.block(BlockType::Empty).loop_(BlockType::Empty);
    code.local_get(NODE).i32_eqz().br_if(1);
    code.local_get(NODE).i32_load(field(FUNCTION)).local_get(FUNCTION_TAG).i32_eq().if_(BlockType::Empty);
    code.local_get(BEFORE).if_(BlockType::Empty);
    code.local_get(BEFORE).local_get(NODE).i32_load(field(NEXT)).i32_store(field(NEXT));
    code.local_get(NODE).local_get(FIRST).i32_store(field(NEXT));
    code.local_get(LIST).local_get(NODE).i32_store(at(BIAS));
    code.end();
    code.local_get(NODE).return_().end();
    code.local_get(NODE).i32_load(field(FUNCTION));
    code.local_get(FUNCTION_TAG).i32_const(IS_ALIAS.cast_signed()).i32_or().i32_eq().if_(BlockType::Empty);
    code.local_get(NODE).i32_load(field(TARGET)).return_().end();
    code.local_get(NODE).local_tee(BEFORE).i32_load(field(NEXT)).local_set(NODE).br(0);
    code.end().end();
    // Whether the same call by the same function stands on the path.
    code.local_get(CALLER).local_set(NODE);
    code.block(BlockType::Empty).loop_(BlockType::Empty);
    code.local_get(NODE).i32_eqz().br_if(1);
    code.local_get(NODE).i32_load(field(FUNCTION)).local_get(FUNCTION_TAG).i32_eq();
    code.local_get(NODE).i32_load(field(VIA)).local_get(LIST).local_get(CALLER).i32_sub().i32_eq().i32_and();
    code.local_get(NODE).i32_load(field(PARENT)).i32_load(field(FUNCTION));
    code.local_get(CALLER).i32_load(field(FUNCTION)).i32_eq().i32_and();
    code.if_(BlockType::Empty);
    {
        // A list of one callee names the node itself; others get a reference, if there is room for one.
        code.local_get(LIST).i32_const(VARIES.cast_signed()).i32_and().i32_eqz().if_(BlockType::Empty);
        code.local_get(LIST).local_get(NODE).i32_store(at(BIAS));
        code.else_();
        room(&mut code, &at, |code| {
            code.i32_const(COUNTERS.cast_signed());
        });
        code.if_(BlockType::Empty);
        code.i32_const(0).i32_load(at(FREE_AT)).i32_const(BIAS.cast_signed()).i32_sub().local_set(BEFORE);
        code.local_get(BEFORE).i32_const(FROM_OUTSIDE).i32_store(field(MARKER));
        code.local_get(BEFORE).local_get(FUNCTION_TAG).i32_const(IS_ALIAS.cast_signed()).i32_or();
        code.i32_store(field(FUNCTION));
        code.local_get(BEFORE).local_get(NODE).i32_store(field(TARGET));
        code.local_get(BEFORE).local_get(FIRST).i32_store(field(NEXT));
        code.local_get(LIST).local_get(BEFORE).i32_store(at(BIAS));
        code.i32_const(0).local_get(BEFORE).i32_const((BIAS + COUNTERS).cast_signed()).i32_add().i32_store(at(FREE_AT));
        code.end().end();
        code.local_get(NODE).return_();
    }
    code.end();
    code.local_get(NODE).i32_load(field(PARENT)).local_set(NODE).br(0);
    code.end().end();
    // A new one, or the spare one.
    room(&mut code, &at, |code| {
        code.local_get(BYTES);
    });
    code.i32_eqz().if_(BlockType::Empty);
    code.local_get(SPARE).i32_const(FROM_OUTSIDE).i32_store(field(MARKER));
    code.local_get(SPARE).local_get(FUNCTION_TAG).i32_store(field(FUNCTION));
    let merged = MemArg { offset: u64::from(MERGED_AT), align: 3, memory_index: memory };
    code.i32_const(0).i32_const(0).i64_load(merged).i64_const(1).i64_add().i64_store(merged);
    code.local_get(SPARE).return_().end();
    code.i32_const(0).i32_load(at(FREE_AT)).i32_const(BIAS.cast_signed()).i32_sub().local_set(NODE);
    code.i32_const(0).i32_const(0).i32_load(at(FREE_AT)).local_get(BYTES).i32_add().i32_store(at(FREE_AT));
    code.local_get(NODE).i32_const(FROM_OUTSIDE).i32_store(field(MARKER));
    code.local_get(NODE).local_get(FUNCTION_TAG).i32_store(field(FUNCTION));
    code.local_get(NODE).local_get(CALLER).i32_store(field(PARENT));
    code.local_get(NODE).local_get(LIST).local_get(CALLER).i32_sub().i32_store(field(VIA));
    code.local_get(NODE).local_get(FIRST).i32_store(field(NEXT));
    code.local_get(LIST).local_get(NODE).i32_store(at(BIAS));
    code.local_get(NODE).end();
    function
}

/// `[] -> [whether as many bytes are free]`
fn room(code: &mut InstructionSink<'_>, at: &impl Fn(u32) -> MemArg, bytes: impl FnOnce(&mut InstructionSink<'_>)) {
    code.i32_const(0).i32_load(at(FREE_AT));
    bytes(code);
    code.i32_add().i32_const(PROFILE_BYTES.cast_signed()).i32_le_u();
}
