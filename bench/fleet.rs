//! What a fleet's store costs, beside the raw client of its home: requests a second; and how soon its division of time finds failures.
//!
//! ```text
//! folder   put, get, blobs, sets, leases     std::fs: write beside, fsync, rename; read; create; lock
//! redis    the same                          the crate `redis`: HSET, HGET, SET, GET, HSETNX, SET NX and DEL
//! ```
//!
//! Both sides wait for the same disk and the same server, so wall time is what counts. Without Debian's `redis-server` its rows are missing.
//! Not here: two fleets on one store, and what estimates are worth (`bench/fleet/*.py`).

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a bench reads real clocks and waits for a real server"
)]

use crate::measure::Pair;
use crate::table::{Bound, Least, Row, Unit};
use fozzy_campaign::fleet::division::{DiscoveryEstimate, TimeDivision};
use fozzy_campaign::fleet::shared_store::{SharedStore, StoreKey, open_store};
use fozzy_trace::Seed;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Requests of one time, and times.
const REQUESTS: u32 = 200;
const ROUNDS: usize = 7;
/// Bytes of a value and of a blob: those of a record and of a small trace.
const VALUE_BYTES: usize = 1_000;
const BLOB_BYTES: usize = 4_000;
/// Requests a second, beside those of the raw client.
const LEAST: f64 = 0.5;

/// Bytes that no other call has.
fn bytes(number: &mut u64, length: usize) -> Vec<u8> {
    *number += 1;
    number.to_le_bytes().into_iter().cycle().take(length).collect()
}

fn seconds(mut request: impl FnMut()) -> f64 {
    let began = Instant::now();
    (0..REQUESTS).for_each(|_| request());
    began.elapsed().as_secs_f64()
}

/// Requests a second to each home.
pub(crate) fn store() -> Vec<Row> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut rows = directory(folder.path());
    match RedisServer::start(folder.path()) {
        Some(server) => rows.extend(redis_server(&server)),
        None => println!("no redis-server: its rows are missing"),
    }
    rows
}

fn row(name: &str, ours: impl FnMut(), theirs: impl FnMut()) -> Row {
    let (mut ours, mut theirs) = (ours, theirs);
    let pair = Pair::of(ROUNDS, || seconds(&mut ours), || seconds(&mut theirs));
    Row::rates(&format!("store {name}"), &pair, REQUESTS, "requests/s", Least::Ratio(LEAST))
}

fn directory(folder: &Path) -> Vec<Row> {
    let place = folder.join("store").display().to_string();
    let store = open_store(&place, Some("bench")).expect("a store");
    let raw = folder.join("raw");
    fs::create_dir(&raw).expect("a folder");
    let write = |name: &str, bytes: &[u8]| {
        let beside = raw.join("beside");
        let mut file = File::create(&beside).expect("a file");
        file.write_all(bytes).and_then(|()| file.sync_all()).expect("written");
        fs::rename(beside, raw.join(name)).expect("renamed");
    };
    let (key, mut ours, mut theirs) = (StoreKey::new(&["bench", "value"]), 0, 0);
    let mut rows = vec![row(
        "folder: put",
        || store.put(&key, &bytes(&mut ours, VALUE_BYTES)).expect("kept"),
        || write("value", &bytes(&mut theirs, VALUE_BYTES)),
    )];
    rows.push(row(
        "folder: get",
        || drop(store.get(&key).expect("read")),
        || drop(fs::read(raw.join("value")).expect("read")),
    ));
    rows.push(row(
        "folder: put blob",
        || _ = store.put_blob(&bytes(&mut ours, BLOB_BYTES)).expect("kept"),
        || {
            let bytes = bytes(&mut theirs, BLOB_BYTES);
            write(&theirs.to_string(), &bytes);
        },
    ));
    let name = store.put_blob(&bytes(&mut ours, BLOB_BYTES)).expect("kept");
    write("blob", &bytes(&mut theirs, BLOB_BYTES));
    rows.push(row(
        "folder: get blob",
        || drop(store.get_blob(&name).expect("read")),
        || drop(fs::read(raw.join("blob")).expect("read")),
    ));
    let lease = StoreKey::new(&["bench", "lease"]);
    rows.push(row(
        "folder: take and end a lease",
        || drop(store.acquire(&lease, "bench").expect("it answers").expect("it is free")),
        || {
            let mut file =
                File::options().write(true).create(true).truncate(true).open(raw.join("lease")).expect("a file");
            file.try_lock().expect("it is free");
            file.write_all(b"1\nbench\n").expect("written");
        },
    ));
    rows
}

