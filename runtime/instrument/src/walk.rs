//! The walk over a component: each section validated, then copied or handed to its core module.
//!
//! ```text
//! component            open: [component]
//!   core module        open: [component, module 0]       ── end ──► written into its parent
//!   component          open: [component, component]
//!     core module      open: [component, component, module 1]
//! ```
//!
//! Sections of components are copied byte for byte: no index of theirs changes. Their custom
//! sections are left out, except for names, since nothing that runs reads them.
//!
//! Invariants: the walk keeps its own stack and does not recurse, so that nesting costs a hostile
//! file nothing but an error. A section is looked at only after the validator has accepted it.

use crate::allocators::{Allocators, inner_functions};
use crate::body::BodyRewriter;
use crate::call_graph::CallGraph;
use crate::edit::offset_u32;
use crate::map::{ModuleMap, ModuleOrdinal, OffsetMaps};
use crate::marks_soundness::{MarksReason, MarksVerdict};
use crate::module::{EncodedModule, ModuleRewriter, write_section};
use crate::nesting::{self, COMPONENT_SECTION, CORE_MODULE_SECTION};
use crate::prescan::{Prescan, survey};
use crate::recursion::recursive_functions;
use crate::segments::instantiated_once;
use crate::shape::ComponentShape;
use crate::side::{SideMemory, SideTag};
use crate::{CoverageMode, Error, InstrumentedComponent, ModuleChoice, Options, access, features, steps};
use wasmparser::{Encoding, Parser, Payload, ValidPayload, Validator};

/// A component while the walk is inside it.
struct ComponentRewriter {
    out: Vec<u8>,
    /// Modules inside, whose maps count from the start of `out`.
    modules: Vec<ModuleMap>,
    side_memories: Vec<SideMemory>,
    startup_fuel: i64,
}

enum OpenItem<'a> {
    Component(ComponentRewriter),
    Module(Box<ModuleRewriter<'a>>),
}

/// Rewrites the whole of `component`.
pub(crate) fn walk(component: &[u8], options: &Options) -> Result<InstrumentedComponent, Error> {
    nesting::check(component)?;
    let beside = options.beside();
    let shadow = options.memcheck.then(|| SideTag::of_shadow(component));
    let asks = options.memcheck || options.memory_faults;
    let mut surveyed = if beside || asks || options.positions { survey(component)? } else { Prescan::default() };
    let tag = (beside || options.access).then(|| SideTag::of(component));
    // What is checked and what asks is the same program, whoever's allocations are logged beside it.
    let allocators = asks.then(|| Allocators::of(component, &options.allocators)).transpose()?;
    let choices = options.heap.as_deref().filter(|_| options.profile);
    let choices = choices.map(|choices| [&options.allocators[..], choices].concat());
    let logged = choices.map(|choices| Allocators::of(component, &choices)).transpose()?;
    let logged = logged.as_ref();
    let inner = logged.map(|known| Ok::<_, Error>(inner_functions(&CallGraph::of(component)?, known))).transpose()?;
    let has_depth = options.recursion && options.depth && options.coverage != CoverageMode::None;
    let mut recursive = has_depth.then(|| recursive_functions(component)).transpose()?.unwrap_or_default();
    let mut validator = Validator::new_with_features(features());
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let mut bodies = BodyRewriter::default();
    let mut open: Vec<OpenItem<'_>> = Vec::new();
    let mut modules_count = 0;
    let mut shape = ComponentShape::default();
    shape.is_kept = options.access;
    let once = instantiated_once(component)?;

    for payload in parser.parse_all(component) {
        let payload = payload?;
        // Said before the validator has a less helpful word for it.
        if open.is_empty() && matches!(payload, Payload::Version { encoding: Encoding::Module, .. }) {
            return Err(Error::CoreModule);
        }
        let function = match validator.payload(&payload)? {
            ValidPayload::Func(function, body) => Some((function, body)),
            ValidPayload::End(types) => {
                shape.finish(&types, component);
                None
            }
            _ => None,
        };
        if options.access || options.steps {
            shape.payload(&payload)?;
        }
        match (&payload, open.last_mut()) {
            (Payload::Version { encoding: Encoding::Component, range, .. }, _) => {
                let out = component[range.clone()].to_vec();
                open.push(OpenItem::Component(ComponentRewriter {
                    out,
                    modules: Vec::new(),
                    side_memories: Vec::new(),
                    startup_fuel: 0,
                }));
            }
            (Payload::Version { encoding: Encoding::Module, range, .. }, _) => {
                let ordinal = ModuleOrdinal(modules_count);
                let known = surveyed.modules.get_mut(modules_count as usize).map(std::mem::take).unwrap_or_default();
                modules_count += 1;
                let mut module = ModuleRewriter::new(ordinal, range.start, options, known);
                module.merges = once.contains(&ordinal.0);
                if let Some(tag) = shadow.filter(|_| ModuleChoice::Own.includes(module.names())) {
                    module.shadow = Some(tag);
                }
                if options.memory_faults && ModuleChoice::Own.includes(module.names()) {
                    module.fallible = allocators.as_ref().map(|known| known.fallible(ordinal));
                }
                if let Some(allocators) = logged.filter(|_| module.profile) {
                    module.allocators = Some(allocators.roles(ordinal));
                    module.inner = inner.iter().flatten().filter(|it| it.0 == ordinal).map(|it| it.1).collect();
                }
                module.recursive = recursive.remove(&ordinal).unwrap_or_default();
                open.push(OpenItem::Module(Box::new(module)));
            }
            (Payload::End(end), _) => {
                let closed = open.pop().expect("the parser has opened what it closes");
                let Some(parent) = open.last_mut() else {
                    assert_eq!(*end, component.len(), "the outermost component is all there is");
                    let marks = options.marks.then_some(surveyed.verdict);
                    let mut found = finished(closed, options.access.then_some(&mut shape), bodies, tag, marks);
                    if options.steps {
                        found.steps = steps::append(&shape, &mut found.component);
                    }
                    return Ok(InstrumentedComponent { shadow, ..found });
                };
                let OpenItem::Component(parent) = parent else { unreachable!("nothing is nested in a core module") };
                if let OpenItem::Module(module) = &closed
                    && module.import_escapes
                {
                    surveyed.verdict.because(MarksReason::ImportEscapes(module.ordinal));
                }
                parent.adopt(component, closed, *end, &shape, tag.as_ref().filter(|_| beside))?;
            }
            // Nested items arrive as payloads of their own.
            (Payload::ModuleSection { .. } | Payload::ComponentSection { .. }, _) => {}
            (payload, Some(OpenItem::Component(inner))) => inner.section(component, payload),
            (payload, Some(OpenItem::Module(module))) => match (payload, function) {
                (_, Some((function, body))) => {
                    bodies.rewrite(component, module, function, &body)?;
                }
                (Payload::CodeSectionStart { count, range, .. }, _) => {
                    let types = validator.types(0).expect("the validator is inside this module");
                    module.section(wasm_encoder::SectionId::Code as u8, range.clone());
                    module.code_section(*count, types, allocators.as_ref());
                    if module.checked.is_some() && options.access {
                        shape.add_memory(module.ordinal(), module.shadow_memory);
                    }
                }
                (payload, _) => core_section(module, payload)?,
            },
            (_, None) => unreachable!("a file starts with its version"),
        }
    }
    unreachable!("the parser reports a file without an end")
}

