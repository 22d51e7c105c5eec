//! Settings of a campaign that are given by name or by file: its mutator, its dictionary.

use crate::error::{CampaignError, ErrorKind, at_path};
use fozzy_search::fuzz::{Dictionary, MUTATORS, Mutator};
use std::path::Path;

/// Bytes of a dictionary file that are read.
const DICTIONARY_BYTES_MAX: u64 = 16 << 20;

/// The mutator of that name.
pub fn mutator(name: &str) -> Result<&'static Mutator, CampaignError> {
    let names: Vec<&str> = MUTATORS.iter().map(|row| row.name).collect();
    MUTATORS.iter().find(|row| row.name == name).ok_or_else(|| {
        CampaignError::new(ErrorKind::Usage, format!("--mutator: there is no `{name}`; there are {}", names.join(", ")))
    })
}

/// The words in a file.
pub fn dictionary(path: &Path) -> Result<Dictionary, CampaignError> {
    let failed = |error: std::io::Error| at_path(ErrorKind::Dictionary, "cannot read", path, &error);
    let bytes = std::fs::metadata(path).map_err(failed)?.len();
    if bytes > DICTIONARY_BYTES_MAX {
        let message = format!("{} has {bytes} bytes, at most {DICTIONARY_BYTES_MAX} are read", path.display());
        return Err(CampaignError::new(ErrorKind::Dictionary, message));
    }
    let text = std::fs::read(path).map_err(failed)?;
    Dictionary::parse(&text)
        .map_err(|error| CampaignError::new(ErrorKind::Dictionary, format!("{}: {error}", path.display())))
}
