//! Values as text, and their parts one level at a time.
//!
//! ```text
//! Rect { w: 2, h: 3 }     [1, 2, 3]     {"one": 1, "two": 2}     0x1f40 "hello"     {x = 3, y = -4}
//! ```
//!
//! Invariant: text is bounded in depth and length; what is cut is marked by `…`.

use super::location::FrameValues;
use super::module::DebugInfo;
use super::types::Shape;
use super::value::Value;
use super::views::View;

/// Longest text of one value, in bytes.
const TEXT_BYTES_MAX: usize = 1024;
/// Longest text of the program that is shown in a value, in bytes.
const STRING_BYTES_MAX: u64 = 256;
/// Levels of parts in one text.
const DEPTH_MAX: usize = 4;
/// Elements of a sequence that are shown in a text.
const ELEMENTS_MAX: u64 = 32;
/// Pointers that are followed for the parts of a value.
const POINTERS_MAX: usize = 8;

/// A value as it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueText {
    /// The value, in one line.
    pub text: String,
    /// The name of its type.
    pub type_name: String,
    /// How many named parts it has.
    pub named: u64,
    /// How many numbered parts it has.
    pub indexed: u64,
    /// Its address, if it is in memory.
    pub address: Option<u64>,
}

impl DebugInfo {
    /// A value in one line, and how many parts it has.
    #[must_use]
    pub fn render(&self, value: &Value, frame: &dyn FrameValues) -> ValueText {
        let mut text = String::new();
        self.write(value, frame, 0, &mut text);
        cut(&mut text);
        let (named, indexed) = self.counts(&self.view(value, frame), frame, 0);
        ValueText { text, type_name: self.type_name(&value.ty), named, indexed, address: value.address() }
    }

    /// The parts of a value from `start` on, at most `count`, each with its name.
    #[must_use]
    pub fn parts(&self, value: &Value, frame: &dyn FrameValues, start: u64, count: u64) -> Vec<(String, Value)> {
        let skip = usize::try_from(start).unwrap_or(usize::MAX);
        let take = usize::try_from(count).unwrap_or(usize::MAX);
        let mut view = self.view(value, frame);
        for _ in 0..POINTERS_MAX {
            let View::Pointer { target: Some(target), .. } = view else { break };
            let next = self.view(&target, frame);
            if self.counts(&next, frame, 0) == (0, 0) {
                return vec![("*".to_owned(), *target)].into_iter().skip(skip).take(take).collect();
            }
            view = next;
        }
        match view {
            View::Fields { fields, .. } => fields.into_iter().skip(skip).take(take).collect(),
            View::Elements { base, element, count: all } => {
                let end = start.saturating_add(count).min(all);
                (start..end).map(|at| (format!("[{at}]"), self.element(&base, &element, at))).collect()
            }
            View::Items { items, .. } => {
                let numbered = items.into_iter().enumerate().skip(skip).take(take);
                numbered.map(|(at, item)| (format!("[{at}]"), item)).collect()
            }
            View::Pairs { entries, .. } => {
                let shown = entries.into_iter().skip(skip).take(take);
                shown.map(|(key, value)| (format!("[{}]", self.render(&key, frame).text), value)).collect()
            }
            View::Plain(_) | View::Text { .. } | View::Pointer { .. } | View::Unavailable(_) => Vec::new(),
        }
    }

    fn counts(&self, view: &View, frame: &dyn FrameValues, depth: usize) -> (u64, u64) {
        match view {
            View::Fields { fields, .. } => (fields.len() as u64, 0),
            View::Elements { count, .. } => (0, *count),
            View::Items { items, .. } => (0, items.len() as u64),
            View::Pairs { entries, .. } => (entries.len() as u64, 0),
            View::Pointer { target: Some(target), .. } if depth < POINTERS_MAX => {
                match self.counts(&self.view(target, frame), frame, depth + 1) {
                    (0, 0) => (1, 0),
                    counts => counts,
                }
            }
            View::Pointer { .. } | View::Plain(_) | View::Text { .. } | View::Unavailable(_) => (0, 0),
        }
    }

