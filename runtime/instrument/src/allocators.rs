//! The functions by which a program allocates and frees memory, recognised by their names.
//!
//! ```text
//! __rust_alloc ─▶ __rdl_alloc ─▶ malloc ─▶ dlmalloc      all are recognised, since a compiler may have put any of them into its
//! operator new ─────────────────▶ malloc ─▶ dlmalloc      callers; who counts takes the outermost one that is open
//! ```
//!
//! A name alone is not enough: parameters and results must be those of such a function too. Names are those of the name section
//! and of exports. What has neither can be named by its index ([`AllocatorChoice`]).
//!
//! Invariant: what is not certain is left out; so a program without names has no allocator, which who asks must say.
//! Not here: what is done with the calls (`heap`), allocators of 64-bit memories, `resize` of Zig's own allocators.

mod inner;
pub(crate) mod role;

pub(crate) use inner::inner_functions;

pub use role::AllocatorRole;
use role::{SpecialFunction, special_of};

use crate::names::{self, functions, readable};
use crate::options::ModuleChoice;
use crate::prescan::survey;
use crate::{Error, ModuleOrdinal, features};
use fozzy_trace::plan::AllocatorChoice;
use std::collections::BTreeMap;
use wasmparser::{CompositeInnerType, Encoding, ExternalKind, Parser, Payload, TypeRef, ValType};

/// One function of an allocator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllocatorFunction {
    /// Its name, readable.
    pub name: String,
    /// What it does.
    pub role: AllocatorRole,
}

/// The allocators of a component.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allocators {
    functions: BTreeMap<(ModuleOrdinal, u32), AllocatorFunction>,
    special: BTreeMap<(ModuleOrdinal, u32), SpecialFunction>,
    /// Choices that no function is there for.
    pub unknown: Vec<AllocatorChoice>,
    /// Modules of the program that have no names at all.
    pub nameless: Vec<ModuleOrdinal>,
}

impl Allocators {
    /// Recognises the allocators of a component; those that are `chosen`, too.
    ///
    /// # Errors
    /// When the component cannot be read.
    pub fn of(component: &[u8], chosen: &[AllocatorChoice]) -> Result<Allocators, Error> {
        let surveyed = survey(component)?;
        let mut found = Allocators::default();
        let mut is_used = vec![false; chosen.len()];
        for (module, known) in read_modules(component)?.iter().zip(&surveyed.modules) {
            if ModuleChoice::Own.includes(known.names()) {
                module.recognise(chosen, &mut is_used, &mut found);
            }
        }
        found.unknown = chosen.iter().zip(is_used).filter(|(_, used)| !used).map(|(it, _)| it.clone()).collect();
        Ok(found)
    }

