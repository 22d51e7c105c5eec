//! Blocks that were allocated, by path, with the names of the source.
//!
//! Functions of the allocator are left out of the tree: a block belongs to the line that called the outermost one of them.
//!
//! Not here: which functions allocate (`fozzy-instrument`), which blocks are in use (`fozzy-engine`), documents (`fozzy-report`).

use super::call_tree::{Namer, TreeDraft};
use crate::coverage::module_name;
use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::unknown_allocator;
use fozzy_check::is_own;
use fozzy_engine::{HeapProfile, Program, ProgramProfile, Session};
use fozzy_instrument::Allocators;
use fozzy_report::MachineNames;
use fozzy_report::profile::{CallTree, CostUnit, HeapMoment, HeapPlace, HeapSite, HeapTree};
use fozzy_trace::outcome::{SourceLocation, StackFrame};
use fozzy_trace::plan::AllocatorChoice;
use fozzy_trace::{FlowHeap, HeapCounts, Plan, counted};
use std::collections::{BTreeMap, BTreeSet};

/// Functions that a program ends by, or is entered by: what they hold are no blocks of the program's own.
const ENDS: [&str; 9] = [
    "exit",
    "_exit",
    "_Exit",
    "__wasi_proc_exit",
    "proc_exit",
    "_start",
    "__main_void",
    "__wasm_call_dtors",
    "__original_main",
];

/// How a remark begins that says of which machine nothing is known.
pub(crate) const UNRECOGNISED: &str = "no allocator was recognised in";

/// What calls `main` of C and holds its arguments as long as the program runs, where they are not seen.
const ARGUMENTS_OF_C: &str = "__main_void";
/// What makes the table of open directories of wasi-libc, once in a run: it never frees the list that the host gives it.
const PREOPENS_OF_C: &str = "__wasilibc_populate_preopens";

/// The heap of the last execution of a session in the build that logs allocations: of the plan's allocators, and of these that are `chosen`.
///
/// # Errors
/// When a function that was chosen is not there.
pub(crate) fn heap_of(
    session: &Session,
    plan: &Plan,
    chosen: &[AllocatorChoice],
    run: String,
    beginning: Option<String>,
) -> Result<HeapTree, CampaignError> {
    let mut draft = TreeDraft::default();
    let mut heap = HeapDraft::default();
    let machines: BTreeSet<_> = session.profiles().keys().map(|(node, _)| *node).collect();
    let names = MachineNames::of(plan);
    let chosen = [&plan.allocators[..], chosen].concat();
    let mut unknown: Option<Vec<AllocatorChoice>> = None;
    for ((node, component), counts) in session.profiles() {
        let Some(program) = session.program_named(*component) else { continue };
        let allocators = Allocators::of(program.component(), &chosen).map_err(unreadable)?;
        heap.watched(program, &allocators, &names.name(*node));
        unknown = Some(match unknown {
            None => allocators.unknown.clone(),
            Some(known) => known.into_iter().filter(|choice| allocators.unknown.contains(choice)).collect(),
        });
        let root = (machines.len() > 1).then(|| draft.machine(&names, *node));
        let mut namer = Namer::new(program);
        heap.add(&mut draft, &mut namer, counts, root);
        heap.remarks.extend(namer.missing());
    }
    if let Some(choice) = unknown.unwrap_or_default().first() {
        return Err(unknown_allocator(choice));
    }
    heap.remarks.extend(beginning);
    let flows = session.flow_names();
    let name = |flow: Option<u32>| flow.and_then(|flow| flows.get(flow as usize)).map(|name| name.to_string());
    let by_flow = heap.by_flow.iter().map(|(flow, found)| (name(*flow), *found));
    // A program without flows has all in none.
    heap.found.by_flow = by_flow.filter(|_| !flows.is_empty()).collect();
    Ok(heap.finish(draft, run))
}

/// The modules of a program that have no names, in words.
fn stripped_modules(program: &Program, allocators: &Allocators) -> Option<String> {
    let names: Vec<String> =
        allocators.nameless.iter().map(|module| format!("`{}`", module_name(program, *module))).collect();
    (!names.is_empty()).then(|| format!("{} was stripped of the names of its functions", names.join(", ")))
}

