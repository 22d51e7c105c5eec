//! Debug information of real programs: places of lines and functions, and, where the program stands, its variables and expressions.
//!
//! ```text
//! values.rs, values.c ─▶ rustc, clang ─▶ wasmtime stops at the line that prints ─▶ the values of the source
//! ```
//!
//! Not here: going there and back (`debug`).

mod stopped;

use crate::corpus::DebugSample;
use fozzy_instrument::debug_info::{CodePlace, DebugInfo, Expression, FrameValues, FunctionScope};
use std::fmt::Write;
use stopped::{StoppedProgram, stopped};

/// A program that stands where it prints what it has.
struct Standing {
    info: DebugInfo,
    place: CodePlace,
    frame: StoppedProgram,
}

fn standing(program: DebugSample) -> Standing {
    let module = std::fs::read(program.module()).expect("it was built");
    let source = std::fs::read_to_string(program.source()).expect("it is there");
    let prints = source.lines().position(|line| line.contains("println!(") || line.contains("printf(\""));
    let line = u32::try_from(prints.expect("it prints") + 1).expect("a small file");
    let info = DebugInfo::new(&module);
    let file = program.source();
    let found = info.line_places(&file.display().to_string(), line).expect("the line has code");
    assert_eq!(found.line, line);
    let place = *found.places.first().expect("a place");
    Standing { frame: stopped(&module, place), info, place }
}

impl Standing {
    /// Variables of the innermost function, a line each.
    fn variables(&self) -> String {
        let scopes = self.info.scopes(self.place);
        let mut text = String::new();
        for variable in &scopes.first().expect("a function").variables {
            let shown = self.info.render(&self.info.value(variable, &self.frame), &self.frame);
            writeln!(text, "{}: {}", variable.name, shown.text).expect("to a text");
        }
        text
    }

    /// An expression's value, or what is wrong with it.
    fn evaluated(&self, text: &str) -> String {
        let scopes = self.info.scopes(self.place);
        let value = Expression::parse(text)
            .and_then(|expression| self.info.evaluate(&expression, self.place, scopes.first(), &self.frame));
        match value {
            Ok(value) => self.info.render(&value, &self.frame).text,
            Err(why) => why.to_string(),
        }
    }
}

const RUST_LOCALS: &str = r#"count: 56
sum: 49
array: [[1, 2], [3, 4]]
result: Err("bad")
rc: Point { x: 1, y: 2 }
nested: [(Some(7), "in")]
pair: (1, -2, 'x', true, 1.5)
colour: Blue
boxed: Some(9)
none: None
some: Some(7)
numbers: [1, 2, 3]
owned: "owned"
"#;

#[test]
fn variables_of_rust_are_the_values_of_the_source() {
    let standing = standing(DebugSample::RustDebug);
    let variables = standing.variables();
    assert!(variables.starts_with(RUST_LOCALS), "{variables}");
    let tree: Vec<String> = (0..20).map(|key| format!("{key}: \"v\"")).collect();
    assert!(variables.contains(&format!("tree: {{{}}}\n", tree.join(", "))), "{variables}");
    // The order of a hash map is its own.
    let maps = ["map: {\"one\": 1, \"two\": 2}\n", "map: {\"two\": 2, \"one\": 1}\n"];
    assert!(maps.iter().any(|map| variables.contains(map)), "{variables}");
    let parameters = "shapes: [Empty, Circle(1.5), Rect { w: 2, h: 3 }]\nname: \"name\"\nat: Point { x: 3, y: 4 }\n";
    assert!(variables.ends_with(parameters), "{variables}");
    assert_eq!(standing.info.scopes(standing.place)[0].function, "values::show");
    let statics = standing.info.statics(standing.place);
    assert!(statics.iter().any(|own| own.name == "values::TOTAL"), "{statics:?}");
}

#[test]
fn an_optimised_program_shows_the_values_of_the_source_or_says_that_they_are_gone() {
    let standing = standing(DebugSample::RustRelease);
    let variables = standing.variables();
    assert!(variables.contains("sum: 49\n") && variables.contains("pair: (1, -2, 'x', true, 1.5)\n"), "{variables}");
    let debug = self::standing(DebugSample::RustDebug).variables();
    for line in variables.lines() {
        let gone = line.contains("optimised out at this point");
        assert!(gone || line.starts_with("map: ") || debug.lines().any(|own| own == line), "{line}\n{debug}");
    }
}

