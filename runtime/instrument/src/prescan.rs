//! Collects what the rewriter needs before it meets the code: names of modules, and the functions used as `realloc`.
//!
//! ```text
//! core module   types  imports  code  ...  "name"          the code is rewritten before its module's name is met,
//! component     modules  instances  aliases  canonical     and before it is known what its exports are used for,
//!               "component-name"                           or what the component calls it
//! ```
//!
//! Invariants: nothing here is validated; what cannot be read ends in an error, as it would in the walk, and an index
//! that leads nowhere is as good as unknown.

use crate::compare::{MemoryComparison, compares};
use crate::marks_soundness::{MarksReason, MarksVerdict};
use crate::{Error, ModuleOrdinal, features, names};
use std::collections::{BTreeMap, BTreeSet};
use wasmparser::{
    CanonicalFunction, CanonicalOption, ComponentAlias, ComponentExternalKind, ComponentOuterAliasKind,
    ComponentTypeRef, CompositeInnerType, ConstExpr, ElementItems, Encoding, ExternalKind, FunctionBody, Instance,
    Operator, Parser, Payload, TableInit, TypeRef, ValType,
};

/// What the rewriter needs to know of a module in advance.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModulePrescan {
    pub(crate) name: Option<String>,
    /// What the component around it calls it; adapters have no other name.
    pub(crate) alias: Option<String>,
    /// Functions that compare memory, going by their names.
    pub(crate) compares: BTreeMap<u32, MemoryComparison>,
    /// Exports that the canonical ABI uses as `realloc`.
    pub(crate) reallocs: BTreeSet<String>,
    /// For each type, whether a call of such a function may write through a return pointer.
    types: Vec<bool>,
    /// Types of the imported functions.
    imports: Vec<u32>,
    memories_imported: u32,
    memories_defined: u32,
    memory64: bool,
    /// Some table is shared with other modules.
    pub(crate) shares_table: bool,
    /// An import that may write is in a table or a global.
    escapes: bool,
    /// A function does more with an indirect call than to pass its own parameters on.
    calls_indirectly: bool,
    /// Exported functions, by name.
    exports: Vec<(String, u32)>,
}

/// The whole component.
#[derive(Debug, Default)]
pub(crate) struct Prescan {
    /// In the order of the bytes.
    pub(crate) modules: Vec<ModulePrescan>,
    pub(crate) verdict: MarksVerdict,
}

/// Where a core function of the outermost component comes from.
#[derive(Clone, Debug)]
enum CoreFunction {
    Export { instance: u32, name: String },
    Other,
}

#[derive(Debug)]
enum CoreInstance {
    /// Of a module inside of the component.
    Of(usize),
    Exports(Vec<(String, u32)>),
    Unknown,
}

/// Index spaces of the outermost component.
#[derive(Debug, Default)]
struct IndexSpaces {
    modules: Vec<Option<usize>>,
    instances: Vec<CoreInstance>,
    functions: Vec<CoreFunction>,
    reallocs: BTreeSet<u32>,
}

/// Looks through all core modules of a component, and the sections of the outermost one.
pub(crate) fn survey(component: &[u8]) -> Result<Prescan, Error> {
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let mut survey = Prescan::default();
    let mut spaces = IndexSpaces::default();
    // The modules and components that are open: the position of a module, `None` for a component.
    let mut open: Vec<Option<usize>> = Vec::new();
    // The modules that each open component has in its index space; `None` for those from elsewhere.
    let mut indices: Vec<Vec<Option<usize>>> = Vec::new();
    for payload in parser.parse_all(component) {
        let payload = payload?;
        match (&payload, &open[..]) {
            (Payload::Version { encoding: Encoding::Module, .. }, around) => {
                let position = survey.modules.len();
                match around {
                    [_] => spaces.modules.push(Some(position)),
                    _ => survey.verdict.because(MarksReason::Nested),
                }
                open.push(Some(position));
                indices.last_mut().into_iter().for_each(|around| around.push(Some(position)));
                survey.modules.push(ModulePrescan::default());
            }
            (Payload::Version { encoding: Encoding::Component, .. }, _) => {
                open.push(None);
                indices.push(Vec::new());
            }
            (Payload::End(_), _) => {
                if open.pop() == Some(None) {
                    indices.pop();
                }
            }
            (_, [.., Some(position)]) => survey.modules[*position].section(&payload)?,
            (payload, around) => {
                if let Some(known) = indices.last_mut() {
                    known.extend(std::iter::repeat_n(None, foreign_modules(payload)?));
                    survey.aliases(payload, known);
                }
                if around.len() == 1 {
                    spaces.section(payload, &mut survey.verdict)?;
                }
            }
        }
    }
    spaces.resolve(&mut survey);
    survey.judge(&spaces);
    Ok(survey)
}

