//! What any home of a store must do; each home runs the same tests. Redis is one of them where a server is installed, and where `FOZZY_TIER` is 2.

use super::*;
use crate::fleet::named_blobs::delete_unnamed;
use std::fs;
#[cfg(feature = "redis")]
mod on_redis;

/// Runs `check` on an empty store of each home, with a function that opens the same one again.
fn on_each_home(check: impl Fn(&dyn Fn() -> Box<dyn SharedStore>)) {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("store");
    check(&|| Box::new(DirectoryStore::open(&root, "shop").expect("a store")));
    #[cfg(feature = "redis")]
    if let Some(server) = on_redis::RedisServer::start(&[]) {
        check(&|| Box::new(RedisStore::open(&server.address(), Some("shop")).expect("a store")));
    }
}

fn key(parts: &[&str]) -> StoreKey {
    StoreKey::new(parts)
}

#[test]
fn values_are_kept_replaced_listed_renamed_and_deleted() {
    on_each_home(|open| {
        let (store, other) = (open(), open());
        let (bank, till) = (key(&["targets", "bank"]), key(&["targets", "till"]));
        assert_eq!(store.get(&bank).expect("read"), None);
        assert!(!store.delete(&bank).expect("nothing") && !store.rename(&bank, &till).expect("nothing"));
        store.put(&bank, b"one").expect("kept");
        store.put(&bank, b"two").expect("replaced");
        store.put(&key(&["targets", "bank", "inner"]), b"").expect("a key below a key");
        assert_eq!(other.get(&bank).expect("read").as_deref(), Some(&b"two"[..]));
        assert_eq!(other.get(&key(&["targets", "bank", "inner"])).expect("read").as_deref(), Some(&b""[..]));
        assert_eq!(other.list(&key(&["targets"])).expect("listed"), ["bank"]);
        assert!(other.rename(&bank, &till).expect("renamed"));
        assert_eq!(
            (store.get(&bank).expect("read"), store.list(&key(&["targets"])).expect("listed")),
            (None, vec!["till".into()])
        );
        assert!(store.delete(&till).expect("deleted") && store.list(&key(&["gone"])).expect("none").is_empty());
        let large = store.put(&bank, &vec![0; VALUE_BYTES_MAX + 1]).expect_err("refused").to_string();
        assert!(large.contains("targets/bank") && large.contains("1048576"), "{large}");
    });
}

#[cfg(unix)]
#[test]
fn what_is_no_file_in_the_place_of_a_value_is_said_at_once_and_says_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().join("store");
    let store = DirectoryStore::open(&root, "shop").expect("a store");
    let (records, fifo) = (key(&["failures", "shrunk", "app-1"]), root.join("values/failures/shrunk/app-1/pipe.json"));
    store.put(&records.join("whole"), b"of 3f2a").expect("kept");
    let made = std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo is there");
    assert!(made.success());
    fs::create_dir(fifo.with_file_name("folder.json")).expect("made");
    std::os::unix::fs::symlink("nowhere", fifo.with_file_name("link.json")).expect("linked");
    for (name, what) in [("pipe", "a pipe"), ("folder", "a folder"), ("link", "a link to what is not there")] {
        let error = store.get(&records.join(name)).expect_err("refused");
        assert!(matches!(error, SharedStoreError::NoFile { .. }) && error.to_string().contains(what), "{error}");
    }
    assert!(store.has_text(std::slice::from_ref(&records), "3f2a").expect("answered"));
    assert!(!store.has_text(std::slice::from_ref(&records), "4a3b").expect("answered"));
    assert!(store.delete(&records.join("pipe")).expect("it goes") && store.delete(&records.join("link")).expect("too"));
    std::os::unix::fs::symlink("nowhere", fifo.with_file_name("link.json")).expect("linked");
    store.put(&records.join("link"), b"of 3f2a").expect("it takes its place");
    assert!(!store.rename(&records.join("folder"), &records.join("other")).expect("it stays"));
    assert!(store.put(&records.join("folder"), b"1").expect_err("it stays").to_string().contains("is a folder"));
    let kept = store.delete(&records.join("folder")).expect_err("it may hold anything").to_string();
    assert!(kept.contains("is a folder"), "{kept}");
}

