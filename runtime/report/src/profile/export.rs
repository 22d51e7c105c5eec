//! What `fozzy profile flame` and `fozzy profile export` say of what they write.

use super::{CallTree, HeapFormat, HeapTree, ProfileFormat};
use crate::{Layout, Style};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `fozzy.profile_flame.v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileFlame {
    /// Always `fozzy.profile_flame.v1`.
    pub schema_version: String,
    /// The trace.
    pub run: String,
    /// What is counted: `cpu`, in instructions, or `heap`, in bytes that were allocated.
    pub domain: String,
    /// Whether nothing was counted.
    pub empty: bool,
    /// Why it is empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What a reader has to know.
    pub warnings: Vec<String>,
    /// folded, svg, speedscope.
    pub format: String,
    /// The graph.
    pub content: String,
}

/// `fozzy.profile_export_result.v1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ProfileExport {
    /// Always `fozzy.profile_export_result.v1`.
    pub schema_version: String,
    /// The trace.
    pub run: String,
    /// The format.
    pub format: String,
    /// The file that was written.
    pub out: String,
    /// What a reader has to know.
    pub warnings: Vec<String>,
}

impl ProfileFlame {
    /// The calls of a run in a format that is text.
    #[must_use]
    pub fn of(tree: &CallTree, format: &ProfileFormat) -> ProfileFlame {
        ProfileFlame::written(tree, format.name, format.export(tree))
    }

    /// What a heap has allocated, in a format that is text.
    #[must_use]
    pub fn of_heap(heap: &HeapTree, format: &HeapFormat) -> ProfileFlame {
        ProfileFlame::written(&heap.tree, format.name, format.export(heap))
    }

    fn written(tree: &CallTree, format: &str, (content, warnings): (Vec<u8>, Vec<String>)) -> ProfileFlame {
        let empty = tree.total().instructions == 0;
        ProfileFlame {
            schema_version: "fozzy.profile_flame.v1".to_owned(),
            run: tree.run.clone(),
            domain: tree.unit.domain().to_owned(),
            empty,
            reason: empty.then(|| format!("the program has no {}", tree.unit.name())),
            warnings,
            format: format.to_owned(),
            content: String::from_utf8_lossy(&content).into_owned(),
        }
    }
}

impl ProfileExport {
    /// What was written to `out`.
    #[must_use]
    pub fn new(run: String, format: &str, out: String, warnings: Vec<String>) -> ProfileExport {
        let schema_version = "fozzy.profile_export_result.v1".to_owned();
        ProfileExport { schema_version, run, format: format.to_owned(), out, warnings }
    }
}

impl Layout for ProfileFlame {
    fn lay_out(&self, _style: Style) -> String {
        self.content.clone()
    }
}

impl Layout for ProfileExport {
    fn lay_out(&self, _style: Style) -> String {
        let notes = self.warnings.iter().map(|warning| format!("note: {warning}\n"));
        format!("wrote {}\n", self.out) + &notes.collect::<String>()
    }
}
