//! The file: what is written is read, the same bytes twice, and no damaged byte goes unseen.

mod fuzz;
mod hostile;

use super::*;
use crate::execution::OUTPUT_KEPT_BYTES_MAX;
use crate::observation::{
    FileOperation, FileRequest, FileResponse, HttpBackendRequest, HttpBackendResponse, ProcessFailure, ProcessRequest,
    ProcessResponse,
};
use crate::outcome::{PeerStack, SourceLocation, StackFrame};
use crate::plan::{
    HttpFailure, MachinePlan, Mount, MountEntry, MountKind, NodePlan, ProcessExit, ProgramPlan, StdinPlan,
};
use crate::{BackendRequest, BackendResponse, Errno, FailureSignature, Finding, FindingKind, History, NodeId, Status};
use std::io::Cursor;
use std::sync::LazyLock;

/// The smallest component there is.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";

/// A small recording with something in every field.
fn sample() -> Recording {
    let mut inputs = Inputs::default();
    inputs.add(&b"nobody names this"[..]);
    inputs.add(&b""[..]);
    let stdin = StdinPlan { bytes: inputs.add(&b"typed\n"[..]), stays_open: true, channel: None };
    let entry = |path: &str, kind| MountEntry { path: path.to_owned(), kind };
    let entries = vec![
        entry("a", MountKind::File(inputs.add(&[7u8; 3000][..]))),
        entry("d", MountKind::Directory),
        entry("d/empty", MountKind::File(Digest::of(b""))),
        entry("d/link", MountKind::Link("../a".to_owned())),
    ];
    let args = vec!["program".to_owned(), "--ünïcode \u{1b}[31m".to_owned()];
    let dirs = vec![Mount { guest: "/data".to_owned(), entries }];
    let env = vec![("A".to_owned(), "1".to_owned())];
    let main = MachinePlan { args, env, stdin, dirs, ..MachinePlan::default() };
    let plan = Plan { main, nodes: vec![node(&mut inputs)], ..Plan::default() };

    let mut execution = Execution {
        end: ExecutionEnd::Trapped { trap: "integer divide by zero".to_owned() },
        ended_at: Instant(1_500_000),
        history: History { calls: 3000, decisions: 4, digest: 0x00ab_cdef_0123_4567, ..History::default() },
        stdout: StreamOutput::default(),
        stderr: StreamOutput::default(),
        fuel_used: 1 << 60,
        memory_bytes: 65536,
        memory: Digest::of(b"memory"),
        backtrace: Vec::new(),
        nodes: vec![node_execution()],
        unmatched: Vec::new(),
        unmatched_more: 0,
        facts: crate::Facts::default(),
    };
    execution.stdout.write(b"out\n");
    observe(&mut execution.history);
    execution.stderr.write(&[0, 255, b'\n']);
    execution.history.explicit.insert(0, Override::Bytes("00ff".to_owned()));
    execution.history.explicit.insert(3, Override::Number(u64::MAX));
    let marks = [1024, 2048].map(|calls| DigestMark { calls, at: Instant(calls * 7), digest: calls });
    execution.history.marks.extend(marks);
    let call = "wasi:random/random.get-random-u64".to_owned();
    let (asked, answer) = (String::new(), "\"quoted\" \n".to_owned());
    execution.history.entries.push(HistoryEntry {
        index: 2,
        at: Instant(9),
        node: NodeId(0),
        call,
        asked,
        answer,
        decision: true,
    });

    let source = SourceLocation { file: Some("src/main.rs".to_owned()), line: Some(7), col: None };
    let frame = StackFrame { module: "core".to_owned(), function: "f".to_owned(), offset: 99, source: source.clone() };
    let finding = Finding {
        kind: FindingKind::Trap,
        title: "trapped".to_owned(),
        message: "line\nline".to_owned(),
        location: Some(source),
        backtrace: vec![frame.clone()],
        peers: vec![PeerStack { node: "db".to_owned(), backtrace: vec![frame] }],
        related: Vec::new(),
    };
    let signature = Some(FailureSignature { kind: FindingKind::Trap, site: "f".to_owned() });
    let verdict = Verdict { status: Status::Crash, findings: vec![finding], signature };
    Recording::of(target(), COMPONENT, plan, &inputs, engine(), &execution, verdict, Seed(u64::MAX), "run")
}

