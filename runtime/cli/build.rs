//! Has the linker keep one copy of functions that are equal, which are a tenth of the command in a build for development.
//!
//! Only where rustc links by its own linker, which knows how: Linux on x86-64.

#![allow(clippy::disallowed_methods, reason = "a build script is told everything by its environment")]

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    if target == "x86_64-unknown-linux-gnu" {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}
