//! Parts of a report by their paths, for scripts without a JSON tool.
//!
//! ```text
//! .identity.seed     $.identity.seed     identity.seed      a key, from the top
//! .findings[0].kind                                         an item, counted from zero
//! .scenarios[].name                                         of every item
//! ```
//!
//! Invariant: a path that leads nowhere is an error that names the first step that is not there and what is.
//! Not here: where reports lie (`fozzy-cli`).

use serde_json::Value;

/// Short names of what is asked for most.
const ALIASES: [(&str, &str); 5] = [
    ("runId", ".identity.runId"),
    ("seed", ".identity.seed"),
    ("tracePath", ".identity.tracePath"),
    ("reportPath", ".identity.reportPath"),
    ("artifactsDir", ".identity.artifactsDir"),
];

/// A path that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// It is not a path.
    #[error("`{path}` at character {at}: expected {expected}")]
    Syntax {
        /// As it was given.
        path: String,
        /// Characters before the fault, plus one.
        at: usize,
        /// What may stand there.
        expected: &'static str,
    },
    /// The document does not have it.
    #[error("`{path}`: there is no `{step}` in {inside}, which has {has}")]
    Missing {
        /// As it was given.
        path: String,
        /// The first step that is not there.
        step: String,
        /// The path so far.
        inside: String,
        /// What could have been said there.
        has: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Item(usize),
    Each,
}

/// The part of `document` at `path`; with `[]`, an array of those of every item.
///
/// # Errors
/// When `path` is none, or leads nowhere.
pub fn query(document: &Value, path: &str) -> Result<Value, QueryError> {
    let full = ALIASES.iter().find(|(alias, _)| *alias == path).map_or(path, |(_, full)| full);
    let steps = parse(full)?;
    follow(document, &steps, path, &mut String::new())
}

fn parse(path: &str) -> Result<Vec<Step>, QueryError> {
    let mut steps = Vec::new();
    let fault = |rest: &str, expected| {
        let at = path.chars().count() - rest.chars().count() + 1;
        Err(QueryError::Syntax { path: path.to_owned(), at, expected })
    };
    let mut rest = path.strip_prefix('$').unwrap_or(path);
    if rest == "." {
        return Ok(steps);
    }
    let mut first = true;
    while !rest.is_empty() {
        if let Some(index) = rest.strip_prefix('[') {
            let Some((index, after)) = index.split_once(']') else {
                return fault(rest, "a closing `]`");
            };
            match (index, index.parse()) {
                ("", _) => steps.push(Step::Each),
                (_, Ok(number)) => steps.push(Step::Item(number)),
                _ => return fault(&rest[1..], "a number or nothing between `[` and `]`"),
            }
            rest = after;
        } else {
            let key = match rest.strip_prefix('.') {
                Some(key) => key,
                None if first => rest,
                None => return fault(rest, "`.` or `[`"),
            };
            let end = key.find(['.', '[', ']']).unwrap_or(key.len());
            if end == 0 {
                return fault(key, "a key");
            }
            steps.push(Step::Key(key[..end].to_owned()));
            rest = &key[end..];
        }
        first = false;
    }
    Ok(steps)
}

fn follow(value: &Value, steps: &[Step], path: &str, so_far: &mut String) -> Result<Value, QueryError> {
    let Some((step, rest)) = steps.split_first() else { return Ok(value.clone()) };
    let missing = |step: String, so_far: &str| {
        let inside = if so_far.is_empty() { "the report".to_owned() } else { format!("`{so_far}`") };
        Err(QueryError::Missing { path: path.to_owned(), step, inside, has: contents(value) })
    };
    match (step, value) {
        (Step::Key(key), Value::Object(fields)) => match fields.get(key) {
            Some(inner) => {
                so_far.push_str(&format!(".{key}"));
                follow(inner, rest, path, so_far)
            }
            None => missing(key.clone(), so_far),
        },
        (Step::Key(key), _) => missing(key.clone(), so_far),
        (Step::Item(index), Value::Array(items)) => match items.get(*index) {
            Some(inner) => {
                so_far.push_str(&format!("[{index}]"));
                follow(inner, rest, path, so_far)
            }
            None => missing(format!("[{index}]"), so_far),
        },
        (Step::Item(index), _) => missing(format!("[{index}]"), so_far),
        (Step::Each, Value::Array(items)) => {
            let of_item = |(index, item)| follow(item, rest, path, &mut format!("{so_far}[{index}]"));
            items.iter().enumerate().map(of_item).collect::<Result<Vec<_>, _>>().map(Value::Array)
        }
        (Step::Each, _) => missing("[]".to_owned(), so_far),
    }
}

