//! The lines that a program writes which has the public SDK of Antithesis: its assertions are properties like our own.
//!
//! ```text
//! {"antithesis_assert":{"hit":false,"assert_type":"sometimes","message":"full",…}}   a property is known: `sometimes` full
//! {"antithesis_assert":{"hit":true,"condition":true,…}}                              it was evaluated, and held
//! {"antithesis_guidance":{"guidance_type":"numeric","guidance_data":{…},…}}          how far a comparison has come
//! {"antithesis_setup":{"status":"complete","details":{…}}}                           the event `setup_complete`; planned faults begin
//! {"order shipped":{"id":7}}                                                         an event
//! ```
//!
//! The SDK writes an assertion once when it first holds and once when it first does not, so that its counts are small.
//!
//! A name that is longer than names may be is cut, with a digest of all of it behind; an assertion without one is called by its id or its
//! place: what fails is a failure, whatever it is called.
//!
//! A line that is no JSON is read as `sdk_text` reads it. One name for properties of two kinds is an error that waits for the end of the
//! run, so that a failure of either is told.
//!
//! Invariant: whatever a line has in it, reading it neither panics nor ends the program, unless it says that what must hold did not, or may
//! say so: an assertion that cannot be read is an error. Another line that is not understood is a warning with its number. Not here: where
//! the lines come from (`fozzy-world`, `fozzy-host`).

use super::properties::failed;
use super::sdk_text::{ASSERTION_KEY, NOT_ONE_KEY, SdkLineReader, UnreadLine, cut_name};
use super::{
    ComparisonOperator, Facts, FailureKind, PropertyError, PropertyEvaluation, PropertyKind, ReportedFailure, cut,
};
use crate::Digest;
use crate::choice::NAME_BYTES_MAX;
use crate::plan::Edition;
use serde::Deserialize;
use serde_json::{Map, Value};

/// The variable that names the file to which the SDK writes.
pub const SDK_OUTPUT_VARIABLE: &str = "ANTITHESIS_SDK_LOCAL_OUTPUT";
/// Where that file is when the plan does not say it, at the disk's root.
pub const SDK_OUTPUT_NAME: &str = "antithesis.jsonl";
/// The key of the line that says that the setup is complete.
pub const SDK_SETUP_KEY: &str = "antithesis_setup";
/// Warnings that are kept; further lines are counted.
const WARNINGS_MAX: usize = 4;
/// Bytes of details that are shown.
const DETAILS_BYTES_MAX: usize = 4096;
/// Parts of a boolean guidance: one bit each.
const PARTS_MAX: usize = 64;
/// The site of the failure that an assertion is which cannot be read.
const UNREAD_SITE: &str = "assertion of the Antithesis SDK";

/// Lines that were not understood.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SdkWarnings {
    /// The first ones, each in a sentence.
    pub first: Vec<String>,
    /// How many more there were.
    pub more: u64,
}

impl SdkWarnings {
    /// Adds one of the line of that number.
    pub fn add(&mut self, line: u64, problem: &str) {
        match self.first.len() < WARNINGS_MAX {
            true => self.first.push(format!("line {line} of {SDK_OUTPUT_VARIABLE}: {problem}")),
            false => self.more += 1,
        }
    }
}

/// An event of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SdkEvent {
    /// Its name.
    pub name: String,
    /// What the program says about it, JSON.
    pub details: String,
    /// Whether it is that the setup is complete.
    pub ends_setup: bool,
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Assertion {
    assert_type: String,
    condition: bool,
    #[serde(default)]
    message: Value,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    location: Value,
    hit: bool,
    must_hit: bool,
    #[serde(default)]
    details: Value,
}

impl Assertion {
    /// What it is called; before [`Edition::TENTH`] one whose name or place is unusual was not understood.
    fn name(&self, edition: Edition) -> Result<String, String> {
        match edition >= Edition::TENTH || self.is_usual() {
            true => Ok(name_of(&self.message, &self.id, &self.location)),
            false => Err("has no message of 1 to 255 bytes, or no place".to_owned()),
        }
    }

