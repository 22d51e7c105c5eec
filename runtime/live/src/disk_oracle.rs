//! The virtual disk beside a real directory: the same operations, the same answers.
//!
//! ```text
//! random operation ──▶ Virtual (fozzy-world)  ──▶ answer ─┐
//!                └───▶ Real (cap-std on Linux) ──▶ answer ─┴─ equal, and so are the trees at the end
//! ```
//!
//! The real side does what wasmtime-wasi does for the same call, with the library that wasmtime-wasi's own
//! file code comes from. Not compared: times, and link counts of directories (file systems differ).

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use fozzy_world::files::{DescriptorFlags, Disk, DiskLimits, Errno, FileDescriptor, InodeKind, OpenFlags, PathFlags};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

/// Directories that a side holds open at once; the first is the base of the sandbox.
pub(crate) const DIRECTORIES: usize = 3;
/// Files that a side holds open at once.
pub(crate) const FILES: usize = 3;
/// `O_NOFOLLOW` of Linux on x86-64 and of the generic table.
const O_NOFOLLOW: i32 = if cfg!(any(target_arch = "aarch64", target_arch = "arm")) { 0o100_000 } else { 0o400_000 };

#[derive(Clone, Debug)]
pub(crate) enum OracleOperation {
    Open { base: usize, path: String, follow: bool, open: OpenFlags, read: bool, write: bool, slot: usize },
    Read { file: usize, offset: u64, length: u64 },
    Write { file: usize, offset: u64, bytes: Vec<u8> },
    Append { file: usize, bytes: Vec<u8> },
    SetSize { file: usize, size: u64 },
    StatOpen { file: usize },
    Stat { base: usize, path: String, follow: bool },
    List { base: usize },
    MakeDirectory { base: usize, path: String },
    RemoveDirectory { base: usize, path: String },
    Unlink { base: usize, path: String },
    Rename { base: usize, old: String, to: usize, new: String },
    Link { base: usize, old: String, to: usize, new: String },
    Symlink { base: usize, text: String, path: String },
    ReadLink { base: usize, path: String },
}

/// A side of the comparison: an operation in, a line of text out.
pub(crate) trait Computer {
    fn run(&mut self, operation: &OracleOperation) -> String;
}

pub(crate) struct VirtualDisk {
    disk: Disk,
    directories: [Option<FileDescriptor>; DIRECTORIES],
    files: [Option<FileDescriptor>; FILES],
}

impl VirtualDisk {
    pub(crate) fn new() -> VirtualDisk {
        let mut disk = Disk::new(DiskLimits { bytes: 1 << 30, nodes: 1 << 20 }, 0);
        let root = disk.open_root(true);
        disk.remove_directory_at(&root, "tmp", 0).expect("the real directory has none");
        VirtualDisk { disk, directories: [Some(root), None, None], files: [None; FILES] }
    }

