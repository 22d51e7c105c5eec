;; Writes 5 and reads it back; now and then, by a random byte, it reads 3.
(module
  (import "fozzy:history/operations@0.1.0" "invoke" (func $invoke (param i32 i32 i32 i32 i32) (result i64)))
  (import "fozzy:history/operations@0.1.0" "ok" (func $ok (param i64 i32 i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 16) "write") (data (i32.const 24) "read") (data (i32.const 32) "53")
  (func (export "_start")
    (call $ok (call $invoke (i32.const 1) (i32.const 16) (i32.const 5) (i32.const 32) (i32.const 1)) (i32.const 32) (i32.const 1))
    (drop (call $random (i32.const 64) (i32.const 1)))
    (call $ok (call $invoke (i32.const 2) (i32.const 24) (i32.const 4) (i32.const 0) (i32.const 0))
      (i32.add (i32.const 32) (i32.lt_u (i32.load8_u (i32.const 64)) (i32.const 30))) (i32.const 1))))
