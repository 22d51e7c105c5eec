//! Slices that are merged at any moment, again, by several workers, into a store that goes away after each of its requests.

use super::super::shared_store::WatchedStore;
use super::*;
use crate::wall_clock::{Stopwatch, pause};
use fozzy_trace::FindingKind;
use fozzy_trace::facts::{PropertyKind, PropertyState, PropertyStatus};

const TARGET: &str = "app-1";

struct Place {
    folder: tempfile::TempDir,
    store: DirectoryStore,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let store = DirectoryStore::open(&folder.path().join("store"), "shop").expect("a store");
        Place { folder, store }
    }

    fn spool(&self, worker: &str) -> Spool {
        Spool::open(self.folder.path(), &self.store, worker).expect("a spool")
    }

    fn record(&self) -> TargetRecord {
        FleetRecords { store: &self.store }.target(TARGET).expect("it answers").0
    }

    /// Failures with how often they were seen, and whether their trace is whole.
    fn failures(&self) -> Vec<(FailureState, String, u64, bool)> {
        let known = FleetRecords { store: &self.store }.failures(TARGET).expect("it answers").into_iter();
        let is_whole = |trace: &Digest| matches!(self.store.get_blob(trace), Ok(Some(_)));
        let row = |(state, _, failure): (_, _, FleetFailureRecord)| {
            (state, failure.signature.to_string(), failure.times, is_whole(&failure.trace))
        };
        known.map(row).collect()
    }
}

fn failure(spool: &Spool, site: &str, is_shrunk: bool) -> SpooledFailure {
    let trace = Some(spool.store.put_blob(format!("a trace of {site}, {is_shrunk}").as_bytes()).expect("kept"));
    let signature = FailureSignature { kind: FindingKind::Panic, site: site.to_owned() };
    SpooledFailure { signature, trace, is_shrunk, is_minimal: false, times: 2 }
}

/// The slice of that number, with a new feature in each, and a failure that the third one makes smaller.
fn slice(spool: &Spool, number: u64) -> SpooledSlice {
    let failures = match number {
        1 | 3 => vec![failure(spool, "src/lib.rs:7", number == 3)],
        _ => Vec::new(),
    };
    SpooledSlice {
        target: TARGET.to_owned(),
        name: "app.wasm".to_owned(),
        program: Some(Digest::of(b"a build")),
        cpu_s: 10.0,
        // Clocks step.
        ended_at_s: 1e9 - number as f64,
        executions: 100,
        features: number,
        is_slice: true,
        failures,
        ..SpooledSlice::default()
    }
}

fn fill(spool: &Spool, numbers: std::ops::RangeInclusive<u64>) {
    numbers.for_each(|number| spool.put(&slice(spool, number)).expect("kept"));
}

#[test]
fn a_failure_of_several_slices_that_wait_is_one_with_the_trace_that_was_made_smaller() {
    let place = Place::new();
    let spool = place.spool("one");
    fill(&spool, 1..=3);
    let waiting = spool.failures_waiting(|_| None).expect("they are read");
    let [failure] = &waiting[..] else { panic!("expected one failure, found {}", waiting.len()) };
    let trace = std::fs::read(&failure.path).expect("it is there");
    assert_eq!((failure.times, failure.is_shrunk, &*trace), (4, true, &b"a trace of src/lib.rs:7, true"[..]));
    let is_of_today = |today: &[u8]| {
        let waiting = spool.failures_waiting(|_| Some(Digest::of(today))).expect("they are read");
        waiting[0].is_of_today
    };
    assert!(failure.is_of_today && is_of_today(b"a build") && !is_of_today(b"a newer one"));
}

