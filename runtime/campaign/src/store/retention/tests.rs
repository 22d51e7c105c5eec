//! Stores of a few runs, and what stays of them.

use super::*;
use fozzy_report::RunMode;
use fozzy_trace::Seed;

/// A store with runs that have ended so, the first one first.
fn store(ended: &[Status]) -> (tempfile::TempDir, RunStore, Vec<String>) {
    let place = tempfile::tempdir().expect("a folder");
    let store = RunStore::new(place.path());
    let mut ids = Vec::new();
    for (sequence, status) in ended.iter().enumerate() {
        let folder = store.begin().expect("it begins");
        assert!(folder.is_kept());
        fs::write(folder.path.join("report.json"), vec![b' '; 1000]).expect("it is written");
        let manifest = RunManifest {
            schema_version: super::super::MANIFEST_SCHEMA.to_owned(),
            run_id: folder.id.clone(),
            sequence: sequence as u64 + 1,
            mode: RunMode::Run,
            status: *status,
            interrupted: false,
            seed: Seed(0),
            started_at: String::new(),
            finished_at: String::new(),
            duration_ms: 0,
            duration_ns: 0,
            trace_path: None,
            report_path: None,
            artifacts_dir: None,
            findings_count: 0,
            tests_passed: None,
            tests_failed: None,
            tests_skipped: None,
            memory_leaked_bytes: None,
            memory_leaked_allocs: None,
            memory_peak_bytes: None,
        };
        super::super::write_json(&folder.path.join("manifest.json"), &manifest).expect("it is written");
        ids.push(folder.id.clone());
    }
    (place, store, ids)
}

const PASS: Status = Status::Pass;
const FAIL: Status = Status::Fail;
const ALL: Retention = Retention { runs: 100, bytes: u64::MAX };

#[test]
fn the_newest_runs_stay_and_the_last_of_each_outcome() {
    let (_place, store, ids) = store(&[FAIL, FAIL, PASS, PASS, PASS, PASS]);
    let bound = Retention { runs: 3, ..ALL };
    assert_eq!(store.prune(ALL, false).expect("pruned"), PrunedRuns::default());
    let would = store.prune(bound, true).expect("looked at");
    assert_eq!(would.runs, [ids[2].clone(), ids[0].clone()], "the last failure stays");
    assert!(would.bytes > 2000);
    assert_eq!(store.finished().len(), 6, "nothing was removed");
    assert_eq!(store.prune(bound, false).expect("pruned"), would);
    let left: Vec<String> = store.finished().into_iter().map(|(_, manifest)| manifest.run_id).collect();
    assert_eq!(left, [5, 4, 3, 1].map(|place: usize| ids[place].clone()));
    let none = Retention { runs: 0, bytes: 0 };
    assert_eq!(store.prune(none, false).expect("pruned").runs.len(), 4, "all go when none is to stay");
}

#[test]
fn bytes_are_a_bound_of_their_own() {
    let (_place, store, ids) = store(&[PASS, PASS, PASS, PASS]);
    let removed = store.prune(Retention { bytes: 3000, ..ALL }, false).expect("pruned");
    assert_eq!(removed.runs, [ids[1].clone(), ids[0].clone()]);
}

#[test]
fn what_a_killed_process_has_left_goes_and_what_runs_stays() {
    let (place, store, _) = store(&[PASS]);
    let running = store.begin().expect("it begins");
    let killed = store.begin().expect("it begins");
    fs::write(killed.path.join("trace.fozzy"), "half").expect("it is written");
    let path = killed.path.clone();
    drop(killed);
    let mine = place.path().join("runs/notes");
    fs::create_dir(&mine).expect("a folder");
    let removed = store.prune(ALL, false).expect("pruned");
    assert_eq!(removed.leftovers, std::slice::from_ref(&path));
    assert!(!path.exists() && running.path.exists() && mine.exists());
}

#[test]
fn one_look_tells_what_looks_of_their_own_do() {
    let (_place, store, ids) = store(&[PASS, FAIL, PASS]);
    let running = store.begin().expect("it begins");
    let left = |manifest: Option<&str>| {
        let folder = store.begin().expect("it begins");
        if let Some(text) = manifest {
            fs::write(folder.path.join("manifest.json"), text).expect("it is written");
        }
        folder.path.clone()
    };
    let (without, damaged) = (left(None), left(Some("{}")));
    let names = |runs: &[(PathBuf, RunManifest)]| -> Vec<String> {
        runs.iter().map(|(_, manifest)| manifest.run_id.clone()).collect()
    };
    let alone = names(&store.finished());
    assert_eq!(alone, [2, 1, 0].map(|place: usize| ids[place].clone()));
    // Leads out of the store, or could.
    #[cfg(unix)]
    std::os::unix::fs::symlink(store.path().join(&ids[0]), store.path().join(uuid::Uuid::from_u128(1).to_string()))
        .expect("a link");
    let contents = store.contents();
    assert_eq!(names(&contents.finished), alone);
    let mut abandoned = [without.clone(), damaged];
    abandoned.sort();
    assert_eq!(contents.abandoned, abandoned);
    assert_eq!(store.without_manifest(), [without], "a damaged manifest was not left by a kill");
    assert!(running.path.exists(), "it is in progress");
}

