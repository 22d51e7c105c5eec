//! Mutants: small changes of code, each as long as what it replaces, that a test should notice.
//!
//! ```text
//! local.get 0   i32.const 10   i32.lt_s   br_if 0
//!               i32.const 0               constant       10 became 0
//!                              i32.le_s   comparison     < became <=
//!                              i32.ge_s   comparison     < became >=
//! ```
//!
//! Invariants: no byte moves, so that offsets, debug information and names of the original are those of each mutant; a mutant is valid
//! where the original is. Left alone is what compilers put in and no source says: arithmetic of addresses and of the shadow stack, masks of
//! booleans, addresses of static data, stores that only a debugger reads; and what is equal by construction, as `x + 0` and `x - 0`.
//! Not here: which code is the program's own, and which mutants are executed (`fozzy-campaign`).

mod operators;

use crate::edit::offset_u32;
use crate::{COMPONENT_BYTES_MAX, Error, ModuleOrdinal, OriginalOffset, features, nesting};
pub use operators::MutationKind;
use operators::{BodyReader, CodeOperator};
use std::collections::BTreeMap;
use std::ops::Range;
use wasmparser::{CompositeInnerType, DataKind, Encoding, FuncType, FunctionBody, Operator, Parser, Payload, TypeRef};

/// Mutations of one component at the most; those after it are counted. Programs of toolchains stay below a tenth of it.
pub const MUTATIONS_MAX: usize = 1 << 21;

/// Bytes of the original that are other ones in a mutant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeEdit {
    /// The first of them.
    pub offset: OriginalOffset,
    /// As many as are replaced.
    pub bytes: Vec<u8>,
}

/// A change of one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeMutation {
    /// The core module.
    pub module: ModuleOrdinal,
    /// Index of the function there, imported ones included.
    pub function: u32,
    /// The operator that is changed; of a body the first one.
    pub offset: OriginalOffset,
    /// What is changed.
    pub kind: MutationKind,
    /// The change in words: `< became <=`.
    pub change: String,
    /// It is a test of an unsigned bound, or of nothing but a value: what compilers check by themselves looks like that too.
    pub looks_like_a_check: bool,
    /// Whom a call that is left out calls.
    pub callee: Option<u32>,
    /// The bytes.
    pub edit: CodeEdit,
}

/// The mutations of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeMutations {
    /// The first [`MUTATIONS_MAX`], in the order of the bytes.
    pub all: Vec<CodeMutation>,
    /// How many come after these, by what is changed.
    pub left_out: BTreeMap<MutationKind, u64>,
}

/// All mutations of the functions of a component that are `wanted`.
///
/// # Errors
/// What is no component, and the bounds named in [`Error`].
pub fn mutations(
    component: &[u8],
    wanted: &dyn Fn(ModuleOrdinal, Range<OriginalOffset>) -> bool,
) -> Result<CodeMutations, Error> {
    mutations_up_to(component, wanted, MUTATIONS_MAX)
}

/// The same with another bound.
pub(crate) fn mutations_up_to(
    component: &[u8],
    wanted: &dyn Fn(ModuleOrdinal, Range<OriginalOffset>) -> bool,
    limit: usize,
) -> Result<CodeMutations, Error> {
    if component.len() > COMPONENT_BYTES_MAX {
        return Err(Error::TooLarge { bytes: component.len() });
    }
    nesting::check(component)?;
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let data = data_ranges(component)?;
    let mut found = CodeMutations::default();
    let mut open: Vec<Option<ModuleReader>> = Vec::new();
    let mut modules = 0;
    for payload in parser.parse_all(component) {
        match payload? {
            Payload::Version { encoding: Encoding::Module, .. } => {
                let data = data.get(modules as usize).cloned().unwrap_or(0..0);
                open.push(Some(ModuleReader::new(ModuleOrdinal(modules), data)));
                modules += 1;
            }
            Payload::Version { encoding: Encoding::Component, .. } => open.push(None),
            Payload::End(_) => drop(open.pop()),
            Payload::CodeSectionEntry(body) => {
                if let Some(Some(module)) = open.last_mut() {
                    let at = |position: usize| OriginalOffset(offset_u32(position));
                    let range = at(body.range().start)..at(body.range().end);
                    let found = wanted(module.ordinal, range).then_some((&mut found, limit));
                    module.body(component, &body, found)?;
                }
            }
            payload => {
                if let Some(Some(module)) = open.last_mut() {
                    module.section(payload)?;
                }
            }
        }
    }
    Ok(found)
}