#[test]
fn slices_wait_in_memory_while_the_disk_is_full_and_go_from_there_to_a_store_that_takes_them() {
    let place = Place::new();
    let spool = place.spool("one");
    fill(&spool, 1..=1);
    spool.disk().set_full(true);
    fill(&spool, 2..=3);
    assert!(spool.is_overflowing() && !spool.has_room() && !spool.write_again().expect("it is full"));
    assert_eq!((spool.unwritten().expect("counted"), spool.len().expect("listed")), ((2, 2), 3));
    assert!(spool.acquire(&StoreKey::new(&["targets", TARGET])).expect("no place for a note").is_some());
    // The failure was made smaller by a slice whose trace is in memory.
    let waiting = spool.failures_waiting(|_| None).expect("they are read");
    assert_eq!((waiting.len(), waiting[0].times, waiting[0].is_written), (1, 4, false));
    // A store elsewhere takes them.
    spool.merge(&place.store, |_, _| ()).expect("it answers");
    let record = place.record();
    assert_eq!((record.executions, record.estimate.slices, spool.unwritten().expect("counted")), (300, 3, (0, 0)));
    assert_eq!(place.failures(), [(FailureState::Shrunk, "panic at src/lib.rs:7".to_owned(), 4, true)]);
    // And the disk, when there is room again.
    fill(&spool, 4..=4);
    assert_eq!(spool.unwritten().expect("counted"), (1, 1));
    spool.disk().set_full(false);
    assert!(spool.has_room() && spool.write_again().expect("there is room") && !spool.is_overflowing());
    drop(spool);
    let next = place.spool("two");
    next.merge(&place.store, |_, _| ()).expect("it answers");
    assert_eq!(place.record().executions, 400);
}

#[test]
fn slices_for_which_there_is_no_room_at_all_are_counted_and_end_nothing() {
    let place = Place::new();
    let mut spool = place.spool("one");
    spool.store = OverflowStore::new(spool.disk().clone(), 10);
    spool.disk().set_full(true);
    spool.put(&SpooledSlice::default()).expect("it goes on");
    assert_eq!((spool.unwritten().expect("counted"), spool.len().expect("listed")), ((0, 1), 0));
    // There is room for the trace, and none for the slice.
    spool.store = OverflowStore::new(spool.disk().clone(), 100);
    let slice = slice(&spool, 1);
    assert!(spool.is_overflowing());
    spool.put(&slice).expect("it goes on");
    assert_eq!(spool.unwritten().expect("counted"), (0, 2));
    assert!(!spool.is_overflowing(), "the trace takes the room of others");
}

#[test]
fn a_slice_on_the_disk_whose_trace_waits_in_memory_is_lost_with_the_process_too() {
    let place = Place::new();
    let spool = place.spool("one");
    spool.disk().set_full(true);
    let slice = slice(&spool, 1);
    // There is room for the slice, and was none for its trace.
    spool.disk().set_full(false);
    spool.put(&slice).expect("kept");
    assert_eq!(spool.unwritten().expect("counted"), (0, 1));
    assert!(spool.write_again().expect("there is room"));
    assert_eq!(spool.unwritten().expect("counted"), (0, 0));
}

#[test]
fn a_slice_fits_into_the_store_whatever_its_trouble_says() {
    let place = Place::new();
    let spool = place.spool("one");
    let mut slice = slice(&spool, 2);
    slice.fail("brief");
    assert_eq!(slice.trouble.as_deref(), Some("brief"));
    slice.fail(&"é".repeat(super::super::shared_store::VALUE_BYTES_MAX));
    spool.put(&slice).expect("it fits");
}

#[test]
fn a_slice_is_counted_once_whenever_the_store_goes_away() {
    for requests in 0.. {
        let (place, mut said) = (Place::new(), BTreeSet::new());
        let mut say = |_: &SpooledSlice, merged: MergedSlice| said.extend(merged.found.into_iter().map(|it| it.0));
        {
            let spool = place.spool("one");
            fill(&spool, 1..=3);
            let leaving = WatchedStore::leaving(&place.store, requests);
            let merged = spool.merge(&leaving, &mut say);
            if merged.is_ok() {
                assert!(requests > 30, "each of the three takes some: {requests}");
                return;
            }
            assert!(leaving.is_away() && spool.len().expect("listed") > 0);
        }
        // That process was killed. The next one brings what it has left.
        let next = place.spool("two");
        next.merge(&place.store, say).expect("it answers");
        let record = place.record();
        assert_eq!((record.executions, record.features, record.estimate.slices), (300, 3, 3), "after {requests}");
        assert_eq!(record.estimate.failures, 1, "after {requests}: it stands");
        assert_eq!(said.len(), 1, "a failure is said, also by who repeats the merge that was killed: after {requests}");
        assert_eq!(FleetRecords { store: &place.store }.history(TARGET).expect("read").len(), 3, "after {requests}");
        let expected = (FailureState::Shrunk, "panic at src/lib.rs:7".to_owned(), 4, true);
        assert_eq!(place.failures(), [expected], "after {requests}");
        assert_eq!((next.len().expect("listed"), next.store.blobs().expect("listed").len()), (0, 0));
    }
}