    fn is_usual(&self) -> bool {
        let has_name = self.message.as_str().is_some_and(|name| (1..=NAME_BYTES_MAX).contains(&name.len()));
        let is = |key: &str, fits: fn(&Value) -> bool| self.location.get(key).is_none_or(fits);
        has_name && self.location.is_object() && is("file", Value::is_string) && is("begin_line", Value::is_u64)
    }

    fn kind(&self) -> Result<PropertyKind, String> {
        match (&*self.assert_type, self.must_hit) {
            ("always", true) => Ok(PropertyKind::Always),
            ("always", false) => Ok(PropertyKind::AlwaysOrUnreachable),
            ("sometimes", _) => Ok(PropertyKind::Sometimes),
            ("reachability", true) => Ok(PropertyKind::Reachable),
            ("reachability", false) => Ok(PropertyKind::Unreachable),
            (other, _) => Err(format!(
                "the assertion's type is not `always`, `sometimes` or `reachability`, but `{}`",
                cut(other, 40).escape_debug()
            )),
        }
    }
}

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Guidance {
    guidance_type: String,
    message: String,
    #[serde(default)]
    id: Value,
    #[serde(default)]
    location: Value,
    maximize: bool,
    #[serde(default)]
    guidance_data: Value,
    hit: bool,
}

/// Why a line has no effect, or the failure that it is.
enum LineEnd {
    Problem(String),
    /// It is an assertion that may have failed.
    Unread(String),
    Failure(Box<ReportedFailure>),
}

impl From<PropertyError> for LineEnd {
    fn from(error: PropertyError) -> LineEnd {
        LineEnd::Problem(error.to_string())
    }
}

impl Facts {
    /// Takes the line of that number, without its end, as the edition understands it. An event is for the history.
    ///
    /// # Errors
    /// The failure that the line tells.
    pub fn sdk_line(
        &mut self,
        number: u64,
        line: &[u8],
        edition: Edition,
    ) -> Result<Option<SdkEvent>, Box<ReportedFailure>> {
        match self.understand(line, edition) {
            Ok(event) => Ok(event),
            Err(LineEnd::Failure(failure)) => Err(failure),
            Err(LineEnd::Unread(problem)) => Err(unread(number, &problem)),
            Err(LineEnd::Problem(problem)) => {
                self.sdk_warnings.add(number, &problem);
                Ok(None)
            }
        }
    }

    /// Takes the line of that number, which cannot be read.
    ///
    /// # Errors
    /// When it is an assertion.
    pub fn unread_sdk_line(&mut self, number: u64, line: &UnreadLine) -> Result<(), Box<ReportedFailure>> {
        match line.is_assertion {
            true => Err(unread(number, &line.problem)),
            false => {
                self.sdk_warnings.add(number, &line.problem);
                Ok(())
            }
        }
    }

