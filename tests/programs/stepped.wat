;; Squares numbers into address 8, has the host fill address 100, squares some more, and traps.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (func $square (param $x i32) (result i32) (i32.mul (local.get $x) (local.get $x)))
  (func $work (param $n i32) (local $i i32)
    (loop $again
      (i32.store (i32.const 8) (call $square (local.get $i)))
      (br_if $again (i32.lt_u (local.tee $i (i32.add (local.get $i) (i32.const 1))) (local.get $n)))))
  (func (export "_start")
    (call $work (i32.const 1000))
    (drop (call $random (i32.const 100) (i32.const 4)))
    (call $work (i32.const 5))
    unreachable))
