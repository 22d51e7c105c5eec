//! Messages of a test, and Lamport diagrams of them.
//!
//! ```text
//!  c3      n0      n1
//!   │ echo  │       │        a line from where a message was sent to where it was received;
//!   ╲──────▶│       │        time goes down, one row for each event; a cross ends what was lost
//! ```

use crate::html::escape;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Events of one diagram: more would not be read.
pub const DIAGRAM_EVENTS: usize = 1_000;
/// Events that are kept; those behind are counted.
pub const JOURNAL_EVENTS_MAX: usize = 100_000;

/// Units of length of a diagram.
const COLUMN: usize = 120;
const ROW: usize = 16;
const TOP: usize = 40;

/// A message is sent, received or lost.
#[derive(Clone, Debug)]
pub struct MessageEvent {
    /// Nanoseconds since the start of the test.
    pub at: u64,
    /// Which.
    pub kind: MessageEventKind,
    /// The number of the message.
    pub id: u64,
    /// Who sent it.
    pub src: String,
    /// For whom it is.
    pub dest: String,
    /// What its body calls itself.
    pub label: String,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageEventKind {
    /// It was sent.
    Send,
    /// It was received.
    Receive,
    /// It is lost.
    Lost,
}

/// An event as the driver of a test prints it.
#[derive(Deserialize)]
struct JournalLine<'a> {
    at: u64,
    event: MessageEventKind,
    id: u64,
    src: Cow<'a, str>,
    dest: Cow<'a, str>,
    body: Value,
}

impl MessageEvent {
    /// Reads a line of the driver; `None` when it is no event.
    #[must_use]
    pub fn read(line: &str) -> Option<MessageEvent> {
        let JournalLine { at, event, id, src, dest, body } = serde_json::from_str(line).ok()?;
        let label = body["type"].as_str().unwrap_or_default().to_owned();
        let (src, dest) = (src.into_owned(), dest.into_owned());
        Some(MessageEvent { at, kind: event, id, src, dest, label })
    }
}

/// A diagram of some events, one after the other.
#[must_use]
pub fn lamport_svg(events: &[MessageEvent]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for name in events.iter().flat_map(|event| [event.src.as_str(), event.dest.as_str()]) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // Clients left, then nodes, then services; `n2` before `n10`.
    let place = |name: &str| (!name.starts_with('c'), name.contains("-kv") || name.contains("-tso"), name.len());
    names.sort_by(|one, other| place(one).cmp(&place(other)).then(one.cmp(other)));
    let column = |name: &str| names.iter().position(|known| *known == name).unwrap_or(0) * COLUMN + COLUMN;
    let (width, height) = ((names.len() + 1) * COLUMN, events.len() * ROW + 2 * TOP);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n"
    );
    for name in &names {
        let x = column(name);
        let _ = writeln!(
            svg,
            "<line x1=\"{x}\" y1=\"{TOP}\" x2=\"{x}\" y2=\"{}\" stroke=\"#ccc\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\" font-weight=\"bold\">{}</text>",
            height - TOP / 2,
            TOP / 2,
            escape(name)
        );
    }
    let mut sent: BTreeMap<u64, usize> = BTreeMap::new();
    let mut last_ms = None;
    for (number, event) in events.iter().enumerate() {
        let y = TOP + number * ROW + ROW / 2;
        let ms = event.at / 1_000_000;
        if last_ms.replace(ms) != Some(ms) {
            let _ = writeln!(svg, "<text x=\"4\" y=\"{}\" fill=\"#888\">{ms} ms</text>", y + 4);
        }
        if event.kind == MessageEventKind::Send {
            sent.insert(event.id, y);
            continue;
        }
        arrow(
            &mut svg,
            event,
            (column(&event.src), sent.get(&event.id).copied().unwrap_or(TOP)),
            (column(&event.dest), y),
        );
    }
    svg.push_str("</svg>\n");
    svg
}

/// A message, from where it was sent to where it ended.
fn arrow(svg: &mut String, event: &MessageEvent, (x1, y1): (usize, usize), (x2, y2): (usize, usize)) {
    let is_lost = event.kind == MessageEventKind::Lost;
    let colour = match event.src.starts_with('c') || event.dest.starts_with('c') {
        _ if is_lost => "#d33",
        true => "#47b",
        false => "#444",
    };
    let title = format!("message {} from {} to {}: {}", event.id, event.src, event.dest, event.label);
    let end = if is_lost { "✕" } else { "●" };
    let _ = writeln!(
        svg,
        "<g><title>{}</title><line x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\" stroke=\"{colour}\"/>\
         <text x=\"{x2}\" y=\"{}\" text-anchor=\"middle\" fill=\"{colour}\">{end}</text>\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"{colour}\">{}</text></g>",
        escape(&title),
        y2 + 4,
        usize::midpoint(x1, x2),
        usize::midpoint(y1, y2).saturating_sub(2),
        escape(&event.label)
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_lines_from_sender_to_receiver() {
        let line = |at: u64, event: &str, id: u64| {
            format!(r#"{{"at":{at},"event":"{event}","id":{id},"src":"c0","dest":"n<1","body":{{"type":"echo"}}}}"#)
        };
        let lines = [line(0, "send", 1), line(0, "send", 2), line(5_000_000, "receive", 1), line(5_000_000, "lost", 2)];
        let events: Vec<MessageEvent> = lines.iter().filter_map(|line| MessageEvent::read(line)).collect();
        assert_eq!(events.len(), 4);
        assert!(MessageEvent::read(r#"{"net":{}}"#).is_none());
        let svg = lamport_svg(&events);
        assert!(svg.contains("message 1 from c0 to n&lt;1: echo") && svg.contains("5 ms"), "{svg}");
        assert_eq!((svg.matches('●').count(), svg.matches('✕').count()), (1, 1), "{svg}");
        assert!(svg.contains("x1=\"120\" y1=\"48\" x2=\"240\" y2=\"80\""), "{svg}");
    }
}
