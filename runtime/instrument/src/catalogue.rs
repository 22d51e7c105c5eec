//! The assertion catalogue: records that a program's author left in custom sections, for all assertions that it contains, reached or not.
//!
//! ```text
//! #[link_section = "fozzy:catalogue"] static A: [u8; N] = *b"...";      one record
//! custom section "fozzy:catalogue": all records of a module, one after the other
//! ```
//!
//! Not here: what a record says. The rewritten component does not carry them any more.

use crate::{Error, ModuleOrdinal};

/// Name of the sections.
pub(crate) const CATALOGUE_SECTION: &str = "fozzy:catalogue";

/// Bytes that the catalogue of a component may have, tens of thousands of assertions. A larger one is refused.
pub const CATALOGUE_BYTES_MAX: usize = 4 << 20;

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Catalogue {
    pub(crate) records: Vec<(ModuleOrdinal, Vec<u8>)>,
    bytes: usize,
}

impl Catalogue {
    pub(crate) fn add(&mut self, module: ModuleOrdinal, records: &[u8]) -> Result<(), Error> {
        self.bytes += records.len();
        if self.bytes > CATALOGUE_BYTES_MAX {
            return Err(Error::CatalogueTooLarge { bytes: self.bytes });
        }
        self.records.push((module, records.to_vec()));
        Ok(())
    }
}
