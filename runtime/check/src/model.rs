//! Sequential models: what an object answers when clients call it one after the other.
//!
//! ```text
//! register   nil ─write 3─▶ 3 ─read 3─▶ 3 ─cas [3 5]─▶ 5 ─read 3─▶ (not legal)
//! ```
//!
//! A state is some bytes, which a model writes in one way only: equal states are equal bytes. Invariants: a step is a function of
//! state and call; a call without a known result may have any.
//! Not here: concurrency (`linearizability`).

mod guess;
mod key_value;
mod multi_register;
mod mutex;
mod program;
mod queue;
mod register;
mod set;
#[cfg(test)]
mod tests;

pub use guess::{guess_checker, guess_model};
pub use program::ProgramModel;

use crate::history::error::quoted;
use crate::history::{ClientCall, Datum, DatumId, DatumPool, OperationHistory, OperationType, Process};

/// A model by its name.
pub struct ModelRow<'m> {
    /// Its name, as `--model` has it.
    pub name: &'m str,
    /// What it is, in a few words.
    pub summary: &'m str,
    /// Functions that its histories have; none if it says so itself.
    pub functions: &'m [&'m str],
    /// The model itself.
    pub model: &'m dyn SequentialModel,
}

/// All models.
pub const MODELS: &[ModelRow<'static>] = &[
    register::REGISTER,
    register::CAS_REGISTER,
    register::ETCD_REGISTER,
    multi_register::MULTI_REGISTER,
    mutex::MUTEX,
    mutex::OWNER_MUTEX,
    mutex::REENTRANT_MUTEX,
    mutex::FENCED_MUTEX,
    mutex::REENTRANT_FENCED_MUTEX,
    set::SET,
    queue::UNORDERED_QUEUE,
    queue::FIFO_QUEUE,
    queue::STACK,
    queue::PRIORITY_QUEUE,
    key_value::KEY_VALUE,
];

/// The model that has a name.
#[must_use]
pub fn model(name: &str) -> Option<&'static ModelRow<'static>> {
    MODELS.iter().find(|row| row.name == name)
}

/// What a call does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ModelAction {
    /// Reads the state, or the value of a key.
    Read,
    /// Replaces it by the argument.
    Write,
    /// Replaces the argument, if that is the state, by the second argument.
    Cas,
    /// Found that the state is not the argument.
    FailedCas,
    /// Appends the argument to it.
    Append,
    /// Several reads and writes at once; the argument has them.
    Transaction,
    /// Takes a lock.
    Acquire,
    /// Gives it back.
    Release,
    /// Puts the argument into a collection.
    Insert,
    /// Removes the argument from a collection.
    Remove,
    /// Asks whether the argument is in a collection.
    Contains,
    /// Takes an element out of a collection: the one that its order has next.
    Take,
}

/// A call of a client, as a model reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelCall {
    /// What it does.
    pub action: ModelAction,
    /// With what; `nil` where it has no argument.
    pub argument: DatumId,
    /// The second argument of a compare-and-set.
    pub second: DatumId,
    /// What it returned; none where that is not known.
    pub result: Option<DatumId>,
    /// Who called.
    pub process: i64,
}

/// A call of a client, as the history has it.
#[derive(Clone, Copy, Debug)]
pub struct CallRecord<'a> {
    /// The name of its function.
    pub function: &'a str,
    /// Its key, where the history has one beside the value and is not parted by it.
    pub key: Option<DatumId>,
    /// The value of its invocation.
    pub asked: DatumId,
    /// The value of its completion; none if it is not known to have completed.
    pub answered: Option<DatumId>,
    /// How it completed.
    pub outcome: OperationType,
    /// Who called.
    pub process: i64,
}

impl<'a> CallRecord<'a> {
    /// A call with its whole value.
    #[must_use]
    pub fn whole(history: &'a OperationHistory, call: &ClientCall) -> CallRecord<'a> {
        let invoked = &history.operations[call.invocation as usize];
        let process = match invoked.process {
            Process::Client(process) => process,
            Process::Named(_) | Process::Unknown => -1 - i64::from(call.invocation),
        };
        CallRecord {
            function: history.function_name(invoked),
            key: history.pool.entry(invoked.extra, "key"),
            asked: invoked.value,
            answered: call.completion.map(|at| history.operations[at as usize].value),
            outcome: call.outcome,
            process,
        }
    }
}

impl CallRecord<'_> {
    /// What came back, if the call is known to have happened.
    #[must_use]
    pub fn result(&self) -> Option<DatumId> {
        self.answered.filter(|_| self.outcome == OperationType::Ok)
    }

    /// Holds what a call is known to have put in to what it was asked to. A completion may say nothing of it, or something of
    /// another type, such as `true` or a version.
    ///
    /// # Errors
    /// What was expected.
    pub(crate) fn check_echo(&self, pool: &DatumPool) -> Result<(), String> {
        let Some(answered) = self.result().filter(|answered| *answered != self.asked) else { return Ok(()) };
        let is_same_type = matches!(
            (pool.get(self.asked), pool.get(answered)),
            (Datum::Integer(_), Datum::Integer(_))
                | (Datum::Text(_), Datum::Text(_))
                | (Datum::Keyword(_), Datum::Keyword(_))
        );
        match is_same_type {
            true => Err(format!("a completion with that value, or none; it has {}", quoted(&pool.edn(answered)))),
            false => Ok(()),
        }
    }

