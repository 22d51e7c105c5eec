//! Random seeds of a guest that uses everything: traces equal over two runs each, replays equal, with and without faults.
//!
//! ```text
//! even seeds   no fault                      ─▶ exit 0, "… 0 errors"
//! odd seeds    one rule for every kind       ─▶ every kind strikes in some run, no run fails because of the harness
//! ```
//!
//! The guest has another machine to talk to, rules and components that answer its HTTP requests and commands, and asks for
//! points and snapshots: `tests/guests/everything`. `FOZZY_LONG=1` does all seeds that the issue demands; otherwise it is fewer
//! of them, and as many more with faults as it takes until every kind has struck.

use crate::recorded::{RecordedRun, component, machine};
use fozzy_trace::observation::BackendRequest;
use fozzy_trace::plan::fault::RATE_ALWAYS_PPM;
use fozzy_trace::plan::{
    self, FaultPlan, HttpReply, HttpRule, Inputs, NodePlan, ProcessExit, ProcessReply, ProcessRule,
};
use fozzy_trace::source::SeededSource;
use fozzy_trace::{
    DecisionSource, Duration, Execution, ExecutionEnd, ObservationLookup, Origin, Plan, Purpose, Question, Seed,
};
use fozzy_world::fault::{FAULTS, FaultKind, FaultTarget, strikes_memory};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// What the issue demands, half of them with faults.
const SEEDS: u64 = 200;
/// In each run of the tests: what a debug build does within a minute.
const SEEDS_SHORT: u64 = 40;

/// One in a hundred operations: most of the guest's hundreds go well, and each run sees some that do not. What becomes of
/// unsynced writes is asked only when the power fails, of a few files: there every second one. A machine that begins again has all of
/// its hundreds before it once more, and with a restart in a hundred would never end.
fn rate_ppm(kind: &str) -> u32 {
    match kind {
        "lost-write" | "torn-write" => 500_000,
        "restart" => 1_000,
        _ => 10_000,
    }
}

/// Every kind, but for those of memory: the guest, in Rust, ends when an allocation fails.
fn kinds() -> impl Iterator<Item = &'static FaultKind> {
    FAULTS.iter().copied().filter(|kind| !strikes_memory(kind.name))
}

/// One rule for each of them.
fn every_fault() -> Vec<FaultPlan> {
    let rule = |kind: &FaultKind| {
        let target = match kind.target {
            FaultTarget::Link => "*->*",
            FaultTarget::Path | FaultTarget::Url | FaultTarget::Command | FaultTarget::Node | FaultTarget::Point => "*",
        };
        FaultPlan {
            kind: kind.name.to_owned(),
            target: target.to_owned(),
            rate_ppm: rate_ppm(kind.name),
            start: Duration(0),
            length: None,
            strength: None,
            // A machine that loses power again and again never comes to its end.
            times: (kind.name == "power-loss").then_some(1),
            nemesis: None,
        }
    };
    kinds().map(rule).collect()
}

/// The number of errors that the guest counted, from its last line.
fn errors(execution: &Execution) -> u64 {
    let stdout = String::from_utf8_lossy(execution.stdout.kept()).into_owned();
    let last = stdout.lines().last().unwrap_or_default();
    let count = last.strip_suffix(" errors").and_then(|line| line.rsplit(' ').next());
    count.and_then(|count| count.parse().ok()).unwrap_or_else(|| panic!("no last line: {last:?}, {:?}", execution.end))
}