/// Another machine, with a component and a standard input of its own.
fn node(inputs: &mut Inputs) -> NodePlan {
    let component = inputs.add(&b"\0asm\x0d\0\x01\0\0\x01\0"[..]);
    let stdin = StdinPlan { bytes: inputs.add(&b"its stdin"[..]), stays_open: false, channel: None };
    let machine = MachinePlan { stdin, ..MachinePlan::default() };
    NodePlan {
        name: "db".to_owned(),
        program: ProgramPlan { component, machine },
        called: false,
        ends: None,
        restart: None,
        counted: None,
    }
}

fn node_execution() -> NodeExecution {
    let mut stdout = StreamOutput::default();
    stdout.write(b"ready\n");
    let (stderr, memory) = (StreamOutput::default(), Digest::of(b"its memory"));
    NodeExecution {
        name: "db".to_owned(),
        end: None,
        stdout,
        stderr,
        memory,
        backtrace: Vec::new(),
        ends: None,
        restarts: 0,
        is_down: false,
    }
}

/// One observation of each kind; one names bytes that the plan names too, and one names none.
fn observe(history: &mut History) {
    let bytes = &mut history.observed;
    let file = |operation| BackendRequest::File(FileRequest { on: 1, operation });
    let read = FileResponse::Bytes { bytes: bytes.add(&b"typed\n"[..]), end: true };
    let write = FileOperation::Write { offset: 3, bytes: bytes.add(&b"written"[..]) };
    let header = |name: &str, value: &[u8]| (name.to_owned(), value.to_vec());
    let request = HttpBackendRequest {
        method: "POST".to_owned(),
        url: "https://api.test/ü?q=1".to_owned(),
        headers: vec![header("x-bytes", &[0, 0x22, 0x7F, 0x80, 0xFF]), header("accept", b"*/*")],
        body: bytes.add(&b"request"[..]),
        timeout: Some(crate::Duration(5)),
    };
    let headers = vec![header("content-type", b"text/plain")];
    let response = HttpBackendResponse { status: 201, headers, body: bytes.add(&[0u8, 255][..]), cut: true };
    let command = ProcessRequest {
        command: "git".to_owned(),
        args: vec!["status".to_owned()],
        env: vec![("A".to_owned(), "1".to_owned())],
        cwd: Some("src".to_owned()),
        stdin: Digest::of(b""),
        deadline: None,
    };
    let stdout = bytes.add(&b"clean\n"[..]);
    let process =
        ProcessResponse { exit: ProcessExit::Code(0), deadline_passed: false, stdout, stderr: Digest::of(b"") };
    let exchanges = [
        (file(FileOperation::Read { offset: 0, length: 100 }), BackendResponse::File(Ok(read))),
        (file(write), BackendResponse::File(Ok(FileResponse::Written(7)))),
        (file(FileOperation::Sync), BackendResponse::File(Err(Errno::Io))),
        (BackendRequest::Http(request.clone()), BackendResponse::Http(Ok(response))),
        (BackendRequest::Http(request), BackendResponse::Http(Err(HttpFailure::Refused))),
        (BackendRequest::Process(command.clone()), BackendResponse::Process(Ok(process))),
        (BackendRequest::Process(command), BackendResponse::Process(Err(ProcessFailure::NotFound))),
    ];
    history.observations.extend(exchanges.map(|(ask, answer)| Observation { ask, answer, took: None }));
}

fn target() -> RecordedTarget {
    RecordedTarget { name: "a.wasm".to_owned(), source: Digest::of(COMPONENT), kind: "component".to_owned() }
}

fn engine() -> EngineId {
    let (fozzy, wasmtime) = ("0.1.0".to_owned(), "48.0.8".to_owned());
    EngineId { fozzy, wasmtime, rewriter: 1, configuration: Digest::of(b"settings") }
}

