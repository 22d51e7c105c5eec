//! Which tests this run has: those that leave the machine as it is, or all.
//!
//! ```text
//! cargo test                tier one: what Rust alone builds; a test that needs more is skipped, and counted
//! FOZZY_TIER=2 cargo test   tier two: everything; what is missing on the machine is installed, and nothing is skipped
//! ```
//!
//! A test says what it needs where it gets it: [`require`] ends it as skipped, never as passed. Not here: how skipped tests are
//! reported, which is `harness`.

use std::fmt;
use std::panic;
use std::sync::OnceLock;

/// Chooses the tier.
pub(crate) const VARIABLE: &str = "FOZZY_TIER";

/// What a test may need beside Rust. The order is that of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Requirement {
    /// Published programs, compiled from their sources.
    Registry,
    /// clang and wasi-libc.
    C,
    /// A Go toolchain.
    Go,
    /// Node and componentize-js.
    JavaScript,
    /// AssemblyScript's compiler.
    AssemblyScript,
    /// Zig's compiler.
    Zig,
    /// Readers of formats of profiles: speedscope's schema, valgrind's `callgrind_annotate`, the messages of OpenTelemetry.
    ProfileReaders,
    /// An editor's side of the Debug Adapter Protocol.
    DebugClient,
    /// Chromium, and what drives it.
    Browser,
    /// A Redis server.
    Redis,
    /// Readers of units and manifests: systemd's own, and the schemas of Kubernetes.
    DeployReaders,
    /// The standard library for a target that the toolchain does not have.
    Target(&'static str),
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Requirement::Registry => "programs of the crate registry",
            Requirement::C => "clang and wasi-libc",
            Requirement::Go => "Go",
            Requirement::JavaScript => "Node and componentize-js",
            Requirement::AssemblyScript => "Node and AssemblyScript",
            Requirement::Zig => "Zig",
            Requirement::ProfileReaders => "speedscope, valgrind and opentelemetry-proto",
            Requirement::DebugClient => "Node and a client of the Debug Adapter Protocol",
            Requirement::Browser => "Node, playwright and Chromium",
            Requirement::Redis => "redis-server",
            Requirement::DeployReaders => "systemd-analyze and kubernetes-validate",
            Requirement::Target(triple) => return write!(f, "the target {triple} (rustup target add {triple})"),
        })
    }
}

/// Whether everything runs, and what is missing may be installed.
pub(crate) fn is_two() -> bool {
    static TWO: OnceLock<bool> = OnceLock::new();
    *TWO.get_or_init(|| match std::env::var(VARIABLE).as_deref() {
        Err(_) | Ok("" | "1") => false,
        Ok("2") => true,
        Ok(other) => panic!("{VARIABLE}={other}: expected 1 or 2"),
    })
}

/// Goes on in tier two. In tier one, ends this test as skipped.
pub(crate) fn require(need: Requirement) {
    if !is_two() {
        panic::resume_unwind(Box::new(need));
    }
}
