//! A first look at a component, for what stands behind the code that it decides about: the names of modules.
//!
//! ```text
//! types  imports  code  ...  "name" section      the code is rewritten before its module's name is met
//! ```
//!
//! Invariant: nothing here is validated; what cannot be read ends in an error, as it would in the walk.

use crate::{Error, features, names};
use wasmparser::{Encoding, Parser, Payload};

/// What the walk has to know of a module before it gets there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Surveyed {
    pub(crate) name: Option<String>,
}

/// Looks through all core modules of a component, in the order of the bytes.
pub(crate) fn survey(component: &[u8]) -> Result<Vec<Surveyed>, Error> {
    let mut parser = Parser::new(0);
    parser.set_features(features());
    let mut modules: Vec<Surveyed> = Vec::new();
    // The modules and components that are open: the position of a module, `None` for a component.
    let mut open = Vec::new();
    for payload in parser.parse_all(component) {
        match payload? {
            Payload::Version { encoding: Encoding::Module, .. } => {
                open.push(Some(modules.len()));
                modules.push(Surveyed::default());
            }
            Payload::Version { encoding: Encoding::Component, .. } => open.push(None),
            Payload::End(_) => {
                open.pop();
            }
            Payload::CustomSection(custom) if custom.name() == "name" => {
                if let Some(Some(position)) = open.last() {
                    let module = &mut modules[*position];
                    module.name = module.name.take().or_else(|| names::module_name(custom.data()));
                }
            }
            _ => {}
        }
    }
    Ok(modules)
}
