//! Breakpoints of an editor, and whether one of them stops the run.

use crate::debug::log_text::log_text;
use crate::debug::session::Inspector;
use crate::debug::values::{Programs, StoppedFrame, code_place};
use fozzy_engine::{DebugPlace, Position};
use fozzy_instrument::debug_info::Expression;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// A breakpoint as a client asks for it, of whatever kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct BreakpointRequest {
    pub(super) line: u32,
    pub(super) name: String,
    pub(super) instruction_reference: String,
    pub(super) offset: i64,
    pub(super) data_id: String,
    pub(super) condition: Option<String>,
    pub(super) hit_condition: Option<String>,
    pub(super) log_message: Option<String>,
}

/// Whose list a breakpoint is on: a client gives each list anew, as a whole.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BreakpointList {
    Source(String),
    Functions,
    Instructions,
}

/// A breakpoint with its places.
#[derive(Clone, Debug)]
pub(super) struct AdapterBreakpoint {
    pub(super) id: u64,
    pub(super) places: BTreeSet<DebugPlace>,
    condition: Option<Expression>,
    hits: Option<HitCondition>,
    log: Option<String>,
    passes: PassedPositions,
}

/// Positions at which a breakpoint was passed, from the beginning of the run on: so each pass has its number, whichever way it is come to.
#[derive(Clone, Debug, Default)]
struct PassedPositions {
    positions: Vec<u64>,
    /// Up to where they are known.
    known_to: u64,
}

impl PassedPositions {
    /// The number of the pass at a position, from 1.
    fn number(&mut self, position: u64) -> u64 {
        let before = self.positions.partition_point(|own| *own < position);
        if self.positions.get(before) != Some(&position) && position >= self.known_to {
            self.positions.truncate(before);
            self.positions.push(position);
        }
        before as u64 + 1
    }
}

/// How often a breakpoint is passed before it stops the run, counted from the beginning of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HitCondition {
    Exactly(u64),
    AtLeast(u64),
    AtMost(u64),
    Every(u64),
}

impl HitCondition {
    fn parse(text: &str) -> Option<HitCondition> {
        let text = text.trim();
        let digits = text.trim_start_matches(['>', '=', '<', '%']).trim();
        // Passes are counted from 1.
        let number: u64 = digits.parse().ok().filter(|number| *number > 0)?;
        let sign = text.split(|letter: char| letter.is_ascii_digit() || letter.is_whitespace()).next()?;
        match sign {
            "" | "=" | "==" => Some(HitCondition::Exactly(number)),
            ">=" => Some(HitCondition::AtLeast(number)),
            ">" => Some(HitCondition::AtLeast(number.checked_add(1)?)),
            "<=" => Some(HitCondition::AtMost(number)),
            "<" => Some(HitCondition::AtMost(number.checked_sub(1).filter(|most| *most > 0)?)),
            "%" => Some(HitCondition::Every(number)),
            _ => None,
        }
    }

    fn holds(self, passed: u64) -> bool {
        match self {
            HitCondition::Exactly(number) => passed == number,
            HitCondition::AtLeast(number) => passed >= number,
            HitCondition::AtMost(number) => passed <= number,
            HitCondition::Every(number) => passed.is_multiple_of(number),
        }
    }
}

impl AdapterBreakpoint {
    /// A breakpoint, or what is wrong with its conditions.
    pub(super) fn new(
        id: u64,
        places: BTreeSet<DebugPlace>,
        asked: &BreakpointRequest,
    ) -> Result<AdapterBreakpoint, String> {
        let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let condition = given(&asked.condition).map(|text| Expression::parse(&text)).transpose();
        let hits = given(&asked.hit_condition).map(|text| {
            let wrong = format!("`{text}` is no count of hits, which begins at 1, such as 3, >= 3 or % 3");
            HitCondition::parse(&text).ok_or(wrong)
        });
        Ok(AdapterBreakpoint {
            id,
            places,
            condition: condition.map_err(|error| format!("its condition: {error}"))?,
            hits: hits.transpose()?,
            log: given(&asked.log_message),
            passes: PassedPositions::default(),
        })
    }

    /// Whether it stops the run wherever it is passed.
    pub(super) fn is_plain(&self) -> bool {
        self.condition.is_none() && self.hits.is_none() && self.log.is_none()
    }
}

/// What passing a place did.
#[derive(Debug, Default)]
pub(super) struct PassedPlace {
    /// Breakpoints that stop the run.
    pub(super) hit: Vec<u64>,
    /// Texts of log points, and conditions that have no value.
    pub(super) said: Vec<String>,
}

