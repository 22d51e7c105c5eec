//! Properties: what a program says must hold, and how that went.
//!
//! Invariant: a name is of one kind; what must hold and does not is a failure at once.

use super::{FailureKind, ReportedFailure, cut};
use crate::choice::{ChoiceError, check_name};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// Properties that a program can have. One more ends it: a report of thousands is unreadable, and names made
/// from values would have no end.
pub const PROPERTIES_MAX: usize = 4096;
/// Bytes of a property's details that are kept.
const DETAILS_BYTES_MAX: usize = 4096;
/// Combinations of its parts that are kept of a property. Further ones are as good as known: a search has enough to go by.
const COMBINATIONS_MAX: usize = 256;

/// Kinds of properties.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PropertyKind {
    /// Holds each time, and is evaluated.
    Always,
    /// Holds each time, if it is evaluated.
    AlwaysOrUnreachable,
    /// Holds at some time.
    Sometimes,
    /// Is come by.
    Reachable,
    /// Is never come by.
    Unreachable,
}

impl PropertyKind {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PropertyKind::Always => "always",
            PropertyKind::AlwaysOrUnreachable => "always or unreachable",
            PropertyKind::Sometimes => "sometimes",
            PropertyKind::Reachable => "reachable",
            PropertyKind::Unreachable => "unreachable",
        }
    }

    /// Whether one evaluation that does not hold is a failure.
    pub(super) const fn must_hold(self) -> bool {
        matches!(self, PropertyKind::Always | PropertyKind::AlwaysOrUnreachable | PropertyKind::Unreachable)
    }
}

/// How two numbers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonOperator {
    /// Left is less.
    Less,
    /// Left is less or equal.
    AtMost,
    /// Left is greater.
    Greater,
    /// Left is greater or equal.
    AtLeast,
}

impl ComparisonOperator {
    /// Whether it holds, and by how much: a distance to the bound that is negative on its wrong side.
    #[must_use]
    pub fn of(self, left: f64, right: f64) -> (bool, f64) {
        match self {
            ComparisonOperator::Less => (left < right, right - left),
            ComparisonOperator::AtMost => (left <= right, right - left),
            ComparisonOperator::Greater => (left > right, left - right),
            ComparisonOperator::AtLeast => (left >= right, left - right),
        }
    }

    /// The sign in messages.
    #[must_use]
    pub const fn sign(self) -> &'static str {
        match self {
            ComparisonOperator::Less => "<",
            ComparisonOperator::AtMost => "<=",
            ComparisonOperator::Greater => ">",
            ComparisonOperator::AtLeast => ">=",
        }
    }
}

/// One evaluation of a property.
#[derive(Clone, Copy, Debug)]
pub struct PropertyEvaluation<'a> {
    /// Of which kind it is.
    pub kind: PropertyKind,
    /// Its name.
    pub name: &'a str,
    /// Whether it held; of `unreachable` it never does.
    pub holds: bool,
    /// By how much, for comparisons.
    pub distance: Option<f64>,
    /// What the program says about it.
    pub details: Option<&'a str>,
}

/// How a property stands.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PropertyState {
    /// As it should be.
    Passed,
    /// It did not hold.
    Failed,
    /// It was never evaluated.
    NeverReached,
    /// It was evaluated, and never held.
    NeverTrue,
}

impl PropertyState {
    /// The word in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            PropertyState::Passed => "passed",
            PropertyState::Failed => "failed",
            PropertyState::NeverReached => "never reached",
            PropertyState::NeverTrue => "never true",
        }
    }
}

/// One property.
#[derive(Debug, PartialEq)]
pub struct Property {
    /// Its kind.
    pub kind: PropertyKind,
    /// How often it was evaluated.
    pub evaluated: u64,
    /// How often it held.
    pub held: u64,
    /// The smallest distance to the bound that was seen, for comparisons.
    pub closest: Option<f64>,
    /// How far a guided comparison has come towards its bound, and beyond: negative before it.
    pub high_water: Option<f64>,
    /// Which of the parts of a guided condition held at once, a bit each.
    pub combinations: BTreeSet<u64>,
    /// Where it stands in the source, when that is known before the run.
    pub place: Option<String>,
}

