//! Edge coverage: the ways through a function, and marks on those that others do not tell.
//!
//! ```text
//! original        block                 if                      br_if $l
//!                   body                  a                     rest
//!                   br_if 0             end
//!                   rest
//!                 end
//! rewritten       block                 if                      if
//!                   body                  mark 1  a               mark 3  br $l+1
//!                   ...                 else                    end
//!                                         mark 2                mark 4
//!                                       end                     rest
//! ```
//!
//! While the operators go by, they are cut into blocks. An edge leads from the conditional branch at the end of a
//! block to the block where it goes; blocks are also entered by plain flow (falling into a label, an unconditional branch
//! forward), which is no edge and needs no mark. What is not kept, and why that is exact, says `sites.rs`.
//!
//! Invariants: code that cannot be reached has no edges and is left alone. Edges are in the order of the operators, those of
//! one operator together, and edges that tell another one come after it.
//!
//! Not marked: where a call was made from, other than by the callee's entry; an exception that the function's own label catches.

use crate::Error;
use crate::edit::{BodySpans, EditPosition, Edits};
use crate::map::SegmentKind;
use crate::module::ModuleRewriter;
use crate::options::CoverageMode;
use crate::sites::{BlockEntry, EdgeDraft, EdgeKind, Sites};
use std::ops::Range;
use wasm_encoder::reencode::{Reencode, RoundtripReencoder};
use wasm_encoder::{InstructionSink, MemArg};
use wasmparser::{Catch, FrameKind, FuncValidator, Operator, ValType, ValidatorResources, WasmModuleResources};

/// No further entry of a list of ways in.
const NONE: u32 = u32::MAX;

#[derive(Debug)]
struct EdgeBlock {
    /// Nothing in it but a trap can leave it before its end.
    straight: bool,
    ins: Range<u32>,
    /// Edges of the branch at its end.
    outs: Range<u32>,
    /// The only edge that leads into it.
    sole: Option<u32>,
}

/// A label that is open while the body is walked.
#[derive(Debug)]
struct ControlLabel {
    /// For a loop: the offset of the first operator inside, and the operator itself.
    head: Option<(u32, u32)>,
    /// For an `if` that can be reached and has had no `else`: the edge past it.
    else_edge: Option<u32>,
    /// Ways to the label so far, as a list in `arrivals`.
    arrivals: u32,
    caught: bool,
}

/// Where the mark of an edge goes.
#[derive(Clone, Debug)]
enum MarkPosition {
    /// At an offset, for the sake of the operator at another.
    At { at: u32, place: EditPosition, anchor: u32 },
    /// Into an `else` that is put in before this `end`.
    NewElse { end: u32 },
    /// Not yet known: the end of an `if` has not been met.
    Open,
    /// Into the way of a branch that is split.
    Split,
}

#[derive(Debug)]
struct DraftEdge {
    offset: u32,
    kind: EdgeKind,
    spot: MarkPosition,
    /// The block that it leads to, when no other way does.
    alone_into: Option<u32>,
}

/// A branch whose ways have marks of their own.
#[derive(Debug)]
struct SplitBranch {
    span: Range<u32>,
    /// The first of its edges.
    edge: u32,
    branch: BranchKind,
}

#[derive(Debug)]
enum BranchKind {
    /// `br_if`, with the types that the label takes.
    If {
        label: u32,
        carried: Vec<ValType>,
    },
    Table(BranchTable),
    /// `br_on_*`: what it takes, what the label takes, and what is left when it falls through.
    On {
        test: BranchTest,
        label: u32,
        takes: Vec<ValType>,
        branches: Vec<ValType>,
        leaves: Vec<ValType>,
    },
}

/// A `br_table`.
#[derive(Debug)]
struct BranchTable {
    /// Where each entry goes, the default last, as positions in `arms`.
    entries: Vec<u32>,
    /// The distinct labels, and what they take.
    arms: Vec<(u32, Vec<ValType>)>,
    /// What is on the stack before, the index last.
    takes: Vec<ValType>,
}

/// Which `br_on_*`.
#[derive(Clone, Copy, Debug)]
enum BranchTest {
    Null,
    NonNull,
    Cast { from: wasmparser::RefType, to: wasmparser::RefType, fails: bool },
}

