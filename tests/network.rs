//! Two machines of one run: hyper on tokio asks axum on tokio over the simulated network.
//!
//! ```text
//! main: net-client http://server:8080 ──latency, jitter, faults──▶ server: net-server 0.0.0.0:8080
//! ```
//!
//! `FOZZY_LONG=1` makes the 10,000 requests that the issue demands; otherwise it is fewer of them.

use crate::recorded::{RecordedRun, component, machine};
use fozzy_trace::plan::{self, AllowedEnd, FaultPlan, Inputs, NetworkPlan, NodePlan};
use fozzy_trace::{Duration, Execution, ExecutionEnd, Plan};

/// What the issue demands.
const REQUESTS: u64 = 10_000;
/// In each run of the tests.
const REQUESTS_SHORT: u64 = 500;
/// Where faults make each request last minutes of virtual time.
const REQUESTS_FEW: u64 = 20;
const MILLISECOND: Duration = Duration(1_000_000);
/// All calls: few enough where they are looked at.
const ALL: fozzy_trace::HistoryWindow = 0..u64::MAX;

/// A guest on `main` with that command line, and the server on `server`.
fn pair(line: &str, plan: Plan, keep: fozzy_trace::HistoryWindow) -> RecordedRun {
    let name = if line.starts_with("net-client") { "net-client" } else { "net-server" };
    let mut inputs = Inputs::default();
    let server = inputs.add(component("net-server"));
    let program = plan::ProgramPlan { component: server, machine: machine("net-server 0.0.0.0:8080") };
    let nodes =
        vec![NodePlan { name: "server".to_owned(), program, called: false, ends: None, restart: None, counted: None }];
    RecordedRun::new(name, Plan { main: machine(line), nodes, ..plan }, inputs, keep)
}

fn asks(requests: u64, connections: u64) -> String {
    format!("net-client http://server:8080 --requests {requests} --connections {connections}")
}

fn fault(kind: &str, rate_ppm: u32) -> Plan {
    let (kind, target) = (kind.to_owned(), "main->server".to_owned());
    let rule = FaultPlan {
        kind,
        target,
        rate_ppm,
        start: Duration(0),
        length: None,
        strength: None,
        times: None,
        nemesis: None,
    };
    Plan { faults: vec![rule], ..Plan::default() }
}

fn stdout(execution: &Execution) -> String {
    String::from_utf8_lossy(execution.stdout.kept()).into_owned()
}

/// Ended well, and every request was answered.
#[track_caller]
fn all_answered(execution: &Execution, requests: u64) {
    let shown = stdout(execution);
    let said = String::from_utf8_lossy(execution.stderr.kept());
    assert_eq!(execution.end, ExecutionEnd::Exited { code: 0 }, "{shown}{said}");
    assert!(shown.starts_with(&format!("{requests} requests")) && shown.ends_with(" 0 failures\n"), "{shown}{said}");
}

#[test]
fn a_client_that_tries_again_for_ever_ends_soon_after_its_server() {
    let mut inputs = Inputs::default();
    let server = inputs.add(component("net-server"));
    let program = plan::ProgramPlan { component: server, machine: machine("net-server no-address") };
    let ends = Some(AllowedEnd::Ok);
    let nodes =
        vec![NodePlan { name: "server".to_owned(), program, called: false, ends, restart: None, counted: None }];
    let plan = Plan { main: machine(&asks(1_000_000, 1)), nodes, ..Plan::default() };
    let execution = RecordedRun::new("net-client", plan, inputs, 0..0).check(7);
    assert_eq!(execution.end, ExecutionEnd::PeerEnded { node: "server".to_owned() });
    assert!(execution.fuel_used < plan::FUEL_DEFAULT / 20, "{}", execution.fuel_used);
}

#[test]
fn all_requests_are_answered_and_every_run_is_the_same() {
    let requests = if std::env::var_os("FOZZY_LONG").is_some() { REQUESTS } else { REQUESTS_SHORT };
    all_answered(&pair(&asks(requests, 1), Plan::default(), 0..0).check(7), requests);
}

#[test]
fn another_seed_is_another_interleaving_with_the_same_result() {
    let network = NetworkPlan { jitter: MILLISECOND, ..NetworkPlan::default() };
    let mut both = pair(&asks(REQUESTS_FEW, 4), Plan { network, ..Plan::default() }, ALL);
    let [one, other] = [1, 2].map(|seed| both.check(seed));
    all_answered(&one, REQUESTS_FEW);
    assert_eq!(stdout(&one), stdout(&other));
    let calls = |execution: &Execution| {
        let calls = execution.history.entries.iter().map(|entry| (entry.node, entry.call.clone()));
        calls.collect::<Vec<_>>()
    };
    assert!(calls(&one) != calls(&other), "the same order of calls under another jitter");
}

/// So many of the client's packets are lost, in millionths. It sends one for each request and one for each connection at
/// the least: that none of 22 is lost is one seed in 2,500 (0.7^22), and that one is lost so often that TCP gives up
/// (0.3^16, and 0.3^7 for a connection) is none that anybody will meet.
const LOSS_PPM: u32 = 300_000;
/// What a lost packet costs: the first retransmission of TCP (RFC 6298). Nothing else in these runs takes that long.
const RETRANSMISSION: Duration = Duration(1_000 * MILLISECOND.0);

