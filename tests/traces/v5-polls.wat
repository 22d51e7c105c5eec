;; Polls its standard input until something comes, and reads the clock then.
(component
  (import "wasi:io/error@0.2.12" (instance $error
    (export "error" (type $e (sub resource)))))
  (alias export $error "error" (type $error-type))
  (import "wasi:io/streams@0.2.12" (instance $streams
    (alias outer 1 $error-type (type $outer-error))
    (export "error" (type $e (eq $outer-error)))
    (type $failure (variant (case "last-operation-failed" (own $e)) (case "closed")))
    (export "stream-error" (type $f (eq $failure)))
    (export "input-stream" (type $in (sub resource)))
    (export "[method]input-stream.read" (func (param "self" (borrow $in)) (param "len" u64)
      (result (result (list u8) (error $f)))))))
  (alias export $streams "input-stream" (type $input))
  (import "wasi:cli/stdin@0.2.12" (instance $stdin
    (alias outer 1 $input (type $outer-input))
    (export "input-stream" (type $in (eq $outer-input)))
    (export "get-stdin" (func (result (own $in))))))
  (import "wasi:clocks/monotonic-clock@0.2.12" (instance $clock
    (export "now" (func (result u64)))))
  (core module $memory
    (global $next (mut i32) (i32.const 1024))
    (memory (export "memory") 1)
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (global.get $next)
      (global.set $next (i32.add (global.get $next) (local.get 3)))))
  (core instance $memory (instantiate $memory))
  (alias core export $memory "memory" (core memory $mem))
  (alias core export $memory "realloc" (core func $realloc))
  (core func $get (canon lower (func $stdin "get-stdin")))
  (core func $read (canon lower (func $streams "[method]input-stream.read") (memory $mem) (realloc $realloc)))
  (core func $now (canon lower (func $clock "now")))
  (core module $main
    (import "host" "memory" (memory 1))
    (import "host" "get" (func $get (result i32)))
    (import "host" "read" (func $read (param i32 i64 i32)))
    (import "host" "now" (func $now (result i64)))
    (func (export "run") (result i32) (local $in i32)
      (local.set $in (call $get))
      (loop $again
        (call $read (local.get $in) (i64.const 64) (i32.const 16))
        ;; Nothing has come, and it is not the end.
        (br_if $again (i32.and (i32.eqz (i32.load (i32.const 16))) (i32.eqz (i32.load (i32.const 24))))))
      (i64.store (i32.const 0) (call $now))
      (i32.load (i32.const 16))))
  (core instance $main (instantiate $main (with "host" (instance
    (export "memory" (memory $mem))
    (export "get" (func $get))
    (export "read" (func $read))
    (export "now" (func $now))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $cli (export "run" (func $run)))
  (export "wasi:cli/run@0.2.12" (instance $cli)))
