//! Counts by path with the names of the source.
//!
//! Code that is inlined stands in the tree as a call of its own, below the function whose code it is part of. What the debug
//! information does not name is called by its name in the module, or by its index.
//!
//! Invariant: equal counts have equal trees.

use crate::coverage::module_name;
use fozzy_engine::{PathCounts, Program, ProgramProfile};
use fozzy_instrument::source::{DebugSymbols, LineInfo, SourceFrame};
use fozzy_instrument::{ModuleChoice, ModuleOrdinal, OriginalOffset, ProfileCounter};
use fozzy_report::MachineNames;
use fozzy_report::profile::{CallNode, CallTree, CalledFunction, CodeCost, MERGED_FRAME};
use fozzy_trace::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// Names and lines of one program.
pub(super) struct Namer<'p> {
    program: &'p Program,
    symbols: DebugSymbols,
    /// Operators of the functions that were looked at: the frames of each, outermost first.
    functions: BTreeMap<(ModuleOrdinal, u32), FunctionPlaces>,
}

/// Where the operators of one function are in the source.
struct FunctionPlaces {
    /// Distinct places.
    places: Vec<Vec<SourceFrame>>,
    /// For each counter the places of its operators, in their order.
    counters: Vec<Vec<usize>>,
    /// For each call its place.
    calls: Vec<usize>,
}

impl<'p> Namer<'p> {
    pub(super) fn new(program: &'p Program) -> Namer<'p> {
        Namer { program, symbols: DebugSymbols::new(program.component()), functions: BTreeMap::new() }
    }

    /// What its modules lack that lines and names come from.
    pub(super) fn missing(&self) -> Vec<String> {
        let mut modules: Vec<ModuleOrdinal> = self.functions.keys().map(|(module, _)| *module).collect();
        modules.dedup();
        let nameless = |module: ModuleOrdinal| {
            let own = self.functions.range((module, 0)..=(module, u32::MAX));
            let mut names = own.flat_map(|(_, places)| places.places.iter().flatten()).map(|frame| &frame.function);
            names.all(|name| name.starts_with("wasm-function["))
        };
        let missing = modules.into_iter().filter_map(|module| {
            let name = module_name(self.program, module);
            match self.symbols.line_info(module) {
                LineInfo::Present => None,
                LineInfo::Empty => {
                    Some(format!("`{name}` has no lines: {}", LineInfo::Empty.remedy().unwrap_or_default()))
                }
                // Adapters never have lines.
                LineInfo::Absent if !ModuleChoice::Own.includes([name.as_str()].into_iter()) => None,
                LineInfo::Absent if nameless(module) => {
                    Some(format!("`{name}` was stripped: its functions have no names, and stand here by their index"))
                }
                LineInfo::Absent => {
                    Some(format!("`{name}` has no debug information: functions have no lines of source"))
                }
            }
        });
        missing.collect()
    }

    /// The name of a function.
    pub(super) fn name(&mut self, module: ModuleOrdinal, function: u32) -> String {
        let places = self.places(module, function);
        places.places.first().and_then(|frames| frames.first()).map(|frame| frame.function.clone()).unwrap_or_default()
    }

    fn places(&mut self, module: ModuleOrdinal, function: u32) -> &FunctionPlaces {
        if !self.functions.contains_key(&(module, function)) {
            let places = self.look_up(module, function);
            self.functions.insert((module, function), places);
        }
        &self.functions[&(module, function)]
    }

    fn look_up(&self, module: ModuleOrdinal, function: u32) -> FunctionPlaces {
        let counted = self.program.profile_sites().function(module, function).expect("it was counted");
        let has_lines = self.symbols.line_info(module) == LineInfo::Present;
        let mut found: BTreeMap<Vec<SourceKey>, usize> = BTreeMap::new();
        let mut by_offset: BTreeMap<OriginalOffset, usize> = BTreeMap::new();
        let mut places: Vec<Vec<SourceFrame>> = Vec::new();
        let mut place = |offset: OriginalOffset| -> usize {
            // Without lines, all of a function is one place.
            let offset = if has_lines { offset } else { counted.start };
            *by_offset.entry(offset).or_insert_with(|| {
                let mut frames = self.symbols.frames(module, offset);
                frames.reverse();
                let key = frames.iter().map(|frame| (frame.function.clone(), frame.file.clone(), frame.line)).collect();
                *found.entry(key).or_insert_with(|| {
                    places.push(frames);
                    places.len() - 1
                })
            })
        };
        let counters = counted.counters.iter().map(|counter| match counter {
            ProfileCounter::Segment(operators) => operators.iter().map(|offset| place(*offset)).collect(),
            ProfileCounter::Bytes(offset) => vec![place(*offset)],
        });
        let counters = counters.collect();
        let calls = counted.calls.iter().map(|call| place(call.offset)).collect();
        // What has no operator but is called has a place too.
        let _ = place(counted.start);
        FunctionPlaces { places, counters, calls }
    }
}

/// A frame's function, file and line.
type SourceKey = (String, Option<String>, Option<u32>);

/// What distinguishes the nodes below one caller.
type NodeKey = (Option<usize>, usize, u32, bool);

/// A tree while it is put together, in the order in which paths come.
#[derive(Default)]
pub(super) struct TreeDraft {
    functions: BTreeMap<CalledFunction, usize>,
    nodes: Vec<CallNode>,
    positions: BTreeMap<NodeKey, usize>,
}

impl TreeDraft {
    fn function(&mut self, function: CalledFunction) -> usize {
        let next = self.functions.len();
        *self.functions.entry(function).or_insert(next)
    }

