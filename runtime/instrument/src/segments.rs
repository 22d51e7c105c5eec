//! Data segments: thousands of small ones become a few, and the change in the fuel of a start is reported.
//!
//! ```text
//! original   │ abc │ 12 zeros │ de │ 9 zeros │ fgh │     three segments; linkers leave out runs of zeros
//! written    │ abc 000000000000 de 000000000 fgh   │     one segment
//! ```
//!
//! The compiler writes one function that copies all segments of a module when it is instantiated, and takes more than linear time for
//! it: the Go linker and tools that bake an initialised memory into a module make up to a hundred thousand segments, and that
//! function took longer than all others together.
//!
//! Invariants: memory holds the same bytes afterwards. Zeros are written only where a memory that the module itself defines is still
//! as new, and never a page of the host that no segment reached before ([`GAP_BYTES_MAX`]), since checkpoints take the pages that a
//! start writes as known. A start costs fuel for each byte and for each segment; the difference is added to what a start is given,
//! so that as much is left as in the original, and therefore a module is left alone unless it is instantiated exactly once.
//! A budget that does not even last for the start ends in it all the same, with other parts of the memory written.
//! Not here: segments that code refers to by their index; such a module is left alone.

use crate::Error;
use crate::edit::offset_u32;
use crate::prescan::foreign_modules;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use wasm_encoder::{ConstExpr, DataSection, Encode};
use wasmparser::{
    ComponentAlias, ComponentExternalKind, ComponentInstance, ComponentOuterAliasKind, Data, DataKind,
    DataSectionReader, Encoding, Instance, Operator, Parser, Payload,
};

/// Segments that a compiler handles well: a module with no more than these is left unchanged.
const SEGMENTS_KEPT: u32 = 64;
/// Zeros that are written between two segments. Fewer than a page of the host has, so that each page that is written has bytes of a segment.
const GAP_BYTES_MAX: u64 = 1024;

/// Zeros that are written in all: segments of one byte each, far apart, would be a thousand times as large.
const ZEROS_MAX: u64 = 32 << 20;

/// The segments of a module as they are written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MergedSegments {
    pub(crate) count: u32,
    /// Entries of the section.
    pub(crate) entries: Vec<u8>,
    /// What the start costs beyond the original's, in fuel.
    pub(crate) fuel: i64,
}

/// Segments with at most small gaps between them.
struct SegmentRun {
    memory: u32,
    bytes: Range<u64>,
    data: Vec<u8>,
}

