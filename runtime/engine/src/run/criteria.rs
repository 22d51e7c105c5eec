//! Holds a run to the criteria of its plan when it has ended.
//!
//! ```text
//! outputs, disks, history, ends ─┬─ exit codes, output, patterns ──────────────▶ CriteriaReport
//!                                └─ checker: a program in a sandbox of its own ──▶      〃
//! ```
//!
//! Invariants: what is reported depends on the run and its plan only; a checker runs on a simulated computer with a fixed seed,
//! with bounds of its own; the run itself knows nothing of it. Streams are judged whole, however long they are.
//! Not here: the verdict (`fozzy-check`).

mod checker;
mod long_output;

use crate::compile::program::Program;
use crate::run::session::SessionError;
use checker::CheckerSession;
use fozzy_host::LongOutputObserver;
use fozzy_trace::facts::{CriteriaReport, UnmetCriterion};
use fozzy_trace::plan::criteria::{PATTERN_BYTES_MAX, PATTERNS_MAX};
use fozzy_trace::plan::{Inputs, RunCriteria};
use fozzy_trace::{Execution, ExecutionEnd, HarnessError, NodeId, StreamOutput};
use fozzy_world::channel::output_regex;
use fozzy_world::{Disk, MAIN, OutputKind};
use long_output::{LongOutputs, MATCH_BYTES_MAX, PatternMatch};
use regex_lite::Regex;
use std::sync::{Arc, Mutex, PoisonError};

/// Entries of the history that a checker is shown, from the first on.
const HISTORY_SHOWN: u64 = 10_000;

/// The criteria of a plan, ready to be held against runs.
pub(crate) struct CriteriaJudge {
    plan: RunCriteria,
    output: Option<Arc<[u8]>>,
    patterns: Vec<Regex>,
    checker: Option<CheckerSession>,
    /// What is not kept of the outputs of a run.
    long: Arc<Mutex<LongOutputs>>,
}

impl CriteriaJudge {
    /// Compiles the patterns and the checker of a plan; `None` when it has no criteria.
    ///
    /// # Errors
    /// When a pattern is none, or the checker is no program.
    pub(crate) fn new(
        plan: &RunCriteria,
        program: &Program,
        inputs: &Inputs,
    ) -> Result<Option<CriteriaJudge>, SessionError> {
        if plan.is_empty() {
            return Ok(None);
        }
        if plan.fail_on.len() > PATTERNS_MAX {
            let message = format!("expected {PATTERNS_MAX} patterns at the most, found {}", plan.fail_on.len());
            return Err(SessionError::Criteria(message));
        }
        let patterns = plan.fail_on.iter().map(|pattern| compiled(pattern)).collect::<Result<_, _>>()?;
        let missing = |digest| SessionError::World(fozzy_world::WorldError::MissingInput(digest));
        let output = plan.output.map(|digest| inputs.get(&digest).ok_or(missing(digest))).transpose()?;
        let checker = plan.checker.as_ref().map(|checker| {
            let bytes = inputs.get(&checker.component).ok_or(missing(checker.component))?;
            CheckerSession::new(checker, program, bytes)
        });
        let checker = checker.transpose()?;
        let long = Arc::default();
        Ok(Some(CriteriaJudge { plan: plan.clone(), output, patterns, checker, long }))
    }

    /// Whether these are the criteria of `plan`.
    pub(crate) fn is_of(&self, plan: &RunCriteria) -> bool {
        self.plan == *plan
    }

    /// Entries of the history that are wanted, from the first on.
    pub(crate) fn history_wanted(&self) -> u64 {
        if self.checker.is_some() { HISTORY_SHOWN } else { 0 }
    }

    /// Begins a run: what it writes beyond what is kept is to be shown to this observer.
    pub(crate) fn observer(&mut self) -> LongOutputObserver {
        let outputs = Arc::new(Mutex::new(LongOutputs::new(&self.patterns, self.output.clone())));
        self.long = Arc::clone(&outputs);
        Box::new(move |node, kind, kept, beyond| {
            outputs.lock().unwrap_or_else(PoisonError::into_inner).observe((node, kind), kept, beyond);
        })
    }

