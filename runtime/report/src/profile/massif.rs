//! The formats of Valgrind's heap profilers: massif, which `ms_print` reads, and DHAT, which `dh_view.html` reads.
//! <https://valgrind.org/docs/manual/ms-manual.html>, <https://valgrind.org/docs/manual/dh-manual.html>
//!
//! Time is bytes allocated and freed, as with `--time-unit=B`: it is the same on every machine.

use super::heap::{HeapMoment, HeapPlace, HeapTree};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Deepest frames of a tree of massif: as with `--depth`.
const DEPTH_MAX: usize = 30;

pub(super) fn write(heap: &HeapTree) -> Vec<u8> {
    let mut text = format!("desc: fozzy\ncmd: {}\ntime_unit: B\n", one_line(&heap.tree.run));
    // `ms_print` wants one at least.
    let nothing = [HeapMoment::default()];
    let moments = if heap.moments.is_empty() { &nothing[..] } else { &heap.moments };
    for (number, moment) in moments.iter().enumerate() {
        let _ = write!(
            text,
            "#-----------\nsnapshot={number}\n#-----------\ntime={}\nmem_heap_B={}\nmem_heap_extra_B=0\nmem_stacks_B=0\n",
            moment.at, moment.bytes
        );
        let Some(by_place) = &moment.by_place else {
            text.push_str("heap_tree=empty\n");
            continue;
        };
        let _ = writeln!(text, "heap_tree={}", if moment.is_peak { "peak" } else { "detailed" });
        // From the allocation outwards: what has the same innermost frames stands together.
        let stacks: Vec<(Vec<String>, u64)> =
            by_place.iter().map(|(place, bytes)| (frames(heap, *place, DEPTH_MAX), *bytes)).collect();
        let all: Vec<(&[String], u64)> = stacks.iter().map(|(stack, bytes)| (stack.as_slice(), *bytes)).collect();
        branch(&all, "(heap allocation functions)", moment.bytes, 0, &mut text);
    }
    text.into_bytes()
}

fn branch(stacks: &[(&[String], u64)], name: &str, bytes: u64, depth: usize, text: &mut String) {
    let mut callers: BTreeMap<&str, Vec<(&[String], u64)>> = BTreeMap::new();
    for (stack, bytes) in stacks {
        if let Some((first, rest)) = stack.split_first().filter(|_| depth < DEPTH_MAX) {
            callers.entry(first).or_default().push((rest, *bytes));
        }
    }
    let _ = writeln!(text, "{}n{}: {bytes} {name}", " ".repeat(depth), callers.len());
    let sum = |stacks: &[(&[String], u64)]| stacks.iter().map(|(_, bytes)| bytes).sum::<u64>();
    let mut callers: Vec<_> = callers.into_iter().map(|(name, stacks)| (sum(&stacks), name, stacks)).collect();
    callers.sort_by_key(|(bytes, ..)| std::cmp::Reverse(*bytes));
    for (bytes, name, stacks) in callers {
        branch(&stacks, name, bytes, depth + 1, text);
    }
}

fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '_' } else { c }).collect()
}

/// `0x0: NAME (FILE:LINE)`, the innermost first, as both formats have it.
fn frames(heap: &HeapTree, place: HeapPlace, most: usize) -> Vec<String> {
    let frame = |(name, file, line): (&str, Option<&str>, u32)| {
        let name = one_line(name);
        match file {
            Some(file) if line > 0 => format!("0x0: {name} ({}:{line})", one_line(file)),
            _ => format!("0x0: {name} (in the program)"),
        }
    };
    heap.frames(place).take(most).map(frame).collect()
}

pub(super) fn write_dhat(heap: &HeapTree) -> Vec<u8> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut table = vec!["[root]".to_owned()];
    let mut points = Vec::new();
    for (place, counts) in &heap.counts {
        let mut stack = Vec::new();
        for frame in frames(heap, *place, usize::MAX) {
            let number = *numbers.entry(frame.clone()).or_insert(table.len());
            if number == table.len() {
                table.push(frame);
            }
            stack.push(number);
        }
        points.push(json!({
            "tb": counts.bytes, "tbk": counts.blocks, "tl": counts.lifetimes,
            "mb": counts.most_bytes, "mbk": counts.most_blocks,
            "gb": counts.peak_bytes, "gbk": counts.peak_blocks,
            "eb": counts.live_bytes, "ebk": counts.live_blocks,
            "fs": stack,
        }));
    }
    let peak = heap.moments.iter().find(|moment| moment.is_peak).map_or(0, |moment| moment.at);
    let document = json!({
        "dhatFileVersion": 2, "mode": "heap", "verb": "Allocated", "bklt": true, "bkacc": false,
        "tu": "bytes", "Mtu": "Mbytes", "tuth": 1000, "cmd": heap.tree.run, "pid": 0,
        "tg": peak, "te": heap.ended_at, "pps": Value::from(points), "ftbl": table,
    });
    let mut text = document.to_string();
    text.push('\n');
    text.into_bytes()
}
