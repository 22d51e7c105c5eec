//! A folder becomes a program: a crate with the user's own cargo, another one as its expect.toml says, or as its language is built.
//!
//! ```text
//! Cargo.toml    cargo build --target wasm32-wasip2 --release --message-format=json-render-diagnostics
//!                  └─▶ the compiler's messages go to stderr as they are; the artifact's path comes as JSON
//! expect.toml   build = "make"  ─▶ sh, in the folder ─▶ program = "ring.wasm"
//! go.mod        GOOS=wasip1 GOARCH=wasm go build ─▶ FOLDER.wasm
//! Makefile      make ─▶ the one .wasm file of the folder
//! ```
//!
//! Cargo itself decides what is fresh, and so does the command of a recipe. A missing standard library for the target is
//! added with rustup, as the README promises that a fresh machine needs no further command.
//!
//! Invariant: what a build prints goes to stderr; stdout is the report's.

use crate::error::{CampaignError, ErrorKind, at_path};
use crate::remarks::Remarks;
use crate::sdk;
use crate::suite::expect::{Recipe, recipe};
use fozzy_report::{shell_path, shell_word};
use serde::Deserialize;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "wasm32-wasip2";

/// A line of cargo's JSON messages, with the fields that we read.
#[derive(Deserialize)]
struct Message {
    reason: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    #[serde(default)]
    executable: Option<PathBuf>,
    #[serde(default)]
    manifest_path: Option<PathBuf>,
}

/// Builds what is in `folder` and returns its wasm file.
pub fn build(folder: &Path, remarks: &Remarks) -> Result<PathBuf, CampaignError> {
    if let Some(recipe) = recipe(folder)? {
        return make(folder, recipe, remarks);
    }
    if let Some(language) = OtherLanguage::of(folder) {
        return language.build(folder, remarks);
    }
    if !folder.join("Cargo.toml").is_file() {
        let message = format!(
            "{} is a folder without a Cargo.toml, a go.mod or a Makefile, and without an expect.toml that names its `program`",
            folder.display()
        );
        let hint = "name a .wasm file or the folder of a crate; in another folder, expect.toml says `program = \"app.wasm\"` and \
                    `build = \"make\"`";
        return Err(
            CampaignError::new(ErrorKind::Target, message).hint(plan_hint(folder).unwrap_or_else(|| hint.to_owned()))
        );
    }
    add_target(folder, TARGET, remarks)?;
    sdk::remark(folder, remarks);
    CargoBuild { folder, target: TARGET, arguments: &[], environment: &[] }.build()
}

/// The wasm file that a folder was built to before. Nothing is started: neither the command of a recipe, nor cargo, which would run
/// what the folder says.
pub fn built(folder: &Path) -> Result<PathBuf, CampaignError> {
    if let Some(Recipe { program, build }) = recipe(folder)? {
        return match program.is_file() {
            true => Ok(program),
            false => Err(not_built(&program, build.as_deref().unwrap_or("make"), folder)),
        };
    }
    if let Some(language) = OtherLanguage::of(folder) {
        return language.program(folder).map_err(|why| {
            let line = format!("cd {} && {}", shell_path(folder), language.command(folder));
            CampaignError::new(
                ErrorKind::Target,
                format!("{why}, and this command builds nothing: it starts no program"),
            )
            .hint(format!("build it first: {line}"))
        });
    }
    let failed = |path: &Path, error: &std::io::Error| at_path(ErrorKind::Target, "cannot read", path, error);
    let manifest = folder.join("Cargo.toml");
    let text = std::fs::read_to_string(&manifest).map_err(|error| failed(&manifest, &error))?;
    let parsed: Package = toml::from_str(&text).map_err(|error| {
        CampaignError::new(ErrorKind::Target, format!("{}: {}", manifest.display(), error.message()))
    })?;
    let names = [format!("{}.wasm", parsed.package.name), format!("{}.wasm", parsed.package.name.replace('-', "_"))];
    let here = folder.canonicalize().map_err(|error| failed(folder, &error))?;
    let told = cargo_target_dir();
    let releases = target_folders(&here, told.as_deref()).map(|target| target.join(TARGET).join("release"));
    let found = releases.flat_map(|release| names.clone().map(|name| release.join(name))).find(|path| path.is_file());
    let own = folder.join(told.as_deref().unwrap_or(Path::new("target")));
    let expected = || own.join(TARGET).join("release").join(&names[0]);
    found.ok_or_else(|| not_built(&expected(), &format!("cargo build --release --target {TARGET}"), folder))
}

/// Where cargo builds what is `here`: where it was `told` to, and nowhere else, so that nothing older is taken; otherwise in the root of the
/// workspace, which is one of the folders above.
fn target_folders(here: &Path, told: Option<&Path>) -> impl Iterator<Item = PathBuf> {
    let above = here.ancestors().filter(move |_| told.is_none()).map(|folder| folder.join("target"));
    told.map(|target| here.join(target)).into_iter().chain(above)
}

