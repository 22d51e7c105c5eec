//! A run in a few lines for a person: what happened, where, and the command that repeats it.

use crate::explore::explore_lines;
use crate::facts::{MemorySummary, property_lines, scenario_lines};
use crate::fuzz::fuzz_lines;
use crate::html::visible;
use crate::input_moment::input_lines;
use crate::maximize::maximize_lines;
use crate::sequence::{StepSequence, sequence_lines};
use crate::show::{divergence_lines, folded_lines};
use crate::state_search::state_search_line;
use crate::strikes::fault_rows;
use crate::summary::{
    ExplainedDecision, NodeSummary, OutputSummary, RunMode, RunSummary, ShrinkSummary, StreamSummary,
};
use crate::wasi_errors::names_of_errors;
use fozzy_check::generated_frames;
use fozzy_trace::outcome::RelatedStack;
use fozzy_trace::outcome::StackFrame;
use fozzy_trace::{Duration, Finding, PeerStack, Status};
pub(crate) use fozzy_trace::{counted, grouped};
use std::borrow::Cow;

/// How to mark words. The empty style writes plain text.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// Before a good word, before a bad word, before a faint word, after any of them.
    pub good: &'static str,
    /// Before a bad word.
    pub bad: &'static str,
    /// Before what is less important.
    pub faint: &'static str,
    /// After each.
    pub end: &'static str,
    /// Characters of a line; 0 when there is no terminal, and lines are as long as they are.
    pub width: usize,
    /// The folder that paths of sources are shown from; empty to show them whole.
    pub root: &'static str,
}

impl Style {
    /// No marks.
    pub const PLAIN: Style = Style { good: "", bad: "", faint: "", end: "", width: 0, root: "" };
    /// Terminal colours.
    pub const COLOUR: Style =
        Style { good: "\x1b[1;32m", bad: "\x1b[1;31m", faint: "\x1b[2m", end: "\x1b[0m", width: 0, root: "" };

    /// The same marks, on a terminal of that width, with paths from that folder.
    #[must_use]
    pub const fn on(self, width: usize, root: &'static str) -> Style {
        Style { width, root, ..self }
    }

    /// A path of a source, as short as it says where: from the project's folder, from that of the crate or of the toolchain.
    pub(crate) fn path(self, path: &str) -> &str {
        let from = |root: &str| path.strip_prefix(root)?.strip_prefix('/').filter(|_| !root.is_empty());
        let registry = || path.split_once("/registry/src/")?.1.split_once('/').map(|(_, rest)| rest);
        let toolchain = || path.strip_prefix("/rustc/")?.split_once('/').map(|(_, rest)| rest);
        from(self.root).or_else(registry).or_else(toolchain).unwrap_or(path)
    }

    /// Words with the paths of sources in them, each as short as it says where.
    pub(crate) fn words(self, text: &str) -> String {
        let mut short = String::with_capacity(text.len());
        // Each path ends where a word does.
        for (index, word) in text.split(' ').enumerate() {
            let space = if index == 0 { "" } else { " " };
            short.push_str(space);
            short.push_str(if word.starts_with('/') { self.path(word) } else { word });
        }
        short
    }

    /// Characters that are left of a line after `used`; unlimited where lines have no bound.
    pub(crate) fn room(self, used: usize) -> usize {
        if self.width == 0 { usize::MAX } else { self.width.saturating_sub(used).max(ROOM_MIN) }
    }
}

/// Characters that are shown on the narrowest terminal.
const ROOM_MIN: usize = 20;

/// A name, or another text of somebody else, inside of a line: line ends and tabs are escaped as [`crate::printable()`] escapes other
/// control characters, so that it forges no line of its own.
#[must_use]
pub fn printable_line(text: &str) -> Cow<'_, str> {
    match text.contains(['\n', '\r', '\t']) {
        false => Cow::Borrowed(text),
        true => Cow::Owned(text.replace('\n', "\\u{a}").replace('\r', "\\u{d}").replace('\t', "\\u{9}")),
    }
}

