//! `fozzy init`: a folder that builds and passes, to begin with.
//!
//! ```text
//! templates/common ── settings, plans, steps ───┐
//! templates/<one>  ── a scenario, a README    ──┼─▶ DIR, unless one of the files is there already
//! of Rust: the SDK's sources, vendor/fozzy    ──┘
//! ```
//!
//! Invariant: either all files are written, or it is said why not and none of them is new.
//! Not here: how the templates build; their READMEs say it, and `tests/init.rs` does it.

use crate::args::{ExampleArg, InitArgs, TemplateArg};
use crate::context::Context;
use crate::error::{CliError, ErrorKind, at_path};
use fozzy_campaign::sdk;
use fozzy_report::document::InitDocument;
use fozzy_trace::file::store::{Durability, write_atomic};
use std::path::Path;
use std::process::ExitCode;

/// A file: where it goes, and what is in it.
type File = (&'static str, &'static str);

macro_rules! template {
    ($($to:literal = $from:literal),* $(,)?) => {
        &[$(($to, include_str!(concat!("../../templates/", $from)))),*]
    };
}

/// The settings.
const SETTINGS: &str = "fozzy.toml";

/// Folders that are made empty.
const FOLDERS: [&str; 2] = [".fozzy/runs", ".fozzy/corpora"];

const COMMON: &[File] = template![
    "fozzy.toml" = "common/fozzy.toml",
    ".gitignore" = "common/gitignore",
    "tests/example.fozzy.json" = "common/tests/example.fozzy.json",
];

/// The part of that for projects that have no scenarios.
const SETTINGS_ONLY: &[File] = template!["fozzy.toml" = "common/fozzy.toml", ".gitignore" = "common/gitignore"];

const EXAMPLES: &[(ExampleArg, File)] = &[
    (ExampleArg::Run, ("plans/run.toml", include_str!("../../templates/common/plans/run.toml"))),
    (ExampleArg::Run, ("tests/run.pass.fozzy.json", include_str!("../../templates/common/tests/run.pass.fozzy.json"))),
    (ExampleArg::Fuzz, ("corpus/seed.txt", include_str!("../../templates/common/seed.txt"))),
    (
        ExampleArg::Explore,
        ("tests/distributed.pass.fozzy.json", include_str!("../../templates/common/tests/distributed.pass.fozzy.json")),
    ),
    (ExampleArg::Explore, ("plans/explore.toml", include_str!("../../templates/common/plans/explore.toml"))),
    (ExampleArg::Memory, ("plans/memory.toml", include_str!("../../templates/common/plans/memory.toml"))),
    (
        ExampleArg::Memory,
        ("tests/memory.pass.fozzy.json", include_str!("../../templates/common/tests/memory.pass.fozzy.json")),
    ),
    (
        ExampleArg::Host,
        ("tests/host.pass.fozzy.json", include_str!("../../templates/common/tests/host.pass.fozzy.json")),
    ),
    (ExampleArg::Host, ("plans/host.toml", include_str!("../../templates/common/plans/host.toml"))),
];

const MINIMAL: &[File] = template!["scenario.wat" = "minimal/scenario.wat", "README.md" = "minimal/README.md"];

const RUST: &[File] =
    template!["Cargo.toml" = "rust/Cargo.toml.in", "src/lib.rs" = "rust/src/lib.rs", "README.md" = "rust/README.md",];

const C: &[File] = template![
    "scenario.c" = "c/scenario.c",
    "fozzy.h" = "c/fozzy.h",
    "Makefile" = "c/Makefile",
    "expect.toml" = "c/expect.toml",
    "README.md" = "c/README.md",
];

const GO: &[File] = template![
    "main.go" = "go/main.go",
    "fozzy.go" = "go/fozzy.go",
    "go.mod" = "go/go.mod",
    "Makefile" = "go/Makefile",
    "expect.toml" = "go/expect.toml",
    "README.md" = "go/README.md",
];

