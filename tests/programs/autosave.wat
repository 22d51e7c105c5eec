;; A small editor: it saves each 100 ms, in two halves with 4 ms between them, and stores the line that it gets. A line that comes
;; between the halves is stored in the middle of what is saved, which is its fault: it traps. It ends by a line.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll_oneoff (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 100) "stored\n")
  ;; Waits so long, or for input; says whether there is input.
  (func $wait (param $ns i64) (result i32)
    (local $event i32)
    (i64.store (i32.const 424) (local.get $ns))
    (drop (call $poll_oneoff (i32.const 400) (i32.const 600) (i32.const 2) (i32.const 700)))
    (loop $next
      (if (i32.eq (i32.load8_u (i32.add (i32.const 610) (i32.mul (local.get $event) (i32.const 32)))) (i32.const 1))
        (then (return (i32.const 1))))
      (local.set $event (i32.add (local.get $event) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $event) (i32.load (i32.const 700)))))
    (i32.const 0))
  (func $save
    (if (call $wait (i64.const 4000000)) (then unreachable)))
  (func (export "_start")
    ;; The clock: user data 1, tag 0, clock 1. The input: user data 2, tag 1, descriptor 0.
    (i64.store (i32.const 400) (i64.const 1))
    (i32.store (i32.const 416) (i32.const 1))
    (i64.store (i32.const 448) (i64.const 2))
    (i32.store8 (i32.const 456) (i32.const 1))
    (block $stored
      (loop $again
        (br_if $stored (call $wait (i64.const 100000000)))
        (call $save)
        (br $again)))
    (i32.store (i32.const 0) (i32.const 1000))
    (i32.store (i32.const 4) (i32.const 80))
    (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (i32.store (i32.const 0) (i32.const 100))
    (i32.store (i32.const 4) (i32.const 7))
    (drop (call $fd_write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))
