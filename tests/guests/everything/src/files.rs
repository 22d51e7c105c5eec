//! Files: every call of `std::fs` that a WASI program has.

use crate::report::Report;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

const FOLDER: &str = "/everything";
/// Of the large file: several times what one call moves.
const LARGE_BYTES: usize = 200_000;

pub(crate) fn files(report: &mut Report) {
    let folder = Path::new(FOLDER);
    // What an earlier run may have left.
    let _ = fs::remove_dir_all(folder);
    report.attempt("files.create_dir_all", fs::create_dir_all(folder.join("hold/lower")));
    contents(report, &folder.join("manifest.txt"));
    large(report, &folder.join("hold/cargo.bin"));
    names(report, folder);
    links(report, folder);
    times(report, &folder.join("manifest.txt"));
    report.refused("files.missing", File::open(folder.join("missing")));
    report.refused("files.not_a_folder", fs::read_dir(folder.join("manifest.txt")));
    report.refused("files.is_a_folder", fs::read(folder.join("hold")));
    report.refused("files.not_empty", fs::remove_dir(folder.join("hold")));
    report.refused("files.exists", OpenOptions::new().write(true).create_new(true).open(folder.join("manifest.txt")));
    report.refused("files.outside", fs::read("/../../outside"));
    walk(report, folder);
    report.attempt("files.remove_dir_all", fs::remove_dir_all(folder));
    report.see("files.folder_exists", folder.exists());
}

/// Writing, appending, overwriting within, cutting and reading back.
fn contents(report: &mut Report, path: &Path) {
    report.attempt("files.write", fs::write(path, "salt, rope"));
    report.attempt("files.append", append(path, ", tar"));
    report.look("files.read", fs::read_to_string(path));
    report.attempt("files.overwrite", overwrite(path, 6, b"lamp"));
    report.look("files.read_again", fs::read_to_string(path));
    report.attempt("files.sparse", overwrite(path, 40, b"end"));
    report.look("files.sparse_len", fs::metadata(path).map(|metadata| metadata.len()));
    report.attempt("files.set_len", OpenOptions::new().write(true).open(path).and_then(|file| file.set_len(12)));
    report.look("files.cut", fs::read(path));
    report.look("files.seek_end", File::open(path).and_then(|mut file| file.seek(SeekFrom::End(-4))));
}

fn append(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().append(true).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_data()
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// A file that takes several calls, with each short write and read as it came.
fn large(report: &mut Report, path: &Path) {
    let bytes: Vec<u8> = (0..LARGE_BYTES).map(|index| (index * 31 % 251) as u8).collect();
    let Some(mut file) = report.attempt("files.create", File::create(path)) else { return };
    let mut written = 0;
    while written < bytes.len() {
        match report.attempt("files.write_part", file.write(&bytes[written..])) {
            Some(count) if count > 0 => written += count,
            _ => break,
        }
    }
    report.see("files.written", written);
    drop(file);
    let Some(mut file) = report.attempt("files.open", File::open(path)) else { return };
    let mut back = Vec::new();
    let mut part = vec![0; 50_000];
    while let Some(count) = report.attempt("files.read_part", file.read(&mut part)) {
        if count == 0 {
            break;
        }
        back.extend_from_slice(&part[..count]);
    }
    report.see("files.read_back", back.len());
    let differing = bytes.iter().zip(&back).filter(|(one, other)| one != other).count();
    report.see("files.bytes_that_differ", differing);
    let copy = path.with_extension("copy");
    report.look("files.copy", fs::copy(path, copy));
}

fn names(report: &mut Report, folder: &Path) {
    let (first, second) = (folder.join("first"), folder.join("second"));
    report.attempt("files.write_first", fs::write(&first, "1"));
    report.attempt("files.write_second", fs::write(&second, "22"));
    report.attempt("files.rename_over", fs::rename(&first, &second));
    report.look("files.renamed", fs::read_to_string(&second));
    report.see("files.first_exists", first.exists());
    report.attempt("files.rename_folder", fs::rename(folder.join("hold/lower"), folder.join("lower")));
    for index in [7, 3, 11, 5] {
        let name = folder.join("lower").join(format!("crate-{index}"));
        report.attempt("files.many", fs::write(name, vec![b'x'; index]));
    }
    report.look("files.list", list(&folder.join("lower")));
    report.attempt("files.remove_file", fs::remove_file(folder.join("lower/crate-7")));
    report.attempt("files.create_dir", fs::create_dir(folder.join("empty")));
    report.attempt("files.remove_dir", fs::remove_dir(folder.join("empty")));
}

/// Names and kinds, in the order in which they come.
fn list(folder: &Path) -> io::Result<Vec<(String, bool)>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        Ok((entry.file_name().to_string_lossy().into_owned(), entry.file_type()?.is_dir()))
    };
    fs::read_dir(folder)?.map(entry).collect()
}

#[allow(deprecated, reason = "the only call for a symbolic link that is stable on WASI")]
fn links(report: &mut Report, folder: &Path) {
    report.attempt("files.hard_link", fs::hard_link(folder.join("manifest.txt"), folder.join("twin")));
    report.attempt("files.append_to_twin", append(&folder.join("twin"), "!"));
    report.look("files.seen_through_twin", fs::read(folder.join("manifest.txt")));
    report.attempt("files.soft_link", fs::soft_link("manifest.txt", folder.join("arrow")));
    report.look("files.read_link", fs::read_link(folder.join("arrow")));
    report.look("files.through_arrow", fs::read(folder.join("arrow")));
    let of_link = fs::symlink_metadata(folder.join("arrow"));
    report.look("files.is_link", of_link.map(|metadata| metadata.file_type().is_symlink()));
}

fn times(report: &mut Report, path: &Path) {
    let written = fs::metadata(path).and_then(|metadata| metadata.modified());
    report.look("files.modified", written.map(since_1970));
    let then = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let set = OpenOptions::new().write(true).open(path).and_then(|file| file.set_modified(then));
    report.attempt("files.set_modified", set);
    let now = fs::metadata(path).and_then(|metadata| metadata.modified());
    report.look("files.modified_again", now.map(since_1970));
    report.look("files.accessed", fs::metadata(path).and_then(|metadata| metadata.accessed()).map(since_1970));
}

fn since_1970(time: std::time::SystemTime) -> Duration {
    time.duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The whole tree: path, kind and length.
fn walk(report: &mut Report, folder: &Path) {
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Some(entries) = report.attempt("files.walk", list(&folder)) else { continue };
        for (name, is_folder) in entries {
            let path = folder.join(name);
            let length = fs::symlink_metadata(&path).map(|metadata| if is_folder { 0 } else { metadata.len() });
            let length = report.attempt("files.walk_stat", length);
            report.see("files.entry", (&path, length));
            if is_folder {
                folders.push(path);
            }
        }
    }
}
