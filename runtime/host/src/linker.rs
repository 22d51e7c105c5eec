//! Which interfaces exist, and the refusal of those that do not.
//!
//! ```text
//! wasi:cli/stdout@0.2.6   known, by semver track: served by our 0.2.12
//! fozzy:process/run@0.1.0  ours, on a track of its own
//! acme:db/query           unknown: refused at load, by name
//! ```

use crate::bindings::{Computer, LinkOptions};
use crate::call::Host;
use crate::stepping::STEP_OVER;
use crate::text_linker;
use wasmtime::Engine;
use wasmtime::Result;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, HasSelf, Linker};

/// The track of WASI versions that we serve: any 0.2 release, by the rules of semantic versioning.
const TRACK: &str = "0.2.";
/// The track of our own packages.
const OWN_TRACK: &str = "0.1.";
/// How the names of our own packages begin.
const OWN: &str = "fozzy:";

/// Interfaces that the host implements; one row for each file's impl.
const KNOWN: &[&str] = &[
    "wasi:cli/environment",
    "wasi:cli/exit",
    "wasi:cli/stdin",
    "wasi:cli/stdout",
    "wasi:cli/stderr",
    "wasi:cli/terminal-input",
    "wasi:cli/terminal-output",
    "wasi:cli/terminal-stdin",
    "wasi:cli/terminal-stdout",
    "wasi:cli/terminal-stderr",
    "wasi:clocks/monotonic-clock",
    "wasi:clocks/wall-clock",
    "wasi:filesystem/types",
    "wasi:filesystem/preopens",
    "wasi:http/types",
    "wasi:http/outgoing-handler",
    "wasi:io/error",
    "wasi:io/poll",
    "wasi:io/streams",
    "wasi:random/random",
    "wasi:random/insecure",
    "wasi:random/insecure-seed",
    "wasi:sockets/instance-network",
    "wasi:sockets/ip-name-lookup",
    "wasi:sockets/network",
    "wasi:sockets/tcp",
    "wasi:sockets/tcp-create-socket",
    "wasi:sockets/udp",
    "wasi:sockets/udp-create-socket",
    "fozzy:process/run",
    "fozzy:process/rules",
    "fozzy:http/rules",
    "fozzy:faults/points",
    "fozzy:faults/membership",
    "fozzy:files/snapshots",
    "fozzy:files/power",
    "fozzy:choices/draws",
    "fozzy:events/journal",
    "fozzy:history/operations",
    "fozzy:memory/allocations",
    "fozzy:properties/assertions",
    "fozzy:target/control",
    "fozzy:time/control",
    "fozzy:preview1/snapshot",
    "fozzy:preview1/unstable",
];

/// One import that the sandbox does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportFault {
    /// The import's full name.
    pub import: String,
    /// What is wrong with it.
    pub why: String,
}

/// Defines every interface of the computer.
///
/// # Errors
/// When wasmtime refuses a definition, which no component can bring about.
pub fn add_to_linker(linker: &mut Linker<Host>) -> Result<()> {
    // Marked unstable in WASI; offered to every program that imports it.
    let mut options = LinkOptions::default();
    options.network_error_code(true);
    Computer::add_to_linker::<Host, HasSelf<Host>>(linker, &options, |host| host)?;
    linker.allow_shadowing(true);
    text_linker::add_to_linker(linker)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// How the imports begin by which an accessor mints handles.
const MINT: &str = "fozzy-mint-";

/// The imports of `component` that the sandbox does not offer, in the component's order. With an accessor it may mint handles, and
/// ask for steps.
#[must_use]
pub fn refused_imports(engine: &Engine, component: &Component, accessor: bool) -> Vec<ImportFault> {
    let imports =
        component.component_type().imports(engine).map(|(name, item)| (name.to_owned(), item.ty)).collect::<Vec<_>>();
    let is_accessors = |import: &str| accessor && (import.starts_with(MINT) || import == STEP_OVER);
    let others = imports.into_iter().filter(|(import, _)| !is_accessors(import));
    let faults = others.filter_map(|(import, item)| {
        let why = fault(&import, &item)?;
        Some(ImportFault { import, why })
    });
    faults.collect()
}

fn fault(import: &str, item: &ComponentItem) -> Option<String> {
    if !matches!(item, ComponentItem::ComponentInstance(_)) {
        return (!matches!(item, ComponentItem::Type(_))).then(|| "a function outside any interface".to_owned());
    }
    import_problem(import)
}

/// The interfaces that are offered, without their versions.
#[must_use]
pub fn known_interfaces() -> &'static [&'static str] {
    KNOWN
}

/// Why the interface of that name cannot be had; `None` when it can.
#[must_use]
pub fn import_problem(import: &str) -> Option<String> {
    let (interface, version) = import.split_once('@').unwrap_or((import, ""));
    if !KNOWN.contains(&interface) {
        return Some("nothing here offers this interface".to_owned());
    }
    let track = if interface.starts_with(OWN) { OWN_TRACK } else { TRACK };
    if version.starts_with(track) {
        return None;
    }
    Some(format!("version {version} is not on the track {track}x that is offered"))
}
