//! Whole files or none, under every policy, also against other processes, full disks and wrong names.

use super::temporaries::TemporaryFiles;
use super::*;
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

fn scratch() -> TempDir {
    tempfile::tempdir().expect("a scratch folder")
}

/// Names in a folder, sorted: what was left behind.
fn listing(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
    let names: BTreeSet<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
    names.into_iter().collect()
}

fn written(path: &Path, collision: CollisionPolicy) -> String {
    let path = write_trace(path, b"trace", collision).expect("it can be written");
    assert_eq!(fs::read(&path).expect("it is there"), b"trace");
    path.file_name().expect("a name").to_string_lossy().into_owned()
}

fn refused(path: &Path, collision: CollisionPolicy) -> String {
    write_trace(path, b"new", collision).expect_err("it is to be refused").to_string()
}

/// The present by the file system's clock, so that no test reads the wall clock.
fn now(folder: &Path) -> SystemTime {
    let probe = TemporaryFile::new_in(folder).expect("a file");
    probe.modified().expect("its time")
}

/// A lock that was made so long ago.
fn lock(target: &Path, age_s: u64) {
    let mut name = target.as_os_str().to_owned();
    name.push(".lock");
    let file = File::create(name).expect("a lock");
    let now = file.metadata().and_then(|found| found.modified()).expect("its time");
    file.set_modified(now - Duration::from_secs(age_s)).expect("its time is set");
}

#[test]
fn an_atomic_write_replaces_and_leaves_nothing_else() {
    let scratch = scratch();
    let path = scratch.path().join("report.json");
    for (durability, text) in [(Durability::Synced, "old"), (Durability::Cached, "newer")] {
        write_atomic(&path, text.as_bytes(), durability).expect("written");
        assert_eq!(fs::read_to_string(&path).expect("there"), text);
    }
    assert_eq!(listing(scratch.path()), ["report.json"]);
}

#[cfg(unix)]
#[test]
fn the_mode_is_an_ordinary_one_and_links_stay_links() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let scratch = scratch();
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    let (plain, ours, link) = (scratch.path().join("plain"), scratch.path().join("ours"), scratch.path().join("link"));
    fs::write(&plain, "").expect("written");
    write_atomic(&ours, b"a", Durability::Cached).expect("written");
    assert_eq!(mode(&ours), mode(&plain) & 0o644);
    symlink("ours", &link).expect("a link");
    write_atomic(&link, b"b", Durability::Cached).expect("written through the link");
    assert_eq!(write_trace(&link, b"c", CollisionPolicy::Overwrite).expect("written"), link);
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    assert_eq!(fs::read(&ours).expect("there"), b"c");
}

#[test]
fn collisions_follow_the_policy() {
    let scratch = scratch();
    let path = scratch.path().join("run.fozzy");
    assert_eq!(written(&path, CollisionPolicy::Error), "run.fozzy");
    let message = refused(&path, CollisionPolicy::Error);
    assert!(
        message.contains("run.fozzy` already exists") && message.contains("--record-collision append"),
        "{message}"
    );
    assert_eq!(fs::read(&path).expect("there"), b"trace");
    assert_eq!(written(&path, CollisionPolicy::Append), "run.1.fozzy");
    assert_eq!(written(&path, CollisionPolicy::Append), "run.2.fozzy");
    for other in ["run.007.fozzy", "run.x.fozzy", "run.9.json", "ran.99.fozzy", "run.99999999999999999999.fozzy"] {
        fs::write(scratch.path().join(other), "").expect("written");
    }
    assert_eq!(written(&path, CollisionPolicy::Append), "run.8.fozzy");
    fs::write(&path, "old").expect("written");
    assert_eq!(written(&path, CollisionPolicy::Overwrite), "run.fozzy");
    fs::remove_file(&path).expect("removed");
    assert_eq!(written(&path, CollisionPolicy::Append), "run.fozzy");
    let bare = scratch.path().join("bare");
    assert_eq!(written(&bare, CollisionPolicy::Append), "bare");
    assert_eq!(written(&bare, CollisionPolicy::Append), "bare.1");
    assert!(!listing(scratch.path()).iter().any(|name| name.ends_with(".lock") || name.ends_with(".tmp")));
}

