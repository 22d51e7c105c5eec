//! Core modules that use our interfaces and say nothing of their types: we know them.
//!
//! ```text
//! C, fozzy.h      (import "fozzy:choices/draws@0.1.0" "choose")     ┐  our WIT, with these   ComponentEncoder
//! Go, //go:wasm…  (export "fozzy:scenario/stateful@0.1.0#step")     ┴─▶ imports and exports ─▶ as with wit-bindgen
//! ```
//!
//! So a program in any language needs the names and the flat signatures of the canonical ABI, and no generator.
//!
//! Invariant: what a module declares itself is left as it is.
//! Not here: WASI preview 1, whose names become ours before (`preview1_module`).

use wasmparser::{Parser, Payload};
use wit_component::StringEncoding;
use wit_parser::{Resolve, UnresolvedPackageGroup};

/// How the names of our packages begin.
const OURS: &str = "fozzy:";

/// Everything that our packages are made of, and what those use of WASI.
const WIT: &[(&str, &str)] = &[
    ("io.wit", include_str!("../../wit/deps/io.wit")),
    ("random.wit", include_str!("../../wit/deps/random.wit")),
    ("clocks.wit", include_str!("../../wit/deps/clocks.wit")),
    ("filesystem.wit", include_str!("../../wit/deps/filesystem.wit")),
    ("sockets.wit", include_str!("../../wit/deps/sockets.wit")),
    ("cli.wit", include_str!("../../wit/deps/cli.wit")),
    ("fozzy-choices.wit", include_str!("../../wit/deps/fozzy-choices.wit")),
    ("fozzy-events.wit", include_str!("../../wit/deps/fozzy-events.wit")),
    ("fozzy-faults.wit", include_str!("../../wit/deps/fozzy-faults.wit")),
    ("fozzy-files.wit", include_str!("../../wit/deps/fozzy-files.wit")),
    ("fozzy-model.wit", include_str!("../../wit/deps/fozzy-model.wit")),
    ("fozzy-history.wit", include_str!("../../wit/deps/fozzy-history.wit")),
    ("fozzy-http.wit", include_str!("../../wit/deps/fozzy-http.wit")),
    ("fozzy-memory.wit", include_str!("../../wit/deps/fozzy-memory.wit")),
    ("fozzy-preview1.wit", include_str!("../../wit/deps/fozzy-preview1.wit")),
    ("fozzy-process.wit", include_str!("../../wit/deps/fozzy-process.wit")),
    ("fozzy-properties.wit", include_str!("../../wit/deps/fozzy-properties.wit")),
    ("fozzy-scenario.wit", include_str!("../../wit/deps/fozzy-scenario.wit")),
    ("fozzy-target.wit", include_str!("../../wit/deps/fozzy-target.wit")),
    ("fozzy-time.wit", include_str!("../../wit/deps/fozzy-time.wit")),
];

/// What a module uses of our interfaces without declaring it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct UntypedInterfaces {
    imports: Vec<String>,
    exports: Vec<String>,
}

impl UntypedInterfaces {
    /// Reads a validated module.
    pub(crate) fn of(module: &[u8]) -> UntypedInterfaces {
        let mut found = UntypedInterfaces::default();
        let mut declared = Vec::new();
        for payload in Parser::new(0).parse_all(module).map_while(Result::ok) {
            match payload {
                Payload::ImportSection(section) => {
                    found.imports.extend(section.into_imports().flatten().map(|import| import.module.to_owned()));
                }
                Payload::ExportSection(section) => {
                    let interfaces = section.into_iter().flatten().filter_map(|export| export.name.split_once('#'));
                    found.exports.extend(interfaces.map(|(interface, _)| interface.to_owned()));
                }
                Payload::CustomSection(section) if section.name().starts_with("component-type") => {
                    declared.push(section.data());
                }
                _ => {}
            }
        }
        for names in [&mut found.imports, &mut found.exports] {
            names.sort();
            names.dedup();
            let known =
                |name: &str| declared.iter().any(|data| data.windows(name.len()).any(|at| at == name.as_bytes()));
            names.retain(|name| name.starts_with(OURS) && !known(name));
        }
        found
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.imports.is_empty() && self.exports.is_empty()
    }

