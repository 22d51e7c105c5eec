//! Answers about testcases, asked by name as a browser's address is decoded.

use super::*;
use axum::body::to_bytes;
use fozzy_campaign::fleet::collector::CurrentCollection;
use fozzy_campaign::fleet::discovery::{FleetCollection, FleetTarget, FleetTargetKind};
use fozzy_campaign::fleet::records::{CountedSlices, FailureState, FleetFailureRecord, FleetRecords, OtherFields};
use fozzy_campaign::fleet::shared_store::{DirectoryStore, StoreKey};
use fozzy_campaign::store::RunStore;
use fozzy_trace::{Digest, FailureSignature, FindingKind};
use std::fs;
use std::path::PathBuf;

/// A folder with a store, and a corpus of one target, whose files are these.
fn state(files: &[&str]) -> (tempfile::TempDir, RouteState) {
    let place = tempfile::tempdir().expect("a folder");
    let target = FleetTarget {
        id: "app-1".to_owned(),
        name: "app.wasm".to_owned(),
        kind: FleetTargetKind::Fuzz("parse".to_owned()),
        source: "app.wasm".into(),
        is_built: false,
        file: "app.wasm".into(),
        flags: Vec::new(),
        build: None,
    };
    let corpus = target.corpus_path(place.path()).expect("it is fuzzed");
    fs::create_dir_all(&corpus).expect("a folder");
    files.iter().for_each(|name| fs::write(corpus.join(name), name).expect("written"));
    fs::write(place.path().join("secret"), "outside").expect("written");
    let source = DashboardSource {
        store: Box::new(DirectoryStore::open(&place.path().join("store"), "shop").expect("a store")),
        address: "store".to_owned(),
        collection: CurrentCollection::new(FleetCollection { targets: vec![target], ..FleetCollection::default() }),
        runs: RunStore::new(place.path()),
        traces: Vec::new(),
        base_dir: place.path().to_owned(),
        program: PathBuf::from("fozzy"),
        globals: Vec::new(),
    };
    let (latest, watchers) = (watch::Sender::new(LatestFleet::None), Arc::new(AtomicUsize::new(0)));
    (place, RouteState { source: Arc::new(source), latest, watchers })
}

/// A failure of its target, with a trace of that name.
fn keep_failure(state: &RouteState, trace: Digest) {
    let failure = FleetFailureRecord {
        target: "app.wasm".to_owned(),
        signature: FailureSignature { kind: FindingKind::Panic, site: "x".to_owned() },
        trace,
        is_minimal: true,
        was_shrunk: false,
        status: "still there".to_owned(),
        program: None,
        tried_at_s: None,
        untried: None,
        times: 1,
        found_at: "2026-01-01T00:00:00Z".to_owned(),
        counted: CountedSlices::default(),
        news_of: None,
        others: OtherFields::new(),
    };
    let records = FleetRecords { store: &*state.source.store };
    records.put_failure("app-1", FailureState::Shrunk, &failure).expect("kept");
}

async fn body(response: Response) -> Vec<u8> {
    to_bytes(response.into_body(), 1 << 20).await.expect("a body").to_vec()
}

async fn asked_for(state: &RouteState, name: &str) -> Response {
    testcase(State(state.clone()), Path(("app-1".to_owned(), name.to_owned()))).await
}

