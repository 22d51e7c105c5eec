//! `fozzy dashboard`: what a fleet has found, over HTTP and as files.
//!
//! ```text
//! this file           requests as bytes: who is answered, documents, traces, patches for git; an export
//! dashboard/walk.js   playwright in Debian's Chromium: every page, by mouse and keyboard, light, dark and narrow; names that are markup
//! ```
//!
//! Not here: what a fleet does (`fleet`), the guard by itself (unit tests of `fozzy-dashboard`).

use crate::corpus;
use crate::fozzy::{Fozzy, repository};
use crate::redis_server::RedisServer;
use crate::tier::{self, Requirement};
use crate::wait;
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// Traps for one byte in sixteen; reads the clock and takes memory, which both have faults.
const DRAWS: &str = r#"(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $clock (i32.const 0) (i64.const 0) (i32.const 72)))
    (drop (memory.grow (i32.const 1)))
    (drop (call $random (i32.const 64) (i32.const 1)))
    (if (i32.eqz (i32.and (i32.load8_u (i32.const 64)) (i32.const 15))) (then unreachable))))"#;

/// Traps at "f"; keeps a corpus.
const PARSE: &str = r#"(module
  (memory (export "memory") 1)
  (func (export "LLVMFuzzerTestOneInput") (param $at i32) (param $len i32) (result i32)
    (if (i32.gt_u (local.get $len) (i32.const 0))
      (then (if (i32.eq (i32.load8_u (local.get $at)) (i32.const 102)) (then unreachable))))
    (i32.const 0)))"#;

/// A name that would be markup, and would run a script.
const HOSTILE: &str = "<img src=x onerror=alert(1)>.wat";

/// Its faults: two that strike in most runs, and one on something of such a name, which is not there.
const FAULTS: &str = r#"
[[fault]]
kind = "clock-step"
rate = "60%"

[[fault]]
kind = "memory-full"
rate = "60%"

[[fault]]
kind = "write-error"
target = "/<b>"
"#;

/// The corpus of its fuzz target.
const CORPUS: &str = ".fozzy/corpora/parse.LLVMFuzzerTestOneInput";

/// A project on which a fleet has worked.
fn searched() -> Fozzy {
    let fozzy = Fozzy::new();
    fozzy.write(HOSTILE, DRAWS);
    fozzy.write(&HOSTILE.replace(".wat", ".plan.toml"), FAULTS);
    fozzy.write("parse.wat", PARSE);
    fozzy.write("library<b>.wat", "(component)");
    fozzy.write("torn.wat", "(module\n\t(func (export 1)))\n");
    let ran = fozzy.run(&["fleet", "--time", "3s", "--jobs", "2", "--no-dashboard"]).exits(1);
    assert!(!ran.err().contains("127.0.0.1"), "{}", ran.err());
    // A testcase of such a name, too.
    fozzy.write(&format!("{CORPUS}/<b>seed"), b"<b>hi\0\xff");
    fozzy
}

/// A dashboard that is served.
struct Served {
    child: Child,
    port: u16,
    token: String,
}

impl Served {
    fn of(mut child: Child, mut line: impl BufRead) -> Served {
        let mut said = String::new();
        line.read_line(&mut said).expect("text");
        let (address, token) = said.trim().split_once("/?token=").expect("an address with a token");
        let port = address.rsplit(':').next().and_then(|port| port.parse().ok()).expect("a port");
        assert!(wait::runs(&mut child), "it serves");
        Served { child, port, token: token.to_owned() }
    }

    fn start(fozzy: &Fozzy) -> Served {
        let mut child = fozzy.start(&["dashboard"]);
        let out = BufReader::new(child.stdout.take().expect("a pipe"));
        Served::of(child, out)
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Head and body of the answer to these lines.
    fn answer(&self, lines: &[&str]) -> (String, Vec<u8>) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let request = format!("{}\r\nConnection: close\r\n\r\n", lines.join("\r\n"));
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it answers");
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        (String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase(), bytes[end + 4..].to_vec())
    }

