//! The plan of a recording, for the program of today.
//!
//! ```text
//! recorded   set_kv a=1 · sleep · get_kv a == 2        kept by shrinking: 0, 2        fails at steps[2]
//! today      set_kv a=1 · set_kv a=2 · sleep · get_kv a == 2
//!                                                      kept: 0, the new 1, and 3      the same failure: at steps[3]
//! ```
//!
//! A program is replaced by its name and nothing else changes. A scenario file stands in the plan, as the player's input: so
//! its text of today is put there, and the steps that a shrunk recording keeps are looked for in it. Steps that are new are
//! part of the program of today, so they are kept.
//!
//! What a failure is judged by stays as recorded, too, since a flag may have asked for it. Who knows that a plan alone has says so
//! (`judge_by`): then a failure by an expectation that the plan of today does not have is none any more.
//!
//! Invariant: with the text of then, the plan is the recorded one.
//! Not here: what a failure comes to today (`explore/saved_failures`, `suite/regressions`, `fozzy replay --against`).

use super::load::LoadedTarget;
use super::plan::{RunPlan, plan};
use crate::error::{CampaignError, ErrorKind};
use crate::options::{RunRequest, WorldOptions};
use crate::project::Project;
use crate::scenario::ScenarioFile;
use crate::search_clock::TIME_DEFAULT;
use fozzy_trace::FailureSignature;
use fozzy_trace::file::Recording;
use fozzy_trace::plan::{Inputs, KeptSequence, Limits, NodePlan, Plan, ScenarioPlan};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Steps of both texts between the first and the last that differ, multiplied, up to which they are compared with each other.
/// Beyond that, all of them count as changed.
const COMPARED_MAX: usize = 1 << 22;

/// Steps of all sequences of a recording that are looked for in another text.
const FOLLOWED_MAX: u64 = 1 << 22;

/// The programs of a plan's machines as they are today, by the names of the machines.
#[derive(Clone, Debug, Default)]
pub struct MachinesOfToday(BTreeMap<String, Arc<[u8]>>);

impl MachinesOfToday {
    /// Those of a plan that was read today.
    pub fn of(planned: &RunPlan) -> MachinesOfToday {
        let nodes = planned.plan.nodes.iter();
        let program = |node: &NodePlan| Some((node.name.clone(), planned.inputs.get(&node.program.component)?));
        MachinesOfToday(nodes.filter_map(program).collect())
    }

    /// Those that a run of `loaded` under this plan file would have, or under the project's settings alone.
    pub fn planned(
        project: &Project,
        loaded: &LoadedTarget,
        file: Option<&Path>,
    ) -> Result<MachinesOfToday, CampaignError> {
        let world = WorldOptions { plan: file.map(Path::to_owned), ..WorldOptions::default() };
        let request = RunRequest { world, ..RunRequest::default() };
        Ok(MachinesOfToday::of(&plan(project, loaded, &request)?))
    }

    /// Has the machines of a recorded plan run them.
    fn put(&self, plan: &mut Plan, inputs: &mut Inputs) {
        for node in &mut plan.nodes {
            if let Some(program) = self.0.get(&node.name) {
                node.program.component = inputs.add(Arc::clone(program));
            }
        }
    }

    /// The machines of a recorded plan that run what they ran, because there is no program of today for them.
    pub fn recorded_ones(&self, plan: &Plan) -> Vec<String> {
        let names = plan.nodes.iter().map(|node| &node.name);
        names.filter(|name| !self.0.contains_key(*name)).cloned().collect()
    }
}

/// A recording on the program of today.
pub struct PlanOfToday {
    /// Its plan.
    pub planned: RunPlan,
    /// How the scenario file has changed since, if it has.
    pub change: Option<ScenarioChange>,
}

/// How the steps of one text stand in another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioChange {
    steps: ListAlignment,
    invariants: ListAlignment,
    /// Steps of the failure that are not in the file of today as they were.
    pub missing: Vec<u32>,
}

impl PlanOfToday {
    /// The plan of `recording` for `loaded`, for the component `judged` that a scenario judges, and for `machines`; those that are not among
    /// them run what they ran.
    pub fn new(
        recording: &Recording,
        loaded: &LoadedTarget,
        judged: Option<Arc<[u8]>>,
        machines: &MachinesOfToday,
    ) -> Result<PlanOfToday, CampaignError> {
        let (mut plan, mut inputs) = (recording.plan.clone(), recording.inputs.clone());
        if loaded.scenario.is_none() {
            machines.put(&mut plan, &mut inputs);
        }
        if let Some(bytes) = judged {
            let component = inputs.add(bytes);
            for node in plan.nodes.iter_mut().filter(|node| node.called) {
                node.program.component = component;
            }
        }
        let change = match &loaded.scenario {
            Some(today) => put_text(recording, today, &loaded.target.name, &mut plan, &mut inputs)?,
            None => None,
        };
        Ok(PlanOfToday { planned: RunPlan::of(plan, inputs), change })
    }

