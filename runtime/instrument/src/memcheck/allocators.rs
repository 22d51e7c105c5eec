//! Which functions of a module allocate, and how their blocks are to be asked for and given back.
//!
//! ```text
//! __rust_alloc ─ __rdl_alloc ─ malloc ─ dlmalloc      each is recognised; the outermost one that is open is wrapped
//! ```
//!
//! Invariant: a layer of Rust is taken only as a whole. Where a compiler has put a part of it into its callers, the layer below is
//! what they call.
//! Not here: the code of wrappers.

use crate::allocators::role::{AllocatorRole, SpecialFunction};
use std::collections::{BTreeMap, BTreeSet};
use wasmparser::ValType;

/// What a wrapped function does. Numbers are of its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CheckedRole {
    Allocate {
        size: u32,
        count: Option<u32>,
        align: Option<u32>,
        /// Whether it is freed with its alignment.
        keeps_align: bool,
    },
    AllocateInto,
    /// Of C: without a block, it allocates.
    Reallocate,
    /// Of Rust, with the function that allocates.
    ReallocateAligned {
        allocate: u32,
    },
    Free {
        /// Whether size and alignment follow, and are to be those of the block.
        has_layout: bool,
    },
    UsableSize,
}

/// A wrapped function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CheckedFunction {
    pub(crate) role: CheckedRole,
    pub(crate) params: u32,
    pub(crate) results: u32,
    /// The function by which its blocks are given back, by position in [`CheckedModule::frees`] and one; 0 is none.
    pub(crate) free: u32,
    /// Functions with the same number hand out and take back the same blocks; 0 is not known.
    pub(crate) family: u32,
    /// What it hands out is cleared.
    pub(crate) clears: bool,
}

impl CheckedFunction {
    /// What stands in a header for who frees a block.
    pub(crate) fn freed_by(&self) -> u32 {
        self.free | self.family << 16
    }
}

/// What is checked in a module.
#[derive(Clone, Debug, Default)]
pub(crate) struct CheckedModule {
    /// Functions of its allocator.
    pub(crate) functions: BTreeMap<u32, CheckedFunction>,
    /// Those that free, each with how many parameters it has.
    pub(crate) frees: Vec<(u32, u32)>,
    special: BTreeMap<u32, SpecialFunction>,
    /// Whether an allocator of C is below, which all others end in. Where there is none, a compiler may have put one into some of its
    /// callers, so that not every block is known.
    pub(crate) has_layer_of_c: bool,
    /// Whether the first global is the stack pointer.
    pub(crate) has_stack: bool,
    /// Pages of memory 0 at the start.
    pub(crate) pages: u32,
}

/// The layer of a function, by its name.
fn layer(name: &str) -> &'static str {
    ["__rust_", "__rdl_", "__rg_"].into_iter().find(|layer| name.contains(layer)).unwrap_or("")
}

/// The family of a function, by its name: what comes before the word that says what it does.
fn family_of(name: &str) -> Option<String> {
    let is_cplusplus = ["_Znw", "_Zna", "_Zdl", "_Zda", "operator "].iter().any(|part| name.contains(part));
    if is_cplusplus {
        // Arrays are a family of their own.
        let is_array = ["_Zna", "_Zda", "[]"].iter().any(|part| name.contains(part));
        return Some(format!("operator{}", if is_array { "[]" } else { "" }));
    }
    const WORDS: [&str; 9] =
        ["posix_memalign", "aligned_alloc", "alloc_zeroed", "dealloc", "realloc", "malloc", "calloc", "alloc", "free"];
    WORDS.iter().find_map(|word| name.strip_suffix(word)).map(str::to_owned)
}

/// Whether it is of an allocator whose blocks are known to be handed out and taken back by functions of this kind.
fn is_known(name: &str) -> bool {
    let is_other = ["Py", "~lib/", "cabi_realloc", "Dlmalloc"].iter().any(|part| name.contains(part));
    !is_other && !name.starts_with("runtime.")
}

