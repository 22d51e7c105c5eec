;; Draws bytes, and fails for a single value of them. Without arguments it compares four bytes at once; with one argument eight, by one
;; comparison of their number; with two, eight bytes one by one, as a parser does.
(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "args_sizes_get" (func $args_sizes_get (param i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 200) "open me!")
  (func (export "_start")
    (local $at i32) (local $args i32)
    (drop (call $args_sizes_get (i32.const 300) (i32.const 304)))
    (local.set $args (i32.load (i32.const 300)))
    (drop (call $random_get (i32.const 100) (i32.const 8)))
    (if (i32.le_u (local.get $args) (i32.const 1))
      (then (if (i32.eq (i32.load (i32.const 100)) (i32.const 0x5eed1234)) (then unreachable)) (return)))
    (if (i32.eq (local.get $args) (i32.const 2))
      (then (if (i64.eq (i64.load (i32.const 100)) (i64.const 0x0123456789abcdef)) (then unreachable)) (return)))
    (loop $next
      (if (i32.ne (i32.load8_u (i32.add (i32.const 100) (local.get $at)))
                  (i32.load8_u (i32.add (i32.const 200) (local.get $at))))
        (then (return)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 8))))
    unreachable))