    fn answer(&mut self, operation: &OracleOperation) -> Result<String, Errno> {
        let directory = |index: usize| self.directories[index].ok_or(Errno::BadDescriptor);
        let file = |index: usize| self.files[index].ok_or(Errno::BadDescriptor);
        let flags = |follow| PathFlags { symlink_follow: follow };
        let disk = &mut self.disk;
        let ok = "ok".to_owned();
        Ok(match operation {
            OracleOperation::Open { base, path, follow, open, read, write, slot } => {
                let wanted = DescriptorFlags { read: *read, write: *write, ..Default::default() };
                let opened = disk.open_at(&directory(*base)?, flags(*follow), path, *open, wanted, 0)?;
                let (place, shown) = match opened.kind {
                    InodeKind::Directory => (&mut self.directories[1 + slot % (DIRECTORIES - 1)], "directory"),
                    _ => (&mut self.files[slot % FILES], "file"),
                };
                if let Some(old) = place.replace(opened) {
                    disk.closed(old.node);
                }
                shown.to_owned()
            }
            OracleOperation::Read { file: index, offset, length } => {
                let (bytes, end) = disk.read(&file(*index)?, *offset, *length)?;
                format!("{bytes:?} {end}")
            }
            OracleOperation::Write { file: index, offset, bytes } => {
                disk.write(&file(*index)?, *offset, bytes, 0)?.to_string()
            }
            OracleOperation::Append { file: index, bytes } => disk.append(&file(*index)?, bytes, 0)?.to_string(),
            OracleOperation::SetSize { file: index, size } => {
                disk.set_size(&file(*index)?, *size, 0)?;
                ok
            }
            OracleOperation::StatOpen { file: index } => {
                let stat = disk.stat(&file(*index)?);
                format!("{} bytes, {} links", stat.size, stat.links)
            }
            OracleOperation::Stat { base, path, follow } => {
                let stat = disk.stat_at(&directory(*base)?, flags(*follow), path)?;
                match stat.kind {
                    InodeKind::Directory => "directory".to_owned(),
                    InodeKind::File => format!("file, {} bytes, {} links", stat.size, stat.links),
                    InodeKind::Link => format!("link, {} bytes, {} links", stat.size, stat.links),
                }
            }
            OracleOperation::List { base } => {
                let names = disk.read_directory(&directory(*base)?)?;
                names.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(" ")
            }
            OracleOperation::MakeDirectory { base, path } => {
                disk.create_directory_at(&directory(*base)?, path, 0)?;
                ok
            }
            OracleOperation::RemoveDirectory { base, path } => {
                disk.remove_directory_at(&directory(*base)?, path, 0)?;
                ok
            }
            OracleOperation::Unlink { base, path } => {
                disk.unlink_file_at(&directory(*base)?, path, 0)?;
                ok
            }
            OracleOperation::Rename { base, old, to, new } => {
                disk.rename_at(&directory(*base)?, old, &directory(*to)?, new, 0)?;
                ok
            }
            OracleOperation::Link { base, old, to, new } => {
                disk.link_at(&directory(*base)?, flags(false), old, &directory(*to)?, new, 0)?;
                ok
            }
            OracleOperation::Symlink { base, text, path } => {
                disk.symlink_at(&directory(*base)?, text, path, 0)?;
                ok
            }
            OracleOperation::ReadLink { base, path } => disk.readlink_at(&directory(*base)?, path)?.to_string(),
        })
    }
}

impl Computer for VirtualDisk {
    fn run(&mut self, operation: &OracleOperation) -> String {
        self.answer(operation).unwrap_or_else(|error| error.name().to_owned())
    }
}

struct Real {
    directories: [Option<Dir>; DIRECTORIES],
    files: [Option<std::fs::File>; FILES],
}

impl Real {
    fn new(directory: &std::path::Path) -> Real {
        let root = Dir::open_ambient_dir(directory, ambient_authority()).expect("a temporary directory");
        Real { directories: [Some(root), None, None], files: [None, None, None] }
    }

    fn directory(&self, index: usize) -> io::Result<&Dir> {
        self.directories[index].as_ref().ok_or(io::Error::from_raw_os_error(9))
    }

    fn file(&self, index: usize) -> io::Result<&std::fs::File> {
        self.files[index].as_ref().ok_or(io::Error::from_raw_os_error(9))
    }

