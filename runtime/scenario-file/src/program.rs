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
//! Not here: how steps are done (`runtime/player/src/program`).

use crate::STEPS_MAX;
use crate::condition::Condition;
use crate::json::{Node, Value};
use crate::read::{Found, Mode, quoted, read_as, unknown};
use crate::step::Step;
use crate::template::{Part, Piece, is_name, is_template, pieces};
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
    pub vars: Vec<(String, Node)>,
    /// Functions, by name.
    pub functions: BTreeMap<String, Function>,
    /// What is done, in this order.
    pub steps: Vec<Act>,
}

/// Steps with a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// What is given to it.
    pub params: Vec<String>,
    /// What it does.
    pub acts: Vec<Act>,
    /// What it gives back.
    pub returns: Option<Node>,
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub struct Act {
    /// The name of its kind.
    pub kind: &'static str,
    /// The variable that what it yields is the value of.
    pub save_as: Option<String>,
    /// What is done.
    pub does: Does,
}

/// What a step does.
#[derive(Clone, Debug, PartialEq)]
pub enum Does {
    /// A step of version 1 without variables.
    Step(Box<Step>),
    /// A step of version 1 that is filled in each time.
    Template(Box<Node>),
    /// One of these must fail.
    Throws(Vec<Act>),
    /// A variable gets a value.
    Set(String, Node),
    /// Calculates.
    Compute(Operation, Node, Option<Node>),
    /// Draws one of these.
    Draw(Node),
    /// Reads what is stored under a key, or takes something else where nothing is.
    GetKv(Node, Option<Node>),
    /// Reads a file.
    FsRead(Node),
    /// Must hold.
    Assert(Condition, Option<Node>),
    /// One or the other.
    If(Condition, Vec<Act>, Vec<Act>),
    /// Once for each element.
    For(Node, String, Vec<Act>),
    /// So many times.
    Repeat(Node, Option<String>, Vec<Act>),
    /// As long as it holds, and not more often than so many times.
    While(Condition, u32, Vec<Act>),
    /// All of them, in any order of their steps.
    Parallel(Vec<Vec<Act>>),
    /// A function of the file.
    Run(String, Vec<(String, Node)>),
    /// A function of the target.
    Call(Call),
}

/// A call of the target.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Which one: `interface#function`.
    pub function: Node,
    /// With what, in WAVE.
    pub args: String,
    /// What is to come back, in WAVE.
    pub expect: Option<String>,
    /// Of which instance.
    pub instance: Option<Node>,
}

