//! `fozzy debug --dap`: a recorded run in an editor, by the Debug Adapter Protocol.
//!
//! ```text
//! this file                 requests and answers over standard input and output; rubbish, and clients that leave
//! debug_adapter/client.js   @vscode/debugadapter-testsupport over a port: a client that was not written here
//! ```
//!
//! Not here: what the session does (`debug`), what variables look like (`debug_info`).

use crate::corpus::{self, DebugSample};
use crate::fozzy::Fozzy;
use crate::wait::{self, Messages};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

/// An editor with its adapter.
struct Editor {
    child: Child,
    input: Option<ChildStdin>,
    output: Messages<Value>,
    sequence: u64,
    events: VecDeque<Value>,
}

/// A folder with a recording of the program.
fn recorded(program: DebugSample) -> Fozzy {
    let fozzy = Fozzy::new();
    let module = program.module().display().to_string();
    fozzy.run(&["run", &module, "--record", "run.fozzy"]).exits(0);
    fozzy
}

fn source() -> String {
    DebugSample::RustSmall.source().display().to_string()
}

/// The line of the small program that has these words.
fn line_of(words: &str) -> usize {
    let text = std::fs::read_to_string(DebugSample::RustSmall.source()).expect("it is there");
    text.lines().position(|line| line.contains(words)).expect("it is there") + 1
}

/// The next message; `None` at the end.
fn message(pipe: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if pipe.read_line(&mut line).expect("text") == 0 {
            return None;
        }
        match line.trim().split_once(": ") {
            Some(("Content-Length", bytes)) => length = bytes.parse().ok(),
            _ => break,
        }
    }
    let mut body = Vec::new();
    pipe.take(length.expect("a length")).read_to_end(&mut body).expect("a message");
    Some(serde_json::from_slice(&body).expect("a whole message"))
}

impl Editor {
    fn open(fozzy: &Fozzy) -> Editor {
        let mut child = fozzy.start(&["debug", "run.fozzy", "--dap"]);
        let input = child.stdin.take();
        let output = Messages::of(child.stdout.take().expect("a pipe"), message);
        Editor { child, input, output, sequence: 0, events: VecDeque::new() }
    }

    fn send_bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("it has not left");
        input.write_all(bytes).and_then(|()| input.flush()).expect("it listens");
    }

    fn send(&mut self, command: &str, arguments: Value) {
        self.sequence += 1;
        let message = json!({"seq": self.sequence, "type": "request", "command": command, "arguments": arguments});
        let body = message.to_string();
        self.send_bytes(format!("Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes());
    }

    /// The response; events before it wait.
    fn response(&mut self, command: &str, arguments: Value) -> Value {
        self.send(command, arguments);
        loop {
            let message = self.output.next().expect("an answer");
            if message["type"] == "response" && message["request_seq"] == self.sequence {
                assert_eq!(message["command"], command);
                return message;
            }
            self.events.push_back(message);
        }
    }

    /// The body of a response that succeeds.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let response = self.response(command, arguments);
        assert_eq!(response["success"], true, "{response}");
        response["body"].clone()
    }

    /// The words of a response that refuses.
    fn refused(&mut self, command: &str, arguments: Value) -> String {
        let response = self.response(command, arguments);
        assert_eq!(response["success"], false, "{response}");
        response["message"].as_str().expect("a reason").to_owned()
    }

    fn event(&mut self, name: &str) -> Value {
        loop {
            let message = match self.events.pop_front() {
                Some(message) => message,
                None => self.output.next().expect("an event"),
            };
            if message["event"] == name {
                return message["body"].clone();
            }
        }
    }

    /// Moves, and says why it stops and where: a movement's event comes behind its response.
    fn moved(&mut self, command: &str, arguments: Value) -> String {
        self.ask(command, arguments);
        assert!(self.events.iter().all(|event| event["event"] != "stopped"), "{:?}", self.events);
        let stopped = self.event("stopped");
        assert_eq!(stopped["allThreadsStopped"], true);
        let reason = stopped["reason"].as_str().expect("a reason").to_owned();
        let stack = self.ask("stackTrace", json!({"threadId": stopped["threadId"], "levels": 1}));
        match stack["stackFrames"].get(0) {
            Some(frame) => format!("{reason} {}:{}", frame["name"].as_str().expect("a name"), frame["line"]),
            None => reason,
        }
    }

    fn launch(&mut self) {
        self.ask("initialize", json!({"adapterID": "fozzy"}));
        self.ask("launch", json!({}));
        self.event("initialized");
    }

    fn value(&mut self, expression: &str) -> String {
        let value = self.ask("evaluate", json!({"expression": expression, "frameId": 1}));
        value["result"].as_str().expect("a text").to_owned()
    }
}

