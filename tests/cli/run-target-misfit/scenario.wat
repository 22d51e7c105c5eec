;; Imports an interface of another component, and does nothing with it.
(component
  (import "acme:kv/store@0.1.0" (instance (export "get" (func (param "key" u32) (result u32)))))
  (core module $m (func (export "run") (result i32) i32.const 0))
  (core instance $i (instantiate $m))
  (func $run (result (result)) (canon lift (core func $i "run")))
  (instance $r (export "run" (func $run)))
  (export "wasi:cli/run@0.2.12" (instance $r)))
