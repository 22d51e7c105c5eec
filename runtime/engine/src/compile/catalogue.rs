//! The properties that a program declares, known before it runs.
//!
//! ```text
//! custom section `fozzy.properties` of any core module, lines: always ␉ total is constant ␉ src/lib.rs:31
//! ```
//!
//! The guest SDK writes a line for each macro. A stripped program has no such section: its properties are then known
//! from their first evaluation on, and that is said: one that is never reached is in no report.
//!
//! Invariant: whatever stands there, reading it neither fails nor takes more than its length; a line that is not
//! understood is left out.

use fozzy_trace::facts::PropertyKind;
use wasmparser::{Chunk, Parser, Payload};

/// The section's name.
const SECTION: &str = "fozzy.properties";

/// The interface of a program that has properties.
const ASSERTIONS: &str = "fozzy:properties/assertions@";

/// Whether the properties of a program are known before it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Catalogue {
    /// It has none: it does not import what evaluates them.
    Unneeded,
    /// It can evaluate properties and declares none: it has none, was stripped, or was not written with the SDK.
    Absent {
        /// Whether it has no names: what it had to declare is gone with them.
        stripped: bool,
    },
    /// It declares this number of properties.
    Declared(usize),
}

impl Catalogue {
    /// Of a component that imports interfaces of these names.
    #[must_use]
    pub fn of<'a>(component: &[u8], mut imports: impl Iterator<Item = &'a str>) -> Catalogue {
        match read(component).len() {
            0 if imports.any(|import| import.starts_with(ASSERTIONS)) => {
                Catalogue::Absent { stripped: !has_names(component) }
            }
            0 => Catalogue::Unneeded,
            declared => Catalogue::Declared(declared),
        }
    }

    /// The remark for a user about an absent catalogue of a program that has evaluated properties, or not. One that is whole and
    /// evaluates none has none.
    #[must_use]
    pub fn remark(self, evaluates: bool) -> Option<&'static str> {
        match self {
            Catalogue::Absent { stripped: true } => {
                Some("the program is stripped: a property that is never reached is not known, and not reported")
            }
            Catalogue::Absent { stripped: false } if evaluates => Some(
                "the program does not list its properties: one that is never reached is not known, and not reported",
            ),
            _ => None,
        }
    }
}

/// One declared property.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DeclaredProperty {
    pub(crate) kind: PropertyKind,
    pub(crate) name: String,
    /// `file:line`.
    pub(crate) place: String,
}

/// All declared properties of a component, in the order of their sections.
pub(crate) fn read(component: &[u8]) -> Vec<DeclaredProperty> {
    let sections = without_bodies(component).filter_map(|payload| match payload {
        Payload::CustomSection(section) if section.name() == SECTION => Some(section.data().to_vec()),
        _ => None,
    });
    let rows = sections.flat_map(|section| rows(&section));
    rows.collect()
}

/// Whether any core module of a component names its functions.
fn has_names(component: &[u8]) -> bool {
    let mut within = 0_u32;
    without_bodies(component).any(|payload| match payload {
        Payload::ModuleSection { .. } => {
            within += 1;
            false
        }
        Payload::CustomSection(section) => within > 0 && section.name() == "name",
        _ => false,
    })
}

/// What is in a component and in all that it contains, up to the first thing that is wrong. Code is stepped over as a whole: it has most of
/// a component's parts, and every start of a program comes here.
fn without_bodies(component: &[u8]) -> impl Iterator<Item = Payload<'_>> {
    let (mut rest, mut parser, mut around, mut is_over) = (component, Parser::new(0), Vec::new(), false);
    std::iter::from_fn(move || {
        if is_over {
            return None;
        }
        let Ok(Chunk::Parsed { payload, consumed }) = parser.parse(rest, true) else {
            is_over = true;
            return None;
        };
        rest = &rest[consumed..];
        match &payload {
            Payload::CodeSectionStart { size, .. } => {
                parser.skip_section();
                match rest.get(*size as usize..) {
                    Some(behind) => rest = behind,
                    None => is_over = true,
                }
            }
            Payload::ModuleSection { parser: inner, .. } | Payload::ComponentSection { parser: inner, .. } => {
                around.push(std::mem::replace(&mut parser, inner.clone()));
            }
            Payload::End(_) => match around.pop() {
                Some(outer) => parser = outer,
                None => is_over = true,
            },
            _ => {}
        }
        Some(payload)
    })
}