    /// Holds a run against them; its machines have their disks, the target's first. The checker is asked if so wanted.
    ///
    /// # Errors
    /// When the machine, not a program, fails.
    pub(crate) fn judge(
        &mut self,
        run: &Execution,
        machines: &[(NodeId, Disk)],
        asks_checker: bool,
    ) -> Result<CriteriaReport, HarnessError> {
        let mut long = self.long.lock().unwrap_or_else(PoisonError::into_inner);
        let nodes: Vec<NodeId> = machines.iter().map(|(node, _)| *node).collect();
        let patterns = self.patterns.iter().enumerate();
        let mut unmet: Vec<UnmetCriterion> =
            patterns.filter_map(|pattern| forbidden(pattern, run, &nodes, &mut long)).collect();
        // What has not come to its end is a failure already, and has neither all of its output nor an end to judge.
        let has_ended = match &run.end {
            end if run.facts.excuses_exit(end) => true,
            ExecutionEnd::Exited { code } if self.plan.exit_codes.is_empty() => *code == 0,
            ExecutionEnd::Exited { code } => self.plan.exit_codes.contains(code),
            ExecutionEnd::Killed => true,
            _ => false,
        };
        if has_ended {
            let compared = long.compared();
            let found = compared.as_deref().unwrap_or(run.stdout.kept());
            unmet.extend(self.output.as_ref().and_then(|expected| other_output(expected, found)));
            if let (Some(checker), true) = (&mut self.checker, asks_checker) {
                unmet.extend(checker.judge(run, machines)?);
            }
        }
        Ok(CriteriaReport { exit_codes: self.plan.exit_codes.clone(), unmet })
    }
}

/// A pattern, as `^` and `$` are those of lines.
fn compiled(pattern: &str) -> Result<Regex, SessionError> {
    let refused = |why: String| {
        SessionError::Criteria(format!("the pattern `{}`: {why}", pattern.replace(char::is_control, " ")))
    };
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(refused(format!("expected {PATTERN_BYTES_MAX} bytes at the most, found {}", pattern.len())));
    }
    output_regex(pattern).map_err(refused)
}

/// The first line of any machine that a pattern matches, or that there may be one.
fn forbidden(
    (number, pattern): (usize, &Regex),
    run: &Execution,
    nodes: &[NodeId],
    long: &mut LongOutputs,
) -> Option<UnmetCriterion> {
    let others = run.nodes.iter().map(|node| (node.name.as_str(), &node.stdout, &node.stderr));
    let machines = std::iter::once((MAIN, &run.stdout, &run.stderr)).chain(others).zip(nodes);
    let streams = machines.flat_map(|((name, stdout, stderr), node)| {
        [(name, "stdout", stdout, (*node, OutputKind::Stdout)), (name, "stderr", stderr, (*node, OutputKind::Stderr))]
    });
    let mut unjudged = None;
    for (machine, stream, output, id) in streams {
        let pattern_text = || pattern.as_str().to_owned();
        let found = matched(pattern, output).map(PatternMatch::Found).or_else(|| long.of_pattern(number, id));
        match found {
            Some(PatternMatch::Found(line)) => {
                let (pattern, machine) = (pattern_text(), machine.to_owned());
                return Some(UnmetCriterion::ForbiddenOutput { pattern, machine, stream, line });
            }
            Some(PatternMatch::Unjudged) if unjudged.is_none() => {
                let (pattern, machine, match_max) = (pattern_text(), machine.to_owned(), MATCH_BYTES_MAX as u64);
                unjudged = Some(UnmetCriterion::UnjudgedOutput { pattern, machine, stream, match_max });
            }
            _ => {}
        }
    }
    unjudged
}

/// The first line of what is kept of a stream that a pattern matches.
fn matched(pattern: &Regex, output: &StreamOutput) -> Option<String> {
    let text = String::from_utf8_lossy(output.kept());
    let is_whole = output.total() == output.kept().len() as u64;
    // What reaches up to the end of what is kept is judged with what follows.
    let found = pattern.find(&text).filter(|found| is_whole || found.end() < text.len())?;
    if !is_written(&text, found.start()) {
        return None;
    }
    let from = text[..found.start()].rfind('\n').map_or(0, |at| at + 1);
    let line = text[from..].lines().next().unwrap_or_default();
    Some(UnmetCriterion::text(line.as_bytes()))
}