    /// With the token.
    fn get(&self, path: &str) -> (String, Vec<u8>) {
        let (host, bearer) = (format!("Host: {}", self.host()), format!("Authorization: Bearer {}", self.token));
        self.answer(&[&format!("GET {path} HTTP/1.1"), &host, &bearer])
    }

    /// Asks for the events, with the token.
    fn ask_for_events(&self) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        let (host, bearer) = (format!("Host: {}", self.host()), format!("Authorization: Bearer {}", self.token));
        let request = format!("GET /api/events HTTP/1.1\r\n{host}\r\n{bearer}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it reads");
        stream
    }

    /// The lines of the events.
    fn watch(&self) -> impl Iterator<Item = String> + use<> {
        BufReader::new(self.ask_for_events()).lines().map(|line| line.expect("text"))
    }

    fn document(&self, path: &str) -> Value {
        let (head, body) = self.get(path);
        assert!(head.starts_with("http/1.1 200") && head.contains("application/json"), "{head}");
        serde_json::from_slice(&body).expect("JSON")
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = wait::exit(&mut self.child);
    }
}

#[test]
fn who_has_the_token_reads_documents_traces_and_patches_and_nobody_else_anything() {
    let fozzy = searched();
    let served = Served::start(&fozzy);
    let host = format!("Host: {}", served.host());
    let cookie = format!("Cookie: fozzy-{}={}", served.port, served.token);
    let right = format!("GET /?token={} HTTP/1.1", served.token);
    for (lines, status) in [
        (vec!["GET / HTTP/1.1", &host], "401"),
        (vec!["GET /api/fleet HTTP/1.1", &host], "401"),
        (vec!["GET /api/events HTTP/1.1", &host], "401"),
        (vec!["GET /?token=00000000000000000000000000000000 HTTP/1.1", &host], "401"),
        (vec![right.as_str(), &host], "303"),
        (vec![right.as_str(), "Host: evil.example"], "403"),
        (vec!["GET /api/fleet HTTP/1.1", &host, &cookie], "200"),
        (vec!["GET /api/fleet HTTP/1.1", "Host: evil.example", &cookie], "403"),
        (vec!["POST /api/fleet HTTP/1.1", &host, &cookie], "405"),
        (vec!["DELETE /api/fleet HTTP/1.1", &host, &cookie], "405"),
        (vec!["GET /api/targets/../../../etc/passwd HTTP/1.1", &host, &cookie], "404"),
        (vec!["GET /failures/../store.json HTTP/1.1", &host, &cookie], "404"),
        (vec!["GET /runs/latest.html HTTP/1.1", &host, &cookie], "404"),
        (vec!["GET /targets/latest.html HTTP/1.1", &host, &cookie], "404"),
        (vec!["GET /api/targets/x/coverage HTTP/1.1", &host], "401"),
        (vec!["GET /api/targets/x/coverage HTTP/1.1", &host, &cookie], "404"),
        (vec!["GET /api/targets/x/causality HTTP/1.1", &host, &cookie], "404"),
        (vec!["GET /api/failures/--help/causality HTTP/1.1", &host, &cookie], "404"),
        (vec!["GET /api/targets/x/testcases/y HTTP/1.1", &host], "401"),
        (vec!["GET /api/targets/x/testcases/y HTTP/1.1", &host, &cookie], "404"),
        (vec!["GET /failures/../x.seed.patch HTTP/1.1", &host, &cookie], "404"),
    ] {
        let (head, body) = served.answer(&lines);
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{lines:?}: {head}");
        assert!(head.contains("content-security-policy: default-src 'none'"), "{head}");
        assert!(status == "200" || !String::from_utf8_lossy(&body).contains("schemaVersion"), "{lines:?}");
    }

    let fleet = served.document("/api/fleet");
    let mut collected = fozzy.run(&["fleet", "--collect", "--json"]).exits(1).json();
    collected["jobs"] = fleet["jobs"].clone();
    assert_eq!(fleet, collected, "the command and the page say the same");
    let parse = fleet["targets"].as_array().expect("a list").iter().find(|row| row["kind"] == "fuzz");
    let id = parse.expect("a fuzz target")["id"].as_str().expect("a text").to_owned();
    let target = served.document(&format!("/api/targets/{id}"));
    assert!(!target["history"].as_array().expect("a list").is_empty(), "{target:#}");
    let testcases = target["testcases"].as_array().expect("a list");
    assert!(!testcases.is_empty() && testcases[0]["begins"].is_string(), "{target:#}");
    assert_eq!(target["testcasesTotal"], testcases.len());
    let later = served.document(&format!("/api/targets/{id}?from=1"));
    assert_eq!(later["testcases"].as_array().map(|rows| rows.as_slice()), Some(&testcases[1..]));
    // A testcase, by a name that has to be written otherwise in an address; a file beside the corpus is none.
    let (head, bytes) = served.get(&format!("/api/targets/{id}/testcases/%3Cb%3Eseed"));
    assert!(head.starts_with("http/1.1 200") && head.contains("x-content-type-options: nosniff"), "{head}");
    assert!(head.contains("content-type: application/octet-stream") && head.contains("filename=\"_b_seed\""), "{head}");
    assert_eq!(bytes, b"<b>hi\0\xff");
    for name in ["..%2f..%2f..%2fparse.wat", "%2e%2e", "%2fetc%2fpasswd", "x%00", "x%0d%0aset-cookie:a"] {
        let (head, _) = served.get(&format!("/api/targets/{id}/testcases/{name}"));
        assert!(head.starts_with("http/1.1 404"), "{name}: {head}");
    }
    assert!(!served.document("/api/runs").as_array().expect("a list").is_empty());

    // What goes with the failure of a fuzz target: its trace beside the inputs of its corpus.
    let failures = fleet["failures"].as_array().expect("a list");
    let of_parse = |row: &&Value| row["target"].as_str().is_some_and(|name| name.starts_with("parse.wat"));
    let failure = failures.iter().find(of_parse).expect("it has failed");
    assert_eq!(failure["measures"], serde_json::json!(["suspects"]), "its input decides it");
    let trace = failure["trace"].as_str().expect("a digest");
    let suspects = served.document(&format!("/api/failures/{trace}/suspects"));
    assert_eq!((&suspects["failing"], &suspects["suspects"][0]["score"]), (&1.into(), &1.0.into()), "{suspects:#}");

    // A failure: its trace, its page, and a patch that git makes the trace of.
    let trace = fleet["failures"][0]["trace"].as_str().expect("a digest");
    let (_, bytes) = served.get(&format!("/failures/{trace}.fozzy"));
    fozzy.write("got.fozzy", &bytes);
    fozzy.run(&["trace", "verify", "got.fozzy"]).exits(0);
    // A trace from elsewhere among the runs, with its page.
    fozzy.run(&["dashboard", "got.fozzy", "--export", "more"]).exits(0);
    let runs: Value = serde_json::from_slice(&fozzy.read("more/api/runs.json")).expect("JSON");
    assert_eq!((&runs[0]["tracePath"], &runs[0]["sequence"]), (&Value::from("got.fozzy"), &Value::from(0)), "{runs:#}");
    fozzy.run(&["dashboard", ".", "parse.wat", "--export", "more"]).exits(2).refuses(&["one folder or file"]);
    fozzy.run(&["dashboard", "no.fozzy", "--export", "more"]).exits(2).refuses(&["no.fozzy"]);
    // One that is damaged is left out, and said; the rest is written. No page is made of it.
    let blob = fleet["failures"][0]["tracePath"].as_str().expect("a file");
    fozzy.write(blob, &fozzy.read("got.fozzy")[..20]);
    let said = fozzy.run(&["dashboard", "--export", "partial"]).exits(2).out();
    assert!(said.contains("wrote partial/index.html") && said.contains(trace) && said.contains("damaged"), "{said}");
    let partial: Value = serde_json::from_slice(&fozzy.read("partial/api/fleet.json")).expect("JSON");
    assert!(partial["warnings"][0].as_str().is_some_and(|note| note.contains(trace)), "{partial:#}");
    let page = fozzy.read("partial/index.html");
    assert!(String::from_utf8_lossy(&page).contains("is written without its trace"), "the page says it");
    let is_there = |trace: &str| fozzy.path(&format!("partial/failures/{trace}.fozzy")).exists();
    let all = fleet["failures"].as_array().expect("a list").iter().filter_map(|row| row["trace"].as_str());
    all.for_each(|other| assert_eq!(is_there(other), other != trace, "{other}"));
    let (head, _) = served.get(&format!("/failures/{trace}.html"));
    assert!(head.starts_with("http/1.1 503"), "{head}");
    fozzy.write(blob, &bytes);
    let (_, patch) = served.get(&format!("/failures/{trace}.patch"));
    fozzy.write("got.patch", patch);
    fozzy.shell("mkdir applied && cd applied && git init -q && git apply ../got.patch").exits(0);
    assert_eq!(fozzy.read(&format!("applied/regressions/{}.fozzy", &trace[..12])), bytes);
    // The input of the other one, as a testcase.
    let failures = fleet["failures"].as_array().expect("a list");
    let parse = failures.iter().find(|row| row["patches"] == serde_json::json!(["regression", "seed"]));
    let name = parse.expect("the fuzz target has failed")["trace"].as_str().expect("a digest");
    let (_, patch) = served.get(&format!("/failures/{name}.seed.patch"));
    fozzy.write("seed.patch", patch);
    fozzy.shell("cd applied && git apply ../seed.patch").exits(0);
    let mut added = std::fs::read_dir(fozzy.path(&format!("applied/{CORPUS}"))).expect("the folder of the corpus");
    let input = std::fs::read(added.next().expect("a file").expect("a name").path()).expect("an input");
    assert!(input.starts_with(b"f") && added.next().is_none(), "{input:?}");
    let explored = failures.iter().find(|row| row["patches"] == serde_json::json!(["regression"]));
    let name = explored.expect("the other target has failed")["trace"].as_str().expect("a digest");
    let (head, _) = served.get(&format!("/failures/{name}.seed.patch"));
    assert!(head.starts_with("http/1.1 404"), "its decisions are no input: {head}");
    let (head, page) = served.get(&format!("/failures/{trace}.html"));
    assert!(head.starts_with("http/1.1 200") && head.contains("sandbox allow-scripts"), "{head}");
    assert!(String::from_utf8_lossy(&page).contains("unreachable"), "the page has the story");
    let (head, _) = served.get(&format!("/failures/{}.html", "0".repeat(64)));
    assert!(head.starts_with("http/1.1 404"), "{head}");

    // A machine without the corpus has what the fleets share, and a trace is no testcase.
    std::fs::rename(fozzy.path(".fozzy/corpora"), fozzy.path("elsewhere")).expect("it moves");
    let target = served.document(&format!("/api/targets/{id}"));
    let name = target["testcases"][0]["name"].as_str().expect("the store has one");
    assert!(target.get("corpusPath").is_none(), "{target:#}");
    let (head, bytes) = served.get(&format!("/api/targets/{id}/testcases/{name}"));
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert_eq!(target["testcases"][0]["size"], bytes.len());
    let (head, _) = served.get(&format!("/api/targets/{id}/testcases/{trace}"));
    assert!(head.starts_with("http/1.1 404"), "{head}");

    // A folder that is moved is no store in which nothing was found.
    std::fs::rename(fozzy.path(".fozzy/fleet"), fozzy.path("moved")).expect("it moves");
    let (head, _) = served.get("/api/fleet");
    assert!(head.starts_with("http/1.1 503"), "{head}");
    let first = served.watch().find(|line| line.starts_with("event: "));
    assert_eq!(first.as_deref(), Some("event: away"));
}

