//! Values that runs have reported, by name, and what holds for all of them.
//!
//! ```text
//! "taken=3 limit: 8"   taken 3, limit 8, told together
//! transfer(5) ─▶ ok 7  transfer input 5, transfer output 7, told together
//! ```
//!
//! Not here: which runs count.

use fozzy_report::mine::MinedProperty;
use fozzy_trace::Execution;
use fozzy_trace::facts::{OperationEnd, PropertyKind};
use std::collections::{BTreeMap, BTreeSet};

/// Names that are looked at; values of further ones are left out.
const NAMES_MAX: usize = 500;
/// Pairs of names told together that are looked at.
const PAIRS_MAX: usize = 2_000;
/// Numbers of one line that are told together.
const TOGETHER_MAX: usize = 16;
/// Lines of output of a run that are looked at.
const LINES_MAX: usize = 100_000;
/// Values without which nothing is proposed.
const VALUES_MIN: u64 = 5;
/// Values of one run without which nothing is said of their order.
const ORDER_MIN: u64 = 3;

/// A name that a program has given a number.
type ValueName = (&'static str, String);

/// Numbers of one name.
#[derive(Clone, Debug)]
struct NumberTally {
    values: u64,
    runs: u64,
    least: i64,
    most: i64,
    /// Runs whose own least is that of all, and whose own most is.
    at_least_runs: u64,
    at_most_runs: u64,
    falls: bool,
    rises: bool,
    /// Most values of one run.
    longest: u64,
    run: RunTally,
}

/// The same of one run.
#[derive(Clone, Copy, Debug, Default)]
struct RunTally {
    values: u64,
    least: i64,
    most: i64,
    last: i64,
}

/// Two numbers told together.
#[derive(Clone, Copy, Debug, Default)]
struct PairTally {
    values: u64,
    less: u64,
    equal: u64,
    runs: u64,
    last_run: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct TextTally {
    values: u64,
    empty: u64,
    runs: u64,
    last_run: u64,
}

#[derive(Clone, Debug)]
struct HeldTally {
    evaluated: u64,
    held: u64,
    runs: u64,
}

/// All values so far.
#[derive(Default)]
pub(super) struct ValueTable {
    /// Runs that were added.
    pub(super) runs: u64,
    numbers: BTreeMap<ValueName, NumberTally>,
    pairs: BTreeMap<(ValueName, ValueName), PairTally>,
    texts: BTreeMap<String, TextTally>,
    sometimes: BTreeMap<String, HeldTally>,
}

impl NumberTally {
    fn add(&mut self, value: i64) {
        let run = &mut self.run;
        if run.values == 0 {
            (run.least, run.most) = (value, value);
        } else {
            self.falls |= value < run.last;
            self.rises |= value > run.last;
        }
        (run.least, run.most) = (run.least.min(value), run.most.max(value));
        run.values += 1;
        run.last = value;
    }

    /// The run is over.
    fn close(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.values == 0 {
            return;
        }
        let is_first = self.runs == 0;
        if is_first || run.least < self.least {
            (self.least, self.at_least_runs) = (run.least, 0);
        }
        if is_first || run.most > self.most {
            (self.most, self.at_most_runs) = (run.most, 0);
        }
        self.at_least_runs += u64::from(run.least == self.least);
        self.at_most_runs += u64::from(run.most == self.most);
        self.values += run.values;
        self.runs += 1;
        self.longest = self.longest.max(run.values);
    }

    fn new() -> NumberTally {
        NumberTally {
            values: 0,
            runs: 0,
            least: 0,
            most: 0,
            at_least_runs: 0,
            at_most_runs: 0,
            falls: false,
            rises: false,
            longest: 0,
            run: RunTally::default(),
        }
    }
}

impl ValueTable {
    /// Adds the values of a run.
    pub(super) fn add(&mut self, execution: &Execution) {
        self.runs += 1;
        let nodes = execution.nodes.iter().flat_map(|node| [&node.stdout, &node.stderr]);
        for stream in [&execution.stdout, &execution.stderr].into_iter().chain(nodes) {
            let kept = stream.kept();
            // A line that is cut off may tell another number.
            let whole = match stream.total() > kept.len() as u64 {
                true => kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1),
                false => kept.len(),
            };
            let text = String::from_utf8_lossy(&kept[..whole]);
            for line in text.lines().take(LINES_MAX) {
                self.together("output", numbers(line));
            }
        }
        for operation in execution.facts.operations.all() {
            let name = &operation.operation;
            let mut told = Vec::new();
            told.extend(operation.input.trim().parse().ok().map(|value| (format!("{name} input"), value)));
            if let Some((OperationEnd::Ok(output), ..)) = &operation.end {
                told.extend(output.trim().parse().ok().map(|value| (format!("{name} output"), value)));
                self.text(&format!("{name} output"), output);
            }
            self.together("operations", told);
        }
        for (name, property) in execution.facts.properties.iter() {
            if property.kind == PropertyKind::Sometimes && property.evaluated > 0 {
                let tally =
                    self.sometimes.entry(name.to_owned()).or_insert(HeldTally { evaluated: 0, held: 0, runs: 0 });
                tally.evaluated += property.evaluated;
                tally.held += property.held;
                tally.runs += 1;
            }
        }
        self.numbers.values_mut().for_each(NumberTally::close);
    }

    /// Whether there were any.
    pub(super) fn has_values(&self) -> bool {
        !(self.numbers.is_empty() && self.texts.is_empty() && self.sometimes.is_empty())
    }

    fn together(&mut self, source: &'static str, told: Vec<(String, i64)>) {
        for (name, value) in &told {
            let key = (source, name.clone());
            if self.numbers.len() < NAMES_MAX || self.numbers.contains_key(&key) {
                self.numbers.entry(key).or_insert_with(NumberTally::new).add(*value);
            }
        }
        let run = self.runs;
        for (at, (left, first)) in told.iter().enumerate() {
            for (right, second) in &told[at + 1..] {
                let key = ((source, left.clone()), (source, right.clone()));
                if left == right || (self.pairs.len() == PAIRS_MAX && !self.pairs.contains_key(&key)) {
                    continue;
                }
                let pair = self.pairs.entry(key).or_default();
                pair.values += 1;
                pair.less += u64::from(first < second);
                pair.equal += u64::from(first == second);
                pair.runs += u64::from(pair.last_run != run);
                pair.last_run = run;
            }
        }
    }

    fn text(&mut self, name: &str, text: &str) {
        if self.texts.len() == NAMES_MAX && !self.texts.contains_key(name) {
            return;
        }
        let run = self.runs;
        let tally = self.texts.entry(name.to_owned()).or_default();
        tally.values += 1;
        tally.empty += u64::from(text.trim().is_empty());
        tally.runs += u64::from(tally.last_run != run);
        tally.last_run = run;
    }

    /// What held for all of them.
    pub(super) fn properties(&self) -> Vec<MinedProperty> {
        let mut found = Vec::new();
        let mut constants = BTreeSet::new();
        for ((source, name), tally) in self.numbers.iter().filter(|(_, tally)| tally.values >= VALUES_MIN) {
            let NumberTally { values, runs, least, most, .. } = *tally;
            let mut tell = |kind: &str, what: String, code: String| {
                found.push(MinedProperty {
                    kind: kind.to_owned(),
                    what,
                    code,
                    source: (*source).to_owned(),
                    values,
                    runs,
                });
            };
            let variable = variable(name);
            if least == most {
                constants.insert((*source, name.clone()));
                let what = format!("{name} is {least}");
                tell("constant", what.clone(), format!("always!({variable} == {least}, {what:?});"));
                continue;
            }
            // A bound that only a few runs come to is one of the sample, and says nothing of the program.
            if least >= 0 && (least <= 1 || tally.at_least_runs * 2 >= runs) {
                let what = format!("{name} is at least {least}");
                tell("at-least", what.clone(), format!("always_at_least!({variable}, {least}, {what:?});"));
            }
            if tally.at_most_runs * 2 >= runs && runs > 1 {
                let what = format!("{name} is at most {most}");
                tell("at-most", what.clone(), format!("always_at_most!({variable}, {most}, {what:?});"));
            }
            if tally.longest >= ORDER_MIN && tally.falls != tally.rises {
                let (kind, verb, relation) = match tally.falls {
                    false => ("never-falls", "never falls", ">="),
                    true => ("never-rises", "never rises", "<="),
                };
                let what = format!("{name} {verb}");
                tell(kind, what.clone(), format!("always!({variable} {relation} last_{variable}, {what:?});"));
            }
        }
        for (((source, left), (_, right)), pair) in self.pairs.iter().filter(|(_, pair)| pair.values >= VALUES_MIN) {
            // What both are says more than how they compare.
            if [left, right].into_iter().all(|name| constants.contains(&(*source, name.clone()))) {
                continue;
            }
            let PairTally { values, less, equal, runs, .. } = *pair;
            let (a, b) = (variable(left), variable(right));
            let (words, code) = match values {
                _ if equal == values => ("is", format!("always!({a} == {b}, ")),
                _ if less == values => ("is less than", format!("always_less!({a}, {b}, ")),
                _ if less + equal == values => ("is at most", format!("always_at_most!({a}, {b}, ")),
                _ if less + equal == 0 => ("is greater than", format!("always_greater!({a}, {b}, ")),
                _ if less == 0 => ("is at least", format!("always_at_least!({a}, {b}, ")),
                _ => continue,
            };
            let what = format!("{left} {words} {right}");
            let code = format!("{code}{what:?});");
            found.push(MinedProperty {
                kind: "relation".to_owned(),
                what,
                code,
                source: (*source).to_owned(),
                values,
                runs,
            });
        }
        for (name, tally) in self.texts.iter().filter(|(_, tally)| tally.values >= VALUES_MIN && tally.empty == 0) {
            let what = format!("{name} is not empty");
            let code = format!("always!(!{}.is_empty(), {what:?});", variable(name));
            let TextTally { values, runs, .. } = *tally;
            // A number is not empty either.
            if !self.numbers.contains_key(&("operations", name.clone())) {
                let (kind, source) = ("not-empty".to_owned(), "operations".to_owned());
                found.push(MinedProperty { kind, what, code, source, values, runs });
            }
        }
        for (name, HeldTally { evaluated, held, runs }) in &self.sometimes {
            if evaluated == held && *evaluated >= VALUES_MIN {
                found.push(MinedProperty {
                    kind: "always-true".to_owned(),
                    what: format!("`{name}` is a `sometimes`, and held each time"),
                    code: format!("always!(…, {name:?});"),
                    source: "properties".to_owned(),
                    values: *evaluated,
                    runs: *runs,
                });
            }
        }
        found
    }
}

/// A name as an identifier of code.
fn variable(name: &str) -> String {
    let mapped: String = name.chars().map(|it| if it.is_alphanumeric() { it } else { '_' }).collect();
    if mapped.starts_with(|it: char| it.is_ascii_digit()) { format!("_{mapped}") } else { mapped }
}

/// The numbers of a line that have a name: `name=3`, `name: 3`.
fn numbers(line: &str) -> Vec<(String, i64)> {
    let mut found = Vec::new();
    let mut words = line.split_whitespace().peekable();
    while let Some(word) = words.next() {
        if found.len() == TOGETHER_MAX {
            break;
        }
        let (name, text) = match word.split_once('=') {
            Some((name, text)) => (name, text),
            None => match (word.strip_suffix(':'), words.peek()) {
                (Some(name), Some(next)) => (name, *next),
                _ => continue,
            },
        };
        let is_name = name.starts_with(|it: char| it.is_alphabetic() || it == '_')
            && name.chars().all(|it| it.is_alphanumeric() || "_-.".contains(it));
        if let Some(value) = text.trim_end_matches([',', ';']).parse().ok().filter(|_| is_name) {
            found.push((name.to_owned(), value));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_names_are_values() {
        let named =
            |line: &str| numbers(line).into_iter().map(|(name, value)| format!("{name}{value}")).collect::<Vec<_>>();
        assert_eq!(named("took stock=3, left: -4; at=0x10 3=4 x=1.5 =7"), ["stock3", "left-4"]);
        assert_eq!(named(&"a=1 ".repeat(100)).len(), TOGETHER_MAX);
    }

    fn told(runs: &[&[&str]]) -> Vec<String> {
        let mut table = ValueTable::default();
        for lines in runs {
            table.runs += 1;
            lines.iter().for_each(|line| table.together("output", numbers(line)));
            table.numbers.values_mut().for_each(NumberTally::close);
        }
        table.properties().into_iter().map(|it| it.code).collect()
    }

    #[test]
    fn what_holds_for_all_values_is_proposed_and_what_one_refutes_is_not() {
        let first: &[&str] = &["n=0 taken=3 limit=8", "n=1 taken=-5 limit=8", "n=2 taken=8 limit=8"];
        let second: &[&str] = &["n=0 taken=1 limit=8", "n=4 taken=7 limit=8", "n=4 taken=6 limit=8"];
        assert_eq!(
            told(&[first, second]),
            [
                r#"always!(limit == 8, "limit is 8");"#,
                r#"always_at_least!(n, 0, "n is at least 0");"#,
                r#"always_at_most!(n, 4, "n is at most 4");"#,
                r#"always!(n >= last_n, "n never falls");"#,
                r#"always_at_most!(taken, 8, "taken is at most 8");"#,
                r#"always_less!(n, limit, "n is less than limit");"#,
                r#"always_at_most!(taken, limit, "taken is at most limit");"#,
            ]
        );
        let third: &[&str] = &["n=9 taken=9 limit=8", "n=5 taken=9 limit=7"];
        assert_eq!(
            told(&[first, second, third]),
            [
                r#"always_at_most!(limit, 8, "limit is at most 8");"#,
                r#"always!(limit <= last_limit, "limit never rises");"#,
                r#"always_at_least!(n, 0, "n is at least 0");"#,
            ]
        );
    }

    #[test]
    fn few_values_propose_nothing() {
        assert_eq!(told(&[&["n=1", "n=1"], &["n=1", "n=1"]]), [""; 0]);
    }
}
