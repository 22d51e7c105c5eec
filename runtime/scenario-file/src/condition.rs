//! Conditions of `assert`, `if` and `while`.
//!
//! ```text
//! {"eq": ["${n}", 3]}     {"not": {"contains": ["${text}", "a"]}}     {"all": [{"ge": ["${n}", 1]}, {"has_kv": "k"}]}
//! ```
//!
//! Invariant: a condition is an object with one key.
//! Not here: whether it holds (`runtime/player/program`).

use crate::json::{JsonNode, JsonValue};
use crate::read::{ReadProblem, unknown};
use serde::de::{Deserialize, Deserializer, IgnoredAny};

/// A condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// Two values compare so.
    Compare(ConditionOperator, JsonNode, JsonNode),
    /// It does not hold.
    Not(Box<Condition>),
    /// All hold.
    All(Vec<Condition>),
    /// One holds at least.
    Any(Vec<Condition>),
    /// The value is `null`.
    IsNull(JsonNode),
    /// Something is stored under the key.
    HasKv(JsonNode),
}

/// How two values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionOperator {
    /// They are equal.
    Eq,
    /// They differ.
    Ne,
    /// The first is less.
    Lt,
    /// The first is less, or they are equal.
    Le,
    /// The first is greater.
    Gt,
    /// The first is greater, or they are equal.
    Ge,
    /// The text, list or object that is first has the second in it.
    Contains,
}

impl ConditionOperator {
    const ALL: [(&'static str, ConditionOperator); 7] = [
        ("eq", ConditionOperator::Eq),
        ("ne", ConditionOperator::Ne),
        ("lt", ConditionOperator::Lt),
        ("le", ConditionOperator::Le),
        ("gt", ConditionOperator::Gt),
        ("ge", ConditionOperator::Ge),
        ("contains", ConditionOperator::Contains),
    ];

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        ConditionOperator::ALL.iter().find(|(_, known)| *known == self).map_or("", |(word, _)| word)
    }
}

const WORDS: [&str; 12] = ["eq", "ne", "lt", "le", "gt", "ge", "contains", "not", "all", "any", "is_null", "has_kv"];

impl Condition {
    pub(crate) fn read(node: &JsonNode) -> Result<Condition, ReadProblem> {
        let one = match &node.value {
            JsonValue::Object(members) if members.len() == 1 => members.first(),
            _ => None,
        };
        let Some((key, value)) = one else {
            let found = match &node.value {
                JsonValue::Object(members) => format!("one with {} keys", members.len()),
                other => other.kind().to_owned(),
            };
            let what = format!(
                "expected a condition, which is an object with one key such as {{\"eq\": [\"${{n}}\", 3]}}, found {found}"
            );
            return Err(ReadProblem::at(node.at, what));
        };
        if let Some((word, comparison)) = ConditionOperator::ALL.iter().find(|(word, _)| *word == key.text) {
            return match &value.value {
                JsonValue::List(two) if two.len() == 2 => {
                    Ok(Condition::Compare(*comparison, two[0].clone(), two[1].clone()))
                }
                _ => Err(ReadProblem::at(value.at, format!("{word}: expected a list of two values"))),
            };
        }
        let several = || match &value.value {
            JsonValue::List(all) if !all.is_empty() => all.iter().map(Condition::read).collect::<Result<Vec<_>, _>>(),
            _ => Err(ReadProblem::at(value.at, format!("{}: expected a list of conditions", key.text))),
        };
        match key.text.as_str() {
            "not" => Ok(Condition::Not(Box::new(Condition::read(value)?))),
            "all" => several().map(Condition::All),
            "any" => several().map(Condition::Any),
            "is_null" => Ok(Condition::IsNull(value.clone())),
            "has_kv" => Ok(Condition::HasKv(value.clone())),
            other => Err(ReadProblem::at(key.at, unknown("condition", other, &WORDS))),
        }
    }
}

/// Its shape is looked at by `Condition::read`, which knows places.
impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Condition, D::Error> {
        IgnoredAny::deserialize(from)?;
        Ok(Condition::All(Vec::new()))
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Condition {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Condition".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = |word: &str, of: serde_json::Value| {
            serde_json::json!({
                "type": "object", "properties": { word: of }, "required": [word], "additionalProperties": false
            })
        };
        let itself = serde_json::Value::from(generator.subschema_for::<Condition>());
        let several = serde_json::json!({ "type": "array", "items": itself, "minItems": 1 });
        let two = serde_json::json!({ "type": "array", "minItems": 2, "maxItems": 2 });
        let mut forms: Vec<serde_json::Value> =
            ConditionOperator::ALL.iter().map(|(word, _)| one(word, two.clone())).collect();
        forms.extend([one("not", itself), one("all", several.clone()), one("any", several)]);
        forms.extend([one("is_null", true.into()), one("has_kv", serde_json::json!({ "type": "string" }))]);
        schemars::json_schema!({ "oneOf": forms, "description": "What holds or does not: an object with one key." })
    }
}
