//! What a component is made of, and whether its whole state can be reached from outside.
//!
//! ```text
//! memories      belong to us                       always
//! globals       exported, copied by the accessor   numbers only
//! handles       minted and dropped by the accessor imported resource types only
//! tables, dropped segments, guest resources, objects, tasks:  out of reach, so they must not change
//! ```
//!
//! Invariant: a component without an [`Obstacle`] whose bodies were looked at has no state, between two calls of its exports, but
//! memories, numeric globals and handles of imported resources, and each core module of it is instantiated
//! at most once.
//! Not here: reaching that state (`access`).

use crate::access;
use crate::entries::{EntryFinder, FuzzEntry, StepEntry};
use crate::map::ModuleOrdinal;
use crate::module::ModuleRewriter;
use std::collections::BTreeMap;
use std::fmt;
use wasm_encoder::ExportKind;
use wasmparser::component_types::{ComponentAnyTypeId, ComponentEntityType};
use wasmparser::types::{Types, TypesRef};
use wasmparser::{CanonicalFunction, ComponentTypeRef, FunctionBody, Instance, Operator, Payload, TypeRef, ValType};

/// Something in a component that no one outside can read back or set again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Obstacle {
    /// A table changes while the program runs.
    TableChanges(ModuleOrdinal),
    /// A data or element segment is dropped while the program runs.
    SegmentDropped(ModuleOrdinal),
    /// A mutable global holds a reference.
    ReferenceGlobal(ModuleOrdinal),
    /// Objects of the garbage-collected heap are made.
    Objects(ModuleOrdinal),
    /// A core module is instantiated more than once.
    InstantiatedTwice(ModuleOrdinal),
    /// A core module comes from outside of the component.
    ForeignModule,
    /// A component inside has code or lifted functions of its own.
    NestedInstance,
    /// The component defines resource types.
    GuestResource,
    /// A function may suspend its task.
    Tasks,
    /// A name that the accessor needs is taken.
    NameTaken(String),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::TableChanges(module) => write!(f, "module {module} changes a table while it runs"),
            Obstacle::SegmentDropped(module) => write!(f, "module {module} drops a segment while it runs"),
            Obstacle::ReferenceGlobal(module) => write!(f, "module {module} keeps a reference in a mutable global"),
            Obstacle::Objects(module) => write!(f, "module {module} makes garbage-collected objects"),
            Obstacle::InstantiatedTwice(module) => write!(f, "module {module} is instantiated more than once"),
            Obstacle::ForeignModule => f.write_str("a core module comes from outside of the component"),
            Obstacle::NestedInstance => f.write_str("a component inside has code of its own"),
            Obstacle::GuestResource => f.write_str("it defines resource types of its own"),
            Obstacle::Tasks => f.write_str("it has asynchronous functions"),
            Obstacle::NameTaken(name) => write!(f, "it uses the reserved name `{name}`"),
        }
    }
}

/// How the names begin that are put into components and core modules.
pub(crate) const RESERVED: &str = "fozzy-";

/// A resource type that the component imports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ImportedResource {
    /// The component's instance that exports it.
    pub(crate) instance: u32,
    /// The name of that import, with its version.
    pub(crate) interface: String,
    /// Its name there.
    pub(crate) name: String,
}

/// A core module of the outermost component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleShape {
    /// The core instance that it became.
    pub(crate) instance: Option<u32>,
    /// Mutable globals that it defines: index and type.
    pub(crate) globals: Vec<(u32, ValType)>,
    /// Memories that it defines: index, and whether addresses have 64 bits.
    pub(crate) memories: Vec<(u32, bool)>,
    imported_globals: u32,
    imported_memories: u32,
}

impl ModuleShape {
    /// Whether it has something to reach.
    pub(crate) fn has_state(&self) -> bool {
        !self.globals.is_empty() || !self.memories.is_empty()
    }
}