/// The sample's file, made once: thousands of damaged ones begin with it.
fn sample_bytes() -> Vec<u8> {
    static BYTES: LazyLock<Vec<u8>> = LazyLock::new(|| bytes_of(&sample()));
    BYTES.clone()
}

fn bytes_of(recording: &Recording) -> Vec<u8> {
    recording.to_bytes().expect("a small recording is within all bounds")
}

/// Makes the checksum right again, as someone with bad intent would.
fn reseal(bytes: &mut Vec<u8>) {
    bytes.truncate(bytes.len() - 64);
    seal::close(bytes);
}

/// The message of a file that is refused, by `read` and `verify` alike.
fn refusal(bytes: &[u8]) -> String {
    let error = Recording::read(bytes).expect_err("the file is to be refused");
    let verification = verify(bytes);
    assert!(!verification.ok && verification.error.as_ref() == Some(&error), "{verification:?}");
    let message = error.to_string();
    assert!(
        message.len() < 600 && message.chars().all(|c| !c.is_control() || c == '\n'),
        "unfit for people: {message:?}"
    );
    message
}

#[test]
fn what_is_written_is_read() {
    let recording = sample();
    let bytes = bytes_of(&recording);
    assert_eq!(Recording::read(&bytes).as_ref(), Ok(&recording));
    let travelling: Vec<&[u8]> = recording.inputs.iter().map(|(_, bytes)| &**bytes).collect();
    for bytes in ["typed\n", "its stdin", "written", "request", "clean\n"] {
        let times = travelling.iter().filter(|found| **found == bytes.as_bytes()).count();
        assert_eq!(times, 1, "what plan and observations name travels once: {bytes}");
    }
    assert_eq!(travelling.len(), 8, "and nothing else does");
    let expected = Verification {
        ok: true,
        version: Some(5),
        checksum_present: true,
        checksum_valid: true,
        warnings: Vec::new(),
        error: None,
    };
    assert_eq!(verify(&bytes), expected);
}

#[test]
fn every_end_and_kind_of_finding_survives() {
    let ends = [
        ExecutionEnd::Exited { code: 3 },
        ExecutionEnd::Trapped { trap: "unreachable".to_owned() },
        ExecutionEnd::FuelExhausted { fuel: u64::MAX },
        ExecutionEnd::TimeExhausted { limit: crate::Duration(1) },
        ExecutionEnd::Hang { waiting: vec!["stdin".to_owned()] },
        ExecutionEnd::CalledEnded,
        ExecutionEnd::PeerEnded { node: "db".to_owned() },
        ExecutionEnd::Killed,
        ExecutionEnd::Diverged { recorded: "{}".to_owned(), asked: "\u{1b}".to_owned() },
    ];
    for end in ends {
        let mut recording = sample();
        recording.outcome.end = end.clone();
        recording.outcome.nodes[0].end = Some(end);
        recording.outcome.nodes[0].restarts = 2;
        recording.outcome.verdict = Verdict { status: Status::Pass, findings: Vec::new(), signature: None };
        assert_eq!(Recording::read(&bytes_of(&recording)), Ok(recording));
    }
}

#[test]
fn equal_recordings_give_equal_bytes() {
    assert_eq!(bytes_of(&sample()), bytes_of(&sample()));
    let mut other = sample();
    other.seed = Seed(8);
    assert_ne!(bytes_of(&other), sample_bytes());
}

#[test]
fn output_beyond_what_is_kept_is_cut_and_counted() {
    let mut recording = sample();
    let mut output = StreamOutput::default();
    output.write(&vec![b'x'; OUTPUT_KEPT_BYTES_MAX]);
    output.write(b"more");
    recording.outcome.stdout = StreamDigest::of(&output);
    recording.stdout = output.kept().to_vec();
    let read = Recording::read(&bytes_of(&recording)).expect("reads");
    assert_eq!(read.stdout.len(), OUTPUT_KEPT_BYTES_MAX);
    assert_eq!(read.outcome.stdout.bytes, OUTPUT_KEPT_BYTES_MAX as u64 + 4);
}

