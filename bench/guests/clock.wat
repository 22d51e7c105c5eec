;; Reads the monotonic clock COUNT times.
(component
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $clock (export "now" (func (result u64)))))
  (core func $now (canon lower (func $clock "now")))
  (core module $guest
    (import "host" "now" (func $now (result i64)))
    (func (export "run") (result i32)
      (local $left i32)
      (local.set $left (i32.const COUNT))
      (loop $next
        (drop (call $now))
        (br_if $next (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
      (i32.const 0)))
  (core instance $main (instantiate $guest (with "host" (instance (export "now" (func $now))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $cli (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $cli)))