#[test]
fn expressions_are_evaluated_where_the_program_stands() {
    let standing = standing(DebugSample::RustDebug);
    #[rustfmt::skip]
    let cases = [
        (r#"map["two"]"#, "2"), ("tree[7]", "\"v\""), (r#"owned == "owned""#, "true"), ("shapes[1]", "Circle(1.5)"),
        ("shapes[1].0", "1.5"), ("shapes[2].w * 2 + 1", "5"), ("shapes[0] == Empty", "true"), ("shapes[0] == Shape::Circle", "false"),
        ("colour == Colour::Blue", "true"), ("numbers.len()", "3"), ("at.x + at.y", "7"), ("boxed", "Some(9)"), ("*boxed.0", "9"),
        ("rc.x", "1"), ("pair.3 && !false", "true"), ("array[1][0] << 4", "48"), ("TOTAL", "42"), ("values::TOTAL as u8", "42"),
        ("pair.2 as u32", "120"), ("-pair.1 > 1.5", "true"), ("(u8)300", "44"), ("pair.2 == 'x'", "true"), ("count % 5", "1"),
        ("*&count", "56"), ("numbers[0] == 1 || nothing", "true"), ("0x10 | 0b1", "17"), ("result == Err", "true"),
        // A cast binds less tightly than a sign, and nothing wraps.
        ("-1 as u64", "18446744073709551615"), ("-1 as u128", "340282366920938463463374607431768211455"), ("-1 as u128 > 1", "true"),
        ("2 * -1 as u8", "510"), ("*&count as u8 + 300", "356"),
        ("(-1 as u128) + 1", "a number of 2^127 or more cannot be calculated with (at column 14)"),
        // What is wrong is said, with the place.
        ("nix.x", "`nix` is no variable that is visible here (at column 1)"),
        ("at.z", "there is no field `z`: it has x, y (at column 3)"),
        ("1 +", "expected a value, found the end (at column 4)"),
        ("numbers[5]", "5 is outside: it has 3 (at column 9)"),
        ("count / 0", "division by zero (at column 7)"),
        ("some as", "expected a basic type, found the end (at column 8)"),
        ("count count", "`count` was not expected here (at column 7)"),
        ("numbers.push(3)", "`push` cannot be called: nothing runs while the program stands (at column 8)"),
        ("&1", "it is in no memory, and has no address (at column 1)"),
        ("owned + 1", "a String is no number (at column 1)"),
        ("map[\"three\"]", "no entry has this key (at column 5)"),
        ("*count", "a usize is no pointer (at column 1)"),
    ];
    for (text, expected) in cases {
        assert_eq!(standing.evaluated(text), expected, "{text}");
    }
    let deep = format!("{}1{}", "(".repeat(500), ")".repeat(500));
    assert!(standing.evaluated(&deep).contains("nested deeper than"));
    assert!(standing.evaluated(&"-".repeat(4000)).contains("nested deeper than"));
}

#[test]
fn variables_of_c_are_the_values_of_the_source() {
    let debug = standing(DebugSample::CDebug);
    let variables = debug.variables();
    #[rustfmt::skip]
    let expected = [
        "f: {a = 5, b = -3, c = 4294967296}\n", "u: {whole = 1069547520, part = 1.5}\n", "c: BLUE\n", "words: [1, 2, 3, 4]\n",
        "grid: [[1, 2, 3], [4, 5, 6]]\n", "last: {value = 2, next = 0x0}\n", "half: 0.5\n", "sum: 14\n", "n: 4\n",
    ];
    for line in expected {
        assert!(variables.contains(line), "{line}{variables}");
    }
    #[rustfmt::skip]
    let cases = [
        ("p->x", "3"), ("p->y + 1", "-3"), ("words[2] * 2", "6"), ("c == BLUE", "true"), ("first.next->value", "2"),
        (r#"text == "hello""#, "true"), (r#"p->name == "origin""#, "true"), ("(unsigned char)-1", "255"), ("total", "56"),
        ("sum > 3 && n == 4", "true"), ("f.b", "-3"), ("grid[1][2]", "6"), ("*(&words[1])", "2"), ("(*p).x", "3"), ("text[1]", "101 'e'"),
        ("first.next->next->value", "0x0 is outside of the memory"),
    ];
    for (text, expected) in cases {
        let value = debug.evaluated(text);
        // Address zero is in the memory of a program: what is read there is its own.
        assert!(value == expected || text.contains("next->next"), "{text}: {value}");
    }
    let optimised = standing(DebugSample::COptimised);
    let variables = optimised.variables();
    for line in ["f: {a = 5, b = -3, c = <optimised out at this point>}\n", "c: BLUE\n", "n: 4\n", "half: 0.5\n"] {
        assert!(variables.contains(line), "{line}{variables}");
    }
    assert_eq!(optimised.evaluated("p->y"), "-4");
    assert_eq!(optimised.evaluated("words[2]"), "3");
    assert_eq!(optimised.evaluated("words[0] + 1"), "optimised out at this point (at column 6)");
}

#[test]
fn lines_and_functions_have_places_behind_the_prologue() {
    let path = DebugSample::RustDebug.module();
    let info = DebugInfo::new(&std::fs::read(path).expect("it was built"));
    assert!(info.is_present());
    let source = DebugSample::RustDebug.source();
    let text = std::fs::read_to_string(&source).expect("it is there");
    let line_of = |part: &str| {
        u32::try_from(text.lines().position(|line| line.contains(part)).expect("it is there") + 1).expect("small")
    };
    // A function by its path, by the end of it, and by its line: the same place, where its parameters have values.
    let by_path = info.function_places("values::show");
    assert_eq!(by_path.len(), 1, "{by_path:?}");
    assert_eq!(by_path, info.function_places("show"));
    assert!(info.function_places("how").is_empty() && info.function_places("").is_empty());
    let inside = info.line_places("debugged/values.rs", line_of("let mut map")).expect("it has code");
    assert_eq!(inside.places, by_path);
    let by_line = info.line_places("values.rs", line_of("fn show(")).expect("it has code");
    assert_eq!((by_line.line, by_line.places), (line_of("fn show("), by_path));
    // A line without code slips to the next one; behind the last there is none.
    let slipped = info.line_places("values.rs", line_of("static TOTAL")).expect("a line behind it has code");
    assert!(slipped.line > line_of("static TOTAL"), "{slipped:?}");
    assert!(info.line_places("values.rs", 100_000).is_none());
    assert!(info.line_places("no-such-file.rs", 1).is_none());
    assert!(info.source_files().iter().any(|file| file.path.ends_with("debugged/values.rs")));
    let lines = info.lines_with_code("values.rs", line_of("let owned")..line_of("let some"));
    assert_eq!(lines, [line_of("let owned"), line_of("let numbers")]);
    assert!(info.function_names("values::s", 10).contains(&"values::show".to_owned()));
}

/// A frame of a program that stands nowhere.
struct Anything(Vec<u8>);

impl FrameValues for Anything {
    fn local(&self, index: u32) -> Option<u64> {
        (index < 9).then_some(64)
    }

    fn global(&self, _: u32) -> Option<u64> {
        Some(64)
    }

    fn operand(&self, _: u32) -> Option<u64> {
        None
    }

    fn read_memory(&self, address: u64, bytes: &mut [u8]) -> bool {
        let start = usize::try_from(address).unwrap_or(usize::MAX);
        let own = self.0.get(start..start.saturating_add(bytes.len()));
        own.inspect(|own| bytes.copy_from_slice(own)).is_some()
    }
}

/// Asks everything; how much was told.
fn ask_everything(module: &[u8]) -> usize {
    let info = DebugInfo::new(module);
    let frame = Anything((0..=255u8).cycle().take(4096).collect());
    let mut told = info.source_files().len() + info.function_names("", 100).len();
    let mut places = info.function_places("measure");
    places.extend(info.function_places("area"));
    for line in [1, 15, 22, 30] {
        places.extend(info.line_places("debugged/small.rs", line).map(|found| found.places).unwrap_or_default());
    }
    places.truncate(8);
    for place in places {
        let scopes = info.scopes(place);
        for variable in scopes.iter().flat_map(|scope| &scope.variables).chain(&info.statics(place)) {
            let value = info.value(variable, &frame);
            told += info.render(&value, &frame).text.len();
            told += info.parts(&value, &frame, 0, 20).len();
        }
        let scope: Option<&FunctionScope> = scopes.first();
        for text in ["shape.0 == 1 || all[0] > 2", "*shape", "LIMIT + 1"] {
            let expression = Expression::parse(text).expect("it is one");
            told += usize::from(info.evaluate(&expression, place, scope, &frame).is_ok());
        }
    }
    told
}

#[test]
fn damaged_debug_information_tells_less_and_ends() {
    let module = std::fs::read(DebugSample::RustSmall.module()).expect("it was built");
    assert!(ask_everything(&module) > 100);
    // Where the debug sections are.
    let mut sections = Vec::new();
    for payload in wasmparser::Parser::new(0).parse_all(&module).map_while(Result::ok) {
        if let wasmparser::Payload::CustomSection(custom) = payload
            && custom.name().starts_with(".debug_")
        {
            sections.push(custom.data_offset()..custom.data_offset() + custom.data().len());
        }
    }
    assert!(sections.len() > 3);
    let mut state = 7u64;
    let mut next = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("it fits") % below.max(1)
    };
    for round in 0..600 {
        let mut damaged = module.clone();
        for _ in 0..=round % 4 {
            let section = &sections[next(sections.len())];
            let at = section.start + next(section.len());
            damaged[at] = match next(3) {
                0 => 0xff,
                1 => damaged[at] ^ (1 << next(8)),
                _ => u8::try_from(next(256)).expect("a byte"),
            };
        }
        ask_everything(&damaged);
    }
}