/// The core modules, by position, that are instantiated exactly once whenever the component is.
pub(crate) fn instantiated_once(component: &[u8]) -> Result<BTreeSet<u32>, Error> {
    let mut parser = Parser::new(0);
    parser.set_features(crate::features());
    let mut open: Vec<Encoding> = Vec::new();
    let mut modules = 0;
    // Modules of the outermost component by index, and how often each is instantiated.
    let mut indices: Vec<Option<u32>> = Vec::new();
    let mut instances: BTreeMap<u32, u32> = BTreeMap::new();
    for payload in parser.parse_all(component) {
        let payload = payload?;
        if hands_module_on(&payload)? {
            return Ok(BTreeSet::new());
        }
        match &payload {
            Payload::Version { encoding, .. } => {
                if *encoding == Encoding::Module {
                    if open.len() == 1 {
                        indices.push(Some(modules));
                    }
                    modules += 1;
                }
                open.push(*encoding);
            }
            Payload::End(_) => {
                open.pop();
            }
            payload if open == [Encoding::Component] => {
                indices.extend(std::iter::repeat_n(None, foreign_modules(payload)?));
                let Payload::InstanceSection(reader) = payload else { continue };
                for instance in reader.clone() {
                    if let Instance::Instantiate { module_index, .. } = instance?
                        && let Some(Some(module)) = indices.get(module_index as usize)
                    {
                        *instances.entry(*module).or_default() += 1;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(instances.into_iter().filter(|(_, count)| *count == 1).map(|(module, _)| module).collect())
}

/// Whether a section of a component passes a module on, so that it can be instantiated elsewhere.
fn hands_module_on(payload: &Payload<'_>) -> Result<bool, Error> {
    let mut found = false;
    match payload {
        Payload::ComponentAliasSection(reader) => {
            for alias in reader.clone() {
                found |= matches!(alias?, ComponentAlias::Outer { kind: ComponentOuterAliasKind::CoreModule, .. });
            }
        }
        Payload::ComponentExportSection(reader) => {
            for export in reader.clone() {
                found |= export?.kind == ComponentExternalKind::Module;
            }
        }
        Payload::ComponentInstanceSection(reader) => {
            for instance in reader.clone() {
                found |= match instance? {
                    ComponentInstance::Instantiate { args, .. } => {
                        args.iter().any(|arg| arg.kind == ComponentExternalKind::Module)
                    }
                    ComponentInstance::FromExports(exports) => {
                        exports.iter().any(|export| export.kind == ComponentExternalKind::Module)
                    }
                };
            }
        }
        _ => {}
    }
    Ok(found)
}

/// Merges the segments of a module; `None` when they are few, or cannot be merged. `memories` are the sizes in bytes of the memories that
/// the module defines itself, and `None` for all others.
pub(crate) fn merge(reader: &DataSectionReader<'_>, memories: &[Option<u64>]) -> Result<Option<MergedSegments>, Error> {
    if reader.count() <= SEGMENTS_KEPT {
        return Ok(None);
    }
    let mut written = WrittenRanges::default();
    let mut runs: Vec<SegmentRun> = Vec::new();
    let (mut original, mut zeros) = (0, 0);
    for segment in reader.clone() {
        let segment = segment?;
        let Some((memory, start)) = constant_start(&segment)? else { return Ok(None) };
        let end = start + segment.data.len() as u64;
        // What does not fit, or may not be as new, stays a fault at the same point.
        if !memories.get(memory as usize).is_some_and(|bytes| bytes.is_some_and(|bytes| end <= bytes)) {
            return Ok(None);
        }
        original += cost(segment.data.len());
        if segment.data.is_empty() {
            continue;
        }
        match runs.last_mut() {
            Some(run)
                if run.memory == memory
                    && (run.bytes.end..=run.bytes.end + GAP_BYTES_MAX).contains(&start)
                    && zeros + start - run.bytes.end <= ZEROS_MAX
                    && written.is_new(memory, run.bytes.end..start) =>
            {
                zeros += start - run.bytes.end;
                run.data.resize(run.data.len() + (start - run.bytes.end) as usize, 0);
                run.data.extend_from_slice(segment.data);
                written.add(memory, run.bytes.end..end);
                run.bytes.end = end;
            }
            _ => {
                written.add(memory, start..end);
                runs.push(SegmentRun { memory, bytes: start..end, data: segment.data.to_vec() });
            }
        }
    }
    let fuel = runs.iter().map(|run| cost(run.data.len())).sum::<i64>() - original;
    let count = offset_u32(runs.len());
    let mut section = DataSection::new();
    for run in runs {
        let start = u32::try_from(run.bytes.start).expect("it is an offset of 32 bits").cast_signed();
        section.active(run.memory, &ConstExpr::i32_const(start), run.data);
    }
    Ok(Some(MergedSegments { count, entries: entries_of(&section), fuel }))
}

/// What wasmtime counts for a segment: its constant offset, and each byte.
fn cost(bytes: usize) -> i64 {
    1 + i64::try_from(bytes).expect("a component is far smaller")
}

/// Memory and offset of an active segment with a constant one.
fn constant_start(segment: &Data<'_>) -> Result<Option<(u32, u64)>, Error> {
    let DataKind::Active { memory_index, offset_expr } = &segment.kind else { return Ok(None) };
    let mut operators = offset_expr.get_operators_reader();
    let (first, second) = (operators.read()?, operators.read()?);
    Ok(match (first, second) {
        (Operator::I32Const { value }, Operator::End) => Some((*memory_index, u64::from(value.cast_unsigned()))),
        _ => None,
    })
}

fn entries_of(section: &DataSection) -> Vec<u8> {
    let mut bytes = Vec::new();
    section.encode(&mut bytes);
    let mut reader = wasmparser::BinaryReader::new(&bytes, 0);
    for _ in ["size", "count"] {
        reader.read_var_u32().expect("a section starts with its size and count");
    }
    let start = reader.original_position();
    bytes.split_off(start)
}

/// The ranges of the memories that were written so far, apart from each other.
#[derive(Default)]
struct WrittenRanges(BTreeMap<(u32, u64), u64>);

impl WrittenRanges {
    /// Whether nothing in `range` was written.
    fn is_new(&self, memory: u32, range: Range<u64>) -> bool {
        let before = self.0.range(..(memory, range.end)).next_back();
        before.is_none_or(|((of, _), end)| *of != memory || *end <= range.start)
    }

    fn add(&mut self, memory: u32, mut range: Range<u64>) {
        while let Some((&(of, start), &end)) = self.0.range(..=(memory, range.end)).next_back()
            && of == memory
            && end >= range.start
        {
            self.0.remove(&(of, start));
            range = start.min(range.start)..end.max(range.end);
        }
        self.0.insert((memory, range.start), range.end);
    }
}
