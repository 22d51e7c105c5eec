//! A value that its clones share until one of them changes it.
//!
//! Every checkpoint is a clone of the whole computer, and the steps between two checkpoints change little of it.
//!
//! Invariant: what one clone changes, no other sees.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value whose clone costs nothing until one of both is changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CopyOnWrite<T>(Arc<T>);

impl<T> CopyOnWrite<T> {
    /// The value.
    #[must_use]
    pub fn new(value: T) -> CopyOnWrite<T> {
        CopyOnWrite(Arc::new(value))
    }
}

impl<T: Clone> CopyOnWrite<T> {
    /// The value, taken out.
    #[must_use]
    pub fn into_inner(self) -> T {
        Arc::unwrap_or_clone(self.0)
    }
}

impl<T> Deref for CopyOnWrite<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for CopyOnWrite<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_clone_changes_no_other_sees() {
        let mut ours = CopyOnWrite::new(vec![1]);
        let theirs = ours.clone();
        assert!(std::ptr::eq(&*ours, &*theirs), "nothing was copied");
        ours.push(2);
        assert_eq!((ours.into_inner(), theirs.into_inner()), (vec![1, 2], vec![1]));
    }
}
