//! The chance of a failure over the course of a run, as a document, as text and as a drawing.
//!
//! ```text
//!   decision   chance   95 %            0                  1
//!          0      6 %   2..20 %         |─●────            |
//!         17    100 %   89..100 %       |                ─●|
//! ```
//!
//! Invariants: the drawing stands alone, as one SVG file without scripts; equal documents give equal drawings.

use crate::html::escape;
use crate::pretty::{Style, shell_word};
use fozzy_trace::{FailureSignature, HistoryEntry, Instant, counted, grouped};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measured share of runs, with the interval of the true share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Probability {
    /// Runs that failed in the same way.
    pub failed: u64,
    /// Runs.
    pub runs: u64,
    /// The share.
    pub chance: f64,
    /// The lower end of its interval of 95 % (Wilson).
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// How a failure does from one moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CausalityPoint {
    /// Decisions that were the recording's.
    pub decision: u64,
    /// How continuations went.
    #[serde(flatten)]
    pub failed: Probability,
}

/// The decision that made it likely.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CausalityTurn {
    /// Its number.
    pub decision: u64,
    /// Whether the chances before and after are apart, with 95 % each.
    pub clear: bool,
    /// With the decision drawn anew.
    pub before: Probability,
    /// With the decision as it was.
    pub after: Probability,
    /// The call that took it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<HistoryEntry>,
    /// The fault that struck the call: its kind, and on what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Where the scenario was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
}

/// How often a failure comes, and what a fix has to show.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Findability {
    /// How fresh runs of the same plan went.
    #[serde(flatten)]
    pub failed: Probability,
    /// The chance is at least this, with 95 % (exact, one side).
    pub at_least: f64,
    /// The chance is at most this, with 95 % (exact, one side; for none of many the rule of three).
    pub at_most: f64,
    /// Clean runs after which a fix is believable, if the chance was as large as was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean_runs: Option<u64>,
    /// The same, if it was as small as it can have been.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clean_runs_cautious: Option<u64>,
    /// How many steps a guided search takes; absent when none was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guided: Option<GuidedFindability>,
}

/// How a guided search meets a failure, over fresh seeds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GuidedFindability {
    /// The strategy of `explore`.
    pub strategy: String,
    /// What is counted: `steps` of a scenario, or `runs` of a program.
    pub unit: String,
    /// Steps after which a search gave up.
    pub steps_max: u64,
    /// Searches, each with a fresh seed.
    pub seeds: u64,
    /// Those that met the failure.
    pub found: u64,
    /// The median of the steps that it took; null when more than a half of the searches did not meet it.
    pub median: Option<u64>,
    /// The fewest steps.
    pub least: Option<u64>,
    /// The most steps of those that met it.
    pub most: Option<u64>,
    /// The steps of each, null where it was not met.
    pub steps: Vec<Option<u64>>,
}

/// `fozzy.findability.v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindabilityDocument {
    /// Always `fozzy.findability.v1`.
    pub schema_version: String,
    /// Whose failure it is.
    pub trace: String,
    /// What it is.
    pub signature: FailureSignature,
    /// How often it comes.
    #[serde(flatten)]
    pub findability: Findability,
}

/// `fozzy.causality.v1`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CausalityDocument {
    /// Always `fozzy.causality.v1`.
    pub schema_version: String,
    /// Whose failure it is.
    pub trace: String,
    /// What it is.
    pub signature: FailureSignature,
    /// Decisions of the recorded run.
    pub decisions: u64,
    /// Names of the machines, by their numbers; absent where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub machines: Vec<String>,
    /// Moments, in order.
    pub points: Vec<CausalityPoint>,
    /// The decision with the steepest rise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<CausalityTurn>,
    /// How often it comes in fresh runs of the whole plan.
    pub findability: Findability,
    /// The file with the chart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub svg: Option<String>,
}

/// The table's columns, as wide as the terminal lets them be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    /// Characters of the chart between 0 and 1; none where there is no room for it.
    chart: usize,
    /// Whether the intervals are shown.
    has_interval: bool,
}

impl Columns {
    /// Characters of the chart where there is room.
    const CHART: usize = 40;
    /// With fewer, neighbours cannot be told apart.
    const CHART_MIN: usize = 10;
    /// Characters of a row beside the chart, and of its interval.
    const BESIDE: usize = 37;
    const INTERVAL: usize = 13;