    /// Has it judged by a plan that was read today: by its expectations, checkers and limits. What was decided stays, and so does the world in
    /// which it was.
    pub fn judge_by(&mut self, today: &RunPlan) {
        let RunPlan { plan, inputs, .. } = &mut self.planned;
        today.inputs.iter().for_each(|(_, bytes)| _ = inputs.add(Arc::clone(bytes)));
        plan.criteria.clone_from(&today.plan.criteria);
        plan.history.clone_from(&today.plan.history);
        plan.allow_error_exit = today.plan.allow_error_exit;
        let limits = &plan.limits;
        plan.limits = Limits {
            // Searches bound the time of programs whose plan does not, and the calls of an input.
            time: today.plan.limits.time.or(limits.time.map(|time| time.max(TIME_DEFAULT))),
            calls: limits.calls,
            interrupted: limits.interrupted,
            ..today.plan.limits.clone()
        };
    }

    /// A recorded failure as it is called in the file of today.
    pub fn signature(&self, recorded: &FailureSignature) -> FailureSignature {
        let site = match &self.change {
            Some(change) => change.site(&recorded.site),
            None => recorded.site.clone(),
        };
        FailureSignature { kind: recorded.kind, site }
    }

    /// Which steps of the failure are not in the file any more, in words; `None` when all are.
    pub fn note(&self) -> Option<String> {
        let missing = &self.change.as_ref()?.missing;
        let numbers: Vec<String> = missing.iter().map(u32::to_string).collect();
        match &numbers[..] {
            [] => None,
            [one] => Some(format!("step {one} of the recorded scenario was changed or is gone")),
            several => Some(format!("steps {} of the recorded scenario were changed or are gone", several.join(", "))),
        }
    }
}

/// Puts the text of today into a plan, and the steps that are run.
fn put_text(
    recording: &Recording,
    today: &ScenarioFile,
    name: &str,
    plan: &mut Plan,
    inputs: &mut Inputs,
) -> Result<Option<ScenarioChange>, CampaignError> {
    let Some(then) = ScenarioFile::of_recording(recording).filter(|then| then.text != today.text) else {
        return Ok(None);
    };
    let recorded = plan.scenario.take().unwrap_or_default();
    plan.main.args.clear();
    let file = ScenarioFile { cluster: then.cluster.clone(), ..today.clone() };
    file.equip(name, Path::new(name), plan, inputs)?;
    let flows = plan.scenario.as_ref().map_or(0, |scenario| scenario.flows);
    let presets = then.cluster.first.len();
    let [steps, invariants] = ["steps", "invariants"].map(|list| {
        let before = if list == "steps" { presets } else { 0 };
        ListAlignment::new(&members(&then.text, list), &members(&today.text, list)).shifted(before)
    });
    // What the text of then does not have was not executed.
    let end = steps.places.len() as u32;
    let all = |kept: &KeptSequence| {
        kept.steps.iter().map(|(from, to)| u64::from(end.min(*to).saturating_sub(*from))).sum::<u64>()
    };
    let followed: u64 = recorded.only.iter().map(all).sum();
    if followed > FOLLOWED_MAX {
        let why = format!(
            "the recording names {followed} steps of `{name}`, and at most {FOLLOWED_MAX} are looked for in the file of today: \
             replay it as it was recorded"
        );
        return Err(CampaignError::new(ErrorKind::Scenario, why));
    }
    let kept_then =
        |kept: &KeptSequence| kept.steps.iter().flat_map(|(from, to)| *from..end.min(*to)).collect::<BTreeSet<u32>>();
    let run: BTreeSet<u32> = match &recorded.only[..] {
        [] => (0..recorded.flows.min(end)).collect(),
        only => only.iter().flat_map(kept_then).collect(),
    };
    let missing = run.into_iter().filter(|step| !steps.has(*step)).collect();
    let today = |kept: &KeptSequence| KeptSequence { steps: steps.stretches(&kept_then(kept), flows), ..kept.clone() };
    let only = recorded.only.iter().map(today).collect();
    plan.scenario = Some(ScenarioPlan { sequences: recorded.sequences, flows, only });
    Ok(Some(ScenarioChange { steps, invariants, missing }))
}

