//! What was seen before, and so what is new: edges and how often, states, properties, and flows and faults in company.
//!
//! Invariant: what was seen stays seen.

use super::known_coverage::{KnownCoverage, KnownEdges, told, unite_edges};
use super::novelty::{NewCoverage, NoveltyRates};
use super::run_signs::{NoveltyDimension, RunSigns};
use super::stateful_target::{CoverageStretch, StatefulTarget};
use crate::feedback::Feedback;
use fozzy_trace::StepView;
use fozzy_trace::facts::{Facts, PROPERTIES_MAX, Property, PropertyKind, PropertyStatuses, PropertyTable};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// States that are remembered. Beyond, new ones are not told from old ones, and none counts as new.
const STATES_MAX: usize = 1 << 22;
/// A number nearer its bound is something new when it has come nearer by this part of the distance.
const NEARER: f64 = 0.9;

/// How a property stood at best.
#[derive(Clone, Debug, Default)]
struct PropertyBest {
    held: bool,
    closest: Option<f64>,
    high_water: Option<f64>,
    combinations: BTreeSet<u64>,
}

/// Whether a comparison has come a good part further towards its bound, negative before it, or beyond.
fn is_further(best: Option<f64>, now: f64) -> bool {
    match best {
        None => true,
        Some(best) if best < 0.0 => now > best * NEARER || now >= 0.0,
        Some(best) => now > best / NEARER,
    }
}

/// Everything that was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateFeedback {
    feedback: Feedback,
    states: FxHashSet<u64>,
    /// Whether some of these are told by a memory: what their numbers mean is learned, and another process learns it anew.
    has_learned: bool,
    /// States that the memory tells, of a scenario that names some.
    further: FxHashSet<u64>,
    rates: NoveltyRates,
    properties: BTreeMap<String, PropertyBest>,
    /// The same, as reports have it, also of those that were never evaluated.
    statuses: PropertyStatuses,
    /// The version of the properties that were looked at last, for both: to look again at the same shows nothing.
    version: Option<u64>,
    /// A flow right after another one, and the pair that came last.
    pairs: BTreeSet<(Option<u32>, Option<u32>)>,
    last_pair: Option<(Option<u32>, Option<u32>)>,
    faults: FaultCompany,
    novelty: RunSigns,
    /// The names of modules, in the order in which they were shown first.
    names: Vec<u64>,
    /// Edges of the exploration that is continued, whether their modules were shown since or not.
    edges_before: BTreeMap<u64, KnownEdges>,
}

/// In which company faults have struck.
#[derive(Clone, Debug, Default)]
struct FaultCompany {
    /// How often each had struck on this way, and how often each property had been evaluated, when it was looked at last.
    before: Vec<u64>,
    evaluated: BTreeMap<String, u64>,
    /// The version of the properties of which `evaluated` tells.
    version: Option<u64>,
    /// How often each has struck now; kept to reuse the allocation.
    now: Vec<u64>,
    /// Two faults, by their places in the plan: one struck in a step, the other in the same step or before.
    pairs: BTreeSet<(usize, usize)>,
    /// A flow in which one struck, and a property that was evaluated in it.
    cells: BTreeSet<(Option<u32>, usize, String)>,
}

impl FaultCompany {
    /// Looks at a step that ran `flow`; the answer is how much is new.
    fn observe(&mut self, target: &dyn StatefulTarget, flow: Option<u32>) -> u32 {
        let mut now = std::mem::take(&mut self.now);
        now.clear();
        target.faults(&mut |struck| now.push(struck));
        if now.is_empty() {
            return 0;
        }
        self.before.resize(now.len(), 0);
        let mut fresh = 0;
        for (fault, _) in now.iter().zip(&self.before).enumerate().filter(|(_, (now, before))| now > before) {
            let others = now.iter().enumerate().filter(|(other, struck)| *other != fault && **struck > 0);
            for (other, _) in others {
                fresh += u32::from(self.pairs.insert((fault.min(other), fault.max(other))));
            }
            target.properties(&mut |name, property| {
                if property.evaluated > self.evaluated.get(name).copied().unwrap_or(0) {
                    fresh += u32::from(self.cells.insert((flow, fault, name.to_owned())));
                }
            });
        }
        self.now = now;
        self.begin_run(target);
        fresh
    }

