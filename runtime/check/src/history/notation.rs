//! Notations that a history can be written in: one row each.
//!
//! ```text
//! NOTATIONS: name ─▶ fn(history) ─▶ WrittenHistory    what another tool reads; `OperationHistory::read` reads it back
//! ```
//!
//! Invariant: a notation that cannot say something which changes a verdict refuses the history, with the place.
//! Not here: files (the caller writes them); reading (`reader`).

use super::error::HistoryError;
use super::{OperationHistory, cobra, dbcop, plume, porcupine_kv, porcupine_log};

/// A notation by its name.
pub struct HistoryNotation {
    /// Its name, as `--notation` has it.
    pub name: &'static str,
    /// The file extension that means it; empty if none does.
    pub extension: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    write: fn(&OperationHistory) -> Result<WrittenHistory, HistoryError>,
}

/// A history in some notation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WrittenHistory {
    /// The bytes of a file.
    File(Vec<u8>),
    /// The files of a folder: a name and bytes each.
    Folder(Vec<(String, Vec<u8>)>),
}

/// All notations.
pub const NOTATIONS: &[HistoryNotation] = &[
    HistoryNotation {
        name: "edn",
        extension: "edn",
        summary: "Jepsen's maps, one a line",
        write: |history| Ok(WrittenHistory::File(history.to_edn().into_bytes())),
    },
    HistoryNotation {
        name: "json",
        extension: "json",
        summary: "the same in one array",
        write: |history| Ok(WrittenHistory::File(history.to_json().into_bytes())),
    },
    HistoryNotation {
        name: "json-lines",
        extension: "jsonl",
        summary: "the same, one a line",
        write: |history| Ok(WrittenHistory::File(history.to_json_lines().into_bytes())),
    },
    HistoryNotation {
        name: "jepsen-log",
        extension: "log",
        summary: "lines of Jepsen's log, as Porcupine's tests have them",
        write: |history| porcupine_log::write(history).map(file),
    },
    HistoryNotation {
        name: "porcupine-kv",
        extension: "",
        summary: "Porcupine's key-value logs: get, put, append",
        write: |history| porcupine_kv::write(history).map(file),
    },
    HistoryNotation {
        name: "plume",
        extension: "txt",
        summary: "transactions of Plume and PolySI",
        write: |history| plume::write(history).map(file),
    },
    HistoryNotation {
        name: "dbcop",
        extension: "",
        summary: "transactions of dbcop, in JSON",
        write: |history| dbcop::write(history).map(file),
    },
    HistoryNotation {
        name: "cobra",
        extension: "",
        summary: "a folder of Cobra's logs, one for each session",
        write: |history| cobra::write(history).map(WrittenHistory::Folder),
    },
];

fn file(text: String) -> WrittenHistory {
    WrittenHistory::File(text.into_bytes())
}

/// The notation that has a name.
#[must_use]
pub fn notation(name: &str) -> Option<&'static HistoryNotation> {
    NOTATIONS.iter().find(|row| row.name == name)
}

/// The notation that a file extension means.
#[must_use]
pub fn notation_of_extension(extension: &str) -> Option<&'static HistoryNotation> {
    NOTATIONS.iter().find(|row| !row.extension.is_empty() && row.extension == extension)
}

impl HistoryNotation {
    /// Writes a history.
    ///
    /// # Errors
    /// When the notation cannot say what the history has: where that is, and what would be possible.
    ///
    /// ```
    /// use fozzy_check::{OperationHistory, WrittenHistory, notation};
    /// let text = "{:type :invoke, :process 0, :f :txn, :value [[:w 1 7]]} {:type :ok, :process 0, :f :txn, :value [[:w 1 7]]}";
    /// let history = OperationHistory::read(text.as_bytes()).unwrap();
    /// let written = notation("plume").unwrap().write(&history).unwrap();
    /// assert_eq!(written, WrittenHistory::File(b"w(1,7,0,0)\n".to_vec()));
    /// ```
    pub fn write(&self, history: &OperationHistory) -> Result<WrittenHistory, HistoryError> {
        (self.write)(history)
    }
}
