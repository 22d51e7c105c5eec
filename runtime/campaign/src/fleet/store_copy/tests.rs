//! Stores that have worked apart, from a common beginning or not, copied once, twice, and back.

use super::super::shared_store::DirectoryStore;
use super::*;

const TARGET: &str = "app-1";

struct Pair {
    _folder: tempfile::TempDir,
    one: DirectoryStore,
    other: DirectoryStore,
}

impl Pair {
    fn new() -> Pair {
        let folder = tempfile::tempdir().expect("a folder");
        let store = |name: &str| DirectoryStore::open(&folder.path().join(name), "shop").expect("a store");
        let (one, other) = (store("one"), store("other"));
        Pair { _folder: folder, one, other }
    }
}

/// The last slice of each worker: its number is also when it ends, in seconds.
fn counted(slices: &[(&str, u64)]) -> CountedSlices {
    let mut counted = CountedSlices::default();
    slices.iter().for_each(|(worker, number)| assert!(counted.count(worker, *number, 1e9 + *number as f64)));
    counted
}

/// A record of that number of slices, of a hundred executions and ten CPU seconds each.
fn target(slices: u64, of: &[(&str, u64)]) -> TargetRecord {
    TargetRecord {
        name: "app.wasm".to_owned(),
        estimate: DiscoveryEstimate { slices, total_cpu_s: 10.0 * slices as f64, ..DiscoveryEstimate::default() },
        executions: 100 * slices,
        features: slices,
        counted: counted(of),
        ..TargetRecord::default()
    }
}

/// A record of that number of slices of each worker, with what each has added.
fn shared(of: &[(&str, u64)]) -> TargetRecord {
    let mut record = TargetRecord { name: "app.wasm".to_owned(), ..TargetRecord::default() };
    for (worker, slices) in of {
        for number in 1..=*slices {
            assert!(record.count_slice(worker, (number, 1e9 + number as f64), |record| {
                record.executions += 100;
                record.program_executions += 100;
                record.estimate.observe(0, Duration::from_secs(10));
            }));
        }
    }
    record
}

/// The trace of a failure that was seen this number of times.
fn trace_of(times: u64) -> Vec<u8> {
    format!("{times} times").into_bytes()
}

/// Keeps a failure and its trace.
fn put_failure(store: &DirectoryStore, state: FailureState, failure: FleetFailureRecord) {
    store.put_blob(&trace_of(failure.times)).expect("kept");
    records(store).put_failure(TARGET, state, &failure).expect("kept");
}

fn failure(site: &str, times: u64, of: &[(&str, u64)]) -> FleetFailureRecord {
    FleetFailureRecord {
        times,
        found_at: format!("202{times}"),
        counted: counted(of),
        ..FleetFailureRecord::app(site, Digest::of(&trace_of(times)))
    }
}

fn moment(worker: &str, number: u64) -> FleetMoment {
    FleetMoment {
        at_s: 1e9 + number as f64,
        executions: 100 * number,
        worker: worker.to_owned(),
        ..FleetMoment::default()
    }
}

fn worker(slices: u64) -> FleetWorkerRecord {
    FleetWorkerRecord {
        version: "0.1.0".to_owned(),
        pid: 1,
        started_at: "2026".to_owned(),
        seen_at: "2026".to_owned(),
        slices,
        cpu_s: 0.0,
        has_ended: true,
        recent: Vec::new(),
    }
}

fn records(store: &DirectoryStore) -> FleetRecords<'_> {
    FleetRecords { store }
}

/// What a copy has done, by kind: new, merged, replaced, left.
fn copy(from: &DirectoryStore, to: &DirectoryStore) -> Vec<(String, [u64; 4])> {
    let copied = copy_store(from, to).expect("copied");
    copied.kinds.into_iter().map(|row| (row.kind, [row.new, row.merged, row.replaced, row.left])).collect()
}

