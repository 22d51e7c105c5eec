//! What a step reads and writes.
//!
//! ```text
//! get_kv key=till save_as=x         reads  key till            writes  variable x, for sure
//! repeat … set_kv key=k${i} = ${n}  reads  variables i, n      writes  key k…, perhaps
//! ```

use super::pattern::NamePattern;
use crate::condition::Condition;
use crate::json::{JsonNode, JsonValue};
use crate::program::{ProgramFile, ProgramStep, Statement, StepFunction};
use crate::read::{VariableMode, read_as};
use crate::step::{HttpRequest, KvPoll, KvRead, ProcSpawn, Step};
use crate::template::{TemplatePiece, VariablePathStep, is_template, pieces};
use std::collections::{BTreeMap, BTreeSet};

/// Something that one step leaves for another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StepResource {
    Variable(NamePattern),
    Key(NamePattern),
    File(NamePattern),
    Snapshot(NamePattern),
    /// How requests are answered.
    HttpRules,
    /// How a command is answered.
    ProcRules(NamePattern),
    /// Messages that were sent, and those that have arrived.
    Messages,
    /// What is allocated, and what can be.
    Memory,
    /// How much time has passed.
    Clock,
}

impl StepResource {
    fn name(&self) -> Option<&NamePattern> {
        match self {
            StepResource::Variable(name)
            | StepResource::Key(name)
            | StepResource::File(name)
            | StepResource::Snapshot(name)
            | StepResource::ProcRules(name) => Some(name),
            StepResource::HttpRules | StepResource::Messages | StepResource::Memory | StepResource::Clock => None,
        }
    }

    fn is_kind_of(&self, other: &StepResource) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }

    /// Whether both may be the same.
    pub(super) fn may_be(&self, other: &StepResource) -> bool {
        let names = self.name().zip(other.name());
        self.is_kind_of(other) && names.is_none_or(|(one, other)| one.may_be(other))
    }

    /// Whether both are the same for sure.
    pub(super) fn is(&self, other: &StepResource) -> bool {
        let names = self.name().zip(other.name());
        self.is_kind_of(other) && names.is_some_and(|(one, other)| one.is(other))
    }
}

/// What a step reads and writes.
#[derive(Clone, Debug, Default)]
pub(super) struct Effects {
    pub(super) reads: BTreeSet<StepResource>,
    /// What it writes, perhaps.
    pub(super) writes: BTreeSet<StepResource>,
    /// What it writes for sure, whatever was there.
    pub(super) overwrites: BTreeSet<StepResource>,
    /// Functions that it runs; their effects are not in the fields above.
    calls: BTreeSet<FunctionCall>,
}

/// A function that a step runs.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FunctionCall {
    name: String,
    /// Whether what it writes is taken back.
    is_taken_back: bool,
}

fn key(name: &str) -> StepResource {
    StepResource::Key(NamePattern::of_template(name))
}

fn file(name: &str) -> StepResource {
    StepResource::File(NamePattern::of_template(name))
}

fn variable(name: &str) -> StepResource {
    StepResource::Variable(NamePattern::known(name))
}

impl Effects {
    fn read(mut self, resource: StepResource) -> Effects {
        self.reads.insert(resource);
        self
    }

    fn write(mut self, resource: StepResource) -> Effects {
        self.writes.insert(resource);
        self
    }

    /// It writes this, and what was there does not matter.
    fn overwrite(mut self, resource: StepResource) -> Effects {
        self.overwrites.insert(resource.clone());
        self.write(resource)
    }

    fn overwrite_all(self, resources: impl IntoIterator<Item = StepResource>) -> Effects {
        resources.into_iter().fold(self, Effects::overwrite)
    }

    /// The same, and what is done inside of it, which may be done or not.
    fn perhaps(mut self, inner: Effects) -> Effects {
        self.reads.extend(inner.reads);
        self.writes.extend(inner.writes);
        self.calls.extend(inner.calls);
        self
    }

    /// Only what it reads: what it writes is taken back.
    fn taken_back(self) -> Effects {
        let calls = self.calls.into_iter().map(|call| FunctionCall { is_taken_back: true, ..call }).collect();
        Effects { reads: self.reads, calls, ..Effects::default() }
    }

    /// It runs a function.
    fn call(mut self, name: &str) -> Effects {
        self.calls.insert(FunctionCall { name: name.to_owned(), is_taken_back: false });
        self
    }

