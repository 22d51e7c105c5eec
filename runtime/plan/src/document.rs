//! TOML text to a JSON value, and from a key back to its place in the text.
//!
//! Moments become strings, as RFC 3339 writes them. Tables keep the order of the text.
//! Invariant: the value is nested no deeper than the parser allows (a few hundred levels), so recursion is safe.

use crate::problem::{DocumentStep, Problems, TextPosition};
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A parsed text.
pub(crate) struct Document<'t> {
    text: &'t str,
    table: Spanned<DeTable<'t>>,
}

impl<'t> Document<'t> {
    /// Parses a text; what is no TOML comes back as problems with their places.
    pub(crate) fn parse(text: &'t str) -> Result<Document<'t>, Vec<(Option<TextPosition>, String)>> {
        let (table, errors) = DeTable::parse_recoverable(text);
        let problem = |error: &toml::de::Error| {
            let place = error.span().map(|span| TextPosition::of(text, span.start));
            (place, format!("no TOML: {}", error.message().trim_end()))
        };
        match errors.is_empty() {
            true => Ok(Document { text, table }),
            false => Err(errors.iter().take(crate::PROBLEMS_MAX).map(problem).collect()),
        }
    }

    /// The whole as JSON; what JSON cannot say is a problem and left out.
    pub(crate) fn value(&self, problems: &mut Problems) -> Value {
        Value::Object(table(self.table.get_ref(), &mut Vec::new(), problems))
    }

    /// Where a key stands, or the nearest thing around it that stands anywhere.
    pub(crate) fn place(&self, path: &[DocumentStep]) -> Option<TextPosition> {
        let mut found = None;
        let mut at: Option<&DeValue<'_>> = None;
        for step in path {
            let next = match (step, at) {
                (DocumentStep::Key(key), None) => entry(self.table.get_ref(), key),
                (DocumentStep::Key(key), Some(DeValue::Table(table))) => entry(table, key),
                (DocumentStep::Index(index), Some(DeValue::Array(items))) => {
                    items.get(*index).map(|item| (item.span().start, item.get_ref()))
                }
                _ => None,
            };
            let Some((start, value)) = next else { break };
            (found, at) = (Some(start), Some(value));
        }
        found.map(|start| TextPosition::of(self.text, start))
    }
}

fn entry<'a, 't>(table: &'a DeTable<'t>, key: &str) -> Option<(usize, &'a DeValue<'t>)> {
    let (key, value) = table.iter().find(|(known, _)| known.get_ref() == key)?;
    Some((key.span().start, value.get_ref()))
}

fn table(from: &DeTable<'_>, path: &mut Vec<DocumentStep>, problems: &mut Problems) -> Map<String, Value> {
    let mut entries: Vec<_> = from.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let mut to = Map::new();
    for (key, value) in entries {
        path.push(DocumentStep::Key(key.get_ref().to_string()));
        if let Some(value) = json(value.get_ref(), path, problems) {
            to.insert(key.get_ref().to_string(), value);
        }
        path.pop();
    }
    to
}

fn json(from: &DeValue<'_>, path: &mut Vec<DocumentStep>, problems: &mut Problems) -> Option<Value> {
    Some(match from {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(value) => Value::Bool(*value),
        DeValue::Datetime(moment) => Value::String(moment.to_string()),
        DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
            Ok(number) => number.into(),
            Err(_) => {
                problems.add(path, format!("expected an integer of 64 bits, found `{number}`"));
                return None;
            }
        },
        DeValue::Float(number) => {
            let finite = number.as_str().parse().ok().and_then(serde_json::Number::from_f64);
            if finite.is_none() {
                problems.add(path, format!("expected a finite number, found `{number}`"));
            }
            finite?.into()
        }
        DeValue::Array(items) => {
            let mut to = Vec::with_capacity(items.len());
            for (index, item) in items.iter().enumerate() {
                path.push(DocumentStep::Index(index));
                // A hole would shift what follows; the problem is reported, so the value itself does not matter.
                to.push(json(item.get_ref(), path, problems).unwrap_or(Value::Null));
                path.pop();
            }
            Value::Array(to)
        }
        DeValue::Table(inner) => Value::Object(table(inner, path, problems)),
    })
}