    fn answer(&mut self, operation: &OracleOperation) -> io::Result<String> {
        let ok = "ok".to_owned();
        Ok(match operation {
            OracleOperation::Open { base, path, follow, open, read, write, slot } => {
                let options = options(*follow, *open, *read, *write);
                if open.directory && (open.create || open.exclusive || open.truncate) {
                    self.directory(*base)?;
                    return Err(io::Error::from_raw_os_error(22));
                }
                let opened = self.directory(*base)?.open_with(path, &options)?.into_std();
                if opened.metadata()?.is_dir() {
                    self.directories[1 + slot % (DIRECTORIES - 1)] = Some(Dir::from_std_file(opened));
                    "directory".to_owned()
                } else if open.directory {
                    return Err(io::Error::from_raw_os_error(20));
                } else {
                    self.files[slot % FILES] = Some(opened);
                    "file".to_owned()
                }
            }
            OracleOperation::Read { file, offset, length } => {
                let mut bytes = vec![0; *length as usize];
                let count = self.file(*file)?.read_at(&mut bytes, *offset)?;
                bytes.truncate(count);
                format!("{bytes:?} {}", count == 0)
            }
            OracleOperation::Write { file, offset, bytes } => self.file(*file)?.write_at(bytes, *offset)?.to_string(),
            OracleOperation::Append { file, bytes } => {
                let file = self.file(*file)?;
                file.write_at(bytes, file.metadata()?.len())?.to_string()
            }
            OracleOperation::SetSize { file, size } => {
                self.file(*file)?.set_len(*size)?;
                ok
            }
            OracleOperation::StatOpen { file } => {
                let stat = self.file(*file)?.metadata()?;
                format!("{} bytes, {} links", stat.len(), stat.nlink())
            }
            OracleOperation::Stat { base, path, follow } => {
                let base = self.directory(*base)?;
                let stat = if *follow { base.metadata(path)? } else { base.symlink_metadata(path)? };
                let links = cap_std::fs::MetadataExt::nlink(&stat);
                if stat.is_dir() {
                    "directory".to_owned()
                } else {
                    let kind = if stat.is_file() { "file" } else { "link" };
                    format!("{kind}, {} bytes, {links} links", stat.len())
                }
            }
            OracleOperation::List { base } => {
                let mut names = Vec::new();
                for entry in self.directory(*base)?.entries()? {
                    names.push(entry?.file_name().into_string().expect("the vocabulary is UTF-8"));
                }
                names.sort();
                names.join(" ")
            }
            OracleOperation::MakeDirectory { base, path } => {
                self.directory(*base)?.create_dir(path)?;
                ok
            }
            OracleOperation::RemoveDirectory { base, path } => {
                self.directory(*base)?.remove_dir(path)?;
                ok
            }
            OracleOperation::Unlink { base, path } => {
                self.directory(*base)?.remove_file(path)?;
                ok
            }
            OracleOperation::Rename { base, old, to, new } => {
                // wasmtime-wasi wants a directory when either path ends in a slash; cap-std looks at the old one.
                let slash = if new.ends_with('/') && !old.ends_with('/') && !old.is_empty() { "/" } else { "" };
                self.directory(*base)?.rename(format!("{old}{slash}"), self.directory(*to)?, new)?;
                ok
            }
            OracleOperation::Link { base, old, to, new } => {
                self.directory(*base)?.hard_link(old, self.directory(*to)?, new)?;
                ok
            }
            OracleOperation::Symlink { base, text, path } => {
                self.directory(*base)?.symlink(text, path)?;
                ok
            }
            OracleOperation::ReadLink { base, path } => {
                self.directory(*base)?.read_link(path)?.to_str().expect("the vocabulary is UTF-8").to_owned()
            }
        })
    }
}

impl Computer for Real {
    fn run(&mut self, operation: &OracleOperation) -> String {
        self.answer(operation).unwrap_or_else(|error| error_name(&error))
    }
}

/// How wasmtime-wasi turns flags into options.
fn options(follow: bool, open: OpenFlags, read: bool, write: bool) -> OpenOptions {
    let mut options = OpenOptions::new();
    if open.create {
        if open.exclusive {
            options.create_new(true);
        } else {
            options.create(true);
        }
        options.write(true);
    }
    if open.truncate {
        options.truncate(true).write(true);
    }
    if read || !write {
        options.read(true);
    }
    if write {
        options.write(true);
    }
    if !follow {
        options.custom_flags(O_NOFOLLOW);
    }
    options
}

