//! What an expression means in a frame.
//!
//! Fields and elements are looked for in the value as a person sees it: through references and boxes, in the variant that an
//! enumeration is, in the elements of a `Vec`. Numbers are computed exactly, in 128 bits; there is no overflow that wraps.

use super::expression::{Expression, ExpressionError, ExpressionKind, ExpressionNode, Operator};
use super::location::{FrameValues, Unavailable};
use super::module::{CodePlace, DebugInfo};
use super::scopes::{FunctionScope, ScopeVariable};
use super::types::{Basic, POINTER_BYTES, Shape, Type};
use super::value::{Scalar, Value};
use super::views::{View, last_segment};

/// Pointers that are followed to a field.
const POINTERS_MAX: usize = 8;
/// Longest text that is compared, in bytes.
const TEXT_BYTES_MAX: u64 = 1 << 16;
/// What is said of numbers from 2^127 on: they are shown, cast and compared.
const TOO_LARGE: &str = "a number of 2^127 or more cannot be calculated with";

/// Where an expression is evaluated.
struct EvaluationContext<'a> {
    info: &'a DebugInfo,
    place: CodePlace,
    variables: &'a [ScopeVariable],
    frame: &'a dyn FrameValues,
}

type EvaluationResult<T> = Result<T, ExpressionError>;

impl DebugInfo {
    /// The value of an expression in a frame. Names are those of the scope's variables, then of statics; without a scope, of
    /// statics only.
    ///
    /// # Errors
    ///
    /// Names that are not there, values that are optimised out, operations that the types do not have: with the position.
    pub fn evaluate(
        &self,
        expression: &Expression,
        place: CodePlace,
        scope: Option<&FunctionScope>,
        frame: &dyn FrameValues,
    ) -> Result<Value, ExpressionError> {
        let variables = scope.map(|scope| scope.variables.as_slice()).unwrap_or_default();
        EvaluationContext { info: self, place, variables, frame }.value(&expression.root)
    }

    /// Whether the value of a condition is one that holds: true, not zero, not null.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub fn holds(&self, value: &Value, frame: &dyn FrameValues) -> Result<bool, Unavailable> {
        match self.scalar(value, frame) {
            Some(Ok(Scalar::Bool(holds))) => Ok(holds),
            Some(Ok(Scalar::Integer(number))) => Ok(number != 0),
            Some(Ok(Scalar::Large(_))) => Ok(true),
            Some(Ok(Scalar::Pointer(address))) => Ok(address != 0),
            Some(Ok(Scalar::Char(_) | Scalar::Float(_))) | None => {
                Err(Unavailable::Unreadable("a condition is a bool, a number or a pointer"))
            }
            Some(Err(why)) => Err(why),
        }
    }
}

fn boolean(holds: bool) -> Value {
    Value::of_bytes(Type::Basic(Basic::Bool), vec![u8::from(holds)])
}

/// A number as a value: of 64 bits, where it fits.
fn integer(number: i128) -> Value {
    match i64::try_from(number) {
        Ok(number) => Value::of_bytes(Type::Basic(Basic::Integer(8, true)), number.to_le_bytes().to_vec()),
        Err(_) => Value::of_bytes(Type::Basic(Basic::Integer(16, true)), number.to_le_bytes().to_vec()),
    }
}

fn float(number: f64) -> Value {
    Value::of_bytes(Type::Basic(Basic::F64), number.to_le_bytes().to_vec())
}

fn pointer(target: Type, address: u64) -> Value {
    let bytes = (address & u64::from(u32::MAX)).to_le_bytes()[..4].to_vec();
    Value::of_bytes(Type::Pointer(Box::new(target)), bytes)
}

fn error(node: &ExpressionNode, message: impl Into<String>) -> ExpressionError {
    ExpressionError { position: node.position, message: message.into() }
}

