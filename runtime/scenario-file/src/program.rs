//! Scenarios of version 2: steps with variables, conditions, loops, branches and calls.
//!
//! ```text
//! { "version": 2, "name": "n", "vars": {"n": 0}, "functions": {"f": {"params": ["x"], "do": [ … ]}}, "steps": [
//!     {"type": "repeat", "times": 3, "as": "i", "do": [{"type": "set_kv", "key": "k${i}", "value": "${n}"}]} ] }
//!
//! file: vars ─┬─ steps ─┬─ body of a loop, a branch of `parallel`: names of their own
//!             │         └─ then, else: the names around them
//!             └─ a function: its parameters, and what it sets itself
//! ```
//!
//! Kinds of version 1 are steps as they were; in each of their strings, and in the place of each of their values, variables
//! can stand (`template`).
//!
//! Invariants: a name that nothing before gives a value to is refused when the file is read; what is refused has its place.
//! Not here: how steps are done (`runtime/player/program`).

use crate::STEPS_MAX;
use crate::condition::Condition;
use crate::json::{JsonNode, JsonValue};
use crate::read::{ReadProblem, VariableMode, quoted, read_as, unknown};
use crate::step::Step;
use crate::template::{TemplatePiece, VariablePathStep, is_name, is_template, pieces};
use serde::de::{Deserialize, Deserializer, IgnoredAny, SeqAccess, Visitor};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Rounds that a loop can have at the most, whatever it says.
pub const ROUNDS_MAX: u32 = 1_000_000;
/// Branches of one `parallel`.
const BRANCHES_MAX: usize = 64;

/// A file of version 2.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramFile {
    /// The name of the scenario.
    pub name: String,
    /// Variables, and their values at the start.
    pub vars: Vec<(String, JsonNode)>,
    /// Functions, by name.
    pub functions: BTreeMap<String, StepFunction>,
    /// What is done, in this order.
    pub steps: Vec<ProgramStep>,
}

/// Steps with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct StepFunction {
    /// What is given to it.
    pub params: Vec<String>,
    /// What it does.
    pub acts: Vec<ProgramStep>,
    /// What it gives back.
    pub returns: Option<JsonNode>,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramStep {
    /// The name of its kind.
    pub kind: &'static str,
    /// The variable that what it yields is the value of.
    pub save_as: Option<String>,
    /// What is done.
    pub does: Statement,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// A step of version 1 without variables.
    Step(Box<Step>),
    /// A step of version 1 that is filled in each time.
    Template(Box<JsonNode>),
    /// One of these must fail.
    Throws(Vec<ProgramStep>),
    /// A variable gets a value.
    Set(String, JsonNode),
    /// Calculates.
    Compute(Calculation, JsonNode, Option<JsonNode>),
    /// Draws one of these.
    Draw(JsonNode),
    /// Reads what is stored under a key, or takes something else where nothing is.
    GetKv(JsonNode, Option<JsonNode>),
    /// Reads a file.
    FsRead(JsonNode),
    /// Must hold.
    Assert(Condition, Option<JsonNode>),
    /// One or the other.
    If(Condition, Vec<ProgramStep>, Vec<ProgramStep>),
    /// Once for each element.
    For(JsonNode, String, Vec<ProgramStep>),
    /// So many times.
    Repeat(JsonNode, Option<String>, Vec<ProgramStep>),
    /// Repeats the steps while the condition holds, at most `max` times.
    While(Condition, u32, Vec<ProgramStep>),
    /// All of them, in any order of their steps.
    Parallel(Vec<Vec<ProgramStep>>),
    /// A function of the file.
    Run(String, Vec<(String, JsonNode)>),
    /// A function of the target.
    Call(TargetCall),
}

/// A call of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetCall {
    /// Which one: `interface#function`.
    pub function: JsonNode,
    /// With what, in WAVE.
    pub args: String,
    /// What is to come back, in WAVE.
    pub expect: Option<String>,
    /// Of which instance.
    pub instance: Option<JsonNode>,
}

