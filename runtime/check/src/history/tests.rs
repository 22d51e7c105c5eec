//! Histories: what is read, what is refused and how, and that what was written is read back.

use super::*;

fn read(text: &str) -> OperationHistory {
    OperationHistory::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}\n{error}"))
}

fn refusal(text: &str) -> String {
    match OperationHistory::read(text.as_bytes()).and_then(|history| pair_calls(&history)) {
        Ok(calls) => panic!("{text}\nwas read: {calls:?}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn histories_of_jepsen_are_read_in_all_their_forms() {
    let expected = "{:index 0, :time 3, :type :invoke, :process 0, :f :cas, :value [1 2]}\n\
                    {:index 1, :time 9, :type :fail, :process 0, :f :cas, :value [1 2], :error :mismatch}\n";
    let maps = "{:type :invoke :f :cas :value [1 2] :process 0 :time 3 :index 0}
                {:type :fail, :f :cas, :value [1 2], :process 0, :time 9, :index 1, :error :mismatch}";
    let tagged = maps.replace("{:type", "#jepsen.history.Op{:type");
    for text in [maps.to_owned(), format!("[{maps}]"), format!("({maps})"), format!("; a\n#_ {{1 2}} {tagged} ; end")] {
        assert_eq!(read(&text).to_edn(), expected);
    }
    let json = read(expected).to_json_lines();
    assert_eq!(
        json.lines().next(),
        Some(r#"{"index":0,"time":3,"type":"invoke","process":0,"f":"cas","value":[1,2]}"#)
    );
    let array = format!("[{}]", json.trim().replace('\n', ","));
    for text in [json.clone(), array] {
        let history = read(&text);
        assert_eq!((history.format, history.to_json_lines()), (HistoryFormat::Json, json.clone()));
    }
    assert!(read("").operations.is_empty() && read("[]").operations.is_empty());
}

#[test]
fn indices_may_leave_gaps_and_times_may_be_missing() {
    let history =
        read("{:index 4 :type :info :process :nemesis :f :kill} {:type :ok, :value #{3 1}, :index 900, :x 1}");
    assert_eq!(history.operations.iter().map(|one| one.index).collect::<Vec<_>>(), [4, 900]);
    assert!(matches!(history.operations[0].process, Process::Named(_)));
    assert_eq!((history.operations[1].process, history.operations[1].time), (Process::Unknown, None));
    let text = history.to_edn();
    assert!(
        text.ends_with(":f nil, :value #{1 3}, :x 1}\n") || text.ends_with(":f nil, :value #{3 1}, :x 1}\n"),
        "{text}"
    );
    let calls = pair_calls(&history).expect("calls");
    assert_eq!(calls, [ClientCall { invocation: 1, completion: Some(1), outcome: OperationType::Ok }]);
}

#[test]
fn values_keep_every_digit_and_every_character() {
    let values = [
        "9007199254740993",
        "-9223372036854775808",
        "123456789012345678901234567890",
        "1/3",
        "3.14M",
        "2.5",
        "##-Inf",
        "\\newline",
        "\\x",
        "\"a\\n\\\"b\\\\é\"",
        ":a/b",
        "sym",
        "#inst \"2020\"",
        "{:a {1 #{nil}}}",
        "(1 (2))",
        "{[1] 2}",
    ];
    for value in values {
        let text = format!("{{:index 0, :type :ok, :f :read, :value {value}}}\n");
        assert_eq!(read(&text).to_edn(), text);
    }
    let same =
        [("1e3", "1000.0"), ("+5", "5"), ("7N", "7"), ("\"\\u00e9\"", "\"é\""), ("\\u0041", "\\A"), ("-0.0", "0.0")];
    for (written, kept) in same {
        let history = read(&format!("{{:type :ok :value {written}}}"));
        assert_eq!(history.pool.edn(history.operations[0].value), kept);
    }
    let history = read(r#"{"type":"ok","value":[9007199254740993, 18446744073709551616, 1.5, "\ud83d\ude00\/"]}"#);
    assert_eq!(history.pool.json(history.operations[0].value), r#"[9007199254740993,18446744073709551616,1.5,"😀/"]"#);
}

#[test]
fn bad_input_is_refused_with_its_position_and_what_was_expected() {
    let cases = [
        ("{:type :invoke", "line 1, column 1: found the end of the input, expected `}`, which closes the operation"),
        ("{:type :ok}\n {:type :okay}", "line 2, column 9: found `:okay`, expected one of :invoke, :ok, :fail, :info"),
        (
            "{:f :read}",
            "line 1, column 1: found an operation without `type`, expected a key `type` with :invoke, :ok, :fail or :info",
        ),
        ("{:type :ok :type :ok}", "line 1, column 12: found :type twice, expected keys that differ"),
        ("{:type :ok :value {1 2 1 3}}", "line 1, column 19: found 1 twice, expected keys that differ"),
        ("{:type :ok :value #{1 1}}", "line 1, column 20: found 1 twice, expected elements that differ"),
        ("{:type :ok :value}", "line 1, column 18: found `}`, expected a value"),
        ("{:type :ok :value [1 2)}", "line 1, column 23: found `)}`, expected a value"),
        (
            "{:type :ok :value \"abc}",
            "line 1, column 19: found the end of the input, expected `\"`, which closes the text that opens here",
        ),
        (
            "{:type :ok :value \"\\q\"}",
            "line 1, column 20: found `\\\\q\\\"}`, expected an escape such as `\\n`, `\\\"` or `\\u00e9`",
        ),
        ("{:type :ok :value 12ab}", "line 1, column 19: found `12ab`, expected a number"),
        (
            "{:type :ok :value ^:a 1}",
            "line 1, column 19: found `^:a 1}`, expected a value; reader macros of Clojure are not data",
        ),
        (
            "{:type :ok :process [1]}",
            "line 1, column 21: found `[1]`, expected a process: an integer, or a name such as :nemesis",
        ),
        ("{:type :ok :index -1}", "line 1, column 19: found `-1`, expected an index, as an integer from 0"),
        (
            "{:type :info :index 4}\n{:type :info :index 9}\n{:type :info} {:type :info :index 7}",
            "line 3, column 15: found index 7 after 9, expected operations in the order of their indices, which differ",
        ),
        (
            "{:type :info :index 4}\n{:type :info :index 4}",
            "line 2, column 1: found index 4 after 4, expected operations in the order of their indices, which differ",
        ),
        (
            "{:type :info :process :nemesis}\n{:type :invoke :process \"0\"}",
            "line 2: found process `\\\"0\\\"`, expected an integer, as clients have; a name is no client, such as :nemesis",
        ),
        ("{:type :ok :time :now}", "line 1, column 18: found `:now`, expected a time in nanoseconds, as an integer"),
        ("hello", "line 1, column 1: found `hello`, expected a map, which is an operation"),
        ("[{:type :ok}", "line 1, column 13: found the end of the input, expected an operation or `]`"),
        ("[{:type :ok}] 1", "line 1, column 15: found `1`, expected the end of the input after the list of operations"),
        (
            "[{\"type\": \"ok\"} {\"type\": \"ok\"}]",
            "line 1, column 17: found `{\\\"type\\\": \\\"ok\\\"}]`, expected `,` or `]`",
        ),
        ("{\"type\": \"ok\",}", "line 1, column 15: found `}`, expected a further element after the comma"),
        ("{\"type\": \"ok\", \"value\": +1}", "line 1, column 25: found `+1}`, expected a value"),
        (
            "{\"type\": \"ok\", \"value\": \"\\ud800\"}",
            "line 1, column 26: found `\\\\ud800\\\"}`, expected four hexadecimal digits of a character",
        ),
        (
            "r(1,2,3)",
            "line 1, column 1: found `r(1,2,3)`, expected r(key,value,session,transaction) or w(…), with integers",
        ),
        (
            "INFO  jepsen.util - 3 :okay :read nil",
            "line 1, column 23: found `:okay :read nil`, expected one of :invoke, :ok, :fail, :info",
        ),
        (
            "{:type :invoke :process 1 :f :read}\n{:type :invoke :process 1 :f :read}",
            "line 2: found `{:index 1, :type :invoke, :process 1, :f :read, :value nil}`, expected a completion of process 1, \
             which invoked `{:index 0, :type :invoke, :process 1, :f :read, :value nil}`",
        ),
        (
            "{:type :ok :process 1 :f :read}",
            "line 1: found `{:index 0, :type :ok, :process 1, :f :read, :value nil}`, expected an invocation of process 1 before \
             its completion",
        ),
        (
            "{:type :invoke :process 1 :f :read} {:type :ok :process 1 :f :write}",
            "line 1: found `{:index 1, :type :ok, :process 1, :f :write, :value nil}`, expected a completion of `{:index 0, \
             :type :invoke, :process 1, :f :read, :value nil}`",
        ),
    ];
    let wrong: Vec<_> = cases.iter().filter(|(text, expected)| refusal(text) != *expected).collect();
    let wrong: Vec<String> =
        wrong.iter().map(|(text, expected)| format!("{text}\n{}\n{expected}", refusal(text))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let not_text = OperationHistory::read(b"{:type \xFF}").map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(not_text, Err("line 1, column 8: found bytes that are no UTF-8, expected a text in UTF-8".to_owned()));
}

#[test]
fn nesting_is_bounded() {
    for open in ["[", "{:a ", "#{", "(", "#a ", "#_ "] {
        let text = format!("{{:type :ok :value {}", open.repeat(1 << 20));
        assert!(refusal(&text).contains("expected at most 128 values inside of values"), "{open}");
    }
    let deep = format!("{{\"type\": \"ok\", \"value\": {}1{}}}", "[".repeat(128), "]".repeat(128));
    assert_eq!(read(&deep).operations.len(), 1);
}

#[test]
fn every_cut_of_a_history_is_read_or_refused() {
    let edn = "[#a{:type :ok :value [1 #{2} \"\\u00e9x\" \\a ##Inf 1.5e3 1/2] :process 1 :time 3 :error {:b (c)}}]";
    let json = "[{\"type\": \"ok\", \"value\": [1, {\"a\": \"\\u00e9é\"}], \"time\": 1.0}]";
    for text in [edn, json] {
        for end in 0..text.len() {
            for byte in [None, Some(b'\\'), Some(b'"'), Some(b'}'), Some(0xFF), Some(b'#')] {
                let mut bytes = text.as_bytes()[..end].to_vec();
                bytes.extend(byte);
                let _ = OperationHistory::read(&bytes);
            }
        }
    }
}

#[test]
fn logs_of_porcupine_are_read() {
    let log = "INFO  jepsen.core - Up\nINFO  jepsen.util - 3\t:invoke\t:write\t4\nINFO  jepsen.util - :nemesis :info :start nil\n\
               INFO  jepsen.util - 3\t:info\t:write\t:timed-out\nINFO  jepsen.util - 8\t:invoke\t:cas\t[0 4]\n";
    let history = read(log);
    assert_eq!(
        history.to_edn(),
        "{:index 0, :type :invoke, :process 3, :f :write, :value 4}\n\
         {:index 1, :type :info, :process 3, :f :write, :value nil, :error :timed-out}\n\
         {:index 2, :type :invoke, :process 8, :f :cas, :value [0 4]}\n"
    );
    assert_eq!((history.format, history.operations[1].line), (HistoryFormat::JepsenLog, 4));
    let kv = read("{:process 2, :type :invoke, :f :append, :key \"0\", :value \"x 2 0 y\"}");
    assert_eq!(kv.pool.edn(kv.operations[0].extra), "{:key \"0\"}");
}

#[test]
fn sessions_of_transactions_are_read() {
    let expected = "{:index 0, :type :invoke, :process 0, :f :txn, :value [[:w 1 7] [:r 2 nil]]}\n\
                    {:index 1, :type :ok, :process 0, :f :txn, :value [[:w 1 7] [:r 2 nil]]}\n\
                    {:index 2, :type :invoke, :process 1, :f :txn, :value [[:r 1 nil]]}\n\
                    {:index 3, :type :fail, :process 1, :f :txn, :value [[:r 1 7]]}\n";
    let texts = [
        "w(1,7,0,0)\nr(2,0,0,0)\nr(1,7,1,-1)\n",
        r#"[[{"events": [{"Write": {"variable": 1, "version": 7}}, {"Read": {"variable": 2, "version": null}}], "committed": true}],
            [{"events": [["r", 1, 7]], "committed": false}]]"#,
        r#"{"params": {}, "data": [[{"events": [{"write": true, "variable": 1, "value": 7, "success": true},
            {"write": false, "variable": 2, "value": 0, "success": true}], "success": true}],
            [{"events": [{"write": false, "variable": 1, "value": 7, "success": true}], "success": false}]]}"#,
    ];
    for text in texts {
        let history = read(text);
        assert_eq!((history.to_edn().as_str(), history.order), (expected, HistoryOrder::Sessions), "{text}");
        assert_eq!(history.to_plume().as_deref(), Some("w(1,7,0,0)\nr(2,0,0,0)\nr(1,7,1,-1)\n"));
    }
    let mut log = Vec::new();
    for (tag, numbers) in [(b'S', vec![1]), (b'W', vec![7, 1, 99]), (b'R', vec![0, 0xBEBE_EBEE, 2, 0]), (b'C', vec![1])]
    {
        log.push(tag);
        numbers.iter().for_each(|number: &u64| log.extend(number.to_be_bytes()));
    }
    let mut second = vec![b'S'];
    second.extend(2u64.to_be_bytes());
    second.push(b'R');
    [1u64, 7, 1, 99].iter().for_each(|number| second.extend(number.to_be_bytes()));
    assert_eq!(read_cobra(&[&log, &second]).expect("logs").to_edn(), expected);
    let error = read_cobra(&[&log[..12]]).map(|_| ()).map_err(|error| error.to_string());
    assert_eq!(error, Err("byte 10: found the end of the log, expected 3 numbers of eight bytes".to_owned()));
}
