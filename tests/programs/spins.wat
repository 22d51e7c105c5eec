;; Looks again and again for what another machine prints, gives way in between, and never waits.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_fdstat_set_flags" (func $flags (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\64\00\00\00\40\00\00\00")
  (func (export "_start")
    (drop (call $flags (i32.const 0) (i32.const 4)))
    (loop $again
      (drop (call $yield))
      ;; 6: there is nothing yet.
      (br_if $again (i32.eq (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)) (i32.const 6))))))
