//! What can be asked.
//!
//! ```text
//! /                                index.html, and what it takes
//! /api/fleet                       fozzy.fleet.v1
//! /api/events                      the same as a server-sent event `fleet`; then as `change`, with the rows only that have changed; `away` while the store cannot be read
//! /api/targets/ID?from=N           fozzy.fleet_target.v1, with its testcases from that place on
//! /api/targets/ID/testcases/NAME | NAME/patch   a testcase, as it is; as a patch for git
//! /api/targets/ID/coverage | faults         fozzy.coverage.v1, fozzy.fault_map.v1: it is executed for that
//! /api/failures/DIGEST/causality | suspects fozzy.causality.v1, fozzy.suspects.v1: the same
//! /api/runs                        fozzy.run_manifest.v1, the latest first
//! /failures/DIGEST.html | .fozzy | .patch | .seed.patch   the page of a failure, its trace; the trace, or its input, as a patch for git
//! /targets/ID.html                 the page of a target's coverage, line by line
//! /runs/ID.html                    the page of a run of the project
//! ```

use crate::assets::{ASSETS, INDEX};
use crate::changes::{LatestFleet, Look, event, look};
use crate::executed::execute;
use crate::guard::{Guard, RUN_PAGE, guard};
use crate::source::DashboardSource;
use crate::subject::ExecutedSubject;
use axum::Router;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::sse::{KeepAlive, Sse};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use fozzy_campaign::fleet::patches::regression_patch;
use fozzy_campaign::fleet::shared_store::SharedStoreError;
use fozzy_campaign::fleet::testcases::TestcaseBytes;
use fozzy_report::fleet::FleetDocument;
use futures_util::stream;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::watch;

/// Browsers that watch at a time.
const WATCHERS_MAX: usize = 64;

/// What every answer is made from.
#[derive(Clone)]
pub(crate) struct RouteState {
    pub(crate) source: Arc<DashboardSource>,
    pub(crate) latest: watch::Sender<LatestFleet>,
    pub(crate) watchers: Arc<AtomicUsize>,
}

pub(crate) fn router(shared: RouteState, who: Guard) -> Router {
    let mut router = Router::new().route("/", get(async || Html(INDEX)));
    for asset in &ASSETS {
        router = router.route(asset.path, get(async || ([(header::CONTENT_TYPE, asset.media_type)], asset.content)));
    }
    router
        .route("/api/fleet", get(fleet))
        .route("/api/events", get(events))
        .route("/api/targets/{id}", get(target))
        .route("/api/{of}/{id}/{what}", get(measured))
        .route("/api/targets/{id}/testcases/{name}", get(testcase))
        .route("/api/targets/{id}/testcases/{name}/patch", get(testcase_patch))
        .route("/api/runs", get(runs))
        .route("/failures/{file}", get(failure))
        .route("/targets/{file}", get(coverage))
        .route("/runs/{file}", get(run))
        .fallback(async || missing("there is no such page"))
        .with_state(shared)
        .layer(axum::middleware::from_fn_with_state(who, guard))
}

fn missing(what: &str) -> Response {
    (StatusCode::NOT_FOUND, format!("{what}\n")).into_response()
}

fn broken(why: &impl std::fmt::Display) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response()
}