/// How many core modules of other components a section puts into the index space.
pub(crate) fn foreign_modules(payload: &Payload<'_>) -> Result<usize, Error> {
    let mut count = 0;
    match payload {
        Payload::ComponentAliasSection(reader) => {
            for alias in reader.clone() {
                let module = matches!(
                    alias?,
                    ComponentAlias::InstanceExport { kind: ComponentExternalKind::Module, .. }
                        | ComponentAlias::Outer { kind: ComponentOuterAliasKind::CoreModule, .. }
                );
                count += usize::from(module);
            }
        }
        Payload::ComponentImportSection(reader) => {
            for import in reader.clone() {
                count += usize::from(matches!(import?.ty, ComponentTypeRef::Module(_)));
            }
        }
        Payload::ComponentExportSection(reader) => {
            for export in reader.clone() {
                count += usize::from(export?.kind == ComponentExternalKind::Module);
            }
        }
        _ => {}
    }
    Ok(count)
}

impl Prescan {
    /// Notes what a component calls its core modules, which are `known` by their index.
    fn aliases(&mut self, payload: &Payload<'_>, known: &[Option<usize>]) {
        let Payload::CustomSection(custom) = payload else { return };
        if custom.name() != "component-name" {
            return;
        }
        for (index, name) in names::component_modules(custom.data()) {
            if let Some(Some(position)) = known.get(index as usize) {
                self.modules[*position].alias = Some(name.to_owned());
            }
        }
    }

    /// What the modules say about marks.
    fn judge(&mut self, spaces: &IndexSpaces) {
        let verdict = &mut self.verdict;
        let shared = self.modules.iter().any(|module| module.has_memory() && module.shares_table);
        let mut memories = 0;
        for (position, module) in self.modules.iter().enumerate() {
            let ordinal = ModuleOrdinal(crate::edit::offset_u32(position));
            if module.memories_imported + module.memories_defined > 1 {
                verdict.because(MarksReason::SeveralMemories(ordinal));
            }
            if module.memory64 {
                verdict.because(MarksReason::Memory64(ordinal));
            }
            let instances =
                spaces.instances.iter().filter(|found| matches!(found, CoreInstance::Of(of) if *of == position));
            memories += usize::from(module.memories_defined > 0) * instances.count();
            if memories > 1 && module.memories_defined > 0 {
                verdict.because(MarksReason::MemoryTwice(ordinal));
            }
            // Without a memory of its own a module can hand an import on, as long as no module receives it that computes pointers.
            let hidden =
                if module.has_memory() { module.escapes } else { module.calls_indirectly || module.escapes && shared };
            if hidden {
                verdict.because(MarksReason::ImportEscapes(ordinal));
            }
        }
    }
}

