//! Nemeses of a plan file: whether they make sense together with its machines, and the faults that they become.
//!
//! Example: a bridge cuts two halves and leaves one machine between them, so that it needs three of them.

use crate::nearest::hint;
use crate::notation::{FaultRate, Strength, TimeSpan};
use crate::problem::{DocumentStep, Problems, quoted};
use fozzy_trace::Duration;
use fozzy_trace::nemesis::{NodeTargets, PartitionShape};
use fozzy_trace::plan::{ClusterPlan, FaultPlan, HealScope, NemesisPlan};
use fozzy_world::fault::{NEMESES, NemesisAction};
use fozzy_world::glob::{matches, matches_any};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

/// A nemesis.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
#[schemars(extend("required" = ["kind"]))]
pub struct NemesisFile {
    /// The name of its kind.
    #[schemars(schema_with = "nemesis_kinds")]
    pub kind: String,
    /// The machines that it can hit, by names with commas between them, such as "n1,backup*"; `*` stands for any characters. Default: all
    /// of `[[node]]`.
    pub target: Option<String>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the JSON Schema shows this text as it is")]
    /// How many of them it hits, one of these, such as ["one", "minority", "majority", "all", "some", "primaries"]; of partitions their
    /// shapes, such as ["one", "minority-third", "majority", "majorities-ring", "halves", "bridge", "primaries"]. Default: one, a minority, a
    /// majority or all; one or a minority of those that leave a cluster; any shape.
    pub hits: Option<Vec<String>>,
    /// It may begin once in each stretch of this length. Default: "10s".
    pub interval: Option<TimeSpan>,
    #[allow(rustdoc::broken_intra_doc_links, reason = "the JSON Schema shows this text as it is")]
    /// How long it lasts, such as ["5s"], or at least and at most, such as ["1s", "10s"]. Default: up to two intervals, or a time near one
    /// that a machine was seen to wait for: half of it, just before, just after, twice.
    #[schemars(length(min = 1, max = 2))]
    pub lasts: Option<Vec<TimeSpan>>,
    /// How likely it is that it begins in a stretch: 0.5, "50%" or "1/2". Default: "50%".
    pub rate: Option<FaultRate>,
    /// From when on, in virtual time. Default: from the start.
    pub start: Option<TimeSpan>,
    /// For how long it may begin. Default: to the end, or until `cluster.faults-until`.
    pub length: Option<TimeSpan>,
    /// How hard: a number in the kind's unit, or a duration. Default: drawn from a menu.
    pub strength: Option<Strength>,
    /// How many times at the most. Default: no bound.
    #[schemars(range(min = 1))]
    pub times: Option<u64>,
    /// The files that are damaged, by their paths; `*` stands for any characters. Default: all that have bytes.
    pub path: Option<String>,
}

/// Phases of a run of several machines: first faults strike, then all is healed and the machines must go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, rename_all = "kebab-case")]
pub struct PhasesFile {
    /// So many machines are hit by nemeses at once, at the most: those whose programs are gone or stand still, that hear no majority, that
    /// are no members of the cluster, whose clocks are wrong, whose files are damaged. Default: no bound.
    #[schemars(range(min = 1))]
    pub hit_at_most: Option<u32>,
    /// When faults end, of all kinds, in virtual time. Default: never.
    pub faults_until: Option<TimeSpan>,
    /// Whom they leave then: "all", or "majority": just more than half, which are drawn. What has hit the others lasts. Default: "all".
    pub heal: Option<HealFile>,
    /// Within this time after faults have ended, an operation of a client must succeed (`tools::invoke` of the SDK), or the program end if it
    /// records none. If not, the run fails: no progress. Default: not asked.
    pub progress_within: Option<TimeSpan>,
}

/// Whom faults leave when they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HealFile {
    /// All machines.
    All,
    /// Just more than half of them.
    Majority,
}

/// The stretch in which a nemesis begins once, when the plan says nothing.
const INTERVAL: Duration = Duration::from_millis(10_000);

/// Adds what is wrong with the form of nemeses and phases, whatever machines there are.
pub(crate) fn check(nemeses: &[NemesisFile], phases: PhasesFile, timeout: Option<TimeSpan>, problems: &mut Problems) {
    for (number, nemesis) in nemeses.iter().enumerate() {
        for (key, message) in problems_of(nemesis) {
            problems.add(&["nemesis".into(), number.into(), DocumentStep::from(key)], message);
        }
    }
    let PhasesFile { faults_until, heal, progress_within, .. } = phases;
    let needs = [("heal", heal.is_some()), ("progress-within", progress_within.is_some())];
    for (key, _) in needs.into_iter().filter(|(_, is_given)| *is_given && faults_until.is_none()) {
        let message = "faults never end: say when, such as `faults-until = \"30s\"`";
        problems.add(&["cluster".into(), key.into()], message);
    }
    if progress_within.is_some_and(|within| within.0 == Duration(0)) {
        let message = "nobody gets on within no time; leave it out, or give some, such as `\"30s\"`";
        problems.add(&["cluster".into(), "progress-within".into()], message);
    }
    if let (Some(until), Some(within), Some(timeout)) = (faults_until, progress_within, timeout)
        && until.0.0.saturating_add(within.0.0) >= timeout.0.0
    {
        let message = format!(
            "the run ends before, at `limits.timeout`, which is {}; expected less than that for both together",
            timeout.0
        );
        problems.add(&["cluster".into(), "progress-within".into()], message);
    }
}