    fn understand(&mut self, line: &[u8], edition: Edition) -> Result<Option<SdkEvent>, LineEnd> {
        let problem = |what: &str| LineEnd::Problem(what.to_owned());
        let value: Value = match serde_json::from_slice(line) {
            Ok(value) => value,
            Err(error) if edition >= Edition::ELEVENTH => read_tolerantly(line, &error)?,
            Err(error) => return Err(no_json(&error)),
        };
        let Value::Object(object) = value else { return Err(problem("is no JSON object")) };
        let mut parts = object.into_iter();
        let (key, value) = match (parts.next(), parts.next()) {
            (Some(only), None) => only,
            (Some((key, _)), _) if key == ASSERTION_KEY && edition >= Edition::ELEVENTH => {
                return Err(LineEnd::Unread(NOT_ONE_KEY.to_owned()));
            }
            _ => return Err(problem(NOT_ONE_KEY)),
        };
        match &*key {
            "antithesis_sdk" => Ok(None),
            ASSERTION_KEY => {
                // One that is only made known has not failed.
                let may_fail = edition >= Edition::ELEVENTH && value.get("hit") != Some(&Value::Bool(false));
                let assertion = read::<Assertion>(value).and_then(|assertion| {
                    let kind = assertion.kind().map_err(LineEnd::Problem)?;
                    Ok((assertion, kind))
                });
                let (assertion, kind) = assertion.map_err(|end| match end {
                    LineEnd::Problem(problem) if may_fail => LineEnd::Unread(problem),
                    end => end,
                })?;
                self.sdk_assertion(&assertion, kind, edition).map(|()| None)
            }
            "antithesis_guidance" => self.sdk_guidance(&read(value)?, edition).map(|()| None),
            SDK_SETUP_KEY => match value.get("status").and_then(Value::as_str) {
                Some("complete") => {
                    let event = event("setup_complete", value.get("details").unwrap_or(&Value::Null));
                    Ok(Some(SdkEvent { ends_setup: true, ..event }))
                }
                _ => Err(problem("has a status of the setup that is not `complete`")),
            },
            name => Ok(Some(event(name, &value))),
        }
    }

    fn sdk_assertion(&mut self, assertion: &Assertion, kind: PropertyKind, edition: Edition) -> Result<(), LineEnd> {
        let name = assertion.name(edition).map_err(LineEnd::Problem)?;
        let name = name.as_str();
        let holds = match kind {
            PropertyKind::Reachable => true,
            PropertyKind::Unreachable => false,
            PropertyKind::Always | PropertyKind::AlwaysOrUnreachable | PropertyKind::Sometimes => assertion.condition,
        };
        let details = shown(&assertion.details);
        let seen = PropertyEvaluation { kind, name, holds, distance: None, details: details.as_deref() };
        let fails = assertion.hit && !holds && kind.must_hold();
        let mut failure = match self.properties.announce(kind, name, &place_of(&assertion.location)) {
            // There is no room for its row, and what fails is a failure.
            Err(PropertyError::TooMany) if fails && edition >= Edition::TENTH => Some(failed(&seen)),
            Ok(Some(conflict)) if edition >= Edition::ELEVENTH => {
                self.sdk_conflict.get_or_insert_with(|| Box::new(conflict));
                match fails {
                    true => Some(failed(&seen)),
                    false => return Ok(()),
                }
            }
            announced => announced?,
        };
        if assertion.hit && failure.is_none() {
            failure = self.properties.see(seen)?;
        }
        let Some(failure) = failure else { return Ok(()) };
        Err(LineEnd::Failure(Box::new(match &self.sdk_conflict {
            Some(conflict) if failure.kind == FailureKind::Assertion => {
                let message = format!("{}\n{}", failure.message, conflict.message);
                ReportedFailure::new(failure.kind, &failure.site, &message)
            }
            _ => failure,
        })))
    }

    fn sdk_guidance(&mut self, guidance: &Guidance, edition: Edition) -> Result<(), LineEnd> {
        let problem = |what: &str| LineEnd::Problem(what.to_owned());
        if !guidance.hit {
            return Ok(());
        }
        let name = match edition >= Edition::TENTH {
            true => name_of(&Value::from(&*guidance.message), &guidance.id, &guidance.location),
            false => guidance.message.clone(),
        };
        let name = &*name;
        match (&*guidance.guidance_type, &guidance.guidance_data) {
            ("numeric", Value::Object(data)) => {
                let side = |key| data.get(key).and_then(Value::as_f64);
                let (Some(left), Some(right)) = (side("left"), side("right")) else {
                    return Err(problem("has a numeric guidance without two numbers `left` and `right`"));
                };
                // Towards the bound, and beyond it.
                let upwards = if guidance.maximize { ComparisonOperator::Greater } else { ComparisonOperator::Less };
                let (_, progress) = upwards.of(left, right);
                self.properties.approach(name, progress)?;
                Ok(())
            }
            ("boolean", Value::Object(data)) => {
                let parts = bits(data).ok_or_else(|| {
                    LineEnd::Problem(format!("has a boolean guidance that is not up to {PARTS_MAX} booleans"))
                })?;
                self.properties.combine(name, parts)?;
                Ok(())
            }
            // Each value is a place that was not reached before.
            ("json", data) => {
                let digest = Digest::of(data.to_string().as_bytes()).0;
                let value = u64::from_le_bytes(digest[..8].try_into().expect("eight of them"));
                self.properties.combine(name, value)?;
                Ok(())
            }
            (other, _) => {
                let other = cut(other, 40);
                Err(LineEnd::Problem(format!(
                    "the guidance of type `{}` has no data of its type",
                    other.escape_debug()
                )))
            }
        }
    }
}