/// What the outermost component consists of.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComponentShape {
    /// By ordinal; modules of nested components are empty here.
    pub(crate) modules: BTreeMap<u32, ModuleShape>,
    pub(crate) resources: Vec<ImportedResource>,
    pub(crate) counts: IndexCounts,
    pub(crate) obstacles: Vec<Obstacle>,
    /// Whether a core module has a start function.
    pub(crate) starts: bool,
    /// The way into the step of a scenario.
    pub(crate) step: Option<StepEntry>,
    /// The way into its fuzz targets, of a component with one memory.
    pub(crate) fuzz: Option<FuzzEntry>,
    entries: EntryFinder,
    /// Whether somebody keeps the state. Otherwise what bodies do to it is no obstacle, and nobody asks for a way into fuzz targets.
    pub(crate) is_kept: bool,
    /// The ordinal behind each index of the outermost component's core modules.
    module_indices: Vec<u32>,
    instance_imports: Vec<(u32, String)>,
    instances: u32,
    core_instances: u32,
    /// Components that are open, the outermost included, and whether a module is.
    components: u32,
    module: Option<u32>,
    modules_seen: u32,
}

/// How many of each kind the outermost component has: the next index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct IndexCounts {
    pub(crate) core_modules: u32,
    pub(crate) core_instances: u32,
    pub(crate) core_functions: u32,
    pub(crate) types: u32,
    pub(crate) functions: u32,
}

impl ComponentShape {
    fn obstacle(&mut self, obstacle: Obstacle) {
        if !self.obstacles.contains(&obstacle) {
            self.obstacles.push(obstacle);
        }
    }

    fn module(&mut self) -> Option<&mut ModuleShape> {
        self.modules.get_mut(&self.module?)
    }

    fn name(&mut self, name: &str) {
        // Names of a component are the same in capital letters.
        if name.get(..RESERVED.len()).is_some_and(|start| start.eq_ignore_ascii_case(RESERVED)) {
            self.obstacle(Obstacle::NameTaken(name.to_owned()));
        }
    }

    /// Sees the next part of the component, which the validator has accepted.
    pub(crate) fn payload(&mut self, payload: &Payload<'_>) -> wasmparser::Result<()> {
        use wasmparser::Encoding;
        match payload {
            Payload::Version { encoding: Encoding::Component, .. } => self.components += 1,
            Payload::Version { encoding: Encoding::Module, .. } => self.begin_module(),
            Payload::End(_) if self.module.is_some() => self.module = None,
            Payload::End(_) => self.components -= 1,
            payload if self.module.is_some() => self.in_module(payload)?,
            payload if self.components == 1 => self.in_component(payload)?,
            Payload::ComponentCanonicalSection(reader) if reader.count() > 0 => {
                self.obstacle(Obstacle::NestedInstance);
            }
            _ => {}
        }
        Ok(())
    }

    fn begin_module(&mut self) {
        let ordinal = self.modules_seen;
        self.modules_seen += 1;
        self.module = Some(ordinal);
        self.modules.insert(ordinal, ModuleShape::default());
        if self.components == 1 {
            self.module_indices.push(ordinal);
        } else {
            self.obstacle(Obstacle::NestedInstance);
        }
    }

