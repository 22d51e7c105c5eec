//! One scenario of a suite: its name, where it is, what it is made of, and what the suite says about it.
//!
//! ```text
//! tests/kv/put.fozzy.json  ─▶ { name: put, path, kind: Json, given: seed 1 of suite kv }
//! ```
//!
//! Not here: how entries are found (`find`), and which of them are taken (`select`).

use fozzy_trace::Seed;
use std::path::{Path, PathBuf};

/// What a scenario is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A crate, which is built first.
    Crate,
    /// A folder that says how its program is made, which is done first.
    Folder,
    /// A component or a core module, also as text.
    Program,
    /// Steps in JSON.
    Json,
    /// A plan file that names its clients, which are run under it.
    Cluster,
}

/// One scenario that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteEntry {
    /// Its name: that of its file without endings, or that of its folder.
    pub name: String,
    /// The file or the folder.
    pub path: PathBuf,
    /// What that is.
    pub kind: Kind,
    /// What the suite that names it says about it.
    pub given: CaseOverrides,
}

/// What a suite says about a scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaseOverrides {
    /// Its seed, instead of that of its name.
    pub seed: Option<Seed>,
    /// Its plan, instead of its own.
    pub plan: Option<PathBuf>,
    /// The suite, and which combination of its matrix this is: `kv, seed 1`.
    pub which: Option<String>,
    /// Words by which it can be chosen.
    pub tags: Vec<String>,
}

/// A path as it is shown.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}