fn read<T: for<'a> Deserialize<'a>>(value: Value) -> Result<T, LineEnd> {
    serde_json::from_value(value).map_err(|error| LineEnd::Problem(cut(&error.to_string(), 160)))
}

fn no_json(error: &serde_json::Error) -> LineEnd {
    LineEnd::Problem(format!("is no JSON, at its byte {}", error.column()))
}

/// Reads a line that is no JSON for the reason of `error`.
fn read_tolerantly(line: &[u8], error: &serde_json::Error) -> Result<Value, LineEnd> {
    // Nothing is in a line without an object, of which a program may write very many.
    if !line.contains(&b'{') {
        return Err(no_json(error));
    }
    let mut reader = SdkLineReader::default();
    reader.push(line);
    match reader.finish() {
        Ok(kept) => serde_json::from_str(&kept).map_err(|error| no_json(&error)),
        Err(UnreadLine { is_assertion: true, problem }) => Err(LineEnd::Unread(problem)),
        Err(_) => Err(no_json(error)),
    }
}

/// The failure that an assertion is which cannot be read.
fn unread(number: u64, problem: &str) -> Box<ReportedFailure> {
    let message = format!(
        "line {number} of {SDK_OUTPUT_VARIABLE} is an assertion that cannot be read, so that it may have failed: {problem}"
    );
    Box::new(ReportedFailure::new(FailureKind::Invalid, UNREAD_SITE, &message))
}

/// A place in a source; a line that is none, such as a negative one, is left out.
fn place_of(location: &Value) -> String {
    let file = location.get("file").and_then(Value::as_str).unwrap_or_default();
    match location.get("begin_line").map_or(Some(0), Value::as_u64) {
        Some(line) => format!("{file}:{line}"),
        None => file.to_owned(),
    }
}

/// What an assertion is called: its message, its id if that is empty, or else its place.
fn name_of(message: &Value, id: &Value, location: &Value) -> String {
    let known = [message, id].into_iter().filter_map(Value::as_str).find(|name| !name.is_empty());
    let name = known.map_or_else(|| format!("assertion at {}", place_of(location)), str::to_owned);
    match name.len() <= NAME_BYTES_MAX {
        true => name,
        false => cut_name(&name, &Digest::of(name.as_bytes())),
    }
}

fn event(name: &str, details: &Value) -> SdkEvent {
    let name = cut(name, NAME_BYTES_MAX);
    SdkEvent { name, details: cut(&details.to_string(), DETAILS_BYTES_MAX), ends_setup: false }
}

/// Details, unless there are none.
fn shown(details: &Value) -> Option<String> {
    let is_empty = details.is_null() || details.as_object().is_some_and(Map::is_empty);
    (!is_empty).then(|| details.to_string())
}

/// A bit for each part, in the order of their names.
fn bits(data: &Map<String, Value>) -> Option<u64> {
    let mut parts: Vec<(&String, bool)> =
        data.iter().map(|(name, value)| Some((name, value.as_bool()?))).collect::<Option<_>>()?;
    parts.sort_unstable();
    let bits = parts.iter().enumerate().map(|(place, (_, holds))| u64::from(*holds) << place);
    (parts.len() <= PARTS_MAX).then(|| bits.sum())
}

