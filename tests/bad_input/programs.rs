//! Targets that cannot be run: each is refused in one line that says what was found.

use crate::corpus::{self, Target};
use crate::fozzy::Fozzy;
use std::fs;

/// A target of these bytes is refused with these words.
#[track_caller]
fn check(bytes: &[u8], words: &[&str]) {
    let fozzy = Fozzy::new();
    fozzy.write("target", bytes);
    fozzy.run(&["run", "target", "--record", "a.fozzy"]).refuses(words);
    let document = fozzy.run(&["run", "target", "--json"]).exits(2).json();
    assert_eq!((document["status"].as_str(), document["code"].as_str()), (Some("error"), Some("target")), "{document}");
    assert_eq!(fozzy.names(), ["target"], "nothing is left behind");
}

#[test]
fn what_is_not_wasm_is_named() {
    check(b"", &["an empty file"]);
    check(b"\x7fELF\x02\x01\x01\0\0\0\0\0", &["a native program"]);
    check(b"fn main() {}\n", &["text that begins with", "fn main() {}"]);
    check(b"(this is not wat)", &["text that begins with"]);
    check(b"{\"version\": 1}", &["JSON"]);
    check(b"#!/bin/sh\n", &["a script"]);
    check(&[0xff; 64], &["ff ff"]);
    check(b"(module", &["does not assemble"]);
    check(b"(component (import \"x\" (func", &["does not assemble"]);
}

#[test]
fn what_does_not_validate_says_where() {
    check(b"\0asm", &["target"]);
    check(b"\0asm\x01\0\0\0\x01", &["does not validate", "offset"]);
    check(b"(module (func (export \"_start\") (result i32)))", &["does not validate", "offset"]);
    let component = b"(component (core module (func (result i32))) (core instance (instantiate 0)))";
    check(component, &["invalid component", "type mismatch"]);
    check(b"\0asm\x07\0\0\0", &["target"]);
}

#[test]
fn a_cut_program_is_refused_at_every_length_tried() {
    for target in Target::ALL {
        let whole = fs::read(corpus::probe(target)).expect("it is built");
        for eighth in 0..8 {
            check(&whole[..whole.len() * eighth / 8 + 3], &["target"]);
        }
        let mut flipped = whole.clone();
        flipped[whole.len() / 3] ^= 0xFF;
        let fozzy = Fozzy::new();
        fozzy.write("flipped.wasm", &flipped);
        // A flipped byte may leave a valid program; whatever it does then is its own affair, and never ours.
        let ran = fozzy.run(&["run", "flipped.wasm", "--fuel", "100000000", "--", "hello"]);
        assert!(ran.code.is_some(), "{ran}");
    }
}

#[test]
fn imports_that_nobody_knows_are_refused_by_name() {
    check(
        br#"(component (import "acme:robot/arm@1.0.0" (instance (export "move" (func)))))"#,
        &["imports what the sandbox does not offer", "acme:robot/arm@1.0.0"],
    );
    // A known interface with a function that it never had, or with another type.
    for function in ["\"rewind\" (func)", "\"now\" (func (result u32))"] {
        let component = format!(
            r#"(component (import "wasi:clocks/monotonic-clock@0.2.0" (instance (export {function})))
                (core module $m (func (export "run") (result i32) i32.const 0)) (core instance $i (instantiate $m))
                (func $run (result (result)) (canon lift (core func $i "run")))
                (instance $cli (export "run" (func $run))) (export "wasi:cli/run@0.2.0" (instance $cli)))"#
        );
        let name = &function[1..4];
        check(component.as_bytes(), &["wasi:clocks/monotonic-clock", name]);
    }
    check(br#"(module (import "env" "robot" (func)) (func (export "_start")))"#, &["env", "robot"]);
    check(
        br#"(module (import "wasi_snapshot_preview1" "robot" (func)) (memory (export "memory") 1) (func (export "_start")))"#,
        &["robot"],
    );
}

