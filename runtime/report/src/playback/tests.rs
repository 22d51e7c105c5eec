//! Runs whose messages are known.

use super::*;
use crate::profile::{ActivityCollector, CallSpan, MachineTimes, MessageFlow, RunNote};
use crate::show::MachineNames;
use fozzy_trace::facts::Operations;
use fozzy_trace::{Activity, DatagramStep, HistoryEntry};

const MS: u64 = 1_000_000;

fn note(node: u32, at: u64, kind: NoteKind, text: &str) -> RunNote {
    RunNote { node: NodeId(node), at: Instant(at), kind, text: text.to_owned() }
}

fn event(at: u64, name: &str, text: &str) -> CallSpan {
    let entry = HistoryEntry {
        index: 0,
        at: Instant(at),
        node: NodeId(0),
        call: "fozzy:events/journal.event".to_owned(),
        asked: format!("\"{name}\", \"{text}\""),
        answer: String::new(),
        decision: false,
    };
    CallSpan { since: Instant(at), entry, task: None }
}

/// A client asks n0, which tells n1 and asks a service; another message is lost.
fn routed() -> RunActivity {
    let line = |src: &str, dest: &str, body: &str| format!(r#"{{"src":"{src}","dest":"{dest}","body":{{{body}}}}}"#);
    let to = |node: &str, id: u64, src: &str, body: &str| {
        format!(r#"{node} {{"id":{id},"src":"{src}","dest":"{node}","body":{{{body}}}}}"#)
    };
    let out = |node: u32, at: u64, text: String| note(node, at, NoteKind::Output, &text);
    let mut operations = Operations::default();
    let number = operations.invoke(0, "broadcast", "7", Instant(MS)).expect("room");
    let notes = vec![
        out(0, MS, to("n0", 1, "c2", r#""type":"broadcast","message":7,"msg_id":1"#)),
        out(1, MS + 10, line("n0", "n1", r#""type":"gossip","message":7"#)),
        out(1, MS + 20, line("n0", "c2", r#""type":"broadcast_ok","in_reply_to":1"#)),
        out(1, MS + 30, line("n0", "lin-kv", r#""type":"read","key":1,"msg_id":9"#)),
        note(1, MS + 40, NoteKind::Errors, "a <line>"),
        out(0, 5 * MS, to("n1", 2, "n0", r#""type":"gossip","message":7"#)),
        out(0, 6 * MS, "!kill n1".to_owned()),
        out(1, 7 * MS, line("n0", "n1", r#""type":"gossip","message":8"#)),
        out(0, 9 * MS, to("n0", 5, "lin-kv", r#""type":"read_ok","value":3,"in_reply_to":9"#)),
        note(0, 10 * MS, NoteKind::Finding, "it fails"),
    ];
    operations
        .end(number, fozzy_trace::facts::OperationEnd::Ok(String::new()), Instant(MS + 25))
        .expect("it was begun");
    let machine = MachineTimes { started: Some(Instant(0)), ..MachineTimes::default() };
    RunActivity {
        names: (0..).map(NodeId).zip(["main", "n0", "n1"].map(str::to_owned)).collect(),
        machines: (0..3).map(|node| (NodeId(node), machine.clone())).collect(),
        events: vec![event(6 * MS, "kill", "n1"), event(8 * MS, "start", "")],
        notes,
        operations: operations.all().to_vec(),
        is_routed: true,
        end: Instant(10 * MS),
        ..RunActivity::default()
    }
}

#[test]
fn lines_by_way_of_a_router_become_messages_with_both_ends() {
    let playback = RunPlayback::of(&routed());
    let lanes: Vec<&str> = playback.lanes.iter().map(|lane| lane.name.as_str()).collect();
    assert_eq!(lanes, ["c2", "n0", "n1", "lin-kv"]);
    let shown = |message: &PlaybackMessage| {
        let [from, to] = [message.from, message.to].map(|lane| lanes[lane]);
        let received = message.received.map(|(at, _)| at / MS);
        (from, to, message.label.clone(), message.sent.0 / MS, received)
    };
    let all: Vec<_> = playback.messages.iter().map(shown).collect();
    let row = |from, to, label: &str, sent, received| (from, to, label.to_owned(), sent, received);
    assert_eq!(
        all,
        [
            row("c2", "n0", "broadcast", 1, Some(1)),
            row("n0", "n1", "gossip", 1, Some(5)),
            row("n0", "c2", "broadcast_ok", 1, Some(1)),
            // Halfway between request and reply.
            row("n0", "lin-kv", "read", 1, Some(5)),
            row("n0", "n1", "gossip", 7, None),
            row("lin-kv", "n0", "read_ok", 5, Some(9)),
        ]
    );
    let operation = &playback.operations[0];
    assert_eq!((operation.lane, operation.request, operation.reply, operation.outcome), (0, Some(0), Some(2), "ok"));
    assert!(playback.states.iter().any(|state| (state.lane, state.state) == (2, "killed")), "{:?}", playback.states);
    let fault = &playback.faults[0];
    assert_eq!((fault.name.as_str(), fault.begun.0, fault.ended.map(|at| at.0)), ("kill", 6 * MS, Some(8 * MS)));
}

#[test]
fn a_page_has_its_data_and_no_word_of_a_program_as_code() {
    let page = RunPlayback::of(&routed()).html();
    assert!(page.contains("a \\u003cline\\u003e") && !page.contains("<line>"), "{page}");
    assert!(page.contains("drawn halfway"), "{page}");
    assert_eq!(page.matches("<script").count(), page.matches("</script>").count());
}

#[test]
fn messages_operations_and_faults_are_lines_in_their_order() {
    let lines = RunPlayback::of(&routed()).lines();
    let of =
        |words: &str| lines.lines().position(|line| line.contains(words)).unwrap_or_else(|| panic!("{words}\n{lines}"));
    let order = [
        "process 0 begins broadcast 7",
        "c2 -> n0      #1 broadcast",
        "n0 -> n1      #2 gossip, received after",
        "n0 -> c2      broadcast_ok",
        "process 0 ends broadcast: ok",
        "stderr: a <line>",
        "! kill n1",
        "gossip, not received",
        "! end of kill",
        "finding: it fails",
    ];
    let places: Vec<usize> = order.iter().map(|words| of(words)).collect();
    assert!(places.is_sorted(), "{places:?}\n{lines}");
}

#[test]
fn bytes_of_connections_are_messages_and_the_last_ones_are_kept() {
    let flow = |at: u64| MessageFlow {
        from: NodeId((at % 2) as u32),
        sent: Instant(at * 10),
        to: NodeId((at % 2) as u32 ^ 1),
        read: Instant(at * 10 + 25),
        bytes: at,
        tasks: (None, None),
    };
    let activity = RunActivity {
        names: [(NodeId(0), "main".to_owned()), (NodeId(1), "server".to_owned())].into(),
        flows: (0..SHOWN_MAX as u64 + 5).map(flow).collect(),
        ..RunActivity::default()
    };
    let playback = RunPlayback::of(&activity);
    assert_eq!((playback.messages.len(), playback.left_out), (SHOWN_MAX, 5));
    assert_eq!(playback.messages[0].label, "5 bytes");
    assert!(playback.html().contains("5 events are left out"));
    let alone = RunActivity { flows: Vec::new(), ..activity };
    assert!(RunPlayback::of(&alone).is_empty());
}

#[test]
fn datagrams_are_messages_also_those_that_are_lost_doubled_or_late() {
    let mut collector = ActivityCollector::new();
    let mut step = |node: u32, at: u64, step: DatagramStep| {
        collector.activity(Activity::Datagram { node: NodeId(node), at: Instant(at * MS), step });
    };
    let sent = |number: u64, copies: u32, is_late: bool| DatagramStep::Sent {
        number,
        to: NodeId(1),
        bytes: number + 1,
        copies,
        is_late,
    };
    let received = |number: u64| DatagramStep::Received { number };
    let all = [
        (0, 1, sent(0, 1, false)),
        (0, 2, sent(1, 0, false)),
        (0, 3, sent(2, 2, false)),
        (0, 4, sent(3, 1, true)),
        (0, 5, sent(4, 1, false)),
        (1, 6, received(0)),
        (1, 6, received(2)),
        (1, 7, received(2)),
        (1, 9, received(3)),
        // Of no machine that was seen to send it.
        (1, 9, received(9)),
    ];
    all.into_iter().for_each(|(node, at, of)| step(node, at, of));
    for node in [0, 1] {
        collector.activity(Activity::Turn { node: NodeId(node), at: Instant(0), ready: Vec::new() });
    }
    let lines = RunPlayback::of(&collector.finish("a".to_owned(), Instant(10 * MS), &MachineNames::default())).lines();
    let messages: Vec<&str> =
        lines.lines().filter_map(|line| line.split_once("  datagram of ")).map(|one| one.1).collect();
    assert_eq!(
        messages,
        [
            "1 byte, received after 5ms",
            "2 bytes, lost, not received",
            "3 bytes, received after 3ms",
            "3 bytes, once more, received after 4ms",
            "4 bytes, held back, received after 5ms",
            "5 bytes, not received",
        ],
        "{lines}"
    );
}