#[cfg(test)]
mod tests {
    use super::super::PropertyState;
    use super::*;

    fn assertion(of: &str, must_hit: bool, hit: bool, condition: bool) -> String {
        format!(
            r#"{{"antithesis_assert":{{"assert_type":"{of}","condition":{condition},"details":{{"x":7}},"display_type":"D","hit":{hit},"id":"p","location":{{"begin_column":5,"begin_line":7,"class":"c","file":"src/main.rs","function":"f"}},"message":"p","must_hit":{must_hit}}}}}"#
        )
    }

    fn guidance(of: &str, maximize: bool, data: &str) -> String {
        format!(
            r#"{{"antithesis_guidance":{{"guidance_data":{data},"guidance_type":"{of}","hit":true,"id":"p","location":{{}},"maximize":{maximize},"message":"p"}}}}"#
        )
    }

    fn told(lines: &[String]) -> (Facts, Option<ReportedFailure>) {
        let mut facts = Facts::default();
        for (number, line) in (1..).zip(lines) {
            if let Err(failure) = facts.sdk_line(number, line.as_bytes(), Edition::LATEST) {
                return (facts, Some(*failure));
            }
        }
        (facts, None)
    }

    #[test]
    fn an_assertion_is_a_property_of_its_kind() {
        use PropertyState::{Failed, NeverReached, NeverTrue, Passed};
        for (of, must_hit, declared, held, missed) in [
            ("always", true, NeverReached, Passed, Failed),
            ("always", false, Passed, Passed, Failed),
            ("sometimes", true, NeverReached, Passed, NeverTrue),
            ("reachability", true, NeverReached, Passed, Passed),
            ("reachability", false, Passed, Failed, Failed),
        ] {
            let catalogue = assertion(of, must_hit, false, false);
            let state = |lines: &[String]| {
                let (facts, failure) = told(lines);
                let (_, property) = facts.properties.iter().next().expect("it is known");
                assert_eq!(property.place.as_deref(), Some("src/main.rs:7"));
                assert_eq!(failure.is_some(), property.state() == Failed, "{of}");
                property.state()
            };
            let hit = |condition| [catalogue.clone(), assertion(of, must_hit, true, condition)];
            assert_eq!(
                (state(std::slice::from_ref(&catalogue)), state(&hit(true)), state(&hit(false))),
                (declared, held, missed),
                "{of}"
            );
        }
        let (_, failure) = told(&[assertion("always", true, true, false)]);
        let failure = failure.expect("it does not hold");
        assert_eq!((&*failure.site, &*failure.message), ("p", "`p` does not hold\n{\"x\":7}"));
    }