#[test]
fn keys_of_any_text_are_values_of_their_own_and_lead_nowhere_else() {
    on_each_home(|open| {
        let store = open();
        let names =
            ["", ".", "..", "../../up", "/etc", "a b", "A", "a", "%", "%2e", "a.json", "é\u{1b}[2J\0", ".hidden"];
        for name in names {
            store.put(&key(&["hostile", name]), name.as_bytes()).expect("kept");
        }
        let mut sorted = names.map(str::to_owned).to_vec();
        sorted.sort();
        assert_eq!(store.list(&key(&["hostile"])).expect("listed"), sorted);
        for name in names {
            assert_eq!(
                store.get(&key(&["hostile", name])).expect("read").as_deref(),
                Some(name.as_bytes()),
                "{name:?}"
            );
        }
        assert!(store.put(&key(&[&"x".repeat(PART_CHARS_MAX + 1)]), b"").is_err());
    });
}

#[test]
fn a_blob_is_what_its_name_says_and_a_member_is_new_once() {
    on_each_home(|open| {
        let (store, other) = (open(), open());
        let name = store.put_blob(b"a trace").expect("kept");
        assert_eq!(other.put_blob(b"a trace").expect("kept"), name);
        assert_eq!(other.get_blob(&name).expect("sound").as_deref(), Some(&b"a trace"[..]));
        assert_eq!(other.get_blob(&Digest::of(b"another")).expect("none"), None);
        if let Some(path) = store.blob_path(&name) {
            fs::write(path, b"a tracE").expect("changed in place");
            assert!(matches!(other.get_blob(&name), Err(SharedStoreError::Damaged { .. })));
            assert_eq!(store.put_blob(b"a trace").expect("mended"), name);
        }
        assert!(other.get_blob(&name).expect("sound").is_some());
        assert!(store.delete_blob(&name).expect("deleted") && !store.delete_blob(&name).expect("gone"));
        let set = key(&["collected"]);
        assert!(store.insert(&set, "x/../y").expect("first") && !other.insert(&set, "x/../y").expect("second"));
        assert!(other.insert(&set, "a").expect("first"));
        assert_eq!(store.members(&set).expect("listed"), ["a", "x/../y"]);
        assert!(store.remove(&set, "a").expect("removed") && !store.remove(&set, "a").expect("gone"));
    });
}

#[test]
fn a_blob_that_a_record_of_another_target_names_stays_until_none_does() {
    on_each_home(|open| {
        let (store, other) = (open(), open());
        let name = store.put_blob(b"a blob").expect("kept");
        let delete = || delete_unnamed(&*store, &name).expect("asked");
        let names = format!("{{\"trace\": \"{name}\"}}");
        let of_corpus = key(&["corpus", "app-2", &name.to_string()]);
        let records = [
            (key(&["failures", "fixed", "app-2", "3f2a"]), names.as_bytes()),
            (key(&["explored", "app-2", "9c"]), names.as_bytes()),
            (of_corpus, &b"6\n"[..]),
        ];
        store.put(&key(&["failures", "fixed", "app-1", "3f2a"]), b"{\"trace\": \"another\"}").expect("kept");
        store.put(&key(&["workers", "one"]), names.as_bytes()).expect("kept");
        for (key, value) in &records {
            other.put(key, value).expect("kept");
            assert!(!delete() && store.has_blobs(&[name]).expect("asked") == [true], "{key} names it");
            assert!(other.delete(key).expect("deleted"));
        }
        assert!(delete() && !delete());
        // However many targets there are, the home is asked a few times.
        for number in 0..20 {
            let target = format!("app-{number}");
            for folder in [key(&["explored"]), key(&["corpus"]), key(&["failures", "shrunk"])] {
                store.put(&folder.join(&target).join("3f2a"), b"{\"trace\": \"another\"}").expect("kept");
            }
        }
        store.put_blob(b"a blob").expect("kept");
        let asked = |requests| delete_unnamed(&WatchedStore::leaving(&*store, requests), &name).is_ok();
        assert!(asked(4), "folders, names, records, and that it goes");
        let folders = store.folders_at(&[("failures", 3), ("corpus", 2)]).expect("listed");
        let is_one = |folder: &StoreKey| folder.parts().len() == if folder.parts()[0] == "corpus" { 2 } else { 3 };
        assert!(folders.len() >= 41 && folders.iter().all(is_one), "{folders:?}");
        assert_eq!(store.has_blobs(&[name, Digest::of(b"more")]).expect("asked"), [false, false]);
        let folder = key(&["failures", "fixed", "app-1"]);
        store.put(&folder.join("a/b"), b"1").expect("kept");
        let values = other.values(&folder).expect("read");
        let values: Vec<(&str, usize)> = values.iter().map(|(name, value)| (&**name, value.len())).collect();
        assert_eq!(values, [("3f2a", 20), ("a/b", 1)]);
    });
}

