//! What a program was written in, as its compilers say in the section `producers`.
//!
//! Not here: where its code comes from, line by line (`source`).

use wasmparser::{KnownCustom, Parser, Payload, ProducersSectionReader};

/// The languages of all modules of a component, each once, in the order in which they are named. Sections that cannot be read
/// are left out: nothing depends on them but how things are shown.
#[must_use]
pub fn languages(component: &[u8]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for payload in Parser::new(0).parse_all(component).map_while(Result::ok) {
        let Payload::CustomSection(section) = payload else { continue };
        let KnownCustom::Producers(producers) = section.as_known() else { continue };
        for name in of_producers(producers) {
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

fn of_producers(producers: ProducersSectionReader<'_>) -> Vec<String> {
    let languages = producers.into_iter().filter_map(Result::ok).filter(|field| field.name == "language");
    let values = languages.flat_map(|field| field.values.into_iter().filter_map(Result::ok));
    values.map(|value| value.name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_read_from_every_module_and_damage_is_no_error() {
        let module = br#"(component (core module (@producers (language "Rust" "2021") (language "C11" "")))
                                    (core module (@producers (language "Rust" ""))))"#;
        let bytes = wat::parse_bytes(module).expect("text");
        assert_eq!(languages(&bytes), ["Rust", "C11"]);
        assert_eq!(languages(&bytes[..bytes.len() - 3]).first().map(String::as_str), Some("Rust"));
        assert!(languages(b"").is_empty() && languages(b"\0asm....").is_empty());
    }
}
