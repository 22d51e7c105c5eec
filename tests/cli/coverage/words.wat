(module $words
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func $classify (param i32) (result i32)
    (if (result i32) (i32.gt_s (local.get 0) (i32.const 10))
      (then (i32.const 2))
      (else (i32.const 1))))
  (func $never (call $exit (i32.const 7)))
  (func (export "_start") (local $i i32)
    (loop $next
      (drop (call $classify (local.get $i)))
      (local.set $i (i32.add (local.get $i) (i32.const 1)))
      (br_if $next (i32.lt_s (local.get $i) (i32.const 5))))
    (if (i32.eq (call $classify (i32.const 3)) (i32.const 9)) (then (call $never)))))
