//! What is read is written again, each mistake is named with its place, and the `wasm-wave` library agrees on the notation.

use super::*;
use crate::compile::build::Build;
use crate::compile::settings::{Switches, engine};
use wasm_wave::value::{Type as LibraryType, Value as LibraryValue};
use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, Type};

/// The types of the parameters of a function that a component imports.
fn types(params: &str) -> Vec<Type> {
    imported("", params)
}

/// Types that have names in WIT, defined by `definitions`.
fn named_types(definitions: &str, names: &[&str]) -> Vec<Type> {
    let exported: String =
        names.iter().map(|name| format!("(export \"{0}\" (type {name}x (eq {name})))", &name[1..])).collect();
    let params: String = names.iter().map(|name| format!("(param \"{}\" {name}x)", &name[1..])).collect();
    imported(&format!("{definitions} {exported}"), &params)
}

fn imported(definitions: &str, params: &str) -> Vec<Type> {
    let engine =
        engine(&Switches { canonical_nans: false, ..Switches::default() }, &Build::default()).expect("an engine");
    let text = format!(
        "(component (import \"a:b/c\" (instance {definitions} (type $call (func {params})) (export \"call\" (func (type $call))))))"
    );
    let bytes = wat::parse_str(text).expect("it is text of a component");
    let component = Component::new(&engine, bytes).expect("a component");
    let ty = component.component_type();
    let Some(ComponentItem::ComponentInstance(instance)) = ty.imports(&engine).map(|(_, item)| item.ty).next() else {
        panic!("it imports an interface");
    };
    let functions = instance.exports(&engine).filter_map(|(_, item)| match item.ty {
        ComponentItem::ComponentFunc(function) => Some(function),
        _ => None,
    });
    let function = functions.last().expect("it has a function");
    function.params().map(|(_, of)| of).collect()
}