/// Text of at most `room` characters, in one line: line ends and tabs are escaped as [`crate::printable()`] escapes other control
/// characters, so that no name forges a row. A cut is shown by an ellipsis.
pub(crate) fn fit(text: &str, room: usize) -> String {
    let text = &*printable_line(text);
    if text.chars().count() <= room {
        return text.to_owned();
    }
    text.chars().take(room.saturating_sub(1)).chain(['…']).collect()
}

/// The same for a text that ends with what a reader looks for, such as a file and a line: it is cut in the middle.
pub(crate) fn fit_ends(text: &str, room: usize) -> String {
    let text = &*printable_line(text);
    let all = text.chars().count();
    if all <= room {
        return text.to_owned();
    }
    let kept = room.saturating_sub(1);
    let begin = kept / 2;
    let end = text.chars().skip(all - (kept - begin));
    text.chars().take(begin).chain(['…']).chain(end).collect()
}

/// Characters before the value of a row.
const ROW_MARGIN: usize = 12;

/// Text in lines of at most `room` characters, broken at spaces; marks take no room. What has no space stays whole.
pub(crate) fn wrapped(text: &str, room: usize) -> Vec<String> {
    let visible = |text: &str| {
        let mut within = false;
        let mut count = 0;
        for character in text.chars() {
            match character {
                '\x1b' => within = true,
                'm' if within => within = false,
                _ if within => {}
                _ => count += 1,
            }
        }
        count
    };
    if visible(text) <= room {
        return vec![text.to_owned()];
    }
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let last = lines.last_mut().expect("there is one");
        if !last.trim().is_empty() && visible(last) + 1 + visible(word) > room {
            lines.push(format!("  {word}"));
        } else {
            let space = if last.is_empty() { "" } else { " " };
            last.push_str(&format!("{space}{word}"));
        }
    }
    lines
}

