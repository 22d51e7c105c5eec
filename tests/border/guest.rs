//! A component that reads a program from standard input and performs it: host calls with any arguments at all.
//!
//! ```text
//! op a b    c      d              one instruction, 16 bytes: u8 u8 u16 u32 u64, little-endian
//! 0       addr  value             writes eight bytes
//! 1 arg          value            sets an argument
//! 2 arg class pick                sets it to a handle of the class, or skips the next call when there is none
//! 3 arg class pick                the same, and the handle is the program's no more
//! 4 pick class addr               writes a handle to memory            (5: and forgets it)
//! 6     call                      calls
//! 7 byte       addr               if another byte stands there, the next 8, 9 or 10 does nothing
//! 8     class addr                keeps the handle that stands there
//! 9     class                     keeps the handle that was returned
//! 10    class addr  stride|offset keeps the handles of the list that stands there
//! ```
//!
//! It is a core module over the canonical ABI, so that handles can be used after they are gone, lengths can lie, and a
//! pointer can lead anywhere. Addresses wrap in [`SCRATCH_BYTES`]; operations are taken modulo their number, so that each
//! byte string is a program.

use super::vocabulary::{Call, Vocabulary};
use std::fmt::Write;
use wit_component::{ComponentEncoder, StringEncoding};
use wit_parser::abi::WasmType;

/// Where addresses of a program begin.
pub(super) const SCRATCH: u32 = 0x1_0000;
/// How many bytes it has there. What the host hands out is allocated behind.
pub(super) const SCRATCH_BYTES: u32 = 0x1_0000;
/// Longest program that is read, in bytes.
pub(super) const PROGRAM_BYTES_MAX: usize = 0x1_0000;
/// Where the program lies, and where the allocator begins anew when it comes to the end of memory.
const PROGRAM: u32 = 0x2_0000;
const ARENA: u32 = PROGRAM + PROGRAM_BYTES_MAX as u32;
/// Pages of memory: one random answer of a megabyte fits several times.
const PAGES: u32 = 96;
/// Most arguments of a call: sixteen, and a pointer to the result.
const ARGUMENTS: u32 = 0x100;
/// Handles: a count and eight handles for each of 64 classes.
const SLOTS: u32 = 0x1000;

/// The component.
pub(super) fn component(vocabulary: &Vocabulary) -> Vec<u8> {
    encoded(vocabulary, &text(vocabulary))
}

/// The component of a core module of the vocabulary's world.
pub(super) fn encoded(vocabulary: &Vocabulary, text: &str) -> Vec<u8> {
    let mut module = wat::parse_str(text).unwrap_or_else(|error| panic!("{error}"));
    let Vocabulary { resolve, world, .. } = vocabulary;
    wit_component::embed_component_metadata(&mut module, resolve, *world, StringEncoding::UTF8).expect("its own world");
    let encoder = ComponentEncoder::default().validate(true).module(&module).expect("it has its world");
    encoder.realloc_via_memory_grow(false).encode().unwrap_or_else(|error| panic!("{error:#}"))
}

const fn core_type(ty: WasmType) -> &'static str {
    match ty {
        WasmType::I32 | WasmType::Pointer | WasmType::Length => "i32",
        WasmType::I64 | WasmType::PointerOrI64 => "i64",
        WasmType::F32 => "f32",
        WasmType::F64 => "f64",
    }
}

/// Imports of everything, each function under its own name: `(call $wasi:io/poll.pollable.block …)`.
pub(super) fn imports(vocabulary: &Vocabulary) -> String {
    let list = |what: &str, types: &[WasmType]| {
        let types: Vec<&str> = types.iter().map(|ty| core_type(*ty)).collect();
        if types.is_empty() { String::new() } else { format!("({what} {})", types.join(" ")) }
    };
    let line = |call: &Call| {
        let (params, results) = (list("param", &call.signature.params), list("result", &call.signature.results));
        format!("(import {:?} {:?} (func ${} {params} {results}))\n", call.module, call.field, call.name())
    };
    vocabulary.calls.iter().map(line).collect()
}

