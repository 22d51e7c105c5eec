//! A suite as one page.
//!
//! ```text
//! FAIL   3 passed · 1 failed · 1 skipped         ▆▆▆▆▆▆▂▂
//! FAIL   scenarios/bank   `no customer owes` …   ▸ findings, frames, flows, properties, command
//! ```
//!
//! Invariants: nothing is loaded from anywhere and nothing is run but the switch of colours; every word of a program is
//! escaped. The style is in a file of its own beside this one.

use super::details::{RunDetails, shrink};
use super::pretty::cost;
use super::{CaseResult, CaseSummary, SuiteSummary};
use crate::facts::{PropertySummary, ScenarioSummary};
use crate::html::escape;
use crate::pretty::{Style, counted, grouped, place};
use crate::sequence::{ExecutedStep, StepSequence};
use crate::strikes::fault_block;
use crate::summary::{NodeSummary, RunSummary, StreamSummary};
use crate::wasi_errors::names_of_errors;
use fozzy_check::generated_frames;
use fozzy_trace::facts::PropertyState;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{Duration, Finding, Status};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The document.
#[must_use]
pub fn html(summary: &SuiteSummary, is_own: impl Fn(&StackFrame) -> bool) -> String {
    page(summary, None, is_own)
}

/// The document of one run, with what a replay has told of it.
#[must_use]
pub fn html_of_run(summary: &SuiteSummary, details: &RunDetails, is_own: impl Fn(&StackFrame) -> bool) -> String {
    page(summary, Some(details), is_own)
}

fn page(summary: &SuiteSummary, details: Option<&RunDetails>, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let (mode, is_judged) = (summary.mode.name(), summary.has_verdict());
    let status = if is_judged { summary.status.name() } else { "interrupted" };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>fozzy {mode}: {status}</title>\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n<header>\n<h1>fozzy {mode} <span class=\"word {}\">{}</span></h1>\n\
         <p class=\"faint\">seed {}{} · run {}</p>\n\
         <button id=\"theme\" type=\"button\" title=\"dark or light\">◐</button>\n</header>\n<main>\n",
        match summary.status {
            _ if !is_judged => "skipped",
            Status::Pass => "passed",
            _ => "failed",
        },
        status.to_uppercase(),
        summary.identity.seed,
        match summary.started_at.as_str() {
            "" => String::new(),
            at => format!(" · {}", escape(at)),
        },
        escape(&summary.identity.run_id),
    );
    page.push_str(&cards(summary));
    for (title, cases) in [("Regressions", &summary.regressions), ("Scenarios", &summary.scenarios)] {
        if cases.is_empty() {
            continue;
        }
        page.push_str(&format!("<h2>{title}</h2>\n"));
        cases.iter().for_each(|case| page.push_str(&section(case, details, &is_own)));
    }
    page.push_str(&format!("</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    page
}

fn cards(summary: &SuiteSummary) -> String {
    let tests = summary.tests;
    let all = (tests.passed + tests.failed + tests.skipped).max(1);
    let counts = [("passed", tests.passed), ("failed", tests.failed), ("skipped", tests.skipped)];
    let card = |name: &str, class: &str, value: &str| {
        format!("<div class=\"card {class}\"><strong>{value}</strong><span>{name}</span></div>\n")
    };
    let mut text = String::from("<section class=\"cards\">\n");
    for (name, count) in counts {
        text.push_str(&card(name, if count > 0 { name } else { "" }, &count.to_string()));
    }
    text.push_str(&card("wall time", "", &seconds(summary.duration_ns)));
    text.push_str("</section>\n<p class=\"bar\">");
    for (name, count) in counts.iter().filter(|(_, count)| *count > 0) {
        let share = *count as f64 * 100.0 / all as f64;
        text.push_str(&format!("<i class=\"{name}\" style=\"width:{share:.3}%\"></i>"));
    }
    text + "</p>\n"
}

fn seconds(duration_ns: u64) -> String {
    format!("{:.2} s", duration_ns as f64 / 1e9)
}

fn class(case: &CaseSummary) -> &'static str {
    match case.result {
        CaseResult::Passed => "passed",
        CaseResult::Failed => "failed",
        CaseResult::Skipped => "skipped",
    }
}