/// The oracle: a reader of zips that is not ours.
#[test]
fn other_programs_list_and_unpack_it() {
    let bytes = sample_bytes();
    let mut archive = zip::ZipArchive::new(Cursor::new(&bytes)).expect("a zip");
    let comment = String::from_utf8(archive.comment().to_vec()).expect("text");
    let digits = comment.strip_prefix("fozzy-sha256:").expect("the marker");
    assert_eq!(digits, Digest::of(&bytes[..bytes.len() - 64]).to_string());
    let mut names = Vec::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).expect("an entry");
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut content).expect("its bytes, with the right CRC");
        let date =
            entry.last_modified().map(|at| (at.year(), at.month(), at.day(), at.hour(), at.minute(), at.second()));
        assert_eq!(date, Some((1980, 1, 1, 0, 0, 0)));
        assert_eq!(entry.compression(), zip::CompressionMethod::Stored);
        assert_eq!(entry.unix_mode(), Some(0o100_644));
        names.push(entry.name().expect("text").into_owned());
    }
    assert_eq!(names[..8], manifest::FIXED);
    let manifest = container::first(&bytes, "manifest.json").expect("first");
    let manifest: serde_json::Value = serde_json::from_slice(manifest).expect("JSON");
    assert_eq!(manifest["format"], "fozzy");
    assert_eq!(manifest["outcome"]["history"], "00abcdef01234567");
    assert_eq!(manifest["outcome"]["stdout"]["bytes"], 4);
    assert_eq!(manifest["entries"].as_array().map(Vec::len), Some(names.len() - 1));
}

/// The keys are what other programs read: a change here is a new version.
#[test]
fn the_keys_of_version_5_never_change() {
    let bytes = sample_bytes();
    let keys =
        |value: &serde_json::Value| value.as_object().expect("an object").keys().cloned().collect::<Vec<_>>().join(" ");
    let manifest = container::first(&bytes, "manifest.json").expect("first");
    let manifest: serde_json::Value = serde_json::from_slice(manifest).expect("JSON");
    assert_eq!(keys(&manifest), "format version engine target seed mode outcome entries");
    assert_eq!(keys(&manifest["engine"]), "fozzy wasmtime rewriter configuration");
    assert_eq!(keys(&manifest["target"]), "name source kind");
    let outcome = "verdict end endedAt calls decisions history fuelUsed memoryBytes memory stdout stderr nodes";
    assert_eq!(keys(&manifest["outcome"]), outcome);
    assert_eq!(keys(&manifest["outcome"]["nodes"][0]), "name end stdout stderr memory");
    assert_eq!(keys(&manifest["entries"][0]), "name storedBytes bytes sha256");
    let decisions = container::read(&bytes).expect("ours")[2].bytes;
    let decisions = zstd::bulk::decompress(decisions, 1 << 16).expect("a frame");
    let expected = r#"{"explicit":{"question":0,"answer":{"bytes":"00ff"}}}
{"explicit":{"question":3,"answer":{"number":18446744073709551615}}}
{"mark":{"calls":1024,"at":7168,"digest":"0000000000000400"}}
{"mark":{"calls":2048,"at":14336,"digest":"0000000000000800"}}
"#;
    assert_eq!(String::from_utf8(decisions).as_deref(), Ok(expected));
    let observations = container::read(&bytes).expect("ours")[3].bytes;
    let observations = zstd::bulk::decompress(observations, 1 << 16).expect("a frame");
    let observations = String::from_utf8(observations).expect("text");
    let digest = Digest::of(b"typed\n");
    let ask = r#"{"ask":{"file":{"on":1,"operation":{"read":{"offset":0,"length":100}}}}"#;
    let answer = format!(r#","answer":{{"file":{{"Ok":{{"bytes":{{"bytes":"{digest}","end":true}}}}}}}}}}"#);
    assert_eq!(observations.lines().next(), Some(&*format!("{ask}{answer}")));
    let headers = "\"headers\":[[\"x-bytes\",\"\\u0000\\\"\u{7f}\u{80}ÿ\"],[\"accept\",\"*/*\"]]";
    assert!(observations.contains(headers), "{observations}");
}

#[test]
fn every_flipped_byte_is_seen() {
    let bytes = sample_bytes();
    for at in 0..bytes.len() {
        for flip in [0xFF, 1 << (at % 8)] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            let verification = verify(&damaged);
            assert!(!verification.ok && !verification.checksum_valid, "byte {at}: {verification:?}");
            let message = refusal(&damaged);
            let said = ["damaged", "does not end with its checksum"].iter().any(|word| message.contains(word));
            assert!(said, "byte {at}: {message}");
        }
    }
}