/// Where cargo was told to build everything; seen from the folder in which it is started, which is that of the crate.
#[allow(clippy::disallowed_methods, reason = "where a program is; it cannot change what the program does")]
fn cargo_target_dir() -> Option<PathBuf> {
    let told = ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET_DIR"].into_iter().filter_map(std::env::var_os);
    told.map(PathBuf::from).find(|target| !target.as_os_str().is_empty())
}

/// What of a manifest says how the program is called.
#[derive(Deserialize)]
#[serde(expecting = "a table")]
struct Package {
    package: PackageName,
}

#[derive(Deserialize)]
#[serde(expecting = "a table")]
struct PackageName {
    name: String,
}

fn not_built(missing: &Path, line: &str, folder: &Path) -> CampaignError {
    let message = format!("{} is not there, and this command builds nothing: it starts no program", missing.display());
    CampaignError::new(ErrorKind::Target, message).hint(format!("build it first: cd {} && {line}", shell_path(folder)))
}

/// Programs that are neither crates nor have a recipe, by the file that says how their language is built.
#[derive(Clone, Copy)]
enum OtherLanguage {
    /// A module of Go, with `go.mod`.
    Go,
    /// Whatever a `Makefile` makes.
    Make,
}

impl OtherLanguage {
    /// That of a folder which is no crate.
    fn of(folder: &Path) -> Option<OtherLanguage> {
        let has = |name: &str| folder.join(name).is_file();
        match () {
            () if has("Cargo.toml") => None,
            () if has("go.mod") => Some(OtherLanguage::Go),
            () if has("Makefile") || has("makefile") || has("GNUmakefile") => Some(OtherLanguage::Make),
            () => None,
        }
    }

    /// A line for `sh`, run in the folder.
    fn command(self, folder: &Path) -> String {
        match self {
            OtherLanguage::Go => {
                let program = shell_path(&go_program(folder));
                format!("GOOS=wasip1 GOARCH=wasm go build -buildvcs=false -o {program} .")
            }
            OtherLanguage::Make => "make".to_owned(),
        }
    }

    /// What the command leaves, or why it is not known.
    fn program(self, folder: &Path) -> Result<PathBuf, String> {
        if let OtherLanguage::Go = self {
            let program = folder.join(go_program(folder));
            return if program.is_file() { Ok(program) } else { Err(format!("{} is not there", program.display())) };
        }
        let entries =
            std::fs::read_dir(folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
        let is_wasm = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "wasm") && path.is_file();
        let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_wasm).collect();
        found.sort();
        match found.as_slice() {
            [file] => Ok(file.clone()),
            [] => Err(format!("{} has no .wasm file", folder.display())),
            several => {
                let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
                Err(format!("{} has several .wasm files: {}", folder.display(), names.join(", ")))
            }
        }
    }

    fn build(self, folder: &Path, remarks: &Remarks) -> Result<PathBuf, CampaignError> {
        follow(folder, &self.command(folder), remarks)?;
        self.program(folder).map_err(|why| {
            CampaignError::new(ErrorKind::Build, format!("{why}, and `{}` should leave one", self.command(folder)))
                .hint("name the file, or say in expect.toml which it is: program = \"app.wasm\"")
        })
    }
}

/// What a module of Go becomes: it is called as its folder.
fn go_program(folder: &Path) -> PathBuf {
    let whole = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = whole.file_name().map_or_else(|| "program".into(), |name| name.to_string_lossy().into_owned());
    PathBuf::from(format!("{name}.wasm"))
}

/// Runs a line for `sh` in a folder.
fn follow(folder: &Path, line: &str, remarks: &Remarks) -> Result<(), CampaignError> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).stdin(Stdio::null());
    let made = remarks.while_busy(&format!("building {}: {line}", folder.display()), || command.output());
    let made = made.map_err(|error| {
        CampaignError::new(ErrorKind::Build, format!("cannot start sh to build {}: {error}", folder.display()))
    })?;
    remarks.bytes(&made.stdout);
    remarks.bytes(&made.stderr);
    if made.status.success() {
        return Ok(());
    }
    let message = format!("{} does not build ({}); what its command said is above", folder.display(), made.status);
    let again = format!("cd {} && {line}", shell_path(folder));
    Err(CampaignError::new(ErrorKind::Build, message).hint(again))
}

/// Follows a recipe.
fn make(folder: &Path, Recipe { build, program }: Recipe, remarks: &Remarks) -> Result<PathBuf, CampaignError> {
    if let Some(line) = &build {
        follow(folder, line, remarks)?;
    }
    if program.is_file() {
        return Ok(program);
    }
    let message = format!(
        "{} is not there, and {} names it as the program",
        program.display(),
        folder.join("expect.toml").display()
    );
    let hint = build
        .map_or_else(|| "say how it is made: build = \"make\"".to_owned(), |line| format!("`{line}` should make it"));
    Err(CampaignError::new(ErrorKind::Build, message).hint(hint))
}

/// How a package is built.
pub struct CargoBuild<'a> {
    /// The folder of the package.
    pub folder: &'a Path,
    /// The target that it is built for.
    pub target: &'a str,
    /// Further arguments of cargo.
    pub arguments: &'a [&'a str],
    /// Further variables; with any, the user's own flags for the compiler, which are for another target, are left out.
    pub environment: &'a [(&'a str, &'a OsStr)],
}

