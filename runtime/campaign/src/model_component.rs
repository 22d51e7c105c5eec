//! A model of a user's own, by its path.
//!
//! Not here: how it is called (`fozzy-engine`), how its answers become a verdict (`fozzy_check::ProgramModel`).

use crate::error::{CampaignError, ErrorKind};
use crate::pipeline::{cache, load};
use crate::remarks::Remarks;
use fozzy_engine::{MODEL_INTERFACE, ModelComponent};
use std::path::Path;
use std::sync::Arc;

/// Starts the component at a path, or of the crate in a folder.
///
/// # Errors
/// When there is none, or it is no model.
pub(crate) fn model_component(path: &Path, remarks: &Remarks) -> Result<ModelComponent, CampaignError> {
    let component = load(path, remarks)?.component;
    start_model(&path.display().to_string(), component)
}

/// Starts a component of that name.
///
/// # Errors
/// When it is no model.
pub(crate) fn start_model(name: &str, component: Arc<[u8]>) -> Result<ModelComponent, CampaignError> {
    ModelComponent::start(component, cache().as_ref()).map_err(|why| {
        CampaignError::new(ErrorKind::Target, format!("{name}: {why}"))
            .hint(format!("a model exports {MODEL_INTERFACE}; `fozzy inspect` shows what a component exports"))
    })
}
