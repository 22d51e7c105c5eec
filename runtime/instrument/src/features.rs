//! The WebAssembly that Fozzy accepts, in one place, so that rewriter and engine cannot disagree.
//!
//! WebAssembly 3.0 and components, without everything whose result depends on the machine's timing.
//! Not decided here: which of the accepted features make a component impossible to checkpoint.

use wasmparser::{CompositeInnerType, Parser, Payload, TypeRef, WasmFeatures};

/// Features that a component may use: WebAssembly 3.0 (multi-memory, memory64, exceptions, tail
/// calls, garbage collection, relaxed SIMD, ...) and the component model of WASI 0.2.
///
/// Left out: threads and shared-everything (their interleaving is the machine's), and the
/// component model's async ABI (the engine is built without it). Give the engine exactly this set.
/// With wasmtime: `config.wasm_features(features(), true).wasm_features(features().complement(), false)`.
#[must_use]
pub fn features() -> WasmFeatures {
    WasmFeatures::WASM3.difference(WasmFeatures::THREADS).union(WasmFeatures::COMPONENT_MODEL)
}

/// Whether a component has objects that the engine manages: exceptions, structures, arrays. They stand in a memory of the engine's, with the
/// numbers that it gives to types, which are others in another build of the same program.
#[must_use]
pub fn has_managed_objects(component: &[u8]) -> bool {
    let is_object = |payload: Payload<'_>| match payload {
        Payload::TagSection(tags) => tags.count() > 0,
        Payload::ImportSection(imports) => {
            imports.into_imports().flatten().any(|import| matches!(import.ty, TypeRef::Tag(_)))
        }
        Payload::TypeSection(types) => types.into_iter().flatten().any(|group| {
            let mut types = group.into_types();
            types.any(|ty| {
                matches!(ty.composite_type.inner, CompositeInnerType::Array(_) | CompositeInnerType::Struct(_))
            })
        }),
        _ => false,
    };
    Parser::new(0).parse_all(component).map_while(Result::ok).any(is_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_and_structures_are_managed_and_functions_are_not() {
        for (module, expected) in [
            ("(module (tag))", true),
            ("(module (import \"a\" \"b\" (tag)))", true),
            ("(module (type (struct (field i32))))", true),
            ("(module (func (param funcref)) (memory 1))", false),
            ("(component (core module (type (array i8))))", true),
        ] {
            let bytes = wat::parse_str(module).expect("it parses");
            assert_eq!(has_managed_objects(&bytes), expected, "{module}");
        }
    }
}
