;; Prints a line after a minute.
(module
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\64\00\00\00\05\00\00\00")
  (data (i32.const 100) "late\0a")
  (func (export "_start")
    (i32.store (i32.const 416) (i32.const 1))
    (i64.store (i32.const 424) (i64.const 60000000000))
    (drop (call $poll (i32.const 400) (i32.const 600) (i32.const 1) (i32.const 700)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
