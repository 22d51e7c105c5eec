//! What a fleet has found, as patches with which git adds it to a project.
//!
//! ```text
//! a failure    ─▶ regressions/3f2a….fozzy                its trace: `fozzy test` tries it
//!              ─▶ .fozzy/corpora/app.parse/e3b0…         the input of a fuzz target: each campaign begins with it
//! a testcase   ─▶ the same
//! ```
//!
//! Invariants: a patch adds one file, with a plain path below the folder of the project; an input is the one that the trace has, byte for byte.
//! Not here: the notation of a patch (`git_patch`), and plans: a trace has one, and no file of it.

use super::discovery::{FleetTarget, FleetTargetKind};
use crate::git_patch::added_file;
use fozzy_trace::Digest;
use fozzy_trace::digest::unhex;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::PlannedCall;
use fozzy_trace::source::Override;
use std::path::{Component, Path};

/// What of a failure can be added to a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailurePatch {
    /// Its trace, as a regression test.
    Regression,
    /// Its input, as a testcase.
    Seed,
}

impl FailurePatch {
    /// Those of the failures of a target: a fuzz target has its input in the trace; others draw their values from it.
    #[must_use]
    pub fn of(target: &FleetTarget) -> &'static [FailurePatch] {
        match target.kind {
            FleetTargetKind::Fuzz(_) | FleetTargetKind::CargoFuzz(_) => &[FailurePatch::Regression, FailurePatch::Seed],
            FleetTargetKind::Explore | FleetTargetKind::Property(_) | FleetTargetKind::Http => {
                &[FailurePatch::Regression]
            }
        }
    }

    /// The word in documents.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            FailurePatch::Regression => "regression",
            FailurePatch::Seed => "seed",
        }
    }
}

/// A trace as a regression test.
#[must_use]
pub fn regression_patch(trace: &[u8]) -> String {
    added_file(&format!("regressions/{}.fozzy", Digest::of(trace).short()), trace)
}

/// An input as a testcase of a target, in the folder of its corpus; `None` where [`has_seed_patch`] says no.
#[must_use]
pub fn seed_patch(target: &FleetTarget, base_dir: &Path, input: &[u8]) -> Option<String> {
    let folder = seed_folder(target, base_dir)?;
    Some(added_file(&format!("{folder}/{}", Digest::of(input)), input))
}

/// Whether inputs of a target can be patches: not where its corpus is not below this folder, or has signs in its path that a patch would have to
/// quote.
#[must_use]
pub fn has_seed_patch(target: &FleetTarget, base_dir: &Path) -> bool {
    seed_folder(target, base_dir).is_some()
}

fn seed_folder(target: &FleetTarget, base_dir: &Path) -> Option<String> {
    plain_path(&target.corpus_path(base_dir)?)
}

/// The input with which a fuzz target has failed; `None` where the trace is of something else.
#[must_use]
pub fn input_of(trace: &[u8]) -> Option<Vec<u8>> {
    let recording = Recording::read(trace).ok()?;
    let Some(PlannedCall::Fuzz(_)) = recording.plan.call else { return None };
    // Its length and its bytes are the first two answers of the run.
    let Some(Override::Number(length)) = recording.explicit.get(&0) else { return None };
    match recording.explicit.get(&1) {
        Some(Override::Bytes(digits)) => unhex(digits).filter(|input| input.len() as u64 == *length),
        _ => (*length == 0).then(Vec::new),
    }
}

/// A path below this folder as git writes it without quotes.
fn plain_path(path: &Path) -> Option<String> {
    let is_plain = |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str().filter(is_plain)?),
            Component::Prefix(_) | Component::RootDir | Component::ParentDir => return None,
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_lead_elsewhere_or_would_be_quoted_have_no_patch() {
        let plain = |path: &str| plain_path(Path::new(path));
        assert_eq!(plain("./.fozzy/corpora/app-1.parse").as_deref(), Some(".fozzy/corpora/app-1.parse"));
        for path in
            ["", ".", "/tmp/corpora/a", "../corpora/a", "corpora/a b", "corpora/a\nb", "corpora/\u{e9}", "a/\"b"]
        {
            assert_eq!(plain(path), None, "{path}");
        }
    }

    #[test]
    fn a_seed_is_a_file_of_the_corpus_that_is_named_by_its_content() {
        let target = FleetTarget::app;
        let (fuzzed, explored) = (target(FleetTargetKind::Fuzz("parse".into())), target(FleetTargetKind::Explore));
        let patch = seed_patch(&fuzzed, Path::new("no-such-folder"), b"f").expect("a plain path");
        let path = format!("no-such-folder/corpora/app.parse/{}", Digest::of(b"f"));
        assert!(patch.starts_with(&format!("diff --git a/{path} b/{path}\nnew file mode 100644\n")), "{patch}");
        assert_eq!(seed_patch(&fuzzed, Path::new("/elsewhere"), b"f"), None);
        assert!(has_seed_patch(&fuzzed, Path::new(".fozzy")) && !has_seed_patch(&fuzzed, Path::new("/elsewhere")));
        assert_eq!(seed_patch(&explored, Path::new("no-such-folder"), b"f"), None);
        assert_eq!(input_of(b"no trace"), None);
        assert_eq!(FailurePatch::of(&explored), [FailurePatch::Regression]);
    }
}
