//! Machines that come and go: a run has a thousand at once at the most, and starts as many as it likes one after another.
//!
//! ```text
//! main ─run─▶ child 2, over ─run─▶ child 3, over ─ …        each on a machine of its own
//! main ─GET─▶ handler, over ─GET─▶ handler, over ─ …
//! ```
//!
//! Not here: the bound at once, and in all (`fozzy-world`, `process/tests.rs`).

use crate::recorded::{RecordedRun, component, machine};
use fozzy_trace::plan::{self, HttpReply, HttpRule, Inputs, ProcessReply, ProcessRule};
use fozzy_trace::{Duration, Execution, ExecutionEnd, Plan};

/// Three times as many as there may be at once.
const MACHINES: usize = 3 * fozzy_world::NODES_MAX;

fn stdout(execution: &Execution) -> String {
    assert_eq!(execution.end, ExecutionEnd::Exited { code: 0 }, "{}", String::from_utf8_lossy(execution.stderr.kept()));
    String::from_utf8_lossy(execution.stdout.kept()).into_owned()
}

#[test]
fn thousands_of_children_one_after_another() {
    let mut inputs = Inputs::default();
    let child = inputs.add(component("commands"));
    let answer = ProcessReply::Component(plan::ProgramPlan { component: child, machine: machine("commands") });
    let rule = ProcessRule { command: "self".to_owned(), args: None, times: None, delay: Duration(0), answer };
    let main = machine(&format!("commands run-many {MACHINES} self trap"));
    let plan = Plan { main, processes: vec![rule], ..Plan::default() };
    let execution = RecordedRun::new("commands", plan, inputs, 0..0).check(7);
    assert_eq!(stdout(&execution), format!("{MACHINES} of signal 6 \"before\\n\"\n"));
    assert!(execution.nodes.is_empty(), "machines of the plan only");
}

#[test]
fn thousands_of_handled_requests_one_after_another() {
    let mut inputs = Inputs::default();
    let handler = inputs.add(component("http-handler"));
    let answer = HttpReply::Component(plan::ProgramPlan { component: handler, machine: machine("handler") });
    let rule =
        HttpRule { method: None, url: "*".to_owned(), headers: Vec::new(), times: None, delay: Duration(0), answer };
    let main = machine(&format!("http-client{}", " http://api.test/hello".repeat(MACHINES)));
    let plan = Plan { main, http: vec![rule], ..Plan::default() };
    let shown = stdout(&RecordedRun::new("http-client", plan, inputs, 0..0).check(7));
    assert_eq!(shown.matches("200 OK").count(), MACHINES, "{}", &shown[shown.len() - 200..]);
}