#[test]
fn a_live_lock_refuses_and_a_stale_one_is_taken_over() {
    let scratch = scratch();
    let path = scratch.path().join("run.fozzy");
    lock(&path, 290);
    let message = refused(&path, CollisionPolicy::Append);
    assert!(message.contains("is being written by another process") && message.contains("run.fozzy.lock"), "{message}");
    assert_eq!(listing(scratch.path()), ["run.fozzy.lock"]);
    lock(&path, 301);
    assert_eq!(written(&path, CollisionPolicy::Append), "run.fozzy");
    assert_eq!(listing(scratch.path()), ["run.fozzy"]);
}

#[test]
fn of_two_that_find_a_stale_lock_one_gets_it() {
    let scratch = scratch();
    let path = scratch.path().join("run.fozzy");
    for _ in 0..50 {
        lock(&path, 1000);
        let now = now(scratch.path());
        // Both have looked at the time before either takes the lock; the first keeps it.
        let both = std::thread::scope(|scope| {
            let take = || FileLock::acquire(&path, now);
            let other = scope.spawn(take);
            [take(), other.join().expect("no panic")]
        });
        assert_eq!(both.iter().filter(|lock| lock.is_ok()).count(), 1, "{both:?}");
    }
}

/// Between two tries to take a lock that another thread holds.
const PAUSE: std::time::Duration = std::time::Duration::from_millis(1);

/// A minute of pauses: the lock is held for less than a thousandth of that.
const PAUSES_MAX: u32 = 60_000;

#[test]
fn many_that_append_at_once_lose_nothing() {
    let scratch = scratch();
    let path = scratch.path().join("run.fozzy");
    let (threads, each) = (4, 8);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let path = &path;
            scope.spawn(move || {
                for n in 0..each {
                    let bytes = format!("{thread} {n}");
                    let mut pauses = 0;
                    while let Err(error) = write_trace(path, bytes.as_bytes(), CollisionPolicy::Append) {
                        assert!(matches!(error, StoreError::Locked { .. }), "{error}");
                        pauses += 1;
                        assert!(pauses < PAUSES_MAX, "the lock of {} is never free: {error}", path.display());
                        std::thread::park_timeout(PAUSE);
                    }
                }
            });
        }
    });
    let names = listing(scratch.path());
    assert_eq!(names.len(), threads * each, "{names:?}");
    let contents: BTreeSet<_> = names.iter().map(|name| fs::read(scratch.path().join(name)).expect("there")).collect();
    assert_eq!(contents.len(), threads * each);
}

#[test]
fn wrong_names_are_refused_before_anything_is_written() {
    let scratch = scratch();
    let file = scratch.path().join("file");
    fs::write(&file, "").expect("written");
    let check = |path: &Path, expected: &str| {
        for collision in [CollisionPolicy::Error, CollisionPolicy::Overwrite, CollisionPolicy::Append] {
            let message = refused(path, collision);
            assert!(message.contains(expected), "expected `{expected}`, found `{message}`");
        }
        assert!(write_atomic(path, b"new", Durability::Synced).is_err());
        assert_eq!(listing(scratch.path()), ["file"]);
    };
    check(&scratch.path().join("none/run.fozzy"), "create it with `mkdir -p");
    check(&file.join("run.fozzy"), "/file` is not a folder");
    check(scratch.path(), "is a folder: expected the name of a trace file");
    check(&scratch.path().join(".."), "is the name of a folder");
}

#[cfg(target_os = "linux")]
#[test]
fn devices_and_kernel_folders_stay_as_they_are() {
    let message = refused(Path::new("/dev/null"), CollisionPolicy::Overwrite);
    assert!(message.contains("`/dev/null` is a device or pipe"), "{message}");
    assert!(write_atomic(Path::new("/dev/null"), b"x", Durability::Cached).is_err());
    let message = refused(Path::new("/proc/run.fozzy"), CollisionPolicy::Append);
    assert!(message.starts_with("cannot write `/proc/run.fozzy`: "), "{message}");
}

#[test]
fn system_errors_say_what_where_and_what_to_do() {
    let check = |kind: io::ErrorKind, expected: &str| {
        let message = StoreError::io("write", Path::new("out/run.fozzy"), kind.into()).to_string();
        assert!(message.starts_with("cannot write `out/run.fozzy`: ") && message.contains(expected), "{message}");
    };
    check(io::ErrorKind::StorageFull, "the disk of `out` is full: free some space");
    check(io::ErrorKind::QuotaExceeded, "your quota on the disk of `out` is used up");
    check(io::ErrorKind::FileTooLarge, "ulimit -f");
    check(io::ErrorKind::ReadOnlyFilesystem, "the disk of `out` is read-only");
    check(io::ErrorKind::PermissionDenied, "you may not create files in `out`");
    let message = StoreError::io("read", Path::new("run.fozzy"), io::ErrorKind::PermissionDenied.into()).to_string();
    assert!(message.contains("you may not read it"), "{message}");
}

