//! `fozzy:properties/assertions`: what must hold, and what must be possible.
//!
//! Not here: the state of properties (`fozzy_trace::facts`).

use crate::bindings::fozzy::properties::assertions;
use crate::call::{GuestStop, Host, Import};
use assertions::Comparison as Wit;
use fozzy_trace::facts::{ComparisonOperator, FailureKind, PropertyEvaluation, PropertyKind, ReportedFailure};
use wasmtime::Result;

const DECLARE: Import = Import::new("fozzy:properties/assertions.declare");
const ALWAYS: Import = Import::new("fozzy:properties/assertions.always");
const ALWAYS_OR_UNREACHABLE: Import = Import::new("fozzy:properties/assertions.always-or-unreachable");
const SOMETIMES: Import = Import::new("fozzy:properties/assertions.sometimes");
const REACHABLE: Import = Import::new("fozzy:properties/assertions.reachable");
const UNREACHABLE: Import = Import::new("fozzy:properties/assertions.unreachable");
const ALWAYS_NUMBER: Import = Import::new("fozzy:properties/assertions.always-number");
const SOMETIMES_NUMBER: Import = Import::new("fozzy:properties/assertions.sometimes-number");
const AGAIN: Import = Import::new("fozzy:properties/assertions.again");
const STATE: Import = Import::new("fozzy:properties/assertions.state");
const PANICKED: Import = Import::new("fozzy:properties/assertions.panicked");
const FAIL: Import = Import::new("fozzy:properties/assertions.fail");

type Details = Option<String>;

impl Host {
    /// Records one evaluation; one that is a failure ends the guest.
    #[inline]
    fn see(&mut self, import: Import, seen: PropertyEvaluation<'_>) -> Result<()> {
        self.call(import, ((seen.name, seen.holds), seen.details), |host| {
            match host.world().facts.properties.see(seen) {
                Ok(None) => Ok(()),
                Ok(Some(failure)) => Err(GuestStop::Failed(Box::new(failure))),
                Err(error) => Err(GuestStop::Misuse { import: import.name, what: error.to_string() }),
            }
        })
    }

    /// Evaluates a property that is no comparison.
    #[inline]
    pub(crate) fn evaluate(
        &mut self,
        kind: PropertyKind,
        name: &str,
        holds: bool,
        details: Option<&str>,
    ) -> Result<()> {
        let import = match kind {
            PropertyKind::Always => ALWAYS,
            PropertyKind::AlwaysOrUnreachable => ALWAYS_OR_UNREACHABLE,
            PropertyKind::Sometimes => SOMETIMES,
            PropertyKind::Reachable => REACHABLE,
            PropertyKind::Unreachable => UNREACHABLE,
        };
        self.see(import, PropertyEvaluation { kind, name, holds, distance: None, details })
    }

    /// Counts evaluations of a property that say nothing new.
    pub(crate) fn count_again(&mut self, name: &str, held: u64, missed: u64) -> Result<()> {
        self.call(AGAIN, (name, held, missed), |host| {
            let counted = host.world().facts.properties.again(name, held, missed);
            counted.map_err(|error| GuestStop::Misuse { import: AGAIN.name, what: error.to_string() })
        })
    }

    /// Notes a state.
    pub(crate) fn note_state(&mut self, name: &str, value: u64) -> Result<()> {
        self.call(STATE, (name, value), |host| {
            let noted = host.world().facts.states.note(name, value);
            noted.map_err(|error| GuestStop::Misuse { import: STATE.name, what: error.to_string() })
        })
    }

    fn see_numbers(
        &mut self,
        import: Import,
        (kind, name): (PropertyKind, &str),
        (left, comparison, right): (f64, Wit, f64),
        details: Option<&str>,
    ) -> Result<()> {
        let comparison = match comparison {
            Wit::Less => ComparisonOperator::Less,
            Wit::AtMost => ComparisonOperator::AtMost,
            Wit::Greater => ComparisonOperator::Greater,
            Wit::AtLeast => ComparisonOperator::AtLeast,
        };
        let (holds, distance) = comparison.of(left, right);
        let asked = ((name, left.to_bits()), (comparison.sign(), right.to_bits()));
        self.call(import, asked, |host| {
            let numbers = || format!("expected {left} {} {right}", comparison.sign());
            let words = (!holds).then(|| details.map_or_else(numbers, |details| format!("{}; {details}", numbers())));
            let seen = PropertyEvaluation { kind, name, holds, distance: Some(distance), details: words.as_deref() };
            match host.world().facts.properties.see(seen) {
                Ok(None) => Ok(()),
                Ok(Some(failure)) => Err(GuestStop::Failed(Box::new(failure))),
                Err(error) => Err(GuestStop::Misuse { import: import.name, what: error.to_string() }),
            }
        })
    }
}