impl CargoBuild<'_> {
    /// Builds it, and returns its wasm file.
    pub fn build(&self) -> Result<PathBuf, CampaignError> {
        let CargoBuild { folder, target, arguments, environment } = *self;
        let mut cargo = Command::new("cargo");
        cargo
            .args(["build", "--release", "--target", target, "--message-format=json-render-diagnostics"])
            .args(arguments)
            .envs(environment.iter().copied())
            .current_dir(folder)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit());
        if !environment.is_empty() {
            cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        }
        let built = cargo.output().map_err(|error| {
            CampaignError::new(ErrorKind::Build, format!("cannot start cargo to build {}: {error}", folder.display()))
        })?;
        if !built.status.success() {
            let message =
                format!("{} does not build for {target}; the compiler's messages are above", folder.display());
            let place = shell_path(folder);
            let command = format!("cd {place} && cargo build --release --target {target}");
            return Err(CampaignError::new(ErrorKind::Build, message).hint(command));
        }
        artifact(folder, &built.stdout)
    }
}

/// What to do with a folder that has no program, but a plan.
fn plan_hint(folder: &Path) -> Option<String> {
    let plan = folder.join("plan.toml");
    plan.is_file().then(|| format!("a plan that names its clients is a target: fozzy run {}", shell_path(&plan)))
}

/// The wasm file among the messages of cargo.
fn artifact(folder: &Path, messages: &[u8]) -> Result<PathBuf, CampaignError> {
    let manifest = folder.join("Cargo.toml").canonicalize().ok();
    let mut files: Vec<PathBuf> = Vec::new();
    for line in messages.split(|byte| *byte == b'\n') {
        let Ok(message) = serde_json::from_slice::<Message>(line) else { continue };
        if message.reason != "compiler-artifact" || message.manifest_path != manifest {
            continue;
        }
        let is_wasm = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "wasm");
        files.extend(message.executable.into_iter().chain(message.filenames).filter(is_wasm));
    }
    files.sort();
    files.dedup();
    match files.as_slice() {
        [file] => Ok(file.clone()),
        [] => {
            let message = format!("{} builds no program: expected one binary or cdylib", folder.display());
            // It builds, and is a library.
            let error = CampaignError::new(ErrorKind::Target, message);
            Err(match plan_hint(folder) {
                Some(hint) => error.hint(hint),
                None => error,
            })
        }
        several => {
            let names: Vec<String> = several.iter().map(|path| path.display().to_string()).collect();
            let message = format!("{} builds several programs: {}", folder.display(), names.join(", "));
            Err(CampaignError::new(ErrorKind::Build, message)
                .hint(format!("name one: fozzy run {}", shell_word(&names[0]))))
        }
    }
}

/// Adds the target's standard library when the toolchain in force has none.
pub fn add_target(folder: &Path, target: &str, remarks: &Remarks) -> Result<(), CampaignError> {
    let rustc = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", target])
        .current_dir(folder)
        .stderr(Stdio::null())
        .output();
    let rustc = rustc.map_err(|error| {
        CampaignError::new(ErrorKind::Build, format!("cannot start rustc to build {}: {error}", folder.display()))
            .hint("install Rust with rustup")
    })?;
    let library = PathBuf::from(String::from_utf8_lossy(&rustc.stdout).trim());
    if rustc.status.success() && library.is_dir() {
        return Ok(());
    }
    remarks.text(&format!("adding the standard library of {target}: rustup target add {target}\n"));
    let added = Command::new("rustup")
        .args(["target", "add", target])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match added {
        Ok(status) if status.success() => Ok(()),
        _ => Err(CampaignError::new(
            ErrorKind::Build,
            format!("the standard library of {target} is missing and could not be added"),
        )
        .hint(format!("rustup target add {target}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_was_told_is_looked_at_alone() {
        let folders = |told: Option<&str>| target_folders(Path::new("/a/b"), told.map(Path::new)).collect::<Vec<_>>();
        assert_eq!(folders(None), ["/a/b/target", "/a/target", "/target"].map(PathBuf::from));
        assert_eq!(folders(Some("/out")), [PathBuf::from("/out")]);
        assert_eq!(folders(Some("out")), [PathBuf::from("/a/b/out")], "cargo is started in the folder of the crate");
    }

    #[test]
    fn a_folder_without_a_program_has_perhaps_a_plan() {
        let folder = tempfile::tempdir().expect("a folder");
        let hint = || artifact(folder.path(), b"").expect_err("cargo has built nothing").hint;
        assert_eq!(hint(), None);
        // A library is no program, and not one whose source does not build.
        assert_eq!(artifact(folder.path(), b"").expect_err("none is named").kind, ErrorKind::Target);
        std::fs::write(folder.path().join("plan.toml"), "").expect("room");
        assert!(hint().is_some_and(|hint| hint.contains("is a target: fozzy run ") && hint.contains("plan.toml")));
    }
}
