//! The live disk beside the virtual one: the same operations, the same answers, and the same tree at the end.
//!
//! Together with `disk_oracle.rs`, which holds the virtual disk against what wasmtime-wasi does in a real directory,
//! a guest cannot tell which of the three it runs on. Not compared: times, identities, and link counts of
//! directories (file systems differ).

use super::*;
use crate::disk_oracle::{Computer, DIRECTORIES, FILES, Lcg, OracleOperation, VirtualDisk, tree};

/// A number that nothing was opened as.
const NEVER: u32 = u32::MAX;

struct LiveDisk {
    files: FileBackend,
    inputs: Inputs,
    directories: [u32; DIRECTORIES],
    opened: [u32; FILES],
    next: u32,
}

impl LiveDisk {
    fn new(directory: &Path) -> LiveDisk {
        let files = FileBackend::new(directory, None).expect("a temporary directory");
        LiveDisk { files, inputs: Inputs::default(), directories: [0, NEVER, NEVER], opened: [NEVER; FILES], next: 1 }
    }

    fn ask(&mut self, on: u32, operation: FileOperation) -> Result<FileResponse, Errno> {
        self.files.answer(&FileRequest { on, operation }, &super::tests::no_secrets(), &mut self.inputs)
    }

    fn translate(&mut self, operation: &OracleOperation) -> (u32, FileOperation) {
        let directory = |index: &usize| self.directories[*index];
        let file = |index: &usize| self.opened[*index];
        match operation.clone() {
            OracleOperation::Open { base, path, follow, open, read, write, slot: _ } => {
                let operation = FileOperation::OpenAt {
                    path,
                    follow,
                    create: open.create,
                    directory: open.directory,
                    exclusive: open.exclusive,
                    truncate: open.truncate,
                    read,
                    write,
                    opened: self.next,
                };
                (directory(&base), operation)
            }
            OracleOperation::Read { file: index, offset, length } => {
                (file(&index), FileOperation::Read { offset, length })
            }
            OracleOperation::Write { file: index, offset, bytes } => {
                (file(&index), FileOperation::Write { offset, bytes: self.inputs.add(bytes) })
            }
            OracleOperation::Append { file: index, bytes } => {
                (file(&index), FileOperation::Append { bytes: self.inputs.add(bytes) })
            }
            OracleOperation::SetSize { file: index, size } => (file(&index), FileOperation::SetSize { size }),
            OracleOperation::StatOpen { file: index } => (file(&index), FileOperation::Stat),
            OracleOperation::Stat { base, path, follow } => (directory(&base), FileOperation::StatAt { path, follow }),
            OracleOperation::List { base } => (directory(&base), FileOperation::ReadDirectory),
            OracleOperation::MakeDirectory { base, path } => {
                (directory(&base), FileOperation::CreateDirectoryAt { path })
            }
            OracleOperation::RemoveDirectory { base, path } => {
                (directory(&base), FileOperation::RemoveDirectoryAt { path })
            }
            OracleOperation::Unlink { base, path } => (directory(&base), FileOperation::UnlinkFileAt { path }),
            OracleOperation::Rename { base, old, to, new } => {
                (directory(&base), FileOperation::RenameAt { path: old, to: directory(&to), new_path: new })
            }
            OracleOperation::Link { base, old, to, new } => {
                let to = directory(&to);
                (directory(&base), FileOperation::LinkAt { path: old, follow: false, to, new_path: new })
            }
            OracleOperation::Symlink { base, text, path } => {
                (directory(&base), FileOperation::SymlinkAt { text, path })
            }
            OracleOperation::ReadLink { base, path } => (directory(&base), FileOperation::ReadlinkAt { path }),
        }
    }

    /// Puts what was just opened where the other side puts it.
    fn place(&mut self, slot: usize, kind: FileKind) {
        let place = match kind {
            FileKind::Directory => &mut self.directories[1 + slot % (DIRECTORIES - 1)],
            _ => &mut self.opened[slot % FILES],
        };
        let old = std::mem::replace(place, self.next);
        self.next += 1;
        assert_eq!(self.ask(old, FileOperation::Close), Ok(FileResponse::Done));
    }
}

