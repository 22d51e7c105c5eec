//! The messages of a run as a space-time diagram: a line down for each machine, an arrow for each message, in the order of their moments.
//!
//! ```text
//!        main        server
//! 0s      ●────╮       │
//! 3ms     │    ╰──────▶●
//! 9ms     ◀────────────●
//! 10ms    ◆ assertion failed
//! ```
//!
//! One row is one event, whatever time passes between two of them: what came before what is seen, and how long it took is written at the left.
//!
//! Invariants: one SVG without scripts, whose colours are those of the page that it stands in; equal runs give equal bytes; bounded, and what
//! is left out is said.

use super::activity::{NoteKind, RunActivity};
use crate::html::escape;
use fozzy_trace::{Instant, NodeId, counted};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Messages that are shown: the last ones, since a run is looked at for its end.
const MESSAGES_MAX: usize = 40;
/// Findings and strikes of faults that are shown, the last ones.
const NOTES_MAX: usize = 20;
/// Machines that have room beside each other; with more, those are shown that the messages are of.
const MACHINES_MAX: usize = 12;
/// Characters of a finding or a strike.
const NOTE_CHARS_MAX: usize = 60;
/// Room of the times at the left, of a machine, and of an event.
const TIMES_WIDTH: usize = 110;
const LANE_WIDTH_MAX: usize = 240;
const WIDTH: usize = 1000;
const ROW_HEIGHT: usize = 18;
const HEAD_HEIGHT: usize = 34;

/// What stands in a row.
#[derive(Clone, Copy)]
enum Event {
    Sent(usize),
    Read(usize),
    Note(usize),
}

/// The diagram with a sentence below it; `None` of a run without messages between machines.
#[must_use]
pub fn space_time(activity: &RunActivity) -> Option<String> {
    let messages: Vec<usize> = (0..activity.flows.len()).filter(|at| is_between(activity, *at)).collect();
    let shown = &messages[messages.len().saturating_sub(MESSAGES_MAX)..];
    let first = shown.first().map(|at| activity.flows[*at].sent)?;
    let is_shown = |at: &usize| {
        let note = &activity.notes[*at];
        matches!(note.kind, NoteKind::Finding | NoteKind::Fault) && note.at >= first
    };
    let notes: Vec<usize> = (0..activity.notes.len()).filter(is_shown).collect();
    let notes = &notes[notes.len().saturating_sub(NOTES_MAX)..];
    let lanes = lanes(activity, shown, notes);
    let mut rows: Vec<(Instant, u8, Event)> = Vec::new();
    for at in shown {
        rows.push((activity.flows[*at].sent, 0, Event::Sent(*at)));
        rows.push((activity.flows[*at].read, 1, Event::Read(*at)));
    }
    rows.extend(notes.iter().map(|at| (activity.notes[*at].at, 2, Event::Note(*at))));
    rows.sort_by_key(|(at, rank, _)| (*at, *rank));
    let missing = messages.len() - shown.len();
    let above = if missing > 0 {
        format!("; {} before are left out", counted(missing as u64, "message"))
    } else {
        String::new()
    };
    let told = format!("{} between machines, a row an event{above}", counted(shown.len() as u64, "message"));
    Some(format!("{}<p class=\"remark\">{told}</p>\n", drawing(activity, &lanes, &rows)))
}

fn is_between(activity: &RunActivity, flow: usize) -> bool {
    let flow = &activity.flows[flow];
    flow.from != flow.to
}

/// The machines that have a line, in their order.
fn lanes(activity: &RunActivity, messages: &[usize], notes: &[usize]) -> Vec<NodeId> {
    let all = activity.machines();
    if all.len() <= MACHINES_MAX {
        return all;
    }
    let flows = messages.iter().flat_map(|at| [activity.flows[*at].from, activity.flows[*at].to]);
    let named: BTreeSet<NodeId> = flows.chain(notes.iter().map(|at| activity.notes[*at].node)).collect();
    named.into_iter().collect()
}

