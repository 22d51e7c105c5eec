//! Variables and expressions in words of the source, where debug information has them; numbers of WebAssembly otherwise.
//!
//! ```text
//! total * 2 ─ no `$`, no `u32[…]` ─▶ debug information ─▶ 40 (u64)
//! $0 * 2                          ─▶ `expression`      ─▶ 40
//! ```

use super::expression;
use super::session::Inspector;
use super::values::{Programs, StoppedFrame, code_place};
use crate::error::{CampaignError, ErrorKind};
use fozzy_engine::DebugPlace;
use fozzy_instrument::debug_info::{Expression, Value};

/// A frame as a person sees it: one of the functions that are inlined at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeenFrame {
    /// Position among the frames of the program.
    pub(super) frame: usize,
    /// Which of the functions that are inlined there, innermost first.
    pub(super) inlined: usize,
    pub(super) place: DebugPlace,
}

/// What an expression is, as a person sees it.
pub(super) struct SeenValue {
    pub(super) text: String,
    /// Without its type.
    pub(super) short: String,
    /// Where it is in memory, and how many bytes it has; `None` of what is computed or in no memory.
    pub(super) memory: Option<(u64, u64)>,
    /// As a number, if it is one.
    pub(super) number: Option<i128>,
}

/// The value of an expression in a frame.
pub(super) fn evaluate(
    programs: &Programs,
    inspector: &mut Inspector<'_>,
    seen: SeenFrame,
    text: &str,
) -> Result<SeenValue, CampaignError> {
    let Some(info) = programs.get(&seen.place.component).filter(|info| info.is_present() && !is_numeric(text)) else {
        let number = expression::value(text, seen.frame, inspector)?;
        let text = match u128::try_from(number) {
            Ok(positive) if positive > 9 => format!("{number} = {positive:#x}"),
            _ => number.to_string(),
        };
        return Ok(SeenValue { text, short: number.to_string(), memory: None, number: Some(number) });
    };
    let (value, frame) = named(programs, inspector, seen, text)?;
    let shown = info.render(&value, &frame);
    let memory = shown.address.map(|address| (address, info.byte_size(&value)));
    let number = shown.text.parse().ok();
    let text = format!("{} ({})", shown.text, shown.type_name);
    Ok(SeenValue { text, short: shown.text, memory, number })
}

/// Whether a condition holds where a program has stopped.
pub(super) fn holds(
    programs: &Programs,
    inspector: &mut Inspector<'_>,
    place: DebugPlace,
    text: &str,
) -> Result<bool, CampaignError> {
    let Some(info) = programs.get(&place.component).filter(|info| info.is_present() && !is_numeric(text)) else {
        return Ok(expression::value(text, 0, inspector)? != 0);
    };
    let (value, frame) = named(programs, inspector, SeenFrame { frame: 0, inlined: 0, place }, text)?;
    info.holds(&value, &frame).map_err(|why| refused(why.to_string()))
}

/// Names and values of the variables of a function; `None` without debug information of it.
pub(super) fn variables(
    programs: &Programs,
    inspector: &mut Inspector<'_>,
    seen: SeenFrame,
) -> Option<Vec<(String, String)>> {
    let info = programs.get(&seen.place.component)?;
    let scopes = info.scopes(code_place(seen.place));
    let scope = scopes.get(seen.inlined)?;
    let frame = StoppedFrame::new(inspector, seen.frame);
    let shown = scope.variables.iter().map(|variable| {
        let text = info.render(&info.value(variable, &frame), &frame);
        (variable.name.clone(), format!("{} ({})", text.text, text.type_name))
    });
    Some(shown.collect())
}

fn named<'a, 's>(
    programs: &Programs,
    inspector: &'a mut Inspector<'s>,
    seen: SeenFrame,
    text: &str,
) -> Result<(Value, StoppedFrame<'a, 's>), CampaignError> {
    let said = |error: &dyn std::fmt::Display| refused(format!("`{text}`: {error}"));
    let info = programs.get(&seen.place.component).ok_or_else(|| refused("the program is not known"))?;
    let parsed = Expression::parse(text).map_err(|error| said(&error))?;
    let place = code_place(seen.place);
    let frame = StoppedFrame::new(inspector, seen.frame);
    let value = info.evaluate(&parsed, place, info.scopes(place).get(seen.inlined), &frame);
    let value = value.map_err(|error| said(&error))?;
    Ok((value, frame))
}

/// Whether an expression asks for locals, globals, operands or memory as WebAssembly has them.
pub(super) fn is_numeric(text: &str) -> bool {
    const MEMORY: [&str; 5] = ["u8[", "u16[", "u32[", "u64[", "i32["];
    text.contains('$') || MEMORY.iter().any(|word| text.contains(word))
}

fn refused(what: impl Into<String>) -> CampaignError {
    CampaignError::new(ErrorKind::Usage, what.into())
}