impl Computer for LiveDisk {
    fn run(&mut self, operation: &OracleOperation) -> String {
        let (on, ask) = self.translate(operation);
        match self.ask(on, ask) {
            Err(error) => error.name().to_owned(),
            Ok(FileResponse::Done) => "ok".to_owned(),
            Ok(FileResponse::Opened(kind)) => {
                let OracleOperation::Open { slot, .. } = operation else { panic!("only opening opens") };
                self.place(*slot, kind);
                if kind == FileKind::Directory { "directory" } else { "file" }.to_owned()
            }
            Ok(FileResponse::Bytes { bytes, end }) => format!("{:?} {end}", self.inputs.get(&bytes).expect("stored")),
            Ok(FileResponse::Written(count)) => count.to_string(),
            Ok(FileResponse::Stat(stat)) => match (operation, stat.kind) {
                (OracleOperation::StatOpen { .. }, _) => format!("{} bytes, {} links", stat.size, stat.links),
                (_, FileKind::Directory) => "directory".to_owned(),
                (_, FileKind::File) => format!("file, {} bytes, {} links", stat.size, stat.links),
                (_, _) => format!("link, {} bytes, {} links", stat.size, stat.links),
            },
            Ok(FileResponse::Entries(entries)) => {
                entries.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ")
            }
            Ok(FileResponse::Link(text)) => text,
            Ok(other) => panic!("{other:?} is no answer to {operation:?}"),
        }
    }
}

#[test]
fn the_live_disk_answers_as_the_virtual_one() {
    let mut random = Lcg(23);
    let mut answers = std::collections::BTreeMap::<String, u64>::new();
    for round in 0..40 {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (mut ours, mut live) = (VirtualDisk::new(), LiveDisk::new(directory.path()));
        for step in 0..300 {
            let operation = random.operation();
            let (expected, answer) = (ours.run(&operation), live.run(&operation));
            assert_eq!(answer, expected, "round {round}, step {step}: {operation:?}");
            *answers.entry(answer).or_default() += 1;
        }
        assert_eq!(tree(&mut live), tree(&mut ours), "round {round}");
    }
    // The comparison is worth something only if the interesting answers were met.
    for expected in ["ok", "directory", "file", "no-entry", "not-permitted", "is-directory", "exist", "loop", "busy"] {
        assert!(answers.get(expected).is_some_and(|count| *count > 5), "`{expected}` was hardly met: {answers:?}");
    }
}

#[test]
fn long_names_and_strange_bytes_are_answered_as_by_the_virtual_disk() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (mut ours, mut live) = (VirtualDisk::new(), LiveDisk::new(directory.path()));
    let (name, long) = ("n".repeat(255), "n".repeat(256));
    let (path, long_path) = ("./".repeat(2047), "./".repeat(2048));
    for path in [&name, &long, &path, &long_path, "a\0b", "a\0b/c", &format!("missing/{long}"), &format!("{name}/x")] {
        let path = path.to_owned();
        for operation in [
            OracleOperation::Stat { base: 0, path: path.clone(), follow: true },
            OracleOperation::MakeDirectory { base: 0, path: path.clone() },
            OracleOperation::Rename { base: 0, old: path.clone(), to: 0, new: path.clone() },
            OracleOperation::RemoveDirectory { base: 0, path: path.clone() },
            OracleOperation::Unlink { base: 0, path: path.clone() },
            OracleOperation::Symlink { base: 0, text: path.clone(), path: "link".to_owned() },
            OracleOperation::ReadLink { base: 0, path: "link".to_owned() },
            OracleOperation::Unlink { base: 0, path: "link".to_owned() },
        ] {
            assert_eq!(live.run(&operation), ours.run(&operation), "{operation:?}");
        }
    }
}
