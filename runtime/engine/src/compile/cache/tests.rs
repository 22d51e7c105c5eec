//! The cache under damage, races and wrong owners; what it returns is always what was kept, or nothing.

use super::*;
use crate::compile::build::Build;
use crate::compile::settings::{Switches, engine};

fn smallest(engine: &Engine) -> Component {
    let bytes = wat::parse_str("(component)").expect("text");
    Component::from_binary(engine, &bytes).expect("the smallest component")
}

/// Files of the directory by what they hold.
fn contents(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the cache").flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|e| e == "bin")).collect();
    found.sort();
    found
}

#[test]
fn code_is_kept_and_found_again() {
    let directory = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(directory.path()).expect("private");
    let engine = engine(&Switches::default(), &Build::default()).expect("an engine");
    let key_of = |component: &[u8], settings: &[u8]| Cache::code_key(&Arc::from(component), settings, &engine);
    let key = key_of(b"component", b"settings");
    assert_eq!(key, key_of(b"component", b"settings"));
    assert!(cache.code(&engine, &key).is_none());
    cache.keep_code(&key, &smallest(&engine));
    assert!(cache.code(&engine, &key).is_some());
    assert_ne!(key, key_of(b"component", b"other settings"));
    assert_ne!(key, key_of(b"componentsettings", b""));
}

#[test]
fn a_damaged_entry_is_dropped_not_used() {
    let directory = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(directory.path()).expect("private");
    for damage in [0usize, 1, 2] {
        cache.keep("key", b"some content");
        assert_eq!(cache.bytes("key").as_deref(), Some(&b"some content"[..]));
        let file = contents(directory.path()).remove(0);
        match damage {
            0 => fs::write(&file, b"SOME content").expect("flipped"),
            1 => fs::write(&file, b"some").expect("cut"),
            _ => fs::write(directory.path().join("key"), b"nonsense").expect("a wrong index"),
        }
        assert_eq!(cache.bytes("key"), None, "damage {damage}");
        assert!(!directory.path().join("key").exists(), "a damaged entry is removed");
    }
    cache.keep("key", b"some content");
    assert_eq!(cache.bytes("key").as_deref(), Some(&b"some content"[..]));
}

/// Sets the time of an index, which is when its content was looked at.
fn looked_at_later(directory: &Path, key: &str, seconds: u64) {
    let index = File::options().write(true).open(directory.join(key)).expect("it is there");
    let now = index.metadata().and_then(|metadata| metadata.modified()).expect("files have times");
    index.set_modified(now + std::time::Duration::from_secs(seconds)).expect("our own file");
}

#[test]
fn a_file_that_nobody_touched_since_it_was_seen_is_not_read_again() {
    let directory = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(directory.path()).expect("private");
    cache.keep("key", b"some content");
    assert!(cache.checked("key").is_some());
    let line = fs::read_to_string(directory.path().join("key")).expect("an index");
    assert_eq!(line.split(' ').count(), 3, "{line}");
    // A checksum that is wrong shows whether anybody looked.
    let file = contents(directory.path()).remove(0);
    let other = directory.path().join(format!("{}.bin", "0".repeat(32)));
    fs::hard_link(&file, &other).expect("one file system");
    let seen = seen_as(&fs::metadata(&other).expect("it is there"));
    let index = directory.path().join("key");
    let write = |seen: &str| fs::write(&index, format!("{} 12 {seen}\n", "0".repeat(32))).expect("our own file");
    write(&seen);
    looked_at_later(directory.path(), "key", 60);
    assert_eq!(cache.checked("key"), Some(other.clone()), "seen before, and not touched since");
    fs::write(&other, b"SOME content").expect("flipped");
    assert_eq!(cache.checked("key"), None, "touched since");
    // Seen so soon after a change that another one would look the same.
    fs::write(&other, b"some content").expect("flipped back");
    write(&seen_as(&fs::metadata(&other).expect("it is there")));
    assert_eq!(cache.checked("key"), None, "not settled");
}

#[test]
fn racing_writers_leave_a_whole_entry() {
    let directory = tempfile::tempdir().expect("a folder");
    let caches: Vec<Cache> = (0..4).map(|_| Cache::open(directory.path()).expect("private")).collect();
    std::thread::scope(|scope| {
        for (n, cache) in caches.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..50 {
                    cache.keep("key", format!("content {n} {round}").as_bytes());
                    let found = cache.bytes("key").map(|bytes| String::from_utf8(bytes).expect("text"));
                    assert!(found.is_none_or(|text| text.starts_with("content ")));
                }
            });
        }
    });
    assert!(cache_holds_something(&caches[0]));
    let names = fs::read_dir(directory.path()).expect("the cache").flatten().map(|entry| entry.file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".tmp")), "no temporary file is left");
}

fn cache_holds_something(cache: &Cache) -> bool {
    cache.bytes("key").is_some()
}

#[test]
fn a_directory_that_others_can_write_is_refused() {
    let directory = tempfile::tempdir().expect("a folder");
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o777)).expect("our own folder");
    let error = Cache::open(directory.path()).expect_err("refused").to_string();
    assert!(error.contains("777") && error.contains("FOZZY_CACHE_DIR"), "{error}");
    let file = directory.path().join("file");
    fs::write(&file, b"").expect("a file");
    assert!(Cache::open(&file).is_err());
}

#[test]
fn pruning_beside_writers_is_no_failure() {
    let directory = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(directory.path()).expect("private");
    std::thread::scope(|scope| {
        for writer in 0..2u32 {
            let cache = cache.clone();
            // Temporary files come and go while the other one looks at the folder.
            scope.spawn(move || {
                for n in 0..400u32 {
                    let key = format!("{:064x}", u64::from(writer) << 32 | u64::from(n % 7));
                    cache.try_keep(&key, &n.to_le_bytes()).expect("the other writer is no failure");
                }
            });
        }
    });
}

#[test]
fn who_wants_what_is_being_made_waits_for_it() {
    let directory = tempfile::tempdir().expect("a folder");
    let cache = Cache::open(directory.path()).expect("private");
    let made = std::sync::atomic::AtomicU32::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let _making = cache.making("key");
                if cache.bytes("key").is_none() {
                    made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    cache.keep("key", b"some content");
                }
            });
        }
    });
    assert_eq!(made.into_inner(), 1);
}
