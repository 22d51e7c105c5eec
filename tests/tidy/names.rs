//! Names of types: each once in the repository, and each a noun.
//!
//! ```text
//! pub struct Descriptor     in world and in engine   -> twice
//! struct Kept               in search                -> a bare participle
//! ```
//!
//! `names.txt` lists the exceptions. It only shrinks: an exception that is no longer needed fails the test too.
//! Three name spaces stand apart: the SDK's, which authors of programs meet module by module; that of the library `fozzy`, whose
//! users see no other crate; and that of generated bindings, whose names are WIT's. Types of test modules are not looked at.

use super::{files, read};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names that each module may have: the path gives the subject.
const OF_THEIR_MODULE: [&str; 4] = ["Error", "Options", "Config", "Stats"];

/// Exceptions at most: those of today. Whoever removes one lowers it.
const EXCEPTIONS_MAX: usize = 4;

/// Endings of participles.
const ENDINGS: [&str; 8] = ["ed", "own", "ept", "old", "aid", "ound", "iven", "ing"];

/// Participles with endings of their own, and other words that are no nouns.
const IRREGULAR: [&str; 26] = [
    "Begun", "Built", "Cut", "Does", "Done", "Drawn", "Enough", "Fresh", "Gone", "Held", "Hurt", "Left", "Live",
    "Lost", "Made", "Met", "Open", "Own", "Put", "Seen", "Sent", "Struck", "Taken", "Went", "Whole", "Written",
];

/// Nouns that end as participles do.
const NOUNS: [&str; 16] = [
    "Aid",
    "Background",
    "Bound",
    "Concept",
    "Encoding",
    "Feed",
    "Finding",
    "Fold",
    "Mapping",
    "Ping",
    "Recording",
    "Seed",
    "Shutdown",
    "Speed",
    "String",
    "Threshold",
];

/// A definition of a type.
#[derive(Debug, PartialEq, Eq)]
struct Definition {
    name: String,
    is_public: bool,
}

/// The definition that a line of source begins, if it begins one.
fn definition(line: &str) -> Option<Definition> {
    let plain = line.trim_start();
    let (is_public, rest) = match plain.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => (true, rest.split_once(')')?.1),
        Some(rest) if rest.starts_with(' ') => (true, rest),
        _ => (false, plain),
    };
    let mut words = rest.split_whitespace().skip_while(|word| *word == "unsafe");
    let keyword = words.next()?;
    let name: String = words.next()?.chars().take_while(char::is_ascii_alphanumeric).collect();
    // A private `type` that is indented belongs to a trait or to its implementation.
    let is_associated = keyword == "type" && !is_public && line.len() > plain.len();
    let is_type = ["struct", "enum", "trait", "type", "union"].contains(&keyword) && !is_associated;
    (is_type && name.starts_with(|c: char| c.is_ascii_uppercase())).then_some(Definition { name, is_public })
}

/// Whether a name is one word, and no noun.
fn is_participle(name: &str) -> bool {
    let is_one_word = name.chars().skip(1).all(|c| c.is_ascii_lowercase());
    let ends_so = ENDINGS.iter().any(|ending| name.len() > ending.len() && name.ends_with(ending));
    is_one_word && (IRREGULAR.contains(&name) || ends_so && !NOUNS.contains(&name))
}

/// Files whose types have to be named well, with the name space of each.
fn sources() -> Vec<(&'static str, String, String)> {
    let is_test = |path: &Path| path.ends_with("tests.rs") || path.components().any(|part| part.as_os_str() == "tests");
    let ours = files(".rs").into_iter().filter(|path| !is_test(path));
    ours.filter_map(|path| {
        let name = path.to_string_lossy().into_owned();
        let mut folders = name.split('/');
        let space = match (folders.next()?, folders.next()?) {
            ("runtime", "fozzy") => "library",
            ("runtime", _) => "runtime",
            ("guest-sdk", _) => "sdk",
            _ => return None,
        };
        (!name.contains("/bindings")).then(|| (space, read(&path), name))
    })
    .collect()
}

/// Exceptions of one rule: lines `rule Name  reason`.
fn exceptions(rule: &str) -> BTreeSet<String> {
    let text = read(Path::new("tests/tidy/names.txt"));
    let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()).collect();
    assert!(rows.len() <= EXCEPTIONS_MAX, "names.txt has {} exceptions, and only shrinks", rows.len());
    rows.into_iter()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let (of, name) = (words.next()?, words.next()?);
            assert!(words.next().is_some(), "names.txt: `{line}` does not say why");
            assert!(["twice", "participle"].contains(&of), "names.txt: there is no rule `{of}`");
            (of == rule).then(|| name.to_owned())
        })
        .collect()
}

/// Holds what was found to the exceptions, in both directions.
fn hold(rule: &str, found: &BTreeMap<String, BTreeSet<String>>) {
    let allowed = exceptions(rule);
    let new: Vec<String> = found
        .iter()
        .filter(|(name, _)| !allowed.contains(*name))
        .map(|(name, places)| format!("{name}: {}", places.iter().cloned().collect::<Vec<_>>().join(", ")))
        .collect();
    let old: Vec<&String> = allowed.iter().filter(|name| !found.contains_key(*name)).collect();
    assert!(new.is_empty(), "types that break the rule `{rule}`, and where:\n{}", new.join("\n"));
    assert!(old.is_empty(), "tests/tidy/names.txt: no longer needed under `{rule}`: {old:?}");
}

#[test]
fn a_public_type_name_occurs_once() {
    let mut found: BTreeMap<(&str, String), BTreeSet<String>> = BTreeMap::new();
    for (space, text, path) in sources() {
        for definition in text.lines().filter_map(definition).filter(|definition| definition.is_public) {
            found.entry((space, definition.name)).or_default().insert(path.clone());
        }
    }
    let twice =
        found.into_iter().filter(|((_, name), places)| places.len() > 1 && !OF_THEIR_MODULE.contains(&name.as_str()));
    hold("twice", &twice.map(|((_, name), places)| (name, places)).collect());
}

#[test]
fn a_type_is_a_noun() {
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (_, text, path) in sources() {
        for definition in text.lines().filter_map(definition).filter(|definition| is_participle(&definition.name)) {
            found.entry(definition.name).or_default().insert(path.clone());
        }
    }
    hold("participle", &found);
}

#[test]
fn definitions_and_participles_are_told_apart_from_the_rest() {
    let public = |name: &str| Some(Definition { name: name.to_owned(), is_public: true });
    assert_eq!(definition("pub struct Kept<T>(T);"), public("Kept"));
    assert_eq!(definition("    pub(super) unsafe trait Stored {"), public("Stored"));
    assert_eq!(definition("type Row = u8;"), Some(Definition { name: "Row".to_owned(), is_public: false }));
    for other in ["    type Output = u8;", "pub fn type_of() {}", "// struct Kept", "publish struct"] {
        assert_eq!(definition(other), None, "{other}");
    }
    for name in ["Kept", "Shown", "Given", "Resolved", "Gone", "Reading"] {
        assert!(is_participle(name), "{name}");
    }
    for name in ["Seed", "Finding", "KeptSequence", "StoredEntry", "Ed", "Table"] {
        assert!(!is_participle(name), "{name}");
    }
}