fn section(case: &CaseSummary, details: Option<&RunDetails>, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let open = if case.result == CaseResult::Failed || details.is_some() { " open" } else { "" };
    let mut text = format!(
        "<details class=\"case\"{open}>\n<summary><span class=\"word {}\">{}</span><code>{}</code>\
         <span class=\"remark\">{}</span><span class=\"faint time\">{}</span></summary>\n<div class=\"inside\">\n",
        class(case),
        case.word(),
        escape(&case.path),
        escape(&case.remark()),
        seconds(case.duration_ns),
    );
    if let Some(against) = &case.against {
        text.push_str(&format!("<p>replayed against <code>{}</code></p>\n", escape(against)));
    }
    if let Some(error) = &case.error {
        let hint = error.hint.as_ref().map_or_else(String::new, |hint| format!("\n{hint}"));
        text.push_str(&format!(
            "<pre class=\"message\">{}</pre>\n",
            escape(&format!("{}{hint}", case.refusal().unwrap_or_default()))
        ));
    }
    if let Some(run) = &case.run {
        run.findings.iter().for_each(|each| text.push_str(&finding(each, &is_own)));
        run.sequence.iter().for_each(|sequence| text.push_str(&steps(sequence)));
        text.push_str(&faults(run));
        text.extend(run.shrink.iter().map(shrink));
        if let Some(command) = &case.command {
            text.push_str(&format!("<p>replay it</p><pre class=\"command\">{}</pre>\n", escape(command)));
        }
        text.push_str(&facts(run));
        text.extend(details.map(RunDetails::html));
        run.scenario.iter().for_each(|scenario| text.push_str(&flows(scenario)));
        text.push_str(&properties(&run.properties));
        text.push_str(&output("standard output", &run.output.stdout));
        text.push_str(&output("standard error", &run.output.stderr));
        for NodeSummary { name, output: streams, .. } in &run.nodes {
            text.push_str(&output(&format!("{name}: standard output"), &streams.stdout));
            text.push_str(&output(&format!("{name}: standard error"), &streams.stderr));
        }
    }
    text + "</div>\n</details>\n"
}

fn finding(finding: &Finding, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let mut text = format!("<h3>{}</h3>\n", escape(&finding.title));
    // The first line often repeats the title.
    let message: Vec<&str> = finding.message.lines().filter(|line| *line != finding.title).collect();
    if !message.is_empty() {
        text.push_str(&format!("<pre class=\"message\">{}</pre>\n", escape(&message.join("\n"))));
    }
    if let Some(names) = names_of_errors(&finding.message) {
        text.push_str(&format!("<p class=\"remark\">{}</p>\n", escape(&names)));
    }
    text.push_str(&stack(&finding.backtrace, &is_own));
    for peer in &finding.peers {
        text.push_str(&format!("<p><code>{}</code> waits here</p>\n", escape(&peer.node)));
        text.push_str(&stack(&peer.backtrace, &is_own));
    }
    for related in &finding.related {
        text.push_str(&format!("<p>{}</p>\n", escape(&related.what)));
        text.push_str(&stack(&related.backtrace, &is_own));
    }
    text
}

fn stack(frames: &[StackFrame], is_own: impl Fn(&StackFrame) -> bool) -> String {
    let generated = generated_frames(frames);
    let own: Vec<&StackFrame> = frames
        .iter()
        .zip(generated)
        .filter(|(frame, generated)| !generated && is_own(frame))
        .map(|(frame, _)| frame)
        .collect();
    if frames.is_empty() {
        return String::new();
    }
    let text = format!("<ol class=\"frames\">\n{}</ol>\n", own.into_iter().map(frame_row).collect::<String>());
    let all: String = frames.iter().map(frame_row).collect();
    text + &format!(
        "<details class=\"output\"><summary>all {} frames, with libraries</summary><ol class=\"frames\">\n{all}</ol></details>\n",
        frames.len()
    )
}

fn frame_row(frame: &StackFrame) -> String {
    format!("<li><code>{}</code> <span>{}</span></li>\n", escape(&frame.function), escape(&place(frame)))
}

/// What the planned faults did; nothing when none is planned.
fn faults(run: &RunSummary) -> String {
    match fault_block(run, Style::PLAIN) {
        none if none.is_empty() => none,
        block => format!("<h3>planned faults</h3>\n<pre class=\"message\">{}</pre>\n", escape(block.trim_end())),
    }
}