    #[test]
    fn what_fails_is_a_failure_whatever_it_is_called() {
        let fails = assertion("always", true, true, false);
        let called = |name: &str| fails.replace("\"message\":\"p\"", &format!("\"message\":{name}"));
        let long = |end: char| called(&format!("\"{}{end}\"", "é".repeat(200)));
        let site = |line: &str| {
            let (facts, failure) = told(&[line.to_owned()]);
            assert_eq!(facts.sdk_warnings, SdkWarnings::default(), "{line}");
            failure.unwrap_or_else(|| panic!("no failure: {line}")).site
        };
        let (first, second) = (site(&long('1')), site(&long('2')));
        assert!(first != second && first.starts_with("ééé") && first.contains("… "), "{first} {second}");
        assert!(first.len() <= NAME_BYTES_MAX, "{}", first.len());
        let of_all = "x".repeat(NAME_BYTES_MAX);
        assert_eq!(&*site(&called(&format!("\"{of_all}\""))), of_all);
        assert_eq!((&*site(&called("\"\"")), &*site(&called("null"))), ("p", "p"));
        let nameless = called("\"\"").replace("\"id\":\"p\"", "\"id\":\"\"");
        assert_eq!(&*site(&nameless), "assertion at src/main.rs:7");
        let no_line = |line: &str| line.replace("\"begin_line\":7", "\"begin_line\":-1");
        assert_eq!((&*site(&no_line(&nameless)), &*site(&no_line(&fails))), ("assertion at src/main.rs", "p"));
        // Guidance finds the property by the name that was cut, too.
        let known = long('1').replace("\"hit\":true", "\"hit\":false");
        let near = guidance("boolean", true, "{\"a\":true}")
            .replace("\"message\":\"p\"", &format!("\"message\":\"{}1\"", "é".repeat(200)));
        let (facts, failure) = told(&[known, near]);
        assert_eq!((facts.sdk_warnings, failure), (SdkWarnings::default(), None));
        // Also where there is no room for one more property.
        let mut full = Facts::default();
        for number in 0..super::super::PROPERTIES_MAX {
            full.properties.announce(PropertyKind::Sometimes, &format!("n{number}"), "a.rs:1").expect("there is room");
        }
        assert_eq!(full.sdk_line(1, fails.as_bytes(), Edition::NINTH), Ok(None));
        assert!(full.sdk_line(2, fails.as_bytes(), Edition::TENTH).is_err_and(|failure| failure.site == "p"));
        // Traces of before are as they were.
        for line in [long('1'), called("\"\""), called("null"), no_line(&fails)] {
            let mut facts = Facts::default();
            assert_eq!(facts.sdk_line(1, line.as_bytes(), Edition::NINTH), Ok(None), "{line}");
            assert_eq!((facts.sdk_warnings.first.len(), facts.properties.iter().count()), (1, 0), "{line}");
        }
        assert!(Facts::default().sdk_line(1, fails.as_bytes(), Edition::NINTH).is_err());
    }