#[test]
fn an_editor_goes_forwards_and_back() {
    let fozzy = recorded(DebugSample::RustSmall);
    let mut editor = Editor::open(&fozzy);
    assert!(editor.refused("threads", json!({})).contains("not opened yet"));
    editor.launch();
    let (first, second) = (line_of("let list"), line_of("* h,"));
    let set = json!({"source": {"path": source()}, "breakpoints": [{"line": first}, {"line": second}, {"line": 9999}]});
    let set = editor.ask("setBreakpoints", set);
    let verified: Vec<bool> = (0..3).map(|at| set["breakpoints"][at]["verified"] == true).collect();
    assert_eq!(verified, [true, true, false], "{set}");
    assert_eq!(set["breakpoints"][1]["line"], second);
    let area = format!("breakpoint area:{first}");
    let measure = format!("breakpoint small::measure:{second}");
    assert_eq!(editor.moved("configurationDone", json!({})), area);
    assert_eq!(editor.value("kind"), "2");
    assert_eq!(editor.value("shape"), "Rect { w: 5, h: 3 }");
    assert_eq!(editor.moved("continue", json!({"threadId": 1})), measure);
    assert_eq!(
        (editor.value("shape.w"), editor.value("shape.w * shape.h"), editor.value("LIMIT")),
        ("5".to_owned(), "15".to_owned(), "3".to_owned())
    );
    assert!(editor.refused("evaluate", json!({"expression": "nothing + 1"})).contains("`nothing` is no variable"));
    // Variables by pages, until the run goes on.
    let scopes = editor.ask("scopes", json!({"frameId": 1}));
    let locals = scopes["scopes"][0]["variablesReference"].clone();
    let variables = editor.ask("variables", json!({"variablesReference": locals}));
    let shape = variables["variables"].as_array().expect("a list").iter().find(|own| own["name"] == "shape").cloned();
    let shape = shape.expect("the parameter");
    assert_eq!(shape["value"], "Rect { w: 5, h: 3 }");
    let parts =
        editor.ask("variables", json!({"variablesReference": shape["variablesReference"], "start": 1, "count": 1}));
    assert_eq!(
        (parts["variables"][0]["name"].as_str(), parts["variables"].as_array().map(Vec::len)),
        (Some("h"), Some(1))
    );
    // Back, and on again.
    assert_eq!(editor.moved("reverseContinue", json!({"threadId": 1})), area);
    assert!(editor.refused("variables", json!({"variablesReference": locals})).contains("another stop"));
    assert!(editor.moved("reverseContinue", json!({"threadId": 1})).starts_with("entry"));
    assert_eq!(editor.moved("continue", json!({"threadId": 1})), area);
    let next = editor.moved("next", json!({"threadId": 1}));
    assert_eq!(next, format!("step area:{}", line_of("let all")));
    assert!(editor.moved("stepBack", json!({"threadId": 1})).contains(&format!("area:{first}")));
    // Conditions, counts, log points and functions.
    let set = |breakpoint: Value| json!({"source": {"path": source()}, "breakpoints": [breakpoint]});
    editor.ask("setBreakpoints", set(json!({"line": second, "condition": "shape.w == 6"})));
    assert_eq!(editor.moved("continue", json!({"threadId": 1})), "end");
    editor.ask("setBreakpoints", set(json!({"line": second, "condition": "shape.w == 5"})));
    assert_eq!(editor.moved("reverseContinue", json!({"threadId": 1})), measure);
    editor.ask("setBreakpoints", set(json!({"line": second, "logMessage": "w is {shape.w}, {nothing}"})));
    assert!(editor.moved("reverseContinue", json!({"threadId": 1})).starts_with("entry"));
    editor.ask("continue", json!({"threadId": 1}));
    let logged = editor.event("output")["output"].as_str().expect("a text").to_owned();
    assert!(logged.starts_with("w is 5, <`nothing` is no variable"), "{logged}");
    assert_eq!(editor.event("stopped")["reason"], "end");
    let wrong = editor.ask("setBreakpoints", set(json!({"line": second, "condition": "1 +"})));
    assert!(wrong["breakpoints"][0]["message"].as_str().is_some_and(|why| why.contains("column 4")), "{wrong}");
    editor.ask("setBreakpoints", json!({"source": {"path": source()}, "breakpoints": []}));
    editor.ask("setFunctionBreakpoints", json!({"breakpoints": [{"name": "measure"}]}));
    assert!(editor.moved("restart", json!({})).starts_with("breakpoint small::measure:"));
    assert!(editor.moved("fozzyGoTo", json!({"to": "beginning"})).starts_with("goto"));
    assert!(editor.refused("fozzyGoTo", json!({})).contains("expected one of"));
    assert!(editor.refused("nonsense", json!({})).contains("`nonsense`"));
    // At the end, going on is the end of the session.
    assert_eq!(editor.moved("fozzyGoTo", json!({"to": "end"})), "end");
    editor.ask("continue", json!({"threadId": 1}));
    assert_eq!(editor.event("exited")["exitCode"], 0);
    editor.event("terminated");
    editor.ask("disconnect", json!({}));
    assert!(wait::exit(&mut editor.child).success());
}