impl ProgramStep {
    /// All steps inside of it.
    pub fn inner(&self) -> impl Iterator<Item = &ProgramStep> {
        let (first, second, several): (&[ProgramStep], &[ProgramStep], &[Vec<ProgramStep>]) = match &self.does {
            Statement::Throws(acts)
            | Statement::For(_, _, acts)
            | Statement::Repeat(_, _, acts)
            | Statement::While(_, _, acts) => (acts, &[], &[]),
            Statement::If(_, then, otherwise) => (then, otherwise, &[]),
            Statement::Parallel(branches) => (&[], &[], branches),
            _ => (&[], &[], &[]),
        };
        first.iter().chain(second).chain(several.iter().flatten())
    }

    /// Whether it only says how something else is answered.
    fn is_rule(&self) -> bool {
        matches!(self.kind, "http_when" | "proc_when" | "set")
    }
}

/// What is calculated. A text that is a number counts as that number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Calculation {
    /// `a` + `b`.
    Add,
    /// `a` - `b`.
    Sub,
    /// `a` × `b`.
    Mul,
    /// `a` / `b`, whole.
    Div,
    /// What is left of `a` / `b`.
    Rem,
    /// The smaller one.
    Min,
    /// The larger one.
    Max,
    /// Elements of the list `a`, members of the object, or characters of the text. Without `b`.
    Length,
    /// The list `a` with `b` at its end.
    Append,
}

/// Any value; strings in it can have variables.
type Any = serde_json::Value;

/// The kinds of steps that version 1 has not, as they are written.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(tag = "type"))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(
    dead_code,
    reason = "values are taken from the tree, where they have a place; the shape is for checks and the schema"
)]
pub(crate) enum StepShape {
    /// Gives a variable a value: the one of that name that there is, or else a new one.
    Set {
        /// Its name.
        name: String,
        /// Its value.
        value: Any,
    },
    /// Calculates with whole numbers, and measures and extends lists.
    Compute {
        /// What.
        op: Calculation,
        /// One value.
        a: Any,
        /// The other.
        #[serde(default)]
        b: Option<Any>,
        /// The variable that has the result.
        save_as: String,
    },
    /// Draws one of several values, all equally likely.
    Draw {
        /// A list, not empty.
        of: Any,
        /// The variable that has the value.
        save_as: String,
    },
    /// Reads what is stored under a key.
    GetKv {
        /// The key.
        key: String,
        /// The value when nothing is stored; without it, that is a failure.
        #[serde(default, deserialize_with = "crate::step::present")]
        default: Option<Any>,
        /// The variable that has the value.
        save_as: String,
    },
    /// Reads a file: its text, or `{"base64": …}` when its bytes are no text.
    FsRead {
        /// The file.
        path: String,
        /// The variable that has what it holds.
        save_as: String,
    },
    /// Holds when the condition does.
    Assert {
        /// The condition.
        that: Condition,
        /// Said when it does not hold.
        #[serde(default)]
        msg: Option<String>,
    },
    /// Does one thing or the other.
    If {
        /// The condition.
        when: Condition,
        /// What is done when it holds.
        then: StepList,
        /// What is done when it does not.
        #[serde(default, rename = "else")]
        otherwise: Option<StepList>,
    },
    /// Does something for each element of a list.
    For {
        /// The list.
        #[serde(rename = "in")]
        list: Any,
        /// The variable that has the element.
        #[serde(rename = "as")]
        name: String,
        /// What is done.
        r#do: StepList,
    },
    /// Does something several times.
    Repeat {
        /// How often.
        times: u32,
        /// The variable that has the number of the round, from 0.
        #[serde(default, rename = "as")]
        name: Option<String>,
        /// What is done.
        r#do: StepList,
    },
    /// Does something as long as a condition holds.
    While {
        /// The condition.
        when: Condition,
        /// Rounds after which it has failed if the condition still holds.
        #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
        max: u32,
        /// What is done.
        r#do: StepList,
    },
    /// Does several things at once: between any two steps, any other branch may go on.
    Parallel {
        /// Lists of steps, two at least.
        branches: Vec<StepList>,
    },
    /// Does what a function of the file says.
    Run {
        /// Its name.
        function: String,
        /// A value for each of its parameters.
        #[serde(default)]
        with: BTreeMap<String, Any>,
        /// The variable that has what it returns.
        #[serde(default)]
        save_as: Option<String>,
    },
    /// Calls a function that the target exports (`--target`).
    Call {
        /// Which one: `package:name/interface#function`; a version can be left out.
        function: String,
        /// Its arguments, in WAVE: `("key", 1)`.
        #[serde(default)]
        args: Option<String>,
        /// What is to come back, in WAVE: `some("value")`.
        #[serde(default)]
        expect: Option<String>,
        /// Of which instance of the target (`--target-instances`), from 0.
        #[serde(default)]
        instance: Option<u32>,
        /// The variable that has what came back, as JSON.
        #[serde(default)]
        save_as: Option<String>,
    },
}

