//! Ways into a component past its interface: the core functions that a call of a step, or with an input, goes through, where they may be
//! called as plain functions.
//!
//! ```text
//! func(step: u32) -> step-result       canon lift (core func step) (memory m) (post-return p)
//! a call of it                         step(number) ─▶ the result is read ─▶ p(place)
//! func(target: u32, data: list<u8>)    canon lift (core func run) (memory m) (realloc r) (post-return p)
//! a call of it                         r(0, 0, 1, length) ─▶ the input is copied ─▶ run(target, place, length) ─▶ p()
//! ```
//!
//! While `realloc` and `post-return` run, the canonical ABI lets the component call nothing outside of it: that is a trap. A plain call
//! has no such rule, so that there is only an entry when neither of both can reach an import, however it goes: direct calls lead to
//! functions of the same module alone, and nothing is called through a table or a reference.
//!
//! Invariants: exactly one function of that type is lifted, so that whichever export has that type is that function; names tell nothing. What
//! is not understood is no entry. Another way to call the function is always there.
//! Not here: the calls (`steps`, `access`).

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use wasmparser::component_types::{ComponentAnyTypeId, ComponentDefinedType, ComponentFuncType, ComponentValType};
use wasmparser::types::{CoreTypeId, TypesRef};
use wasmparser::{
    BinaryReader, CanonicalFunction, CanonicalOption, ComponentAlias, ExternalKind, FunctionBody, Operator, Payload,
    PrimitiveValType, TypeRef,
};

/// A function that a core instance exports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CoreExport {
    /// The core instance.
    pub(crate) instance: u32,
    /// Its name there.
    pub(crate) name: String,
}

/// The core functions of a call with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FuzzEntry {
    /// `(target: i32, place: i32, length: i32)`
    pub(crate) run: CoreExport,
    /// `(0, 0, alignment: i32, length: i32) -> i32`, which is the place.
    pub(crate) realloc: CoreExport,
    /// `()`, called behind `run`, if there is such a function.
    pub(crate) post_return: Option<CoreExport>,
}

/// The core functions of a step, and the memory that its result is in: numbers of the outermost component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepEntry {
    /// `(step: i32) -> i32`, which is the place of the result.
    pub(crate) step: u32,
    /// The core memory, with addresses of 32 bits.
    pub(crate) memory: u32,
    /// `(place: i32)`, called behind it, if there is such a function.
    pub(crate) post_return: Option<u32>,
}

/// Collects what says whether there is an entry.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryFinder {
    /// Core functions of the outermost component, by index; `None` for those that the canonical ABI makes.
    core_functions: Vec<Option<CoreExport>>,
    lifted: Vec<LiftedFunction>,
    /// By ordinal.
    modules: BTreeMap<u32, ModuleCode>,
}

#[derive(Clone, Debug)]
struct LiftedFunction {
    core_function: u32,
    ty: u32,
    options: Box<[CanonicalOption]>,
}

/// Where the code of a core module is.
#[derive(Clone, Debug, Default)]
struct ModuleCode {
    /// Functions that it imports, whose indices come first.
    imported: usize,
    exports: Vec<(String, u32)>,
    bodies: Vec<Range<usize>>,
}