#[test]
fn a_trace_that_was_made_smaller_stays_where_another_target_has_it_too() {
    let place = Place::new();
    let spool = place.spool("one");
    let merge = || spool.merge(&place.store, |_, _| ()).expect("it answers");
    for target in [TARGET, "other-2"] {
        spool.put(&SpooledSlice { target: target.to_owned(), ..slice(&spool, 1) }).expect("kept");
        // Each brings its trace, which is the same.
        merge();
    }
    spool.put(&slice(&spool, 3)).expect("kept");
    merge();
    let failures = FleetRecords { store: &place.store }.failures("other-2").expect("read");
    assert_eq!((place.failures()[0].0, failures[0].0), (FailureState::Shrunk, FailureState::Unshrunk));
    assert!(place.store.get_blob(&failures[0].2.trace).expect("read").is_some());
}

#[test]
fn slices_of_a_target_whose_records_another_one_holds_wait_and_no_others_do() {
    let place = Place::new();
    let spool = place.spool("one");
    fill(&spool, 1..=2);
    spool.put(&SpooledSlice { target: "other-2".to_owned(), ..slice(&spool, 4) }).expect("kept");
    let lock = place.store.acquire(&StoreKey::new(&["records", TARGET]), "killed").expect("asked").expect("free");
    let held = HeldRecords { target: "app.wasm".to_owned(), holder: "killed".to_owned() };
    let merge = || spool.merge(&place.store, |_, _| ()).expect("it answers");
    assert_eq!((merge(), spool.len().expect("listed")), (vec![held], 2), "the other target's is there");
    // Known to be held, they are neither waited for nor said again.
    let watch = Stopwatch::start();
    assert_eq!((0..20).flat_map(|_| merge()).count(), 0);
    assert!(watch.elapsed() < LOCK_WAIT * 10, "{:?}", watch.elapsed());
    assert!(place.record().executions == 0 && spool.is_held(TARGET) && !spool.is_held("other-2"));
    // At its end a fleet waits again: these are free after some requests of another one.
    spool.forget_held();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            pause(Duration::from_millis(50));
            drop(lock);
        });
        assert_eq!((merge(), spool.len().expect("listed")), (vec![], 0));
    });
    assert!(!spool.is_held(TARGET));
    let other = FleetRecords { store: &place.store }.target("other-2").expect("it answers").0;
    assert_eq!((place.record().executions, other.executions), (200, 100));
}

#[test]
fn workers_that_merge_at_a_time_lose_nothing() {
    let place = Place::new();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let spool = place.spool(&format!("worker {worker}"));
                for number in 1..=5 {
                    fill(&spool, number..=number);
                    // Another one may hold the records for longer than they are waited for.
                    while spool.len().expect("listed") > 0 {
                        spool.merge(&place.store, |_, _| ()).expect("it answers");
                    }
                }
            });
        }
    });
    let record = place.record();
    assert_eq!((record.executions, record.features, record.estimate.slices), (2_000, 5, 20));
    assert_eq!(place.failures(), [(FailureState::Shrunk, "panic at src/lib.rs:7".to_owned(), 16, true)]);
}

#[test]
fn a_target_that_finds_nothing_for_long_is_less_and_less_likely_to() {
    let place = Place::new();
    let spool = place.spool("one");
    let quiet = |number| SpooledSlice { features: 1, chance_if_doubled: Some(0.29), ..slice(&spool, number) };
    let mut chances = Vec::new();
    for number in [2, 4, 5, 6] {
        spool.put(&quiet(number)).expect("kept");
        spool.merge(&place.store, |_, _| ()).expect("it answers");
        chances.push(place.record().chance_if_doubled.expect("estimated"));
    }
    assert_eq!(chances[0], 0.29, "the first one has found something");
    assert!(chances.windows(2).all(|two| two[1] < two[0] || two[0] == 0.29), "{chances:?}");
    assert!(chances[3] < 0.2, "three of four slices found nothing: {chances:?}");
    spool.put(&SpooledSlice { features: 2, ..quiet(7) }).expect("kept");
    spool.merge(&place.store, |_, _| ()).expect("it answers");
    assert_eq!(place.record().chance_if_doubled, Some(0.29));
}

#[test]
fn a_slice_of_another_build_is_counted_and_says_nothing_of_its_coverage() {
    let place = Place::new();
    let spool = place.spool("one");
    fill(&spool, 5..=5);
    let (old, new) = (Some(Digest::of(b"a build")), Some(Digest::of(b"a newer one")));
    spool.put(&SpooledSlice { program: new, replaces: old, ..slice(&spool, 2) }).expect("kept");
    spool.put(&SpooledSlice { program: None, ..slice(&spool, 9) }).expect("kept");
    spool.put(&slice(&spool, 4)).expect("kept");
    spool.merge(&place.store, |_, _| ()).expect("it answers");
    let record = place.record();
    assert_eq!((record.program, record.features, record.executions), (new, 2, 400));
}

