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
    /// As `clone_from`, but into the value itself where this clone has it alone: whoever has changed it is likely to change it again, and
    /// would copy the whole of it for that.
    pub fn restore_from(&mut self, source: &CopyOnWrite<T>) {
        if Arc::ptr_eq(&self.0, &source.0) {
            return;
        }
        match Arc::get_mut(&mut self.0) {
            Some(own) => own.clone_from(&source.0),
            None => self.0 = Arc::clone(&source.0),
        }
    }

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

    #[test]
    fn what_is_restored_stays_where_it_was_changed() {
        let kept = CopyOnWrite::new(vec![1, 2]);
        let mut way = kept.clone();
        way.restore_from(&kept);
        assert!(std::ptr::eq(&*way, &*kept), "nothing was changed");
        way.push(3);
        let changed = std::ptr::from_ref(&*way);
        way.restore_from(&kept);
        assert_eq!((&*way, &*kept), (&vec![1, 2], &vec![1, 2]));
        assert!(std::ptr::eq(&*way, changed), "it has its own still");
        let other = CopyOnWrite::new(vec![7]);
        let third = way.clone();
        way.restore_from(&other);
        assert!(std::ptr::eq(&*way, &*other), "another clone had the value, too");
        assert_eq!((&*third, &*way), (&vec![1, 2], &vec![7]));
    }
}
