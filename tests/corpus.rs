//! Corpus: real programs that tests run, built from their published sources in a way that a fresh machine can repeat.
//!
//! ```text
//! crate registry   cargo install --locked NAME --version X   ──┐
//! our workspaces   cargo build --release, all at once        ──┼──►  target/guests/<target>/<binary>.wasm
//! scenarios/js-…   componentize-js, installed by npm         ──┤
//! guests/c, c-fuzz clang-19 with Debian's wasi-libc          ──┤                          <binary>.stamp
//! guests/holds     C, Go, AssemblyScript, Zig, Rust          ──┘
//! ```
//!
//! Invariants: nothing is built twice while its inputs are the same (the stamp holds them all: versions, flags, compiler, our own
//! sources); of several processes or threads one builds with a toolchain and the others wait; the sources of published programs are never changed.
//! In tier one, whoever asks for a program of the registry, C, Go or JavaScript is skipped; in tier two, what is missing on the machine
//! is installed (see `tier`). Rust toolchains never are.
//!
//! The first call of [`programs`] takes minutes and says so on stderr. How they are built is in `workshop`, and ours in Rust in `rust`. Not here: how a
//! program is run.

mod debugged;
mod languages;
mod rust;
mod workshop;

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::tier::{self, Requirement};
pub(crate) use debugged::DebugSample;
pub(crate) use languages::GuestLanguage;
use rust::Batch;
use workshop::{Toolchain, Workshop, guests_folder, must};

/// Where [`Program::dir`] is to be mounted: the default arguments name files below it.
pub(crate) const MOUNT: &str = "/data";

/// The two shapes in which toolchains ship WASI programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A core module that imports `wasi_snapshot_preview1`.
    Wasip1,
    /// A component that imports WASI 0.2.
    Wasip2,
}

/// A built program and one invocation of it that ends with exit code 0.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Unique among the programs of one target, for messages and golden files.
    pub(crate) name: &'static str,
    /// What the module was compiled for.
    pub(crate) target: Target,
    /// The file to run. Two programs may share one.
    pub(crate) module: PathBuf,
    /// Arguments after the program's own name.
    pub(crate) args: &'static [&'static str],
    /// Folder under `tests/guests/data` to mount at [`MOUNT`] (`""` is all of it). The program may write below it.
    pub(crate) dir: Option<&'static str>,
    /// Everything that stdin holds.
    pub(crate) stdin: &'static [u8],
    /// Whether stdout shows random numbers, so that another seed changes it.
    pub(crate) stdout_follows_seed: bool,
}

/// A program published by others, compiled unchanged.
struct Package {
    name: &'static str,
    version: &'static str,
    binary: &'static str,
    target: Target,
}

/// What is installed from the registry. Chosen so that it compiles with no patch; what was tried in vain is listed in
/// `tests/guests/README.md`. Each is built for one target, since building all for both takes a fifth of the gate; those that share
/// libraries are for the same one.
#[rustfmt::skip]
const PACKAGES: &[Package] = &[
    Package { name: "ripgrep", version: "15.2.0", binary: "rg", target: Target::Wasip1 },
    Package { name: "rhai", version: "1.27.0", binary: "rhai-run", target: Target::Wasip1 },
    Package { name: "runiq", version: "2.1.0", binary: "runiq", target: Target::Wasip1 },
    Package { name: "genpass", version: "0.5.27", binary: "genpass", target: Target::Wasip2 },
    Package { name: "uu_date", version: "0.12.0", binary: "date", target: Target::Wasip2 },
    Package { name: "uu_mktemp", version: "0.12.0", binary: "mktemp", target: Target::Wasip2 },
    Package { name: "uu_shuf", version: "0.12.0", binary: "shuf", target: Target::Wasip2 },
    Package { name: "uu_sort", version: "0.12.0", binary: "sort", target: Target::Wasip2 },
];

/// A way to run a binary of [`PACKAGES`], or our C program: a [`Program`] that is not built yet.
#[derive(Clone, Copy)]
struct Invocation {
    name: &'static str,
    binary: &'static str,
    args: &'static [&'static str],
    dir: Option<&'static str>,
    stdin: &'static [u8],
    stdout_follows_seed: bool,
}

