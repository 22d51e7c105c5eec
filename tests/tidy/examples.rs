//! Every public item of the SDK has an example.
//!
//! ```text
//! macro, function, trait, constant   an example in its own documentation
//! struct, enum, type, method         an example there, or in another one of the same file that uses it by its name
//! ```
//!
//! Not here: whether examples are true, which rustdoc tests; what is hidden from documentation.

use super::{files, read};
use std::collections::BTreeSet;

/// Modules that are private, or hidden from documentation.
const PRIVATE: [&str; 7] =
    ["bindings/", "host", "narration.rs", "registry.rs", "local.rs", "native/", "property_return.rs"];

/// Words of the examples in a source.
fn words(source: &str) -> BTreeSet<&str> {
    let mut inside = false;
    let lines = source.lines().filter_map(|line| {
        let line = line.trim_start();
        line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))
    });
    let examples = lines.filter(|line| {
        inside ^= line.trim_start().starts_with("```");
        inside
    });
    examples.flat_map(|line| line.split(|character: char| !character.is_alphanumeric() && character != '_')).collect()
}

/// The kind and the name of the public item that a line defines.
fn definition(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("pub ").or_else(|| line.starts_with("macro_rules! ").then_some(line))?;
    let mut parts = rest.split_whitespace().filter(|word| !["const", "async", "unsafe"].contains(word));
    let kind = if rest.starts_with("const ") && !rest.starts_with("const fn") { "const" } else { parts.next()? };
    let name = parts.next()?;
    let is_item = ["fn", "struct", "enum", "trait", "type", "const", "macro_rules!"].contains(&kind);
    let end = name.find(|character: char| !character.is_alphanumeric() && character != '_').unwrap_or(name.len());
    is_item.then_some((kind, &name[..end]))
}

#[test]
fn every_public_item_of_the_sdk_has_an_example() {
    let mut missing = Vec::new();
    for path in files(".rs") {
        let name = path.to_string_lossy().into_owned();
        let Some(file) = name.strip_prefix("guest-sdk/src/") else { continue };
        if PRIVATE.iter().any(|part| file.starts_with(part)) || file.ends_with("tests.rs") {
            continue;
        }
        let source = read(&path);
        let used = words(&source);
        let (mut has_example, mut is_hidden, mut is_exported) = (false, false, false);
        for line in source.lines().take_while(|line| *line != "#[cfg(test)]") {
            let text = line.trim_start();
            has_example |= text.starts_with("/// ```");
            is_hidden |= text.starts_with("#[doc(hidden)]");
            is_exported |= text.starts_with("#[macro_export]");
            if text.starts_with("///") || text.starts_with("#[") || text.starts_with("reason") {
                continue;
            }
            if let Some((kind, item)) = definition(text) {
                let by_others = line.starts_with(' ') || ["struct", "enum", "type"].contains(&kind);
                let is_public = kind != "macro_rules!" || is_exported;
                if is_public && !(has_example || is_hidden || by_others && used.contains(item)) {
                    missing.push(format!("{file}: {kind} {item}"));
                }
            }
            (has_example, is_hidden, is_exported) = (false, false, false);
        }
    }
    assert!(missing.is_empty(), "without an example:\n{}", missing.join("\n"));
}

#[test]
fn definitions_are_told_from_other_lines() {
    assert_eq!(definition("pub async fn join(self) -> T {"), Some(("fn", "join")));
    assert_eq!(definition("pub const fn new(value: T) -> Local<T> {"), Some(("fn", "new")));
    assert_eq!(definition("pub const LENGTH_MAX: u64 = 4096;"), Some(("const", "LENGTH_MAX")));
    assert_eq!(definition("macro_rules! always {"), Some(("macro_rules!", "always")));
    assert_eq!(definition("pub use executor::spawn;"), None);
    assert_eq!(definition("pub(crate) fn told() {"), None);
}
