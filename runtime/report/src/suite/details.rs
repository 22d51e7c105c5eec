//! What a page about one run has beside its report: what the run cost, what it allocated, its machines over virtual time, when its failure became
//! likely.
//!
//! ```text
//! trace ─▶ CausalityDocument, ProfileTop, MemoryTop, ProfileTimeline ─▶ RunDetails ─▶ parts of the page
//! ```
//!
//! Invariants: the numbers are those of `fozzy profile top` and `fozzy memory top`, in their words; the timeline is the page of `fozzy profile timeline`,
//! in a frame of its own, whose script sees nothing of the report.
//! Not here: who executes the run again (`fozzy-campaign`).

use crate::causality::{CausalityDocument, causality_svg, causality_words};
use crate::html::escape;
use crate::memory::MemoryTop;
use crate::playback::RunPlayback;
use crate::profile::{ProfileTimeline, ProfileTop};
use crate::summary::ShrinkSummary;
use crate::suspects::SuspectsDocument;
use crate::{Layout, Style};
use fozzy_trace::counted;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct RunDetails {
    /// When its failure became likely, if that was asked for.
    pub causality: Option<CausalityDocument>,
    /// What goes with its failure, if that was asked for.
    pub suspects: Option<SuspectsDocument>,
    /// What it cost.
    pub profile: Option<ProfileTop>,
    /// What it allocated.
    pub memory: Option<MemoryTop>,
    /// What its machines did, when there are several.
    pub timeline: Option<ProfileTimeline>,
    /// The run, played step by step, when it has several machines with messages between them.
    pub playback: Option<RunPlayback>,
    /// Why something of that is missing.
    pub remarks: Vec<String>,
}

impl RunDetails {
    /// As parts of a page.
    pub(super) fn html(&self) -> String {
        let mut text = String::new();
        if let Some(document) = &self.causality {
            text.push_str(&format!(
                "<h3>when the failure became likely</h3>\n<pre class=\"message\">{}</pre>\n<div class=\"chart\">{}</div>\n",
                escape(causality_words(document).trim_end()),
                causality_svg(document)
            ));
        }
        if let Some(document) = &self.suspects {
            text.push_str(&format!(
                "<h3>what goes with the failure</h3>\n<pre class=\"wide\">{}</pre>\n",
                escape(document.lay_out(Style::PLAIN).trim_end())
            ));
        }
        if let Some(playback) = &self.playback {
            text.push_str(&format!("<h3>the run, step by step</h3>\n{}", playback.html()));
        }
        if let Some(timeline) = &self.timeline {
            let page = escape(&timeline.text());
            text.push_str(&format!(
                "<h3>machines and messages over virtual time</h3>\n\
                 <iframe class=\"timeline\" title=\"Timeline\" sandbox=\"allow-scripts\" srcdoc=\"{page}\"></iframe>\n"
            ));
        }
        for (name, shown) in [
            ("profile", self.profile.as_ref().map(|top| top.lay_out(Style::PLAIN))),
            ("memory", self.memory.as_ref().map(|top| top.lay_out(Style::PLAIN))),
        ] {
            if let Some(shown) = shown {
                text.push_str(&format!(
                    "<details class=\"output\"><summary>{name}</summary><pre class=\"wide\">{}</pre></details>\n",
                    escape(shown.trim_end())
                ));
            }
        }
        text.extend(self.remarks.iter().map(|remark| format!("<p class=\"remark\">{}</p>\n", escape(remark))));
        text
    }
}

/// How a failure became small.
pub(super) fn shrink(shrink: &ShrinkSummary) -> String {
    let how = if shrink.minimal { "nothing smaller fails so" } else { "smaller ones may fail so" };
    let (before, after) = (&shrink.before, &shrink.after);
    let rows = [
        ("steps", before.steps, after.steps),
        ("machines", before.machines, after.machines),
        ("planned faults", before.faults, after.faults),
        ("strikes of faults", before.strikes, after.strikes),
        ("decisions", before.decisions, after.decisions),
        ("bytes of input", before.input_bytes, after.input_bytes),
    ];
    let row = |(what, before, after): &(&str, usize, usize)| {
        format!("<tr><td>{what}</td><td class=\"n\">{before}</td><td class=\"n\">{after}</td></tr>\n")
    };
    let rows: String = rows.iter().filter(|(_, before, _)| *before > 0).map(row).collect();
    format!(
        "<h3>shrunk</h3>\n<p>from <code>{}</code>, in {}; {how}</p>\n<table>\n<thead><tr><th></th><th class=\"n\">before</th>\
         <th class=\"n\">after</th></tr></thead>\n{rows}</table>\n",
        escape(&shrink.source),
        counted(shrink.executions, "execution"),
    )
}