fn redis_server(server: &RedisServer) -> Vec<Row> {
    let store: Box<dyn SharedStore> = open_store(&server.address, Some("bench")).expect("a store");
    let client = redis::Client::open(server.address.as_str()).expect("an address");
    let raw = std::cell::RefCell::new(client.get_connection().expect("it answers"));
    let ask = |command: &redis::Cmd| command.exec(&mut raw.borrow_mut()).expect("it answers");
    let (key, mut ours, mut theirs) = (StoreKey::new(&["bench", "value"]), 0, 0);
    let mut rows = vec![row(
        "redis: put",
        || store.put(&key, &bytes(&mut ours, VALUE_BYTES)).expect("kept"),
        || ask(redis::cmd("HSET").arg("raw:values").arg("value").arg(bytes(&mut theirs, VALUE_BYTES))),
    )];
    rows.push(row(
        "redis: get",
        || drop(store.get(&key).expect("read")),
        || ask(redis::cmd("HGET").arg("raw:values").arg("value")),
    ));
    rows.push(row(
        "redis: put blob",
        || _ = store.put_blob(&bytes(&mut ours, BLOB_BYTES)).expect("kept"),
        || {
            let bytes = bytes(&mut theirs, BLOB_BYTES);
            ask(redis::cmd("SET").arg(format!("raw:{theirs}")).arg(bytes));
        },
    ));
    let name = store.put_blob(&bytes(&mut ours, BLOB_BYTES)).expect("kept");
    ask(redis::cmd("SET").arg("raw:blob").arg(bytes(&mut theirs, BLOB_BYTES)));
    rows.push(row(
        "redis: get blob",
        || drop(store.get_blob(&name).expect("read")),
        || ask(redis::cmd("GET").arg("raw:blob")),
    ));
    let set = StoreKey::new(&["bench", "set"]);
    rows.push(row(
        "redis: add to a set",
        || {
            ours += 1;
            store.insert(&set, &ours.to_string()).expect("it answers");
        },
        || {
            theirs += 1;
            ask(redis::cmd("HSETNX").arg("raw:set").arg(theirs).arg(1));
        },
    ));
    let lease = StoreKey::new(&["bench", "lease"]);
    rows.push(row(
        "redis: take and end a lease",
        || drop(store.acquire(&lease, "bench").expect("it answers").expect("it is free")),
        || {
            ask(redis::cmd("SET").arg("raw:lease").arg("bench").arg("NX").arg("PX").arg(30_000));
            ask(redis::cmd("DEL").arg("raw:lease"));
        },
    ));
    rows
}

/// A server of its own, with the durability that fleets are told to have.
struct RedisServer {
    process: Child,
    address: String,
}

impl RedisServer {
    fn start(folder: &Path) -> Option<RedisServer> {
        let mut command = Command::new("redis-server");
        command.args(["--port", "0", "--save", "", "--appendonly", "yes", "--unixsocket", "socket"]);
        let process = command.current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).spawn().ok()?;
        let socket = folder.join("socket");
        let began = Instant::now();
        while std::os::unix::net::UnixStream::connect(&socket).is_err() && began.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(RedisServer { process, address: format!("redis+unix://{}", socket.display()) })
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// What is recorded of one slice: its CPU seconds, how much was new, and how many failures were.
type Slice = (f64, u64, u64);

/// What was recorded of one target, which goes on beyond its end: with as many slices that show something new in twice the slices as the
/// last half of the recorded ones had, as discoveries become rarer with the time that a search has taken.
struct Curve {
    slices: Vec<Slice>,
    /// Slices of the last half with something new.
    late_news: u32,
    /// The mean of the CPU seconds of that half.
    late_cpu_s: f64,
}

impl Curve {
    fn new(slices: Vec<Slice>) -> Curve {
        let late = &slices[slices.len() / 2..];
        let late_news = late.iter().map(|it| u32::from(it.1 > 0)).sum();
        let late_cpu_s = late.iter().map(|it| it.0).sum::<f64>() / late.len() as f64;
        Curve { slices, late_news, late_cpu_s }
    }