impl BranchTest {
    /// The branch, to the innermost label.
    fn branch(self, code: &mut InstructionSink<'_>) {
        let encoded = |ty| RoundtripReencoder.ref_type(ty).expect("types that were just read have module indices");
        match self {
            BranchTest::Null => code.br_on_null(0),
            BranchTest::NonNull => code.br_on_non_null(0),
            BranchTest::Cast { from, to, fails: false } => code.br_on_cast(0, encoded(from), encoded(to)),
            BranchTest::Cast { from, to, fails: true } => code.br_on_cast_fail(0, encoded(from), encoded(to)),
        };
    }
}

pub(crate) type BodyValidator = FuncValidator<ValidatorResources>;

/// The pass, over one function body after the other.
#[derive(Debug, Default)]
pub(crate) struct EdgePass {
    blocks: Vec<EdgeBlock>,
    ins: Vec<BlockEntry>,
    labels: Vec<ControlLabel>,
    /// Lists of ways to labels: the way, and the next entry.
    arrivals: Vec<(BlockEntry, u32)>,
    drafts: Vec<DraftEdge>,
    splits: Vec<SplitBranch>,
    stretches: Vec<(u32, Option<u32>)>,
    /// Block of the code that is being walked; `None` where it cannot be reached.
    current: Option<u32>,
    /// The operands that the operator about to be validated takes from the stack, where they are needed.
    takes: Vec<ValType>,
    /// For each edge of the function, whether it is kept.
    told_by: Vec<Option<Range<u32>>>,
}

/// Writes marks.
pub(crate) struct EdgeMarker {
    pub(crate) coverage: CoverageMode,
    /// The side memory, and where coverage bytes start in it.
    pub(crate) memory: u32,
    pub(crate) start: u32,
    /// A local for the count.
    pub(crate) local: u32,
}

impl EdgeMarker {
    fn mark(&self, byte: u32, code: &mut InstructionSink<'_>) {
        let at = MemArg { offset: u64::from(self.start) + u64::from(byte), align: 0, memory_index: self.memory };
        match self.coverage {
            CoverageMode::None => {}
            CoverageMode::SetOnce | CoverageMode::Every => {
                code.i32_const(0).i32_const(1).i32_store8(at);
            }
            CoverageMode::Counters => {
                code.i32_const(0).i32_const(0).i32_load8_u(at).local_tee(self.local);
                code.local_get(self.local).i32_const(255).i32_ne().i32_add().i32_store8(at);
            }
        }
    }
}

impl EdgePass {
    /// Starts a function body whose first operator is at `start`.
    pub(crate) fn begin(&mut self, start: u32) {
        self.blocks.clear();
        self.ins.clear();
        self.labels.clear();
        self.arrivals.clear();
        self.drafts.clear();
        self.splits.clear();
        self.stretches.clear();
        self.current = None;
        self.labels.push(ControlLabel { head: None, else_edge: None, arrivals: NONE, caught: false });
        let spot = MarkPosition::At { at: start, place: EditPosition::Before, anchor: start };
        let entry = self.edge(start, EdgeKind::Entry, spot);
        self.enter(start, &[BlockEntry::Edge(entry)]);
    }

    /// Takes note of what an operator finds on the stack, before it is validated.
    pub(crate) fn before(&mut self, operator: &Operator<'_>, validator: &BodyValidator) {
        let label = match operator {
            Operator::BrTable { targets } => targets.default(),
            Operator::BrOnNull { relative_depth }
            | Operator::BrOnNonNull { relative_depth }
            | Operator::BrOnCast { relative_depth, .. }
            | Operator::BrOnCastFail { relative_depth, .. } => *relative_depth,
            _ => return,
        };
        self.takes.clear();
        let Some(arity) = label_types(validator, label).map(|types| types.len()) else { return };
        let extra = match operator {
            Operator::BrTable { .. } | Operator::BrOnNull { .. } => 1,
            _ => 0,
        };
        self.takes.extend(top(validator, arity + extra));
    }