    /// What a function is.
    #[must_use]
    pub fn function(&self, module: ModuleOrdinal, function: u32) -> Option<&AllocatorFunction> {
        self.functions.get(&(module, function))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (ModuleOrdinal, u32, &AllocatorFunction)> {
        self.functions.iter().map(|((module, function), it)| (*module, *function, it))
    }

    /// Whether there is one that may say that it has no memory.
    #[must_use]
    pub fn may_fail(&self) -> bool {
        self.functions.values().any(may_fail)
    }

    /// The functions of a module that may say that they have no memory, by index.
    pub(crate) fn fallible(&self, module: ModuleOrdinal) -> BTreeMap<u32, AllocatorRole> {
        let own = self.functions.range((module, 0)..=(module, u32::MAX));
        own.filter(|(_, it)| may_fail(it)).map(|((_, function), it)| (*function, it.role)).collect()
    }

    /// What functions of a module do, by index.
    pub(crate) fn roles(&self, module: ModuleOrdinal) -> BTreeMap<u32, AllocatorRole> {
        let own = self.functions.range((module, 0)..=(module, u32::MAX));
        own.map(|((_, function), it)| (*function, it.role)).collect()
    }

    /// What is special about functions of a module, by index.
    pub(crate) fn special(&self, module: ModuleOrdinal) -> BTreeMap<u32, SpecialFunction> {
        let own = self.special.range((module, 0)..=(module, u32::MAX));
        own.map(|((_, function), it)| (*function, *it)).collect()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
    }

    /// Whether one of them frees blocks unseen, like a garbage collector: then it is not known which blocks are in use.
    #[must_use]
    pub fn collects(&self) -> bool {
        let collected = |role| matches!(role, AllocatorRole::GoAllocate | AllocatorRole::AllocateCollected { .. });
        self.functions.values().any(|function| collected(function.role))
    }
}

/// Whether a function may say that it has no memory.
fn may_fail(function: &AllocatorFunction) -> bool {
    let never = ["operator new", "_Znw", "_Zna", "cabi_realloc", "~lib/"];
    let may = matches!(
        function.role,
        AllocatorRole::Allocate { .. } | AllocatorRole::AllocateInto { .. } | AllocatorRole::Reallocate { .. }
    );
    may && !never.iter().any(|name| function.name.contains(name))
}

/// What is read of one module.
struct NamedModule {
    ordinal: ModuleOrdinal,
    types: Vec<Option<(Vec<ValType>, Vec<ValType>)>>,
    imported: u32,
    functions: Vec<u32>,
    names: Vec<(u32, String)>,
    has_name_section: bool,
    has_memory32: bool,
}

fn read_modules(component: &[u8]) -> Result<Vec<NamedModule>, Error> {
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let mut modules: Vec<NamedModule> = Vec::new();
    let mut open: Vec<bool> = Vec::new();
    for payload in parser.parse_all(component) {
        match payload? {
            Payload::Version { encoding, .. } => {
                let is_module = encoding == Encoding::Module;
                open.push(is_module);
                if is_module {
                    let ordinal = ModuleOrdinal(crate::edit::offset_u32(modules.len()));
                    modules.push(NamedModule::new(ordinal));
                }
            }
            Payload::End(_) => {
                open.pop();
            }
            payload if open.last() == Some(&true) => {
                modules.last_mut().expect("one is open").section(&payload)?;
            }
            _ => {}
        }
    }
    Ok(modules)
}

impl NamedModule {
    fn new(ordinal: ModuleOrdinal) -> NamedModule {
        let (types, functions, names) = (Vec::new(), Vec::new(), Vec::new());
        NamedModule { ordinal, types, imported: 0, functions, names, has_name_section: false, has_memory32: false }
    }

    fn section(&mut self, payload: &Payload<'_>) -> Result<(), Error> {
        match payload {
            Payload::TypeSection(reader) => {
                for group in reader.clone() {
                    for ty in group?.into_types() {
                        self.types.push(match ty.composite_type.inner {
                            CompositeInnerType::Func(ty) => Some((ty.params().to_vec(), ty.results().to_vec())),
                            _ => None,
                        });
                    }
                }
            }
            Payload::ImportSection(reader) => {
                for import in reader.clone().into_imports() {
                    match import?.ty {
                        TypeRef::Func(ty) | TypeRef::FuncExact(ty) => self.functions.push(ty),
                        TypeRef::Memory(memory) => self.has_memory32 |= !memory.memory64,
                        _ => {}
                    }
                }
                self.imported = crate::edit::offset_u32(self.functions.len());
            }
            Payload::FunctionSection(reader) => {
                for ty in reader.clone() {
                    self.functions.push(ty?);
                }
            }
            Payload::MemorySection(reader) => {
                for memory in reader.clone() {
                    self.has_memory32 |= !memory?.memory64;
                }
            }
            Payload::ExportSection(reader) => {
                for export in reader.clone() {
                    let export = export?;
                    if matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact) {
                        self.names.push((export.index, export.name.to_owned()));
                    }
                }
            }
            Payload::CustomSection(custom) if custom.name() == "name" => {
                let named = functions(custom.data()).map(|(index, name)| (index, name.to_owned()));
                // Before those of exports, which are what a linker made of them.
                self.names.splice(0..0, named);
                self.has_name_section |= self.names.iter().any(|(index, _)| *index >= self.imported);
            }
            _ => {}
        }
        Ok(())
    }