#[test]
fn of_many_threads_one_is_first_and_one_holds_a_lease() {
    on_each_home(|open| {
        let (set, lease) = (key(&["found"]), key(&["targets", "bank"]));
        let stores: Vec<_> = (0..8).map(|_| open()).collect();
        let firsts: usize = std::thread::scope(|scope| {
            let workers: Vec<_> = stores
                .iter()
                .map(|store| {
                    scope.spawn(|| (0..20).filter(|n| store.insert(&set, &format!("{n}")).expect("inserted")).count())
                })
                .collect();
            workers.into_iter().map(|worker| worker.join().expect("no panic")).sum()
        });
        assert_eq!(firsts, 20, "each member is new to one of them");
        let mut first = stores[0].acquire(&lease, "one").expect("asked").expect("free");
        assert!(stores[1].acquire(&lease, "two").expect("asked").is_none(), "it has a holder");
        assert_eq!(stores[1].holder(&lease).expect("asked").as_deref(), Some("one"));
        assert!(stores[1].acquire(&key(&["targets", "till"]), "two").expect("asked").is_some(), "another one is free");
        assert!(first.renew().expect("asked"));
        let attempt = first.attempt();
        drop(first);
        let second = stores[1].acquire(&lease, "two").expect("asked").expect("it is free again");
        assert!(second.attempt() > attempt);
    });
}

#[test]
fn a_poll_names_what_has_changed_since_the_last() {
    on_each_home(|open| {
        let (store, other, folder) = (open(), open(), key(&["workers"]));
        let mut view = StoreView::default();
        assert!(store.poll(&folder, &mut view).expect("nothing").is_empty());
        other.put(&folder.join("b"), b"1").expect("kept");
        other.put(&folder.join("a"), b"1").expect("kept");
        assert_eq!(store.poll(&folder, &mut view).expect("two"), ["a", "b"]);
        other.put(&folder.join("a"), b"1").expect("the same");
        assert!(store.poll(&folder, &mut view).expect("nothing").is_empty());
        other.put(&folder.join("a"), b"2").expect("kept");
        other.delete(&folder.join("b")).expect("deleted");
        assert_eq!(store.poll(&folder, &mut view).expect("both"), ["a", "b"]);
    });
}

