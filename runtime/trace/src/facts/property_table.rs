//! How properties stand over many executions: each as in the one that has come furthest, and one that failed has failed.
//!
//! ```text
//! never reached  <  never true  <  passed  <  failed
//! ```
//!
//! Invariants: the order of executions makes no difference but to places; a table is bounded in its rows and their texts, what failed
//! or was never met goes first, and rows that are left out are counted.
//! Not here: what one execution says of its properties (`properties`).

use super::cut;
use super::properties::{PROPERTIES_MAX, Properties, Property, PropertyKind, PropertyState};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows of a table: more are read by nobody, and a store's value has room for them whatever their texts are.
pub const PROPERTY_ROWS_MAX: usize = 256;
/// Bytes of a name or a place in a row.
const TEXT_BYTES_MAX: usize = 160;

/// How one property stands over all executions.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PropertyStatus {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: PropertyKind,
    /// How it stands.
    pub state: PropertyState,
    /// Where it stands in the source, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// How the properties of a program stand over all executions of a search.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PropertyTable {
    /// The properties: those that failed, were never true, were never reached, and the others; by name.
    pub rows: Vec<PropertyStatus>,
    /// Further ones, at least.
    #[serde(skip_serializing_if = "is_zero")]
    pub more: u64,
}

/// Properties of all executions that were looked at, [`PROPERTIES_MAX`] at most: names that are made from values have no end.
#[derive(Clone, Debug, Default)]
pub struct PropertyStatuses {
    by_name: BTreeMap<String, PropertyStatus>,
    /// The [version](Properties::version) of those that were looked at last, all of them.
    latest: Option<u64>,
}

impl PropertyStatuses {
    /// Whether none was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Looks at the properties of one execution. Those that a program lists are in all of them: they are looked at once, and again when they are
    /// reached. An execution that says nothing of any has those of the one before it, which are not looked at again.
    #[inline]
    pub fn observe_all(&mut self, properties: &Properties) {
        if self.latest.replace(properties.version()) != Some(properties.version()) {
            self.observe_each(properties);
        }
    }

    fn observe_each(&mut self, properties: &Properties) {
        let is_first = self.is_empty();
        for (name, property) in properties.iter().filter(|(_, property)| is_first || property.evaluated > 0) {
            self.observe(name, property);
        }
    }

    /// Looks at one property.
    pub fn observe(&mut self, name: &str, property: &Property) {
        let state = property.state();
        match self.by_name.get_mut(name) {
            Some(known) if rank(known.state) < rank(state) => known.state = state,
            Some(_) => {}
            None => self.add(PropertyStatus {
                name: name.to_owned(),
                kind: property.kind,
                state,
                place: property.place.as_deref().map(|place| cut(place, TEXT_BYTES_MAX)),
            }),
        }
    }

    /// Whether to [`observe`](PropertyStatuses::observe) this property would change nothing.
    #[must_use]
    pub fn knows(&self, name: &str, property: &Property) -> bool {
        self.by_name.get(name).is_some_and(|known| rank(known.state) >= rank(property.state()))
    }

    fn add(&mut self, row: PropertyStatus) {
        if let Some(known) = self.by_name.get_mut(&row.name) {
            if rank(known.state) < rank(row.state) {
                known.state = row.state;
            }
            known.place = known.place.take().or(row.place);
        } else if self.by_name.len() < PROPERTIES_MAX {
            self.by_name.insert(row.name.clone(), row);
        }
    }

    /// As they are shown and kept.
    #[must_use]
    pub fn table(&self) -> PropertyTable {
        let mut rows: Vec<&PropertyStatus> = self.by_name.values().collect();
        // Those of a state stay in the order of their names.
        rows.sort_by_key(|row| place_of(row.state));
        let more = rows.len().saturating_sub(PROPERTY_ROWS_MAX) as u64;
        let text = |text: &str| cut(text, TEXT_BYTES_MAX);
        let shown = rows.into_iter().take(PROPERTY_ROWS_MAX);
        let row = |row: &PropertyStatus| PropertyStatus {
            name: text(&row.name),
            place: row.place.as_deref().map(text),
            ..*row
        };
        PropertyTable { rows: shown.map(row).collect(), more }
    }
}

impl PropertyTable {
    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == PropertyTable::default()
    }

    /// Takes what another search of the same program has seen.
    pub fn merge(&mut self, other: &PropertyTable) {
        let mut all = PropertyStatuses::default();
        self.rows.iter().chain(&other.rows).for_each(|row| all.add(row.clone()));
        let PropertyTable { rows, more } = all.table();
        *self = PropertyTable { rows, more: more.max(self.more).max(other.more) };
    }
}

