//! Commands of a guest on the whole engine: scripted, run by another component, run by the real computer.
//!
//! ```text
//! commands run git status     rule        ─▶ "code 0 …"
//! commands talk self upper    component   ─▶ a second guest, pipes between
//! commands run date           host        ─▶ observed once, replayed without it
//! ```
//!
//! Each case runs twice and must be the same execution both times. What it does is in `tests/guests/commands`.

use crate::corpus;
use fozzy_engine::{OutputKind, Program, Session, Switches};
use fozzy_trace::observation::{BackendRequest, BackendResponse, ProcessFailure, ProcessRequest, ProcessResponse};
use fozzy_trace::plan::{self, Backend, FaultPlan, Inputs, MachinePlan, ProcessExit, ProcessReply, ProcessRule};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{Digest, Duration, Execution, ExecutionEnd, Executor, LiveBackend, Plan, Seed};
use std::sync::{Arc, Mutex, OnceLock};

const SECOND: Duration = Duration(1_000_000_000);

/// What a case is given.
#[derive(Clone, Default)]
struct Given {
    plan: Plan,
    inputs: Inputs,
}

fn guest() -> &'static [u8] {
    static GUEST: OnceLock<Vec<u8>> = OnceLock::new();
    GUEST.get_or_init(|| {
        let bytes = std::fs::read(corpus::commands()).expect("the guest is built");
        fozzy_engine::load(&bytes, None).expect("the guest is a program").component
    })
}

fn compiled() -> Program {
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    let compile = || Program::new(guest().into(), Switches::of(&Plan::default()), None).expect("the guest compiles");
    PROGRAM.get_or_init(compile).clone()
}

fn given() -> Given {
    Given::default()
}

impl Given {
    fn rule(mut self, command: &str, delay: Duration, answer: ProcessReply) -> Given {
        let command = command.to_owned();
        self.plan.processes.push(ProcessRule { command, args: None, times: None, delay, answer, others: None });
        self
    }

    fn scripted(mut self, command: &str, code: i32, stdout: &str) -> Given {
        let (stdout, stderr) = (self.inputs.add(stdout.as_bytes().to_vec()), self.inputs.add(b"err".to_vec()));
        self.rule(command, SECOND, ProcessReply::Output { exit: ProcessExit::Code(code), stdout, stderr })
    }

    /// `self` is this guest again, on a machine of its own.
    fn component(mut self) -> Given {
        let machine = MachinePlan { env: vec![("OF".to_owned(), "plan".to_owned())], ..MachinePlan::default() };
        let component = self.inputs.add(guest().to_vec());
        self.rule("self", Duration(0), ProcessReply::Component(plan::ProgramPlan { component, machine }))
    }

    fn fault(mut self, kind: &str, target: &str, rate_ppm: u32, strength: Option<u64>) -> Given {
        let (kind, target, start) = (kind.to_owned(), target.to_owned(), Duration(0));
        self.plan.faults.push(FaultPlan {
            kind,
            target,
            rate_ppm,
            start,
            length: None,
            strength,
            times: None,
            nemesis: None,
        });
        self
    }

    fn struck(self, kind: &str, strength: u64) -> Given {
        self.fault(kind, "*", 1_000_000, Some(strength))
    }

    fn session(&self, line: &str) -> Session {
        let args = std::iter::once("commands").chain(line.split(' ')).map(str::to_owned).collect();
        let main = MachinePlan { args, ..self.plan.main.clone() };
        let plan = Plan { main, ..self.plan.clone() };
        Session::new(compiled(), Arc::new(plan), &self.inputs).expect("a good plan")
    }

    /// What the target writes, with the end if that is no success.
    fn run(&self, line: &str) -> String {
        let (first, shown) = execute(&mut self.session(line));
        let (second, _) = execute(&mut self.session(line));
        assert_eq!(first.history, second.history, "{line}");
        shown
    }
}

fn execute(session: &mut Session) -> (Execution, String) {
    let shown = Arc::new(Mutex::new(String::new()));
    let tee = Arc::clone(&shown);
    session.watch(Box::new(move |node, kind, bytes| {
        if node.0 == 0 && kind == OutputKind::Stdout {
            tee.lock().expect("no writer panics").push_str(&String::from_utf8_lossy(bytes));
        }
    }));
    let execution = session.execute(Box::new(SeededSource::new(Seed(7))), 0..u64::MAX).expect("the machine is fit");
    let mut shown = std::mem::take(&mut *shown.lock().expect("no writer panics"));
    if execution.end != (ExecutionEnd::Exited { code: 0 }) {
        shown.push_str(&format!("{}\n{:?}\n", execution.end.words(), execution.end));
    }
    (execution, shown)
}