impl StepShape {
    /// The names of its kinds.
    pub(crate) const KINDS: &'static [&'static str] = &[
        "set", "compute", "draw", "get_kv", "fs_read", "assert", "if", "for", "repeat", "while", "parallel", "run",
        "call",
    ];
}

/// Those of them that yield a value.
const NEW_YIELDS: &[&str] = &["compute", "draw", "get_kv", "fs_read", "run", "call"];

/// Kinds of version 1 that yield a value in version 2.
pub(crate) const YIELDS: &[&str] =
    &["rand_u64", "get_kv_assert", "fs_read_assert", "http_request", "proc_spawn", "net_deliver_one", "memory_alloc"];

/// A list of steps, which is looked into where it stands.
pub(crate) struct StepList;

impl<'de> Deserialize<'de> for StepList {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<StepList, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = StepList;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of steps")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<StepList, A::Error> {
                while elements.next_element::<IgnoredAny>()?.is_some() {}
                Ok(StepList)
            }
        }
        // Not by `deserialize_seq`, which a variable may stand for.
        from.deserialize_any(List)
    }
}

/// The file as it is written.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ProgramFile"))]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "as of `StepShape`")]
pub(crate) struct FileShape {
    /// The version of the format: 2.
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 2)))]
    version: u32,
    /// The name of the scenario.
    name: String,
    /// Variables, and their values at the start.
    #[serde(default)]
    vars: BTreeMap<String, Any>,
    /// Functions, by name.
    #[serde(default)]
    functions: BTreeMap<String, FunctionShape>,
    /// What is done, in this order.
    steps: StepList,
}

/// Steps with a name.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Function"))]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "as of `StepShape`")]
pub(crate) struct FunctionShape {
    /// What is given to it.
    #[serde(default)]
    params: Vec<String>,
    /// What it does.
    r#do: StepList,
    /// What it gives back.
    #[serde(default)]
    returns: Option<Any>,
}

/// The two kinds that have steps in version 1 already.
#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(dead_code, reason = "as of `StepShape`")]
enum Throws {
    AssertThrows { steps: StepList },
    AssertRejects { steps: StepList },
}

