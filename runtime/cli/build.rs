//! Has the linker make the command small: one copy of functions that are equal, which are a tenth of it in a build for development,
//! and addresses that are set when it is loaded in a table of bits, not of 24 bytes each, which are a thirteenth.
//!
//! Only where rustc links by its own linker, which knows how: Linux on x86-64. The table of bits is understood by glibc 2.36 and
//! newer, so it is taken for a build for development, which runs where it was made, on such a machine; never in a release.

#![allow(clippy::disallowed_methods, reason = "a build script is told everything by its environment")]

use std::process::Command;

/// The first version of glibc that reads relative relocations as bits.
const RELR_GLIBC: (u32, u32) = (2, 36);

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let variable = |name: &str| std::env::var(name).unwrap_or_default();
    if variable("TARGET") != "x86_64-unknown-linux-gnu" {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    let runs_here = variable("PROFILE") == "debug" && variable("HOST") == variable("TARGET");
    if runs_here && glibc().is_some_and(|version| version >= RELR_GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
}

/// The version of this machine's C library.
fn glibc() -> Option<(u32, u32)> {
    let said = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let (major, rest) = said.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = rest.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}
