//! Servers of Redis for tests: what they refuse, and what happens when they go.

use super::*;
use crate::fleet::store_copy::{CopiedStore, copy_store};
use crate::wall_clock::{Stopwatch, pause};
use fozzy_report::fleet::CopiedKindRow;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

/// A server of its own, that keeps its data in a folder.
pub(super) struct RedisServer {
    folder: tempfile::TempDir,
    process: Child,
    settings: Vec<String>,
}

impl RedisServer {
    /// Starts one; `None` where none is installed.
    pub(super) fn start(settings: &[&str]) -> Option<RedisServer> {
        let folder = tempfile::tempdir().expect("a folder");
        let settings: Vec<String> = settings.iter().map(|word| (*word).to_owned()).collect();
        let process = launch(folder.path(), &settings)?;
        Some(RedisServer { folder, process, settings })
    }

    pub(super) fn address(&self) -> String {
        format!("redis+unix://{}", self.folder.path().join("socket").display())
    }

    fn kill(&mut self) {
        self.process.kill().expect("it runs");
        self.process.wait().expect("it has ended");
    }

    fn restart(&mut self) {
        self.process = launch(self.folder.path(), &self.settings).expect("it was there");
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Whether the server can be started. In tier two it is installed where it is missing.
#[allow(clippy::disallowed_methods, reason = "which tests are wanted")]
fn is_installed() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        let is_there = || Command::new("redis-server").arg("--version").stdout(Stdio::null()).status().is_ok();
        if is_there() || std::env::var("FOZZY_TIER").as_deref() != Ok("2") {
            return is_there();
        }
        for words in [&["update"][..], &["install", "-y", "--no-install-recommends", "redis-server"]] {
            let installed = Command::new("apt-get").args(words).env("DEBIAN_FRONTEND", "noninteractive").output();
            let advice = "next, as root: apt-get install redis-server";
            assert!(installed.is_ok_and(|output| output.status.success()), "apt-get {}; {advice}", words.join(" "));
        }
        assert!(is_there(), "apt-get has installed redis-server, and there is none");
        true
    })
}

fn launch(folder: &Path, settings: &[String]) -> Option<Child> {
    if !is_installed() {
        return None;
    }
    let socket = folder.join("socket");
    let _ = fs::remove_file(&socket);
    let mut command = Command::new("redis-server");
    command.args(["--port", "0", "--save", "", "--appendonly", "yes", "--unixsocket"]).arg(&socket);
    command.args(settings).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let child = command.spawn().expect("it is installed");
    let watch = Stopwatch::start();
    while std::os::unix::net::UnixStream::connect(&socket).is_err() {
        assert!(watch.elapsed() < Duration::from_secs(60), "redis-server does not listen");
        pause(Duration::from_millis(5));
    }
    Some(child)
}