/// How wasmtime-wasi turns errors into error codes, by the numbers of Linux.
fn error_name(error: &io::Error) -> String {
    let errno = match error.raw_os_error() {
        Some(1) => Errno::NotPermitted,
        Some(2) => Errno::NoEntry,
        Some(9) => Errno::BadDescriptor,
        Some(16) => Errno::Busy,
        Some(17) => Errno::Exist,
        Some(20) => Errno::NotDirectory,
        Some(21) => Errno::IsDirectory,
        Some(22) => Errno::Invalid,
        Some(27) => Errno::FileTooLarge,
        Some(31) => Errno::TooManyLinks,
        Some(36) => Errno::NameTooLong,
        Some(39) => Errno::NotEmpty,
        Some(40) => Errno::Loop,
        Some(other) => return format!("error {other} of Linux: {error}"),
        None => match error.kind() {
            io::ErrorKind::PermissionDenied => Errno::NotPermitted,
            io::ErrorKind::InvalidInput => Errno::Invalid,
            other => return format!("{other:?}: {error}"),
        },
    };
    errno.name().to_owned()
}

/// Knuth's generator: the same operations in every run.
pub(crate) struct Lcg(pub(crate) u64);

impl Lcg {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn chance(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    fn path(&mut self) -> String {
        const NAMES: [&str; 4] = ["a", "b", "c", "d"];
        let mut path = String::new();
        if self.chance(60) {
            return ["", "/", "/a", ".", "..", "./", "//"][self.below(7) as usize].to_owned();
        }
        for step in 0..1 + self.below(3) {
            if step > 0 {
                path.push_str(if self.chance(12) { "//" } else { "/" });
            }
            match self.below(12) {
                0 => path.push_str(".."),
                1 => path.push('.'),
                _ => path.push_str(NAMES[self.below(4) as usize]),
            }
        }
        if self.chance(8) {
            path.push('/');
        }
        if self.chance(30) {
            path.push_str("/.");
        }
        path
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = if self.chance(3) { self.below(9000) } else { self.below(20) };
        (0..length).map(|_| self.below(256) as u8).collect()
    }

    pub(crate) fn operation(&mut self) -> OracleOperation {
        let base = if self.chance(3) { 1 + self.below(DIRECTORIES as u64 - 1) as usize } else { 0 };
        let to = if self.chance(3) { 1 + self.below(DIRECTORIES as u64 - 1) as usize } else { 0 };
        let file = self.below(FILES as u64) as usize;
        let path = self.path();
        match self.below(24) {
            0..5 => {
                let flags = if self.chance(3) { self.below(16) } else { [0, 1][self.below(2) as usize] };
                let open = OpenFlags {
                    create: flags & 1 != 0,
                    directory: flags & 2 != 0,
                    exclusive: flags & 4 != 0,
                    truncate: flags & 8 != 0,
                };
                let (read, write, follow) = (!self.chance(3), self.chance(2), !self.chance(4));
                OracleOperation::Open { base, path, follow, open, read, write, slot: self.below(6) as usize }
            }
            5 => OracleOperation::Read { file, offset: self.below(30_000), length: self.below(20_000) },
            6 => OracleOperation::Read { file, offset: u64::MAX - self.below(3), length: self.below(2) },
            7 | 8 => OracleOperation::Write { file, offset: self.below(30_000), bytes: self.bytes() },
            9 => OracleOperation::Append { file, bytes: self.bytes() },
            10 => OracleOperation::SetSize { file, size: self.below(30_000) },
            11 => OracleOperation::StatOpen { file },
            12 | 13 => OracleOperation::Stat { base, path, follow: self.chance(2) },
            14 => OracleOperation::List { base },
            15 | 16 => OracleOperation::MakeDirectory { base, path },
            17 => OracleOperation::RemoveDirectory { base, path },
            18 => OracleOperation::Unlink { base, path },
            19 | 20 => OracleOperation::Rename { base, old: path, to, new: self.path() },
            21 => OracleOperation::Link { base, old: path, to, new: self.path() },
            22 => OracleOperation::Symlink { base, text: self.path(), path },
            _ => OracleOperation::ReadLink { base, path },
        }
    }
}

/// Everything below the base, one line for each entry.
pub(crate) fn tree(computer: &mut dyn Computer) -> Vec<String> {
    let mut lines = Vec::new();
    let mut pending = vec![String::new()];
    while let Some(path) = pending.pop() {
        let at = if path.is_empty() { ".".to_owned() } else { path.clone() };
        let opened = computer.run(&OracleOperation::Open {
            base: 0,
            path: at,
            follow: false,
            open: OpenFlags::default(),
            read: true,
            write: false,
            slot: 0,
        });
        lines.push(match opened.as_str() {
            "directory" => {
                let names = computer.run(&OracleOperation::List { base: 1 });
                let below = names.split(' ').filter(|name| !name.is_empty());
                pending
                    .extend(below.map(|name| if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }));
                format!("{path}/")
            }
            "file" => {
                let content = computer.run(&OracleOperation::Read { file: 0, offset: 0, length: 64 * 1024 });
                format!("{path} = {content} {}", computer.run(&OracleOperation::StatOpen { file: 0 }))
            }
            _ => format!("{path} -> {}", computer.run(&OracleOperation::ReadLink { base: 0, path: path.clone() })),
        });
    }
    lines
}

