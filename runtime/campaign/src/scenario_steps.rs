//! The steps of a scenario file, as text: what each says, and the file with some of them left out.
//!
//! ```text
//! { "version": 1, "name": "a", "steps": [          steps 1 and 3 of four:   { …, "steps": [
//!     {"type": "set_kv", "key": "a", …},   0                                    {"type": "get_kv_assert", …},
//!     {"type": "get_kv_assert", …},        1                                    {"type": "fail"}
//!     …                                                                      ]}
//! ```
//!
//! Invariant: what is kept stands in the smaller file byte for byte.

use crate::error::{CampaignError, ErrorKind};
use crate::options::RunRequest;
use crate::pipeline::{PreparedProgram, load, session_of};
use crate::project::Project;
use crate::scenario;
use fozzy_check::{FailureIdentity, identify};
use fozzy_report::{ExecutedStep, StepValue};
use fozzy_scenario_file::{JsonNode, JsonValue, read_tree};
use fozzy_search::source_of;
use fozzy_trace::Executor;
use fozzy_trace::file::Recording;
use fozzy_trace::file::store::{Durability, write_atomic};
use fozzy_trace::plan::ScenarioKind;
use fozzy_trace::source::SeededSource;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names that are tried for a smaller file.
const NAMES_MAX: u32 = 1_000;

/// Steps of a file.
pub struct FileSteps {
    text: Arc<[u8]>,
    /// How they are named: `steps`, `distributed.steps`.
    name: &'static str,
    nodes: Vec<JsonNode>,
    /// Steps that are run before those of the file: what goes wrong from the beginning (`--faults` of a cluster).
    presets: u32,
    /// Where the list stands, between its brackets.
    inside: Range<usize>,
}

impl FileSteps {
    /// The steps of the file of a recording; `None` when it is none.
    pub fn of(recording: &Recording) -> Option<FileSteps> {
        let text = recording.inputs.get(&recording.plan.main.stdin.bytes)?;
        FileSteps::read(text, scenario::cluster_options(&recording.plan).first.len() as u32)
    }

    fn read(text: Arc<[u8]>, presets: u32) -> Option<FileSteps> {
        let root = read_tree(&text)?;
        let (name, list) = match root.member("distributed") {
            Some(cluster) => ("distributed.steps", cluster.member("steps")?),
            None => ("steps", root.member("steps")?),
        };
        let JsonValue::List(nodes) = &list.value else { return None };
        let inside = list.at + 1..value_end(&text, list.at) - 1;
        Some(FileSteps { name, nodes: nodes.clone(), presets, inside, text: Arc::clone(&text) })
    }

    /// Says what the step of this number of a run is.
    pub(crate) fn describe(&self, number: u32, step: &mut ExecutedStep) {
        let Some(number) = number.checked_sub(self.presets) else { return };
        let Some(JsonValue::Object(members)) = self.nodes.get(number as usize).map(|node| &node.value) else { return };
        step.place = Some(format!("{}[{number}]", self.name));
        let mut values = Vec::new();
        for (key, node) in members {
            match &node.value {
                JsonValue::Text(kind) if key.text == "type" => step.flow.clone_from(kind),
                _ => values.push(StepValue { name: key.text.clone(), value: self.text_of(node) }),
            }
        }
        // What was drawn follows what stands in the file, as the step has it.
        values.extend(step.values.drain(..).map(|drawn| match (drawn.name.as_str(), drawn.value.parse::<i64>()) {
            ("rand_u64", Ok(number)) => {
                StepValue { name: "drawn".to_owned(), value: (number.cast_unsigned() ^ (1 << 63)).to_string() }
            }
            _ => drawn,
        }));
        step.values = values;
    }

    /// The text of a value, in one line.
    fn text_of(&self, node: &JsonNode) -> String {
        let text = String::from_utf8_lossy(&self.text[node.at..value_end(&self.text, node.at)]).into_owned();
        text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
    }

