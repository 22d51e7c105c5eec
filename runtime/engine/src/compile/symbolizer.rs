//! The guest's stack in terms of its source.
//!
//! ```text
//! wasmtime frame (module "fozzy:2", offset) ─Maps─▶ original offset ─DWARF─▶ src/main.rs:41:9
//! ```
//!
//! What a frame means is kept: a search meets the same traps again and again.
//!
//! Invariant: hostile debug information costs names and lines, never a panic.

use crate::compile::build::Build;
use crate::compile::settings::Switches;
use fozzy_instrument::source::{DebugSymbols, LineInfo};
use fozzy_instrument::{
    CodeOrigin, ComparisonSites, ModuleMap, ModuleOrdinal, OffsetMaps, OriginalOffset, PositionSites, ProfileSites,
    RewrittenOffset, Sites,
};
use fozzy_trace::outcome::{SourceLocation, StackFrame};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use wasmtime::{FrameInfo, Trap, WasmBacktrace};

/// Finds functions and lines for the frames of one program.
pub(crate) struct Symbolizer {
    maps: OffsetMaps,
    sites: Sites,
    comparisons: ComparisonSites,
    profile: ProfileSites,
    positions: PositionSites,
    symbols: Mutex<DebugSymbols>,
    known: Mutex<BTreeMap<(ModuleOrdinal, OriginalOffset), Vec<StackFrame>>>,
}

/// Places whose frames are kept; others are looked up each time.
const KNOWN_MAX: usize = 1 << 12;

/// How a program gets debug information.
const ABSENT_LINES: &str = "; to have them, build it with `debug = \"line-tables-only\"` in its profile in Rust \
                            (CARGO_PROFILE_RELEASE_DEBUG=1 does it once), with `-g` in C and C++, without `-ldflags=-w` in Go, and do not strip it";

impl Symbolizer {
    pub(crate) fn new(component: &[u8], build: &Build, switches: &Switches) -> Symbolizer {
        let instrumented = fozzy_instrument::instrument(component, &build.options(switches));
        let found =
            instrumented.map(|found| (found.maps, found.sites, found.comparisons, found.profile, found.positions));
        let (maps, sites, comparisons, profile, positions) = found.unwrap_or_default();
        Symbolizer {
            maps,
            sites,
            comparisons,
            profile,
            positions,
            symbols: Mutex::new(DebugSymbols::new(component)),
            known: Mutex::default(),
        }
    }

    /// The core modules of the program.
    pub(crate) fn maps(&self) -> &OffsetMaps {
        &self.maps
    }

    /// The edges of the program.
    pub(crate) fn sites(&self) -> &Sites {
        &self.sites
    }

    /// The comparisons that are logged.
    pub(crate) fn comparisons(&self) -> &ComparisonSites {
        &self.comparisons
    }

    /// What is counted by call path.
    pub(crate) fn profile(&self) -> &ProfileSites {
        &self.profile
    }

    /// Where a debugger stops it.
    pub(crate) fn positions(&self) -> &PositionSites {
        &self.positions
    }

    /// Where an error has cut off code that is observed: the operator in the innermost frame. A call that was too deep has
    /// reached nothing of its function.
    pub(crate) fn cut(&self, error: &wasmtime::Error) -> Option<OriginalOffset> {
        // What checks memory has ended the program in a function of its own.
        let frames = error.downcast_ref::<WasmBacktrace>()?.frames();
        let (module, location) = frames.iter().take(2).find_map(|frame| self.locate(frame))?;
        let observed = self.sites.kept(module) > 0 || !self.profile.is_empty();
        let counted = location.kind != CodeOrigin::DepthCheck && observed;
        // Fuel runs out where it is checked: between segments, and before a bulk operation.
        let is_out = matches!(error.downcast_ref::<Trap>(), Some(Trap::OutOfFuel));
        let counted = counted && (!is_out || self.profile.has_bulk_at(module, location.original));
        counted.then_some(location.original)
    }