fn problems_of(nemesis: &NemesisFile) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    let Some(action) = NemesisAction::ALL.iter().copied().find(|action| action.word() == nemesis.kind) else {
        let words = NemesisAction::ALL.iter().map(|action| action.word());
        return vec![(
            "kind",
            format!("there is no nemesis of kind {}{}", quoted(&nemesis.kind), hint(&nemesis.kind, words)),
        )];
    };
    let shapes = PartitionShape::ALL.map(PartitionShape::word);
    let targets = NodeTargets::ALL.map(NodeTargets::word);
    let (what, words): (&str, &[&str]) =
        if action.has_shapes() { ("shape of partitions", &shapes) } else { ("number of machines", &targets) };
    for word in nemesis.hits.iter().flatten().filter(|word| !words.contains(&word.as_str())) {
        found
            .push(("hits", format!("there is no {what} called {}{}", quoted(word), hint(word, words.iter().copied()))));
    }
    if nemesis.hits.as_ref().is_some_and(Vec::is_empty) {
        found.push(("hits", "expected one word at least; leave `hits` out for all".to_owned()));
    }
    if nemesis.hits.is_some() && action.is_everywhere() {
        found.push(("hits", format!("`{}` is about all messages between the machines of its target", action.word())));
    }
    if have_all_leave(nemesis) && nemesis.target.is_none() {
        found.push(("hits", ALL_LEAVE.to_owned()));
    }
    if nemesis.interval.is_some_and(|interval| interval.0 < Duration::from_millis(1)) {
        found.push(("interval", "expected a millisecond at least".to_owned()));
    }
    match nemesis.lasts.as_deref() {
        None => {}
        Some([]) => found.push(("lasts", "expected how long, such as [\"1s\", \"10s\"], found nothing".to_owned())),
        Some(_) if action.is_of_files() => {
            found.push(("lasts", "damaged files stay damaged; leave `lasts` out".to_owned()));
        }
        Some(spans) if spans.iter().any(|span| span.0 == Duration(0)) => {
            found.push(("lasts", "a nemesis of no length changes nothing".to_owned()));
        }
        Some([least, most]) if least.0 > most.0 => {
            found.push(("lasts", format!("expected at least and at most, found {} and {}", least.0, most.0)));
        }
        Some(_) => {}
    }
    if nemesis.path.is_some() && !action.is_of_files() {
        found.push(("path", format!("`{}` damages no files", action.word())));
    }
    if nemesis.path.as_ref().is_some_and(|path| !path.starts_with(['/', '*'])) {
        found.push(("path", "expected an absolute path of the machine, such as `/data/*`".to_owned()));
    }
    if let Some(strength) = nemesis.strength
        && let Err(message) = strength.in_unit(NEMESES[action as usize].unit)
    {
        found.push(("strength", message));
    }
    if nemesis.length.is_some_and(|length| length.0 == Duration(0)) {
        found.push((
            "length",
            "a nemesis that may begin for no time never does; leave `length` out for no end".to_owned(),
        ));
    }
    found
}

/// What is wrong with a nemesis that has all machines leave.
const ALL_LEAVE: &str = "if all leave a cluster, nobody is left whom they could join";

/// Whether all machines of its target are to leave the cluster at once.
fn have_all_leave(nemesis: &NemesisFile) -> bool {
    nemesis.kind == NemesisAction::Membership.word()
        && nemesis.hits.iter().flatten().any(|word| word == NodeTargets::All.word())
}

/// Which word has a nemesis of members take all of so many machines, though not more than `hit_at_most` at once, and what is wrong with it.
fn all_leave(nemesis: &NemesisFile, machines: usize, hit_at_most: Option<u32>) -> Option<String> {
    let is_bounded = hit_at_most.is_some_and(|most| (most as usize) < machines);
    let can_be_all = |targets: &NodeTargets| match targets {
        NodeTargets::All => true,
        other => !is_bounded && other.can_be_all(machines),
    };
    let mut targets = nemesis.hits.iter().flatten().filter_map(|word| NodeTargets::of(word));
    Some(match targets.find(can_be_all)? {
        NodeTargets::All => ALL_LEAVE.to_owned(),
        other => {
            let word = other.word();
            format!(
                "`{word}` of {machines} machines can be all of them: {ALL_LEAVE}; `hit-at-most` in [cluster] keeps some"
            )
        }
    })
}

