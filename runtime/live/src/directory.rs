//! Reads a real directory, once, into a mount and the bytes that it refers to.
//!
//! ```text
//! ./data/b          Mount { guest: "/in", entries: [ a/, a/x = 9f86…, b = e3b0… ] }
//! ./data/a/x   →    Inputs { 9f86… → bytes, e3b0… → bytes }
//! ```
//!
//! Invariants: entries come parents first and sorted by name within a directory; every path is read
//! through one open directory (cap-std), so that no link and no race leads out of it.
//! Not kept: times, owners, modes, and that two names were one file (they become two files).

use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType};
use fozzy_trace::plan::{Inputs, Mount, MountEntry, MountKind};
use fozzy_world::files::PATH_BYTES_MAX;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::guest_path::{GuestPathError, normalise_guest_path};

/// Most files, directories and links of one captured directory. Someone who meant a project does not
/// want its whole home directory in every trace; beyond it the capture is refused.
pub const CAPTURE_ENTRIES_MAX: u64 = 100_000;
/// Most bytes of all files of one captured directory: the size of the virtual disk. Beyond it the
/// capture is refused.
pub const CAPTURE_BYTES_MAX: u64 = fozzy_trace::plan::DISK_BYTES_DEFAULT;

/// Why a directory was not captured.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The guest path is not one.
    #[error(transparent)]
    GuestPath(#[from] GuestPathError),
    /// Nothing is there.
    #[error("cannot capture `{}`: there is no such directory", host.display())]
    Missing {
        /// The path as given.
        host: PathBuf,
    },
    /// Something else is there.
    #[error(
        "cannot capture `{}`: expected a directory, found {found}; give the directory that holds it",
        host.display()
    )]
    NotDirectory {
        /// The path as given.
        host: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// An entry that cannot be captured faithfully.
    #[error("cannot capture `{}`: {problem}; move it away or capture another directory", path.display())]
    Entry {
        /// The entry in question.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// The directory is too large.
    #[error("cannot capture `{}`: it has more than {max} {unit}; capture a smaller directory", host.display())]
    TooLarge {
        /// The path as given.
        host: PathBuf,
        /// The bound.
        max: u64,
        /// What is bounded.
        unit: &'static str,
    },
    /// The real computer refused.
    #[error("cannot capture `{}`: {source}", path.display())]
    Io {
        /// The file or directory in question.
        path: PathBuf,
        /// What the real computer said.
        source: io::Error,
    },
}

/// Bounds of one capture; the constants above, except in tests.
#[derive(Clone, Copy)]
struct Bounds {
    entries: u64,
    bytes: u64,
}

/// Reads the directory at `host` into a mount at `guest`; the contents of its files go to `inputs`.
///
/// Symbolic links are kept as links when they are relative and lead to something inside, or to nothing.
///
/// # Errors
/// For anything that is no directory; for sockets, devices, pipes, links that lead out and names that
/// are not UTF-8, each by name; beyond [`CAPTURE_ENTRIES_MAX`] and [`CAPTURE_BYTES_MAX`]. `inputs` may
/// then hold bytes that nothing refers to.
pub fn capture_directory(host: &Path, guest: &str, inputs: &mut Inputs) -> Result<Mount, CaptureError> {
    let bounds = Bounds { entries: CAPTURE_ENTRIES_MAX, bytes: CAPTURE_BYTES_MAX };
    capture_within(host, guest, inputs, bounds)
}

fn capture_within(host: &Path, guest: &str, inputs: &mut Inputs, bounds: Bounds) -> Result<Mount, CaptureError> {
    let guest = normalise_guest_path(guest)?;
    let root = open_root(host)?;
    let mut capture = Capture { host, root, left: bounds, bounds, entries: Vec::new() };
    // Directories still to be listed, and entries still to be captured, the next one last.
    let mut pending = capture.list("")?;
    while let Some((path, kind)) = pending.pop() {
        let kind = capture.entry(&path, kind, inputs)?;
        let is_directory = kind == MountKind::Directory;
        capture.entries.push(MountEntry { path: path.clone(), kind });
        if is_directory {
            pending.extend(capture.list(&path)?);
        }
    }
    Ok(Mount { guest, entries: capture.entries })
}

fn open_root(host: &Path) -> Result<Dir, CaptureError> {
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => CaptureError::Missing { host: host.to_owned() },
        _ => CaptureError::Io { path: host.to_owned(), source },
    };
    let found = std::fs::metadata(host).map_err(failed)?;
    if !found.is_dir() {
        let found = if found.is_file() { "a file" } else { "something that is neither file nor directory" };
        return Err(CaptureError::NotDirectory { host: host.to_owned(), found });
    }
    Dir::open_ambient_dir(host, ambient_authority()).map_err(failed)
}

struct Capture<'a> {
    host: &'a Path,
    root: Dir,
    bounds: Bounds,
    left: Bounds,
    entries: Vec<MountEntry>,
}