/// No disk of this test can be filled, but the system fails a write in its middle in the same way when a
/// file grows past the limit of the process. The limit holds for a child only: this same test, which knows
/// that it is the child by the file that the parent put into its working folder.
#[cfg(target_os = "linux")]
#[test]
fn a_write_that_fails_in_its_middle_leaves_nothing() {
    let (marker, name) = (Path::new("fozzy-store-test-child"), "run.fozzy");
    if marker.exists() {
        let error =
            write_trace(Path::new(name), &[7; 1 << 20], CollisionPolicy::Overwrite).expect_err("past the limit");
        fs::write("message", error.to_string()).expect("a small file is within the limit");
        return;
    }
    let scratch = scratch();
    fs::write(scratch.path().join(marker), "").expect("written");
    fs::write(scratch.path().join(name), "old").expect("written");
    let test = "file::store::tests::a_write_that_fails_in_its_middle_leaves_nothing";
    let shell = "trap '' XFSZ; ulimit -f 64; exec \"$0\" --exact \"$1\"";
    let program = std::env::current_exe().expect("this program");
    let child =
        std::process::Command::new("sh").args(["-c", shell]).arg(program).arg(test).current_dir(&scratch).output();
    let child = child.expect("a shell");
    assert!(child.status.success(), "{}", String::from_utf8_lossy(&child.stdout));
    let message = fs::read_to_string(scratch.path().join("message")).expect("the child's message");
    assert!(message.starts_with("cannot write `run.fozzy`: ") && message.contains("ulimit -f"), "{message}");
    assert_eq!(fs::read(scratch.path().join(name)).expect("there"), b"old");
    assert_eq!(listing(scratch.path()), ["fozzy-store-test-child", "message", name]);
}

#[test]
fn what_is_in_flight_is_removed_and_nothing_new_is_made() {
    let scratch = scratch();
    let registry = TemporaryFiles::new();
    let path = |name: &str| scratch.path().join(name);
    let make = |path: &Path| File::create_new(path).map(drop);
    for name in ["a", "b", "done"] {
        registry.create(&path(name), make).expect("made");
    }
    registry.create(&path("a"), make).expect_err("exists");
    registry.remove(&path("b"));
    registry.forget(&path("done"));
    assert_eq!(listing(scratch.path()), ["a", "done"]);
    registry.close();
    assert_eq!(listing(scratch.path()), ["done"]);
    let error = registry.create(&path("late"), make).expect_err("closed");
    assert_eq!(error.kind(), io::ErrorKind::Interrupted);
    // A name that another process took meanwhile is not ours to remove.
    fs::write(path("a"), "theirs").expect("written");
    registry.remove(&path("a"));
    registry.close();
    assert_eq!(listing(scratch.path()), ["a", "done"]);
}

#[test]
fn reading_refuses_what_cannot_be_a_trace() {
    let scratch = scratch();
    let check = |path: &Path, expected: &str| {
        let message = read_trace(path).expect_err("refused").to_string();
        assert!(message.contains(expected), "expected `{expected}`, found `{message}`");
    };
    check(&scratch.path().join("none.fozzy"), "cannot read `");
    check(scratch.path(), "is a folder");
    let large = scratch.path().join("large.fozzy");
    File::create(&large).and_then(|file| file.set_len(TRACE_BYTES_MAX + 1)).expect("a file with a hole");
    check(&large, "too large for a trace: 1073741825 bytes");
    let small = scratch.path().join("small.fozzy");
    fs::write(&small, "abc").expect("written");
    assert_eq!(read_trace(&small).expect("read"), b"abc");
}

#[test]
fn an_error_has_no_temporary_name() {
    let folder = scratch();
    for place in ["missing/a", "file/a"] {
        std::fs::write(folder.path().join("file"), b"").expect("a scratch folder");
        let error = write_atomic(&folder.path().join(place), b"x", Durability::Cached).expect_err("no folder");
        let told = error.to_string();
        assert!(told.ends_with(')') && told.contains("(os error "), "nothing but what the system says: {told}");
    }
}