    /// What comes next is compared with what is now.
    fn begin_run(&mut self, target: &dyn StatefulTarget) {
        self.before.clear();
        target.faults(&mut |struck| self.before.push(struck));
        let version = target.properties_version();
        if self.before.is_empty() || (version.is_some() && version == self.version) {
            return;
        }
        self.version = version;
        if self.evaluated.len() > PROPERTIES_MAX {
            self.evaluated.clear();
        }
        // Those that this way does not have were never evaluated on it.
        self.evaluated.values_mut().for_each(|evaluated| *evaluated = 0);
        target.properties(&mut |name, property| match self.evaluated.get_mut(name) {
            Some(evaluated) => *evaluated = property.evaluated,
            None => {
                self.evaluated.insert(name.to_owned(), property.evaluated);
            }
        });
    }
}

/// Which states count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StateScope {
    /// None.
    Ignored,
    /// What the scenario says its state is.
    Told,
    /// That, or what its memory says where the scenario says nothing.
    All,
}

impl StateFeedback {
    /// How often something is new is told from here on: places of before were those with something new only.
    pub(crate) fn begin_search(&mut self) {
        self.rates = NoveltyRates::default();
    }

    /// `target` is at the beginning of a way.
    pub(crate) fn begin_run(&mut self, target: &dyn StatefulTarget) {
        self.faults.begin_run(target);
    }

    /// Looks at the last step of `target`, which ran `flow` after `before`.
    pub(crate) fn observe(
        &mut self,
        target: &mut dyn StatefulTarget,
        (before, flow): (Option<u32>, Option<u32>),
        states: StateScope,
        dimensions: &[NoveltyDimension],
    ) -> NewCoverage {
        let mut fresh = NewCoverage::default();
        let feedback = &mut self.feedback;
        target.coverage(&mut |CoverageStretch { module, len, at, bytes }| {
            fresh.features += feedback.observe_stretch(module + 1, len, at, bytes);
        });
        let (named, shown) = (self.names.len(), self.modules());
        if named < shown {
            // A module that was not shown until now has its own of before.
            self.names.extend((named..shown).map(|module| target.module_name(module)));
            self.learn_edges(named);
        }
        self.observe_state(target, states, &mut fresh);
        fresh.cells = self.observe_pair((before, flow)) + self.faults.observe(target, flow);
        fresh.cells += self.novelty.observe(dimensions, |see| target.signs(see));
        let version = target.properties_version();
        if version.is_none() || version != self.version {
            self.observe_properties(target);
            fresh.cells += self.observe_progress(target);
            self.version = version;
        }
        self.rates.count(fresh);
        fresh
    }

    /// Looks at a flow right after another one; the answer is how much is new.
    fn observe_pair(&mut self, pair: (Option<u32>, Option<u32>)) -> u32 {
        if self.last_pair.replace(pair) == Some(pair) {
            return 0;
        }
        self.pairs.insert(pair).into()
    }

    /// Looks at how far the properties of `target` have come; the answer is how much is new.
    fn observe_progress(&mut self, target: &dyn StatefulTarget) -> u32 {
        let (properties, mut fresh) = (&mut self.properties, 0);
        target.properties(&mut |name, property| {
            if property.evaluated == 0 {
                return;
            }
            let best = match properties.get_mut(name) {
                Some(best) => best,
                None => properties.entry(name.to_owned()).or_default(),
            };
            let holds = property.kind == PropertyKind::Sometimes && property.held > 0;
            if holds && !best.held {
                best.held = true;
                fresh += 1;
            }
            for parts in &property.combinations {
                fresh += u32::from(best.combinations.insert(*parts));
            }
            if let Some(high_water) = property.high_water {
                if is_further(best.high_water, high_water) {
                    best.high_water = Some(high_water);
                    fresh += 1;
                }
                return;
            }
            let Some(distance) = property.closest.map(f64::abs) else { return };
            if best.closest.is_none_or(|closest| distance < closest * NEARER) {
                best.closest = Some(distance);
                fresh += 1;
            }
        });
        fresh
    }

