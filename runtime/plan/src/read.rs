//! From the text of a file to a plan file, or to everything that is wrong with it.
//!
//! ```text
//! text ─parse─▶ document ─walk against the schema─▶ value ─serde─▶ PlanFile ─check─▶ PlanFile
//!          └──────────────┴── problems, with their places ──────────────────┘
//! ```
//!
//! Invariant: a plan file comes out exactly when there is no problem.

use crate::check::check;
use crate::document::Document;
use crate::file::PlanFile;
use crate::problem::{DocumentStep, PlanError, Problem, Problems, TextPosition};
use crate::resolve::ComponentLoader;
use crate::{schema, walk};
use fozzy_trace::plan::Inputs;
use fozzy_world::fault::FAULTS;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Most bytes of a plan file. Large bodies belong in files of their own; beyond it the plan is refused before it is
/// parsed.
pub const PLAN_BYTES_MAX: usize = 4 << 20;

/// Reads the text of a plan file.
///
/// # Errors
/// When it cannot be read, is no regular file, has more than [`PLAN_BYTES_MAX`] bytes, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, PlanError> {
    let refuse = |place, message: String| whole(path, place, message);
    let cannot = |error: std::io::Error| refuse(None, format!("cannot read it: {error}"));
    // Asked before it is opened: opening a pipe would wait for a writer.
    if !std::fs::metadata(path).map_err(cannot)?.is_file() {
        return Err(refuse(None, "expected a plan file, found something that is no file".to_owned()));
    }
    let mut bytes = Vec::new();
    let file = std::fs::File::open(path).map_err(cannot)?;
    file.take(PLAN_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(cannot)?;
    if bytes.len() > PLAN_BYTES_MAX {
        return Err(refuse(None, too_large()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let sound = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(&error.as_bytes()[..sound]).into_owned();
        refuse(Some(TextPosition::of(&text, sound)), "expected UTF-8, found other bytes".to_owned())
    })
}

fn too_large() -> String {
    format!("it has more than the {PLAN_BYTES_MAX} bytes that a plan may have; put large bodies into files")
}

fn whole(path: &Path, place: Option<TextPosition>, message: String) -> PlanError {
    PlanError { path: Some(path.to_owned()), problems: vec![Problem { place, key: String::new(), message }] }
}

impl PlanFile {
    /// Reads a plan file. Relative paths in it are joined with the folder of `path`.
    ///
    /// # Errors
    /// Everything that is wrong with it, as [`validate`] finds it.
    pub fn parse(text: &str, path: &Path) -> Result<PlanFile, PlanError> {
        let refuse = |problems| PlanError { path: Some(path.to_owned()), problems };
        let document = open(text).map_err(refuse)?;
        let mut problems = Problems::default();
        let value = document.value(&mut problems);
        let file = examine(value, &[], &mut problems);
        finish(file, problems, &document).map_err(refuse).map(|file| based(file, path))
    }

    /// Reads the tables `[target."app.wasm"]` of a `fozzy.toml`: each is a plan file for the target of that name, below
    /// the plan that is named on the command line. Other keys of the file are not looked at.
    ///
    /// # Errors
    /// As [`PlanFile::parse`].
    pub fn parse_targets(text: &str, path: &Path) -> Result<BTreeMap<String, PlanFile>, PlanError> {
        let refuse = |problems| PlanError { path: Some(path.to_owned()), problems };
        let document = open(text).map_err(refuse)?;
        let mut problems = Problems::default();
        let mut targets = BTreeMap::new();
        match document.value(&mut problems).get_mut("target").map(Value::take) {
            None => {}
            Some(Value::Object(tables)) => {
                for (name, value) in tables {
                    let within = ["target".into(), DocumentStep::Key(name.clone())];
                    let mut found = Problems::within(&within);
                    let file = examine(value, &within, &mut found);
                    if file.as_ref().is_some_and(|file| file.cluster.clients.is_some()) {
                        let message = "only a plan file names its clients, and this table is of one target";
                        found.add(&["cluster".into(), "clients".into()], message);
                    }
                    problems.extend_independent(found);
                    targets.extend(file.map(|file| (name, based(file, path))));
                }
            }
            Some(_) => problems.add(&["target".into()], "expected a table of targets, such as [target.\"app.wasm\"]"),
        }
        finish(Some(targets), problems, &document).map_err(refuse)
    }

    /// The program that a plan file names as its clients, for runs of the file itself. A relative path is joined with the folder of `path`.
    ///
    /// # Errors
    /// As [`PlanFile::parse`], and when it names no clients, or some that are not there.
    pub fn clients_of(text: &str, path: &Path) -> Result<PathBuf, PlanError> {
        let message = match PlanFile::parse(text, path)?.cluster.clients {
            Some(clients) if clients.exists() => return Ok(clients),
            Some(clients) => format!("there is no file or folder `{}`", clients.display()),
            None => "this key is missing: a plan file is a target only if it names its clients".to_owned(),
        };
        let document = Document::parse(text).expect("it was parsed before");
        let mut problems = Problems::default();
        problems.add(&["cluster".into(), "clients".into()], message);
        Err(PlanError { path: Some(path.to_owned()), problems: problems.finish(|path| document.place(path)) })
    }
}

/// Everything that is wrong with the text of a plan file, in its order; nothing real is looked at.
#[must_use]
pub fn validate(text: &str, path: &Path) -> Vec<Problem> {
    PlanFile::parse(text, path).err().map(|error| error.problems).unwrap_or_default()
}

/// As [`validate`], and then whether everything that the plan names is there and can be read.
#[must_use]
pub fn validate_deep(text: &str, path: &Path, loader: &mut ComponentLoader<'_>) -> Vec<Problem> {
    let file = match PlanFile::parse(text, path) {
        Ok(file) => file,
        Err(error) => return error.problems,
    };
    let document = Document::parse(text).expect("it was parsed before");
    let resolved = file.resolve_collecting("program", loader, &mut Inputs::default());
    let mut problems = resolved.err().unwrap_or_default();
    if let Some(clients) = &file.cluster.clients
        && let Err(message) = loader(clients)
    {
        problems.add(&["cluster".into(), "clients".into()], message);
    }
    problems.finish(|path| document.place(path))
}

fn open(text: &str) -> Result<Document<'_>, Vec<Problem>> {
    let problem = |(place, message)| Problem { place, key: String::new(), message };
    if text.len() > PLAN_BYTES_MAX {
        return Err(vec![problem((None, too_large()))]);
    }
    Document::parse(text).map_err(|errors| errors.into_iter().map(problem).collect())
}

/// The plan file that a value describes, if it can be read in spite of its problems.
fn examine(mut value: Value, within: &[DocumentStep], problems: &mut Problems) -> Option<PlanFile> {
    walk::walk(schema::shared(), &mut value, problems);
    match serde_path_to_error::deserialize::<_, PlanFile>(value) {
        Ok(file) => {
            let mut later = Problems::within(within);
            check(&file, FAULTS, problems, &mut later);
            problems.extend_independent(later);
            Some(file)
        }
        Err(error) => {
            // Without a table's required key there is nothing to continue with; else the schema has let through what
            // serde refuses, and serde's sentence is better than none.
            if problems.is_empty() {
                problems.add(&[], error.to_string());
            }
            None
        }
    }
}

fn finish<T>(found: Option<T>, problems: Problems, document: &Document<'_>) -> Result<T, Vec<Problem>> {
    match (found, problems.is_empty()) {
        (Some(found), true) => Ok(found),
        _ => Err(problems.finish(|path| document.place(path))),
    }
}

fn based(mut file: PlanFile, path: &Path) -> PlanFile {
    file.rebase(path.parent().unwrap_or(Path::new("")));
    file
}
