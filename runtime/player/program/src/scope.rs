//! Variables: where a name has its value.
//!
//! ```text
//! vars of the file ◀── steps ◀── body of a loop, a branch
//!               └───◀── a function
//! ```
//!
//! Invariant: a name has its value in the innermost scope that has it.

use fozzy_scenario_file::{DEPTH_MAX, Variables};
use player::failure::StepFailure;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

type Values = BTreeMap<String, Value>;

#[derive(Default)]
pub(super) struct Scope {
    values: RefCell<Values>,
    outer: Option<Rc<Scope>>,
}

impl Scope {
    /// One inside of another.
    pub(super) fn inside(outer: &Rc<Scope>) -> Rc<Scope> {
        Rc::new(Scope { values: RefCell::default(), outer: Some(Rc::clone(outer)) })
    }

    /// Gives a name a value where it has one, or else here.
    pub(super) fn set(&self, name: &str, value: Value) -> Result<(), StepFailure> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            if here.values.borrow().contains_key(name) {
                return here.define(name, value);
            }
            scope = here.outer.as_deref();
        }
        self.define(name, value)
    }

    /// Gives a name a value here.
    pub(super) fn define(&self, name: &str, value: Value) -> Result<(), StepFailure> {
        if is_deeper(&value, DEPTH_MAX) {
            return Err(StepFailure::new(format!("`{name}`: the value is nested more than {DEPTH_MAX} levels deep")));
        }
        self.values.borrow_mut().insert(name.to_owned(), value);
        Ok(())
    }

    /// All values, of this scope and those around it.
    pub(super) fn keep(&self) -> Vec<Values> {
        let mut kept = vec![self.values.borrow().clone()];
        kept.extend(self.outer.iter().flat_map(|outer| outer.keep()));
        kept
    }

    pub(super) fn bring_back(&self, kept: Vec<Values>) {
        let (mut scope, mut kept) = (Some(self), kept.into_iter());
        while let (Some(here), Some(values)) = (scope, kept.next()) {
            here.values.replace(values);
            scope = here.outer.as_deref();
        }
    }
}

impl Variables for Scope {
    fn value(&self, name: &str) -> Option<Value> {
        let here = self.values.borrow().get(name).cloned();
        here.or_else(|| self.outer.as_ref()?.value(name))
    }
}

fn is_deeper(value: &Value, levels: u32) -> bool {
    match value {
        Value::Array(_) | Value::Object(_) if levels == 0 => true,
        Value::Array(elements) => elements.iter().any(|element| is_deeper(element, levels - 1)),
        Value::Object(members) => members.values().any(|member| is_deeper(member, levels - 1)),
        _ => false,
    }
}
