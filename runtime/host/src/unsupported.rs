//! Interfaces that are present but not offered yet: they say so by name.
//!
//! ```text
//! create-tcp-socket: func(..) -> result<tcp-socket, error-code>   answers  err(not-supported)
//! ```
//!
//! Invariant: a program that merely links these interfaces runs; one that uses them learns it in the
//! way that the interface has for it, or by a trap with the function's name.

use crate::call::{Host, Import, Stop};
use wasmtime::Result;
use wasmtime::component::types::{ComponentFunc, ComponentInstance, ComponentItem};
use wasmtime::component::{LinkerInstance, ResourceType, Type, Val};

/// Prefixes of the interfaces that this file answers for.
pub(crate) const PRESENT: &[&str] = &["wasi:sockets/"];

const UNSUPPORTED: Import = Import::new("unsupported");

/// The case by which interfaces of WASI say "not supported" in their error enumerations.
const NOT_SUPPORTED: &str = "not-supported";

/// A resource that is never handed out.
struct Never;

/// Defines every function and resource of `instance`.
pub(crate) fn define(
    engine: &wasmtime::Engine,
    linker: &mut LinkerInstance<'_, Host>,
    interface: &str,
    instance: &ComponentInstance,
) -> Result<()> {
    for (name, item) in instance.exports(engine) {
        match item.ty {
            ComponentItem::ComponentFunc(function) => {
                let import = format!("{}.{name}", interface.split('@').next().unwrap_or(interface));
                let refusal = refusal(&function);
                linker.func_new(name, move |mut store, _, _, results| {
                    store.data_mut().refuse(&import, refusal.as_ref(), results)
                })?;
            }
            ComponentItem::Resource(_) => {
                // Types that other interfaces define too must be the same type here.
                linker.resource(name, shared_resource(name), |_, _| Ok(()))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn shared_resource(name: &str) -> ResourceType {
    use crate::bindings;
    match name {
        "pollable" => ResourceType::host::<bindings::Pollable>(),
        "error" => ResourceType::host::<bindings::IoError>(),
        "input-stream" => ResourceType::host::<bindings::InputStream>(),
        "output-stream" => ResourceType::host::<bindings::OutputStream>(),
        _ => ResourceType::host::<Never>(),
    }
}

/// The value by which the function itself can say no, where its type has one.
fn refusal(function: &ComponentFunc) -> Option<Val> {
    let Some(Type::Result(result)) = function.results().next() else { return None };
    let Some(Type::Enum(codes)) = result.err() else { return None };
    let offered = codes.names().any(|name| name == NOT_SUPPORTED);
    offered.then(|| Val::Result(Err(Some(Box::new(Val::Enum(NOT_SUPPORTED.to_owned()))))))
}

impl Host {
    fn refuse(&mut self, import: &str, refusal: Option<&Val>, results: &mut [Val]) -> Result<()> {
        self.call(UNSUPPORTED, import.to_owned(), |_| match refusal {
            Some(value) => {
                results[0] = value.clone();
                Ok(NOT_SUPPORTED.to_owned())
            }
            None => Err(Stop::Unsupported { import: import.to_owned() }),
        })?;
        Ok(())
    }
}
