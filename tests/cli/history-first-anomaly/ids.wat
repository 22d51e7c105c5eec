;; Thirty ids, each one of eighty; the program itself asks for them to be unique.
(module
  (import "fozzy:choices/draws@0.1.0" "choose" (func $choose (param i32 i32 i64) (result i64)))
  (import "fozzy:history/operations@0.1.0" "invoke" (func $invoke (param i32 i32 i32 i32 i32) (result i64)))
  (import "fozzy:history/operations@0.1.0" "ok" (func $ok (param i64 i32 i32)))
  (import "fozzy:history/operations@0.1.0" "check" (func $check (param i32 i32 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "generate")
  (data (i32.const 32) "unique-ids")
  (data (i32.const 64) "id")
  (func (export "_start") (local $left i32) (local $number i64)
    (call $check (i32.const 32) (i32.const 10) (i32.const 0) (i32.const 0))
    (local.set $left (i32.const 30))
    (loop $next
      (local.set $number (call $invoke (i32.const 0) (i32.const 16) (i32.const 8) (i32.const 0) (i32.const 0)))
      (i32.store8 (i32.const 0) (i32.add (i32.const 33) (i32.wrap_i64 (call $choose (i32.const 64) (i32.const 2) (i64.const 80)))))
      (call $ok (local.get $number) (i32.const 0) (i32.const 1))
      (local.set $left (i32.sub (local.get $left) (i32.const 1)))
      (br_if $next (local.get $left)))))
