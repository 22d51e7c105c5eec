//! A cargo-fuzz folder as a target, its sources unchanged.
//!
//! ```text
//! fuzz/fuzz_targets/decode.rs ─ cargo build, wasm32-wasip1 ─▶ decode.wasm with LLVMFuzzerTestOneInput
//!        libfuzzer-sys links CUSTOM_LIBFUZZER_PATH, our driver (`driver.rs`) instead of libFuzzer
//! fuzz/corpus/decode/      read and added to, as `cargo fuzz run` does
//! fuzz/artifacts/decode/   crash-…, timeout-…, oom-…, each with its trace beside it
//! fuzz/decode.dict         the dictionary, when there is one
//! ```
//!
//! wasm32-wasip1, because a core module can be given an export by a flag of the linker; it has the same standard library as
//! wasm32-wasip2.
//!
//! Invariant: nothing in the folder is written but in `target`, `corpus` and `artifacts`.

use crate::build::{self, CargoBuild};
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::remarks::Remarks;
use fozzy_trace::Digest;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const TARGET: &str = "wasm32-wasip1";
/// The library that libfuzzer-sys links in place of libFuzzer.
const DRIVER: &str = include_str!("driver.rs");
/// How it is compiled.
const DRIVER_FLAGS: &[&str] = &["--edition", "2024", "--crate-type", "rlib", "--target", TARGET, "-O"];
/// As cargo-fuzz builds, with what a core module needs: entry points, and line tables for backtraces.
const FLAGS: &str = "--cfg fuzzing -Cdebug-assertions -Cdebuginfo=line-tables-only -Cstrip=none \
                     -Clink-arg=--export=LLVMFuzzerTestOneInput -Clink-arg=--export=LLVMFuzzerInitialize \
                     -Clink-arg=--export=__wasm_call_ctors";

/// A target of a cargo-fuzz folder.
pub struct CargoFuzz {
    folder: PathBuf,
    name: String,
}

impl CargoFuzz {
    /// The target `name` of the cargo-fuzz folder `folder`.
    pub fn new(folder: &Path, name: &Path) -> Result<CargoFuzz, CampaignError> {
        let name = name.to_string_lossy().into_owned();
        if !folder.join("Cargo.toml").is_file() {
            let message = format!("{} is no cargo-fuzz folder: it has no Cargo.toml", folder.display());
            return Err(CampaignError::new(ErrorKind::Target, message).hint("`cargo fuzz init` makes one, called fuzz"));
        }
        Ok(CargoFuzz { folder: folder.to_owned(), name })
    }

    /// Builds it, and returns the core module.
    pub fn build(&self, remarks: &Remarks) -> Result<PathBuf, CampaignError> {
        build::add_target(&self.folder, TARGET, remarks)?;
        let driver = self.driver()?;
        CargoBuild {
            folder: &self.folder,
            target: TARGET,
            arguments: &["--bin", &self.name],
            environment: &[
                ("CUSTOM_LIBFUZZER_PATH", driver.as_os_str()),
                ("CUSTOM_LIBFUZZER_STD_CXX", "none".as_ref()),
                ("CARGO_TARGET_WASM32_WASIP1_RUSTFLAGS", FLAGS.as_ref()),
            ],
        }
        .build()
    }

    /// Compiles the driver, unless it is there: cargo builds anew all that links it when its file is a newer one.
    fn driver(&self) -> Result<PathBuf, CampaignError> {
        let folder = self.folder.join("target").join("fozzy");
        let failed = |error: std::io::Error| at_path(ErrorKind::Build, "cannot write", &folder, &error);
        let no_rustc =
            |error: std::io::Error| CampaignError::new(ErrorKind::Build, format!("cannot start rustc: {error}"));
        std::fs::create_dir_all(&folder).map_err(failed)?;
        let folder = folder.canonicalize().map_err(failed)?;
        let (source, library) = (folder.join("driver.rs"), folder.join("libfozzydriver.a"));
        // Another compiler does not read what this one has made. Which one it is, the folder may say.
        let version = Command::new("rustc").arg("-vV").current_dir(&self.folder).stdin(Stdio::null()).output();
        let version = version.map_err(no_rustc)?.stdout;
        let (made_of, content) = (
            folder.join("driver.made-of"),
            Digest::of(&[DRIVER.as_bytes(), DRIVER_FLAGS.join(" ").as_bytes(), &version[..]].concat()),
        );
        let content = content.to_string();
        if library.is_file() && std::fs::read_to_string(&made_of).is_ok_and(|known| known == content) {
            return Ok(library);
        }
        std::fs::write(&source, DRIVER).map_err(failed)?;
        // Another process may be linking the one of before.
        let new = folder.join(format!("libfozzydriver-{}.new", std::process::id()));
        let built = Command::new("rustc")
            .args(DRIVER_FLAGS)
            .arg("-o")
            .arg(&new)
            .arg(&source)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .status()
            .map_err(no_rustc)?;
        if !built.success() {
            return Err(CampaignError::new(
                ErrorKind::Build,
                "rustc cannot compile the driver of fuzz targets; its messages are above",
            ));
        }
        std::fs::rename(&new, &library).and_then(|()| std::fs::write(&made_of, content)).map_err(failed)?;
        Ok(library)
    }

    /// Where its corpus is.
    pub fn corpus(&self) -> PathBuf {
        self.folder.join("corpus").join(&self.name)
    }

    /// Where its findings go, which is made if need be.
    pub fn artifacts(&self) -> Result<PathBuf, CampaignError> {
        let path = self.folder.join("artifacts").join(&self.name);
        std::fs::create_dir_all(&path)
            .map_err(|error| at_path(ErrorKind::Store, "cannot make the folder", &path, &error))?;
        Ok(path)
    }

    /// Its dictionary, when there is one.
    pub fn dictionary(&self) -> Option<PathBuf> {
        let path = self.folder.join(format!("{}.dict", self.name));
        path.is_file().then_some(path)
    }

    /// The lines that cargo-fuzz users know, for a finding.
    pub fn lines(&self, input: &Path) -> String {
        let (name, folder) = (&self.name, self.folder.display());
        format!(
            "  natively:  cargo fuzz run --fuzz-dir {folder} {name} {input}\n  \
             minimize:  cargo fuzz tmin --fuzz-dir {folder} {name} {input}\n",
            input = input.display()
        )
    }
}