    /// Whether the innermost frame stopped in the rewriter's depth check.
    pub(crate) fn is_depth_check(&self, error: &wasmtime::Error) -> bool {
        let frames = error.downcast_ref::<WasmBacktrace>().map(WasmBacktrace::frames).unwrap_or_default();
        frames
            .first()
            .and_then(|frame| self.locate(frame))
            .is_some_and(|(_, location)| location.kind == CodeOrigin::DepthCheck)
    }

    /// The stack that an error carries, innermost first, inlined functions included.
    pub(crate) fn frames(&self, error: &wasmtime::Error) -> Vec<StackFrame> {
        let frames = error.downcast_ref::<WasmBacktrace>().map(WasmBacktrace::frames).unwrap_or_default();
        frames.iter().flat_map(|frame| self.source_frames(frame)).collect()
    }

    /// Why frames have no lines of source, if the debug information of their module is empty: a sentence with a remedy.
    pub(crate) fn missing_lines(&self, frames: &[StackFrame]) -> Option<String> {
        let symbols = lock(&self.symbols);
        let modules = self.maps.modules().iter().map(|module| (module.ordinal(), module_name(module)));
        let bare = |name: &str| frames.iter().any(|frame| frame.source.line.is_none() && frame.module == name);
        let empty = modules.clone().filter(|(_, name)| bare(name)).find_map(|(ordinal, name)| {
            let remedy = symbols.line_info(ordinal).remedy()?;
            Some(format!("frames have no lines of source, as `{name}` {remedy}"))
        });
        // Adapters never have lines; they are missing only when no frame has one.
        let without_any = || frames.iter().all(|frame| frame.source.line.is_none());
        let absent = || {
            let mut all = modules.filter(|(_, name)| bare(name));
            all.find(|(ordinal, _)| symbols.line_info(*ordinal) == LineInfo::Absent)
        };
        empty.or_else(|| {
            let (_, name) = absent().filter(|_| without_any())?;
            let named = if name.starts_with("module ") { "the program".to_owned() } else { format!("`{name}`") };
            Some(format!("frames have no lines of source, as {named} has no debug information{ABSENT_LINES}"))
        })
    }

    fn locate(&self, frame: &FrameInfo) -> Option<(ModuleOrdinal, fozzy_instrument::CodeLocation)> {
        let ordinal = ModuleOrdinal::from_name(frame.module().name()?)?;
        let offset = RewrittenOffset(u32::try_from(frame.module_offset()?).ok()?);
        Some((ordinal, self.maps.locate(ordinal, offset)?))
    }

    fn source_frames(&self, frame: &FrameInfo) -> Vec<StackFrame> {
        let Some((ordinal, location)) = self.locate(frame) else { return Vec::new() };
        self.frames_at(ordinal, location.original)
    }

    /// The functions around an operator, innermost first.
    pub(crate) fn frames_at(&self, ordinal: ModuleOrdinal, original: OriginalOffset) -> Vec<StackFrame> {
        let place = (ordinal, original);
        if let Some(frames) = lock(&self.known).get(&place) {
            return frames.clone();
        }
        let frames = self.look_up(ordinal, original);
        let mut known = lock(&self.known);
        if known.len() < KNOWN_MAX {
            known.insert(place, frames.clone());
        }
        frames
    }

    /// The source file and the line of an operator, which takes less than its frames.
    pub(crate) fn place_at(&self, ordinal: ModuleOrdinal, original: OriginalOffset) -> Option<(String, u32)> {
        lock(&self.symbols).place(ordinal, original)
    }

    fn look_up(&self, ordinal: ModuleOrdinal, original: OriginalOffset) -> Vec<StackFrame> {
        let module = &self.maps.modules()[ordinal.0 as usize];
        let name = module_name(module);
        let offset = u64::from(original.0);
        let found = lock(&self.symbols).frames(ordinal, original);
        let frames = found.into_iter().map(|source| StackFrame {
            module: name.clone(),
            function: source.function,
            offset,
            source: SourceLocation { file: source.file, line: source.line, col: source.column },
        });
        frames.collect()
    }
}

/// What frames call a core module.
fn module_name(module: &ModuleMap) -> String {
    module.name().map_or_else(|| format!("module {}", module.ordinal().0), str::to_owned)
}

/// A lock that a panic has poisoned is still consistent: entries are only added.
fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
