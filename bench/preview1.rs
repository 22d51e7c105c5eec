//! Modules of WASI preview 1: one call, and a whole short command, beside wasmtime's own preview 1 and the published adapter.
//!
//! ```text
//! clock, random, write ─▶ ours ◀─ in turn ─▶ wasmtime_wasi::p1
//! hello                ─▶ ours ◀─ in turn ─▶ the same module with the adapter, run by us too, as before there was anything else
//! ```

use crate::guests;
use crate::measure::{Pair, thread_seconds};
use crate::ours::Ours;
use crate::table::{Bound, Row, Unit};
use crate::theirs::{Fuel, TheirModule};
use crate::{CALLS, PAIRS, SHORT_PAIRS, WRITES};
use wasi_preview1_component_adapter_provider as adapter;
use wit_component::ComponentEncoder;

/// Calls that are measured: what the row says, the expression, how often.
const MEASURED: [(&str, &str, u32); 3] = [
    ("preview 1: clock read (wasmtime's preview 1)", "(call $clock (i32.const 1) (i64.const 0) (i32.const 16))", CALLS),
    ("preview 1: random draw of 64 bits (wasmtime's)", "(call $random (i32.const 16) (i32.const 8))", CALLS),
    (
        "preview 1: 64-byte write (wasmtime's)",
        "(call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))",
        WRITES,
    ),
];

pub(crate) fn preview1() -> Vec<Row> {
    let mut rows = Vec::new();
    for (name, call, count) in MEASURED {
        let guest = guests::preview1(call, count);
        for fuel in [Fuel::Off, Fuel::On] {
            let (mut ours, mut theirs) = (Ours::new(guest.as_bytes()), TheirModule::new(guest.as_bytes(), fuel));
            let pair = Pair::of(PAIRS, || thread_seconds(|| ours.run()), || thread_seconds(|| theirs.run()));
            let unit = Unit::NanosecondsPerCall(count);
            rows.push(match fuel {
                Fuel::Off => Row::times(name, &pair, unit, Bound::Ratio(1.0)),
                Fuel::On => Row::times("  the same, both with fuel", &pair, unit, Bound::None),
            });
        }
    }
    let hello = std::fs::read(guests::preview1_hello()).expect("the guest was built");
    let (mut ours, mut adapted) = (Ours::new(&hello), Ours::new(&adapted(&hello)));
    let pair = Pair::of(SHORT_PAIRS, || thread_seconds(|| ours.run()), || thread_seconds(|| adapted.run()));
    rows.push(Row::times(
        "short command of preview 1 (with the adapter)",
        &pair,
        Unit::Microseconds,
        Bound::Ratio(0.7),
    ));
    let mut theirs = TheirModule::new(&hello, Fuel::Off);
    let pair = Pair::of(SHORT_PAIRS, || thread_seconds(|| ours.run()), || thread_seconds(|| theirs.run()));
    rows.push(Row::times("  the same (wasmtime's preview 1)", &pair, Unit::Microseconds, Bound::None));
    rows
}

/// The module as a component, by the adapter that the wasmtime project publishes.
fn adapted(module: &[u8]) -> Vec<u8> {
    let encoder = ComponentEncoder::default().module(module).expect("a module");
    let (name, adapter) =
        (adapter::WASI_SNAPSHOT_PREVIEW1_ADAPTER_NAME, adapter::WASI_SNAPSHOT_PREVIEW1_COMMAND_ADAPTER);
    encoder.adapter(name, adapter).and_then(|mut encoder| encoder.encode()).expect("the adapter fits")
}