#[test]
fn every_cut_is_seen() {
    let bytes = sample_bytes();
    for length in 0..bytes.len() {
        let message = refusal(&bytes[..length]);
        let expected = match length {
            0 => "found an empty file",
            1..4 => "found ",
            4..43 => "the first",
            _ => "it was cut short",
        };
        assert!(message.contains(expected), "{length}: {message}");
    }
    let mut longer = bytes;
    longer.push(b'\n');
    assert!(refusal(&longer).contains("does not end with its checksum"));
}

#[test]
fn what_is_no_trace_is_named() {
    let check = |bytes: &[u8], expected: &str| {
        let message = refusal(bytes);
        assert!(message.contains(expected), "expected `{expected}`, found `{message}`");
        assert!(!verify(bytes).checksum_present);
    };
    check(b"", "found an empty file");
    check(b"\0asm\x01\0\0\0", "found a WebAssembly core module");
    check(COMPONENT, "found a WebAssembly component");
    check(b"\0asm\x09\0\0\0", "found WebAssembly of an unknown version");
    check(b"hello \x1b[31m world", "17 bytes that begin with");
    check(b"hello world, this is quite a long text", "found text that begins with `hello world, this is qui`");
    check(&[0x7F, b'E', b'L', b'F', 2, 1, 1], "7 bytes that begin with 7f454c46020101");
    check(br#"{"version":1,"name":"x","steps":[]}"#, "found JSON; a scenario");
    check(b"PK\x03\x04", "the first 4 bytes of a zip archive");
    check(b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "an empty zip archive");
    let others = |name: &str, data: &[u8]| container::write(&[(name.to_owned(), data.to_vec())]);
    let unsealed = |mut bytes: Vec<u8>| {
        bytes.truncate(bytes.len() - seal::MARKER.len());
        bytes
    };
    check(&unsealed(others("word/document.xml", b"")), "a zip archive whose first entry is `word/document.xml`");
    check(&unsealed(others("manifest.json", b"{\"manifest_version\":3}")), "a `manifest.json` that is not ours");
}

#[test]
fn traces_of_the_first_fozzy_are_refused_by_name() {
    let trace = br#" {"format":"fozzy-trace","version":4,"engine":{"version":"1.0"},"decisions":[],"checksum":"00"}"#;
    let message = refusal(trace);
    assert!(
        message.contains("first Fozzy (JSON, version 4)") && message.contains("`fozzy trace migrate`"),
        "{message}"
    );
    assert_eq!(verify(trace).version, Some(4));
    assert!(refusal(br#"{"format":"fozzy-trace","ver"#).contains("version unknown"));
}

#[test]
fn a_recording_past_a_bound_is_refused_not_written() {
    let mut recording = sample();
    recording.stdout = vec![0; OUTPUT_KEPT_BYTES_MAX + 1];
    let error = recording.to_bytes().expect_err("more than is ever kept");
    let expected = "entry `stdout.zst` is too large for a trace: 4194305 bytes, at most 4194304";
    assert!(error.to_string().starts_with(expected), "{error}");

    let mut recording = sample();
    let files = (0..ENTRIES_MAX as u32).map(|n| {
        let digest = recording.inputs.add(&n.to_le_bytes()[..]);
        MountEntry { path: n.to_string(), kind: MountKind::File(digest) }
    });
    let entries = files.collect();
    recording.plan.main.dirs.push(Mount { guest: "/many".to_owned(), entries });
    let error = recording.to_bytes().expect_err("too many inputs");
    assert!(error.to_string().contains("distinct inputs is too large for a trace"), "{error}");
}
