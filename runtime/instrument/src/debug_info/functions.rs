//! Functions by name to the places where they begin.

use super::lines::entry_place;
use super::module::{CodePlace, DebugInfo, DebugModule, DebugSections, ScopeKind};
use crate::names;
use std::collections::BTreeMap;

/// Most places of one name that are handed out: a function that is inlined everywhere has many.
const PLACES_MAX: usize = 4096;

impl DebugInfo {
    /// The places where functions of this name begin, behind their prologues, inlined copies too. A name is a whole path
    /// (`shop::cart::pay`), or its end (`cart::pay`, `pay`); arguments of generics and parameters may be left out.
    #[must_use]
    pub fn function_places(&self, name: &str) -> Vec<CodePlace> {
        let mut places: Vec<CodePlace> = self.modules.iter().flat_map(|module| module.function_places(name)).collect();
        places.sort_unstable();
        places.dedup();
        places.truncate(PLACES_MAX);
        places
    }

    /// The names of functions that contain `part`, by name, at most `count`.
    #[must_use]
    pub fn function_names(&self, part: &str, count: usize) -> Vec<String> {
        let mut found = std::collections::BTreeSet::new();
        for module in &self.modules {
            for (name, _) in module.named_functions() {
                if name.contains(part) {
                    found.insert(name);
                }
            }
        }
        found.into_iter().take(count).collect()
    }
}

impl DebugModule {
    fn function_places(&self, name: &str) -> Vec<CodePlace> {
        let matching = self.named_functions().into_iter().filter(|(own, _)| matches(own, name));
        matching.filter_map(|(_, address)| entry_place(self, address)).take(PLACES_MAX).collect()
    }

    /// All functions with the address at which each begins.
    fn named_functions(&self) -> Vec<(String, u32)> {
        let mut found: Vec<(String, u32)> = Vec::new();
        if let Some(loaded) = self.loaded() {
            found = of_units(loaded);
        }
        for (index, name) in names::functions(&self.names) {
            let Some(position) = index.checked_sub(self.functions_imported) else { continue };
            let body = usize::try_from(position).ok().and_then(|position| self.bodies.get(position));
            if let Some(address) = body.and_then(|body| self.address(crate::OriginalOffset(body.start))) {
                found.push((names::readable(name), address));
            }
        }
        found
    }
}

/// Functions and inlined copies that the debug information names.
fn of_units(loaded: &DebugSections) -> Vec<(String, u32)> {
    let mut by_origin: BTreeMap<usize, Option<String>> = BTreeMap::new();
    let mut found = Vec::new();
    for unit in &loaded.units {
        for scope in &loaded.index(unit).scopes {
            if scope.kind == ScopeKind::Block {
                continue;
            }
            let Some(address) = scope.ranges.iter().map(|range| range.start).min() else { continue };
            let origin = scope.origin.unwrap_or(scope.entry);
            let name = by_origin.entry(origin).or_insert_with(|| loaded.function_name(origin));
            found.extend(name.clone().map(|name| (name, address)));
        }
    }
    found
}

impl DebugSections {
    /// The name of a function, with the modules around it where its symbol has them.
    pub(super) fn function_name(&self, offset: usize) -> Option<String> {
        let linkage = self.inherited(offset, |unit, entry| {
            let name = self.text(unit, entry, gimli::DW_AT_linkage_name);
            name.or_else(|| self.text(unit, entry, gimli::DW_AT_MIPS_linkage_name))
        });
        let plain = || self.inherited(offset, |unit, entry| self.text(unit, entry, gimli::DW_AT_name));
        linkage.or_else(plain).map(|name| names::readable(&name))
    }
}

/// Whether a function is meant by a name.
fn matches(own: &str, asked: &str) -> bool {
    // What compilers of C make of a `main` with arguments.
    if asked == "main" && own == "__main_argc_argv" {
        return true;
    }
    let ends = |own: &str| own == asked || own.strip_suffix(asked).is_some_and(|before| before.ends_with("::"));
    if ends(own) {
        return true;
    }
    let plain = without_arguments(own);
    ends(&plain)
}

/// `a::f` of `a::f<T>`, `ns::f` of `ns::f(int, char)`.
fn without_arguments(name: &str) -> String {
    let mut depth = 0usize;
    let mut plain = String::new();
    // Rust has paths such as `<T as Trait>::f`: what stands in front is part of the name.
    let from = usize::from(name.starts_with('<'));
    plain.push_str(&name[..from]);
    for letter in name[from..].chars() {
        match letter {
            '<' | '(' => depth += 1,
            '>' | ')' if depth > 0 => depth -= 1,
            _ if depth == 0 => plain.push(letter),
            _ => {}
        }
    }
    plain.trim_end_matches("::").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_their_end() {
        assert!(matches("shop::cart::pay", "pay"));
        assert!(matches("shop::cart::pay", "cart::pay"));
        assert!(!matches("shop::cart::repay", "pay"));
        assert!(matches("list::push<alloc::string::String>", "push"));
        assert!(matches("ns::work(int, char)", "work"));
        assert!(!matches("ns::work(int, char)", "char"));
        assert!(matches("__main_argc_argv", "main") && !matches("__main_argc_argv", "__main"));
        assert!(!matches("", "pay"));
    }
}