const C_BINARY: &str = "tally";

const INVOCATIONS: &[Invocation] = &[
    // Walks a tree, reads every file in it.
    invoke("rg", "rg", &["-j1", "-n", "the (town|quay|swing)|rope", "/data"]).with_dir("text"),
    // A script interpreter: reads the script, then computes between two reads of the clock.
    invoke("rhai", "rhai-run", &["/data/sieve.rhai"]).with_dir("scripts"),
    // A hash set of lines, from stdin.
    invoke("runiq", "runiq", &["-"]).with_stdin(b"reed\npine\nreed\nmoss\npine\n"),
    // Random numbers and nothing else.
    invoke("genpass", "genpass", &[]).that_shows_the_seed(),
    // The time of day.
    invoke("date", "date", &["-u", "+%Y-%m-%dT%H:%M:%S.%N"]),
    // The times that a file carries.
    invoke("date-of-file", "date", &["-u", "-r", "/data/ledger.csv", "+%s"]).with_dir("text"),
    // Creates a file under a random name. It draws that from the clock (one read, no call of `random`), so it is the same for
    // every seed.
    invoke("mktemp", "mktemp", &["-p", "/data", "reading-XXXXXXXX"]).with_dir("lines"),
    // Reads a file, draws random numbers, prints.
    invoke("shuf", "shuf", &["-n", "20", "/data/readings.txt"]).with_dir("lines").that_shows_the_seed(),
    // Sorts by a hash with a random salt, and writes the result to a file.
    invoke("sort-random", "sort", &["-R", "-o", "/data/shuffled.txt", "/data/readings.txt"]).with_dir("lines"),
    // Sorts a file into itself: reads all of it, truncates it, writes it again.
    invoke("sort-in-place", "sort", &["-u", "-k2,2n", "-o", "/data/readings.txt", "/data/readings.txt"])
        .with_dir("lines"),
    // Our C program: a directory, files, the clock, entropy and qsort.
    invoke("tally", C_BINARY, &["/data"]).with_dir("text").that_shows_the_seed(),
    // The same, and writes a file.
    invoke("tally-to-file", C_BINARY, &["-o", "/data/report.txt", "/data"]).with_dir("text"),
];

impl Target {
    /// Both targets, in the order in which the programs are listed.
    pub(crate) const ALL: [Target; 2] = [Target::Wasip1, Target::Wasip2];

    /// The name that rustc and cargo use.
    pub(crate) const fn triple(self) -> &'static str {
        match self {
            Target::Wasip1 => "wasm32-wasip1",
            Target::Wasip2 => "wasm32-wasip2",
        }
    }
}

/// The plainest way to run a binary: no folder, nothing on stdin.
const fn invoke(name: &'static str, binary: &'static str, args: &'static [&'static str]) -> Invocation {
    Invocation { name, binary, args, dir: None, stdin: b"", stdout_follows_seed: false }
}

impl Invocation {
    const fn with_dir(self, dir: &'static str) -> Invocation {
        Invocation { dir: Some(dir), ..self }
    }

    const fn with_stdin(self, stdin: &'static [u8]) -> Invocation {
        Invocation { stdin, ..self }
    }

    const fn that_shows_the_seed(self) -> Invocation {
        Invocation { stdout_follows_seed: true, ..self }
    }

    fn built(self, target: Target, module: PathBuf) -> Program {
        let Invocation { name, args, dir, stdin, stdout_follows_seed, .. } = self;
        Program { name, target, module, args, dir, stdin, stdout_follows_seed }
    }
}

/// Every program in the shape it is built in, once for each invocation; built on the first call.
pub(crate) fn programs() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    tier::require(Requirement::Registry);
    PROGRAMS.get_or_init(|| {
        let workshop = Workshop::open(Toolchain::Registry);
        let package = |invocation: &Invocation| PACKAGES.iter().find(|package| package.binary == invocation.binary);
        let build = |invocation: &Invocation| match package(invocation) {
            Some(package) => invocation.built(package.target, workshop.install(package)),
            None => invocation.built(Target::Wasip1, c_program()),
        };
        let programs = INVOCATIONS.iter().map(build).collect();
        workshop.sweep();
        programs
    })
}