    /// Those of a step of version 1.
    pub(super) fn of_step(step: &Step) -> Effects {
        let none = Effects::default();
        match step {
            Step::RandU64 { key: stored } => none.overwrite_all(stored.as_deref().map(key)),
            Step::SetKv { key: stored, .. } => none.overwrite(key(stored)),
            Step::GetKvAssert(KvRead { key: read, .. })
            | Step::AssertEventuallyKv(KvPoll { key: read, .. })
            | Step::AssertNeverKv(KvPoll { key: read, .. }) => none.read(key(read)),
            Step::FsWrite { path, .. } => none.overwrite(file(path)),
            Step::FsReadAssert { path, .. } => none.read(file(path)),
            Step::FsSnapshot { name } => {
                let files = StepResource::File(NamePattern::any());
                none.read(files).overwrite(StepResource::Snapshot(NamePattern::of_template(name)))
            }
            Step::FsRestore { name } => {
                let files = StepResource::File(NamePattern::any());
                none.read(StepResource::Snapshot(NamePattern::of_template(name))).write(files)
            }
            Step::HttpWhen(_) => none.write(StepResource::HttpRules),
            Step::HttpRequest(HttpRequest { save_body_as, .. }) => {
                // A rule may answer a number of requests only, so each counts for the next.
                let asked = none.read(StepResource::HttpRules).write(StepResource::HttpRules);
                asked.overwrite_all(save_body_as.as_deref().map(key))
            }
            Step::ProcWhen(rule) => none.write(StepResource::ProcRules(NamePattern::of_template(&rule.cmd))),
            Step::ProcSpawn(ProcSpawn { cmd, save_stdout_as, .. }) => {
                let rules = StepResource::ProcRules(NamePattern::of_template(cmd));
                none.read(rules.clone()).write(rules).overwrite_all(save_stdout_as.as_deref().map(key))
            }
            Step::NetSend { .. } => none.write(StepResource::Messages),
            Step::NetDeliverOne { .. } | Step::NetRecvAssert { .. } => {
                none.read(StepResource::Messages).write(StepResource::Messages)
            }
            Step::MemoryAlloc { .. }
            | Step::MemoryFree(_)
            | Step::MemoryLimitMb { .. }
            | Step::MemoryFailAfterAllocs { .. }
            | Step::MemoryFragmentation { .. }
            | Step::MemoryPressureWave { .. } => none.read(StepResource::Memory).write(StepResource::Memory),
            Step::MemoryAssertInUseBytes { .. } => none.read(StepResource::Memory),
            Step::Sleep { .. } | Step::Advance { .. } => none.write(StepResource::Clock),
            Step::Freeze { .. } => none.read(StepResource::Clock).write(StepResource::Clock),
            Step::AssertThrows { steps } | Step::AssertRejects { steps } => {
                steps.iter().map(Effects::of_step).fold(none, Effects::perhaps).taken_back()
            }
            // Faults of the network are left out with what ends them (`closes`), and not kept for what they change.
            Step::NetPartition { .. }
            | Step::NetHeal { .. }
            | Step::NetSetDropRate { .. }
            | Step::NetSetReorder { .. }
            | Step::TraceEvent { .. }
            | Step::AssertOk { .. }
            | Step::AssertEqInt { .. }
            | Step::AssertNeInt { .. }
            | Step::AssertEqStr { .. }
            | Step::AssertNeStr { .. }
            | Step::Unfreeze {}
            | Step::MemoryCheckpoint { .. }
            | Step::Fail { .. }
            | Step::Panic { .. } => none,
        }
    }

    /// The same, and the variables of a value are read.
    fn read_variables(mut self, node: &JsonNode) -> Effects {
        variables(node, &mut self.reads);
        self
    }

    fn read_text_variables(mut self, text: &str) -> Effects {
        text_variables(text, &mut self.reads);
        self
    }
}

/// A step of version 2 as the one of version 1 that it is, whatever its variables are.
pub(super) fn plain_step(step: &ProgramStep) -> Option<Step> {
    match &step.does {
        Statement::Step(step) => Some((**step).clone()),
        Statement::Template(node) => read_as(node, VariableMode::Template).ok(),
        _ => None,
    }
}

/// The direct effects of each function of a file of version 2: functions may run each other, and themselves.
pub(super) struct ProgramEffects<'a> {
    functions: BTreeMap<&'a str, Effects>,
}

