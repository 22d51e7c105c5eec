//! Cycles of transactions as drawings: SVG for the page and alone, DOT for Graphviz.
//!
//! ```text
//!      ╭─ rw ─▶╮
//!     T1       T2
//!      ╰◀─ rw ─╯
//! ```
//!
//! Transactions stand on a circle, in the order of the cycle, and each step is bent outwards.

use crate::history_check::{HistoryCall, HistoryCheck, TransactionAnomalyReport, middle};
use crate::html::escape;

/// Most transactions of a cycle that is drawn; a longer one is described in words.
const TRANSACTIONS_MAX: usize = 16;
/// Width of a drawing, and half the size of a transaction's box.
const WIDTH: f64 = 400.0;
const BOX: (f64, f64) = (52.0, 22.0);
/// Relations that have an arrow of their own colour.
const RELATIONS: [&str; 5] = ["ww", "wr", "rw", "process", "realtime"];
/// Characters of a transaction in DOT.
const DOT_CHARS_MAX: usize = 80;
/// How drawings look, in the page and alone.
pub(super) const CYCLE_STYLE: &str = include_str!("cycle.css");
/// Colours of a drawing that stands alone: those of the page.
const COLOURS: &str = "svg { color-scheme: light dark; --back: #fbfbfa; --card: #fff; --text: #1c1e21; --faint: #636a72; \
                       --good: #1a7f4b; --fair: #9a6a04; --bad: #c0362c; }\n\
                       @media (prefers-color-scheme: dark) { svg { --back: #16181c; --card: #1e2126; --text: #dfe2e7; \
                       --faint: #969da6; --good: #4cc38a; --fair: #e2b23f; --bad: #f0736a; } }\n\
                       .back { fill: var(--card); } text { font-family: system-ui, \"DejaVu Sans\", sans-serif; font-size: 12px; \
                       fill: var(--text); } text.kind { font-size: 16px; font-weight: 650; } text.faint { fill: var(--faint); }\n";
/// Width of drawings that stand alone, their margin, the height of a line, and characters in one.
const PAPER_WIDTH: usize = 720;
const PAPER_MARGIN: usize = 16;
const PAPER_LINE: usize = 20;
const PAPER_CHARS: usize = 100;

/// Heads of arrows, once a page.
pub(super) fn marker_definitions() -> String {
    let marker = |name: &str| {
        format!(
            "<marker id=\"arrow-{name}\" class=\"{name}\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"7\" \
             markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L10 5L0 10z\"/></marker>"
        )
    };
    let markers: String = RELATIONS.iter().map(|name| marker(name)).collect();
    format!(
        "<svg class=\"cycle\" style=\"position:absolute;width:0;height:0\" aria-hidden=\"true\"><defs>{markers}</defs></svg>\n"
    )
}

/// The height of a drawing.
fn cycle_height(transactions: usize) -> f64 {
    if transactions == 2 { 200.0 } else { WIDTH - 40.0 }
}

