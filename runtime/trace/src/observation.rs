//! Observations: what the real computer answered, captured once and replayed ever after.
//!
//! ```text
//! live     guest ─▶ Ask ─▶ real computer ─▶ Answer ─▶ recorded as Observation { ask, answer } ─▶ guest
//! replay   guest ─▶ Ask ─▶ equal to the recorded one? ─▶ its Answer ─▶ guest      else a divergence
//! ```
//!
//! Invariants: an observation is recorded before anything judges it; bytes stand in it by their SHA-256 and
//! in the trace once; times in it are the real computer's own data (a file's modification time) or how long it took
//! ([`AnswerTime`]), never the time at which it was asked.
//! Not here: who performs an [`BackendRequest`] (`fozzy-live`), when its answer arrives in virtual time (`fozzy-world`).

use crate::errno::Errno;
use crate::plan::{HttpFailure, Inputs, ProcessExit};
use crate::{Digest, Duration};
use serde::{Deserialize, Serialize};

/// One exchange with the real computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Observation {
    /// What was asked.
    pub ask: BackendRequest,
    /// What came back.
    pub answer: BackendResponse,
    /// How long it took; `None` where the time is drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<AnswerTime>,
}

/// The longest that an answer can have taken: a day, beyond every bound of the real computer. A trace that claims more is
/// refused.
pub const ANSWER_TIME_MAX: Duration = Duration(86_400_000_000_000);

/// How long the real computer took to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct AnswerTime {
    /// Until the first of it was there: of HTTP the head of the response, of anything else all.
    pub first: Duration,
    /// Until all of it was there.
    pub whole: Duration,
}

/// What can be asked of the real computer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendRequest {
    /// An operation on a file or directory.
    File(FileRequest),
    /// An HTTP request.
    Http(HttpBackendRequest),
    /// A process, from its start to its end.
    Process(ProcessRequest),
}

/// What the real computer answered; the case is that of the [`BackendRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BackendResponse {
    /// Of a file operation.
    File(Result<FileResponse, Errno>),
    /// Of a request.
    Http(Result<HttpBackendResponse, HttpFailure>),
    /// Of a process.
    Process(Result<ProcessResponse, ProcessFailure>),
}

/// An operation on a file or directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FileRequest {
    /// The open file or directory that it is performed on. 0 is the root, which is always open.
    pub on: u32,
    /// What is done.
    pub operation: FileOperation,
}

/// The operations of `wasi:filesystem`, each under its name there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum FileOperation {
    /// Opens what stands at `path`, as number `opened` from now on.
    OpenAt {
        /// Relative to `on`.
        path: String,
        /// Follow a symbolic link at the end of the path.
        follow: bool,
        /// `O_CREAT`.
        create: bool,
        /// `O_DIRECTORY`.
        directory: bool,
        /// `O_EXCL`.
        exclusive: bool,
        /// `O_TRUNC`.
        truncate: bool,
        /// Open for reading.
        read: bool,
        /// Open for writing.
        write: bool,
        /// The number by which the caller names it from now on.
        opened: u32,
    },
    /// Closes `on`. Always done.
    Close,
    /// Reads up to `length` bytes.
    Read {
        /// Where, in bytes.
        offset: u64,
        /// How many at the most.
        length: u64,
    },
    /// Writes bytes at an offset.
    Write {
        /// Where, in bytes.
        offset: u64,
        /// The bytes.
        bytes: Digest,
    },
    /// Writes bytes at the end.
    Append {
        /// The bytes.
        bytes: Digest,
    },
    /// `stat` of `on`.
    Stat,
    /// `stat-at`.
    StatAt {
        /// Relative to `on`.
        path: String,
        /// Follow a symbolic link at the end.
        follow: bool,
    },
    /// `set-size`.
    SetSize {
        /// In bytes.
        size: u64,
    },
    /// `set-times` of `on`, or of what stands at `path`.
    SetTimes {
        /// `None` is `on` itself.
        path: Option<String>,
        /// Follow a symbolic link at the end.
        follow: bool,
        /// Of the last access.
        accessed: TimestampUpdate,
        /// Of the last change of the content.
        modified: TimestampUpdate,
    },
    /// All entries of the directory `on`, sorted by the bytes of their names.
    ReadDirectory,
    /// `create-directory-at`.
    CreateDirectoryAt {
        /// Relative to `on`.
        path: String,
    },
    /// `remove-directory-at`.
    RemoveDirectoryAt {
        /// Relative to `on`.
        path: String,
    },
    /// `unlink-file-at`.
    UnlinkFileAt {
        /// Relative to `on`.
        path: String,
    },
    /// `rename-at`.
    RenameAt {
        /// Relative to `on`.
        path: String,
        /// The directory that `new_path` is relative to.
        to: u32,
        /// The new name.
        new_path: String,
    },
    /// `link-at`.
    LinkAt {
        /// Relative to `on`.
        path: String,
        /// Follow a symbolic link at the end of `path`.
        follow: bool,
        /// The directory that `new_path` is relative to.
        to: u32,
        /// The further name.
        new_path: String,
    },
    /// `symlink-at`.
    SymlinkAt {
        /// What the link says.
        text: String,
        /// Where it stands, relative to `on`.
        path: String,
    },
    /// `readlink-at`.
    ReadlinkAt {
        /// Relative to `on`.
        path: String,
    },
    /// `sync`.
    Sync,
    /// `sync-data`.
    SyncData,
    /// Whether `on` and `other` are one object.
    IsSameObject {
        /// Another open file or directory.
        other: u32,
    },
    /// `metadata-hash` of `on`, or of what stands at `path`.
    MetadataHash {
        /// `None` is `on` itself.
        path: Option<String>,
        /// Follow a symbolic link at the end.
        follow: bool,
    },
}

