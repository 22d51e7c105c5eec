//! Builds the players for wasm32-wasip2, so that they can be embedded, and the node that distributed scenarios are played with.
//!
//! ```text
//! runtime/{player,scenario-file}, guest-sdk ─cargo─▶ OUT_DIR/{steps,program,cluster,maelstrom}.wasm
//! scenarios/kv-node/ ────────────────────────cargo─▶ OUT_DIR/kv-node.wasm
//! guest-sdk, runtime/trace ─ build/sdk.rs ─────────▶ OUT_DIR/sdk.txt    the sources of the SDK, for projects
//!
//! each of these ─deflate─▶ OUT_DIR/<name>.deflate ─▶ include_bytes! in src/embedded.rs
//! ```
//!
//! A package of this crate contains the compiled guests instead of their sources: `.ci/package` puts them into
//! `embedded/`, and the build takes them from there. So installing a package needs no toolchain for WebAssembly.
//!
//! Invariants: the guests contain no path of this machine; nothing of the outer build (flags, target folder) reaches
//! the inner build.

#![allow(clippy::disallowed_methods, reason = "a build script is told everything by its environment")]

#[path = "build/sdk.rs"]
mod sdk;

use std::path::{Path, PathBuf};
use std::process::Command;

/// The sources of the SDK.
const SDK: &str = "sdk.txt";

const TARGET: &str = "wasm32-wasip2";

fn main() {
    if let Err(why) = embed() {
        println!("cargo::error={}", why.replace('\n', " "));
    }
}

