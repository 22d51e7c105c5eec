//! `fozzy check --html`: judged histories as one page that needs nothing else.
//!
//! ```text
//! HistoryCheck ─▶ verdict, contradicting calls, cycles (`cycle`)     static
//! HistoryTimeline (`timeline`) ─▶ JSON in the page ─▶ page.js draws calls on lanes, faults as bands
//! ```
//!
//! Invariants: equal verdicts give equal pages; whatever a history calls its things, the page stays the page that we wrote: words are
//! escaped, the script sets text only, and the page may load nothing. Its size is bounded (`timeline`).
//! Not here: how a history is judged (`fozzy-check`).

mod cycle;
mod fault_bands;
#[cfg(test)]
mod tests;
mod timeline;

use crate::history_check::{
    HistoryCall, HistoryCheck, HistoryViolation, cycle_words, part_name, parts_words, verdict_words,
};
use crate::html::escape;
use crate::pretty::counted;
use cycle::{CYCLE_STYLE, cycle_svg, marker_definitions};
pub use cycle::{cycles_dot, cycles_svg};
use fozzy_trace::grouped;
pub use timeline::{HistoryTimeline, TimelinePart};

const STYLE: &str = include_str!("history_page/page.css");
const SCRIPT: &str = include_str!("history_page/page.js");
/// The page may run what stands in it, and load nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// What the page shows of one history.
#[derive(Clone, Debug, Default)]
pub struct HistoryPage {
    /// The verdict.
    pub check: HistoryCheck,
    /// Its calls.
    pub timeline: HistoryTimeline,
}

/// The page of some histories.
#[must_use]
pub fn history_page(histories: &[HistoryPage]) -> String {
    let title = match histories {
        [one] => format!("{}: {}", one.check.file, one.check.validity),
        several => format!("{} histories", several.len()),
    };
    page_of(&title, "fozzy check", "", histories, "")
}

/// The page of some histories, under a heading, between parts of other kinds.
pub(crate) fn page_of(title: &str, heading: &str, before: &str, histories: &[HistoryPage], after: &str) -> String {
    let heading = escape(heading);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n<title>{}</title>\n\
         <style>\n{STYLE}{CYCLE_STYLE}</style>\n</head>\n<body>\n<header>\n<h1>{heading}</h1>\n\
         <button id=\"theme\" type=\"button\" title=\"dark or light\">◐</button>\n</header>\n{}<main>\n",
        escape(title),
        marker_definitions(),
    );
    page.push_str(before);
    for history in histories {
        page.push_str(&section(history));
    }
    page.push_str(after);
    page.push_str(&format!("</main>\n<div id=\"tip\" hidden></div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"));
    page
}

fn section(page: &HistoryPage) -> String {
    let check = &page.check;
    if let Some(error) = &check.error {
        let (file, error) = (escape(&check.file), escape(error));
        return format!(
            "<section data-history>\n<h2>{file}</h2>\n<p><span class=\"verdict error\">ERROR</span> {error}</p>\n</section>\n"
        );
    }
    let (word, what) = verdict_words(check);
    let mut text = format!(
        "<section data-history>\n<h2>{}</h2>\n<p><span class=\"verdict {}\">{word}</span> {}</p>\n",
        escape(&check.file),
        escape(&check.validity),
        escape(&what),
    );
    text.push_str(&facts(check));
    for violation in &check.violations {
        text.push_str(&violation_html(violation, part_name(check)));
    }
    for one in check.undecided.iter().filter(|one| one.reason != "not-needed") {
        let name = part_name(check);
        let key = one.key.as_ref().map_or(String::new(), |key| format!("{name} {key}: "));
        let words = format!("{key}not decided ({}), {} of {} returns passed", one.reason, one.returns, one.of_returns);
        text.push_str(&format!("<p class=\"faint\">{}</p>\n", escape(&words)));
    }
    text.push_str(&isolation_html(check));
    text.push_str(&checker_html(check));
    text.push_str(&timeline_html(&page.timeline));
    text.push_str("</section>\n");
    text
}

