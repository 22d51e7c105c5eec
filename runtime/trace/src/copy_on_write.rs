//! A value that its clones share until one of them changes it.
//!
//! Every checkpoint is a clone of the whole computer, and the steps between two checkpoints change little of it.
//!
//! Invariant: what one clone changes, no other sees.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A value whose clone costs nothing until one of both is changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CopyOnWrite<T>(Arc<T>);

impl<T> Clone for CopyOnWrite<T> {
    fn clone(&self) -> CopyOnWrite<T> {
        CopyOnWrite(Arc::clone(&self.0))
    }

    /// Costs nothing where both share the value already.
    fn clone_from(&mut self, source: &CopyOnWrite<T>) {
        if !Arc::ptr_eq(&self.0, &source.0) {
            self.0 = Arc::clone(&source.0);
        }
    }
}

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
        let mut third = theirs.clone();
        third.clone_from(&theirs);
        assert!(std::ptr::eq(&*third, &*theirs), "they share it still");
        third.clone_from(&ours);
        assert!(std::ptr::eq(&*third, &*ours), "nothing was copied");
        third.push(3);
        assert_eq!((ours.into_inner(), theirs.into_inner(), third.into_inner()), (vec![1, 2], vec![1], vec![1, 2, 3]));
    }
}