/// Takes note of a section of a core module.
fn core_section<'a>(module: &mut ModuleRewriter<'a>, payload: &Payload<'a>) -> Result<(), Error> {
    match payload {
        Payload::CustomSection(custom) => {
            if custom.name() == "name" {
                module.name_section(custom.data());
            }
            return Ok(());
        }
        Payload::TypeSection(reader) => module.type_section(reader)?,
        Payload::ImportSection(reader) => module.import_section(reader)?,
        Payload::FunctionSection(reader) => module.function_section(reader)?,
        Payload::GlobalSection(reader) => module.global_section(reader),
        Payload::ExportSection(reader) => module.export_section(reader),
        Payload::MemorySection(reader) => module.memory_section(reader)?,
        Payload::DataSection(reader) => module.data_section(reader),
        _ => {}
    }
    if let Some((id, range)) = payload.as_section() {
        module.section(id, range);
    }
    Ok(())
}

impl ComponentRewriter {
    /// Copies a section of the component itself.
    fn section(&mut self, component: &[u8], payload: &Payload<'_>) {
        if matches!(payload, Payload::CustomSection(custom) if custom.name() != "component-name") {
            return;
        }
        let Some((id, range)) = payload.as_section() else {
            return;
        };
        write_section(id, &[&component[range]], &mut self.out);
    }

    /// Writes what was closed at `end` as a section, and takes over its maps.
    fn adopt(
        &mut self,
        component: &[u8],
        closed: OpenItem<'_>,
        end: usize,
        shape: &ComponentShape,
        tag: Option<&SideTag>,
    ) -> Result<(), Error> {
        let (id, bytes, modules) = match closed {
            OpenItem::Component(inner) => {
                self.side_memories.extend(inner.side_memories);
                self.startup_fuel += inner.startup_fuel;
                (COMPONENT_SECTION, inner.out, inner.modules)
            }
            OpenItem::Module(mut module) => {
                shape.export_state(&mut module);
                let EncodedModule { bytes, map, side, startup_fuel } = module.finish(component, end, tag)?;
                self.side_memories.extend(side);
                self.startup_fuel += startup_fuel;
                (CORE_MODULE_SECTION, bytes, vec![map])
            }
        };
        write_section(id, &[&bytes], &mut self.out);
        let start = offset_u32(self.out.len() - bytes.len());
        self.modules.extend(modules.into_iter().map(|mut map| {
            map.shift(start);
            map
        }));
        Ok(())
    }
}

/// The outermost component is complete.
fn finished(
    closed: OpenItem<'_>,
    mut shape: Option<&mut ComponentShape>,
    bodies: BodyRewriter,
    tag: Option<SideTag>,
    marks: Option<MarksVerdict>,
) -> InstrumentedComponent {
    let OpenItem::Component(ComponentRewriter { mut out, modules, side_memories, startup_fuel }) = closed else {
        unreachable!("a core module was refused at its version")
    };
    for (position, module) in modules.iter().enumerate() {
        assert_eq!(module.ordinal.0 as usize, position, "modules are in the order of the bytes");
    }
    let reached = shape.as_mut().filter(|shape| shape.obstacles.is_empty()).zip(tag.as_ref());
    let access = reached.map(|(shape, tag)| access::append(tag, shape, &mut out));
    let obstacles = shape.map(|shape| shape.obstacles.clone()).unwrap_or_default();
    let BodyRewriter { sites, comparisons, profile, positions, .. } = bodies;
    let maps = OffsetMaps { modules };
    InstrumentedComponent {
        component: out,
        maps,
        sites,
        comparisons,
        profile,
        positions,
        side_memories,
        tag,
        marks,
        access,
        obstacles,
        steps: None,
        startup_fuel,
        shadow: None,
    }
}