fn rows(section: &[u8]) -> Vec<DeclaredProperty> {
    let text = String::from_utf8_lossy(section);
    text.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<DeclaredProperty> {
    let mut words = line.split('\t');
    let (kind, name, place) = (words.next()?, words.next()?, words.next()?);
    let kind = match kind {
        "always" => PropertyKind::Always,
        "always-or-unreachable" => PropertyKind::AlwaysOrUnreachable,
        "sometimes" => PropertyKind::Sometimes,
        "reachable" => PropertyKind::Reachable,
        "unreachable" => PropertyKind::Unreachable,
        _ => return None,
    };
    Some(DeclaredProperty { kind, name: name.to_owned(), place: place.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_names_is_stripped_and_one_that_evaluates_nothing_is_not_accused() {
        let of = |text: &str| {
            let component = wat::parse_str(text).expect("assembles");
            Catalogue::of(&component, ["fozzy:properties/assertions@0.1.0"].into_iter())
        };
        let stripped = of("(component (core module (func)))");
        assert_eq!(stripped, Catalogue::Absent { stripped: true });
        assert!(stripped.remark(false).is_some_and(|remark| remark.contains("stripped")));
        let whole = of("(component (core module (func $named)))");
        assert_eq!(whole, Catalogue::Absent { stripped: false });
        assert_eq!(whole.remark(false), None);
        assert!(whole.remark(true).is_some_and(|remark| !remark.contains("stripped")));
    }

    /// What is no body of a function, in words.
    fn shown<'a>(payloads: impl Iterator<Item = Payload<'a>>) -> Vec<String> {
        let plain = payloads.filter(|payload| !matches!(payload, Payload::CodeSectionEntry(_)));
        plain.map(|payload| format!("{payload:?}")).collect()
    }

    #[test]
    fn what_stands_around_and_behind_code_is_seen() {
        let module = |name: &str| {
            format!(
                r#"(core module ${name} (func (export "f") (result i32) i32.const 1) (func) (data "d")
                    (@custom "fozzy.properties" "always\09{name}\09a.rs:1\0a"))"#
            )
        };
        let text = format!("(component {} (component {}) {})", module("one"), module("two"), module("three"));
        let component = wat::parse_str(text).expect("assembles");
        let names: Vec<String> = read(&component).into_iter().map(|row| row.name).collect();
        assert_eq!(names, ["one", "two", "three"]);
        let whole = shown(Parser::new(0).parse_all(&component).map_while(Result::ok));
        assert_eq!(shown(without_bodies(&component)), whole);
        for end in 0..component.len() {
            assert!(without_bodies(&component[..end]).count() < whole.len());
        }
    }

    #[test]
    fn sections_of_inner_modules_are_read_and_nonsense_is_left_out() {
        let lines = "always\\09total\\09src/lib.rs:3\\0anonsense\\0a\\ff\\09x\\0asometimes\\09full\\09a.rs:1\\0a";
        let text = format!("(component (core module (@custom \"fozzy.properties\" \"{lines}\")))");
        let component = wat::parse_str(text).expect("assembles");
        let row =
            |kind, name: &str, place: &str| DeclaredProperty { kind, name: name.to_owned(), place: place.to_owned() };
        let expected =
            [row(PropertyKind::Always, "total", "src/lib.rs:3"), row(PropertyKind::Sometimes, "full", "a.rs:1")];
        assert_eq!(read(&component), expected);
        assert_eq!(read(&component[..component.len() - 1]), []);
        assert_eq!(read(b"no wasm"), []);
    }
}