#[tokio::test]
async fn a_testcase_is_a_download_and_no_name_leads_elsewhere_or_into_the_head() {
    let odd = "<b>\"; filename=\"x.html";
    let (_place, state) = state(&["seed.txt", odd]);
    for (name, saved) in [("seed.txt", "seed.txt"), (odd, "_b____filename__x.html")] {
        let response = asked_for(&state, name).await;
        assert_eq!(response.status(), StatusCode::OK, "{name}");
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/octet-stream");
        assert_eq!(response.headers()[header::CONTENT_DISPOSITION], format!("attachment; filename=\"{saved}\""));
        assert_eq!(body(response).await, name.as_bytes());
    }
    for name in ["", "..", "../../secret", "/etc/passwd", "corpora/../../secret", "seed.txt/", "none", "a\0b"] {
        assert_eq!(asked_for(&state, name).await.status(), StatusCode::NOT_FOUND, "{name}");
        let response = testcase_patch(State(state.clone()), Path(("app-1".to_owned(), name.to_owned()))).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{name}");
    }
    let other = testcase(State(state.clone()), Path(("app-2".to_owned(), "seed.txt".to_owned()))).await;
    assert_eq!(other.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_target_has_its_testcases_from_a_place_on() {
    let (_place, state) = state(&["a", "b", "c"]);
    for (query, rows) in
        [(None, 3), (Some("from=1"), 2), (Some("x=7&from=3"), 0), (Some("from=18446744073709551615"), 0)]
    {
        let response = target(State(state.clone()), Path("app-1".to_owned()), RawQuery(query.map(str::to_owned))).await;
        let document: serde_json::Value = serde_json::from_slice(&body(response).await).expect("JSON");
        assert_eq!(document["testcases"].as_array().map(Vec::len), Some(rows), "{query:?}");
        assert_eq!(document["testcasesTotal"], 3);
    }
    for query in ["from=-1", "from=", "from=x"] {
        let response = target(State(state.clone()), Path("app-1".to_owned()), RawQuery(Some(query.to_owned()))).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{query}");
    }
}

#[tokio::test]
async fn a_patch_that_cannot_be_made_is_not_listed() {
    // The corpus is in a folder of its own, and not below this one.
    let (_place, state) = state(&[]);
    keep_failure(&state, state.source.store.put_blob(b"a trace").expect("kept"));
    let fleet = state.source.fleet().expect("read");
    assert_eq!((fleet.failures.len(), &*fleet.failures[0].patches), (1, &["regression".to_owned()][..]));
    let target = state.source.target("app-1", 0).expect("read").expect("it is collected");
    assert_eq!(target.failures, fleet.failures);
}

#[tokio::test]
async fn no_page_or_document_is_made_of_a_trace_that_is_not_what_its_name_says() {
    let (_place, state) = state(&[]);
    let store = &state.source.store;
    let (name, other) = (store.put_blob(b"a trace").expect("kept"), store.put_blob(b"another one").expect("kept"));
    keep_failure(&state, name);
    let page = ExecutedSubject::Failure(name.to_string());
    assert!(state.source.command(&page).expect("it is whole").is_some());
    let path = |name: &Digest| store.blob_path(name).expect("a file");
    fs::copy(path(&other), path(&name)).expect("changed in place");
    for ending in ["html", "fozzy", "patch", "seed.patch"] {
        let response = failure(State(state.clone()), Path(format!("{name}.{ending}"))).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{ending}");
        assert!(String::from_utf8_lossy(&body(response).await).contains("is damaged"), "{ending}");
    }
    for what in ["causality", "suspects"] {
        let address = Path(("failures".to_owned(), name.to_string(), what.to_owned()));
        let response = measured(State(state.clone()), address).await;
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE, "{what}");
        assert!(String::from_utf8_lossy(&body(response).await).contains("is damaged"), "{what}");
    }
    fs::remove_file(path(&name)).expect("it goes");
    assert_eq!(state.source.command(&page).expect("read"), None);
}

#[test]
fn an_export_names_a_trace_that_is_missing_and_what_it_has_no_files_of() {
    let (place, state) = state(&[]);
    let trace = state.source.store.put_blob(b"a trace").expect("kept");
    keep_failure(&state, trace);
    let written = |name: &str| {
        let folder = place.path().join(name);
        let site = crate::export::export(&state.source, &folder, false).expect("written");
        let page = fs::read_to_string(folder.join("index.html")).expect("a page");
        let there = ["fozzy", "patch"].map(|ending| folder.join(format!("failures/{trace}.{ending}")).exists());
        assert_eq!(site.is_whole, site.warnings.is_empty());
        (site.warnings, page, there)
    };
    let (warnings, page, there) = written("whole");
    assert_eq!((warnings, there), (Vec::new(), [true, true]));
    // No program is in it whose input would be a testcase.
    assert!(page.contains(&format!("\"absent\":[\"failures/{trace}.seed.patch\"]")), "{page}");
    state.source.store.delete_blob(&trace).expect("it goes");
    let (warnings, page, there) = written("partial");
    let expected = "panic at x in app.wasm is written without its trace: it is not in the store";
    assert_eq!((&warnings[..], there), (&[expected.to_owned()][..], [false, false]));
    assert!(page.contains(expected) && page.contains(&format!("\"absent\":[\"failures/{trace}.fozzy\"")), "{page}");
}

#[test]
fn an_export_says_that_a_record_of_a_failure_cannot_be_read() {
    let (place, state) = state(&[]);
    let key = StoreKey::new(&["failures", "shrunk", "app-1", "x"]);
    state.source.store.put(&key, b"{\"bad").expect("kept");
    let site = crate::export::export(&state.source, &place.path().join("site"), false).expect("written");
    assert!(!site.is_whole && site.warnings.len() == 1, "{site:?}");
    assert!(site.warnings[0].contains("cannot be read"), "{site:?}");
    let document = fs::read(place.path().join("site/api/fleet.json")).expect("written");
    let document: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
    for counts in [&document, &document["targets"][0]] {
        assert_eq!(counts["unreadableFailures"], 1, "{document:#}");
    }
    assert_eq!(document["warnings"], serde_json::json!(site.warnings));
}

#[tokio::test]
async fn a_store_that_was_moved_is_away_until_it_is_back() {
    let (place, state) = state(&["seed.txt"]);
    let (here, elsewhere) = (place.path().join("store"), place.path().join("moved"));
    fs::rename(&here, &elsewhere).expect("it moves");
    let response = fleet(State(state.clone())).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    let why = String::from_utf8(body(response).await).expect("text");
    assert!(why.contains(&here.display().to_string()) && why.contains("it was moved or removed"), "{why}");
    let told = look(&state.source, &state.latest).await.expect_err("it is away");
    assert_eq!(told, why.trim_end());
    let trace = Path(format!("{}.fozzy", Digest::of(b"a trace")));
    assert_eq!(failure(State(state.clone()), trace).await.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(asked_for(&state, "seed.txt").await.status(), StatusCode::SERVICE_UNAVAILABLE);
    fs::rename(&elsewhere, &here).expect("it moves back");
    assert!(look(&state.source, &state.latest).await.is_ok());
}

#[tokio::test]
async fn a_browser_that_goes_away_during_its_first_look_leaves_its_place() {
    let (_place, state) = state(&[]);
    for _ in 0..2 {
        let asking = events(State(state.clone()));
        drop(tokio::time::timeout(std::time::Duration::ZERO, asking).await);
        assert_eq!(state.watchers.load(Ordering::SeqCst), 0);
    }
}