#[test]
fn rules_answer_and_what_none_answers_is_found() {
    let git = given().scripted("git", 3, "clean\n").rule("root", SECOND, ProcessReply::NotPermitted);
    assert_eq!(git.run("run git status"), "code 3 \"clean\\n\" \"err\"\n1000ms\n");
    assert_eq!(git.run("run root"), "Error::NotPermitted\n0ms\n");
    let (execution, shown) = execute(&mut git.session("run svn status -v"));
    assert_eq!(shown, "Error::NotFound\n0ms\n");
    let [unmatched] = &execution.unmatched[..] else { panic!("{:?}", execution.unmatched) };
    assert_eq!(unmatched.asked, "svn status -v");
    assert_eq!(
        unmatched.rule,
        "[[process]]\ncommand = \"svn\"\nargs = [\"status\", \"-v\"]\nexit = 0\nstdout = \"\"\n"
    );
}

#[test]
fn a_deadline_ends_whatever_answers() {
    let both = given().scripted("git", 0, "out").component();
    assert_eq!(both.run("run-within 20 git"), "signal 9 late \"out\" \"err\"\n20ms\n");
    assert_eq!(both.run("run-within 20 self sleep 500"), "signal 9 late \"begun\\n\" \"\"\n20ms\n");
    assert_eq!(both.run("run-within 900 self sleep 500"), "code 0 \"begun\\ndone\\n\" \"\"\n500ms\n");
}

#[test]
fn faults_strike_scripts_and_components() {
    for (command, line) in [("git", "run git"), ("self", "run self sleep 0")] {
        let both = || given().scripted("git", 0, "begun\ndone\n").component();
        let whole = if command == "git" { "\"begun\\ndone\\n\" \"err\"" } else { "\"begun\\ndone\\n\" \"\"" };
        let cut = whole.replace("begun\\ndone\\n", "beg");
        let ended = |given: Given| given.run(line).lines().next().expect("a line").to_owned();
        assert_eq!(ended(both().struck("process-not-found", 0)), "Error::NotFound");
        assert_eq!(ended(both().struck("process-exit", 5)), format!("code 5 {whole}"));
        assert_eq!(ended(both().struck("process-signal", 11)), format!("signal 11 {whole}"));
        assert_eq!(ended(both().struck("process-truncate", 3)), format!("code 0 {cut}"));
        let late = both().struck("process-delay", SECOND.0 * 5).run(line);
        assert!(late.ends_with(if command == "git" { "\n6000ms\n" } else { "\n5000ms\n" }), "{late}");
    }
}