/// The probe: one behaviour for each first argument (the table is in `tests/guests/probe/src/main.rs`), with source lines.
pub(crate) fn probe(target: Target) -> PathBuf {
    static PROBES: [OnceLock<PathBuf>; 2] = [const { OnceLock::new() }; 2];
    PROBES[target as usize].get_or_init(|| guest("probe", target)).clone()
}

/// The conformance guest, a component: every function of WASI in every way that has an answer of its own.
pub(crate) fn conformance() -> PathBuf {
    static CONFORMANCE: OnceLock<PathBuf> = OnceLock::new();
    CONFORMANCE.get_or_init(|| guest("conformance", Target::Wasip2)).clone()
}

/// A node of the Maelstrom protocol, a core module, that misbehaves as its argument says.
pub(crate) fn odd_node() -> PathBuf {
    guest("odd-node", Target::Wasip1)
}

/// A guest that is a component only, of that folder under `tests/guests`: `everything`,
/// `faults`, `net-server`,
/// `net-client`, `http-client` or `http-handler`.
pub(crate) fn component(name: &'static str) -> PathBuf {
    guest(name, Target::Wasip2)
}

/// A guest of that folder under `tests/guests`.
fn guest(folder: &str, target: Target) -> PathBuf {
    Workshop::open(Toolchain::Rust).batch(Batch::of_guest(folder, target), folder)
}

/// A scenario of the folder `scenarios`, with its planted fault or without.
pub(crate) fn scenario(name: &str, fixed: bool) -> PathBuf {
    Workshop::build_scenario(name, fixed)
}

/// The node of the Maelstrom protocol in Go, with its planted faults or without.
pub(crate) fn node_in_go(fixed: bool) -> PathBuf {
    tier::require(Requirement::Go);
    Workshop::open(Toolchain::Go).node_in_go(fixed)
}

/// The same on etcd's Raft, for the workload `lin-kv`; an argument plants a fault.
pub(crate) fn raft_in_go() -> PathBuf {
    tier::require(Requirement::Go);
    Workshop::open(Toolchain::Go).raft_in_go("maelstrom-go", "maelstrom-go-raft")
}

/// A store on the same package, with sockets.
pub(crate) fn raft_store_in_go() -> PathBuf {
    tier::require(Requirement::Go);
    Workshop::open(Toolchain::Go).raft_in_go("raft-go", "raft-go")
}

/// The same in C, which is another one.
pub(crate) fn node_in_c(fixed: bool) -> PathBuf {
    tier::require(Requirement::C);
    Workshop::open(Toolchain::C).node_in_c(fixed)
}

/// Makes sure that the toolchain can build for that target.
pub(crate) fn need_target(target: Target) {
    workshop::need_target(target);
}

/// Makes sure that the C toolchain is there.
pub(crate) fn c_toolchain() {
    tier::require(Requirement::C);
    workshop::install_c();
}

/// The schema of speedscope's file format, as its package has it.
pub(crate) fn speedscope_schema() -> PathBuf {
    tier::require(Requirement::ProfileReaders);
    Workshop::open(Toolchain::Speedscope).speedscope_schema()
}

/// Where Python finds the messages of OpenTelemetry.
pub(crate) fn open_telemetry() -> PathBuf {
    tier::require(Requirement::ProfileReaders);
    Workshop::open(Toolchain::OpenTelemetry).open_telemetry()
}

/// Where Node finds a client of debug adapters.
pub(crate) fn debug_client() -> PathBuf {
    tier::require(Requirement::DebugClient);
    Workshop::open(Toolchain::DebugClient).debug_client()
}

/// Where Node finds what drives a browser, which is there, too.
pub(crate) fn browser() -> PathBuf {
    tier::require(Requirement::Browser);
    Workshop::open(Toolchain::Browser).browser()
}

/// The reader of callgrind's format.
pub(crate) fn callgrind_annotate() -> PathBuf {
    tier::require(Requirement::ProfileReaders);
    workshop::install_valgrind();
    PathBuf::from("/usr/bin/callgrind_annotate")
}

/// The Go toolchain, and a folder for what it has compiled.
pub(crate) fn go() -> (PathBuf, PathBuf) {
    tier::require(Requirement::Go);
    let go = Workshop::open(Toolchain::Go).go();
    let cache = go.ancestors().nth(3).expect("it is in go/bin").join("cache");
    (go, cache)
}