#[test]
fn lost_packets_cost_time_and_nothing_else() {
    let execution = pair(&asks(REQUESTS_FEW, 2), fault("packet-loss", LOSS_PPM), 0..0).check(7);
    all_answered(&execution, REQUESTS_FEW);
    let without = pair(&asks(REQUESTS_FEW, 2), Plan::default(), 0..0).check(7);
    assert!(without.ended_at.0 < RETRANSMISSION.0, "it takes {} without a loss", without.ended_at);
    assert!(execution.ended_at.since(without.ended_at) >= RETRANSMISSION, "no packet was lost");
}

#[test]
fn a_client_that_is_cut_off_gives_up() {
    let execution = pair(&asks(REQUESTS_FEW, 1), fault("partition", 1_000_000), 0..0).check(7);
    assert_eq!(execution.end, ExecutionEnd::Exited { code: 1 });
    assert!(stdout(&execution).ends_with(&format!(" {REQUESTS_FEW} failures\n")), "{}", stdout(&execution));
}

#[test]
fn where_nobody_listens_the_connection_is_refused() {
    let line = format!("net-client http://server:9 --requests {REQUESTS_FEW}");
    let execution = pair(&line, Plan::default(), 0..0).check(7);
    assert_eq!(execution.end, ExecutionEnd::Exited { code: 1 });
    let said = String::from_utf8_lossy(execution.stderr.kept()).to_lowercase();
    assert!(said.contains("refused"), "{said}");
}

#[test]
fn a_hang_names_every_machine_that_waits() {
    // Both serve, and nobody asks.
    let execution = pair("net-server 0.0.0.0:8080", Plan::default(), 0..0).check(7);
    let ExecutionEnd::Hang { waiting } = &execution.end else { panic!("{:?}", execution.end) };
    for node in ["main", "server"] {
        assert!(waiting.iter().any(|line| line.contains(node)), "{node} is not named: {waiting:?}");
    }
}

/// A fault of the machine `server` that strikes at once from `start` on, this many times.
fn of_server(kind: &str, start: Duration, times: u64, strength: Option<u64>) -> Plan {
    let (kind, target, rate_ppm) = (kind.to_owned(), "server".to_owned(), 1_000_000);
    let rule = FaultPlan { kind, target, rate_ppm, start, length: None, strength, times: Some(times), nemesis: None };
    Plan { faults: vec![rule], ..Plan::default() }
}

/// Half of what the requests take.
fn half_way() -> Duration {
    Duration(pair(&asks(REQUESTS_FEW, 1), Plan::default(), 0..0).check(7).ended_at.0 / 2)
}

fn failures(execution: &Execution) -> u64 {
    let shown = stdout(execution);
    let words: Vec<&str> = shown.split_whitespace().collect();
    words[words.len() - 2].parse().expect("the client ends with the number of its failures")
}

#[test]
fn a_server_that_is_killed_stays_down_and_is_no_finding_of_its_own() {
    let execution = pair(&asks(REQUESTS_FEW, 1), of_server("kill", half_way(), 9, None), 0..0).check(7);
    assert_eq!(execution.nodes[0].end, Some(ExecutionEnd::Killed));
    assert!((1..REQUESTS_FEW).contains(&failures(&execution)), "{}", stdout(&execution));
    let findings = fozzy_check::judge(&execution).findings;
    assert_eq!(findings.len(), 1, "the client's exit, and nothing of the server: {findings:?}");
    let tally = &execution.facts.injected.rules[0];
    assert_eq!((tally.strikes, &*tally.first[0].machine, &*tally.first[0].target), (1, "server", "server"));
}

#[test]
fn a_server_that_is_restarted_answers_again() {
    let killed = pair(&asks(REQUESTS_FEW, 1), of_server("kill", half_way(), 1, None), 0..0).check(7);
    let plan = of_server("restart", half_way(), 1, Some(1_000));
    let execution = pair(&asks(REQUESTS_FEW, 1), plan, 0..0).check(7);
    assert_eq!(execution.nodes[0].end, None, "it serves to the end");
    assert_eq!(execution.facts.injected.rules[0].strikes, 1);
    assert!(execution.facts.injected.losses.is_empty(), "the power was there");
    assert!(failures(&execution) < failures(&killed), "{}", stdout(&execution));
}

#[test]
fn a_server_that_stands_still_answers_late_and_others_go_on() {
    let second = Some(1_000 * MILLISECOND.0);
    let without = pair(&asks(REQUESTS_FEW, 1), Plan::default(), 0..0).check(7);
    let mut paused = pair(&asks(REQUESTS_FEW, 1), of_server("pause", Duration(0), 2, second), ALL);
    let execution = paused.check(7);
    all_answered(&execution, REQUESTS_FEW);
    assert!(execution.ended_at > without.ended_at, "{} and {}", execution.ended_at, without.ended_at);
    assert_eq!(execution.facts.injected.rules[0].strikes, 2);
}

#[test]
fn drawn_cuts_let_the_run_go_on() {
    let cut =
        FaultPlan { strength: Some(fozzy_world::fault::CUT_MAX.0), ..fault("partition", 100_000).faults.remove(0) };
    let plan = Plan { faults: vec![cut], ..Plan::default() };
    let execution = pair(&asks(REQUESTS_FEW, 2), plan, 0..0).check(7);
    all_answered(&execution, REQUESTS_FEW);
    let tally = &execution.facts.injected.rules[0];
    assert!(tally.strikes > 0 && tally.strikes < tally.chances, "{tally:?}");
}