    /// The file with these steps only.
    #[must_use]
    pub fn only(&self, numbers: &[u32]) -> Vec<u8> {
        let kept: Vec<Range<usize>> = numbers
            .iter()
            .filter_map(|number| self.nodes.get(*number as usize))
            .map(|node| node.at..value_end(&self.text, node.at))
            .collect();
        let Range { start, end } = self.inside.clone();
        let mut text = self.text[..start].to_vec();
        // As steps are set apart in the file, so they stay.
        let before = self.nodes.first().map_or(start..start, |first| start..first.at);
        for (place, step) in kept.iter().enumerate() {
            text.extend_from_slice(if place == 0 { b"" } else { b"," });
            text.extend_from_slice(&self.text[before.clone()]);
            text.extend_from_slice(&self.text[step.clone()]);
        }
        let last = self.nodes.last().map_or(start, |last| value_end(&self.text, last.at));
        text.extend_from_slice(&self.text[last..end]);
        text.extend_from_slice(&self.text[end..]);
        text
    }
}

/// The end of the JSON value that begins at `at`, in a text that was read before.
fn value_end(text: &[u8], at: usize) -> usize {
    let (mut depth, mut in_text, mut escaped) = (0_u32, false, false);
    for (place, byte) in text.iter().enumerate().skip(at) {
        match (in_text, byte) {
            (true, _) if escaped => escaped = false,
            (true, b'\\') => escaped = true,
            (true, b'"') => {
                in_text = false;
                if depth == 0 {
                    return place + 1;
                }
            }
            (true, _) => {}
            (false, b'"') => in_text = true,
            (false, b'{' | b'[') => depth += 1,
            // A plain word at the end of what is around it.
            (false, b'}' | b']' | b',' | b' ' | b'\n' | b'\r' | b'\t') if depth == 0 => return place,
            (false, b'}' | b']') => {
                depth -= 1;
                if depth == 0 {
                    return place + 1;
                }
            }
            (false, _) => {}
        }
    }
    text.len()
}

/// Writes a scenario file with the remaining steps of a shrunk recording, if they are fewer than before and the file
/// alone fails in the same way. Its name is that of `trace` with `.json` appended.
pub fn write_smaller(project: &Project, smallest: &Recording, trace: &Path) -> Result<Option<PathBuf>, CampaignError> {
    if smallest.target.kind != scenario::KIND || !smallest.plan.faults.is_empty() {
        return Ok(None);
    }
    let Some(file) = FileSteps::of(smallest) else { return Ok(None) };
    let stretches = smallest.plan.scenario.as_ref().and_then(|plan| plan.stretches(ScenarioKind::Stateful, 0));
    let end = file.nodes.len() as u32;
    let numbers: Vec<u32> = stretches.into_iter().flatten().flat_map(|(from, to)| from..to.min(end)).collect();
    // A file alone has no presets.
    if file.presets > 0 || numbers.is_empty() || numbers.len() >= file.nodes.len() {
        return Ok(None);
    }
    let text = file.only(&numbers);
    let Some(path) = free_name(trace, &text) else { return Ok(None) };
    let failed = |error| crate::error::at_path(ErrorKind::Scenario, "cannot write", &path, &error);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut draft = tempfile::Builder::new();
    let draft = draft.prefix(".fozzy-").suffix(".fozzy.json").tempfile_in(folder).map_err(failed)?;
    std::fs::write(draft.path(), &text).map_err(failed)?;
    // Else its draws or the plan of the run are needed, too: the trace has them.
    if !fails_alike(project, smallest, draft.path()).unwrap_or(false) {
        return Ok(None);
    }
    write_atomic(&path, &text, Durability::Cached).map_err(failed)?;
    Ok(Some(path))
}

/// A name for the file beside its trace that no other file has: `a.fozzy.json`, `a-1.fozzy.json` and so on.
fn free_name(trace: &Path, text: &[u8]) -> Option<PathBuf> {
    let whole = trace.to_str()?;
    let stem = whole.strip_suffix(".fozzy").unwrap_or(whole);
    let names = (0..NAMES_MAX).map(|number| match number {
        0 => PathBuf::from(format!("{whole}.json")),
        number => PathBuf::from(format!("{stem}-{number}.fozzy.json")),
    });
    // What is there may be the scenario itself, or a file of the user.
    names.into_iter().find(|name| match std::fs::read(name) {
        Ok(there) => there == text,
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    })
}

/// Whether the file alone fails as the recording did, apart from the numbers of steps.
fn fails_alike(project: &Project, smallest: &Recording, path: &Path) -> Result<bool, CampaignError> {
    let mut prepared = PreparedProgram::new(project, load(path, &project.remarks)?, &RunRequest::default())?;
    prepared.drive(None, None);
    let execution = prepared.session()?.execute(Box::new(SeededSource::new(smallest.seed)), 0..0)?;
    let recorded = session_of(smallest)?.execute(source_of(smallest), 0..0)?;
    Ok(is_alike(identify(&execution).as_ref(), identify(&recorded).as_ref()))
}

