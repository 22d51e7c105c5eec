//! From a path to a node, and never out of the directory that it starts in.
//!
//! ```text
//! base /data, "a/../b/link"      a must be a directory; b too; link is followed when asked
//! "../x", "/x", a link to "/x"   not-permitted: they lead out of the base
//! ```
//!
//! The order of the checks is Linux's (`openat2` with `RESOLVE_BENEATH`, as wasmtime-wasi uses it), because
//! the first refusal decides the error code.
//!
//! Invariants: `..` is refused exactly where it would leave the base; the work is bounded by the length
//! of the path and [`LINKS_FOLLOWED_MAX`] link texts. Not here: creating what is missing.

use super::node::{DirectoryEntry, InodeBody, InodeIndex, InodeKind};
use super::{Disk, Errno};
use std::sync::Arc;

/// Longest name, in bytes; a longer one is `name-too-long`. As on every Linux file system.
pub const NAME_BYTES_MAX: usize = 255;
/// Longest path or link text, in bytes; a longer one is `name-too-long`. Linux's `PATH_MAX` without its NUL.
pub const PATH_BYTES_MAX: usize = 4095;
/// Symbolic links that one path may lead through; one more is `loop`. As in Linux.
pub const LINKS_FOLLOWED_MAX: u32 = 40;

/// What a path leads to.
pub(super) enum PathTarget<'a> {
    /// A directory, by a path that ends in `.` or `..`.
    Dots(InodeIndex),
    /// A name in a directory, and what it stands for if anything.
    Name { directory: InodeIndex, name: &'a str, entry: Option<DirectoryEntry>, slash: bool },
}

/// The last name of a path, which an operation is about to create, remove or move.
pub(super) struct LastComponent<'a> {
    pub(super) directory: InodeIndex,
    /// `None` when the path ends in `.`, `..` or a slash, and so names no entry.
    pub(super) name: Option<&'a str>,
}

/// How the end of a path is treated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct PathEndRules {
    /// A link at the end is followed.
    pub(super) follow: bool,
    /// A file is about to be created: a slash at the end is refused.
    pub(super) create: bool,
}

/// Refuses what no path and no text of a symbolic link may be.
pub(super) fn check_path(path: &str) -> Result<(), Errno> {
    if path.is_empty() {
        return Err(Errno::NoEntry);
    }
    // Names are C strings for the system that wasmtime-wasi asks, which calls this an invalid argument.
    if path.as_bytes().contains(&0) {
        return Err(Errno::Invalid);
    }
    if path.len() > PATH_BYTES_MAX {
        return Err(Errno::NameTooLong);
    }
    if path.starts_with('/') {
        return Err(Errno::NotPermitted);
    }
    Ok(())
}

/// Whether `name` can be a name in a directory.
fn check_name(name: &str) -> Result<(), Errno> {
    if name.len() > NAME_BYTES_MAX { Err(Errno::NameTooLong) } else { Ok(()) }
}

