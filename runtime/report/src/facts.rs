//! What a program told about itself, for reports: properties, flows, allocations.
//!
//! ```text
//!   scenario  Bank: 10 sequences
//!             transfer        512 run, 31 skipped (no account 31)
//!   property  failed        total is constant   always, 97 of 98 times, at src/lib.rs:31
//! ```

use crate::pretty::{Style, counted, grouped};
use fozzy_trace::facts::{
    Allocations, FlowStats, Operations, OwnHeap, Properties, Property, PropertyKind, PropertyState, ScenarioStats,
};
use fozzy_trace::{Facts, UndefinedBytes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Properties that are shown in full to people; the rest is counted.
const PROPERTIES_SHOWN: usize = 40;

/// How the SDK calls the property of another one that may skip its values: that it does not.
pub const HEALTH_SUFFIX: &str = " finds something to check";
/// Fewer cases say nothing about a property's health.
const HEALTH_CASES_MIN: u64 = 20;
/// One in this many cases is to be checked, at least.
const HEALTH_SHARE: u64 = 10;

/// What a scenario did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ScenarioSummary {
    /// Its name.
    pub name: String,
    /// Sequences or rounds that were begun.
    pub sequences: u32,
    /// Its flows, fuzz targets or properties, in their order.
    pub flows: Vec<FlowSummary>,
}

/// How it went with one flow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowSummary {
    /// Its name.
    pub name: String,
    /// How often it ran to its end.
    pub run: u64,
    /// How often it found nothing to do, by label.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<String, u64>,
    /// How often the run ended in it; absent when it did not.
    #[serde(default, skip_serializing_if = "crate::pretty::is_zero")]
    pub failed: u64,
    /// Instructions that those runs that came to their end took together.
    #[serde(default)]
    pub fuel_used: u64,
    /// Virtual time that they took together, in nanoseconds.
    #[serde(default)]
    pub virtual_time_ns: u64,
}

/// One property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PropertySummary {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: PropertyKind,
    /// How it stands.
    pub state: PropertyState,
    /// How often it was evaluated.
    pub evaluated: u64,
    /// How often it held.
    pub held: u64,
    /// The smallest distance to the bound of a comparison that was seen, negative on its wrong side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closest: Option<f64>,
    /// Where it stands in the source; unknown when the program is stripped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// What an allocator told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemorySummary {
    /// Allocations.
    pub alloc_count: u64,
    /// Frees.
    pub free_count: u64,
    /// Allocations that were refused.
    pub failed_alloc_count: u64,
    /// Bytes in use at the end.
    pub in_use_bytes: u64,
    /// The most bytes in use at one moment.
    pub peak_bytes: u64,
    /// Bytes that were never freed.
    pub leaked_bytes: u64,
    /// Allocations that were never freed.
    pub leaked_allocs: u64,
}

impl ScenarioSummary {
    pub(crate) fn of(stats: &ScenarioStats) -> ScenarioSummary {
        let flow = |flow: &FlowStats| FlowSummary {
            name: flow.name.to_string(),
            run: flow.run,
            skipped: flow.skipped.clone(),
            failed: 0,
            fuel_used: flow.cost.fuel,
            virtual_time_ns: flow.cost.time.0,
        };
        ScenarioSummary {
            name: stats.name.to_string(),
            sequences: stats.sequences,
            flows: stats.flows.iter().map(flow).collect(),
        }
    }
}

impl ScenarioSummary {
    /// Says in which flow the run ended, unless that is known.
    pub(crate) fn ended_in(&mut self, flow: usize) {
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.failed = 1;
        }
    }

    /// The same, by the flow's name.
    pub(crate) fn ended_in_flow(&mut self, name: &str) {
        let place = self.flows.iter().position(|flow| flow.name == name);
        if let Some(place) = place.filter(|_| self.flows.iter().all(|flow| flow.failed == 0)) {
            self.ended_in(place);
        }
    }
}