    fn in_component(&mut self, payload: &Payload<'_>) -> wasmparser::Result<()> {
        self.entries.in_component(payload)?;
        match payload {
            Payload::InstanceSection(reader) => {
                for instance in reader.clone() {
                    if let Instance::Instantiate { module_index, .. } = instance? {
                        self.instantiated(module_index);
                    }
                    self.core_instances += 1;
                }
            }
            Payload::ComponentInstanceSection(reader) => self.instances += reader.count(),
            Payload::ComponentAliasSection(reader) => {
                for alias in reader.clone() {
                    use wasmparser::{ComponentAlias, ComponentExternalKind, ComponentOuterAliasKind};
                    match alias? {
                        ComponentAlias::InstanceExport { kind: ComponentExternalKind::Instance, .. } => {
                            self.instances += 1;
                        }
                        ComponentAlias::InstanceExport { kind: ComponentExternalKind::Module, .. }
                        | ComponentAlias::Outer { kind: ComponentOuterAliasKind::CoreModule, .. } => {
                            self.foreign_module();
                        }
                        _ => {}
                    }
                }
            }
            Payload::ComponentImportSection(reader) => {
                for import in reader.clone() {
                    let import = import?;
                    self.name(import.name.name);
                    match import.ty {
                        ComponentTypeRef::Instance(_) => {
                            self.instance_imports.push((self.instances, import.name.name.to_owned()));
                            self.instances += 1;
                        }
                        ComponentTypeRef::Module(_) => self.foreign_module(),
                        ComponentTypeRef::Component(_) => self.obstacle(Obstacle::NestedInstance),
                        _ => {}
                    }
                }
            }
            Payload::ComponentExportSection(reader) => {
                for export in reader.clone() {
                    let export = export?;
                    self.name(export.name.name);
                    match export.kind {
                        wasmparser::ComponentExternalKind::Instance => self.instances += 1,
                        wasmparser::ComponentExternalKind::Module => self.foreign_module(),
                        _ => {}
                    }
                }
            }
            Payload::ComponentTypeSection(reader) => {
                for ty in reader.clone() {
                    if matches!(ty?, wasmparser::ComponentType::Resource { .. }) {
                        self.obstacle(Obstacle::GuestResource);
                    }
                }
            }
            Payload::ComponentCanonicalSection(reader) => {
                for function in reader.clone() {
                    let tasks = match function? {
                        CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. } => {
                            use wasmparser::CanonicalOption::{Async, Callback};
                            options.iter().any(|option| matches!(option, Async | Callback(_)))
                        }
                        CanonicalFunction::ResourceNew { .. }
                        | CanonicalFunction::ResourceDrop { .. }
                        | CanonicalFunction::ResourceRep { .. } => false,
                        _ => true,
                    };
                    if tasks {
                        self.obstacle(Obstacle::Tasks);
                    }
                }
            }
            Payload::ComponentStartSection { .. } => self.obstacle(Obstacle::Tasks),
            _ => {}
        }
        Ok(())
    }

    /// A module of the index space whose code is not here.
    fn foreign_module(&mut self) {
        self.module_indices.push(u32::MAX);
        self.obstacle(Obstacle::ForeignModule);
    }

    fn instantiated(&mut self, module_index: u32) {
        let Some(ordinal) = self.module_indices.get(module_index as usize).copied() else {
            return self.obstacle(Obstacle::ForeignModule);
        };
        let instance = self.core_instances;
        let Some(module) = self.modules.get_mut(&ordinal) else { return };
        if module.instance.replace(instance).is_some() {
            self.obstacle(Obstacle::InstantiatedTwice(ModuleOrdinal(ordinal)));
        }
    }

    fn in_module(&mut self, payload: &Payload<'_>) -> wasmparser::Result<()> {
        self.entries.in_module(self.module.expect("inside a module"), payload)?;
        match payload {
            Payload::ImportSection(reader) => {
                for import in reader.clone().into_imports() {
                    let ty = import?.ty;
                    let Some(module) = self.module() else { continue };
                    match ty {
                        TypeRef::Global(_) => module.imported_globals += 1,
                        TypeRef::Memory(_) => module.imported_memories += 1,
                        _ => {}
                    }
                }
            }
            Payload::MemorySection(reader) => {
                for (position, memory) in reader.clone().into_iter().enumerate() {
                    let wide = memory?.memory64;
                    let Some(module) = self.module() else { continue };
                    module.memories.push((module.imported_memories + position as u32, wide));
                }
            }
            Payload::GlobalSection(reader) => {
                for (position, global) in reader.clone().into_iter().enumerate() {
                    let ty = global?.ty;
                    if !ty.mutable {
                        continue;
                    }
                    let ordinal = ModuleOrdinal(self.module.expect("inside a module"));
                    if matches!(ty.content_type, ValType::Ref(_)) {
                        self.obstacle(Obstacle::ReferenceGlobal(ordinal));
                    } else if let Some(module) = self.module() {
                        module.globals.push((module.imported_globals + position as u32, ty.content_type));
                    }
                }
            }
            Payload::ExportSection(reader) => {
                for export in reader.clone() {
                    self.name(export?.name);
                }
            }
            Payload::StartSection { .. } => self.starts = true,
            Payload::CodeSectionEntry(body) if self.is_kept => self.body(body)?,
            _ => {}
        }
        Ok(())
    }

    fn body(&mut self, body: &FunctionBody<'_>) -> wasmparser::Result<()> {
        let ordinal = ModuleOrdinal(self.module.expect("inside a module"));
        for operator in body.get_operators_reader()? {
            match operator? {
                Operator::TableSet { .. }
                | Operator::TableGrow { .. }
                | Operator::TableFill { .. }
                | Operator::TableCopy { .. }
                | Operator::TableInit { .. } => self.obstacle(Obstacle::TableChanges(ordinal)),
                Operator::DataDrop { .. } | Operator::ElemDrop { .. } => {
                    self.obstacle(Obstacle::SegmentDropped(ordinal));
                }
                Operator::StructNew { .. }
                | Operator::StructNewDefault { .. }
                | Operator::ArrayNew { .. }
                | Operator::ArrayNewDefault { .. }
                | Operator::ArrayNewFixed { .. }
                | Operator::ArrayNewData { .. }
                | Operator::ArrayNewElem { .. } => self.obstacle(Obstacle::Objects(ordinal)),
                _ => {}
            }
        }
        Ok(())
    }

    /// Has `module` export what the accessor needs to reach, if the component can have an accessor so far.
    pub(crate) fn export_state(&self, module: &mut ModuleRewriter<'_>) {
        let can_be_kept = self.is_kept && self.obstacles.is_empty();
        let Some(shape) = self.modules.get(&module.ordinal().0).filter(|_| can_be_kept) else { return };
        let globals = shape.globals.iter().map(|(index, _)| (access::global_name(*index), ExportKind::Global, *index));
        let memories =
            shape.memories.iter().map(|(index, _)| (access::memory_name(*index), ExportKind::Memory, *index));
        module.added_exports.extend(globals.chain(memories));
    }

    /// The way into the step of a scenario. With an obstacle, it is not known that all that is lifted was seen.
    fn find_step(&self, types: TypesRef<'_>, component: &[u8]) -> Option<StepEntry> {
        let module_of = |instance| {
            let mut modules = self.modules.iter();
            modules.find(|(_, module)| module.instance == Some(instance)).map(|(ordinal, _)| *ordinal)
        };
        self.obstacles.is_empty().then(|| self.entries.find_step(types, component, module_of))?
    }

    /// The way into the fuzz targets, if all that it needs can be reached: the memory that inputs are put into is the only one.
    fn find_fuzz(&self, types: TypesRef<'_>, component: &[u8]) -> Option<FuzzEntry> {
        let instantiated = || self.modules.iter().filter(|(_, module)| module.instance.is_some());
        let memories: Vec<bool> =
            instantiated().flat_map(|(_, module)| &module.memories).map(|(_, wide)| *wide).collect();
        if !self.is_kept || !self.obstacles.is_empty() || memories != [false] {
            return None;
        }
        self.entries.find_fuzz(types, component, |instance| {
            let mut reached = instantiated().filter(|(_, module)| module.has_state());
            reached.find(|(_, module)| module.instance == Some(instance)).map(|(ordinal, _)| *ordinal)
        })
    }

    /// A module has got a further memory, which belongs to its state.
    pub(crate) fn add_memory(&mut self, module: ModuleOrdinal, memory: u32) {
        if let Some(shape) = self.modules.get_mut(&module.0) {
            shape.memories.push((memory, false));
        }
    }

    /// The component, or one inside of it, is complete; `types` is what the validator knows of it.
    pub(crate) fn finish(&mut self, types: &Types, component: &[u8]) {
        let types = types.as_ref();
        let mut known = Vec::new();
        for (instance, interface) in &self.instance_imports {
            let Some(item) = types.component_item_for_import(interface) else { continue };
            let ComponentEntityType::Instance(ty) = item.ty else { continue };
            for (name, export) in &types[ty].exports {
                let ComponentEntityType::Type { created: ComponentAnyTypeId::Resource(resource), .. } = export.ty
                else {
                    continue;
                };
                if !known.contains(&resource.resource()) {
                    known.push(resource.resource());
                    let (interface, name) = (interface.clone(), name.clone());
                    self.resources.push(ImportedResource { instance: *instance, interface, name });
                }
            }
        }
        // Numbers of instances are those of the outermost component, of which no part is open any more.
        if self.module.is_none() && self.components == 1 {
            self.step = self.find_step(types, component);
            self.fuzz = self.find_fuzz(types, component);
        }
        self.counts = IndexCounts {
            core_modules: types.module_count(),
            core_instances: types.core_instance_count(),
            core_functions: types.function_count(),
            types: types.component_type_count(),
            functions: types.component_function_count(),
        };
    }
}