    /// Those of a terminal of that width; 0 is none, and lines are as long as they are.
    fn of(width: usize) -> Columns {
        let room = |beside: usize| width.saturating_sub(beside).min(Columns::CHART);
        let (whole, less) = (room(Columns::BESIDE), room(Columns::BESIDE - Columns::INTERVAL));
        match (width, whole >= Columns::CHART_MIN, less >= Columns::CHART_MIN) {
            (0, ..) => Columns { chart: Columns::CHART, has_interval: true },
            (_, true, _) => Columns { chart: whole, has_interval: true },
            (_, false, true) => Columns { chart: less, has_interval: false },
            (_, false, false) => Columns { chart: 0, has_interval: false },
        }
    }

    fn heading(self) -> String {
        let interval = if self.has_interval { "  95 %       " } else { "" };
        let ends = format!("  0 {:>width$}", "1", width = self.chart.saturating_sub(1));
        let text = format!("  decision   chance{interval}{}", if self.chart > 0 { &ends } else { "" });
        format!("{}\n", text.trim_end())
    }

    fn row(self, point: &CausalityPoint, is_turn: bool) -> String {
        let CausalityPoint { decision, failed: Probability { chance, low, high, .. } } = point;
        let interval = format!("  {:<11}", format!("{:.0}..{}", low * 100.0, percent(*high)));
        let interval = if self.has_interval { interval.as_str() } else { "" };
        let mark = if is_turn { " <" } else { "" };
        let text = format!("{decision:>10}  {:>7}{interval}{}{mark}", percent(*chance), self.bar(*low, *chance, *high));
        format!("{}\n", text.trim_end())
    }

    fn bar(self, low: f64, chance: f64, high: f64) -> String {
        let Some(last) = self.chart.checked_sub(1) else { return String::new() };
        let place = |share: f64| ((share * last as f64).round() as usize).min(last);
        let mut bar = vec![' '; self.chart];
        bar[place(low)..=place(high)].fill('-');
        bar[place(chance)] = 'o';
        format!(" |{}|", bar.into_iter().collect::<String>())
    }
}

fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent > 0.0 && percent < 1.0 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}

/// The chart and what it says, for people.
#[must_use]
pub fn causality_lines(document: &CausalityDocument, style: Style) -> String {
    let CausalityDocument { trace, signature, points, turn, .. } = document;
    let columns = Columns::of(style.width);
    let mut text = format!("{trace}: {signature}\n{}", columns.heading());
    for point in points {
        text.push_str(&columns.row(point, turn.as_ref().is_some_and(|turn| turn.decision == point.decision)));
    }
    text + &causality_words(document)
}

/// What the chart says, for people.
pub(crate) fn causality_words(document: &CausalityDocument) -> String {
    let CausalityDocument { trace, turn, findability, .. } = document;
    let mut text = String::new();
    match turn {
        None => text.push_str("no decision made it more likely\n"),
        Some(turn) => {
            let CausalityTurn { decision, before, after, .. } = turn;
            let (from, to) = (percent(before.chance), percent(after.chance));
            text.push_str(&match turn.clear {
                true => format!("it became likely at decision {decision}: from {from} to {to}\n"),
                false => format!(
                    "it grows little by little; most at decision {decision}, from {from} to {to}, which may be chance: more \
                     --runs would tell\n"
                ),
            });
            if let Some(position) = &turn.position {
                text.push_str(&format!("  in {position}\n"));
            }
            if let Some(fault) = &turn.fault {
                text.push_str(&format!("  the fault {fault} struck there\n"));
            }
            if let Some(call) = &turn.call {
                text.push_str(&format!(
                    "  {}\n",
                    crate::show::entry_line(call, &crate::show::MachineNames::listed(&document.machines)).trim_start()
                ));
                text.push_str(&format!("  fozzy replay {} --call {}\n", shell_word(trace), call.index));
            }
        }
    }
    text.push_str(&findability_lines(findability));
    text.extend(document.svg.iter().map(|path| format!("chart: {path}\n")));
    text
}

/// How often it comes, for people.
#[must_use]
pub fn findability_lines(findability: &Findability) -> String {
    let Findability { failed: Probability { failed, runs, low, high, chance }, .. } = findability;
    let mut text = format!("fresh runs: {failed} of {runs} fail so");
    match (findability.clean_runs, findability.clean_runs_cautious) {
        (Some(as_seen), Some(cautious)) => text.push_str(&format!(
            ", {} (95 %: {} to {})\na fix is believable with 95 % after {}; after {cautious}, if the chance is as small as {}\n",
            percent(*chance),
            percent(*low),
            percent(*high),
            fozzy_trace::counted(as_seen, "clean run"),
            percent(findability.at_least)
        )),
        _ => text.push_str(&format!(
            ": its chance is at most {} (rule of three), and clean runs prove nothing yet; try more --runs, or replay the trace \
             against the fixed program\n",
            percent(findability.at_most)
        )),
    }
    text.extend(findability.guided.as_ref().map(guided_line));
    text
}