/// The component with all of these bytes replaced.
///
/// # Panics
/// When an edit is of another component.
#[must_use]
pub fn mutated<'e>(component: &[u8], edits: impl IntoIterator<Item = &'e CodeEdit>) -> Vec<u8> {
    let mut bytes = component.to_vec();
    for edit in edits {
        let start = edit.offset.0 as usize;
        bytes[start..start + edit.bytes.len()].copy_from_slice(&edit.bytes);
    }
    bytes
}

/// What of a module decides which changes of its code are valid.
struct ModuleReader {
    ordinal: ModuleOrdinal,
    types: Vec<Option<FuncType>>,
    /// Types of all functions, imported ones first.
    functions: Vec<u32>,
    imported: u32,
    bodies: u32,
    /// Where static data of a compiled program lies: constants in there are addresses.
    data: Range<i64>,
}

/// Data below this is no compiler's: they leave the beginning of the memory alone.
const DATA_START_MIN: i64 = 1024;

/// Where static data of each core module lies; empty where a compiler would have none.
fn data_ranges(component: &[u8]) -> Result<Vec<Range<i64>>, Error> {
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let mut ranges: Vec<Range<i64>> = Vec::new();
    let mut open: Vec<Option<usize>> = Vec::new();
    for payload in parser.parse_all(component) {
        match payload? {
            Payload::Version { encoding: Encoding::Module, .. } => {
                open.push(Some(ranges.len()));
                ranges.push(0..0);
            }
            Payload::Version { encoding: Encoding::Component, .. } => open.push(None),
            Payload::End(_) => drop(open.pop()),
            Payload::DataSection(reader) => {
                let Some(Some(module)) = open.last() else { continue };
                for segment in reader {
                    let segment = segment?;
                    let DataKind::Active { memory_index: 0, offset_expr } = segment.kind else { continue };
                    let Ok(Operator::I32Const { value }) = offset_expr.get_operators_reader().read() else { continue };
                    let (start, range) = (i64::from(value), &mut ranges[*module]);
                    if start >= DATA_START_MIN {
                        let end = start + i64::try_from(segment.data.len()).unwrap_or(i64::MAX - start);
                        let first = if range.is_empty() { start } else { range.start.min(start) };
                        *range = first..range.end.max(end);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(ranges)
}

impl ModuleReader {
    fn new(ordinal: ModuleOrdinal, data: Range<i64>) -> ModuleReader {
        ModuleReader { ordinal, types: Vec::new(), functions: Vec::new(), imported: 0, bodies: 0, data }
    }

    fn section(&mut self, payload: Payload<'_>) -> Result<(), Error> {
        match payload {
            Payload::TypeSection(reader) => {
                for group in reader {
                    for ty in group?.into_types() {
                        self.types.push(match ty.composite_type.inner {
                            CompositeInnerType::Func(function) => Some(function),
                            _ => None,
                        });
                    }
                }
            }
            Payload::ImportSection(reader) => {
                for import in reader.into_imports() {
                    if let TypeRef::Func(ty) | TypeRef::FuncExact(ty) = import?.ty {
                        self.functions.push(ty);
                    }
                }
                self.imported = offset_u32(self.functions.len());
            }
            Payload::FunctionSection(reader) => {
                for ty in reader {
                    self.functions.push(ty?);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn signature(&self, function: u32) -> Option<&FuncType> {
        let ty = *self.functions.get(function as usize)?;
        self.types.get(ty as usize)?.as_ref()
    }

    fn body(
        &mut self,
        component: &[u8],
        body: &FunctionBody<'_>,
        found: Option<(&mut CodeMutations, usize)>,
    ) -> Result<(), Error> {
        let function = self.imported + self.bodies;
        self.bodies += 1;
        let Some((found, limit)) = found else { return Ok(()) };
        let mut operators = Vec::new();
        let mut reader = body.get_operators_reader()?;
        while !reader.eof() {
            let offset = offset_u32(reader.original_position());
            let operator = reader.read()?;
            let end = offset_u32(reader.original_position());
            operators.push(CodeOperator { operator, offset, end });
        }
        let signatures = |function: u32| self.signature(function);
        let own = self.signature(function);
        let code = BodyReader::of(&operators, component, self.data.clone());
        code.mutations(own, &signatures, &mut |draft| {
            if found.all.len() >= limit {
                *found.left_out.entry(draft.kind).or_default() += 1;
                return;
            }
            found.all.push(CodeMutation {
                module: self.ordinal,
                function,
                offset: OriginalOffset(draft.offset),
                kind: draft.kind,
                change: draft.change,
                looks_like_a_check: draft.looks_like_a_check,
                callee: draft.callee,
                edit: CodeEdit { offset: OriginalOffset(draft.start), bytes: draft.bytes },
            });
        });
        Ok(())
    }
}
