;; Of WASI preview 1, with the sockets extension of WasmEdge: what is asked of sockets is answered as it was before they followed Linux.
;; It exits with the sum of the answers.
(module
  (import "wasi_snapshot_preview1" "sock_open" (func $open (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_bind" (func $bind (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_listen" (func $listen (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_connect" (func $connect (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sock_shutdown" (func $shutdown (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_fdstat_set_flags" (func $flags (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  ;; Where 127.0.0.1 is, and how long it is.
  (data (i32.const 16) "\20\00\00\00\04\00\00\00")
  (data (i32.const 32) "\7f\00\00\01")
  (global $sum (mut i32) (i32.const 0))
  (func $add (param $answer i32)
    (global.set $sum (i32.add (global.get $sum) (local.get $answer))))
  (func $socket (result i32)
    (call $add (call $open (i32.const 1) (i32.const 2) (i32.const 0)))
    (i32.load (i32.const 0)))
  (func (export "_start") (local $one i32) (local $two i32)
    (local.set $one (call $socket))
    (local.set $two (call $socket))
    ;; A poll for writing, of a socket that is not connected: the flags of the event.
    (i32.store8 (i32.const 72) (i32.const 2))
    (i32.store (i32.const 80) (local.get $one))
    (call $add (call $poll (i32.const 64) (i32.const 128) (i32.const 1) (i32.const 192)))
    (call $add (i32.load16_u (i32.const 152)))
    ;; Two sockets with one address.
    (call $add (call $bind (local.get $one) (i32.const 16) (i32.const 8080)))
    (call $add (call $bind (local.get $two) (i32.const 16) (i32.const 8080)))
    (call $add (call $listen (local.get $one) (i32.const 1)))
    ;; A listener is shut down (53).
    (call $add (call $shutdown (local.get $one) (i32.const 1)))
    ;; A connection to where nobody listens, without waiting (14).
    (call $add (call $flags (local.get $two) (i32.const 4)))
    (call $add (call $connect (local.get $two) (i32.const 16) (i32.const 9)))
    (call $exit (global.get $sum))))
