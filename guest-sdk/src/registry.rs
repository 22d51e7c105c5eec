//! The fuzz targets and properties of a crate, which register themselves before the program begins.
//!
//! Invariant: they stand in the order of the source, file by file, in whatever order the linker begins them.

use crate::local::GlobalValue;
use alloc::vec::Vec;

/// File, line, column, and which one of those that an attribute made.
pub type SourceSite = (&'static str, u32, u32, usize);

/// Functions of one kind.
#[derive(Debug)]
pub struct Registry<F>(GlobalValue<Vec<(SourceSite, &'static str, F)>>);

/// Functions that take bytes.
pub static FUZZ: Registry<fn(&[u8])> = Registry(GlobalValue::new(Vec::new()));
/// Functions that draw what they need.
pub static PROPERTY: Registry<fn()> = Registry(GlobalValue::new(Vec::new()));

impl<F: Copy> Registry<F> {
    /// One more.
    pub fn add(&self, place: SourceSite, name: &'static str, function: F) {
        self.0.with(|all| {
            let at = all.partition_point(|(known, ..)| *known < place);
            all.insert(at, (place, name, function));
        });
    }

    /// All of them, with their names.
    #[must_use]
    pub fn all(&self) -> Vec<(&'static str, F)> {
        self.0.with(|all| all.iter().map(|(_, name, function)| (*name, *function)).collect())
    }

    /// The one at that place of [`Registry::all`].
    ///
    /// # Panics
    /// When there are fewer.
    #[must_use]
    pub fn function(&self, number: u32) -> F {
        self.0.with(|all| all[number as usize].2)
    }
}