/// Reads a file of version 2.
pub(crate) fn read(root: &JsonNode) -> Result<ProgramFile, ReadProblem> {
    let shape: FileShape = read_as(root, VariableMode::One)?;
    let members = |name: &str| match root.member(name).map(|node| &node.value) {
        Some(JsonValue::Object(members)) => members.as_slice(),
        _ => &[],
    };
    let mut reader = Reader::default();
    let mut vars = Vec::new();
    for (key, node) in members("vars") {
        named(&key.text, key.at)?;
        reader.look_through(node)?;
        reader.define(&key.text);
        vars.push((key.text.clone(), node.clone()));
    }
    for (key, node) in members("functions") {
        named(&key.text, key.at)?;
        let shape: FunctionShape = read_as(node, VariableMode::One)?;
        let mut params = BTreeSet::new();
        for (place, param) in shape.params.iter().enumerate() {
            let at = node.member("params").and_then(|list| list.element(place)).unwrap_or(node).at;
            named(param, at)?;
            if !params.insert(param) {
                return Err(ReadProblem::at(at, format!("params: `{param}` stands twice")));
            }
        }
        reader.functions.insert(key.text.clone(), shape.params);
    }
    let mut functions = BTreeMap::new();
    for (key, node) in members("functions") {
        let params = reader.functions.get(&key.text).cloned().unwrap_or_default();
        let (acts, returns) = reader.within(&params, |reader| {
            let acts = reader.acts(node, "do")?;
            let returns = node.member("returns").map(|node| reader.looked_through(node)).transpose()?;
            Ok((acts, returns))
        })?;
        functions.insert(key.text.clone(), StepFunction { params, acts, returns });
    }
    let steps = reader.within(&[], |reader| reader.acts(root, "steps"))?;
    if steps.iter().all(ProgramStep::is_rule) && !cfg!(target_arch = "wasm32") {
        let at = root.member("steps").unwrap_or(root).at;
        return Err(ReadProblem::at(at, "steps: no_steps_executed: nothing would be tested"));
    }
    Ok(ProgramFile { name: shape.name, vars, functions, steps })
}

fn named(name: &str, at: usize) -> Result<(), ReadProblem> {
    match is_name(name) {
        true => Ok(()),
        false => {
            let what = format!(
                "expected a name, which is 1 to 64 letters, digits and `_` and begins with none of the digits, found {}",
                quoted(name)
            );
            Err(ReadProblem::at(at, what))
        }
    }
}

/// What is known where a step stands.
#[derive(Default)]
struct Reader {
    /// Names that have a value, the innermost last.
    names: Vec<String>,
    /// Functions of the file, and their parameters.
    functions: BTreeMap<String, Vec<String>>,
    /// Steps so far.
    count: usize,
    /// Whether this is inside of what must fail.
    catches: bool,
}

