//! What the code of a component says before it runs: who calls whom, where it branches, and where it can only trap.
//!
//! ```text
//! core module ─▶ function ─▶ sites: call f · call an import · indirect call of a type · branch · loop · trap · atomic
//!                            exports, and whether its address is taken
//! ```
//!
//! Invariants: a direct call names its callee; of an indirect call the callees are candidates: the functions of its type whose address is
//! taken in the module (by an element segment, a global or `ref.func`); modules have the order and numbers of
//! [`crate::source::DebugSymbols`].
//! Not here: calls between modules, which are imports on this side; what ran ([`crate::Sites`]).

use crate::edit::offset_u32;
use crate::{COMPONENT_BYTES_MAX, Error, ModuleOrdinal, OriginalOffset, features, nesting};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use wasmparser::{
    BinaryReaderError, BlockType, CompositeInnerType, ConstExpr, ElementItems, Encoding, ExternalKind, FuncType,
    FunctionBody, Operator, Parser, Payload, TableInit, TypeRef,
};

/// The code of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallGraph {
    /// By module, then by index.
    pub functions: Vec<CodeFunction>,
    /// Of each module, by the number of a type in [`SiteKind::Indirect`]: the functions that may be meant, as positions in `functions`.
    candidates: BTreeMap<(ModuleOrdinal, u32), Vec<usize>>,
}

/// A function with code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFunction {
    /// The core module.
    pub module: ModuleOrdinal,
    /// Its index there, imported ones included.
    pub index: u32,
    /// Its operators.
    pub code: Range<OriginalOffset>,
    /// The names by which it is exported.
    pub exports: Vec<String>,
    /// Its address is taken, so that it may be called indirectly.
    pub is_taken: bool,
    /// What stands in its code, in order.
    pub sites: Vec<CodeSite>,
}

/// An operator that says something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeSite {
    /// Where it stands.
    pub offset: OriginalOffset,
    /// What it does.
    pub kind: SiteKind,
}

/// What an operator does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SiteKind {
    /// Calls the function at this position of [`CallGraph::functions`].
    Call(usize),
    /// Calls an import: its module and its name.
    Import(String, String),
    /// Calls through a table or a reference: a function of this type.
    Indirect(u32),
    /// Goes one of several ways: as many decisions as McCabe counts, one less than there are ways.
    Branch(u32),
    /// The head of a loop.
    Loop,
    /// `unreachable`, as compilers put behind what does not return.
    Trap,
    /// An access that other threads see.
    Atomic,
    /// Asks for more memory.
    MemoryGrow,
}

impl CallGraph {
    /// The code of `component`, which the rewriter has accepted.
    ///
    /// # Errors
    /// What is no component.
    pub fn of(component: &[u8]) -> Result<CallGraph, Error> {
        if component.len() > COMPONENT_BYTES_MAX {
            return Err(Error::TooLarge { bytes: component.len() });
        }
        nesting::check(component)?;
        let mut parser = Parser::new(0);
        parser.set_features(features());
        let mut graph = CallGraph::default();
        let mut open: Vec<Option<ModuleReader>> = Vec::new();
        let mut modules = 0;
        for payload in parser.parse_all(component) {
            match payload? {
                Payload::Version { encoding: Encoding::Module, .. } => {
                    open.push(Some(ModuleReader::new(ModuleOrdinal(modules))));
                    modules += 1;
                }
                Payload::Version { encoding: Encoding::Component, .. } => open.push(None),
                Payload::End(_) => {
                    if let Some(Some(module)) = open.pop() {
                        module.finish(&mut graph);
                    }
                }
                payload => {
                    if let Some(Some(module)) = open.last_mut() {
                        module.section(payload)?;
                    }
                }
            }
        }
        Ok(graph)
    }

    /// The functions that an indirect call of this type in this module may mean, as positions.
    #[must_use]
    pub fn candidates(&self, module: ModuleOrdinal, ty: u32) -> &[usize] {
        self.candidates.get(&(module, ty)).map_or(&[], Vec::as_slice)
    }
}

/// A module while it is read.
struct ModuleReader {
    ordinal: ModuleOrdinal,
    types: Vec<Option<FuncType>>,
    /// Module and name of each imported function.
    imports: Vec<(String, String)>,
    /// Types of all functions, imported ones first.
    functions: Vec<u32>,
    exports: Vec<(String, u32)>,
    taken: BTreeSet<u32>,
    bodies: Vec<RawBody>,
}