    /// The call of a model.
    #[must_use]
    pub fn call(&self, action: ModelAction, argument: DatumId, result: Option<DatumId>) -> ModelCall {
        ModelCall { action, argument, second: DatumId::NIL, result, process: self.process }
    }
}

/// States that follow a step.
#[derive(Clone, Debug, Default)]
pub struct NextStates {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl NextStates {
    /// Adds a state.
    pub fn push(&mut self, state: &[u8]) {
        self.bytes.extend_from_slice(state);
        self.ends.push(self.bytes.len());
    }

    /// Adds a state that is made of pieces.
    pub fn push_pieces(&mut self, pieces: &[&[u8]]) {
        pieces.iter().for_each(|piece| self.bytes.extend_from_slice(piece));
        self.ends.push(self.bytes.len());
    }

    /// The states.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.ends.iter().enumerate().map(|(at, end)| {
            let start = if at == 0 { 0 } else { self.ends[at - 1] };
            &self.bytes[start..*end]
        })
    }

    /// Whether there are none: the step is not legal.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Removes all states.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// What an object answers when it is called sequentially.
pub trait SequentialModel {
    /// The state at the beginning.
    fn initial(&self) -> Vec<u8>;

    /// What a call of a history is to the model; `None` if it neither changes nor tells anything.
    ///
    /// # Errors
    /// What was expected, if the call does not fit the model.
    fn call(&self, pool: &DatumPool, record: &CallRecord<'_>) -> Result<Option<ModelCall>, String>;

    /// Adds the states after a call in a state; none if the call is not legal there.
    fn step(&self, pool: &DatumPool, state: &[u8], call: &ModelCall, next: &mut NextStates);

    /// The state in words of people.
    fn describe(&self, pool: &DatumPool, state: &[u8]) -> String;

    /// Whether a call changes no state, whatever it is.
    fn is_readonly(&self, call: &ModelCall) -> bool {
        matches!(call.action, ModelAction::Read | ModelAction::FailedCas | ModelAction::Contains)
    }

    /// The element of a collection that a call is about, if it depends on no other: such calls are judged for each element alone.
    fn element(&self, _call: &ModelCall) -> Option<DatumId> {
        None
    }

    /// Whether it says itself which calls are about independent parts, whatever keys the history has.
    fn parts_itself(&self) -> bool {
        false
    }

    /// Whether the answer depends on who calls.
    fn knows_processes(&self) -> bool {
        false
    }

    /// What such a call is answered, if the model judges little else: a history does not fit in which such calls happened, and none was
    /// answered so.
    fn answers(&self, _call: &ModelCall) -> Option<&'static str> {
        None
    }

    /// Whether it is better to try calls in the order of their invocations than the one that returns next first.
    fn prefers_call_order(&self) -> bool {
        false
    }

    /// Whether the call is one that [`SequentialModel::can_become`] looks ahead to.
    fn is_landmark(&self, _call: &ModelCall) -> bool {
        false
    }

    /// Whether a call can make any state of any other, which ends what can be said ahead.
    fn overwrites(&self, _call: &ModelCall) -> bool {
        true
    }

    /// The value that must have been brought before a call is legal, if it shows one.
    fn shows(&self, _call: &ModelCall) -> Option<DatumId> {
        None
    }

    /// The value that a call brings: without such a call, none that shows the value is legal.
    fn brings(&self, _call: &ModelCall) -> Option<DatumId> {
        None
    }

    /// Whether `next`, right after a call, can show that it took effect. If no call can, the order is legal without it.
    fn tells(&self, _call: &ModelCall, _next: &ModelCall) -> bool {
        true
    }

    /// Whether the state can still become one in which a landmark is legal, if no call overwrites it before.
    fn can_become(&self, _pool: &DatumPool, _state: &[u8], _landmark: &ModelCall) -> bool {
        true
    }

    /// Whether the state right after an overwriting call can become one in which a landmark is legal, if no other overwrites it before.
    fn can_bring(&self, _pool: &DatumPool, _call: &ModelCall, _landmark: &ModelCall) -> bool {
        true
    }

    /// Whether a call returns nothing that depends on the state, and is legal in each of those that have the same [`SequentialModel::unseen`].
    fn is_blind(&self, _call: &ModelCall) -> bool {
        false
    }

    /// What stands for a state that only blind calls follow before it is overwritten: no landmark is legal in it, and it is no state itself.
    fn unseen(&self, _state: &[u8]) -> Option<&'static [u8]> {
        None
    }
}

/// The bytes of an id within a state.
pub(crate) fn id_bytes(id: DatumId) -> [u8; 4] {
    id.0.to_le_bytes()
}

/// The ids that a state is made of.
pub(crate) fn ids(state: &[u8]) -> impl DoubleEndedIterator<Item = DatumId> + ExactSizeIterator + Clone {
    state.as_chunks::<4>().0.iter().map(|bytes| DatumId(u32::from_le_bytes(*bytes)))
}

/// Ids in words of people.
pub(crate) fn describe_ids(pool: &DatumPool, ids: impl Iterator<Item = DatumId>) -> String {
    ids.map(|id| pool.edn(id)).collect::<Vec<_>>().join(" ")
}

/// What was expected of a history that a model does not fit.
pub(crate) fn functions(names: &[&str]) -> String {
    format!("a function of the model: {}", names.join(", "))
}