/// A time to be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimestampUpdate {
    /// It stays as it is.
    NoChange,
    /// The computer's current time.
    Now,
    /// This time, in nanoseconds since 1970.
    At(u64),
}

/// What a file operation gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum FileResponse {
    /// It was done.
    Done,
    /// It is open now, and of this kind.
    Opened(FileKind),
    /// Bytes that were read.
    Bytes {
        /// Them.
        bytes: Digest,
        /// Whether the end of the file was reached.
        end: bool,
    },
    /// So many bytes were written.
    Written(u64),
    /// What it is.
    Stat(FileStat),
    /// Names and kinds.
    Entries(Vec<(String, FileKind)>),
    /// What a symbolic link says.
    Link(String),
    /// Whether they are one object.
    Same(bool),
    /// A hash of its identity.
    Hash {
        /// 64 bits.
        lower: u64,
        /// 64 more.
        upper: u64,
    },
}

/// Kinds of what a file system holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket: it can be seen, not opened.
    Other,
}

/// `descriptor-stat`; times in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct FileStat {
    /// What it is.
    pub kind: FileKind,
    /// Number of names.
    pub links: u64,
    /// In bytes.
    pub size: u64,
    /// Last access.
    pub accessed_ns: u64,
    /// Last change of the content.
    pub modified_ns: u64,
    /// Last change of the metadata.
    pub changed_ns: u64,
}

/// A request, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HttpBackendRequest {
    /// In capitals.
    pub method: String,
    /// Scheme, authority, path and query.
    pub url: String,
    /// Names in small letters, in the guest's order.
    #[serde(with = "headers_text")]
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Digest,
    /// Until the head of the response; `None` is the backend's own bound.
    pub timeout: Option<Duration>,
}

/// A response, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct HttpBackendResponse {
    /// 100 to 999.
    pub status: u16,
    /// Names in small letters, in the server's order.
    #[serde(with = "headers_text")]
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body, as the server sent it.
    pub body: Digest,
    /// Whether the connection broke before the end of the body.
    pub cut: bool,
}

/// A process to be run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ProcessRequest {
    /// Its name or path, as the guest says it.
    pub command: String,
    /// Its arguments, without its own name.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// Its working directory, relative to the root of the sandbox; `None` is the root.
    pub cwd: Option<String>,
    /// Its standard input.
    pub stdin: Digest,
    /// After so long it is killed.
    pub deadline: Option<Duration>,
}

/// How a process went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct ProcessResponse {
    /// How it ended.
    pub exit: ProcessExit,
    /// Whether it ended because its deadline was over.
    pub deadline_passed: bool,
    /// What it wrote to standard output.
    pub stdout: Digest,
    /// What it wrote to standard error.
    pub stderr: Digest,
}

/// Why a process did not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessFailure {
    /// There is no such command.
    NotFound,
    /// It may not be run.
    NotPermitted,
    /// Its output is larger than what is kept.
    OutputTooLarge,
    /// Anything else that the operating system said.
    Other,
}

impl BackendResponse {
    /// The bytes that the answer names.
    #[must_use]
    pub fn digests(&self) -> Vec<Digest> {
        match self {
            BackendResponse::File(Ok(FileResponse::Bytes { bytes, .. })) => vec![*bytes],
            BackendResponse::Http(Ok(answer)) => vec![answer.body],
            BackendResponse::Process(Ok(answer)) => vec![answer.stdout, answer.stderr],
            BackendResponse::File(_) | BackendResponse::Http(Err(_)) | BackendResponse::Process(Err(_)) => Vec::new(),
        }
    }
}

impl BackendRequest {
    /// The bytes that the question names.
    #[must_use]
    pub fn digests(&self) -> Vec<Digest> {
        match self {
            BackendRequest::File(FileRequest { operation: FileOperation::Write { bytes, .. }, .. })
            | BackendRequest::File(FileRequest { operation: FileOperation::Append { bytes }, .. }) => vec![*bytes],
            BackendRequest::File(_) => Vec::new(),
            BackendRequest::Http(ask) => vec![ask.body],
            BackendRequest::Process(ask) => vec![ask.stdin],
        }
    }