#[test]
fn a_folder_of_others_is_refused_by_its_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let refused = |name: &str| DirectoryStore::open(&at(name), "shop").expect_err("refused").to_string();
    DirectoryStore::open(&at("theirs"), "bank").expect("made");
    assert!(refused("theirs").contains("of the project `bank`, and this is `shop`"), "{}", refused("theirs"));
    let head = |name: &str, text: &str| {
        fs::create_dir_all(at(name)).expect("a folder");
        fs::write(at(name).join("store.json"), text).expect("written");
    };
    head("newer", r#"{"format": "fozzy-store", "version": 9, "project": "shop", "more": 1}"#);
    assert!(refused("newer").contains("of version 9, and this fozzy knows 1"), "{}", refused("newer"));
    head("else", r#"{"format": "npm", "version": 1, "project": "shop"}"#);
    assert!(refused("else").contains("its format is `npm`"));
    head("torn", r#"{"format": "fozzy-st"#);
    assert!(refused("torn").contains("is not understood"));
    fs::create_dir_all(at("sources/src")).expect("a folder");
    assert!(refused("sources").contains("is not empty (`src`)"));
    fs::write(at("file"), "").expect("written");
    assert!(refused("file").contains("no folder"));
    // What a killed process has left is neither a value nor in the way.
    DirectoryStore::open(&at("own"), "shop").expect("made").put(&key(&["a"]), b"1").expect("kept");
    fs::write(at("own/values/.new-a.json"), "half").expect("written");
    fs::write(at("own/values/no part.json"), "theirs").expect("written");
    assert_eq!(DirectoryStore::open(&at("own"), "shop").expect("a store").list(&key(&[])).expect("listed"), ["a"]);
}

/// Nobody is at the other end of these pipes: whoever opens one waits for ever.
#[cfg(unix)]
#[test]
fn a_pipe_in_the_place_of_a_record_or_a_lease_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
    for path in ["values/targets/a.json", "leases/targets/a.lock"] {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo is in coreutils");
        assert!(made.success());
    }
    let of = key(&["targets", "a"]);
    let refused = [
        store.get(&of).map(|_| ()).expect_err("a pipe").to_string(),
        store.acquire(&of, "me").map(|_| ()).expect_err("a pipe").to_string(),
        store.holder(&of).map(|_| ()).expect_err("a pipe").to_string(),
    ];
    refused.iter().for_each(|error| assert!(error.contains("is a pipe, a socket or a device, and no file"), "{error}"));
    // It is not moved, and what is written takes its place.
    assert!(!store.rename(&of, &key(&["targets", "b"])).expect("nothing is there"));
    store.put(&of, b"1").expect("kept");
    assert_eq!(store.get(&of).expect("read"), Some(b"1".to_vec()));
}

#[test]
fn a_folder_whose_disk_is_full_is_away_until_there_is_room() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = DirectoryStore::open(folder.path(), "shop").expect("a store");
    let lease = key(&["targets", "bank"]);
    drop(store.acquire(&lease, "one").expect("asked").expect("free"));
    store.put(&key(&["a"]), b"1").expect("kept");
    let watched = WatchedStore::new(&store);
    store.set_full(true);
    let refused = watched.put(&key(&["a"]), b"2").expect_err("it is full");
    assert!(matches!(refused, SharedStoreError::Away { .. }), "{refused}");
    let told = shared_store_error(refused);
    assert!(told.hint.as_ref().is_some_and(|hint| hint.contains("free the disk")), "{told}");
    assert!(watched.is_away() && !watched.is_back() && !store.answers());
    assert_eq!(store.get(&key(&["a"])).expect("read").as_deref(), Some(&b"1"[..]), "what was kept is whole");
    let held = store.acquire(&lease, "one").expect("asked").expect("it needs no room");
    assert!(store.acquire(&lease, "two").expect("asked").is_none(), "it is held");
    drop(held);
    store.set_full(false);
    assert!(watched.is_back() && watched.put(&key(&["a"]), b"2").is_ok());
    assert_eq!(store.list(&key(&[])).expect("listed"), ["a"], "nothing is left of the look");
    // The note of a lease says the last holder only, however long the name of the one before was.
    drop(store.acquire(&lease, &"x".repeat(40)).expect("asked").expect("free"));
    let held = store.acquire(&lease, "two").expect("asked").expect("free");
    assert_eq!((held.attempt(), store.holder(&lease).expect("asked").as_deref()), (4, Some("two")));
}

#[test]
fn values_and_blobs_wait_in_memory_up_to_a_bound_while_the_disk_is_full() {
    let folder = tempfile::tempdir().expect("a folder");
    let disk = DirectoryStore::open(folder.path(), "shop").expect("a store");
    let store = OverflowStore::new(disk.clone(), 40);
    let [one, two] = ["1", "2"].map(|name| key(&["slices", "a", name]));
    store.put(&one, b"old").expect("kept");
    disk.set_full(true);
    store.put(&one, b"new").expect("it waits");
    store.put(&two, b"second").expect("it waits");
    let trace = store.put_blob(b"a trace").expect("it waits");
    assert!(store.is_waiting() && store.has_waiting(&one) && store.has_waiting_blob(&trace));
    let refused = store.put(&two, &[7; 40]).expect_err("it does not fit");
    assert!(matches!(refused, SharedStoreError::Away { .. }), "{refused}");
    store.put(&two, b"second").expect("it waits");
    assert_eq!(store.get(&one).expect("read").as_deref(), Some(&b"new"[..]));
    assert_eq!(store.list(&key(&["slices", "a"])).expect("listed"), ["1", "2"]);
    assert_eq!(store.folders().expect("listed"), [key(&["slices", "a"])]);
    assert_eq!(store.get_blobs(&[trace]).expect("read"), [Some(b"a trace".to_vec())]);
    assert!(store.write_again().is_err() && store.is_waiting());
    assert!(store.delete(&two).expect("deleted") && store.get(&two).expect("read").is_none());
    disk.set_full(false);
    store.write_again().expect("there is room");
    assert!(!store.is_waiting());
    assert_eq!(disk.get(&one).expect("read").as_deref(), Some(&b"new"[..]));
    assert_eq!(disk.get_blob(&trace).expect("read").as_deref(), Some(&b"a trace"[..]));
}
