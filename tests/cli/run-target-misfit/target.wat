;; Exports an interface of nearly the same name.
(component
  (core module $m (func (export "get") (param i32) (result i32) local.get 0))
  (core instance $i (instantiate $m))
  (func $get (param "key" u32) (result u32) (canon lift (core func $i "get")))
  (instance $s (export "get" (func $get)))
  (export "acme:kv/stores@0.1.0" (instance $s)))
