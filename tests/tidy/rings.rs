//! Modules use each other in no ring, so that each can be read after those that it uses.
//!
//! ```text
//! suite/select.rs   use super::find::named;   ─▶ select uses find
//! pipeline.rs       pub use load::load;       ─▶ who uses pipeline::load uses pipeline/load.rs
//! ```
//!
//! `rings.txt` lists the modules that are in a ring today. It only shrinks: a module that is in none any more fails the test too.
//! Not here: crates (`crates_use_only_what_stands_before_them`), tests inside of modules.

use super::{files, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Modules that may be in a ring at most: those of today. Whoever opens one lowers it.
const RING_MODULES_MAX: usize = 192;

/// A module by the words of its path; the crate's root has none.
type Module = Vec<String>;

/// The module of a file below `root`, unless it is one of tests.
fn module(root: &str, path: &Path) -> Option<Module> {
    let below = path.strip_prefix(root).ok()?.with_extension("");
    let words: Module = below.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    match words.last()?.as_str() {
        "tests" => None,
        "lib" | "main" if words.len() == 1 => Some(Vec::new()),
        _ => Some(words),
    }
}

/// The code without comments and without its tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n").collect()
}

/// The paths of the tree that begins here: `a::{b, c::d}` has `a::b` and `a::c::d`. What is left of the text.
fn paths<'a>(mut text: &'a str, before: &[String], found: &mut Vec<Vec<String>>) -> &'a str {
    let mut path = before.to_vec();
    loop {
        text = text.trim_start();
        if let Some(mut rest) = text.strip_prefix('{') {
            while !rest.trim_start().starts_with('}') && !rest.trim_start().is_empty() {
                rest = paths(rest, &path, found);
                let end = rest.find([',', '}']).unwrap_or(rest.len());
                rest = rest[end..].strip_prefix(',').unwrap_or(&rest[end..]);
            }
            return rest.trim_start().strip_prefix('}').unwrap_or(rest);
        }
        let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        if !word.is_empty() {
            path.push(word.to_owned());
        }
        match rest.strip_prefix("::") {
            Some(rest) if !word.is_empty() => text = rest,
            _ => {
                found.push(path);
                return rest;
            }
        }
    }
}

/// The paths in the code that begin with one of these words.
fn beginning_with(code: &str, words: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    for word in words {
        for (at, _) in code.match_indices(&format!("{word}::")) {
            let is_inside = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
            if !is_inside {
                paths(&code[at..], &[], &mut found);
            }
        }
    }
    found
}

/// A path of the code in `from`, from the root of the crate.
fn absolute(from: &Module, path: &[String]) -> Vec<String> {
    let mut base = from.clone();
    let mut rest = path;
    match path.first().map(String::as_str) {
        Some("crate") => (base, rest) = (Vec::new(), &path[1..]),
        Some("self") => rest = &path[1..],
        _ => {}
    }
    while rest.first().is_some_and(|word| word == "super") {
        base.pop();
        rest = &rest[1..];
    }
    base.into_iter().chain(rest.iter().cloned()).collect()
}

/// Which modules each one uses. A name that a module passes on is its owner's.
fn uses(modules: &BTreeMap<Module, String>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let owner = |path: &[String]| {
        let prefixes = (0..=path.len()).rev().map(|length| &path[..length]);
        prefixes.filter_map(|prefix| modules.get_key_value(prefix)).map(|(module, _)| module).next()
    };
    let children = |of: &Module| -> Vec<&str> {
        let is_child = |one: &&Module| one.len() == of.len() + 1 && one.starts_with(of);
        modules.keys().filter(is_child).filter_map(|one| one.last()).map(String::as_str).collect()
    };
    let statements = |code: &str, passed_on: bool| -> String {
        let is_passed_on =
            |statement: &&str| ["pub use ", "pub(crate) use "].iter().any(|word| statement.contains(word));
        code.split_inclusive(';').filter(|statement| is_passed_on(statement) == passed_on).collect()
    };
    let mut passed_on: BTreeMap<Vec<String>, &Module> = BTreeMap::new();
    for (module, code) in modules {
        let starts: Vec<&str> = ["crate", "self", "super"].into_iter().chain(children(module)).collect();
        for path in beginning_with(&statements(code, true), &starts) {
            let full = absolute(module, &path);
            if let (Some(name), Some(of)) = (full.last(), owner(&full)) {
                passed_on.insert(module.iter().chain([name]).cloned().collect(), of);
            }
        }
    }
    let mut all = BTreeMap::new();
    for (module, code) in modules {
        let starts: Vec<&str> = ["crate", "self", "super"].into_iter().chain(children(module)).collect();
        let used = beginning_with(&statements(code, false), &starts).into_iter().filter_map(|path| {
            let full = absolute(module, &path);
            let known = (1..=full.len()).rev().find_map(|length| passed_on.get(&full[..length]).copied());
            known.or_else(|| owner(&full)).filter(|used| *used != module)
        });
        all.insert(module, used.collect());
    }
    all
}