/// The block that is shown for a run. `is_own` tells the target's own frames from its libraries'.
#[must_use]
pub fn pretty(summary: &RunSummary, style: Style, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let Style { good, bad, faint, end, .. } = style;
    let colour = if summary.status == Status::Pass { good } else { bad };
    let (colour, word) = if !summary.has_verdict() { ("", "interrupted") } else { (colour, summary.status.name()) };
    let mut text = format!("fozzy {} {colour}{}{end}", summary.mode.name(), word.to_uppercase());
    if let Some(finding) = summary.findings.first() {
        text.push_str(&format!("  {}", style.words(&finding.title)));
    }
    text.push('\n');
    for (index, finding) in summary.findings.iter().enumerate() {
        // The title of the first stands in the first line.
        if index > 0 {
            text.push_str(&format!("{bad}also{end} {}\n", style.words(&finding.title)));
        }
        text.push_str(&finding_lines(finding, style, &is_own));
    }
    text.push_str(&sequence_rows(summary.sequence.as_ref(), style));
    let mut row = |key: &str, value: &str| {
        for (index, line) in wrapped(value, style.room(ROW_MARGIN)).iter().enumerate() {
            let key = if index == 0 { key } else { "" };
            text.push_str(&format!("  {faint}{key:<9}{end} {line}\n"));
        }
    };
    let is_claimed =
        summary.replay.as_ref().is_some_and(|replay| replay.claimed.iter().any(|name| name == "target.name"));
    let claimed = if is_claimed { ", as the trace names it" } else { "" };
    row("target", &format!("{} ({}){claimed}", visible(&summary.target.name), summary.target.kind));
    row("run", &format!("{}  seed {}", summary.identity.run_id, summary.identity.seed));
    // Without a finding there is no run whose figures would say anything.
    if summary.mode != RunMode::Fuzz || !summary.findings.is_empty() {
        row("used", &usage(summary));
    }
    for node in &summary.nodes {
        row("node", &node_line(node));
    }
    for (key, line) in fault_rows(&summary.faults, &summary.power_losses, summary.power_losses_more) {
        row(key, &line);
    }
    for line in input_lines(&summary.input) {
        row("input", &line);
    }
    for (index, line) in summary.scenario.iter().flat_map(scenario_lines).enumerate() {
        row(if index == 0 { "scenario" } else { "" }, &line);
    }
    for goal in &summary.goals {
        row("goal", &visible(&goal.line()));
    }
    for line in property_lines(&summary.properties, style) {
        row("property", &line);
    }
    if let Some(absent) = &summary.catalogue {
        row("property", absent);
    }
    for warning in &summary.warnings {
        row("warning", warning);
    }
    if let Some(memory) = &summary.memory {
        row("memory", &memory_line(memory));
    }
    for (index, line) in summary.explore.iter().flat_map(|explore| explore_lines(explore, style)).enumerate() {
        row(if index == 0 { "explore" } else { "" }, &line);
    }
    let spent = summary.time_spent.and_then(|spent| spent.line());
    for (index, line) in summary.fuzz.iter().flat_map(fuzz_lines).chain(spent).enumerate() {
        row(if index == 0 { "fuzz" } else { "" }, &line);
    }
    for (index, line) in summary.maximize.iter().flat_map(maximize_lines).enumerate() {
        row(if index == 0 { "maximize" } else { "" }, &line);
    }
    if let Some(trace) = &summary.identity.trace_path {
        row("trace", trace);
    }
    if let Some(report) = &summary.identity.report_path {
        row("report", report);
    }
    if let Some(shrink) = &summary.shrink {
        row("shrunk", &shrink_line(shrink));
        for (index, line) in shrink.input.iter().flat_map(crate::ShownInput::lines).enumerate() {
            row(if index == 0 { "input" } else { "" }, line.strip_prefix("  ").unwrap_or(&line));
        }
        if let Some(search) = &shrink.states {
            row("shorter", &state_search_line(search));
        }
        if let Some(path) = &shrink.scenario_path {
            row("", &format!("as a scenario file: {path}"));
        }
        row("before", &in_one_line(&shrink.message_before));
        row("after", &in_one_line(&shrink.message_after));
        for decision in &shrink.explained {
            row("", &explained_line(decision, style));
        }
        for slip in &shrink.slips {
            let signature = slip.signature.to_string();
            row("also met", &format!("{}  {}", signature.escape_debug(), slip.trace_path));
            row("", &in_one_line(&slip.message));
        }
    }
    if let Some(replay) = &summary.replay {
        let word = match (&replay.against, replay.equal) {
            (None, true) => {
                format!("{good}the same run{end}: calls, output, end, virtual time, memory, fuel and verdict")
            }
            (None, false) => format!("{bad}not the recorded run{end}"),
            (Some(_), true) => "the changed program made the same calls to the end".to_owned(),
            (Some(_), false) => "the changed program went another way".to_owned(),
        };
        row("replay", &word);
        if !replay.recorded_machines.is_empty() {
            let names = replay.recorded_machines.join(", ");
            row("", &format!("recorded programs on {}; --plan FILE has those of today", names.escape_debug()));
        }
        // What differs stands in the finding.
        if let Some(divergence) = &replay.divergence {
            text.push_str(&folded_lines(&divergence_lines(divergence), style));
        }
    }
    if let (RunMode::Run | RunMode::Fuzz, Some(trace), true) =
        (summary.mode, &summary.identity.trace_path, summary.status != Status::Pass)
    {
        text.push_str(&format!("replay it: fozzy replay {}\n", shell_word(trace)));
    }
    text
}

/// The line of a terminal while a run is at work: `at work for 12s; it ends after 1,000 instructions at the latest (--fuel N) …`.
#[must_use]
pub fn run_line(seconds: u64, fuel: u64) -> String {
    let fuel = grouped(fuel);
    format!("at work for {seconds}s; Ctrl-C stops it, --fuel N ends it earlier than after {fuel} instructions")
}

/// The row of a sequence of steps.
pub(crate) fn sequence_rows(sequence: Option<&StepSequence>, style: Style) -> String {
    let Style { faint, end, .. } = style;
    let lines = sequence.map(|sequence| sequence_lines(sequence, style)).unwrap_or_default();
    let key = |index: usize| if index == 0 { "steps" } else { "" };
    lines.iter().enumerate().map(|(index, line)| format!("  {faint}{:<9}{end} {line}\n", key(index))).collect()
}

