//! What git says of the sources: how often files changed in a year, and which lines differ from a revision.
//!
//! ```text
//! git log --numstat -M, 12 months before the newest commit ─▶ commits and lines by path of today
//! git diff -U0 REV, and untracked files ───────────────────▶ changes by path
//! ```
//!
//! Invariants: a file has the history that it had under its older names; nothing is written and no hook runs; without git, without a
//! repository, and in a shallow clone, history is absent and the reason is said.

use crate::error::{CampaignError, ErrorKind};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Seconds of the history that counts: a year.
const WINDOW_SECONDS: i64 = 365 * 24 * 3600;
/// Lines of a file that has no other end: all of it.
const LINES_MAX: u32 = u32::MAX;

/// How often a file changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FileChurn {
    /// Commits that changed it.
    pub commits: u32,
    /// Lines added and removed.
    pub lines: u64,
}

/// A repository.
pub(super) struct Repository {
    root: PathBuf,
}

/// Changes, by path from the root of the repository.
pub(super) type ChangedLines = BTreeMap<String, Vec<LineChange>>;

/// One place of a file of today that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LineChange {
    /// The lines that are new or changed; where lines were only removed, the one before and the one after.
    pub lines: RangeInclusive<u32>,
    /// Whether lines of before are gone.
    pub removes: bool,
    /// Whether all that was added and removed is comments from `//` to the end of the line, and empty lines.
    pub is_comment: bool,
}

impl LineChange {
    /// All of a file.
    fn whole() -> LineChange {
        LineChange { lines: 1..=LINES_MAX, removes: false, is_comment: false }
    }
}

impl Repository {
    /// The one that a folder is in; an error says why there is none.
    pub(super) fn at(folder: &Path) -> Result<Repository, String> {
        let root = git(folder, &["rev-parse", "--show-toplevel"])?;
        let root = PathBuf::from(root.trim_end_matches(['\n', '\r']));
        Ok(Repository { root: root.canonicalize().unwrap_or(root) })
    }

    /// The path of a source, as debug information or a person names it, from the root of the repository: a file below it, or one of the
    /// same end, for what was compiled elsewhere.
    pub(super) fn path_of(&self, source: &str) -> Option<String> {
        let path = Path::new(source);
        let shown = |path: &Path| Some(path.strip_prefix(&self.root).ok()?.to_string_lossy().into_owned());
        if path.is_absolute() {
            let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if let Some(found) = shown(&real) {
                return Some(found);
            }
        }
        // A path from the folder of the build, or one from another machine.
        if let Some(found) = path.canonicalize().ok().and_then(|real| shown(&real)) {
            return Some(found);
        }
        let parts: Vec<_> = path.components().filter(|part| matches!(part, std::path::Component::Normal(_))).collect();
        let ends = (0..parts.len()).map(|from| parts[from..].iter().collect::<PathBuf>());
        ends.map(|end| self.root.join(end)).find(|path| path.is_file()).and_then(|path| shown(&path))
    }

    /// How often each file changed in the year before the newest commit, by its path of today.
    pub(super) fn churn(&self) -> Result<BTreeMap<String, FileChurn>, String> {
        if git(&self.root, &["rev-parse", "--is-shallow-repository"])?.trim() == "true" {
            return Err("the clone is shallow: `git fetch --unshallow` brings the history".to_owned());
        }
        let newest =
            git(&self.root, &["log", "-1", "--format=%ct"]).map_err(|_| "nothing is committed yet".to_owned())?;
        let newest: i64 = newest.trim().parse().map_err(|_| "git tells no date of the newest commit".to_owned())?;
        let since = format!("--since=@{}", newest - WINDOW_SECONDS);
        let log = git(&self.root, &["log", &since, "--no-merges", "-M", "--numstat", "-z", "--format=%x01"])?;
        Ok(read_churn(&log))
    }

    /// Lines of files of today that differ from a revision.
    pub(super) fn changed(&self, since: &str) -> Result<ChangedLines, CampaignError> {
        let refused = |why: String| CampaignError::new(ErrorKind::Usage, format!("--since {since}: {why}"));
        if since.starts_with('-') {
            return Err(refused("this is no revision".to_owned()));
        }
        let words = [
            "diff",
            "--no-color",
            "--no-ext-diff",
            "--no-textconv",
            "-M",
            "-U0",
            "--src-prefix=a/",
            "--dst-prefix=b/",
            since,
            "--",
        ];
        let mut changed = read_diff(&git(&self.root, &words).map_err(refused)?);
        let others = git(&self.root, &["ls-files", "-z", "--others", "--exclude-standard"]).map_err(refused)?;
        let others = others.split('\0').filter(|path| !path.is_empty() && !is_of_builds(path));
        changed.extend(others.map(|path| (path.to_owned(), vec![LineChange::whole()])));
        Ok(changed)
    }
}

/// Whether a file that git does not know is one that builds and runs write, this one among them.
fn is_of_builds(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let name = parts.next().unwrap_or_default();
    name == "Cargo.lock" || parts.any(|folder| matches!(folder, ".fozzy" | "target"))
}