const JS: &[File] = template![
    "scenario.js" = "js/scenario.js",
    "package.json" = "js/package.json",
    "expect.toml" = "js/expect.toml",
    "README.md" = "js/README.md",
    "wit/world.wit" = "js/wit/world.wit",
    "wit/deps/cli.wit" = "js/wit/deps/cli.wit",
    "wit/deps/clocks.wit" = "js/wit/deps/clocks.wit",
    "wit/deps/filesystem.wit" = "js/wit/deps/filesystem.wit",
    "wit/deps/io.wit" = "js/wit/deps/io.wit",
    "wit/deps/random.wit" = "js/wit/deps/random.wit",
    "wit/deps/sockets.wit" = "js/wit/deps/sockets.wit",
    "wit/deps/fozzy-choices.wit" = "js/wit/deps/fozzy-choices.wit",
    "wit/deps/fozzy-events.wit" = "js/wit/deps/fozzy-events.wit",
    "wit/deps/fozzy-faults.wit" = "js/wit/deps/fozzy-faults.wit",
    "wit/deps/fozzy-files.wit" = "js/wit/deps/fozzy-files.wit",
    "wit/deps/fozzy-history.wit" = "js/wit/deps/fozzy-history.wit",
    "wit/deps/fozzy-http.wit" = "js/wit/deps/fozzy-http.wit",
    "wit/deps/fozzy-memory.wit" = "js/wit/deps/fozzy-memory.wit",
    "wit/deps/fozzy-process.wit" = "js/wit/deps/fozzy-process.wit",
    "wit/deps/fozzy-properties.wit" = "js/wit/deps/fozzy-properties.wit",
    "wit/deps/fozzy-scenario.wit" = "js/wit/deps/fozzy-scenario.wit",
    "wit/deps/fozzy-target.wit" = "js/wit/deps/fozzy-target.wit",
    "wit/deps/fozzy-time.wit" = "js/wit/deps/fozzy-time.wit",
];

const MAELSTROM_RUST: &[File] = template![
    "Cargo.toml" = "maelstrom-rust/Cargo.toml.in",
    "src/main.rs" = "maelstrom-rust/src/main.rs",
    "README.md" = "maelstrom-rust/README.md",
];

const MAELSTROM_GO: &[File] = template![
    "main.go" = "maelstrom-go/main.go",
    "maelstrom.go" = "maelstrom-go/maelstrom.go",
    "go.mod" = "maelstrom-go/go.mod",
    "README.md" = "maelstrom-go/README.md",
];

/// What is done next with nodes.
const MAELSTROM_NEXT: &[&str] = &[
    "fozzy maelstrom test -w echo --bin . --node-count 3",
    "fozzy maelstrom test -w unique-ids --bin . --node-count 3 --nemesis kill,partition",
    "fozzy maelstrom test -w broadcast --bin . --node-count 3 --nemesis partition --latency 20",
];

/// Names of other files that are shown.
const NAMES_SHOWN: usize = 5;

/// What stands for it in the Rust template.
const SDK_MARK: &str = "@SDK@";

pub(crate) fn init(context: &Context, args: &InitArgs) -> Result<ExitCode, CliError> {
    if args.sdk_only {
        sdk::write(&args.folder)?;
        return finish(context, args, Vec::new(), &["fozzy test"], true);
    }
    let (files, next): (_, &[&str]) = match args.template {
        TemplateArg::Minimal => (MINIMAL, &["fozzy run scenario.wat --seed 7", "fozzy test"]),
        TemplateArg::Rust => (RUST, &["fozzy run . --seed 7", "fozzy test", "cargo test"]),
        TemplateArg::C => (C, &["fozzy run . --seed 7", "fozzy test", "make test"]),
        TemplateArg::Go => (GO, &["fozzy run . --seed 7", "fozzy test"]),
        TemplateArg::Js => (JS, &["npm install", "fozzy run . --seed 7", "fozzy test"]),
        TemplateArg::MaelstromRust => (MAELSTROM_RUST, MAELSTROM_NEXT),
        TemplateArg::MaelstromGo => (MAELSTROM_GO, MAELSTROM_NEXT),
    };
    let is_node = matches!(args.template, TemplateArg::MaelstromRust | TemplateArg::MaelstromGo);
    let every = args.all_tests || args.with.contains(&ExampleArg::All);
    let examples = EXAMPLES.iter().filter(|(example, _)| !is_node && (every || args.with.contains(example)));
    let common = if is_node { SETTINGS_ONLY } else { COMMON };
    let files: Vec<&File> = common.iter().chain(files).chain(examples.map(|(_, file)| file)).collect();
    let is_rust = matches!(args.template, TemplateArg::Rust | TemplateArg::MaelstromRust);
    let brings_sdk = is_rust && args.sdk.is_none();
    let sdk_path = args.sdk.as_deref().map_or_else(|| Ok(sdk::CRATE.to_owned()), named_sdk)?;
    // As in version 1, settings go where --config says that they are; not into another project.
    let settings = Some(&context.globals.config).filter(|path| path.is_relative());
    let settings = settings.map_or_else(|| SETTINGS.to_owned(), |path| path.display().to_string());
    let named = |name: &str| if name == SETTINGS { settings.clone() } else { name.to_owned() };
    let path_of = |name: &str| args.folder.join(named(name));
    if !args.force {
        let names = files.iter().map(|(name, _)| *name).chain(brings_sdk.then_some(sdk::FOLDER));
        let there = names.map(path_of).find(|path| path.symlink_metadata().is_ok());
        if let Some(path) = there {
            let message = format!("{} is there already, and nothing was written", path.display());
            return Err(
                CliError::new(ErrorKind::Init, message).hint("another folder, or --force to write over what is there")
            );
        }
    }
    let left = others_in(&args.folder, files.iter().map(|(name, _)| named(name)).collect());
    let mut fresh = Vec::new();
    for (name, text) in &files {
        let path = path_of(name);
        let is_fresh = path.symlink_metadata().is_err();
        let written = write(&path, &text.replace(SDK_MARK, &sdk_path));
        // All of it or nothing: half a project passes no test, and is in the way of the next try.
        written.inspect_err(|_| fresh.iter().for_each(|path| drop(std::fs::remove_file(path))))?;
        fresh.extend(is_fresh.then_some(path));
    }
    // Where version 1 has them, for scripts that put something there.
    for folder in FOLDERS.map(|folder| args.folder.join(folder)) {
        std::fs::create_dir_all(&folder).map_err(|error| at_path(ErrorKind::Init, "cannot create", &folder, &error))?;
    }
    if brings_sdk {
        sdk::write(&args.folder).inspect_err(|_| fresh.iter().for_each(|path| drop(std::fs::remove_file(path))))?;
    }
    if let Some(left) = left {
        context.printer.remark(&format!("{left} were there already and stay as they are\n"));
    }
    finish(context, args, files.iter().map(|(name, _)| named(name)).collect(), next, brings_sdk)
}

