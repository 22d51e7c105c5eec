//! The WebAssembly that Fozzy accepts, in one place, so that rewriter and engine cannot disagree.
//!
//! WebAssembly 3.0 and components, without everything whose result depends on the machine's timing.
//! Not decided here: which of the accepted features make a component impossible to checkpoint.

use wasmparser::WasmFeatures;

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