fn refused(address: &str, project: &str) -> String {
    match RedisStore::open(address, Some(project)) {
        Ok(_) => panic!("{address} is taken"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn servers_and_stores_of_others_are_refused_by_what_they_are() {
    for (address, words) in [
        ("redis://", "Missing hostname"),
        ("redis://127.0.0.1:99999/0", "its port is none: expected a number from 0 to 65535"),
        ("redis://name:secret@127.0.0.1:port/0", "its port is none"),
        ("redis://127.0.0.1:1/0?prefex=a", "`prefex=a` is understood as nothing"),
        ("redis://127.0.0.1:1/0?prefix=a*b", "has more than letters"),
        ("redis://name:secret@127.0.0.1:1/0", "cannot reach redis://127.0.0.1:1/0"),
        ("redis://:secret/more@127.0.0.1:1/0", "`:` is written %3A, `/` %2F"),
        ("redis://:some?secret@127.0.0.1:1/0", "(percent-encoding)"),
    ] {
        let said = refused(address, "shop");
        assert!(said.contains(words) && !said.contains("secret"), "{address}: {said}");
    }
    let advice = |place, is_silent| super::super::redis::tls_advice(place, is_silent);
    assert!(advice("rediss://127.0.0.1:1/0", true).contains("may not speak TLS"));
    assert_eq!((advice("rediss://127.0.0.1:1/0", false), advice("redis://127.0.0.1:1/0", true)), ("", ""));
    let plain = |place, is_closed| super::super::redis::plain_advice(place, is_closed);
    assert!(plain("redis://127.0.0.1:1/0", true).contains("rediss:// is with"));
    assert_eq!((plain("redis://127.0.0.1:1/0", false), plain("rediss://127.0.0.1:1/0", true)), ("", ""));
    // Something that speaks otherwise.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let web = format!("redis://{}", listener.local_addr().expect("an address"));
    let said = std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut client, _) = listener.accept().expect("it connects");
            let _ = std::io::Write::write_all(&mut client, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        });
        refused(&web, "shop")
    });
    assert!(said.contains("what answers is no Redis server"), "{said}");
    let Some(server) = RedisServer::start(&[]) else { return };
    RedisStore::open(&server.address(), Some("bank")).expect("made");
    assert!(refused(&server.address(), "shop").contains("of the project `bank`, and this is `shop`"));
    let beside = format!("{}?prefix=shop", server.address());
    let own = RedisStore::open(&beside, Some("shop")).expect("beside it");
    own.put(&key(&["a"]), b"1").expect("kept");
    let other = RedisStore::open(&server.address(), None).expect("whose ever it is");
    assert_eq!((other.project(), other.folders().expect("listed")), ("bank", vec![]));
    // Prefixes that are called like kinds of keys hide nothing of the store beside them, and nothing of theirs is its own.
    let blobs = RedisStore::open(&format!("{}?prefix=b", server.address()), Some("shop")).expect("beside it");
    blobs.put_blob(b"theirs").expect("kept");
    assert!(other.blobs().expect("listed").is_empty() && blobs.blobs().expect("listed").len() == 1);
    RedisStore::open(&format!("{}?prefix=v", server.address()), Some("shop")).expect("beside it");
    assert!(other.folders().expect("listed").is_empty());
    assert_eq!(own.folders().expect("listed"), [key(&[])]);
    let mut direct = ::redis::Client::open(server.address()).expect("an address").get_connection().expect("it answers");
    ::redis::cmd("SET")
        .arg("fozzy:x:head")
        .arg(r#"{"format": "fozzy-store", "version": 9, "project": "shop"}"#)
        .exec(&mut direct)
        .expect("set");
    assert!(refused(&format!("{}?prefix=x", server.address()), "shop").contains("of version 9"));
    ::redis::cmd("SET").arg("fozzy:y:head").arg("theirs").exec(&mut direct).expect("set");
    assert!(refused(&format!("{}?prefix=y", server.address()), "shop").contains("is not understood"));
    ::redis::cmd("SADD").arg("fozzy:z:v:targets").arg("theirs").exec(&mut direct).expect("added");
    let strange = RedisStore::open(&format!("{}?prefix=z", server.address()), Some("shop")).expect("made");
    let said = strange.put(&key(&["targets", "a"]), b"1").expect_err("another type").to_string();
    assert!(said.contains("something else has a key of ours"), "{said}");
}

/// The address of somebody who takes connections, answers to `PING` where there is an answer, and says nothing else.
#[allow(clippy::disallowed_methods, reason = "it ends with the process")]
fn taking(answer: &'static [u8]) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut asked = [0; 1024];
            while let Ok(count @ 1..) = std::io::Read::read(&mut stream, &mut asked) {
                if asked[..count].starts_with(b"PING") {
                    let _ = std::io::Write::write_all(&mut stream, answer);
                }
            }
        }
    });
    address
}

#[test]
fn a_server_without_tls_is_soon_refused_by_who_asks_in_tls_and_one_with_by_who_asks_without() {
    // A handshake is half a command to it.
    for answer in [&b"+PONG\r\n"[..], b"-NOAUTH Authentication required.\r\n"] {
        let (plain, watch) = (format!("rediss://{}", taking(answer)), Stopwatch::start());
        let later = match RedisStore::open_or_later(&plain, "shop") {
            Ok(_) => panic!("it is waited for"),
            Err(error) => error,
        };
        assert!(matches!(later, SharedStoreError::Foreign { .. }) && later.to_string().contains("TLS"), "{later}");
        assert!(watch.elapsed() < Duration::from_secs(6), "{:?}", watch.elapsed());
    }
    let said = refused(&format!("rediss://{}", taking(b"+PONG\r\n")), "shop");
    assert!(said.contains("may not speak TLS on this port: redis:// is without"), "{said}");
    // An alert of TLS, and the end.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = format!("redis://{}", listener.local_addr().expect("an address"));
    let said = std::thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("a connection");
            let _ = std::io::Read::read(&mut stream, &mut [0; 1024]);
            let _ = std::io::Write::write_all(&mut stream, &[21, 3, 3, 0, 2, 2, 70]);
        });
        refused(&address, "shop")
    });
    assert!(said.contains("it may speak TLS on this port: rediss:// is with"), "{said}");
}

