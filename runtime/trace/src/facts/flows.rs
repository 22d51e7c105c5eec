//! What a scenario did: how often each flow ran, and why it did not.

use super::cut;
use crate::Duration;
use crate::choice::NAME_BYTES_MAX;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Labels of skips that are told apart for a flow; the rest is counted under `other`.
pub const SKIP_LABELS_MAX: usize = 64;

/// What a scenario did.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ScenarioStats {
    /// Its name.
    pub name: Arc<str>,
    /// Sequences that were begun.
    pub sequences: u32,
    /// Its flows, in their order.
    pub flows: Vec<FlowStats>,
    /// Where it is.
    pub position: ScenarioPosition,
    /// Steps of this sequence that were begun: the number of the step among those that are run, from 1.
    pub begun: u32,
}

/// How it went with one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowStats {
    /// Its name.
    pub name: Arc<str>,
    /// How often it ran to its end.
    pub run: u64,
    /// How often it found nothing to do, by label.
    pub skipped: BTreeMap<String, u64>,
    /// What those runs that came to their end took together.
    pub cost: Cost,
}

/// What a program takes: the same on every machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Instructions, as wasmtime counts fuel.
    pub fuel: u64,
    /// Virtual time.
    pub time: Duration,
}

impl FlowStats {
    /// A flow that has not run.
    #[must_use]
    pub fn new(name: &str) -> FlowStats {
        FlowStats { name: cut(name, NAME_BYTES_MAX).into(), ..FlowStats::default() }
    }

    /// It ran to its end, and took this.
    pub fn ran(&mut self, cost: Cost) {
        self.run += 1;
        self.cost.fuel = self.cost.fuel.saturating_add(cost.fuel);
        self.cost.time = Duration(self.cost.time.0.saturating_add(cost.time.0));
    }

    /// It found nothing to do.
    pub fn skip(&mut self, label: &str) {
        let label = cut(label, NAME_BYTES_MAX);
        let known = self.skipped.len() < SKIP_LABELS_MAX || self.skipped.contains_key(&label);
        *self.skipped.entry(if known { label } else { "other".to_owned() }).or_default() += 1;
    }
}

/// Where a scenario is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScenarioPosition {
    /// The sequence, from 0.
    pub sequence: Option<u32>,
    /// The step, from 0; none before the first and after the last.
    pub step: Option<u32>,
    /// The flow that was drawn in this step.
    pub flow: Option<u32>,
}

impl Clone for ScenarioStats {
    fn clone(&self) -> ScenarioStats {
        let ScenarioStats { name, sequences, flows, position, begun } = self;
        let (name, flows) = (Arc::clone(name), flows.clone());
        ScenarioStats { name, sequences: *sequences, flows, position: *position, begun: *begun }
    }

    /// A search counts no flows: they are mostly the same on two ways.
    fn clone_from(&mut self, source: &ScenarioStats) {
        let ScenarioStats { name, sequences, flows, position, begun } = source;
        if !Arc::ptr_eq(&self.name, name) {
            self.name = Arc::clone(name);
        }
        if self.flows != *flows {
            self.flows.clone_from(flows);
        }
        (self.sequences, self.position, self.begun) = (*sequences, *position, *begun);
    }
}

impl ScenarioStats {
    /// It comes to a position.
    pub fn go(&mut self, position: ScenarioPosition) {
        // Rounds of fuzz targets and properties begin with their first step.
        if position.sequence != self.position.sequence {
            self.begun = 0;
        }
        self.begun += u32::from(position.step.is_some());
        self.position = position;
    }

    /// In words: `step 17 (transfer)`, `step 17 of sequence 2 (transfer)` when there were several. Both are counted from 1 among
    /// those that were run.
    #[must_use]
    pub fn place(&self) -> Option<String> {
        self.position.sequence?;
        let sequence = (self.sequences > 1).then(|| format!("sequence {}", self.sequences));
        let step = self.position.step.map(|_| format!("step {}", self.begun));
        let mut words = match (step, sequence) {
            (Some(step), Some(sequence)) => format!("{step} of {sequence}"),
            (Some(step), None) => step,
            (None, Some(sequence)) => sequence,
            (None, None) => return None,
        };
        if let Some(flow) = self.position.flow.and_then(|flow| self.flows.get(flow as usize)) {
            words.push_str(&format!(" ({})", flow.name.escape_debug()));
        }
        Some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_bounded_and_a_place_is_said() {
        let mut flow = FlowStats::new("transfer");
        (0..100).for_each(|n| flow.skip(&n.to_string()));
        assert_eq!((flow.skipped.len(), flow.skipped["other"]), (SKIP_LABELS_MAX + 1, 36));
        let cost = Cost { fuel: 30, time: Duration(7) };
        flow.ran(cost);
        flow.ran(cost);
        assert_eq!((flow.run, flow.cost), (2, Cost { fuel: 60, time: Duration(14) }));
        let mut stats = ScenarioStats { flows: vec![flow], sequences: 1, ..ScenarioStats::default() };
        assert_eq!(stats.place(), None);
        let at = |step| ScenarioPosition { sequence: Some(2), step, flow: Some(0) };
        stats.go(ScenarioPosition { sequence: Some(2), step: None, flow: None });
        assert_eq!(stats.place(), None);
        // What was left out is not counted.
        stats.go(at(Some(17)));
        assert_eq!(stats.place().as_deref(), Some("step 1 (transfer)"));
        stats.sequences = 3;
        stats.go(at(Some(57)));
        assert_eq!(stats.place().as_deref(), Some("step 2 of sequence 3 (transfer)"));
        stats.go(ScenarioPosition { sequence: Some(2), step: None, flow: None });
        assert_eq!(stats.place().as_deref(), Some("sequence 3"));
        stats.go(ScenarioPosition { sequence: Some(3), step: Some(0), flow: Some(0) });
        assert_eq!(stats.place().as_deref(), Some("step 1 of sequence 3 (transfer)"));
    }
}