fn embed() -> Result<(), String> {
    let variable = |name: &str| std::env::var_os(name).map(PathBuf::from).ok_or_else(|| format!("{name} is not set"));
    let (package, out) = (variable("CARGO_MANIFEST_DIR")?, variable("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    let repository = package.join("../..");
    if !repository.join("runtime/player/Cargo.toml").is_file() {
        let names = GUESTS.iter().flat_map(|guests| guests.files).map(|(name, _)| *name).chain([SDK]);
        return names.into_iter().try_for_each(|name| {
            unpack(name, &package, &out)?;
            deflate(name, &out)
        });
    }
    let repository = repository.canonicalize().map_err(|error| format!("{}: {error}", repository.display()))?;
    for part in SOURCES {
        println!("cargo::rerun-if-changed={}", repository.join(part).display());
    }
    let packed = sdk::pack(&repository)?;
    std::fs::write(out.join(SDK), packed).map_err(|error| format!("{SDK} cannot be written: {error}"))?;
    add_target(&repository)?;
    deflate(SDK, &out)?;
    GUESTS.iter().try_for_each(|guests| guests.build(&repository, &out, variable("CARGO")?))
}

/// Where the guests are compiled: beside the folders of the runs of this script, of which lints, documentation and builds have one each.
/// What the first of them has compiled, cargo finds fresh for the others.
fn compiled(out: &Path) -> PathBuf {
    // <target>/<profile>/build/fozzy-campaign-<hash>/out
    out.ancestors().nth(2).unwrap_or(out).join("fozzy-campaign-guests")
}

/// Makes what is embedded of a file. A higher level takes seconds more for a fiftieth.
fn deflate(name: &str, out: &Path) -> Result<(), String> {
    const LEVEL: u8 = 6;
    let at = |error: std::io::Error| format!("{name} cannot be packed: {error}");
    let plain = std::fs::read(out.join(name)).map_err(at)?;
    std::fs::write(out.join(format!("{name}.deflate")), miniz_oxide::deflate::compress_to_vec(&plain, LEVEL))
        .map_err(at)
}

/// What the components are made of.
const SOURCES: [&str; 23] = [
    "runtime/player/src",
    "runtime/player/steps",
    "runtime/player/program",
    "runtime/player/cluster",
    "runtime/player/maelstrom",
    "runtime/player/Cargo.toml",
    "runtime/player/Cargo.lock",
    "runtime/scenario-file/src",
    "runtime/scenario-file/Cargo.toml",
    "guest-sdk/src",
    "guest-sdk/Cargo.toml",
    "guest-sdk/macros/src",
    "guest-sdk/macros/Cargo.toml",
    "guest-sdk/wasi-net/src",
    "guest-sdk/wasi-net/Cargo.toml",
    "runtime/trace/src",
    "runtime/trace/Cargo.toml",
    "Cargo.toml",
    "scenarios/kv-node/src",
    "scenarios/kv-node/wit",
    "scenarios/kv-node/Cargo.toml",
    "scenarios/Cargo.toml",
    "scenarios/Cargo.lock",
];

/// Components that are embedded, from one workspace: one call of cargo builds them side by side.
struct Guests {
    folder: &'static str,
    flags: &'static [&'static str],
    /// What is left out of them: a player travels in each trace, and needs no debug sections.
    strip: &'static str,
    /// The files in OUT_DIR, and what cargo calls them.
    files: &'static [(&'static str, &'static str)],
}

const GUESTS: [Guests; 2] = [
    Guests {
        folder: "runtime/player",
        flags: &["--workspace"],
        strip: "symbols",
        files: &[
            ("steps.wasm", "steps_player.wasm"),
            ("program.wasm", "program_player.wasm"),
            ("cluster.wasm", "cluster_player.wasm"),
            ("maelstrom.wasm", "maelstrom_driver.wasm"),
        ],
    },
    Guests {
        folder: "scenarios/kv-node",
        flags: &["--no-default-features"],
        strip: "debuginfo",
        files: &[("kv-node.wasm", "kv_node.wasm")],
    },
];

impl Guests {
    fn build(&self, repository: &Path, out: &Path, cargo: PathBuf) -> Result<(), String> {
        let folder = repository.join(self.folder);
        let target = compiled(out);
        let home = cargo_home();
        let mut flags = vec![format!("--remap-path-prefix={}=fozzy", repository.display())];
        flags.extend(home.map(|home| format!("--remap-path-prefix={}=cargo", home.display())));
        let mut cargo = Command::new(cargo);
        for (name, _) in std::env::vars_os() {
            let inherited = name.to_str().is_some_and(of_the_build_around);
            if inherited {
                cargo.env_remove(name);
            }
        }
        let built = cargo
            .args(["build", "--release", "--locked", "--quiet", "--target", TARGET, "--target-dir"])
            .arg(&target)
            .args(self.flags)
            .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
            // An example is built to be looked into, and what is embedded is not.
            .env("CARGO_PROFILE_RELEASE_DEBUG", "false")
            .env("CARGO_PROFILE_RELEASE_STRIP", self.strip)
            .current_dir(&folder)
            .output()
            .map_err(|error| format!("cannot start cargo to build {}: {error}", folder.display()))?;
        if !built.status.success() {
            return Err(format!("{} does not build: {}", folder.display(), String::from_utf8_lossy(&built.stderr)));
        }
        self.files.iter().try_for_each(|(name, built)| {
            let wasm = target.join(TARGET).join("release").join(built);
            std::fs::copy(&wasm, out.join(name))
                .map_err(|error| format!("{} cannot be copied: {error}", wasm.display()))?;
            deflate(name, out)
        })
    }
}

/// Takes a file as it is in the package.
fn unpack(name: &str, package: &Path, out: &Path) -> Result<(), String> {
    let packed = package.join("embedded").join(name);
    println!("cargo::rerun-if-changed={}", packed.display());
    std::fs::copy(&packed, out.join(name))
        .map_err(|error| format!("{} is not in this package, and its sources neither: {error}", packed.display()))?;
    Ok(())
}

/// What cargo tells a build script, and what a user says about the build of the command, is not meant for the one inside.
fn of_the_build_around(name: &str) -> bool {
    let kept = ["CARGO", "CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "CARGO_NET_OFFLINE"];
    let starts =
        ["CARGO", "RUSTC", "RUSTFLAGS", "RUSTDOC", "CLIPPY", "TARGET", "PROFILE", "OPT_LEVEL", "DEBUG", "NUM_JOBS"];
    let apart = ["CARGO_HTTP_", "CARGO_REGISTRIES_", "CARGO_REGISTRY_", "CARGO_NET_", "CARGO_SOURCE_"];
    let is_kept = kept.contains(&name) || apart.iter().any(|start| name.starts_with(start));
    !is_kept && starts.iter().any(|start| name.starts_with(start))
}

/// Adds the standard library of the target when the toolchain has none.
fn add_target(folder: &Path) -> Result<(), String> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let asked = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).current_dir(folder).output();
    let asked = asked.map_err(|error| format!("cannot start rustc: {error}"))?;
    let library = PathBuf::from(String::from_utf8_lossy(&asked.stdout).trim());
    if asked.status.success() && library.is_dir() {
        return Ok(());
    }
    let added = Command::new("rustup").args(["target", "add", TARGET]).current_dir(folder).status();
    match added {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!(
            "the standard library of {TARGET} is missing and could not be added: rustup target add {TARGET}"
        )),
    }
}

/// Where cargo keeps the sources of dependencies, whose names stand in messages of panics.
fn cargo_home() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))
}