#[test]
fn a_server_whose_tls_is_slow_is_waited_for_and_one_that_cannot_be_right_is_not() {
    // One that answers nothing without TLS, or an alert, may be slow.
    for answer in [&b""[..], &[21, 3, 3, 0, 2, 2, 70]] {
        let slow = RedisStore::open_or_later(&format!("rediss://{}", taking(answer)), "shop");
        assert!(slow.is_ok(), "{:?}", slow.err());
    }
    let hopeless = super::super::redis::is_hopeless;
    assert!(hopeless("invalid peer certificate: UnknownIssuer") && hopeless("Permission denied (os error 13)"));
    assert!(!hopeless("Connection refused (os error 111)") && !hopeless("invalid utf-8"));
    let strange = std::io::Error::other("invalid peer certificate: UnknownIssuer");
    let said = super::super::redis::said(&::redis::RedisError::from(strange));
    assert!(said.contains("SSL_CERT_FILE") && hopeless(&said), "{said}");
}

#[test]
fn a_server_that_forgets_or_wants_a_password_or_is_full_says_so() {
    let Some(server) = RedisServer::start(&["--requirepass", "hush", "--maxmemory", "20mb"]) else { return };
    let said = refused(&server.address(), "shop");
    assert!(said.contains("it wants a password"), "{said}");
    let with = |named: &str| server.address().replace("://", &format!("://{named}@"));
    let said = refused(&with(":wrong+"), "shop");
    assert!(said.contains("the name or the password is wrong") && !said.contains("wrong+"), "{said}");
    let known = RedisStore::open(&with(":hush"), Some("shop")).expect("a store");
    assert!(!known.place().contains("hush"), "{}", known.place());
    let mut direct =
        ::redis::Client::open(format!("{}?pass=hush", server.address())).expect("an address").get_connection();
    let direct = direct.as_mut().expect("it answers");
    ::redis::cmd("CONFIG").arg("SET").arg("requirepass").arg("").exec(direct).expect("set");
    let store = RedisStore::open(&server.address(), Some("shop")).expect("made");
    let large = vec![7; 9 << 20];
    let said = (0..5)
        .map(|n| store.put_blob(&[&large[..], &[n]].concat()))
        .find_map(Result::err)
        .expect("it is full")
        .to_string();
    assert!(said.contains("its memory is full"), "{said}");
    ::redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("1").exec(direct).expect("set");
    assert!(!store.answers(), "it takes nothing");
    let watched = WatchedStore::new(&store);
    assert!(watched.put(&key(&["a"]), b"1").is_err() && watched.is_away() && !watched.is_back());
    ::redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg("20mb").exec(direct).expect("set");
    store.delete_blob(&Digest::of(&[&large[..], &[0]].concat())).expect("deleted");
    assert!(watched.is_back() && watched.put(&key(&["a"]), b"1").is_ok());
    ::redis::cmd("CONFIG").arg("SET").arg("maxmemory-policy").arg("allkeys-lru").exec(direct).expect("set");
    assert!(refused(&server.address(), "shop").contains("set it to noeviction"));
}

