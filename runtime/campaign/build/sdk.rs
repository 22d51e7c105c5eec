//! The sources of the Rust SDK, as a table that the command embeds: a project that `fozzy init` writes has them beside it.
//!
//! ```text
//! guest-sdk/, runtime/trace/ ─ without tests, manifests without a workspace ─▶ OUT_DIR/sdk.txt ─▶ src/embedded.rs
//!
//! @@ guest-sdk/Cargo.toml
//! [package]
//! …
//! ```
//!
//! Invariants: the same sources give the same bytes; no path of this machine is in them. What a manifest inherits from the workspace is
//! written out, so that the crates can be part of any workspace.
//! Not here: how they are written into a project (`src/sdk.rs`).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a line begins with that names the file after it. No line of a source does.
const MARK: &str = "@@ ";

/// Crates of the SDK, by their folders.
pub(crate) const CRATES: [&str; 8] = [
    "guest-sdk",
    "guest-sdk/antithesis/libloading",
    "guest-sdk/antithesis/linkme",
    "guest-sdk/antithesis/linkme-macros",
    "guest-sdk/macros",
    "guest-sdk/maelstrom",
    "guest-sdk/wasi-net",
    "runtime/trace",
];

/// Parts of sources that no program with the SDK has: the feature `file` of the trace crate.
const LEFT_OUT: [&str; 2] = ["runtime/trace/src/file.rs", "runtime/trace/src/file/"];

/// All files as one text.
pub(crate) fn pack(repository: &Path) -> Result<String, String> {
    let workspace = Workspace::of(&read(&repository.join("Cargo.toml"))?);
    let mut packed = String::new();
    let mut add = |name: &str, text: &str| {
        if text.lines().any(|line| line.starts_with(MARK)) {
            return Err(format!("{name}: a line begins with `{MARK}`"));
        }
        packed.push_str(&format!("{MARK}{name}\n{}\n", text.trim_end()));
        Ok(())
    };
    for folder in CRATES {
        let manifest = read(&repository.join(folder).join("Cargo.toml"))?;
        let up = "../".repeat(folder.split('/').count());
        add(&format!("{folder}/Cargo.toml"), &workspace.written_out(&manifest, &up)?)?;
        let mut sources = Vec::new();
        walk(&repository.join(folder).join("src"), &mut sources)?;
        sources.sort();
        for path in sources {
            let name =
                path.strip_prefix(repository).map_err(|error| error.to_string())?.to_string_lossy().replace('\\', "/");
            if !LEFT_OUT.iter().any(|part| name.starts_with(part)) {
                add(&name, &without_tests(&read(&path)?))?;
            }
        }
    }
    add("LICENSE", &read(&repository.join("LICENSE"))?)?;
    Ok(packed)
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Sources below a folder; files of tests are none.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_test = path.file_stem().is_some_and(|stem| stem == "tests");
        if path.is_dir() && !is_test {
            walk(&path, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") && !is_test {
            found.push(path);
        }
    }
    Ok(())
}

/// A source without its tests: a module that is declared, wherever that is, and one that is written out, which stands last.
fn without_tests(source: &str) -> String {
    let mut lines: Vec<&str> = Vec::new();
    for line in source.lines() {
        let is_module = line.starts_with("mod tests") || line.starts_with("mod test_");
        if is_module {
            // Its attributes go with it.
            while lines.last().is_some_and(|line| line.starts_with("#[") && line.ends_with(']')) {
                lines.pop();
            }
            if !line.ends_with(';') {
                break;
            }
            continue;
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// What manifests of members inherit.
struct Workspace {
    package: BTreeMap<String, String>,
    dependencies: BTreeMap<String, String>,
}

impl Workspace {
    fn of(manifest: &str) -> Workspace {
        let section = |name: &str| {
            let lines = manifest.lines().skip_while(|line| *line != name).skip(1);
            let lines = lines.take_while(|line| !line.starts_with('['));
            let rows = lines.filter_map(|line| line.split_once(" = "));
            rows.map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
        };
        Workspace { package: section("[workspace.package]"), dependencies: section("[workspace.dependencies]") }
    }

    /// A manifest that inherits nothing, without what only this repository needs. `up` leads from its folder to the repository's.
    fn written_out(&self, manifest: &str, up: &str) -> Result<String, String> {
        let mut out = String::new();
        let mut section = "";
        for line in manifest.lines() {
            section = if line.starts_with('[') { line } else { section };
            let is_default = line.starts_with("default = [\"file\"]");
            if section == "[dev-dependencies]" || section == "[lints]" || is_default {
                continue;
            }
            // The compiler is to know the name of what is left out.
            let line = if line.starts_with("file = [") { "file = []" } else { line };
            out.push_str(&self.line(line, section, up)?);
            out.push('\n');
        }
        Ok(out)
    }

    fn line(&self, line: &str, section: &str, up: &str) -> Result<String, String> {
        let known = |of: &BTreeMap<String, String>, key: &str| {
            of.get(key).cloned().ok_or_else(|| format!("the workspace has no `{key}`"))
        };
        let Some((key, rest)) = line.split_once([' ', '.']) else { return Ok(line.to_owned()) };
        if rest == "workspace = true" {
            let of = if section == "[package]" { &self.package } else { &self.dependencies };
            return Ok(format!("{key} = {}", rebased(&known(of, key)?, up)));
        }
        let Some(more) = rest.strip_prefix("= { workspace = true").and_then(|more| more.strip_suffix(" }")) else {
            return Ok(line.to_owned());
        };
        let value = rebased(&known(&self.dependencies, key)?, up);
        let inner = match value.strip_prefix("{ ").and_then(|value| value.strip_suffix(" }")) {
            Some(inner) => inner.to_owned(),
            None => format!("version = {value}"),
        };
        Ok(format!("{key} = {{ {inner}{more} }}"))
    }
}

/// A dependency of this repository, as it is named from the folder of a crate.
fn rebased(value: &str, up: &str) -> String {
    value.replace("path = \"", &format!("path = \"{up}"))
}