/// The script that makes components of JavaScript.
pub(crate) fn componentizer() -> PathBuf {
    tier::require(Requirement::JavaScript);
    Workshop::open(Toolchain::JavaScript).componentizer()
}

/// The guest that runs other programs, a component: it calls `fozzy:process`, `fozzy:faults` and `fozzy:files`.
pub(crate) fn commands() -> PathBuf {
    static COMMANDS: OnceLock<PathBuf> = OnceLock::new();
    COMMANDS.get_or_init(|| guest("commands", Target::Wasip2)).clone()
}

/// Our C program, a core module with source lines: `tally [-o REPORT] DIR`.
pub(crate) fn c_program() -> PathBuf {
    tier::require(Requirement::C);
    static C_PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    C_PROGRAM.get_or_init(|| Workshop::open(Toolchain::C).compile_c()).clone()
}

/// The program that holds memory across calls, in that language: a core module.
pub(crate) fn holds(language: GuestLanguage) -> PathBuf {
    languages::holds(language)
}

/// A program in C, of that name under `tests/guests/c`, a core module.
pub(crate) fn program_in_c(name: &'static str) -> PathBuf {
    tier::require(Requirement::C);
    Workshop::open(Toolchain::C).program_in_c(name)
}

/// A program in Go, of that folder under `tests/guests`, a core module.
pub(crate) fn program_in_go(name: &'static str) -> PathBuf {
    tier::require(Requirement::Go);
    Workshop::open(Toolchain::Go).program_in_go(name)
}

/// Our C fuzz target, a core module with libFuzzer's entry point.
pub(crate) fn c_fuzz_target() -> PathBuf {
    tier::require(Requirement::C);
    static C_FUZZ_TARGET: OnceLock<PathBuf> = OnceLock::new();
    C_FUZZ_TARGET.get_or_init(|| Workshop::open(Toolchain::C).compile_c_fuzz()).clone()
}

/// Our C program that is called from outside, a core module that says its world: `step`.
pub(crate) fn c_reactor() -> PathBuf {
    tier::require(Requirement::C);
    static C_REACTOR: OnceLock<PathBuf> = OnceLock::new();
    C_REACTOR.get_or_init(|| Workshop::open(Toolchain::C).compile_c_reactor()).clone()
}

/// Our C scenario that calls all of `fozzy.h`, a core module.
pub(crate) fn c_tools() -> PathBuf {
    tier::require(Requirement::C);
    static C_TOOLS: OnceLock<PathBuf> = OnceLock::new();
    C_TOOLS.get_or_init(|| Workshop::open(Toolchain::C).compile_c_tools()).clone()
}

/// The folder that [`Program::dir`] is relative to.
pub(crate) fn data_folder() -> PathBuf {
    guests_folder().join("data")
}

/// What a file must start with to be of that target: the magic, then the version and the layer.
fn header(target: Target) -> &'static [u8] {
    match target {
        Target::Wasip1 => b"\0asm\x01\0\0\0",
        Target::Wasip2 => b"\0asm\x0d\0\x01\0",
    }
}

#[test]
fn every_program_is_of_its_target_and_one_is_large() {
    let mut longest = 0;
    for Program { name, target, module, dir, .. } in programs() {
        let bytes = must(fs::read(module), "read", module);
        assert!(bytes.starts_with(header(*target)), "{name} is not of {target:?}: {:?}", &bytes[..8]);
        assert!(dir.is_none_or(|dir| data_folder().join(dir).is_dir()), "{name} wants {dir:?}, which is not there");
        longest = longest.max(bytes.len());
    }
    assert!(longest >= 1 << 20, "the largest program has {longest} bytes, less than 1 MiB");
}

#[test]
fn the_probe_is_of_its_target() {
    for target in Target::ALL {
        let module = probe(target);
        assert!(must(fs::read(&module), "read", &module).starts_with(header(target)), "{}", module.display());
    }
    let module = c_program();
    assert!(must(fs::read(&module), "read", &module).starts_with(header(Target::Wasip1)), "{}", module.display());
}