impl Capture<'_> {
    fn io(&self, path: &str) -> impl FnOnce(io::Error) -> CaptureError {
        let path = self.host.join(path);
        move |source| CaptureError::Io { path, source }
    }

    fn refused(&self, path: &str, problem: impl Into<String>) -> CaptureError {
        CaptureError::Entry { path: self.host.join(path), problem: problem.into() }
    }

    /// The entries of a directory, the last name first, as a stack wants them.
    fn list(&mut self, path: &str) -> Result<Vec<(String, FileType)>, CaptureError> {
        let listing = match path {
            "" => self.root.entries(),
            path => self.root.read_dir(path),
        };
        let mut names = Vec::new();
        for entry in listing.map_err(self.io(path))? {
            let entry = entry.map_err(self.io(path))?;
            self.left.entries = self.left.entries.checked_sub(1).ok_or_else(|| CaptureError::TooLarge {
                host: self.host.to_owned(),
                max: self.bounds.entries,
                unit: "files, directories and links",
            })?;
            let name = entry.file_name().into_string().map_err(|name| {
                self.refused(path, format!("the name {name:?} in it is not UTF-8, and guests see only UTF-8"))
            })?;
            let path = if path.is_empty() { name } else { format!("{path}/{name}") };
            if path.len() > PATH_BYTES_MAX {
                return Err(self.refused(&path, "its path is longer than the guest's paths can be"));
            }
            names.push((path, entry.file_type().map_err(self.io(""))?));
        }
        names.sort_by(|a, b| b.0.cmp(&a.0));
        Ok(names)
    }

    fn entry(&mut self, path: &str, kind: FileType, inputs: &mut Inputs) -> Result<MountKind, CaptureError> {
        if kind.is_dir() {
            Ok(MountKind::Directory)
        } else if kind.is_file() {
            Ok(MountKind::File(inputs.add(self.content(path)?)))
        } else if kind.is_symlink() {
            self.link(path).map(MountKind::Link)
        } else {
            let problem = format!("it is {}, which cannot be captured", special_name(kind));
            Err(self.refused(path, problem))
        }
    }

    fn content(&mut self, path: &str) -> Result<Vec<u8>, CaptureError> {
        let file = self.root.open(path).map_err(self.io(path))?;
        let mut bytes = Vec::new();
        // One byte more than may be: a file that grows while it is read is noticed, and never read whole.
        file.take(self.left.bytes.saturating_add(1)).read_to_end(&mut bytes).map_err(self.io(path))?;
        self.left.bytes = self.left.bytes.checked_sub(bytes.len() as u64).ok_or_else(|| CaptureError::TooLarge {
            host: self.host.to_owned(),
            max: self.bounds.bytes,
            unit: "bytes in its files",
        })?;
        Ok(bytes)
    }

    /// What a link says, if the guest may follow it.
    fn link(&self, path: &str) -> Result<String, CaptureError> {
        let text = self.root.read_link_contents(path).map_err(self.io(path))?;
        let text = text
            .into_os_string()
            .into_string()
            .map_err(|text| self.refused(path, format!("it is a symbolic link to {text:?}, which is not UTF-8")))?;
        let inside = match self.root.metadata(path) {
            Ok(_) => true,
            // cap-std's own refusal of an escape carries no error number of the system.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() => false,
            // It leads to nothing, or in a circle: kept as it is, if it does not even try to lead out.
            Err(_) => stays_inside(path, &text),
        };
        if inside && !text.starts_with('/') {
            return Ok(text);
        }
        Err(self.refused(path, format!("it is a symbolic link that leads out of the directory, to `{text}`")))
    }
}

/// Whether a link at `path` that says `text` stays inside, by the words alone.
fn stays_inside(path: &str, text: &str) -> bool {
    let mut depth = path.matches('/').count();
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." if depth == 0 => return false,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    true
}

#[cfg(unix)]
fn special_name(kind: FileType) -> &'static str {
    use cap_std::fs::FileTypeExt;
    if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_block_device() || kind.is_char_device() {
        "a device"
    } else {
        "neither file, directory nor symbolic link"
    }
}