impl CheckedModule {
    /// What is known by names: the functions of its allocators, and what is special about others. `signature` gives parameters and
    /// results of a function.
    pub(crate) fn of<'s>(
        named: &[(u32, &str, AllocatorRole)],
        special: BTreeMap<u32, SpecialFunction>,
        signature: impl Fn(u32) -> (&'s [ValType], &'s [ValType]),
    ) -> CheckedModule {
        let has_collector = named.iter().any(|(_, _, role)| collects(*role));
        let own: Vec<(u32, &str, AllocatorRole)> =
            named.iter().filter(|(_, name, _)| is_known(name)).copied().collect();
        let is_words = |types: &[ValType]| types.iter().all(|ty| *ty == ValType::I32);
        let fits = |index: u32| {
            let (params, results) = signature(index);
            is_words(params) && is_words(results) && params.len() <= 4 && results.len() <= 1
        };
        let mut found = CheckedModule { special, ..CheckedModule::default() };
        if has_collector {
            return found;
        }
        let named = |layer_of: &str, last: &str| {
            let of = |(index, name, _): &(u32, &str, AllocatorRole)| {
                (layer(name) == layer_of && name.ends_with(last)).then_some(*index)
            };
            own.iter().find_map(of)
        };
        let is_whole =
            |of: &str| ["alloc", "dealloc", "realloc"].iter().all(|last| named(of, &format!("{of}{last}")).is_some());
        let whole: BTreeSet<&str> = ["__rust_", "__rdl_", "__rg_"].into_iter().filter(|of| is_whole(of)).collect();
        let taken: Vec<_> = own
            .iter()
            .filter(|(index, name, _)| fits(*index) && (layer(name).is_empty() || whole.contains(layer(name))))
            .collect();
        let is_free_of_c = |name: &str, role: &AllocatorRole| {
            layer(name).is_empty() && matches!(role, AllocatorRole::Free { address: 0 })
        };
        found.has_layer_of_c = taken.iter().any(|(_, name, role)| is_free_of_c(name, role));
        for (index, _, role) in &taken {
            if matches!(role, AllocatorRole::Free { address: 0 }) {
                let params = signature(*index).0.len() as u32;
                found.frees.push((*index, params));
            }
        }
        let free_of = |name: &str| {
            let last = if layer(name).is_empty() { "free".to_owned() } else { format!("{}dealloc", layer(name)) };
            let exact = named(layer(name), &last);
            let position = |index: u32| found.frees.iter().position(|(free, _)| *free == index);
            exact.and_then(position).map_or(u32::from(!found.frees.is_empty()), |position| position as u32 + 1)
        };
        let mut families: Vec<String> = Vec::new();
        let mut functions = BTreeMap::new();
        for (index, name, role) in &taken {
            let (params, results) = signature(*index);
            let (params, results) = (params.len() as u32, results.len() as u32);
            let of = layer(name);
            let bare = name.rsplit("::").next().unwrap_or(name);
            let aligned = ["aligned_alloc", "memalign"].iter().any(|it| bare.ends_with(it));
            let (role, free) = match *role {
                AllocatorRole::Allocate { size, count } => {
                    let align = if !of.is_empty() { Some(1) } else { aligned.then_some(0) };
                    (CheckedRole::Allocate { size, count, align, keeps_align: !of.is_empty() }, 0)
                }
                AllocatorRole::AllocateInto { .. } if params == 3 => (CheckedRole::AllocateInto, 0),
                AllocatorRole::Reallocate { address: 0, size: 1, .. } if params == 2 => {
                    (CheckedRole::Reallocate, free_of(name))
                }
                AllocatorRole::Reallocate { address: 0, size: 3, .. } if !of.is_empty() && params == 4 => {
                    let allocate = named(of, &format!("{of}alloc")).expect("the layer is whole");
                    (CheckedRole::ReallocateAligned { allocate }, free_of(name))
                }
                AllocatorRole::Free { address: 0 } => {
                    let position = found.frees.iter().position(|(free, _)| free == index).expect("it was put in");
                    (CheckedRole::Free { has_layout: !of.is_empty() && params == 3 }, position as u32 + 1)
                }
                _ => continue,
            };
            let family = family_of(name).map_or(0, |family| {
                let position = families.iter().position(|known| *known == family);
                position.unwrap_or_else(|| {
                    families.push(family);
                    families.len() - 1
                }) as u32
                    + 1
            });
            let clears = ["calloc", "zalloc", "zalloc_aligned", "alloc_zeroed"].iter().any(|last| bare.ends_with(last));
            functions.insert(*index, CheckedFunction { role, params, results, free, family, clears });
        }
        let is_usable_size = |(_, special): &(&u32, &SpecialFunction)| **special == SpecialFunction::UsableSize;
        for (index, _) in found.special.iter().filter(is_usable_size) {
            let (params, results) = signature(*index);
            if params == [ValType::I32] && results == [ValType::I32] {
                let role = CheckedRole::UsableSize;
                let function = CheckedFunction { role, params: 1, results: 1, free: 0, family: 0, clears: false };
                functions.insert(*index, function);
            }
        }
        found.functions = functions;
        found
    }

    /// What is special about a function.
    pub(crate) fn special(&self, function: u32) -> Option<SpecialFunction> {
        self.special.get(&function).copied()
    }
}

fn collects(role: AllocatorRole) -> bool {
    matches!(role, AllocatorRole::GoAllocate | AllocatorRole::AllocateCollected { .. })
}
