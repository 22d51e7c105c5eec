//! Programs that are models of what clients call: a user's own, which say what an object answers.
//!
//! ```text
//! step("0", 3, "add", none, "5", some("5")) = ["5"]
//! ```
//!
//! Not here: how a program is run (`fozzy-engine`), how its answers become a verdict (`fozzy-check`).

use crate::Digest;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

/// A call as a program gets it: values are JSON.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProgramCall {
    /// Who called.
    pub process: i64,
    /// The name of its function.
    pub name: String,
    /// Its key, if the history has one.
    pub key: Option<String>,
    /// Its argument.
    pub input: String,
    /// Its result, if it is known.
    pub output: Option<String>,
}

/// A program that is a model. Errors are sentences: it trapped, it took too long.
pub trait ModelProgram {
    /// The state at the beginning of a history. Whatever was asked before changes nothing of what is answered from here on.
    ///
    /// # Errors
    /// When the program fails, as for all functions.
    fn init(&mut self) -> Result<String, String>;

    /// The states after a call.
    ///
    /// # Errors
    /// As for `init`.
    fn step(&mut self, state: &str, call: &ProgramCall) -> Result<Vec<String>, String>;

    /// The independent part that a call is about.
    ///
    /// # Errors
    /// As for `init`.
    fn partition(&mut self, call: &ProgramCall) -> Result<Option<String>, String>;

    /// Whether a call changes no state.
    ///
    /// # Errors
    /// As for `init`.
    fn is_readonly(&mut self, call: &ProgramCall) -> Result<bool, String>;

    /// A state in words.
    ///
    /// # Errors
    /// As for `init`.
    fn describe(&mut self, state: &str) -> Result<String, String>;
}

/// A model that runs of one plan have in common, one after the other.
pub type SharedModel = Arc<Mutex<dyn ModelProgram + Send>>;

/// The models of a plan, by the digests of their components. They follow from the plan: what has equal digests is equal.
#[derive(Clone, Default)]
pub struct ModelPrograms(BTreeMap<Digest, SharedModel>);

impl ModelPrograms {
    /// The model of that component.
    #[must_use]
    pub fn get(&self, component: &Digest) -> Option<&SharedModel> {
        self.0.get(component)
    }
}

impl FromIterator<(Digest, SharedModel)> for ModelPrograms {
    fn from_iter<T: IntoIterator<Item = (Digest, SharedModel)>>(models: T) -> ModelPrograms {
        ModelPrograms(models.into_iter().collect())
    }
}

impl fmt::Debug for ModelPrograms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl PartialEq for ModelPrograms {
    fn eq(&self, other: &ModelPrograms) -> bool {
        self.0.keys().eq(other.0.keys())
    }
}

impl Eq for ModelPrograms {}