/// `58 steps to 2, 3 strikes to 1, 112 decisions other than the simplest to 4, in 61 executions; no single part of it can be left out`
fn shrink_line(shrink: &ShrinkSummary) -> String {
    let ShrinkSummary { before, after, .. } = shrink;
    let rows = [
        (before.steps, after.steps, "step", ""),
        (before.machines, after.machines, "machine", ""),
        (before.faults, after.faults, "planned fault", ""),
        (before.strikes, after.strikes, "strike", ""),
        // Not all that the run decides, whose number stands beside it.
        (before.decisions, after.decisions, "decision", " other than the simplest"),
        (before.input_bytes, after.input_bytes, "byte", ""),
    ];
    // Unchanged sizes say nothing, such as the bytes of a scenario file whose steps are left out.
    let shown = rows.iter().filter(|(before, after, ..)| before != after);
    let part = |(before, after, what, which): &(usize, usize, &str, &str)| {
        format!("{}{which} to {}", counted(*before as u64, what), grouped(*after as u64))
    };
    let mut parts: Vec<String> = shown.map(part).collect();
    parts.push(format!("in {}", counted(shrink.executions, "execution")));
    let end = match (shrink.minimal, shrink.exceeds_log) {
        (true, _) => "no single part of it can be left out",
        (false, true) => "it takes more decisions than are looked at, and later ones stay as they are",
        (false, false) => "the budget ran out (--budget)",
    };
    format!("{}; {end}", parts.join(", "))
}

/// Characters of a message in one line; what follows is in the document.
const MESSAGE_CHARS_MAX: usize = 200;