fn kind(of: assertions::PropertyKind) -> PropertyKind {
    match of {
        assertions::PropertyKind::Always => PropertyKind::Always,
        assertions::PropertyKind::AlwaysOrUnreachable => PropertyKind::AlwaysOrUnreachable,
        assertions::PropertyKind::Sometimes => PropertyKind::Sometimes,
        assertions::PropertyKind::Reachable => PropertyKind::Reachable,
        assertions::PropertyKind::Unreachable => PropertyKind::Unreachable,
    }
}

impl assertions::Host for Host {
    fn declare(&mut self, properties: Vec<assertions::Property>) -> Result<()> {
        let row = |property: &assertions::Property| {
            ((kind(property.kind).name(), property.name.clone()), property.place.clone())
        };
        let asked: Vec<_> = properties.iter().map(row).collect();
        self.call(DECLARE, asked, |host| {
            let facts = &mut host.world().facts.properties;
            for property in &properties {
                match facts.announce(kind(property.kind), &property.name, &property.place) {
                    Ok(None) => {}
                    Ok(Some(failure)) => return Err(GuestStop::Failed(Box::new(failure))),
                    Err(error) => return Err(GuestStop::Misuse { import: DECLARE.name, what: error.to_string() }),
                }
            }
            Ok(())
        })
    }

    fn always(&mut self, name: String, holds: bool, details: Details) -> Result<()> {
        self.evaluate(PropertyKind::Always, &name, holds, details.as_deref())
    }

    fn always_or_unreachable(&mut self, name: String, holds: bool, details: Details) -> Result<()> {
        self.evaluate(PropertyKind::AlwaysOrUnreachable, &name, holds, details.as_deref())
    }

    fn sometimes(&mut self, name: String, holds: bool, details: Details) -> Result<()> {
        self.evaluate(PropertyKind::Sometimes, &name, holds, details.as_deref())
    }

    fn reachable(&mut self, name: String) -> Result<()> {
        self.evaluate(PropertyKind::Reachable, &name, true, None)
    }

    fn unreachable(&mut self, name: String, details: Details) -> Result<()> {
        self.evaluate(PropertyKind::Unreachable, &name, false, details.as_deref())
    }

    fn always_number(&mut self, name: String, left: f64, comparison: Wit, right: f64, details: Details) -> Result<()> {
        let numbers = (left, comparison, right);
        self.see_numbers(ALWAYS_NUMBER, (PropertyKind::Always, &name), numbers, details.as_deref())
    }

    fn sometimes_number(
        &mut self,
        name: String,
        left: f64,
        comparison: Wit,
        right: f64,
        details: Details,
    ) -> Result<()> {
        let numbers = (left, comparison, right);
        self.see_numbers(SOMETIMES_NUMBER, (PropertyKind::Sometimes, &name), numbers, details.as_deref())
    }

    fn again(&mut self, name: String, held: u64, missed: u64) -> Result<()> {
        self.count_again(&name, held, missed)
    }

    fn state(&mut self, name: String, value: u64) -> Result<()> {
        self.note_state(&name, value)
    }

    fn fail(&mut self, failure: assertions::Failure, site: String, message: String) -> Result<()> {
        let kind = match failure {
            assertions::Failure::Invariant => FailureKind::Invariant,
            assertions::Failure::Deadlock => FailureKind::Deadlock,
            assertions::Failure::Invalid => FailureKind::Invalid,
        };
        self.call(FAIL, (&*site, &*message), |_| {
            Err(GuestStop::Failed(Box::new(ReportedFailure::new(kind, &site, &message))))
        })
    }

    fn panicked(&mut self, site: String, message: String) -> Result<()> {
        let failure = || ReportedFailure::new(FailureKind::Panic, &site, &message);
        self.call(PANICKED, (&*site, &*message), |_| Err(GuestStop::Failed(Box::new(failure()))))
    }
}
