//! What the process of a slice writes to its standard error: why there is no report, where there is none.
//!
//! ```text
//! .fozzy/fleet-logs/app-1.log     of the last slice of a target, the last part of it
//! ```
//!
//! Invariants: it does not grow beyond some times its bound while the process runs; of what comes while it is cut down, some is lost.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Bytes that are kept: some hundred lines.
const BYTES_MAX: u64 = 64 << 10;
/// Bytes at which it is cut down while the process runs.
const GROWN_BYTES: u64 = 16 * BYTES_MAX;
/// What of it stands in a reason, at its end.
const LINES_MAX: usize = 4;
const CHARS_MAX: usize = 400;

/// The log of one slice.
pub(super) struct SliceLog {
    file: File,
    writer: File,
}

/// What the last part of a log says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct LoggedWords {
    /// Whether a failure was found.
    pub(super) has_found: bool,
    /// The traces of failures that were found and kept.
    pub(super) traces: Vec<PathBuf>,
    /// The last lines, without what a terminal would obey.
    pub(super) last: String,
}

impl SliceLog {
    /// An empty one, in the place of that of the slice before.
    pub(super) fn create(path: &Path) -> io::Result<SliceLog> {
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        File::create(path)?;
        // Each with a place of its own: the process writes at the end, wherever we read.
        let file = OpenOptions::new().read(true).append(true).open(path)?;
        let writer = OpenOptions::new().append(true).open(path)?;
        Ok(SliceLog { file, writer })
    }

    /// For a process to write to.
    pub(super) fn output(&self) -> Stdio {
        self.writer.try_clone().map_or_else(|_| Stdio::null(), Stdio::from)
    }

    /// Cuts it down when it has grown long. It is for people, and no slice fails over it.
    pub(super) fn look(&mut self) {
        let _ = self.shorten(GROWN_BYTES);
    }

    /// Cuts it down at the end of the process, and reads it.
    pub(super) fn close(mut self) -> LoggedWords {
        let _ = self.shorten(BYTES_MAX);
        let bytes = self.last().unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let places: Vec<&str> = found_places(&text).collect();
        let traces = places.iter().filter_map(|place| trace_at(place)).collect();
        LoggedWords { has_found: !places.is_empty(), traces, last: last_lines(&text) }
    }

    fn shorten(&mut self, most: u64) -> io::Result<()> {
        if self.file.metadata()?.len() > most {
            let last = self.last()?;
            self.file.set_len(0)?;
            self.file.write_all(&last)?;
        }
        Ok(())
    }

    fn last(&mut self) -> io::Result<Vec<u8>> {
        let begin = self.file.metadata()?.len().saturating_sub(BYTES_MAX);
        self.file.seek(SeekFrom::Start(begin))?;
        let mut last = Vec::new();
        (&self.file).take(BYTES_MAX).read_to_end(&mut last)?;
        Ok(last)
    }
}

/// The second ones of lines such as `found trap …` and, below it, `  run 632, …`, which searches write for each failure.
fn found_places(text: &str) -> impl Iterator<Item = &str> {
    let pairs = text.lines().zip(text.lines().skip(1)).filter(|(title, _)| title.starts_with("found "));
    pairs.filter_map(|(_, place)| place.strip_prefix("  run ").or_else(|| place.strip_prefix("  execution ")))
}

/// The trace that such a place names: `632, a.fozzy`, `632, step 3, a.fozzy`, `7, 3 bytes, a.fozzy`.
fn trace_at(place: &str) -> Option<PathBuf> {
    let (_, rest) = place.split_once(", ")?;
    let is_count = |words: &str| words.starts_with("step ") || words.ends_with(" byte") || words.ends_with(" bytes");
    let path = rest.split_once(", ").filter(|(words, _)| is_count(words)).map_or(rest, |(_, path)| path);
    path.ends_with(".fozzy").then(|| PathBuf::from(path))
}

fn last_lines(text: &str) -> String {
    let plain = |line: &str| line.chars().filter(|c| !c.is_control()).collect::<String>();
    let lines: Vec<String> = text.lines().map(plain).filter(|line| !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(LINES_MAX)..].join("\n");
    let begin = last.char_indices().rev().nth(CHARS_MAX - 1).map_or(0, |(at, _)| at);
    last[begin..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_part_is_kept_and_its_last_lines_are_said() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("logs/app-1.log");
        let mut log = SliceLog::create(&path).expect("a log");
        let mut writer = log.writer.try_clone().expect("a file");
        let lines: String = (0..20_000).map(|number| format!("line {number}\n")).collect();
        writer.write_all(lines.as_bytes()).expect("written");
        log.shorten(BYTES_MAX).expect("shortened");
        writer.write_all(b"\n\x1b[31mthe\tend\n").expect("written");
        let kept = fs::read_to_string(&path).expect("text");
        assert!(kept.len() as u64 > BYTES_MAX && kept.ends_with("line 19999\n\n\x1b[31mthe\tend\n"), "{}", kept.len());
        let last = "line 19997\nline 19998\nline 19999\n[31mtheend".to_owned();
        assert_eq!(log.close(), LoggedWords { last, ..LoggedWords::default() });
        assert_eq!(fs::metadata(&path).expect("a file").len(), BYTES_MAX);
        let long = format!("first\n{}é", "x".repeat(1000));
        assert_eq!(last_lines(&long), format!("{}é", "x".repeat(CHARS_MAX - 1)));
        assert_eq!(SliceLog::create(&path).expect("a log").close(), LoggedWords::default());
    }

    #[test]
    fn a_failure_that_was_found_is_told_from_what_compilers_say_and_its_trace_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let words = |text: &str| {
            let log = SliceLog::create(&folder.path().join("app-1.log")).expect("a log");
            log.writer.try_clone().expect("a file").write_all(text.as_bytes()).expect("written");
            let LoggedWords { has_found, traces, .. } = log.close();
            (has_found, traces.iter().map(|trace| trace.display().to_string()).collect::<Vec<String>>())
        };
        let runs = "a\nfound trap at wasm `unreachable`\n  run 632, .fozzy/runs/a, b.fozzy\nfound panic\n  run 7, step 3, c.fozzy\n";
        assert_eq!(words(runs), (true, vec![".fozzy/runs/a, b.fozzy".to_owned(), "c.fozzy".to_owned()]));
        let inputs =
            "found panic\n  execution 7, 3 bytes, a.fozzy\nfound\nfound panic\n  execution 8, 1 byte, b.fozzy\n";
        assert_eq!(words(inputs), (true, vec!["a.fozzy".to_owned(), "b.fozzy".to_owned()]));
        assert_eq!(words("found panic\n  run 7, its trace is not kept: the disk is full\n"), (true, Vec::new()));
        assert_eq!(words("found crate `a`\n  help: add it\n"), (false, Vec::new()));
        assert_eq!(words("  run 632\nfound trap"), (false, Vec::new()));
    }
}