    fn recognise(&self, chosen: &[AllocatorChoice], is_used: &mut [bool], found: &mut Allocators) {
        if !self.has_memory32 {
            return;
        }
        let named: Vec<(u32, &str)> = self.names.iter().map(|(index, name)| (*index, name.as_str())).collect();
        let is_own = |index: u32| index >= self.imported && (index as usize) < self.functions.len();
        for &(index, name) in named.iter().filter(|(index, _)| is_own(*index)) {
            if let Some(role) = role_of(name).filter(|role| self.fits(index, *role)) {
                let function = AllocatorFunction { name: names::readable(name), role };
                found.functions.entry((self.ordinal, index)).or_insert(function);
            }
        }
        for &(index, name) in named.iter().filter(|(index, _)| is_own(*index)) {
            if let Some(special) = special_of(name) {
                found.special.entry((self.ordinal, index)).or_insert(special);
            }
        }
        self.prefer_inner_layer(found);
        for (choice, used) in chosen.iter().zip(is_used) {
            let by_index = choice.function.strip_prefix("func[").and_then(|rest| rest.strip_suffix(']'));
            let index = match by_index.and_then(|index| index.parse().ok()) {
                Some(index) => Some(index),
                None => named
                    .iter()
                    .find(|(_, name)| *name == choice.function || readable(name) == choice.function)
                    .map(|it| it.0),
            };
            let role = c_role(&choice.like).expect("it was parsed");
            if let Some(index) = index.filter(|index| is_own(*index) && self.fits(*index, role)) {
                let name = choice.function.clone();
                found.functions.insert((self.ordinal, index), AllocatorFunction { name, role });
                *used = true;
            }
        }
        if !self.has_name_section {
            found.nameless.push(self.ordinal);
        }
    }

    /// AssemblyScript's collector runs inside of what allocates objects, and frees blocks of another layer: that one is taken.
    fn prefer_inner_layer(&self, found: &mut Allocators) {
        let own = |name: &str| found.iter().any(|(module, _, it)| module == self.ordinal && it.name.ends_with(name));
        if own("/__alloc") && own("/__free") {
            let is_object = |name: &str| name.ends_with("/__new") || name.ends_with("/__renew");
            found.functions.retain(|(module, _), it| *module != self.ordinal || !is_object(&it.name));
        }
    }

    /// Whether a function has the parameters and the result of a role.
    fn fits(&self, function: u32, role: AllocatorRole) -> bool {
        let ty = self.functions[function as usize];
        let Some(Some((params, results))) = self.types.get(ty as usize) else { return false };
        let word = |index: u32| params.get(index as usize) == Some(&ValType::I32);
        let returns = |expected: &[ValType]| results == expected;
        match role {
            AllocatorRole::Allocate { size, count } => {
                word(size) && count.is_none_or(word) && returns(&[ValType::I32]) && params.len() <= ARGUMENTS_MAX
            }
            AllocatorRole::AllocateCollected { size } => word(size) && returns(&[ValType::I32]),
            AllocatorRole::AllocateInto { size } => word(0) && word(size) && returns(&[ValType::I32]),
            AllocatorRole::Reallocate { address, size, .. } => {
                word(address) && word(size) && returns(&[ValType::I32]) && params.len() <= ARGUMENTS_MAX
            }
            AllocatorRole::Free { address } => word(address) && results.is_empty() && params.len() <= ARGUMENTS_MAX,
            AllocatorRole::GoAllocate => params[..] == [ValType::I32] && returns(&[ValType::I32]),
        }
    }
}

/// Most parameters that a function of an allocator has.
const ARGUMENTS_MAX: usize = 4;

/// What a function of this name does.
fn role_of(symbol: &str) -> Option<AllocatorRole> {
    let name = symbol.strip_prefix("c.malloc.").unwrap_or(symbol);
    c_role(name)
        .or_else(|| rust_role(symbol))
        .or_else(|| cplusplus_role(symbol))
        .or_else(|| runtime_role(symbol))
        .or_else(|| crate_role(symbol))
}

/// C's, and those of allocators that have the same parameters.
fn c_role(name: &str) -> Option<AllocatorRole> {
    const BARE: [&str; 11] =
        ["PyObject_", "PyMem_Raw", "PyMem_", "_PyObject_", "__libc_", "emmalloc_", "mi_", "dl", "je_", "rp", ""];
    let at = |size| AllocatorRole::Allocate { size, count: None };
    let again = |address, size| AllocatorRole::Reallocate { address, size, is_nothing_at_zero: false };
    BARE.iter().find_map(|prefix| {
        let bare = name.strip_prefix(prefix)?;
        let bare = if prefix.contains("Py") { python_name(bare)? } else { bare };
        Some(match bare {
            "malloc" | "zalloc" | "valloc" | "malloc_aligned" | "zalloc_aligned" => at(0),
            "calloc" => AllocatorRole::Allocate { size: 1, count: Some(0) },
            "aligned_alloc" | "memalign" => at(1),
            "posix_memalign" => AllocatorRole::AllocateInto { size: 2 },
            "realloc" | "realloc_aligned" => again(0, 1),
            "free" => AllocatorRole::Free { address: 0 },
            _ => return None,
        })
    })
}

