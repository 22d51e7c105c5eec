;; A fuzz target: one edge for each of the letters a, b and c at the beginning, and a failure for `no`.
(module
  (memory (export "memory") 2)
  (global $sp (mut i32) (i32.const 65536))
  (func (export "LLVMFuzzerTestOneInput") (param $at i32) (param $len i32) (result i32)
    (local $first i32)
    (if (i32.eqz (local.get $len)) (then (return (i32.const 0))))
    (local.set $first (i32.load8_u (local.get $at)))
    (if (i32.eq (local.get $first) (i32.const 97)) (then (global.set $sp (global.get $sp))))
    (if (i32.eq (local.get $first) (i32.const 98)) (then (global.set $sp (global.get $sp))))
    (if (i32.eq (local.get $first) (i32.const 99)) (then (global.set $sp (global.get $sp))))
    (if (i32.and (i32.eq (local.get $first) (i32.const 110)) (i32.gt_u (local.get $len) (i32.const 1)))
      (then (if (i32.eq (i32.load8_u offset=1 (local.get $at)) (i32.const 111)) (then unreachable))))
    (i32.const 0)))
