;; Asks two hundred times for what a symbolic link leads to: through 39 of them, each with a path of four thousand bytes. Ends with 5 to 7
;; when a call of WASI fails.
(module
  (import "wasi_snapshot_preview1" "path_create_directory" (func $directory (param i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_symlink" (func $symlink (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "path_filestat_get" (func $stat (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  ;; The name of the directory, and of each link in turn.
  (data (i32.const 16) "A")
  (func $check (param $errno i32) (param $code i32)
    (if (local.get $errno) (then (call $exit (local.get $code)))))
  (func (export "_start") (local $at i32)
    (call $check (call $directory (i32.const 3) (i32.const 16) (i32.const 1)) (i32.const 5))
    ;; "./././", and at its end the name of the last one.
    (local.set $at (i32.const 1024))
    (loop $next
      (i32.store16 (local.get $at) (i32.const 0x2f2e))
      (br_if $next (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 2))) (i32.const 5024))))
    (loop $next
      (i32.store8 (i32.const 5024) (i32.load8_u (i32.const 16)))
      (i32.store8 (i32.const 16) (i32.add (i32.load8_u (i32.const 16)) (i32.const 1)))
      (call $check
        (call $symlink (i32.const 1024) (i32.const 4001) (i32.const 3) (i32.const 16) (i32.const 1))
        (i32.const 6))
      (br_if $next (i32.lt_u (i32.load8_u (i32.const 16)) (i32.const 104))))
    (local.set $at (i32.const 200))
    (loop $next
      (call $check
        (call $stat (i32.const 3) (i32.const 1) (i32.const 16) (i32.const 1) (i32.const 8192))
        (i32.const 7))
      (br_if $next (local.tee $at (i32.sub (local.get $at) (i32.const 1)))))))