    #[test]
    fn what_fails_is_a_failure_whatever_its_bytes_are() {
        let fails = assertion("always", true, true, false);
        let with = |from: &str, to: &[u8]| {
            let (before, behind) = fails.split_once(from).expect("it is there");
            [before.as_bytes(), to, behind.as_bytes()].concat()
        };
        let message = "\"message\":\"p\"";
        let details = "\"details\":{\"x\":7}";
        for (line, site, said) in [
            (with(message, b"\"message\":\"a\xff\xfeb\""), "a\u{FFFD}\u{FFFD}b", "{\"x\":7}"),
            (with(message, br#""message":"a\ud800b""#), "a\u{FFFD}b", "{\"x\":7}"),
            (with(message, b"\"message\":\"a\x1b\x01b\""), "a\u{1b}\u{1}b", "{\"x\":7}"),
            (with(details, format!("\"details\":{}{}", "[".repeat(200), "]".repeat(200)).as_bytes()), "p", "[[[["),
            (with(details, b"\"details\":{\"x\":NaN}"), "p", "NaN"),
            (with("{\"anti", b"\xef\xbb\xbf{\"anti"), "p", "{\"x\":7}"),
            ([fails.as_bytes(), b"\0"].concat(), "p", "{\"x\":7}"),
        ] {
            let mut facts = Facts::default();
            let failure = facts.sdk_line(1, &line, Edition::ELEVENTH).expect_err("it fails");
            assert_eq!((failure.kind, &*failure.site), (FailureKind::Assertion, site), "{}", line.escape_ascii());
            let text = &failure.message;
            assert!(text.contains("does not hold") && text.contains(said), "{text}");
            let (_, property) = facts.properties.iter().next().expect("it is known");
            assert_eq!(property.place.as_deref(), Some("src/main.rs:7"));
            assert_eq!(facts.sdk_warnings, SdkWarnings::default());
            // Traces of before are as they were.
            let mut before = Facts::default();
            assert_eq!(before.sdk_line(1, &line, Edition::NINTH), Ok(None));
            assert!(before.sdk_warnings.first[0].contains("is no JSON, at its byte "), "{:?}", before.sdk_warnings);
        }
    }

    #[test]
    fn an_assertion_that_cannot_be_read_is_an_error() {
        let whole = assertion("always", true, true, false);
        for (line, said) in [
            (whole[..whole.len() - 9].to_owned(), "ends in the middle, after "),
            (format!("{whole}{whole}"), "expected the end of the line at its byte "),
            (whole.replace("\"hit\":true", "\"hit\":1"), "invalid type: integer `1`, expected a boolean"),
            (whole.replace("\"condition\":false,", ""), "missing field `condition`"),
            (whole.replace("\"condition\":false", "\"condition\":False"), "invalid type: string \"False\""),
            (whole.replace("\"always\"", "\"never\""), "`always`, `sometimes` or `reachability`, but `never`"),
            ("{\"antithesis_assert\":5}".to_owned(), "expected an object"),
            ("{\"antithesis_assert\":{\"hit\":true},\"b\":1}".to_owned(), NOT_ONE_KEY),
            (format!("{{\"antithesis_assert\":{}", "[".repeat(10_000)), "ends in the middle, after "),
        ] {
            let mut facts = Facts::default();
            let failure = facts.sdk_line(31, line.as_bytes(), Edition::ELEVENTH).expect_err("it may have failed");
            assert_eq!((failure.kind, &*failure.site), (FailureKind::Invalid, UNREAD_SITE), "{line}");
            let is_said = failure.message.starts_with("line 31 of ANTITHESIS_SDK_LOCAL_OUTPUT is an assertion that");
            assert!(is_said && failure.message.contains(said), "{}", failure.message);
            let mut before = Facts::default();
            assert_eq!(before.sdk_line(31, line.as_bytes(), Edition::NINTH), Ok(None), "{line}");
            assert_eq!(before.sdk_warnings.first.len(), 1, "{line}");
        }
        let unread = |is_assertion| UnreadLine { is_assertion, problem: "is too long".to_owned() };
        let mut facts = Facts::default();
        assert_eq!(facts.unread_sdk_line(1, &unread(false)), Ok(()));
        assert_eq!(facts.sdk_warnings.first.len(), 1);
        assert!(facts.unread_sdk_line(1, &unread(true)).is_err_and(|failure| failure.kind == FailureKind::Invalid));
    }

    #[test]
    fn of_two_kinds_with_one_name_a_failure_is_told() {
        let line = |of: &str, hit, condition| assertion(of, true, hit, condition);
        let both = "two properties are called `p`: one is";
        for lines in [
            vec![line("sometimes", false, false), line("always", true, false)],
            vec![line("always", true, true), line("sometimes", true, true), line("always", true, false)],
            vec![line("always", false, false), line("sometimes", false, false), line("always", true, false)],
        ] {
            let (facts, failure) = told(&lines);
            let failure = failure.expect("it does not hold");
            assert_eq!((failure.kind, &*failure.site), (FailureKind::Assertion, "p"));
            let text = &failure.message;
            assert!(text.starts_with("`p` does not hold\n{\"x\":7}\n") && text.contains(both), "{text}");
            assert!(facts.sdk_conflict.is_some());
        }
        // Without one, it waits for the end.
        let (facts, failure) = told(&[line("always", true, true), line("sometimes", true, false)]);
        assert_eq!(failure, None);
        let conflict = facts.sdk_conflict.expect("two kinds");
        assert!(conflict.kind == FailureKind::Invalid && conflict.message.contains(both), "{conflict:?}");
        let mut before = Facts::default();
        let known = line("sometimes", false, false);
        assert_eq!(before.sdk_line(1, known.as_bytes(), Edition::NINTH), Ok(None));
        let failure = before.sdk_line(2, line("always", true, false).as_bytes(), Edition::NINTH);
        assert!(failure.is_err_and(|failure| failure.kind == FailureKind::Invalid));
    }

    #[test]
    fn guidance_says_how_far_a_property_has_come() {
        let known = assertion("sometimes", true, false, false);
        let numbers = [(2, 10), (9, 10), (4, 10)].map(|(left, right)| format!("{{\"left\":{left},\"right\":{right}}}"));
        let of = |maximize| {
            let lines = numbers.iter().map(|data| guidance("numeric", maximize, data));
            let (facts, _) = told(&std::iter::once(known.clone()).chain(lines).collect::<Vec<_>>());
            assert_eq!(facts.sdk_warnings, SdkWarnings::default());
            facts.properties.iter().next().expect("one").1.clone()
        };
        assert_eq!((of(true).high_water, of(true).closest), (Some(-1.0), Some(-1.0)));
        assert_eq!((of(false).high_water, of(false).closest), (Some(8.0), Some(1.0)));
        let parts = ["{\"b\":false,\"a\":true}", "{\"a\":true,\"b\":true}", "{\"a\":true,\"b\":false}", "{}"];
        let lines = parts.map(|data| guidance("boolean", true, data));
        let (facts, _) = told(&std::iter::once(known.clone()).chain(lines).collect::<Vec<_>>());
        let combinations: Vec<u64> =
            facts.properties.iter().next().expect("one").1.combinations.iter().copied().collect();
        assert_eq!(combinations, [0, 1, 3]);
        let values = ["{\"at\":[1,2]}", "7", "{\"at\":[2,1]}", "{\"at\":[1,2]}"];
        let lines = values.map(|data| guidance("json", true, data));
        let (facts, _) = told(&std::iter::once(known).chain(lines).collect::<Vec<_>>());
        assert_eq!(facts.properties.iter().next().expect("one").1.combinations.len(), 3);
    }

    #[test]
    fn other_lines_are_events() {
        let mut facts = Facts::default();
        let mut event = |line: &str| facts.sdk_line(1, line.as_bytes(), Edition::LATEST).expect("no failure");
        assert_eq!(event(r#"{"antithesis_sdk":{"sdk_version":"0.2.9"}}"#), None);
        let is = |name: &str, details: &str| {
            let (name, details) = (name.to_owned(), details.to_owned());
            Some(SdkEvent { ends_setup: name == "setup_complete", name, details })
        };
        assert_eq!(
            event(r#"{"antithesis_setup":{"status":"complete","details":{"n":1}}}"#),
            is("setup_complete", "{\"n\":1}")
        );
        assert_eq!(event(r#"{"start_day":{"day":17}}"#), is("start_day", "{\"day\":17}"));
        assert_eq!(facts.sdk_warnings, SdkWarnings::default());
    }

    #[test]
    fn what_is_not_understood_is_said_with_its_line() {
        let twice = format!("{{\"a\":1,\"b\":{}}}", "2".repeat(400));
        let hostile: Vec<Vec<u8>> = vec![
            b"".to_vec(),
            b"nonsense".to_vec(),
            vec![0xFF, 0xFE],
            b"[1]".to_vec(),
            b"{}".to_vec(),
            twice.into_bytes(),
            assertion("never", true, false, true).into_bytes(),
            b"{\"antithesis_assert\":{\"hit\":false}}".to_vec(),
            b"{\"antithesis_setup\":null}".to_vec(),
            guidance("numeric", true, "{\"left\":1}").into_bytes(),
            guidance("boolean", true, "{\"a\":1}").into_bytes(),
            guidance("boolean", true, "{\"a\":true}").into_bytes(),
            guidance("odd", true, "7").into_bytes(),
        ];
        for line in hostile {
            let mut facts = Facts::default();
            let taken = facts.sdk_line(31, &line, Edition::LATEST);
            assert_eq!(taken, Ok(None), "{}", String::from_utf8_lossy(&line));
            let said = &facts.sdk_warnings.first;
            assert!(said.len() == 1 && said[0].starts_with("line 31 of ANTITHESIS_SDK_LOCAL_OUTPUT: "), "{said:?}");
            assert!(said[0].len() < 300 && !said[0].contains("struct"), "{said:?}");
        }
        let (facts, _) = told(&vec![String::from("x"); 10]);
        assert_eq!((facts.sdk_warnings.first.len(), facts.sdk_warnings.more), (WARNINGS_MAX, 6));
    }
}