fn drawing(activity: &RunActivity, lanes: &[NodeId], rows: &[(Instant, u8, Event)]) -> String {
    let width = ((WIDTH - TIMES_WIDTH) / lanes.len().max(1)).clamp(60, LANE_WIDTH_MAX);
    let lane = |node: NodeId| {
        let place = lanes.iter().position(|other| *other == node).unwrap_or(0);
        TIMES_WIDTH + place * width + width / 2
    };
    let row = |place: usize| HEAD_HEIGHT + place * ROW_HEIGHT + ROW_HEIGHT / 2;
    let (all, height) = (TIMES_WIDTH + lanes.len() * width, HEAD_HEIGHT + (rows.len() + 1) * ROW_HEIGHT);
    let mut svg = format!(
        "<svg class=\"spacetime\" viewBox=\"0 0 {all} {height}\" width=\"{all}\" role=\"img\" aria-label=\"Messages between machines, in their order\">\n\
         <defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
    );
    for node in lanes {
        let (x, name) = (lane(*node), escape(&activity.name(*node)));
        let _ = writeln!(svg, "<text class=\"name\" x=\"{x}\" y=\"18\" text-anchor=\"middle\">{name}</text>");
        let _ = writeln!(svg, "<path class=\"lane\" d=\"M{x} 26V{height}\"/>");
    }
    let mut before = None;
    for (place, (at, _, event)) in rows.iter().enumerate() {
        let y = row(place);
        if before.replace(*at) != Some(*at) {
            let _ = writeln!(
                svg,
                "<text class=\"time\" x=\"{}\" y=\"{}\" text-anchor=\"end\">{at}</text>",
                TIMES_WIDTH - 14,
                y + 4
            );
        }
        match event {
            Event::Sent(flow) => {
                let flow_of = &activity.flows[*flow];
                let is_read = |(_, _, other): &(Instant, u8, Event)| matches!(other, Event::Read(read) if read == flow);
                let read = rows.iter().position(is_read).unwrap_or(place);
                let (from, to) = (lane(flow_of.from), lane(flow_of.to));
                let _ = writeln!(
                    svg,
                    "<path class=\"message\" d=\"M{from} {y}L{to} {}\" marker-end=\"url(#arrow)\"><title>{}, sent {}, read {}</title></path>\n\
                     <circle class=\"sent\" cx=\"{from}\" cy=\"{y}\" r=\"3\"/>",
                    row(read),
                    counted(flow_of.bytes, "byte"),
                    flow_of.sent,
                    flow_of.read
                );
            }
            Event::Read(_) => {}
            Event::Note(note) => {
                let note = &activity.notes[*note];
                let (x, class) = (lane(note.node), note.kind.name());
                // At the right there is no room for a text.
                let (at, anchor) = if x * 2 > all { (x - 9, "end") } else { (x + 9, "start") };
                let text: String = note.text.lines().next().unwrap_or_default().chars().take(NOTE_CHARS_MAX).collect();
                let _ = writeln!(
                    svg,
                    "<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"5\"/>\n<text class=\"{class}\" x=\"{at}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                    y + 4,
                    escape(&text)
                );
            }
        }
    }
    svg + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::{MESSAGES_MAX, space_time};
    use crate::profile::{MessageFlow, NoteKind, RunActivity, RunNote};
    use fozzy_trace::{Instant, NodeId};

    fn activity(messages: u64) -> RunActivity {
        let flow = |at: u64| MessageFlow {
            from: NodeId((at % 2) as u32),
            sent: Instant(at * 10),
            to: NodeId((at % 2) as u32 ^ 1),
            read: Instant(at * 10 + 25),
            bytes: at,
            tasks: (None, None),
        };
        let text = "it <fails>\nin two lines".to_owned();
        let finding = RunNote { node: NodeId(1), at: Instant(messages * 10 + 30), kind: NoteKind::Finding, text };
        RunActivity {
            names: [(NodeId(0), "main".to_owned()), (NodeId(1), "<b>server".to_owned())].into(),
            flows: (0..messages).map(flow).collect(),
            notes: vec![RunNote { kind: NoteKind::Output, ..finding.clone() }, finding],
            ..RunActivity::default()
        }
    }

    #[test]
    fn messages_and_findings_stand_in_the_order_of_their_moments() {
        let drawn = space_time(&activity(3)).expect("there are messages");
        // Sent at 0, 10 and 20, read at 25, 35 and 45: the first arrow ends in the fourth row.
        assert!(drawn.contains("d=\"M230 43L470 97\" marker-end"), "{drawn}");
        assert_eq!(drawn.matches("class=\"message\"").count(), 3, "{drawn}");
        assert_eq!(drawn.matches("class=\"finding\"").count(), 2, "one mark and its text: {drawn}");
        assert!(drawn.contains(">it &lt;fails&gt;</text>") && drawn.contains("&lt;b&gt;server</text>"), "{drawn}");
        assert!(drawn.contains("3 messages between machines, a row an event</p>"), "{drawn}");
        assert_eq!(space_time(&activity(0)), None);
    }

    #[test]
    fn the_last_messages_are_shown_of_many() {
        let drawn = space_time(&activity(100)).expect("there are messages");
        assert_eq!(drawn.matches("class=\"message\"").count(), MESSAGES_MAX);
        assert!(drawn.contains("60 messages before are left out"), "{drawn}");
    }
}