#[test]
fn what_a_killed_process_has_found_is_a_run_of_the_store() {
    let (_place, store, ids) = store(&[FAIL]);
    let killed = store.begin().expect("it begins");
    let trace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/traces/v5-drift.fozzy");
    fs::copy(trace, killed.path.join("panic-0123.fozzy")).expect("it is copied");
    fs::write(killed.path.join("panic-4567.fozzy"), "half").expect("it is written");
    let path = killed.path.clone();
    assert_eq!(store.prune(ALL, false).expect("pruned"), PrunedRuns::default(), "it is in progress");
    assert_eq!(store.finished().len(), 1);
    drop(killed);
    assert_eq!(store.prune(ALL, true).expect("looked at"), PrunedRuns::default());
    assert_eq!(store.prune(ALL, false).expect("pruned"), PrunedRuns::default());
    let run = super::super::KeptRun::read(&path).expect("report and manifest agree");
    let named = run.manifest.trace_path.expect("it has a trace");
    assert!(named.ends_with("panic-0123.fozzy") && Path::new(&named).is_file(), "{named}");
    let order: Vec<u64> = store.finished().iter().map(|(_, manifest)| manifest.sequence).collect();
    assert_eq!(order, [2, 1]);
    let last = crate::selector::trace_path("latest", &store).expect("it is named");
    assert_eq!((last, ids.len()), (Path::new(&named).to_owned(), 1));
    store.adopt().expect("once only");
    assert_eq!(store.finished().len(), 2);
}

#[test]
fn a_store_that_keeps_nothing_leaves_nothing() {
    let place = tempfile::tempdir().expect("a folder");
    let store = RunStore::new(place.path()).bounded(None);
    let folder = store.begin().expect("it begins");
    assert!(!folder.is_kept() && folder.path.is_dir());
    let path = folder.path.clone();
    drop(folder);
    assert!(!path.exists());
    assert!(!place.path().join("runs").exists());
}

#[cfg(unix)]
#[test]
fn a_file_with_several_names_is_counted_once() {
    let (_place, store, ids) = store(&[PASS, PASS, PASS]);
    let folder = |place: usize| store.path().join(&ids[place]);
    fs::write(folder(0).join("trace.fozzy"), vec![b' '; 50_000]).expect("it is written");
    for place in [1, 2] {
        fs::hard_link(folder(0).join("trace.fozzy"), folder(place).join("trace.fozzy")).expect("another name");
    }
    let bound = Retention { bytes: 60_000, ..ALL };
    assert_eq!(store.prune(bound, true).expect("looked at"), PrunedRuns::default(), "three names of one file fit");
}

#[test]
fn what_killed_processes_were_writing_goes_wherever_it_is() {
    let folder = tempfile::tempdir().expect("a temporary directory can be made");
    let store = RunStore::new(folder.path());
    let corpus = folder.path().join("corpora/app");
    fs::create_dir_all(&corpus).expect("room");
    let write = |name: &str, is_old: bool| {
        let path = corpus.join(name);
        let file = File::create(&path).expect("room");
        if is_old {
            file.set_modified(std::time::UNIX_EPOCH).expect("its time can be set");
        }
        path
    };
    let stale = write(".fozzy-a1b2c3.tmp", true);
    let others = [write(".fozzy-d4e5f6.tmp", false), write("seed.tmp", true)];
    fs::create_dir_all(folder.path().join("fetched")).expect("room");
    // The store of a fleet has it.
    let fetched = folder.path().join(format!("fetched/{}.fozzy", "a".repeat(64)));
    fs::rename(write("old.fozzy", true), &fetched).expect("it is moved");
    let stale = [stale, fetched];
    assert_eq!(store.sweep(true).expect("looked at"), stale);
    assert!(stale.iter().all(|path| path.exists()));
    assert_eq!(store.sweep(false).expect("swept"), stale);
    assert!(!stale.iter().any(|path| path.exists()) && others.iter().all(|path| path.exists()));
}