    fn slice(&self, number: usize) -> Slice {
        let news_before = |number: usize| {
            let doublings = (number as f64 / self.slices.len() as f64).log2();
            (f64::from(self.late_news) * doublings).floor()
        };
        let beyond = || {
            let is_news = news_before(number + 1) > news_before(number);
            (self.late_cpu_s, u64::from(is_news), 0)
        };
        self.slices.get(number).copied().unwrap_or_else(beyond)
    }

    fn has_failure(&self) -> bool {
        self.slices.iter().any(|it| it.2 > 0)
    }
}

/// CPU seconds of a fleet until the planted failure of each target is found, by yield beside an even split, over slices that
/// `bench/fleet/curves.py` has recorded.
pub(crate) fn division() -> Vec<Row> {
    let Ok(path) = std::env::var("FOZZY_BENCH_CURVES") else { return Vec::new() };
    let text = fs::read_to_string(path).expect("the curves");
    let mut curves: BTreeMap<u64, BTreeMap<&str, Vec<Slice>>> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [target, seed, cpu, news, failures] = words[..] else { panic!("five words: {line}") };
        let slice = (cpu.parse().expect("seconds"), news.parse().expect("a count"), failures.parse().expect("a count"));
        curves.entry(seed.parse().expect("a seed")).or_default().entry(target).or_default().push(slice);
    }
    let (mut ours, mut even) = (0.0, 0.0);
    let curves: Vec<Vec<Curve>> = curves.into_values().map(|of| of.into_values().map(Curve::new).collect()).collect();
    for seed in 0..20 {
        let targets = &curves[seed as usize % curves.len()];
        let mut division = TimeDivision::new(Seed(seed));
        let by_yield = time_to_failures(targets, |free, all| division.next(free, all).expect("some"));
        let split = time_to_failures(targets, |free, _| {
            let had = |place: &usize| free[*place].total_cpu_s;
            (0..free.len()).min_by(|left, right| had(left).total_cmp(&had(right))).expect("some")
        });
        (ours, even) = (ours + by_yield, even + split);
    }
    vec![Row::times(
        "fleet: time to each planted failure",
        &Pair::once(ours / 20.0, even / 20.0),
        Unit::Milliseconds,
        Bound::Ratio(0.6),
    )]
}

/// The mean of the CPU seconds after which the first failure of each target was found. A target has slices after that, too, as in a
/// fleet. Failures that no slice has found do not count, but their targets take their time.
fn time_to_failures(targets: &[Curve], mut next: impl FnMut(&[DiscoveryEstimate], (f64, usize)) -> usize) -> f64 {
    let mut estimates = vec![DiscoveryEstimate::default(); targets.len()];
    let mut left: BTreeSet<usize> = (0..targets.len()).filter(|place| targets[*place].has_failure()).collect();
    let (findable, mut now, mut sum) = (left.len().max(1), 0.0, 0.0);
    while !left.is_empty() {
        let target = next(&estimates, (now, targets.len()));
        let (cpu, news, failures) = targets[target].slice(estimates[target].slices as usize);
        now += cpu;
        estimates[target].observe(news, Duration::from_secs_f64(cpu));
        // As the records of a fleet say it: nobody mends one meanwhile.
        estimates[target].failures += failures;
        if failures > 0 && left.remove(&target) {
            sum += now;
        }
    }
    sum / findable as f64
}