fn values(store: &DirectoryStore) -> Vec<(StoreKey, Vec<u8>)> {
    let keys = store
        .folders()
        .expect("listed")
        .into_iter()
        .flat_map(|folder| store.list(&folder).expect("listed").into_iter().map(move |name| folder.join(&name)));
    keys.map(|key| (key.clone(), store.get(&key).expect("read").expect("it is there"))).collect()
}

fn executions(store: &DirectoryStore) -> u64 {
    records(store).target(TARGET).expect("read").0.executions
}

#[test]
fn a_copy_that_a_full_disk_ends_goes_on_with_merge_and_says_so() {
    let Pair { _folder, one, other } = Pair::new();
    put_failure(&one, FailureState::Shrunk, failure("a", 1, &[]));
    other.set_full(true);
    let told = store_copy_error(copy_store(&one, &other).expect_err("there is no room"));
    assert!(told.hint.as_ref().is_some_and(|hint| hint.contains("--merge")), "{told}");
    other.set_full(false);
    assert_eq!(copy_store(&one, &other).expect("copied").blobs, 1);
    assert_eq!(values(&one), values(&other));
}

#[test]
fn counts_of_stores_that_worked_apart_are_added_once_however_they_are_copied() {
    let Pair { _folder, one, other } = Pair::new();
    // One of them has searched an older build, too.
    let of_build = |mut record: TargetRecord, program_executions: u64| {
        record.note_run_of(Digest::of(program_executions.to_string().as_bytes()), 1.0);
        TargetRecord { program_executions, ..record }
    };
    records(&one).put_target(TARGET, &of_build(target(3, &[("a", 3)]), 100)).expect("kept");
    records(&other).put_target(TARGET, &of_build(target(2, &[("b", 2)]), 200)).expect("kept");
    put_failure(&one, FailureState::Unshrunk, failure("x", 4, &[("a", 3)]));
    put_failure(&other, FailureState::Shrunk, failure("x", 2, &[("b", 1)]));
    put_failure(&other, FailureState::Unshrunk, failure("y", 1, &[("b", 2)]));
    for (store, worker, number) in [(&one, "a", 1), (&other, "b", 2), (&one, "a", 3)] {
        records(store).add_moment(TARGET, moment(worker, number)).expect("kept");
    }
    records(&one).put_worker("a", &worker(3)).expect("kept");
    records(&other).put_worker("a", &worker(2)).expect("kept");
    records(&other).put_worker("b", &worker(2)).expect("kept");
    let row = |kind: &str, counts| (kind.to_owned(), counts);
    let first = copy(&one, &other);
    let expected = [
        row("failures", [0, 1, 0, 0]),
        row("history", [0, 1, 0, 0]),
        row("targets", [0, 1, 0, 0]),
        row("workers", [0, 0, 1, 0]),
    ];
    assert_eq!(first, expected);
    let record = records(&other).target(TARGET).expect("read").0;
    assert_eq!((record.executions, record.estimate.slices, record.estimate.total_cpu_s), (500, 5, 50.0));
    assert_eq!(record.program_executions, 300);
    let builds = ["100", "200", "300"].map(|name| record.has_run_of(Some(Digest::of(name.as_bytes()))));
    assert_eq!(builds, [true, true, false]);
    // The smaller trace stays, in one state, with when it was found first.
    let known = records(&other).failures(TARGET).expect("read");
    let known: Vec<_> = known.iter().map(|(state, _, it)| (*state, it.times, it.trace, &*it.found_at)).collect();
    let (shrunk, single) = (failure("x", 2, &[]).trace, failure("y", 1, &[]).trace);
    assert_eq!(known, [(FailureState::Unshrunk, 1, single, "2021"), (FailureState::Shrunk, 6, shrunk, "2022")]);
    assert_eq!(other.blobs().expect("listed").len(), 2, "a trace of each");
    let history = records(&other).history(TARGET).expect("read");
    assert_eq!(history.iter().map(|moment| moment.executions).collect::<Vec<_>>(), [100, 300, 500]);
    // After one that was stopped before it came to the target's record, again, back, and forth: nothing is counted twice.
    let merged = values(&other);
    records(&other).put_target(TARGET, &of_build(target(2, &[("b", 2)]), 200)).expect("kept");
    copy(&one, &other);
    assert_eq!(values(&other), merged);
    assert!(copy(&one, &other).iter().all(|(_, [new, merged, replaced, _])| new + merged + replaced == 0));
    assert_eq!(values(&other), merged);
    let back = copy(&other, &one);
    let expected = [
        row("failures", [1, 0, 1, 0]),
        row("history", [0, 0, 1, 0]),
        row("targets", [0, 0, 1, 0]),
        row("workers", [1, 0, 0, 1]),
    ];
    assert_eq!((back, values(&one)), (expected.to_vec(), merged.clone()));
    assert_eq!(one.blobs().expect("listed"), other.blobs().expect("listed"), "the larger trace is gone");
    copy(&one, &other);
    assert_eq!(values(&other), merged);
}

