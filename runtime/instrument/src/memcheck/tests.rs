//! Validity of what is put in; what it finds is tested by programs (`tests/memcheck.rs`).

use crate::{Options, instrument};

const PROGRAM: &str = r#"(component (core module (memory 1) (global $sp (mut i32) (i32.const 4096)) (data (i32.const 1024) "x")
    (func $malloc (param i32) (result i32) local.get 0 if i32.const 1 return end i32.const 8 local.set 0 local.get 0)
    (func $dlmalloc (param i32) (result i32) local.get 0 return_call $malloc)
    (func $calloc (param i32 i32) (result i32) i32.const 64 global.set $sp unreachable)
    (func $realloc (param i32 i32) (result i32) i32.const 1 call $malloc)
    (func $posix_memalign (param i32 i32 i32) (result i32) i32.const 0)
    (func $aligned_alloc (param i32 i32) (result i32) i32.const 0)
    (func $free (param i32) local.get 0 call $dlfree)
    (func $dlfree (param i32) (local i64))
    (func $__rust_alloc (param i32 i32) (result i32) i32.const 0)
    (func $__rust_dealloc (param i32 i32 i32))
    (func $__rust_realloc (param i32 i32 i32 i32) (result i32) i32.const 0)
    (func $malloc_usable_size (param i32) (result i32) i32.const 0)
    (func $memcpy (param i32 i32 i32) (result i32) local.get 0 local.get 1 local.get 2 memory.copy local.get 0)
    (func $strlen (param i32) (result i32) local.get 0 i32.load)
    (func $f (param i32 i64) (result i64) (local i32)
      global.get 0 i32.const 32 i32.sub local.tee 2 global.set 0
      local.get 0 i64.load offset=8 align=1 drop
      local.get 0 local.get 1 i64.store
      local.get 2 local.get 1 i64.store offset=8
      local.get 0 v128.load drop
      local.get 0 v128.const i64x2 0 0 v128.store8_lane 3
      local.get 0 f32.const 1 f32.store
      local.get 0 i32.const 7 i32.const 9 memory.fill
      i32.const 1 memory.grow drop
      local.get 0 i32.eqz if i64.const 9 return end
      i64.const 7 br 0))) "#;

#[test]
fn what_is_written_is_valid_with_whatever_else_is_put_in() {
    let component = wat::parse_str(PROGRAM).expect("text");
    let plain = Options { memcheck: true, ..Options::default() };
    for options in [
        plain.clone(),
        Options { access: true, coverage: crate::CoverageMode::Counters, comparisons: true, ..plain.clone() },
        Options { depth: false, ..plain.clone() },
        Options { profile: true, heap: Some(Vec::new()), ..plain.clone() },
    ] {
        let found = instrument(&component, &options).expect("it is a component");
        let mut validator = wasmparser::Validator::new_with_features(crate::features());
        validator.validate_all(&found.component).expect("what is put in is valid");
        assert!(found.shadow.is_some());
    }
}

#[test]
fn a_module_without_memory_of_its_own_stays_as_it_is() {
    let text = "(component (core module (import \"a\" \"m\" (memory 1)) (func (param i32) local.get 0 i32.load drop)))";
    let component = wat::parse_str(text).expect("text");
    let with = instrument(&component, &Options { memcheck: true, ..Options::default() }).expect("it is one");
    let without = instrument(&component, &Options::default()).expect("it is one");
    assert_eq!(with.component, without.component);
}