#[test]
fn each_build_that_a_slice_has_run_is_known_and_one_without_a_run_is_not() {
    let place = Place::new();
    let spool = place.spool("one");
    let of = |name: &str| Some(Digest::of(name.as_bytes()));
    spool.put(&slice(&spool, 5)).expect("kept");
    // That of another working copy, whose failures were not tried on it.
    let other = |name| SpooledSlice { program: None, build: of(name), ..slice(&spool, 4) };
    spool.put(&other("another")).expect("kept");
    for (name, why) in [("torn", "its process ended"), ("alike", &*format!("app.wasm {NOTHING_VARIES}: all are one"))] {
        let mut failed = other(name);
        failed.fail(why);
        spool.put(&failed).expect("kept");
    }
    spool.put(&SpooledSlice { executions: 0, ..other("short") }).expect("kept");
    spool.put(&SpooledSlice { is_undecided: true, ..other("undecided") }).expect("kept");
    spool.merge(&place.store, |_, _| ()).expect("it answers");
    let record = place.record();
    let names = ["a build", "another", "torn", "alike", "short", "undecided"];
    assert_eq!(names.map(|name| record.has_run_of(of(name))), [true, true, false, true, false, false]);
}

#[test]
fn a_slice_that_was_stopped_after_its_first_execution_has_no_verdict() {
    let after = |executions| SpooledSlice { executions, ..SpooledSlice::default() };
    let without =
        |status, is_interrupted| [1, 2].map(|number| after(number).is_without_verdict(status, is_interrupted));
    assert_eq!(without(Status::Pass, true), [true, false]);
    assert_eq!(without(Status::Pass, false), [false; 2], "one is all that was asked for");
    assert_eq!(without(Status::Crash, true), [false; 2], "it has failed");
    assert_eq!(without(Status::Error, false), [true; 2]);
}

#[test]
fn runs_of_a_build_are_no_pass_once_a_failure_that_was_met_on_it_is_told_by_another_build() {
    let place = Place::new();
    let spool = place.spool("one");
    let [copy, other, third] = ["copy", "other", "third"].map(|name| Digest::of(name.as_bytes()));
    let of = |build, number| SpooledSlice { program: None, build: Some(build), ..slice(&spool, number) };
    let known = || {
        spool.merge(&place.store, |_, _| ()).expect("it answers");
        [copy, other, third].map(|build| place.record().has_run_of(Some(build)))
    };
    spool.put(&slice(&spool, 2)).expect("kept");
    spool.put(&of(third, 4)).expect("kept");
    spool.put(&of(copy, 1)).expect("kept");
    assert_eq!(known(), [true, false, true]);
    // It is met on another one, and then it passes on a third one, in a turn without a slice.
    spool.put(&of(other, 1)).expect("kept");
    assert_eq!(known(), [false, true, true]);
    let met_before = BTreeSet::from([other]);
    spool.put(&SpooledSlice { met_before, is_slice: false, ..of(third, 4) }).expect("kept");
    assert_eq!(known(), [false, false, true]);
}

#[test]
fn a_failure_that_is_met_again_stands_and_its_lost_trace_is_kept_again() {
    let place = Place::new();
    let records = FleetRecords { store: &place.store };
    let known = || records.failures(TARGET).expect("it answers").pop().expect("a failure");
    let meet = |worker: &str, program: &[u8]| {
        let spool = place.spool(worker);
        let failures = vec![failure(&spool, "src/lib.rs:7", false)];
        spool.put(&SpooledSlice { program: Some(Digest::of(program)), failures, ..slice(&spool, 2) }).expect("kept");
        let mut found = 0;
        spool.merge(&place.store, |_, merged| found += merged.found.len()).expect("it answers");
        found
    };
    assert_eq!(meet("one", b"a build"), 1);
    let (state, _, mut stale) = known();
    (stale.status, stale.untried) = ("stale".to_owned(), Some("its trace is lost".to_owned()));
    records.put_failure(TARGET, state, &stale).expect("kept");
    place.store.delete_blob(&stale.trace).expect("deleted");
    // A slice that has waited for long says nothing of the program of today, but brings a trace.
    assert_eq!((meet("two", b"an older build"), &*known().2.status), (0, "stale"));
    assert_eq!((meet("three", b"a build"), &*known().2.status, known().2.untried), (1, "still there", None));
    std::fs::write(place.store.blob_path(&stale.trace).expect("a file"), b"another").expect("changed in place");
    assert!(!place.failures()[0].3);
    assert_eq!(meet("four", b"a build"), 0, "it is known");
    assert_eq!(place.failures(), [(FailureState::Unshrunk, "panic at src/lib.rs:7".to_owned(), 8, true)]);
}

