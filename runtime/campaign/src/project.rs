//! What all executions of one project share.

use crate::config::Config;
use crate::options::BackendOptions;
use crate::remarks::Remarks;

/// See the module.
#[derive(Clone, Debug)]
pub struct Project {
    /// Its settings.
    pub config: Config,
    /// What answers, when it is said for this invocation.
    pub backends: BackendOptions,
    /// Whether traces of passing runs are kept too.
    pub keep_passing: bool,
    /// Who hears what a person should know meanwhile.
    pub remarks: Remarks,
}
