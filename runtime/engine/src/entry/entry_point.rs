//! The entry point of a campaign: what it executes, and how the bytes of an input get there.
//!
//! ```text
//! a call      of a fuzz target, a property, a function, a handler: the plan names it, the input is its decisions
//! a program   from beginning to end: the input is a part of the plan: standard input, a file, an argument
//! a scenario  one sequence: the input is its decisions
//! ```
//!
//! Invariants: the run that an input stands for is a run as any other, of the plan that is made here; what a kind of call is - its
//! words, its interface, how it takes an input, what a campaign begins with - stands here and nowhere else.
//! Not here: decisions (`fozzy-search`), repeated calls (`fuzz_executor`).

use crate::run::scenario::ScenarioInterfaces;
use fozzy_trace::plan::{
    Inputs, KeptSequence, MachinePlan, Mount, MountEntry, MountKind, PlannedCall, PlannedInput, ScenarioKind,
    ScenarioPlan,
};
use fozzy_trace::{Digest, HarnessError, NodeId, Plan};
use fozzy_world::{Stdin, World};
use std::sync::Arc;

/// How an input gets to a program that is run from beginning to end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InputDelivery {
    /// It is its standard input.
    Stdin,
    /// It is the content of the file of this absolute path.
    File(String),
    /// It is its last argument, as text.
    Argument,
}

/// How the bytes of an input become what is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputUse {
    /// They are the argument of the call, as they are: its length and its bytes are the first two questions of the run.
    Argument,
    /// They are a part of the plan.
    World,
    /// Values are drawn from them.
    Draws,
}

/// What a campaign begins with, when it has no corpus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstInputs {
    /// Nothing: the empty input is enough.
    None,
    /// These texts.
    Texts(&'static [&'static str]),
    /// Random bytes of these lengths. An exhausted input gives the simplest values, so that a longer input alone would
    /// never be rewarded.
    Random(&'static [usize]),
}

/// Requests of handlers that something is known of.
const REQUESTS: &[&str] = &["GET / HTTP/1.1\naccept: */*\n\n", "POST / HTTP/1.1\ncontent-type: application/json\n\n{}"];
/// The name by which the sequences of a scenario are asked for, as of its interface.
pub const STATEFUL: &str = "stateful";

/// An interface of the SDK with functions by number: which function lists their names, which calls one, and what each is called.
pub(crate) struct NumberedInterface<'a> {
    /// Its full name, if the component exports it.
    pub(crate) name: Option<&'a str>,
    /// The function that lists names.
    pub(crate) list: &'static str,
    /// The function that makes the call.
    pub(crate) call: &'static str,
    /// What one of its functions is, for people.
    pub(crate) title: &'static str,
}

impl ScenarioInterfaces {
    /// The interface that has the function of `call`; `None` of calls that need none of the SDK.
    pub(crate) fn of_call(&self, call: &PlannedCall) -> Option<NumberedInterface<'_>> {
        let (name, list, make) = match call {
            PlannedCall::Fuzz(_) => (&self.fuzz, "targets", "run"),
            PlannedCall::Property(_) => (&self.property, "properties", "check"),
            PlannedCall::Function(_) | PlannedCall::Http => return None,
        };
        Some(NumberedInterface { name: name.as_deref(), list, call: make, title: title(call) })
    }
}

/// What a call is of, for people.
const fn title(call: &PlannedCall) -> &'static str {
    match call {
        PlannedCall::Fuzz(_) => "fuzz target",
        PlannedCall::Property(_) => "property",
        PlannedCall::Function(_) => "function",
        PlannedCall::Http => "handler of requests",
    }
}

/// Whether the call is of an interface that every component may export, and not of one of the SDK.
pub(crate) const fn is_plain(call: &PlannedCall) -> bool {
    matches!(call, PlannedCall::Function(_) | PlannedCall::Http)
}

/// What is executed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryPoint {
    /// One call of an exported function.
    Call(PlannedCall),
    /// The program, as a run of it.
    Program(InputDelivery),
    /// One sequence of a stateful scenario, with this number of flows.
    Scenario {
        /// Steps of the sequence.
        flows: u32,
    },
}

/// A file of that absolute path, in its folder.
fn mount(path: &str, bytes: &[u8], inputs: &mut Inputs) -> Mount {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let entries = vec![MountEntry { path: name.to_owned(), kind: MountKind::File(inputs.add(bytes)) }];
    Mount { guest: if folder.is_empty() { "/".to_owned() } else { folder.to_owned() }, entries }
}