impl ModulePrescan {
    /// Its own name, and what the component calls it.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.name.as_deref().into_iter().chain(self.alias.as_deref())
    }

    fn has_memory(&self) -> bool {
        self.memories_imported + self.memories_defined > 0
    }

    fn section(&mut self, payload: &Payload<'_>) -> Result<(), Error> {
        match payload {
            Payload::CustomSection(custom) if custom.name() == "name" => {
                self.name = self.name.take().or_else(|| names::module_name(custom.data()));
                let named = names::functions(custom.data());
                self.compares.extend(named.filter_map(|(index, name)| Some((index, compares(name)?))));
            }
            Payload::TypeSection(reader) => {
                for group in reader.clone() {
                    for ty in group?.into_types() {
                        self.types.push(match ty.composite_type.inner {
                            CompositeInnerType::Func(function) => {
                                may_return_through_memory(function.params(), function.results())
                            }
                            _ => false,
                        });
                    }
                }
            }
            Payload::ImportSection(reader) => {
                for import in reader.clone().into_imports() {
                    match import?.ty {
                        TypeRef::Func(ty) | TypeRef::FuncExact(ty) => self.imports.push(ty),
                        TypeRef::Memory(memory) => {
                            self.memories_imported += 1;
                            self.memory64 |= memory.memory64;
                        }
                        TypeRef::Table(_) => self.shares_table = true,
                        TypeRef::Global(_) | TypeRef::Tag(_) => {}
                    }
                }
            }
            Payload::MemorySection(reader) => {
                for memory in reader.clone() {
                    self.memories_defined += 1;
                    self.memory64 |= memory?.memory64;
                }
            }
            Payload::TableSection(reader) => {
                for table in reader.clone() {
                    if let TableInit::Expr(expression) = table?.init {
                        self.constant(&expression)?;
                    }
                }
            }
            Payload::GlobalSection(reader) => {
                for global in reader.clone() {
                    self.constant(&global?.init_expr)?;
                }
            }
            Payload::ElementSection(reader) => {
                for element in reader.clone() {
                    match element?.items {
                        ElementItems::Functions(functions) => {
                            for function in functions {
                                self.escapes |= self.writes(function?);
                            }
                        }
                        ElementItems::Expressions(_, expressions) => {
                            for expression in expressions {
                                self.constant(&expression?)?;
                            }
                        }
                    }
                }
            }
            Payload::ExportSection(reader) => {
                for export in reader.clone() {
                    let export = export?;
                    match export.kind {
                        ExternalKind::Func | ExternalKind::FuncExact => {
                            self.exports.push((export.name.to_owned(), export.index));
                            self.compares.extend(compares(export.name).map(|compares| (export.index, compares)));
                        }
                        ExternalKind::Table => self.shares_table = true,
                        ExternalKind::Memory | ExternalKind::Global | ExternalKind::Tag => {}
                    }
                }
            }
            Payload::CodeSectionEntry(body) if !self.has_memory() => self.body(body)?,
            _ => {}
        }
        Ok(())
    }

    /// Whether a function is an import that may write.
    fn writes(&self, function: u32) -> bool {
        self.imports.get(function as usize).is_some_and(|ty| self.writing(*ty))
    }

    fn writing(&self, ty: u32) -> bool {
        self.types.get(ty as usize).copied().unwrap_or(true)
    }

    fn constant(&mut self, expression: &ConstExpr<'_>) -> Result<(), Error> {
        for operator in expression.get_operators_reader() {
            if let Operator::RefFunc { function_index } = operator? {
                self.escapes |= self.writes(function_index);
            }
        }
        Ok(())
    }

    /// A body of a module that has no memory: its indirect calls must pass its own parameters on, as in the shims that
    /// wit-component writes.
    fn body(&mut self, body: &FunctionBody<'_>) -> Result<(), Error> {
        let mut passes_on = true;
        let mut parameters = 0;
        let mut indirect = false;
        for operator in body.get_operators_reader()? {
            match operator? {
                Operator::LocalGet { local_index } if local_index == parameters => parameters += 1,
                Operator::I32Const { .. } | Operator::End => {}
                Operator::CallIndirect { type_index, .. } => indirect |= self.writing(type_index),
                Operator::ReturnCallIndirect { .. } | Operator::CallRef { .. } | Operator::ReturnCallRef { .. } => {
                    (indirect, passes_on) = (true, false);
                }
                _ => passes_on = false,
            }
        }
        self.calls_indirectly |= indirect && !passes_on;
        Ok(())
    }
}