impl Clone for Property {
    fn clone(&self) -> Property {
        let Property { kind, evaluated, held, closest, high_water, combinations, place } = self;
        Property {
            kind: *kind,
            evaluated: *evaluated,
            held: *held,
            closest: *closest,
            high_water: *high_water,
            combinations: combinations.clone(),
            place: place.clone(),
        }
    }

    fn clone_from(&mut self, source: &Property) {
        let Property { kind, evaluated, held, closest, high_water, combinations, place } = source;
        (self.kind, self.evaluated, self.held) = (*kind, *evaluated, *held);
        (self.closest, self.high_water) = (*closest, *high_water);
        if self.combinations != *combinations {
            self.combinations.clone_from(combinations);
        }
        if self.place != *place {
            self.place.clone_from(place);
        }
    }
}

impl Property {
    fn new(kind: PropertyKind, place: Option<String>) -> Property {
        Property { kind, evaluated: 0, held: 0, closest: None, high_water: None, combinations: BTreeSet::new(), place }
    }

    fn come_close(&mut self, distance: f64) {
        if !distance.is_nan() && self.closest.is_none_or(|closest| distance.abs() < closest.abs()) {
            self.closest = Some(distance);
        }
    }

    /// How it stands.
    #[must_use]
    pub fn state(&self) -> PropertyState {
        match self.kind {
            PropertyKind::Always if self.evaluated == 0 => PropertyState::NeverReached,
            PropertyKind::Reachable | PropertyKind::Sometimes if self.evaluated == 0 => PropertyState::NeverReached,
            PropertyKind::Sometimes if self.held == 0 => PropertyState::NeverTrue,
            kind if kind.must_hold() && self.held < self.evaluated => PropertyState::Failed,
            _ => PropertyState::Passed,
        }
    }
}

/// A property that cannot be recorded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PropertyError {
    /// Its name.
    #[error(transparent)]
    Name(#[from] ChoiceError),
    /// There are [`PROPERTIES_MAX`].
    #[error("more than {PROPERTIES_MAX} properties; the name of a property must not be made from values")]
    TooMany,
    /// Evaluations are told that say something new.
    #[error("`{0}` is unknown, or must hold and did not: such an evaluation is reported alone, not counted")]
    New(String),
    /// Guidance is of a property that is known.
    #[error("guides `{0}`, and no assertion of that name is known")]
    Unknown(String),
}

/// All properties of a program.
#[derive(Default)]
pub struct Properties {
    by_name: BTreeMap<String, Property>,
    version: u64,
}

impl Clone for Properties {
    fn clone(&self) -> Properties {
        Properties { by_name: self.by_name.clone(), version: self.version }
    }

    /// On two ways through one program the names are mostly the same, and take no allocation then.
    fn clone_from(&mut self, source: &Properties) {
        if self.version == source.version {
            return;
        }
        if self.by_name.keys().eq(source.by_name.keys()) {
            self.by_name.values_mut().zip(source.by_name.values()).for_each(|(own, other)| own.clone_from(other));
        } else {
            self.by_name.clone_from(&source.by_name);
        }
        self.version = source.version;
    }
}

impl fmt::Debug for Properties {
    /// Without the number, which is no property of theirs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Properties").field("by_name", &self.by_name).finish_non_exhaustive()
    }
}

impl PartialEq for Properties {
    fn eq(&self, other: &Properties) -> bool {
        self.by_name == other.by_name
    }
}

impl Properties {
    /// Properties of one process that have the same number are equal, so that who has looked at them need not look again. That is
    /// all that it tells: it differs between runs.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The properties, to be changed.
    #[inline]
    fn change(&mut self) -> &mut BTreeMap<String, Property> {
        /// The number of the next change of any of them; none has changed at zero.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        self.version = NEXT.fetch_add(1, Ordering::Relaxed);
        &mut self.by_name
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Property)> {
        self.by_name.iter().map(|(name, property)| (name.as_str(), property))
    }

