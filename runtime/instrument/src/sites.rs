//! The edges of a component: where each one is, and how to tell from the kept bytes which were taken.
//!
//! ```text
//! edge     0 entry   1 then    2 else    3 entry ...
//! source   1 or 2    byte 0    byte 1    byte 2
//! ```
//!
//! Ids are positions in the component: modules in the order of the bytes, functions in order, operators in order. They
//! are the same on every machine and for every choice of passes, as long as the choice of modules is the same.
//!
//! An edge is stored ("kept") only when others do not tell it. What is left out:
//! an edge into a block that nothing else leads to, when the block cannot be left before the branch at its end. It was taken
//! when one of that branch's edges was. What can leave a block early is a call (which may throw, exit or never
//! return), so that an edge into a block with a call is always kept, and a trap (of a load, a division, a budget).
//! A trap cuts one block only, the one in the innermost frame: [`Sites::hits`] takes its place, and is exact with
//! it. Without it, the edges into that one block may be missing; nothing else differs.
//!
//! Blocks are the stretches between edges, for reports by line. A block whose code is entered
//! without an edge (two arms that meet) was reached when an edge out of it was taken, or else when one of the blocks
//! that lead to it was: the second is a guess where a call in that block never returned.

use crate::edit::offset_u32;
use crate::{Error, ModuleOrdinal, OriginalOffset};
use std::ops::Range;

/// Most edges of a component. Programs have some for each twenty bytes; a hostile one is refused with
/// [`crate::Error::NoRoom`].
pub const EDGES_MAX: usize = 1 << 24;

/// Position of an edge among all edges of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeId(pub u32);

/// What kind of edge it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EdgeKind {
    /// A function was entered, by whatever kind of call: calls through tables are seen here, at the callee.
    Entry,
    /// An `if` whose condition held.
    Then,
    /// An `if` whose condition did not hold, with or without an `else`.
    Else,
    /// A conditional branch that was taken.
    Taken,
    /// A conditional branch that was not taken.
    FallThrough,
    /// A `br_table` that went to its nth distinct target, in the order in which the table names them, the default last.
    Arm(u32),
    /// An unconditional branch back to the head of a loop.
    Back,
    /// Control arrived at a label where a `try_table` catches, by an exception or otherwise.
    Landing,
}

/// One edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its position among all.
    pub id: EdgeId,
    /// The core module.
    pub module: ModuleOrdinal,
    /// Index of the function in its module, imported ones included.
    pub function: u32,
    /// The operator that branches; for an entry the first one of the function.
    pub offset: OriginalOffset,
    /// What it does.
    pub kind: EdgeKind,
    /// Its byte among the coverage bytes of its module; `None` when it follows from others.
    pub kept: Option<u32>,
}

/// Code between edges, in the order of the bytes; a block that dead code interrupts comes in several stretches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeRange {
    /// The core module.
    pub module: ModuleOrdinal,
    /// Index of the function in its module, imported ones included.
    pub function: u32,
    /// The operators, from the first one to the end of the last.
    pub range: Range<OriginalOffset>,
    /// The block, as a position in what [`Sites::blocks_hit`] returns; `None` for code that cannot be reached.
    pub block: Option<u32>,
}

/// How an edge is known to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EdgeSource {
    /// By its own byte.
    Kept(u32),
    /// It was taken if any of these edges was; all of them come later.
    AnyOf { start: u32, end: u32 },
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct StoredEdge {
    offset: u32,
    kind: EdgeKind,
    source: EdgeSource,
}

/// How control enters a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlockEntry {
    Edge(u32),
    /// Straight on, or by an unconditional branch, from another block.
    Flow(u32),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct SiteBlock {
    ins: Range<u32>,
    outs: Range<u32>,
    /// The only edge that leads into it.
    sole: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct FunctionSites {
    module: ModuleOrdinal,
    index: u32,
    edges: Range<u32>,
    stretches: Range<u32>,
    end: u32,
}

/// All edges of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    functions: Vec<FunctionSites>,
    edges: Vec<StoredEdge>,
    blocks: Vec<SiteBlock>,
    ins: Vec<BlockEntry>,
    /// Where a stretch starts, and its block.
    stretches: Vec<(u32, Option<u32>)>,
    /// Bytes of each module that has any.
    kept: Vec<(ModuleOrdinal, u32)>,
}