impl<'a> ProgramEffects<'a> {
    pub(super) fn new(file: &'a ProgramFile) -> ProgramEffects<'a> {
        let of =
            |function: &'a StepFunction| function.returns.iter().fold(all(&function.acts), Effects::read_variables);
        ProgramEffects {
            functions: file.functions.iter().map(|(name, function)| (name.as_str(), of(function))).collect(),
        }
    }

    /// What a step reads and writes, and what all functions do that are run by it.
    pub(super) fn effects(&self, step: &ProgramStep) -> Effects {
        let mut effects = direct(step);
        let mut waiting: Vec<FunctionCall> = effects.calls.iter().cloned().collect();
        while let Some(call) = waiting.pop() {
            let Some(function) = self.functions.get(call.name.as_str()).cloned() else { continue };
            let inner = if call.is_taken_back { function.taken_back() } else { function };
            waiting.extend(inner.calls.difference(&effects.calls).cloned());
            effects = effects.perhaps(inner);
        }
        effects
    }
}

/// What a step reads and writes itself.
fn direct(step: &ProgramStep) -> Effects {
    let none = Effects::default();
    let effects = match &step.does {
        Statement::Step(step) => Effects::of_step(step),
        Statement::Template(node) => {
            let plain = plain_step(step).map_or_else(Effects::default, |step| Effects::of_step(&step));
            plain.read_variables(node)
        }
        Statement::Throws(steps) => all(steps).taken_back(),
        Statement::Set(name, value) => none.read_variables(value).overwrite(variable(name)),
        Statement::Compute(_, a, b) => b.iter().fold(none.read_variables(a), Effects::read_variables),
        Statement::Draw(of) => none.read_variables(of),
        Statement::GetKv(name, default) => {
            let read = none.read_variables(name).read(StepResource::Key(name_of(name)));
            default.iter().fold(read, Effects::read_variables)
        }
        Statement::FsRead(path) => none.read_variables(path).read(StepResource::File(name_of(path))),
        Statement::Assert(condition, msg) => msg.iter().fold(of_condition(condition), Effects::read_variables),
        Statement::If(condition, then, otherwise) => of_condition(condition).perhaps(all(then)).perhaps(all(otherwise)),
        Statement::For(list, _, steps) => none.read_variables(list).perhaps(all(steps)),
        Statement::Repeat(times, _, steps) => none.read_variables(times).perhaps(all(steps)),
        Statement::While(condition, _, steps) => of_condition(condition).perhaps(all(steps)),
        Statement::Parallel(branches) => branches.iter().map(|branch| all(branch)).fold(none, Effects::perhaps),
        Statement::Run(function, given) => {
            let given = given.iter().map(|(_, value)| value);
            given.fold(none, Effects::read_variables).call(function)
        }
        Statement::Call(call) => {
            let read = call.instance.iter().fold(none.read_variables(&call.function), Effects::read_variables);
            let texts = std::iter::once(call.args.as_str()).chain(call.expect.as_deref());
            texts.fold(read, Effects::read_text_variables)
        }
    };
    effects.overwrite_all(step.save_as.as_deref().map(variable))
}

fn all(steps: &[ProgramStep]) -> Effects {
    steps.iter().map(direct).fold(Effects::default(), Effects::perhaps)
}

fn of_condition(condition: &Condition) -> Effects {
    let none = Effects::default();
    match condition {
        Condition::Compare(_, one, other) => none.read_variables(one).read_variables(other),
        Condition::Not(inner) => of_condition(inner),
        Condition::All(several) | Condition::Any(several) => {
            several.iter().map(of_condition).fold(none, Effects::perhaps)
        }
        Condition::IsNull(value) => none.read_variables(value),
        Condition::HasKv(name) => none.read_variables(name).read(StepResource::Key(name_of(name))),
    }
}

fn name_of(node: &JsonNode) -> NamePattern {
    match &node.value {
        JsonValue::Text(text) => NamePattern::of_template(text),
        _ => NamePattern::any(),
    }
}

/// The variables of a value, and those of all values in it.
fn variables(node: &JsonNode, found: &mut BTreeSet<StepResource>) {
    match &node.value {
        JsonValue::Text(text) => text_variables(text, found),
        JsonValue::List(elements) => elements.iter().for_each(|element| variables(element, found)),
        JsonValue::Object(members) => members.iter().for_each(|(_, member)| variables(member, found)),
        JsonValue::Null | JsonValue::Bool(_) | JsonValue::Number(_) => {}
    }
}

fn text_variables(text: &str, found: &mut BTreeSet<StepResource>) {
    if !is_template(text) {
        return;
    }
    for piece in pieces(text).unwrap_or_default() {
        let TemplatePiece::Path(path) = piece else { continue };
        found.insert(variable(&path.name));
        let indexes = path.parts.iter().filter_map(|part| match part {
            VariablePathStep::At(name) => Some(name),
            VariablePathStep::Key(_) | VariablePathStep::Index(_) => None,
        });
        found.extend(indexes.map(|name| variable(name)));
    }
}
