//! Which interfaces exist, and the refusal of those that do not.
//!
//! ```text
//! wasi:cli/stdout@0.2.6   known, by semver track: served by our 0.2.12
//! fozzy:process/run@0.1.0  ours, on a track of its own
//! acme:db/query           unknown: refused at load, by name
//!
//! generated   choose(String, u64)    a text is allocated, filled and freed for each call
//! here        choose(WasmStr, u64)   the place in the guest's memory ─▶ copied to where the last name was
//! ```

use crate::bindings::{Computer, LinkOptions};
use crate::call::Host;
use crate::stepping::{STEP_OVER, STEP_TEXT};
use fozzy_trace::facts::PropertyKind;
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, HasSelf, Linker, WasmList, WasmStr};
use wasmtime::{Engine, Result, StoreContextMut};

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

/// Bytes of a text, and numbers of a list, whose allocation is kept: more than names have, and most events.
const KEPT_MAX: usize = 64 << 10;

/// What may come with an evaluation.
type Details = Option<WasmStr>;

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
    add_texts(linker)?;
    linker.allow_shadowing(false);
    steps(linker)
}

/// What the code asks that takes steps of a scenario. The fuel is set where steps are counted, and only there.
fn steps(linker: &mut Linker<Host>) -> Result<()> {
    let mut root = linker.root();
    root.func_wrap(STEP_OVER, |mut store: StoreContextMut<'_, Host>, (result, flow): (u32, u32)| {
        let is_counted = store.data().counts_steps();
        let has = if is_counted { store.get_fuel()? } else { 0 };
        let next = store.data_mut().step_over(result, flow, has)?;
        if let Some(fuel) = next.filter(|_| is_counted) {
            store.set_fuel(fuel)?;
        }
        Ok((u32::from(next.is_some()),))
    })?;
    root.func_wrap(STEP_TEXT, |store, (text,): (WasmStr,)| {
        with_text(store, &text, |host, text| {
            host.tell_step(text);
            Ok(())
        })
    })
}

/// Replaces the generated definitions of the functions that programs call at each step with a name: the name is read into a text that the host
/// keeps, so that a call allocates nothing. The behaviour is that of the trait of each interface; what is kept is of an earlier call, and is
/// read by nobody.
///
/// What the canonical ABI asks is the same in both: the place is in bounds, the bytes are UTF-8, and they count as bytes that a host call copies.
fn add_texts(linker: &mut Linker<Host>) -> Result<()> {
    draws(linker)?;
    properties(linker)?;
    let mut journal = linker.instance("fozzy:events/journal@0.1.0")?;
    journal.func_wrap("event", |store, (name, details): (WasmStr, WasmStr)| {
        let answer =
            |host: &mut Host, name: &str, details: Option<&str>| host.journal_event(name, details.unwrap_or_default());
        with_texts(store, &name, Some(&details), answer)
    })
}

fn draws(linker: &mut Linker<Host>) -> Result<()> {
    let mut draws = linker.instance("fozzy:choices/draws@0.1.0")?;
    draws.func_wrap("choose", |store, (site, count): (WasmStr, u64)| {
        Ok((with_text(store, &site, |host, site| host.choose_at(site, count))?,))
    })?;
    draws.func_wrap("int", |store, (site, min, max): (WasmStr, i64, i64)| {
        Ok((with_text(store, &site, |host, site| host.int_at(site, min, max))?,))
    })?;
    draws.func_wrap("bool", |store, (site, probability): (WasmStr, f64)| {
        Ok((with_text(store, &site, |host, site| host.bool_at(site, probability))?,))
    })?;
    draws.func_wrap("bytes", |store, (site, length): (WasmStr, u64)| {
        Ok((with_text(store, &site, |host, site| host.bytes_at(site, length))?,))
    })?;
    draws.func_wrap("weighted", |mut store, (site, weights): (WasmStr, WasmList<u32>)| {
        let mut numbers = std::mem::take(&mut store.data_mut().numbers);
        numbers.clear();
        numbers.extend(weights.as_le_slice(&store).iter().map(|weight| u32::from_le(*weight)));
        let place = with_text(store, &site, |host, site| {
            let place = host.weighted_at(site, &numbers);
            if numbers.capacity() <= KEPT_MAX {
                host.numbers = numbers;
            }
            place
        })?;
        Ok((place,))
    })
}