impl Sites {
    /// Number of edges.
    #[must_use]
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether there is none, as without coverage.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }

    /// Number of coverage bytes of a module.
    #[must_use]
    pub fn kept(&self, module: ModuleOrdinal) -> u32 {
        self.kept.iter().find(|(found, _)| *found == module).map_or(0, |(_, kept)| *kept)
    }

    /// The edge at a position.
    #[must_use]
    pub fn get(&self, id: EdgeId) -> Option<Edge> {
        let stored = self.edges.get(id.0 as usize)?;
        let after = self.functions.partition_point(|function| function.edges.start <= id.0);
        Some(edge(&self.functions[after.checked_sub(1)?], id.0, stored))
    }

    /// All edges, in order.
    pub fn iter(&self) -> impl Iterator<Item = Edge> {
        self.functions.iter().flat_map(|function| {
            function.edges.clone().map(|position| edge(function, position, &self.edges[position as usize]))
        })
    }

    /// The code of all functions that have edges, cut at the edges, in order.
    pub fn stretches(&self) -> impl Iterator<Item = CodeRange> {
        self.functions.iter().flat_map(|function| {
            let stretches = &self.stretches[function.stretches.start as usize..function.stretches.end as usize];
            stretches.iter().enumerate().map(|(position, &(start, block))| {
                let end = stretches.get(position + 1).map_or(function.end, |&(next, _)| next);
                let range = OriginalOffset(start)..OriginalOffset(end);
                CodeRange { module: function.module, function: function.index, range, block }
            })
        })
    }

    /// Which edges were taken, by position. `bytes` gives the coverage bytes of a module (several instances put together),
    /// where bytes that are missing count as zero; `trap` is where the execution was cut off, when it was.
    #[must_use]
    pub fn hits<'b>(&self, bytes: impl Fn(ModuleOrdinal) -> &'b [u8], trap: Option<OriginalOffset>) -> Vec<bool> {
        let mut hits = vec![false; self.edges.len()];
        let trapped = trap.and_then(|offset| self.block_at(offset)).map(|block| &self.blocks[block as usize]);
        for function in self.functions.iter().rev() {
            let bytes = bytes(function.module);
            let kept = |position: u32| bytes.get(position as usize).is_some_and(|byte| *byte != 0);
            for position in function.edges.clone().rev() {
                hits[position as usize] = match self.edges[position as usize].source {
                    EdgeSource::Kept(byte) => kept(byte),
                    EdgeSource::AnyOf { start, end } => {
                        let trapped_behind = trapped.is_some_and(|block| block.sole == Some(position));
                        trapped_behind || hits[start as usize..end as usize].contains(&true)
                    }
                };
            }
        }
        hits
    }

    /// Which blocks were reached, from what [`Sites::hits`] has found and the same `trap`.
    #[must_use]
    pub fn blocks_hit(&self, hits: &[bool], trap: Option<OriginalOffset>) -> Vec<bool> {
        let hit = |edge: u32| hits.get(edge as usize).copied().unwrap_or(false);
        let mut reached = vec![false; self.blocks.len()];
        for (position, block) in self.blocks.iter().enumerate() {
            let entered = self.ins[block.ins.start as usize..block.ins.end as usize].iter().any(|into| match *into {
                BlockEntry::Edge(edge) => hit(edge),
                BlockEntry::Flow(block) => reached[block as usize],
            });
            reached[position] = entered || block.outs.clone().any(hit);
        }
        if let Some(block) = trap.and_then(|offset| self.block_at(offset)) {
            reached[block as usize] = true;
        }
        reached
    }

    /// How often each edge was taken, by position, when `bytes` are counters: what is left out adds up from what tells it.
    /// Zero exactly where [`Sites::hits`] is false.
    #[must_use]
    pub fn counts<'b>(&self, bytes: impl Fn(ModuleOrdinal) -> &'b [u8], trap: Option<OriginalOffset>) -> Vec<u64> {
        let mut counts = vec![0_u64; self.edges.len()];
        let trapped = trap.and_then(|offset| self.block_at(offset)).and_then(|block| self.blocks[block as usize].sole);
        for function in self.functions.iter().rev() {
            let bytes = bytes(function.module);
            for position in function.edges.clone().rev() {
                counts[position as usize] = match self.edges[position as usize].source {
                    EdgeSource::Kept(byte) => bytes.get(byte as usize).map_or(0, |byte| u64::from(*byte)),
                    EdgeSource::AnyOf { start, end } => {
                        let told = counts[start as usize..end as usize].iter();
                        let told = told.fold(0, |sum: u64, count| sum.saturating_add(*count));
                        told.saturating_add(u64::from(trapped == Some(position)))
                    }
                };
            }
        }
        counts
    }

    /// How often each block was reached, from what [`Sites::counts`] has found and the same `trap`. Zero exactly where
    /// [`Sites::blocks_hit`] is false.
    #[must_use]
    pub fn block_counts(&self, counts: &[u64], trap: Option<OriginalOffset>) -> Vec<u64> {
        let count = |edge: u32| counts.get(edge as usize).copied().unwrap_or(0);
        let mut reached = vec![0_u64; self.blocks.len()];
        for (position, block) in self.blocks.iter().enumerate() {
            let ins = self.ins[block.ins.start as usize..block.ins.end as usize].iter();
            let entered = ins.fold(0_u64, |sum, into| {
                sum.saturating_add(match *into {
                    BlockEntry::Edge(edge) => count(edge),
                    BlockEntry::Flow(block) => reached[block as usize],
                })
            });
            let left = block.outs.clone().fold(0_u64, |sum, edge| sum.saturating_add(count(edge)));
            reached[position] = entered.max(left);
        }
        if let Some(block) = trap.and_then(|offset| self.block_at(offset)) {
            reached[block as usize] = reached[block as usize].max(1);
        }
        reached
    }

    /// Number of blocks.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.blocks.len()
    }

    /// Adds a function whose edges and blocks are `drafted`, with positions inside of the function, and says which byte of
    /// its module each edge has. `kept` counts those of the module so far.
    pub(crate) fn add<E, B>(
        &mut self,
        module: ModuleOrdinal,
        index: u32,
        drafted: EdgeDraft<'_, E, B>,
        kept: &mut u32,
    ) -> Result<(), Error>
    where
        E: Iterator<Item = (u32, EdgeKind, Option<Range<u32>>)>,
        B: Iterator<Item = (Range<u32>, Range<u32>, Option<u32>)>,
    {
        let first = offset_u32(self.edges.len());
        let (block, into) = (offset_u32(self.blocks.len()), offset_u32(self.ins.len()));
        let stretch = offset_u32(self.stretches.len());
        for (offset, kind, told_by) in drafted.edges {
            let source = match told_by {
                Some(Range { start, end }) => EdgeSource::AnyOf { start: first + start, end: first + end },
                None => {
                    *kept += 1;
                    EdgeSource::Kept(*kept - 1)
                }
            };
            self.edges.push(StoredEdge { offset, kind, source });
        }
        for (ins, outs, sole) in drafted.blocks {
            self.blocks.push(SiteBlock {
                ins: into + ins.start..into + ins.end,
                outs: first + outs.start..first + outs.end,
                sole: sole.map(|edge| first + edge),
            });
        }
        self.ins.extend(drafted.ins.iter().map(|into| match *into {
            BlockEntry::Edge(edge) => BlockEntry::Edge(first + edge),
            BlockEntry::Flow(from) => BlockEntry::Flow(block + from),
        }));
        let stretches = drafted.stretches.iter();
        self.stretches.extend(stretches.map(|&(start, inside)| (start, inside.map(|inside| block + inside))));
        self.functions.push(FunctionSites {
            module,
            index,
            edges: first..offset_u32(self.edges.len()),
            stretches: stretch..offset_u32(self.stretches.len()),
            end: drafted.end,
        });
        match self.kept.last_mut() {
            Some((last, count)) if *last == module => *count = *kept,
            _ => self.kept.push((module, *kept)),
        }
        if self.edges.len() > EDGES_MAX {
            let (found, limit) = (self.edges.len() as u64, EDGES_MAX as u64);
            return Err(Error::NoRoom { offset: drafted.end as usize, what: "edges", found, limit });
        }
        Ok(())
    }

    fn block_at(&self, offset: OriginalOffset) -> Option<u32> {
        let after = self.stretches.partition_point(|(start, _)| *start <= offset.0);
        self.stretches[after.checked_sub(1)?].1
    }
}

/// What the pass has found in one function; positions count from its first edge, block and entry.
pub(crate) struct EdgeDraft<'d, E, B> {
    /// Offset, kind, and the edges that tell it.
    pub(crate) edges: E,
    /// Ways in, edges out, and the only edge in.
    pub(crate) blocks: B,
    pub(crate) ins: &'d [BlockEntry],
    pub(crate) stretches: &'d [(u32, Option<u32>)],
    pub(crate) end: u32,
}

fn edge(function: &FunctionSites, position: u32, stored: &StoredEdge) -> Edge {
    Edge {
        id: EdgeId(position),
        module: function.module,
        function: function.index,
        offset: OriginalOffset(stored.offset),
        kind: stored.kind,
        kept: match stored.source {
            EdgeSource::Kept(byte) => Some(byte),
            EdgeSource::AnyOf { .. } => None,
        },
    }
}