#[test]
fn hits_are_counted_from_the_beginning_of_the_run_and_moments_must_exist() {
    let fozzy = recorded(DebugSample::RustInlined);
    let mut editor = Editor::open(&fozzy);
    editor.launch();
    // It is called four times.
    let set = |hits: &str| json!({"breakpoints": [{"name": "fixed", "hitCondition": hits}]});
    let wrong = editor.ask("setFunctionBreakpoints", set("0"));
    assert!(wrong["breakpoints"][0]["message"].as_str().is_some_and(|why| why.contains("begins at 1")), "{wrong}");
    editor.ask("setFunctionBreakpoints", set(">= 3"));
    let mut positions = Vec::new();
    let stopped = |editor: &mut Editor, command: &str| {
        editor.ask(command, json!({"threadId": 1}));
        let stopped = editor.event("stopped");
        format!("{} {}", stopped["reason"].as_str().expect("a reason"), stopped["description"].as_str().expect("words"))
    };
    for command in ["configurationDone", "continue", "continue"] {
        positions.push(stopped(&mut editor, command));
    }
    assert!(positions[0].starts_with("breakpoint") && positions[1].starts_with("breakpoint"), "{positions:?}");
    assert!(positions[2].starts_with("end"), "{positions:?}");
    let back = ["reverseContinue", "reverseContinue", "reverseContinue"].map(|command| stopped(&mut editor, command));
    assert_eq!((&back[0], &back[1]), (&positions[1], &positions[0]));
    assert!(back[2].starts_with("entry"), "{back:?}");
    editor.ask("setFunctionBreakpoints", set("== 2"));
    assert!(stopped(&mut editor, "continue").starts_with("breakpoint"));
    assert!(stopped(&mut editor, "continue").starts_with("end"));
    for moment in
        [json!({"call": 999}), json!({"decision": 7}), json!({"timeNs": 1u64 << 40}), json!({"position": 9999})]
    {
        assert!(editor.refused("fozzyGoTo", moment).contains("the run has no "));
    }
    assert!(editor.moved("fozzyGoTo", json!({"position": 20})).starts_with("goto"));
}