/// The steps of a failing sequence: the last of them is the one that failed.
fn steps(sequence: &StepSequence) -> String {
    let before = match sequence.omitted {
        0 => String::new(),
        omitted => format!("<li class=\"faint\">… {} before</li>\n", counted(omitted, "step")),
    };
    let step = |step: &ExecutedStep| {
        let class = if step.failed { " class=\"failed\"" } else { "" };
        let events = step.events.iter().map(|event| {
            let times = if event.times > 1 { format!(" ({} times)", event.times) } else { String::new() };
            format!("<div class=\"{0}\">{0}: {1}{times}</div>", escape(&event.kind), escape(&event.text))
        });
        format!(
            "<li{class} value=\"{}\"><code>{}</code>{}</li>\n",
            step.number,
            escape(&step.call(usize::MAX)),
            events.collect::<String>()
        )
    };
    let steps: String = sequence.steps.iter().map(step).collect();
    format!("<h3>steps</h3>\n<ol class=\"steps\">\n{before}{steps}</ol>\n")
}

fn facts(run: &RunSummary) -> String {
    let facts = [
        ("seed", run.identity.seed.to_string()),
        ("virtual time", Duration(run.virtual_time_ns).to_string()),
        ("calls", grouped(run.calls)),
        ("decisions", grouped(run.decisions)),
        ("instructions", grouped(run.fuel_used)),
        ("history", run.history_digest.clone()),
    ];
    let facts = facts.map(|(name, value)| format!("<div><dt>{name}</dt><dd>{}</dd></div>", escape(&value)));
    format!("<dl>{}</dl>\n", facts.concat())
}

fn flows(scenario: &ScenarioSummary) -> String {
    if scenario.flows.is_empty() {
        return String::new();
    }
    let most =
        scenario.flows.iter().map(|flow| flow.run + flow.skipped.values().sum::<u64>()).max().unwrap_or(0).max(1);
    let mut text = String::from(
        "<table>\n<thead><tr><th>flow</th><th class=\"n\">run</th><th class=\"n\">skipped</th><th>a run takes</th><th></th></tr></thead>\n",
    );
    for flow in &scenario.flows {
        let skipped: u64 = flow.skipped.values().sum();
        let labels: Vec<String> =
            flow.skipped.iter().map(|(label, times)| format!("{label}: {}", grouped(*times))).collect();
        let width = |times: u64| times as f64 * 100.0 / most as f64;
        text.push_str(&format!(
            "<tr><td><code>{}</code></td><td class=\"n\">{}</td><td class=\"n\" title=\"{}\">{}</td><td>{}</td>\
             <td class=\"share\"><span class=\"bar\"><i class=\"passed\" style=\"width:{:.2}%\"></i>\
             <i class=\"skipped\" style=\"width:{:.2}%\"></i></span></td></tr>\n",
            escape(&flow.name),
            grouped(flow.run),
            escape(&labels.join("\n")),
            grouped(skipped),
            cost(flow),
            width(flow.run),
            width(skipped),
        ));
    }
    text + "</table>\n"
}

fn properties(properties: &[PropertySummary]) -> String {
    if properties.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<table>\n<thead><tr><th>property</th><th>kind</th><th>state</th><th class=\"n\">held</th><th>place</th></tr></thead>\n",
    );
    for property in properties {
        let class = match property.state {
            PropertyState::Failed => "failed",
            PropertyState::NeverTrue | PropertyState::NeverReached => "skipped",
            PropertyState::Passed => "passed",
        };
        text.push_str(&format!(
            "<tr><td>{}</td><td>{}</td><td><span class=\"word {class}\">{}</span></td><td class=\"n\">{} of {}</td>\
             <td><code>{}</code></td></tr>\n",
            escape(&property.name),
            property.kind.name(),
            property.state.name(),
            grouped(property.held),
            grouped(property.evaluated),
            escape(property.place.as_deref().unwrap_or_default()),
        ));
    }
    text + "</table>\n"
}

fn output(name: &str, stream: &StreamSummary) -> String {
    match &stream.text {
        Some(text) if !text.is_empty() => {
            let (name, text) = (escape(name), escape(text));
            format!("<details class=\"output\"><summary>{name}</summary><pre>{text}</pre></details>\n")
        }
        _ => String::new(),
    }
}