#[test]
fn stores_that_went_on_from_one_copy_have_the_larger_counts_and_that_is_said() {
    let Pair { _folder, one, other } = Pair::new();
    let put = |store: &DirectoryStore, slices, of: &[(&str, u64)]| {
        records(store).put_target(TARGET, &target(slices, of)).expect("kept");
    };
    put(&one, 2, &[("a", 2)]);
    assert_eq!(copy(&one, &other), [("targets".to_owned(), [1, 0, 0, 0])]);
    put(&one, 3, &[("a", 3)]);
    assert_eq!(copy(&one, &other), [("targets".to_owned(), [0, 0, 1, 0])]);
    assert_eq!(executions(&other), 300, "it has all of the copy's");
    put(&one, 4, &[("a", 4)]);
    put(&other, 5, &[("a", 3), ("b", 2)]);
    for (store, moment) in [(&one, moment("a", 4)), (&other, moment("b", 5))] {
        records(store).add_moment(TARGET, moment).expect("kept");
    }
    let copied = copy_store(&one, &other).expect("copied");
    assert_eq!((copied.larger, executions(&other)), (vec!["app.wasm".to_owned()], 500));
    let history = records(&other).history(TARGET).expect("read");
    assert_eq!(history, [moment("b", 5)], "that of the larger count, which ends earlier");
    let again = copy_store(&one, &other).expect("copied");
    assert_eq!((again.larger, again.kinds[0].left, executions(&other)), (Vec::new(), 1, 500));
}

#[test]
fn what_each_worker_has_added_is_added_once_whichever_slices_are_in_both() {
    let Pair { _folder, one, other } = Pair::new();
    let put = |store: &DirectoryStore, record: &TargetRecord| records(store).put_target(TARGET, record).expect("kept");
    let counts = |store: &DirectoryStore| {
        let record = records(store).target(TARGET).expect("read").0;
        assert_eq!(record.program_executions, record.executions, "all are of one program");
        (record.executions, record.estimate.slices, record.estimate.total_cpu_s)
    };
    put(&one, &shared(&[("a", 5)]));
    put(&other, &shared(&[("b", 4)]));
    copy(&one, &other);
    assert_eq!(counts(&other), (900, 9, 90.0));
    // The next day, the first one has another worker's slices, and more of the one that both have.
    put(&one, &shared(&[("a", 6), ("a2", 3)]));
    for left in 0..2 {
        let copied = copy_store(&one, &other).expect("copied");
        assert_eq!((copied.larger, copied.kinds[0].left), (Vec::new(), left));
        assert_eq!(counts(&other), (1300, 13, 130.0));
    }
    copy(&other, &one);
    assert_eq!(counts(&one), (1300, 13, 130.0));
    // An older version has counted a slice: what it is of is not known.
    let newer = shared(&[("a", 6), ("a2", 4)]);
    let older =
        TargetRecord { executions: 1000, counted: counted(&[("a", 7), ("a2", 3)]), ..shared(&[("a", 6), ("a2", 3)]) };
    put(&one, &newer);
    put(&other, &older);
    assert_eq!(copy_store(&one, &other).expect("copied").larger, ["app.wasm"]);
    assert_eq!(counts(&other).0, 1000);
}

