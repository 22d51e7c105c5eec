//! The real computer, captured once and gone afterwards: what the command line promises about live backends.
//!
//! ```text
//! fozzy run --http-backend host --record live.fozzy     a server on loopback answers
//!   the server stops, the program is uninstalled, the directory is deleted
//! fozzy replay live.fozzy                               the same run, in another folder, without a search path
//! ```
//!
//! Each answer of the real computer here changes when it is asked again, so a replay that asked would be another run.
//! Not here: what each backend does with each operation (`fozzy-live`), captures through the engine (`processes`).

mod server;

use crate::bad_input::forge;
use crate::corpus::{self, Target};
use crate::fozzy::{Fozzy, Ran, binary};
use crate::wait;
use fozzy_plan::PlanFile;
use fozzy_trace::Digest;
use serde_json::{Value, json};
use server::Server;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The name of the recorded trace in every folder here.
const TRACE: &str = "live.fozzy";

fn words<'a>(words: &[&'a str], guest: &'a Path, rest: &[&'a str]) -> Vec<&'a str> {
    let guest = guest.to_str().expect("a plain path");
    ["run", guest, "--det", "--json"].iter().chain(words).chain(&["--"]).chain(rest).copied().collect()
}

/// What the program wrote; nothing when that is no text.
fn text(summary: &Value) -> &str {
    summary["output"]["stdout"]["text"].as_str().unwrap_or_default()
}

fn http_client() -> PathBuf {
    corpus::component("http-client")
}

/// Everything that a trace holds, unpacked: what somebody finds in it who looks.
fn contents(trace: &[u8]) -> Vec<(String, Vec<u8>)> {
    let unpacked = |(name, bytes): (String, Vec<u8>)| match name.strip_suffix(".zst") {
        Some(plain) => (plain.to_owned(), zstd::decode_all(&*bytes).expect("zstd, as its name says")),
        None => (name, bytes),
    };
    forge::unpack(trace).into_iter().map(unpacked).collect()
}

/// Whether `part` stands anywhere in the trace but in the program itself.
fn holds(trace: &[u8], part: &str) -> bool {
    let found = |bytes: &[u8]| bytes.windows(part.len()).any(|window| window == part.as_bytes());
    found(trace) || contents(trace).iter().any(|(name, bytes)| name != "component.wasm" && found(bytes))
}

/// Asserts that a folder with nothing but the trace is enough to have the recorded run again.
#[track_caller]
fn replays(trace: &[u8], recorded: &Value) {
    let elsewhere = Fozzy::new();
    elsewhere.write(TRACE, trace);
    let verified = elsewhere.run(&["trace", "verify", TRACE, "--strict", "--json"]).exits(0).json();
    assert_eq!((&verified["ok"], &verified["checksumValid"]), (&json!(true), &json!(true)), "{verified:#}");
    let args = ["replay", TRACE, "--json"];
    let output = wait::run(elsewhere.command(binary()).args(args).env("PATH", ""));
    let replayed = Ran::of(&args, output).json();
    assert_eq!(replayed["replay"]["equal"], json!(true), "{replayed:#}");
    for key in ["status", "exitCode", "output", "historyDigest", "memoryDigest", "virtualTimeNs", "calls", "decisions"]
    {
        assert_eq!(replayed[key], recorded[key], "{key}");
    }
    assert_eq!(elsewhere.names(), [TRACE], "a replay writes nothing");
}

/// Asserts that a replay went another way, and that it shows both sides.
#[track_caller]
fn diverges(ran: Ran, recorded: &str, asked: &str) {
    let summary = ran.exits(2).json();
    assert_eq!((&summary["status"], &summary["replay"]["equal"]), (&json!("error"), &json!(false)), "{summary:#}");
    let messages: Vec<&str> =
        summary["findings"].as_array().into_iter().flatten().filter_map(|found| found["message"].as_str()).collect();
    let side = |word: &str, part: &str| {
        messages.iter().flat_map(|message| message.lines()).any(|line| line.starts_with(word) && line.contains(part))
    };
    assert!(side("recorded ", recorded) && side("asked ", asked), "{messages:#?}");
    let shown = messages.iter().flat_map(|message| message.lines()).filter(|line| line.contains(recorded)).count();
    assert_eq!(shown, 1, "both sides are shown once: {messages:#?}");
}

