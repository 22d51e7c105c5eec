//! A store that is killed, cut off and left by killed workers at any moment: nothing that it had is gone, no failure is there twice, each
//! testcase is whole, and no execution is counted twice.
//!
//! ```text
//! fleets, one folder each ── TCP ─▶ proxy ── socket ─▶ redis-server
//!   SIGKILL                          cut                SIGKILL, started again on its file
//! ```
//!
//! The gate has a few of each; `FOZZY_TRUST=1000,50,50` (workers, servers, connections) says how many.

use super::{ONE_IN_SIXTEEN, PARTS, draws};
use crate::fozzy::Fozzy;
use crate::redis_server::RedisServer;
use crate::tier::{self, Requirement};
use crate::wait;
use fozzy_trace::Digest;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Fleets at a time.
const FLEETS: usize = 4;

/// Numbers that say when something is killed.
struct Moments(u64);

impl Moments {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// Passes connections on to a socket, until they are cut.
struct Proxy {
    port: u16,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Proxy {
    fn start(socket: std::path::PathBuf) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let open = Arc::new(Mutex::new(Vec::new()));
        let connections = Arc::clone(&open);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = UnixStream::connect(&socket) else { continue };
                let (Ok(mut from), Ok(mut back)) = (client.try_clone(), server.try_clone()) else { continue };
                let (Ok(mut to), Ok(kept)) = (server.try_clone(), client.try_clone()) else { continue };
                connections.lock().expect("no panic").push(kept);
                std::thread::spawn(move || {
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = server.shutdown(Shutdown::Both);
                });
                std::thread::spawn(move || {
                    let mut client = client;
                    let _ = std::io::copy(&mut back, &mut client);
                    let _ = client.shutdown(Shutdown::Both);
                });
            }
        });
        Proxy { port, open }
    }

    /// Cuts all that is open; whether anything was.
    fn cut(&self) -> bool {
        let open = std::mem::take(&mut *self.open.lock().expect("no panic"));
        open.iter().filter(|connection| connection.shutdown(Shutdown::Both).is_ok()).count() > 0
    }
}

/// What the server has, read without anything of ours.
struct Observer(BufReader<UnixStream>);

impl Observer {
    fn open(server: &RedisServer) -> Option<Observer> {
        let socket = UnixStream::connect(server.socket()).ok()?;
        socket.set_read_timeout(Some(Duration::from_secs(60))).ok()?;
        Some(Observer(BufReader::new(socket)))
    }

    /// The texts of an answer: one, or several.
    fn ask(&mut self, words: &[&str]) -> Option<Vec<Vec<u8>>> {
        let mut request = format!("*{}\r\n", words.len());
        words.iter().for_each(|word| request.push_str(&format!("${}\r\n{word}\r\n", word.len())));
        self.0.get_mut().write_all(request.as_bytes()).ok()?;
        self.answer()
    }

    fn answer(&mut self) -> Option<Vec<Vec<u8>>> {
        let mut line = String::new();
        self.0.read_line(&mut line).ok()?;
        let number = || line.get(1..)?.trim().parse::<i64>().ok();
        match line.as_bytes().first()? {
            b'*' => (0..number()?).map(|_| self.answer().map(|mut one| one.pop().unwrap_or_default())).collect(),
            b'$' if number()? < 0 => Some(Vec::new()),
            b'$' => {
                let (length, mut bytes) = (usize::try_from(number()?).ok()?, Vec::new());
                (&mut self.0).take(length as u64 + 2).read_to_end(&mut bytes).ok()?;
                bytes.truncate(length);
                (bytes.len() == length).then(|| vec![bytes])
            }
            // It reads its file yet.
            b'-' => None,
            _ => Some(vec![line.into_bytes()]),
        }
    }

    fn names(&mut self, words: &[&str]) -> Option<BTreeSet<String>> {
        Some(self.ask(words)?.into_iter().map(|name| String::from_utf8_lossy(&name).into_owned()).collect())
    }

    /// As if the time of a killed worker's leases had passed.
    fn end_leases_of(&mut self, pid: u32) -> Option<()> {
        for key in self.names(&["KEYS", "fozzy:shop:l:*"])? {
            let holder = self.ask(&["GET", &key])?.pop().unwrap_or_default();
            if String::from_utf8_lossy(&holder).contains(&format!("-{pid}-")) {
                self.ask(&["DEL", &key])?;
            }
        }
        Some(())
    }

    /// Testcases, failures and counts.
    fn look(&mut self) -> Option<CommittedRecords> {
        let mut seen = CommittedRecords::default();
        for key in self.names(&["KEYS", "fozzy:shop:v:*"])? {
            let kind = key.strip_prefix("fozzy:shop:v:")?.to_owned();
            let fields = self.names(&["HKEYS", &key])?;
            if kind.starts_with("corpus/") {
                seen.testcases.extend(fields);
            } else if let Some(of) = kind.strip_prefix("failures/") {
                let (state, target) = of.split_once('/')?;
                let rows = fields.into_iter().map(|name| (format!("{target} {name}"), state.to_owned()));
                rows.for_each(|(failure, state)| seen.failures.entry(failure).or_default().push(state));
            } else if kind == "targets" {
                for target in fields {
                    let record: Value = serde_json::from_slice(self.ask(&["HGET", &key, &target])?.first()?).ok()?;
                    let slices = record["estimate"]["slices"].as_u64()?;
                    seen.counts.insert(target, (slices, record["executions"].as_u64()?));
                }
            }
        }
        Some(seen)
    }
}

#[derive(Default)]
struct CommittedRecords {
    testcases: BTreeSet<String>,
    failures: BTreeMap<String, Vec<String>>,
    counts: BTreeMap<String, (u64, u64)>,
}

