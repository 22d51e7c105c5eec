//! Guests in Rust: the scenarios and our own programs. One call of cargo builds all of a workspace, on all cores.
//!
//! ```text
//! scenarios/Cargo.toml      --workspace                     ─▶ guests/wasm32-wasip2/bank.wasm
//!                           --workspace --features fixed    ─▶ guests/wasm32-wasip2/bank-fixed.wasm
//! tests/guests/Cargo.toml   --workspace --exclude bare      ─▶ guests/wasm32-wasip2/probe.wasm
//!                           --package bare                  ─▶ guests/wasm32-wasip2/bare.wasm     the SDK without std
//!                           --package probe                 ─▶ guests/wasm32-wasip1/probe.wasm
//! ```
//!
//! Cargo itself knows what of a workspace is fresh; a stamp only spares asking it.

use super::Target;
use super::workshop::{Workshop, is_current, must, need_target, run, sources};
use crate::fozzy::repository;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// What one call of cargo builds.
pub(super) struct Batch {
    /// For its stamp, and for whoever waits.
    name: &'static str,
    /// The folder of the workspace, in the repository.
    workspace: &'static str,
    target: Target,
    arguments: &'static [&'static str],
    /// What the names of its files end with.
    suffix: &'static str,
}

const SCENARIOS: Batch = Batch {
    name: "the scenarios",
    workspace: "scenarios",
    target: Target::Wasip2,
    arguments: &["--workspace"],
    suffix: "",
};

const FIXED: Batch = Batch {
    name: "the scenarios without their faults",
    arguments: &["--workspace", "--features=fixed"],
    suffix: "-fixed",
    ..SCENARIOS
};

const GUESTS: Batch = Batch {
    name: "the guests",
    workspace: "tests/guests",
    target: Target::Wasip2,
    arguments: &["--workspace", "--exclude=bare"],
    suffix: "",
};

/// Apart, because a feature that one package of a call asks for is there for all of them.
const BARE: Batch = Batch { name: "the guest without std", arguments: &["--package=bare"], ..GUESTS };

const PROBE: Batch = Batch { name: "the probe", target: Target::Wasip1, arguments: &["--package=probe"], ..GUESTS };

const ODD_NODE: Batch = Batch { name: "the odd node", arguments: &["--package=odd-node"], ..PROBE };

impl Batch {
    /// The batch of a guest of that folder.
    pub(super) fn of_guest(folder: &str, target: Target) -> &'static Batch {
        match (folder, target) {
            ("bare", Target::Wasip2) => &BARE,
            (_, Target::Wasip2) => &GUESTS,
            ("probe", Target::Wasip1) => &PROBE,
            ("odd-node", Target::Wasip1) => &ODD_NODE,
            (_, Target::Wasip1) => unreachable!("{folder} is built as a component only"),
        }
    }

    /// The batch of a scenario.
    pub(super) fn of_scenario(fixed: bool) -> &'static Batch {
        if fixed { &FIXED } else { &SCENARIOS }
    }
}

impl Workshop {
    /// The module of a package of that batch; all of the batch is built.
    pub(super) fn batch(&self, batch: &Batch, folder: &str) -> PathBuf {
        static BUILT: Mutex<BTreeSet<&str>> = Mutex::new(BTreeSet::new());
        need_target(batch.target);
        let module = self.folder(batch.target).join(format!("{folder}{}.wasm", batch.suffix));
        if !BUILT.lock().expect("nobody panics with it").contains(batch.name) {
            self.build(batch);
            BUILT.lock().expect("nobody panics with it").insert(batch.name);
        }
        assert!(module.is_file(), "{}/{folder} is no program that is built as one of {}", batch.workspace, batch.name);
        module
    }

    fn build(&self, batch: &Batch) {
        let root = repository().join(batch.workspace);
        // Our WIT, the SDK, and interfaces that a workspace has from the other one.
        let read = ["wit", "guest-sdk/src", "guest-sdk/macros/src", "scenarios/kv-store/wit", "scenarios/kv-node/wit"];
        let shared = read.map(|folder| sources(&repository().join(folder))).join("\n");
        let inputs = format!("{}\n{shared}\n{:?} {}", sources(&root), batch.arguments, self.rustc);
        let modules = self.folder(batch.target);
        let stamped = modules.join(batch.name);
        if is_current(&stamped, &inputs) {
            return;
        }
        self.renew(&stamped, &inputs, || {
            // One folder for both workspaces: a crate of others that both use is compiled once. Programs are copied from it at once.
            let mut cargo = self.cargo(&self.intermediate("rust"));
            cargo.args(["build", "--release", "--locked", "--message-format=json-render-diagnostics"]);
            cargo.args(["--target", batch.target.triple()]).args(batch.arguments).current_dir(&root);
            for (folder, built) in artifacts(&run(&mut cargo).stdout) {
                must(fs::copy(&built, modules.join(format!("{folder}{}.wasm", batch.suffix))), "copy", &built);
            }
        });
    }
}

/// The programs among the messages of cargo, each with the folder of its package.
fn artifacts(messages: &[u8]) -> Vec<(String, PathBuf)> {
    let mut found = Vec::new();
    for message in messages.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let message: Value = serde_json::from_slice(message).expect("a line of cargo is JSON");
        let files = message["filenames"].as_array().map(Vec::as_slice).unwrap_or_default();
        let program = files.iter().filter_map(Value::as_str).find(|file| file.ends_with(".wasm"));
        let manifest = message["manifest_path"].as_str().and_then(|path| Path::new(path).parent());
        if let (Some(program), Some(folder)) = (program, manifest.and_then(Path::file_name)) {
            found.push((folder.to_string_lossy().into_owned(), PathBuf::from(program)));
        }
    }
    found
}