/// As text, which arguments are: what is not is replaced, and a zero ends it, as it does everywhere else.
fn argument(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

impl InputDelivery {
    /// As a file of this absolute path.
    ///
    /// # Errors
    /// When it is none, in one sentence.
    pub fn file(path: &str) -> Result<InputDelivery, String> {
        let is_one = path.len() > 1 && path.starts_with('/') && !path.ends_with('/');
        if is_one {
            Ok(InputDelivery::File(path.to_owned()))
        } else {
            Err(format!("expected an absolute path of a file, found `{path}`"))
        }
    }

    /// The plan of the run that is given `bytes`, in the place of `plan`.
    fn plan(&self, plan: &mut Plan, inputs: &mut Inputs, bytes: &[u8]) {
        match self {
            InputDelivery::Stdin => plan.main.stdin = plan.main.stdin.given(inputs.add(bytes)),
            InputDelivery::File(path) => {
                plan.main.dirs.push(mount(path, bytes, inputs));
                plan.input = Some(PlannedInput::File(path.clone()));
            }
            InputDelivery::Argument => {
                plan.main.args.push(argument(bytes));
                plan.input = Some(PlannedInput::Argument);
            }
        }
    }

    /// The same, on the computer of a program that has not begun.
    pub(crate) fn give(&self, world: &mut World, bytes: &[u8]) -> Result<(), HarnessError> {
        let plan = Arc::clone(&world.plan);
        let node = world.node_mut(NodeId(0));
        match self {
            InputDelivery::Stdin => {
                let stdin = plan.main.stdin.given(Digest::of(b""));
                let planned = Stdin::planned(bytes.into(), &stdin);
                node.stdin = planned.map_err(|error| HarnessError::new(error.to_string()))?;
            }
            InputDelivery::File(path) => {
                let mut inputs = Inputs::default();
                let mount = mount(path, bytes, &mut inputs);
                let start_ns = plan.wall_start_s.saturating_mul(1_000_000_000);
                let mounted = node.disk.mount(&mount, &inputs, start_ns);
                mounted.map_err(|error| HarnessError::new(error.to_string()))?;
            }
            InputDelivery::Argument => {
                // The folders are on its disk already.
                let mut machine = MachinePlan { dirs: Vec::new(), ..plan.main.clone() };
                machine.args.push(argument(bytes));
                node.machine = Arc::new(machine);
            }
        }
        Ok(())
    }
}

impl EntryPoint {
    /// The plan of the run that is given `input`, with its inputs, in the place of `plan` and `inputs`.
    #[must_use]
    pub fn planned(&self, plan: &Plan, inputs: &Inputs, input: &[u8]) -> (Plan, Inputs) {
        let (mut plan, mut inputs) = (plan.clone(), inputs.clone());
        match self {
            EntryPoint::Call(call) => plan.call = Some(call.clone()),
            EntryPoint::Program(delivery) => delivery.plan(&mut plan, &mut inputs, input),
            EntryPoint::Scenario { flows } => {
                let only = vec![KeptSequence { kind: ScenarioKind::Stateful, sequence: 0, steps: vec![(0, *flows)] }];
                plan.scenario = Some(ScenarioPlan { only, ..ScenarioPlan::all(1, *flows) });
            }
        }
        (plan, inputs)
    }

    /// How the bytes of an input are used.
    #[must_use]
    pub const fn input_use(&self) -> InputUse {
        match self {
            EntryPoint::Call(PlannedCall::Fuzz(_)) => InputUse::Argument,
            EntryPoint::Program(_) => InputUse::World,
            EntryPoint::Call(PlannedCall::Property(_) | PlannedCall::Function(_) | PlannedCall::Http)
            | EntryPoint::Scenario { .. } => InputUse::Draws,
        }
    }

    /// What a campaign begins with.
    #[must_use]
    pub const fn first_inputs(&self) -> FirstInputs {
        match self {
            EntryPoint::Call(PlannedCall::Fuzz(_)) | EntryPoint::Program(_) => FirstInputs::None,
            EntryPoint::Call(PlannedCall::Http) => FirstInputs::Texts(REQUESTS),
            EntryPoint::Call(PlannedCall::Function(_)) => FirstInputs::Random(&[16]),
            // The last one has room for a collection that is long.
            EntryPoint::Call(PlannedCall::Property(_)) => FirstInputs::Random(&[16, 128, 1024]),
            EntryPoint::Scenario { .. } => FirstInputs::Random(&[64, 256, 1024]),
        }
    }

    /// What it is, with its name, for people.
    #[must_use]
    pub fn title(&self) -> String {
        match self {
            EntryPoint::Call(call @ PlannedCall::Http) => format!("the {}", title(call)),
            EntryPoint::Call(call) => format!("the {} `{}`", title(call), call.function()),
            EntryPoint::Program(_) => format!("the program ({})", self.name()),
            EntryPoint::Scenario { .. } => format!("its sequences, as `{STATEFUL}`"),
        }
    }

    /// Whether `word` asks for it.
    #[must_use]
    pub fn is_called(&self, word: &str) -> bool {
        match self {
            EntryPoint::Scenario { .. } => word == STATEFUL,
            _ => self.name() == word,
        }
    }

    /// What it is called in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            EntryPoint::Call(call) => call.function(),
            EntryPoint::Program(InputDelivery::Stdin) => "stdin",
            EntryPoint::Program(InputDelivery::File(path)) => path,
            EntryPoint::Program(InputDelivery::Argument) => "argument",
            EntryPoint::Scenario { .. } => "scenario",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_computer_that_is_given_an_input_is_that_of_the_plan_with_it() {
        for delivery in
            [InputDelivery::Stdin, InputDelivery::file("/in/a.txt").expect("a path"), InputDelivery::Argument]
        {
            let (plan, inputs) = (Plan::default(), Inputs::default());
            let mut given = World::new(Arc::new(plan.clone()), &inputs).expect("a plain plan");
            delivery.give(&mut given, b"a\xffb\0c").expect("there is room");
            let (plan, inputs) = EntryPoint::Program(delivery.clone()).planned(&plan, &inputs, b"a\xffb\0c");
            let mut planned = World::new(Arc::new(plan), &inputs).expect("a plain plan");
            let (one, other) = (given.node_mut(NodeId(0)), planned.node_mut(NodeId(0)));
            assert_eq!(one.machine.args, other.machine.args);
            assert_eq!(
                one.stdin.read(99, fozzy_trace::Instant::START),
                other.stdin.read(99, fozzy_trace::Instant::START)
            );
            assert_eq!(one.disk.digest(), other.disk.digest(), "{delivery:?}");
        }
        for path in ["a", "/", "/a/", ""] {
            assert!(InputDelivery::file(path).is_err_and(|why| why.contains("absolute path")), "{path}");
        }
    }
}