    /// Whether `answer` is of the kind that this question has. Who uses a stored answer may rely on it,
    /// whatever trace it comes from.
    #[must_use]
    pub fn fits(&self, answer: &BackendResponse) -> bool {
        match (self, answer) {
            (BackendRequest::File(ask), BackendResponse::File(Ok(answer))) => ask.operation.fits(answer),
            (BackendRequest::File(ask), BackendResponse::File(Err(_))) => ask.operation != FileOperation::Close,
            (BackendRequest::Http(_), BackendResponse::Http(Ok(answer))) => (100..=999).contains(&answer.status),
            (BackendRequest::Http(_), BackendResponse::Http(Err(_)))
            | (BackendRequest::Process(_), BackendResponse::Process(_)) => true,
            (BackendRequest::File(_) | BackendRequest::Http(_) | BackendRequest::Process(_), _) => false,
        }
    }
}

impl FileOperation {
    fn fits(&self, answer: &FileResponse) -> bool {
        match self {
            FileOperation::OpenAt { .. } => matches!(answer, FileResponse::Opened(_)),
            FileOperation::Read { .. } => matches!(answer, FileResponse::Bytes { .. }),
            FileOperation::Write { .. } | FileOperation::Append { .. } => matches!(answer, FileResponse::Written(_)),
            FileOperation::Stat | FileOperation::StatAt { .. } => matches!(answer, FileResponse::Stat(_)),
            FileOperation::ReadDirectory => matches!(answer, FileResponse::Entries(_)),
            FileOperation::ReadlinkAt { .. } => matches!(answer, FileResponse::Link(_)),
            FileOperation::IsSameObject { .. } => matches!(answer, FileResponse::Same(_)),
            FileOperation::MetadataHash { .. } => matches!(answer, FileResponse::Hash { .. }),
            FileOperation::Close
            | FileOperation::SetSize { .. }
            | FileOperation::SetTimes { .. }
            | FileOperation::CreateDirectoryAt { .. }
            | FileOperation::RemoveDirectoryAt { .. }
            | FileOperation::UnlinkFileAt { .. }
            | FileOperation::RenameAt { .. }
            | FileOperation::LinkAt { .. }
            | FileOperation::SymlinkAt { .. }
            | FileOperation::Sync
            | FileOperation::SyncData => matches!(answer, FileResponse::Done),
        }
    }
}

impl Observation {
    /// Whether the answer fits its question, also in the length of the bytes that are in `bytes`: nothing is
    /// read or written that was not asked for.
    #[must_use]
    pub fn is_sound(&self, bytes: &Inputs) -> bool {
        let length = |digest: &Digest| bytes.get(digest).map_or(0, |content| content.len() as u64);
        let operation = match &self.ask {
            BackendRequest::File(FileRequest { operation, .. }) => Some(operation),
            BackendRequest::Http(_) | BackendRequest::Process(_) => None,
        };
        let within = match (operation, &self.answer) {
            (
                Some(FileOperation::Read { length: most, .. }),
                BackendResponse::File(Ok(FileResponse::Bytes { bytes, .. })),
            ) => length(bytes) <= *most,
            (
                Some(FileOperation::Write { bytes, .. } | FileOperation::Append { bytes }),
                BackendResponse::File(Ok(FileResponse::Written(written))),
            ) => *written <= length(bytes),
            _ => true,
        };
        let in_time = self.took.is_none_or(|took| took.first <= took.whole && took.whole <= ANSWER_TIME_MAX);
        within && in_time && self.ask.fits(&self.answer)
    }
}

/// Header values in JSON: each byte is the character of its number (isomorphic decoding, WHATWG Infra 4.6),
/// so that a usual header reads as it is and any other comes back the same.
mod headers_text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(headers: &[(String, Vec<u8>)], serializer: S) -> Result<S::Ok, S::Error> {
        let text = |value: &Vec<u8>| value.iter().map(|byte| char::from(*byte)).collect::<String>();
        serializer.collect_seq(headers.iter().map(|(name, value)| (name, text(value))))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, Vec<u8>)>, D::Error> {
        let headers = Vec::<(String, String)>::deserialize(deserializer)?;
        let bytes = |(name, text): (String, String)| {
            let value: Result<Vec<u8>, _> = text.chars().map(u8::try_from).collect();
            let value = value.map_err(|_| Error::custom("a header's value has a character above U+00FF"))?;
            Ok((name, value))
        };
        headers.into_iter().map(bytes).collect()
    }
}

/// The real computer.
pub trait LiveBackend: Send {
    /// Performs `ask` now. The bytes that it names are in `bytes`, and those of the answer are put there.
    ///
    /// # Errors
    /// One sentence, when the backend itself cannot work: that is no answer for the guest.
    fn answer(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> Result<BackendResponse, String>;

    /// How long the last answer took, if that is to be known.
    fn took(&self) -> Option<AnswerTime> {
        None
    }
}