#[cfg(not(unix))]
fn special_name(_kind: FileType) -> &'static str {
    "neither file, directory nor symbolic link"
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use fozzy_trace::Digest;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use tempfile::TempDir;

    fn directory() -> TempDir {
        tempfile::tempdir().expect("a temporary directory")
    }

    /// One line for each entry.
    fn show(mount: &Mount) -> String {
        let line = |entry: &MountEntry| match &entry.kind {
            MountKind::Directory => format!("{}/", entry.path),
            MountKind::File(digest) => format!("{} = {}", entry.path, digest.short()),
            MountKind::Link(text) => format!("{} -> {text}", entry.path),
        };
        mount.entries.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn refused(host: &Path, expected: &str) {
        let error = capture_directory(host, "/", &mut Inputs::default()).expect_err(expected).to_string();
        assert!(error.contains(expected), "expected `{expected}` in `{error}`");
    }

    #[test]
    fn a_directory_is_captured_sorted_and_by_content() {
        let host = directory();
        for path in ["b", "a", "a/z", "a.d"] {
            fs::create_dir(host.path().join(path)).expect("created");
        }
        for (path, text) in [("b/2", "same"), ("b/1", "same"), ("a/z/deep", "")] {
            fs::write(host.path().join(path), text).expect("written");
        }
        for (text, path) in [("b/1", "link"), ("../b/./..", "a/up"), ("nowhere/..", "dangling"), ("self", "self")] {
            symlink(text, host.path().join(path)).expect("linked");
        }
        let mut inputs = Inputs::default();
        let mount = capture_directory(host.path(), "in/", &mut inputs).expect("nothing special in it");
        assert_eq!(mount.guest, "/in");
        let (same, empty) = (Digest::of(b"same").short(), Digest::of(b"").short());
        let expected = format!(
            "a/\na/up -> ../b/./..\na/z/\na/z/deep = {empty}\na.d/\nb/\nb/1 = {same}\nb/2 = {same}\n\
             dangling -> nowhere/..\nlink -> b/1\nself -> self"
        );
        assert_eq!(show(&mount), expected);
        assert_eq!(inputs.iter().count(), 2, "equal contents are stored once");

        let mut again = Inputs::default();
        assert_eq!(capture_directory(host.path(), "/in", &mut again).expect("the same"), mount);
        assert_eq!(again, inputs);
        let limits = fozzy_world::files::DiskLimits { bytes: 1 << 20, nodes: 100 };
        let mut disk = fozzy_world::Disk::new(limits, 0);
        disk.mount(&mount, &inputs, 0).expect("what was captured can be mounted");
    }

    #[test]
    fn only_directories_are_captured() {
        let host = directory();
        let file = host.path().join("file");
        fs::write(&file, "x").expect("written");
        refused(&file, "expected a directory, found a file");
        refused(&host.path().join("missing"), "there is no such directory");
        refused(Path::new("/dev/null"), "neither file nor directory");
        let error = capture_directory(host.path(), "a/../b", &mut Inputs::default()).expect_err("a guest path");
        assert!(error.to_string().contains("`a/../b`"), "{error}");
    }

    #[test]
    fn links_that_lead_out_are_refused_by_name() {
        let outside = directory();
        fs::write(outside.path().join("secret"), "never read").expect("written");
        let absolute = outside.path().join("secret");
        let parent = format!("../{}/secret", outside.path().file_name().expect("named").to_string_lossy());
        for text in [absolute.to_str().expect("UTF-8"), &parent, "..", "../nowhere", "d/../.."] {
            let host = directory();
            fs::create_dir(host.path().join("d")).expect("created");
            symlink(text, host.path().join("escape")).expect("linked");
            refused(host.path(), "escape`: it is a symbolic link that leads out of the directory");
            refused(host.path(), text);
        }
        // Out through another link: the words alone look harmless.
        let host = directory();
        symlink(".", host.path().join("here")).expect("linked");
        symlink("here/../x", host.path().join("escape")).expect("linked");
        refused(host.path(), "escape`: it is a symbolic link that leads out");
        // An absolute link to the inside is still absolute.
        let host = directory();
        fs::write(host.path().join("f"), "x").expect("written");
        symlink(host.path().join("f"), host.path().join("absolute")).expect("linked");
        refused(host.path(), "absolute`: it is a symbolic link that leads out");
    }

    #[test]
    fn special_files_and_strange_names_are_refused_by_name() {
        let host = directory();
        let socket = host.path().join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&socket).expect("bound");
        refused(host.path(), "socket`: it is a socket");
        drop(listener);
        fs::remove_file(&socket).expect("removed");

        let pipe = host.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo is in coreutils");
        assert!(made.success());
        refused(host.path(), "pipe`: it is a named pipe");
        fs::remove_file(&pipe).expect("removed");

        fs::create_dir(host.path().join("d")).expect("created");
        let name = std::ffi::OsStr::from_bytes(b"d/caf\xe9");
        fs::write(host.path().join(name), "x").expect("written");
        refused(host.path(), r#"d`: the name "caf\xE9" in it is not UTF-8"#);
    }

    #[test]
    fn bounds_are_kept_and_said() {
        let host = directory();
        for n in 0..3 {
            fs::write(host.path().join(n.to_string()), "12345").expect("written");
        }
        let capture = |entries, bytes| {
            let bounds = Bounds { entries, bytes };
            capture_within(host.path(), "/", &mut Inputs::default(), bounds).map_err(|error| error.to_string())
        };
        assert_eq!(capture(3, 15).map(|mount| mount.entries.len()), Ok(3));
        let message = capture(2, 15).expect_err("too many");
        assert!(message.contains("more than 2 files, directories and links"), "{message}");
        let message = capture(3, 14).expect_err("too large");
        assert!(message.contains("more than 14 bytes in its files"), "{message}");
    }
}
