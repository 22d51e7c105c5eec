;; Makes CALL, a call of WASI preview 1, COUNT times; an errno other than 0 is a trap.
(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  ;; One buffer of 64 bytes.
  (data (i32.const 0) "\00\04\00\00\40\00\00\00")
  (data (i32.const 1024) "sixty-four bytes, as a line of a log has them, with its newline\n")
  (func (export "_start")
    (local $left i32)
    (local.set $left (i32.const COUNT))
    (loop $next
      (if CALL (then unreachable))
      (br_if $next (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))))