    /// Whether to [`observe`](StateFeedback::observe) a step that came after the flow `before` would find nothing new, and would change
    /// nothing but how many steps there were; where no faults are planned, no signs shown, and its properties are known. Its memory is
    /// looked at last, and only if all else is dull: whatever else denies that is to be asked before.
    pub(crate) fn is_dull(&mut self, step: &StepView<'_>, before: Option<u32>, states: StateScope) -> bool {
        let named = step.facts.states.digest();
        let pair = (before, Some(step.flow));
        (self.last_pair == Some(pair) || self.pairs.contains(&pair))
            && self.knows_named(named, states)
            && self.knows_coverage(step)
            && self.knows_memory(step, named, states)
    }

    /// Whether its properties stand as they were seen before; the other half of [`StateFeedback::is_dull`].
    pub(crate) fn knows_properties(&self, facts: &Facts) -> bool {
        self.version == Some(facts.properties.version())
            || facts.properties.iter().all(|(name, property)| self.knows_property(name, property))
    }

    /// Counts a step that was dull.
    pub(crate) fn count_dull(&mut self) {
        self.rates.count(NewCoverage::default());
    }

    fn knows_named(&self, named: Option<u64>, states: StateScope) -> bool {
        let named = named.filter(|_| states != StateScope::Ignored && self.has_room());
        named.is_none_or(|named| self.states.contains(&named))
    }

    /// Looks at the memory after the step, if that is to be done.
    fn knows_memory(&self, step: &StepView<'_>, named: Option<u64>, states: StateScope) -> bool {
        if !self.wants_memory(named, states) {
            return true;
        }
        let known = if named.is_some() { &self.further } else { &self.states };
        (step.memory_state)().is_none_or(|learned| !self.has_room() || known.contains(&learned))
    }

    /// Whether the memory is asked what the state is, after a step in which the scenario has named this.
    fn wants_memory(&self, named: Option<u64>, states: StateScope) -> bool {
        states == StateScope::All && (named.is_none() || self.rates.is_coarse())
    }

    /// Whether new states are told from old ones.
    fn has_room(&self) -> bool {
        self.states.len() + self.further.len() < STATES_MAX
    }

    fn knows_coverage(&mut self, step: &StepView<'_>) -> bool {
        let (feedback, mut is_known) = (&mut self.feedback, true);
        (step.coverage)(&mut |module, len, at, bytes| {
            is_known = is_known && feedback.has_exhausted(module + 1, len, at, bytes);
        });
        is_known
    }

    fn knows_property(&self, name: &str, property: &Property) -> bool {
        if self.statuses.is_empty() {
            return false;
        }
        if property.evaluated == 0 {
            return true;
        }
        let Some(best) = self.properties.get(name).filter(|_| self.statuses.knows(name, property)) else {
            return false;
        };
        let holds = property.kind == PropertyKind::Sometimes && property.held > 0;
        if holds && !best.held || !property.combinations.is_subset(&best.combinations) {
            return false;
        }
        match (property.high_water, property.closest.map(f64::abs)) {
            (Some(high_water), _) => !is_further(best.high_water, high_water),
            (None, Some(distance)) => best.closest.is_some_and(|closest| distance >= closest * NEARER),
            (None, None) => true,
        }
    }

    /// Looks at how the properties of `target` stand. Those that it lists are looked at once, and again when they are reached.
    pub(crate) fn observe_properties(&mut self, target: &dyn StatefulTarget) {
        let (is_first, statuses) = (self.statuses.is_empty(), &mut self.statuses);
        target.properties(&mut |name, property| {
            if is_first || property.evaluated > 0 {
                statuses.observe(name, property);
            }
        });
    }

    /// How its properties stand over all steps that were looked at.
    pub(crate) fn property_table(&self) -> PropertyTable {
        self.statuses.table()
    }

    fn observe_state(&mut self, target: &mut dyn StatefulTarget, states: StateScope, fresh: &mut NewCoverage) {
        let named = if states == StateScope::Ignored { None } else { target.state() };
        let learned = if self.wants_memory(named, states) { target.memory_state() } else { None };
        match (named, learned) {
            _ if !self.has_room() => {}
            (Some(named), further) => {
                fresh.named = u32::from(self.states.insert(named));
                fresh.further = further.map_or(0, |further| u32::from(self.further.insert(further)));
            }
            (None, Some(learned)) => {
                self.has_learned = true;
                fresh.learned = u32::from(self.states.insert(learned));
            }
            (None, None) => {}
        }
    }