#[test]
fn a_fleet_serves_while_it_works_and_bad_requests_are_refused_by_name() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", DRAWS);
    fozzy.run(&["dashboard"]).exits(2).refuses(&["no fleet has worked here"]);
    // Pages beside no worker, of a store that nobody has worked on yet.
    let mut child = fozzy.start(&["fleet", "--dashboard-only"]);
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let only = Served::of(child, out);
    assert_eq!(only.document("/api/fleet")["workers"], serde_json::json!([]));
    let mut child = fozzy.start(&["fleet", "--time", "60s"]);
    let mut err = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut said = Vec::new();
    err.read_until(b'h', &mut said).expect("text");
    let served = Served::of(child, err);
    // Those who watch hear what is found meanwhile, by this process or by another.
    for served in [&served, &only] {
        let is_found = |line: String| line.starts_with("data: ") && line.contains("unreachable");
        assert!(served.watch().any(is_found), "the failure is told");
    }
    // Its port is taken.
    let port = served.port.to_string();
    fozzy.run(&["dashboard", "--port", &port]).exits(2).refuses(&["cannot listen on", &port]);
    let taken = ["fleet", "--time", "1s", "--dashboard-port", &port];
    fozzy.run(&taken).exits(2).refuses(&["cannot listen on"]);
}

