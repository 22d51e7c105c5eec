;; As clang leaves a program that wasm-opt went over behind its back: debug sections, and no row of source lines in them.
(module $app
  (memory (export "memory") 1)
  (func $crash unreachable)
  (func $main (export "_start") call $crash)
  (@custom ".debug_info" "")
  (@custom ".debug_line" ""))