#[test]
fn a_program_without_an_entry_is_refused() {
    check(b"(component)", &["no entry point", "wasi:cli/run"]);
    check(b"(module)", &["_start"]);
    check(b"(module (func (export \"main\")))", &["_start"]);
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let fozzy = Fozzy::new();
    fozzy.run(&["run", "nowhere.wasm"]).refuses(&["nowhere.wasm", "No such file"]);
    // Reading its own memory at address zero fails even for root.
    fozzy.run(&["run", "/proc/self/mem"]).refuses(&["cannot read /proc/self/mem"]);
    // A device without end is not swallowed.
    fozzy.run(&["run", "/dev/zero"]).refuses(&["more than the"]);
    fozzy.run(&["run", "/dev/null"]).refuses(&["an empty file"]);
    fozzy.run(&["replay", "/proc/self/mem"]).refuses(&["/proc/self/mem"]);
    fozzy.write("tiny.wat", super::TINY);
    fozzy.run(&["run", "tiny.wat", "--stdin", "nowhere"]).refuses(&["nowhere"]);
    fozzy.run(&["run", "tiny.wat", "--stdin", "."]).refuses(&["cannot read"]);
    fozzy.run(&["run", "tiny.wat", "--dir", "tiny.wat::/x"]).refuses(&["--dir tiny.wat::/x"]);
    fozzy.run(&["run", "tiny.wat", "--dir", "nowhere::/x"]).refuses(&["nowhere"]);
    fozzy.run(&["run", "tiny.wat", "--cwd", "nowhere"]).refuses(&["nowhere"]);
    fozzy.run(&["run", "tiny.wat", "--config", "."]).refuses(&["cannot read"]);
}

#[test]
fn a_file_without_permission_is_refused() {
    let fozzy = Fozzy::new();
    fozzy.write("tiny.wat", super::TINY);
    // Root may read everything, unless these capabilities are taken from it; anybody else needs no help.
    let script = "chmod 000 tiny.wat
        without=''
        if [ \"$(id -u)\" = 0 ]; then without='setpriv --bounding-set=-dac_override,-dac_read_search'; fi
        exec $without fozzy run tiny.wat";
    fozzy.shell(script).refuses(&["cannot read tiny.wat", "Permission denied"]);
}

#[test]
fn a_folder_without_a_manifest_is_refused() {
    let fozzy = Fozzy::new();
    fs::create_dir(fozzy.path("folder")).expect("writable");
    let words = [
        "folder is a folder without a Cargo.toml, a go.mod or a Makefile",
        "without an expect.toml that names its `program`",
    ];
    fozzy.run(&["run", "folder"]).refuses(&words);
    fozzy.write("folder/plan.toml", "");
    let said = fozzy.run(&["run", "folder"]).refuses(&words).err();
    assert!(said.contains("fozzy run folder/plan.toml"), "{said}");
    fs::remove_file(fozzy.path("folder/plan.toml")).expect("it was written");
    fozzy.write("folder/expect.toml", "build = \"false\"\nprogram = \"app.wasm\"");
    fozzy.run(&["run", "folder"]).refuses(&["folder does not build (exit status: 1)"]);
    fozzy.write("folder/expect.toml", "build = \"true\"\nprogram = \"app.wasm\"");
    fozzy.run(&["run", "folder"]).refuses(&["folder/app.wasm is not there, and folder/expect.toml names it"]);
    fozzy.write("folder/expect.toml", "build = \"cp ../tiny.wat app.wat\"\nprogram = \"app.wat\"");
    fozzy.write("tiny.wat", super::TINY);
    fozzy.run(&["run", "folder"]).exits(0);
}

const MANIFEST: &str = "[package]\nname = \"greeter\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";

fn crate_folder(fozzy: &Fozzy, main: &str) {
    fs::create_dir_all(fozzy.path("greeter/src")).expect("writable");
    fozzy.write("greeter/Cargo.toml", MANIFEST);
    fozzy.write("greeter/src/main.rs", main);
}

#[test]
fn a_crate_is_built_once_and_run() {
    let fozzy = Fozzy::new();
    crate_folder(&fozzy, "fn main() { println!(\"built\"); }\n");
    let first = fozzy.run(&["run", "greeter"]).exits(0);
    assert_eq!(first.out(), "built\n");
    assert!(first.err().contains("Compiling greeter"), "{first}");
    let second = fozzy.run(&["run", "greeter"]).exits(0);
    assert_eq!(second.out(), "built\n");
    assert!(!second.err().contains("Compiling"), "nothing changed, so nothing is compiled: {second}");
    crate_folder(&fozzy, "fn main() { println!(\"built again\"); }\n");
    assert_eq!(fozzy.run(&["run", "greeter"]).exits(0).out(), "built again\n");
}

#[test]
fn a_crate_that_does_not_compile_shows_the_compilers_own_message() {
    let fozzy = Fozzy::new();
    crate_folder(&fozzy, "fn main() { let x: u32 = \"text\"; }\n");
    let ran = fozzy.run(&["run", "greeter"]).exits(2);
    assert!(ran.stdout.is_empty(), "{ran}");
    let said = ran.err();
    assert!(said.contains("error[E0308]: mismatched types") && said.contains("src/main.rs:1:26"), "{ran}");
    // The compiler's errors, then ours, once.
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("does not build for wasm32-wasip2")).collect();
    assert_eq!(ours, ["error: greeter does not build for wasm32-wasip2; the compiler's messages are above"], "{ran}");
    let document = fozzy.run(&["run", "greeter", "--json"]).exits(2).json();
    assert_eq!(document["code"], "build");
    fozzy.write("greeter/Cargo.toml", "[package\n");
    fozzy.run(&["run", "greeter"]).exits(2);
}