#[test]
fn a_late_slice_of_an_older_build_has_no_failure_stand_again_that_is_fixed_on_the_build_of_today() {
    let place = Place::new();
    let records = FleetRecords { store: &place.store };
    let known = || records.failures(TARGET).expect("it answers").pop().expect("a failure");
    let digest = |build: &[u8]| Some(Digest::of(build));
    let meet = |worker: &str, slice: SpooledSlice| {
        let spool = place.spool(worker);
        let failures = vec![failure(&spool, "src/lib.rs:7", false)];
        spool.put(&SpooledSlice { failures, ..slice }).expect("kept");
        let mut found = 0;
        spool.merge(&place.store, |_, merged| found += merged.found.len()).expect("it answers");
        (found, known().0, known().2.status)
    };
    let spool = place.spool("zero");
    let of = |program: Option<Digest>, build: &[u8], ended_at_s| {
        let slice = slice(&spool, 2);
        SpooledSlice { program, build: digest(build), ended_at_s, ..slice }
    };
    let there = |found| (found, FailureState::Unshrunk, "still there".to_owned());
    let fixed = || (0, FailureState::Fixed, "fixed".to_owned());
    assert_eq!(meet("one", of(digest(b"old"), b"old", 10.0)), there(1));
    // The target is built anew, and the failure is tried on that.
    let record = TargetRecord { program: digest(b"new"), ..place.record() };
    records.put_target(TARGET, &record).expect("kept");
    let fix = || {
        let mut failure = known().2;
        (failure.status, failure.program, failure.tried_at_s) = ("fixed".to_owned(), digest(b"new"), Some(100.0));
        records.put_failure(TARGET, FailureState::Fixed, &failure).expect("kept");
    };
    fix();
    // Slices of before, whose results were not merged until now: of a build whose failures were tried, and of one whose were not.
    assert_eq!(meet("two", of(digest(b"old"), b"old", 90.0)), fixed());
    assert_eq!(meet("three", of(None, b"old", 90.0)), fixed());
    place.store.delete_blob(&known().2.trace).expect("deleted");
    assert_eq!(meet("four", of(None, b"old", 91.0)), fixed(), "also where it brings the trace again");
    assert_eq!(known().2.times, 8, "they are counted all the same");
    // What is met on the build of today stands, and so does what is met after that on a build that nothing was tried on.
    assert_eq!(meet("five", of(digest(b"new"), b"new", 95.0)), there(1));
    fix();
    assert_eq!(meet("six", of(None, b"newer", 110.0)), there(1));
    assert_eq!(known().2.program, digest(b"newer"), "of two working copies, that which has met it");
    // One that nobody has met before is kept, with a note that it was not tried.
    let other = vec![failure(&spool, "src/lib.rs:9", false)];
    spool.put(&SpooledSlice { failures: other, ..of(digest(b"old"), b"old", 90.0) }).expect("kept");
    spool.merge(&place.store, |_, _| ()).expect("it answers");
    let all = records.failures(TARGET).expect("it answers");
    let untried: Vec<bool> = all.iter().map(|(.., failure)| failure.untried.is_some()).collect();
    assert_eq!((all.len(), untried.iter().filter(|untried| **untried).count()), (2, 1));
}

