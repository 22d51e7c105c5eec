;; Draws more often in one step than the answers of one run that are logged.
(module
  (import "fozzy:choices/draws@0.1.0" "choose" (func $choose (param i32 i32 i64) (result i64)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\40\00\00\00\01\00\00\00\20\00\00\00\01\00\00\00")
  (data (i32.const 32) "\40\00\00\00\01\00\00\00\01")
  (data (i32.const 64) "f")
  (func (export "cabi_realloc") (param i32 i32 i32 i32) (result i32) i32.const 1024)
  (func (export "fozzy:scenario/stateful@0.1.0#describe") (result i32) i32.const 0)
  (func (export "fozzy:scenario/stateful@0.1.0#begin-sequence") (param i32))
  (func (export "fozzy:scenario/stateful@0.1.0#step") (param $step i32) (result i32)
    (local $n i32)
    (local.set $n (i32.const 1100000))
    (loop $again
      (drop (call $choose (i32.const 64) (i32.const 1) (i64.const 5)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    i32.const 128)
  (func (export "fozzy:scenario/stateful@0.1.0#end-sequence") (param i32)))