    fn write(&self, value: &Value, frame: &dyn FrameValues, depth: usize, out: &mut String) {
        if out.len() > TEXT_BYTES_MAX {
            return;
        }
        match self.view(value, frame) {
            View::Unavailable(why) => out.push_str(&format!("<{why}>")),
            View::Plain(text) => out.push_str(&text),
            View::Text { address, length, is_pointer, ends_at_zero } => {
                if is_pointer {
                    out.push_str(&format!("{address:#x} "));
                }
                out.push_str(&string_text(address, length, ends_at_zero, frame));
            }
            View::Pointer { address, target, is_transparent } => match target {
                Some(target) if is_transparent && depth < DEPTH_MAX => self.write(&target, frame, depth + 1, out),
                _ => out.push_str(&format!("{address:#x}")),
            },
            _ if depth >= DEPTH_MAX => out.push('…'),
            View::Fields { name, fields, is_tuple } => {
                self.write_fields(value, name.as_deref(), &fields, is_tuple, frame, depth, out);
            }
            View::Elements { base, element, count } => {
                let shown = (0..count.min(ELEMENTS_MAX)).map(|at| self.element(&base, &element, at));
                self.write_list(shown, count, frame, depth, out);
            }
            View::Items { items, count } => {
                let most = usize::try_from(ELEMENTS_MAX).unwrap_or(usize::MAX);
                self.write_list(items.into_iter().take(most), count, frame, depth, out);
            }
            View::Pairs { entries, count } => {
                out.push('{');
                for (position, (key, value)) in entries.iter().enumerate() {
                    if position as u64 == ELEMENTS_MAX || out.len() > TEXT_BYTES_MAX {
                        out.push_str(&format!(", … {} more", count.saturating_sub(position as u64)));
                        break;
                    }
                    out.push_str(if position == 0 { "" } else { ", " });
                    self.write(key, frame, depth + 1, out);
                    out.push_str(": ");
                    self.write(value, frame, depth + 1, out);
                }
                out.push('}');
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one view, and where they go")]
    fn write_fields(
        &self,
        value: &Value,
        name: Option<&str>,
        fields: &[(String, Value)],
        is_tuple: bool,
        frame: &dyn FrameValues,
        depth: usize,
        out: &mut String,
    ) {
        let is_rust = self.type_info(&value.ty).is_rust;
        out.push_str(name.unwrap_or_default());
        if fields.is_empty() {
            if name.is_none() {
                out.push_str(if is_rust { "()" } else { "{}" });
            }
            return;
        }
        let (open, close, between) = match (is_rust, is_tuple) {
            (_, true) => ("(", ")", ""),
            (true, false) => (if name.is_some() { " { " } else { "{ " }, " }", ": "),
            (false, false) => ("{", "}", " = "),
        };
        out.push_str(open);
        for (position, (field, part)) in fields.iter().enumerate() {
            out.push_str(if position == 0 { "" } else { ", " });
            if out.len() > TEXT_BYTES_MAX {
                out.push('…');
                break;
            }
            if !is_tuple {
                out.push_str(field);
                out.push_str(between);
            }
            self.write(part, frame, depth + 1, out);
        }
        out.push_str(close);
    }

    fn write_list(
        &self,
        shown: impl Iterator<Item = Value>,
        count: u64,
        frame: &dyn FrameValues,
        depth: usize,
        out: &mut String,
    ) {
        out.push('[');
        let mut written = 0u64;
        for part in shown {
            if out.len() > TEXT_BYTES_MAX {
                break;
            }
            out.push_str(if written == 0 { "" } else { ", " });
            let before = out.len();
            self.write(&part, frame, depth + 1, out);
            written += 1;
            // A sequence outside of the memory is said to be so once.
            if matches!(self.type_info(&part.ty).shape, Shape::Basic(_)) && out[before..].starts_with("<0x") {
                break;
            }
        }
        if written < count {
            out.push_str(&format!(", … {} more", count - written));
        }
        out.push(']');
    }
}

/// Text of the program in quotes, or why it cannot be read.
fn string_text(address: u64, length: Option<u64>, ends_at_zero: bool, frame: &dyn FrameValues) -> String {
    let wanted = length.unwrap_or(STRING_BYTES_MAX).min(STRING_BYTES_MAX);
    let mut bytes = vec![0; usize::try_from(wanted).unwrap_or(0)];
    let mut more = length.is_none_or(|length| length > wanted);
    if !frame.read_memory(address, &mut bytes) {
        if length.is_some() {
            return format!("<{address:#x} is outside of the memory>");
        }
        // It may end before the memory does: byte by byte.
        bytes.clear();
        for at in 0..wanted {
            let mut byte = [0];
            if !frame.read_memory(address.wrapping_add(at), &mut byte) {
                break;
            }
            bytes.push(byte[0]);
            if byte[0] == 0 {
                break;
            }
        }
        if bytes.is_empty() {
            return format!("<{address:#x} is outside of the memory>");
        }
    }
    if let Some(end) = bytes.iter().position(|byte| *byte == 0).filter(|_| ends_at_zero) {
        bytes.truncate(end);
        more = false;
    }
    let text = String::from_utf8_lossy(&bytes);
    format!("{:?}{}", text, if more { "…" } else { "" })
}

fn cut(text: &mut String) {
    if text.len() > TEXT_BYTES_MAX {
        let mut end = TEXT_BYTES_MAX;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
}