impl EvaluationContext<'_> {
    fn value(&self, node: &ExpressionNode) -> EvaluationResult<Value> {
        match &node.kind {
            ExpressionKind::Integer(number) => Ok(integer(*number)),
            ExpressionKind::Float(number) => Ok(float(*number)),
            ExpressionKind::Bool(holds) => Ok(boolean(*holds)),
            ExpressionKind::Char(letter) => {
                Ok(Value::of_bytes(Type::Basic(Basic::Char), u32::from(*letter).to_le_bytes().to_vec()))
            }
            ExpressionKind::Text(_) => Err(error(node, "a text can only be compared with another")),
            ExpressionKind::Name(name) => {
                self.named(name).ok_or_else(|| error(node, format!("`{name}` is no variable that is visible here")))
            }
            ExpressionKind::Field(of, name) => self.field(node, &self.value(of)?, name),
            ExpressionKind::Length(of) => self.length(node, &self.value(of)?),
            ExpressionKind::Index(of, index) => self.index(node, &self.value(of)?, index),
            ExpressionKind::Dereference(of) => self.dereference(node, &self.value(of)?),
            ExpressionKind::AddressOf(of) => {
                let value = self.value(of)?;
                match value.address() {
                    Some(address) => Ok(pointer(value.ty, address)),
                    None => Err(error(
                        node,
                        match value.storage {
                            Err(why) => why.to_string(),
                            Ok(_) => "it is in no memory, and has no address".to_owned(),
                        },
                    )),
                }
            }
            ExpressionKind::Negate(of) => match self.scalar(of)? {
                Scalar::Float(number) => Ok(float(-number)),
                Scalar::Integer(number) => self.checked(node, number.checked_neg()),
                Scalar::Large(_) => Err(error(node, TOO_LARGE)),
                _ => Err(error(node, "only numbers have a sign")),
            },
            ExpressionKind::Not(of) => Ok(boolean(!self.holds(of)?)),
            ExpressionKind::Invert(of) => match self.scalar(of)? {
                Scalar::Integer(number) => Ok(integer(!number)),
                Scalar::Large(_) => Err(error(node, TOO_LARGE)),
                _ => Err(error(node, "only whole numbers have bits to invert")),
            },
            ExpressionKind::Cast(of, ty) => self.cast(node, of, ty),
            ExpressionKind::Binary(operator, left, right) => self.binary(node, *operator, left, right),
        }
    }

    fn named(&self, name: &str) -> Option<Value> {
        let own = self.variables.iter().find(|variable| variable.name == name).cloned();
        let variable = own.or_else(|| self.info.static_by_name(self.place, name))?;
        Some(self.info.value(&variable, self.frame))
    }

    /// The value behind references and boxes, and pointers if they are followed by a field.
    fn through(&self, value: &Value) -> Value {
        let mut value = value.clone();
        for _ in 0..POINTERS_MAX {
            match self.info.view(&value, self.frame) {
                View::Pointer { target: Some(target), .. } => value = *target,
                _ => break,
            }
        }
        value
    }

    fn field(&self, node: &ExpressionNode, value: &Value, name: &str) -> EvaluationResult<Value> {
        let value = self.through(value);
        // As it is declared first, then as it is shown.
        if let Some(found) = self.info.field(&value, name) {
            return Ok(found);
        }
        match self.info.view(&value, self.frame) {
            View::Fields { fields, .. } => {
                let names: Vec<&str> = fields.iter().map(|(own, _)| own.as_str()).take(16).collect();
                let list = names.join(", ");
                let found = fields.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
                let fields = if list.is_empty() { "it has none".to_owned() } else { format!("it has {list}") };
                found.ok_or_else(|| error(node, format!("there is no field `{name}`: {fields}")))
            }
            View::Unavailable(why) => Err(error(node, why.to_string())),
            _ => Err(error(node, format!("a {} has no field `{name}`", self.info.value_type(&value)))),
        }
    }

    fn length(&self, node: &ExpressionNode, value: &Value) -> EvaluationResult<Value> {
        let value = self.through(value);
        match self.info.view(&value, self.frame) {
            View::Text { length: Some(count), .. }
            | View::Elements { count, .. }
            | View::Items { count, .. }
            | View::Pairs { count, .. } => Ok(integer(count.into())),
            View::Text { length: None, .. } => Ok(integer(self.text(&value).map_or(0, |text| text.len() as i128))),
            View::Unavailable(why) => Err(error(node, why.to_string())),
            _ => Err(error(node, format!("a {} has no length", self.info.value_type(&value)))),
        }
    }

    fn index(&self, node: &ExpressionNode, value: &Value, index: &ExpressionNode) -> EvaluationResult<Value> {
        let info = self.info.type_info(&value.ty);
        if let (Shape::Pointer(target), false) = (&info.shape, info.is_rust)
            && value.storage.is_ok()
        {
            let address = self.info.unsigned(value, self.frame).map_err(|why| error(node, why.to_string()))?;
            let moved = self.moved(node, address, target, self.whole(index)?)?;
            return Ok(Value::in_memory(target.clone(), moved));
        }
        let value = self.through(value);
        let view = self.info.view(&value, self.frame);
        if let View::Pairs { entries, .. } = &view {
            let matching = entries.iter().find(|(key, _)| self.is_key(key, index));
            return match matching {
                Some((_, value)) => Ok(value.clone()),
                None => Err(error(index, "no entry has this key")),
            };
        }
        let wanted = self.whole(index)?;
        let outside = |count: u64| error(index, format!("{wanted} is outside: it has {count}"));
        let number = u64::try_from(wanted).ok();
        match view {
            View::Elements { base, element, count } => {
                let number = number.filter(|number| *number < count).ok_or_else(|| outside(count))?;
                Ok(self.info.element(&base, &element, number))
            }
            View::Items { items, count } => {
                let place = number.and_then(|number| usize::try_from(number).ok());
                place.and_then(|place| items.get(place).cloned()).ok_or_else(|| outside(count))
            }
            View::Text { address, length, .. } => {
                let count = length.unwrap_or(u64::from(u32::MAX));
                let number = number.filter(|number| *number < count).ok_or_else(|| outside(count))?;
                let byte = if info.is_rust { Basic::Integer(1, false) } else { Basic::Letter(true) };
                Ok(Value::in_memory(Type::Basic(byte), address.wrapping_add(number)))
            }
            View::Unavailable(why) => Err(error(node, why.to_string())),
            _ => Err(error(node, format!("a {} has no elements", self.info.value_type(&value)))),
        }
    }

    /// Whether an entry of a map has a key.
    fn is_key(&self, key: &Value, asked: &ExpressionNode) -> bool {
        if let ExpressionKind::Text(text) = &asked.kind {
            return self.text(key).is_some_and(|own| own == text.as_bytes());
        }
        let own = self.info.scalar(&self.through(key), self.frame);
        match (own, self.scalar(asked)) {
            (Some(Ok(own)), Ok(asked)) => compare(own, asked) == Some(std::cmp::Ordering::Equal),
            _ => false,
        }
    }

    fn dereference(&self, node: &ExpressionNode, value: &Value) -> EvaluationResult<Value> {
        if let Some(target) = self.info.dereference(value, self.frame) {
            return target.map_err(|why| error(node, why.to_string()));
        }
        match self.info.view(value, self.frame) {
            View::Pointer { target: Some(target), .. } => Ok(*target),
            View::Unavailable(why) => Err(error(node, why.to_string())),
            _ => Err(error(node, format!("a {} is no pointer", self.info.value_type(value)))),
        }
    }

    fn cast(&self, node: &ExpressionNode, of: &ExpressionNode, ty: &Type) -> EvaluationResult<Value> {
        let bits = match self.scalar(of)? {
            Scalar::Integer(number) => number,
            Scalar::Large(number) => match ty {
                Type::Basic(Basic::F32 | Basic::F64) => return Ok(self.float_as(exact_large(number), ty)),
                _ => number.cast_signed(),
            },
            Scalar::Pointer(address) => i128::from(address),
            Scalar::Char(point) => i128::from(point),
            Scalar::Bool(holds) => i128::from(holds),
            Scalar::Float(number) => match ty {
                Type::Basic(Basic::F32 | Basic::F64) => return Ok(self.float_as(number, ty)),
                _ => truncated(number),
            },
        };
        let bytes = match ty {
            Type::Basic(Basic::F32 | Basic::F64) => return Ok(self.float_as(exact(bits), ty)),
            Type::Basic(Basic::Bool) => return Ok(boolean(bits != 0)),
            Type::Basic(basic) => basic.bytes(),
            Type::Pointer(_) => POINTER_BYTES,
            _ => return Err(error(node, "only basic types and pointers to them can be cast to")),
        };
        let length = usize::try_from(bytes).unwrap_or(0).min(16);
        Ok(Value::of_bytes(ty.clone(), bits.to_le_bytes()[..length].to_vec()))
    }

    fn float_as(&self, number: f64, ty: &Type) -> Value {
        match ty {
            Type::Basic(Basic::F32) => Value::of_bytes(ty.clone(), single(number).to_le_bytes().to_vec()),
            _ => float(number),
        }
    }

    fn binary(
        &self,
        node: &ExpressionNode,
        operator: Operator,
        left: &ExpressionNode,
        right: &ExpressionNode,
    ) -> EvaluationResult<Value> {
        match operator {
            Operator::And => return Ok(boolean(self.holds(left)? && self.holds(right)?)),
            Operator::Or => return Ok(boolean(self.holds(left)? || self.holds(right)?)),
            Operator::Equal | Operator::NotEqual => {
                if let Some(equal) = self.equal_by_name(left, right)? {
                    return Ok(boolean(equal == (operator == Operator::Equal)));
                }
            }
            _ => {}
        }
        let (one, other) = (self.value(left)?, self.value(right)?);
        if let Some(moved) = self.pointer_arithmetic(node, operator, (&one, left), (&other, right))? {
            return Ok(moved);
        }
        let (one, other) = (self.scalar_of(left, &one)?, self.scalar_of(right, &other)?);
        if let Some(holds) = comparison(operator, one, other) {
            return holds.map(boolean).ok_or_else(|| error(node, "these cannot be compared"));
        }
        match (one, other) {
            (Scalar::Float(_), _) | (_, Scalar::Float(_)) => {
                let (Some(one), Some(other)) = (as_float(one), as_float(other)) else {
                    return Err(error(node, "only numbers can be calculated with"));
                };
                let result = match operator {
                    Operator::Add => one + other,
                    Operator::Subtract => one - other,
                    Operator::Multiply => one * other,
                    Operator::Divide => one / other,
                    Operator::Remainder => one % other,
                    _ => return Err(error(node, "this is only for whole numbers")),
                };
                Ok(float(result))
            }
            (Scalar::Large(_), _) | (_, Scalar::Large(_)) => Err(error(node, TOO_LARGE)),
            _ => {
                let (Some(one), Some(other)) = (as_integer(one), as_integer(other)) else {
                    return Err(error(node, "only numbers can be calculated with"));
                };
                if other == 0 && matches!(operator, Operator::Divide | Operator::Remainder) {
                    return Err(error(node, "division by zero"));
                }
                let shift = u32::try_from(other).ok().filter(|shift| *shift < 127);
                let result = match operator {
                    Operator::Add => one.checked_add(other),
                    Operator::Subtract => one.checked_sub(other),
                    Operator::Multiply => one.checked_mul(other),
                    Operator::Divide => one.checked_div(other),
                    Operator::Remainder => one.checked_rem(other),
                    Operator::BitAnd => Some(one & other),
                    Operator::BitOr => Some(one | other),
                    Operator::BitXor => Some(one ^ other),
                    Operator::ShiftLeft => shift.and_then(|shift| one.checked_mul(1i128.checked_shl(shift)?)),
                    Operator::ShiftRight => shift.map(|shift| one >> shift),
                    _ => None,
                };
                self.checked(node, result)
            }
        }
    }

    /// Pointers move by whole elements, and have a distance in them.
    fn pointer_arithmetic(
        &self,
        node: &ExpressionNode,
        operator: Operator,
        (one, left): (&Value, &ExpressionNode),
        (other, right): (&Value, &ExpressionNode),
    ) -> EvaluationResult<Option<Value>> {
        let Shape::Pointer(target) = self.info.type_info(&one.ty).shape else { return Ok(None) };
        if !matches!(operator, Operator::Add | Operator::Subtract) {
            return Ok(None);
        }
        let address = self.info.unsigned(one, self.frame).map_err(|why| error(left, why.to_string()))?;
        let size = i128::from(self.info.bytes_of(&target).max(1));
        match self.scalar_of(right, other)? {
            Scalar::Integer(steps) => {
                let steps = if operator == Operator::Add { Some(steps) } else { steps.checked_neg() };
                let steps = steps.ok_or_else(|| error(node, "the result is too large"))?;
                Ok(Some(pointer(target.clone(), self.moved(node, address, &target, steps)?)))
            }
            Scalar::Pointer(behind) if operator == Operator::Subtract => {
                Ok(Some(integer((i128::from(address) - i128::from(behind)) / size)))
            }
            _ => Err(error(node, "a pointer moves by a whole number")),
        }
    }

    fn moved(&self, node: &ExpressionNode, address: u64, target: &Type, steps: i128) -> EvaluationResult<u64> {
        let size = i128::from(self.info.bytes_of(target).max(1));
        let moved = steps.checked_mul(size).and_then(|distance| i128::from(address).checked_add(distance));
        let inside = moved.and_then(|moved| u32::try_from(moved).ok());
        inside.map(u64::from).ok_or_else(|| error(node, "the address is outside of the memory"))
    }

    /// Comparisons with a text, or with the name of a variant or enumerator; `None` of all others.
    fn equal_by_name(&self, left: &ExpressionNode, right: &ExpressionNode) -> EvaluationResult<Option<bool>> {
        for (literal, of) in [(right, left), (left, right)] {
            match &literal.kind {
                ExpressionKind::Text(text) => {
                    let value = self.value(of)?;
                    let own = self.text(&value).ok_or_else(|| error(of, "it is no text that can be read"))?;
                    return Ok(Some(own == text.as_bytes()));
                }
                ExpressionKind::Name(name) if self.named(name).is_none() => {
                    let value = self.through(&self.value(of)?);
                    let asked = last_segment(name);
                    let is_enumeration = matches!(
                        self.info.type_info(&value.ty).shape,
                        Shape::Enumeration { .. } | Shape::Record { variants: Some(_), .. }
                    );
                    match self.info.view(&value, self.frame) {
                        View::Plain(own) if is_enumeration => return Ok(Some(own == asked)),
                        View::Fields { name: Some(own), .. } if is_enumeration => return Ok(Some(own == asked)),
                        View::Unavailable(why) => return Err(error(of, why.to_string())),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// The bytes of a text of the program.
    fn text(&self, value: &Value) -> Option<Vec<u8>> {
        let value = self.through(value);
        let View::Text { address, length, ends_at_zero, .. } = self.info.view(&value, self.frame) else { return None };
        let most = length.unwrap_or(TEXT_BYTES_MAX);
        if most > TEXT_BYTES_MAX {
            return None;
        }
        let mut text = vec![0; usize::try_from(most).ok()?];
        if !ends_at_zero {
            return self.frame.read_memory(address, &mut text).then_some(text);
        }
        text.clear();
        for at in 0..most {
            let mut byte = [0];
            if !self.frame.read_memory(address.wrapping_add(at), &mut byte) {
                return None;
            }
            if byte[0] == 0 {
                break;
            }
            text.push(byte[0]);
        }
        Some(text)
    }

    fn scalar(&self, node: &ExpressionNode) -> EvaluationResult<Scalar> {
        let value = self.value(node)?;
        self.scalar_of(node, &value)
    }

    fn scalar_of(&self, node: &ExpressionNode, value: &Value) -> EvaluationResult<Scalar> {
        // A reference counts as the number that it refers to, as in the program.
        let info = self.info.type_info(&value.ty);
        let value = if info.is_rust && info.name.starts_with('&') { self.through(value) } else { value.clone() };
        match self.info.scalar(&value, self.frame) {
            Some(Ok(scalar)) => Ok(scalar),
            Some(Err(why)) => Err(error(node, why.to_string())),
            None => Err(match &value.storage {
                Err(why) => error(node, why.to_string()),
                Ok(_) => error(node, format!("a {} is no number", self.info.value_type(&value))),
            }),
        }
    }

    fn holds(&self, node: &ExpressionNode) -> EvaluationResult<bool> {
        let value = self.value(node)?;
        self.info.holds(&value, self.frame).map_err(|why| error(node, why.to_string()))
    }

    fn whole(&self, node: &ExpressionNode) -> EvaluationResult<i128> {
        as_integer(self.scalar(node)?).ok_or_else(|| error(node, "expected a whole number"))
    }

    fn checked(&self, node: &ExpressionNode, result: Option<i128>) -> EvaluationResult<Value> {
        result.map(integer).ok_or_else(|| error(node, "the result is too large"))
    }
}

fn as_integer(scalar: Scalar) -> Option<i128> {
    match scalar {
        Scalar::Integer(number) => Some(number),
        Scalar::Pointer(address) => Some(address.into()),
        Scalar::Char(point) => Some(point.into()),
        Scalar::Bool(holds) => Some(holds.into()),
        Scalar::Float(_) | Scalar::Large(_) => None,
    }
}

fn as_float(scalar: Scalar) -> Option<f64> {
    match scalar {
        Scalar::Float(number) => Some(number),
        Scalar::Large(number) => Some(exact_large(number)),
        other => as_integer(other).map(exact),
    }
}

fn compare(one: Scalar, other: Scalar) -> Option<std::cmp::Ordering> {
    match (as_integer(one), as_integer(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        // A large one is more than any other whole number.
        (None, Some(_)) if matches!(one, Scalar::Large(_)) => Some(std::cmp::Ordering::Greater),
        (Some(_), None) if matches!(other, Scalar::Large(_)) => Some(std::cmp::Ordering::Less),
        (None, None) if let (Scalar::Large(one), Scalar::Large(other)) = (one, other) => Some(one.cmp(&other)),
        _ => as_float(one)?.partial_cmp(&as_float(other)?),
    }
}

/// Whether a comparison holds; the inner `None` where there is no order, the outer of an operator that compares nothing.
fn comparison(operator: Operator, one: Scalar, other: Scalar) -> Option<Option<bool>> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    let accepted: &[std::cmp::Ordering] = match operator {
        Operator::Equal => &[Equal],
        Operator::NotEqual => &[Less, Greater],
        Operator::Less => &[Less],
        Operator::LessEqual => &[Less, Equal],
        Operator::Greater => &[Greater],
        Operator::GreaterEqual => &[Greater, Equal],
        _ => return None,
    };
    let numbers = as_float(one).is_some() && as_float(other).is_some();
    if !numbers {
        return Some(None);
    }
    // Nothing is equal to what is no number, and nothing less or greater.
    Some(Some(match compare(one, other) {
        Some(order) => accepted.contains(&order),
        None => operator == Operator::NotEqual,
    }))
}

#[expect(clippy::cast_precision_loss, reason = "as in the languages: the nearest number")]
fn exact(number: i128) -> f64 {
    number as f64
}

#[expect(clippy::cast_precision_loss, reason = "as in the languages: the nearest number")]
fn exact_large(number: u128) -> f64 {
    number as f64
}

#[expect(clippy::cast_possible_truncation, reason = "as in the languages: towards zero, within the bounds")]
fn truncated(number: f64) -> i128 {
    number as i128
}

#[expect(clippy::cast_possible_truncation, reason = "as in the languages: the nearest number")]
fn single(number: f64) -> f32 {
    number as f32
}