/// `guided search: 5 of 5 fresh seeds meet it, after 1,204 steps (median; 512 to 2,334)`
fn guided_line(guided: &GuidedFindability) -> String {
    let GuidedFindability { unit, steps_max, seeds, found, median, least, most, .. } = guided;
    let mut text = format!("guided search ({}): {found} of {seeds} fresh seeds meet it", guided.strategy);
    if let (Some(least), Some(most)) = (least, most) {
        let (least, most) = (grouped(*least), grouped(*most));
        text.push_str(&match median {
            Some(median) => format!(", after {} {unit} (median; {least} to {most})", grouped(*median)),
            None => format!(", after {least} to {most} {unit}"),
        });
    }
    if found < seeds {
        text.push_str(&format!("; the others not within {} {unit}", grouped(*steps_max)));
    }
    text.push('\n');
    text
}

/// The chart as a drawing.
#[must_use]
pub fn causality_svg(document: &CausalityDocument) -> String {
    const SIZE: (f64, f64) = (720.0, 320.0);
    const MARGIN: (f64, f64) = (60.0, 44.0);
    let last = document.decisions.max(1) as f64;
    let x = |decision: u64| MARGIN.0 + (SIZE.0 - MARGIN.0 - 20.0) * decision as f64 / last;
    let y = |share: f64| SIZE.1 - MARGIN.1 - (SIZE.1 - 2.0 * MARGIN.1) * share;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        SIZE.0,
        SIZE.1,
        escape(&format!("{}: chance of {}", document.trace, document.signature))
    );
    let text = |x: f64, y: f64, anchor: &str, words: &str| {
        format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escape(words))
    };
    svg.push_str(&text(MARGIN.0, 24.0, "start", &format!("chance of: {}", document.signature)));
    for share in [0.0, 0.25, 0.5, 0.75, 1.0] {
        let (left, right, at) = (MARGIN.0, SIZE.0 - 20.0, y(share));
        svg.push_str(&format!("<path d=\"M{left:.1} {at:.1}H{right:.1}\" stroke=\"#ddd\"/>\n"));
        svg.push_str(&text(left - 8.0, at + 4.0, "end", &percent(share)));
    }
    let points = || document.points.iter();
    let above = points().map(|point| (x(point.decision), y(point.failed.high)));
    let beneath = points().rev().map(|point| (x(point.decision), y(point.failed.low)));
    let path = |places: &mut dyn Iterator<Item = (f64, f64)>| {
        places.map(|(x, y)| format!("{x:.1},{y:.1}")).collect::<Vec<_>>().join(" ")
    };
    let band = path(&mut above.chain(beneath));
    let line = path(&mut points().map(|point| (x(point.decision), y(point.failed.chance))));
    svg.push_str(&format!("<polygon points=\"{band}\" fill=\"#cfe3f7\"/>\n"));
    svg.push_str(&format!("<polyline points=\"{line}\" fill=\"none\" stroke=\"#1f6fb4\" stroke-width=\"2\"/>\n"));
    for point in points() {
        let Probability { failed, runs, .. } = point.failed;
        svg.push_str(&format!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"#1f6fb4\"><title>decision {}: {failed} of {runs}</title></circle>\n",
            x(point.decision),
            y(point.failed.chance),
            point.decision
        ));
    }
    if let Some(turn) = document.turn.as_ref().filter(|turn| turn.clear) {
        let at = x(turn.decision);
        svg.push_str(&format!(
            "<path d=\"M{at:.1} {:.1}V{:.1}\" stroke=\"#c0392b\" stroke-dasharray=\"4 3\"/>\n",
            y(0.0),
            y(1.0)
        ));
        // Its words stay inside the picture.
        let side = if at > SIZE.0 / 2.0 { "end" } else { "start" };
        svg.push_str(&text(at, y(1.0) - 6.0, side, &format!("decision {}", turn.decision)));
    }
    let last = turn_words(document);
    svg.push_str(&text(MARGIN.0, SIZE.1 - 24.0, "start", "0"));
    svg.push_str(&text(SIZE.0 - 20.0, SIZE.1 - 24.0, "end", &counted(document.decisions, "decision")));
    svg.push_str(&text(MARGIN.0, SIZE.1 - 8.0, "start", &last));
    svg.push_str("</svg>\n");
    svg
}