/// Whether a function of this type, lowered from a component's, may return its result through memory: it has no results then,
/// and its last parameter is the pointer.
pub(crate) fn may_return_through_memory(params: &[ValType], results: &[ValType]) -> bool {
    results.is_empty() && params.last() == Some(&ValType::I32)
}

impl IndexSpaces {
    fn section(&mut self, payload: &Payload<'_>, verdict: &mut MarksVerdict) -> Result<(), Error> {
        match payload {
            Payload::InstanceSection(reader) => {
                for instance in reader.clone() {
                    let instance = match instance? {
                        Instance::Instantiate { module_index, .. } => match self.modules.get(module_index as usize) {
                            Some(Some(position)) => CoreInstance::Of(*position),
                            _ => CoreInstance::Unknown,
                        },
                        Instance::FromExports(exports) => {
                            let functions = exports.iter().filter(|export| export.kind == ExternalKind::Func);
                            CoreInstance::Exports(
                                functions.map(|export| (export.name.to_owned(), export.index)).collect(),
                            )
                        }
                    };
                    self.instances.push(instance);
                }
            }
            Payload::ComponentAliasSection(reader) => {
                for alias in reader.clone() {
                    match alias? {
                        ComponentAlias::CoreInstanceExport {
                            kind: ExternalKind::Func | ExternalKind::FuncExact,
                            instance_index,
                            name,
                        } => {
                            let name = name.to_owned();
                            self.functions.push(CoreFunction::Export { instance: instance_index, name });
                        }
                        ComponentAlias::InstanceExport { kind: ComponentExternalKind::Module, .. }
                        | ComponentAlias::Outer { kind: ComponentOuterAliasKind::CoreModule, .. } => {
                            self.modules.push(None);
                            verdict.because(MarksReason::ImportedModule);
                        }
                        _ => {}
                    }
                }
            }
            Payload::ComponentImportSection(reader) => {
                for import in reader.clone() {
                    if let ComponentTypeRef::Module(_) = import?.ty {
                        self.modules.push(None);
                        verdict.because(MarksReason::ImportedModule);
                    }
                }
            }
            Payload::ComponentCanonicalSection(reader) => {
                for function in reader.clone() {
                    let function = function?;
                    let options = match &function {
                        CanonicalFunction::Lift { options, .. } | CanonicalFunction::Lower { options, .. } => options,
                        _ => &[][..],
                    };
                    self.reallocs.extend(options.iter().filter_map(|option| match option {
                        CanonicalOption::Realloc(index) => Some(*index),
                        _ => None,
                    }));
                    if !matches!(function, CanonicalFunction::Lift { .. }) {
                        self.functions.push(CoreFunction::Other);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Tells each module which of its exports are used as `realloc`.
    fn resolve(&self, survey: &mut Prescan) {
        for function in &self.reallocs {
            let found = self.export(*function).and_then(|(position, name)| {
                let module = &mut survey.modules[position];
                let (_, index) = module.exports.iter().find(|(exported, _)| exported == name)?;
                let defined = *index as usize >= module.imports.len();
                defined.then(|| module.reallocs.insert(name.to_owned()))
            });
            if found.is_none() {
                survey.verdict.because(MarksReason::ReallocUnknown);
            }
        }
    }

    /// The module that exports a core function, and the name.
    fn export(&self, mut function: u32) -> Option<(usize, &str)> {
        loop {
            let CoreFunction::Export { instance, name } = self.functions.get(function as usize)? else { return None };
            match self.instances.get(*instance as usize)? {
                CoreInstance::Of(position) => return Some((*position, name)),
                CoreInstance::Exports(exports) => {
                    let (_, further) = exports.iter().find(|(exported, _)| exported == name)?;
                    // Of what stands before, in a valid component.
                    if *further >= function {
                        return None;
                    }
                    function = *further;
                }
                CoreInstance::Unknown => return None,
            }
        }
    }
}