#[test]
fn a_failure_whose_trace_cannot_be_read_is_met_all_the_same_and_the_next_slice_brings_its_trace() {
    let place = Place::new();
    let spool = place.spool("one");
    let signature = FailureSignature { kind: FindingKind::Panic, site: "src/lib.rs:7".to_owned() };
    let path = |name: &str| place.folder.path().join(name).display().to_string();
    std::fs::write(path("large.fozzy"), b"a large trace").expect("written");
    let meet = |trace: &str, smaller: Option<&str>| {
        let traces = ReportedTraces { found: trace, smaller, is_minimal: false };
        let kept = spool.keep_failure((TARGET, &signature), traces, 2).expect("the spool takes it");
        spool.put(&SpooledSlice { failures: vec![kept], ..slice(&spool, 2) }).expect("kept");
        let mut warnings = Vec::new();
        spool.merge(&place.store, |_, merged| warnings.extend(merged.warnings)).expect("it answers");
        let known = place.failures().into_iter().map(|(state, _, times, is_whole)| (state, times, is_whole));
        (warnings.len(), known.collect::<Vec<(FailureState, u64, bool)>>())
    };
    let none: Vec<(FailureState, u64, bool)> = Vec::new();
    // One that was not kept, and those that another process has removed.
    for (trace, smaller) in [("", None), (&*path("gone.fozzy"), Some(&*path("gone.min.fozzy")))] {
        assert_eq!(meet(trace, smaller), (1, none.clone()), "it is said");
    }
    let large = path("large.fozzy");
    assert_eq!(meet(&large, Some(&path("gone.min.fozzy"))), (0, vec![(FailureState::Unshrunk, 2, true)]));
    // Known, and met again without one.
    assert_eq!(meet("", None), (0, vec![(FailureState::Unshrunk, 4, true)]));
    std::fs::write(path("small.fozzy"), b"a small trace").expect("written");
    assert_eq!(meet(&large, Some(&path("small.fozzy"))), (0, vec![(FailureState::Shrunk, 6, true)]));
}

#[test]
fn a_failure_that_cannot_be_smaller_is_shrunk_as_it_was_found_and_the_smallest_takes_the_place_of_a_smaller_one() {
    let place = Place::new();
    let spool = place.spool("one");
    let write = |name: &str| {
        let path = place.folder.path().join(name);
        std::fs::write(&path, name).expect("written");
        path.display().to_string()
    };
    let meet = |site: &str, found: &str, smaller: Option<&str>, is_minimal: bool| {
        let signature = FailureSignature { kind: FindingKind::Panic, site: site.to_owned() };
        let (found, smaller) = (write(found), smaller.map(&write));
        let traces = ReportedTraces { found: &found, smaller: smaller.as_deref(), is_minimal };
        let kept = spool.keep_failure((TARGET, &signature), traces, 1).expect("the spool takes it");
        spool.put(&SpooledSlice { failures: vec![kept], ..slice(&spool, 2) }).expect("kept");
        spool.merge(&place.store, |_, _| ()).expect("it answers");
        let all = FleetRecords { store: &place.store }.failures(TARGET).expect("it answers");
        let (state, _, known) = all.into_iter().find(|(.., known)| known.signature == signature).expect("it is known");
        let bytes = place.store.get_blob(&known.trace).expect("read").expect("it is there");
        (state, known.is_minimal, String::from_utf8(bytes).expect("text"))
    };
    let shrunk = |is_minimal, trace: &str| (FailureState::Shrunk, is_minimal, trace.to_owned());
    assert_eq!(meet("x", "a", None, true), shrunk(true, "a"));
    assert_eq!(meet("x", "b", None, true), shrunk(true, "a"), "it is known");
    assert_eq!(meet("y", "c", None, false), (FailureState::Unshrunk, false, "c".to_owned()));
    assert_eq!(meet("y", "d", Some("e"), false), shrunk(false, "e"));
    assert_eq!(meet("y", "f", Some("g"), false), shrunk(false, "e"));
    assert_eq!(meet("y", "h", Some("i"), true), shrunk(true, "i"));
    assert_eq!(meet("y", "j", None, false), shrunk(true, "i"));
}