/// What memory checks cannot see in a program that is executed with them, in words; nothing for a program that is executed without.
#[must_use]
pub fn unchecked_heap(program: &Program) -> Option<String> {
    if !program.switches().memcheck {
        return None;
    }
    let allocators = Allocators::of(program.component(), &program.switches().allocators).ok()?;
    if allocators.collects() {
        return Some(
            "--memcheck checks nothing in main: its blocks are collected, and a collector may look at any memory"
                .to_owned(),
        );
    }
    let is_known = allocators.iter().any(|(_, _, function)| function.name != "cabi_realloc");
    let why = stripped_modules(program, &allocators).filter(|_| !is_known)?;
    Some(format!(
        "{UNRECOGNISED} main: {why}; --memcheck looks at its stack and at null pointers only, and not at \
         its heap; name its functions, as in --allocator malloc=func[12] --allocator free=func[13]"
    ))
}

fn unreadable(error: fozzy_instrument::Error) -> CampaignError {
    CampaignError::new(ErrorKind::Replay, format!("the program of the recording cannot be read: {error}"))
}

/// A heap while it is put together. Places are those of the draft of its tree.
#[derive(Default)]
struct HeapDraft {
    found: HeapTree,
    remarks: Vec<String>,
    /// Calls in which a machine ended.
    open: BTreeSet<String>,
    peak: u64,
    allocators: BTreeSet<String>,
    by_flow: BTreeMap<Option<u32>, FlowHeap>,
    /// Bytes that have leaked or possibly have, by flow and place.
    lost_by_flow: BTreeMap<(Option<u32>, Option<HeapPlace>), u64>,
}

impl HeapDraft {
    /// Notes which functions of a program are watched, or that there are none.
    fn watched(&mut self, program: &Program, allocators: &Allocators, machine: &str) {
        self.allocators.extend(allocators.iter().map(|(_, _, function)| function.name.clone()));
        self.found.is_collected |= allocators.collects();
        // What hosts call is exported, and so has its name always: most of the program's own allocations do not go by it.
        let is_own = allocators.iter().any(|(_, _, function)| function.name != "cabi_realloc");
        if is_own || !allocators.is_empty() && allocators.nameless.is_empty() {
            return;
        }
        let why = stripped_modules(program, allocators)
            .unwrap_or_else(|| "none of its functions has the name of one".to_owned());
        self.remarks.push(format!(
            "{UNRECOGNISED} {machine}: {why}; name its functions, as in --allocator malloc=NAME --allocator free=func[12]"
        ));
    }

    fn add(&mut self, draft: &mut TreeDraft, namer: &mut Namer<'_>, counts: &ProgramProfile, root: Option<usize>) {
        let heap = counts.heap();
        let mut needed: BTreeSet<usize> = heap.counts.keys().copied().flatten().collect();
        let freed = heap.freed_by.keys().flat_map(|(from, by)| [*from, *by]);
        needed.extend(freed.flatten());
        let places = draft.callers(namer, counts, root, &needed);
        let place = |path: Option<usize>| path.and_then(|path| places.get(&path).copied());
        let mut lost_calls = HeapCounts::default();
        for (path, blocks) in &heap.counts {
            match place(*path) {
                Some(place) => self.found.counts.entry(place).or_default().add(blocks),
                None => lost_calls.add(blocks),
            }
        }
        if lost_calls.blocks > 0 {
            let place = (draft.unknown_caller(root), 0);
            self.found.counts.entry(place).or_default().add(&lost_calls);
        }
        for ((from, by), (blocks, bytes)) in &heap.freed_by {
            let (Some(from), Some(by)) = (place(*from), place(*by)) else { continue };
            let sum = self.found.freed_by.entry((from, by)).or_default();
            *sum = (sum.0 + blocks, sum.1 + bytes);
        }
        for (flow, found) in &heap.by_flow {
            self.by_flow.entry(*flow).or_default().add(found);
        }
        for ((flow, path), bytes) in &heap.lost_by_flow {
            *self.lost_by_flow.entry((*flow, place(*path))).or_default() += bytes;
        }
        self.found.frees += heap.frees;
        self.found.failures += heap.failures;
        self.found.unknown_frees += heap.unknown_frees;
        self.found.area = (self.found.area.0 + heap.area.0, self.found.area.1 + heap.area.1);
        let peak = heap.total().peak_bytes;
        if peak > self.peak {
            self.peak = peak;
            self.found.ended_at = heap.ended_at;
            self.found.moments = moments(heap, &place);
        }
        if heap.lost_events > 0 {
            self.remarks.push(format!(
                "memory for the log of allocations was used up: {} are not in it, and what is in use is not known",
                counted(heap.lost_events, "event")
            ));
        }
        for end in &heap.open_calls {
            self.open.extend(open_call(namer, counts, *end));
        }
    }

