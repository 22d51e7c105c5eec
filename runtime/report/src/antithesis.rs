//! Properties as the lines that the public SDK of Antithesis writes, for tools that read those.
//!
//! ```text
//! sometimes full, at src/ring.rs:9, 1 of 3 times  ─▶ {"antithesis_assert":{"hit":false,"message":"full",…}}
//!                                                    {"antithesis_assert":{"hit":true,"condition":true,…}}
//!                                                    {"antithesis_assert":{"hit":true,"condition":false,…}}
//! ```
//!
//! As the SDK does it, each is declared, and evaluated once with either result that it had; how often is not in the format.
//!
//! Not here: reading such lines (`fozzy_trace::facts`).

use crate::facts::PropertySummary;
use fozzy_trace::facts::PropertyKind;
use serde_json::{Value, json};

/// The version of the lines that is written.
const PROTOCOL_VERSION: &str = "1.1.0";

/// One line for each, with its end.
pub(crate) fn antithesis_lines<'a>(properties: impl IntoIterator<Item = &'a PropertySummary>) -> String {
    let about = json!({ "antithesis_sdk": {
        "language": { "name": "WebAssembly", "version": "" },
        "sdk_version": concat!("fozzy ", env!("CARGO_PKG_VERSION")),
        "protocol_version": PROTOCOL_VERSION,
    }});
    let lines = properties.into_iter().flat_map(|property| {
        let held = (property.held > 0).then(|| line(property, true, true));
        let missed = (property.evaluated > property.held).then(|| line(property, true, false));
        [Some(line(property, false, false)), held, missed].into_iter().flatten()
    });
    std::iter::once(about).chain(lines).map(|line| format!("{line}\n")).collect()
}

fn line(property: &PropertySummary, hit: bool, condition: bool) -> Value {
    let (assert_type, display_type, must_hit) = match property.kind {
        PropertyKind::Always => ("always", "Always", true),
        PropertyKind::AlwaysOrUnreachable => ("always", "AlwaysOrUnreachable", false),
        PropertyKind::Sometimes => ("sometimes", "Sometimes", true),
        PropertyKind::Reachable => ("reachability", "Reachable", true),
        PropertyKind::Unreachable => ("reachability", "Unreachable", false),
    };
    let place = property.place.as_deref().unwrap_or_default();
    let (file, number) = place.rsplit_once(':').unwrap_or((place, "0"));
    json!({ "antithesis_assert": {
        "assert_type": assert_type,
        "display_type": display_type,
        "condition": condition,
        "message": property.name,
        "id": property.name,
        "location": {
            "class": "",
            "function": "",
            "file": file,
            "begin_line": number.parse::<u64>().unwrap_or_default(),
            "begin_column": 0,
        },
        "hit": hit,
        "must_hit": must_hit,
        "details": if hit { json!({}) } else { Value::Null },
    }})
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Facts;
    use fozzy_trace::facts::PropertyEvaluation;
    use fozzy_trace::plan::Edition;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let mut facts = Facts::default();
        for (place, kind) in [
            PropertyKind::Always,
            PropertyKind::AlwaysOrUnreachable,
            PropertyKind::Sometimes,
            PropertyKind::Reachable,
            PropertyKind::Unreachable,
        ]
        .into_iter()
        .enumerate()
        {
            for evaluations in [&[][..], &[true], &[false], &[true, false, false]] {
                let name = format!("{} {evaluations:?} \"quoted\"", kind.name());
                facts.properties.declare(kind, &name, &format!("src/a.rs:{place}")).expect("fit");
                for holds in evaluations {
                    let holds = *holds && kind != PropertyKind::Unreachable || kind == PropertyKind::Reachable;
                    let seen = PropertyEvaluation { kind, name: &name, holds, distance: None, details: None };
                    drop(facts.properties.see(seen));
                }
            }
        }
        let written = PropertySummary::all(&facts.properties);
        let mut read = Facts::default();
        for (number, line) in (1..).zip(antithesis_lines(&written).lines()) {
            drop(read.sdk_line(number, line.as_bytes(), Edition::LATEST));
        }
        assert!(read.sdk_warnings.first.is_empty(), "{:?}", read.sdk_warnings.first);
        let read = PropertySummary::all(&read.properties);
        assert_eq!(read.len(), 20);
        for (before, after) in written.iter().zip(&read) {
            assert_eq!((&before.name, before.kind, before.state), (&after.name, after.kind, after.state));
            assert_eq!((&before.place, before.held.min(1)), (&after.place, after.held));
        }
    }
}
