(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 0)))
    (drop (call $random (i32.const 8) (i32.const 8)))
    (drop (call $clock (i32.const 1) (i64.const 1) (i32.const 0)))
    (drop (call $random (i32.const 8) (i32.const 16)))))
