;; Reads two accounts, 4 and 5.
(module
  (import "fozzy:history/operations@0.1.0" "invoke" (func $invoke (param i32 i32 i32 i32 i32) (result i64)))
  (import "fozzy:history/operations@0.1.0" "ok" (func $ok (param i64 i32 i32)))
  (memory (export "memory") 1)
  (data (i32.const 24) "read") (data (i32.const 32) "{\"0\": 4, \"1\": 5}")
  (func (export "_start")
    (call $ok (call $invoke (i32.const 2) (i32.const 24) (i32.const 4) (i32.const 0) (i32.const 0)) (i32.const 32) (i32.const 16))))