impl Act {
    /// All steps inside of it.
    pub fn inner(&self) -> impl Iterator<Item = &Act> {
        let (first, second, several): (&[Act], &[Act], &[Vec<Act>]) = match &self.does {
            Does::Throws(acts) | Does::For(_, _, acts) | Does::Repeat(_, _, acts) | Does::While(_, _, acts) => {
                (acts, &[], &[])
            }
            Does::If(_, then, otherwise) => (then, otherwise, &[]),
            Does::Parallel(branches) => (&[], &[], branches),
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
pub enum Operation {
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
pub(crate) enum Shape {
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
        op: Operation,
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
        then: Acts,
        /// What is done when it does not.
        #[serde(default, rename = "else")]
        otherwise: Option<Acts>,
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
        r#do: Acts,
    },
    /// Does something several times.
    Repeat {
        /// How often.
        times: u32,
        /// The variable that has the number of the round, from 0.
        #[serde(default, rename = "as")]
        name: Option<String>,
        /// What is done.
        r#do: Acts,
    },
    /// Does something as long as a condition holds.
    While {
        /// The condition.
        when: Condition,
        /// Rounds after which it has failed if the condition still holds.
        #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
        max: u32,
        /// What is done.
        r#do: Acts,
    },
    /// Does several things at once: between any two steps, any other branch may go on.
    Parallel {
        /// Lists of steps, two at least.
        branches: Vec<Acts>,
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

impl Shape {
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
pub(crate) struct Acts;

impl<'de> Deserialize<'de> for Acts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Acts, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Acts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of steps")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Acts, A::Error> {
                while elements.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Acts)
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
#[allow(dead_code, reason = "as of `Shape`")]
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
    steps: Acts,
}

/// Steps with a name.
#[derive(serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Function"))]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "as of `Shape`")]
pub(crate) struct FunctionShape {
    /// What is given to it.
    #[serde(default)]
    params: Vec<String>,
    /// What it does.
    r#do: Acts,
    /// What it gives back.
    #[serde(default)]
    returns: Option<Any>,
}

/// The two kinds that have steps in version 1 already.
#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[allow(dead_code, reason = "as of `Shape`")]
enum Throws {
    AssertThrows { steps: Acts },
    AssertRejects { steps: Acts },
}

/// Reads a file of version 2.
pub(crate) fn read(root: &Node) -> Result<ProgramFile, Found> {
    let shape: FileShape = read_as(root, Mode::One)?;
    let members = |name: &str| match root.member(name).map(|node| &node.value) {
        Some(Value::Object(members)) => members.as_slice(),
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
        let shape: FunctionShape = read_as(node, Mode::One)?;
        let mut params = BTreeSet::new();
        for (place, param) in shape.params.iter().enumerate() {
            let at = node.member("params").and_then(|list| list.element(place)).unwrap_or(node).at;
            named(param, at)?;
            if !params.insert(param) {
                return Err(Found::at(at, format!("params: `{param}` stands twice")));
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
        functions.insert(key.text.clone(), Function { params, acts, returns });
    }
    let steps = reader.within(&[], |reader| reader.acts(root, "steps"))?;
    if steps.iter().all(Act::is_rule) && !cfg!(target_arch = "wasm32") {
        let at = root.member("steps").unwrap_or(root).at;
        return Err(Found::at(at, "steps: no_steps_executed: nothing would be tested"));
    }
    Ok(ProgramFile { name: shape.name, vars, functions, steps })
}

fn named(name: &str, at: usize) -> Result<(), Found> {
    match is_name(name) {
        true => Ok(()),
        false => {
            let what = format!(
                "expected a name, which is 1 to 64 letters, digits and `_` and begins with none of the digits, found {}",
                quoted(name)
            );
            Err(Found::at(at, what))
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
    fn within<R>(&mut self, names: &[String], body: impl FnOnce(&mut Reader) -> Result<R, Found>) -> Result<R, Found> {
        let outside = self.names.len();
        names.iter().for_each(|name| self.define(name));
        let read = body(self)?;
        self.names.truncate(outside);
        Ok(read)
    }

    /// All variables of a value must be known; the answer is whether there are some.
    fn look_through(&self, node: &Node) -> Result<bool, Found> {
        match &node.value {
            Value::Text(text) if is_template(text) => self.look_through_text(text, node.at).map(|()| true),
            Value::List(elements) => {
                elements.iter().try_fold(false, |some, element| Ok(self.look_through(element)? || some))
            }
            Value::Object(members) => {
                members.iter().try_fold(false, |some, (_, node)| Ok(self.look_through(node)? || some))
            }
            _ => Ok(false),
        }
    }

    fn look_through_text(&self, text: &str, at: usize) -> Result<(), Found> {
        let pieces = pieces(text).map_err(|what| Found::at(at, what))?;
        for piece in &pieces {
            let Piece::Path(path) = piece else { continue };
            let indexes = path.parts.iter().filter_map(|part| match part {
                Part::At(name) => Some(name),
                Part::Key(_) | Part::Index(_) => None,
            });
            for name in [&path.name].into_iter().chain(indexes) {
                if !self.names.contains(name) {
                    let known: Vec<&str> = self.names.iter().map(String::as_str).collect();
                    return Err(Found::at(at, unknown("variable", name, &known)));
                }
            }
        }
        Ok(())
    }

    fn looked_through(&self, node: &Node) -> Result<Node, Found> {
        self.look_through(node).map(|_| node.clone())
    }

    fn field(&self, node: &Node, name: &str) -> Result<Node, Found> {
        let field = node.member(name).ok_or_else(|| Found::at(node.at, format!("`{name}` is missing")))?;
        self.looked_through(field)
    }

    fn optional(&self, node: &Node, name: &str) -> Result<Option<Node>, Found> {
        let field = node.member(name).filter(|field| field.value != Value::Null);
        field.map(|field| self.looked_through(field)).transpose()
    }

    fn text(&self, node: &Node, name: &str) -> Result<Option<String>, Found> {
        Ok(match self.optional(node, name)?.map(|node| node.value) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        })
    }

    fn condition(&self, node: &Node, name: &str) -> Result<Condition, Found> {
        let node = node.member(name).unwrap_or(node);
        self.look_through(node)?;
        Condition::read(node)
    }

    fn acts(&mut self, node: &Node, name: &str) -> Result<Vec<Act>, Found> {
        let list = node.member(name).unwrap_or(node);
        self.list(list, name)
    }

    fn list(&mut self, list: &Node, name: &str) -> Result<Vec<Act>, Found> {
        match &list.value {
            Value::List(elements) if elements.is_empty() => {
                Err(Found::at(list.at, format!("{name}: no step, so nothing would be done")))
            }
            Value::List(elements) => elements.iter().map(|element| self.act(element)).collect(),
            other => Err(Found::at(list.at, format!("{name}: expected a list of steps, found {}", other.kind()))),
        }
    }

    fn act(&mut self, node: &Node) -> Result<Act, Found> {
        self.count += 1;
        if self.count > STEPS_MAX {
            return Err(Found::at(node.at, format!("more than the {STEPS_MAX} steps that a scenario can have")));
        }
        let kind = match node.member("type") {
            Some(Node { at, value: Value::Text(text) }) => {
                let known: Vec<&'static str> = Step::KINDS.iter().chain(Shape::KINDS).copied().collect();
                let kind = known.iter().find(|kind| *kind == text).copied();
                kind.ok_or_else(|| Found::at(*at, unknown("kind", text, &known)))?
            }
            // The words for that are those of version 1.
            _ => {
                return Err(read_as::<Step>(node, Mode::Template)
                    .err()
                    .unwrap_or_else(|| Found::at(node.at, "no kind")));
            }
        };
        if let Some(place) = node.member("save_as").filter(|_| !YIELDS.contains(&kind) && !NEW_YIELDS.contains(&kind)) {
            let yields: Vec<&str> = YIELDS.iter().chain(NEW_YIELDS).copied().collect();
            let what = format!("save_as: `{kind}` yields no value; these do: {}", yields.join(", "));
            return Err(Found::at(place.at, what));
        }
        let does = match kind {
            "assert_throws" | "assert_rejects" => self.throws(node)?,
            kind if Shape::KINDS.contains(&kind) => self.control(node)?,
            kind => self.step(kind, node)?,
        };
        let save_as = match node.member("save_as") {
            Some(Node { at, value: Value::Text(name) }) => {
                named(name, *at)?;
                self.define(name);
                Some(name.clone())
            }
            Some(other) => {
                return Err(Found::at(other.at, format!("save_as: expected a name, found {}", other.value.kind())));
            }
            None => None,
        };
        Ok(Act { kind, save_as, does })
    }

    fn throws(&mut self, node: &Node) -> Result<Does, Found> {
        let _: Throws = read_as(node, Mode::Template)?;
        let outside = std::mem::replace(&mut self.catches, true);
        let acts = self.within(&[], |reader| reader.acts(node, "steps"))?;
        self.catches = outside;
        Ok(Does::Throws(acts))
    }

    /// A step of version 1.
    fn step(&mut self, kind: &'static str, node: &Node) -> Result<Does, Found> {
        let node = match (node.member("save_as"), &node.value) {
            (Some(_), Value::Object(members)) => {
                let others = members.iter().filter(|(key, _)| key.text != "save_as").cloned();
                &Node { at: node.at, value: Value::Object(others.collect()) }
            }
            _ => node,
        };
        let step: Step = read_as(node, Mode::Template)?;
        let is_open = self.look_through(node)?;
        if let Some((field, what)) = step.problem() {
            let place = node.member(field).unwrap_or(node);
            // What is filled in is looked at when it is done.
            if !self.look_through(place)? {
                let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
                return Err(Found::at(place.at, format!("{kind}: {field}{what}")));
            }
        }
        Ok(if is_open { Does::Template(Box::new(node.clone())) } else { Does::Step(Box::new(step)) })
    }

    fn control(&mut self, node: &Node) -> Result<Does, Found> {
        let shape: Shape = read_as(node, Mode::Template)?;
        let place = |name: &str| node.member(name).unwrap_or(node).at;
        Ok(match shape {
            Shape::Set { name, .. } => {
                named(&name, place("name"))?;
                let value = self.field(node, "value")?;
                self.define(&name);
                Does::Set(name, value)
            }
            Shape::Compute { op, .. } => {
                let (a, b) = (self.field(node, "a")?, self.optional(node, "b")?);
                match (op, &b) {
                    (Operation::Length, Some(_)) => return Err(Found::at(place("b"), "compute: b: not with `length`")),
                    (Operation::Length, None) | (_, Some(_)) => {}
                    (_, None) => return Err(Found::at(node.at, "compute: `b` is missing")),
                }
                Does::Compute(op, a, b)
            }
            Shape::Draw { .. } => {
                if matches!(&node.member("of").map(|node| &node.value), Some(Value::List(list)) if list.is_empty()) {
                    return Err(Found::at(place("of"), "draw: of: there is nothing to draw from"));
                }
                Does::Draw(self.field(node, "of")?)
            }
            Shape::GetKv { .. } => {
                let default = node.member("default").map(|default| self.looked_through(default)).transpose()?;
                Does::GetKv(self.field(node, "key")?, default)
            }
            Shape::FsRead { .. } => Does::FsRead(self.field(node, "path")?),
            Shape::Assert { .. } => Does::Assert(self.condition(node, "that")?, self.optional(node, "msg")?),
            Shape::If { otherwise, .. } => {
                let when = self.condition(node, "when")?;
                let then = self.acts(node, "then")?;
                let otherwise = if otherwise.is_some() { self.acts(node, "else")? } else { Vec::new() };
                Does::If(when, then, otherwise)
            }
            Shape::For { name, .. } => {
                named(&name, place("as"))?;
                let list = self.field(node, "in")?;
                Does::For(list, name.clone(), self.within(&[name], |reader| reader.acts(node, "do"))?)
            }
            Shape::Repeat { times, name, .. } => {
                if times > ROUNDS_MAX {
                    return Err(Found::at(
                        place("times"),
                        format!("times: expected {ROUNDS_MAX} at the most, found {times}"),
                    ));
                }
                if let Some(name) = &name {
                    named(name, place("as"))?;
                }
                let names: Vec<String> = name.iter().cloned().collect();
                let times = self.field(node, "times")?;
                Does::Repeat(times, name, self.within(&names, |reader| reader.acts(node, "do"))?)
            }
            Shape::While { max, .. } => {
                if !(1..=ROUNDS_MAX).contains(&max) {
                    return Err(Found::at(place("max"), format!("max: expected 1 to {ROUNDS_MAX}, found {max}")));
                }
                if self.look_through(node.member("max").unwrap_or(node))? {
                    return Err(Found::at(place("max"), "max: expected a number; a bound cannot be a variable"));
                }
                let when = self.condition(node, "when")?;
                Does::While(when, max, self.within(&[], |reader| reader.acts(node, "do"))?)
            }
            Shape::Parallel { .. } => self.parallel(node)?,
            Shape::Run { function, with, .. } => self.run(node, &function, &with)?,
            Shape::Call { .. } => {
                let (args, expect) = (self.text(node, "args")?.unwrap_or_default(), self.text(node, "expect")?);
                let (function, instance) = (self.field(node, "function")?, self.optional(node, "instance")?);
                Does::Call(Call { function, args, expect, instance })
            }
        })
    }

    fn parallel(&mut self, node: &Node) -> Result<Does, Found> {
        let list = node.member("branches").unwrap_or(node);
        let Value::List(branches) = &list.value else {
            return Err(Found::at(list.at, "branches: expected a list of lists of steps"));
        };
        if !(2..=BRANCHES_MAX).contains(&branches.len()) {
            let what = format!("branches: expected 2 to {BRANCHES_MAX} of them, found {}", branches.len());
            return Err(Found::at(list.at, what));
        }
        if self.catches {
            let what = "parallel: not inside of what must fail: what the other branches do could not be taken back";
            return Err(Found::at(node.at, what));
        }
        let branches = branches.iter().map(|branch| self.within(&[], |reader| reader.list(branch, "branches")));
        Ok(Does::Parallel(branches.collect::<Result<_, _>>()?))
    }

    fn run(&mut self, node: &Node, function: &str, with: &BTreeMap<String, Any>) -> Result<Does, Found> {
        let place = |name: &str| node.member(name).unwrap_or(node).at;
        let Some(params) = self.functions.get(function) else {
            let known: Vec<&str> = self.functions.keys().map(String::as_str).collect();
            return Err(Found::at(place("function"), unknown("function", function, &known)));
        };
        if let Some(missing) = params.iter().find(|param| !with.contains_key(*param)) {
            return Err(Found::at(place("with"), format!("with: `{missing}` is missing, which `{function}` needs")));
        }
        let members = match node.member("with").map(|node| &node.value) {
            Some(Value::Object(members)) => members.as_slice(),
            _ => &[],
        };
        let mut given = Vec::new();
        for (key, value) in members {
            if !params.contains(&key.text) {
                let params: Vec<&str> = params.iter().map(String::as_str).collect();
                return Err(Found::at(key.at, unknown("parameter", &key.text, &params)));
            }
            given.push((key.text.clone(), self.looked_through(value)?));
        }
        Ok(Does::Run(function.to_owned(), given))
    }
}

/// A step of version 1 whose strings were filled in.
///
/// # Errors
/// In words, with the field that does not fit.
pub fn filled(value: serde_json::Value) -> Result<Step, String> {
    let node = crate::template::node(value, 0);
    let step: Step = read_as(&node, Mode::Filled).map_err(|found| found.to_string())?;
    match step.problem() {
        Some((field, what)) => Err(if field.is_empty() { what } else { format!("{field}: {what}") }),
        None => Ok(step),
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Acts {
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
    Control(Shape),
}