    fn node(&mut self, parent: Option<usize>, function: usize, call_line: u32, is_inlined: bool) -> usize {
        let next = self.nodes.len();
        let position = *self.positions.entry((parent, function, call_line, is_inlined)).or_insert(next);
        if position == next {
            self.nodes.push(CallNode { parent, function, call_line, is_inlined, ..CallNode::default() });
        }
        position
    }

    /// The root below which the calls of a machine stand.
    pub(super) fn machine(&mut self, names: &MachineNames, node: NodeId) -> usize {
        let function =
            self.function(CalledFunction { name: format!("[{}]", names.name(node)), ..CalledFunction::default() });
        self.node(None, function, 0, false)
    }

    /// Adds the counts of a guest below `root`.
    pub(super) fn add(&mut self, namer: &mut Namer<'_>, counts: &ProgramProfile, root: Option<usize>) {
        let nodes = self.nodes_of(namer, counts, root, |_| true);
        for (path, node) in counts.paths().iter().zip(nodes) {
            self.count(namer, path, node);
        }
    }

    /// For each path that is needed its node. All callers of a path that is needed must be, too.
    fn nodes_of(
        &mut self,
        namer: &mut Namer<'_>,
        counts: &ProgramProfile,
        root: Option<usize>,
        is_needed: impl Fn(usize) -> bool,
    ) -> Vec<usize> {
        let mut nodes: Vec<usize> = Vec::with_capacity(counts.paths().len());
        for (position, path) in counts.paths().iter().enumerate() {
            if !is_needed(position) {
                nodes.push(usize::MAX);
                continue;
            }
            let step = path.step;
            let caller = step.parent.map(|parent| self.call_place(namer, counts, position, nodes[parent]));
            let parent = match caller {
                Some((caller, _)) => Some(caller),
                None if step.is_merged => Some(self.unknown_caller(root)),
                None => root,
            };
            let places = namer.places(step.module, step.function);
            let outermost = places.places.first().and_then(|frames| frames.first()).cloned();
            let outermost =
                outermost.map_or_else(CalledFunction::default, |frame| called(namer.program, frame, step.module));
            let function = self.function(outermost);
            let node = self.node(parent, function, caller.map_or(0, |(_, line)| line), false);
            nodes.push(node);
        }
        nodes
    }

    /// The node below which calls stand whose path is not known.
    pub(super) fn unknown_caller(&mut self, root: Option<usize>) -> usize {
        let function = CalledFunction { name: MERGED_FRAME.to_owned(), ..CalledFunction::default() };
        let function = self.function(function);
        self.node(root, function, 0, false)
    }

    /// The callers of these paths: node and line. What is called from outside is its own caller.
    pub(super) fn callers(
        &mut self,
        namer: &mut Namer<'_>,
        counts: &ProgramProfile,
        root: Option<usize>,
        paths: &BTreeSet<usize>,
    ) -> BTreeMap<usize, (usize, u32)> {
        let parent = |path: &usize| counts.paths()[*path].step.parent;
        let all: BTreeSet<usize> = paths.iter().flat_map(|path| std::iter::successors(Some(*path), parent)).collect();
        // Functions of the allocator themselves are left out, unless they have no caller.
        let inside: BTreeSet<usize> = all.iter().filter_map(parent).collect();
        let is_needed = |path: usize| inside.contains(&path) || parent(&path).is_none();
        let needed = |path: usize| all.contains(&path) && is_needed(path);
        let nodes = self.nodes_of(namer, counts, root, needed);
        let mut found = BTreeMap::new();
        for &path in paths {
            let place = match counts.paths()[path].step.parent {
                None => (nodes[path], 0),
                Some(parent) => self.call_place(namer, counts, path, nodes[parent]),
            };
            found.insert(path, place);
        }
        found
    }