/// Whether two failures are one, wherever their steps stand: of one kind, at steps of one kind, in the same words but for values.
fn is_alike(one: Option<&FailureIdentity>, other: Option<&FailureIdentity>) -> bool {
    let plain = |identity: &FailureIdentity| {
        let FailureIdentity { signature, wording } = identity;
        (signature.kind, without_numbers(&signature.site), wording.clone())
    };
    one.map(plain) == other.map(plain)
}

/// `steps[6]: get_kv_assert` as `steps[]: get_kv_assert`.
fn without_numbers(site: &str) -> String {
    let mut within = false;
    let kept = |c: &char| {
        within = match c {
            '[' => true,
            ']' => false,
            _ => within,
        };
        !within || !c.is_ascii_digit()
    };
    site.chars().filter(kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::{FailureSignature, FindingKind};

    const FILE: &str = r#"{
  "version": 1, "name": "a",
  "steps": [
    {"type": "set_kv", "key": "a ]}", "value": "1"},
    {"type": "sleep", "duration": "1s"},
    {"type": "get_kv_assert",
     "key": "a\"", "equals": {"b": [1, 2]}, "n": 7}
  ]
}
"#;

    #[test]
    fn steps_are_left_out_of_the_text_and_the_others_stay_as_they_are() {
        let file = FileSteps::read(FILE.as_bytes().into(), 0).expect("it has steps");
        let text = |numbers: &[u32]| String::from_utf8(file.only(numbers)).expect("text");
        assert_eq!(text(&[0, 1, 2]), FILE);
        let expected = FILE.replace("    {\"type\": \"sleep\", \"duration\": \"1s\"},\n", "");
        assert_eq!(text(&[0, 2]), expected);
        assert_eq!(text(&[1]).lines().count(), 6);
        let one_line =
            FileSteps::read(br#"{"distributed":{"steps":[{"a":1},{"b":2}]}}"#.as_slice().into(), 0).expect("steps");
        assert_eq!(one_line.only(&[1]), br#"{"distributed":{"steps":[{"b":2}]}}"#);
    }

    #[test]
    fn failures_of_a_smaller_file_are_the_same_only_in_the_same_words() {
        let of = |site: &str, wording: &str| {
            let signature = FailureSignature { kind: FindingKind::Assertion, site: site.to_owned() };
            FailureIdentity { signature, wording: wording.to_owned() }
        };
        let (late, early) = (of("steps[6]: assert", "expected # == #"), of("steps[2]: assert", "expected # == #"));
        assert!(is_alike(Some(&late), Some(&early)), "it stands elsewhere");
        assert!(!is_alike(Some(&late), Some(&of("steps[2]: assert", "expected null == #"))));
        assert!(!is_alike(Some(&late), Some(&of("steps[2]: fail", "expected # == #"))) && !is_alike(Some(&late), None));
    }

    #[test]
    fn a_step_is_told_with_the_values_of_its_file() {
        let file = FileSteps::read(FILE.as_bytes().into(), 0).expect("it has steps");
        let mut step = ExecutedStep { number: 1, ..ExecutedStep::default() };
        file.describe(2, &mut step);
        assert_eq!((step.place.as_deref(), &*step.flow), (Some("steps[2]"), "get_kv_assert"));
        let values: Vec<String> = step.values.iter().map(|value| format!("{}={}", value.name, value.value)).collect();
        assert_eq!(values, [r#"key="a\"""#, r#"equals={"b": [1, 2]}"#, "n=7"]);
        let mut preset = ExecutedStep { number: 1, ..ExecutedStep::default() };
        let file = FileSteps::read(FILE.as_bytes().into(), 2).expect("it has steps");
        file.describe(1, &mut preset);
        assert_eq!(preset.place, None, "a fault of the beginning stands in no file");
        file.describe(4, &mut preset);
        assert_eq!(preset.place.as_deref(), Some("steps[2]"));
        assert_eq!(without_numbers("steps[16].do[2]: get_kv 7"), "steps[].do[]: get_kv 7");
    }
}