#[test]
fn a_component_is_a_process_with_a_machine_of_its_own() {
    let given = given().component();
    let own = given.run("run-with hello self own");
    let own: Vec<&str> = own.split("\\n").collect();
    assert!(own[0].starts_with(r#"code 0 "args []"#), "{own:?}");
    assert_eq!(own[1], r#"env [\"GIVEN=1\", \"OF=plan\"]"#);
    assert_eq!(own[2], "tmp 0");
    assert_eq!(own[4], r#"input \"hello\""#);
    assert!(own[5].contains("to standard error"), "{own:?}");
    assert_eq!(given.run("run self trap").lines().next(), Some("signal 6 \"before\\n\" \"\""));
    assert_eq!(given.run("run self run self upper").lines().next(), Some(r#"code 0 "code 1 \"\" \"\"\n0ms\n" """#));
}

#[test]
fn streams_go_both_ways() {
    let given = given().component();
    assert_eq!(given.run("talk self upper"), "child 2 \"GIVEN\\nONE\\nTWO\\n\"\ncode 1\n");
    assert_eq!(given.run("drain self flood 1000000"), "1000000 bytes\ncode 0\n");
    assert_eq!(given.run("shut self flood 1000000"), "code 1\n");
    assert_eq!(given.run("race 300 100 200"), "[1]\n");
    // Nobody reads what the child writes, and the parent waits for its end.
    let stuck = given.run("wait self flood 1000000");
    assert!(stuck.contains("hangs") && stuck.contains("another process to read"), "{stuck}");
}

#[test]
fn children_are_killed() {
    let given = given().scripted("git", 0, "begun").component();
    let expected = "\"begun\"\ntrue true\n0 bytes more\nsignal 15\n";
    assert_eq!(given.run("kill 15 git"), expected);
    assert_eq!(given.run("kill 15 self sleep 1000"), expected.replace("0 bytes", "1 bytes"));
}

#[test]
fn points_and_snapshots() {
    assert_eq!(given().run("buggify cache"), "0 of 200, None\n");
    let some = given().fault("buggify", "cach*", 250_000, Some(9)).run("buggify cache");
    let (count, strength) = some.split_once(" of 200, ").expect("two answers");
    assert!((30..70).contains(&count.parse::<u32>().expect("a number")), "{some}");
    assert_eq!(strength, "Some(9)\n");
    let expected = "Ok(())\nErr(Error::Busy)\nOk(())\nSome(\"one\") None\n[\"before\"] Ok(())\n\
                    Err(Error::NotFound) Err(Error::InvalidName)\n";
    assert_eq!(given().run("snapshots"), expected);
}

#[test]
fn hostile_parents_are_bounded() {
    let given = given().scripted("git", 0, "").component();
    assert_eq!(given.run("spawn-all git"), "10000 started, then Error::TooManyProcesses\n");
}

/// A real computer that has one program.
struct OneProgram(Arc<Mutex<Vec<ProcessRequest>>>);

impl LiveBackend for OneProgram {
    fn answer(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> Result<BackendResponse, String> {
        let BackendRequest::Process(ask) = ask else { return Err("only processes".to_owned()) };
        self.0.lock().expect("nobody panics").push(ask.clone());
        if ask.command != "cat" {
            return Ok(BackendResponse::Process(Err(ProcessFailure::NotFound)));
        }
        let exit = ProcessExit::Code(0);
        let stdout = ask.stdin;
        Ok(BackendResponse::Process(Ok(ProcessResponse {
            exit,
            deadline_passed: false,
            stdout,
            stderr: bytes.add(b"".to_vec()),
        })))
    }
}

#[test]
fn the_real_computer_answers_once() {
    let mut given = given().scripted("git", 0, "scripted");
    given.plan.backends.processes = Backend::Host;
    given.plan.limits.fuel = 50_000_000;
    given.plan.redact.env = vec!["GIVEN".to_owned()];
    let asked = Arc::new(Mutex::new(Vec::new()));
    let live = |line: &str| {
        let mut session = given.session(line);
        session.observe(Box::new(OneProgram(Arc::clone(&asked))));
        let (execution, shown) = execute(&mut session);
        (execution, shown, std::mem::take(&mut *asked.lock().expect("nobody panics")))
    };
    assert_eq!(live("run git").2, [], "rules come first");
    let (execution, shown, asks) = live("run-with hello cat -");
    assert!(shown.starts_with("code 0 \"hello\" \"\"\n"), "{shown}");
    assert_eq!((asks.len(), asks[0].stdin), (1, Digest::of(b"hello")));
    assert_eq!(asks[0].env, [("GIVEN".to_owned(), "1".to_owned())]);
    let [observed] = &execution.history.observations[..] else { panic!("one answer") };
    let BackendRequest::Process(recorded) = &observed.ask else { panic!("of a process") };
    assert_eq!(recorded.env[0].1, "<redacted:GIVEN>");
    assert!(live("run nonsense").1.starts_with("Error::NotFound\n"));
    // Its input is complete when the stream is dropped, or when somebody waits.
    let (_, shown, asks) = live("feed cat");
    assert_eq!((shown.as_str(), asks.len()), ("\"given fed\"\ncode 0\n", 1));
    assert_eq!(live("drain cat").1, "0 bytes\ncode 0\n");
    assert_eq!(live("kill-first cat").2, [], "what was killed before is never run");
    // Its input is complete as well when its parent ends, in whatever way of its own; then it is run.
    for way in ["return", "exit", "trap"] {
        let (execution, _, asks) = live(&format!("leave {way} cat"));
        let given = asks.iter().map(|ask| ask.stdin).collect::<Vec<_>>();
        assert_eq!(given, [Digest::of(b"given fed"), Digest::of(b"")], "{way}");
        assert_eq!(execution.history.observations.len(), 2, "{way}");
    }
    let (execution, _, asks) = live("leave spin cat");
    assert!(matches!(execution.end, ExecutionEnd::FuelExhausted { .. }), "{:?}", execution.end);
    assert_eq!(asks, [], "nothing is asked after the budget");
}