/// A cycle as SVG; `None` if it is no cycle, or too long to be drawn.
pub(super) fn cycle_svg(anomaly: &TransactionAnomalyReport) -> Option<String> {
    let count = anomaly.steps.len();
    if !(2..=TRANSACTIONS_MAX).contains(&count) || anomaly.transactions.len() != count {
        return None;
    }
    let radius = WIDTH / 2.0 - BOX.0 - 6.0;
    let height = cycle_height(count);
    let centre = (WIDTH / 2.0, height / 2.0);
    let radii = (radius, if count == 2 { 0.0 } else { height / 2.0 - BOX.1 - 22.0 });
    let first = if count == 2 { std::f64::consts::PI } else { -std::f64::consts::FRAC_PI_2 };
    let place = |at: usize| {
        let angle = first + std::f64::consts::TAU * at as f64 / count as f64;
        (centre.0 + radii.0 * angle.cos(), centre.1 + radii.1 * angle.sin())
    };
    let mut svg = format!(
        "<svg class=\"cycle\" viewBox=\"0 0 {WIDTH:.0} {height:.0}\" role=\"img\" aria-label=\"{}\">\n",
        escape(&format!("{}: a cycle of {count} transactions", anomaly.kind))
    );
    for (at, step) in anomaly.steps.iter().enumerate() {
        let relation = RELATIONS.iter().find(|name| **name == step.relation).copied().unwrap_or("process");
        let (from, to) = (place(at), place((at + 1) % count));
        let bend = bend_point(from, to, if count == 2 { 120.0 } else { 36.0 });
        let ((x1, y1), (x2, y2)) = (border(from, bend), border(to, bend));
        let label = ((x1 + 2.0 * bend.0 + x2) / 4.0, (y1 + 2.0 * bend.1 + y2) / 4.0 + 5.0);
        svg.push_str(&format!(
            "<path class=\"step {relation}\" marker-end=\"url(#arrow-{relation})\" d=\"M{x1:.1} {y1:.1}Q{:.1} {:.1} {x2:.1} {y2:.1}\">\
             <title>{}</title></path>\n<text class=\"relation\" x=\"{:.1}\" y=\"{:.1}\">{relation}</text>\n",
            bend.0,
            bend.1,
            escape(&step.because),
            label.0,
            label.1,
        ));
    }
    for (at, call) in anomaly.transactions.iter().enumerate() {
        let (x, y) = place(at);
        let (left, top) = (x - BOX.0, y - BOX.1);
        svg.push_str(&format!(
            "<g><title>{}</title><rect x=\"{left:.1}\" y=\"{top:.1}\" width=\"{:.0}\" height=\"{:.0}\" rx=\"8\"/>\
             <text class=\"name\" x=\"{x:.1}\" y=\"{:.1}\">T{}</text><text class=\"small\" x=\"{x:.1}\" y=\"{:.1}\">{}</text></g>\n",
            escape(value(call)),
            2.0 * BOX.0,
            2.0 * BOX.1,
            y - 2.0,
            at + 1,
            y + 14.0,
            escape(&middle(&short_place(call), 17)),
        ));
    }
    svg.push_str("</svg>\n");
    Some(svg)
}

/// Where a curve from one place to another bends: to the left of its way, which is outside of the circle.
fn bend_point(from: (f64, f64), to: (f64, f64), by: f64) -> (f64, f64) {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let length = dx.hypot(dy).max(1.0);
    ((from.0 + to.0) / 2.0 + dy / length * by, (from.1 + to.1) / 2.0 - dx / length * by)
}

/// Where the way from the middle of a box to a point leaves it.
fn border(middle: (f64, f64), to: (f64, f64)) -> (f64, f64) {
    let (dx, dy) = (to.0 - middle.0, to.1 - middle.1);
    let share = (BOX.0 / dx.abs().max(1e-9)).min(BOX.1 / dy.abs().max(1e-9)).min(1.0);
    (middle.0 + dx * share, middle.1 + dy * share)
}

fn value(call: &HistoryCall) -> &str {
    call.result.as_ref().or(call.argument.as_ref()).map_or("", String::as_str)
}

fn short_place(call: &HistoryCall) -> String {
    let line = call.line.map_or(format!("#{}", call.index), |line| format!("line {line}"));
    format!("{line} · p {}", call.process)
}

