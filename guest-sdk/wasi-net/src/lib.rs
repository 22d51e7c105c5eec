//! What servers on tokio miss on wasm32-wasip2 with the C library of today's Rust: `fcntl` for sockets.
//!
//! Three steps, and axum, hyper or any other server on tokio is built for wasm32-wasip2 with its sources as they are:
//!
//! 1. `.cargo/config.toml`, since tokio has its `net` for WASI behind this flag:
//!
//!    ```toml
//!    [target.wasm32-wasip2]
//!    rustflags = ["--cfg", "tokio_unstable"]
//!    ```
//! 2. `Cargo.toml`, with the features of tokio that WASI has:
//!
//!    ```toml
//!    [dependencies]
//!    tokio = { version = "1", features = ["net", "rt", "macros"] }
//!    fozzy-wasi-net = { path = "…/guest-sdk/wasi-net" }
//!    ```
//! 3. `main.rs`: `use fozzy_wasi_net as _;`, so that it is linked, and `#[tokio::main(flavor = "current_thread")]`, since WASI has no
//!    threads.
//!
//! On every other target this crate is empty. Not here: anything of Fozzy. What is built so runs in every runtime of WASI 0.2.

#[cfg(all(target_os = "wasi", target_env = "p2"))]
#[allow(unsafe_code, reason = "a function of the C library, with its argument")]
mod fcntl;
