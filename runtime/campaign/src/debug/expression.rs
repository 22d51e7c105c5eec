//! Numbers from the state of a program, without debug information: locals, globals, operands, memory, and what is computed of them.
//!
//! ```text
//! $0 + 1 == u32[$g0 + 12]
//! ```
//!
//! Invariant: a text of any length ends with a value or an error; nesting is bounded.

use super::session::Inspector;
use super::words::number;
use crate::error::{CampaignError, ErrorKind};
use fozzy_engine::DebugValue;

/// Parentheses and brackets inside of each other.
const NESTING_MAX: usize = 64;

/// Operators by how strongly they bind, the weakest first.
const LEVELS: &[&[&str]] = &[&["||"], &["&&"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "%"]];

/// The value of an expression in a frame.
pub(super) fn value(text: &str, frame: usize, inspector: &mut Inspector<'_>) -> Result<i128, CampaignError> {
    let mut reader = Reader { rest: text, frame, inspector, depth: 0 };
    let value = reader.level(0)?;
    let rest = reader.rest.trim_start();
    if rest.is_empty() { Ok(value) } else { Err(refused(format!("`{rest}` is not understood here"))) }
}

struct Reader<'t, 'i, 's> {
    rest: &'t str,
    frame: usize,
    inspector: &'i mut Inspector<'s>,
    depth: usize,
}

impl Reader<'_, '_, '_> {
    fn takes(&mut self, word: &str) -> bool {
        let rest = self.rest.trim_start();
        let Some(rest) = rest.strip_prefix(word) else { return false };
        self.rest = rest;
        true
    }

    fn level(&mut self, level: usize) -> Result<i128, CampaignError> {
        let Some(operators) = LEVELS.get(level) else { return self.single() };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = operators.iter().find(|operator| self.takes(operator)) {
            let right = self.level(level + 1)?;
            left = computed(operator, left, right)?;
        }
        Ok(left)
    }

    fn single(&mut self) -> Result<i128, CampaignError> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            return Err(refused("the expression is nested too deeply"));
        }
        let value = self.nested();
        self.depth -= 1;
        value
    }

    fn nested(&mut self) -> Result<i128, CampaignError> {
        if self.takes("(") {
            let value = self.level(0)?;
            return if self.takes(")") { Ok(value) } else { Err(refused("a `)` is missing")) };
        }
        if self.takes("-") {
            let value = self.single()?;
            return value.checked_neg().ok_or_else(|| refused(format!("-{value} has no value")));
        }
        if self.takes("!") {
            return Ok(i128::from(self.single()? == 0));
        }
        if self.takes("$") {
            return self.register();
        }
        for (word, bytes, is_signed) in [
            ("u8[", 1, false),
            ("u16[", 2, false),
            ("u32[", 4, false),
            ("u64[", 8, false),
            ("i32[", 4, true),
            ("i64[", 8, true),
        ] {
            if self.takes(word) {
                let address = self.level(0)?;
                if !self.takes("]") {
                    return Err(refused("a `]` is missing"));
                }
                return self.memory(address, bytes, is_signed);
            }
        }
        let rest = self.rest.trim_start();
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(rest.len());
        let (word, rest) = rest.split_at(end);
        self.rest = rest;
        if word.is_empty() {
            return Err(refused("an expression ends too early"));
        }
        let is_number = word.starts_with(|letter: char| letter.is_ascii_digit());
        if !is_number {
            return Err(refused(format!("there is no `{word}` here: locals are $0, $1 and so on")));
        }
        Ok(i128::from(number(word)?))
    }

    fn register(&mut self) -> Result<i128, CampaignError> {
        let (is_global, is_operand) = (self.takes("g"), self.takes("s"));
        let end = self.rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        let index = number(digits)?;
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        let (found, what) = if is_global {
            (self.inspector.global(self.frame, u32::try_from(index).unwrap_or(u32::MAX))?, "global")
        } else if is_operand {
            (self.inspector.operands(self.frame)?.and_then(|all| all.get(place).copied()), "operand")
        } else {
            (self.inspector.locals(self.frame)?.and_then(|all| all.get(place).copied()), "local")
        };
        match found {
            Some(DebugValue::I32(value)) => Ok(i128::from(value)),
            Some(DebugValue::I64(value)) => Ok(i128::from(value)),
            Some(_) => Err(refused(format!("{what} {index} is no integer"))),
            None => Err(refused(format!("there is no {what} {index} here"))),
        }
    }

    fn memory(&mut self, address: i128, bytes: usize, is_signed: bool) -> Result<i128, CampaignError> {
        let outside = || refused(format!("{address} is not an address of the memory"));
        let address = u64::try_from(address).map_err(|_| outside())?;
        let found = self.inspector.memory(self.frame, address, bytes as u64)?;
        let found = found.filter(|found| found.len() == bytes).ok_or_else(outside)?;
        let mut all = [0; 8];
        all[..bytes].copy_from_slice(&found);
        let value = u64::from_le_bytes(all);
        Ok(match (is_signed, bytes) {
            (true, 4) => i128::from(value as u32 as i32),
            (true, _) => i128::from(value.cast_signed()),
            (false, _) => i128::from(value),
        })
    }
}

fn computed(operator: &str, left: i128, right: i128) -> Result<i128, CampaignError> {
    let value = match operator {
        "||" => Some(i128::from(left != 0 || right != 0)),
        "&&" => Some(i128::from(left != 0 && right != 0)),
        "==" => Some(i128::from(left == right)),
        "!=" => Some(i128::from(left != right)),
        "<=" => Some(i128::from(left <= right)),
        ">=" => Some(i128::from(left >= right)),
        "<" => Some(i128::from(left < right)),
        ">" => Some(i128::from(left > right)),
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" => left.checked_div(right),
        _ => left.checked_rem(right),
    };
    value.ok_or_else(|| refused(format!("{left} {operator} {right} has no value")))
}

fn refused(what: impl Into<String>) -> CampaignError {
    CampaignError::new(ErrorKind::Usage, what.into())
}