    /// Whether it exports something that can be called.
    pub(crate) fn exports_any(&self) -> bool {
        !self.exports.is_empty()
    }

    /// Adds the declaration to the module.
    ///
    /// # Errors
    /// In one sentence: an interface that we do not have.
    pub(crate) fn declare(&self, module: &mut Vec<u8>) -> Result<(), String> {
        let import = self.imports.iter().map(|name| format!("import {name}; "));
        let export = self.exports.iter().map(|name| format!("export {name}; "));
        let world: String = import.chain(export).collect();
        let text = format!("package fozzy:module; world module {{ {world}}}");
        let used: Vec<&str> = self.imports.iter().chain(&self.exports).map(String::as_str).collect();
        let unknown = |error: String| {
            let error = error.lines().next().unwrap_or_default().to_owned();
            format!(
                "it uses {} by the names of their functions, and not all of that is known here: {error}",
                used.join(", ")
            )
        };
        let parse = |name: &str, text: &str| UnresolvedPackageGroup::parse(name, text);
        let main = parse("module.wit", &text).map_err(|(_, error)| unknown(error.to_string()))?;
        let groups = WIT.iter().map(|(name, text)| parse(name, text).expect("a constant that tests parse"));
        let mut resolve = Resolve::default();
        let package = resolve.push_groups(main, groups.collect()).map_err(|error| unknown(error.to_string()))?;
        let world = resolve.select_world(&[package], None).map_err(|error| unknown(error.to_string()))?;
        wit_component::embed_component_metadata(module, &resolve, world, StringEncoding::UTF8)
            .map_err(|error| unknown(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(text: &str) -> (UntypedInterfaces, Result<Vec<u8>, String>) {
        let mut module = wat::parse_str(text).expect("text of a module");
        let found = UntypedInterfaces::of(&module);
        let declared = found.declare(&mut module);
        (found, declared.map(|()| module))
    }

    #[test]
    fn what_is_used_is_declared_once() {
        let (found, module) = declared(
            r#"(module
                (import "fozzy:choices/draws@0.1.0" "choose" (func (param i32 i32 i64) (result i64)))
                (import "fozzy:choices/draws@0.1.0" "reseed" (func (result i64)))
                (import "wasi_snapshot_preview1" "sched_yield" (func (result i32)))
                (memory (export "memory") 1)
                (func (export "fozzy:scenario/property@0.1.0#check") (param i32)))"#,
        );
        assert_eq!(found.imports, ["fozzy:choices/draws@0.1.0"]);
        assert_eq!(found.exports, ["fozzy:scenario/property@0.1.0"]);
        assert!(found.exports_any() && !found.is_empty());
        let module = module.expect("both are known");
        assert!(UntypedInterfaces::of(&module).is_empty(), "what is declared is left alone");
    }

    #[test]
    fn all_of_our_packages_are_known() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/deps");
        for entry in std::fs::read_dir(folder).expect("wit/deps").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_known = WIT.iter().any(|(known, _)| *known == name);
            assert!(is_known || !name.starts_with("fozzy-"), "{name} is not in the list");
        }
    }

    #[test]
    fn an_interface_that_is_not_ours_is_said() {
        for name in ["fozzy:choices/drawz@0.1.0", "fozzy:choices/draws@0.9.0", "fozzy:nothing/at-all@0.1.0", "fozzy:{"]
        {
            let (_, module) = declared(&format!(r#"(module (import "{name}" "choose" (func)))"#));
            let message = module.expect_err("unknown");
            assert!(message.contains(name) && !message.contains('\n'), "{message}");
        }
        assert!(declared(r#"(module (import "wasi:cli/exit@0.2.0" "exit" (func)))"#).0.is_empty());
    }
}
