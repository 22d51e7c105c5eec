//! Lines in, lines out, at moments that the tests choose.

use super::*;

/// A node with a counter as its state, and what it has printed.
struct Bench {
    node: MaelstromNode<u64>,
    state: u64,
}

impl Bench {
    fn of(node: MaelstromNode<u64>) -> Bench {
        let mut bench = Bench { node, state: 0 };
        let init = r#"{"id":0,"src":"c0","dest":"n1","body":{"type":"init","msg_id":1,"node_id":"n1","node_ids":["n1","n2"]}}"#;
        assert_eq!(bench.hear(init), [r#"{"src":"n1","dest":"c0","body":{"type":"init_ok","in_reply_to":1}}"#]);
        bench
    }

    fn printed(&mut self) -> Vec<String> {
        String::from_utf8(self.node.context.take_output()).expect("text").lines().map(str::to_owned).collect()
    }

    fn hear(&mut self, line: &str) -> Vec<String> {
        self.node.hear(&mut self.state, line.as_bytes()).expect("a message");
        self.printed()
    }

    fn advance(&mut self, ms: u64) -> Vec<String> {
        self.node.advance(&mut self.state, Duration::from_millis(ms));
        self.printed()
    }
}

#[test]
fn messages_are_answered_by_their_handlers_and_others_by_an_error() {
    let mut node = MaelstromNode::new();
    node.on("add", |context, sum: &mut u64, message| {
        *sum += message.body["delta"].as_u64().unwrap_or_default();
        context.reply(message, json!({"type": "add_ok"}));
    });
    let mut bench = Bench::of(node);
    assert_eq!(bench.node.context.others(), ["n2"]);
    let answered = bench.hear(r#"{"src":"c1","dest":"n1","body":{"type":"add","delta":3,"msg_id":7}}"#);
    assert_eq!(answered, [r#"{"src":"n1","dest":"c1","body":{"type":"add_ok","in_reply_to":7}}"#]);
    assert_eq!(bench.state, 3);
    let refused = bench.hear(r#"{"src":"c1","dest":"n1","body":{"type":"what","msg_id":8}}"#);
    assert!(refused[0].contains(r#""code":10"#), "{refused:?}");
    assert!(bench.hear(r#"{"src":"n2","dest":"n1","body":{"type":"what"}}"#).is_empty(), "nobody waits for an answer");
    assert!(bench.hear("  ").is_empty());
    for wrong in ["x", "{}", r#"{"src":"c1","dest":"n1","body":3}"#] {
        let why = bench.node.hear(&mut bench.state, wrong.as_bytes()).expect_err("no message").to_string();
        assert!(why.contains("expected a message") && why.contains(wrong), "{why}");
    }
}

#[test]
fn a_request_is_answered_once_or_times_out() {
    let mut node = MaelstromNode::new();
    node.on("ask", |context, _, _| {
        context.request("lin-kv", json!({"type": "read", "key": 1}), Duration::from_millis(100), |_, state, answer| {
            *state = match answer {
                Ok(body) => body["value"].as_u64().unwrap_or_default(),
                Err(error) => 1_000 + error.code.unsigned_abs(),
            };
        });
    });
    let mut bench = Bench::of(node);
    let ask = r#"{"src":"c1","dest":"n1","body":{"type":"ask"}}"#;
    let asked = bench.hear(ask);
    assert_eq!(asked, [r#"{"src":"n1","dest":"lin-kv","body":{"type":"read","key":1,"msg_id":1}}"#]);
    bench.hear(r#"{"src":"lin-kv","dest":"n1","body":{"type":"read_ok","value":42,"in_reply_to":1}}"#);
    assert_eq!(bench.state, 42);
    bench.hear(r#"{"src":"lin-kv","dest":"n1","body":{"type":"read_ok","value":43,"in_reply_to":1}}"#);
    bench.advance(200);
    assert_eq!(bench.state, 42, "it was answered");
    bench.hear(ask);
    bench.hear(r#"{"src":"lin-kv","dest":"n1","body":{"type":"error","code":20,"text":"no key","in_reply_to":2}}"#);
    assert_eq!(bench.state, 1_020);
    bench.hear(ask);
    bench.advance(299);
    assert_eq!(bench.state, 1_020);
    bench.advance(300);
    assert_eq!(bench.state, 1_000, "a timeout");
    bench.hear(r#"{"src":"lin-kv","dest":"n1","body":{"type":"read_ok","value":44,"in_reply_to":3}}"#);
    assert_eq!(bench.state, 1_000, "too late");
}

#[test]
fn timers_are_called_in_the_order_of_their_moments() {
    let mut node = MaelstromNode::new();
    node.on_init(|context, _| {
        context.every(Duration::from_millis(30), |context, ticks| {
            *ticks += 1;
            context.send("n2", &json!({"tick": *ticks}));
        });
        context.after(Duration::from_millis(50), |context, _| context.send("n2", &json!({"once": true})));
    });
    let mut bench = Bench::of(node);
    assert_eq!(bench.node.context.next_due(), Some(Duration::from_millis(30)));
    assert_eq!(bench.advance(29), [""; 0]);
    assert_eq!(bench.advance(30).len(), 1);
    assert!(bench.advance(55)[0].contains("once"));
    let later = bench.advance(61);
    assert_eq!((later.len(), bench.state), (1, 2), "{later:?}");
    assert_eq!(bench.node.context.next_due(), Some(Duration::from_millis(91)), "a period after the last time");
}

#[test]
fn lines_are_the_same_however_their_bytes_come() {
    let text = b"one\n\ntwo\nrest";
    for first in 0..=text.len() {
        for second in first..=text.len() {
            let (mut rest, mut lines) = (Vec::new(), Vec::new());
            for come in [&text[..first], &text[first..second], &text[second..]] {
                input::take_lines(come, &mut rest, &mut lines);
            }
            assert_eq!(lines, [&b"one"[..], b"", b"two"], "cut at {first} and {second}");
            assert_eq!(rest, b"rest");
        }
    }
}