impl PropertySummary {
    pub(crate) fn all(properties: &Properties) -> Vec<PropertySummary> {
        let row = |(name, property): (&str, &Property)| PropertySummary {
            name: name.to_owned(),
            kind: property.kind,
            state: property.state(),
            evaluated: property.evaluated,
            held: property.held,
            closest: property.closest.filter(|closest| closest.is_finite()),
            place: property.place.clone(),
        };
        properties.iter().map(row).collect()
    }
}

impl MemorySummary {
    /// What was told, if anything was.
    #[must_use]
    pub fn of(told: &Allocations) -> Option<MemorySummary> {
        told.is_told().then(|| MemorySummary {
            alloc_count: told.allocated,
            free_count: told.freed,
            failed_alloc_count: told.refused,
            in_use_bytes: told.in_use_bytes,
            peak_bytes: told.peak_bytes,
            leaked_bytes: told.in_use_bytes,
            leaked_allocs: told.in_use(),
        })
    }

    /// That of the program's own heap.
    pub(crate) fn of_heap(heap: &OwnHeap) -> MemorySummary {
        MemorySummary {
            alloc_count: heap.allocated,
            free_count: heap.freed,
            failed_alloc_count: heap.refused,
            in_use_bytes: heap.in_use_bytes,
            peak_bytes: heap.peak_bytes,
            leaked_bytes: heap.leaked_bytes,
            leaked_allocs: heap.leaked,
        }
    }
}

/// What is worth knowing of a program that passes: flows and properties that skip nearly everything check nearly nothing.
pub(crate) fn health_warnings(facts: &Facts) -> Vec<String> {
    let flows = facts.scenario.iter().flat_map(|scenario| &scenario.flows);
    let flows = flows.map(|flow| (format!("`{}`", flow.name), flow.run, flow.skipped.values().sum::<u64>()));
    let properties = facts.properties.iter().filter_map(|(name, property)| {
        let name = name.strip_suffix(HEALTH_SUFFIX)?;
        Some((name.to_owned(), property.held, property.evaluated - property.held))
    });
    let unhealthy = flows.chain(properties).filter_map(|(name, checked, skipped)| unhealthy(&name, checked, skipped));
    let refusals = facts.refusals.iter().map(|refusal| format!("refused: {refusal}"));
    let undefined = facts.undefined.first.iter().map(|output| {
        let UndefinedBytes { offset, bytes, allocation } = output.found;
        format!(
            "undefined output: call {}, {}, lets out {} that the program has never written, of allocation {allocation} (from byte {offset} of {})",
            output.call,
            output.import,
            counted(bytes, "byte"),
            output.length
        )
    });
    let held = facts.injected.awaits_setup.then(|| {
        "no fault was injected: planned faults wait for `setup_complete` of the Antithesis SDK, which the program has and did not say".to_owned()
    });
    let sdk = &facts.sdk_warnings;
    let sdk_more = (sdk.more > 0).then(|| format!("and {} more of the Antithesis SDK", counted(sdk.more, "line")));
    let unjudged = unjudged_history(&facts.operations);
    let unjudged = unjudged.into_iter().chain(unjudged_leaks(facts));
    unhealthy
        .chain(refusals)
        .chain(undefined)
        .chain(held)
        .chain(sdk.first.iter().cloned())
        .chain(sdk_more)
        .chain(unjudged)
        .chain(facts.unmet_input.iter().cloned())
        .collect()
}

/// The warning of checkers of histories that have nothing to judge.
fn unjudged_history(operations: &Operations) -> Option<String> {
    let is_unjudged = operations.all().is_empty() && !operations.criteria.is_empty();
    is_unjudged.then(|| {
        let names: Vec<String> = operations.criteria.iter().map(|criterion| format!("`{}`", criterion.name().escape_debug())).collect();
        format!(
            "no operation was recorded, so that {} judged nothing: clients record theirs by the SDK (`invoke`, `complete`)",
            names.join(", ")
        )
    })
}