fn turn_words(document: &CausalityDocument) -> String {
    let Some(turn) = document.turn.as_ref().filter(|turn| turn.clear) else { return String::new() };
    let call = turn.call.as_ref().map(|call| format!(", {}({}) -> {}", call.call, call.asked, call.answer));
    let at = turn.call.as_ref().map(|call| format!(" at {}", Instant(call.at.0))).unwrap_or_default();
    let fault = turn.fault.as_ref().map(|fault| format!(", the fault {fault}")).unwrap_or_default();
    let mut words = format!("decision {}{at}{fault}{}", turn.decision, call.unwrap_or_default());
    if words.chars().count() > 110 {
        words = words.chars().take(109).chain(['…']).collect();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use fozzy_trace::FindingKind;

    fn document() -> CausalityDocument {
        let chance = |failed: u64, low, high| Probability { failed, runs: 32, chance: failed as f64 / 32.0, low, high };
        let (before, after) = (chance(2, 0.017, 0.2), chance(32, 0.893, 1.0));
        let point = |decision, failed| CausalityPoint { decision, failed };
        CausalityDocument {
            schema_version: "fozzy.causality.v1".to_owned(),
            trace: "fail.fozzy".to_owned(),
            signature: FailureSignature { kind: FindingKind::Assertion, site: "a < b".to_owned() },
            machines: Vec::new(),
            decisions: 40,
            points: vec![point(0, before), point(17, before), point(18, after), point(40, after)],
            turn: Some(CausalityTurn {
                decision: 17,
                clear: true,
                before,
                after,
                call: None,
                fault: None,
                position: None,
            }),
            findability: Findability {
                failed: before,
                at_least: 0.011,
                at_most: 0.183,
                clean_runs: Some(47),
                clean_runs_cautious: Some(266),
                guided: None,
            },
            svg: None,
        }
    }

    #[test]
    fn the_chart_shows_the_leap_and_names_it() {
        let text = causality_lines(&document(), Style::PLAIN);
        assert!(text.contains("it became likely at decision 17: from 6 % to 100 %"), "{text}");
        assert!(text.contains("47 clean runs; after 266"), "{text}");
        let row = text.lines().find(|line| line.trim_start().starts_with("18 ")).expect("it has one");
        assert!(row.ends_with("-o|") || row.ends_with("o|"), "{row}");
    }

    #[test]
    fn each_row_fits_the_terminal() {
        let table = |width: usize| -> Vec<String> {
            let text = causality_lines(&document(), Style::PLAIN.on(width, ""));
            text.lines().skip(1).take(5).map(str::to_owned).collect()
        };
        for width in 22..120 {
            assert!(table(width).iter().all(|row| row.chars().count() <= width), "{width}: {:#?}", table(width));
        }
        assert_eq!(table(80), table(0), "80 columns are enough");
        assert!(table(40)[4].ends_with('|') && !table(40)[0].contains("95 %"), "{:#?}", table(40));
        assert_eq!(table(22)[0], "  decision   chance");
    }

    #[test]
    fn the_drawing_holds_whatever_a_program_calls_its_things() {
        let svg = causality_svg(&document());
        assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("a &lt; b"));
        assert_eq!(svg.matches("<circle").count(), 4);
    }

    #[test]
    fn none_of_many_is_no_proof() {
        let nothing = Findability {
            failed: Probability { failed: 0, runs: 100, chance: 0.0, low: 0.0, high: 0.037 },
            at_least: 0.0,
            at_most: 0.0295,
            clean_runs: None,
            clean_runs_cautious: None,
            guided: Some(GuidedFindability {
                strategy: "coverage_guided".to_owned(),
                unit: "steps".to_owned(),
                steps_max: 20_000,
                seeds: 4,
                found: 3,
                median: Some(1204),
                least: Some(512),
                most: Some(2334),
                steps: vec![Some(512), None, Some(2334), Some(1204)],
            }),
        };
        let text = findability_lines(&nothing);
        assert!(text.contains("at most 3 % (rule of three)"), "{text}");
        let guided = "3 of 4 fresh seeds meet it, after 1,204 steps (median; 512 to 2,334); the others not within 20,000 steps\n";
        assert!(text.ends_with(guided), "{text}");
    }
}
