//! Tests of the crate as a whole: component in, component out.
//!
//! That a rewritten program still behaves like the original is tested beside the engine, where
//! programs can be run.

mod access;
mod edges;
mod exits;
mod golden;
mod hostile;
mod marks;
mod mutants;
mod offsets;
mod segments;
mod smith;
mod steps;
mod symbols;
mod variables;

use crate::{CoverageMode, Error, InstrumentedComponent, ModuleChoice, Options, features, instrument};
use wasm_encoder::{Component, RawSection};
use wasmparser::{Operator, Parser, Payload, Validator};

/// A component that consists of the given core modules.
fn wrap(modules: &[Vec<u8>]) -> Vec<u8> {
    let mut component = Component::new();
    for module in modules {
        component.section(&RawSection { id: 1, data: module });
    }
    component.finish()
}

/// A component with one core module, given as text.
fn component(module: &str) -> Vec<u8> {
    wrap(&[wat::parse_str(module).expect("the test's module parses")])
}

/// Instruments in every way, and returns what the default gives.
fn instrumented(component: &[u8]) -> InstrumentedComponent {
    for options in ways() {
        instrumented_with(component, &options);
    }
    instrumented_with(component, &Options::default())
}

/// One of each choice, and everything at once.
fn ways() -> [Options; 8] {
    let all = Options { modules: ModuleChoice::All, ..Options::default() };
    [
        Options { coverage: CoverageMode::SetOnce, ..all.clone() },
        Options { coverage: CoverageMode::Counters, recursion: true, ..all.clone() },
        Options { marks: true, ..all.clone() },
        Options { comparisons: true, ..all.clone() },
        Options { profile: true, ..all.clone() },
        Options { steps: true, ..all.clone() },
        Options { steps: true, access: true, ..all.clone() },
        Options { coverage: CoverageMode::SetOnce, marks: true, comparisons: true, ..all },
    ]
}

/// Instruments and checks what must hold for every component: the output is valid under the same
/// features, and a second rewrite gives the same.
fn instrumented_with(component: &[u8], options: &Options) -> InstrumentedComponent {
    let output = instrument(component, options).expect("the component is accepted");
    if let Err(error) = Validator::new_with_features(features()).validate_all(&output.component) {
        panic!("the output is invalid: {error}");
    }
    assert_eq!(instrument(component, options).as_ref(), Ok(&output));
    output
}

fn refused(component: &[u8]) -> Error {
    instrument(component, &Options::default()).expect_err("the component is refused")
}

/// All operators of all function bodies in `component`, with their offsets, function by function.
fn bodies(component: &[u8]) -> Vec<Vec<(u32, Operator<'_>)>> {
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let mut bodies = Vec::new();
    for payload in parser.parse_all(component) {
        let Payload::CodeSectionEntry(body) = payload.expect("the component parses") else {
            continue;
        };
        let reader = body.get_operators_reader().expect("the body parses");
        let operators = reader.into_iter_with_offsets().map(|item| {
            let (operator, offset) = item.expect("the operator parses");
            (u32::try_from(offset).expect("test components are small"), operator)
        });
        bodies.push(operators.collect());
    }
    bodies
}