/// `malloc` of `PyMem_Malloc`.
fn python_name(name: &str) -> Option<&'static str> {
    let names = [("Malloc", "malloc"), ("Calloc", "calloc"), ("Realloc", "realloc"), ("Free", "free")];
    names.iter().find(|(theirs, _)| *theirs == name).map(|(_, ours)| *ours)
}

/// Those that Rust's compiler puts in, those of its standard library and those that a component's types are made with.
fn rust_role(symbol: &str) -> Option<AllocatorRole> {
    let name = rust_name(symbol);
    let again = |size| AllocatorRole::Reallocate { address: 0, size, is_nothing_at_zero: true };
    if name == "cabi_realloc" || name.starts_with("cabi_realloc_wit_bindgen_") {
        return Some(again(3));
    }
    let name = ["__rust_", "__rdl_", "__rg_"].iter().find_map(|prefix| name.strip_prefix(prefix))?;
    Some(match name {
        "alloc" | "alloc_zeroed" => AllocatorRole::Allocate { size: 0, count: None },
        "dealloc" => AllocatorRole::Free { address: 0 },
        "realloc" => again(3),
        _ => return None,
    })
}

/// `__rust_alloc` of `_RNvCsfLwTdz5JuPB_7___rustc12___rust_alloc`.
fn rust_name(symbol: &str) -> &str {
    let Some((_, last)) = symbol.strip_prefix("_R").and_then(|path| path.split_once("7___rustc")) else {
        return symbol;
    };
    let last = last.trim_start_matches(|digit: char| digit.is_ascii_digit());
    last.strip_prefix('_').unwrap_or(last)
}

/// `operator new` and `delete`, as symbols and as a linker writes them.
fn cplusplus_role(symbol: &str) -> Option<AllocatorRole> {
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| symbol.starts_with(prefix));
    if starts(&["_Znwm", "_Znwj", "_Znam", "_Znaj", "operator new(", "operator new[]("]) {
        return Some(AllocatorRole::Allocate { size: 0, count: None });
    }
    let deletes = starts(&["_ZdlPv", "_ZdaPv", "operator delete(", "operator delete[]("]);
    deletes.then_some(AllocatorRole::Free { address: 0 })
}

/// Those of languages with a collector.
fn runtime_role(symbol: &str) -> Option<AllocatorRole> {
    // What is behind the quick ways of Go's has other parameters.
    if symbol.starts_with("runtime.mallocgc") && !symbol.contains("Slow") {
        return Some(AllocatorRole::GoAllocate);
    }
    if symbol == "runtime.alloc" {
        return Some(AllocatorRole::AllocateCollected { size: 0 });
    }
    let own = symbol.strip_prefix("~lib/rt/")?.rsplit('/').next()?;
    Some(match own {
        "__alloc" => AllocatorRole::Allocate { size: 0, count: None },
        "__realloc" => AllocatorRole::Reallocate { address: 0, size: 1, is_nothing_at_zero: false },
        "__free" => AllocatorRole::Free { address: 0 },
        "__new" => AllocatorRole::AllocateCollected { size: 0 },
        _ => return None,
    })
}