/// A message in one line, without what its signature says already.
fn in_one_line(message: &str) -> String {
    let mut lines: Vec<&str> = message.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let has_details =
        lines.iter().skip(1).any(|line| !line.starts_with("in sequence ") && !line.starts_with("in step "));
    if has_details && lines[0].starts_with('`') && lines[0].ends_with("` does not hold") {
        lines.remove(0);
    }
    let line: String = lines.join("; ").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match line.char_indices().nth(MESSAGE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// `step 3  amount = 80  matters  (call 12, src/lib.rs:53:9)`
fn explained_line(decision: &ExplainedDecision, style: Style) -> String {
    let ExplainedDecision { step, site, answer, words, tried, free, call, place } = decision;
    let answer = words.as_ref().unwrap_or(answer);
    let step = step.map(|step| format!("step {step}  ")).unwrap_or_default();
    let what = match (free, tried) {
        (true, 1) => "may be any: the other one fails in the same way".to_owned(),
        (true, _) => format!("may be any: {tried} others fail in the same way"),
        (false, 0) => "there is no other".to_owned(),
        (false, _) => "matters".to_owned(),
    };
    let call = call.map(|call| format!("call {call}"));
    let at: Vec<String> = call.into_iter().chain(place.iter().map(|place| style.path(place).to_owned())).collect();
    let at = if at.is_empty() { String::new() } else { format!("  ({})", at.join(", ")) };
    format!("{step}{} = {answer}  {what}{at}", site.escape_debug())
}

/// `120 allocations, 118 freed, peak 4.0 KiB, 2 leaked (48 bytes)`
fn memory_line(memory: &MemorySummary) -> String {
    let (made, freed) = (counted(memory.alloc_count, "allocation"), grouped(memory.free_count));
    let left = format!("{} leaked ({})", grouped(memory.leaked_allocs), bytes(memory.leaked_bytes));
    format!("{made}, {freed} freed, peak {}, {left}", bytes(memory.peak_bytes))
}

fn usage(summary: &RunSummary) -> String {
    format!(
        "{} of virtual time, {} ({}), {} instructions, {} of memory",
        Duration(summary.virtual_time_ns),
        counted(summary.calls, "call"),
        counted(summary.decisions, "decision"),
        grouped(summary.fuel_used),
        bytes(summary.memory_bytes),
    )
}

/// `db: exited with code 3; 120 bytes of output, none of errors`
fn node_line(node: &NodeSummary) -> String {
    let written = |stream: &StreamSummary| if stream.bytes == 0 { "none".to_owned() } else { bytes(stream.bytes) };
    let OutputSummary { stdout, stderr } = &node.output;
    let name = node.name.escape_debug();
    let again = node.restarts.map_or_else(String::new, |times| format!(", started again {}", counted(times, "time")));
    format!("{name}: {}{again}; {} of output, {} of errors", node.state, written(stdout), written(stderr))
}

pub(crate) fn finding_lines(finding: &Finding, style: Style, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let mut text = String::new();
    // The first line often repeats the title, which stands above already.
    for line in finding.message.lines().filter(|line| *line != finding.title) {
        for line in wrapped(line, style.room(2)) {
            let margin = if line.is_empty() { "" } else { "  " };
            text.push_str(&format!("{margin}{line}\n"));
        }
    }
    if let Some(names) = names_of_errors(&finding.message) {
        text.push_str(&format!("  {}({names}){}\n", style.faint, style.end));
    }
    text.push_str(&frame_lines(&finding.backtrace, style, &is_own));
    for PeerStack { node, backtrace } in &finding.peers {
        text.push_str(&format!("  `{}` waits here\n", node.escape_debug()));
        text.push_str(&frame_lines(backtrace, style, &is_own));
    }
    for RelatedStack { what, backtrace } in &finding.related {
        text.push_str(&format!("  {}\n", what.escape_debug()));
        text.push_str(&frame_lines(backtrace, style, &is_own));
    }
    text
}

/// Frames of a library, shown when the target's own cannot be told: enough to see where it was.
const LIBRARY_FRAMES_SHOWN: usize = 10;

/// The target's own frames; a stretch of its libraries' is one line, as is a recursion's.
fn frame_lines(backtrace: &[StackFrame], style: Style, is_own: impl Fn(&StackFrame) -> bool) -> String {
    let Style { faint, end, .. } = style;
    let generated = generated_frames(backtrace);
    let is_own = |(index, frame): (usize, &StackFrame)| !generated[index] && is_own(frame);
    // Where an attribute drives, frames of its library say nothing to who wrote the scenario.
    let any_own = generated.contains(&true) || backtrace.iter().enumerate().any(is_own);
    let shown = |index: usize, frame| if any_own { is_own((index, frame)) } else { index < LIBRARY_FRAMES_SHOWN };
    let mut text = String::new();
    let (mut hidden, mut repeated) = (0, 0);
    let flush = |text: &mut String, hidden: &mut usize, repeated: &mut usize| {
        for (count, what) in [(repeated, "more of the same"), (hidden, "in libraries")] {
            if *count > 0 {
                text.push_str(&format!("         {faint}… {count} {what}{end}\n"));
            }
            *count = 0;
        }
    };
    for (index, frame) in backtrace.iter().enumerate() {
        let same = |before: usize| index >= before && backtrace[index - before].function == frame.function;
        if !shown(index, frame) {
            hidden += 1;
        } else if same(1) && same(2) {
            repeated += 1;
        } else {
            flush(&mut text, &mut hidden, &mut repeated);
            let place = place_from(frame, style);
            let function = fit(&frame.function, style.room(FRAME_MARGIN + place.chars().count()));
            text.push_str(&format!("  {index:>4}  {function}  {faint}{place}{end}\n"));
        }
    }
    flush(&mut text, &mut hidden, &mut repeated);
    text
}

/// Characters of a frame's line beside its function and its place.
const FRAME_MARGIN: usize = 10;

pub(crate) fn place_from(frame: &StackFrame, style: Style) -> String {
    let mut frame = frame.clone();
    frame.source.file = frame.source.file.map(|file| style.path(&file).to_owned());
    place(&frame)
}

pub(crate) fn place(frame: &StackFrame) -> String {
    match (&frame.source.file, frame.source.line, frame.source.col) {
        (Some(file), Some(line), Some(col)) => format!("{file}:{line}:{col}"),
        (Some(file), Some(line), None) => format!("{file}:{line}"),
        _ => format!("{}+{:#x}", frame.module, frame.offset),
    }
}

/// What became of the workers of a campaign, when some were lost.
pub(crate) fn lost_workers(lost: u32, restarted: u32) -> Option<String> {
    let lines = || {
        format!("{} lost before the end, {} started instead", counted(lost.into(), "worker"), grouped(restarted.into()))
    };
    (lost > 0).then(lines)
}

/// A chance above which nothing is said of the next execution.
const CHANCE_SAID_MAX: f64 = 0.5;

/// What was not reached yet, when that can be said: `some 12 more can be reached; the next run reaches one with 0.3 %`.
pub(crate) fn unseen(estimate: f64, chance: f64, next: &str) -> Option<String> {
    let more = estimate.round() as u64;
    if more == 0 || chance <= 0.0 {
        return None;
    }
    // After few executions each was news; that says nothing of the next.
    if chance > CHANCE_SAID_MAX {
        return Some(format!("{} more at least can be reached", grouped(more)));
    }
    let percent = chance * 100.0;
    let percent = match percent {
        percent if percent < 0.001 => "less than 0.001 %".to_owned(),
        percent if percent < 0.1 => format!("{percent:.3} %"),
        percent if percent < 10.0 => format!("{percent:.1} %"),
        percent => format!("{percent:.0} %"),
    };
    Some(format!("{} more at least can be reached; the next {next} reaches one with {percent}", grouped(more)))
}

/// A chance and where it is most likely, in whole percent: inside of that range, and neither none nor sure while it is not.
pub(crate) fn percents(chance: f64, (low, high): (f64, f64)) -> [String; 3] {
    let least = if high > 0.0 { 1.0 } else { 0.0 };
    let shown = |part: f64, least: f64, most: f64| format!("{:.0}", (part * 100.0).clamp(least, most));
    [shown(chance, least, 99.0), shown(low, 0.0, 99.0), shown(high, least, 100.0)]
}

/// What the same number of executions, runs or steps again is worth, when that can be said: `as many executions again find something new with
/// about 29 %, 0 to 91 most likely`.
pub(crate) fn outlook(chance: f64, (low, high): (f64, f64), unit: &str) -> Option<String> {
    let said = || {
        let [chance, low, high] = percents(chance, (low, high));
        format!("as many {unit}s again find something new with about {chance} %, {low} to {high} most likely")
    };
    (high > 0.0).then(said)
}

/// The rarest failure that was met with 95 %: `a failure in one of 3,338 runs or more often would have been met with 95 %`.
pub(crate) fn detectable(one_in: u64, unit: &str) -> Option<String> {
    (one_in > 1)
        .then(|| format!("a failure in one of {} or more often would have been met with 95 %", counted(one_in, unit)))
}

/// Whether a number is left out of a document.
pub(crate) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

pub(crate) fn bytes(n: u64) -> String {
    match n {
        n if n >= 1 << 20 => format!("{:.1} MiB", n as f64 / f64::from(1 << 20)),
        n if n >= 1 << 10 => format!("{:.1} KiB", n as f64 / f64::from(1 << 10)),
        n => counted(n, "byte"),
    }
}

/// A word that a shell takes as one.
#[must_use]
pub fn shell_word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else if text.contains(char::is_control) {
        format!("$'{}'", text.chars().map(ansi_c).collect::<String>())
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}

/// A path as a word that a shell takes as one, for commands that are printed.
#[must_use]
pub fn shell_path(path: &std::path::Path) -> String {
    shell_word(&path.display().to_string())
}

/// A character in the quotes of ANSI C, which leave none as it is that would break a line or move a cursor.
fn ansi_c(c: char) -> String {
    match c {
        '\\' | '\'' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        c if c.is_ascii_control() => format!("\\x{:02x}", u32::from(c)),
        c if c.is_control() => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::KeptOutput;
    use crate::summary::{RunIdentity, TargetSummary, WallFacts};
    use fozzy_trace::file::{NodeOutcome, RecordedOutcome, StreamDigest};
    use fozzy_trace::{Digest, ExecutionEnd, FindingKind, Instant, Seed, Verdict};

    #[test]
    fn a_name_in_a_line_begins_no_other_one() {
        assert!(matches!(printable_line("scenarios/new.wat"), Cow::Borrowed("scenarios/new.wat")));
        assert_eq!(printable_line("new\nfound\r\n\tx"), "new\\u{a}found\\u{d}\\u{a}\\u{9}x");
        assert_eq!((fit("a\nb", 20), fit_ends("a\tb", 20)), ("a\\u{a}b".to_owned(), "a\\u{9}b".to_owned()));
    }

    #[test]
    fn numbers_and_words_are_for_people() {
        assert_eq!((bytes(1_114_112), bytes(1)), ("1.1 MiB".to_owned(), "1 byte".to_owned()));
        assert_eq!(shell_word("a b"), "'a b'");
        assert_eq!(shell_word("a\nb's \u{1b}"), r"$'a\nb\'s \x1b'");
        assert_eq!(shell_word("run.1.fozzy"), "run.1.fozzy");
    }

    #[test]
    fn what_is_left_is_said_where_it_is_known() {
        let expected = "as many runs again find something new with about 29 %, 0 to 91 most likely";
        assert_eq!(outlook(0.292_893, (0.000_1, 0.914_9), "run").as_deref(), Some(expected));
        let shown = |chance, range| percents(chance, range).join(" ");
        assert_eq!((&*shown(0.999_9, (0.995, 1.0)), &*shown(1.0, (1.0, 1.0))), ("99 99 100", "99 99 100"));
        assert_eq!((&*shown(0.001, (0.0, 0.004)), &*shown(0.0, (0.0, 0.0))), ("1 0 1", "0 0 0"));
        assert_eq!(outlook(0.0, (0.0, 0.0), "run"), None);
        let expected = "a failure in one of 3,338 runs or more often would have been met with 95 %";
        assert_eq!(detectable(3_338, "run").as_deref(), Some(expected));
        assert_eq!((detectable(0, "run"), detectable(1, "run")), (None, None));
    }

    #[test]
    fn a_panic_in_a_dependency_is_at_its_crate() {
        let style = Style::PLAIN.on(80, "/home/me/app");
        let of_crate = "panic at /home/me/.cargo/registry/src/index-1949cf/tokio-1.48.0/src/runtime/io.rs:3:9";
        assert_eq!(style.words(of_crate), "panic at tokio-1.48.0/src/runtime/io.rs:3:9");
        assert_eq!(style.words("panic at /home/me/app/src/main.rs:1:2"), "panic at src/main.rs:1:2");
        assert_eq!(style.words("`total`  does not hold"), "`total`  does not hold");
    }

    #[test]
    fn a_long_message_is_wrapped_and_frames_of_dependencies_are_folded() {
        let frame = |function: &str, file: &str| StackFrame {
            module: "m".to_owned(),
            function: function.to_owned(),
            offset: 1,
            source: fozzy_trace::outcome::SourceLocation { file: Some(file.to_owned()), line: Some(3), col: None },
        };
        let tokio = || frame("block_on<core::pin::Pin<…>>", "/c/registry/src/i/tokio-1.48.0/src/rt.rs");
        let finding = Finding {
            kind: FindingKind::Hang,
            title: "the program hangs".to_owned(),
            message: "it waits for a message ".repeat(12),
            location: None,
            backtrace: vec![tokio(), frame("main", "/p/src/main.rs"), tokio(), tokio()],
            peers: Vec::new(),
            related: Vec::new(),
        };
        let lines = finding_lines(&finding, Style::PLAIN.on(80, "/p"), fozzy_check::is_own);
        assert!(lines.lines().all(|line| line.chars().count() <= 80), "{lines}");
        assert!(
            lines.ends_with("… 1 in libraries\n     1  main  src/main.rs:3\n         … 2 in libraries\n"),
            "{lines}"
        );
    }

    #[test]
    fn a_text_that_is_cut_in_the_middle_keeps_both_ends() {
        assert_eq!(fit_ends("line src/lib.rs:47", 18), "line src/lib.rs:47");
        assert_eq!(fit_ends("line src/deep/down/lib.rs:47", 17), "line src…ib.rs:47");
        assert_eq!(fit_ends("äöü\n", 7), "äöü…{a}");
        assert_eq!([fit_ends("ab", 1), fit_ends("ab", 0)], ["…", "…"].map(str::to_owned));
    }

    #[test]
    fn rows_break_at_spaces_and_marks_take_no_room() {
        assert_eq!(wrapped("1 call, 2 decisions", 12), ["1 call, 2", "  decisions"]);
        assert_eq!(wrapped("\x1b[1;31mfailed\x1b[0m  abc", 11), ["\x1b[1;31mfailed\x1b[0m  abc"]);
        assert_eq!(wrapped("/a/very/long/path", 5), ["/a/very/long/path"]);
    }

    fn stream(bytes: u64) -> StreamDigest {
        StreamDigest { bytes, sha256: Digest::of(b"") }
    }

    fn summary(findings: Vec<Finding>, nodes: Vec<NodeOutcome>) -> RunSummary {
        let outcome = RecordedOutcome {
            verdict: Verdict { status: Status::Fail, findings, signature: None },
            end: ExecutionEnd::Exited { code: 1 },
            ended_at: Instant(5),
            calls: 1,
            decisions: 0,
            history: 0,
            fuel_used: 9,
            memory_bytes: 0,
            memory: Digest::of(b""),
            stdout: stream(0),
            stderr: stream(0),
            nodes,
        };
        let path = Some("run.fozzy".to_owned());
        let identity = RunIdentity {
            run_id: "id".to_owned(),
            seed: Seed(7),
            trace_path: path,
            report_path: None,
            artifacts_dir: None,
        };
        let target = TargetSummary { name: "a.wasm".to_owned(), digest: Digest::of(b""), kind: "component".to_owned() };
        let wall = WallFacts { started_at: String::new(), finished_at: String::new(), duration_ns: 0 };
        RunSummary::of(RunMode::Run, identity, target, &outcome, KeptOutput::default(), wall)
    }

    /// The whole block of a run that lacked a rule and had another machine.
    #[test]
    fn a_missing_rule_is_an_indented_block_and_each_machine_a_line() {
        let finding = |kind, title: &str, message: &str| {
            let (title, message) = (title.to_owned(), message.to_owned());
            Finding {
                kind,
                title,
                message,
                location: None,
                backtrace: Vec::new(),
                peers: Vec::new(),
                related: Vec::new(),
            }
        };
        let findings = vec![
            finding(FindingKind::TargetBehavior, "the program exited with code 1", "the program exited with code 1"),
            finding(
                FindingKind::InputInvalid,
                "no rule answers GET /x",
                "no rule answers GET /x\na rule for the plan:\n\n    [[http]]\n    url = \"/x\"",
            ),
        ];
        let node = |name: &str, end, out| NodeOutcome {
            name: name.to_owned(),
            end,
            stdout: stream(out),
            stderr: stream(0),
            memory: Digest::of(b""),
            restarts: out / 100,
            is_down: false,
        };
        let nodes = vec![node("db", None, 120), node("web", Some(ExecutionEnd::Exited { code: 3 }), 0)];
        let summary = summary(findings, nodes);
        let expected = "\
fozzy run FAIL  the program exited with code 1
also no rule answers GET /x
  a rule for the plan:

      [[http]]
      url = \"/x\"
  target    a.wasm (component)
  run       id  seed 7
  used      5ns of virtual time, 1 call (0 decisions), 9 instructions, 0 bytes of memory
  node      db: running, started again 1 time; 120 bytes of output, none of errors
  node      web: exited with code 3; none of output, none of errors
  trace     run.fozzy
replay it: fozzy replay run.fozzy
";
        assert_eq!(pretty(&summary, Style::PLAIN, |_| true), expected);
        let json = serde_json::to_value(&summary).expect("JSON");
        assert_eq!(json["nodes"][1]["exitCode"], 3);
        assert_eq!(json["nodes"][0]["state"], "running");
        assert_eq!(json["findings"][1]["kind"], "input_invalid");
    }
}