/// How far it has come.
const fn rank(state: PropertyState) -> u8 {
    match state {
        PropertyState::NeverReached => 0,
        PropertyState::NeverTrue => 1,
        PropertyState::Passed => 2,
        PropertyState::Failed => 3,
    }
}

/// Its place in a table.
const fn place_of(state: PropertyState) -> u8 {
    match state {
        PropertyState::Failed => 0,
        PropertyState::NeverTrue => 1,
        PropertyState::NeverReached => 2,
        PropertyState::Passed => 3,
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands references over")]
fn is_zero(more: &u64) -> bool {
    *more == 0
}

#[cfg(test)]
mod tests {
    use super::super::PropertyEvaluation;
    use super::*;

    fn execution(evaluations: &[(PropertyKind, &'static str, bool)]) -> Properties {
        let mut properties = Properties::default();
        for (kind, name) in [(PropertyKind::Sometimes, "full"), (PropertyKind::Reachable, "retry")] {
            assert_eq!(properties.declare(kind, name, "a.rs:1"), Ok(None));
        }
        for (kind, name, holds) in evaluations {
            let seen = PropertyEvaluation { kind: *kind, name, holds: *holds, distance: None, details: None };
            drop(properties.see(seen));
        }
        properties
    }

    fn stands(table: &PropertyTable) -> Vec<(&str, &str)> {
        table.rows.iter().map(|row| (row.name.as_str(), row.state.name())).collect()
    }

    #[test]
    fn what_one_execution_has_reached_is_reached_and_what_failed_once_has_failed() {
        let (mut one, mut other) = (PropertyStatuses::default(), PropertyStatuses::default());
        one.observe_all(&execution(&[]));
        assert_eq!(stands(&one.table()), [("full", "never reached"), ("retry", "never reached")]);
        one.observe_all(&execution(&[(PropertyKind::Sometimes, "full", false)]));
        one.observe_all(&execution(&[(PropertyKind::Always, "sum", false)]));
        one.observe_all(&execution(&[(PropertyKind::Always, "sum", true)]));
        let expected = [("sum", "failed"), ("full", "never true"), ("retry", "never reached")];
        assert_eq!(stands(&one.table()), expected);
        other.observe_all(&execution(&[(PropertyKind::Sometimes, "full", true), (PropertyKind::Always, "sum", true)]));
        let (mut left, mut right) = (one.table(), other.table());
        left.merge(&other.table());
        right.merge(&one.table());
        assert_eq!(stands(&left), [("sum", "failed"), ("retry", "never reached"), ("full", "passed")]);
        assert_eq!(stands(&left), stands(&right));
        assert_eq!(left.rows[1].place.as_deref(), Some("a.rs:1"));
    }

    #[test]
    fn properties_are_looked_at_again_whenever_something_was_said_of_one() {
        let mut statuses = PropertyStatuses::default();
        statuses.observe_all(&Properties::default());
        let start = execution(&[]);
        let reached = |holds| {
            let mut properties = start.clone();
            let (kind, name) = (PropertyKind::Sometimes, "full");
            let seen = PropertyEvaluation { kind, name, holds, distance: None, details: None };
            assert_eq!(properties.see(seen), Ok(None));
            properties
        };
        // As in a campaign: each execution begins with the properties of the start.
        let executions = [start.clone(), start.clone(), reached(false), start.clone(), reached(true), start.clone()];
        let states = executions.each_ref().map(|properties| {
            statuses.observe_all(properties);
            stands(&statuses.table())[0].1.to_owned()
        });
        let states = states.each_ref().map(String::as_str);
        assert_eq!(states[..4], ["never reached", "never reached", "never true", "never true"]);
        assert_eq!(stands(&statuses.table()), [("retry", "never reached"), ("full", "passed")]);
    }

    #[test]
    fn a_table_is_bounded_and_says_what_it_leaves_out() {
        let mut all = PropertyStatuses::default();
        for number in 0..300 {
            let long = "é".repeat(400);
            let (name, state) = (format!("{number:03}{long}"), PropertyState::Passed);
            all.add(PropertyStatus { name, kind: PropertyKind::Always, state, place: Some(long) });
        }
        let last =
            PropertyStatus { name: "zz".to_owned(), state: PropertyState::NeverTrue, ..all.table().rows[0].clone() };
        all.add(last);
        let mut table = all.table();
        assert_eq!((table.rows.len(), table.more, &*table.rows[0].name), (PROPERTY_ROWS_MAX, 45, "zz"));
        assert!(
            table.rows.iter().all(|row| row.name.len() < 170 && row.place.as_ref().is_some_and(|it| it.len() < 170))
        );
        let before = table.clone();
        table.merge(&before);
        assert_eq!(table, before, "the same once more is nothing more");
    }
}