impl Disk {
    /// Walks `path` from `base`.
    pub(super) fn walk<'a>(
        &'a self,
        base: InodeIndex,
        path: &'a str,
        ending: PathEndRules,
    ) -> Result<PathTarget<'a>, Errno> {
        check_path(path)?;
        let mut current = base;
        let mut directory = self.node(base).directory()?;
        let (mut rest, mut outer, mut followed) = (path, Vec::new(), 0);
        let mut slash = false;
        loop {
            let (name, after) = rest.split_once('/').unwrap_or((rest, ""));
            let next = after.trim_start_matches('/');
            let last = next.is_empty() && outer.is_empty();
            let special = name == "." || name == "..";
            if last && name.len() < rest.len() && !special {
                if ending.create {
                    return Err(Errno::IsDirectory);
                }
                slash = true;
            }
            if special {
                if name == ".." {
                    if current == base {
                        return Err(Errno::NotPermitted);
                    }
                    current = directory.parent;
                    directory = self.node(current).directory().expect("a parent is a directory");
                }
                if last {
                    return Ok(PathTarget::Dots(current));
                }
            } else {
                check_name(name)?;
                let entry = directory.entries.get(name).copied();
                let follow = !last || ending.follow || slash;
                match entry {
                    Some(entry) if entry.kind == InodeKind::Link && follow => {
                        followed += 1;
                        if followed > LINKS_FOLLOWED_MAX {
                            return Err(Errno::Loop);
                        }
                        let InodeBody::Link(text) = &self.node(entry.node).body else {
                            unreachable!("an entry's kind is its node's")
                        };
                        self.followed.add(text);
                        if text.starts_with('/') {
                            return Err(Errno::NotPermitted);
                        }
                        if !next.is_empty() {
                            outer.push(next);
                        }
                        rest = text;
                        continue;
                    }
                    entry if last => return Ok(PathTarget::Name { directory: current, name, entry, slash }),
                    None => return Err(Errno::NoEntry),
                    Some(entry) => {
                        directory = self.node(entry.node).directory()?;
                        current = entry.node;
                    }
                }
            }
            rest = match next {
                "" => outer.pop().expect("it is not the last name"),
                next => next,
            };
        }
    }

    /// The node that `path` leads to.
    pub(super) fn lookup(&self, base: InodeIndex, path: &str, follow: bool) -> Result<InodeIndex, Errno> {
        match self.walk(base, path, PathEndRules { follow, create: false })? {
            PathTarget::Dots(node) => Ok(node),
            PathTarget::Name { entry: Some(entry), slash, .. } => {
                if slash && entry.kind != InodeKind::Directory {
                    return Err(Errno::NotDirectory);
                }
                Ok(entry.node)
            }
            PathTarget::Name { entry: None, .. } => Err(Errno::NoEntry),
        }
    }

    /// Splits off the last name of `path` and walks the rest, which must lead to a directory.
    ///
    /// As in wasmtime-wasi, a path that ends in a slash has no last name: it is the directory's own `.`.
    pub(super) fn place<'p>(&self, base: InodeIndex, path: &'p str) -> Result<LastComponent<'p>, Errno> {
        check_path(path)?;
        let (parent, name) = split_last(path);
        let directory = match parent {
            "" => base,
            parent => self.lookup(base, parent, true)?,
        };
        self.node(directory).directory()?;
        if let Some(name) = name {
            check_name(name)?;
        }
        Ok(LastComponent { directory, name })
    }

    /// The absolute path of a node, for those who name it outside the disk; of a node with several names the
    /// latest, of one without the one it had last.
    #[must_use]
    pub fn path_of(&self, node: InodeIndex) -> String {
        let (mut names, mut at, mut bytes) = (Vec::new(), node, 0);
        // What is removed can have been in what is removed, and its place be taken; a path has its bound anyway.
        while at != self.root() && bytes < PATH_BYTES_MAX {
            let Some((directory, name)) = self.name_of(at) else { break };
            bytes += name.len() + 1;
            names.push(name);
            at = directory;
        }
        names.iter().rev().fold(String::new(), |path, name| path + "/" + name) + if names.is_empty() { "/" } else { "" }
    }

    /// The absolute path that `relative` means below `base`, by its text alone: links are not followed.
    #[must_use]
    pub fn path_at(&self, base: InodeIndex, relative: &str) -> String {
        let base = self.path_of(base);
        let mut names: Vec<&str> = base.split('/').filter(|name| !name.is_empty()).collect();
        for name in relative.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop()),
                name => names.push(name),
            }
        }
        format!("/{}", names.join("/"))
    }

    /// A directory and a name in it that lead to `node`.
    fn name_of(&self, node: InodeIndex) -> Option<(InodeIndex, Arc<str>)> {
        let at = self.nodes.get(u64::from(node.0))?;
        let latest = Some((at.named_in, Arc::clone(&at.name)));
        let leads = |directory: InodeIndex, name: &str| {
            let entries = self.nodes.get(u64::from(directory.0)).and_then(|node| node.directory().ok());
            entries.and_then(|directory| directory.entries.get(name)).is_some_and(|entry| entry.node == node)
        };
        if at.links == 0 || leads(at.named_in, &at.name) {
            return latest;
        }
        // The latest of several names is gone: this is rare, and the whole disk is searched.
        let mut found = None;
        self.nodes.for_each(&mut |index, one| {
            if let (None, true, Ok(directory)) = (&found, one.links > 0, one.directory()) {
                let mut entries = directory.entries.iter();
                found = entries
                    .find(|(_, entry)| entry.node == node)
                    .map(|(name, _)| (InodeIndex(index as u32), Arc::clone(name)));
            }
        });
        found.or(latest)
    }

    /// What stands at a place that has a name.
    pub(super) fn entry(&self, directory: InodeIndex, name: &str) -> Option<DirectoryEntry> {
        self.node(directory).directory().ok()?.entries.get(name).copied()
    }
}

/// Splits a path into what leads to its last name, and that name.
fn split_last(path: &str) -> (&str, Option<&str>) {
    let (parent, name) = match path.rsplit_once('/') {
        Some((parent, name)) => (parent, name),
        None => ("", path),
    };
    match name {
        "" | ".." => (path, None),
        "." if parent.is_empty() => ("", None),
        "." => (path, None),
        name => (parent, Some(name)),
    }
}

/// A path without the slashes at its end: some operations do not mind them.
pub(super) fn without_slashes(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" if !path.is_empty() => "/",
        shorter => shorter,
    }
}