/// The allocator of Rust's target without an operating system, where its shims are inlined.
fn crate_role(symbol: &str) -> Option<AllocatorRole> {
    let name = symbol.contains("dlmalloc").then(|| readable(symbol))?;
    let (path, last) = name.rsplit_once("::")?;
    if !path.contains("Dlmalloc") {
        return None;
    }
    Some(match last {
        "malloc" => AllocatorRole::Allocate { size: 1, count: None },
        "memalign" => AllocatorRole::Allocate { size: 2, count: None },
        "realloc" => AllocatorRole::Reallocate { address: 1, size: 2, is_nothing_at_zero: false },
        "free" => AllocatorRole::Free { address: 1 },
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(module: &str, chosen: &[&str]) -> (Vec<String>, Allocators) {
        let bytes = wat::parse_str(format!("(component (core module {module}))")).expect("text");
        let chosen: Vec<AllocatorChoice> = chosen.iter().map(|text| text.parse().expect("a choice")).collect();
        let found = Allocators::of(&bytes, &chosen).expect("a component");
        (found.iter().map(|(_, index, it)| format!("{index} {} {:?}", it.name, it.role)).collect(), found)
    }

    #[test]
    fn each_language_has_its_names() {
        let with = |name: &str| role_of(name);
        let at = |size| Some(AllocatorRole::Allocate { size, count: None });
        for name in [
            "malloc",
            "dlmalloc",
            "__rust_alloc",
            "_RNvCsfLwTdz5JuPB_7___rustc11___rdl_alloc",
            "_Znwm",
            "operator new[](unsigned long)",
            "PyObject_Malloc",
            "mi_malloc",
            "~lib/rt/tlsf/__alloc",
        ] {
            assert_eq!(with(name), at(0), "{name}");
        }
        for name in [
            "free",
            "c.malloc.free",
            "_RNvCsfLwTdz5JuPB_7___rustc14___rust_dealloc",
            "_ZdaPv",
            "operator delete(void*, unsigned long)",
            "PyMem_RawFree",
        ] {
            assert_eq!(with(name), Some(AllocatorRole::Free { address: 0 }), "{name}");
        }
        assert_eq!(with("dlmalloc::dlmalloc::Dlmalloc<A>::malloc::h0123456789abcdef"), at(1));
        assert_eq!(with("runtime.mallocgcSmallNoscanSC3"), Some(AllocatorRole::GoAllocate));
        assert_eq!(with("runtime.mallocgcSmallNoscanSlowPath"), None);
        let again = |is_nothing_at_zero, size| Some(AllocatorRole::Reallocate { address: 0, size, is_nothing_at_zero });
        assert_eq!((with("cabi_realloc"), with("realloc")), (again(true, 3), again(false, 1)));
        for name in ["free_list", "mallocs", "my_malloc", "alloc", "_ZN3foo6mallocEv", "runtime.newobject"] {
            assert_eq!(with(name), None, "{name}");
        }
    }

    #[test]
    fn other_parameters_are_another_function() {
        let module = "(memory 1)
            (func $malloc (param i32) (result i32) i32.const 0)
            (func $free (param i32 i64 i32 i32 i32))
            (func $calloc (param i32) (result i32) i32.const 0)
            (func (export \"realloc\") (param i32 i32) (result i32) i32.const 0)";
        let (names, _) = found(module, &[]);
        let role = AllocatorRole::Reallocate { address: 0, size: 1, is_nothing_at_zero: false };
        assert_eq!(names, ["0 malloc Allocate { size: 0, count: None }".to_owned(), format!("3 realloc {role:?}")]);
    }

    #[test]
    fn what_has_no_name_is_chosen_by_its_index() {
        let module =
            "(memory 1) (func (param i32) (result i32) i32.const 0) (func (param i32)) (func (export \"_start\"))";
        let (names, unnamed) = found(module, &[]);
        assert!(names.is_empty() && unnamed.is_empty());
        assert_eq!(unnamed.nameless, [ModuleOrdinal(0)]);
        let (names, chosen) = found(module, &["malloc=func[0]", "free=func[1]", "realloc=func[1]", "calloc=mine"]);
        assert_eq!(names, ["0 func[0] Allocate { size: 0, count: None }", "1 func[1] Free { address: 0 }"]);
        assert_eq!(
            chosen.unknown.iter().map(ToString::to_string).collect::<Vec<_>>(),
            ["realloc=func[1]", "calloc=mine"]
        );
        assert!("malloc".parse::<AllocatorChoice>().is_err() && "new=f".parse::<AllocatorChoice>().is_err());
    }

    #[test]
    fn a_layer_that_a_collector_runs_in_gives_way_to_the_one_below() {
        let layer = "(memory 1) (func $~lib/rt/itcms/__new (param i32 i32) (result i32) i32.const 0)";
        let below =
            "(func $~lib/rt/tlsf/__alloc (param i32) (result i32) i32.const 0) (func $~lib/rt/tlsf/__free (param i32))";
        let (names, alone) = found(layer, &[]);
        assert_eq!(names, ["0 ~lib/rt/itcms/__new AllocateCollected { size: 0 }"]);
        assert!(alone.collects());
        let (names, both) = found(&format!("{layer} {below}"), &[]);
        assert_eq!(names.len(), 2, "{names:?}");
        assert!(!both.collects());
    }

    #[test]
    fn what_componentizing_adds_is_no_allocator_of_the_program() {
        let text = "(component (core module $wit-component:adapter:wasi (memory 1)
            (func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32) i32.const 0)))";
        let found = Allocators::of(&wat::parse_str(text).expect("text"), &[]).expect("a component");
        assert!(found.is_empty() && found.nameless.is_empty());
    }
}