/// Browsers that a dashboard has at a time.
const WATCHERS_MAX: usize = 64;

/// That such a browser is cut off after half a minute is a unit test.
#[test]
fn browsers_that_never_read_hold_nothing_up() {
    let fozzy = Fozzy::new();
    fozzy.write("draws.wat", DRAWS);
    let mut child = fozzy.start(&["fleet", "--time", "8s", "--json"]);
    let err = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut served = Served::of(child, err);
    let deaf: Vec<TcpStream> = (1..WATCHERS_MAX).map(|_| served.ask_for_events()).collect();
    // One who reads hears all the same, and there is room for no further one.
    let mut heard = served.watch();
    assert!(heard.any(|line| line.starts_with("data: ") && line.contains("unreachable")), "the failure is told");
    let refused = served.watch().find(|line| line.contains("browsers watch already"));
    assert!(refused.is_some_and(|line| line.starts_with(&WATCHERS_MAX.to_string())));
    let memory = std::fs::read_to_string(format!("/proc/{}/status", served.child.id())).expect("it runs");
    let peak = memory.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the most memory that it had");
    let kib: u64 = peak.trim().trim_end_matches(" kB").parse().expect("a number");
    assert!(kib < 1 << 19, "{kib} KiB of memory");
    let mut out = String::new();
    served.child.stdout.take().expect("a pipe").read_to_string(&mut out).expect("text");
    let document: Value = serde_json::from_str(&out).expect("it ends in its time, with its document");
    assert!(document["slices"].as_u64() > Some(1), "{document:#}");
    drop(deaf);
}