    /// Makes a property known before the run. A second one of that name is another property, unless it is the same one
    /// once more, as an inlined function's.
    ///
    /// # Errors
    /// When the name is unfit, or there are too many.
    pub fn declare(
        &mut self,
        kind: PropertyKind,
        name: &str,
        place: &str,
    ) -> Result<Option<ReportedFailure>, PropertyError> {
        check_name(name)?;
        if let Some(known) = self.by_name.get(name) {
            let same = known.kind == kind && known.place.as_deref() == Some(place);
            let other = known.place.as_deref().unwrap_or("elsewhere");
            let message =
                format!("two properties are called `{name}`: at {other} and at {place}; a name identifies one");
            return Ok(
                (!same).then(|| ReportedFailure::new(FailureKind::Invalid, &format!("property {name}"), &message))
            );
        }
        if self.by_name.len() == PROPERTIES_MAX {
            return Err(PropertyError::TooMany);
        }
        self.change().insert(name.to_owned(), Property::new(kind, Some(cut(place, DETAILS_BYTES_MAX))));
        Ok(None)
    }

    /// Makes a property known that the running program says it has. One name may stand at several places; the first is kept.
    ///
    /// # Errors
    /// When the name is unfit, or there are too many.
    pub fn announce(
        &mut self,
        kind: PropertyKind,
        name: &str,
        place: &str,
    ) -> Result<Option<ReportedFailure>, PropertyError> {
        match self.change().get_mut(name) {
            None => self.declare(kind, name, place),
            Some(known) if known.kind == kind => {
                known.place.get_or_insert_with(|| cut(place, DETAILS_BYTES_MAX));
                Ok(None)
            }
            Some(known) => Ok(Some(two_kinds(name, known.kind, kind))),
        }
    }

    /// Counts further evaluations that say nothing new.
    ///
    /// # Errors
    /// When they do.
    pub fn again(&mut self, name: &str, held: u64, missed: u64) -> Result<(), PropertyError> {
        let known = self.change().get_mut(name).filter(|property| property.evaluated > 0);
        let known = known.filter(|property| missed == 0 || !property.kind.must_hold());
        let property = known.ok_or_else(|| PropertyError::New(cut(name, DETAILS_BYTES_MAX)))?;
        property.held = property.held.saturating_add(held);
        property.evaluated = property.evaluated.saturating_add(held).saturating_add(missed);
        Ok(())
    }

    /// Records how far the comparison of a property has come: what must hold is followed towards where it does not, and what is to hold
    /// at some time towards that.
    ///
    /// # Errors
    /// When there is no such property.
    pub fn approach(&mut self, name: &str, progress: f64) -> Result<(), PropertyError> {
        let property = self.guided(name)?;
        if progress > property.high_water.unwrap_or(f64::NEG_INFINITY) {
            property.high_water = Some(progress);
        }
        property.come_close(if property.kind.must_hold() { -progress } else { progress });
        Ok(())
    }

    /// Records which parts of a property's condition hold at once.
    ///
    /// # Errors
    /// When there is no such property.
    pub fn combine(&mut self, name: &str, parts: u64) -> Result<(), PropertyError> {
        let property = self.guided(name)?;
        if property.combinations.len() < COMBINATIONS_MAX {
            property.combinations.insert(parts);
        }
        Ok(())
    }

    fn guided(&mut self, name: &str) -> Result<&mut Property, PropertyError> {
        self.change().get_mut(name).ok_or_else(|| PropertyError::Unknown(cut(name, DETAILS_BYTES_MAX / 16)))
    }

    /// Records an evaluation. The answer is the failure that it is, if it is one.
    ///
    /// # Errors
    /// When the name is unfit, or there are too many.
    #[inline]
    pub fn see(&mut self, seen: PropertyEvaluation<'_>) -> Result<Option<ReportedFailure>, PropertyError> {
        let property = match self.change().get_mut(seen.name) {
            Some(property) => property,
            None => {
                check_name(seen.name)?;
                if self.by_name.len() == PROPERTIES_MAX {
                    return Err(PropertyError::TooMany);
                }
                self.by_name.entry(seen.name.to_owned()).or_insert_with(|| Property::new(seen.kind, None))
            }
        };
        if property.kind != seen.kind {
            return Ok(Some(two_kinds(seen.name, property.kind, seen.kind)));
        }
        property.evaluated += 1;
        property.held += u64::from(seen.holds);
        if let Some(distance) = seen.distance {
            property.come_close(distance);
        }
        Ok((!seen.holds && seen.kind.must_hold()).then(|| failed(&seen)))
    }
}

#[cold]
fn two_kinds(name: &str, first: PropertyKind, second: PropertyKind) -> ReportedFailure {
    let (first, second) = (first.name(), second.name());
    let message = format!("two properties are called `{name}`: one is `{first}`, one is `{second}`");
    ReportedFailure::new(FailureKind::Invalid, &format!("property {name}"), &message)
}