/// What stands in a folder beside the files that are about to be written, in words.
fn others_in(folder: &Path, ours: Vec<String>) -> Option<String> {
    let is_ours = |name: &str| {
        let first = |path: &String| path.split('/').next() == Some(name);
        ours.iter().any(first) || name == ".fozzy" || name == ".git"
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.retain(|name| !is_ours(name));
    names.sort();
    match names.len() {
        0 => None,
        1..=NAMES_SHOWN => Some(names.join(", ")),
        more => Some(format!("{} and {} more", names[..NAMES_SHOWN].join(", "), more - NAMES_SHOWN)),
    }
}

/// Says what was written, and what comes next.
fn finish(
    context: &Context,
    args: &InitArgs,
    files: Vec<String>,
    next: &[&str],
    has_sdk: bool,
) -> Result<ExitCode, CliError> {
    let template = if args.sdk_only { TemplateArg::Rust } else { args.template }.name().to_owned();
    context.printer.document(&InitDocument {
        folder: args.folder.display().to_string(),
        template,
        files,
        sdk: has_sdk.then(|| sdk::FOLDER.to_owned()),
        next: next.iter().map(|line| (*line).to_owned()).collect(),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    let refused = |error| at_path(ErrorKind::Init, "cannot write", path, &error);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(refused)?;
    }
    write_atomic(path, text.as_bytes(), Durability::Cached).map_err(refused)
}

/// The folder of an SDK that was named, as it stands in a manifest.
fn named_sdk(folder: &Path) -> Result<String, CliError> {
    let advice =
        "--sdk FOLDER is the folder guest-sdk of a clone of Fozzy; without it the SDK of this version is written";
    let folder = folder
        .canonicalize()
        .map_err(|error| at_path(ErrorKind::Init, "cannot find the SDK", folder, &error).hint(advice))?;
    if !folder.join("Cargo.toml").is_file() {
        return Err(CliError::new(ErrorKind::Init, format!("{} has no Cargo.toml", folder.display())).hint(advice));
    }
    let text = folder.to_str().filter(|text| !text.contains(['"', '\\', '\n']));
    let text =
        text.ok_or_else(|| CliError::new(ErrorKind::Init, "the SDK's path cannot stand in a Cargo.toml").hint(advice))?;
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_node_in_go_has_the_library_of_the_scenarios() {
        let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/maelstrom-go/maelstrom.go");
        let library = std::fs::read_to_string(library).expect("a clone");
        assert!(MAELSTROM_GO.contains(&("maelstrom.go", &library)), "templates/maelstrom-go/maelstrom.go");
    }

    #[test]
    fn the_javascript_template_has_all_of_our_packages() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../wit/deps");
        for entry in std::fs::read_dir(folder).expect("wit/deps").flatten() {
            let name = format!("wit/deps/{}", entry.file_name().to_string_lossy());
            let is_there = JS.iter().any(|(known, _)| *known == name);
            // What imports of preview 1 become is for no author, and a model is no scenario.
            let others = ["fozzy-preview1.wit", "fozzy-model.wit"];
            let is_ours = name.contains("fozzy-") && !others.iter().any(|other| name.ends_with(other));
            assert!(is_there || !is_ours, "{name} is not in the template");
        }
    }
}
