//! The page of small histories: what stands in it, and what cannot.

use super::*;
use fozzy_check::{
    CheckLimits, OperationHistory, Validity, check_linearizability, minimize_violation, model, pair_calls,
};
use serde_json::Value;

fn read(lines: &[&str]) -> OperationHistory {
    let text: String = lines.iter().map(|line| format!("{{{line}}}\n")).collect();
    OperationHistory::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

/// The timeline of a history of a register.
fn judged(history: &OperationHistory) -> HistoryTimeline {
    let (row, limits) = (model("register").expect("it is a model"), CheckLimits::default());
    let verdict = check_linearizability(history, row, &limits).expect("it fits");
    let part = |one: &fozzy_check::PartitionVerdict| TimelinePart {
        key: one.key,
        validity: one.validity,
        calls: one.calls.clone(),
        order: one.order.clone(),
        minimal: match one.validity {
            Validity::Invalid => minimize_violation(history, row, one, &limits).expect("it fits").map(|one| one.calls),
            _ => None,
        }
        .unwrap_or_default(),
        stuck: one.stuck,
    };
    let parts: Vec<TimelinePart> = verdict.partitions.iter().map(part).collect();
    HistoryTimeline::new(history, &pair_calls(history).expect("calls pair"), &parts)
}

/// The data in the page of a history.
fn data(history: &OperationHistory) -> Value {
    let check = HistoryCheck { file: "h.edn".to_owned(), validity: "invalid".to_owned(), ..HistoryCheck::default() };
    let page = history_page(&[HistoryPage { check, timeline: judged(history) }]);
    let (_, rest) = page.split_once("<script type=\"application/json\">").expect("the page has data");
    let (json, _) = rest.split_once("</script>").expect("the data ends");
    serde_json::from_str(json).expect("the data is JSON")
}

const STALE_READ: [&str; 8] = [
    ":index 0, :time 5, :type :invoke, :process 0, :f :write, :value [k 1]",
    ":index 1, :time 9, :type :ok, :process 0, :f :write, :value [k 1]",
    ":index 2, :time 10, :type :info, :process :nemesis, :f :start-partition, :value nil",
    ":index 3, :time 11, :type :invoke, :process 1, :f :read, :value [k nil]",
    ":index 4, :time 12, :type :info, :process :nemesis, :f :stop-partition, :value nil",
    ":index 5, :time 13, :type :ok, :process 1, :f :read, :value [k 2]",
    ":index 6, :time 14, :type :invoke, :process 2, :f :write, :value [k 3]",
    ":index 7, :time 15, :type :fail, :process 2, :f :write, :value [k 3]",
];

#[test]
fn data_has_calls_with_their_marks_and_faults() {
    let found = data(&read(&STALE_READ));
    let expected = serde_json::json!({
        "functions": ["write", "read"],
        "processes": ["0", "1", "2"],
        "calls": [
            [0, 0, 1, 0, 0, 0, "1", null, 0, 1, 0, 4],
            [0, 3, 5, 0, 1, 1, null, "2", 3, 4, 6, 8],
            [0, 6, 7, 1, 2, 0, "3", null, 6, 7, 9, 10],
        ],
        "parts": [{"key": "k", "validity": "invalid", "calls": 3, "order": [0], "minimal": [1], "stuck": 1}],
        "faults": [[2, 4, "partition", "E9DCA0", 5, 7]],
        "first": 0,
    });
    assert_eq!(found, expected);
}

#[test]
fn faults_end_where_their_nemesis_ends_them() {
    let nemesis = |functions: &[&str]| {
        let lines: Vec<String> =
            functions.iter().map(|name| format!(":type :info, :process :nemesis, :f :{name}, :value nil")).collect();
        let history = read(&lines.iter().map(String::as_str).collect::<Vec<_>>());
        let bands = fault_bands::fault_bands(&history, 0);
        bands.iter().map(|band| format!("{} {}-{}", band.2, band.0, band.1)).collect::<Vec<_>>().join(", ")
    };
    // Each operation has an invocation and a completion.
    assert_eq!(nemesis(&["kill", "kill", "start", "start"]), "kill 0-3");
    assert_eq!(nemesis(&["start", "start", "stop", "stop", "start"]), "fault 0-3, fault 4--1");
    assert_eq!(nemesis(&["start-packet", "pause", "resume", "stop-packet"]), "packet 0-3, pause 1-2");
    assert_eq!(nemesis(&["bump-clock", "strobe-clock", "reset-clock"]), "clock 0-2");
    assert_eq!(nemesis(&["join-node", "join-node", "join-node"]), "join-node 0-1, join-node 2-2");
    assert_eq!(nemesis(&["stop-partition"]), "stop-partition 0-0", "what never began");
}

#[test]
fn hostile_words_stay_words() {
    let hostile = "</script><img src=x onerror=alert(1)>&'\\u202eabc\\u2028";
    let lines = [
        format!(":type :invoke, :process 0, :f :write, :value \"{hostile}\""),
        format!(":type :ok, :process 0, :f :write, :value \"{hostile}\""),
        format!(":type :info, :process :nemesis, :f \"{hostile}\", :value nil"),
        ":type :invoke, :process 1, :f :read, :value nil".to_owned(),
        ":type :ok, :process 1, :f :read, :value \"<b>\"".to_owned(),
    ];
    let history = read(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let call = HistoryCall {
        function: "<i>read".to_owned(),
        process: "\"><i>".to_owned(),
        argument: Some("</td><i>".to_owned()),
        outcome: "ok".to_owned(),
        ..HistoryCall::default()
    };
    let violation = HistoryViolation {
        key: Some("<i>".to_owned()),
        minimal: vec![call.clone()],
        state: "<i>".to_owned(),
        stuck: Some(call.clone()),
        ..HistoryViolation::default()
    };
    let step = crate::DependencyReport { relation: "<i>".to_owned(), because: "<i>".to_owned() };
    let anomaly = crate::TransactionAnomalyReport {
        kind: "<i>".to_owned(),
        transactions: vec![call.clone(), call],
        steps: vec![step.clone(), step],
        ..crate::TransactionAnomalyReport::default()
    };
    let found = crate::CheckerAnomaly { kind: "<i>".to_owned(), message: "<i>".to_owned(), operations: Vec::new() };
    let check = HistoryCheck {
        file: "<i>.edn".to_owned(),
        validity: "invalid".to_owned(),
        violations: vec![violation],
        isolation: Some(crate::IsolationReport { anomalies: vec![anomaly], ..crate::IsolationReport::default() }),
        anomalies: vec![found],
        ..HistoryCheck::default()
    };
    let page = history_page(&[HistoryPage { check, timeline: judged(&history) }]);
    assert!(!page.contains("<img") && !page.contains("<b>\"") && !page.contains("<i>"), "{page}");
    assert!(!page.contains('\u{202e}') && !page.contains('\u{2028}'), "text is turned around");
    assert_eq!(page.matches("</script>").count(), 2, "the data, and our script");
    assert!(page.contains("Content-Security-Policy") && !page.contains("http://") && !page.contains("https://"));
}

#[test]
fn pages_are_bounded_and_say_what_was_left_out() {
    let mut history = OperationHistory::default();
    for number in 0..30_000 {
        let value = history.pool.integer(number);
        history.push(0, fozzy_check::OperationType::Invoke, "write", value);
        history.push(0, fozzy_check::OperationType::Ok, "write", value);
    }
    let calls = pair_calls(&history).expect("calls pair");
    let part = TimelinePart {
        key: None,
        validity: Validity::Invalid,
        calls: calls.iter().map(|call| call.invocation).collect(),
        order: Vec::new(),
        minimal: vec![2, 58_000],
        stuck: Some(58_002),
    };
    let timeline = HistoryTimeline::new(&history, &calls, &[part]);
    assert_eq!(
        timeline.cut_words().unwrap_or_default(),
        "20,000 of 30,000 calls are shown: those of parts that are wrong first, nearest to what is wrong."
    );
    let data: Value = serde_json::from_str(&timeline.json()).expect("it is JSON");
    let part = &data["parts"][0];
    assert_eq!(part["minimal"].as_array().map(Vec::len), Some(2), "what is marked is shown, however far it is");
    assert_eq!(data["calls"][part["stuck"].as_u64().unwrap_or_default() as usize][1], 58_002);
}

#[test]
fn cycles_are_drawn_and_written_for_graphviz() {
    let call = |index: u64, value: &str| HistoryCall {
        index,
        line: Some(index + 1),
        process: index.to_string(),
        function: "txn".to_owned(),
        result: Some(value.to_owned()),
        outcome: "ok".to_owned(),
        ..HistoryCall::default()
    };
    let step = |because: &str| crate::DependencyReport { relation: "rw".to_owned(), because: because.to_owned() };
    let anomaly = crate::TransactionAnomalyReport {
        kind: "G2-item".to_owned(),
        transactions: vec![call(0, "[[:r 1 []] [:append 2 \"\\\"]]"), call(1, "[[:r 2 []] [:append 1 1]]")],
        steps: vec![step("T1 read [] of key 1"), step("T2 read [] of key 2")],
        shortest: true,
        ..crate::TransactionAnomalyReport::default()
    };
    let svg = cycle_svg(&anomaly).expect("it is a cycle");
    assert_eq!(svg.matches("<rect ").count(), 2);
    assert_eq!(svg.matches("marker-end=\"url(#arrow-rw)\"").count(), 2);
    let check = HistoryCheck {
        file: "skew.edn".to_owned(),
        isolation: Some(crate::IsolationReport { anomalies: vec![anomaly], ..crate::IsolationReport::default() }),
        ..HistoryCheck::default()
    };
    let expected = r#"digraph cycles {
  rankdir=LR;
  node [shape=box, fontname="sans-serif"];
  edge [fontname="sans-serif"];
  subgraph cluster_1 {
    label="G2-item\nskew.edn";
    c1t1 [label="T1: line 1, process 0\n[[:r 1 []] [:append 2 \"\\\"]]"];
    c1t2 [label="T2: line 2, process 1\n[[:r 2 []] [:append 1 1]]"];
    c1t1 -> c1t2 [label="rw", tooltip="T1 read [] of key 1"];
    c1t2 -> c1t1 [label="rw", tooltip="T2 read [] of key 2"];
  }
}
"#;
    assert_eq!(cycles_dot([&check]), expected);
}
