//! Files that are read, and files that are refused, with the sentence that says why.

use crate::{DEPTH_MAX, ParsedScenario, Step};

fn said(text: &str) -> String {
    match ParsedScenario::parse(text.as_bytes()) {
        Ok(scenario) => format!("{} {}", scenario.variant(), scenario.name()),
        Err(problem) => problem.to_string(),
    }
}

fn with_step(step: &str) -> String {
    said(&format!("{{\"version\":1,\"name\":\"a\",\"steps\":[\n{step}]}}"))
}

#[test]
fn each_mistake_is_said_with_its_place() {
    for (text, expected) in [
        ("", "the file is empty"),
        ("{", "1:2: the file ends where a key in quotation marks was expected"),
        ("[1]", "1:1: expected a scenario, which is an object { … }, found a list"),
        ("{\"name\":\"a\",\"steps\":[]}", "1:1: `version` is missing"),
        ("{\"version\":7,\"name\":\"a\",\"steps\":[]}", "1:12: version: expected 1 or 2, found 7"),
        ("{\"version\":1,\"name\":\"a\",\"stesp\":[]}", "1:25: unknown field `stesp`; did you mean `steps`?"),
        ("{\"version\":1,\"name\":\"a\"}", "1:1: one of `steps`, `distributed` and `suites` is missing"),
        ("{\"version\":1,\"name\":\"a\",\"steps\":[],\"steps\":[]}", "1:36: the key `steps` stands twice"),
        ("{\"version\":1,\"name\":\"a\",\"steps\":[]}", "1:33: steps: no_steps_executed"),
        ("{\"version\":1,\"name\":\"\",\"steps\":[{\"type\":\"unfreeze\"}]}", "1:21: name: expected 1 to 255 bytes"),
        ("{\"version\":1,\"name\":\"a\",\"extra\":1,\"steps\":[]}", "1:25: unknown field `extra`"),
        ("\u{feff}{\"version\":01}", "1:13: expected `,` or `}`, found `1`"),
        ("{\"a\":\"\\ud800\"}", "1:7: this `\\u` is half of a pair"),
        ("{\"a\":\"x\ny\"}", "1:8: a string cannot hold a line end"),
        ("{\"a\":tru}", "1:6: expected a value"),
        ("{\"a\":1e999}", "1:6: the number is too large"),
    ] {
        let said = said(text);
        assert!(said.starts_with(expected), "{text}: {said}");
    }
    let deep = format!("{{\"a\":{}", "[".repeat(1_000_000));
    assert_eq!(said(&deep), format!("1:{}: nested more than {DEPTH_MAX} levels deep", 5 + DEPTH_MAX));
    let problem = ParsedScenario::parse(b"{\"name\": \"\xff\"}").expect_err("not UTF-8").to_string();
    assert!(problem.starts_with("1:11: the file is not UTF-8"), "{problem}");
}

#[test]
fn each_mistake_in_a_step_is_said_with_its_place() {
    for (step, expected) in [
        ("{\"type\":\"set_kv\",\"key\":\"a\",\"vlaue\":\"1\"}", "2:28: unknown field `vlaue`; did you mean `value`?"),
        ("{\"type\":\"set_kv\",\"key\":\"a\"}", "2:1: `value` is missing"),
        ("{\"type\":\"set_vk\"}", "2:9: unknown kind `set_vk`; did you mean `set_kv`?"),
        ("{\"kind\":\"set_kv\"}", "2:1: `type` is missing"),
        ("{\"type\":\"set_kv\",\"key\":1,\"value\":\"1\"}", "2:24: expected a string, found integer `1`"),
        ("{\"type\":\"unfreeze\",\"at\":1}", "2:20: unknown field `at`: there are none here"),
        ("{\"type\":\"sleep\",\"duration\":\"5 s\"}", "2:28: expected a span of time"),
        ("{\"type\":\"memory_free\"}", "2:1: memory_free: `alloc_id` or `key` is missing"),
        ("{\"type\":\"net_set_drop_rate\",\"rate\":2}", "2:36: net_set_drop_rate: rate: expected a number from 0 to 1"),
        (
            "{\"type\":\"assert_eventually_kv\",\"key\":\"a\",\"equals\":\"b\",\"within\":\"1s\",\"poll\":\"0ms\"}",
            "2:76: assert_eventually_kv: poll: expected more than 0",
        ),
        (
            "{\"type\":\"assert_throws\",\"steps\":[{\"type\":\"fial\"}]}",
            "2:42: unknown kind `fial`; did you mean `fail`?",
        ),
        ("{\"type\":\"assert_throws\",\"steps\":[]}", "2:33: assert_throws: steps: no step"),
        (
            "{\"type\":\"proc_when\",\"cmd\":\"a\",\"exit_code\":0}",
            "1:33: steps: no_steps_executed: steps that only say",
        ),
        (
            "{\"type\":\"get_kv_assert\",\"key\":\"a\",\"equals\":\"1\",\"is_null\":false}",
            "2:58: get_kv_assert: is_null: not beside `equals`",
        ),
    ] {
        let said = with_step(step);
        assert!(said.starts_with(expected), "{step}: {said}");
    }
}

