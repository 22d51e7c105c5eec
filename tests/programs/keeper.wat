;; Keeps what it reads in a file, and ends with 5 to 8 when a call of WASI fails; four bytes are a trap. WASI is preview 1 or what came before.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_filestat_get" (func $stat (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_sync" (func $sync (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 2)
  ;; A buffer of 64 bytes at 256.
  (data (i32.const 0) "\00\01\00\00\40\00\00\00")
  (data (i32.const 32) "kept")
  (func $check (param $errno i32) (param $code i32)
    (if (local.get $errno) (then (call $exit (local.get $code)))))
  (func (export "_start")
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
    (drop (call $random (i32.const 24) (i32.const 8)))
    (call $check
      (call $open (i32.const 3) (i32.const 0) (i32.const 32) (i32.const 4) (i32.const 1) (i64.const 0x1fffffff)
        (i64.const 0) (i32.const 0) (i32.const 20))
      (i32.const 5))
    (i32.store (i32.const 4) (i32.load (i32.const 16)))
    (call $check (call $write (i32.load (i32.const 20)) (i32.const 0) (i32.const 1) (i32.const 16)) (i32.const 6))
    (call $check (call $sync (i32.load (i32.const 20))) (i32.const 7))
    (call $check (call $stat (i32.load (i32.const 20)) (i32.const 512)) (i32.const 8))
    (drop (call $clock (i32.const 1) (i64.const 0) (i32.const 24)))
    ;; "FUZZ"
    (if (i32.eq (i32.load (i32.const 256)) (i32.const 0x5a5a5546)) (then unreachable))))
