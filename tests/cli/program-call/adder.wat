;; Sums of numbers from 0 to 4294967295; one that does not fit traps.
(component
  (core module $sums
    (func (export "add") (param i32 i32) (result i32)
      (if (i32.lt_u (i32.add (local.get 0) (local.get 1)) (local.get 0)) (then unreachable))
      (i32.add (local.get 0) (local.get 1)))
    (func (export "half") (param i32) (result i32) (i32.shr_u (local.get 0) (i32.const 1))))
  (core instance $i (instantiate $sums))
  (func $add (param "a" u32) (param "b" u32) (result u32) (canon lift (core func $i "add")))
  (func $half (param "n" u32) (result u32) (canon lift (core func $i "half")))
  (instance $of (export "add" (func $add)) (export "half" (func $half)))
  (export "test:adder/sums@0.1.0" (instance $of)))
