//! Looks at the store while somebody watches, and tells all of them what has changed.
//!
//! ```text
//! store ─every LOOK_EVERY, once for all─▶ document ─changed?─▶ the latest one ─▶ each reader: what is new since the last one that it got
//! ```
//!
//! Invariants: without a browser nothing is read; one that reads slowly gets what has changed since it read, and holds nothing up; a store that
//! takes longer to read is read less often; one that cannot be read is said to be away, and why.

use crate::source::DashboardSource;
use axum::response::sse::Event;
use fozzy_campaign::wall_clock::Stopwatch;
use fozzy_report::fleet::FleetDocument;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// Between two looks: how fast a page can change.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// The same, of a store that takes long to read.
const LOOK_EVERY_MAX: Duration = Duration::from_millis(500);
/// What lies between two looks, in times of a look, between these bounds.
const PAUSE_TIMES: u32 = 12;

/// What the store says, or why it does not answer.
pub(crate) type Look = Result<Arc<FleetDocument>, String>;

/// The latest one; `None` before the first.
pub(crate) type LatestFleet = Option<Look>;

/// Follows the store for as long as the server lives.
pub(crate) async fn follow(source: Arc<DashboardSource>, latest: watch::Sender<LatestFleet>) {
    let mut pause = LOOK_EVERY;
    loop {
        tokio::time::sleep(pause).await;
        if latest.receiver_count() == 0 {
            continue;
        }
        let watch = Stopwatch::start();
        // All who watch are told.
        let _ = look(&source, &latest).await;
        pause = (watch.elapsed() * PAUSE_TIMES).clamp(LOOK_EVERY, LOOK_EVERY_MAX);
    }
}

/// The fleet as it is now, which all who watch are told if it is new.
pub(crate) async fn look(source: &Arc<DashboardSource>, latest: &watch::Sender<LatestFleet>) -> Look {
    let source = Arc::clone(source);
    let now = match tokio::task::spawn_blocking(move || source.fleet()).await {
        Ok(looked) => looked.map(Arc::new).map_err(|error| error.to_string()),
        Err(_) => Err("reading it ended early; this is a fault of fozzy".to_owned()),
    };
    if let Err(why) = &now {
        tracing::debug!(why, "the store is not read");
    }
    latest.send_if_modified(|before| {
        let is_new = before.as_ref() != Some(&now);
        *before = Some(now.clone());
        is_new
    });
    now
}

/// For a reader that has got `before`: the whole document as `fleet`, the rows that have changed as `change`, or as `away` why there is none.
pub(crate) fn event(before: Option<&FleetDocument>, now: &Look) -> Event {
    let of = |kind: &str, data: serde_json::Result<String>| Event::default().event(kind).data(data.unwrap_or_default());
    match now {
        Ok(now) => match before.and_then(|before| now.changes_since(before)) {
            Some(change) => of("change", serde_json::to_string(&change)),
            None => of("fleet", serde_json::to_string(now.as_ref())),
        },
        Err(why) => of("away", serde_json::to_string(why)),
    }
}