/// Processes that a process has started, and those of them.
fn descendants(of: u32) -> Vec<u32> {
    let parent = |id: u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        status.rsplit_once(") ")?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let entries = std::fs::read_dir("/proc").expect("Linux");
    let all: Vec<u32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    let mut found = vec![of];
    let mut seen = 0;
    while seen < found.len() {
        let next: Vec<u32> = all.iter().copied().filter(|id| parent(*id) == Some(found[seen])).collect();
        found.extend(next);
        seen += 1;
    }
    found.split_off(1)
}

#[test]
fn clients_that_leave_or_send_rubbish_leave_no_process() {
    let fozzy = recorded(DebugSample::RustSmall);
    let rubbish: [(&[u8], i32); 4] = [
        (b"", 0),
        (b"GET / HTTP/1.1\r\nHost: here\r\n\r\n", 2),
        (b"Content-Length: 99999999999999\r\n\r\n", 2),
        (b"Content-Length: 400\r\n\r\n{\"seq\": 9", 0),
    ];
    for (bytes, code) in rubbish {
        let mut editor = Editor::open(&fozzy);
        editor.launch();
        // What is no JSON, and what is no request, is passed over.
        editor.send_bytes(b"Content-Length: 3\r\n\r\n{{{Content-Length: 2\r\n\r\n[]");
        assert!(editor.event("output")["output"].as_str().is_some_and(|text| text.contains("no JSON")));
        assert!(editor.refused("setBreakpoints", json!({"breakpoints": 7})).contains("its arguments"));
        let started = descendants(editor.child.id());
        assert!(!started.is_empty(), "a run is executed in a process");
        editor.send_bytes(bytes);
        // It leaves in the middle.
        editor.input = None;
        assert_eq!(wait::exit(&mut editor.child).code(), Some(code), "{}", String::from_utf8_lossy(bytes));
        wait::until("the end of the processes of a run", || started.iter().all(is_gone));
    }
}

fn is_gone(id: &u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    status.is_empty() || status.contains(") Z ")
}

/// While it waits for a request, and when it was just told to go on.
#[test]
fn a_session_that_is_killed_leaves_no_process() {
    let fozzy = recorded(DebugSample::RustSmall);
    for signal in ["-KILL", "-HUP", "-TERM"] {
        for executes in [false, true] {
            let mut editor = Editor::open(&fozzy);
            editor.launch();
            let started = descendants(editor.child.id());
            assert!(!started.is_empty(), "a run is executed in a process");
            if executes {
                editor.ask("configurationDone", json!({}));
                editor.send("continue", json!({"threadId": 1}));
            }
            let id = editor.child.id().to_string();
            assert!(wait::run(Command::new("kill").args([signal, &id])).status.success());
            assert!(!wait::exit(&mut editor.child).success());
            wait::until("the end of the processes of a run", || started.iter().all(is_gone));
        }
    }
}

#[test]
fn a_client_that_was_written_elsewhere_understands_the_adapter() {
    let modules = corpus::debug_client();
    let fozzy = recorded(DebugSample::RustSmall);
    let mut child = fozzy.start(&["debug", "run.fozzy", "--dap-port", "0"]);
    let mut said = String::new();
    BufReader::new(child.stderr.take().expect("a pipe")).read_line(&mut said).expect("text");
    let port = said.trim().rsplit(':').next().expect("a port").to_owned();
    let script = crate::fozzy::repository().join("tests/debug_adapter/client.js");
    let mut node = Command::new("node");
    node.arg(script).arg(port).arg(source()).arg(line_of("* h,").to_string()).arg(line_of("let list").to_string());
    let output = wait::run(node.env("NODE_PATH", modules).stdin(Stdio::null()));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let expected = "initialized with supportsStepBack\nstopped: breakpoint at small::measure\nshape = Rect { w: 5, h: 3 }\n\
                    back: breakpoint at area\nback: entry\nend: end\n";
    assert_eq!(out, expected, "{err}");
    assert!(wait::exit(&mut child).success());
}