/// All cycles of some histories as one drawing, each with its steps in words below.
///
/// ```
/// use fozzy_report::{DependencyReport, HistoryCall, HistoryCheck, IsolationReport, TransactionAnomalyReport, cycles_svg};
/// let step = |relation: &str| DependencyReport { relation: relation.to_owned(), because: "T1 < T2".to_owned() };
/// let cycle = TransactionAnomalyReport {
///     kind: "G1c".to_owned(),
///     transactions: vec![HistoryCall::default(); 2],
///     steps: vec![step("wr"), step("ww")],
///     ..TransactionAnomalyReport::default()
/// };
/// let isolation = Some(IsolationReport { anomalies: vec![cycle], ..IsolationReport::default() });
/// let check = HistoryCheck { isolation, ..HistoryCheck::default() };
/// let svg = cycles_svg([&check]);
/// assert!(svg.starts_with("<svg xmlns=") && svg.contains("T1 &lt; T2, wr: "));
/// ```
#[must_use]
pub fn cycles_svg<'a>(checks: impl IntoIterator<Item = &'a HistoryCheck>) -> String {
    let (mut body, mut y) = (String::new(), PAPER_MARGIN);
    let line = |body: &mut String, y: &mut usize, class: &str, words: &str| {
        *y += PAPER_LINE;
        let words = escape(&middle(words, PAPER_CHARS));
        body.push_str(&format!("<text class=\"{class}\" x=\"{PAPER_MARGIN}\" y=\"{y}\">{words}</text>\n"));
    };
    for check in checks {
        let anomalies = check.isolation.iter().flat_map(|report| &report.anomalies);
        for anomaly in anomalies.filter(|one| !one.steps.is_empty()) {
            line(&mut body, &mut y, "kind", &anomaly.kind);
            line(&mut body, &mut y, "faint", &check.file);
            if let Some(drawing) = cycle_svg(anomaly) {
                let (height, left) = (cycle_height(anomaly.steps.len()), (PAPER_WIDTH - WIDTH as usize) / 2);
                let place = format!("<svg x=\"{left}\" y=\"{}\" width=\"{WIDTH}\" height=\"{height}\"", y + 8);
                body.push_str(&drawing.replacen("<svg", &place, 1));
                y += height as usize + 8;
            }
            for (at, call) in anomaly.transactions.iter().enumerate() {
                line(&mut body, &mut y, "", &format!("T{}: {}, {}", at + 1, call.place(), value(call)));
            }
            let count = anomaly.steps.len();
            for (at, step) in anomaly.steps.iter().enumerate() {
                let (from, to) = (at + 1, (at + 1) % count + 1);
                line(&mut body, &mut y, "", &format!("T{from} < T{to}, {}: {}", step.relation, step.because));
            }
            y += PAPER_LINE;
        }
    }
    if body.is_empty() {
        line(&mut body, &mut y, "faint", "no cycles of transactions were found");
    }
    let height = y + PAPER_MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{PAPER_WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {PAPER_WIDTH} {height}\">\n<style>\n{CYCLE_STYLE}{COLOURS}</style>\n{}\
         <rect class=\"back\" width=\"100%\" height=\"100%\"/>\n{body}</svg>\n",
        marker_definitions()
    )
}

/// All cycles of some histories, for Graphviz.
#[must_use]
pub fn cycles_dot<'a>(checks: impl IntoIterator<Item = &'a HistoryCheck>) -> String {
    let mut text = String::from("digraph cycles {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n");
    text.push_str("  edge [fontname=\"sans-serif\"];\n");
    let mut cycle = 0;
    for check in checks {
        let anomalies = check.isolation.iter().flat_map(|report| &report.anomalies);
        for anomaly in anomalies.filter(|one| !one.steps.is_empty()) {
            cycle += 1;
            text.push_str(&cycle_dot(cycle, &check.file, anomaly));
        }
    }
    text.push_str("}\n");
    text
}

fn cycle_dot(cycle: usize, file: &str, anomaly: &TransactionAnomalyReport) -> String {
    let label = quoted(&format!("{}\n{file}", anomaly.kind));
    let mut text = format!("  subgraph cluster_{cycle} {{\n    label={label};\n");
    for (at, call) in anomaly.transactions.iter().enumerate() {
        let label = quoted(&format!("T{}: {}\n{}", at + 1, call.place(), middle(value(call), DOT_CHARS_MAX)));
        text.push_str(&format!("    c{cycle}t{} [label={label}];\n", at + 1));
    }
    let count = anomaly.steps.len();
    for (at, step) in anomaly.steps.iter().enumerate() {
        let (from, to) = (at + 1, (at + 1) % count + 1);
        let (relation, because) = (quoted(&step.relation), quoted(&step.because));
        text.push_str(&format!("    c{cycle}t{from} -> c{cycle}t{to} [label={relation}, tooltip={because}];\n"));
    }
    text.push_str("  }\n");
    text
}

/// A text of DOT.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
