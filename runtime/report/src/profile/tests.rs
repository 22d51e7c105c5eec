//! Sums, and formats, of a tree that is small enough to be counted by hand.

use super::*;
use fozzy_trace::{Activity, HeapCounts, Instant, IoChannel, IoKind, NodeId};

/// main (10) calls parse twice (2 x 20), into which `number` is inlined (30), and parse calls itself once more (5).
fn tree() -> CallTree {
    let function = |name: &str, file: Option<&str>| CalledFunction {
        name: name.to_owned(),
        file: file.map(str::to_owned),
        module: "app".to_owned(),
    };
    let node = |parent, function, call_line, calls, instructions, line| CallNode {
        parent,
        function,
        call_line,
        is_inlined: calls == 0,
        calls,
        lines: BTreeMap::from([(line, CodeCost { instructions, bulk_bytes: instructions / 10 })]),
    };
    CallTree {
        run: "a <run>.fozzy".to_owned(),
        functions: vec![
            function("main", Some("src/main.rs")),
            function("number<u8>", Some("src/num.rs")),
            function("parse;\"it\"", Some("src/main.rs")),
        ],
        nodes: vec![
            node(None, 0, 0, 1, 10, 3),
            node(Some(0), 2, 4, 2, 40, 9),
            node(Some(1), 1, 10, 0, 30, 77),
            node(Some(1), 2, 11, 1, 5, 9),
        ],
        unit: CostUnit::Instructions,
        used: 100,
        merged_calls: 0,
        remarks: Vec::new(),
    }
}

#[test]
fn recursion_is_in_no_sum_twice() {
    let mut top = ProfileTop::new("a".to_owned(), 10);
    top.add_cpu(&tree());
    let cpu = top.cpu.expect("it is of instructions");
    assert_eq!((cpu.instructions, cpu.calls, cpu.bulk_bytes), (85, 4, 8));
    assert_eq!((cpu.used, cpu.sandbox), (100, 15), "what the run used is the program's, and the sandbox's");
    let rows: Vec<_> =
        cpu.functions.iter().map(|row| (row.function.as_str(), row.own, row.inclusive, row.calls)).collect();
    assert_eq!(rows, [("parse;\"it\"", 45, 75, 3), ("number<u8>", 30, 30, 0), ("main", 10, 85, 1)]);
    let lines: Vec<_> = cpu.lines.iter().map(|row| (row.line, row.instructions)).collect();
    assert_eq!(lines, [(9, 45), (77, 30), (3, 10)]);
}

#[test]
fn paths_that_are_too_long_are_cut_and_no_instruction_is_lost() {
    let (whole, functions) = (tree(), tree().functions);
    assert!(matches!(whole.shallow(), std::borrow::Cow::Borrowed(_)));
    let node = |number: usize| CallNode {
        parent: number.checked_sub(1),
        calls: 1,
        lines: BTreeMap::from([(1, CodeCost { instructions: 2, bulk_bytes: 1 })]),
        ..CallNode::default()
    };
    let deep = CallTree { functions, nodes: (0..1_000).map(node).collect(), ..CallTree::default() };
    let (cut, places) = deep.cut_within(10_000).expect("it is cut");
    assert_eq!(places.len(), 1_000);
    assert!((40..60).contains(&cut.nodes.len()), "{}", cut.nodes.len());
    assert_eq!((cut.total(), cut.total().instructions), (deep.total(), 2_000));
    assert_eq!(cut.nodes.iter().map(|node| node.calls).sum::<u64>(), 1_000);
    assert_eq!(cut.name(cut.nodes.len() - 1), DEEPER_FRAME);
    assert!(cut.remarks[0].contains(DEEPER_FRAME), "{:?}", cut.remarks);
}