/// The warning of a leak budget for a program that reports no allocations, and whose own heap was not looked at. Files of version 1 always have a budget.
fn unjudged_leaks(facts: &Facts) -> Option<String> {
    let is_asked = facts.allocations.leak_budget_bytes.is_some() && facts.scenario.is_none();
    (is_asked && facts.own_heap.is_none() && !facts.allocations.is_told()).then(|| {
        "the program reports no allocations (`fozzy:memory`), so that no leak was looked for: `fozzy memory top RUN --fail-on-leak` judges its own heap"
            .to_owned()
    })
}

/// The warning of what skipped nearly everything.
pub(crate) fn unhealthy(name: &str, checked: u64, skipped: u64) -> Option<String> {
    let cases = checked + skipped;
    let is_bad = cases >= HEALTH_CASES_MIN && checked.saturating_mul(HEALTH_SHARE) < cases;
    is_bad.then(|| {
        format!(
            "{} skipped {} of {}, so that it checks nearly nothing: draw values that it can use, or ask for less",
            name.escape_debug(),
            grouped(skipped),
            counted(cases, "case")
        )
    })
}

/// The lines of a scenario: its name, then a line for each flow.
pub(crate) fn scenario_lines(scenario: &ScenarioSummary) -> Vec<String> {
    let name = if scenario.name.is_empty() { String::new() } else { format!("{}: ", scenario.name.escape_debug()) };
    let widest = scenario.flows.iter().map(|flow| flow.name.chars().count()).max().unwrap_or(0).min(40);
    let flows = scenario.flows.iter().map(|flow| {
        let labels: Vec<String> =
            flow.skipped.iter().map(|(label, times)| format!("{} {}", label.escape_debug(), grouped(*times))).collect();
        let skipped: u64 = flow.skipped.values().sum();
        let skipped = match skipped {
            0 => String::new(),
            times => format!(", {} skipped ({})", grouped(times), labels.join(", ")),
        };
        let ran = match (flow.run, flow.failed) {
            (0, failed @ 1..) => format!("{failed} failed"),
            (run, 0) => format!("{} run", grouped(run)),
            (run, failed) => format!("{} run, {failed} failed", grouped(run)),
        };
        format!("{:widest$}  {ran}{skipped}", flow.name.escape_debug().to_string())
    });
    let first = format!("{name}{}", counted(scenario.sequences.into(), "sequence"));
    std::iter::once(first).chain(flows).collect()
}

