;; Writes once after 1,000 turns of a loop.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\10\00\00\00\05\00\00\00")
  (data (i32.const 16) "done\0a")
  (func (export "_start") (local i32)
    (loop $on
      (local.set 0 (i32.add (local.get 0) (i32.const 1)))
      (br_if $on (i32.lt_u (local.get 0) (i32.const 1000))))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