#[test]
fn random_operations_have_the_answers_of_a_real_directory() {
    let mut random = Lcg(11);
    let mut answers = std::collections::BTreeMap::<String, u64>::new();
    for round in 0..40 {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let (mut ours, mut real) = (VirtualDisk::new(), Real::new(directory.path()));
        for step in 0..300 {
            let operation = random.operation();
            let (our, expected) = (ours.run(&operation), real.run(&operation));
            assert_eq!(our, expected, "round {round}, step {step}: {operation:?}");
            *answers.entry(our).or_default() += 1;
        }
        assert_eq!(tree(&mut ours), tree(&mut real), "round {round}");
    }
    // The comparison is worth something only if the interesting answers were met.
    for expected in [
        "ok",
        "directory",
        "file",
        "no-entry",
        "not-permitted",
        "not-directory",
        "is-directory",
        "exist",
        "not-empty",
        "invalid",
        "loop",
        "busy",
        "bad-descriptor",
    ] {
        assert!(answers.get(expected).is_some_and(|count| *count > 5), "`{expected}` was hardly met: {answers:?}");
    }
}

#[test]
fn long_names_and_strange_bytes_have_the_answers_of_a_real_directory() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (mut ours, mut real) = (VirtualDisk::new(), Real::new(directory.path()));
    let (name, long) = ("n".repeat(255), "n".repeat(256));
    let (path, long_path) = ("./".repeat(2047), "./".repeat(2048));
    for path in [&name, &long, &path, &long_path, "a\0b", "a\0b/c", &format!("missing/{long}"), &format!("{name}/x")] {
        let path = path.to_owned();
        let create = OpenFlags { create: true, ..OpenFlags::default() };
        for operation in [
            OracleOperation::Open {
                base: 0,
                path: path.clone(),
                follow: true,
                open: create,
                read: true,
                write: true,
                slot: 0,
            },
            OracleOperation::Stat { base: 0, path: path.clone(), follow: true },
            OracleOperation::MakeDirectory { base: 0, path: path.clone() },
            OracleOperation::Unlink { base: 0, path: path.clone() },
            OracleOperation::Symlink { base: 0, text: path.clone(), path: "link".to_owned() },
            OracleOperation::ReadLink { base: 0, path: "link".to_owned() },
            OracleOperation::Unlink { base: 0, path: "link".to_owned() },
        ] {
            assert_eq!(ours.run(&operation), real.run(&operation), "{operation:?}");
        }
    }
}
