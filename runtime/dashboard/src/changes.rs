//! Looks at the store while somebody watches, and tells all of them what has changed.
//!
//! ```text
//! store ─every LOOK_EVERY, once for all─▶ text of the document ─changed?─▶ the latest one, for whoever reads
//! ```
//!
//! Invariants: without a browser nothing is read; one that reads slowly gets the latest state next, and holds nothing up.

use crate::source::DashboardSource;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Between two looks: how fast a page can change.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The latest document, as JSON.
pub(crate) type LatestFleet = Arc<str>;

/// Follows the store for as long as the server lives.
pub(crate) async fn follow(source: Arc<DashboardSource>, latest: watch::Sender<LatestFleet>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        if latest.receiver_count() == 0 {
            continue;
        }
        if let Some(text) = look(&source).await {
            latest.send_if_modified(|before| {
                let is_new = **before != *text;
                *before = text;
                is_new
            });
        }
    }
}

/// The fleet as it is now; `None` when the store does not answer.
pub(crate) async fn look(source: &Arc<DashboardSource>) -> Option<LatestFleet> {
    let source = Arc::clone(source);
    let looked = tokio::task::spawn_blocking(move || {
        let document = source.fleet().inspect_err(|error| tracing::debug!(%error, "the store does not answer"));
        serde_json::to_string(&document.ok()?).ok()
    });
    looked.await.ok().flatten().map(Into::into)
}