/// The operators of a function, and what some of them do.
type RawBody = (Range<OriginalOffset>, Vec<(OriginalOffset, RawSite)>);

/// A site whose callee is an index of the module still.
enum RawSite {
    Call(u32),
    Known(SiteKind),
}

type Read = Result<(), BinaryReaderError>;

impl ModuleReader {
    fn new(ordinal: ModuleOrdinal) -> ModuleReader {
        let (types, imports, functions) = (Vec::new(), Vec::new(), Vec::new());
        let (exports, taken, bodies) = (Vec::new(), BTreeSet::new(), Vec::new());
        ModuleReader { ordinal, types, imports, functions, exports, taken, bodies }
    }

    fn section(&mut self, payload: Payload<'_>) -> Read {
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
                    let import = import?;
                    if let TypeRef::Func(ty) | TypeRef::FuncExact(ty) = import.ty {
                        self.imports.push((import.module.to_owned(), import.name.to_owned()));
                        self.functions.push(ty);
                    }
                }
            }
            Payload::FunctionSection(reader) => {
                for ty in reader {
                    self.functions.push(ty?);
                }
            }
            Payload::TableSection(reader) => {
                for table in reader {
                    if let TableInit::Expr(expression) = table?.init {
                        self.constant(&expression)?;
                    }
                }
            }
            Payload::GlobalSection(reader) => {
                for global in reader {
                    self.constant(&global?.init_expr)?;
                }
            }
            Payload::ElementSection(reader) => {
                for element in reader {
                    match element?.items {
                        ElementItems::Functions(functions) => {
                            for function in functions {
                                self.taken.insert(function?);
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
                for export in reader {
                    let export = export?;
                    if let ExternalKind::Func | ExternalKind::FuncExact = export.kind {
                        self.exports.push((export.name.to_owned(), export.index));
                    }
                }
            }
            Payload::StartSection { func, .. } => self.exports.push(("(start)".to_owned(), func)),
            Payload::CodeSectionEntry(body) => self.body(&body)?,
            _ => {}
        }
        Ok(())
    }

    fn constant(&mut self, expression: &ConstExpr<'_>) -> Read {
        for operator in expression.get_operators_reader() {
            if let Operator::RefFunc { function_index } = operator? {
                self.taken.insert(function_index);
            }
        }
        Ok(())
    }

    fn body(&mut self, body: &FunctionBody<'_>) -> Read {
        let mut operators = body.get_operators_reader()?;
        let at = |position: usize| OriginalOffset(offset_u32(position));
        let (start, end) = (at(operators.original_position()), at(body.range().end));
        let mut sites = Vec::new();
        while !operators.eof() {
            let offset = at(operators.original_position());
            let operator = operators.read()?;
            if let Operator::RefFunc { function_index } = operator {
                self.taken.insert(function_index);
            }
            sites.extend(site(&operator).map(|site| (offset, site)));
        }
        self.bodies.push((start..end, sites));
        Ok(())
    }

    /// Adds the functions of the module, and what its indirect calls may mean.
    fn finish(self, graph: &mut CallGraph) {
        let (first, imported) = (graph.functions.len(), self.imports.len());
        let position = |index: u32| (index as usize).checked_sub(imported).map(|defined| first + defined);
        let mut exports: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (name, index) in self.exports {
            exports.entry(index).or_default().push(name);
        }
        let mut types = BTreeSet::new();
        for (defined, (code, raw)) in self.bodies.into_iter().enumerate() {
            let mut sites = Vec::with_capacity(raw.len());
            for (offset, site) in raw {
                let kind = match site {
                    RawSite::Known(kind) => kind,
                    RawSite::Call(index) => match (position(index), self.imports.get(index as usize)) {
                        (Some(position), _) => SiteKind::Call(position),
                        (None, Some((module, name))) => SiteKind::Import(module.clone(), name.clone()),
                        (None, None) => continue,
                    },
                };
                if let SiteKind::Indirect(ty) = kind {
                    types.insert(ty);
                }
                sites.push(CodeSite { offset, kind });
            }
            let index = offset_u32(imported + defined);
            let exports = exports.remove(&index).unwrap_or_default();
            let is_taken = self.taken.contains(&index);
            graph.functions.push(CodeFunction { module: self.ordinal, index, code, exports, is_taken, sites });
        }
        let type_of = |ty: u32| self.types.get(ty as usize).and_then(Option::as_ref);
        for ty in types {
            let fits = |function: &&u32| {
                let own = self.functions.get(**function as usize);
                own.is_some_and(|own| *own == ty || (type_of(*own).is_some() && type_of(*own) == type_of(ty)))
            };
            let candidates = self.taken.iter().filter(fits).filter_map(|function| position(*function));
            let candidates = candidates.filter(|position| *position < graph.functions.len()).collect();
            graph.candidates.insert((self.ordinal, ty), candidates);
        }
    }
}

fn site(operator: &Operator<'_>) -> Option<RawSite> {
    let known = match operator {
        Operator::Call { function_index } | Operator::ReturnCall { function_index } => {
            return Some(RawSite::Call(*function_index));
        }
        Operator::CallIndirect { type_index, .. }
        | Operator::ReturnCallIndirect { type_index, .. }
        | Operator::CallRef { type_index }
        | Operator::ReturnCallRef { type_index } => SiteKind::Indirect(*type_index),
        Operator::If { .. } | Operator::BrIf { .. } => SiteKind::Branch(1),
        Operator::BrOnNull { .. }
        | Operator::BrOnNonNull { .. }
        | Operator::BrOnCast { .. }
        | Operator::BrOnCastFail { .. } => SiteKind::Branch(1),
        Operator::BrTable { targets } => {
            let mut ways: BTreeSet<u32> = targets.targets().map_while(Result::ok).collect();
            ways.insert(targets.default());
            SiteKind::Branch(offset_u32(ways.len()).saturating_sub(1))
        }
        Operator::Loop { blockty: BlockType::Empty | BlockType::Type(_) | BlockType::FuncType(_) } => SiteKind::Loop,
        Operator::Unreachable => SiteKind::Trap,
        Operator::MemoryGrow { .. } => SiteKind::MemoryGrow,
        Operator::MemoryAtomicNotify { .. }
        | Operator::MemoryAtomicWait32 { .. }
        | Operator::MemoryAtomicWait64 { .. }
        | Operator::AtomicFence => SiteKind::Atomic,
        _ => return None,
    };
    Some(RawSite::Known(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        (component (core module $m
            (type $one (func (param i32) (result i32)))
            (type $none (func))
            (type $same (func (param i32) (result i32)))
            (import "host" "read" (func $read (type $one)))
            (table 3 funcref)
            (elem (i32.const 0) $inc $two)
            (func $inc (type $one) local.get 0 if (result i32) i32.const 1 else i32.const 2 end)
            (func $two (type $none) unreachable)
            (func $hidden (type $one) local.get 0)
            (func (export "go") (param i32) (result i32)
                block block block local.get 0 br_table 0 1 0 2 end end end
                local.get 0 call $inc
                call $read
                i32.const 0 call_indirect (type $same))))"#;

    fn graph() -> CallGraph {
        let bytes = wat::parse_str(TEXT).expect("a component");
        CallGraph::of(&bytes).expect("a graph")
    }

    #[test]
    fn direct_calls_name_their_callees_and_indirect_ones_have_those_of_their_type_whose_address_is_taken() {
        let graph = graph();
        let go = graph.functions.iter().find(|function| function.exports == ["go"]).expect("exported");
        let kinds: Vec<&SiteKind> = go.sites.iter().map(|site| &site.kind).collect();
        assert_eq!(
            kinds,
            [
                &SiteKind::Branch(2),
                &SiteKind::Call(0),
                &SiteKind::Import("host".to_owned(), "read".to_owned()),
                &SiteKind::Indirect(2)
            ]
        );
        assert_eq!(
            graph.candidates(ModuleOrdinal(0), 2),
            [0],
            "not the hidden one, and not the one without parameters"
        );
        let taken: Vec<bool> = graph.functions.iter().map(|function| function.is_taken).collect();
        assert_eq!(taken, [true, true, false, false]);
        assert_eq!((go.index, go.sites.len()), (4, 4));
    }

    #[test]
    fn ways_and_traps_are_counted() {
        let graph = graph();
        assert_eq!(graph.functions[0].sites.iter().map(|site| &site.kind).collect::<Vec<_>>(), [&SiteKind::Branch(1)]);
        assert_eq!(graph.functions[1].sites[0].kind, SiteKind::Trap);
    }

    #[test]
    fn what_is_no_component_is_refused() {
        assert!(CallGraph::of(b"\0asm nonsense").is_err());
    }
}