impl Reader {
    fn define(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    /// With names that are known inside of something only.
    fn within<R>(
        &mut self,
        names: &[String],
        body: impl FnOnce(&mut Reader) -> Result<R, ReadProblem>,
    ) -> Result<R, ReadProblem> {
        let outside = self.names.len();
        names.iter().for_each(|name| self.define(name));
        let read = body(self)?;
        self.names.truncate(outside);
        Ok(read)
    }

    /// All variables of a value must be known; the answer is whether there are some.
    fn look_through(&self, node: &JsonNode) -> Result<bool, ReadProblem> {
        match &node.value {
            JsonValue::Text(text) if is_template(text) => self.look_through_text(text, node.at).map(|()| true),
            JsonValue::List(elements) => {
                elements.iter().try_fold(false, |some, element| Ok(self.look_through(element)? || some))
            }
            JsonValue::Object(members) => {
                members.iter().try_fold(false, |some, (_, node)| Ok(self.look_through(node)? || some))
            }
            _ => Ok(false),
        }
    }

    fn look_through_text(&self, text: &str, at: usize) -> Result<(), ReadProblem> {
        let pieces = pieces(text).map_err(|what| ReadProblem::at(at, what))?;
        for piece in &pieces {
            let TemplatePiece::Path(path) = piece else { continue };
            let indexes = path.parts.iter().filter_map(|part| match part {
                VariablePathStep::At(name) => Some(name),
                VariablePathStep::Key(_) | VariablePathStep::Index(_) => None,
            });
            for name in [&path.name].into_iter().chain(indexes) {
                if !self.names.contains(name) {
                    let known: Vec<&str> = self.names.iter().map(String::as_str).collect();
                    return Err(ReadProblem::at(at, unknown("variable", name, &known)));
                }
            }
        }
        Ok(())
    }

    fn looked_through(&self, node: &JsonNode) -> Result<JsonNode, ReadProblem> {
        self.look_through(node).map(|_| node.clone())
    }

    fn field(&self, node: &JsonNode, name: &str) -> Result<JsonNode, ReadProblem> {
        let field = node.member(name).ok_or_else(|| ReadProblem::at(node.at, format!("`{name}` is missing")))?;
        self.looked_through(field)
    }

    fn optional(&self, node: &JsonNode, name: &str) -> Result<Option<JsonNode>, ReadProblem> {
        let field = node.member(name).filter(|field| field.value != JsonValue::Null);
        field.map(|field| self.looked_through(field)).transpose()
    }

    fn text(&self, node: &JsonNode, name: &str) -> Result<Option<String>, ReadProblem> {
        Ok(match self.optional(node, name)?.map(|node| node.value) {
            Some(JsonValue::Text(text)) => Some(text),
            _ => None,
        })
    }

    fn condition(&self, node: &JsonNode, name: &str) -> Result<Condition, ReadProblem> {
        let node = node.member(name).unwrap_or(node);
        self.look_through(node)?;
        Condition::read(node)
    }

    fn acts(&mut self, node: &JsonNode, name: &str) -> Result<Vec<ProgramStep>, ReadProblem> {
        let list = node.member(name).unwrap_or(node);
        self.list(list, name)
    }

    fn list(&mut self, list: &JsonNode, name: &str) -> Result<Vec<ProgramStep>, ReadProblem> {
        match &list.value {
            JsonValue::List(elements) if elements.is_empty() => {
                Err(ReadProblem::at(list.at, format!("{name}: no step, so nothing would be done")))
            }
            JsonValue::List(elements) => elements.iter().map(|element| self.act(element)).collect(),
            other => Err(ReadProblem::at(list.at, format!("{name}: expected a list of steps, found {}", other.kind()))),
        }
    }

    fn act(&mut self, node: &JsonNode) -> Result<ProgramStep, ReadProblem> {
        self.count += 1;
        if self.count > STEPS_MAX {
            return Err(ReadProblem::at(node.at, format!("more than the {STEPS_MAX} steps that a scenario can have")));
        }
        let kind = match node.member("type") {
            Some(JsonNode { at, value: JsonValue::Text(text) }) => {
                let known: Vec<&'static str> = Step::KINDS.iter().chain(StepShape::KINDS).copied().collect();
                let kind = known.iter().find(|kind| *kind == text).copied();
                kind.ok_or_else(|| ReadProblem::at(*at, unknown("kind", text, &known)))?
            }
            // The words for that are those of version 1.
            _ => {
                return Err(read_as::<Step>(node, VariableMode::Template)
                    .err()
                    .unwrap_or_else(|| ReadProblem::at(node.at, "no kind")));
            }
        };
        if let Some(place) = node.member("save_as").filter(|_| !YIELDS.contains(&kind) && !NEW_YIELDS.contains(&kind)) {
            let yields: Vec<&str> = YIELDS.iter().chain(NEW_YIELDS).copied().collect();
            let what = format!("save_as: `{kind}` yields no value; these do: {}", yields.join(", "));
            return Err(ReadProblem::at(place.at, what));
        }
        let does = match kind {
            "assert_throws" | "assert_rejects" => self.throws(node)?,
            kind if StepShape::KINDS.contains(&kind) => self.control(node)?,
            kind => self.step(kind, node)?,
        };
        let save_as = match node.member("save_as") {
            Some(JsonNode { at, value: JsonValue::Text(name) }) => {
                named(name, *at)?;
                self.define(name);
                Some(name.clone())
            }
            Some(other) => {
                return Err(ReadProblem::at(
                    other.at,
                    format!("save_as: expected a name, found {}", other.value.kind()),
                ));
            }
            None => None,
        };
        Ok(ProgramStep { kind, save_as, does })
    }

    fn throws(&mut self, node: &JsonNode) -> Result<Statement, ReadProblem> {
        let _: Throws = read_as(node, VariableMode::Template)?;
        let outside = std::mem::replace(&mut self.catches, true);
        let acts = self.within(&[], |reader| reader.acts(node, "steps"))?;
        self.catches = outside;
        Ok(Statement::Throws(acts))
    }

    /// A step of version 1.
    fn step(&mut self, kind: &'static str, node: &JsonNode) -> Result<Statement, ReadProblem> {
        let node = match (node.member("save_as"), &node.value) {
            (Some(_), JsonValue::Object(members)) => {
                let others = members.iter().filter(|(key, _)| key.text != "save_as").cloned();
                &JsonNode { at: node.at, value: JsonValue::Object(others.collect()) }
            }
            _ => node,
        };
        let step: Step = read_as(node, VariableMode::Template)?;
        let is_open = self.look_through(node)?;
        if let Some((field, what)) = step.problem() {
            let place = node.member(field).unwrap_or(node);
            // What is filled in is looked at when it is done.
            if !self.look_through(place)? {
                let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
                return Err(ReadProblem::at(place.at, format!("{kind}: {field}{what}")));
            }
        }
        Ok(if is_open { Statement::Template(Box::new(node.clone())) } else { Statement::Step(Box::new(step)) })
    }

    fn control(&mut self, node: &JsonNode) -> Result<Statement, ReadProblem> {
        let shape: StepShape = read_as(node, VariableMode::Template)?;
        let place = |name: &str| node.member(name).unwrap_or(node).at;
        Ok(match shape {
            StepShape::Set { name, .. } => {
                named(&name, place("name"))?;
                let value = self.field(node, "value")?;
                self.define(&name);
                Statement::Set(name, value)
            }
            StepShape::Compute { op, .. } => {
                let (a, b) = (self.field(node, "a")?, self.optional(node, "b")?);
                match (op, &b) {
                    (Calculation::Length, Some(_)) => {
                        return Err(ReadProblem::at(place("b"), "compute: b: not with `length`"));
                    }
                    (Calculation::Length, None) | (_, Some(_)) => {}
                    (_, None) => return Err(ReadProblem::at(node.at, "compute: `b` is missing")),
                }
                Statement::Compute(op, a, b)
            }
            StepShape::Draw { .. } => {
                if matches!(&node.member("of").map(|node| &node.value), Some(JsonValue::List(list)) if list.is_empty())
                {
                    return Err(ReadProblem::at(place("of"), "draw: of: there is nothing to draw from"));
                }
                Statement::Draw(self.field(node, "of")?)
            }
            StepShape::GetKv { .. } => {
                let default = node.member("default").map(|default| self.looked_through(default)).transpose()?;
                Statement::GetKv(self.field(node, "key")?, default)
            }
            StepShape::FsRead { .. } => Statement::FsRead(self.field(node, "path")?),
            StepShape::Assert { .. } => Statement::Assert(self.condition(node, "that")?, self.optional(node, "msg")?),
            StepShape::If { otherwise, .. } => {
                let when = self.condition(node, "when")?;
                let then = self.acts(node, "then")?;
                let otherwise = if otherwise.is_some() { self.acts(node, "else")? } else { Vec::new() };
                Statement::If(when, then, otherwise)
            }
            StepShape::For { name, .. } => {
                named(&name, place("as"))?;
                let list = self.field(node, "in")?;
                Statement::For(list, name.clone(), self.within(&[name], |reader| reader.acts(node, "do"))?)
            }
            StepShape::Repeat { times, name, .. } => {
                if times > ROUNDS_MAX {
                    return Err(ReadProblem::at(
                        place("times"),
                        format!("times: expected {ROUNDS_MAX} at the most, found {times}"),
                    ));
                }
                if let Some(name) = &name {
                    named(name, place("as"))?;
                }
                let names: Vec<String> = name.iter().cloned().collect();
                let times = self.field(node, "times")?;
                Statement::Repeat(times, name, self.within(&names, |reader| reader.acts(node, "do"))?)
            }
            StepShape::While { max, .. } => {
                if !(1..=ROUNDS_MAX).contains(&max) {
                    return Err(ReadProblem::at(place("max"), format!("max: expected 1 to {ROUNDS_MAX}, found {max}")));
                }
                if self.look_through(node.member("max").unwrap_or(node))? {
                    return Err(ReadProblem::at(place("max"), "max: expected a number; a bound cannot be a variable"));
                }
                let when = self.condition(node, "when")?;
                Statement::While(when, max, self.within(&[], |reader| reader.acts(node, "do"))?)
            }
            StepShape::Parallel { .. } => self.parallel(node)?,
            StepShape::Run { function, with, .. } => self.run(node, &function, &with)?,
            StepShape::Call { .. } => {
                let (args, expect) = (self.text(node, "args")?.unwrap_or_default(), self.text(node, "expect")?);
                let (function, instance) = (self.field(node, "function")?, self.optional(node, "instance")?);
                Statement::Call(TargetCall { function, args, expect, instance })
            }
        })
    }

    fn parallel(&mut self, node: &JsonNode) -> Result<Statement, ReadProblem> {
        let list = node.member("branches").unwrap_or(node);
        let JsonValue::List(branches) = &list.value else {
            return Err(ReadProblem::at(list.at, "branches: expected a list of lists of steps"));
        };
        if !(2..=BRANCHES_MAX).contains(&branches.len()) {
            let what = format!("branches: expected 2 to {BRANCHES_MAX} of them, found {}", branches.len());
            return Err(ReadProblem::at(list.at, what));
        }
        if self.catches {
            let what = "parallel: not inside of what must fail: what the other branches do could not be taken back";
            return Err(ReadProblem::at(node.at, what));
        }
        let branches = branches.iter().map(|branch| self.within(&[], |reader| reader.list(branch, "branches")));
        Ok(Statement::Parallel(branches.collect::<Result<_, _>>()?))
    }

    fn run(&mut self, node: &JsonNode, function: &str, with: &BTreeMap<String, Any>) -> Result<Statement, ReadProblem> {
        let place = |name: &str| node.member(name).unwrap_or(node).at;
        let Some(params) = self.functions.get(function) else {
            let known: Vec<&str> = self.functions.keys().map(String::as_str).collect();
            return Err(ReadProblem::at(place("function"), unknown("function", function, &known)));
        };
        if let Some(missing) = params.iter().find(|param| !with.contains_key(*param)) {
            return Err(ReadProblem::at(
                place("with"),
                format!("with: `{missing}` is missing, which `{function}` needs"),
            ));
        }
        let members = match node.member("with").map(|node| &node.value) {
            Some(JsonValue::Object(members)) => members.as_slice(),
            _ => &[],
        };
        let mut given = Vec::new();
        for (key, value) in members {
            if !params.contains(&key.text) {
                let params: Vec<&str> = params.iter().map(String::as_str).collect();
                return Err(ReadProblem::at(key.at, unknown("parameter", &key.text, &params)));
            }
            given.push((key.text.clone(), self.looked_through(value)?));
        }
        Ok(Statement::Run(function.to_owned(), given))
    }
}

/// A step of version 1 whose strings were filled in.
///
/// # Errors
/// In words, with the field that does not fit.
pub fn filled(value: serde_json::Value) -> Result<Step, String> {
    let node = crate::template::node(value, 0);
    let step: Step = read_as(&node, VariableMode::Filled).map_err(|found| found.to_string())?;
    match step.problem() {
        Some((field, what)) => Err(if field.is_empty() { what } else { format!("{field}: {what}") }),
        None => Ok(step),
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for StepList {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Steps".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let step = generator.subschema_for::<AnyStep>();
        schemars::json_schema!({ "type": "array", "items": step, "minItems": 1 })
    }
}

/// A step of either version.
#[cfg(feature = "schema")]
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[allow(dead_code, reason = "its shape is what it is for")]
enum AnyStep {
    /// A kind of version 1.
    Plain(Step),
    /// A kind of version 2.
    Control(StepShape),
}
