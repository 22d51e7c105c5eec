//! Opens the parts of the real computer that a plan allows to its session.
//!
//! Invariant: without the feature `live` this library holds no HTTP, no TLS and no way to start a process; a plan that asks for
//! them is refused here.
//! Not here: what the real computer answers (`fozzy-live`), and which runs may ask it (their callers).

use crate::error::{CampaignError, ErrorKind};
use fozzy_engine::Session;
use fozzy_trace::Plan;
use std::path::Path;

/// Refuses: this build has no real computer.
#[cfg(not(feature = "live"))]
pub(super) fn open(_: &Plan, _: &[(String, String)], _: &mut Session, _: &Path) -> Result<(), CampaignError> {
    let message = "the plan asks for the real computer, and fozzy was built without it";
    Err(CampaignError::new(ErrorKind::Plan, message).hint("build it with the feature `live`"))
}

/// Opens the real computer below the current directory, without the run store at `store`; it exchanges `secrets` for what stands for
/// them in the sandbox.
#[cfg(feature = "live")]
pub(super) fn open(
    plan: &Plan,
    secrets: &[(String, String)],
    session: &mut Session,
    store: &Path,
) -> Result<(), CampaignError> {
    use crate::error::at_path;
    use fozzy_live::{LiveComputer, LiveOptions};
    use fozzy_trace::plan::{Backend, Backends};

    let Backends { files, http, processes } = plan.backends;
    let here =
        std::env::current_dir().map_err(|error| at_path(ErrorKind::Plan, "cannot use", Path::new("."), &error))?;
    let options = LiveOptions {
        hidden: below(&here, store),
        files: files == Backend::Host,
        http: http == Backend::Host,
        processes: processes == Backend::Host,
        path: search_path(),
        secrets: secrets.to_vec(),
        redact: plan.redact.clone(),
        policy: plan.live.clone(),
        ..LiveOptions::new(here)
    };
    let live = LiveComputer::new(options).map_err(|error| CampaignError::new(ErrorKind::Plan, error.to_string()))?;
    session.observe(Box::new(live));
    Ok(())
}

/// The path of `store` below `root`, if it stands there. It need not exist yet.
#[cfg(feature = "live")]
fn below(root: &Path, store: &Path) -> Option<std::path::PathBuf> {
    let (root, store) = (root.canonicalize().ok()?, std::path::absolute(store).ok()?);
    let real = store.canonicalize().ok();
    let found = real.as_deref().unwrap_or(&store).strip_prefix(&root).ok()?.to_owned();
    (!found.as_os_str().is_empty()).then_some(found)
}

/// Where real commands are looked for.
#[cfg(feature = "live")]
#[allow(clippy::disallowed_methods, reason = "a fact of the real computer, for real processes only")]
fn search_path() -> Vec<std::path::PathBuf> {
    std::env::var_os("PATH").map(|path| std::env::split_paths(&path).collect()).unwrap_or_default()
}
