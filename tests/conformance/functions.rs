//! The functions that a WASI 0.2 host has, as the vendored WIT lists them.
//!
//! Example: `wasi:filesystem/types.descriptor.open-at`, the name under which it also stands in a history.

use std::collections::BTreeSet;
use std::path::Path;
use wit_parser::{Resolve, WorldKey};

/// Functions without a case of their own, by the beginning of their names, and why.
pub(super) const EXEMPT: &[(&str, &str)] = &[
    ("wasi:cli/run.", "exported: every case is a call of it"),
    ("wasi:clocks/timezone.", "unstable (feature clocks-timezone), and not offered by wasmtime-wasi unless asked for"),
    (
        "wasi:sockets/network.network-error-code",
        "unstable (feature network-error-code), and not offered by wasmtime-wasi unless asked for",
    ),
    ("wasi:http/incoming-handler.", "exported: the cases of incoming-request are calls of it"),
    (
        "wasi:http/types.response-outparam.send-informational",
        "unstable (feature informational-outbound-responses), and not implemented by wasmtime-wasi-http",
    ),
];

/// Every function of every interface under `wit/deps`.
pub(super) fn all() -> BTreeSet<String> {
    let mut resolve = Resolve { all_features: true, ..Resolve::default() };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    resolve.push_dir(&folder).unwrap_or_else(|error| panic!("{}: {error:#}", folder.display()));
    let mut functions = BTreeSet::new();
    for (id, interface) in resolve.interfaces.iter() {
        let name = resolve.name_world_key(&WorldKey::Interface(id));
        let name = name.split('@').next().expect("a name stands before its version");
        for function in interface.functions.keys() {
            // `[method]descriptor.read` is `descriptor.read`.
            let function = function.rsplit(']').next().expect("a name stands after its kind");
            functions.insert(format!("{name}.{function}"));
        }
    }
    functions
}

/// Those that a case must name and call.
pub(super) fn of_the_wit() -> BTreeSet<String> {
    let is_exempt = |function: &String| EXEMPT.iter().any(|(prefix, _)| function.starts_with(prefix));
    all().into_iter().filter(|function| function.starts_with("wasi:") && !is_exempt(function)).collect()
}
