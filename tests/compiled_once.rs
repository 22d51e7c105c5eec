//! Nothing is compiled twice: neither by workers and commands side by side, nor by the next command.
//!
//! Not here: what the cache does with damage and other owners (`fozzy-engine`), or what a compiler may take (`hostile_guests`).

use crate::fozzy::Fozzy;
use std::collections::BTreeSet;

/// Draws, compares and reads, and fails for one value in four.
const PROGRAM: &str = r#"(module
    (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (func (export "_start")
        (i64.store (i32.const 0) (i64.const 0x800000040))
        (drop (call $random (i32.const 128) (i32.const 4)))
        (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
        (if (i32.eq (i32.load (i32.const 64)) (i32.const 0x12345678)) (then (drop (i32.const 1))))
        (if (i32.eqz (i32.and (i32.load8_u (i32.const 128)) (i32.const 3))) (then unreachable))))"#;
const OTHER: &str = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;

/// Commands, each with a cache of its own; `PLAN` names a plan with a machine of another program and one of the same.
const COMMANDS: &[&str] = &[
    "fozzy run app.wat PLAN < /dev/null",
    "for n in 1 2 3 4; do fozzy run app.wat PLAN < /dev/null & done; wait",
    "fozzy run app.wat PLAN --seeds 1..8 --jobs 4",
    "fozzy test suite --jobs 4",
    "fozzy explore app.wat PLAN -w 3 --runs 120 --no-seeds --no-shrink",
    "fozzy explore app.wat PLAN --runs 60 --no-seeds",
    "fozzy fuzz app.wat --stdin --jobs 3 --runs 300",
    "fozzy fuzz app.wat --stdin PLAN --jobs 3 --runs 300",
    "fozzy replay failed.fozzy",
    "fozzy shrink failed.fozzy",
];

/// The programs that were compiled, by their keys.
fn compiled(fozzy: &Fozzy, command: &str) -> Vec<String> {
    let settings = "FOZZY_CACHE_DIR=\"$PWD/cold\" FOZZY_LOG=fozzy_engine=info NO_COLOR=1";
    let command = command.replace("PLAN", "--plan plan.toml");
    let said = fozzy.shell(&format!("export {settings}\n{{ {command}; }} 2>&1 || true")).out();
    let keys = said.lines().filter(|line| line.contains("compiling a program"));
    keys.map(|line| line.split("key=").nth(1).unwrap_or_else(|| panic!("{line}")).to_owned()).collect()
}

#[test]
fn workers_and_commands_side_by_side_compile_nothing_twice_and_the_next_command_nothing() {
    let fozzy = Fozzy::new();
    fozzy.write("app.wat", PROGRAM);
    fozzy.write("other.wat", OTHER);
    std::fs::create_dir(fozzy.path("suite")).expect("a folder");
    for case in ["suite/a.wat", "suite/b.wat", "suite/c.wat"] {
        fozzy.write(case, OTHER);
    }
    let node =
        |name: &str, program: &str| format!("[[node]]\nname = '{name}'\ncomponent = '{program}'\nends = 'any'\n");
    fozzy.write("plan.toml", node("other", "other.wat") + &node("third", "other.wat") + &node("same", "app.wat"));
    let seeds = ["run", "app.wat", "--seeds", "1..40", "--until-failure", "--json"];
    let failed = fozzy.run(&seeds).json();
    let seed = failed["scenarios"].as_array().map_or(0, Vec::len).to_string();
    fozzy.run_with_stdin(&["run", "app.wat", "--seed", &seed, "--record", "failed.fozzy"], b"").exits(4);
    for command in COMMANDS {
        let keys = compiled(&fozzy, command);
        let different: BTreeSet<&String> = keys.iter().collect();
        assert!(!keys.is_empty() && different.len() == keys.len(), "{command}: {keys:#?}");
        assert_eq!(compiled(&fozzy, command), [""; 0], "{command}: the code is kept");
        std::fs::remove_dir_all(fozzy.path("cold")).expect("the cache");
    }
}