    /// Where in the function of `caller` the call of a path stands.
    fn call_place(
        &mut self,
        namer: &mut Namer<'_>,
        counts: &ProgramProfile,
        path: usize,
        caller: usize,
    ) -> (usize, u32) {
        let step = counts.paths()[path].step;
        let of = counts.paths()[step.parent.expect("it has a caller")].step;
        let places = namer.places(of.module, of.function);
        let at = step.call.map(|call| places.places[places.calls[call]].clone()).unwrap_or_default();
        let line = at.last().and_then(|frame| frame.line).unwrap_or(0);
        (self.inner(namer.program, caller, &at, of.module), line)
    }

    /// Adds a cost and calls at a place.
    pub(super) fn cost(&mut self, node: usize, line: u32, cost: u64, calls: u64) {
        let node = &mut self.nodes[node];
        node.lines.entry(line).or_default().add(CodeCost { instructions: cost, bulk_bytes: 0 });
        node.calls += calls;
    }

    /// Adds the counts of a path at `node`, to it and to what is inlined into it.
    fn count(&mut self, namer: &mut Namer<'_>, path: &PathCounts, node: usize) {
        let (module, function) = (path.step.module, path.step.function);
        let sites = namer.program.profile_sites().function(module, function).expect("it was counted");
        self.nodes[node].calls += path.counters.first().copied().unwrap_or(0);
        let mut costs: BTreeMap<usize, CodeCost> = BTreeMap::new();
        let program = namer.program;
        let places = namer.places(module, function);
        for (counter, (value, at)) in path.counters.iter().zip(&places.counters).enumerate() {
            if *value == 0 {
                continue;
            }
            let is_bytes = matches!(sites.counters[counter], ProfileCounter::Bytes(_));
            let cuts = || path.cuts.range((counter, 0)..=(counter, usize::MAX));
            for (position, place) in at.iter().enumerate() {
                let behind = at.len() - position;
                let not_begun: u64 = cuts().filter(|((_, last), _)| behind <= *last).map(|(_, times)| times).sum();
                let cost = costs.entry(*place).or_default();
                match is_bytes {
                    true => cost.bulk_bytes += value,
                    false => cost.instructions += value - not_begun,
                }
            }
        }
        let costs: Vec<(Vec<SourceFrame>, CodeCost)> =
            costs.into_iter().map(|(place, cost)| (places.places[place].clone(), cost)).collect();
        for (frames, cost) in costs {
            let at = self.inner(program, node, &frames, module);
            let line = frames.last().and_then(|frame| frame.line).unwrap_or(0);
            self.nodes[at].lines.entry(line).or_default().add(cost);
        }
    }

    /// The node of the innermost function that is inlined at a place of the function of `node`.
    fn inner(&mut self, program: &Program, node: usize, frames: &[SourceFrame], module: ModuleOrdinal) -> usize {
        let mut at = node;
        for pair in frames.windows(2) {
            let function = self.function(called(program, pair[1].clone(), module));
            at = self.node(Some(at), function, pair[0].line.unwrap_or(0), true);
        }
        at
    }

    /// The tree in its order, and where each node is in it.
    pub(super) fn finish(self, run: String, merged_calls: u64, remarks: Vec<String>) -> (CallTree, Vec<usize>) {
        let mut functions: Vec<(CalledFunction, usize)> = self.functions.into_iter().collect();
        let mut place = vec![0; functions.len()];
        for (rank, (_, position)) in functions.iter().enumerate() {
            place[*position] = rank;
        }
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        let mut roots = Vec::new();
        for (position, node) in self.nodes.iter().enumerate() {
            match node.parent {
                Some(parent) => children[parent].push(position),
                None => roots.push(position),
            }
        }
        let key = |position: &usize| {
            let node = &self.nodes[*position];
            (place[node.function], node.call_line, node.is_inlined)
        };
        for list in children.iter_mut().chain([&mut roots]) {
            list.sort_by_key(key);
        }
        let mut nodes: Vec<CallNode> = Vec::with_capacity(self.nodes.len());
        let mut moved = vec![0; self.nodes.len()];
        let mut open: Vec<(usize, Option<usize>)> = roots.into_iter().rev().map(|root| (root, None)).collect();
        while let Some((position, parent)) = open.pop() {
            let node = &self.nodes[position];
            let at = nodes.len();
            moved[position] = at;
            open.extend(children[position].iter().rev().map(|child| (*child, Some(at))));
            nodes.push(CallNode { parent, function: place[node.function], ..node.clone() });
        }
        let functions = functions.drain(..).map(|(function, _)| function).collect();
        let tree = CallTree { run, functions, nodes, used: 0, merged_calls, remarks, ..CallTree::default() };
        (tree, moved)
    }
}

/// A frame's function.
fn called(program: &Program, frame: SourceFrame, module: ModuleOrdinal) -> CalledFunction {
    CalledFunction { name: frame.function, file: frame.file, module: module_name(program, module) }
}
