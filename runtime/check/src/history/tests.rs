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
            "line 1, column 20: found `\\\\q\"}`, expected an escape such as `\\n`, `\\\"` or `\\u00e9`",
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
            "line 2: found process `\"0\"`, expected an integer, as clients have; a name is no client, such as :nemesis",
        ),
        ("{:type :ok :time :now}", "line 1, column 18: found `:now`, expected a time in nanoseconds, as an integer"),
        ("hello", "line 1, column 1: found `hello`, expected a map, which is an operation"),
        ("[{:type :ok}", "line 1, column 13: found the end of the input, expected an operation or `]`"),
        ("[{:type :ok}] 1", "line 1, column 15: found `1`, expected the end of the input after the list of operations"),
        (
            "[{\"type\": \"ok\"} {\"type\": \"ok\"}]",
            "line 1, column 17: found `{\"type\": \"ok\"}]`, expected `,` or `]`",
        ),
        ("{\"type\": \"ok\",}", "line 1, column 15: found `}`, expected a further element after the comma"),
        ("{\"type\": \"ok\", \"value\": +1}", "line 1, column 25: found `+1}`, expected a value"),
        (
            "{\"type\": \"ok\", \"value\": \"\\ud800\"}",
            "line 1, column 26: found `\\\\ud800\"}`, expected four hexadecimal digits of a character",
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
        assert_eq!(written("plume", &history), "w(1,7,0,0)\nr(2,0,0,0)\nr(1,7,1,-1)\n");
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

/// A history in a notation of one file.
fn written(name: &str, history: &OperationHistory) -> String {
    match notation(name).expect("a notation").write(history) {
        Ok(WrittenHistory::File(bytes)) => String::from_utf8(bytes).expect("a text"),
        Ok(WrittenHistory::Folder(_)) => panic!("{name} has files"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn what_is_written_in_any_notation_is_read_back() {
    let registers = read(
        "{:type :invoke :process 0 :f :write :value 3} {:type :info :process :nemesis :f :start :value nil}
         {:type :ok :process 0 :f :write :value 3} {:type :invoke :process 1 :f :cas :value [3 4]}
         {:type :info :process 1 :f :cas :value [3 4] :error :timed-out}
         {:type :invoke :process 2 :f :read :value nil} {:type :ok :process 2 :f :read :value \"x\"}",
    );
    let log = written("jepsen-log", &registers);
    let back = read(&log);
    assert_eq!(back.format, HistoryFormat::JepsenLog);
    let calls = |history: &OperationHistory| -> Vec<String> {
        let all = pair_calls(history).expect("calls");
        let edn = |at: u32| history.pool.edn(history.operations[at as usize].value);
        let words = all.iter().map(|call| {
            let answer = call.completion.filter(|_| call.outcome == OperationType::Ok).map(edn);
            format!("{} {} {answer:?}", edn(call.invocation), call.outcome.name())
        });
        words.collect()
    };
    assert_eq!(calls(&back), calls(&registers), "{log}");
    for name in ["edn", "json", "json-lines"] {
        assert_eq!(calls(&read(&written(name, &registers))), calls(&registers), "{name}");
    }

    let kv = read(
        "{:type :invoke :process 0 :f :put :value [\"a\" \"x\"]} {:type :ok :process 0 :f :put :value [\"a\" \"x\"]}
         {:type :invoke :process 0 :f :append :value [\"a\" \"\\\"y\"]} {:type :info :process 0 :f :append :value [\"a\" \"\\\"y\"]}
         {:type :invoke :process 1 :f :get :value [\"b\" nil]} {:type :fail :process 1 :f :get :value [\"b\" nil]}
         {:type :invoke :process 0 :f :get :value [\"a\" nil]} {:type :ok :process 0 :f :get :value [\"a\" \"x\"]}",
    );
    let expected = "{:process 0, :type :invoke, :f :put, :key \"a\", :value \"x\"}
{:process 0, :type :ok, :f :put, :key \"a\", :value \"x\"}
{:process 0, :type :invoke, :f :append, :key \"a\", :value \"\\\"y\"}
{:process 2, :type :invoke, :f :get, :key \"a\", :value nil}
{:process 2, :type :ok, :f :get, :key \"a\", :value \"x\"}
";
    assert_eq!(written("porcupine-kv", &kv), expected);
    assert_eq!(written("porcupine-kv", &read(expected)), expected);
}

#[test]
fn transactions_are_written_as_sessions() {
    // A key that is no number, a value 0, which would mean that nothing was written, and ends that are unknown: one of them was seen.
    let text = "{:type :invoke :process 3 :f :txn :value [[:w :x 0]]} {:type :ok :process 3 :f :txn :value [[:w :x 0]]}
         {:type :invoke :process 4 :f :txn :value [[:r :x nil] [:w :y 8]]} {:type :info :process 4 :f :txn :value [[:r :x nil] [:w :y 8]]}
         {:type :invoke :process 5 :f :txn :value [[:w :y 9]]} {:type :info :process 5 :f :txn :value nil}
         {:type :invoke :process 3 :f :txn :value [[:r :y nil] [:r :z nil]]} {:type :ok :process 3 :f :txn :value [[:r :y 8] [:r :z nil]]}";
    let history = read(text);
    let plume = "w(0,1,3,0)\nr(1,2,3,1)\nr(2,0,3,1)\nw(1,2,4,2)\n";
    assert_eq!(written("plume", &history), plume);
    let sessions = "[[:w 0 1]] | [[:r 1 2] [:r 2 nil]] | [[:w 1 2]]";
    let shown = |history: &OperationHistory| {
        let ended = history.operations.iter().filter(|one| one.kind == OperationType::Ok);
        ended.map(|one| history.pool.edn(one.value)).collect::<Vec<_>>().join(" | ")
    };
    assert_eq!(shown(&read(plume)), sessions);
    assert_eq!(shown(&read(&written("dbcop", &history))), sessions);
    let Ok(WrittenHistory::Folder(files)) = notation("cobra").expect("a notation").write(&history) else {
        panic!("cobra has files");
    };
    assert_eq!(files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["T3.log", "T4.log"]);
    let logs: Vec<&[u8]> = files.iter().map(|(_, bytes)| bytes.as_slice()).collect();
    assert_eq!(shown(&read_cobra(&logs).expect("logs")), sessions);
    assert_eq!(
        written("dbcop", &history),
        "[[{\"events\":[{\"Write\":{\"variable\":0,\"version\":1}}],\"committed\":true},
{\"events\":[{\"Read\":{\"variable\":1,\"version\":2}},{\"Read\":{\"variable\":2,\"version\":null}}],\"committed\":true}],
[{\"events\":[{\"Write\":{\"variable\":1,\"version\":2}}],\"committed\":true}]]
"
    );
}

#[test]
fn a_notation_that_cannot_say_what_a_history_has_refuses_it() {
    let lists = "{:type :invoke :process 0 :f :txn :value [[:append 1 2]]}";
    let refused = "line 1: found `[:append 1 2]` of `txn`, expected transactions of reads and writes, \
                   [[:r key value] [:w key value]], as dbcop has";
    assert_eq!(written("dbcop", &read(lists)), refused);
    let key = "line 2: found an operation of key `1`, expected operations without `key`; jepsen-log has keys in values, [key value]";
    assert_eq!(written("jepsen-log", &read("\n{:type :invoke :process 0 :f :get :key 1}")), key);
    let queue = "line 1: found `enqueue` with value `5`, expected get, put and append of a key, as porcupine-kv has";
    assert_eq!(written("porcupine-kv", &read("{:type :invoke :process 0 :f :enqueue :value 5}")), queue);
    // Cobra has no record of a transaction that failed.
    let failed =
        "{:type :invoke :process 0 :f :txn :value [[:w 1 2]]} {:type :fail :process 0 :f :txn :value [[:w 1 2]]}";
    let seen =
        "{:type :invoke :process 1 :f :txn :value [[:r 1 nil]]} {:type :ok :process 1 :f :txn :value [[:r 1 2]]}";
    let cobra =
        |text: &str| notation("cobra").expect("a notation").write(&read(text)).map_err(|error| error.to_string());
    assert!(cobra(failed).is_ok());
    let error =
        "line 1: found a failed transaction whose `2` was read, expected transactions that commit, as cobra has";
    assert_eq!(cobra(&format!("{failed}\n{seen}")), Err(error.to_owned()));
}