fn properties(linker: &mut Linker<Host>) -> Result<()> {
    let mut properties = linker.instance("fozzy:properties/assertions@0.1.0")?;
    for (function, kind) in [
        ("always", PropertyKind::Always),
        ("always-or-unreachable", PropertyKind::AlwaysOrUnreachable),
        ("sometimes", PropertyKind::Sometimes),
    ] {
        properties.func_wrap(function, move |store, (name, holds, details): (WasmStr, bool, Details)| {
            with_texts(store, &name, details.as_ref(), |host, name, details| host.evaluate(kind, name, holds, details))
        })?;
    }
    properties.func_wrap("reachable", |store, (name,): (WasmStr,)| {
        with_text(store, &name, |host, name| host.evaluate(PropertyKind::Reachable, name, true, None))
    })?;
    properties.func_wrap("unreachable", |store, (name, details): (WasmStr, Details)| {
        let kind = PropertyKind::Unreachable;
        with_texts(store, &name, details.as_ref(), |host, name, details| host.evaluate(kind, name, false, details))
    })?;
    properties.func_wrap("again", |store, (name, held, missed): (WasmStr, u64, u64)| {
        with_text(store, &name, |host, name| host.count_again(name, held, missed))
    })?;
    properties.func_wrap("state", |store, (name, value): (WasmStr, u64)| {
        with_text(store, &name, |host, name| host.note_state(name, value))
    })
}

/// Reads `text` of the guest's memory to where the last one was, for the host to answer by it.
#[inline]
fn with_text<R>(
    store: StoreContextMut<'_, Host>,
    text: &WasmStr,
    answer: impl FnOnce(&mut Host, &str) -> Result<R>,
) -> Result<R> {
    with_texts(store, text, None, |host, text, _| answer(host, text))
}

/// The same, with what was told beside it. That is read second, as the generated code does: of two that are no text, the first ends the
/// guest.
#[inline]
fn with_texts<R>(
    mut store: StoreContextMut<'_, Host>,
    text: &WasmStr,
    details: Option<&WasmStr>,
    answer: impl FnOnce(&mut Host, &str, Option<&str>) -> Result<R>,
) -> Result<R> {
    let mut kept = std::mem::take(&mut store.data_mut().text);
    kept.clear();
    kept.push_str(&text.to_str(&store)?);
    let details = match details {
        Some(details) => Some(details.to_str(&store)?.into_owned()),
        None => None,
    };
    let host = store.data_mut();
    let answered = answer(host, &kept, details.as_deref());
    if kept.capacity() <= KEPT_MAX {
        host.text = kept;
    }
    answered
}

/// How the imports begin by which an accessor mints handles.
const MINT: &str = "fozzy-mint-";

/// The imports of `component` that the sandbox does not offer, in the component's order. With what the rewriter has `appended` it may mint
/// handles, and ask for steps.
#[must_use]
pub fn refused_imports(engine: &Engine, component: &Component, appended: bool) -> Vec<ImportFault> {
    let imports =
        component.component_type().imports(engine).map(|(name, item)| (name.to_owned(), item.ty)).collect::<Vec<_>>();
    let is_ours = |import: &str| import.starts_with(MINT) || [STEP_OVER, STEP_TEXT].contains(&import);
    let others = imports.into_iter().filter(|(import, _)| !(appended && is_ours(import)));
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

#[cfg(test)]
mod tests {
    #[test]
    fn every_function_here_replaces_one_of_its_interface() {
        let interfaces = [
            include_str!("../wit/deps/fozzy-choices.wit"),
            include_str!("../wit/deps/fozzy-properties.wit"),
            include_str!("../wit/deps/fozzy-events.wit"),
        ];
        let here = include_str!("linker.rs").split("#[cfg(test)]").next().expect("the code");
        let wrapped = here.split("func_wrap(").skip(1);
        let listed = here.lines().filter_map(|line| line.trim_start().strip_prefix('('));
        let quoted = |text: &'static str| text.strip_prefix('"')?.split('"').next();
        let names: Vec<&str> = wrapped.chain(listed).filter_map(quoted).collect();
        assert!(names.len() >= 13, "{names:?}");
        for name in names {
            let is_there = |wit: &&str| {
                wit.lines().any(|line| line.trim().trim_start_matches('%').starts_with(&format!("{name}: func(")))
            };
            assert!(interfaces.iter().any(is_there), "{name}");
        }
    }
}