/// What a command of git prints.
fn git(folder: &Path, words: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    command.args([
        "-c",
        "core.quotepath=off",
        "-c",
        "core.fsmonitor=false",
        "-c",
        "core.pager=cat",
        "--no-optional-locks",
    ]);
    command.args(words).current_dir(folder).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("git cannot be asked: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
        return Err(said.trim_start_matches("fatal: ").to_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Commits and lines by file, from the newest commit to the oldest: a file that was renamed has its older name's, too.
fn read_churn(log: &str) -> BTreeMap<String, FileChurn> {
    let mut churn: BTreeMap<String, FileChurn> = BTreeMap::new();
    let mut today: BTreeMap<String, String> = BTreeMap::new();
    let mut words = log.split('\0');
    while let Some(word) = words.next() {
        let word = word.trim_start_matches(['\u{1}', '\n']);
        let mut columns = word.splitn(3, '\t');
        let (Some(added), Some(removed), Some(path)) = (columns.next(), columns.next(), columns.next()) else {
            continue;
        };
        // A binary file has dashes for numbers.
        let lines = added.parse().unwrap_or(0_u64) + removed.parse().unwrap_or(0_u64);
        let path = match path.is_empty() {
            false => path.to_owned(),
            true => {
                let (Some(old), Some(new)) = (words.next(), words.next()) else { break };
                let now = today.get(new).cloned().unwrap_or_else(|| new.to_owned());
                today.insert(old.to_owned(), now);
                new.to_owned()
            }
        };
        let now = today.get(&path).cloned().unwrap_or(path);
        let file = churn.entry(now).or_default();
        file.commits += 1;
        file.lines += lines;
    }
    churn
}

/// Lines that a diff without context adds or changes; of what is only removed, the lines around it.
fn read_diff(diff: &str) -> ChangedLines {
    let mut changed = ChangedLines::new();
    let mut file: Option<String> = None;
    // Lines of the hunk that are still to come: what stands in it is no header.
    let mut left = 0_u64;
    for line in diff.lines() {
        if left > 0 && line.starts_with(['+', '-']) {
            left -= 1;
            let last = file.as_ref().and_then(|file| changed.get_mut(file)?.last_mut());
            let text = line[1..].trim_start();
            if let Some(last) = last.filter(|_| !text.is_empty() && !text.starts_with("//")) {
                last.is_comment = false;
            }
        } else if line.starts_with("diff --git ") {
            file = None;
        } else if let Some(path) = line.strip_prefix("+++ ") {
            // Names with odd characters stand in quotes.
            let path = path.trim_matches('"').trim_end_matches('\t');
            file = path.strip_prefix("b/").map(str::to_owned);
            if let Some(file) = &file {
                changed.entry(file.clone()).or_default();
            }
        } else if let Some(hunk) = line.strip_prefix("@@ ") {
            let counts = |sign: char| read_range(hunk.split(' ').find_map(|word| word.strip_prefix(sign))?);
            let (Some((_, removed)), Some((start, added))) = (counts('-'), counts('+')) else { continue };
            left = u64::from(removed) + u64::from(added);
            let end = start.saturating_add(if added == 0 { 1 } else { added - 1 });
            let lines = start.max(1)..=end.max(1);
            if let Some(file) = &file {
                let change = LineChange { lines, removes: removed > 0, is_comment: true };
                changed.entry(file.clone()).or_default().push(change);
            }
        }
    }
    changed
}

/// `3,2` is two lines from the third on, and `3` is one.
fn read_range(range: &str) -> Option<(u32, u32)> {
    let (start, count) = range.split_once(',').unwrap_or((range, "1"));
    Some((start.parse().ok()?, count.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_renamed_file_has_its_whole_history() {
        let log =
            "\u{1}\0\n1\t0\tsrc/b.rs\0\u{1}\0\n2\t3\t\0src/a.rs\0src/b.rs\0-\t-\tlogo.png\0\u{1}\0\n10\t0\tsrc/a.rs\0";
        let churn = read_churn(log);
        assert_eq!(churn["src/b.rs"], FileChurn { commits: 3, lines: 16 });
        assert_eq!(churn["logo.png"], FileChurn { commits: 1, lines: 0 });
        assert!(!churn.contains_key("src/a.rs"));
    }

    #[test]
    fn a_diff_has_changed_lines_and_those_around_removed_ones() {
        let diff = "diff --git a/src/a.rs b/src/a.rs\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -3 +3,2 @@ fn f\n-x\n+y\n+z\n@@ -9,2 +9,0 @@\n-q\n-r\n\
                    @@ -20 +18,2 @@\n-// of old\n+\n+  // of new\n@@ -30,0 +30 @@\n+++ count;\n\
                    diff --git a/gone.rs b/gone.rs\n--- a/gone.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n";
        let changed = read_diff(diff);
        assert_eq!(changed.len(), 1);
        let change = |lines, removes, is_comment| LineChange { lines, removes, is_comment };
        let expected = [
            change(3..=4, true, false),
            change(9..=10, true, false),
            change(18..=19, true, true),
            change(30..=30, false, false),
        ];
        assert_eq!(changed["src/a.rs"], expected);
    }

    #[test]
    fn files_of_builds_are_no_changes_of_the_project() {
        for (path, expected) in [
            ("Cargo.lock", true),
            ("app/Cargo.lock", true),
            (".fozzy/runs/1/run.json", true),
            ("app/target/x.wasm", true),
            ("src/target.rs", false),
            ("tests/new/plan.toml", false),
        ] {
            assert_eq!(is_of_builds(path), expected, "{path}");
        }
    }
}