fn with_step_of_2(step: &str) -> String {
    said(&format!(
        "{{\"version\":2,\"name\":\"a\",\"vars\":{{\"n\":1,\"list\":[1]}},\"functions\":{{\"f\":{{\"params\":[\"p\"],\"do\":[{{\"type\":\"set\",\"name\":\"q\",\"value\":\"${{p}}\"}}]}}}},\"steps\":[\n{step}]}}"
    ))
}

#[test]
fn each_mistake_in_a_step_of_version_2_is_said_with_its_place() {
    for (step, expected) in [
        (r#"{"type":"set_kv","key":"a${n}","value":"${n}"}"#, "steps a"),
        (r#"{"type":"assert_eq_int","a":"${n}","b":1}"#, "steps a"),
        (r#"{"type":"sleep","duration":"${n}ms"},{"type":"sleep","duration":"${n}"}"#, "2:28: expected a span of time"),
        (r#"{"type":"sleep","duration":"${list[0]}"}"#, "steps a"),
        (r#"{"type":"fs_write","path":"a","data":{"hex":"ff FE"}}"#, "steps a"),
        (r#"{"type":"fs_write","path":"a","data":{"base64":"//4=","hex":""}}"#, "2:38: `hex` beside `base64`"),
        (r#"{"type":"fs_write","path":"a","data":{"hex":"f"}}"#, "2:38: hex: invalid length"),
        (r#"{"type":"fs_write","path":"a","data":{"hxe":"ff"}}"#, "2:38: unknown field `hxe`; did you mean `hex`?"),
        (r#"{"type":"set_kv","key":"a","value":"${m}"}"#, "2:36: unknown variable `m`; did you mean `n`?"),
        (r#"{"type":"set_kv","key":"a","value":"${n"}"#, "2:36: `${` without its `}`"),
        (r#"{"type":"set_kv","key":"a","value":"$${m}"}"#, "steps a"),
        (
            r#"{"type":"sleep","duration":"1ms","save_as":"x"}"#,
            "2:44: save_as: `sleep` yields no value; these do: rand_u64",
        ),
        (r#"{"type":"rand_u64","save_as":"1x"}"#, "2:30: expected a name"),
        (r#"{"type":"rand_u64","save_as":"x"},{"type":"set","name":"y","value":["${x}"]}"#, "steps a"),
        (r#"{"type":"fi","when":{}}"#, "2:9: unknown kind `fi`"),
        (r#"{"type":"while","when":{"eq":[1,1]},"max":0,"do":[]}"#, "2:43: max: expected 1 to 1000000, found 0"),
        (
            r#"{"type":"while","when":{"qe":[1,1]},"max":1,"do":[{"type":"unfreeze"}]}"#,
            "2:25: unknown condition `qe`; did you mean `eq`?",
        ),
        (r#"{"type":"if","when":{"eq":[1]},"then":[{"type":"unfreeze"}]}"#, "2:27: eq: expected a list of two values"),
        (
            r#"{"type":"if","when":{"not":{"eq":[1,"${z}"]}},"then":[{"type":"unfreeze"}]}"#,
            "2:37: unknown variable `z`",
        ),
        (r#"{"type":"if","when":{"eq":[1,1]},"then":[]}"#, "2:41: then: no step"),
        (
            r#"{"type":"for","in":"${list}","as":"x","do":[{"type":"set_kv","key":"${x}","vlaue":"1"}]}"#,
            "2:75: unknown field `vlaue`; did you mean `value`?",
        ),
        (
            r#"{"type":"for","in":[1],"as":"x","do":[{"type":"unfreeze"}]},{"type":"fail","message":"${x}"}"#,
            "2:86: unknown variable `x`",
        ),
        (
            r#"{"type":"parallel","branches":[[{"type":"unfreeze"}]]}"#,
            "2:31: branches: expected 2 to 64 of them, found 1",
        ),
        (
            r#"{"type":"assert_throws","steps":[{"type":"parallel","branches":[[],[]]}]}"#,
            "2:34: parallel: not inside of what must fail",
        ),
        (r#"{"type":"run","function":"g"}"#, "2:26: unknown function `g`; did you mean `f`?"),
        (r#"{"type":"run","function":"f"}"#, "2:1: with: `p` is missing, which `f` needs"),
        (r#"{"type":"run","function":"f","with":{"p":1,"pp":2}}"#, "2:44: unknown parameter `pp`; did you mean `p`?"),
        (r#"{"type":"compute","op":"add","a":1,"save_as":"x"}"#, "2:1: compute: `b` is missing"),
        (r#"{"type":"compute","op":"ad","a":1,"b":1,"save_as":"x"}"#, "2:24: unknown kind `ad`; did you mean `add`?"),
        (r#"{"type":"set","name":"x","value":1}"#, "1:142: steps: no_steps_executed"),
        (r#"{"type":"http_request","method":"GET","path":"x${n}"}"#, "steps a"),
        (
            r#"{"type":"http_request","method":"get","path":"/"}"#,
            "2:33: http_request: method: expected a method in capitals",
        ),
        (r#"{"type":"call","function":"a#b","args":"(${nn})"}"#, "2:40: unknown variable `nn`; did you mean `n`?"),
    ] {
        let said = with_step_of_2(step);
        assert!(said.starts_with(expected), "{step}: {said}");
    }
}

#[test]
fn what_is_new_is_refused_in_version_1_with_the_version_that_it_needs() {
    for (step, expected) in [
        (r#"{"type":"repeat","times":1,"do":[]}"#, "2:9: `repeat` needs version 2: `\"version\": 2`"),
        (r#"{"type":"rand_u64","save_as":"x"}"#, "2:20: `save_as` needs version 2"),
        (r#"{"type":"fs_write","path":"a","data":{"hex":"ff"}}"#, "2:38: a payload of bytes needs version 2"),
        (r#"{"type":"set_kv","key":"a","value":"${n}"}"#, "steps a"),
    ] {
        let said = with_step(step);
        assert!(said.starts_with(expected), "{step}: {said}");
    }
    let vars = said("{\"version\":1,\"name\":\"a\",\"vars\":{},\"steps\":[]}");
    assert!(vars.starts_with("1:25: `vars` needs version 2"), "{vars}");
    let suites = said("{\"version\":2,\"name\":\"a\",\"suites\":[]}");
    assert!(suites.starts_with("1:12: version: expected 1 with `suites`, found 2"), "{suites}");
}

#[test]
fn the_names_of_kinds_are_those_that_are_read() {
    assert_eq!(Step::KINDS.len(), 42);
    for kind in Step::KINDS {
        let said = with_step(&format!("{{\"type\":\"{kind}\",\"no such field\":1}}"));
        assert!(said.starts_with("2:") && said.contains("unknown field"), "{kind}: {said}");
    }
}

#[test]
fn the_three_shapes_are_told_apart() {
    assert_eq!(with_step("{\"type\":\"unfreeze\"}"), "steps a");
    let cluster = |inner: &str| said(&format!("{{\"version\":1,\"name\":\"c\",\"distributed\":{{{inner}}}}}"));
    let put = "{\"type\":\"client_put\",\"node\":\"n1\",\"key\":\"k\",\"value\":\"v\"}";
    assert_eq!(cluster(&format!("\"node_count\":3,\"steps\":[{put}],\"invariants\":[]")), "distributed c");
    let refused = cluster(&format!("\"nodes\":[\"n0\",\"n2\"],\"steps\":[{put}]"));
    assert!(refused.contains("client_put: node: unknown node `n1`; did you mean `n0`?"), "{refused}");
    let refused = cluster(&format!("\"steps\":[{put}]"));
    assert!(refused.contains("distributed: expected `nodes` (their names) or `node_count` (how many)"), "{refused}");
    let suites = "{\"version\":1,\"name\":\"s\",\"suites\":[{\"name\":\"x\",\"scenarios\":[\"*.fozzy.json\"]}]}";
    assert_eq!(said(suites), "suites s");
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_of_version_2_has_every_kind_with_what_is_new() {
    let schema = crate::schema_v2();
    for (definition, kinds) in [("Step", Step::KINDS), ("StepShape", crate::program::StepShape::KINDS)] {
        let all = schema["$defs"][definition]["oneOf"].as_array().expect("kinds").clone();
        let named: Vec<&str> = all.iter().filter_map(|kind| kind["properties"]["type"]["const"].as_str()).collect();
        assert_eq!(named, kinds, "{definition}");
        for kind in &all {
            assert_eq!(kind["additionalProperties"], serde_json::Value::Bool(false), "{kind}");
        }
        let saved: Vec<&str> = all
            .iter()
            .filter(|kind| !kind["properties"]["save_as"].is_null())
            .filter_map(|kind| kind["properties"]["type"]["const"].as_str())
            .collect();
        assert!(!saved.is_empty(), "{definition}");
    }
    let number = &schema["$defs"]["Step"]["oneOf"][3]["properties"]["a"]["anyOf"][1]["$ref"];
    assert_eq!(number, "#/$defs/Variable");
    assert!(!schema.to_string().contains("Payload"), "what marks payloads is gone");
    assert!(!crate::schema_v1().to_string().contains("Payload"), "what marks payloads is gone");
}

#[cfg(feature = "schema")]
#[test]
fn the_schema_has_every_kind_with_its_fields() {
    let schema = crate::schema_v1();
    for (definition, kinds) in [
        ("Step", Step::KINDS),
        ("ClusterStep", crate::ClusterStep::KINDS),
        ("ClusterInvariant", crate::ClusterInvariant::KINDS),
    ] {
        let all = schema["$defs"][definition]["oneOf"].as_array().expect("kinds").clone();
        let named: Vec<&str> = all.iter().filter_map(|kind| kind["properties"]["type"]["const"].as_str()).collect();
        assert_eq!(named, kinds, "{definition}");
        for kind in all {
            assert_eq!(kind["additionalProperties"], serde_json::Value::Bool(false), "{kind}");
        }
    }
}
