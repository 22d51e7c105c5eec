//! The format of pprof: a gzip file with one message `perftools.profiles.Profile`.
//! <https://github.com/google/pprof/blob/main/proto/profile.proto>
//!
//! Inlined code differs from calls: a location has a line for each function that is inlined there, the caller last.
//!
//! Invariants: no time and no name stands in the file, so that equal runs give equal bytes.
//! Not here: compression; the content is stored, which every reader of gzip accepts.

use super::protobuf::Message;
use super::{CallTree, HeapPlace, HeapTree};
use fozzy_trace::HeapCounts;
use std::collections::BTreeMap;

/// Types of values: instructions, calls, bytes moved in bulk.
const SAMPLE_TYPES: [(&str, &str); 3] = [("instructions", "count"), ("calls", "count"), ("bulk_bytes", "bytes")];

/// The same of a heap.
const HEAP_TYPES: [(&str, &str); 4] =
    [("alloc_space", "bytes"), ("alloc_objects", "count"), ("inuse_space", "bytes"), ("inuse_objects", "count")];

/// Bytes of a block of stored data.
const STORED_BYTES_MAX: usize = u16::MAX as usize;

/// A place in the code: functions with lines, the innermost first.
type Place = Vec<(usize, u32)>;

pub(super) fn write(tree: &CallTree) -> Vec<u8> {
    let mut writer = ProfileWriter::new(tree, &SAMPLE_TYPES, None);
    writer.samples();
    gzip(&writer.finish())
}

/// The same of a heap, with the types of values that views of heaps know.
pub(super) fn write_heap(heap: &HeapTree) -> Vec<u8> {
    let mut writer = ProfileWriter::new(&heap.tree, &HEAP_TYPES, Some(&heap.counts));
    writer.samples();
    gzip(&writer.finish())
}

struct ProfileWriter<'t> {
    tree: &'t CallTree,
    texts: BTreeMap<&'t str, u64>,
    in_order: Vec<&'t str>,
    places: BTreeMap<Place, u64>,
    types: &'t [(&'static str, &'static str)],
    heap: Option<&'t BTreeMap<HeapPlace, HeapCounts>>,
    values: BTreeMap<Vec<u64>, Vec<u64>>,
}