/// A list of a scenario's text, each element as the value that it is.
fn members(text: &[u8], list: &str) -> Vec<Value> {
    let mut root: Value = serde_json::from_slice(text).unwrap_or_default();
    let found = match root.get_mut(list) {
        Some(found) => found.take(),
        None => root["distributed"][list].take(),
    };
    match found {
        Value::Array(elements) => elements,
        _ => Vec::new(),
    }
}

impl ScenarioChange {
    /// `steps[2].do[0]: set_kv` as it is called in the text of today.
    fn site(&self, recorded: &str) -> String {
        for (list, numbers) in [("steps[", &self.steps), ("invariants[", &self.invariants)] {
            let Some((number, rest)) = recorded.strip_prefix(list).and_then(|rest| rest.split_once(']')) else {
                continue;
            };
            if let Some(today) = number.parse().ok().and_then(|number| numbers.today(number)) {
                return format!("{list}{today}]{rest}");
            }
        }
        recorded.to_owned()
    }
}

/// Where the elements of one list stand in another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ListAlignment {
    /// For each element of then, the one of today that is equal to it, or that stands in its place.
    places: Vec<Option<(u32, ElementMatch)>>,
    /// Elements of today that were not there.
    new: BTreeSet<u32>,
}

/// How an element of today stands for one of then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ElementMatch {
    Equal,
    Replaced,
}

impl ListAlignment {
    fn new(then: &[Value], today: &[Value]) -> ListAlignment {
        let equal = common(then, today);
        let mut places: Vec<Option<(u32, ElementMatch)>> = vec![None; then.len()];
        for (before, after) in &equal {
            places[*before] = Some((*after as u32, ElementMatch::Equal));
        }
        // Between equal elements, as many as there were stand for those that were there.
        let ends = equal.iter().copied().chain([(then.len(), today.len())]);
        let (mut from, mut to) = (0, 0);
        for (before, after) in ends {
            if before - from == after - to {
                (from..before).zip(to..after).for_each(|(before, after)| {
                    places[before] = Some((after as u32, ElementMatch::Replaced));
                });
            }
            (from, to) = (before + 1, after + 1);
        }
        let found: BTreeSet<u32> = equal.iter().map(|(_, after)| *after as u32).collect();
        let new = (0..today.len() as u32).filter(|place| !found.contains(place)).collect();
        ListAlignment { places, new }
    }

    /// The same, behind elements that stand before both lists.
    fn shifted(self, before: usize) -> ListAlignment {
        let first = (0..before).map(|place| Some((place as u32, ElementMatch::Equal)));
        let shift = before as u32;
        let rest = self.places.into_iter().map(|place| place.map(|(number, how)| (number + shift, how)));
        ListAlignment { places: first.chain(rest).collect(), new: self.new.iter().map(|place| place + shift).collect() }
    }

    fn today(&self, then: u32) -> Option<u32> {
        self.places.get(then as usize)?.map(|(number, _)| number)
    }

    /// Whether an element is there as it was.
    fn has(&self, then: u32) -> bool {
        matches!(self.places.get(then as usize), Some(Some((_, ElementMatch::Equal))))
    }

    /// Elements of today: those that were kept, and those that are new, up to `end`.
    fn stretches(&self, kept: &BTreeSet<u32>, end: u32) -> Vec<(u32, u32)> {
        let kept = kept.iter().filter_map(|then| self.today(*then));
        let all: BTreeSet<u32> = kept.chain(self.new.iter().copied()).filter(|number| *number < end).collect();
        let mut stretches: Vec<(u32, u32)> = Vec::new();
        for number in all {
            match stretches.last_mut() {
                Some((_, to)) if *to == number => *to += 1,
                _ => stretches.push((number, number + 1)),
            }
        }
        stretches
    }
}

/// A longest common subsequence of two lists, as pairs of places in order.
fn common(one: &[Value], other: &[Value]) -> Vec<(usize, usize)> {
    let begin = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one_rest, other_rest) = (&one[begin..], &other[begin..]);
    let end = one_rest.iter().rev().zip(other_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let (rows, columns) = (one_rest.len() - end, other_rest.len() - end);
    let mut pairs: Vec<(usize, usize)> = (0..begin).map(|at| (at, at)).collect();
    if rows.saturating_mul(columns) <= COMPARED_MAX {
        let middle = longest(&one_rest[..rows], &other_rest[..columns]);
        pairs.extend(middle.into_iter().map(|(row, column)| (begin + row, begin + column)));
    }
    pairs.extend((0..end).map(|at| (begin + rows + at, begin + columns + at)));
    pairs
}