/// What was judged, and by what.
fn facts(check: &HistoryCheck) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    rows.extend(check.model.iter().map(|model| {
        ("model", if check.model_guessed { format!("{model}, chosen from the history") } else { model.clone() })
    }));
    rows.extend(check.checker.iter().map(|checker| ("checker", checker.clone())));
    let parts = parts_words(check);
    let (calls, processes) = (counted(check.calls, "call"), counted(check.processes, "process"));
    rows.push(("history", format!("{calls} of {processes}{parts}, {}", check.format)));
    rows.extend(check.remarks.iter().map(|remark| ("remark", remark.clone())));
    if let Some(one) = &check.isolation {
        let ends = [one.committed, one.failed, one.unknown].map(grouped);
        let [committed, failed, unknown] = ends;
        let words = format!("{}, {}", one.workload, counted(one.keys, "key"));
        rows.push(("transactions", format!("{words}, {committed} committed, {failed} failed, {unknown} unknown")));
        if !one.impossible.is_empty() {
            let stronger = match one.also_impossible.len() {
                0 => String::new(),
                count => format!(", and {count} stronger"),
            };
            rows.push(("ruled out", format!("{}{stronger}", one.impossible.join(", "))));
        }
        if !one.possible.is_empty() {
            let name = if one.impossible.is_empty() { "possible" } else { "still open" };
            rows.push((name, one.possible.join(", ")));
        }
        if !one.undecided.is_empty() {
            rows.push(("not decided", one.undecided.join(", ")));
        }
    }
    let rows: String =
        rows.iter().map(|(name, words)| format!("<dt>{name}</dt><dd>{}</dd>\n", escape(words))).collect();
    format!("<dl>\n{rows}</dl>\n")
}

fn violation_html(violation: &HistoryViolation, part: &str) -> String {
    let key = violation.key.as_ref().map_or(String::new(), |key| format!("{part} {key}: "));
    let (kept, all) = (violation.minimal.len(), counted(violation.calls, "call"));
    let heading = match kept {
        0 => format!("{key}no order of its {all} is legal"),
        1 => format!("{key}one of {all} is wrong, whichever others took effect"),
        _ => format!("{key}{kept} of {all} contradict each other, whichever of the others took effect"),
    };
    let mut text = format!("<h3>{}</h3>\n", escape(&heading));
    if kept > 0 {
        text.push_str(&calls_table(&violation.minimal));
    }
    let (after, state) = (counted(violation.longest.len() as u64, "call"), escape(&violation.state));
    let stuck = violation.stuck.as_ref();
    let stuck = stuck.map(|one| format!("<code>{}</code> of process {}", escape(&one.words()), escape(&one.process)));
    match stuck {
        Some(call) if violation.is_longest => text.push_str(&format!(
            "<p>The longest legal order has {after}; after it the state is <code>{state}</code>, and {call} cannot take \
             effect.</p>\n"
        )),
        Some(call) => text.push_str(&format!("<p>No order is legal when {call} has returned.</p>\n")),
        None => {}
    }
    if !violation.is_longest && !violation.longest.is_empty() {
        text.push_str(&format!(
            "<p>A legal order of {after} was found, perhaps not the longest; after it the state is <code>{state}</code>.</p>\n"
        ));
    }
    text
}

fn calls_table(calls: &[HistoryCall]) -> String {
    let row = |call: &HistoryCall| {
        let line = call.line.map_or("-".to_owned(), |line| line.to_string());
        format!(
            "<tr data-call=\"{}\"><td class=\"number\">{line}</td><td class=\"number\">{}</td><td><code>{}</code></td><td>{}</td></tr>\n",
            call.index,
            escape(&call.process),
            escape(&call.words()),
            escape(&call.outcome),
        )
    };
    let rows: String = calls.iter().map(row).collect();
    format!(
        "<div class=\"scroll\"><table>\n<thead><tr><th class=\"number\">line</th><th class=\"number\">process</th><th>call</th>\
         <th>outcome</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n"
    )
}

fn isolation_html(check: &HistoryCheck) -> String {
    let Some(report) = &check.isolation else { return String::new() };
    let mut text = String::new();
    for anomaly in &report.anomalies {
        let count = anomaly.steps.len();
        let message = match count {
            0 => anomaly.message.clone(),
            _ if anomaly.shortest => cycle_words(count as u64),
            _ => format!("a cycle of {}", counted(count as u64, "transaction")),
        };
        let steps = anomaly.steps.iter().enumerate().map(|(at, step)| {
            let head = format!("T{} < T{}", at + 1, (at + 1) % count + 1);
            format!("<li><b>{}</b> {}: {}</li>\n", escape(&head), escape(&step.relation), escape(&step.because))
        });
        let steps: String = steps.collect();
        let mut words = format!("<div>\n<h3>{}</h3>\n<p>{}</p>\n", escape(&anomaly.kind), escape(&message));
        if !steps.is_empty() {
            words.push_str(&format!("<ul>\n{steps}</ul>\n"));
        }
        words.push_str(&transactions_table(&anomaly.transactions));
        words.push_str("</div>\n");
        match cycle_svg(anomaly) {
            Some(svg) => text.push_str(&format!("<div class=\"anomaly\">\n{svg}{words}</div>\n")),
            None => text.push_str(&format!("<div class=\"anomaly plain\">\n{words}</div>\n")),
        }
    }
    text
}