    fn finish(mut self, draft: TreeDraft, run: String) -> HeapTree {
        self.remarks.sort();
        self.remarks.dedup();
        let mut draft = draft;
        for ((node, line), counts) in &self.found.counts {
            draft.cost(*node, *line, counts.bytes, counts.blocks);
        }
        let (tree, moved) = draft.finish(run, 0, self.remarks);
        let at = |(node, line): HeapPlace| (moved[node], line);
        let mut found = self.found;
        found.counts = found.counts.into_iter().map(|(place, counts)| (at(place), counts)).collect();
        found.freed_by = found.freed_by.into_iter().map(|((from, by), freed)| ((at(from), at(by)), freed)).collect();
        for by_place in found.moments.iter_mut().filter_map(|moment| moment.by_place.as_mut()) {
            *by_place = std::mem::take(by_place).into_iter().map(|(place, bytes)| (at(place), bytes)).collect();
        }
        for ((node, _), counts) in &mut found.counts {
            if is_of_libc(&tree, *node) {
                (counts.lost_blocks, counts.lost_bytes) = (0, 0);
                (counts.doubtful_blocks, counts.doubtful_bytes) = (0, 0);
            }
        }
        for ((flow, place), bytes) in self.lost_by_flow {
            let is_libcs = place.is_some_and(|place| is_of_libc(&tree, at(place).0));
            let position = self.by_flow.keys().position(|known| *known == flow).filter(|_| !is_libcs);
            if let Some((_, of)) = position.and_then(|position| found.by_flow.get_mut(position)) {
                of.lost_bytes += bytes;
            }
        }
        found.tree = CallTree { unit: CostUnit::Bytes, ..tree };
        found.allocators = self.allocators.into_iter().collect();
        let all = found.counts.keys().copied().chain(found.freed_by.keys().map(|(_, by)| *by));
        found.sites = all.collect::<BTreeSet<_>>().into_iter().map(|place| (place, site(&found, place))).collect();
        let doubtful = found.total().doubtful_blocks;
        found.doubt = self.open.into_iter().next().filter(|_| doubtful > 0).map(|call| {
            format!("a machine ended inside of calls (`{call}`), whose own pointers are not seen: what nothing else points to has possibly leaked")
        });
        found
    }
}

/// Whether what is allocated here is the C library's own, which holds it as long as the program runs.
fn is_of_libc(tree: &CallTree, node: usize) -> bool {
    let mut callers = std::iter::successors(Some(node), |node| tree.nodes[*node].parent);
    tree.name(node) == ARGUMENTS_OF_C || callers.any(|node| tree.name(node) == PREOPENS_OF_C)
}

/// How much was in use over time.
fn moments(heap: &HeapProfile, place: &impl Fn(Option<usize>) -> Option<HeapPlace>) -> Vec<HeapMoment> {
    let of = |snapshot: &fozzy_engine::HeapSnapshot| {
        let by_place = snapshot.by_path.as_ref().map(|by_path| {
            let mut sums: BTreeMap<HeapPlace, u64> = BTreeMap::new();
            for (path, bytes) in by_path {
                if let Some(place) = place(Some(*path)) {
                    *sums.entry(place).or_default() += bytes;
                }
            }
            sums
        });
        let (at, bytes, blocks, is_peak) = (snapshot.at, snapshot.bytes, snapshot.blocks, snapshot.is_peak);
        HeapMoment { at, bytes, blocks, by_place, is_peak }
    };
    heap.snapshots.iter().map(of).collect()
}

/// The innermost call in which a run ended, if it is one that may hold blocks.
fn open_call(namer: &mut Namer<'_>, counts: &ProgramProfile, end: usize) -> Option<String> {
    let mut at = Some(end);
    while let Some(path) = at {
        let step = counts.paths()[path].step;
        let name = namer.name(step.module, step.function);
        if step.parent.is_some() && !ENDS.contains(&name.as_str()) {
            return Some(name);
        }
        at = step.parent;
    }
    None
}

/// The innermost frame of a place that is the program's own code, or the innermost of all.
fn site(heap: &HeapTree, place: HeapPlace) -> HeapSite {
    let own = heap.frames(place).find(|(name, file, line)| {
        let source = SourceLocation { file: file.map(str::to_owned), line: Some(*line), ..SourceLocation::default() };
        is_own(&StackFrame { module: String::new(), function: (*name).to_owned(), offset: 0, source })
    });
    let (function, file, line) = own.or_else(|| heap.frames(place).next()).unwrap_or_default();
    HeapSite { function: function.to_owned(), file: file.map(str::to_owned), line }
}
