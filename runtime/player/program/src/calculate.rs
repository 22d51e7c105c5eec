//! What conditions and `compute` do with values.
//!
//! Invariant: numbers are whole and exact; what does not fit is a failure and wraps nowhere. A text that is a number counts as
//! that number beside a number, as keys hold texts only.

use fozzy_scenario_file::{Calculation, Condition, ConditionOperator, Variables, fill, kind, plain};
use player::failure::StepFailure;
use player::steps::KeyValueStore;
use serde_json::Value;
use std::cmp::Ordering;

/// Whether a condition holds, and in words why it does not.
pub(super) fn judge(
    condition: &Condition,
    variables: &dyn Variables,
    store: &KeyValueStore,
) -> Result<Result<(), String>, StepFailure> {
    let value = |node| fill(node, variables).map_err(super::no_value);
    let holds = |yes: bool, what: &dyn Fn() -> String| if yes { Ok(()) } else { Err(what()) };
    Ok(match condition {
        Condition::Compare(comparison, a, b) => {
            let (a, b) = (value(a)?, value(b)?);
            holds(compares(*comparison, &a, &b)?, &|| format!("expected {a} {} {b}", sign(*comparison)))
        }
        Condition::Not(inner) => match judge(inner, variables, store)? {
            Ok(()) => Err("the condition under `not` holds".to_owned()),
            Err(_) => Ok(()),
        },
        Condition::All(all) => {
            for one in all {
                if let Err(what) = judge(one, variables, store)? {
                    return Ok(Err(what));
                }
            }
            Ok(())
        }
        Condition::Any(any) => {
            let mut wrong = Vec::new();
            for one in any {
                match judge(one, variables, store)? {
                    Ok(()) => return Ok(Ok(())),
                    Err(what) => wrong.push(what),
                }
            }
            Err(format!("none holds: {}", wrong.join("; ")))
        }
        Condition::IsNull(node) => {
            let found = value(node)?;
            holds(found.is_null(), &|| format!("expected null, found {}", kind(&found)))
        }
        Condition::HasKv(node) => {
            let key = plain(&value(node)?);
            holds(store.get(&key).is_some(), &|| format!("nothing is stored under `{key}`"))
        }
    })
}

fn sign(comparison: ConditionOperator) -> &'static str {
    match comparison {
        ConditionOperator::Eq => "==",
        ConditionOperator::Ne => "!=",
        ConditionOperator::Lt => "<",
        ConditionOperator::Le => "<=",
        ConditionOperator::Gt => ">",
        ConditionOperator::Ge => ">=",
        ConditionOperator::Contains => "contains",
    }
}

fn compares(comparison: ConditionOperator, a: &Value, b: &Value) -> Result<bool, StepFailure> {
    let ordered = |fits: fn(Ordering) -> bool| match order(a, b) {
        Some(order) => Ok(fits(order)),
        None => Err(StepFailure::new(format!("{} and {} have no order", kind(a), kind(b)))),
    };
    match comparison {
        ConditionOperator::Eq => Ok(equal(a, b)),
        ConditionOperator::Ne => Ok(!equal(a, b)),
        ConditionOperator::Lt => ordered(Ordering::is_lt),
        ConditionOperator::Le => ordered(Ordering::is_le),
        ConditionOperator::Gt => ordered(Ordering::is_gt),
        ConditionOperator::Ge => ordered(Ordering::is_ge),
        ConditionOperator::Contains => match (a, b) {
            (Value::Array(elements), b) => Ok(elements.iter().any(|element| equal(element, b))),
            (Value::Object(members), Value::String(key)) => Ok(members.contains_key(key)),
            (Value::String(text), b) => Ok(text.contains(&plain(b))),
            _ => Err(StepFailure::new(format!("{} contains nothing: expected a text, a list or an object", kind(a)))),
        },
    }
}

/// Both as numbers, if one is a number and the other one is, or is the text of one.
fn numbers(a: &Value, b: &Value) -> Option<(f64, f64)> {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        _ => None,
    };
    (a.is_number() || b.is_number()).then(|| number(a).zip(number(b))).flatten()
}

fn equal(a: &Value, b: &Value) -> bool {
    match (whole(a), whole(b), numbers(a, b)) {
        (Some(x), Some(y), Some(_)) => x == y,
        (_, _, Some((x, y))) => x == y,
        _ => a == b,
    }
}

fn order(a: &Value, b: &Value) -> Option<Ordering> {
    match (whole(a), whole(b), numbers(a, b), a, b) {
        (Some(x), Some(y), Some(_), ..) => Some(x.cmp(&y)),
        (_, _, Some((x, y)), ..) => x.partial_cmp(&y),
        (.., Value::String(x), Value::String(y)) => Some(x.cmp(y)),
        _ => None,
    }
}

fn whole(value: &Value) -> Option<i128> {
    match value {
        Value::Number(number) => number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from)),
        Value::String(text) => {
            text.parse::<i64>().map(i128::from).or_else(|_| text.parse::<u64>().map(i128::from)).ok()
        }
        _ => None,
    }
}

/// What `compute` yields.
pub(super) fn compute(operation: Calculation, a: Value, b: Option<Value>) -> Result<Value, StepFailure> {
    let b = b.unwrap_or_default();
    let numbers = || {
        let number = |value: &Value| {
            whole(value).ok_or_else(|| StepFailure::new(format!("expected a whole number, found {}", kind(value))))
        };
        Ok::<_, StepFailure>((number(&a)?, number(&b)?))
    };
    let by_zero = || StepFailure::new("divided by 0").of("divided by 0");
    let result = match operation {
        Calculation::Length => {
            return match &a {
                Value::Array(elements) => Ok(elements.len().into()),
                Value::Object(members) => Ok(members.len().into()),
                Value::String(text) => Ok(text.chars().count().into()),
                other => Err(StepFailure::new(format!("{} has no length", kind(other)))),
            };
        }
        Calculation::Append => {
            return match a {
                Value::Array(mut elements) => {
                    elements.push(b);
                    Ok(Value::Array(elements))
                }
                other => Err(StepFailure::new(format!("expected a list, found {}", kind(&other)))),
            };
        }
        Calculation::Add => numbers().map(|(a, b)| a + b)?,
        Calculation::Sub => numbers().map(|(a, b)| a - b)?,
        Calculation::Mul => numbers().map(|(a, b)| a * b)?,
        Calculation::Min => numbers().map(|(a, b)| a.min(b))?,
        Calculation::Max => numbers().map(|(a, b)| a.max(b))?,
        Calculation::Div => numbers().and_then(|(a, b)| a.checked_div(b).ok_or_else(by_zero))?,
        Calculation::Rem => numbers().and_then(|(a, b)| a.checked_rem(b).ok_or_else(by_zero))?,
    };
    let small = i64::try_from(result).map(Value::from).or_else(|_| u64::try_from(result).map(Value::from));
    small.map_err(|_| StepFailure::new(format!("{result} does not fit into 64 bits")).of("does not fit"))
}