impl EntryFinder {
    /// Sees a section of the outermost component.
    pub(crate) fn in_component(&mut self, payload: &Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::ComponentAliasSection(reader) => {
                for alias in reader.clone() {
                    if let ComponentAlias::CoreInstanceExport {
                        kind: ExternalKind::Func | ExternalKind::FuncExact,
                        instance_index,
                        name,
                    } = alias?
                    {
                        let found = CoreExport { instance: instance_index, name: name.to_owned() };
                        self.core_functions.push(Some(found));
                    }
                }
            }
            Payload::ComponentCanonicalSection(reader) => {
                for function in reader.clone() {
                    match function? {
                        CanonicalFunction::Lift { core_func_index, type_index, options } => {
                            let lifted = LiftedFunction { core_function: core_func_index, ty: type_index, options };
                            self.lifted.push(lifted);
                        }
                        _ => self.core_functions.push(None),
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Sees a section of the core module with this ordinal.
    pub(crate) fn in_module(&mut self, ordinal: u32, payload: &Payload<'_>) -> wasmparser::Result<()> {
        match payload {
            Payload::ImportSection(reader) => {
                let module = self.modules.entry(ordinal).or_default();
                for import in reader.clone().into_imports() {
                    module.imported += usize::from(matches!(import?.ty, TypeRef::Func(_) | TypeRef::FuncExact(_)));
                }
            }
            Payload::ExportSection(reader) => {
                let module = self.modules.entry(ordinal).or_default();
                for export in reader.clone() {
                    let export = export?;
                    if matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact) {
                        module.exports.push((export.name.to_owned(), export.index));
                    }
                }
            }
            Payload::CodeSectionEntry(body) => self.modules.entry(ordinal).or_default().bodies.push(body.range()),
            _ => {}
        }
        Ok(())
    }

    /// The only function of the type that `is_wanted` is lifted, if there is exactly one.
    fn lifted(
        &self,
        types: TypesRef<'_>,
        is_wanted: fn(TypesRef<'_>, &ComponentFuncType) -> bool,
    ) -> Option<&LiftedFunction> {
        let mut fitting = self.lifted.iter().filter(|lifted| match types.component_any_type_at(lifted.ty) {
            ComponentAnyTypeId::Func(function) => is_wanted(types, &types[function]),
            _ => false,
        });
        let (Some(lifted), None) = (fitting.next(), fitting.next()) else { return None };
        (types.function_count() as usize == self.core_functions.len()).then_some(lifted)
    }

    /// What exports a core function, if its instance is of a known module and its type is told by parameters and results.
    fn export(
        &self,
        types: TypesRef<'_>,
        function: u32,
        module_of: &impl Fn(u32) -> Option<u32>,
    ) -> Option<&CoreExport> {
        let found = self.core_functions.get(function as usize)?.as_ref()?;
        (is_plain(types, types.core_function_at(function)) && module_of(found.instance).is_some()).then_some(found)
    }

    /// The same of one that can never call an import.
    fn enclosed(
        &self,
        (types, component): (TypesRef<'_>, &[u8]),
        function: u32,
        module_of: &impl Fn(u32) -> Option<u32>,
    ) -> Option<&CoreExport> {
        let found = self.export(types, function, module_of)?;
        let module = self.modules.get(&module_of(found.instance)?)?;
        module.is_enclosed(&found.name, component).then_some(found)
    }

    /// The way into the fuzz targets of `component`, which is complete and valid: `types` is what the validator knows of it. `module_of`
    /// says which module a core instance is of, if it can be reached.
    pub(crate) fn find_fuzz(
        &self,
        types: TypesRef<'_>,
        component: &[u8],
        module_of: impl Fn(u32) -> Option<u32>,
    ) -> Option<FuzzEntry> {
        let lifted = self.lifted(types, takes_input)?;
        let (mut realloc, mut post_return) = (None, None);
        for option in &lifted.options {
            match option {
                CanonicalOption::UTF8
                | CanonicalOption::UTF16
                | CanonicalOption::CompactUTF16
                | CanonicalOption::Memory(_) => {}
                CanonicalOption::Realloc(function) => realloc = Some(*function),
                CanonicalOption::PostReturn(function) => post_return = Some(*function),
                _ => return None,
            }
        }
        let enclosed = |function| self.enclosed((types, component), function, &module_of).cloned();
        let run = self.export(types, lifted.core_function, &module_of)?.clone();
        let post_return = match post_return {
            Some(function) => Some(enclosed(function)?),
            None => None,
        };
        Some(FuzzEntry { run, realloc: enclosed(realloc?)?, post_return })
    }

    /// The same of the step of a scenario, whose texts are UTF-8.
    pub(crate) fn find_step(
        &self,
        types: TypesRef<'_>,
        component: &[u8],
        module_of: impl Fn(u32) -> Option<u32>,
    ) -> Option<StepEntry> {
        let lifted = self.lifted(types, is_step)?;
        let (mut memory, mut post_return) = (None, None);
        for option in &lifted.options {
            match option {
                // A result is not put into memory by who reads it.
                CanonicalOption::UTF8 | CanonicalOption::Realloc(_) => {}
                CanonicalOption::Memory(index) => memory = Some(*index),
                CanonicalOption::PostReturn(function) => post_return = Some(*function),
                _ => return None,
            }
        }
        let ty = types.memory_at(memory?);
        let is_narrow = !ty.memory64 && !ty.shared && ty.page_size_log2.is_none();
        let is_known = is_plain(types, types.core_function_at(lifted.core_function));
        let is_free = |function| self.enclosed((types, component), function, &module_of).is_some();
        let fits = is_narrow && is_known && post_return.is_none_or(is_free);
        fits.then_some(StepEntry { step: lifted.core_function, memory: memory?, post_return })
    }
}

impl ModuleCode {
    /// Whether the exported function of this name can only ever call functions that the module defines.
    fn is_enclosed(&self, name: &str, component: &[u8]) -> bool {
        let Some((_, first)) = self.exports.iter().find(|(exported, _)| exported == name) else { return false };
        let (mut met, mut open) = (BTreeSet::from([*first]), vec![*first]);
        while let Some(function) = open.pop() {
            let body = (function as usize).checked_sub(self.imported).and_then(|defined| self.bodies.get(defined));
            let Some(callees) = body.and_then(|body| callees(component.get(body.clone())?, body.start)) else {
                return false;
            };
            open.extend(callees.into_iter().filter(|callee| met.insert(*callee)));
        }
        true
    }
}

/// The functions that a body at `start` of the component calls directly; `None` when it calls any in another way.
fn callees(body: &[u8], start: usize) -> Option<Vec<u32>> {
    let mut callees = Vec::new();
    for operator in FunctionBody::new(BinaryReader::new(body, start)).get_operators_reader().ok()? {
        match operator.ok()? {
            Operator::Call { function_index } | Operator::ReturnCall { function_index } => callees.push(function_index),
            Operator::CallIndirect { .. }
            | Operator::ReturnCallIndirect { .. }
            | Operator::CallRef { .. }
            | Operator::ReturnCallRef { .. } => return None,
            _ => {}
        }
    }
    Some(callees)
}

fn is(types: TypesRef<'_>, ty: &ComponentValType, wanted: PrimitiveValType) -> bool {
    match ty {
        ComponentValType::Primitive(found) => *found == wanted,
        ComponentValType::Type(id) => matches!(&types[*id], ComponentDefinedType::Primitive(found) if *found == wanted),
    }
}

/// Whether it is `func(u32, list<u8>)`, under whatever names.
fn takes_input(types: TypesRef<'_>, function: &ComponentFuncType) -> bool {
    let is_bytes = |ty: &ComponentValType| match ty {
        ComponentValType::Primitive(_) => false,
        ComponentValType::Type(id) => match &types[*id] {
            ComponentDefinedType::List { element, .. } => is(types, element, PrimitiveValType::U8),
            _ => false,
        },
    };
    let [(_, target), (_, data)] = &function.params[..] else { return false };
    function.result.is_none() && is(types, target, PrimitiveValType::U32) && is_bytes(data)
}

/// Whether it is `func(u32) -> step-result`, under whatever names.
fn is_step(types: TypesRef<'_>, function: &ComponentFuncType) -> bool {
    use PrimitiveValType::{String, U32};
    let is_skip = |ty: &ComponentValType| {
        let ComponentValType::Type(id) = ty else { return false };
        let ComponentDefinedType::Record(record) = &types[*id] else { return false };
        let fields: Vec<_> = record.fields.values().collect();
        matches!(fields[..], [flow, label] if is(types, flow, U32) && is(types, label, String))
    };
    let ([(_, step)], Some(ComponentValType::Type(result))) = (&function.params[..], &function.result) else {
        return false;
    };
    let ComponentDefinedType::Variant(variant) = &types[*result] else { return false };
    let cases: Vec<_> = variant.cases.values().map(|case| case.ty.as_ref()).collect();
    let [Some(ran), Some(skipped), Some(stuck)] = cases[..] else { return false };
    is(types, step, U32) && is(types, ran, U32) && is_skip(skipped) && is(types, stuck, String)
}

/// Whether a function of this type is what an import of its parameters and results alone names: types that are declared together, or
/// below another one, are others.
fn is_plain(types: TypesRef<'_>, id: CoreTypeId) -> bool {
    let ty = &types[id];
    let is_alone = types.rec_group_elements(types.rec_group_id_of(id)).len() == 1;
    is_alone && ty.is_final && ty.supertype_idx.is_none() && !ty.composite_type.shared
}
