//! What a program is, before it is run: the document of `fozzy inspect`, and its text.
//!
//! ```text
//! probe.wasm   a component of 2.9 MiB
//!   fits          command
//!   needs         clocks, files, random …
//!   checkpoints   in place
//! ```
//!
//! Invariant: the text carries nothing that the document does not.

use crate::Style;
use crate::pretty::{counted, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `fozzy inspect`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InspectDocument {
    /// The file.
    pub path: String,
    /// `component` or `core-module`, which is then made into a component.
    pub kind: String,
    /// Size of the file.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub digest: String,
    /// What it can be used as: `command`, `http handler`, `scenario`, `fuzz target`, `properties`, `reactor`.
    pub fits: Vec<String>,
    /// What of the computer it may use: `clocks`, `files`, `http` and so on, from its imports.
    pub capabilities: Vec<String>,
    /// What it imports.
    pub imports: Vec<InspectPort>,
    /// What it exports.
    pub exports: Vec<InspectPort>,
    /// Its core modules.
    pub modules: Vec<InspectModule>,
    /// How checkpoints of it are restored.
    pub checkpoints: InspectCheckpoints,
    /// Properties that it declares; `None` when it evaluates some and its catalogue is absent.
    pub properties: Option<u64>,
    /// What is worth knowing besides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// An import or export.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InspectPort {
    /// Its name, with its version.
    pub name: String,
    /// Its functions as WIT writes them.
    pub functions: Vec<String>,
    /// Why it cannot be had here; absent when it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What is offered here and has a name like it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

/// A core module.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InspectModule {
    /// Position in the component.
    pub module: u32,
    /// From its name section.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// Whether coverage looks at it unless told otherwise.
    pub covered: bool,
    /// Edges that coverage tells.
    pub edges: u64,
    /// Bytes that are kept for them; the others follow.
    pub kept: u64,
    /// Whether its functions have names.
    pub has_names: bool,
    /// Whether it has debug information with source lines.
    pub has_lines: bool,
}

/// How checkpoints are restored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InspectCheckpoints {
    /// `in place`, or `by calling again`.
    pub class: String,
    /// What stands in the way of the first, one sentence each.
    pub obstacles: Vec<String>,
    /// Whether its own code can mark every page that it writes; otherwise written pages are found in another way.
    pub marks: bool,
    /// Why not, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmarked: Vec<String>,
}

/// The document for a person.
#[must_use]
pub fn inspection(document: &InspectDocument, style: Style) -> String {
    let Style { good, bad, faint, end, .. } = style;
    let mut text = format!(
        "{}  {faint}a {} of {}{end}\n",
        clean(&document.path),
        document.kind.replace('-', " "),
        size(document.bytes)
    );
    let mut row = |key: &str, value: &str| text.push_str(&format!("  {faint}{key:<12}{end} {value}\n"));
    row("sha256", &document.digest);
    row("fits", &listed(&document.fits));
    row("needs", &listed(&document.capabilities));
    let checkpoints = &document.checkpoints;
    row("checkpoints", &checkpoints.class);
    for obstacle in &checkpoints.obstacles {
        row("", &format!("{faint}because{end} {}", clean(obstacle)));
    }
    if checkpoints.obstacles.is_empty() {
        let how = if checkpoints.marks { "by marks in its code" } else { "by the kernel, or by comparison" };
        row("", &format!("written pages are found {how}"));
    }
    for reason in checkpoints.unmarked.iter().filter(|_| checkpoints.obstacles.is_empty()) {
        row("", &format!("{faint}because{end} {}", clean(reason)));
    }
    let (edges, kept) = document
        .modules
        .iter()
        .filter(|module| module.covered)
        .fold((0, 0), |(edges, kept), module| (edges + module.edges, kept + module.kept));
    row("coverage", &format!("{}, {} kept", counted(edges, "edge"), grouped(kept)));
    match document.properties {
        Some(0) => {}
        Some(declared) => row("properties", &format!("{declared} declared")),
        None => row("properties", "the catalogue is absent: what is never reached is not known"),
    }
    text.push_str(&format!("\n{faint}core modules{end}\n"));
    let name = |module: &InspectModule| clean(module.name.as_deref().unwrap_or("(no name)"));
    let width = document.modules.iter().map(|module| name(module).chars().count()).max().unwrap_or(0);
    for module in &document.modules {
        let edges = match module.covered {
            true => format!("{}, {} kept", counted(module.edges, "edge"), grouped(module.kept)),
            false => "generated, not covered".to_owned(),
        };
        let known = match (module.has_lines, module.has_names) {
            (true, _) => "source lines",
            (false, true) => "names, no source lines",
            (false, false) => "no names",
        };
        let sized = size(module.bytes);
        text.push_str(&format!(
            "  {:>3}  {:<width$}  {sized:>10}  {edges:<26}  {known}\n",
            module.module,
            name(module)
        ));
    }
    text.push_str(&format!("\n{faint}imports{end}\n"));
    for port in &document.imports {
        match &port.problem {
            None => {
                let functions = port.functions.len();
                let plural = if functions == 1 { "" } else { "s" };
                let count =
                    if functions == 0 { "types only".to_owned() } else { format!("{functions} function{plural}") };
                text.push_str(&format!("  {good}+{end} {:<44} {faint}{count}{end}\n", clean(&port.name)));
            }
            Some(problem) => {
                let nearest = port.nearest.as_ref().map(|nearest| format!("; the nearest is `{nearest}`"));
                let why = format!("{problem}{}", nearest.unwrap_or_default());
                text.push_str(&format!("  {bad}x{end} {:<44} {}\n", clean(&port.name), clean(&why)));
            }
        }
    }
    text.push_str(&format!("\n{faint}exports{end}\n"));
    for port in &document.exports {
        text.push_str(&format!("  {}\n", clean(&port.name)));
        for function in &port.functions {
            text.push_str(&format!("      {faint}{}{end}\n", clean(function)));
        }
    }
    for remark in &document.remarks {
        text.push_str(&format!("note: {}\n", clean(remark)));
    }
    text
}

fn listed(words: &[String]) -> String {
    if words.is_empty() { "nothing".to_owned() } else { words.join(", ") }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{}.{} KiB", bytes >> 10, ((bytes & 1023) * 10) >> 10),
        _ => format!("{}.{} MiB", bytes >> 20, ((bytes & 0xf_ffff) * 10) >> 20),
    }
}

/// Names come from the component: nothing of them reaches the terminal's controls.
fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