#[test]
fn what_is_read_is_written_again() {
    let plain = types(
        "(param \"a\" bool) (param \"b\" s8) (param \"c\" u64) (param \"d\" f64) (param \"e\" char) (param \"f\" string)",
    );
    let all = types(
        "(param \"a\" (list u8)) (param \"b\" (tuple u8 string)) (param \"c\" (option (option u8))) \
         (param \"d\" (result string (error u8))) (param \"e\" (result))",
    );
    for (types, text, expected) in [
        (&plain, "( true,-5 , 7,1.5,'\\'', \"a\\n\\u{41}\\\"é\",)", "(true, -5, 7, 1.5, '\\'', \"a\\nA\\\"é\")"),
        (&plain, "(false, 1, 2, -inf, 'é', \"\")", "(false, 1, 2, -inf, 'é', \"\")"),
        (&all, "([1, 2,], (3, \"x\"), some(some(4)), err(5), ok)", "([1, 2], (3, \"x\"), some(some(4)), err(5), ok)"),
        (&all, "([], (3, \"x\"), some(none), \"plain\", err)", "([], (3, \"x\"), some(none), ok(\"plain\"), err)"),
        (&all, "([], (3, \"x\"), none, ok(\"y\"), err)", "([], (3, \"x\"), none, ok(\"y\"), err)"),
    ] {
        let read = read_arguments(text, types).map(|values| wave::arguments(&values));
        assert_eq!(read.as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(read_arguments("", &[]).map(|values| values.len()), Ok(0));
}

#[test]
fn each_mistake_is_said_with_its_place() {
    let types = types("(param \"a\" u8) (param \"b\" (list string))");
    for (text, expected) in [
        ("", "character 1: unexpected, found the end"),
        ("(256, [])", "character 2: expected a number from 0 to 255, found `2`"),
        ("1", "character 1: expected 2 values in parentheses, found `1`"),
        ("()", "character 1: empty tuple, found `(`"),
        ("(1,)", "character 1: expected 2 values in parentheses, 1 given, found `(`"),
        ("(1, [], 3)", "character 1: expected 2 values in parentheses, 3 given, found `(`"),
        ("(1, \"a\")", "character 5: expected a list in brackets, found `\\\"`"),
        ("(1, [a])", "character 6: expected a string in double quotes, found `a`"),
        ("(1, [\"a])", "character 6: invalid token, found `\\\"`"),
        ("(1, [\"é\\q\"])", "character 6: invalid token, found `\\\"`"),
        ("(1, [\"\\u{d800}\"])", "character 6: expected a string in double quotes, found `\\\"`"),
        ("(1, []) 2", "character 9: trailing characters after value, found `2`"),
        ("(1, [\"é\",,", "character 10: unexpected token, found `,`"),
        ("(1, [\"é\"", "character 9: unexpected, found the end"),
    ] {
        let said = read_arguments(text, &types).map(|values| wave::arguments(&values)).expect_err(text);
        assert!(said.starts_with(expected), "{text}: {said}");
    }
}

/// What the library passes over or takes for something else.
#[test]
fn records_and_flags_hold_what_the_type_says() {
    let types = named_types(
        "(type $r (record (field \"left\" (option u8)) (field \"right\" (option u8)))) (type $f (flags \"write\" \"read\" \"inf\"))",
        &["$r", "$f"],
    );
    for (of, text, expected) in [
        (&types[0], "{}", Ok("{left: none, right: none}")),
        (&types[0], "{right: 1}", Ok("{left: none, right: some(1)}")),
        (&types[0], "{lft: 1}", Err("character 7: expected one of left, right before this, found `1`")),
        (&types[0], "{left}", Err("character 1: expected a record in braces, found `{`")),
        (&types[1], "{read, write}", Ok("{write, read}")),
        (&types[1], "{inf}", Ok("{%inf}")),
        (&types[1], "{run}", Err("character 1: expected flags of write, read, inf, not `run`, found `{`")),
    ] {
        let read = read_value(text, of).map(|value| wave::value(&value));
        assert_eq!(read.as_deref().map_err(String::as_str), expected, "{text}");
    }
}

#[test]
fn hostile_text_is_refused() {
    let types = types("(param \"a\" (list (list string))) (param \"b\" (option (tuple char f32)))");
    let deep = "[".repeat(1 << 20);
    assert_eq!(
        read_arguments(&deep, &types).err().as_deref(),
        Some("character 100: value nesting too deep, found `[`")
    );
    let long = " ".repeat((4 << 20) + 1);
    assert_eq!(read_arguments(&long, &types).err().as_deref(), Some("expected at most 4194304 bytes, found 4194305"));
    // Every text that a few cuts, doublings and swaps of bytes make.
    let whole = r#"([["a\u{e9}", "\"é"], []], some(('\'', -1.5e3))) // "#;
    let pieces: Vec<&str> = whole.split_inclusive(|c: char| !c.is_alphanumeric()).collect();
    for from in 0..pieces.len() {
        for to in 0..=pieces.len() {
            for between in ["", "%", "\"\"\"", "\\", "'", "é"] {
                let text = [&pieces[..from].concat(), between, &pieces[to..].concat()].concat();
                let _ = read_arguments(&text, &types);
            }
        }
    }
}

/// Reads `text`, writes it with our writer, has the library read and write that, and reads what it wrote.
fn through_the_library(ours: &Type, theirs: &LibraryType, text: &str) {
    let value = read_value(text, ours).unwrap_or_else(|why| panic!("{text}: {why}"));
    let written = wave::value(&value);
    let of_library: LibraryValue =
        wasm_wave::from_str(theirs, &written).unwrap_or_else(|why| panic!("the library reads {written}: {why}"));
    let back = wasm_wave::to_string(&of_library).expect("the library writes what it has read");
    let again = read_value(&back, ours).unwrap_or_else(|why| panic!("what the library writes, {back}: {why}"));
    assert_eq!(wave::value(&again), written, "{back}");
}

#[test]
fn the_library_reads_what_we_write_and_writes_what_we_read() {
    let ours = types(
        "(param \"a\" string) (param \"b\" char) (param \"c\" f64) (param \"d\" (list u8)) \
         (param \"e\" (tuple s64 bool)) (param \"f\" (option (option u8))) (param \"g\" (result string (error u8)))",
    );
    let theirs = [
        LibraryType::STRING,
        LibraryType::CHAR,
        LibraryType::F64,
        LibraryType::list(LibraryType::U8),
        LibraryType::tuple([LibraryType::S64, LibraryType::BOOL]).expect("a tuple has types"),
        LibraryType::option(LibraryType::option(LibraryType::U8)),
        LibraryType::result(Some(LibraryType::STRING), Some(LibraryType::U8)),
    ];
    let texts: [&[&str]; 7] = [
        &[r#""""#, r#""it's \"so\"""#, r#""a\\b\n\r\t\u{1}\u{7f}é\u{301}\u{200b}\u{1F602}""#],
        &["'a'", r"'\''", "'\"'", r"'\u{0}'", "'é'"],
        &["0", "-0", "1.5", "-0.00000000015", "1e300", "inf", "-inf", "nan"],
        &["[]", "[0, 255]"],
        &["(-9223372036854775808, true)", "(1, false)"],
        &["none", "some(none)", "some(some(3))"],
        &[r#"ok("x")"#, "err(7)"],
    ];
    for ((ours, theirs), texts) in ours.iter().zip(&theirs).zip(texts) {
        texts.iter().for_each(|text| through_the_library(ours, theirs, text));
    }
}

#[test]
fn the_library_agrees_on_types_that_have_names() {
    let ours = named_types(
        "(type $r (record (field \"ok\" u8) (field \"left\" (option u8)) (field \"b\" string)))
         (type $o (record (field \"left\" (option u8)) (field \"right\" (option u8))))
         (type $v (variant (case \"none\") (case \"circle\" f32) (case \"err\" u8)))
         (type $e (enum \"blue\" \"true\"))
         (type $f (flags \"read\" \"write\"))",
        &["$r", "$o", "$v", "$e", "$f"],
    );
    let optional = || LibraryType::option(LibraryType::U8);
    let theirs = [
        LibraryType::record([("ok", LibraryType::U8), ("left", optional()), ("b", LibraryType::STRING)]),
        LibraryType::record([("left", optional()), ("right", optional())]),
        LibraryType::variant([("none", None), ("circle", Some(LibraryType::F32)), ("err", Some(LibraryType::U8))]),
        LibraryType::enum_ty(["blue", "true"]),
        LibraryType::flags(["read", "write"]),
    ];
    let texts: [&[&str]; 5] = [
        &[r#"{%ok: 1, left: some(2), b: "x"}"#, r#"{%ok: 1, left: none, b: ""}"#],
        &["{:}", "{left: none, right: some(1)}"],
        &["%none", "circle(1.5)", "%err(3)"],
        &["blue", "%true"],
        &["{}", "{read, write}"],
    ];
    for ((ours, theirs), texts) in ours.iter().zip(&theirs).zip(texts) {
        let theirs = theirs.as_ref().expect("a type with names");
        texts.iter().for_each(|text| through_the_library(ours, theirs, text));
    }
}

/// In flags, as anywhere, a label that is a keyword has a `%` before it. The library writes none there, and takes it for a part
/// of the name.
#[test]
fn a_flag_with_the_name_of_a_keyword_is_where_the_library_is_wrong() {
    let ours = &named_types("(type $f (flags \"read\" \"inf\"))", &["$f"])[0];
    let theirs = LibraryType::flags(["read", "inf"]).expect("flags have names");
    let value = read_value("{read, inf}", ours).expect("our reader takes both");
    assert_eq!(wave::value(&value), "{read, %inf}");
    assert!(
        wasm_wave::from_str::<LibraryValue>(&theirs, "{read, %inf}").is_err(),
        "it reads it now: compare flags above"
    );
}

#[test]
fn a_value_as_json_is_the_simplest_form() {
    let some = |of: Val| Val::Option(Some(Box::new(of)));
    let all = vec![
        Val::Record(vec![("ok".to_owned(), Val::List(vec![some(Val::U8(1)), Val::Option(None)]))]),
        Val::Result(Ok(None)),
        Val::Result(Err(Some(Box::new(Val::S64(-5))))),
        Val::Flags(vec!["read".to_owned()]),
        Val::Variant("circle".to_owned(), some_box(Val::Float64(1.5))),
        Val::Float32(f32::NAN),
        Val::Float64(f64::NEG_INFINITY),
        Val::Char('\''),
        Val::Tuple(vec![Val::Bool(true), Val::Enum("blue".to_owned())]),
    ];
    let json = r#"[{"ok":[1,null]},"ok",{"err":-5},["read"],{"circle":1.5},"nan","-inf","'",[true,"blue"]]"#;
    assert_eq!(as_json(&Val::Tuple(all)).to_string(), json);
}

fn some_box(of: Val) -> Option<Box<Val>> {
    Some(Box::new(of))
}