/// Loops in each other, each with a local of its own: register allocation takes far more than time in proportion.
fn nested_loops(depth: usize) -> String {
    let loops = "(loop ".repeat(depth);
    let ends = (0..depth).map(|n| {
        format!("(local.set {n} (i64.add (local.get {n}) (i64.const 1))) (br_if 0 (i32.load (i32.const 0))))")
    });
    format!(
        "(module (memory (export \"memory\") 1) (func (export \"_start\") (local {}) {loops} {}))",
        "i64 ".repeat(depth),
        ends.collect::<String>()
    )
}

#[test]
fn a_program_that_takes_far_too_long_to_compile_is_refused() {
    let fozzy = Fozzy::new();
    fozzy.write("hostile.wat", nested_loops(1_000));
    fozzy.run(&["run", "hostile.wat"]).refuses(&["compiling the program takes more than", "FOZZY_COMPILE_LIMITS=off"]);
    assert_eq!(fozzy.names(), ["hostile.wat"], "nothing is left behind");
    fozzy.write("plain.wat", nested_loops(20));
    fozzy.run(&["run", "plain.wat"]).exits(0);
}

#[test]
fn a_program_of_wide_blocks_is_refused_before_it_is_compiled() {
    let (types, pushed) = ("i64 ".repeat(1_000), "i64.const 0 ".repeat(1_000));
    let (loops, dropped) = ("(loop (type 0))".repeat(3_000), "drop ".repeat(1_000));
    let module = format!(
        "(module (type (func (param {types}) (result {types}))) (memory (export \"memory\") 1)
           (func (export \"_start\") {pushed} {loops} {dropped}))"
    );
    check(module.as_bytes(), &["it would take gigabytes to compile"]);
}

#[test]
fn commands_that_run_nothing_build_nothing() {
    let fozzy = Fozzy::new();
    fs::create_dir(fozzy.path("recipe")).expect("a folder");
    fozzy.write("recipe/expect.toml", "build = \"touch ../started; cp ../tiny.wat app.wat\"\nprogram = \"app.wat\"\n");
    fs::create_dir_all(fozzy.path("crate/src")).expect("a folder");
    fozzy.write("crate/Cargo.toml", "[package]\nname = \"hostile\"\nversion = \"1.0.0\"\nedition = \"2021\"\n");
    fozzy.write("crate/src/main.rs", "fn main() {}");
    fozzy.write("crate/build.rs", "fn main() { std::fs::write(\"../started\", \"\").unwrap(); }");
    fozzy.write("plan.toml", "[[node]]\nname = \"other\"\ncomponent = \"recipe\"\n");
    fozzy.write("tiny.wat", super::TINY);
    fozzy.run(&["inspect", "recipe"]).refuses(&["app.wat is not there", "builds nothing"]);
    fozzy.run(&["inspect", "crate"]).refuses(&["hostile.wasm is not there", "builds nothing"]);
    fozzy.run(&["validate", "plan.toml"]);
    assert!(!fozzy.path("started").exists(), "something was started");
    fozzy.run(&["run", "recipe"]).exits(0);
    assert!(fozzy.path("started").exists());
    assert!(fozzy.run(&["inspect", "recipe"]).exits(0).out().contains("core module"));
}