impl<'t> ProfileWriter<'t> {
    fn new(
        tree: &'t CallTree,
        types: &'t [(&'static str, &'static str)],
        heap: Option<&'t BTreeMap<HeapPlace, HeapCounts>>,
    ) -> ProfileWriter<'t> {
        let mut writer = ProfileWriter {
            tree,
            texts: BTreeMap::new(),
            in_order: Vec::new(),
            places: BTreeMap::new(),
            types,
            heap,
            values: BTreeMap::new(),
        };
        writer.text("");
        writer
    }

    fn text(&mut self, text: &'t str) -> u64 {
        let next = self.in_order.len() as u64;
        let number = *self.texts.entry(text).or_insert(next);
        if number == next {
            self.in_order.push(text);
        }
        number
    }

    fn place(&mut self, place: Place) -> u64 {
        let next = self.places.len() as u64 + 1;
        *self.places.entry(place).or_insert(next)
    }

    fn samples(&mut self) {
        let tree = self.tree;
        // For each node what stands below a sample in it: the places of the callers, and the rest of its own place.
        let mut below: Vec<(Vec<u64>, Place)> = Vec::with_capacity(tree.nodes.len());
        for (position, node) in tree.nodes.iter().enumerate() {
            let (callers, rest) = match node.parent {
                None => (Vec::new(), Vec::new()),
                Some(parent) => {
                    let (callers, rest) = below[parent].clone();
                    let mut place = vec![(tree.nodes[parent].function, node.call_line)];
                    place.extend(rest);
                    match node.is_inlined {
                        true => (callers, place),
                        false => ([vec![self.place(place)], callers].concat(), Vec::new()),
                    }
                }
            };
            let mut calls = node.calls;
            let first = node.lines.keys().next().copied().unwrap_or(0);
            let mut lines = node.lines.clone();
            if calls > 0 {
                lines.entry(first).or_default();
            }
            for (line, cost) in lines {
                let place = [vec![(node.function, line)], rest.clone()].concat();
                let stack = [vec![self.place(place)], callers.clone()].concat();
                let found = match self.heap.map(|heap| heap.get(&(position, line)).copied().unwrap_or_default()) {
                    None => vec![cost.instructions, std::mem::take(&mut calls), cost.bulk_bytes],
                    Some(counts) => vec![counts.bytes, counts.blocks, counts.live_bytes, counts.live_blocks],
                };
                let values = self.values.entry(stack).or_insert_with(|| vec![0; found.len()]);
                values.iter_mut().zip(found).for_each(|(sum, more)| *sum += more);
            }
            below.push((callers, rest));
        }
    }

    fn finish(mut self) -> Vec<u8> {
        let tree = self.tree;
        let mut profile = Message::default();
        for (name, unit) in self.types {
            let mut value = Message::default();
            value.number(1, self.text(name));
            value.number(2, self.text(unit));
            profile.bytes(1, &value.0);
        }
        for (stack, values) in &self.values {
            let mut sample = Message::default();
            sample.numbers(1, stack.iter().copied());
            sample.numbers(2, values.iter().copied());
            profile.bytes(2, &sample.0);
        }
        let mut modules: Vec<&str> = tree.functions.iter().map(|function| function.module.as_str()).collect();
        modules.sort_unstable();
        modules.dedup();
        for (number, module) in (1..).zip(&modules) {
            let mut mapping = Message::default();
            mapping.number(1, number);
            mapping.number(5, self.text(module));
            // Names, files, lines and inlined code are in the file; a reader need not look for them.
            (7..=10).for_each(|field| mapping.number(field, 1));
            profile.bytes(3, &mapping.0);
        }
        let mut places: Vec<(&Place, u64)> = self.places.iter().map(|(place, number)| (place, *number)).collect();
        places.sort_by_key(|(_, number)| *number);
        for (place, number) in places {
            let mut location = Message::default();
            location.number(1, number);
            let module = place.last().map_or("", |(function, _)| tree.functions[*function].module.as_str());
            location.number(2, 1 + modules.binary_search(&module).expect("all modules are there") as u64);
            for (function, line) in place {
                let mut written = Message::default();
                written.number(1, *function as u64 + 1);
                written.number(2, u64::from(*line));
                location.bytes(4, &written.0);
            }
            profile.bytes(4, &location.0);
        }
        for (number, function) in (1..).zip(&tree.functions) {
            let mut written = Message::default();
            written.number(1, number);
            written.number(2, self.text(&function.name));
            written.number(3, self.text(&function.name));
            written.number(4, self.text(function.file.as_deref().unwrap_or("")));
            profile.bytes(5, &written.0);
        }
        let shown = self.text(self.types[0].0);
        self.in_order.iter().for_each(|text| profile.bytes(6, text.as_bytes()));
        profile.number(14, shown);
        profile.0
    }
}

/// A gzip file without a time. <https://www.rfc-editor.org/rfc/rfc1952>
fn gzip(content: &[u8]) -> Vec<u8> {
    const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut out = HEADER.to_vec();
    let blocks = content.chunks(STORED_BYTES_MAX);
    let last = blocks.len().saturating_sub(1);
    for (number, block) in blocks.enumerate() {
        let length = u16::try_from(block.len()).expect("blocks are cut to fit");
        out.push(u8::from(number == last));
        out.extend(length.to_le_bytes());
        out.extend((!length).to_le_bytes());
        out.extend_from_slice(block);
    }
    out.extend(crc32fast::hash(content).to_le_bytes());
    out.extend((content.len() as u32).to_le_bytes());
    out
}