const JSON: [(HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/json")];

fn json(document: &impl Serialize) -> Response {
    match serde_json::to_string(document) {
        Ok(text) => (JSON, text).into_response(),
        Err(error) => broken(&error),
    }
}

/// Reads the store beside the server's own thread.
async fn asked<T: Send + 'static>(
    shared: &RouteState,
    ask: impl FnOnce(&DashboardSource) -> T + Send + 'static,
) -> Result<T, Response> {
    let source = Arc::clone(&shared.source);
    tokio::task::spawn_blocking(move || ask(&source)).await.map_err(|error| broken(&error))
}

async fn fleet(State(shared): State<RouteState>) -> Response {
    match asked(&shared, DashboardSource::fleet).await {
        Ok(Ok(document)) => json(&document),
        Ok(Err(error)) => broken(&error),
        Err(response) => response,
    }
}

async fn target(State(shared): State<RouteState>, Path(id): Path<String>, RawQuery(query): RawQuery) -> Response {
    let Some(from) = from_of(query.as_deref()) else {
        return (StatusCode::BAD_REQUEST, "expected ?from=N, a number\n").into_response();
    };
    match asked(&shared, move |source| source.target(&id, from)).await {
        Ok(Ok(Some(document))) => json(&document),
        Ok(Ok(None)) => missing("no target has this id"),
        Ok(Err(error)) => broken(&error),
        Err(response) => response,
    }
}

/// The place of the first testcase that is asked for; `None` where that is no number.
fn from_of(query: Option<&str>) -> Option<usize> {
    let mut words = query.unwrap_or_default().split('&');
    words.find_map(|word| word.strip_prefix("from=")).map_or(Some(0), |from| from.parse().ok())
}

async fn testcase(State(shared): State<RouteState>, Path((id, name)): Path<(String, String)>) -> Response {
    let asking = name.clone();
    match asked(&shared, move |source| source.testcase(&id, &asking)).await {
        Ok(Ok(Some(TestcaseBytes::Whole(bytes)))) => attachment("application/octet-stream", &name, bytes),
        Ok(Ok(Some(TestcaseBytes::TooLarge { size, max }))) => {
            let why = format!("the testcase has {size} bytes, and an input has at most {max}\n");
            (StatusCode::PAYLOAD_TOO_LARGE, why).into_response()
        }
        Ok(Ok(None)) => missing("the target has no such testcase"),
        Ok(Err(error)) => broken(&error),
        Err(response) => response,
    }
}

async fn testcase_patch(State(shared): State<RouteState>, Path((id, name)): Path<(String, String)>) -> Response {
    let file = format!("{}.seed.patch", name.get(..12).unwrap_or(&name));
    patch(&shared, &file, move |source| source.testcase_patch(&id, &name)).await
}

/// A patch for git, as a file of that name.
async fn patch(
    shared: &RouteState,
    file: &str,
    make: impl FnOnce(&DashboardSource) -> Result<Option<String>, SharedStoreError> + Send + 'static,
) -> Response {
    match asked(shared, make).await {
        Ok(Ok(Some(patch))) => attachment("text/plain; charset=utf-8", file, patch.into_bytes()),
        Ok(Ok(None)) => missing(
            "there is no such patch: nothing has this name, it has no input of bytes, or its corpus is outside of this folder",
        ),
        Ok(Err(error)) => broken(&error),
        Err(response) => response,
    }
}

/// Characters of a file's name that a browser is told.
const FILE_NAME_MAX: usize = 100;

/// Bytes that a browser keeps as a file, and does not show.
fn attachment(media_type: &'static str, name: &str, bytes: Vec<u8>) -> Response {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let name: String = name.chars().take(FILE_NAME_MAX).map(plain).collect();
    let kept = format!("attachment; filename=\"{name}\"");
    let head = [(header::CONTENT_TYPE, media_type.to_owned()), (header::CONTENT_DISPOSITION, kept)];
    (head, bytes).into_response()
}

async fn runs(State(shared): State<RouteState>) -> Response {
    match asked(&shared, DashboardSource::runs).await {
        Ok(runs) => json(&runs),
        Err(response) => response,
    }
}

/// A browser that watches.
struct Watcher {
    changes: watch::Receiver<LatestFleet>,
    /// The document that was sent last.
    sent: Option<Arc<FleetDocument>>,
    watchers: Arc<AtomicUsize>,
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.watchers.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn events(State(shared): State<RouteState>) -> Response {
    let watchers = Arc::clone(&shared.watchers);
    if watchers.fetch_add(1, Ordering::SeqCst) >= WATCHERS_MAX {
        watchers.fetch_sub(1, Ordering::SeqCst);
        return broken(&format!("{WATCHERS_MAX} browsers watch already"));
    }
    // It goes with who goes away during the first look, and misses nothing that another one sees meanwhile.
    let watcher = Watcher { changes: shared.latest.subscribe(), sent: None, watchers };
    let mut first = Some(look(&shared.source, &shared.latest).await);
    let events = stream::unfold(watcher, move |mut watcher| {
        let first = first.take();
        async move {
            let now = match first {
                Some(first) => first,
                None => loop {
                    watcher.changes.changed().await.ok()?;
                    let latest = LatestFleet::clone(&watcher.changes.borrow_and_update());
                    // Its own look is told to all.
                    let is_sent = |now: &Look| {
                        let sent = now.as_ref().ok().zip(watcher.sent.as_ref());
                        sent.is_some_and(|(now, sent)| Arc::ptr_eq(now, sent))
                    };
                    if let Some(now) = latest.filter(|now| !is_sent(now)) {
                        break now;
                    }
                },
            };
            let event = event(watcher.sent.as_deref(), &now);
            watcher.sent = now.ok().or_else(|| watcher.sent.take());
            Some((Ok::<_, Infallible>(event), watcher))
        }
    });
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

async fn failure(State(shared): State<RouteState>, Path(file): Path<String>) -> Response {
    let Some((name, ending)) = file.split_once('.').map(|(name, ending)| (name.to_owned(), ending.to_owned())) else {
        return missing("there is no such page");
    };
    let saved = format!("{}.{ending}", name.get(..12).unwrap_or_default());
    match ending.as_str() {
        "html" => page(&shared, ExecutedSubject::Failure(name)).await,
        "fozzy" => match asked(&shared, move |source| source.trace(&name)).await {
            Ok(Ok(Some(trace))) => attachment("application/octet-stream", &saved, trace),
            Ok(Ok(None)) => missing("the store has no such trace"),
            Ok(Err(error)) => broken(&error),
            Err(response) => response,
        },
        "patch" => {
            let make =
                move |source: &DashboardSource| source.trace(&name).map(|trace| trace.as_deref().map(regression_patch));
            patch(&shared, &saved, make).await
        }
        "seed.patch" => patch(&shared, &saved, move |source| source.failure_seed_patch(&name)).await,
        _ => missing("there is no such page"),
    }
}

async fn run(State(shared): State<RouteState>, Path(file): Path<String>) -> Response {
    match file.strip_suffix(".html") {
        Some(id) => page(&shared, ExecutedSubject::Run(id.to_owned())).await,
        None => missing("there is no such page"),
    }
}

async fn coverage(State(shared): State<RouteState>, Path(file): Path<String>) -> Response {
    match file.strip_suffix(".html") {
        Some(id) => page(&shared, ExecutedSubject::TargetPage(id.to_owned())).await,
        None => missing("there is no such page"),
    }
}

async fn page(shared: &RouteState, subject: ExecutedSubject) -> Response {
    match executed(shared, &subject).await {
        Ok(page) => ([(header::CONTENT_SECURITY_POLICY, RUN_PAGE)], Html(page)).into_response(),
        Err(response) => response,
    }
}

async fn measured(State(shared): State<RouteState>, Path((of, id, what)): Path<(String, String, String)>) -> Response {
    let Some(subject) = ExecutedSubject::document(&of, &id, &what) else { return missing("there is no such document") };
    match executed(&shared, &subject).await {
        Ok(document) => (JSON, document).into_response(),
        Err(response) => response,
    }
}

/// What the subject's command prints.
async fn executed(shared: &RouteState, subject: &ExecutedSubject) -> Result<Vec<u8>, Response> {
    let asking = subject.clone();
    let words = asked(shared, move |source| source.command(&asking)).await?.map_err(|error| broken(&error))?;
    let words = words.ok_or_else(|| missing("there is nothing of that kind"))?;
    execute(subject, &shared.source, &words).await.map_err(|why| broken(&why))
}

#[cfg(test)]
mod tests;
