//! The file format of speedscope: one sample for each path that costs something, weighted with its instructions.
//! <https://www.speedscope.app/file-format-schema.json>

use super::{CallTree, CostUnit};
use serde_json::{Value, json};

pub(super) fn write(tree: &CallTree) -> Vec<u8> {
    let frame = |function: &super::CalledFunction| {
        let mut frame = json!({ "name": function.name });
        if let Some(file) = &function.file {
            frame["file"] = Value::from(file.as_str());
        }
        frame
    };
    let frames: Vec<Value> = tree.functions.iter().map(frame).collect();
    let (mut samples, mut weights) = (Vec::new(), Vec::new());
    let mut paths: Vec<Vec<usize>> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let mut path = node.parent.map(|parent| paths[parent].clone()).unwrap_or_default();
        path.push(node.function);
        let own = node.own().instructions;
        if own > 0 {
            samples.push(path.clone());
            weights.push(own);
        }
        paths.push(path);
    }
    let document = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "shared": { "frames": frames },
        "profiles": [{
            "type": "sampled",
            "name": tree.unit.name(),
            "unit": if tree.unit == CostUnit::Bytes { "bytes" } else { "none" },
            "startValue": 0,
            "endValue": tree.total().instructions,
            "samples": samples,
            "weights": weights,
        }],
        "name": tree.run,
        "activeProfileIndex": 0,
        "exporter": "fozzy",
    });
    let mut text = document.to_string();
    text.push('\n');
    text.into_bytes()
}
