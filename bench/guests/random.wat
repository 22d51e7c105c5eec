;; Draws COUNT random numbers.
(component
  (import "wasi:random/random@0.2.0" (instance $random (export "get-random-u64" (func (result u64)))))
  (core func $draw (canon lower (func $random "get-random-u64")))
  (core module $guest
    (import "host" "draw" (func $draw (result i64)))
    (func (export "run") (result i32)
      (local $left i32)
      (local.set $left (i32.const COUNT))
      (loop $next
        (drop (call $draw))
        (br_if $next (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
      (i32.const 0)))
  (core instance $main (instantiate $guest (with "host" (instance (export "draw" (func $draw))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $cli (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $cli)))
