//! Several files as a folder or as one zip.
//!
//! Invariants: equal contents give an equal zip, byte for byte: times are those of 1980, modes 0644, entries by the order
//! given and stored; each file is whole or absent; in a folder nothing of others is removed, nothing new stays of what failed, and no link is written through.
//! Not here: which files (`artifacts`).

use crate::error::{CampaignError, ErrorKind, at_path};
use fozzy_trace::file::store::{Durability, write_atomic};
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

/// A file to be written: its name with `/` between folders, and its bytes.
pub type Content = (String, Vec<u8>);

/// Writes `contents` to `out`: a zip when its name ends so, otherwise a folder.
pub fn write(out: &Path, contents: &[Content]) -> Result<(), CampaignError> {
    if out.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("zip")) {
        return write_zip(out, contents);
    }
    refuse_link(out)?;
    let mut new = Vec::new();
    for content in contents {
        if let Err(error) = write_one(out, content, &mut new) {
            // What was there before stays; what came now goes again.
            new.iter().for_each(|path| drop(std::fs::remove_file(path)));
            return Err(error);
        }
    }
    Ok(())
}

/// Writes one file to a folder, and notes it when it is new there.
fn write_one(out: &Path, (name, bytes): &Content, new: &mut Vec<PathBuf>) -> Result<(), CampaignError> {
    let path = out.join(name);
    let folder = path.parent().unwrap_or(out);
    std::fs::create_dir_all(folder).map_err(|error| at_path(ErrorKind::Artifacts, "cannot create", folder, &error))?;
    let inside = folder.canonicalize().and_then(|folder| Ok(folder.starts_with(out.canonicalize()?)));
    if !inside.map_err(|error| at_path(ErrorKind::Artifacts, "cannot look at", folder, &error))? {
        let message = format!("{} leads out of {} by a link", folder.display(), out.display());
        return Err(CampaignError::new(ErrorKind::Artifacts, message));
    }
    let is_new = path.symlink_metadata().is_err();
    write_atomic(&path, bytes, Durability::Synced)
        .map_err(|error| at_path(ErrorKind::Artifacts, "cannot write", &path, &error))?;
    if is_new {
        new.push(path);
    }
    Ok(())
}

/// Writes `contents` as one zip, whatever its name.
pub fn write_zip(out: &Path, contents: &[Content]) -> Result<(), CampaignError> {
    refuse_link(out)?;
    let bytes = zipped(contents)?;
    write_atomic(out, &bytes, Durability::Synced)
        .map_err(|error| at_path(ErrorKind::Artifacts, "cannot write", out, &error))
}

fn refuse_link(out: &Path) -> Result<(), CampaignError> {
    if out.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
        let message = format!("{} is a link: its destination may belong to another program", out.display());
        return Err(CampaignError::new(ErrorKind::Artifacts, message).hint("name the place itself"));
    }
    Ok(())
}

/// The zip of `contents`.
pub fn zipped(contents: &[Content]) -> Result<Vec<u8>, CampaignError> {
    let failed =
        |error: zip::result::ZipError| CampaignError::new(ErrorKind::Artifacts, format!("cannot make a zip: {error}"));
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Stored)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in contents {
        zip.start_file(name.as_str(), options).map_err(failed)?;
        zip.write_all(bytes).map_err(|error| failed(error.into()))?;
    }
    Ok(zip.finish().map_err(failed)?.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contents() -> Vec<Content> {
        vec![("trace.fozzy".to_owned(), vec![1; 300]), ("corpus/ab".to_owned(), b"ab".to_vec())]
    }

    #[test]
    fn equal_contents_give_equal_zips_that_others_can_read() {
        let bytes = zipped(&contents()).expect("it is made");
        assert_eq!(bytes, zipped(&contents()).expect("it is made"));
        let mut read = zip::ZipArchive::new(Cursor::new(&bytes)).expect("a zip");
        let names: Vec<String> = read.file_names().map(|name| name.expect("a name").into_owned()).collect();
        assert_eq!(names, ["trace.fozzy", "corpus/ab"]);
        let mut found = Vec::new();
        std::io::copy(&mut read.by_index(0).expect("it is there"), &mut found).expect("it reads");
        assert_eq!(found, contents()[0].1);
    }

    #[test]
    fn a_folder_keeps_what_is_in_it_and_nothing_is_written_through_a_link() {
        let place = tempfile::tempdir().expect("a folder");
        let out = place.path().join("out");
        std::fs::create_dir_all(&out).expect("a folder");
        std::fs::write(out.join("mine.txt"), "mine").expect("it is written");
        write(&out, &contents()).expect("it is written");
        assert_eq!(std::fs::read(out.join("mine.txt")).expect("it is there"), b"mine");
        assert_eq!(std::fs::read(out.join("corpus/ab")).expect("it is there"), b"ab");
        let link = place.path().join("link");
        std::os::unix::fs::symlink(&out, &link).expect("a link");
        assert!(write(&link, &contents()).expect_err("a link").message.contains("is a link"));
        let inner = place.path().join("other");
        std::fs::create_dir_all(&inner).expect("a folder");
        std::os::unix::fs::symlink(&out, inner.join("corpus")).expect("a link");
        assert!(write(&inner, &contents()).expect_err("a link inside").message.contains("by a link"));
    }
}