    /// Which kinds of states are new too often to say anything.
    pub(crate) fn fine(&self) -> [bool; 3] {
        self.rates.fine()
    }

    /// For each edge of a module, in the order in which they are shown, whether it was taken.
    pub(crate) fn taken(&self, module: usize) -> Vec<u8> {
        self.feedback.taken(module + 1)
    }

    /// How many modules were shown.
    pub(crate) fn modules(&self) -> usize {
        self.feedback.modules().saturating_sub(1)
    }

    /// The classes of counts of each module, as others are told.
    pub(crate) fn classes(&self) -> Vec<Vec<u8>> {
        (1..self.feedback.modules()).map(|number| self.feedback.classes(number)).collect()
    }

    /// Takes what others have seen as seen.
    pub(crate) fn merge_known(&mut self, classes: &[Vec<u8>]) {
        classes.iter().enumerate().for_each(|(at, classes)| self.feedback.merge_known(at + 1, classes));
    }

    /// Takes edges of before as seen, of the modules from this one on that were shown.
    fn learn_edges(&mut self, first: usize) {
        for (module, name) in self.names.iter().enumerate().skip(first) {
            if let Some(edges) = self.edges_before.get(name) {
                self.feedback.merge_known(module + 1, &edges.classes);
                self.feedback.learn_often(module + 1, &edges.often);
            }
        }
    }

    /// What was seen, for one that continues it.
    pub(crate) fn known(&self) -> KnownCoverage {
        let edges_of = |module: usize| KnownEdges {
            classes: self.feedback.classes(module + 1),
            often: self.feedback.often(module + 1),
        };
        let mut edges: BTreeMap<u64, KnownEdges> =
            self.names.iter().enumerate().map(|(module, name)| (*name, edges_of(module))).collect();
        unite_edges(&mut edges, &self.edges_before);
        let named = self.states.iter().copied().filter(|_| !self.has_learned);
        KnownCoverage { edges, states: told(named), signs: self.novelty.known() }
    }

    /// Takes what the exploration that is continued has seen as seen.
    pub(crate) fn learn_known(&mut self, known: &KnownCoverage) {
        unite_edges(&mut self.edges_before, &known.edges);
        self.learn_edges(0);
        self.states.extend(&known.states);
        self.novelty.learn_known(&known.signs);
    }

