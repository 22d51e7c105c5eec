;; Makes the file `j` and syncs it, and then the directory that it is in, unless its input begins with `n`. Ends with 0 if the file was there
;; when it began, with 3 if nothing has happened in the three seconds after, and with 5 to 8 when a call of WASI fails.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_open"
    (func $open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_sync" (func $sync (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_datasync" (func $datasync (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  ;; A buffer of 64 bytes at 256, and a name.
  (data (i32.const 0) "\00\01\00\00\40\00\00\00")
  (data (i32.const 32) "j")
  (func $check (param $errno i32) (param $code i32)
    (if (local.get $errno) (then (call $exit (local.get $code)))))
  ;; Opens the file, made if need be; its descriptor is at 20.
  (func $file (param $create i32) (result i32)
    (call $open (i32.const 3) (i32.const 0) (i32.const 32) (i32.const 1) (local.get $create) (i64.const 0x1fffffff)
      (i64.const 0) (i32.const 0) (i32.const 20)))
  (func $sleep
    (i32.store (i32.const 416) (i32.const 1))
    (i64.store (i32.const 424) (i64.const 3000000000))
    (drop (call $poll (i32.const 400) (i32.const 600) (i32.const 1) (i32.const 700))))
  (func (export "_start")
    (if (i32.eqz (call $file (i32.const 0))) (then (call $exit (i32.const 0))))
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 16)))
    (call $check (call $file (i32.const 1)) (i32.const 5))
    (call $check (call $sync (i32.load (i32.const 20))) (i32.const 6))
    ;; "n"
    (if (i32.ne (i32.load8_u (i32.const 256)) (i32.const 110))
      (then
        (call $check (call $datasync (i32.const 3)) (i32.const 7))
        (call $check (call $sync (i32.const 3)) (i32.const 8))))
    (call $sleep)
    (drop (call $file (i32.const 0)))
    (call $exit (i32.const 3))))