/// The lines of properties: what is not as it should be first.
pub(crate) fn property_lines(properties: &[PropertySummary], style: Style) -> Vec<String> {
    let Style { good, bad, faint, end, .. } = style;
    let mut sorted: Vec<&PropertySummary> = properties.iter().collect();
    sorted.sort_by_key(|property| match property.state {
        PropertyState::Failed => 0,
        PropertyState::NeverTrue => 1,
        PropertyState::NeverReached => 2,
        PropertyState::Passed => 3,
    });
    let lines = sorted.iter().take(PROPERTIES_SHOWN).map(|property| {
        let mark = match property.state {
            PropertyState::Failed => bad,
            PropertyState::Passed => good,
            PropertyState::NeverTrue | PropertyState::NeverReached => faint,
        };
        let held = match property.evaluated {
            0 => String::new(),
            evaluated if property.held == evaluated => format!(", {}", counted(evaluated, "time")),
            evaluated => format!(", {} of {}", grouped(property.held), counted(evaluated, "time")),
        };
        let closest = property.closest.map_or_else(String::new, |closest| format!(", closest {closest}"));
        let place =
            property.place.as_deref().map_or_else(String::new, |place| format!(", at {}", place.escape_debug()));
        let (state, name, kind) = (property.state.name(), property.name.escape_debug(), property.kind.name());
        format!("{mark}{state:<13}{end} {name}  {faint}{kind}{held}{closest}{place}{end}")
    });
    let mut lines: Vec<String> = lines.collect();
    if properties.len() > PROPERTIES_SHOWN {
        lines.push(format!("{faint}… and {} more{end}", properties.len() - PROPERTIES_SHOWN));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Instant;
    use fozzy_trace::facts::PropertyEvaluation;
    use fozzy_trace::plan::HistoryCriterion;

    #[test]
    fn what_went_wrong_stands_first() {
        let mut properties = Properties::default();
        for (kind, name) in
            [(PropertyKind::Always, "a good one"), (PropertyKind::Sometimes, "b never"), (PropertyKind::Reachable, "c")]
        {
            properties.declare(kind, name, "src/lib.rs:3").expect("a name");
        }
        let seen = |kind, name, holds| PropertyEvaluation { kind, name, holds, distance: None, details: None };
        properties.see(seen(PropertyKind::Always, "a good one", true)).expect("a name");
        properties.see(seen(PropertyKind::Sometimes, "b never", false)).expect("a name");
        properties.see(seen(PropertyKind::Always, "z", false)).expect("a name");
        let lines = property_lines(&PropertySummary::all(&properties), Style::PLAIN);
        let expected = [
            "failed        z  always, 0 of 1 time",
            "never true    b never  sometimes, 0 of 1 time, at src/lib.rs:3",
            "never reached c  reachable, at src/lib.rs:3",
            "passed        a good one  always, 1 time, at src/lib.rs:3",
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_leak_budget_that_nothing_is_held_to_is_warned_of() {
        let mut facts = Facts::default();
        facts.allocations.leak_budget_bytes = Some(0);
        assert!(health_warnings(&facts)[0].starts_with("the program reports no allocations"));
        facts.scenario = Some(Default::default());
        assert!(health_warnings(&facts).is_empty(), "files of version 1 always have a budget");
    }

    #[test]
    fn a_history_that_is_to_be_judged_and_has_no_operation_is_warned_of() {
        let mut facts = Facts::default();
        let criterion = HistoryCriterion::named("linearizable", "kv");
        facts.operations.criteria.push(criterion);
        let warnings = health_warnings(&facts);
        assert!(
            warnings[0].starts_with("no operation was recorded, so that `linearizable kv` judged nothing"),
            "{warnings:?}"
        );
        facts.operations.invoke(0, "get", "x", Instant(0)).expect("few words");
        assert!(health_warnings(&facts).is_empty());
    }

    #[test]
    fn what_skips_nearly_everything_is_warned_of() {
        let mut facts = Facts::default();
        let mut flow = FlowStats::new("withdraw");
        flow.run = 1;
        (0..18).for_each(|_| flow.skip("no account"));
        facts.scenario = Some(ScenarioStats { flows: vec![flow.clone()], ..ScenarioStats::default() });
        assert!(health_warnings(&facts).is_empty(), "too few to tell");
        flow.skip("no account");
        facts.scenario = Some(ScenarioStats { flows: vec![flow], ..ScenarioStats::default() });
        let name = "`sorted` finds something to check";
        let kind = PropertyKind::Sometimes;
        for holds in [true].into_iter().chain([false; 99]) {
            facts
                .properties
                .see(PropertyEvaluation { kind, name, holds, distance: None, details: None })
                .expect("a name");
        }
        let warnings = health_warnings(&facts);
        assert!(warnings[0].starts_with("`withdraw` skipped 19 of 20 cases, "), "{warnings:?}");
        assert!(warnings[1].starts_with("`sorted` skipped 99 of 100 cases, "), "{warnings:?}");
    }

    #[test]
    fn flows_are_a_table() {
        let mut flow = FlowStats::new("transfer");
        flow.run = 1512;
        (0..3).for_each(|_| flow.skip("no account"));
        let stats = ScenarioStats {
            name: "Bank".into(),
            sequences: 10,
            flows: vec![flow, FlowStats::new("x")],
            ..ScenarioStats::default()
        };
        let expected = ["Bank: 10 sequences", "transfer  1,512 run, 3 skipped (no account 3)", "x         0 run"];
        assert_eq!(scenario_lines(&ScenarioSummary::of(&stats)), expected);
    }
}
