//! One program in five languages, each with its own allocator: modules of WASI preview 1 as their toolchains make them.
//!
//! ```text
//! guests/holds/holds.{c,go,ts,zig,rs} ─▶ clang-19, Go, asc, zig, rustc ─▶ guests/wasm32-wasip1/holds-<language>.wasm
//! ```
//!
//! Compilers that nothing else needs are removed when they have done their work; the stamps remain. Not here: what the programs do.

use super::Target;
use super::workshop::{Toolchain, Workshop, guests_folder, install_c, install_node, must, need_target, run};
use crate::tier::{self, Requirement};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Compilers, as PyPI and npm have them.
const ZIG: &str = "ziglang==0.17.1";
const ASSEMBLY_SCRIPT: &str = "assemblyscript@0.28.20";

/// A language whose programs own their memory in a way of their own.
#[derive(Clone, Copy, Debug)]
pub(crate) enum GuestLanguage {
    C,
    Go,
    AssemblyScript,
    Zig,
    Rust,
}

impl GuestLanguage {
    fn source(self) -> PathBuf {
        let extension = match self {
            GuestLanguage::C => "c",
            GuestLanguage::Go => "go",
            GuestLanguage::AssemblyScript => "ts",
            GuestLanguage::Zig => "zig",
            GuestLanguage::Rust => "rs",
        };
        guests_folder().join("holds/holds").with_extension(extension)
    }

    /// Which compiler it is, for the stamp.
    fn compiler(self, workshop: &Workshop) -> &str {
        match self {
            GuestLanguage::C => "clang-19",
            GuestLanguage::Go => super::workshop::GO,
            GuestLanguage::AssemblyScript => ASSEMBLY_SCRIPT,
            GuestLanguage::Zig => ZIG,
            GuestLanguage::Rust => workshop.rustc,
        }
    }

    fn toolchain(self) -> Toolchain {
        match self {
            GuestLanguage::C => Toolchain::C,
            GuestLanguage::Go => Toolchain::Go,
            GuestLanguage::AssemblyScript => Toolchain::AssemblyScript,
            GuestLanguage::Zig => Toolchain::Zig,
            GuestLanguage::Rust => Toolchain::Rust,
        }
    }

    fn need(self) {
        match self {
            GuestLanguage::C => tier::require(Requirement::C),
            GuestLanguage::Go => tier::require(Requirement::Go),
            GuestLanguage::AssemblyScript => tier::require(Requirement::AssemblyScript),
            GuestLanguage::Zig => tier::require(Requirement::Zig),
            GuestLanguage::Rust => need_target(Target::Wasip1),
        }
    }
}

/// The program in that language.
pub(super) fn holds(language: GuestLanguage) -> PathBuf {
    language.need();
    let workshop = &Workshop::open(language.toolchain());
    let source = language.source();
    let inputs = format!("{}\n{}", must(fs::read_to_string(&source), "read", &source), language.compiler(workshop));
    let name = format!("holds-{}", source.extension().unwrap_or_default().display());
    workshop.make(Target::Wasip1, &name, &inputs, |module| match language {
        GuestLanguage::C => c(&source, module),
        GuestLanguage::Go => workshop.go_program(&source, module),
        GuestLanguage::AssemblyScript => assembly_script(workshop, &source, module),
        GuestLanguage::Zig => zig(workshop, &source, module),
        GuestLanguage::Rust => rust(workshop, &source, module),
    })
}

fn c(source: &Path, module: &Path) {
    install_c();
    super::workshop::compile_and_link(source, None, &[], module);
}

fn rust(workshop: &Workshop, source: &Path, module: &Path) {
    let mut rustc = workshop.rustc_command();
    run(rustc.args(["--edition=2024", "--target=wasm32-wasip1", "-O", "-o"]).arg(module).arg(source));
}

fn zig(workshop: &Workshop, source: &Path, module: &Path) {
    let tools = fresh(workshop.intermediate("zig"));
    let mut pip = Command::new("python3");
    run(pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&tools).arg(ZIG));
    let mut zig = Command::new(tools.join("ziglang/zig"));
    zig.args(["build-exe", "-target", "wasm32-wasi", "-OReleaseSmall"]).arg(emitted(module)).arg(source);
    run(zig.env("ZIG_GLOBAL_CACHE_DIR", tools.join("cache")).env("ZIG_LOCAL_CACHE_DIR", tools.join("cache")));
    must(fs::remove_dir_all(&tools), "remove", &tools);
}

fn emitted(module: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from("-femit-bin=");
    argument.push(module);
    argument
}

fn assembly_script(workshop: &Workshop, source: &Path, module: &Path) {
    install_node("AssemblyScript");
    let tools = fresh(workshop.intermediate("assemblyscript"));
    run(Command::new("npm").args(["install", "--no-audit", "--no-fund", ASSEMBLY_SCRIPT]).current_dir(&tools));
    // It takes paths in its own folder only.
    must(fs::copy(source, tools.join("holds.ts")), "copy", source);
    let mut node = Command::new("node");
    node.args([
        "node_modules/assemblyscript/bin/asc.js",
        "holds.ts",
        "-O",
        "--exportStart",
        "_start",
        "--use",
        "abort=",
    ]);
    run(node.arg("--outFile").arg("holds.wasm").current_dir(&tools));
    must(fs::copy(tools.join("holds.wasm"), module), "copy", module);
    must(fs::remove_dir_all(&tools), "remove", &tools);
}

/// The folder, empty: what is there may be half of an installation.
fn fresh(folder: PathBuf) -> PathBuf {
    if folder.exists() {
        must(fs::remove_dir_all(&folder), "remove", &folder);
    }
    must(fs::create_dir_all(&folder), "create", &folder);
    folder
}
