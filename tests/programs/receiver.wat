;; Reads what another machine sends, for ever, and fails for one beginning: three letters that it looks at one after the other, and a
;; number of four bytes behind them, which is another one by so much.
(module
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func $is (param $at i32) (param $letter i32) (result i32)
    (i32.eq (i32.load8_u (local.get $at)) (local.get $letter)))
  (func (export "_start")
    (loop $again
      (i32.store (i32.const 0) (i32.const 100))
      (i32.store (i32.const 4) (i32.const 64))
      (drop (call $fd_read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
      (if (i32.eqz (i32.load (i32.const 8))) (then (return)))
      (if (call $is (i32.const 100) (i32.const 81))
        (then (if (call $is (i32.const 101) (i32.const 90))
          (then (if (call $is (i32.const 102) (i32.const 55))
            (then (if (i32.eq (i32.add (i32.load (i32.const 103)) (i32.const 4711)) (i32.const 0x5eed1234))
              (then unreachable))))))))
      (br $again))))
