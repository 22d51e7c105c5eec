;; Writes 64 bytes to standard output COUNT times, by the function FUNCTION.
(component
  (import "wasi:io/error@0.2.0" (instance $error (export "error" (type (sub resource)))))
  (alias export $error "error" (type $error-type))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (alias outer 1 $error-type (type $outer-error))
    (export "error" (type $error (eq $outer-error)))
    (export "output-stream" (type $output (sub resource)))
    (type $failure (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $failure)))
    (export "[method]output-stream.check-write"
      (func (param "self" (borrow $output)) (result (result u64 (error $stream-error)))))
    (export "[method]output-stream.FUNCTION"
      (func (param "self" (borrow $output)) (param "contents" (list u8)) (result (result (error $stream-error)))))))
  (alias export $streams "output-stream" (type $output-type))
  (import "wasi:cli/stdout@0.2.0" (instance $stdout
    (alias outer 1 $output-type (type $outer-output))
    (export "output-stream" (type $output (eq $outer-output)))
    (export "get-stdout" (func (result (own $output))))))

  (core module $storage (memory (export "memory") 1))
  (core instance $storage (instantiate $storage))
  (core func $open (canon lower (func $stdout "get-stdout")))
  (core func $check
    (canon lower (func $streams "[method]output-stream.check-write") (memory $storage "memory")))
  (core func $write
    (canon lower (func $streams "[method]output-stream.FUNCTION") (memory $storage "memory")))
  (core module $guest
    (import "storage" "memory" (memory 1))
    (import "host" "open" (func $open (result i32)))
    (import "host" "check" (func $check (param i32 i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (data (i32.const 1024) "sixty-four bytes, as a line of a log has them, with its newline\n")
    (func (export "run") (result i32)
      (local $left i32)
      (local $stream i32)
      (local.set $stream (call $open))
      (local.set $left (i32.const COUNT))
      (loop $next
        (if (i32.const CHECKED) (then (call $check (local.get $stream) (i32.const 16))))
        (call $write (local.get $stream) (i32.const 1024) (i32.const 64) (i32.const 0))
        (if (i32.load8_u (i32.const 0)) (then (return (i32.const 1))))
        (br_if $next (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))
      (i32.const 0)))
  (core instance $main (instantiate $guest
    (with "storage" (instance $storage))
    (with "host" (instance
      (export "open" (func $open))
      (export "check" (func $check))
      (export "write" (func $write))))))
  (func $run (result (result)) (canon lift (core func $main "run")))
  (instance $cli (export "run" (func $run)))
  (export "wasi:cli/run@0.2.0" (instance $cli)))