/// Whether a match that begins here is in written text: behind the last line end, and where nothing was written, there is none.
fn is_written(text: &str, start: usize) -> bool {
    start < text.len() || !(text.is_empty() || text.ends_with('\n'))
}

/// The first line in which an output differs from what was expected.
fn other_output(expected: &[u8], found: &[u8]) -> Option<UnmetCriterion> {
    let whole = |bytes: &[u8]| bytes.strip_suffix(b"\n").map(<[u8]>::len).unwrap_or(bytes.len());
    let (expected, found) = (&expected[..whole(expected)], &found[..whole(found)]);
    if expected == found {
        return None;
    }
    let (mut theirs, mut ours) = (expected.split(|byte| *byte == b'\n'), found.split(|byte| *byte == b'\n'));
    for line in 1.. {
        let (expected, found) = (theirs.next(), ours.next());
        if expected != found {
            return Some(UnmetCriterion::other_line(line, expected, found));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_differs_in_its_first_other_line() {
        let differs = |expected: &str, found: &str| other_output(expected.as_bytes(), found.as_bytes());
        assert_eq!(differs("a\nb", "a\nb\n"), None, "but for a line end at its end");
        assert_eq!(differs("a\n", "a"), None);
        assert!(differs("a", "a\n\n").is_some());
        let other = |line, column, expected: Option<&str>, found: Option<&str>| {
            let text = |text: Option<&str>| text.map(str::to_owned);
            Some(UnmetCriterion::OtherOutput { line, column, expected: text(expected), found: text(found) })
        };
        assert_eq!(differs("a\nb\n", "a\nc\n"), other(2, 1, Some("b"), Some("c")));
        assert_eq!(differs("a\nb\n", "a\n"), other(2, 1, Some("b"), None));
        assert_eq!(differs("", "x\n"), other(1, 1, Some(""), Some("x")));
        // Of a long line, what is around the first difference.
        let long = |end: &str| format!("{}{end}", "ä".repeat(5000));
        let Some(UnmetCriterion::OtherOutput { column, expected, found, .. }) = differs(&long("b"), &long("cd")) else {
            panic!("they differ")
        };
        let before = "ä".repeat(40);
        assert_eq!((column, expected, found), (5001, Some(format!("…{before}b")), Some(format!("…{before}cd"))));
        // Bytes that are no text differ where they differ.
        let bytes = other_output(b"a\xff\xfe", b"a\xff\xfd");
        assert!(matches!(bytes, Some(UnmetCriterion::OtherOutput { column: 3, .. })), "{bytes:?}");
    }

    #[test]
    fn what_was_not_written_matches_nothing() {
        let found = |pattern: &str, text: &str| {
            let mut output = StreamOutput::default();
            output.write(text.as_bytes());
            matched(&compiled(pattern).expect("a pattern"), &output)
        };
        for pattern in ["^$", "$", "x*", "", "\\s*"] {
            assert_eq!(found(pattern, ""), None, "{pattern}: nothing was written");
        }
        assert_eq!(found("^$", "hello\n"), None, "behind the last line end there is no line");
        assert_eq!(found("^$", "hello"), None);
        let some = |line: &str| Some(line.to_owned());
        assert_eq!((found("^$", "a\n\nb\n"), found("^$", "\n")), (some(""), some("")), "empty lines");
        assert_eq!((found("$", "hello"), found("x*", "hello\n")), (some("hello"), some("hello")));
    }

    #[test]
    fn a_pattern_that_is_none_is_refused() {
        let why = |pattern: &str| compiled(pattern).expect_err("it is none").to_string();
        assert!(why("a(b").contains("open group without closing"), "{}", why("a(b"));
        assert!(why("(((a{100}){100}){100})").contains("size limit"), "{}", why("(((a{100}){100}){100})"));
        assert!(why(&"a".repeat(5000)).contains("4096 bytes at the most"));
    }
}
