//! Truth tables of the models: sequential histories, one legal and one illegal each.

use super::*;
use crate::{CheckLimits, OperationHistory, Validity, check_linearizability};

/// The verdict on a sequential history: `process function asked answered`, in EDN.
fn verdict(name: &str, calls: &[(i64, &str, &str, &str)]) -> Validity {
    let mut text = String::new();
    for (process, function, asked, answered) in calls {
        text += &format!("{{:type :invoke, :process {process}, :f :{function}, :value {asked}}}\n");
        let (kind, value) = answered.split_once(' ').unwrap_or((answered, "nil"));
        text += &format!("{{:type :{kind}, :process {process}, :f :{function}, :value {value}}}\n");
    }
    let history = OperationHistory::read(text.as_bytes()).expect("a history");
    let row = model(name).expect("a model");
    check_linearizability(&history, row, &CheckLimits::default()).expect("a verdict").validity
}

#[test]
fn each_model_is_legal_and_illegal_where_it_should_be() {
    type Calls<'a> = &'a [(i64, &'a str, &'a str, &'a str)];
    let cases: &[(&str, Calls<'_>, Calls<'_>)] = &[
        (
            "register",
            &[(0, "write", "1", "ok 1"), (1, "read", "nil", "ok 1"), (1, "read", "nil", "ok nil")],
            &[(0, "read", "nil", "ok 1")],
        ),
        (
            "cas-register",
            &[(0, "cas", "[nil 2]", "ok [nil 2]"), (0, "cas", "[1 2]", "fail [1 2]"), (1, "read", "nil", "ok 2")],
            &[(0, "write", "1", "ok 1"), (0, "cas", "[2 3]", "ok [2 3]")],
        ),
        (
            "etcd-register",
            &[(0, "read", "nil", "ok nil"), (0, "cas", "[1 2]", "fail [1 2]"), (0, "write", "1", "ok 1")],
            &[(0, "write", "1", "ok 1"), (0, "cas", "[1 2]", "fail [1 2]")],
        ),
        (
            "etcd-register",
            &[(0, "write", "1", "ok 1"), (0, "read", "nil", "fail :timed-out")],
            &[(0, "write", "1", "ok 1"), (0, "read", "nil", "ok nil")],
        ),
        (
            "multi-register",
            &[
                (0, "txn", "[[:w :x 1] [:w :y 2]]", "ok [[:w :x 1] [:w :y 2]]"),
                (0, "txn", "[[:r :y nil]]", "ok [[:r :y 2]]"),
            ],
            &[(0, "txn", "[[:w :x 1]]", "ok [[:w :x 1]]"), (0, "txn", "[[:r :x nil]]", "ok [[:r :x 2]]")],
        ),
        (
            "multi-register",
            &[(0, "txn", "[[:w 1 1] [:r 1 nil]]", "ok [[:w 1 1] [:r 1 1]]")],
            &[(0, "txn", "[[:r 1 nil]]", "ok [[:r 1 3]]")],
        ),
        (
            "mutex",
            &[(0, "acquire", "nil", "ok"), (1, "release", "nil", "ok"), (1, "acquire", "nil", "ok")],
            &[(0, "acquire", "nil", "ok"), (1, "acquire", "nil", "ok")],
        ),
        (
            "owner-mutex",
            &[(0, "acquire", "nil", "ok"), (0, "release", "nil", "ok")],
            &[(0, "acquire", "nil", "ok"), (1, "release", "nil", "ok")],
        ),
        (
            "owner-mutex",
            &[(0, "acquire", "nil", "ok"), (1, "acquire", "nil", "fail")],
            &[(0, "acquire", "nil", "ok"), (0, "acquire", "nil", "ok")],
        ),
        (
            "reentrant-mutex",
            &[(0, "acquire", "nil", "ok"), (0, "acquire", "nil", "ok"), (0, "release", "nil", "ok")],
            &[
                (0, "acquire", "nil", "ok"),
                (0, "acquire", "nil", "ok"),
                (0, "release", "nil", "ok"),
                (1, "acquire", "nil", "ok"),
            ],
        ),
        (
            "fenced-mutex",
            &[(0, "acquire", "nil", "ok 3"), (0, "release", "nil", "ok"), (1, "acquire", "nil", "ok 4")],
            &[(0, "acquire", "nil", "ok 3"), (0, "release", "nil", "ok"), (1, "acquire", "nil", "ok 3")],
        ),
        (
            "reentrant-fenced-mutex",
            &[(0, "acquire", "nil", "ok 3"), (0, "acquire", "nil", "ok 3")],
            &[(0, "acquire", "nil", "ok 3"), (0, "acquire", "nil", "ok 4")],
        ),
        (
            "set",
            &[
                (0, "add", "1", "ok"),
                (0, "add", "2", "ok"),
                (0, "read", "nil", "ok #{2 1}"),
                (0, "remove", "1", "ok"),
                (0, "contains", "1", "ok [1 false]"),
            ],
            &[(0, "add", "1", "ok"), (0, "read", "nil", "ok [1 1]")],
        ),
        (
            "unordered-queue",
            &[
                (0, "enqueue", "1", "ok"),
                (0, "enqueue", "2", "ok"),
                (0, "dequeue", "nil", "ok 2"),
                (0, "dequeue", "nil", "ok 1"),
                (0, "dequeue", "nil", "ok nil"),
            ],
            &[(0, "enqueue", "1", "ok"), (0, "dequeue", "nil", "ok nil")],
        ),
        (
            "fifo-queue",
            &[(0, "enqueue", "1", "ok"), (0, "enqueue", "2", "ok"), (0, "dequeue", "nil", "ok 1")],
            &[(0, "enqueue", "1", "ok"), (0, "enqueue", "2", "ok"), (0, "dequeue", "nil", "ok 2")],
        ),
        (
            "stack",
            &[(0, "push", "1", "ok"), (0, "push", "2", "ok"), (0, "pop", "nil", "ok 2")],
            &[(0, "push", "1", "ok"), (0, "push", "2", "ok"), (0, "pop", "nil", "ok 1")],
        ),
        (
            "priority-queue",
            &[(0, "insert", "5", "ok"), (0, "insert", "2", "ok"), (0, "delete-min", "nil", "ok 2")],
            &[(0, "insert", "5", "ok"), (0, "insert", "2", "ok"), (0, "delete-min", "nil", "ok 5")],
        ),
        (
            "kv",
            &[
                (0, "put", "[\"a\" \"x\"]", "ok [\"a\" \"x\"]"),
                (0, "append", "[\"a\" \"y\"]", "ok [\"a\" \"y\"]"),
                (0, "get", "[\"a\" nil]", "ok [\"a\" \"xy\"]"),
                (0, "get", "[\"b\" nil]", "ok [\"b\" \"\"]"),
            ],
            &[(0, "put", "[1 \"x\"]", "ok [1 \"x\"]"), (0, "get", "[1 nil]", "ok [1 \"\"]")],
        ),
        (
            "kv",
            &[
                (0, "put", "[1 5]", "ok [1 5]"),
                (0, "cas", "[1 [5 6]]", "ok [1 [5 6]]"),
                (0, "get", "[1 nil]", "ok [1 6]"),
            ],
            &[
                (0, "put", "[1 5]", "ok [1 5]"),
                (0, "cas", "[1 [4 6]]", "ok [1 [4 6]]"),
                (0, "get", "[1 nil]", "ok [1 6]"),
            ],
        ),
    ];
    for (name, legal, illegal) in cases {
        assert_eq!(verdict(name, legal), Validity::Valid, "{name}: {legal:?}");
        assert_eq!(verdict(name, illegal), Validity::Invalid, "{name}: {illegal:?}");
    }
    for row in MODELS {
        assert!(cases.iter().any(|(name, ..)| *name == row.name), "{} has no case", row.name);
    }
}

#[test]
fn what_a_transaction_with_an_unknown_end_wrote_may_be_seen() {
    let text = "{:type :invoke :process 0 :f :txn :value [[:r x nil]]} {:type :info :process 0 :f :txn :value [[:r x nil] [:w x 5]]}
                {:type :invoke :process 1 :f :txn :value [[:r x nil]]} {:type :ok :process 1 :f :txn :value [[:r x 5]]}";
    let row = model("multi-register").expect("a model");
    for (text, expected) in
        [(text.to_owned(), Validity::Valid), (text.replace("[:w x 5]", "[:w x 6]"), Validity::Invalid)]
    {
        let history = OperationHistory::read(text.as_bytes()).expect("a history");
        let verdict = check_linearizability(&history, row, &CheckLimits::default()).expect("a verdict");
        assert_eq!(verdict.validity, expected);
    }
}

#[test]
fn histories_that_do_not_fit_a_model_are_refused() {
    let cases = [
        (
            "register",
            "{:type :invoke, :process 0, :f :cas, :value [1 2]}",
            "line 1: found `cas` with value `[1 2]`, expected a function of the model: read, write",
        ),
        (
            "cas-register",
            "\n{:type :invoke, :process 0, :f :cas, :value 1}",
            "line 2: found `cas` with value `1`, expected a value [from to] of cas",
        ),
        (
            "kv",
            "{:type :invoke, :process 0, :f :append, :key 1, :value 1}",
            "line 1: found `append` with value `1`, expected a text to append",
        ),
        (
            "multi-register",
            "{:type :invoke, :process 0, :f :txn, :value [[:append 1 2]]}",
            "line 1: found `txn` with value `[[:append 1 2]]`, expected a value [[:r key value] [:w key value] …]",
        ),
        (
            "register",
            "{:type :invoke, :process 0, :f :read, :value [1 nil]} {:type :ok, :process 0, :f :read, :value [2 3]}",
            "line 1: found `[2 3]` as what `read` returned, expected an answer for key `1`, which was asked",
        ),
        (
            "kv",
            "{:type :invoke, :process 0, :f :get, :key 1}\n{:type :ok, :process 0, :f :get, :key 2, :value 3}",
            "line 2: found `2` as what `get` returned, expected an answer for key `1`, which was asked",
        ),
        (
            "register",
            "{:type :invoke, :process 0, :f :read, :value [1 nil]} {:type :ok, :process 0, :f :read, :value [1 3]}
             {:type :invoke, :process 0, :f :write, :value 5}",
            "line 2: found `write` with value `5`, expected a value [key value], as other operations have",
        ),
        (
            "set",
            "{:type :invoke, :process 0, :f :contains, :value 1} {:type :ok, :process 0, :f :contains, :value 1}",
            "line 1: found `contains` with value `1`, expected true or false of contains, or [element true], [element false]",
        ),
        (
            "register",
            "w(1,1,0,0)",
            "found Plume text without an order in time, expected a history in the order of time, as linearizability needs",
        ),
    ];
    for (name, text, expected) in cases {
        let history = OperationHistory::read(text.as_bytes()).expect("a history");
        let result = check_linearizability(&history, model(name).expect("a model"), &CheckLimits::default());
        assert_eq!(result.map(|_| ()).map_err(|error| error.to_string()), Err(expected.to_owned()));
    }
}