fn text(vocabulary: &Vocabulary) -> String {
    let imports = imports(vocabulary);
    let (mut calls, mut names) = (String::new(), String::new());
    for (index, call) in vocabulary.calls.iter().enumerate() {
        let mut invocation = format!("(call ${}", call.name());
        for (at, ty) in call.signature.params.iter().enumerate() {
            let value = format!("(i64.load (i32.const {}))", ARGUMENTS + 8 * at as u32);
            let _ = match core_type(*ty) {
                "i32" => write!(invocation, " (i32.wrap_i64 {value})"),
                "f32" => write!(invocation, " (f32.reinterpret_i32 (i32.wrap_i64 {value}))"),
                "f64" => write!(invocation, " (f64.reinterpret_i64 {value})"),
                _ => write!(invocation, " {value}"),
            };
        }
        invocation.push(')');
        let invocation = match call.signature.results.first().map(|ty| core_type(*ty)) {
            None => invocation,
            Some("i32") => format!("(global.set $result {invocation})"),
            Some(_) => format!("(drop {invocation})"),
        };
        let _ = writeln!(calls, "(func $c{index} {invocation})");
        let _ = write!(names, " $c{index}");
    }
    let count = vocabulary.calls.len();
    format!(
        r#"(module
{imports}
(type $void (func))
(memory (export "memory") {PAGES} {PAGES})
(global $bump (mut i32) (i32.const {PROGRAM}))
(global $result (mut i32) (i32.const 0))
(global $skip (mut i32) (i32.const 0))
(table funcref (elem {names}))
{calls}
(func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32)
  (local $at i32)
  (local.set $at (i32.and (i32.add (global.get $bump) (i32.const 15)) (i32.const -16)))
  (if (i64.gt_u (i64.add (i64.extend_i32_u (local.get $at)) (i64.extend_i32_u (local.get 3))) (i64.const {end}))
    (then (local.set $at (i32.const {ARENA}))))
  (global.set $bump (i32.add (local.get $at) (local.get 3)))
  (if (i32.gt_u (global.get $bump) (i32.const {end})) (then (global.set $bump (i32.const {ARENA}))))
  (local.get $at))
(func $class (param $class i32) (result i32)
  (i32.add (i32.const {SLOTS}) (i32.shl (i32.and (local.get $class) (i32.const 63)) (i32.const 6))))
(func $slot (param $base i32) (param $n i32) (result i32)
  (i32.add (local.get $base) (i32.add (i32.const 4) (i32.shl (local.get $n) (i32.const 2)))))
(func $push (param $class i32) (param $handle i32)
  (local $base i32) (local $count i32)
  (local.set $base (call $class (local.get $class)))
  (local.set $count (i32.load (local.get $base)))
  (if (i32.ge_u (local.get $count) (i32.const 8))
    (then (i32.store (call $slot (local.get $base) (i32.and (local.get $handle) (i32.const 7))) (local.get $handle)))
    (else
      (i32.store (call $slot (local.get $base) (local.get $count)) (local.get $handle))
      (i32.store (local.get $base) (i32.add (local.get $count) (i32.const 1))))))
(func $pick (param $class i32) (param $n i32) (param $take i32) (result i32)
  (local $base i32) (local $count i32) (local $slot i32) (local $handle i32)
  (local.set $base (call $class (local.get $class)))
  (local.set $count (i32.load (local.get $base)))
  (if (i32.eqz (local.get $count)) (then (global.set $skip (i32.const 1)) (return (i32.const -1))))
  (local.set $slot (call $slot (local.get $base) (i32.rem_u (local.get $n) (local.get $count))))
  (local.set $handle (i32.load (local.get $slot)))
  (if (local.get $take) (then
    (local.set $count (i32.sub (local.get $count) (i32.const 1)))
    (i32.store (local.get $slot) (i32.load (call $slot (local.get $base) (local.get $count))))
    (i32.store (local.get $base) (local.get $count))))
  (local.get $handle))
(func $address (param i32) (result i32)
  (i32.add (i32.const {SCRATCH}) (i32.and (local.get 0) (i32.const {mask}))))
(func $argument (param i32) (result i32)
  (i32.add (i32.const {ARGUMENTS}) (i32.shl (i32.and (local.get 0) (i32.const 31)) (i32.const 3))))
(func (export "wasi:cli/run@0.2.12#run") (result i32)
  (local $pc i32) (local $end i32) (local $a i32) (local $b i32) (local $c i32) (local $d i64)
  (local $ran i32) (local $keep i32) (local $at i32) (local $count i32)
  (call $wasi:io/streams.input-stream.blocking-read (call $wasi:cli/stdin.get-stdin) (i64.const {PROGRAM_BYTES_MAX}) (i32.const {SCRATCH}))
  (if (i32.load8_u (i32.const {SCRATCH})) (then (return (i32.const 0))))
  (local.set $pc (i32.load offset=4 (i32.const {SCRATCH})))
  (local.set $end (i32.add (local.get $pc) (i32.and (i32.load offset=8 (i32.const {SCRATCH})) (i32.const -16))))
  (global.set $bump (i32.const {ARENA}))
  (loop $next
    (if (i32.ge_u (local.get $pc) (local.get $end)) (then (return (i32.const 0))))
    (local.set $a (i32.load8_u offset=1 (local.get $pc)))
    (local.set $b (i32.load16_u offset=2 (local.get $pc)))
    (local.set $c (i32.load offset=4 (local.get $pc)))
    (local.set $d (i64.load offset=8 (local.get $pc)))
    (block $done
      (block $10 (block $9 (block $8 (block $7 (block $6 (block $5 (block $4 (block $3 (block $2 (block $1 (block $0
        (br_table $0 $1 $2 $3 $4 $5 $6 $7 $8 $9 $10
          (i32.rem_u (i32.load8_u (local.get $pc)) (i32.const 11))))
        (i64.store (call $address (i32.and (local.get $c) (i32.const -8))) (local.get $d)) (br $done))
        (i64.store (call $argument (local.get $a)) (local.get $d)) (br $done))
        (i64.store (call $argument (local.get $a))
          (i64.extend_i32_u (call $pick (local.get $b) (local.get $c) (i32.const 0)))) (br $done))
        (i64.store (call $argument (local.get $a))
          (i64.extend_i32_u (call $pick (local.get $b) (local.get $c) (i32.const 1)))) (br $done))
        (i32.store (call $address (i32.and (local.get $c) (i32.const -4)))
          (call $pick (local.get $b) (local.get $a) (i32.const 0))) (br $done))
        (i32.store (call $address (i32.and (local.get $c) (i32.const -4)))
          (call $pick (local.get $b) (local.get $a) (i32.const 1))) (br $done))
        (local.set $ran (i32.eqz (global.get $skip)))
        (global.set $skip (i32.const 0))
        (if (local.get $ran)
          (then (call_indirect (type $void) (i32.rem_u (local.get $b) (i32.const {count})))))
        (local.set $keep (local.get $ran)) (br $done))
        (if (i32.ne (i32.load8_u (call $address (local.get $c))) (local.get $a))
          (then (local.set $keep (i32.const 0)))) (br $done))
        (if (local.get $keep)
          (then (call $push (local.get $b) (i32.load (call $address (i32.and (local.get $c) (i32.const -4)))))))
        (local.set $keep (local.get $ran)) (br $done))
        (if (local.get $keep) (then (call $push (local.get $b) (global.get $result))))
        (local.set $keep (local.get $ran)) (br $done))
        (local.set $at (i32.load (call $address (i32.and (local.get $c) (i32.const -8)))))
        (local.set $count (i32.load (call $address (i32.or (i32.and (local.get $c) (i32.const -8)) (i32.const 4)))))
        (if (i32.gt_u (local.get $count) (i32.const 8)) (then (local.set $count (i32.const 8))))
        (block $empty (loop $each
          (br_if $empty (i32.eqz (i32.and (local.get $keep) (i32.ne (local.get $count) (i32.const 0)))))
          (call $push (local.get $b) (i32.load (i32.add (local.get $at)
            (i32.wrap_i64 (i64.and (i64.shr_u (local.get $d) (i64.const 16)) (i64.const 0xffff))))))
          (local.set $at (i32.add (local.get $at) (i32.and (i32.wrap_i64 (local.get $d)) (i32.const 0xffff))))
          (local.set $count (i32.sub (local.get $count) (i32.const 1)))
          (br $each)))
        (local.set $keep (local.get $ran)))
    (local.set $pc (i32.add (local.get $pc) (i32.const 16)))
    (br $next))
  (unreachable)))"#,
        end = PAGES * 65_536,
        mask = SCRATCH_BYTES - 1,
    )
}