/// Bytes grow with the depth, not with its square, and whoever exports is told.
#[test]
fn heaps_of_deep_recursion_are_cut_and_no_block_is_lost() {
    let node = |number: usize| CallNode {
        parent: number.checked_sub(1),
        calls: 1,
        lines: BTreeMap::from([(1, CodeCost { instructions: 8, bulk_bytes: 0 })]),
        ..CallNode::default()
    };
    let blocks = HeapCounts { blocks: 1, bytes: 8, ..HeapCounts::default() };
    let depth = 20_000;
    let tree = CallTree { functions: tree().functions, nodes: (0..depth).map(node).collect(), ..CallTree::default() };
    let counts = (0..depth).map(|number| ((number, 1), blocks)).collect();
    let heap = HeapTree { tree, counts, ..HeapTree::default() };
    for name in ["pprof", "dhat"] {
        let (bytes, remarks) = heap_format(name).expect("a row").export(&heap);
        assert!(bytes.len() < 80 << 20, "{name}: {}", bytes.len());
        assert!(remarks[0].contains(DEEPER_FRAME), "{name}: {remarks:?}");
    }
    let cut = heap.shallow();
    assert!(cut.counts.len() < 5_000 && cut.total() == heap.total(), "{}", cut.counts.len());
}

#[test]
fn no_name_makes_a_row_of_its_own() {
    assert_eq!(crate::pretty::fit("x\ny\tz", 40), "x\\u{a}y\\u{9}z");
    assert_eq!(crate::pretty::fit("x\nyyyy", 4), "x\\u…");
}

#[test]
fn every_format_has_all_instructions() {
    let tree = tree();
    let text = |name: &str| String::from_utf8(profile_format(name).export(&tree).0).expect("it is text");
    let folded = text("folded");
    let expected = "main 10\nmain;parse_\"it\" 40\nmain;parse_\"it\";number<u8> 30\nmain;parse_\"it\";parse_\"it\" 5\n";
    assert_eq!(folded, expected);

    let speedscope: serde_json::Value = serde_json::from_str(&text("speedscope")).expect("it is JSON");
    let weights = speedscope["profiles"][0]["weights"].as_array().expect("it has them");
    assert_eq!(weights.iter().filter_map(serde_json::Value::as_u64).sum::<u64>(), 85);
    assert_eq!(speedscope["profiles"][0]["endValue"], 85);

    let callgrind = text("callgrind");
    // What is inlined belongs to the function that it stands in, under its own file.
    let parse = "fn=(2)\n9 45 4\nfi=(2) src/num.rs\n77 30 3\nfe=(1)\ncfi=(1)\ncfn=(2)\ncalls=1 9\n11 5 0\n";
    assert!(callgrind.contains(parse), "{callgrind}");
    assert!(
        callgrind.contains("cfn=(2) parse;\"it\"\ncalls=2 9\n4 75 7\n") && callgrind.ends_with("totals: 85 8\n"),
        "{callgrind}"
    );
}

#[test]
fn the_flame_graph_is_xml_whatever_functions_are_called() {
    let svg = String::from_utf8(profile_format("svg").export(&tree()).0).expect("it is text");
    assert!(
        svg.contains("number&lt;u8&gt; (30 instructions, 35.29 %)") && svg.contains("a &lt;run&gt;.fozzy"),
        "{svg}"
    );
    // The script needs no escapes, as browsers read it as XML.
    let script = svg.split("<script>").nth(1).and_then(|rest| rest.split("</script>").next()).expect("it has one");
    assert!(!script.contains(['<', '&']) && !svg.contains("onclick"), "{script}");
}