impl CommittedRecords {
    /// Takes a later look, which has all that this one has.
    fn later(&mut self, next: CommittedRecords) {
        let lost: Vec<_> = self.testcases.difference(&next.testcases).collect();
        assert!(lost.is_empty(), "testcases are gone: {lost:?}");
        for failure in self.failures.keys() {
            assert!(next.failures.contains_key(failure), "{failure} is gone");
        }
        for (target, before) in &self.counts {
            let now = next.counts[target];
            assert!(now.0 >= before.0 && now.1 >= before.1, "{target} had {before:?}, and has {now:?}");
        }
        *self = next;
    }
}

#[test]
fn killed_workers_a_killed_server_and_cut_connections_lose_and_double_nothing() {
    tier::require(Requirement::Redis);
    let asked = std::env::var("FOZZY_TRUST").unwrap_or_else(|_| "8,2,3".to_owned());
    let asked: Vec<u64> = asked.split(',').map(|number| number.parse().expect("numbers")).collect();
    let [mut kills, mut restarts, mut cuts] = asked[..] else { panic!("workers, servers, connections") };
    let all = kills;
    let mut server = RedisServer::start();
    let proxy = Proxy::start(server.socket());
    let address = format!("redis://127.0.0.1:{}/0?prefix=shop", proxy.port);
    let machines: Vec<Fozzy> = (0..FLEETS).map(|_| Fozzy::new()).collect();
    for machine in &machines {
        machine.write("fozzy.toml", "[store]\nruns = 100000\n");
        for number in 0..3 {
            machine.write(&format!("draws{number}.wat"), draws(ONE_IN_SIXTEEN));
            machine.write(&format!("parts{number}.wat"), PARTS);
        }
    }
    let words = |time: &str| -> Vec<String> {
        let words =
            ["fleet", "--project", "shop", "--store", &address, "--time", time, "--jobs", "2", "--no-dashboard"];
        words.map(str::to_owned).to_vec()
    };
    let mut moments = Moments(7);
    let mut seen = CommittedRecords::default();
    let mut fleets: Vec<Option<(Child, Instant, Duration)>> = (0..FLEETS).map(|_| None).collect();
    let mut next = Instant::now();
    while kills > 0 || restarts > 0 || cuts > 0 {
        for (machine, fleet) in machines.iter().zip(&mut fleets) {
            match fleet {
                None => {
                    let mut command = machine.command(crate::fozzy::binary());
                    command.args(words("5s")).stdin(std::process::Stdio::null());
                    command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
                    let lives = Duration::from_millis(200 + moments.below(5_000));
                    *fleet = Some((command.spawn().expect("it starts"), Instant::now(), lives));
                }
                Some((child, began, lives)) => {
                    if !wait::runs(child) {
                        *fleet = None;
                    } else if began.elapsed() > *lives {
                        child.kill().expect("it runs");
                        wait::exit(child);
                        Observer::open(&server).and_then(|mut observer| observer.end_leases_of(child.id()));
                        (*fleet, kills) = (None, kills.saturating_sub(1));
                    }
                }
            }
        }
        // The others are spread over the kills of workers.
        if Instant::now() >= next {
            next = Instant::now() + Duration::from_millis(300 + moments.below(500));
            let share = |left: u64, of: u64| left > 0 && left * all.max(1) >= kills * of;
            if share(restarts, asked[1]) {
                server.kill();
                server.restart();
                restarts -= 1;
            } else if share(cuts, asked[2]) {
                cuts -= u64::from(proxy.cut());
            }
            if let Some(look) = Observer::open(&server).and_then(|mut observer| observer.look()) {
                seen.later(look);
            }
        }
        let looked = Instant::now();
        wait::until("the next look", || looked.elapsed() > Duration::from_millis(10));
    }
    for (child, ..) in fleets.iter_mut().flatten() {
        child.kill().expect("it is there");
        wait::exit(child);
        Observer::open(&server).and_then(|mut observer| observer.end_leases_of(child.id())).expect("it answers");
    }
    // What they have left is brought by those that begin again.
    for machine in &machines {
        let ran = machine.run(&words("1500ms"));
        assert!(!ran.out().contains("not there yet"), "{}", ran.out());
    }
    let mut observer = Observer::open(&server).expect("it answers");
    seen.later(observer.look().expect("it answers"));
    assert!(!seen.testcases.is_empty() && !seen.failures.is_empty(), "nothing was found");
    for (failure, states) in &seen.failures {
        assert_eq!(states.len(), 1, "{failure} is in {states:?}");
    }
    for name in &seen.testcases {
        let bytes = observer.ask(&["GET", &format!("fozzy:shop:b:{name}")]).expect("it answers").pop();
        assert_eq!(
            bytes.map(|bytes| Digest::of(&bytes).to_string()).as_deref(),
            Some(&**name),
            "a testcase is not whole"
        );
    }
    // Executions of a target that is fuzzed are those of its runs, at most: a slice whose fleet was killed before it was kept is not counted.
    let runs = machines.iter().flat_map(|machine| fs::read_dir(machine.path(".fozzy/runs")).expect("runs").flatten());
    let reports =
        runs.filter_map(|run| serde_json::from_slice::<Value>(&fs::read(run.path().join("report.json")).ok()?).ok());
    let made: u64 = reports.filter_map(|report| report["fuzz"]["executions"].as_u64()).sum();
    let fuzzed = || seen.counts.iter().filter(|(name, _)| name.starts_with("parts")).map(|(_, counts)| counts);
    let (slices, counted): (u64, u64) = (fuzzed().map(|it| it.0).sum(), fuzzed().map(|it| it.1).sum());
    assert!(counted <= made && slices > 0, "{counted} of {made} executions are counted, of {slices} slices");
}