/// The same by dynamic programming, for lists that differ at both ends.
fn longest(one: &[Value], other: &[Value]) -> Vec<(usize, usize)> {
    let width = other.len() + 1;
    // The length for what follows from each pair of places on.
    let mut lengths = vec![0u32; (one.len() + 1) * width];
    for row in (0..one.len()).rev() {
        for column in (0..other.len()).rev() {
            lengths[row * width + column] = match one[row] == other[column] {
                true => lengths[(row + 1) * width + column + 1] + 1,
                false => lengths[(row + 1) * width + column].max(lengths[row * width + column + 1]),
            };
        }
    }
    let (mut pairs, mut row, mut column) = (Vec::new(), 0, 0);
    while row < one.len() && column < other.len() {
        if one[row] == other[column] {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::Duration;

    fn renumbering(then: &str, today: &str) -> ListAlignment {
        let values = |text: &str| text.chars().map(|c| Value::from(c.to_string())).collect::<Vec<_>>();
        ListAlignment::new(&values(then), &values(today))
    }

    fn places(then: &str, today: &str) -> Vec<Option<u32>> {
        let renumbering = renumbering(then, today);
        (0..then.len() as u32).map(|place| renumbering.today(place)).collect()
    }

    #[test]
    fn it_is_judged_by_the_plan_of_today_and_what_a_search_bounds_stays_bounded() {
        let (mut recorded, mut today) = (Plan::default(), RunPlan::of(Plan::default(), Inputs::default()));
        recorded.criteria.fail_on = vec!["quiet".to_owned()];
        (recorded.limits.fuel, recorded.limits.time, recorded.limits.calls) = (10, Some(Duration(5)), Some(7));
        let done = today.inputs.add(b"done".to_vec());
        today.plan.criteria.output = Some(done);
        let mut plan = PlanOfToday { planned: RunPlan::of(recorded, Inputs::default()), change: None };
        plan.judge_by(&today);
        let RunPlan { plan, inputs, .. } = plan.planned;
        assert_eq!(plan.criteria, today.plan.criteria);
        assert_eq!(inputs.get(&done).as_deref(), Some(&b"done"[..]));
        let Limits { fuel, time, calls, .. } = plan.limits;
        assert_eq!((fuel, time, calls), (today.plan.limits.fuel, Some(TIME_DEFAULT), Some(7)));
    }

    #[test]
    fn steps_are_found_where_they_stand_today() {
        assert_eq!(places("abc", "abc"), [Some(0), Some(1), Some(2)]);
        assert_eq!(places("abc", "abxc"), [Some(0), Some(1), Some(3)], "one is new");
        assert_eq!(places("abc", "ac"), [Some(0), None, Some(1)], "one is gone");
        assert_eq!(places("abc", "axc"), [Some(0), Some(1), Some(2)], "one was changed, and stands where it stood");
        assert!(!renumbering("abc", "axc").has(1) && renumbering("abc", "axc").has(2));
        assert_eq!(places("abcdb", "xbdyb"), [Some(0), Some(1), None, Some(2), Some(4)]);
    }

    #[test]
    fn kept_steps_and_new_ones_are_run() {
        let kept = BTreeSet::from([0, 2]);
        assert_eq!(renumbering("abc", "abc").stretches(&kept, 3), [(0, 1), (2, 3)]);
        assert_eq!(renumbering("abc", "axbc").stretches(&kept, 4), [(0, 2), (3, 4)]);
        assert_eq!(renumbering("abc", "axc").stretches(&kept, 3), [(0, 3)], "what replaces a step is new");
    }

    #[test]
    fn a_failure_has_the_number_of_today() {
        let change = |then, today| ScenarioChange {
            steps: renumbering(then, today).shifted(1),
            invariants: ListAlignment::default(),
            missing: Vec::new(),
        };
        assert_eq!(change("abc", "xabc").site("steps[3].do[0]: set_kv"), "steps[4].do[0]: set_kv");
        assert_eq!(change("abc", "xabc").site("steps[0]: crash"), "steps[0]: crash", "a preset stands before both");
        assert_eq!(change("abc", "xabc").site("functions.f.do[1]: run"), "functions.f.do[1]: run");
        assert_eq!(change("abc", "xabc").site("invariants[0]: kv_all_equal"), "invariants[0]: kv_all_equal");
    }
}
