;; Draws a byte, and fails for half of them.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (drop (call $random_get (i32.const 100) (i32.const 1)))
    (if (i32.and (i32.load8_u (i32.const 100)) (i32.const 1)) (then unreachable))))
