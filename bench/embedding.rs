//! The smallest embedding of wasmtime with wasmtime-wasi: what `fozzy run` is compared with at start-up.
//!
//! ```text
//! embedding compile hello.wasm hello.cwasm     beforehand
//! embedding run     hello.cwasm                what is measured
//! ```
//!
//! Not here: anything that one could leave out.

#![allow(unsafe_code, reason = "deserialises the file that this program wrote just before")]

use std::path::Path;
use std::process::ExitCode;
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Result, Store};
use wasmtime_wasi::p2::bindings::sync::Command;
use wasmtime_wasi::{WasiCtx, WasiCtxView, WasiView};

struct State {
    wasi: WasiCtx,
    table: ResourceTable,
}

impl WasiView for State {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
    }
}

fn main() -> Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["compile", from, to] => {
            let code = Engine::default().precompile_component(&std::fs::read(from)?)?;
            std::fs::write(to, code)?;
            Ok(ExitCode::SUCCESS)
        }
        ["run", code] => run(Path::new(code)),
        _ => Err(wasmtime::Error::msg("expected: compile FROM TO, or: run CODE")),
    }
}

fn run(code: &Path) -> Result<ExitCode> {
    let engine = Engine::default();
    // SAFETY: the bench had this program write the file, in a folder of its own.
    let component = unsafe { Component::deserialize_file(&engine, code)? };
    let mut linker = Linker::new(&engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    let wasi = WasiCtx::builder().inherit_stdio().build();
    let mut store = Store::new(&engine, State { wasi, table: ResourceTable::new() });
    let command = Command::instantiate(&mut store, &component, &linker)?;
    let passed = command.wasi_cli_run().call_run(&mut store)?.is_ok();
    Ok(ExitCode::from(u8::from(!passed)))
}