fn transactions_table(transactions: &[HistoryCall]) -> String {
    if transactions.is_empty() {
        return String::new();
    }
    let row = |(at, call): (usize, &HistoryCall)| {
        let value = call.result.as_ref().or(call.argument.as_ref()).map_or("", String::as_str);
        format!(
            "<tr data-call=\"{}\"><td>T{}</td><td>{}</td><td><code>{}</code></td></tr>\n",
            call.index,
            at + 1,
            escape(&call.place()),
            escape(value)
        )
    };
    let rows: String = transactions.iter().enumerate().map(row).collect();
    format!("<div class=\"scroll\"><table>\n<tbody>\n{rows}</tbody>\n</table></div>\n")
}

fn checker_html(check: &HistoryCheck) -> String {
    let mut text = String::new();
    if !check.counts.is_empty() {
        let row =
            |name: &str, number: i64| format!("<tr><td>{}</td><td class=\"number\">{number}</td></tr>\n", escape(name));
        let rows: String = check.counts.iter().map(|count| row(&count.name, count.number)).collect();
        text.push_str(&format!("<div class=\"scroll\"><table>\n<tbody>\n{rows}</tbody>\n</table></div>\n"));
    }
    for anomaly in &check.anomalies {
        let operations: Vec<String> = anomaly.operations.iter().map(u64::to_string).collect();
        let shown =
            if operations.is_empty() { String::new() } else { format!(" (operation {})", operations.join(", ")) };
        let (kind, message) = (escape(&anomaly.kind), escape(&anomaly.message));
        text.push_str(&format!("<div class=\"anomaly plain\"><b>{kind}</b>: {message}{}</div>\n", escape(&shown)));
    }
    text
}

fn timeline_html(timeline: &HistoryTimeline) -> String {
    if timeline.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "<h3>Calls on lanes</h3>\n<noscript><p>The lanes are drawn by a script, which is switched off.</p></noscript>\n\
         <div class=\"tools\">\n<select hidden aria-label=\"part of the history\"></select>\n\
         <button type=\"button\" data-do=\"show\" hidden>Show the contradiction</button>\n\
         <button type=\"button\" class=\"step\" data-do=\"out\" title=\"smaller\">−</button>\n\
         <button type=\"button\" class=\"step\" data-do=\"in\" title=\"larger\">+</button>\n\
         <button type=\"button\" data-do=\"fit\">Fit</button>\n\
         <button type=\"button\" data-do=\"time\" aria-pressed=\"false\" hidden>By time</button>\n</div>\n\
         <canvas class=\"overview\" role=\"img\" aria-label=\"overview of all calls\"></canvas>\n\
         <div class=\"view\"><div class=\"room\"><canvas tabindex=\"0\" role=\"img\" \
         aria-label=\"calls on lanes; arrow keys go from call to call\"></canvas></div></div>\n\
         <div class=\"legend\">\n<span><i class=\"ok\"></i>ok: it happened</span>\n\
         <span><i class=\"info\"></i>info: unknown, it may happen later</span>\n\
         <span><i class=\"fail\"></i>fail: it did not happen</span>\n",
    );
    let marks = [
        (timeline.has_marks(), "kept", "they show what is wrong"),
        (timeline.has_order(), "stuck", "cannot take effect"),
        (timeline.has_order(), "point", "the longest legal order"),
    ];
    for (_, class, words) in marks.into_iter().filter(|(is_shown, ..)| *is_shown) {
        text.push_str(&format!("<span><i class=\"{class}\"></i>{words}</span>\n"));
    }
    for (name, colour) in timeline.fault_kinds() {
        text.push_str(&format!("<span><i style=\"background:#{colour}\"></i>{}</span>\n", escape(name)));
    }
    text.push_str("</div>\n");
    text.push_str(
        "<h3 class=\"plots-words\" hidden>Latencies and rates</h3>\n<canvas class=\"plots\" role=\"img\" aria-label=\"latencies and rates over time\" \
         hidden></canvas>\n<div class=\"legend plots-words\" hidden>\n<span>above: latency of each call, and of stretches of time</span>\n\
         <span><i class=\"line half\"></i>half</span>\n<span><i class=\"line most\"></i>95 %</span>\n\
         <span><i class=\"line nearly\"></i>99 %</span>\n<span>below: calls a second</span>\n</div>\n",
    );
    if let Some(words) = timeline.cut_words() {
        text.push_str(&format!("<p class=\"faint\">{}</p>\n", escape(&words)));
    }
    text.push_str(&format!("<script type=\"application/json\">{}</script>\n", timeline.json()));
    text
}
