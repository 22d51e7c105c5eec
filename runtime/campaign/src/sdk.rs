//! The Rust SDK in the command: its sources at the command's own version, which a project has beside it.
//!
//! ```text
//! project/
//!   Cargo.toml               fozzy-sdk = { path = "vendor/fozzy/guest-sdk" }
//!   vendor/fozzy/VERSION     which sources these are
//!   vendor/fozzy/guest-sdk   the SDK, its macros, its WASI shim and its library for nodes;  vendor/fozzy/runtime/trace: what it needs natively
//! ```
//!
//! So a project builds on every machine, and on none it needs a clone of Fozzy.
//!
//! Invariants: a project of another version builds, with a message; nothing outside of `vendor/fozzy` is written.
//! Not here: how the sources come into the command (`build/sdk.rs`).

use crate::embedded::SDK;
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::remarks::Remarks;
use fozzy_trace::Digest;
use fozzy_trace::file::store::{Durability, write_atomic};
use std::path::Path;

/// Where it is in a project.
pub const FOLDER: &str = "vendor/fozzy";

/// The crate in it that scenarios depend on.
pub const CRATE: &str = "vendor/fozzy/guest-sdk";

/// What a line begins with that names the file after it.
const MARK: &str = "@@ ";

const README: &str = "# The SDK of Fozzy

Sources of the crates that scenarios in Rust are written with, at the version of the `fozzy` that wrote them (`VERSION`). Commit them: so
the project builds on every machine. After an update of `fozzy`, `fozzy init . --sdk-only` writes those of the new version; nothing
here is to be edited. `cargo doc --open -p fozzy-sdk` shows what there is.
";

/// Which sources these are: two builds of one version may differ.
fn version() -> String {
    format!("{} {}\n", env!("CARGO_PKG_VERSION"), Digest::of(SDK.bytes()))
}

/// Every file: its name below [`FOLDER`], and its text.
fn files<'a>() -> impl Iterator<Item = (&'a str, &'a str)> {
    let packed = std::str::from_utf8(SDK.bytes()).expect("sources are text");
    let parts = packed.strip_prefix(MARK).unwrap_or(packed).split("\n@@ ");
    parts.filter_map(|part| part.split_once('\n'))
}

/// Writes it into a project, in the place of the one that is there.
///
/// # Errors
/// When it cannot be written.
pub fn write(project: &Path) -> Result<(), CampaignError> {
    let folder = project.join(FOLDER);
    let refused = |error| at_path(ErrorKind::Store, "cannot write", &folder, &error);
    for old in ["guest-sdk", "runtime"] {
        match std::fs::remove_dir_all(folder.join(old)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(refused(error)),
            _ => {}
        }
    }
    let version = version();
    for (name, text) in files().chain([("README.md", README), ("VERSION", &*version)]) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&folder)).map_err(refused)?;
        write_atomic(&path, format!("{}\n", text.trim_end()).as_bytes(), Durability::Cached).map_err(refused)?;
    }
    Ok(())
}

/// Says when a project has the SDK of another version than this one.
pub(crate) fn remark(project: &Path, remarks: &Remarks) {
    let Ok(found) = std::fs::read_to_string(project.join(FOLDER).join("VERSION")) else { return };
    if found != version() {
        let other: String = found.split_whitespace().next().unwrap_or("?").chars().take(32).collect();
        let line = match other == env!("CARGO_PKG_VERSION") {
            true => format!("{FOLDER} is the SDK of another build of fozzy {other}"),
            false => format!("{FOLDER} is the SDK of fozzy {other}, and this is {}", env!("CARGO_PKG_VERSION")),
        };
        let folder = fozzy_report::shell_path(project);
        remarks.text(&format!("note: {line}; `fozzy init {folder} --sdk-only` brings it up to date\n"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    #[test]
    fn the_sources_are_whole_and_name_nothing_of_this_machine() {
        let files: BTreeMap<&str, &str> = files().collect();
        for name in ["guest-sdk/src/lib.rs", "guest-sdk/macros/src/lib.rs", "guest-sdk/wasi-net/src/lib.rs", "LICENSE"]
        {
            assert!(files.contains_key(name), "{name} is missing");
        }
        for (name, text) in &files {
            assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "{name}");
            assert!(!text.contains("\nmod tests"), "{name} has tests");
            let is_manifest = name.ends_with("Cargo.toml");
            assert!(!is_manifest || !text.contains("workspace"), "{name} inherits:\n{text}");
            assert!(!is_manifest || text.parse::<toml::Table>().is_ok(), "{name} is no TOML:\n{text}");
        }
        let sdk: toml::Table = files["guest-sdk/Cargo.toml"].parse().expect("TOML");
        let natively = &sdk["target"]["cfg(not(target_arch = \"wasm32\"))"]["dependencies"]["fozzy-trace"];
        assert_eq!(natively["path"].as_str(), Some("../runtime/trace"));
        assert_eq!(sdk["package"]["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
        assert_eq!(sdk["dependencies"]["regex-syntax"]["optional"].as_bool(), Some(true));
    }

    #[test]
    fn another_version_is_said_and_an_update_takes_its_place() {
        let project = tempfile::tempdir().expect("a folder");
        let said = || {
            let said = Arc::new(Mutex::new(String::new()));
            let into = Arc::clone(&said);
            let remarks =
                Remarks::to(move |bytes| into.lock().expect("whole").push_str(&String::from_utf8_lossy(bytes)));
            remark(project.path(), &remarks);
            said.lock().expect("whole").clone()
        };
        assert_eq!(said(), "");
        write(project.path()).expect("it is written");
        assert_eq!(said(), "");
        let stale = project.path().join(FOLDER).join("guest-sdk/src/gone.rs");
        std::fs::write(&stale, "old").expect("a file");
        std::fs::write(project.path().join(FOLDER).join("VERSION"), "0.0.9 abc\n").expect("a file");
        assert!(said().contains("the SDK of fozzy 0.0.9, and this is"), "{}", said());
        write(project.path()).expect("it is written");
        assert_eq!((said(), stale.exists()), (String::new(), false));
    }
}