/// Fields of a message: number, and value or bytes.
fn fields(mut message: &[u8]) -> Vec<(u64, u64, Vec<u8>)> {
    fn varint(from: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = from.split_first().expect("a number ends");
            *from = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !message.is_empty() {
        let key = varint(&mut message);
        let value = match key & 7 {
            1 => u64::from_le_bytes(message.split_off(..8).and_then(|it| it.try_into().ok()).expect("eight bytes")),
            _ => varint(&mut message),
        };
        let bytes =
            if key & 7 == 2 { message.split_off(..value as usize).expect("it is there").to_vec() } else { Vec::new() };
        found.push((key >> 3, value, bytes));
    }
    found
}

#[test]
fn pprof_tells_inlined_code_from_calls() {
    let file = profile_format("pprof").export(&tree()).0;
    // One stored block in a gzip file.
    let length = usize::from(u16::from_le_bytes([file[11], file[12]]));
    assert_eq!(file.len(), 10 + 5 + length + 8);
    let profile = fields(&file[15..15 + length]);
    let of = |number: u64| profile.iter().filter(move |(field, ..)| *field == number).map(|(.., bytes)| fields(bytes));
    let values =
        |sample: &[(u64, u64, Vec<u8>)]| sample.iter().find(|(field, ..)| *field == 2).map(|(.., bytes)| bytes.clone());
    let samples: Vec<Vec<u8>> = of(2).filter_map(|sample| values(&sample)).collect();
    assert_eq!(samples.iter().map(|values| u64::from(values[0])).sum::<u64>(), 85);
    assert_eq!(samples.iter().map(|values| u64::from(values[1])).sum::<u64>(), 4);
    let lines = of(4).map(|location| location.iter().filter(|(field, ..)| *field == 4).count());
    assert_eq!(lines.filter(|lines| *lines == 2).count(), 1, "the place in `number` is in `parse`, too");
}

#[test]
fn a_comparison_of_different_programs_is_no_improvement_and_says_so() {
    let of = |name: &str, remark: &str| {
        let mut tree = tree();
        tree.functions.iter_mut().for_each(|function| function.name = format!("{name} {}", function.name));
        tree.remarks = vec![remark.to_owned()];
        let mut metrics = ProfileMetrics::of_seed(1);
        metrics.add_cpu(&tree);
        [metrics]
    };
    let tested: &DifferenceTest = &|left, right, _| {
        let meta = ConfidenceMeta { method: "exact".to_owned(), ..ConfidenceMeta::default() };
        (left != right).then(|| TestedDifference { left: left[0], right: right[0], by_chance: 0.0, meta })
    };
    let (bank, shop) = (of("bank", "no names"), of("shop", "no names"));
    let diff = ProfileDiff::of(("a".to_owned(), &bank), ("b".to_owned(), &shop), tested, 10);
    assert_eq!(diff.summary.verdict, "changed");
    assert!(diff.warnings[0].contains("different programs") && diff.warnings[1] == "no names", "{:?}", diff.warnings);
}

/// Two machines: `main` calls, says something, and sends what the other reads; a fault strikes.
fn activity() -> RunActivity {
    let entry = |index, node, at, call: &str| fozzy_trace::HistoryEntry {
        index,
        at: Instant(at),
        node: NodeId(node),
        call: call.to_owned(),
        asked: "\"<\u{0}".to_owned(),
        answer: "ok".to_owned(),
        decision: false,
    };
    let mut collector = ActivityCollector::new();
    let turn = |node, at| Activity::Turn { node: NodeId(node), at: Instant(at), ready: Vec::new() };
    let io = |node, at, is_write| Activity::Io {
        node: NodeId(node),
        at: Instant(at),
        channel: IoChannel { kind: IoKind::Connection, name: "c".to_owned(), stream: Some(1) },
        is_write,
        bytes: 5,
    };
    collector.activity(turn(0, 0));
    collector.activity(Activity::Task { node: NodeId(0), task: 7 });
    collector.call(entry(0, 0, 10, "next-task"));
    collector.output(NodeId(0), false, b"two\nlines \xff");
    collector.call(entry(1, 0, 20, "write"));
    collector.call(entry(1, 0, 25, "fozzy:aside/fault"));
    collector.activity(io(0, 30, true));
    collector.call(entry(2, 0, 30, "send"));
    collector.activity(turn(1, 30));
    collector.activity(io(1, 45, false));
    collector.call(entry(3, 1, 45, "receive"));
    let mut found = collector.finish("a".to_owned(), Instant(50), &crate::show::MachineNames::default());
    (found.identity, found.wall_start_ns) = (0xabc, 1_000);
    found
}

#[test]
fn tasks_lines_and_faults_are_at_their_times() {
    let found = activity();
    let notes: Vec<_> = found.notes.iter().map(|note| (note.kind.name(), note.at.0, note.text.as_str())).collect();
    assert_eq!(notes, [("stdout", 20, "two"), ("fault", 25, "\"<\u{0}: ok"), ("stdout", 50, "lines \u{fffd}")]);
    let turns: Vec<_> = found.turns.iter().map(|turn| (turn.node.0, turn.task, turn.since.0, turn.until.0)).collect();
    assert_eq!(turns, [(0, None, 0, 30), (0, Some(7), 10, 30), (1, None, 30, 45)]);
    assert_eq!(found.flows[0].tasks, (Some(7), None));
    assert_eq!(found.events.iter().map(|call| call.task).collect::<Vec<_>>(), [None, Some(7), Some(7), None]);
}

#[test]
fn both_encodings_of_otlp_have_the_same_spans() {
    let found = activity();
    let written = |name: &str| match span_format(name).expect("it is a row").write {
        SpanWriter::Activity(write) => write(&found),
        SpanWriter::WithCalls(write) => write(&found, &tree()),
    };
    let of = |message: &[u8], number| -> Vec<Vec<u8>> {
        fields(message).into_iter().filter(|(field, ..)| *field == number).map(|(.., bytes)| bytes).collect()
    };
    let json: serde_json::Value = serde_json::from_slice(&written("otlp")).expect("it is JSON");
    let resources = of(&written("otlp-protobuf"), 1);
    assert_eq!(resources.len(), 2);
    for (number, resource) in resources.iter().enumerate() {
        let expected = json["resourceSpans"][number]["scopeSpans"][0]["spans"].as_array().expect("a list");
        let spans = of(&of(resource, 2)[0], 2);
        assert_eq!(spans.len(), expected.len());
        for (span, expected) in spans.iter().zip(expected) {
            assert_eq!(String::from_utf8(of(span, 5)[0].clone()).expect("it is text"), expected["name"]);
            let hex: String = of(span, 2)[0].iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(hex, expected["spanId"]);
            assert_eq!(of(span, 13).len(), expected["links"].as_array().map_or(0, Vec::len));
            assert_eq!(of(span, 11).len(), expected["events"].as_array().map_or(0, Vec::len));
        }
    }
    assert_eq!(json["resourceSpans"][0]["scopeSpans"][0]["spans"][1]["endTimeUnixNano"], "1010", "{json:#}");
}

#[test]
fn tables_of_the_firefox_profiler_fit_each_other() {
    let profile: serde_json::Value = serde_json::from_slice(&firefox::write(&activity(), &tree())).expect("it is JSON");
    let threads = profile["threads"].as_array().expect("a list");
    assert_eq!(
        threads.iter().filter_map(|thread| thread["name"].as_str()).collect::<Vec<_>>(),
        ["main", "task 7", "n1"]
    );
    let mut weight = 0;
    for thread in threads {
        for table in ["samples", "markers", "stackTable", "frameTable", "funcTable"] {
            let rows = thread[table].as_object().expect("a table");
            let length = rows["length"].as_u64();
            let columns = rows.values().filter_map(serde_json::Value::as_array);
            assert!(columns.clone().all(|column| Some(column.len() as u64) == length), "{table} of {thread:#}");
        }
        // Each number is that of a row, and callers stand before those that they call.
        for (table, column, of) in [
            ("samples", "stack", "stackTable"),
            ("stackTable", "frame", "frameTable"),
            ("frameTable", "func", "funcTable"),
        ] {
            let length = thread[of]["length"].as_u64().expect("a number");
            let all = thread[table][column].as_array().expect("a column").iter();
            assert!(all.filter_map(serde_json::Value::as_u64).all(|number| number < length), "{table}.{column}");
        }
        let prefixes = thread["stackTable"]["prefix"].as_array().expect("a column").iter().enumerate();
        assert!(prefixes.clone().all(|(row, prefix)| prefix.as_u64().is_none_or(|prefix| prefix < row as u64)));
        let texts = thread["stringArray"].as_array().expect("a list").len() as u64;
        for column in [&thread["funcTable"]["name"], &thread["funcTable"]["fileName"], &thread["markers"]["name"]] {
            assert!(
                column.as_array().expect("a column").iter().all(|text| text.as_u64().is_none_or(|text| text < texts))
            );
        }
        let starts: Vec<f64> =
            thread["markers"]["startTime"].as_array().expect("a column").iter().filter_map(|at| at.as_f64()).collect();
        assert!(starts.is_sorted() && starts.len() == thread["markers"]["length"].as_u64().expect("a number") as usize);
        weight +=
            thread["samples"]["weight"].as_array().expect("a column").iter().filter_map(|it| it.as_u64()).sum::<u64>();
    }
    assert_eq!(weight, 85);
    assert_eq!(
        threads[0]["frameTable"]["inlineDepth"]
            .as_array()
            .map(|depths| depths.iter().filter(|depth| **depth == 1).count()),
        Some(1)
    );
    let kinds = profile["meta"]["markerSchema"].as_array().expect("a list").iter().map(|schema| &schema["name"]);
    let kinds: Vec<_> = kinds.collect();
    assert!(
        threads
            .iter()
            .flat_map(|thread| thread["markers"]["data"].as_array())
            .flatten()
            .all(|data| kinds.contains(&&data["type"]))
    );
}