/// What is wrong with a nemesis beside these machines and phases, and where.
fn mismatch(nemesis: &NemesisFile, names: &[&str], phases: PhasesFile) -> Option<(&'static str, String)> {
    let target = nemesis.target.as_deref().unwrap_or("*").to_ascii_lowercase();
    // One that is not there is a slip, also where others of the list are.
    let strange = target.split(',').map(str::trim).find(|part| !names.iter().any(|name| matches(part, name)));
    if let Some(part) = strange {
        let message = match names.is_empty() {
            true => "there are no machines to hit: a nemesis hits those of [[node]]".to_owned(),
            false => format!("no machine is called {}{}", quoted(part), hint(part, names.iter().copied())),
        };
        return Some((if nemesis.target.is_some() { "target" } else { "kind" }, message));
    }
    let hit = names.iter().filter(|name| matches_any(&target, name)).count();
    let action = NemesisAction::ALL.iter().find(|action| action.word() == nemesis.kind)?;
    if *action == NemesisAction::Membership && names.len() < 2 {
        return Some(("kind", "one machine cannot leave itself; expected two at least".to_owned()));
    }
    if *action == NemesisAction::Membership
        && hit == names.len()
        && let Some(message) = all_leave(nemesis, hit, phases.hit_at_most)
    {
        return Some(("hits", message));
    }
    if !action.has_shapes() {
        let is_linkless = action.is_between_machines() && names.len() < 2;
        return is_linkless.then(|| ("kind", "one machine has no links to others; expected two at least".to_owned()));
    }
    if hit < 2 {
        return Some(("kind", "one machine cannot be parted; expected two at least".to_owned()));
    }
    let shapes = nemesis.hits.iter().flatten().filter_map(|word| PartitionShape::of(word));
    let too_large = shapes.into_iter().find(|shape| shape.nodes_min() > hit)?;
    let (word, least) = (too_large.word(), too_large.nodes_min());
    Some(("hits", format!("`{word}` needs {least} machines at least, and the target has {hit}")))
}

/// The faults that nemeses become, and what is wrong with them beside the machines of the plan.
pub(crate) fn resolve(
    nemeses: &[NemesisFile],
    phases: PhasesFile,
    names: &[&str],
) -> Result<Vec<FaultPlan>, Vec<(Vec<DocumentStep>, String)>> {
    let mut wrong = Vec::new();
    let mut plans = Vec::new();
    for (number, nemesis) in nemeses.iter().enumerate() {
        if let Some((key, message)) = mismatch(nemesis, names, phases) {
            wrong.push((vec!["nemesis".into(), number.into(), key.into()], message));
            continue;
        }
        let Some((action, kind)) =
            NemesisAction::ALL.iter().zip(NEMESES).find(|(action, _)| action.word() == nemesis.kind)
        else {
            continue;
        };
        let usual: &[NodeTargets] = match action {
            NemesisAction::Membership => &[NodeTargets::One, NodeTargets::Minority],
            _ => &[],
        };
        let usual = || usual.iter().map(|targets| targets.word().to_owned()).collect::<Vec<String>>();
        plans.push(FaultPlan {
            kind: kind.name.to_owned(),
            target: nemesis.target.as_deref().unwrap_or("*").to_ascii_lowercase(),
            rate_ppm: nemesis.rate.map_or(kind.rate_ppm, |rate| rate.0),
            start: nemesis.start.map_or(Duration(0), |start| start.0),
            length: nemesis.length.map(|length| length.0),
            strength: nemesis.strength.and_then(|strength| strength.in_unit(kind.unit).ok()),
            times: nemesis.times,
            nemesis: Some(Box::new(NemesisPlan {
                interval: nemesis.interval.map_or(INTERVAL, |interval| interval.0),
                lasts: match nemesis.lasts.as_deref() {
                    Some([least, most, ..]) => Some((least.0, most.0)),
                    Some([only]) => Some((only.0, only.0)),
                    Some([]) | None => None,
                },
                hits: nemesis.hits.clone().unwrap_or_else(usual),
                path: nemesis.path.clone(),
            })),
        });
    }
    if phases != PhasesFile::default() && names.is_empty() {
        wrong.push((vec!["cluster".into()], "there are no machines: those of [[node]] are the cluster".to_owned()));
    }
    if let Some(most) = phases.hit_at_most
        && !names.is_empty()
        && most as usize > names.len()
    {
        let message = format!("expected at most {}, as many as there are machines, found {most}", names.len());
        wrong.push((vec!["cluster".into(), "hit-at-most".into()], message));
    }
    if wrong.is_empty() { Ok(plans) } else { Err(wrong) }
}

/// The phases of a run, if the plan has any.
pub(crate) fn cluster(file: &PhasesFile) -> Option<ClusterPlan> {
    (*file != PhasesFile::default()).then(|| ClusterPlan {
        hit_max: file.hit_at_most,
        faults_until: file.faults_until.map(|until| until.0),
        heals: match file.heal {
            Some(HealFile::Majority) => HealScope::Majority,
            Some(HealFile::All) | None => HealScope::All,
        },
        progress_within: file.progress_within.map(|within| within.0),
    })
}

/// The names of all kinds of nemeses, each with its sentence.
fn nemesis_kinds(_: &mut SchemaGenerator) -> Schema {
    let kinds = NemesisAction::ALL.iter().zip(NEMESES);
    let kinds = kinds.map(|(action, kind)| serde_json::json!({ "const": action.word(), "description": kind.summary }));
    json_schema!({ "type": "string", "oneOf": kinds.collect::<Vec<_>>() })
}