/// Evaluates the breakpoints at a place. Backwards, nothing is logged.
pub(super) fn pass(
    breakpoints: &mut BTreeMap<BreakpointList, Vec<AdapterBreakpoint>>,
    programs: &Programs,
    inspector: &mut Inspector<'_>,
    (place, position): (DebugPlace, Position),
    is_forward: bool,
) -> PassedPlace {
    let mut passed = PassedPlace::default();
    for breakpoint in breakpoints.values_mut().flatten().filter(|breakpoint| breakpoint.places.contains(&place)) {
        if let Some(condition) = &breakpoint.condition {
            match holds(condition, programs, inspector, place) {
                Ok(true) => {}
                Ok(false) => continue,
                // A condition that says nothing stops, so that nothing is missed.
                Err(why) => passed.said.push(format!("a condition cannot be evaluated: {why}\n")),
            }
        }
        if let Some(hits) = breakpoint.hits
            && !hits.holds(breakpoint.passes.number(position.0))
        {
            continue;
        }
        match &breakpoint.log {
            Some(_) if !is_forward => {}
            Some(text) => passed.said.push(logged(text, programs, inspector, place)),
            None => passed.hit.push(breakpoint.id),
        }
    }
    passed
}

/// The places of the breakpoints that count, and from where on passes are to be counted before `position`; none if all are known.
pub(super) fn uncounted(
    breakpoints: &BTreeMap<BreakpointList, Vec<AdapterBreakpoint>>,
    position: Position,
) -> Option<(BTreeSet<DebugPlace>, Position)> {
    let counting = || breakpoints.values().flatten().filter(|breakpoint| breakpoint.hits.is_some());
    let from = counting().map(|breakpoint| breakpoint.passes.known_to).min().filter(|from| *from < position.0)?;
    Some((counting().flat_map(|breakpoint| breakpoint.places.iter().copied()).collect(), Position(from)))
}

/// Takes note that all passes before a position are counted.
pub(super) fn counted_to(breakpoints: &mut BTreeMap<BreakpointList, Vec<AdapterBreakpoint>>, position: Position) {
    for breakpoint in breakpoints.values_mut().flatten() {
        breakpoint.passes.known_to = breakpoint.passes.known_to.max(position.0);
    }
}

fn holds(
    condition: &Expression,
    programs: &Programs,
    inspector: &mut Inspector<'_>,
    place: DebugPlace,
) -> Result<bool, String> {
    let info = programs.get(&place.component).ok_or("the program has no debug information")?;
    let frame = StoppedFrame::new(inspector, 0);
    let scopes = info.scopes(code_place(place));
    let value =
        info.evaluate(condition, code_place(place), scopes.first(), &frame).map_err(|error| error.to_string())?;
    info.holds(&value, &frame).map_err(|why| why.to_string())
}

/// The text of a log point, with the values of the expressions in braces.
fn logged(text: &str, programs: &Programs, inspector: &mut Inspector<'_>, place: DebugPlace) -> String {
    let frame = StoppedFrame::new(inspector, 0);
    let place_of_code = code_place(place);
    log_text(text, &mut |expression| {
        let info = programs.get(&place.component).ok_or("the program is not known")?;
        let scopes = info.scopes(place_of_code);
        let value = Expression::parse(expression)
            .and_then(|expression| info.evaluate(&expression, place_of_code, scopes.first(), &frame));
        value.map(|value| info.render(&value, &frame).text).map_err(|error| error.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_has_its_number_whichever_way_it_is_come_to() {
        let mut passes = PassedPositions::default();
        let forwards: Vec<u64> = [5, 9, 20].map(|position| passes.number(position)).into();
        passes.known_to = 21;
        let backwards: Vec<u64> = [20, 5, 9].map(|position| passes.number(position)).into();
        assert_eq!((forwards, backwards, passes.number(30)), (vec![1, 2, 3], vec![3, 1, 2], 4));
    }

    #[test]
    fn counts_of_hits_are_read() {
        let holding = |text: &str| {
            let parsed = HitCondition::parse(text);
            parsed.map(|hits| (1..=6).filter(|passed| hits.holds(*passed)).collect::<Vec<u64>>())
        };
        assert_eq!(holding("3"), Some(vec![3]));
        assert_eq!(holding(">= 5"), Some(vec![5, 6]));
        assert_eq!(holding(">5"), Some(vec![6]));
        assert_eq!(holding("<3"), Some(vec![1, 2]));
        assert_eq!(holding("%2"), Some(vec![2, 4, 6]));
        for wrong in ["% 0", "0", ">= 0", "< 1", "often", ""] {
            assert_eq!(holding(wrong), None, "{wrong}");
        }
    }
}