/// The modules that are reached from one, by way of others.
fn reached<'a>(from: &'a Module, uses: &BTreeMap<&'a Module, BTreeSet<&'a Module>>) -> BTreeSet<&'a Module> {
    let (mut reached, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        open.extend(uses[next].iter().filter(|used| reached.insert(**used)));
    }
    reached
}

/// Sources of every crate, by its name.
fn crates() -> BTreeMap<String, BTreeMap<Module, String>> {
    let mut crates: BTreeMap<String, BTreeMap<Module, String>> = BTreeMap::new();
    for path in files(".rs") {
        let words: Vec<&str> = path.to_str().unwrap_or_default().split('/').collect();
        let ["runtime", name, "src", ..] = words.as_slice() else { continue };
        if let Some(module) = module(&format!("runtime/{name}/src"), &path) {
            crates.entry((*name).to_owned()).or_default().insert(module, code(&read(&path)));
        }
    }
    crates
}

#[test]
fn modules_use_each_other_in_no_ring() {
    let text = read(Path::new("tests/tidy/rings.txt"));
    let known: BTreeSet<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).collect();
    let mut found = BTreeSet::new();
    for (name, modules) in crates() {
        let uses = uses(&modules);
        let in_ring = modules.keys().filter(|one| reached(one, &uses).contains(one));
        found.extend(in_ring.map(|one| format!("{name}::{}", one.join("::")).trim_end_matches("::").to_owned()));
        if name == "campaign" {
            assert!(uses.values().map(BTreeSet::len).sum::<usize>() > modules.len(), "hardly any use was seen");
        }
    }
    let new: Vec<&String> = found.iter().filter(|one| !known.contains(one.as_str())).collect();
    let old: Vec<&&str> = known.iter().filter(|one| !found.contains(**one)).collect();
    assert!(new.is_empty(), "modules that use each other in a ring:\n{new:#?}");
    assert!(old.is_empty(), "tests/tidy/rings.txt: in no ring any more: {old:#?}");
    assert!(known.len() <= RING_MODULES_MAX, "the list has {} modules, and only shrinks", known.len());
}

#[test]
fn a_ring_is_seen_also_through_what_a_module_passes_on() {
    let modules = |all: &[(&str, &str)]| -> BTreeMap<Module, String> {
        let words = |name: &str| name.split("::").filter(|word| !word.is_empty()).map(str::to_owned).collect();
        all.iter().map(|(name, text)| (words(name), code(text))).collect()
    };
    let is_in_ring = |all: &[(&str, &str)], name: &str| {
        let modules = modules(all);
        let one = modules.keys().find(|one| one.join("::") == name).expect("it is there");
        reached(one, &uses(&modules)).contains(one)
    };
    let way = [("", "mod a;\nmod p;"), ("p", "mod q;\npub use q::{f, g as h};"), ("p::q", "pub fn f() {}")];
    let open = [&way[..], &[("a", "use crate::p::{f, other};\n#[cfg(test)]\nmod tests { use crate::a::x; }")]].concat();
    assert!(!is_in_ring(&open, "a"));
    let closed = [("", ""), way[1], ("p::q", "fn f() { super::super::a::g() }"), ("a", "use crate::p::f;")];
    assert!(is_in_ring(&closed, "a") && is_in_ring(&closed, "p::q"));
    assert!(!is_in_ring(&closed, "p"), "it only passes on");
}