/// The failure that an evaluation is which does not hold.
#[cold]
pub(super) fn failed(seen: &PropertyEvaluation<'_>) -> ReportedFailure {
    let title = match seen.kind {
        PropertyKind::Unreachable => format!("`{}` was reached", seen.name),
        _ => format!("`{}` does not hold", seen.name),
    };
    let message = match seen.details {
        Some(details) => format!("{title}\n{}", cut(details, DETAILS_BYTES_MAX)),
        None => title,
    };
    ReportedFailure::new(FailureKind::Assertion, seen.name, &message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(kind: PropertyKind, holds: bool) -> PropertyEvaluation<'static> {
        PropertyEvaluation { kind, name: "p", holds, distance: None, details: None }
    }

    fn state(kind: PropertyKind, evaluations: &[bool]) -> PropertyState {
        let mut properties = Properties::default();
        assert_eq!(properties.declare(kind, "p", "a.rs:1"), Ok(None));
        evaluations.iter().for_each(|holds| drop(properties.see(seen(kind, *holds))));
        let (_, property) = properties.iter().next().expect("it was declared");
        property.state()
    }

    #[test]
    fn each_kind_has_its_states() {
        use PropertyKind::{Always, AlwaysOrUnreachable, Reachable, Sometimes, Unreachable};
        use PropertyState::{Failed, NeverReached, NeverTrue, Passed};
        for (kind, none, held, failed) in [
            (Always, NeverReached, Passed, Failed),
            (AlwaysOrUnreachable, Passed, Passed, Failed),
            (Sometimes, NeverReached, Passed, NeverTrue),
            (Reachable, NeverReached, Passed, Passed),
            (Unreachable, Passed, Passed, Failed),
        ] {
            assert_eq!(
                (state(kind, &[]), state(kind, &[true]), state(kind, &[false])),
                (none, held, failed),
                "{kind:?}"
            );
        }
        assert_eq!(state(Sometimes, &[false, true, false]), Passed);
    }

    #[test]
    fn what_must_hold_and_does_not_is_a_failure() {
        let mut properties = Properties::default();
        assert_eq!(properties.see(seen(PropertyKind::Always, true)), Ok(None));
        let failure =
            properties.see(PropertyEvaluation { details: Some("3 of 4"), ..seen(PropertyKind::Always, false) });
        let failure = failure.expect("a name").expect("a failure");
        assert_eq!((failure.kind, &*failure.site), (FailureKind::Assertion, "p"));
        assert_eq!(failure.message, "`p` does not hold\n3 of 4");
    }

    #[test]
    fn what_is_cloned_into_properties_of_another_way_is_as_a_new_clone() {
        let mut ways = vec![Properties::default()];
        for step in 0..400_usize {
            let (from, to) = (step * 7 % ways.len(), step * 11 % ways.len());
            let mut way = ways[from].clone();
            let name = ["p", "q", "r"][step / 5 % 3];
            let (kind, holds, distance) =
                (PropertyKind::Sometimes, step % 2 == 0, (step % 4 == 0).then_some(step as f64));
            match step % 6 {
                0 => drop(way.declare(kind, name, "a.rs:1")),
                1 => drop(way.announce(kind, name, "b.rs:2")),
                // Of one that is not known nothing is told.
                2 => drop(way.approach(name, step as f64 - 200.0)),
                3 => drop(way.combine(name, step as u64 % 9)),
                _ => drop(way.see(PropertyEvaluation { kind, name, holds, distance, details: None })),
            }
            let (changed, version) = (way.clone(), way.version());
            way.clone_from(&ways[to]);
            assert_eq!((&way, way.version()), (&ways[to], ways[to].version()), "step {step}");
            way.clone_from(&changed);
            assert_eq!((&way, way.version()), (&changed, version), "step {step}");
            ways.push(way);
        }
        assert!(ways.iter().any(|way| way.by_name.len() == 3 && way.by_name["p"].combinations.len() > 1));
    }

    #[test]
    fn a_name_is_of_one_property() {
        let mut properties = Properties::default();
        assert_eq!(properties.declare(PropertyKind::Always, "p", "a.rs:1"), Ok(None));
        assert_eq!(properties.declare(PropertyKind::Always, "p", "a.rs:1"), Ok(None), "the same once more");
        let twice = properties.declare(PropertyKind::Always, "p", "b.rs:2").expect("a name").expect("two");
        assert!(twice.message.contains("a.rs:1") && twice.message.contains("b.rs:2"), "{}", twice.message);
        let kinds = properties.see(seen(PropertyKind::Sometimes, true)).expect("a name").expect("two");
        assert_eq!(kinds.kind, FailureKind::Invalid);
        assert!(properties.see(PropertyEvaluation { name: "", ..seen(PropertyKind::Always, true) }).is_err());
        for n in 1..PROPERTIES_MAX {
            assert_eq!(properties.declare(PropertyKind::Always, &n.to_string(), ""), Ok(None));
        }
        assert_eq!(
            properties.see(PropertyEvaluation { name: "more", ..seen(PropertyKind::Always, true) }),
            Err(PropertyError::TooMany)
        );
    }

    #[test]
    fn a_property_that_is_announced_is_known_before_it_is_reached() {
        let mut properties = Properties::default();
        for place in ["ring.c:3", "ring.c:9"] {
            assert_eq!(properties.announce(PropertyKind::Sometimes, "full", place), Ok(None), "a name at two places");
        }
        let row = |properties: &Properties| {
            let (_, full) = properties.iter().next().expect("one");
            (full.state(), full.evaluated, full.place.clone())
        };
        assert_eq!(row(&properties), (PropertyState::NeverReached, 0, Some("ring.c:3".to_owned())));
        let mut late = Properties::default();
        let evaluation = PropertyEvaluation { name: "full", ..seen(PropertyKind::Sometimes, true) };
        assert_eq!(late.see(evaluation), Ok(None));
        assert_eq!(late.announce(PropertyKind::Sometimes, "full", "ring.c:3"), Ok(None));
        assert_eq!(row(&late), (PropertyState::Passed, 1, Some("ring.c:3".to_owned())));
        let other = late.announce(PropertyKind::Always, "full", "ring.c:3").expect("a name").expect("two kinds");
        assert!(other.message.contains("one is `sometimes`, one is `always`"), "{}", other.message);
        assert!(late.announce(PropertyKind::Always, "", "").is_err());
    }

    #[test]
    fn what_has_one_version_is_equal_and_each_change_has_its_own() {
        let mut properties = Properties::default();
        assert_eq!(properties.version(), Properties::default().version());
        let mut versions = BTreeSet::from([properties.version()]);
        let mut changed = |properties: &Properties| versions.insert(properties.version());
        assert_eq!(properties.declare(PropertyKind::Sometimes, "p", "a.rs:1"), Ok(None));
        assert!(changed(&properties));
        let before = properties.clone();
        assert_eq!((&before, before.version()), (&properties, properties.version()));
        assert_eq!(properties.see(seen(PropertyKind::Sometimes, true)), Ok(None));
        assert!(changed(&properties));
        assert_eq!(properties.again("p", 2, 1), Ok(()));
        assert!(changed(&properties));
        assert_eq!(properties.approach("p", -3.0), Ok(()));
        assert!(changed(&properties));
        assert_eq!(properties.combine("p", 5), Ok(()));
        assert!(changed(&properties));
        // The same change on another way is another one, and the same properties.
        let mut other = before;
        assert_eq!(other.see(seen(PropertyKind::Sometimes, true)), Ok(None));
        assert!(changed(&other));
        assert_eq!(
            (other.again("p", 2, 1), other.approach("p", -3.0), other.combine("p", 5)),
            (Ok(()), Ok(()), Ok(()))
        );
        assert_eq!(other, properties);
    }

    #[test]
    fn the_closest_number_is_kept() {
        let mut properties = Properties::default();
        for left in [1.0, 7.0, 9.5, f64::NAN, 3.0] {
            let (holds, distance) = ComparisonOperator::AtMost.of(left, 10.0);
            let seen = PropertyEvaluation { distance: Some(distance), ..seen(PropertyKind::Sometimes, holds) };
            assert_eq!(properties.see(seen), Ok(None));
        }
        assert_eq!(properties.iter().next().expect("one").1.closest, Some(0.5));
        assert_eq!(ComparisonOperator::Less.of(10.0, 10.0), (false, 0.0));
        assert_eq!(ComparisonOperator::Greater.of(12.0, 10.0), (true, 2.0));
    }
}
