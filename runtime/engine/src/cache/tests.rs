//! The cache under damage, races and wrong owners; what it returns is always what was kept, or nothing.

use super::*;
use crate::build::Build;
use crate::settings::{Switches, engine};

const SWITCHES: Switches = Switches { canonical_nans: true };

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
    let engine = engine(SWITCHES, &Build::default()).expect("an engine");
    let key = Cache::code_key(b"component", b"settings", &engine);
    assert!(cache.code(&engine, &key).is_none());
    cache.keep_code(&key, &smallest(&engine));
    assert!(cache.code(&engine, &key).is_some());
    assert_ne!(key, Cache::code_key(b"component", b"other settings", &engine));
    assert_ne!(key, Cache::code_key(b"componentsettings", b"", &engine));
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
