(; Ends as a program of Go does: by the first byte of standard input, `n` and `i` are two panics, which exit with code 2; `q` exits with
   that code, and `p` prints a panic, goes on and then exits with it. ;)
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\40\00\00\00\01\00\00\00")
  (data (i32.const 256) "panic: assignment to entry in nil map\0a\0agoroutine 1 [running]:\0amain.main()\0a\09/app/main.go:16 +0x11\0a")
  (data (i32.const 512) "panic: runtime error: index out of range [4] with length 1\0a\0agoroutine 1 [running]:\0amain.main()\0a\09/app/main.go:20 +0x18\0a")
  (data (i32.const 768) "recovered\0a")
  (func $say (param $text i32) (param $length i32)
    (i32.store (i32.const 16) (local.get $text))
    (i32.store (i32.const 20) (local.get $length))
    (drop (call $write (i32.const 2) (i32.const 16) (i32.const 1) (i32.const 32))))
  (func (export "_start") (local $byte i32)
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 32)))
    (local.set $byte (i32.load8_u (i32.const 64)))
    (if (i32.eq (local.get $byte) (i32.const 0x6e)) ;; n
      (then (call $say (i32.const 256) (i32.const 97)) (call $exit (i32.const 2))))
    (if (i32.eq (local.get $byte) (i32.const 0x69)) ;; i
      (then (call $say (i32.const 512) (i32.const 118)) (call $exit (i32.const 2))))
    (if (i32.eq (local.get $byte) (i32.const 0x71)) ;; q
      (then (call $exit (i32.const 2))))
    (if (i32.eq (local.get $byte) (i32.const 0x70)) ;; p
      (then
        (call $say (i32.const 256) (i32.const 97))
        (call $say (i32.const 768) (i32.const 10))
        (call $exit (i32.const 2))))))