#[test]
fn http_replays_when_the_server_has_stopped() {
    const TOKEN: &str = "s3cr3t-of-the-api";
    let server = Server::start();
    let fozzy = Fozzy::new();
    // It names no headers: those that hold secrets everywhere are known.
    fozzy.write("plan.toml", "[redact]\nenv = [\"TOKEN\"]\n");
    let guest = http_client();
    let live = ["--http-backend", "host", "--plan", "plan.toml", "--env", &format!("TOKEN={TOKEN}"), "--record", TRACE];
    let (orders, missing) = (server.url("/orders?page=1"), server.url("/missing"));
    // What the guest finds in its environment, and sends.
    let secret = "authorization: Bearer <redacted:TOKEN>";
    let sent = ["--header", secret, "--header", "x-client: probe", "--body", "two\nlines", &orders, &missing];
    let recorded = fozzy.run(&words(&live, &guest, &sent)).exits(0).json();
    let shown = text(&recorded);
    assert!(shown.contains("200 OK\n") && shown.contains("404 Not Found\n"), "{shown}");
    assert!(shown.contains("x-count: 1\n") && shown.contains("x-count: 2\n"), "{shown}");
    assert!(shown.contains("set-cookie: sid=<redacted:set-cookie:1>; Path=/\n"), "{shown}");
    assert!(shown.contains("you said two\nlines with Bearer <redacted:TOKEN>"), "{shown}");

    let (port, requests) = server.stop();
    assert_eq!(requests.len(), 2);
    assert!(requests[0].starts_with("POST /orders?page=1 HTTP/1.1\r\n"), "{}", requests[0]);
    assert!(requests[0].contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{}", requests[0]);
    assert!(std::net::TcpStream::connect(("127.0.0.1", port)).is_err(), "nobody listens any more");
    let trace = fozzy.read(TRACE);
    replays(&trace, &recorded);
    for secret in [TOKEN, server::COOKIE] {
        assert!(!holds(&trace, secret), "{secret} is in the trace");
        let kept = fozzy.shell(&format!("! grep -r {secret} ."));
        assert!(kept.code == Some(0), "{kept}");
    }
    assert!(holds(&trace, "x-client"), "the search finds what is there");

    // The same program, told to ask for something else.
    let mut entries = forge::unpack(&trace);
    let plan = forge::entry(&mut entries, "plan.json");
    *plan = String::from_utf8(plan.clone()).expect("JSON").replace("/orders?page=1", "/orders?page=2").into_bytes();
    fozzy.write("other.fozzy", forge::pack(entries));
    diverges(fozzy.run(&["replay", "other.fozzy", "--json"]), "/orders?page=1", "/orders?page=2");
}

#[test]
fn a_server_that_does_not_answer_is_recorded_too() {
    let server = Server::start();
    let fozzy = Fozzy::new();
    let (cut, garbage) = (server.url("/cut"), server.url("/garbage"));
    let guest = http_client();
    let live = ["--http-backend", "host", "--record", TRACE];
    let closed = Server::start();
    let nobody = closed.url("/");
    closed.stop();
    let recorded = fozzy.run(&words(&live, &guest, &[&cut, &garbage, &nobody])).json();
    server.stop();
    let failed = text(&recorded).matches("failed: ").count();
    assert_eq!((failed, &recorded["exitCode"]), (3, &json!(1)), "{recorded:#}");
    assert!(text(&recorded).contains("ConnectionRefused"), "{recorded:#}");
    replays(&fozzy.read(TRACE), &recorded);
}

#[test]
fn files_replay_when_the_directory_is_deleted() {
    let fozzy = Fozzy::new();
    let folder = fozzy.path("work");
    let bytes: Vec<u8> = (0..=u8::MAX).collect();
    for target in Target::ALL {
        let guest = corpus::probe(target);
        for (args, code, shows) in [
            (&["files", "."][..], 0, "removed  true\n"),
            (&["ls", "."], 0, "entry    file bytes\nentry    folder inner\nentry    file link\n"),
            (&["read", "bytes"], 0, ""),
            (&["stat", "bytes"], 0, "256 bytes\n"),
            (&["write", "inner/new", "some words"], 0, "wrote 10 bytes\n"),
            (&["read", "../outside"], 1, ""),
            (&["read", "link"], 1, ""),
            (&["read", "/etc/passwd"], 1, ""),
        ] {
            fs::create_dir_all(folder.join("inner")).expect("the folder is ours");
            fs::write(folder.join("bytes"), &bytes).expect("the folder is ours");
            fozzy.write("outside", "nobody may read this");
            std::os::unix::fs::symlink("../outside", folder.join("link")).expect("the folder is ours");
            let live = ["--cwd", "work", "--fs-backend", "host", "--record", "../live.fozzy"];
            let live = [&live[..], &["--record-collision", "overwrite"]].concat();
            let recorded = fozzy.run(&words(&live, &guest, args)).exits(code).json();
            assert!(text(&recorded).contains(shows), "{args:?}: {recorded:#}");
            if args == ["read", "bytes"] {
                let written = &recorded["output"]["stdout"];
                assert_eq!(written["sha256"], json!(Digest::of(&bytes)), "{recorded:#}");
            }
            if args[0] == "write" {
                assert_eq!(fs::read(folder.join("inner/new")).expect("written"), b"some words");
            }
            fs::remove_dir_all(&folder).expect("the folder is ours");
            let trace = fozzy.read(TRACE);
            assert!(!holds(&trace, "nobody may read this"), "{args:?}");
            replays(&trace, &recorded);
        }
    }
}

#[test]
fn the_run_store_is_not_among_the_files() {
    let fozzy = Fozzy::new();
    let guest = corpus::probe(Target::Wasip2);
    let live = ["--fs-backend", "host"];
    fozzy.run(&words(&live, &guest, &["write", "mine", "words"])).exits(0);
    fozzy.run(&words(&live, &guest, &["ls", "missing"])).exits(1);
    assert!(fozzy.path(".fozzy/runs/sequence").exists(), "two runs are kept");
    let listed = fozzy.run(&words(&live, &guest, &["ls", "."])).exits(0).json();
    assert!(text(&listed).contains("mine") && !text(&listed).contains(".fozzy"), "{listed:#}");
    fozzy.run(&words(&live, &guest, &["read", ".fozzy/runs/sequence"])).exits(1);
    fozzy.run(&words(&live, &guest, &["write", ".fozzy/runs/sequence", "0"])).exits(1);

    fozzy.write("fozzy.toml", "base_dir = \"kept\"\n");
    fozzy.run(&words(&live, &guest, &["ls", "."])).exits(0);
    assert!(fozzy.path("kept/runs/sequence").exists(), "the run is kept there");
    let listed = fozzy.run(&words(&live, &guest, &["ls", "."])).exits(0).json();
    assert!(text(&listed).contains(".fozzy") && !text(&listed).contains("kept"), "{listed:#}");
}

#[test]
fn a_secret_is_one_wherever_the_sandbox_is_given_it() {
    const TOKEN: &str = "s3cr3t-of-the-tool";
    let fozzy = Fozzy::new();
    fozzy.write("plan.toml", "[redact]\nenv = [\"TOKEN\"]\n");
    let guest = corpus::commands();
    let (token, copy) = (format!("TOKEN={TOKEN}"), format!("COPY=Bearer {TOKEN}"));
    let given = ["--plan", "plan.toml", "--env", &token, "--env", &copy, "--record", TRACE];
    let own = fozzy.run(&words(&given, &guest, &["own", &format!("--token={TOKEN}")])).exits(0).json();
    assert!(text(&own).contains(r#"args ["--token=<redacted:TOKEN>"]"#), "{own:#}");
    assert!(text(&own).contains("COPY=Bearer <redacted:TOKEN>"), "{own:#}");
    replays(&fozzy.read(TRACE), &own);
    assert!(!holds(&fozzy.read(TRACE), TOKEN), "the trace holds it");

    let live = [&given[..], &["--record-collision", "overwrite", "--proc-backend", "host"]].concat();
    let script = "printf %s \"$0\" > got; echo \"it is $0\"";
    let ran = fozzy.run(&words(&live, &guest, &["run", "sh", "-c", script, TOKEN])).exits(0).json();
    assert_eq!(fozzy.read("got"), TOKEN.as_bytes(), "the real computer is given it");
    assert!(text(&ran).contains("it is <redacted:TOKEN>"), "{ran:#}");
    assert!(!holds(&fozzy.read(TRACE), TOKEN), "the trace holds it");
    assert!(fozzy.shell(&format!("rm got; ! grep -r {TOKEN} .")).code == Some(0), "it is kept somewhere");
}

#[test]
fn a_secret_comes_back_in_no_notation() {
    const TOKEN: &str = "s3cr3t/of \"the\" api?";
    let server = Server::start();
    let fozzy = Fozzy::new();
    fozzy.write("plan.toml", "[redact]\nenv = [\"TOKEN\"]\n");
    fs::create_dir(fozzy.path("data")).expect("the folder is ours");
    fozzy.write("data/notes", server::notations(TOKEN));
    let (guest, token) = (http_client(), format!("TOKEN={TOKEN}"));
    let live = ["--http-backend", "host", "--plan", "plan.toml", "--env", &token, "--record", TRACE];
    let notations = server.url("/notations");
    let sent = ["--header", "authorization: Bearer <redacted:TOKEN>", &notations];
    let ran = fozzy.run(&words(&live, &guest, &sent)).exits(0);
    assert!(ran.err().contains("--allow-host"), "whom secrets are given to is said: {ran}");
    let recorded = ran.json();
    let (_, requests) = server.stop();
    assert!(requests[0].contains(&format!("authorization: Bearer {TOKEN}\r\n")), "{}", requests[0]);
    let trace = fozzy.read(TRACE);
    replays(&trace, &recorded);

    // The same text in a directory that is captured, in standard input, and in a live file.
    let probe = corpus::probe(Target::Wasip2);
    let given = ["--plan", "plan.toml", "--env", &token, "--record-collision", "overwrite", "--record", TRACE];
    let captured =
        fozzy.run(&words(&[&given[..], &["--dir", "data::/"]].concat(), &probe, &["read", "notes"])).exits(0);
    let of_capture = (fozzy.read(TRACE), captured.json());
    replays(&of_capture.0, &of_capture.1);
    let read = fozzy.run(&words(&[&given[..], &["--fs-backend", "host"]].concat(), &probe, &["read", "data/notes"]));
    let of_file = (fozzy.read(TRACE), read.exits(0).json());
    replays(&of_file.0, &of_file.1);
    for (trace, summary) in [(trace, recorded), of_capture, of_file] {
        let shown = text(&summary);
        for part in std::iter::once(TOKEN.to_owned()).chain(server::notations(TOKEN).lines().map(str::to_owned)) {
            assert!(!shown.contains(&part), "{part} is in the output: {shown}");
            assert!(!holds(&trace, &part), "{part} is in the trace");
            assert!(!summary.to_string().contains(&part), "{part} is in the report");
        }
    }
}

#[test]
fn hosts_that_are_not_named_are_not_asked() {
    const TOKEN: &str = "s3cr3t-of-the-api";
    let (one, other) = (Server::start(), Server::start());
    let fozzy = Fozzy::new();
    fozzy.write("plan.toml", "[redact]\nenv = [\"TOKEN\"]\n");
    let guest = http_client();
    let host = one.url("").replace("http://", "");
    let (moved, elsewhere) = (one.url("/moved"), other.url("/stolen"));
    let (token, to) = (format!("TOKEN={TOKEN}"), format!("x-to: {elsewhere}"));
    let live = ["--http-backend", "host", "--plan", "plan.toml", "--env", &token, "--record", TRACE];
    let sent = ["--header", "authorization: Bearer <redacted:TOKEN>", "--header", &to, &moved, &elsewhere];
    let allowed = ["--allow-host", "unused.test", "--allow-host", &host, "--allow-host", &host];
    let refused = fozzy.run(&words(&[&live[..], &allowed].concat(), &guest, &sent)).exits(1);
    let summary = refused.json();
    assert!(text(&summary).contains("302 Found") && text(&summary).contains("HttpRequestDenied"), "{summary:#}");
    let found = summary["findings"].to_string();
    assert!(found.contains("--allow-host 127.0.0.1:") && found.contains("/stolen"), "{found}");
    replays(&fozzy.read(TRACE), &summary);

    // The same from the configuration; an empty list names no host, and a flag takes its place.
    fozzy.write("fozzy.toml", "allow_host = []\nhttp_backend = \"host\"\n");
    let kept = fozzy.run(&words(&live[2..6], &guest, &[&moved])).exits(1).json();
    assert!(text(&kept).contains("HttpRequestDenied"), "{kept:#}");
    fozzy.run(&words(&["--allow-host", "*"], &guest, &[&moved])).exits(0);
    // Who bounds commands alone has trusted no host with secrets.
    let commands = ["--allow-command", "git", "--allow-host", "127.0.0.1"];
    let bare = [&live[2..6], &commands[..2], &["--config", "none.toml", "--http-backend", "host"]].concat();
    fozzy.run(&words(&bare, &guest, &sent[..5])).exits(0);
    let (_, requests) = one.stop();
    let given: Vec<bool> = requests.iter().map(|request| request.contains(TOKEN)).collect();
    assert_eq!(given, [true, false, false], "{requests:#?}");
    assert_eq!(other.stop().1, Vec::<String>::new(), "nobody asks it");
}

#[test]
fn commands_that_are_not_named_are_not_run() {
    const TOKEN: &str = "s3cr3t-of-the-tool";
    let fozzy = Fozzy::new();
    fozzy.write("plan.toml", "[redact]\nenv = [\"TOKEN\"]\n");
    let (guest, token) = (corpus::commands(), format!("TOKEN={TOKEN}"));
    let live = ["--proc-backend", "host", "--plan", "plan.toml", "--env", &token];
    let script = ["run", "sh", "-c", "printf %s \"$0\" >> got", TOKEN];
    let run = |flags: &[&str]| fozzy.run(&words(&[&live[..], flags].concat(), &guest, &script));
    let refused = run(&["--allow-command", "git", "--allow-command", "/bin/sh"]).exits(1).json();
    assert!(text(&refused).contains("NotPermitted"), "{refused:#}");
    assert!(refused["findings"].to_string().contains("--allow-command sh"), "{refused:#}");
    assert!(!fozzy.path("got").exists(), "it is not run");
    run(&["--allow-command", "sh"]).exits(0);
    assert_eq!(fozzy.read("got"), TOKEN.as_bytes(), "who is named is given secrets");
    run(&["--allow-host", "api.test"]).exits(0);
    assert_eq!(fozzy.read("got"), format!("{TOKEN}<redacted:TOKEN>").as_bytes(), "any command could tell any host");
}

#[test]
fn what_names_nobody_is_refused_and_short_secrets_are_warned_of() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", "(module (memory (export \"memory\") 1) (func (export \"_start\")))");
    for (flag, word) in [
        ("--allow-host", "http://api.test/"),
        ("--allow-host", ""),
        ("--allow-host", "a*b"),
        ("--allow-host", "api.test:0"),
        ("--allow-host", "[::1"),
        ("--allow-command", ""),
        ("--allow-command", "*"),
        ("--allow-command", "../sh"),
        ("--live-durations", "slow"),
    ] {
        let refused = fozzy.run(&["run", "tiny.wat", &format!("{flag}={word}")]).exits(2);
        assert!(refused.err().contains(flag), "{flag}={word}: {refused}");
    }
    for (key, word) in [("allow_host", "a/b"), ("allow_command", "a/../b")] {
        fozzy.write("fozzy.toml", format!("{key} = [\"{word}\"]\n"));
        fozzy.run(&["run", "tiny.wat"]).refuses(&[key, word]);
    }
    fozzy.write("fozzy.toml", "");
    fozzy.write("plan.toml", "[redact]\nenv = [\"PIN\"]\n[backends]\nallow-hosts = [\"a b\"]\n");
    fozzy.run(&["run", "tiny.wat", "--plan", "plan.toml"]).refuses(&["plan.toml:4", "allow-hosts"]);
    fozzy.write("plan.toml", "[redact]\nenv = [\"PIN\"]\n");
    let ran = fozzy.run(&["run", "tiny.wat", "--plan", "plan.toml", "--env", "PIN=123"]).exits(0);
    assert!(ran.err().contains("PIN") && ran.err().contains("4 bytes or more"), "{ran}");
    let ran = fozzy.run(&["run", "tiny.wat", "--plan", "plan.toml", "--env", "PIN=1234"]).exits(0);
    assert!(!ran.err().contains("PIN"), "{ran}");
}

#[test]
fn a_slow_answer_is_slow_in_virtual_time() {
    let fozzy = Fozzy::new();
    let guest = corpus::commands();
    let run = |flags: &[&str]| {
        let live = [&["--proc-backend", "host", "--record-collision", "overwrite", "--record", TRACE], flags].concat();
        let recorded = fozzy.run(&words(&live, &guest, &["run", "sh", "-c", "sleep 0.4"])).exits(0).json();
        replays(&fozzy.read(TRACE), &recorded);
        recorded["virtualTimeNs"].as_u64().expect("a number")
    };
    // Drawn, it is 51 ms at the most.
    assert!(run(&[]) >= 400_000_000);
    assert!(run(&["--live-durations", "drawn"]) < 100_000_000);
    fozzy.write("fozzy.toml", "live_durations = \"drawn\"\n");
    assert!(run(&[]) < 100_000_000);
    assert!(run(&["--live-durations=real"]) >= 400_000_000);
    fozzy.write("plan.toml", "[backends]\ndurations = \"real\"\n");
    assert!(run(&["--plan", "plan.toml"]) >= 400_000_000);
}

/// A program of the real computer that notes each of its runs.
const TOOL: &str = "#!/bin/sh\necho run >> runs\nprintf 'with %s and %s: ' \"$1\" \"$GIVEN\"\ncat\n\
                    printf '\\377\\000'\necho note >&2\ndate +%s%N\nexit 3\n";

fn install(fozzy: &Fozzy) -> PathBuf {
    let tool = fozzy.write("tool", TOOL);
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).expect("the file is ours");
    tool
}

#[test]
fn processes_replay_when_the_program_is_uninstalled() {
    let fozzy = Fozzy::new();
    let tool = install(&fozzy);
    let guest = corpus::commands();
    let live = ["--proc-backend", "host", "--record", TRACE];
    let recorded = fozzy.run(&words(&live, &guest, &["run-with", "input", "./tool", "words"])).exits(0).json();
    let shown = text(&recorded);
    assert!(shown.starts_with("code 3 \"with words and 1: input\u{fffd}\\0"), "{shown}");
    assert!(shown.contains("\"note\\n\""), "{shown}");
    fs::remove_file(tool).expect("the file is ours");
    replays(&fozzy.read(TRACE), &recorded);
    assert_eq!(fozzy.read("runs"), b"run\n", "only the recorded run started it");

    // The program once more, but it gives its child another variable.
    let mut changed = fs::read(guest).expect("the guest is built");
    let at: Vec<usize> = changed.windows(5).enumerate().filter_map(|(at, w)| (w == b"GIVEN").then_some(at)).collect();
    assert!(!at.is_empty(), "the guest names its variable");
    at.into_iter().for_each(|at| changed[at..at + 5].copy_from_slice(b"TAKEN"));
    fozzy.write("changed.wasm", changed);
    let against = fozzy.run(&["replay", TRACE, "--against", "changed.wasm", "--json"]);
    let divergence = against.json()["replay"]["divergence"].clone();
    assert!(divergence["recorded"]["asked"].to_string().contains("GIVEN"), "{divergence:#}");
    assert!(divergence["asked"]["asked"].to_string().contains("TAKEN"), "{divergence:#}");
    diverges(against, "GIVEN", "TAKEN");
    assert_eq!(fozzy.read("runs"), b"run\n", "a replay that diverges asks nobody");
}

/// The rule that a finding shows, as somebody would paste it.
fn rule_of(summary: &Value) -> String {
    let findings = summary["findings"].as_array().expect("findings");
    let messages = findings.iter().filter_map(|finding| finding["message"].as_str());
    let shown = messages.filter_map(|message| message.split_once("a rule for the plan:\n")).next_back();
    let (_, rule) = shown.unwrap_or_else(|| panic!("a finding with a rule: {summary:#}"));
    rule.lines()
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .fold(String::new(), |all, line| all + line + "\n")
}

/// Asserts that what no rule answers can be answered by the rule that the finding shows, whatever it is.
#[track_caller]
fn pasted(guest: &Path, args: &[&str], shows: &str) {
    let fozzy = Fozzy::new();
    let found = fozzy.run(&words(&[], guest, args)).exits(1).json();
    assert_eq!(found["status"], json!("fail"), "{found:#}");
    let rule = rule_of(&found);
    let path = fozzy.write("plan.toml", &rule);
    PlanFile::parse(&rule, &path).unwrap_or_else(|error| panic!("{error}\n{rule}"));
    let passed = fozzy.run(&words(&["--plan", "plan.toml"], guest, args));
    let passed = passed.exits(0).json();
    assert!(text(&passed).contains(shows), "{rule}\n{passed:#}");
}

#[test]
fn the_rule_that_a_finding_shows_is_pasted_and_answers() {
    let (client, commands) = (http_client(), corpus::commands());
    for url in ["http://api.test/orders", "https://api.test:8443/a?q=*&r=%22x%22", "http://[::1]:80/", "http://a.test"]
    {
        pasted(&client, &[url], "200 OK\n");
    }
    let post = ["--method", "PATCH", "--header", "authorization: very \"secret\"", "--body", "'''\"\"\"\n"];
    pasted(&client, &[&post[..], &["http://api.test/\u{7e}user/'quoted'"]].concat(), "200 OK\n");
    for args in [
        &["git", "status"][..],
        &["true"],
        &["a b", "c\"d\\", "'''", "\n\t\u{1b}", "é", ""],
        &["[x]*", "?{a,b}", "\\*"],
    ] {
        pasted(&commands, &[&["run"], args].concat(), "code 0 \"\" \"\"\n");
    }
}

#[test]
fn what_is_live_is_said() {
    let fozzy = Fozzy::new();
    let flags = ["--fs-backend", "host", "--http-backend", "host", "--proc-backend", "host"];
    let said = |args: &[&str]| fozzy.run(&[&["env", "--json"], args].concat()).exits(0).json()["capabilities"].clone();
    let (live, plain) = (said(&flags), said(&[]));
    for name in ["fs", "http", "proc"] {
        assert_eq!(live[name], json!({ "backend": "host", "deterministic": false }), "{name}");
        assert_eq!(plain[name]["deterministic"], json!(true), "{name}");
    }
    for name in ["time", "rng", "net", "memory"] {
        assert_eq!(live[name], plain[name], "{name}");
        assert_eq!(live[name]["deterministic"], json!(true), "{name}");
    }
    fozzy.write("fozzy.toml", "fs_backend = \"host\"\n");
    let configured = said(&[]);
    assert_eq!((&configured["fs"]["backend"], &configured["http"]["backend"]), (&json!("host"), &json!("scripted")));
}

#[test]
fn plans_are_checked_without_a_run() {
    let fozzy = Fozzy::new();
    let good = "env = { A = \"1\" }\n[[http]]\nurl = \"http://a.test/*\"\nstatus = 204\n[redact]\nenv = [\"A\"]\n";
    fozzy.write("good.toml", good);
    fozzy.write("bad.toml", "[network]\nlatensy = \"1ms\"\n[[http]]\nurl = 3\n");
    let checked = fozzy.run(&["validate", "good.toml", "--json"]).exits(0).json();
    assert_eq!(checked, json!({ "ok": true, "file": "good.toml", "problems": [] }));
    let checked = fozzy.run(&["validate", "bad.toml", "--json"]).exits(2).json();
    let problems: Vec<String> =
        checked["problems"].as_array().expect("problems").iter().map(Value::to_string).collect();
    assert_eq!((problems.len(), &checked["ok"]), (2, &json!(false)), "{problems:#?}");
    assert!(problems[0].contains("did you mean `latency`?") && problems[1].contains("http[0].url"), "{problems:#?}");
    let refused = fozzy.run(&["validate", "none.toml"]).refuses(&["none.toml: cannot read it"]);
    assert!(!refused.err().contains("schema"), "no schema helps who has no file: {refused}");
    fozzy.write("tiny.wat", "(module (memory (export \"memory\") 1) (func (export \"_start\")))");
    let refused = fozzy.run(&["run", "tiny.wat", "--plan", "bad.toml"]).refuses(&["bad.toml:2:1", "latensy"]);
    assert!(refused.err().ends_with("\n  `fozzy schema plan` describes every key\n"), "{refused}");

    // A schema is JSON whether or not it is asked for, and says which kind.
    let schema = fozzy.run(&["schema", "plan"]).exits(0).json();
    assert_eq!(schema, fozzy.run(&["schema", "plan", "--json"]).exits(0).json());
    let dialect = schema["$schema"].as_str().unwrap_or_default();
    assert!(dialect.starts_with("https://json-schema.org/"), "{dialect}");
    assert_eq!((&schema["additionalProperties"], schema["properties"]["http"].is_object()), (&json!(false), true));
}
