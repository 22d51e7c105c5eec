;; Sends another machine what it has, by its standard output: its own input, or eight bytes that it draws where that is empty.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start")
    (i32.store (i32.const 0) (i32.const 100))
    (i32.store (i32.const 4) (i32.const 64))
    (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (if (i32.eqz (i32.load (i32.const 8)))
      (then
        (drop (call $random_get (i32.const 100) (i32.const 8)))
        (i32.store (i32.const 8) (i32.const 8))))
    (i32.store (i32.const 4) (i32.load (i32.const 8)))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))
    ;; A second, in which the other one reads it: user data 0, tag 0, clock 1.
    (i32.store (i32.const 416) (i32.const 1))
    (i64.store (i32.const 424) (i64.const 1000000000))
    (drop (call $poll_oneoff (i32.const 400) (i32.const 600) (i32.const 1) (i32.const 700)))))
