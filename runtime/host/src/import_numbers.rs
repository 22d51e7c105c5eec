//! Numbers of imported functions are hashes of 32 bits: two functions of one run must not share one.
//!
//! ```text
//! host's own functions      import_names.txt, distinct by a test
//! functions of a target     checked among themselves and against the host's when scenario and target are linked
//! ```
//!
//! The number of a function is all that the digest of a history has of its name. Functions with one number could stand in for
//! each other in a history without a trace of it.
//!
//! Not here: how a number is made (`call::Import`).

use crate::call::Import;
use std::collections::BTreeMap;

/// The names of all functions that the host implements, in order; a test holds them to the sources.
const HOST_FUNCTIONS: &str = include_str!("import_names.txt");

/// The name of a function in histories: that of its interface without the version, and its own.
#[must_use]
pub fn history_name(interface: &str, function: &str) -> String {
    let plain = interface.split('@').next().unwrap_or(interface);
    format!("{plain}.{function}")
}

/// Two functions with one number, among `names` (of histories) and the host's own; `None` when there are no such two.
#[must_use]
pub fn number_collision<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<(&'a str, &'a str)> {
    let mut known: BTreeMap<u32, &str> = BTreeMap::new();
    HOST_FUNCTIONS.lines().chain(names).find_map(|name| {
        let other = *known.entry(Import::number(name)).or_insert(name);
        (other != name).then_some((other, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    /// What stands in quotes behind `Import::new(` in the sources below `folder`.
    fn names_in(folder: &Path, names: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                names_in(&path, names);
                continue;
            }
            if path.ends_with("import_numbers.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("text");
            let quoted = text.split("Import::new(").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"'));
            names.extend(quoted.filter_map(|rest| rest.split('"').next()).map(str::to_owned));
        }
    }

    #[test]
    fn the_hosts_functions_are_listed_and_have_numbers_of_their_own() {
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut names = BTreeSet::new();
        names_in(&sources, &mut names);
        let found: String = names.iter().map(|name| format!("{name}\n")).collect();
        assert!(names.len() > 200, "{names:?}");
        assert_eq!(found, HOST_FUNCTIONS, "src/import_names.txt is to have the names on the left");
        assert_eq!(number_collision([]), None);
    }

    #[test]
    fn two_functions_with_one_number_are_found() {
        let mut known = BTreeMap::new();
        // Among some hundred thousand names, two with one number of 32 bits are certain for practical purposes.
        let mixed = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mut names = (0..400_000).map(|n| format!("acme:kv/store.{:x}", mixed(n)));
        let (one, other) = names
            .find_map(|name| known.insert(Import::number(&name), name.clone()).map(|earlier| (earlier, name)))
            .expect("two names with one number");
        assert_eq!(number_collision([one.as_str(), "acme:kv/store.put", &other]), Some((one.as_str(), other.as_str())));
        assert_eq!(number_collision([one.as_str(), one.as_str(), "acme:kv/store.put"]), None, "a name is no other");
        assert_eq!(history_name("acme:kv/store@0.1.0", "get"), "acme:kv/store.get");
    }
}