#[test]
fn who_watches_hears_that_the_store_is_away_and_that_it_is_back() {
    tier::require(Requirement::Redis);
    let (mut server, fozzy) = (RedisServer::start(), Fozzy::new());
    fozzy.write("draws.wat", DRAWS);
    let address = server.address();
    let mut child = fozzy.start(&["fleet", "--dashboard-only", "--project", "shop", "--store", &address]);
    let out = BufReader::new(child.stdout.take().expect("a pipe"));
    let served = Served::of(child, out);
    server.kill();
    let (head, why) = served.get("/api/fleet");
    assert!(head.starts_with("http/1.1 503"), "{head}");
    let why = String::from_utf8_lossy(&why).trim().to_owned();
    let mut lines = served.watch();
    let mut heard = |event: &str| {
        lines.find(|line| *line == format!("event: {event}")).expect("it goes on");
        lines.next().expect("what is told")
    };
    let away = heard("away");
    assert_eq!(serde_json::from_str(&away["data: ".len()..]).ok(), Some(why), "{away}");
    server.restart();
    assert!(heard("fleet").contains("draws.wat"));
}

#[test]
fn every_page_works_in_a_browser() {
    let modules = corpus::browser();
    let fozzy = searched();
    let exported = fozzy.run(&["dashboard", "--export", "site", "--execute"]).exits(0).out();
    assert!(exported.contains("site/index.html"), "{exported}");
    let served = Served::start(&fozzy);
    let script = repository().join("tests/dashboard/walk.js");
    let url = format!("http://{}/?token={}", served.host(), served.token);
    let site = format!("file://{}", fozzy.path("site/index.html").display());
    let mut node = Command::new("node");
    node.arg(script).arg(url).arg(site).arg(HOSTILE).current_dir(fozzy.path("."));
    let output = wait::run(node.env("NODE_PATH", modules).stdin(Stdio::null()));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let expected = "served: light, dark, narrow\nexported: light, dark, narrow\n";
    assert_eq!(out, expected, "{err}");
}
