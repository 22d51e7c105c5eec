//! In which state a program says it is, so that a search can tell new ones from old ones.
//!
//! Invariant: equal values of equal names are equal states, in whatever order they were told.

use crate::RunningDigest;
use crate::choice::{ChoiceError, check_name};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names that a program can have states for.
pub const STATES_MAX: usize = 256;

/// The state that cannot be noted.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StateError {
    /// Its name.
    #[error(transparent)]
    Name(#[from] ChoiceError),
    /// There are [`STATES_MAX`].
    #[error("more than {STATES_MAX} names of states; a name must not be made from values")]
    TooMany,
}

/// The last value of each name.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StateValues {
    values: BTreeMap<Arc<str>, u64>,
}

impl Clone for StateValues {
    fn clone(&self) -> StateValues {
        StateValues { values: self.values.clone() }
    }

    /// On two ways through one program the names are mostly the same, and take no allocation then.
    fn clone_from(&mut self, source: &StateValues) {
        if self.values.keys().eq(source.values.keys()) {
            self.values.values_mut().zip(source.values.values()).for_each(|(own, value)| *own = *value);
        } else {
            self.values.clone_from(&source.values);
        }
    }
}

impl StateValues {
    /// A name has this value now.
    ///
    /// # Errors
    /// When the name is unfit, or there are too many.
    pub fn note(&mut self, name: &str, value: u64) -> Result<(), StateError> {
        if let Some(known) = self.values.get_mut(name) {
            *known = value;
            return Ok(());
        }
        check_name(name)?;
        if self.values.len() == STATES_MAX {
            return Err(StateError::TooMany);
        }
        self.values.insert(name.into(), value);
        Ok(())
    }

    /// All of them as one number; `None` when nothing was told.
    #[must_use]
    pub fn digest(&self) -> Option<u64> {
        if self.values.is_empty() {
            return None;
        }
        let mut fold = RunningDigest::default();
        for (name, value) in &self.values {
            fold.bytes(name.as_bytes());
            fold.word(*value);
        }
        Some(fold.value())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_the_last_value_of_each_name() {
        let of = |told: &[(&str, u64)]| {
            let mut states = StateValues::default();
            told.iter().for_each(|(name, value)| states.note(name, *value).expect("fit"));
            states.digest()
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[("a", 1), ("b", 2)]), of(&[("b", 7), ("a", 1), ("b", 2)]));
        assert_ne!(of(&[("a", 1)]), of(&[("a", 2)]));
        assert_ne!(of(&[("a", 1)]), of(&[("b", 1)]));
        let told = |told: &[(&str, u64)]| {
            let mut states = StateValues::default();
            told.iter().for_each(|(name, value)| states.note(name, *value).expect("fit"));
            states
        };
        let all =
            [told(&[]), told(&[("a", 1)]), told(&[("a", 2)]), told(&[("a", 1), ("b", 2)]), told(&[("b", 2), ("c", 1)])];
        for (from, to) in all.iter().flat_map(|from| all.iter().map(move |to| (from, to))) {
            let mut states = from.clone();
            states.clone_from(to);
            assert_eq!(&states, to);
        }
        let mut states = StateValues::default();
        assert!(states.note("", 1).is_err());
        (0..STATES_MAX).for_each(|n| states.note(&n.to_string(), 0).expect("below the bound"));
        assert_eq!(states.note("more", 0), Err(StateError::TooMany));
        assert_eq!(states.note("0", 5), Ok(()));
    }
}