/// What may follow, in a few words.
fn contents(value: &Value) -> String {
    match value {
        Value::Object(fields) if fields.is_empty() => "no keys".to_owned(),
        Value::Object(fields) => fields.keys().map(String::as_str).collect::<Vec<_>>().join(", "),
        Value::Array(items) => format!("{} items", items.len()),
        _ => "no parts".to_owned(),
    }
}

/// All paths of a document, in its order; items of an array are told once, as `[]`.
#[must_use]
pub fn paths(document: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(document, "", &mut found);
    found
}

fn collect(value: &Value, path: &str, found: &mut Vec<String>) {
    let mut add = |path: &str| {
        if !path.is_empty() && !found.iter().any(|known| known == path) {
            found.push(path.to_owned());
        }
    };
    match value {
        Value::Object(fields) => {
            add(path);
            fields.iter().for_each(|(key, inner)| collect(inner, &format!("{path}.{key}"), found));
        }
        Value::Array(items) => {
            add(path);
            items.iter().for_each(|item| collect(item, &format!("{path}[]"), found));
        }
        _ => add(path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document() -> Value {
        json!({
            "status": "fail",
            "identity": {"runId": "1f3", "seed": 7},
            "findings": [{"kind": "panic", "title": "a"}, {"kind": "hang", "title": "b"}],
            "empty": {},
        })
    }

    #[test]
    fn every_way_to_write_a_path_leads_to_its_part() {
        let found = |path: &str| query(&document(), path).map_err(|error| error.to_string());
        for path in [".identity.seed", "identity.seed", "$.identity.seed", "seed"] {
            assert_eq!(found(path), Ok(json!(7)), "{path}");
        }
        assert_eq!(found("."), Ok(document()));
        assert_eq!(found("$"), Ok(document()));
        assert_eq!(found(".findings[1].kind"), Ok(json!("hang")));
        assert_eq!(found("findings[].title"), Ok(json!(["a", "b"])));
        assert_eq!(found("runId"), Ok(json!("1f3")));
    }

    #[test]
    fn a_path_that_leads_nowhere_says_where_it_ends() {
        let refused = |path: &str| query(&document(), path).expect_err(path).to_string();
        assert_eq!(
            refused(".identity.run"),
            "`.identity.run`: there is no `run` in `.identity`, which has runId, seed"
        );
        assert_eq!(refused(".findings[2]"), "`.findings[2]`: there is no `[2]` in `.findings`, which has 2 items");
        assert_eq!(refused("tracePath"), "`tracePath`: there is no `tracePath` in `.identity`, which has runId, seed");
        assert_eq!(refused(".status.word"), "`.status.word`: there is no `word` in `.status`, which has no parts");
        assert_eq!(refused(".empty[]"), "`.empty[]`: there is no `[]` in `.empty`, which has no keys");
        assert_eq!(refused("a..b"), "`a..b` at character 3: expected a key");
        assert_eq!(refused(".a[x]"), "`.a[x]` at character 4: expected a number or nothing between `[` and `]`");
        assert_eq!(refused(".a[1"), "`.a[1` at character 3: expected a closing `]`");
        assert_eq!(refused(".a[1]b"), "`.a[1]b` at character 6: expected `.` or `[`");
    }

    #[test]
    fn all_paths_are_listed_once() {
        let expected = [
            ".status",
            ".identity",
            ".identity.runId",
            ".identity.seed",
            ".findings",
            ".findings[]",
            ".findings[].kind",
            ".findings[].title",
            ".empty",
        ];
        assert_eq!(paths(&document()), expected);
    }
}
