//! Stands for `linkme`: what linkers gather from sections, constructors register here, before `main`.
//!
//! ```text
//! #[distributed_slice] pub static ALL: [Row];            ─▶ a list, empty
//! #[distributed_slice(ALL)] static ROW: Row = …;         ─▶ a function in `.init_array` that puts ROW in front of it
//! ```
//!
//! Invariant: every element is registered once, before anything is read. Not here: slices of functions, the order of elements,
//! and the slice as one piece of memory.

pub use linkme_macros::distributed_slice;

use std::sync::{Mutex, OnceLock, PoisonError};

/// A slice type.
pub trait Slice {
    /// What it has.
    type Element: 'static;
}

impl<T: 'static> Slice for [T] {
    type Element = T;
}

/// An element, and the one that was registered before it.
#[derive(Debug)]
pub struct Element<T: 'static> {
    value: &'static T,
    before: OnceLock<Option<&'static Element<T>>>,
}

impl<T: 'static> Element<T> {
    /// Not registered yet.
    pub const fn new(value: &'static T) -> Element<T> {
        Element { value, before: OnceLock::new() }
    }
}

/// The elements of a slice, the last registered first.
#[derive(Debug)]
pub struct DistributedSlice<S: ?Sized + Slice> {
    last: Mutex<Option<&'static Element<S::Element>>>,
}

impl<S: ?Sized + Slice> DistributedSlice<S> {
    /// An empty one.
    pub const fn new() -> DistributedSlice<S> {
        DistributedSlice { last: Mutex::new(None) }
    }

    /// Adds an element.
    pub fn register(&'static self, element: &'static Element<S::Element>) {
        let before = self.last.lock().unwrap_or_else(PoisonError::into_inner).replace(element);
        // Each element is registered by its own constructor, once.
        let _ = element.before.set(before);
    }

    /// All elements.
    pub fn iter(&'static self) -> impl Iterator<Item = &'static S::Element> {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::successors(last, |element| element.before.get().copied().flatten()).map(|element| element.value)
    }

    /// How many there are.
    pub fn len(&'static self) -> usize {
        self.iter().count()
    }

    /// Whether there is none.
    pub fn is_empty(&'static self) -> bool {
        self.iter().next().is_none()
    }
}

impl<S: ?Sized + Slice> Default for DistributedSlice<S> {
    fn default() -> DistributedSlice<S> {
        DistributedSlice::new()
    }
}