#[test]
fn a_record_whose_blob_is_gone_or_damaged_is_not_copied_and_that_is_said() {
    let Pair { _folder, one, other } = Pair::new();
    put_failure(&one, FailureState::Shrunk, failure("x", 1, &[("a", 1)]));
    put_failure(&one, FailureState::Shrunk, failure("y", 2, &[("a", 1)]));
    let damaged = one.blob_path(&failure("y", 2, &[]).trace).expect("a file");
    std::fs::write(damaged, b"another").expect("changed in place");
    records(&one).put_failure(TARGET, FailureState::Shrunk, &failure("z", 3, &[("a", 1)])).expect("kept");
    let corpus = StoreKey::new(&["corpus", TARGET]);
    one.put_named_blobs(&corpus, &[b"testcase".to_vec()]).expect("kept");
    one.put(&corpus.join(&Digest::of(b"gone").to_string()), b"4\n").expect("kept");
    records(&one).put_target(TARGET, &target(1, &[("a", 1)])).expect("kept");
    for key in [&["failures", "unshrunk", TARGET, "torn"][..], &["targets", "torn-2"]] {
        one.put(&StoreKey::new(key), b"{\"target\": ").expect("kept");
    }
    // What was copied, by kind: new, left, not copied; with what is said of the last.
    let copied = || {
        let copied = copy_store(&one, &other).expect("copied");
        let row = |row: &CopiedKindRow| (row.kind.clone(), [row.new, row.left, row.lost]);
        (copied.kinds.iter().map(row).collect::<Vec<_>>(), copied.lost)
    };
    let row = |kind: &str, counts| (kind.to_owned(), counts);
    let (rows, said) = copied();
    assert_eq!(rows, [row("corpus", [1, 0, 1]), row("failures", [1, 0, 3]), row("targets", [1, 0, 1])]);
    let of = |what: &str| said.iter().filter(|line| line.contains(what)).count();
    assert_eq!((of("its testcase is missing"), of("its trace is missing or damaged"), of("cannot be read")), (1, 2, 2));
    assert!(records(&other).failures_and_refused(TARGET).expect("read").1.is_empty());
    let mut expected = vec![Digest::of(b"testcase"), failure("x", 1, &[]).trace];
    expected.sort();
    assert_eq!(other.blobs().expect("listed"), expected);
    // A worker finds it again, and the next copy brings it.
    one.put_blob(&trace_of(3)).expect("kept");
    let (rows, said) = copied();
    assert_eq!(rows, [row("corpus", [0, 1, 1]), row("failures", [1, 1, 2]), row("targets", [0, 1, 1])]);
    assert_eq!(said.len(), 4, "{said:?}");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_not_copied_and_that_is_said() {
    let pair = Pair::new();
    put_failure(&pair.one, FailureState::Shrunk, failure("x", 2, &[("a", 1)]));
    let folder = std::path::Path::new(&pair.one.place()).join("values/failures/shrunk").join(TARGET);
    std::os::unix::fs::symlink("nowhere", folder.join("3f2a.json")).expect("linked");
    let copied = copy_store(&pair.one, &pair.other).expect("the others are copied");
    assert_eq!((copied.lost_total(), copied.lost.len()), (1, 1));
    let said = &copied.lost[0];
    assert!(said.starts_with("failures/shrunk/app-1/3f2a was not copied: "), "{said}");
    assert!(said.contains("a link to what is not there"), "{said}");
    assert_eq!(records(&pair.other).failures(TARGET).expect("read").len(), 1);
}

#[test]
fn blobs_that_are_there_are_not_sent_again_and_one_that_was_changed_there_is() {
    let Pair { _folder, one, other } = Pair::new();
    put_failure(&one, FailureState::Shrunk, failure("x", 1, &[("a", 1)]));
    one.put_named_blobs(&StoreKey::new(&["corpus", TARGET]), &[b"testcase".to_vec()]).expect("kept");
    let sent = || copy_store(&one, &other).expect("copied").blobs;
    assert_eq!([sent(), sent()], [2, 0]);
    std::fs::write(other.blob_path(&failure("x", 1, &[]).trace).expect("a file"), b"another").expect("changed");
    assert_eq!([sent(), sent()], [1, 0]);
}

#[test]
fn a_trace_that_gives_way_to_another_one_stays_where_another_target_has_it_too() {
    let Pair { _folder, one, other } = Pair::new();
    let of_both = failure("x", 2, &[("b", 1)]);
    put_failure(&other, FailureState::Unshrunk, of_both.clone());
    records(&other).put_failure("app-2", FailureState::Unshrunk, &of_both).expect("kept");
    put_failure(&one, FailureState::Shrunk, failure("x", 4, &[("a", 3)]));
    records(&one).put_target(TARGET, &target(3, &[("a", 3)])).expect("kept");
    copy_store(&one, &other).expect("copied");
    let known = records(&other).failures(TARGET).expect("read");
    assert_eq!((known.len(), known[0].2.trace), (1, Digest::of(&trace_of(4))));
    assert!(other.get_blob(&of_both.trace).expect("read").is_some(), "that of the other target");
}

#[test]
fn of_two_traces_that_were_made_smaller_the_one_stays_that_is_as_small_as_it_gets() {
    let Pair { _folder, one, other } = Pair::new();
    let smallest = FleetFailureRecord { is_minimal: true, ..failure("x", 2, &[("b", 1)]) };
    put_failure(&other, FailureState::Shrunk, smallest);
    put_failure(&one, FailureState::Shrunk, failure("x", 4, &[("a", 3)]));
    records(&one).put_target(TARGET, &target(3, &[("a", 3)])).expect("kept");
    copy_store(&one, &other).expect("copied");
    let known = records(&other).failures(TARGET).expect("read");
    let (state, _, known) = &known[0];
    assert_eq!((*state, known.trace, known.is_minimal), (FailureState::Shrunk, Digest::of(&trace_of(2)), true));
}

#[test]
fn how_a_failure_stands_is_said_by_the_store_that_has_searched_its_target_last() {
    let Pair { _folder, one, other } = Pair::new();
    for (store, slices, state) in [(&one, 2, FailureState::Shrunk), (&other, 3, FailureState::Fixed)] {
        records(store).put_target(TARGET, &target(slices, &[("a", slices)])).expect("kept");
        put_failure(store, state, failure("x", 1, &[("a", 1)]));
    }
    let states = |store| records(store).failures(TARGET).expect("read").into_iter().map(|it| it.0).collect::<Vec<_>>();
    copy(&one, &other);
    assert_eq!(states(&other), [FailureState::Fixed]);
    copy(&other, &one);
    assert_eq!(states(&one), [FailureState::Fixed]);
}

#[test]
fn of_a_record_that_has_forgotten_workers_it_is_not_known_which_slices_it_has() {
    let names: Vec<String> = (0..64).map(|number| format!("w{number}")).collect();
    let many: Vec<(&str, u64)> = names.iter().map(|name| &**name).zip(100..).collect();
    // The first of them goes for a slice that has waited in a spool, and is older than all that are left.
    let late = [&many[..], &[("spooled", 10)]].concat();
    for (worker, last, of) in [("late", 500, &many), ("late", 50, &many), ("w0", 100, &late)] {
        let Pair { _folder, one, other } = Pair::new();
        records(&one).put_target(TARGET, &target(1, &[(worker, last)])).expect("kept");
        records(&other).put_target(TARGET, &target(64, of)).expect("kept");
        for _ in 0..2 {
            copy(&one, &other);
            assert_eq!(executions(&other), 6400, "{worker} {last}");
        }
    }
}
