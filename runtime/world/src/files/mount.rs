//! Captured directories, copied onto the disk.
//!
//! ```text
//! Mount { guest: "/data", entries: [a/, a/x = 9f86…, l -> a] }
//!    →  /data/a/x   (its bytes shared with the inputs until written to)
//! ```
//!
//! Invariants: a mount never follows a link, so nothing lands outside its guest path; directories that
//! exist are merged, anything else that exists is an error. Not here: capturing (`fozzy-live`).

use super::content::FileContent;
use super::node::{Directory, InodeBody, InodeIndex, InodeKind};
use super::path::{NAME_BYTES_MAX, check_path};
use super::{Disk, Errno};
use fozzy_trace::Digest;
use fozzy_trace::plan::{Inputs, Mount, MountKind};
use rpds::RedBlackTreeMapSync;

/// Why a directory could not be copied onto the disk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MountError {
    /// A path is not what a mount may hold.
    #[error("mount `{guest}`: the path `{path}` {problem}")]
    Path {
        /// Guest path of the mount.
        guest: String,
        /// The path in question.
        path: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Bytes that did not come with the plan.
    #[error("mount `{guest}`: the content of `{path}`, SHA-256 {digest}, is missing from the inputs")]
    Missing {
        /// Guest path of the mount.
        guest: String,
        /// The file in question.
        path: String,
        /// Its content's name.
        digest: Digest,
    },
    /// The disk is too small.
    #[error(
        "mount `{guest}`: `{path}` does not fit: the disk holds at most {bytes_max} bytes in {nodes_max} files, directories and links"
    )]
    Full {
        /// Guest path of the mount.
        guest: String,
        /// What did not fit.
        path: String,
        /// Size of the disk.
        bytes_max: u64,
        /// Size of the disk in nodes.
        nodes_max: u64,
    },
}

impl Disk {
    /// Copies a captured directory onto the disk at its guest path, making what leads there.
    ///
    /// # Errors
    /// See [`MountError`]. The disk is then as it was before.
    pub fn mount(&mut self, mount: &Mount, inputs: &Inputs, now_ns: u64) -> Result<(), MountError> {
        let before = self.clone();
        let result = self.copy_in(mount, inputs, now_ns);
        if result.is_err() {
            *self = before;
        }
        result
    }

    fn copy_in(&mut self, mount: &Mount, inputs: &Inputs, now_ns: u64) -> Result<(), MountError> {
        let wrong = |path: &str, problem: &'static str| MountError::Path {
            guest: mount.guest.clone(),
            path: path.to_owned(),
            problem,
        };
        let Some(relative) = mount.guest.strip_prefix('/') else {
            return Err(wrong(&mount.guest, "is not absolute"));
        };
        let mut top = self.root();
        if !relative.is_empty() {
            for name in relative.split('/') {
                check_entry_name(name).map_err(|problem| wrong(&mount.guest, problem))?;
                top = self.directory_in(top, name, now_ns).map_err(|error| self.refusal(mount, name, error))?;
            }
        }
        for entry in &mount.entries {
            let (parent, name) = entry.path.rsplit_once('/').unwrap_or(("", &entry.path));
            let mut at = top;
            for step in parent.split('/').filter(|_| !parent.is_empty()) {
                match self.entry(at, step) {
                    Some(found) if found.kind == InodeKind::Directory => at = found.node,
                    _ => return Err(wrong(&entry.path, "is not below a directory that comes before it")),
                }
            }
            check_entry_name(name).map_err(|problem| wrong(&entry.path, problem))?;
            let made = match &entry.kind {
                MountKind::Directory => self.directory_in(at, name, now_ns),
                MountKind::File(digest) => {
                    let bytes = inputs.get(digest).ok_or_else(|| MountError::Missing {
                        guest: mount.guest.clone(),
                        path: entry.path.clone(),
                        digest: *digest,
                    })?;
                    self.body_in(at, name, InodeBody::File(FileContent::over(bytes)), now_ns)
                }
                MountKind::Link(text) => {
                    check_path(text)
                        .map_err(|_| wrong(&entry.path, "is a link whose target is empty, absolute or too long"))?;
                    self.body_in(at, name, InodeBody::Link(text.as_str().into()), now_ns)
                }
            };
            made.map_err(|error| self.refusal(mount, &entry.path, error))?;
        }
        Ok(())
    }

    fn directory_in(&mut self, at: InodeIndex, name: &str, now_ns: u64) -> Result<InodeIndex, Errno> {
        match self.entry(at, name) {
            Some(found) if found.kind == InodeKind::Directory => Ok(found.node),
            _ => {
                let directory = Directory { parent: at, entries: RedBlackTreeMapSync::new_sync() };
                self.body_in(at, name, InodeBody::Directory(directory), now_ns)
            }
        }
    }

    fn body_in(&mut self, at: InodeIndex, name: &str, body: InodeBody, now_ns: u64) -> Result<InodeIndex, Errno> {
        match self.entry(at, name) {
            Some(_) => Err(Errno::Exist),
            None => self.make(at, name.into(), body, now_ns),
        }
    }

    fn refusal(&self, mount: &Mount, path: &str, error: Errno) -> MountError {
        let (guest, path) = (mount.guest.clone(), path.to_owned());
        match error {
            Errno::Exist => {
                let problem = "exists already; mounts may share directories and nothing else";
                MountError::Path { guest, path, problem }
            }
            _ => MountError::Full { guest, path, bytes_max: self.limits.bytes, nodes_max: self.limits.nodes },
        }
    }
}

fn check_entry_name(name: &str) -> Result<(), &'static str> {
    match name {
        "" => Err("has an empty name in it"),
        "." | ".." => Err("has `.` or `..` in it"),
        name if name.contains('\0') => Err("has a NUL byte in it"),
        name if name.len() > NAME_BYTES_MAX => Err("has a name in it that is longer than names can be"),
        _ => Ok(()),
    }
}