#[test]
fn a_server_that_is_killed_and_comes_back_has_lost_nothing_and_nothing_is_twice() {
    let Some(mut server) = RedisServer::start(&["--appendfsync", "everysec"]) else { return };
    let address = server.address();
    let (folder, set) = (key(&["targets"]), key(&["found"]));
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..3)
            .map(|worker| {
                let (address, folder, set) = (&address, &folder, &set);
                scope.spawn(move || {
                    let store = RedisStore::open(address, Some("shop")).expect("a store");
                    let mut first = 0;
                    for n in 0..150 {
                        store.put(&folder.join(&format!("{worker}-{n}")), b"kept").expect("kept");
                        first += usize::from(store.insert(set, &format!("{n}")).expect("inserted"));
                    }
                    first
                })
            })
            .collect();
        for _ in 0..5 {
            pause(Duration::from_millis(60));
            server.kill();
            server.restart();
        }
        let firsts: usize = workers.into_iter().map(|worker| worker.join().expect("no panic")).sum();
        assert_eq!(firsts, 150, "each member is new to one of them");
    });
    let store = RedisStore::open(&address, Some("shop")).expect("a store");
    assert_eq!(store.list(&folder).expect("listed").len(), 450);
    // A fleet begins without it, and joins it later; that it is another project's is said then.
    server.kill();
    let [late, other] =
        ["shop", "bank"].map(|project| RedisStore::open_or_later(&address, project).expect("an address"));
    assert!(!late.answers() && matches!(late.list(&folder), Err(SharedStoreError::Away { .. })));
    server.restart();
    assert!(late.answers() && late.list(&folder).expect("listed").len() == 450);
    assert!(other.answers() && matches!(other.list(&folder), Err(SharedStoreError::OtherProject { .. })));
}

#[test]
fn a_silent_holder_loses_its_lease_and_cannot_end_that_of_another() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let store = || RedisStore::open(&server.address(), Some("shop")).expect("a store");
    let lease = key(&["targets", "bank"]);
    let mut first = store().acquire(&lease, "one").expect("asked").expect("free");
    let mut direct = ::redis::Client::open(server.address()).expect("an address").get_connection().expect("it answers");
    let mut expire = || ::redis::cmd("DEL").arg("fozzy:fozzy:l:targets/bank").exec(&mut direct).expect("deleted");
    expire();
    assert!(first.renew().expect("asked"), "nobody has asked for it meanwhile");
    expire();
    let mut second = store().acquire(&lease, "two").expect("asked").expect("it was silent");
    assert!(!first.renew().expect("asked") && second.renew().expect("asked"));
    assert_eq!((first.attempt(), second.attempt()), (1, 2));
    drop(first);
    assert!(store().acquire(&lease, "three").expect("asked").is_none(), "the second one still has it");
    drop(second);
    assert!(store().acquire(&lease, "three").expect("asked").is_some());
}

#[test]
fn a_copy_has_all_that_the_other_home_has() {
    let Some(server) = RedisServer::start(&[]) else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let directory = |name: &str| DirectoryStore::open(&folder.path().join(name), "shop").expect("a store");
    let from = directory("from");
    let blob = from.put_blob(b"a trace").expect("kept");
    let named = key(&["corpus", "bank", &blob.to_string()]);
    let of_more = key(&["notes", "shrunk", "bank", "x"]);
    let values = [(key(&["targets", "a/b"]), &b"{}"[..]), (of_more, b"1"), (key(&["top"]), b"2"), (named, b"7")];
    for (key, value) in &values {
        from.put(key, value).expect("kept");
    }
    let redis = RedisStore::open(&server.address(), Some("shop")).expect("a store");
    let kinds = ["corpus", "notes", "targets", "top"];
    let kinds = kinds.map(|kind| CopiedKindRow { kind: kind.to_owned(), new: 1, ..CopiedKindRow::default() });
    let expected = CopiedStore { kinds: kinds.to_vec(), blobs: 1, bytes: 12, ..CopiedStore::default() };
    assert_eq!(copy_store(&from, &redis).expect("copied"), expected);
    // What is there is not sent again.
    let again = copy_store(&from, &redis).expect("copied");
    assert_eq!((again.blobs, again.bytes, again.kinds.iter().all(|row| row.left == 1)), (0, 5, true));
    let back = directory("back");
    assert_eq!(copy_store(&redis, &back).expect("copied"), expected);
    for (key, value) in &values {
        assert_eq!(back.get(key).expect("read").as_deref(), Some(*value), "{key}");
    }
    assert_eq!(back.get_blob(&blob).expect("sound").as_deref(), Some(&b"a trace"[..]));
    assert_eq!(
        (back.folders().expect("listed"), back.blobs().expect("listed")),
        (from.folders().expect("listed"), vec![blob])
    );
}