/// The guest, and everything that it asks for.
fn everything(faults: Vec<FaultPlan>) -> RecordedRun {
    let mut inputs = Inputs::default();
    let (text, nothing) = (inputs.add(b"scripted".to_vec()), inputs.add(Vec::new()));
    let mut program = |name, line| plan::ProgramPlan { component: inputs.add(component(name)), machine: machine(line) };
    let server = program("net-server", "net-server 0.0.0.0:8080");
    let server = NodePlan {
        name: "server".to_owned(),
        program: server,
        called: false,
        ends: None,
        restart: None,
        counted: None,
    };
    let (handler, child) = (program("http-handler", "handler"), program("commands", "commands"));
    let http = |url: &str, answer| {
        let (url, delay) = (url.to_owned(), Duration(1_000_000));
        HttpRule { method: None, url, headers: Vec::new(), times: None, delay, answer, others: None }
    };
    let process = |command: &str, answer| {
        let (command, delay) = (command.to_owned(), Duration(1_000_000));
        ProcessRule { command, args: None, times: None, delay, answer, others: None }
    };
    let response = HttpReply::Response { status: 200, headers: Vec::new(), body: text, reset_after: None };
    let output = ProcessReply::Output { exit: ProcessExit::Code(0), stdout: text, stderr: nothing };
    let plan = Plan {
        main: machine("everything"),
        nodes: vec![server],
        http: vec![http("http://api.test/*", response), http("http://handler.test/*", HttpReply::Component(handler))],
        processes: vec![process("tool", output), process("child", ProcessReply::Component(child))],
        faults,
        ..Plan::default()
    };
    RecordedRun::new("everything", plan, inputs, 0..0)
}

/// Draws from a seed, and notes which kinds of fault strike.
struct NoteObserver {
    source: SeededSource,
    struck: Arc<Mutex<BTreeSet<String>>>,
}

impl DecisionSource for NoteObserver {
    fn below(&mut self, question: Question<'_>, bound: u64) -> (u64, Origin) {
        let (answer, origin) = self.source.below(question, bound);
        let is_kind = kinds().any(|kind| kind.name == question.site);
        if question.purpose == Purpose::Fault && is_kind && bound == u64::from(RATE_ALWAYS_PPM) {
            // The greatest answers strike.
            if answer >= bound - u64::from(rate_ppm(question.site)) {
                self.struck.lock().expect("nobody panics").insert(question.site.to_owned());
            }
        }
        (answer, origin)
    }

    fn fill(&mut self, question: Question<'_>, out: &mut [u8]) -> Origin {
        self.source.fill(question, out)
    }

    fn seed(&self) -> Seed {
        self.source.seed()
    }

    fn fork(&self) -> Box<dyn DecisionSource> {
        Box::new(NoteObserver { source: self.source.clone(), struck: Arc::clone(&self.struck) })
    }

    fn observe(&mut self, ask: &BackendRequest, bytes: &mut Inputs) -> ObservationLookup {
        self.source.observe(ask, bytes)
    }
}

fn seeds() -> u64 {
    if std::env::var_os("FOZZY_LONG").is_some() { SEEDS } else { SEEDS_SHORT }
}

#[test]
fn without_faults_every_seed_is_the_same_run_again() {
    let mut guest = everything(Vec::new());
    for seed in (0..seeds()).step_by(2) {
        let execution = guest.check(seed);
        assert_eq!(execution.end, ExecutionEnd::Exited { code: 0 }, "seed {seed}");
        assert_eq!(errors(&execution), 0, "seed {seed}: {}", String::from_utf8_lossy(execution.stderr.kept()));
        assert_eq!(execution.unmatched, [], "seed {seed}");
    }
}

#[test]
fn with_every_kind_of_fault_every_seed_is_the_same_run_again() {
    let mut guest = everything(every_fault());
    let struck = Arc::new(Mutex::new(BTreeSet::new()));
    let mut failed = 0;
    for seed in (1..SEEDS).step_by(2) {
        if seed < seeds() {
            let execution = guest.check(seed);
            assert_eq!(execution.end, ExecutionEnd::Exited { code: 0 }, "seed {seed}");
            failed += u64::from(errors(&execution) > 0);
        }
        if struck.lock().expect("nobody panics").len() < kinds().count() {
            guest
                .execute(Box::new(NoteObserver { source: SeededSource::new(Seed(seed)), struck: Arc::clone(&struck) }));
        }
    }
    assert!(failed > seeds() / 4, "the guest saw errors in {failed} runs only");
    let struck = struck.lock().expect("nobody panics");
    let never: Vec<&str> = kinds().map(|kind| kind.name).filter(|kind| !struck.contains(*kind)).collect();
    assert_eq!(never, [""; 0], "kinds that struck in no run");
}