#[test]
fn failures_that_do_not_stand_make_room_for_those_that_are_found() {
    let place = Place::new();
    let records = FleetRecords { store: &place.store };
    let most = 5;
    let spool = Spool { failures_max: most, ..place.spool("one") };
    let meet = |site: &str| {
        let failures = vec![failure(&spool, site, true)];
        spool.put(&SpooledSlice { failures, ..slice(&spool, 2) }).expect("kept");
        let (mut warnings, mut forgotten) = (Vec::new(), Vec::new());
        let on_merged = |_: &SpooledSlice, merged: MergedSlice| {
            warnings.extend(merged.warnings);
            forgotten.extend(merged.forgotten.into_iter().map(|signature| signature.site));
        };
        spool.merge(&place.store, on_merged).expect("it answers");
        (warnings, forgotten)
    };
    assert_eq!(meet("first"), (Vec::new(), Vec::new()));
    let (.., first) = records.failures(TARGET).expect("it answers").remove(0);
    for number in 1..most {
        let signature = FailureSignature { site: format!("{number:03}"), ..first.signature.clone() };
        let (found_at, status) = (format!("2025-{number:03}"), "stale".to_owned());
        // The trace of one that goes is that of the one that comes.
        let trace = if number == 1 { Digest::of(b"a trace of new, true") } else { first.trace };
        let record = FleetFailureRecord { signature, found_at, status, trace, ..first.clone() };
        // Two of them do not stand.
        let record = if number < 3 { record } else { FleetFailureRecord { status: first.status.clone(), ..record } };
        records.put_failure(TARGET, FailureState::Shrunk, &record).expect("kept");
    }
    let sites = || -> BTreeSet<String> {
        let all = records.failures(TARGET).expect("it answers").into_iter();
        all.map(|(.., failure)| failure.signature.site).collect()
    };
    for (found, forgotten) in [("new", "001"), ("newer", "002")] {
        assert!(sites().contains(forgotten));
        assert_eq!(meet(found), (Vec::new(), vec![forgotten.to_owned()]));
        assert_eq!((sites().contains(found), sites().contains(forgotten), sites().len()), (true, false, most));
    }
    assert!(place.failures().iter().all(|(.., is_whole)| *is_whole), "the others have the trace of what was forgotten");
    let (warnings, forgotten) = meet("newest");
    assert!(
        forgotten.is_empty() && warnings.len() == 1 && warnings[0].contains("later ones are not kept"),
        "{warnings:?}"
    );
    assert!(!sites().contains("newest"));
}

#[test]
fn what_is_no_slice_stays_and_a_lost_trace_stops_nothing() {
    let place = Place::new();
    let spool = place.spool("one");
    spool.store.put(&StoreKey::new(&["slices", "gone", "00000001"]), b"torn").expect("kept");
    fill(&spool, 1..=2);
    for blob in spool.store.blobs().expect("listed") {
        spool.store.delete_blob(&blob).expect("deleted");
    }
    let mut warnings = Vec::new();
    spool.merge(&place.store, |_, merged| warnings.extend(merged.warnings)).expect("it answers");
    assert!(warnings.len() == 1 && warnings[0].contains("is lost"), "{warnings:?}");
    assert_eq!((place.record().executions, spool.len().expect("listed")), (200, 1));
}

#[test]
fn a_record_says_what_is_left_of_its_program() {
    let place = Place::new();
    let spool = place.spool("one");
    let finds = |number, discoveries| SpooledSlice {
        chance_if_doubled: Some(Outlook { discoveries }.chance(1.0)),
        discoveries_last_half: Some(discoveries),
        undiscovered_edges: Some(7.5),
        features: 2,
        ..slice(&spool, number)
    };
    let merged = |slice: SpooledSlice| {
        spool.put(&slice).expect("kept");
        spool.merge(&place.store, |_, _| ()).expect("it answers");
        place.record()
    };
    let is_near = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-9);
    let (busy, outlook) = (merged(finds(2, 3)), Outlook { discoveries: 3 });
    assert!(is_near(busy.chance_if_doubled_range.map(|(_, high)| high), outlook.chance_range(1.0).1), "{busy:?}");
    assert!(is_near(busy.chance_in_minute, outlook.chance(6.0)), "a minute is six slices: {busy:?}");
    assert_eq!((busy.undiscovered_edges, busy.program_executions), (Some(7.5), 100));
    let between = merged(finds(4, 0));
    assert!(is_near(between.chance_in_minute, outlook.chance(6.0)), "half of all has found something: {between:?}");
    merged(finds(5, 0));
    let quiet = merged(finds(6, 0));
    assert!(is_near(quiet.chance_in_minute, Outlook::chance_when_quiet(300, 400, 1.5)), "{quiet:?}");
    assert!(quiet.chance_in_minute < busy.chance_in_minute);
    let (program, replaces) = (Some(Digest::of(b"a newer one")), Some(Digest::of(b"a build")));
    let new = merged(SpooledSlice { program, replaces, undiscovered_edges: None, ..finds(7, 0) });
    assert_eq!((new.executions, new.program_executions, new.undiscovered_edges), (500, 100, None));
}

