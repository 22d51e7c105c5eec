//! The same definitions as the generated ones, for the functions that programs call at each step with a name: the name is read into a
//! text that the host keeps, so that a call allocates nothing.
//!
//! ```text
//! generated   choose(String, u64)    a text is allocated, filled and freed for each call
//! here        choose(WasmStr, u64)   the place in the guest's memory ─▶ copied to where the last name was
//! ```
//!
//! What the canonical ABI asks is the same in both: the place is in bounds, the bytes are UTF-8, and they count as bytes that a host
//! call copies.
//!
//! Invariants: the behaviour is that of the trait of each interface, which calls the same functions of [`Host`]; what is kept is empty or
//! of an earlier call, and is read by nobody.
//! Not here: what the calls do (`choices`, `properties`, `events`).

use crate::call::Host;
use fozzy_trace::facts::PropertyKind;
use wasmtime::component::{Linker, WasmList, WasmStr};
use wasmtime::{Result, StoreContextMut};

/// Bytes of a text, and numbers of a list, whose allocation is kept: more than names have, and most events.
const KEPT_MAX: usize = 64 << 10;

/// What may come with an evaluation.
type Details = Option<WasmStr>;

/// Replaces the generated definitions of these functions. The linker allows that.
pub(crate) fn add_to_linker(linker: &mut Linker<Host>) -> Result<()> {
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

#[cfg(test)]
mod tests {
    #[test]
    fn every_function_here_replaces_one_of_its_interface() {
        let interfaces = [
            include_str!("../wit/deps/fozzy-choices.wit"),
            include_str!("../wit/deps/fozzy-properties.wit"),
            include_str!("../wit/deps/fozzy-events.wit"),
        ];
        let here = include_str!("text_linker.rs").split("#[cfg(test)]").next().expect("the code");
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
