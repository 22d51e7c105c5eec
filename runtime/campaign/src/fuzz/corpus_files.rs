//! The files of a corpus: listed, packed into one zip, taken out of it.
//!
//! Invariants: nothing is written before all that could be wrong was looked at; files that begin with a dot, and traces, are not
//! inputs.

use super::portable;
use crate::artifacts::pack::{self, Content};
use crate::error::{CampaignError, ErrorKind, at_path};
use crate::inputs;
use fozzy_trace::file::store::{Durability, write_atomic};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// An input of a corpus, and its bytes.
pub(super) struct CorpusFile {
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// Packs the inputs in `folder` into `zip`.
///
/// # Errors
/// When there is none, or a name that not every system can have.
pub fn export(folder: &Path, zip: &Path) -> Result<(), CampaignError> {
    let inputs = read(folder)?;
    let contents: Vec<Content> = inputs.into_iter().map(|input| (name_of(&input.path), input.bytes)).collect();
    if contents.is_empty() {
        return Err(CampaignError::new(ErrorKind::Corpus, format!("{} holds no input", folder.display())));
    }
    portable::check(contents.iter().map(|(name, _)| name.as_str())).map_err(|why| {
        CampaignError::new(ErrorKind::Corpus, format!("{}: {why}", folder.display())).hint("rename it, or move it away")
    })?;
    pack::write_zip(zip, &contents).map(drop)
}

/// Takes the inputs out of `zip` into `folder`.
///
/// # Errors
/// When the zip is damaged, hostile or too large, or a file of that name is there with another content. Then nothing is written.
pub fn import(zip: &Path, folder: &Path) -> Result<(), CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::Corpus, "cannot read", zip, &error);
    let mut bytes = Vec::new();
    let file = fs::File::open(zip).map_err(failed)?;
    file.take(portable::ZIP_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    let refused = |why: String| {
        CampaignError::new(ErrorKind::Corpus, format!("{}: {why}", zip.display())).hint("nothing was written")
    };
    if bytes.len() as u64 > portable::ZIP_BYTES_MAX {
        return Err(refused(format!("it has more than {} bytes", portable::ZIP_BYTES_MAX)));
    }
    let contents = portable::unzip(&bytes).map_err(refused)?;
    let mut new = Vec::new();
    for (name, input) in contents {
        let path = folder.join(name);
        match path.symlink_metadata() {
            Err(_) => new.push(CorpusFile { path, bytes: input }),
            // What is there already need not be written.
            Ok(it) if it.is_file() && fs::read(&path).is_ok_and(|there| there == input) => {}
            Ok(_) => {
                let message = format!("{} is there already, and is something else", path.display());
                return Err(
                    CampaignError::new(ErrorKind::Corpus, message).hint("nothing was written; name another folder")
                );
            }
        }
    }
    write_all(folder, &new)
}

/// Copies inputs to a folder.
pub(super) fn copy(out: &Path, inputs: &[CorpusFile]) -> Result<(), CampaignError> {
    let copies: Vec<CorpusFile> = inputs
        .iter()
        .map(|input| CorpusFile {
            path: out.join(input.path.file_name().unwrap_or_default()),
            bytes: input.bytes.clone(),
        })
        .collect();
    write_all(out, &copies)
}

/// Writes all of them, or none.
fn write_all(folder: &Path, inputs: &[CorpusFile]) -> Result<(), CampaignError> {
    fs::create_dir_all(folder)
        .map_err(|error| at_path(ErrorKind::Corpus, "cannot make the corpus folder", folder, &error))?;
    for (place, input) in inputs.iter().enumerate() {
        if let Err(error) = write_atomic(&input.path, &input.bytes, Durability::Cached) {
            for written in &inputs[..place] {
                let _ = fs::remove_file(&written.path);
            }
            let error = at_path(ErrorKind::Corpus, "cannot write", &input.path, &error);
            return Err(error.hint("what was written before it was removed again"));
        }
    }
    Ok(())
}

/// The inputs of a corpus, by name.
///
/// # Errors
/// When the folder cannot be listed.
pub fn files(folder: &Path) -> Result<Vec<PathBuf>, CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::Corpus, "cannot list", folder, &error);
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let path = entry.path();
        // A link would read a file outside of the corpus; `fozzy fuzz` does not follow it either.
        let is_file = entry.file_type().map_err(failed)?.is_file();
        if !hidden && !inputs::is_trace(&path) && is_file {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn read(folder: &Path) -> Result<Vec<CorpusFile>, CampaignError> {
    let input = |path: PathBuf| Ok(CorpusFile { bytes: inputs::read(&path)?, path });
    files(folder)?.into_iter().map(input).collect()
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