#[test]
fn a_target_is_as_likely_to_show_more_as_its_exploration_says() {
    let place = Place::new();
    let spool = place.spool("one");
    let explored = |number, discoveries_last_half, chance_if_doubled| {
        let (runs, features) = (100, 214);
        let explore =
            ExploreSummary { runs, features, discoveries_last_half, chance_if_doubled, ..ExploreSummary::default() };
        let mut slice = slice(&spool, number);
        slice.observe_exploration(&explore);
        spool.put(&slice).expect("kept");
        spool.merge(&place.store, |_, _| ()).expect("it answers");
        place.record()
    };
    let is_near = |found: Option<f64>, expected: f64| found.is_some_and(|found| (found - expected).abs() < 1e-9);
    // It prints other lines for ever, and takes no new edge after its first slice.
    let endless = Outlook { discoveries: 5 };
    for number in [2, 4, 5, 6] {
        let record = explored(number, endless.discoveries, endless.chance(1.0));
        assert!(is_near(record.chance_if_doubled, endless.chance(1.0)), "{number}: {record:?}");
        assert!(is_near(record.chance_in_minute, endless.chance(6.0)), "a minute is six slices: {record:?}");
        assert_eq!((record.quiet, record.features), (0, 214));
    }
    assert_eq!(place.record().estimate.known, 214 + 3 * 5, "each of four has found something: {:?}", place.record());
    let silent = explored(7, 0, Outlook::default().chance(1.0));
    assert_eq!((silent.quiet, silent.executions), (100, 500));
    // One that has gone every way is done, as it says itself.
    let done = explored(8, 0, 0.0);
    let chances = (done.chance_if_doubled, done.chance_if_doubled_range, done.chance_in_minute);
    assert_eq!(chances, (Some(0.0), Some((0.0, 0.0)), Some(0.0)));
}

#[test]
fn properties_stand_as_in_the_slice_that_has_come_furthest_of_their_program() {
    let place = Place::new();
    let spool = place.spool("one");
    let row = |name: &str, state| PropertyStatus {
        name: name.to_owned(),
        kind: PropertyKind::Sometimes,
        state,
        place: Some("src/lib.rs:7".to_owned()),
    };
    let sees = |number, rows| SpooledSlice { properties: PropertyTable { rows, more: 0 }, ..slice(&spool, number) };
    let merged = |slice: SpooledSlice| {
        spool.put(&slice).expect("kept");
        spool.merge(&place.store, |_, _| ()).expect("it answers");
        place.record().properties.rows
    };
    let (full, retry) = (|state| row("full", state), |state| row("retry", state));
    merged(sees(2, vec![full(PropertyState::Passed), retry(PropertyState::NeverReached)]));
    let both = merged(sees(4, vec![full(PropertyState::NeverTrue), retry(PropertyState::NeverTrue)]));
    assert_eq!(both, [retry(PropertyState::NeverTrue), full(PropertyState::Passed)]);
    let (program, replaces) = (Some(Digest::of(b"a newer one")), Some(Digest::of(b"a build")));
    let newer = SpooledSlice { program, replaces, ..sees(5, vec![full(PropertyState::NeverReached)]) };
    assert_eq!(merged(newer), [full(PropertyState::NeverReached)]);
}

#[test]
fn a_slice_that_was_stopped_leaves_why_those_before_it_had_no_result() {
    let mut record = TargetRecord::default();
    let mut failed = SpooledSlice { is_slice: true, ..SpooledSlice::default() };
    failed.fail("its first run was not at its end");
    failed.count(&mut record, 0);
    let stopped = SpooledSlice { troubles: failed.troubles, ..SpooledSlice::default() };
    stopped.count(&mut record, 0);
    assert_eq!((record.troubles, record.trouble.as_deref()), (1, Some("its first run was not at its end")));
    // What cannot be built was no slice, and says why.
    let mut unbuilt = SpooledSlice { troubles: record.troubles, ..SpooledSlice::default() };
    unbuilt.fail("it cannot be built");
    unbuilt.count(&mut record, 0);
    assert_eq!((record.troubles, record.trouble.as_deref()), (2, Some("it cannot be built")));
    // Of other files that says nothing. What is no pass stays so.
    let changed = SpooledSlice { has_changed: true, ..SpooledSlice::default() };
    changed.count(&mut record, 0);
    assert_eq!(record.trouble, None);
    for why in [FIRST_RUN_WITHOUT_END, FOUND_WITHOUT_REPORT] {
        record.trouble = Some(format!("{why}: more of it"));
        changed.count(&mut record, 0);
        assert!(record.trouble.is_some(), "{why}");
    }
    SpooledSlice { is_slice: true, executions: 1, ..SpooledSlice::default() }.count(&mut record, 0);
    assert_eq!((record.troubles, record.trouble), (0, None));
}