    /// Edges taken, features, states, and edges that were taken in one step only and in two.
    pub(crate) fn totals(&self) -> (u64, u64, u64, (u64, u64)) {
        let (edges, features) = self.feedback.totals();
        (edges, features, self.states.len() as u64, (self.feedback.once, self.feedback.twice))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::ConfirmReason;
    use crate::explore::DecisionPath;
    use fozzy_trace::facts::{Properties, PropertyEvaluation};
    use fozzy_trace::{CheckpointId, DecisionSource, HarnessError, StepId, StepOutcome, StepTarget, Verdict};

    /// A way on which faults strike and properties are evaluated.
    #[derive(Default)]
    struct FaultyTarget {
        struck: Vec<u64>,
        properties: Properties,
        tells_version: bool,
        /// Coverage bytes of its modules.
        modules: Vec<Vec<u8>>,
        /// Their names, if these are not their numbers.
        names: Vec<u64>,
    }

    impl StepTarget for FaultyTarget {
        fn start(&self) -> CheckpointId {
            CheckpointId(0)
        }
        fn restore(&mut self, _: CheckpointId, _: Box<dyn DecisionSource>) -> Result<(), HarnessError> {
            Ok(())
        }
        fn step(&mut self, _: StepId) -> Result<StepOutcome, HarnessError> {
            Ok(StepOutcome::Finished)
        }
        fn capture(&mut self) -> Result<CheckpointId, HarnessError> {
            Ok(CheckpointId(1))
        }
        fn release(&mut self, _: CheckpointId) {}
    }

    impl StatefulTarget for FaultyTarget {
        fn coverage(&mut self, see: &mut dyn FnMut(CoverageStretch<'_>)) {
            self.modules.iter().enumerate().for_each(|(number, bytes)| see(CoverageStretch::whole(number, bytes)));
        }
        fn module_name(&self, module: usize) -> u64 {
            self.names.get(module).copied().unwrap_or(module as u64)
        }
        fn properties(&self, see: &mut dyn FnMut(&str, &Property)) {
            self.properties.iter().for_each(|(name, property)| see(name, property));
        }
        fn properties_version(&self) -> Option<u64> {
            self.tells_version.then(|| self.properties.version())
        }
        fn faults(&self, see: &mut dyn FnMut(u64)) {
            self.struck.iter().copied().for_each(see);
        }
        fn state(&self) -> Option<u64> {
            None
        }
        fn confirm(&mut self, _: &DecisionPath, _: ConfirmReason) -> Result<Verdict, HarnessError> {
            Err(HarnessError::new("nobody asks"))
        }
    }

    fn seen() -> PropertyEvaluation<'static> {
        PropertyEvaluation { kind: PropertyKind::Always, name: "kept", holds: true, distance: None, details: None }
    }

    #[test]
    fn what_was_seen_before_is_not_new_also_of_a_module_that_is_shown_later() {
        let observe = |feedback: &mut StateFeedback, modules: &[&[u8]]| {
            let modules = modules.iter().map(|bytes| bytes.to_vec()).collect();
            let mut node = FaultyTarget { modules, ..FaultyTarget::default() };
            feedback.observe(&mut node, (None, None), StateScope::Ignored, &[]).features
        };
        let (mut first, mut second) = (StateFeedback::default(), StateFeedback::default());
        assert_eq!(observe(&mut first, &[&[1, 0], &[0, 4]]), 2);
        observe(&mut second, &[&[0, 0]]);
        second.learn_known(&first.known());
        assert_eq!(second.known(), first.known(), "nothing is lost of what was not shown");
        assert_eq!(observe(&mut second, &[&[1, 1]]), 1);
        // Its first look counts, since nothing of it was known by then; all further ones do not.
        observe(&mut second, &[&[1, 1], &[0, 0]]);
        assert_eq!(observe(&mut second, &[&[1, 1], &[0, 4]]), 0);
        assert_eq!(observe(&mut second, &[&[1, 1], &[4, 4]]), 1);
    }

    #[test]
    fn edges_of_before_are_those_of_their_module_in_whatever_order_modules_are_shown() {
        let observe = |feedback: &mut StateFeedback, names: &[u64], modules: &[&[u8]]| {
            let modules = modules.iter().map(|bytes| bytes.to_vec()).collect();
            let mut node = FaultyTarget { modules, names: names.to_vec(), ..FaultyTarget::default() };
            feedback.observe(&mut node, (None, None), StateScope::Ignored, &[]).features
        };
        let (mut first, mut second) = (StateFeedback::default(), StateFeedback::default());
        assert_eq!(observe(&mut first, &[70, 80], &[&[1, 0], &[0, 1]]), 2);
        observe(&mut second, &[80, 70], &[&[0, 0], &[0, 0]]);
        second.learn_known(&first.known());
        assert_eq!(second.known(), first.known());
        assert_eq!(observe(&mut second, &[80, 70], &[&[0, 1], &[1, 0]]), 0, "it is known");
        assert_eq!(observe(&mut second, &[80, 70], &[&[1, 0], &[0, 1]]), 2, "it is another module");
    }

    #[test]
    fn faults_in_new_company_are_new_once() {
        let (mut feedback, mut node) =
            (StateFeedback::default(), FaultyTarget { struck: vec![0, 0, 0], ..FaultyTarget::default() });
        let mut observe =
            |node: &mut FaultyTarget, flow| feedback.observe(node, (None, Some(flow)), StateScope::Ignored, &[]).cells;
        assert_eq!(observe(&mut node, 0), 1, "the flow");
        node.struck = vec![1, 0, 0];
        assert_eq!(observe(&mut node, 0), 0, "one fault alone");
        node.struck = vec![1, 0, 1];
        assert_eq!(observe(&mut node, 0), 1, "a pair");
        node.struck = vec![2, 0, 1];
        assert_eq!(observe(&mut node, 0), 0, "the same pair");
        let again = |node: &mut FaultyTarget| node.properties.see(seen()).expect("a fit name");
        again(&mut node);
        assert_eq!(observe(&mut node, 0), 0, "a property without a fault");
        again(&mut node);
        node.struck = vec![3, 0, 1];
        assert_eq!(observe(&mut node, 0), 1, "a fault while it is evaluated");
        again(&mut node);
        node.struck = vec![4, 0, 1];
        assert_eq!(observe(&mut node, 0), 0, "known");
    }

    #[test]
    fn guidance_is_new_when_it_comes_further_or_combines_anew() {
        let (mut feedback, mut node) = (StateFeedback::default(), FaultyTarget::default());
        let evaluation = PropertyEvaluation { kind: PropertyKind::Sometimes, holds: false, ..seen() };
        node.properties.see(evaluation).expect("a fit name");
        let mut observe = |guide: &dyn Fn(&mut Properties)| {
            let mut node = FaultyTarget { properties: node.properties.clone(), ..FaultyTarget::default() };
            guide(&mut node.properties);
            feedback.observe(&mut node, (None, None), StateScope::Ignored, &[]).cells
        };
        assert_eq!(observe(&|_| ()), 1, "the flow");
        let mut come = |progress: f64| observe(&|of: &mut Properties| of.approach("kept", progress).expect("known"));
        assert_eq!([-100.0, -99.0, -80.0, -80.0, 0.0, 1.0, 1.05, 2.0].map(&mut come), [1, 0, 1, 0, 1, 1, 0, 1]);
        let mut combine = |parts: u64| observe(&|of: &mut Properties| of.combine("kept", parts).expect("known"));
        assert_eq!([1, 3, 1, 2].map(&mut combine), [1, 1, 0, 1]);
    }

    #[test]
    fn properties_that_stand_as_before_need_no_second_look() {
        let mut state = 11u64;
        let mut below = |bound: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % bound
        };
        let (mut always, mut seldom) = (StateFeedback::default(), StateFeedback::default());
        let mut places = vec![FaultyTarget { struck: vec![0, 0], ..FaultyTarget::default() }];
        let mut found = 0;
        for step in 0..2_000 {
            let from = &places[below(places.len() as u64) as usize];
            let (struck, properties) = (from.struck.clone(), from.properties.clone());
            let mut node = FaultyTarget { struck, properties, ..FaultyTarget::default() };
            always.begin_run(&node);
            node.tells_version = true;
            seldom.begin_run(&node);
            let name = ["kept", "met", "near"][below(3) as usize];
            let (holds, is_number, number) = (below(2) == 0, below(2) == 0, below(1_000) as f64);
            let distance = is_number.then_some(number);
            match below(8) {
                0 | 1 => {
                    let kind = PropertyKind::Sometimes;
                    let seen = PropertyEvaluation { kind, name, holds, distance, details: None };
                    node.properties.see(seen).expect("a fit name");
                }
                // Of one that is not known nothing is told.
                2 => drop(node.properties.approach(name, number - 500.0)),
                3 => drop(node.properties.combine(name, below(9))),
                _ => {}
            }
            node.struck[below(2) as usize] += u64::from(below(4) == 0);
            let flows = (Some(below(3) as u32), Some(below(3) as u32));
            let fresh = seldom.observe(&mut node, flows, StateScope::Ignored, &[]);
            node.tells_version = false;
            assert_eq!(fresh, always.observe(&mut node, flows, StateScope::Ignored, &[]), "step {step}");
            found += fresh.cells;
            if below(8) == 0 {
                places.push(node);
            }
        }
        assert_eq!(seldom.property_table(), always.property_table());
        assert!(found > 30, "{found}");
    }

    #[test]
    fn what_struck_before_a_place_is_not_of_the_step_after_it() {
        let (mut feedback, mut node) =
            (StateFeedback::default(), FaultyTarget { struck: vec![1, 1], ..FaultyTarget::default() });
        feedback.begin_run(&node);
        assert_eq!(feedback.observe(&mut node, (None, None), StateScope::Ignored, &[]).cells, 1, "the flow alone");
        node.struck = vec![2, 1];
        assert_eq!(feedback.observe(&mut node, (None, None), StateScope::Ignored, &[]).cells, 1, "the pair");
    }
}