    /// Takes note of the operator that stands in `span` and was just validated.
    pub(crate) fn operator(&mut self, operator: &Operator<'_>, span: Range<u32>, validator: &BodyValidator) {
        match operator {
            Operator::Block { .. } => self.open(None),
            Operator::Loop { .. } => {
                self.open(Some((span.end, span.start)));
                if let Some(from) = self.current {
                    self.enter(span.end, &[BlockEntry::Flow(from)]);
                }
            }
            Operator::TryTable { try_table } => {
                // Labels are counted from around the `try_table`.
                for catch in &try_table.catches {
                    let (Catch::One { label, .. }
                    | Catch::OneRef { label, .. }
                    | Catch::All { label }
                    | Catch::AllRef { label }) = *catch;
                    self.catch(label, span.start);
                }
                self.open(None);
            }
            Operator::If { .. } => {
                self.open(None);
                if self.current.is_some() {
                    let spot = MarkPosition::At { at: span.end, place: EditPosition::After, anchor: span.start };
                    let then = self.edge(span.start, EdgeKind::Then, spot);
                    let other = self.edge(span.start, EdgeKind::Else, MarkPosition::Open);
                    self.leave(then..other + 1, span.end);
                    self.label(0).else_edge = Some(other);
                    self.enter(span.end, &[BlockEntry::Edge(then)]);
                }
            }
            Operator::Else => {
                if let Some(from) = self.current {
                    self.arrive(0, BlockEntry::Flow(from));
                    self.leave(0..0, span.end);
                }
                if let Some(other) = self.label(0).else_edge.take() {
                    self.drafts[other as usize].spot =
                        MarkPosition::At { at: span.end, place: EditPosition::After, anchor: span.start };
                    self.enter(span.end, &[BlockEntry::Edge(other)]);
                }
            }
            Operator::End => self.close(span),
            Operator::Br { relative_depth } => {
                self.go(*relative_depth, &span);
            }
            Operator::BrIf { relative_depth } if self.current.is_some() => {
                let carried = label_types(validator, *relative_depth).expect("the validator has found the label");
                self.branch(*relative_depth, span, |label| BranchKind::If { label, carried });
            }
            Operator::BrOnNull { relative_depth } => self.branch_on(*relative_depth, BranchTest::Null, span, validator),
            Operator::BrOnNonNull { relative_depth } => {
                self.branch_on(*relative_depth, BranchTest::NonNull, span, validator)
            }
            Operator::BrOnCast { relative_depth, from_ref_type: from, to_ref_type: to } => {
                let test = BranchTest::Cast { from: *from, to: *to, fails: false };
                self.branch_on(*relative_depth, test, span, validator);
            }
            Operator::BrOnCastFail { relative_depth, from_ref_type: from, to_ref_type: to } => {
                let test = BranchTest::Cast { from: *from, to: *to, fails: true };
                self.branch_on(*relative_depth, test, span, validator);
            }
            Operator::BrTable { targets } if self.current.is_some() => {
                let entries = targets.targets().map(|target| target.expect("the validator has read them"));
                self.table(entries.chain([targets.default()]), span, validator);
            }
            Operator::Return
            | Operator::Unreachable
            | Operator::Throw { .. }
            | Operator::ThrowRef
            | Operator::ReturnCall { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::ReturnCallRef { .. }
                if self.current.is_some() =>
            {
                self.leave(0..0, span.end);
            }
            Operator::Call { .. } | Operator::CallIndirect { .. } | Operator::CallRef { .. } => {
                if let Some(block) = self.current {
                    self.blocks[block as usize].straight = false;
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, head: Option<(u32, u32)>) {
        self.labels.push(ControlLabel { head, else_edge: None, arrivals: NONE, caught: false });
    }

    fn label(&mut self, depth: u32) -> &mut ControlLabel {
        let index = self.labels.len() - 1 - depth as usize;
        &mut self.labels[index]
    }

    fn edge(&mut self, offset: u32, kind: EdgeKind, spot: MarkPosition) -> u32 {
        self.drafts.push(DraftEdge { offset, kind, spot, alone_into: None });
        count(self.drafts.len() - 1)
    }

    /// A block starts at `at`.
    fn enter(&mut self, at: u32, ins: &[BlockEntry]) {
        let block = count(self.blocks.len());
        let start = count(self.ins.len());
        self.ins.extend_from_slice(ins);
        let sole = match ins {
            [BlockEntry::Edge(edge)] => Some(*edge),
            _ => None,
        };
        if let Some(edge) = sole {
            self.drafts[edge as usize].alone_into = Some(block);
        }
        self.blocks.push(EdgeBlock { straight: true, ins: start..count(self.ins.len()), outs: 0..0, sole });
        self.resume(at, Some(block));
    }

    /// The code from `at` on belongs to `block`.
    fn resume(&mut self, at: u32, block: Option<u32>) {
        self.current = block;
        match self.stretches.last_mut() {
            Some((last, found)) if *last == at => *found = block,
            _ => self.stretches.push((at, block)),
        }
    }

    /// The block has ended before `at`, with a branch that has these edges.
    fn leave(&mut self, outs: Range<u32>, at: u32) {
        if let Some(block) = self.current {
            self.blocks[block as usize].outs = outs;
            self.resume(at, None);
        }
    }

    /// A way leads to a label. Ways back to a loop end at a block that has another way in already.
    fn arrive(&mut self, depth: u32, way: BlockEntry) {
        let next = count(self.arrivals.len());
        let label = self.label(depth);
        if label.head.is_none() {
            let before = std::mem::replace(&mut label.arrivals, next);
            self.arrivals.push((way, before));
        }
    }

    /// An unconditional branch.
    fn go(&mut self, depth: u32, span: &Range<u32>) {
        let Some(from) = self.current else { return };
        if self.label(depth).head.is_some() {
            let spot = MarkPosition::At { at: span.start, place: EditPosition::Before, anchor: span.start };
            let back = self.edge(span.start, EdgeKind::Back, spot);
            self.leave(back..back + 1, span.end);
        } else {
            self.arrive(depth, BlockEntry::Flow(from));
            self.leave(0..0, span.end);
        }
    }

    /// A conditional branch with two ways.
    fn branch(&mut self, depth: u32, span: Range<u32>, branch: impl FnOnce(u32) -> BranchKind) {
        let taken = self.edge(span.start, EdgeKind::Taken, MarkPosition::Split);
        let spot = MarkPosition::At { at: span.end, place: EditPosition::After, anchor: span.start };
        let falls = self.edge(span.start, EdgeKind::FallThrough, spot);
        self.arrive(depth, BlockEntry::Edge(taken));
        self.leave(taken..falls + 1, span.end);
        self.enter(span.end, &[BlockEntry::Edge(falls)]);
        self.splits.push(SplitBranch { span, edge: taken, branch: branch(depth) });
    }

    fn branch_on(&mut self, depth: u32, test: BranchTest, span: Range<u32>, validator: &BodyValidator) {
        if self.current.is_none() {
            return;
        }
        let branches = label_types(validator, depth).expect("the validator has found the label");
        let leaves = match test {
            BranchTest::Null => branches.len() + 1,
            BranchTest::NonNull => branches.len() - 1,
            BranchTest::Cast { .. } => branches.len(),
        };
        let leaves = top(validator, leaves).collect();
        let takes = self.takes.clone();
        self.branch(depth, span, |label| BranchKind::On { test, label, takes, branches, leaves });
    }

    /// A `br_table`, given as its labels, the default last.
    fn table(&mut self, labels: impl Iterator<Item = u32>, span: Range<u32>, validator: &BodyValidator) {
        let mut arms: Vec<u32> = Vec::new();
        let mut position = std::collections::BTreeMap::new();
        let entries: Vec<u32> = labels
            .map(|label| {
                *position.entry(label).or_insert_with(|| {
                    arms.push(label);
                    count(arms.len() - 1)
                })
            })
            .collect();
        if let [only] = arms[..] {
            self.go(only, &span);
            return;
        }
        let first = count(self.drafts.len());
        for (position, label) in arms.iter().enumerate() {
            let edge = self.edge(span.start, EdgeKind::Arm(count(position)), MarkPosition::Split);
            self.arrive(*label, BlockEntry::Edge(edge));
        }
        let carried = |label| label_types(validator, label).expect("the validator has found the label");
        let arms = arms.into_iter().map(|label| (label, carried(label))).collect();
        self.leave(first..count(self.drafts.len()), span.end);
        let table = BranchTable { entries, arms, takes: self.takes.clone() };
        self.splits.push(SplitBranch { span, edge: first, branch: BranchKind::Table(table) });
    }

    /// A `try_table` at `at` names a label, counted from the labels around it.
    fn catch(&mut self, depth: u32, at: u32) {
        let reachable = self.current.is_some();
        let label = self.label(depth);
        if label.caught || !reachable {
            return;
        }
        label.caught = true;
        if let Some((head, anchor)) = label.head {
            let spot = MarkPosition::At { at: head, place: EditPosition::After, anchor };
            self.edge(at, EdgeKind::Landing, spot);
        }
    }

    /// The `end` of a label.
    fn close(&mut self, span: Range<u32>) {
        let label = self.labels.pop().expect("the validator has matched each end");
        let mut ways: Vec<BlockEntry> = Vec::new();
        if let Some(other) = label.else_edge {
            self.drafts[other as usize].spot = MarkPosition::NewElse { end: span.start };
            ways.push(BlockEntry::Edge(other));
        }
        let mut next = label.arrivals;
        while next != NONE {
            let (way, before) = self.arrivals[next as usize];
            ways.push(way);
            next = before;
        }
        if self.labels.is_empty() {
            // The function's own: what arrives here leaves.
            if let Some(from) = self.current {
                self.blocks[from as usize].outs = 0..0;
            }
            return;
        }
        if label.caught && label.head.is_none() {
            let spot = MarkPosition::At { at: span.end, place: EditPosition::After, anchor: span.start };
            let landing = self.edge(span.start, EdgeKind::Landing, spot);
            // Each way ends here without telling on; the landing tells.
            self.enter(span.end, &[BlockEntry::Edge(landing)]);
            self.drafts[landing as usize].alone_into = None;
            return;
        }
        match (self.current, &ways[..]) {
            (_, []) => {}
            (None, [BlockEntry::Flow(from)]) => self.resume(span.end, Some(*from)),
            (None, _) => self.enter(span.end, &ways),
            (Some(from), _) => {
                ways.push(BlockEntry::Flow(from));
                self.enter(span.end, &ways);
            }
        }
    }

    /// Asks for the edits of the function, and adds its edges to those of the component. The function has this index in the
    /// module.
    pub(crate) fn finish(
        &mut self,
        spans: &BodySpans,
        index: u32,
        module: &mut ModuleRewriter<'_>,
        sites: &mut Sites,
        edits: &mut Edits,
    ) -> Result<(), Error> {
        self.told_by.clear();
        let every = module.coverage == CoverageMode::Every;
        self.told_by.extend(self.drafts.iter().map(|draft| {
            let block = &self.blocks[draft.alone_into? as usize];
            (!every && block.straight && !block.outs.is_empty()).then(|| block.outs.clone())
        }));
        let first = module.kept;
        let drafted = EdgeDraft {
            edges: self.drafts.iter().zip(&self.told_by).map(|(draft, told)| (draft.offset, draft.kind, told.clone())),
            blocks: self.blocks.iter().map(|block| (block.ins.clone(), block.outs.clone(), block.sole)),
            ins: &self.ins,
            stretches: &self.stretches,
            end: spans.operators.end,
        };
        sites.add(module.ordinal, index, drafted, &mut module.kept)?;

        let any = module.kept > first;
        let local = if any && module.coverage == CoverageMode::Counters { edits.local_i32() } else { 0 };
        let marker =
            EdgeMarker { coverage: module.coverage, memory: module.side_memory, start: module.layout.coverage, local };
        let mut bytes = first..;
        let bytes: Vec<Option<u32>> =
            self.told_by.iter().map(|told| if told.is_none() { bytes.next() } else { None }).collect();
        for (draft, byte) in self.drafts.iter().zip(&bytes) {
            let Some(byte) = *byte else { continue };
            match draft.spot {
                MarkPosition::At { at, place, anchor } => {
                    edits.insert(at, place, anchor, SegmentKind::Injected, |code| marker.mark(byte, code));
                }
                MarkPosition::NewElse { end } => {
                    edits.insert(end, EditPosition::Before, end, SegmentKind::Injected, |code| {
                        code.else_();
                        marker.mark(byte, code);
                    })
                }
                MarkPosition::Open => unreachable!("the validator has matched each if"),
                MarkPosition::Split => {}
            }
        }
        let mut out = EdgeWriter { marker, module, edits };
        for split in &self.splits {
            split.emit(&bytes[split.edge as usize..], &mut out)?;
        }
        Ok(())
    }
}

/// What splits are written to.
struct EdgeWriter<'o, 'm> {
    marker: EdgeMarker,
    module: &'o mut ModuleRewriter<'m>,
    edits: &'o mut Edits,
}

impl SplitBranch {
    /// `bytes` are those of the branch's edges, and of others behind.
    fn emit(&self, bytes: &[Option<u32>], out: &mut EdgeWriter<'_, '_>) -> Result<(), Error> {
        let EdgeWriter { marker, module, edits } = out;
        match &self.branch {
            BranchKind::If { label, carried } => {
                let Some(byte) = bytes[0] else { return Ok(()) };
                let ty = module.block(carried, carried)?;
                edits.replace(self.span.clone(), |code| {
                    code.if_(ty);
                    marker.mark(byte, code);
                    code.br(label + 1).end();
                });
            }
            BranchKind::On { test, label, takes, branches, leaves } => {
                let Some(byte) = bytes[0] else { return Ok(()) };
                let (outer, inner) = (module.block(takes, leaves)?, module.block(takes, branches)?);
                edits.replace(self.span.clone(), |code| {
                    code.block(outer).block(inner);
                    test.branch(code);
                    code.br(1).end();
                    marker.mark(byte, code);
                    code.br(label + 1).end();
                });
            }
            BranchKind::Table(table) => table.emit(self.span.clone(), bytes, out)?,
        }
        Ok(())
    }
}

impl BranchTable {
    /// The kept arms go through a mark first.
    fn emit(&self, span: Range<u32>, bytes: &[Option<u32>], out: &mut EdgeWriter<'_, '_>) -> Result<(), Error> {
        let EdgeWriter { marker, module, edits } = out;
        let mut kept = Vec::new();
        let mut goes = Vec::with_capacity(self.arms.len());
        for ((label, carried), byte) in self.arms.iter().zip(bytes) {
            goes.push(byte.map_or(Err(*label), |_| Ok(count(kept.len()))));
            if let Some(byte) = *byte {
                kept.push((*label, byte, module.block(&self.takes, carried)?));
            }
        }
        if kept.is_empty() {
            return Ok(());
        }
        let around = count(kept.len());
        let label = |entry: &u32| goes[*entry as usize].unwrap_or_else(|label| label + around);
        let (default, entries) = self.entries.split_last().expect("a table has a default");
        let targets: Vec<u32> = entries.iter().map(label).collect();
        edits.replace(span, |code| {
            for (_, _, ty) in kept.iter().rev() {
                code.block(*ty);
            }
            code.br_table(targets, label(default));
            for ((label, byte, _), still_around) in kept.iter().zip((0..around).rev()) {
                code.end();
                marker.mark(*byte, code);
                code.br(label + still_around);
            }
        });
        Ok(())
    }
}

/// The types that a branch to this label takes along; `None` when there is no such label.
fn label_types(validator: &BodyValidator, depth: u32) -> Option<Vec<ValType>> {
    let frame = validator.get_control_frame(depth as usize)?;
    let head = frame.kind == FrameKind::Loop;
    Some(match frame.block_type {
        wasmparser::BlockType::Empty => Vec::new(),
        wasmparser::BlockType::Type(ty) => {
            if head {
                Vec::new()
            } else {
                vec![ty]
            }
        }
        wasmparser::BlockType::FuncType(index) => {
            let ty = validator.resources().sub_type_at(index)?.unwrap_func();
            if head { ty.params().to_vec() } else { ty.results().to_vec() }
        }
    })
}

/// The types of the topmost operands, the topmost last. In code that cannot be reached there may be fewer.
fn top(validator: &BodyValidator, operands: usize) -> impl Iterator<Item = ValType> {
    (0..operands).rev().filter_map(|depth| validator.get_operand_type(depth).flatten())
}

/// A number of things in one function body, which has fewer bytes than fit.
fn count(found: usize) -> u32 {
    u32::try_from(found).expect("things in a function body fit into 32 bits")
}
