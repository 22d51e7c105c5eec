//! Place: the fresh directory of one case, with short words for what cases do all the time.
//!
//! ```text
//! let d = Place::new(number);
//! d.put("a", b"text");   d.open("a", READ)   d.text("a")   d.names("")
//! ```
//!
//! What prepares a case must succeed; what a case shows is called on the descriptor itself.

use crate::show::Bytes;
use wasip2::filesystem::preopens::get_directories;
use wasip2::filesystem::types::{
    Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode, OpenFlags, PathFlags,
};
use wasip2::io::streams::{InputStream, OutputStream, StreamError};

pub const READ: DescriptorFlags = DescriptorFlags::READ;
pub const WRITE: DescriptorFlags = DescriptorFlags::WRITE;
pub const BOTH: DescriptorFlags = DescriptorFlags::READ.union(DescriptorFlags::WRITE);
pub const NO_FLAGS: DescriptorFlags = DescriptorFlags::empty();

pub const AS_IS: OpenFlags = OpenFlags::empty();
pub const CREATE: OpenFlags = OpenFlags::CREATE;
pub const EXCLUSIVE: OpenFlags = OpenFlags::CREATE.union(OpenFlags::EXCLUSIVE);
pub const TRUNCATE: OpenFlags = OpenFlags::TRUNCATE;
pub const DIRECTORY: OpenFlags = OpenFlags::DIRECTORY;

pub const STAY: PathFlags = PathFlags::empty();
pub const FOLLOW: PathFlags = PathFlags::SYMLINK_FOLLOW;

pub type Answer<T> = Result<T, ErrorCode>;

/// The directory of one case.
pub struct Place {
    pub dir: Descriptor,
}

impl std::ops::Deref for Place {
    type Target = Descriptor;

    fn deref(&self) -> &Descriptor {
        &self.dir
    }
}

/// The one directory that the host hands out.
pub fn root() -> Descriptor {
    get_directories().into_iter().find(|(_, path)| path == "/").expect("the host preopens /").0
}

impl Place {
    /// A new directory below the root. The number makes it no other case's.
    pub fn new(number: usize) -> Place {
        let (root, name) = (root(), format!("case-{number:03}"));
        root.create_directory_at(&name).expect("a fresh name");
        Place {
            dir: root.open_at(STAY, &name, DIRECTORY, READ | DescriptorFlags::MUTATE_DIRECTORY).expect("just made"),
        }
    }

    /// Makes a file.
    pub fn put(&self, path: &str, content: &[u8]) {
        let file = self.dir.open_at(STAY, path, CREATE, WRITE).expect("a file can be made");
        let mut done = 0;
        while done < content.len() {
            done += file.write(&content[done..], done as u64).expect("it can be written") as usize;
        }
    }

    /// Makes a directory.
    pub fn folder(&self, path: &str) {
        self.dir.create_directory_at(path).expect("a directory can be made");
    }

    /// Makes a symbolic link at `path` that says `text`.
    pub fn link(&self, text: &str, path: &str) {
        self.dir.symlink_at(text, path).expect("a link can be made");
    }

    /// Opens what is there, without following a link at the end.
    pub fn open(&self, path: &str, flags: DescriptorFlags) -> Descriptor {
        self.dir.open_at(STAY, path, AS_IS, flags).expect("it is there")
    }

    /// Makes a file and opens it for reading and writing.
    pub fn made(&self, path: &str, content: &[u8]) -> Descriptor {
        self.put(path, content);
        self.open(path, BOTH)
    }

    /// The whole content of a file.
    pub fn text(&self, path: &str) -> Answer<Bytes> {
        content(&self.dir.open_at(FOLLOW, path, AS_IS, READ)?)
    }

    /// What kind of thing stands at a path, links not followed.
    pub fn kind(&self, path: &str) -> Answer<DescriptorType> {
        self.dir.stat_at(STAY, path).map(|stat| stat.type_)
    }

    /// The kind of what an attempt to open yields.
    pub fn try_open(
        &self,
        path_flags: PathFlags,
        path: &str,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> Answer<DescriptorType> {
        self.dir.open_at(path_flags, path, open, flags)?.get_type()
    }

    /// Names and kinds of a directory's entries, sorted.
    pub fn names(&self, path: &str) -> Answer<Vec<(String, DescriptorType)>> {
        match path {
            "" => names(&self.dir),
            path => names(&self.dir.open_at(STAY, path, DIRECTORY, READ)?),
        }
    }
}

/// Names and kinds of a directory's entries, sorted, since hosts list in any order.
pub fn names(of: &Descriptor) -> Answer<Vec<(String, DescriptorType)>> {
    let (stream, mut names) = (of.read_directory()?, Vec::new());
    while let Some(entry) = stream.read_directory_entry()? {
        names.push((entry.name, entry.type_));
    }
    names.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(names)
}

/// Everything from the start to the end of a file.
pub fn content(file: &Descriptor) -> Answer<Bytes> {
    let mut all = Vec::new();
    loop {
        let (bytes, end) = file.read(1 << 20, all.len() as u64)?;
        all.extend(bytes);
        if end {
            return Ok(Bytes(all));
        }
    }
}

/// What of a stat is the same everywhere: the kind, and links and size unless it is a directory.
pub fn plain(stat: DescriptorStat) -> (DescriptorType, Option<u64>, Option<u64>) {
    let is_directory = stat.type_ == DescriptorType::Directory;
    (stat.type_, (!is_directory).then_some(stat.link_count), (!is_directory).then_some(stat.size))
}

/// Everything that a stream still yields, and how it ends.
pub fn drain(stream: &InputStream) -> (Bytes, StreamError) {
    let mut all = Vec::new();
    loop {
        match stream.blocking_read(1 << 20) {
            Ok(bytes) => all.extend(bytes),
            Err(end) => return (Bytes(all), end),
        }
    }
}

/// Writes by the book: waits until as much is permitted, writes, flushes.
pub fn pour(stream: &OutputStream, mut bytes: &[u8]) -> Result<(), StreamError> {
    while !bytes.is_empty() {
        let permitted = stream.check_write()? as usize;
        if permitted == 0 {
            stream.subscribe().block();
            continue;
        }
        let (now, later) = bytes.split_at(permitted.min(bytes.len()));
        stream.write(now)?;
        bytes = later;
    }
    stream.blocking_flush()
}
